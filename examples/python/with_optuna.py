"""noregret as a sampler of Optuna: the study, the objective, storage and dashboard stay Optuna's.

    pip install optuna scikit-learn
    python examples/python/with_optuna.py

`constraints_func` works as with Optuna's own samplers: here a forest must not have more than 300 leaves, which is known after it was grown.
"""

import optuna
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_score

from noregret.optuna import NoRegretSampler

X, y = load_wine(return_X_y=True)


def accuracy(trial):
    forest = RandomForestClassifier(
        n_estimators=trial.suggest_int("trees", 5, 100, log=True),
        max_depth=trial.suggest_int("depth", 1, 10),
        max_features=trial.suggest_float("features", 0.1, 1.0),
        criterion=trial.suggest_categorical("criterion", ["gini", "entropy"]),
        random_state=1,
    )
    leaves = sum(tree.get_n_leaves() for tree in forest.fit(X, y).estimators_)
    trial.set_user_attr("leaves", leaves)
    return cross_val_score(forest, X, y, cv=3).mean()


def too_large(trial):
    return [trial.user_attrs["leaves"] - 300]


optuna.logging.set_verbosity(optuna.logging.WARNING)
study = optuna.create_study(direction="maximize", sampler=NoRegretSampler(seed=1, constraints_func=too_large))
study.optimize(accuracy, n_trials=30)

allowed = [trial for trial in study.trials if trial.user_attrs["leaves"] <= 300]
print(f"{len(allowed)} of {len(study.trials)} forests had no more than 300 leaves")
print(f"the best of them: {study.best_value:.1%} right with {study.best_params}, {study.best_trial.user_attrs['leaves']} leaves")

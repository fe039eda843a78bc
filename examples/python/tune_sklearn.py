"""Tunes a support vector machine of scikit-learn: the whole loop in one call.

    pip install scikit-learn
    python examples/python/tune_sklearn.py

`C` and `gamma` are compared by ratios, so their scales are logarithmic; a kernel is a choice, and scaling the features a switch. Each value is
the mean of a cross-validation. The deviation between its folds says how noisy that mean is, and is told along with it.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import noregret as nr

X, y = load_breast_cancer(return_X_y=True)

space = {
    "C": nr.Float(1e-2, 1e3, log=True),
    "gamma": nr.Float(1e-6, 1e1, log=True),
    "kernel": nr.Categorical(["rbf", "sigmoid"]),
    "scale": nr.Bool(),
}


def error(params):
    svm = SVC(C=params["C"], gamma=params["gamma"], kernel=params["kernel"])
    model = make_pipeline(StandardScaler(), svm) if params["scale"] else svm
    wrong = 1 - cross_val_score(model, X, y, cv=5)
    return wrong.mean(), wrong.var(ddof=1) / len(wrong)  # the value, and the variance of its noise


def progress(found):
    if found.nfev % 10 == 0:
        print(f"{found.nfev:3} evaluations: {found.fun:.2%} wrong at best")


found = nr.minimize(error, space, n_trials=40, batch_size=4, seed=1, callback=progress)

best = found.recommended
low, high = best.interval
print(f"\nuse {best.params}")
print(f"expect {best.mean:.2%} wrong (95 %: {low:.2%} to {high:.2%})")
print("what matters:", ", ".join(f"{name} {share:.0%}" for name, share in found.study.importance.items()))

"""Puts results into a storage of Optuna: python optuna_study.py RESULTS.json STORAGE."""

import json
import sys

import optuna
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

DISTRIBUTIONS = {
    "lr": FloatDistribution(1e-5, 1e-1, log=True),
    "weight_decay": FloatDistribution(1e-6, 1e-2, log=True),
    "dropout": FloatDistribution(0.0, 0.7),
    "momentum": FloatDistribution(0.5, 0.999),
    "layers": IntDistribution(1, 12),
    "width": IntDistribution(16, 1024, log=True),
    "activation": CategoricalDistribution(["relu", "gelu", "tanh"]),
    "optimizer": CategoricalDistribution(["adam", "sgd", "lion"]),
}


def main() -> None:
    results, storage = sys.argv[1:]
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(storage=storage, study_name="net", direction="minimize")
    with open(results, encoding="utf-8") as file:
        trials = json.load(file)
    study.add_trials(
        optuna.trial.create_trial(
            params=trial["params"],
            distributions=DISTRIBUTIONS,
            value=trial["value"],
            state=optuna.trial.TrialState.COMPLETE if trial["value"] is not None else optuna.trial.TrialState.FAIL,
        )
        for trial in trials
    )


if __name__ == "__main__":
    main()

"""Optuna: `gp` is GPSampler, `tpe` is TPESampler(multivariate=True, constant_liar=True).

Both treat asked but untold trials as running, which is how Optuna makes the points of a batch differ. The initial
design is Optuna's own (independent random sampling for the first `initial` trials).
"""

from __future__ import annotations

import os
import warnings

from protocol import Parameter, Peer, Pending, Point, Run, argument, serve

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.samplers import GPSampler, TPESampler
from optuna.trial import create_trial

METHOD = argument(["gp", "tpe"])

if METHOD == "gp":  # TPE needs no torch, and the import would count in its peak memory.
    import torch

    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "2")))
optuna.logging.set_verbosity(optuna.logging.ERROR)
warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)


def distribution(p: Parameter) -> BaseDistribution:
    if p.kind == "categorical":
        return CategoricalDistribution(p.choices)
    if p.kind == "int":
        return IntDistribution(int(p.low), int(p.high), log=p.log)
    return FloatDistribution(p.low, p.high, log=p.log)


class OptunaPeer(Peer):
    method = f"optuna-{METHOD}"
    version = optuna.__version__

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        if METHOD == "gp":
            sampler = GPSampler(seed=run.seed, n_startup_trials=run.initial)
        else:
            sampler = TPESampler(seed=run.seed, n_startup_trials=run.initial, multivariate=True, constant_liar=True)
        self.study = optuna.create_study(sampler=sampler, direction="minimize")
        self.space = {p.name: distribution(p) for p in run.space}
        self.pending = Pending(run)

    def ask(self, n: int) -> list[Point]:
        trials = [self.study.ask(self.space) for _ in range(n)]
        return [self.pending.add(trial.params, trial) for trial in trials]

    def tell(self, points: list[Point], values: list[float]) -> None:
        for point, value in zip(points, values):
            if self.pending.is_open(point):
                self.study.tell(self.pending.take(point), value)
            else:  # a point from elsewhere: the study counts it as one of its own
                params = self.run.clean(point)
                self.study.add_trial(create_trial(params=params, distributions=self.space, value=value))


if __name__ == "__main__":
    serve(OptunaPeer)

"""SMAC3: BlackBoxFacade (GP, EI, its own Sobol initial design) through ask and tell.

SMAC has no batch acquisition: asked but untold configurations are only excluded, so the points of a batch come
from maximising the same EI again. Nothing is kept on disc but an empty temporary folder.
"""

from __future__ import annotations

import importlib.metadata
import tempfile
from pathlib import Path

from protocol import Parameter, Peer, Pending, Point, Run, argument, serve

from ConfigSpace import CategoricalHyperparameter, ConfigurationSpace
from ConfigSpace import UniformFloatHyperparameter, UniformIntegerHyperparameter
from ConfigSpace.hyperparameters import Hyperparameter
from smac import BlackBoxFacade, Scenario
from smac.runhistory.dataclasses import TrialValue

SCRATCH = tempfile.TemporaryDirectory(prefix="smac_peer_")


def hyperparameter(p: Parameter) -> Hyperparameter:
    if p.kind == "categorical":
        return CategoricalHyperparameter(p.name, list(p.choices))
    if p.kind == "int":
        return UniformIntegerHyperparameter(p.name, int(p.low), int(p.high), log=p.log)
    return UniformFloatHyperparameter(p.name, p.low, p.high, log=p.log)


class SmacPeer(Peer):
    method = "smac-blackbox"
    version = importlib.metadata.version("smac")

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        space = ConfigurationSpace(seed=run.seed)
        space.add([hyperparameter(p) for p in run.space])
        scenario = Scenario(space, deterministic=True, n_trials=run.budget, seed=run.seed,
                            output_directory=Path(SCRATCH.name))
        design = BlackBoxFacade.get_initial_design(scenario, n_configs=run.initial, max_ratio=1.0)
        self.optimiser = BlackBoxFacade(scenario, lambda config, seed=0: 0.0, initial_design=design,
                                        overwrite=True, logging_level=False)
        self.pending = Pending(run)

    def ask(self, n: int) -> list[Point]:
        trials = [self.optimiser.ask() for _ in range(n)]
        return [self.pending.add(dict(trial.config), trial) for trial in trials]

    def tell(self, points: list[Point], values: list[float]) -> None:
        for point, value in zip(points, values):
            self.optimiser.tell(self.pending.take(point), TrialValue(cost=value), save=False)


if __name__ == "__main__":
    argument(["blackbox"])
    serve(SmacPeer)

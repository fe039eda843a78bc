"""Nevergrad: NGOpt, told the budget and the batch size, from which it chooses its algorithm.

NGOpt has no initial design of a settable size; the Sobol points are handed in with `suggest`, its way to have
given points evaluated first.
"""

from __future__ import annotations

import importlib.metadata
import warnings

from protocol import Parameter, Peer, Pending, Point, Run, argument, serve, sobol_design

import nevergrad as ng

warnings.filterwarnings("ignore", module="nevergrad")


def parameter(p: Parameter) -> ng.p.Parameter:
    if p.kind == "categorical":
        return ng.p.Choice(list(p.choices))
    if p.kind == "int" and not p.log:
        return ng.p.Scalar(lower=p.low, upper=p.high).set_integer_casting()
    if p.kind == "int":
        return ng.p.Log(lower=p.low, upper=p.high).set_integer_casting()
    return ng.p.Log(lower=p.low, upper=p.high) if p.log else ng.p.Scalar(lower=p.low, upper=p.high)


class NevergradPeer(Peer):
    method = "nevergrad-ngopt"
    version = importlib.metadata.version("nevergrad")

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        space = ng.p.Dict(**{p.name: parameter(p) for p in run.space})
        space.random_state.seed(run.seed)
        self.optimiser = ng.optimizers.NGOpt(parametrization=space, budget=run.budget, num_workers=run.batch)
        for point in sobol_design(run, run.initial):
            self.optimiser.suggest(point)
        self.pending = Pending(run)

    def ask(self, n: int) -> list[Point]:
        candidates = [self.optimiser.ask() for _ in range(n)]
        return [self.pending.add(candidate.value, candidate) for candidate in candidates]

    def tell(self, points: list[Point], values: list[float]) -> None:
        for point, value in zip(points, values):
            self.optimiser.tell(self.pending.take(point), value)


if __name__ == "__main__":
    argument(["ngopt"])
    serve(NevergradPeer)

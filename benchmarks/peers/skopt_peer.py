"""scikit-optimize: `Optimizer` with its defaults (GP, gp_hedge), batches by its constant liar `cl_min`.

The model is fitted in `tell`, so most of the time is counted there.
"""

from __future__ import annotations

import warnings

from protocol import Parameter, Peer, Point, Run, argument, serve

import skopt
from skopt.space import Categorical, Dimension, Integer, Real

warnings.filterwarnings("ignore", module="sklearn")


def dimension(p: Parameter) -> Dimension:
    if p.kind == "categorical":
        return Categorical(list(p.choices), name=p.name)
    prior = "log-uniform" if p.log else "uniform"
    if p.kind == "int":
        return Integer(int(p.low), int(p.high), prior=prior, name=p.name)
    return Real(p.low, p.high, prior=prior, name=p.name)


class SkoptPeer(Peer):
    method = "skopt-gp"
    version = skopt.__version__

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.optimiser = skopt.Optimizer([dimension(p) for p in run.space], base_estimator="gp",
                                         n_initial_points=run.initial, random_state=run.seed)

    def ask(self, n: int) -> list[Point]:
        rows = [self.optimiser.ask()] if n == 1 else self.optimiser.ask(n_points=n, strategy="cl_min")
        return [{p.name: v for p, v in zip(self.run.space, row)} for row in rows]

    def tell(self, points: list[Point], values: list[float]) -> None:
        self.optimiser.tell([[p.clean(point[p.name]) for p in self.run.space] for point in points], values)


if __name__ == "__main__":
    argument(["gp"])
    serve(SkoptPeer)

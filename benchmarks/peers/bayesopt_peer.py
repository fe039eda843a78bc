"""bayesian-optimization (bayes_opt): its default UCB(kappa=2.576) over its default Matern 5/2 GP.

Batches by the constant liar at the best value seen, which is what the library's own `ConstantLiar` does with its
default. That class itself is not used because it copies the space by its numeric bounds: with a category it raises
(ValueError: cannot reshape array of size 3 into shape (5)) and ints become floats in the copy. The library has no
logarithmic parameters: they are given in their logarithm; a logarithmic int then becomes a float that is rounded.
"""

from __future__ import annotations

import copy
import importlib.metadata

from protocol import Parameter, Peer, Point, Run, argument, serve

from bayes_opt import BayesianOptimization
from bayes_opt.acquisition import UpperConfidenceBound


def bound(p: Parameter) -> tuple[object, ...]:
    if p.kind == "categorical":
        return p.choices
    if p.kind == "int" and not p.log:
        return (int(p.low), int(p.high), int)
    return p.scaled_bounds


class BayesOptPeer(Peer):
    method = "bayesopt-ucb"
    version = importlib.metadata.version("bayesian-optimization")

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.optimiser = BayesianOptimization(
            None, {p.name: bound(p) for p in run.space}, acquisition_function=UpperConfidenceBound(kappa=2.576),
            random_state=run.seed, verbose=0, allow_duplicate_points=True)
        self.design = self.optimiser.random_sample(run.initial)

    def ask(self, n: int) -> list[Point]:
        raw, self.design = self.design[:n], self.design[n:]
        while len(raw) < n:
            liar = self.optimiser
            if raw:
                liar = copy.deepcopy(self.optimiser)
                lie = max(self.optimiser.space.target) if len(self.optimiser.space) else 0.0
                for point in raw:
                    liar.register(point, lie)
            raw.append(liar.suggest())
        return [{p.name: point[p.name] if p.kind == "categorical" else p.unscale(float(point[p.name]))
                 for p in self.run.space} for point in raw]

    def tell(self, points: list[Point], values: list[float]) -> None:
        for point, value in zip(points, values):
            raw = {p.name: p.scale(float(point[p.name])) if p.kind != "categorical" else point[p.name]
                   for p in self.run.space}
            self.optimiser.register(raw, -value)


if __name__ == "__main__":
    argument(["ucb"])
    serve(BayesOptPeer)

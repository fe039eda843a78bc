"""egobox (Rust, through its Python package): `Egor.suggest` with its defaults, batches by its Kriging believer.

`suggest` keeps no state, so every ask fits the GP anew. egobox has no logarithmic parameters: they are given in
their logarithm; a logarithmic int then becomes a float that is rounded.
"""

from __future__ import annotations

import importlib.metadata

from protocol import Parameter, Peer, Point, Run, argument, serve

import egobox as egx
import numpy as np


def describe(p: Parameter) -> egx.XSpec:
    if p.kind == "categorical":
        return egx.XSpec(egx.XType.ENUM, tags=list(p.choices))
    if p.kind == "int" and not p.log:
        return egx.XSpec(egx.XType.INT, [p.low, p.high])
    return egx.XSpec(egx.XType.FLOAT, list(p.scaled_bounds))


class EgoboxPeer(Peer):
    method = "egobox-egor"
    version = importlib.metadata.version("egobox")

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.specs = [describe(p) for p in run.space]
        self.design = [self.decode(row) for row in egx.lhs(self.specs, run.initial, seed=run.seed)]
        self.x: list[list[float]] = []
        self.y: list[list[float]] = []

    def ask(self, n: int) -> list[Point]:
        points, self.design = self.design[:n], self.design[n:]
        if len(points) < n:
            optimiser = egx.Egor(self.specs, qei_config=egx.QEiConfig(batch=n - len(points)))
            suggested = optimiser.suggest(np.array(self.x), np.array(self.y), seed=self.run.seed + len(self.x))
            points += [self.decode(row) for row in suggested]
        return points

    def tell(self, points: list[Point], values: list[float]) -> None:
        self.x += [self.encode(p) for p in points]
        self.y += [[v] for v in values]

    def encode(self, point: Point) -> list[float]:
        return [float(p.choices.index(point[p.name])) if p.kind == "categorical" else p.scale(float(point[p.name]))
                for p in self.run.space]

    def decode(self, row: np.ndarray) -> Point:
        return {p.name: p.choices[int(round(v))] if p.kind == "categorical" else p.clean(p.unscale(v))
                for p, v in zip(self.run.space, row)}


if __name__ == "__main__":
    argument(["egor"])
    serve(EgoboxPeer)

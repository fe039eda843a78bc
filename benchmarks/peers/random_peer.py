"""Uniform random search (numpy): the floor every other method has to beat. It has no initial design."""

from __future__ import annotations

from protocol import Peer, Point, Run, serve

import numpy as np


class RandomPeer(Peer):
    method = "random"
    version = np.__version__

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.rng = np.random.default_rng(run.seed)

    def ask(self, n: int) -> list[Point]:
        unit = self.rng.random((n, len(self.run.space)))
        return [{p.name: p.from_unit(u) for p, u in zip(self.run.space, row)} for row in unit]

    def tell(self, points: list[Point], values: list[float]) -> None:
        pass


if __name__ == "__main__":
    serve(RandomPeer)

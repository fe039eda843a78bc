"""HEBO (Huawei): its default MACE acquisition, which proposes batches itself; its own Sobol initial design."""

from __future__ import annotations

import importlib.metadata
import os
import random

from protocol import Parameter, Peer, Point, Run, argument, serve

import numpy as np
import pandas as pd
import torch
from hebo.design_space.design_space import DesignSpace
from hebo.optimizers.hebo import HEBO

torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "2")))


def describe(p: Parameter) -> dict[str, object]:
    if p.kind == "categorical":
        return {"name": p.name, "type": "cat", "categories": list(p.choices)}
    kind = {("float", False): "num", ("float", True): "pow", ("int", False): "int", ("int", True): "pow_int"}
    bound = int if p.kind == "int" else float
    return {"name": p.name, "type": kind[p.kind, p.log], "lb": bound(p.low), "ub": bound(p.high)}


class HeboPeer(Peer):
    method = "hebo"
    version = importlib.metadata.version("HEBO")

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        random.seed(run.seed)
        np.random.seed(run.seed)
        torch.manual_seed(run.seed)
        space = DesignSpace().parse([describe(p) for p in run.space])
        self.optimiser = HEBO(space, rand_sample=run.initial, scramble_seed=run.seed)

    def ask(self, n: int) -> list[Point]:
        return self.optimiser.suggest(n_suggestions=n).to_dict("records")

    def tell(self, points: list[Point], values: list[float]) -> None:
        frame = pd.DataFrame(points)[[p.name for p in self.run.space]]
        self.optimiser.observe(frame, np.array(values).reshape(-1, 1))


if __name__ == "__main__":
    argument(["mace"])
    serve(HeboPeer)

"""BoTorch: qLogNoisyExpectedImprovement over its default GP, with the settings of its own tutorials.

The model sees the unit cube (logarithmic parameters in their logarithm); outcomes are negated, since BoTorch
maximises, and standardised. Ints are relaxed and rounded after each greedy step (`post_processing_func`), so the
next point of a batch already sees the rounded one. Categories are enumerated by `optimize_acqf_mixed`; above
`MOST_COMBINATIONS` the alternating optimiser, which BoTorch recommends there, takes over.
"""

from __future__ import annotations

import itertools
import os

from protocol import Peer, Point, Run, argument, serve

import botorch
import torch
from botorch.acquisition.logei import qLogNoisyExpectedImprovement
from botorch.fit import fit_gpytorch_mll
from botorch.models import MixedSingleTaskGP, SingleTaskGP
from botorch.models.transforms.outcome import Standardize
from botorch.optim import optimize_acqf, optimize_acqf_mixed, optimize_acqf_mixed_alternating
from botorch.sampling.normal import SobolQMCNormalSampler
from botorch.utils.sampling import draw_sobol_samples
from gpytorch.mlls import ExactMarginalLogLikelihood
from torch import Tensor

torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "2")))

RESTARTS = 10
RAW_SAMPLES = 512
MC_SAMPLES = 128
MOST_COMBINATIONS = 32


class BotorchPeer(Peer):
    method = "botorch-qlognei"
    version = botorch.__version__

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        torch.manual_seed(run.seed)
        self.x = torch.empty(0, len(run.space), dtype=torch.double)
        self.y = torch.empty(0, 1, dtype=torch.double)
        upper = [len(p.choices) - 1.0 if p.kind == "categorical" else 1.0 for p in run.space]
        self.bounds = torch.tensor([[0.0] * len(upper), upper], dtype=torch.double)
        unit = torch.tensor([[0.0] * len(upper), [1.0] * len(upper)], dtype=torch.double)
        design = draw_sobol_samples(unit, n=run.initial, q=1, seed=run.seed).squeeze(1)
        self.design = [{p.name: p.from_unit(u) for p, u in zip(run.space, row)} for row in design.tolist()]

    def ask(self, n: int) -> list[Point]:
        points, self.design = self.design[:n], self.design[n:]
        if len(points) < n:
            points += [self.decode(row) for row in self.propose(n - len(points)).tolist()]
        return points

    def tell(self, points: list[Point], values: list[float]) -> None:
        self.x = torch.cat([self.x, torch.tensor([self.encode(p) for p in points], dtype=torch.double)])
        self.y = torch.cat([self.y, -torch.tensor(values, dtype=torch.double).unsqueeze(-1)])

    def propose(self, n: int) -> Tensor:
        categories = self.run.categorical
        if categories:
            model = MixedSingleTaskGP(self.x, self.y, cat_dims=categories, outcome_transform=Standardize(m=1))
        else:
            model = SingleTaskGP(self.x, self.y, outcome_transform=Standardize(m=1))
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        sampler = SobolQMCNormalSampler(torch.Size([MC_SAMPLES]), seed=self.run.seed + len(self.x))
        acquisition = qLogNoisyExpectedImprovement(model, self.x, sampler=sampler, prune_baseline=True)
        common = dict(acq_function=acquisition, bounds=self.bounds, q=n, num_restarts=RESTARTS,
                      raw_samples=RAW_SAMPLES, post_processing_func=self.round)
        if not categories:
            return optimize_acqf(**common, sequential=True)[0]
        levels = [range(len(self.run.space[i].choices)) for i in categories]
        if torch.tensor([len(each) for each in levels]).prod() > MOST_COMBINATIONS:
            cat_dims = {i: [float(v) for v in each] for i, each in zip(categories, levels)}
            return optimize_acqf_mixed_alternating(**common, cat_dims=cat_dims, sequential=True)[0]
        fixed = [dict(zip(categories, map(float, combination))) for combination in itertools.product(*levels)]
        return optimize_acqf_mixed(**common, fixed_features_list=fixed)[0]

    def round(self, x: Tensor) -> Tensor:
        """Move each int coordinate to the middle of the share of [0, 1] that belongs to it."""
        ints = [i for i, p in enumerate(self.run.space) if p.kind == "int"]
        if not ints:
            return x
        x = x.clone()
        flat = x.view(-1, x.shape[-1])
        for i in ints:
            p = self.run.space[i]
            flat[:, i] = torch.tensor([p.to_unit(p.from_unit(u)) for u in flat[:, i].tolist()], dtype=x.dtype)
        return x

    def encode(self, point: Point) -> list[float]:
        return [float(p.choices.index(point[p.name])) if p.kind == "categorical" else p.to_unit(point[p.name])
                for p in self.run.space]

    def decode(self, row: list[float]) -> Point:
        return {p.name: p.choices[round(u)] if p.kind == "categorical" else p.from_unit(u)
                for p, u in zip(self.run.space, row)}


if __name__ == "__main__":
    argument(["qlognei"])
    serve(BotorchPeer)

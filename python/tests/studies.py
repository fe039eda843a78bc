"""A space of mixed parameters, a pool, and studies of them, for several tests."""

import math

import numpy as np

import noregret as nr

MIXED = {
    "lr": nr.Float(1e-5, 1e-1, log=True),
    "layers": nr.Int(1, 8),
    "act": nr.Categorical(["relu", "tanh"]),
    "width": nr.Ordinal([32, 64, 128]),
    "bias": nr.Bool(),
}


def loss(params):
    return (math.log10(params["lr"]) + 3) ** 2 + (params["layers"] - 4) ** 2 / 8 + (params["act"] == "relu") + params["width"] / 256


def told(n=12, **options):
    study = nr.Study(MIXED, **options)
    while len(study) < n:
        for trial in study.ask(3):
            study.tell(trial, loss(trial.params))
    return study


def pool():
    rng = np.random.default_rng(3)
    return nr.Pool(rng.random((200, 3)), ids=[f"m{i}" for i in range(200)], names=["mass", "charge", "size"])

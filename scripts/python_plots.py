"""Draws the pictures of docs/python.md.

    python3 scripts/python_plots.py [FOLDER]

writes python-history.png and python-surrogate.png to docs/images, or to FOLDER. Needs the Python package and matplotlib.
"""

import math
import random
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import noregret as nr


def loss(trial):
    """A training run in miniature: noisy, and out of memory where the network is large."""
    params = trial.params
    if params["layers"] * params["width"] > 1200:
        raise MemoryError
    noise = random.Random(trial.number).gauss(0, 0.02)
    wide = math.log2(params["width"] / 128)
    return 0.2 + 0.1 * math.log10(params["lr"] / 2e-3) ** 2 + 0.03 * (params["layers"] - 4 + 0.7 * wide) ** 2 + noise


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent / "docs" / "images"
    space = {"lr": nr.Float(1e-5, 1e-1, log=True), "layers": nr.Int(1, 8), "width": nr.Int(32, 512, log=True)}
    study = nr.Study(space, seed=1)
    for _ in range(10):
        for trial in study.ask(4):
            try:
                study.tell(trial, loss(trial))
            except MemoryError:
                study.fail(trial, "out of memory")
    study.plot_history().figure.savefig(folder / "python-history.png", dpi=80)
    study.plot_surrogate(["lr", "layers"])[0].figure.savefig(folder / "python-surrogate.png", dpi=80)


main()

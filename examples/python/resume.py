"""A study in a file: stop whenever you like, and go on with the same lines.

    python examples/python/resume.py

Here the stop is a Ctrl-C in the middle of an evaluation. What was told is in the file by then; what was asked for within `with study:` and not
told is handed out again. So nothing is lost, and the points are those of a study that was never stopped. The command line reads the same
file: `noregret show --study oven --storage sqlite:///oven.db`.
"""

import os
import tempfile

import noregret as nr

SPACE = {"celsius": nr.Float(120, 240), "minutes": nr.Float(4, 30)}


def bake(params):
    return (params["celsius"] - 180) ** 2 / 100 + (params["minutes"] - 12) ** 2


def work(storage, stop_after=None):
    """Opens the study, or goes on with it, until it has 24 values."""
    told = 0
    with nr.Study(SPACE, storage=storage, name="oven", seed=1) as study:
        while sum(trial.state == "complete" for trial in study.trials) < 24:
            (trial,) = study.ask(1)
            if told == stop_after:
                raise KeyboardInterrupt
            study.tell(trial, bake(trial.params))
            told += 1
    return study


with tempfile.TemporaryDirectory() as folder:
    storage = f"sqlite:///{os.path.join(folder, 'oven.db')}"
    try:
        work(storage, stop_after=9)
    except KeyboardInterrupt:
        print("stopped:", nr.Study.load("oven", storage))
    study = work(storage)
    print("went on:", study)

    never_stopped = work(None)
    same = [trial.params for trial in study.trials] == [trial.params for trial in never_stopped.trials]
    print("the same points as without the stop:", same)
    best = study.best_observed
    print(f"best: {best.value:.4f} at {best.params['celsius']:.1f} degrees and {best.params['minutes']:.1f} minutes")

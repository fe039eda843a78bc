"""A noisy simulator on four workers, with the loop in your own hands: ask, evaluate, tell.

    python examples/python/noisy_simulator.py

Whenever a result is in, its worker gets a new point, chosen in view of the three that are still running. `duplicates="replicate"` lets a point
come again, which is worth its price where values are noisy. In the end, the best value seen was a lucky one, and promises too much: the
recommended point is the one with the best mean by the model, and its interval says what to expect. (Results are taken in the order of the
trials, so that this prints the same each time; `concurrent.futures.wait(..., return_when=FIRST_COMPLETED)` takes them as they come.)
"""

import random
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor

import noregret as nr

TRIALS, WORKERS, NOISE = 60, 4, 0.5


def true_loss(temperature, minutes):
    return ((temperature - 180) / 20) ** 2 + ((minutes - 12) / 4) ** 2


def simulate(trial):
    """Stands for a simulation, a measurement, a robot."""
    time.sleep(0.01)
    return true_loss(**trial.params) + random.Random(trial.number).gauss(0, NOISE)


space = {"temperature": nr.Int(120, 240), "minutes": nr.Int(4, 30)}
study = nr.Study(space, algorithm="ts-rsr", duplicates="replicate", seed=1)

with study, ThreadPoolExecutor(WORKERS) as workers:
    running = deque((trial, workers.submit(simulate, trial)) for trial in study.ask(WORKERS))
    while running:
        trial, future = running.popleft()
        study.tell(trial, future.result(), noise_var=NOISE**2)
        if len(study) < TRIALS:
            (new,) = study.ask(1)
            running.append((new, workers.submit(simulate, new)))

lucky, recommended = study.best_observed, study.recommended
low, high = recommended.interval
print(f"{len({tuple(t.params.values()) for t in study.trials})} different points in {len(study)} evaluations")
print(f"best observed: {lucky.params}, told {lucky.value:+.2f}, in truth {true_loss(**lucky.params):.2f}")
print(f"recommended:   {recommended.params}, expected {recommended.mean:+.2f}", end=" ")
print(f"(95 %: {low:+.2f} to {high:+.2f}), in truth {true_loss(**recommended.params):.2f}")

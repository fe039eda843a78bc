"""Finds the best of 100,000 candidates by measuring a few hundred of them.

    pip install numpy
    python examples/python/pool_of_candidates.py

`bbkb` is made for long lists. `ask()` without a number leaves it to the algorithm how many measurements may run before their results are
needed: few at first, and more as it gets surer.
"""

import numpy as np

import noregret as nr

rng = np.random.default_rng(1)
features = rng.random((100_000, 3), dtype=np.float32)
pool = nr.Pool(features, ids=[f"compound-{i}" for i in range(len(features))], names=["mass", "charge", "polarity"])

# What nobody knows: how well each of them works.
strength = np.exp(-4 * np.sum((features - [0.3, 0.7, 0.5]) ** 2, axis=1))


def measure(trial):
    return strength[trial.row] + rng.normal(0, 0.01)


study = nr.Study(pool, direction="maximize", algorithm="bbkb", seed=1)
batches = []
while len(study) < 250:
    trials = study.ask()  # as many as the algorithm allows
    batches.append(len(trials))
    for trial in trials:
        study.tell(trial, measure(trial))

best = study.recommended
found = study.trials[best.number]
rank = int(np.sum(strength > strength[found.row])) + 1
print(f"{len(study)} of {len(pool):,} candidates measured, in {len(batches)} batches;", end=" ")
print(f"of {', '.join(map(str, batches[:5]))} at first, of {', '.join(map(str, batches[-5:]))} at last")
print(f"recommended: {found.id} with {', '.join(f'{name} {value:.2f}' for name, value in best.params.items())}")
print(f"expected {best.mean:.3f}, in truth {strength[found.row]:.3f}: number {rank:,} of all")

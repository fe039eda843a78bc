"""noregret as a search algorithm of Ray Tune: Ray runs the trials, on one machine or many, and noregret chooses them.

    pip install "ray[tune]"
    python examples/python/with_ray.py

Ray asks for one configuration at a time; noregret knows which are running and keeps away from them.
"""

import math
import os
import tempfile

os.environ.setdefault("RAY_AIR_NEW_OUTPUT", "0")  # without tables of what it is about to do

import ray
from ray import tune

from noregret.ray import NoRegretSearch


def train(config):
    net = config["net"]
    tune.report({"loss": math.log10(config["rate"] / 0.01) ** 2 + 0.1 * (net["layers"] - 3) ** 2 + (net["act"] == "tanh")})


ray.init(num_cpus=2, include_dashboard=False, logging_level="error", log_to_driver=False)
tuner = tune.Tuner(
    train,
    param_space={
        "rate": tune.loguniform(1e-4, 1e-1),
        "net": {"layers": tune.randint(1, 9), "act": tune.choice(["relu", "tanh"])},
    },
    tune_config=tune.TuneConfig(
        search_alg=NoRegretSearch(seed=1), metric="loss", mode="min", num_samples=16, max_concurrent_trials=2, reuse_actors=True
    ),
    run_config=tune.RunConfig(storage_path=tempfile.mkdtemp(), verbose=0),
)
results = tuner.fit()
best = results.get_best_result()
print(f"{len(results)} trials, the best with loss {best.metrics['loss']:.3f} at {best.config}")
ray.shutdown()

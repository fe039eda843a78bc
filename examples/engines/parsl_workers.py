"""Evaluations by Parsl, here with two workers on this machine.

python examples/engines/parsl_workers.py
"""

from parsl.concurrent import ParslPoolExecutor
from parsl.config import Config
from parsl.executors import HighThroughputExecutor
from parsl.providers import LocalProvider  # on a cluster: SlurmProvider and others

import noregret as nr


def train(params):
    import math

    return (math.log10(params["rate"]) + 2) ** 2 + params["layers"] / 10


if __name__ == "__main__":
    space = {"rate": nr.Float(1e-4, 1, log=True), "layers": nr.Int(1, 4)}
    block = LocalProvider(init_blocks=1, max_blocks=1)
    workers = HighThroughputExecutor(max_workers_per_node=2, address="127.0.0.1", provider=block)
    with ParslPoolExecutor(Config(executors=[workers], strategy_period=0.5)) as executor:
        found = nr.minimize(train, space, n_trials=20, n_jobs=2, executor=executor)
    print(found.nfev, found.fun)

"""Time of one suggestion by Optuna's samplers on Hartmann-6 with n random observations, beside `noregret bench speed`.

    python3 -m venv .venv && .venv/bin/pip install -r benchmarks/peers/requirements.txt
    .venv/bin/python benchmarks/peers/speed_optuna.py gp 50 200 500 1000

Fit included: the study is filled with n finished trials, then one `ask` with its six `suggest_float` is timed, on a
study that is asked for the first time (cold) and three more times, each after telling the value (warm). Threads of BLAS
and torch are pinned to the number given by --threads (2 by default, as our own runs use 2).
"""

import argparse
import os
import statistics
import time


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("sampler", choices=["gp", "tpe"])
    parser.add_argument("sizes", type=int, nargs="+")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--warm", type=int, default=3)
    args = parser.parse_args()
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = str(args.threads)

    import numpy as np
    import optuna

    if args.sampler == "gp":
        import torch

        torch.set_num_threads(args.threads)
    optuna.logging.set_verbosity(optuna.logging.ERROR)

    a = np.array([[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14], [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]])
    p = 1e-4 * np.array(
        [[1312, 1696, 5569, 124, 8283, 5886], [2329, 4135, 8307, 3736, 1004, 9991], [2348, 1451, 3522, 2883, 3047, 6650], [4047, 8828, 8732, 5743, 1091, 381]]
    )
    alpha = np.array([1.0, 1.2, 3.0, 3.2])

    def hartmann6(x: np.ndarray) -> float:
        return float(-alpha @ np.exp(-(a * (x - p) ** 2).sum(axis=1)))

    names = [f"x{k}" for k in range(6)]
    space = {name: optuna.distributions.FloatDistribution(0.0, 1.0) for name in names}
    print(f"optuna {optuna.__version__}, {args.sampler}, {args.threads} threads")
    for n in args.sizes:
        rng = np.random.default_rng(0)
        sampler = optuna.samplers.GPSampler(seed=0) if args.sampler == "gp" else optuna.samplers.TPESampler(seed=0, multivariate=False)
        study = optuna.create_study(sampler=sampler)
        study.add_trials(
            [
                optuna.trial.create_trial(params=dict(zip(names, map(float, x))), distributions=space, value=hartmann6(x))
                for x in rng.random((n, 6))
            ]
        )
        times = []
        for _ in range(1 + args.warm):
            start = time.perf_counter()
            trial = study.ask()
            x = np.array([trial.suggest_float(name, 0.0, 1.0) for name in names])
            times.append(time.perf_counter() - start)
            study.tell(trial, hartmann6(x))
        warm = f"{1e3 * statistics.median(times[1:]):.1f} ms" if times[1:] else "-"
        print(f"n = {n}: cold {1e3 * times[0]:.1f} ms, warm {warm}", flush=True)


if __name__ == "__main__":
    main()

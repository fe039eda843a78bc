"""What the Python package costs: its size, its import, and `ask(1)` beside the same call in Rust.

    cargo build --release -p noregret-testkit --examples
    python benchmarks/python/measure.py                                   in an environment with noregret and NumPy
    python benchmarks/python/measure.py --peer BOTORCH_ENVIRONMENT/bin/python --peer-module botorch

Everything is measured in turns in one run; times are the minimum of several.
"""

import argparse
import math
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROOTS = [math.sqrt(p) for p in (2, 3, 5, 7, 11, 13)]


def import_seconds(python: str, module: str) -> float:
    """Of a fresh process, whose files are warm."""
    script = f"import time; begin = time.perf_counter(); import {module}; print(time.perf_counter() - begin)"
    run = subprocess.run([python, "-c", script], capture_output=True, text=True, check=True)
    return float(run.stdout.split()[-1])


def modules_loaded(python: str, module: str) -> int:
    script = f"import sys; before = len(sys.modules); import {module}; print(len(sys.modules) - before)"
    return int(subprocess.run([python, "-c", script], capture_output=True, text=True, check=True).stdout.split()[-1])


def installed_bytes(python: str) -> int:
    """All that is installed in an environment, without pip and setuptools."""
    script = "import sysconfig; print(sysconfig.get_paths()['purelib'])"
    folder = Path(subprocess.run([python, "-c", script], capture_output=True, text=True, check=True).stdout.strip())
    tools = ("pip", "setuptools", "_distutils_hack", "pkg_resources")
    files = (f for f in folder.rglob("*") if f.is_file() and not f.relative_to(folder).parts[0].startswith(tools))
    return sum(f.stat().st_size for f in files)


def package_bytes() -> int:
    import noregret

    folder = Path(noregret.__file__).parent
    return sum(f.stat().st_size for f in folder.rglob("*") if f.is_file() and "__pycache__" not in f.parts)


def sphere(point: list[float]) -> float:
    return sum((x - 0.3) ** 2 for x in point)


def ask_in_python() -> list[float]:
    import noregret as nr

    points = [[math.modf(i * root)[0] for root in ROOTS] for i in range(1, 201)]
    study = nr.Study([(0, 1)] * 6, seed=0)
    study.tell_many(points, [sphere(point) for point in points])
    seconds = []
    for _ in range(30):
        begin = time.perf_counter()
        (trial,) = study.ask(1)
        seconds.append(time.perf_counter() - begin)
        study.tell(trial, sphere(list(trial.params.values())))
    return seconds


def ask_in_rust() -> list[float]:
    program = ROOT / "target" / "release" / "examples" / "ask_time"
    if not program.exists():
        sys.exit(f"{program} is missing: cargo build --release -p noregret-testkit --examples")
    return [float(line) for line in subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()]


def tell_many_seconds() -> float:
    import numpy as np

    import noregret as nr

    X = np.random.default_rng(0).random((100_000, 6))
    y = X.sum(1)
    study = nr.Study([(0, 1)] * 6, seed=0)
    begin = time.perf_counter()
    study.tell_many(X, y)
    return time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--peer", help="the Python of another environment")
    parser.add_argument("--peer-module", default="botorch", help="what to import there")
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()

    ours, theirs = [], []
    for _ in range(options.repeats):
        ours.append(import_seconds(sys.executable, "noregret"))
        if options.peer:
            theirs.append(import_seconds(options.peer, options.peer_module))
    print(f"import noregret        {1e3 * min(ours):8.1f} ms, {modules_loaded(sys.executable, 'noregret')} modules")
    print(f"installed noregret     {package_bytes() / 1e6:8.1f} MB")
    if options.peer:
        loaded = modules_loaded(options.peer, options.peer_module)
        print(f"import {options.peer_module:<15} {1e3 * min(theirs):8.1f} ms, {loaded} modules")
        print(f"its environment        {installed_bytes(options.peer) / 1e6:8.1f} MB")

    print(f"tell_many, 100,000 rows{min(tell_many_seconds() for _ in range(3)):8.3f} s")

    python, rust = [], []
    for _ in range(options.repeats):
        python.append(ask_in_python())
        rust.append(ask_in_rust())
    # The same thirty questions each time: the fastest answer to each, added up.
    total_python, total_rust = (sum(map(min, zip(*runs))) for runs in (python, rust))
    print(f"ask(1), n = 200, d = 6 {1e3 * total_python / 30:8.3f} ms in Python, {1e3 * total_rust / 30:.3f} ms in Rust: "
          f"{100 * (total_python / total_rust - 1):+.1f} %")
    medians = [1e3 * statistics.median(min(times) for times in zip(*runs)) for runs in (python, rust)]
    print(f"  median question      {medians[0]:8.3f} ms in Python, {medians[1]:.3f} ms in Rust")


if __name__ == "__main__":
    main()

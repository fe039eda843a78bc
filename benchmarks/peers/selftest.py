"""Runs every adapter on small problems so that a broken one is seen at once.

    python selftest.py ENVIRONMENTS [--only NAME ...] [--big]

ENVIRONMENTS is the folder given to make_environments.sh. Each adapter does 20 evaluations of a shifted Branin one
by one and in batches of 5, of a mixed space and of a 10-D sphere, all in one process; then it must refuse a bad
request, live on, and repeat its first run. `--big` adds one ask each for 1 and 5 points after 100 in 10-D.
Exit status 1 if any adapter failed.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any, Callable

HERE = Path(__file__).resolve().parent
SECONDS_ALLOWED = 600

# name: (environment, script, arguments)
ADAPTERS: dict[str, tuple[str, str, list[str]]] = {
    "random": ("peers", "random_peer.py", []),
    "botorch": ("peers", "botorch_peer.py", []),
    "optuna-gp": ("peers", "optuna_peer.py", ["gp"]),
    "optuna-tpe": ("peers", "optuna_peer.py", ["tpe"]),
    "hebo": ("hebo", "hebo_peer.py", []),
    "smac": ("peers", "smac_peer.py", []),
    "egobox": ("peers", "egobox_peer.py", []),
    "bayesopt": ("peers", "bayesopt_peer.py", []),
    "skopt": ("peers", "skopt_peer.py", []),
    "nevergrad": ("nevergrad", "nevergrad_peer.py", []),
}

Point = dict[str, Any]


def branin(p: Point) -> float:
    """Branin with its argument moved by (0.7, -0.4), so that no minimum lies on a round number; minimum 0.3979."""
    x, y = p["x0"] - 0.7, p["x1"] + 0.4
    a = y - 5.1 / (4 * math.pi**2) * x * x + 5 / math.pi * x - 6
    return a * a + 10 * (1 - 1 / (8 * math.pi)) * math.cos(x) + 10


def mixed(p: Point) -> float:
    """Minimum 0 at rate = 0.01, n = 5, c = "b"."""
    return math.log10(p["rate"] / 0.01) ** 2 + 0.1 * (p["n"] - 5) ** 2 + {"a": 0.5, "b": 0.0, "c": 1.0}[p["c"]]


def sphere(p: Point) -> float:
    return sum((v - 0.3) ** 2 for v in p.values())


def real(name: str, low: float, high: float, log: bool = False) -> dict[str, Any]:
    return {"name": name, "type": "float", "low": low, "high": high, "log": log}


BRANIN = [real("x0", -5.0, 10.0), real("x1", 0.0, 15.0)]
MIXED = [
    real("rate", 1e-5, 1.0, log=True),
    {"name": "n", "type": "int", "low": 1, "high": 8, "log": False},
    {"name": "c", "type": "categorical", "choices": ["a", "b", "c"]},
]
CUBE = [real(f"x{i}", 0.0, 1.0) for i in range(10)]


class Adapter:
    def __init__(self, environments: Path, name: str) -> None:
        environment, script, arguments = ADAPTERS[name]
        python = environments / f".venv-{environment}" / "bin" / "python"
        if not python.exists():
            raise RuntimeError(f"no {python}")
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [str(python), str(HERE / script), *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=self.errors, text=True, env={"OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0", **os.environ})
        self.timer = threading.Timer(SECONDS_ALLOWED, self.process.kill)
        self.timer.start()

    def send(self, **request: Any) -> dict[str, Any]:
        assert self.process.stdin and self.process.stdout
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        line = self.process.stdout.readline()
        if not line:
            self.errors.seek(0)
            raise RuntimeError("process ended: " + " | ".join(self.errors.read().splitlines()[-3:]))
        return json.loads(line)

    def must(self, **request: Any) -> dict[str, Any]:
        answer = self.send(**request)
        if "error" in answer:
            raise RuntimeError(f"{request['cmd']}: {answer['error']}")
        return answer

    def close(self) -> None:
        self.timer.cancel()
        self.process.kill()
        self.process.wait()


def check(point: Point, space: list[dict[str, Any]]) -> None:
    assert list(point) == [p["name"] for p in space], f"names: {point}"
    for p in space:
        value = point[p["name"]]
        if p["type"] == "categorical":
            assert value in p["choices"], f"{p['name']} = {value!r}"
        else:
            assert isinstance(value, int if p["type"] == "int" else float), f"{p['name']} = {value!r}"
            assert p["low"] <= value <= p["high"], f"{p['name']} = {value}"


def optimise(adapter: Adapter, function: Callable[[Point], float], space: list[dict[str, Any]], batch: int,
             initial: int = 10, evaluations: int = 20) -> tuple[float, float, list[Point]]:
    """Best value, seconds per ask after the initial design (with the tell before it), and all points."""
    adapter.must(cmd="start", seed=1, batch=batch, budget=evaluations, initial=initial, space=space)
    history: list[Point] = []
    best, seconds, asks, telling = math.inf, 0.0, 0, 0.0
    while len(history) < evaluations:
        answer = adapter.must(cmd="ask", n=min(batch, evaluations - len(history)))
        for point in answer["points"]:
            check(point, space)
        if len(history) >= initial:
            seconds, asks = seconds + answer["seconds"] + telling, asks + 1
        values = [function(p) for p in answer["points"]]
        telling = adapter.must(cmd="tell", points=answer["points"], values=values)["seconds"]
        history += answer["points"]
        best = min(best, *values)
    return best, seconds / max(asks, 1), history


def probe(adapter: Adapter, told: int, n: int) -> float:
    """Seconds for `n` points in 10-D when `told` are known, with the tell that brought them."""
    adapter.must(cmd="start", seed=1, batch=n, budget=told + n, initial=told, space=CUBE)
    points = adapter.must(cmd="ask", n=told)["points"]
    tell = adapter.must(cmd="tell", points=points, values=[sphere(p) for p in points])
    return tell["seconds"] + adapter.must(cmd="ask", n=n)["seconds"]


def examine(adapter: Adapter, big: bool) -> str:
    start = adapter.must(cmd="start", seed=1, batch=1, budget=20, initial=10, space=BRANIN)
    cells = [f"{start['method']} {start['version']}"]
    first: list[Point] = []
    for label, function, space, batch in (("branin q1", branin, BRANIN, 1), ("branin q5", branin, BRANIN, 5),
                                          ("mixed q1", mixed, MIXED, 1), ("mixed q5", mixed, MIXED, 5),
                                          ("10-D q1", sphere, CUBE, 1), ("10-D q5", sphere, CUBE, 5)):
        try:
            best, seconds, points = optimise(adapter, function, space, batch)
        except RuntimeError as error:
            if "unsupported" not in str(error):
                raise RuntimeError(f"{label}: {error}") from None
            cells.append(f"{label}: {error}")
            continue
        first = first or points
        cells.append(f"{label}: best {best:.4f}, {seconds:.3f} s/ask")
    if big:
        cells.append("10-D after 100: " + ", ".join(f"q{n} {probe(adapter, 100, n):.2f} s" for n in (1, 5)))
    if "error" not in adapter.send(cmd="nonsense"):
        raise RuntimeError("a bad request was not refused")
    repeated = optimise(adapter, branin, BRANIN, 1)[2] == first
    cells.append("repeats" if repeated else "does not repeat")
    cells.append(f"peak {adapter.must(cmd='stop')['peak_mb']:.0f} MB")
    adapter.process.wait(timeout=60)
    return "\n    ".join(cells)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("environments", type=Path)
    parser.add_argument("--only", nargs="+", choices=list(ADAPTERS), default=list(ADAPTERS))
    parser.add_argument("--big", action="store_true")
    arguments = parser.parse_args()
    failed = 0
    for name in arguments.only:
        adapter = None
        try:
            adapter = Adapter(arguments.environments, name)
            print(f"ok   {name}: {examine(adapter, arguments.big)}", flush=True)
        except (RuntimeError, AssertionError, subprocess.TimeoutExpired) as error:
            failed += 1
            print(f"FAIL {name}: {error}", flush=True)
        finally:
            if adapter is not None:
                adapter.close()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

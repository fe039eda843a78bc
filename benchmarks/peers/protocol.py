"""The loop every adapter shares: one JSON request a line on stdin, one JSON answer a line on stdout.

The real stdout is duplicated before any library is imported and file descriptor 1 is pointed at stderr, so a
library (or C code under it) that prints cannot corrupt the stream. Import this module first in each adapter.
"""

from __future__ import annotations

import abc
import json
import math
import os
import resource
import sys
import time
import traceback
from dataclasses import dataclass
from typing import Any, Callable, Sequence, TextIO

Point = dict[str, Any]


def _claim_stdout() -> TextIO:
    """Keep the real stdout for answers and send everything else that is printed to stderr."""
    answers = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return answers


ANSWERS = _claim_stdout()


class Unsupported(Exception):
    """The library cannot express this space; answered as {"error": "unsupported: ..."}."""


@dataclass(frozen=True)
class Parameter:
    """One dimension; `low` and `high` are inclusive, `choices` is empty unless `kind` is "categorical"."""

    name: str
    kind: str
    low: float = 0.0
    high: float = 1.0
    log: bool = False
    choices: tuple[str, ...] = ()

    @staticmethod
    def parse(raw: dict[str, Any]) -> Parameter:
        kind = raw["type"]
        if kind == "categorical":
            return Parameter(raw["name"], kind, choices=tuple(raw["choices"]))
        if kind not in ("float", "int"):
            raise Unsupported(kind)
        return Parameter(raw["name"], kind, raw["low"], raw["high"], bool(raw.get("log", False)))

    @property
    def scaled_bounds(self) -> tuple[float, float]:
        """Bounds after the logarithm, if any. Ints reach half a step further so that each gets an equal share."""
        margin = 0.5 if self.kind == "int" else 0.0
        return self.scale(self.low - margin), self.scale(self.high + margin)

    def to_unit(self, value: Any) -> float:
        """Place a float or int in [0, 1], through the logarithm if the parameter is logarithmic."""
        low, high = self.scaled_bounds
        return (self.scale(float(value)) - low) / (high - low) if high > low else 0.5

    def from_unit(self, u: float) -> float | int | str:
        """Invert `to_unit`; ints are rounded, and a categorical takes an equal share of [0, 1] per choice."""
        u = min(max(float(u), 0.0), 1.0)
        if self.kind == "categorical":
            return self.choices[min(int(u * len(self.choices)), len(self.choices) - 1)]
        low, high = self.scaled_bounds
        return self.clean(self.unscale(low + u * (high - low)))

    def scale(self, value: float) -> float:
        return math.log(value) if self.log else float(value)

    def unscale(self, value: float) -> float:
        return math.exp(value) if self.log else float(value)

    def clean(self, value: Any) -> float | int | str:
        """A plain Python value inside the bounds, whatever numpy type and rounding error a library returned."""
        if self.kind == "categorical":
            return str(value)
        value = min(max(float(value), self.low), self.high)
        return int(round(value)) if self.kind == "int" else value


@dataclass(frozen=True)
class Run:
    """What "start" asks for."""

    seed: int
    batch: int
    budget: int
    initial: int
    space: tuple[Parameter, ...]

    @property
    def categorical(self) -> list[int]:
        return [i for i, p in enumerate(self.space) if p.kind == "categorical"]

    def clean(self, point: Point) -> Point:
        return {p.name: p.clean(point[p.name]) for p in self.space}


class Peer(abc.ABC):
    """One optimiser. A fresh one is made for each "start", so nothing has to be reset."""

    def __init__(self, run: Run) -> None:
        self.run = run

    @property
    @abc.abstractmethod
    def method(self) -> str:
        """The name in the tables, e.g. "botorch-qlognei"."""

    @property
    @abc.abstractmethod
    def version(self) -> str:
        """The library's version."""

    @abc.abstractmethod
    def ask(self, n: int) -> list[Point]:
        """Propose `n` points to be evaluated together."""

    @abc.abstractmethod
    def tell(self, points: list[Point], values: list[float]) -> None:
        """Take the values (to be minimised) of points from the last `ask`."""


class Pending:
    """Finds the library's own handle (trial, candidate, ...) of a point that comes back with its value.

    Floats may have lost a bit on their way through the caller's JSON, so the nearest open point counts.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.open: list[tuple[Point, Any]] = []

    def add(self, point: Point, handle: Any) -> Point:
        point = self.run.clean(point)
        self.open.append((point, handle))
        return point

    def is_open(self, point: Point) -> bool:
        return any(self._distance(point, other) <= 1e-9 for other, _ in self.open)

    def take(self, point: Point) -> Any:
        distances = [self._distance(point, other) for other, _ in self.open]
        if not distances or min(distances) > 1e-9:
            raise ValueError(f"told a point that was not asked: {point}")
        return self.open.pop(distances.index(min(distances)))[1]

    def _distance(self, a: Point, b: Point) -> float:
        return sum(
            float(a[p.name] != b[p.name])
            if p.kind == "categorical"
            else abs(p.to_unit(a[p.name]) - p.to_unit(b[p.name]))
            for p in self.run.space
        )


def sobol_design(run: Run, n: int) -> list[Point]:
    """`n` scrambled Sobol points of scipy: the initial design of libraries that have none of a settable size."""
    from scipy.stats import qmc

    unit = qmc.Sobol(len(run.space), scramble=True, seed=run.seed).random_base2(max(n - 1, 0).bit_length())[:n]
    return [{p.name: p.from_unit(u) for p, u in zip(run.space, row)} for row in unit]


def argument(allowed: Sequence[str]) -> str:
    """The method named on the command line, or the first allowed one."""
    name = sys.argv[1] if len(sys.argv) > 1 else allowed[0]
    if name not in allowed:
        sys.exit(f"unknown method {name!r}; one of: {', '.join(allowed)}")
    return name


def answer_lines(answer: Callable[[str, dict[str, Any]], dict[str, Any]]) -> None:
    """Answer requests until "stop" or the end of input. A library's exception becomes an answer, not an exit."""
    for line in sys.stdin:
        if not line.strip():
            continue
        stopping = False
        try:
            request = json.loads(line)
            stopping = request["cmd"] == "stop"
            if stopping:
                reply = {"peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0}
            else:
                reply = answer(request["cmd"], request)
        except Unsupported as error:
            reply = {"error": f"unsupported: {error}"}
        except BaseException as error:  # Rust panics reach Python as BaseException (pyo3's PanicException).
            if isinstance(error, (KeyboardInterrupt, SystemExit)):
                raise
            traceback.print_exc()
            reply = {"error": f"{type(error).__name__}: {error}"}
        ANSWERS.write(json.dumps(reply) + "\n")
        ANSWERS.flush()
        if stopping:
            return


def serve(make: Callable[[Run], Peer]) -> None:
    """Answer for an optimiser."""
    peer: Peer | None = None

    def answer(command: str, request: dict[str, Any]) -> dict[str, Any]:
        nonlocal peer
        if command == "start":
            peer = None
            peer = make(_parse_run(request))
            return {"ok": True, "method": peer.method, "version": peer.version}
        if peer is None:
            return {"error": f"{command} before a successful start"}
        if command == "ask":
            return _ask(peer, int(request["n"]))
        if command == "tell":
            begun = time.perf_counter()
            peer.tell(request["points"], [float(v) for v in request["values"]])
            return {"ok": True, "seconds": time.perf_counter() - begun}
        return {"error": f"unknown command {command!r}"}

    answer_lines(answer)


def _ask(peer: Peer, n: int) -> dict[str, Any]:
    begun = time.perf_counter()
    points = peer.ask(n)
    seconds = time.perf_counter() - begun
    if len(points) != n:
        raise RuntimeError(f"asked for {n} points, got {len(points)}")
    return {"points": [peer.run.clean(p) for p in points], "seconds": seconds}


def _parse_run(request: dict[str, Any]) -> Run:
    space = tuple(Parameter.parse(raw) for raw in request["space"])
    return Run(int(request["seed"]), int(request["batch"]), int(request["budget"]), int(request["initial"]), space)

"""Functions that engines evaluate in processes of their own: workers import them from here."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any


class Broken(Exception):
    """An exception of the user's own."""


def bowl(x: Any) -> float:
    return float((x[0] - 0.3) ** 2 + x[1] ** 2)


def shaky(x: Any) -> float:
    if x[0] < 0.5:
        raise Broken(f"too far left: {x[0]}")
    return bowl(x)


def deadly(x: Any) -> float:
    if x[0] < 0.5:
        os._exit(3)
    return bowl(x)


def nap(folder: str, seconds: float) -> str | None:
    """Leaves the number of its process, and returns how often Slurm has restarted it."""
    path = Path(folder) / f"{os.getpid()}.pid"
    path.touch()
    time.sleep(seconds)
    path.unlink()
    return os.environ.get("SLURM_RESTART_COUNT")


def raise_it(kind: type[Exception], *args: Any) -> None:
    raise kind(*args)

"""What a study returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any, Literal

__all__ = ["Recommendation", "RemainingRegret", "Trial"]

State = Literal["waiting", "running", "complete", "failed"]


@dataclass(slots=True)
class Trial:
    """One evaluation, from the question to the answer. A snapshot: it does not change when the study goes on."""

    number: int
    """Its number in the study, from 0 on."""
    state: State
    """`"waiting"` in the queue, `"running"`, `"complete"` or `"failed"`."""
    params: dict[str, Any]
    """What to evaluate: values by parameter name; in a pool the features of the candidate."""
    row: int | None = None
    """The row of the pool, if the space is one."""
    id: str | None = None
    """The id of the candidate, if the space is a pool."""
    value: float | None = None
    """What was told."""
    noise_var: float | None = None
    """The variance of its noise, if that was told."""
    reason: str | None = None
    """Why it failed."""
    attrs: dict[str, Any] = field(default_factory=dict)
    """What else was told."""
    seconds: float | None = None
    """How long the evaluation took: from ask to tell, if nothing better is known."""
    _asked: float = 0.0
    _started: float | None = None
    _ended: float | None = None

    @property
    def asked(self) -> datetime:
        """When it was proposed."""
        return datetime.fromtimestamp(self._asked, timezone.utc)

    @property
    def started(self) -> datetime | None:
        """When it was last handed out."""
        return None if self._started is None else datetime.fromtimestamp(self._started, timezone.utc)

    @property
    def ended(self) -> datetime | None:
        """When its result was told."""
        return None if self._ended is None else datetime.fromtimestamp(self._ended, timezone.utc)

    def __repr__(self) -> str:
        told = "" if self.value is None else f", value={self.value!r}"
        told += "" if self.reason is None else f", reason={self.reason!r}"
        name = "" if self.id is None else f", id={self.id!r}"
        return f"Trial({self.number}, {self.state}{name}, {self.params!r}{told})"


@dataclass(frozen=True)
class Recommendation:
    """The point to use: that of the best posterior mean among those evaluated, not of the luckiest value."""

    number: int
    """Its trial."""
    params: dict[str, Any]
    """Its parameters."""
    mean: float
    """Its expected noise-free value."""
    interval: tuple[float, float]
    """A 95 % interval for that value."""
    observed: float | None
    """What was told of it."""
    row: int | None = None
    """The row of the pool, if the space is one."""
    id: str | None = None
    """The id of the candidate, if the space is a pool."""


@dataclass(frozen=True)
class RemainingRegret:
    """What the recommended point may still miss, by the model, in the objective's units."""

    median: float
    """As likely more as less."""
    interval: tuple[float, float]
    """A 90 % interval."""

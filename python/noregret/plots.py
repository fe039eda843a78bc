"""Pictures of a study. Call them as methods of `Study`; matplotlib is imported when the first one is drawn."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .errors import InvalidArgument
from .space import Bool, Categorical, Float, Int, Ordinal, _key, _label
from .trial import Recommendation, Trial

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .study import Study

__all__ = ["plot_history", "plot_slice", "plot_surrogate"]

# Colours of Okabe and Ito, which colour-blind readers can tell apart.
_BLUE, _ORANGE, _RED, _GREEN = "#0072B2", "#E69F00", "#D55E00", "#009E73"
_GREY = "#888888"

_PANELS = 12  # of a slice plot at most, unless parameters are named
_ROWS = 2000  # of a pool that are drawn at most
_OTHER = 0.754878  # jitter across both axes must not line up
_FINE, _COARSE = 200, 60  # points along an axis for a curve, and for a map


def plot_history(study: Study, ax: Axes | None = None) -> Axes:
    """Every value by trial, the best so far, failures at the worse edge, and the recommendation with its 95 % interval at the right."""
    plt, np = _libraries()
    told = _told(study)
    failed = [t.number for t in study.trials if t.state == "failed"]
    axes: Any = _figure(plt, 1, 1, 7.0, 4.0)[0] if ax is None else ax
    numbers, values = [t.number for t in told], _values(told)
    last = max(numbers + failed)
    smaller = study.direction == "minimize"
    best = (np.minimum if smaller else np.maximum).accumulate(values)
    axes.plot(numbers, values, "o", color=_BLUE, alpha=0.6, markersize=5, markeredgewidth=0, label="value")
    axes.step([*numbers, last], [*best, best[-1]], where="post", color=_ORANGE, linewidth=2, label="best so far")
    _draw_failed(axes, failed, top=smaller)
    recommended = study.recommended
    if recommended is not None:
        low, high = recommended.interval
        mean = recommended.mean
        axes.errorbar(
            [last + max(1.0, 0.03 * last)], [mean], [[mean - low], [high - mean]],
            fmt="D", color=_GREEN, markersize=6, capsize=4, label="recommended, 95 %",
        )
    axes.set_xlabel("trial")
    axes.set_ylabel(_value_label(study))
    axes.xaxis.get_major_locator().set_params(integer=True)
    _legend(axes, beside=ax is None)
    return axes  # type: ignore[no-any-return]


def plot_slice(study: Study, params: Sequence[str] | str | None = None) -> Any:
    """Values against each parameter, in panels that share the axis of values; darker trials came earlier.

    Without `params`: all parameters, or the twelve most important ones. Returns an array of Axes.
    """
    plt, np = _libraries()
    told = _told(study)
    dimensions = _dimensions(study)
    if params is None:
        names = _by_importance(study)[:_PANELS] if len(dimensions) > _PANELS else list(dimensions)
    else:
        names = _named(dimensions, params)
    rows = -(-len(names) // 4)
    columns = -(-len(names) // rows)
    axes = _figure(plt, rows, columns, 2.9, 3.0, sharey=True)
    for ax in axes[len(names):]:
        ax.remove()
    axes = axes[: len(names)]
    best = study.best_observed
    failed = [t for t in study.trials if t.state == "failed"]
    for i, (ax, name) in enumerate(zip(axes, names)):
        dimension = dimensions[name]
        points = ax.scatter(
            dimension.places(told), _values(told), c=[t.number for t in told],
            cmap="viridis", s=24, alpha=0.8, linewidths=0,
        )
        if best is not None:
            ax.plot(
                dimension.places([best]), [best.value], "o", markersize=11, markerfacecolor="none",
                markeredgecolor=_RED, markeredgewidth=1.8, label="best",
            )
        _draw_failed(ax, dimension.places(failed), top=study.direction == "minimize")
        dimension.dress(ax.xaxis)
        ax.set_xlabel(name)
        if i % columns == 0:
            ax.set_ylabel(_value_label(study))
    axes[0].figure.colorbar(points, ax=list(axes), label="trial", pad=0.01)
    _legend(axes[0], beside=True)
    return axes


def plot_surrogate(study: Study, params: Sequence[str] | str | None = None, ax: Any = None) -> Any:
    """What the model believes over one or two parameters, the others held at the recommended point; observations fade with their distance
    from there. A pool has no points in between: its rows are drawn, at most 2,000 of them.

    Without `params`: the two most important ones, or all if there are no more. One parameter returns (and takes) an Axes with the mean and
    two standard deviations, two parameters a pair of Axes with mean and standard deviation.
    """
    plt, np = _libraries()
    told = _told(study)
    recommended = study.recommended
    if recommended is None:
        raise InvalidArgument("there is no model before the first value is told")
    dimensions = _dimensions(study)
    names = list(dimensions) if params is None and len(dimensions) <= 2 else _named(dimensions, params or _by_importance(study)[:2])
    if len(names) > 2:
        raise InvalidArgument(f"a picture has one or two parameters, not {len(names)}: {', '.join(names)}")
    axes = [] if ax is None else list(getattr(ax, "flat", ax)) if hasattr(ax, "__iter__") else [ax]
    if axes and len(axes) != len(names):
        raise InvalidArgument("one parameter takes one Axes" if len(names) == 1 else "two parameters take two Axes: ax=(left, right)")
    drawn = _Surrogate(study, [dimensions[name] for name in names], dimensions, recommended, told)
    if len(names) == 1:
        ax = axes[0] if axes else _figure(plt, 1, 1, 7.0, 4.0)[0]
        drawn.curve(ax)
        _legend(ax, beside=not axes)
        return ax
    pair = np.array(axes) if axes else _figure(plt, 1, 2, 5.2, 4.2)
    drawn.maps(pair)
    _legend(pair[0], beside=not axes)
    return pair


@dataclass
class _Dimension:
    """A parameter or feature as an axis. `values` are the choices of one without numbers, which stand at 0, 1, 2, ..."""

    name: str
    low: float = 0.0
    high: float = 1.0
    log: bool = False
    whole: bool = False
    values: tuple[Any, ...] | None = None

    def place(self, value: Any) -> float:
        if self.values is None:
            return float(value)
        keys = [_key(_label(choice)) for choice in self.values]
        return float(keys.index(_key(_label(value))))

    def places(self, trials: Sequence[Trial], spread: float = 0.618034) -> list[float]:
        """Where trials stand on the axis. Those of one choice are told apart by a little jitter: multiples of an irrational number, which
        spread evenly, and alike whenever the picture is drawn."""
        found = [self.place(t.params[self.name]) for t in trials]
        if self.values is None:
            return found
        return [place + 0.3 * (t.number * spread % 1 - 0.5) for place, t in zip(found, trials)]

    def distance(self, a: Any, b: Any) -> float:
        """As a share of the range; all choices of a category are as far apart as can be."""
        x, y = self.place(a), self.place(b)
        if self.values is not None:
            return float(x != y)
        low, high = self.low, self.high
        if self.log:
            x, y, low, high = (math.log(number) for number in (x, y, low, high))
        return abs(x - y) / (high - low) if high > low else 0.0

    def grid(self, n: int) -> list[Any]:
        """Values along the axis."""
        if self.values is not None:
            return list(self.values)
        import numpy as np

        line = np.geomspace(self.low, self.high, n) if self.log else np.linspace(self.low, self.high, n)
        if self.whole:
            return [int(value) for value in np.unique(np.round(line))]
        return [float(value) for value in np.clip(line, self.low, self.high)]

    def dress(self, axis: Any) -> None:
        """Scale and ticks."""
        which = axis.axis_name
        if self.values is None:
            if self.log:
                getattr(axis.axes, f"set_{which}scale")("log")
            elif self.whole:
                axis.get_major_locator().set_params(integer=True)
            return
        labels = [textwrap.shorten(str(getattr(value, "__name__", value)), 16, placeholder="…") for value in self.values]
        crowded = which == "x" and sum(map(len, labels)) > 24
        axis.set_ticks(range(len(labels)), labels, **({"rotation": 30, "ha": "right"} if crowded else {}))
        getattr(axis.axes, f"set_{which}lim")(-0.5, len(labels) - 0.5)


class _Surrogate:
    """The model on a slice of the space."""

    def __init__(
        self,
        study: Study,
        shown: list[_Dimension],
        all: Mapping[str, _Dimension],
        recommended: Recommendation,
        told: list[Trial],
    ) -> None:
        self.study, self.shown, self.recommended, self.told = study, shown, recommended, told
        self.held = [d for name, d in all.items() if d not in shown] if study.pool is None else []
        self.failed = [t for t in study.trials if t.state == "failed"]
        importance = study.importance or {}
        self.weights = [importance.get(d.name, 0.0) for d in self.held]
        if not sum(self.weights):
            self.weights = [1.0] * len(self.held)

    def predict(self, *columns: Sequence[Any]) -> tuple[Any, Any]:
        """Mean and deviation where the shown parameters have these values."""
        points = [{**self.recommended.params, **dict(zip((d.name for d in self.shown), row))} for row in zip(*columns)]
        return self.study.predict(points)

    def rows(self) -> list[dict[str, float]]:
        """Rows of the pool, spread over all of it."""
        pool = self.study.pool
        assert pool is not None
        return [pool.params(row) for row in range(0, len(pool), -(-len(pool) // _ROWS))]

    def alphas(self, trials: Sequence[Trial]) -> list[float]:
        """How visible trials are: the less, the further they are from the slice in what matters."""
        total = sum(self.weights)
        found = []
        for trial in trials:
            squares = [d.distance(trial.params[d.name], self.recommended.params[d.name]) ** 2 for d in self.held]
            square = sum(w * s for w, s in zip(self.weights, squares)) / total if self.held else 0.0
            found.append(0.2 + 0.7 * math.exp(-square / 0.02))
        return found

    def curve(self, ax: Any) -> None:
        (shown,) = self.shown
        if self.study.pool is not None:
            rows = self.rows()
            mean, sd = self.study.predict(rows)
            style: dict[str, Any] = {"fmt": "o", "markersize": 2, "alpha": 0.3, "linewidth": 0.8}
            ax.errorbar([row[shown.name] for row in rows], mean, 2 * sd, color=_BLUE, label="rows: mean, 2 sd", **style)
        else:
            grid = shown.grid(_FINE)
            mean, sd = self.predict(grid)
            places = [shown.place(value) for value in grid]
            if shown.values is not None:
                ax.errorbar(
                    places, mean, 2 * sd, fmt="s", markersize=7, capsize=6, color=_BLUE, linewidth=1.5, label="mean, 2 sd"
                )
            else:
                ax.plot(places, mean, color=_BLUE, linewidth=2, marker="." if len(grid) < 25 else None, label="mean")
                ax.fill_between(places, mean - 2 * sd, mean + 2 * sd, color="#cce3f0", linewidth=0, label="2 sd")
        self.draw_faded(ax, self.told, shown.places(self.told), _values(self.told), s=26, color="black", linewidths=0, label="told")
        _draw_failed(ax, shown.places(self.failed), top=self.study.direction == "minimize")
        ax.plot(
            [shown.place(self.recommended.params[shown.name])], [self.recommended.mean], "D", color=_GREEN, markersize=7,
            markeredgecolor="white", zorder=4, label="recommended",
        )
        shown.dress(ax.xaxis)
        ax.set_xlabel(shown.name)
        ax.set_ylabel(_value_label(self.study))
        if self.held:
            ax.set_title(self.held_at(), fontsize="small", color=_GREY, loc="left")

    def maps(self, axes: Any) -> None:
        import numpy as np

        across, up = self.shown
        if self.study.pool is not None:
            rows = self.rows()
            x, y = [row[across.name] for row in rows], [row[up.name] for row in rows]
            surfaces = list(self.study.predict(rows))
        else:
            columns, lines = across.grid(_COARSE), up.grid(_COARSE)
            x, y = [across.place(value) for value in columns], [up.place(value) for value in lines]
            flat = self.predict([c for _ in lines for c in columns], [line for line in lines for _ in columns])
            surfaces = [np.asarray(surface).reshape(len(lines), len(columns)) for surface in flat]
        smooth = across.values is None and up.values is None and len(x) > 1 and len(y) > 1
        for ax, surface, label, colours in zip(axes, surfaces, ["mean", "standard deviation"], ["viridis", "cividis"]):
            across.dress(ax.xaxis)
            up.dress(ax.yaxis)
            if self.study.pool is not None:
                drawn = ax.scatter(x, y, c=surface, cmap=colours, s=12, linewidths=0)
            elif smooth:
                drawn = ax.contourf(x, y, surface, levels=20, cmap=colours)
            else:
                drawn = ax.pcolormesh(x, y, surface, shading="nearest", cmap=colours)
            ax.figure.colorbar(drawn, ax=ax, label=label)
            if smooth:  # a frame, so that points on the edge are seen whole
                ax.use_sticky_edges = False
                ax.margins(0.02)
            self.draw_trials(ax, across, up)
            ax.set_xlabel(across.name)
            ax.set_ylabel(up.name)
        if self.held:
            axes[0].set_title(self.held_at(), fontsize="small", color=_GREY, loc="left")

    def draw_trials(self, ax: Any, across: _Dimension, up: _Dimension) -> None:
        self.draw_faded(
            ax, self.told, across.places(self.told), up.places(self.told, _OTHER),
            s=22, color="white", edgecolors="black", linewidths=0.8, label="told",
        )
        if self.failed:
            self.draw_faded(
                ax, self.failed, across.places(self.failed), up.places(self.failed, _OTHER),
                s=26, color=_RED, marker="x", linewidths=1.5, label="failed",
            )
        best = [t for t in self.told if t.number == self.recommended.number]
        ax.plot(
            across.places(best), up.places(best, _OTHER), "D", color=_ORANGE, markersize=8, markeredgecolor="black",
            zorder=4, linestyle="none", label="recommended",
        )

    def draw_faded(self, ax: Any, trials: Sequence[Trial], x: Sequence[float], y: Sequence[float], *, label: str, **style: Any) -> None:
        ax.scatter(x, y, alpha=self.alphas(trials), zorder=3, **style)
        ax.scatter([], [], label=label, **style)  # for the legend, which would show the first one, however faint

    def held_at(self) -> str:
        if len(self.held) > 6:
            return f"the {len(self.held)} other parameters as recommended"
        params = self.recommended.params
        return textwrap.fill("at " + ", ".join(f"{d.name} = {_short(params[d.name])}" for d in self.held), 90)


def _libraries() -> tuple[Any, Any]:
    try:
        import matplotlib.pyplot as plt
        import numpy as np
    except ImportError:
        raise ImportError("plots need matplotlib: pip install matplotlib") from None
    return plt, np


def _figure(plt: Any, rows: int, columns: int, width: float, height: float, **options: Any) -> Any:
    """New axes in one row."""
    _, axes = plt.subplots(rows, columns, figsize=(width * columns, height * rows), squeeze=False, layout="constrained", **options)
    return axes.ravel()


def _legend(ax: Any, *, beside: bool) -> None:
    """Below the axes, where nothing is covered; in a figure that is not ours there may be no room."""
    if beside:
        handles, labels = ax.get_legend_handles_labels()
        ax.figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    else:
        ax.legend()


def _told(study: Study) -> list[Trial]:
    told = [t for t in study.trials if t.state == "complete"]
    if not told:
        raise InvalidArgument("there is nothing to draw before the first value is told")
    return told


def _values(trials: Sequence[Trial]) -> list[float]:
    return [t.value for t in trials if t.value is not None]


def _dimensions(study: Study) -> dict[str, _Dimension]:
    if study.pool is not None:
        return {name: _Dimension(name) for name in study.pool.names}
    found = {}
    for name, parameter in study.parameters.items():
        match parameter:
            case Float() | Int():
                found[name] = _Dimension(name, parameter.low, parameter.high, parameter.log, isinstance(parameter, Int))
            case Categorical():
                found[name] = _Dimension(name, values=parameter.choices)
            case Ordinal():
                found[name] = _Dimension(name, values=parameter.values)
            case Bool():
                found[name] = _Dimension(name, values=(False, True))
    return found


def _named(dimensions: Mapping[str, _Dimension], params: Sequence[str] | str) -> list[str]:
    names = [params] if isinstance(params, str) else list(params)
    unknown = [str(name) for name in names if name not in dimensions]
    if unknown or not names or len(set(names)) < len(names):
        what = f"there is no parameter {', '.join(unknown)}" if unknown else f"name parameters, each once, not {names!r}"
        raise InvalidArgument(f"{what}; known: {', '.join(dimensions)}")
    return names


def _by_importance(study: Study) -> list[str]:
    return list(study.importance or _dimensions(study))


def _draw_failed(ax: Any, places: Sequence[float], *, top: bool) -> None:
    """Marks of failed trials at the edge where values are bad: they have none of their own."""
    if places:
        ax.plot(
            places, [0.97 if top else 0.03] * len(places), "x", transform=ax.get_xaxis_transform(), color=_RED, markersize=6,
            markeredgewidth=1.8, label="failed",
        )


def _value_label(study: Study) -> str:
    return f"value ({study.direction})"


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3g}"
    return textwrap.shorten(str(getattr(value, "__name__", value)), 16, placeholder="…")

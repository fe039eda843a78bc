"""Ask and tell."""

from __future__ import annotations

import json
import math
import operator
import os
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Union

from . import _native
from .errors import InvalidArgument, InvalidParams
from .space import Bool, Categorical, Constraint, Float, Int, Ordinal, Parameter, Pool, Space, is_masked, refuse_endless, refuse_unordered
from .trial import Recommendation, RemainingRegret, Trial

if TYPE_CHECKING:
    from types import TracebackType

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

__all__ = ["Study", "algorithms"]

Algorithm = Union[str, Mapping[str, Any]]
"""An algorithm's name, or a dict of its name and options: `{"name": "ts-rsr", "candidates": 2000}`."""

Verdict = Literal["complete", "failed", "same", "late"]
"""What became of something told."""

# How long trials stay with a process that cannot be asked whether it lives, because it runs on another machine.
_LEASE_OF_A_PROCESS = 7 * 24 * 3600.0
# Points to ask for or to suggest in one call.
_MOST_AT_ONCE = 100_000


def algorithms() -> list[dict[str, Any]]:
    """All algorithms: dicts with `name`, `purpose`, `paper` and `options` (with their defaults).

    >>> import noregret as nr
    >>> [a["name"] for a in nr.algorithms()][:3]
    ['auto', 'random', 'sobol']
    """
    found: list[dict[str, Any]] = json.loads(_native.algorithms())
    return found


class Study:
    """A search for the best point: `ask` for points to evaluate, `tell` what came out, in any order and at any time.

    space: a dict of parameters by name, a `Pool`, or a list of bounds `(low, high)`, which names its parameters `x0`, `x1`, ...
    direction: `"minimize"` or `"maximize"`.
    algorithm: a name, or a dict of a name and options; `algorithms()` lists them.
    seed: the same seed and the same told values give the same suggestions, here, in Rust and on the command line.
    storage: where the study is kept: `"sqlite:///results.db"`, `"postgresql://ann@host/database"`, or in memory without one. Opening a
        study again goes on with it.
    name: its name in the storage.
    duplicates: `"avoid"` evaluated points, `"allow"` them, or `"replicate"`: welcome them, as noisy objectives do.
    constraints: what must hold: an expression such as `"layers * width <= 1024"`, a function of a dict of parameters, or several of
        them as a list or by name. Functions are slower, and a storage keeps only their names: give them again to go on.
    trials: how many trials there are to be in all, if that is known: `auto` plans with it. It is kept in the log. Opening a study with another
        number changes it; without one, it stays.

    >>> import noregret as nr
    >>> study = nr.Study({"lr": nr.Float(1e-5, 1e-1, log=True), "layers": nr.Int(1, 8)}, seed=1)
    >>> for trial in study.ask(3):  # three points, to run at the same time
    ...     verdict = study.tell(trial, trial.params["lr"] * trial.params["layers"])
    >>> study.best_observed.value < 1
    True

    All methods may be called from any thread. Used as a context, a study takes trials back: what was asked for within `with study:` and
    not told when the block ends, or when the process dies, is handed out again.
    """

    def __init__(
        self,
        space: Mapping[str, Parameter] | Pool | Sequence[tuple[float, float]],
        *,
        direction: Literal["minimize", "maximize"] = "minimize",
        algorithm: Algorithm = "auto",
        seed: int | None = 0,
        storage: str | None = None,
        name: str | None = None,
        duplicates: Literal["avoid", "allow", "replicate"] = "avoid",
        constraints: Constraint | Sequence[Constraint] | Mapping[str, Constraint] | None = None,
        trials: int | None = None,
    ) -> None:
        if storage is not None and name is None:
            raise InvalidArgument(f'a study in a storage needs a name: Study(..., storage={storage!r}, name="...")')
        if seed is None:
            seed = int.from_bytes(os.urandom(4), "little")
        if not hasattr(seed, "__index__") or is_masked(seed) or not 0 <= operator.index(seed) < 2**64:
            raise InvalidArgument(f"a seed is a whole number from 0 to 2^64 - 1, or None for any, not {seed!r}")
        if trials is not None and not _is_count(trials, 10**9):
            raise InvalidArgument(f"trials is a whole number from 1 to 1e9, or None if it is not known, not {trials!r}")
        description = {
            "name": "study" if name is None else str(name),
            "storage": "memory:" if storage is None else _absolute(storage),
            "direction": str(direction),
            "seed": operator.index(seed),
            "algorithm": _algorithm_json(algorithm),
            "duplicates": str(duplicates),
            "trials": None if trials is None else operator.index(trials),
        }
        self._open(Space(space, constraints), description, None)

    def _open(self, space: Space, description: dict[str, Any], log: str | None) -> None:
        self._space, self._description = space, description
        self._native = _native.Study({**description, **space.describe(), "log": log})
        self._contexts = _Contexts()

    @classmethod
    def load(cls, name: str, storage: str) -> Study:
        """Opens a study that is in a storage, whoever made it. One of a pool, or with constraints that are functions, needs these again:
        use `Study(...)`."""
        definition = json.loads(_native.Study.defined(name, _absolute(storage)))
        if "parameters" not in definition["space"]:
            raise InvalidArgument(f"study `{name}` chooses from a pool, which is not in the storage: use Study(pool, ...)")
        declared = definition["space"]["parameters"]
        functions = [constraint for constraint, rule in declared["constraints"].items() if rule is None]
        if functions:
            raise InvalidArgument(f"constraint `{functions[0]}` of study `{name}` is a function, which is not in the storage: use Study(...)")
        return cls(
            {name: _parameter(kind) for name, kind in declared["parameters"].items()},
            direction=definition["direction"],
            algorithm=definition["algorithm"],
            seed=definition["seed"],
            storage=storage,
            name=name,
            duplicates=definition["duplicates"],
            constraints=declared["constraints"],
        )

    # Asking and telling.

    def ask(self, n: int | None = None, *, lease: float | None = None) -> list[Trial]:
        """Hands out `n` trials, decided on together and with what is running in mind; without `n`, as many as the algorithm allows.

        What waits in the queue (`enqueue`, `release`) comes first. If fewer points are left of a finite space, these; `NothingLeft` is raised
        if none is. Without `n` the list may be empty: then the algorithm wants to hear of what is running first. `lease` is how many seconds to wait for a result before the trial is handed out again; for ever by default.
        """
        if n is not None and not _is_count(n, _MOST_AT_ONCE):
            raise InvalidArgument(f"ask for 1 to 100,000 trials, or for as many as the algorithm allows by ask(), not for {n!r}")
        lease = _optional("lease", lease)
        held = self._contexts.current()
        # A process keeps what it holds as long as it lives; a lease that was asked for ends by the clock.
        own = held is not None and lease is None
        trials = [self._trial(t) for t in self._native.ask(n, _LEASE_OF_A_PROCESS if own else lease, own)]
        if held is not None:
            held.update(trial.number for trial in trials)
        return trials

    def tell(
        self,
        trial: Trial | int,
        value: float,
        noise_var: float | None = None,
        *,
        attrs: Mapping[str, Any] | None = None,
        seconds: float | None = None,
    ) -> Verdict:
        """Tells the value of a trial, or of its number; NaN and infinities count as failures.

        A trial has one value: telling the same again is `"same"`, telling another is recorded as `"late"` and not counted; neither is an
        error. One that had failed gets its value after all. `attrs` are kept with it, as JSON.
        """
        number = _number(trial)
        text = None if attrs is None else _json(dict(attrs))
        verdict = self._native.tell(number, _value(value), _optional("noise_var", noise_var), text, _optional("seconds", seconds))
        self._contexts.let_go(number)
        return verdict  # type: ignore[return-value]

    def fail(self, trial: Trial | int, reason: str = "failed", *, seconds: float | None = None) -> Verdict:
        """Tells that a trial ended without a value. Its point is remembered, and not suggested again."""
        number = _number(trial)
        verdict = self._native.fail(number, str(reason), _optional("seconds", seconds))
        self._contexts.let_go(number)
        return verdict  # type: ignore[return-value]

    def replace(self, trial: Trial | int, value: float, noise_var: float | None = None, *, reason: str = "") -> Verdict:
        """Replaces the result of a trial, which turned out to be wrong: a typo, a swapped plate. NaN makes a failure of it.

        From now on everything is as if it had been told so, but for what was suggested meanwhile. `"same"` if the trial has that result already.
        """
        return self._native.replace(_number(trial), _value(value), _optional("noise_var", noise_var), reason)  # type: ignore[return-value]

    def release(self, *trials: Trial | int) -> None:
        """Gives trials that are running back to the queue: the next `ask` hands them out again."""
        numbers = [_number(trial) for trial in trials]
        if numbers:
            self._native.release(numbers)
        for number in numbers:
            self._contexts.let_go(number)

    def enqueue(self, *points: Mapping[str, Any] | str | int) -> list[Trial]:
        """Puts points of your own into the queue: the next `ask` hands them out before it thinks of new ones. In a pool, ids or rows."""
        if self.pool is not None and (rows := self.pool.rows(points)) is not None:
            points = tuple(self.pool.params(row) for row in rows)
        encoded = [self._space.encode(point) for point in points]  # type: ignore[arg-type]
        return [self._trial(t) for t in self._native.enqueue(encoded)]

    def tell_many(
        self,
        X: ArrayLike | Sequence[Any] | Any,
        y: ArrayLike | Sequence[float],
        noise_var: ArrayLike | Sequence[float] | float | None = None,
    ) -> int:
        """Adds results from elsewhere, in one go: earlier runs, a spreadsheet, a simulation campaign.

        `X` has a point a row, in the space's own units and the order of its parameters: an array (of floats: read in place), a list of rows or of
        dicts, or a data frame with the parameters among its columns. In a pool, `X` may also be a list of ids or of row numbers.
        `y` are their values; NaN is a failed evaluation (leave out what was never measured). `noise_var` is one variance for all, or one for each.
        Sets and dicts, which have no order or are no list, and masked arrays of which something is masked are refused.

        Returns how many were new: a result that is there already, to the last bit, is not added again, so that a script may simply be run twice.
        """
        values = _floats("y", y)
        noise_vars = None
        if noise_var is not None:
            is_one = not hasattr(noise_var, "__len__") or getattr(noise_var, "ndim", 1) == 0
            noise_vars = [_optional("noise_var", noise_var)] * len(values) if is_one else _floats("noise_var", noise_var)
        X, rows = self._points(X)
        if rows is not None:
            return self._native.add(values, None, rows, noise_vars)
        return self._native.add(values, self._space.encode_many(X), None, noise_vars)

    def suggest(self, n: int = 1) -> Any:
        """New points that `ask(n)` would hand out now, as the rows of an array; nothing is registered. What waits in the queue is not among
        them.

        An array of floats if all parameters are numbers, else of objects; a list of lists without NumPy.
        """
        if not _is_count(n, _MOST_AT_ONCE):
            raise InvalidArgument(f"1 to 100,000 points are suggested, not {n!r}")
        return self._space.as_array([self._space.decode(params) for params in self._native.suggest(n)])

    # What is known.

    @property
    def trials(self) -> list[Trial]:
        """All trials, by number."""
        return [self._trial(t) for t in self._native.trials()]

    @property
    def best_observed(self) -> Trial | None:
        """The trial with the best value told. With noise that is the luckiest one: see `recommended`."""
        found = self._native.best_observed()
        return None if found is None else self._trial(found)

    @property
    def recommended(self) -> Recommendation | None:
        """The evaluated point with the best posterior mean, with an interval for its noise-free value."""
        found = self._native.recommended()
        if found is None:
            return None
        number, params, mean, interval, observed = found
        trial = None if self.pool is None else self._trial(self._native.trial(number))
        row, id = (None, None) if trial is None else (trial.row, trial.id)
        return Recommendation(number, self._space.decode(params), mean, interval, observed, row, id)

    @property
    def remaining_regret(self) -> RemainingRegret | None:
        """What the recommended point may still miss, by the model; `None` before three values are told."""
        found = self._native.remaining_regret()
        return None if found is None else RemainingRegret(*found)

    @property
    def importance(self) -> dict[str, float] | None:
        """The share of the objective's variation that each parameter explains on its own, largest first; `None` before three values."""
        found = self._native.importance()
        return None if found is None else dict(found)

    @property
    def diagnostics(self) -> dict[str, Any] | None:
        """How the last proposal came about: the algorithm, its model, repairs, work and whatever else is worth saying."""
        text = self._native.diagnostics()
        return None if text is None else json.loads(text)

    def predict(self, X: ArrayLike | Sequence[Any] | Any) -> tuple[Any, Any]:
        """Mean and standard deviation of the noise-free objective at points, by the model that recommends; see `tell_many` for their form."""
        points, rows = self._points(X)
        if rows is not None and self.pool is not None:
            points = [self.pool.params(row) for row in rows]
        found = self._native.predict(self._space.encode_many(points))
        if found is None:
            raise InvalidArgument("there is no model before the first value is told")
        return found

    def to_dataframe(self, library: Literal["pandas", "polars"] | None = None) -> Any:
        """All trials as a data frame of pandas, or else of polars, whichever is installed. A parameter whose name a column has already is
        called `params_...`."""
        if library is not None and not (isinstance(library, str) and library in ("pandas", "polars")):
            raise InvalidArgument(f'data frames are of "pandas" or "polars", not of {library!r}')
        trials = self.trials
        columns: dict[str, list[Any]] = {"number": [t.number for t in trials], "state": [t.state for t in trials]}
        if self.pool is not None:
            columns["id"] = [t.id for t in trials]
        for name in self._space.names:
            taken = name in ("number", "state", "id", "value", "noise_var", "reason", "seconds")
            columns[f"params_{name}" if taken else name] = [t.params[name] for t in trials]
        for name in ("value", "noise_var", "reason", "seconds"):
            columns[name] = [getattr(t, name) for t in trials]
        for module in [library] if library else ["pandas", "polars"]:
            try:
                frames = __import__(module)
            except ImportError:
                if library:
                    raise
                continue
            if module == "polars":
                return frames.DataFrame(columns, strict=False)
            frame = frames.DataFrame(columns)
            return frame.astype({"value": float, "noise_var": float, "seconds": float})
        raise ImportError("to_dataframe needs pandas or polars: pip install pandas")

    @property
    def name(self) -> str:
        """Its name in the storage."""
        return str(self._description["name"])

    @property
    def direction(self) -> str:
        """`"minimize"` or `"maximize"`."""
        return str(self._description["direction"])

    @property
    def parameters(self) -> dict[str, Parameter]:
        """The parameters by name; none if the study chooses from a pool."""
        return dict(self._space.parameters)

    @property
    def pool(self) -> Pool | None:
        """The pool, if the study chooses from one."""
        return self._space.pool

    @property
    def counts(self) -> dict[str, int]:
        """How many trials are `"waiting"`, `"running"`, `"complete"` and `"failed"`."""
        return dict(zip(("waiting", "running", "complete", "failed"), self._native.counts()[1:]))

    def __len__(self) -> int:
        """How many trials there are, in whatever state."""
        return self._native.counts()[0]

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        told = ", ".join(f"{count} {state}" for state, count in self.counts.items() if count)
        best = self.best_observed
        value = "" if best is None else f", best {best.value:.6g}"
        return f"<Study {self.name!r} ({self.direction}): {told or 'no trials'}{value}>"

    def _repr_html_(self) -> str:
        """What notebooks show: counts, the best trial, and values over time."""
        return self._native.notebook()

    def report(self, path: str | os.PathLike[str], format: str | None = None) -> None:
        """Writes what there is to see of the study into one file, which needs no other and no network: HTML, or Markdown (`"md"`) if the
        path ends in `.md`. The file becomes whole at once."""
        path = Path(path)
        if format is None:
            format = "md" if path.suffix.lower() in (".md", ".markdown") else "html"
        if format not in ("html", "md"):
            raise InvalidArgument(f'format is "html" or "md", not {format!r}')
        stored = self._description["storage"].removeprefix("sqlite:///")
        if path.exists() and any(os.path.exists(file) and path.samefile(file) for file in (stored, stored + "-wal", stored + "-shm")):
            raise InvalidArgument(f"{path} is the storage of the study, which would be lost; name another file")
        text = self._native.report(format == "md")
        beside = path.with_name(f".{path.name}.{os.getpid()}.new")
        try:
            beside.write_text(text, encoding="utf-8")
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)

    # Plots.

    def plot_history(self, ax: Axes | None = None) -> Axes:
        """Draws every value by trial, and the best so far. Needs matplotlib."""
        from .plots import plot_history

        return plot_history(self, ax)

    def plot_slice(self, params: Sequence[str] | str | None = None) -> Any:
        """Draws values against each parameter. Needs matplotlib."""
        from .plots import plot_slice

        return plot_slice(self, params)

    def plot_surrogate(self, params: Sequence[str] | str | None = None, ax: Any = None) -> Any:
        """Draws what the model believes over one or two parameters, with the observations. Needs matplotlib."""
        from .plots import plot_surrogate

        return plot_surrogate(self, params, ax)

    # Contexts and pickles.

    def __enter__(self) -> Study:
        self._contexts.enter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        held = self._contexts.leave()
        if held:
            self._native.release(sorted(held))

    def __reduce__(self) -> tuple[Any, ...]:
        # A study in a file is opened again; one in memory takes its whole log along.
        stored = self._description["storage"] != "memory:"
        log = None if stored else self._native.log()
        # How many trials there are to be is in the log, and others may have changed it.
        return (_revive, (self._space, {**self._description, "trials": None}, log))

    # Small things.

    def _trial(self, fields: Any) -> Trial:
        number, state, params, row, id, value, noise_var, reason, attrs, *rest = fields
        params = self._space.decode(params)
        return Trial(number, state, params, row, id, value, noise_var, reason, json.loads(attrs) if attrs else {}, *rest)

    def _points(self, X: Any) -> tuple[Any, list[int] | None]:
        """Points that can be looked at twice, and the rows of the pool that they are, if they are given so."""
        if not hasattr(X, "__len__"):
            X = list(X)
        if not isinstance(X, Mapping):  # which is one point
            refuse_unordered("points", X, InvalidParams)
        if self.pool is None or hasattr(X, "columns") or isinstance(X, Mapping) or getattr(X, "ndim", 1) > 1:
            return X, None
        return X, self.pool.rows(X)


class _Contexts:
    """Which trials belong to which `with` block: of this thread, or else to the first one that any thread has entered."""

    def __init__(self) -> None:
        self.open: list[tuple[int, set[int]]] = []
        self.lock = threading.Lock()

    def current(self) -> set[int] | None:
        me = threading.get_ident()
        with self.lock:
            mine = [held for thread, held in self.open if thread == me]
            return mine[-1] if mine else self.open[0][1] if self.open else None

    def enter(self) -> None:
        with self.lock:
            self.open.append((threading.get_ident(), set()))

    def leave(self) -> set[int]:
        me = threading.get_ident()
        with self.lock:
            last = max(i for i, (thread, _) in enumerate(self.open) if thread == me)
            return self.open.pop(last)[1]

    def let_go(self, number: int) -> None:
        with self.lock:
            for _, held in self.open:
                held.discard(number)


def _revive(space: Space, description: dict[str, Any], log: str | None) -> Study:
    study = object.__new__(Study)
    study._open(space, description, log)
    return study


def _absolute(storage: str) -> str:
    """A relative path means the folder of today, also after a change of folder or in another process."""
    if not isinstance(storage, str) or not storage:
        raise InvalidArgument(f'a storage is an address such as "sqlite:///results.db", not {storage!r}')
    if storage in ("memory:", "memory://"):
        return "memory:"
    prefix = "sqlite:///" if storage.startswith("sqlite:///") else "sqlite:"
    path = storage[len(prefix) :]
    if not storage.startswith(prefix) or path in ("", ":memory:") or path.startswith("//"):
        return storage  # the storage itself says what is wrong with it
    return "sqlite:///" + os.path.abspath(os.path.expanduser(path))


def _plain(value: Any) -> Any:
    """A value as JSON can have it: numbers without a name there and other objects become text."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        refuse_endless("attributes and options", value, InvalidArgument)
        value = value.tolist()
    if isinstance(value, (list, tuple, set)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value) or not isinstance(value, (bool, int, float, str, type(None))):
        return str(value)
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        return str(value)
    return value


def _json(value: Any) -> str:
    try:
        return json.dumps(_plain(value))
    except RecursionError:
        raise InvalidArgument("attributes and options are nested too deep, or contain themselves") from None


def _algorithm_json(algorithm: Algorithm) -> str:
    if isinstance(algorithm, str):
        return json.dumps({"name": algorithm})
    if isinstance(algorithm, Mapping):
        return _json(algorithm)
    raise InvalidArgument(f'an algorithm is a name or a dict of name and options, as {{"name": "ts-rsr"}}, not {algorithm!r}')


def _number(trial: Trial | int) -> int:
    number = trial.number if isinstance(trial, Trial) else trial
    if isinstance(number, bool) or not hasattr(number, "__index__") or is_masked(number) or not 0 <= operator.index(number) < 2**63:
        raise InvalidArgument(f"name a trial by itself or by its number, not by {trial!r}")
    return operator.index(number)


def _is_count(n: Any, most: int) -> bool:
    """Whether it is a whole number from 1 to `most`."""
    return hasattr(n, "__index__") and not is_masked(n) and 1 <= operator.index(n) <= most


def _optional(name: str, value: Any) -> float | None:
    if value is None:
        return None
    try:
        if isinstance(value, (str, bytes)) or is_masked(value):
            raise TypeError
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise InvalidArgument(f"{name} is a number or None, not {value!r}") from None


def _value(value: Any) -> float:
    try:
        if isinstance(value, (str, bytes)) or is_masked(value):
            raise TypeError
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise InvalidArgument(f"a value is a number, not {value!r}; for an evaluation without one call fail(trial, reason)") from None


def _floats(name: str, values: Any) -> list[float]:
    refuse_unordered(name, values, InvalidArgument)
    shape: tuple[int, ...] = getattr(values, "shape", ())
    if len(shape) > 1 and math.prod(shape) != shape[0]:
        raise InvalidArgument(f"{name} has one number for each point, not the shape {shape}")
    try:
        items = values.reshape(-1).tolist() if hasattr(values, "reshape") else values.tolist() if hasattr(values, "tolist") else values
        return [math.nan if item is None or type(item).__name__ == "NAType" else _value(item) for item in items]
    except (TypeError, ValueError, OverflowError):
        raise InvalidArgument(f"{name} has one number for each point, NaN or None where an evaluation failed, not {values!r}") from None


def _parameter(kind: Mapping[str, Any]) -> Parameter:
    """A parameter as the log has it."""
    match kind["type"]:
        case "float":
            return Float(kind["low"], kind["high"], kind.get("log", False))
        case "int":
            return Int(kind["low"], kind["high"], kind.get("log", False))
        case "ordinal":
            return Ordinal(kind["values"])
        case "categorical":
            return Categorical(kind["choices"])
        case _:
            return Bool()

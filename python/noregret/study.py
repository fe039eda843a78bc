"""Ask and tell."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Union

from . import _native
from .errors import InvalidArgument, InvalidParams
from .space import Bool, Categorical, Constraint, Float, Int, Ordinal, Parameter, Pool, Space
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
_LEASE_OF_A_PROCESS = 24 * 3600.0


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
    storage: where the study is kept: `"sqlite:///results.db"`, or in memory without one. Opening a study again goes on with it.
    name: its name in the storage.
    duplicates: `"avoid"` evaluated points, `"allow"` them, or `"replicate"`: welcome them, as noisy objectives do.
    constraints: what must hold: an expression such as `"layers * width <= 1024"`, a function of a dict of parameters, or several of
        them as a list or by name. Functions are slower, and a storage keeps only their names: give them again to go on.

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
        seed: int = 0,
        storage: str | None = None,
        name: str | None = None,
        duplicates: Literal["avoid", "allow", "replicate"] = "avoid",
        constraints: Constraint | Sequence[Constraint] | Mapping[str, Constraint] | None = None,
        _log: str | None = None,
    ) -> None:
        if storage is not None and name is None:
            raise InvalidArgument(f'a study in a storage needs a name: Study(..., storage={storage!r}, name="...")')
        if not isinstance(seed, int) and not hasattr(seed, "__index__") or not 0 <= seed < 2**64:
            raise InvalidArgument(f"a seed is a whole number from 0 to 2^64 - 1, not {seed!r}")
        self._space = space if isinstance(space, Space) else Space(space, constraints)
        self._description = {
            "name": name or "study",
            "storage": _absolute(storage or "memory:"),
            "direction": direction,
            "seed": seed,
            "algorithm": _algorithm_json(algorithm),
            "duplicates": duplicates,
        }
        self._native = _native.Study({**self._description, **self._space.describe(), "log": _log})
        self._held: set[int] | None = None

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
        if none is. `lease` is how many seconds to wait for a result before the trial is handed out again; for ever by default.
        """
        if n is not None and (not hasattr(n, "__index__") or n < 1):
            raise InvalidArgument(f"ask for at least one trial, or for as many as the algorithm allows by ask(), not for {n!r}")
        own = self._held is not None
        if own and lease is None:
            lease = _LEASE_OF_A_PROCESS
        trials = [self._trial(t) for t in self._native.ask(n, lease, own)]
        if self._held is not None:
            self._held.update(trial.number for trial in trials)
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
        text = None if attrs is None else json.dumps(dict(attrs), default=str)
        verdict = self._native.tell(number, _value(value), noise_var, text, seconds)
        self._let_go(number)
        return verdict  # type: ignore[return-value]

    def fail(self, trial: Trial | int, reason: str = "failed", *, seconds: float | None = None) -> Verdict:
        """Tells that a trial ended without a value. Its point is remembered, and not suggested again."""
        number = _number(trial)
        verdict = self._native.fail(number, str(reason), seconds)
        self._let_go(number)
        return verdict  # type: ignore[return-value]

    def release(self, *trials: Trial | int) -> None:
        """Gives trials that are running back to the queue: the next `ask` hands them out again."""
        numbers = [_number(trial) for trial in trials]
        self._native.release(numbers, False)
        self._native.release(numbers, True)
        for number in numbers:
            self._let_go(number)

    def enqueue(self, *points: Mapping[str, Any]) -> list[Trial]:
        """Puts points of your own into the queue: the next `ask` hands them out before it thinks of new ones."""
        return [self._trial(t) for t in self._native.enqueue([self._space.encode(point) for point in points])]

    def tell_many(
        self,
        X: ArrayLike | Sequence[Any] | Any,
        y: ArrayLike | Sequence[float],
        noise_var: ArrayLike | Sequence[float] | float | None = None,
    ) -> int:
        """Adds results from elsewhere, in one go: earlier runs, a spreadsheet, a simulation campaign.

        `X` has a point a row, in the space's own units and the order of its parameters: an array (of floats: read in place), a list of rows or of
        dicts, or a data frame with the parameters among its columns. In a pool, `X` may also be a list of ids or of row numbers.
        `y` are their values; NaN is a failed evaluation. `noise_var` is one variance for all, or one for each.

        Answers how many were new: a result that is there already, to the last bit, is not added again, so that a script may simply be run twice.
        """
        values = _floats(y)
        if noise_var is None or isinstance(noise_var, (int, float)):
            noise_vars = None if noise_var is None else [float(noise_var)] * len(values)
        else:
            noise_vars = _floats(noise_var)
        rows = self._rows(X)
        if rows is not None:
            return self._native.add(values, None, rows, noise_vars)
        return self._native.add(values, self._space.encode_many(X), None, noise_vars)

    def suggest(self, n: int = 1) -> Any:
        """The points that `ask(n)` would hand out now, as the rows of an array; nothing is registered.

        An array of floats if all parameters are numbers, else of objects; a list of lists without NumPy.
        """
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
        return Recommendation(number, self._space.decode(params), mean, interval, observed)

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
        rows = self._rows(X)
        points = X if rows is None or self.pool is None else [self.pool.params(row) for row in rows]
        found = self._native.predict(self._space.encode_many(points))
        if found is None:
            raise InvalidArgument("there is no model before the first value is told")
        return found

    def to_dataframe(self, library: Literal["pandas", "polars"] | None = None) -> Any:
        """All trials as a data frame of pandas, or else of polars, whichever is installed."""
        rows = [
            {
                "number": t.number, "state": t.state, **({} if t.id is None else {"id": t.id}), **t.params,
                "value": t.value, "noise_var": t.noise_var, "reason": t.reason, "seconds": t.seconds,
            }
            for t in self.trials
        ]
        for module in [library] if library else ["pandas", "polars"]:
            try:
                return __import__(module).DataFrame(rows)
            except ImportError:
                if library:
                    raise
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

    def __len__(self) -> int:
        """How many trials there are."""
        return self._native.counts()[0]

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        total, waiting, running, complete, failed = self._native.counts()
        counts = {"waiting": waiting, "running": running, "complete": complete, "failed": failed}
        told = ", ".join(f"{count} {state}" for state, count in counts.items() if count)
        return f"<Study {self.name!r}: {total} trials{': ' + told if told else ''}>"

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
        self._held = set()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        held, self._held = self._held, None
        if held:
            self._native.release(sorted(held), True)

    def __reduce__(self) -> tuple[Any, ...]:
        # A study in a file is opened again; one in memory takes its whole log along.
        stored = self._description["storage"] != "memory:"
        log = None if stored else self._native.log()
        return (_revive, (self._space, self._description, log))

    # Small things.

    def _trial(self, fields: Any) -> Trial:
        number, state, params, row, id, value, noise_var, reason, attrs, *rest = fields
        params = self._space.decode(params)
        return Trial(number, state, params, row, id, value, noise_var, reason, json.loads(attrs) if attrs else {}, *rest)

    def _let_go(self, number: int) -> None:
        if self._held is not None:
            self._held.discard(number)

    def _rows(self, X: Any) -> list[int] | None:
        """Rows of the pool, if that is what `X` has."""
        pool = self._space.pool
        if pool is None:
            return None
        items = X.tolist() if hasattr(X, "tolist") else X
        if hasattr(items, "columns") or not len(items):
            return None
        if all(isinstance(item, str) for item in items):
            return [pool.row(item) for item in items]
        if all(isinstance(item, int) for item in items):
            if any(item < 0 for item in items):
                raise InvalidParams("rows of a pool are numbered from 0")
            return list(items)
        return None


def _revive(space: Space, description: dict[str, Any], log: str | None) -> Study:
    options = dict(description)
    options["algorithm"] = json.loads(options["algorithm"])
    if options["storage"] == "memory:":
        options["storage"] = None
    return Study(space, _log=log, **options)  # type: ignore[arg-type]


def _absolute(storage: str) -> str:
    """A relative path means the folder of today, also after a change of folder or in another process."""
    prefix = "sqlite:///"
    if not isinstance(storage, str):
        raise InvalidArgument(f'a storage is an address such as "sqlite:///results.db", not {storage!r}')
    if storage.startswith(prefix) and len(storage) > len(prefix):
        return prefix + os.path.abspath(storage[len(prefix):])
    return storage


def _algorithm_json(algorithm: Algorithm) -> str:
    if isinstance(algorithm, str):
        return json.dumps({"name": algorithm})
    if isinstance(algorithm, Mapping):
        return json.dumps(dict(algorithm))
    raise InvalidArgument(f'an algorithm is a name or a dict of name and options, as {{"name": "ts-rsr"}}, not {algorithm!r}')


def _number(trial: Trial | int) -> int:
    number = trial.number if isinstance(trial, Trial) else trial
    if isinstance(number, bool) or not hasattr(number, "__index__") or number < 0:
        raise InvalidArgument(f"name a trial by itself or by its number, not by {trial!r}")
    return int(number)


def _value(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InvalidArgument(f"a value is a number, not {value!r}; for an evaluation without one call fail(trial, reason)") from None


def _floats(values: Any) -> list[float]:
    try:
        if hasattr(values, "tolist"):
            values = values.tolist()
        return [float("nan") if value is None else float(value) for value in values]
    except (TypeError, ValueError):
        raise InvalidArgument("values are a list of numbers, NaN or None where an evaluation failed") from None


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

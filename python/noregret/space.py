"""What may be varied: parameters, or the rows of a pool."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Union

from . import _native
from .errors import InvalidParams, InvalidSpace
from .trial import Trial

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["Bool", "Categorical", "Float", "Int", "Ordinal", "Parameter", "Pool"]


@dataclass(frozen=True)
class Float:
    """A real number between `low` and `high`, both included.

    With `log=True`, ratios matter rather than differences (learning rates, concentrations); `low` must then be above 0.
    """

    low: float
    high: float
    log: bool = False

    def _declare(self) -> tuple[Any, ...]:
        return ("float", self.low, self.high, self.log)


@dataclass(frozen=True)
class Int:
    """A whole number between `low` and `high`, both included. With `log=True`, ratios matter; `low` must then be at least 1."""

    low: int
    high: int
    log: bool = False

    def _declare(self) -> tuple[Any, ...]:
        return ("int", self.low, self.high, self.log)


@dataclass(frozen=True, init=False)
class Categorical:
    """One of a few values without an order.

    Choices may be any objects. Text, numbers and truth values are stored as they are, others (`None`, tuples, classes, ...) by their
    `repr`, and you get back the very objects.
    """

    choices: tuple[Any, ...]

    def __init__(self, choices: Iterable[Any]) -> None:
        object.__setattr__(self, "choices", _several("Categorical", choices))

    def _declare(self) -> tuple[Any, ...]:
        return ("categorical", [_label(choice) for choice in self.choices])


@dataclass(frozen=True, init=False)
class Ordinal:
    """One of a few values whose order means something, such as `Ordinal([32, 64, 128, 256])`. Values may be any objects."""

    values: tuple[Any, ...]

    def __init__(self, values: Iterable[Any]) -> None:
        object.__setattr__(self, "values", _several("Ordinal", values))

    def _declare(self) -> tuple[Any, ...]:
        return ("ordinal", [_label(value) for value in self.values])


@dataclass(frozen=True)
class Bool:
    """True or false."""

    def _declare(self) -> tuple[Any, ...]:
        return ("bool",)


Parameter = Union[Float, Int, Categorical, Ordinal, Bool]
"""Any kind of parameter."""


def _several(kind: str, values: Iterable[Any]) -> tuple[Any, ...]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InvalidSpace(f"{kind} takes a list of values, not {values!r}")
    refuse_unordered(f"values of {kind}", values, InvalidSpace)
    return tuple(values)


# Sequences that are longer do not fit into memory: they are computed, as `range` is, and reading one would not end.
_LONGEST = 2**32


def refuse_unordered(name: str, values: Any, error: type[Exception]) -> None:
    """Refuses as a list of values what is none: text, sets (whose order is chance), dicts, endless ranges, masked arrays."""
    if isinstance(values, (str, bytes, Set, Mapping)):
        raise error(f"{name}: a list or an array is needed, not {type(values).__name__}")
    if is_masked(values):
        raise error(f"{name}: something of the array is masked; leave out what was not measured")
    refuse_endless(name, values, error)


def refuse_endless(name: str, values: Any, error: type[Exception]) -> None:
    """Refuses a sequence that no memory holds."""
    size = getattr(values, "size", 0)  # of an array, whose strides may be 0
    try:
        too_long = (isinstance(size, int) and size > _LONGEST) or (hasattr(values, "__len__") and len(values) > _LONGEST)
    except OverflowError:
        too_long = True
    except TypeError:
        return  # an array without dimensions, which the caller refuses or takes as one
    if too_long:
        raise error(f"{name}: at most {_LONGEST} of them are possible")


def is_masked(value: Any) -> bool:
    """Whether something of an array is masked, or it is the masked element itself."""
    numpy = sys.modules.get("numpy")  # nothing is masked before somebody has imported it
    return numpy is not None and isinstance(value, numpy.ma.MaskedArray) and bool(numpy.ma.is_masked(value))


def _is_plain(value: Any) -> bool:
    """Whether it comes back from the log as it was: members of an Enum that are also text do not."""
    return type(value) in (bool, int, float, str)


def _is_numpy_scalar(value: Any) -> bool:
    return type(value).__module__ == "numpy" and hasattr(value, "item") and getattr(value, "ndim", 1) == 0


def _label(value: Any) -> Any:
    """What stands for a choice in the log."""
    if _is_numpy_scalar(value):
        value = value.item()
    return value if _is_plain(value) else repr(value)


class Pool:
    """A finite set of candidates, in place of parameters.

    `features` has a row for each candidate and a column for each feature: an array, a list of rows, or a data frame (whose columns then
    name the features). They are kept once, as 32-bit floats; a million rows of 16 features take 64 MB.
    `ids` are the candidates' names, one for each row, all different; without them a candidate is known by its row's number.

    >>> import noregret as nr
    >>> pool = nr.Pool([[0.1, 5.0], [0.2, 4.0], [0.7, 1.0]], ids=["a", "b", "c"], names=["mass", "charge"])
    >>> len(pool), pool.id(2)
    (3, 'c')
    """

    def __init__(
        self,
        features: ArrayLike | Any,
        ids: Sequence[Any] | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        if names is None and hasattr(features, "columns"):
            names = [str(column) for column in features.columns]
        if hasattr(features, "to_numpy"):
            features = features.to_numpy()
        refuse_unordered("features", features, InvalidSpace)
        features = _float_matrix(features)
        for name, several in (("ids", ids), ("names", names)):
            if several is not None:
                refuse_unordered(name, several, InvalidSpace)
        self._has_ids = ids is not None
        # Numbers that name candidates are not to be mistaken for their rows.
        self._has_numeric_ids = ids is not None and any(hasattr(i, "__index__") for i in ids)
        self._native = _native.Pool(
            features, None if ids is None else [str(i) for i in ids], None if names is None else [str(name) for name in names]
        )

    def __len__(self) -> int:
        return len(self._native)

    def __repr__(self) -> str:
        names = self.names
        shown = ", ".join(names if len(names) <= 8 else [*names[:7], f"... {len(names)} features"])
        return f"Pool({len(self)} rows of {shown})"

    @property
    def names(self) -> list[str]:
        """Names of the features; `x0`, `x1`, ... if they were given none."""
        return self._native.names()

    def id(self, row: int) -> str:
        """The id of a row; its number if it was given none."""
        return self._native.id(self._row(row))

    def row(self, id: str) -> int:
        """The row of an id."""
        row = self._native.row_of_id(str(id))
        if row is None:
            raise InvalidParams(f"the pool has no candidate {id!r}")
        return row

    def params(self, row: int) -> dict[str, float]:
        """The features of a row, by name."""
        return self._native.params(self._row(row))

    def _row(self, row: int) -> int:
        if not hasattr(row, "__index__") or is_masked(row) or not 0 <= (number := operator.index(row)) < len(self):
            raise InvalidParams(f"the pool has no row {row!r}: it has {len(self)}, numbered from 0")
        return number

    def rows(self, candidates: Any) -> list[int] | None:
        """Rows of candidates that are given by id or by row number; `None` if they are not, but by their features."""
        refuse_unordered("candidates", candidates, InvalidParams)
        items = list(candidates.tolist() if hasattr(candidates, "tolist") else candidates)
        if items and all(isinstance(item, str) for item in items):
            return [self.row(item) for item in items]
        if not items or not all(hasattr(item, "__index__") and not isinstance(item, bool) and not hasattr(item, "__len__") for item in items):
            return None
        if self._has_numeric_ids:
            return [self.row(str(item)) for item in items]
        return [self._row(item) for item in items]

    def __reduce__(self) -> tuple[Any, ...]:
        ids = [self.id(row) for row in range(len(self))] if self._has_ids else None
        return (_revive_pool, (self._native.cells(), self.names, ids))


def _revive_pool(cells: bytes, names: list[str], ids: list[str] | None) -> Pool:
    pool = object.__new__(Pool)
    pool._has_ids, pool._has_numeric_ids = ids is not None, False
    pool._native = _native.Pool.from_cells(cells, names, ids)
    return pool


def _float_matrix(features: Any) -> Any:
    """The same numbers as native code reads them without copying; lists stay lists."""
    dtype = getattr(features, "dtype", None)
    if dtype is None:
        return features
    if getattr(features, "ndim", 2) != 2:
        raise InvalidSpace(f"features have a row for each candidate and a column for each feature, not the shape {features.shape}")
    if dtype in ("float32", "float64"):
        return features
    try:
        return features.astype("float64")
    except (TypeError, ValueError, MemoryError) as error:
        raise InvalidSpace(f"features are numbers, and fit into memory: {error}") from None


Constraint = Union[str, Callable[[dict[str, Any]], bool]]
"""A condition: an expression over the parameters, or a function of a dict of them."""


class Space:
    """Parameters by name, or a pool, with what stands between users' objects and the log's plain values."""

    def __init__(self, space: Any, constraints: Any = None) -> None:
        self.pool: Pool | None = None
        self.parameters: dict[str, Parameter] = {}
        self.is_box = False
        if isinstance(space, Pool):
            self.pool = space
            if constraints:
                raise InvalidSpace("a pool takes no constraints: leave out the rows that must not be tried")
        elif isinstance(space, Mapping):
            self.parameters = {str(name): _parameter(name, kind) for name, kind in space.items()}
        else:
            self.is_box = True
            self.parameters = {f"x{i}": Float(low, high) for i, (low, high) in enumerate(bounds(space))}
        self.names: list[str] = self.pool.names if self.pool is not None else list(self.parameters)
        self.objects = {name: objects for name, p in self.parameters.items() if (objects := _objects(p))}
        self.expressions: list[tuple[str, str]] = []
        self.functions: list[tuple[str, Callable[[dict[str, Any]], bool]]] = []
        for name, constraint in _named(constraints):
            if isinstance(constraint, str):
                self.expressions.append((name, constraint))
            elif callable(constraint):
                self.functions.append((name, constraint))
            else:
                raise InvalidSpace(f"constraint `{name}` must be an expression or a function, not {constraint!r}")

    def describe(self) -> dict[str, Any]:
        """For the native half."""
        return {
            "parameters": [(name, parameter._declare()) for name, parameter in self.parameters.items()],
            "constraints": self.expressions,
            "predicates": [(name, self._of_users_objects(function)) for name, function in self.functions],
            "pool": None if self.pool is None else self.pool._native,
        }

    def _of_users_objects(self, function: Callable[[dict[str, Any]], bool]) -> Callable[[dict[str, Any]], bool]:
        if not self.objects:
            return function
        return lambda params: function(self.decode(params))

    def decode(self, params: dict[str, Any]) -> dict[str, Any]:
        """Users' objects in place of their labels."""
        for name, objects in self.objects.items():
            params[name] = objects[_key(params[name])]
        return params

    def encode(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Labels in place of users' objects."""
        if not isinstance(params, Mapping):
            raise InvalidParams(f"a point is a dict of parameters, not {params!r}")
        if not self.objects:
            return dict(params)
        return {name: _label(value) if name in self.objects else value for name, value in params.items()}

    def encode_many(self, points: Any) -> Any:
        """Points as the native half reads them: a matrix of floats, or a list of dicts or rows."""
        if hasattr(points, "columns"):  # a data frame, of pandas or polars
            missing = [name for name in self.names if name not in points.columns]
            if missing:
                raise InvalidParams(f"the data frame has no column `{missing[0]}`; it has {', '.join(map(str, points.columns))}")
            rows = zip(*(points[name].to_list() for name in self.names))
            points = [[self._from_frame(name, value) for name, value in zip(self.names, row)] for row in rows]
        elif isinstance(points, Mapping):
            points = [points]
        elif hasattr(points, "to_numpy"):  # a column of one
            points = points.to_numpy()
        dtype = getattr(points, "dtype", None)
        if dtype is not None and getattr(dtype, "kind", "O") in "fiub" and not self.objects:
            if points.ndim == 1 and len(self.names) == 1:
                points = points.reshape(-1, 1)
            if points.ndim != 2 or points.shape[1] != len(self.names):
                raise InvalidParams(f"points are the rows of a matrix with {len(self.names)} columns, not of the shape {points.shape}")
            return points if dtype == "float64" else points.astype("float64")
        return [self._encode_row(point) for point in points]

    def _from_frame(self, name: str, value: Any) -> Any:
        """Data frames have NaN where `None` was."""
        return None if (value is None or value != value) and _key(_label(None)) in self.objects.get(name, {}) else value

    def _encode_row(self, point: Any) -> Any:
        if isinstance(point, Trial):
            point = point.params
        if isinstance(point, Mapping):
            return self.encode(point)
        if _is_plain(point) or _is_numpy_scalar(point):
            row = [point]
        else:
            refuse_unordered("a point", point, InvalidParams)
            row = list(point)
        if not self.objects:
            return row
        return [_label(value) if name in self.objects else value for name, value in zip(self.names, row)] + row[len(self.names):]

    def as_array(self, points: Sequence[Mapping[str, Any]]) -> Any:
        """A row for each point, in the order of the parameters: an array of floats if all are numbers, else of objects."""
        rows = [[point[name] for name in self.names] for point in points]
        try:
            import numpy as np
        except ImportError:
            return rows
        if all(isinstance(value, (int, float)) for row in rows for value in row):
            return np.array(rows, dtype=float).reshape(len(rows), len(self.names))
        array = np.empty((len(rows), len(self.names)), dtype=object)
        for i, row in enumerate(rows):
            array[i, :] = row
        return array


def _key(label: Any) -> tuple[type, Any]:
    return type(label), label  # True and 1 are equal, and not the same choice


def _objects(parameter: Parameter) -> dict[Any, Any]:
    """Users' objects by label, if any is not its own label."""
    if isinstance(parameter, Categorical):
        values = parameter.choices
    elif isinstance(parameter, Ordinal):
        values = parameter.values
    else:
        return {}
    if all(map(_is_plain, values)):
        return {}
    return {_key(_label(value)): value for value in values}


def _parameter(name: Any, kind: Any) -> Parameter:
    if isinstance(kind, (Float, Int, Categorical, Ordinal, Bool)):
        return kind
    hint = ""
    if isinstance(kind, tuple) and len(kind) == 2:
        hint = f"; did you mean Float{kind!r}?"
    elif isinstance(kind, (list, tuple, set)):
        hint = f"; did you mean Categorical({list(kind)!r})?"
    raise InvalidSpace(f"parameter `{name}` must be declared by Float, Int, Categorical, Ordinal or Bool, not {kind!r}{hint}")


def bounds(given: Any) -> list[tuple[float, float]]:
    """Bounds as SciPy has them: pairs (low, high), or an object with `lb` and `ub`."""
    if hasattr(given, "lb") and hasattr(given, "ub"):
        given = list(zip(given.lb, given.ub))
    refuse_endless("bounds", given, InvalidSpace)
    try:
        pairs = [(float(low), float(high)) for low, high in given]
    except (TypeError, ValueError, OverflowError):
        raise InvalidSpace(
            f"a space is a dict of parameters, a Pool, or a list of bounds (low, high), not {given!r}"
        ) from None
    return pairs


def _named(constraints: Any) -> list[tuple[str, Any]]:
    if constraints is None:
        return []
    if isinstance(constraints, Mapping):
        return [(str(name), constraint) for name, constraint in constraints.items()]
    if isinstance(constraints, str) or not isinstance(constraints, Iterable):
        constraints = [constraints]
    refuse_endless("constraints", constraints, InvalidSpace)
    return [(f"c{i}", constraint) for i, constraint in enumerate(constraints)]

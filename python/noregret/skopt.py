"""For users of scikit-optimize: its functions and classes, by noregret. scikit-optimize itself is not needed.

>>> from noregret.skopt import gp_minimize
>>> result = gp_minimize(lambda x: (x[0] - 0.3) ** 2 + (x[1] == "b"), [(-1.0, 1.0), ["a", "b", "c"]], n_calls=20, random_state=1)
>>> result.fun < 0.05
True

Change the import, and scripts go on as they are: `from noregret.skopt import Integer, Real, gp_minimize, use_named_args`. What differs: values
that are NaN or infinite are failed evaluations, and no error; callbacks are called after each of the points `x0`, too; a finite space
that was tried in full ends the search; `result.study` takes the place of `result.models`.
"""

from __future__ import annotations

import functools
import math
import numbers
import random
import re
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from . import space as nr
from .errors import InvalidArgument, InvalidSpace, NothingLeft
from .optimize import OptimizeResult, _point
from .study import Algorithm, Study
from .trial import Trial

__all__ = [
    "Categorical", "Integer", "OptimizeResult", "Optimizer", "Real", "Space",
    "dummy_minimize", "forest_minimize", "gp_minimize", "use_named_args",
]

_PRIORS = ("uniform", "log-uniform")


class Dimension:
    """Something to vary."""

    name: str | None

    def _parameter(self) -> nr.Parameter:
        raise NotImplementedError

    def _value(self, value: Any) -> Any:
        return value

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


class Real(Dimension):
    """A number from `low` to `high`; with `prior="log-uniform"`, ratios matter. `base`, `transform` and `dtype` make no difference."""

    def __init__(
        self, low: float, high: float, prior: str = "uniform", base: int = 10, transform: str | None = None, name: str | None = None,
        dtype: Any = float,
    ) -> None:
        self.low, self.high, self.prior, self.name = low, high, _prior(prior), name

    def _parameter(self) -> nr.Parameter:
        return nr.Float(float(self.low), float(self.high), self.prior == "log-uniform")

    def _value(self, value: Any) -> Any:
        return float(value)


class Integer(Dimension):
    """A whole number from `low` to `high`, both included; otherwise as `Real`."""

    def __init__(
        self, low: int, high: int, prior: str = "uniform", base: int = 10, transform: str | None = None, name: str | None = None,
        dtype: Any = int,
    ) -> None:
        self.low, self.high, self.prior, self.name = low, high, _prior(prior), name

    def _parameter(self) -> nr.Parameter:
        return nr.Int(int(self.low), int(self.high), self.prior == "log-uniform")

    def _value(self, value: Any) -> Any:
        return int(value) if int(value) == value else value  # the study says what is wrong with others


class Categorical(Dimension):
    """One of `categories`, which may be any objects. `prior` (probabilities) and `transform` make no difference."""

    def __init__(
        self, categories: Iterable[Any], prior: Sequence[float] | None = None, transform: str | None = None, name: str | None = None
    ) -> None:
        nr.refuse_unordered("categories", categories, InvalidSpace)
        self.categories, self.name = tuple(categories), name

    def _parameter(self) -> nr.Parameter:
        return nr.Categorical(self.categories)


def _prior(prior: str) -> str:
    if prior not in _PRIORS:
        raise InvalidSpace(f'a prior is "uniform" or "log-uniform", not {prior!r}')
    return prior


def _dimension(given: Any) -> Dimension:
    """A dimension by what it looks like: `(1, 5)` is an Integer, `(1.0, 5)` a Real, `("a", "b")` and `(1, 5, 7)` are Categorical."""
    if isinstance(given, Dimension):
        return given
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidSpace(f"a dimension is Real, Integer, Categorical, (low, high), (low, high, prior) or a list of categories, not {given!r}")
    nr.refuse_endless("categories", given, InvalidSpace)
    values = given.tolist() if hasattr(given, "tolist") else list(given)
    if len(values) == 2 or len(values) in (3, 4) and isinstance(values[2], str) and values[2] in _PRIORS:
        if not any(isinstance(bound, bool) for bound in values[:2]):
            if all(isinstance(bound, numbers.Integral) for bound in values[:2]):
                return Integer(*values)
            if all(isinstance(bound, numbers.Real) for bound in values[:2]):
                return Real(*values)
    return Categorical(values)


class Space:
    """The dimensions of a search, in order."""

    def __init__(self, dimensions: Iterable[Any]) -> None:
        nr.refuse_endless("dimensions", dimensions, InvalidSpace)
        self.dimensions: list[Dimension] = [_dimension(dimension) for dimension in dimensions]
        names = [dimension.name or "" for dimension in self.dimensions]
        # Names serve the study as well, if they can.
        usable = all(re.fullmatch("[A-Za-z_][A-Za-z0-9_.-]*", name) for name in names) and len(set(names)) == len(names)
        self._names = names if usable else [f"x{i}" for i in range(len(names))]

    @property
    def dimension_names(self) -> list[str | None]:
        """The names that were given."""
        return [dimension.name for dimension in self.dimensions]

    def __len__(self) -> int:
        return len(self.dimensions)

    def __iter__(self) -> Iterator[Dimension]:
        return iter(self.dimensions)

    def __repr__(self) -> str:
        return f"Space({self.dimensions!r})"

    def _params(self, x: Any) -> dict[str, Any]:
        if len(x) != len(self):
            raise InvalidArgument(f"a point of this space has {len(self)} values, unlike {x!r}")
        return {name: dimension._value(value) for name, dimension, value in zip(self._names, self.dimensions, x)}

    def _point(self, params: dict[str, Any]) -> list[Any]:
        return [params[name] for name in self._names]


def use_named_args(dimensions: Iterable[Any]) -> Callable[[Callable[..., Any]], Callable[[Sequence[Any]], Any]]:
    """Makes a function of keyword arguments, named as the dimensions are, one of a list."""
    names = [name for name in Space(dimensions).dimension_names if name]
    if len(names) < len(Space(dimensions)):
        raise InvalidArgument('use_named_args takes dimensions with names, such as Real(0, 1, name="x")')

    def decorate(func: Callable[..., Any]) -> Callable[[Sequence[Any]], Any]:
        @functools.wraps(func)
        def of_list(x: Sequence[Any]) -> Any:
            return func(**dict(zip(names, x, strict=True)))

        return of_list

    return decorate


class Optimizer:
    """Ask and tell as scikit-optimize has it. Points that were asked for and not told yet are known to be running.

    base_estimator: "GP"; "RF", "ET" or "GBRT", which all mean a random forest; or "DUMMY" for random points.
    acq_func: "EI" (also meant by "gp_hedge" and "EIps") or "LCB", with the weight `acq_func_kwargs={"kappa": ...}`.
    random_state: a seed, or a generator to draw one from.
    """

    def __init__(
        self, dimensions: Iterable[Any], base_estimator: str = "gp", n_random_starts: int | None = None, n_initial_points: int = 10,
        initial_point_generator: Any = "random", n_jobs: int = 1, acq_func: str = "gp_hedge", acq_optimizer: str = "auto",
        random_state: Any = None, model_queue_size: int | None = None, space_constraint: Callable[[list[Any]], bool] | None = None,
        acq_func_kwargs: dict[str, Any] | None = None, acq_optimizer_kwargs: dict[str, Any] | None = None,
    ) -> None:
        weight = dict(acq_func_kwargs or {})
        kappa = weight.pop("kappa", 1.96) if acq_func == "LCB" else None
        _warn_of_ignored(
            initial_point_generator=initial_point_generator != "random", n_jobs=n_jobs != 1, acq_optimizer=acq_optimizer != "auto",
            model_queue_size=model_queue_size is not None, acq_func_kwargs=bool(weight), acq_optimizer_kwargs=bool(acq_optimizer_kwargs),
        )
        if n_random_starts is not None:
            warnings.warn("n_random_starts is the old name of n_initial_points", DeprecationWarning, stacklevel=2)
            n_initial_points = n_random_starts
        self.space = Space(dimensions)
        self.random_state = _seed(random_state)
        self.study = Study(
            {name: dimension._parameter() for name, dimension in zip(self.space._names, self.space.dimensions)},
            algorithm=_algorithm(base_estimator, acq_func, kappa, n_initial_points),
            seed=self.random_state,
            constraints=space_constraint and functools.partial(_holds, space_constraint, self.space),
        )
        self._running: dict[str, Trial] = {}  # by point

    def ask(self, n_points: int | None = None, strategy: str = "cl_min") -> list[Any]:
        """A point to evaluate, or a list of `n_points` that are chosen together, by the algorithm whatever the `strategy`."""
        trials = self.study.ask(1 if n_points is None else n_points)
        self._running.update((_key(trial.params), trial) for trial in trials)
        points = [self.space._point(trial.params) for trial in trials]
        return points[0] if n_points is None else points

    def tell(self, x: Any, y: Any, fit: bool = True) -> OptimizeResult:
        """Tells the value of a point, or the values of several, asked for or not."""
        several = isinstance(y, Iterable) and getattr(y, "ndim", 1) > 0
        self._tell(x if several else [x], y if several else [y])
        return self.get_result()

    def _tell(self, xs: Any, ys: Any, noise_var: float | None = None) -> None:
        if len(xs) != len(ys):
            raise InvalidArgument(f"{len(xs)} points have as many values, not {len(ys)}")
        for params, value in zip([self.space._params(x) for x in xs], ys):
            value = math.nan if value is None else value
            trial = self._running.pop(_key(params), None)
            if trial is not None:
                self.study.tell(trial, value, noise_var)
            else:
                self.study.tell_many([params], [value], noise_var)

    def run(self, func: Callable[[list[Any]], float], n_iter: int = 1) -> OptimizeResult:
        """Asks, evaluates and tells `n_iter` times."""
        for _ in range(n_iter):
            x = self.ask()
            self._tell([x], [func(x)])
        return self.get_result()

    def get_result(self) -> OptimizeResult:
        """What was found so far; points in the order in which they were asked for."""
        told = [trial for trial in self.study.trials if trial.state in ("complete", "failed")]
        best = self.study.best_observed
        return OptimizeResult(
            x=None if best is None else self.space._point(best.params),
            fun=math.nan if best is None else best.value,
            x_iters=[self.space._point(trial.params) for trial in told],
            func_vals=_point([math.nan if trial.value is None else trial.value for trial in told]),
            space=self.space,
            random_state=self.random_state,
            study=self.study,
        )


def gp_minimize(
    func: Callable[[list[Any]], Any], dimensions: Iterable[Any], base_estimator: Any = None, n_calls: int = 100,
    n_random_starts: int | None = None, n_initial_points: int = 10, initial_point_generator: Any = "random", acq_func: str = "gp_hedge",
    acq_optimizer: str = "auto", x0: Any = None, y0: Any = None, random_state: Any = None, verbose: bool = False, callback: Any = None,
    n_points: int = 10000, n_restarts_optimizer: int = 5, xi: float = 0.01, kappa: float = 1.96, noise: str | float = "gaussian",
    n_jobs: int = 1, model_queue_size: int | None = None, space_constraint: Callable[[list[Any]], bool] | None = None,
) -> OptimizeResult:
    """Minimizes a function of a list of values by a Gaussian process.

    func: takes a list with a value for each dimension; see `use_named_args`.
    dimensions: `Real`, `Integer`, `Categorical`, or what stands for them: `(low, high)`, `(low, high, "log-uniform")`, a list of categories.
    n_calls: evaluations in all; those of `x0` count, those known by `y0` do not.
    n_initial_points: evaluations before the model is asked; all of `x0` count.
    acq_func: "EI" (also meant by "gp_hedge" and "EIps") or "LCB", with the weight `kappa`.
    x0, y0: points to begin with, or one; and their values, if known.
    random_state: a seed, or a generator to draw one from; `result.random_state` is the seed.
    callback: called with the result after each evaluation, one or several; the search ends if one returns True or raises StopIteration.
    noise: the variance of the values' noise if it is known, else "gaussian".
    space_constraint: a function of a list of values; only points for which it is true are tried.

    The other arguments are there for compatibility.
    """
    specs = {"function": "gp_minimize", "args": dict(locals())}
    _warn_of_ignored(
        base_estimator=base_estimator is not None, initial_point_generator=initial_point_generator != "random",
        acq_optimizer=acq_optimizer != "auto", n_points=n_points != 10000, n_restarts_optimizer=n_restarts_optimizer != 5, xi=xi != 0.01,
        kappa=kappa != 1.96 and acq_func != "LCB", n_jobs=n_jobs != 1, model_queue_size=model_queue_size is not None,
    )
    optimizer = Optimizer(
        dimensions, "gp", n_random_starts, n_initial_points, acq_func=acq_func, random_state=random_state,
        space_constraint=space_constraint, acq_func_kwargs={"kappa": kappa} if acq_func == "LCB" else None,
    )
    return _minimize(func, optimizer, n_calls, x0, y0, verbose, callback, specs, None if isinstance(noise, str) else float(noise))


def forest_minimize(
    func: Callable[[list[Any]], Any], dimensions: Iterable[Any], base_estimator: Any = "ET", n_calls: int = 100,
    n_random_starts: int | None = None, n_initial_points: int = 10, acq_func: str = "EI", initial_point_generator: Any = "random",
    x0: Any = None, y0: Any = None, random_state: Any = None, verbose: bool = False, callback: Any = None, n_points: int = 10000,
    xi: float = 0.01, kappa: float = 1.96, n_jobs: int = 1, model_queue_size: int | None = None,
    space_constraint: Callable[[list[Any]], bool] | None = None,
) -> OptimizeResult:
    """Minimizes by expected improvement on a random forest; otherwise as `gp_minimize`."""
    specs = {"function": "forest_minimize", "args": dict(locals())}
    _warn_of_ignored(
        base_estimator=base_estimator not in ("ET", "RF"), acq_func=acq_func not in ("EI", "EIps"),
        initial_point_generator=initial_point_generator != "random", n_points=n_points != 10000, xi=xi != 0.01, kappa=kappa != 1.96,
        n_jobs=n_jobs != 1, model_queue_size=model_queue_size is not None,
    )
    optimizer = Optimizer(dimensions, "RF", n_random_starts, n_initial_points, random_state=random_state, space_constraint=space_constraint)
    return _minimize(func, optimizer, n_calls, x0, y0, verbose, callback, specs)


def dummy_minimize(
    func: Callable[[list[Any]], Any], dimensions: Iterable[Any], n_calls: int = 100, initial_point_generator: Any = "random", x0: Any = None,
    y0: Any = None, random_state: Any = None, verbose: bool = False, callback: Any = None, model_queue_size: int | None = None,
    init_point_gen_kwargs: dict[str, Any] | None = None, space_constraint: Callable[[list[Any]], bool] | None = None,
) -> OptimizeResult:
    """Tries random points; otherwise as `gp_minimize`."""
    specs = {"function": "dummy_minimize", "args": dict(locals())}
    _warn_of_ignored(
        initial_point_generator=initial_point_generator != "random", model_queue_size=model_queue_size is not None,
        init_point_gen_kwargs=init_point_gen_kwargs is not None,
    )
    optimizer = Optimizer(dimensions, "DUMMY", random_state=random_state, space_constraint=space_constraint)
    return _minimize(func, optimizer, n_calls, x0, y0, verbose, callback, specs)


def _minimize(
    func: Callable[[list[Any]], Any], optimizer: Optimizer, n_calls: int, x0: Any, y0: Any, verbose: bool, callback: Any,
    specs: dict[str, Any], noise_var: float | None = None,
) -> OptimizeResult:
    callbacks = [callback] if callable(callback) else list(callback or ())
    points = [] if x0 is None else list(x0) if _is_several(x0) else [x0]
    if points and y0 is None:
        optimizer.study.enqueue(*(optimizer.space._params(x) for x in points))
    elif y0 is not None:
        optimizer._tell(points, list(y0) if isinstance(y0, Iterable) else [y0], noise_var)

    def found() -> OptimizeResult:
        return OptimizeResult(optimizer.get_result(), specs=specs)

    for n in range(1, n_calls + 1):
        try:
            x = optimizer.ask()
        except NothingLeft:
            warnings.warn(f"all points of the space were tried after {n - 1} of {n_calls} calls", stacklevel=3)
            break
        began = time.perf_counter()
        y = func(x)
        y = y[0] if isinstance(y, tuple) else y  # the other is its time, for "EIps"
        optimizer._tell([x], [y], noise_var)
        if verbose:
            best = optimizer.study.best_observed
            print(f"call {n} of {n_calls}: {y} in {time.perf_counter() - began:.2f} s, best {best and best.value}")
        try:
            if callbacks and any([one(found()) for one in callbacks]):  # all of them are called
                break
        except StopIteration:
            break
    return found()


def _algorithm(base_estimator: Any, acq_func: str, kappa: float | None, initial_points: int) -> Algorithm:
    model = str(base_estimator).lower()
    if model == "dummy":
        return "random"
    if model in ("rf", "et", "gbrt"):
        return {"name": "random-forest", "initial_points": initial_points}
    if model != "gp":
        raise InvalidArgument(f'base_estimator must be "GP", "RF", "ET", "GBRT" or "DUMMY", not {base_estimator!r}')
    if kappa is not None:
        return {"name": "gp-ucb", "beta": {"name": "constant", "value": kappa}, "initial_points": initial_points}
    if acq_func in ("PI", "PIps"):
        warnings.warn("there is no probability of improvement (PI) here: expected improvement (EI) is used", stacklevel=3)
    elif acq_func not in ("EI", "EIps", "gp_hedge"):
        raise InvalidArgument(f'acq_func must be "EI", "LCB" or "gp_hedge", not {acq_func!r}')
    return {"name": "gp-ei", "initial_points": initial_points}


def _warn_of_ignored(**differs: bool) -> None:
    ignored = [name for name, different in differs.items() if different]
    if ignored:
        warnings.warn(f"without a meaning here, and ignored: {', '.join(ignored)}", stacklevel=3)


def _seed(random_state: Any) -> int:
    if random_state is None:
        return random.SystemRandom().randrange(2**32)
    draw = getattr(random_state, "integers", None) or getattr(random_state, "randint", None)  # NumPy's generators, new and old
    return int(random_state if draw is None else draw(2**31 - 1))


def _is_several(x0: Any) -> bool:
    """Whether `x0` is a list of points, not one of them."""
    return len(x0) == 0 or isinstance(x0[0], Iterable) and not isinstance(x0[0], str)


def _holds(constraint: Callable[[list[Any]], bool], space: Space, params: dict[str, Any]) -> bool:
    return bool(constraint(space._point(params)))


def _key(params: dict[str, Any]) -> str:
    return repr([value.item() if hasattr(value, "item") else value for value in params.values()])

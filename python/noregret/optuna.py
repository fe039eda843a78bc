"""noregret as a sampler of Optuna, 4 and later.

>>> import optuna
>>> from noregret.optuna import NoRegretSampler
>>> optuna.logging.set_verbosity(optuna.logging.WARNING)
>>> study = optuna.create_study(sampler=NoRegretSampler(seed=1))
>>> study.optimize(lambda trial: (trial.suggest_float("x", -5, 10) - 3) ** 2, n_trials=20)
>>> study.best_value < 0.1
True
"""

from __future__ import annotations

import logging
import math
import secrets
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal
from weakref import WeakKeyDictionary

try:
    import optuna
except ImportError as error:
    raise ImportError("noregret.optuna is a sampler for Optuna, which is not installed: pip install optuna") from error

from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.samplers import BaseSampler, RandomSampler
from optuna.samplers._base import _process_constraints_after_trial
from optuna.search_space import IntersectionSearchSpace
from optuna.trial import FrozenTrial, TrialState

from .errors import NothingLeft
from .space import Categorical, Float, Int
from .study import Algorithm, Study

__all__ = ["NoRegretSampler"]

_logger = logging.getLogger(__name__)

# The system attribute of a trial by which samplers of other processes know what is suggested for it.
_SUGGESTED = "noregret:suggested"

# Whole numbers beyond this are floats to noregret.
_LARGEST_INT = 2**45


class NoRegretSampler(BaseSampler):
    """Suggests by noregret the parameters that all complete trials of a study have in common, knowing what is running elsewhere.

    algorithm: see `noregret.Study`: a name, or a dict of a name and options, such as `{"name": "auto", "initial_points": 20}`.
    seed: the same seed gives the same trials, if they run one after the other; without one, every sampler is different.
    independent_sampler: for all other parameters: those of the first trial, and those that only some trials have. Random by default.
    constraints_func: as in Optuna's samplers, a function of a finished trial that returns numbers, of which none may be above 0.
        Constraints that trials set themselves (`Trial.set_constraint` of Optuna 5) count as well.
    warn_independent_sampling: whether to log a warning for parameters that are left to `independent_sampler` after the first trial.
    duplicates: see `noregret.Study`. If all points of a finite space were tried and may not be repeated, the rest is random.

    Trials that failed, were pruned, ended without a finite value or violate a constraint are failures to noregret: the algorithm stays away
    from them. Trials of others (enqueued, added, from other processes or samplers) are learnt from as from its own.

    A sampler may be used from many threads, and for more than one study. It has one objective.
    """

    def __init__(
        self,
        *,
        algorithm: Algorithm = "auto",
        seed: int | None = None,
        independent_sampler: BaseSampler | None = None,
        constraints_func: Callable[[FrozenTrial], Sequence[float]] | None = None,
        warn_independent_sampling: bool = True,
        duplicates: Literal["avoid", "allow", "replicate"] = "avoid",
    ) -> None:
        self._algorithm = algorithm
        self._seed = secrets.randbits(32) if seed is None else seed
        self._constraints_func = constraints_func
        self._warn_independent_sampling = warn_independent_sampling
        self._duplicates: Literal["avoid", "allow", "replicate"] = duplicates
        self._forget()
        self._study({"x": Float(0.0, 1.0)}, "minimize")  # what is wrong with the settings is said here, not in the second trial
        self._independent_sampler = independent_sampler or RandomSampler(seed=seed)

    def reseed_rng(self) -> None:
        # Optuna calls this before each trial if there are several threads. What is known already stays: they share it.
        self._seed = secrets.randbits(32)
        self._independent_sampler.reseed_rng()

    def infer_relative_search_space(self, study: optuna.Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        self._raise_error_if_multi_objective(study)
        with self._lock:
            common = self._of(study).intersection.calculate(study)
        return {name: distribution for name, distribution in common.items() if not distribution.single()}

    def sample_relative(
        self, study: optuna.Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        self._raise_error_if_multi_objective(study)
        if not search_space:
            return {}
        with self._lock:
            model = self._model(study, search_space)
            # All trials, also where Hyperband shows samplers only those of a bracket: complete ones can be compared.
            model.learn(study._storage.get_all_trials(study._study_id, deepcopy=False))
            try:
                params = model.suggest(trial)
            except NothingLeft:
                independent = self._independent_sampler.sample_independent
                return {name: independent(study, trial, name, distribution) for name, distribution in search_space.items()}
            if trial.number in model.pending and not isinstance(study._storage, optuna.storages.InMemoryStorage):
                # Other processes know of it now, and not only when the objective has asked for the last parameter.
                internal = {name: distribution.to_internal_repr(params[name]) for name, distribution in search_space.items()}
                study._storage.set_trial_system_attr(trial._trial_id, _SUGGESTED, internal)
        return params

    def sample_independent(
        self, study: optuna.Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        self._raise_error_if_multi_objective(study)
        # Before the first trial is complete, no parameter can be known.
        known = self._of(study)
        if (
            self._warn_independent_sampling
            and param_name not in known.warned
            and study._get_trials(deepcopy=False, states=(TrialState.COMPLETE,), use_cache=True)
        ):
            known.warned.add(param_name)
            _logger.warning(
                f"parameter `{param_name}` of trial {trial.number} comes from {self._independent_sampler}, not from noregret: not all "
                "complete trials have it, or not with the same range. This is said once (never with warn_independent_sampling=False); where "
                "many parameters depend on others, independent_sampler=optuna.samplers.TPESampler() learns more than the random default"
            )
        return self._independent_sampler.sample_independent(study, trial, param_name, param_distribution)

    def before_trial(self, study: optuna.Study, trial: FrozenTrial) -> None:
        self._independent_sampler.before_trial(study, trial)

    def after_trial(
        self, study: optuna.Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None
    ) -> None:
        if self._constraints_func is not None:
            _process_constraints_after_trial(self._constraints_func, study, trial, state)
        self._independent_sampler.after_trial(study, trial, state, values)

    def _of(self, study: optuna.Study) -> _Known:
        # In-memory studies all have the same id; only with their storage are they different.
        return self._known.setdefault(study._storage, {}).setdefault(study._study_id, _Known())

    def _model(self, study: optuna.Study, search_space: dict[str, BaseDistribution]) -> _Model:
        known = self._of(study)
        if known.model is None or known.model.space != search_space:
            parameters = {f"x{i}": _parameter(distribution) for i, distribution in enumerate(search_space.values())}
            maximize = study.direction == optuna.study.StudyDirection.MAXIMIZE
            known.model = _Model(search_space, self._study(parameters, "maximize" if maximize else "minimize"))
        return known.model

    def _study(self, parameters: Mapping[str, Float | Int | Categorical], direction: Literal["minimize", "maximize"]) -> Study:
        return Study(parameters, direction=direction, algorithm=self._algorithm, seed=self._seed, duplicates=self._duplicates)

    def _forget(self) -> None:
        self._lock = threading.Lock()
        self._known: WeakKeyDictionary[optuna.storages.BaseStorage, dict[int, _Known]] = WeakKeyDictionary()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_lock", "_known")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._forget()


class _Known:
    """What is kept of one Optuna study."""

    def __init__(self) -> None:
        self.intersection = IntersectionSearchSpace()
        self.warned: set[str] = set()
        self.model: _Model | None = None  # of the last space: what all trials have in common only shrinks


class _Model:
    """A study of noregret that follows an Optuna study. Points are rows in the order of the space; see `_encode`."""

    def __init__(self, space: dict[str, BaseDistribution], study: Study) -> None:
        self.space, self.study = space, study
        self.seen = 0  # trials, of which
        self.open: list[int] = []  # are not finished yet
        self.pending: dict[int, tuple[int, list[float] | None]] = {}  # by trial: the number and the point that noregret knows it by

    def learn(self, trials: Sequence[FrozenTrial]) -> None:
        """Brings the study up to date with all trials, of which only those are looked at that may be news."""
        points, values, still_open = [], [], []
        for number in [*self.open, *range(self.seen, len(trials))]:
            trial = trials[number]
            finished = trial.state.is_finished()
            if finished:
                point = self.point(trial.params)
            else:
                still_open.append(number)
                suggested = trial.system_attrs.get(_SUGGESTED, {}) if trial.state == TrialState.RUNNING else {}
                external = {name: d.to_external_repr(suggested[name]) for name, d in self.space.items() if name in suggested}
                point = self.point({**external, **trial.params})
            if number in self.pending:
                asked, expected = self.pending[number]
                if not finished and point in (None, expected):
                    continue
                del self.pending[number]
                if point == expected:
                    self.study.tell(asked, _value(trial))
                    continue
                # It ended before all parameters were suggested, which can be but a failure of these. Or it took other values than were
                # suggested: ranges have changed, and this space is not going to be asked for again.
                self.study.fail(asked)
            if point is None:
                continue
            if finished:
                points.append(point)
                values.append(_value(trial))
            else:
                # What is in the queue comes first, and nothing is ever left there.
                self.study.enqueue(dict(zip(self.study.parameters, point)))
                self.pending[number] = (self.study.ask(1)[0].number, point)
        self.seen, self.open = len(trials), still_open
        if points:
            self.study.tell_many(points, values)

    def suggest(self, trial: FrozenTrial) -> dict[str, Any]:
        """Parameters for a trial, which is pending from now on."""
        if not self.space.keys().isdisjoint(trial.system_attrs.get("fixed_params", {})):
            # It was enqueued with some of the parameters, and takes only the others from here: `learn` is going to see where it is.
            return self.params(self.study.suggest(1)[0])
        [asked] = self.study.ask(1)
        params = self.params(asked.params.values())
        self.pending[trial.number] = (asked.number, self.point(params))
        return params

    def params(self, point: Iterable[float]) -> dict[str, Any]:
        return {name: _decode(distribution, x) for (name, distribution), x in zip(self.space.items(), point)}

    def point(self, params: Mapping[str, Any]) -> list[float] | None:
        """None if parameters are missing, or have values that the space has not."""
        try:
            return [_encode(distribution, params[name]) for name, distribution in self.space.items()]
        except (KeyError, ValueError):
            return None


def _parameter(distribution: Any) -> Float | Int | Categorical:
    """What noregret searches in place of a distribution: indices of choices, numbers of steps, or the values themselves."""
    if isinstance(distribution, CategoricalDistribution):
        return Categorical(range(len(distribution.choices)))
    low, high, log, step = distribution.low, distribution.high, distribution.log, _step(distribution)
    if step is not None:
        low, high = 0, round((high - low) / step)
    if (step is not None or isinstance(distribution, IntDistribution)) and high <= _LARGEST_INT:
        return Int(low, high, log)
    return Float(float(low), float(high), log)


def _encode(distribution: Any, value: Any) -> float:
    """A value as noregret has it; ValueError if it is none of the distribution."""
    internal: float = distribution.to_internal_repr(value)
    if not distribution._contains(internal):
        raise ValueError
    step = _step(distribution)
    if step is not None:
        return round((internal - float(distribution.low)) / step)
    return internal if isinstance(distribution, FloatDistribution) else int(internal)


def _decode(distribution: Any, x: float) -> Any:
    """A value as Optuna has it, to the last bit."""
    if isinstance(distribution, CategoricalDistribution):
        return distribution.choices[int(x)]
    step = _step(distribution)
    if step is not None:
        x = round(x) * step + distribution.low
    x = min(max(x, distribution.low), distribution.high)
    return round(x) if isinstance(distribution, IntDistribution) else float(x)


def _step(distribution: Any) -> float | None:
    """None also on a log scale, where integers have a step of 1 that says nothing."""
    step: float | None = None if isinstance(distribution, CategoricalDistribution) or distribution.log else distribution.step
    return step


def _value(trial: FrozenTrial) -> float:
    """NaN, which is a failure, unless it is complete and feasible."""
    value = trial.value
    if trial.state != TrialState.COMPLETE or value is None:
        return math.nan
    constraints: list[float] = list(trial.system_attrs.get("constraints") or ())  # of a sampler's constraints_func
    constraints += [c for key, c in trial.system_attrs.items() if key.startswith("constraints:")]  # of Optuna 5's set_constraint
    return math.nan if any(constraint > 0 for constraint in constraints) else value

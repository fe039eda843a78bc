"""noregret as a search algorithm of Ray Tune.

>>> from ray import tune
>>> from noregret.ray import NoRegretSearch
>>> search = NoRegretSearch({"lr": tune.loguniform(1e-5, 1e-1), "net": {"layers": tune.randint(1, 9)}}, metric="loss", mode="min")
>>> config = search.suggest("a trial")
>>> 1 <= config["net"]["layers"] <= 8
True
>>> search.on_trial_complete("a trial", {"loss": 0.3})

Usually a Tuner does this: `tune.Tuner(train, param_space=..., tune_config=tune.TuneConfig(search_alg=NoRegretSearch(), metric="loss",
mode="min", num_samples=50)).fit()`.
"""

from __future__ import annotations

import functools
import logging
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .errors import InvalidArgument, InvalidParams, InvalidSpace, NothingLeft
from .space import Bool, Categorical, Constraint, Float, Int, Ordinal, Parameter, _named
from .study import Algorithm, Study

try:
    from ray import cloudpickle
    from ray.tune.result import DEFAULT_METRIC
    from ray.tune.search import Searcher, sample
except ImportError as error:
    raise ImportError("noregret.ray needs Ray Tune: pip install 'ray[tune]'") from error

__all__ = ["NoRegretSearch"]

logger = logging.getLogger(__name__)

_Path = tuple[Any, ...]
_PARAMETERS = (Float, Int, Categorical, Ordinal, Bool)


class NoRegretSearch(Searcher):
    """Chooses the configurations of a Ray Tune run; those still running are taken into account, so that none is tried twice.

    space: what to search: tune's domains (`tune.uniform`, `tune.choice`, ...) or noregret's parameters (`nr.Float`, ...), nested as the
        config is, with constants in between. Without one, the Tuner's `param_space` is searched, which takes tune's domains only.
    metric, mode: what to optimize, and "min" or "max"; usually given to `TuneConfig` instead.
    points_to_evaluate: configs to begin with, nested or with names such as "net/layers".
    evaluated_rewards: the metric at each of these, if known: they are then told and not evaluated again.
    algorithm, seed: see `noregret.Study`.
    constraints: as those of `noregret.Study`. Expressions name what is nested with dots: `"net.layers * net.width <= 1024"`; functions
        take the config as suggested.

    What `tune.sample_from` in a Tuner's `param_space` computes is filled in by Ray afterwards, and unknown to the search.
    """

    def __init__(
        self,
        space: Mapping[str, Any] | None = None,
        metric: str | None = None,
        mode: str | None = None,
        points_to_evaluate: Sequence[Mapping[str, Any]] | None = None,
        evaluated_rewards: Sequence[float] | None = None,
        *,
        algorithm: Algorithm = "auto",
        seed: int = 0,
        constraints: Constraint | Sequence[Constraint] | Mapping[str, Constraint] | None = None,
    ) -> None:
        if not isinstance(metric, (str, type(None))) or mode not in ("min", "max", None):
            raise InvalidArgument(f'there is one metric, and its mode is "min" or "max": not {metric!r} and {mode!r}')
        super().__init__(metric=metric, mode=mode)
        self._points = list(points_to_evaluate or ())
        self._rewards = None if evaluated_rewards is None else list(evaluated_rewards)
        if self._rewards is not None and len(self._rewards) != len(self._points):
            raise InvalidArgument(f"{len(self._points)} points_to_evaluate take as many evaluated_rewards, not {len(self._rewards)}")
        self._algorithm, self._seed, self._constraints = algorithm, seed, constraints
        self._template: Mapping[str, Any] | None = None  # a config with domains where values go
        self._varied: dict[str, _Varied] = {}
        self._study: Study | None = None
        self._numbers: dict[str, int] = {}  # Ray's trials in the study
        if space is not None:
            self._template, self._varied = space, _varied(space)
            self._begin()

    @property
    def study(self) -> Study:
        """The study behind the search: its trials, importance, recommendation and so on."""
        if self._study is None:
            raise InvalidArgument(
                "NoRegretSearch does not know yet what to search: give it space, metric and mode, or give a Tuner param_space and "
                "TuneConfig(metric=..., mode=...)"
            )
        return self._study

    def set_search_properties(self, metric: str | None, mode: str | None, config: dict[str, Any], **spec: Any) -> bool:
        """Called by the Tuner, with its `param_space` as config."""
        if self._study is not None:
            return False
        self._metric, self._mode = metric or self._metric, mode or self._mode
        its_own = self._template is not None
        if not its_own:
            self._template, self._varied = _without_constants(config), _varied(config)
        self._begin()
        return not its_own

    def _begin(self) -> None:
        """Begins the study, once it is known what to optimize."""
        if not self._mode:
            return
        self._metric = self._metric or DEFAULT_METRIC
        constraints = {
            name: functools.partial(_holds, constraint, self._template, self._varied) if callable(constraint) else constraint
            for name, constraint in _named(self._constraints)
        }
        self._study = Study(
            {name: varied.parameter for name, varied in self._varied.items()},
            direction="minimize" if self._mode == "min" else "maximize",
            algorithm=self._algorithm,
            seed=self._seed,
            constraints=constraints,
        )
        points = [self._params(point) for point in self._points]
        if self._rewards is None:
            self._study.enqueue(*points)
        else:
            self._study.tell_many(points, self._rewards)

    def suggest(self, trial_id: str) -> Any:
        """The config of a new trial, or `Searcher.FINISHED` if all of a finite space was tried."""
        study = self.study
        if trial_id in self._numbers:
            trial = study.trials[self._numbers[trial_id]]
        else:
            try:
                trial = study.ask(1)[0]
            except NothingLeft:
                return Searcher.FINISHED
            self._numbers[trial_id] = trial.number
        return _config(self._template, self._varied, trial.params)

    def on_trial_result(self, trial_id: str, result: dict[str, Any]) -> None:
        """Results on the way are of no use here: the last one counts."""

    def on_trial_complete(self, trial_id: str, result: dict[str, Any] | None = None, error: bool = False) -> None:
        """Tells the study of the last result. A trial that failed, and has a result after it was resumed, counts as complete."""
        number = self._numbers.get(trial_id)
        if number is None:
            logger.warning("trial %s was not suggested by this search, and its result is not used: %s", trial_id, result)
            return
        value = (result or {}).get(self.metric)
        if error:
            self.study.fail(number, "error")
        elif value is None:
            self.study.fail(number, f"no {self.metric}")
        else:
            self.study.tell(number, value)

    def add_evaluated_point(
        self,
        parameters: Mapping[str, Any],
        value: float | None,
        error: bool = False,
        pruned: bool = False,
        intermediate_values: Sequence[float] | None = None,
    ) -> None:
        """Tells of a config that was evaluated elsewhere."""
        self.study.tell_many([self._params(parameters)], [math.nan if error or value is None else value])

    def _params(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """A config as the study has it."""
        return {name: varied.to_study(_at(config, varied.path)) for name, varied in self._varied.items()}

    def save(self, checkpoint_path: str) -> None:
        """Saves everything: what was told, what is running, and where the search is."""
        state = cloudpickle.dumps(self.__dict__)  # type: ignore[no-untyped-call]
        temporary = f"{checkpoint_path}.{os.getpid()}.tmp"
        with open(temporary, "wb") as file:
            file.write(state)
        os.replace(temporary, checkpoint_path)  # a crash leaves the old state or the new one

    def restore(self, checkpoint_path: str) -> None:
        """Goes on as saved. The file is a pickle: open none that you do not trust."""
        with open(checkpoint_path, "rb") as file:
            state = cloudpickle.load(file)
        if not isinstance(state, dict) or "_numbers" not in state:
            raise InvalidArgument(f"{checkpoint_path} was not saved by NoRegretSearch")
        self.__dict__.update(state)


@dataclass(frozen=True)
class _Varied:
    """A parameter of the study, and what it is in the config."""

    path: _Path
    """Its keys in the config, from the outermost on."""
    parameter: Parameter
    step: float | None = None
    """If set, the parameter counts multiples of this."""

    def to_config(self, value: Any) -> Any:
        return value if self.step is None else value * self.step

    def to_study(self, value: Any) -> Any:
        if self.step is None:
            return value
        count = round(value / self.step)
        if not math.isclose(count * self.step, value, rel_tol=1e-9, abs_tol=1e-9 * self.step):
            raise InvalidParams(f"{_shown(self.path)} must be a multiple of {self.step}, unlike {value}")
        return count


def _varied(space: Mapping[str, Any]) -> dict[str, _Varied]:
    """The parameters of a space, by their names in the study."""
    if not isinstance(space, Mapping):
        raise InvalidSpace(f"the space of NoRegretSearch is a dict of domains or parameters, not {space!r}")
    found: dict[str, _Varied] = {}
    for path, domain in _domains(space):
        name = re.sub(r"[^A-Za-z0-9_.-]", "_", ".".join(map(str, path)))
        if not re.match("[A-Za-z_]", name):
            name = "_" + name
        while name in found:  # "a b" and "a_b"
            name += "_"
        found[name] = _Varied(path, *_parameter(path, domain))
    if not found:
        raise InvalidSpace(
            "nothing is to be searched: give NoRegretSearch a space, or the Tuner a param_space, with domains such as tune.uniform(0, 1); "
            "parameters such as nr.Float(0, 1) are understood in NoRegretSearch(space) only"
        )
    return found


def _domains(node: Any, path: _Path = ()) -> Iterator[tuple[_Path, Any]]:
    """All that is not constant."""
    if isinstance(node, (sample.Domain, *_PARAMETERS)) or _is_special(node):
        yield path, node
        return
    items: Iterable[tuple[Any, Any]] = ()
    if isinstance(node, Mapping):
        items = node.items()
    elif isinstance(node, (list, tuple)):
        items = enumerate(node)
    for key, child in items:
        yield from _domains(child, (*path, key))


def _is_special(node: Any) -> bool:
    """Whether a dict is `tune.grid_search` or an expression, to Ray."""
    return isinstance(node, dict) and len(node) == 1 and ("grid_search" in node or "eval" in node)


def _without_constants(node: Mapping[str, Any]) -> dict[str, Any]:
    """Ray adds those of its `param_space` itself, and shows what is suggested in its tables."""
    return {
        key: _without_constants(child) if isinstance(child, Mapping) and not _is_special(child) else child
        for key, child in node.items()
        if any(True for _ in _domains(child))
    }


def _parameter(path: _Path, domain: Any) -> tuple[Parameter, float | None]:
    """The parameter for a domain and, if it counts multiples of something, of what."""
    if isinstance(domain, _PARAMETERS):
        return domain, None
    if isinstance(domain, dict) and "grid_search" in domain or isinstance(getattr(domain, "sampler", None), sample.Grid):
        raise InvalidSpace(f"{_shown(path)} is a grid search, which leaves nothing to choose: use tune.choice(...) instead")
    if isinstance(domain, (dict, sample.Function)):
        raise InvalidSpace(
            f"{_shown(path)} is computed by a function, whose range is unknown: use a domain such as tune.uniform(low, high), and "
            "compute what follows from it in the trainable"
        )
    sampler: Any = domain.get_sampler()
    step = None
    if isinstance(sampler, sample.Quantized):
        step, sampler = sampler.q, sampler.sampler
    if isinstance(domain, sample.Categorical):
        if any(True for _ in _domains(domain.categories)):
            raise InvalidSpace(f"{_shown(path)} has domains among its choices: put them next to it, and ignore what a choice has no use for")
        return Categorical(domain.categories), None
    if not isinstance(domain, (sample.Float, sample.Integer)) or not isinstance(sampler, (sample.Uniform, sample.LogUniform)):
        raise InvalidSpace(
            f"{_shown(path)} has no bounds, or some distribution of its own: use tune.uniform(low, high) or tune.loguniform(low, high), for "
            "a normal distribution from three standard deviations below the mean to three above"
        )
    log = isinstance(sampler, sample.LogUniform)
    whole = isinstance(domain, sample.Integer)
    if not whole and step is None:
        return Float(domain.lower, domain.upper, log), None
    low, high = _multiple(domain.lower, step or 1, math.ceil), _multiple(domain.upper, step or 1, math.floor)
    if whole and step in (None, 1):
        high -= 1  # Ray leaves out the upper bound of whole numbers, except of multiples
    return Int(low, high, log), step if whole or step is None else float(step)


def _multiple(bound: float, step: float, inwards: Callable[[float], int]) -> int:
    ratio = bound / step
    return round(ratio) if math.isclose(ratio, round(ratio)) else inwards(ratio)


def _config(template: Any, varied: Mapping[str, _Varied], params: Mapping[str, Any]) -> Any:
    """The template with values in place of its domains."""
    values = {varied[name].path: varied[name].to_config(value) for name, value in params.items()}

    def filled(node: Any, path: _Path) -> Any:
        if path in values:
            return values[path]
        if isinstance(node, Mapping):
            return {key: filled(child, (*path, key)) for key, child in node.items()}
        if type(node) in (list, tuple):
            return type(node)(filled(child, (*path, i)) for i, child in enumerate(node))
        return node

    return filled(template, ())


def _holds(
    constraint: Callable[[dict[str, Any]], bool], template: Any, varied: Mapping[str, _Varied], params: Mapping[str, Any]
) -> bool:
    return constraint(_config(template, varied, params))


def _at(config: Any, path: _Path) -> Any:
    """The value of a config, which may be nested or not."""
    flat = "/".join(map(str, path))
    if isinstance(config, Mapping) and flat in config:
        return config[flat]
    try:
        for key in path:
            config = config[key]
    except (KeyError, IndexError, TypeError):
        raise InvalidParams(f"a config has no {_shown(path)}") from None
    return config


def _shown(path: _Path) -> str:
    return f"`{'/'.join(map(str, path))}`"

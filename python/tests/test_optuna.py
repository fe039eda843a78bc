"""noregret as a sampler of Optuna."""

from __future__ import annotations

import collections
import copy
import doctest
import logging
import math
import pickle
import statistics
import subprocess
import sys
import time
import warnings
from typing import Any, Callable

import pytest

import noregret as nr

optuna = pytest.importorskip("optuna")

import noregret.optuna  # noqa: E402
from noregret.optuna import NoRegretSampler, _decode, _encode, _parameter  # noqa: E402
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution  # noqa: E402
from optuna.trial import TrialState  # noqa: E402

try:
    from optuna.testing import pytest_samplers as contract
except ImportError:  # in Optuna 4.0
    contract = None  # type: ignore[assignment]

DISTRIBUTIONS = [
    FloatDistribution(-1.0, 1.0),
    FloatDistribution(1e-7, 1.0, log=True),
    FloatDistribution(-10, 10, step=0.5),
    FloatDistribution(-10.2, 10.2, step=0.1),
    FloatDistribution(0.1, 0.7, step=0.2),
    IntDistribution(-3, 10),
    IntDistribution(1, 100, log=True),
    IntDistribution(3, 9, step=2),
    CategoricalDistribution([None, "a", 1.5, math.nan, True]),
]
MIXED = {"x": FloatDistribution(-5, 5), "y": IntDistribution(0, 1000), "z": CategoricalDistribution(["a", None, 3])}
SIX = {"a": IntDistribution(0, 2), "b": CategoricalDistribution(["x", "y"])}


@pytest.fixture(autouse=True)
def quiet() -> None:
    optuna.logging.set_verbosity(optuna.logging.WARNING)


def study_of(sampler: Any = None, **options: Any) -> Any:
    return optuna.create_study(sampler=sampler or NoRegretSampler(seed=1), **options)


def points(study: Any) -> list[tuple[Any, ...]]:
    return [tuple(repr(value) for _, value in sorted(trial.params.items())) for trial in study.trials]


def evaluated(params: dict[str, Any], value: float | None = 1.0, space: dict[str, Any] = SIX, **more: Any) -> Any:
    distributions = {name: space[name] for name in params}
    return optuna.trial.create_trial(params=params, distributions=distributions, value=value, **more)


def known(study: Any) -> dict[str, int]:
    """How many trials of each state noregret knows of."""
    return dict(collections.Counter(trial.state for trial in study.sampler._of(study).model.study.trials))


def mixed(trial: Any) -> float:
    x, y = trial.suggest_float("x", -5, 5), trial.suggest_int("y", 0, 1000)
    return float(x**2 + (y - 300) ** 2 / 1e4 + (trial.suggest_categorical("z", ["a", None, 3]) is not None))


def bowl(trial: Any) -> float:
    return float((trial.suggest_float("x", -5, 5) - 1) ** 2 + (trial.suggest_float("y", -5, 5) + 2) ** 2)


# What Optuna expects of samplers.

if contract is not None:

    class TestWhatOptunaTestsItsOwnSamplersFor(
        contract.BasicSamplerTestCase, contract.RelativeSamplerTestCase, contract.SingleOnlySamplerTestCase
    ):
        @pytest.fixture
        def sampler(self) -> Callable[[], Any]:
            return lambda: NoRegretSampler(seed=0)


@pytest.mark.parametrize("x", DISTRIBUTIONS, ids=repr)
def test_suggestions_are_values_of_the_distribution_and_of_its_type(x: Any) -> None:
    space = {"x": x, "y": FloatDistribution(0.0, 1.0)}
    study = study_of()
    for _ in range(6):
        trial = study.ask(space)
        value = trial.params["x"]
        assert x._contains(x.to_internal_repr(value))
        if isinstance(x, CategoricalDistribution):
            assert any(value is choice for choice in x.choices)
        else:
            assert type(value) is (float if isinstance(x, FloatDistribution) else int)
        study.tell(trial, trial.params["y"])
    assert known(study) == {"complete": 5, "running": 1}


@pytest.mark.parametrize("x", DISTRIBUTIONS, ids=repr)
def test_every_value_there_and_back_is_the_same(x: Any) -> None:
    parameter = _parameter(x)
    if isinstance(parameter, nr.Categorical):
        internal: Any = parameter.choices
    elif isinstance(parameter, nr.Int):
        internal = range(parameter.low, parameter.high + 1)
    else:
        internal = [parameter.low, 0.1234567, parameter.high]
    for value in internal:
        assert x._contains(x.to_internal_repr(_decode(x, value)))
        assert _encode(x, _decode(x, value)) == value


@pytest.mark.parametrize("x", [d for d in DISTRIBUTIONS if getattr(d, "step", None)], ids=repr)
def test_stepped_values_are_those_of_optuna_to_the_last_bit(x: Any) -> None:
    np = pytest.importorskip("numpy")
    from optuna._transform import _SearchSpaceTransform

    transform = _SearchSpaceTransform({"x": x}, transform_log=False)
    parameter = _parameter(x)
    assert isinstance(parameter, nr.Int)
    for i in range(parameter.low, parameter.high + 1):
        value = _decode(x, i)
        assert transform.untransform(np.array([value], dtype=float))["x"] == value


def test_integers_and_steps_too_many_for_noregret_are_still_searched() -> None:
    space = {"n": IntDistribution(0, 2**60), "log": IntDistribution(1, 2**60, log=True), "x": FloatDistribution(0, 1e9, step=1e-7)}
    study = study_of()
    for _ in range(5):
        trial = study.ask(space)
        assert isinstance(trial.params["n"], int) and isinstance(trial.params["log"], int)
        study.tell(trial, trial.params["n"] / 2**60)


def test_any_name_will_do() -> None:
    study = study_of()
    study.optimize(lambda trial: trial.suggest_float("my param/ü", 0, 1) + trial.suggest_float("", 0, 1), n_trials=5)
    assert known(study) == {"complete": 4, "running": 1}


def test_parameters_without_a_choice_need_none() -> None:
    study = study_of()
    for _ in range(4):
        trial = study.ask({"c": CategoricalDistribution([1]), "i": IntDistribution(1, 1), "f": FloatDistribution(1.0, 1.0), **SIX})
        study.tell(trial, 1.0)
        assert trial.params["c"] == trial.params["i"] == trial.params["f"] == 1


def test_more_than_one_objective_is_refused() -> None:
    study = study_of(directions=["minimize", "maximize"])
    with pytest.raises(ValueError, match="multi-objective"):
        study.optimize(lambda trial: (trial.suggest_float("x", 0, 1), 1.0), n_trials=1)


def test_settings_are_checked_at_once() -> None:
    with pytest.raises(nr.InvalidAlgorithm):
        NoRegretSampler(algorithm="no such thing")
    with pytest.raises(ValueError):
        NoRegretSampler(seed=-1)
    assert str(NoRegretSampler()) == "NoRegretSampler"


def test_optuna_is_imported_only_when_asked_for() -> None:
    code = "import sys, noregret; assert 'optuna' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_optuna_it_says_what_to_install() -> None:
    code = "import sys; sys.modules['optuna'] = None; import noregret.optuna"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ended.returncode == 1 and "ImportError" in ended.stderr and "pip install optuna" in ended.stderr


def test_the_example_works() -> None:
    assert doctest.testmod(noregret.optuna).failed == 0


# Finding things.


@pytest.mark.parametrize("sign, direction", [(1, "minimize"), (-1, "maximize")])
def test_it_finds_more_than_random_search(sign: int, direction: str) -> None:
    def found(sampler: Any) -> float:
        study = study_of(sampler, direction=direction)
        study.optimize(lambda trial: sign * bowl(trial), n_trials=25)
        return sign * float(study.best_value)

    ours = [found(NoRegretSampler(seed=seed)) for seed in range(5)]
    random = [found(optuna.samplers.RandomSampler(seed=seed)) for seed in range(5)]
    assert max(ours) < 0.05 < statistics.median(random)


def test_the_same_seed_gives_the_same_trials() -> None:
    def run(seed: int | None) -> Any:
        study = study_of(NoRegretSampler(seed=seed))
        study.add_trial(evaluated({"x": 0.0, "y": 3, "z": "a"}, space=MIXED))
        study.optimize(mixed, n_trials=15)
        return points(study)

    assert run(5) == run(5) != run(6)
    assert run(None) != run(None)


def test_reseeding_makes_a_copy_different() -> None:
    samplers = [NoRegretSampler(seed=3) for _ in range(3)]
    samplers[2].reseed_rng()
    studies = [study_of(sampler) for sampler in samplers]
    for study in studies:
        study.add_trial(evaluated({"x": 0.0, "y": 3, "z": "a"}, space=MIXED))  # so that no parameters come from the other sampler
        study.optimize(mixed, n_trials=3)
    assert points(studies[0]) == points(studies[1]) != points(studies[2])


def test_a_sampler_serves_several_studies() -> None:
    sampler = NoRegretSampler(seed=1)
    studies = [study_of(sampler, direction=direction) for direction in ("minimize", "maximize")]
    for _ in range(20):
        for study in studies:
            study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=1)
    assert studies[0].best_value < 0.05 and studies[1].best_value > 0.95
    assert known(studies[0]) == known(studies[1]) == {"complete": 19, "running": 1}


def test_the_pickled_sampler_goes_on_with_the_same_settings() -> None:
    study = study_of(NoRegretSampler(seed=7, algorithm={"name": "gp-ei", "initial_points": 4}, warn_independent_sampling=False))
    study.optimize(bowl, n_trials=10)
    revived = pickle.loads(pickle.dumps(study.sampler))
    for name in ("_seed", "_algorithm", "_warn_independent_sampling", "_duplicates"):
        assert getattr(revived, name) == getattr(study.sampler, name)
    study.sampler = revived
    study.optimize(bowl, n_trials=10)
    assert known(study) == {"complete": 19, "running": 1} and study.best_value < 0.5
    assert len(set(points(study))) == 20

    fresh, same = NoRegretSampler(seed=7), copy.deepcopy(NoRegretSampler(seed=7))
    studies = [study_of(fresh), study_of(same)]
    for study in studies:
        study.optimize(bowl, n_trials=6)
    assert points(studies[0]) == points(studies[1])


# Many at once.


@pytest.mark.parametrize("algorithm, n_trials", [("reg-evolution", 500), ("auto", 100)])
def test_threads_get_different_points_and_lose_none(algorithm: str, n_trials: int) -> None:
    study = study_of(NoRegretSampler(algorithm=algorithm, seed=1))

    def objective(trial: Any) -> float:
        value = mixed(trial)
        time.sleep(0.002)
        if trial.number % 17 == 3:
            raise optuna.TrialPruned
        if trial.number % 17 == 5:
            raise RuntimeError
        return value

    study.optimize(objective, n_trials=n_trials, n_jobs=8, catch=RuntimeError)
    assert len(study.trials) == n_trials == len(set(points(study)))
    study.ask(MIXED)
    good = sum(trial.state == TrialState.COMPLETE for trial in study.trials)
    assert known(study) == {"complete": good, "failed": n_trials - good, "running": 1}


def test_points_that_run_elsewhere_are_not_tried_twice(tmp_path: Any) -> None:
    storage = f"sqlite:///{tmp_path}/study.db"
    optuna.create_study(study_name="s", storage=storage).add_trial(evaluated({"a": 0, "b": "x"}))
    workers = [optuna.load_study(study_name="s", storage=storage, sampler=NoRegretSampler(seed=1)) for _ in range(2)]
    running = [workers[i % 2].ask(SIX) for i in range(5)]
    tried = {(trial.params["a"], trial.params["b"]) for trial in running}
    assert len(tried) == 5 and (0, "x") not in tried
    for i, trial in enumerate(running[:4]):
        workers[i % 2].tell(trial.number, float(i))
    more = workers[0].ask(SIX)  # nothing is left
    assert known(workers[0]) == {"complete": 5, "running": 1}
    workers[0].tell(more, 1.0)
    workers[1].ask(SIX)
    assert known(workers[1]) == {"complete": 6, "running": 1}


def test_what_runs_elsewhere_in_a_continuous_space_is_pending() -> None:
    study = study_of()
    study.add_trial(evaluated({"x": 0.0, "y": 3, "z": "a"}, space=MIXED))
    elsewhere = evaluated({"x": 0.123456789, "y": 5, "z": None}, None, space=MIXED, state=TrialState.RUNNING)
    study.add_trial(elsewhere)
    trial = study.ask(MIXED)
    pending = [t.params for t in study.sampler._of(study).model.study.trials if t.state == "running"]
    assert len(pending) == 2 and pytest.approx({"x0": 0.123456789, "x1": 5, "x2": 1}) in pending
    study.tell(1, 3.5)
    study.tell(trial, 1.0)
    study.ask(MIXED)
    assert known(study) == {"complete": 3, "running": 1}


def test_other_processes_know_a_point_before_all_its_parameters_are_asked_for(tmp_path: Any) -> None:
    storage = f"sqlite:///{tmp_path}/study.db"
    optuna.create_study(study_name="s", storage=storage).add_trial(evaluated({"a": 0, "b": "x"}))
    workers = [optuna.load_study(study_name="s", storage=storage, sampler=NoRegretSampler(seed=1)) for _ in range(2)]
    trials = [workers[i % 2].ask() for i in range(5)]
    begun = [trial.suggest_int("a", 0, 2) for trial in trials]
    assert len(set(zip(begun, [trial.suggest_categorical("b", ["x", "y"]) for trial in trials]))) == 5
    assert trials[0].number == 1 and workers[0].trials[1].params == trials[0].params


# Trials that others thought of, and trials that end otherwise.


def test_it_learns_from_trials_that_were_added() -> None:
    study = study_of()
    space = {"x": FloatDistribution(-5, 5)}
    study.add_trials([evaluated({"x": x}, (x - 1.5) ** 2, space) for x in (-5, -3.5, -2, -1, 0, 0.8, 1.3, 1.8, 2.5, 3.5, 5)])
    trial = study.ask(space)
    assert abs(trial.params["x"] - 1.5) < 0.5


def test_added_points_are_not_tried_again() -> None:
    study = study_of()
    study.add_trials([evaluated({"a": a, "b": b}) for a in range(3) for b in "xy" if (a, b) != (1, "y")])
    assert study.ask(SIX).params == {"a": 1, "b": "y"}


def test_enqueued_trials_are_run_and_learnt_from() -> None:
    study = study_of()
    study.add_trial(evaluated({"a": 0, "b": "x"}))
    for params in ({"a": 0, "b": "y"}, {"a": 2, "b": "x"}, {"b": "y"}, {"a": 7, "b": "y"}):
        study.enqueue_trial(params)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Optuna warns of the 7
        trials = [study.ask(SIX) for _ in range(4)]
    assert trials[0].params == {"a": 0, "b": "y"} and trials[1].params == {"a": 2, "b": "x"}
    assert trials[2].params["b"] == "y" and trials[3].params == {"a": 7, "b": "y"}
    for trial in trials:
        study.tell(trial, 1.0)
    study.ask(SIX)
    # The 7 is out of range, and no suggestion stays pending for the one that was enqueued in part.
    assert known(study) == {"complete": 4, "running": 1}


def test_trials_enqueued_with_some_parameters_get_the_others_and_leave_nothing_behind() -> None:
    study = study_of()
    study.add_trial(evaluated({"x": 0.0, "y": 3, "z": "a"}, space=MIXED))
    for y in range(5):
        study.enqueue_trial({"y": y})
    study.optimize(mixed, n_trials=5)
    assert [trial.params["y"] for trial in study.trials[1:]] == [0, 1, 2, 3, 4]
    study.ask(MIXED)
    assert known(study) == {"complete": 6, "running": 1}


@pytest.mark.parametrize("end", ["fail", "prune", "nan", "inf", "infeasible"])
def test_trials_without_a_value_are_failures_that_are_not_repeated(end: str) -> None:
    study = study_of(NoRegretSampler(seed=1, constraints_func=lambda trial: [trial.user_attrs["constraint"]]))

    def objective(trial: Any) -> float:
        trial.suggest_int("a", 0, 2), trial.suggest_categorical("b", ["x", "y"])
        trial.set_user_attr("constraint", 0.0)
        if trial.number in (2, 3):
            trial.set_user_attr("constraint", 1.0 if end == "infeasible" else 0.0)
            if end == "fail":
                raise RuntimeError
            if end == "prune":
                raise optuna.TrialPruned
            if end in ("nan", "inf"):
                return float(end)
        return 1.0

    study.optimize(objective, n_trials=6, catch=RuntimeError)
    assert len(set(points(study))) == 6
    study.ask(SIX)
    assert known(study) == {"complete": 4, "failed": 2}


def test_trials_that_end_before_all_parameters_are_suggested_do_not_stay_pending() -> None:
    study = study_of()

    def objective(trial: Any) -> float:
        a = trial.suggest_int("a", 0, 2)
        if trial.number % 2:
            raise optuna.TrialPruned
        return float(a + len(trial.suggest_categorical("b", ["x", "y"])))

    study.optimize(objective, n_trials=5)
    study.ask(SIX)
    assert known(study) == {"complete": 3, "failed": 2, "running": 1}


def test_changed_ranges_and_points_out_of_range_do_no_harm() -> None:
    study = study_of(NoRegretSampler(seed=1, warn_independent_sampling=False))
    study.add_trial(evaluated({"x": 1.0}, space={"x": FloatDistribution(0, 10)}))
    wide = {"x": FloatDistribution(0, 20)}
    study.add_trial(evaluated({"x": 15.0}, None, wide, state=TrialState.PRUNED))
    study.add_trial(evaluated({"x": 16.0}, None, wide, state=TrialState.RUNNING))
    study.add_trial(evaluated({"x": 5.0}, None, wide, state=TrialState.RUNNING))
    study.ask({"x": FloatDistribution(0, 10)})
    assert known(study) == {"complete": 1, "running": 2}
    # Suggestions that miss the new range are replaced by Optuna, and forgotten here.
    for _ in range(6):
        trial = study.ask({"x": FloatDistribution(20, 30)})
        assert 20 <= trial.params["x"] <= 30
        study.tell(trial, state=TrialState.PRUNED)
    study.ask({"x": FloatDistribution(0, 10)})
    assert known(study)["running"] == 3
    # A complete trial ends what the ranges had in common.
    study.optimize(lambda trial: trial.suggest_float("x", 0, 30), n_trials=3)
    assert study.sampler.infer_relative_search_space(study, study.trials[-1]) == {}


def test_when_nothing_is_left_it_goes_on_at_random() -> None:
    study = study_of()
    study.optimize(lambda trial: trial.suggest_int("a", 0, 1) + trial.suggest_int("b", 0, 1), n_trials=10)
    assert len(set(points(study)[:4])) == 4
    assert all(trial.state == TrialState.COMPLETE for trial in study.trials)


# Spaces that are not the same in all trials.


def test_conditional_parameters_are_left_to_the_other_sampler(caplog: Any) -> None:
    def objective(trial: Any) -> float:
        x = trial.suggest_float("x", 0, 1)
        return float(x + trial.suggest_float("y" if trial.suggest_categorical("kind", ["y", "z"]) == "y" else "z", 0, 1))

    study = study_of(NoRegretSampler(seed=1, independent_sampler=optuna.samplers.TPESampler(seed=1)))
    with caplog.at_level(logging.WARNING):
        study.optimize(objective, n_trials=20)
    assert {("z" in trial.params) for trial in study.trials} == {True, False}
    assert set(study.sampler.infer_relative_search_space(study, study.trials[-1])) == {"x", "kind"}
    assert study.best_value < 0.5
    ours = [record for record in caplog.records if record.name == "noregret.optuna"]
    assert ours and all("TPESampler" in record.message for record in ours)
    assert not any("trial 0 " in record.message for record in ours)

    caplog.clear()
    study = study_of(NoRegretSampler(seed=1, warn_independent_sampling=False))
    study.optimize(objective, n_trials=5)
    assert not caplog.records


def test_one_space_for_all_trials_gives_no_warnings(caplog: Any) -> None:
    study_of().optimize(lambda trial: trial.suggest_int("a", 0, 1) + trial.suggest_int("b", 0, 1), n_trials=8)
    assert not caplog.records


def test_parameters_fixed_by_another_sampler_are_left_out() -> None:
    study = study_of()
    study.optimize(bowl, n_trials=5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        study.sampler = optuna.samplers.PartialFixedSampler({"y": 1.0}, study.sampler)
    study.optimize(bowl, n_trials=5)
    assert all(trial.params["y"] == 1.0 for trial in study.trials[5:])
    assert len({trial.params["x"] for trial in study.trials}) == 10


def test_hyperband_works() -> None:
    def objective(trial: Any) -> float:
        x = trial.suggest_float("x", 0, 2)
        for step in range(9):
            trial.report(x + 1 / (step + 1), step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return float(x)

    study = study_of(NoRegretSampler(seed=1, warn_independent_sampling=False), pruner=optuna.pruners.HyperbandPruner(max_resource=9))
    study.optimize(objective, n_trials=30)
    ended = collections.Counter(trial.state for trial in study.trials[:-1])
    assert known(study) == {"complete": ended[TrialState.COMPLETE], "failed": ended[TrialState.PRUNED], "running": 1}


# Constraints.


def constrained(trial: Any) -> float:
    return float(trial.suggest_float("x", 0, 2) ** 2 + 2 * trial.suggest_float("y", 0, 2) ** 2)


def test_constraints_are_kept_where_optuna_looks_for_them() -> None:
    sampler = NoRegretSampler(seed=1, constraints_func=lambda trial: (1 - trial.params["x"] - trial.params["y"],))
    study = study_of(sampler)
    study.optimize(constrained, n_trials=30)
    bad = [trial for trial in study.trials if trial.system_attrs["constraints"][0] > 0]
    assert bad and known(study)["failed"] in (len(bad), len(bad) - 1)
    best = study.best_trial
    assert best.params["x"] + best.params["y"] >= 1 and best.value < 1.5
    assert best.value > min(trial.value for trial in study.trials)


def test_constraints_that_trials_set_themselves_count() -> None:
    if not hasattr(optuna.trial.Trial, "set_constraint"):
        pytest.skip("came with Optuna 5")

    def objective(trial: Any) -> float:
        value = constrained(trial)
        trial.set_constraint("sum", 1 - trial.params["x"] - trial.params["y"])
        return value

    study = study_of()
    study.optimize(objective, n_trials=20)
    bad = sum(trial.constraints["sum"] > 0 for trial in study.trials[:-1])
    assert bad and known(study) == {"complete": 19 - bad, "failed": bad, "running": 1}


def test_optunas_plots_show_its_studies() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    study = study_of(NoRegretSampler(seed=1, constraints_func=lambda trial: (1 - trial.params["x"] - trial.params["y"],)))
    study.optimize(constrained, n_trials=10)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that plots are experimental
        for plot in ("plot_optimization_history", "plot_slice", "plot_contour", "plot_timeline"):
            getattr(optuna.visualization.matplotlib, plot)(study)
    matplotlib.pyplot.close("all")

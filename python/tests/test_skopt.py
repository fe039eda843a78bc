"""`noregret.skopt`: what scripts for scikit-optimize rely on."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys
import warnings
from typing import Any

import pytest

import noregret as nr
from noregret.skopt import (
    Categorical, Integer, Optimizer, Real, Space, dummy_minimize, forest_minimize, gp_minimize, use_named_args,
)


def bowl(x: list[Any]) -> float:
    return float((x[0] - 0.3) ** 2 + (x[1] - 3) ** 2 / 10)


BOWL = [(-1.0, 1.0), (0, 9)]


# Dimensions.


@pytest.mark.parametrize(
    "given, kind, parameter",
    [
        ((1, 5), Integer, nr.Int(1, 5)),
        ([1, 5], Integer, nr.Int(1, 5)),
        ((1.0, 5), Real, nr.Float(1, 5)),
        ((1e-3, 1.0, "log-uniform"), Real, nr.Float(1e-3, 1, log=True)),
        ((1e-3, 1.0, "log-uniform", 2), Real, nr.Float(1e-3, 1, log=True)),
        ((1, 64, "log-uniform"), Integer, nr.Int(1, 64, log=True)),
        (("a", "b"), Categorical, nr.Categorical(["a", "b"])),
        (["a"], Categorical, nr.Categorical(["a"])),
        ([True, False], Categorical, nr.Categorical([True, False])),
        ((1, 5, 7), Categorical, nr.Categorical([1, 5, 7])),
        ((0.5, 1.5, "other"), Categorical, nr.Categorical([0.5, 1.5, "other"])),
        (Real(1, 5, "log-uniform", name="x"), Real, nr.Float(1, 5, log=True)),
        (Integer(1, 5, prior="log-uniform", base=2, transform="normalize"), Integer, nr.Int(1, 5, log=True)),
        (Categorical([None, (1, 2)], prior=[0.1, 0.9]), Categorical, nr.Categorical([None, (1, 2)])),
    ],
)
def test_dimensions_are_inferred_as_scikit_optimize_does(given: Any, kind: type, parameter: Any) -> None:
    [dimension] = Space([given])
    assert type(dimension) is kind and dimension._parameter() == parameter


def test_dimensions_that_make_no_sense_are_refused() -> None:
    for given in (3, "ab", None):
        with pytest.raises(nr.InvalidSpace, match="a dimension is"):
            Space([given])
    with pytest.raises(nr.InvalidSpace, match="log-uniform"):
        Real(0, 1, prior="normal")


def test_names_of_dimensions_name_the_parameters_of_the_study() -> None:
    assert list(Optimizer([Real(0, 1, name="lr"), Integer(1, 2, name="n")]).study.parameters) == ["lr", "n"]
    assert list(Optimizer([Real(0, 1, name="a b"), (1, 2)]).study.parameters) == ["x0", "x1"]
    assert list(Optimizer([Real(0, 1, name="a"), Real(0, 1, name="a")]).study.parameters) == ["x0", "x1"]


def test_use_named_args_calls_by_name() -> None:
    dimensions = [Real(0, 1, name="x"), Categorical(["a", "b"], name="kind")]

    @use_named_args(dimensions)
    def objective(kind: str, x: float) -> float:
        """A docstring."""
        return x + (kind == "b")

    assert objective([0.5, "b"]) == 1.5 and objective.__doc__ == "A docstring."
    assert gp_minimize(objective, dimensions, n_calls=12, random_state=0).fun < 0.2
    with pytest.raises(nr.InvalidArgument, match="names"):
        use_named_args([(0, 1)])


# Minimizing.


@pytest.mark.parametrize(
    "minimize, options, best",
    [
        (gp_minimize, {}, 0.02), (gp_minimize, {"acq_func": "LCB", "kappa": 1.0}, 0.02), (gp_minimize, {"noise": 1e-10}, 0.02),
        (forest_minimize, {"base_estimator": "RF"}, 0.5), (dummy_minimize, {}, 2.0),
    ],
)
def test_finds_the_minimum_within_n_calls(minimize: Any, options: dict[str, Any], best: float) -> None:
    calls: list[Any] = []

    def func(x: list[Any]) -> float:
        calls.append(x)
        return bowl(x)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = minimize(func, BOWL, n_calls=25, random_state=4, **options)
    assert result.x_iters == calls and len(calls) == 25
    assert all(type(x) is list and type(x[0]) is float and type(x[1]) is int for x in calls)
    assert list(result.func_vals) == [bowl(x) for x in calls]
    assert result.fun == min(result.func_vals) == bowl(result.x) < best
    assert result.random_state == 4 and len(result.space) == 2
    assert result.specs["function"] == minimize.__name__ and result.specs["args"]["n_calls"] == 25


def test_the_same_random_state_gives_the_same_points() -> None:
    np = pytest.importorskip("numpy")

    def first(random_state: Any) -> Any:
        return dummy_minimize(bowl, BOWL, n_calls=3, random_state=random_state).x_iters

    assert first(1) == first(1) != first(2)
    assert first(np.random.RandomState(1)) == first(np.random.RandomState(1)) != first(np.random.RandomState(2))
    assert first(np.random.default_rng(1)) == first(np.random.default_rng(1))
    assert first(None) != first(None)
    result = dummy_minimize(bowl, BOWL, n_calls=3)
    assert first(result.random_state) == result.x_iters


def test_x0_is_evaluated_first_and_counts() -> None:
    result = gp_minimize(bowl, BOWL, n_calls=5, x0=[[0.25, 3], [0.5, 4]], n_initial_points=2, random_state=1)
    assert result.x_iters[:2] == [[0.25, 3], [0.5, 4]] and len(result.x_iters) == 5
    assert result.fun <= bowl([0.25, 3])
    assert gp_minimize(bowl, BOWL, n_calls=1, x0=[0.25, 7]).x_iters == [[0.25, 7]]


def test_y0_is_told_and_not_evaluated() -> None:
    calls: list[Any] = []
    result = gp_minimize(lambda x: calls.append(x) or bowl(x), BOWL, n_calls=3, x0=[[0.25, 3], [0.5, 4]], y0=[-1.0, 2.0], random_state=1)
    assert len(calls) == 3 and len(result.x_iters) == 5 and list(result.func_vals[:2]) == [-1, 2]
    assert result.x == [0.25, 3] and result.fun == -1
    assert gp_minimize(bowl, BOWL, n_calls=0, x0=[0.25, 7], y0=0.5).fun == 0.5
    with pytest.raises(nr.InvalidArgument, match="as many values"):
        gp_minimize(bowl, BOWL, x0=[[0.3, 3]], y0=[1, 2])


def test_points_that_are_none_of_the_space_are_refused() -> None:
    with pytest.raises(nr.InvalidArgument, match="2 values"):
        gp_minimize(bowl, BOWL, x0=[0.5])
    with pytest.raises(nr.InvalidParams, match="x1"):
        gp_minimize(bowl, BOWL, x0=[0.5, 11])
    with pytest.raises(nr.InvalidParams, match="x1"):
        gp_minimize(bowl, BOWL, x0=[0.5, 1.5])


def test_n_initial_points_come_before_the_model() -> None:
    designs = []

    def after(result: Any) -> None:
        designs.append((result.study.diagnostics or {}).get("design_points"))

    gp_minimize(bowl, BOWL, n_calls=6, n_initial_points=4, callback=after, random_state=1)
    assert designs == [1, 1, 1, 1, 0, 0]
    with pytest.warns(DeprecationWarning, match="n_initial_points"):
        designs.clear()
        gp_minimize(bowl, BOWL, n_calls=4, n_random_starts=2, callback=[after], random_state=1)
    assert designs == [1, 1, 0, 0]


def test_constraints_hold() -> None:
    result = gp_minimize(bowl, BOWL, n_calls=12, space_constraint=lambda x: x[0] + x[1] <= 1, random_state=1)
    assert all(x[0] + x[1] <= 1 for x in result.x_iters)


def test_callbacks_are_all_called_and_can_stop() -> None:
    seen: list[int] = []

    def count(result: Any) -> None:
        seen.append(len(result.x_iters))
        assert "specs" in result

    def stop(result: Any) -> bool:
        return len(result.x_iters) == 3

    def stop_too(result: Any) -> None:
        if len(result.x_iters) == 2:
            raise StopIteration

    assert len(dummy_minimize(bowl, BOWL, n_calls=9, callback=[stop, count]).x_iters) == 3
    assert seen == [1, 2, 3]
    assert len(dummy_minimize(bowl, BOWL, n_calls=9, callback=stop_too).x_iters) == 2


def test_verbose_prints_a_line_for_each_evaluation(capsys: pytest.CaptureFixture[str]) -> None:
    dummy_minimize(lambda x: math.nan if x[1] else 1.0, [(0.0, 1.0), [False, True]], n_calls=4, verbose=True, random_state=0)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4 and lines[0].startswith("call 1 of 4")


def test_failed_evaluations_are_nan() -> None:
    result = gp_minimize(lambda x: math.nan if x[0] < 0 else x[0], [(-1.0, 1.0)], n_calls=12, random_state=0)
    assert any(map(math.isnan, result.func_vals)) and result.fun >= 0
    nothing = dummy_minimize(lambda x: None, [(-1.0, 1.0)], n_calls=2)
    assert nothing.x is None and math.isnan(nothing.fun)


def test_an_exhausted_space_ends_the_search_with_a_warning() -> None:
    with pytest.warns(UserWarning, match="after 2 of 5 calls"):
        assert len(gp_minimize(lambda x: 1.0, [["a", "b"]], n_calls=5).x_iters) == 2


def test_arguments_without_a_meaning_are_named_in_one_warning() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        gp_minimize(bowl, BOWL, n_calls=1, n_points=500, kappa=1.0, acq_func="EI", n_jobs=-1, acq_optimizer="lbfgs")
        forest_minimize(bowl, BOWL, n_calls=1, acq_func="LCB", xi=0.1)
    assert [str(w.message).split(": ")[1] for w in caught] == ["acq_optimizer, n_points, kappa, n_jobs", "acq_func, xi"]
    assert all(w.category is UserWarning and w.filename == __file__ for w in caught)


def test_acquisition_functions_are_mapped_or_refused() -> None:
    assert gp_minimize(lambda x: (bowl(x), 0.1), BOWL, n_calls=2, acq_func="EIps").fun < 100  # with its time
    with pytest.warns(UserWarning, match="probability of improvement"):
        gp_minimize(bowl, BOWL, n_calls=1, acq_func="PI")
    with pytest.raises(nr.InvalidArgument, match="acq_func"):
        gp_minimize(bowl, BOWL, n_calls=1, acq_func="best")
    with pytest.raises(nr.InvalidArgument, match="base_estimator"):
        Optimizer(BOWL, base_estimator="SVM")


# Ask and tell.


@pytest.mark.parametrize("base_estimator", ["GP", "RF", "ET", "GBRT", "dummy"])
def test_an_optimizer_asks_and_is_told(base_estimator: str) -> None:
    optimizer = Optimizer(BOWL, base_estimator, n_initial_points=3, random_state=2)
    for _ in range(5):
        x = optimizer.ask()
        result = optimizer.tell(x, bowl(x))
    assert len(result.x_iters) == 5 and result.fun == min(result.func_vals)
    assert not any(trial.state == "running" for trial in optimizer.study.trials)


def test_points_asked_together_or_before_others_are_told_differ() -> None:
    optimizer = Optimizer(BOWL, n_initial_points=2, random_state=2)
    optimizer.tell([[0.125, 1], [0.75, 2], [-0.5, 3]], [1, 2, 3])  # not asked for
    xs = [*optimizer.ask(n_points=3), optimizer.ask()]
    assert len({tuple(x) for x in xs}) == 4
    result = optimizer.tell(list(reversed(xs)), [4, 5, 6, 7])
    assert len(result.x_iters) == 7 and result.x == [0.125, 1]
    assert not any(trial.state == "running" for trial in optimizer.study.trials)
    assert len(optimizer.run(bowl, n_iter=2).x_iters) == len(optimizer.get_result().x_iters) == 9


def test_points_come_back_as_arrays_of_numpy() -> None:
    np = pytest.importorskip("numpy")
    optimizer = Optimizer([(0.0, 1.0), (0, 9)], random_state=2)
    optimizer.tell(np.array(optimizer.ask()), np.float64(1))
    optimizer.tell(np.array(optimizer.ask(2)), np.array([2, 3]))
    assert [trial.state for trial in optimizer.study.trials] == ["complete"] * 3
    optimizer = Optimizer([Categorical(np.array(["a", "b", "c"]))], random_state=2)
    optimizer.tell(np.array(optimizer.ask()), 1)
    assert [trial.state for trial in optimizer.study.trials] == ["complete"]


def test_an_optimizer_survives_a_pickle() -> None:
    optimizer = Optimizer(BOWL, n_initial_points=2, random_state=2)
    optimizer.run(bowl, 3)
    x = optimizer.ask()
    copy = pickle.loads(pickle.dumps(optimizer))
    copy.tell(x, 1.0)
    optimizer.tell(x, 1.0)
    assert copy.ask() == optimizer.ask() and len(copy.get_result().x_iters) == 4


def test_scikit_optimize_is_not_needed() -> None:
    code = "import sys; sys.modules['skopt'] = sys.modules['numpy'] = None; from noregret.skopt import dummy_minimize; " \
        "assert dummy_minimize(lambda x: x[0], [(0, 9)], n_calls=3).fun < 9"
    subprocess.run([sys.executable, "-c", code], check=True)

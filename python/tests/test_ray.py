"""`noregret.ray`: Ray Tune's domains, results and restarts."""

from __future__ import annotations

import logging
import math
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

import noregret as nr

pytest.importorskip("ray.tune")

import ray
from ray import tune
from ray.tune.search import ConcurrencyLimiter, Searcher

from noregret.ray import NoRegretSearch

ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # Ray's workers cannot import this file


def search_of(space: Any, **options: Any) -> NoRegretSearch:
    return NoRegretSearch(space, metric="loss", mode="min", **options)


def suggested(domain: Any, n: int = 60) -> list[Any]:
    """What is suggested for a domain: all of it, if it has fewer than `n` values."""
    search = search_of({"x": domain, "y": tune.uniform(0, 1)}, algorithm="random", seed=3)
    return [search.suggest(str(i))["x"] for i in range(n)]


# Domains.


@pytest.mark.parametrize(
    "domain, values",
    [
        (tune.randint(1, 4), {1, 2, 3}),
        (tune.lograndint(1, 4), {1, 2, 3}),
        (tune.qrandint(2, 9, 3), {3, 6, 9}),
        (tune.qrandint(1, 4, 1), {1, 2, 3}),
        (tune.qlograndint(4, 12, 4), {4, 8, 12}),
        (tune.quniform(-0.2, 0.3, 0.1), {i * 0.1 for i in range(-2, 4)}),
        (tune.qloguniform(0.5, 2, 0.5), {0.5, 1.0, 1.5, 2.0}),
        (tune.choice(["a", None, (1, 2), True, 1]), {"a", None, (1, 2), True, 1}),
        (nr.Int(1, 3), {1, 2, 3}),
        (nr.Ordinal([32, 64]), {32, 64}),
        (nr.Bool(), {False, True}),
    ],
)
def test_suggests_exactly_the_values_that_ray_would(domain: Any, values: set[Any]) -> None:
    drawn = suggested(domain)
    assert set(drawn) == values
    if isinstance(domain, tune.search.sample.Domain):
        by_ray = [domain.sample() for _ in range(200)]
        assert set(by_ray) == set(drawn)
        assert {type(value) for value in by_ray} == {type(value) for value in drawn}


def test_suggests_floats_within_bounds_and_on_the_right_scale() -> None:
    assert all(isinstance(x, float) and -1 <= x <= 2 for x in suggested(tune.uniform(-1, 2)))
    small = [x for x in suggested(tune.loguniform(1e-6, 1)) if x < 1e-3]
    assert 15 < len(small) < 45


def test_configs_are_nested_as_the_space_with_its_constants() -> None:
    search = search_of({
        "a b": tune.uniform(0, 1), "a_b": tune.uniform(1, 2), "0": tune.uniform(2, 3), "const": "c",
        "net": {"layers": tune.randint(1, 4), "deep": {"lr": tune.loguniform(1e-3, 1), "k": [1]}, "empty": {}},
        "list": [tune.uniform(0, 1), 7],
    })
    config = search.suggest("t")
    assert list(config) == ["a b", "a_b", "0", "const", "net", "list"]
    assert 0 <= config["a b"] <= 1 <= config["a_b"] <= 2 <= config["0"] <= 3
    assert config["const"] == "c" and config["net"]["deep"]["k"] == [1] and config["net"]["empty"] == {}
    assert config["net"]["layers"] in (1, 2, 3) and 1e-3 <= config["net"]["deep"]["lr"] <= 1
    assert isinstance(config["list"][0], float) and config["list"][1] == 7
    assert "net.layers" in search.study.parameters


@pytest.mark.parametrize(
    "domain, hint",
    [
        (tune.grid_search([1, 2]), r"grid search.*tune\.choice"),
        (tune.sample_from(lambda config: 1), r"function.*tune\.uniform"),
        ({"eval": "1 + 1"}, r"function.*tune\.uniform"),
        (tune.randn(0, 1), r"no bounds.*tune\.uniform"),
        (tune.qrandn(0, 1, 0.1), r"no bounds.*tune\.uniform"),
        (tune.choice([{"lr": tune.uniform(0, 1)}, 2]), "among its choices"),
    ],
)
def test_domains_that_cannot_be_searched_say_what_would_be_right(domain: Any, hint: str) -> None:
    with pytest.raises(nr.InvalidSpace, match=hint) as raised:
        search_of({"net": {"x": domain}})
    assert "`net/x`" in str(raised.value)


def test_a_space_without_anything_to_search_is_refused() -> None:
    with pytest.raises(nr.InvalidSpace, match="nothing is to be searched"):
        search_of({"a": 1})
    with pytest.raises(nr.InvalidSpace, match="a dict of domains"):
        search_of([(0, 1)])


# Properties of the search.


def test_a_tuner_gives_space_metric_and_mode() -> None:
    search = NoRegretSearch()
    with pytest.raises(nr.InvalidArgument, match="param_space"):
        search.suggest("t")
    assert search.set_search_properties("acc", "max", {"x": tune.uniform(0, 1), "const": 1, "deep": {"const": 2}})
    assert search.suggest("t").keys() == {"x"}  # Ray adds constants itself
    assert search.study.direction == "maximize" and search.metric == "acc"
    assert not search.set_search_properties("acc", "max", {"x": tune.uniform(0, 1)})


def test_a_space_of_its_own_takes_metric_and_mode_from_the_tuner() -> None:
    search = NoRegretSearch({"x": nr.Float(0, 1)})
    assert not search.set_search_properties("loss", "min", {"const": 1})
    assert search.suggest("t").keys() == {"x"}


def test_metrics_and_modes_that_make_no_sense_are_refused() -> None:
    with pytest.raises(nr.InvalidArgument, match="one metric"):
        NoRegretSearch(metric=["a", "b"], mode=["min", "max"])  # type: ignore[arg-type]
    with pytest.raises(nr.InvalidArgument, match='"min" or "max"'):
        NoRegretSearch(metric="a", mode="minimize")


def test_constraints_hold_as_expressions_and_as_functions_of_the_config() -> None:
    space = {"a": tune.uniform(0, 1), "net": {"b": tune.quniform(0, 1, 0.25)}}
    search = search_of(space, constraints=["a <= 0.5", lambda config: config["net"]["b"] >= 0.5])
    for i in range(10):
        config = search.suggest(str(i))
        assert config["a"] <= 0.5 <= config["net"]["b"]


# Points that are given.


def test_points_to_evaluate_come_first() -> None:
    space = {"x": tune.uniform(0, 1), "net": {"n": tune.quniform(0, 1, 0.1)}, "const": 1}
    search = search_of(space, points_to_evaluate=[{"x": 0.25, "net": {"n": 0.7}}, {"x": 0.75, "net/n": 0.30000000000000004}])
    assert search.suggest("a") == {"x": 0.25, "net": {"n": pytest.approx(0.7)}, "const": 1}
    assert search.suggest("b") == {"x": 0.75, "net": {"n": 3 * 0.1}, "const": 1}


def test_evaluated_rewards_are_told_and_not_evaluated_again() -> None:
    search = search_of({"x": tune.randint(0, 3)}, points_to_evaluate=[{"x": 0}, {"x": 2}], evaluated_rewards=[0.5, math.nan])
    assert [t.state for t in search.study.trials] == ["complete", "failed"]
    assert search.suggest("a") == {"x": 1}
    search.add_evaluated_point({"x": 1, "unrelated": 3}, 0.25)
    assert search.study.best_observed.value == 0.25


def test_points_that_do_not_fit_are_refused() -> None:
    with pytest.raises(nr.InvalidParams, match="`net/n`"):
        search_of({"net": {"n": tune.uniform(0, 1)}}, points_to_evaluate=[{"net": {}}])
    with pytest.raises(nr.InvalidParams, match="multiple of 0.25"):
        search_of({"n": tune.quniform(0, 1, 0.25)}, points_to_evaluate=[{"n": 0.3}])
    with pytest.raises(nr.InvalidArgument, match="as many"):
        search_of({"n": tune.uniform(0, 1)}, points_to_evaluate=[{"n": 0.3}], evaluated_rewards=[1, 2])


# Results.


def test_results_are_told_and_failures_remembered(caplog: pytest.LogCaptureFixture) -> None:
    search = search_of({"x": tune.uniform(0, 1)})
    results: dict[str, tuple[Any, bool]] = {
        "good": ({"loss": 0.5}, False), "nan": ({"loss": math.nan}, False), "missing": ({"acc": 1}, False),
        "nothing": (None, False), "error": (None, True),
    }
    for id in results:
        search.suggest(id)
    assert [t.state for t in search.study.trials] == ["running"] * 5  # pending points, to the model
    for id, (result, error) in results.items():
        search.on_trial_result(id, {"loss": 7})
        search.on_trial_complete(id, result, error)
    assert [t.state for t in search.study.trials] == ["complete"] + ["failed"] * 4
    assert search.study.trials[2].reason == "no loss"

    search.on_trial_complete("error", {"loss": 0.25})  # as Tuner.restore(resume_errored=True) does
    assert search.study.trials[4].value == 0.25
    with caplog.at_level(logging.WARNING):
        search.on_trial_complete("unknown", {"loss": 0.1})
    assert "unknown" in caplog.text and len(search.study) == 5


def test_a_finite_space_ends() -> None:
    search = search_of({"x": tune.choice(["a", "b"])})
    assert {search.suggest(str(i))["x"] for i in range(2)} == {"a", "b"}
    assert search.suggest("2") == Searcher.FINISHED


def test_a_saved_search_goes_on_as_if_nothing_had_happened(tmp_path: Any) -> None:
    search = search_of({"net": {"x": tune.uniform(0, 1), "k": tune.choice([None, (1, 2)])}}, seed=5, constraints=lambda config: True)
    for i in range(12):
        config = search.suggest(f"t{i}")
        if i < 10:
            search.on_trial_complete(f"t{i}", {"loss": (config["net"]["x"] - 0.3) ** 2})
    search.save(str(tmp_path / "state.pkl"))
    assert os.listdir(tmp_path) == ["state.pkl"]

    restored = NoRegretSearch()
    restored.restore(str(tmp_path / "state.pkl"))
    assert restored.suggest("t10") == search.suggest("t10")  # running, and run again
    assert restored.suggest("new") == search.suggest("new")
    restored.on_trial_complete("t10", {"loss": 0.125})
    assert restored.study.trials[10].value == 0.125 and len(restored.study) == 13

    (tmp_path / "other.pkl").write_bytes(pickle.dumps([1]))
    with pytest.raises(nr.InvalidArgument, match="not saved by NoRegretSearch"):
        restored.restore(str(tmp_path / "other.pkl"))


# Imports.


def test_noregret_does_not_import_ray_and_says_what_is_missing() -> None:
    code = """
import sys
import noregret
assert "ray" not in sys.modules
sys.modules["ray"] = None
try:
    import noregret.ray
except ImportError as error:
    assert "pip install 'ray[tune]'" in str(error), error
else:
    raise AssertionError
"""
    subprocess.run([sys.executable, "-c", code], check=True)


# Runs of Ray itself.


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("TUNE_DISABLE_AUTO_CALLBACK_LOGGERS", "1")
        patch.setenv("TUNE_GLOBAL_CHECKPOINT_S", "0")  # saves after every step
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        yield ray.get_runtime_context().gcs_address
        ray.shutdown()


SPACE = {
    "net": {"lr": tune.loguniform(1e-4, 1), "layers": tune.randint(1, 5)},
    "kind": tune.choice(["good", "bad"]),
    "offset": tune.quniform(0, 1, 0.25),
    "const": 1.0,
}


def train(config: dict[str, Any]) -> None:
    loss = abs(math.log10(config["net"]["lr"]) + 2) + config["net"]["layers"] / 4 + (config["kind"] == "bad") + config["offset"]
    tune.report({"loss": loss * config["const"]})


def check(results: Any, n: int) -> NoRegretSearch:
    """What Ray has is what the study has."""
    search = NoRegretSearch()
    search.restore_from_dir(results.experiment_path)
    assert len(results) == n and not results.errors
    by_ray = {result.metrics["trial_id"]: (result.metrics["loss"], result.config) for result in results}
    assert by_ray.keys() == search._numbers.keys()
    assert sorted(search._numbers.values()) == list(range(n))
    for id, (loss, config) in by_ray.items():
        trial = search.study.trials[search._numbers[id]]
        assert trial.state == "complete" and trial.value == loss
        assert config == {**search.suggest(id), "const": 1.0}
    return search


def test_a_tuner_finds_a_good_config_in_a_nested_mixed_space(cluster: str, tmp_path: Any) -> None:
    search = NoRegretSearch(seed=1)
    results = tune.Tuner(
        train,
        param_space=SPACE,
        tune_config=tune.TuneConfig(
            search_alg=ConcurrencyLimiter(search, max_concurrent=2),
            metric="loss", mode="min", num_samples=16, reuse_actors=True,
        ),
        run_config=tune.RunConfig(storage_path=str(tmp_path), name="run", verbose=0),
    ).fit()
    check(results, 16)
    assert len(search.study) == 16  # the one that was given, not a copy
    best = results.get_best_result()
    assert best.config["kind"] == "good" and best.metrics["loss"] < 0.6


KILLED = """
import os, signal, sys, time
import ray
from ray import tune
sys.path.insert(0, sys.argv[2])
from test_ray import SPACE, NoRegretSearch, train

class Kill(tune.Callback):
    done = 0

    def on_trial_complete(self, iteration, trials, trial, **info):
        self.done += 1
        if self.done == 4 and "KILL" in os.environ:
            time.sleep(1)  # until the last state is written, which happens in the background
            os.kill(os.getpid(), signal.SIGKILL)

ray.init(address=sys.argv[1], log_to_driver=False)
tune.Tuner(
    train,
    param_space=SPACE,
    tune_config=tune.TuneConfig(search_alg=NoRegretSearch(seed=2), metric="loss", mode="min", num_samples=9, reuse_actors=True),
    run_config=tune.RunConfig(storage_path=sys.argv[3], name="killed", verbose=0, callbacks=[Kill()]),
).fit()
"""


def test_a_run_that_was_killed_is_restored_with_nothing_lost(cluster: str, tmp_path: Any) -> None:
    command = [sys.executable, "-c", KILLED, cluster, os.path.dirname(__file__), str(tmp_path)]
    killed = subprocess.run(command, env={**os.environ, "KILL": "1"}, capture_output=True)
    assert killed.returncode == -9, killed.stderr.decode()
    before = NoRegretSearch()
    before.restore_from_dir(str(tmp_path / "killed"))
    told = {t.number: t.value for t in before.study.trials if t.state == "complete"}
    assert told and any(t.state == "running" for t in before.study.trials) and len(before.study) < 9

    after = check(tune.Tuner.restore(str(tmp_path / "killed"), trainable=train, param_space=SPACE).fit(), 9)
    assert told.items() <= {t.number: t.value for t in after.study.trials}.items()
    assert before._numbers.items() <= after._numbers.items()  # trials that were running kept their ids

"""The whole loop in one call."""

import concurrent.futures
import math
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import noregret as nr

BOUNDS = [(-5, 10), (-5, 5)]


def bowl(x):
    return float((x[0] - 3) ** 2 + x[1] ** 2)


def named(params):
    return (params["a"] - 0.3) ** 2 + (params["kind"] == "bad")


NAMED = {"a": nr.Float(0, 1), "kind": nr.Categorical(["good", "bad"])}


def test_bounds_give_arrays_and_names_give_dicts():
    found = nr.minimize(bowl, BOUNDS, n_trials=30)
    assert isinstance(found.x, np.ndarray) and found.fun == bowl(found.x) < 0.01
    assert found.success and found.nfev == 30 and len(found.x_iters) == len(found.func_vals) == 30
    assert found["fun"] is found.fun and found.recommended.mean == pytest.approx(0, abs=0.1)
    assert "fun" in dir(found) and "x: " in repr(found)
    found = nr.minimize(named, NAMED, n_trials=25)
    assert found.x["kind"] == "good" and abs(found.x["a"] - 0.3) < 0.1


def test_scipys_bounds_are_understood():
    class Bounds:
        lb, ub = np.array([-5, -5]), np.array([10, 5])

    assert nr.minimize(bowl, Bounds(), n_trials=20).fun < 1
    assert nr.minimize(bowl, np.array(BOUNDS), n_trials=5).x.shape == (2,)


def test_the_same_seed_finds_the_same():
    a, b = (nr.minimize(bowl, BOUNDS, n_trials=15, batch_size=3, seed=4) for _ in range(2))
    assert np.array_equal(a.func_vals, b.func_vals)
    assert not np.array_equal(a.func_vals, nr.minimize(bowl, BOUNDS, n_trials=15, batch_size=3, seed=5).func_vals)


def test_maximizing():
    assert nr.minimize(lambda x: -bowl(x), BOUNDS, n_trials=25, direction="maximize").fun > -0.1


@pytest.mark.parametrize("executor", ["thread", "process", "own"])
def test_evaluations_run_in_parallel(executor):
    own = concurrent.futures.ThreadPoolExecutor(4) if executor == "own" else executor
    found = nr.minimize(bowl, BOUNDS, n_trials=24, n_jobs=4, executor=own)
    assert found.nfev == 24 and found.fun < 1
    assert len({tuple(x) for x in found.x_iters}) == 24
    if executor == "own":
        own.submit(int)  # it is still open: who made it closes it


def test_futures_that_cannot_be_cancelled_do_not_hide_what_ended_the_loop():
    class Stubborn(concurrent.futures.Future):  # as Parsl's
        def cancel(self):
            raise NotImplementedError

    class Pool(concurrent.futures.Executor):
        def submit(self, fn, *args):
            future = Stubborn()
            if not begun:
                future.set_exception(OverflowError("mine"))
            begun.append(future)
            return future

    begun = []
    with pytest.raises(OverflowError, match="mine"):
        nr.minimize(bowl, BOUNDS, n_trials=4, n_jobs=3, executor=Pool(), algorithm="random")
    assert len(begun) == 3


def test_as_many_run_at_once_as_asked_for():
    running, most, lock = 0, 0, threading.Lock()

    def busy(x):
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.02)
        with lock:
            running -= 1
        return bowl(x)

    nr.minimize(busy, BOUNDS, n_trials=20, n_jobs=5, algorithm="sobol")
    assert most == 5


def test_callbacks_see_the_newest_trial_and_may_stop():
    seen = []

    def callback(intermediate_result):
        seen.append(intermediate_result.trial.number)
        assert intermediate_result.fun == min(intermediate_result.func_vals)
        if len(seen) == 7:
            raise StopIteration("good enough")

    found = nr.minimize(bowl, BOUNDS, n_trials=30, callback=callback)
    assert seen == list(range(7)) and found.nfev == 7
    assert found.success and found.message == "good enough"


def test_nan_and_caught_exceptions_are_failures():
    def shaky(x):
        if x[0] < 0:
            raise OverflowError("too far left")
        return math.nan if x[1] > 3 else bowl(x)

    found = nr.minimize(shaky, BOUNDS, n_trials=30, catch=OverflowError, seed=2)
    states = [t.state for t in found.study.trials]
    assert found.nfev == 30 and "failed" in states and found.fun < 1
    assert any("too far left" in (t.reason or "") for t in found.study.trials)


def test_other_exceptions_are_the_callers_and_nothing_is_lost(tmp_path):
    url = f"sqlite:///{tmp_path}/a.db"

    def broken(x):
        if len(done) == 5:
            raise ValueError("bug")
        done.append(1)
        return bowl(x)

    for jobs in (1, 3):
        done = []
        with pytest.raises(ValueError, match="bug") as caught:
            nr.minimize(broken, BOUNDS, n_trials=20, n_jobs=jobs, storage=url, name=f"s{jobs}")
        assert caught.value.study.counts["complete"] == 5
        if sys.version_info >= (3, 11):
            assert "in trial" in caught.value.__notes__[0]
        counts = nr.Study.load(f"s{jobs}", url).counts
        assert counts["complete"] == 5 and counts["failed"] == counts["running"] == 0, "what was begun waits for the next run"
        assert nr.minimize(bowl, BOUNDS, n_trials=20, n_jobs=jobs, storage=url, name=f"s{jobs}").nfev == 20


def test_a_function_without_a_value_is_found_out_at_once():
    calls = []
    with pytest.raises(nr.InvalidArgument, match="returned None"):
        nr.minimize(calls.append, BOUNDS, n_trials=20)
    assert len(calls) == 1
    found = nr.minimize(lambda x: math.nan, BOUNDS, n_trials=4)
    assert not found.success and found.x is None and "every evaluation failed, the last: the value is NaN" in found.message


def test_what_is_finished_when_the_loop_stops_is_told():
    def callback(intermediate_result):
        time.sleep(0.3)
        raise StopIteration

    found = nr.minimize(bowl, BOUNDS, n_trials=20, n_jobs=4, callback=callback, algorithm="random")
    assert found.nfev == 4 and found.study.counts["complete"] == 4


def test_time_runs_out():
    found = nr.minimize(lambda x: (time.sleep(0.05), bowl(x))[1], BOUNDS, n_trials=1000, timeout=0.5, algorithm="sobol", n_jobs=2)
    assert found.message == "time is up" and 4 < found.nfev < 40
    assert all(0.04 < t.seconds < 0.3 for t in found.study.trials), "the evaluation's own time"


def test_points_may_repeat_where_that_is_allowed():
    found = nr.minimize(lambda p: p["a"], {"a": nr.Bool(), "b": nr.Bool()}, n_trials=15, n_jobs=3, duplicates="allow")
    assert found.nfev == 15


def test_two_programs_share_the_budget(tmp_path):
    script = f"""
import noregret as nr, time
def slow(x):
    time.sleep(0.05)
    return x[0]
print(nr.minimize(slow, [(0, 1)], n_trials=20, n_jobs=2, storage="sqlite:///{tmp_path}/a.db", name="s", algorithm="sobol").nfev)
"""
    both = [subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) for _ in range(2)]
    for process in both:
        process.communicate(timeout=60)
    # Both may see the last free place at the same time, each with two workers.
    assert 20 <= nr.Study.load("s", f"sqlite:///{tmp_path}/a.db").counts["complete"] <= 22


def test_a_killed_run_goes_on_with_what_was_lost(tmp_path):
    url = f"sqlite:///{tmp_path}/a.db"
    script = f"""
import noregret as nr, os
def deadly(x):
    if len(done) == 6:
        os.kill(os.getpid(), 9)
    done.append(1)
    return x[0]
done = []
nr.minimize(deadly, [(0, 1)], n_trials=8, batch_size=4, storage={url!r}, name="s")
"""
    assert subprocess.run([sys.executable, "-c", script]).returncode == -9
    assert nr.Study.load("s", url).counts["complete"] == 6
    found = nr.minimize(lambda x: x[0], [(0, 1)], n_trials=8, storage=url, name="s")
    assert found.nfev == 8 and len(found.study) == 8


def test_a_stored_run_goes_on(tmp_path):
    url = f"sqlite:///{tmp_path}/a.db"
    with pytest.raises(nr.InvalidArgument, match="needs a name"):
        nr.minimize(bowl, BOUNDS, n_trials=8, storage=url)

    def until_eight(found):
        if found.nfev == 8:
            raise StopIteration

    assert nr.minimize(bowl, BOUNDS, n_trials=20, storage=url, name="s", callback=until_eight).nfev == 8
    again = nr.minimize(bowl, BOUNDS, n_trials=20, storage=url, name="s")
    assert again.nfev == 20
    straight = nr.minimize(bowl, BOUNDS, n_trials=20)
    assert np.array_equal(again.func_vals, straight.func_vals)
    assert nr.minimize(bowl, BOUNDS, n_trials=20, storage=url, name="s").nfev == 20, "nothing is left to do"
    assert nr.minimize(bowl, BOUNDS, n_trials=22, storage=url, name="s").nfev == 22


def test_why_the_loop_ended():
    def stop(found):
        raise StopIteration("good enough")

    def stop_silently(found):
        raise StopIteration

    assert nr.minimize(bowl, BOUNDS, n_trials=2).message == "all trials are done"
    assert nr.minimize(bowl, BOUNDS, n_trials=2, timeout=0).message == "time is up"
    assert nr.minimize(lambda p: p["n"], {"n": nr.Int(1, 3)}, n_trials=9).message == "nothing is left to try"
    assert nr.minimize(bowl, BOUNDS, n_trials=9, callback=stop).message == "good enough"
    assert nr.minimize(bowl, BOUNDS, n_trials=9, callback=stop_silently).message == "stopped by the callback"
    failed = nr.minimize(lambda x: math.nan, BOUNDS, n_trials=2)
    assert failed.message.startswith("all trials are done; every evaluation failed") and not failed.success


def test_progress_is_shown_on_request(capsys):
    nr.minimize(bowl, BOUNDS, n_trials=6, n_jobs=2)
    assert capsys.readouterr() == ("", "")
    found = nr.minimize(bowl, BOUNDS, n_trials=6, n_jobs=2, progress=True)
    out, err = capsys.readouterr()
    assert out == "" and "6/6" in err and f"best {found.fun:.6g}" in err and err.endswith("\n")


def test_noise_can_be_told():
    found = nr.minimize(lambda x: (bowl(x), 0.5), BOUNDS, n_trials=5)
    assert [t.noise_var for t in found.study.trials] == [0.5] * 5


def test_a_finite_space_ends_the_loop():
    found = nr.minimize(lambda p: p["n"], {"n": nr.Int(1, 6)}, n_trials=50, n_jobs=2)
    assert found.nfev == 6 and found.fun == 1 and found.message == "nothing is left to try"


def test_candidates_of_a_pool_come_as_trials():
    pool = nr.Pool(np.linspace(0, 1, 300).reshape(-1, 1), ids=[f"c{i}" for i in range(300)])
    found = nr.minimize(lambda trial: abs(trial.params["x0"] - 0.5) + 0 * int(trial.id[1:]), pool, n_trials=25)
    assert found.fun < 0.05


def test_the_algorithm_may_choose_the_batch():
    pool = nr.Pool(np.random.default_rng(0).random((300, 2)))
    found = nr.minimize(lambda t: t.params["x0"], pool, n_trials=40, batch_size=None, algorithm="bbkb", n_jobs=2)
    assert found.nfev == 40


@pytest.mark.parametrize("jobs", [1, 3])
def test_ctrl_c_returns_what_was_found(jobs):
    script = f"""
import noregret as nr, os, signal, threading, time
def slow(x):
    time.sleep(0.05)
    return x[0] ** 2
threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
found = nr.minimize(slow, [(-1, 1)], n_trials=10_000, n_jobs={jobs}, algorithm="sobol")
print(found.message, found.nfev > 3, found.success, found.fun < 1)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["interrupted", "True", "False", "True"], done


@pytest.mark.parametrize(
    "options, message",
    [
        ({"n_trials": -1}, "n_trials must be a whole number from 0 to 1e9"),
        ({"batch_size": 0}, "batch_size must be from 1 to 100,000"),
        ({"n_jobs": 0}, "n_jobs must be from 1 to 10,000"),
        ({"n_jobs": 2**40}, "n_jobs must be from 1 to 10,000"),
        ({"n_trials": 2**63}, "n_trials must be a whole number from 0 to 1e9"),
        ({"executor": "gpu"}, "executor must be"),
        ({"n_trials": 10.0}, "n_trials must be a whole number"),
        ({"catch": ["ValueError"]}, "catch names exceptions"),
        ({"storage": "sqlite:///a.db"}, "needs a name"),
    ],
)
def test_bad_arguments_are_named(options, message):
    with pytest.raises(nr.InvalidArgument, match=message):
        nr.minimize(bowl, BOUNDS, **options)

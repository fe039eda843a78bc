"""Storage, processes and threads, and the same suggestions everywhere."""

import json
import multiprocessing
import pickle
import signal
import sqlite3
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import noregret as nr
from studies import MIXED, loss, pool, told

# Storage, contexts, pickles.


def test_a_stored_study_goes_on_with_the_same_suggestions(tmp_path):
    url = f"sqlite:///{tmp_path}/a.db"
    straight, stored = nr.Study(MIXED, seed=4), nr.Study(MIXED, seed=4, storage=url, name="s")
    for round in range(5):
        a, b = straight.ask(2), stored.ask(2)
        assert [t.params for t in a] == [t.params for t in b]
        for s, t in zip(a, b):
            straight.tell(s, loss(s.params))
            stored.tell(t, loss(t.params))
        stored = nr.Study(MIXED, seed=4, storage=url, name="s") if round % 2 else nr.Study.load("s", url)
        assert len(stored) == 2 * (round + 1)


@pytest.mark.parametrize("url", ["sqlite:///b.db", "sqlite:b.db", "sqlite:///~/b.db"])
def test_addresses_name_the_same_file_for_ever(url, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    study = nr.Study([(0, 1)], storage=url, name="s")
    study.ask(1)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert len(pickle.loads(pickle.dumps(study))) == 1
    assert (tmp_path / "b.db").exists() and not any((tmp_path / "elsewhere").iterdir())


def test_addresses_that_are_none(tmp_path):
    for url in ("", ":memory:", "sqlite:///:memory:", 3):
        with pytest.raises(nr.NoRegretError):
            nr.Study([(0, 1)], storage=url, name="s")
    memory = nr.Study([(0, 1)], storage="memory://", name="s")
    memory.ask(2)
    assert len(pickle.loads(pickle.dumps(memory))) == 2


def test_relative_storages_survive_a_change_of_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    study = nr.Study([(0, 1)], storage="sqlite:///here.db", name="s")
    study.ask(1)
    monkeypatch.chdir("/")
    assert len(pickle.loads(pickle.dumps(study))) == 1
    assert (tmp_path / "here.db").exists()


def test_a_context_takes_back_what_was_not_told(tmp_path):
    url = f"sqlite:///{tmp_path}/a.db"
    with pytest.raises(RuntimeError):
        with nr.Study([(0, 1)], storage=url, name="s") as study:
            first, second = study.ask(2)
            study.tell(first, 1.0)
            raise RuntimeError
    again = nr.Study.load("s", url)
    assert [t.state for t in again.trials] == ["complete", "waiting"]
    assert again.ask(1)[0].number == second.number


def test_contexts_may_be_nested_and_used_from_threads():
    study = nr.Study([(0, 1)])
    with study:
        (first,) = study.ask(1)
        with study:
            study.ask(1)
        assert [t.state for t in study.trials] == ["running", "waiting"]
        study.ask(1)
    assert study.counts == {"waiting": 2, "running": 0, "complete": 0, "failed": 0}

    entered, leave = threading.Barrier(3), threading.Event()
    states = {}

    def work(name, patient):
        with study:
            (trial,) = study.ask(1)
            entered.wait()
            if patient:
                leave.wait()
                states[name] = study.trials[trial.number].state

    threads = [threading.Thread(target=work, args=(i, bool(i))) for i in range(2)]
    for thread in threads:
        thread.start()
    entered.wait()
    threads[0].join()
    leave.set()
    threads[1].join()
    assert states == {1: "running"}, "another thread's block has nothing to do with it"


def test_looking_at_a_study_does_not_change_it(tmp_path):
    url = f"sqlite:///{tmp_path}/a.db"
    nr.Study([(0, 1)], storage=url, name="s", algorithm="random", seed=1)
    nr.Study([(0, 1)], storage=url, name="s", algorithm="gp-ts", seed=7)
    loaded = nr.Study.load("s", url)
    assert (loaded._description["seed"], json.loads(loaded._description["algorithm"])["name"]) == (7, "gp-ts")
    assert loaded._native.log().count('"defined"') == 2


def test_what_others_hold_can_be_released_and_unknown_trials_cannot(tmp_path):
    url = f"sqlite:///{tmp_path}/a.db"
    one, two = (nr.Study([(0, 1)], storage=url, name="s") for _ in range(2))
    (trial,) = two.ask(1)
    one.release(trial)
    assert one.counts["waiting"] == 1
    with pytest.raises(nr.UnknownTrial):
        one.release(99)


def test_waiting_trials_count_among_those_asked_for():
    study = nr.Study([(0, 1)])
    study.enqueue({"x0": 0.5})
    assert len(study.ask(3)) == 3 and len(study) == 3


def test_trials_of_a_killed_process_come_back(tmp_path):
    url = f"sqlite:///{tmp_path}/a.db"
    script = (
        f"import noregret as nr, os\nwith nr.Study([(0, 1)], storage={url!r}, name='s') as study:\n"
        "    a, b, c = study.ask(3)\n    study.tell(a, 1.0)\n    os.kill(os.getpid(), 9)\n"
    )
    assert subprocess.run([sys.executable, "-c", script]).returncode == -signal.SIGKILL
    study = nr.Study.load("s", url)
    assert study.trials[0].value == 1.0, "what was told is there"
    assert [t.number for t in study.ask(2)] == [1, 2]


def test_another_search_of_the_same_name_is_refused(tmp_path):
    url = f"sqlite:///{tmp_path}/a.db"
    nr.Study([(0, 1)], storage=url, name="s")
    with pytest.raises(nr.AnotherStudy, match="parameter `x0`"):
        nr.Study([(0, 2)], storage=url, name="s")
    with pytest.raises(nr.NoSuchStudy, match="it has s"):
        nr.Study.load("t", url)
    with pytest.raises(nr.StorageError):
        nr.Study([(0, 1)], storage="sqlite:////nowhere/at/all.db", name="s")


@pytest.mark.parametrize("stored", [False, True])
def test_pickles_go_on_with_the_same_suggestions(stored, tmp_path):
    options = {"storage": f"sqlite:///{tmp_path}/a.db", "name": "s"} if stored else {}
    study = told(9, seed=7, **options)
    study.ask(2)
    again = pickle.loads(pickle.dumps(study))
    assert again.trials == study.trials
    assert again.suggest(3).tolist() == study.suggest(3).tolist()
    of_pool = nr.Study(pool(), seed=1)
    of_pool.ask(3)
    assert pickle.loads(pickle.dumps(of_pool)).suggest(2).tolist() == of_pool.suggest(2).tolist()


def test_threads_share_a_study():
    study = nr.Study([(0, 1), (0, 1)], seed=0)

    def work():
        for _ in range(5):
            for trial in study.ask(2):
                study.tell(trial, sum(trial.params.values()))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    points = {tuple(t.params.values()) for t in study.trials}
    assert len(points) == len(study) == 80
    assert all(t.state == "complete" for t in study.trials)


def _in_a_fork(study, queue):
    queue.put([t.params for t in study.ask(2)])


@pytest.mark.parametrize("stored", [False, True])
def test_forked_children_can_ask(stored, tmp_path):
    options = {"storage": f"sqlite:///{tmp_path}/a.db", "name": "s"} if stored else {}
    study = told(9, seed=7, **options)
    expected = [dict(zip(MIXED, row)) for row in study.suggest(2).tolist()]
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_in_a_fork, args=(study, queue))
    child.start()
    assert queue.get(timeout=60) == expected
    child.join()
    assert len(study) == (11 if stored else 9), "a file is shared, memory is not"


def test_a_fork_in_the_middle_of_a_computation_is_an_error_and_no_hang():
    script = """
import os, threading, time
import numpy as np, noregret as nr
X = np.random.default_rng(0).random((1500, 10))
study = nr.Study([(0, 1)] * 10, algorithm="sto-bnts")
study.tell_many(X, X.sum(1))
threading.Thread(target=lambda: study.suggest(4)).start()
time.sleep(0.3)
child = os.fork()
if child == 0:
    try:
        len(study)
    except nr.InvalidArgument as error:
        print(error, flush=True)
    os._exit(0)
os.waitpid(child, 0)
os._exit(0)
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, timeout=60)
    assert "forked while another thread was using the study" in done.stdout, done


def test_python_ends_while_an_abandoned_suggestion_calls_a_constraint():
    script = """
import noregret as nr, numpy as np, os, signal, threading, time
def slow(p):
    time.sleep(0.0005)
    return p["x0"] < 0.9
study = nr.Study([(0, 1)] * 3, constraints=slow, algorithm="ts-rsr")
X = np.random.default_rng(0).random((60, 3)) * 0.9
study.tell_many(X, X.sum(1))
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    study.ask(8)
except KeyboardInterrupt:
    print("interrupted")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout.strip()) == (0, "interrupted"), done


def test_ctrl_c_interrupts_a_long_suggestion(tmp_path):
    script = """
import numpy as np, noregret as nr, os, signal, threading, time
X = np.random.default_rng(0).random((3000, 20))
study = nr.Study([(0, 1)] * 20, algorithm="sto-bnts")
study.tell_many(X, X.sum(1))
threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
begin = time.perf_counter()
try:
    study.ask(8)
except KeyboardInterrupt:
    print("interrupted", time.perf_counter() - begin < 1.5)
else:
    print("not interrupted")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["interrupted", "True"], done


def test_other_threads_run_while_it_thinks():
    study = nr.Study([(0, 1)] * 10, seed=0)
    X = np.random.default_rng(0).random((1500, 10))
    study.tell_many(X, X.sum(1))
    ticks, done = 0, threading.Event()
    thread = threading.Thread(target=lambda: (study.suggest(4), done.set()))
    thread.start()
    while not done.is_set():
        ticks += 1
        time.sleep(0.001)
    thread.join()
    assert ticks > 10, ticks


def test_importing_takes_no_dependency_along():
    script = "import sys, noregret; print(sorted({'numpy', 'pandas', 'matplotlib', 'optuna', 'ray', 'scipy'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_it_works_without_numpy():
    script = """
import sys
sys.modules["numpy"] = None
import noregret as nr
study = nr.Study({"x": nr.Float(0, 1), "y": nr.Int(0, 5)})
print(study.tell_many([[0.5, 1], {"x": 0.2, "y": 2}], [1.0, 2.0]), len(study.ask(3)), type(study.suggest(2)).__name__)
print([len(v) for v in study.predict([[0.1, 1], [0.3, 3]])])
print(nr.minimize(lambda x: x[0] ** 2, [(-1, 2)], n_trials=15).fun < 0.1)
print(len(nr.Pool([[1.0, 2.0], [3.0, 4.0]])))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.split("\n")[:4] == ["2 3 list", "[2, 2]", "True", "2"], done


# The same everywhere.


def test_same_suggestions_from_python_the_command_line_and_rust(binaries, tmp_path):
    """One script of asks and tells, played in all three."""
    values = [0.5, 0.25, -0.125, 2.0, 1.5, -0.75, 0.375, 1.0, 0.0, -0.5]
    study = nr.Study(MIXED, seed=11, constraints={"c": "layers <= 6 or bias"}, algorithm={"name": "ts-rsr", "initial_points": 4})
    in_python = []
    for i in range(5):
        trials = study.ask(2)
        in_python += [t.params for t in trials]
        for trial, value in zip(trials, values[2 * i :]):
            study.tell(trial, value)

    (tmp_path / "study.toml").write_text(
        """
[study]
name = "s"
seed = 11
algorithm = { name = "ts-rsr", initial_points = 4 }
[objective]
command = ["none"]
[parameters]
lr = { type = "float", low = 1e-5, high = 1e-1, log = true }
layers = { type = "int", low = 1, high = 8 }
act = { type = "categorical", choices = ["relu", "tanh"] }
width = { type = "ordinal", values = [32, 64, 128] }
bias = { type = "bool" }
[constraints]
c = "layers <= 6 or bias"
"""
    )
    command = [str(binaries / "noregret")]
    on_the_command_line = []
    for i in range(5):
        asked = subprocess.run(
            [*command, "ask", "study.toml", "-n", "2", "--json"], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        trials = [json.loads(line) for line in asked.stdout.splitlines()]
        on_the_command_line += [t["params"] for t in trials]
        for trial, value in zip(trials, values[2 * i :]):
            subprocess.run([*command, "tell", "study.toml", str(trial["number"]), str(value)], cwd=tmp_path, check=True)

    played = subprocess.run([binaries / "examples" / "ask_tell_script"], capture_output=True, text=True, check=True)
    in_rust = [json.loads(line) for line in played.stdout.splitlines()]

    assert in_python == on_the_command_line
    assert in_python == in_rust
    # And a study that the command line has made goes on in Python.
    shared = nr.Study.load("s", f"sqlite:///{tmp_path}/noregret.db")
    assert [t.params for t in shared.trials] == in_python
    assert shared.suggest(2).tolist() == study.suggest(2).tolist()


# The log alone decides: how many trials there are to be is in it.

VALUES = [0.5, 0.25, 0.125, 2.0, 1.5, 0.75, 0.375, 1.0, 0.0625, 0.625, 0.875, 0.3125]
SQUARE = {"x": nr.Float(0, 1), "y": nr.Float(0, 1)}
SQUARE_FILE = """
[study]
name = "s"
seed = 5
trials = 12
batch = 3
[objective]
command = ["./evaluate"]
[parameters]
x = { type = "float", low = 0, high = 1 }
y = { type = "float", low = 0, high = 1 }
"""


class Door:
    """A folder with the study file and its own log, and the command line there."""

    def __init__(self, binaries, folder):
        self.program, self.folder = str(binaries / "noregret"), folder
        folder.mkdir()
        (folder / "study.toml").write_text(SQUARE_FILE)
        script = folder / "evaluate"
        script.write_text("#!/bin/sh\nset -- " + " ".join(map(str, VALUES)) + ' 0.5\nshift $((NOREGRET_TRIAL < 12 ? NOREGRET_TRIAL : 12))\necho "$1"\n')
        script.chmod(0o755)

    def __call__(self, *words):
        done = subprocess.run([self.program, *words], cwd=self.folder, capture_output=True, text=True, check=True)
        return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]

    @property
    def storage(self):
        return f"sqlite:///{self.folder}/noregret.db"

    def copy(self, other):
        with sqlite3.connect(self.folder / "noregret.db") as here, sqlite3.connect(other.folder / "noregret.db") as there:
            here.backup(there)
        return other

    def plans(self):
        with sqlite3.connect(self.folder / "noregret.db") as database:
            bodies = [json.loads(body) for (body,) in database.execute("SELECT body FROM entries ORDER BY position")]
        return [body["planned"]["trials"] for body in bodies if "planned" in body]


def in_threes(study, rounds=4):
    """Three trials a round, told in order; what was suggested."""
    values = iter(VALUES)
    for _ in range(rounds):
        for trial in study.ask(3):
            study.tell(trial, next(values))
    return [trial.params for trial in study.trials]


def test_the_same_log_gives_the_same_next_batch_from_everywhere(binaries, tmp_path):
    # Rust, where 12 trials are followed by three of a study that is to have 30.
    played = subprocess.run([binaries / "examples" / "ask_tell_script", "12", "30"], capture_output=True, text=True, check=True)
    in_rust = [json.loads(line) for line in played.stdout.splitlines()]
    in_time, extended = in_rust[:12], in_rust[12:]

    assert in_threes(nr.Study(SQUARE, seed=5, trials=12)) == in_time
    assert in_threes(nr.Study(SQUARE, seed=5)) != in_time, "the number matters here"
    values = iter(VALUES)
    found = nr.minimize(lambda params: next(values), SQUARE, n_trials=12, batch_size=3, seed=5)
    assert [trial.params for trial in found.study.trials] == in_time

    run, ask = (Door(binaries, tmp_path / name) for name in ("run", "ask"))
    run("run", "study.toml", "--workers", "1")
    assert [trial["params"] for trial in run("trials", "study.toml", "--json")] == in_time
    for i in range(4):
        for trial in ask("ask", "study.toml", "-n", "3", "--json"):
            ask("tell", "study.toml", str(trial["number"]), str(VALUES[trial["number"]]))
    assert [trial["params"] for trial in ask("trials", "study.toml", "--json")] == in_time
    assert run.plans() == ask.plans() == [], "it was in the first entry"

    # The next batch of one log, through every door.
    expected = [trial["params"] for trial in run("ask", "study.toml", "-n", "3", "--dry-run", "--json")]
    loaded = nr.Study.load("s", ask.storage)
    assert [dict(zip(SQUARE, x)) for x in loaded.suggest(3).tolist()] == expected
    assert [trial.params for trial in found.study.ask(3)] == expected
    assert expected != extended

    # More trials, said in different ways: an event, and the same suggestions.
    doors = [run.copy(Door(binaries, tmp_path / name)) for name in ("more", "python", "minimize", "pickled")]
    more, python, minimized, pickled = doors
    more("run", "study.toml", "--workers", "1", "--trials", "30")
    assert [trial["params"] for trial in more("trials", "study.toml", "--json")][12:15] == extended
    reopened = nr.Study(SQUARE, seed=5, trials=30, storage=python.storage, name="s")
    assert [trial.params for trial in reopened.ask(3)] == extended
    found = nr.minimize(lambda params: 0.5, SQUARE, n_trials=30, batch_size=3, seed=5, storage=minimized.storage, name="s")
    assert [trial.params for trial in found.study.trials][12:15] == extended
    for door in (more, python, minimized):
        assert door.plans() == [30]
    # Who does not say how many goes by the log, and so does the file that says fewer.
    nr.Study(SQUARE, seed=5, trials=30, storage=pickled.storage, name="s")
    assert [trial["params"] for trial in pickled("ask", "study.toml", "-n", "3", "--json", "--dry-run")] == extended
    revived = pickle.loads(pickle.dumps(nr.Study.load("s", pickled.storage)))
    assert [dict(zip(SQUARE, x)) for x in revived.suggest(3).tolist()] == extended
    assert [trial["params"] for trial in pickled("ask", "study.toml", "-n", "3", "--json")] == extended
    assert pickled.plans() == [30]


def test_fewer_trials_are_an_event_too(tmp_path):
    storage = f"sqlite:///{tmp_path}/a.db"
    study = nr.Study(SQUARE, seed=5, trials=60, storage=storage, name="s")
    in_threes(study, 3)
    before = study.suggest(3).tolist()
    assert nr.Study(SQUARE, seed=5, storage=storage, name="s").suggest(3).tolist() == before
    fewer = nr.Study(SQUARE, seed=5, trials=10, storage=storage, name="s").suggest(3).tolist()
    assert fewer != before
    assert study.suggest(3).tolist() == fewer, "whoever has it open hears of it"


@pytest.mark.parametrize("trials", [0, -1, 1.5, "many"])
def test_a_number_of_trials_is_one(trials):
    with pytest.raises(nr.InvalidArgument, match="whole number from 1 to 1e9"):
        nr.Study(SQUARE, trials=trials)


def test_the_fit_is_logged_once_and_shown_with_the_diagnostics(tmp_path):
    study = nr.Study(SQUARE, seed=5, algorithm={"name": "gp-ei", "initial_points": 3}, storage=f"sqlite:///{tmp_path}/a.db", name="s")
    in_threes(study, 2)
    with sqlite3.connect(tmp_path / "a.db") as database:
        *_, (last,) = database.execute("SELECT body FROM entries WHERE body LIKE '{\"asked\"%' ORDER BY position")
    logged = json.loads(last)["asked"]
    assert "fit" not in logged["diagnostics"]["model"]
    shown = nr.Study.load("s", f"sqlite:///{tmp_path}/a.db").diagnostics["model"]["fit"]
    assert shown == logged["memo"]["fit"] == study.diagnostics["model"]["fit"]

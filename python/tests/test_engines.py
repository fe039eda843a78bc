"""`minimize` on the engines themselves: submitit, Ray, Dask, Parsl, executorlib, MPI, and a Slurm of one node.

Engines that are not installed are skipped, but not in continuous integration.
"""

from __future__ import annotations

import importlib
import math
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Executor
from pathlib import Path
from typing import Any

import pytest

import evaluations
import noregret as nr
import noregret.executors
from noregret.executors import RayExecutor, SubmititExecutor
from test_service import Server

ROOT = Path(__file__).resolve().parent.parent.parent
ENGINES = ROOT / "examples" / "engines"
BOUNDS = [(0, 1), (0, 1)]


def required(name: str, hint: str) -> None:
    """Skips what needs something that is not there, or fails where it must be."""
    assert os.environ.get("CI") != "true", f"{name} is missing: {hint}"
    pytest.skip(f"{name} is not installed: {hint}")


def engine(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        required(name, "pip install -r python/requirements-test.txt")


def program(name: str) -> str:
    beside = Path(sys.executable).parent / name
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        required(name, "pip install -r python/requirements-test.txt")
    return str(found)


@pytest.fixture(autouse=True, scope="module")
def workers_find_modules() -> Iterator[None]:
    """As in an environment that is activated, with a package that is installed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(__file__).parent))
        patch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
        yield


def check(executor: Executor) -> None:
    """Two evaluations at a time, and exceptions of the user's own, caught or not."""
    options: dict[str, Any] = {"n_jobs": 2, "executor": executor, "algorithm": "sobol"}
    found = nr.minimize(evaluations.bowl, BOUNDS, n_trials=4, **options)
    assert found.nfev == 4 and found.success and found.fun == evaluations.bowl(found.x)
    assert all(trial.state == "complete" and trial.seconds is not None for trial in found.study.trials)

    found = nr.minimize(evaluations.shaky, BOUNDS, n_trials=4, catch=evaluations.Broken, **options)
    assert found.nfev == 4
    assert [t.state for t in found.study.trials] == ["failed" if t.params["x0"] < 0.5 else "complete" for t in found.study.trials]
    assert {t.state for t in found.study.trials} == {"failed", "complete"}
    assert all("Broken: too far left" in (t.reason or "") for t in found.study.trials if t.state == "failed")

    with pytest.raises(evaluations.Broken, match="too far left"):
        nr.minimize(evaluations.shaky, BOUNDS, n_trials=3, **options)


def check_lost_workers(executor: Executor, kind: type[Exception], folder: Path) -> None:
    """The loop ends, and nothing is lost; `catch` makes a failed evaluation of it."""
    options: dict[str, Any] = {"n_jobs": 1, "executor": executor, "algorithm": "sobol", "storage": f"sqlite:///{folder}/a.db", "name": "s"}
    with pytest.raises(kind):
        nr.minimize(evaluations.deadly, BOUNDS, n_trials=3, **options)
    before = nr.Study.load("s", options["storage"])
    assert before.counts["failed"] == 0 and before.counts["complete"] < 3
    found = nr.minimize(evaluations.deadly, BOUNDS, n_trials=3, catch=kind, **options)
    assert found.nfev == 3 and {t.state for t in found.study.trials} == {"complete", "failed"}


def check_cancel(executor: Executor, folder: Path) -> None:
    """What runs is stopped, and who waits is woken."""
    future = executor.submit(evaluations.nap, str(folder), 60)
    (file,) = until(lambda: list(folder.glob("*.pid")))
    assert future.cancel() and future.cancel() and future.cancelled() and future.done()
    with pytest.raises(CancelledError):
        future.result(0)
    until(lambda: not is_running(int(file.stem)))
    file.unlink(missing_ok=True)

    future = executor.submit(evaluations.nap, str(folder), 60)
    executor.shutdown(wait=True, cancel_futures=True)
    assert future.cancelled()
    with pytest.raises(RuntimeError, match="after shutdown"):
        executor.submit(evaluations.bowl, (0, 0))


def until(what: Callable[[], Any], seconds: float = 30) -> Any:
    end = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < end, "does not happen"
        time.sleep(0.05)
    return found


def is_running(pid: int) -> bool:
    """Whether a process lives: if it is dead, its parent may not have noticed."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


# submitit.


def local_jobs(folder: Path, **parameters: Any) -> Any:
    executor = engine("submitit").AutoExecutor(folder / "jobs", cluster="local")
    executor.update_parameters(timeout_min=2, **parameters)
    return executor


def test_submitit(tmp_path: Path) -> None:
    with SubmititExecutor(local_jobs(tmp_path), poll=0.05) as executor:
        check(executor)
        with pytest.raises(evaluations.Broken, match="mine") as caught:
            executor.submit(evaluations.raise_it, evaluations.Broken, "mine").result(60)
        assert "in raise_it" in str(caught.value.__cause__), "where it was raised"
    assert executor._watcher is None, "no thread is left"


def test_submitit_whose_jobs_die(tmp_path: Path) -> None:
    with SubmititExecutor(local_jobs(tmp_path), poll=0.05) as executor:
        check_lost_workers(executor, importlib.import_module("submitit.core.utils").UncompletedJobError, tmp_path)


def test_submitit_cancels_jobs_but_not_results(tmp_path: Path) -> None:
    done = SubmititExecutor(local_jobs(tmp_path), poll=3600).submit(evaluations.bowl, (0.3, 2))
    with SubmititExecutor(local_jobs(tmp_path), poll=0.05) as executor:
        check_cancel(executor, tmp_path)
    until(lambda: list(tmp_path.glob("jobs/*_result.pkl")))
    assert not done.done() and not done.cancel() and done.result(0) == 4, "it was there when we gave up waiting"


def test_submitit_takes_the_value_of_the_first_task(tmp_path: Path) -> None:
    with SubmititExecutor(local_jobs(tmp_path, tasks_per_node=2), poll=0.05) as executor:
        values = [executor.submit(evaluations.bowl, (0.3, 2)), executor.submit(evaluations.raise_it, ZeroDivisionError)]
        assert values[0].result(60) == 4
        assert isinstance(values[1].exception(60), ZeroDivisionError)


def test_submitit_in_this_process(tmp_path: Path) -> None:
    executor = SubmititExecutor(engine("submitit").AutoExecutor(tmp_path, cluster="debug"))
    assert executor.submit(math.sqrt, 4).result(0) == 2
    assert isinstance(executor.submit(math.sqrt, -1).exception(0), ValueError)


def test_executors_that_are_none_are_refused() -> None:
    with pytest.raises(nr.InvalidArgument, match="one of submitit"):
        SubmititExecutor("slurm")
    with pytest.raises(nr.InvalidArgument, match="seconds above zero"):
        SubmititExecutor(local_jobs(Path("/tmp")), poll=0)


# Ray.


@pytest.fixture(scope="module")
def cluster_of_ray(workers_find_modules: None) -> Iterator[None]:
    ray = engine("ray")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        yield
        ray.shutdown()


def test_ray(cluster_of_ray: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(noregret.executors, "CANCEL_DELAY", 0.2)
    with RayExecutor() as executor:
        check(executor)
        with pytest.raises(evaluations.Broken, match="mine") as caught:
            executor.submit(evaluations.raise_it, evaluations.Broken, "mine").result(60)
        assert type(caught.value) is evaluations.Broken and "in raise_it" in str(caught.value.__cause__)
        check_cancel(executor, tmp_path)


def test_ray_whose_workers_die(cluster_of_ray: None, tmp_path: Path) -> None:
    with RayExecutor(num_cpus=2, max_retries=0) as executor:
        check_lost_workers(executor, importlib.import_module("ray.exceptions").WorkerCrashedError, tmp_path)


# Engines with executors of their own.


def test_dask(tmp_path: Path) -> None:
    distributed = engine("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, local_directory=tmp_path) as cluster,
        distributed.Client(cluster) as client,
    ):
        check(client.get_executor(pure=False))


def test_executorlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    executorlib = engine("executorlib")
    monkeypatch.chdir(tmp_path)
    with executorlib.SingleNodeExecutor(max_workers=2, block_allocation=True) as executor:
        check(executor)
    with executorlib.SingleNodeExecutor(max_workers=2) as executor:
        check_lost_workers(executor, importlib.import_module("executorlib.standalone.interactive.communication").ExecutorlibSocketError, tmp_path)


# Engines whose functions must be those of a script: the examples, which check their executor, too, before they end.


def run_example(name: str, command: list[str], folder: Path) -> None:
    code = (ENGINES / name).read_text(encoding="utf-8")
    end = "    print(found.nfev, found.fun)\n"
    assert code.endswith(end)
    script = folder / name
    script.write_text(code.removesuffix(end) + f"        from test_engines import check\n        check(executor)\n{end}")
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    run = subprocess.run([*command, str(script)], cwd=folder, env=environment, capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    number, value = run.stdout.split()
    assert number == "20" and 0 <= float(value) < 10


def test_parsl(tmp_path: Path) -> None:
    engine("parsl")
    run_example("parsl_workers.py", [sys.executable], tmp_path)


def test_mpi(tmp_path: Path) -> None:
    engine("mpi4py.futures")
    mpiexec = [program("mpiexec"), "--map-by", ":OVERSUBSCRIBE", "-n", "3"]
    run_example("mpi.py", [*mpiexec, sys.executable, "-m", "mpi4py.futures"], tmp_path)


# Slurm.


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory, workers_find_modules: None) -> Iterator[Path]:
    """A folder; `SLURM_CONF` names a Slurm of the tests' own."""
    if os.getuid() != 0 or not Path("/etc/debian_version").exists():
        pytest.skip("a Slurm of one's own needs root on Debian")
    if not all(shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin") for name in ("slurmctld", "slurmd", "munged")):
        required("Slurm", "on Debian, apt-get install slurm-wlm munge")
    folder = tmp_path_factory.mktemp("slurm")
    script = str(ROOT / "scripts" / "one_node_slurm.sh")
    started = subprocess.run([script, "start", str(folder / "one")], capture_output=True, text=True, timeout=120)
    assert started.returncode == 0, started.stderr
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("SLURM_CONF", str(folder / "one" / "slurm.conf"))
            assert started.stdout == f"export SLURM_CONF={os.environ['SLURM_CONF']}\n"
            yield folder
    finally:
        subprocess.run([script, "stop", str(folder / "one")], check=True, timeout=120)


def asked(*command: str, **options: Any) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60, **options).stdout.strip()


STUB = """#!/usr/bin/env bash
# Stands for noregret: says what it was called with, and when it is told to end.
trap 'echo "$SLURM_ARRAY_TASK_ID asked to end"; exit 0' TERM
echo "$SLURM_ARRAY_TASK_ID called with $*, restarted ${SLURM_RESTART_COUNT:-0} times"
[ "$SLURM_ARRAY_TASK_ID" = 3 ] || exit 0
sleep 100 &
wait
"""


BEGAN = "3 called with worker http://localhost:7377 --study s --workers 1, restarted {} times"


@pytest.fixture(scope="module")
def requeued_array(slurm: Path) -> tuple[str, Path]:
    """Four workers, one of which is requeued: its number and log. It takes a while to begin again, in which other tests may run."""
    folder = slurm / "array"
    folder.mkdir()
    (folder / "noregret").write_text(STUB)
    (folder / "noregret").chmod(0o755)
    options = ["--array=0-3", "--cpus-per-task=1", "--time=10", "--output=log"]
    job = asked(
        "sbatch", "--parsable", *options, str(ENGINES / "slurm-array.sh"), "http://localhost:7377", "s",
        cwd=folder, env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"},
    )
    log = folder / "log"
    until(lambda: log.exists() and BEGAN.format(0) in log.read_text())
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", asked("squeue", "--noheader", f"--jobs={job}_3", "--format=%e")), "the end of the job"
    asked("scontrol", "requeue", f"{job}_3")
    return job, log


def test_submitit_on_slurm(slurm: Path, requeued_array: tuple[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    submitit = engine("submitit")
    monkeypatch.setattr(noregret.executors, "FILE_DELAY", 0.1)
    jobs = submitit.AutoExecutor(slurm / "jobs")
    assert jobs.cluster == "slurm"
    jobs.update_parameters(timeout_min=60)
    with SubmititExecutor(jobs, poll=0.05, check=0.5) as executor:
        found = nr.minimize(evaluations.shaky, BOUNDS, n_trials=4, n_jobs=4, executor=executor, catch=evaluations.Broken, algorithm="sobol")
        assert found.nfev == 4 and {t.state for t in found.study.trials} == {"failed", "complete"}

        folder = slurm / "naps"
        folder.mkdir()
        preempted = executor.submit(evaluations.nap, str(folder), 3)
        killed = executor.submit(evaluations.deadly, (0, 0))
        until(lambda: list(folder.glob("*.pid")))
        preempted.job._interrupt()  # type: ignore[attr-defined]
        with pytest.raises(submitit.core.utils.UncompletedJobError, match=r"ended without a result; its log .* ends with\nsrun: error"):
            killed.result(60)
        assert preempted.result(60) == "1", "it was started again"
        executor.shutdown()


def test_workers_as_a_slurm_array_hear_the_signal_and_are_requeued(requeued_array: tuple[str, Path]) -> None:
    job, log = requeued_array
    until(lambda: BEGAN.format(1) in log.read_text())
    # To the script alone, as --signal=B:TERM does; that one comes when Slurm looks for jobs whose time is up, every half minute.
    asked("scancel", "--batch", "--signal=TERM", f"{job}_3")
    until(lambda: "3 asked to end" in log.read_text().partition(BEGAN.format(1))[2])
    until(lambda: not asked("squeue", "--noheader", f"--jobs={job}"))
    assert sorted(re.findall(r"^(\d) called", log.read_text(), re.MULTILINE)) == ["0", "1", "2", "3", "3"]


def test_a_study_by_workers_in_slurm(slurm: Path, binaries: Path, tmp_path: Path) -> None:
    """The real server and workers: one of two jobs is requeued in the middle of a trial, and every trial gets its value once."""
    (tmp_path / "study.toml").write_text(STUDY)
    server = Server(binaries, tmp_path, "study.toml")
    try:
        path = f"{binaries}:{os.environ['PATH']}"
        options = ["--array=0-1", "--cpus-per-task=1", "--time=10", "--output=log-%a"]
        job = asked(
            "sbatch", "--parsable", *options, str(ENGINES / "slurm-array.sh"), server.address, "slurm",
            cwd=tmp_path, env={**os.environ, "PATH": path, "NOREGRET_TOKEN": server.token},
        )
        started = tmp_path / "started"
        until(lambda: started.exists() and len(started.read_text().split()) >= 3)
        asked("scontrol", "requeue", f"{job}_0")
        until(lambda: server.get("/slurm")["done"], 60)
        trials = server.get("/slurm/trials")["trials"]
        assert [trial["state"] for trial in trials] == ["complete"] * 8
        assert all(trial["value"] == trial["params"]["x"] for trial in trials)
        # Only the trial of the requeued job was begun twice.
        assert len(started.read_text().split()) <= 9
        assert "Slurm ends this job in" in (tmp_path / "log-1").read_text()
        asked("scancel", job)
    finally:
        server.process.terminate()
        assert server.process.wait(20) == 0


STUDY = """
[study]
name = "slurm"
trials = 8
algorithm = "random"
[objective]
command = ["sh", "-c", "echo $NOREGRET_TRIAL >> started; sleep 1; echo {x}"]
[parameters]
x = { type = "float", low = 0, high = 1 }
"""


# What is shown to others.


def test_examples_pass_the_linters() -> None:
    job, image = str(ENGINES / "kubernetes-job.yaml"), str(ENGINES / "Containerfile")
    asked(program("yamllint"), "--strict", "-d", "{extends: default, rules: {line-length: {max: 160}}}", job)
    asked(program("kubernetes-validate"), "--strict", "--quiet", job)
    asked(program("hadolint"), image)
    asked(program("shellcheck"), str(ENGINES / "slurm-array.sh"), str(ROOT / "scripts" / "one_node_slurm.sh"))


@pytest.mark.parametrize("name", ["mpi.py", "parsl_workers.py"])
def test_the_document_shows_the_example(name: str) -> None:
    document = (ROOT / "docs" / "engines.md").read_text(encoding="utf-8")
    shown = (ENGINES / name).read_text(encoding="utf-8").partition('"""\n\n')[2]
    assert f"```text\n{shown}```\n" in document

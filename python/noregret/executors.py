"""Engines as executors, for `minimize(executor=...)`, where an engine has none of its own: submitit and Ray.

Both are `concurrent.futures.Executor`s, so they serve other programs, too. An exception of a function comes back as it was raised. A job or
worker that is lost becomes an exception, as well. A future can be cancelled while its job runs: the job is then stopped. A result that is
already there is never thrown away by it.

Dask (`client.get_executor(pure=False)`), Parsl (`ParslPoolExecutor`), executorlib and mpi4py (`MPIPoolExecutor`) have executors of their own.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import subprocess
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import Executor, Future, InvalidStateError, wait
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from .errors import InvalidArgument

__all__ = ["RayExecutor", "SubmititExecutor"]

P = ParamSpec("P")
T = TypeVar("T")

# A file that was written on another machine may be seen later here. submitit itself waits as long.
FILE_DELAY = 15.0
# How long a cancelled task of Ray has to hear KeyboardInterrupt, which it does only between two lines of Python, before its worker is killed.
CANCEL_DELAY = 5.0


class SubmititExecutor(Executor):
    """Runs every call as a job of submitit: on Slurm, or in a process of this machine.

    executor: submitit's `AutoExecutor`, `SlurmExecutor` or `LocalExecutor`, with its parameters set.
    poll: seconds between two looks for the files with results, by one thread for all jobs.
    check: seconds between two questions to Slurm (one `squeue` for all jobs) whether jobs without a result are still there. No accounting
        (`sacct`) is needed.

    A job that ends without a result (killed, out of memory, out of time) gives its future submitit's `UncompletedJobError`. A job that Slurm
    preempts or requeues starts again from the beginning. If a job has several tasks, all must end, and the value is that of the first.

        import submitit
        from noregret.executors import SubmititExecutor

        cluster = submitit.AutoExecutor("jobs")
        cluster.update_parameters(timeout_min=120, cpus_per_task=4)
        with SubmititExecutor(cluster) as executor:
            found = nr.minimize(train, space, n_trials=100, n_jobs=20, executor=executor)
    """

    def __init__(self, executor: Any, *, poll: float = 1.0, check: float = 30.0) -> None:
        if not (hasattr(executor, "submit") and hasattr(executor, "folder")):
            raise InvalidArgument(f"executor must be one of submitit, such as submitit.AutoExecutor(folder), not {executor!r}")
        if not (poll > 0 and check > 0):
            raise InvalidArgument(f"poll and check are seconds above zero, unlike {poll!r} and {check!r}")
        self._executor, self._poll, self._check = executor, poll, check
        self._submitting = threading.Lock()  # submitit's executors are not made for several threads
        self._lock = threading.Lock()
        self._running: set[_SubmititFuture] = set()
        self._watcher: threading.Thread | None = None
        self._closed = False

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        with self._submitting:
            if self._closed:
                raise RuntimeError("cannot schedule new futures after shutdown")
            future = _SubmititFuture(self._executor.submit(_outcome, fn, *args, **kwargs))
        with self._lock:
            self._running.add(future)
            if self._watcher is None:
                self._watcher = threading.Thread(target=self._watch, name="noregret-submitit", daemon=True)
                self._watcher.start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Takes no more calls. `wait` waits for all jobs, `cancel_futures` stops them, running ones included."""
        with self._submitting:
            self._closed = True
        _close(self._running_now(), wait, cancel_futures)

    def _running_now(self) -> list[_SubmititFuture]:
        with self._lock:
            return list(self._running)

    def _watch(self) -> None:
        """One thread for all jobs; it ends when there is none."""
        asked = time.monotonic()
        while True:
            running, queue = self._running_now(), None
            if any(future.is_slurm for future in running) and time.monotonic() - asked >= self._check:
                queue, asked = _slurm_queue(), time.monotonic()
            for future in running:
                # A file system that is away now may be back at the next look.
                with contextlib.suppress(OSError):
                    future.look(queue)
            with self._lock:
                self._running = {future for future in self._running if not future.done()}
                if not self._running:
                    self._watcher = None
                    return
            time.sleep(self._poll)


class RayExecutor(Executor):
    """Runs every call as a task of Ray.

    num_cpus: processors that a call needs. Ray runs as many at once as the cluster has room for; `minimize(n_jobs=...)` is how many are given to it.
    remote_options: other options of `ray.remote`: `num_gpus`, `memory`, `resources`, `runtime_env`, `max_retries`, `retry_exceptions` and so on.

    If Ray is not running, the first call starts it on this machine; call `ray.init(...)` before to choose a cluster. The machines need noregret.
    A task whose worker dies is tried again three times by Ray, then its future gets Ray's `WorkerCrashedError` or `OutOfMemoryError`;
    `max_retries=0` gives up at once. A task that is cancelled gets KeyboardInterrupt, and five seconds later its worker is killed.

        import ray
        from noregret.executors import RayExecutor

        ray.init("auto")
        with RayExecutor(num_cpus=2, num_gpus=1) as executor:
            found = nr.minimize(train, space, n_trials=100, n_jobs=8, executor=executor)
    """

    def __init__(self, num_cpus: float = 1, **remote_options: Any) -> None:
        try:
            import ray
        except ImportError as error:
            raise ImportError("RayExecutor needs Ray: pip install ray") from error
        self._remote = ray.remote(num_cpus=num_cpus, **remote_options)(_call)
        self._submitting = threading.Lock()
        self._lock = threading.Lock()
        self._running: set[_RayFuture] = set()
        self._closed = False

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        with self._submitting:
            if self._closed:
                raise RuntimeError("cannot schedule new futures after shutdown")
            future = _RayFuture(self._remote.remote(fn, *args, **kwargs))
            with self._lock:
                self._running.add(future)
        future.add_done_callback(self._forget)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Takes no more calls. `wait` waits for all tasks, `cancel_futures` stops them, running ones included. Ray goes on."""
        with self._submitting:
            self._closed = True
        with self._lock:
            running = list(self._running)
        _close(running, wait, cancel_futures)

    def _forget(self, future: Future[Any]) -> None:
        with self._lock:
            self._running.discard(future)


def _close(running: list[Any], wait_for_them: bool, cancel: bool) -> None:
    if cancel:
        for future in running:
            future.cancel()
    if wait_for_them:
        wait(running)


# --- Futures --------------------------------------------------------------------------------------------------------


class _JobFuture(Future[Any]):
    """The future of something that runs elsewhere. It is pending until it has ended, so that it can be cancelled all the while."""

    def __init__(self) -> None:
        super().__init__()
        self._cancelling = threading.RLock()

    def look(self) -> None:
        """Takes the result, if it is there."""
        raise NotImplementedError

    def stop(self) -> None:
        """Stops what runs."""
        raise NotImplementedError

    def settle(self, value: Any = None, error: BaseException | None = None) -> None:
        with contextlib.suppress(InvalidStateError):  # cancelled meanwhile
            if error is None:
                self.set_result(value)
            else:
                self.set_exception(error)

    def cancel(self) -> bool:
        with self._cancelling:
            with contextlib.suppress(OSError):
                self.look()
            if self.done():
                return self.cancelled()
            if not super().cancel():
                return False
            self.set_running_or_notify_cancel()  # wakes those who wait
        self.stop()
        return True


class _SubmititFuture(_JobFuture):
    def __init__(self, job: Any) -> None:
        import submitit

        super().__init__()
        self.job = job
        self.is_slurm = isinstance(job, submitit.SlurmJob)
        self._gone: float | None = None  # since when the engine does not have it
        if isinstance(job, submitit.DebugJob):  # runs in this process, when asked for its result
            self._take(job.result())

    def look(self, queue: set[str] | None = None) -> None:
        """queue: the jobs that Slurm has, if it was asked."""
        if self.done():
            return
        results = [self.job.task(i).paths.result_pickle for i in range(self.job.num_tasks)]
        if not all(map(_is_there, results)):
            self._look_for_job(queue)
            return
        try:
            outcomes = [pickle.loads(path.read_bytes()) for path in results]
        except OSError:
            raise
        except Exception as error:  # of a class that cannot be read here
            self.settle(error=error)
            return
        self._gone = None
        for kind, what in outcomes:
            if kind == "error":  # submitit's own: it could not call the function, or not keep what it returned
                self.settle(error=_uncompleted(f"job {self.job.job_id} failed:\n{what}"))
                return
        errors = [outcome for _, outcome in outcomes if outcome[1] is not None]
        self._take(errors[0] if errors else outcomes[0][1])

    def _take(self, outcome: tuple[Any, BaseException | None, str]) -> None:
        value, error, text = outcome
        self.settle(value, None if error is None else _with_traceback(error, text))

    def _look_for_job(self, queue: set[str] | None) -> None:
        if self.is_slurm:
            if queue is None:
                return
            gone, delay = self.job.job_id not in queue, FILE_DELAY
        else:
            gone, delay = self.job.done(), 0.0
        if not gone:
            self._gone = None
        elif self._gone is None:
            self._gone = time.monotonic()  # its result may have come since we looked
        elif time.monotonic() - self._gone >= delay:
            task = self.job.task(0)
            self.settle(error=_uncompleted(f"job {self.job.job_id} ended without a result{_end_of(task.paths.stderr)}"))

    def stop(self) -> None:
        self.job.cancel(check=False)


class _RayFuture(_JobFuture):
    def __init__(self, ref: Any) -> None:
        super().__init__()
        self._ref = ref
        self._inner = ref.future()
        self._inner.add_done_callback(lambda _: self.look())

    def look(self) -> None:
        if not self._inner.done() or self.done():
            return
        error = self._inner.exception()
        if error is None:
            self.settle(self._inner.result())
        else:
            from ray.exceptions import RayTaskError

            if isinstance(error, RayTaskError) and isinstance(error.cause, BaseException):
                error = _with_traceback(error.cause, str(error))
            self.settle(error=error)

    def stop(self) -> None:
        import ray

        ray.cancel(self._ref)
        kill = threading.Timer(CANCEL_DELAY, self._kill)
        kill.daemon = True
        kill.start()

    def _kill(self) -> None:
        import ray

        if ray.is_initialized() and not self._inner.done():
            ray.cancel(self._ref, force=True)


# --- Where functions run --------------------------------------------------------------------------------------------


def _call(fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    return fn(*args, **kwargs)


def _outcome(fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> tuple[Any, Exception | None, str]:
    """Value, exception and its traceback: submitit would keep only the text of an exception."""
    try:
        return fn(*args, **kwargs), None, ""
    except Exception as error:
        text = traceback.format_exc()
        import cloudpickle  # comes with submitit, which writes with it

        try:
            pickle.loads(cloudpickle.dumps(error))
        except Exception:  # as for exceptions whose constructor takes other arguments than `args`
            return None, RuntimeError(f"{type(error).__name__}: {error}"), text
        return None, error, text


class _RemoteTraceback(Exception):
    """Shown above an exception, as the process pools of Python do."""

    def __str__(self) -> str:
        return f'\n"""\n{self.args[0].rstrip()}\n"""'


def _with_traceback(error: BaseException, text: str) -> BaseException:
    error.__cause__ = _RemoteTraceback(text)
    return error


# --- Files and Slurm ------------------------------------------------------------------------------------------------


def _is_there(path: Path) -> bool:
    # Network file systems remember that a file was missing; a change of its folder's mode, even to the same, makes them ask again. submitit
    # does this, too.
    with contextlib.suppress(OSError):
        path.parent.chmod(path.parent.stat().st_mode)
    return path.exists()


def _end_of(path: Path) -> str:
    """The last lines of a log."""
    try:
        lines = path.read_text(errors="replace").strip().splitlines()[-10:]
    except OSError:
        lines = []
    return f"; its log {path} ends with\n" + "\n".join(lines) if lines else f", and without a word in {path}"


def _uncompleted(message: str) -> Exception:
    from submitit.core.utils import UncompletedJobError

    return UncompletedJobError(message)


def _slurm_queue() -> set[str] | None:
    """The user's jobs that Slurm has not finished with; None if it does not answer."""
    command = ["squeue", "--noheader", f"--user={os.getuid()}", "--format=%A"]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return set(run.stdout.split()) if run.returncode == 0 else None

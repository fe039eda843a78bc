"""The whole loop in one call, for objectives that are Python functions."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal

from .errors import InvalidArgument, NothingLeft
from .space import Constraint, Parameter, Pool
from .study import Algorithm, Study
from .trial import Trial

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

__all__ = ["OptimizeResult", "minimize"]


class OptimizeResult(dict[str, Any]):
    """What was found: a dict whose keys are attributes, too, as SciPy's.

    x: the best point observed: an array for bounds, a dict for named parameters.
    fun: its value.
    recommended: the point to use if values are noisy; see `Study.recommended`. None while the loop runs, and if it was interrupted.
    success: whether the loop ended as it should, by itself or by the callback, and found something. message: why it ended.
    nfev: evaluations, failed ones included.
    x_iters, func_vals: all points and values in the order of their trials; NaN where an evaluation failed.
    study: the study, to go on with.
    """

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    __setattr__ = dict.__setitem__
    __delattr__ = dict.__delitem__

    def __repr__(self) -> str:
        width = max(map(len, self), default=0)

        def shown(value: Any) -> str:
            # All points and values would fill the screen.
            return f"<{len(value)} of them>" if hasattr(value, "__len__") and len(value) > 20 else repr(value)

        return "\n".join(f"{name.rjust(width)}: {shown(value)}" for name, value in self.items())

    def __dir__(self) -> list[str]:
        return list(self)


def minimize(
    fun: Callable[[Any], float],
    space: Mapping[str, Parameter] | Pool | Sequence[tuple[float, float]] | Any,
    n_trials: int = 100,
    batch_size: int | None = 1,
    n_jobs: int = 1,
    algorithm: Algorithm = "auto",
    seed: int | None = 0,
    callback: Callable[[OptimizeResult], Any] | None = None,
    *,
    constraints: Constraint | Sequence[Constraint] | Mapping[str, Constraint] | None = None,
    executor: Literal["thread", "process"] | Executor = "thread",
    catch: type[Exception] | tuple[type[Exception], ...] = (),
    storage: str | None = None,
    name: str | None = None,
    direction: Literal["minimize", "maximize"] = "minimize",
    duplicates: Literal["avoid", "allow", "replicate"] = "avoid",
    timeout: float | None = None,
    progress: bool = False,
) -> OptimizeResult:
    """Minimizes a function that is expensive to evaluate.

    fun: takes a dict of parameters; an array (a list without NumPy) if `space` is given by bounds; a `Trial` if it is a pool. It returns a
        number, or a pair of a number and the variance of its noise. NaN is a failed evaluation.
    space: a dict of parameters, bounds as SciPy has them, or a `Pool`.
    n_trials: evaluations in all, at most 1e9; what a study in a storage has already done counts. It is the study's number of `trials`, too.
    batch_size: how many evaluations are decided on together at least; if more workers are free, as many as these. `None` leaves it to the
        algorithm: `bbkb` and the like run as many as they may, others one at a time.
    n_jobs: how many evaluations run at the same time, at most 10,000; -1 for as many as there are processors.
    algorithm, seed, constraints, storage, name, direction, duplicates: see `Study`.
    callback: called after each evaluation with the result so far (`intermediate_result.trial` is the newest trial); it may raise StopIteration
        to end the loop.
    executor: where parallel evaluations run: `"thread"`s, `"process"`es (`fun` must then be picklable), or an Executor of your own: those of Dask,
        Parsl, executorlib and mpi4py, or of `noregret.executors` for submitit and Ray. It stays open.
    catch: exceptions of `fun` that count as failed evaluations. Others end the loop, with nothing lost of what a storage has.

    progress: whether to show on stderr how far it is, and the best value.

    Ctrl-C ends the loop and returns what was found.

    >>> import noregret as nr
    >>> found = nr.minimize(lambda x: (x[0] - 3) ** 2 + x[1] ** 2, [(-5, 10), (-5, 5)], n_trials=25)
    >>> found.fun < 0.1
    True
    """
    if not hasattr(n_trials, "__index__") or not 0 <= n_trials <= 10**9:
        raise InvalidArgument(f"n_trials must be a whole number from 0 to 1e9, unlike {n_trials!r}")
    if batch_size is not None and (not hasattr(batch_size, "__index__") or not 1 <= batch_size <= 100_000):
        raise InvalidArgument(f"batch_size must be from 1 to 100,000, or None to leave it to the algorithm, not {batch_size!r}")
    catch = tuple(catch) if isinstance(catch, (list, tuple, set)) else (catch,)
    for kind in catch:
        if not (isinstance(kind, type) and issubclass(kind, Exception)):
            raise InvalidArgument(f"catch names exceptions, such as ValueError, not {kind!r}")
    jobs, where = _jobs(n_jobs), _executor(executor)
    study = Study(
        space,
        direction=direction,
        algorithm=algorithm,
        seed=seed,
        storage=storage,
        name=name,
        duplicates=duplicates,
        constraints=constraints,
        trials=n_trials or None,
    )
    with study:
        loop = _Loop(study, fun, n_trials, batch_size, callback, catch, timeout, progress)
        return loop.run(jobs, where)


class _Ending(Enum):
    """Why the loop ends, and how that is said."""

    DONE = "all trials are done"
    TIME_UP = "time is up"
    NOTHING_LEFT = "nothing is left to try"
    STOPPED = "stopped by the callback"
    INTERRUPTED = "interrupted"


class _Stopped(Exception):
    """The callback ends the loop; the argument is what it says, if anything."""


class _Loop:
    """Keeps evaluations going."""

    def __init__(
        self,
        study: Study,
        fun: Callable[[Any], Any],
        n_trials: int,
        batch_size: int | None,
        callback: Callable[[OptimizeResult], Any] | None,
        catch: tuple[type[Exception], ...],
        timeout: float | None,
        progress: bool,
    ) -> None:
        self.study, self.fun, self.n_trials, self.batch_size = study, fun, n_trials, batch_size
        self.callback, self.catch = callback, catch
        self.end = math.inf if timeout is None else time.monotonic() + timeout
        self.queue: list[Trial] = []  # asked for, not begun
        self.evaluated = [trial for trial in study.trials if trial.state in ("complete", "failed")]
        self.bar = _Bar(study, len(self.evaluated), n_trials) if progress else None
        self.ending = _Ending.DONE

    def run(self, n_jobs: int, executor: str | Executor) -> OptimizeResult:
        words = ""
        try:
            if n_jobs == 1 and isinstance(executor, str):
                self.one_by_one()
            else:
                self.in_parallel(n_jobs, executor)
        except _Stopped as stopped:
            self.ending, words = _Ending.STOPPED, str(stopped)
        except KeyboardInterrupt:
            self.ending = _Ending.INTERRUPTED
        except Exception as error:
            error.study = self.study  # type: ignore[attr-defined]
            raise
        finally:
            if self.bar is not None:
                self.bar.close()
        message = words or self.ending.value
        if self.evaluated and all(trial.state == "failed" for trial in self.evaluated):
            message += f"; every evaluation failed, the last: {self.evaluated[-1].reason}"
        interrupted = self.ending is _Ending.INTERRUPTED
        found = self.result(success=not interrupted, message=message)
        if not interrupted:  # who interrupts does not want to wait for a model
            found["recommended"] = self.study.recommended
        return found

    def one_by_one(self) -> None:
        while (trial := self.wait_for_next()) is not None:
            begin = time.monotonic()
            try:
                value = self.fun(self.argument(trial))
            except self.catch as error:
                self.failed(trial, error, time.monotonic() - begin)
            except Exception as error:
                raise _noted(error, trial)
            else:
                self.told(trial, value, time.monotonic() - begin)

    def wait_for_next(self) -> Trial | None:
        """With nothing running here, an algorithm that waits does so for what others are running."""
        while (trial := self.next(1)) is None and self.left() > 0 and self.ending is _Ending.DONE:
            time.sleep(0.2)
        return trial

    def in_parallel(self, n_jobs: int, executor: str | Executor) -> None:
        from concurrent.futures import FIRST_COMPLETED, wait

        pool = _pool(n_jobs, executor) if isinstance(executor, str) else executor
        running: dict[Future[Any], Trial] = {}
        try:
            while True:
                while len(running) < n_jobs and (trial := self.next(n_jobs - len(running))) is not None:
                    running[pool.submit(_timed, self.fun, self.argument(trial))] = trial
                if not running:
                    trial = self.wait_for_next()
                    if trial is None:
                        return
                    running[pool.submit(_timed, self.fun, self.argument(trial))] = trial
                # A wait without end would not hear Ctrl-C everywhere.
                done, _ = wait(running, timeout=0.5, return_when=FIRST_COMPLETED)
                for future in sorted(done, key=lambda future: running[future].number):
                    self.finish(running.pop(future), future)
        finally:
            for future, trial in running.items():
                # What is there already has been paid for.
                if not _cancelled(future, pool) and future.done() and future.exception() is None:
                    value, seconds = future.result()
                    self.told(trial, value, seconds, quietly=True)
            if isinstance(executor, str):
                pool.shutdown(wait=False, cancel_futures=True)

    def finish(self, trial: Trial, future: Future[Any]) -> None:
        try:
            value, seconds = future.result()
        except self.catch as error:
            self.failed(trial, error, None)
        except Exception as error:
            raise _noted(error, trial)
        else:
            self.told(trial, value, seconds)

    def left(self) -> int:
        """How many evaluations may still be begun; others may work on the same study, and die at it."""
        for _ in range(2):
            counts = self.study.counts
            left = self.n_trials - counts["running"] - counts["complete"] - counts["failed"]
            if left > 0:
                break
            self.study._native.recover()
        return left

    def next(self, free: int) -> Trial | None:
        """The next trial to begin, with this many workers free; none if all are begun, or if the algorithm waits for results."""
        if time.monotonic() >= self.end:
            self.ending = _Ending.TIME_UP
            return None
        if not self.queue and (left := self.left()) > 0:
            n = None if self.batch_size is None else min(left, max(self.batch_size, free))
            try:
                asked = self.study.ask(n)
            except NothingLeft:
                running = self.study.counts["running"]
                if self.study._description["duplicates"] == "avoid" or not running:
                    self.ending = _Ending.NOTHING_LEFT
                return None  # where points may repeat, those that run will do so when they are told
            self.queue = asked[:left]
            self.study.release(*asked[left:])
        return self.queue.pop(0) if self.queue else None

    def argument(self, trial: Trial) -> Any:
        if self.study.pool is not None:
            return trial
        if self.study._space.is_box:
            return _point(list(trial.params.values()))
        return trial.params

    def told(self, trial: Trial, value: Any, seconds: float, quietly: bool = False) -> None:
        noise_var = None
        if isinstance(value, tuple) and len(value) == 2:
            value, noise_var = value
        if value is None:
            raise InvalidArgument("the function returned None: it must return a number, NaN for an evaluation that failed")
        self.study.tell(trial, value, noise_var, seconds=seconds)
        self.report(trial, quietly)

    def failed(self, trial: Trial, error: Exception, seconds: float | None) -> None:
        self.study.fail(trial, f"{type(error).__name__}: {error}", seconds=seconds)
        self.report(trial)

    def report(self, trial: Trial, quietly: bool = False) -> None:
        trial = self.study._trial(self.study._native.trial(trial.number))
        self.evaluated.append(trial)
        if self.bar is not None:
            self.bar.advance()
        if self.callback is None or quietly:
            return
        try:
            self.callback(self.result(success=False, message="running", trial=trial))
        except StopIteration as stop:
            raise _Stopped(str(stop)) from None

    def result(self, *, success: bool, message: str, trial: Trial | None = None) -> OptimizeResult:
        best, as_box = self.study.best_observed, self.study._space.is_box

        def point(params: dict[str, Any]) -> Any:
            return _point(list(params.values())) if as_box else params

        found = OptimizeResult(
            x=None if best is None else point(best.params),
            fun=math.nan if best is None else best.value,
            success=success and best is not None,
            message=message,
            nfev=len(self.evaluated),
            x_iters=[point(t.params) for t in sorted(self.evaluated, key=lambda t: t.number)],
            func_vals=_point([math.nan if t.value is None else t.value for t in sorted(self.evaluated, key=lambda t: t.number)]),
            recommended=None,
            study=self.study,
        )
        if trial is not None:
            found["trial"] = trial
        return found


def _timed(fun: Callable[[Any], Any], argument: Any) -> tuple[Any, float]:
    begin = time.monotonic()
    return fun(argument), time.monotonic() - begin


def _cancelled(future: Future[Any], executor: Executor) -> bool:
    # executorlib 1.11 can hang when it is closed, if a future was cancelled that it had not looked at.
    if type(executor).__module__.partition(".")[0] == "executorlib":
        return False
    try:
        return future.cancel()
    except NotImplementedError:  # by Parsl, whose tasks cannot be cancelled
        return False


def _noted(error: Exception, trial: Trial) -> Exception:
    """The same exception, which says where it happened."""
    if hasattr(error, "add_note"):  # Python 3.11 and later
        error.add_note(f"in trial {trial.number} of the study, at {trial.params!r}")
    return error


class _Bar:
    """A line on stderr that says how far the loop is."""

    WIDTH = 30

    def __init__(self, study: Study, done: int, total: int) -> None:
        self.study, self.done, self.total, self.begin = study, done, total, time.monotonic()
        self.first = done

    def advance(self) -> None:
        self.done += 1
        full = self.WIDTH * self.done // max(1, self.total)
        best = self.study.best_observed
        value = "" if best is None else f"  best {best.value:.6g}"
        rate = (time.monotonic() - self.begin) / (self.done - self.first)
        left = max(0, self.total - self.done) * rate
        print(
            f"\r{'#' * full:.<{self.WIDTH}} {self.done}/{self.total}{value}  {left:.0f} s left   ", end="", file=sys.stderr, flush=True
        )

    def close(self) -> None:
        if self.done > self.first:
            print(file=sys.stderr)


def _point(values: list[Any]) -> Any:
    try:
        import numpy as np
    except ImportError:
        return values
    return np.array(values, dtype=float)


def _jobs(n_jobs: int) -> int:
    if n_jobs == -1:
        import os

        return os.cpu_count() or 1
    if not hasattr(n_jobs, "__index__") or not 1 <= n_jobs <= 10_000:
        raise InvalidArgument(f"n_jobs must be from 1 to 10,000, or -1 for as many as there are processors, not {n_jobs!r}")
    return n_jobs


def _executor(executor: Any) -> str | Executor:
    if executor in ("thread", "process") or hasattr(executor, "submit"):
        return executor  # type: ignore[no-any-return]
    raise InvalidArgument(f'executor must be "thread", "process" or an Executor, not {executor!r}')


def _pool(n_jobs: int, executor: str) -> Executor:
    import concurrent.futures as futures

    if executor == "thread":
        return futures.ThreadPoolExecutor(n_jobs)
    import multiprocessing

    # Forking a process that has threads, as this one has, is asking for trouble.
    return futures.ProcessPoolExecutor(n_jobs, mp_context=multiprocessing.get_context("spawn"))

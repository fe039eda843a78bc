"""The whole loop in one call, for objectives that are Python functions."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Mapping, Sequence
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
    recommended: the point to use if values are noisy; see `Study.recommended`.
    success: whether the loop ran to its end. message: why it ended.
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
        return "\n".join(f"{name.rjust(width)}: {value!r}" for name, value in self.items())

    def __dir__(self) -> list[str]:
        return list(self)


def minimize(
    fun: Callable[[Any], float],
    space: Mapping[str, Parameter] | Pool | Sequence[tuple[float, float]] | Any,
    n_trials: int = 100,
    batch_size: int | None = 1,
    n_jobs: int = 1,
    algorithm: Algorithm = "auto",
    seed: int = 0,
    callback: Callable[[OptimizeResult], Any] | None = None,
    *,
    constraints: Constraint | Sequence[Constraint] | Mapping[str, Constraint] | None = None,
    executor: Literal["thread", "process"] | Executor = "thread",
    catch: type[Exception] | tuple[type[Exception], ...] = (),
    storage: str | None = None,
    name: str | None = None,
    direction: Literal["minimize", "maximize"] = "minimize",
    duplicates: Literal["avoid", "allow", "replicate"] = "avoid",
    progress: bool = False,
) -> OptimizeResult:
    """Minimizes a function that is expensive to evaluate.

    fun: takes a dict of parameters; an array (a list without NumPy) if `space` is given by bounds; a `Trial` if it is a pool. It returns a
        number, or a pair of a number and the variance of its noise. NaN is a failed evaluation.
    space: a dict of parameters, bounds as SciPy has them, or a `Pool`.
    n_trials: evaluations in all; what a study in a storage has already done counts.
    batch_size: how many evaluations are decided on together at least; `None` leaves it to the algorithm.
    n_jobs: how many evaluations run at the same time; -1 for as many as there are processors.
    algorithm, seed, constraints, storage, name, direction, duplicates: see `Study`.
    callback: called after each evaluation with the result so far (`intermediate_result.trial` is the newest trial); it may raise StopIteration
        to end the loop.
    executor: where parallel evaluations run: `"thread"`s, `"process"`es (`fun` must then be picklable), or an Executor of your own.
    catch: exceptions of `fun` that count as failed evaluations. Others end the loop, with nothing lost of what a storage has.

    progress: whether to show on stderr how far it is, and the best value.

    Ctrl-C ends the loop and returns what was found.

    >>> import noregret as nr
    >>> found = nr.minimize(lambda x: (x[0] - 3) ** 2 + x[1] ** 2, [(-5, 10), (-5, 5)], n_trials=25)
    >>> found.fun < 0.1
    True
    """
    if n_trials < 0:
        raise InvalidArgument(f"n_trials must not be negative, unlike {n_trials}")
    if batch_size is not None and batch_size < 1:
        raise InvalidArgument(f"batch_size must be at least 1, or None to leave it to the algorithm, not {batch_size}")
    if storage is not None and name is None:
        name = getattr(fun, "__name__", "minimize")
    study = Study(
        space, direction=direction, algorithm=algorithm, seed=seed, storage=storage, name=name, duplicates=duplicates, constraints=constraints
    )
    with study:
        loop = _Loop(study, fun, n_trials, batch_size, callback, catch, progress)
        return loop.run(_jobs(n_jobs), executor)


class _Stopped(Exception):
    """The loop ends before its time; the argument says why."""


class _Loop:
    """Keeps evaluations going."""

    def __init__(
        self,
        study: Study,
        fun: Callable[[Any], Any],
        n_trials: int,
        batch_size: int | None,
        callback: Callable[[OptimizeResult], Any] | None,
        catch: type[Exception] | tuple[type[Exception], ...],
        progress: bool,
    ) -> None:
        self.study, self.fun, self.batch_size, self.callback, self.catch = study, fun, batch_size, callback, catch
        done = sum(trial.state in ("complete", "failed") for trial in study.trials)
        self.left = max(0, n_trials - done)  # to ask for
        self.bar = _Bar(study, done, n_trials) if progress else None
        self.queue: list[Trial] = []  # asked for, not begun
        self.message = "all trials are done"

    def run(self, n_jobs: int, executor: Literal["thread", "process"] | Executor) -> OptimizeResult:
        success = True
        try:
            if n_jobs == 1 and isinstance(executor, str):
                self.one_by_one()
            else:
                self.in_parallel(n_jobs, executor)
        except _Stopped as stopped:
            self.message = str(stopped)
        except KeyboardInterrupt:
            success, self.message = False, "interrupted"
        finally:
            if self.bar is not None:
                self.bar.close()
        return result(self.study, success=success, message=self.message)

    def one_by_one(self) -> None:
        while (trial := self.next(1)) is not None:
            try:
                value = self.fun(self.argument(trial))
            except self.catch as error:
                self.failed(trial, error)
            except Exception as error:
                self.study.fail(trial, _reason(error))
                raise
            else:
                self.told(trial, value)

    def in_parallel(self, n_jobs: int, executor: Literal["thread", "process"] | Executor) -> None:
        from concurrent.futures import FIRST_COMPLETED, wait

        pool = _executor(n_jobs, executor)
        running: dict[Future[Any], Trial] = {}
        try:
            while self.left or self.queue or running:
                while len(running) < n_jobs and (trial := self.next(n_jobs - len(running))) is not None:
                    running[pool.submit(self.fun, self.argument(trial))] = trial
                # A wait without end would not hear Ctrl-C everywhere.
                done, _ = wait(running, timeout=0.5, return_when=FIRST_COMPLETED)
                for future in sorted(done, key=lambda future: running[future].number):
                    self.finish(running.pop(future), future)
        finally:
            for future in running:
                future.cancel()
            if isinstance(executor, str):
                pool.shutdown(wait=False, cancel_futures=True)

    def finish(self, trial: Trial, future: Future[Any]) -> None:
        try:
            value = future.result()
        except self.catch as error:
            self.failed(trial, error)
        except Exception as error:
            self.study.fail(trial, _reason(error))
            raise
        else:
            self.told(trial, value)

    def next(self, free: int) -> Trial | None:
        """The next trial to begin, with this many workers free; none if all are begun, or if the algorithm waits for results."""
        if self.left and not self.queue:
            n = None if self.batch_size is None else min(self.left, max(self.batch_size, free))
            try:
                asked = self.study.ask(n)
            except NothingLeft:
                self.left, self.message = 0, "nothing is left to try"
                return None
            self.queue = asked[: self.left]
            self.study.release(*asked[self.left :])
            self.left -= len(self.queue)
        return self.queue.pop(0) if self.queue else None

    def argument(self, trial: Trial) -> Any:
        if self.study.pool is not None:
            return trial
        if self.study._space.is_box:
            return _point(list(trial.params.values()))
        return trial.params

    def told(self, trial: Trial, value: Any) -> None:
        noise_var = None
        if isinstance(value, tuple):
            value, noise_var = value
        self.study.tell(trial, math.nan if value is None else value, noise_var)
        self.report(trial)

    def failed(self, trial: Trial, error: Exception) -> None:
        self.study.fail(trial, _reason(error))
        self.report(trial)

    def report(self, trial: Trial) -> None:
        if self.bar is not None:
            self.bar.advance()
        if self.callback is None:
            return
        try:
            self.callback(result(self.study, success=False, message="running", trial=self.study.trials[trial.number]))
        except StopIteration as stop:
            raise _Stopped(str(stop) or "stopped by the callback") from None


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


def result(study: Study, *, success: bool, message: str, trial: Trial | None = None) -> OptimizeResult:
    """A study as a result. The recommendation takes a model, and is left out while the study runs."""
    trials = study.trials
    evaluated = [t for t in trials if t.state in ("complete", "failed")]
    best = study.best_observed
    as_box = study._space.is_box

    def point(params: dict[str, Any]) -> Any:
        return _point(list(params.values())) if as_box else params

    found = OptimizeResult(
        x=None if best is None else point(best.params),
        fun=math.nan if best is None else best.value,
        success=success and best is not None,
        message=message,
        nfev=len(evaluated),
        x_iters=[point(t.params) for t in evaluated],
        func_vals=_point([math.nan if t.value is None else t.value for t in evaluated]),
        study=study,
    )
    if trial is not None:
        found["trial"] = trial
    else:
        found["recommended"] = study.recommended
    return found


def _point(values: list[Any]) -> Any:
    try:
        import numpy as np
    except ImportError:
        return values
    return np.array(values, dtype=float)


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _jobs(n_jobs: int) -> int:
    if n_jobs == -1:
        import os

        return os.cpu_count() or 1
    if n_jobs < 1:
        raise InvalidArgument(f"n_jobs must be at least 1, or -1 for as many as there are processors, not {n_jobs}")
    return n_jobs


def _executor(n_jobs: int, executor: Literal["thread", "process"] | Executor) -> Executor:
    import concurrent.futures as futures

    if isinstance(executor, futures.Executor):
        return executor
    if executor == "thread":
        return futures.ThreadPoolExecutor(n_jobs)
    if executor == "process":
        import multiprocessing

        # Forking a process that has threads, as this one has, is asking for trouble.
        return futures.ProcessPoolExecutor(n_jobs, mp_context=multiprocessing.get_context("spawn"))
    raise InvalidArgument(f'executor must be "thread", "process" or an Executor, not {executor!r}')

"""Parallel tasks in threads or processes; BLAS on one thread for small work."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from ctypes import c_ulong, py_object, pythonapi
from functools import lru_cache
from itertools import starmap
from math import inf
from threading import Lock, RLock, get_ident
from typing import Any, TypeVar, cast

Result = TypeVar("Result")
Team = Callable[[Callable[..., Any], Sequence[tuple[Any, ...]]], Any]

#: So few multiplications take less time than finding the libraries.
_SMALL = 3e7
#: With fewer rows, threads mostly wait for each other.
_FEW_ROWS = 10_000


#: Held while the filters of warnings are changed, which all threads share.
FILTERS = RLock()


@lru_cache(maxsize=1)
def _libraries() -> Any:
    """The BLAS libraries; finding them takes longer than a small solve."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


class _Shared:
    """A context that changes a state of the process, in whatever threads: the first of
    those that are open at once changes it, and the last sets it back.

    Ctrl-C while it does so leaves the state as it was.

    Attributes
    ----------
    change : callable() -> None
    remember : callable() -> callable() -> None
        Returns what sets back the present state, also if called twice.
    lock : lock
    """

    def __init__(
        self,
        change: Callable[[], Any],
        remember: Callable[[], Callable[[], Any]],
        lock: Any,
    ) -> None:
        self._change, self._remember, self._lock = change, remember, lock
        self._open = 0

    def __enter__(self) -> None:
        with self._lock:
            if self._open == 0:
                self._set_back = self._remember()
                try:
                    self._change()
                except BaseException:
                    self._set_back()
                    raise
            self._open += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._open -= 1
            if self._open == 0:
                try:
                    self._set_back()
                except BaseException:  # Ctrl-C before all is set back
                    self._set_back()
                    raise


def _blas_limits() -> Callable[[], Any]:
    return cast(
        Callable[[], Any], _libraries().limit(limits=None).restore_original_limits
    )


_ONE_BLAS_THREAD = _Shared(
    lambda: _libraries().limit(limits=1, user_api="blas"), _blas_limits, Lock()
)


def one_blas_thread(work: float = inf) -> AbstractContextManager[Any]:
    """A context in which BLAS runs on one thread: where another core is busy, threads
    mostly wait for each other.

    With few multiplications (`work`) it changes nothing, which saves a first fit the
    search for the libraries.
    """
    return nullcontext() if work < _SMALL else _ONE_BLAS_THREAD


def _openmp_limits() -> Callable[[], Any]:
    # scikit-learn may have loaded its library since the last time
    from threadpoolctl import threadpool_limits

    limits: Any = threadpool_limits(None)
    return cast(Callable[[], Any], limits.restore_original_limits)


def _one_openmp_thread() -> None:
    from threadpoolctl import threadpool_limits

    threadpool_limits(1, user_api="openmp")


_ONE_OPENMP_THREAD = _Shared(_one_openmp_thread, _openmp_limits, Lock())


def one_openmp_thread(n_rows: int) -> AbstractContextManager[Any]:
    """A context in which OpenMP loops run on one thread, where `n_rows` are too few to
    share.
    """
    return nullcontext() if n_rows > _FEW_ROWS else _ONE_OPENMP_THREAD


def _filters() -> Callable[[], Any]:
    kept = warnings.catch_warnings()
    kept.__enter__()
    return lambda: kept.__exit__(None, None, None)


#: A context without warnings.
SILENT = _Shared(lambda: warnings.simplefilter("ignore"), _filters, FILTERS)


def in_processes(
    task: Callable[..., Result],
    arguments: Iterable[tuple[Any, ...]],
    n_jobs: int | None = None,
) -> Iterator[Result]:
    """Yield task(*a) for all arguments, in order, up to `n_jobs` of them at once in
    processes of joblib; None for the number that `joblib.parallel_config` says.
    """
    if n_jobs == 1 or (n_jobs is None and "joblib" not in sys.modules):
        return starmap(task, arguments)
    from joblib import Parallel, delayed

    return cast(
        Iterator[Result],
        Parallel(n_jobs=n_jobs, return_as="generator")(
            delayed(task)(*a) for a in arguments
        ),
    )


def in_threads(
    task: Callable[..., Result], arguments: Sequence[tuple[Any, ...]], n_jobs: int
) -> list[Result]:
    """[task(*a) for a in arguments], up to `n_jobs` of them at once; -1 for one for
    each processor.

    The compiled sweeps and BLAS leave Python's lock, and memory is shared. BLAS has one
    thread in each, whatever `n_jobs` is: sums by more threads round in another order.
    Ctrl-C, or an error of one task, ends the others too.
    """
    with one_blas_thread():
        if n_jobs == 1:
            return [task(*a) for a in arguments]
        from concurrent.futures import ThreadPoolExecutor

        from joblib import effective_n_jobs

        running: set[int] = set()

        def run(given: tuple[Any, ...]) -> Result:
            running.add(get_ident())
            try:
                return task(*given)
            finally:
                running.discard(get_ident())

        with ThreadPoolExecutor(effective_n_jobs(n_jobs)) as pool:
            futures = []
            try:
                for given in arguments:
                    futures.append(pool.submit(run, given))
                return [future.result() for future in futures]
            finally:
                for future in futures:
                    future.cancel()  # changes nothing if all are done
                for thread in tuple(running):
                    pythonapi.PyThreadState_SetAsyncExc(
                        c_ulong(thread), py_object(KeyboardInterrupt)
                    )


@contextmanager
def team_of(n_jobs: int) -> Iterator[Team | None]:
    """Threads that stay, for tasks of a few milliseconds that leave Python's lock; None
    if there is only one.

    `n_jobs` of -1 gives one for each processor. `team(task, arguments)` runs task(*a)
    for all of them and returns when all have ended. After Ctrl-C a task may still run:
    its memory must belong to its arguments.
    """
    from joblib import effective_n_jobs

    threads = effective_n_jobs(n_jobs)
    if threads == 1:
        yield None
        return
    from concurrent.futures import ThreadPoolExecutor, wait

    with ThreadPoolExecutor(threads) as pool:

        def run(
            task: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]
        ) -> list[Any]:
            futures = [pool.submit(task, *given) for given in arguments]
            wait(futures)
            return [future.result() for future in futures]

        yield run

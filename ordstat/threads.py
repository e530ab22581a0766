"""Threads: tasks side by side, and BLAS on one thread where its work is small."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import lru_cache
from math import inf
from typing import Any, TypeVar

Result = TypeVar("Result")
Team = Callable[[Callable[..., Any], Sequence[tuple[Any, ...]]], Any]

#: So few multiplications take less time than finding the libraries.
_SMALL = 3e7
#: With fewer rows, threads mostly wait for each other.
_FEW_ROWS = 10_000


@lru_cache(maxsize=1)
def _libraries() -> Any:
    """The BLAS libraries; finding them takes longer than a small solve."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def one_blas_thread(work: float = inf) -> AbstractContextManager[Any]:
    """A context in which BLAS runs on one thread: where another core is busy, threads mostly wait for each other.

    With few multiplications (`work`) to come it changes nothing, to spare a first fit the look for the libraries.
    """
    if work < _SMALL:
        return nullcontext()
    limits: AbstractContextManager[Any] = _libraries().limit(limits=1, user_api="blas")
    return limits


def one_openmp_thread(n_rows: int) -> AbstractContextManager[Any]:
    """A context in which OpenMP loops run on one thread, where `n_rows` are too few to share."""
    if n_rows > _FEW_ROWS:
        return nullcontext()
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[Any] = threadpool_limits(1, user_api="openmp")
    return limits


def in_threads(task: Callable[..., Result], arguments: Sequence[tuple[Any, ...]], n_jobs: int) -> list[Result]:
    """[task(*a) for a in arguments], up to `n_jobs` of them at once; -1 for one a processor.

    The compiled sweeps and BLAS leave Python's lock, and memory is shared. BLAS has one thread in each, whatever
    `n_jobs` is: sums by more threads round in another order.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, user_api="blas"):
        if n_jobs == 1:
            return [task(*a) for a in arguments]
        from joblib import Parallel, delayed

        results: list[Result] = Parallel(n_jobs=n_jobs, require="sharedmem")(delayed(task)(*a) for a in arguments)
        return results


@contextmanager
def team_of(n_jobs: int) -> Iterator[Team | None]:
    """Threads that stay, for tasks of a few milliseconds that leave Python's lock; None if there is only one.

    `n_jobs` of -1 gives one for each processor. `team(task, arguments)` runs task(*a) for all of them.
    """
    from joblib import effective_n_jobs

    threads = effective_n_jobs(n_jobs)
    if threads == 1:
        yield None
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(threads) as pool:
        yield lambda task, arguments: list(pool.map(lambda given: task(*given), arguments))

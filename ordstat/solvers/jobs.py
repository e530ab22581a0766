"""Tasks side by side in threads: the compiled sweeps and BLAS leave Python's lock, and memory is shared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

Result = TypeVar("Result")


def in_threads(task: Callable[..., Result], arguments: Sequence[tuple[Any, ...]], n_jobs: int) -> list[Result]:
    """[task(*a) for a in arguments], up to `n_jobs` of them at once; -1 for one a processor.

    BLAS has one thread in each, whatever `n_jobs` is: sums by more threads round in another order.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, user_api="blas"):
        if n_jobs == 1:
            return [task(*a) for a in arguments]
        from joblib import Parallel, delayed

        found: list[Result] = Parallel(n_jobs=n_jobs, require="sharedmem")(delayed(task)(*a) for a in arguments)
        return found

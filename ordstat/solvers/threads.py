"""Threads of libraries: chunks that stay in cache are too small to share among cores."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

#: Multiplications below which limiting the threads costs more than it saves.
_SMALL = 3e7
#: Rows that threads would wait for each other over, more than work on.
_FEW_ROWS = 10_000


def one_blas_thread(work: float) -> AbstractContextManager[Any]:
    """A context in which BLAS runs on one thread, where about `work` multiplications are to come."""
    if work < _SMALL:
        return nullcontext()
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[Any] = threadpool_limits(1, user_api="blas")
    return limits


def one_openmp_thread(n_rows: int) -> AbstractContextManager[Any]:
    """A context in which OpenMP loops run on one thread, where `n_rows` are too few to share."""
    if n_rows > _FEW_ROWS:
        return nullcontext()
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[Any] = threadpool_limits(1, user_api="openmp")
    return limits

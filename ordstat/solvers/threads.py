"""BLAS threads: chunks that stay in cache are too small to share among cores."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

#: Multiplications below which limiting the threads costs more than it saves.
_SMALL = 3e7


def one_blas_thread(work: float) -> AbstractContextManager[Any]:
    """A context in which BLAS runs on one thread, where about `work` multiplications are to come."""
    if work < _SMALL:
        return nullcontext()
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[Any] = threadpool_limits(1, user_api="blas")
    return limits

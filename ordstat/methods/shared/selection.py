"""The options of a choice of C and of a kernel's gamma by cross-validation, and what is said of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any

import numpy as np

from ..._typing import Progress
from ...checks import number
from ...exceptions import OptionError
from ...model.kernels.named import Kernel, parse_kernel
from ...model.sample import Sample
from ...solvers.cross_validation import GRID
from ..base import Method


def kernel_of(value: Any, scaling: str | None) -> Kernel:
    """The kernel meant; OptionError where its columns cannot be scaled as asked."""
    kernel = parse_kernel(value)
    if scaling is not None and not kernel.scalable:
        raise OptionError(
            f"the columns of X are not coordinates under kernel={kernel.name!r}: set scaling=None "
            f"(got scaling={scaling!r})."
        )
    return kernel


def settled_C(method: Method, C: Any, *, hard: bool = False) -> float | str | tuple[float, ...]:
    """C as one number, "cv", or growing values to choose from; OptionError for anything else."""
    if isinstance(C, str) and C == "cv":
        return "cv"
    if hard and isinstance(C, (float, np.floating)) and np.isposinf(C):
        return float("inf")
    if isinstance(C, (tuple, list, np.ndarray)) and np.size(C) > 0:
        return tuple(sorted({number("each C", value, above=0.0, of=method) for value in C}))
    also = f", several of them{', inf' if hard else ''} or 'cv'"
    return number("C", C, also=also, above=0.0, of=method)


def grid(C: float | str | Sequence[float]) -> tuple[float, ...]:
    """The values of a settled C that are tried."""
    if isinstance(C, str):
        return tuple(GRID.tolist())
    return (float(C),) if isinstance(C, (int, float)) else tuple(C)


def selects(C: float | str | Sequence[float], kernel: Kernel) -> bool:
    """Whether a settled C, or the kernel's gamma, is left to cross-validation."""
    return isinstance(C, (str, tuple)) or bool(kernel.widths)


def check_clusters(method: Method, sample: Sample, selects: bool) -> None:
    """OptionError for clusters where no cross-validation has a use for them."""
    if sample.cluster is not None and not selects:
        raise OptionError(
            f"{type(method).__name__} uses cluster= only to keep the rows of a cluster in one fold of C='cv': remove "
            "it, or set C='cv'."
        )


def settled_facts(
    C: float | str | Sequence[float], best_C: float, kernel: Kernel, best_kernel: Kernel, folds: int, n_columns: int
) -> tuple[tuple[str, Any], ...]:
    """Kernel and C as settled, saying which were chosen."""
    how = f", chosen by {folds}-fold cross-validation"
    return (
        ("Kernel", repr(best_kernel.settled(n_columns)) + (f", gamma{how.removeprefix(',')}" if kernel.widths else "")),
        ("C", "inf, a hard margin" if np.isinf(best_C) else f"{best_C:g}{'' if isinstance(C, (int, float)) else how}"),
    )


def ticking(progress: Progress | None, total: int) -> Callable[[str], None]:
    """Reports one step more to `progress` at each call, from any thread."""
    steps, lock = iter(range(1, total + 1)), Lock()

    def tick(message: str) -> None:
        if progress is not None:
            with lock:
                progress(next(steps), total, message)

    return tick

"""Options of support vector methods, and the choice of C and of the kernel's gamma by
cross-validation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np

from .._typing import FloatArray, IntArray, Progress
from ..checks import fraction, number, ticking, whole
from ..exceptions import OptionError
from ..fit import Selection
from ..formula.sample import Sample
from ..formula.scaling import SCALED
from ..judging.costs import CostField
from ..judging.folds import copies_kept_together, stratified_folds
from ..kernels import GRAM_BYTES, Kernel, Linear, parse_kernel
from ..method import Method, cost_option, jobs_option, option, scaling_option
from .cross_validation import GRID, Judge, SelectionPlan, select

T = TypeVar("T")

# Relative duality gap for comparing values of C.
_SELECTION_TOL = 1e-3


def check_scaling_of_kernel(method: Any) -> None:
    """Raise OptionError if the scaling is not None with kernel="precomputed"."""
    if method.scaling is not None and method.pairwise:
        raise OptionError(
            f"scaling must be None with kernel={method.similarity.name!r}, which has"
            f" no columns; got {method.scaling!r}."
        )


#: Beyond it multipliers overflow in products; a hard margin is C=inf.
_MOST_C = 1e100


def _checked_C(name: str, C: Any, of: Any) -> float | str | tuple[float, ...]:
    """C as a number, "cv", or increasing values to choose from."""
    if isinstance(C, str) and C == "cv":
        return C
    if of.hard and isinstance(C, (float, np.floating)) and np.isposinf(C):
        return float("inf")
    if isinstance(C, (tuple, list, np.ndarray)) and np.size(C) > 0:
        values = {
            number("each C", value, above=0.0, most=_MOST_C, of=of) for value in C
        }
        return tuple(sorted(values))
    more = ", inf" if of.hard else ""
    return number(
        name, C, above=0.0, most=_MOST_C, of=of, also=f", several of them{more} or 'cv'"
    )


def _folds(
    rows: Sample, copies: IntArray | None, folds: int, rng: np.random.Generator
) -> IntArray:
    """(N,) code of the fold of each row; rows of one code in `copies` stay together."""
    y, n_levels = rows.y, rows.n_levels
    if copies is None or copies.max() + 1 < folds:
        return stratified_folds(y, n_levels, folds, rng, rows.cluster)
    first = np.unique(copies, return_index=True)[1]
    return stratified_folds(y[first], n_levels, folds, rng)[copies]


@dataclass(frozen=True, kw_only=True, repr=False)
class MachineOptions(Method):
    """Options of methods that solve support vector machines.

    Parameters
    ----------
    C : float, sequence of floats or "cv"
        Cost of a violated margin, > 0 and at most 1e100 (kappa in the papers). Among
        several values, or "cv" for 2^-17, 2^-15, ..., 2^3, cross-validation chooses the
        one with the smallest cost; ties go to the smaller. The default of 1 is rarely
        the best value and often predicts worse than method="logit": take C="cv" to
        predict.
    kernel : str, Kernel or callable
        "perceptron" -|x - x'|_2, "stump" -|x - x'|_1, "gaussian", "laplacian",
        "polynomial", "linear" or "precomputed"; a value such as Gaussian(gamma=0.5); or
        a function of (X, Z). If gamma is "cv" (for 2^-15, 2^-13, ..., 2^3) or a
        sequence of values, it is chosen together with C.
    cost : str or (K, K) array
        "absolute", "classification", "squared", or a matrix [true level, predicted
        level]. Costs given for single rows replace it.
    scaling : {"range", "standard", None}
        Scale columns to [-1, 1] on the training rows, to mean 0 and standard deviation
        1, or not at all.
    tol : float
        Relative duality gap of each machine, in (0, 1); at least 0.001 within a
        cross-validation.
    folds : int
        Number of folds of the cross-validation, at least 2. Rows with the same columns
        and level stay in one fold if columns distinguish nearly all rows and most occur
        several times.
    n_jobs : int
        Number of threads; -1 for one per processor. The result does not depend on it.

    Raises
    ------
    OptionError
        An option has a value outside its range.
    """

    C: float | str | Sequence[float] = option(1.0, _checked_C)
    kernel: str | Kernel | Callable[[FloatArray, FloatArray], Any] = "perceptron"
    cost: CostField = cost_option()
    scaling: str | None = scaling_option()
    tol: float = option(1e-3, fraction)
    folds: int = option(5, whole, 2)
    n_jobs: int = jobs_option()

    #: Whether C = inf is allowed.
    hard: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_scaling_of_kernel(self)

    def memory(self, sample: Sample) -> float:
        """Bytes of the kernel matrix and the solvers' copy of it, in addition to costs
        and answers; a linear kernel has no matrix.
        """
        cells = super().memory(sample)
        if isinstance(self.similarity, Linear):
            return cells
        anchors = getattr(self, "landmarks", None) or sample.n
        return cells + GRAM_BYTES * sample.n * min(anchors, sample.n)

    @property
    def similarity(self) -> Kernel:
        """The kernel."""
        return parse_kernel(self.kernel)

    @property
    def pairwise(self) -> bool:
        """Whether X is a kernel matrix."""
        return self.similarity.pairwise

    @property
    def takes_sparse(self) -> bool:
        return self.similarity.linear

    @property
    def sparse_instead(self) -> str:
        return ", or give kernel='linear' with the hinge loss"

    @property
    def selects(self) -> bool:
        """Whether C or the kernel's gamma is chosen by cross-validation."""
        return (
            isinstance(self.C, tuple) or self.C == "cv" or bool(self.similarity.gammas)
        )

    @property
    def grid(self) -> tuple[float, ...]:
        """The values of C to try, or the given one."""
        if isinstance(self.C, str):
            return tuple(GRID.tolist())
        if isinstance(self.C, (int, float)):
            return (float(self.C),)
        return tuple(self.C)

    def choose(
        self,
        candidates: Iterable[tuple[float | None, T]],
        judge: Judge[T],
        steps: int,
        sample: Sample,
        costs: FloatArray,
        rng: np.random.Generator,
        progress: Progress | None,
    ) -> Selection:
        """Choose among candidates, one for each gamma; rows of weight 0 are in no fold.

        Parameters
        ----------
        candidates : iterable of (gamma, candidate)
            gamma is None if it is not chosen.
        judge : Judge
        steps : int
            Number of progress reports in each fold.
        sample : Sample
        costs : (N, K) price of every prediction
        rng : numpy.random.Generator
        progress : callable(step, total, message), optional
        """
        used = np.flatnonzero(sample.case_weights > 0)
        fold = np.full(sample.n, -1, dtype=np.intp)
        rows = sample.take(used)
        copies = None
        if rows.cluster is None and not self.pairwise:
            copies = copies_kept_together(rows.X, rows.y, rows.case_weights)
        fold[used] = _folds(rows, copies, self.folds, rng)
        plan = SelectionPlan(
            C=self.grid, tol=max(self.tol, _SELECTION_TOL), n_jobs=self.n_jobs
        )
        n_gammas = max(len(self.similarity.gammas), 1)
        tick = ticking(progress, self.folds * steps * n_gammas)
        return select(
            candidates, fold, judge, plan, costs, sample.case_weights, rng, tick
        )

    def settled_facts(
        self, selection: Selection | None, n_columns: int
    ) -> tuple[tuple[str, Any], ...]:
        """Header lines for kernel, C and scaling, which say what was chosen."""
        kernel = self.similarity
        C = self.grid[0]
        gamma_chosen = ""
        C_chosen = ""
        if selection is not None:
            C = selection.best_C
            if kernel.gammas:
                kernel = kernel.at(selection.best_gamma)
                gamma_chosen = f", gamma chosen by {selection.how}"
            if not isinstance(self.C, (int, float)):
                C_chosen = f", chosen by {selection.how}"
        shown = "inf, a hard margin" if np.isinf(C) else f"{C:g}{C_chosen}"
        return (
            ("Kernel", f"{kernel.settled(n_columns)!r}{gamma_chosen}"),
            ("C", shown),
            ("Columns scaled", SCALED[self.scaling]),
        )

"""Options of methods whose C and kernel may be chosen by cross-validation, and the choice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, ClassVar, TypeVar

import numpy as np

from .._typing import FloatArray, Progress
from ..checks import fraction, number, one_of, whole
from ..exceptions import OptionError
from ..fit import Selection
from ..formula.sample import SCALED, SCALINGS, Sample
from ..method import cost_option, jobs_option, option
from ..svm.cross_validation import GRID, Judge, Plan, select
from ..svm.kernels import Kernel, parse_kernel
from .costs import CostField
from .evaluation import stratified_folds

T = TypeVar("T")

# A relative duality gap that is small enough to compare values of C.
_SELECTION_TOL = 1e-3


def scaling_of_kernel(name: str, value: Any, of: Any) -> None:
    """OptionError where columns cannot be scaled as asked: there is no such scaling, or the kernel has no columns."""
    one_of(name, value, SCALINGS, of=of)
    if value is not None and of.pairwise:
        raise OptionError(
            f"scaling must be None with kernel={of.similarity.name!r}, whose columns are no coordinates; got {value!r}."
        )


def _checked_C(name: str, C: Any, of: Any) -> float | str | tuple[float, ...]:
    """C as one number, "cv", or growing values to choose from."""
    if isinstance(C, str) and C == "cv":
        return C
    if of.hard and isinstance(C, (float, np.floating)) and np.isposinf(C):
        return float("inf")
    if isinstance(C, (tuple, list, np.ndarray)) and np.size(C) > 0:
        return tuple(sorted({number("each C", value, above=0.0, of=of) for value in C}))
    more = ", inf" if of.hard else ""
    return number(name, C, above=0.0, of=of, also=f", several of them{more} or 'cv'")


@dataclass(frozen=True, kw_only=True, repr=False)
class CrossValidated:
    """Options of the methods that solve support vector machines, one kernel matrix serving all of them.

    Parameters
    ----------
    C : float, sequence of floats or "cv"
        Price of a violated margin, > 0 (kappa in the papers). Several values, or "cv" for 2^-17, 2^-15, ..., 2^3,
        leave the choice to cross-validation of the method's own cost, ties to the smaller.
    kernel : str, Kernel or callable
        "perceptron" -|x - x'|_2, "stump" -|x - x'|_1, "gaussian", "laplacian", "polynomial", "linear",
        "precomputed"; a value such as Gaussian(gamma=0.5), where gamma="cv" for 2^-15, 2^-13, ..., 2^3, or a sequence
        of values, is chosen together with C; or a function of (X, Z).
    cost : str or (K, K) array
        "absolute", "classification", "squared", or a matrix [true rank, predicted rank]; a row's own costs in the
        sample take its place.
    scaling : {"range", "standard", None}
        Columns to [-1, 1] on the training rows, to mean 0 and standard deviation 1, or as they are.
    tol : float
        Relative duality gap of every machine, in (0, 1); 0.001 is enough within a cross-validation.
    folds : int
        Number of folds of the cross-validation, at least 2.
    n_jobs : int
        Folds at work at once, as threads that share the kernel matrix; -1 for one a processor. The result does not
        depend on it.

    Raises
    ------
    OptionError
        An option has a value outside its range.
    """

    C: float | str | Sequence[float] = option(1.0, _checked_C)
    kernel: str | Kernel | Callable[[FloatArray, FloatArray], Any] = "perceptron"
    cost: CostField = cost_option()
    scaling: str | None = option("range", scaling_of_kernel)
    tol: float = option(1e-3, fraction)
    folds: int = option(5, whole, 2)
    n_jobs: int = jobs_option()

    #: Whether C = inf is allowed.
    hard: ClassVar[bool] = False

    @property
    def similarity(self) -> Kernel:
        """The kernel meant."""
        return parse_kernel(self.kernel)

    @property
    def pairwise(self) -> bool:
        """Whether the columns of X are values of the kernel at the training rows."""
        return self.similarity.pairwise

    @property
    def selects(self) -> bool:
        """Whether C or the kernel's gamma is chosen by cross-validation."""
        return isinstance(self.C, tuple) or self.C == "cv" or bool(self.similarity.gammas)

    @property
    def grid(self) -> tuple[float, ...]:
        """The values of C that are tried, or the one that is given."""
        if isinstance(self.C, str):
            return tuple(GRID.tolist())
        return (float(self.C),) if isinstance(self.C, (int, float)) else tuple(self.C)

    def choose(
        self,
        candidates: Iterable[tuple[float | None, T]],
        judge: Callable[[Plan], Judge[T]],
        steps: int,
        sample: Sample,
        rng: np.random.Generator,
        progress: Progress | None,
    ) -> Selection:
        """The choice among candidates, one for each gamma; rows of weight 0 are in no fold.

        Parameters
        ----------
        candidates : iterable of (gamma, candidate)
            gamma None where there is no choice of it.
        judge : callable(plan) -> Judge
        steps : int
            How often it reports progress, for each fold.
        sample : Sample
        rng : numpy.random.Generator
        progress : callable(step, total, message), optional
        """
        used = np.flatnonzero(sample.case_weights > 0)
        cluster = None if sample.cluster is None else sample.cluster[used]
        fold = np.full(sample.n, -1, dtype=np.intp)
        fold[used] = stratified_folds(sample.y[used], sample.n_levels, self.folds, rng, cluster)
        plan = Plan(C=self.grid, tol=max(self.tol, _SELECTION_TOL), n_jobs=self.n_jobs)
        tick = ticking(progress, self.folds * steps * max(len(self.similarity.gammas), 1))
        return select(candidates, fold, judge(plan), plan, rng, tick)

    def settled_facts(self, selection: Selection | None, n_columns: int) -> tuple[tuple[str, Any], ...]:
        """Kernel, C and scaling as settled, saying which were chosen."""
        how, kernel = "" if selection is None else f"chosen by {selection.how}", self.similarity
        C = self.grid[0] if selection is None else selection.best_C
        best = kernel if selection is None or not kernel.gammas else kernel.at(selection.best_gamma)
        chosen_C = "" if isinstance(self.C, (int, float)) else f", {how}"
        return (
            ("Kernel", repr(best.settled(n_columns)) + (f", gamma {how}" if kernel.gammas else "")),
            ("C", "inf, a hard margin" if np.isinf(C) else f"{C:g}{chosen_C}"),
            ("Columns scaled", SCALED[self.scaling]),
        )


def ticking(progress: Progress | None, total: int) -> Callable[..., None]:
    """Reports one step more, or as many as are given, to `progress` at each call, from any thread."""
    done, lock = 0, Lock()

    def tick(message: str, steps: int = 1) -> None:
        nonlocal done
        if progress is not None:
            with lock:
                done += steps
                progress(done, total, message)

    return tick

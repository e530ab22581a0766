"""Methods whose C, and whose kernel's gamma, cross-validation may choose: their options, and the choice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, ClassVar, TypeVar

import numpy as np

from ..._typing import FloatArray, Progress
from ...checks import fraction, jobs, number, one_of, whole
from ...exceptions import OptionError
from ...model.costs import CostField, CostMatrix
from ...model.fit import Selection
from ...model.folds import stratified_folds
from ...model.kernels.named import Kernel, parse_kernel
from ...model.sample import Sample
from ...model.scaling import SCALED, SCALINGS
from ...solvers.cross_validation import GRID, Judge, Plan, select
from ..base import Method

T = TypeVar("T")

# A relative duality gap that is small enough to compare values of C.
_SELECTION_TOL = 1e-3


class KernelOption:
    """A method with a field `kernel`, as a user gives it."""

    kernel: str | Kernel | Callable[[FloatArray, FloatArray], Any]

    @property
    def similarity(self) -> Kernel:
        """The kernel meant."""
        return parse_kernel(self.kernel)

    @property
    def pairwise(self) -> bool:
        """Whether the columns of X are values of the kernel at the training rows."""
        return self.similarity.pairwise

    def check_scaling(self, scaling: str | None) -> None:
        """OptionError where the columns cannot be scaled as asked."""
        if scaling is not None and self.pairwise:
            raise OptionError(
                f"scaling must be None with kernel={self.similarity.name!r}, whose columns are no coordinates; got "
                f"{scaling!r}."
            )


@dataclass(frozen=True, kw_only=True, repr=False)
class CrossValidated(KernelOption, Method):
    """Base of the methods that solve support vector machines, one kernel matrix serving all of them.

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
        A value outside these.
    """

    C: float | str | Sequence[float] = 1.0
    kernel: str | Kernel | Callable[[FloatArray, FloatArray], Any] = "perceptron"
    cost: CostField = "absolute"
    scaling: str | None = "range"
    tol: float = 1e-3
    folds: int = 5
    n_jobs: int = 1

    #: Whether C = inf is allowed.
    hard: ClassVar[bool] = False
    #: Whether C = "bound" is allowed.
    bounded: ClassVar[bool] = False

    def __post_init__(self) -> None:
        self._settle(
            C=self._settled_C(),
            tol=fraction("tol", self.tol, of=self),
            cost=CostMatrix.parse(self.cost).value,
            folds=whole("folds", self.folds, 2, of=self),
            n_jobs=jobs(self.n_jobs, of=self),
        )
        one_of("scaling", self.scaling, SCALINGS, of=self)
        self.check_scaling(self.scaling)

    def _settled_C(self) -> float | str | tuple[float, ...]:
        """C as one number, "cv", or growing values to choose from."""
        C: Any = self.C
        if isinstance(C, str) and C in ("cv", *(("bound",) if self.bounded else ())):
            return C
        if self.hard and isinstance(C, (float, np.floating)) and np.isposinf(C):
            return float("inf")
        if isinstance(C, (tuple, list, np.ndarray)) and np.size(C) > 0:
            return tuple(sorted({number("each C", value, above=0.0, of=self) for value in C}))
        return number("C", C, above=0.0, of=self, also=self._other_C())

    def _other_C(self) -> str:
        """Words for what C may be beside one number."""
        more = (", inf" if self.hard else "") + (", 'bound'" if self.bounded else "")
        return f", several of them{more} or 'cv'"

    @property
    def selects(self) -> bool:
        """Whether C or the kernel's gamma is chosen by cross-validation."""
        return isinstance(self.C, tuple) or self.C == "cv" or bool(self.similarity.gammas)

    @property
    def by_bound(self) -> bool:
        """Whether a bound of the expected cost chooses C."""
        return isinstance(self.C, str) and self.C == "bound"

    @property
    def grid(self) -> tuple[float, ...]:
        """The values of C that are tried, or the one that is given."""
        if isinstance(self.C, str):
            return tuple(GRID.tolist())
        return (float(self.C),) if isinstance(self.C, (int, float)) else tuple(self.C)

    def check(self, sample: Sample) -> None:
        """Raise where the sample holds something this method does not support."""
        super().check(sample)
        if sample.cluster is not None and not self.selects:
            raise OptionError(
                f"{type(self).__name__} uses cluster= only to keep the rows of a cluster in one fold of C='cv'; remove "
                "it, or set C='cv'."
            )

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
        tick = _ticking(progress, self.folds * steps * max(len(self.similarity.gammas), 1))
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


def _ticking(progress: Progress | None, total: int) -> Callable[[str], None]:
    """Reports one step more to `progress` at each call, from any thread."""
    steps, lock = iter(range(1, total + 1)), Lock()

    def tick(message: str) -> None:
        if progress is not None:
            with lock:
                progress(next(steps), total, message)

    return tick

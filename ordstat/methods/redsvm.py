"""RED-SVM: ordinal ranking reduced to one weighted support vector machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np

from .._typing import FloatArray, IntArray, Progress
from ..exceptions import DataError, OptionError
from ..model.costs import CostField, CostMatrix, is_convex, require_v_shaped, sample_costs
from ..model.fit import Certificate, Fit, Geometry, MarginFit, Selection, Trace
from ..model.folds import stratified_folds
from ..model.gram import require_definite, require_finite, require_symmetric
from ..model.kernels import Kernel, parse_kernel
from ..model.potentials import KernelExpansion
from ..model.reduction import extend
from ..model.rules import ThresholdRule
from ..model.sample import Sample
from ..model.scaling import SCALINGS, Scaling, fit_scaling
from ..results.margin import MarginResults
from ..solvers.automatic import SOLVERS
from ..solvers.extended_dual import DualSolution, Outcome, centred
from ..solvers.selection import GRID, Candidate, select
from .base import Method, Needs

# A relative duality gap that is small enough to compare values of C.
_SELECTION_TOL = 1e-3
# Coefficients below this share of a row's largest possible one are sums of rounding.
_NO_SUPPORT = 1e-12


def _number(name: str, value: Any, *, below: float = np.inf) -> float:
    ok = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if not ok or not 0.0 < value < below:
        bound = "a positive, finite number" if np.isinf(below) else f"a number between 0 and {below:g}"
        extra = " or 'cv'" if name == "C" else ""
        raise OptionError(f"{name} of REDSVM must be {bound}{extra}; got {value!r}.")
    return float(value)


def _one_of(name: str, value: Any, allowed: Any) -> None:
    if not isinstance(value, (str, type(None))) or value not in allowed:
        names = ", ".join(repr(a) for a in allowed)
        raise OptionError(f"{name} of REDSVM must be one of {names}; got {value!r}.")


@dataclass(frozen=True, kw_only=True, repr=False)
class REDSVM(Method):
    """Support vector ordinal ranking by reduction to binary classification [Lin 2008, eq. 4.8; Li & Lin 2007].

    Minimises 1/2 |v|^2 + |theta|^2 / (2 gamma^2) + C sum_nk W_nk [1 - Y_nk (<v, phi(x_n)> + b - theta_k)]_+ with
    Y_nk = +1 where y_n > k, else -1, and W_nk = |c_n[k+1] - c_n[k]|, c_n the costs of row n times its case weight.
    Convex costs order the thresholds by themselves; under costs that are only V-shaped theta_1 <= ... <= theta_{K-1}
    is a constraint.

    Parameters
    ----------
    C : float or "cv"
        Price of a violated margin, > 0 (kappa in the papers). "cv" chooses among 2^-17, 2^-15, ..., 2^3 by
        cross-validation of the fit's own cost, ties to the smaller.
    kernel : str, Kernel or callable
        "perceptron" -|x - x'|_2, "stump" -|x - x'|_1, "gaussian", "laplacian", "polynomial", "linear",
        "precomputed"; a value such as Gaussian(gamma=0.5); or a function of (X, Z).
    cost : str or (K, K) array
        "absolute", "classification", "squared", or a matrix [true rank, predicted rank]; a row's own costs in the
        sample take its place.
    gamma : float
        Scale of the thresholds' penalty, > 0; large values leave theta nearly free.
    scaling : {"range", "standard", None}
        Columns to [-1, 1] on the training rows, to mean 0 and deviation 1, or as they are.
    solver : {"auto", "coordinate", "interior-point", "cvxpy"}
    tol : float
        Relative duality gap to reach, in (0, 1).
    folds : int
        Folds of C="cv", at least 2.

    Raises
    ------
    OptionError
        A value outside these.

    Examples
    --------
    >>> REDSVM(C=10)
    REDSVM(C=10.0)
    """

    C: float | str = 1.0
    kernel: str | Kernel | Callable[[FloatArray, FloatArray], Any] = "perceptron"
    cost: CostField = "absolute"
    gamma: float = 1.0
    scaling: str | None = "range"
    solver: str = "auto"
    tol: float = 1e-3
    folds: int = 5

    needs: ClassVar[Needs] = Needs(row_costs=True, cluster=True)
    results_class: ClassVar[type[Any]] = MarginResults

    def __post_init__(self) -> None:
        settled = {
            "C": self.C if isinstance(self.C, str) and self.C == "cv" else _number("C", self.C),
            "gamma": _number("gamma", self.gamma),
            "tol": _number("tol", self.tol, below=1.0),
            "cost": CostMatrix.parse(self.cost).value,
        }
        for name, value in settled.items():
            object.__setattr__(self, name, value)
        _one_of("scaling", self.scaling, SCALINGS)
        _one_of("solver", self.solver, SOLVERS)
        if isinstance(self.folds, bool) or not isinstance(self.folds, (int, np.integer)) or self.folds < 2:
            raise OptionError(f"folds of REDSVM must be an integer of 2 or more; got {self.folds!r}.")
        object.__setattr__(self, "folds", int(self.folds))
        kernel = parse_kernel(self.kernel)
        if self.scaling is not None and not kernel.scalable:
            raise OptionError(
                f"the columns of X are not coordinates under kernel={kernel.name!r}: set scaling=None "
                f"(got scaling={self.scaling!r})."
            )

    @property
    def selects(self) -> bool:
        """Whether C is chosen by cross-validation."""
        return self.C == "cv"

    def check(self, sample: Sample) -> None:
        """Raise where the sample holds something this method has no use for."""
        super().check(sample)
        if sample.cluster is not None and not self.selects:
            raise OptionError(
                "REDSVM uses cluster= only to keep the rows of a cluster in one fold of C='cv': remove it, or set "
                "C='cv'."
            )
        require_v_shaped(sample_costs(CostMatrix(self.cost), sample), sample.y, "REDSVM")

    def fit(self, sample: Sample, rng: np.random.Generator, progress: Progress | None = None) -> MarginFit:
        """Fit to arrays.

        Parameters
        ----------
        sample : Sample
            Rows of weight 0 take no part.
        rng : numpy.random.Generator
            Of the folds and of the order of the rows.
        progress : callable(step, total, message), optional

        Raises
        ------
        DataError
            Costs that are not V-shaped around the rank, or all alike; a kernel matrix that is not finite, symmetric
            and (conditionally) positive definite.
        """
        self.check(sample)
        kernel = parse_kernel(self.kernel)
        rows = np.flatnonzero(sample.case_weights > 0)
        if rows.size == 0:
            raise DataError("weights are zero for every row: nothing is left to fit.")
        used = sample.take(rows)
        scaling = fit_scaling(self.scaling, used.X, used.case_weights)
        X = scaling(sample.X)
        candidate = self._candidate(used, kernel, X, rows)
        selection = self._selection(candidate, used, rng, progress)
        C = float(self.C) if selection is None else float(selection.C[selection.chosen])
        problem, means = candidate.whole()
        outcome = SOLVERS[self.solver](problem, rng).solve(C, self.tol)
        point = outcome.solution
        expansion, support = _expansion(kernel, scaling, X, rows, point, means, C * problem.weights)
        rule = ThresholdRule(expansion, point.theta)
        scores = np.empty(sample.n)
        scores[rows] = point.scores + point.offset
        absent = sample.case_weights == 0
        scores[absent] = rule.scores(sample.rows.take(absent))
        slopes = kernel.slopes(expansion.anchors, expansion.coef)
        return MarginFit(
            rule=rule,
            certificate=self._certificate(point),
            trace=Trace(iterations=outcome.iterations, objective=outcome.path, message=f"solver {outcome.solver}"),
            scores=scores,
            facts=self._facts(C, kernel, outcome, support.size, rows.size, problem.ordered),
            support=rows[support],
            coefficients=None if slopes is None else slopes * scaling.factor,
            selection=selection,
        )

    def _candidate(self, used: Sample, kernel: Kernel, X: FloatArray, rows: IntArray) -> Candidate:
        with np.errstate(over="ignore", invalid="ignore"):
            gram = kernel.gram(X, rows)
        require_finite(gram)
        if not kernel.trusted:
            gram = require_symmetric(gram)
            require_definite(centred(gram.copy())[0])
        costs = sample_costs(CostMatrix(self.cost), used)
        extended = extend(used.y, costs, used.case_weights)
        if not extended.weights.any():
            raise DataError("the costs price every rank alike, so there is nothing to learn: give costs that differ.")
        return Candidate(
            gram=gram,
            extended=extended,
            costs=costs,
            case_weights=used.case_weights,
            gamma=self.gamma,
            ordered=not is_convex(costs),
        )

    def _selection(
        self, candidate: Candidate, used: Sample, rng: np.random.Generator, progress: Progress | None
    ) -> Selection | None:
        if not self.selects:
            return None
        fold = stratified_folds(used.y, used.n_levels, self.folds, rng, used.cluster)
        steps = iter(range(1, self.folds * GRID.size + 1))

        def tick(message: str) -> None:
            if progress is not None:
                progress(next(steps), self.folds * GRID.size, message)

        return select(candidate, fold, SOLVERS[self.solver], max(self.tol, _SELECTION_TOL), rng, tick)

    def _certificate(self, point: DualSolution) -> Certificate:
        details = (("primal value", point.primal), ("dual value", point.dual))
        return Certificate(name="relative duality gap", value=point.gap, tolerance=self.tol, details=details)

    def _facts(
        self, C: float, kernel: Kernel, outcome: Outcome, n_support: int, n_rows: int, ordered: bool
    ) -> tuple[tuple[str, Any], ...]:
        how = f", chosen by {self.folds}-fold cross-validation" if self.selects else ""
        return (
            ("Kernel", repr(kernel)),
            ("C", f"{C:g}{how}"),
            ("gamma", f"{self.gamma:g}"),
            ("Columns scaled", _SCALED[self.scaling]),
            ("Threshold order", "constrained" if ordered else "implied by the convex cost"),
            ("Solver", outcome.solver),
            ("Support vectors", f"{n_support} of {n_rows}"),
        )

    def geometry(self, sample: Sample, fit: Fit) -> Geometry:
        """Norms in the feature space of the scaled columns.

        Kernels that are only conditionally positive definite count from the origin of the scaled columns:
        k(x, x') - k(x, 0) - k(0, x') + k(0, 0). The radius is that of the box [-1, 1]^D where scaling="range", or
        of a kernel that is bounded everywhere; otherwise it is the largest length among the training rows, which is
        not fixed before seeing data, and bounds that use it hold only for rows no longer than that.
        """
        rule = cast(ThresholdRule, fit.rule)
        expansion = cast(KernelExpansion, rule.potential)
        kernel = expansion.kernel
        X = expansion.scaling(sample.X)
        lengths = kernel.diagonal(X)
        half_width = 1.0 if self.scaling == "range" else np.inf
        largest = kernel.radius(X.shape[1], half_width)
        if not np.isfinite(largest):
            largest = float(lengths.max())
        beta, at = expansion.coef, cast(MarginFit, fit).support
        squared_norm = float(beta @ (fit.scores[at] - expansion.offset))
        return Geometry(
            norm=float(np.sqrt(max(squared_norm, 0.0))),
            squared_lengths=lengths,
            theta=rule.theta - expansion.offset - float(beta @ kernel.origin(X)[at]),
            radius=float(np.sqrt(largest + 1.0)),
        )


_SCALED = {"range": "each to [-1, 1]", "standard": "each to mean 0, deviation 1", None: "no"}


def _expansion(
    kernel: Kernel,
    scaling: Scaling,
    X: FloatArray,
    rows: IntArray,
    point: DualSolution,
    means: FloatArray,
    caps: FloatArray,
) -> tuple[KernelExpansion, IntArray]:
    """The fitted potential in terms of the raw kernel, and the positions of its support rows among `rows`."""
    support = np.flatnonzero(np.abs(point.beta) > _NO_SUPPORT * caps.sum(axis=1))
    expansion = KernelExpansion(
        kernel=kernel,
        scaling=scaling,
        anchors=kernel.anchors(X, rows[support]),
        coef=point.beta[support],
        # Scores of the centred kernel differ from those of the raw one by means'beta.
        offset=point.offset - float(means @ point.beta),
    )
    return expansion, support

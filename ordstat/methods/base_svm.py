"""What the kernel machines share: options, kernel matrix, choice of C, the fitted potential."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast

import numpy as np

from .._typing import FloatArray, IntArray, Progress
from ..exceptions import DataError, OptionError
from ..model.costs import CostField, CostMatrix, sample_costs
from ..model.fit import BallGeometry, Certificate, Fit, Geometry, MarginFit, Selection, Trace
from ..model.folds import stratified_folds
from ..model.gram import require_definite, require_finite, require_finite_lengths, require_symmetric
from ..model.kernels import Kernel, parse_kernel
from ..model.potentials import KernelExpansion, LinearPotential
from ..model.rules import ThresholdRule
from ..model.sample import Sample
from ..model.scaling import SCALINGS, Scaling, fit_scaling
from ..results.margin import MarginResults
from ..solvers.forms import DenseGram, Gram, LinearGram, centred
from ..solvers.restricted import RestrictedGram
from ..solvers.selection import GRID, Candidate, Outcome, Route, select
from .base import Method, Needs

# A relative duality gap that is small enough to compare values of C.
_SELECTION_TOL = 1e-3
# A restriction this near to equality, as a share of the largest coefficient, binds.
_BINDING = 1e-9
# Scores that vary by less than this, the margin asked for being 1, are one constant: their order would be rounding.
_FLAT = 1e-9
# Coefficients below this share of a row's largest possible one are sums of rounding.
_NO_SUPPORT = 1e-12


def number(method: Method, name: str, value: Any, *, below: float = np.inf, also: str = "") -> float:
    """The value as a float; OptionError where it is no number between 0 and `below`, `also` naming what else may be."""
    ok = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if not ok or not 0.0 < value < below:
        bound = "a positive, finite number" if np.isinf(below) else f"a number between 0 and {below:g}"
        raise OptionError(f"{name} of {type(method).__name__} must be {bound}{also}; got {value!r}.")
    return float(value)


def count(method: Method, name: str, value: Any, least: int) -> int:
    """The value as an int; OptionError where it is no integer of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise OptionError(f"{name} of {type(method).__name__} must be an integer of {least} or more; got {value!r}.")
    return int(value)


def one_of(method: Method, name: str, value: Any, allowed: Any) -> None:
    """OptionError, listing them, where the value is not among the allowed strings (or None)."""
    if not isinstance(value, (str, type(None))) or value not in allowed:
        names = ", ".join(repr(a) for a in allowed)
        raise OptionError(f"{name} of {type(method).__name__} must be one of {names}; got {value!r}.")


def kernel_of(value: Any, scaling: str | None) -> Kernel:
    """The kernel meant; OptionError where its columns cannot be scaled as asked."""
    kernel = parse_kernel(value)
    if scaling is not None and not kernel.scalable:
        raise OptionError(
            f"the columns of X are not coordinates under kernel={kernel.name!r}: set scaling=None "
            f"(got scaling={scaling!r})."
        )
    return kernel


@dataclass(frozen=True, kw_only=True, repr=False)
class KernelMachine(Method):
    """Base of the methods that fit a potential <v, phi(x)> with |v|^2 as its penalty and C as the price of losses.

    A concrete class makes the problem and names the route to its optimum.
    """

    C: float | str = 1.0
    kernel: str | Kernel | Callable[[FloatArray, FloatArray], Any] = "perceptron"
    cost: CostField = "absolute"
    scaling: str | None = "range"
    tol: float = 1e-3
    folds: int = 5

    needs: ClassVar[Needs] = Needs(row_costs=True, cluster=True, restrictions=True)
    results_class: ClassVar[type[Any]] = MarginResults
    #: Whether C = inf is allowed.
    hard: ClassVar[bool] = False

    def __post_init__(self) -> None:
        settled = {
            "C": self._settled_C(),
            "tol": number(self, "tol", self.tol, below=1.0),
            "cost": CostMatrix.parse(self.cost).value,
            "folds": count(self, "folds", self.folds, 2),
        }
        for name, value in settled.items():
            object.__setattr__(self, name, value)
        one_of(self, "scaling", self.scaling, SCALINGS)
        kernel_of(self.kernel, self.scaling)

    def _settled_C(self) -> float | str:
        if isinstance(self.C, str) and self.C == "cv":
            return "cv"
        if self.hard and isinstance(self.C, (float, np.floating)) and np.isposinf(self.C):
            return float("inf")
        return number(self, "C", self.C, also=", inf or 'cv'" if self.hard else " or 'cv'")

    @property
    def selects(self) -> bool:
        """Whether C is chosen by cross-validation."""
        return self.C == "cv"

    def candidate(self, used: Sample, gram: Gram, costs: FloatArray) -> Candidate:
        """The problem of the rows of positive weight, with their raw kernel matrix and costs (N, K)."""
        raise TypeError(f"{type(self).__name__} defines no problem")

    def route(self, gram: Gram) -> Route:
        """Makes a solver of the problem."""
        raise TypeError(f"{type(self).__name__} defines no route")

    def solved(self, problem: Any, gram: Gram, C: float, rng: np.random.Generator) -> Outcome:
        """The optimum at one C."""
        return self.route(gram)(problem, rng).solve(C, self.tol)

    def own_facts(self, problem: Any, outcome: Any) -> tuple[tuple[str, Any], ...]:
        """Header lines of the summary that only this method has."""
        return ()

    def check(self, sample: Sample) -> None:
        """Raise where the sample holds something this method has no use for."""
        super().check(sample)
        if sample.cluster is not None and not self.selects:
            raise OptionError(
                f"{type(self).__name__} uses cluster= only to keep the rows of a cluster in one fold of C='cv': remove "
                "it, or set C='cv'."
            )
        if sample.restrictions is not None:
            self._check_restrictions()

    def _check_restrictions(self) -> None:
        if parse_kernel(self.kernel).factor(np.zeros((0, 1))) is None:
            raise OptionError(f"constraints= need coefficients: set kernel='linear' (got kernel={self.kernel!r}).")
        solver = getattr(self, "solver", "auto")
        if solver not in ("auto", "cvxpy"):
            raise OptionError(f"constraints= are solved by solver='cvxpy' ('auto' takes it); got solver={solver!r}.")

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
            Costs that the method cannot use, or that are all alike; a kernel matrix that is not finite, symmetric and
            (conditionally) positive definite.
        """
        self.check(sample)
        kernel = parse_kernel(self.kernel)
        rows = np.flatnonzero(sample.case_weights > 0)
        if rows.size == 0:
            raise DataError("weights are zero for every row: nothing is left to fit.")
        used = sample.take(rows)
        scaling = fit_scaling(self.scaling, used.X, used.case_weights)
        X = scaling(sample.X)
        gram = _gram(kernel, X, rows)
        if used.restrictions is not None:
            gram = RestrictedGram(np.ascontiguousarray(X[rows]), used.restrictions * scaling.factor)
        candidate = self.candidate(used, gram, self._costs(used))
        selection = self._selection(candidate, used, gram, rng, progress)
        C = float(self.C) if selection is None else float(selection.C[selection.chosen])
        problem, means = candidate.whole()
        outcome = self.solved(problem, problem.gram, C, rng)
        point = _without_rounding(outcome.solution)
        support = np.flatnonzero(np.abs(point.beta) > _NO_SUPPORT * point.largest)
        # Scores of the centred kernel differ from those of the raw one by means'beta. The offset takes it up; where
        # there is none, the thresholds do.
        shift = float(means @ point.beta)
        w = problem.gram.coefficients(point.beta)
        potential = _potential(kernel, scaling, X, rows, support, point, w, 0.0 if point.offset is None else -shift)
        rule = ThresholdRule(potential, point.theta + (shift if point.offset is None else 0.0))
        scores = np.empty(sample.n)
        scores[rows] = point.scores + shift + potential.offset
        absent = sample.case_weights == 0
        scores[absent] = rule.scores(sample.rows.take(absent))
        return MarginFit(
            rule=rule,
            certificate=self._certificate(point),
            trace=Trace(iterations=outcome.iterations, objective=outcome.path, message=f"solver {outcome.solver}"),
            scores=scores,
            facts=(
                *self._facts(C, kernel),
                *self.own_facts(problem, outcome),
                *_restriction_facts(used, potential),
                ("Solver", outcome.solver),
                ("Support vectors", f"{support.size} of {rows.size}"),
            ),
            support=rows[support],
            coefficients=potential.slopes,
            selection=selection,
        )

    def _costs(self, used: Sample) -> FloatArray:
        costs = sample_costs(CostMatrix(self.cost), used)
        if not np.diff(costs, axis=1).any():
            raise DataError("the costs price every rank alike, so there is nothing to learn: give costs that differ.")
        return costs

    def _selection(
        self, candidate: Candidate, used: Sample, gram: Gram, rng: np.random.Generator, progress: Progress | None
    ) -> Selection | None:
        if not self.selects:
            return None
        fold = stratified_folds(used.y, used.n_levels, self.folds, rng, used.cluster)
        steps = iter(range(1, self.folds * GRID.size + 1))

        def tick(message: str) -> None:
            if progress is not None:
                progress(next(steps), self.folds * GRID.size, message)

        return select(candidate, fold, self.route(gram), max(self.tol, _SELECTION_TOL), rng, tick)

    def _certificate(self, point: Any) -> Certificate:
        details = (("primal value", point.primal), ("dual value", point.dual))
        return Certificate(name="relative duality gap", value=point.gap, tolerance=self.tol, details=details)

    def _facts(self, C: float, kernel: Kernel) -> tuple[tuple[str, Any], ...]:
        how = f", chosen by {self.folds}-fold cross-validation" if self.selects else ""
        return (
            ("Kernel", repr(kernel)),
            ("C", "inf, a hard margin" if np.isinf(C) else f"{C:g}{how}"),
            ("Columns scaled", SCALED[self.scaling]),
        )

    def geometry(self, sample: Sample, fit: Fit) -> Geometry:
        """Norms in the feature space of the scaled columns.

        Kernels that are only conditionally positive definite count from the origin of the scaled columns:
        k(x, x') - k(x, 0) - k(0, x') + k(0, 0). The radius is that of the box [-1, 1]^D where scaling="range", or
        of a kernel that is bounded everywhere; otherwise it is the largest length among the training rows, which is
        not fixed before seeing data, and bounds that use it hold only for rows no longer than that.
        """
        rule = cast(ThresholdRule, fit.rule)
        potential = cast(KernelExpansion | LinearPotential, rule.potential)
        kernel = parse_kernel(self.kernel)
        X = potential.scaling(sample.X)
        lengths = kernel.diagonal(X)
        half_width = 1.0 if self.scaling == "range" else np.inf
        largest = kernel.radius(X.shape[1], half_width)
        if not np.isfinite(largest):
            largest = float(lengths.max())
        shift = potential.offset
        if kernel.conditionally_definite:
            shift += float(potential.coef @ kernel.origin(X)[cast(MarginFit, fit).support])
        return BallGeometry(
            norm=float(np.sqrt(potential.squared_norm)),
            squared_lengths=lengths,
            theta=rule.theta - shift,
            radius=float(np.sqrt(largest + 1.0)),
        )


#: What the summary says of a scaling.
SCALED = {"range": "each to [-1, 1]", "standard": "each to mean 0, deviation 1", None: "no"}


def _gram(kernel: Kernel, X: FloatArray, rows: IntArray) -> Gram:
    """The checked kernel matrix of the training rows at `rows`, by its factor where that is smaller."""
    factor = kernel.factor(X)
    if factor is not None and 0 < factor.shape[1] < rows.size:
        linear = LinearGram(np.ascontiguousarray(factor[rows]))
        with np.errstate(over="ignore"):
            require_finite_lengths(linear.diagonal)
        return linear
    with np.errstate(over="ignore", invalid="ignore"):
        gram = kernel.gram(X, rows)
    require_finite(gram)
    if not kernel.trusted:
        gram = require_symmetric(gram)
        require_definite(centred(gram.copy())[0])
    return DenseGram(gram)


def _without_rounding(point: Any) -> Any:
    """The solution; with no potential at all where its scores vary by rounding alone."""
    if np.ptp(point.scores) > _FLAT:
        return point
    return replace(point, beta=np.zeros_like(point.beta), scores=np.zeros_like(point.scores))


def _restriction_facts(used: Sample, potential: KernelExpansion | LinearPotential) -> tuple[tuple[str, Any], ...]:
    """How many restrictions there are, and how many of them bind."""
    A, w = used.restrictions, potential.slopes
    if A is None or w is None:
        return ()
    binding = np.abs(A @ w) <= _BINDING * np.abs(w).max(initial=0.0)
    return (("Constraints", f"{len(A)} on coefficients, {int(binding.sum())} binding"),)


def _potential(
    kernel: Kernel,
    scaling: Scaling,
    X: FloatArray,
    rows: IntArray,
    support: IntArray,
    point: Any,
    w: FloatArray | None,
    move: float,
) -> KernelExpansion | LinearPotential:
    """The fitted potential in terms of the raw kernel; `move` is added to the offset."""
    offset = (point.offset or 0.0) + move
    factor = kernel.factor(X)
    if factor is not None:
        return LinearPotential(scaling=scaling, coef=point.beta @ factor[rows] if w is None else w, offset=offset)
    return KernelExpansion(
        kernel=kernel,
        scaling=scaling,
        anchors=kernel.anchors(X, rows[support]),
        coef=point.beta[support],
        offset=offset,
        squared_norm=max(float(point.beta @ point.scores), 0.0),
    )

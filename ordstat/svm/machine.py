"""What kernel machines share: options, C, the fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, cast

import numpy as np

from .._typing import FloatArray, IntArray, Progress
from ..checks import one_of
from ..exceptions import DataError, OptionError
from ..fit import (
    BallGeometry,
    Certificate,
    Fit,
    KernelExpansion,
    LinearPotential,
    MarginFit,
    Selection,
    ThresholdRule,
    Trace,
)
from ..formula.sample import Sample, Scaling, fit_scaling
from ..judging.costs import is_convex, require_differences, sample_costs, tolerance
from ..judging.evaluation import require_folds
from ..judging.margins import comparisons, dependence, margins, pac_bayes_bound
from ..judging.rankers import MarginResults
from ..judging.selection import CrossValidated
from ..method import Method, Needs, ball
from ..reduction.encoding import extend
from .cross_validation import mean_score, path_judge
from .dual import ThresholdedCandidate
from .gram import DenseGram, Gram, LinearGram, RestrictedGram, centred
from .kernels import Kernel, checked_gram, require_definite, require_finite_lengths
from .routes import LOSSES, hard_margin
from .solution import Candidate, Outcome, Route, Solution

_STEP = 0.5


def coded_origins(
    kernel: Kernel, X: FloatArray, weights: FloatArray, half_width: float
) -> list[tuple[FloatArray, float]]:
    """The origin 0 and, of columns scaled to a box, the point nearest to their means: (D,) and nats of each.

    Parameters
    ----------
    kernel : Kernel
    X : (N, D) scaled columns
    weights : (N,) case weights
    half_width : float
        Of the box; infinite where there is none.
    """
    zero = np.zeros(X.shape[1])
    if not (kernel.conditionally_definite and kernel.trusted and np.isfinite(half_width)):
        return [(zero, 0.0)]
    centre = np.rint(weights @ X / weights.sum() / _STEP) * _STEP
    points = np.rint(2.0 * half_width / _STEP) + 1.0
    log_two = float(np.log(2.0))
    return [(zero, log_two), (centre, log_two + X.shape[1] * float(np.log(points)))]


#: The confidence of summaries is 1 - 0.05, and half of that goes to the paper's bound.
_DELTA = 0.025
# So many values of C in a row that are worse than the best one end the search. Below the first C that does more than
# give every row one level, bounds are nearly alike and may rise a little.
_WORSE = 4


def choose_by_bound(
    method: Method, sample: Sample, machines: Iterable[tuple[float, Callable[[Selection | None], MarginFit]]]
) -> MarginFit:
    """The fit of the smallest bound.

    Parameters
    ----------
    method : Method
        Names the cost, and knows the geometry of its fits.
    sample : Sample
    machines : iterable of (C, fit)
        For growing C, what makes the fit when it is told how C was chosen.

    Raises
    ------
    DataError
        The rows cannot count as independent draws, so that there is no bound.
    """
    if reason := dependence(sample):
        what = reason.replace("No margin bounds: they need", "C='bound' needs")
        raise DataError(f"{what} Set C='cv' or a number.")
    tried: list[tuple[float, float, float]] = []
    for C, machine in machines:
        fit = machine(None)
        tried.append((_bound(method, sample, fit), C, fit.certificate.value))
        if tried[-1] == min(tried):
            chosen, best = machine, len(tried) - 1
        elif len(tried) > best + _WORSE:
            break
    bounds, values, gaps = np.array(tried).T
    return chosen(
        Selection(C=values, cost=bounds, error=np.full(len(tried), np.nan), chosen=best, folds=0, gap=gaps.max())
    )


def _bound(method: Method, sample: Sample, fit: MarginFit) -> float:
    """The bound of the expected cost of a fit."""
    geometry = cast(BallGeometry, method.geometry(sample, fit))
    rows = margins(fit.scores[:, None] - cast(ThresholdRule, fit.rule).theta, sample.y, geometry)
    counted = comparisons("cost", rows, sample, sample_costs(method.cost_matrix, sample))
    return pac_bayes_bound(counted, geometry, _DELTA).value


# A restriction this near to equality, as a share of the largest coefficient, binds.
_BINDING = 1e-9
# Scores that vary by less than this, the margin asked for being 1, are one constant: their order would be rounding.
_FLAT = 1e-9
# Rows that are scored anew after the fit, about.
_CHECKED = 8
# Multipliers below this share of the largest are rounding.
_NO_SUPPORT = 1e-12


@dataclass(frozen=True, eq=False)
class _Setting:
    """What the machines of one fit share whatever C is: its rows, those of positive weight, and the problem."""

    sample: Sample
    used: Sample
    rows: IntArray
    kernel: Kernel
    scaling: Scaling
    X: FloatArray
    problem: Any
    means: FloatArray


@dataclass(frozen=True, kw_only=True, repr=False)
class KernelMachine(CrossValidated, Method):
    """Base of the machines that minimise

    1/2 |v|^2 + |theta|^2 / (2 gamma^2) + C sum_nk W_nk [1 - Y_nk (<v, phi(x_n)> + b - theta_k)]_+ .

    A concrete class says what gamma is (inf: theta free) and when the order of theta is a constraint; or it makes
    another problem of <v, phi(x)>, with losses and routes of its own. A linear kernel counts from the means of the
    scaled columns, which changes its margins' norm and bounds alone.

    Parameters
    ----------
    loss : {"hinge", "squared_hinge"}
        The squared hinge takes a linear kernel: Newton's method, a million rows in seconds.
    solver : {"auto", "coordinate", "interior-point", "cvxpy"}
        Solver of the hinge; the squared hinge has "auto" and "cvxpy".
    C : float, sequence of floats, "cv" or "bound"
        "bound" takes the value of 2^-17, 2^-15, ..., 2^3 with the smallest bound of the expected cost, from the rows of
        the fit alone; the choice has no price. Small values win, because a bound asks for
        more of a ranker than cross-validation does: the error of new rows is often larger than after C="cv".
    kernel, cost, scaling, tol, folds, n_jobs, and C
        See `ordstat.judging.selection.CrossValidated`.

    Raises
    ------
    OptionError
        A value outside these.
    """

    loss: str = "hinge"
    solver: str = "auto"

    needs: ClassVar[Needs] = Needs(row_costs=True, v_shaped=True, cluster=True, restrictions=True)
    results_class: ClassVar[type[Any]] = MarginResults
    #: Solvers of each loss.
    routes: ClassVar[Mapping[str, Mapping[str, Route]]] = LOSSES
    #: Whether theta_1 <= ... <= theta_{K-1} is a constraint under convex costs too, which order them by themselves.
    explicit: ClassVar[bool] = False
    bounded: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of("loss", self.loss, self.routes, of=self)
        one_of("solver", self.solver, self.routes["hinge"], of=self)
        hard = isinstance(self.C, float) and np.isinf(self.C)
        if self.similarity.gammas and hard:
            raise OptionError(f"C must be finite where cross-validation chooses gamma of {self.kernel!r}; got C=inf.")
        if self.similarity.gammas and self.by_bound:
            raise OptionError(
                f"C='bound' needs a kernel whose gamma is a number; got kernel={self.kernel!r}. Set gamma, or C='cv'."
            )
        if self.factored and not self.similarity.linear:
            raise OptionError(f"loss={self.loss!r} needs kernel='linear'; got kernel={self.kernel!r}.")
        if self.solver not in self.routes[self.loss]:
            names = ", ".join(map(repr, self.routes[self.loss]))
            raise OptionError(f"loss={self.loss!r} has the solvers {names}; got solver={self.solver!r}.")
        if self.loss != "hinge" and hard:
            raise OptionError(f"loss={self.loss!r} needs a finite C: a hard margin has no loss.")

    # What a concrete class may say

    @property
    def factored(self) -> bool:
        """Whether the route needs the columns of a linear kernel, however many."""
        return self.loss != "hinge"

    def penalty_scale(self) -> float:
        """gamma; inf leaves the thresholds free."""
        return np.inf

    def constrains_order(self, costs: FloatArray) -> bool:
        """Whether theta_1 <= ... <= theta_{K-1} has to be a constraint under these costs (N, K)."""
        return self.explicit or not is_convex(costs)

    def candidate(self, used: Sample, gram: Gram, costs: FloatArray) -> Candidate:
        """The problem of the rows of positive weight, with their raw kernel matrix and costs (N, K)."""
        return ThresholdedCandidate(
            gram=gram,
            extended=extend(used.y, costs, used.case_weights),
            costs=costs,
            case_weights=used.case_weights,
            gamma=self.penalty_scale(),
            ordered=self.constrains_order(costs),
        )

    def own_facts(self, problem: Any, outcome: Any) -> tuple[tuple[str, Any], ...]:
        """Header lines of the summary that only this method has."""
        return (
            ("Loss", self.loss.replace("_", " ")),
            ("Thresholds", "free" if problem.free else f"penalised, threshold_gamma = {problem.gamma:g}"),
            ("Threshold order", "constrained" if problem.ordered else "implied by the convex cost"),
        )

    # Fits

    def check(self, sample: Sample) -> None:
        """Raise where the sample holds something this method does not support."""
        super().check(sample)
        require_folds(self, sample, "set C='cv'")
        if sample.restrictions is None:
            return
        if not self.similarity.linear:
            raise OptionError(f"constraints= need coefficients: set kernel='linear' (got kernel={self.kernel!r}).")
        if self.solver not in ("auto", "cvxpy"):
            raise OptionError(
                f"constraints= are solved by solver='cvxpy' ('auto' takes it); got solver={self.solver!r}."
            )

    def fit(self, sample: Sample, rng: np.random.Generator, progress: Progress | None = None) -> MarginFit:
        """Fit to arrays.

        Parameters
        ----------
        sample : Sample
            Rows of weight 0 take no part.
        rng : numpy.random.Generator
            Source of the folds and of the order of the rows.
        progress : callable(step, total, message), optional

        Raises
        ------
        DataError
            Costs that the method cannot use, or that are all alike; a kernel matrix that is not finite, symmetric and
            (conditionally) positive definite.
        """
        self.check(sample)
        rows = np.flatnonzero(sample.case_weights > 0)
        used = sample.take(rows)
        scaling = fit_scaling(self.scaling, used.X, used.case_weights, about_mean=self.similarity.linear)
        X = scaling(sample.X)
        kernel, candidate, selection = self._settled(X, rows, used, scaling, rng, progress)
        problem, means = candidate.whole()
        setting = _Setting(sample, used, rows, kernel, scaling, X, problem, means)
        if self.by_bound:
            return choose_by_bound(self, sample, self._machines(setting, rng, progress))
        C = cast(float, self.C) if selection is None else selection.best_C
        return self._machine(setting, self._solved(problem, C, rng), selection)

    def _machines(
        self, setting: _Setting, rng: np.random.Generator, progress: Progress | None
    ) -> Iterator[tuple[float, Callable[[Selection | None], MarginFit]]]:
        """For growing C, what makes the fit when it is told how C was chosen."""
        solver = self._route(setting.problem.gram)(setting.problem, rng)
        for step, C in enumerate(self.grid):
            yield C, partial(self._machine, setting, solver.solve(C, self.tol))
            if progress is not None:
                progress(step + 1, len(self.grid), f"bound at C = {C:.3g}")

    def _machine(self, setting: _Setting, outcome: Outcome[Solution], selection: Selection | None) -> MarginFit:
        """The fit of an optimum."""
        sample, used, rows, kernel = setting.sample, setting.used, setting.rows, setting.kernel
        scaling, X, problem = setting.scaling, setting.X, setting.problem
        point = _without_rounding(outcome.solution)
        support = np.flatnonzero(point.sizes > _NO_SUPPORT * point.sizes.max(initial=0.0))
        # Scores of the centred kernel differ from those of the raw one by means'beta. The offset takes it up; where
        # there is none, the thresholds do.
        shift = mean_score(setting.means, point)
        b, theta = (0.0, point.theta + shift) if point.offset is None else (point.offset - shift, point.theta)
        potential = _potential(kernel, scaling, X, rows, support, point, b)
        # A linear potential has an offset of its own choice; the thresholds move with it.
        scores = np.empty(sample.n)
        scores[rows] = point.scores + shift + potential.offset
        rule = ThresholdRule(potential, theta + (potential.offset - b), tie=tolerance(scores[rows]))
        absent = sample.case_weights == 0
        scores[absent] = rule.scores(sample.rows.take(absent))
        return MarginFit(
            rule=rule,
            certificate=Certificate(
                name="relative duality gap",
                value=point.gap,
                tolerance=self.tol,
                details=(("primal value", point.primal), ("dual value", point.dual)),
            ),
            trace=Trace(iterations=outcome.iterations, objective=outcome.path, message=f"solver {outcome.solver}"),
            scores=scores,
            facts=(
                *self.settled_facts(selection, used.X.shape[1]),
                *self.own_facts(problem, outcome),
                *_restriction_facts(used, potential),
                ("Solver", outcome.solver),
                ("Support vectors", f"{support.size} of {rows.size}"),
            ),
            support=rows[support],
            coefficients=potential.slopes,
            selection=selection,
            rounding=_rounding(rule, sample, scores),
        )

    def _settled(
        self,
        X: FloatArray,
        rows: IntArray,
        used: Sample,
        scaling: Scaling,
        rng: np.random.Generator,
        progress: Progress | None,
    ) -> tuple[Kernel, Candidate, Selection | None]:
        """The kernel with its gamma, the problem, and the choice of C and gamma where there is one."""
        costs, kernel = self.costs(used), self.similarity
        require_differences(costs, used.case_weights)

        def chosen(candidates: Iterable[tuple[float | None, Candidate]]) -> Selection:
            judge = partial(path_judge, lambda problem, own: self._route(problem.gram)(problem, own))
            return self.choose(candidates, judge, len(self.grid), used, rng, progress)

        if kernel.gammas:
            tried = ((gamma, self.candidate(used, DenseGram(gram), costs)) for gamma, gram in kernel.grams(X, rows))
            selection = chosen(tried)
            kernel = kernel.at(selection.best_gamma)
            return kernel, self.candidate(used, _gram(kernel, X, rows, self.factored), costs), selection
        gram = _gram(kernel, X, rows, self.factored)
        if used.restrictions is not None:
            gram = RestrictedGram(np.ascontiguousarray(X[rows]), used.restrictions * scaling.factor)
        candidate = self.candidate(used, gram, costs)
        return kernel, candidate, chosen([(None, candidate)]) if self.selects else None

    def _route(self, gram: Gram) -> Route:
        # Coefficients under restrictions are no linear function of the dual variables: cvxpy alone takes them.
        return self.routes[self.loss]["cvxpy" if isinstance(gram, RestrictedGram) else self.solver]

    def _solved(self, problem: Any, C: float, rng: np.random.Generator) -> Outcome[Solution]:
        """The optimum at one C."""
        route: Any = self._route(problem.gram)
        return hard_margin(route, problem, rng, self.tol) if np.isinf(C) else route(problem, rng).solve(C, self.tol)

    def geometry(self, sample: Sample, fit: Fit) -> BallGeometry:
        """Norms in the feature space of the scaled columns.

        Kernels that are only conditionally positive definite count from the origin of the scaled columns:
        k(x, x') - k(x, 0) - k(0, x') + k(0, 0).
        """
        rule = cast(ThresholdRule, fit.rule)
        potential = cast(KernelExpansion | LinearPotential, rule.potential)
        kernel = potential.kernel if isinstance(potential, KernelExpansion) else self.similarity
        X, support = potential.scaling(sample.X), cast(MarginFit, fit).support
        # A gamma chosen among several, by these rows, has its code too.
        chosen = float(np.log(max(len(self.similarity.gammas), 1)))

        def counted_from(origin: FloatArray, price: float) -> BallGeometry:
            Z, shift = X - origin, potential.offset
            if kernel.conditionally_definite:
                shift += float(potential.coef @ kernel.origin(Z)[support])
            found = ball(kernel, Z, self.scaling, potential.squared_norm, rule.theta - shift)
            return replace(found, price=price + chosen)

        half_width = 1.0 if self.scaling == "range" else np.inf
        origins = coded_origins(kernel, X, sample.case_weights, half_width)
        here, *others = (counted_from(origin, price) for origin, price in origins)
        return replace(here, moved=tuple(others))


def _gram(kernel: Kernel, X: FloatArray, rows: IntArray, factored: bool) -> Gram:
    """The checked kernel matrix of the training rows at `rows`, by its factor where that is smaller or asked for."""
    factor = kernel.factor(X)
    if factor is not None and (factored or 0 < factor.shape[1] < rows.size):
        linear = LinearGram(np.ascontiguousarray(factor[rows]))
        with np.errstate(over="ignore"):
            require_finite_lengths(linear.diagonal)
        return linear
    gram = checked_gram(kernel, X, rows)
    if not kernel.trusted:
        require_definite(centred(gram.copy())[0])
    return DenseGram(gram)


def _rounding(rule: ThresholdRule, sample: Sample, scores: FloatArray) -> float:
    """How far the scores (N,) of some rows are from those that the rule gives them as new rows."""
    some = np.arange(0, sample.n, max(sample.n // _CHECKED, 1))
    return float(np.abs(rule.scores(sample.rows.take(some)) - scores[some]).max())


def _without_rounding(point: Any) -> Any:
    """The solution; with no potential at all where its scores vary by rounding alone."""
    if np.ptp(point.scores) > _FLAT:
        return point
    flat = replace(point, beta=np.zeros_like(point.beta), scores=np.zeros_like(point.scores))
    return flat if point.w is None else replace(flat, w=np.zeros_like(point.w))


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
    b: float,
) -> KernelExpansion | LinearPotential:
    """The fitted potential in terms of the raw kernel, with the offset b where it is not linear."""
    factor = kernel.factor(X)
    if factor is not None:
        return LinearPotential.plain(scaling, point.beta @ factor[rows] if point.w is None else point.w)
    return KernelExpansion(
        kernel=kernel,
        scaling=scaling,
        anchors=kernel.anchors(X, rows[support]),
        coef=point.beta[support],
        offset=b,
        squared_norm=max(float(point.beta @ point.scores), 0.0),
    )

"""Support vector ordinal ranking: RED-SVM, SVOR with implicit and with explicit
constraints, and a machine on pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np

from .._typing import FloatArray, IntArray, Progress
from ..advice import with_option_hints
from ..checks import number, one_of, whole
from ..exceptions import OptionError
from ..fit import (
    Certificate,
    Fit,
    KernelExpansion,
    LinearPotential,
    MarginFit,
    Selection,
    ThresholdRule,
    Trace,
)
from ..formula.sample import Sample
from ..formula.scaling import Scaling, fit_scaling
from ..formula.sparse import sparse_part
from ..judging.costs import CostField, is_convex, require_differences, tolerance
from ..judging.folds import refuse_unused_clusters
from ..judging.geometry import BallGeometry, Geometry, ball
from ..judging.margin_bounds import MarginBounds
from ..judging.training_bounds import preference_bounds
from ..kernels import Kernel, checked_gram, require_definite, require_finite
from ..method import CHU_KEERTHI, LI_LIN, LIN, Supports, cost_option, option
from ..rankers import MarginResults
from ..reduction.convex import in_row_space
from ..reduction.encoding import extend
from .cross_validation import path_judge
from .dual import ExtendedDual, Outcome, Route, Solution
from .gram import DenseGram, Gram, LinearGram, centred
from .landmarks import Features, landmark_features
from .options import MachineOptions
from .pairs import PAIR_LOSSES, PairProblem, PairSolution
from .routes import LOSSES, hard_margin

# Step of the grid of origins for columns scaled to a box.
_ORIGIN_STEP = 0.5
# Scores that vary by less than this are a constant (the margin is 1): their order would
# be rounding.
_FLAT_SCORES = 1e-9
# About this many rows are scored again after the fit.
_CHECKED = 8
# Multipliers below this share of the largest are rounding.
_NO_SUPPORT = 1e-12


@dataclass(frozen=True, kw_only=True, repr=False)
class KernelMachine(MachineOptions):
    """Base of the machines that minimise

    1/2 |v|^2 + |theta|^2 / (2 gamma^2) + C sum_nk W_nk [1 - Y_nk (<v, phi(x_n)> + b -
    theta_k)]_+ .

    A concrete class sets gamma (inf: theta free) and whether the order of theta is a
    constraint, or defines another problem of <v, phi(x)> with other losses and solvers.
    A linear kernel takes the means of the scaled columns as its origin, which changes
    only the norm in its margins and bounds.

    Parameters
    ----------
    loss : {"hinge", "squared_hinge"}
        The squared hinge needs kernel="linear" or landmarks; Newton's method fits 10^6
        rows of few columns in seconds.
    landmarks : int or None
        Number of training rows, drawn at random, whose span <v, phi(x)> is restricted
        to. The fit then needs no N x N matrix, and predictions need the kernel only at
        these rows. None takes all rows.
    solver : {"auto", "coordinate", "interior-point", "cvxpy"}
        Solver of the hinge; the squared hinge has only "auto".
    C, kernel, cost, scaling, tol, folds, n_jobs
        See `ordstat.svm.options.MachineOptions`.

    Raises
    ------
    OptionError
        An option has a value outside its range.
    """

    loss: str = "hinge"
    landmarks: int | None = None
    solver: str = "auto"

    supports: ClassVar[Supports] = Supports(
        row_costs=True, v_shaped_only=True, cluster=True
    )
    results_class: ClassVar[type[Any]] = MarginResults
    #: Solvers of each loss.
    routes: ClassVar[Mapping[str, Mapping[str, Route]]] = LOSSES
    #: Whether theta_1 <= ... <= theta_{K-1} is a constraint even under convex costs,
    #: which imply this order.
    explicit: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of("loss", self.loss, self.routes, of=self)
        one_of("solver", self.solver, self.routes["hinge"], of=self)
        hard = isinstance(self.C, float) and np.isinf(self.C)
        if self.similarity.gammas and hard:
            raise OptionError(
                "C must be finite if cross-validation chooses gamma of"
                f" {self.kernel!r}; got C=inf."
            )
        if (
            self.loss != "hinge"
            and not self.similarity.linear
            and self.landmarks is None
        ):
            raise OptionError(
                f"loss={self.loss!r} needs kernel='linear' or landmarks=; got"
                f" kernel={self.kernel!r}."
            )
        if self.solver not in self.routes[self.loss]:
            raise OptionError(
                f"solver must be 'auto' with loss={self.loss!r}; got {self.solver!r}."
                " Leave it out."
            )
        if self.loss != "hinge" and hard:
            raise OptionError(
                f"C must be finite with loss={self.loss!r}; got C=inf. A hard margin"
                " has no loss."
            )
        if self.landmarks is not None:
            if self.pairwise or self.similarity.linear:
                raise OptionError(
                    f"kernel={self.similarity.name!r} does not support landmarks=;"
                    " remove it."
                )
            self._settle(
                landmarks=whole(
                    "landmarks", self.landmarks, 2, of=self, also=" or None"
                )
            )

    @property
    def takes_sparse(self) -> bool:
        return super().takes_sparse and self.loss == "hinge"

    # What a concrete class may replace

    def penalty_scale(self) -> float:
        """gamma; inf leaves the thresholds free."""
        return np.inf

    def problem(self, sample: Sample, gram: Gram, costs: FloatArray) -> Any:
        """The problem of rows of positive weight, with their raw kernel matrix and
        costs (N, K).
        """
        extended = extend(sample.y, costs, sample.case_weights)
        return ExtendedDual(
            gram=gram,
            labels=extended.labels,
            weights=extended.weights,
            gamma=self.penalty_scale(),
            ordered=self.explicit or not is_convex(costs),
        )

    def method_facts(self, problem: Any, solution: Any) -> tuple[tuple[str, Any], ...]:
        """Lines of the summary's header that are specific to this method."""
        return (
            ("Loss", self.loss.replace("_", " ")),
            (
                "Thresholds",
                (
                    "free"
                    if problem.free
                    else f"penalised, threshold_gamma = {problem.gamma:g}"
                ),
            ),
            (
                "Threshold order",
                "constrained" if problem.ordered else "implied by the convex cost",
            ),
        )

    # Fits

    def check(self, sample: Sample) -> None:
        """Raise an error if the method does not support the sample."""
        super().check(sample)
        refuse_unused_clusters(self, sample, "set C='cv'")

    def fit(
        self, sample: Sample, rng: np.random.Generator, progress: Progress | None = None
    ) -> MarginFit:
        """Fit to arrays.

        Parameters
        ----------
        sample : Sample
            Rows of weight 0 are left out.
        rng : numpy.random.Generator
            For the folds, the landmarks and the order of the rows.
        progress : callable(step, total, message), optional

        Raises
        ------
        DataError
            The costs are equal or cannot be used by the method; the kernel matrix is
            not finite, symmetric and (conditionally) positive definite.
        """
        self.check(sample)
        data = self._prepared(sample, rng)
        kernel = self.similarity
        selection = None
        if kernel.gammas:
            selection = self._chosen(data, self._problems(data), rng, progress)
            kernel = kernel.at(selection.best_gamma)
        features = None
        if self.landmarks is not None:
            features = data.drawn(kernel, self.landmarks)
        gram, basis = _gram(data, kernel, features, self.loss != "hinge")
        problem = self.problem(data.used, gram, data.costs)
        if self.selects and selection is None:
            selection = self._chosen(data, [(None, problem)], rng, progress)
        C = cast(float, self.C) if selection is None else selection.best_C
        problem, means = problem.centred()
        outcome = self._solved(problem, C, rng)
        point = _without_rounding(outcome.solution)
        if basis is not None:
            point = replace(point, w=basis @ cast(FloatArray, point.w))
            means = basis @ means
        ranked = _ranked(data, kernel, features, point, means)
        facts = self.method_facts(problem, point)
        return self._described(data, selection, features, outcome, ranked, facts)

    def _prepared(self, sample: Sample, rng: np.random.Generator) -> _Prepared:
        """The rows of positive weight with their costs, and scaled columns."""
        rows = np.flatnonzero(sample.case_weights > 0)
        used = sample.take(rows)
        costs = self.costs(used)
        require_differences(costs, used.case_weights)
        scaling = fit_scaling(
            self.scaling,
            used.X,
            used.case_weights,
            about_mean=self.similarity.linear,
        )
        return _Prepared(
            sample=sample,
            rows=rows,
            used=used,
            costs=costs,
            scaling=scaling,
            X=scaling(sample.X),
            seed=0 if self.landmarks is None else int(rng.integers(2**63)),
        )

    def _problems(self, data: _Prepared) -> Iterator[tuple[float, Any]]:
        """Every gamma of the kernel, and its problem."""
        kernel = self.similarity
        if self.landmarks is None:
            for gamma, matrix in kernel.grams(data.X, data.rows):
                yield gamma, self.problem(data.used, DenseGram(matrix), data.costs)
            return
        for gamma in kernel.gammas:
            gram = LinearGram(data.drawn(kernel.at(gamma), self.landmarks).values)
            yield gamma, self.problem(data.used, gram, data.costs)

    def _chosen(
        self,
        data: _Prepared,
        candidates: Iterable[tuple[float | None, Any]],
        rng: np.random.Generator,
        progress: Progress | None,
    ) -> Selection:
        """gamma and C of the smallest cost in cross-validation."""
        judge = partial(path_judge, self.routes[self.loss][self.solver])
        return self.choose(
            candidates, judge, len(self.grid), data.used, data.costs, rng, progress
        )

    def _solved(self, problem: Any, C: float, rng: np.random.Generator) -> Outcome[Any]:
        """The solution of a centred problem."""
        route = self.routes[self.loss][self.solver]
        if np.isinf(C):
            return hard_margin(route, problem, rng, self.tol)
        return route(problem, rng).solve(C, self.tol)

    def _described(
        self,
        data: _Prepared,
        selection: Selection | None,
        features: Features | None,
        outcome: Outcome[Any],
        ranked: _Ranked,
        method_facts: tuple[tuple[str, Any], ...],
    ) -> MarginFit:
        """The fit with its certificate, trace and header lines."""
        point = outcome.solution
        landmarks: tuple[tuple[str, Any], ...] = ()
        certified = "relative duality gap"
        if features is not None:
            landmarks = (("Landmarks", _approximation(features, data.rows.size)),)
            certified += " of the problem with landmarks"
        facts = (
            *self.settled_facts(selection, data.X.shape[1]),
            *landmarks,
            *method_facts,
            ("Solver", outcome.solver),
            ("Support vectors", f"{ranked.support.size} of {data.rows.size}"),
        )
        sample = data.sample
        checked = np.arange(0, sample.n, max(sample.n // _CHECKED, 1))
        again = ranked.rule.scores(sample.rows.take(checked))
        return MarginFit(
            rule=ranked.rule,
            certificate=Certificate(
                name=certified,
                value=point.gap,
                tolerance=self.tol,
                details=(("primal value", point.primal), ("dual value", point.dual)),
            ),
            trace=Trace(
                iterations=outcome.iterations,
                objective=outcome.path,
                message=f"solver {outcome.solver}",
            ),
            scores=ranked.scores,
            facts=facts,
            support=data.rows[ranked.support],
            coefficients=ranked.slopes,
            selection=selection,
            rounding=float(np.abs(again - ranked.scores[checked]).max()),
        )

    def geometry(self, sample: Sample, fit: Fit) -> BallGeometry | None:
        """Norms in the feature space of the scaled columns; None for sparse columns,
        which are not centred.

        Kernels that are only conditionally positive definite are used as k(x, x') -
        k(x, 0) - k(0, x') + k(0, 0). If columns are scaled to a box, the point of a
        grid nearest to their means is a second origin; the bound then pays for the
        choice of this point.
        """
        if sparse_part(sample.X) is not None:
            return None
        rule = cast(ThresholdRule, fit.rule)
        potential = cast(KernelExpansion | LinearPotential, rule.potential)
        if isinstance(potential, KernelExpansion):
            kernel = potential.kernel
        else:
            kernel = self.similarity
        X = potential.scaling(sample.X)

        def counted_from(origin: FloatArray, price: float) -> BallGeometry:
            Z = X - origin
            shift = potential.offset
            if isinstance(potential, KernelExpansion) and kernel.conditionally_definite:
                anchors = potential.anchors
                if kernel.pairwise:
                    at_origin = kernel.origin(Z)[anchors]
                else:
                    at_origin = kernel.origin(anchors - origin)
                shift += float(potential.coef @ at_origin)
            geometry = ball(
                kernel, Z, self.scaling, potential.squared_norm, rule.theta - shift
            )
            return replace(geometry, price=price)

        zero = np.zeros(X.shape[1])
        D = X.shape[1]
        # A gamma chosen by these rows has a price too.
        price = float(np.log(max(len(self.similarity.gammas), 1)))
        if not (
            kernel.conditionally_definite and kernel.trusted and self.scaling == "range"
        ):
            return counted_from(zero, price)
        weights = sample.case_weights
        centre = np.rint(weights @ X / weights.sum() / _ORIGIN_STEP) * _ORIGIN_STEP
        price += float(np.log(2.0))
        moved = counted_from(
            centre, price + D * float(np.log(np.rint(2.0 / _ORIGIN_STEP) + 1.0))
        )
        return replace(counted_from(zero, price), moved=(moved,))


@dataclass(frozen=True, eq=False, kw_only=True)
class _Prepared:
    """A sample, ready for a fit.

    Attributes
    ----------
    sample : Sample
        All rows.
    rows : (M,) places of the rows of positive weight
    used : Sample
        These rows.
    costs : (M, K)
    scaling : Scaling
    X : (N, D) scaled columns of all rows
    seed : int
        For the landmarks, so that every gamma has the same.
    """

    sample: Sample
    rows: IntArray
    used: Sample
    costs: FloatArray
    scaling: Scaling
    X: FloatArray
    seed: int

    def drawn(self, kernel: Kernel, most: int) -> Features:
        """Features of at most `most` landmarks."""
        rng = np.random.default_rng(self.seed)
        weights = self.used.case_weights
        return landmark_features(kernel, self.X, self.rows, weights, most, rng)


class _Ranked(NamedTuple):
    """The rule for the raw kernel, slopes (D,) of a linear kernel, scores (N,) of all
    rows, and support rows as positions in the rows of positive weight.
    """

    rule: ThresholdRule
    slopes: FloatArray | None
    scores: FloatArray
    support: IntArray


def _gram(
    data: _Prepared, kernel: Kernel, features: Features | None, squared: bool
) -> tuple[Gram, FloatArray | None]:
    """The checked kernel matrix of the rows of positive weight; a linear kernel as its
    factor if that is smaller.

    The squared hinge needs a factor: if there are more columns than rows, it is in the
    basis that is returned too.
    """
    if features is not None:
        return LinearGram(features.values), None
    if sparse_part(data.X) is not None:
        return DenseGram(checked_gram(kernel, data.X, data.rows)), None
    X = np.ascontiguousarray(data.X[data.rows])
    n_rows, n_columns = X.shape
    if kernel.linear and (squared or 0 < n_columns < n_rows):
        with np.errstate(over="ignore"):
            require_finite(LinearGram(X).diagonal)
        factor, basis = in_row_space(X) if squared else (X, None)
        return LinearGram(factor), basis
    gram = checked_gram(kernel, data.X, data.rows)
    if not kernel.trusted:
        require_definite(centred(gram.copy())[0])
    return DenseGram(gram), None


def _approximation(features: Features, n_rows: int) -> str:
    """Number of landmarks, rank and share of the kernel, for the summary."""
    rank = features.values.shape[1]
    return (
        f"{rank} of {n_rows} rows (rank {rank}, {100.0 * features.share:.3g}% of the"
        " kernel's trace)"
    )


def _without_rounding(point: Solution) -> Solution:
    """The point; if its scores are constant but for rounding, with scores of 0."""
    if np.ptp(point.scores) > _FLAT_SCORES:
        return point
    w = None if point.w is None else 0.0 * point.w
    return replace(point, beta=0.0 * point.beta, scores=0.0 * point.scores, w=w)


def _ranked(
    data: _Prepared,
    kernel: Kernel,
    features: Features | None,
    point: Solution,
    means: FloatArray,
) -> _Ranked:
    """The rule of a solution; centring subtracted `means`."""
    rows = data.rows
    least = _NO_SUPPORT * point.sizes.max(initial=0.0)
    support = np.flatnonzero(point.sizes > least)
    w = point.beta if point.w is None else point.w
    if features is not None:
        means = means - features.constants
    raw = point.raised(float(means @ w))
    offset = raw.offset or 0.0
    potential: KernelExpansion | LinearPotential
    if kernel.linear:
        # Its offset turns the coefficients into those of the unscaled columns; the
        # thresholds move with it.
        slopes = point.beta @ data.X[rows] if point.w is None else point.w
        potential = LinearPotential.plain(data.scaling, slopes)
    elif features is not None:
        potential = KernelExpansion(
            kernel=kernel,
            scaling=data.scaling,
            anchors=features.anchors,
            coef=features.coef @ w,
            offset=offset,
            squared_norm=float(w @ w),
        )
    else:
        potential = KernelExpansion(
            kernel=kernel,
            scaling=data.scaling,
            anchors=kernel.anchors(data.X, rows[support]),
            coef=point.beta[support],
            offset=offset,
            squared_norm=max(float(point.beta @ point.scores), 0.0),
        ).merged
    scores = np.empty(data.sample.n)
    scores[rows] = raw.scores + potential.offset
    theta = raw.theta + (potential.offset - offset)
    rule = ThresholdRule(potential, theta, tie=tolerance(scores[rows]))
    absent = data.sample.case_weights == 0
    scores[absent] = rule.scores(data.sample.rows.take(absent))
    return _Ranked(rule, potential.slopes, scores, support)


@with_option_hints
@dataclass(frozen=True, kw_only=True, repr=False)
class REDSVM(KernelMachine):
    """Support vector ordinal ranking by reduction to binary classification [Lin 2008,
    eq. 4.8; Li & Lin 2007].

    Minimises 1/2 |v|^2 + |theta|^2 / (2 gamma^2) + C sum_nk W_nk [1 - Y_nk (<v,
    phi(x_n)> + b - theta_k)]_+ with Y_nk = +1 where y_n > k, else -1, W_nk = |c_n[k+1]
    - c_n[k]|, c_n the costs of row n times its case weight, and gamma the option
    `threshold_gamma`. Convex costs imply ordered thresholds. If costs are only
    V-shaped, theta_1 <= ... <= theta_{K-1} is a constraint. With the absolute cost it
    is the oSVM of Cardoso & da Costa (2007), gamma their h.

    C=1, the default, is rarely the best value for a data set. Take C="cv" to predict.

    Parameters
    ----------
    threshold_gamma : float
        Scale of the thresholds' penalty, 1e-6 to 1e6; large values leave theta nearly
        free. It is not the gamma of a kernel, which is set by
        kernel=Gaussian(gamma=0.5).
    C, kernel, landmarks, cost, scaling, loss, solver, tol, folds, n_jobs
        See `ordstat.svm.redsvm.KernelMachine` and
        `ordstat.svm.options.MachineOptions`.

    Raises
    ------
    OptionError
        An option has a value outside its range.

    Examples
    --------
    >>> REDSVM(C=10)
    REDSVM(C=10.0)
    >>> REDSVM(C="cv", kernel="gaussian")
    REDSVM(C='cv', kernel='gaussian')
    """

    threshold_gamma: float = option(1.0, number, least=1e-6, most=1e6)
    papers: ClassVar[tuple[str, ...]] = (LI_LIN, LIN)

    def penalty_scale(self) -> float:
        return self.threshold_gamma


@with_option_hints
@dataclass(frozen=True, kw_only=True, repr=False)
class SVORIMC(KernelMachine):
    """Support vector ordinal regression with implicitly ordered thresholds [Chu &
    Keerthi 2007; Lin 2008, sec. 4.2.1].

    Minimises 1/2 |v|^2 + C sum_nk [1 - Y_nk (<v, phi(x_n)> - theta_k)]_+ with Y_nk = +1
    where y_n > k, else -1: RED-SVM with the absolute cost and free thresholds. Under
    another cost the terms weigh |c_n[k+1] - c_n[k]|, and where it is not convex theta_1
    <= ... <= theta_{K-1} is a constraint.

    Parameters
    ----------
    C : float, sequence of floats or "cv"
        Price of a violated margin; inf is the hard margin: every row is on its side of
        all thresholds by a margin of 1.
    kernel, landmarks, cost, scaling, loss, solver, tol, folds, n_jobs
        See `ordstat.svm.redsvm.KernelMachine` and
        `ordstat.svm.options.MachineOptions`.

    Raises
    ------
    OptionError
        An option has a value outside its range.

    Examples
    --------
    >>> SVORIMC(C=10, kernel="gaussian")
    SVORIMC(C=10.0, kernel='gaussian')
    """

    hard: ClassVar[bool] = True
    papers: ClassVar[tuple[str, ...]] = (CHU_KEERTHI, LIN)


@with_option_hints
@dataclass(frozen=True, kw_only=True, repr=False)
class SVOREXC(KernelMachine):
    """Support vector ordinal regression with ordered thresholds [Chu & Keerthi 2007;
    Lin 2008, sec. 4.2.1].

    Minimises 1/2 |v|^2 + C sum_n ([1 - <v, phi(x_n)> + theta_{y-1}]_+ + [1 + <v,
    phi(x_n)> - theta_y]_+) subject to theta_1 <= ... <= theta_{K-1}: each row enters at
    the two ends of its interval only, which is the classification cost. Under another
    V-shaped cost every threshold counts, with the weight |c_n[k+1] - c_n[k]|.

    Parameters
    ----------
    C : float, sequence of floats or "cv"
        Price of a violated margin; inf is the hard margin, as in the kernel ranking of
        Rajaram et al. (2003): every row is inside its interval by a margin of 1.
    kernel, landmarks, cost, scaling, loss, solver, tol, folds, n_jobs
        See `ordstat.svm.redsvm.KernelMachine` and
        `ordstat.svm.options.MachineOptions`.

    Raises
    ------
    OptionError
        An option has a value outside its range.

    Examples
    --------
    >>> SVOREXC(C=10)
    SVOREXC(C=10.0)
    """

    cost: CostField = cost_option("classification")

    hard: ClassVar[bool] = True
    explicit: ClassVar[bool] = True
    papers: ClassVar[tuple[str, ...]] = (CHU_KEERTHI, LIN)


@with_option_hints
@dataclass(frozen=True, kw_only=True, repr=False)
class RankBoundarySVM(KernelMachine):
    """Ranking support vector machine (large margin rank boundaries), which learns from
    pairs of rows [Herbrich, Graepel & Obermayer 2000].

    Minimises 1/2 |v|^2 + C sum over pairs of w_i w_j [1 - (<v, phi(x_i)> - <v,
    phi(x_j)>)]_+, over all pairs with y_i > y_j, w the case weights. The boundaries
    between ranks are the midpoints of free support pairs (eq. 7.26-7.28). Without such
    pairs, or if these are out of order, they minimise the training cost. The summary
    says which.

    Parameters
    ----------
    cost : str or (K, K) array
        Cost by which boundaries and C are chosen: "absolute", "classification",
        "squared", or a matrix [true rank, predicted rank]. Costs given for single rows
        replace it. The potential does not depend on it.
    loss : {"hinge", "squared_hinge"}
        The squared hinge takes kernel="linear" or landmarks, and counts pairs instead
        of listing them, for a million rows and more.
    solver : {"auto", "cvxpy"}
        "auto" is coordinate ascent over pairs under the hinge; the squared hinge has
        only "auto", Newton's method.
    C, kernel, landmarks, scaling, tol, folds, n_jobs
        See `ordstat.svm.options.MachineOptions`. C is the price of a violated
        margin of one pair. A row is in a pair with every row of another rank, so that
        C=1 here is similar to C=N in the other machines and often gives no training
        errors. C="cv" tries values down to 2^-17; give a list for smaller values.

    Raises
    ------
    OptionError
        An option has a value outside its range.

    Examples
    --------
    >>> RankBoundarySVM(C=10, kernel="linear", loss="squared_hinge")
    RankBoundarySVM(C=10.0, kernel='linear', loss='squared_hinge')
    """

    supports: ClassVar[Supports] = Supports(row_costs=True, cluster=True)
    routes: ClassVar[Mapping[str, Mapping[str, Route]]] = PAIR_LOSSES
    papers: ClassVar[tuple[str, ...]] = (
        (
            "Herbrich, R., Graepel, T., & Obermayer, K. (2000). Large margin rank"
            " boundaries for ordinal regression. Advances in Large Margin Classifiers,"
            " 115-132. MIT Press."
        ),
    )

    def problem(self, sample: Sample, gram: Gram, costs: FloatArray) -> PairProblem:
        squared = self.loss == "squared_hinge"
        return PairProblem(
            gram=gram,
            y=sample.y,
            costs=costs,
            weights=sample.case_weights,
            squared=squared,
        )

    def method_facts(
        self, problem: PairProblem, solution: PairSolution
    ) -> tuple[tuple[str, Any], ...]:
        return (
            ("Pairs", f"{problem.n_pairs} of rows with different ranks"),
            ("Loss", self.loss.replace("_", " ")),
            ("Boundaries", solution.boundaries),
        )

    def extra_bounds(
        self, sample: Sample, fit: Fit, geometry: Geometry, delta: float
    ) -> MarginBounds:
        """Theorem 7.2 for the risk of a pair in the wrong order."""
        return preference_bounds(
            fit.scores, cast(BallGeometry, geometry), sample, delta
        )

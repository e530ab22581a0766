"""The machine that learns from pairs of rows: its problem, its solvers, and the rank
boundaries.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.sparse import csr_array

from .._typing import BoolArray, FloatArray, IntArray
from ..compiled.svm import pair_sweep, pairs_below
from ..exceptions import DataError
from ..judging.costs import least_cost_thresholds, merged
from ..reduction.convex import Loss, minimum
from ..threads import one_blas_thread
from .dual import Outcome, Route, Solution, better
from .gram import Gram, LinearGram, cvxpy, solve_with_clarabel

# The least and the greatest tolerance within which a score difference counts as 1: the
# pair is on the margin.
_EXACT_BOUNDARIES = 1e-7
_ROUGH_BOUNDARIES = 1e-2
# Costs that differ by less than this share of all are equal.
_COST_TIE = 1e-9


def boundaries(
    problem: PairProblem, scores: FloatArray, slack: float
) -> tuple[FloatArray, str]:
    """(K-1,) rank boundaries of scores (N,), and how they were computed, for the
    summary.

    `slack` is how far a difference of two scores may be from its value at the optimum.
    """
    scores = merged(scores)
    theta = _middle_boundaries(
        problem, scores, min(max(slack, _EXACT_BOUNDARIES), _ROUGH_BOUNDARIES)
    )
    if not isinstance(theta, str):
        return theta, "midpoints of free support pairs (eq. 7.27)"
    return (
        least_cost_thresholds(scores, problem.costs, problem.weights),
        f"of least training cost: {theta}",
    )


def _middle_boundaries(
    problem: PairProblem, scores: FloatArray, tolerance: float
) -> FloatArray | str:
    """(K-1,) midpoints of free support pairs, or the reason why they cannot be used."""
    if problem.squared:
        return "the squared hinge has no free support pairs"
    theta = np.empty(problem.n_levels - 1)
    costs = problem.costs
    for k in range(theta.size):
        middles = _middles(
            scores[problem.y == k], scores[problem.y == k + 1], tolerance
        )
        if middles.size == 0:
            return f"no free support pair joins ranks {k + 1} and {k + 2}"
        theta[k] = _best_middle(
            middles,
            scores,
            problem.weights * (costs[:, k + 1] - costs[:, k]),
            tolerance,
        )
    if (np.diff(theta) < 0).any():
        return "the midpoints of free support pairs are out of order"
    return theta


def _middles(lower: FloatArray, upper: FloatArray, tolerance: float) -> FloatArray:
    """Midpoints of pairs whose scores differ by 1; each upper row takes the partner
    nearest to this difference.
    """
    if lower.size == 0:
        return np.zeros(0)
    ordered = np.sort(lower)
    right = np.clip(np.searchsorted(ordered, upper - 1.0), 1, max(ordered.size - 1, 1))
    near = ordered[np.minimum(np.stack([right - 1, right]), ordered.size - 1)]
    partner = np.where(
        np.abs(upper - 1.0 - near[0]) <= np.abs(upper - 1.0 - near[1]), near[0], near[1]
    )
    on_margin = np.abs(upper - partner - 1.0) <= tolerance
    return np.asarray(0.5 * (upper + partner)[on_margin])


def _onto_scores(ordered: FloatArray, middles: FloatArray) -> FloatArray:
    """Move each midpoint onto the last of the increasing scores that equals it up to
    rounding.
    """
    last = ordered[
        np.searchsorted(ordered, middles + _EXACT_BOUNDARIES, side="right") - 1
    ]
    return np.where(np.abs(last - middles) <= _EXACT_BOUNDARIES, last, middles)


def _best_middle(
    middles: FloatArray, scores: FloatArray, steps: FloatArray, tolerance: float
) -> float:
    """The midpoint of least cost, where each row above it costs steps_n; among equals
    the one farthest from any score.

    Distances that differ by less than `tolerance` are equal, and the lowest midpoint
    wins. A midpoint that equals a score up to rounding is moved onto it, and the row is
    not above it.
    """
    order = np.argsort(scores)
    ordered = scores[order]
    middles = _onto_scores(ordered, middles)
    above = np.concatenate([np.cumsum(steps[order][::-1])[::-1], [0.0]])
    position = np.searchsorted(ordered, middles, side="right")
    cost = above[position]
    equal = cost <= cost.min() + _COST_TIE * np.abs(steps).sum()
    ends = np.concatenate([[-np.inf], ordered, [np.inf]])
    remote = np.minimum(middles - ends[position], ends[position + 1] - middles)
    return float(middles[equal & (remote >= remote[equal].max() - tolerance)].min())


@dataclass(frozen=True, eq=False, kw_only=True)
class PairProblem:
    """The problem for any C.

    The loss of a pair with margin m is [1 - m]_+, or its square with the columns of a
    linear kernel.

    Attributes
    ----------
    gram : Gram
        Solvers take a kernel matrix centred in rows and columns (see `centred`).
    y : (N,) codes
    weights : (N,) case weights, > 0
    costs : (N, K)
        Cost of each prediction, used only for the rank boundaries.
    squared : bool
        Whether violations are squared.
    """

    gram: Gram
    y: IntArray
    weights: FloatArray
    costs: FloatArray
    squared: bool

    def centred(self, rows: BoolArray | None = None) -> tuple[PairProblem, FloatArray]:
        """The problem of some rows with a centred kernel, and the subtracted means; see
        `ExtendedDual.centred`.
        """
        gram, means = (self.gram if rows is None else self.gram.part(rows)).centred()
        kept = slice(None) if rows is None else rows
        return (
            replace(
                self,
                gram=gram,
                y=self.y[kept],
                weights=self.weights[kept],
                costs=self.costs[kept],
            ),
            means,
        )

    @property
    def n_levels(self) -> int:
        return int(self.costs.shape[1])

    @property
    def n_pairs(self) -> int:
        """M, the number of pairs of rows of different rank."""
        counts = np.bincount(self.y, minlength=self.n_levels)
        return int((self.y.size**2 - np.sum(counts**2)) // 2)

    def pairs(self) -> tuple[IntArray, IntArray]:
        """(M,) rows of the higher and of the lower rank."""
        rows = np.argsort(self.y, kind="stable")
        lower_rows = np.searchsorted(self.y[rows], self.y[rows])
        ends = np.cumsum(lower_rows)
        positions = np.arange(int(ends[-1])) - np.repeat(ends - lower_rows, lower_rows)
        return np.repeat(rows, lower_rows).astype(np.int32), rows[positions].astype(
            np.int32
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class PairSolution(Solution):
    """A certified point; the pairs themselves are not kept.

    Attributes
    ----------
    boundaries : str
        How the thresholds were computed.
    """

    boundaries: str = ""


def sums_over_partners(
    problem: PairProblem, scores: FloatArray, X: FloatArray, order: IntArray
) -> FloatArray:
    """Sums (N, 3 + D) of w_j (1, s_j, s_j^2, x_j) for each row i, over rows j of a
    lower rank with s_j > s_i - 1.

    `order` (N,) sorts the scores.
    """
    width = 3 + X.shape[1]
    sums = np.empty((scores.size, width))
    by_row = np.empty((scores.size, width))
    y = np.ascontiguousarray(problem.y[order], dtype=np.intp)
    totals = np.zeros((problem.n_levels, width))
    pairs_below(
        scores[order],
        y,
        problem.weights[order],
        np.ascontiguousarray(X[order]),
        sums,
        totals,
    )
    by_row[order] = sums
    return by_row


def evaluated(
    problem: PairProblem, C: float, beta: FloatArray, size: float, square: float
) -> PairSolution:
    """P at v = sum_n beta_n phi(x_n), and D from size = sum a_p and square = sum a_p^2
    / w_p; without thresholds.
    """
    scores, w = problem.gram.scored(beta)
    norm = max(float(beta @ scores), 0.0)
    s = scores - scores.mean()
    count, total, squares = sums_over_partners(
        problem, s, np.empty((s.size, 0)), np.argsort(s)
    ).T
    room = 1.0 - s
    if problem.squared:
        loss = max(
            float(problem.weights @ (count * room**2 + 2.0 * room * total + squares)),
            0.0,
        )
        size -= 0.25 / C * square
    else:
        loss = float(problem.weights @ (count * room + total))
    primal = 0.5 * norm + C * loss
    dual = size - 0.5 * norm
    return PairSolution(
        beta=beta, scores=scores, theta=np.zeros(0), primal=primal, dual=dual, w=w
    )


def solved(problem: PairProblem, point: PairSolution) -> PairSolution:
    """The point with its rank boundaries."""
    slack = np.sqrt(
        2.0 * point.gap * abs(point.primal) * float(problem.gram.diagonal.mean())
    )
    theta, how = boundaries(problem, point.scores, slack)
    return replace(point, theta=theta, boundaries=how)


# Most updates of single pairs in one solve.
_MOST_STEPS = 4_000_000_000
_LEAST_EPOCHS = 300
_MOST_EPOCHS = 100_000
# Epochs before the first certificate.
_FIRST_CHECK = 3
# All pairs are visited at least once in this number of epochs.
_EPOCHS_A_LIST = 10
# Each visit of all pairs tightens the inner tolerance by this factor.
_TIGHTEN = 0.7
# Pairs with a violation below this share of the inner tolerance wait for a later epoch.
_SKIP = 0.1
# Pairs that fit into memory with their dual variables (about 1 GB while an epoch is
# shuffled).
MOST_PAIRS = 20_000_000
# Problems of at most _FEW_PAIRS pairs are solved until the gap is rounding.
_FEW_PAIRS = 20_000
_ROUNDING_ASCENT = 1e-11
# After this number of checks that do not halve the gap, only rounding is left.
_PATIENCE = 8


class PairAscent:
    """Coordinate ascent over pairs for the hinge and growing C; each solve starts where
    the last one ended.

    Parameters
    ----------
    problem : PairProblem
    rng : numpy.random.Generator
        Order of the pairs in each epoch.
    max_epochs : int, optional
        Limit on the epochs of one solve; by default as many as take minutes.

    Raises
    ------
    DataError
        There are too many pairs to list.
    """

    name = "pair ascent"

    def __init__(
        self,
        problem: PairProblem,
        rng: np.random.Generator,
        max_epochs: int | None = None,
    ) -> None:
        if problem.n_pairs > MOST_PAIRS:
            raise DataError(
                f"{problem.y.size} rows make {problem.n_pairs} pairs of different rank,"
                f" and at most {MOST_PAIRS} can be listed. Take fewer rows, or"
                " loss='squared_hinge' with kernel='linear' or landmarks=2000."
            )
        self.problem = problem
        self.rng = rng
        self.upper, self.lower = problem.pairs()
        self.weights = problem.weights[self.upper] * problem.weights[self.lower]
        self.alpha = np.zeros(self.upper.size)
        self.max_epochs = max_epochs or min(
            max(_LEAST_EPOCHS, _MOST_STEPS // max(self.alpha.size, 1)), _MOST_EPOCHS
        )

    def solve(self, C: float, tol: float) -> Outcome[PairSolution]:
        """Ascend until the relative duality gap is at most `tol`, or for `max_epochs`
        epochs; small problems until the gap is rounding.
        """
        aim = tol
        if self.alpha.size <= _FEW_PAIRS:
            aim = min(tol, _ROUNDING_ASCENT)
        np.minimum(self.alpha, C * self.weights, out=self.alpha)
        sweeps = _PairSweeps(self, C)
        best: PairSolution | None = None
        path: list[float] = []
        stalled = 0
        check = _FIRST_CHECK
        while True:
            sweeps.run(min(check, self.max_epochs))
            check = int(1.3 * sweeps.epoch) + 2
            size = float(self.alpha.sum())
            point = evaluated(self.problem, C, self.beta(), size, 0.0)
            path.append(point.primal)
            stalled += 1
            if best is None or point.gap < 0.5 * best.gap:
                stalled = 0
            if best is None or point.gap < best.gap:
                best = point
            if best.gap <= aim or sweeps.epoch >= self.max_epochs:
                break
            if best.gap <= tol and stalled >= _PATIENCE:
                break
            sweeps.restart(point.beta)
        return Outcome(
            solution=solved(self.problem, best),
            solver=self.name,
            iterations=sweeps.epoch,
            path=np.array(path),
        )

    def beta(self) -> FloatArray:
        """(N,) coefficients of the rows."""
        n = self.problem.y.size
        beta: FloatArray = np.bincount(self.upper, self.alpha, n).astype(np.float64)
        return beta - np.bincount(self.lower, self.alpha, n)

    def shuffled(self) -> IntArray:
        """(M,) all pairs in random order."""
        return self.rng.permutation(self.alpha.size).astype(np.intp)


class _PairSweeps:
    """Epochs of one solve, which move the ascent's alpha.

    An epoch drops the pairs at a bound that are far from leaving it; now and then all
    pairs come back, and violations that count get smaller.
    """

    def __init__(self, ascent: PairAscent, C: float) -> None:
        self.ascent = ascent
        self.C = C
        self.epoch = 0
        self.inner = 1.0
        self.violation = np.inf
        self.order = ascent.shuffled()
        self.restart(ascent.beta())

    def restart(self, beta: FloatArray) -> None:
        """Recompute the scores from beta (N,), without accumulated rounding."""
        self.state = self.ascent.problem.gram.state(beta)

    def run(self, last: int) -> None:
        """Sweep until the epoch `last`, at least once."""
        self._sweep()
        while self.epoch < last:
            self._sweep()

    def _sweep(self) -> None:
        ascent = self.ascent
        problem = ascent.problem
        self.epoch += 1
        self.violation, kept = pair_sweep(
            problem.gram.array,
            problem.gram.factored,
            ascent.upper,
            ascent.lower,
            problem.weights,
            ascent.alpha,
            self.state,
            self.order,
            self.C,
            _SKIP * self.inner,
            2.0 * self.violation,
        )
        due = self.epoch % _EPOCHS_A_LIST == 0
        if self.violation < self.inner or kept == 0 or due:
            self.inner *= _TIGHTEN
            self.order = ascent.shuffled()
        else:
            self.order = ascent.rng.permutation(self.order[:kept])


# Shares of the objective below which Newton's decrement is rounding, tried in turn: for
# large C, the w that the dual variables give needs a far smaller share. A gap of at
# most _EXACT is rounding.
_ZERO_DECREMENTS = (1e-15, 1e-20, 1e-25, 1e-30)
_EXACT = 1e-13


class PairNewton:
    """Newton's method for the squared hinge and a linear kernel, counting pairs; each C
    starts where the last ended.

    Parameters
    ----------
    problem : PairProblem
        With a LinearGram and the squared hinge.
    rng : numpy.random.Generator
        Not used; all solvers take the same arguments.
    """

    name = "counting Newton"

    def __init__(self, problem: PairProblem, rng: np.random.Generator) -> None:
        assert isinstance(problem.gram, LinearGram)
        self.problem = problem
        self.X = problem.gram.X
        self.w = np.zeros(self.X.shape[1])

    def solve(self, C: float, tol: float) -> Outcome[PairSolution]:
        """Iterate until the gap is rounding or Newton's steps no longer improve P: well
        below any usual `tol`.
        """
        path: list[float] = []
        points: list[PairSolution] = []
        with one_blas_thread():
            for rounding in _ZERO_DECREMENTS:
                optimum = minimum(partial(self._evaluate, C), self.w, rounding=rounding)
                self.w = optimum.coef
                path += optimum.objective.tolist()
                # The dual variables of w are a_p = 2 C w_p (violation); P is evaluated
                # at the w that they give.
                loss, linear, slope, _, _ = self._sums(self.w)
                a = 2.0 * C
                points.append(
                    evaluated(self.problem, C, a * slope, a * linear, a * a * loss)
                )
                if points[-1].gap <= _EXACT:
                    break
        solution = solved(self.problem, min(points, key=lambda point: point.gap))
        return Outcome(
            solution=solution,
            solver=self.name,
            iterations=len(path) - 1,
            path=np.array(path),
        )

    def _evaluate(self, C: float, w: FloatArray) -> Loss:
        """P with its derivatives."""
        loss, _, slope, degree, partners = self._sums(w)
        # X' (diag(degree) - A) X is the sum of half and its transpose: A has each pair
        # twice, as (i, j) and (j, i).
        part = partners * -self.problem.weights[:, None]
        part += self.X * (0.5 * degree)[:, None]
        half = 2.0 * C * (self.X.T @ part)
        gradient = w - 2.0 * C * (self.X.T @ slope)
        return Loss(
            0.5 * float(w @ w) + C * loss, gradient, np.eye(w.size) + half + half.T
        )

    def _sums(
        self, w: FloatArray
    ) -> tuple[float, float, FloatArray, FloatArray, FloatArray]:
        """The sums that P and its derivatives at w (D,) consist of.

        Returns the sums of the squared violations and of the violations; minus half the
        derivative of the first by the scores (N,); for each row its weight times the
        weight of its violating partners (N,); and for each row the sum of w_j x_j over
        its violating partners of a lower rank (N, D).
        """
        problem = self.problem
        v = self.problem.weights
        s = self.X @ w
        order = np.argsort(s)
        lower = sums_over_partners(problem, s, self.X, order)
        # The same pass in reverse order: partners of a higher rank with s_j < s_i + 1.
        mirrored = replace(problem, y=problem.n_levels - 1 - problem.y)
        upper = sums_over_partners(mirrored, -s, np.empty((s.size, 0)), order[::-1])
        room = 1.0 - s
        linear = lower[:, 0] * room + lower[:, 1]
        square = lower[:, 0] * room**2 + 2.0 * room * lower[:, 1] + lower[:, 2]
        # For the lower row of a pair: 1 - (s_i - s_j), summed over i.
        pressed = upper[:, 0] * (1.0 + s) + upper[:, 1]
        degree = v * (lower[:, 0] + upper[:, 0])
        return (
            max(float(v @ square), 0.0),
            float(v @ linear),
            v * (linear - pressed),
            degree,
            lower[:, 3:],
        )


# cvxpy takes seconds up to this number of pairs, and follows after this number of
# epochs.
_MOST_CVXPY_PAIRS = 50_000
_EPOCHS_BEFORE_CVXPY = 3000


class CvxpyPairs:
    """The dual of the hinge solved by cvxpy, for any C: the reference route.

    The variables are tau = a / c with c = min(C, sqrt(C)), after C is scaled to pairs
    with a mean weight of 1: boxes and dual variables are then neither too small nor too
    large for the solver's tolerances.

    Parameters
    ----------
    problem : PairProblem
    rng : numpy.random.Generator
        Not used; all solvers take the same arguments.
    """

    name = "cvxpy"

    def __init__(self, problem: PairProblem, rng: np.random.Generator) -> None:
        self.problem = problem
        upper, lower = problem.pairs()
        weights = problem.weights[upper] * problem.weights[lower]
        self.unit = float(weights.mean()) if weights.size else 1.0
        self.weights = weights / self.unit
        m = upper.size
        signs = np.concatenate([np.ones(m), -np.ones(m)])
        cells = (
            np.concatenate([upper, lower]),
            np.concatenate([np.arange(m), np.arange(m)]),
        )
        self.incidence = csr_array((signs, cells), shape=(problem.y.size, m))

    def solve(self, C: float, tol: float) -> Outcome[PairSolution]:
        """Solve to Clarabel's tolerance; the certificate gives the relative duality gap
        that this leaves.
        """
        cp = cvxpy()
        problem = self.problem
        price = C * self.unit
        c = min(price, np.sqrt(price))
        tau = cp.Variable(self.weights.size, nonneg=True)
        beta = cp.Variable(problem.y.size)
        half, constraints = problem.gram.half_square(beta)
        constraints += [beta == self.incidence @ tau, tau <= price / c * self.weights]
        model = cp.Problem(cp.Minimize(c * half - cp.sum(tau)), constraints)
        iterations = solve_with_clarabel(model, tol)
        alpha = np.clip(c * tau.value, 0.0, price * self.weights)
        point = evaluated(problem, C, self.incidence @ alpha, float(alpha.sum()), 0.0)
        solution = solved(problem, point)
        return Outcome(
            solution=solution,
            solver=self.name,
            iterations=iterations,
            path=np.array([point.primal]),
        )


class AutomaticPairs:
    """Coordinate ascent, then cvxpy if that misses the tolerance and there are few
    pairs.

    Coordinate ascent is slow if C is huge and the rows cannot be ordered without an
    error, as for a polynomial of few columns and noisy ranks.

    Parameters
    ----------
    problem : PairProblem
    rng : numpy.random.Generator
    """

    def __init__(self, problem: PairProblem, rng: np.random.Generator) -> None:
        self.problem = problem
        self.rng = rng
        self.small = problem.n_pairs <= _MOST_CVXPY_PAIRS
        self.ascent = PairAscent(
            problem, rng, _EPOCHS_BEFORE_CVXPY if self.small else None
        )

    def solve(self, C: float, tol: float) -> Outcome[PairSolution]:
        """The outcome of the first route that reaches `tol`, else the better one."""
        outcome = self.ascent.solve(C, tol)
        if outcome.solution.gap <= tol or not self.small:
            return outcome
        return better(CvxpyPairs(self.problem, self.rng).solve(C, tol), outcome)


#: Routes of each loss by name of the solver.
PAIR_LOSSES: dict[str, dict[str, Route]] = {
    "hinge": {"auto": AutomaticPairs, "cvxpy": CvxpyPairs},
    "squared_hinge": {"auto": PairNewton},
}

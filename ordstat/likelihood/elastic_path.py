"""The path of elastic net fits of a likelihood model, and its cross-validation.

Minimises -loglik / N + lambda sum_g omega_g (alpha sqrt(p_g) ||b_g|| + (1 - alpha) / 2
||b_g||^2) over the coefficients b of columns that are centred and divided by their
standard deviations (divisor N, the sum of the weights), orthonormal within groups
[Friedman, Hastie and Tibshirani 2010; Yuan and Lin 2006; Simon and Tibshirani 2012].
`proximal.py` solves it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import gammaln

from .._typing import AnyArray, BoolArray, FloatArray, IntArray, Progress
from ..checks import require_memory, ticking
from ..exceptions import DataError, OptionError
from ..fit import Certificate, Trace, least_expected
from ..formula.sample import PenalisedColumns, Rows, Sample
from ..formula.sparse import in_place_of_dense, sparse_part
from ..judging.costs import CostMatrix
from ..judging.errors import log_losses, ranked_probability_scores
from ..judging.folds import held_weights, split
from ..newton import Blocks, Ended, positive_factor
from ..threads import in_threads
from .columns import NO_COLUMNS, ColumnScales, column_scales
from .elastic_net import CRITERIA, ElasticNet
from .estimate import Estimation
from .fit import LikelihoodFit
from .problem import Problem
from .proximal import (
    HELD,
    PathPoint,
    PenalisedPoint,
    Shrinkage,
    duality_gap,
    follow,
    solve,
)
from .rows import LikelihoodRows
from .sparse_rows import RowCurvature, SparseLikelihood
from .user_scale import UnknownCovariance

if TYPE_CHECKING:
    from .regression import OrdinalRegression

#: Largest residual of the conditions of an optimum, as a share of lambda.
TOLERANCE = 1e-7
#: Share of it at which a ridge of sparse or wide data ends: its last step costs little,
#: and weakly determined coefficients are off by the residual divided by lambda.
_CLOSER = 0.01
#: That of the model without the penalised columns.
_NULL_TOLERANCE = 1e-12
#: The first lambda of a ridge is that of this share of lasso.
_LEAST_RATIO = 1e-3
#: Smallest lambda as a share of the largest, with more rows than columns, and with
#: fewer.
_SPAN = 1e-4
_WIDE_SPAN = 1e-2
#: A path ends where this share of the deviance is explained, or where a step explains
#: so little more, as in glmnet, but not among the first few.
_EXPLAINED = 0.99
_GAIN = 1e-5
_FIRST = 5
#: A path of sparse columns ends where more coefficients than this share of the rows are
#: not 0: beyond it the rows are soon separated, and every step takes far longer.
_CROWDED = 0.5
#: Eigenvalues of the correlations of a group below this share of the largest are 0.
_RANK = 1e-10
#: Weight of the number of models in EBIC [Chen and Chen 2008].
_EBIC = 0.5
#: Rows times squared columns up to which second derivatives cost little more than the
#: score.
_SMALL = 1 << 18
#: How the model with thresholds and offsets only is fitted.
_NULL = Estimation(penalty=None, start=None, tol=1e-6, max_iter=100)
#: For the score alone, which needs no room for the information.
_NO_BLOCKS = Blocks(
    np.zeros((1, 1, 1)), np.zeros((0, 1, 1)), np.zeros((1, 1, 0)), np.zeros((0, 0))
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Groups:
    """The penalised coefficients of a problem, sorted by group.

    Attributes
    ----------
    places : (p,)
        Position of each coefficient in a point of the problem.
    starts : (G + 1,)
        First coefficient of each group, and p.
    factor : (G,)
    size : (G,)
        Rank of the columns of the group.
    lower, upper : (p,)
        Bounds.
    turn : (q + d, q + d) or (d, n), or None
        From coefficients of columns that are orthonormal within groups to those of the
        standardised ones, or from those along the rows of a wide ridge; None where
        every column is a group.
    along_rows : bool
        Whether the coefficients are those of a basis of the rows: the ridge of more
        columns than rows is 0 in all other directions.
    """

    places: IntArray
    starts: IntArray
    factor: FloatArray
    size: FloatArray
    lower: FloatArray
    upper: FloatArray
    turn: FloatArray | None
    along_rows: bool = False

    @classmethod
    def of(
        cls, problem: Problem, marks: PenalisedColumns, signs: AnyArray, net: ElasticNet
    ) -> Groups:
        """The groups of a problem, whose columns have these marks and signs.

        Raises
        ------
        OptionError
            A sign for a column that enters together with others.
        """
        layout = problem.rows.layout
        m = layout.columns
        alone = np.unique(marks.group).size == marks.group.size
        if m == 1 and alone and not problem.sample.stepped:
            single = cls.single(layout.n_alpha, marks, signs)
            wide = layout.location > problem.sample.n
            equal = np.ptp(marks.factor) == 0.0 and not signs.any()
            dense = sparse_part(problem.sample.X) is None
            if net.l1_ratio == 0.0 and wide and equal and dense:
                return single.rotated(problem)
            return single
        of_column = [m * np.arange(layout.thresholds) + j for j in range(1, m)]
        of_column += list(np.arange(layout.n_alpha, layout.size)[:, None])
        turn, sign_of_steps = _map_to_steps(problem, signs, net)
        signs = signs + sign_of_steps
        groups: list[tuple[IntArray, float, float, float]] = []
        for code in np.unique(marks.group):
            columns = np.flatnonzero(marks.group == code)
            factor = float(marks.factor[columns[0]])
            sign = float(signs[columns[0]])
            places = np.concatenate([of_column[j] for j in columns])
            if columns.size > 1 and signs[columns].any():
                raise OptionError(
                    "constraints= must be on columns that enter alone; one is among the"
                    " columns of a term. Give penalty=ElasticNet(groups=False)."
                )
            if not net.groups:
                groups += [(place, factor, 1.0, sign) for place in places[:, None]]
                continue
            rank = columns.size
            if net.standardize and rank > 1:
                block = _orthonormal(problem, columns)
                turn[np.ix_(columns, columns)] = block
                rank = int(block.any(axis=0).sum())
            groups.append((places, factor, rank * places.size / columns.size, sign))
        sizes = [places.size for places, *_ in groups]
        sign_of = np.repeat([sign for *_, sign in groups], sizes)
        return cls(
            places=np.concatenate([places for places, *_ in groups]),
            starts=np.cumsum([0, *sizes]).astype(np.intp),
            factor=np.array([factor for _, factor, _, _ in groups]),
            size=np.array([size for _, _, size, _ in groups]),
            lower=np.where(sign_of > 0.0, 0.0, -np.inf),
            upper=np.where(sign_of < 0.0, 0.0, np.inf),
            turn=None if np.array_equal(turn, np.eye(len(turn))) else turn,
        )

    @classmethod
    def single(cls, first: int, marks: PenalisedColumns, signs: AnyArray) -> Groups:
        """Ungrouped columns, whose positions in a point begin at `first`."""
        order = np.argsort(marks.group)
        sign = signs[order]
        return cls(
            places=first + order,
            starts=np.arange(order.size + 1),
            factor=marks.factor[order],
            size=np.ones(order.size),
            lower=np.where(sign > 0.0, 0.0, -np.inf),
            upper=np.where(sign < 0.0, 0.0, np.inf),
            turn=None,
        )

    def rotated(self, problem: Problem) -> Groups:
        """A ridge with one factor, in an orthonormal basis of the rows, so that no
        matrix of all pairs of columns is needed.
        """
        X = problem.rows.model_rows(slice(None)).x
        turn = np.linalg.qr(X.T)[0]
        turn[~X.any(axis=0)] = 0.0  # of constant columns it holds rounding
        size = turn.shape[1]
        return Groups(
            places=self.places[0] + np.arange(size),
            starts=np.arange(size + 1),
            factor=self.factor[:size],
            size=np.ones(size),
            lower=np.full(size, -np.inf),
            upper=np.full(size, np.inf),
            turn=turn,
            along_rows=True,
        )

    def penalty(self, l1: FloatArray, l2: FloatArray) -> Shrinkage:
        """The penalty with weights l1 (G,) for the lengths of groups and l2 (G,) for
        half their squares.
        """
        return Shrinkage(
            starts=self.starts,
            l1=l1,
            l2=l2,
            lower=self.lower,
            upper=self.upper,
            bounded=self.bounded,
        )

    @cached_property
    def bounded(self) -> bool:
        """Whether some bounds are finite."""
        return bool(np.isfinite(self.lower).any() or np.isfinite(self.upper).any())

    def at(self, lam: float, l1_ratio: float) -> Shrinkage:
        """The penalty at lambda."""
        return self.penalty(
            lam * l1_ratio * self.factor * np.sqrt(self.size),
            lam * (1.0 - l1_ratio) * self.factor,
        )


def _steps(
    problem: Problem, standardize: bool
) -> list[tuple[IntArray, FloatArray, float]]:
    """For each ordered predictor: its columns, the (m, m) map from its standardised
    columns to the indicators of higher levels, of variance 1 if `standardize`, and the
    sign of their coefficients, which are steps between neighbouring levels. 0 for steps
    next to levels without rows.
    """
    q = int(problem.nominal.kept.sum())
    place = np.cumsum(problem.location.kept) - 1
    weights = problem.sample.case_weights
    scales = problem.rows.location
    found = []
    for own in problem.sample.stepped or ():
        columns = place[own.columns]
        X = problem.sample.X[:, columns]
        higher = np.tri(columns.size)
        split = (X - scales.mean[columns]) @ higher
        between = own.between_rows(X)
        size = np.ones(columns.size)
        if standardize:
            size = np.sqrt(np.average(split**2, axis=0, weights=weights))
        unit = np.divide(1.0, size, out=np.zeros(size.size), where=between)
        block = scales.deviation[columns][:, None] * higher * unit
        found.append((q + columns, block, float(own.sign)))
    return found


def _map_to_steps(
    problem: Problem, signs: AnyArray, net: ElasticNet
) -> tuple[FloatArray, FloatArray]:
    """(size, size) the map to the steps of ordered factors, the unit matrix elsewhere,
    and (size,) the signs of steps that must not change.
    """
    size = signs.size
    require_memory(
        f"The map of {size:,} columns to orthonormal groups",
        24.0 * size**2,
        "Give ElasticNet(groups=False).",
    )
    turn = np.eye(size)
    sign_of_steps = np.zeros(size)
    for columns, block, sign in _steps(problem, net.standardize):
        turn[np.ix_(columns, columns)] = block
        sign_of_steps[columns] = sign
        if signs[columns].any():
            raise OptionError(
                "constraints= must not be on columns of fuse(x) or mono(x), whose"
                " steps are estimated. Write mono(x)."
            )
    return turn, sign_of_steps


def _orthonormal(problem: Problem, columns: IntArray) -> FloatArray:
    """(p_g, p_g) map that makes columns of the problem uncorrelated with variance 1; 0
    for directions in which they do not vary.
    """
    rows = problem.rows.model_rows(slice(None))
    both = np.hstack([rows.w[:, 1:], rows.x])[:, columns]
    weights = problem.sample.case_weights
    values, vectors = np.linalg.eigh(both.T @ (weights[:, None] * both))
    varies = values > _RANK * values[-1]
    scale = np.zeros(values.size)
    scale[varies] = np.sqrt(weights.sum() / values[varies])
    return np.asarray(vectors * scale)


def _turned(problem: Problem, turn: FloatArray | None) -> LikelihoodRows:
    """The rows of a problem with its standardised columns times `turn`."""
    plain = problem.rows
    if turn is None:
        return plain
    rows = plain.model_rows(slice(None))
    q = rows.w.shape[1] - 1
    given = problem.sample.rows
    nominal = given.nominal
    if nominal is not None:
        nominal = np.ascontiguousarray(rows.w[:, 1:] @ turn[:q, :q])
    X = np.ascontiguousarray(rows.x @ turn[q:, q:])
    sample = replace(problem.sample, rows=replace(given, X=X, nominal=nominal))
    return replace(
        plain,
        sample=sample,
        location=_unscaled(X.shape[1]),
        nominal=_unscaled(q),
    )


def _unscaled(count: int) -> ColumnScales:
    return ColumnScales(np.zeros(count), np.ones(count), np.ones(count, dtype=bool))


@dataclass(frozen=True, eq=False, kw_only=True)
class PenalisedRows:
    """The log-likelihood of a problem in the form of `proximal.Model`."""

    problem: Problem
    groups: Groups

    @cached_property
    def rows(self) -> LikelihoodRows:
        """The log-likelihood with columns that are orthonormal within groups."""
        return _turned(self.problem, self.groups.turn)

    @cached_property
    def sparse(self) -> SparseLikelihood | None:
        """The log-likelihood, if the columns are sparse."""
        if sparse_part(self.problem.sample.X) is None:
            return None
        return SparseLikelihood(problem=self.problem)

    @cached_property
    def total(self) -> float:
        return float(self.problem.counts.sum())

    @cached_property
    def order(self) -> IntArray:
        """(t + p,) position in a point of each threshold and coefficient."""
        layout = self.rows.layout
        thresholds = layout.columns * np.arange(layout.thresholds)
        return np.concatenate([thresholds, self.groups.places]).astype(np.intp)

    def point(self, theta: FloatArray, b: FloatArray) -> FloatArray:
        """A point of `rows`."""
        x = np.empty(self.order.size)
        x[self.order] = np.concatenate([theta, b])
        return x

    def score(
        self, theta: FloatArray, b: FloatArray
    ) -> tuple[float, FloatArray, Blocks | None] | None:
        if self.sparse is not None:
            return self.sparse.score(theta, b)
        if self._wide is not None:
            return self._score_of_wide(self._wide, theta, b)
        if self._few:
            at = self.rows.evaluate(np.concatenate([theta, b]))
            return None if at is None else (at.loglik, at.score, at.information)
        at = self.rows.evaluate(self.point(theta, b), _NO_BLOCKS)
        return None if at is None else (at.loglik, at.score[self.order], None)

    @cached_property
    def _wide(self) -> FloatArray | None:
        """(p, n) the columns of `rows`, sorted by group, where they are more than the
        rows and the score depends on the sum of their effects.
        """
        rows = self.rows
        wide = self.groups.places.size > rows.sample.n
        if not wide or rows.layout.columns > 1 or not rows.has_scores:
            return None
        columns = self.groups.places - rows.layout.n_alpha
        return np.ascontiguousarray(rows.model_rows(slice(None)).x.T[columns])

    @cached_property
    def _by_predictor(self) -> tuple[LikelihoodRows, FloatArray]:
        """Rows without columns, and the sums of effects (n,) that they have as offset,
        to be written for each point.
        """
        sample = self.rows.sample
        H = np.zeros(sample.n)
        alone = replace(sample.rows, X=np.zeros((H.size, 0)), offset=H)
        sample = replace(sample, rows=alone)
        return replace(self.rows, sample=sample, location=NO_COLUMNS), H

    def _score_of_wide(
        self, columns: FloatArray, theta: FloatArray, b: FloatArray
    ) -> tuple[float, FloatArray, None] | None:
        """`score` by way of the predictors, to which few columns contribute."""
        used = np.flatnonzero(b)
        rows, H = self._by_predictor
        np.matmul(b[used], columns[used], out=H)
        if self.rows.sample.rows.offset is not None:
            H += self.rows.sample.rows.offset
        found = rows.scores(theta)
        if found is None or not np.isfinite(found[0]):
            return None
        loglik, each = found
        y = rows.sample.y
        by_theta = np.bincount(y, each[0], theta.size + 1)[:-1]
        by_theta += np.bincount(y, each[1], theta.size + 1)[1:]
        return loglik, np.concatenate([by_theta, columns @ each[2]]), None

    @cached_property
    def _few(self) -> bool:
        """Whether rows and columns are so few that second derivatives cost little."""
        size = self.rows.sample.n * self.groups.places.size**2
        as_given = np.array_equal(self.order, np.arange(self.order.size))
        return self.problem.family.concave and as_given and size <= _SMALL

    def information(
        self, theta: FloatArray, b: FloatArray, active: IntArray
    ) -> Blocks | None:
        require_memory(
            f"The curvature of {active.size:,} coefficients that are not 0",
            24.0 * active.size**2,
            self._with_less_memory,
        )
        if self.sparse is None:
            blocks = self._dense_information(theta, b, active)
        else:
            blocks = self.sparse.information(theta, b, active)
        if blocks is None or self.problem.family.concave:
            return blocks
        return positive_factor(blocks)[0]

    @property
    def _with_less_memory(self) -> str:
        """What to do where the curvature of all coefficients does not fit in."""
        if self.sparse is None:
            return "Give ElasticNet a larger lambda, or l1_ratio=1."
        return "Give ElasticNet a larger lambda, or a ridge, l1_ratio=0."

    @property
    def has_products(self) -> bool:
        return self.sparse is not None

    def products(self, theta: FloatArray, b: FloatArray) -> RowCurvature | None:
        return None if self.sparse is None else self.sparse.products(theta, b)

    def _dense_information(
        self, theta: FloatArray, b: FloatArray, active: IntArray
    ) -> Blocks | None:
        layout = self.rows.layout
        m = layout.columns
        places = self.groups.places[active]
        by_threshold = places < layout.n_alpha
        nominal, own = np.unique(places[by_threshold] % m, return_inverse=True)
        location = places[~by_threshold]
        x = self.point(theta, b)
        alpha = x[: layout.n_alpha].reshape(-1, m)[:, np.append(0, nominal)]
        part = self._part(nominal - 1, location - layout.n_alpha)
        at = part.evaluate(np.concatenate([alpha.reshape(-1), x[location]]))
        if at is None:
            return None
        blocks = at.information
        if nominal.size:
            width = 1 + nominal.size
            order = np.empty(active.size, dtype=np.intp)
            order[by_threshold] = places[by_threshold] // m * width + 1 + own
            order[~by_threshold] = alpha.size + np.arange(location.size)
            order = np.append(width * np.arange(theta.size), order)
            dense = blocks.dense()[np.ix_(order, order)]
            blocks = Blocks.of_dense(dense, theta.size)
        return blocks

    def _part(self, nominal: IntArray, location: IntArray) -> LikelihoodRows:
        """The rows with some of the columns."""
        rows = self.rows
        given = rows.sample.rows
        some = None
        if nominal.size and given.nominal is not None:
            some = given.nominal.take(nominal, axis=1)
        X = given.X.take(location, axis=1)
        return replace(
            rows,
            sample=replace(rows.sample, rows=replace(given, X=X, nominal=some)),
            location=rows.location.part(location),
            nominal=rows.nominal.part(nominal),
        )

    def is_crowded(self, b: FloatArray) -> bool:
        """Whether the path ends because too many coefficients of sparse columns are not
        0.
        """
        count = int(np.count_nonzero(b)) if self.has_products else 0
        return count > _CROWDED * self.total

    @cached_property
    def varies(self) -> BoolArray:
        """(p,) whether the column of each coefficient varies; constant columns of a
        sparse X are included, and have no effect.
        """
        if self.groups.turn is not None and self.groups.along_rows:
            return np.asarray(self.groups.turn.any(axis=1))
        layout = self.problem.layout
        location = self.problem.location
        deviation = np.ones(layout.size)
        deviation[layout.of_location] = location.deviation[location.kept]
        return np.isfinite(deviation[self.groups.places])

    @cached_property
    def penalised(self) -> BoolArray:
        """(p,) coefficients with a penalty."""
        if self.groups.along_rows:
            return np.ones(self.varies.size, dtype=bool)
        return np.repeat(self.groups.factor, np.diff(self.groups.starts)) > 0.0

    def residual(self, solution: PathPoint) -> float:
        """Largest violation of the optimality (KKT) conditions, over thresholds and
        columns.
        """
        if not self.groups.along_rows:
            return solution.residual
        at = solution.point
        left = self.by_column(solution.penalty.residual(at.by_b, at.b))
        return float(np.abs(np.append(left, at.by_theta)).max())

    def by_column(self, values: FloatArray) -> FloatArray:
        """(p,) coefficients or slopes of the columns, from those of the solver."""
        if self.groups.turn is None or not self.groups.along_rows:
            return values
        return np.asarray(self.groups.turn @ values)

    def estimates(self, points: Sequence[PenalisedPoint]) -> FloatArray:
        """(L, P') the user's parameters at L points."""
        x = np.empty((self.order.size, len(points)))
        x[self.order] = np.array([np.concatenate([at.theta, at.b]) for at in points]).T
        turn = self.groups.turn
        if turn is not None:
            layout = self.rows.layout
            q = layout.columns - 1
            alpha = x[: layout.n_alpha].reshape(layout.thresholds, -1, len(points))
            alpha[:, 1:] = turn[:q, :q] @ alpha[:, 1:]
            x = np.vstack([x[: layout.n_alpha], turn[q:, q:] @ x[layout.of_location]])
        return np.ascontiguousarray(self.problem.user.coefficients(x).T)

    def located(self, estimates: FloatArray) -> tuple[FloatArray, FloatArray]:
        """theta (t,) and b (p,), the inverse of `estimates`."""
        x = self.problem.user.coordinates(estimates)
        turn = self.groups.turn
        if turn is not None:
            layout = self.problem.layout
            q = layout.columns - 1
            alpha = x[: layout.n_alpha].reshape(-1, layout.columns)
            alpha[:, 1:] = alpha[:, 1:] @ np.linalg.pinv(turn[:q, :q]).T
            location = np.linalg.pinv(turn[q:, q:]) @ x[layout.of_location]
            x = np.append(x[: layout.n_alpha], location)
        t = self.rows.layout.thresholds
        return x[self.order[:t]], x[self.order[t:]]


@dataclass(frozen=True, eq=False, kw_only=True)
class Scored:
    """Scores of cross-validation.

    Attributes
    ----------
    scores : (F, L)
        Mean score of the held-out rows of each fold at each lambda.
    weights : (F,)
        Sum of the weights of these rows.
    residual : float
        Largest residual of the fits behind them, as a share of lambda.
    """

    scores: FloatArray
    weights: FloatArray
    residual: float

    @property
    def mean(self) -> FloatArray:
        """(L,) mean over the rows of all folds."""
        return np.asarray(np.average(self.scores, axis=0, weights=self.weights))

    @property
    def error(self) -> FloatArray:
        """(L,) standard error of the mean, from the differences between folds."""
        with np.errstate(invalid="ignore"):  # infinite scores have none
            squares = (self.scores - self.mean) ** 2
        variance = np.average(squares, axis=0, weights=self.weights)
        return np.asarray(np.sqrt(variance / (len(self.scores) - 1)))

    def chosen(self, rule: str) -> int:
        """Position of the lambda chosen by the rule "min" or "1se".

        Raises
        ------
        DataError
            No lambda has a finite score.
        """
        mean = self.mean
        best = int(np.argmin(mean))
        if not np.isfinite(mean[best]):
            raise DataError(
                "The cross-validated log-loss must be finite at some lambda; it is"
                " infinite at all, as held-out rows have probabilities of 0 or crossing"
                " thresholds. Give ElasticNet(score='rps'), or choose='bic'."
            )
        if rule == "min":
            return best
        return int(np.argmax(mean <= mean[best] + self.error[best]))


@dataclass(frozen=True, eq=False, kw_only=True)
class Path:
    """Fits along lambda.

    Attributes
    ----------
    lambdas : (L,) decreasing
    estimates : (L, P')
        On the user's scale, as the estimates of the problem.
    loglik : (L,)
    null_loglik : float
        Log-likelihood with thresholds and offsets only.
    df : (L,)
        Degrees of freedom, thresholds included.
    nonzero : (L,)
        Number of penalised coefficients that are not 0.
    residual : (L,)
        Largest violation of the optimality (KKT) conditions, as a share of lambda.
    steps : (L,)
        Number of Newton steps.
    total : float
        Sum of the weights.
    n_penalised : int
        Number of penalised coefficients of columns that vary.
    ended_early : bool
        Whether smaller lambdas were left out because they explain hardly more.
    cv : Scored or None
    ended_crowded : bool
        Whether they were left out because too many coefficients of sparse columns are
        not 0 for the number of rows.
    """

    lambdas: FloatArray
    estimates: FloatArray
    loglik: FloatArray
    null_loglik: float
    df: FloatArray
    nonzero: IntArray
    residual: FloatArray
    steps: IntArray
    total: float
    n_penalised: int
    ended_early: bool
    cv: Scored | None = None
    ended_crowded: bool = False

    @property
    def explained(self) -> FloatArray:
        """(L,) explained share of the null deviance (thresholds only)."""
        return 1.0 - self.loglik / self.null_loglik

    def criterion(self, name: str) -> FloatArray:
        """(L,) AIC, BIC or EBIC [Chen and Chen 2008, Biometrika 95, eq. 1.1]."""
        each = 2.0 if name == "aic" else np.log(self.total)
        values = each * self.df - 2.0 * self.loglik
        if name == "ebic":
            p = self.n_penalised
            k = self.nonzero
            models = gammaln(p + 1) - gammaln(k + 1) - gammaln(p - k + 1)
            values = values + 2.0 * _EBIC * models
        return np.asarray(values)

    def position(self, choose: str | float) -> int:
        """Position of the chosen lambda on the path.

        Raises
        ------
        OptionError
            A number is not among the lambdas, or a criterion needs degrees of freedom
            that are unknown.
        """
        if not isinstance(choose, str):
            near = int(np.argmin(np.abs(np.log(self.lambdas / choose))))
            if not np.isclose(self.lambdas[near], choose, rtol=1e-6, atol=0.0):
                raise OptionError(
                    f"lambda must be a value of the path; got {choose:g}, and the"
                    f" nearest is {self.lambdas[near]:g}. Fit again with lambdas=."
                )
            return near
        if self.cv is not None and choose in ("min", "1se"):
            return self.cv.chosen(choose)
        values = self.criterion(choose)
        unknown = np.isnan(values)
        if values.size > 1 and unknown.all():
            raise OptionError(
                f"{choose!r} needs degrees of freedom, which a ridge of a sparse X does"
                " not have. Give a lambda of the path, or fit with ElasticNet(cv=5)."
            )
        return int(np.argmin(np.where(unknown, np.inf, values)))


def path_of(
    method: OrdinalRegression,
    net: ElasticNet,
    sample: Sample,
    rng: np.random.Generator,
    progress: Progress | None = None,
) -> tuple[Problem, Path]:
    """The problem of a sample, and its path.

    Raises
    ------
    DataError
        Unpenalised columns are linearly dependent, no penalised column varies, or folds
        cannot be made.
    """
    folds = 0 if net.cv is None else net.cv
    tick = ticking(progress, 1 + folds)
    model = _rows_of(method, net, sample)
    null = _null(model)
    lambdas = np.array(net.lambdas or _grid(net, model, null))
    path = _followed(net, model, null, lambdas, shortened=net.lambdas is None)
    tick("path")
    if net.cv is None:
        return model.problem, path
    weights = sample.case_weights
    held = held_weights(sample.X, sample.y, weights, net.cv, rng, sample.cluster)
    if len(held) < 2:
        raise DataError(
            "cv needs at least two folds that leave rows of every level; these rows"
            " have none. Use more rows, or choose='bic'."
        )
    tasks = [(method, net, *split(sample, out), path.lambdas, tick) for out in held]
    parts = in_threads(_judged, tasks, net.n_jobs)
    scored = Scored(
        scores=np.array([scores for scores, _ in parts]),
        weights=held.sum(axis=1),
        residual=max(residual for _, residual in parts),
    )
    return model.problem, replace(path, cv=scored)


def _rows_of(
    method: OrdinalRegression, net: ElasticNet, sample: Sample
) -> PenalisedRows:
    """The log-likelihood of a sample, its columns in groups."""
    rows = sample.rows
    q = 0 if rows.nominal is None else rows.nominal.shape[1]
    used = sample.case_weights > 0.0
    wide = _all_columns(rows, used)
    weights = None if sample.weights is None else sample.weights[used]
    scales = column_scales(wide, weights, ridge=True)
    marks = sample.penalised
    if marks is None:
        marks = PenalisedColumns.single(wide.shape[1])
    varies = scales.kept & np.isfinite(scales.deviation)
    _check_columns(wide, weights, varies, marks.factor)
    if not net.standardize:
        scales = replace(
            scales, deviation=np.where(np.isfinite(scales.deviation), 1.0, np.inf)
        )
    signs = np.zeros(wide.shape[1])
    if sample.signs is not None:
        signs[q:] = sample.signs
    for own in sample.stepped or ():  # levels without rows have the effect of others
        scales.kept[q + own.columns] = True
    problem = method.problem(sample, (scales, NO_COLUMNS))
    kept = np.concatenate([problem.nominal.kept, problem.location.kept])
    groups = Groups.of(problem, marks.part(kept), signs[kept], net)
    return PenalisedRows(problem=problem, groups=groups)


def _all_columns(rows: Rows, used: BoolArray) -> FloatArray:
    """The nominal and location columns of the rows used."""
    sparse = sparse_part(rows.X)
    if sparse is not None:
        return rows.X if used.all() else in_place_of_dense(sparse[used])
    wide = rows.X if rows.nominal is None else np.hstack([rows.nominal, rows.X])
    return np.ascontiguousarray(wide if used.all() else wide[used])


def _check_columns(
    wide: FloatArray, weights: FloatArray | None, varies: BoolArray, factor: FloatArray
) -> None:
    """DataError if no penalised column varies, or unpenalised ones determine others."""
    if not (varies & (factor > 0.0)).any():
        raise DataError(
            "penalty=ElasticNet(...) needs a penalised column that varies; there is"
            " none. Leave out penalty=, or change factors=."
        )
    free = varies & (factor == 0.0)
    if free.any():
        sparse = sparse_part(wide)
        if sparse is None:
            columns = np.ascontiguousarray(wide[:, free])
        else:
            columns = sparse.among(free).toarray()
        if not column_scales(columns, weights).kept.all():
            raise DataError(
                "Columns with factor 0 must not determine each other, as nothing else"
                " determines their coefficients; they do. Penalise some of them."
            )


def _null(model: PenalisedRows) -> PenalisedPoint:
    """The fit without the penalised columns.

    Raises
    ------
    DataError
        It has no maximum.
    """
    problem = model.problem
    groups = model.groups
    layout = problem.layout
    theta = problem.start()[: layout.n_alpha : layout.columns]
    begun = PenalisedPoint.of(model, theta, np.zeros(groups.places.size))
    if begun is None:
        raise DataError(
            "The log-likelihood must be finite without effects; it is not: offsets are"
            " too large. Rescale them."
        )
    l1 = np.where(groups.factor > 0.0, HELD, 0.0)
    penalty = groups.penalty(l1, np.zeros(l1.size))
    likely = np.zeros(l1.size, dtype=bool)
    solution = solve(model, begun, penalty, _NULL_TOLERANCE, likely)
    if solution.residual > TOLERANCE:
        raise DataError(
            "The columns with factor 0 must have finite effects without the others;"
            " they have none, as rows are separated. Penalise them."
        )
    return solution.point


def _grid(net: ElasticNet, model: PenalisedRows, null: PenalisedPoint) -> FloatArray:
    """(L,) lambdas from the smallest that sets all penalised coefficients to 0."""
    groups = model.groups
    pull = np.where(groups.upper == 0.0, np.minimum(null.by_b, 0.0), null.by_b)
    pull = np.where(groups.lower == 0.0, np.maximum(pull, 0.0), pull)
    some = groups.factor > 0.0
    unit = groups.at(1.0, 1.0)
    if groups.along_rows:
        largest = float(np.abs(model.by_column(pull)).max() / unit.l1[0])
    else:
        largest = float((unit.lengths(pull)[some] / unit.l1[some]).max())
    largest /= max(net.l1_ratio, _LEAST_RATIO)
    if not largest > 0.0:
        raise DataError(
            "penalty=ElasticNet(...) found no column that is related to the response."
            " Give lambdas=."
        )
    wide = model.total <= np.count_nonzero(model.varies)
    span = _WIDE_SPAN if wide else _SPAN
    return np.asarray(largest * span ** np.linspace(0.0, 1.0, net.n_lambdas))


def _followed(
    net: ElasticNet,
    model: PenalisedRows,
    null: PenalisedPoint,
    lambdas: FloatArray,
    shortened: bool,
) -> Path:
    """The path, `shortened` where it explains hardly more."""
    problem = model.problem
    plain = _NULL.null_loglik(problem)
    tolerance = TOLERANCE
    if net.l1_ratio == 0.0 and (model.has_products or model.groups.along_rows):
        tolerance *= _CLOSER
    penalties = (
        (model.groups.at(lam, net.l1_ratio), tolerance * lam) for lam in lambdas
    )
    solutions: list[PathPoint] = []
    explained = [0.0]
    ended = False
    crowded = False
    may_crowd = shortened and net.l1_ratio > 0.0  # a ridge uses all coefficients
    for solution in follow(model, null, penalties):
        solutions.append(solution)
        explained.append(1.0 - model.total * solution.point.loglik / plain)
        gain = explained[-1] - explained[-2]
        late = len(solutions) > _FIRST and gain < _GAIN * explained[-1]
        if shortened and (late or explained[-1] > _EXPLAINED):
            ended = len(solutions) < lambdas.size
            break
        if may_crowd and model.is_crowded(solution.point.b):
            crowded = len(solutions) < lambdas.size
            break
    lambdas = lambdas[: len(solutions)]
    points = [solution.point for solution in solutions]
    penalised = model.penalised
    df = [solution.effective_parameters(model) for solution in solutions]
    return Path(
        lambdas=lambdas,
        estimates=model.estimates(points),
        loglik=model.total * np.array([at.loglik for at in points]),
        null_loglik=plain,
        df=null.theta.size + np.array(df),
        nonzero=np.array(
            [np.count_nonzero(model.by_column(at.b)[penalised]) for at in points]
        ),
        residual=np.array([model.residual(each) for each in solutions]) / lambdas,
        steps=np.array([solution.steps for solution in solutions]),
        total=model.total,
        n_penalised=int(np.count_nonzero(penalised & model.varies)),
        ended_early=ended,
        ended_crowded=crowded,
    )


def duality_gaps(method: OrdinalRegression, sample: Sample, path: Path) -> FloatArray:
    """(L,) duality gaps of a path as shares of the objective; NaN where unknown."""
    net = method.elastic_net
    assert net is not None
    model = _rows_of(method, net, sample)
    gaps = np.full(path.lambdas.size, np.nan)
    if not model.problem.family.concave or sample.rows.offset is not None:
        return gaps
    for i, lam in enumerate(path.lambdas):
        point = PenalisedPoint.of(model, *model.located(path.estimates[i]))
        if point is not None:
            gaps[i] = duality_gap(model, point, model.groups.at(lam, net.l1_ratio))
    return gaps


def _judged(
    method: OrdinalRegression,
    net: ElasticNet,
    train: Sample,
    test: Sample,
    lambdas: FloatArray,
    tick: Any,
) -> tuple[FloatArray, float]:
    """(L,) mean score of held-out rows at each lambda, and the largest residual."""
    model = _rows_of(method, net, train)
    path = _followed(net, model, _null(model), lambdas, shortened=False)
    scores = []
    for estimates in path.estimates:
        rule = model.problem.rule(estimates, model.problem.family, method.cost_matrix)
        each = _scores(net.score, rule.probabilities(test.rows), test.y)
        scores.append(np.average(each, weights=test.case_weights))
    tick("fold")
    return np.array(scores), float(path.residual.max())


def _scores(name: str, probabilities: FloatArray, y: IntArray) -> FloatArray:
    """(n,) score of each row; lower is better, and infinite where thresholds cross."""
    if name == "logloss":
        losses = log_losses(probabilities, y)
        return np.where(np.isnan(losses), np.inf, losses)
    if name == "rps":
        return ranked_probability_scores(probabilities, y)
    codes = least_expected(probabilities, CostMatrix.parse(name))
    missed: FloatArray = np.abs(codes - y).astype(np.float64)
    return missed if name == "absolute" else np.minimum(missed, 1.0)


def _check_choice(net: ElasticNet, sample: Sample) -> None:
    """OptionError for a ridge of sparse columns whose lambda is chosen by a criterion
    that needs degrees of freedom.
    """
    one = net.lambdas is not None and len(net.lambdas) == 1
    by_criterion = isinstance(net.choose, str) and net.choose in CRITERIA
    ridge = net.l1_ratio == 0.0 and sparse_part(sample.X) is not None
    if ridge and by_criterion and not one:
        raise OptionError(
            f"choose={net.choose!r} needs degrees of freedom, which a ridge of a sparse"
            " X does not have. Give ElasticNet(l1_ratio=0, cv=5), or one lambda,"
            " lambdas=0.01."
        )


def fit_along(
    method: OrdinalRegression,
    sample: Sample,
    rng: np.random.Generator,
    progress: Progress | None,
) -> LikelihoodFit:
    """The fit at the lambda that the penalty chooses, with its path."""
    net = method.elastic_net
    assert net is not None
    _check_choice(net, sample)
    problem, path = path_of(method, net, sample, rng, progress)
    choose = net.choose
    assert choose is not None
    return fit_at(method, sample.rows, problem, path, path.position(choose))


def fit_at(
    method: OrdinalRegression, rows: Rows, problem: Problem, path: Path, position: int
) -> LikelihoodFit:
    """The fit at a position of the path."""
    estimates = path.estimates[position]
    rule = problem.rule(estimates, problem.family, method.cost_matrix)
    n_beta = problem.location.kept.size
    residual = float(path.residual[position])
    ended = Ended.CONVERGED if residual <= TOLERANCE else Ended.NO_PROGRESS
    return LikelihoodFit(
        rule=rule,
        certificate=Certificate(
            name="max |violation of the optimality conditions| / lambda",
            value=residual,
            tolerance=TOLERANCE,
        ),
        trace=Trace(
            iterations=int(path.steps[position]),
            objective=path.loglik[: position + 1],
            message=ended.value,
        ),
        scores=rule.scores(rows),
        facts=method.facts(),
        coefficients=problem.with_aliased(estimates),
        n_alpha=problem.estimated.size - n_beta,
        n_beta=n_beta,
        n_zeta=0,
        aliased=~problem.estimated,
        model_covariance=UnknownCovariance(estimates.size),
        loglik=float(path.loglik[position]),
        null_loglik=path.null_loglik,
        null_edf=problem.user.c.size,
        n_obs=path.total,
        likelihood=replace(problem),  # without cached values
        path=path,
        position=position,
    )

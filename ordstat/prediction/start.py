"""Preparation of gradient boosting: distinct rows, bins, and the linear start."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from .._typing import AnyArray, FloatArray, IntArray
from ..exceptions import DataError
from ..formula.coding import MOST_CATEGORIES
from ..formula.distinct import distinct_places
from ..formula.row_blocks import CACHED, row_blocks
from ..formula.sample import Rows, Sample, has_gaps
from ..judging.costs import CostMatrix
from ..judging.folds import held_weights, stratified_part
from ..likelihood.estimate import Estimation
from ..likelihood.penalty import Ridge
from ..likelihood.problem import Problem
from ..threads import Team
from .probabilities import LOGIT
from .rounds import (
    Binned,
    Bins,
    Booster,
    Settings,
    best_thresholds,
    logit_loss,
    most_bins,
)
from .trees import LinearStart


@dataclass(frozen=True, eq=False)
class Indicators:
    """Columns of the linear start: numbers unchanged, and treatment contrasts of
    categories.

    A missing value is replaced by the mean.

    Attributes
    ----------
    categories : (D,)
        Number of categories; 0 for a column of numbers.
    means : (E,)
        Means of the resulting columns.
    """

    categories: IntArray
    means: FloatArray

    @classmethod
    def of(cls, sample: Sample, rows: IntArray, weights: FloatArray) -> Indicators:
        """Prepare for the columns of a sample, with the weighted means over some of its
        rows.
        """
        D = sample.X.shape[1]
        categories = sample.categories
        if categories is None:
            categories = np.zeros(D, dtype=np.intp)
        columns = cls(categories, np.zeros(0))
        sums, totals = np.zeros((2, int(columns.widths.sum())))
        for block in row_blocks(rows.size, D, CACHED):
            made = columns._expanded(sample.X[rows[block]])
            present = ~np.isnan(made)
            sums += weights[block] @ np.where(present, made, 0.0)
            totals += weights[block] @ present
        return replace(columns, means=sums / np.where(totals > 0.0, totals, 1.0))

    @property
    def widths(self) -> IntArray:
        """(D,) number of resulting columns for each column."""
        return np.where(self.categories > 0, np.maximum(self.categories - 1, 0), 1)

    def __call__(self, X: FloatArray) -> FloatArray:
        """(N, E) columns of rows X (N, D)."""
        if not (self.categories.any() or has_gaps(X)):
            return X
        made = np.empty((len(X), self.means.size))
        for block in row_blocks(len(X), X.shape[1], CACHED):
            made[block] = self._expanded(X[block])
        np.copyto(made, self.means, where=np.isnan(made))
        return made

    def start(self, slopes: FloatArray) -> LinearStart:
        """The linear start with slopes (E,) of the resulting columns."""
        ends = np.cumsum(self.widths)
        parts = [
            slice(end - width, end)
            for end, width in zip(ends, self.widths, strict=True)
        ]
        kinds = list(zip(self.categories, parts, strict=True))
        effects = tuple(
            np.append(0.0, slopes[part]) if n else np.zeros(0) for n, part in kinds
        )
        return LinearStart(
            slopes=np.array([0.0 if n else slopes[part][0] for n, part in kinds]),
            missing=np.array([self.means[part] @ slopes[part] for part in parts]),
            effects=effects if self.categories.any() else (),
        )

    def _expanded(self, X: FloatArray) -> FloatArray:
        """(n, E) numbers and indicators, NaN for missing values."""
        if not self.categories.any():
            return X
        parts = [
            (
                np.where(np.isnan(x)[:, None], np.nan, x[:, None] == np.arange(1, n))
                if n
                else x[:, None]
            )
            for x, n in zip(X.T, self.categories, strict=True)
        ]
        return np.hstack(parts)


#: Penalties tried for the linear start, on effects per standard deviation: 2^-4, 2^-2,
#: ..., 2^10.
PENALTIES: tuple[float, ...] = tuple(np.exp2(np.arange(-4.0, 11.0, 2.0)).tolist())
#: A fit takes time quadratic in the columns: beyond the first number one fold and every
#: other penalty are tried, beyond the second there is no linear start.
MANY_COLUMNS = 300
MOST_COLUMNS = 1000
_TOL = 1e-6
_MOST_STEPS = 100
#: Largest number of rows used to choose the penalty, which depends little on it.
MOST_ROWS = 3000


@dataclass(frozen=True, eq=False)
class StartRule:
    """A linear start and its thresholds.

    Attributes
    ----------
    start : LinearStart
    theta : (K-1,)
    """

    start: LinearStart
    theta: FloatArray


def ridge(
    rows: Rows, y: AnyArray, weights: FloatArray, penalty: float, signs: AnyArray
) -> tuple[FloatArray, FloatArray]:
    """Slopes and thresholds of a cumulative logit with a ridge penalty.

    Columns whose effect violates a sign constraint are removed, and the others fitted
    again.

    Parameters
    ----------
    rows : Rows
    y : (N,) codes; every level has rows of positive weight
    weights : (N,)
    penalty : float
        Factor of half the squared effects per standard deviation.
    signs : (D,) 1 or -1 for a required sign, 0 for none
    """
    used = np.flatnonzero(weights > 0)
    codes = np.asarray(y[used], dtype=np.intp)
    free = np.ones(rows.X.shape[1], dtype=np.bool_)
    slopes = np.zeros(free.size)
    while True:
        offset = None if rows.offset is None else rows.offset[used]
        part = Rows(X=np.ascontiguousarray(rows.X[np.ix_(used, free)]), offset=offset)
        sample = Sample(
            rows=part, y=codes, n_levels=int(codes.max()) + 1, weights=weights[used]
        )
        problem = Problem.of(sample, LOGIT, ridge=True)
        estimate = Estimation(
            penalty=Ridge(penalty), start=None, tol=_TOL, max_iter=_MOST_STEPS
        ).of(problem)
        rule = problem.rule(
            estimate.coefficients, estimate.family, CostMatrix.absolute()
        )
        slopes[:] = 0.0
        slopes[free] = rule.beta
        wrong = signs * slopes < 0
        if not wrong.any():
            return slopes, rule.alpha[:, 0]
        free &= ~wrong


#: Largest number of levels (two bytes for each row).
_MOST_LEVELS = 1 << 16


@dataclass(frozen=True, eq=False, kw_only=True)
class BinnedRows:
    """The distinct rows of a sample, binned for boosting.

    Attributes
    ----------
    sample : Sample
    places : (M,) int32
        Places of the distinct rows in the sample.
    data : Binned
    columns : Indicators
        Columns of the linear start.
    """

    sample: Sample
    places: IntArray
    data: Binned
    columns: Indicators

    @classmethod
    def of(cls, sample: Sample, method: str) -> BinnedRows:
        """Prepare a sample."""
        offset = sample.rows.offset
        D = sample.X.shape[1]
        if sample.n_levels > _MOST_LEVELS:
            raise DataError(
                f"{method} needs a response of at most {_MOST_LEVELS} levels; got"
                f" {sample.n_levels}. Join levels."
            )
        if (
            sample.categories is not None
            and sample.categories.max(initial=0) > MOST_CATEGORIES
        ):
            raise DataError(
                f"{method} needs columns of at most {MOST_CATEGORIES} categories; got"
                f" {sample.categories.max()}. Join rare categories, or use a number."
            )
        # Rows with different offsets or clusters are distinct.
        more = [column for column in (offset, sample.cluster) if column is not None]
        order, weights = distinct_places(
            sample, np.column_stack(more) if more else np.zeros((sample.n, 0))
        )
        rows: AnyArray = order.astype(np.int32)
        del order  # frees memory for the bins
        if (weights == 1.0).all():
            weights = np.broadcast_to(np.float64(1.0), rows.shape)  # takes no memory
        data = Binned(
            bins=Bins.of(
                sample.X, rows, weights, sample.categories, most_bins(rows.size, D)
            ),
            y=sample.y[rows].astype(np.uint16),
            weights=weights,
            signs=np.zeros(D, dtype=np.int8) if sample.signs is None else sample.signs,
        )
        return cls(
            sample=sample,
            places=rows,
            data=data,
            columns=Indicators.of(sample, rows, weights),
        )

    @property
    def rows(self) -> Rows:
        """A copy of the distinct rows."""
        return self.sample.rows.take(self.places)

    @property
    def flat(self) -> bool:
        """Whether every column is constant."""
        return self.data.bins.flat

    def held(self, folds: int, rng: np.random.Generator) -> FloatArray:
        """(F, M) weight of each row that each fold holds out."""
        X = self.rows.X
        np.copyto(X, np.inf, where=np.isnan(X))  # missing values count as equal
        if self.sample.cluster is None:
            cluster = None
        else:
            cluster = self.sample.cluster[self.places]
        return held_weights(X, self.data.y, self.data.weights, folds, rng, cluster)

    def constant(self, weights: FloatArray) -> StartRule:
        """The start without effects: thresholds from the shares of the levels under
        weights (M,).
        """
        shares = replace(self.data, weights=weights).shares(self.sample.n_levels)
        return StartRule(
            self.columns.start(np.zeros(self.columns.means.size)), LOGIT.start(shares)
        )

    def null_loss(self) -> float:
        """Mean training loss with thresholds and offsets alone."""
        data = self.data
        H = self._with_offset(np.zeros(data.y.size))
        theta, _ = self.best_thresholds(H, self.constant(data.weights).theta)
        return logit_loss(data.y, data.uneven, H, theta) / data.total

    def linear(self, weights: FloatArray, penalty: float | None) -> StartRule:
        """The linear start under weights (M,), 0 for held-out rows; without effects if
        there is no penalty.
        """
        if penalty is None or self.flat:
            return self.constant(weights)
        return self._ridge(slice(None), weights, penalty)

    @property
    def too_wide(self) -> bool:
        """Whether there are too many columns for a linear start."""
        return self.columns.means.size > MOST_COLUMNS

    def best_ridge(
        self,
        held: FloatArray,
        rng: np.random.Generator,
        tick: Callable[[str, int], None],
    ) -> float:
        """The penalty with the smallest held-out loss; ties go to the larger."""
        penalties = PENALTIES[::-1]
        if self.columns.means.size > MANY_COLUMNS:
            held = held[:1]
            penalties = penalties[::2]
        part = stratified_part(self.data.y, MOST_ROWS, rng)
        y = self.data.y[part]
        weights = self.data.weights[part]
        X = self.sample.X[self.places[part]]

        def judge(penalty: float) -> float:
            total = 0.0
            tick(f"linear start with penalty {penalty:g}", 0)
            for out in held[:, part]:
                linear = self._ridge(part, weights - out, penalty)
                H = self._with_offset(linear.start(X), part)
                tested = out > 0
                total += logit_loss(y[tested], out[tested], H[tested], linear.theta)
            return total

        return min(penalties, key=judge)

    def _ridge(
        self, part: IntArray | slice, weights: FloatArray, penalty: float
    ) -> StartRule:
        """The ridge model of some rows."""
        rows = self.sample.rows.take(self.places[part])
        signs = np.repeat(self.data.signs, self.columns.widths)
        slopes, theta = ridge(
            replace(rows, X=self.columns(rows.X)),
            self.data.y[part],
            weights,
            penalty,
            signs,
        )
        return StartRule(self.columns.start(slopes), theta)

    def booster(
        self,
        settings: Settings,
        start: StartRule,
        weights: FloatArray,
        rng: np.random.Generator,
        team: Team | None = None,
        keeps_trees: bool = True,
    ) -> Booster:
        """A booster before its first round."""
        H = np.empty(self.places.size)
        for block in row_blocks(H.size, self.sample.X.shape[1], CACHED):
            H[block] = start.start(self.sample.X[self.places[block]])
        data = replace(self.data, weights=weights)
        H = self._with_offset(H)
        return Booster(
            data=data,
            settings=settings,
            rng=rng,
            scores=H,
            theta=start.theta,
            team=team,
            keeps_trees=keeps_trees,
        )

    def _with_offset(
        self, H: FloatArray, part: IntArray | slice = slice(None)
    ) -> FloatArray:
        """Scores of some rows plus their offsets."""
        offset = self.sample.rows.offset
        return H if offset is None else H + offset[self.places[part]]

    def best_thresholds(
        self, scores: FloatArray, theta: FloatArray
    ) -> tuple[FloatArray, float]:
        """The thresholds with the smallest training loss, from a start, and the largest
        slope of a row there.
        """
        return best_thresholds(self.data.y, self.data.weights, scores, theta)

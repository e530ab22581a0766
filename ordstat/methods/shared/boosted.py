"""What gradient boosting makes of a sample before its rounds: different rows, bins, the linear start, folds."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..._typing import AnyArray, FloatArray, IntArray
from ...exceptions import DataError, OptionError
from ...learners.losses.cumulative import CumulativeLoss
from ...model.distinct import distinct_places
from ...model.row_blocks import CACHED, row_blocks
from ...model.sample import Rows, Sample
from ...solvers.boosted.bins import MOST_CATEGORIES, Bins
from ...solvers.boosted.rounds import Binned, Booster, Settings, best_thresholds
from ...solvers.threads import Team
from .folds import held_weights, part_of_rows
from .indicators import Indicators
from .linear_start import MOST_ROWS, Linear, best_penalty, ridge

#: Groups of columns that may interact, at most.
_MOST_GROUPS = 64
#: Levels that two bytes a row can tell apart.
_MOST_LEVELS = 1 << 16


@dataclass(frozen=True, eq=False, kw_only=True)
class Training:
    """The different rows of a sample, ready for rounds; X stays with the sample, and bins alone are made of it.

    Attributes
    ----------
    sample : Sample
    places : (M,) int32
        The rows of the sample that differ.
    data : Binned
    columns : Indicators
        What the linear start is fitted to.
    loss : CumulativeLoss
    """

    sample: Sample
    places: IntArray
    data: Binned
    columns: Indicators
    loss: CumulativeLoss

    @classmethod
    def of(cls, sample: Sample, loss: CumulativeLoss, method: str) -> Training:
        """Those of a sample; its restrictions become directions of columns."""
        offset, D = sample.rows.offset, sample.X.shape[1]
        if sample.n_levels > _MOST_LEVELS:
            raise DataError(
                f"{method} takes {_MOST_LEVELS} levels at most; got {sample.n_levels}. Cut the response into fewer."
            )
        if sample.categories is not None and sample.categories.max(initial=0) > MOST_CATEGORIES:
            raise DataError(
                f"{method} takes columns of {MOST_CATEGORIES} categories at most; the largest here has "
                f"{sample.categories.max()}. Join rare ones, or give the column as a number."
            )
        # Rows alike in all but the offset, or the cluster, differ.
        apart = [known for known in (offset, sample.cluster) if known is not None]
        order, weights = distinct_places(sample, np.column_stack(apart) if apart else np.zeros((sample.n, 0)))
        rows: AnyArray = order.astype(np.int32)
        del order  # memory of bins to come
        if (weights == 1.0).all():
            weights = np.broadcast_to(np.float64(1.0), rows.shape)  # without memory of its own
        data = Binned(
            bins=Bins.of(sample.X, rows, weights, sample.categories),
            y=sample.y[rows].astype(np.uint16),
            weights=weights,
            signs=_signs(sample.restrictions, D, method),
            groups=_groups(sample.groups, D),
        )
        columns = Indicators.of(sample, rows, weights)
        return cls(sample=sample, places=rows, data=data, columns=columns, loss=loss)

    def settled(self) -> Training:
        """The same once rounds have begun: where rows were is of no use any more, unless they have offsets."""
        return self if self.sample.rows.offset is not None else replace(self, places=np.empty(0, dtype=np.intp))

    @property
    def rows(self) -> Rows:
        """A copy of the different rows."""
        return self.sample.rows.take(self.places)

    @property
    def flat(self) -> bool:
        """Whether no column has two values, so that there is nothing to learn."""
        return self.data.bins.flat

    def held(self, folds: int, rng: np.random.Generator) -> FloatArray:
        """(F, M) the weights that each fold holds out."""
        X = self.rows.X
        np.copyto(X, np.inf, where=np.isnan(X))  # missing values are alike
        cluster = None if self.sample.cluster is None else self.sample.cluster[self.places]
        return held_weights(X, self.data.y, self.data.weights, folds, rng, cluster)

    def constant(self, weights: FloatArray) -> Linear:
        """No effects, and the thresholds of the shares of the levels under weights (M,)."""
        shares = replace(self.data, weights=weights).shares(self.sample.n_levels)
        return Linear(self.columns.start(np.zeros(self.columns.width)), self.loss.family.start(shares))

    def null_loss(self) -> float:
        """Mean training loss of thresholds, and offsets, alone."""
        data = self.data
        H = self._with_offset(np.zeros(data.y.size))
        theta, _ = self.best_thresholds(H, self.constant(data.weights).theta)
        return self.loss.value(data.y, data.uneven, H, theta) / data.total

    def linear(self, weights: FloatArray, penalty: float | None) -> Linear:
        """The linear start under weights (M,), 0 for rows held out; no effects without a penalty."""
        if penalty is None or self.flat:
            return self.constant(weights)
        return self._ridge(slice(None), weights, penalty)

    def best_ridge(self, held: FloatArray, rng: np.random.Generator) -> float:
        """The penalty of the linear start with the least loss of the held-out rows, weights (F, M)."""
        some = part_of_rows(self.data.y, MOST_ROWS, rng)
        y, weights, X = self.data.y[some], self.data.weights[some], self.sample.X[self.places[some]]

        def judge(penalty: float) -> float:
            total = 0.0
            for out in held[:, some]:
                found = self._ridge(some, weights - out, penalty)
                H = self._with_offset(found.start(X), some)
                tested = out > 0
                total += self.loss.value(y[tested], out[tested], H[tested], found.theta)
            return total

        return best_penalty(judge)

    def _ridge(self, some: IntArray | slice, weights: FloatArray, penalty: float) -> Linear:
        """The ridge model of some of the rows."""
        rows, signs = self.sample.rows.take(self.places[some]), self.columns.spread(self.data.signs)
        columns = replace(rows, X=self.columns(rows.X))
        slopes, theta = ridge(columns, self.data.y[some], weights, self.loss.family, penalty, signs)
        return Linear(self.columns.start(slopes), theta)

    def booster(
        self,
        settings: Settings,
        start: Linear,
        weights: FloatArray,
        rng: np.random.Generator,
        team: Team | None = None,
    ) -> Booster:
        """A booster before its first round."""
        H = np.empty(self.places.size)
        for some in row_blocks(H.size, self.sample.X.shape[1], CACHED):
            H[some] = start.start(self.sample.X[self.places[some]])
        H = self._with_offset(H)
        data = replace(self.data, weights=weights)
        return Booster(data=data, loss=self.loss, settings=settings, rng=rng, scores=H, theta=start.theta, team=team)

    def _with_offset(self, H: FloatArray, some: IntArray | slice = slice(None)) -> FloatArray:
        """Scores of some of the rows, their offsets added."""
        offset = self.sample.rows.offset
        return H if offset is None else H + offset[self.places[some]]

    def best_thresholds(self, scores: FloatArray, theta: FloatArray) -> tuple[FloatArray, float]:
        """The thresholds of least training loss, from a start, and the largest slope of a row left there."""
        return best_thresholds(self.loss, self.data.y, self.data.weights, scores, theta)


def _signs(restrictions: FloatArray | None, n_columns: int, method: str) -> AnyArray:
    """(D,) int8 directions of columns, from rows a of a'w <= 0 with one entry each."""
    signs = np.zeros(n_columns, dtype=np.int8)
    if restrictions is None:
        return signs
    for row in restrictions:
        (places,) = np.nonzero(row)
        if places.size != 1 or signs[places[0]] * row[places[0]] > 0:
            raise OptionError(
                f"constraints= of {method} must be on the sign of one effect each, as in 'x1 >= 0', and not both on "
                "the same: H then rises or falls with the column. Take out those on several effects, or with '='."
            )
        signs[places[0]] = -int(np.sign(row[places[0]]))
    return signs


def _groups(groups: tuple[tuple[int, ...], ...], n_columns: int) -> AnyArray:
    """(D,) uint64 bits of the groups that a column is in; all bits where there are no groups."""
    if not groups:
        return np.full(n_columns, np.iinfo(np.uint64).max, dtype=np.uint64)
    if len(groups) > _MOST_GROUPS:
        raise OptionError(f"interactions= must have at most {_MOST_GROUPS} groups of columns; got {len(groups)}.")
    bits = np.zeros(n_columns, dtype=np.uint64)
    for place, columns in enumerate(groups):
        bits[list(columns)] |= np.uint64(1 << place)
    return bits

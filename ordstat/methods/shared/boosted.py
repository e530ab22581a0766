"""What gradient boosting makes of a sample before its rounds: different rows, bins, the linear start, folds."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..._typing import AnyArray, FloatArray
from ...exceptions import OptionError
from ...learners.losses.cumulative import CumulativeLoss
from ...model.distinct import distinct_rows
from ...model.sample import Rows, Sample
from ...solvers.boosted.bins import Bins
from ...solvers.boosted.rounds import Binned, Booster, Settings, best_thresholds
from .folds import part_of_rows
from .linear_start import MOST_ROWS, Linear, best_penalty, ridge


@dataclass(frozen=True, eq=False, kw_only=True)
class Training:
    """The different rows of a sample, ready for rounds.

    Attributes
    ----------
    rows : Rows
    data : Binned
    n_levels : int
    loss : CumulativeLoss
    """

    rows: Rows
    data: Binned
    n_levels: int
    loss: CumulativeLoss

    @classmethod
    def of(cls, sample: Sample, loss: CumulativeLoss, method: str) -> Training:
        """Those of a sample; its restrictions become directions of columns."""
        offset, D = sample.rows.offset, sample.X.shape[1]
        # Rows alike in all but the offset differ.
        keys = np.zeros((sample.n, 0)) if offset is None else offset[:, None]
        rows = distinct_rows(sample, keys)
        data = Binned(
            bins=Bins.of(rows.X, rows.weights),
            y=rows.y.astype(np.int32),
            weights=rows.weights,
            signs=_signs(sample.restrictions, D, method),
        )
        return cls(
            rows=Rows(X=rows.X, offset=None if offset is None else offset[rows.rows]),
            data=data,
            n_levels=sample.n_levels,
            loss=loss,
        )

    @property
    def flat(self) -> bool:
        """Whether no column has two values, so that there is nothing to learn."""
        return bool((self.data.bins.counts <= 1).all())

    def constant(self, weights: FloatArray) -> Linear:
        """No effects, and the thresholds of the shares of the levels under weights (N,)."""
        shares = replace(self.data, weights=weights).shares(self.n_levels)
        return Linear(np.zeros(self.rows.X.shape[1]), self.loss.family.start(shares))

    def null_loss(self) -> float:
        """Mean training loss of thresholds, and offsets, alone."""
        data = self.data
        H = np.zeros(data.y.size) if self.rows.offset is None else self.rows.offset
        theta, _ = self.best_thresholds(H, self.constant(data.weights).theta)
        return self.loss.value(data.y, data.weights, H, theta) / data.total

    def linear(self, weights: FloatArray, penalty: float | None) -> Linear:
        """The linear start under weights (N,), 0 for rows held out; no effects without a penalty."""
        if penalty is None or self.flat:
            return self.constant(weights)
        return ridge(self.rows, self.data.y, weights, self.loss.family, penalty, self.data.signs)

    def best_ridge(self, held: FloatArray, rng: np.random.Generator) -> float:
        """The penalty of the linear start with the least loss of the held-out rows, weights (F, N)."""
        some = part_of_rows(self.data.y, MOST_ROWS, rng)
        y, weights = self.data.y[some], self.data.weights[some]
        part = self.rows.take(some)

        def judge(penalty: float) -> float:
            total = 0.0
            for out in held[:, some]:
                found = ridge(part, y, weights - out, self.loss.family, penalty, self.data.signs)
                H = part.X @ found.slopes + (0.0 if part.offset is None else part.offset)
                tested = out > 0
                total += self.loss.value(y[tested], out[tested], H[tested], found.theta)
            return total

        return best_penalty(judge)

    def booster(self, settings: Settings, start: Linear, weights: FloatArray, rng: np.random.Generator) -> Booster:
        """A booster before its first round."""
        H = self.rows.X @ start.slopes
        return Booster(
            data=replace(self.data, weights=weights),
            loss=self.loss,
            settings=settings,
            rng=rng,
            scores=H if self.rows.offset is None else H + self.rows.offset,
            theta=start.theta,
        )

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

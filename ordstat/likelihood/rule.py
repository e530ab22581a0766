"""The rule from parameters to probabilities of levels, and warnings of crossing
thresholds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from .._typing import AnyArray, FloatArray, IntArray
from ..exceptions import DataError, warn
from ..fit import CostRule
from ..formula.random_rows import RandomRows
from ..formula.row_blocks import row_blocks
from ..formula.sample import Rows
from ..judging.costs import CostMatrix
from ..judging.decisions import Decision
from ..judging.response_numbers import ROUNDING
from .family import Family
from .layout import Layout
from .links import Link
from .predictor import ModelRows, Predictor


@dataclass(frozen=True, eq=False, kw_only=True)
class LikelihoodRule(CostRule):
    """Probabilities of a family at eta_k = s(x) (theta_k(x) - H(x)) with H = x'beta +
    offset.

    theta_k(x) = alpha_k0 + w'alpha_k for nominal columns w; s(x) = exp(-(z'zeta + scale
    offset)) for scale columns z.

    Attributes
    ----------
    family : Family
    alpha : (K-1, 1 + q) thresholds, then the effects of the nominal columns on each
    beta : (D,)
    zeta : (r,)
    cost : CostMatrix or Decision
        Cost that `codes` minimises in expectation.
    effects : tuple of (G, q)
        Modes of each random term, added to scores of rows in known groups.
    """

    family: Family
    alpha: FloatArray
    beta: FloatArray
    zeta: FloatArray
    cost: CostMatrix | Decision
    effects: tuple[FloatArray, ...] = ()

    @property
    def link(self) -> Link:
        """The link of the family."""
        return self.family.link

    @property
    def n_levels(self) -> int:
        return int(self.alpha.shape[0]) + 1

    @property
    def layout(self) -> Layout:
        """The blocks of all F parameters: alpha, beta, zeta, lambda of a link."""
        thresholds, columns = self.alpha.shape
        return Layout(
            thresholds=thresholds,
            columns=columns,
            location=self.beta.size,
            scale=self.zeta.size,
            link=int(self.link.lam is not None),
        )

    @property
    def n_parameters(self) -> int:
        """F."""
        return self.layout.size

    @property
    def score_places(self) -> IntArray:
        """(D,) positions of the coefficients of the score among the parameters."""
        return np.arange(self.n_parameters)[self.layout.of_location]

    def model_rows(self, rows: Rows) -> ModelRows:
        """The columns of rows that belong to the parameters."""
        return ModelRows.of(rows)

    def scores(self, rows: Rows) -> FloatArray:
        H = rows.X @ self.beta
        H = H if rows.offset is None else H + rows.offset
        return H + self._effects(rows.random) if self.effects else H

    def _effects(self, random: RandomRows | None) -> FloatArray:
        """(N,) sum of the random effects of each row."""
        if random is None or any(np.any(term.codes < 0) for term in random.terms):
            raise DataError(
                "Scores at the random effects need rows of groups of the fit."
            )
        parts = zip(random.terms, self.effects, strict=True)
        return np.asarray(
            sum(
                np.einsum("nq,nq->n", term.z, modes[term.codes])
                for term, modes in parts
            )
        )

    def predictor(self, rows: Rows, scores: FloatArray | None = None) -> Predictor:
        """The predictors of rows; `scores` replaces their scores."""
        H = self._location(rows, scores)
        tau = np.zeros(rows.n) if rows.scale is None else rows.scale @ self.zeta
        tau = tau if rows.scale_offset is None else tau + rows.scale_offset
        return Predictor(w=self.model_rows(rows).w, alpha=self.alpha, H=H, tau=tau)

    def _location(self, rows: Rows, scores: FloatArray | None) -> FloatArray:
        """(N,) H."""
        return self.scores(rows) if scores is None else scores

    def thresholds(self, rows: Rows) -> FloatArray:
        """(N, K-1) thresholds of each row; (1, K-1) if they are the same for all."""
        return self.predictor(rows).thresholds()

    def gaps(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        predictor = self.predictor(rows, scores)
        return predictor.H[:, None] - predictor.thresholds()

    def eta(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        """(N, K-1) linear predictors."""
        return self.predictor(rows, scores).eta()

    def cum_probabilities(
        self, rows: Rows, scores: FloatArray | None = None
    ) -> FloatArray:
        """(N, K) P(y <= k); the last column is 1.

        Crossing thresholds (nominal effects far outside the data) give probabilities
        that decrease with k.
        """
        return np.hstack(
            [self.family.below(self.eta(rows, scores)), np.ones((rows.n, 1))]
        )

    def probabilities(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        """(N, K) P(y = k), with full relative accuracy for small ones."""
        return self.family.probabilities(self.predictor(rows, scores))

    @property
    def searchable(self) -> bool:
        """Whether the same increasing thresholds give P(y <= k) for every row: a
        cumulative family without nominal effects.
        """
        return self.family.ordered and self.alpha.shape[1] == 1

    def levels_at(
        self,
        rows: Rows,
        shares: FloatArray,
        scores: FloatArray | None = None,
        side: Literal["left", "right"] = "left",
    ) -> IntArray:
        """(..., N) codes at probabilities `shares` (..., N), for a `searchable` rule:
        the number of P(y <= k) below the share (with "right" also equal to it), by
        bisection.
        """
        predictor = self.predictor(rows, scores)
        theta = self.alpha[:, 0]
        low = np.zeros(shares.shape, dtype=np.intp)
        high = np.full(shares.shape, theta.size)
        compare = np.less if side == "left" else np.less_equal
        for _ in range(int(theta.size).bit_length()):
            middle = (low + high) // 2
            inside = np.minimum(middle, theta.size - 1)
            # infinite thresholds, of levels without rows, and spreads of 0
            with np.errstate(invalid="ignore"):
                eta = predictor.s * (theta[inside] - predictor.H)
            after = (low < high) & compare(self.family.below(eta), shares)
            low = np.where(after, middle + 1, low)
            high = np.where(after, high, middle)
        return low

    def codes(
        self,
        rows: Rows,
        scores: FloatArray | None = None,
        known: FloatArray | None = None,
    ) -> IntArray:
        if known is None and self.searchable and self.cost == CostMatrix.absolute():
            return self.levels_at(rows, np.full(rows.n, 0.5 - ROUNDING), scores)
        return super().codes(rows, scores, known)

    def log_odds_above(
        self, rows: Rows, scores: FloatArray | None = None
    ) -> FloatArray:
        """(N, K-1) log(P(y > k) / P(y <= k))."""
        return self.family.log_odds_above(self.eta(rows, scores))


#: Rows that a message names, the first of those it counts.
_NAMED = 5


def crossed_rows(rule: LikelihoodRule, rows: Rows) -> IntArray:
    """Indices of rows with crossing thresholds; empty for families without ordered
    thresholds.
    """
    if rows.nominal is None or not rule.family.ordered:
        return np.empty(0, dtype=np.intp)
    crossed = np.zeros(rows.n, dtype=np.bool_)
    # thresholds at infinity, of levels that no row had
    with np.errstate(invalid="ignore"):
        steps = np.diff(rule.alpha, axis=0)
        for some in row_blocks(rows.n, rule.n_levels):
            crossed[some] = (
                steps[:, 0] + rows.nominal[some] @ steps[:, 1:].T < 0.0
            ).any(axis=1)
    return np.flatnonzero(crossed)


def crossing_text(
    crossed: IntArray, n: int, labels: Sequence[Any] | AnyArray | None, kind: str
) -> str:
    """Message: number of crossed rows, the labels of the first, and what to do."""
    names = ""
    if labels is not None:
        shown = ", ".join(str(labels[row]) for row in crossed[:_NAMED])
        rows = "row" if crossed.size == 1 else "rows"
        names = f" ({rows} {shown})"
    return (
        f"nominal effects put the thresholds of {crossed.size} of {n} {kind}{names} out"
        " of order, so some of their probabilities are negative. Give the variable a"
        " location effect instead of a nominal one, or a scale effect, scale='~ x'."
    )


def report_crossing(
    crossed: IntArray,
    n: int,
    labels: Sequence[Any] | AnyArray | None,
    kind: str,
    *,
    refuse: bool,
) -> None:
    """Warn of rows with negative probabilities.

    Parameters
    ----------
    crossed : indices of these rows
    n : int
        Total number of rows.
    labels : sequence of n labels, optional
        The names of the rows.
    kind : str
        Description of the rows, such as "rows of newdata".
    refuse : bool
        Raise DataError instead of warning.
    """
    if crossed.size == 0:
        return
    text = crossing_text(crossed, n, labels, kind)
    if refuse:
        raise DataError(text)
    warn(text)

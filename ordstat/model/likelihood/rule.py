"""A fitted likelihood model as a rule: probabilities of every rank and the rank of least expected cost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._typing import FloatArray, IntArray
from ...exceptions import DataError
from ..costs import CostMatrix
from ..random_effects import RandomRows
from ..row_blocks import row_blocks
from ..sample import Rows
from .family import Family
from .links import Link
from .predictor import ModelRows, Predictor

#: Expected costs closer than this share of the largest one are a tie, and the lower rank is taken.
_TIE = 1e-12


@dataclass(frozen=True, eq=False, kw_only=True)
class LikelihoodRule:
    """Probabilities by a family, of eta_k = s(x) (theta_k(x) - H(x)) with H = x'beta + offset.

    theta_k(x) = alpha_k0 + w'alpha_k for nominal columns w; s(x) = exp(-(z'zeta + scale offset)) for scale columns z.

    Attributes
    ----------
    family : Family
    alpha : (K-1, 1 + q) thresholds, then the effects of the nominal columns on each
    beta : (D,)
    zeta : (r,)
    cost : CostMatrix
        What `codes` minimise in expectation.
    effects : tuple of (G, q)
        Of the groups of each random term, which scores of rows in known groups include.
    """

    family: Family
    alpha: FloatArray
    beta: FloatArray
    zeta: FloatArray
    cost: CostMatrix
    effects: tuple[FloatArray, ...] = ()

    @property
    def link(self) -> Link:
        """The link of the family."""
        return self.family.link

    @property
    def n_levels(self) -> int:
        return int(self.alpha.shape[0]) + 1

    @property
    def n_parameters(self) -> int:
        """F, of alpha, beta, zeta and lambda together."""
        return int(self.alpha.size + self.beta.size + self.zeta.size + (self.link.lam is not None))

    def scores(self, rows: Rows) -> FloatArray:
        H = rows.X @ self.beta
        H = H if rows.offset is None else H + rows.offset
        return H + self._effects(rows.random) if self.effects else H

    def _effects(self, random: RandomRows | None) -> FloatArray:
        """(N,) what the effects of the rows' groups add to their scores."""
        if random is None or any(np.any(term.codes < 0) for term in random.terms):
            raise DataError("Scores at the random effects take rows of groups that the fit has seen.")
        parts = zip(random.terms, self.effects, strict=True)
        return np.asarray(sum(np.einsum("nq,nq->n", term.z, own[term.codes]) for term, own in parts))

    def predictor(self, rows: Rows, scores: FloatArray | None = None) -> Predictor:
        """The predictors of rows, at other scores where given."""
        H = self.scores(rows) if scores is None else scores
        tau = np.zeros(rows.n) if rows.scale is None else rows.scale @ self.zeta
        tau = tau if rows.scale_offset is None else tau + rows.scale_offset
        return Predictor(w=ModelRows.of(rows).w, alpha=self.alpha, H=H, tau=tau)

    def thresholds(self, rows: Rows) -> FloatArray:
        """(N, K-1) thresholds of each row; (1, K-1) where they are the same for all."""
        return self.predictor(rows).thresholds()

    def gaps(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        predictor = self.predictor(rows, scores)
        return np.asarray(predictor.H[:, None] - predictor.thresholds())

    def eta(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        """(N, K-1) linear predictors."""
        return self.predictor(rows, scores).eta()

    def cum_probabilities(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        """(N, K) P(y <= k); the last column is 1.

        Thresholds out of order (nominal effects far outside the data) give probabilities that fall with k.
        """
        return np.hstack([self.family.below(self.eta(rows, scores)), np.ones((rows.n, 1))])

    def probabilities(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        """(N, K) P(y = k), so that small ones keep their relative accuracy."""
        return self.family.probabilities(self.predictor(rows, scores))

    def codes(self, rows: Rows, scores: FloatArray | None = None) -> IntArray:
        """(N,) rank of least expected cost; ties go to the lower rank."""
        codes = np.empty(rows.n, dtype=np.intp)
        for some in row_blocks(rows.n, self.n_levels):
            codes[some] = self.least_cost(self.probabilities(rows.take(some), None if scores is None else scores[some]))
        return codes

    def least_cost(self, probabilities: FloatArray) -> IntArray:
        """(n,) rank of least expected cost at probabilities (n, K)."""
        expected = np.ascontiguousarray(self._expected_cost(probabilities).T)  # (K, n)
        largest = np.abs(expected).max(axis=0)
        return np.asarray(np.argmax(expected <= expected.min(axis=0) + _TIE * largest, axis=0), dtype=np.intp)

    def _expected_cost(self, probabilities: FloatArray) -> FloatArray:
        """(n, K) expected cost of predicting each rank; the classification cost needs no K x K matrix."""
        if self.cost == CostMatrix.classification():
            return 1.0 - probabilities
        return np.asarray(probabilities @ self.cost.matrix(self.n_levels))

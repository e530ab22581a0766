"""A fitted likelihood model as a rule: probabilities of every rank and the rank of least expected cost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._typing import FloatArray
from ...exceptions import DataError
from ..costs import CostMatrix
from ..probable import CostRule
from ..random_effects import RandomRows
from ..sample import Rows
from .family import Family
from .links import Link
from .predictor import ModelRows, Predictor


@dataclass(frozen=True, eq=False, kw_only=True)
class LikelihoodRule(CostRule):
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

    def log_odds_above(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        """(N, K-1) log(P(y > k) / P(y <= k))."""
        return self.family.log_odds_above(self.eta(rows, scores))

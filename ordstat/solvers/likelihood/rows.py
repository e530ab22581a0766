"""One pass over the rows of any likelihood family: log-likelihood, score and information.

The family gives the derivatives of each row's log-probability by its predictors theta_k, H, tau (and lambda); theirs by
the parameters are the columns w, x, z (and 1), centred and scaled (`user_scale.py` tells the way back).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._typing import FloatArray, IntArray
from ...compiled.terms import accumulate_terms
from ...model.likelihood.family import Family, RowTerms
from ...model.likelihood.flexible import FlexibleLink
from ...model.likelihood.lambda_terms import lambda_terms
from ...model.likelihood.predictor import ModelRows, Predictor
from ...model.row_blocks import row_blocks
from .blocks import Blocks
from .newton import Evaluation

#: Rows handled at once: the temporaries of one chunk stay in cache.
_CHUNK = 2048
#: Log scales beyond this are outside the domain: estimates that run away stop here instead of overflowing.
LARGEST_LOG_SCALE = 100.0
#: So are predictors that are known to no more than this share of them, or of the latent spread: a search would follow
#: the rounding.
_KNOWN = 1e-5
#: Thresholds and effects up to this many times the latent spread always have known differences.
FARTHEST = _KNOWN * 2.0**52


@dataclass(frozen=True, eq=False, kw_only=True)
class TermRows:
    """Rows of a model.

    Attributes
    ----------
    rows : ModelRows
        Centred and scaled copies.
    y : (N,) codes
    weights : (N,)
    n_levels : int
    family : Family
    flexible : FlexibleLink or None
        Where the parameter of the link is estimated, the last component of `rest`.
    """

    rows: ModelRows
    y: IntArray
    weights: FloatArray
    n_levels: int
    family: Family
    flexible: FlexibleLink | None

    def terms(
        self, some: slice | IntArray, alpha: FloatArray, rest: FloatArray, second: bool = True
    ) -> RowTerms | None:
        """The terms of some rows at alpha (K-1, m) and rest = (beta, zeta, lambda); None outside the domain."""
        rows, p, r = self.rows.take(some), self.rows.x.shape[1], self.rows.z.shape[1]
        predictor = rows.at(alpha, rest[:p], rest[p : p + r])
        if not _resolved(predictor, rows, rest[:p], self.y[some]):
            return None
        if self.flexible is None:
            return self.family.terms(predictor, self.y[some], second)
        return lambda_terms(self.family, self.flexible, float(rest[-1]), predictor, self.y[some], second)

    def evaluate(self, alpha: FloatArray, rest: FloatArray) -> Evaluation | None:
        """At alpha (K-1, m) and rest (q,), for the scaled columns."""
        sums = _Sums.zeros(alpha.shape, rest.size, self.family.local)
        loglik = 0.0
        for some in row_blocks(self.y.size, room=_CHUNK):
            terms = self.terms(some, alpha, rest)
            if terms is None:
                return None
            weights = self.weights[some]
            loglik += float(weights @ terms.log_p)
            sums.add(self.rows.take(some), terms, weights)
        found = sums.evaluation(loglik)
        return found if found.finite else None


def _resolved(predictor: Predictor, rows: ModelRows, beta: FloatArray, y: IntArray) -> bool:
    """Whether log scales are inside the domain, and differences of thresholds and scores not lost in rounding."""
    if np.abs(predictor.tau).max() > LARGEST_LOG_SCALE:
        return False
    largest = max(np.abs(predictor.alpha).max(), np.abs(beta).max(initial=0.0))
    if largest * predictor.s.max() <= FARTHEST:
        return True
    upper, lower, _ = predictor.ends(y)
    nearest = np.minimum(np.abs(upper), np.abs(lower))
    size = np.abs(rows.x) @ np.abs(beta) + np.abs(rows.w) @ np.abs(predictor.alpha).max(axis=0)
    return bool(np.all(2.0**-52 * predictor.s * size <= _KNOWN * np.maximum(nearest, 1.0)))


@dataclass(frozen=True, eq=False)
class _Sums:
    """Running sums; of a family that is not local the information of the thresholds is one block."""

    alpha: FloatArray
    pairs: FloatArray
    cross: FloatArray
    rest: FloatArray
    gram: FloatArray
    local: bool

    @classmethod
    def zeros(cls, shape: tuple[int, ...], q: int, local: bool) -> _Sums:
        n, m = shape
        pairs = np.zeros((2, n, m, m) if local else (n, n, m, m))
        return cls(np.zeros((n, m)), pairs, np.zeros((n, m, q)), np.zeros(q), np.zeros((q, q)), local)

    def add(self, rows: ModelRows, terms: RowTerms, weights: FloatArray) -> None:
        """Add some rows."""
        groups = [rows.x, rows.z]
        if len(terms.score) > len(terms.places) + len(groups):
            groups.append(np.ones((rows.n, 1)))
        ends = np.cumsum([0, *(group.shape[1] for group in groups)])
        with np.errstate(over="ignore", invalid="ignore"):
            score, curvature = terms.score * weights, terms.second() * weights
        places = np.ascontiguousarray(terms.places, dtype=np.intp)
        columns, sums = np.hstack(groups), (self.alpha, self.pairs, self.cross, self.rest, self.gram)
        accumulate_terms(np.ascontiguousarray(rows.w), columns, ends, places, score, curvature, *sums, self.local)

    def evaluation(self, loglik: float) -> Evaluation:
        """With the location and log-scale blocks mirrored."""
        gram = np.triu(self.gram) + np.triu(self.gram, 1).T
        if self.local:
            diagonal, below = self.pairs[0], self.pairs[1, :-1]
        else:
            size = self.alpha.size
            diagonal = self.pairs.transpose(0, 2, 1, 3).reshape(1, size, size)
            below = np.zeros((0, size, size))
        cross = self.cross.reshape(*diagonal.shape[:2], gram.shape[0])
        blocks = Blocks(diagonal=diagonal, below=below, cross=cross, rest=gram)
        return Evaluation(loglik=loglik, score_alpha=self.alpha, score_rest=self.rest, information=blocks)

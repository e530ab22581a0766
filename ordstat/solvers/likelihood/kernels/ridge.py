"""The penalised log-likelihood l(theta, b) - lambda/2 |b|^2 of P(y <= k | x) = F(theta_k - H), H = F b + offset."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from ...._typing import FloatArray, IntArray
from ....model.likelihood.cumulative import Cumulative
from ....model.likelihood.family import RowTerms
from ....model.likelihood.predictor import Predictor
from ....model.row_blocks import CACHED, row_blocks
from ..blocks import Blocks
from ..newton import Evaluation, Optimum, maximise

_TOL, _MOST_STEPS = 1e-6, 100
# Columns of a block of rows: blocks are large enough for matrix products to be quick, and their copies small.
_ROOM = 64 * CACHED


@dataclass(frozen=True, eq=False, kw_only=True)
class FeatureRows:
    """Rows by their features.

    Attributes
    ----------
    F : (N, p)
    y : (N,) codes, every level present
    weights : (N,) > 0
    offset : (N,)
    family : Cumulative
    variance : float
        Mean squared length of the rows of F.
    penalty : float
        lambda.
    """

    F: FloatArray
    y: IntArray
    weights: FloatArray
    offset: FloatArray
    family: Cumulative
    variance: float
    penalty: float = 0.0

    @property
    def counts(self) -> FloatArray:
        """(K,) weights of the levels."""
        return np.bincount(self.y, self.weights).astype(np.float64)

    def at(self, penalty: float) -> FeatureRows:
        """The same with another penalty."""
        return replace(self, penalty=penalty)

    def take(self, some: IntArray, weights: FloatArray) -> FeatureRows:
        """Some of the rows, with weights (M,) of their own."""
        return replace(self, F=self.F[some], y=self.y[some], weights=weights, offset=self.offset[some])

    def start(self) -> tuple[FloatArray, FloatArray]:
        """Thresholds of the cumulative shares, moved by the mean offset, and no function."""
        theta = self.family.start(self.counts / self.counts.sum()) + np.average(self.offset, weights=self.weights)
        return theta[:, None], np.zeros(self.F.shape[1])

    def scores(self, b: FloatArray) -> FloatArray:
        """(N,) H."""
        return np.asarray(self.F @ b + self.offset)

    def log_p(self, alpha: FloatArray, b: FloatArray) -> FloatArray:
        """(N,) log-probabilities of the levels observed."""
        return self.family.log_p(self._predictor(alpha, b), self.y)

    def evaluate(self, alpha: FloatArray, b: FloatArray) -> Evaluation | None:
        """At thresholds alpha (K-1, 1) and coefficients b (p,); None outside the domain."""
        return self._pass(alpha, b, None)

    def slope(self, alpha: FloatArray, b: FloatArray, information: Blocks) -> Evaluation | None:
        """The same with the information given instead of its own."""
        return self._pass(alpha, b, information)

    def maximum(self, start: tuple[FloatArray, FloatArray], tol: float, max_iter: int) -> Optimum:
        """The best thresholds and coefficients."""
        return maximise(
            self.evaluate,
            *start,
            tol=tol,
            max_iter=max_iter,
            total_weight=float(self.weights.sum()),
            slope=self.slope,
        )

    def null_loss(self) -> float:
        """Mean of -log P(y) by thresholds and offsets alone."""
        bare = replace(self, F=self.F[:, :0])
        return -bare.maximum(bare.start(), _TOL, _MOST_STEPS).at.loglik / float(self.weights.sum())

    def _predictor(self, alpha: FloatArray, b: FloatArray) -> Predictor:
        n = self.y.size
        return Predictor(w=np.ones((n, 1)), alpha=alpha, H=self.scores(b), tau=np.zeros(n))

    def _pass(self, alpha: FloatArray, b: FloatArray, information: Blocks | None) -> Evaluation | None:
        if not (np.diff(alpha[:, 0]) > 0.0).all():
            return None
        terms = self.family.terms(self._predictor(alpha, b), self.y, information is None)
        if terms is None or not np.isfinite(terms.log_p).all():
            return None
        score, q = terms.score * self.weights, alpha.size
        by_theta = sum(np.bincount(place, part, q) for place, part in zip(terms.places, score, strict=False))
        found = Evaluation(
            loglik=float(self.weights @ terms.log_p) - 0.5 * self.penalty * float(b @ b),
            score_alpha=np.asarray(by_theta, dtype=np.float64)[:, None],
            score_rest=self.F.T @ score[2] - self.penalty * b,
            information=self._information(terms, q) if information is None else information,
        )
        return found if found.finite else None

    def _information(self, terms: RowTerms, q: int) -> Blocks:
        c, (upper, lower) = terms.second() * self.weights, terms.places
        diagonal = (np.bincount(upper, c[0, 0], q) + np.bincount(lower, c[1, 1], q)).astype(np.float64)
        # A row of an end level has no other threshold: its terms there are 0.
        below = np.bincount(lower, c[0, 1], q)[: q - 1].astype(np.float64)
        places = np.concatenate([upper, lower]), np.tile(np.arange(self.y.size), 2)
        mixed = csr_array((np.concatenate([c[0, 2], c[1, 2]]), places), shape=(q, self.y.size))
        gram = self._gram(c[2, 2])
        gram[np.diag_indices_from(gram)] += self.penalty
        return Blocks(
            diagonal=diagonal.reshape(q, 1, 1),
            below=below.reshape(q - 1, 1, 1),
            cross=np.asarray(mixed @ self.F).reshape(q, 1, -1),
            rest=gram,
        )

    def _gram(self, c: FloatArray) -> FloatArray:
        """(p, p) F' diag(c) F."""
        p = self.F.shape[1]
        gram = np.zeros((p, p))
        positive = bool((c >= 0.0).all())
        root = np.sqrt(c) if positive else c
        for some in row_blocks(self.y.size, p, _ROOM):
            part = self.F[some] * root[some, None]
            gram += part.T @ (part if positive else self.F[some])
        return gram

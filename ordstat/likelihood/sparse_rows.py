"""The log-likelihood of rows with sparse columns, which are never centred in memory.

Columns of the solver are X_s = (X - 1 m') / d, with means m and deviations d. Products
with them are those with X and a correction of rank one:

    X_s b = X (b / d) - m'(b / d),    X_s'v = (X'v - m sum(v)) / d.

Centring only shifts the free thresholds by m'(b / d), which `UserScale` shifts back.
The derivatives with respect to thresholds and scores come from the family; no array has
an entry for each row and column, or for each pair of columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from .._typing import FloatArray, IntArray
from ..formula.row_blocks import row_blocks
from ..formula.sparse import SparseColumns, sparse_part
from ..newton import Blocks
from .family import row_terms
from .predictor import Predictor
from .problem import Problem
from .rows import inside
from .terms import RowTerms

#: Doubles of derivatives held at once.
_BUFFER = 1 << 18


@dataclass(frozen=True, eq=False, kw_only=True)
class StandardColumns:
    """Sparse columns as if centred and divided by their deviations.

    Attributes
    ----------
    X : SparseColumns
    mean, deviation : (p,)
    """

    X: SparseColumns
    mean: FloatArray
    deviation: FloatArray

    def times(self, b: FloatArray) -> FloatArray:
        """(n,) X_s b."""
        scaled = b / self.deviation
        return self.X @ scaled - float(self.mean @ scaled)

    def transposed(self, v: FloatArray) -> FloatArray:
        """(p, ...) X_s'v of v (n, ...)."""
        out = self.X.transposed(v) - np.multiply.outer(self.mean, v.sum(axis=0))
        return np.asarray((out.T / self.deviation).T)

    def among(self, columns: IntArray) -> StandardColumns:
        """Some of the columns."""
        return StandardColumns(
            X=self.X.among(columns),
            mean=self.mean[columns],
            deviation=self.deviation[columns],
        )

    def gram(self, weights: FloatArray) -> FloatArray:
        """(p, p) X_s' diag(weights) X_s."""
        matrix = self.X.matrix
        weighted = matrix.multiply(weights[:, None]).tocsr()
        products = (matrix.T @ weighted).toarray()
        sums = self.X.transposed(weights)
        moved = np.outer(sums, self.mean)
        products -= moved + moved.T
        products += float(weights.sum()) * np.outer(self.mean, self.mean)
        return np.asarray(products / np.outer(self.deviation, self.deviation))


@dataclass(frozen=True, eq=False, kw_only=True)
class RowCurvature:
    """Negative second derivatives of the log-likelihood with respect to the t
    thresholds and the scores of rows, as products with the coefficients
    [proximal.Products].

    Attributes
    ----------
    columns : StandardColumns
    factor : (t, t)
        Cholesky factor of the derivatives with respect to the thresholds.
    mixed : (n, t)
        Derivatives with respect to the score of each row and the thresholds.
    by_score : (n,)
    """

    columns: StandardColumns
    factor: FloatArray
    mixed: FloatArray
    by_score: FloatArray

    def solved(self, theta: FloatArray) -> FloatArray:
        return np.asarray(dpotrs(self.factor, theta, lower=1)[0])

    def to_theta(self, b: FloatArray) -> FloatArray:
        return np.asarray(self.columns.times(b) @ self.mixed)

    def from_theta(self, theta: FloatArray) -> FloatArray:
        return self.columns.transposed(self.mixed @ theta)

    def complement(self, b: FloatArray) -> FloatArray:
        scores = self.columns.times(b)
        moved = self.solved(scores @ self.mixed)
        return self.columns.transposed(self.by_score * scores - self.mixed @ moved)

    @cached_property
    def diagonal(self) -> float:
        """Approximate diagonal of `complement`, as columns have variance 1."""
        return float(np.abs(self.by_score).sum())


@dataclass(frozen=True, eq=False, kw_only=True)
class SparseLikelihood:
    """The log-likelihood of a problem with sparse location columns, one scale and no
    nominal effects, in the form of `proximal.Model`.
    """

    problem: Problem

    @cached_property
    def columns(self) -> StandardColumns:
        problem = self.problem
        X = sparse_part(problem.sample.X)
        assert X is not None
        location = problem.location.part(problem.location.kept)
        return StandardColumns(X=X, mean=location.mean, deviation=location.deviation)

    def score(
        self, theta: FloatArray, b: FloatArray
    ) -> tuple[float, FloatArray, None] | None:
        """The log-likelihood and its derivatives (t + p,); None outside the domain."""
        predictor = self._predictor(theta, b)
        if predictor is None:
            return None
        weights = self.problem.sample.case_weights
        loglik = 0.0
        by_theta = np.zeros(theta.size)
        by_score = np.empty(weights.size)
        for some in self._blocks(theta):
            terms = self._terms(predictor, some, second=False)
            if terms is None:
                return None
            each = weights[some]
            loglik += float(each @ terms.log_p)
            for place, slope in zip(terms.places, terms.score, strict=False):
                by_theta += np.bincount(place, slope * each, theta.size)
            by_score[some] = terms.by_location * each
        score = np.concatenate([by_theta, self.columns.transposed(by_score)])
        if not np.isfinite(loglik) or not np.isfinite(score).all():
            return None
        return loglik, score, None

    def information(
        self, theta: FloatArray, b: FloatArray, active: IntArray
    ) -> Blocks | None:
        """The negative second derivatives by theta and some of the coefficients."""
        found = self._curvature(theta, b)
        if found is None:
            return None
        by_theta, mixed, by_score = found
        columns = self.columns.among(active)
        t = theta.size
        return Blocks(
            diagonal=by_theta[None],
            below=np.zeros((0, t, t)),
            cross=columns.transposed(mixed).T.reshape(1, t, active.size),
            rest=columns.gram(by_score),
        )

    def products(self, theta: FloatArray, b: FloatArray) -> RowCurvature | None:
        """The negative second derivatives by theta and all coefficients, as products;
        None if theta has no maximum.
        """
        found = self._curvature(theta, b)
        if found is None:
            return None
        by_theta, mixed, by_score = found
        factor, failed = dpotrf(by_theta, lower=1)
        if failed:
            return None
        return RowCurvature(
            columns=self.columns, factor=factor, mixed=mixed, by_score=by_score
        )

    def _curvature(
        self, theta: FloatArray, b: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray] | None:
        """(t, t) by the thresholds, (n, t) by the score of each row and the thresholds,
        and (n,) by the scores.
        """
        predictor = self._predictor(theta, b)
        if predictor is None:
            return None
        weights = self.problem.sample.case_weights
        t = theta.size
        by_theta = np.zeros((t, t))
        mixed = np.zeros((weights.size, t))
        by_score = np.empty(weights.size)
        for some in self._blocks(theta):
            terms = self._terms(predictor, some, second=True)
            if terms is None:
                return None
            second = terms.second() * weights[some]
            count = len(terms.places)
            own = np.arange(some.start, some.stop)
            for a, place in enumerate(terms.places):
                np.add.at(mixed, (own, place), second[a, count])
                for c, other in enumerate(terms.places):
                    np.add.at(by_theta, (place, other), second[a, c])
            by_score[some] = second[count, count]
        return by_theta, mixed, by_score

    def _blocks(self, theta: FloatArray) -> list[slice]:
        n = self.problem.sample.n
        return list(row_blocks(n, (theta.size + 3) ** 2, _BUFFER))

    def _predictor(self, theta: FloatArray, b: FloatArray) -> Predictor | None:
        """The predictors of all rows; None where they are too large to have digits."""
        H = self.columns.times(b)
        if self.problem.sample.rows.offset is not None:
            H = H + self.problem.sample.rows.offset
        zero = np.zeros(H.size)
        ones = np.ones((H.size, 1))
        predictor = Predictor(w=ones, alpha=theta[:, None], H=H, tau=zero)
        return predictor if inside(predictor, b) else None

    def _terms(
        self, predictor: Predictor, some: slice, second: bool
    ) -> RowTerms | None:
        part = Predictor(
            w=predictor.w[some],
            alpha=predictor.alpha,
            H=predictor.H[some],
            tau=predictor.tau[some],
        )
        family = self.problem.family
        y = self.problem.sample.y[some]
        # minus infinity is outside the domain
        with np.errstate(over="ignore", invalid="ignore"):
            return row_terms(family, part, y, second, by_lambda=False)

"""What each row does to the estimates of a cumulative link model: leverage, dfbeta, Cook's distance.

The log-likelihood of a row depends on the parameters b through three linear predictors (`rowterms.py`), eta = J b. With
g and L its score and negative Hessian by eta, w its weight and V the inverse of the information, M = J V J':
  leverage   w tr(L M), the row's share of the information; the sum over rows is the number of parameters
  dfbeta     b - b(-i) after one step from b, with the row's curvature L' taken out of the information I:
             (I - w J'L'J)^-1 w J'g = V J' (E - w L'M)^-1 w g  [Woodbury; Pregibon 1981, Ann. Statist. 9, 705-724]
  Cook       dfbeta' I dfbeta / P
L' is L without the barrier h_ul s^2 [[1, -1], [-1, 1]] between both ends. log p behaves as the logarithm of the gap
there: with n rows in a level its gap is proportional to n, and leaving one out changes it by gap / n, which is what the
whole curvature n / gap^2 gives; (n - 1) / gap^2 overshoots, without bound where the row is alone in its level.
All of them treat a row of weight w as w equal cases that leave together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._typing import FloatArray
from ...model.fit import LikelihoodFit
from ...model.likelihood.cumulative import CumulativeRule
from ...model.sample import Sample
from .rowterms import RowTerms

#: Doubles held at once beside the output.
_BUFFER = 1 << 20
#: The share of the information left without a row (a determinant) that counts as none.
_ALONE = 1e-10


@dataclass(frozen=True, eq=False, kw_only=True)
class RowInfluence:
    """Figures of every row.

    Attributes
    ----------
    leverage : (N,)
    dfbeta : (N, P)
        Estimates less those without the row; NaN of aliased parameters, of the thresholds beside a level that has no
        other row, and of rows without which the others leave estimates open.
    cook : (N,)
    """

    leverage: FloatArray
    dfbeta: FloatArray
    cook: FloatArray


@dataclass(frozen=True, eq=False, kw_only=True)
class Predictors:
    """The Jacobian J of rows' three predictors by the parameters, applied without being formed.

    Attributes
    ----------
    sample : Sample
    structure : (F, P) or None
        From the parameters to thresholds, nominal effects (threshold by threshold, column by column), location and
        scale effects and lambda; None where they are those.
    n_lambda : int
        1 where the parameter of the link is one of the parameters, which makes M = 4 predictors; else 0, M = 3.
    """

    sample: Sample
    structure: FloatArray | None
    n_lambda: int

    @classmethod
    def of(cls, fit: LikelihoodFit, sample: Sample) -> Predictors:
        """The predictors of the rows of a fit."""
        return cls(sample=sample, structure=fit.on_flexible_scale(), n_lambda=fit.n_lambda)

    @property
    def _nominal(self) -> FloatArray:
        """(N, m) ones, then the nominal columns."""
        rows, ones = self.sample.rows, np.ones((self.sample.n, 1))
        return ones if rows.nominal is None else np.hstack([ones, rows.nominal])

    @property
    def _parts(self) -> tuple[int, slice, slice]:
        """Where thresholds end, location and scale effects lie among F numbers."""
        rows = self.sample.rows
        first = self._nominal.shape[1] * (self.sample.n_levels - 1)
        last = first + rows.X.shape[1]
        return first, slice(first, last), slice(last, last + (0 if rows.scale is None else rows.scale.shape[1]))

    def apply(self, matrix: FloatArray) -> FloatArray:
        """(N, M, Q) J times a (P, Q) matrix."""
        sample, rows = self.sample, self.sample.rows
        matrix = matrix if self.structure is None else self.structure @ matrix
        K, w = sample.n_levels, self._nominal
        end, location, scale = self._parts
        levels = matrix[:end].reshape(w.shape[1], K - 1, -1)
        padded = np.pad(levels, ((0, 0), (1, 1), (0, 0)))  # infinite ends move with no parameter
        H = rows.X @ matrix[location]
        out = np.zeros((sample.n, 3 + self.n_lambda, matrix.shape[1]))
        for place, codes, inner in ((0, sample.y + 1, sample.y < K - 1), (1, sample.y, sample.y > 0)):
            out[:, place] = sum(w[:, column, None] * padded[column, codes] for column in range(w.shape[1]))
            out[inner, place] -= H[inner]
        if rows.scale is not None:
            out[:, 2] = rows.scale @ matrix[scale]
        out[:, 3:] = matrix[scale.stop :]
        return out

    def contract(self, vectors: FloatArray) -> FloatArray:
        """(N, M) every row's own J times its own vector (N, P)."""
        sample, rows = self.sample, self.sample.rows
        vectors = vectors if self.structure is None else vectors @ self.structure.T
        K, w = sample.n_levels, self._nominal
        end, location, scale = self._parts
        levels = vectors[:, :end].reshape(sample.n, w.shape[1], K - 1)
        padded = np.pad(np.einsum("nm,nmk->nk", w, levels), ((0, 0), (1, 1)))
        H = np.einsum("np,np->n", rows.X, vectors[:, location])
        out, every = np.zeros((sample.n, 3 + self.n_lambda)), np.arange(sample.n)
        out[:, 0] = padded[every, sample.y + 1] - np.where(sample.y < K - 1, H, 0.0)
        out[:, 1] = padded[every, sample.y] - np.where(sample.y > 0, H, 0.0)
        if rows.scale is not None:
            out[:, 2] = np.einsum("nr,nr->n", rows.scale, vectors[:, scale])
        out[:, 3:] = vectors[:, scale.stop :]
        return out

    def total(self, values: FloatArray) -> FloatArray:
        """(P,) sum over rows of J' times their values (N, M)."""
        sample, rows = self.sample, self.sample.rows
        K, w = sample.n_levels, self._nominal
        upper, lower = np.where(sample.y < K - 1, values[:, 0], 0.0), np.where(sample.y > 0, values[:, 1], 0.0)
        alpha = np.zeros((w.shape[1], K + 1))
        for column in range(w.shape[1]):
            alpha[column] += np.bincount(sample.y + 1, upper * w[:, column], minlength=K + 1)
            alpha[column] += np.bincount(sample.y, lower * w[:, column], minlength=K + 1)
        scale = np.zeros(0) if rows.scale is None else values[:, 2] @ rows.scale
        out = np.concatenate([alpha[:, 1:-1].reshape(-1), -(upper + lower) @ rows.X, scale, values[:, 3:].sum(axis=0)])
        return out if self.structure is None else out @ self.structure


def influence(rule: CumulativeRule, fit: LikelihoodFit, sample: Sample) -> RowInfluence:
    """Influence of every row of the fit.

    Parameters
    ----------
    rule : CumulativeRule
        Rule of the fit.
    fit : LikelihoodFit
    sample : Sample
        The one fitted to.
    """
    kept = ~fit.aliased
    estimated = fit.information.covariance()
    V = np.zeros((kept.size, kept.size))
    V[np.ix_(kept, kept)] = estimated
    step = max(1, _BUFFER // (3 * kept.size))
    chunks = (sample.take(slice(start, start + step)) for start in range(0, sample.n, step))
    parts = [_influence(RowTerms.of(rule, some), Predictors.of(fit, some), V) for some in chunks]
    dfbeta = np.concatenate([moved for _, moved in parts])
    precise = np.linalg.solve(estimated, dfbeta[:, kept].T)
    cook = np.einsum("np,pn->n", dfbeta[:, kept], precise) / np.count_nonzero(kept)
    dfbeta[:, ~kept] = np.nan
    if fit.jacobian is None:
        _forget_thresholds(dfbeta[:, : fit.n_alpha], sample)
    return RowInfluence(leverage=np.concatenate([leverage for leverage, _ in parts]), dfbeta=dfbeta, cook=cook)


def _forget_thresholds(alpha: FloatArray, sample: Sample) -> None:
    """Set NaN, in place, what has no meaning once the only row of a level is gone: the thresholds beside it."""
    K, y = sample.n_levels, sample.y
    alone = np.flatnonzero(np.bincount(y, minlength=K)[y] == 1)
    for first in range(0, alpha.shape[1], K - 1):
        for end in (y[alone], y[alone] - 1):
            inner = (end >= 0) & (end < K - 1)
            alpha[alone[inner], first + end[inner]] = np.nan


def _influence(terms: RowTerms, predictors: Predictors, V: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Leverage (n,) and dfbeta (n, P) of some rows; V has zeros where aliased."""
    weights, n_lambda = predictors.sample.case_weights, predictors.n_lambda
    JV = predictors.apply(V)
    M = np.stack([predictors.contract(JV[:, place]) for place in range(JV.shape[1])], axis=2)
    leverage = weights * np.einsum("nij,nji->n", terms.curvature(n_lambda), M)
    left = np.eye(3 + n_lambda) - weights[:, None, None] * (terms.smooth_curvature(n_lambda) @ M)
    alone = np.linalg.det(left) <= _ALONE
    left[alone] = np.eye(3 + n_lambda)
    moved = np.linalg.solve(left, (weights[:, None] * terms.scores(n_lambda))[:, :, None])[:, :, 0]
    moved[alone] = np.nan
    return leverage, np.einsum("ni,nip->np", moved, JV)

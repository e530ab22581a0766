"""The rows of a fit: their terms, how these move with its parameters, their residuals and their influence.

Every residual has mean zero under the true model; a positive one means a higher level than expected.

Influence is leverage, dfbeta and Cook's distance. The log-likelihood of a row depends on the parameters b through a few
linear predictors (`model/likelihood/family.py`), eta = J b. With
g and L its score and negative Hessian by eta, w its weight and V the inverse of the information, M = J V J':
  leverage   w tr(L M), the row's share of the information; the sum over rows is the number of parameters
  dfbeta     b - b(-i) after one step from b, with the row's curvature L' taken out of the information I:
             (I - w J'L'J)^-1 w J'g = V J' (E - w L'M)^-1 w g  [Woodbury; Pregibon 1981, Ann. Statist. 9, 705-724]
  Cook       dfbeta' I dfbeta / P
L' is L without the barrier [[1, -1], [-1, 1]] between both ends of an interval (`RowTerms.barrier`). log p behaves as
the logarithm of the gap there: with n rows in a level its gap is proportional to n, and leaving one out changes it by
gap / n, which is what the whole curvature n / gap^2 gives; (n - 1) / gap^2 overshoots, without bound where the row is
alone in its level.
All of them treat a row of weight w as w equal cases that leave together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..._typing import FloatArray
from ...model.likelihood.family import RowTerms
from ...model.likelihood.flexible import FLEXIBLE
from ...model.likelihood.lambda_terms import lambda_terms
from ...model.likelihood.predictor import Jacobian, ModelRows
from ...model.likelihood.rule import LikelihoodRule
from ...model.likelihood_fit import LikelihoodFit
from ...model.row_blocks import row_blocks
from ...model.sample import Sample


def row_terms(rule: LikelihoodRule, sample: Sample, n_lambda: int = 0, second: bool = False) -> RowTerms:
    """Log-probabilities of the observed levels with their derivatives; by lambda too where it was estimated."""
    predictor, link = rule.predictor(sample.rows), rule.link
    if n_lambda and link.lam is not None:
        found = lambda_terms(rule.family, FLEXIBLE[link.name], link.lam, predictor, sample.y, second)
    else:
        found = rule.family.terms(predictor, sample.y, second)
    assert found is not None
    return found


def jacobian_of(fit: LikelihoodFit, sample: Sample, terms: RowTerms) -> Jacobian:
    """From the parameters of a fit to the predictors of the terms."""
    count = fit.rule.n_levels - 1
    return Jacobian(ModelRows.of(sample.rows), terms.places, count, fit.on_flexible_scale(), fit.n_lambda)


def surrogate(rule: LikelihoodRule, sample: Sample, rng: np.random.Generator) -> FloatArray:
    """What stands for the latent error of each row, drawn given its level; see `Family.latent_residuals`."""
    return rule.family.latent_residuals(rule.predictor(sample.rows), sample.y, rng.random(sample.n))


def probability_scale(rule: LikelihoodRule, sample: Sample) -> FloatArray:
    """P(Y < y) - P(Y > y), between -1 and 1 [Li and Shepherd 2012, Biometrika 99, 473-480]."""
    below, above = rule.family.tails(rule.predictor(sample.rows), sample.y)
    return np.asarray(below - above)


def generalised(rule: LikelihoodRule, sample: Sample) -> FloatArray:
    """Derivative of log p by the row's score H; for probit the mean latent error given the observed level, times s.

    Gourieroux, Monfort, Renault and Trognon (1987, J. Econometrics 34, 5-32).
    """
    return row_terms(rule, sample).by_location


def deviance(rule: LikelihoodRule, sample: Sample) -> FloatArray:
    """sqrt(-2 log p) with the sign of P(Y < y) - P(Y > y): the weighted sum of squares is the deviance."""
    log_p = row_terms(rule, sample).log_p
    return np.asarray(np.copysign(np.sqrt(-2.0 * log_p), probability_scale(rule, sample)))


def pearson(rule: LikelihoodRule, sample: Sample) -> FloatArray:
    """(rank - expected rank) / standard deviation of the rank; 0 where the observed rank is certain."""
    probabilities = rule.probabilities(sample.rows)
    ranks = np.arange(sample.n_levels, dtype=np.float64)
    mean = probabilities @ ranks
    variance = (probabilities * (ranks - mean[:, None]) ** 2).sum(axis=1)
    certain = variance <= 0.0
    return np.where(certain, 0.0, (sample.y - mean) / np.sqrt(np.where(certain, 1.0, variance)))


#: Residuals that need no random numbers, by name.
FIXED: dict[str, Callable[[LikelihoodRule, Sample], FloatArray]] = {
    "probability-scale": probability_scale,
    "generalised": generalised,
    "deviance": deviance,
    "pearson": pearson,
}
RESIDUAL_TYPES = ("surrogate", *FIXED)


def residuals(rule: LikelihoodRule, sample: Sample, type: str, rng: np.random.Generator) -> FloatArray:
    """(N,) residuals of one of `RESIDUAL_TYPES`; `rng` serves "surrogate" alone."""
    return surrogate(rule, sample, rng) if type == "surrogate" else FIXED[type](rule, sample)


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


def influence(rule: LikelihoodRule, fit: LikelihoodFit, sample: Sample) -> RowInfluence:
    """Influence of every row of the fit.

    Parameters
    ----------
    rule : LikelihoodRule
        Rule of the fit.
    fit : LikelihoodFit
    sample : Sample
        The one fitted to.
    """
    kept = ~fit.aliased
    estimated = fit.information.covariance()
    V = np.zeros((kept.size, kept.size))
    V[np.ix_(kept, kept)] = estimated
    blocks = row_blocks(sample.n, 3 * kept.size, _BUFFER)
    parts = [_influence(rule, fit, sample.take(some), V) for some in blocks]
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


def _influence(
    rule: LikelihoodRule, fit: LikelihoodFit, sample: Sample, V: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Leverage (n,) and dfbeta (n, P) of some rows; V has zeros where aliased."""
    terms, weights = row_terms(rule, sample, fit.n_lambda, second=True), sample.case_weights
    jacobian = jacobian_of(fit, sample, terms)
    JV = jacobian.apply(V)
    M = np.stack([jacobian.contract(JV[:, place]) for place in range(JV.shape[1])], axis=2)
    leverage = weights * np.einsum("ijn,nji->n", terms.second(), M)
    unit = np.eye(JV.shape[1])
    left = unit - weights[:, None, None] * (np.moveaxis(terms.smooth(), -1, 0) @ M)
    alone = np.linalg.det(left) <= _ALONE
    left[alone] = unit
    moved = np.linalg.solve(left, (weights * terms.score).T[:, :, None])[:, :, 0]
    moved[alone] = np.nan
    return leverage, np.einsum("ni,nip->np", moved, JV)

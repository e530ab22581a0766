"""Standard errors and confidence limits of functions of the estimates, by the delta
method.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit, ndtr, ndtri, stdtr, stdtrit

from .._typing import FloatArray
from ..checks import fraction
from ..formula.sample import Rows
from .family import stages_of
from .fit import LikelihoodFit
from .rule import LikelihoodRule
from .user_scale import CovarianceOperator, MappedCovariance

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def rule_by_estimates(fit: LikelihoodFit, rule: LikelihoodRule) -> csr_array:
    """(F, P') the linear map from the estimated parameters to all parameters of a rule.

    Aliased effects are 0, as is the parameter of a link that the user fixed; a flexible
    threshold next to a level without rows equals the previous one.
    """
    from scipy.sparse import csr_array

    kept = ~fit.aliased
    shape = (rule.n_parameters, int(np.count_nonzero(kept)))
    structured = fit.on_flexible_scale()
    if structured is not None:
        full = np.zeros(shape)
        full[: len(structured)] = structured[:, kept]
        return csr_array(full)
    source = np.where(kept, np.cumsum(kept) - 1, -1)
    for of_column in source[: rule.alpha.size].reshape(-1, rule.alpha.shape[0]):
        for k in np.flatnonzero(of_column[1:] < 0) + 1:
            of_column[k] = of_column[k - 1]
    known = np.flatnonzero(source >= 0)
    return csr_array((np.ones(known.size), (known, source[known])), shape=shape)


def slopes_by_estimates(slopes: FloatArray, to_rule: csr_array) -> FloatArray:
    """(..., P') derivatives with respect to the estimated parameters, from those with
    respect to the parameters of a rule (..., F, and perhaps others) and the map between
    them (F, P').
    """
    of_rule = slopes[..., : to_rule.shape[0]]
    flat = of_rule.reshape(-1, to_rule.shape[0]) @ to_rule
    return flat.reshape(*slopes.shape[:-1], to_rule.shape[1])


def rule_covariance(
    fit: LikelihoodFit, rule: LikelihoodRule, covariance: CovarianceOperator
) -> CovarianceOperator:
    """The covariance of all F parameters of the rule, from that of the P' estimated
    ones.

    It holds for functions of the parameters that the data determine.
    """
    plain = fit.on_flexible_scale() is None and not fit.aliased.any()
    if plain and covariance.size == rule.n_parameters:
        return covariance
    return MappedCovariance(covariance, rule_by_estimates(fit, rule))


def two_sided(statistic: FloatArray, df: Any) -> FloatArray:
    """P(|t| > |statistic|) with degrees of freedom df; normal if df is infinite."""
    tail = -np.abs(statistic)
    return 2.0 * np.where(np.isinf(df), ndtr(tail), stdtr(df, tail))


def t_quantile(level: Any, df: FloatArray) -> FloatArray:
    """The quantile t with P(|T| < t) = level (or levels, of the shape of df); normal if
    df is infinite.
    """
    share = (
        0.5 + (np.asarray(level) if np.ndim(level) else fraction("level", level)) / 2.0
    )
    return np.where(np.isinf(df), ndtri(share), stdtrit(df, share))


def symmetric_limits(
    value: FloatArray, std_error: FloatArray, level: Any, df: Any = np.inf
) -> tuple[FloatArray, FloatArray]:
    """value -+ z std_error, with the t quantile for finite degrees of freedom."""
    half = t_quantile(level, np.asarray(df)) * std_error
    return value - half, value + half


def logit_limits(
    share: FloatArray,
    complement: FloatArray,
    std_error: FloatArray,
    level: float,
    df: Any = math.inf,
) -> tuple[FloatArray, FloatArray]:
    """Confidence limits of p in [0, 1], computed on the logit scale and transformed
    back [R: ordinal, predict.clm].

    Parameters
    ----------
    share, complement : arrays
        p and 1 - p. If p is 0 or 1 with standard error 0, so are its limits; they are
        NaN for p outside [0, 1].
    std_error : array
        Standard error of p.
    level : float in (0, 1)
    df : float or array
        Degrees of freedom of Student's t.
    """
    z = t_quantile(level, np.asarray(df))
    with np.errstate(divide="ignore", invalid="ignore"):
        centre = np.log(share) - np.log(complement)
        half = z * (std_error / share / complement)
        lower = expit(centre - half)
        upper = expit(centre + half)
    certain = std_error == 0.0
    return np.where(certain, share, lower), np.where(certain, share, upper)


def limits_between(
    low: float,
    high: float,
    value: FloatArray,
    std_error: FloatArray,
    level: float,
    df: Any = math.inf,
) -> tuple[FloatArray, FloatArray]:
    """Confidence limits of a value in [low, high], by the logit of (value - low) /
    (high - low).
    """
    width = high - low
    share = (value - low) / width
    lower, upper = logit_limits(share, 1.0 - share, std_error / width, level, df)
    return low + width * lower, low + width * upper


_VALUES: dict[str, Callable[[LikelihoodRule, Rows], FloatArray]] = {
    "prob": lambda rule, rows: rule.probabilities(rows),
    "cum_prob": lambda rule, rows: rule.cum_probabilities(rows),
    "score": lambda rule, rows: rule.scores(rows)[:, None],
    "hazard": lambda rule, rows: stages_of(rule.family).hazards(rule.eta(rows)),
    "linear_predictor": lambda rule, rows: rule.eta(rows),
}
#: Predictions that have a standard error; quantiles have limits alone.
TYPES_WITH_ERRORS = (*_VALUES, "mean", "mean_class", "exceed")


def predicted(rule: LikelihoodRule, rows: Rows, type: str) -> FloatArray:
    """(n, M) values of a type of `TYPES_WITH_ERRORS` that needs no labels."""
    return _VALUES[type](rule, rows)

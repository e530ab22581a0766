"""How well a probability model tells ranks apart, in the terms of R's rms [Harrell 2015].

A row of weight w counts as w cases throughout. n is the sum of the weights, p the number of effects (parameters beside
the thresholds), LR the likelihood ratio statistic against thresholds only, H the score. Rows are ordered by H or, under
nominal or scale effects, where H of different rows does not compare, by the expected rank.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import cast

import numpy as np

from .._typing import BoolArray, FloatArray
from ..formula.sample import Sample, row_blocks
from ..judging.errors import PairOrder, concordance, ranked_probability_scores, ratio, somers_d, spearman
from .fit import LikelihoodFit
from .rule import LikelihoodRule
from .wald import chi2_tail

#: exp() of more is infinite.
_LARGEST_LOG = 709.0


def discrimination(rule: LikelihoodRule, fit: LikelihoodFit, sample: Sample) -> dict[str, float]:
    """Indexes of a fit on its own rows.

    Returns
    -------
    dict of str to float, NaN where an index has no meaning
        lr_chi2, lr_df, lr_p_value
            Likelihood ratio test of all effects.
        score_chi2, score_p_value
            Score test of all effects; NaN with anything but location effects, flexible thresholds and a known link.
        cox_snell, nagelkerke, mcfadden
            1 - exp(-LR / n); the same over its largest value; 1 - loglik / null loglik.
        r2_n_p, r2_effective, r2_effective_p
            1 - exp(-(LR - p) / n), 0 where LR < p; `cox_snell` and this one with the effective sample size in place of
            n.
        n_effective
            n (1 - sum of p_k^3), p_k the shares of the levels [Whitehead 1993].
        g, gr, gp
            Gini's mean difference of H; exp(g); Gini's mean difference of P(Y >= middle level).
        pdm
            Mean of |P(Y >= median level) - 1/2|; of the second level where the median is the lowest, as in rms.
        rho
            Spearman's correlation of that order and the ranks.
        c_index, somers_d, gamma, tau_a
            Measures of the pairs of cases of different ranks, by that order: concordant plus half the ties; concordant
            less discordant; the same among pairs without ties; the same among all pairs of cases.
        brier, rps
            Mean squared error of P(Y >= middle level); mean ranked probability score.
    """
    weights, scores = sample.case_weights, fit.scores
    n, df = float(weights.sum()), int(np.count_nonzero(~fit.aliased)) - fit.null_edf
    lr = 2.0 * (fit.loglik - fit.null_loglik)
    shares = np.bincount(sample.y, weights, sample.n_levels) / n
    effective = n * (1.0 - float((shares**3).sum()))
    middle, median = middle_code(sample.n_levels), max(1, int(np.searchsorted(np.cumsum(shares), 0.5 - 1e-12)))
    above, over_median, rps, mean = _probability_figures(rule, fit, sample, (middle, median))
    order = scores if sample.rows.one_scale else mean
    by_order = PairOrder.of(sample.y, order)
    pairs = by_order.counts(weights)
    g = gini_mean_difference(scores, weights)
    score = score_chi2(fit, sample)
    return {
        "lr_chi2": lr,
        "lr_df": df,
        "lr_p_value": float(chi2_tail(lr, df)),
        "score_chi2": score,
        "score_p_value": float(chi2_tail(score, df)),
        "cox_snell": no_rounding(-float(np.expm1(-lr / n))),
        "nagelkerke": no_rounding(float(np.expm1(-lr / n) / np.expm1(2.0 * fit.null_loglik / n))),
        "mcfadden": no_rounding(1.0 - fit.loglik / fit.null_loglik),
        "r2_n_p": -float(np.expm1(-max(lr - df, 0.0) / n)),
        "n_effective": effective,
        "r2_effective": -float(np.expm1(-lr / effective)),
        "r2_effective_p": -float(np.expm1(-max(lr - df, 0.0) / effective)),
        "g": g,
        "gr": math.inf if g > _LARGEST_LOG else math.exp(g),
        "gp": gini_mean_difference(above, weights),
        "pdm": float(np.average(np.abs(over_median - 0.5), weights=weights)),
        "rho": spearman(by_order.table(weights)),
        "c_index": concordance(pairs),
        "somers_d": somers_d(pairs),
        "gamma": ratio(pairs.concordant - pairs.discordant, pairs.concordant + pairs.discordant),
        "tau_a": ratio(pairs.concordant - pairs.discordant, 0.5 * _pairs(n)),
        "brier": float(np.average((above - (sample.y >= middle)) ** 2, weights=weights)),
        "rps": float(np.average(rps, weights=weights)),
    }


def _probability_figures(
    rule: LikelihoodRule, fit: LikelihoodFit, sample: Sample, cuts: tuple[int, int]
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """(N,) P(rank code >= cut) at two cuts, ranked probability scores and expected ranks, some rows at a time."""
    parts, ranks = [], np.arange(sample.n_levels, dtype=np.float64)
    for rows in row_blocks(sample.n, sample.n_levels):
        probabilities = rule.probabilities(sample.rows.take(rows), fit.scores[rows])
        above = (probabilities[:, cut:].sum(axis=1) for cut in cuts)
        parts.append(
            np.stack([*above, ranked_probability_scores(probabilities, sample.y[rows]), probabilities @ ranks])
        )
    first, second, rps, mean = np.concatenate(parts, axis=1)
    return first, second, rps, mean


def no_rounding(share: float) -> float:
    """An R2, exactly 0 where it is rounding.

    Examples
    --------
    >>> no_rounding(-2e-16), no_rounding(0.25)
    (0.0, 0.25)
    """
    return 0.0 if abs(share) < 1e-13 else share


def middle_code(n_levels: int) -> int:
    """The code that P(Y >= middle level) asks for."""
    return n_levels // 2


def _pairs(total: float) -> float:
    """Ordered pairs of different cases, 0 where there is hardly more than one case."""
    return total * (total - 1.0) if total > 1.0 + 1e-9 else 0.0


def gini_mean_difference(values: FloatArray, weights: FloatArray) -> float:
    """Mean |a - b| over the pairs of different cases; NaN where the weights sum to 1 or less.

    Examples
    --------
    >>> gini_mean_difference(np.array([0.0, 1.0, 3.0]), np.ones(3))
    2.0
    """
    order = np.argsort(values)
    v, w = values[order] - values[order[0]], weights[order]
    total = float(w.sum())
    below = np.cumsum(w) - w
    return ratio(2.0 * float((w * v) @ (2.0 * below + w - total)), _pairs(total))


def score_chi2(fit: LikelihoodFit, sample: Sample) -> float:
    """Score test of beta = 0 at thresholds alone, by the observed information there; NaN with other parts."""
    rows = sample.rows
    kept: BoolArray = ~fit.aliased[fit.n_alpha : fit.n_alpha + fit.n_beta]
    others = (rows.nominal, rows.scale, rows.offset, rows.scale_offset, fit.jacobian)
    if any(other is not None for other in others) or fit.n_lambda or not kept.any():
        return float("nan")
    counts = np.bincount(sample.y, sample.case_weights, sample.n_levels)
    theta = cast(LikelihoodRule, fit.rule).family.start(counts[counts > 0.0] / counts.sum())
    columns = replace(sample, rows=replace(rows, X=np.ascontiguousarray(rows.X[:, kept])))
    return float(fit.likelihood.score_statistic(columns, np.append(theta, np.zeros(int(kept.sum())))))

"""Discrimination between levels: the statistics that R's rms reports for a fit."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .._typing import FloatArray
from ..formula.row_blocks import row_blocks
from ..judging.errors import (
    concordance,
    pairs_of_rows,
    rank_correlation,
    ranked_probability_scores,
    ratio,
    score_codes,
    somers_d,
)
from ..likelihood.derivatives import nodes_of_rule
from ..likelihood.score_nodes import ScoreNodes
from ..likelihood.unavailable import check_available
from ..report.cells import MISSING, short_p_value, wrapped
from ..report.grid import SCREEN
from .summary import figures_of_test, pseudo_r2

if TYPE_CHECKING:
    from ..likelihood.results import LikelihoodResults

#: Figures of the test of all effects, which assumes independent rows.
_TESTS = ["lr_chi2", "lr_df", "lr_p_value"]


#: Meaning of names in the series.
_MEANING = (
    "g, gr, gp: Gini's mean difference of the score, exp(g), and Gini's mean difference"
    " of P(Y >= middle level). pdm: mean distance of P(Y >= median level) from 1/2."
    " r2_n_p, r2_effective_p: R2 of the likelihood ratio minus its df. n_effective: n"
    " reduced for ties; r2_effective uses it in place of n."
)


class Discrimination(pd.Series):
    """The series of `discrimination`, printed without scientific notation."""

    @property
    def _constructor(self) -> type[Discrimination]:
        return Discrimination

    def __repr__(self) -> str:
        names = [str(name) for name in self.index]
        shown = [
            short_p_value(v) if n.endswith("p_value") else f"{v:.4g}"
            for n, v in zip(names, self, strict=True)
        ]
        width = max(map(len, names), default=0)
        lines = zip(names, shown, strict=True)
        text = "\n".join(
            f"{name:<{width}}  {MISSING if text == 'nan' else text:>9}"
            for name, text in lines
        )
        return "\n".join(
            [text, "", *wrapped(_MEANING, SCREEN)] if "pdm" in names else [text]
        )


#: exp() of a larger number is infinite.
_LARGEST_LOG = 709.0


def discrimination_series(r: LikelihoodResults) -> pd.Series:
    """The statistics that R's rms reports: tests of all effects, R2s, g, rank
    correlations, Brier score.
    """
    check_available(r, "discrimination()")
    fit = r.fit
    sample = r.design.sample
    weights = sample.case_weights
    K = sample.n_levels
    n = float(weights.sum())
    df = int(np.count_nonzero(~fit.aliased)) - fit.null_edf
    lr = 2.0 * (fit.loglik - fit.null_loglik)
    shares = np.bincount(sample.y, weights, K) / n
    effective = n * (1.0 - float((shares**3).sum()))
    middle = K // 2
    median = max(1, int(np.searchsorted(np.cumsum(shares), 0.5 - 1e-12)))
    above, over_median, rps, mean = _probability_figures(r, (middle, median))
    order = fit.scores if sample.rows.one_scale else mean
    pairs = pairs_of_rows(sample.y, order, weights)
    g = gini_mean_difference(fit.scores, weights)
    if r.covariance == "survey":
        tests = dict.fromkeys(_TESTS, np.nan)
    else:
        tests = figures_of_test(r)
    values = {
        **tests,
        **pseudo_r2(fit, n),
        "r2_n_p": -float(np.expm1(-max(lr - df, 0.0) / n)),
        "n_effective": effective,
        "r2_effective": -float(np.expm1(-lr / effective)),
        "r2_effective_p": -float(np.expm1(-max(lr - df, 0.0) / effective)),
        "g": g,
        "gr": math.inf if g > _LARGEST_LOG else math.exp(g),
        "gp": gini_mean_difference(above, weights),
        "pdm": float(np.average(np.abs(over_median - 0.5), weights=weights)),
        "rho": rank_correlation(score_codes(order), sample.y, weights),
        "c_index": concordance(pairs),
        "somers_d": somers_d(pairs),
        "gamma": ratio(
            pairs.concordant - pairs.discordant, pairs.concordant + pairs.discordant
        ),
        "tau_a": ratio(pairs.concordant - pairs.discordant, 0.5 * _ordered_pairs(n)),
        f"brier_at_{r.levels[middle]}": float(
            np.average((above - (sample.y >= middle)) ** 2, weights=weights)
        ),
        "rps": float(np.average(rps, weights=weights)),
    }
    return Discrimination(values, name="value", dtype=np.float64)


def _probability_figures(
    r: LikelihoodResults, cuts: tuple[int, int]
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """(N,) P(rank code >= cut) at two cuts, ranked probability scores and expected
    ranks, in blocks of rows.
    """
    sample = r.design.sample
    nodes = nodes_of_rule(r.rule, sample.rows)
    if nodes is not None:
        return _figures_at_nodes(r, cuts, nodes)
    parts = []
    ranks = np.arange(sample.n_levels, dtype=np.float64)
    for rows in row_blocks(sample.n, sample.n_levels):
        probabilities = r.rule.probabilities(sample.rows.take(rows), r.fit.scores[rows])
        above = (probabilities[:, cut:].sum(axis=1) for cut in cuts)
        parts.append(
            np.stack(
                [
                    *above,
                    ranked_probability_scores(probabilities, sample.y[rows]),
                    probabilities @ ranks,
                ]
            )
        )
    first, second, rps, mean = np.concatenate(parts, axis=1)
    return first, second, rps, mean


def _figures_at_nodes(
    r: LikelihoodResults, cuts: tuple[int, int], nodes: ScoreNodes
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """`_probability_figures` of very many rows and levels, interpolated between scores.

    With F_k = P(y <= k) the score of a row at y is the sum of F_k^2 over k < y and of
    (1 - F_k)^2 over k >= y.
    """
    y = r.design.sample.y
    scores = r.fit.scores
    rule = r.rule
    theta = rule.alpha[:, 0]
    first, second = (
        rule.family.above((theta[cut - 1] - scores)[:, None])[:, 0] for cut in cuts
    )
    rps = np.zeros(y.size)
    mean = np.zeros(y.size)
    by_node = nodes.weights.tocsc()
    for node, score in enumerate(nodes.scores):
        eta = (theta - score)[None]
        above = rule.family.above(eta)[0]
        below_y = np.append(0.0, np.cumsum(rule.family.below(eta)[0] ** 2))
        from_y = np.append(np.cumsum(above[::-1] ** 2)[::-1], 0.0)
        column = slice(by_node.indptr[node], by_node.indptr[node + 1])
        rows = by_node.indices[column]
        shares = by_node.data[column]
        rps[rows] += shares * (below_y + from_y)[y[rows]]
        mean[rows] += shares * above.sum()
    return first, second, rps, mean


def _ordered_pairs(total: float) -> float:
    """Number of ordered pairs of different cases; 0 for one case or less."""
    return total * (total - 1.0) if total > 1.0 + 1e-9 else 0.0


def gini_mean_difference(values: FloatArray, weights: FloatArray) -> float:
    """Gini's mean difference: mean |a - b| over pairs of different cases; NaN if the
    weights sum to 1 or less.

    Examples
    --------
    >>> gini_mean_difference(np.array([0.0, 1.0, 3.0]), np.ones(3))
    2.0
    """
    order = np.argsort(values)
    v = values[order] - values[order[0]]
    w = weights[order]
    total = float(w.sum())
    below = np.cumsum(w) - w
    return ratio(
        2.0 * float((w * v) @ (2.0 * below + w - total)), _ordered_pairs(total)
    )

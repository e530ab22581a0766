"""How well a fit with random effects tells levels apart: at the modes, for new groups, and within groups."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from ....assess.agreement import PairCounts, PairOrder, concordance, ratio, somers_d
from ....assess.errors import ranked_probability_scores
from ....assess.likelihood.discrimination import middle_code
from ....model.sample import Sample
from ...evaluation import ProbabilityRule
from ...report.noted import NotedFrame
from ..fitted import FittedLikelihood
from .new_groups import over_population
from .summary import latent_variances

_NOTES = (
    "modes: at the modes of the random effects, which know the responses of their own groups; population: as rows of "
    "groups not seen are predicted; within: pairs of rows of one group alone. errors(cv=) has held-out groups.",
    "r2_latent: share of the latent variance that the fixed effects explain (population), and they and the random "
    "effects (modes), by Nakagawa, Johnson and Schielzeth (2017).",
)


def mixed_discrimination(r: FittedLikelihood) -> pd.DataFrame:
    """Rank correlations, Brier score, ranked probability score and R2, a column for each way of seeing the groups.

    Columns modes, population and, for each grouping, "within <group>"; NaN where a figure has no meaning.
    """
    sample, named = r.design.sample, {}
    for name, fit in (("modes", r.fit), ("population", over_population(r.fit))):
        rule: ProbabilityRule = fit.rule  # type: ignore[assignment]
        probabilities = rule.probabilities(sample.rows, fit.rule.scores(sample.rows))
        named[name] = _pairs(sample, _order(sample, r.fit.scores if name == "modes" else None, probabilities), None)
        named[name] |= _by_row(sample, probabilities, r.levels[middle_code(len(r.levels))])
    at_modes = _order(sample, r.fit.scores, r.rule.probabilities(sample.rows, r.fit.scores))
    assert sample.rows.random is not None
    for group, codes in {
        term.group: own.codes for term, own in zip(r.design.random, sample.rows.random.terms, strict=True)
    }.items():
        named[f"within {group}"] = _pairs(sample, at_modes, codes)
    for name, share in zip(("population", "modes"), _explained(r), strict=True):
        named[name]["r2_latent"] = share
    return NotedFrame.of(pd.DataFrame(named), list(_NOTES), "Discrimination")


def _order(sample: Sample, scores: np.ndarray | None, probabilities: np.ndarray) -> np.ndarray:
    """(N,) by which rows are ordered: scores where these compare, else expected ranks."""
    if scores is not None and sample.rows.one_scale:
        return scores
    return np.asarray(probabilities @ np.arange(sample.n_levels, dtype=np.float64))


def _pairs(sample: Sample, order: np.ndarray, groups: np.ndarray | None) -> dict[str, float]:
    counts: PairCounts = PairOrder.of(sample.y, order, groups).counts(sample.case_weights)
    gamma = ratio(counts.concordant - counts.discordant, counts.concordant + counts.discordant)
    return {"c_index": concordance(counts), "somers_d": somers_d(counts), "gamma": gamma, "pairs": counts.total}


def _by_row(sample: Sample, probabilities: np.ndarray, level: object) -> dict[str, float]:
    middle, weights = middle_code(sample.n_levels), sample.case_weights
    above = probabilities[:, middle:].sum(axis=1)
    brier = float(np.average((above - (sample.y >= middle)) ** 2, weights=weights))
    rps = float(np.average(ranked_probability_scores(probabilities, sample.y), weights=weights))
    return {f"brier_at_{level}": brier, "rps": rps}


def _explained(r: FittedLikelihood) -> tuple[float, float]:
    """Shares of the latent variance of the fixed effects, and of these and the random ones; NaN where it has none."""
    found = latent_variances(r)
    if found is None:
        return float("nan"), float("nan")
    between, own = found
    sample, bare = r.design.sample, replace(r.rule, effects=())
    rows = replace(sample.rows, offset=None)
    score, weights = bare.scores(rows), sample.case_weights
    fixed = float(np.average((score - np.average(score, weights=weights)) ** 2, weights=weights))
    total = fixed + sum(between) + own
    return fixed / total, (fixed + sum(between)) / total

"""Variances, group effects and the summary of fits with random effects."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from ..checks import fraction, one_of
from ..exceptions import UnavailableError
from ..formula.sample import Sample
from ..judging.errors import PairCounts, PairOrder, concordance, ranked_probability_scores, ratio, somers_d
from ..judging.evaluation import ProbabilityRule
from ..likelihood.discrimination import middle_code
from ..likelihood.fit import Marginal
from ..likelihood.fitted import FittedLikelihood
from ..likelihood.wald import chi2_tail
from ..report.cells import p_in_words
from ..report.frames import NotedFrame
from ..report.render import Table
from .comparison import is_zero
from .new_groups import over_population
from .parameters import doubtful_effects

#: Variance of the latent distributions; that of the cauchit is infinite.
LATENT = {"logit": np.pi**2 / 3.0, "probit": 1.0, "cloglog": np.pi**2 / 6.0, "loglog": np.pi**2 / 6.0}


def random_header(r: FittedLikelihood) -> tuple[tuple[str, Any], ...]:
    """Groups, how effects were integrated out, their test, and the share of the latent variance."""
    marginal = r.fit.marginal
    assert marginal is not None
    groups = ", ".join(f"{name} {count}" for name, count in _groups(r).items())
    lines = [("Groups", groups), ("Integration", marginal.integration), ("Std. errors", r.own_covariance.words)]
    shares = latent_shares(r)
    if shares:
        named = len(shares) > 1
        lines.append(
            ("ICC", ", ".join(f"{name} {share:.3f}" if named else f"{share:.3f}" for name, share in shares.items()))
        )
    if r.covariance != "model":
        lines.append(("Random effects", f"no LR test: {r.without_aic}"))
    elif not marginal.likelihood.penalised:
        lines.append(("Random effects", _test(r, marginal)))
    return tuple(lines)


def _groups(r: FittedLikelihood) -> dict[str, str]:
    given = {True: "", False: " (cov=)"}
    return {term.group: f"{term.cells.size}{given[term.root is None]}" for term in r.design.random}


def _test(r: FittedLikelihood, marginal: Marginal) -> str:
    """Likelihood ratio against no random effects, by the law of a variance at its boundary where there is one."""
    statistic, df = max(2.0 * (r.loglik - marginal.plain_loglik), 0.0), marginal.n_phi
    if df == 1:
        p = 0.5 * float(chi2_tail(statistic, 1)) if not is_zero(statistic, r.loglik) else 1.0
        return f"LR {statistic:.2f}, {p_in_words(p)} (1/2 chi2(0) + 1/2 chi2(1))"
    return f"LR {statistic:.2f}, {p_in_words(float(chi2_tail(statistic, df)))} (chi2({df}), conservative)"


def latent_shares(r: FittedLikelihood) -> dict[str, float]:
    """Share of the latent variance that is between the groups of each term; with slopes, of mean variance.

    Nakagawa, Johnson and Schielzeth (2017), with the variance of the latent distribution; nothing for links whose
    latent distribution has none, for families without a latent variable, and beside scale effects.
    """
    found = latent_variances(r)
    if found is None:
        return {}
    means, own = found
    shares: dict[str, float] = {}
    for term, mean in zip(r.design.random, means, strict=True):
        shares[term.group] = shares.get(term.group, 0.0) + mean / (sum(means) + own)
    return shares


def latent_variances(r: FittedLikelihood) -> tuple[list[float], float] | None:
    """Mean variance of z'b of each term, and that of the latent distribution; None where there is none of these."""
    marginal, rows = r.fit.marginal, r.design.sample.rows
    own = LATENT.get(r.family.link.name) if r.family.ordered else None
    if marginal is None or own is None or rows.random is None or rows.scale is not None:
        return None
    weights = r.design.sample.case_weights
    means = [
        float(np.average(term.variances(effects.covariance), weights=weights))
        for term, effects in zip(rows.random.terms, marginal.terms, strict=True)
    ]
    return means, own


def random_table(r: FittedLikelihood, level: float) -> Table:
    """Variances, standard deviations with errors and limits, correlations."""
    frame = variance_table(r, level)
    limits = f"{50 * (1 - level):.3g}%", f"{50 * (1 + level):.3g}%"
    names = {"sd": "std. dev.", "std_error": "std. error", "lower": limits[0], "upper": limits[1]}
    frame = frame.rename(columns=names)
    correlations = [name for name in map(str, frame) if name.startswith("corr_")]
    if correlations:
        frame = frame.rename(columns={correlations[0]: "corr"} | dict.fromkeys(correlations[1:], ""))
    frame.index = pd.Index([f"{group} {name}" for group, name in frame.index])
    title, note = "Random effects", "Limits are those of log standard deviations."
    brief = Table(title="", frame=frame.rename_axis(title), formats=dict.fromkeys(frame, "brief"))
    return Table(title=title, frame=frame, note=note, brief=brief)


def random_notes(r: FittedLikelihood) -> tuple[str, ...]:
    """Variances at their boundary, and where Laplace's approximation is known to be biased."""
    marginal = r.fit.marginal
    if marginal is None:
        return ()
    penalised = (_PENALISED,) if marginal.likelihood.penalised else ()
    return (*penalised, *doubtful_effects(r.design, marginal, r.random_parameters, r.covariance))


_PENALISED = (
    "Standard deviations of random effects are kept off 0 by a penalty, + log sd: none of them says that its "
    "variance is there. Fit without random_penalty= to test one."
)


def marginal_of(r: FittedLikelihood, name: str) -> Marginal:
    """The random effects of a fit; UnavailableError where it has none."""
    if r.fit.marginal is None:
        raise UnavailableError(
            f".{name} is available of fits with random effects alone: add a term such as (1 | group) to the formula."
        )
    return r.fit.marginal


def variance_table(r: FittedLikelihood, level: float = 0.95) -> pd.DataFrame:
    """Variances and correlations of the random effects, as R's VarCorr."""
    marginal, level = marginal_of(r, "varcorr"), fraction("level", level)
    own = r.random_parameters
    assert own is not None
    sd = [k for k, kind in enumerate(own.kinds) if kind == "sd"]
    errors, limits = own.errors, own.limits(level)
    index = [(term.group, name) for term in r.design.random for name in term.names]
    frame = pd.DataFrame(
        {
            "variance": own.estimates[sd] ** 2,
            "sd": own.estimates[sd],
            "std_error": errors[sd],
            "lower": limits[sd, 0],
            "upper": limits[sd, 1],
        },
        index=pd.MultiIndex.from_tuples(index, names=["group", "name"]),
    )
    widest = max(len(term.names) if term.correlated else 1 for term in r.design.random)
    for k in range(1, widest):
        frame[f"corr_{k}"] = np.nan
    start = 0
    for term, effects in zip(r.design.random, marginal.terms, strict=True):
        for a, b in combinations(range(len(term.names)), 2) if term.correlated else ():
            frame.iloc[start + b, 5 + a] = effects.correlations[a, b]
        start += len(term.names)
    return NotedFrame.of(frame, (f"{100 * level:g} % limits: those of log standard deviations.",), "Random effects")


def group_effects(r: FittedLikelihood, group: str | None = None) -> pd.DataFrame:
    """Conditional modes of the random effects, as R's ranef, with conditional standard deviations."""
    marginal, parts = marginal_of(r, "ranef"), []
    if group is not None:
        one_of("group", group, dict.fromkeys(term.group for term in r.design.random))
    for term, effects in zip(r.design.random, marginal.terms, strict=True):
        if group not in (None, term.group):
            continue
        groups, (count, q) = term.groups, effects.modes.shape
        deviations = np.sqrt(np.maximum(np.einsum("gqq->gq", effects.conditional), 0.0))
        parts.append(
            pd.DataFrame(
                {
                    "term": term.text,
                    "group": term.group,
                    "level": pd.Series([label for label in groups for _ in range(q)], dtype=object),
                    "name": list(term.names) * count,
                    "mode": effects.modes.reshape(-1),
                    "sd": deviations.reshape(-1),
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


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

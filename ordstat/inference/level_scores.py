"""Notes on the scores of the levels of stereotype models."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import chdtrc

from ..report.cells import p_in_words
from .wald import joint_test

if TYPE_CHECKING:
    from .._typing import FloatArray
    from ..likelihood.results import LikelihoodResults

#: How the scores are read.
READING = (
    "A score times an effect is the change of the log odds of a level against the"
    " lowest one; levels with equal scores have equal effects. For free effects on"
    " every level: anova() of this fit and update(method='multinomial')."
)
_ONLY_EFFECT = (
    "The only effect has no p-value: without it the scores of the levels have no value."
    " Compare AIC with that of the model without it."
)
#: Level of the tests that the notes speak of.
_LEVEL = 0.05


def score_notes(r: LikelihoodResults) -> list[str]:
    """Notes on scores that the data do not determine, or that are out of order."""
    places = r.parameters.of("phi")
    unbounded = (r.fit.infinite | r.fit.diverging).any() or r.fit.diverging_elsewhere
    if not places.size or unbounded or r.fit.aliased[places].any():
        return []
    if weak := _no_effect(r):
        return [weak, *only_effect_notes(r)]
    return [*_out_of_order(r), *only_effect_notes(r)]


def only_effect_notes(r: LikelihoodResults) -> list[str]:
    """A note on why the only effect of a stereotype model has no p-value."""
    effects = r.parameters.of("location")
    only = np.count_nonzero(~r.fit.aliased[effects]) == 1
    return [_ONLY_EFFECT] if only and r.parameters.of("phi").size else []


def _no_effect(r: LikelihoodResults) -> str:
    """A note that no effect is told from 0; empty if one is.

    The likelihood ratio is at least that of scores held at their estimates, which has a
    chi-squared distribution with as many degrees of freedom as effects: its p-value is
    a lower bound. Robust errors and surveys have no likelihood ratio, and no note.
    """
    effects = r.parameters.of("location")
    if r.own_covariance.name != "model" or r.without_aic:
        return ""
    statistic = 2.0 * (r.fit.loglik - r.fit.null_loglik)
    p = float(chdtrc(np.count_nonzero(~r.fit.aliased[effects]), statistic))
    if p <= _LEVEL:
        return ""
    return (
        "The effects do not differ significantly from 0 (likelihood ratio"
        f" {statistic:.2f}, p at least {p:.2f}), and without effects the scores of the"
        " levels have no value: do not interpret them."
    )


def _out_of_order(r: LikelihoodResults) -> list[str]:
    """A note on scores that do not increase, with the clearest pair of neighbours."""
    labels, scores, rows = _scores(r)
    steps = np.diff(scores)
    falls = np.flatnonzero(steps < 0.0)
    if not falls.size:
        return []
    along = np.diff(rows, axis=0)
    p_values = [
        joint_test(r, along[[fall]], steps[[fall]]).p_value for fall in falls.tolist()
    ]
    clearest = int(np.nanargmin(p_values)) if np.isfinite(p_values).any() else 0
    low = labels[falls[clearest]]
    high = labels[falls[clearest] + 1]
    listed = ", ".join(
        f"{label} {score:.2f}" for label, score in zip(labels, scores, strict=True)
    )
    p = p_values[clearest]
    if p < _LEVEL:
        meaning = (
            f"The effects put {high} below {low} ({p_in_words(p)}): they do not follow"
            " the order of the levels"
        )
    else:
        meaning = (
            f"The data do not distinguish {low} from {high} ({p_in_words(p)}): merge"
            " them, or use method='acat', whose scores are equally spaced"
        )
    return [f"The scores are not in the order of the levels: {listed}. {meaning}."]


def _scores(r: LikelihoodResults) -> tuple[list[str], FloatArray, FloatArray]:
    """The levels of the rows, their scores (K,), and these as rows (K, P') over the
    estimated parameters.
    """
    places = r.parameters.of("phi")
    sample = r.design.sample
    weights = np.bincount(sample.y, sample.case_weights, minlength=len(r.levels))
    labels = [str(r.levels[code]) for code in np.flatnonzero(weights)]
    scores = np.concatenate([[0.0], r.fit.coefficients[places], [1.0]])
    rows = np.zeros((scores.size, r.fit.aliased.size))
    rows[np.arange(1, scores.size - 1), places] = 1.0
    return labels, scores, rows[:, ~r.fit.aliased]

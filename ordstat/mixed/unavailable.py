"""The questions that a fit with random effects does not answer: why not, and what to ask instead."""

from __future__ import annotations

from ..exceptions import UnavailableError
from ..likelihood.fit import LikelihoodFit

_ROWS = "it treats rows as independent, and rows of a group are not"
_MARGINS = "margins are distances from thresholds, and random effects move these by group", "errors(cv=)"
_NULL = "it compares with a likelihood without any effects", "discrimination(), which has R2s"

#: Name of a method -> why it is not available, and what to use instead.
UNAVAILABLE = {
    "score_test": (_ROWS, "nominal_test() or scale_test(), which fit again"),
    "brant": (_ROWS, "nominal_test()"),
    "influence": (_ROWS, "update(data=) without a group, which fits again"),
    "power": (_ROWS, "simulate() from the fit, and fit to what it draws"),
    "bounds": (_ROWS, "errors(cv=)"),
    "margins": _MARGINS,
    "delta_errors": _MARGINS,
    "lr_chi2": (_NULL[0], "anova() with the fit to compare with"),
    "lr_p_value": (_NULL[0], "anova() with the fit to compare with"),
    "mcfadden": _NULL,
    "nagelkerke": _NULL,
}


def refuse_random_effects(fit: LikelihoodFit, name: str) -> None:
    """UnavailableError if a fit with random effects does not answer the question of this name."""
    if fit.marginal is not None and name in UNAVAILABLE:
        why, instead = UNAVAILABLE[name]
        raise UnavailableError(f".{name} is not available for fits with random effects, as {why}: use {instead}.")

"""What fits with random effects cannot be asked, said in words: nothing answers for the fixed effects alone."""

from __future__ import annotations

from ....exceptions import UnavailableError
from ....model.fit import LikelihoodFit

_MARGINS = "margins are distances from thresholds, and random effects move these by group", "errors(cv=)"
_NULL = "a likelihood without any effects says nothing of the random ones", "anova() with the fit to compare with"

#: Name of a method of the results -> why not, and what to use in its place.
UNAVAILABLE = {
    "score_test": ("its law is that of independent rows", "nominal_test() or scale_test(), by refits"),
    "brant": ("it compares separate binary fits to independent rows", "nominal_test()"),
    "margins": _MARGINS,
    "delta_errors": _MARGINS,
    "bounds": ("bounds of errors take rows for independent, and rows of a group are not", "errors(cv=) or conformal()"),
    "lr_chi2": _NULL,
    "lr_p_value": _NULL,
    "mcfadden": ("it compares with a likelihood without any effects", "discrimination(), which has R2s"),
    "nagelkerke": ("it compares with a likelihood without any effects", "discrimination(), which has R2s"),
}


def refuse_random_effects(fit: LikelihoodFit, name: str) -> None:
    """UnavailableError where a fit with random effects is asked for what it has not."""
    if fit.marginal is not None and name in UNAVAILABLE:
        why, instead = UNAVAILABLE[name]
        raise UnavailableError(f".{name} is not available of a fit with random effects, as {why}: use {instead}.")

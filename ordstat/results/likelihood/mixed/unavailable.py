"""What fits with random effects cannot be asked, said in words: nothing answers for the fixed effects alone."""

from __future__ import annotations

from ....exceptions import UnavailableError
from ....model.fit import LikelihoodFit

#: Name of a method of the results -> what to use in its place.
UNAVAILABLE = {
    "augment": "predict()",
    "power": "simulate() and ordfit()",
    "score_test": "nominal_test()",
    "brant": "nominal_test()",
    "wild_bootstrap": "bootstrap()",
    "gof": "loglik and aic",
    "discrimination": "errors()",
    "convergence": "certificate",
    "margins": "errors()",
    "delta_errors": "errors()",
    "bounds": "errors()",
    "conformal": "errors()",
    "lr_chi2": "loglik of the fit without fixed effects beside it",
    "lr_p_value": "loglik of the fit without fixed effects beside it",
    "mcfadden": "loglik",
    "nagelkerke": "loglik",
}


def refuse_random_effects(fit: LikelihoodFit, name: str) -> None:
    """UnavailableError where a fit with random effects is asked for what it has not."""
    if fit.marginal is not None and name in UNAVAILABLE:
        instead = UNAVAILABLE[name]
        raise UnavailableError(
            f".{name} is not available of a fit with random effects{f': use {instead}' if instead else ''}."
        )

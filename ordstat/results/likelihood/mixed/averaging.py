"""What random effects are where effects and means are asked for: 0, or averaged over the groups there could be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...._typing import FloatArray
from ....checks import one_of
from ....exceptions import OptionError
from ....model.likelihood.over_groups import AsTheyAre, Predicted
from ..fitted import FittedLikelihood
from ..standard_errors import places, rule_covariance
from .new_groups import over_groups

#: What `re` may be.
AVERAGES = ("zero", "marginal")
#: Scales on which random effects of 0 are taken if nothing is said: means on the first are the same either way, and
#: those of the others have no mean over the groups that is of one.
_AT_ZERO = ("latent", "log_odds", "odds")


def chosen_effects(r: FittedLikelihood, scale: str, re: str | None) -> str | None:
    """What random effects are; None for a fit without them.

    Raises
    ------
    OptionError
        An unknown `re`, one of a fit without random effects, or an average of log odds.
    """
    if r.fit.marginal is None:
        if re is not None:
            raise OptionError(f"re must be left out, as the fit has no random effects; got {re!r}.")
        return None
    if re is None:
        return "zero" if scale in _AT_ZERO else "marginal"
    one_of("re", re, AVERAGES)
    if re == "marginal" and scale in ("log_odds", "odds"):
        raise OptionError(
            f"re must be 'zero' on scale={scale!r}: odds are those within a group; got 'marginal'. Take a scale of "
            "probabilities for averages over the groups."
        )
    return re


def predicted_by(r: FittedLikelihood, scale: str, re: str | None) -> Predicted:
    """Predictions with random effects as chosen; those of a plain fit as they are."""
    marginal, bare = r.fit.marginal, replace(r.rule, effects=())
    if marginal is None or re == "zero" or scale == "latent":  # linear in the effects, whose means are 0
        return AsTheyAre(bare)
    return over_groups(bare, marginal)


def predicted_covariance(r: FittedLikelihood, predicted: Predicted) -> FloatArray:
    """(F + n_phi, F + n_phi) of the parameters of a prediction; those at a boundary are held there."""
    if not predicted.n_phi:
        return rule_covariance(r.fit, predicted.rule, r._covariance(None))
    own, F, whole = places(r.fit, predicted.rule), predicted.rule.n_parameters, r.whole_covariance
    size, n_phi = own.shape[1], predicted.n_phi
    held = np.isnan(np.diag(whole))
    J = np.zeros((F + n_phi, size + n_phi))
    J[: len(own), :size], J[F:, size:] = own, np.eye(n_phi)
    out = J @ np.where(held[:, None] | held, 0.0, whole) @ J.T
    out[:F, :F] = rule_covariance(r.fit, predicted.rule, whole[:size, :size])  # with infinite estimates held
    return out


def effects_words(re: str | None, scale: str) -> tuple[str, ...]:
    """The line below a table that says it."""
    if re is None:
        return ()
    if scale == "latent":
        return ("Random effects at 0, their mean.",)
    if re == "zero":
        return ("Random effects at 0 (re='zero'): those of a typical group, no average over groups.",)
    return ("Averaged over the random effects (re='marginal'): population averages over all groups.",)

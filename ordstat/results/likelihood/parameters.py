"""Names, places and covariances of the parameters of a likelihood fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..._typing import FloatArray, IntArray
from ...exceptions import OptionError
from ...model.fit import Confounded, LikelihoodFit
from ...model.likelihood.rule import LikelihoodRule

if TYPE_CHECKING:
    from ...design.design import Design


@dataclass(frozen=True, eq=False, kw_only=True)
class Parameters:
    """The P parameters in their order: thresholds, nominal, location, scale, lambda of a flexible link.

    Attributes
    ----------
    names : list of str
        "1|2" for thresholds ("central.1", "spacing.1", ... of a threshold structure), "1|2.column" for nominal
        effects, "column", "scale.column", "lambda".
    kinds : list of str
        "threshold", "nominal", "location", "scale" or "lambda".
    """

    names: list[str]
    kinds: list[str]

    def of(self, *kinds: str) -> IntArray:
        """Places of the parameters of some kinds."""
        return np.flatnonzero(np.isin(self.kinds, kinds))


def parameters(design: Design, thresholds: list[str], fit: LikelihoodFit) -> Parameters:
    """Names and kinds of a fit's parameters; `thresholds` are the K-1 names "low|high"."""
    own = list(fit.threshold_names) or thresholds
    kinds = {
        "threshold": own,
        "nominal": [f"{threshold}.{name}" for name in design.nominal_names for threshold in own],
        "location": list(design.names),
        "scale": [f"scale.{name}" for name in design.scale_names],
        "lambda": ["lambda"] * fit.n_lambda,
    }
    return Parameters(
        names=[name for names in kinds.values() for name in names],
        kinds=[kind for kind, names in kinds.items() for _ in names],
    )


def threshold_values(fit: LikelihoodFit) -> FloatArray:
    """(K-1,) thresholds, at zero of the nominal columns; NaN beside a level without rows."""
    theta = cast(LikelihoodRule, fit.rule).alpha[:, 0]
    return fit.coefficients[: theta.size] if fit.jacobian is None else np.where(np.isfinite(theta), theta, np.nan)


def threshold_errors(fit: LikelihoodFit, errors: FloatArray, covariance: Callable[[], FloatArray]) -> FloatArray:
    """(K-1,) standard errors of `threshold_values`, by the delta method where a structure makes them of others."""
    theta = threshold_values(fit)
    if fit.jacobian is None:
        return errors[: theta.size]
    t = fit.jacobian.shape[1]
    own = covariance()[:t, :t]
    variances = np.einsum("ki,ij,kj->k", fit.jacobian, own, fit.jacobian)
    return np.asarray(np.where(np.isnan(theta), np.nan, np.sqrt(variances)))


def spread(values: FloatArray, fit: LikelihoodFit) -> FloatArray:
    """(P,) values of the estimated parameters (P',) in place, NaN at aliased ones."""
    full = np.full(fit.aliased.size, np.nan)
    full[~fit.aliased] = values
    return full


def listed(names: Any) -> list[Any]:
    """One name, several or none as a list."""
    return [] if names is None else [names] if isinstance(names, str) else list(names)


def terms_of(scope: Any, terms: Iterable[str]) -> list[str]:
    """The terms of a scope; OptionError for one that is not among those of the model."""
    asked, known = listed(scope), list(terms)
    for term in asked:
        if term not in known:
            raise OptionError(f"scope has no term {term!r} of the model; its terms are {', '.join(known)}.")
    return asked


#: Names in a message.
_SHOWN = 4


def why_confounded(one: Confounded, fit: LikelihoodFit, parameters: Parameters) -> str:
    """Why a parameter is not estimated."""
    name = parameters.names[one.place]
    effects = [i for i in one.others if parameters.kinds[i] != "threshold"]
    order = sorted(effects or one.others, key=lambda i: parameters.kinds[i] != "location")
    others = [parameters.names[i] for i in order]
    if not others:
        return f"{name} changes no probability, so it is not estimated (NA)."
    shown = ", ".join(others[:_SHOWN]) + (f" and {len(others) - _SHOWN} more" if len(others) > _SHOWN else "")
    return (
        f"{name} cannot be told from {shown} at K = {fit.rule.n_levels}: the probabilities determine "
        f"{np.count_nonzero(~fit.aliased)} parameters only, so it is not estimated (NA) and the model is fitted "
        f"{'at its starting value' if parameters.kinds[one.place] == 'lambda' else 'without it'}."
    )


def check_determined(places: IntArray, fit: LikelihoodFit, parameters: Parameters, ask: str) -> None:
    """OptionError where one of some parameters is not determined by the probabilities."""
    for one in fit.confounded:
        if one.place in places:
            raise OptionError(f"{ask} has no answer: {why_confounded(one, fit, parameters)}")

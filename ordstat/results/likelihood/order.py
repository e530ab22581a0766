"""Thresholds kept in order (`crossing="prevent"`): in words, and what has no answer where the constraint binds.

Standard errors then are those of the model in which the thresholds are known to meet where they do: the information on
the directions that this leaves free. Likelihood ratios are mixtures of chi-squared distributions, whose shares depend
on the parameters [Silvapulle & Sen 2005], so they are refused rather than compared with a chi-squared.
"""

from __future__ import annotations

import numpy as np

from ..._typing import FloatArray
from ...exceptions import UnavailableError
from ...model.fit import LikelihoodFit
from ...model.likelihood.region import Binding, Group
from .fitted import FittedLikelihood

#: Places and groups that are named.
_SHOWN = 4


def order_notes(r: FittedLikelihood) -> list[str]:
    """Where thresholds are in order, and where they would not be without the constraint."""
    order = r.fit.order
    if order is None or not order.region.groups:
        return []
    where = _listed([_extent(r, group) for group in order.region.groups], ", ")
    within = f"Thresholds are kept in order for all combinations of {where}"
    if not order.binding:
        return [f"{within}, which holds back no estimate."]
    met = _listed([_meeting(r, one) for one in order.binding], "; ")
    return [
        f"{within}. That holds estimates back: {met}. Standard errors take it as known that they meet there, and "
        "there are no tests of nominal effects."
    ]


def refuse_binding(fit: LikelihoodFit, name: str, instead: str) -> None:
    """UnavailableError where the order of thresholds holds estimates back.

    Parameters
    ----------
    fit : LikelihoodFit
    name : str
        What was asked for.
    instead : str
        What to ask for.
    """
    if fit.order is not None and fit.order.binding:
        raise UnavailableError(
            f"{name} has no known distribution here, as crossing='prevent' holds estimates back, which are no maximum "
            f"of the likelihood: use {instead}, or fit with crossing='warn'."
        )


def refuse_on_held(r: FittedLikelihood, L: FloatArray) -> None:
    """UnavailableError for hypotheses L (h, P') on parameters that the order of thresholds holds back.

    The thresholds are taken to meet at a place; that effects are equal would have them meet nowhere.
    """
    held = np.isin(r.parameters.kinds, ("threshold", "nominal"))[~r.fit.aliased]
    if np.any(L[:, held] != 0.0):
        refuse_binding(r.fit, "a test of thresholds or nominal effects", "hypotheses on location effects")


def _listed(texts: list[str], mark: str) -> str:
    more = [f"and {len(texts) - _SHOWN} more"] if len(texts) > _SHOWN else []
    return mark.join(texts[:_SHOWN] + more)


def _extent(r: FittedLikelihood, group: Group) -> str:
    """The range of a column, or how many values several take together."""
    names = [r.design.nominal_names[place] for place in group.columns]
    if len(names) == 1:
        low, high = group.points[[0, -1], 0]
        return f"{names[0]} from {low:.4g} to {high:.4g}"
    return f"the {len(group.points)} observed values of ({', '.join(names[:_SHOWN])}{', ...' * (len(names) > _SHOWN)})"


def _meeting(r: FittedLikelihood, one: Binding) -> str:
    """Which thresholds meet, and where."""
    low, high = (r.threshold_names[place] for place in one.thresholds)
    known = np.flatnonzero(~np.isnan(one.values))
    at = [f"{r.design.nominal_names[place]} = {one.values[place]:.4g}" for place in known]
    return f"{low} and {high} meet at {_listed(at, ', ')}"

"""The choice of C by a bound of the expected cost, from the rows of the fit alone.

The PAC-Bayes bound holds for all rankers at once: choosing among those of several C has no price, and the bound that
`bounds()` shows of the chosen one is as good as if C had been given. It grows with |w|, hence with C, once the margins
no longer grow as quickly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import cast

import numpy as np

from ...assess.bounds import dependence
from ...assess.margins import margins
from ...assess.pac_bayes import pac_bayes_bound
from ...assess.training_bounds import comparisons
from ...exceptions import DataError
from ...model.costs import sample_costs
from ...model.fit import BallGeometry, MarginFit, Selection
from ...model.rules import ThresholdRule
from ...model.sample import Sample
from ..base import Method

#: The confidence of summaries is 1 - 0.05, and half of that goes to the paper's bound.
_DELTA = 0.025
# So many values of C in a row that are worse than the best one end the search. Below the first C that does more than
# give every row one level, bounds are nearly alike and may rise a little.
_WORSE = 4


def choose_by_bound(
    method: Method, sample: Sample, machines: Iterable[tuple[float, Callable[[Selection | None], MarginFit]]]
) -> MarginFit:
    """The fit of the smallest bound.

    Parameters
    ----------
    method : Method
        Names the cost, and knows the geometry of its fits.
    sample : Sample
    machines : iterable of (C, fit)
        For growing C, what makes the fit when it is told how C was chosen.

    Raises
    ------
    DataError
        The rows cannot count as independent draws, so that there is no bound.
    """
    if reason := dependence(sample):
        what = reason.replace("No margin bounds: they need", "C='bound' needs")
        raise DataError(f"{what} Set C='cv' or a number.")
    tried: list[tuple[float, float, float]] = []
    for C, machine in machines:
        fit = machine(None)
        tried.append((_bound(method, sample, fit), C, fit.certificate.value))
        if tried[-1] == min(tried):
            chosen, best = machine, len(tried) - 1
        elif len(tried) > best + _WORSE:
            break
    bounds, values, gaps = np.array(tried).T
    return chosen(
        Selection(C=values, cost=bounds, error=np.full(len(tried), np.nan), chosen=best, folds=0, gap=gaps.max())
    )


def _bound(method: Method, sample: Sample, fit: MarginFit) -> float:
    """The bound of the expected cost of a fit."""
    geometry = cast(BallGeometry, method.geometry(sample, fit))
    rows = margins(fit.scores[:, None] - cast(ThresholdRule, fit.rule).theta, sample.y, geometry)
    counted = comparisons("cost", rows, sample, sample_costs(method.cost_matrix, sample))
    return pac_bayes_bound(counted, geometry, _DELTA).value

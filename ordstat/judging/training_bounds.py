"""The margin bounds that fits print: the smaller of two bounds, and the bound for pairs
of rows.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from .._typing import FloatArray
from ..formula.sample import Sample
from .geometry import BallGeometry, Geometry, HullGeometry
from .margin_bounds import Bound, MarginBounds, lacking, margin_bounds
from .margins import Margins
from .pac_bayes import comparisons, pac_bayes_bound, vote_bound

_VACUOUS = "No margin bound is below the largest possible error; see .bounds(cv=5)."


def training_bounds(
    rows: Margins,
    geometry: Geometry,
    sample: Sample,
    costs: FloatArray | None = None,
    delta: float = 0.05,
) -> MarginBounds:
    """Bounds of the classification error, absolute error and a cost: the smaller of two
    bounds, each at delta / 2.

    These are the bound of the papers (`margin_bounds`) and the PAC-Bayes bound. For
    infinite thresholds and for weak learners other than stumps only the first exists,
    at delta.

    Parameters
    ----------
    rows, geometry, sample, costs, delta
        As in `margin_bounds`.
    """
    known = isinstance(geometry, BallGeometry) or (
        isinstance(geometry, HullGeometry) and np.isfinite(geometry.nats)
    )
    has_other = known and np.isfinite(geometry.total)
    each = delta / 2.0 if has_other else delta
    result = margin_bounds(rows, geometry, sample, costs, each)
    bounds = []
    for bound in result.bounds:
        smaller = bound
        other = None
        counted = comparisons(bound.name, rows, sample, costs)
        if has_other and isinstance(geometry, BallGeometry):
            other = pac_bayes_bound(counted, geometry, each)
        elif has_other and isinstance(geometry, HullGeometry):
            other = vote_bound(counted, geometry, each)
        if other is not None and other.value < bound.value:
            smaller = other
        bounds.append(replace(smaller, delta=delta, trivial=bound.trivial))
    bounded = MarginBounds(bounds=tuple(bounds), notes=result.notes)
    if bounds and not bounded.informative:
        bounded = replace(bounded, notes=(*result.notes, _VACUOUS))
    return bounded


# Smaller differences of scores, as a share of the largest, are rounding.
_ROUNDING = 1e-9
# Largest number of rows in pairs.
_MOST = 1e7


def preference_bounds(
    scores: FloatArray, geometry: BallGeometry, sample: Sample, delta: float = 0.05
) -> MarginBounds:
    """The bound of theorem 7.2 [Herbrich et al. 2000] on disjoint pairs of rows, or the
    condition that fails.

    The paper prints it for neighbouring pairs. These share a row, so they are not
    independent as the proof needs.

    Parameters
    ----------
    scores : (N,) scores of the training rows
    geometry : BallGeometry
    sample : Sample
    delta : float in (0, 1)
        Probability that the bound fails.
    """

    def refused(reason: str) -> MarginBounds:
        return MarginBounds(bounds=(), notes=(f"No bound of R_pref: {reason}.",))

    lacks = lacking(sample)
    if lacks:
        return refused(f"it needs {lacks}")
    if sample.case_weights.sum() > _MOST:
        return refused(
            f"the weights stand for {sample.case_weights.sum():,.0f} rows, and at most"
            f" {_MOST:,.0f} are paired"
        )
    repeats = sample.case_weights.astype(np.intp)
    index = np.repeat(np.arange(sample.n), repeats)
    first, second = index[: index.size - index.size % 2].reshape(-1, 2).T
    sign = np.sign(sample.y[first] - sample.y[second])
    margins = (sign * (scores[first] - scores[second]))[sign != 0]
    bound = _preference_bound(margins, geometry, delta)
    if isinstance(bound, Bound):
        return MarginBounds(bounds=(bound,))
    return refused(bound)


def _preference_bound(
    margins: FloatArray, geometry: BallGeometry, delta: float
) -> Bound | str:
    """The bound from margins (n,) of pairs of different rank, or the condition that
    fails.
    """
    n = margins.size
    if n == 0:
        return "no such pair has different ranks"
    wrong = int(np.count_nonzero(margins <= _ROUNDING * np.abs(margins).max()))
    if wrong:
        return f"th. 7.2 needs every pair in order, and {wrong} of {n} are not"
    length = np.sqrt(max(geometry.radius**2 - 1.0, 0.0))
    k = max(float((16.0 * length * geometry.norm / margins.min()) ** 2), 1.0)
    if k > math.e * n:
        return (
            f"th. 7.2 needs a dimension k <= e n, and (16 r |v| / rho)^2 is {k:.3g} for"
            f" n = {n} pairs"
        )
    terms = k * np.log2(8.0 * math.e * n / k) * np.log2(32.0 * n)
    return Bound(
        name="R_pref, disjoint pairs",
        source="Herbrich et al. 2000, th. 7.2",
        value=float(2.0 / n * (terms + np.log2(8.0 * n / delta))),
        delta=delta,
        trivial=1.0,
        margin=float(margins.min() / geometry.norm),
        training=0.0,
    )

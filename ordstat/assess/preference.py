"""The margin bound for preferences: the risk that two new rows of different rank are not ordered as their ranks.

Theorem 7.2 of Herbrich, Graepel & Obermayer (2000): a potential that orders n pairs without an error, each with a
margin of rho or more, has with probability 1 - delta

    R_pref <= (2/n) (k log2(8 e n / k) log2(32 n) + log2(8 n / delta)),   k = afat(rho / 8) <= e n.

The theorem takes the n = m - 1 neighbours in some order of the rows for independent. They are not: two neighbouring
pairs share a row. The bound that holds takes disjoint pairs, the rows two by two as they stand; both are given. Pairs
of equal rank have no order to be wrong about and do not count, and R_pref is at most the risk among the others.

The potentials with |v| <= 1 on differences of rows no longer than 2 r have fat-shattering dimension (2 r / gamma)^2 at
most (Bartlett & Shawe-Taylor 1999), so k = (16 r |v| / rho)^2 in units of the fitted potential.
"""

from __future__ import annotations

import numpy as np

from .._typing import FloatArray, IntArray
from ..model.fit import BallGeometry
from ..model.sample import Sample
from .bounds import Bound, MarginBounds, dependence

# Differences of scores below this share of the largest are rounding.
_ROUNDING = 1e-9
# Rows that are listed one by one, at the most.
_MOST = 1e7
_SOURCE = "Herbrich et al. 2000, th. 7.2"


def preference_bounds(scores: FloatArray, geometry: BallGeometry, sample: Sample, delta: float = 0.05) -> MarginBounds:
    """Theorem 7.2 on disjoint pairs and, as printed, on neighbours; or which of its conditions fails.

    Parameters
    ----------
    scores : (N,) potential of the training rows
    geometry : BallGeometry
    sample : Sample
    delta : float in (0, 1)
        Chance that a bound fails.

    Returns
    -------
    MarginBounds
    """
    if reason := dependence(sample):
        return MarginBounds(bounds=(), notes=(reason.replace("margin bounds", "bound of R_pref"),))
    if sample.case_weights.sum() > _MOST:
        what = f"the weights stand for {sample.case_weights.sum():g} rows, and at most {_MOST:g} are paired"
        return MarginBounds(bounds=(), notes=(f"No bound of R_pref: {what}.",))
    repeats = sample.case_weights.astype(np.intp)
    index = np.repeat(np.arange(sample.n), repeats)
    even = index[: index.size - index.size % 2]
    chains = {
        "R_pref, disjoint pairs": (even[::2], even[1::2]),
        "R_pref, neighbours as printed": (index[:-1], index[1:]),
    }
    bounds, notes = [], []
    for name, (first, second) in chains.items():
        margins = _margins(scores, sample.y, first, second)
        if reason := _unmet(margins, geometry):
            notes.append(f"No bound of {name}: {reason}.")
        else:
            bounds.append(_bound(name, margins, geometry, delta))
    if any(bound.name.endswith("printed") for bound in bounds):
        notes.append("Neighbouring pairs share a row and are not independent, as th. 7.2 takes them to be.")
    return MarginBounds(bounds=tuple(bounds), notes=tuple(notes))


def _margins(scores: FloatArray, y: IntArray, first: IntArray, second: IntArray) -> FloatArray:
    """(n,) differences of score in the direction of the ranks, of the pairs of different rank."""
    sign = np.sign(y[first] - y[second])
    margins: FloatArray = (sign * (scores[first] - scores[second]))[sign != 0]
    return margins


def _unmet(margins: FloatArray, geometry: BallGeometry) -> str:
    """The condition of the theorem that fails; empty where all hold."""
    if margins.size == 0:
        return "no such pair has different ranks"
    # Rows alike in all have scores that differ by rounding.
    wrong = int(np.count_nonzero(margins <= _ROUNDING * np.abs(margins).max()))
    if wrong:
        return f"th. 7.2 needs every pair in order, and {wrong} of {margins.size} are not"
    if _dimension(margins, geometry) > np.e * margins.size:
        return (
            f"th. 7.2 needs a dimension k <= e n, and (16 r |v| / rho)^2 is {_dimension(margins, geometry):.3g} for "
            f"n = {margins.size} pairs"
        )
    return ""


def _dimension(margins: FloatArray, geometry: BallGeometry) -> float:
    """k = (16 r |v| / rho)^2, at least 1."""
    length = np.sqrt(max(geometry.radius**2 - 1.0, 0.0))
    return max(float((16.0 * length * geometry.norm / margins.min()) ** 2), 1.0)


def _bound(name: str, margins: FloatArray, geometry: BallGeometry, delta: float) -> Bound:
    n, k = margins.size, _dimension(margins, geometry)
    value = 2.0 / n * (k * np.log2(8.0 * np.e * n / k) * np.log2(32.0 * n) + np.log2(8.0 * n / delta))
    margin = float(margins.min() / geometry.norm)
    return Bound(name=name, source=_SOURCE, value=float(value), delta=delta, trivial=1.0, margin=margin, training=0.0)

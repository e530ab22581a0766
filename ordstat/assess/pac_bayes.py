"""The PAC-Bayes margin bound of a linear or kernel threshold ranker.

In the space of (v, theta) the ranker answers "is row x above rank k?" by the sign of <w, psi>, w = (v, theta) and
psi = (phi(x), -e_k), |psi|^2 = k(x, x) + 1. A random ranker W ~ N(s w, I) has a margin Y_k <W, psi> / |psi| of g or
less with probability Phi(g - s m_k), m_k = Y_k <w, psi> / |psi|. With weights w_k(y) of the thresholds, of sum B or
less in every row,

    q = mean over rows of sum_k w_k Phi(g - s m_k) / B
    error <= B kl^-1( q | (s^2 |w|^2 / 2 + log(2 sqrt(M) G / delta)) / M ) / Phi(g)

holds with probability 1 - delta over M independent rows, for every w, every s and all G values of g at once: with the
prior N(0, I) a posterior may be chosen freely, so that no choice among rankers (of s, of C) has a price [Langford &
Shawe-Taylor 2002; Seeger 2002; Maurer 2004, for 2 sqrt(M)]. Only the rows are random in the end: where w itself answers
wrongly, m_k <= 0 and W has a margin of g or less with probability Phi(g) or more. Weights of 1 give the absolute
error, those of the two ends of a row's own interval the classification error, |c[k+1] - c[k]| a cost.

Kernels that are minus a distance may count from any origin; each origin has a code length, in nats, which is added to
|s w|^2 / 2 (`BallGeometry.price`), and so has a kernel chosen among several. The scaling of the columns is taken as
fixed before the rows are seen, as in `ordstat.assess.bounds`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from .._typing import FloatArray
from ..model.fit import BallGeometry
from .bounded_mean import kl_inverse
from .bounds import Bound

#: The margins g that are tried; each has its share of delta.
MARGINS: FloatArray = np.arange(-0.5, 2.01, 0.25)
# Sizes |s w| that are tried, in two sweeps, and bins of m for it: they cost nothing but time.
_SIZES, _BINS = 24, 1000
_SOURCE = "PAC-Bayes, Langford & Shawe-Taylor 2002"


@dataclass(frozen=True, eq=False, kw_only=True)
class Comparisons:
    """What of the rows' K-1 answers an error counts.

    Attributes
    ----------
    name : str
        The error.
    rho : (N, K-1)
        Margins to all thresholds, in units of the potential.
    weights : (N, K-1)
        w_k >= 0 of each row.
    largest : float
        B, the largest sum of a row's weights.
    case_weights : (N,)
        Whole numbers of rows.
    trivial : float
        The largest value the error can take.
    """

    name: str
    rho: FloatArray
    weights: FloatArray
    largest: float
    case_weights: FloatArray
    trivial: float

    @property
    def n(self) -> float:
        """M, the number of rows."""
        return float(self.case_weights.sum())

    @property
    def shares(self) -> FloatArray:
        """(N, K-1) what a wrong answer adds to the mean loss, which is in [0, 1]."""
        shares: FloatArray = self.weights * (self.case_weights / (self.largest * self.n))[:, None]
        return shares


def pac_bayes_bound(counted: Comparisons, geometry: BallGeometry, delta: float) -> Bound:
    """The bound at its best g, s and origin.

    Parameters
    ----------
    counted : Comparisons
    geometry : BallGeometry
        Of the training rows, with the origins that were thought of before they were seen.
    delta : float in (0, 1)
        Chance that the bound fails.
    """
    found = (_from_origin(counted, origin, delta) for origin in (geometry, *geometry.moved))
    return min(found, key=lambda bound: bound.value)


def _from_origin(counted: Comparisons, geometry: BallGeometry, delta: float) -> Bound:
    """The bound with psi counted from one origin."""
    unit = np.sqrt(geometry.squared_lengths + 1.0) * (geometry.total or 1.0)
    m = counted.rho / unit[:, None]
    size, g = _best(counted, m, geometry.price, delta)
    q = float(np.vdot(counted.shares, ndtr(g - size * m)))
    value = _value(np.array(q), np.array(size), np.array(g), counted.n, geometry.price, delta)
    return Bound(
        name=counted.name,
        source=_SOURCE,
        value=counted.largest * float(value),
        delta=delta,
        trivial=counted.trivial,
        margin=g / size,
        training=counted.largest * q,
    )


def _value(q: FloatArray, size: FloatArray, g: FloatArray, n: float, price: float, delta: float) -> FloatArray:
    """kl^-1(q | ...) / Phi(g), of arrays of one shape; size is |s w|."""
    nats = 0.5 * size**2 + price + np.log(2.0 * np.sqrt(n) * MARGINS.size / delta)
    value: FloatArray = kl_inverse(np.minimum(q, 1.0), nats / n) / ndtr(g)
    return value


def _best(counted: Comparisons, m: FloatArray, price: float, delta: float) -> tuple[float, float]:
    """|s w| and g of about the smallest bound, m (N, K-1) in [-1, 1] taken in bins: a sweep, and one about its best."""
    share, centre = _binned(m, counted.shares)
    sizes = np.geomspace(0.1, np.sqrt(2.0 * counted.n) + 1.0, _SIZES)
    for _ in range(2):
        q = np.stack([ndtr(g - np.outer(sizes, centre)) @ share for g in MARGINS], axis=1)
        values = _value(q, sizes[:, None], MARGINS[None, :], counted.n, price, delta)
        i, j = np.unravel_index(np.argmin(values), values.shape)
        best = float(sizes[i]), float(MARGINS[j])
        sizes = np.geomspace(sizes[max(int(i) - 1, 0)], sizes[min(int(i) + 1, _SIZES - 1)], _SIZES)
    return best


def _binned(m: FloatArray, shares: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Shares and mean values of m in each bin that has any."""
    place = np.clip(((m.ravel() + 1.0) * (_BINS / 2.0)).astype(np.intp), 0, _BINS - 1)
    sums = [np.bincount(place, weights=values.ravel(), minlength=_BINS) for values in (shares, shares * m)]
    share, total = np.asarray(sums, dtype=np.float64)
    some = share > 0
    return share[some], total[some] / share[some]

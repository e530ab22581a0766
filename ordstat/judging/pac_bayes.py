"""PAC-Bayes bounds of expected errors by training margins, for balls and for votes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import repeat
from operator import attrgetter
from typing import Any

import numpy as np
from scipy.special import entr, ndtr, rel_entr

from .._typing import FloatArray
from ..formula.sample import Sample
from .costs import split_weights
from .geometry import BallGeometry, HullGeometry
from .margin_bounds import Bound, own_ends
from .margins import Margins

# Largest number of Newton steps; usually about seven are needed.
_NEWTON_STEPS = 60


def kl(q: FloatArray, p: FloatArray) -> FloatArray:
    """kl(q || p) for q and p in [0, 1] (broadcast); infinite if p is 0 or 1 and q is
    not.
    """
    divergence: FloatArray = rel_entr(q, p) + rel_entr(
        1.0 - np.asarray(q), 1.0 - np.asarray(p)
    )
    return divergence


def kl_inverse(q: FloatArray, budget: FloatArray) -> FloatArray:
    """The largest p in [q, 1] with kl(q || p) <= budget, rounded up.

    Parameters
    ----------
    q : array of numbers in [0, 1]
    budget : array of numbers >= 0, of a shape that goes with q's

    Examples
    --------
    >>> bound = kl_inverse(np.array(0.0), np.array(np.log(2.0)))  # 1 - exp(-budget)
    >>> float(bound.round(6))
    0.5
    """
    q, budget = np.broadcast_arrays(
        np.asarray(q, dtype=np.float64), np.asarray(budget, dtype=np.float64)
    )
    # Start above the solution, by kl >= 2 (p - q)^2 or kl >= -(1 - q) log(1 - p) -
    # H(q).
    rest = 1.0 - q
    far = -np.expm1(-(budget + entr(q) + entr(rest)) / np.where(rest > 0.0, rest, 1.0))
    p = np.clip(np.minimum(q + np.sqrt(0.5 * budget), far), q, 1.0)
    for _ in range(_NEWTON_STEPS):  # kl is convex in p, so Newton's method stays above
        above = kl(q, p) - budget
        going = (above > 0.0) & (p > q) & (p < 1.0)
        step = np.where(going, above, 0.0) * p * (1.0 - p) / np.where(going, p - q, 1.0)
        if not np.any(step > np.spacing(p)):
            break
        p = np.maximum(p - step, q)
    ulps = np.spacing(p)
    while np.any(low := (kl(q, p) <= budget) & (p < 1.0)):
        p = np.where(low, np.minimum(p + ulps, 1.0), p)
        ulps = 2.0 * ulps
    return p


#: Margins g to try; they share delta.
MARGINS: FloatArray = np.arange(-0.5, 2.01, 0.25)
# Numbers of sizes |s w| to try, in two sweeps, and of bins of m.
_SIZES = 24
_BINS = 1000


@dataclass(frozen=True, eq=False, kw_only=True)
class Comparisons:
    """An error as a weighted sum of wrong answers to "above threshold k?".

    Attributes
    ----------
    name : str
        The error.
    rho : (N, K-1)
        Margins to all thresholds, in units of the score.
    shares : (N, K-1)
        Contribution of a wrong answer to the mean loss, which is in [0, 1].
    largest : float
        Largest loss of a row, B.
    n : float
        Number of rows, M.
    """

    name: str
    rho: FloatArray
    shares: FloatArray
    largest: float
    n: float


def comparisons(
    name: str, rows: Margins, sample: Sample, costs: FloatArray | None = None
) -> Comparisons:
    """An error as a weighted sum of wrong answers.

    Parameters
    ----------
    name : {"classification error", "absolute error", "cost"}
    rows : Margins
    sample : Sample
    costs : (N, K), optional
        Costs, for the error "cost".
    """
    if name == "cost" and costs is not None:
        weights = split_weights(costs)
    elif name == "classification error":
        weights = own_ends(sample.y, rows.all.shape[1]).astype(np.float64)
    else:
        weights = np.ones(rows.all.shape)
    largest = float(weights.sum(axis=1).max())
    n = float(sample.case_weights.sum())
    shares = weights * (sample.case_weights / (largest * n))[:, None]
    return Comparisons(name=name, rho=rows.all, shares=shares, largest=largest, n=n)


def pac_bayes_bound(
    counted: Comparisons, geometry: BallGeometry, delta: float
) -> Bound:
    """The PAC-Bayes bound at its best g, s and origin [Langford & Shawe-Taylor 2002].

    Parameters
    ----------
    counted : Comparisons
    geometry : BallGeometry
        Geometry of the training rows, with origins chosen before the data were seen.
    delta : float in (0, 1)
        Probability that the bound fails.
    """
    origins = (geometry, *geometry.moved)
    return min(
        map(_from_origin, repeat(counted), origins, repeat(delta)),
        key=attrgetter("value"),
    )


def _from_origin(counted: Comparisons, geometry: BallGeometry, delta: float) -> Bound:
    """The bound kl^-1(q | ...) / Phi(g) for one origin, at its best |s w| and g."""
    unit = np.sqrt(geometry.squared_lengths + 1.0) * (geometry.total or 1.0)
    m = counted.rho / unit[:, None]
    bins = np.clip(((m.ravel() + 1.0) * (_BINS / 2.0)).astype(np.intp), 0, _BINS - 1)
    share = np.bincount(bins, counted.shares.ravel(), _BINS)
    inside = share > 0
    centre = (
        np.bincount(bins, (counted.shares * m).ravel(), _BINS)[inside] / share[inside]
    )
    nats = geometry.price + np.log(2.0 * np.sqrt(counted.n) * MARGINS.size / delta)

    def bound_at(error: Any, size: Any, g: Any) -> FloatArray:
        budget = (0.5 * size**2 + nats) / counted.n
        return np.asarray(kl_inverse(np.minimum(error, 1.0), budget) / ndtr(g))

    sizes = np.geomspace(0.1, np.sqrt(2.0 * counted.n) + 1.0, _SIZES)
    for _ in range(2):
        wrong = ndtr(MARGINS[:, None] - (sizes[:, None] * centre)[:, None, :])
        values = bound_at(wrong @ share[inside], sizes[:, None], MARGINS)
        i, j = divmod(int(np.argmin(values)), MARGINS.size)
        size = sizes[i]
        g = MARGINS[j]
        low = sizes[max(i - 1, 0)]
        high = sizes[min(i + 1, _SIZES - 1)]
        sizes = np.geomspace(low, high, _SIZES)
    exact = np.vdot(counted.shares, ndtr(g - size * m))
    largest = counted.largest
    return Bound(
        name=counted.name,
        source="PAC-Bayes, Langford & Shawe-Taylor 2002",
        value=largest * float(bound_at(exact, size, g)),
        delta=delta,
        trivial=largest,
        margin=float(g / size),
        training=largest * float(exact),
    )


#: Numbers of voters n, and margins g in units of 1 / sqrt(n), to try; all pairs share
#: delta.
VOTERS: tuple[int, ...] = (1, 2, 4, 8, 16, 32, 64, 128, 256)
VOTE_MARGINS: FloatArray = np.array([0.0, 0.125, 0.25, 0.5, 0.75, 1.0])
# Margins are rounded down to this number of values, which keeps the bound valid.
_VOTE_BINS = 100
# Number of rows that determine a stump.
_ROWS = 2
# Rounding error of the transform, added to probabilities.
_TRANSFORM_ROUNDING = 1e-12


def vote_bound(
    counted: Comparisons, geometry: HullGeometry, delta: float
) -> Bound | None:
    """The bound at its best n and g; None if there are too few rows.

    Parameters
    ----------
    counted : Comparisons
    geometry : HullGeometry
        Geometry with the divergence of the vote.
    delta : float in (0, 1)
        Chance that the bound fails.
    """
    total = geometry.total or 1.0
    shares = counted.shares
    q = np.zeros((len(VOTERS), VOTE_MARGINS.size))
    least = np.ones((len(VOTERS), VOTE_MARGINS.size))
    for k, active in enumerate((geometry.norm + np.abs(geometry.theta)) / total):
        below = chances_below(min(float(active), 1.0))
        # Margins are rounded down to values from -active to active.
        bins = (counted.rho[:, k] / total + active) * (
            _VOTE_BINS / (2.0 * active or 1.0)
        )
        bins = np.clip(np.floor(bins - _TRANSFORM_ROUNDING), 0, _VOTE_BINS).astype(
            np.intp
        )
        q += np.bincount(bins, shares[:, k], _VOTE_BINS + 1) @ below
        least = np.minimum(least, below[:, _VOTE_BINS // 2] - 2.0 * _TRANSFORM_ROUNDING)
    n = np.array(VOTERS, dtype=np.float64)[:, None]
    rows = counted.n - _ROWS * n
    if rows[0] < 1:
        return None
    left = np.maximum(rows, 1.0)
    nats = n * geometry.nats + np.log(2.0 * np.sqrt(left) * q.size / delta)
    values = kl_inverse(np.minimum(q * counted.n / left, 1.0), nats / left) / least
    i, j = np.unravel_index(np.argmin(np.where(rows < 1, np.inf, values)), values.shape)
    largest = counted.largest
    return Bound(
        name=counted.name,
        source="PAC-Bayes votes, Langford et al. 2001",
        value=largest * float(values[i, j]),
        delta=delta,
        trivial=largest,
        margin=float(VOTE_MARGINS[j] / np.sqrt(VOTERS[i])),
        training=largest * float(q[i, j]),
    )


@lru_cache(maxsize=64)
def chances_below(active: float) -> FloatArray:
    """Probability that the mean of n draws of -1, 0 and 1 is g or less.

    Parameters
    ----------
    active : float in [0, 1]
        Probability that a draw is not 0.

    Returns
    -------
    (number of n, B + 1, number of g), for `VOTERS`, B + 1 means of a draw from -active
    to active, and `VOTE_MARGINS`.

    Examples
    --------
    >>> # two fair coins, +1 or -1, have a mean of 0 or less
    >>> float(chances_below(1.0)[1, 50, 0].round(6))
    0.75
    """
    most = VOTERS[-1]
    mean = np.linspace(-active, active, _VOTE_BINS + 1)[:, None]
    turn = np.exp(2j * np.pi * np.arange(most + 1) / (2 * most + 1))
    # Characteristic function of one draw (conjugate); that of 2 n draws is the square
    # of that of n.
    transform = (
        (1.0 - active) + 0.5 * (active + mean) / turn + 0.5 * (active - mean) * turn
    )
    below = np.empty((len(VOTERS), _VOTE_BINS + 1, VOTE_MARGINS.size))
    for i, n in enumerate(VOTERS):
        # of -most, ..., most
        sums = np.fft.fftshift(np.fft.irfft(transform, 2 * most + 1, axis=1), axes=1)
        below[i] = np.cumsum(sums, axis=1)[
            :,
            most
            + np.floor(np.sqrt(n) * VOTE_MARGINS + _TRANSFORM_ROUNDING).astype(np.intp),
        ]
        transform = transform * transform
    chances: FloatArray = np.clip(below + _TRANSFORM_ROUNDING, 0.0, 1.0)
    return chances

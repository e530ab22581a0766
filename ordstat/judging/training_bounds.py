"""Bounds from the training rows alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import cast

import numpy as np
from scipy.special import ndtr

from .._typing import FloatArray, IntArray
from ..fit import BallGeometry, Geometry, HullGeometry
from ..formula.sample import Sample
from .costs import split_weights
from .intervals import kl_inverse
from .margins import Bound, MarginBounds, Margins, margin_bounds

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


#: Numbers of voters n, each twice the one before, and margins g in units of 1 / sqrt(n), that are tried; each pair has
#: its share of delta.
VOTERS: tuple[int, ...] = (1, 2, 4, 8, 16, 32, 64, 128, 256)
MARGINS_SAMPLED_VOTES: FloatArray = np.array([0.0, 0.125, 0.25, 0.5, 0.75, 1.0])
# Margins are taken down to the next of so many values, which loses a little and keeps the bound.
_BINS_SAMPLED_VOTES = 100
# Rows that a stump is cut between.
_ROWS = 2
# The rounding of the transform, added to probabilities.
_ROUNDING = 1e-12
_SOURCE_SAMPLED_VOTES = "PAC-Bayes votes, Langford et al. 2001"


def vote_bound(counted: Comparisons, geometry: HullGeometry, delta: float) -> Bound | None:
    """The bound at its best n and g; None where there are too few rows for any.

    Parameters
    ----------
    counted : Comparisons
    geometry : HullGeometry
        With the divergence of its vote.
    delta : float in (0, 1)
        Chance that the bound fails.
    """
    total, shares = geometry.total or 1.0, counted.shares
    q, least = np.zeros((len(VOTERS), MARGINS_SAMPLED_VOTES.size)), np.ones((len(VOTERS), MARGINS_SAMPLED_VOTES.size))
    for k, active in enumerate((geometry.norm + np.abs(geometry.theta)) / total):
        below = chances_below(min(float(active), 1.0))
        q += _binned_sampled_votes(counted.rho[:, k] / total, shares[:, k], float(active)) @ below
        least = np.minimum(least, below[:, _BINS_SAMPLED_VOTES // 2] - 2.0 * _ROUNDING)
    n = np.array(VOTERS, dtype=np.float64)[:, None]
    rows = counted.n - _ROWS * n
    if rows[0] < 1:
        return None
    left = np.maximum(rows, 1.0)
    nats = n * geometry.nats + np.log(2.0 * np.sqrt(left) * q.size / delta)
    values = kl_inverse(np.minimum(q * counted.n / left, 1.0), nats / left) / least
    i, j = np.unravel_index(np.argmin(np.where(rows < 1, np.inf, values)), values.shape)
    return Bound(
        name=counted.name,
        source=_SOURCE_SAMPLED_VOTES,
        value=counted.largest * float(values[i, j]),
        delta=delta,
        trivial=counted.trivial,
        margin=float(MARGINS_SAMPLED_VOTES[j] / np.sqrt(VOTERS[i])),
        training=counted.largest * float(q[i, j]),
    )


def _binned_sampled_votes(rho: FloatArray, share: FloatArray, active: float) -> FloatArray:
    """Share of each of the values -active, ..., active, rho (N,) being taken down to the next of them."""
    place = (
        np.floor((rho + active) * (_BINS_SAMPLED_VOTES / (2.0 * active)) - _ROUNDING)
        if active > 0
        else np.zeros(rho.size)
    )
    place = np.clip(place, 0, _BINS_SAMPLED_VOTES).astype(np.intp)
    return np.asarray(np.bincount(place, weights=share, minlength=_BINS_SAMPLED_VOTES + 1), dtype=np.float64)


@lru_cache(maxsize=64)
def chances_below(active: float) -> FloatArray:
    """Probability that the mean of n draws of -1, 0 and 1 is g or less.

    Parameters
    ----------
    active : float in [0, 1]
        Probability that a draw is not 0.

    Returns
    -------
    (number of n, B + 1, number of g), for each of `VOTERS`, B + 1 mean draws from -active to active, and `MARGINS`.

    Examples
    --------
    >>> float(chances_below(1.0)[1, 50, 0].round(6))  # two fair coins, +1 or -1, have a mean of 0 or less
    0.75
    """
    most = VOTERS[-1]
    mean = np.linspace(-active, active, _BINS_SAMPLED_VOTES + 1)[:, None]
    turn = np.exp(2j * np.pi * np.arange(most + 1) / (2 * most + 1))
    # The characteristic function of one draw, conjugate as the inverse transform takes it; of 2 n draws its square.
    transform = (1.0 - active) + 0.5 * (active + mean) / turn + 0.5 * (active - mean) * turn
    found = np.empty((len(VOTERS), _BINS_SAMPLED_VOTES + 1, MARGINS_SAMPLED_VOTES.size))
    for i, n in enumerate(VOTERS):
        sums = np.fft.fftshift(np.fft.irfft(transform, 2 * most + 1, axis=1), axes=1)  # of -most, ..., most
        found[i] = np.cumsum(sums, axis=1)[
            :, most + np.floor(np.sqrt(n) * MARGINS_SAMPLED_VOTES + _ROUNDING).astype(np.intp)
        ]
        transform = transform * transform
    chances: FloatArray = np.clip(found + _ROUNDING, 0.0, 1.0)
    return chances


_VACUOUS = "No margin bound is below the largest possible error; see .bounds(cv=5)."


def training_bounds(
    rows: Margins, geometry: Geometry, sample: Sample, costs: FloatArray | None = None, delta: float = 0.05
) -> MarginBounds:
    """Bounds of the expected classification and absolute error and of a cost.

    Parameters
    ----------
    rows, geometry, sample, costs, delta
        As in `ordstat.judging.margins.margin_bounds`. Votes of other learners than stumps have the paper's bound alone,
        with the whole of delta.

    Returns
    -------
    MarginBounds
    """
    if not _has_pac_bayes(geometry):
        return _noted(margin_bounds(rows, geometry, sample, costs, delta))
    found = margin_bounds(rows, geometry, sample, costs, delta / 2.0)
    pairs = [(bound, _pac_bayes(bound, rows, geometry, sample, costs)) for bound in found.bounds]
    smaller = (min(pair, key=lambda bound: bound.value) for pair in pairs)
    return _noted(replace(found, bounds=tuple(replace(bound, delta=delta) for bound in smaller)))


def _has_pac_bayes(geometry: Geometry) -> bool:
    """Balls have it, and votes with a prior; infinite thresholds have no size."""
    known = isinstance(geometry, BallGeometry) or (isinstance(geometry, HullGeometry) and np.isfinite(geometry.nats))
    return bool(known and np.isfinite(geometry.total))


def _noted(found: MarginBounds) -> MarginBounds:
    """The bounds with a word where none of them says anything."""
    if not found.bounds or not all(bound.vacuous for bound in found.bounds):
        return found
    return replace(found, notes=(*found.notes, _VACUOUS))


def _pac_bayes(bound: Bound, rows: Margins, geometry: Geometry, sample: Sample, costs: FloatArray | None) -> Bound:
    """The PAC-Bayes bound of the same error at the same delta; where there are too few rows for it, the bound given."""
    counted = replace(comparisons(bound.name, rows, sample, costs), trivial=bound.trivial)
    if isinstance(geometry, HullGeometry):
        return vote_bound(counted, geometry, bound.delta) or bound
    return pac_bayes_bound(counted, cast(BallGeometry, geometry), bound.delta)


def comparisons(name: str, rows: Margins, sample: Sample, costs: FloatArray | None = None) -> Comparisons:
    """What an error counts of the answers to the rows' K-1 comparisons.

    Parameters
    ----------
    name : {"classification error", "absolute error", "cost"}
    rows : Margins
    sample : Sample
    costs : (N, K), optional
        Of the cost.
    """
    if name == "cost" and costs is not None:
        weights = split_weights(costs)
    else:
        weights = _own_ends(sample.y, rows.all.shape[1]) if name.startswith("class") else np.ones(rows.all.shape)
    largest = float(weights.sum(axis=1).max())
    return Comparisons(
        name=name,
        rho=rows.all,
        weights=weights,
        largest=largest,
        case_weights=sample.case_weights,
        trivial=largest,
    )


def _own_ends(y: IntArray, n_cuts: int) -> FloatArray:
    """(N, K-1) 1 at the two ends of a row's own interval."""
    cuts = np.arange(n_cuts)
    own: FloatArray = ((cuts == y[:, None]) | (cuts == y[:, None] - 1)).astype(np.float64)
    return own

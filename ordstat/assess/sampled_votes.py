"""The PAC-Bayes bound of a weighted vote of decision stumps with thresholds, by votes of a few voters drawn from it.

A voter is drawn with its share of sum |alpha_t| + sum |theta_k|: a stump answers sign(alpha_t) h_t(x) to every "is row
x above rank k?", a threshold -sign(theta_k) to its own k and 0 to the others. Its mean answer, in the direction of the
truth, is the normalised margin rho_k. The mean answer of n voters is a sum of n draws of -1, 0 and 1: its distribution
F is exact. With weights w_k of the thresholds of sum B or less in every row,

    q = mean over rows of sum_k w_k F(g | rho_k) / B,   M' = M - 2 n,
    error <= B kl^-1( q M / M' | (n D + log(2 sqrt(M') G / delta)) / M' ) / min_k F_k(g | 0)

with probability 1 - delta, for all G pairs of n and g at once [Langford, Seeger & Megiddo 2001; Langford &
Shawe-Taylor 2002; for stumps cut between two rows Laviolette & Marchand 2007]. D is the divergence of the vote from a
prior over voters that is fixed but for the two rows between which a stump cuts: the 2 n rows of n voters are left out
of the count, hence M'. Only the rows are random in the end: where the vote itself answers wrongly, rho_k <= 0, n voters
have a mean of g or less with probability F_k(g | 0) or more.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from .._typing import FloatArray
from ..model.fit import HullGeometry
from .bounded_mean import kl_inverse
from .bounds import Bound
from .pac_bayes import Comparisons

#: Numbers of voters n, each twice the one before, and margins g in units of 1 / sqrt(n), that are tried; each pair has
#: its share of delta.
VOTERS: tuple[int, ...] = (1, 2, 4, 8, 16, 32, 64, 128, 256)
MARGINS: FloatArray = np.array([0.0, 0.125, 0.25, 0.5, 0.75, 1.0])
# Margins are taken down to the next of so many values, which loses a little and keeps the bound.
_BINS = 100
# Rows that a stump is cut between.
_ROWS = 2
# The rounding of the transform, added to probabilities.
_ROUNDING = 1e-12
_SOURCE = "PAC-Bayes votes, Langford et al. 2001"


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
    q, least = np.zeros((len(VOTERS), MARGINS.size)), np.ones((len(VOTERS), MARGINS.size))
    for k, active in enumerate((geometry.norm + np.abs(geometry.theta)) / total):
        below = chances_below(min(float(active), 1.0))
        q += _binned(counted.rho[:, k] / total, shares[:, k], float(active)) @ below
        least = np.minimum(least, below[:, _BINS // 2] - 2.0 * _ROUNDING)
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
        source=_SOURCE,
        value=counted.largest * float(values[i, j]),
        delta=delta,
        trivial=counted.trivial,
        margin=float(MARGINS[j] / np.sqrt(VOTERS[i])),
        training=counted.largest * float(q[i, j]),
    )


def _binned(rho: FloatArray, share: FloatArray, active: float) -> FloatArray:
    """Share of each of the values -active, ..., active, rho (N,) being taken down to the next of them."""
    place = np.floor((rho + active) * (_BINS / (2.0 * active)) - _ROUNDING) if active > 0 else np.zeros(rho.size)
    place = np.clip(place, 0, _BINS).astype(np.intp)
    return np.asarray(np.bincount(place, weights=share, minlength=_BINS + 1), dtype=np.float64)


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
    mean = np.linspace(-active, active, _BINS + 1)[:, None]
    turn = np.exp(2j * np.pi * np.arange(most + 1) / (2 * most + 1))
    # The characteristic function of one draw, conjugate as the inverse transform takes it; of 2 n draws its square.
    transform = (1.0 - active) + 0.5 * (active + mean) / turn + 0.5 * (active - mean) * turn
    found = np.empty((len(VOTERS), _BINS + 1, MARGINS.size))
    for i, n in enumerate(VOTERS):
        sums = np.fft.fftshift(np.fft.irfft(transform, 2 * most + 1, axis=1), axes=1)  # of -most, ..., most
        found[i] = np.cumsum(sums, axis=1)[:, most + np.floor(np.sqrt(n) * MARGINS + _ROUNDING).astype(np.intp)]
        transform = transform * transform
    chances: FloatArray = np.clip(found + _ROUNDING, 0.0, 1.0)
    return chances

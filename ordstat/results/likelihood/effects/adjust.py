"""Adjustment of p-values and limits for several contrasts that are looked at together."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache

import numpy as np
from scipy.special import chdtrc, chdtri, fdtrc, fdtri

from ...._typing import FloatArray
from ..standard_errors import two_sided

#: Directions that the maximum of correlated normals is averaged over: a power of 2, for Sobol points.
_DIRECTIONS = 1 << 18
#: Groups of like directions, which stand for all.
_GROUPS = 1 << 12
#: Of these so many have to carry a probability, lest a few decide.
_CARRIERS = 64
#: Eigenvalues of a correlation matrix below this share of the largest are zero.
_RANK = 1e-9


@dataclass(frozen=True, eq=False)
class Family:
    """Tests that are adjusted together, all of them with a p-value.

    Attributes
    ----------
    z : (m,) statistics
    p : (m,) p-values, two-sided
    spread : (m, m) covariance of the estimates
    n_means : int
        How many means are compared.
    level : float
        Confidence level of the limits before adjustment.
    df : (m,) degrees of freedom of each test
        Infinite for z-tests; an adjustment by a distribution takes each test's own.
    rank : int or None
        Of the contrasts, where that may be more than that of their covariance, which too few units make singular.
    """

    z: FloatArray
    p: FloatArray
    spread: FloatArray
    n_means: int
    level: float
    df: FloatArray
    rank: int | None = None

    @property
    def size(self) -> int:
        return len(self.p)

    @cached_property
    def root(self) -> FloatArray:
        """(m, r) a factor A of the correlations AA', r their rank."""
        deviations = np.sqrt(np.diag(self.spread))
        values, vectors = np.linalg.eigh(self.spread / np.outer(deviations, deviations))
        kept = values > _RANK * values[-1]
        return np.asarray(vectors[:, kept] * np.sqrt(values[kept]))


#: Adjusted p-values (m,), and the levels (m,) at which single limits hold together.
Adjusted = tuple[FloatArray, FloatArray]


def _levels(family: Family, critical: Callable[[float], float]) -> FloatArray:
    """The levels of single limits of +-critical standard errors, by the degrees of freedom."""
    return 1.0 - two_sided(np.array([critical(float(df)) for df in family.df]), family.df)


def _same(family: Family, level: float) -> FloatArray:
    return np.full(family.size, level)


def _none(family: Family) -> Adjusted:
    return family.p, _same(family, family.level)


def _bonferroni(family: Family) -> Adjusted:
    return np.minimum(family.p * family.size, 1.0), _same(family, 1.0 - (1.0 - family.level) / family.size)


def _sidak(family: Family) -> Adjusted:
    return -np.expm1(family.size * np.log1p(-family.p)), _same(family, family.level ** (1.0 / family.size))


def _tukey(family: Family) -> Adjusted:
    """By the range of as many independent means: exact where all pairs have one variance, else conservative.

    SciPy's tail is 1 less a probability; Bonferroni's bound keeps the digits of small p-values.
    """
    from scipy.stats import studentized_range

    p = studentized_range.sf(math.sqrt(2.0) * np.abs(family.z), family.n_means, family.df)
    point = _levels(family, lambda df: _tukey_point(family.level, family.n_means, df))
    return np.clip(p, family.p, _bonferroni(family)[0]), point


@lru_cache(maxsize=64)
def _tukey_point(level: float, n_means: int, df: float) -> float:
    """Standard errors of a difference; found once for all families of one size."""
    from scipy.stats import studentized_range

    return float(studentized_range.isf(1.0 - level, n_means, df)) / math.sqrt(2.0)


def _radius_tail(rank: int, squares: FloatArray, df: float) -> FloatArray:
    """P(r^2 > squares), r the length of a vector of so many standard normals, over that of the errors' estimate."""
    return np.asarray(chdtrc(rank, squares) if math.isinf(df) else fdtrc(rank, df, squares / rank))


def _radius(rank: int, alpha: float, df: float) -> float:
    """The length that is passed with probability alpha."""
    return math.sqrt(chdtri(rank, alpha) if math.isinf(df) else rank * fdtri(rank, df, 1.0 - alpha))


def _scheffe(family: Family) -> Adjusted:
    """For all contrasts in the space of these."""
    rank, alpha = family.rank or family.root.shape[1], 1.0 - family.level
    p = [float(_radius_tail(rank, z * z, df)) for z, df in zip(family.z, family.df, strict=True)]
    return np.array(p), _levels(family, lambda df: _radius(rank, alpha, df))


def _mvt(family: Family) -> Adjusted:
    """By the largest of normals (or t) with the correlations of the estimates.

    Far in the tail, where few directions are left, by Bonferroni's bound, which is close there.
    """
    from scipy.optimize import brentq

    largest, rank, alpha = _largest_cosines(family.root), family.root.shape[1], 1.0 - family.level

    def beyond(x: float, df: float) -> FloatArray:
        return _radius_tail(rank, (x / largest) ** 2, df)

    @cache
    def critical(df: float) -> float:
        return float(brentq(lambda x: beyond(x, df).mean() - alpha, 0.0, _radius(rank, alpha, df) + 1.0, xtol=1e-10))

    parts = np.array([beyond(z, df) for z, df in zip(family.z, family.df, strict=True)])
    few = parts.sum(axis=1) ** 2 < min(_CARRIERS, len(largest)) * (parts**2).sum(axis=1)
    p = np.where(few | (parts == 0.0).all(axis=1), _bonferroni(family)[0], parts.mean(axis=1))
    return np.clip(p, family.p, 1.0), _levels(family, critical)


def _largest_cosines(root: FloatArray) -> FloatArray:
    """max_i |a_i'u| over the rows of (m, r), at directions u that fill the sphere evenly.

    A standard normal vector is a direction u times a length whose square is chi-squared(r), so that
    P(max |a_i'x| > c) is the mean over u of P(chi2(r) > (c / max |a_i'u|)^2) [Genz & Bretz 2009, sec. 4.1.1].
    """
    rank = root.shape[1]
    if rank == 1:
        return np.ones(1)
    if rank == 2:
        angle = np.pi * (np.arange(_DIRECTIONS) + 0.5) / _DIRECTIONS
        directions = np.column_stack([np.cos(angle), np.sin(angle)])
    else:
        from scipy.stats.qmc import MultivariateNormalQMC

        normal = MultivariateNormalQMC(np.zeros(rank), rng=np.random.default_rng(0)).random(_DIRECTIONS)
        directions = normal / np.linalg.norm(normal, axis=1, keepdims=True)
    largest = np.zeros(len(directions))
    for row in root:
        np.maximum(largest, np.abs(directions @ row), out=largest)
    return np.asarray(np.sort(largest).reshape(_GROUPS, -1).mean(axis=1))


def _stepwise(method: str) -> Callable[[Family], Adjusted]:
    """By statsmodels' name of a procedure; its limits are Bonferroni's, as it has none of its own."""

    def adjusted(family: Family) -> Adjusted:
        from statsmodels.stats.multitest import multipletests

        return multipletests(family.p, method=method)[1], _bonferroni(family)[1]

    return adjusted


ADJUST: dict[str, Callable[[Family], Adjusted]] = {
    "none": _none,
    "tukey": _tukey,
    "sidak": _sidak,
    "bonferroni": _bonferroni,
    "holm": _stepwise("holm"),
    "hochberg": _stepwise("simes-hochberg"),
    "hommel": _stepwise("hommel"),
    "fdr": _stepwise("fdr_bh"),
    "fdr_by": _stepwise("fdr_by"),
    "mvt": _mvt,
    "dunnett": _mvt,
    "scheffe": _scheffe,
}
#: For the line below a table.
NAMES = {
    "tukey": "Tukey's",
    "sidak": "Sidak's",
    "bonferroni": "Bonferroni's",
    "holm": "Holm's",
    "hochberg": "Hochberg's",
    "hommel": "Hommel's",
    "fdr": "Benjamini and Hochberg's",
    "fdr_by": "Benjamini and Yekutieli's",
    "dunnett": "Dunnett's",
    "scheffe": "Scheffe's",
}
#: Those that have no limits of their own.
STEPWISE = ("holm", "hochberg", "hommel", "fdr", "fdr_by")


def adjusted(adjust: str, family: Family) -> Adjusted:
    """Adjusted p-values, and the level at which single limits hold together; of one test as it is."""
    return _none(family) if family.size < 2 else ADJUST[adjust](family)

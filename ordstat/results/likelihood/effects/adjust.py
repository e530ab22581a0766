"""Adjustment of p-values and limits for several contrasts that are looked at together."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from scipy.special import chdtrc, chdtri, ndtr

from ...._typing import FloatArray

#: Directions that the maximum of correlated normals is averaged over: a power of 2, for Sobol points.
_DIRECTIONS = 1 << 18
#: Groups of like directions, which stand for all.
_GROUPS = 1 << 12
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
    """

    z: FloatArray
    p: FloatArray
    spread: FloatArray
    n_means: int
    level: float

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


#: Adjusted p-values (m,), and the level at which single limits hold together.
Adjusted = tuple[FloatArray, float]


def _level(critical: float) -> float:
    """The level of single limits of +-critical standard errors."""
    return float(2.0 * ndtr(critical) - 1.0)


def _none(family: Family) -> Adjusted:
    return family.p, family.level


def _bonferroni(family: Family) -> Adjusted:
    return np.minimum(family.p * family.size, 1.0), 1.0 - (1.0 - family.level) / family.size


def _sidak(family: Family) -> Adjusted:
    return -np.expm1(family.size * np.log1p(-family.p)), family.level ** (1.0 / family.size)


def _tukey(family: Family) -> Adjusted:
    """By the range of as many independent means: exact where all pairs have one variance, else conservative.

    SciPy's tail is 1 less a probability; Bonferroni's bound keeps the digits of small p-values.
    """
    from scipy.stats import studentized_range

    p = studentized_range.sf(math.sqrt(2.0) * np.abs(family.z), family.n_means, np.inf)
    return np.clip(p, family.p, _bonferroni(family)[0]), _level(_tukey_point(family.level, family.n_means))


@lru_cache(maxsize=64)
def _tukey_point(level: float, n_means: int) -> float:
    """Standard errors of a difference; found once for all families of one size."""
    from scipy.stats import studentized_range

    return float(studentized_range.isf(1.0 - level, n_means, np.inf)) / math.sqrt(2.0)


def _scheffe(family: Family) -> Adjusted:
    """For all contrasts in the space of these."""
    rank = family.root.shape[1]
    return np.asarray(chdtrc(rank, family.z**2)), _level(math.sqrt(chdtri(rank, 1.0 - family.level)))


def _mvt(family: Family) -> Adjusted:
    """By the largest of normals with the correlations of the estimates."""
    from scipy.optimize import brentq

    largest, rank = _largest_cosines(family.root), family.root.shape[1]

    def beyond(x: float) -> float:
        return float(chdtrc(rank, (x / largest) ** 2).mean())

    p = np.array([beyond(abs(z)) for z in family.z])
    alpha = 1.0 - family.level
    critical = brentq(lambda x: beyond(x) - alpha, 0.0, math.sqrt(chdtri(rank, alpha)) + 1.0, xtol=1e-10)
    return np.clip(p, family.p, 1.0), _level(critical)


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
    "mvt": "the multivariate normal (mvt)",
    "dunnett": "Dunnett's",
    "scheffe": "Scheffe's",
}
#: Those that have no limits of their own.
STEPWISE = ("holm", "hochberg", "hommel", "fdr", "fdr_by")


def adjusted(adjust: str, family: Family) -> Adjusted:
    """Adjusted p-values, and the level at which single limits hold together; of one test as it is."""
    return _none(family) if family.size < 2 else ADJUST[adjust](family)

"""Contrasts of means, named or by their coefficients, and adjustments of their p-values
and confidence limits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import Any

import numpy as np
from scipy.special import chdtrc, chdtri, fdtrc, fdtri

from .._typing import FloatArray
from ..checks import numbers_given, one_of
from ..exceptions import OptionError
from ..likelihood.standard_errors import two_sided
from .average import pairs_of

#: Coefficients such as 0.333 add up to 0 to this share of their size.
_ROUNDED = 1e-3
#: Contrast -> coefficients (n,), one for each mean.
Contrasts = dict[str, FloatArray]

#: R's names.
ALIASES = {"trt.vs.ctrl": "reference", "consec": "sequential"}
#: Adjustment of each set, as in R; Dunnett's is exact here.
DEFAULT_ADJUST = {
    "pairwise": "tukey",
    "revpairwise": "tukey",
    "reference": "dunnett",
    "sequential": "mvt",
}
#: Descriptions of the sets; directions are R's.
WORDS = {
    "pairwise": "each earlier mean minus each later one",
    "revpairwise": "each later mean minus each earlier one",
    "reference": "each mean minus that of the reference",
    "sequential": "each mean minus the one before",
}


def named_method(method: Any) -> str:
    """The package's name of a set of contrasts; OptionError for an unknown name."""
    name = ALIASES.get(method, method) if isinstance(method, str) else method
    one_of(
        "method", name, WORDS, also=', or coefficients such as {"first": [1, -1, 0]}'
    )
    return str(name)


def contrasts_of(method: Any, names: Sequence[str], sign: str, ref: Any) -> Contrasts:
    """The contrasts of means with some names.

    Parameters
    ----------
    method : str, mapping or sequence
        The name of a set of contrasts, or coefficients.
    names : sequence of str
        Names of the n means.
    sign : str
        Text between two compared means.
    ref : optional
        Name of the mean that "reference" compares with; by default the first.
    """
    names = _distinct(names)
    name = named_method(method) if isinstance(method, str) else ""
    if ref is not None and name != "reference":
        raise OptionError("ref= needs method='reference'.")
    if not name:
        return _given(method, names)
    if len(names) < 2:
        raise OptionError("contrasts need two means or more in every group.")
    pairs = pairs_of(name.removeprefix("rev"), names)
    unit = dict(zip(names, np.eye(len(names)), strict=True))
    if name == "pairwise":
        pairs = [(later, earlier) for earlier, later in pairs]
    elif ref is not None:
        one_of("ref", str(ref), names)
        pairs = [(str(ref), other) for other in names if other != str(ref)]
    return {
        f"{first}{sign}{second}": unit[first] - unit[second] for second, first in pairs
    }


def _distinct(names: Sequence[str]) -> list[str]:
    """The names; equal ones, such as levels 1 and "1" or rounded coefficients, are
    numbered.
    """
    return [
        name if names.count(name) == 1 else f"{name} ({k})"
        for k, name in enumerate(names, start=1)
    ]


def _given(method: Any, names: Sequence[str]) -> Contrasts:
    """Contrasts by their coefficients: {name: coefficients}, a list of them, or the
    coefficients of one.
    """
    if isinstance(method, Mapping):
        texts = [str(name) for name in method]
        rows = list(method.values())
    elif isinstance(method, Iterable):
        rows = list(method)
        rows = [rows] if rows and all(np.ndim(row) == 0 for row in rows) else rows
        texts = [""] * len(rows)
    else:
        raise OptionError(
            'method must be the name of a set, or coefficients such as {"first": [1,'
            f" -1, 0]}}; got {method!r}."
        )
    if not rows:
        raise OptionError("method gives no contrast.")
    coefficients = [
        _row(text or row, row, names) for text, row in zip(texts, rows, strict=True)
    ]
    titles = [
        text or f"({', '.join(f'{x:.4g}' for x in row)})"
        for text, row in zip(texts, coefficients, strict=True)
    ]
    return dict(zip(_distinct(titles), coefficients, strict=True))


def _row(name: Any, row: Any, names: Sequence[str]) -> FloatArray:
    """(n,) coefficients; OptionError unless there is one finite number for
    each mean.
    """
    coefficients = numbers_given(row)
    if (
        coefficients.shape != (len(names),)
        or not np.isfinite(coefficients).all()
        or not coefficients.any()
    ):
        raise OptionError(
            f"the contrast {name!r} must be {len(names)} finite numbers, not all 0, one"
            f" for each of the means {', '.join(names)}; got {row!r}."
        )
    return coefficients


def sums_of_means(contrasts: Contrasts) -> list[str]:
    """Names of contrasts with coefficients that do not add up to 0."""
    return [
        name
        for name, row in contrasts.items()
        if abs(float(row.sum())) > _ROUNDED * float(np.abs(row).sum())
    ]


# Adjustments

#: Directions that the maximum of correlated normals is averaged over: a power of 2, for
#: Sobol points.
_DIRECTIONS = 1 << 18
#: Number of groups of similar directions.
_GROUPS = 1 << 12
#: Fewer groups than these do not determine a probability well.
_CARRIERS = 64
#: Eigenvalues of a correlation matrix below this share of the largest are zero.
_RANK = 1e-9


@dataclass(frozen=True, eq=False)
class ContrastFamily:
    """Tests that are adjusted together; all have a p-value.

    Attributes
    ----------
    z : (m,) statistics
    p : (m,) p-values, two-sided
    spread : (m, m) covariance of the estimates
    n_means : int
        Number of compared means.
    level : float
        Confidence level of the intervals before adjustment.
    df : (m,) degrees of freedom of each test
        Infinite for z-tests; used by the adjusted p-values and limits.
    """

    z: FloatArray
    p: FloatArray
    spread: FloatArray
    n_means: int
    level: float
    df: FloatArray

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


#: Adjusted p-values (m,), and the levels (m,) of single limits that hold jointly.
Adjusted = tuple[FloatArray, FloatArray]


def _levels(family: ContrastFamily, critical: Callable[[float], float]) -> FloatArray:
    """The levels of single limits of +-critical standard errors, by the degrees of
    freedom.
    """
    return 1.0 - two_sided(
        np.array([critical(float(df)) for df in family.df]), family.df
    )


def _none(family: ContrastFamily) -> Adjusted:
    return family.p, np.full(family.size, family.level)


def _bonferroni(family: ContrastFamily) -> Adjusted:
    levels = np.full(family.size, 1.0 - (1.0 - family.level) / family.size)
    return np.minimum(family.p * family.size, 1.0), levels


def _sidak(family: ContrastFamily) -> Adjusted:
    levels = np.full(family.size, family.level ** (1.0 / family.size))
    return -np.expm1(family.size * np.log1p(-family.p)), levels


def _tukey(family: ContrastFamily) -> Adjusted:
    """By the range of `n_means` independent means: exact if all pairs have equal
    variance, else conservative.

    SciPy's tail is 1 minus a probability; Bonferroni's bound keeps the digits of small
    p-values.
    """
    from scipy.stats import studentized_range

    p = studentized_range.sf(
        math.sqrt(2.0) * np.abs(family.z), family.n_means, family.df
    )
    point = _levels(family, lambda df: _tukey_point(family.level, family.n_means, df))
    return np.clip(p, family.p, _bonferroni(family)[0]), point


@lru_cache(maxsize=64)
def _tukey_point(level: float, n_means: int, df: float) -> float:
    """Critical value in standard errors of a difference, cached for families of one
    size.
    """
    from scipy.stats import studentized_range

    return float(studentized_range.isf(1.0 - level, n_means, df)) / math.sqrt(2.0)


def _radius_tail(rank: int, squares: FloatArray, df: float) -> FloatArray:
    """P(r^2 > squares), r the length of a vector of `rank` independent standard
    normals, or t with df.
    """
    return chdtrc(rank, squares) if math.isinf(df) else fdtrc(rank, df, squares / rank)


def _radius(rank: int, alpha: float, df: float) -> float:
    """The length that is passed with probability alpha."""
    return math.sqrt(
        chdtri(rank, alpha) if math.isinf(df) else rank * fdtri(rank, df, 1.0 - alpha)
    )


def _mvt(family: ContrastFamily) -> Adjusted:
    """By the largest of normals (or t) with the correlations of the estimates.

    Far in the tail, where few directions remain, Bonferroni's bound is used, which is
    close there.
    """
    from scipy.optimize import brentq

    largest = _largest_cosines(family.root)
    rank = family.root.shape[1]
    alpha = 1.0 - family.level

    def beyond(x: float, df: float) -> FloatArray:
        return _radius_tail(rank, (x / largest) ** 2, df)

    @cache
    def critical(df: float) -> float:
        return float(
            brentq(
                lambda x: beyond(x, df).mean() - alpha,
                0.0,
                _radius(rank, alpha, df) + 1.0,
                xtol=1e-10,
            )
        )

    parts = np.array([beyond(z, df) for z, df in zip(family.z, family.df, strict=True)])
    few = parts.sum(axis=1) ** 2 < min(_CARRIERS, len(largest)) * (parts**2).sum(axis=1)
    p = np.where(
        few | (parts == 0.0).all(axis=1), _bonferroni(family)[0], parts.mean(axis=1)
    )
    return np.clip(p, family.p, 1.0), _levels(family, critical)


def _largest_cosines(root: FloatArray) -> FloatArray:
    """max_i |a_i'u| over the rows of (m, r), at directions u that fill the sphere
    evenly.

    A standard normal vector is a direction u times a length whose square is
    chi-squared(r), so that P(max |a_i'x| > c) is the mean over u of P(chi2(r) > (c /
    max |a_i'u|)^2) [Genz & Bretz 2009, sec. 4.1.1].
    """
    rank = root.shape[1]
    if rank == 1:
        return np.ones(1)
    if rank == 2:
        angle = np.pi * (np.arange(_DIRECTIONS) + 0.5) / _DIRECTIONS
        directions = np.column_stack([np.cos(angle), np.sin(angle)])
    else:
        from scipy.stats.qmc import MultivariateNormalQMC

        normal = MultivariateNormalQMC(
            np.zeros(rank), rng=np.random.default_rng(0)
        ).random(_DIRECTIONS)
        directions = normal / np.linalg.norm(normal, axis=1, keepdims=True)
    largest = np.zeros(len(directions))
    for row in root:
        np.maximum(largest, np.abs(directions @ row), out=largest)
    return np.asarray(np.sort(largest).reshape(_GROUPS, -1).mean(axis=1))


#: Procedures that adjust p-values only (limits are Bonferroni's) -> statsmodels' names.
STEPWISE = {"holm": "holm", "fdr": "fdr_bh"}
_JOINT: dict[str, Callable[[ContrastFamily], Adjusted]] = {
    "none": _none,
    "tukey": _tukey,
    "sidak": _sidak,
    "bonferroni": _bonferroni,
    "mvt": _mvt,
    "dunnett": _mvt,
}
ADJUST = (*_JOINT, *STEPWISE)


def method_of(adjust: str) -> str:
    """The authors of an adjustment, for the notes of a table."""
    return "Benjamini and Hochberg's" if adjust == "fdr" else f"{adjust.capitalize()}'s"


def adjusted(adjust: str, family: ContrastFamily) -> Adjusted:
    """Adjusted p-values, and the level of single intervals that makes them hold
    jointly; a single test is not adjusted.
    """
    if family.size < 2:
        return _none(family)
    if adjust in _JOINT:
        return _JOINT[adjust](family)
    from statsmodels.stats.multitest import multipletests

    return multipletests(family.p, method=STEPWISE[adjust])[1], _bonferroni(family)[1]

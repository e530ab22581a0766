"""Contrasts of means: named sets of them, and those that a user gives by their coefficients."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from itertools import product
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..checks import flag, one_of
from ..exceptions import OptionError
from .average import PAIRS

#: Coefficients such as 0.333 add up to 0 to this share of their size.
_ROUNDED = 1e-3
#: Contrast -> coefficients (n,), one a mean.
Contrasts = dict[str, FloatArray]

#: R's names.
ALIASES = {"trt.vs.ctrl": "reference", "consec": "sequential"}
#: Adjustment of each set, as in R; Dunnett's is exact here.
DEFAULT_ADJUST = {"pairwise": "tukey", "reference": "dunnett", "sequential": "mvt", "eff": "fdr", "del.eff": "fdr"}
#: What the differences of a set are.
WORDS = {
    "pairwise": "each later mean less each earlier one (reverse=True for R's direction)",
    "reference": "each mean less the reference",
    "sequential": "each mean less the one before",
    "eff": "each mean less the mean of all",
    "del.eff": "each mean less the mean of the others",
    "poly": "orthogonal polynomials in the order of the means",
}
_DEGREES = 6


def _effects(names: Sequence[str]) -> Contrasts:
    n = len(names)
    return {f"{name} effect": row for name, row in zip(names, np.eye(n) - 1.0 / n, strict=True)}


def _deleted_effects(names: Sequence[str]) -> Contrasts:
    share = len(names) / (len(names) - 1.0)
    return {name: row * share for name, row in _effects(names).items()}


def _polynomials(names: Sequence[str]) -> Contrasts:
    """Orthogonal polynomials with whole coefficients, up to degree 6."""
    n = len(names)
    q = np.linalg.qr(np.vander(np.arange(n) - (n - 1) / 2.0, increasing=True))[0]
    titles = ["linear", "quadratic", "cubic", "quartic"]
    titles += [f"degree {k}" for k in range(5, n)]
    return {titles[k - 1]: _whole(q[:, k]) for k in range(1, min(n - 1, _DEGREES) + 1)}


def _whole(row: FloatArray) -> FloatArray:
    """The smallest whole numbers in the ratios of a row, the last one positive."""
    sizes = np.abs(row)
    unit = row / np.copysign(sizes[sizes > 1e-9].min(), row[-1])
    factors = (k * unit for k in range(1, 1000))
    return next((np.round(one) for one in factors if np.abs(one - np.round(one)).max() < 1e-7), unit)


#: Sets that are no differences of two means.
SETS: dict[str, Callable[[Sequence[str]], Contrasts]] = {
    "eff": _effects,
    "del.eff": _deleted_effects,
    "poly": _polynomials,
}
METHODS = (*PAIRS, *SETS)


def named_method(method: Any) -> str:
    """The package's name of a set; OptionError for anything that names none."""
    name = ALIASES.get(method, method) if isinstance(method, str) else method
    one_of("method", name, METHODS, also=', or coefficients such as {"first": [1, -1, 0]}')
    return str(name)


def contrasts_of(method: Any, names: Sequence[str], sign: str, ref: Any = None, reverse: bool = False) -> Contrasts:
    """The contrasts of means with some names.

    Parameters
    ----------
    method : str, mapping or sequence
        A set, or coefficients.
    names : sequence of str
        Of the n means.
    sign : str
        What stands between two means that are compared.
    ref : optional
        Name of the mean that "reference" compares with; the first if not given.
    reverse : bool
        Earlier less later.
    """
    names = _distinct(names)
    if not isinstance(method, str):
        if ref is not None or reverse:
            raise OptionError("ref= and reverse= go with named sets of contrasts, not with coefficients.")
        return _given(method, names)
    name = named_method(method)
    if len(names) < 2:
        raise OptionError("contrasts need two means or more in every group.")
    if ref is not None and name != "reference":
        raise OptionError("ref= goes with method='reference'.")
    if name in SETS:
        if flag("reverse", reverse):
            raise OptionError(f"reverse= goes with {', '.join(map(repr, PAIRS))}.")
        return SETS[name](names)
    pairs = PAIRS[name](len(names))
    if ref is not None:
        one_of("ref", str(ref), names)
        base = names.index(str(ref))
        pairs = [(base, k) for k in range(len(names)) if k != base]
    contrasts, unit = {}, np.eye(len(names))
    for low, high in pairs:
        first, second = (low, high) if flag("reverse", reverse) else (high, low)
        contrasts[f"{names[first]}{sign}{names[second]}"] = unit[first] - unit[second]
    return contrasts


def _distinct(names: Sequence[str]) -> list[str]:
    """The names; equal ones, such as levels 1 and "1" or rounded coefficients, are numbered."""
    return [name if names.count(name) == 1 else f"{name} ({k})" for k, name in enumerate(names, start=1)]


def _given(method: Any, names: Sequence[str]) -> Contrasts:
    """Contrasts by their coefficients: {name: coefficients}, a list of them, or the coefficients of one."""
    if isinstance(method, Mapping):
        texts, rows = [str(name) for name in method], list(method.values())
    elif isinstance(method, Iterable):
        rows = list(method)
        rows = [rows] if rows and all(np.ndim(row) == 0 for row in rows) else rows
        texts = [""] * len(rows)
    else:
        raise OptionError(
            f'method must be the name of a set, or coefficients such as {{"first": [1, -1, 0]}}; got {method!r}.'
        )
    if not rows:
        raise OptionError("method gives no contrast.")
    found = [_row(text or row, row, names) for text, row in zip(texts, rows, strict=True)]
    titles = [text or f"({', '.join(f'{x:.4g}' for x in row)})" for text, row in zip(texts, found, strict=True)]
    return dict(zip(_distinct(titles), found, strict=True))


def _row(name: Any, row: Any, names: Sequence[str]) -> FloatArray:
    """(n,) coefficients; OptionError unless they are as many finite numbers as there are means."""
    try:
        coefficients = np.asarray(row, dtype=np.float64)
    except (TypeError, ValueError):
        coefficients = np.zeros(0)
    if coefficients.shape != (len(names),) or not np.isfinite(coefficients).all() or not coefficients.any():
        raise OptionError(
            f"the contrast {name!r} must be {len(names)} finite numbers, not all 0, one for each of the means "
            f"{', '.join(names)}; got {row!r}."
        )
    return coefficients


def sums_of_means(contrasts: Contrasts) -> list[str]:
    """Names of those whose coefficients do not add up to 0, but for rounding."""
    return [name for name, row in contrasts.items() if abs(float(row.sum())) > _ROUNDED * float(np.abs(row).sum())]


def interactions(methods: Sequence[Any], names: Sequence[Sequence[str]], sign: str, reverse: bool) -> Contrasts:
    """Contrasts of contrasts: products of one of each variable, the last variable running fastest.

    Parameters
    ----------
    methods : sequence
        For every variable.
    names : sequence of sequence of str
        The levels of every variable.
    """
    sets = [contrasts_of(method, some, sign, reverse=reverse) for method, some in zip(methods, names, strict=True)]
    return {
        " : ".join(name for name, _ in parts): reduce(lambda a, b: np.asarray(np.kron(a, b)), [row for _, row in parts])
        for parts in product(*(one.items() for one in sets))
    }

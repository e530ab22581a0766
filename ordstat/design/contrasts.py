"""Contrast matrices of factors, as R has them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..checks import canonical
from ..exceptions import FormulaError
from .frames import shown_labels, suggest

#: (K, K-1) matrix and what each column adds to the factor's name, from the K levels.
Coding = tuple[FloatArray, tuple[str, ...]]


def _base(levels: tuple[Any, ...], base: Any, default: int) -> int:
    if base is None:
        return default
    if base not in levels:
        raise FormulaError(f"The base level {base!r} of a contrast is not among the levels {shown_labels(levels)}.")
    return levels.index(base)


def treatment(levels: tuple[Any, ...], base: Any = None) -> Coding:
    """Indicators of all levels but the base (the first) [R: contr.treatment]."""
    left_out = _base(levels, base, 0)
    kept = [k for k in range(len(levels)) if k != left_out]
    return np.eye(len(levels))[:, kept], tuple(f"[T.{levels[k]}]" for k in kept)


def sas(levels: tuple[Any, ...]) -> Coding:
    """Indicators of all levels but the last [R: contr.SAS]."""
    return treatment(levels, levels[-1])


def deviation(levels: tuple[Any, ...]) -> Coding:
    """Level against the mean of all; the last level is -1 throughout [R: contr.sum]."""
    k = len(levels)
    return np.vstack([np.eye(k - 1), -np.ones(k - 1)]), tuple(f"[S.{level}]" for level in levels[:-1])


def helmert(levels: tuple[Any, ...]) -> Coding:
    """Level against the mean of those before it [R: contr.helmert]."""
    k = len(levels)
    matrix = -np.triu(np.ones((k, k - 1)))
    matrix[np.arange(1, k), np.arange(k - 1)] = np.arange(1, k)
    return matrix, tuple(f"[H.{level}]" for level in levels[1:])


def difference(levels: tuple[Any, ...]) -> Coding:
    """Level against the one before it [R: MASS::contr.sdif]."""
    k = len(levels)
    column = np.arange(1, k)
    matrix = np.where(np.arange(k)[:, None] >= column, column, column - k) / k
    return matrix, tuple(f"[D.{level}]" for level in levels[1:])


def polynomial(levels: tuple[Any, ...]) -> Coding:
    """Orthonormal polynomials of the equally spaced levels [R: contr.poly]."""
    k = len(levels)
    x = np.arange(k) - (k - 1) / 2
    q, r = np.linalg.qr(np.vander(x, increasing=True))
    names = [".L", ".Q", ".C", *(f"^{degree}" for degree in range(4, k))]
    return (q * np.sign(np.diag(r)))[:, 1:], tuple(names[: k - 1])


KINDS: dict[str, Callable[..., Coding]] = {
    "treatment": treatment,
    "sum": deviation,
    "helmert": helmert,
    "poly": polynomial,
    "diff": difference,
    "sdif": difference,
    "sas": sas,
}


@dataclass(frozen=True, eq=False)
class Contrast:
    """A coding of a factor by name, or by an explicit matrix.

    Attributes
    ----------
    kind : str
        A key of `KINDS`; not read where a matrix is given.
    base : label or None
        Base level of treatment contrasts.
    matrix : (K, m) or None
    """

    kind: str = "treatment"
    base: Any = None
    matrix: FloatArray | None = None

    def coding(self, levels: tuple[Any, ...]) -> Coding:
        """The (K, m) matrix for these levels and the names of its columns."""
        if self.matrix is not None:
            return self._explicit(len(levels))
        if self.base is not None:
            return KINDS[self.kind](levels, self.base)
        return KINDS[self.kind](levels)

    def _explicit(self, k: int) -> Coding:
        matrix = np.asarray(self.matrix, dtype=float)
        if matrix.ndim != 2 or matrix.shape[0] != k or not np.isfinite(matrix).all():
            raise FormulaError(
                f"A contrast matrix needs one finite row per level, {k} here; it has shape {matrix.shape}."
            )
        return matrix, tuple(f"[{j + 1}]" for j in range(matrix.shape[1]))


def contrast(given: Any, base: Any = None) -> Contrast:
    """A contrast from its name (R's "contr.sum", formulaic's "Sum", "sum") or a matrix."""
    if isinstance(given, Contrast):
        return given
    if not isinstance(given, str):
        return Contrast(matrix=np.asarray(given, dtype=float))
    name = given.lower().removeprefix("contr.")
    kind = canonical(name, KINDS)
    if kind is None:
        raise FormulaError(f"{given!r} is no known contrast; {suggest(name, KINDS)}")
    if base is not None and kind != "treatment":
        raise FormulaError(f"A base level goes with treatment contrasts, not with {given!r}.")
    return Contrast(kind=kind, base=base)

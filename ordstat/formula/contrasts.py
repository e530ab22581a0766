"""Contrast matrices of factors, as R has them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from .._typing import AnyArray, FloatArray
from ..checks import canonical, is_whole
from ..compiled.sums import gather
from ..exceptions import FormulaError
from .frames import shown_labels, suggest
from .sample import CACHED, row_blocks

# With more columns than these a block would be too few rows to be worth a loop.
_WIDEST = 128


def stack(columns: Sequence[AnyArray], n: int) -> tuple[FloatArray, FloatArray]:
    """(n, D) C-contiguous float64 of D columns of numbers or booleans, and their sums of squares (D,).

    Examples
    --------
    >>> stack([np.array([1.0, 2.0]), np.array([True, False])], 2)
    (array([[1., 1.],
           [2., 0.]]), array([5., 1.]))
    """
    matrix, squares = np.empty((n, len(columns))), np.zeros(len(columns))
    known = [column.dtype == np.float64 or column.dtype == np.bool_ for column in columns]
    gather([column for column, own in zip(columns, known, strict=True) if own], np.flatnonzero(known), matrix, squares)
    others = [j for j, own in enumerate(known) if not own]
    for rows in row_blocks(n if others else 0, min(len(others), _WIDEST), CACHED):
        for j in others:
            matrix[rows, j] = columns[j][rows]
        with np.errstate(over="ignore", under="ignore"):
            squares[others] += np.square(matrix[rows, others]).sum(axis=0)
    return matrix, squares


#: (K, K-1) matrix and what each column adds to the factor's name, from the K levels.
Coding = tuple[FloatArray, tuple[str, ...]]


def treatment(levels: tuple[Any, ...], base: Any = None) -> Coding:
    """Indicators of all levels but the base (the first) [R: contr.treatment]."""
    if base is not None and base not in levels:
        by_place = is_whole(base) and 1 <= base <= len(levels)
        hint = f" R's base={base} is {levels[base - 1]!r} here." if by_place else ""
        raise FormulaError(
            f"The base level of a contrast must be one of {shown_labels(levels)}; got base level {base!r}.{hint}"
        )
    left_out = 0 if base is None else levels.index(base)
    kept = [k for k in range(len(levels)) if k != left_out]
    return np.eye(len(levels))[:, kept], tuple(f"[T.{levels[k]}]" for k in kept)


def deviation(levels: tuple[Any, ...]) -> Coding:
    """Level against the mean of all; the last level is -1 throughout [R: contr.sum]."""
    k = len(levels)
    return np.vstack([np.eye(k - 1), -np.ones(k - 1)]), tuple(f"[S.{level}]" for level in levels[:-1])


def polynomial(levels: tuple[Any, ...]) -> Coding:
    """Orthonormal polynomials of the equally spaced levels [R: contr.poly]."""
    k = len(levels)
    q, r = np.linalg.qr(np.vander(np.arange(k) - (k - 1) / 2, increasing=True))
    names = [".L", ".Q", ".C", *(f"^{degree}" for degree in range(4, k))]
    return (q * np.sign(np.diag(r)))[:, 1:], tuple(names[: k - 1])


def _of_formulaic(name: str, levels: tuple[Any, ...]) -> Coding:
    from formulaic.transforms import contrasts

    kind = getattr(contrasts, f"{name}Contrasts")()
    suffix = kind.get_factor_format(levels, reduced_rank=True).removeprefix("{name}")
    columns = kind.get_coding_column_names(levels, reduced_rank=True)
    matrix = kind.get_coding_matrix(levels, reduced_rank=True)
    return matrix.to_numpy(dtype=float), tuple(suffix.format(field=column) for column in columns)


KINDS: dict[str, Callable[..., Coding]] = {
    "treatment": treatment,
    "sum": deviation,
    "helmert": partial(_of_formulaic, "Helmert"),  # level against the mean of those before it
    "poly": polynomial,
    "diff": partial(_of_formulaic, "Diff"),  # level against the one before it [R: MASS::contr.sdif]
    "sdif": partial(_of_formulaic, "Diff"),
    "sas": partial(_of_formulaic, "SAS"),  # indicators of all levels but the last
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
        if self.matrix is None:
            options = {} if self.base is None else {"base": self.base}
            return KINDS[self.kind](levels, **options)
        k, matrix = len(levels), np.asarray(self.matrix, dtype=float)
        if matrix.ndim != 2 or matrix.shape[0] != k or not np.isfinite(matrix).all():
            raise FormulaError(
                f"A contrast matrix must have one finite row per level, {k} here; got shape {matrix.shape}."
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
        raise FormulaError(f"A base level must go with treatment contrasts; got {given!r}.")
    return Contrast(kind=kind, base=base)

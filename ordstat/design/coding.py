"""From evaluated factors to model matrices: R's rule for coding factors, column names, and the filling of X."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, product
from math import prod
from operator import and_
from typing import Any

import numpy as np

from .._typing import AnyArray, FloatArray, IntArray
from ..checks import check_memory
from ..exceptions import DataError, FormulaError
from ..model.table import stack
from .columns import Factor, Value, factor_of, recode
from .contrasts import Contrast
from .expressions import MAX_COLUMNS, Expression, shown
from .frames import shown_labels
from .parse import Part, Term

#: Times that the columns of a design are held in memory at once.
_COPIES = 3
#: Name and values of a column of a model matrix.
Named = tuple[str, AnyArray]


@dataclass(frozen=True)
class NumberCoding:
    """A factor of the formula that is a number, or the m columns of a spline or polynomial."""

    label: str
    width: int | None = None

    def count(self, full: bool) -> int:
        """The number of columns; `full` is ignored."""
        return 1 if self.width is None else self.width

    def columns(self, value: Value, full: bool) -> list[Named]:
        """The columns; `full` is ignored."""
        if isinstance(value, Factor):
            raise DataError(f"{self.label!r} was numeric at the fit; the new data hold {shown_labels(value.levels)}.")
        if self.width is None:
            return [(self.label, value)]
        return [(f"{self.label}[{j + 1}]", value[:, j]) for j in range(self.width)]


@dataclass(frozen=True, eq=False)
class FactorCoding:
    """A categorical factor with its levels and contrast.

    Attributes
    ----------
    label : str
    levels : tuple
    matrix : (K, m)
        Contrasts; used where the factor's margin is in the model.
    suffixes : tuple of str
        What each contrast adds to the name.
    whole : bool
        Whether it is one column of codes in a term of its own.
    ordered : bool
        Whether its levels were declared to be in order.
    """

    label: str
    levels: tuple[Any, ...]
    matrix: FloatArray
    suffixes: tuple[str, ...]
    whole: bool = False
    ordered: bool = False

    def count(self, full: bool) -> int:
        """The number of columns."""
        return len(self.levels) if full else len(self.suffixes)

    def columns(self, value: Value, full: bool) -> list[Named]:
        """Indicators of all levels if `full`, else the contrasts; NaN where missing."""
        codes = recode(value, self.levels, self.label)
        if full:
            made = [(f"{self.label}[{level}]", codes == code) for code, level in enumerate(self.levels)]
        else:
            made = [(self.label + suffix, self._contrast(codes, j)) for j, suffix in enumerate(self.suffixes)]
        missing = codes < 0
        return [(name, np.where(missing, np.nan, column)) for name, column in made] if missing.any() else made

    def _contrast(self, codes: IntArray, j: int) -> AnyArray:
        weights = self.matrix[:, j]
        (chosen,) = np.nonzero(weights)
        if chosen.size == 1 and weights[chosen[0]] == 1:  # an indicator: one comparison
            return np.asarray(codes == chosen[0])
        return np.append(weights, 0.0)[codes]


Coding = NumberCoding | FactorCoding


def fit_coding(
    expression: Expression, value: Value, contrast: Contrast | None, whole: bool = False
) -> tuple[Coding, tuple[Any, ...]]:
    """The coding of an evaluated factor, and its levels without rows, which it leaves out as R's clm does.

    With `whole` a factor whose contrasts nobody asked for is one column of codes where it stands alone.
    """
    if isinstance(value, np.ndarray) and value.dtype != bool:
        if contrast is not None:
            raise DataError(f"contrasts= names {expression.label!r}, which is numeric; write C({expression.label}).")
        return NumberCoding(expression.label, None if value.ndim == 1 else value.shape[1]), ()
    factor = factor_of(value, expression.label)
    there = factor.codes[factor.codes >= 0] if (factor.codes < 0).any() else factor.codes
    found = np.flatnonzero(np.bincount(there, minlength=len(factor.levels))).tolist()
    kept = set(found) if isinstance(value, Factor) else {0, 1}  # a condition keeps both
    levels = tuple(level for code, level in enumerate(factor.levels) if code in kept)
    unused = tuple(level for code, level in enumerate(factor.levels) if code not in kept)
    if len(levels) < 2:
        raise DataError(
            f"{expression.label!r} has one level only in the rows used, {shown_labels(levels)}: drop the term."
        )
    what = f"The contrasts of the {len(levels):,} levels of {expression.label!r}"
    check_memory(8.0 * len(levels) ** 2, what, "join levels, or give each its random effect, as in (1 | group)")
    asked = factor.contrast or contrast
    matrix, suffixes = (asked or Contrast()).coding(levels)
    return FactorCoding(expression.label, levels, matrix, suffixes, whole and asked is None, factor.ordered), unused


def full_codings(terms: Sequence[Term]) -> list[tuple[bool, ...]]:
    """Per term and factor, whether it is coded by all its levels.

    R's rule: a factor is coded by contrasts where the term without it is empty (the intercept) or lies within an
    earlier term.
    """
    flags = []
    having: dict[str, int] = {}  # per factor the earlier terms that have it, as bits
    for position, term in enumerate(terms):
        keys = [factor.key for factor in term.factors]
        earlier = [having.get(key, 0) for key in keys]
        before = list(accumulate(earlier, and_, initial=-1))
        after = list(accumulate(reversed(earlier), and_, initial=-1))[::-1]
        flags.append(tuple(len(keys) > 1 and not before[i] & after[i + 1] for i in range(len(keys))))
        having |= {key: bits | 1 << position for key, bits in zip(keys, earlier, strict=True)}
    return flags


def term_columns(
    term: Term, full: Sequence[bool], values: Mapping[str, Value], codings: Mapping[str, Coding]
) -> list[Named]:
    """Columns of one term: products of its factors' columns, the first factor varying fastest."""
    if (alone := _whole(term, codings)) is not None:
        codes = recode(values[term.factors[0].key], alone.levels, alone.label)
        return [(alone.label, np.where(codes < 0, np.nan, codes))]
    blocks = [
        codings[factor.key].columns(values[factor.key], flag) for factor, flag in zip(term.factors, full, strict=True)
    ]
    if len(blocks) == 1:
        return blocks[0]
    columns = []
    for combination in product(*reversed(blocks)):
        parts = combination[::-1]
        product_of_all = prod((array for _, array in parts), start=np.float64(1.0))
        columns.append((":".join(name for name, _ in parts), np.asarray(product_of_all)))
    return columns


def _whole(term: Term, codings: Mapping[str, Coding]) -> FactorCoding | None:
    """The coding of a term that is one factor as one column of codes; None of other terms."""
    coding = codings[term.factors[0].key]
    return coding if len(term.factors) == 1 and isinstance(coding, FactorCoding) and coding.whole else None


def _size(term: Term, full: Sequence[bool], codings: Mapping[str, Coding]) -> int:
    """The number of columns of a term."""
    flags = zip(term.factors, full, strict=True)
    return 1 if _whole(term, codings) else prod(codings[factor.key].count(flag) for factor, flag in flags)


def _check_size(terms: Sequence[Term], fulls: Sequence[Sequence[bool]], codings: Mapping[str, Coding], n: int) -> None:
    """An error for more columns than a formula may give, or the memory may hold; they are counted, not formed."""
    sizes = [_size(term, full, codings) for term, full in zip(terms, fulls, strict=True)]
    if not sizes:
        return
    largest = f"{max(sizes):,} of them come from {shown(terms[sizes.index(max(sizes))].label)}"
    if sum(sizes) > MAX_COLUMNS:
        raise FormulaError(
            f"The formula gives {sum(sizes):,} columns, and may give at most {MAX_COLUMNS:,}; {largest}: "
            "leave out interactions, or join levels."
        )
    what = f"The formula gives {sum(sizes):,} columns for {n:,} rows; {largest}. They"
    check_memory(_COPIES * 8.0 * n * sum(sizes), what, "leave out interactions, or join levels")


def column_categories(part: Part, codings: Mapping[str, Coding]) -> IntArray | None:
    """(D,) numbers of the categories that columns are codes of, 0 of others; None where there are no such columns.

    Codes of levels in order, and of two levels, are numbers.
    """
    found = list[int]()
    for term, full in zip(part.terms, full_codings(part.terms), strict=True):
        whole = _whole(term, codings)
        unordered = whole is not None and not whole.ordered and len(whole.levels) > 2
        found += [len(whole.levels)] if whole and unordered else [0] * _size(term, full, codings)
    return np.array(found, dtype=np.intp) if any(found) else None


@dataclass(frozen=True, eq=False)
class Assembled:
    """A model matrix with its names, the columns of each term, and its columns' sums of squares (D,)."""

    matrix: FloatArray
    names: tuple[str, ...]
    terms: dict[str, slice]
    squares: FloatArray


#: The matrix of a part that is not there.
NOTHING = Assembled(np.empty((0, 0)), (), {}, np.empty(0))


def assemble(part: Part, values: Mapping[str, Value], codings: Mapping[str, Coding], n: int) -> Assembled:
    """The (n, columns) matrix of one part."""
    columns: list[Named] = []
    slices: dict[str, slice] = {}
    fulls = full_codings(part.terms)
    _check_size(part.terms, fulls, codings, n)
    for term, full in zip(part.terms, fulls, strict=True):
        start = len(columns)
        columns += term_columns(term, full, values, codings)
        slices[term.label] = slice(start, len(columns))
    matrix, squares = stack([array for _, array in columns], n)
    return Assembled(matrix, tuple(name for name, _ in columns), slices, squares)

"""Contrasts of factors, R's rule for coding them, and the columns of terms."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, product, repeat
from math import prod
from operator import and_
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from .._typing import AnyArray, FloatArray, IntArray
from ..checks import brief, canonical, require_memory, shown_labels, suggest
from ..compiled.sums import gather
from ..exceptions import DataError, FormulaError
from .columns import (
    Factor,
    Value,
    factor_of,
    fitted_codes,
    fitted_codes_or_missing,
    matched,
)
from .level_effects import LevelEffect
from .names import ColumnName, Piece
from .parse import MAX_COLUMNS, Expression, Side, Term, shown

#: K levels -> (K, K-1) matrix, and the suffixes that columns add to the name of the
#: factor.
Contrasts = Callable[..., tuple[FloatArray, tuple[str, ...]]]


def treatment(
    levels: tuple[Any, ...], base: Any = None
) -> tuple[FloatArray, tuple[str, ...]]:
    """Indicators of all levels except the base (the first) [R: contr.treatment]."""
    if base is not None and base not in levels:
        raise FormulaError(
            f"The base of a contrast must be one of {shown_labels(levels)}; got base"
            f" level {base!r}."
        )
    omitted = 0 if base is None else levels.index(base)
    kept = (*levels[:omitted], *levels[omitted + 1 :])
    indicators = np.eye(len(levels))
    matrix = np.concatenate(
        [indicators[:, :omitted], indicators[:, omitted + 1 :]], axis=1
    )
    return matrix, tuple([f"[T.{level}]" for level in kept])


def deviation(levels: tuple[Any, ...]) -> tuple[FloatArray, tuple[str, ...]]:
    """Level against the mean of all; the last level is -1 throughout [R: contr.sum]."""
    k = len(levels)
    matrix = np.vstack([np.eye(k - 1), -np.ones(k - 1)])
    return matrix, tuple(f"[S.{level}]" for level in levels[:-1])


def polynomial(levels: tuple[Any, ...]) -> tuple[FloatArray, tuple[str, ...]]:
    """Orthonormal polynomials of the equally spaced levels [R: contr.poly]."""
    k = len(levels)
    q, r = np.linalg.qr(np.vander(np.arange(k) - (k - 1) / 2, increasing=True))
    suffixes = (".L", ".Q", ".C", *(f"^{degree}" for degree in range(4, k)))
    return (q * np.sign(np.diag(r)))[:, 1:], suffixes[: k - 1]


def helmert(levels: tuple[Any, ...]) -> tuple[FloatArray, tuple[str, ...]]:
    """Level against the mean of those before it [R: contr.helmert]."""
    k = len(levels)
    matrix = np.diag(np.arange(k, dtype=float)) - np.triu(np.ones((k, k)), 1)
    return matrix[:, 1:], tuple(f"[H.{level}]" for level in levels[1:])


def treatment_of_last(levels: tuple[Any, ...]) -> tuple[FloatArray, tuple[str, ...]]:
    """Indicators of all levels except the last [R: contr.SAS]."""
    return treatment(levels, levels[-1])


KINDS: dict[str, Contrasts] = {
    "sas": treatment_of_last,
    "treatment": treatment,
    "sum": deviation,
    "helmert": helmert,
    "poly": polynomial,
}


def explicit(
    given: AnyArray, suffixes: tuple[str, ...] | None, levels: tuple[Any, ...]
) -> tuple[FloatArray, tuple[str, ...]]:
    """Contrasts by the user's matrix."""
    k = len(levels)
    matrix = np.asarray(given, dtype=float)
    if matrix.ndim != 2 or matrix.shape[0] != k or not np.isfinite(matrix).all():
        raise FormulaError(
            f"A contrast matrix must have one finite row per level, {k} here; got"
            f" {matrix.shape}."
        )
    return matrix, suffixes or _numbered(matrix.shape[1])


def labelled(
    given: pd.DataFrame, levels: tuple[Any, ...]
) -> tuple[FloatArray, tuple[str, ...]]:
    """Contrasts by the user's data frame. Its index labels the levels, in any order,
    unless it is the default index; its columns give names.
    """
    labels = list(given.index)
    default = given.index.equals(pd.RangeIndex(len(labels)))
    if set(labels) == set(levels) or not default:
        if len(set(labels)) < len(labels) or not set(levels) <= set(labels):
            raise FormulaError(
                "The index of a data frame of contrasts must have every level once,"
                f" {shown_labels(levels)} here; got {shown_labels(labels)}. Set it to"
                " the levels, as by contrasts.set_axis(levels)."
            )
        given = given.loc[list(levels)]
    if given.columns.has_duplicates:
        raise FormulaError(
            "The columns of a data frame of contrasts must have different names; got"
            f" {shown_labels(given.columns)}. Rename them."
        )
    suffixes = tuple(f"[{column}]" for column in given.columns)
    return explicit(given.to_numpy(dtype=float), suffixes, levels)


def contrast(given: Any, base: Any = None) -> Contrasts:
    """The contrasts of a name ("sum", R's "contr.sum", formulaic's "Sum"), a matrix, or
    a data frame with rows labelled by levels.
    """
    if not isinstance(given, str):
        try:
            matrix = np.asarray(given, dtype=float)
        except (TypeError, ValueError):
            raise FormulaError(
                f"Contrasts must be one of {', '.join(map(repr, KINDS))}, or a matrix"
                f" of numbers; got {brief(given)}."
            ) from None
        if isinstance(given, pd.DataFrame):
            return partial(labelled, given.copy())
        return partial(explicit, matrix, None)
    name = given.lower().removeprefix("contr.")
    kind = canonical(name, KINDS)
    if kind is None:
        raise FormulaError(
            f"{given!r} is not a known contrast; {suggest(name, KINDS)} Or give a"
            " matrix."
        )
    if base is not None and kind != "treatment":
        raise FormulaError(
            f"A base level must go with treatment contrasts; got {given!r}."
        )
    return KINDS[kind] if base is None else partial(treatment, base=base)


#: Most categories of a column of codes.
MOST_CATEGORIES = 254
#: Memory is not checked for model matrices with fewer numbers.
_MANY_NUMBERS = 100_000


@dataclass(frozen=True, eq=False)
class Coding:
    """The columns of a factor of the formula.

    Attributes
    ----------
    label : str
    suffixes : tuple of str
        Suffix of the name of each column.
    levels : tuple
        Levels of a categorical factor; empty for numbers, splines and polynomials.
    matrix : (K, m) or None
        Contrasts, used if the margin of the factor is in the model.
    whole : bool
        Whether the factor, if alone in a term, is one column of codes.
    ordered : bool
        Whether its levels were declared as ordered.
    effect : LevelEffect or None
        The effect of an ordered predictor, coded by treatment contrasts.
    """

    label: str
    suffixes: tuple[str, ...] = ("",)
    levels: tuple[Any, ...] = ()
    matrix: FloatArray | None = None
    whole: bool = False
    ordered: bool = False
    effect: LevelEffect | None = None

    @property
    def without_meaning(self) -> bool:
        """Whether its columns have no meaning one by one: those of a spline, or of the
        groups of random effects.
        """
        if self.effect is not None:
            return self.effect.kind == "re"
        return not self.levels and len(self.suffixes) > 1

    def count(self, full: bool, alone: bool) -> int:
        """The number of columns, coded by all levels if `full`, in a term of one factor
        if `alone`.
        """
        if self.whole and alone:
            return 1
        return len(self.levels) if full and self.levels else len(self.suffixes)

    def pieces(self, factor: Expression, full: bool, alone: bool) -> list[Piece]:
        """The records of the columns of a factor."""
        if not self.levels:
            return [Piece(factor, suffix) for suffix in self.suffixes]
        if self.whole and alone:
            return [Piece(factor)]
        if full:
            return [Piece(factor, f"[{level}]", str(level)) for level in self.levels]
        indicated = zip(self.suffixes, self.indicated, strict=True)
        return [Piece(factor, suffix, level) for suffix, level in indicated]

    @property
    def indicated(self) -> list[str | None]:
        """The level that each column indicates; None unless by treatment contrasts."""
        assert self.matrix is not None
        named: list[str | None] = []
        for suffix, weights in zip(self.suffixes, self.matrix.T, strict=True):
            (chosen,) = np.nonzero(weights)
            level = str(self.levels[chosen[0]]) if chosen.size == 1 else None
            named.append(level if suffix == f"[T.{level}]" else None)
        return named

    def reference(self, factor: Expression) -> Piece | None:
        """The level that treatment contrasts leave out; None for other contrasts."""
        if not self.levels or (self.whole or None in self.indicated):
            return None
        left = set(map(str, self.levels)).difference(self.indicated)
        if len(left) != 1:
            return None
        level = left.pop()
        return Piece(factor, f"[T.{level}]", level)

    def columns(self, value: Value, full: bool, alone: bool) -> list[AnyArray]:
        """The columns; NaN where missing."""
        if not self.levels:
            if isinstance(value, Factor):
                shown = shown_labels(value.levels)
                raise DataError(
                    f"{self.label!r} was numeric at the fit; the new data hold {shown}."
                    " Make it numeric."
                )
            return [value] if value.ndim == 1 else list(value.T)
        if self.whole and alone:
            codes = self._codes_or_missing(value)
            made = [codes.astype(np.float64)]
        elif full:
            codes = fitted_codes(value, self.levels, self.label)
            made = [codes == code for code in range(len(self.levels))]
        else:
            codes = fitted_codes(value, self.levels, self.label)
            made = self._contrast_columns(codes)
        missing = codes < 0
        if not missing.any():
            return made
        return [np.where(missing, np.nan, column) for column in made]

    def _codes_or_missing(self, value: Value) -> IntArray:
        """(N,) codes; levels that the fit has not, or left out as rare, are missing
        values, the former with a DataWarning.
        """
        if len(self.levels) < MOST_CATEGORIES:
            return fitted_codes_or_missing(value, self.levels, self.label)
        codes, _ = matched(factor_of(value, self.label), self.levels)
        return np.maximum(codes, -1)

    def _contrast_columns(self, codes: IntArray) -> list[AnyArray]:
        """The contrasts of rows with these codes."""
        assert self.matrix is not None
        columns: list[AnyArray] = []
        for weights in self.matrix.T:
            (chosen,) = np.nonzero(weights)
            if chosen.size == 1 and weights[chosen[0]] == 1.0:
                columns.append(codes == chosen[0])  # one comparison is faster
            else:
                columns.append(np.append(weights, 0.0)[codes])
        return columns


def fit_coding(
    expression: Expression,
    value: Value,
    contrast: Contrasts | None,
    whole: bool,
) -> tuple[Coding, list[Any]]:
    """The coding of an evaluated factor, and its levels without rows, which are left
    out as in R's clm.

    With `whole` a factor without user contrasts, alone in a term, is one column of
    codes. It may have a single level; beyond MOST_CATEGORIES unordered levels the
    rarest are left out, and count as missing values.
    """
    if isinstance(value, np.ndarray) and value.dtype != bool:
        if contrast is not None:
            raise DataError(
                f"contrasts= names {expression.label!r}, which is numeric; write"
                f" C({expression.label})."
            )
        suffixes = ("",) if value.ndim == 1 else _numbered(value.shape[1])
        return Coding(expression.label, suffixes), []
    factor = factor_of(value, expression.label)
    counts = np.bincount(factor.codes[factor.codes >= 0], minlength=len(factor.levels))
    kept = list(factor.levels)
    unused = list[Any]()
    if isinstance(value, Factor):  # conditions keep both levels
        counted = list(zip(factor.levels, counts.tolist(), strict=True))
        kept = [level for level, count in counted if count]
        unused = [level for level, count in counted if not count]
    contrasts = factor.contrast or contrast
    if factor.effect is not None:
        if contrast is not None:
            raise FormulaError(
                f"contrasts= must leave out {expression.label!r}, whose coefficients"
                " are effects of levels."
            )
        contrasts = deviation if factor.effect.kind == "re" else treatment
    whole = whole and contrasts is None
    if whole and not factor.ordered and len(kept) > MOST_CATEGORIES:
        frequent = set(np.argsort(-counts, kind="stable")[:MOST_CATEGORIES].tolist())
        kept = [level for code, level in enumerate(factor.levels) if code in frequent]
    levels = tuple(kept)
    if len(levels) < (1 if whole else 2):
        only = f"one level only in the rows used: {shown_labels(levels)}"
        raise DataError(f"{expression.label!r} has {only}. Leave it out.")
    description = (
        f"The contrasts of the {len(levels):,} levels of {expression.label!r}, in two"
        " copies,"
    )
    require_memory(
        description, 16.0 * len(levels) ** 2, "Join levels, or write (1 | group)."
    )
    matrix, suffixes = (contrasts or treatment)(levels)
    coding = Coding(
        label=expression.label,
        suffixes=suffixes,
        levels=levels,
        matrix=matrix,
        whole=whole,
        ordered=factor.ordered,
        effect=factor.effect,
    )
    return coding, unused


def _numbered(count: int) -> tuple[str, ...]:
    return tuple(f"[{j + 1}]" for j in range(count))


def full_codings(terms: Sequence[Term]) -> list[tuple[bool, ...]]:
    """For each term and factor, whether it is coded by all its levels.

    R's rule: a factor is coded by contrasts if the term without it is empty (the
    intercept) or lies within an earlier term.
    """
    flags = list[tuple[bool, ...]]()
    having: dict[str, int] = {}  # per factor the earlier terms that have it, as bits
    for position, term in enumerate(terms):
        keys = term.keys
        if len(keys) == 1:
            flags.append((False,))
        else:
            earlier = [having.get(key, 0) for key in keys]
            before = list(accumulate(earlier, and_, initial=-1))
            after = list(accumulate(reversed(earlier), and_, initial=-1))[::-1]
            flags.append(
                tuple([not before[i] & after[i + 1] for i in range(len(keys))])
            )
        for key in keys:
            having[key] = having.get(key, 0) | 1 << position
    return flags


def term_names(
    term: Term, full: Sequence[bool], codings: Mapping[str, Coding]
) -> list[ColumnName]:
    """Records of the columns of one term, in the order of `term_columns`."""
    factors = zip(term.factors, full, strict=True)
    alone = len(full) == 1
    blocks = [
        codings[factor.key].pieces(factor, flag, alone) for factor, flag in factors
    ]
    products = product(*reversed(blocks))
    return [ColumnName(combination[::-1]) for combination in products]


def side_names(side: Side | None, codings: Mapping[str, Coding]) -> list[ColumnName]:
    """Records of the columns of one side."""
    terms = () if side is None else side.terms
    names: list[ColumnName] = []
    for term, full in zip(terms, full_codings(terms), strict=True):
        names += term_names(term, full, codings)
    return names


def term_columns(
    term: Term,
    full: Sequence[bool],
    values: Mapping[str, Value],
    codings: Mapping[str, Coding],
) -> list[AnyArray]:
    """Columns of one term: products of the columns of its factors; the first factor
    varies fastest.
    """
    factors = zip(term.keys, full, strict=True)
    blocks = [
        codings[key].columns(values[key], flag, len(full) == 1) for key, flag in factors
    ]
    if len(blocks) == 1:
        return blocks[0]
    columns = []
    for combination in product(*reversed(blocks)):
        # the design refuses infinite columns by name
        with np.errstate(over="ignore", invalid="ignore"):
            columns.append(np.asarray(prod(combination[::-1], start=np.float64(1.0))))
    return columns


class ModelMatrix(NamedTuple):
    """A model matrix with the columns of each term, its columns' sums of squares (D,).

    `categories` (D,) are numbers of categories for columns that are codes without an
    order, 0 for other columns; None if there are no such columns.
    """

    matrix: FloatArray
    terms: dict[str, slice]
    squares: FloatArray
    categories: IntArray | None


def model_matrix(
    side: Side | None,
    values: Mapping[str, Value],
    codings: Mapping[str, Coding],
    n: int,
) -> ModelMatrix:
    """The (n, columns) matrix of one side; columns are counted before they are made."""
    if side is None:
        return ModelMatrix(np.zeros((n, 0)), {}, np.zeros(0), None)
    terms = side.terms
    fulls = full_codings(terms)
    widths = list[int]()
    for term, full in zip(terms, fulls, strict=True):
        counts = [
            codings[key].count(flag, len(full) == 1)
            for key, flag in zip(term.keys, full, strict=True)
        ]
        widths.append(prod(counts))
    _check_size(terms, widths, n)
    columns: list[AnyArray] = []
    slices: dict[str, slice] = {}
    categories: list[int] = []
    for term, full, width in zip(terms, fulls, widths, strict=True):
        slices[term.label] = slice(len(columns), len(columns) + width)
        columns += term_columns(term, full, values, codings)
        coding = codings[term.keys[0]]
        is_code = len(full) == 1 and coding.whole
        if is_code and not coding.ordered and len(coding.levels) > 2:
            categories.append(len(coding.levels))
        else:
            categories.extend(repeat(0, width))
    matrix, squares = stack(columns, n)
    codes = np.array(categories, dtype=np.intp) if any(categories) else None
    return ModelMatrix(matrix, slices, squares, codes)


def _check_size(terms: Sequence[Term], widths: Sequence[int], n: int) -> None:
    """Raise an error for more columns than are allowed, or fit in memory."""
    total = sum(widths)
    if total <= MAX_COLUMNS and n * total < _MANY_NUMBERS:
        return
    largest = (
        f"{max(widths):,} of them come from"
        f" {shown(terms[widths.index(max(widths))].label)}"
    )
    if total > MAX_COLUMNS:
        raise FormulaError(
            f"The formula gives {total:,} columns; at most {MAX_COLUMNS:,} are allowed."
            f" {largest}."
        )
    what = f"A design of {total:,} columns for {n:,} rows ({largest})"
    # half for the fit
    require_memory(
        what, 2.0 * 3 * 8.0 * n * total, "Leave out interactions, or join levels."
    )


def stack(columns: Sequence[AnyArray], n: int) -> tuple[FloatArray, FloatArray]:
    """(n, D) C-contiguous float64 of D columns of numbers or booleans, and their sums
    of squares (D,).

    Examples
    --------
    >>> stack([np.array([1.0, 2.0]), np.array([True, False])], 2)
    (array([[1., 1.],
           [2., 0.]]), array([5., 1.]))
    """
    matrix = np.empty((n, len(columns)))
    squares = np.zeros(len(columns))
    numbers = [
        column if column.dtype in (np.float64, np.bool_) else column.astype(np.float64)
        for column in columns
    ]
    gather(numbers, np.arange(len(columns)), matrix, squares)
    return matrix, squares

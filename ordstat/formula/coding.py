"""R's rule for coding factors, and the columns of terms."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, product
from math import prod
from operator import and_
from typing import Any

import numpy as np

from .._typing import AnyArray, FloatArray, IntArray
from ..checks import require_memory
from ..exceptions import DataError, FormulaError
from .columns import Factor, Value, factor_of, recode
from .contrasts import Contrast, stack
from .factors import MAX_COLUMNS, Expression, shown
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
    remedy = "Join levels, or give each its random effect, as in (1 | group)."
    require_memory(f"{what}, in two copies,", 16.0 * len(levels) ** 2, remedy)
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
    what = f"A design of {sum(sizes):,} columns for {n:,} rows ({largest})"
    require_memory(what, 2.0 * _COPIES * 8.0 * n * sum(sizes), "Leave out interactions, or join levels.")


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


#: Contrast matrix and column names of some levels.
Contrasts = Callable[[tuple[Any, ...]], tuple[FloatArray, tuple[str, ...]]]
#: What the columns of a term are, whatever formula it stands in: its factors, and which are coded by all levels.
Block = frozenset[tuple[str, bool]]
#: Entries of a change of coding are known to this share of the largest.
_ROUNDING = 1e-12
#: What a change of coding may leave unexplained.
_LEFT = 1e-8


@dataclass(frozen=True, eq=False, kw_only=True)
class Marginality:
    """How the terms of a location formula lie in each other.

    Attributes
    ----------
    texts : mapping of term to str
        Each term as a formula writes it, those of nominal= and scale= too.
    factors : mapping of term to frozenset of str
        What each term is a product of.
    containing : mapping of term to tuple of str
        Terms with the same numeric variables and further categorical ones [SAS: effects that contain an effect].
    """

    texts: Mapping[str, str]
    factors: Mapping[str, frozenset[str]]
    containing: Mapping[str, tuple[str, ...]]

    def droppable(self) -> list[str]:
        """Terms that are part of no other term."""
        return [term for term, own in self.factors.items() if not any(own < other for other in self.factors.values())]

    def margins_of(self, term: str) -> list[str]:
        """The terms that a term contains, and the term itself."""
        return [inner for inner, outer in self.containing.items() if inner == term or term in outer]


def marginality(part: Part, others: Iterable[Part], codings: Mapping[str, Coding]) -> Marginality:
    """The marginality of a formula's location part; `others` are the parts beside it."""
    categorical = {key for key, coding in codings.items() if isinstance(coding, FactorCoding)}
    keys = {term.label: frozenset(factor.key for factor in term.factors) for term in part.terms}
    return Marginality(
        texts={term.label: term.text for one in (*others, part) for term in one.terms},
        factors=keys,
        containing={
            inner: tuple(outer for outer, other in keys.items() if own < other and other - own <= categorical)
            for inner, own in keys.items()
        },
    )


#: A part, the columns of each of its terms, and its matrix of the rows of a fit.
Coded = tuple[Part, Mapping[str, slice], FloatArray]


def recoded(coded: Sequence[Coded], codings: Mapping[str, Coding], labels: Iterable[str]) -> FloatArray | None:
    """(N, m) columns of a formula of some terms alone, from those of the parts that are coded already.

    A factor's coding depends on the terms beside it: one that is coded by contrasts, because another term has the rest
    of them, is coded by all its levels when that term goes. None where the columns at hand do not span the new ones.

    Parameters
    ----------
    coded : sequence of Coded
    codings : mapping of factor key to Coding
    labels : iterable of str
        Terms of any of the parts.
    """
    known = {term.label: term for part, _, _ in coded for term in part.terms}
    terms = sorted((known[label] for label in labels), key=lambda term: len(term.factors))
    blocks = {
        _block(term, full): matrix[:, slices[term.label]]
        for part, slices, matrix in coded
        for term, full in zip(part.terms, full_codings(part.terms), strict=True)
    }
    new = [np.zeros((len(coded[0][2]), 0))]
    for term, full in zip(terms, full_codings(terms), strict=True):
        columns = blocks.get(_block(term, full))
        if columns is None:
            columns = _combined(coded, codings, term, full)
        if columns is None:
            return None
        new.append(columns)
    return np.hstack(new)


def _block(term: Term, full: Sequence[bool]) -> Block:
    return frozenset(zip((factor.key for factor in term.factors), full, strict=True))


def _combined(
    coded: Sequence[Coded], codings: Mapping[str, Coding], term: Term, full: Sequence[bool]
) -> FloatArray | None:
    """Columns of a term in some coding as combinations of a constant and of all columns; None where they are none."""
    values, n = _grids([other for part, _, _ in coded for other in part.terms], codings)
    old = np.hstack([assemble(part, values, codings, n).matrix for part, _, _ in coded])
    new = np.column_stack([column for _, column in term_columns(term, full, values, codings)])
    change = _change(old, new)
    if np.abs(_with_constant(old) @ change - new).max() > _LEFT * np.abs(new).max():
        return None
    used = change[1:].any(axis=1)
    found = change[0] + np.hstack([matrix for _, _, matrix in coded])[:, used] @ change[1:][used]
    return np.where(np.abs(found) < _ROUNDING * np.abs(found).max(axis=0), 0.0, found)  # scales grow with exp(found)


def hypotheses(part: Part, codings: Mapping[str, Coding], contrasts: Contrasts) -> dict[str, FloatArray]:
    """Term by term, the rows L: L b are the coefficients that the term would have under other contrasts.

    They are the rows of Q in X = 1 q' + S Q for the columns S that these contrasts would give. Where columns depend on
    each other, so that there are many Q, it is one near that of columns which do not change: a term whose columns stay
    what they are is tested by its own coefficients. Empty where there is no Q, as the other coding would be another
    model (interactions whose margins are not in it).
    """
    if not part.terms:
        return {}
    new = {key: _with_contrasts(coding, contrasts) for key, coding in codings.items()}
    values, n = _grids(part.terms, codings)
    now, other = (assemble(part, values, coding, n) for coding in (codings, new))
    same = _alike(now, other)
    change = _change(other.matrix, now.matrix - other.matrix @ same)
    Q = same + change[1:]
    if not np.allclose(other.matrix @ Q + change[0], now.matrix, rtol=0.0, atol=1e-8 * np.abs(now.matrix).max()):
        return {}
    return {term: Q[columns] for term, columns in other.terms.items()}


def _alike(now: Assembled, other: Assembled) -> FloatArray:
    """(D', D) with a one for every column and its counterpart in the other coding, of terms with as many columns."""
    same = np.zeros((other.matrix.shape[1], now.matrix.shape[1]))
    for term, columns in now.terms.items():
        ours, theirs = range(columns.start, columns.stop), range(other.terms[term].start, other.terms[term].stop)
        if len(ours) == len(theirs):
            same[theirs, ours] = 1.0
    return same


def _with_contrasts(coding: Coding, contrasts: Contrasts) -> Coding:
    if not isinstance(coding, FactorCoding):
        return coding
    matrix, suffixes = contrasts(coding.levels)
    return replace(coding, matrix=matrix, suffixes=suffixes)


def _change(old: FloatArray, new: FloatArray) -> FloatArray:
    """(1 + D, m) M in new = [1, old] M, by least squares; whole numbers and zeros without rounding."""
    M = np.linalg.lstsq(_with_constant(old), new, rcond=None)[0]
    whole = np.rint(M)
    return np.asarray(np.where(np.abs(M - whole) < _ROUNDING * np.abs(M).max(initial=1.0), whole, M))


def _with_constant(columns: FloatArray) -> FloatArray:
    return np.hstack([np.ones((len(columns), 1)), columns])


def _grids(terms: Sequence[Term], codings: Mapping[str, Coding]) -> tuple[dict[str, Value], int]:
    """Values of all factors that tell the columns of all terms apart, and how many rows they are.

    Columns are functions of the factors of a term: what a combination of them is worth everywhere is known from a full
    grid of each term's own factors, with all other factors at their first level and all other numbers at 0. Numbers
    have as many random values as tell their products apart, at most as many as there are products in the model.
    """
    owned = [{factor.key for factor in term.factors} for term in terms]
    keys = list(dict.fromkeys(factor.key for term in terms for factor in term.factors))
    n_levels = {key: len(c.levels) if isinstance(c := codings[key], FactorCoding) else 1 for key in keys}
    widths = {key: 0 if isinstance(c := codings[key], FactorCoding) else c.width or 1 for key in keys}
    most = 1 + sum(prod(widths[key] or 1 for key in own) for own in owned)
    grids = []
    for own in owned:  # all combinations of the term's levels, repeated
        repeats = min(most, prod(1 + widths[key] for key in own))
        combinations = product(*(range(n_levels[key] if key in own else 1) for key in keys), range(repeats))
        grids.append(np.array([levels[:-1] for levels in combinations], dtype=np.intp))
    levels = np.vstack(grids)
    rng = np.random.default_rng(0)
    values: dict[str, Value] = {}
    for place, key in enumerate(keys):
        coding = codings[key]
        if isinstance(coding, FactorCoding):
            values[key] = Factor(codes=levels[:, place], levels=coding.levels)
        else:
            numbers = rng.standard_normal((len(levels), coding.width or 1))
            numbers *= np.repeat([key in own for own in owned], [len(grid) for grid in grids])[:, None]
            values[key] = numbers[:, 0] if coding.width is None else numbers
    return values, len(levels)

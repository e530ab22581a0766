"""Changes of coding: the columns that other terms or other contrasts would give, as combinations of those at hand."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from .._typing import FloatArray
from .coding import Assembled, Coding, FactorCoding, assemble, full_codings, term_columns
from .columns import Factor, Value
from .expressions import Expression
from .parse import Part, Term

#: Contrast matrix and column names of some levels.
Contrasts = Callable[[tuple[Any, ...]], tuple[FloatArray, tuple[str, ...]]]
#: What the columns of a term are, whatever formula it stands in: its factors, and which are coded by all levels.
Block = frozenset[tuple[str, bool]]
#: Entries of a change of coding are known to this share of the largest.
_ROUNDING = 1e-12
#: What a change of coding may leave unexplained.
_LEFT = 1e-8


@dataclass(frozen=True, eq=False)
class Coded:
    """A part with its matrix of the rows of a fit, and the columns of each term."""

    part: Part
    terms: Mapping[str, slice]
    matrix: FloatArray

    def blocks(self) -> dict[Block, FloatArray]:
        """The columns of each term."""
        flagged = zip(self.part.terms, full_codings(self.part.terms), strict=True)
        return {_block(term, full): self.matrix[:, self.terms[term.label]] for term, full in flagged}


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
    known = {term.label: term for one in coded for term in one.part.terms}
    terms = sorted((known[label] for label in labels), key=lambda term: len(term.factors))
    at_hand = {block: columns for one in coded for block, columns in one.blocks().items()}
    found = [np.zeros((coded[0].matrix.shape[0], 0))]
    for term, full in zip(terms, full_codings(terms), strict=True):
        columns = at_hand.get(_block(term, full))
        if columns is None:
            columns = _combined(coded, codings, term, full)
        if columns is None:
            return None
        found.append(columns)
    return np.hstack(found)


def _block(term: Term, full: Sequence[bool]) -> Block:
    return frozenset(zip((factor.key for factor in term.factors), full, strict=True))


def _combined(
    coded: Sequence[Coded], codings: Mapping[str, Coding], term: Term, full: Sequence[bool]
) -> FloatArray | None:
    """Columns of a term in some coding as combinations of a constant and of all columns; None where they are none."""
    values, n = _grids([other for one in coded for other in one.part.terms], codings)
    old = np.hstack([assemble(one.part, values, codings, n).matrix for one in coded])
    new = np.column_stack([column for _, column in term_columns(term, full, values, codings)])
    change = _change(old, new)
    if np.abs(_with_constant(old) @ change - new).max() > _LEFT * np.abs(new).max():
        return None
    used = change[1:].any(axis=1)
    return np.asarray(change[0] + np.hstack([one.matrix for one in coded])[:, used] @ change[1:][used])


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
    grid of each term's own factors, with all other factors at their first level and all other numbers at 0.
    """
    terms = list(terms)
    factors = {factor.key: factor for term in terms for factor in term.factors}
    rng = np.random.default_rng(0)
    most = 1 + sum(_products([factor.key for factor in term.factors], codings, 0) for term in terms)
    grids = [_grid(term, factors, codings, rng, most) for term in terms]
    return {key: _joined([grid[key] for grid in grids]) for key in factors}, sum(
        _length(next(iter(grid.values()))) for grid in grids
    )


def _grid(
    term: Term, factors: Mapping[str, Expression], codings: Mapping[str, Coding], rng: np.random.Generator, most: int
) -> dict[str, Value]:
    """All level combinations of a term's factors, with as many random values of its numbers as tell them apart.

    The products of its numbers are so many; `most` is how many of all numbers there are in the model.
    """
    own = {factor.key for factor in term.factors}
    levels = [range(_n_levels(codings[key])) if key in own else range(1) for key in factors]
    repeats = min(most, _products(own, codings, 1))
    rows = np.array(list(product(*levels, range(repeats))))
    values: dict[str, Value] = {}
    for place, key in enumerate(factors):
        coding = codings[key]
        if isinstance(coding, FactorCoding):
            values[key] = Factor(codes=rows[:, place].astype(np.intp), levels=coding.levels)
        else:
            shape = (len(rows),) if coding.width is None else (len(rows), coding.width)
            values[key] = rng.standard_normal(shape) if key in own else np.zeros(shape)
    return values


def _products(keys: Iterable[str], codings: Mapping[str, Coding], without: int) -> int:
    """How many products take a column of each number among the factors, or (`without` = 1) of some of them."""
    return math.prod(without + (_width(codings[key]) or 1 - without) for key in keys)


def _n_levels(coding: Coding) -> int:
    return len(coding.levels) if isinstance(coding, FactorCoding) else 1


def _width(coding: Coding) -> int:
    """Columns of a number, 0 of a factor."""
    return 0 if isinstance(coding, FactorCoding) else (coding.width or 1)


def _length(value: Value) -> int:
    return value.codes.size if isinstance(value, Factor) else value.shape[0]


def _joined(values: list[Value]) -> Value:
    """Values of the same factor, one after the other."""
    first = values[0]
    if isinstance(first, Factor):
        return replace(first, codes=np.concatenate([value.codes for value in values if isinstance(value, Factor)]))
    return np.concatenate([value for value in values if not isinstance(value, Factor)])

"""What follows from the terms of a formula: which contain which, and the columns of other terms or contrasts.

These columns are found as combinations of those at hand.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from .._typing import FloatArray, IntArray
from .coding import Assembled, Coding, FactorCoding, assemble, full_codings, term_columns
from .columns import Factor, Value
from .parse import Part, Term

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


def independent(names: tuple[str, ...]) -> Marginality:
    """Numeric columns without a formula: each a term of its own."""
    return Marginality(
        texts={name: f"`{name}`" for name in names},
        factors={name: frozenset([name]) for name in names},
        containing=dict.fromkeys(names, ()),
    )


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
    found = change[0] + np.hstack([one.matrix for one in coded])[:, used] @ change[1:][used]
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
    most = 1 + sum(_products(own, codings, 0) for own in owned)
    grids = [_grid(own, keys, codings, min(most, _products(own, codings, 1))) for own in owned]
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


def _grid(own: Collection[str], keys: Iterable[str], codings: Mapping[str, Coding], repeats: int) -> IntArray:
    """(rows, keys) all level combinations of a term's own factors, repeated; 0 for other factors and for numbers."""
    levels = [range(_n_levels(codings[key])) if key in own else range(1) for key in keys]
    return np.array([combination[:-1] for combination in product(*levels, range(repeats))], dtype=np.intp)


def _products(keys: Iterable[str], codings: Mapping[str, Coding], without: int) -> int:
    """How many products take a column of each number among the factors, or (`without` = 1) of some of them."""
    return math.prod(without + (_width(codings[key]) or 1 - without) for key in keys)


def _n_levels(coding: Coding) -> int:
    return len(coding.levels) if isinstance(coding, FactorCoding) else 1


def _width(coding: Coding) -> int:
    """Columns of a number, 0 of a factor."""
    return 0 if isinstance(coding, FactorCoding) else (coding.width or 1)

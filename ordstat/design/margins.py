"""Which terms of a formula contain which, and the coding in which main effects average over the levels of the rest."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from .._typing import FloatArray
from .coding import Coding, FactorCoding, assemble
from .columns import Factor, Value
from .contrasts import deviation, treatment
from .expressions import Expression
from .parse import Part, Term

#: Contrast matrix and column names of some levels.
Contrasts = Callable[[tuple[Any, ...]], tuple[FloatArray, tuple[str, ...]]]
#: Entries of a change of coding below this share of the largest are rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False, kw_only=True)
class Margins:
    """How the terms of a location formula lie in each other.

    Attributes
    ----------
    texts : mapping of term to str
        Each term as a formula writes it.
    factors : mapping of term to frozenset of str
        What each term is a product of.
    containing : mapping of term to tuple of str
        Terms with the same numeric variables and further categorical ones [SAS: effects that contain an effect].
    balanced, baseline : mapping of term to (h, D)
        Contrasts L: L b are the coefficients that the term would have with all factors coded by sum-to-zero, or by
        treatment contrasts: its effect averaged over the levels of the rest, or at their first levels.
    """

    texts: Mapping[str, str]
    factors: Mapping[str, frozenset[str]]
    containing: Mapping[str, tuple[str, ...]]
    balanced: Mapping[str, FloatArray]
    baseline: Mapping[str, FloatArray]

    def droppable(self) -> list[str]:
        """Terms that are part of no other term."""
        return [term for term, own in self.factors.items() if not any(own < other for other in self.factors.values())]

    def margins_of(self, term: str) -> list[str]:
        """The terms that a term contains, and the term itself."""
        return [inner for inner, outer in self.containing.items() if inner == term or term in outer]


def independent(names: tuple[str, ...]) -> Margins:
    """Numeric columns without a formula: each a term of its own."""
    own = {name: np.eye(len(names))[j : j + 1] for j, name in enumerate(names)}
    return Margins(
        texts={name: f"`{name}`" for name in names},
        factors={name: frozenset([name]) for name in names},
        containing=dict.fromkeys(names, ()),
        balanced=own,
        baseline=own,
    )


def margins(part: Part, codings: Mapping[str, Coding]) -> Margins:
    """The margins of a formula's location part."""
    categorical = {key for key, coding in codings.items() if isinstance(coding, FactorCoding)}
    keys = {term.label: frozenset(factor.key for factor in term.factors) for term in part.terms}
    return Margins(
        texts={term.label: ":".join(factor.text for factor in term.factors) for term in part.terms},
        factors=keys,
        containing={
            inner: tuple(outer for outer, other in keys.items() if own < other and other - own <= categorical)
            for inner, own in keys.items()
        },
        balanced=_recoded(part, codings, deviation),
        baseline=_recoded(part, codings, treatment),
    )


def _recoded(part: Part, codings: Mapping[str, Coding], contrasts: Contrasts) -> dict[str, FloatArray]:
    """The rows of Q, term by term, in X = 1 q' + S Q for the columns S that other contrasts would give.

    Both codings are functions of the same factors; a term's share is known from a full grid of its own factors with
    all other factors at their first level and all other numbers at 0.
    """
    if not part.terms:
        return {}
    new = {key: _with_contrasts(coding, contrasts) for key, coding in codings.items()}
    factors = {factor.key: factor for term in part.terms for factor in term.factors}
    rng = np.random.default_rng(0)
    most = 1 + sum(_products([factor.key for factor in term.factors], codings, 0) for term in part.terms)
    grids = [_grid(term, factors, codings, rng, most) for term in part.terms]
    values = {key: _joined([grid[key] for grid in grids]) for key in factors}
    n = sum(_length(next(iter(grid.values()))) for grid in grids)
    now, other = (assemble(part, values, coding, n) for coding in (codings, new))
    ones = np.ones((n, 1))
    Q = np.linalg.lstsq(np.hstack([ones, other.matrix]), np.hstack([ones, now.matrix]), rcond=None)[0][1:, 1:]
    Q = np.where(np.abs(Q) < _ROUNDING * np.abs(Q).max(initial=0.0), 0.0, Q)
    return {term: Q[columns] for term, columns in other.terms.items()}


def _with_contrasts(coding: Coding, contrasts: Contrasts) -> Coding:
    if not isinstance(coding, FactorCoding):
        return coding
    matrix, suffixes = contrasts(coding.levels)
    return replace(coding, matrix=matrix, suffixes=suffixes)


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

"""Marginality of formula terms, and their hypotheses under other contrasts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from .._typing import FloatArray
from ..formula.coding import KINDS, Coding, full_codings, model_matrix
from ..formula.columns import Factor, Value
from ..formula.design import Design
from ..formula.parse import Term
from ..formula.spec import FormulaSpec

#: Rounding error in the entries of a change of coding, relative to the largest.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False, kw_only=True)
class Marginality:
    """Which terms of a location formula contain which other terms.

    Attributes
    ----------
    texts : mapping of term to str
        Formula text of each term, including terms of nominal= and scale=.
    factors : mapping of term to frozenset of str
        Factors whose product is the term.
    containing : mapping of term to tuple of str
        Terms with the same numeric variables and more categorical ones [SAS: effects
        that contain an effect].
    """

    texts: Mapping[str, str]
    factors: Mapping[str, frozenset[str]]
    containing: Mapping[str, tuple[str, ...]]

    def droppable(self) -> list[str]:
        """Terms that are not part of another term."""
        return [
            term
            for term, keys in self.factors.items()
            if not any(keys < other for other in self.factors.values())
        ]

    def margins_of(self, term: str) -> list[str]:
        """The term, and all terms whose factors (numeric ones too) are among its
        factors.

        Centring a numeric variable turns part of a term into these.
        """
        if term not in self.factors:  # a term of nominal= or scale= alone
            return [term]
        return [
            inner for inner, keys in self.factors.items() if keys <= self.factors[term]
        ]


def marginality_of(spec: FormulaSpec) -> Marginality:
    """The marginality of the location terms of a formula."""
    categorical = {key for key, coding in spec.codings.items() if coding.levels}
    factors = {term.label: frozenset(term.keys) for term in spec.location.terms}
    containing = {}
    for inner, keys in factors.items():
        wider = [outer for outer, other in factors.items() if keys < other]
        containing[inner] = tuple(
            [outer for outer in wider if factors[outer] - keys <= categorical]
        )
    texts = {}
    for side in reversed(spec.sides):
        for term in side.terms:
            texts[term.label] = term.text
    return Marginality(texts=texts, factors=factors, containing=containing)


def columns_of_terms(design: Design, labels: Iterable[str]) -> FloatArray | None:
    """(N, m) columns of a formula with only these terms, taken from the columns of all
    formulas of a design.

    None if that formula would code a factor differently, such as by all its levels
    after a term was removed.
    """
    spec = design.spec
    rows = design.sample.rows
    sides = (
        (spec.location, design.terms, rows.X),
        (spec.nominal, design.nominal_terms, rows.nominal),
        (spec.scale, design.scale_terms, rows.scale),
    )
    coded = [(part, slices, X) for part, slices, X in sides if part and X is not None]
    terms = {term.label: term for part, _, _ in coded for term in part.terms}
    blocks = {
        (term, full): matrix[:, slices[term.label]]
        for part, slices, matrix in coded
        for term, full in zip(part.terms, full_codings(part.terms), strict=True)
    }
    chosen = sorted(
        (terms[label] for label in labels), key=lambda term: len(term.factors)
    )
    columns = [
        blocks.get(block) for block in zip(chosen, full_codings(chosen), strict=True)
    ]
    if any(block is None for block in columns):
        return None
    return np.hstack(
        [
            np.zeros((len(coded[0][2]), 0)),
            *(block for block in columns if block is not None),
        ]
    )


def recoded_hypotheses(spec: FormulaSpec, kind: str) -> dict[str, FloatArray]:
    """For each term, L (rows, P) such that L b are the coefficients of the term under
    contrasts of another kind.

    They are the rows of Q in X = 1 q' + S Q, with S the columns under these contrasts.
    If columns are collinear, Q is not unique, and the Q closest to the identity is
    used, so that a term whose columns do not change is tested by its own coefficients.
    Empty if there is no Q, because the other coding gives another model (interactions
    without main effects).
    """
    part = spec.location
    contrasts = KINDS[kind]
    if not part.terms:
        return {}
    codings = {key: spec.codings[key] for key in part.factors}
    other_codings = dict(codings)
    for key, coding in codings.items():
        if coding.levels:
            matrix, suffixes = contrasts(coding.levels)
            other_codings[key] = replace(coding, matrix=matrix, suffixes=suffixes)
    values, n = _grids(part.terms, codings)
    now, other = (
        model_matrix(part, values, coding, n) for coding in (codings, other_codings)
    )
    same = np.zeros((other.matrix.shape[1], now.matrix.shape[1]))
    for term, columns in now.terms.items():
        width = columns.stop - columns.start
        theirs = other.terms[term]
        if theirs.stop - theirs.start == width:
            same[theirs, columns] = np.eye(width)
    S = np.hstack([np.ones((n, 1)), other.matrix])
    change = np.linalg.lstsq(S, now.matrix - other.matrix @ same, rcond=None)[0]
    whole = np.rint(change)
    change = np.where(
        np.abs(change - whole) < _ROUNDING * np.abs(change).max(initial=1.0),
        whole,
        change,
    )
    change[1:] += same
    if not np.allclose(
        S @ change, now.matrix, rtol=0.0, atol=1e-8 * np.abs(now.matrix).max()
    ):
        return {}
    return {
        term: np.asarray(change[1:][columns]) for term, columns in other.terms.items()
    }


def _grids(
    terms: Sequence[Term], codings: Mapping[str, Coding]
) -> tuple[dict[str, Value], int]:
    """Values of all factors that distinguish the columns of all terms, and the number
    of rows.

    Columns are functions of the factors of a term, so a full grid of the factors of
    each term, with all other factors at their first level, distinguishes them. Numbers
    are random, with enough rows to distinguish their products, and at most as many rows
    as the model has products.
    """
    keys = dict.fromkeys(key for term in terms for key in term.keys)
    widths = {
        key: 0 if codings[key].levels else len(codings[key].suffixes) for key in keys
    }
    most = 1 + sum(prod(widths[key] or 1 for key in term.keys) for term in terms)
    grids = []
    for term in terms:  # all combinations of the term's levels, repeated
        sizes = [
            max(len(codings[key].levels), 1) if key in term.keys else 1 for key in keys
        ]
        repeats = min(most, prod(1 + widths[key] for key in term.keys))
        grids.append(np.indices((*sizes, repeats)).reshape(len(sizes) + 1, -1)[:-1])
    levels = np.hstack(grids)
    rng = np.random.default_rng(0)
    values: dict[str, Value] = {}
    for codes, (key, width) in zip(levels, widths.items(), strict=True):
        numbers = rng.standard_normal((levels.shape[1], width))
        if width == 0:
            values[key] = Factor(codes=codes, levels=codings[key].levels)
        elif width == 1:
            values[key] = numbers[:, 0]
        else:
            values[key] = numbers
    return values, levels.shape[1]

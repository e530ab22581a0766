"""Marginality of formula terms, hypotheses under other contrasts, and equations between
parameters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np
import pandas as pd

from .._typing import FloatArray
from ..checks import did_you_mean
from ..exceptions import DataError, FormulaError, OptionError
from ..formula.coding import KINDS, Coding, assemble, full_codings
from ..formula.columns import Columns, Factor, Value
from ..formula.design import Design
from ..formula.factors import Interpreter
from ..formula.parse import Term, parse_expression
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
        """The term and those whose factors are all among its own, numeric ones too.

        Moving the origin of a numeric variable turns part of a term into these.
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
    containing = {
        inner: tuple(
            outer
            for outer, other in factors.items()
            if keys < other and other - keys <= categorical
        )
        for inner, keys in factors.items()
    }
    texts = {
        term.label: term.text for side in reversed(spec.parts) for term in side.terms
    }
    return Marginality(texts=texts, factors=factors, containing=containing)


def columns_of(design: Design, labels: Iterable[str]) -> FloatArray | None:
    """(N, m) columns of a formula with these terms alone, taken from the columns of all
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
    used: a term whose columns do not change is tested by its own coefficients. Empty if
    there is no Q, because the other coding gives another model (interactions without
    their margins).
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
        assemble(part, values, coding, n) for coding in (codings, other_codings)
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
        factor = Factor(codes=codes, levels=codings[key].levels)
        values[key] = factor if not width else numbers[:, 0] if width == 1 else numbers
    return values, levels.shape[1]


def read_equations(
    text: str, names: Mapping[str, int], size: int
) -> list[tuple[str, FloatArray, float]]:
    """Read equations separated by commas or line ends: text, row and value of row'b =
    value, for the parameters b.

    Parameters
    ----------
    text : str
        Numbers, names, + - * / and parentheses. Names may have any characters; the
        longest matching name is taken.
    names : mapping of name to position
    size : int
        Number of parameters.

    Raises
    ------
    OptionError
        An equation that cannot be read, is not linear, or contains no parameter.

    Examples
    --------
    >>> text, row, value = read_equations("2 * x1 - x2 = 3", {"x1": 0, "x2": 1}, 2)[0]
    >>> row.tolist(), value
    ([2.0, -1.0], 3.0)
    """
    patterns = []
    for name in sorted(names, key=len, reverse=True):
        patterns.append(
            re.escape(name) + (r"(?![\w\[|.])" if re.match(r"\w", name[-1]) else "")
        )
    anywhere = re.compile(rf"(?<!\w)(?:{'|'.join(patterns) or '(?!)'})")
    code = anywhere.sub(lambda name: f"parameter_{names[name[0]]}_", text)
    if not code.strip(", \n"):
        raise OptionError(f"hypotheses must not be empty; got {text!r}.")
    return [
        _equation(piece.strip(), names, size)
        for piece in re.split(r"[,\n]", code)
        if piece.strip()
    ]


def _equation(
    code: str, names: Mapping[str, int], size: int
) -> tuple[str, FloatArray, float]:
    """Read one equation from its values at b = 0, each unit vector and a random b,
    which checks that it is linear.
    """
    columns = {f"parameter_{position}_": name for name, position in names.items()}
    text = re.sub(r"parameter_\d+_", lambda column: columns[column[0]], code)
    available = (
        f"The parameters are {', '.join(names)}."
        if names
        else "There are no parameters."
    )
    left, *rest = re.split(r"(<=|>=|==|=|<|>)", code)
    sign = " ".join(rest[::2]).replace("==", "=")
    points = np.vstack(
        [np.zeros(size), np.eye(size), np.random.default_rng(0).standard_normal(size)]
    )
    try:
        difference = parse_expression(f"({left}) - ({rest[1] if rest else 0})")
        if unknown := sorted(difference.names - set(columns)):
            hint = did_you_mean(unknown[0], names)
            raise OptionError(
                f"{text!r}: expected a number or a parameter, got {unknown[0]!r}.{hint}"
                f" {available}"
            )
        if sign != "=":
            raise OptionError(f"{text!r}: expected '=', got {sign or 'no sign'!r}.")
        frame = pd.DataFrame(
            {column: points[:, names[name]] for column, name in columns.items()}
        )
        values = np.asarray(
            Interpreter(Columns(frame), {}).evaluate(difference)[0], dtype=float
        )
    except (FormulaError, DataError):
        raise OptionError(
            f"{text!r} cannot be read: expected a sum of numbers times parameters."
            f" {available}"
        ) from None
    if not np.isfinite(values).all() or not np.isclose(
        points[-1] @ (values[1:-1] - values[0]), values[-1] - values[0]
    ):
        raise OptionError(
            f"{text!r} is not linear in the parameters, or divides by zero."
        )
    row = values[1:-1] - values[0]
    if not row.any():
        raise OptionError(f"{text!r} does not depend on any parameter.")
    return text, row, -float(values[0])

"""The fitted recipe of a design: the same columns for new data."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from operator import or_
from typing import Any

import numpy as np
import pandas as pd

from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from ..exceptions import DataError
from ..model.random_effects import RandomRows
from ..model.sample import Rows
from ..model.table import stack
from .coding import NOTHING, Assembled, Coding, FactorCoding, NumberCoding, assemble
from .columns import Columns, Factor, Value, read, take, with_gaps
from .contrasts import KINDS
from .design import Design, NewRows
from .expressions import Expression, coded_column, dotted_name, variables
from .frames import as_frame, find_column, has_column, refuse, shown_labels
from .inputs import cost_matrix
from .interpreter import Interpreter
from .parse import Part, RandomPart
from .random_terms import RandomTerm
from .response import known_codes
from .terms import Coded, Marginality, hypotheses, marginality, recoded
from .transforms.named import Transform

#: Up to so many entries a copy costs less than a look at each column.
_SMALL = 1 << 20


@dataclass(frozen=True)
class Parts:
    """The right-hand sides of a model by role; None where not asked for."""

    location: Part
    nominal: Part | None = None
    scale: Part | None = None

    def all(self) -> list[Part]:
        return [part for part in (self.location, self.nominal, self.scale) if part is not None]

    def factors(self) -> dict[str, Expression]:
        """Every factor of every term, random ones too, once."""
        every = [*self.all(), *(random.columns for random in self.random)]
        return {factor.key: factor for part in every for term in part.terms for factor in term.factors}

    @property
    def random(self) -> tuple[RandomPart, ...]:
        """The random terms."""
        return self.location.random

    def groups(self) -> dict[str, Expression]:
        """The factors whose values make the groups of random terms."""
        return {factor.key: factor for random in self.random for factor in random.group.factors}

    def gapped(self, na_action: str) -> frozenset[str]:
        """Keys of the factors that may be missing: those of the location terms under "keep", else none."""
        terms = self.location.terms if na_action == "keep" else ()
        return frozenset(factor.key for term in terms for factor in term.factors)

    def offsets(self) -> dict[str, Expression]:
        return {offset.key: offset for part in self.all() for offset in part.offsets}


def evaluate(
    expressions: Mapping[str, Expression],
    interpreter: Interpreter,
    index: pd.Index,
    gapped: Collection[str] = (),
) -> tuple[dict[str, Value], dict[str, BoolArray], tuple[str, ...]]:
    """Values of all expressions by key, the missing rows of the columns they came from, and those columns.

    A NaN or infinity made from values that are neither raises DataError. Values of the keys `gapped` are NaN where a
    column of theirs is missing, and these rows are not counted as missing.
    """
    values: dict[str, Value] = {}
    missing: dict[str, BoolArray] = {}
    columns: dict[str, None] = {}
    for key, expression in expressions.items():
        value, names, unknown = interpreter.evaluate(expression)
        if key not in names:
            _check_created(value, expression.label, unknown, index)
        columns |= dict.fromkeys(names)
        if key in gapped:
            values[key] = with_gaps(value, unknown)
            continue
        masks = {name: interpreter.columns[name].missing for name in names}
        missing |= {name: mask for name, mask in masks.items() if mask is not None}
        values[key] = value
    return values, missing, tuple(columns)


def _check_created(value: Value, label: str, missing: BoolArray | None, index: pd.Index) -> None:
    if isinstance(value, Factor) or value.dtype.kind != "f":
        return
    bad = ~np.isfinite(value if value.ndim == 1 else value.sum(axis=1))
    if missing is not None:
        bad &= ~missing
    rest = " although its columns are: change the term, or set those rows missing (NaN) to leave them out."
    refuse(bad, index, repr(label), "not finite", rest)


def matrices(
    parts: Parts, values: Mapping[str, Value], codings: Mapping[str, Coding], n: int
) -> tuple[Rows, Assembled, Assembled, Assembled]:
    """Rows of all roles from complete values, and the matrices of location, nominal and scale effects with names."""

    def role(part: Part | None) -> Assembled:
        return assemble(part, values, codings, n) if part is not None and part.terms else NOTHING

    location = assemble(parts.location, values, codings, n)
    nominal, scale = role(parts.nominal), role(parts.scale)
    rows = Rows(
        X=location.matrix,
        offset=_total(parts.location, values),
        nominal=nominal.matrix if nominal.names else None,
        scale=scale.matrix if scale.names else None,
        scale_offset=None if parts.scale is None else _total(parts.scale, values),
    )
    return rows, location, nominal, scale


def _total(part: Part, values: Mapping[str, Value]) -> FloatArray | None:
    """Sum of the offsets of a part, None where it has none."""
    if not part.offsets:
        return None
    found = [(offset, values[offset.key]) for offset in part.offsets]
    for offset, value in found:
        if isinstance(value, Factor) or value.ndim != 1:
            raise DataError(f"offset({offset.label}) must be one column of numbers.")
    return np.asarray(sum(np.asarray(value, dtype=float) for _, value in found))


@dataclass(frozen=True, eq=False, kw_only=True)
class FormulaSpec:
    """Rebuilds the columns of a formula [Spec].

    Attributes
    ----------
    parts : Parts
    codings : mapping of factor key to Coding
    states : mapping of call to fitted transform
    columns : tuple of str
        What the right-hand sides need of new data.
    declared : mapping of column to Factor
        The factor columns, without rows.
    response_name : str
    levels : tuple
        Labels of the response, lowest first.
    context : mapping or None
        Names open to an unsafe formula.
    cost_names : tuple of str or None
    random : tuple of RandomTerm
    array_offset : bool
        Whether the fit had an offset given as an array, which new data cannot supply.
    na_action : str
        With "keep" rows with a missing value of a location term are complete.
    """

    parts: Parts
    codings: Mapping[str, Coding]
    states: Mapping[str, Transform]
    columns: tuple[str, ...]
    declared: Mapping[str, Factor]
    response_name: str
    levels: tuple[Any, ...]
    context: Mapping[str, Any] | None = None
    cost_names: tuple[str, ...] | None = None
    random: tuple[RandomTerm, ...] = ()
    array_offset: bool = field(default=False)
    na_action: str = "omit"

    def categories(self) -> dict[str, tuple[Any, ...]]:
        """Levels of the columns that are factors of the formula, alone or by C()."""
        found: dict[str, tuple[Any, ...]] = {}
        for key, expression in self.parts.factors().items():
            coding, name = self.codings[key], coded_column(expression.tree)
            if isinstance(coding, FactorCoding) and name is not None:
                found.setdefault(name, coding.levels)
        return found

    def rebuild(self, data: Any, without: frozenset[str] = frozenset()) -> NewRows:
        """Model matrices of new data, incomplete rows flagged.

        Parameters
        ----------
        data : data frame
        without : frozenset of str
            Random terms whose groups are not looked at: all are new, and none is missing.

        Raises
        ------
        DataError
            For a missing column, a level the fit has not seen, or a term that is not finite.
        """
        if self.array_offset:
            raise DataError(
                "The fit had offset= given as an array, which new data cannot supply: give it as a column name, or "
                "write offset(...) in the formula."
            )
        frame = as_frame(data)
        X = _plain_matrix(frame, self._plain) if self._plain else None
        if X is not None:
            return NewRows(rows=Rows(X=X), complete=np.ones(len(frame), dtype=bool), index=frame.index)
        return self._evaluated(frame, without)

    @cached_property
    def _plain(self) -> tuple[str, ...]:
        """The columns of a model whose terms are each one column of numbers, in their order; empty for any other."""
        part, names = self.parts.location, []
        for term in part.terms:
            name = dotted_name(term.factors[0].tree)
            if len(term.factors) > 1 or name is None or not isinstance(self.codings[term.factors[0].key], NumberCoding):
                return ()
            names.append(name)
        return () if part.offsets or part.random or self.parts.nominal or self.parts.scale else tuple(names)

    def _evaluated(self, frame: pd.DataFrame, without: frozenset[str]) -> NewRows:
        self._check_columns(frame)
        interpreter = Interpreter(Columns(frame, self.declared, self.categories), dict(self.states), self.context)
        known = {term: term.text not in without and self._has_groups(term, frame) for term in self.random}
        groups = {f.key: f for term, at_hand in known.items() if at_hand for f in term.part.group.factors}
        expressions, gapped = self.parts.factors() | self.parts.offsets() | groups, self.parts.gapped(self.na_action)
        values, missing, _ = evaluate(expressions, interpreter, frame.index, gapped)
        complete = np.ones(len(frame), dtype=bool)
        if missing:
            complete = ~reduce(or_, missing.values())
            values = {key: take(value, complete) for key, value in values.items()}
        n = int(complete.sum())
        rows, *_ = matrices(self.parts, values, self.codings, n)
        random = [
            term.columns(values, self.codings, term.codes(values) if at_hand else np.full(n, -1, dtype=np.intp))
            for term, at_hand in known.items()
        ]
        rows = replace(rows, random=RandomRows(tuple(random))) if random else rows
        return NewRows(rows=rows, complete=complete, index=frame.index)

    def _has_groups(self, term: RandomTerm, frame: pd.DataFrame) -> bool:
        """Whether the columns that make the groups of a random term are there; else every group is a new one."""
        names = [name for factor in term.part.group.factors for name in variables(factor.tree)]
        return all(has_column(frame, name) for name in names)

    def _check_columns(self, frame: pd.DataFrame) -> None:
        absent = [name for name in self.columns if not has_column(frame, name)]
        if absent:
            raise DataError(
                f"The new data have no column {shown_labels(absent)}; the model needs {shown_labels(self.columns, 60)}."
            )

    def response(self, data: Any) -> IntArray:
        """(N,) codes of the response in new data, -1 where missing.

        Raises
        ------
        DataError
            For a missing column or a level the fit has not seen.
        """
        column = find_column(as_frame(data), self.response_name, "the response")
        return known_codes(read(column), self.response_name, self.levels)

    def costs(self, data: Any, n_levels: int) -> FloatArray | None:
        """(N, K) costs in new data; None where the fit did not take them by column name, or the data have them not.

        None, too, where a declared level had no rows in the fit: its column is there as well.
        """
        frame = as_frame(data)
        names = self.cost_names
        if names is None or len(names) != n_levels or not all(has_column(frame, name) for name in names):
            return None
        return cost_matrix(list(names), frame, None, frame.index)

    def marginality(self) -> Marginality:
        """Which location terms contain which."""
        others = (part for part in (self.parts.nominal, self.parts.scale) if part is not None)
        return marginality(self.parts.location, others, self._location_codings())

    def variables(self) -> dict[str, frozenset[str]]:
        """Columns of the data in each term of any part."""
        return {
            term.label: frozenset().union(*(factor.names for factor in term.factors)) & frozenset(self.columns)
            for part in self.parts.all()
            for term in part.terms
        }

    def linear_in(self, name: str) -> bool:
        """Whether a number enters the columns as it is, alone or times others, and in no transform."""
        trees = [one.tree for one in (self.parts.factors() | self.parts.offsets()).values()]
        return all(dotted_name(tree) == name for tree in trees if name in variables(tree))

    def hypotheses(self, contrasts: str) -> dict[str, FloatArray]:
        """Term by term, the rows L: L b are its coefficients if all factors had these contrasts."""
        return hypotheses(self.parts.location, self._location_codings(), KINDS[contrasts])

    def recoded(self, design: Design, terms: Iterable[str]) -> FloatArray | None:
        """(N, m) columns of a formula of these terms alone, from those of the design; None where they do not tell."""
        rows, parts = design.sample.rows, self.parts
        roles = (
            (parts.location, design.terms, rows.X),
            (parts.nominal, design.nominal_terms, rows.nominal),
            (parts.scale, design.scale_terms, rows.scale),
        )
        coded = [Coded(part, slices, X) for part, slices, X in roles if part is not None and X is not None]
        return recoded(coded, self.codings, terms)

    def _location_codings(self) -> dict[str, Coding]:
        return {factor.key: self.codings[factor.key] for term in self.parts.location.terms for factor in term.factors}


def _plain_matrix(frame: pd.DataFrame, names: tuple[str, ...]) -> FloatArray | None:
    """(N, D) of columns of finite numbers; None where a column is missing, of another kind or not finite.

    Looking up one column of a frame after another costs more than a batch of a thousand rows takes to learn. Here they
    are taken together, and the sums of squares that come with their matrix tell whether every number is finite.
    """
    try:
        places = [frame.columns.get_loc(name) for name in names]
    except KeyError:
        return None
    if not all(isinstance(place, int) for place in places):  # several columns of one name
        return None
    positions = np.array(places, dtype=np.intp)
    if not all(isinstance(dtype, np.dtype) and dtype.kind in "iuf" for dtype in frame.dtypes.to_numpy()[positions]):
        return None
    matrix, squares = stack(_taken(frame, positions), len(frame))
    return matrix if np.isfinite(squares).all() else None  # numbers too large to square get the longer look


def _taken(frame: pd.DataFrame, positions: IntArray) -> list[AnyArray]:
    """The columns at these positions."""
    if len(frame) * positions.size <= _SMALL:
        return list(frame.take(positions, axis=1).to_numpy(dtype=float).T)
    return [frame.iloc[:, position].to_numpy() for position in positions]

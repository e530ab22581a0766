"""The specification of a fit: makes the same columns from new data."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._typing import BoolArray, FloatArray, IntArray
from ..checks import refuse, shown_labels
from ..exceptions import DataError
from .coding import (
    Coding,
    ModelMatrix,
    full_codings,
    model_matrix,
    side_names,
    term_names,
)
from .columns import (
    Columns,
    Factor,
    Value,
    as_frame,
    find_column,
    read,
    take,
    with_gaps,
)
from .factors import Interpreter, Transform, learns
from .inputs import known_codes
from .names import ColumnName, coded_variable, shown_term
from .parse import Expression, Side, Term, dotted_name, partial_call, unquoted
from .random_rows import RandomRows
from .random_terms import RandomTerm, random_names
from .sample import Rows

if TYPE_CHECKING:
    from .extrapolation import FarValues

ROLES = ("location", "nominal", "scale")


@dataclass(frozen=True, eq=False, kw_only=True)
class NewRows:
    """Rows rebuilt from new data.

    Attributes
    ----------
    rows : Rows
        Only the complete rows.
    complete : (N,) mask
        Which rows of the new data have no missing inputs.
    index : pandas.Index
        Index of all rows of the new data.
    far : tuple of FarValues
        The variables with values far outside the rows of the fit.
    """

    rows: Rows
    complete: BoolArray
    index: pd.Index
    far: tuple[FarValues, ...] = ()


@dataclass(frozen=True, eq=False, kw_only=True)
class FormulaSpec:
    """The formulas of a fit, and what is needed to apply them to new data.

    Attributes
    ----------
    location, nominal, scale : Side
        The right-hand sides; random terms are in `location`.
    response_name : str
    codings : mapping of factor key to Coding
    states : mapping of call to fitted transform
    columns : tuple
        Columns that new data need.
    declared : mapping of column to Factor
        The factor columns, without rows.
    levels : tuple
        Labels of the response, lowest first.
    random : tuple of RandomTerm
    array_offset : bool
        Whether the offset of the fit was an array, which new data do not have.
    ranges : mapping of str to (low, high)
        Least and largest value, in the rows of the fit, of the numbers among the
        columns of the terms.
    na_action : str
        With "keep" rows with missing values of location terms count as complete.
    """

    location: Side
    response_name: str
    nominal: Side | None = None
    scale: Side | None = None
    codings: Mapping[str, Coding] = field(default_factory=dict)
    states: Mapping[str, Transform] = field(default_factory=dict)
    columns: tuple[Any, ...] = ()
    declared: Mapping[str, Factor] = field(default_factory=dict)
    levels: tuple[Any, ...] = ()
    random: tuple[RandomTerm, ...] = ()
    array_offset: bool = False
    na_action: str = "omit"
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @cached_property
    def by_role(self) -> dict[str, Side]:
        """The right-hand sides that the fit has."""
        sides = {role: getattr(self, role) for role in ROLES}
        return {role: side for role, side in sides.items() if side is not None}

    @property
    def sides(self) -> list[Side]:
        """These right-hand sides in order."""
        return [*self.by_role.values()]

    @cached_property
    def factors(self) -> dict[str, Expression]:
        """All factors of terms by key, including random terms."""
        factors: dict[str, Expression] = {}
        varying = [random.columns for random in self.location.random]
        for side in (*self.sides, *varying):
            factors |= side.factors
        return factors

    @cached_property
    def groups(self) -> dict[str, Expression]:
        """The factors that define the groups of random terms."""
        return {
            factor.key: factor
            for random in self.location.random
            for factor in random.group.factors
        }

    @cached_property
    def offsets(self) -> dict[str, Expression]:
        """The offsets of all sides by key."""
        return {offset.key: offset for side in self.sides for offset in side.offsets}

    @cached_property
    def expressions(self) -> dict[str, Expression]:
        """Factors, offsets and groups by key."""
        return self.factors | self.offsets | self.groups

    @cached_property
    def calls(self) -> bool:
        """Whether some expression calls a function."""
        return any("(" in key for key in self.expressions)

    def evaluate(
        self, expressions: Mapping[str, Expression], interpreter: Interpreter
    ) -> tuple[dict[str, Value], dict[str, BoolArray], tuple[str, ...]]:
        """Values of expressions by key, the missing rows of their columns, and these
        columns.

        A NaN or infinity made from finite values raises DataError, unless a transform
        in it is not fitted yet. If na_action is "keep", values of location terms are
        NaN where a column is missing, and these rows do not count as missing.
        """
        values: dict[str, Value] = {}
        missing: dict[str, BoolArray] = {}
        columns: dict[str, None] = {}
        for key, expression in expressions.items():
            value, names, unknown = interpreter.evaluate(expression)
            is_column = key in names
            unfitted = learns(expression) and not interpreter.fits
            if not is_column and not unfitted:
                index = interpreter.columns.frame.index
                _require_finite(value, unknown, expression.label, index)
            columns |= dict.fromkeys(names)
            if self.na_action == "keep" and key in self.location.factors:
                values[key] = with_gaps(value, unknown)
                continue
            values[key] = value
            if unknown is None:
                continue
            for name in names:
                mask = interpreter.columns.column(name).missing
                if mask is not None:
                    missing[name] = mask
        return values, missing, tuple(columns)

    def evaluate_learned(
        self,
        expressions: Mapping[str, Expression],
        columns: Columns,
        states: dict[str, Transform],
        weights: FloatArray | None = None,
    ) -> dict[str, Value]:
        """Values of the expressions with transforms, at complete rows; transforms
        without a state are fitted to these.

        Parameters
        ----------
        expressions : mapping of key to Expression
        columns : Columns
            Of the complete rows only.
        states : dict of call to transform
            Fitted transforms are added.
        weights : (n,), optional
        """
        learned = {
            key: expression
            for key, expression in expressions.items()
            if learns(expression)
        }
        if not learned:
            return {}
        return self.evaluate(learned, Interpreter(columns, states, weights))[0]

    def matrices(
        self, values: Mapping[str, Value], n: int
    ) -> tuple[Rows, list[ModelMatrix]]:
        """Rows from complete values, and the matrices of location, nominal and scale
        effects.
        """
        location = model_matrix(self.location, values, self.codings, n)
        nominal, scale = (
            model_matrix(side, values, self.codings, n)
            for side in (self.nominal, self.scale)
        )
        rows = Rows(
            X=location.matrix,
            offset=_total(self.location, values),
            nominal=nominal.matrix if nominal.terms else None,
            scale=scale.matrix if scale.terms else None,
            scale_offset=_total(self.scale, values),
        )
        return rows, [location, nominal, scale]

    def rebuild(self, data: Any, without: Collection[str] = ()) -> NewRows:
        """Model matrices of new data, incomplete rows flagged.

        Parameters
        ----------
        data : data frame
        without : frozenset of str
            Random terms to ignore: all their groups count as new and not missing.

        Raises
        ------
        DataError
            A column is missing, a level is not in the fit, or a term is not finite.
        """
        from .extrapolation import far_values

        frame = self.new_frame(data)
        columns = Columns(frame, self.declared, self.na_action == "keep")
        X = None if self.plain is None else columns.together(self.plain)
        if X is None:
            rows, complete = self._rows_of(columns, without)
        else:
            rows, complete = Rows(X=X), np.ones(len(frame), dtype=bool)
        inside = X is not None and (np.clip(X, *self.near) == X).all()
        return NewRows(
            rows=rows,
            complete=complete,
            index=frame.index,
            far=() if inside else tuple(far_values(self.ranges, columns)),
        )

    @cached_property
    def plain(self) -> tuple[str, ...] | None:
        """The columns of X if each is a column of numbers as it is, and there is
        nothing else; None otherwise.
        """
        keys = [term.keys[0] for term in self.location.terms if len(term.keys) == 1]
        names = tuple(unquoted(key) for key in keys if key.isidentifier())
        if len(names) < len(self.location.terms) or not set(names) <= set(self.columns):
            return None
        if len(self.by_role) > 1 or self.offsets or self.random or self.declared:
            return None
        return None if any(self.codings[key].levels for key in keys) else names

    @cached_property
    def near(self) -> FloatArray:
        """(2, D) lower and upper ends within which values of the plain columns are not
        far from those of the fit.
        """
        from .extrapolation import within_reach

        whole = (-np.inf, np.inf)
        ranges = [self.ranges.get(name, whole) for name in self.plain or ()]
        near = [within_reach(*ends) or whole for ends in ranges]
        return np.array(near, dtype=np.float64).reshape(-1, 2).T

    def _rows_of(
        self, columns: Columns, without: Collection[str]
    ) -> tuple[Rows, BoolArray]:
        """The complete rows, and which rows (N,) these are."""
        frame = columns.frame
        grouped = [  # groups with missing columns are new
            term.text
            for term in self.random
            if term.text not in without
            and all(name in frame.columns for name in term.group_columns)
        ]
        expressions = self.factors | self.offsets
        for term in self.random:
            if term.text in grouped:
                expressions |= {each.key: each for each in term.part.group.factors}
        values, missing, _ = self.evaluate(
            expressions, Interpreter(columns, {}, fits=False)
        )
        complete = np.ones(len(frame), dtype=bool)
        for mask in missing.values():
            complete &= ~mask
        if missing:
            values = {key: take(value, complete) for key, value in values.items()}
        values |= self.evaluate_learned(
            expressions, columns.among(complete if missing else None), dict(self.states)
        )
        rows, _ = self.matrices(values, int(complete.sum()))
        if self.random:
            rows = replace(rows, random=self._random_rows(values, rows.n, grouped))
        return rows, complete

    def _random_rows(
        self, values: Mapping[str, Value], n: int, grouped: Collection[str]
    ) -> RandomRows:
        """The random terms of n complete rows; every row has a new group of a term that
        is not among `grouped`.
        """
        terms = []
        for term in self.random:
            codes = np.full(n, -1, dtype=np.intp)
            if term.text in grouped:
                codes = term.codes(values)
            terms.append(term.columns(values, self.codings, codes))
        return RandomRows(tuple(terms))

    def new_frame(self, data: Any) -> pd.DataFrame:
        """New data as a frame that has the columns of the model."""
        if self.array_offset:
            raise DataError(
                "The offset= of the fit was an array. Fit with the name of a column as"
                " offset= instead."
            )
        if isinstance(data, np.ndarray) and data.ndim == 2:
            # names as in OrdinalClassifier
            names = [f"x{j + 1}" for j in range(data.shape[1])]
            data = pd.DataFrame(data, columns=names)
        frame = as_frame(data)
        absent = [name for name in self.columns if name not in frame.columns]
        if absent:
            needs = shown_labels(self.columns, 60)
            raise DataError(
                f"The new data have no column {shown_labels(absent)}; the model needs"
                f" {needs}."
            )
        return frame

    def response(self, data: Any) -> IntArray:
        """(N,) codes of the response in new data, -1 if missing; DataError for a level
        that is not in the fit, and for censored answers.
        """
        if partial_call(self.response_name) is not None:
            raise DataError(
                "The response of new data must be exact answers in one column; the fit"
                f" has {self.response_name!r}. Use predict(newdata)."
            )
        column = find_column(as_frame(data), self.response_name, "the response")
        return known_codes(read(column), self.response_name, self.levels)

    def categories(self) -> dict[str, tuple[Any, ...]]:
        """Levels of columns that are factors of the formula, directly or by C()."""
        levels: dict[str, tuple[Any, ...]] = {}
        for key, expression in self.factors.items():
            variable = coded_variable(expression.tree)
            if variable is not None and self.codings[key].levels:
                levels.setdefault(variable, self.codings[key].levels)
        return levels

    def variables(self) -> dict[str, frozenset[str]]:
        """Columns of the data in each term of any side."""
        columns = frozenset(self.columns)
        used = {}
        for side in self.sides:
            for term in side.terms:
                names = frozenset().union(*(factor.names for factor in term.factors))
                used[term.label] = names & columns
        return used

    @cached_property
    def column_names(self) -> dict[str, tuple[ColumnName, ...]]:
        """Records of the columns of the location, nominal and scale effects."""
        return {
            role: tuple(side_names(self.by_role.get(role), self.codings))
            for role in ROLES
        }

    @cached_property
    def names(self) -> dict[str, tuple[str, ...]]:
        """Names of these columns."""
        return {
            role: tuple([column.text for column in columns])
            for role, columns in self.column_names.items()
        }

    @cached_property
    def curves(self) -> list[tuple[str, Term, frozenset[ColumnName]]]:
        """Terms with several columns of numbers, as splines have, or of random effects
        re(g): role of their side, term, columns.
        """
        curves = []
        for role, side in self.by_role.items():
            full_of_terms = full_codings(side.terms)
            for term, full in zip(side.terms, full_of_terms, strict=True):
                codings = [self.codings[key] for key in term.keys]
                if any(coding.without_meaning for coding in codings):
                    curves.append(
                        (role, term, frozenset(term_names(term, full, self.codings)))
                    )
        return curves

    @cached_property
    def references(self) -> dict[ColumnName, ColumnName]:
        """The reference level of every factor, by the first column of the factor."""
        references = {}
        for key, factor in self.factors.items():
            coding = self.codings[key]
            reference = coding.reference(factor)
            if reference is not None:
                first = coding.pieces(factor, full=False, alone=True)[0]
                references[ColumnName((first,))] = ColumnName((reference,))
        return references

    def shown(self, labels: Mapping[str, str]) -> list[tuple[str, str]]:
        """Names of the columns and terms, and their printed names with the user's
        labels.
        """
        pairs = [
            (term.label, shown_term(term, labels))
            for side in self.sides
            for term in side.terms
        ]
        random = {
            term.text: random_names(term.part, self.codings) for term in self.random
        }
        for names in (*self.column_names.values(), *random.values()):
            pairs += [(name.text, name.shown(labels)) for name in names]
        return pairs

    def linear_in(self, name: str) -> bool:
        """Whether a number enters the columns only linearly or in products, without
        transforms.
        """
        expressions = (self.factors | self.offsets).values()
        return all(
            dotted_name(expression.tree) == name
            for expression in expressions
            if name in expression.names
        )


def _require_finite(
    value: Value, unknown: BoolArray | None, label: str, index: pd.Index
) -> None:
    """DataError if a value made from complete columns is NaN or infinite."""
    if not isinstance(value, np.ndarray) or value.dtype.kind != "f":
        return
    with np.errstate(over="ignore", invalid="ignore"):
        bad = ~np.isfinite(value if value.ndim == 1 else value.sum(axis=1))
    if unknown is not None:
        bad &= ~unknown
    rest = (
        " although its columns are: change the term, or set those rows missing (NaN) to"
        " leave them out."
    )
    refuse(bad, index, repr(label), "not finite", rest)


def _total(side: Side | None, values: Mapping[str, Value]) -> FloatArray | None:
    """Sum of the offsets of a side; None if there are none."""
    total: Any = None
    for offset in () if side is None else side.offsets:
        value = values[offset.key]
        if isinstance(value, Factor) or value.ndim != 1:
            raise DataError(f"offset({offset.label}) must be one column of numbers.")
        total = value.astype(float) if total is None else total + value
    return None if total is None else np.asarray(total)

"""What a fit knows of its columns: how to make the same columns of new data."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from .._typing import BoolArray, FloatArray, IntArray
from ..exceptions import DataError
from .coding import KINDS, Assembled, Coding, Marginality, assemble, hypotheses, recoded
from .columns import (
    NUMBERS,
    Columns,
    Factor,
    Value,
    as_frame,
    factor_of,
    find_column,
    read,
    recode,
    refuse,
    shown_labels,
    take,
    with_gaps,
)
from .factors import CODED, Interpreter, Transform
from .inputs import known_codes
from .parse import Expression, Part, Term, dotted_name, quoted, unquoted
from .random_terms import RandomTerm
from .sample import RandomRows, Rows


@dataclass(frozen=True, eq=False, kw_only=True)
class NewRows:
    """Rows rebuilt from new data.

    Attributes
    ----------
    rows : Rows
        Only the complete rows.
    complete : (N,) mask
        Which rows of the new data have all inputs.
    index : pandas.Index
        Index of all rows of the new data.
    """

    rows: Rows
    complete: BoolArray
    index: pd.Index


@dataclass(frozen=True, eq=False, kw_only=True)
class FormulaSpec:
    """The formulas of a fit, with everything that new data need.

    Attributes
    ----------
    location, nominal, scale : Part
        The right-hand sides; the random terms are those of `location`.
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
        Whether the fit had an offset given as an array, which new data cannot supply.
    na_action : str
        With "keep" rows with a missing value of a location term are complete.
    """

    location: Part
    response_name: str
    nominal: Part | None = None
    scale: Part | None = None
    codings: Mapping[str, Coding] = field(default_factory=dict)
    states: Mapping[str, Transform] = field(default_factory=dict)
    columns: tuple[Any, ...] = ()
    declared: Mapping[str, Factor] = field(default_factory=dict)
    levels: tuple[Any, ...] = ()
    random: tuple[RandomTerm, ...] = ()
    array_offset: bool = False
    na_action: str = "omit"

    @cached_property
    def parts(self) -> list[Part]:
        """The right-hand sides that were given."""
        return [part for part in (self.location, self.nominal, self.scale) if part is not None]

    @cached_property
    def factors(self) -> dict[str, Expression]:
        """Every factor of every term by key, those of random terms too."""
        factors: dict[str, Expression] = {}
        for part in (*self.parts, *[random.columns for random in self.location.random]):
            factors |= part.factors
        return factors

    @cached_property
    def groups(self) -> dict[str, Expression]:
        """The factors whose values make the groups of random terms."""
        return {factor.key: factor for random in self.location.random for factor in random.group.factors}

    @cached_property
    def offsets(self) -> dict[str, Expression]:
        """The offsets of all sides by key."""
        return {offset.key: offset for part in self.parts for offset in part.offsets}

    def evaluate(
        self, expressions: Mapping[str, Expression], interpreter: Interpreter
    ) -> tuple[dict[str, Value], dict[str, BoolArray], tuple[str, ...]]:
        """Values of expressions by key, the missing rows of the columns they came from, and those columns.

        A NaN or infinity made from finite values raises DataError. If na_action is "keep", values of location terms
        are NaN where a column is missing, and these rows do not count as missing.
        """
        values: dict[str, Value] = {}
        missing: dict[str, BoolArray] = {}
        columns: dict[str, None] = {}
        for key, expression in expressions.items():
            value, names, unknown = interpreter.evaluate(expression)
            if key not in names and isinstance(value, np.ndarray) and value.dtype.kind == "f":
                bad = ~np.isfinite(value if value.ndim == 1 else value.sum(axis=1))
                rest = " although its columns are: change the term, or set those rows missing (NaN) to leave them out."
                bad = bad if unknown is None else bad & ~unknown
                refuse(bad, interpreter.columns.frame.index, repr(expression.label), "not finite", rest)
            columns |= dict.fromkeys(names)
            if self.na_action == "keep" and key in self.location.factors:
                values[key] = with_gaps(value, unknown)
                continue
            values[key] = value
            for name in names if unknown is not None else ():
                if (mask := interpreter.columns.column(name).missing) is not None:
                    missing[name] = mask
        return values, missing, tuple(columns)

    def matrices(self, values: Mapping[str, Value], n: int) -> tuple[Rows, list[Assembled]]:
        """Rows from complete values, and the matrices of location, nominal and scale effects with their names."""
        location = assemble(self.location, values, self.codings, n)
        nominal, scale = (assemble(part, values, self.codings, n) for part in (self.nominal, self.scale))
        rows = Rows(
            X=location.matrix,
            offset=_total(self.location, values),
            nominal=nominal.matrix if nominal.names else None,
            scale=scale.matrix if scale.names else None,
            scale_offset=_total(self.scale, values),
        )
        return rows, [location, nominal, scale]

    def rebuild(self, data: Any, without: Collection[str] = ()) -> NewRows:
        """Model matrices of new data, incomplete rows flagged.

        Parameters
        ----------
        data : data frame
        without : frozenset of str
            Random terms whose groups are ignored: all count as new, and none is missing.

        Raises
        ------
        DataError
            For a missing column, a level the fit has not seen, or a term that is not finite.
        """
        if self.array_offset:
            raise DataError("The fit had offset= given as an array. Fit with offset= a column name instead.")
        frame = as_frame(data)
        complete = np.ones(len(frame), dtype=bool)
        absent = [name for name in self.columns if name not in frame.columns]
        if absent:
            needs = shown_labels(self.columns, 60)
            raise DataError(f"The new data have no column {shown_labels(absent)}; the model needs {needs}.")
        interpreter = Interpreter(Columns(frame, self.declared), dict(self.states))
        grouped = [  # groups whose columns are missing are new ones
            term.text
            for term in self.random
            if term.text not in without and all(name in frame.columns for name in term.group_columns)
        ]
        expressions = self.factors | self.offsets
        for term in self.random:
            expressions |= {factor.key: factor for factor in term.part.group.factors if term.text in grouped}
        values, missing, _ = self.evaluate(expressions, interpreter)
        for mask in missing.values():
            complete &= ~mask
        if missing:
            values = {key: take(value, complete) for key, value in values.items()}
        n = int(complete.sum())
        rows, _ = self.matrices(values, n)
        if self.random:
            unseen = np.full(n, -1, dtype=np.intp)
            codes = [term.codes(values) if term.text in grouped else unseen for term in self.random]
            terms = [term.columns(values, self.codings, c) for term, c in zip(self.random, codes, strict=True)]
            rows = replace(rows, random=RandomRows(tuple(terms)))
        return NewRows(rows=rows, complete=complete, index=frame.index)

    def response(self, data: Any) -> IntArray:
        """(N,) codes of the response in new data, -1 where missing; DataError for a level the fit has not seen."""
        column = find_column(as_frame(data), self.response_name, "the response")
        return known_codes(read(column), self.response_name, self.levels)

    def categories(self) -> dict[str, tuple[Any, ...]]:
        """Levels of the columns that are factors of the formula, alone or by C()."""
        levels: dict[str, tuple[Any, ...]] = {}
        for key, expression in self.factors.items():
            tree = expression.tree
            if isinstance(tree, ast.Call) and dotted_name(tree.func) in CODED and tree.args:
                tree = tree.args[0]
            if isinstance(tree, ast.Name) and self.codings[key].levels:
                levels.setdefault(unquoted(tree.id), self.codings[key].levels)
        return levels

    def marginality(self) -> Marginality:
        """Which location terms contain which."""
        categorical = {key for key, coding in self.codings.items() if coding.levels}
        factors = {term.label: frozenset(term.keys) for term in self.location.terms}
        containing = {
            inner: tuple(outer for outer, other in factors.items() if keys < other and other - keys <= categorical)
            for inner, keys in factors.items()
        }
        texts = {term.label: term.text for side in reversed(self.parts) for term in side.terms}
        return Marginality(texts=texts, factors=factors, containing=containing)

    def variables(self) -> dict[str, frozenset[str]]:
        """Columns of the data in each term of any side."""
        return {
            term.label: frozenset().union(*(factor.names for factor in term.factors)) & frozenset(self.columns)
            for part in self.parts
            for term in part.terms
        }

    def linear_in(self, name: str) -> bool:
        """Whether a number enters the columns only as it is or times others, and no transform."""
        expressions = (self.factors | self.offsets).values()
        return all(dotted_name(expression.tree) == name for expression in expressions if name in expression.names)

    def hypotheses(self, contrasts: str) -> dict[str, FloatArray]:
        """Term by term, the rows L: L b are its coefficients if all factors had these contrasts."""
        codings = {key: self.codings[key] for key in self.location.factors}
        return hypotheses(self.location, codings, KINDS[contrasts])

    def recoded(self, design: Any, terms: Iterable[str]) -> FloatArray | None:
        """(N, m) columns of a formula of these terms alone, from those of the design; None if they do not suffice."""
        rows = design.sample.rows
        sides = (
            (self.location, design.terms, rows.X),
            (self.nominal, design.nominal_terms, rows.nominal),
            (self.scale, design.scale_terms, rows.scale),
        )
        return recoded([(part, slices, X) for part, slices, X in sides if part and X is not None], terms)


def _total(part: Part | None, values: Mapping[str, Value]) -> FloatArray | None:
    """Sum of the offsets of a side, None without any."""
    total: Any = None
    for offset in () if part is None else part.offsets:
        value = values[offset.key]
        if isinstance(value, Factor) or value.ndim != 1:
            raise DataError(f"offset({offset.label}) must be one column of numbers.")
        total = value.astype(float) if total is None else total + value
    return None if total is None else np.asarray(total)


# Columns given as arrays


def not_numeric(X: Any) -> dict[Any, Any]:
    """The columns of a frame that are not numeric, with their types; empty for arrays."""
    if not hasattr(X, "columns"):
        return {}
    frame = as_frame(X)
    if not frame.columns.is_unique:
        twice = [*frame.columns[frame.columns.duplicated()].unique()]
        raise DataError(f"The columns of X must have different names; got {shown_labels(twice)} twice. Rename them.")
    return {
        name: dtype
        for name, dtype in frame.dtypes.items()
        if not pd.api.types.is_numeric_dtype(dtype)
        and not (pd.api.types.is_object_dtype(dtype) and pd.api.types.infer_dtype(frame[name], skipna=True) in NUMBERS)
    }


@dataclass(frozen=True)
class Encoding:
    """Columns of categories with their levels; text sorts its levels, ordered ones become numbers.

    Attributes
    ----------
    factors : mapping of column to Factor
        Without rows.
    """

    factors: Mapping[Any, Factor]

    @classmethod
    def of(cls, X: Any) -> Encoding:
        """That of a frame; empty for arrays and for numbers alone."""
        factors = {name: factor_of(read(as_frame(X)[name]).value, str(name)) for name in not_numeric(X)}
        return cls({name: replace(factor, codes=factor.codes[:0]) for name, factor in factors.items()})

    def __call__(self, X: Any) -> Any:
        """The frame with codes, NaN where missing; DataError names unknown levels."""
        if not self.factors:
            if kinds := not_numeric(X):
                shown = ", ".join(f"{name!r} ({dtype})" for name, dtype in kinds.items())
                cure = "Encode them (as by OneHotEncoder), or use ordfit with a formula or method='ordboost'"
                raise DataError(f"X has columns that are not numeric: {shown}. {cure}.")
            return X
        frame = as_frame(X)
        codes = {name: recode(read(frame[name]).value, f.levels, str(name)) for name, f in self.factors.items()}
        return frame.assign(**{name: np.where(code < 0, np.nan, code) for name, code in codes.items()})

    def counts(self, names: Sequence[str]) -> IntArray | None:
        """(D,) numbers of categories without an order, 0 for other columns; None without such categories."""
        sizes = {str(name): len(f.levels) for name, f in self.factors.items() if not f.ordered and len(f.levels) > 2}
        return np.array([sizes.get(name, 0) for name in names], dtype=np.intp) if sizes else None


@dataclass(frozen=True, eq=False, kw_only=True)
class ArraySpec(FormulaSpec):
    """Takes the columns of a fit from new arrays or frames; each column is a term.

    `columns` are the labels by which columns of a frame are found; without any they match by position.

    Attributes
    ----------
    encoding : Encoding
        Of the columns that are categories.
    """

    encoding: Encoding = field(default_factory=lambda: Encoding({}))

    @classmethod
    def of(cls, names: Sequence[str], **fields: Any) -> ArraySpec:
        """The spec of numeric columns of these names."""
        factors = [Expression(quoted(name), name) for name in names]
        codings = {factor.key: Coding(factor.label) for factor in factors}
        location = Part(terms=tuple([Term((factor,)) for factor in factors]))
        return cls(location=location, response_name="y", codings=codings, **fields)

    def rebuild(self, data: Any, without: Collection[str] = ()) -> NewRows:
        """Rows of new data; those with a NaN are flagged as incomplete, unless the fit takes them."""
        X, index, _ = numeric_matrix(self.encoding(data) if self.encoding.factors else data, self.columns or None)
        if X.shape[1] != len(self.location.terms):
            raise DataError(f"The fit had {len(self.location.terms)} columns; the new data have {X.shape[1]}.")
        usable = ~np.isinf(X) if self.na_action == "keep" else np.isfinite(X)
        complete: BoolArray = np.asarray(usable.all(axis=1))
        return NewRows(rows=Rows(X=X if complete.all() else X[complete]), complete=complete, index=index)

    def response(self, data: Any) -> IntArray:
        """(N,) codes of labels given as an array, or of the column "y" of a frame."""
        return super().response(data if isinstance(data, pd.DataFrame) else pd.DataFrame({"y": np.asarray(data)}))

    def categories(self) -> dict[str, tuple[Any, ...]]:
        """Levels of the columns of categories."""
        return {str(name): factor.levels for name, factor in self.encoding.factors.items()}

    def variables(self) -> dict[str, frozenset[str]]:
        """Each term has one column."""
        return {term.label: frozenset([term.label]) for term in self.location.terms}


def numeric_matrix(X: Any, columns: Sequence[Any] | None) -> tuple[FloatArray, pd.Index, tuple[Any, ...] | None]:
    """(N, D) C-contiguous float64, its index, and the column names of a frame (None for an array)."""
    index: pd.Index | None = None
    if hasattr(X, "columns") or isinstance(X, dict):
        frame = as_frame(X)
        columns = tuple(frame.columns if columns is None else columns)
        if absent := [name for name in columns if name not in frame.columns]:
            known = shown_labels(columns, 30)
            raise DataError(f"The data have no columns {shown_labels(absent)}; the fit had {known}.")
        X, index = frame[list(columns)].to_numpy(na_value=np.nan), frame.index
    try:
        matrix = np.ascontiguousarray(X, dtype=float)
    except (ValueError, TypeError) as error:
        raise DataError(f"X must hold numbers only: {error}.") from error
    if matrix.ndim != 2:
        raise DataError(f"X must have two dimensions (rows, columns); got shape {matrix.shape}.")
    return (matrix, pd.RangeIndex(len(matrix)), None) if index is None else (matrix, index, tuple(columns or ()))

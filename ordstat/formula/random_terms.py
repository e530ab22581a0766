"""Random terms `(1 + x | g)`: text, columns and groups."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from ..checks import require_memory, shown_labels
from ..exceptions import DataError, FormulaError, OptionError
from .coding import Coding, full_codings, stack, term_columns, term_names
from .columns import Value, as_frame, factor_of, find_column, matched
from .names import ColumnName, Parameter, Piece
from .parse import RandomPart, column_expression
from .random_rows import RandomColumns, RandomRows

#: Name of the column of ones, as in R.
INTERCEPT = "(Intercept)"
#: Asymmetry, and ratio of smallest to largest eigenvalue, within rounding.
_ROUNDING = 1e-10


@dataclass(frozen=True, eq=False, kw_only=True)
class RandomTerm:
    """One random term of a fit.

    Attributes
    ----------
    part : RandomPart
    names : tuple of str
        Names of its columns.
    levels : tuple of tuple
        Labels of each factor of the group.
    cells : (G,)
        The combinations of factor levels that are groups, each coded as one number;
        increasing.
    root : (G, G) or None
        L of the covariance L L' of the groups (cov=).
    """

    part: RandomPart
    names: tuple[str, ...]
    levels: tuple[tuple[object, ...], ...]
    cells: IntArray
    root: FloatArray | None = None

    @property
    def text(self) -> str:
        """As a formula writes it."""
        return self.part.text

    @property
    def group(self) -> str:
        """Name of the grouping, such as "judge" or "school:class"."""
        return self.part.group.label

    @property
    def correlated(self) -> bool:
        return self.part.correlated

    @property
    def group_columns(self) -> list[str]:
        """Columns of the data that make the groups."""
        return sorted(
            set().union(*(factor.names for factor in self.part.group.factors))
        )

    @property
    def groups(self) -> list[object]:
        """(G,) labels of the groups; "a:b" for combinations."""
        if len(self.levels) == 1:
            return [self.levels[0][cell] for cell in self.cells]
        codes = np.unravel_index(self.cells, [len(labels) for labels in self.levels])
        rows = zip(*codes, strict=True)
        return [
            ":".join(str(labels[c]) for labels, c in zip(self.levels, row, strict=True))
            for row in rows
        ]

    def codes(self, values: Mapping[str, Value]) -> IntArray:
        """(n,) groups of rows, -1 for groups that are not in the fit."""
        cells = _cells(self.part, values, self.levels)
        places = np.minimum(np.searchsorted(self.cells, cells), self.cells.size - 1)
        return np.where(self.cells[places] == cells, places, -1).astype(np.intp)

    def columns(
        self,
        values: Mapping[str, Value],
        codings: Mapping[str, Coding],
        codes: IntArray,
    ) -> RandomColumns:
        """The columns of rows with these groups."""
        columns = column_values(self.part, values, codings, codes.size)
        z = stack([np.asarray(column) for column in columns], codes.size)[0]
        return RandomColumns(
            z=z,
            codes=codes,
            n_groups=self.cells.size,
            correlated=self.correlated,
            root=self.root,
        )

    def unknown(self, data: Any) -> str:
        """Description of the first group column whose labels in new data all differ
        from those of the fit; empty if there is none.
        """
        frame = as_frame(data)
        for factor, fitted_labels in zip(
            self.part.group.factors, self.levels, strict=True
        ):
            if isinstance(factor.tree, ast.Name) and factor.label in frame.columns:
                labels = [
                    *find_column(frame, factor.label, "a group").dropna().unique()
                ]
                if labels and set(labels).isdisjoint(fitted_labels):
                    first = (
                        f"{factor.label!r} has {shown_labels(fitted_labels, 3)} in"
                        " the fit"
                    )
                    return f"{first} and {shown_labels(labels, 3)} in newdata"
        return ""

    def groups_of_rows(self, data: Any, complete: BoolArray) -> IntArray:
        """(n,) codes of the groups of complete rows of new data, by their labels. If
        the group columns are missing from the data, every row is a new group.
        """
        frame = as_frame(data)
        names = self.group_columns
        if not all(name in frame.columns for name in names):
            return np.arange(int(complete.sum()))
        labels = pd.DataFrame(
            {name: find_column(frame, name, "a group")[complete] for name in names}
        )
        return np.asarray(
            labels.groupby(names, dropna=False, sort=False, observed=True).ngroup(),
            dtype=np.intp,
        )


def _cells(
    part: RandomPart,
    values: Mapping[str, Value],
    levels: tuple[tuple[object, ...], ...],
) -> IntArray:
    """(n,) the codes of all factors as one number; -1 if a level is unknown."""
    cells = np.zeros(1, dtype=np.intp)
    for factor, labels in zip(part.group.factors, levels, strict=True):
        codes, _ = matched(factor_of(values[factor.key], factor.label), labels)
        cells = np.where((codes < 0) | (cells < 0), -1, cells * len(labels) + codes)
    return cells


def _full(part: RandomPart, codings: Mapping[str, Coding]) -> list[tuple[bool, ...]]:
    """Which factors are coded by all levels; without an intercept the first one is."""
    terms = part.columns.terms
    fulls = full_codings(terms)
    categorical = [
        index for index, term in enumerate(terms) if codings[term.keys[0]].levels
    ]
    if not part.columns.intercept and categorical and len(fulls[categorical[0]]) == 1:
        fulls[categorical[0]] = (True,)
    return fulls


def random_names(part: RandomPart, codings: Mapping[str, Coding]) -> list[ColumnName]:
    """Records of the columns of a random term."""
    names: list[ColumnName] = []
    if part.columns.intercept:
        names.append(ColumnName((Piece(column_expression(INTERCEPT)),)))
    for term, full in zip(part.columns.terms, _full(part, codings), strict=True):
        names += term_names(term, full, codings)
    return names


def random_parameters(
    term: RandomTerm, codings: Mapping[str, Coding]
) -> list[Parameter]:
    """Records of the standard deviations and correlations of a random term."""
    columns = random_names(term.part, codings)
    group = term.part.group
    records = [Parameter(kind="sd", column=column, group=group) for column in columns]
    if term.correlated:
        records += [
            Parameter(kind="cor", column=later, other=earlier, group=group)
            for earlier, later in combinations(columns, 2)
        ]
    return records


def column_values(
    part: RandomPart, values: Mapping[str, Value], codings: Mapping[str, Coding], n: int
) -> list[AnyArray]:
    """Values of the columns, in the order of `random_names`."""
    columns: list[AnyArray] = [np.ones(n)] if part.columns.intercept else []
    for term, full in zip(part.columns.terms, _full(part, codings), strict=True):
        columns += term_columns(term, full, values, codings)
    return columns


def fit_random_terms(
    parts: tuple[RandomPart, ...],
    values: Mapping[str, Value],
    codings: Mapping[str, Coding],
    n: int,
    cov: Any,
) -> tuple[tuple[RandomTerm, ...], RandomRows | None, list[str]]:
    """The random terms of complete rows, as names and as arrays, with notes on doubtful
    groups.

    Raises
    ------
    FormulaError
        A column occurs twice for the same groups, or depends linearly on others of its
        term.
    DataError
        There is only one group, or cov= lacks a group.
    OptionError
        cov= does not fit the formula.
    """
    if cov is not None:
        _check_groups(cov, [part.group.label for part in parts])
    terms = []
    rows = []
    notes = []
    for part in parts:
        levels = tuple(
            factor_of(values[factor.key], factor.label).levels
            for factor in part.group.factors
        )
        cells, codes = np.unique(_cells(part, values, levels), return_inverse=True)
        names = tuple([name.text for name in random_names(part, codings)])
        term = RandomTerm(part=part, names=names, levels=levels, cells=cells)
        if cov is not None and term.group in cov:
            term = replace(term, root=_root(term, cov[term.group], n))
        if cells.size < 2:
            raise DataError(
                f"The group {term.group!r} of {term.text} has the same value in every"
                " row used."
            )
        if cells.size == n:
            notes.append(
                f"{term.text} has a group for each of the {n} rows: only the link"
                " determines its variance."
            )
        elif cells.size < 3:
            notes.append(
                f"{term.text} has {cells.size} groups: a variance cannot be estimated"
                " reliably from so few."
            )
        terms.append(term)
        rows.append(term.columns(values, codings, codes.astype(np.intp)))
    _check_columns(terms, [columns.z for columns in rows])
    return tuple(terms), RandomRows(tuple(rows)) if rows else None, notes


def _check_columns(terms: list[RandomTerm], columns: list[FloatArray]) -> None:
    """FormulaError if the variances of the effects of a group are not identified.

    A column must not occur in two terms of the same groups, nor be a linear combination
    of correlated columns; linear combinations of uncorrelated columns are allowed.
    """
    seen: dict[tuple[frozenset[str], str], str] = {}
    spans: dict[frozenset[str], list[FloatArray]] = {}
    for term, z in zip(terms, columns, strict=True):
        group = frozenset(term.part.group.keys)
        sizes = np.sqrt((z**2).sum(axis=0))
        unit = z / np.where(sizes > 0.0, sizes, 1.0)
        earlier = spans.setdefault(group, [])
        for k, name in enumerate(term.names):
            if (group, name) in seen:
                where = (
                    f"varies by {term.group!r} in {seen[group, name]} and in"
                    f" {term.text}"
                )
                raise FormulaError(
                    f"The column {name!r} {where}: their variances are not"
                    " identified. Write it once."
                )
            seen[group, name] = term.text
            if term.correlated:
                blocks = [unit[:, :k]]
            else:
                blocks = [unit[:, [j]] for j in range(k)]
            with_column = [
                np.column_stack([span, unit[:, k]])
                for span in (*earlier, *blocks)
                if span.shape[1]
            ]
            if sizes[k] == 0.0 or any(
                np.linalg.matrix_rank(span) < span.shape[1] for span in with_column
            ):
                problem = (
                    "is 0, or a sum of multiples of the columns before it: its variance"
                    " is not identified"
                )
                raise FormulaError(
                    f"The column {name!r} of {term.text} {problem}. Take it out."
                )
        earlier += (
            [unit] if term.correlated else [unit[:, [j]] for j in range(len(sizes))]
        )


def _check_groups(cov: Any, groups: Sequence[str]) -> None:
    """OptionError unless cov is a dict by groups of the formula."""
    if not isinstance(cov, Mapping) or not all(
        isinstance(K, pd.DataFrame) for K in cov.values()
    ):
        problem = (
            "cov must be a dict of groups and their covariances, labelled data frames"
        )
        raise OptionError(f"{problem}; got {type(cov).__name__}.")
    for name in cov:
        if name not in groups:
            available = "it has no random terms"
            if groups:
                available = f"its groups are {shown_labels(groups)}"
            raise OptionError(
                f"cov= names the group {name!r}, which is not in the formula:"
                f" {available}."
            )


def _root(term: RandomTerm, K: pd.DataFrame, n: int) -> FloatArray:
    """(G, G) lower triangular L with L L' = K, in the order of the group's levels."""
    if term.names != (INTERCEPT,):
        raise OptionError(
            f"cov= must go with a term of one intercept, such as (1 | {term.group});"
            f" got {term.text}."
        )
    require_memory(
        f"cov= of {n:,} rows and {term.cells.size:,} groups",
        16.0 * n * term.cells.size,
        "Join groups.",
    )
    name = f"cov[{term.group!r}]"
    labels = term.groups
    try:
        values = K.loc[labels, labels].to_numpy(dtype=np.float64)
    except KeyError as error:
        raise DataError(
            f"{name} must have a row and a column for every level of {term.group!r}:"
            f" {error}."
        ) from None
    except (TypeError, ValueError) as error:
        raise OptionError(f"{name} must be numbers; {error}.") from None
    if values.shape != (len(labels), len(labels)):
        raise OptionError(
            f"{name} must name every level once; got {values.shape[0]} rows of"
            f" {len(labels)} levels."
        )
    if not np.abs(values - values.T).max() <= _ROUNDING * np.abs(values).max() < np.inf:
        raise OptionError(
            f"{name} must be symmetric and finite, a covariance of the levels."
        )
    eigenvalues = np.linalg.eigvalsh(values)
    if eigenvalues[0] <= _ROUNDING * eigenvalues[-1]:
        raise OptionError(
            f"{name} must be positive definite; its smallest eigenvalue is"
            f" {eigenvalues[0]:.3g}."
        )
    return np.linalg.cholesky(0.5 * (values + values.T))

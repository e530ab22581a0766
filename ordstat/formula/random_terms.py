"""Random terms `(1 + x | g)`: their text, columns and groups."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from .._typing import BoolArray, FloatArray, IntArray
from ..exceptions import DataError, FormulaError, OptionError
from .coding import Coding, FactorCoding, Named, full_codings, term_columns
from .columns import Value, factor_of, matched
from .contrasts import stack
from .frames import as_frame, find_column, has_column, shown_labels
from .parse import RandomPart
from .sample import RandomColumns, RandomRows

#: Name of the column of ones, as R has it.
INTERCEPT = "(Intercept)"
#: Largest number of rows times groups whose covariance is given.
MOST_NUMBERS = 50_000_000
#: Asymmetry, and smallest eigenvalue beside the largest, that rounding explains.
_ROUNDING = 1e-10
_FORM = "cov must be a dict of groups and their covariances, such as {'animal': K} with K a labelled data frame"


@dataclass(frozen=True, eq=False, kw_only=True)
class RandomTerm:
    """One random term of a fit.

    Attributes
    ----------
    part : RandomPart
    names : tuple of str
        Its columns.
    levels : tuple of tuple
        Labels of each factor of the group.
    cells : (G,)
        Which combinations of the factors are groups: their codes as one number, growing.
    root : (G, G) or None
        L of a given covariance L L' of the groups.
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
    def groups(self) -> list[object]:
        """(G,) labels of the groups; "a:b" where they are combinations."""
        if len(self.levels) == 1:
            return [self.levels[0][cell] for cell in self.cells]
        codes = np.unravel_index(self.cells, [len(own) for own in self.levels])
        parts = [[own[code] for code in some] for own, some in zip(self.levels, codes, strict=True)]
        return [":".join(map(str, labels)) for labels in zip(*parts, strict=True)]

    def codes(self, values: Mapping[str, Value]) -> IntArray:
        """(n,) groups of rows, -1 where the fit has not seen it."""
        mixed = _mixed(self.part, values, self.levels)
        places = np.minimum(np.searchsorted(self.cells, mixed), self.cells.size - 1)
        return np.where(self.cells[places] == mixed, places, -1).astype(np.intp)

    def columns(self, values: Mapping[str, Value], codings: Mapping[str, Coding], codes: IntArray) -> RandomColumns:
        """The columns of rows whose groups are known."""
        named = column_values(self.part, values, codings, codes.size)
        z = stack([np.asarray(column) for _, column in named], codes.size)[0]
        return RandomColumns(z=z, codes=codes, n_groups=self.cells.size, correlated=self.correlated, root=self.root)

    def unknown(self, data: Any) -> str:
        """In words the first column of the group that has no label of the fit in new data; empty without such."""
        frame = as_frame(data)
        for factor, known in zip(self.part.group.factors, self.levels, strict=True):
            if isinstance(factor.tree, ast.Name) and has_column(frame, factor.label):
                came = [*find_column(frame, factor.label, "a group").dropna().unique()]
                if came and set(came).isdisjoint(known):
                    first = f"{factor.label!r} has {shown_labels(known, 3)} in the fit"
                    return f"{first} and {shown_labels(came, 3)} in newdata"
        return ""

    def apart(self, data: Any, complete: BoolArray) -> IntArray:
        """(n,) whole numbers below n, equal for complete rows with the same labels; all different without columns."""
        frame, n = as_frame(data), int(complete.sum())
        names = sorted(set().union(*(factor.names for factor in self.part.group.factors)))
        if not all(has_column(frame, name) for name in names):
            return np.arange(n)
        labels = pd.DataFrame({name: find_column(frame, name, "a group")[complete] for name in names})
        numbers = labels.groupby(names, dropna=False, sort=False, observed=True).ngroup()
        return np.asarray(numbers, dtype=np.intp)


def _mixed(part: RandomPart, values: Mapping[str, Value], levels: tuple[tuple[object, ...], ...]) -> IntArray:
    """(n,) the codes of all factors as one number; -1 where a level is not known."""
    found = [
        matched(factor_of(values[factor.key], factor.label), own)[0]
        for factor, own in zip(part.group.factors, levels, strict=True)
    ]
    mixed = np.zeros(found[0].size, dtype=np.intp)
    for codes, own in zip(found, levels, strict=True):
        mixed = np.where((codes < 0) | (mixed < 0), -1, mixed * len(own) + codes)
    return mixed


def column_values(part: RandomPart, values: Mapping[str, Value], codings: Mapping[str, Coding], n: int) -> list[Named]:
    """Names and values of the columns; without an intercept the first factor has one for each level."""
    terms = part.columns.terms
    fulls = [list(full) for full in full_codings(terms)]
    columns: list[Named] = [(INTERCEPT, np.ones(n))] if part.columns.intercept else []
    if not part.columns.intercept:
        whole = next(
            (k for k, term in enumerate(terms) if isinstance(codings[term.factors[0].key], FactorCoding)), None
        )
        if whole is not None and len(terms[whole].factors) == 1:
            fulls[whole] = [True]
    for term, full in zip(terms, fulls, strict=True):
        columns += term_columns(term, full, values, codings)
    return columns


def fit_random_terms(
    parts: tuple[RandomPart, ...],
    values: Mapping[str, Value],
    codings: Mapping[str, Coding],
    n: int,
    cov: Any = None,
) -> tuple[tuple[RandomTerm, ...], RandomRows | None, tuple[str, ...]]:
    """The random terms of complete rows, as names and as arrays, and notes on doubtful groups.

    Raises
    ------
    FormulaError
        The same column of the same groups twice, or one that follows from others of its term.
    DataError
        One group only, or a given covariance that lacks one.
    OptionError
        A given covariance of something else, or that is none.
    """
    if cov is not None:
        _check_groups(cov, [part.group.label for part in parts])
    if not parts:
        return (), None, ()
    terms, rows = [], []
    for part in parts:
        levels = tuple(factor_of(values[factor.key], factor.label).levels for factor in part.group.factors)
        cells, codes = np.unique(_mixed(part, values, levels), return_inverse=True)
        names = tuple(name for name, _ in column_values(part, values, codings, n))
        term = RandomTerm(part=part, names=names, levels=levels, cells=cells)
        if cov is not None and term.group in cov:
            term = replace(term, root=_root(term, cov[term.group], n))
        terms.append(term)
        rows.append(term.columns(values, codings, codes.astype(np.intp)))
    _check_once(terms)
    _check_rank(terms, [own.z for own in rows])
    notes = [note for term in terms for note in _notes(term, n)]
    for term in terms:
        if term.cells.size < 2:
            raise DataError(
                f"The group {term.group!r} of {term.text} has the same value in every row used: a random term needs "
                "2 groups or more, and many to tell a variance. Drop the term."
            )
    return tuple(terms), RandomRows(tuple(rows)), tuple(notes)


def _root(term: RandomTerm, K: Any, n: int) -> FloatArray:
    if term.names != (INTERCEPT,):
        raise OptionError(
            f"cov= must go with a term of one intercept, such as (1 | {term.group}); {term.text} has {len(term.names)} "
            f"columns: {', '.join(term.names)}."
        )
    if n * term.cells.size > MOST_NUMBERS:
        raise OptionError(
            f"cov= works with rows times groups, at most {MOST_NUMBERS:,} numbers; got {n:,} rows and "
            f"{term.cells.size:,} groups of {term.group!r}. Take fewer rows, or leave cov= out."
        )
    return _root_of(term.group, K, term.groups)


def _check_once(terms: list[RandomTerm]) -> None:
    seen: dict[tuple[frozenset[str], str], str] = {}
    for term in terms:
        keys = _group_keys(term)
        for name in term.names:
            if (keys, name) in seen:
                raise FormulaError(
                    f"The column {name!r} varies by {term.group!r} in {seen[keys, name]} and in {term.text}: their "
                    "variances cannot be told apart. Write it once, as in (1 | g) + (0 + x | g), which is (x || g)."
                )
            seen[keys, name] = term.text


def _check_rank(terms: list[RandomTerm], columns: list[FloatArray]) -> None:
    """FormulaError where effects of a group cannot be told apart; without correlations sums of columns can be."""
    if all(term.names == (INTERCEPT,) for term in terms):  # of groups of their own
        return
    spans: dict[frozenset[str], list[FloatArray]] = {}
    for term, z in zip(terms, columns, strict=True):
        size = np.sqrt((z**2).sum(axis=0))
        unit = z / np.where(size > 0.0, size, 1.0)
        known = spans.setdefault(_group_keys(term), [])
        own = np.zeros((len(z), 0))
        for k, name in enumerate(term.names):
            new = unit[:, [k]]
            if size[k] == 0.0 or any(_within(new, span) for span in (*known, own)):
                what = "is 0 in every row used" if size[k] == 0.0 else "is a sum of multiples of the columns before it"
                raise FormulaError(
                    f"The column {name!r} of {term.text} {what}: its variance cannot be told. Take it out."
                )
            if term.correlated:
                own = np.hstack([own, new])
            else:
                known.append(new)
        if term.correlated:
            known.append(own)


def _within(column: FloatArray, span: FloatArray) -> bool:
    return bool(span.shape[1] and np.linalg.matrix_rank(np.hstack([span, column])) <= span.shape[1])


def _group_keys(term: RandomTerm) -> frozenset[str]:
    return frozenset(factor.key for factor in term.part.group.factors)


def _notes(term: RandomTerm, n: int) -> list[str]:
    """Groups too few to tell a variance by, or as many as rows."""
    count = term.cells.size
    if count == n:
        return [
            f"{term.text} has a group for each of the {n} rows: such effects are told from the error of the latent "
            "variable by the link alone."
        ]
    if count < 3:
        return [f"{term.text} has {count} groups ({shown_labels(term.groups)}): a variance of so few is hardly known."]
    return []


def _check_groups(cov: Any, groups: Sequence[str]) -> None:
    """OptionError unless it is a dict by groups of the formula."""
    if not isinstance(cov, Mapping):
        raise OptionError(f"{_FORM}; got {type(cov).__name__}.")
    for name in cov:
        if name not in groups:
            there = f"its groups are {', '.join(map(repr, groups))}" if groups else "it has no random terms"
            raise OptionError(f"cov= names the group {name!r}, which the formula has not: {there}.")


def _root_of(group: str, K: Any, labels: Sequence[object]) -> FloatArray:
    """(G, G) lower triangular L with L L' = K at the levels of a group, in their order."""
    if not isinstance(K, pd.DataFrame):
        raise OptionError(f"{_FORM}; got {type(K).__name__} for {group!r}.")
    for axis, own in (("rows", K.index), ("columns", K.columns)):
        if not own.is_unique:
            twice = shown_labels([*own[own.duplicated()].unique()], 3)
            raise OptionError(f"cov[{group!r}] must name every level once; its {axis} have {twice} twice.")
        missing = [label for label in labels if label not in own]
        if missing:
            raise DataError(
                f"cov[{group!r}] must have a row and a column for every level of {group!r}; its {axis} lack "
                f"{shown_labels(missing, 3)} and have {shown_labels([*own], 3)}."
            )
    try:
        values = K.loc[list(labels), list(labels)].to_numpy(dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise OptionError(f"cov[{group!r}] must be numbers; {error}.") from None
    if not np.isfinite(values).all():
        raise OptionError(f"cov[{group!r}] must be finite; it has missing or infinite values.")
    if np.abs(values - values.T).max() > _ROUNDING * np.abs(values).max():
        raise OptionError(f"cov[{group!r}] must be symmetric, a covariance of the levels; it is not.")
    eigenvalues = np.linalg.eigvalsh(values)
    if eigenvalues[0] <= _ROUNDING * eigenvalues[-1]:
        raise OptionError(
            f"cov[{group!r}] must be positive definite at the {len(labels)} levels of the data; its smallest "
            f"eigenvalue is {eigenvalues[0]:.3g}. Merge levels that are copies, or add a little to the diagonal."
        )
    return np.asarray(np.linalg.cholesky(0.5 * (values + values.T)))

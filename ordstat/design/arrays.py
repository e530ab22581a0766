"""A Design from arrays that are already numbers, for callers without a formula."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd

from .._typing import BoolArray, FloatArray, IntArray
from ..exceptions import DataError
from ..model.sample import Rows
from .columns import Column, Factor, factor_of, read, recode
from .complete import kept_rows
from .design import Design, NewRows
from .frames import as_frame, find_column, refuse, row_name, shown_labels
from .inputs import Given, values_of
from .response import check_levels, known_codes, read_response
from .terms import Marginality, independent


def not_numeric(X: Any) -> dict[str, Any]:
    """The columns of a frame that are not numeric, with their types; none of what is no frame."""
    try:
        frame = nw.from_native(X, eager_only=True, pass_through=True)
        schema = frame.schema if isinstance(frame, nw.DataFrame) else {}
    except nw.exceptions.DuplicateError:
        counts = Counter(map(str, X.columns))
        twice = ", ".join(f"{name!r} {n} times" for name, n in counts.items() if n > 1)
        raise DataError(f"The columns of X must have different names; got {twice}. Rename them.") from None
    return {name: dtype for name, dtype in schema.items() if not _is_numeric(dtype, X, name)}


def refuse_text(X: Any) -> None:
    """DataError naming the columns of a frame that are not numeric: codes of categories are no numbers."""
    kinds = not_numeric(X)
    if kinds:
        shown = ", ".join(f"{name!r} ({dtype})" for name, dtype in kinds.items())
        raise DataError(
            f"X has columns that are not numeric: {shown}. Encode them (such as OneHotEncoder in a Pipeline), or use "
            "ordfit with a formula, or method='ordboost', which take categories."
        )


def _is_numeric(dtype: Any, X: Any, name: Any) -> bool:
    if not isinstance(dtype, (nw.Object, nw.Unknown)):
        return bool(dtype.is_numeric()) or isinstance(dtype, nw.Boolean)
    try:
        np.asarray(X[name], dtype=np.float64)
    except (ValueError, TypeError):
        return False
    return True


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
        """That of a frame; of what is no frame, or has numbers alone, it changes nothing."""
        names = not_numeric(X)
        frame: Any = as_frame(X) if names else {}
        return cls({name: factor_of(read(frame[name]).value, str(name)).bare() for name in names})

    def __call__(self, X: Any) -> Any:
        """The frame with codes, NaN where missing; DataError names levels that are not known."""
        if not self.factors:
            refuse_text(X)
            return X
        frame = as_frame(X)
        codes = {name: recode(read(frame[name]).value, f.levels, str(name)) for name, f in self.factors.items()}
        return frame.assign(**{name: np.where(code < 0, np.nan, code) for name, code in codes.items()})

    def counts(self, names: Any) -> IntArray | None:
        """(D,) numbers of categories without an order, 0 of other columns; None where there are none."""
        unordered = {
            str(name): len(f.levels) for name, f in self.factors.items() if not f.ordered and len(f.levels) > 2
        }
        return np.array([unordered.get(name, 0) for name in names], dtype=np.intp) if unordered else None


@dataclass(frozen=True, eq=False, kw_only=True)
class ArraySpec:
    """Takes the same columns from new arrays or frames [Spec].

    Attributes
    ----------
    columns : tuple or None
        Labels by which columns of a frame are found; None matches by position.
    response_name : str
    levels : tuple
    names : tuple of str
        What the columns are called.
    gaps : bool
        Whether rows with a NaN are complete.
    encoding : Encoding
        Of the columns that are categories.
    """

    columns: tuple[Any, ...] | None
    response_name: str
    levels: tuple[Any, ...]
    names: tuple[str, ...]
    gaps: bool = False
    encoding: Encoding = field(default_factory=lambda: Encoding({}))

    def marginality(self) -> Marginality:
        """Every column is a term of its own."""
        return independent(self.names)

    def variables(self) -> dict[str, frozenset[str]]:
        """Every column is a term of its own."""
        return {name: frozenset([name]) for name in self.names}

    def linear_in(self, name: str) -> bool:
        """Every column is its own."""
        return True

    def hypotheses(self, contrasts: str) -> dict[str, FloatArray]:
        """Each coefficient is its own: there are no factors."""
        return {name: np.eye(len(self.names))[j : j + 1] for j, name in enumerate(self.names)}

    def recoded(self, design: Design, terms: Iterable[str]) -> FloatArray:
        """(N, m) columns of these names."""
        return np.ascontiguousarray(design.sample.X[:, [self.names.index(name) for name in terms]])

    def rebuild(self, data: Any, without: frozenset[str] = frozenset()) -> NewRows:
        """Rows of new data; those with a NaN are flagged as incomplete, unless the fit takes them."""
        X, index, _ = numeric_matrix(self.encoding(data) if self.encoding.factors else data, self.columns)
        if X.shape[1] != len(self.names):
            raise DataError(f"The fit had {len(self.names)} columns; the new data have {X.shape[1]}.")
        complete: BoolArray = np.asarray((~np.isinf(X) if self.gaps else np.isfinite(X)).all(axis=1))
        return NewRows(rows=Rows(X=X if complete.all() else X[complete]), complete=complete, index=index)

    def response(self, data: Any) -> IntArray:
        """(N,) codes of labels given as an array, or of the response column of a frame."""
        if isinstance(data, pd.DataFrame):
            data = find_column(data, self.response_name, "the response")
        return known_codes(_labels(data), self.response_name, self.levels)

    def categories(self) -> dict[str, tuple[Any, ...]]:
        return {str(name): factor.levels for name, factor in self.encoding.factors.items()}

    def costs(self, data: Any, n_levels: int) -> None:
        """None: costs of arrays have no names."""


def _labels(y: Any) -> Column:
    return read(y if isinstance(y, pd.Series) else pd.Series(np.asarray(y)))


def numeric_matrix(X: Any, columns: Sequence[Any] | None) -> tuple[FloatArray, pd.Index, tuple[Any, ...] | None]:
    """(N, D) C-contiguous float64, its index, and the column names of a frame (None of an array)."""
    if hasattr(X, "columns") or isinstance(X, dict):
        frame = as_frame(X)
        chosen = list(frame.columns) if columns is None else list(columns)
        absent = [name for name in chosen if name not in frame.columns]
        if absent:
            raise DataError(f"The data have no columns {shown_labels(absent)}; the fit had {shown_labels(chosen, 30)}.")
        return _floats(frame[chosen].to_numpy(na_value=np.nan)), frame.index, tuple(chosen)
    matrix = _floats(X)
    if matrix.ndim != 2:
        raise DataError(f"X must have two dimensions (rows, columns); got shape {matrix.shape}.")
    return matrix, pd.RangeIndex(matrix.shape[0]), None


def _floats(X: Any) -> FloatArray:
    try:
        return np.ascontiguousarray(X, dtype=float)
    except (ValueError, TypeError) as error:
        raise DataError(f"X must hold numbers only: {error}.") from error


def from_arrays(
    X: Any,
    y: Any,
    *,
    levels: Sequence[Any] | None = None,
    weights: Any = None,
    names: Sequence[str] | None = None,
    cluster: Any = None,
    costs: Any = None,
    response: str = "y",
    gaps: bool = False,
    encoding: Encoding | None = None,
    keep_levels: bool = False,
) -> Design:
    """A design of numeric columns.

    Parameters
    ----------
    X : (N, D) array or frame of numbers, all finite
    y : (N,) labels
    levels : sequence, optional
        Labels in order, lowest first; without it labels have to be numbers, booleans or an ordered categorical.
    weights : (N,), optional
        Case weights >= 0; rows of weight 0 are left out.
    names : sequence of D str, optional
        Column names; those of a frame, else x1, x2, ...
    cluster : (N,), optional
    costs : (N, K), optional
    response : str
        Label of the response.
    gaps : bool
        Whether X may have missing values, NaN.
    encoding : Encoding, optional
        That gave the columns of categories in X their codes; new rows are encoded alike.
    keep_levels : bool
        Keep declared levels without rows.

    Returns
    -------
    Design

    Raises
    ------
    DataError

    Examples
    --------
    >>> import numpy as np
    >>> from ordstat.design.build import from_arrays
    >>> design = from_arrays(np.eye(3), ["low", "high", "low"], levels=["low", "high"])
    >>> design.sample.y, design.names
    (array([0, 1, 0]), ('x1', 'x2', 'x3'))
    """
    matrix, index, found = numeric_matrix(X, None)
    n, width = matrix.shape
    if names is not None and len(names) != width:
        raise DataError(f"names= must have a name for each of the {width} columns; got {len(names)}.")
    _check_finite(matrix, index, gaps)
    labels = read_response(_labels(y), response, None if levels is None else check_levels(levels))
    if labels.codes.size != n:
        raise DataError(f"y must have a value for each of the {n} rows of X; got {labels.codes.size}.")
    refuse(labels.codes < 0, index, "y", "missing", ": leave them out.")
    kept = kept_rows(
        index,
        labels,
        {},
        weights=_given(weights, "weights", index),
        cluster=_given(cluster, "cluster", index),
        costs=None if costs is None else np.asarray(costs, dtype=float),
    )
    kept = replace(kept, used=np.arange(len(labels.declared))) if keep_levels else kept
    encoding = encoding or Encoding({})
    given = found if names is None else names
    chosen = tuple(f"x{j + 1}" for j in range(width)) if given is None else tuple(str(name) for name in given)
    design = kept.design(
        Rows(X=kept.take(matrix)),
        names=chosen,
        terms={name: slice(j, j + 1) for j, name in enumerate(chosen)},
        formula=f"{response} ~ {' + '.join(chosen) if width <= 10 else '.'}",
        spec=ArraySpec(
            columns=found,
            response_name=response,
            levels=kept.levels.values,
            names=chosen,
            gaps=gaps,
            encoding=encoding,
        ),
    )
    return replace(design, sample=replace(design.sample, categories=encoding.counts(chosen)))


def _check_finite(matrix: FloatArray, index: pd.Index, gaps: bool) -> None:
    """DataError where a value is infinite, or missing and must not be."""
    with np.errstate(invalid="ignore", over="ignore"):
        if np.isfinite(matrix.sum()):
            return
    wrong = np.isinf(matrix) if gaps else ~np.isfinite(matrix)
    if not wrong.any():
        return
    row, column = (int(k) for k in np.argwhere(wrong)[0])
    must = "finite or missing (NaN)" if gaps else "finite"
    raise DataError(
        f"X is {matrix[row, column]:g} in {row_name(index, row)}, column {column}; all values must be {must}."
    )


def _given(values: Any, role: str, index: pd.Index) -> Given | None:
    return None if values is None else Given(read(values_of(np.asarray(values), role, index)), (role,))

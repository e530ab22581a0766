"""Designs of sparse columns, which come without a frame or a formula of their own."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
import pandas as pd

from .._typing import FloatArray, IntArray
from ..checks import plain, shown_labels
from ..exceptions import DataError
from .design import Design, Levels
from .names import ColumnName, Piece
from .parse import Expression, Side
from .recipe import Recipe
from .sample import Rows, Sample
from .sparse import SparseColumns, in_place_of_dense, sparse_part
from .spec import FormulaSpec, NewRows
from .used import ZERO_WEIGHT

#: Most columns that a note names.
_NAMED = 5
_NO_FRAME = (
    "A fit to a sparse X has no data frame to go back to. Fit OrdinalClassifier again,"
    " or use scikit-learn's tools, such as cross_val_score; for all that a fit to a"
    " formula answers take the columns that matter as a dense frame."
)


@dataclass(frozen=True, eq=False, kw_only=True)
class SparseSpec(FormulaSpec):
    """Specification of sparse columns x1, x2, ...: makes rows of new matrices.

    Attributes
    ----------
    width : int
        Number of columns.
    """

    width: int = 0

    @cached_property
    def names(self) -> dict[str, tuple[str, ...]]:
        location = tuple([f"x{j + 1}" for j in range(self.width)])
        return {"location": location, "nominal": (), "scale": ()}

    @cached_property
    def column_names(self) -> dict[str, tuple[ColumnName, ...]]:
        records = [
            ColumnName((Piece(Expression(name, name)),))
            for name in self.names["location"]
        ]
        return {"location": tuple(records), "nominal": (), "scale": ()}

    def rebuild(self, data: Any, without: Collection[str] = ()) -> NewRows:
        """The rows of a matrix (n, p), sparse or dense.

        Raises
        ------
        DataError
            Another number of columns.
        """
        columns = sparse_part(data)
        if columns is None:
            columns = SparseColumns.of(data)
        if columns.width != self.width:
            raise DataError(
                f"X must have the {self.width} columns of the fit; got {columns.width}."
            )
        n = len(columns)
        return NewRows(
            rows=Rows(X=in_place_of_dense(columns)),
            complete=np.ones(n, dtype=bool),
            index=pd.RangeIndex(n),
        )

    def new_frame(self, data: Any) -> NoReturn:
        raise DataError(_NO_FRAME)

    def response(self, data: Any) -> NoReturn:
        raise DataError(_NO_FRAME)


@dataclass(frozen=True, eq=False, kw_only=True)
class SparseDesign(Design):
    """A sample of sparse columns with their names."""

    def updated(self, data: Any = None, **changes: Any) -> NoReturn:
        """Refused: there is no formula to change."""
        raise DataError(_NO_FRAME)

    def beside(self, data: Any) -> NoReturn:
        raise DataError(_NO_FRAME)

    def _check_data(self) -> NoReturn:
        raise DataError(_NO_FRAME)


def sparse_design(
    X: SparseColumns,
    y: IntArray,
    levels: list[Any],
    weights: FloatArray | None,
    constant_note: bool,
) -> SparseDesign:
    """The design of sparse columns (N, p) with answers y (N,), codes of the levels in
    order. Rows of weight 0 are left out; `constant_note` asks for a note on columns
    that do not vary.
    """
    used = np.arange(len(X))
    dropped = {}
    if weights is not None and not weights.all():
        used = np.flatnonzero(weights)
        dropped[ZERO_WEIGHT] = len(X) - used.size
        X = X[used]
        y = y[used]
        weights = weights[used]
    labels = tuple([plain(label) for label in levels])
    absent = np.setdiff1d(np.arange(len(labels)), y)
    notes = []
    if absent.size:
        shown = shown_labels([labels[code] for code in absent])
        notes.append(
            f"No row has the levels {shown} of the response: their probability is 0."
        )
    constant = np.flatnonzero(X.spreads(weights)[1] == 0.0)
    if constant_note and constant.size:
        shown = shown_labels([f"x{j + 1}" for j in constant[:_NAMED]])
        notes.append(
            f"{constant.size} of {X.width} columns of X do not vary in the rows of the"
            f" fit, and have no effect: {shown}."
        )
    spec = SparseSpec(location=Side(), response_name="y", levels=labels, width=X.width)
    names = spec.names["location"]
    return SparseDesign(
        sample=Sample(
            rows=Rows(X=in_place_of_dense(X)),
            y=np.ascontiguousarray(y, dtype=np.intp),
            n_levels=len(labels),
            weights=weights,
        ),
        names=names,
        levels=Levels(values=labels),
        response="y",
        formula="y ~ .",
        index=pd.RangeIndex(used.size) if not dropped else pd.Index(used),
        n_given=used.size + sum(dropped.values()),
        spec=spec,
        recipe=Recipe("y ~ .", levels=list(labels)),
        terms={name: slice(j, j + 1) for j, name in enumerate(names)},
        dropped=dropped,
        notes=tuple(notes),
    )

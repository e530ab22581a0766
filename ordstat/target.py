"""Rows to predict, with their scores; data and weights given by users."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ._typing import BoolArray, FloatArray, IntArray
from .checks import refuse
from .exceptions import DataError, OptionError
from .formula.columns import Columns, as_frame
from .formula.inputs import vector, weights_of
from .formula.sample import Rows

if TYPE_CHECKING:
    from .formula.design import Levels
    from .formula.extrapolation import FarValues
    from .judging.margins import Margins


@dataclass(frozen=True, eq=False, kw_only=True)
class Target:
    """Rows of a frame with their scores; incomplete rows are on the index but have no
    scores.

    Attributes
    ----------
    rows : Rows
        The n complete rows.
    scores : (n,) potential H, or (n, K) votes
    complete : (N,) mask
    index : pandas.Index
        Index of all N rows.
    far : tuple of FarValues
        The variables of new rows with values far outside the rows of the fit.
    """

    rows: Rows
    scores: FloatArray
    complete: BoolArray
    index: pd.Index
    far: tuple[FarValues, ...] = ()

    def series(self, values: FloatArray, name: str | None = None) -> pd.Series:
        """Values (n,) on the index, NaN at incomplete rows."""
        # pandas 2 would hand out the array of the fit itself.
        return pd.Series(self.placed(values), index=self.index, name=name, copy=True)

    def frame(self, values: FloatArray, columns: Any) -> pd.DataFrame:
        """Values (n, M) on the index, NaN at incomplete rows."""
        return pd.DataFrame(
            self.placed(values), index=self.index, columns=columns, copy=True
        )

    def margins(self, m: Margins) -> pd.DataFrame:
        """Left and right margins of the rows, raw and normalised."""
        both = np.column_stack((m.left, m.right))
        columns = ["left", "right", "normalised_left", "normalised_right"]
        return self.frame(np.column_stack((both, both / m.unit)), columns)

    def classes(
        self, codes: IntArray, levels: Levels, name: str | None = None
    ) -> pd.Series:
        """Codes (n,) as an ordered categorical of the user's levels, NaN at incomplete
        rows.
        """
        placed = np.full(self.complete.size, -1, dtype=np.intp)
        placed[self.complete] = codes
        return levels.categorical(placed, self.index, name)

    def among(self, kept: BoolArray) -> Target:
        """The same index, with scores only for the complete rows in `kept` (N,)."""
        inside = kept[self.complete]
        return Target(
            rows=self.rows.take(inside),
            scores=self.scores[inside],
            complete=self.complete & kept,
            index=self.index,
            far=self.far,
        )

    def weighted(self, weights: FloatArray | None) -> Target:
        """The same index, with scores only for rows of positive weight (n,)."""
        if weights is None:
            return self
        kept = self.complete.copy()
        kept[self.complete] = weights > 0.0
        return self.among(kept)

    def placed(self, values: FloatArray) -> FloatArray:
        """(N, ...) values of the complete rows (n, ...), NaN at the others."""
        if self.complete.all():
            return values
        placed = np.full((self.complete.size, *values.shape[1:]), np.nan)
        placed[self.complete] = values
        return placed


def copied(data: Any, index: pd.Index | None) -> pd.DataFrame:
    """A pandas copy of the user's data on `index`; None numbers the rows of data that
    have no index.
    """
    if isinstance(data, pd.DataFrame):
        return data.copy()
    frame = as_frame(data).copy()
    return frame if index is None else frame.set_axis(index)


def check_weights_go_with(data: Any, weights: Any, name: str = "newdata") -> None:
    """Raise OptionError if weights of new rows are given without new rows."""
    if data is None and weights is not None:
        raise OptionError(
            f"weights goes with {name}: the rows of the fit have their own."
        )


def case_weights(newdata: Any, weights: Any, complete: BoolArray) -> FloatArray:
    """(n,) weights of the complete rows of new data."""
    frame = as_frame(newdata)
    column = vector(weights, "weights", Columns(frame), None, frame.index)
    values = weights_of(column, weights, frame.index)
    if column.missing is not None:
        refuse(
            column.missing & complete,
            frame.index,
            "weights=",
            "missing",
            ". Give every row a weight.",
        )
    if not values[complete].any():
        raise DataError(
            "weights= must be positive in some row of newdata that has all values; it"
            " is not."
        )
    return values[complete]

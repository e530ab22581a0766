"""Rows to predict, and the way back from arrays to pandas on the index of the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._typing import BoolArray, FloatArray, IntArray
from ..assess.margins import Margins
from ..exceptions import DataError
from ..model.sample import Rows

if TYPE_CHECKING:
    from ..design.design import Levels


@dataclass(frozen=True, eq=False, kw_only=True)
class Target:
    """Rows of a frame with their scores; incomplete rows have a place on the index but no numbers.

    Attributes
    ----------
    rows : Rows
        The n complete rows.
    scores : (n,) potential H, or (n, K) votes
    complete : (N,) mask
    index : pandas.Index
        Index of all N rows.
    """

    rows: Rows
    scores: FloatArray
    complete: BoolArray
    index: pd.Index

    def series(self, values: FloatArray, name: str | None = None) -> pd.Series:
        """Values (n,) on the index, NaN at incomplete rows."""
        # pandas 2 would hand out the array of the fit itself.
        return pd.Series(self._placed(values), index=self.index, name=name, copy=True)

    def frame(self, values: FloatArray, columns: Sequence[Any]) -> pd.DataFrame:
        """Values (n, M) on the index, NaN at incomplete rows."""
        return pd.DataFrame(self._placed(values), index=self.index, columns=list(columns), copy=True)

    def margins(self, m: Margins) -> pd.DataFrame:
        """Left and right margins of the rows, raw and normalised."""
        both = np.column_stack((m.left, m.right))
        columns = ["left", "right", "normalised_left", "normalised_right"]
        return self.frame(np.column_stack((both, both / m.unit)), columns)

    def classes(self, codes: IntArray, levels: Levels, name: str | None = None) -> pd.Series:
        """Codes (n,) as an ordered categorical of the user's levels, NaN at incomplete rows."""
        placed = np.full(self.complete.size, -1, dtype=np.intp)
        placed[self.complete] = codes
        return levels.categorical(placed, self.index, name)

    def among(self, kept: BoolArray) -> Target:
        """The same places, with numbers only where `kept` (N,) says so too."""
        inside = kept[self.complete]
        return Target(
            rows=self.rows.take(inside), scores=self.scores[inside], complete=self.complete & kept, index=self.index
        )

    def weighted(self, weights: FloatArray | None) -> Target:
        """The same places, with numbers only where weights (n,) are not 0: such rows are none."""
        if weights is None:
            return self
        kept = self.complete.copy()
        kept[self.complete] = weights > 0.0
        return self.among(kept)

    def _placed(self, values: FloatArray) -> FloatArray:
        if self.complete.all():
            return values
        placed = np.full((self.complete.size, *values.shape[1:]), np.nan)
        placed[self.complete] = values
        return placed


def copied(data: Any, index: pd.Index | None) -> pd.DataFrame:
    """A pandas copy of the user's data on `index`; None numbers the rows of data that have no index."""
    if isinstance(data, pd.DataFrame):
        return data.copy()
    if not isinstance(data, dict):
        import narwhals as nw

        try:
            data = nw.from_native(data, eager_only=True).to_dict(as_series=False)
        except TypeError:
            raise DataError(
                "data must be a data frame, a pyarrow Table or a mapping of column name to values; got "
                f"{type(data).__name__}."
            ) from None
    return pd.DataFrame(data, index=index)

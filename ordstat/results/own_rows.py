"""The rows of a fit among its data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..exceptions import DataError
from ..model.sample import Rows
from .target import copied

if TYPE_CHECKING:
    from ..design.design import Design

#: What rows are made of.
_PARTS = ("X", "nominal", "scale", "offset", "scale_offset")


def own_rows(
    design: Design, data: Any = None, remedy: str = "pass data= with the data that were fitted, here"
) -> pd.DataFrame:
    """The rows of the fit, in its order, checked against what was fitted.

    Parameters
    ----------
    design : Design
    data : data frame, optional
        What was fitted; the data that came with the fit if not given.
    remedy : str
        What to do where there are none.

    Returns
    -------
    pandas.DataFrame

    Raises
    ------
    DataError
        The data are not at hand, are not what was fitted, or do not tell the rows of the fit.
    """
    given = design.data if data is None else data
    if given is None:
        raise DataError(
            "The data of the fit are not at hand (a fit is saved and pickled without them): "
            f"{remedy} or to load(path, data=...)."
        )
    frame, told = rows_told(design, given)
    if not told and len(frame) != design.sample.n:
        frame = frame[design.spec.rebuild(frame).complete & (design.spec.response(frame) >= 0)]
    if len(frame) != design.sample.n:
        raise DataError(
            "The rows of the fit cannot be found in the data by their index: fit data with a unique index, or pass the "
            "rows as newdata=."
        )
    _check_unchanged(design.sample.rows, design.spec.rebuild(frame))
    return frame


def rows_told(design: Design, data: Any) -> tuple[pd.DataFrame, bool]:
    """The rows of the fit among its data where the index tells which they are, else all rows; and whether it does."""
    frame = copied(data, None)
    told = bool(frame.index.is_unique and design.index.isin(frame.index).all())
    return (frame.loc[design.index] if told else frame), told


def are_own(design: Design, data: Any) -> bool:
    """Whether all rows of a frame are rows of the fit, by their labels and all that both frames have."""
    if design.data is None:
        return False
    known, given = copied(design.data, None), copied(data, None)
    both = [column for column in known.columns if column in given.columns]
    told = known.index.is_unique and len(given) > 0 and bool(given.index.isin(design.index).all())
    return bool(told and known.loc[given.index, both].equals(given[both]))


def by_name(frame: pd.DataFrame, variables: Sequence[str]) -> pd.DataFrame:
    """With the variables under the names that the formula has for them: a column 0 is `0`."""
    texts = {column: str(column) for column in frame.columns if column not in variables and str(column) in variables}
    return frame.rename(columns=texts) if texts else frame


def _check_unchanged(fitted: Rows, rebuilt: Any) -> None:
    parts = [(getattr(fitted, part), getattr(rebuilt.rows, part)) for part in _PARTS]
    same = (one is None or np.array_equal(one, other, equal_nan=True) for one, other in parts)
    if not rebuilt.complete.all() or not all(same):
        raise DataError("The data are not what they were at the fit: pass data= with the data that were fitted.")

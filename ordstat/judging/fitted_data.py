"""The data frame of a fit, and its rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..checks import one_of
from ..exceptions import DataError, OptionError
from ..formula.parse import partial_call
from ..formula.spec import ROLES
from ..target import copied

if TYPE_CHECKING:
    from .._typing import FloatArray
    from ..formula.design import Design
    from ..formula.sample import Rows

#: Arrays of rows that are compared with those of the fit.
_PARTS = ("X", "nominal", "scale", "offset", "scale_offset")


def data_of_fit(
    design: Design,
    data: Any = None,
    remedy: str = "pass data= with the data that were fitted, here",
) -> Any:
    """`data`, or else the data of the fit; DataError if neither exists."""
    frame = design.data if data is None else data
    if frame is None:
        raise DataError(
            "The data of the fit are not available, as it was saved or pickled without"
            f" them: {remedy} or to load(path, data=...)."
        )
    return frame


def checked_rows(design: Design, data: Any = None) -> pd.DataFrame:
    """The rows of the fit as a data frame, checked against the arrays of the fit.

    Parameters
    ----------
    design : Design
    data : data frame, optional
        The data of the fit; by default the stored data.

    Returns
    -------
    pandas.DataFrame

    Raises
    ------
    DataError
        The data are missing or changed, or their index does not identify the rows of
        the fit.
    """
    frame, identified = matched_rows(design, data_of_fit(design, data))
    if not identified and len(frame) != design.sample.n:
        frame = frame[
            design.spec.rebuild(frame).complete & (design.spec.response(frame) >= 0)
        ]
    if len(frame) != design.sample.n:
        raise DataError(
            "The index of the data does not identify the rows of the fit. Fit data with"
            " a unique index, or pass newdata=."
        )
    check_unchanged(design, frame)
    return frame


def check_unchanged(design: Design, frame: pd.DataFrame) -> None:
    """DataError unless the rows of a frame give the arrays of the fit."""
    rebuilt = design.spec.rebuild(frame)
    fitted = design.sample.rows
    for part in _PARTS:
        old = getattr(fitted, part)
        new = getattr(rebuilt.rows, part)
        if not rebuilt.complete.all() or (
            old is not None and not np.array_equal(old, new, equal_nan=True)
        ):
            raise DataError(
                "The data have changed since the fit. Pass data= with the data that"
                " were fitted."
            )


def model_matrix(design: Design, newdata: Any, part: str) -> pd.DataFrame:
    """The columns of one part of the model, at the rows of the fit or at new rows.

    Parameters
    ----------
    design : Design
    newdata : data frame or None
    part : {"location", "nominal", "scale"}

    Returns
    -------
    pandas.DataFrame
        NaN in all columns of a new row that lacks an input.

    Raises
    ------
    OptionError
        Another part, or one that the model does not have.
    """
    one_of("part", part, ROLES)
    if part != "location" and part not in design.spec.by_role:
        raise OptionError(
            f"part must be one of the model, which has no {part}= formula; got"
            f" {part!r}. Fit with {part}='~ x' to have one."
        )
    names = list(design.spec.names[part])
    if newdata is None:
        held = _columns_of(design.sample.rows, part)
        return pd.DataFrame(np.array(held), index=design.index, columns=names)
    new = design.spec.rebuild(newdata)
    values = np.full((new.complete.size, len(names)), np.nan)
    values[new.complete] = _columns_of(new.rows, part)
    return pd.DataFrame(values, index=new.index, columns=names)


def _columns_of(rows: Rows, part: str) -> FloatArray:
    """(n, D) columns of a part; none of a part with an offset alone."""
    columns: FloatArray | None = rows.X if part == "location" else getattr(rows, part)
    return np.zeros((rows.n, 0)) if columns is None else columns


def response_of(design: Design) -> pd.Series:
    """(n,) answers of the rows of the fit, in the user's labels.

    Answers in one column are an ordered categorical. For `interval` and `Surv` the
    values are objects: labels, intervals of numbers, or texts such as "low to high".

    Raises
    ------
    DataError
        Answers are censored, and the data are missing or have changed.
    """
    if partial_call(design.spec.response_name) is None:
        return design.levels.categorical(design.sample.y, design.index, design.response)
    answers = design.spans().given()
    return pd.Series(answers, index=design.index, name=design.response, dtype=object)


def matched_rows(design: Design, data: Any) -> tuple[pd.DataFrame, bool]:
    """The rows of the fit and True, or all rows and False if the index does not
    identify them.
    """
    frame = copied(data, None)
    identified = bool(frame.index.is_unique and design.index.isin(frame.index).all())
    return (frame.loc[design.index] if identified else frame), identified


def only_fitted_rows(design: Design, data: Any) -> bool:
    """Whether all rows of a frame are rows of the fit, by their index and the common
    columns.
    """
    if design.data is None:
        return False
    fitted = copied(design.data, None)
    frame = copied(data, None)
    shared = [column for column in fitted.columns if column in frame.columns]
    labelled = (
        fitted.index.is_unique
        and len(frame) > 0
        and frame.index.isin(design.index).all()
    )
    return bool(labelled and fitted.loc[frame.index, shared].equals(frame[shared]))


def with_text_names(frame: pd.DataFrame, variables: Sequence[str]) -> pd.DataFrame:
    """Rename columns to the names in the formula: a column 0 becomes "0"."""
    texts = {
        column: str(column)
        for column in frame.columns
        if column not in variables and str(column) in variables
    }
    return frame.rename(columns=texts) if texts else frame

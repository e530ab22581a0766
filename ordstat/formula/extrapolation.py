"""Extrapolation: values of new rows far outside the range of the rows of the fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import numpy as np

from .._typing import AnyArray
from ..checks import row_name
from ..exceptions import ExtrapolationWarning, warn
from .columns import Columns, Factor

#: A number is far outside a range from this share of its width beyond an end. A tenth
#: or so lies outside by chance in small samples; further out the data say nothing of
#: the shape of an effect.
FAR = 0.5
#: Variables that one warning describes.
_MOST = 3
#: What the present call has told, where it predicts several times; None elsewhere.
_TOLD: ContextVar[list[str] | None] = ContextVar("told", default=None)


@dataclass(frozen=True, eq=False)
class FarValues:
    """The rows in which one variable is far outside its range.

    Attributes
    ----------
    name : str
    range : (float, float)
        Of the rows of the fit.
    values : (M,)
    first : str
        The first such row.
    """

    name: str
    range: tuple[float, float]
    values: AnyArray
    first: str

    @property
    def words(self) -> str:
        """The variable, its range and its values in these rows, as text."""
        low, high = self.range
        least = self.values.min()
        most = self.values.max()
        shown = f"{least:g}" if least == most else f"{least:g} to {most:g}"
        where = f"in {self.first}"
        if self.values.size > 1:
            where = f"in {self.values.size} rows, first {self.first}"
        return f"{self.name} is {low:g} to {high:g} in the fit and {shown} {where}"


def within_reach(low: float, high: float) -> tuple[float, float] | None:
    """The interval of values that are not far from a range; None for a range of no
    width.

    Examples
    --------
    >>> within_reach(0.0, 0.0) is None
    True
    """
    reach = FAR * (high - low)
    return (low - reach, high + reach) if reach > 0.0 else None


def far_values(
    ranges: Mapping[str, tuple[float, float]], columns: Columns
) -> Iterator[FarValues]:
    """The variables of new rows with values far outside their ranges.

    Parameters
    ----------
    ranges : mapping of str to (low, high)
        A variable that is constant in the fit has no effect, and no range.
    columns : Columns
        Of the new rows.
    """
    for name, (low, high) in ranges.items():
        near = within_reach(low, high)
        if near is None or name not in columns:
            continue
        ends = columns.range(name)
        if ends is not None and near[0] <= ends[0] and ends[1] <= near[1]:
            continue
        value, missing = columns.column(name)
        if isinstance(value, Factor):
            continue
        outside: AnyArray = (value < near[0]) | (value > near[1])
        if missing is not None:
            outside = outside & ~missing
        if outside.any():
            first = row_name(columns.frame.index, int(np.argmax(outside)))
            yield FarValues(name, (low, high), value[outside], first)


def tell_far(found: Sequence[FarValues], have: str = "newdata has") -> None:
    """Warn of new rows with values far outside the range of the rows of the fit; `have`
    begins the sentence.
    """
    told = _TOLD.get()
    if told or not found:
        return
    text = "; ".join(far.words for far in found[:_MOST])
    if len(found) > _MOST:
        text += f"; and {len(found) - _MOST} more variables"
    warn(
        f"{have} values far outside the rows of the fit: {text}. Predictions there"
        " depend on the form of the model alone. Check their units.",
        ExtrapolationWarning,
    )
    if told is not None:
        told.append(text)


@contextmanager
def telling_once(told: list[str] | None = None) -> Iterator[None]:
    """Inside this context only the first call of `tell_far` with values to report
    warns.

    `told` has the earlier messages, for several blocks of one call.
    """
    token = _TOLD.set([] if told is None else told)
    try:
        yield
    finally:
        _TOLD.reset(token)

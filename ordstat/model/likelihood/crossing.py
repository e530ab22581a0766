"""Rows whose thresholds nominal effects put out of order: a probability between two of them is negative."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._typing import AnyArray, IntArray
from ...exceptions import DataError, warn
from ..row_blocks import row_blocks
from ..sample import Rows
from .rule import LikelihoodRule

#: Rows that a message names.
_NAMED = 5


def crossed_rows(rule: LikelihoodRule, rows: Rows) -> IntArray:
    """Places of the rows whose thresholds are out of order; none where the family has no order to keep."""
    if rows.nominal is None or not rule.family.ordered:
        return np.empty(0, dtype=np.intp)
    crossed = np.zeros(rows.n, dtype=np.bool_)
    with np.errstate(invalid="ignore"):  # thresholds at infinity, of levels that no row had
        steps = np.diff(rule.alpha, axis=0)
        for some in row_blocks(rows.n, rule.n_levels):
            crossed[some] = (steps[:, 0] + rows.nominal[some] @ steps[:, 1:].T < 0.0).any(axis=1)
    return np.flatnonzero(crossed)


def crossing_text(crossed: IntArray, n: int, labels: Sequence[Any] | AnyArray | None, what: str) -> str:
    """How many of n rows are crossed, the first of them by their labels, and what to do."""
    names = "" if labels is None else f" ({_first(crossed, labels)})"
    return (
        f"nominal effects put the thresholds of {crossed.size} of {n} {what}{names} out of order, so that some of "
        "their probabilities are negative: keep such rows out, or give the variable a location effect "
        "in place of a nominal one."
    )


def _first(crossed: IntArray, labels: Sequence[Any] | AnyArray) -> str:
    shown = ", ".join(str(labels[place]) for place in crossed[:_NAMED])
    more = f" and {crossed.size - _NAMED} more" if crossed.size > _NAMED else ""
    return f"{'row' if crossed.size == 1 else 'rows'} {shown}{more}"


def report_crossing(
    rule: LikelihoodRule, rows: Rows, labels: Sequence[Any] | AnyArray | None, what: str, *, refuse: bool = False
) -> None:
    """Warn the caller of the package where rows have negative probabilities.

    Parameters
    ----------
    rule : LikelihoodRule
    rows : Rows
    labels : sequence of N labels, optional
        What the rows are known by.
    what : str
        What they are: "rows of newdata".
    refuse : bool
        Raise the DataError in place of the DataWarning.
    """
    tell_crossing(crossed_rows(rule, rows), rows.n, labels, what, refuse=refuse)


def tell_crossing(
    crossed: IntArray, n: int, labels: Sequence[Any] | AnyArray | None, what: str, *, refuse: bool = False
) -> None:
    """`report_crossing` of rows that were found among n."""
    if crossed.size == 0:
        return
    text = crossing_text(crossed, n, labels, what)
    if refuse:
        raise DataError(text)
    warn(text)

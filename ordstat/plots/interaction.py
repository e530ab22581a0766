"""Probabilities of the levels over one variable, a panel for each value of another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._typing import AnyArray
from ..exceptions import OptionError
from . import style
from .drawn import data_of_fit, fitted_columns, not_taken
from .variables import TAKEN, effects_data, lines, numeric, points

if TYPE_CHECKING:
    from .drawn import DrawnLikelihood

_COLUMNS = 3
_QUARTILES = (0.25, 0.5, 0.75)
_MOST_PANELS = 12


def interaction_data(
    results: DrawnLikelihood,
    variable: str,
    by: str,
    *,
    values: Sequence[Any] | None = None,
    by_values: Sequence[Any] | None = None,
    at: Mapping[str, Any] | None = None,
    data: Any = None,
    level: float = 0.95,
) -> pd.DataFrame:
    """Marginal means of the probabilities, as `effects_data`, at each value of `by`.

    Returns
    -------
    pandas.DataFrame
        Columns of both variables, level, estimate, std_error, lower, upper.
    """
    if by == variable:
        raise OptionError(f"by must be another variable than {variable!r}.")
    if by in (at or {}):
        raise OptionError(f"at must hold other variables than by, {by!r}: give its values as by_values=.")
    not_taken([variable, by], TAKEN)
    groups = _values(results, by, data) if by_values is None else list(by_values)
    if not groups:
        raise OptionError("by_values must have a value at least; got none.")
    tables = []
    for value in groups:
        held = {**(at or {}), by: value}
        table = effects_data(results, variable, values=values, at=held, data=data, level=level).copy()
        table.insert(0, by, [value] * len(table))
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def _values(results: DrawnLikelihood, by: str, data: Any) -> list[Any]:
    """Levels of a factor, or the quartiles of a number among the rows of the fit."""
    columns = results.design.spec.columns or ()
    if by not in columns:
        raise OptionError(f"by must be a variable of the formula, {', '.join(map(repr, columns))}; got {by!r}.")
    levels = results.design.spec.categories().get(by)
    if levels is not None:
        return list(levels)
    numbers = fitted_columns(results, data_of_fit(results, data, ", or by_values="), [by])[by].to_numpy(
        dtype=np.float64
    )
    return list(np.unique(np.quantile(numbers[np.isfinite(numbers)], _QUARTILES)).tolist())


def interaction(
    results: DrawnLikelihood,
    variable: str,
    by: str,
    ax: Any = None,
    *,
    values: Sequence[Any] | None = None,
    by_values: Sequence[Any] | None = None,
    at: Mapping[str, Any] | None = None,
    data: Any = None,
    level: float = 0.95,
) -> AnyArray:
    """Probability of every level over a variable, with bands, in a panel for each value of another.

    Panels of the same shape say that there is no interaction on the scale of probabilities; a model without one has
    parallel lines on the scale of its link alone.

    Parameters
    ----------
    variable, by : str
        Variables of the formula.
    ax : array of matplotlib axes, optional
        One a panel.
    values, at, data, level
        As in `effects`.
    by_values : sequence, optional
        Values of `by`; all levels of a factor, the quartiles of a number if not given.

    Returns
    -------
    array of matplotlib axes
    """
    table = interaction_data(results, variable, by, values=values, by_values=by_values, at=at, data=data, level=level)
    shown = list(dict.fromkeys(table[by]))
    if len(shown) > _MOST_PANELS:
        raise OptionError(
            f"by_values must be {_MOST_PANELS} values at most, each has a panel; {by!r} has {len(shown)}."
        )
    width = 2.5 * min(len(shown), _COLUMNS) + 1.4
    axes = style.panels(ax, len(shown), _COLUMNS, height=2.7, width=width)
    colours = style.level_colours(len(results.levels))
    draw = lines if numeric(results, variable, table) else points
    top = min(1.0, 1.04 * float(np.nanmax(table[["estimate", "upper"]].to_numpy())))
    for place, (panel, value) in enumerate(zip(axes, shown, strict=True)):
        own = table[table[by] == value]
        for k, name in enumerate(results.levels):
            draw(panel, own[own["level"] == name], variable, k, colours)
        panel.set_ylim(0.0, top)
        text = f"{value:.4g}" if isinstance(value, float) else str(value)
        first = place % _COLUMNS == 0
        style.named(panel, variable, f"P({results.design.response} = level)" if first else "", f"{by} = {text}")
        panel.title.set_fontsize(style.SMALL + 0.5)
    style.level_key(axes[min(len(shown), _COLUMNS) - 1], results.levels, colours)
    return np.array(axes, dtype=object)

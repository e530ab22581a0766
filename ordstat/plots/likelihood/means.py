"""Estimated marginal means over a variable, a line for each value of another: where lines are parallel, no interaction.

As R's emmip. On the scale of probabilities, which has a curve for every level, `effects` draws them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ...exceptions import OptionError
from .. import style
from ..drawn import not_taken
from ..variables import factor_axis, numeric
from .effects import LINES, MARKERS, held_at, span_of, value_words, values_by

if TYPE_CHECKING:
    from ..drawn import Axes, DrawnLikelihood

_NUMBERS = ["estimate", "std_error", "lower", "upper"]
_MOST_LINES = 8


def emmeans_data(
    results: DrawnLikelihood,
    variable: str,
    *,
    by: str | None = None,
    values: Sequence[Any] | None = None,
    by_values: Sequence[Any] | None = None,
    scale: str = "latent",
    at: Mapping[str, Any] | None = None,
    data: Any = None,
    re: str | None = None,
    level: float = 0.95,
) -> pd.DataFrame:
    """Marginal means, from `emmeans`.

    Returns
    -------
    pandas.DataFrame
        Columns of `by`, where there is one, the variable, estimate, std_error, lower, upper.
    """
    return _found(results, variable, by, scale, values, by_values, at, data, re, level)[0]


def _found(
    results: DrawnLikelihood,
    variable: str,
    by: str | None,
    scale: str,
    values: Sequence[Any] | None,
    by_values: Sequence[Any] | None,
    at: Mapping[str, Any] | None,
    data: Any,
    re: str | None,
    level: float,
) -> tuple[pd.DataFrame, str]:
    """The means, and what they are means of."""
    if not isinstance(variable, str):
        raise OptionError(f"variable must be the name of one variable of the formula; got {variable!r}.")
    not_taken([variable, by], _NUMBERS)
    held = held_at(at)
    if values is None and variable not in results.design.spec.categories():
        values = span_of(results, variable, data)
    if values is not None:
        held[variable] = list(values)
    shown = [] if by is None else [by]
    if by is not None:
        held[by] = values_by(results, variable, by, by_values, at, data)
    elif by_values is not None:
        raise OptionError("by_values goes with by=; got no by.")
    means = results.emmeans([*shown, variable], scale=scale, at=held, data=data, level=level, re=re)
    frame: pd.DataFrame = means.frame
    if frame.columns.difference([*shown, variable, *_NUMBERS]).size:
        raise OptionError(f"scale must have one mean at each value; {scale!r} has one a level. Use plot.effects().")
    return frame[[*shown, variable, *_NUMBERS]], str(means.quantity)


def emmeans(
    results: DrawnLikelihood,
    variable: str,
    ax: Axes | None = None,
    *,
    by: str | None = None,
    values: Sequence[Any] | None = None,
    by_values: Sequence[Any] | None = None,
    scale: str = "latent",
    at: Mapping[str, Any] | None = None,
    data: Any = None,
    re: str | None = None,
    level: float = 0.95,
) -> Axes:
    """Marginal means over a variable, with limits; with `by`, an interaction plot.

    On the scale of the link lines are parallel where the two variables do not interact.

    Parameters
    ----------
    variable : str
        A variable of the formula.
    ax : matplotlib axes, optional
    by : str, optional
        Another variable: a line for each of its values, up to eight.
    scale : str
        As in `fit.emmeans`, but for those that have a mean for each level: "latent", "mean_class", ...
    values, by_values, at, data, level
        As in `effects`.
    re : {"marginal", "zero"}, optional
        Of a fit with random effects, as in `fit.emmeans`.
    """
    table, quantity = _found(results, variable, by, scale, values, by_values, at, data, re, level)
    groups = [("", table)] if by is None else [(value_words(v), table[table[by] == v]) for v in table[by].unique()]
    if len(groups) > _MOST_LINES:
        raise OptionError(f"by_values must be {_MOST_LINES} values at most; {by!r} has {len(groups)}.")
    ax = style.axes(ax, height=3.8)
    colours = style.level_colours(max(len(groups), 2))
    draw = _over_number if numeric(results, variable, table) else _over_factor
    for place, (name, group) in enumerate(groups):
        draw(ax, group, variable, place, len(groups), style.RIGHT if by is None else colours[place], name)
    if by is not None:
        looks: dict[str, Any] = {"fontsize": style.SMALL, "labelcolor": style.INK, "frameon": False}
        legend = ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), title=style.beside(ax, by), **looks)
        legend.get_title().set(fontsize=style.SMALL, color=style.INK)
    return style.named(ax, variable, f"{quantity}, {100 * level:g} % limits")


def _over_number(ax: Axes, group: pd.DataFrame, variable: str, place: int, count: int, colour: Any, name: str) -> None:
    x = group[variable].to_numpy(dtype=np.float64)
    ax.fill_between(x, group["lower"], group["upper"], color=colour, alpha=0.15, linewidth=0)
    kind = LINES[place % len(LINES)]
    ax.plot(x, group["estimate"], color=colour, linewidth=1.8, linestyle=kind, label=style.beside(ax, name))
    ax.set_xlim(x.min(), x.max())


def _over_factor(ax: Axes, group: pd.DataFrame, variable: str, place: int, count: int, colour: Any, name: str) -> None:
    """Joined by thin lines where there are several, which are parallel or not."""
    x = np.arange(len(group)) + 0.24 * (place - 0.5 * (count - 1)) / max(count - 1, 1)
    ax.vlines(x, group["lower"], group["upper"], color=colour, linewidth=1.6, zorder=2)
    looks: dict[str, Any] = {
        "linewidth": 0.8 if count > 1 else 0.0,
        "linestyle": LINES[place % len(LINES)],
        "zorder": 3,
    }
    ax.plot(x, group["estimate"], marker=MARKERS[place], color=colour, label=style.beside(ax, name), **looks)
    factor_axis(ax, group[variable])

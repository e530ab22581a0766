"""Probabilities of the levels over one variable, in one frame or in panels by another variable or by level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..._typing import AnyArray
from ...exceptions import OptionError
from .. import style
from ..drawn import averaged, data_of_fit, fitted_columns, not_taken
from ..variables import factor_axis, numeric

if TYPE_CHECKING:
    from ..drawn import Axes, DrawnLikelihood

#: Of the table, beside the variables.
TAKEN = ("level", "estimate", "std_error", "lower", "upper")
_POINTS = 60
_CROWDED = 7  # levels; bands of more are drawn fainter
_COLUMNS = 3
_QUARTILES = (0.25, 0.5, 0.75)
_MOST_PANELS = 12
#: Lines of groups that are told apart in grey.
LINES = ("-", (0, (5, 2)), (0, (1, 1.3)), (0, (5, 2, 1, 2)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")


def effects_data(
    results: DrawnLikelihood,
    variable: str,
    *,
    by: str | None = None,
    values: Sequence[Any] | None = None,
    by_values: Sequence[Any] | None = None,
    at: Mapping[str, Any] | None = None,
    data: Any = None,
    re: str | None = None,
    level: float = 0.95,
) -> pd.DataFrame:
    """Marginal means of the probabilities at values of a variable, from `emmeans`.

    Returns
    -------
    pandas.DataFrame
        Columns of `by`, where there is one, the variable, level, estimate, std_error, lower, upper.
    """
    if not isinstance(variable, str):
        raise OptionError(f"variable must be the name of one variable of the formula; got {variable!r}.")
    not_taken([variable, by], TAKEN)
    if values is None and variable not in results.design.spec.categories():
        values = span_of(results, variable, data)
    held = held_at(at) | ({} if values is None else {variable: list(values)})
    if by is None:
        if by_values is not None:
            raise OptionError("by_values goes with by=; got no by.")
        return _means(results, variable, held, data, re, level)
    tables = []
    for value in values_by(results, variable, by, by_values, at, data):
        table = _means(results, variable, held | {by: [value]}, data, re, level).copy()
        table.insert(0, by, [value] * len(table))
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def held_at(at: Mapping[str, Any] | None) -> dict[str, Any]:
    """Values of other variables, each in a list."""
    return {name: [value] if _single(value) else list(value) for name, value in (at or {}).items()}


def _single(value: Any) -> bool:
    return isinstance(value, str) or not isinstance(value, (Sequence, np.ndarray))


def _means(
    results: DrawnLikelihood, variable: str, held: Mapping[str, Any], data: Any, re: str | None, level: float
) -> pd.DataFrame:
    means = results.emmeans(variable, scale="prob", at=dict(held), data=data, level=level, re=re)
    frame: pd.DataFrame = means.frame[[variable, *TAKEN]]
    return frame


def span_of(results: DrawnLikelihood, variable: str, data: Any) -> list[Any] | None:
    """Points from the smallest to the largest value in the rows of the fit; None for a column that is no number."""
    given = data_of_fit(results, data, ", or values=")
    if variable not in (results.design.spec.columns or ()):
        return None
    numbers = fitted_columns(results, given, [variable])[variable].to_numpy()
    if numbers.dtype.kind not in "iuf":
        return None
    finite = numbers[np.isfinite(numbers)]
    return [float(value) for value in np.linspace(finite.min(), finite.max(), _POINTS)]


def values_by(
    results: DrawnLikelihood,
    variable: str,
    by: str,
    by_values: Sequence[Any] | None,
    at: Mapping[str, Any] | None,
    data: Any,
) -> list[Any]:
    """Those given; else levels of a factor, or the quartiles of a number among the rows of the fit."""
    if by == variable:
        raise OptionError(f"by must be another variable than {variable!r}.")
    if by in (at or {}):
        raise OptionError(f"at must hold other variables than by, {by!r}: give its values as by_values=.")
    if by_values is not None:
        if not len(by_values):
            raise OptionError("by_values must have a value at least; got none.")
        return list(by_values)
    columns = results.design.spec.columns or ()
    if by not in columns:
        raise OptionError(f"by must be a variable of the formula, {', '.join(map(repr, columns))}; got {by!r}.")
    levels = results.design.spec.categories().get(by)
    if levels is not None:
        return list(levels)
    given = data_of_fit(results, data, ", or by_values=")
    numbers = fitted_columns(results, given, [by])[by].to_numpy(dtype=np.float64)
    return list(np.unique(np.quantile(numbers[np.isfinite(numbers)], _QUARTILES)).tolist())


def effects(
    results: DrawnLikelihood,
    variable: str,
    ax: Any = None,
    *,
    by: str | None = None,
    facets: bool = False,
    values: Sequence[Any] | None = None,
    by_values: Sequence[Any] | None = None,
    at: Mapping[str, Any] | None = None,
    data: Any = None,
    re: str | None = None,
    level: float = 0.95,
) -> Axes | AnyArray:
    """Probability of every level over a variable, with bands: lines for a number, points for a factor.

    They are the estimated marginal means of `emmeans`: all levels of the other factors weigh the same, other
    numbers are at their means.

    Parameters
    ----------
    variable : str
        A variable of the formula.
    ax : matplotlib axes, or an array of them with by or facets, optional
    by : str, optional
        Another variable: a panel for each of its values.
    facets : bool
        A panel for each level of the response, in which the values of `by` have a line each: for many levels.
    values : sequence, optional
        Values of the variable; all levels of a factor, 60 points over the range of a number if not given.
    by_values : sequence, optional
        Values of `by`; all levels of a factor, the quartiles of a number if not given.
    at : mapping, optional
        Values of other variables: {"contact": "yes"}.
    data : data frame, optional
        The data of the fit, where it does not have them any more (after unpickling).
    re : {"marginal", "zero"}, optional
        Of a fit with random effects: averaged over the groups, if not given, or those of a typical one.
    level : float in (0, 1)
        Confidence level of the limits.

    Returns
    -------
    matplotlib axes, or an array of them with by or facets
    """
    options: dict[str, Any] = {"values": values, "by_values": by_values, "at": at, "data": data, "re": re}
    means = effects_data(results, variable, by=by, level=level, **options)
    words = probability_words(results, re)
    if facets:
        return _level_panels(ax, results, means, variable, by, words)
    if by is not None:
        return _value_panels(ax, results, means, variable, by, words)
    return _one(style.axes(ax, height=4.0), results, means, variable, words)


def _one(ax: Axes, results: DrawnLikelihood, means: pd.DataFrame, variable: str, words: str) -> Axes:
    """All levels in one frame."""
    colours = style.level_colours(len(results.levels))
    _curves(ax, results, means, variable, colours)
    ax.set_ylim(0.0, _top(means))
    style.named(ax, variable, words)
    last = [float(means.loc[means["level"] == name, "estimate"].iloc[-1]) for name in results.levels]
    style.end_labels(ax, last, [str(name) for name in results.levels], colours)
    return ax


def probability_words(results: Any, re: str | None) -> str:
    """The name of an axis of probabilities."""
    what = f"P({results.design.response} = level)"
    return f"{what}, random effects at 0" if re == "zero" else what + averaged(results)


def _curves(ax: Axes, results: DrawnLikelihood, means: pd.DataFrame, variable: str, colours: Sequence[Any]) -> None:
    """A curve for each level of the response."""
    draw = lines if numeric(results, variable, means) else points
    for place, name in enumerate(results.levels):
        draw(ax, means[means["level"] == name], variable, place, colours)


def _top(means: pd.DataFrame) -> float:
    return min(1.0, 1.04 * float(np.nanmax(means[["estimate", "upper"]].to_numpy())))


def _value_panels(
    ax: Any, results: DrawnLikelihood, means: pd.DataFrame, variable: str, by: str, words: str
) -> AnyArray:
    """A panel for each value of another variable."""
    shown = list(dict.fromkeys(means[by]))
    panels = _panels(ax, len(shown), "by_values", f"{by!r} has {len(shown)}", style.key_height(results.levels))
    colours = style.level_colours(len(results.levels))
    for place, (panel, value) in enumerate(zip(panels, shown, strict=True)):
        _curves(panel, results, means[means[by] == value], variable, colours)
        _finish(panel, place, len(shown), variable, words, f"{by} = {value_words(value)}", _top(means))
    style.panel_key(panels, results.levels, colours, ax)
    return np.array(panels, dtype=object)


def _level_panels(
    ax: Any, results: DrawnLikelihood, means: pd.DataFrame, variable: str, by: str | None, words: str
) -> AnyArray:
    """A panel for each level of the response."""
    levels = results.levels
    panels = _panels(ax, len(levels), "facets", f"the response has {len(levels)} levels")
    groups = [("", means)] if by is None else [(str(value), means[means[by] == value]) for value in means[by].unique()]
    colours = [style.RIGHT] if by is None else style.level_colours(max(len(groups), 2))[: len(groups)]
    for place, (panel, name) in enumerate(zip(panels, levels, strict=True)):
        for i, (_, group) in enumerate(groups):
            draw = lines if numeric(results, variable, means) else points
            draw(panel, group[group["level"] == name], variable, i, colours, apart=len(groups) > 1)
        _finish(panel, place, len(levels), variable, words, f"{name}", _top(means))
    if by is not None:
        names = [f"{by} = {value_words(value)}" for value in means[by].unique()]
        style.panel_key(panels, names, colours, ax)
    return np.array(panels, dtype=object)


def _panels(ax: Any, n: int, name: str, told: str, least: float = 0.0) -> list[Axes]:
    if n > _MOST_PANELS:
        raise OptionError(f"{name} must ask for {_MOST_PANELS} panels at most; {told}.")
    height = max(2.7, least / -(-n // _COLUMNS))
    return style.panels(ax, n, _COLUMNS, height=height, width=2.5 * min(n, _COLUMNS) + 1.8)


def _finish(ax: Axes, place: int, n: int, variable: str, words: str, title: str, top: float) -> None:
    """Names and the common height of a panel; those of the axes at the edges of the figure alone."""
    ax.set_ylim(0.0, top)
    below = place + _COLUMNS >= n
    style.named(ax, variable if below else "", "" if place % _COLUMNS else words, title)


def value_words(value: Any) -> str:
    """A value of a variable: of a number four digits."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def lines(
    ax: Axes, curve: pd.DataFrame, variable: str, place: int, colours: Sequence[Any], apart: bool = False
) -> None:
    """The curve of one level over a number, with its band; `apart` gives it a line of its own kind."""
    x, colour = curve[variable].to_numpy(dtype=np.float64), colours[place]
    alpha = 0.20 if len(colours) <= _CROWDED else 0.10
    ax.fill_between(x, curve["lower"], curve["upper"], color=colour, alpha=alpha, linewidth=0)
    kind = LINES[place % len(LINES)] if apart else "-"
    ax.plot(x, curve["estimate"], color=colour, linewidth=1.8, linestyle=kind)
    ax.set_xlim(x.min(), x.max())


def points(
    ax: Axes, curve: pd.DataFrame, variable: str, place: int, colours: Sequence[Any], apart: bool = False
) -> None:
    """The points of one level over a factor, with their limits; `apart` gives them a form of their own."""
    x, colour = np.arange(len(curve)) + 0.5 * ((place + 0.5) / len(colours) - 0.5), colours[place]
    marker = MARKERS[place % len(MARKERS)] if apart else "o"
    ax.plot(x, curve["estimate"], marker, color=colour, markersize=4.5, linestyle="none")
    ax.vlines(x, curve["lower"], curve["upper"], color=colour, linewidth=1.8)
    factor_axis(ax, curve[variable])

"""Predictions over variables: probabilities of the levels over one, with bands or stacked, and levels over two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._typing import FloatArray
from ..checks import whole
from ..exceptions import OptionError
from . import style
from .drawn import DrawnLikelihood, DrawnRanker, data_of_fit, fitted_columns, not_taken

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Of the table, beside the variable.
TAKEN = ("level", "estimate", "std_error", "lower", "upper")
_POINTS = 60
_CROWDED = 7  # levels; bands of more are drawn fainter


def effects_data(
    results: DrawnLikelihood,
    variable: str,
    *,
    values: Sequence[Any] | None = None,
    at: Mapping[str, Any] | None = None,
    data: Any = None,
    level: float = 0.95,
) -> pd.DataFrame:
    """Marginal means of the probabilities at values of a variable, from `emmeans`.

    Returns
    -------
    pandas.DataFrame
        Columns of the variable, level, estimate, std_error, lower, upper.
    """
    if not isinstance(variable, str):
        raise OptionError(f"variable must be the name of one variable of the formula; got {variable!r}.")
    not_taken([variable], TAKEN)
    if values is None and variable not in results.design.spec.categories():
        values = _range(results, variable, data)
    held = {name: [value] if _single(value) else list(value) for name, value in (at or {}).items()}
    if values is not None:
        held[variable] = list(values)
    means = results.emmeans(variable, scale="prob", at=held, data=data, level=level)
    frame: pd.DataFrame = means.frame[[variable, *TAKEN]]
    return frame


def _single(value: Any) -> bool:
    return isinstance(value, str) or not isinstance(value, (Sequence, np.ndarray))


def _range(results: DrawnLikelihood, variable: str, data: Any) -> list[Any] | None:
    """Points from the smallest to the largest value in the rows of the fit; None for a column that is no number."""
    given = data_of_fit(results, data, ", or values=")
    if variable not in (results.design.spec.columns or ()):
        return None
    numbers = fitted_columns(results, given, [variable])[variable].to_numpy()
    if numbers.dtype.kind not in "iuf":
        return None
    finite = numbers[np.isfinite(numbers)]
    return [float(value) for value in np.linspace(finite.min(), finite.max(), _POINTS)]


def effects(
    results: DrawnLikelihood,
    variable: str,
    ax: Axes | None = None,
    *,
    values: Sequence[Any] | None = None,
    at: Mapping[str, Any] | None = None,
    data: Any = None,
    level: float = 0.95,
) -> Axes:
    """Probability of every level over a variable, with bands: lines for a number, points for a factor.

    They are the estimated marginal means of `emmeans`: all levels of the other factors weigh the same, other
    numbers are at their means.

    Parameters
    ----------
    variable : str
        A variable of the formula.
    ax : matplotlib axes, optional
    values : sequence, optional
        Values of the variable; all levels of a factor, 60 points over the range of a number if not given.
    at : mapping, optional
        Values of other variables: {"contact": "yes"}.
    data : data frame, optional
        The data of the fit, where it does not have them any more (after unpickling).
    level : float in (0, 1)
        Confidence level of the limits.
    """
    means = effects_data(results, variable, values=values, at=at, data=data, level=level)
    ax = style.axes(ax, height=4.0)
    colours = style.level_colours(len(results.levels))
    draw = lines if numeric(results, variable, means) else points
    curves = [means[means["level"] == level] for level in results.levels]
    for place, curve in enumerate(curves):
        draw(ax, curve, variable, place, colours)
    last = [float(curve["estimate"].iloc[-1]) for curve in curves]
    ax.set_ylim(0.0, min(1.0, 1.04 * float(np.nanmax(means[["estimate", "upper"]].to_numpy()))))
    style.named(ax, variable, f"P({results.design.response} = level)")
    style.end_labels(ax, last, [str(level) for level in results.levels], colours)
    return ax


def numeric(results: DrawnLikelihood, variable: str, data: pd.DataFrame) -> bool:
    """Whether the variable is a number, and no factor whose levels are numbers."""
    column = data[variable]
    if variable in results.design.spec.categories():
        return False
    return pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)


def lines(ax: Axes, curve: pd.DataFrame, variable: str, place: int, colours: Sequence[Any]) -> None:
    """The curve of one level over a number, with its band."""
    x, colour = curve[variable].to_numpy(dtype=np.float64), colours[place]
    alpha = 0.20 if len(colours) <= _CROWDED else 0.10
    ax.fill_between(x, curve["lower"], curve["upper"], color=colour, alpha=alpha, linewidth=0)
    ax.plot(x, curve["estimate"], color=colour, linewidth=1.8)
    ax.set_xlim(x.min(), x.max())


def points(ax: Axes, curve: pd.DataFrame, variable: str, place: int, colours: Sequence[Any]) -> None:
    """The points of one level over a factor, with their limits."""
    x, colour = np.arange(len(curve)) + 0.5 * ((place + 0.5) / len(colours) - 0.5), colours[place]
    ax.plot(x, curve["estimate"], "o-", color=colour, linewidth=0.7, markersize=4.5)
    ax.vlines(x, curve["lower"], curve["upper"], color=colour, linewidth=1.8)
    factor_axis(ax, curve[variable])


def factor_axis(ax: Axes, values: pd.Series) -> None:
    """Levels of a factor at 0, 1, ..."""
    names = [str(value) for value in values]
    crowded = sum(map(len, names)) > 60
    ax.set_xticks(np.arange(len(names)), names, rotation=30 if crowded else 0, ha="right" if crowded else "center")
    ax.tick_params(axis="x", length=0)
    ax.set_xlim(-0.45, len(names) - 0.55)


def stacked_data(
    results: DrawnLikelihood,
    variable: str,
    *,
    values: Sequence[Any] | None = None,
    at: Mapping[str, Any] | None = None,
    data: Any = None,
) -> pd.DataFrame:
    """Estimates of `effects_data` and their running sums.

    Returns
    -------
    pandas.DataFrame
        Columns of the variable, level, estimate, cumulative (P(response <= level)).
    """
    not_taken([variable], ("cumulative",))
    frame = effects_data(results, variable, values=values, at=at, data=data)[[variable, "level", "estimate"]]
    K = len(results.levels)
    return frame.assign(cumulative=np.cumsum(frame["estimate"].to_numpy().reshape(-1, K), axis=1).ravel())


def stacked(
    results: DrawnLikelihood,
    variable: str,
    ax: Axes | None = None,
    *,
    values: Sequence[Any] | None = None,
    at: Mapping[str, Any] | None = None,
    data: Any = None,
) -> Axes:
    """Probabilities of the levels over a variable on top of each other, the lowest level at the bottom.

    Parameters as in `effects`.
    """
    table = stacked_data(results, variable, values=values, at=at, data=data)
    ax = style.axes(ax, height=4.0)
    K = len(results.levels)
    colours = style.level_colours(K)
    shares = table["estimate"].to_numpy().reshape(-1, K).T
    tops = table["cumulative"].to_numpy().reshape(-1, K).T
    places = table[variable].iloc[::K]
    if numeric(results, variable, table):
        ax.stackplot(places.to_numpy(dtype=np.float64), shares, colors=colours, edgecolor="white", linewidth=_edge(K))
        ax.set_xlim(places.min(), places.max())
    else:
        _bars(ax, shares, tops, colours)
        factor_axis(ax, places)
    ax.set_ylim(0.0, 1.0)
    style.named(ax, variable, f"P({results.design.response} = level)")
    middles = list(tops[:, -1] - shares[:, -1] / 2.0)
    style.end_labels(ax, middles, [str(level) for level in results.levels], colours)
    return ax


def _edge(levels: int) -> float:
    """Width of the white lines between levels, thinner where they would drown the colours."""
    return min(0.6, 6.0 / levels)


def _bars(ax: Axes, shares: Any, tops: Any, colours: Sequence[Any]) -> None:
    places = np.arange(shares.shape[1])
    for share, top, colour in zip(shares, tops, colours, strict=True):
        ax.bar(places, share, 0.8, bottom=top - share, color=colour, edgecolor="white", linewidth=_edge(len(colours)))
        for place in np.flatnonzero(share >= 0.06):
            looks = {"color": style.text_colour(colour), "fontsize": style.SMALL - 0.5}
            style.text(ax, float(place), top[place] - share[place] / 2.0, f"{share[place]:.2f}", **looks)


# The grid reaches this share of the range beyond the rows.
_BEYOND = 0.03
_MOST_DOTS = 2000


def boundaries_data(
    results: DrawnRanker, x: str, y: str, *, at: Mapping[str, Any] | None = None, data: Any = None, points: int = 200
) -> pd.DataFrame:
    """Columns of the two variables, and level: the prediction at every point of the grid."""
    whole("points", points, 2)
    not_taken([x, y], ("level",))
    rows = _numbers(results, x, y, data)
    others = [name for name in results.design.spec.columns or () if name not in (x, y)]
    held = dict(at or {})
    if missing := [name for name in others if name not in held]:
        raise OptionError(f"at must give values of the other variables: {', '.join(map(repr, missing))}.")
    if unknown := [name for name in held if name not in others]:
        raise OptionError(f"at names {unknown[0]!r}; the other variables are {', '.join(map(repr, others)) or 'none'}.")
    axes = [_span(rows[:, place], points) for place in (0, 1)]
    grid = np.array(np.meshgrid(*axes, indexing="ij")).reshape(2, -1)
    frame = pd.DataFrame({x: grid[0], y: grid[1], **held})
    return pd.DataFrame({x: grid[0], y: grid[1], "level": results.predict(frame)})


def _span(values: FloatArray, points: int) -> FloatArray:
    """Points over the range of the rows and a little beyond."""
    low, high = float(values.min()), float(values.max())
    spare = _BEYOND * (high - low) or 1.0
    return np.linspace(low - spare, high + spare, points)


def numeric_variables(results: DrawnRanker) -> list[Any]:
    """The variables of the formula that are no factors; none where columns are found by position."""
    spec = results.design.spec
    return [name for name in spec.columns or () if name not in spec.categories()]


def _numbers(results: DrawnRanker, x: str, y: str, data: Any) -> FloatArray:
    """(N, 2) values of the two variables in the rows of the fit."""
    given = data_of_fit(results, data)
    columns = results.design.spec.columns or ()
    for name in (x, y):
        if name not in columns:
            raise OptionError(
                f"{name!r} is no variable of the formula; these are: {', '.join(map(repr, columns)) or 'none'}."
            )
    frame = fitted_columns(results, given, (x, y))
    if not all(kind.kind in "iuf" for kind in frame.dtypes):
        raise OptionError(f"{x!r} and {y!r} must both be numbers: levels of a factor have no line between them.")
    return np.asarray(frame.to_numpy(dtype=np.float64))


def boundaries(
    results: DrawnRanker,
    x: str,
    y: str,
    ax: Axes | None = None,
    *,
    at: Mapping[str, Any] | None = None,
    data: Any = None,
    points: int = 200,
) -> Axes:
    """Predicted levels over two numeric variables, with the rows of the fit as dots of their observed level.

    Parameters
    ----------
    x, y : str
        Variables of the formula.
    ax : matplotlib axes, optional
    at : mapping, optional
        Values of all other variables: {"contact": "yes"}.
    data : data frame, optional
        The data of the fit, where it does not have them any more (after unpickling).
    points : int
        Points of the grid, on each side.

    Raises
    ------
    OptionError
        A name that is no variable of the formula, or no number; another variable without a value.
    """
    from matplotlib.colors import ListedColormap

    grid = boundaries_data(results, x, y, at=at, data=data, points=points)
    ax = style.axes(ax, height=4.4, width=5.4)
    levels = results.levels
    colours = style.level_colours(len(levels))
    codes = grid["level"].cat.codes.to_numpy().reshape(points, points).T
    spans = [grid[name].unique() for name in (x, y)]
    pale = ListedColormap([tuple(0.45 * part + 0.55 for part in colour[:3]) for colour in colours])
    ax.pcolormesh(*spans, codes, cmap=pale, vmin=-0.5, vmax=len(levels) - 0.5, shading="nearest", rasterized=True)
    for code in range(len(levels) - 1):
        if (codes <= code).any() and (codes > code).any():
            ax.contour(*spans, (codes > code).astype(float), levels=[0.5], colors=[style.INK], linewidths=0.8)
    _dots(ax, results, _numbers(results, x, y, data), colours)
    ax.set_xlim(spans[0][0], spans[0][-1])
    ax.set_ylim(spans[1][0], spans[1][-1])
    style.level_key(ax, levels, colours)
    return style.named(ax, x, y)


def _dots(ax: Axes, results: DrawnRanker, numbers: FloatArray, colours: Sequence[tuple[float, ...]]) -> None:
    """The rows, some of them where they are very many."""
    y = results.design.sample.y
    if len(numbers) != y.size:
        return
    step = -(-y.size // _MOST_DOTS)
    shown = [colours[code] for code in y[::step]]
    size = 14.0 if y.size <= 300 else 7.0
    x, height = numbers[::step].T
    ax.scatter(x, height, c=shown, s=size, edgecolors="white", linewidths=0.3, zorder=3)

"""Predicted levels over two variables, the data of the variables, and their axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._typing import FloatArray
from ..checks import whole
from ..exceptions import DataError, OptionError
from . import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def not_taken(variables: Sequence[Any], columns: Sequence[str]) -> None:
    """OptionError where a variable has the name of another column of a picture's frame."""
    for name in variables:
        if isinstance(name, str) and name in columns:
            raise OptionError(
                f"the variable {name!r} has the name of another column of what is drawn, {', '.join(columns)}: rename "
                "it in the data and the formula, and fit again."
            )


def in_formula(results: Any, names: Sequence[Any]) -> None:
    """OptionError for a name that is no variable of the formula."""
    columns = results.design.spec.columns or ()
    for name in names:
        if name not in columns:
            raise OptionError(
                f"{name!r} is not a variable of the formula: {', '.join(map(repr, columns)) or 'it has none'}."
            )


def data_of_fit(results: Any, data: Any, also: str = "") -> Any:
    """The data given, or those that came with the fit; `also` says what else would do."""
    given = results.design.data if data is None else data
    if given is None:
        raise DataError(
            "The data of the fit are not at hand (a fit is saved and pickled without them): pass data= with the data "
            f"that were fitted, here or to load(path, data=...){also}."
        )
    return given


def fitted_columns(results: Any, given: Any, names: Sequence[str]) -> pd.DataFrame:
    """Columns of data, at the rows of the fit where the index tells which these are."""
    frame = pd.DataFrame({name: np.asarray(given[name]) for name in names})
    index = getattr(given, "index", None)
    if isinstance(index, pd.Index) and index.is_unique and results.design.index.isin(index).all():
        frame = frame.set_axis(index).loc[results.design.index]
    return frame


def factor_axis(ax: Axes, values: pd.Series) -> None:
    """Levels of a factor at 0, 1, ..."""
    style.column_labels(ax, list(values))
    ax.set_xlim(-0.45, len(values) - 0.55)


def numeric(results: Any, variable: str, data: pd.DataFrame) -> bool:
    """Whether the variable is a number, and no factor whose levels are numbers."""
    column = data[variable]
    if variable in results.design.spec.categories():
        return False
    return pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)


# The grid reaches this share of the range beyond the rows.
_BEYOND = 0.03
_MOST_DOTS = 2000


def boundaries_frame(
    results: Any, x: str, y: str, at: Mapping[str, Any] | None, data: Any, points: int
) -> pd.DataFrame:
    """The prediction at every point of the grid."""
    whole("points", points, 2)
    not_taken([x, y], ("level",))
    rows = _numbers(results, x, y, data)
    others = [name for name in results.design.spec.columns or () if name not in (x, y)]
    held = dict(at or {})
    if held.keys() != set(others):
        names = ", ".join(map(repr, others)) or "nothing"
        raise OptionError(f"at must give values of the other variables, {names}; got {', '.join(held) or 'nothing'}.")
    low, high = rows.min(axis=0), rows.max(axis=0)
    spare = np.where(high > low, _BEYOND * (high - low), 1.0)
    axes = np.linspace(low - spare, high + spare, points).T
    grid = np.array(np.meshgrid(*axes, indexing="ij")).reshape(2, -1)
    frame = pd.DataFrame({x: grid[0], y: grid[1], **held})
    return pd.DataFrame({x: grid[0], y: grid[1], "level": results.predict(frame)})


def numeric_variables(results: Any) -> list[Any]:
    """The variables of the formula that are no factors; none where columns are found by position."""
    spec = results.design.spec
    return [name for name in spec.columns or () if name not in spec.categories()]


def _numbers(results: Any, x: str, y: str, data: Any) -> FloatArray:
    """(N, 2) values of the two variables in the rows of the fit."""
    given = data_of_fit(results, data)
    in_formula(results, (x, y))
    frame = fitted_columns(results, given, (x, y))
    if not all(kind.kind in "iuf" for kind in frame.dtypes):
        raise OptionError(f"{x!r} and {y!r} must both be numbers: levels of a factor have no line between them.")
    return np.asarray(frame.to_numpy(dtype=np.float64))


def draw_boundaries(results: Any, grid: pd.DataFrame, ax: Axes | None, data: Any, points: int) -> Axes:
    from matplotlib.colors import ListedColormap

    x, y, _ = grid.columns
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
    numbers, observed = _numbers(results, x, y, data), results.design.sample.y
    if len(numbers) == observed.size:
        step = -(-observed.size // _MOST_DOTS)  # some of the rows where they are very many
        looks: dict[str, Any] = {"s": 14.0 if observed.size <= 300 else 7.0, "edgecolors": "white", "linewidths": 0.3}
        ax.scatter(
            numbers[::step, 0], numbers[::step, 1], c=[colours[code] for code in observed[::step]], zorder=3, **looks
        )
    ax.set_xlim(spans[0][0], spans[0][-1])
    ax.set_ylim(spans[1][0], spans[1][-1])
    style.level_key(ax, levels, colours)
    return style.named(ax, x, y)

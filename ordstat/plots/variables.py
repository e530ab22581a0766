"""Partial dependence and importance of variables; their data and axes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._typing import FloatArray
from ..checks import brief, one_of, whole
from ..exceptions import DataError, OptionError
from ..formula.extrapolation import telling_once
from ..judging.fitted_data import data_of_fit, matched_rows
from . import style
from .style import Sheet, in_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def not_taken(variables: Sequence[Any], columns: Sequence[str]) -> None:
    """Raise OptionError if a variable has the name of another column of the picture's
    frame.
    """
    for name in variables:
        if isinstance(name, str) and name in columns:
            raise OptionError(
                f"the variable {name!r} has the name of a column that the picture adds,"
                f" {', '.join(columns)}: rename it in the data and the formula, and fit"
                " again."
            )


def in_formula(results: Any, names: Sequence[Any]) -> None:
    """Raise OptionError for a name that is not a variable of the formula."""
    columns = results.design.spec.columns or ()
    for name in names:
        if not isinstance(name, str) or name not in columns:
            raise OptionError(
                f"{name!r} is not a variable of the formula:"
                f" {', '.join(map(repr, columns)) or 'it has no variables'}."
            )


def fitted_columns(
    results: Any, data: Any, names: Sequence[str], instead: str = ""
) -> pd.DataFrame:
    """Columns of the data, for the rows of the fit if the index identifies them;
    `instead` is another remedy.
    """
    given = data_of_fit(
        results.design,
        data,
        f"pass {instead}data= with the data that were fitted, here",
    )
    frame = matched_rows(results.design, given)[0]
    for name in names:
        if name not in frame:
            raise DataError(
                f"data must have the column {name!r}, which the formula uses."
            )
    return frame[list(names)]


def factor_axis(
    ax: Axes, values: pd.Series, counts: Sequence[float] | None = None
) -> None:
    """Levels of a factor at 0, 1, ..."""
    style.column_labels(ax, list(values), counts)
    ax.set_xlim(-0.45, len(values) - 0.55)


def numeric(results: Any, variable: str, data: pd.DataFrame) -> bool:
    """Whether the variable is numeric, and not a factor with numeric levels."""
    return (
        variable not in results.design.spec.categories()
        and data[variable].dtype.kind in "iuf"
    )


_POINTS = 25
_MOST_ROWS = 500


def dependence_frame(
    results: Any, variable: str, of: str | None, values: Sequence[Any] | None, data: Any
) -> pd.DataFrame:
    """Mean predictions with the variable set to each value in turn in all rows."""
    one_of("of", of, (None, "prob", "rank"))
    has_probabilities = "prob" in results.prediction_types
    if of == "prob" and not has_probabilities:
        raise OptionError(
            f"{results.method} has no probabilities: give of='rank', or fit with"
            " calibrate=True."
        )
    levels = has_probabilities and of != "rank"
    not_taken([variable], ("estimate", "level") if levels else ("estimate",))
    frame, weights = _rows_to_average(results, variable, data)
    if values is not None and (
        isinstance(values, str) or not isinstance(values, Iterable)
    ):
        raise OptionError(
            f"values must be a list of values of {variable!r}; got {brief(values)}."
        )
    grid = _grid(results, frame, variable) if values is None else list(values)
    if not grid:
        raise OptionError("values must have at least one value; got none.")
    means = []
    with telling_once():
        for value in grid:
            column = pd.Series([value] * len(frame), index=frame.index, name=variable)
            moved = frame.assign(**{variable: column})
            means.append(weights @ _predicted(results, moved, levels))
    columns: dict[str, Any] = {
        variable: np.repeat(np.array(grid, dtype=object), means[0].size)
    }
    if levels:
        columns["level"] = np.tile(
            np.array([*results.levels, None], dtype=object)[:-1], len(grid)
        )
    return pd.DataFrame({**columns, "estimate": np.concatenate(means)}).infer_objects()


def _rows_to_average(
    results: Any, variable: str, data: Any
) -> tuple[pd.DataFrame, FloatArray]:
    """At most 500 complete rows of the variables, evenly spread, and their shares of
    all weights.
    """
    in_formula(results, [variable])
    sample = results.design.sample
    frame = fitted_columns(results, data, results.design.spec.columns)
    weights = sample.case_weights if len(frame) == sample.n else np.ones(len(frame))
    keep = frame.notna().all(axis=1).to_numpy() & (weights > 0)
    frame = frame[keep].reset_index(drop=True)
    weights = weights[keep]
    if frame.empty:
        raise DataError(
            "data must have a row without missing values in the variables of the"
            " formula; got none."
        )
    if len(frame) > _MOST_ROWS:
        spread = np.linspace(0, len(frame) - 1, _MOST_ROWS).round().astype(int)
        frame = frame.iloc[spread].reset_index(drop=True)
        weights = weights[spread]
    return frame, weights / weights.sum()


def _grid(results: Any, frame: pd.DataFrame, variable: str) -> list[Any]:
    """Levels of a factor; values of a number, or points over its range if it has many
    values.
    """
    levels = results.design.spec.categories().get(variable)
    if levels is not None:
        return list(levels)
    values = np.unique(frame[variable].to_numpy())
    if values.dtype.kind not in "iuf" or values.size <= _POINTS:
        return list(values.tolist())
    return list(np.linspace(values[0], values[-1], _POINTS).tolist())


def _predicted(results: Any, frame: pd.DataFrame, levels: bool) -> FloatArray:
    """(rows, K) probabilities, or (rows, 1) ranks 1..K, expected ranks if the fit has
    probabilities.
    """
    if "prob" not in results.prediction_types:
        codes = results.predict(frame).cat.codes.to_numpy(dtype=np.float64)
        return np.asarray(codes[:, None] + 1.0)
    p = np.asarray(results.predict(frame, type="prob"), dtype=np.float64)
    return p if levels else (p @ np.arange(1.0, p.shape[1] + 1.0))[:, None]


def draw_dependence(sheet: Sheet, means: pd.DataFrame, results: Any) -> Axes:
    ax = sheet.axes(height=3.6)
    over_number = numeric(results, means.columns[0], means)
    within = results.design.spec.ranges.get(means.columns[0])
    variable = sheet.name(means.columns[0])
    response = sheet.name(results.design.response)
    if "level" not in means:
        _draw_dependence(ax, means, over_number, style.RIGHT, within)
        return style.named(ax, variable, f"mean rank of {response}")
    colours = style.level_colours(len(results.levels))
    parts = [means[means["level"] == level] for level in results.levels]
    for part, colour in zip(parts, colours, strict=True):
        _draw_dependence(ax, part, over_number, colour, within)
    ax.set_ylim(0.0, min(1.0, 1.06 * float(means["estimate"].max())))
    style.named(ax, variable, f"mean P({response} = level)")
    style.level_key(ax, [sheet.name(level) for level in results.levels], ax.get_lines())
    return ax


def _draw_dependence(
    ax: Axes,
    part: pd.DataFrame,
    over_number: bool,
    colour: Any,
    within: tuple[float, float] | None,
) -> None:
    """A line over a number, dashed outside the rows of the fit, or a dot at each level
    of a factor.
    """
    x = part.iloc[:, 0]
    if over_number:
        looks: dict[str, Any] = {"color": colour, "linewidth": 1.8}
        style.line_over(ax, x, part["estimate"], within, **looks)
        ax.set_xlim(x.min(), x.max())
    else:
        ax.plot(np.arange(len(x)), part["estimate"], "o", color=colour, markersize=4.5)
        factor_axis(ax, x)


_ROW = 0.21  # inches of a bar, and of every line of its name
_LETTERS = 34  # of a line of a name


def importance_frame(
    results: Any, kind: str | None, newdata: Any, top: int | None, **options: Any
) -> pd.DataFrame:
    """Importance of the variables, from `fit.importance`."""
    table = pd.DataFrame(results.importance(kind, newdata, **options))
    table = table.reindex(
        columns=["importance", "std_error", "lower", "upper"]
    ).reset_index()
    return table if top is None else table.head(whole("top", top, 1))


def draw_importance(
    sheet: Sheet, data: pd.DataFrame, results: Any, measure: str, level: float
) -> Axes:
    """A bar for every variable or column, with limits if it has them."""
    if data.empty:
        raise DataError("the fit has no columns to draw.")
    label = "share of the total gain of trees or rounds"
    if data.columns[0] != "column":
        label = f"{measure}: change when permuted"
        if data["lower"].notna().any():
            label += f", with {100 * level:g}% interval"
    if data.columns[0] == "column":
        columns = results.names_shown(sheet.labels)
    else:
        columns = sheet.labels
    names = [
        in_lines(columns.get(name, str(name)), _LETTERS) for name in data.iloc[:, 0]
    ]
    lines = max(name.count("\n") + 1 for name in names)
    ax = sheet.axes(height=0.8 + _ROW * max(lines, 1.25) * len(names))
    places = -np.arange(len(names), dtype=np.float64)
    ax.barh(
        places,
        data["importance"],
        height=0.62,
        color=style.faint(),
        edgecolor=style.MUTED,
        linewidth=0.7,
    )
    if data["lower"].notna().any():
        limits = (data["lower"], data["upper"])
        looks: dict[str, Any] = {"colour": style.ink(), "markersize": 3.5}
        style.intervals(ax, places, data["importance"], limits, **looks)
    ax.axvline(0.0, color=style.MUTED, linewidth=0.8, zorder=2)
    ax.set_ylim(places[-1] - 0.7, 0.7)
    style.row_labels(ax, list(places), names)
    return style.named(ax, label)

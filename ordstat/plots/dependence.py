"""Partial dependence and accumulated local effects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._typing import FloatArray
from ..checks import one_of, whole
from ..exceptions import DataError, OptionError
from . import style
from .variables import data_of_fit, factor_axis, fitted_columns, in_formula, not_taken, numeric

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_POINTS = 25


def dependence_frame(
    results: Any, variable: str, of: str | None, values: Sequence[Any] | None, rows: int, data: Any
) -> pd.DataFrame:
    """Mean predictions with the variable set to one value after the other in all rows."""
    one_of("of", of, (None, "prob", "rank"))
    has_probabilities = "prob" in results.prediction_types
    if of == "prob" and not has_probabilities:
        raise OptionError(f"{results.method!r} has no probabilities: give of='rank', or fit with calibrate=True.")
    levels = has_probabilities and of != "rank"
    not_taken([variable], ("estimate", "level") if levels else ("estimate",))
    frame, weights = _rows_to_average(results, variable, whole("rows", rows, 1), data)
    grid = _grid(results, frame, variable) if values is None else list(values)
    if not grid:
        raise OptionError("values must have at least one value; got none.")
    means = []
    for value in grid:
        column = pd.Series([value] * len(frame), index=frame.index, name=variable)
        means.append(weights @ _predicted(results, frame.assign(**{variable: column}), levels))
    columns: dict[str, Any] = {variable: np.repeat(np.array(grid, dtype=object), means[0].size)}
    if levels:
        columns["level"] = np.tile(np.array([*results.levels, None], dtype=object)[:-1], len(grid))
    return pd.DataFrame({**columns, "estimate": np.concatenate(means)}).infer_objects()


def _rows_to_average(results: Any, variable: str, most: int, data: Any) -> tuple[pd.DataFrame, FloatArray]:
    """Complete rows of the variables, and their shares of all weights."""
    in_formula(results, [variable])
    sample = results.design.sample
    frame = fitted_columns(results, data_of_fit(results, data), list(results.design.spec.columns))
    weights = sample.case_weights if len(frame) == sample.n else np.ones(len(frame))
    keep = frame.notna().all(axis=1).to_numpy() & (weights > 0)
    frame, weights = frame[keep].reset_index(drop=True), weights[keep]
    if frame.empty:
        raise DataError("data has no row in which all variables of the formula are known.")
    if len(frame) > most:
        spread = np.linspace(0, len(frame) - 1, most).round().astype(int)
        frame, weights = frame.iloc[spread].reset_index(drop=True), weights[spread]
    return frame, weights / weights.sum()


def _grid(results: Any, frame: pd.DataFrame, variable: str) -> list[Any]:
    """Levels of a factor; of a number its values, or points over its range where these are many."""
    levels = results.design.spec.categories().get(variable)
    if levels is not None:
        return list(levels)
    values = np.unique(frame[variable].to_numpy())
    if values.dtype.kind not in "iuf" or values.size <= _POINTS:
        return list(values.tolist())
    return list(np.linspace(values[0], values[-1], _POINTS).tolist())


def _predicted(results: Any, frame: pd.DataFrame, levels: bool) -> FloatArray:
    """(rows, K) probabilities, or (rows, 1) ranks 1..K, expected ones where there are probabilities."""
    if "prob" not in results.prediction_types:
        codes = results.predict(frame).cat.codes.to_numpy(dtype=np.float64)
        return np.asarray(codes[:, None] + 1.0)
    p = np.asarray(results.predict(frame, type="prob"), dtype=np.float64)
    return p if levels else (p @ np.arange(1.0, p.shape[1] + 1.0))[:, None]


def draw_dependence(results: Any, means: pd.DataFrame, ax: Axes | None) -> Axes:
    ax = style.axes(ax, height=3.6)
    variable, response = means.columns[0], results.design.response
    over_number = numeric(results, variable, means)
    if "level" not in means:
        _draw(ax, means, over_number, style.RIGHT)
        return style.named(ax, variable, f"mean rank of {response}")
    colours = style.level_colours(len(results.levels))
    parts = [means[means["level"] == level] for level in results.levels]
    for part, colour in zip(parts, colours, strict=True):
        _draw(ax, part, over_number, colour)
    ax.set_ylim(0.0, min(1.0, 1.06 * float(means["estimate"].max())))
    style.named(ax, variable, f"mean P({response} = level)")
    style.name_levels(ax, results.levels, colours, [part["estimate"].iloc[-1] for part in parts], over_number)
    return ax


def _draw(ax: Axes, part: pd.DataFrame, over_number: bool, colour: Any) -> None:
    """A line over a number, a dot at each level of a factor."""
    x = part.iloc[:, 0]
    if over_number:
        ax.plot(x, part["estimate"], color=colour, linewidth=1.8)
        ax.set_xlim(x.min(), x.max())
    else:
        ax.plot(np.arange(len(x)), part["estimate"], "o", color=colour, markersize=4.5)
        factor_axis(ax, x)

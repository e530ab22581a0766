"""Confusion, reliability, comparison of methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._typing import AnyArray, FloatArray
from ..report import cells as widths
from ..report.sections import fractional
from . import style
from .style import Sheet, in_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SMALLEST = 6.9  # points of a number in a cell


def confusion_frame(results: Any, newdata: Any, weights: Any) -> pd.DataFrame:
    """The cells of the confusion matrix, a row for each."""
    cells = results.confusion(newdata, weights=weights)
    values = cells.to_numpy(dtype=np.float64)
    total = values.sum(axis=1, keepdims=True)
    n = values.shape[0]
    codes = np.arange(n)
    pairs = {
        "observed": [level for level in cells.index for _ in range(n)],
        "predicted": list(cells.columns) * n,
    }
    distance = np.abs(codes[:, None] - codes)
    share = values / np.where(total > 0, total, 1.0)
    numbers = {
        "distance": distance.ravel(),
        "weight": cells.to_numpy().ravel(),
        "share": share.ravel(),
    }
    return pd.DataFrame(pairs | numbers)


def draw_confusion(sheet: Sheet, data: pd.DataFrame, results: Any, new: bool) -> Axes:
    levels = [sheet.name(level) for level in results.levels]
    n = len(levels)
    side = min(max(2.6, 0.44 * n + 1.0), 7.0)
    wordy = max(map(widths.cells, levels)) > 8 or n > 12
    ax = sheet.axes(height=side + 0.5, width=side + (2.2 if wordy else 0.8))
    colours = _colours(data["distance"].to_numpy(), data["share"].to_numpy(), n)
    ax.imshow(colours.reshape(n, n, 4), interpolation="nearest")
    ax.spines[:].set_visible(False)
    _name_cells(ax, levels, wordy)
    weight = data["weight"].sum()
    right = float(data.loc[data["distance"] == 0, "weight"].sum() / weight)
    off = float((data["distance"] * data["weight"]).sum() / weight)
    response = sheet.name(results.design.response)
    whose = "New data" if new else "Rows of the fit"
    title = f"{whose}: {right:.0%} correct, mean error {off:.2f} levels"
    numbers = data["weight"].to_numpy()
    if new:
        counted = np.array_equal(numbers, np.rint(numbers))
    else:
        counted = not fractional(results)
    if not counted:
        numbers = 100.0 * numbers / weight
        title += "; weighted percentages"
    style.named(ax, f"predicted {response}", f"observed {response}", title)
    _numbers(
        ax,
        [f"{value:.4g}" if counted else f"{value:.1f}" for value in numbers],
        colours,
        n,
    )
    return ax


def _name_cells(ax: Axes, levels: list[str], wordy: bool) -> None:
    """Names of the levels at the rows; if `wordy`, with the numbers that replace them
    below the columns.
    """
    n = len(levels)
    places = np.arange(0, n, -(-n // 40))
    ax.set_xticks(places, [str(i + 1) if wordy else levels[i] for i in places])
    style.row_labels(
        ax,
        list(range(n)),
        [f"{level} ({i})" if wordy else level for i, level in enumerate(levels, 1)],
    )
    ax.set_xticks(np.arange(n + 1) - 0.5, minor=True)
    ax.set_yticks(np.arange(n + 1) - 0.5, minor=True)
    ax.grid(which="minor", color=tuple(style.paper()), linewidth=1.0)
    ax.tick_params(which="both", length=0)


def _colours(distance: FloatArray, share: FloatArray, n: int) -> FloatArray:
    """(n * n, 4) colours by distance, closer to the background for smaller shares."""
    from matplotlib import colormaps
    from matplotlib.colors import to_rgba

    hue = colormaps["OrRd"](0.35 + 0.6 * (distance - 1) / max(n - 2, 1))
    hue[distance == 0] = to_rgba(style.RIGHT)
    strength = np.where(share > 0, 0.12 + 0.88 * np.sqrt(share), 0.035)[:, None]
    mixed = np.ones((distance.size, 4))
    mixed[:, :3] = style.paper() + strength * (hue[:, :3] - style.paper())
    return mixed


def _numbers(ax: Axes, texts: Sequence[str], colours: FloatArray, n: int) -> None:
    """Numbers in the cells, if there is room."""
    letters = max(map(len, texts))
    width, height = (72.0 * side / n for side in style.inches(ax))
    size = min(style.SMALL, 0.7 * height, 1.5 * width / letters)
    for cell, text in enumerate(texts):
        if float(text) > 0.0 and size >= _SMALLEST:
            i, j = divmod(cell, n)
            style.text(
                ax, j, i, text, color=style.text_colour(colours[cell]), fontsize=size
            )


_FEW = 3  # most curves in one frame
_MOST_PANELS = 24
_PANEL = 2.8  # inches of a panel, with room for a title of 24 letters


def draw_reliability(
    sheet: Sheet, data: pd.DataFrame, results: Any, by: str, fitted_rows: bool
) -> Axes | AnyArray:
    """All curves in one frame, or a panel for each if there are more than three."""
    names = list(data[by].cat.categories)
    curves = [data[data[by] == name] for name in names]
    cross_fitted = fitted_rows and results.fit.calibration is not None
    what = "at or below each threshold" if by == "split" else "of each level"
    title = (
        f"{sheet.name(results.design.response)}:"
        f" {what}{', cross-fitted' if cross_fitted else ''}"
    )
    if data["lower"].isna().all():
        title += "; no limits, as rows are not independent"
    n = len(names)
    if (_FEW < n <= _MOST_PANELS) if sheet.given is None else np.size(sheet.given) > 1:
        columns = style.columns_for(n)
        panels = sheet.panels(n, columns, height=2.5, width=_PANEL * columns + 0.4)
        for i, (panel, name, curve) in enumerate(
            zip(panels, names, curves, strict=True)
        ):
            heading = f"≤ {sheet.name(results.levels[i])}"
            _draw(panel, curve, style.RIGHT)
            below = i + columns >= n or sheet.given is not None
            style.named(
                panel,
                "predicted" if below else "",
                "" if i % columns else "observed",
                heading if by == "split" else sheet.name(name),
            )
        if sheet.given is None and sheet.title is None:
            heading = in_lines(title, 30 * columns)
            panels[0].figure.figure.suptitle(
                heading, x=0.01, ha="left", fontsize=style.SMALL + 1.5
            )
        return np.array(panels, dtype=object)
    ax = sheet.axes(height=4.6, width=6.4)
    colours = style.level_colours(n)
    for curve, colour in zip(curves, colours, strict=True):
        # there may be no room beside square axes
        _draw(ax, curve, colour, sheet.given is None)
    style.level_key(ax, [sheet.name(name) for name in names], ax.get_lines()[1::2])
    return style.named(ax, "predicted probability", "observed share", title)


def _draw(ax: Axes, curve: pd.DataFrame, colour: Any, square: bool = True) -> None:
    """One curve with its limits, and the diagonal."""
    x = curve["predicted"].to_numpy()
    y = curve["observed"].to_numpy()
    ends = np.vstack([y - curve["lower"].to_numpy(), curve["upper"].to_numpy() - y])
    ax.plot(
        [0.0, 1.0],
        [0.0, 1.0],
        color=style.MUTED,
        linewidth=1.0,
        linestyle=(0, (4, 3)),
        zorder=1,
    )
    ax.errorbar(
        x,
        y,
        yerr=np.maximum(ends, 0.0),
        fmt="none",
        ecolor=colour,
        elinewidth=0.8,
        alpha=0.45,
        zorder=2,
    )
    ax.plot(x, y, color=colour, linewidth=1.3, marker="o", markersize=4.0, zorder=3)
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.02, 1.02)
    if square:
        ax.set_aspect("equal", adjustable="box", anchor="W")  # beside its legend


_ROW = 0.3  # inches
_LINE = 0.12  # inches of a further line of a name
_MOST_MARKS = 200  # most folds drawn one by one


def draw_comparison(
    sheet: Sheet,
    data: pd.DataFrame,
    folds: Mapping[str, FloatArray],
    what: str,
    zero: bool,
) -> Axes:
    """Dots and intervals, the first row on top; folds as faint marks below each.

    Parameters
    ----------
    data : pandas.DataFrame
        Columns mean, lower, upper; the index names the rows.
    folds : mapping of str to (J,) values
    what : str
        Name of the x axis.
    zero : bool
        Whether to draw a line at 0.
    """
    names = [sheet.name(name) for name in data.index]
    lines = sum(in_lines(name, 34).count("\n") for name in names)
    ax = sheet.axes(height=max(1.6, 0.9 + _ROW * len(data) + _LINE * lines))
    heights = -np.arange(len(data), dtype=np.float64)
    for height, label in zip(heights, data.index, strict=True):
        marks = folds[label][np.isfinite(folds[label])]
        if marks.size <= _MOST_MARKS:
            ax.plot(
                marks,
                np.full(marks.size, height - 0.24),
                "|",
                color=style.MUTED,
                markersize=4,
                zorder=2,
            )
    finite = np.isfinite(data["mean"].to_numpy())
    known = data[finite]
    limits = (known["lower"], known["upper"])
    style.intervals(ax, heights[finite], known["mean"], limits)
    for height, mean in zip(heights[~finite], data["mean"][~finite], strict=True):
        words = "infinite" if np.isinf(mean) else "no value"
        style.note(
            ax,
            words,
            (0.02, height),
            (0, 0),
            ax.get_yaxis_transform(),
            color=style.MUTED,
        )
    if zero:
        ax.axvline(0.0, color=style.ink(), linewidth=0.8, zorder=1)
    ax.grid(axis="x", color=style.faint(), linewidth=0.6)
    ax.set_ylim(heights.min() - 0.7, 0.7)
    style.row_labels(ax, list(heights), names)
    return style.named(ax, what)

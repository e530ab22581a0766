"""Observed levels against what was predicted: the confusion matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .. import widths
from .._typing import FloatArray
from . import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_MOST_NUMBERS = 20  # levels; the cells of more are too small for numbers


def confusion_frame(results: Any, newdata: Any, weights: Any) -> pd.DataFrame:
    """The cells, a row each."""
    cells = results.confusion(newdata, weights=weights)
    values = cells.to_numpy(dtype=np.float64)
    total = values.sum(axis=1, keepdims=True)
    n = values.shape[0]
    place = np.arange(n)
    both = {"observed": [level for level in cells.index for _ in range(n)], "predicted": list(cells.columns) * n}
    distance, share = np.abs(place[:, None] - place), values / np.where(total > 0, total, 1.0)
    numbers = {"distance": distance.ravel(), "weight": cells.to_numpy().ravel(), "share": share.ravel()}
    return pd.DataFrame(both | numbers)


def draw_confusion(results: Any, data: pd.DataFrame, ax: Axes | None, new: bool) -> Axes:
    levels = [str(level) for level in results.levels]
    n = len(levels)
    side = min(max(2.6, 0.44 * n + 1.0), 7.0)
    wordy = max(map(widths.cells, levels)) > 8 or n > 12
    ax = style.axes(ax, height=side + 0.5, width=side + (2.2 if wordy else 0.8))
    colours = _colours(data["distance"].to_numpy(), data["share"].to_numpy(), n)
    style.field(ax, colours.reshape(n, n, 4), aspect="equal")
    _name_cells(ax, levels, wordy)
    if n <= _MOST_NUMBERS:
        _numbers(ax, data["weight"].to_numpy(), colours, n)
    weight = data["weight"].sum()
    right = float(data.loc[data["distance"] == 0, "weight"].sum() / weight)
    off = float((data["distance"] * data["weight"]).sum() / weight)
    response, whose = results.design.response, "New data" if new else "Rows of the fit"
    title = f"{whose}: {right:.0%} correct, mean error {off:.2f} levels"
    return style.named(ax, f"predicted {response}", f"observed {response}", title)


def _name_cells(ax: Axes, levels: list[str], wordy: bool) -> None:
    """Names of the levels at the rows; long ones with numbers, which stand for them below the columns."""
    n = len(levels)
    places = np.arange(0, n, -(-n // 40))
    ax.set_xticks(places, [str(i + 1) if wordy else levels[i] for i in places])
    style.row_labels(ax, list(range(n)), [f"{level} ({i})" if wordy else level for i, level in enumerate(levels, 1)])
    ax.set_xticks(np.arange(n + 1) - 0.5, minor=True)
    ax.set_yticks(np.arange(n + 1) - 0.5, minor=True)
    ax.grid(which="minor", color="white", linewidth=1.0)
    ax.tick_params(which="minor", length=0)


def _colours(distance: FloatArray, share: FloatArray, n: int) -> FloatArray:
    """(n * n, 4) the colour of the distance, mixed with white as the share falls."""
    from matplotlib import colormaps
    from matplotlib.colors import to_rgba

    hue = colormaps["OrRd"](0.35 + 0.6 * (distance - 1) / max(n - 2, 1))
    hue[distance == 0] = to_rgba(style.RIGHT)
    strength = np.where(share > 0, 0.12 + 0.88 * np.sqrt(share), 0.035)[:, None]
    mixed = np.ones((distance.size, 4))
    mixed[:, :3] = 1.0 - strength * (1.0 - hue[:, :3])
    return mixed


def _numbers(ax: Axes, weight: Any, colours: FloatArray, n: int) -> None:
    size = min(style.SMALL, 72.0 * 0.34 * min(style.inches(ax)) / n)
    for cell, value in enumerate(weight):
        if value > 0:
            i, j = divmod(cell, n)
            style.text(ax, j, i, f"{value:.4g}", color=style.text_colour(colours[cell]), fontsize=size)

"""Observed levels against what was predicted: the confusion matrix, and reliability curves of probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._typing import FloatArray
from . import style

if TYPE_CHECKING:
    from .drawn import Axes, DrawnRanker


_MOST_NUMBERS = 20  # levels; the cells of more are too small for numbers


def confusion_data(results: DrawnRanker, *, newdata: Any = None, weights: Any = None) -> pd.DataFrame:
    """One row a cell.

    Returns
    -------
    pandas.DataFrame
        Columns observed, predicted (levels), distance (|i - j| in ranks), weight (of the rows), share (of the weight
        of the observed level; 0 for a level without rows).
    """
    cells = results.confusion(newdata, weights=weights)
    values = cells.to_numpy(dtype=np.float64)
    total = values.sum(axis=1, keepdims=True)
    n = values.shape[0]
    place = np.arange(n)
    both = {"observed": [level for level in cells.index for _ in range(n)], "predicted": list(cells.columns) * n}
    distance, share = np.abs(place[:, None] - place), values / np.where(total > 0, total, 1.0)
    numbers = {"distance": distance.ravel(), "weight": cells.to_numpy().ravel(), "share": share.ravel()}
    return pd.DataFrame(both | numbers)


def confusion(results: DrawnRanker, ax: Axes | None = None, *, newdata: Any = None, weights: Any = None) -> Axes:
    """Observed against predicted levels: blue where right, redder with the distance, deeper with the share.

    Parameters
    ----------
    ax : matplotlib axes, optional
    newdata : data frame, optional
        With the response; the rows of the fit if not given.
    weights : str or (N,) array, optional
        Case weights of `newdata`.
    """
    data = confusion_data(results, newdata=newdata, weights=weights)
    levels = [str(level) for level in results.levels]
    n = len(levels)
    side = min(max(2.6, 0.44 * n + 1.0), 7.0)
    wordy = max(map(len, levels)) > 8 or n > 12
    ax = style.axes(ax, height=side + (0.8 if wordy else 0.3), width=side + (1.6 if wordy else 0.6))
    colours = _colours(data["distance"].to_numpy(), data["share"].to_numpy(), n)
    style.field(ax, colours.reshape(n, n, 4), aspect="equal")
    if n <= _MOST_NUMBERS:
        _numbers(ax, data["weight"].to_numpy(), colours, n)
    places = np.arange(0, n, -(-n // 40))
    turned: dict[str, Any] = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if wordy else {}
    ax.set_xticks(places, [levels[i] for i in places], **turned)
    ax.set_yticks(places, [levels[i] for i in places])
    ax.set_xticks(np.arange(n + 1) - 0.5, minor=True)
    ax.set_yticks(np.arange(n + 1) - 0.5, minor=True)
    ax.grid(which="minor", color="white", linewidth=1.0)
    ax.tick_params(which="minor", length=0)
    weight = data["weight"].sum()
    right = float(data.loc[data["distance"] == 0, "weight"].sum() / weight)
    off = float((data["distance"] * data["weight"]).sum() / weight)
    response = results.design.response
    return style.named(ax, f"predicted {response}", f"observed {response}", f"{right:.0%} right, {off:.2f} levels off")


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


def reliability_data(
    results: DrawnRanker, *, newdata: Any = None, by: str = "split", bins: int = 10, level: float = 0.95
) -> pd.DataFrame:
    """Columns split (or level), bin, predicted, observed, lower, upper, weight."""
    return results.reliability(newdata, by=by, bins=bins, level=level)


def reliability(
    results: DrawnRanker,
    ax: Axes | None = None,
    *,
    newdata: Any = None,
    by: str = "split",
    bins: int = 10,
    level: float = 0.95,
) -> Axes:
    """Observed shares against predicted probabilities, with Wilson limits: on the diagonal where these are right.

    Parameters
    ----------
    ax : matplotlib axes, optional
    newdata : data frame, optional
        With the response; the rows of the fit (cross-fitted, if it is calibrated) if not given.
    by : {"split", "level"}
        A curve a threshold, of P(response <= low), or a level, of P(response = level).
    bins : int
        Most bins, of about equal weight.
    level : float in (0, 1)
        Confidence level of the limits.

    Raises
    ------
    OptionError
        The fit has no probabilities.
    """
    data = reliability_data(results, newdata=newdata, by=by, bins=bins, level=level)
    curves = list(data[by].cat.categories)
    longest = max(len(str(name)) for name in curves)
    ax = style.axes(ax, height=4.6, width=4.9 + 0.075 * min(longest, 60))
    ax.plot([0.0, 1.0], [0.0, 1.0], color=style.MUTED, linewidth=1.0, linestyle=(0, (4, 3)), zorder=1)
    colours = style.level_colours(len(curves))
    for name, colour in zip(curves, colours, strict=True):
        curve = data[data[by] == name]
        x, y = curve["predicted"].to_numpy(), curve["observed"].to_numpy()
        ends = np.vstack([y - curve["lower"].to_numpy(), curve["upper"].to_numpy() - y])
        ax.errorbar(x, y, yerr=np.maximum(ends, 0.0), fmt="none", ecolor=colour, elinewidth=0.8, alpha=0.45, zorder=2)
        ax.plot(x, y, color=colour, linewidth=1.3, marker="o", markersize=4.0, zorder=3)
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.02, 1.02)
    ax.set_aspect("equal", adjustable="box")
    style.level_key(ax, curves, colours)
    what = "at or below each threshold" if by == "split" else "of each level"
    cross_fitted = newdata is None and results.fit.calibration is not None
    title = f"{results.design.response}: {what}{', cross-fitted' if cross_fitted else ''}"
    return style.named(ax, "predicted probability", "observed share", title)

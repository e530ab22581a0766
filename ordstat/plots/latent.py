"""Scores of the rows by observed level, with the thresholds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._typing import FloatArray
from ..checks import whole
from . import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .drawn import DrawnRanker


def latent_data(results: DrawnRanker, *, bins: int = 40) -> pd.DataFrame:
    """Histogram of the scores of every observed level.

    Returns
    -------
    pandas.DataFrame
        Columns level, left and right (ends of the bin, in units of the score), weight (of the rows inside), share (of
        the weight of the level).
    """
    whole("bins", bins, 1)
    sample, scores = results.design.sample, results.fit.scores
    results.gaps(sample.rows, scores)  # raises where there are votes in place of scores
    edges = np.histogram_bin_edges(scores, bins)
    weights = sample.case_weights
    tables = []
    for code, level in enumerate(results.levels):
        mine = sample.y == code
        ends = {"level": level, "left": edges[:-1], "right": edges[1:]}
        tables.append(pd.DataFrame(ends | style.histogram(scores[mine], edges, weights[mine])))
    return pd.concat(tables, ignore_index=True)


def row_thresholds(results: DrawnRanker) -> FloatArray:
    """(3, K-1) mean, smallest and largest threshold over the rows: alike unless there are nominal effects."""
    sample, scores = results.design.sample, results.fit.scores
    thresholds = scores[:, None] - results.gaps(sample.rows, scores)
    with np.errstate(invalid="ignore"):
        mean = np.average(thresholds, axis=0, weights=sample.case_weights)
    return np.stack([mean, thresholds.min(axis=0), thresholds.max(axis=0)])


def latent(results: DrawnRanker, ax: Axes | None = None, *, bins: int = 40) -> Axes:
    """Scores of the rows of each observed level, with the thresholds and the interval of every level.

    A row of the plot is one observed level. Where thresholds differ between the rows of the fit (nominal effects)
    their mean is drawn, and their range shaded.

    Parameters
    ----------
    ax : matplotlib axes, optional
    bins : int
        Number of bins of the histograms.

    Raises
    ------
    UnavailableError
        For a rule that votes.
    ImportError
        matplotlib is not installed.
    """
    data = latent_data(results, bins=bins)
    levels = results.levels
    ax = style.axes(ax, height=1.3 + 0.42 * len(levels))
    mean, least, most = row_thresholds(results)
    _limits(ax, data, np.stack([least, most]))
    colours = style.level_colours(len(levels))
    _bands(ax, mean, colours)
    tallest = data["share"].max()
    for place, (level, colour) in enumerate(zip(levels, colours, strict=True)):
        mine = data[data["level"] == level]
        heights = place + 0.85 * mine["share"].to_numpy() / tallest
        edges = np.append(mine["left"], mine["right"].iloc[-1])
        ax.stairs(heights, edges, baseline=place, fill=True, color=colour, linewidth=0, zorder=4)
        ax.axhline(place, color=style.MUTED, linewidth=0.5, zorder=3)
    ax.set_ylim(-0.1, len(levels))
    style.row_labels(ax, [place + 0.3 for place in range(len(levels))], [str(level) for level in levels])
    style.named(ax, "score H", f"observed {results.design.response}")
    style.threshold_lines(ax, mean, results.threshold_names)
    _ranges(ax, mean, least, most)
    return ax


def _limits(ax: Axes, data: pd.DataFrame, thresholds: FloatArray) -> None:
    ends = np.concatenate([data["left"], data["right"], thresholds[np.isfinite(thresholds)]])
    pad = 0.04 * (ends.max() - ends.min() or 1.0)
    ax.set_xlim(ends.min() - pad, ends.max() + pad)


def _bands(ax: Axes, thresholds: FloatArray, colours: list[tuple[float, float, float, float]]) -> None:
    """The interval of every level, in a tint of its colour."""
    low, high = ax.get_xlim()
    ends = np.clip(np.concatenate([[low], np.maximum.accumulate(thresholds), [high]]), low, high)
    for left, right, colour in zip(ends[:-1], ends[1:], colours, strict=True):
        if right > left:
            ax.axvspan(left, right, color=colour, alpha=0.10, linewidth=0, zorder=1)


def _ranges(ax: Axes, mean: FloatArray, least: FloatArray, most: FloatArray) -> None:
    """Where thresholds differ between rows: a bar from the smallest to the largest across each threshold line."""
    size = np.nanmax(np.abs(mean[np.isfinite(mean)]), initial=1.0)
    for place, (left, right) in enumerate(zip(least, most, strict=True)):
        if np.isfinite([left, right]).all() and right - left > 1e-9 * size:
            height = 0.98 - 0.025 * place
            looks: dict[str, Any] = {"color": style.INK, "linewidth": 1.0, "markersize": 5, "zorder": 5}
            ax.plot([left, right], [height, height], "|-", transform=ax.get_xaxis_transform(), **looks)

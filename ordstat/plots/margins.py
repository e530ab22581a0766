"""Distribution of the margins to the two ends of each row's own interval."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .._typing import FloatArray
from ..checks import whole
from ..exceptions import DataError, OptionError
from . import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .drawn import DrawnRanker

_SIDES = ("left", "right")


def margins_data(results: DrawnRanker, *, bins: int = 40, normalised: bool | None = None) -> pd.DataFrame:
    """Histogram of the left and of the right margins.

    Parameters
    ----------
    bins : int
        Their common width is chosen so that 0 is an end of a bin.
    normalised : bool, optional
        Margins divided by the norm of potential and thresholds; True where there is a norm.

    Returns
    -------
    pandas.DataFrame
        Columns side ("left", "right"), from, to (ends of the bin), weight, share (of all rows with that margin: rows of
        the lowest level have no left margin, those of the highest no right one).
    """
    whole("bins", bins, 2)
    sides = _sides(results, _normalise(results, normalised))
    weights = results.design.sample.case_weights
    values = np.concatenate([side[np.isfinite(side)] for side in sides])
    if values.size == 0:
        raise DataError("no row has a finite margin.")
    edges = _edges(values, bins)
    tables = []
    for name, side in zip(_SIDES, sides, strict=True):
        finite = np.isfinite(side)
        ends = {"side": name, "from": edges[:-1], "to": edges[1:]}
        tables.append(pd.DataFrame(ends | style.histogram(side[finite], edges, weights[finite])))
    return pd.concat(tables, ignore_index=True)


def _normalise(results: DrawnRanker, asked: bool | None) -> bool:
    use = results.geometry is not None if asked is None else asked
    if use and results.geometry is None:
        raise OptionError(f"{results.method!r} has no norm for its margins: use normalised=False.")
    return use


def _sides(results: DrawnRanker, normalised: bool) -> tuple[FloatArray, FloatArray]:
    m = results.training_margins
    return (m.left / m.unit, m.right / m.unit) if normalised else (m.left, m.right)


def _edges(values: FloatArray, bins: int) -> FloatArray:
    """Ends of bins of one width, 0 among them; one bin at the least."""
    low, high = min(float(values.min()), 0.0), max(float(values.max()), 0.0)
    width = (high - low) / bins or 1.0
    first = np.floor(low / width)
    return width * np.arange(first, max(np.ceil(high / width), first + 1) + 1)


def margins(
    results: DrawnRanker,
    ax: Axes | None = None,
    *,
    delta: float | None = None,
    bins: int = 40,
    normalised: bool | None = None,
) -> Axes:
    """Left and right margins of the rows; wrong ones (<= 0) in another colour, and a line at Delta.

    Parameters
    ----------
    ax : matplotlib axes, optional
    delta : float >= 0, optional
        Half the median size of the margins, to one digit, if not given.
    bins : int
    normalised : bool, optional
        Whether in units of the normalised margin; True where the potential has a norm.
    """
    data = margins_data(results, bins=bins, normalised=normalised)
    use = _normalise(results, normalised)
    errors = results.delta_errors(None if delta is None else [delta], normalised=use)
    ax = style.axes(ax, height=2.6)
    tallest = data["share"].max()
    for place, side in ((1, "left"), (0, "right")):
        mine = data[data["side"] == side]
        wrong = (mine["to"] <= mine["to"].abs().max() * 1e-12).to_numpy()
        heights, widths = 0.85 * mine["share"] / tallest, mine["to"] - mine["from"]
        colours = np.where(wrong, style.WRONG, style.RIGHT)
        ax.bar(mine["from"], heights, widths, bottom=place, align="edge", color=colours, linewidth=0, zorder=3)
        ax.axhline(place, color=style.MUTED, linewidth=0.5, zorder=4)
    ax.set_ylim(-0.02, 2.0)
    ax.axvline(0.0, color=style.INK, linewidth=0.8, zorder=4)
    _delta(ax, errors.iloc[[len(errors) // 2]])
    style.row_labels(ax, [1.35, 0.35], ["left margin\nH - $\\theta_{y-1}$", "right margin\n$\\theta_y$ - H"])
    return style.named(ax, "normalised margin" if use else "margin, units of the score")


def _delta(ax: Axes, errors: pd.DataFrame) -> None:
    """A line at Delta, with the share of rows whose margins are not larger."""
    delta, share = float(errors.index[0]), float(errors["classification"].iloc[0])
    ax.axvline(delta, color=style.INK, linewidth=0.8, linestyle=(0, (4, 3)), zorder=4)
    text = f"$\\Delta$ = {delta:g}: {share:.0%} of the rows have a margin $\\leq \\Delta$"
    side = "left" if delta < np.mean(ax.get_xlim()) else "right"
    style.note(ax, text, (delta, 1.0), (0, 3), ax.get_xaxis_transform(), ha=side, va="bottom")

"""How every plot looks: quiet axes, colours of ordered levels, labels that keep apart; no global setting changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._typing import FloatArray
from ..exceptions import OptionError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK = "#333333"
MUTED = "#8a8a8a"
FAINT = "#dddddd"
#: Blue and vermilion of Okabe and Ito's palette, told apart by every kind of colour vision.
RIGHT = "#0072b2"
WRONG = "#d55e00"
SMALL = 8.5
_WIDTH = 6.4  # inches
_TALLEST = 14.0  # inches of a figure, however many rows it has
_ROW = 0.13  # inches that a row's name needs
_MOST_NAMES = 20  # of levels beside a plot


def axes(ax: Axes | None, height: float = 4.0, width: float = _WIDTH) -> Axes:
    """The axes given, or those of a new figure of that size in inches.

    Raises
    ------
    ImportError
        matplotlib is not installed.
    """
    return panels(ax, 1, 1, height, width)[0]


def panels(given: Any, n: int, columns: int, height: float, width: float = _WIDTH) -> list[Axes]:
    """n axes: those given, or those of a new figure with panels of that height."""
    if given is not None:
        chosen: list[Axes] = list(np.ravel(given))
        if len(chosen) != n:
            raise OptionError(f"the plot needs {n} axes; got {len(chosen)}.")
        return [_quiet(ax) for ax in chosen]
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("plots need matplotlib, which is not installed: pip install ordstat[plot]") from error
    columns = min(columns, n)
    rows = -(-n // columns)
    size = (width, min(height * rows, _TALLEST))
    figure, grid = pyplot.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False, facecolor="white")
    for spare in grid.flat[n:]:
        figure.delaxes(spare)
    return [_quiet(ax) for ax in grid.flat[:n]]


def _quiet(ax: Axes) -> Axes:
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(MUTED)
    ax.tick_params(colors=INK, labelsize=SMALL, length=3, color=MUTED)
    ax.set_axisbelow(True)
    return ax


def named(ax: Axes, x: str = "", y: str = "", title: str = "") -> Axes:
    """The axes with names, and a short title at the left."""
    ax.set_xlabel(x, color=INK, fontsize=SMALL + 0.5)
    ax.set_ylabel(y, color=INK, fontsize=SMALL + 0.5)
    return titled(ax, title) if title else ax


def titled(ax: Axes, title: str) -> Axes:
    """The axes with a short title at the left."""
    ax.set_title(title, loc="left", color=INK, fontsize=SMALL + 1.5)
    return ax


def text(ax: Axes, x: float, y: float, words: str, **looks: Any) -> None:
    """Words around a point."""
    chosen: dict[str, Any] = {"ha": "center", "va": "center", "color": INK, "fontsize": SMALL} | looks
    ax.text(x, y, words, **chosen)


def note(
    ax: Axes, words: str, place: tuple[float, float], offset: tuple[float, float], within: Any = "data", **looks: Any
) -> None:
    """Words so many points off a place of the axes, right of it; `within` is what the place is measured in."""
    chosen: dict[str, Any] = {"va": "center", "color": INK, "fontsize": SMALL} | looks
    ax.annotate(words, place, xycoords=within, xytext=offset, textcoords="offset points", **chosen)


def field(ax: Axes, colours: FloatArray, **how: Any) -> None:
    """Cells of these colours, without the marks of axes."""
    ax.imshow(colours, interpolation="nearest", **how)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


def histogram(values: FloatArray, edges: FloatArray, weights: FloatArray) -> dict[str, FloatArray]:
    """Weight of the values in every bin, and its share of all."""
    inside = np.histogram(values, edges, weights=weights)[0]
    return {"weight": inside, "share": inside / inside.sum() if inside.sum() > 0 else inside}


def long(wide: pd.DataFrame) -> pd.DataFrame:
    """Columns round, rows, value of a frame with one column a set of rows, by round."""
    return wide.reset_index().melt(id_vars="round", var_name="rows", value_name="value")


def level_colours(n: int) -> list[tuple[float, float, float, float]]:
    """n colours from dark violet (lowest) to yellow-green (highest): viridis without its ends too pale for white."""
    from matplotlib import colormaps

    return [tuple(colour) for colour in colormaps["viridis"](np.linspace(0.04, 0.86, n))]


def text_colour(background: Sequence[float]) -> str:
    """White on dark, ink on light, by relative luminance."""
    luminance = float(np.dot(background[:3], (0.299, 0.587, 0.114)))
    return "white" if luminance < 0.55 else INK


def readable(colour: Sequence[float]) -> tuple[float, ...]:
    """The colour, darkened where text of it would be too pale on white."""
    luminance = float(np.dot(colour[:3], (0.299, 0.587, 0.114)))
    return tuple(min(1.0, 0.45 / max(luminance, 1e-9)) * part for part in colour[:3])


def keep_apart(places: Iterable[float], gap: float, low: float = -np.inf, high: float = np.inf) -> FloatArray:
    """The places moved as little as possible (least squares, order kept) so that none is nearer than `gap`.

    All lie in [low, high], where there is room for them.

    Examples
    --------
    >>> keep_apart([0.0, 0.1, 5.0], 1.0).round(2)
    array([-0.45,  0.55,  5.  ])
    >>> keep_apart([0.0, 0.1, 5.0], 1.0, low=0.0).round(2)
    array([0., 1., 5.])
    """
    from scipy.optimize import isotonic_regression

    wanted = np.asarray(list(places), dtype=np.float64)
    order = np.argsort(wanted, kind="stable")
    steps = gap * np.arange(wanted.size)
    means = isotonic_regression(wanted[order] - steps).x
    moved = np.clip(means, low, max(low, high - (steps[-1] if steps.size else 0.0))) + steps
    return np.asarray(moved[np.argsort(order, kind="stable")])


def inches(ax: Axes) -> tuple[float, float]:
    """Width and height of the axes as laid out with what is drawn so far."""
    figure = ax.figure.figure  # the whole figure, from a part of it too
    figure.draw_without_rendering()
    box = ax.get_window_extent()
    return box.width / figure.dpi, box.height / figure.dpi


def end_labels(ax: Axes, heights: Sequence[float], texts: Sequence[str], colours: Sequence[Any]) -> None:
    """Names of lines right of the axes, at their last heights, kept apart; of very many lines some."""
    step = max(1, -(-len(texts) // _MOST_NAMES))
    heights, texts, colours = heights[::step], texts[::step], colours[::step]
    low, high = ax.get_ylim()
    room = inches(ax)[1]
    size = min(SMALL, 72.0 * room / (1.25 * max(len(texts), 1)))
    gap = 1.25 * size / 72.0 / room * (high - low)
    places = keep_apart(heights, gap, low + 0.3 * gap, high - 0.3 * gap)
    for place, words, colour in zip(places, texts, colours, strict=True):
        note(ax, words, (1.0, place), (5, 0), ax.get_yaxis_transform(), color=readable(colour), fontsize=size)


def curve_labels(ax: Axes, curves: Mapping[str, pd.DataFrame], colours: Mapping[str, str]) -> None:
    """Names of curves, frames with a column "value", right of the axes."""
    from matplotlib.colors import to_rgb

    last = [float(curve["value"].iloc[-1]) for curve in curves.values()]
    end_labels(ax, last, list(curves), [to_rgb(colours[name]) for name in curves])


def level_key(ax: Axes, levels: Sequence[Any], colours: Sequence[Any]) -> None:
    """Names of the levels right of the axes beside their colours, highest on top; of very many levels some."""
    from matplotlib.patches import Patch

    step = max(1, -(-len(levels) // _MOST_NAMES))
    levels, colours = levels[::step], colours[::step]
    handles = [Patch(color=colour, label=str(level)) for level, colour in zip(levels, colours, strict=True)]
    looks: dict[str, Any] = {"fontsize": SMALL, "labelcolor": INK, "handlelength": 0.9, "handleheight": 0.9}
    ax.legend(handles=handles[::-1], loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, **looks)


def plain_log_ticks(ax: Axes) -> None:
    """Ticks of a logarithmic x axis as plain numbers, few enough to be read."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

    low, high = ax.get_xlim()
    ax.xaxis.set_major_locator(MaxNLocator(5) if high < 4 * low else LogLocator(10, subs=(1, 2, 5), numticks=8))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.4g}"))
    ax.xaxis.set_minor_locator(NullLocator())


def row_labels(ax: Axes, places: Sequence[float], texts: Sequence[str]) -> None:
    """Names of rows at the left, without tick marks; some of them where there is no room for all."""
    step = max(1, int(np.ceil(_ROW * len(texts) / inches(ax)[1])))
    ax.set_yticks(list(places)[::step], [str(text) for text in texts][::step])
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)


def threshold_lines(ax: Axes, values: FloatArray, names: Sequence[str]) -> None:
    """Vertical lines with their names on top; a name without room is left out."""
    symbols = names if max(map(len, names)) <= 7 else [f"$\\theta_{{{k + 1}}}$" for k in range(len(names))]
    low, high = ax.get_xlim()
    per_inch = abs(high - low) / inches(ax)[0]
    taken = -np.inf
    width = 0.8 if len(names) <= _MOST_NAMES else 0.3
    for value, symbol in zip(values, symbols, strict=True):
        if not np.isfinite(value):
            continue
        ax.axvline(value, color=INK, linewidth=width, zorder=3)
        half = 0.5 * per_inch * 0.62 * SMALL / 72.0 * (2.2 if symbol.startswith("$") else len(symbol) + 0.8)
        if value - half >= taken:
            text(ax, value, 1.01, symbol, transform=ax.get_xaxis_transform(), va="bottom", fontsize=SMALL - 0.5)
            taken = value + half

"""Shared parts of all pictures: axes, colours, texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
import pandas as pd

from .._typing import FloatArray
from ..checks import text_given
from ..exceptions import OptionError
from ..report.cells import cells

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Fewest letters of a line.
_FEWEST = 8
#: Chinese, Japanese and Korean letters, twice as wide as others.
_WIDE = "\u2e80-\u9fff\uac00-\ud7af\uff01-\uff60"
#: Where a line may end: after blanks, after the signs that join words, and after wide
#: letters.
_PIECES = re.compile(
    rf"[{_WIDE}][\s_|/,]*|[^\s_|/,{_WIDE}]*[\s_|/,]+|[^\s_|/,{_WIDE}]+"
)


def in_lines(words: str, letters: int, most: int = 3) -> str:
    """A name in lines of about `letters` letters; long names lose their middle, to fit
    in `most` lines.

    Chinese, Japanese and Korean letters count as two. Dollar signs are escaped, so that
    matplotlib does not read a formula. A name with line breaks is returned unchanged.

    Examples
    --------
    >>> in_lines("Strongly disagree|Neither agree nor disagree", 20)
    'Strongly disagree|\\nNeither agree nor\\ndisagree'
    >>> in_lines("household_income_per_head", 12, most=2)
    'household_\\n..._per_head'
    """
    if "\n" in words:
        return words
    letters = max(letters, _FEWEST)
    kept = letters * most
    while len(lines := _filled(shortened_middle(words, kept), letters)) > most:
        kept -= 1
    return "\n".join(lines).replace("$", r"\$")


def longest_piece(words: str) -> int:
    """Number of letters of the longest piece that is not broken.

    Examples
    --------
    >>> longest_piece("no answer to_this"), longest_piece("北京"), longest_piece("")
    (6, 2, 0)
    """
    return max(
        (cells(piece.rstrip(" _|/,")) for piece in _PIECES.findall(words)), default=0
    )


def _filled(words: str, letters: int) -> list[str]:
    lines = [""]
    for piece in _PIECES.findall(words):
        piece = shortened_middle(piece, letters)
        if lines[-1] and cells(lines[-1]) + cells(piece.rstrip()) > letters:
            lines.append("")
        lines[-1] += piece
    return [line.rstrip() for line in lines]


def shortened_middle(name: str, letters: int) -> str:
    """A name of at most `letters` letters, without its middle: similar names often
    differ at their ends.

    Examples
    --------
    >>> shortened_middle("redsvm with C = 1000", 13)
    'redsv... 1000'
    """
    if cells(name) <= letters:
        return name
    kept = letters - 3
    beginning = _beginning(name, kept - kept // 2)
    end = _beginning(name[::-1], kept // 2)[::-1]
    return f"{beginning}...{end}"


def _beginning(name: str, letters: int) -> str:
    """At most `letters` letters of the beginning; wide letters count as two."""
    room = np.cumsum([cells(letter) for letter in name]) <= letters
    return name[: int(room.sum())]


#: Decimals that one row with small numbers may bring to a picture of larger ones.
_MOST_DECIMALS = 4


def with_limits(numbers: FloatArray) -> list[str]:
    """Estimates with their confidence limits, (n, 3), all with the decimals that the
    narrowest needs.

    Examples
    --------
    >>> with_limits(np.array([[2.503, 1.4669, 3.5393], [np.inf, np.nan, np.nan]]))
    ['2.50 [1.47, 3.54]', 'not estimable']
    >>> with_limits(np.array([[0.0094, 0.0071, 0.0117], [1.0, np.nan, np.nan]]))
    ['0.0094 [0.0071, 0.0117]', '1']
    >>> with_limits(np.full((1, 3), np.nan))
    ['not estimated']
    """
    known = np.asarray(np.isfinite(numbers).all(axis=1))
    needed = [decimals_for(high - low) for _, low, high in numbers[known]]
    decimals = min(max(needed, default=2), max(_MOST_DECIMALS, min(needed, default=2)))
    texts = []
    for (estimate, low, high), finite in zip(numbers, known, strict=True):
        if finite:
            texts.append(
                f"{estimate:z.{decimals}f} [{low:z.{decimals}f}, {high:z.{decimals}f}]"
            )
        elif np.isfinite(estimate) and np.isnan([low, high]).all():
            texts.append(f"{estimate:.3g}")
        elif np.isnan(estimate):
            texts.append("not estimated")
        else:
            texts.append("not estimable")
    return texts


def decimals_for(width: float) -> int:
    """Decimals of numbers that are `width` apart, at least two.

    Examples
    --------
    >>> decimals_for(2.1), decimals_for(0.017)
    (2, 3)
    """
    return int(np.clip(1.0 - np.floor(np.log10(max(width, 1e-300))), 2, 8))


#: Grey that is visible on white and on black.
MUTED = "#757575"
#: Blue and vermilion of Okabe and Ito's palette, distinct for every kind of colour
#: vision.
RIGHT = "#0072b2"
WRONG = "#d55e00"
SMALL = 8.5
#: Size of words about the picture itself.
TINY = 6.5
_WIDTH = 6.4  # inches
_TALLEST = 14.0  # most inches of a figure
_ROW = 0.13  # inches that a row's name needs
_MOST_NAMES = 20  # most names of levels beside a plot
_SMALLEST = 7.0 / SMALL  # smallest share of the size of small text, if room is short
_LINE = 1.25 * SMALL / 72.0  # inches of a line of text
_LETTERS = 13.5  # letters of small text in an inch
# shares of the width for names right and left of a plot
_BESIDE = 0.3
_BEFORE = 0.38
_SPARE = 0.775  # share of the width of a subplot for its axes, before any layout
_LEGEND: dict[str, Any] = {"fontsize": SMALL, "frameon": False}
#: Weights of red, green and blue in lightness.
_LUMA = np.array([0.299, 0.587, 0.114])
#: Lightness of the lowest and the highest level: all show on white (contrast 3:1), or
#: on a dark ground.
_ON_WHITE = (0.16, 0.52)
_ON_DARK = (0.38, 0.92)
#: The same of areas, which show by their edges.
_AREAS = (0.20, 0.88)


class Looks(TypedDict, total=False):
    """Options of every plot."""

    title: str | None
    labels: Mapping[str, str] | None
    draw: bool


@dataclass(frozen=True)
class Sheet:
    """Axes to draw on, and the title and labels of the user."""

    given: Any = None
    title: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.title is not None:
            text_given("title", self.title)

    def show(self, picture: Callable[..., Any], data: Any, *given: Any) -> Any:
        """The axes of a picture, with the user's title."""
        drawn = picture(self, data, *given)
        panels: list[Axes] = list(np.ravel(np.asarray(drawn, dtype=object)))
        if self.title is not None and len(panels) > 1 and self.given is None:
            letters = int(_LETTERS * panels[0].figure.figure.get_figwidth())
            panels[0].figure.figure.suptitle(
                in_lines(self.title, letters), x=0.01, ha="left", fontsize=SMALL + 2.5
            )
        elif self.title is not None:
            below = f"\n{panels[0].get_title(loc='left')}" if len(panels) > 1 else ""
            entitle(panels[0], self.title, below)
        if panels[0].figure.figure.get_layout_engine() is None:
            for panel in panels:
                settle(panel)
        return drawn

    def name(self, variable: Any) -> str:
        """The label of a variable, a level or a term."""
        return str(self.labels.get(variable, variable))

    def axes(self, height: float = 4.0, width: float = _WIDTH) -> Axes:
        """The axes given, or those of a new figure of that size in inches.

        Raises
        ------
        ImportError
            matplotlib is not installed.
        """
        return self.panels(1, 1, height, width)[0]

    def panels(
        self, n: int, columns: int, height: float, width: float = _WIDTH
    ) -> list[Axes]:
        """n axes: those given, or those of a new figure with panels of that height."""
        if self.given is not None:
            return [_quiet(ax) for ax in _checked(self.given, n)]
        try:
            from matplotlib import pyplot
        except ImportError as error:
            raise ImportError(
                "plots need the package matplotlib. Install it: pip install matplotlib"
            ) from error
        columns = min(columns, n)
        rows = -(-n // columns)
        size = (width, min(height * rows, _TALLEST))
        figure, grid = pyplot.subplots(
            rows, columns, figsize=size, layout="constrained", squeeze=False
        )
        for spare in grid.flat[n:]:
            figure.delaxes(spare)
        return [_quiet(ax) for ax in grid.flat[:n]]


def line_over(
    ax: Axes, x: Any, y: Any, within: tuple[float, float] | None, **looks: Any
) -> None:
    """A line over numbers, dashed where it leaves the range of the rows of the fit."""
    from matplotlib.collections import LineCollection

    points = np.column_stack([np.asarray(x, float), np.asarray(y, float)])
    low, high = within or (-np.inf, np.inf)
    outside = (points[:, 0] < low) | (points[:, 0] > high)
    ax.plot(points[:, 0], np.where(outside, np.nan, points[:, 1]), **looks)
    beyond = outside[1:] | outside[:-1]
    if beyond.any():
        segments = np.stack([points[:-1], points[1:]], axis=1)[beyond]
        line: dict[str, Any] = {"colors": [looks["color"]], "linestyle": (0, (2, 1.5))}
        line["linewidth"] = looks["linewidth"]
        ax.add_collection(LineCollection(_joined(segments), **line))


def _joined(segments: FloatArray) -> list[FloatArray]:
    """Segments (M, 2, 2) that follow each other as one line, whose dashes run on."""
    starts = np.any(segments[1:, 0] != segments[:-1, 1], axis=1)
    runs = np.split(segments, np.flatnonzero(starts) + 1)
    return [np.vstack([run[:1, 0], run[:, 1]]) for run in runs]


def intervals(
    ax: Axes,
    heights: Any,
    estimates: Any,
    limits: tuple[Any, Any],
    *,
    colour: Any = RIGHT,
    width: float = 1.6,
    **looks: Any,
) -> None:
    """Estimates in rows as dots over their confidence limits."""
    ax.hlines(heights, *limits, colors=[colour], linewidth=width, zorder=3)
    dots: dict[str, Any] = {"marker": "o", "markersize": 5.5, "color": colour}
    ax.plot(estimates, heights, linestyle="none", zorder=4, **dots | looks)


def below(ax: Axes, words: str) -> None:
    """Small words below all panels of a figure."""
    figure = ax.figure.figure
    letters = int(_LETTERS * figure.get_figwidth() * SMALL / TINY)
    looks: dict[str, Any] = {"x": 0.01, "ha": "left", "color": MUTED, "fontsize": TINY}
    figure.supxlabel(in_lines(words, letters), **looks)


def _checked(given: Any, n: int) -> list[Axes]:
    """The axes given as a list; OptionError if they are not n axes."""
    chosen: list[Axes] = (
        [] if isinstance(given, pd.DataFrame) else list(np.ravel(given))
    )
    if not (chosen and all(hasattr(ax, "transAxes") for ax in chosen)):
        raise OptionError(
            f"ax must be matplotlib axes; got a {type(given).__name__}. Give rows as"
            " newdata=, and terms as columns=."
        )
    if len(chosen) != n:
        raise OptionError(
            f"the plot needs {n} axes; got {len(chosen)}. Give plt.subplots(1, {n})[1]."
        )
    return chosen


def _quiet(ax: Axes) -> Axes:
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(MUTED)
    ax.tick_params(labelsize=SMALL, length=3, color=MUTED)
    ax.set_axisbelow(True)
    ax.grid(False)
    return ax


def ink() -> str:
    """The colour of text in the user's style."""
    from matplotlib import rcParams

    return str(rcParams["text.color"])


def paper() -> FloatArray:
    """(3,) the background of axes in the user's style."""
    from matplotlib import rcParams
    from matplotlib.colors import to_rgba

    *colour, opacity = to_rgba(rcParams["axes.facecolor"])
    return np.array(colour) if opacity else np.ones(3)


#: Share of the colour of text in faint lines.
_FAINT = 0.15


def faint() -> tuple[float, ...]:
    """The background with a little of the colour of text."""
    from matplotlib.colors import to_rgb

    return tuple((1.0 - _FAINT) * paper() + _FAINT * np.array(to_rgb(ink())))


def settle(ax: Axes) -> None:
    """Lay out the figure; if it has no layout, as tight_layout() does, which the user
    may call again.
    """
    from matplotlib.layout_engine import TightLayoutEngine

    figure: Any = ax.figure.figure
    layout = figure.get_layout_engine()
    if layout is not None or ax.get_subplotspec() is not None:
        (layout or TightLayoutEngine(pad=0.4)).execute(figure)


def named(ax: Axes, x: str = "", y: str = "", title: str = "") -> Axes:
    """The axes with names and a short title at the left; long texts are in lines."""
    width, height = (
        _LETTERS * side / ax.figure.dpi for side in (ax.bbox.width, ax.bbox.height)
    )
    if not ax.spines["left"].get_visible():  # names of rows take room
        width = max(1.15 * drawn_letters(ax), 0.5 * width, 18.0)
    ax.set_xlabel(in_lines(x, int(width)), fontsize=SMALL + 0.5)
    ax.set_ylabel(in_lines(y, int(height)), fontsize=SMALL + 0.5)
    if title:
        entitle(ax, title)
    return ax


def entitle(ax: Axes, title: str, below: str = "") -> None:
    """A title at the left, in lines."""
    ax.set_title(
        in_lines(title, int(0.9 * _letters(ax))) + below,
        loc="left",
        fontsize=SMALL + 1.5,
    )


def place_width(ax: Axes) -> float:
    """Inches of the width of a subplot, with the text beside its axes, before any
    layout.
    """
    return float(ax.bbox.width) / ax.figure.dpi / _SPARE


def _letters(ax: Axes, share: float = _SPARE) -> float:
    """Letters of small text that fit in a share of the width of a subplot."""
    return share * _LETTERS * place_width(ax)


def drawn_letters(ax: Axes) -> int:
    """Letters of small text that fit across the axes, laid out as drawn so far."""
    return int(_LETTERS * inches(ax)[0])


def beside(ax: Axes, words: Any, most: int = 2) -> str:
    """A name right of the axes, in lines."""
    return in_lines(str(words), int(np.clip(_letters(ax, _BESIDE), 16, 26)), most)


def value_words(value: Any) -> str:
    """A value of a variable as text; numbers with decimals have four digits."""
    return f"{value:.4g}" if isinstance(value, (float, np.floating)) else str(value)


def text(ax: Axes, x: float, y: float, words: str, **looks: Any) -> None:
    """Text around a point."""
    chosen: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": SMALL} | looks
    ax.text(x, y, words, **chosen)


def note(
    ax: Axes,
    words: str,
    place: tuple[float, float],
    offset: tuple[float, float],
    within: Any = "data",
    **looks: Any,
) -> None:
    """Text at an offset in points from a place; `within` is the coordinate system of
    the place.
    """
    chosen: dict[str, Any] = {"va": "center", "fontsize": SMALL} | looks
    ax.annotate(
        words,
        place,
        xycoords=within,
        xytext=offset,
        textcoords="offset points",
        **chosen,
    )


def histogram(
    values: FloatArray, edges: FloatArray, weights: FloatArray
) -> dict[str, FloatArray]:
    """Weight of the values in every bin, and its share of the total."""
    inside = np.histogram(values, edges, weights=weights)[0]
    return {
        "weight": inside,
        "share": inside / inside.sum() if inside.sum() > 0 else inside,
    }


def level_colours(n: int) -> list[Any]:
    """n colours of lines and points, from dark violet (lowest) to olive (highest)."""
    on_white = paper() @ _LUMA >= 0.5
    return _viridis(n, 0.86, _ON_WHITE if on_white else _ON_DARK)


def area_colours(n: int) -> list[Any]:
    """n colours of areas, from violet (lowest) to yellow (highest)."""
    return _viridis(n, 1.0, _AREAS)


def _viridis(n: int, end: float, limits: tuple[float, float]) -> list[Any]:
    """Viridis up to `end`, at equal steps of lightness, for grey print."""
    from matplotlib import colormaps

    colours = np.array(colormaps["viridis"](np.linspace(0.04, end, n)))
    lightness = np.linspace(*limits, n)
    colours[:, :3] *= (lightness / (colours[:, :3] @ _LUMA))[:, None]
    return [tuple(colour) for colour in np.minimum(colours, 1.0)]


def diverging_colours(n: int) -> list[Any]:
    """n colours from orange (lowest) over light grey to violet (highest).

    In grey print the side of a bar tells the halves apart.
    """
    from matplotlib import colormaps

    half = np.linspace(0.06, 0.34, n // 2)
    middle = [(0.88, 0.88, 0.88, 1.0)] * (n % 2)
    ends = colormaps["PuOr"]
    return [*map(tuple, ends(half)), *middle, *map(tuple, ends(1.0 - half[::-1]))]


def text_colour(background: Sequence[float]) -> str:
    """White on dark, black on light, by relative luminance."""
    return "white" if float(np.dot(background[:3], _LUMA)) < 0.5 else "#222222"


def keep_apart(
    places: Iterable[float],
    gap: float | FloatArray,
    low: float = -np.inf,
    high: float = np.inf,
) -> FloatArray:
    """The places moved as little as possible (least squares, order kept) so that none
    is nearer than `gap`.

    All lie in [low, high] if there is room. An array `gap` holds a size for each place:
    neighbours are apart by the mean of their sizes.

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
    sizes = np.broadcast_to(np.asarray(gap, dtype=np.float64), wanted.shape)[order]
    steps = np.concatenate([[0.0], np.cumsum(0.5 * (sizes[1:] + sizes[:-1]))])[
        : wanted.size
    ]
    means = isotonic_regression(wanted[order] - steps).x
    moved = (
        np.clip(means, low, max(low, high - (steps[-1] if steps.size else 0.0))) + steps
    )
    return np.asarray(moved[np.argsort(order, kind="stable")])


def inches(ax: Axes) -> tuple[float, float]:
    """Width and height of the axes in inches, laid out as drawn so far."""
    settle(ax)
    ax.apply_aspect()
    box = ax.get_window_extent()
    return box.width / ax.figure.dpi, box.height / ax.figure.dpi


def columns_for(panels: int) -> int:
    """Number of columns of panels that leaves few places empty and no panel alone in a
    row.

    Examples
    --------
    >>> [columns_for(n) for n in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10)]
    [1, 2, 3, 2, 3, 3, 4, 4, 3, 4]
    """
    few = {1: 1, 2: 2, 4: 2}
    return few.get(panels) or min(
        (3, 4), key=lambda columns: (panels % columns == 1, -panels % columns)
    )


def level_key(ax: Axes, levels: Sequence[Any], looks: Sequence[Any]) -> None:
    """Legend of the levels right of the axes, highest on top; some of the levels if
    there are very many.
    """
    room = inches(ax)[1]
    most = int(np.clip(room / (1.17 * _LINE * len(levels)), 1, 3))
    key = _key([beside(ax, level, most) for level in levels], looks)
    needed = 1.15 * _LINE * sum(1 + label.count("\n") for label in key["labels"])
    key["fontsize"] = SMALL * float(np.clip(room / needed, _SMALLEST, 1.0))
    ax.legend(**key, loc="center left", bbox_to_anchor=(1.0, 0.5), borderpad=0.0)


def panel_key(
    panels: Sequence[Axes], names: Sequence[Any], looks: Sequence[Any], given: Any
) -> None:
    """One legend for all panels, right of the figure; for axes of the user, right of
    the first row of panels.
    """
    if given is not None:
        first = [
            panel for panel in panels if abs(panel.bbox.y0 - panels[0].bbox.y0) < 1.0
        ]
        level_key(first[-1], names, looks)
        return
    key = _key([in_lines(str(name), 22, 2) for name in names], looks)
    panels[0].figure.figure.legend(**key, loc="outside right center")


def _key(names: Sequence[str], looks: Sequence[Any]) -> dict[str, Any]:
    """Arguments of a legend; a look is a colour of areas, or a line of the picture."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    step = max(1, -(-len(names) // _MOST_NAMES))
    handles = [
        look if isinstance(look, Line2D) else Patch(color=look)
        for look in looks[::step]
    ][::-1]
    width = 2.2 if isinstance(looks[0], Line2D) else 0.9
    shapes = {"labelspacing": 0.35, "handlelength": width, "handleheight": 0.9}
    return {"handles": handles, "labels": names[::step][::-1], **shapes, **_LEGEND}


def legend(ax: Axes, title: str = "") -> None:
    """Labels of the lines, right of the axes."""
    ax.legend(
        loc="center left",
        bbox_to_anchor=(1.0, 0.5),
        title=title or None,
        title_fontsize=SMALL,
        **_LEGEND,
    )


#: Ticks within a power of ten, most to fewest.
_WITHIN = ((1.0, 1.5, 2.0, 3.0, 5.0, 7.0), (1.0, 2.0, 5.0), (1.0, 3.0))


def plain_log_ticks(ax: Axes) -> None:
    """Ticks of a logarithmic x axis as plain numbers, few enough to be read."""
    from matplotlib import ticker

    low, high = ax.get_xlim()
    most = int(np.clip(inches(ax)[0] / 0.5, 3, 7))
    locator: Any = ticker.MaxNLocator(min(most, 5), steps=[1, 2, 5, 10])
    if high >= 3.0 * low:
        decades = np.log10(high / low)
        fitting = [digits for digits in _WITHIN if len(digits) * decades <= most]
        locator = ticker.LogLocator(subs=[*fitting, (1.0,)][0], numticks=most)
    ax.xaxis.set_major_locator(locator)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:.4g}")
    ax.xaxis.set_minor_locator(ticker.NullLocator())


def row_labels(
    ax: Axes, places: Sequence[float], texts: Sequence[str], rows: float | None = None
) -> None:
    """Names of rows at the left, without tick marks; if room is short, smaller names,
    or only some of them.

    `rows` is the number of rows that fill the axes, if not all of them have names.
    """
    room = inches(ax)[1] / max(len(texts) if rows is None else rows, 1)
    step = every(room)
    shown = [str(text) for text in texts][::step]
    most = max(1, int(step * room / (1.03 * _LINE)))
    letters = int(np.clip(_letters(ax, _BEFORE), 14, 34))
    size = row_size(room * step)
    names = [in_lines(words, letters, min(most, 3)) for words in shown]
    # shortened alike: one more line, in smaller letters
    if len(set(names)) < len(set(shown)):
        size = size * most / (most + 1)
        names = [in_lines(words, letters, most + 1) for words in shown]
    ax.set_yticks(list(places)[::step], names, fontsize=size)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)


def every(room: float) -> int:
    """Step from named row to named row, if each row has `room` inches."""
    return max(1, int(np.ceil(_SMALLEST * _ROW / room)))


def row_size(room: float) -> float:
    """Size of the text of rows that have `room` inches each."""
    return SMALL * float(np.clip(room / (1.1 * _ROW), _SMALLEST, 1.0))


def column_labels(
    ax: Axes, names: Sequence[Any], counts: Sequence[float] | None = None
) -> None:
    """Names below 0, 1, ..., in lines, or turned if there is no room for lines; with
    numbers of observations.
    """
    words = [str(name) for name in names]
    below = [""] * len(words)
    room = _letters(ax)
    if counts is not None:
        below = [f"\nn = {count:.6g}" for count in counts]
        room = drawn_letters(ax)
    letters = int(room / max(len(words), 1)) - 1
    longest = max([*map(longest_piece, words), *map(len, below)])
    wide = letters >= longest or letters >= max(map(cells, words))
    if wide:
        texts = [in_lines(name, letters, 3) for name in words]
    else:
        texts = [in_lines(name, 20, 2) for name in words]
    texts = [text + note for text, note in zip(texts, below, strict=True)]
    turned: dict[str, Any] = {}
    pad = 3.5
    if not wide:
        turned = {"rotation": 35, "ha": "right", "rotation_mode": "anchor"}
        pad = 6.0
    ax.set_xticks(np.arange(len(names)), texts, **turned)
    ax.tick_params(axis="x", length=0, pad=pad)


_BRIEF = 7  # most letters of names of thresholds that fit side by side
_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def brief(names: Sequence[str]) -> bool:
    """Whether names of thresholds fit side by side."""
    return max(map(cells, names)) <= _BRIEF


def symbol(k: int) -> str:
    """θ with the number of a threshold."""
    return f"θ{k}".translate(_SUBSCRIPTS)


def threshold_lines(ax: Axes, values: FloatArray, names: Sequence[str]) -> None:
    """Vertical lines with their names on top, kept apart; if there are very many, only
    some have names.
    """
    from matplotlib.transforms import ScaledTranslation

    top = ax.get_xaxis_transform()
    symbols = np.array(
        names if brief(names) else [symbol(k) for k in range(1, len(names) + 1)]
    )
    finite = np.isfinite(values)
    values = values[finite]
    symbols = symbols[finite]
    for value in values:
        ax.axvline(
            value,
            color=ink(),
            linewidth=0.8 if len(names) <= _MOST_NAMES else 0.3,
            zorder=3,
        )
    low, high = ax.get_xlim()
    letter = 0.62 * SMALL / 72.0 * abs(high - low) / inches(ax)[0]
    sizes = letter * (np.array([cells(name) for name in symbols]) + 0.8)
    step = max(1, int(np.ceil(sizes.sum() / max(abs(high - low), 1e-300))))
    places = keep_apart(values[::step], sizes[::step], low, high)
    above = top + ScaledTranslation(0.0, 8.0 / 72.0, ax.figure.dpi_scale_trans)
    looks: dict[str, Any] = {"ha": "center", "va": "bottom", "fontsize": SMALL - 0.5}
    looks["arrowprops"] = {
        "arrowstyle": "-",
        "color": MUTED,
        "linewidth": 0.6,
        "shrinkA": 0,
        "shrinkB": 0,
    }
    for value, place, name in zip(values[::step], places, symbols[::step], strict=True):
        ax.annotate(
            name, (value, 1.0), (place, 1.0), xycoords=top, textcoords=above, **looks
        )

"""The latent scale: scores with the thresholds, and margins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._typing import BoolArray, FloatArray
from ..checks import whole
from ..exceptions import DataError, DataWarning, UnavailableError, warn
from ..judging.tables import errors_at_margin
from ..report.sections import counted_weights
from . import style
from .style import Sheet, in_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes


#: Thresholds of rows are the same if they differ by less than this share of their size.
_SAME = 1e-9
#: Least share of the axis that the bins of the scores cover.
_LEAST_SHARE = 0.4
#: Points of the density of the error.
_POINTS = 200


def latent_frame(results: Any, bins: int) -> pd.DataFrame:
    """Histogram of the scores for every observed level. A warning gives the number of
    rows with infinite scores, which are left out.
    """
    whole("bins", bins, 1)
    sample = results.design.sample
    placed = _placed(results)
    if not placed.rows.any():
        raise DataError(
            "the picture would be empty: the score of every row is infinite. Do what"
            " the fit's warnings advise, or draw plot.stacked."
        )
    if not placed.rows.all():
        warn(f"{_left_out(placed)} of the picture.", DataWarning)
    edges = np.histogram_bin_edges(placed.scores[placed.rows], bins, placed.span)
    tables = []
    for code, level in enumerate(results.levels):
        rows = (sample.y == code) & placed.rows
        ends = {"level": level, "left": edges[:-1], "right": edges[1:]}
        weights = sample.case_weights[rows]
        shares = style.histogram(placed.scores[rows], edges, weights)
        tables.append(pd.DataFrame(ends | shares))
    return pd.concat(tables, ignore_index=True)


def has_scores(results: Any) -> bool:
    """Whether rows have scores cut by ordered thresholds; with random effects, scores
    at the modes of these.
    """
    if results.method.likelihood:
        return bool(results.in_memory and results.family.ordered)
    return results.no_margins is None


@dataclass(frozen=True, eq=False, kw_only=True)
class _Placed:
    """Rows of a fit on the axis of scores.

    Attributes
    ----------
    scores : (N,)
    thresholds : (N, K-1)
    rows : (N,)
        Which rows have a finite distance to every threshold.
    from_first : bool
        Whether scores are counted from the first threshold, as the thresholds are
        infinite and their differences are not.
    """

    scores: FloatArray
    thresholds: FloatArray
    rows: BoolArray
    from_first: bool = False

    @property
    def span(self) -> tuple[float, float]:
        """Range of the scores, or more if it is a small part of that of the
        thresholds: bins would be too narrow to be seen.
        """
        scores = self.scores[self.rows]
        low = float(scores.min())
        high = float(scores.max())
        thresholds = self.thresholds[self.rows]
        ends = [low, high, *thresholds[np.isfinite(thresholds)]]
        missing = _LEAST_SHARE * (max(ends) - min(ends)) - (high - low)
        if missing <= 0.0:
            return low, high
        return low - 0.5 * missing, high + 0.5 * missing


def _placed(results: Any) -> _Placed:
    """Scores and thresholds of the rows of a fit."""
    scores = results.fit.scores
    rows = results.design.sample.rows
    of_likelihood = results.method.likelihood
    if not has_scores(results):
        raise UnavailableError(results.no_margins)
    rule = results.rule if of_likelihood else results
    gaps = np.asarray(rule.gaps(rows, scores))
    limits = None
    if of_likelihood:
        limits = results.gap_limits(rows)
    every = np.ones(scores.size, dtype=bool)
    if limits is None:
        return _Placed(scores=scores, thresholds=scores[:, None] - gaps, rows=every)
    finite = np.asarray((limits == 0.0).all(axis=1))
    from_first = not np.isfinite(results.thresholds).all()
    if from_first:
        scores = gaps[:, 0]
    return _Placed(
        scores=scores,
        thresholds=scores[:, None] - gaps,
        rows=finite,
        from_first=from_first,
    )


def _left_out(placed: _Placed) -> str:
    n = int(np.count_nonzero(~placed.rows))
    if n == 1:
        return "1 row with an infinite score is left out"
    return f"{n} rows with an infinite score are left out"


def draw_latent(sheet: Sheet, data: pd.DataFrame, results: Any) -> Axes:
    """Histograms of the levels over the intervals between the mean thresholds, and of a
    likelihood model the density of the random error.
    """
    levels = results.levels
    sample = results.design.sample
    has_error = bool(results.method.likelihood)
    n_rows = len(levels) + has_error
    ax = sheet.axes(height=1.3 + 0.42 * n_rows)
    placed = _placed(results)
    thresholds = placed.thresholds[placed.rows]
    weights = sample.case_weights[placed.rows]
    with np.errstate(invalid="ignore"):
        mean = np.average(thresholds, axis=0, weights=weights)
    least = thresholds.min(axis=0)
    most = thresholds.max(axis=0)
    ends = np.concatenate([data["left"], data["right"], least, most])
    ends = ends[np.isfinite(ends)]
    pad = 0.04 * (ends.max() - ends.min() or 1.0)
    low = ends.min() - pad
    high = ends.max() + pad
    ax.set_xlim(low, high)
    cuts = np.concatenate([[low], np.maximum.accumulate(mean), [high]])
    _draw_levels(ax, data, levels, np.clip(cuts, low, high))
    ax.set_ylim(-0.1, n_rows)
    places = [k + 0.3 for k in range(n_rows)]
    names_of_rows = [sheet.name(level) for level in levels]
    if has_error:
        middle = np.average(placed.scores[placed.rows], weights=weights)
        _draw_error(ax, results.family.link.pdf, float(middle), len(levels))
        names_of_rows.append("random error")
    style.row_labels(ax, places, names_of_rows)
    names = results.threshold_names
    score = _with_thresholds(_named_score(results, placed), names)
    if not placed.rows.all():
        score = in_lines(f"{score}. {_left_out(placed)}", style.drawn_letters(ax))
    response = sheet.name(results.design.response)
    style.named(ax, score, f"observed {response}")
    right = ax.get_yaxis_transform()
    counted = counted_weights(results) * placed.rows
    sizes = np.bincount(sample.y, counted, len(levels))
    for place, n in zip(places[: len(levels)], sizes, strict=True):
        words = f"n = {n:.6g}"
        style.note(ax, words, (1.0, place), (4, 0), right, color=style.MUTED)
    style.threshold_lines(ax, mean, names)
    largest = np.nanmax(np.abs(mean[np.isfinite(mean)]), initial=1.0)
    _draw_ranges(ax, least, most, _SAME * largest)
    return ax


def _draw_error(
    ax: Axes, density: Callable[[FloatArray], FloatArray], middle: float, place: int
) -> None:
    """The density of the latent variable (score + error of scale 1) of a row with a
    score in the middle, as far as the axis goes.
    """
    x = np.linspace(*ax.get_xlim(), _POINTS)
    heights = density(x - middle)
    top = place + 0.85 * heights / heights.max()
    ax.fill_between(x, place, top, color=style.MUTED, alpha=0.35, linewidth=0, zorder=4)
    ax.axhline(place, color=style.MUTED, linewidth=0.5, zorder=3)


def _named_score(results: Any, placed: _Placed) -> str:
    """What the axis of scores shows."""
    if placed.from_first:
        return f"latent score above the threshold {results.threshold_names[0]}"
    if getattr(results.fit, "marginal", None) is not None:
        return "latent score at the modes of the random effects"
    return "latent score"


def _draw_levels(
    ax: Axes, data: pd.DataFrame, levels: Sequence[Any], cuts: FloatArray
) -> None:
    """The histogram of each level, and its interval in a tint of its colour."""
    colours = style.level_colours(len(levels))
    tallest = data["share"].max()
    for k, (level, colour) in enumerate(zip(levels, colours, strict=True)):
        tint: dict[str, Any] = {"color": colour, "alpha": 0.10, "linewidth": 0}
        if cuts[k + 1] > cuts[k]:
            ax.axvspan(cuts[k], cuts[k + 1], zorder=1, **tint)
        part = data[data["level"] == level]
        heights = k + 0.85 * part["share"].to_numpy() / tallest
        edges = np.append(part["left"], part["right"].iloc[-1])
        area: dict[str, Any] = {"fill": True, "color": colour, "linewidth": 0}
        ax.stairs(heights, edges, baseline=k, zorder=4, **area)
        ax.axhline(k, color=style.MUTED, linewidth=0.5, zorder=3)


def _draw_ranges(
    ax: Axes, least: FloatArray, most: FloatArray, tolerance: float
) -> None:
    """The range of each threshold that differs between rows."""
    looks: dict[str, Any] = {"color": style.ink(), "linewidth": 1.0, "markersize": 5}
    top = ax.get_xaxis_transform()
    for k, (left, right) in enumerate(zip(least, most, strict=True)):
        if np.isfinite([left, right]).all() and right - left > tolerance:
            height = 0.98 - 0.025 * k
            ax.plot([left, right], [height] * 2, "|-", transform=top, zorder=5, **looks)


def _with_thresholds(score: str, names: Sequence[str]) -> str:
    """The name of the axis, with the symbols of the thresholds if their names are too
    long for the lines.
    """
    if style.brief(names):
        return score
    return f"{score}; threshold" + (
        f"s θ₁ to {style.symbol(len(names))}" if len(names) > 1 else " θ₁"
    )


def margins_frame(results: Any, bins: int) -> pd.DataFrame:
    """Histogram of the left and of the right margins."""
    whole("bins", bins, 2)
    m = results.training_margins
    unit = 1.0 if results.geometry is None else m.unit
    sides = (m.left / unit, m.right / unit)
    weights = results.design.sample.case_weights
    values = np.concatenate([side[np.isfinite(side)] for side in sides])
    if values.size == 0:
        raise DataError("no row has a finite margin.")
    low = min(float(values.min()), 0.0)
    high = max(float(values.max()), 0.0)
    width = (high - low) / bins or 1.0  # 0 is an end of a bin
    first = np.floor(low / width)
    edges = width * np.arange(first, max(np.ceil(high / width), first + 1) + 1)
    tables = []
    for name, side in zip(("left", "right"), sides, strict=True):
        finite = np.isfinite(side)
        ends = {"side": name, "from": edges[:-1], "to": edges[1:]}
        tables.append(
            pd.DataFrame(ends | style.histogram(side[finite], edges, weights[finite]))
        )
    return pd.concat(tables, ignore_index=True)


def draw_margins(
    sheet: Sheet, data: pd.DataFrame, results: Any, delta: float | None
) -> Axes:
    errors: Any = errors_at_margin(results, delta)
    ax = sheet.axes(height=2.6)
    tallest = data["share"].max()
    for place, side in ((1, "left"), (0, "right")):
        half = data[data["side"] == side]
        wrong = (half["to"] <= half["to"].abs().max() * 1e-12).to_numpy()
        heights = 0.85 * half["share"] / tallest
        widths = half["to"] - half["from"]
        colours = np.where(wrong, style.WRONG, style.RIGHT)
        ax.bar(
            half["from"],
            heights,
            widths,
            bottom=place,
            align="edge",
            color=colours,
            linewidth=0,
            zorder=3,
        )
        ax.axhline(place, color=style.MUTED, linewidth=0.5, zorder=4)
    ax.set_ylim(-0.02, 2.0)
    ax.axvline(0.0, color=style.ink(), linewidth=0.8, zorder=4)
    middle = errors.iloc[len(errors) // 2]
    ax.axvline(
        float(middle.name),
        color=style.ink(),
        linewidth=0.8,
        linestyle=(0, (4, 3)),
        zorder=4,
    )
    share = (
        f"{middle['classification']:.0%} of the rows have a margin of at most"
        f" {middle.name:g} (dashed)"
    )
    sides = [
        "left margin:\nabove the\nthreshold below",
        "right margin:\nbelow the\nthreshold above",
    ]
    style.row_labels(ax, [1.35, 0.35], sides)
    words = "normalised margin"
    if results.geometry is None:
        words = "margin, units of the score"
    return style.named(ax, words, title=share)

"""The latent scale: scores with the thresholds, margins, and the latent distribution of chosen rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._typing import FloatArray
from ..checks import whole
from ..exceptions import DataError, OptionError
from ..formula.sample import Rows
from ..likelihood.rule import crossed_rows, report_crossing
from . import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_POINTS = 400
_LEAST_HEIGHT = 0.01  # of the density's mode: tails below are left out
_MOST_ROWS = 20
_NUMBER = 0.29  # inches of a probability inside its area


def latent_frame(results: Any, bins: int) -> pd.DataFrame:
    """Histogram of the scores of every observed level."""
    whole("bins", bins, 1)
    sample, scores = results.design.sample, results.fit.scores
    _gaps(results)  # raises where there are votes in place of scores
    edges = np.histogram_bin_edges(scores, bins)
    tables = []
    for code, level in enumerate(results.levels):
        rows = sample.y == code
        ends = {"level": level, "left": edges[:-1], "right": edges[1:]}
        tables.append(pd.DataFrame(ends | style.histogram(scores[rows], edges, sample.case_weights[rows])))
    return pd.concat(tables, ignore_index=True)


def has_scores(results: Any) -> bool:
    """Whether rows have scores that thresholds in order cut; at the modes, where there are random effects."""
    return results.no_margins is None or _at_modes(results)


def _at_modes(results: Any) -> bool:
    return getattr(results.fit, "marginal", None) is not None and bool(results.family.ordered)


def _gaps(results: Any) -> FloatArray:
    """(N, K-1) H - theta_k of the rows of the fit."""
    gaps = (results.rule if _at_modes(results) else results).gaps(results.design.sample.rows, results.fit.scores)
    return np.asarray(gaps)


def draw_latent(results: Any, data: pd.DataFrame, ax: Axes | None) -> Axes:
    levels, names = results.levels, results.threshold_names
    ax = style.axes(ax, height=1.3 + 0.42 * len(levels))
    thresholds = results.fit.scores[:, None] - _gaps(results)
    with np.errstate(invalid="ignore"):
        mean = np.average(thresholds, axis=0, weights=results.design.sample.case_weights)
    least, most = thresholds.min(axis=0), thresholds.max(axis=0)
    ends = np.concatenate([data["left"], data["right"], least, most])
    ends = ends[np.isfinite(ends)]
    pad = 0.04 * (ends.max() - ends.min() or 1.0)
    low, high = ends.min() - pad, ends.max() + pad
    ax.set_xlim(low, high)
    colours = style.level_colours(len(levels))
    cuts = np.clip(np.concatenate([[low], np.maximum.accumulate(mean), [high]]), low, high)
    tallest = data["share"].max()
    for place, (level, colour) in enumerate(zip(levels, colours, strict=True)):
        if cuts[place + 1] > cuts[place]:  # the interval of the level, in a tint of its colour
            ax.axvspan(cuts[place], cuts[place + 1], color=colour, alpha=0.10, linewidth=0, zorder=1)
        part = data[data["level"] == level]
        heights = place + 0.85 * part["share"].to_numpy() / tallest
        edges = np.append(part["left"], part["right"].iloc[-1])
        ax.stairs(heights, edges, baseline=place, fill=True, color=colour, linewidth=0, zorder=4)
        ax.axhline(place, color=style.MUTED, linewidth=0.5, zorder=3)
    ax.set_ylim(-0.1, len(levels))
    style.row_labels(ax, [place + 0.3 for place in range(len(levels))], [str(level) for level in levels])
    score = "latent score at the modes of the random effects" if _at_modes(results) else "latent score"
    style.named(ax, _with_thresholds(score, names), f"observed {results.design.response}")
    for place, weight in enumerate(data.groupby("level", sort=False, observed=True)["weight"].sum()):
        size = f"n = {weight:.6g}"
        style.note(ax, size, (1.0, place + 0.3), (4, 0), ax.get_yaxis_transform(), color=style.MUTED)
    style.threshold_lines(ax, mean, names)
    largest = np.nanmax(np.abs(mean[np.isfinite(mean)]), initial=1.0)
    for place, (left, right) in enumerate(zip(least, most, strict=True)):
        if np.isfinite([left, right]).all() and right - left > 1e-9 * largest:  # thresholds differ between rows
            looks: dict[str, Any] = {"color": style.INK, "linewidth": 1.0, "markersize": 5, "zorder": 5}
            ax.plot([left, right], [0.98 - 0.025 * place] * 2, "|-", transform=ax.get_xaxis_transform(), **looks)
    return ax


def _with_thresholds(score: str, names: Sequence[str]) -> str:
    """The name of the axis, and what the lines are where their names are too long to stand side by side."""
    if style.brief(names):
        return score
    return f"{score}; threshold" + (f"s θ₁ to {style.symbol(len(names))}" if len(names) > 1 else " θ₁")


def density_frame(results: Any, at: Any) -> pd.DataFrame:
    """Density of the latent response H + e / s on a grid, piece by piece between the thresholds."""
    rule = results.rule
    rule.family.require_latent("plot.density")
    labels, rows = _rows_drawn(results, at)
    if rows.random is not None:
        seen = np.concatenate([term.codes >= 0 for term in rows.random.terms])
        if seen.any() and not seen.all():
            raise DataError("at must name groups that the fit has seen in all rows, or leave their columns out.")
        rule = rule if seen.all() else replace(rule, effects=())
    predictor = rule.predictor(rows)
    H, s = predictor.H, predictor.s
    report_crossing(crossed_rows(rule, rows), rows.n, labels, "rows drawn", refuse=results.method.refuses_crossing)
    thresholds = np.broadcast_to(rule.thresholds(rows), (rows.n, rule.n_levels - 1))
    probabilities = rule.probabilities(rows)
    grid = rule.link.ppf(np.linspace(0.0005, 0.9995, 2001))
    heights = rule.link.pdf(grid)
    span = np.asarray(grid[heights >= _LEAST_HEIGHT * heights.max()][[0, -1]])
    tables = []
    for i, label in enumerate(labels):
        low, high = H[i] + span / s[i]
        cuts = np.clip(np.concatenate([[low], thresholds[i], [high]]), low, high)
        for k, level in enumerate(results.levels):
            if cuts[k + 1] <= cuts[k]:
                continue
            count = max(2, int(np.ceil(_POINTS * (cuts[k + 1] - cuts[k]) / (high - low))))
            t = np.linspace(cuts[k], cuts[k + 1], count)
            piece = {"row": label, "level": level, "latent": t, "density": s[i] * rule.link.pdf(s[i] * (t - H[i]))}
            tables.append(pd.DataFrame({**piece, "probability": probabilities[i, k]}))
    return pd.concat(tables, ignore_index=True)


def _rows_drawn(results: Any, at: Any) -> tuple[list[str], Rows]:
    """Names of the rows, and the rows."""
    if at is None:
        scores = results.fit.scores
        order = np.argsort(scores, kind="stable")
        places = {"lowest score": order[0], "median score": order[order.size // 2], "highest score": order[-1]}
        distinct = {float(scores[place]): label for label, place in reversed(places.items())}
        labels = [label for label in places if label in distinct.values()]
        return labels, results.design.sample.rows.take(np.array([places[label] for label in labels]))
    new = results.design.spec.rebuild(at)
    if not new.complete.all():
        raise DataError(f"at has a missing value at row {new.index[int(np.argmin(new.complete))]}.")
    if not 1 <= new.rows.n <= _MOST_ROWS:
        raise DataError(f"at must have 1 to {_MOST_ROWS} rows, one density each; got {new.rows.n}.")
    # "temp = cold, contact = no" from the variables that differ between the rows, else the labels of the index
    columns = {name: list(at[name]) for name in results.design.spec.columns or ()}
    columns = {name: values for name, values in columns.items() if len(set(values)) > 1} or columns
    words = {name: [f"{name} = {style.value_words(value)}" for value in values] for name, values in columns.items()}
    labels = [", ".join(row) for row in zip(*words.values(), strict=True)]
    if len(set(labels)) < new.rows.n or not all(labels):
        labels = [str(label) for label in new.index]
    return labels, new.rows


def draw_density(results: Any, data: pd.DataFrame, ax: Axes | None) -> Axes:
    labels, names = list(dict.fromkeys(data["row"])), results.threshold_names
    ax = style.axes(ax, height=1.2 + 0.85 * len(labels))
    colours = dict(zip(results.levels, style.level_colours(len(results.levels)), strict=True))
    low, high = data["latent"].min(), data["latent"].max()
    ax.set_xlim(low, high)
    scale = 0.82 / data["density"].max()
    bottoms = {label: len(labels) - 1 - place for place, label in enumerate(labels)}
    ax.set_ylim(-0.05, len(labels))
    style.row_labels(ax, [bottoms[label] + 0.12 for label in labels], labels)
    style.level_key(ax, results.levels, list(colours.values()))
    style.named(ax, _with_thresholds("latent response (latent score + error)", names))
    half = 0.5 * _NUMBER * (high - low) / style.inches(ax)[0]  # the number keeps off the thresholds
    for (label, level), piece in data.groupby(["row", "level"], sort=False, observed=True):
        base, height = bottoms[label], (scale * piece["density"]).to_numpy()
        t = piece["latent"].to_numpy()
        ax.fill_between(t, base, base + height, color=colours[level], linewidth=0, zorder=2)
        middle = float(np.clip(np.average(t, weights=height + 1e-12), t[0] + half, max(t[0], t[-1] - half)))
        if t[-1] - t[0] > 2.0 * half and np.interp(middle, t, height) > 0.26:
            looks = {"va": "bottom", "fontsize": style.SMALL - 1.0, "color": style.text_colour(colours[level])}
            style.text(ax, middle, base + 0.09, f"{piece['probability'].iloc[0]:.2f}", zorder=4, **looks)
    alpha = results.rule.alpha
    if alpha.shape[1] == 1:  # thresholds are the same in all rows
        inside = (alpha[:, 0] > low) & (alpha[:, 0] < high)
        style.threshold_lines(ax, np.where(inside, alpha[:, 0], np.nan), names)
    return ax


def margins_frame(results: Any, bins: int, normalised: bool | None) -> pd.DataFrame:
    """Histogram of the left and of the right margins."""
    whole("bins", bins, 2)
    m = results.training_margins
    unit = m.unit if _normalise(results, normalised) else 1.0
    sides = (m.left / unit, m.right / unit)
    weights = results.design.sample.case_weights
    values = np.concatenate([side[np.isfinite(side)] for side in sides])
    if values.size == 0:
        raise DataError("no row has a finite margin.")
    low, high = min(float(values.min()), 0.0), max(float(values.max()), 0.0)
    width = (high - low) / bins or 1.0  # 0 is an end of a bin
    first = np.floor(low / width)
    edges = width * np.arange(first, max(np.ceil(high / width), first + 1) + 1)
    tables = []
    for name, side in zip(("left", "right"), sides, strict=True):
        finite = np.isfinite(side)
        ends = {"side": name, "from": edges[:-1], "to": edges[1:]}
        tables.append(pd.DataFrame(ends | style.histogram(side[finite], edges, weights[finite])))
    return pd.concat(tables, ignore_index=True)


def _normalise(results: Any, asked: bool | None) -> bool:
    use = results.geometry is not None if asked is None else asked
    if use and results.geometry is None:
        raise OptionError(f"{results.method!r} has no norm for its margins: use normalised=False.")
    return use


def draw_margins(
    results: Any, data: pd.DataFrame, ax: Axes | None, delta: float | None, normalised: bool | None
) -> Axes:
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
    middle = errors.iloc[len(errors) // 2]
    ax.axvline(float(middle.name), color=style.INK, linewidth=0.8, linestyle=(0, (4, 3)), zorder=4)
    share = f"{middle['classification']:.0%} of the rows have a margin of at most {middle.name:g} (dashed)"
    sides = ["left margin:\nabove the\nthreshold below", "right margin:\nbelow the\nthreshold above"]
    style.row_labels(ax, [1.35, 0.35], sides)
    return style.named(ax, "normalised margin" if use else "margin, units of the score", title=share)

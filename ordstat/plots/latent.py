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
from ..model.likelihood.crossing import report_crossing
from ..model.likelihood.rule import LikelihoodRule
from ..model.sample import Rows
from . import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def latent_frame(results: Any, bins: int) -> pd.DataFrame:
    """Histogram of the scores of every observed level."""
    whole("bins", bins, 1)
    sample, scores = results.design.sample, results.fit.scores
    _gaps(results)  # raises where there are votes in place of scores
    edges = np.histogram_bin_edges(scores, bins)
    weights = sample.case_weights
    tables = []
    for code, level in enumerate(results.levels):
        mine = sample.y == code
        ends = {"level": level, "left": edges[:-1], "right": edges[1:]}
        tables.append(pd.DataFrame(ends | style.histogram(scores[mine], edges, weights[mine])))
    return pd.concat(tables, ignore_index=True)


def has_scores(results: Any) -> bool:
    """Whether rows have scores that thresholds in order cut; at the modes, where there are random effects."""
    return results.no_margins is None or _at_modes(results)


def _at_modes(results: Any) -> bool:
    return getattr(results.fit, "marginal", None) is not None and bool(results.family.ordered)


def _gaps(results: Any) -> FloatArray:
    """(N, K-1) H - theta_k of the rows of the fit."""
    rows, scores = results.design.sample.rows, results.fit.scores
    found: FloatArray = (results.rule if _at_modes(results) else results).gaps(rows, scores)
    return found


def row_thresholds(results: Any) -> FloatArray:
    """(3, K-1) mean, smallest and largest threshold over the rows: alike unless there are nominal effects."""
    sample, scores = results.design.sample, results.fit.scores
    thresholds = scores[:, None] - _gaps(results)
    with np.errstate(invalid="ignore"):
        mean = np.average(thresholds, axis=0, weights=sample.case_weights)
    return np.stack([mean, thresholds.min(axis=0), thresholds.max(axis=0)])


def draw_latent(results: Any, data: pd.DataFrame, ax: Axes | None) -> Axes:
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
    style.named(ax, _score_words(_score(results), results.threshold_names), f"observed {results.design.response}")
    _write_sizes(ax, data.groupby("level", sort=False, observed=True)["weight"].sum())
    style.threshold_lines(ax, mean, results.threshold_names)
    _ranges(ax, mean, least, most)
    return ax


def _score(results: Any) -> str:
    return "score H at the modes of the random effects" if _at_modes(results) else "score H"


def _score_words(what: str, thresholds: Sequence[str]) -> str:
    """The name of the axis, and what the lines are where they have no names of their own."""
    if style.brief(thresholds):
        return what
    last = f"s θ₁ to {style.symbol(len(thresholds))}" if len(thresholds) > 1 else " θ₁"
    return f"{what}; threshold{last}"


def _write_sizes(ax: Axes, weights: pd.Series) -> None:
    """How many rows each histogram has, right of it."""
    for place, weight in enumerate(weights):
        words = f"n = {weight:.6g}"
        style.note(ax, words, (1.0, place + 0.3), (4, 0), ax.get_yaxis_transform(), color=style.MUTED)


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


_POINTS = 400
_LEAST_HEIGHT = 0.01  # of the density's mode: tails below are left out
_MOST_ROWS = 20


def density_frame(results: Any, at: Any) -> pd.DataFrame:
    """Density of the latent response H + e / s on a grid, piece by piece between the thresholds."""
    rule = results.rule
    rule.family.require_latent("plot.density")
    labels, rows = _chosen(results, at)
    rule = _for_groups(rule, rows)
    predictor = rule.predictor(rows)
    H, s = predictor.H, predictor.s
    report_crossing(rule, rows, labels, "rows drawn", refuse=results.method.refuses_crossing)
    thresholds = np.broadcast_to(rule.thresholds(rows), (rows.n, rule.n_levels - 1))
    probabilities = rule.probabilities(rows)
    span = _span(rule)
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


def _for_groups(rule: LikelihoodRule, rows: Rows) -> LikelihoodRule:
    """The rule at the modes of random effects, or at 0 for rows of groups that the fit has not seen."""
    if rows.random is None:
        return rule
    known = np.concatenate([term.codes >= 0 for term in rows.random.terms])
    if known.any() and not known.all():
        raise DataError("at must name groups that the fit has seen in all rows, or leave their columns out.")
    return rule if known.all() else replace(rule, effects=())


def _span(rule: LikelihoodRule) -> FloatArray:
    """(2,) ends of the latent error's distribution, without thin tails."""
    t = rule.link.ppf(np.linspace(0.0005, 0.9995, 2001))
    height = rule.link.pdf(t)
    return np.asarray(t[height >= _LEAST_HEIGHT * height.max()][[0, -1]])


def _chosen(results: Any, at: Any) -> tuple[list[str], Rows]:
    if at is None:
        order = np.argsort(results.fit.scores, kind="stable")
        places = {"lowest score": order[0], "median score": order[order.size // 2], "highest score": order[-1]}
        distinct = {float(results.fit.scores[place]): label for label, place in reversed(places.items())}
        kept = [label for label in places if label in distinct.values()]
        return kept, results.design.sample.rows.take(np.array([places[label] for label in kept]))
    new = results.design.spec.rebuild(at)
    if not new.complete.all():
        raise DataError(f"at has a missing value at row {new.index[int(np.argmin(new.complete))]}.")
    if not 1 <= new.rows.n <= _MOST_ROWS:
        raise DataError(f"at must have 1 to {_MOST_ROWS} rows, one density each; got {new.rows.n}.")
    return row_names(at, results.design.spec.columns, new.index), new.rows


def row_names(at: Any, variables: Sequence[Any] | None, index: pd.Index) -> list[str]:
    """ "temp = cold, contact = no" from the variables that differ between the rows, else the labels of the index."""
    if variables is None:
        return [str(label) for label in index]
    columns = {name: list(at[name]) for name in variables}
    differing = {name: values for name, values in columns.items() if len(set(values)) > 1} or columns
    names = [
        ", ".join(f"{name} = {_shown(value)}" for name, value in zip(differing, row, strict=True))
        for row in zip(*differing.values(), strict=True)
    ]
    if len(set(names)) == len(names) and all(names):
        return names
    return [str(label) for label in index]


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, (float, np.floating)) else str(value)


#: Inches of a probability inside its area.
_NUMBER = 0.29


def draw_density(results: Any, data: pd.DataFrame, ax: Axes | None) -> Axes:
    labels = list(dict.fromkeys(data["row"]))
    ax = style.axes(ax, height=1.2 + 0.85 * len(labels))
    colours = dict(zip(results.levels, style.level_colours(len(results.levels)), strict=True))
    ax.set_xlim(data["latent"].min(), data["latent"].max())
    scale = 0.82 / data["density"].max()
    bottoms = {label: len(labels) - 1 - place for place, label in enumerate(labels)}
    ax.set_ylim(-0.05, len(labels))
    style.row_labels(ax, [bottoms[label] + 0.12 for label in labels], labels)
    style.level_key(ax, results.levels, list(colours.values()))
    style.named(ax, _score_words("latent response H + error", results.threshold_names))
    per_unit = style.inches(ax)[0] / (data["latent"].max() - data["latent"].min())
    for (label, level), piece in data.groupby(["row", "level"], sort=False, observed=True):
        base, height = bottoms[label], scale * piece["density"]
        ax.fill_between(piece["latent"], base, base + height, color=colours[level], linewidth=0, zorder=2)
        _probability(ax, piece, base, height.to_numpy(), colours[level], per_unit)
    _cuts(ax, results, data)
    return ax


def _probability(ax: Axes, piece: pd.DataFrame, base: float, height: FloatArray, colour: Any, per_unit: float) -> None:
    """The probability inside its area, where there is room; `per_unit` are inches."""
    t = piece["latent"].to_numpy()
    half = 0.5 * _NUMBER / per_unit  # it keeps off the thresholds
    middle = float(np.clip(np.average(t, weights=height + 1e-12), t[0] + half, max(t[0], t[-1] - half)))
    inside = float(np.interp(middle, t, height))
    if t[-1] - t[0] > 2.0 * half and inside > 0.26:
        looks = {"va": "bottom", "fontsize": style.SMALL - 1.0, "color": style.text_colour(colour), "zorder": 4}
        style.text(ax, middle, base + 0.09, f"{piece['probability'].iloc[0]:.2f}", **looks)


def _cuts(ax: Axes, results: Any, data: pd.DataFrame) -> None:
    """Threshold lines through all rows where they are common to all."""
    rule = results.rule
    if rule.alpha.shape[1] > 1:
        return
    low, high = data["latent"].min(), data["latent"].max()
    values = np.where((rule.alpha[:, 0] > low) & (rule.alpha[:, 0] < high), rule.alpha[:, 0], np.nan)
    style.threshold_lines(ax, values, results.threshold_names)


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
    edges = _edges(values, bins)
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


def _edges(values: FloatArray, bins: int) -> FloatArray:
    """Ends of bins of one width, 0 among them; one bin at the least."""
    low, high = min(float(values.min()), 0.0), max(float(values.max()), 0.0)
    width = (high - low) / bins or 1.0
    first = np.floor(low / width)
    return width * np.arange(first, max(np.ceil(high / width), first + 1) + 1)


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
    _delta(ax, errors.iloc[[len(errors) // 2]])
    style.row_labels(
        ax, [1.35, 0.35], ["left margin:\nabove the\nthreshold below", "right margin:\nbelow the\nthreshold above"]
    )
    return style.named(ax, "normalised margin" if use else "margin, units of the score")


def _delta(ax: Axes, errors: pd.DataFrame) -> None:
    """A line at Delta, with the share of rows whose margins are not larger."""
    delta, share = float(errors.index[0]), float(errors["classification"].iloc[0])
    ax.axvline(delta, color=style.INK, linewidth=0.8, linestyle=(0, (4, 3)), zorder=4)
    style.titled(ax, f"{share:.0%} of the rows have a margin of at most Δ = {delta:g}, the dashed line")

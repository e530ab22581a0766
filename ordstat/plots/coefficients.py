"""Coefficients: forest, beside each other, parallel, profiles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.special import ndtri

from .._typing import AnyArray, FloatArray
from ..checks import fraction, labelled
from ..exceptions import DataError, OptionError
from ..report.table import row_label
from . import style
from .style import decimals_for, in_lines, shortened_middle, with_limits

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LIMITS = ["conf_low", "conf_high"]
_EFFECTS = ("nominal", "location", "scale")
#: What exponents are where neither odds nor hazards are multiplied by them, and the sign of the coefficient in them.
_EXPONENT = ("exp(coefficient)", 1.0)
#: Fits are told apart in grey by their shape, and filled and open in turn.
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
_STEP, _GAP = 0.32, 0.55  # heights between the fits of a term, and between terms
_NARROW = 5.0  # inches of a place in which numbers beside a row take two lines


def term_label(part: str, term: str) -> str:
    """The name of a coefficient for readers: `temp: warm`."""
    return row_label(part, term, {}) + (" (scale)" if part == "scale" else "")


def _ratio(fits: Mapping[str, Any]) -> tuple[str, float]:
    """What exponents of the location effects are in all fits, and the sign of the coefficient in them."""
    names = set()
    for fit in fits.values():
        rows = fit.design.sample.rows
        plain = fit.method.likelihood and rows.scale is None and rows.scale_offset is None
        known = fit.rule.family.ratios.get(fit.rule.link.name) if plain else None
        names.add(known[:2] if known else _EXPONENT)
    return names.pop() if len(names) == 1 else _EXPONENT


def effects_frame(
    fits: Mapping[str, Any], columns: Sequence[str] | str | None, exponentiate: bool, level: float
) -> pd.DataFrame:
    """Effects of all fits with their limits, without those that are not estimated."""
    fraction("level", level)
    turn = exponentiate and _ratio(fits)[1] < 0
    frame = pd.concat([_effects(name, fit, exponentiate, level, turn) for name, fit in fits.items()], ignore_index=True)
    terms = list(dict.fromkeys(frame["term"]))
    chosen = terms if columns is None else [columns] if isinstance(columns, str) else list(columns)
    for name in chosen:
        if name not in terms:
            raise OptionError(f"columns must be among {', '.join(map(repr, terms))}; got {name!r}.")
    order = {name: place for place, name in enumerate(chosen)}
    frame = frame[frame["term"].isin(chosen)]
    return frame.sort_values("term", key=lambda terms: terms.map(order), kind="stable", ignore_index=True)


def _effects(name: str, fit: Any, exponentiate: bool, level: float, turn: bool) -> pd.DataFrame:
    likelihood = fit.method.likelihood
    table = fit.tidy(exponentiate=exponentiate, level=level) if likelihood else fit.tidy()
    if not likelihood:
        table = table.assign(conf_low=np.nan, conf_high=np.nan)
        if exponentiate:
            table = table.assign(estimate=np.exp(table["estimate"]))
    table = pd.DataFrame(table[table["coef_type"].isin(_EFFECTS) & table["estimate"].notna()])
    if turn:  # exp(-b), whose limits change places
        rows = (table["coef_type"] == "location").to_numpy()
        table.loc[rows, ["estimate", *_LIMITS]] = 1.0 / table.loc[rows, ["estimate", *_LIMITS[::-1]]].to_numpy()
    columns = {column: table[column].to_numpy() for column in ("term", "estimate", *_LIMITS, "coef_type")}
    return pd.DataFrame({"model": name, **columns})


def labelled_fits(results: Any, others: Any, label: str) -> dict[str, Any]:
    """All fits by their labels."""
    if not isinstance(others, Mapping) or not others:
        raise OptionError(f"others must be a mapping of labels to fits, {{'with age': fit2}}; got {others!r}.")
    fits = labelled(others, "others")
    if label in fits:
        raise OptionError(f"others must have labels other than that of this fit, {label!r}: give label=.")
    if len(fits) >= len(_MARKERS):
        raise OptionError(f"others must be {len(_MARKERS) - 1} fits at most; got {len(fits)}.")
    for name, fit in fits.items():
        if not hasattr(fit, "tidy") or not fit.tidy()["coef_type"].isin(_EFFECTS).any():
            raise OptionError(f"others must be fits with coefficients; {name!r} has no coefficients. Leave it out.")
    return {label: results, **fits}


def draw_effects(
    fits: Mapping[str, Any], data: pd.DataFrame, ax: Axes | None, exponentiate: bool, level: float
) -> Axes:
    """Numbers beside the coefficients of one fit, a legend beside those of several."""
    if data.empty:
        raise DataError("there are no effects to draw: a model of thresholds alone.")
    labels = [term_label(part, term) for part, term in zip(data["coef_type"], data["term"], strict=True)]
    rows, n = list(dict.fromkeys(labels)), len(fits)
    block = 1.0 if n == 1 else _STEP * n + _GAP
    height = 0.9 + max(0.6, sum(max(0.3, 0.25 + 0.15 * in_lines(row, 34).count("\n")) for row in rows))
    ax = style.axes(ax, height=height if n == 1 else 1.2 + 0.42 * len(rows) * block + 0.1 * n)
    middles = {row: -block * place for place, row in enumerate(rows)}
    no_effect = 1.0 if exponentiate else 0.0
    if exponentiate:
        ax.set_xscale("log")
    ax.axvline(no_effect, color=style.MUTED, linewidth=0.8, zorder=1)
    colours: list[Any] = [style.RIGHT] if n == 1 else style.level_colours(n)
    offsets = {name: _STEP * ((n - 1) / 2.0 - place) for place, name in enumerate(fits)}
    heights = np.array([middles[label] for label in labels], dtype=np.float64)
    heights = np.asarray(heights + data["model"].map(offsets).to_numpy(dtype=np.float64), dtype=np.float64)
    endless = np.isinf(data[["estimate", *_LIMITS]].to_numpy(dtype=np.float64)).any(axis=1)
    for place, (name, colour) in enumerate(zip(fits, colours, strict=True)):
        shown = (data["model"] == name).to_numpy() & ~endless
        part = data[shown]
        ax.hlines(heights[shown], part["conf_low"], part["conf_high"], colors=[colour], linewidth=1.6, zorder=3)
        face = "white" if place % 2 else colour
        looks: dict[str, Any] = {"markerfacecolor": face, "markersize": 5.5, "linestyle": "none", "zorder": 4}
        label = style.beside(ax, name)
        ax.plot(part["estimate"], heights[shown], _MARKERS[place], color=colour, label=label, **looks)
    low, high = ax.get_xlim()
    for y, value in zip(heights[endless], data["estimate"][endless], strict=True):
        x, marker = (high, ">") if value > no_effect else (low, "<")
        ax.plot(x, y, marker, color=style.WRONG, markersize=7, clip_on=False)
    ax.set_xlim(low, high)
    spare = 0.6 if n == 1 else 0.5 * block
    ax.set_ylim(min(middles.values()) - spare, spare)
    style.row_labels(ax, list(middles.values()), rows)
    if n == 1:
        _write_numbers(ax, data, heights)
    else:
        style.legend(ax)
    if exponentiate:
        style.plain_log_ticks(ax)
    what = "coefficient"
    if exponentiate:
        what = (_ratio(fits) if (data["coef_type"] == "location").all() else _EXPONENT)[0]
    return style.named(ax, f"{what} with {100 * level:g} % limits")


def _write_numbers(ax: Axes, data: pd.DataFrame, heights: FloatArray) -> None:
    room = style.inches(ax)[1] / len(heights)
    in_two = style.place_width(ax) < _NARROW and room >= style.TWO_LINES
    size = style.SMALL if in_two else style.row_size(room)
    for y, *numbers in zip(heights, data["estimate"], data["conf_low"], data["conf_high"], strict=True):
        words = with_limits(*numbers)
        words = words.replace(" [", "\n[") if in_two else words
        style.note(ax, words, (1.0, y), (8, 0), ax.get_yaxis_transform(), fontsize=size)


def parallel_frame(results: Any, columns: Sequence[str] | str | None, level: float) -> pd.DataFrame:
    """Effects of the location columns on P(response > level), each threshold fitted alone, and together."""
    results.rule.family.require_latent("plot.parallel")
    chosen = _chosen(results, columns)
    pooled = _estimates(results, level).loc[chosen]
    tables = []
    for code, (threshold, above) in enumerate(zip(results.threshold_names, results.levels, strict=False)):
        table = _estimates(_binary(results, code), level).loc[chosen].rename_axis("term").reset_index()
        table.insert(1, "threshold", threshold)
        table.insert(2, "above", [above] * len(table))
        limits = pooled[["estimate", "lower", "upper"]].to_numpy()
        tables.append(table.assign(**dict(zip(("pooled", "pooled_lower", "pooled_upper"), limits.T, strict=True))))
    frame = pd.concat(tables, ignore_index=True)
    order = {name: place for place, name in enumerate(chosen)}
    return frame.sort_values("term", key=lambda terms: terms.map(order), kind="stable", ignore_index=True)


def _chosen(results: Any, columns: Sequence[str] | str | None) -> list[str]:
    names = list(results.design.names)
    if not names:
        raise DataError("the fit has no location effects to compare.")
    chosen = names if columns is None else [columns] if isinstance(columns, str) else list(columns)
    for name in chosen:
        if name not in names:
            raise OptionError(f"the fit has no location column {name!r}; it has {', '.join(map(repr, names))}.")
    return chosen


def _binary(results: Any, code: int) -> Any:
    """The fit of P(y > code) alone, of the same columns but for the scale effects."""
    design, method = results.design, results.method
    rows = replace(design.sample.rows, scale=None, scale_offset=None)
    sample = replace(design.sample, rows=rows, y=(design.sample.y > code).astype(np.intp), n_levels=2, costs=None)
    levels = replace(design.levels, values=("not above", "above"), unused=())
    fitted = results.rule.link  # its parameter estimated where it has one
    link = fitted.name if fitted.lam is None else (fitted.name, fitted.lam)
    method = replace(method, threshold="flexible", start=None, cost="classification", link=link)
    design = replace(design, sample=sample, levels=levels, scale_names=(), scale_terms={})
    fit = method.fit(sample, np.random.default_rng(0))
    return replace(results, design=design, method=method, fit=fit)


def _estimates(results: Any, level: float) -> pd.DataFrame:
    """Location effects: estimate, std_error, lower, upper; nothing of estimates without a finite maximum."""
    table = results.tidy(level=level)
    table = table[table["coef_type"] == "location"].set_index("term")
    frame = table[["estimate", "std_error", "conf_low", "conf_high"]]
    frame = frame.set_axis(["estimate", "std_error", "lower", "upper"], axis=1)
    return pd.DataFrame(frame.where(frame["std_error"].notna(), np.nan))


def draw_parallel(results: Any, data: pd.DataFrame, ax: Axes | None, level: float) -> Axes:
    terms = list(dict.fromkeys(data["term"]))
    rows = len(results.levels) - 1
    # (terms, rows) heights, from the top down, with room for a heading above each block
    places: FloatArray = -(np.arange(len(terms), dtype=np.float64)[:, None] * (rows + 1.6) + np.arange(rows))
    ax = style.axes(ax, height=0.9 + 0.21 * (rows + 1.6) * len(terms))
    colours = style.level_colours(rows)
    ax.axvline(0.0, color=style.MUTED, linewidth=0.8, zorder=1)
    tables = [data[data["term"] == term] for term in terms]
    for table, heights in zip(tables, places, strict=True):
        first, span = table.iloc[0], [heights.min() - 0.45, heights.max() + 0.45]
        ax.fill_betweenx(span, first["pooled_lower"], first["pooled_upper"], color=style.FAINT, alpha=0.7, linewidth=0)
        ax.plot([first["pooled"]] * 2, span, color=style.INK, linewidth=1.0)
        ax.hlines(heights, table["lower"], table["upper"], colors=list(colours), linewidth=1.6, zorder=3)
        ax.scatter(table["estimate"], heights, color=list(colours), s=26, zorder=4)
    ends = places.min() - 0.8, places.max() + 1.6
    ax.set_ylim(*ends)
    room = style.inches(ax)[1] / (ends[1] - ends[0])
    step = style.every(room)
    names = [f"> {above}" for above in results.levels[:-1]][::step] * len(terms)
    style.row_labels(ax, list(places[:, ::step].ravel()), names, (ends[1] - ends[0]) / step)
    for table, heights in zip(tables, places, strict=True):
        first = table.iloc[0]
        missing = heights[::step][table["estimate"][::step].isna()]
        looks: dict[str, Any] = {"fontsize": style.row_size(step * room) - 1.0, "color": style.MUTED, "zorder": 5}
        for height in missing:
            style.note(ax, "no finite estimate", (np.nan_to_num(first["pooled"]), height), (5, 0), **looks)
        told = with_limits(first["pooled"], first["pooled_lower"], first["pooled_upper"])
        letters = max(style.drawn_letters(ax) - len(told) - 3, 10)
        words = f"{shortened_middle(term_label('location', first['term']), letters)}   {told}".replace("$", r"\$")
        looks = {"va": "bottom", "fontsize": style.row_size(1.5 * room), "fontweight": "bold", "zorder": 2}
        place = (0.0, heights.max() + 0.55)
        style.note(ax, words, place, (0, 0), ax.get_yaxis_transform(), backgroundcolor="white", **looks)
    words = f"effect on the {results.rule.link.name} scale, {100 * level:g} % limits"
    return style.named(ax, words, f"P({results.design.response} > level)")


_BEYOND = 0.2  # curves reach to the limits of this share of the chance outside


def profiles_frame(results: Any, parm: Any, level: float, points: int) -> pd.DataFrame:
    """Profiles to a little beyond their limits of that level."""
    fraction("level", level)
    frame = results.profile(parm, level=1.0 - _BEYOND * (1.0 - level), points=points)
    names = frame["parameter"]
    return pd.DataFrame(frame.assign(quadratic=(frame["value"] - names.map(results.params)) / names.map(results.se)))


def draw_profiles(results: Any, data: pd.DataFrame, parm: Any, ax: Any, level: float) -> AnyArray:
    names = list(dict.fromkeys(data["parameter"]))
    if not names:
        raise DataError("all parameters asked for are aliased: they have no profile.")
    limits = results.confint(parm, level, type="profile")
    columns = style.columns_for(len(names))
    panels = style.panels(ax, len(names), columns, height=2.4, width=2.5 * columns + 0.8)
    tidy = results.tidy()
    kinds = dict(zip(tidy["term"], tidy["coef_type"], strict=True))
    for place, (panel, name) in enumerate(zip(panels, names, strict=True)):
        _panel(panel, data[data["parameter"] == name], limits.loc[name].to_numpy(), level)
        low, high = limits.loc[name]
        title = term_label(kinds.get(name, ""), name)
        told = f"{100 * level:g} %: {_shown(low, high - low)} to {_shown(high, high - low)}"
        style.named(panel, told, "" if place % columns else "signed root deviance", title)
    return np.array(panels, dtype=object)


def _shown(end: float, width: float) -> str:
    if not np.isfinite(end):
        return "∞" if end > 0 else "−∞"
    return f"{end:z.{decimals_for(width)}f}" if np.isfinite(width) else f"{end:.2f}"


def _panel(ax: Any, data: pd.DataFrame, limits: FloatArray, level: float) -> None:
    """The curve, its approximation, and where it crosses the quantiles."""
    quantile = float(ndtri(0.5 + level / 2.0))
    data = data[np.isfinite(data["value"]) & np.isfinite(data["z"])]  # a profile may end at infinity
    z = data["z"].to_numpy()
    bottom, top = min(float(z.min()), -1.1 * quantile), max(float(z.max()), 1.1 * quantile)
    ax.axhline(0.0, color=style.FAINT, linewidth=0.8)
    for height in (-quantile, quantile):
        ax.axhline(height, color=style.MUTED, linewidth=0.8, linestyle=(0, (2, 2)))
    ax.plot(data["value"], data["quadratic"], color=style.MUTED, linewidth=1.0, linestyle=(0, (5, 3)))
    ax.plot(data["value"], z, color=style.RIGHT, linewidth=1.8)
    for end, height in zip(limits, (-quantile, quantile), strict=True):
        if np.isfinite(end):
            ax.plot([end, end], [bottom, height], color=style.WRONG, linewidth=1.0)
            ax.plot(end, height, "o", color=style.WRONG, markersize=4)
    ax.set_xlim(data["value"].min(), data["value"].max())
    ax.set_ylim(bottom, top)
    style.few_ticks(ax)

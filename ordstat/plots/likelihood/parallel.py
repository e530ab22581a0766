"""Are effects the same at every threshold? Binary fits beside the fit itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..._typing import FloatArray
from ...exceptions import DataError, OptionError
from .. import style
from ..words import shortened_middle, with_limits
from .forest import term_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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

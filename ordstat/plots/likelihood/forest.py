"""Coefficients of one fit, or of several beside each other, with confidence limits on one axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..._typing import FloatArray
from ...checks import fraction, labelled
from ...exceptions import DataError, OptionError
from ...model.parameter_labels import row_label
from .. import style
from ..words import in_lines, with_limits

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
        try:
            has_effects = bool(fit.tidy()["coef_type"].isin(_EFFECTS).any())
        except AttributeError:  # no fit, or one of a method without such a table
            has_effects = False
        if not has_effects:
            raise OptionError(f"others must be fits with coefficients; {name!r} has none. Leave it out.")
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

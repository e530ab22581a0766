"""Coefficients with confidence limits, on one axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..._typing import BoolArray, FloatArray
from ...exceptions import DataError
from ...model.parameter_labels import row_label
from .. import style
from ..words import in_lines, with_limits

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LIMITS = ["conf_low", "conf_high"]
#: What exponents are where neither odds nor hazards are multiplied by them.
EXPONENT = ("exp(coefficient)", 1.0)
_NARROW = 5.0  # inches of a place in which numbers beside a row take two lines


def ratio(results: Any) -> tuple[str, float]:
    """What exponents of the location effects are, and the sign of the coefficient in them."""
    if not results.method.likelihood:
        return EXPONENT
    rows = results.design.sample.rows
    scaled = rows.scale is not None or rows.scale_offset is not None
    known = None if scaled else results.rule.family.ratios.get(results.rule.link.name)
    return EXPONENT if known is None else known[:2]


def term_label(part: str, term: str) -> str:
    """The name of a coefficient for readers: `temp: warm`."""
    return row_label(part, term, {}) + (" (scale)" if part == "scale" else "")


def effects_of(results: Any, exponentiate: bool, level: float, sign: float) -> pd.DataFrame:
    """Columns term, estimate, conf_low, conf_high, coef_type of all that was estimated but thresholds."""
    table = results.tidy(exponentiate=exponentiate, level=level)
    kept = table["coef_type"].isin(("nominal", "location", "scale")) & table["estimate"].notna()
    frame = pd.DataFrame(table.loc[kept, ["term", "estimate", *_LIMITS, "coef_type"]]).reset_index(drop=True)
    if exponentiate and sign < 0:  # exp(-b), whose limits change places
        turned = (frame["coef_type"] == "location").to_numpy()
        frame.loc[turned, ["estimate", *_LIMITS]] = 1.0 / frame.loc[turned, ["estimate", *_LIMITS[::-1]]].to_numpy()
    return frame


def forest_frame(results: Any, exponentiate: bool, level: float) -> pd.DataFrame:
    """All effects: term, estimate, conf_low, conf_high, coef_type."""
    return effects_of(results, exponentiate, level, ratio(results)[1])


def draw_forest(results: Any, data: pd.DataFrame, ax: Axes | None, exponentiate: bool, level: float) -> Axes:
    n = len(data)
    if n == 0:
        raise DataError("the fit has no effects to draw: a model of thresholds alone.")
    names = [term_label(part, term) for part, term in zip(data["coef_type"], data["term"], strict=True)]
    lines = sum(max(0.3, 0.1 + 0.15 * (in_lines(name, 34).count("\n") + 1)) for name in names)
    ax = style.axes(ax, height=0.9 + max(lines, 0.6))
    places = np.arange(n, dtype=np.float64)[::-1]
    _draw(ax, data, places, exponentiate)
    ax.set_ylim(-0.6, n - 0.4)
    style.row_labels(ax, list(places), names)
    _write_numbers(ax, data, places)
    if exponentiate:
        style.plain_log_ticks(ax)
    location = (data["coef_type"] == "location").all()
    what = (ratio(results)[0] if location else EXPONENT[0]) if exponentiate else "coefficient"
    return style.named(ax, f"{what} with {100 * level:g} % limits")


def _draw(ax: Axes, data: pd.DataFrame, places: FloatArray, log: bool) -> None:
    if log:
        ax.set_xscale("log")
    ax.axvline(1.0 if log else 0.0, color=style.MUTED, linewidth=0.8, zorder=1)
    bounded: BoolArray = np.isfinite(data[_LIMITS].to_numpy()).all(axis=1)
    ax.hlines(places[bounded], data["conf_low"][bounded], data["conf_high"][bounded], color=style.RIGHT, linewidth=1.6)
    ax.plot(data["estimate"][bounded], places[bounded], "o", color=style.RIGHT, markersize=5.5, linestyle="none")
    low, high = ax.get_xlim()
    for place, value in zip(places[~bounded], data["estimate"][~bounded], strict=True):  # it runs to one side
        up = value > (1.0 if log else 0.0)
        ax.plot(high if up else low, place, ">" if up else "<", color=style.WRONG, markersize=7, clip_on=False)
    ax.set_xlim(low, high)


def _write_numbers(ax: Axes, data: pd.DataFrame, places: FloatArray) -> None:
    room = style.inches(ax)[1] / len(places)
    in_two = style.place_width(ax) < _NARROW and room >= style.TWO_LINES
    size = style.SMALL if in_two else style.row_size(room)
    for place, *numbers in zip(places, data["estimate"], data["conf_low"], data["conf_high"], strict=True):
        words = with_limits(*numbers)
        words = words.replace(" [", "\n[") if in_two else words
        style.note(ax, words, (1.0, place), (8, 0), ax.get_yaxis_transform(), fontsize=size)

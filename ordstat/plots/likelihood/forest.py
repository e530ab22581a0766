"""Coefficients with confidence limits, on one scale or each on its own."""

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
    from ..drawn import Axes, DrawnLikelihood

_LIMITS = ["conf_low", "conf_high"]
#: What exponents are where neither odds nor hazards are multiplied by them.
EXPONENT = ("exp(coefficient)", 1.0)
#: Limits that reach less far than this share of the farthest ones could not be seen beside them.
_SEEN = 0.1
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


def effects_of(results: DrawnLikelihood, exponentiate: bool, level: float, sign: float) -> pd.DataFrame:
    """Columns term, estimate, conf_low, conf_high, coef_type of all that was estimated but thresholds."""
    table = results.tidy(exponentiate=exponentiate, level=level)
    kept = table["coef_type"].isin(("nominal", "location", "scale")) & table["estimate"].notna()
    frame = pd.DataFrame(table.loc[kept, ["term", "estimate", *_LIMITS, "coef_type"]]).reset_index(drop=True)
    if exponentiate and sign < 0:  # exp(-b), whose limits change places
        turned = (frame["coef_type"] == "location").to_numpy()
        frame.loc[turned, ["estimate", *_LIMITS]] = 1.0 / frame.loc[turned, ["estimate", *_LIMITS[::-1]]].to_numpy()
    return frame


def forest_data(results: DrawnLikelihood, *, exponentiate: bool = False, level: float = 0.95) -> pd.DataFrame:
    """Columns term, estimate, conf_low, conf_high, coef_type."""
    return effects_of(results, exponentiate, level, ratio(results)[1])


def forest(
    results: DrawnLikelihood,
    ax: Axes | None = None,
    *,
    exponentiate: bool = False,
    own_scales: bool | None = None,
    level: float = 0.95,
) -> Axes:
    """Coefficients with their confidence limits.

    Parameters
    ----------
    ax : matplotlib axes, optional
    exponentiate : bool
        Odds ratios (logit), hazard ratios (cloglog) or exponents, on a logarithmic axis.
    own_scales : bool, optional
        Whether each coefficient has a scale of its own, on which its farther limit is as far from no effect as that of
        any other: for variables in very different units, whose numbers then stand for lengths. True where some could
        not be seen on one scale, if not given.
    level : float in (0, 1)
        Confidence level of the limits.
    """
    data = forest_data(results, exponentiate=exponentiate, level=level)
    n = len(data)
    if n == 0:
        raise DataError("the fit has no effects to draw: a model of thresholds alone.")
    names = [term_label(part, term) for part, term in zip(data["coef_type"], data["term"], strict=True)]
    lines = sum(max(0.3, 0.1 + 0.15 * (in_lines(name, 34).count("\n") + 1)) for name in names)
    ax = style.axes(ax, height=0.9 + max(lines, 0.6))
    places = np.arange(n, dtype=np.float64)[::-1]
    shown, own = own_scale(data, ["estimate", *_LIMITS], data["term"], exponentiate, own_scales)
    _draw(ax, shown, places, exponentiate and not own)
    ax.set_ylim(-0.6, n - 0.4)
    style.row_labels(ax, list(places), names)
    _write_numbers(ax, data, places)
    finish_scale(ax, own, exponentiate)
    return style.named(ax, _axis(results, data, exponentiate, own, level))


def _axis(results: DrawnLikelihood, data: pd.DataFrame, exponentiate: bool, own: bool, level: float) -> str:
    location = (data["coef_type"] == "location").all()
    what = (ratio(results)[0] if location else EXPONENT[0]) if exponentiate else "coefficient"
    return scale_words(f"{what} with {100 * level:g} % limits", own)


def scale_words(what: str, own: bool) -> str:
    """What an axis shows, and that lengths do not compare where they do not."""
    return f"{what}, each on a scale of its own" if own else what


def own_scale(
    data: pd.DataFrame, columns: list[str], keys: pd.Series, log: bool, asked: bool | None
) -> tuple[pd.DataFrame, bool]:
    """The columns as they are drawn, and whether each key has a scale of its own; 0 is no effect then."""
    with np.errstate(divide="ignore"):  # the logarithm of a ratio of 0, of an estimate without end
        plain = data[columns].apply(np.log) if log else data[columns]
    reach = reaches(plain, keys)
    own = bool(reach.min() < _SEEN * reach.max()) if asked is None and len(reach) > 1 else bool(asked)
    return (plain.div(keys.map(reach).to_numpy(), axis=0) if own else data[columns]), own


def reaches(numbers: pd.DataFrame, keys: pd.Series) -> pd.Series:
    """How far from 0 the finite numbers of each key reach."""
    sizes = numbers.abs().where(np.isfinite(numbers)).max(axis=1)
    farthest = sizes.groupby(keys.to_numpy(), sort=False).max()
    return farthest.where(farthest > 0.0, 1.0).fillna(1.0)


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


def finish_scale(ax: Axes, own: bool, log: bool) -> None:
    """Plain numbers on an axis of ratios, none on one that has several scales."""
    if own:
        ax.set_xticks([0.0], ["1" if log else "0"])
        ax.set_xlim(-1.05, 1.05)
    elif log:
        style.plain_log_ticks(ax)

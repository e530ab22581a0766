"""Coefficients of several fits beside each other, a block a term."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..._typing import FloatArray
from ...checks import fraction, labelled
from ...exceptions import DataError, OptionError
from .. import style
from .forest import EXPONENT, effects_of, ratio, term_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_EFFECTS = ("nominal", "location", "scale")
#: Told apart in grey by their shape, and filled and open in turn.
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
_STEP, _GAP = 0.32, 0.55  # heights between the fits of a term, and between terms
_LIMITS = ["conf_low", "conf_high"]


def coefficients_frame(
    fits: Mapping[str, Any], columns: Sequence[str] | str | None, exponentiate: bool, level: float
) -> pd.DataFrame:
    """Effects of all fits with their limits."""
    fraction("level", level)
    sign = _common_ratio(fits, exponentiate)[1]
    tables = [_effects(name, fit, exponentiate, level, sign) for name, fit in fits.items()]
    frame = pd.concat(tables, ignore_index=True)
    terms = list(dict.fromkeys(frame["term"]))
    chosen = terms if columns is None else [columns] if isinstance(columns, str) else list(columns)
    for name in chosen:
        if name not in terms:
            raise OptionError(f"columns must be among {', '.join(map(repr, terms))}; got {name!r}.")
    if not chosen:
        raise DataError("the fits have no effects to draw: models of thresholds alone.")
    frame = frame[frame["term"].isin(chosen)]
    order = {name: place for place, name in enumerate(chosen)}
    return frame.sort_values("term", key=lambda terms: terms.map(order), kind="stable", ignore_index=True)


def draw_coefficients(
    fits: Mapping[str, Any], data: pd.DataFrame, ax: Axes | None, exponentiate: bool, level: float
) -> Axes:
    names, terms = list(fits), list(dict.fromkeys(data["term"]))
    middles = -np.arange(len(terms)) * (_STEP * len(names) + _GAP)
    ax = style.axes(ax, height=1.2 + 0.42 * (len(terms) * (_STEP * len(names) + _GAP)) + 0.1 * len(names))
    if exponentiate:
        ax.set_xscale("log")
    ax.axvline(1.0 if exponentiate else 0.0, color=style.MUTED, linewidth=0.8, zorder=1)
    for place, name in enumerate(names):
        offset = _STEP * ((len(names) - 1) / 2.0 - place)
        mine, heights = data["model"] == name, dict(zip(terms, middles + offset, strict=True))
        y = data.loc[mine, "term"].map(heights).to_numpy(dtype=np.float64)
        _fit(ax, data[mine], y, style.beside(ax, name), place, len(names))
    spare = 0.5 * (_STEP * len(names) + _GAP)
    ax.set_ylim(middles[-1] - spare, spare)
    kinds = dict(zip(data["term"], data["coef_type"], strict=True))
    style.row_labels(ax, list(middles), [term_label(kinds[term], term) for term in terms])
    looks: dict[str, Any] = {"fontsize": style.SMALL, "labelcolor": style.INK, "frameon": False}
    ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), **looks)
    if exponentiate:
        style.plain_log_ticks(ax)
    what = _common_ratio(fits, exponentiate)[0] if exponentiate else "coefficient"
    return style.named(ax, f"{what} with {100 * level:g} % limits")


def labelled_fits(results: Any, others: Any, label: str) -> dict[str, Any]:
    """All fits by their labels."""
    if not isinstance(others, Mapping) or not others:
        raise OptionError(f"others must be a mapping of labels to fits, {{'with age': fit2}}; got {others!r}.")
    named = labelled(others, "others")
    if label in named:
        raise OptionError(f"others must have labels other than that of this fit, {label!r}: give label=.")
    if len(named) >= len(_MARKERS):
        raise OptionError(f"others must be {len(_MARKERS) - 1} fits at most; got {len(named)}.")
    for name, fit in named.items():
        if not _has_coefficients(fit):
            raise OptionError(f"others must be fits with coefficients; {name!r} has none. Leave it out.")
    return {label: results, **named}


def _has_coefficients(fit: Any) -> bool:
    """Whether a fit has effects to draw: a table, and one of something else than thresholds."""
    try:
        return bool(fit.tidy()["coef_type"].isin(_EFFECTS).any())
    except AttributeError:  # no fit, or one of a method without such a table
        return False


def _common_ratio(fits: Mapping[str, Any], exponentiate: bool) -> tuple[str, float]:
    """What exponents are in all fits; of fits that differ no more than exponents."""
    found = {ratio(fit) for fit in fits.values()} if exponentiate else {EXPONENT}
    return found.pop() if len(found) == 1 else EXPONENT


def _effects(name: str, fit: Any, exponentiate: bool, level: float, sign: float) -> pd.DataFrame:
    """Effects of one fit, without those that are not estimated."""
    if fit.method.likelihood:
        table = effects_of(fit, exponentiate, level, sign)
    else:
        table = fit.tidy().assign(conf_low=np.nan, conf_high=np.nan)
        table = table.loc[table["coef_type"].isin(_EFFECTS) & table["estimate"].notna()]
        if exponentiate:
            table = table.assign(estimate=np.exp(table["estimate"]))
    columns = {column: table[column].to_numpy() for column in ("term", "estimate", *_LIMITS, "coef_type")}
    return pd.DataFrame({"model": name, **columns})


def _fit(ax: Axes, data: pd.DataFrame, y: FloatArray, name: str, place: int, count: int) -> None:
    """The dots of one fit, and their limits."""
    colour = style.level_colours(max(count, 2))[place]
    ax.hlines(y, data["conf_low"], data["conf_high"], colors=[colour], linewidth=1.5, zorder=3)
    face = "white" if place % 2 else colour
    looks: dict[str, Any] = {"markerfacecolor": face, "markersize": 6, "linestyle": "none", "zorder": 4}
    ax.plot(data["estimate"], y, _MARKERS[place], color=colour, label=name, **looks)

"""Coefficients with their confidence limits, and profiles of the likelihood beside their normal approximations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.special import ndtri

from .._typing import AnyArray, FloatArray
from ..checks import fraction
from ..exceptions import DataError
from . import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .drawn import DrawnLikelihood


_EFFECTS = ("nominal", "location", "scale")


def forest_data(results: DrawnLikelihood, *, exponentiate: bool = False, level: float = 0.95) -> pd.DataFrame:
    """Columns term, estimate, conf_low, conf_high, coef_type."""
    table = results.tidy(exponentiate=exponentiate, level=level)
    kept = table["coef_type"].isin(_EFFECTS) & table["estimate"].notna()
    return table.loc[kept, ["term", "estimate", "conf_low", "conf_high", "coef_type"]].reset_index(drop=True)


def forest(
    results: DrawnLikelihood, ax: Axes | None = None, *, exponentiate: bool = False, level: float = 0.95
) -> Axes:
    """Coefficients with their confidence limits.

    Parameters
    ----------
    ax : matplotlib axes, optional
    exponentiate : bool
        Odds ratios (logit), hazard ratios (cloglog) or exponents, on a logarithmic axis.
    level : float in (0, 1)
        Confidence level of the limits.
    """
    data = forest_data(results, exponentiate=exponentiate, level=level)
    n = len(data)
    if n == 0:
        raise DataError("the fit has no effects to draw: a model of thresholds alone.")
    ax = style.axes(ax, height=0.9 + 0.30 * max(n, 2))
    if exponentiate:
        ax.set_xscale("log")
    places = np.arange(n)[::-1]
    ax.axvline(1.0 if exponentiate else 0.0, color=style.MUTED, linewidth=0.8, zorder=1)
    bounded = data["conf_low"].notna() & data["conf_high"].notna()
    ax.hlines(places[bounded], data["conf_low"][bounded], data["conf_high"][bounded], color=style.RIGHT, linewidth=1.6)
    ax.plot(data["estimate"][bounded], places[bounded], "o", color=style.RIGHT, markersize=5.5, linestyle="none")
    ax.set_ylim(-0.6, n - 0.4)
    _without_limits(ax, data, places, bounded)
    style.row_labels(ax, list(places), list(data["term"]))
    for place, text in zip(places, _numbers(data), strict=True):
        style.note(ax, text, (1.0, place), (8, 0), ax.get_yaxis_transform())
    if exponentiate:
        style.plain_log_ticks(ax)
    what = "exp(coefficient)" if exponentiate else "coefficient"
    return style.named(ax, f"{what} with {100 * level:g} % limits")


def _without_limits(ax: Axes, data: pd.DataFrame, places: np.ndarray, bounded: pd.Series) -> None:
    """An infinite estimate: an arrow at the side it runs to."""
    low, high = ax.get_xlim()
    for place, value in zip(places[~bounded], data["estimate"][~bounded], strict=True):
        up = value > (1.0 if ax.get_xscale() == "log" else 0.0)
        ax.plot(high if up else low, place, ">" if up else "<", color=style.WRONG, markersize=7, clip_on=False)
    ax.set_xlim(low, high)


def _numbers(data: pd.DataFrame) -> list[str]:
    limits = zip(data["estimate"], data["conf_low"], data["conf_high"], strict=True)
    return [
        "no finite estimate" if not np.isfinite([low, high]).all() else f"{estimate:.3g}  [{low:.3g}, {high:.3g}]"
        for estimate, low, high in limits
    ]


_COLUMNS = 3
_BEYOND = 0.2  # curves reach to the limits of this share of the chance outside


def profiles_data(
    results: DrawnLikelihood,
    parm: str | int | Sequence[str | int] | None = None,
    *,
    level: float = 0.95,
    points: int = 41,
) -> pd.DataFrame:
    """Profiles to a little beyond their limits of that level.

    Returns
    -------
    pandas.DataFrame
        One row a value: parameter, value, z (signed root of the deviance), loglik, quadratic (the signed root of the
        quadratic approximation, (value - estimate) / standard error; a straight line).
    """
    fraction("level", level)
    frame = results.profile(parm, level=1.0 - _BEYOND * (1.0 - level), points=points)
    names = frame["parameter"]
    return frame.assign(quadratic=(frame["value"] - names.map(results.params)) / names.map(results.se))


def profiles(
    results: DrawnLikelihood,
    parm: str | int | Sequence[str | int] | None = None,
    ax: Any = None,
    *,
    level: float = 0.95,
    points: int = 41,
) -> AnyArray:
    """Signed root deviance against each parameter (line), its quadratic approximation (dashes) and the limits.

    A line that bends away from the dashes says that Wald limits are poor.

    Parameters
    ----------
    parm : str, int or a sequence of them, optional
        Parameters by name or by position in `params` (from 0), or location terms; all parameters if not given.
    ax : matplotlib axes or an array of them, optional
        One a parameter.
    level : float in (0, 1)
        Confidence level of the limits.
    points : int
        Values of each parameter.

    Returns
    -------
    array of matplotlib axes
        Unlike the other plots, as every parameter has its own.
    """
    data = profiles_data(results, parm, level=level, points=points)
    names = list(dict.fromkeys(data["parameter"]))
    if not names:
        raise DataError("all parameters asked for are aliased: they have no profile.")
    limits = results.confint(level, type="profile", parm=parm)
    panels = style.panels(ax, len(names), _COLUMNS, height=2.4, width=2.5 * min(len(names), _COLUMNS) + 0.8)
    for place, (panel, name) in enumerate(zip(panels, names, strict=True)):
        _panel(panel, data[data["parameter"] == name], limits.loc[name].to_numpy(), level)
        low, high = (_shown(end) for end in limits.loc[name])
        style.named(
            panel, f"{100 * level:g} %: {low} to {high}", "" if place % _COLUMNS else "signed root deviance", name
        )
    return np.array(panels, dtype=object)


def _shown(end: float) -> str:
    return f"{end:.3g}" if np.isfinite(end) else ("∞" if end > 0 else "−∞")


def _panel(ax: Any, data: pd.DataFrame, limits: FloatArray, level: float) -> None:
    """The curve, its approximation, and where it crosses the quantiles."""
    quantile = float(ndtri(0.5 + level / 2.0))
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
    ax.title.set_fontsize(style.SMALL + 0.5)

"""Coefficients: with confidence limits, by threshold (are the effects parallel?), and profiles of the likelihood."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd
from scipy.special import ndtri

from .._typing import AnyArray, FloatArray
from ..checks import fraction
from ..exceptions import DataError, OptionError
from . import style

if TYPE_CHECKING:
    from .drawn import Axes, DrawnLikelihood


def forest_data(results: DrawnLikelihood, *, exponentiate: bool = False, level: float = 0.95) -> pd.DataFrame:
    """Columns term, estimate, conf_low, conf_high, coef_type."""
    table = results.tidy(exponentiate=exponentiate, level=level)
    kept = table["coef_type"].isin(("nominal", "location", "scale")) & table["estimate"].notna()
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
    limits = results.confint(parm, level, type="profile")
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


def parallel_data(
    results: DrawnLikelihood, *, columns: Sequence[str] | str | None = None, level: float = 0.95
) -> pd.DataFrame:
    """Effects of the location columns on P(response > level), each threshold fitted alone, and together.

    Returns
    -------
    pandas.DataFrame
        Columns term, threshold, above (the lower level of the threshold), estimate, std_error, lower, upper (of the
        binary fit; NaN where it is separated), pooled, pooled_lower, pooled_upper (of the fit itself).
    """
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


def _chosen(results: DrawnLikelihood, columns: Sequence[str] | str | None) -> list[str]:
    names = list(results.design.names)
    if not names:
        raise DataError("the fit has no location effects to compare.")
    chosen = names if columns is None else [columns] if isinstance(columns, str) else list(columns)
    for name in chosen:
        if name not in names:
            raise OptionError(f"the fit has no location column {name!r}; it has {', '.join(map(repr, names))}.")
    return chosen


def _binary(results: DrawnLikelihood, code: int) -> DrawnLikelihood:
    """The fit of P(y > code) alone, of the same columns but for the scale effects."""
    design, method = results.design, cast(Any, results.method)
    rows = replace(design.sample.rows, scale=None, scale_offset=None)
    sample = replace(design.sample, rows=rows, y=(design.sample.y > code).astype(np.intp), n_levels=2, costs=None)
    levels = replace(design.levels, values=("not above", "above"), unused=())
    fitted = results.rule.link  # its parameter estimated where it has one
    link = fitted.name if fitted.lam is None else (fitted.name, fitted.lam)
    method = replace(method, threshold="flexible", start=None, cost="classification", link=link)
    design = replace(design, sample=sample, levels=levels, scale_names=(), scale_terms={})
    fit = method.fit(sample, np.random.default_rng(0))
    binary: DrawnLikelihood = replace(cast(Any, results), design=design, method=method, fit=fit)
    return binary


def _estimates(results: DrawnLikelihood, level: float) -> pd.DataFrame:
    """Location effects: estimate, std_error, lower, upper; nothing of estimates without a finite maximum."""
    table = results.tidy(level=level)
    table = table[table["coef_type"] == "location"].set_index("term")
    frame = table[["estimate", "std_error", "conf_low", "conf_high"]]
    frame = frame.set_axis(["estimate", "std_error", "lower", "upper"], axis=1)
    return frame.where(frame["std_error"].notna(), np.nan)


def parallel(
    results: DrawnLikelihood, ax: Axes | None = None, *, columns: Sequence[str] | str | None = None, level: float = 0.95
) -> Axes:
    """Are effects the same at every threshold? Binary fits of P(response > level), beside the fit itself.

    Where the effects are parallel the points of a column scatter about its line within their limits.

    Parameters
    ----------
    ax : matplotlib axes, optional
    columns : str or sequence of str, optional
        Location columns; all if not given.
    level : float in (0, 1)
        Confidence level of the limits.
    """
    data = parallel_data(results, columns=columns, level=level)
    terms = list(dict.fromkeys(data["term"]))
    rows = len(results.levels) - 1
    # (terms, rows) heights, from the top down, with room for a heading above each block
    places = -(np.arange(len(terms))[:, None] * (rows + 1.3) + np.arange(rows))
    ax = style.axes(ax, height=0.9 + 0.21 * (rows + 1.3) * len(terms))
    colours = style.level_colours(rows)
    for block, term in enumerate(terms):
        _block(ax, data[data["term"] == term], places[block], colours)
    ax.axvline(0.0, color=style.MUTED, linewidth=0.8, zorder=1)
    ax.set_ylim(places.min() - 0.8, places.max() + 1.3)
    response = results.design.response
    labels = [f"{response} > {above}" for above in results.levels[:-1]]
    style.row_labels(ax, list(places.ravel()), labels * len(terms))
    return style.named(ax, f"effect on the {results.rule.link.name} scale, {100 * level:g} % limits")


def _block(ax: Axes, data: pd.DataFrame, places: FloatArray, colours: Sequence[Any]) -> None:
    """The rows of one column under its name."""
    first = data.iloc[0]
    ends = [places.min() - 0.45, places.max() + 0.45]
    ax.fill_betweenx(ends, first["pooled_lower"], first["pooled_upper"], color=style.FAINT, alpha=0.7, linewidth=0)
    ax.plot([first["pooled"]] * 2, ends, color=style.INK, linewidth=1.0)
    ax.hlines(places, data["lower"], data["upper"], colors=list(colours), linewidth=1.6, zorder=3)
    ax.scatter(data["estimate"], places, color=list(colours), s=26, zorder=4)
    for place in places[data["estimate"].isna()]:
        looks = {"fontsize": style.SMALL - 1.0, "color": style.MUTED, "zorder": 5}
        style.note(ax, "no finite estimate", (np.nan_to_num(first["pooled"]), place), (5, 0), **looks)
    heading, top = {"va": "bottom", "fontsize": style.SMALL + 0.5, "fontweight": "bold"}, places.max() + 0.55
    style.note(ax, str(first["term"]), (0.0, top), (0, 0), ax.get_yaxis_transform(), **heading)

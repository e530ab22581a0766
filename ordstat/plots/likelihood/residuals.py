"""Surrogate residuals of a likelihood fit: against the quantiles they should have, or against a variable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.special import betaincinv

from ..._typing import FloatArray, IntArray
from ...checks import fraction
from ...exceptions import OptionError
from ...model.likelihood.cumulative import latent_mean
from .. import style
from ..variables import data_of_fit, factor_axis, fitted_columns, not_taken

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Groups of equal size along a number, and rows that a group needs.
_GROUPS, _LEAST = 10, 8
_MOST_DOTS = 3000


def residuals_frame(
    results: Any, against: str | None, data: Any, level: float, seed: int | np.random.Generator
) -> pd.DataFrame:
    """The residuals beside what they are drawn against, on the index of the rows."""
    fraction("level", level)
    not_taken([against], ("residual",))
    if against == "score" and "score" in (results.design.spec.columns or ()):
        raise OptionError(
            "against='score' is the linear predictor, and a variable of the formula has that name too: rename the "
            "variable in the data and the formula."
        )
    values = results.residuals("surrogate", seed=seed)
    if against is None:
        return _quantiles(results, values, level)
    return pd.DataFrame({against: _along(results, against, data), "residual": values.to_numpy()}, index=values.index)


def draw_residuals(results: Any, table: pd.DataFrame, against: str | None, ax: Axes | None, level: float) -> Axes:
    ax = style.axes(ax, height=3.8)
    draw = _against_quantiles if against is None else _against_number
    if against is not None and table[against].dtype.kind not in "iuf":
        draw = _against_factor
    draw(ax, table, str(against), level, results.design.sample.weights)
    ax.set_ylabel("surrogate residual", color=style.INK, fontsize=style.SMALL + 0.5)
    return ax


def _quantiles(results: Any, values: pd.Series, level: float) -> pd.DataFrame:
    """Order statistics beside their places; that of rank i among n has a Beta(i, n + 1 - i) distribution function."""
    order = np.argsort(values.to_numpy(), kind="stable")
    sample = results.design.sample
    w, n = sample.case_weights[order], values.size
    table = pd.DataFrame({"residual": values.iloc[order]})
    table["expected"] = _latent(results, (np.cumsum(w) - 0.5 * w) / w.sum())
    rank = np.arange(1.0, n + 1.0)
    for name, share in (("lower", 0.5 - 0.5 * level), ("upper", 0.5 + 0.5 * level)):
        limits = _latent(results, np.asarray(betaincinv(rank, n + 1.0 - rank, share), dtype=np.float64))
        table[name] = limits if sample.weights is None else np.nan
    return table


def _latent(results: Any, p: FloatArray) -> FloatArray:
    """Quantiles that residuals have under the model."""
    family = results.rule.family
    return np.asarray(family.link.ppf(p) - latent_mean(family.link) if family.ordered else p - 0.5)


def _along(results: Any, against: str, data: Any) -> Any:
    if against == "score":
        return np.asarray(results.predict(type="score"))
    given = data_of_fit(results, data)
    names = list(getattr(given, "columns", given))
    if against not in names:
        raise OptionError(f"against must be 'score' or a column of the data, {', '.join(names)}; got {against!r}.")
    column = fitted_columns(results, given, [against])[against]
    if len(column) != results.design.sample.n:
        raise OptionError("data must have the rows of the fit, under its index, to draw residuals against a column.")
    return column.to_numpy()


def _against_quantiles(ax: Axes, table: pd.DataFrame, name: str, level: float, weights: FloatArray | None) -> None:
    ends = [table["expected"].min(), table["expected"].max()]
    ax.plot(ends, ends, color=style.INK, linewidth=0.9, zorder=2)
    limited = table["lower"].notna().all()
    if limited:
        ax.fill_between(table["expected"], table["lower"], table["upper"], color=style.FAINT, linewidth=0, zorder=1)
    _dots(ax, table["expected"].to_numpy(), table["residual"].to_numpy())
    style.named(ax, f"expected under the model{f', {100 * level:g} % limits' if limited else ''}")


def _against_number(ax: Axes, table: pd.DataFrame, name: str, level: float, weights: FloatArray | None) -> None:
    x, values = table[name].to_numpy(dtype=np.float64), table["residual"].to_numpy()
    _dots(ax, x, values)
    ax.axhline(0.0, color=style.INK, linewidth=0.8, zorder=1)
    groups = np.array_split(np.argsort(x, kind="stable"), max(1, min(_GROUPS, x.size // _LEAST)))
    _means(
        ax, [(float(np.average(x[own], weights=_part(weights, own))), own) for own in groups], values, level, weights
    )
    style.named(ax, f"{name}; means of {len(groups)} groups{_limits_told(weights, level)}")


def _against_factor(ax: Axes, table: pd.DataFrame, name: str, level: float, weights: FloatArray | None) -> None:
    labels = pd.Series(sorted(pd.unique(table[name].dropna()), key=str))
    places = table[name].map({label: place for place, label in enumerate(labels)}).to_numpy(dtype=np.float64)
    jitter = 0.5 * (np.arange(places.size) * 0.618 % 1.0 - 0.5)
    _dots(ax, places + jitter, table["residual"].to_numpy())
    ax.axhline(0.0, color=style.INK, linewidth=0.8, zorder=1)
    values = table["residual"].to_numpy()
    groups = [(float(place), np.flatnonzero(places == place)) for place in range(len(labels))]
    _means(ax, groups, values, level, weights)
    factor_axis(ax, labels)
    style.named(ax, f"{name}; means{_limits_told(weights, level)}")


def _dots(ax: Axes, x: FloatArray, y: FloatArray) -> None:
    step = -(-x.size // _MOST_DOTS)
    ax.scatter(x[::step], y[::step], s=9, color=style.MUTED, alpha=0.6, linewidths=0, zorder=2)


def _limits_told(weights: FloatArray | None, level: float) -> str:
    return f" with {100 * level:g} % limits" if weights is None else ", weighted"


def _part(weights: FloatArray | None, rows: IntArray) -> FloatArray | None:
    return None if weights is None else weights[rows]


def _means(
    ax: Axes,
    groups: list[tuple[float, IntArray]],
    values: FloatArray,
    level: float,
    weights: FloatArray | None,
) -> None:
    """Means of groups of rows with t limits; of weighted rows, of which one cannot tell how many they are, without."""
    from scipy.special import stdtrit

    for place, rows in groups:
        own = rows[np.isfinite(values[rows])]
        if own.size < 2:
            continue
        mean = float(np.average(values[own], weights=_part(weights, own)))
        if weights is None:
            half = float(stdtrit(own.size - 1, 0.5 + 0.5 * level)) * values[own].std(ddof=1) / np.sqrt(own.size)
            ax.plot([place, place], [mean - half, mean + half], color=style.RIGHT, linewidth=1.8, zorder=3)
        ax.plot(place, mean, "o", color=style.RIGHT, markersize=5, zorder=4)

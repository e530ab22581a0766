"""Surrogate residuals of a likelihood fit: against the quantiles they should have, or against a variable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.special import betaincinv, stdtrit

from ..._typing import FloatArray
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
    if against is None:
        return style.named(ax, _draw_quantiles(ax, table, level), "surrogate residual")
    words = _draw_against(ax, table, against, level, results.design.sample.weights)
    return style.named(ax, words, "surrogate residual")


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


def _draw_quantiles(ax: Axes, table: pd.DataFrame, level: float) -> str:
    ends = [table["expected"].min(), table["expected"].max()]
    ax.plot(ends, ends, color=style.INK, linewidth=0.9, zorder=2)
    limited = table["lower"].notna().all()
    if limited:
        ax.fill_between(table["expected"], table["lower"], table["upper"], color=style.FAINT, linewidth=0, zorder=1)
    _dots(ax, table["expected"].to_numpy(), table["residual"].to_numpy())
    return f"expected under the model{f', {100 * level:g} % limits' if limited else ''}"


def _draw_against(ax: Axes, table: pd.DataFrame, name: str, level: float, weights: FloatArray | None) -> str:
    """Over a variable, with the means of its levels, or of groups of about equal size along a number."""
    values = table["residual"].to_numpy()
    w = np.ones(values.size) if weights is None else weights
    ax.axhline(0.0, color=style.INK, linewidth=0.8, zorder=1)
    limits = ", weighted" if weights is not None else f" with {100 * level:g} % limits"
    if table[name].dtype.kind in "iuf":
        x = table[name].to_numpy(dtype=np.float64)
        _dots(ax, x, values)
        groups = np.array_split(np.argsort(x, kind="stable"), max(1, min(_GROUPS, x.size // _LEAST)))
        places = [float(np.average(x[rows], weights=w[rows])) for rows in groups]
        words = f"{name}; means of {len(groups)} groups{limits}"
    else:
        labels = pd.Series(sorted(pd.unique(table[name].dropna()), key=str))
        if isinstance(table[name].dtype, pd.CategoricalDtype):
            labels = pd.Series([label for label in table[name].cat.categories if (table[name] == label).any()])
        x = table[name].map({label: place for place, label in enumerate(labels)}).to_numpy(dtype=np.float64)
        _dots(ax, x + 0.5 * (np.arange(x.size) * 0.618 % 1.0 - 0.5), values)
        groups = [np.flatnonzero(x == place) for place in range(len(labels))]
        places = [float(place) for place in range(len(labels))]
        factor_axis(ax, labels)
        words = f"{name}; means{limits}"
    for place, rows in zip(places, groups, strict=True):
        rows = rows[np.isfinite(values[rows])]
        if rows.size < 2:
            continue
        mean = float(np.average(values[rows], weights=w[rows]))
        if weights is None:  # weights do not tell how many rows there are
            half = float(stdtrit(rows.size - 1, 0.5 + 0.5 * level)) * values[rows].std(ddof=1) / np.sqrt(rows.size)
            ax.plot([place, place], [mean - half, mean + half], color=style.RIGHT, linewidth=1.8, zorder=3)
        ax.plot(place, mean, "o", color=style.RIGHT, markersize=5, zorder=4)
    return words


def _dots(ax: Axes, x: FloatArray, y: FloatArray) -> None:
    step = -(-x.size // _MOST_DOTS)
    ax.scatter(x[::step], y[::step], s=9, color=style.MUTED, alpha=0.6, linewidths=0, zorder=2)

"""Accumulated local effects of a number, for every method that predicts new rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._typing import AnyArray, FloatArray
from ..checks import one_of, whole
from ..exceptions import OptionError
from . import style
from .dependence import draw_curves, rows_to_average
from .drawn import DrawnRanker
from .variables import numeric_variables

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def ale_data(
    results: DrawnRanker,
    variable: str,
    *,
    of: str | None = None,
    intervals: int = 20,
    rows: int = 10_000,
    data: Any = None,
) -> pd.DataFrame:
    """Accumulated local effects [Apley & Zhu 2020, eqs. 15 and 16].

    Returns
    -------
    pandas.DataFrame
        Columns of the variable (ends of the intervals, which are quantiles of it), level (of="prob"), estimate (of
        mean 0 over the rows).
    """
    chosen = _kind(results, of)
    frame, weights = rows_to_average(results, variable, whole("rows", rows, 1), data)
    if variable not in numeric_variables(results):
        raise OptionError(
            f"{variable!r} must be a number: a factor has no intervals. Use plot.dependence({variable!r})."
        )
    values = frame[variable].to_numpy()
    ends = _ends(values, weights, whole("intervals", intervals, 1))
    if ends.size < 2:
        raise OptionError(f"{variable!r} must have more than one value in the rows; it is {ends[0]} in all of them.")
    place = np.clip(np.searchsorted(ends, values), 1, ends.size - 1)
    above, below = (_predicted(results, frame.assign(**{variable: ends[place - back]}), chosen) for back in (0, 1))
    cells = _accumulated((above - below), place - 1, weights, ends.size - 1)
    out: dict[str, Any] = {variable: np.repeat(ends, cells.shape[1])}
    if chosen == "prob":
        out["level"] = np.tile(np.array([*results.levels, None], dtype=object)[:-1], ends.size)
    return pd.DataFrame({**out, "estimate": cells.ravel()}).infer_objects()


def ale(
    results: DrawnRanker,
    variable: str,
    ax: Axes | None = None,
    *,
    of: str | None = None,
    intervals: int = 20,
    rows: int = 10_000,
    data: Any = None,
) -> Axes:
    """Accumulated local effects: how predictions change with a number, from rows that are near each value alone.

    In every interval of the variable the rows that lie in it are predicted at its two ends; the mean differences add up
    to the curve, which has mean 0. Unlike partial dependence it asks for no rows far from those there are, so that
    variables that go together do not mislead it.

    Parameters
    ----------
    variable : str
        A number of the formula.
    ax : matplotlib axes, optional
    of : {"prob", "rank", "score"}, optional
        Probabilities of the levels, where the fit has some, the mean rank 1..K, or the score; probabilities, where
        there are any, else ranks if not given.
    intervals : int
        At most; their ends are quantiles of the variable.
    rows : int
        Rows that are averaged at most; of more a sample, evenly spread.
    data : data frame, optional
        The data of the fit, where it does not have them any more (after unpickling).
    """
    chosen = _kind(results, of)
    table = ale_data(results, variable, of=of, intervals=intervals, rows=rows, data=data)
    ax = style.axes(ax, height=3.6)
    ax.axhline(0.0, color=style.FAINT, linewidth=0.8, zorder=1)
    response = results.design.response
    if chosen != "prob":
        draw_curves(ax, [("", table)], variable, True, color=style.RIGHT, linewidth=2.2)
        of_what = f"score of {response}" if chosen == "score" else f"mean rank of {response}"
        return style.named(ax, variable, f"effect on the {of_what}")
    colours = style.level_colours(len(results.levels))
    curves = [table[table["level"] == level] for level in results.levels]
    for curve, colour in zip(curves, colours, strict=True):
        draw_curves(ax, [("", curve)], variable, True, color=colour, linewidth=1.8)
    style.named(ax, variable, f"effect on P({response} = level)")
    last = [float(curve["estimate"].iloc[-1]) for curve in curves]
    style.end_labels(ax, last, [str(level) for level in results.levels], colours)
    return ax


def _kind(results: DrawnRanker, of: str | None) -> str:
    one_of("of", of, (None, "prob", "rank", "score"))
    known = results.prediction_types
    if of in ("prob", "score") and of not in known:
        hint = "give of='rank', or fit with calibrate=True" if of == "prob" else "give of='rank'"
        raise OptionError(f"{results.method!r} has no predictions of type {of!r}: {hint}.")
    return of or ("prob" if "prob" in known else "rank")


def _ends(values: AnyArray, weights: FloatArray, intervals: int) -> AnyArray:
    """Ends of intervals of about equal weight, each a value: the smallest one and quantiles."""
    order = np.argsort(values, kind="stable")
    shares = np.cumsum(weights[order])
    wanted = np.linspace(0.0, 1.0, intervals + 1) * shares[-1] * (1.0 - 1e-12)
    return np.unique(values[order][np.searchsorted(shares, wanted)])


def _predicted(results: DrawnRanker, frame: pd.DataFrame, of: str) -> FloatArray:
    """(N, K) probabilities, (N, 1) mean ranks 1..K or (N, 1) scores."""
    if of == "score":
        return np.asarray(results.predict(frame, type="score"), dtype=np.float64).reshape(len(frame), -1)
    if "prob" not in results.prediction_types:
        codes: Any = results.predict(frame)
        return np.asarray(codes.cat.codes.to_numpy(dtype=np.float64)[:, None] + 1.0)
    p = np.asarray(results.predict(frame, type="prob"), dtype=np.float64)
    return p if of == "prob" else (p @ np.arange(1.0, p.shape[1] + 1.0))[:, None]


def _accumulated(differences: FloatArray, interval: AnyArray, weights: FloatArray, n: int) -> FloatArray:
    """(n+1, M) sums of the mean differences (N, M) by interval, with the mean over the rows taken off."""
    inside = np.bincount(interval, weights, n)
    sums = np.stack([np.bincount(interval, weights * column, n) for column in differences.T], axis=1)
    curve = np.concatenate((np.zeros((1, sums.shape[1])), np.cumsum(sums / inside[:, None], axis=0)))
    mean = inside @ (0.5 * (curve[1:] + curve[:-1])) / inside.sum()
    return np.asarray(curve - mean)

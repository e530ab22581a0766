"""What any fit predicts over one variable, averaged over the rows: partial dependence, and single rows beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._typing import FloatArray
from ..checks import one_of, whole
from ..exceptions import DataError, OptionError
from . import style
from .drawn import DrawnRanker, averaged, data_of_fit, fitted_columns, not_taken
from .variables import factor_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_POINTS = 25
_MOST_CURVES = 60


def dependence_data(
    results: DrawnRanker,
    variable: str,
    *,
    of: str | None = None,
    values: Sequence[Any] | None = None,
    rows: int = 500,
    each: bool = False,
    data: Any = None,
) -> pd.DataFrame:
    """Mean predictions with the variable set to one value after the other in all rows [Friedman 2001, sec. 8.2].

    Returns
    -------
    pandas.DataFrame
        Columns of the variable, level (of="prob"), row (with each=True), estimate.
    """
    chosen = _kind(results, of)
    not_taken([variable], ("estimate", *(["level"] if chosen == "prob" else []), *(["row"] if each else [])))
    frame, weights = rows_to_average(results, variable, whole("rows", rows, 1), data)
    grid = _grid(results, frame, variable) if values is None else list(values)
    if not grid:
        raise OptionError("values must have a value at least; got none.")
    told = [_curves(results, frame.assign(**{variable: _like(frame, variable, value)}), chosen) for value in grid]
    cells = np.stack(told)  # (values, rows, levels or 1)
    if not each:
        cells = (weights @ cells)[:, None, :]
    index = pd.MultiIndex.from_product([range(len(grid)), range(cells.shape[1]), range(cells.shape[2])])
    place, row, level = (index.get_level_values(i).to_numpy() for i in range(3))
    out: dict[str, Any] = {variable: np.array(grid, dtype=object)[place]}
    if chosen == "prob":
        out["level"] = np.array([*results.levels, None], dtype=object)[level]
    if each:
        out["row"] = frame.index.to_numpy()[row]
    return pd.DataFrame({**out, "estimate": cells.ravel()}).infer_objects()


def dependence(
    results: DrawnRanker,
    variable: str,
    ax: Axes | None = None,
    *,
    of: str | None = None,
    values: Sequence[Any] | None = None,
    rows: int = 500,
    each: bool = False,
    data: Any = None,
) -> Axes:
    """Partial dependence: mean predictions over a variable, for every method that predicts new rows.

    Each row keeps its other values, so that a mean stands for the rows as they are. Where variables go together, values
    that no row could have are among them; the picture shows what the fit says, not what a change would do.

    Parameters
    ----------
    variable : str
        A variable of the formula.
    ax : matplotlib axes, optional
    of : {"prob", "rank"}, optional
        Probabilities of the levels, where the fit has some, or the mean rank 1..K: the expected one where there are
        probabilities, else the predicted one. Probabilities, where there are any, if not given.
    values : sequence, optional
        Values of the variable; all levels of a factor, up to 25 points over the range of a number if not given.
    rows : int
        Rows that are averaged at most; of more a sample, evenly spread.
    each : bool
        With of="rank": a faint line for each of up to 60 rows too (individual conditional expectation, Goldstein et
        al. 2015).
    data : data frame, optional
        The data of the fit, where it does not have them any more (after unpickling).
    """
    chosen = _kind(results, of)
    if each and chosen == "prob":
        raise OptionError("each=True goes with of='rank': lines of every row and level would cover each other.")
    means = dependence_data(results, variable, of=of, values=values, rows=rows, data=data)
    ax = style.axes(ax, height=3.6)
    numeric = variable not in results.design.spec.categories() and means[variable].dtype.kind in "iuf"
    if each:
        same: dict[str, Any] = {"of": of, "values": list(means[variable]), "data": data}
        single = dependence_data(results, variable, **same, rows=min(rows, _MOST_CURVES), each=True)
        draw_curves(
            ax, single.groupby("row", sort=False), variable, numeric, color=style.MUTED, linewidth=0.5, alpha=0.5
        )
    if chosen == "prob":
        level_curves(ax, results, means, variable, numeric)
    else:
        draw_curves(ax, [("mean", means)], variable, numeric, color=style.RIGHT, linewidth=2.2 if numeric else 0.0)
        style.named(ax, variable, f"mean rank of {results.design.response}{averaged(results)}")
    return ax


def _kind(results: DrawnRanker, of: str | None) -> str:
    one_of("of", of, (None, "prob", "rank"))
    known = "prob" in results.prediction_types
    if of == "prob" and not known:
        raise OptionError(f"{results.method!r} has no probabilities: give of='rank', or fit with calibrate=True.")
    return of or ("prob" if known else "rank")


def rows_to_average(results: DrawnRanker, variable: str, most: int, data: Any) -> tuple[pd.DataFrame, FloatArray]:
    """Complete rows of the variables, and their shares of all weights."""
    columns = list(results.design.spec.columns or ())
    if variable not in columns:
        raise OptionError(
            f"{variable!r} is no variable of the formula; these are: {', '.join(map(repr, columns)) or 'none'}."
        )
    sample = results.design.sample
    frame = fitted_columns(results, data_of_fit(results, data), columns)
    weights = sample.case_weights if len(frame) == sample.n else np.ones(len(frame))
    keep = frame.notna().all(axis=1).to_numpy() & (weights > 0)
    frame, weights = frame[keep].reset_index(drop=True), weights[keep]
    if frame.empty:
        raise DataError("data has no row in which all variables of the formula are known.")
    if len(frame) > most:
        spread = np.linspace(0, len(frame) - 1, most).round().astype(int)
        frame, weights = frame.iloc[spread].reset_index(drop=True), weights[spread]
    return frame, weights / weights.sum()


def _grid(results: DrawnRanker, frame: pd.DataFrame, variable: str) -> list[Any]:
    """Levels of a factor; of a number its values, or points over its range where these are many."""
    known = results.design.spec.categories().get(variable)
    if known is not None:
        return list(known)
    found = np.unique(frame[variable].to_numpy())
    if found.dtype.kind not in "iuf" or found.size <= _POINTS:
        return list(found.tolist())
    return list(np.linspace(found[0], found[-1], _POINTS).tolist())


def _like(frame: pd.DataFrame, variable: str, value: Any) -> pd.Series:
    """A column of one value."""
    return pd.Series([value] * len(frame), index=frame.index, name=variable)


def _curves(results: DrawnRanker, frame: pd.DataFrame, of: str) -> FloatArray:
    """(rows, K) probabilities, or (rows, 1) ranks 1..K."""
    K = len(results.levels)
    if "prob" not in results.prediction_types:
        predicted: Any = results.predict(frame)
        return np.asarray(predicted.cat.codes.to_numpy(dtype=np.float64)[:, None] + 1.0)
    p = np.asarray(results.predict(frame, type="prob"), dtype=np.float64)
    return p if of == "prob" else (p @ np.arange(1.0, K + 1.0))[:, None]


def level_curves(ax: Axes, results: DrawnRanker, means: pd.DataFrame, variable: str, numeric: bool) -> None:
    colours = style.level_colours(len(results.levels))
    curves = [means[means["level"] == level] for level in results.levels]
    for curve, colour in zip(curves, colours, strict=True):
        draw_curves(ax, [("", curve)], variable, numeric, color=colour, linewidth=1.8 if numeric else 0.0)
    ax.set_ylim(0.0, min(1.0, 1.06 * float(means["estimate"].max())))
    style.named(ax, variable, f"mean P({results.design.response} = level){averaged(results)}")
    last = [float(curve["estimate"].iloc[-1]) for curve in curves]
    style.end_labels(ax, last, [str(level) for level in results.levels], colours)


def draw_curves(ax: Axes, curves: Any, variable: str, numeric: bool, **looks: Any) -> None:
    """A line for each curve; over a factor with a dot at each level."""
    for _, curve in curves:
        x = curve[variable].to_numpy(dtype=np.float64) if numeric else np.arange(len(curve))
        ax.plot(x, curve["estimate"], marker=None if numeric else "o", markersize=4.5, **looks)
        if numeric:
            ax.set_xlim(x.min(), x.max())
        else:
            factor_axis(ax, curve[variable])

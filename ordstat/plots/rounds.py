"""How a fit came about: errors of an ensemble after every round, and the choice of C and gamma by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd

from ..checks import one_of
from ..exceptions import UnavailableError
from . import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..model.fit import Selection


#: What may be drawn, and the name of its axis.
ERRORS = {
    "absolute": "mean absolute error",
    "classification": "classification error",
    "cost": "mean cost",
    "loss": "loss a row",
}
_OWN, _NEW, _HELD, _BAG = "rows of the fit", "new data", "held out", "out of bag"
_ENOUGH = 0.5  # of the rows, for an error out of bag to be shown
_COLOURS = {_OWN: style.MUTED, _BAG: style.RIGHT, _NEW: style.WRONG, _HELD: style.INK}
_COLOURS |= {"loss": style.RIGHT, "its bound": style.MUTED}
# Rounds drawn where the user does not say how many.
_POINTS = 250


def ensemble_frame(results: Any, newdata: Any, error: str, every: int | None) -> pd.DataFrame:
    """Errors of an ensemble by round: round, rows (whose error it is), value."""
    one_of("error", error, ERRORS)
    made = results.fit.stages[-1]
    if made == 0:
        raise UnavailableError(f"no round was made, for {results.fit.trace.message}: there is nothing to draw.")
    stages = np.unique(np.rint(np.geomspace(1, made, _POINTS)).astype(np.intp)).tolist()
    return _long(_wide(results, newdata, error, every, stages))


def trees_frame(results: Any, newdata: Any, error: str, every: int) -> pd.DataFrame:
    """Errors of trees by round, also out of bag where half of the rows have been: before, it is the error of few."""
    one_of("error", error, ("absolute", "classification", "squared"))
    staged = results.staged_errors(newdata, every=every)
    curves = {_OWN: staged[error]}
    if results.fit.out_of_bag is not None:
        found = results.out_of_bag_errors().loc[staged.index]
        curves[_BAG] = found[error].where(found["share"] >= _ENOUGH)
    if newdata is not None:
        curves[_NEW] = staged[f"new {error}"]
    return _long(pd.DataFrame(curves)).dropna(ignore_index=True)


def _long(wide: pd.DataFrame) -> pd.DataFrame:
    """Columns round, rows, value of a frame with one column a set of rows, by round."""
    return wide.reset_index().melt(id_vars="round", var_name="rows", value_name="value")


def _wide(results: Any, newdata: Any, error: str, every: int | None, stages: Sequence[int]) -> pd.DataFrame:
    """One column a set of rows, by round."""
    new = None if error == "loss" else newdata
    found = results.staged_errors(new, rounds=stages) if every is None else results.staged_errors(new, every=every)
    record = results.rounds.loc[found.index]
    if error == "loss":
        names = {"loss": "loss", "bound": "its bound", "held_out": _HELD}
        return record[[name for name in names if name in record]].rename(columns=names)
    wide = pd.DataFrame({_OWN: found[error]})
    if f"new {error}" in found:
        wide[_NEW] = found[f"new {error}"]
    if "validation" in record and error in ("cost", results.method.cost_matrix.label):
        wide[_HELD] = record["validation"]
    return wide


def draw_rounds(data: pd.DataFrame, ax: Axes | None, words: str) -> Axes:
    ax = style.axes(ax, height=3.4)
    lines = {str(rows): line for rows, line in data.groupby("rows", sort=False)}
    for rows, line in lines.items():
        # The bound of an exact step is the loss itself: wide and behind, it can be seen there too.
        behind = rows == "its bound"
        (drawn,) = ax.plot(line["round"], line["value"], color=_COLOURS[rows], label=rows, zorder=2 if behind else 3)
        drawn.set(linewidth=5.0 if behind else 1.4, alpha=0.4 if behind else 1.0)
    style.named(ax, "round", words)
    if lines.keys() & {"loss", "its bound"}:
        ax.set_yscale("log")
        ax.legend(frameon=False, fontsize=style.SMALL, labelcolor=style.INK, loc="lower left")
    else:
        style.from_zero(ax)
        last = [float(line["value"].iloc[-1]) for line in lines.values()]
        style.end_labels(ax, last, list(lines), [_COLOURS[rows] for rows in lines])
    return ax


def draw_ensemble(results: Any, data: pd.DataFrame, ax: Axes | None, error: str) -> Axes:
    ax = draw_rounds(data, ax, ERRORS[error])
    ax.set_xscale("log")
    style.plain_log_ticks(ax)
    _mark(ax, results)
    return ax


def _mark(ax: Axes, results: Any) -> None:
    """A line where the rounds in use end, unless all are."""
    kept = results.fit.kept
    if not 0 < kept < results.fit.stages[-1]:
        return
    ax.axvline(kept, color=style.MUTED, linewidth=0.8, linestyle=(0, (4, 3)))
    style.note(ax, f"{kept} in use", (kept, 1.0), (-4, -2), ax.get_xaxis_transform(), ha="right", va="top")


def selection_frame(results: Any) -> pd.DataFrame:
    """The cost of every value that was tried."""
    found = _selection(results)
    chosen = [place == found.chosen for place in range(found.C.size)]
    data = pd.DataFrame({"C": found.C, "cost": found.cost, "std_error": found.error, "chosen": chosen})
    if found.gamma is not None:
        data.insert(1, "gamma", found.gamma)
    return data


def _selection(results: Any) -> Selection:
    found = getattr(results.fit, "selection", None)
    if found is None:
        has_C = hasattr(results.method, "C")
        how = "fit with C='cv'" if has_C else "it has no C, as 'redsvm' and others have, nor C='cv'"
        raise UnavailableError(f"{results.method!r} chose nothing by cross-validation: {how}.")
    return cast("Selection", found)


def draw_selection(results: Any, data: pd.DataFrame, ax: Axes | None) -> Axes:
    if "gamma" not in data or data["gamma"].nunique() == 1:
        ax = _curve(data, "C", ax)
    elif data["C"].nunique() == 1:
        ax = _curve(data, "gamma", ax)
    else:
        ax = _field(data, ax)
    folds = _selection(results).folds
    return style.titled(ax, f"{folds}-fold cross-validation" if folds else "C by its bound")


def _curve(data: pd.DataFrame, name: str, ax: Axes | None) -> Axes:
    """Cost against one of them, one standard error on either side."""
    ax = style.axes(ax, height=3.4)
    ax.set_xscale("log")
    looks: dict[str, Any] = {"color": style.RIGHT, "ecolor": style.MUTED, "elinewidth": 1.2, "linewidth": 1.4}
    ax.errorbar(data[name], data["cost"], data["std_error"], **looks)
    ax.plot(data[name], data["cost"], "o", color=style.RIGHT, markersize=4, linestyle="none")
    best = data[data["chosen"]].iloc[0]
    ax.plot(best[name], best["cost"], "o", color=style.WRONG, markersize=8, zorder=5)
    looks = {"ha": "center", "va": "top", "color": style.WRONG}
    style.note(ax, f"{name} = {best[name]:g}", (best[name], best["cost"]), (0, -14), **looks)
    ax.margins(y=0.18)
    of_bound = data["std_error"].isna().all()
    return style.named(ax, name, "bound of the expected cost" if of_bound else "cost of held-out rows")


def _field(data: pd.DataFrame, ax: Axes | None) -> Axes:
    """Cost of every pair as a number on its colour, the lower the darker."""
    from matplotlib import colormaps
    from matplotlib.patches import Rectangle

    cost = data.pivot(index="gamma", columns="C", values="cost")
    rows, columns = cost.shape
    ax = style.axes(ax, height=1.0 + 0.32 * rows, width=1.2 + 0.52 * columns)
    values = cost.to_numpy()
    colours = colormaps["Blues_r"](0.12 + 0.88 * (values - values.min()) / max(float(np.ptp(values)), 1e-300))
    style.field(ax, colours, aspect="auto", origin="lower")
    ax.set_xticks(range(columns), [_power(float(value)) for value in cost.columns])
    ax.set_yticks(range(rows), [_power(float(value)) for value in cost.index])
    width, height = style.inches(ax)
    size = min(style.SMALL, 72.0 * min(0.3 * width / columns, 0.55 * height / rows))
    for (i, j), value in np.ndenumerate(values):
        style.text(ax, j, i, f"{value:.3g}", color=style.text_colour(colours[i, j]), fontsize=size)
    best = data[data["chosen"]].iloc[0]
    j, i = list(cost.columns).index(best["C"]), list(cost.index).index(best["gamma"])
    ax.add_patch(Rectangle((j - 0.5, i - 0.5), 1.0, 1.0, fill=False, edgecolor=style.WRONG, linewidth=2.0, zorder=5))
    return style.named(ax, "C", "gamma")


def _power(value: float) -> str:
    """2 to an exponent where it is whole, else the number."""
    exponent = np.log2(value)
    return f"$2^{{{exponent:.0f}}}$" if exponent == round(exponent) else f"{value:.3g}"

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

    from ..fit import Selection

#: What may be drawn, and the name of its axis.
ERRORS = {
    "absolute": "mean absolute error",
    "classification": "classification error",
    "cost": "mean cost",
    "loss": "loss a row",
}
_OWN, _NEW, _HELD = "rows of the fit", "new data", "held out"
_COLOURS = {_OWN: style.RIGHT, _NEW: style.WRONG, _HELD: style.INK}
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
    """Errors of trees by round."""
    one_of("error", error, ("absolute", "classification", "squared"))
    staged = results.staged_errors(newdata, every=every)
    curves = {_OWN: staged[error]}
    if newdata is not None:
        curves[_NEW] = staged[f"new {error}"]
    return _long(pd.DataFrame(curves))


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
        return pd.DataFrame(record[[name for name in names if name in record]]).rename(columns=names)
    wide = pd.DataFrame({_OWN: found[error]})
    if f"new {error}" in found:
        wide[_NEW] = found[f"new {error}"]
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
    s = _selection(results)
    data = pd.DataFrame({"C": s.C, "cost": s.cost, "std_error": s.error, "chosen": np.arange(s.C.size) == s.chosen})
    if s.gamma is not None:
        data.insert(1, "gamma", s.gamma)
    return data


def _selection(results: Any) -> Selection:
    selection = getattr(results.fit, "selection", None)
    if selection is None:
        raise UnavailableError(f"{results.method!r} chose nothing by cross-validation. Fit 'redsvm' with C='cv'.")
    return cast("Selection", selection)


def draw_selection(results: Any, data: pd.DataFrame, ax: Axes | None) -> Axes:
    """Cost against C, a line for each gamma; against gamma where one C was tried."""
    name = "gamma" if data["C"].nunique() == 1 and "gamma" in data else "C"
    groups = [data] if name == "gamma" or "gamma" not in data else [part for _, part in data.groupby("gamma")]
    ax = style.axes(ax, height=3.4)
    ax.set_xscale("log")
    colours = style.level_colours(len(groups)) if len(groups) > 1 else [style.RIGHT]
    for part, colour in zip(groups, colours, strict=True):
        looks: dict[str, Any] = {"color": colour, "elinewidth": 1.2, "linewidth": 1.4, "markersize": 4}
        ax.errorbar(part[name], part["cost"], part["std_error"], fmt="o-", **looks)
    best = data[data["chosen"]].iloc[0]
    ax.plot(best[name], best["cost"], "o", color=style.WRONG, markersize=8, zorder=5)
    chosen = f"{name} = {best[name]:g}" + (f", gamma = {best['gamma']:g}" if len(groups) > 1 else "")
    place = (best[name], best["cost"])
    style.note(ax, chosen, place, (0, -14), ha="center", va="top", color=style.WRONG)
    ax.margins(y=0.18)
    style.named(ax, name, "cost of held-out rows", f"{_selection(results).folds}-fold cross-validation")
    if len(groups) > 1:
        style.level_key(ax, [f"gamma = {part['gamma'].iloc[0]:g}" for part in groups], colours)
    return ax

"""Errors of an ensemble after every round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..checks import one_of
from ..exceptions import UnavailableError
from . import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .drawn import DrawnEnsemble

#: What may be drawn, and the name of its axis.
ERRORS = {
    "absolute": "mean absolute error",
    "classification": "classification error",
    "cost": "mean cost",
    "loss": "loss a row",
}
_OWN, _NEW, _HELD = "rows of the fit", "new data", "held out"
_COLOURS = {_OWN: style.RIGHT, _NEW: style.WRONG, _HELD: style.INK, "loss": style.RIGHT, "its bound": style.MUTED}
# Rounds drawn where the user does not say how many.
_POINTS = 250


def rounds_data(
    results: DrawnEnsemble, *, newdata: Any = None, error: str = "absolute", every: int | None = None
) -> pd.DataFrame:
    """Columns round, rows (whose error it is), value."""
    one_of("error", error, ERRORS)
    made = len(results.fit.rounds.members)
    if made == 0:
        raise UnavailableError(f"no round was made, for {results.fit.rounds.message}: there is nothing to draw.")
    stages = np.unique(np.rint(np.geomspace(1, made, _POINTS)).astype(np.intp)).tolist()
    wide = _wide(results, newdata, error, every, stages)
    return style.long(wide)


def _wide(results: DrawnEnsemble, newdata: Any, error: str, every: int | None, stages: Sequence[int]) -> pd.DataFrame:
    """One column a set of rows, by round."""
    new = None if error == "loss" else newdata
    found = results.staged_errors(new, rounds=stages) if every is None else results.staged_errors(new, every=every)
    record = results.rounds.loc[found.index]
    if error == "loss":
        return pd.DataFrame({"loss": record["loss"], "its bound": record["bound"]})
    wide = pd.DataFrame({_OWN: found[error]})
    if f"new {error}" in found:
        wide[_NEW] = found[f"new {error}"]
    if "validation" in record and error in ("cost", results.method.cost_matrix.label):
        wide[_HELD] = record["validation"]
    return wide


def rounds(
    results: DrawnEnsemble,
    ax: Axes | None = None,
    *,
    newdata: Any = None,
    error: str = "absolute",
    every: int | None = None,
) -> Axes:
    """Error after every round, on the rows of the fit, on new data, and of held-out rows where there are any.

    Parameters
    ----------
    ax : matplotlib axes, optional
    newdata : data frame, optional
        With the response.
    error : {"absolute", "classification", "cost", "loss"}
        "loss" is the training loss a row, beside what the training-error theorem allows it.
    every : int, optional
        Only every so many rounds, and the last; 250 of them, the first closest together, if not given.
    """
    data = rounds_data(results, newdata=newdata, error=error, every=every)
    ax = style.axes(ax, height=3.4)
    lines = {str(rows): line for rows, line in data.groupby("rows", sort=False)}
    for rows, line in lines.items():
        # The bound of an exact step is the loss itself: wide and behind, it can be seen there too.
        behind = rows == "its bound"
        (drawn,) = ax.plot(line["round"], line["value"], color=_COLOURS[rows], label=rows, zorder=2 if behind else 3)
        drawn.set(linewidth=5.0 if behind else 1.4, alpha=0.4 if behind else 1.0)
    ax.set_xscale("log")
    style.plain_log_ticks(ax)
    style.named(ax, "rounds", ERRORS[error], type(results.method).__name__)
    _mark(ax, results)
    if error == "loss":
        ax.set_yscale("log")
        ax.legend(frameon=False, fontsize=style.SMALL, labelcolor=style.INK, loc="lower left")
        return ax
    ax.set_ylim(bottom=0.0)
    style.curve_labels(ax, lines, _COLOURS)
    return ax


def _mark(ax: Axes, results: DrawnEnsemble) -> None:
    """A line where the rounds in use end, unless all are."""
    kept = results.fit.kept
    if not 0 < kept < len(results.fit.rounds.members):
        return
    ax.axvline(kept, color=style.MUTED, linewidth=0.8, linestyle=(0, (4, 3)))
    style.note(ax, f"{kept} in use", (kept, 1.0), (-4, -2), ax.get_xaxis_transform(), ha="right", va="top")

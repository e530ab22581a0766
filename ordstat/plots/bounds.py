"""What a margin bound costs: the bound against the chance that it fails."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..checks import fraction, one_of
from ..exceptions import UnavailableError
from . import style

if TYPE_CHECKING:
    from .drawn import Axes, DrawnRanker

#: Chances of failure drawn where none are given.
_DELTAS = tuple(float(f"{delta:.3g}") for delta in np.geomspace(0.001, 0.5, 19))
#: The column of the training error at margin 0, by the kind of error.
_AT_ZERO = {"classification": "classification", "absolute": "absolute"}
_TICKS = (0.001, 0.01, 0.05, 0.5)
#: The usual chance of failure, as in `bounds()`.
_USUAL = 0.05


def bounds_data(
    results: DrawnRanker, *, error: str = "absolute", deltas: Sequence[float] | None = None
) -> pd.DataFrame:
    """Columns delta, value, trivial, margin, training (the error of the thresholds on the rows of the fit), source."""
    one_of("error", error, tuple(_AT_ZERO))
    rows = []
    for delta in _DELTAS if deltas is None else deltas:
        found = results.margin_bounds_at(fraction("each of deltas", delta))
        rows += [
            (delta, bound.value, bound.trivial, bound.margin, bound.source)
            for bound in found.bounds
            if bound.name == f"{error} error"
        ]
        if not rows:
            raise UnavailableError(f"{results.method!r} has no bound of the {error} error to draw. {_why(found.notes)}")
    data = pd.DataFrame(rows, columns=["delta", "value", "trivial", "margin", "source"])
    training = results.delta_errors([0.0], normalised=False)[_AT_ZERO[error]].iloc[0]
    data.insert(4, "training", training)
    return data.sort_values("delta", ignore_index=True)


def _why(notes: Sequence[str]) -> str:
    return " ".join(notes) or "Its thresholds have no margins."


def bounds(
    results: DrawnRanker, ax: Axes | None = None, *, error: str = "absolute", deltas: Sequence[float] | None = None
) -> Axes:
    """The margin bound of an error against delta, the chance that it fails; the trivial bound and the training error.

    Parameters
    ----------
    ax : matplotlib axes, optional
    error : {"absolute", "classification"}
    deltas : sequence of float in (0, 1), optional
        19 from 0.001 to 0.5 if not given.

    Raises
    ------
    UnavailableError
        The fit has no margin bound.
    """
    data = bounds_data(results, error=error, deltas=deltas)
    ax = style.axes(ax, height=3.4)
    ax.set_xscale("log")
    ticks = [tick for tick in _TICKS if data["delta"].min() <= tick <= data["delta"].max()]
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.minorticks_off()
    ax.plot(data["delta"], data["value"], color=style.RIGHT, linewidth=1.6, zorder=3)
    lines = {"bound": data["value"], "largest possible": data["trivial"], "training error": data["training"]}
    for name, dashes in (("largest possible", (0, (4, 3))), ("training error", (0, (1, 2)))):
        ax.axhline(lines[name].iloc[0], color=style.MUTED, linewidth=1.0, linestyle=dashes, zorder=2)
    if data["delta"].min() < _USUAL < data["delta"].max():
        ax.axvline(_USUAL, color=style.FAINT, linewidth=1.0, zorder=1)
    ax.set_ylim(0.0, 1.08 * max(float(line.max()) for line in lines.values()))
    colours = dict.fromkeys(lines, style.MUTED) | {"bound": style.RIGHT}
    style.curve_labels(ax, {name: line.to_frame("value") for name, line in lines.items()}, colours)
    return style.named(ax, "delta, the chance that the bound fails", f"{error} error", data["source"].iloc[0])

"""How C was chosen by cross-validation."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pandas as pd

from ..exceptions import UnavailableError
from . import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..model.fit import Selection
    from ..results.base import OrdinalResults


def selection_data(results: OrdinalResults) -> pd.DataFrame:
    """Columns C (growing), cost (mean of the held-out rows), std_error (over the folds), chosen."""
    found = _selection(results)
    chosen = [place == found.chosen for place in range(found.C.size)]
    return pd.DataFrame({"C": found.C, "cost": found.cost, "std_error": found.error, "chosen": chosen})


def _selection(results: OrdinalResults) -> Selection:
    found = getattr(results.fit, "selection", None)
    if found is None:
        raise UnavailableError(f"{results.method!r} chose nothing by cross-validation: fit with C='cv'.")
    return cast("Selection", found)


def selection(results: OrdinalResults, ax: Axes | None) -> Axes:
    """Draw `selection_data`: cost with one standard error on either side, the choice marked."""
    data = selection_data(results)
    ax = style.axes(ax, height=3.4)
    ax.set_xscale("log")
    ax.errorbar(
        data["C"], data["cost"], data["std_error"], color=style.RIGHT, ecolor=style.MUTED, elinewidth=1.2, linewidth=1.4
    )
    ax.plot(data["C"], data["cost"], "o", color=style.RIGHT, markersize=4, linestyle="none")
    best = data[data["chosen"]].iloc[0]
    ax.plot(best["C"], best["cost"], "o", color=style.WRONG, markersize=8, zorder=5)
    ax.annotate(
        f"C = {best['C']:g}",
        (best["C"], best["cost"]),
        xytext=(0, -14),
        textcoords="offset points",
        ha="center",
        va="top",
        color=style.WRONG,
        fontsize=style.SMALL,
    )
    ax.margins(y=0.18)
    return style.named(ax, "C", "cost of held-out rows", f"{_selection(results).folds}-fold cross-validation")

"""How C, and gamma of the kernel, were chosen by cross-validation."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
import pandas as pd

from ..exceptions import UnavailableError
from . import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..model.fit import Selection
    from .drawn import DrawnRanker


def selection_data(results: DrawnRanker) -> pd.DataFrame:
    """Columns C, gamma where it was chosen, cost, std_error, chosen."""
    found = _selection(results)
    chosen = [place == found.chosen for place in range(found.C.size)]
    data = pd.DataFrame({"C": found.C, "cost": found.cost, "std_error": found.error, "chosen": chosen})
    if found.gamma is not None:
        data.insert(1, "gamma", found.gamma)
    return data


def _selection(results: DrawnRanker) -> Selection:
    found = getattr(results.fit, "selection", None)
    if found is None:
        has_C = hasattr(results.method, "C")
        how = "fit with C='cv'" if has_C else "it has no C, as 'redsvm' and others have, nor C='cv'"
        raise UnavailableError(f"{results.method!r} chose nothing by cross-validation: {how}.")
    return cast("Selection", found)


def selection(results: DrawnRanker, ax: Axes | None = None) -> Axes:
    """Cost of held-out rows against C or gamma, one standard error on either side; of both as a field of numbers.

    Of C="bound" it is the bound at each C.

    Raises
    ------
    UnavailableError
        Nothing was chosen, neither by cross-validation nor by a bound.
    """
    data, found = selection_data(results), _selection(results)
    if "gamma" not in data or data["gamma"].nunique() == 1:
        ax = _curve(data, "C", ax)
    elif data["C"].nunique() == 1:
        ax = _curve(data, "gamma", ax)
    else:
        ax = _field(data, ax)
    title = f"{found.folds}-fold cross-validation" if found.folds else "C by its bound"
    ax.set_title(title, loc="left", color=style.INK, fontsize=style.SMALL + 1.5)
    return ax


def _curve(data: pd.DataFrame, name: str, ax: Axes | None) -> Axes:
    """Cost against one of them, one standard error on either side."""
    ax = style.axes(ax, height=3.4)
    ax.set_xscale("log")
    ax.errorbar(
        data[name],
        data["cost"],
        data["std_error"],
        color=style.RIGHT,
        ecolor=style.MUTED,
        elinewidth=1.2,
        linewidth=1.4,
    )
    ax.plot(data[name], data["cost"], "o", color=style.RIGHT, markersize=4, linestyle="none")
    best = data[data["chosen"]].iloc[0]
    ax.plot(best[name], best["cost"], "o", color=style.WRONG, markersize=8, zorder=5)
    ax.annotate(
        f"{name} = {best[name]:g}",
        (best[name], best["cost"]),
        xytext=(0, -14),
        textcoords="offset points",
        ha="center",
        va="top",
        color=style.WRONG,
        fontsize=style.SMALL,
    )
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
    ax.imshow(colours, aspect="auto", origin="lower", interpolation="nearest")
    ax.set_xticks(range(columns), [_power(float(value)) for value in cost.columns])
    ax.set_yticks(range(rows), [_power(float(value)) for value in cost.index])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    width, height = style.inches(ax)
    size = min(style.SMALL, 72.0 * min(0.3 * width / columns, 0.55 * height / rows))
    for (i, j), value in np.ndenumerate(values):
        ink = style.text_colour(colours[i, j])
        ax.text(j, i, f"{value:.3g}", ha="center", va="center", color=ink, fontsize=size)
    best = data[data["chosen"]].iloc[0]
    j, i = list(cost.columns).index(best["C"]), list(cost.index).index(best["gamma"])
    ax.add_patch(Rectangle((j - 0.5, i - 0.5), 1.0, 1.0, fill=False, edgecolor=style.WRONG, linewidth=2.0, zorder=5))
    return style.named(ax, "C", "gamma")


def _power(value: float) -> str:
    """2 to an exponent where it is whole, else the number."""
    exponent = np.log2(value)
    return f"$2^{{{exponent:.0f}}}$" if exponent == round(exponent) else f"{value:.3g}"

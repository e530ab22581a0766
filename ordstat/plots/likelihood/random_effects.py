"""Effects of groups in order of their size, with conditional limits: a caterpillar plot."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri

from ..._typing import AnyArray
from ...checks import fraction
from .. import style

_TALLEST = 8.0  # inches of a panel, however many groups it has
_FEW, _MANY = 40, 150  # groups from which lines are thinner


def ranef_frame(results: Any, level: float) -> pd.DataFrame:
    """Conditional modes with limits, in the order drawn: by the mode of a term's first column, upwards."""
    z = float(ndtri(0.5 + 0.5 * fraction("level", level)))
    frame: pd.DataFrame = results.ranef()
    frame = frame.assign(lower=frame["mode"] - z * frame["sd"], upper=frame["mode"] + z * frame["sd"])
    parts = []
    for _, term in frame.groupby("term", sort=False):
        q = term["name"].nunique()
        order = np.argsort(term["mode"].to_numpy()[::q], kind="stable")
        parts.append(term.iloc[(order[:, None] * q + np.arange(q)).reshape(-1)])
    return pd.concat(parts, ignore_index=True)


def draw_ranef(data: pd.DataFrame, ax: Any, level: float) -> AnyArray:
    parts = list(data.groupby(["term", "name"], sort=False))
    most = max(len(part) for _, part in parts)
    columns = style.columns_for(len(parts))
    width = 6.4 if columns == 1 else 3.4 * columns
    panels = style.panels(ax, len(parts), columns, height=min(0.9 + 0.2 * max(most, 2), _TALLEST), width=width)
    for panel, ((_, name), part) in zip(panels, parts, strict=True):
        _caterpillar(panel, part)
        style.named(panel, f"mode with {100 * level:g} % limits", "", f"{part['group'].iloc[0]}: {name}")
    seen = set()
    for panel, ((term, _), part) in zip(panels, parts, strict=True):
        texts = [""] * len(part) if term in seen else [str(label) for label in part["level"]]
        style.row_labels(panel, list(range(len(part))), texts)
        seen.add(term)
    return np.array(panels, dtype=object)


def _caterpillar(ax: Any, part: pd.DataFrame) -> None:
    n, places = len(part), np.arange(len(part))
    thin = 1.6 if n <= _FEW else (1.0 if n <= _MANY else 0.5)
    ax.axvline(0.0, color=style.MUTED, linewidth=0.8, zorder=1)
    ax.hlines(places, part["lower"], part["upper"], color=style.RIGHT, linewidth=thin)
    ax.plot(part["mode"], places, "o", color=style.RIGHT, markersize=2.0 + 2.0 * thin, linestyle="none")
    ax.set_ylim(-0.6, n - 0.4)

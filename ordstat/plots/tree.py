"""A classification tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._typing import FloatArray
from ..report.table import effect_label
from . import style
from .style import in_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LEAF = 0.62  # inches between leaves
_LEVEL = 0.95  # inches between depths
_BAR = 0.34  # height of the bar of a leaf, in depths
_WIDEST = 24.0  # inches of a figure
_BELOW = 0.08  # between an edge and its leaf, in depths
_LONGEST = 18  # letters of a line of a cut
_BRIEF = 8  # of a level that is written at its leaves


def tree_frame(results: Any, round: int, split: int | None) -> pd.DataFrame:
    """The nodes and where they are drawn."""
    nodes = results.nodes(round, _first_split(results, split))
    numbers = [int(number) for number in nodes.index]
    leaves = [n for n, leaf in zip(numbers, nodes["leaf"], strict=True) if leaf]
    place = {n: i / max(len(leaves) - 1, 1) for i, n in enumerate(leaves)}
    for n in sorted(set(numbers) - set(leaves), reverse=True):
        place[n] = (place[2 * n] + place[2 * n + 1]) / 2.0
    if len(leaves) == 1:
        place = {1: 0.5}
    extra = {"x": [place[n] for n in numbers], "depth": [n.bit_length() - 1 for n in numbers]}
    return pd.DataFrame(pd.concat([pd.DataFrame(extra, index=nodes.index), nodes], axis=1).reset_index())


def draw_tree(results: Any, data: pd.DataFrame, ax: Axes | None, round: int, split: int | None) -> Axes:
    split = _first_split(results, split)
    classes = list(data.columns)[list(data.columns).index("leaf") + 1 :]
    n_leaves, depth = int(data["leaf"].sum()), int(data["depth"].max())
    width = min(max(_LEAF * n_leaves + 1.6, 4.6), _WIDEST)
    ax = style.axes(ax, height=min(_LEVEL * (depth + 1) + 0.9, 12.0), width=width)
    gap = 1.0 / max(n_leaves - 1, 1)
    at = data.set_index("node")
    for node, row in at.drop(index=1).iterrows():  # elbows to the parent, as thick as the share of rows that takes them
        above = at.loc[int(str(node)) // 2]
        xs, depths = [above["x"], row["x"], row["x"]], [above["depth"], above["depth"], row["depth"]]
        thick = 1.0 + 5.0 * float(row["weight"]) / float(at["weight"].iloc[0])
        ax.plot(xs, depths, color=style.FAINT, linewidth=thick, solid_capstyle="butt", zorder=1)
    colours = style.level_colours(len(classes))
    brief = max(len(str(name)) for name in classes) <= _BRIEF
    for leaf in data[data["leaf"]].to_dict("records"):
        shares = np.array([leaf[name] for name in classes])
        _leaf(ax, leaf, shares, colours, min(0.7 * gap, 0.22), brief)
    box = {"facecolor": "white", "edgecolor": "none", "pad": 1.5, "alpha": 0.9}
    for node, row in at[~data["leaf"].to_numpy()].iterrows():
        words = in_lines(cut_words(str(at.loc[2 * int(str(node)), "cut"])), _LONGEST, 3)
        style.text(ax, row["x"], row["depth"], words, bbox=box, zorder=3)
    style.level_key(ax, classes, colours)
    ax.set_xlim(-0.55 * gap, 1.0 + 0.55 * gap) if n_leaves > 1 else ax.set_xlim(0.0, 1.0)
    ax.set_ylim(depth + _BAR + 0.62, -0.35)
    ax.set_axis_off()
    which = "" if split is None else f", split {split}"
    several = "" if results.fit.votes.rounds == 1 else f"round {round}{which}: "
    title = f"{several}{n_leaves} leaves" if several or split is None else f"split {split}: {n_leaves} leaves"
    return style.named(ax, title=f"{results.design.response}, {title}; rows to the left where the cut holds")


def _first_split(results: Any, split: int | None) -> int | None:
    """The split asked for, or the first of those that trees belong to."""
    K, votes = len(results.levels), results.fit.votes
    return 1 if split is None and K > 2 and (votes.n_classes != K or votes.per_round > 1) else split


def _leaf(ax: Axes, row: dict[Any, Any], shares: FloatArray, colours: list[Any], width: float, brief: bool) -> None:
    """A bar of the shares, and below it the level, unless the key alone has room for it, and the rows."""
    top = row["depth"] + _BELOW
    for low, share, colour in zip(np.cumsum(shares) - shares, shares, colours, strict=True):
        # The lowest level at the bottom.
        bottom = top + _BAR * (1.0 - low)
        ax.bar(row["x"], -_BAR * share, width=width, bottom=bottom, color=colour, zorder=2)
    label = f"{row['level']}\n({row['weight']:.4g})" if brief else f"{row['weight']:.4g}"
    style.text(ax, row["x"], top + _BAR + 0.06, label, va="top")


def cut_words(cut: str) -> str:
    """A cut as it is read: of a column of a factor its level, of a number five digits.

    Examples
    --------
    >>> cut_words("temp[T.warm] <= 0.5"), cut_words("income <= 1.7999999")
    ('temp ≠ warm', 'income <= 1.8')
    """
    name, sign, number = cut.rpartition(" <= ")
    label = effect_label(name, {})
    if number == "0.5" and label != name and " × " not in label:
        return label.replace(": ", " ≠ ", 1)
    return f"{label}{sign}{float(number):.5g}" if sign else cut

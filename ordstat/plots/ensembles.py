"""Ensembles: errors after every round, and single trees."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._typing import FloatArray
from ..checks import one_of
from ..exceptions import UnavailableError
from ..formula.names import ColumnName, shown_factor
from . import style
from .style import Sheet, in_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes


#: Errors and the names of their axes; trees and other ensembles have some of them.
ERRORS = {
    "absolute": "mean absolute error",
    "classification": "classification error",
    "squared": "mean squared error",
    "cost": "mean cost",
    "loss": "mean loss",
}
_FITTED = "rows of the fit"
_NEW = "new data"
_HELD = "held out"
_COLOURS = {
    _FITTED: style.RIGHT,
    _NEW: style.WRONG,
    _HELD: "#cc79a7",
    "loss": style.RIGHT,
    "its bound": style.MUTED,
}
_POINTS = 250  # most rounds drawn


def rounds_frame(
    results: Any, newdata: Any, error: str, every: int | None
) -> pd.DataFrame:
    """Errors of an ensemble by round: round, rows (whose error it is), value."""
    if not hasattr(results, "staged_errors"):
        raise UnavailableError(f"{results.method} has no rounds to draw.")
    others = ("squared",) if "loss" in results.rounds else ("cost", "loss")
    one_of("error", error, [name for name in ERRORS if name not in others])
    made = results.fit.stages[-1]
    if made == 0:
        raise UnavailableError(
            f"no round was made ({results.fit.trace.message}): there is nothing to"
            " draw."
        )
    stages: Iterable[int] = range(1, made + 1)
    if made > _POINTS:
        stages = np.unique(np.rint(np.geomspace(1, made, _POINTS)).astype(np.intp))
    chosen = {"rounds": [*map(int, stages)]} if every is None else {"every": every}
    staged = results.staged_errors(None if error == "loss" else newdata, **chosen)
    if error == "loss":
        record = results.rounds.loc[staged.index]
        names = {"loss": "loss", "bound": "its bound", "held_out": _HELD}
        wide = record[[name for name in names if name in record]].rename(columns=names)
    else:
        curves = {_FITTED: staged[error]}
        if newdata is not None:
            curves[_NEW] = staged[f"new {error}"]
        wide = pd.DataFrame(curves)
    return pd.DataFrame(
        wide.reset_index().melt(id_vars="round", var_name="rows", value_name="value")
    )


def draw_rounds(sheet: Sheet, data: pd.DataFrame, results: Any, error: str) -> Axes:
    ax = sheet.axes(height=3.4)
    lines = {str(rows): line for rows, line in data.groupby("rows", sort=False)}
    for rows, line in lines.items():
        # The bound of an exact step equals the loss: a wide line behind it stays
        # visible.
        behind = rows == "its bound"
        (drawn,) = ax.plot(
            line["round"],
            line["value"],
            color=_COLOURS[rows],
            label=rows,
            zorder=2 if behind else 3,
        )
        drawn.set(linewidth=5.0 if behind else 1.4, alpha=0.4 if behind else 1.0)
    style.named(ax, "round", ERRORS[error])
    if lines.keys() & {"loss", "its bound"}:
        ax.set_yscale("log")
    style.legend(ax)
    if "loss" in results.rounds:
        ax.set_xscale("log")
        style.plain_log_ticks(ax)
    kept = getattr(results.fit, "kept", 0)
    if 0 < kept < results.fit.stages[-1]:
        ax.axvline(kept, color=style.MUTED, linewidth=0.8, linestyle=(0, (4, 3)))
        style.note(
            ax,
            f"{kept} in use",
            (kept, 1.0),
            (-4, -2),
            ax.get_xaxis_transform(),
            ha="right",
            va="top",
        )
    return ax


_LEAF = 0.62  # inches between leaves
_LEVEL = 0.95  # inches between depths
_BAR = 0.34  # height of the bar of a leaf, in depths
_WIDEST = 24.0  # inches of a figure
_BELOW = 0.08  # between an edge and its leaf, in depths
_LONGEST = 18  # letters of a line of a cut
_BRIEF = 8  # letters of a level that is written at its leaves


def tree_frame(results: Any, round: int, split: int | None) -> pd.DataFrame:
    """The nodes and their positions."""
    if not hasattr(results, "nodes"):
        raise UnavailableError(f"{results.method} has no trees to draw.")
    nodes = results.nodes(round, _first_split(results, split))
    numbers = [int(number) for number in nodes.index]
    leaves = [n for n, leaf in zip(numbers, nodes["leaf"], strict=True) if leaf]
    x = {n: i / max(len(leaves) - 1, 1) for i, n in enumerate(leaves)}
    for n in sorted(set(numbers) - set(leaves), reverse=True):
        x[n] = (x[2 * n] + x[2 * n + 1]) / 2.0
    if len(leaves) == 1:
        x = {1: 0.5}
    extra = {
        "x": [x[n] for n in numbers],
        "depth": [n.bit_length() - 1 for n in numbers],
    }
    return pd.DataFrame(
        pd.concat([pd.DataFrame(extra, index=nodes.index), nodes], axis=1).reset_index()
    )


def draw_tree(
    sheet: Sheet, data: pd.DataFrame, results: Any, round: int, split: int | None
) -> Axes:
    split = _first_split(results, split)
    classes = list(data.columns)[list(data.columns).index("leaf") + 1 :]
    n_leaves = int(data["leaf"].sum())
    depth = int(data["depth"].max())
    width = min(max(_LEAF * n_leaves + 1.6, 4.6), _WIDEST)
    ax = sheet.axes(height=min(_LEVEL * (depth + 1) + 0.9, 12.0), width=width)
    gap = 1.0 / max(n_leaves - 1, 1)
    _draw_elbows(ax, data.set_index("node"))
    colours = style.area_colours(len(classes))
    brief = max(len(str(name)) for name in classes) <= _BRIEF
    for leaf in data[data["leaf"]].to_dict("records"):
        shares = np.array([leaf[name] for name in classes])
        named = leaf | {"level": sheet.name(leaf["level"])}
        _leaf(ax, named, shares, colours, min(0.7 * gap, 0.22), brief)
    _write_cuts(ax, sheet, data.set_index("node"), results)
    style.level_key(ax, [sheet.name(level) for level in classes], colours)
    beyond = 0.55 * gap if n_leaves > 1 else 0.0
    ax.set_xlim(-beyond, 1.0 + beyond)
    ax.set_ylim(depth + _BAR + 0.62, -0.35)
    ax.set_axis_off()
    heading = [f"{sheet.name(results.design.response)}: {n_leaves} leaves"]
    if results.fit.votes.rounds > 1:
        heading.append(f"round {round}")
    if split is not None:
        heading.append(f"split {split}")
    return style.named(
        ax, title=f"{', '.join(heading)}. Left where the condition holds"
    )


def _draw_elbows(ax: Axes, nodes: pd.DataFrame) -> None:
    """Lines from the nodes to their parents, thicker for a larger share of rows."""
    total = float(nodes["weight"].iloc[0])
    looks: dict[str, Any] = {"color": style.faint(), "solid_capstyle": "butt"}
    for node, row in nodes.drop(index=1).iterrows():
        parent = nodes.loc[int(str(node)) // 2]
        thick = 1.0 + 5.0 * float(row["weight"]) / total
        xs = [parent["x"], row["x"], row["x"]]
        depths = [parent["depth"], parent["depth"], row["depth"]]
        ax.plot(xs, depths, linewidth=thick, zorder=1, **looks)


def _write_cuts(ax: Axes, sheet: Sheet, nodes: pd.DataFrame, results: Any) -> None:
    """The conditions of the inner nodes; each is the cut of the left child."""
    names = results.design.spec.column_names["location"]
    columns = {column.text: column for column in names}
    box = {"facecolor": tuple(style.paper()), "edgecolor": "none", "pad": 1.5}
    for node, row in nodes[~nodes["leaf"].to_numpy()].iterrows():
        cut = str(nodes.loc[2 * int(str(node)), "cut"])
        words = in_lines(cut_words(cut, columns, sheet.labels), _LONGEST, 3)
        style.text(
            ax, row["x"], row["depth"], words, bbox=box | {"alpha": 0.9}, zorder=3
        )


def _first_split(results: Any, split: int | None) -> int | None:
    """The given split, or the first if trees belong to splits."""
    K = len(results.levels)
    votes = results.fit.votes
    by_split = K > 2 and (votes.n_classes != K or votes.per_round > 1)
    return 1 if split is None and by_split else split


def _leaf(
    ax: Axes,
    row: dict[Any, Any],
    shares: FloatArray,
    colours: list[Any],
    width: float,
    brief: bool,
) -> None:
    """A bar of the shares; below it the level (if `brief`) and the number of rows."""
    top = row["depth"] + _BELOW
    for low, share, colour in zip(
        np.cumsum(shares) - shares, shares, colours, strict=True
    ):
        # The lowest level at the bottom.
        bottom = top + _BAR * (1.0 - low)
        ax.bar(
            row["x"], -_BAR * share, width=width, bottom=bottom, color=colour, zorder=2
        )
    if brief:
        label = f"{row['level']}\n({row['weight']:.4g})"
    else:
        label = f"{row['weight']:.4g}"
    style.text(ax, row["x"], top + _BAR + 0.06, label, va="top")


def cut_words(
    cut: str, columns: Mapping[str, ColumnName], labels: Mapping[str, str]
) -> str:
    """A readable cut: the level of a factor, or a number with five digits.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp", datasets.load("wine"), "cart")
    >>> names = fit.design.spec.column_names["location"]
    >>> columns = {column.text: column for column in names}
    >>> cut_words("temp[T.warm] <= 0.5", columns, {"temp": "Temperature"})
    'Temperature ≠ warm'
    """
    name, sign, number = cut.rpartition(" <= ")
    if not sign:
        return cut
    column = columns[name]
    *others, piece = column.pieces
    if (
        number == "0.5"
        and not others
        and piece.level is not None
        and name not in labels
    ):
        return f"{shown_factor(piece.factor, labels)} ≠ {piece.level}"
    return f"{column.shown(labels)}{sign}{float(number):.5g}"

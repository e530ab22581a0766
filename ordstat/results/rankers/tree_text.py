"""A tree as a frame of nodes and as text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ...model.trees.tree import Tree


def node_frame(tree: Tree, names: Sequence[str], classes: Sequence[str], lower: bool) -> pd.DataFrame:
    """One row a node, from the root down, left before right.

    Parameters
    ----------
    tree : Tree
    names : of the columns
    classes : of the tree
    lower : bool
        Whether a tie goes to the lower class, rather than to that of the parent.
    """
    order, numbers = _walk(tree)
    labels = np.argmax(tree.values, axis=1) if lower else tree.labels
    totals = tree.values.sum(axis=1)
    frame = pd.DataFrame(
        {
            "cut": [_cut(tree, node, names) for node in order],
            "weight": totals[order],
            "deviance": tree.deviances[order],
            "level": [classes[labels[node]] for node in order],
            "leaf": (tree.column < 0)[order],
        },
        index=pd.Index(numbers, name="node"),
    )
    shares = pd.DataFrame((tree.values / totals[:, None])[order], columns=list(classes), index=frame.index)
    return pd.concat([frame, shares], axis=1)


def _walk(tree: Tree) -> tuple[list[int], list[int]]:
    """Nodes from the root down, left before right, and their numbers 1, 2 i, 2 i + 1."""
    order, numbers, stack = [], [], [(0, 1)]
    while stack:
        node, number = stack.pop()
        order.append(node)
        numbers.append(number)
        if tree.column[node] >= 0:
            left = int(tree.child[node])
            stack += [(left + 1, 2 * number + 1), (left, 2 * number)]
    return order, numbers


def _cut(tree: Tree, node: int, names: Sequence[str]) -> str:
    above = int(tree.parent[node])
    if above < 0:
        return "all rows"
    sign = "<=" if tree.child[above] == node else ">"
    return f"{names[tree.column[above]]} {sign} {tree.cut[above]:.6g}"


def tree_text(nodes: pd.DataFrame) -> str:
    """The nodes as lines, indented by depth, a star at leaves."""
    lines = ["node) cut  weight  deviance  level"]
    for number, row in zip(nodes.index, nodes.itertuples(index=False), strict=True):
        indent, star = "  " * (int(number).bit_length() - 1), " *" if row.leaf else ""
        lines.append(f"{indent}{number}) {row.cut}  {row.weight:.6g}  {row.deviance:.4g}  {row.level}{star}")
    return "\n".join(lines)

"""Single trees of a fit as frames and as text, and what the columns contribute to all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ...checks import whole
from ...exceptions import OptionError
from ...model.trees.tree import Tree
from .tree_rounds import FittedTrees


def tree_importance(fit: FittedTrees) -> pd.DataFrame:
    """What the columns contribute to the trees, most important first.

    Returns
    -------
    pandas.DataFrame
        importance (share of the fall of the deviance due to the column's cuts, over all trees, each weighted by the
        vote of its round; the sum is 1) and cuts (their number); the index has the columns of the model.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", datasets.load("wine"), "cart")
    >>> fit.importance()["importance"].round(2).to_dict()
    {'temp[T.warm]': 0.69, 'contact[T.yes]': 0.31}
    """
    votes, n_columns = fit.fit.votes, len(fit.design.names)
    fall, cuts = np.zeros(n_columns), np.zeros(n_columns, dtype=np.int64)
    for i, tree in enumerate(votes.trees):
        round_, s = divmod(i, votes.per_round)
        round_weight = votes.round_weights[round_, min(s, votes.round_weights.shape[1] - 1)]
        if round_weight > 0:
            fall += round_weight * tree.importance(n_columns) / float(tree.values[0].sum())
            cuts += np.bincount(tree.column[tree.column >= 0], minlength=n_columns)
    share = fall / (fall.sum() or 1.0)
    frame = pd.DataFrame({"importance": share, "cuts": cuts}, index=pd.Index(fit.design.names, name="column"))
    return frame.sort_values("importance", ascending=False, kind="stable")


def tree_nodes(fit: FittedTrees, round: int = 1, split: int | None = None) -> pd.DataFrame:
    """One tree as a frame, a node after its parent and its left relatives.

    Parameters
    ----------
    round : int
        1, 2, ...
    split : int, optional
        1, ..., K-1: the tree of "rank at most `split`, or above?"; only where trees belong to splits.

    Returns
    -------
    pandas.DataFrame
        The index numbers the nodes: 1 is the root, 2i and 2i + 1 are below i. Columns cut (what brings a row here
        from the node above), weight, deviance, level (predicted), leaf, and the share of each level.

    Raises
    ------
    OptionError
        There is no such tree.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp", datasets.load("wine"), "cart")
    >>> fit.nodes().columns.tolist()
    ['cut', 'weight', 'deviance', 'level', 'leaf', '1', '2', '3', '4', '5']
    """
    votes = fit.fit.votes
    # a tie in a leaf goes to the lower level where the tree is the whole ranker
    lower = votes.per_round == 1 and votes.rounds == 1
    return node_frame(_tree(fit, round, split), fit.design.names, _classes(fit, split), lower)


def tree_in_words(fit: FittedTrees, round: int = 1, split: int | None = None) -> str:
    """One tree in words, as R prints trees.

    Parameters
    ----------
    round, split
        As in `nodes`.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp", datasets.load("wine"), "cart")
    >>> print(fit.text())
    node) cut  weight  deviance  level
    1) all rows  72  207.4  3
      2) temp[T.warm] <= 0.5  36  83.73  2 *
      3) temp[T.warm] > 0.5  36  96.53  3 *
    """
    return tree_text(tree_nodes(fit, round, split))


def _tree(fit: FittedTrees, round: int, split: int | None) -> Any:
    votes = fit.fit.votes
    by_split = votes.n_classes != fit.design.sample.n_levels or votes.per_round > 1
    if by_split != (split is not None) and not (votes.n_levels == 2 and split in (None, 1)):
        most = f"give split=1 to {votes.per_round}" if by_split else "leave split out"
        raise OptionError(f"the trees of {fit.method!r} are {'of one' if by_split else 'not of a'} split: {most}.")
    for name, value, most_of in (("round", round, votes.rounds), ("split", split or 1, votes.per_round)):
        whole(name, value, 1, most_of)
    return votes.trees[(round - 1) * votes.per_round + (split or 1) - 1]


def _classes(fit: FittedTrees, split: int | None) -> list[str]:
    if split is None:
        return [str(level) for level in fit.levels]
    return [f"<= {fit.levels[split - 1]}", f"> {fit.levels[split - 1]}"]


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

"""What `fit.plot` offers for trees and their ensembles."""

from __future__ import annotations

from dataclasses import dataclass

from .accessor import Plots
from .drawn import DrawnTrees, Picture
from .tree import tree as draw_tree
from .tree import tree_data as tree_frame
from .tree_rounds import rounds as draw_rounds
from .tree_rounds import rounds_data as rounds_frame


@dataclass(frozen=True, eq=False, repr=False)
class TreePlots(Plots):
    """Pictures of trees: those of every fit, and the trees themselves.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"), method="cart", leaves=2)
    >>> fit.plot.tree_data()[["node", "x", "depth", "level"]].to_numpy().tolist()
    [[1, 0.5, 0, '3'], [2, 0.0, 1, '2'], [3, 1.0, 1, '3']]
    """

    results: DrawnTrees

    rounds = Picture(draw_rounds)
    rounds_data = Picture(rounds_frame)
    tree = Picture(draw_tree)
    tree_data = Picture(tree_frame)

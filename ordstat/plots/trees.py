"""What `fit.plot` offers for trees and their ensembles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from .accessor import Plots

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .drawn import DrawnTrees


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

    def rounds(self, ax: Axes | None = None, *, newdata: Any = None, error: str = "absolute", every: int = 1) -> Axes:
        """Error after every round, on the rows of the fit, out of bag where rows are drawn, and on new data.

        Parameters
        ----------
        ax : matplotlib axes, optional
        newdata : data frame, optional
            With the response.
        error : {"absolute", "classification", "squared"}
        every : int
            Only every so many rounds, and the last.
        """
        from .tree_rounds import rounds

        return rounds(self.results, ax, newdata, error, every)

    def rounds_data(self, *, newdata: Any = None, error: str = "absolute", every: int = 1) -> pd.DataFrame:
        """Columns round, rows (whose error it is), value."""
        from .tree_rounds import rounds_data

        return rounds_data(self.results, newdata, error, every)

    def tree(self, ax: Axes | None = None, *, round: int = 1, split: int | None = None) -> Axes:
        """One tree: cuts at its nodes, the shares of the levels as bars at its leaves.

        Parameters
        ----------
        ax : matplotlib axes, optional
        round : int
            1, 2, ...
        split : int, optional
            1, ..., K-1, where trees belong to splits.
        """
        from .tree import tree

        return tree(self.results, ax, round, split)

    def tree_data(self, *, round: int = 1, split: int | None = None) -> pd.DataFrame:
        """Columns node, x, depth, and those of `nodes`."""
        from .tree import tree_data

        return tree_data(self.results, round, split)

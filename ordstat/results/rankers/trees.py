"""Results of trees and of their aggregation."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ...model.trees.fit import TreeFit
from ...plots.accessor import TreePlots
from ..base import OrdinalResults
from ..report.render import Report, Table
from ..report.sections import error_tables, figures, ranker_report
from .fitted_trees import FittedTrees, out_of_bag, tree_errors, tree_importance, tree_in_words, tree_nodes
from .margin import FittedVotes
from .staged import after_rounds, staged_predictions, with_more_rounds

# Columns of the table of importance in a summary.
_SHOWN = 10
# Leaves of a tree that a summary draws.
_DRAWN = 16


def tree_figures(fit: FittedTrees) -> pd.DataFrame:
    """One row of figures of the whole fit."""
    found = fit.fit.out_of_bag
    wrong = np.nan if found is None else found.errors[-1, 0]
    return figures(fit).assign(rounds=fit.fit.votes.rounds, out_of_bag_error=wrong)


def tree_report(fit: FittedTrees) -> Report:
    """The summary as data."""
    votes = fit.fit.votes
    title = "Classification tree" if len(votes.trees) == 1 else "Aggregated trees"
    header = []
    if (found := fit.fit.out_of_bag) is not None:
        wrong, absolute, squared = found.errors[-1]
        text = f"{wrong:.4g} wrong, absolute error {absolute:.4g}, squared {squared:.4g}"
        header.append(("Out of bag", f"{text}, of {found.share[-1]:.1%} of the rows"))
    alone = len(votes.trees) == 1 and votes.trees[0].n_leaves <= _DRAWN
    drawn = [_node_table(fit)] if alone else []
    return ranker_report(fit, title, [*drawn, _importance_table(fit), *error_tables(fit)], header)


def _node_table(fit: FittedTrees) -> Table:
    nodes = tree_nodes(fit)
    depth = [len(f"{number:b}") - 1 for number in nodes.index]
    names = ["  " * d + cut for d, cut in zip(depth, nodes["cut"], strict=True)]
    frame = nodes[["weight", "deviance", "level"]].set_axis(pd.Index(names, name="node"), axis=0)
    frame["leaf"] = np.where(nodes["leaf"], "*", "")
    return Table(title="The tree: cuts, and the level each node predicts", frame=frame, formats={"weight": "g"})


def _importance_table(fit: FittedTrees) -> Table:
    frame = tree_importance(fit)
    more = len(frame) > _SHOWN
    return Table(
        title="Importance of the columns: share of the fall of the deviance",
        frame=frame.head(_SHOWN),
        formats={"importance": ".3f", "cuts": "int"},
        note=f"The first {_SHOWN} of {len(frame)}; all are in .importance()." if more else "",
    )


class TreeResults(FittedTrees, FittedVotes, OrdinalResults):
    """A fitted tree, or many of them that vote; ties go to the lower level.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> wine = datasets.load("wine")
    >>> fit = ordfit("rating ~ temp + contact", data=wine, method="ordinal-cart")
    >>> fit.predict(wine.head(2), type="prob").round(3)
           1      2      3      4      5
    0  0.271  0.333  0.208  0.125  0.062
    1  0.271  0.333  0.208  0.125  0.062
    """

    fit: TreeFit

    glance = tree_figures
    report = tree_report
    at = after_rounds
    more = with_more_rounds
    staged = staged_predictions
    staged_errors = tree_errors
    out_of_bag_errors = out_of_bag
    importance = tree_importance
    nodes = tree_nodes
    text = tree_in_words

    @property
    def plot(self) -> TreePlots:
        """Pictures of the fit, by matplotlib: `fit.plot.tree()`."""
        return TreePlots(self)

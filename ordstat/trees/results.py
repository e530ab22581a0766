"""Results of trees and ensembles of trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, cast

import numpy as np
import pandas as pd

from .._typing import FloatArray
from ..boosting.results import RoundsResults, importance_frame, importance_table
from ..checks import whole
from ..exceptions import OptionError
from ..fit import Fit
from ..formula.sample import Rows
from ..judging.absent_levels import WideRule
from ..judging.response_numbers import OF_DISTRIBUTIONS
from ..rankers import VoteResults
from ..report.frames import NotedFrame
from ..report.render import Report, Table
from ..report.sections import error_tables, figures, ranker_report
from ..target import Target
from .ensembles import TreeFit
from .tree import Tree

# Most leaves of a tree in a summary; most nodes, and depth of larger trees, in a short
# summary.
_DRAWN = 16
_SHORT = 12
_UPPER = 2


def _shares(fit: TreeFit, votes: FloatArray) -> FloatArray:
    """(N, K) probabilities from votes (N, K); 0 for levels without rows."""
    probabilities = fit.votes.aggregation.probabilities
    if not isinstance(fit.rule, WideRule):
        return probabilities(votes)
    present = fit.rule.present
    return present.spread_probabilities(probabilities(votes[:, present.codes]))


class ShareResults(VoteResults):
    """A ranker whose votes give probabilities; ties go to the lower level."""

    fit: TreeFit

    predicts: ClassVar[tuple[str, ...]] = ("class", "prob", "cum_prob", "votes")
    augments: ClassVar[tuple[str, ...]] = ("class", "prob")

    kind = "Classification trees"

    def _uncalibrated(self, fit: Fit) -> bool:
        """Whether calibration was requested, but this fit has none."""
        return self.calibrated is not None and fit.calibration is None

    def _predicted(self, target: Target, type: str) -> pd.Series | pd.DataFrame:
        if type in ("prob", "cum_prob"):
            p = _shares(self.fit, target.scores)
            if type == "cum_prob":
                p = np.cumsum(p, axis=1).clip(max=1.0)
            return target.frame(p, self.levels)
        return super()._predicted(target, type)

    def _probabilities(
        self, fit: Fit, rows: Rows, scores: FloatArray
    ) -> FloatArray | None:
        if self._uncalibrated(fit):
            return None
        return _shares(cast(TreeFit, fit), scores)


class TreeResults(RoundsResults, ShareResults):
    """A fitted tree or ensemble of trees; ties go to the lower level.

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

    with_empty_levels = ShareResults
    error_columns = ("classification", "absolute", "squared")

    @property
    def prediction_types(self) -> tuple[str, ...]:
        """Values of `type` in `predict`; without probabilities if a calibration belongs
        to other rounds.
        """
        types = super().prediction_types
        if not self._uncalibrated(self.fit):
            return types
        lost = ("prob", "cum_prob", *OF_DISTRIBUTIONS)
        return tuple(type for type in types if type not in lost)

    @property
    def rounds(self) -> pd.DataFrame:
        """One row for each round: columns error (weighted, NaN without weights) and
        vote. If the trees of the thresholds vote separately, each threshold has its own
        columns; its vote is 0 after its boosting has ended.
        """
        errors = self.fit.errors
        round_weights = self.fit.votes.round_weights
        index = pd.RangeIndex(1, len(round_weights) + 1, name="round")
        if round_weights.shape[1] == 1:
            return pd.DataFrame(
                {"error": errors[:, 0], "vote": round_weights[:, 0]}, index=index
            )
        columns = pd.MultiIndex.from_product(
            [["error", "vote"], self.threshold_names], names=["", "split"]
        )
        return pd.DataFrame(
            np.hstack([errors, round_weights]), index=index, columns=columns
        )

    def glance(self) -> pd.DataFrame:
        """One-row summary of the fit."""
        return NotedFrame.of(figures(self).assign(rounds=self.fit.votes.rounds))

    def gain_importance(self) -> pd.DataFrame:
        """Importance of the columns, most important first.

        Returns
        -------
        pandas.DataFrame
            importance: share of the reduction of the deviance, over all trees weighted
            by the votes of their rounds. cuts: number of cuts on the column.
        """
        votes = self.fit.votes
        n_columns = len(self.design.names)
        fall = np.zeros(n_columns)
        cuts = np.zeros(n_columns, dtype=np.int64)
        for i, tree in enumerate(votes.trees):
            round_, s = divmod(i, votes.per_round)
            round_weight = votes.round_weights[
                round_, min(s, votes.round_weights.shape[1] - 1)
            ]
            if round_weight > 0:
                fall += (
                    round_weight
                    * tree.importance(n_columns)
                    / float(tree.values[0].sum())
                )
                cuts += np.bincount(tree.column[tree.column >= 0], minlength=n_columns)
        return importance_frame(self, importance=fall / (fall.sum() or 1.0), cuts=cuts)

    def nodes(self, round: int = 1, split: int | None = None) -> pd.DataFrame:
        """One tree as a frame, parents before children, left before right.

        Parameters
        ----------
        round : int
            1, 2, ...
        split : int, optional
            1, ..., K-1: the tree of "above level `split`?". Only if trees belong to
            thresholds.

        Returns
        -------
        pandas.DataFrame
            Index: node 1 is the root, and 2i and 2i + 1 are the children of i. Columns
            cut (the condition from the parent to this node), weight, deviance, level
            (predicted), leaf, and the share of each level. The tree of a threshold has
            the shares of its two sides, "<= low" and "> low".

        Raises
        ------
        OptionError
            The tree does not exist.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp", datasets.load("wine"), "cart")
        >>> fit.nodes().columns.tolist()
        ['cut', 'weight', 'deviance', 'level', 'leaf', '1', '2', '3', '4', '5']
        """
        votes = self.fit.votes
        by_split = votes.n_classes != self.design.sample.n_levels or votes.per_round > 1
        if by_split != (split is not None) and not (
            votes.n_levels == 2 and split in (None, 1)
        ):
            fix = (
                f"give split=1 to {votes.per_round}" if by_split else "leave split out"
            )
            raise OptionError(
                f"split must {'' if by_split else 'not '}be given for {self.method}:"
                f" {fix}."
            )
        whole("round", round, 1, votes.rounds)
        whole("split", split or 1, 1, votes.per_round)
        classes = [str(level) for level in self.levels]
        if split is not None:
            classes = [f"<= {self.levels[split - 1]}", f"> {self.levels[split - 1]}"]
        tree = votes.trees[(round - 1) * votes.per_round + (split or 1) - 1]
        # Ties in a leaf go to the lower level if there is a single tree.
        lower = votes.per_round == 1 and votes.rounds == 1
        return node_frame(tree, self.design.names, classes, lower)

    def text(self, round: int = 1, split: int | None = None) -> str:
        """One tree as text, in the style of R.

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
        nodes = self.nodes(round, split)
        lines = ["node) cut  weight  deviance  level"]
        for number, row in zip(nodes.index, nodes.itertuples(index=False), strict=True):
            indent = "  " * (int(number).bit_length() - 1)
            star = " *" if row.leaf else ""
            lines.append(
                f"{indent}{number}) {row.cut}  {row.weight:.6g}  {row.deviance:.4g} "
                f" {row.level}{star}"
            )
        return "\n".join(lines)

    def summary_data(self) -> Report:
        """The summary as data."""
        votes = self.fit.votes
        drawn = (
            [self._node_table()]
            if len(votes.trees) == 1 and votes.trees[0].n_leaves <= _DRAWN
            else []
        )
        section = "fit" if drawn else "model"
        importance = importance_table(
            self.gain_importance(), "the reduction of the deviance", section=section
        )
        return ranker_report(self, [*drawn, importance, *error_tables(self)])

    def _node_table(self) -> Table:
        nodes = self.nodes()
        depth = np.array([int(number).bit_length() - 1 for number in nodes.index])
        names = ["  " * d + cut for d, cut in zip(depth, nodes["cut"], strict=True)]
        frame = nodes[["weight", "deviance", "level"]].set_axis(
            pd.Index(names, name="node"), axis=0
        )
        frame["leaf"] = np.where(nodes["leaf"], "*", "")
        title = "The tree: cuts, and the predicted level of each node"
        formats = {
            "weight": "g",
            "deviance": ".1f",
        }
        table = Table(title=title, frame=frame, formats=formats)
        upper = depth <= _UPPER
        if len(frame) <= _SHORT or upper.all():
            return table
        note = (
            f"The upper {upper.sum()} of {len(frame)} nodes; all are in"
            " summary('model') and .text()."
        )
        return replace(table, brief=replace(table, frame=frame[upper], note=note))


def node_frame(
    tree: Tree, names: Sequence[str], classes: Sequence[str], lower: bool
) -> pd.DataFrame:
    """One row for each node, from the root down, left before right.

    Parameters
    ----------
    tree : Tree
    names : of the columns
    classes : of the tree
    lower : bool
        Whether ties go to the lower class, rather than to the class of the parent.
    """
    order, numbers = _walk(tree)
    labels = np.argmax(tree.values, axis=1) if lower else tree.labels
    totals = tree.values.sum(axis=1)
    columns = {
        "cut": [_cut(tree, node, names) for node in order],
        "weight": totals[order],
        "deviance": tree.deviances[order],
        "level": [classes[labels[node]] for node in order],
        "leaf": (tree.column < 0)[order],
    }
    frame = pd.DataFrame(columns, index=pd.Index(numbers, name="node"))
    shares = pd.DataFrame(
        (tree.values / totals[:, None])[order], columns=list(classes), index=frame.index
    )
    return pd.concat([frame, shares], axis=1)


def _walk(tree: Tree) -> tuple[list[int], list[int]]:
    """Nodes from the root down, left before right, numbered 1, 2 i, 2 i + 1."""
    order = []
    numbers = []
    stack = [(0, 1)]
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

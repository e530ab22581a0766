"""A fitted tree, or many of them that vote: predictions, rounds and errors, single trees, and their results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
import pandas as pd

from .._typing import FloatArray
from ..checks import whole
from ..exceptions import OptionError, UnavailableError
from ..fit import Fit
from ..fitted import FittedRanker, Target
from ..formula.sample import Rows, Sample
from ..judging.importance import GAIN_FIRST
from ..judging.rankers import FittedVotes, after_rounds, staged_predictions, stages, with_more_rounds
from ..plots.accessor import TreePlots
from ..report.frames import NotedFrame
from ..report.render import Report, Table
from ..report.sections import error_tables, figures, ranker_report
from ..results import OrdinalResults
from .ensembles import TreeFit
from .tree import Tree

if TYPE_CHECKING:
    from collections.abc import Iterator


class FittedTrees(FittedRanker):
    """A fitted tree, or many of them that vote; ties go to the lower level."""

    fit: TreeFit

    predicts: ClassVar[tuple[str, ...]] = ("class", "prob", "cum_prob", "votes")
    augments: ClassVar[tuple[str, ...]] = ("class", "prob")

    @property
    def kind(self) -> str:
        """What was fitted."""
        return "Classification tree" if len(self.fit.votes.trees) == 1 else "Aggregated trees"

    # Predictions

    @property
    def prediction_types(self) -> tuple[str, ...]:
        """Every `type` that `predict` takes; no probabilities where a calibration was for other rounds."""
        lost = ("prob", "cum_prob") if self._uncalibrated(self.fit) else ()
        return tuple(type for type in super().prediction_types if type not in lost)

    def _uncalibrated(self, fit: Fit) -> bool:
        """Whether calibration was asked for, and this fit has none."""
        return self.calibrated is not None and fit.calibration is None

    def _predicted(self, target: Target, type: str) -> pd.Series | pd.DataFrame:
        if type in ("prob", "cum_prob"):
            found = self.fit.votes.aggregation.probabilities(target.scores)
            return target.frame(found if type == "prob" else np.cumsum(found, axis=1).clip(max=1.0), self.levels)
        return super()._predicted(target, type)

    def _probabilities(self, fit: Fit, rows: Rows, scores: FloatArray) -> FloatArray | None:
        if self._uncalibrated(fit):
            return None
        return cast(TreeFit, fit).votes.aggregation.probabilities(scores)

    @property
    def rounds(self) -> pd.DataFrame:
        """One row a round: its weighted error (NaN without weights) and its vote; one column each a split where splits
        are boosted apart, a vote of 0 saying that a split had ended."""
        errors, round_weights = self.fit.errors, self.fit.votes.round_weights
        index = pd.RangeIndex(1, len(round_weights) + 1, name="round")
        if round_weights.shape[1] == 1:
            return pd.DataFrame({"error": errors[:, 0], "vote": round_weights[:, 0]}, index=index)
        columns = pd.MultiIndex.from_product([["error", "vote"], self.threshold_names], names=["", "split"])
        return pd.DataFrame(np.hstack([errors, round_weights]), index=index, columns=columns)


_ERRORS = ("classification", "absolute", "squared")


def tree_errors(
    fit: FittedTrees, newdata: Any = None, *, every: int = 1, rounds: Sequence[int] | None = None
) -> pd.DataFrame:
    """Mean errors after every round, on the rows of the fit and on new ones.

    Parameters
    ----------
    newdata : data frame, optional
        With the response.
    every : int
        Only every so many rounds, and the last.
    rounds : sequence of int, optional
        These alone, in place of `every`.

    Returns
    -------
    pandas.DataFrame
        Columns classification, absolute and squared of the training rows, then "new classification", ... of
        `newdata`; the index is the round.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", datasets.load("wine"), "bagging", rounds=20)
    >>> fit.staged_errors(every=10).index.tolist()
    [10, 20]
    """
    chosen = stages(fit, every, rounds)
    samples = {"": fit.design.sample}
    if newdata is not None:
        samples["new "] = fit.new_sample(newdata)[1]
    parts = [_errors(fit, name, sample, chosen) for name, sample in samples.items()]
    return pd.concat(parts, axis=1)


def _errors(fit: FittedTrees, prefix: str, sample: Sample, chosen: list[int]) -> pd.DataFrame:
    distance = np.abs(fit.fit.votes.codes(sample.rows, frozenset(chosen)) - sample.y).astype(np.float64)
    weights = sample.case_weights / sample.case_weights.sum()
    means = [np.minimum(distance, 1.0) @ weights, distance @ weights, distance**2 @ weights]
    columns = [prefix + name for name in _ERRORS]
    return pd.DataFrame(np.column_stack(means), index=pd.Index(chosen, name="round"), columns=columns)


def out_of_bag(fit: FittedTrees) -> pd.DataFrame:
    """Mean errors of the rows by the rounds whose samples they were not drawn into, after every round.

    Returns
    -------
    pandas.DataFrame
        Columns classification, absolute, squared, and share: the weight of the rows that were left out of a sample
        (of every split) so far. A row of weight w is w rows, each drawn or left out on its own.

    Raises
    ------
    UnavailableError
        The trees grow on all rows.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", datasets.load("wine"), "bagging", rounds=20)
    >>> fit.out_of_bag_errors().columns.tolist()
    ['classification', 'absolute', 'squared', 'share']
    """
    found = fit.fit.out_of_bag
    if found is None:
        raise UnavailableError(
            f"{fit.method!r} grows its trees on all rows, so none is out of bag: use sampling='resample', or "
            "'bagging', or .errors(cv=10)."
        )
    index = pd.RangeIndex(1, len(found.share) + 1, name="round")
    frame = pd.DataFrame(found.errors, index=index, columns=list(_ERRORS)).assign(share=found.share)
    return NotedFrame.of(frame, (), "Out-of-bag errors by round")


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
    return NotedFrame.of(frame.sort_values("importance", ascending=False, kind="stable"), (), "Importance of columns")


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
    columns = {
        "cut": [_cut(tree, node, names) for node in order],
        "weight": totals[order],
        "deviance": tree.deviances[order],
        "level": [classes[labels[node]] for node in order],
        "leaf": (tree.column < 0)[order],
    }
    frame = pd.DataFrame(columns, index=pd.Index(numbers, name="node"))
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


# Columns of the table of importance in a summary.
_SHOWN = 10
# Leaves of a tree that a summary draws.
_DRAWN = 16


def tree_figures(fit: FittedTrees) -> pd.DataFrame:
    """One row of figures of the whole fit."""
    found = fit.fit.out_of_bag
    wrong = np.nan if found is None else found.errors[-1, 0]
    return NotedFrame.of(figures(fit).assign(rounds=fit.fit.votes.rounds, out_of_bag_error=wrong))


def tree_report(fit: FittedTrees) -> Report:
    """The summary as data."""
    votes = fit.fit.votes
    header = []
    if (found := fit.fit.out_of_bag) is not None:
        wrong, absolute, squared = found.errors[-1]
        text = f"{wrong:.4g} wrong, absolute error {absolute:.4g}, squared {squared:.4g}"
        header.append(("Out of bag", f"{text}, of {found.share[-1]:.1%} of the rows"))
    alone = len(votes.trees) == 1 and votes.trees[0].n_leaves <= _DRAWN
    drawn = [_node_table(fit)] if alone else []
    importance = replace(_importance_table(fit), section="fit" if drawn else "model")
    return ranker_report(fit, [*drawn, importance, *error_tables(fit)], header)


#: Nodes of a tree that a short summary shows whole; depth of those that it shows of a larger one.
_SHORT, _UPPER = 12, 2


def _node_table(fit: FittedTrees) -> Table:
    nodes = tree_nodes(fit)
    depth = [len(f"{number:b}") - 1 for number in nodes.index]
    names = ["  " * d + cut for d, cut in zip(depth, nodes["cut"], strict=True)]
    frame = nodes[["weight", "deviance", "level"]].set_axis(pd.Index(names, name="node"), axis=0)
    frame["leaf"] = np.where(nodes["leaf"], "*", "")
    whole = Table(
        title="The tree: cuts, and the level each node predicts",
        frame=frame,
        formats={"weight": "g", "deviance": ".1f"},
    )
    upper = np.array(depth) <= _UPPER
    if len(frame) <= _SHORT or upper.all():
        return whole
    note = f"The upper {upper.sum()} of {len(frame)} nodes; all are in summary('model') and .text()."
    return replace(whole, brief=replace(whole, frame=frame[upper], note=note))


def _importance_table(fit: FittedTrees) -> Table:
    frame = tree_importance(fit)
    more = len(frame) > _SHOWN
    title = "Importance of the columns: share of the fall of the deviance"
    note = f"The first {_SHOWN} of {len(frame)}; all are in .importance()." if more else ""
    return Table(title=title, frame=frame.head(_SHOWN), formats={"importance": ".3f", "cuts": "int"}, note=note)


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
    summary_data = tree_report

    def at(self, rounds: int) -> Self:
        """The results as they were after some of the rounds.

        Boosting keeps the rounds it made: `fit.at(5).rounds` has all of them, and `fit.at(5).more(15)` goes on after
        the last, as `fit.more(15)` does. Trees of other ensembles are dropped: `fit.at(5).more(15)` has 20.

        Raises
        ------
        OptionError
            More rounds than were made.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"), method="bagging", rounds=20)
        >>> len(fit.at(5).rounds)
        5
        """

        return after_rounds(self, rounds)

    def more(self, rounds: int) -> Self:
        """The results with further rounds: those of a fit of as many rounds at once.

        They follow the last round that was made, of boosting also where `at` chose fewer.

        Raises
        ------
        OptionError
            `rounds` is not a number of rounds, or there is one round by nature, as for a single tree.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"), method="bagging", rounds=20)
        >>> len(fit.more(10).rounds)
        30
        """

        return with_more_rounds(self, rounds)

    def staged(self, newdata: Any = None, type: str = "class", *, every: int = 1) -> Iterator[tuple[int, Any]]:
        """Predictions after every round, as (round, what `predict` gives).

        Parameters
        ----------
        newdata : data frame, optional
        type : str
            As in `predict`.
        every : int
            Only every so many rounds, and the last.

        Raises
        ------
        OptionError
            `every` below 1.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> wine = datasets.load("wine")
        >>> fit = ordfit("rating ~ temp + contact", data=wine, method="ordinal-bagging", rounds=20)
        >>> [(rounds, ranks.tolist()) for rounds, ranks in fit.staged(wine.head(2), every=10)]
        [(10, [2, 2]), (20, [2, 2])]
        """

        return staged_predictions(self, newdata, type, every=every)

    staged_errors = tree_errors
    out_of_bag_errors = out_of_bag
    importance_kinds = GAIN_FIRST
    gain_importance = tree_importance
    nodes = tree_nodes
    text = tree_in_words

    @property
    def plot(self) -> TreePlots:
        """Pictures of the fit, by matplotlib: `fit.plot.tree()`."""
        return TreePlots(self)

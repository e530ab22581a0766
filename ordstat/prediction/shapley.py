"""Shapley values of boosted trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from .._typing import AnyArray, FloatArray, IntArray
from ..compiled.boost import add_shapley
from ..exceptions import DataError, OptionError
from ..fitted import Target, copied
from ..formula.sample import Rows, row_blocks
from ..judging.importance import frame_of_fit
from .trees import BoostedTrees, ValueTree

if TYPE_CHECKING:
    from ..formula.design import Design


@dataclass(frozen=True, eq=False, kw_only=True)
class LeafWays:
    """The ways to the L leaves of a tree, leaf after leaf.

    Attributes
    ----------
    conditions : (L+1,) int32
        Where the conditions of every leaf begin.
    node, side, place : (C,) int32, uint8, int32
        Of a condition: its node, 1 for left, and which of the leaf's players it belongs to.
    players : (L+1,) int32
        Where the players of every leaf begin.
    player, share : (P,) int32, float64
        A player, and the share of rows that its conditions let through.
    value : (L,)
    """

    conditions: AnyArray
    node: AnyArray
    side: AnyArray
    place: AnyArray
    players: AnyArray
    player: AnyArray
    share: FloatArray
    value: FloatArray

    @property
    def most(self) -> int:
        """Players of a leaf, at most."""
        return int(np.diff(self.players).max())

    @property
    def mean(self) -> float:
        """What the tree expects of a row of which nothing is known."""
        ends = zip(self.players, self.players[1:], strict=False)
        return float(self.value @ [self.share[start:end].prod() for start, end in ends])


def leaf_ways(tree: ValueTree, group: IntArray) -> LeafWays:
    """The ways to the leaves of a tree whose column d belongs to player `group[d]`."""
    leaves, ways = list[int](), list[list[tuple[int, int]]]()
    open_: list[tuple[int, list[tuple[int, int]]]] = [(0, [])]
    while open_:
        at, way = open_.pop()
        if tree.column[at] < 0:
            leaves.append(at)
            ways.append(way)
            continue
        child = int(tree.child[at])
        open_ += [(child + 1, [*way, (at, 0)]), (child, [*way, (at, 1)])]
    shares = [_shares(tree, group, way) for way in ways]
    places = [
        [list(own).index(int(group[tree.column[at]])) for at, _ in way] for way, own in zip(ways, shares, strict=True)
    ]
    return LeafWays(
        conditions=_starts(ways),
        node=np.array([at for way in ways for at, _ in way], dtype=np.int32),
        side=np.array([side for way in ways for _, side in way], dtype=np.uint8),
        place=np.array([place for own in places for place in own], dtype=np.int32),
        players=_starts(shares),
        player=np.array([player for own in shares for player in own], dtype=np.int32),
        share=np.array([share for own in shares for share in own.values()]),
        value=tree.value[leaves],
    )


def _shares(tree: ValueTree, group: IntArray, way: Sequence[tuple[int, int]]) -> dict[int, float]:
    """What every player of a way lets through, in the order of their first conditions."""
    found: dict[int, float] = {}
    for at, side in way:
        both = tree.weight[tree.child[at] : tree.child[at] + 2]
        player = int(group[tree.column[at]])
        found[player] = found.get(player, 1.0) * float(both[1 - side] / both.sum())
    return found


def _starts(parts: Sequence[Sequence[object] | dict[int, float]]) -> AnyArray:
    return np.cumsum([0, *map(len, parts)]).astype(np.int32)


def shapley_values(
    trees: BoostedTrees, rows: Rows, fitted: Rows, weights: FloatArray, group: IntArray, n_players: int
) -> tuple[FloatArray, float]:
    """Shapley values of H at some rows, offsets apart, and what is expected of a row of which nothing is known.

    Parameters
    ----------
    trees : BoostedTrees
    rows : Rows
        N rows.
    fitted : Rows
        Those of the fit, whose means the linear start is measured from.
    weights : (M,)
        Their case weights.
    group : (D,)
        Player, 0..G-1, that every column belongs to.
    n_players : int
        G.

    Returns
    -------
    values : (N, G)
    base : float
        `base + values.sum(axis=1)` is H without its offset.
    """
    means = weights @ trees.linear.parts(fitted.X) / weights.sum()
    values, base = np.zeros((rows.n, n_players)), float(means.sum())
    linear = trees.linear.parts(rows.X) - means
    for d, player in enumerate(group):
        values[:, player] += linear[:, d]
    grown = [(tree, leaf_ways(tree, group)) for tree in trees.trees if tree.column[0] >= 0]
    base += sum(float(tree.value[0]) for tree in trees.trees if tree.column[0] < 0)
    base += sum(ways.mean for _, ways in grown)
    if grown:
        _add_trees(trees, grown, rows.X, values)
    return values, base


def _add_trees(
    trees: BoostedTrees, grown: Sequence[tuple[ValueTree, LeafWays]], X: FloatArray, values: FloatArray
) -> None:
    """Add the Shapley values of trees to those of rows X."""
    most = max(ways.most for _, ways in grown)
    points, quadrature = np.polynomial.legendre.leggauss(-(-most // 2))
    table, known = np.empty((1 << most, most)), np.empty(1 << most, dtype=np.uint8)
    for some in row_blocks(len(X), max(tree.column.size for tree, _ in grown)):
        for tree, w in grown:
            asked = w.conditions, w.node, w.side, w.place, w.players, w.player, w.share, w.value
            left = np.ascontiguousarray(tree.lefts(X[some], trees.cuts).T, dtype=np.uint8)
            add_shapley(left, *asked, (points + 1) / 2, quadrature / 2, table, known, values[some])


#: Columns of the table that are no variables.
BASE, OFFSET = "(base)", "(offset)"


class ShapleyTable(pd.DataFrame):
    """Shapley values: a row a row of the data, a column a variable, and the base value in the column "(base)".

    A part of it or a copy is a plain data frame.
    """

    _metadata: ClassVar[list[str]] = ["_inputs"]
    _inputs: pd.DataFrame | None

    @classmethod
    def of(cls, values: pd.DataFrame, inputs: pd.DataFrame | None) -> ShapleyTable:
        """With the values of the variables, on the same index, where they are at hand."""
        made = cls(values)
        made._inputs = inputs
        return made

    @property
    def _constructor(self) -> type[pd.DataFrame]:
        return pd.DataFrame

    def to_shap(self) -> Any:
        """As a `shap.Explanation`, for the plots of the shap package; rows with missing inputs are left out.

        Levels of factors are codes in its `data` and texts in its `display_data`.

        Raises
        ------
        ImportError
            The package shap is not installed.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", datasets.load("wine"), "ordboost", rounds=20, depth=2)
        >>> explanation = fit.shapley().to_shap()  # doctest: +SKIP
        >>> shap.plots.beeswarm(explanation)  # doctest: +SKIP
        """
        try:
            import shap
        except ImportError as error:
            raise ImportError(
                "to_shap needs the package shap, which is not installed: pip install ordstat[shap]"
            ) from error
        whole = np.asarray(self.notna().all(axis=1))
        names = [name for name in self.columns if name != BASE]
        shown = None if self._inputs is None else self._inputs.reindex(columns=names)[whole]
        return shap.Explanation(
            values=self[names].to_numpy()[whole],
            base_values=self[BASE].to_numpy()[whole],
            data=None if shown is None else _numbers(shown),
            display_data=None if shown is None else shown.to_numpy(dtype=object),
            feature_names=[str(name) for name in names],
        )


def _numbers(frame: pd.DataFrame) -> FloatArray:
    """(N, V) numbers as they are, and the codes of what is none."""
    columns = [
        frame[name] if pd.api.types.is_numeric_dtype(frame[name]) else frame[name].astype("category").cat.codes
        for name in frame
    ]
    return np.column_stack([np.zeros((len(frame), 0)), *(np.asarray(one, dtype=np.float64) for one in columns)])


def shapley_table(fit: Any, newdata: Any = None) -> ShapleyTable:
    """Exact Shapley values of the potential H: what every variable has of the score of a row."""
    trees = fit.fit.trees.upto(fit.fit.kept)
    target, design = fit.target(newdata), fit.design
    variables, group = players(design)
    if taken := {BASE, OFFSET} & set(variables):
        raise OptionError(
            f"the variable {taken.pop()!r} has the name of another column of the table: rename it in the data and the "
            "formula, and fit again."
        )
    sample = design.sample
    values, base = shapley_values(trees, target.rows, sample.rows, sample.case_weights, group, len(variables))
    names = [BASE, *variables]
    if target.rows.offset is not None:
        mean = float(sample.case_weights @ sample.rows.offset / sample.case_weights.sum())
        values, base = np.column_stack([values, target.rows.offset - mean]), base + mean
        names = [*names, OFFSET]
    whole = target.frame(np.column_stack([np.full(target.rows.n, base), values]), names)
    return ShapleyTable.of(whole, _inputs(fit, newdata, target, variables, group))


def players(design: Design) -> tuple[list[str], IntArray]:
    """Names of the variables, or of the sets of them, that columns of X are made of; and the one of each column."""
    group = np.empty(len(design.names), dtype=np.intp)
    if not design.terms:
        return list(map(str, design.names)), np.arange(group.size)
    order = {name: place for place, name in enumerate(design.spec.columns or ())}
    known, names = design.spec.variables(), dict[str, int]()
    for term, columns in design.terms.items():
        own = sorted(known[term], key=lambda name: order.get(name, len(order)))
        group[columns] = names.setdefault(":".join(own) or term, len(names))
    return list(names), group


def _inputs(fit: Any, newdata: Any, target: Target, names: Sequence[str], group: IntArray) -> pd.DataFrame | None:
    """The values of the players at the rows asked for, on their index; None where they are not at hand.

    Of a player that is several variables, those of its column, where it has one alone.
    """
    if fit.design.recipe is None:  # made from arrays
        return target.frame(target.rows.X, list(map(str, fit.design.names)))
    if newdata is not None:
        frame = copied(newdata, target.index)
    else:
        try:
            frame = frame_of_fit(fit).set_axis(target.index)
        except DataError:  # saved and loaded without its data
            return None
    frame = frame.rename(columns=str)
    for player, name in enumerate(names):
        columns = np.flatnonzero(group == player)
        if name not in frame and columns.size == 1:
            frame[name] = target.series(target.rows.X[:, columns[0]])
    return frame

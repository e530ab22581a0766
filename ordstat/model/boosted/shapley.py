"""Exact Shapley values of a linear start and trees: what every player has of H(x).

A player is a group of columns. The value of a set S of players is what the model expects of a row when it is told the
columns of S alone: a tree then goes with the row where it asks for a column of S, and both ways elsewhere, in
proportion to the rows that it was grown on (the path-dependent expectation of Lundberg et al. 2020); the linear start
has their means in the rows of the fit in place of the others. Shapley values are linear in the model, so that those of
the start and of the trees add up.

- The start sum_j b_j x_j: player j has b_j (x_j - mean_j), whatever the order the players come in, because the other
  terms cancel in v(S and j) - v(S); of categories and missing values, their effect less its mean.
- A leaf of value a with m players on its way: v(S) = a prod_{j in S} o_j prod_{j not in S} z_j, with o_j whether the
  row meets j's conditions and z_j the product of the shares of rows that pass them. The probability of an order in
  which the set S comes before player i is s! (m-1-s)! / m! = integral of t^s (1-t)^(m-1-s), so that the player has
  a (o_i - z_i) times the integral of prod_{j != i} (t o_j + (1-t) z_j) over t from 0 to 1 (Owen 1972): a polynomial of
  degree m-1, for which Gauss's quadrature of m/2 points is exact. All terms are positive: nothing cancels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..._typing import AnyArray, FloatArray, IntArray
from ...compiled.shapley import add_shapley
from ..row_blocks import row_blocks
from ..sample import Rows
from .trees import BoostedTrees, ValueTree


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

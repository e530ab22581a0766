"""Boosted trees on binned columns, and their Shapley values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from ..compiled.boost import add_shapley, add_trees
from ..fit import MarginFit
from ..formula.row_blocks import CACHED, row_blocks
from ..formula.sample import Rows, has_gaps


@dataclass(frozen=True, eq=False)
class LinearStart:
    """H = sum_d x_d slopes_d + effects of the row's categories.

    Attributes
    ----------
    slopes : (D,)
        0 for categories.
    missing : (D,)
        The term for a missing value.
    effects : tuple of D arrays
        Effects of the categories of each column; empty for numbers, and () if all
        columns are numbers.
    """

    slopes: FloatArray
    missing: FloatArray
    effects: tuple[FloatArray, ...]

    @property
    def categorical(self) -> bool:
        """Whether there are columns of categories."""
        return any(effects.size for effects in self.effects)

    def __call__(self, X: FloatArray) -> FloatArray:
        """(N,) H for rows X (N, D), with categories as codes."""
        if not (self.categorical or has_gaps(X)):
            return np.asarray(X @ self.slopes)
        H = np.empty(len(X))
        for block in row_blocks(len(X), X.shape[1], CACHED):
            H[block] = self.parts(X[block]).sum(axis=1)
        return H

    def parts(self, X: FloatArray) -> FloatArray:
        """(N, D) terms of the columns."""
        gaps = np.isnan(X)
        filled = np.where(gaps, 0.0, X)
        terms = filled * self.slopes
        for d, effects in enumerate(self.effects):
            if effects.size:
                terms[:, d] = effects[filled[:, d].astype(np.intp)]
        return np.where(gaps, self.missing, terms)


#: Bytes of a set of codes.
BYTES = 32


@dataclass(frozen=True, eq=False)
class ValueTree:
    """M nodes of a tree, the root first.

    A row goes left at a node
    - with `bin` >= 0 (numbers) if its value is at most `cuts[column][bin]` of the sum
      of trees; if `bin` is the number of these cuts, all values go left and missing
      values right;
    - with `bin` < 0 (categories) if its code c is in the set `sets[-1 - bin]`: bit c %
      8 of byte c // 8;
    - if its value is missing (NaN) and `gaps_left` is 1. Categories and missing values
      that did not occur in a node during the fit go to the side with more rows.

    Attributes
    ----------
    column : (M,) int32
        -1 for a leaf.
    bin : (M,) int32
        Index of a cut, or -1 minus the index of a set; 0 for a leaf.
    child : (M,) int32
        The left child; the right child follows it. -1 for a leaf.
    value : (M,)
        Value that a leaf adds to H.
    gain : (M,)
        Twice the reduction of the quadratic approximation of the loss by the cut; 0 for
        a leaf.
    weight : (M,)
        Case weight of the training rows of a node.
    gaps_left : (M,) uint8
    sets : (S, 32) uint8
    """

    column: AnyArray
    bin: AnyArray
    child: AnyArray
    value: FloatArray
    gain: FloatArray
    weight: FloatArray
    gaps_left: AnyArray
    sets: AnyArray

    @classmethod
    def empty(cls, size: int, n_sets: int) -> ValueTree:
        """Arrays to grow a tree in."""
        column, bin, child = (np.empty(size, dtype=np.int32) for _ in range(3))
        value, gain, weight = (np.empty(size) for _ in range(3))
        sides = np.empty(size, dtype=np.uint8)
        sets = np.empty((n_sets, BYTES), dtype=np.uint8)
        return cls(column, bin, child, value, gain, weight, sides, sets)

    def upto(self, size: int) -> ValueTree:
        """A copy of the first nodes."""
        n_sets = np.count_nonzero(self.bin[:size] < 0) if self.sets.size else 0
        return ValueTree(
            self.column[:size].copy(),
            self.bin[:size].copy(),
            self.child[:size].copy(),
            self.value[:size].copy(),
            self.gain[:size].copy(),
            self.weight[:size].copy(),
            self.gaps_left[:size].copy(),
            self.sets[:n_sets].copy(),
        )

    def lefts(self, X: FloatArray, cuts: Sequence[FloatArray]) -> BoolArray:
        """(N, M) whether rows X (N, D) go left at each node; False for leaves."""
        lefts = np.zeros((len(X), self.column.size), dtype=np.bool_)
        for node in np.flatnonzero(self.column >= 0):
            x = X[:, self.column[node]]
            bin = int(self.bin[node])
            missing = np.isnan(x)
            if bin < 0:
                codes = np.where(missing, 0.0, x).astype(np.intp)
                left = np.unpackbits(self.sets[-1 - bin], bitorder="little")[codes] > 0
            else:
                left = x <= np.append(cuts[self.column[node]], np.inf)[bin]
            lefts[:, node] = np.where(missing, self.gaps_left[node] > 0, left)
        return lefts


class JoinedNodes(NamedTuple):
    """Nodes of several trees as `add_trees` takes them.

    Attributes
    ----------
    roots : (T,) int32
        First node of each tree.
    column, cut, set_of, child, gaps_left, value : (M,)
    sets : (S, 32) sets of codes
    """

    roots: AnyArray
    column: AnyArray
    cut: FloatArray
    set_of: AnyArray
    child: AnyArray
    gaps_left: AnyArray
    sets: AnyArray
    value: FloatArray


@dataclass(frozen=True, eq=False, kw_only=True)
class BoostedTrees:
    """The linear start and T trees.

    Attributes
    ----------
    linear : LinearStart
    cuts : tuple of D increasing arrays
        Cuts between the bins of each column; empty for categories.
    trees : tuple of ValueTree
    """

    linear: LinearStart
    cuts: tuple[FloatArray, ...]
    trees: tuple[ValueTree, ...]

    def __getstate__(self) -> dict[str, Any]:
        """The fields: what was joined for predictions is not stored."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def upto(self, rounds: int) -> Self:
        """A copy with the first `rounds` trees."""
        return replace(self, trees=self.trees[:rounds])

    def start(self, rows: Rows) -> FloatArray:
        """(N,) scores before the first tree, offset included."""
        H = self.linear(rows.X)
        return np.asarray(H if rows.offset is None else H + rows.offset)

    def add(self, rows: Rows, scores: FloatArray, first: int, last: int) -> None:
        """Add the trees of rounds `first` to `last` to the scores (N,) of rows."""
        if first >= min(last, len(self.trees)):
            return
        nodes = self._nodes
        X = np.ascontiguousarray(rows.X)
        add_trees(
            X,
            nodes.roots[first:last],
            nodes.column,
            nodes.cut,
            nodes.set_of,
            nodes.child,
            nodes.gaps_left,
            nodes.sets,
            nodes.value,
            not (self.linear.categorical or has_gaps(X)),
            scores,
        )

    @cached_property
    def _nodes(self) -> JoinedNodes:
        """The nodes of all trees, one after another."""
        names = ("column", "bin", "value", "gaps_left", "sets")
        column, bins, value, gaps_left, sets = (
            np.concatenate([getattr(tree, name) for tree in self.trees])
            for name in names
        )
        sizes = np.array([len(tree.column) for tree in self.trees])
        n_sets = np.array([len(tree.sets) for tree in self.trees])
        roots = np.cumsum(sizes) - sizes
        sets_before = np.repeat(np.cumsum(n_sets) - n_sets, sizes)
        child = np.concatenate([tree.child for tree in self.trees])
        # Column -1 of a leaf refers to the 0 at the end.
        firsts = np.cumsum([0, *(cuts.size + 1 for cuts in self.cuts)])
        cuts = np.concatenate(
            [part for cuts in self.cuts for part in (cuts, [np.inf])] + [[0.0]]
        )
        return JoinedNodes(
            roots=roots.astype(np.int32),
            column=column,
            cut=cuts[firsts[column] + np.maximum(bins, 0)],
            set_of=np.where(bins < 0, sets_before - 1 - bins, -1).astype(np.int32),
            child=np.where(child < 0, -1, child + np.repeat(roots, sizes)).astype(
                np.int32
            ),
            gaps_left=gaps_left,
            sets=sets,
            value=value,
        )

    def __call__(self, rows: Rows) -> FloatArray:
        """(N,) scores."""
        scores = self.start(rows)
        self.add(rows, scores, 0, len(self.trees))
        return scores

    def gains(self) -> tuple[FloatArray, IntArray]:
        """(D,) sum of gains, and number, of the cuts on each column."""
        D = self.linear.slopes.size
        gains = np.zeros(D)
        cuts = np.zeros(D, dtype=np.intp)
        for tree in self.trees:
            inner = tree.column >= 0
            gains += np.bincount(tree.column[inner], tree.gain[inner], D)
            cuts += np.bincount(tree.column[inner], minlength=D)
        return gains, cuts


@dataclass(frozen=True, eq=False, kw_only=True)
class HeldOut:
    """Held-out losses by depth and number of rounds.

    Attributes
    ----------
    depths : tuple of int
        Depths that were tried.
    losses : tuple of (T_i + 1,)
        Mean held-out loss of each depth, before the first and after each round.
    chosen : int
        Position of the depth with the smallest loss; ties go to the smaller.
    folds : int
        Number of folds; 1 if a part of the rows is held out once.
    """

    depths: tuple[int, ...]
    losses: tuple[FloatArray, ...]
    chosen: int
    folds: int

    @property
    def how(self) -> str:
        """How rounds and depth were chosen."""
        if self.folds > 1:
            return f"{self.folds}-fold cross-validation"
        return "the loss of a fifth of the rows, held out"

    @property
    def depth(self) -> int:
        """The chosen depth."""
        return self.depths[self.chosen]

    @property
    def curve(self) -> FloatArray:
        """Held-out losses of the chosen depth."""
        return self.losses[self.chosen]

    @property
    def rounds(self) -> int:
        """The number of rounds with the smallest held-out loss."""
        return int(self.curve.argmin())


@dataclass(frozen=True, eq=False, kw_only=True)
class BoostedFit(MarginFit):
    """A fit of gradient boosting.

    Attributes
    ----------
    trees : BoostedTrees
        All trees.
    kept : int
        Number of trees that the rule uses.
    depth : int
        Largest number of cuts on a path.
    null_loss : float
        Mean training loss with thresholds alone.
    losses : (T+1,)
        Mean training loss before the first and after each round.
    thetas : (T+1, K-1)
        Thresholds at the same times, without the final optimisation.
    ridge : float or None
        Penalty of the linear start; None without one.
    held_out : HeldOut or None
        None if rounds and depth were given.
    state : dict
        State of the random generator after the last round.
    """

    trees: BoostedTrees
    kept: int
    depth: int
    null_loss: float
    losses: FloatArray
    thetas: FloatArray
    ridge: float | None
    held_out: HeldOut | None
    state: dict[str, Any]

    @property
    def stages(self) -> range:
        """Numbers of rounds after which predictions exist; 0 is the start."""
        return range(self.losses.size)


class LeafWays(NamedTuple):
    """The paths to the L leaves of a tree.

    Attributes
    ----------
    conditions : (L+1,) int32
        Start of the conditions of each leaf.
    node, side, place : (C,) int32, uint8, int32
        For each condition: node, 1 for left, and index of its player (variable) in the
        leaf.
    players : (L+1,) int32
        Start of the players of each leaf.
    player, share : (P,) int32, float64
        Players, and shares of the training rows that satisfy their conditions.
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
        """Largest number of players of a leaf."""
        return int(np.diff(self.players).max())

    @property
    def mean(self) -> float:
        """Mean value of the tree over its training rows."""
        ends = zip(self.players, self.players[1:], strict=False)
        return float(self.value @ [self.share[start:end].prod() for start, end in ends])


def leaf_ways(tree: ValueTree, group: IntArray) -> LeafWays:
    """The paths to the leaves of a tree; column d belongs to player `group[d]`."""
    leaves = list[int]()
    ways = list[list[tuple[int, int]]]()
    pending: list[tuple[int, list[tuple[int, int]]]] = [(0, [])]
    while pending:
        node, way = pending.pop()
        if tree.column[node] < 0:
            leaves.append(node)
            ways.append(way)
            continue
        child = int(tree.child[node])
        pending += [(child + 1, [*way, (node, 0)]), (child, [*way, (node, 1)])]
    shares = [_shares(tree, group, way) for way in ways]
    places = [
        list(players).index(int(group[tree.column[at]]))
        for way, players in zip(ways, shares, strict=True)
        for at, _ in way
    ]
    return LeafWays(
        conditions=_starts(ways),
        node=np.array([at for way in ways for at, _ in way], dtype=np.int32),
        side=np.array([side for way in ways for _, side in way], dtype=np.uint8),
        place=np.array(places, dtype=np.int32),
        players=_starts(shares),
        player=np.array(
            [player for players in shares for player in players], dtype=np.int32
        ),
        share=np.array([share for players in shares for share in players.values()]),
        value=tree.value[leaves],
    )


def _shares(
    tree: ValueTree, group: IntArray, way: Sequence[tuple[int, int]]
) -> dict[int, float]:
    """For each player of a path, the share of training rows that satisfy its
    conditions.
    """
    shares: dict[int, float] = {}
    for node, side in way:
        both = tree.weight[tree.child[node] : tree.child[node] + 2]
        player = int(group[tree.column[node]])
        shares[player] = shares.get(player, 1.0) * float(both[1 - side] / both.sum())
    return shares


def _starts(parts: Sequence[Sequence[object] | dict[int, float]]) -> AnyArray:
    return np.cumsum([0, *map(len, parts)]).astype(np.int32)


def shapley_values(
    trees: BoostedTrees,
    rows: Rows,
    fitted: Rows,
    weights: FloatArray,
    group: IntArray,
    n_players: int,
) -> tuple[FloatArray, float]:
    """Shapley values of H at some rows, without offsets, and the value of the empty set
    of variables.

    Parameters
    ----------
    trees : BoostedTrees
    rows : Rows
        N rows.
    fitted : Rows
        Rows of the fit; their means are the reference of the linear start.
    weights : (M,)
        Case weights of `fitted`.
    group : (D,)
        Player, 0..G-1, of each column.
    n_players : int
        G.

    Returns
    -------
    values : (N, G)
    base : float
        `base + values.sum(axis=1)` is H without its offset.
    """
    means = weights @ trees.linear.parts(fitted.X) / weights.sum()
    values = np.zeros((rows.n, n_players))
    base = float(means.sum())
    linear = trees.linear.parts(rows.X) - means
    for d, player in enumerate(group):
        values[:, player] += linear[:, d]
    base += sum(float(tree.value[0]) for tree in trees.trees if tree.column[0] < 0)
    grown = [
        (tree, leaf_ways(tree, group)) for tree in trees.trees if tree.column[0] >= 0
    ]
    if not grown:
        return values, base
    most = max(ways.most for _, ways in grown)
    points, quadrature = np.polynomial.legendre.leggauss(-(-most // 2))
    table = np.empty((1 << most, most))
    filled = np.empty(1 << most, dtype=np.uint8)
    for block in row_blocks(rows.n, max(tree.column.size for tree, _ in grown)):
        for tree, ways in grown:
            left = np.ascontiguousarray(
                tree.lefts(rows.X[block], trees.cuts).T, dtype=np.uint8
            )
            add_shapley(
                left,
                *ways,
                (points + 1) / 2,
                quadrature / 2,
                table,
                filled,
                values[block],
            )
    return values, base + sum(ways.mean for _, ways in grown)

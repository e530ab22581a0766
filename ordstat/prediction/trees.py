"""Boosted trees on binned columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from ..compiled.boost import add_any_trees, add_trees
from ..fit import MarginFit
from ..formula.sample import CACHED, Rows, has_gaps, row_blocks


@dataclass(frozen=True, eq=False)
class LinearStart:
    """H = sum_d x_d slopes_d + sum over columns of categories of the effect of the row's.

    Attributes
    ----------
    slopes : (D,)
        0 of categories.
    missing : (D,)
        In place of these for a row without a value; empty of columns that always have one.
    effects : tuple of D arrays
        Of the categories of a column; empty of numbers, and () where all columns are.
    """

    slopes: FloatArray
    missing: FloatArray
    effects: tuple[FloatArray, ...]

    def __call__(self, X: FloatArray) -> FloatArray:
        """(N,) of rows X (N, D), in which categories are codes."""
        if not (any(effects.size for effects in self.effects) or has_gaps(X)):
            return np.asarray(X @ self.slopes)
        H = np.empty(len(X))
        for some in row_blocks(len(X), X.shape[1], CACHED):
            H[some] = self.parts(X[some]).sum(axis=1)
        return H

    def parts(self, X: FloatArray) -> FloatArray:
        """(N, D) what each column adds."""
        gaps = np.isnan(X)
        filled = np.where(gaps, 0.0, X)
        found = filled * self.slopes
        for d, effects in enumerate(self.effects):
            if effects.size:
                found[:, d] = effects[filled[:, d].astype(np.intp)]
        return np.where(gaps, self.missing, found) if self.missing.size else found


#: Of a set of codes.
BYTES = 32


@dataclass(frozen=True, eq=False)
class ValueTree:
    """M nodes of a tree, the root first.

    A row goes left at a node
    - with `bin` >= 0 (numbers) where its value is at most `cuts[column][bin]` of the sum of trees, and any value where
      `bin` is the number of these cuts: values are then on the left and missing ones on the right;
    - with `bin` < 0 (categories) where its code is in the set `sets[-1 - bin]`: bit c % 8 of byte c // 8 is that of
      code c;
    - without a value (NaN), where `gaps_left` is 1.
    Categories, and missing values, that a node had none of in its fit are on the side of most of its rows.

    Attributes
    ----------
    column : (M,) int32
        -1 of a leaf.
    bin : (M,) int32
        Number of a cut, or -1 less that of a set; 0 of a leaf.
    child : (M,) int32
        The left child, which the right one follows; -1 of a leaf.
    value : (M,)
        What the tree adds to H in a leaf.
    gain : (M,)
        Twice the fall of the quadratic approximation of the loss by the cut; 0 of a leaf.
    weight : (M,)
        Case weight of the rows of a node that the tree was grown on.
    gaps_left : (M,) uint8
    sets : (S, 32) uint8
    """

    column: AnyArray
    bin: AnyArray
    child: AnyArray
    value: FloatArray
    gain: FloatArray
    weight: FloatArray
    gaps_left: AnyArray = field(default_factory=lambda: np.zeros(0, dtype=np.uint8))  # files of trees without gaps
    sets: AnyArray = field(default_factory=lambda: np.zeros((0, BYTES), dtype=np.uint8))

    def __post_init__(self) -> None:
        if self.gaps_left.size == 0:
            object.__setattr__(self, "gaps_left", np.zeros(self.column.size, dtype=np.uint8))

    @classmethod
    def empty(cls, size: int, n_sets: int) -> ValueTree:
        """Arrays to grow a tree in."""
        column, bin, child = (np.empty(size, dtype=np.int32) for _ in range(3))
        value, gain, weight = (np.empty(size) for _ in range(3))
        sides, sets = np.empty(size, dtype=np.uint8), np.empty((n_sets, BYTES), dtype=np.uint8)
        return cls(column, bin, child, value, gain, weight, sides, sets)

    def upto(self, size: int) -> ValueTree:
        """A copy of the first nodes."""
        n_sets = np.count_nonzero(self.bin[:size] < 0) if self.sets.size else 0
        names = ("column", "bin", "child", "value", "gain", "weight", "gaps_left")
        nodes = {name: getattr(self, name)[:size].copy() for name in names}
        return ValueTree(**nodes, sets=self.sets[:n_sets].copy())

    def lefts(self, X: FloatArray, cuts: Sequence[FloatArray]) -> BoolArray:
        """(N, M) whether rows X (N, D) would go left at each node, by the cuts of the columns; false of leaves."""
        found = np.zeros((len(X), self.column.size), dtype=np.bool_)
        for node in np.flatnonzero(self.column >= 0):
            x, bin = X[:, self.column[node]], int(self.bin[node])
            missing = np.isnan(x)
            if bin < 0:
                codes = np.where(missing, 0.0, x).astype(np.intp)
                left = np.unpackbits(self.sets[-1 - bin], bitorder="little")[codes] > 0
            else:
                left = x <= np.append(cuts[self.column[node]], np.inf)[bin]
            found[:, node] = np.where(missing, self.gaps_left[node] > 0, left)
        return found


@dataclass(frozen=True, eq=False, kw_only=True)
class BoostedTrees:
    """The linear start and T trees.

    Attributes
    ----------
    slopes : (D,) b
        0 of categories.
    cuts : tuple of D growing arrays
        Between the bins of every column: a row goes left where x <= cuts[column][bin]. Empty of categories.
    trees : tuple of ValueTree
    missing : (D,)
        What the start has for a row without a value; empty where no row of the fit was without one.
    effects : tuple of D arrays
        What it has for the categories 0, 1, ... of a column; empty of numbers, and () where all columns are.
    """

    slopes: FloatArray
    cuts: tuple[FloatArray, ...]
    trees: tuple[ValueTree, ...]
    missing: FloatArray = field(default_factory=lambda: np.zeros(0))
    effects: tuple[FloatArray, ...] = ()

    @classmethod
    def of(cls, start: LinearStart, cuts: tuple[FloatArray, ...], trees: Sequence[ValueTree]) -> BoostedTrees:
        """A start and trees."""
        return cls(slopes=start.slopes, cuts=cuts, trees=tuple(trees), missing=start.missing, effects=start.effects)

    @property
    def linear(self) -> LinearStart:
        """The start."""
        return LinearStart(self.slopes, self.missing, self.effects)

    def upto(self, rounds: int) -> Self:
        """With the trees of the first rounds alone."""
        return replace(self, trees=self.trees[:rounds])

    def start(self, rows: Rows) -> FloatArray:
        """(N,) scores before the first tree, offset included."""
        H = self.linear(rows.X)
        return np.asarray(H if rows.offset is None else H + rows.offset)

    def add(self, rows: Rows, scores: FloatArray, first: int, last: int) -> None:
        """Add the trees of some of the rounds to the scores (N,) of rows, in their order."""
        trees = self.trees[first:last]
        if not trees:
            return
        sizes = np.array([tree.column.size for tree in trees])
        starts = np.cumsum(sizes) - sizes
        column = np.concatenate([tree.column for tree in trees])
        # A leaf has the column -1, and with it the 0 at the end.
        firsts = np.cumsum([0, *(at.size + 1 for at in self.cuts)])
        cuts = np.concatenate([part for at in self.cuts for part in (at, [np.inf])] + [[0.0]])
        child = [np.where(tree.child < 0, -1, tree.child + s) for tree, s in zip(trees, starts, strict=True)]
        bins, children = np.concatenate([tree.bin for tree in trees]), np.concatenate(child).astype(np.int32)
        X, roots = np.ascontiguousarray(rows.X), starts.astype(np.int32)
        value = np.concatenate([tree.value for tree in trees])
        at = cuts[firsts[column] + np.maximum(bins, 0)]
        if self.plain and not has_gaps(X):
            add_trees(X, roots, column, at, children, value, scores)
            return
        n_sets = np.array([len(tree.sets) for tree in trees])
        before = np.repeat(np.cumsum(n_sets) - n_sets, sizes)
        sets_of = np.where(bins < 0, before - 1 - bins, -1).astype(np.int32)
        sides, sets = (np.concatenate([getattr(tree, name) for tree in trees]) for name in ("gaps_left", "sets"))
        add_any_trees(X, roots, column, at, sets_of, children, sides, sets, value, scores)

    @property
    def plain(self) -> bool:
        """Whether all columns are numbers."""
        return not any(effects.size for effects in self.effects)

    def __call__(self, rows: Rows) -> FloatArray:
        """(N,) scores."""
        scores = self.start(rows)
        self.add(rows, scores, 0, len(self.trees))
        return scores

    def gains(self) -> tuple[FloatArray, IntArray]:
        """(D,) sum of the gains of the cuts of every column, and their number."""
        gains, cuts = np.zeros(self.slopes.size), np.zeros(self.slopes.size, dtype=np.intp)
        for tree in self.trees:
            inner = tree.column >= 0
            np.add.at(gains, tree.column[inner], tree.gain[inner])
            np.add.at(cuts, tree.column[inner], 1)
        return gains, cuts


@dataclass(frozen=True, eq=False, kw_only=True)
class HeldOut:
    """What cross-validation says of the number of rounds, and of the depth.

    Attributes
    ----------
    depths : tuple of int
        Those tried.
    losses : tuple of (T_i + 1,)
        Mean loss of the held-out rows of every depth, before the first and after every round.
    chosen : int
        Position of the depth with the smallest loss; ties go to the smaller.
    folds : int
        1 of a part of the rows held out once.
    """

    depths: tuple[int, ...]
    losses: tuple[FloatArray, ...]
    chosen: int
    folds: int

    @property
    def how(self) -> str:
        """What chose."""
        return f"{self.folds}-fold cross-validation" if self.folds > 1 else "the loss of a fifth of the rows, held out"

    @property
    def depth(self) -> int:
        """The chosen depth."""
        return self.depths[self.chosen]

    @property
    def curve(self) -> FloatArray:
        """Its losses."""
        return self.losses[self.chosen]

    @property
    def rounds(self) -> int:
        """The first round of the smallest of them."""
        return int(self.curve.argmin())


@dataclass(frozen=True, eq=False, kw_only=True)
class BoostedFit(MarginFit):
    """A fit of gradient boosting.

    Attributes
    ----------
    trees : BoostedTrees
        All that were made.
    kept : int
        How many of them, from the first, the rule uses.
    depth : int
        Most cuts on a path.
    null_loss : float
        Mean training loss of thresholds alone.
    losses : (T+1,)
        Mean training loss before the first and after every round.
    thetas : (T+1, K-1)
        Thresholds then, but for a last step to their optimum.
    ridge : float or None
        Penalty of the linear start, None where there is none.
    held_out : HeldOut or None
        None where rounds and depth were given.
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
        """After how many rounds the fit can be asked; 0 is the start."""
        return range(self.losses.size)

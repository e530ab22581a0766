"""C4.5 [Quinlan 1993] for weighted binary examples with numeric columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .._typing import FloatArray
from ..checks import number
from ..model.binary import Binary
from ..model.fit import Certificate
from ..model.sample import Rows
from ..model.trees.tree import Tree, TreePanel
from .base import BinaryLearner, Learned
from .c45_pruning import Pruner


@dataclass(frozen=True, kw_only=True)
class C45(BinaryLearner):
    """A decision tree by gain ratio, with error-based pruning [Quinlan 1993].

    A node is cut where a column gains the largest share of the information that its cut itself holds, among the columns
    whose gain is at least the average; the cut is the largest value of the training rows that is not above the middle
    of the gap. Both sides of a cut weigh `min_cases` at least, and 5% of the node, but no more than 25 is asked for.
    Then subtrees that make no fewer training errors than a leaf become leaves, and so do those, from the leaves up,
    whose errors by an upper confidence limit are no fewer; or the larger branch takes its parent's place. Gains are
    those of release 7 and the book: release 8's charge for the choice of a cut is not made. A weight of 2 is two cases:
    costs of a larger scale prune less.

    Parameters
    ----------
    confidence : float in (0, 0.5]
        CF of the upper limit; 1 - `confidence` is its level, and smaller values prune more.
    min_cases : float
        > 0.

    Raises
    ------
    OptionError
        A value outside these.

    Examples
    --------
    >>> X = np.arange(8.0)[:, None]
    >>> z = np.where(X[:, 0] > 3, 1.0, -1.0)
    >>> learned = C45().fit(X, z, np.ones(8), np.random.default_rng(0))
    >>> print(learned.scorer.trees[0].text(("x",)))
    x <= 3: - (4/0)
    x > 3: + (4/0)
    """

    confidence: float = 0.25
    min_cases: float = 2.0

    def __post_init__(self) -> None:
        number("confidence", self.confidence, above=0.0, most=0.5, of=self)
        number("min_cases", self.min_cases, above=0.0, of=self)

    def on(self, X: FloatArray, case_weights: FloatArray) -> C45Trainer:
        return C45Trainer(settings=self, X=X)


@dataclass(frozen=True, eq=False, kw_only=True)
class C45Trainer:
    """C4.5 at work on the rows of X (N, D)."""

    settings: C45
    X: FloatArray

    def fit(self, problems: Sequence[Binary], rng: np.random.Generator) -> Learned:
        """One tree for every problem."""
        trees = tuple(self.tree(problem) for problem in problems)
        scorer = TreePanel(trees)
        leaves = [tree.n_leaves for tree in trees]
        return Learned(
            scorer=scorer,
            scores=scorer(Rows(X=self.X)),
            certificate=Certificate(name="trees that were not grown", value=0.0, tolerance=0.0),
            iterations=len(problems),
            facts=(("Leaves", ", ".join(str(n) for n in leaves)),),
        )

    def tree(self, problem: Binary) -> Tree:
        """The pruned tree of one problem."""
        if problem.one_sided:
            return _constant(problem)
        X, label, w = self.X[problem.index], problem.labels > 0, problem.weights
        return _grown(X, label.astype(np.uint8), w, self.settings).pruned()


def _constant(problem: Binary) -> Tree:
    """The answer to a problem with one label, or with none."""
    none = np.full(1, -1, dtype=np.int32)
    values = np.zeros((1, 2))
    values[0, int(problem.side > 0)] = problem.weights.sum()
    return Tree(column=none, cut=np.zeros(1), child=none, parent=none, values=values, gains=np.zeros(1))


def _grown(X: FloatArray, label: FloatArray, w: FloatArray, settings: C45) -> Pruner:
    from ..compiled.trees import grow_c45

    n, d = X.shape
    columns = np.ascontiguousarray(X.T)
    order = np.ascontiguousarray(np.argsort(columns, axis=1, kind="stable").astype(np.int32))
    if d == 0:
        order = np.arange(n, dtype=np.int32)[None, :]
        columns = np.zeros((1, n))
    ascending = np.take_along_axis(columns, order, axis=1)
    size = 2 * n - 1
    column, left, right, start, stop = np.zeros((5, size), dtype=np.int32)
    low, high, positive, negative = np.zeros((4, size))
    gains, splits, places = np.zeros(len(order)), np.zeros(len(order)), np.zeros(len(order), dtype=np.int64)
    made = grow_c45(
        columns, order, np.ascontiguousarray(label), np.ascontiguousarray(w, dtype=np.float64), settings.min_cases,
        column, low, high, left, right, start, stop, positive, negative,
        np.zeros(n, dtype=np.int32), np.zeros(n, dtype=np.uint8), gains, splits, places,
    )  # fmt: skip
    rows = order[0].astype(np.intp)
    return Pruner(
        X=X,
        label=label.astype(np.intp),
        w=w,
        column=column[:made].astype(np.intp),
        cut=_cuts(ascending, column[:made], low[:made], high[:made]),
        left=left[:made].astype(np.intp),
        right=right[:made].astype(np.intp),
        positive=positive[:made].copy(),
        negative=negative[:made].copy(),
        items=[rows[a:b] for a, b in zip(start[:made].tolist(), stop[:made].tolist(), strict=True)],
        confidence=settings.confidence,
    )


def _cuts(ascending: FloatArray, column: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """(M,) largest values of the columns (D, N), in order, that are not above the middle of each gap."""
    middle = low + (high - low) / 2.0
    # Between two neighbouring numbers there is no middle.
    middle = np.where(middle < high, middle, low)
    cuts = np.full(column.size, np.nan)
    for d in np.unique(column[column >= 0]):
        at = column == d
        cuts[at] = ascending[d, np.searchsorted(ascending[d], middle[at], side="right") - 1]
    return cuts

"""The ranked-probability forest, "rps-forest"."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd

from .._typing import AnyArray, FloatArray, IntArray, Progress
from ..advice import with_option_hints
from ..boosting.results import importance_frame, importance_table
from ..checks import number, whole
from ..compiled.forest import add_shares, grow_tree
from ..fit import Certificate, MarginFit, Trace
from ..formula.distinct import DistinctRows, distinct_rows
from ..formula.sample import Rows, Sample
from ..judging.costs import CostField
from ..judging.folds import held_weights
from ..judging.importance import GAIN_FIRST
from ..method import Method, Supports, cost_option, jobs_option, option
from ..rankers import ProbabilityResults
from ..reduction.exceedances import CumulativeRule, ranked_score, score_gain
from ..reduction.learners import MOST_REPEATED
from ..report.render import Report
from ..report.sections import error_tables, ranker_report
from ..threads import in_threads


@dataclass(frozen=True)
class Growth:
    """How far trees are grown.

    Attributes
    ----------
    min_leaf : int
        Smallest number of rows in a leaf.
    column_share : float
        Share of the columns that each cut chooses from.
    """

    min_leaf: int
    column_share: float


#: What is tried, the smoothest forest first. Deep trees follow rules, steps and twins.
_USUAL = Growth(5, 1.0 / 3.0)
_TRIED = (_USUAL, Growth(1, 1.0 / 3.0), Growth(1, 1.0))
#: Trees of each trial, number of folds and of those that are held out; from _MANY_ROWS
# rows on one is enough, and beyond _MOST_ROWS single rows in the leaves take too much
# memory.
TRIAL_TREES = 50
_FOLDS = 5
_HELD_OUT = 2
_MANY_ROWS = 2000
_MOST_ROWS = 20_000
# A deeper forest is taken if it leads by this number of standard errors (Breiman et al.
# 1984, sec. 3.4.3).
_LEAD = 1.0


@dataclass(frozen=True, eq=False, kw_only=True)
class ForestFit(MarginFit):
    """A fit of a forest.

    Attributes
    ----------
    importance : (D,) shares of the reduction of the ranked probability score
    growth : Growth
    """

    importance: FloatArray
    growth: Growth


# Trees that a thread grows in a task, and rows that walk through trees at once.
_A_TASK = 10
_AT_ONCE = 4096


@dataclass(frozen=True, eq=False, kw_only=True)
class ForestShares:
    """P(y > k), as the mean over trees of the shares in the leaves.

    The nodes with cuts of all trees stand one after another, usually 9 bytes each;
    leaves with equal shares refer to the same ones. The columns are used as (x -
    middle) / half, within [-1, 1] in the rows of the fit, in single precision.

    Attributes
    ----------
    roots : (T,) int32
        Node where each tree starts; -1 minus the place of its shares if it has no cut.
    column : (M,) uint8, or int32 of more than 256 columns
        Column of each cut.
    cut : (M,) float32
        Rows go left where x <= cut.
    children : (M, 2) int16, or int32 of larger trees or more shares
        Left and right child: a node, counted from the root of its tree, or -1 minus the
        place of the shares of a leaf.
    shares : (S, K-1)
        The distinct shares of rows above k in leaves.
    middle, half : (D,)
    """

    roots: AnyArray
    column: AnyArray
    cut: AnyArray
    children: AnyArray
    shares: FloatArray
    middle: FloatArray
    half: FloatArray

    @property
    def n_levels(self) -> int:
        """K."""
        return int(self.shares.shape[1]) + 1

    def __call__(self, rows: Rows) -> FloatArray:
        """(N, K-1) P(y > k); it does not increase with k."""
        totals = np.zeros((rows.n, self.n_levels - 1))
        for start in range(0, rows.n, _AT_ONCE):
            some = slice(start, start + _AT_ONCE)
            add_shares(
                scaled_columns(rows.X[some], self.middle, self.half),
                self.roots,
                self.column,
                self.cut,
                self.children,
                self.shares,
                totals[some],
            )
        means = np.clip(totals / self.roots.size, 0.0, 1.0)
        return np.minimum.accumulate(means, axis=1) + 0.0


def scaled_columns(X: FloatArray, middle: FloatArray, half: FloatArray) -> AnyArray:
    """Columns (max(D, 1), N) scaled to [-1, 1] over the rows of the fit, in single
    precision; values beyond are cut at -2 and 2. Tables without columns get a column of
    zeros.
    """
    # a constant column has the smallest half, and what overflows is cut
    with np.errstate(over="ignore"):
        inside = np.clip((X - middle) / half, -2.0, 2.0)
    if X.shape[1] == 0:
        inside = np.zeros((len(X), 1))
    return np.ascontiguousarray(inside.T, dtype=np.float32)


def _distinct(values: FloatArray) -> tuple[FloatArray, IntArray]:
    """The distinct rows of values (L, J), in order of appearance, and the place of each
    row among them.

    Examples
    --------
    >>> _distinct(np.array([[0.5, 0.0], [1.0, 0.0], [0.5, 0.0]]))[1].tolist()
    [0, 1, 0]
    """
    places = np.zeros(len(values), dtype=np.int64)
    for column in values.T:
        of_column, found = pd.factorize(column)
        places = pd.factorize(places * len(found) + of_column)[0].astype(np.int64)
    first = np.unique(places, return_index=True)[1]
    return values[first], places


class Trees(NamedTuple):
    """Some trees of a forest.

    Attributes
    ----------
    column : list of (M_t,)
        Columns of the cuts of each tree.
    cut : list of (M_t,)
    children : list of (M_t, 2)
        Nodes, or -1 minus the place of a leaf of the tree.
    shares : list of (L_t, K-1)
        Shares of the leaves of each tree.
    falls : (D,)
        Reductions of the score by the cuts on each column.
    """

    column: list[AnyArray]
    cut: list[AnyArray]
    children: list[AnyArray]
    shares: list[FloatArray]
    falls: FloatArray


def _some_trees(
    columns: AnyArray,
    y: AnyArray,
    weights: FloatArray,
    n_levels: int,
    growth: Growth,
    seeds: IntArray,
) -> Trees:
    """A tree for each seed; see `grow_tree`."""
    D, N = columns.shape
    drawn = max(1, round(growth.column_share * D))
    column = np.empty(N, dtype=np.int32)
    cut = np.empty(N, dtype=np.float32)
    children = np.empty((N, 2), dtype=np.int32)
    shares = np.empty((N, n_levels - 1))
    trees = Trees([], [], [], [], np.zeros(D))
    settings = (n_levels, growth.min_leaf, drawn)
    out = (column, cut, children, shares, trees.falls)
    for seed in seeds:
        cuts, leaves = grow_tree(columns, y, weights, *settings, int(seed), *out)
        trees.column.append(column[:cuts].astype(_narrow(D - 1, np.uint8)))
        trees.cut.append(cut[:cuts].copy())
        trees.children.append(children[:cuts].copy())
        trees.shares.append(shares[:leaves].copy())
    return trees


def _narrow(largest: int, narrow: type[Any]) -> type[Any]:
    """A narrow type of integers if the largest number fits, else int32."""
    return narrow if largest <= np.iinfo(narrow).max else np.int32


def _joined(parts: list[Trees], middle: FloatArray, half: FloatArray) -> ForestShares:
    """All trees as compact arrays."""
    of_trees = [tree for part in parts for tree in part.children]
    of_leaves = [leaves for part in parts for leaves in part.shares]
    shares, places = _distinct(np.concatenate(of_leaves))
    largest = max(len(shares), *map(len, of_trees))
    roots = np.empty(len(of_trees), dtype=np.int32)
    children = np.empty((sum(map(len, of_trees)), 2), dtype=_narrow(largest, np.int16))
    nodes = leaves = 0
    for t, (tree, values) in enumerate(zip(of_trees, of_leaves, strict=True)):
        of_leaf = -1 - places[leaves : leaves + len(values)]
        roots[t] = nodes if len(tree) else of_leaf[0]
        is_leaf = tree < 0
        tree[is_leaf] = of_leaf[-1 - tree[is_leaf]]
        children[nodes : nodes + len(tree)] = tree
        nodes += len(tree)
        leaves += len(values)
    return ForestShares(
        roots=roots,
        column=np.concatenate([tree for part in parts for tree in part.column]),
        cut=np.concatenate([tree for part in parts for tree in part.cut]),
        children=children,
        shares=shares,
        middle=middle,
        half=half,
    )


def grown(
    X: FloatArray,
    y: IntArray,
    weights: FloatArray,
    n_levels: int,
    rng: np.random.Generator,
    trees: int,
    growth: Growth,
    n_jobs: int = 1,
) -> tuple[ForestShares, FloatArray]:
    """The forest of rows X (N, D) with ranks y (N,), and the importance of the columns
    (max(D, 1),).
    """
    seeds = rng.integers(2**63, size=trees)
    low, high = X.min(axis=0), X.max(axis=0)
    middle = 0.5 * low + 0.5 * high
    half = np.maximum(0.5 * high - 0.5 * low, np.finfo(np.float64).tiny)
    rows = (
        scaled_columns(X, middle, half),
        y.astype(np.int32),
        weights,
        n_levels,
        growth,
    )
    tasks = [(*rows, seeds[t : t + _A_TASK]) for t in range(0, trees, _A_TASK)]
    parts = in_threads(_some_trees, tasks, n_jobs)
    falls = np.sum([part.falls for part in parts], axis=0)
    return _joined(parts, middle, half), falls / (falls.sum() or 1.0)


class ForestResults(ProbabilityResults):
    """A fitted forest of P(y > k).

    `score` is the interpolated median, with thresholds 1, ..., K-1; margins are P(y >
    k) - 1/2.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> wine = datasets.load("wine")
    >>> fit = ordfit("rating ~ temp + contact", wine, "rps-forest", trees=50)
    >>> fit.predict(wine.head(2), type="prob").shape
    (2, 5)
    """

    fit: ForestFit

    importance_kinds = GAIN_FIRST

    kind = "Ranked-probability forest"

    def gain_importance(self) -> pd.DataFrame:
        """Importance of the columns, most important first.

        Returns
        -------
        pandas.DataFrame
            importance: share of the reduction of the ranked probability score that is
            due to cuts on the column; the sum is 1. The index has the columns of the
            model.
        """
        return importance_frame(self, importance=self.fit.importance)

    def summary_data(self) -> Report:
        """The summary as data."""
        table = importance_table(
            self.gain_importance(), "the reduction of the ranked probability score"
        )
        notes = (
            (
                "The trees nearly reproduce the rows they were grown on. For errors on"
                " new rows, see .errors(cv=10)."
            ),
        )
        return ranker_report(self, [table, *error_tables(self)], (), notes)


# Rounding of means over trees.
_MEAN_ROUNDING = 1e-9


def _share(name: str, value: Any, of: Any) -> Any:
    if value is None:
        return None
    return number(name, value, above=0.0, most=1.0, of=of, also=", or None")


def _leaf(name: str, value: Any, of: Any) -> Any:
    if isinstance(value, str) and value == "cv":
        return value
    return whole(name, value, 1, of=of, also=" or 'cv'")


@with_option_hints
@dataclass(frozen=True, kw_only=True, repr=False)
class RPSForest(Method):
    """Random forest for ordered levels: extremely randomised trees on the ranked
    probability score.

    A good default for prediction with interactions and non-linear effects; it tunes
    itself and gives probabilities.

    The trees are extremely randomised [Geurts et al. 2006], on the K-1 indicators [y >
    k] (as scikit-learn's ExtraTreesRegressor on these). Each node draws a random cut of
    each of some columns. It takes the cut that most reduces the ranked probability
    score sum_k (P(y > k) - [y > k])^2 [Epstein 1969; Janitza et al. 2016]. P(y > k) is
    the mean share of rows above k in the leaves.

    Parameters
    ----------
    trees : int
        Number of trees.
    column_share : float or None
        Share of the columns that each cut chooses from, in (0, 1]. None means 1/3, or
        what min_leaf="cv" chooses.
    min_leaf : int or "cv"
        Smallest number of rows in a leaf. "cv" compares leaves of 5 rows, of 1 row, and
        of 1 row with cuts chosen from all columns (unless column_share is given). It
        grows 50 trees of each kind, and predicts two held-out fifths of the rows (one
        fifth of more than 2000 rows). It takes 1 row if the ranked probability score is
        better by one standard error. With more than 20,000 rows it takes 5.
    cost : str or (K, K) array
        Cost that predicted levels minimise in expectation: "absolute" gives the median,
        "classification" the mode. The probabilities do not depend on it.
    n_jobs : int
        Number of threads; -1 for one per processor. The result does not depend on it.

    Raises
    ------
    OptionError
        An option has a value outside its range.

    Examples
    --------
    >>> RPSForest(trees=500)
    RPSForest(trees=500)
    """

    trees: int = option(300, whole, 1)
    column_share: float | None = option(None, _share)
    min_leaf: int | str = option("cv", _leaf)
    cost: CostField = cost_option()
    n_jobs: int = jobs_option()

    supports: ClassVar[Supports] = Supports(decisions=True)
    results_class: ClassVar[type[Any]] = ForestResults
    papers: ClassVar[tuple[str, ...]] = (
        (
            "Janitza, S., Tutz, G., & Boulesteix, A.-L. (2016). Random forest for"
            " ordinal responses: Prediction and variable selection. Computational"
            " Statistics & Data Analysis, 96, 57-73."
        ),
        (
            "Epstein, E. S. (1969). A scoring system for probability forecasts of"
            " ranked categories. Journal of Applied Meteorology, 8, 985-987."
        ),
    )

    def fit(
        self, sample: Sample, rng: np.random.Generator, progress: Progress | None = None
    ) -> ForestFit:
        """Fit to arrays.

        Parameters
        ----------
        sample : Sample
            Rows of weight 0 are ignored.
        rng : numpy.random.Generator
        progress : callable(step, total, message), optional
        """
        self.check(sample)
        rows = distinct_rows(sample, np.zeros((sample.n, 0))).repeated(MOST_REPEATED)
        growth = self._growth(rows, sample.n_levels, rng)
        shares, importance = self._grown(
            rows, rows.weights, sample.n_levels, growth, self.trees, rng
        )
        rule = CumulativeRule(shares, self.cost_matrix)
        above = rule.exceedances(sample.rows)
        score = ranked_score(above, sample.y, sample.case_weights)
        if progress is not None:
            progress(1, 1, f"{self.trees} trees grown")
        return ForestFit(
            rule=rule,
            certificate=_certificate(above, score),
            trace=Trace(
                iterations=self.trees,
                objective=np.array([score]),
                message=f"{self.trees} trees grown",
            ),
            scores=rule.scores_of(above),
            facts=(
                ("Trees", str(self.trees)),
                ("Smallest leaf", self._leaf_shown(growth)),
            ),
            importance=importance[: sample.X.shape[1]],
            growth=growth,
        )

    def _grown(
        self,
        rows: DistinctRows,
        weights: FloatArray,
        n_levels: int,
        growth: Growth,
        trees: int,
        rng: np.random.Generator,
    ) -> tuple[ForestShares, FloatArray]:
        """The forest of the rows with positive weight, and importances."""
        used = weights > 0.0
        return grown(
            rows.X[used],
            rows.y[used],
            weights[used],
            n_levels,
            rng,
            trees,
            growth,
            self.n_jobs,
        )

    def _growth(
        self, rows: DistinctRows, n_levels: int, rng: np.random.Generator
    ) -> Growth:
        """The given options, or those that predict held-out rows best."""
        tried = self._tried(rows.n)
        if len(tried) == 1:
            return tried[0]
        held = held_weights(rows.X, rows.y, rows.weights, _FOLDS, rng)
        held = held[: _HELD_OUT if rows.n <= _MANY_ROWS else 1]
        if len(held) == 0:
            return tried[0]
        fold, row = np.nonzero(held)
        trees = min(self.trees, TRIAL_TREES)
        above = []
        for growth in tried:
            parts = []
            for out in held:
                rest = rows.weights - out
                forest, _ = self._grown(rows, rest, n_levels, growth, trees, rng)
                parts.append(forest(Rows(X=rows.X[out > 0.0])))
            above.append(np.concatenate(parts))
        return tried[_deepest(above, rows.y[row], held[fold, row])]

    def _tried(self, n_rows: int) -> tuple[Growth, ...]:
        """The settings to choose from, the smoothest forest first."""
        share = self.column_share
        if self.min_leaf != "cv":
            usual = _USUAL.column_share if share is None else share
            return (Growth(int(self.min_leaf), usual),)
        tried = _TRIED if n_rows <= _MOST_ROWS else (_USUAL,)
        if share is None:
            return tried
        of_share = (replace(growth, column_share=share) for growth in tried)
        return tuple(dict.fromkeys(of_share))

    def _leaf_shown(self, growth: Growth) -> str:
        """The smallest leaf in words."""
        rows = "1 row" if growth.min_leaf == 1 else f"{growth.min_leaf} rows"
        if self.min_leaf != "cv":
            return rows
        columns = ", cuts of all columns" if growth.column_share == 1.0 else ""
        return f"{rows}{columns}, by held-out rows"


def _deepest(above: list[FloatArray], y: IntArray, w: FloatArray) -> int:
    """From P(y > k) (N, K-1) of several forests: the one with the best ranked
    probability score if it leads the first by one standard error, else the first.
    """
    scores = [ranked_score(P, y, w) for P in above]
    best = int(np.argmin(scores))
    return best if score_gain(above[best], above[0], y, w)[1] > _LEAD else 0


def _certificate(above: FloatArray, score: float) -> Certificate:
    """Whether P(y > k) lies between 0 and 1 and never increases with k."""
    ends = np.hstack([np.ones((len(above), 1)), above, np.zeros((len(above), 1))])
    return Certificate(
        name="largest rise of P(y > k) with k",
        value=float(np.diff(ends, axis=1).max(initial=0.0)),
        tolerance=_MEAN_ROUNDING,
        details=(("training ranked probability score", score),),
        steps="trees grown",
    )

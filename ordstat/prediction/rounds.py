"""Rounds of gradient boosting on binned rows, with the loss of the cumulative logit
model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.linalg.lapack import dptsv

from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from ..boosting.weak import middle
from ..compiled.boost import OUTSIDE, grow, logit_slopes, logit_thresholds
from ..formula.row_blocks import CACHED, row_blocks
from ..formula.sample import Rows
from ..threads import Team, in_threads
from .trees import BoostedTrees, HeldOut, LinearStart, ValueTree

#: Most codes of a column of numbers.
MOST_BINS = 128
# A round on many columns takes time by their bins, not their rows: beyond this number
# of columns a bin holds 32 rows, but there are at least 32 bins.
_MANY_COLUMNS = 300
_FEWEST_BINS = 32
_ROWS_PER_BIN = 32


@dataclass(frozen=True, eq=False, kw_only=True)
class Bins:
    """Codes of rows: the number of cuts of the column below x. Cuts lie half way
    between two values.

    Attributes
    ----------
    codes : (D, N) uint8
        One more than the last code stands for a missing value.
    counts : (D,) int32
        Number of codes of values: number of cuts plus 1, or number of categories.
    gaps : (D,) uint8
        1 if a row has a missing value.
    kinds : (D,) uint8
        1 for categories, whose codes are the values of X; else 0.
    cuts : tuple of D increasing arrays
        Empty for categories.
    """

    codes: AnyArray
    counts: AnyArray
    gaps: AnyArray
    kinds: AnyArray
    cuts: tuple[FloatArray, ...]

    @classmethod
    def of(
        cls,
        X: FloatArray,
        rows: IntArray,
        weights: FloatArray,
        categories: IntArray | None,
        most: int = MOST_BINS,
    ) -> Bins:
        """One bin per value if a column has few distinct values, else bins of about
        equal weight.

        Parameters
        ----------
        X : (N, D)
            NaN for a missing value.
        rows : (M,)
            Rows of X to use.
        weights : (M,)
        categories : (D,) or None
            Numbers of categories of the columns, 0 for numbers; None if all columns are
            numbers.
        most : int
            Most bins of a column.
        """
        D = X.shape[1]
        kinds = np.zeros(D, dtype=np.intp) if categories is None else categories
        codes = np.empty((D, rows.size), dtype=np.uint8)
        gaps = np.zeros(D, dtype=np.uint8)
        counts = kinds.astype(np.int32)
        cuts = list[FloatArray]()
        for d in range(D):
            cuts.append(
                np.empty(0) if kinds[d] else _cuts(*_present(X, rows, d, weights), most)
            )
            if not kinds[d]:
                counts[d] = cuts[d].size + 1
            for block in row_blocks(rows.size, 1, CACHED):
                x = X[rows[block], d]
                missing = np.isnan(x)
                gaps[d] |= missing.any()
                places = x if kinds[d] else np.searchsorted(cuts[d], x, side="left")
                codes[d, block] = np.where(missing, counts[d], places)
        return cls(
            codes=codes,
            counts=counts,
            gaps=gaps,
            kinds=(kinds > 0).astype(np.uint8),
            cuts=tuple(cuts),
        )

    @property
    def plain(self) -> bool:
        """Whether there are neither categories nor missing values."""
        return not (self.gaps.any() or self.kinds.any())

    @property
    def flat(self) -> bool:
        """Whether every column is constant."""
        return bool((self.counts + self.gaps <= 1).all())


def most_bins(n_rows: int, n_columns: int) -> int:
    """Most bins of a column of numbers.

    Examples
    --------
    >>> most_bins(400, 300), most_bins(400, 301), most_bins(10_000, 301)
    (128, 32, 128)
    """
    if n_columns <= _MANY_COLUMNS:
        return MOST_BINS
    return min(MOST_BINS, max(_FEWEST_BINS, n_rows // _ROWS_PER_BIN))


def _present(
    X: FloatArray, rows: IntArray, d: int, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The non-missing values of a column, and their weights."""
    x = X[rows, d]
    missing = np.isnan(x)
    return (x[~missing], weights[~missing]) if missing.any() else (x, weights)


def _cuts(x: FloatArray, weights: FloatArray, most: int) -> FloatArray:
    """Increasing cuts below the largest value; sorts x in place."""
    if x.size == 0:
        return np.empty(0)
    if (weights == weights[:1]).all():
        x.sort()
        values = x
        places = _places(x, most)
    else:
        order = np.argsort(x, kind="stable")
        values = x[order]
        places = _weighted_places(values, np.cumsum(weights[order]), most)
    return middle(values[places[:-1]], values[np.minimum(places[:-1] + 1, x.size - 1)])


def _last_of_each(values: FloatArray) -> BoolArray:
    """(N,) whether the next of the sorted values differs."""
    last = np.ones(values.size, dtype=np.bool_)
    np.not_equal(values[1:], values[:-1], out=last[:-1])
    return last


def _places(values: FloatArray, most: int) -> IntArray:
    """Last rows of the distinct sorted values, or of those that divide the rows into
    about equal parts.
    """
    last = _last_of_each(values)
    if np.count_nonzero(last) <= most:
        return np.flatnonzero(last)
    # For each share, the last value that ends below it; the first value if there is
    # none.
    shares = np.arange(1.0, most) * (values.size / most * (1.0 + 1e-12))
    ends = np.floor(shares).astype(np.intp) - 1
    inside = ~last[ends]
    ends[inside] = np.searchsorted(values, values[ends[inside]], side="left") - 1
    first = int(np.searchsorted(values, values[0], side="right")) - 1
    return np.unique(np.append(np.maximum(ends, first), values.size - 1))


def _weighted_places(values: FloatArray, below: FloatArray, most: int) -> IntArray:
    """As `_places`, for rows with cumulative weights `below` (N,)."""
    places = np.flatnonzero(_last_of_each(values))
    if places.size <= most:
        return places
    sums = below[places]
    shares = sums[-1] * np.arange(1, most) / most
    # The last distinct value whose cumulative weight does not exceed the share.
    ends = np.searchsorted(sums, shares * (1.0 + 1e-12), side="right") - 1
    return np.unique(np.append(places[np.unique(ends.clip(min=0))], values.size - 1))


_NONE = np.empty(0)
#: Rounds between steps of the thresholds.
EVERY = 10
#: Largest step of a leaf before the learning rate, and smallest curvature of a leaf.
LONGEST = 4.0
_FLATTEST = 1e-3
# Most Newton steps to the best thresholds, largest slope per row at their end, and a
# ridge that keeps the system of a threshold far from all rows from being singular.
_MOST_STEPS = 200
_ZERO_SLOPE = 1e-9
_REGULAR = 1e-6
# Stop at this mean held-out loss.
_PERFECT = 0.01
# A loss counts as smaller if it falls by this share of the first held-out loss.
_LESS = 5e-4
#: Rounds between reports of progress.
TELL = 50
# Fewest columns per tree (fewer would rule out interactions), default share of
# columns, and most columns by default.
_FEW_COLUMNS = 5
_SHARE = 0.6
_MOST_DRAWN = 300
# Copies are drawn one by one if there are at most this many a row.
_MOST_COPIES = 4.0


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How trees are grown and added.

    Attributes
    ----------
    learning_rate : float
    depth : int
        Most cuts on a path.
    penalty : float
        Penalty of the squared leaf values.
    min_weight : float
        Smallest case weight of a leaf.
    subsample : float
        Share of the rows for each tree.
    column_share : float or None
        Share of the columns; None for 0.6, but at least 5 and at most 300 columns.
    """

    learning_rate: float
    depth: int
    penalty: float
    min_weight: float
    subsample: float
    column_share: float | None


@dataclass(frozen=True, eq=False, kw_only=True)
class Binned:
    """Binned rows for boosting.

    Attributes
    ----------
    bins : Bins
    y : (N,) uint16
    weights : (N,)
        0 for held-out rows.
    signs : (D,) int8
        1 if H must not decrease in the column, -1 if it must not increase, else 0.
    """

    bins: Bins
    y: AnyArray
    weights: FloatArray
    signs: AnyArray

    @property
    def total(self) -> float:
        """Sum of the weights."""
        return float(self.weights.sum())

    @property
    def uneven(self) -> FloatArray:
        """The weights; empty if all are 1."""
        return _NONE if (self.weights == 1.0).all() else self.weights

    def shares(self, n_levels: int) -> FloatArray:
        """(K,) shares of the levels, with a quarter of a row added on each side of
        every threshold.
        """
        counts = np.zeros(n_levels)
        for block in row_blocks(self.y.size, 1, CACHED):
            counts += np.bincount(self.y[block], self.weights[block], n_levels)
        below = (np.cumsum(counts)[:-1] + 0.25) / (self.total + 0.5)
        return np.diff(below, prepend=0.0, append=1.0)


@dataclass(eq=False, kw_only=True)
class Booster:
    """A growing sum of trees.

    Attributes
    ----------
    data : Binned
    settings : Settings
    rng : numpy.random.Generator
    scores : (N,) of all rows, updated in each round
    theta : (K-1,)
    keeps_trees : bool
        False if only the scores are wanted.
    trees : list of ValueTree
    losses : list of float
        Mean training loss before every round.
    thetas : list of (K-1,)
    team : callable or None
        Runs tasks on parts of the rows in parallel; see `threads.team_of`.
    """

    data: Binned
    settings: Settings
    rng: np.random.Generator
    scores: FloatArray
    theta: FloatArray
    team: Team | None = None
    keeps_trees: bool = True
    trees: list[ValueTree] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    thetas: list[FloatArray] = field(default_factory=list)

    def __post_init__(self) -> None:
        data = self.data
        depth = self.settings.depth
        learned = data.weights > 0
        self._weights = data.uneven
        self._alike = bool(((data.weights == 1.0) | ~learned).all())
        n_used = int(np.count_nonzero(learned))
        self._used = (
            None if n_used == learned.size else np.flatnonzero(learned).astype(np.int32)
        )
        if not self._alike:
            self._rows = np.flatnonzero(learned)
            w = data.weights[self._rows]
            self._whole = np.floor(w).astype(np.int64)
            self._rest = w - self._whole
            few = (self._rest == 0.0).all() and w.sum() <= _MOST_COPIES * w.size
            self._copies = np.repeat(self._rows, self._whole) if few else None
        self._place = np.empty(data.y.size, dtype=np.uint16)
        self._columns = np.arange(data.bins.counts.size, dtype=np.int32)
        size = min(2 ** (min(depth, n_used) + 1) - 1, 2 * n_used - 1)
        self._out = ValueTree.empty(size, size // 2 if data.bins.kinds.any() else 0)

    @property
    def made(self) -> int:
        """Number of rounds."""
        return len(self.losses)

    def add(self) -> None:
        """Add a tree; every few rounds, also step the thresholds."""
        data = self.data
        theta = self.theta
        nodes, loss = self._grown(self._drawn())
        self.losses.append(loss / data.total)
        self.thetas.append(theta)
        if self.keeps_trees:
            self.trees.append(self._out.upto(nodes))
        if self.made % EVERY == 0:
            self.theta = stepped(data.y, self._weights, self.scores, theta)[0]

    def repeat(
        self, rows: Rows, trees: BoostedTrees, losses: FloatArray, thetas: FloatArray
    ) -> None:
        """Take over earlier rounds on the same rows."""
        trees.add(rows, self.scores, 0, len(trees.trees))
        self.trees.extend(trees.trees)
        self.losses.extend(losses[:-1].tolist())
        self.thetas.extend(thetas[:-1])
        self.theta = thetas[-1]

    def mean_loss(self) -> float:
        """Mean loss of the training rows."""
        return (
            logit_loss(self.data.y, self._weights, self.scores, self.theta)
            / self.data.total
        )

    def sum_of(self, start: LinearStart) -> BoostedTrees:
        """The trees after a start."""
        return BoostedTrees(
            linear=start, cuts=self.data.bins.cuts, trees=tuple(self.trees)
        )

    def _grown(self, weights: FloatArray) -> tuple[int, float]:
        """Grow a tree of Newton steps on drawn rows and add it to the scores; return
        its number of nodes and the loss.
        """
        data = self.data
        s = self.settings
        bins = self.data.bins
        out = self._out
        nodes, loss = grow(
            bins.codes,
            bins.counts,
            bins.gaps,
            bins.kinds,
            data.signs,
            self._drawn_columns(),
            self._place,
            data.y,
            self.theta,
            self._weights,
            self.scores,
            weights,
            bins.plain,
            s.depth,
            s.min_weight,
            s.penalty,
            _FLATTEST,
            LONGEST,
            s.learning_rate,
            out.column,
            out.bin,
            out.child,
            out.gaps_left,
            out.sets,
            out.value,
            out.gain,
            out.weight,
            self.team,
        )
        return nodes, loss

    def _drawn(self) -> FloatArray:
        """Draw and mark the rows for a tree, each copy of a row independently; return
        their weights.
        """
        share = self.settings.subsample
        if share == 1.0 or (self._alike and not self._marked(share)):
            self._mark_all()
            return _NONE if self._alike else self.data.weights
        return _NONE if self._alike else self._drawn_copies(share)

    def _mark_all(self) -> None:
        """Mark all rows of positive weight."""
        self._place[:] = 0 if self._used is None else OUTSIDE
        if self._used is not None:
            self._place[self._used] = 0

    def _marked(self, share: float) -> bool:
        """Mark each row of positive weight with probability `share`; return whether any
        is marked.
        """
        if self._used is not None:
            self._place[:] = OUTSIDE
        n = self._place.size if self._used is None else self._used.size
        marked = False
        for block in row_blocks(n, 8, CACHED):
            left_out = ~self._hits(block.stop - block.start, share)
            marked |= not left_out.all()
            self._place[block if self._used is None else self._used[block]] = (
                left_out * np.uint16(OUTSIDE)
            )
        return marked

    def _drawn_copies(self, share: float) -> FloatArray:
        """(N,) number of copies drawn of each row, which is marked; all copies if none
        is drawn.
        """
        n = self.data.weights.size
        if self._copies is None:
            copies = self.rng.binomial(self._whole, share).astype(np.float64)
            copies += self._rest * self._hits(self._rows.size, share)
            weights = np.zeros(n)
            weights[self._rows] = copies
        else:
            drawn = self._copies[self._hits(self._copies.size, share)]
            weights = np.bincount(drawn, minlength=n).astype(np.float64)
        if not weights.any():
            self._mark_all()
            return self.data.weights
        self._place[:] = np.where(weights > 0, 0, OUTSIDE)
        return weights

    def _hits(self, n: int, share: float) -> AnyArray:
        """(n,) True with probability `share`."""
        return self.rng.random(n, dtype=np.float32) < share

    def _drawn_columns(self) -> AnyArray:
        n = self._columns.size
        share = self.settings.column_share
        if share is None:
            size = min(max(round(_SHARE * n), _FEW_COLUMNS), _MOST_DRAWN)
        else:
            size = max(round(share * n), 1)
        if size >= n:
            return self._columns
        return np.sort(self.rng.permutation(n)[:size]).astype(np.int32)


def logit_loss(
    y: AnyArray, weights: FloatArray, scores: FloatArray, theta: FloatArray
) -> float:
    """Sum of -log P(y) over rows; `weights` may be empty if all are 1."""
    return float(logit_slopes(y, scores, theta, weights, _NONE, _NONE))


def stepped(
    y: AnyArray, weights: FloatArray, scores: FloatArray, theta: FloatArray
) -> tuple[FloatArray, float]:
    """Ordered thresholds after one damped Newton step, and the largest slope of the
    loss before it.
    """
    gradient, diagonal, beside = (np.empty(theta.size) for _ in range(3))
    logit_thresholds(y, scores, theta, weights, gradient, diagonal, beside)
    diagonal = np.maximum(diagonal, 0.0) + _REGULAR
    step = gradient / diagonal  # kept if the whole system is not positive definite
    if theta.size > 1:
        _, _, solved, failed = dptsv(diagonal, beside[1:], gradient)
        step = step if failed else solved
    return damped(theta, step), float(np.abs(gradient).max())


def damped(theta: FloatArray, step: FloatArray) -> FloatArray:
    """theta - step, shortened so that no threshold moves by more than 1 and no gap
    shrinks by more than half.

    Examples
    --------
    >>> damped(np.array([0.0, 1.0]), np.array([-1.0, 1.0])).tolist()
    [0.25, 0.75]
    """
    share = 1.0 / max(float(np.abs(step).max()), 1.0)
    gaps = np.diff(theta)
    closing = np.diff(step)
    narrows = closing > 0.0
    if narrows.any():
        share = min(share, float((0.5 * gaps[narrows] / closing[narrows]).min()))
    return theta - share * step


def best_thresholds(
    y: AnyArray, weights: FloatArray, scores: FloatArray, theta: FloatArray
) -> tuple[FloatArray, float]:
    """The thresholds with the smallest loss for scores (N,), from a start, and the
    largest slope per row there.
    """
    w = _NONE if (weights == 1.0).all() else weights
    total = float(weights.sum())
    for _ in range(_MOST_STEPS):
        moved, slope = stepped(y, w, scores, theta)
        if slope <= _ZERO_SLOPE * total:
            break
        theta = moved
    return theta, stepped(y, w, scores, theta)[1] / total


def boosted_until(
    booster: Booster,
    held_weights: IntArray,
    weights: FloatArray,
    patience: int,
    most: int,
    tell: Callable[[int], None],
) -> FloatArray:
    """Add rounds until the loss of held-out rows has not fallen for `patience` rounds.

    Parameters
    ----------
    booster : Booster
        Held-out rows have weight 0 in its data.
    held_weights : (M,)
    weights : (M,)
    patience : int
        Stop after this many rounds without a smaller loss.
    most : int
        Most rounds.
    tell : callable(rounds)
        Called every 50 rounds.

    Returns
    -------
    curve : (T+1,)
        Mean loss of the held-out rows before the first and after each round.
    """
    y = booster.data.y[held_weights]
    w = _NONE if (weights == 1.0).all() else weights
    curve = list[float]()
    least = np.inf
    best = 0
    total = float(weights.sum())
    while True:
        H = booster.scores[held_weights]
        curve.append(logit_loss(y, w, H, booster.theta) / total)
        if curve[-1] < least - _LESS * curve[0]:
            least = curve[-1]
            best = booster.made
        if (
            booster.made - best >= patience
            or booster.made >= most
            or curve[-1] < _PERFECT
        ):
            return np.array(curve)
        booster.add()
        if booster.made % TELL == 0:
            tell(booster.made)


#: (depth, held-out fold, generator) -> booster before its first round.
Starts = Callable[[int, int, np.random.Generator], Booster]


def held_out_losses(
    starts: Starts,
    held_weights: FloatArray,
    depths: tuple[int, ...],
    rng: np.random.Generator,
    tick: Callable[[str, int], None],
    *,
    most: int,
    patience: int,
    fixed: bool,
    n_jobs: int,
) -> HeldOut:
    """Mean held-out loss for each depth and number of rounds.

    Parameters
    ----------
    starts : callable
    held_weights : (F, N)
        Weights of the rows that each fold holds out.
    depths : increasing tuple of int
    rng : numpy.random.Generator
        Each fold has its own generator, so that the result does not depend on the
        number of threads.
    tick : callable(message, steps)
        Called with 0 steps while rounds are added, and with 1 after each depth of each
        fold.
    most : int
        Most rounds.
    patience : int
        A fold stops after this many rounds without a smaller loss.
    fixed : bool
        Whether the loss after `most` rounds counts, instead of the smallest loss.
    n_jobs : int
        Number of threads; each works on one fold.
    """
    seeds = rng.integers(2**63, size=len(held_weights))

    def trial(depth: int, fold: int) -> FloatArray:
        where = f"depth {depth}, fold {fold + 1} of {len(held_weights)}"
        booster = starts(depth, fold, np.random.default_rng(seeds[fold]))
        rows = np.flatnonzero(held_weights[fold])

        def tell(rounds: int) -> None:
            tick(f"{where}: {rounds} rounds", 0)

        curve = boosted_until(
            booster, rows, held_weights[fold, rows], patience, most, tell
        )
        tick(where, 1)
        return curve

    tasks = [(depth, fold) for depth in depths for fold in range(len(held_weights))]
    curves = in_threads(trial, tasks, n_jobs)
    parts = [
        curves[start : start + len(held_weights)]
        for start in range(0, len(curves), len(held_weights))
    ]
    means = tuple(_mean_curve(part, held_weights.sum(axis=1)) for part in parts)
    chosen = int(np.argmin([curve[-1] if fixed else curve.min() for curve in means]))
    return HeldOut(depths=depths, losses=means, chosen=chosen, folds=len(held_weights))


def _mean_curve(curves: Sequence[FloatArray], sizes: FloatArray) -> FloatArray:
    """Weighted mean of curves of different length; shorter ones are extended by their
    last value.
    """
    longest = max(curve.size for curve in curves)
    padded = np.stack(
        [np.pad(curve, (0, longest - curve.size), mode="edge") for curve in curves]
    )
    return np.asarray(sizes @ padded / sizes.sum())

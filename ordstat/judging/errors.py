"""Error tables and agreement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cache, cached_property
from typing import Any

import numpy as np

from .._typing import AnyArray, BoolArray, FloatArray, IntArray, Progress
from ..checks import whole
from .costs import apart


@dataclass(frozen=True, kw_only=True)
class PairCounts:
    """Weighted counts of the unordered pairs of rows whose observed ranks differ.

    Attributes
    ----------
    concordant, discordant, tied : float
        Pairs whose scores are ordered as the ranks, the other way round, or equal.
    weight : float
        Sum of the case weights W; there are W^2 ordered pairs of rows, a row with itself included.
    """

    concordant: float
    discordant: float
    tied: float
    weight: float

    @property
    def total(self) -> float:
        """Number of pairs of different ranks."""
        return self.concordant + self.discordant + self.tied


@dataclass(frozen=True, eq=False)
class _Pass:
    """Rows arranged for one bit of the rank, with the ends of each row's group and tie among them."""

    order: IntArray
    upper: BoolArray  # the rank's bit is 1
    group: tuple[IntArray, IntArray]
    tie: tuple[IntArray, IntArray]


@dataclass(frozen=True, eq=False, kw_only=True)
class PairOrder:
    """Rows sorted once, so that pairs can be counted under any weights in O(N log K): the bootstrap needs many.

    Two ranks differ first, from the top, at one bit. Among rows that share the higher bits, those pairs are one
    row with bit 0 and one with bit 1, and cumulative sums in the order of the scores count them.

    Examples
    --------
    >>> order = PairOrder.of(np.array([0, 0, 1, 2]), np.array([0.1, 0.9, 0.5, 0.9]))
    >>> order.counts(np.ones(4))
    PairCounts(concordant=3.0, discordant=1.0, tied=1.0, weight=4.0)
    """

    passes: tuple[_Pass, ...]

    @classmethod
    def of(cls, y: IntArray, scores: AnyArray, groups: IntArray | None = None) -> PairOrder:
        """Arrange codes y (N,) and finite scores (N,), of which only the order matters; rounding is none.

        With `groups` (N,), whole numbers from 0, only pairs within a group are counted.
        """
        bits = int(y.max(initial=0)).bit_length()
        if groups is not None:  # above all bits of the ranks: rows of two groups share no higher bits
            y = (groups << bits) | y
        by_score = _sorting(scores)
        ordered, ranks = scores[by_score], y[by_score]
        ties = np.cumsum(apart(ordered), dtype=np.intp)
        return cls(passes=tuple(_arrange(ranks, ties, by_score, bit) for bit in range(bits)))

    def counts(self, weights: FloatArray) -> PairCounts:
        """Pairs under case weights (N,)."""
        concordant = discordant = tied = 0.0
        for step in self.passes:
            w = weights[step.order]
            upper = np.where(step.upper, w, 0.0)
            lower = np.concatenate(([0.0], np.cumsum(np.where(step.upper, 0.0, w))))
            start, under, upto, end = (lower[place] for place in (step.group[0], *step.tie, step.group[1]))
            concordant += float(upper @ (under - start))
            tied += float(upper @ (upto - under))
            discordant += float(upper @ (end - upto))
        return PairCounts(concordant=concordant, discordant=discordant, tied=tied, weight=float(weights.sum()))


def _sorting(values: AnyArray) -> IntArray:
    """Positions of the values in order; codes keep the order of equal ones, and are sorted by counting."""
    if values.dtype.kind not in "iu":
        return np.argsort(values)
    narrow = values.size > 0 and values.min() >= 0 and values.max() < 1 << 16
    return np.argsort(values.astype(np.uint16) if narrow else values, kind="stable")


def _arrange(y: IntArray, ties: IntArray, rows: IntArray, bit: int) -> _Pass:
    """Group rows (given in the order of their scores, equal ones with the same tie) by the bits of y above `bit`."""
    group = y >> (bit + 1)
    inside = _sorting(group)
    group, ties = group[inside], ties[inside]
    new_group = np.concatenate(([True], group[1:] != group[:-1]))
    new_score = new_group.copy()
    new_score[1:] |= ties[1:] != ties[:-1]
    upper = ((y[inside] >> bit) & 1).astype(np.bool_)
    return _Pass(rows[inside], upper, _runs(new_group), _runs(new_score))


def _runs(begins: BoolArray) -> tuple[IntArray, IntArray]:
    """First position of every entry's run, and the position after its last, from the mask of first entries."""
    starts = np.append(np.flatnonzero(begins), begins.size)
    lengths = np.diff(starts)
    return np.repeat(starts[:-1], lengths), np.repeat(starts[1:], lengths)


def ratio(numerator: float, denominator: float) -> float:
    """Their quotient; NaN where the denominator is 0."""
    return numerator / denominator if denominator > 0 else float("nan")


def preference_risk(pairs: PairCounts) -> float:
    """R_pref: the share of all ordered pairs (x1, x2) that have different ranks and are not ordered as their ranks.

    A tie of the predictions counts as an error [Herbrich et al. 2000, eq. 7.11, 7.13]; `pairs` are those of the
    predicted ranks.
    """
    return ratio(2.0 * (pairs.discordant + pairs.tied), pairs.weight**2)


def inversions(pairs: PairCounts) -> float:
    """Share of the pairs of different ranks that are not ordered as their ranks, ties included.

    The figure of the experiments of Herbrich et al. (2000), R_emp / m'.
    """
    return ratio(pairs.discordant + pairs.tied, pairs.total)


def concordance(pairs: PairCounts) -> float:
    """C index: the share of the pairs of different ranks whose scores are in order, ties counting one half."""
    return ratio(pairs.concordant + 0.5 * pairs.tied, pairs.total)


def somers_d(pairs: PairCounts) -> float:
    """Somers' D of the scores given the ranks, 2 C - 1."""
    return ratio(pairs.concordant - pairs.discordant, pairs.total)


def _varies(codes: IntArray, weights: FloatArray) -> bool:
    """Whether rows of positive weight have more than one rank; asked before dividing by a rounded variance."""
    return bool(np.count_nonzero(np.bincount(codes, weights=weights)) > 1)


def kendall_tau_b(pairs: PairCounts, codes: IntArray, weights: FloatArray) -> float:
    """Kendall's tau-b between observed and predicted ranks; `pairs` are those of the predicted codes (N,)."""
    if not _varies(codes, weights):
        return float("nan")
    predicted = np.bincount(codes, weights=weights)
    different = 0.5 * (pairs.weight**2 - float(predicted @ predicted))
    return ratio(pairs.concordant - pairs.discordant, float(np.sqrt(pairs.total * different)))


def _mid_ranks(codes: IntArray, weights: FloatArray) -> FloatArray:
    """(N,) average place of every row among all, centred."""
    level = np.bincount(codes, weights=weights)
    places = (np.cumsum(level) - 0.5 * level)[codes]
    return np.asarray(places - np.average(places, weights=weights))


def spearman(y: IntArray, codes: IntArray, weights: FloatArray) -> float:
    """Spearman's rank correlation between observed and predicted ranks (N,), ties at their average place."""
    if not (_varies(y, weights) and _varies(codes, weights)):
        return float("nan")
    a, b = _mid_ranks(y, weights), _mid_ranks(codes, weights)
    return float(weights @ (a * b)) / float(np.sqrt((weights @ a**2) * (weights @ b**2)))


def weighted_kappa(y: IntArray, codes: IntArray, weights: FloatArray, *, power: int) -> float:
    """Cohen's kappa with disagreement |y - code|^power: 1 for linear weights, 2 for quadratic.

    1 - observed / expected, the expectation being over independent ranks with the same frequencies.
    """
    if not _varies(np.concatenate((y, codes)), np.concatenate((weights, weights))):
        return float("nan")
    if not (_varies(y, weights) and _varies(codes, weights)):
        return 0.0  # what is expected of a constant is what is observed
    total = float(weights.sum())
    size = int(max(y.max(), codes.max())) + 1
    observed = float(weights @ np.abs(y - codes).astype(np.float64) ** power) / total
    p, q = (np.bincount(c, weights=weights, minlength=size) / total for c in (y, codes))
    expected = _expected_distance(p, q) if power == 1 else _expected_square(p, q)
    return 1.0 - observed / expected


def _expected_distance(p: FloatArray, q: FloatArray) -> float:
    """E|A - B| for independent A ~ p and B ~ q: the sum over cuts of the chance that they fall on two sides."""
    below_a, below_b = np.cumsum(p)[:-1], np.cumsum(q)[:-1]
    return float(np.sum(below_a * (1.0 - below_b) + below_b * (1.0 - below_a)))


def _expected_square(p: FloatArray, q: FloatArray) -> float:
    """E(A - B)^2 for independent A ~ p and B ~ q."""
    rank = np.arange(p.size, dtype=np.float64)
    mean_a, mean_b = float(p @ rank), float(q @ rank)
    return float(p @ (rank - mean_a) ** 2 + q @ (rank - mean_b) ** 2 + (mean_a - mean_b) ** 2)


_LOSSES = ("classification error", "absolute error", "squared error")
#: Measures of predicted ranks, in the order of a table.
RANK_MEASURES = (*_LOSSES, *(f"macro {name}" for name in _LOSSES), "cost")
#: Pairs of rows, counted when a measure needs them.
Pairs = Callable[[], PairCounts]
#: Measures by the pairs of rows, ordered by predicted ranks and by scores, and by the case weights.
_AGREEMENT: dict[str, Callable[[Predictions, Pairs, Pairs, FloatArray], float]] = {
    "R_pref": lambda p, ranks, scores, weights: preference_risk(ranks()),
    "inversions": lambda p, ranks, scores, weights: inversions(ranks()),
    "concordance": lambda p, ranks, scores, weights: concordance(scores()),
    "Somers' D": lambda p, ranks, scores, weights: somers_d(scores()),
    "Kendall tau-b": lambda p, ranks, scores, weights: kendall_tau_b(ranks(), p.codes, weights),
    "Spearman": lambda p, ranks, scores, weights: spearman(p.y, p.codes, weights),
    "linear kappa": lambda p, ranks, scores, weights: weighted_kappa(p.y, p.codes, weights, power=1),
    "quadratic kappa": lambda p, ranks, scores, weights: weighted_kappa(p.y, p.codes, weights, power=2),
}


@dataclass(frozen=True, eq=False, kw_only=True)
class Predictions:
    """Observed ranks beside what a ranker says of them.

    Attributes
    ----------
    y, codes : (N,) observed and predicted codes 0..K-1
    scores : (N,) potential H, or what else orders the rows; only its order is used
    n_levels : int
        K.
    weights : (N,) case weights
    paid : (N,) or None
        What every prediction costs under the fit's own cost.
    probabilities : (N, K) or None
    """

    y: IntArray
    codes: IntArray
    scores: FloatArray
    n_levels: int
    weights: FloatArray
    paid: FloatArray | None = None
    probabilities: FloatArray | None = None

    def take(self, index: AnyArray) -> Predictions:
        """The rows at `index`."""
        parts: dict[str, Any] = {field.name: getattr(self, field.name) for field in fields(self)}
        taken: dict[str, Any] = {n: part[index] for n, part in parts.items() if isinstance(part, np.ndarray)}
        return replace(self, **taken)

    @cached_property
    def _rank_losses(self) -> FloatArray:
        """(3 or 4, N) classification, absolute, squared loss and the fit's own cost of every row."""
        distance = np.abs(self.y - self.codes).astype(np.float64)
        losses = [(distance > 0).astype(np.float64), distance, distance**2]
        return np.stack(losses if self.paid is None else [*losses, self.paid])

    @cached_property
    def _probability_losses(self) -> FloatArray:
        """(3, N) log-loss, ranked probability score and Brier score of every row; (0, N) without probabilities."""
        if self.probabilities is None:
            return np.empty((0, self.y.size))
        return np.stack([loss(self.probabilities, self.y) for loss in _PROBABILITY.values()])

    @cached_property
    def _rank_pairs(self) -> PairOrder:
        return PairOrder.of(self.y, self.codes)

    @cached_property
    def _score_pairs(self) -> PairOrder:
        return PairOrder.of(self.y, self.scores)


@dataclass(frozen=True, eq=False, kw_only=True)
class ErrorTable:
    """Measures by name.

    Attributes
    ----------
    names : tuple of str
    values : (M,)
        NaN where a measure has no meaning (all rows of one rank, for instance).
    standard_errors : (M,) or None
    """

    names: tuple[str, ...]
    values: FloatArray
    standard_errors: FloatArray | None = None

    def value(self, name: str) -> float:
        """The measure called `name`."""
        return float(self.values[self.names.index(name)])


def log_losses(probabilities: FloatArray, y: IntArray) -> FloatArray:
    """(N,) -log p of the observed rank, in nats; infinite where p = 0, NaN where p < 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        losses: FloatArray = -np.log(probabilities[np.arange(y.size), y])
    return losses


def ranked_probability_scores(probabilities: FloatArray, y: IntArray) -> FloatArray:
    """(N,) sum over the K-1 thresholds of (P(rank <= k) - [y <= k])^2 (Epstein 1969), not divided by K-1.

    For a prediction without doubt it is the absolute error |y - code|.
    """
    cumulative = np.cumsum(probabilities[:, :-1], axis=1)
    happened = y[:, None] <= np.arange(probabilities.shape[1] - 1)
    return np.asarray(np.sum((cumulative - happened) ** 2, axis=1))


def brier_scores(probabilities: FloatArray, y: IntArray) -> FloatArray:
    """(N,) sum over all K ranks of (P(rank = k) - [y = k])^2, Brier's (1950) form: between 0 and 2."""
    of_observed = probabilities[np.arange(y.size), y]
    return np.asarray(np.sum(probabilities**2, axis=1) - 2.0 * of_observed + 1.0)


_PROBABILITY = {
    "log-loss": log_losses,
    "ranked probability score": ranked_probability_scores,
    "Brier score": brier_scores,
}
#: Every measure, in the order of a table of predictions that have all; and those of which more is better.
MEASURES = (*RANK_MEASURES, *_AGREEMENT, *_PROBABILITY)
LARGER_IS_BETTER = frozenset(
    ("concordance", "Somers' D", "Kendall tau-b", "Spearman", "linear kappa", "quadratic kappa")
)


def confusion(y: IntArray, codes: IntArray, weights: FloatArray, n_levels: int) -> FloatArray:
    """(K, K) weight of the rows of each observed rank (row) that are given each rank (column).

    Examples
    --------
    >>> confusion(np.array([0, 1, 1]), np.array([0, 0, 1]), np.ones(3), 2)
    array([[1., 0.],
           [1., 1.]])
    """
    cells = np.bincount(y * n_levels + codes, weights=weights, minlength=n_levels**2)
    return cells.astype(np.float64).reshape(n_levels, n_levels)


def rank_means(losses: FloatArray, y: IntArray, weights: FloatArray, n_levels: int) -> FloatArray:
    """(M, K) mean of each loss (M, N) over the rows of each observed rank; NaN for a rank that no row has."""
    count = np.bincount(y, weights=weights, minlength=n_levels)
    sums = np.array([np.bincount(y, weights=weights * loss, minlength=n_levels) for loss in losses])
    with np.errstate(invalid="ignore", divide="ignore"):
        means: FloatArray = sums.reshape(len(losses), n_levels) / count
    return means


def per_rank_errors(predictions: Predictions) -> FloatArray:
    """(3, K) classification, absolute and squared error among the rows of each observed rank."""
    return rank_means(predictions._rank_losses[:3], predictions.y, predictions.weights, predictions.n_levels)


def error_table(predictions: Predictions) -> ErrorTable:
    """Every measure of methods of ordinal regression that these predictions allow.

    Classification error [y != code], absolute error |y - code| and squared error (y - code)^2; their macro averages,
    the mean over the ranks observed of the mean within a rank; the fit's own cost. R_pref, inversions, Kendall's
    tau-b, Spearman and kappa compare observed with predicted ranks; concordance and Somers' D use the scores, or
    under nominal or scale effects, where scores of different rows do not compare, the expected ranks. Of probabilities:
    log-loss, ranked probability score and Brier score (over all ranks, from 0 to 2).

    Parameters
    ----------
    predictions : Predictions

    Returns
    -------
    ErrorTable
        Without standard errors.

    Examples
    --------
    >>> y, codes = np.array([0, 0, 1, 2]), np.array([0, 1, 1, 1])
    >>> table = error_table(Predictions(y=y, codes=codes, scores=codes * 1.0, n_levels=3, weights=np.ones(4)))
    >>> table.value("absolute error"), table.value("macro absolute error")
    (0.5, 0.5)
    """
    return ErrorTable(names=measures_of(predictions), values=_values(predictions, predictions.weights))


def measures_of(p: Predictions) -> tuple[str, ...]:
    """Names of the measures that these predictions allow, in the order of their table."""
    ranks = RANK_MEASURES if p.paid is not None else RANK_MEASURES[:-1]
    return (*ranks, *_AGREEMENT, *(_PROBABILITY if p.probabilities is not None else ()))


def _values(p: Predictions, weights: FloatArray) -> FloatArray:
    """All measures of `p` under other case weights (N,), in the order of `measures_of`."""
    total = weights.sum()
    means = p._rank_losses @ weights / total
    macro = np.nanmean(rank_means(p._rank_losses[:3], p.y, weights, p.n_levels), axis=1)
    # A row of weight zero may have an infinite log-loss: it must not turn the mean into NaN.
    probability = np.where(weights > 0, p._probability_losses, 0.0) @ weights / total
    ranks, scores = _pairs(p, weights)
    agreement = [measure(p, ranks, scores, weights) for measure in _AGREEMENT.values()]
    return np.concatenate((means[:3], macro, means[3:], agreement, probability))


def _pairs(p: Predictions, weights: FloatArray) -> tuple[Pairs, Pairs]:
    """The pairs of rows by predicted ranks and by scores, each counted once."""
    return cache(lambda: p._rank_pairs.counts(weights)), cache(lambda: p._score_pairs.counts(weights))


def one_measure(predictions: Predictions, name: str) -> float:
    """One measure of `error_table`, without the work for the others.

    Parameters
    ----------
    predictions : Predictions
    name : str
        One of `measures_of`.

    Examples
    --------
    >>> y, codes = np.array([0, 0, 1, 2]), np.array([0, 1, 1, 1])
    >>> p = Predictions(y=y, codes=codes, scores=codes * 1.0, n_levels=3, weights=np.ones(4))
    >>> one_measure(p, "macro absolute error") == error_table(p).value("macro absolute error")
    True
    """
    p, weights = predictions, predictions.weights
    if name in _AGREEMENT:
        return float(_AGREEMENT[name](p, *_pairs(p, weights), weights))
    if name in _PROBABILITY:
        losses = np.where(weights > 0, p._probability_losses[list(_PROBABILITY).index(name)], 0.0)
    elif name.startswith("macro "):
        place = _LOSSES.index(name.removeprefix("macro "))
        return float(np.nanmean(rank_means(p._rank_losses[place : place + 1], p.y, weights, p.n_levels)))
    else:
        losses = p._rank_losses[(*_LOSSES, "cost").index(name)]
    return float(losses @ weights / weights.sum())


def bootstrap_table(
    predictions: Predictions,
    resamples: int,
    rng: np.random.Generator,
    cluster: IntArray | None = None,
    progress: Progress | None = None,
) -> ErrorTable:
    """The error table with bootstrap standard errors: predictions stay, rows are drawn again.

    Parameters
    ----------
    predictions : Predictions
    resamples : int
        Number of bootstrap samples, at least 2.
    rng : numpy.random.Generator
    cluster : (N,) codes 0..G-1, optional
        Whole clusters are drawn instead of rows.
    progress : callable(step, total, message), optional
        Called after every resample.

    Returns
    -------
    ErrorTable
        Values of the sample itself; standard errors from the resamples in which a measure has a meaning. They tell
        how far the error of this fitted rule may be off, not how much a new fit would vary.

    Raises
    ------
    OptionError
        Fewer than 2 resamples.
    """
    whole("the number of bootstrap samples", resamples, 2)
    values = []
    for step in range(resamples):
        values.append(_values(predictions, drawn_weights(predictions.weights, cluster, rng)))
        if progress is not None:
            progress(step + 1, resamples, "bootstrap")
    return replace(error_table(predictions), standard_errors=deviations(np.array(values)))


def drawn_weights(weights: FloatArray, cluster: IntArray | None, rng: np.random.Generator) -> FloatArray:
    """(N,) case weights of one bootstrap sample: sum(weights) rows, or as many clusters as there are."""
    if cluster is not None:
        n_clusters = int(cluster.max()) + 1
        times = np.bincount(rng.integers(n_clusters, size=n_clusters), minlength=n_clusters)
        return weights * times[cluster]
    total = float(weights.sum())
    draws = max(round(total), 1)
    drawn = rng.multinomial(draws, weights / total).astype(np.float64) * (total / draws)
    return drawn


def error_deviations(values: FloatArray) -> FloatArray:
    """`deviations` of error measures, NaN where one of the values is infinite, for then so is their mean."""
    return np.where(np.isinf(values).any(axis=0), np.nan, deviations(values))


def deviations(values: FloatArray) -> FloatArray:
    """(M,) standard deviation of each column of (B, M), over the rows where it is finite; NaN below two of them."""
    finite = np.isfinite(values)
    count = finite.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(finite, values, 0.0).sum(axis=0) / count
        squares = np.where(finite, (values - mean) ** 2, 0.0).sum(axis=0)
        spread: FloatArray = np.where(count > 1, np.sqrt(squares / (count - 1)), np.nan)
    return spread

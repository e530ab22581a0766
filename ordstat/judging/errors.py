"""Error measures and agreement of predicted with observed ranks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np
import pandas as pd

from .._typing import AnyArray, FloatArray, IntArray
from .costs import apart, named_costs


@dataclass(frozen=True, kw_only=True)
class PairCounts:
    """Weighted counts of the unordered pairs of rows whose observed ranks differ.

    Attributes
    ----------
    concordant, discordant, tied : float
        Pairs with scores ordered like the ranks, in reverse, or equal.
    weight : float
        Sum of the case weights W; there are W^2 ordered pairs of rows, including each
        row with itself.
    """

    concordant: float
    discordant: float
    tied: float
    weight: float

    @property
    def total(self) -> float:
        """Number of pairs of different ranks."""
        return self.concordant + self.discordant + self.tied


def score_codes(scores: AnyArray) -> IntArray:
    """(N,) codes 0..U-1 of the distinct scores, lowest first; differences by rounding
    are ties.
    """
    order = np.argsort(scores)
    codes = np.empty(order.size, dtype=np.intp)
    codes[order] = np.cumsum(apart(scores[order])) - 1
    return codes


def pairs_of_rows(y: IntArray, scores: AnyArray, weights: FloatArray) -> PairCounts:
    """Counts of pairs of rows, in O(N log N + N log K).

    Parameters
    ----------
    y : (N,) codes
    scores : (N,)
        Finite; only their order matters, and differences by rounding are ties.
    weights : (N,) case weights

    Examples
    --------
    >>> scores = np.array([0.1, 0.9, 0.5, 0.9])
    >>> pairs_of_rows(np.array([0, 0, 1, 2]), scores, np.ones(4))
    PairCounts(concordant=3.0, discordant=1.0, tied=1.0, weight=4.0)
    """
    order = np.argsort(scores)
    codes = np.cumsum(apart(scores[order])) - 1
    ranks = y[order]
    w = np.asarray(weights, dtype=np.float64)[order]
    earlier = np.searchsorted(codes, codes)  # rows of lower score
    top = int(ranks.max(initial=0))
    return PairCounts(
        concordant=float(w @ _weight_below(ranks, w, earlier)),
        discordant=float(w @ _weight_below(top - ranks, w, earlier)),
        tied=_tied_weight(codes, ranks, w),
        weight=float(w.sum()),
    )


def _tied_weight(codes: IntArray, ranks: IntArray, weights: FloatArray) -> float:
    """Weight of the pairs of equal codes and different ranks."""
    order = np.lexsort((ranks, codes))
    new_code = np.diff(codes[order], prepend=-1) != 0
    new_cell = new_code | (np.diff(ranks[order], prepend=-1) != 0)
    cells = np.bincount(np.cumsum(new_cell) - 1, weights[order])
    of_code = np.cumsum(new_code[new_cell]) - 1
    lower = np.cumsum(cells) - cells
    before = lower - lower[new_code[new_cell]][of_code]
    return float(cells @ before)


def _weight_below(
    ranks: IntArray, weights: FloatArray, earlier: IntArray
) -> FloatArray:
    """(N,) for each row the weight of lower ranks among the first `earlier` rows.

    Bit by bit from the highest, rows of equal higher bits stay together in their order,
    zeros before ones: [start, end) are the first rows among those that share the bits
    of a row so far, and the zeros among them are lower where the row has a one [wavelet
    matrix, Claude, Navarro and Ordonez 2015, Information Systems 47].
    """
    total = np.zeros(ranks.size)
    start = np.zeros(ranks.size, dtype=np.intp)
    end = earlier.astype(np.intp)
    kept = ranks
    mass = weights
    for bit in range(int(ranks.max(initial=0)).bit_length() - 1, -1, -1):
        ones = (kept >> bit) & 1 == 1
        zeros_before = np.append(0, np.cumsum(~ones))
        mass_before = np.append(0.0, np.cumsum(np.where(ones, 0.0, mass)))
        has_one = (ranks >> bit) & 1 == 1
        low = zeros_before[start]
        high = zeros_before[end]
        total += np.where(has_one, mass_before[end] - mass_before[start], 0.0)
        first_one = zeros_before[-1]
        start = np.where(has_one, first_one + start - low, low)
        end = np.where(has_one, first_one + end - high, high)
        order = np.argsort(ones, kind="stable")
        kept = kept[order]
        mass = mass[order]
    return total


def pair_counts(table: FloatArray) -> PairCounts:
    """Counts of pairs from a table (U, K), the weight of the rows by increasing score
    and rank.
    """
    # weight of the rows of lower score, by rank
    lower = np.cumsum(table, axis=0) - table
    to_rank = np.cumsum(lower, axis=1)
    return PairCounts(
        concordant=float(np.vdot(table, to_rank - lower)),
        discordant=float(np.vdot(table, to_rank[:, -1:] - to_rank)),
        tied=float(np.vdot(table, np.cumsum(table, axis=1) - table)),
        weight=float(table.sum()),
    )


def ratio(numerator: float, denominator: float) -> float:
    """The quotient; NaN if the denominator is 0."""
    return numerator / denominator if denominator > 0 else float("nan")


def concordance(pairs: PairCounts) -> float:
    """C index: share of pairs of different ranks with scores in the same order; ties
    count one half.
    """
    return ratio(pairs.concordant + 0.5 * pairs.tied, pairs.total)


def somers_d(pairs: PairCounts) -> float:
    """Somers' D of the scores given the ranks, 2 C - 1."""
    return ratio(pairs.concordant - pairs.discordant, pairs.total)


def confusion(
    y: IntArray, codes: IntArray, weights: FloatArray, n_levels: int
) -> FloatArray:
    """(K, K) weight of the rows by observed rank (rows) and predicted rank (columns).

    Examples
    --------
    >>> confusion(np.array([0, 1, 1]), np.array([0, 0, 1]), np.ones(3), 2)
    array([[1., 0.],
           [1., 1.]])
    """
    cells = np.bincount(y * n_levels + codes, weights=weights, minlength=n_levels**2)
    return cells.astype(np.float64).reshape(n_levels, n_levels)


# Measures of predicted ranks, from a confusion matrix (K, K)


def mean_cost(cells: FloatArray, cost: str) -> float:
    """Mean of a named cost over all rows."""
    return float(np.vdot(cells, named_costs(cost, len(cells))) / cells.sum())


def level_costs(cells: FloatArray, cost: str) -> FloatArray:
    """(K,) mean of a named cost over the rows of each observed rank; NaN for a rank
    without rows.
    """
    with np.errstate(invalid="ignore"):
        return np.asarray(
            (cells * named_costs(cost, len(cells))).sum(axis=1) / cells.sum(axis=1)
        )


def _macro(cells: FloatArray, cost: str) -> float:
    return float(np.nanmean(level_costs(cells, cost)))


def preference_risk(cells: FloatArray) -> float:
    """R_pref: the share of all ordered pairs (x1, x2) that have different ranks and
    predictions in the wrong order.

    A tie of the predictions counts as an error [Herbrich et al. 2000, eq. 7.11, 7.13].
    """
    pairs = pair_counts(cells.T)
    return ratio(2.0 * (pairs.discordant + pairs.tied), pairs.weight**2)


def inversions(cells: FloatArray) -> float:
    """Share of the pairs of different ranks whose predictions are in the wrong order,
    or tied.

    This is R_emp / m' in the experiments of Herbrich et al. (2000).
    """
    pairs = pair_counts(cells.T)
    return ratio(pairs.discordant + pairs.tied, pairs.total)


def kendall_tau_b(cells: FloatArray) -> float:
    """Kendall's tau-b between observed and predicted ranks."""
    predicted = cells.sum(axis=0)
    if np.count_nonzero(predicted) <= 1:
        return float("nan")
    pairs = pair_counts(cells.T)
    different = 0.5 * (pairs.weight**2 - float(predicted @ predicted))
    return ratio(
        pairs.concordant - pairs.discordant, float(np.sqrt(pairs.total * different))
    )


def spearman(cells: FloatArray) -> float:
    """Spearman's rank correlation between the ranks of rows and columns (K, M), ties at
    their average rank.
    """
    rows, columns = np.nonzero(cells)
    return rank_correlation(rows, columns, cells[rows, columns])


def rank_correlation(a: IntArray, b: IntArray, weights: FloatArray) -> float:
    """Spearman's rank correlation of codes a and b (N,), ties at their average rank."""
    codes = (a, b)
    margins = [np.bincount(each, weights) for each in codes]
    # before dividing by a rounded variance
    if min(map(np.count_nonzero, margins)) <= 1:
        return float("nan")
    ranks = [np.cumsum(margin) - 0.5 * margin for margin in margins]
    centred = [
        rank - np.average(rank, weights=margin)
        for rank, margin in zip(ranks, margins, strict=True)
    ]
    of_rows = [each[code] for each, code in zip(centred, codes, strict=True)]
    sizes = [margin @ each**2 for margin, each in zip(margins, centred, strict=True)]
    return float(weights @ (of_rows[0] * of_rows[1])) / float(
        np.sqrt(sizes[0] * sizes[1])
    )


def weighted_kappa(cells: FloatArray, cost: str) -> float:
    """Cohen's kappa with a named cost as the disagreement: 1 - observed / expected.

    The expectation is over independent ranks with the same frequencies.
    """
    rows = cells.sum(axis=1)
    columns = cells.sum(axis=0)
    if np.count_nonzero(rows + columns) <= 1:
        return float("nan")
    if np.count_nonzero(rows) <= 1 or np.count_nonzero(columns) <= 1:
        return 0.0  # observed and expected disagreement are equal
    return 1.0 - mean_cost(cells, cost) / float(
        rows @ named_costs(cost, len(cells)) @ columns / cells.sum() ** 2
    )


_COSTS = {f"{cost} error": cost for cost in ("classification", "absolute", "squared")}
_OF_CELLS: dict[str, Callable[[FloatArray], float]] = {
    **{name: partial(mean_cost, cost=cost) for name, cost in _COSTS.items()},
    **{f"macro {name}": partial(_macro, cost=cost) for name, cost in _COSTS.items()},
    "R_pref": preference_risk,
    "inversions": inversions,
    "Kendall tau-b": kendall_tau_b,
    "Spearman": spearman,
    "linear kappa": partial(weighted_kappa, cost="absolute"),
    "quadratic kappa": partial(weighted_kappa, cost="squared"),
}
_OF_SCORES: dict[str, Callable[[PairCounts], float]] = {
    "concordance": concordance,
    "Somers' D": somers_d,
}


@dataclass(frozen=True, eq=False, kw_only=True)
class Predictions:
    """Observed ranks with the predictions of a ranker.

    Attributes
    ----------
    y, codes : (N,) observed and predicted codes 0..K-1
    scores : (N,) potential H or another score; only its order is used
    n_levels : int
        K.
    weights : (N,) case weights
    paid : (N,) or None
        Cost of each prediction, by the cost of the fit.
    probabilities : (N, K) or None
    decided : dict of (N,) codes
        For some measures, predictions that are judged instead of `codes`.
    """

    y: IntArray
    codes: IntArray
    scores: FloatArray
    n_levels: int
    weights: FloatArray
    paid: FloatArray | None = None
    probabilities: FloatArray | None = None
    decided: Mapping[str, IntArray] = field(default_factory=dict)

    @cached_property
    def losses(self) -> dict[str, FloatArray]:
        """(N,) cost of each row by the cost of the fit, and its losses by
        probabilities.
        """
        losses = {} if self.paid is None else {"cost": self.paid}
        if self.probabilities is not None:
            losses |= {
                name: loss(self.probabilities, self.y)
                for name, loss in _OF_PROBABILITIES.items()
            }
        return losses


def log_losses(probabilities: FloatArray, y: IntArray) -> FloatArray:
    """(N,) -log p of the observed rank; infinite where p = 0, NaN where p < 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        losses: FloatArray = -np.log(probabilities[np.arange(y.size), y])
    return losses


def ranked_probability_scores(probabilities: FloatArray, y: IntArray) -> FloatArray:
    """(N,) sum over the K-1 thresholds of (P(rank <= k) - [y <= k])^2 (Epstein 1969),
    not divided by K-1.

    If one rank has probability 1, it is the absolute error |y - code|.
    """
    cumulative = np.cumsum(probabilities[:, :-1], axis=1)
    happened = y[:, None] <= np.arange(probabilities.shape[1] - 1)
    return np.asarray(np.sum((cumulative - happened) ** 2, axis=1))


def brier_scores(probabilities: FloatArray, y: IntArray) -> FloatArray:
    """(N,) sum over all K ranks of (P(rank = k) - [y = k])^2, Brier's (1950) form:
    between 0 and 2.
    """
    of_observed = probabilities[np.arange(y.size), y]
    return np.asarray(np.sum(probabilities**2, axis=1) - 2.0 * of_observed + 1.0)


_OF_PROBABILITIES = {
    "log-loss": log_losses,
    "ranked probability score": ranked_probability_scores,
    "Brier score": brier_scores,
}
#: All measures in the order of a table, and those for which larger is better.
MEASURES = (
    "classification error",
    "absolute error",
    "squared error",
    "macro classification error",
    "macro absolute error",
    "macro squared error",
    "cost",
    "R_pref",
    "inversions",
    "concordance",
    "Somers' D",
    "Kendall tau-b",
    "Spearman",
    "linear kappa",
    "quadratic kappa",
    *_OF_PROBABILITIES,
)
LARGER_IS_BETTER = frozenset(
    (
        "concordance",
        "Somers' D",
        "Kendall tau-b",
        "Spearman",
        "linear kappa",
        "quadratic kappa",
    )
)


def measures_of(p: Predictions) -> tuple[str, ...]:
    """Names of the measures that these predictions allow, in the table's order."""
    lacking = ("cost",) * (p.paid is None) + tuple(_OF_PROBABILITIES) * (
        p.probabilities is None
    )
    return tuple(name for name in MEASURES if name not in lacking)


def measured(p: Predictions, names: Sequence[str]) -> list[float]:
    """Some measures by name, without computing the others.

    Examples
    --------
    >>> y, codes = np.array([0, 0, 1, 2]), np.array([0, 1, 1, 1])
    >>> p = Predictions(
    ...     y=y, codes=codes, scores=codes * 1.0, n_levels=3, weights=np.ones(4)
    ... )
    >>> measured(p, ["absolute error", "macro absolute error"])
    [0.5, 0.5]
    """
    weights = p.weights
    cells = confusion(p.y, p.codes, p.weights, p.n_levels)
    if _OF_SCORES.keys().isdisjoint(names):
        pairs = None
    else:
        pairs = pairs_of_rows(p.y, p.scores, weights)
    values = []
    for name in names:
        if name in p.decided:
            own = confusion(p.y, p.decided[name], p.weights, p.n_levels)
            values.append(_OF_CELLS[name](own))
        elif name in _OF_CELLS:
            values.append(_OF_CELLS[name](cells))
        elif pairs is not None and name in _OF_SCORES:
            values.append(_OF_SCORES[name](pairs))
        else:  # a row of weight 0 may have an infinite log-loss
            values.append(
                float(
                    weights @ np.where(weights > 0, p.losses[name], 0.0) / weights.sum()
                )
            )
    return values


def error_table(predictions: Predictions) -> pd.Series:
    """All measures that these predictions allow.

    Classification error [y != code], absolute error |y - code| and squared error (y -
    code)^2; their macro averages, the mean over observed ranks of the mean within a
    rank; the cost of the fit. R_pref, inversions, Kendall's tau-b, Spearman and kappa
    compare observed with predicted ranks; concordance and Somers' D use the scores, or
    the expected ranks with nominal or scale effects, as scores of rows are then not
    comparable. Measures of probabilities are log-loss, ranked probability score and
    Brier score (over all ranks, from 0 to 2).

    Examples
    --------
    >>> y, codes = np.array([0, 0, 1, 2]), np.array([0, 1, 1, 1])
    >>> p = Predictions(
    ...     y=y, codes=codes, scores=codes * 1.0, n_levels=3, weights=np.ones(4)
    ... )
    >>> table = error_table(p)
    >>> float(table["absolute error"])
    0.5
    """
    names = measures_of(predictions)
    return pd.Series(measured(predictions, names), index=list(names))


def drawn_weights(
    weights: FloatArray, cluster: IntArray | None, rng: np.random.Generator
) -> FloatArray:
    """(N,) case weights of one bootstrap sample: sum(weights) rows, or as many clusters
    as there are.
    """
    if cluster is not None:
        n_clusters = int(cluster.max()) + 1
        times = np.bincount(
            rng.integers(n_clusters, size=n_clusters), minlength=n_clusters
        )
        return weights * times[cluster]
    total = float(weights.sum())
    draws = max(round(total), 1)
    drawn = rng.multinomial(draws, weights / total).astype(np.float64) * (total / draws)
    return drawn


def deviations(values: FloatArray) -> FloatArray:
    """(M,) standard deviation of the finite values of each column of (B, M); NaN below
    two values.
    """
    return (
        pd.DataFrame(np.where(np.isfinite(values), values, np.nan))
        .std()
        .to_numpy(dtype=np.float64)
    )

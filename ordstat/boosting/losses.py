"""The exponential losses that boosting minimises: of margins, of answers, of pairs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from .._typing import FloatArray, IntArray

# Smallest share of the lighter side of a step, which keeps the step finite.
_LEAST_SHARE = 1e-12
# Limits for logarithms of weights, whose exponentials and their sums are finite.
_LEAST_LOG = -700.0
_MOST_LOG = 600.0
# Stand-in for infinite thresholds.
_FAR_THRESHOLD = 1e9


@dataclass(frozen=True, eq=False, kw_only=True)
class Questions:
    """Weighted questions "above threshold k?", for groups of rows with the same
    questions.

    Attributes
    ----------
    group : (N,) group of every row, 0..G-1
    weights : (N,) case weights
    log_above, log_below : (G, K-1)
        log W_gk if the answer is yes, or no; else -inf.
    """

    group: IntArray
    weights: FloatArray
    log_above: FloatArray
    log_below: FloatArray

    @classmethod
    def of(cls, y: IntArray, costs: FloatArray, weights: FloatArray) -> Questions:
        """Questions of rows with codes y (N,), costs (N, K) V-shaped around y, and case
        weights (N,) > 0.
        """
        signed = costs[:, :-1] - costs[:, 1:]
        kinds, group = np.unique(
            np.column_stack([y, signed]), axis=0, return_inverse=True
        )
        above = kinds[:, :1] > np.arange(signed.shape[1])
        size = np.abs(kinds[:, 1:])
        with np.errstate(divide="ignore"):
            return cls(
                group=group.ravel().astype(np.intp),
                weights=weights,
                log_above=np.log(np.where(above, size, 0.0)),
                log_below=np.log(np.where(above, 0.0, size)),
            )


class Step(NamedTuple):
    """Weight alpha of a hypothesis, and a bound of the loss after the step divided by
    the loss before.
    """

    alpha: float
    factor: float


def log_ratio(right: float, wrong: float) -> float:
    """log(right / wrong), kept finite."""
    floor = _LEAST_SHARE * (right + wrong)
    return float(np.log(max(right, floor) / max(wrong, floor)))


@dataclass(eq=False, kw_only=True)
class MarginLoss:
    """The exponential loss of margins, at the current H and theta.

    Attributes
    ----------
    questions : Questions
    scores : (N,) H
    theta : (K-1,)
    moves : bool
        Whether theta is optimised after each step, or fixed.
    """

    questions: Questions
    scores: FloatArray
    theta: FloatArray
    moves: bool
    up: FloatArray = field(init=False)
    down: FloatArray = field(init=False)
    _sides: tuple[FloatArray, FloatArray] = field(init=False)

    @classmethod
    def start(
        cls, questions: Questions, scores: FloatArray, theta: FloatArray | None = None
    ) -> MarginLoss:
        """The loss at scores H (N,), with given thresholds, else with optimal ones."""
        moves = theta is None
        first = np.zeros(questions.log_above.shape[1]) if theta is None else theta
        loss = cls(questions=questions, scores=scores.copy(), theta=first, moves=moves)
        loss._sides = loss._log_sides()
        loss._weigh()
        if moves:
            loss._settle()
        return loss

    @property
    def value(self) -> float:
        """L, as a mean over rows."""
        return float(self.up.sum() + self.down.sum()) / float(
            self.questions.weights.sum()
        )

    def direction(self) -> FloatArray:
        """(N,) signed weights u: a hypothesis with sum u_n h_n > 0 lowers the loss."""
        return self.up - self.down

    def step(self, values: FloatArray) -> Step:
        """Add a hypothesis with values (N,) in [-1, 1], with the step that minimises a
        bound of the loss.

        The bound is exp(-a h) <= 1 - |h| + |h| exp(-a sign h), with equality for h =
        +-1.
        """
        gain = np.maximum(values, 0.0)
        loss = np.maximum(-values, 0.0)
        right = float(gain @ self.up + loss @ self.down)
        wrong = float(gain @ self.down + loss @ self.up)
        alpha = 0.5 * log_ratio(right, wrong)
        total = float(self.up.sum() + self.down.sum())
        moved = right * np.exp(-alpha) + wrong * np.exp(alpha)
        self.scores += alpha * values
        self._weigh()
        if self.moves:
            self._settle()
        return Step(alpha, float((total - right - wrong + moved) / total))

    def _log_sides(self) -> tuple[FloatArray, FloatArray]:
        """(G,) logarithms of sum_k W_gk exp(theta_k) over yes, and of sum_k W_gk
        exp(-theta_k) over no.
        """
        # Thresholds next to levels without rows are infinite; they have no weight.
        theta = np.clip(self.theta, -_FAR_THRESHOLD, _FAR_THRESHOLD)
        return _log_sum(self.questions.log_above + theta, 1), _log_sum(
            self.questions.log_below - theta, 1
        )

    def _weigh(self) -> None:
        """up_n = w_n exp(-H_n) sum_k W_nk exp(theta_k) and down_n = w_n exp(H_n) sum_k
        W_nk exp(-theta_k).
        """
        q = self.questions
        above, below = self._sides
        self.up = q.weights * np.exp(
            np.clip(above[q.group] - self.scores, _LEAST_LOG, _MOST_LOG)
        )
        self.down = q.weights * np.exp(
            np.clip(below[q.group] + self.scores, _LEAST_LOG, _MOST_LOG)
        )

    def _settle(self) -> None:
        """Set the ordered thresholds that minimise the loss at H, and update the
        weights.
        """
        q = self.questions
        above, below = self._sides
        # Logarithms of sum_n w_n exp(-H_n) and sum_n w_n exp(H_n) over the rows of each
        # group.
        falling = _without(
            above, np.log(np.bincount(q.group, weights=self.up, minlength=above.size))
        )
        rising = _without(
            below, np.log(np.bincount(q.group, weights=self.down, minlength=below.size))
        )
        yes = _log_sum(q.log_above + falling[:, None], 0)
        no = _log_sum(q.log_below + rising[:, None], 0)
        self.theta = ordered_thresholds(yes, no)
        self._sides = self._log_sides()
        self.up *= np.exp(_without(above, self._sides[0]))[q.group]
        self.down *= np.exp(_without(below, self._sides[1]))[q.group]


def _log_sum(terms: FloatArray, axis: int) -> FloatArray:
    """Logarithm of the sum of exp(terms) over an axis."""
    return np.asarray(np.logaddexp.reduce(terms, axis=axis, initial=-np.inf))


def _without(side: FloatArray, values: FloatArray) -> FloatArray:
    """values - side; 0 for groups with an empty side (-inf)."""
    return np.subtract(values, side, out=np.zeros(side.size), where=side > -np.inf)


def ordered_thresholds(log_yes: FloatArray, log_no: FloatArray) -> FloatArray:
    """theta_1 <= ... <= theta_{K-1} that minimise sum_k p_k exp(theta_k) + m_k
    exp(-theta_k).

    Each is 1/2 log(m_k / p_k) if these are in order (with the absolute cost they always
    are); otherwise neighbours out of order are pooled, with the sums of their p and m
    [Lin & Li 2006, sec. 4.2].

    Parameters
    ----------
    log_yes, log_no : (K-1,) log p_k and log m_k

    Examples
    --------
    >>> ordered_thresholds(np.log([1.0, 4.0]), np.log([4.0, 1.0])).tolist()
    [0.0, 0.0]
    """
    asked = np.flatnonzero(~(np.isneginf(log_yes) & np.isneginf(log_no)))
    if asked.size == 0:
        return np.zeros(log_yes.size)
    pooled = _pooled(log_yes[asked], log_no[asked])
    # A threshold without weight equals the one below it (the first one: the one above).
    before = np.maximum(
        np.searchsorted(asked, np.arange(log_yes.size), side="right") - 1, 0
    )
    return pooled[before]


def _pooled(log_yes: FloatArray, log_no: FloatArray) -> FloatArray:
    theta: FloatArray = 0.5 * (log_no - log_yes)
    if (theta[1:] >= theta[:-1]).all():
        return theta
    pools: list[tuple[float, float, int]] = []
    for yes, no in zip(log_yes.tolist(), log_no.tolist(), strict=True):
        size = 1
        while pools and pools[-1][1] - pools[-1][0] > no - yes:
            last = pools.pop()
            yes = float(np.logaddexp(last[0], yes))
            no = float(np.logaddexp(last[1], no))
            size = last[2] + size
        pools.append((yes, no, size))
    return np.repeat(
        [0.5 * (no - yes) for yes, no, _ in pools], [size for *_, size in pools]
    )


@dataclass(eq=False, kw_only=True)
class AnswerLoss:
    """The loss sum_nk |z_nk| exp(-sign(z_nk) g_k(x_n)) at the current g [Lin 2008, alg.
    4.2].

    Attributes
    ----------
    gains : (N, K-1) z_nk
        c_n[k] - c_n[k+1] times the case weight; positive if the answer is yes.
    total : float
        Sum of the case weights.
    """

    gains: FloatArray
    total: float
    theta: None = None
    scores: FloatArray = field(init=False)
    signed: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        self.scores = np.zeros(self.gains.shape)
        self.signed = self.gains
        self._yes = np.sign(self.gains)

    @property
    def value(self) -> float:
        """The loss, as a mean over rows."""
        return float(np.abs(self.signed).sum()) / self.total

    def direction(self) -> FloatArray:
        """(N, K-1) z_nk exp(-sign(z_nk) g_k); a positive sum of these times its answers
        makes a ranker useful.
        """
        return self.signed

    def step(self, values: FloatArray) -> Step:
        """Add a ranker with answers +1 and -1 (N, K-1) by v = 1/2 log((1 - eps)/eps),
        the exact minimum.
        """
        size = float(np.abs(self.signed).sum())
        right = 0.5 * (size + float((self.signed * values).sum()))
        wrong = size - right
        alpha = 0.5 * log_ratio(right, wrong)
        factor = (right * np.exp(-alpha) + wrong * np.exp(alpha)) / size
        self.scores += alpha * values
        self.signed = self.gains * np.exp(-self._yes * self.scores)
        return Step(alpha, float(factor))


@dataclass(eq=False, kw_only=True)
class PairLoss:
    """The exponential loss of pairs, at the current H.

    Attributes
    ----------
    y : (N,) codes, not falling
    weights : (N,) case weights > 0
    scores : (N,) H
    tight : bool
        Whether steps follow Lin & Li (2006), from the weights of right and wrong pairs,
        or Lin (2008, eq. 3.11), from their difference.
    theta : None
        Pairs have no thresholds.
    """

    y: IntArray
    weights: FloatArray
    scores: FloatArray
    tight: bool
    theta: None = None
    up: FloatArray = field(init=False)
    down: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        self.pairs = pair_weight(self.y, self.weights)
        self.starts = np.flatnonzero(np.diff(self.y, prepend=-1) > 0)
        self.level = np.cumsum(np.diff(self.y, prepend=self.y[:1]) > 0)
        self._weigh()

    @property
    def value(self) -> float:
        """Z, as a mean over pairs; 0 without pairs."""
        return float(self.up.sum()) / self.pairs if self.pairs else 0.0

    def direction(self) -> FloatArray:
        """(N,) signed weights u: a hypothesis with sum u_n h_n > 0 lowers the loss."""
        return self.up - self.down

    def step(self, values: FloatArray) -> Step:
        """Add a hypothesis with values (N,) in [-1, 1], with the step that minimises
        the chosen bound.
        """
        total = float(self.up.sum())
        by = self._by_shares if self.tight else self._by_difference
        alpha, factor = by(values, total)
        self.scores += alpha * values
        self._weigh()
        return Step(alpha, factor)

    def _by_difference(self, values: FloatArray, total: float) -> tuple[float, float]:
        """1/4 log((1 + r)/(1 - r)), r the mean of (h_m - h_n)/2 over pairs; Z falls by
        sqrt(1 - r^2) at least.
        """
        r = float(self.direction() @ values) / (2.0 * total)
        r = min(max(r, -1.0 + _LEAST_SHARE), 1.0 - _LEAST_SHARE)
        return 0.25 * float(np.log1p(r) - np.log1p(-r)), float(np.sqrt(1.0 - r * r))

    def _by_shares(self, values: FloatArray, total: float) -> tuple[float, float]:
        """1/4 log(right / wrong), of the shares of Z whose difference h_m - h_n is
        above and below 0.

        For h = +-1 the differences are 2, 0 and -2, and the step is the exact minimum.
        For other hypotheses exp(-a d) <= 1 - |d|/2 + |d|/2 exp(-2 a sign d) weighs a
        pair by |d|/2.
        """
        right, wrong = self._shares(values)
        alpha = 0.25 * log_ratio(right, wrong)
        after = right * np.exp(-2.0 * alpha) + wrong * np.exp(2.0 * alpha)
        return alpha, float((total - right - wrong + after) / total)

    def _shares(self, values: FloatArray) -> tuple[float, float]:
        """Sums over pairs of Z's terms times the positive, and the negative, part of
        (h_m - h_n)/2.
        """
        signs = (np.abs(values) == 1.0).all()
        right = self._right_of_signs(values) if signs else self._right(values)
        net = 0.5 * float(self.direction() @ values)
        return right, max(right - net, 0.0)

    def _right_of_signs(self, values: FloatArray) -> float:
        """The positive sum of h = +-1: pairs of a higher +1 and a lower -1, by sums
        over ranks.
        """
        plus = values > 0.0
        n_ranks = self.starts.size
        high = np.bincount(
            self.level[plus], weights=self.falling[plus], minlength=n_ranks
        )
        low = np.bincount(
            self.level[~plus], weights=self.rising[~plus], minlength=n_ranks
        )
        pairs = np.tril(np.ones((n_ranks, n_ranks)), -1) > 0
        terms = np.exp(np.where(pairs, self.largest - self.smallest[:, None], -np.inf))
        return float(high @ terms @ low)

    def _right(self, values: FloatArray) -> float:
        """The positive sum of any h: rank by rank, by prefix sums of weight, and of
        weight times h, of lower rows.
        """
        right = 0.0
        order = np.argsort(values, kind="stable")
        level = self.level[order]
        h = values[order]
        high = self.falling[order]
        low = self.rising[order]
        for k in range(1, self.starts.size):
            below = level < k
            here = level == k
            scaled = low[below] * np.exp(self.largest[level[below]] - self.smallest[k])
            mass = np.concatenate([[0.0], np.cumsum(scaled)])
            moment = np.concatenate([[0.0], np.cumsum(scaled * h[below])])
            place = np.searchsorted(h[below], h[here], side="left")
            right += 0.5 * float(high[here] @ (h[here] * mass[place] - moment[place]))
        return right

    def _weigh(self) -> None:
        """up_n: the terms of Z in which row n is the higher one; down_n: in which it is
        the lower one.

        `falling` holds w exp(-H) and `rising` w exp(H), of each rank relative to its
        smallest and largest score.
        """
        self.smallest = np.minimum.reduceat(self.scores, self.starts)
        self.largest = np.maximum.reduceat(self.scores, self.starts)
        self.falling = self.weights * np.exp(self.smallest[self.level] - self.scores)
        self.rising = self.weights * np.exp(self.scores - self.largest[self.level])
        falls = np.log(np.bincount(self.level, weights=self.falling)) - self.smallest
        rises = np.log(np.bincount(self.level, weights=self.rising)) + self.largest
        # Logarithms of sum exp(H) over lower ranks, and of sum exp(-H) over higher
        # ranks.
        lower = np.concatenate([[-np.inf], np.logaddexp.accumulate(rises)[:-1]])
        higher = np.concatenate(
            [np.logaddexp.accumulate(falls[::-1])[-2::-1], [-np.inf]]
        )
        self.up = self.falling * np.exp(lower - self.smallest)[self.level]
        self.down = self.rising * np.exp(higher + self.largest)[self.level]


def pair_weight(y: IntArray, weights: FloatArray) -> float:
    """Total weight of the pairs of different rank."""
    sizes = np.bincount(y, weights=weights)
    return float((sizes.sum() ** 2 - (sizes**2).sum()) / 2.0)


def misordered(y: IntArray, weights: FloatArray, scores: FloatArray) -> float:
    """Weighted share of the pairs of different rank whose higher rank does not have the
    higher score.
    """
    order = np.argsort(scores, kind="stable")
    level = y[order]
    ordered = scores[order]
    w = weights[order]
    wrong = 0.0
    for k in np.unique(level)[1:]:
        lower = level < k
        here = level == k
        mass = np.concatenate([[0.0], np.cumsum(w[lower])])
        below = mass[np.searchsorted(ordered[lower], ordered[here], side="left")]
        wrong += float(w[here] @ (mass[-1] - below))
    total = pair_weight(y, weights)
    return wrong / total if total else 0.0


#: A loss has a mean over rows or pairs (`value`), signed weights u (`direction`; a
#: hypothesis h with sum u h > 0 lowers the loss), and `step`, which adds a hypothesis.
Loss = MarginLoss | AnswerLoss | PairLoss

"""The exponential loss of margins to thresholds, one weak hypothesis at a time [Lin & Li 2006, sec. 4.2-4.3].

    L(H, theta) = sum_nk W_nk exp(-rho_k(n)),  rho_k = H_n - theta_k for rows above threshold k, else theta_k - H_n

W_nk = |c_n[k+1] - c_n[k]|: one everywhere is ORBoost-All, one at the two ends of a row's own interval ORBoost-LR. Rows
whose rank and costs agree share their threshold terms, so that a round costs O(N + G K) for G such groups. Everything
that grows is kept as a logarithm.

Beside it stands AdaBoost's loss of answers to "rank above k?", every threshold with a score of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..._typing import FloatArray, IntArray

# The lightest side of a step counts at least this share of the heaviest, which keeps it finite.
_FLOOR = 1e-12
# Logarithms of a weight that counts as none, and of one that counts as all.
_LEAST, _MOST = -700.0, 600.0
# Where a threshold lies that no row bears on.
_FAR = 1e9


@dataclass(frozen=True, eq=False, kw_only=True)
class Questions:
    """The weighted questions "above threshold k?" of groups of rows that share them.

    Attributes
    ----------
    group : (N,) group of every row, 0..G-1
    weights : (N,) case weights
    log_above, log_below : (G, K-1)
        log W_gk where the answer is yes, or no; -inf elsewhere.
    """

    group: IntArray
    weights: FloatArray
    log_above: FloatArray
    log_below: FloatArray

    @classmethod
    def of(cls, y: IntArray, costs: FloatArray, weights: FloatArray) -> Questions:
        """Questions of rows with codes y (N,), costs (N, K) V-shaped around them, and case weights (N,) > 0."""
        signed = costs[:, :-1] - costs[:, 1:]
        kinds, group = np.unique(np.column_stack([y, signed]), axis=0, return_inverse=True)
        above = kinds[:, :1] > np.arange(signed.shape[1])
        size = np.abs(kinds[:, 1:])
        with np.errstate(divide="ignore"):
            return cls(
                group=group.ravel().astype(np.intp),
                weights=weights,
                log_above=np.log(np.where(above, size, 0.0)),
                log_below=np.log(np.where(above, 0.0, size)),
            )


@dataclass(frozen=True)
class Step:
    """A step along a hypothesis.

    Attributes
    ----------
    alpha : float
    factor : float
        The loss after it, before the thresholds move, is at most this share of the loss before.
    """

    alpha: float
    factor: float


def log_ratio(right: float, wrong: float) -> float:
    """log(right / wrong) of the weights on either side of a step, kept finite."""
    floor = _FLOOR * (right + wrong)
    return float(np.log(max(right, floor) / max(wrong, floor)))


@dataclass(eq=False, kw_only=True)
class MarginLoss:
    """The loss at the present H and theta, for boosting to lower.

    Attributes
    ----------
    questions : Questions
    scores : (N,) H
    theta : (K-1,)
    moves : bool
        Whether theta is the best for H after every step, or stays where it is.
    """

    questions: Questions
    scores: FloatArray
    theta: FloatArray
    moves: bool
    up: FloatArray = field(init=False)
    down: FloatArray = field(init=False)
    _sides: tuple[FloatArray, FloatArray] = field(init=False)

    @classmethod
    def start(cls, questions: Questions, scores: FloatArray, theta: FloatArray | None = None) -> MarginLoss:
        """At scores H (N,), with fixed thresholds, or with the best ones where none are given."""
        moves = theta is None
        begun = cls(
            questions=questions,
            scores=scores.copy(),
            theta=np.zeros(questions.log_above.shape[1]) if theta is None else theta,
            moves=moves,
        )
        begun._sides = begun._log_sides()
        begun._weigh()
        if moves:
            begun._settle()
        return begun

    @property
    def value(self) -> float:
        """L, as a mean over rows."""
        return float(self.up.sum() + self.down.sum()) / float(self.questions.weights.sum())

    def direction(self) -> FloatArray:
        """(N,) signed weights u: a hypothesis with sum u_n h_n > 0 lowers the loss."""
        return self.up - self.down

    def step(self, values: FloatArray) -> Step:
        """Move along a hypothesis with values (N,) in [-1, 1] by the best step of the usual bound.

        exp(-a h) <= 1 - |h| + |h| exp(-a sign h), with equality for h = +-1: the part |h| of each weight takes part,
        and the rest stays as it is.
        """
        gain, loss = np.maximum(values, 0.0), np.maximum(-values, 0.0)
        right = float(gain @ self.up + loss @ self.down)
        wrong = float(gain @ self.down + loss @ self.up)
        alpha = 0.5 * log_ratio(right, wrong)
        total = float(self.up.sum() + self.down.sum())
        moved = right * np.exp(-alpha) + wrong * np.exp(alpha)
        self.scores += alpha * values
        self._weigh()
        if self.moves:
            self._settle()
        return Step(alpha=alpha, factor=float((total - right - wrong + moved) / total))

    def _log_sides(self) -> tuple[FloatArray, FloatArray]:
        """(G,) logarithms of sum_k W_gk exp(theta_k) over yes, and of sum_k W_gk exp(-theta_k) over no."""
        # Thresholds beyond ranks that no row has are infinite, and no row of weight asks for them.
        theta = np.clip(self.theta, -_FAR, _FAR)
        return _log_sum(self.questions.log_above + theta, 1), _log_sum(self.questions.log_below - theta, 1)

    def _weigh(self) -> None:
        """up_n = w_n exp(-H_n) sum_k W_nk exp(theta_k) and down_n = w_n exp(H_n) sum_k W_nk exp(-theta_k)."""
        q = self.questions
        above, below = self._sides
        self.up = q.weights * np.exp(np.clip(above[q.group] - self.scores, _LEAST, _MOST))
        self.down = q.weights * np.exp(np.clip(below[q.group] + self.scores, _LEAST, _MOST))

    def _settle(self) -> None:
        """The thresholds that minimise the loss at H, in order, and the weights under them."""
        q = self.questions
        above, below = self._sides
        # Logarithms of sum_n w_n exp(-H_n) and of sum_n w_n exp(H_n) over the rows of every group that asks.
        falling = _without(above, np.log(np.bincount(q.group, weights=self.up, minlength=above.size)))
        rising = _without(below, np.log(np.bincount(q.group, weights=self.down, minlength=below.size)))
        yes, no = _log_sum(q.log_above + falling[:, None], 0), _log_sum(q.log_below + rising[:, None], 0)
        self.theta = ordered_thresholds(yes, no)
        self._sides = self._log_sides()
        self.up *= np.exp(_without(above, self._sides[0]))[q.group]
        self.down *= np.exp(_without(below, self._sides[1]))[q.group]


def _log_sum(terms: FloatArray, axis: int) -> FloatArray:
    """Logarithm of the sum of exp(terms) over an axis."""
    return np.asarray(np.logaddexp.reduce(terms, axis=axis, initial=-np.inf))


def _without(side: FloatArray, values: FloatArray) -> FloatArray:
    """values - side; 0 for groups whose side is empty (-inf)."""
    return np.subtract(values, side, out=np.zeros(side.size), where=side > -np.inf)


def ordered_thresholds(log_yes: FloatArray, log_no: FloatArray) -> FloatArray:
    """theta_1 <= ... <= theta_{K-1} that minimise sum_k p_k exp(theta_k) + m_k exp(-theta_k).

    Each is 1/2 log(m_k / p_k) where these are in order (with the absolute cost they always are); otherwise neighbours
    out of order are pooled, with the sums of their p and m [Lin & Li 2006, sec. 4.2].

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
    # A threshold that no row bears on lies with the one below it, the first with the one above.
    before = np.maximum(np.searchsorted(asked, np.arange(log_yes.size), side="right") - 1, 0)
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
            yes, no, size = float(np.logaddexp(last[0], yes)), float(np.logaddexp(last[1], no)), last[2] + size
        pools.append((yes, no, size))
    return np.repeat([0.5 * (no - yes) for yes, no, _ in pools], [size for *_, size in pools])


@dataclass(eq=False, kw_only=True)
class AnswerLoss:
    """sum_nk |z_nk| exp(-sign(z_nk) g_k(x_n)) at the present g, for boosting to lower [Lin 2008, alg. 4.2].

    Attributes
    ----------
    gains : (N, K-1) z_nk
        c_n[k] - c_n[k+1] times the case weight: positive where the answer is yes.
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
        """(N, K-1) z_nk exp(-sign(z_nk) g_k): a positive sum of these over its answers makes a ranker useful."""
        return self.signed

    def step(self, values: FloatArray) -> Step:
        """Add a ranker with answers +1 and -1 (N, K-1) by v = 1/2 log((1 - eps)/eps), the exact minimum."""
        size = float(np.abs(self.signed).sum())
        right = 0.5 * (size + float((self.signed * values).sum()))
        wrong = size - right
        alpha = 0.5 * log_ratio(right, wrong)
        factor = (right * np.exp(-alpha) + wrong * np.exp(alpha)) / size
        self.scores += alpha * values
        self.signed = self.gains * np.exp(-self._yes * self.scores)
        return Step(alpha=alpha, factor=float(factor))

"""Limiting models in which the scale of some rows is infinitely larger than that of
others.

The likelihood may be largest where the ratio of two scales (spreads) is infinite. The
rows then fall into classes by their log scales tau. Along the way tau + t d the class
with rate v = z'd keeps its predictors (theta - H) / exp(tau) where what it sees of
thresholds and location grows like e^(v t). So an end that stays finite in a narrow
class holds a linear function of the parameters at 0 for all wider classes. Otherwise
the classes have separate parameters: the functions of thresholds and location that the
narrowest class determines, then those that the next one adds, and so on. Log-scale
effects that do not move, and the parameter of a link, are common to all. In these
coordinates, each class taken by itself, nothing cancels, however wide apart the spreads
are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray
from ..newton import Evaluation, Optimum
from .columns import TOLERANCE
from .problem import Problem
from .separation import row_ends, suspicious

#: Neighbouring log scales this far apart may be those of classes that diverge.
_GAP = 1.0
#: Log scales of neighbouring classes in the limit. With s the ratio of their spreads,
#: estimates are s off, and a covariance matrix has what it says of the narrower one to
#: 1e-16 / s^2: both are about 1e-5.
_APART = 12.0
#: Most distinct log scales that are taken for classes.
_MOST = 50
#: A log-likelihood that falls by less, per unit of weight up to 1, where the classes go
#: further apart by these, has no maximum there.
_LEVEL = 1e-6
_FURTHER = (1.0, 4.0)
#: Residuals and rates below this are rounding.
_ROUNDING = 1e-8
#: Ends beyond the root of the ratio of spreads, in units of the spread of their class,
#: count as infinite; that bound is at least and at most so large.
_FAR = (4.0, 1e3)
#: Newton steps in the limit, and the decrement at which they end.
_STEPS = 30
_SETTLED = 1e-20
#: The largest decrement of a maximum.
_CONVERGED = 1e-10
#: Curvatures below this share of the largest, on parameters of unit curvature, are 0.
_NO_CURVATURE = 1e-10
#: So is that of a parameter, for each row of its class and in units of its spread: rows
#: far out on the tails of the distribution determine nothing.
_FLAT = 1e-8


@dataclass(frozen=True, eq=False)
class SpreadLimit:
    """The limiting model; points and directions are in the solver's coordinates.

    Attributes
    ----------
    x : (P',)
        A point of the limiting model, with the spreads far apart.
    at : Evaluation
        The likelihood there, with the log-likelihood of the limit.
    converged : bool
        Whether the maximum of the limiting model was reached.
    divergence : (P', f)
        Directions along which the likelihood has no maximum; a function that changes
        along one has no estimate.
    outward : int
        The first `outward` of these lead to the limit.
    covariance : (P', P')
        Covariance, on the user's scale, of the functions that do not change.
    """

    x: FloatArray
    at: Evaluation
    converged: bool
    divergence: FloatArray
    outward: int
    covariance: FloatArray


def spread_limit(problem: Problem, optimum: Optimum) -> SpreadLimit | None:
    """The limit of a search whose spreads ended far apart; None if they did not, or if
    the likelihood decreases as they move further apart. The model has scale effects.
    """
    if problem.in_blocks:
        return None
    scales = _scales(problem)
    if not suspicious(optimum):
        return None
    z = problem.rows.model_rows(slice(None)).z
    tau = z @ optimum.x[scales]
    if np.ptp(tau) < _GAP or np.unique(np.round(tau, 6)).size > _MOST:
        return None
    patterns = np.unique(z, axis=0)
    if len(patterns) > _MOST:
        return None
    level = []
    for cut in _cuts(patterns @ optimum.x[scales]):
        direction = _direction(patterns, cut)
        if direction is None:
            continue
        classes = _classes(problem, optimum.x, [direction], z)
        if _is_level(problem, optimum, classes, 0):
            level.append(direction)
    if not level:
        return None
    return _limit(problem, optimum, _classes(problem, optimum.x, level, z))


def _scales(problem: Problem) -> IntArray:
    """(r,) places of the log-scale effects."""
    return np.arange(problem.n_parameters)[problem.solver_layout.of_scale]


def _cuts(tau: FloatArray) -> list[BoolArray]:
    """Which of some log scales lie above each wide gap between two of them."""
    ordered = np.sort(tau)
    wide = np.flatnonzero(np.diff(ordered) >= _GAP)
    return [tau > 0.5 * (ordered[k] + ordered[k + 1]) for k in wide]


def _direction(patterns: FloatArray, above: BoolArray) -> FloatArray | None:
    """(r,) log-scale effects that widen some rows against all others; None if there are
    none.

    The others may move too, all by the same: log scales have no common constant.
    """
    columns = np.column_stack([patterns, -np.ones(len(patterns))])
    solution = np.linalg.lstsq(columns, above.astype(np.float64), rcond=None)[0]
    if np.abs(columns @ solution - above).max() > _ROUNDING:
        return None
    return solution[:-1]


@dataclass(frozen=True, eq=False)
class _Classes:
    """Rows by the rates of their spreads, narrowest first.

    Attributes
    ----------
    directions : (c, r)
        How the log-scale effects move.
    rates : (g, c)
        Of each class along each direction.
    rows : g arrays
        Rows of each class.
    bases : g arrays (P', q_g)
        The parameters of each class.
    rest : (P', q)
        Directions of thresholds and location that no finite end shows.
    scales : (r,)
        Places of the log-scale effects.
    """

    directions: FloatArray
    rates: FloatArray
    rows: list[IntArray]
    bases: list[FloatArray]
    rest: FloatArray
    scales: IntArray

    @cached_property
    def basis(self) -> FloatArray:
        """(P', q) of thresholds and location: those of the classes, then the rest."""
        return np.hstack([*self.bases, self.rest])

    def parts(self, x: FloatArray) -> list[FloatArray]:
        """What a point (P',) is a sum of: a part for each class, the rest of thresholds
        and location, and the parameters that classes have in common.
        """
        common = x.copy()
        first = self.scales[0]
        common[:first] = 0.0
        shares = np.linalg.lstsq(self.basis[:first], x[:first], rcond=None)[0]
        parts = []
        start = 0
        for basis in (*self.bases, self.rest):
            parts.append(basis @ shares[start : start + basis.shape[1]])
            start += basis.shape[1]
        return [*parts, common]

    def moved(self, x: FloatArray, distances: FloatArray) -> FloatArray:
        """The point with every class further out along the directions, its predictors
        unchanged.
        """
        *parts, rest, common = self.parts(x)
        moved = common + rest
        for part, rate in zip(parts, self.rates @ distances, strict=True):
            moved = moved + np.exp(rate) * part
        moved[self.scales] += distances @ self.directions
        return moved

    def tangents(self, x: FloatArray) -> FloatArray:
        """(P', c) of `moved` by the distances."""
        *parts, _, _ = self.parts(x)
        out = np.array(parts).T @ self.rates
        out[self.scales] += self.directions.T
        return out


def _classes(
    problem: Problem, x: FloatArray, directions: list[FloatArray], z: FloatArray
) -> _Classes:
    """The classes along some directions, and their parameters."""
    scales = _scales(problem)
    moves = np.array(directions)
    rates = z @ moves.T
    rates = np.where(np.abs(rates) < _ROUNDING, 0.0, np.round(rates, 9))
    distinct, of_rows = np.unique(rates, axis=0, return_inverse=True)
    order = np.argsort(distinct.sum(axis=1), kind="stable")
    rows = [np.flatnonzero(of_rows.reshape(-1) == place) for place in order]
    tau = z @ x[scales]
    means = np.array([tau[some].mean() for some in rows])
    far = float(np.clip(np.exp(0.5 * np.diff(means).min()), *_FAR))
    ends = row_ends(problem, x)
    finite = ends.values(x) <= min(ends.far, far)
    free = np.eye(ends.slack.shape[1])
    bases = []
    for place, some in enumerate(rows):
        here = finite & np.isin(ends.rows, some)
        shown = ends.slack[np.flatnonzero(here)] @ free
        _, sizes, axes = np.linalg.svd(shown, full_matrices=True)
        rank = int(np.count_nonzero(sizes > TOLERANCE * sizes.max(initial=1.0)))
        own = free @ axes[:rank].T
        free = free @ axes[rank:].T
        # as far as possible such that wider classes do not see them move
        wider = finite & np.isin(
            ends.rows, np.concatenate([*rows[place + 1 :], some[:0]])
        )
        seen = ends.slack[np.flatnonzero(wider)]
        own = own - free @ np.linalg.lstsq(seen @ free, seen @ own, rcond=None)[0]
        bases.append(ends.back @ own)
    return _Classes(
        directions=moves,
        rates=distinct[order],
        rows=rows,
        bases=bases,
        rest=ends.back @ free,
        scales=scales,
    )


def _is_level(
    problem: Problem, optimum: Optimum, classes: _Classes, place: int
) -> bool:
    """Whether the likelihood does not fall as classes go further apart along one of the
    directions.
    """
    for further in _FURTHER:
        distances = np.zeros(len(classes.directions))
        distances[place] = further
        at = problem.evaluate(classes.moved(optimum.x, distances))
        if at is None or at.loglik < optimum.at.loglik - _LEVEL * optimum.unit:
            return False
    return True


def _limit(problem: Problem, optimum: Optimum, classes: _Classes) -> SpreadLimit | None:
    """The maximum of the limiting model, from where the search stopped."""
    tau = problem.rows.model_rows(slice(None)).z @ optimum.x[classes.scales]
    apart = np.array(
        [
            tau[rates > rates.min()].min() - tau[rates == rates.min()].max()
            for rates in _rates_of_rows(classes, tau.size)
        ]
    )
    x = classes.moved(optimum.x, _APART - apart)
    model = _LimitingModel(problem, classes)
    reached = model.maximise(x, optimum.unit)
    if reached is None:
        return None
    x, loglik, information, decrement = reached
    at = problem.evaluate(x)
    if at is None:
        return None
    tangents = classes.tangents(x)
    unknown, inverse = _inverse(
        information, model.coordinates(tangents), model.least_curvature(x)
    )
    columns = model.columns
    lost = columns @ unknown
    size = np.abs(lost).max(axis=0, initial=0.0)
    # mapped first: what a wide class adds to others cancels here, and not in products
    on_user_scale = problem.user.coefficients(columns)
    return SpreadLimit(
        x=x,
        at=replace(at, loglik=loglik),
        converged=decrement <= _CONVERGED * optimum.unit,
        divergence=np.hstack([tangents, lost[:, size > 0.0], classes.rest]),
        outward=tangents.shape[1],
        covariance=on_user_scale @ inverse @ on_user_scale.T,
    )


def _rates_of_rows(classes: _Classes, n: int) -> FloatArray:
    """(c, n) rates of the rows along each direction."""
    out = np.empty((len(classes.directions), n))
    for some, rates in zip(classes.rows, classes.rates, strict=True):
        out[:, some] = rates[:, None]
    return out


def _inverse(
    information: FloatArray, known: FloatArray, least: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """(Q, u) directions without curvature besides `known` ones (Q, c), and (Q, Q) a
    generalised inverse that serves what does not move along either.

    Curvatures up to `least` (Q,) count as none.
    """
    curvature = np.diag(information)
    curved = curvature > least
    size = np.sqrt(np.where(curved, curvature, 1.0))
    scaled = np.where(curved[:, None] & curved, information, 0.0)
    scaled = scaled / np.outer(size, size)
    axes, lengths, _ = np.linalg.svd(known * size[:, None], full_matrices=True)
    free = axes[:, int(np.count_nonzero(lengths > _ROUNDING)) :]
    values, vectors = np.linalg.eigh(free.T @ scaled @ free)
    determined = values > _NO_CURVATURE * values[-1]
    kept = (free @ vectors[:, determined]) / size[:, None]
    lost = (free @ vectors[:, ~determined]) / size[:, None]
    return lost, kept / values[determined] @ kept.T


@dataclass(frozen=True, eq=False)
class _LimitingModel:
    """The sum of the likelihoods of the classes, each by its own parameters and by
    those in common.
    """

    problem: Problem
    classes: _Classes

    @cached_property
    def common(self) -> FloatArray:
        """(P', r + l) log-scale effects and the parameter of the link."""
        return np.eye(self.problem.n_parameters)[:, self.classes.scales[0] :]

    @cached_property
    def columns(self) -> FloatArray:
        """(P', Q) the parameters of the classes, then those in common."""
        return np.hstack([*self.classes.bases, self.common])

    @cached_property
    def _samples(self) -> list[Problem]:
        sample = self.problem.sample
        return [
            replace(self.problem, sample=sample.take(some))
            for some in self.classes.rows
        ]

    def least_curvature(self, x: FloatArray) -> FloatArray:
        """(Q,) curvatures that are none: those of rows far out on the tails."""
        scales = self.classes.scales
        least = []
        for part, basis in zip(self._samples, self.classes.bases, strict=True):
            tau = part.rows.model_rows(slice(None)).z @ x[scales]
            total = float(part.sample.counts().sum()) * np.exp(-2.0 * tau.max())
            least.append(np.full(basis.shape[1], _FLAT * total))
        return np.concatenate([*least, np.zeros(self.common.shape[1])])

    def coordinates(self, moves: FloatArray) -> FloatArray:
        """(Q, c) of moves (P', c) that have no other part."""
        return np.asarray(np.linalg.lstsq(self.columns, moves, rcond=None)[0])

    def evaluate(self, x: FloatArray) -> tuple[float, FloatArray, FloatArray] | None:
        """Log-likelihood, score (Q,) and information (Q, Q)."""
        size = self.columns.shape[1]
        n_common = self.common.shape[1]
        loglik = 0.0
        score = np.zeros(size)
        information = np.zeros((size, size))
        *parts, rest, common = self.classes.parts(x)
        start = 0
        for place, (part, basis) in enumerate(
            zip(self._samples, self.classes.bases, strict=True)
        ):
            # what narrower classes see is nothing on the scale of this one
            alone = common + rest + sum(parts[place:], start=np.zeros(x.size))
            at = part.evaluate(alone) or part.evaluate(x)
            if at is None:
                return None
            columns = np.hstack([basis, self.common])
            own = np.r_[start : start + basis.shape[1], size - n_common : size]
            loglik += at.loglik
            score[own] += columns.T @ at.score
            information[np.ix_(own, own)] += (
                columns.T @ at.information.dense() @ columns
            )
            start += basis.shape[1]
        return loglik, score, information

    def maximise(
        self, x: FloatArray, unit: float
    ) -> tuple[FloatArray, float, FloatArray, float] | None:
        """The maximum, log-likelihood and information there, and the decrement of the
        next step.
        """
        at = self.evaluate(x)
        if at is None:
            return None
        decrement = np.inf
        for _ in range(_STEPS):
            loglik, score, information = at
            known = self.coordinates(self.classes.tangents(x))
            step = _inverse(information, known, self.least_curvature(x))[1] @ score
            decrement = float(step @ score)
            if decrement <= _SETTLED * unit:
                break
            moved = self.evaluate(x + self.columns @ step)
            if moved is None or moved[0] < loglik:
                break
            x = x + self.columns @ step
            at = moved
        return x, at[0], at[2], decrement

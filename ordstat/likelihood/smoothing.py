"""Smooth terms: their smoothing parameters by restricted maximum likelihood.

With b the location effects and the common level of the thresholds, and psi = (t, rho)
all other parameters (distances of thresholds, nominal and log-scale effects) and rho =
log lambda,

  V(psi) = l(b^) - b^'S b^ / 2 + log|S|+ / 2 - log|A| / 2 + M log(2 pi) / 2,

the Laplace approximation of the likelihood with b integrated out [Wood, Pya and Saefken
2016, JASA 111, 1548-1563]. b^ maximises l - b'S b / 2, S = sum_j lambda_j S_j, A =
X'WX + S is the information there, and M the number of coefficients without a penalty.

The gradient is exact. With s_i = x_i'A^-1 x_i, W_H and W_k the derivatives of the
curvature W_i by the score H and threshold k, C_k the second derivatives by H and k, and
q = A^-1 X'(s W_H), t = X q:

  by t_k    sum_i (score_k - s W_k / 2 + t C_k / 2)
  by rho_j  rank_j / 2 - lambda_j (b'S_j b + tr(A^-1 S_j) - q'S_j b) / 2

By maximum likelihood ("ML") only the penalised directions R of b are integrated out:
log|A| is log|R'AR|, and A^-1 in s_i and in the trace R (R'AR)^-1 R'.

Steps are Newton's, with the Hessian that neglects how W changes and a correction
learnt from the gradients on the way (of rank one each time; structured as in Dennis,
Gay and Welsch 1981, ACM Transactions on Mathematical Software 7, 348-368).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpotrf, dpotrs

from .._typing import BoolArray, FloatArray, IntArray
from ..checks import refuse_beside
from ..exceptions import DataError
from ..formula.row_blocks import row_blocks
from ..formula.sample import Sample
from ..formula.smooths import ML, REML, UNPENALISED_TERMS
from ..newton import (
    Blocks,
    Ended,
    Evaluation,
    Objective,
    Optimum,
    maximise,
)
from .curve_test import curve_test, effects_test
from .estimate import Estimate, Estimation
from .family import Family
from .flexible import FLEXIBLE
from .identification import identified
from .penalty import Penalty
from .predictor import Jacobian, ModelRows
from .problem import Problem
from .start import Start

if TYPE_CHECKING:
    from .regression import OrdinalRegression

#: Distances of thresholds are searched for one by one.
_MOST_LEVELS = 50
#: Length of the Newton step of b, in standard errors, at which b counts as b^; that
#: which is enough while psi has further to go than _FAR, and most steps to it.
_MODE = 1e-7
_ROUGH = 1e-3
_FAR = 0.1
_MOST_STEPS = 50
#: Length of the Newton step of psi that may be left, in standard errors, and that at
#: which the search ends. In between it ends where steps no longer halve: the rest is
#: rounding.
TOLERANCE = 1e-5
_ENOUGH = 1e-6
_HALF = 0.5
#: Largest change of log lambda in one step; most halvings of a step.
_CAP = 4.0
_TRIES = 30
#: The curvature is corrected after steps of at most _LOCAL, by numbers of at least this
#: share of what they are sums of.
_LOCAL = 1.0
_DIGITS = 1e-8
#: How much larger log lambda is where the second search begins.
_SMOOTHER = 4.0
#: Fall of log lambda from its start, where the curve counts as much as its penalty, at
#: which V has no maximum but rises to curves without a penalty.
_UNBOUND = 20.0
#: Share of V that is rounding.
_ROUNDED = 1e-10
#: A smooth with at most _ALMOST_STRAIGHT degrees of freedom beyond its straight line is
#: rising where its Newton step is above _RISING: V is almost a quadratic function of
#: 1 / lambda, which then has its maximum at 0. These degrees of freedom fall with 1 /
#: lambda: it takes the step that brings them to exp(-_BELOW) times _STRAIGHT.
_ALMOST_STRAIGHT = 0.3
_RISING = 0.5
_BELOW = 3.0
#: A smooth with this many or fewer is a straight line once V can gain no more than
#: this by a larger lambda: V has its supremum at infinity, and rounding hides the rest.
_STRAIGHT = 1e-4
_LEAST_GAIN = 1e-5
#: An effect per deviation with a larger standard error grows without bound.
_LARGEST_ERROR = 50.0
#: Precision of log lambda before the data where variances count [mgcv].
_PRIOR = 0.1
#: Share of the diagonal by which an indefinite information is raised at least.
_LEAST_DAMPING = 1e-3
#: Steps of psi up to this length that end as near to a known maximum lead to it.
_NEAR = 0.25
#: Rows at a time, whose arrays stay in the cache.
_CHUNK = 4096
#: Eigenvalues of the Hessian below this share of the largest count as that share.
_FLAT = 1e-12


@dataclass(frozen=True, eq=False)
class WigglinessPenalty(Penalty):
    """The penalty b'S b / 2, with b the location effects on the solver's columns.

    Attributes
    ----------
    matrix : (p, p)
    """

    matrix: FloatArray

    determines = True

    @property
    def text(self) -> str:
        return "smooth terms"

    def on(self, problem: Problem) -> Objective:
        location = problem.solver_layout.of_location

        def penalised(
            x: FloatArray, information: Blocks | None = None, /
        ) -> Evaluation | None:
            at = problem.evaluate(x)
            return None if at is None else self.added(at, x, location)

        return penalised

    def added(self, at: Evaluation, x: FloatArray, location: slice) -> Evaluation:
        """The evaluation with the penalty, at x (P,)."""
        pull = self.matrix @ x[location]
        score = at.score.copy()
        score[location] -= pull
        rest = at.information.rest.copy()
        rest[: pull.size, : pull.size] += self.matrix
        blocks = replace(at.information, rest=rest)
        return Evaluation(at.loglik - 0.5 * float(x[location] @ pull), score, blocks)


class Block(NamedTuple):
    """One smooth on the solver's columns.

    Attributes
    ----------
    columns : (m,)
        Positions among the location columns that are kept.
    penalty : (m, m)
    rank : int
    weight : float or None
        lambda, where it is given.
    """

    columns: IntArray
    penalty: FloatArray
    rank: int
    weight: float | None


@dataclass(frozen=True, eq=False)
class Smoothness:
    """The smooths of a fit.

    Attributes
    ----------
    lambdas : (J,)
        Smoothing parameters, on the scale of `SmoothBlock.penalty`.
    criterion : float
        Minus the restricted log-likelihood (REML).
    gradient : (J,)
        Gradient of V with respect to log lambda; 0 if the smooth is a straight line
        (lambda infinite).
    edf, reference_df : (J,)
        Traces of the blocks of F and of 2 F - F F, F = A^-1 X'WX; for fully penalised
        smooths the second is the number of coefficients.
    corrected_edf : float
        Effective degrees of freedom of the model with thresholds, corrected for
        estimated smoothing parameters.
    added_covariance : (q, q)
        Addition to the covariance of the location effects for estimated smoothing
        parameters.
    statistic, p_value : (J,)
        Tests that curves are 0 everywhere.
    """

    lambdas: FloatArray
    criterion: float
    gradient: FloatArray
    edf: FloatArray
    reference_df: FloatArray
    corrected_edf: float
    added_covariance: FloatArray
    statistic: FloatArray
    p_value: FloatArray


@dataclass(frozen=True, eq=False)
class RestrictedPoint:
    """V and its derivatives at one psi.

    Attributes
    ----------
    x : (P,)
        The parameters in the solver's coordinates, including b^.
    rho : (J,)
    at : Evaluation
        Evaluation of the penalised log-likelihood.
    information : (q + 1, q + 1)
        A; its first row is the level of the thresholds.
    inverse : (q + 1, q + 1)
    value : float
        V.
    gradient, curvature : (o + J,), (o + J, o + J)
        Gradient of V, and approximately minus its Hessian.
    moves : (q + 1, o + J)
        Derivatives of b^ with respect to psi.
    """

    x: FloatArray
    rho: FloatArray
    at: Evaluation
    information: FloatArray
    inverse: FloatArray
    value: float
    gradient: FloatArray
    curvature: FloatArray
    moves: FloatArray


class RowPart(NamedTuple):
    """Some of the rows.

    Attributes
    ----------
    rows : ModelRows
        Scaled columns.
    y, weights : (n,)
    columns : (n, q + 1)
        Derivatives of the score with respect to b.
    jacobian : Jacobian
        Jacobian of the predictors, without location columns.
    """

    rows: ModelRows
    y: IntArray
    weights: FloatArray
    columns: FloatArray
    jacobian: Jacobian


@dataclass(frozen=True, eq=False)
class RestrictedLikelihood:
    """The restricted likelihood V of a problem with smooths.

    Attributes
    ----------
    problem : Problem
    blocks : tuple of Block
    constant : float
        Part of V that depends on neither psi nor b.
    directions : (q + 1, m) or None
        Directions of b that are integrated out: the penalised ones ("ML"), or, if None,
        all of them ("REML").
    """

    problem: Problem
    blocks: tuple[Block, ...]
    constant: float
    directions: FloatArray | None = None

    @classmethod
    def of(
        cls, problem: Problem, sample: Sample, criterion: str = REML
    ) -> RestrictedLikelihood:
        """The restricted likelihood for the rows of a sample, or the likelihood if
        `criterion` is "ML".
        """
        if criterion == ML:
            return cls._unrestricted(problem, sample)
        kept = problem.location.kept
        places = np.cumsum(kept) - 1
        deviation = problem.rows.location.deviation
        blocks = []
        constant = -float(np.log(deviation).sum())
        for smooth in sample.smooths or ():
            columns = places[smooth.columns]
            units = 1.0 / deviation[columns]
            penalty = smooth.penalty * np.outer(units, units)
            blocks.append(Block(columns, penalty, smooth.rank, smooth.weight))
            constant += 0.5 * smooth.log_det
        free = 1 + kept.sum() - sum(block.rank for block in blocks)
        constant += 0.5 * float(free) * math.log(2.0 * math.pi)
        return cls(problem, tuple(blocks), constant)

    @classmethod
    def _unrestricted(cls, problem: Problem, sample: Sample) -> RestrictedLikelihood:
        """V with only the penalised directions of b integrated out."""
        restricted = cls.of(problem, sample)
        deviation = problem.rows.location.deviation
        directions = []
        constant = 0.0
        smooths = sample.smooths or ()
        for smooth, block in zip(smooths, restricted.blocks, strict=True):
            own = np.zeros((1 + deviation.size, smooth.rank))
            own[1 + block.columns] = smooth.penalised_space
            own[1:] *= deviation[:, None]
            directions.append(own)
            constant += 0.5 * smooth.log_det
        return replace(restricted, constant=constant, directions=np.hstack(directions))

    @cached_property
    def inner(self) -> FloatArray:
        """(P, q + 1) derivatives of all parameters with respect to b."""
        layout = self.problem.solver_layout
        inner = np.zeros((layout.size, 1 + layout.location))
        inner[: layout.n_alpha : layout.columns, 0] = 1.0
        inner[layout.of_location, 1:] = np.eye(layout.location)
        return inner

    @cached_property
    def outer(self) -> IntArray:
        """(o,) positions of t: all parameters except b, with the first threshold as the
        common level.
        """
        layout = self.problem.solver_layout
        others = np.ones(layout.size, dtype=bool)
        others[0] = False
        others[layout.of_location] = False
        return np.flatnonzero(others)

    @cached_property
    def estimated(self) -> BoolArray:
        """(J,) smooths whose lambda is not given."""
        return np.array([block.weight is None for block in self.blocks])

    @property
    def penalised(self) -> BoolArray:
        """(J,) smooths that are penalised in every direction, even along straight
        lines.
        """
        return np.array([block.rank == block.columns.size for block in self.blocks])

    def effects(self, x: FloatArray) -> FloatArray:
        """(q,) location effects of x (P,)."""
        return x[self.problem.solver_layout.of_location]

    def penalty(self, rho: FloatArray) -> WigglinessPenalty:
        """The penalty at log smoothing parameters (J,)."""
        size = self.problem.rows.location.mean.size
        matrix = np.zeros((size, size))
        for block, weight in zip(self.blocks, np.exp(rho), strict=True):
            matrix[np.ix_(block.columns, block.columns)] += weight * block.penalty
        return WigglinessPenalty(matrix)

    def starting_rho(self, x: FloatArray) -> FloatArray:
        """(J,) starting values at which penalties have about the weight of the data."""
        at = self.problem.evaluate(x)
        assert at is not None
        # of links without a concave likelihood the curvature can be negative
        curvature = np.abs(np.diag(at.information.rest))
        ratios = [
            block.weight
            or curvature[block.columns].mean() / np.diag(block.penalty).mean()
            for block in self.blocks
        ]
        return np.asarray(np.log(np.array(ratios)))

    def at(
        self, x: FloatArray, rho: FloatArray, length: float = _MODE
    ) -> RestrictedPoint | None:
        """V at the distances of the thresholds of x (P,), with b^ searched from x up to
        a step of `length`; None outside the domain, or if V has no accurate digits.
        """
        penalty = self.penalty(rho)
        found = self._mode(x, penalty, length)
        if found is None:
            return None
        x, at, A, factor = found
        inverse = factor.solve(np.eye(len(A)))
        integral = self._integral(A, factor, inverse)
        if integral is None:
            return None
        log_det, spread = integral
        value = at.loglik + self.constant - 0.5 * log_det
        value += 0.5 * sum(
            block.rank * r for block, r in zip(self.blocks, rho, strict=True)
        )
        if not math.isfinite(value):
            return None
        pulls = self._pulls(x, rho)
        information = at.information.dense()
        cross = self.inner.T @ information[:, self.outer]
        sides = np.column_stack([cross, pulls])
        own = information[np.ix_(self.outer, self.outer)]
        return RestrictedPoint(
            x=x,
            rho=rho,
            at=at,
            information=A,
            inverse=inverse,
            value=value,
            gradient=self._gradient(
                x, rho, inverse, spread, pulls, at.score, information
            ),
            curvature=self._curvature(x, rho, inverse, spread, sides, own),
            moves=-inverse @ sides,
        )

    def _integral(
        self, A: FloatArray, factor: ScaledFactor, inverse: FloatArray
    ) -> tuple[float, FloatArray] | None:
        """log|A| and A^-1 on the directions of b that are integrated out; None if A is
        not positive definite there.
        """
        R = self.directions
        if R is None:
            return factor.log_det, inverse
        inside = _factor(R.T @ A @ R)
        if inside is None:
            return None
        return inside.log_det, R @ inside.solve(R.T)

    def _mode(
        self, x: FloatArray, penalty: WigglinessPenalty, length: float
    ) -> tuple[FloatArray, Evaluation, FloatArray, ScaledFactor] | None:
        """x with b^, the penalised log-likelihood there, A and its factor; None outside
        the domain.
        """
        location = self.problem.solver_layout.of_location
        before = -math.inf
        step = np.zeros_like(x)
        at = None
        for _ in range(_MOST_STEPS):
            raw = self.problem.evaluate(x + step)
            trial = None if raw is None else penalty.added(raw, x + step, location)
            if trial is None or trial.loglik < before - _ROUNDED * (1.0 + abs(before)):
                if not step.any():
                    return None
                step = 0.5 * step
                continue
            x = x + step
            at = trial
            before = at.loglik
            A = self.inner.T @ at.information.dense() @ self.inner
            score = self.inner.T @ at.score
            factor = _factor(A)
            if factor is None:
                return None
            move = factor.solve(score)
            if float(move @ score) <= length**2:
                return x, at, A, factor
            step = self.inner @ move
        return None

    def _pulls(self, x: FloatArray, rho: FloatArray) -> FloatArray:
        """(q + 1, J) lambda_j S_j b^."""
        beta = self.effects(x)
        pulls = np.zeros((beta.size + 1, len(self.blocks)))
        weights = np.exp(rho)
        for j, block in enumerate(self.blocks):
            pulls[1 + block.columns, j] = weights[j] * (
                block.penalty @ beta[block.columns]
            )
        return pulls

    @cached_property
    def _parts(self) -> list[RowPart]:
        """The rows, few at a time."""
        problem = self.problem
        start = problem.start()
        parts = []
        for some in row_blocks(problem.sample.n, room=_CHUNK):
            rows = problem.rows.model_rows(some)
            y = problem.sample.y[some]
            terms = problem.family.eta_terms(problem.rows.predictor(rows, start), y)
            assert terms is not None
            bare = replace(rows, x=rows.x[:, :0])
            part = RowPart(
                rows=rows,
                y=y,
                weights=problem.sample.case_weights[some],
                columns=np.column_stack([-np.ones(rows.n), rows.x]),
                jacobian=Jacobian(bare, terms.places, problem.solver_layout),
            )
            parts.append(part)
        return parts

    def _bends(self, x: FloatArray, spread: FloatArray) -> tuple[FloatArray, ...]:
        """(P,) and (q + 1,) derivatives of log|A| / 2 by all parameters and by b."""
        problem = self.problem
        layout = problem.solver_layout
        others = np.ones(layout.size, dtype=bool)
        others[layout.of_location] = False
        by_others = np.zeros(int(others.sum()))
        by_score = np.zeros(len(spread))
        for part in self._parts:
            predictor = problem.rows.predictor(part.rows, x)
            slopes = problem.family.curvature_slopes(predictor, part.y)
            columns = part.columns
            of_rows = np.einsum("ij,ij->i", columns @ spread, columns)
            slopes *= 0.5 * part.weights * of_rows
            by_others += part.jacobian.total(slopes)
            by_score += slopes[len(part.jacobian.places)] @ columns
        by_parameter = np.empty(layout.size)
        by_parameter[layout.order_by_columns[others]] = by_others
        by_parameter[layout.of_location] = by_score[1:]
        return by_parameter, by_score

    def _gradient(
        self,
        x: FloatArray,
        rho: FloatArray,
        inverse: FloatArray,
        spread: FloatArray,
        pulls: FloatArray,
        score: FloatArray,
        information: FloatArray,
    ) -> FloatArray:
        """Of V by psi; `score` (P,) and `information` (P, P) are those of the penalised
        log-likelihood, `spread` (q + 1, q + 1) is A^-1 on the directions that are
        integrated out.
        """
        bends, by_score = self._bends(x, spread)
        q = inverse @ by_score
        by_parameter = score - bends + information @ (self.inner @ q)
        beta = self.effects(x)
        by_rho = np.zeros(len(self.blocks))
        for j in np.flatnonzero(self.estimated):
            block = self.blocks[j]
            places = 1 + block.columns
            trace = self._trace(spread, block) * math.exp(rho[j])
            pull = pulls[places, j]
            along = beta[block.columns] @ pull
            by_rho[j] = 0.5 * (block.rank - trace - along) + q[places] @ pull
        return np.concatenate([by_parameter[self.outer], by_rho])

    def _trace(self, inverse: FloatArray, block: Block) -> float:
        """tr(A^-1 S_j)."""
        places = 1 + block.columns
        return float((inverse[np.ix_(places, places)] * block.penalty).sum())

    def _curvature(
        self,
        x: FloatArray,
        rho: FloatArray,
        inverse: FloatArray,
        spread: FloatArray,
        sides: FloatArray,
        own: FloatArray,
    ) -> FloatArray:
        """(o + J, o + J) minus the Hessian, as if W did not change.

        `sides` (q + 1, o + J) are minus the derivatives of the score of b by psi,
        `own` (o, o) is the information of t.
        """
        beta = self.effects(x)
        weights = np.exp(rho)
        size = self.outer.size
        pulls = sides[:, size:]
        out = -sides.T @ inverse @ sides
        out[:size, :size] += own
        scaled = [
            weight * spread[:, 1 + block.columns] @ block.penalty
            for weight, block in zip(weights, self.blocks, strict=True)
        ]
        for j, block in enumerate(self.blocks):
            own = beta[block.columns] @ pulls[1 + block.columns, j]
            trace = self._trace(spread, block) * weights[j]
            out[size + j, size + j] += 0.5 * (own + trace)
            for k, other in enumerate(self.blocks):
                left = scaled[j][1 + other.columns]
                right = scaled[k][1 + block.columns]
                out[size + j, size + k] -= 0.5 * float((left * right.T).sum())
        given = size + np.flatnonzero(~self.estimated)
        out[given] = 0.0
        out[:, given] = 0.0
        out[given, given] = 1.0
        return out

    def moved(
        self, point: RestrictedPoint, step: FloatArray, length: float = _MODE
    ) -> RestrictedPoint | None:
        """V after a step of psi, b^ predicted along it, as in `at`."""
        size = self.outer.size
        x = point.x + self.inner @ (point.moves @ step)
        x[self.outer] += step[:size]
        return self.at(x, point.rho + step[size:], length)

    def rising(self, point: RestrictedPoint, step: FloatArray) -> BoolArray:
        """(J,) smooths that a step of psi makes straight lines."""
        almost = self.bends(point) < _ALMOST_STRAIGHT
        return np.asarray(almost & (step[self.outer.size :] > _RISING))

    def limited(self, point: RestrictedPoint, step: FloatArray) -> FloatArray:
        """The step of psi with its part of rho limited, or all the way to a straight
        line; a shorter step, where V falls along that.
        """
        size = self.outer.size
        away = np.maximum(self.bends(point) / _STRAIGHT, 1.0)
        rho = np.clip(step[size:], -_CAP, _CAP)
        rho = np.where(self.rising(point, step), np.log(away) + _BELOW, rho)
        limited = np.append(step[:size], rho)
        if point.gradient @ limited > 0.0:
            return limited
        return np.asarray(step * (_CAP / max(np.abs(step[size:]).max(), _CAP)))

    def leads_to(
        self, known: RestrictedPoint, point: RestrictedPoint, step: FloatArray
    ) -> bool:
        """Whether a short step of psi ends next to a known point."""
        move = known.x - point.x
        t = move[self.outer] - self.inner[self.outer, 0] * move[0]
        apart = np.append(t, known.rho - point.rho)
        free = self.free(point) | self.free(known)
        free[self.outer.size :] &= ~(self.straight(known) & self.rising(point, step))
        lengths = np.abs([step[free], (apart - step)[free]])
        return bool(lengths.max(initial=0.0) <= _NEAR)

    def bends(self, point: RestrictedPoint) -> FloatArray:
        """(J,) effective degrees of freedom beyond those of the straight line."""
        weights = np.exp(point.rho)
        return np.array(
            [
                block.rank - weight * self._trace(point.inverse, block)
                for block, weight in zip(self.blocks, weights, strict=True)
            ]
        )

    def straight(self, point: RestrictedPoint) -> BoolArray:
        """(J,) smooths that are straight lines up to rounding."""
        gain = np.abs(point.gradient[self.outer.size :])
        return (self.bends(point) <= _STRAIGHT) & (gain <= _LEAST_GAIN)

    def free(self, point: RestrictedPoint) -> BoolArray:
        """(o + J,) parameters of the search, without lambda of straight lines."""
        t = np.ones(self.outer.size, dtype=bool)
        return np.concatenate([t, ~self.straight(point)])

    def edf(self, point: RestrictedPoint) -> tuple[FloatArray, FloatArray]:
        """(J,) and (J,) traces of the blocks of F and of 2 F - F F."""
        single, twice = self._shares(point)
        places = [1 + block.columns for block in self.blocks]
        return (
            np.array([single[place].sum() for place in places]),
            np.array([twice[place].sum() for place in places]),
        )

    def _shares(self, point: RestrictedPoint) -> tuple[FloatArray, FloatArray]:
        """(q + 1,) and (q + 1,) diagonals of F and of 2 F - F F."""
        F = point.inverse @ self._gram(point)
        single = np.diag(F)
        return single, 2.0 * single - np.einsum("ij,ji->i", F, F)

    def _gram(self, point: RestrictedPoint) -> FloatArray:
        """(q + 1, q + 1) X'WX."""
        gram = point.information.copy()
        gram[1:, 1:] -= self.penalty(point.rho).matrix
        return gram

    def corrected_edf(self, point: RestrictedPoint, added: FloatArray) -> float:
        """tr(F) plus the contribution of `added_covariance`, at most tr(2 F - F F)."""
        single, twice = self._shares(point)
        more = float(np.sum(self._gram(point) * added))
        return min(float(single.sum()) + more, float(twice.sum()))

    def added_covariance(self, point: RestrictedPoint) -> FloatArray:
        """(q + 1, q + 1) addition to the covariance A^-1 of b for the estimated psi
        [Wood, Pya and Saefken 2016, section 4].

        It comes from the changes with psi of b^, and of the root U^-1 of A^-1 = U^-1
        U^-T.
        """
        free = np.append(np.ones(self.outer.size, dtype=bool), self.estimated)
        values, vectors = np.linalg.eigh(point.curvature[np.ix_(free, free)])
        values = np.maximum(values, 0.0)
        inverse = np.divide(1.0, values, out=np.zeros_like(values), where=values > 0.0)
        moves = point.moves[:, free]
        added = moves @ (vectors * inverse) @ vectors.T @ moves.T
        # log lambda of straight lines has no finite variance [a prior of mgcv]
        prior = (vectors / (values + _PRIOR)) @ vectors.T
        estimated = np.flatnonzero(self.estimated)
        slopes = [self._root_slope(point, int(j)) for j in estimated]
        size = self.outer.size
        for j, one in enumerate(slopes):
            for k, other in enumerate(slopes):
                added += prior[size + j, size + k] * one @ other.T
        return np.asarray(added)

    def _root_slope(self, point: RestrictedPoint, j: int) -> FloatArray:
        """(q + 1, q + 1) derivative of U^-1 by rho_j."""
        root = np.linalg.cholesky(point.information).T
        root = solve_triangular(root, np.eye(len(root)))
        places = 1 + self.blocks[j].columns
        inside = root[places]
        change = math.exp(point.rho[j]) * inside.T @ self.blocks[j].penalty @ inside
        return np.asarray(-root @ (np.triu(change, 1) + 0.5 * np.diag(np.diag(change))))

    def tests(
        self, point: RestrictedPoint, reference_df: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """(J,) statistics and p-values."""
        likelihood = self._gram(point)
        beta = self.effects(point.x)
        results = []
        spread = point.inverse @ likelihood @ point.inverse
        without_effect = self.straight(point) & self.penalised
        for j, block in enumerate(self.blocks):
            places = np.ix_(1 + block.columns, 1 + block.columns)
            effects = beta[block.columns]
            covariance = point.inverse[places]
            if without_effect[j]:
                result = (0.0, 1.0)
            elif self.penalised[j]:
                result = effects_test(effects, covariance, spread[places])
            else:
                df = float(np.clip(reference_df[j], 1.0, block.columns.size))
                result = curve_test(effects, likelihood[places], covariance, df)
            results.append(result)
        statistics, p_values = np.array(results).T
        return statistics, p_values


class ScaledFactor(NamedTuple):
    """The Cholesky factor of a matrix whose diagonal is scaled to 1.

    Attributes
    ----------
    lower : (q, q)
    units : (q,)
        Roots of the diagonal.
    """

    lower: FloatArray
    units: FloatArray

    def solve(self, sides: FloatArray) -> FloatArray:
        """The inverse of the matrix times sides (q, ...)."""
        scaled = dpotrs(self.lower, (sides.T / self.units).T, lower=1)[0]
        return np.asarray((scaled.T / self.units).T)

    @property
    def log_det(self) -> float:
        """Logarithm of the determinant of the matrix."""
        return 2.0 * float(np.log(np.diag(self.lower) * self.units).sum())


def _factor(A: FloatArray) -> ScaledFactor | None:
    """The Cholesky factor of A; None where A is not positive definite."""
    units = np.sqrt(np.abs(np.diag(A)))
    if not (units > 0.0).all() or not np.isfinite(units).all():
        return None
    lower, failed = dpotrf(A / np.outer(units, units), lower=1)
    return None if failed else ScaledFactor(lower, units)


def _step(
    gradient: FloatArray, full_curvature: FloatArray, free: BoolArray
) -> FloatArray:
    """The step of the free part of psi: curvature^-1 gradient."""
    step = np.zeros(free.size)
    if not free.any():
        return step
    curvature = full_curvature[np.ix_(free, free)]
    units = np.sqrt(np.maximum(np.abs(np.diag(curvature)), 1e-300))
    values, vectors = np.linalg.eigh(curvature / np.outer(units, units))
    values = np.maximum(np.abs(values), _FLAT * np.abs(values).max())
    B = (vectors / values) @ vectors.T / np.outer(units, units)
    step[free] = B @ gradient[free]
    return step


def _highest(
    restricted: RestrictedLikelihood, point: RestrictedPoint, max_iter: int
) -> tuple[RestrictedPoint, list[float], Ended]:
    """The higher of the maxima of V found from a point, and from one with smoother
    curves: V can have a maximum with bends, and another that is nearly straight.

    V can also rise without end as a curve gets rougher, where one fits some rows
    exactly; a maximum comes before such a search.
    """
    found = search(restricted, point, max_iter)
    free = restricted.estimated
    smoother = restricted.at(point.x, point.rho + np.where(free, _SMOOTHER, 0.0))
    if smoother is None or not free.any():
        return found
    other = search(restricted, smoother, max_iter, found[0])
    lost = [
        _unbound(reached, point.rho) or ended not in (Ended.CONVERGED, Ended.ROUNDING)
        for reached, _, ended in (found, other)
    ]
    if lost[0] != lost[1]:
        return other if lost[0] else found
    clearly = other[0].value > found[0].value + _ROUNDED * (1.0 + abs(found[0].value))
    return other if clearly else found


def _unbound(point: RestrictedPoint, start: FloatArray) -> bool:
    """Whether a search from log lambda `start` ran to a curve without a penalty, where
    V has no maximum.
    """
    return bool((point.rho < start - _UNBOUND).any())


def search(
    restricted: RestrictedLikelihood,
    point: RestrictedPoint,
    max_iter: int,
    known: RestrictedPoint | None = None,
) -> tuple[RestrictedPoint, list[float], Ended]:
    """The maximum of V from a point, the values on the way, and how the search ended.
    It ends early at `known`, a known maximum, if a step leads to it.
    """
    values = [point.value]
    ended = Ended.MOST_ITERATIONS
    correction = np.zeros_like(point.curvature)
    before = math.inf
    length = _MODE
    for _ in range(max_iter):
        free = restricted.free(point)
        step = _step(point.gradient, point.curvature + correction, free)
        left = math.sqrt(float(point.gradient @ step))
        if left <= _FAR and length > _MODE:
            exact = restricted.at(point.x, point.rho)
            if exact is None:
                break
            point = exact
            length = _MODE
            continue
        if left <= _ENOUGH:
            ended = Ended.CONVERGED
            break
        if _HALF * before <= left <= TOLERANCE:
            ended = Ended.ROUNDING
            break
        if known is not None and restricted.leads_to(known, point, step):
            point = known
            ended = Ended.CONVERGED
            break
        before = left
        length = _ROUGH if left > _FAR else _MODE
        moved, step = _uphill(
            restricted, point, restricted.limited(point, step), length
        )
        if moved is None:
            ended = Ended.ROUNDING if left <= TOLERANCE else Ended.NO_PROGRESS
            break
        fall = point.gradient - moved.gradient
        correction += _learnt(step, fall - (moved.curvature + correction) @ step)
        point = moved
        values.append(point.value)
    return point, values, ended


def _learnt(step: FloatArray, unexplained: FloatArray) -> FloatArray:
    """What to add to the curvature so that it explains the fall of the gradient along a
    step; nothing after long steps, or where the sum has no digits.
    """
    along = float(unexplained @ step)
    sizes = np.linalg.norm(unexplained) * np.linalg.norm(step)
    if np.abs(step).max() > _LOCAL or abs(along) <= _DIGITS * sizes:
        return np.zeros((step.size, step.size))
    return np.outer(unexplained, unexplained) / along


def _uphill(
    restricted: RestrictedLikelihood,
    point: RestrictedPoint,
    step: FloatArray,
    length: float,
) -> tuple[RestrictedPoint | None, FloatArray]:
    """The longest of the steps 1, 1/2, 1/4, ... that does not lower V, and V there;
    None if there is none. A step to a straight line beyond which V falls is too long.
    """
    size = restricted.outer.size
    least = point.value - _ROUNDED * (1.0 + abs(point.value))
    for _ in range(_TRIES):
        trial = restricted.moved(point, step, length)
        if trial is not None and trial.value >= least:
            beyond = (step[size:] > _CAP) & (trial.gradient[size:] < 0.0)
            if not beyond.any():
                return trial, step
        step = 0.5 * step
    return None, step


def check_smooths(method: OrdinalRegression, sample: Sample) -> None:
    """OptionError or DataError for parts of a model that exclude smooth terms."""
    rows = sample.rows
    plain = f"write {UNPENALISED_TERMS}"
    refused = {
        "random terms": (
            rows.random is not None,
            "write re(g) in place of (1 | g), or ns(x, df=4) in place of s(x)",
        ),
        "cluster=": (sample.cluster is not None, plain),
        "censored answers": (sample.highest is not None, plain),
        "penalty=ElasticNet(...)": (method.elastic_net is not None, plain),
        "penalty=": (method.penalty is not None, f"leave it out, or {plain}"),
        "start=": (method.start is not None, "leave it out"),
        "a threshold structure": (
            not isinstance(method.threshold, str) or method.threshold != "flexible",
            "use threshold='flexible'",
        ),
        "a parameter of link= that is estimated": (
            isinstance(method.link, str) and method.link in FLEXIBLE,
            "give its value, as in ('aranda-ordaz', 0.5), or another link",
        ),
    }
    refuse_beside("Smooth terms", refused)
    if sample.n_levels > _MOST_LEVELS:
        raise DataError(
            "The response of a model with smooth terms must have at most"
            f" {_MOST_LEVELS} levels; got {sample.n_levels}. Join levels, or {plain}."
        )


def smooth_estimate(
    estimation: Estimation, problem: Problem, sample: Sample, criterion: str
) -> tuple[Estimate, Smoothness]:
    """The estimates of a model with smooth terms.

    Raises
    ------
    DataError
        Effects without a penalty have no finite estimates.
    """
    problem = identified(problem)
    restricted = RestrictedLikelihood.of(problem, sample, criterion)
    x = problem.start()
    rho = restricted.starting_rho(x)
    start = maximise(
        restricted.penalty(rho).on(problem),
        x,
        tol=estimation.tol,
        max_iter=estimation.max_iter,
        total_weight=float(problem.counts.sum()),
    )
    point = None
    factor = _factor(start.information.dense())
    if factor is not None and not start.stopped:
        variances = factor.solve(np.eye(start.x.size)).diagonal()
        if variances.max() < _LARGEST_ERROR**2:
            point = restricted.at(start.x, rho)
    if point is None:
        given = "" if restricted.estimated.all() else ", or give another sp"
        raise DataError(
            "The effects must have finite estimates; they grow without bound. Rows of a"
            " factor or along a straight line are probably all at the lowest or"
            f" highest level: leave out the term, or merge levels{given}."
        )
    point, values, ended = _highest(restricted, point, estimation.max_iter)
    edf, reference = restricted.edf(point)
    if _unbound(point, rho) or (edf < 0.0).any():
        raise DataError(_no_maximum(problem.family))
    statistic, p_value = restricted.tests(point, reference)
    sizes = np.array([block.columns.size for block in restricted.blocks])
    reference = np.where(restricted.penalised, sizes, reference)
    size = restricted.outer.size
    added = restricted.added_covariance(point)
    units = problem.rows.location.deviation
    smoothness = Smoothness(
        lambdas=np.exp(point.rho),
        criterion=-point.value,
        gradient=np.where(restricted.straight(point), 0.0, point.gradient[size:]),
        edf=edf,
        reference_df=reference,
        corrected_edf=restricted.corrected_edf(point, added) + size,
        added_covariance=added[1:, 1:] / np.outer(units, units),
        statistic=statistic,
        p_value=p_value,
    )
    penalty = restricted.penalty(point.rho)
    optimum = _optimum(restricted, point, values, ended)
    estimation = replace(estimation, penalty=penalty)
    return Estimate(estimation, problem, optimum, Start(start.x, None)), smoothness


def _no_maximum(family: Family) -> str:
    """Why the smoothness has no estimate, and what to do."""
    why = (
        "as a curve fits some of the rows exactly, such as those of a rare level of"
        " by=. Merge levels"
    )
    if not family.concave:
        why = (
            f"as the likelihood with link={family.link.name!r} is not concave. Use"
            " another link"
        )
    return (
        "The smoothness must have a maximum of the restricted likelihood; it has none"
        f" with these rows, {why}, or give the smoothing parameter, s(x, sp=...)."
    )


def _optimum(
    restricted: RestrictedLikelihood,
    point: RestrictedPoint,
    values: list[float],
    ended: Ended,
) -> Optimum:
    """The maximum of V as one over thresholds and effects; its information is that of
    the penalised likelihood.
    """
    size = restricted.outer.size
    step = _step(point.gradient, point.curvature, restricted.free(point))
    move = restricted.inner @ (point.moves @ step)
    move[restricted.outer] += step[:size]
    # scores count in standard errors: those along a large penalty are rounding
    left = restricted.inner.T @ point.at.score
    squared = float(left @ point.inverse @ left) + float(point.gradient @ step)
    score = np.full(point.x.size, math.sqrt(max(squared, 0.0)))
    at = replace(point.at, score=score)
    information = at.information
    damping = 0.0
    factor = information.factor()
    while factor is None:  # of links without a concave likelihood
        damping = max(10.0 * damping, _LEAST_DAMPING)
        information = at.information.damped(damping)
        factor = information.factor()
    if damping > 0.0:
        ended = Ended.NO_PROGRESS
    return Optimum(
        x=point.x,
        at=at,
        information=information,
        factor=factor,
        damping=damping,
        step=move,
        logliks=np.array(values),
        decrements=np.zeros(len(values)),
        unit=1.0,
        tolerance=TOLERANCE,
        ended=ended,
    )

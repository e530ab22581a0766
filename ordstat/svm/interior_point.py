"""Structured primal-dual interior point for the thresholded SVMs: hard instances, with NumPy and SciPy alone.

Variables alpha = |u| in (0, C_nk) with multipliers z (of alpha >= 0) and w (of alpha <= C_nk), b and theta. Newton's
system in alpha is diagonal plus kernel, so it reduces to one N x N Cholesky of S = I + L G L, L^2 = Lambda the row
sums of the diagonal, and a system of 1 + Q unknowns for (b, theta); Mehrotra's predictor and corrector share both.
Ordered thresholds add slacks sigma_j = theta_{j+1} - theta_j with multipliers mu_j to the small system only; free ones
need no b.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np

from .._typing import FloatArray
from ..threads import one_blas_thread
from .dual import DualSolution, ExtendedDual, certify, snapped
from .solution import Outcome

# Share of the way to the boundary that one step may take.
_TO_BOUNDARY = 0.995
_MAX_ITERATIONS = 100
# Start of alpha in boxes too large to start from their middle.
_LARGE = 100.0
# Iterations without a better gap before giving up.
_PATIENCE = 8
# Far from the optimum the gap may stand still while the centring improves.
_FAR = 0.1
# Smaller matrices than this are factored on one thread.
_SMALL = 1500


@dataclass(frozen=True, eq=False, kw_only=True)
class _Point:
    """An interior point: alpha, room = C_nk - alpha, z, w (N, Q), b, theta (Q,), sigma and mu (Q-1 or 0,).

    A cell without weight has alpha = room = 1 and z = w = 0, and stays so.
    """

    alpha: FloatArray
    room: FloatArray
    z: FloatArray
    w: FloatArray
    b: float
    theta: FloatArray
    sigma: FloatArray
    mu: FloatArray

    @property
    def positive(self) -> FloatArray:
        """All that has to stay above 0, in one array."""
        return np.concatenate((*map(np.ravel, (self.alpha, self.room, self.z, self.w)), self.sigma, self.mu))

    def moved(self, d: _Point, step: float) -> _Point:
        """This point plus step times the direction d."""
        return _Point(**{name: value + step * getattr(d, name) for name, value in vars(self).items()})


def _longest(x: FloatArray, dx: FloatArray) -> float:
    """The largest step that keeps x + step dx >= 0."""
    falling = dx < 0
    return float(np.min(-x[falling] / dx[falling])) if falling.any() else np.inf


class _Newton:
    """The Newton system at one point: factored once, solved for several right-hand sides."""

    def __init__(self, problem: ExtendedDual, point: _Point) -> None:
        self.problem, self.point, self.used = problem, point, problem.weights > 0
        # A cell without weight has no label either.
        self.Y = Y = problem.labels * self.used
        self.P = 1.0 / np.where(self.used, point.z / point.alpha + point.w / point.room, np.inf)
        total = self.P.sum(axis=1)
        self.share = np.divide(self.P, total[:, None], out=np.zeros_like(self.P), where=total[:, None] > 0)
        self.L = np.sqrt(total)
        self.solve = problem.gram.resolvent(self.L)
        # Unknowns of the small system: b, unless theta is free and takes its place, then theta.
        self.n_b = 0 if problem.free else 1
        n_cuts = Y.shape[1]
        self.D = D = np.eye(point.mu.size, n_cuts, 1) - np.eye(point.mu.size, n_cuts)
        self.H = self.L[:, None] * np.column_stack([-np.ones((len(total), self.n_b)), self.share])
        self.SH = self.solve(self.H)
        A = self.H.T @ self.SH
        T = A[self.n_b :, self.n_b :]
        # diag(sum_n P_nk) - P' Lambda^-1 P as the Laplacian it is: rows sum to zero, and nothing cancels.
        links = -self.P.T @ self.share
        np.fill_diagonal(links, 0.0)
        T += links - np.diag(links.sum(axis=1)) + np.eye(len(links)) * problem.ridge
        T += (D.T * (point.mu / point.sigma)) @ D
        self.A = A
        u = Y * point.alpha
        beta = u.sum(axis=1)
        # Taken anew at each point: a sum of steps would keep the rounding of the first, largest ones.
        f = problem.gram @ beta
        self.r_d = Y * ((f + point.b)[:, None] - point.theta) - 1.0 - point.z + point.w
        self.r_theta = point.theta * problem.ridge + u.sum(axis=0) - D.T @ point.mu
        self.r_b = float(beta.sum())
        self.r_sigma = D @ point.theta - point.sigma

    def direction(self, centre: float, second: _Point | None) -> _Point:
        """The step towards complementarity products `centre`, with the second-order terms of a predictor."""
        x, Y = self.point, self.Y
        a_z = 0.0 if second is None else second.alpha * second.z
        a_w = 0.0 if second is None else -second.alpha * second.w
        a_mu = 0.0 if second is None else second.sigma * second.mu
        t_z = (centre - a_z) / x.alpha - x.z
        t_w = (centre - a_w) / x.room - x.w
        t_mu = (centre - a_mu) / x.sigma - x.mu
        # Where f + b - theta_k should go, and its mean over k as the row sees it.
        goal = Y * (-self.r_d + t_z - t_w)
        mean = (self.share * goal).sum(axis=1)
        Sm = self.solve(self.L * mean)
        right = -self.H.T @ Sm
        right[: self.n_b] += self.r_b
        right[self.n_b :] += (self.P * (mean[:, None] - goal)).sum(axis=0) - self.r_theta
        right[self.n_b :] += self.D.T @ (t_mu - x.mu / x.sigma * self.r_sigma)
        small = np.linalg.solve(self.A, right)
        db, dtheta = float(small[: self.n_b].sum()), small[self.n_b :]
        dbeta = self.L * (Sm + self.SH @ small)
        df = self.problem.gram @ dbeta
        du = self.P * (goal - (df + db)[:, None] + dtheta)
        # P is huge where alpha is free and its factor then rounding: the row sums are known better.
        du += self.share * (dbeta - du.sum(axis=1))[:, None]
        dalpha = Y * du
        dsigma = self.D @ dtheta + self.r_sigma
        return _Point(
            alpha=dalpha,
            room=-dalpha,
            z=np.where(self.used, t_z - x.z / x.alpha * dalpha, 0.0),
            w=np.where(self.used, t_w + x.w / x.room * dalpha, 0.0),
            b=db,
            theta=dtheta,
            sigma=dsigma,
            mu=t_mu - x.mu / x.sigma * dsigma,
        )

    def step(self, d: _Point) -> float:
        """The longest step along d that stays inside every bound."""
        return _longest(self.point.positive, d.positive)

    def complementarity(self, x: _Point) -> float:
        """Mean product of the slacks and their multipliers at x."""
        products = float(np.vdot(x.alpha, x.z) + np.vdot(x.room, x.w) + x.sigma @ x.mu)
        return products / (2 * int(self.used.sum()) + x.mu.size)


class InteriorPoint:
    """Solves one problem for any C, from scratch each time: a warm start does not help an interior point.

    Parameters
    ----------
    problem : ExtendedDual
    rng : numpy.random.Generator
        Not used; every solver is made alike.
    """

    name = "interior-point"

    def __init__(self, problem: ExtendedDual, rng: np.random.Generator) -> None:
        self.problem = problem

    def solve(self, C: float, tol: float) -> Outcome[DualSolution]:
        """Iterate until the relative duality gap is at most `tol`, or no further progress is made."""
        # Several threads on a small factorisation, or on a narrow factor, cost more than they bring.
        with one_blas_thread() if self.problem.gram.rank_limit < _SMALL else nullcontext():
            return self._solve(C, tol)

    def _solve(self, C: float, tol: float) -> Outcome[DualSolution]:
        x = _start(self.problem, C)
        best = self._certified(C, x)
        sparse: DualSolution | None = None
        path = [best.primal]
        stalled = 0
        while (sparse is None or sparse.gap > tol) and stalled < _PATIENCE and len(path) <= _MAX_ITERATIONS:
            try:
                x = _advance(_Newton(self.problem, x))
            except np.linalg.LinAlgError:
                # Rounding has made S indefinite: no direction is to be trusted from here on.
                break
            point = self._certified(C, x)
            path.append(point.primal)
            stalled = 0 if point.gap < 0.99 * best.gap or best.gap > _FAR else stalled + 1
            if point.gap < best.gap:
                best = point
                # An interior point has no zeros; the optimum has, and support vectors are counted by them.
                sparse = snapped(self.problem, C, point) if point.gap <= tol else None
        found = best if sparse is None or sparse.gap > max(tol, best.gap) else sparse
        return Outcome(solution=found, solver=self.name, iterations=len(path) - 1, path=np.array(path))

    def _certified(self, C: float, x: _Point) -> DualSolution:
        # Cells without weight are clipped to their empty boxes there.
        return certify(self.problem, C, self.problem.labels * x.alpha, x.theta)


def _start(problem: ExtendedDual, C: float) -> _Point:
    """The middle of the boxes (never above _LARGE), unit multipliers, and evenly spread thresholds."""
    middle = 0.5 * C * problem.weights
    n_thresholds = middle.shape[1]
    used = (middle > 0).astype(np.float64)
    alpha = np.where(used > 0, np.minimum(middle, _LARGE), 1.0)
    theta = np.linspace(-1.0, 1.0, n_thresholds) if n_thresholds > 1 else np.zeros(1)
    n_orders = n_thresholds - 1 if problem.ordered else 0
    return _Point(
        alpha=alpha,
        room=np.where(used > 0, 2.0 * middle - alpha, 1.0),
        z=used,
        w=used.copy(),
        b=0.0,
        theta=theta,
        sigma=np.diff(theta)[:n_orders],
        mu=np.ones(n_orders),
    )


def _advance(newton: _Newton) -> _Point:
    """One predictor-corrector step."""
    x = newton.point
    predictor = newton.direction(0.0, None)
    mean = newton.complementarity(x)
    affine = newton.complementarity(x.moved(predictor, min(1.0, newton.step(predictor))))
    corrector = newton.direction((affine / mean) ** 3 * mean, predictor)
    return x.moved(corrector, min(1.0, _TO_BOUNDARY * newton.step(corrector)))

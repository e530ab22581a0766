"""A primal-dual interior-point method for the hinge's dual."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np

from .._typing import FloatArray
from ..threads import one_blas_thread
from .dual import DualSolution, ExtendedDual, Outcome, certify, snapped

# Share of the way to the boundary that one step may take.
_TO_BOUNDARY = 0.995
_MAX_ITERATIONS = 100
# Largest start of alpha, for boxes with a larger middle.
_LARGE = 100.0
# Iterations before giving up that leave more than the share _PROGRESS of the gap.
_PROGRESS = 0.99
_PATIENCE = 8
# Above this gap, iterations without progress are not counted: the centring may improve
# while the gap does not.
_FAR_GAP = 0.1
# Matrices smaller than this are factored on one thread.
_ONE_THREAD_ROWS = 1500


@dataclass(frozen=True, eq=False, kw_only=True)
class _Point:
    """An interior point: alpha, room = C_nk - alpha, z, w (N, Q), b, theta (Q,), sigma
    and mu (Q-1 or 0,).

    Cells without weight always have alpha = room = 1 and z = w = 0.
    """

    alpha: FloatArray
    room: FloatArray
    z: FloatArray
    w: FloatArray
    b: float
    theta: FloatArray
    sigma: FloatArray
    mu: FloatArray

    def moved(self, d: _Point, step: float) -> _Point:
        """This point plus step times the direction d."""
        return _Point(
            **{
                name: value + step * getattr(d, name)
                for name, value in vars(self).items()
            }
        )


class _Newton:
    """The Newton system at one point: factored once, solved for several right-hand
    sides.

    The system in alpha is a diagonal plus the kernel. It reduces to one Cholesky
    factorisation of S = I + L G L (N, N), with L^2 = Lambda the row sums of the
    diagonal, and a system in (b, theta) of 1 + Q unknowns. Ordered thresholds add
    slacks sigma_j = theta_{j+1} - theta_j with multipliers mu_j to the small system
    only; free thresholds need no b.
    """

    def __init__(self, problem: ExtendedDual, point: _Point) -> None:
        self.problem = problem
        self.point = point
        self.used = problem.live > 0
        # Cells without weight get the label 0.
        Y = problem.labels * self.used
        self.Y = Y
        self.P = 1.0 / np.where(
            self.used, point.z / point.alpha + point.w / point.room, np.inf
        )
        total = self.P.sum(axis=1)
        self.share = np.divide(
            self.P, total[:, None], out=np.zeros_like(self.P), where=total[:, None] > 0
        )
        self.L = np.sqrt(total)
        self.solve = problem.gram.resolvent(self.L)
        # Unknowns of the small system: b (unless theta is free and replaces it), then
        # theta.
        self.n_b = 0 if problem.free else 1
        D = problem.steps
        self.D = D
        self.H = self.L[:, None] * np.column_stack(
            [-np.ones((len(total), self.n_b)), self.share]
        )
        self.SH = self.solve(self.H)
        self.A = self.H.T @ self.SH
        T = self.A[self.n_b :, self.n_b :]
        # diag(sum_n P_nk) - P' Lambda^-1 P, computed as a Laplacian with row sums of
        # zero, so that no digits cancel.
        links = -self.P.T @ self.share
        np.fill_diagonal(links, 0.0)
        T += links - np.diag(links.sum(axis=1)) + np.eye(len(links)) * problem.ridge
        T += (D.T * (point.mu / point.sigma)) @ D
        # Thresholds without weights or penalty do not move.
        T += np.diag((np.diagonal(T) == 0.0).astype(np.float64))
        u = Y * point.alpha
        beta = u.sum(axis=1)
        # Recomputed at each point: a sum of steps would keep the rounding of the first,
        # largest steps.
        f = problem.gram @ beta
        self.r_d = Y * ((f + point.b)[:, None] - point.theta) - 1.0 - point.z + point.w
        self.r_theta = point.theta * problem.ridge + u.sum(axis=0) - D.T @ point.mu
        self.r_b = float(beta.sum())
        self.r_sigma = D @ point.theta - point.sigma

    def direction(self, centre: float, predictor: _Point | None) -> _Point:
        """The step towards complementarity products `centre`, with the second-order
        terms of a predictor.
        """
        x = self.point
        Y = self.Y
        t_z = centre / x.alpha - x.z
        t_w = centre / x.room - x.w
        t_mu = centre / x.sigma - x.mu
        if predictor is not None:
            t_z -= predictor.alpha * predictor.z / x.alpha
            t_w -= predictor.room * predictor.w / x.room
            t_mu -= predictor.sigma * predictor.mu / x.sigma
        # Target change of f + b - theta_k, and its mean over k with the weights P.
        goal = Y * (-self.r_d + t_z - t_w)
        mean = (self.share * goal).sum(axis=1)
        Sm = self.solve(self.L * mean)
        right = -self.H.T @ Sm
        right[: self.n_b] += self.r_b
        right[self.n_b :] += (self.P * (mean[:, None] - goal)).sum(
            axis=0
        ) - self.r_theta
        right[self.n_b :] += self.D.T @ (t_mu - x.mu / x.sigma * self.r_sigma)
        small = np.linalg.solve(self.A, right)
        db = float(small[: self.n_b].sum())
        dtheta = small[self.n_b :]
        dbeta = self.L * (Sm + self.SH @ small)
        df = self.problem.gram @ dbeta
        du = self.P * (goal - (df + db)[:, None] + dtheta)
        # Where alpha is free, P is huge and multiplies a rounding error: the row sums
        # are more accurate.
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

    def moved(self, d: _Point, share: float) -> _Point:
        """The point after a step along d: `share` of the way to the nearest bound, and
        at most d itself.
        """
        x = self.point
        step = 1.0
        for name in ("alpha", "room", "z", "w", "sigma", "mu"):
            value = getattr(x, name)
            change = getattr(d, name)
            falling = change < 0
            step = min(
                step,
                share
                * float(np.min(-value[falling] / change[falling], initial=np.inf)),
            )
        return x.moved(d, step)

    def complementarity(self, x: _Point) -> float:
        """Mean product of the slacks and their multipliers at x."""
        products = float(np.vdot(x.alpha, x.z) + np.vdot(x.room, x.w) + x.sigma @ x.mu)
        return products / (2 * int(self.used.sum()) + x.mu.size)

    def advanced(self) -> _Point:
        """The point after one step of Mehrotra's predictor and corrector."""
        predictor = self.direction(0.0, None)
        mean = self.complementarity(self.point)
        affine = self.complementarity(self.moved(predictor, 1.0))
        return self.moved(
            self.direction((affine / mean) ** 3 * mean, predictor), _TO_BOUNDARY
        )


class InteriorPoint:
    """Primal-dual interior-point method for one problem and any C; each solve starts
    afresh: warm starts do not help.

    Parameters
    ----------
    problem : ExtendedDual
    rng : numpy.random.Generator
        Not used; all solvers take the same arguments.
    """

    name = "interior-point"

    def __init__(self, problem: ExtendedDual, rng: np.random.Generator) -> None:
        self.problem = problem

    def solve(self, C: float, tol: float) -> Outcome[DualSolution]:
        """Iterate until the relative duality gap is at most `tol`, or no further
        progress is made.
        """
        # For a small matrix or a narrow factor, several threads cost more than they
        # save.
        with (
            one_blas_thread()
            if self.problem.gram.rank_limit < _ONE_THREAD_ROWS
            else nullcontext()
        ):
            return self._solve(C, tol)

    def _solve(self, C: float, tol: float) -> Outcome[DualSolution]:
        problem = self.problem
        x = _start(problem, C)
        best = certify(problem, C, problem.labels * x.alpha, x.theta)
        sparse: DualSolution | None = None
        path = [best.primal]
        stalled = 0
        while stalled < _PATIENCE and len(path) <= _MAX_ITERATIONS:
            solved = sparse is not None and sparse.gap <= tol
            if solved or best.primal == 0.0:
                break
            try:
                x = _Newton(problem, x).advanced()
            except np.linalg.LinAlgError:
                # Rounding has made S indefinite: further directions are unreliable.
                break
            point = certify(problem, C, problem.labels * x.alpha, x.theta)
            path.append(point.primal)
            stalled += 1
            if point.gap < _PROGRESS * best.gap or best.gap > _FAR_GAP:
                stalled = 0
            if point.gap < best.gap:
                best = point
                # An interior point has no zeros. The optimum has, and only nonzero
                # variables make support vectors.
                sparse = snapped(problem, C, point) if point.gap <= tol else None
        solution = best
        if sparse is not None and sparse.gap <= max(tol, best.gap):
            solution = sparse
        return Outcome(
            solution=solution,
            solver=self.name,
            iterations=len(path) - 1,
            path=np.array(path),
        )


def _start(problem: ExtendedDual, C: float) -> _Point:
    """The middle of the boxes (at most _LARGE), unit multipliers, and evenly spaced
    thresholds.
    """
    middle = 0.5 * C * problem.live
    used = (middle > 0).astype(np.float64)
    alpha = np.where(used > 0, np.minimum(middle, _LARGE), 1.0)
    if middle.shape[1] > 1:
        theta = np.linspace(-1.0, 1.0, middle.shape[1])
    else:
        theta = np.zeros(1)
    sigma = problem.steps @ theta
    return _Point(
        alpha=alpha,
        room=np.where(used > 0, 2.0 * middle - alpha, 1.0),
        z=used,
        w=used.copy(),
        b=0.0,
        theta=theta,
        sigma=sigma,
        mu=np.ones_like(sigma),
    )

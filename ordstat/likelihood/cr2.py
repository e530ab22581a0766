"""CR2: the cluster-robust covariance for few clusters, and degrees of freedom for it.

The scores of the G clusters are adjusted, so that under the model their outer products
have the expectation of outer products of the true residuals [Bell and McCaffrey 2002;
Pustejovsky and Tipton 2018, sec. 2.2].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import helmert

from .._typing import FloatArray, IntArray
from ..exceptions import OptionError
from ..formula.row_blocks import row_blocks
from .problem import Problem
from .remedies import WITHOUT_CR2
from .scores import RowScores

#: Largest work of CR2 by default (seconds) and on request (a minute or two); see
#: `cr2_work`.
QUICK_CR2 = 1 << 25
LARGEST_CR2 = 1 << 29


def cr2_work(n: int, n_levels: int, n_parameters: int) -> int:
    """Rows times (K - 1) times squared parameters: CR2 takes time in proportion."""
    return n * (n_levels - 1) * n_parameters**2


@dataclass(frozen=True, eq=False, kw_only=True)
class BiasReduced:
    """The adjusted scores of clusters g = 1..G, and the matrices for degrees of
    freedom.

    The coordinates are those in which the expected information of the P' estimates is
    1. Q_g are the rows of a cluster in the orthonormal basis of the derivatives, V_g is
    the covariance of its responses and e_g their residuals; B_g = V_g (1 - Q_g Q_g')
    V_g and A_g = B_g^(-1/2).

    Attributes
    ----------
    root : (P', P')
        R of the QR decomposition: expected information = R'R.
    scores : (G, P')
        Q_g' A_g V_g^(1/2) e_g, the adjusted scores.
    spread : (G, P', P')
        Q_g' A_g V_g^2 A_g Q_g, the covariance of the adjusted scores at known
        parameters.
    pull : (G, P', P')
        Q_g' A_g V_g Q_g, the derivative of the adjusted scores with respect to the
        estimates.
    """

    root: FloatArray
    scores: FloatArray
    spread: FloatArray
    pull: FloatArray

    def covariance(self, bread: FloatArray) -> FloatArray:
        """(P', P') the sandwich covariance, with the inverse of the observed
        information as `bread`.
        """
        half = self.scores @ self.root @ bread
        return half.T @ half

    def t_df(self, bread: FloatArray, L: FloatArray) -> FloatArray:
        """(n,) Satterthwaite's degrees of freedom 2 E(v)^2 / Var(v) of the variances v
        of combinations (n, P') of the estimates; infinite where v is 0.
        """
        directions = L @ bread @ self.root.T
        G, _, P = self.spread.shape
        blocks = row_blocks(len(L), P * (G + P))
        return np.concatenate(
            [self._single_df(directions[some]) for some in blocks] or [np.empty(0)]
        )

    def _single_df(self, directions: FloatArray) -> FloatArray:
        """E^2 / sum_gh C_gh^2 of each direction (n, P'), E the sum of C_gg, where C_gh
        = Cov(z_g, z_h) of the scores z in that direction is spread_g [g = h] - pull_g
        pull_h' [Pustejovsky and Tipton 2018, sec. 3.2].
        """
        variances = np.einsum(
            "np,gpq,nq->ng", directions, self.spread, directions, optimize=True
        )
        moved = np.einsum("np,gpq->ngq", directions, self.pull, optimize=True)
        squares = np.einsum("ngq,ngq->ng", moved, moved)
        crossed = np.einsum("ngp,ngq->npq", moved, moved, optimize=True)
        own = (variances**2 - 2.0 * variances * squares).sum(axis=1)
        total = own + (crossed**2).sum(axis=(1, 2))
        mean = (variances - squares).sum(axis=1)
        return np.where(
            total > 0.0, mean**2 / np.where(total > 0.0, total, 1.0), np.inf
        )


#: Eigenvalues below this share of the largest are rounding of 0.
_ZERO = 1e-12
#: Variances below this share of the largest of a cluster count as this share.
_LEAST = 1e-8
#: A cluster alone determines directions in which the others have less than this share
#: of the information.
_ALONE = 1e-10
#: Step of the trapezoid rule, and its range beyond the logs of the ends: errors near
#: 1e-13.
_STEP = 0.32
_TAIL = 30.0
#: Doubles held at once, which stay in the cache.
_BUFFER = 1 << 17


def bias_reduced(
    problem: Problem, estimates: FloatArray, cluster: IntArray
) -> BiasReduced:
    """The clusters of a fit at its estimates; see `BiasReduced` for the symbols.

    Parameters
    ----------
    problem : Problem
    estimates : (P',) on the user's scale
    cluster : (N,) codes, for the rows of the problem

    Raises
    ------
    OptionError
        There are too many rows and parameters for CR2.

    Notes
    -----
    With D = dp/d(estimates), the working variance V and the hat matrix H = D (D'V^-1
    D)^-1 D'V^-1, the adjustment of Pustejovsky and Tipton (2018, eq. 11) is V^(1/2)
    [V^(1/2) (1 - H) V V^(1/2)]^(-1/2) V^(1/2), here by the QR decomposition V^(-1/2) D
    = Q R, in the axes in which the V of every row is diagonal. A row of weight w is w
    equal rows: the root of w times D and the residuals.
    """
    sample = problem.sample
    n_levels = sample.n_levels
    P = estimates.size
    if cr2_work(sample.n, n_levels, P) > LARGEST_CR2:
        raise OptionError(
            f"vcov='CR2' must have fewer rows or parameters; got {sample.n} rows of"
            f" {n_levels} levels and {P} parameters. {WITHOUT_CR2}"
        )
    p, slopes = _probabilities(problem, estimates)
    contrasts = helmert(n_levels)  # indicators of levels add up to 1
    multinomial = p[:, :, None] * (np.eye(n_levels) - p[:, None, :])
    V, axes = np.linalg.eigh(contrasts @ multinomial @ contrasts.T)
    turned = axes.transpose(0, 2, 1) @ contrasts
    root = np.sqrt(np.maximum(V, 0.0))
    inverse_root = np.where(
        _ZERO * V[:, -1:] < V, 1.0 / np.where(root > 0.0, root, 1.0), 0.0
    )
    weight = np.sqrt(sample.case_weights)[:, None]
    whitened = (weight * inverse_root)[:, :, None] * (turned @ slopes)
    Q, R = np.linalg.qr(whitened.reshape(-1, P))
    basis = Q.reshape(*V.shape, P)
    errors = np.eye(n_levels)[sample.y] - p
    residuals = weight * root * (turned @ errors[:, :, None])[:, :, 0]
    starts = np.flatnonzero(np.diff(np.sort(cluster))) + 1
    members = np.split(np.argsort(cluster, kind="stable"), starts)
    adjusted = (
        _adjusted(basis[i].reshape(-1, P), V[i].ravel(), residuals[i].ravel())
        for i in members
    )
    scores, spread, pull = map(np.array, zip(*adjusted, strict=True))
    return BiasReduced(root=R, scores=scores, spread=spread, pull=pull)


def _probabilities(
    problem: Problem, estimates: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """(N, K) of all levels, and their derivatives (N, K, P')."""
    sample = problem.sample
    rows = RowScores.of(problem, estimates)
    every = slice(None)
    logs = []
    scores = []
    for level in range(sample.n_levels):
        terms = rows.terms(every, np.full_like(sample.y, level))
        logs.append(terms.log_p)
        scores.append(rows.jacobian(every, terms.places).transposed(terms.score))
    p = np.exp(np.column_stack(logs))
    each = p[:, :, None]
    return p, np.where(each > 0.0, each * np.stack(scores, axis=1), 0.0)


def _adjusted(
    Q: FloatArray, V: FloatArray, whitened: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Score, spread and pull of one cluster from Q_g (m, P'), the diagonal V (m,) and
    V^(1/2) e (m,).

    B = V (1 - QQ') V is diagonal less a matrix of rank P'. Where the cluster alone
    determines directions of the estimates, B is singular: the null space Z is filled
    for the root, and left out of it again.
    """
    V = np.maximum(V, _LEAST * V.max())
    shares, directions = np.linalg.eigh(np.eye(Q.shape[1]) - Q.T @ Q)
    alone = shares <= _ALONE
    top = float(V.max())
    Z = np.linalg.qr((Q @ directions[:, alone]) / V[:, None])[0]
    core = np.diag(np.repeat([-1.0, top**-2], [Q.shape[1], Z.shape[1]]))
    low = float(V.min() * np.sqrt(shares[~alone].min(initial=1.0)))
    left = (
        _inverse_root(V**2, np.hstack([V[:, None] * Q, Z]), core, Q, (low, top))
        - Z @ (Z.T @ Q) / top
    )
    spread = V[:, None] * left
    return left.T @ whitened, spread.T @ spread, spread.T @ Q


def _inverse_root(
    d: FloatArray,
    F: FloatArray,
    core: FloatArray,
    X: FloatArray,
    ends: tuple[float, float],
) -> FloatArray:
    """(m, P') B^(-1/2) X of B = diag(d) + F core^(-1) F', the roots of whose
    eigenvalues lie between some ends.

    B^(-1/2) = 2 / pi times the integral of e^s (B + e^(2s))^(-1) over all s, by the
    trapezoid rule, whose error falls exponentially with its step; Woodbury's formula
    gives the inverses.
    """
    points = np.exp(np.arange(np.log(ends[0]) - _TAIL, np.log(ends[1]) + _TAIL, _STEP))
    total = np.zeros_like(X)
    for some in row_blocks(points.size, d.size * F.shape[1], _BUFFER):
        inverse = 1.0 / (d + points[some, None] ** 2)
        turned = F.T * inverse[:, None, :]
        rest = X - F @ np.linalg.solve(core + turned @ F, turned @ X)
        total += np.einsum("tm,tmp->mp", points[some, None] * inverse, rest)
    return 2.0 / np.pi * _STEP * total

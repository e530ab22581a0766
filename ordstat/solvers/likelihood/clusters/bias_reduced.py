"""Score sums of clusters, adjusted for what the estimates take from the residuals (CR2).

A row of K levels is K indicators of mean p and covariance V = diag(p) - pp', the working model. They sum to 1, so that
K - 1 orthonormal contrasts of them say the same, in which V has an inverse. The results are the same whatever these
contrasts are, and in whatever order the levels stand.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import block_diag, helmert

from ...._typing import FloatArray, IntArray
from ....exceptions import OptionError
from ....model.likelihood.bias_reduced import WITHOUT_CR2, BiasReduced
from ..problem import Problem
from ..sandwich import row_scores

#: Eigenvalues below this share of the largest are rounding of 0.
_ZERO = 1e-12
#: A cluster's rows times K - 1: the eigenvectors of a matrix of this order take about half a minute.
_LARGEST = 3000


def bias_reduced(problem: Problem, estimates: FloatArray, cluster: IntArray) -> BiasReduced:
    """The clusters of a fit at its estimates; see `BiasReduced` for the symbols.

    Parameters
    ----------
    problem : Problem
    estimates : (P',) on the user's scale
    cluster : (N,) codes, for all rows of the fit

    Raises
    ------
    OptionError
        A cluster has so many rows that its matrix B is too large.

    Notes
    -----
    With D = dp/d(estimates), the working variance V and the hat matrix H = D (D'V^-1 D)^-1 D'V^-1, the adjustment of
    Pustejovsky and Tipton (2018, eq. 11) is V^(1/2) [V^(1/2) (1 - H) V V^(1/2)]^(-1/2) V^(1/2), here by the QR
    decomposition V^(-1/2) D = Q R. A row of weight w is w equal rows: the root of w times D and the residuals.
    """
    rows = problem.sample
    codes = cluster if problem.used is None else cluster[problem.used]
    _check_size(codes, rows.n_levels)
    p, slopes = _probabilities(problem, estimates)
    contrasts = helmert(rows.n_levels)
    root_v, inverse = _roots(contrasts @ (p[:, :, None] * (np.eye(rows.n_levels) - p[:, None, :])) @ contrasts.T)
    weight = np.sqrt(rows.case_weights)[:, None, None]
    Q, R = np.linalg.qr((weight * (inverse @ (contrasts @ slopes))).reshape(-1, estimates.size))
    basis = Q.reshape(rows.n, -1, estimates.size)
    residuals = weight[:, :, 0] * ((np.eye(rows.n_levels)[rows.y] - p) @ contrasts.T)
    whitened = np.einsum("nij,nj->ni", root_v, residuals)
    members = np.split(np.argsort(codes, kind="stable"), np.flatnonzero(np.diff(np.sort(codes))) + 1)
    scores, spread, pull = zip(*(_adjusted(basis[own], root_v[own], whitened[own]) for own in members), strict=True)
    return BiasReduced(root=R, scores=np.array(scores), spread=np.array(spread), pull=np.array(pull))


def _probabilities(problem: Problem, estimates: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(N, K) of all levels, and their derivatives (N, K, P')."""
    every, levels = np.arange(problem.sample.n), range(problem.sample.n_levels)
    logs, scores = zip(*(row_scores(problem, estimates, level)(every) for level in levels), strict=True)
    p = np.exp(np.column_stack(logs))
    return p, np.where(p[:, :, None] > 0.0, p[:, :, None] * np.stack(scores, axis=1), 0.0)


def _roots(V: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(N, K-1, K-1) symmetric square roots of V and of its inverse."""
    values, vectors = np.linalg.eigh(V)
    roots = np.sqrt(np.maximum(values, 0.0))
    inverse = np.where(values > _ZERO * values[:, -1:], 1.0 / np.where(roots > 0.0, roots, 1.0), 0.0)
    turned = vectors.transpose(0, 2, 1)
    return (vectors * roots[:, None, :]) @ turned, (vectors * inverse[:, None, :]) @ turned


def _adjusted(basis: FloatArray, root_v: FloatArray, whitened: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Score, spread and pull of one cluster from Q_g, V^(1/2) and V^(1/2) e by rows."""
    V = block_diag(*(root_v @ root_v))
    Q = basis.reshape(-1, basis.shape[2])
    values, vectors = np.linalg.eigh(V @ V - (V @ Q) @ (V @ Q).T)
    power = np.where(values > _ZERO * values[-1], np.abs(values), np.inf) ** -0.5
    left = ((Q.T @ vectors) * power) @ vectors.T
    return left @ whitened.reshape(-1), (left @ V) @ (left @ V).T, left @ V @ Q


def _check_size(codes: IntArray, n_levels: int) -> None:
    largest = int(np.bincount(np.unique(codes, return_inverse=True)[1]).max())
    if largest * (n_levels - 1) > _LARGEST:
        raise OptionError(
            f"vcov='CR2' must have at most {_LARGEST} rows times (K - 1) in a cluster; the largest has {largest} rows "
            f"of {n_levels} levels. {WITHOUT_CR2}"
        )

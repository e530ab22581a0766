"""Identification: log-scale effects, and lambda of a link, that the probabilities of
the levels do not determine.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .._typing import FloatArray, IntArray
from ..formula.row_blocks import row_blocks
from .columns import TOLERANCE, triangle_of
from .differences import MIDDLE, first_by_seven
from .family import Family
from .flexible import FlexibleLink, links_about
from .problem import Problem

#: Rows and thresholds that usually show the rank.
_ROWS = 250
_THRESHOLDS = 4
#: Doubles of derivatives held at once.
_BUFFER = 1 << 20
#: The random point: its seed, and the largest nominal and log-scale effects, location
#: effects, and distance of lambda from its start. Small ones keep all levels probable.
_SEED = 20
_EFFECT = 0.3
_LOCATION_EFFECT = 0.5
_LAMBDA_DISTANCE = 0.3


def identified(problem: Problem, ridge: bool = False) -> Problem:
    """The problem without parameters that its cell probabilities do not determine.

    With a ridge, log-scale effects are always determined; lambda is not.
    """
    lost = confounded(problem)
    if ridge:
        has_lambda = problem.flexible is not None
        last = problem.n_parameters - 1
        lost = [place for place in lost if has_lambda and place == last]
    return problem.without(lost) if lost else problem


def confounded(problem: Problem) -> list[int]:
    """The log-scale effects, and lambda, that depend on the parameters before them.

    Positions among the parameters whose columns are independent.
    """
    n_last = problem.rows.scale.mean.size + int(problem.flexible is not None)
    if not n_last:
        return []
    rows = np.arange(problem.sample.n)
    thresholds = np.arange(problem.counts.size - 1)
    some_rows = rows[:: max(1, rows.size // _ROWS)]
    some_thresholds = thresholds[:: max(1, thresholds.size // _THRESHOLDS)]
    lost = _dependent(_triangle(problem, some_rows, some_thresholds), n_last)
    all_used = some_rows.size == rows.size and some_thresholds.size == thresholds.size
    if not lost or all_used:
        return lost
    return _dependent(_triangle(problem, rows, thresholds), n_last)


def _dependent(R: FloatArray, n_last: int) -> list[int]:
    """Which of the last columns of R are combinations of those before them that are
    kept.
    """
    if not np.isfinite(R).all():
        return []  # the likelihood is not finite at the start: maximising says so
    size = np.linalg.norm(R, axis=0)
    columns = R / np.where(size > 0.0, size, 1.0)
    first = R.shape[1] - n_last
    kept = list(range(first))
    for place in range(first, R.shape[1]):
        basis = columns[:, kept]
        column = columns[:, place]
        left = column - basis @ np.linalg.lstsq(basis, column, rcond=1e-13)[0]
        if np.linalg.norm(left) > TOLERANCE:
            kept.append(place)
    return [place for place in range(first, R.shape[1]) if place not in kept]


def _triangle(problem: Problem, rows: IntArray, thresholds: IntArray) -> FloatArray:
    """R of the QR decomposition of the derivatives of some predictors of some rows."""
    point = _RandomPoint.of(problem)
    width = problem.n_parameters
    blocks = row_blocks(rows.size, thresholds.size * width, _BUFFER)
    return triangle_of((point.slopes(rows[b], thresholds) for b in blocks), width)


@dataclass(frozen=True, eq=False, kw_only=True)
class _RandomPoint:
    """Random parameters: what depends on others there does so almost everywhere.

    Columns are shifted so that rounding does not hide their rank.

    Attributes
    ----------
    problem : Problem
    structure : (K-1, t)
        Derivatives of the thresholds by the parameters of their structure.
    alpha : (K-1, m), beta : (p,), zeta : (r,)
    x_shift : (p,), z_shift : (r,), tau_shift : float
        What is added to location columns, log-scale columns and log scales.
    """

    problem: Problem
    structure: FloatArray
    alpha: FloatArray
    beta: FloatArray
    zeta: FloatArray
    x_shift: FloatArray
    z_shift: FloatArray
    tau_shift: float

    @classmethod
    def of(cls, problem: Problem) -> _RandomPoint:
        """A point near the thresholds at which the levels have their shares."""
        rows = problem.rows
        x_mean = rows.location.mean / rows.location.deviation
        z_mean = rows.scale.mean / rows.scale.deviation
        structure = np.eye(rows.shape[0])
        x_shift = np.zeros(x_mean.size)
        if problem.structure is not None:
            structure = problem.structure.jacobian
            # thresholds that cannot move together do not absorb the centring of x
            if problem.structure.intercept is None:
                x_shift = x_mean
        rng = np.random.default_rng(_SEED)
        alpha = rng.uniform(-_EFFECT, _EFFECT, size=rows.shape)
        alpha[:, 0] = problem.quantiles()
        alpha = structure @ np.linalg.lstsq(structure, alpha, rcond=None)[0]
        zeta = rng.uniform(-_EFFECT, _EFFECT, size=z_mean.size)
        beta = rng.uniform(-_LOCATION_EFFECT, _LOCATION_EFFECT, size=x_mean.size)
        given = problem.sample.rows
        z_shift = -z_mean
        log_scale = 0.0 if given.scale_offset is None else given.scale_offset.mean()
        if given.offset is not None:  # then the origin of z matters
            z_shift = np.zeros(z_mean.size)
            log_scale = log_scale + z_mean @ zeta
        return cls(
            problem=problem,
            structure=structure,
            alpha=alpha,
            beta=beta,
            zeta=zeta,
            x_shift=x_shift,
            z_shift=z_shift,
            tau_shift=-float(log_scale),
        )

    def slopes(self, rows: IntArray, thresholds: IntArray) -> FloatArray:
        """(n M, P) derivatives of eta_k by all parameters, each line divided by the
        size of eta_k.
        """
        part = self.problem.rows.model_rows(rows)
        part = replace(
            part,
            x=part.x + self.x_shift,
            z=part.z + self.z_shift,
            scale_offset=part.scale_offset + self.tau_shift,
        )
        predictor = part.at(self.alpha[thresholds], self.beta, self.zeta)
        s = predictor.s[:, None, None]
        eta = predictor.eta()
        by_theta = np.einsum("nj,kt->nkjt", part.w, self.structure[thresholds])
        slopes = [
            s * by_theta.reshape(*eta.shape, -1),
            -s * np.broadcast_to(part.x[:, None], (*eta.shape, self.beta.size)),
            -eta[:, :, None] * part.z[:, None],
        ]
        if self.problem.flexible is not None:
            by_lambda = _by_lambda(self.problem.family, self.problem.flexible, eta)
            slopes.append(by_lambda[:, :, None])
        lines = np.concatenate(slopes, axis=2) / (s + np.abs(eta)[:, :, None])
        return np.asarray(lines.reshape(eta.size, -1))


def _by_lambda(family: Family, links: FlexibleLink, eta: FloatArray) -> FloatArray:
    """(n, M) the changes of eta that have the effect of lambda on P(y <= k), at a value
    of lambda near the start; 0 where the density vanishes.
    """
    about, h = links_about(links.at(links.start + _LAMBDA_DISTANCE))
    curves = [family.at(link).cut for link in about]
    by_lambda = first_by_seven(np.array([curve.cdf(eta) for curve in curves]), h)
    density = curves[MIDDLE].pdf(eta)
    return np.where(density > 0.0, by_lambda / np.maximum(density, 1e-300), 0.0)

"""Convex losses of margins between a linear score and ordered thresholds, and their
minimum by Newton's method.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .._typing import FloatArray, IntArray
from ..formula.row_blocks import CACHED, row_blocks
from ..newton import Blocks, Evaluation, maximise


class Loss(NamedTuple):
    """A convex function at a point with its gradient and Hessian."""

    value: float
    gradient: FloatArray
    hessian: FloatArray


#: (margins, weights), both (n, Q) -> loss, minus its derivative by each margin, and its
#: curvature, both (n, Q). Margins may be overwritten.
Cells = Callable[[FloatArray, FloatArray], tuple[float, FloatArray, FloatArray]]


@dataclass(frozen=True, eq=False, kw_only=True)
class Minimum:
    """Where the minimisation of a convex function stopped.

    Attributes
    ----------
    coef : (D,)
    theta : (Q,)
    objective : (T,) at the start and after every step
    gradient : float
        Largest component of the gradient; tied thresholds are one parameter.
    """

    coef: FloatArray
    theta: FloatArray
    objective: FloatArray
    gradient: float


def in_row_space(X: FloatArray) -> tuple[FloatArray, FloatArray | None]:
    """Rows X (N, D) in an orthonormal basis of the space that they span if D > N, and
    that basis (D, N).

    The coefficients of a linear score with a penalty of their length lie in this space:
    those in the basis have the same length, and basis @ coefficients are those of the
    columns. X and None if D <= N.
    """
    if X.shape[1] <= X.shape[0]:
        return X, None
    basis, coordinates = np.linalg.qr(X.T)
    return np.ascontiguousarray(coordinates.T), np.asarray(basis)


def summed(
    cells: Cells,
    X: FloatArray,
    labels: FloatArray,
    weights: FloatArray,
    offset: FloatArray,
    v: FloatArray,
) -> Loss:
    """sum_nk W_nk loss(Y_nk (x_n'w + o_n - theta_k)) at v = (w, theta), without
    penalties.
    """
    D = X.shape[1]
    value = 0.0
    gradient = np.zeros_like(v)
    H = np.zeros((v.size, v.size))
    for rows in row_blocks(len(labels), labels.shape[1], CACHED):
        x = X[rows]
        Y = labels[rows]
        margins = (x @ v[:D] + offset[rows])[:, None] - v[D:]
        margins *= Y
        loss, signal, curvature = cells(margins, weights[rows])
        value += loss
        signal *= Y
        gradient[:D] -= x.T @ signal.sum(axis=1)
        gradient[D:] += signal.sum(axis=0)
        H[:D, :D] += (x * curvature.sum(axis=1)[:, None]).T @ x
        H[:D, D:] -= x.T @ curvature
        H[D:, D:] += np.diag(curvature.sum(axis=0))
    H[D:, :D] = H[:D, D:].T
    return Loss(value, gradient, H)


#: Newton steps of `minimum`.
_MOST_STEPS = 200


def minimum(
    evaluate: Callable[[FloatArray], Loss],
    v: FloatArray,
    n_thresholds: int = 0,
    *,
    ordered: bool = False,
    slack: float = 0.0,
    flat: float = 0.0,
    rounding: float = 0.0,
) -> Minimum:
    """The minimum of a convex function of v = (w, theta) from a start, with theta_1 <=
    ... <= theta_Q if `ordered`.

    Thresholds that would be out of order are tied, and untied if the multiplier of
    their constraint has the wrong sign.

    Parameters
    ----------
    evaluate : callable
    v : (D + Q,)
    n_thresholds : int
        Q.
    ordered : bool
    slack : float
        A tie is cut if its multiplier is below -slack.
    flat : float
        Stop when no component of the gradient is larger.
    rounding : float
        Stop at this Newton decrement relative to the value.
    """
    D = v.size - n_thresholds
    group = np.arange(n_thresholds)
    path = list[float]()
    while True:
        tie = np.eye(v.size)[:, : D + int(group.max(initial=-1)) + 1]
        tie[D:, D:] = group[:, None] == np.arange(tie.shape[1] - D)

        def tied(
            z: FloatArray, information: Blocks | None = None, tie: FloatArray = tie
        ) -> Evaluation:
            loss = evaluate(tie @ z)
            return Evaluation(
                -loss.value,
                -tie.T @ loss.gradient,
                Blocks.of_dense(tie.T @ loss.hessian @ tie),
            )

        # means of tied thresholds
        start = np.asarray(np.linalg.lstsq(tie, v, rcond=None)[0], dtype=np.float64)
        optimum = maximise(
            tied,
            start,
            tol=flat,
            max_iter=_MOST_STEPS,
            total_weight=1.0,
            rounding=rounding,
        )
        v = tie @ optimum.x
        path += (-optimum.logliks).tolist()
        if ordered:
            regrouped = _regrouped(v[D:], evaluate(v).gradient[D:], group, slack)
        else:
            regrouped = None
        if regrouped is None or len(path) > _MOST_STEPS:
            break
        group = regrouped
    largest = float(np.abs(optimum.at.score).max(initial=0.0))
    theta = v[D:]
    rising = np.maximum.accumulate(theta)
    if np.allclose(theta, rising, rtol=1e-13, atol=1e-13):  # equal but for rounding
        theta = rising
    return Minimum(coef=v[:D], theta=theta, objective=np.array(path), gradient=largest)


def _regrouped(
    theta: FloatArray, gradient: FloatArray, group: IntArray, slack: float
) -> IntArray | None:
    """Join groups that are out of order, or else cut the tie with the worst multiplier;
    None if there is nothing to do.

    The multiplier of theta_k <= theta_{k+1} is minus the sum of the gradients (Q,) of
    its group up to k.
    """
    if (np.diff(theta) < 0.0).any():
        apart = (np.diff(group) > 0) & (np.diff(theta) >= 0.0)
        return np.concatenate([[0], np.cumsum(apart)]).astype(np.intp)
    tied = np.flatnonzero(np.diff(group) == 0)
    sums = np.cumsum(gradient)
    before = np.concatenate([[0.0], sums])[np.searchsorted(group, group)]
    multipliers = (before - sums)[tied]
    if not tied.size or multipliers.min() >= -slack:
        return None
    cut = tied[int(np.argmin(multipliers))]
    return np.asarray(group + (np.arange(group.size) > cut))

"""The ridge cumulative model that boosting may start from, its penalty by cross-validation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..._typing import AnyArray, FloatArray
from ...model.boosted.linear import LinearStart
from ...model.costs import CostMatrix
from ...model.likelihood.cumulative import Cumulative
from ...model.sample import Rows, Sample
from ...solvers.likelihood.estimate import Estimation
from ...solvers.likelihood.layout import Layout
from ...solvers.likelihood.penalty import Ridge
from ...solvers.likelihood.problem import Problem

#: Penalties tried, of effects per standard deviation: 2^-4, 2^-2, ..., 2^10.
PENALTIES: tuple[float, ...] = tuple(np.exp2(np.arange(-4.0, 11.0, 2.0)).tolist())
_TOL, _MOST_STEPS = 1e-6, 100
#: Rows that the penalty is chosen on at most; the best one does not depend on their number.
MOST_ROWS = 3000


@dataclass(frozen=True, eq=False)
class Linear:
    """A linear start and its thresholds.

    Attributes
    ----------
    start : LinearStart
    theta : (K-1,)
    """

    start: LinearStart
    theta: FloatArray


def ridge(
    rows: Rows, y: AnyArray, weights: FloatArray, family: Cumulative, penalty: float, signs: AnyArray
) -> tuple[FloatArray, FloatArray]:
    """Slopes and thresholds of the cumulative model whose log-likelihood less the penalty is largest.

    Where columns must have a sign, those whose effect has the other one are left out, and the rest is fitted again.

    Parameters
    ----------
    rows : Rows
    y : (N,) codes, of which each is there with a positive weight
    weights : (N,)
    family : Cumulative
    penalty : float
        Of half the squared effects per standard deviation.
    signs : (D,) 1, -1 or 0 for any
    """
    used = np.flatnonzero(weights > 0)
    codes, own = np.asarray(y[used], dtype=np.intp), weights[used]
    n_levels = int(codes.max()) + 1
    free = np.ones(rows.X.shape[1], dtype=np.bool_)
    slopes = np.zeros(free.size)
    while True:
        offset = None if rows.offset is None else rows.offset[used]
        part = Rows(X=np.ascontiguousarray(rows.X[np.ix_(used, free)]), offset=offset)
        problem = Problem.of(Sample(rows=part, y=codes, n_levels=n_levels, weights=own), family, None, "flexible")
        found = Estimation(penalty=Ridge(penalty), start=None, tol=_TOL, max_iter=_MOST_STEPS).of(problem)
        alpha, rest = problem.user_scale().coefficients(found.optimum.alpha, found.optimum.rest)
        rule = Layout.of(problem).rule(alpha, rest, found.family, CostMatrix.absolute())
        slopes[:] = 0.0
        slopes[free] = rule.beta
        wrong = signs * slopes < 0
        if not wrong.any():
            return slopes, rule.alpha[:, 0]
        free &= ~wrong


def best_penalty(judge: Callable[[float], float]) -> float:
    """The penalty of least held-out loss; ties go to the larger."""
    losses = [judge(penalty) for penalty in PENALTIES[::-1]]
    return PENALTIES[::-1][int(np.argmin(losses))]

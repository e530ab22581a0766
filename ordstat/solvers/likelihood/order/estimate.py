"""Estimates with thresholds kept in order: those without the constraint where they are, else the best that are."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from ...._typing import BoolArray, FloatArray
from ....model.fit import Information
from ....model.likelihood.region import KeptOrder, Region
from ..estimate import Estimate
from ..explore import Point
from ..separation import Separation, separation
from ..user_scale import Unknown, in_order, parted
from .constraints import Order
from .search import OrderedOptimum, ordered_maximum

#: How near to the boundary a start between the estimates without constraints and none may lie.
_INSIDE = 0.9


@dataclass(frozen=True, eq=False, kw_only=True)
class OrderedEstimate(Estimate):
    """Estimates that the order of thresholds holds back.

    Attributes
    ----------
    found : OrderedOptimum
    """

    found: OrderedOptimum = field()

    @property
    def residual(self) -> float:
        return self.found.residual

    @property
    def separated(self) -> bool:
        return self.separation() is not None

    def _separation(self) -> Separation | None:
        """By directions that keep the order of thresholds, whose inequalities are added as directions break them."""
        order, optimum = self.found.order, self.optimum

        def broken_by(x: FloatArray) -> FloatArray:
            values, corners = order.least(parted(x, optimum.alpha.shape))
            rows = [order.row(corner) for value, corner in zip(values, corners, strict=True) if value < -1e-9]
            return np.array(rows).reshape(-1, x.size)

        return separation(self.problem, optimum, broken_by)

    def _information(self, infinite: BoolArray | None) -> Information:
        """With the constraints that bind held as equations: the covariance of what is left free."""
        at, user = self.optimum.at, self.problem.user_scale()
        held = self.found.order.rows[self.found.multipliers > 0.0]
        free = np.linalg.svd(held)[2][np.linalg.matrix_rank(held) :].T
        try:
            L = cholesky(free.T @ at.information.dense() @ free, lower=True)
        except LinAlgError:
            return Unknown(user.c.size * user.G.shape[0] + user.scale.size)
        if infinite is not None:
            return Unknown(user.c.size * user.G.shape[0] + user.scale.size)
        shape = user.c.size, user.G.shape[0]
        root = solve_triangular(L, free.T, lower=True)
        return HeldInformation(
            np.array([in_order(*user.coefficients(*parted(row, shape))) for row in root]).reshape(-1, free.shape[0])
        )


@dataclass(frozen=True, eq=False)
class HeldInformation:
    """The covariance R'R of estimates on the user's scale, from R (r, P'): singular where constraints hold some."""

    root: FloatArray

    def variances(self) -> FloatArray:
        return np.asarray((self.root**2).sum(axis=0))

    def covariance(self) -> FloatArray:
        return np.asarray(self.root.T @ self.root)


def kept_in_order(found: Estimate) -> tuple[Estimate, KeptOrder]:
    """The estimates with thresholds in order all over the range of the nominal columns, and where that binds.

    Those found without constraints are returned as they are where their thresholds are in order.
    """
    problem = found.problem
    if not problem.nominal.kept.any():
        return found, KeptOrder(Region(()))
    order = Order.of(problem)
    least, _ = order.least((found.optimum.alpha, found.optimum.rest))
    if least.min(initial=0.0) >= 0.0:
        return found, KeptOrder(order.on_user_scale)
    objective, by = found.by.objective(problem), found.by
    reached = [
        ordered_maximum(
            objective.evaluate,
            order,
            start,
            tol=by.tol,
            max_iter=by.max_iter,
            total_weight=float(problem.counts.sum()),
        )
        for start in _starts(found, order, least)
    ]
    best = max(reached, key=lambda one: one.optimum.at.loglik)
    kept = OrderedEstimate(
        found.by,
        problem,
        found.start,
        best.optimum,
        lambda_end=found.lambda_end,
        lam=found.lam,
        asked=found.asked,
        found=best,
    )
    return kept, KeptOrder(order.on_user_scale, best.order.binding(problem, best.multipliers))


def _starts(found: Estimate, order: Order, least: FloatArray) -> list[Point]:
    """Points with thresholds in order everywhere: on the way to the estimates without constraints, and no effects.

    A concave likelihood has one maximum, and the first is the nearer.
    """
    alpha, rest = found.problem.start()
    apart, _ = order.least((alpha, rest))
    short = least < (1.0 - _INSIDE) * apart
    share = float(np.min(_INSIDE * apart[short] / (apart[short] - least[short]), initial=1.0))
    optimum = found.optimum
    between = alpha + share * (optimum.alpha - alpha), rest + share * (optimum.rest - rest)
    concave = found.problem.family.concave and found.problem.sample.rows.scale is None
    return [between] if concave else [between, (alpha, rest)]

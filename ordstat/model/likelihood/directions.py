"""Derivatives of what a likelihood model predicts as its rows move, and of these by the parameters.

Where a variable x moves, the columns of a row move by their derivatives w', x', z' (a tangent), and its predictors by

    eta_k' = s (w'alpha_k - H') - eta_k tau',   H' = x'beta + offset',   tau' = z'zeta + scale offset'.

A quantity g(eta) has the derivative S eta' with S = dg / d eta. Its gradient by the parameters is that of g, which is
S d eta, moved along: S' d eta + S (d eta)', and (d eta)' is

    d / d alpha_k = s (w' - tau' w),   d / d beta = -s (x' - tau' x),   d / d zeta = -(eta_k' z + eta_k z').
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..._typing import FloatArray
from ..sample import Rows
from .derivatives import Chain, chunks, product
from .family import Family
from .quantities import Curve, Quantity, Slopes
from .rule import LikelihoodRule

#: Distance of five points in eta, and the least share of eta.
_STEP, _SHARE = 1e-3, 1e-6
#: Place and weight of the four that count, for 12 times the derivative.
_POINTS = ((-2.0, 1.0), (-1.0, -8.0), (1.0, 8.0), (2.0, -1.0))


@dataclass(frozen=True, eq=False)
class Block:
    """Some rows of a model: their predictors and the slopes of a curve there.

    Attributes
    ----------
    rule : LikelihoodRule
    curve : Curve
    chain : Chain
    """

    rule: LikelihoodRule
    curve: Curve
    chain: Chain

    @cached_property
    def slopes(self) -> Slopes:
        return self.curve.slopes(self.rule.family, self.chain.eta)

    @cached_property
    def _own_bend(self) -> Slopes:
        """Second derivatives of a local curve."""
        return bent(self.curve, self.rule.family, self.chain.eta, np.ones_like(self.chain.eta))

    def bend(self, moved: FloatArray) -> Slopes:
        """The derivative of the slopes where eta moves by (n, K-1)."""
        if not self.slopes.local:
            exact = self.curve.bend(self.rule.family, self.chain.eta, _finite(moved))
            if exact is not None and not self.slopes.lam:
                return Slopes(exact, [])
            return bent(self.curve, self.rule.family, self.chain.eta, _finite(moved))
        own = self._own_bend
        return Slopes(product(own.eta, moved), [product(value, moved) for value in own.lam])

    def motion(self, tangent: Rows) -> Motion:
        """How the rows move along a tangent."""
        rule, chain = self.rule, self.chain
        H = rule.scores(tangent)
        tau: FloatArray = np.zeros(tangent.n) if tangent.scale is None else tangent.scale @ rule.zeta
        tau = (tau if tangent.scale_offset is None else tau + tangent.scale_offset)[:, None]
        theta = 0.0 if tangent.nominal is None else tangent.nominal @ rule.alpha[:, 1:].T
        moved = chain.s * (theta - H[:, None]) - product(tau, chain.eta)
        rows, none = chain.rows, np.zeros((tangent.n, 1))
        w = none if tangent.nominal is None else np.hstack([none, tangent.nominal])
        turned = replace(rows, w=w - tau * rows.w, x=tangent.X - tau * rows.x)
        parts = [replace(chain, eta=moved, rows=turned)]
        if tangent.scale is not None:
            parts.append(replace(chain, rows=replace(rows, w=0.0 * rows.w, x=0.0 * rows.x, z=tangent.scale)))
        still = Slopes(self.slopes.eta, [np.zeros_like(value) for value in self.slopes.lam])
        return Motion(moved, still, [(chain, self.bend(moved)), *((part, still) for part in parts)])


@dataclass(frozen=True, eq=False)
class Motion:
    """How a block of rows moves.

    Attributes
    ----------
    eta : (n, K-1)
        The derivative of the predictors.
    slopes : Slopes
    parts : list of (Chain, Slopes)
        Whose gradients add up to the derivative of the gradient.
    """

    eta: FloatArray
    slopes: Slopes
    parts: list[tuple[Chain, Slopes]]

    @property
    def values(self) -> FloatArray:
        """(n, K-1) the derivative of the curve."""
        slope = self.slopes.eta
        return product(slope, self.eta) if self.slopes.local else np.einsum("nkj,nj->nk", slope, _finite(self.eta))


def _finite(moved: FloatArray) -> FloatArray:
    """The moves, without those of infinite predictors, on which no probability depends."""
    return np.where(np.isfinite(moved), moved, 0.0)


def bent(curve: Curve, family: Family, eta: FloatArray, moved: FloatArray) -> Slopes:
    """The derivative of the slopes of a curve where eta moves by (n, K-1), from five points."""
    h = _STEP / np.maximum(np.abs(moved).max(axis=1, keepdims=True), 1e-300)
    h = np.maximum(h, _SHARE * np.where(np.isfinite(eta), np.abs(eta), 0.0).max(axis=1, keepdims=True) * h / _STEP)
    points = [curve.slopes(family, eta + (place * h) * moved) for place, _ in _POINTS]
    weights = [weight for _, weight in _POINTS]
    finite = np.isfinite(eta)

    def derivative(parts: list[FloatArray]) -> FloatArray:
        width = 12.0 * h if parts[0].ndim == 2 else 12.0 * h[:, :, None]
        total = sum((weight * part for weight, part in zip(weights, parts, strict=True)), np.zeros_like(parts[0]))
        known = finite if parts[0].ndim == 2 else finite[:, None, :]
        return np.where(known, total / width, 0.0)

    lam = [[point.lam[j] for point in points] for j in range(len(points[0].lam))]
    return Slopes(derivative([point.eta for point in points]), [derivative(values) for values in lam])


class Directions:
    """Derivatives of a quantity along tangents of some rows; what all tangents share is found once.

    Parameters
    ----------
    quantity : Quantity
    rule : LikelihoodRule
    rows : Rows
    """

    def __init__(self, quantity: Quantity, rule: LikelihoodRule, rows: Rows) -> None:
        self.quantity, self.rule, self.rows = quantity, rule, rows

    @cached_property
    def _blocks(self) -> list[tuple[slice, Block]]:
        parts = chunks(self.rows.n, self.rule.n_levels)
        return [
            (part, Block(self.rule, self.quantity.curve, Chain.of(self.rule, self.rows.take(part)))) for part in parts
        ]

    def average(self, tangent: Rows, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(M,) weighted sums over rows of the derivatives along a tangent, and their (M, F) Jacobian."""
        count = self.rule.n_levels - 1
        values, jacobian = np.zeros(count), np.zeros((count, self.rule.n_parameters))
        for part, block in self._blocks:
            motion, w = block.motion(tangent.take(part)), weights[part]
            values = values + w @ motion.values
            jacobian = jacobian + sum(chain.averages(slopes, w) for chain, slopes in motion.parts)
        return self.quantity.combine(values, 0.0), self.quantity.combine(jacobian, 0.0)

    def each(self, tangent: Rows) -> tuple[FloatArray, FloatArray]:
        """(n, M) derivatives along a tangent, and their (n, M, F) Jacobian."""
        found = [
            (motion.values, row_gradients(self.quantity, motion.parts))
            for part, block in self._blocks
            for motion in [block.motion(tangent.take(part))]
        ]
        return _stacked(self.quantity, found, 0.0)

    def values(self) -> tuple[FloatArray, FloatArray]:
        """(n, M) the quantity itself, and its (n, M, F) Jacobian."""
        family = self.rule.family
        found = [
            (
                self.quantity.curve.value(family, block.chain.eta),
                row_gradients(self.quantity, [(block.chain, block.slopes)]),
            )
            for _, block in self._blocks
        ]
        return _stacked(self.quantity, found, 1.0)


def row_gradients(quantity: Quantity, parts: list[tuple[Chain, Slopes]]) -> FloatArray:
    """(n, M, F) the sum of the gradients of each output of a quantity."""
    factors = quantity.combine(np.eye(parts[0][0].eta.shape[1]), 0.0)
    outputs = [sum(chain.gradient(*slopes.combined(row)) for chain, slopes in parts) for row in factors]
    return np.stack(outputs, axis=1)


def _stacked(
    quantity: Quantity, found: list[tuple[FloatArray, FloatArray]], top: float
) -> tuple[FloatArray, FloatArray]:
    values = np.concatenate([one for one, _ in found])
    return quantity.combine(values.T, top).T, np.concatenate([gradient for _, gradient in found])

"""Derivatives of what a likelihood model predicts, with respect to its parameters.

Everything predicted is made of the predictors of a row, eta_k = s (theta_k - H) with theta_k = alpha_k'(1, w),
H = x'beta + offset and s = exp(-(z'zeta + scale offset)):

    d eta_k / d alpha_k = s (1, w),   d eta_k / d beta = -s x,   d eta_k / d zeta = -eta_k z.

The parameters stand in the order of `LikelihoodFit.coefficients`: thresholds, then the effects of the nominal columns
on each, column by column, then beta, then zeta, then the lambda of a flexible link (given or estimated); all of them,
aliased or not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..._typing import BoolArray, FloatArray
from ..row_blocks import row_blocks
from ..sample import Rows
from .family import Family
from .predictor import ModelRows
from .quantities import Quantity, Slopes
from .rule import LikelihoodRule

#: Doubles held at once for the derivatives of a chunk of rows.
_BUFFER = 1 << 21


@dataclass(frozen=True, eq=False, kw_only=True)
class Chain:
    """The predictors of n rows and what they are made of, for the chain rule.

    Attributes
    ----------
    eta : (n, K-1)
    s : (n, 1)
    rows : ModelRows
    """

    eta: FloatArray
    s: FloatArray
    rows: ModelRows

    @classmethod
    def of(cls, rule: LikelihoodRule, rows: Rows) -> Chain:
        predictor = rule.predictor(rows)
        return cls(eta=predictor.eta(), s=predictor.s[:, None], rows=ModelRows.of(rows))

    def gradient(self, by_eta: FloatArray, by_lambda: list[FloatArray]) -> FloatArray:
        """(n, F) gradient of one number a row, from its derivatives (n, K-1) by eta and (n,) by lambda."""
        w, x, z = self.rows.w, self.rows.x, self.rows.z
        alpha = w[:, :, None] * (by_eta * self.s)[:, None, :]
        beta = -(by_eta.sum(axis=1, keepdims=True) * self.s) * x
        zeta = -product(by_eta, self.eta).sum(axis=1, keepdims=True) * z
        flat = alpha.reshape(len(by_eta), w.shape[1] * by_eta.shape[1])
        return np.hstack([flat, beta, zeta, *(value[:, None] for value in by_lambda)])

    def averages(self, slopes: Slopes, weights: FloatArray) -> FloatArray:
        """(K-1, F) sum over rows of weight times the gradient of each value of a curve."""
        count, m = self.eta.shape[1], self.rows.w.shape[1]
        if slopes.local:
            weighted = slopes.eta * (weights[:, None] * self.s)
            stretched = product(slopes.eta, self.eta) * weights[:, None]
            alpha = np.zeros((count, m, count))
            alpha[np.arange(count), :, np.arange(count)] = weighted.T @ self.rows.w
        else:
            every = slopes.eta * (weights[:, None] * self.s)[:, :, None]
            weighted = every.sum(axis=2)
            stretched = product(slopes.eta, self.eta[:, None, :]).sum(axis=2) * weights[:, None]
            alpha = (every.reshape(len(every), -1).T @ self.rows.w).reshape(count, count, m).swapaxes(1, 2)
        lam = [(weights @ value)[:, None] for value in slopes.lam]
        return np.hstack([alpha.reshape(count, -1), -weighted.T @ self.rows.x, -stretched.T @ self.rows.z, *lam])

    def difference(self, upper: int | None, lower: int | None, slopes: Slopes) -> tuple[FloatArray, list[int]]:
        """Gradient of one value of a curve less another where it is not zero, and the places of its columns."""
        if not slopes.local:
            signs = np.zeros(self.eta.shape[1])
            for sign, k in ((1.0, upper), (-1.0, lower)):
                if k is not None:
                    signs[k] += sign
            gradient = self.gradient(*slopes.combined(signs))
            return gradient, list(range(gradient.shape[1]))
        (n, count), m = self.eta.shape, self.rows.w.shape[1]
        blocks, places = [], []
        net, stretched, lam = np.zeros((n, 1)), np.zeros((n, 1)), np.zeros((n, len(slopes.lam)))
        for sign, k in ((1.0, upper), (-1.0, lower)):
            if k is not None:
                own = sign * slopes.eta[:, k : k + 1]
                blocks.append(own * self.s * self.rows.w)
                places += [j * count + k for j in range(m)]
                net += own
                stretched += product(own, self.eta[:, k : k + 1])
                lam += sign * np.array([value[:, k] for value in slopes.lam]).T.reshape(n, len(slopes.lam))
        gradient = np.hstack([*blocks, -net * self.s * self.rows.x, -stretched * self.rows.z, lam])
        return gradient, [*places, *range(m * count, m * count + gradient.shape[1] - len(places))]

    def involves(self, chosen: BoolArray) -> BoolArray:
        """(n, K-1) whether each eta has a nonzero derivative by one of the chosen parameters (F,)."""
        w, x, z = self.rows.w, self.rows.x, self.rows.z
        count, m, D = self.eta.shape[1], w.shape[1], x.shape[1]
        alpha, beta, rest = np.split(chosen, [m * count, m * count + D])
        zeta = rest[: z.shape[1]]
        shared = (x[:, beta] != 0.0).any(axis=1) | (z[:, zeta] != 0.0).any(axis=1)
        own: BoolArray = (np.abs(w) @ alpha.reshape(m, count)) > 0.0
        return np.asarray(own | shared[:, None])


def product(c: FloatArray, eta: FloatArray) -> FloatArray:
    """c * eta, 0 where c is 0 (an infinite threshold)."""
    return np.asarray(np.where(c == 0.0, 0.0, c * np.where(c == 0.0, 0.0, eta)))


def averages(
    quantity: Quantity, rule: LikelihoodRule, rows: Rows, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """(M,) weighted sums over rows and their (M, F) Jacobian; the weights should sum to what 1 stands for."""
    values: FloatArray = np.zeros(rule.n_levels - 1)
    jacobian: FloatArray = np.zeros((rule.n_levels - 1, rule.n_parameters))
    for part in chunks(rows.n, rule.n_levels):
        some = Chain.of(rule, rows.take(part))
        values = values + weights[part] @ quantity.curve.value(rule.family, some.eta)
        jacobian = jacobian + some.averages(quantity.curve.slopes(rule.family, some.eta), weights[part])
    return quantity.combine(values, float(weights.sum())), quantity.combine(jacobian, 0.0)


def chunks(n: int, per_row: int) -> Iterator[slice]:
    """Slices of at most so many rows that `per_row` doubles a row fit the buffer."""
    return row_blocks(n, per_row, _BUFFER)


def standard_errors(rule: LikelihoodRule, rows: Rows, quantity: Quantity, covariance: FloatArray) -> FloatArray:
    """(N, M) standard errors of a quantity of each row, by the delta method.

    Parameters
    ----------
    rule : LikelihoodRule
    rows : Rows
    quantity : Quantity
    covariance : (F, F) of all parameters, zero where aliased
    """
    width = rule.n_parameters + 2 * rule.n_levels * (1 if rule.family.local else rule.n_levels)
    parts = [Chain.of(rule, rows.take(part)) for part in chunks(rows.n, width)] or [Chain.of(rule, rows)]
    variances = np.concatenate([_variances(rule.family, part, quantity, covariance) for part in parts])
    return np.asarray(np.sqrt(np.maximum(variances, 0.0)))


def _variances(family: Family, some: Chain, quantity: Quantity, covariance: FloatArray) -> FloatArray:
    slopes = quantity.curve.slopes(family, some.eta)
    count = some.eta.shape[1]
    if quantity.touches is None:
        gradient = some.gradient(*slopes.combined(quantity.combine(np.eye(count), 0.0)[0]))
        return np.asarray(((gradient @ covariance) * gradient).sum(axis=1, keepdims=True))
    columns = []
    for ends in quantity.touches(count):
        gradient, places = some.difference(*ends, slopes)
        columns.append(((gradient @ covariance[np.ix_(places, places)]) * gradient).sum(axis=1))
    return np.column_stack(columns)


def _beta(rule: LikelihoodRule) -> slice:
    return slice(rule.alpha.size, rule.alpha.size + rule.beta.size)


def score_errors(rule: LikelihoodRule, rows: Rows, covariance: FloatArray) -> FloatArray:
    """(N,) standard errors of H = x'beta + offset."""
    beta = _beta(rule)
    return np.asarray(np.sqrt(np.maximum(((rows.X @ covariance[beta, beta]) * rows.X).sum(axis=1), 0.0)))


def involved(rule: LikelihoodRule, rows: Rows, quantity: Quantity, chosen: BoolArray) -> BoolArray:
    """(N, M) whether an output depends on one of the chosen parameters (F,) of alpha, beta or zeta."""
    some = Chain.of(rule, rows)
    etas = some.involves(chosen)
    if not quantity.curve.slopes(rule.family, some.eta).local:
        etas = np.broadcast_to(etas.any(axis=1, keepdims=True), etas.shape)
    if quantity.touches is None:
        return np.asarray(etas.any(axis=1, keepdims=True))
    padded = np.hstack([etas, np.zeros((rows.n, 1), dtype=np.bool_)])  # None reads the last column
    ends = np.array([[-1 if k is None else k for k in pair] for pair in quantity.touches(etas.shape[1])])
    return np.asarray(padded[:, ends[:, 0]] | padded[:, ends[:, 1]])


def score_involved(rule: LikelihoodRule, rows: Rows, chosen: BoolArray) -> BoolArray:
    """(N,) whether H depends on one of the chosen parameters (F,)."""
    return np.asarray((rows.X[:, chosen[_beta(rule)]] != 0.0).any(axis=1))

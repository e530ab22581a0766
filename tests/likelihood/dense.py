"""The cumulative likelihood written out row by row, with scipy's functions: an oracle
without the package.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy import optimize, special

LATENT = {
    "logit": special.expit,
    "probit": special.ndtr,
    "cloglog": lambda t: -np.expm1(-np.exp(t)),
    "loglog": lambda t: np.exp(-np.exp(-t)),
}


@dataclass(frozen=True, eq=False)
class Dense:
    """Parameters: thresholds, nominal effects column by column, location effects,
    log-scale effects.
    """

    X: np.ndarray
    y: np.ndarray
    link: str = "logit"
    nominal: np.ndarray | None = None
    scale: np.ndarray | None = None
    weights: np.ndarray | None = None

    @classmethod
    def of(cls, fit) -> Dense:
        """The model of a fit of the package, from its arrays."""
        s = fit.design.sample
        return cls(s.X, s.y, fit.method.link, s.rows.nominal, s.rows.scale, s.weights)

    @property
    def n_cuts(self) -> int:
        return int(self.y.max())

    def row_logliks(self, parameters: np.ndarray) -> np.ndarray:
        n = self.y.size
        cuts = self.n_cuts
        q = 0 if self.nominal is None else self.nominal.shape[1]
        columns = parameters[: cuts * (1 + q)].reshape(1 + q, cuts)
        beta = parameters[cuts * (1 + q) :][: self.X.shape[1]]
        zeta = parameters[cuts * (1 + q) + self.X.shape[1] :]
        theta = np.tile(columns[0], (n, 1))
        if self.nominal is not None:
            theta = theta + self.nominal @ columns[1:]
        t = theta - (self.X @ beta)[:, None]
        if self.scale is not None:
            t = t / np.exp(self.scale @ zeta)[:, None]
        ends = LATENT[self.link](
            np.hstack([np.full((n, 1), -np.inf), t, np.full((n, 1), np.inf)])
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log(ends[np.arange(n), self.y + 1] - ends[np.arange(n), self.y])

    def loglik(self, parameters: np.ndarray) -> float:
        rows = self.row_logliks(np.asarray(parameters))
        rows = rows if self.weights is None else rows * self.weights
        return float(rows.sum()) if np.isfinite(rows).all() else -1e10

    def scores(self, parameters: np.ndarray, h: float = 1e-5) -> np.ndarray:
        """(N, P) central differences of the rows' log-likelihoods."""
        steps = h * np.eye(parameters.size)
        return np.column_stack(
            [
                (self.row_logliks(parameters + e) - self.row_logliks(parameters - e))
                / (2 * h)
                for e in steps
            ]
        )

    def information(self, parameters: np.ndarray, h: float = 1e-4) -> np.ndarray:
        """(P, P) minus the second central differences of the log-likelihood."""
        steps = h * np.eye(parameters.size)
        f = self.loglik
        return -np.array(
            [
                [
                    (
                        f(parameters + a + b)
                        - f(parameters + a - b)
                        - f(parameters - a + b)
                        + f(parameters - a - b)
                    )
                    / (4 * h * h)
                    for b in steps
                ]
                for a in steps
            ]
        )

    def profile(self, parameters: np.ndarray, place: int, value: float) -> float:
        """Largest log-likelihood with one parameter held, by scipy from what the
        quadratic model predicts.
        """
        covariance = self._covariance(tuple(parameters))
        parameters = parameters + covariance[:, place] / covariance[place, place] * (
            value - parameters[place]
        )
        free = np.arange(parameters.size) != place

        def objective(rest: np.ndarray) -> float:
            whole = np.full(parameters.size, value)
            whole[free] = rest
            return -self.loglik(whole)

        start = parameters[free]
        for _ in range(4):
            optimum = optimize.minimize(
                objective, start, method="BFGS", options={"gtol": 1e-7}
            )
            start = optimum.x
        optimum = optimize.minimize(
            objective,
            start,
            method="Nelder-Mead",
            options={"xatol": 1e-7, "fatol": 1e-11, "maxiter": 4000},
        )
        return -float(optimum.fun)

    @cache  # noqa: B019 - an oracle lives as long as its test
    def _covariance(self, parameters: tuple[float, ...]) -> np.ndarray:
        return np.linalg.inv(self.information(np.array(parameters)))

"""Random effects of a fit: covariances and modes, term by term."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import FloatArray, IntArray


@dataclass(frozen=True, eq=False, kw_only=True)
class EffectsOfGroups:
    """The effects of one random term.

    Attributes
    ----------
    factor : (q, q)
        Lambda with Lambda Lambda' the covariance; not always triangular.
    entries : (m',) and (m',)
        Rows and columns of the entries of Lambda that are not fixed at 0.
    n_phi : int
        m, the number of parameters of Lambda.
    modes : (G, q)
        Conditional modes b^ of every group.
    conditional : (G, q, q)
        Conditional covariances of the effects, given the parameters.
    boundary : dict of int to float
        Columns with a diagonal element of 0, and the derivative of the log-likelihood
        with respect to its square.
    unit_diagonal : bool
        Whether Lambda Lambda' is the covariance in every group; False if a given
        covariance of the groups (cov=) has no unit diagonal.
    """

    factor: FloatArray
    entries: tuple[IntArray, IntArray]
    n_phi: int
    modes: FloatArray
    conditional: FloatArray
    boundary: dict[int, float]
    unit_diagonal: bool = True

    @property
    def covariance(self) -> FloatArray:
        """(q, q) of the effects of one group."""
        return self.factor @ self.factor.T

    @property
    def deviations(self) -> FloatArray:
        """(q,) standard deviations."""
        return np.asarray(np.sqrt(np.einsum("rc,rc->r", self.factor, self.factor)))

    @property
    def correlations(self) -> FloatArray:
        """(q, q) correlations; NaN for a standard deviation of 0."""
        sd = self.deviations
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.covariance / np.outer(sd, sd)

    def deviation_slopes(self) -> FloatArray:
        """(q, m') derivatives of `deviations` by the entries of Lambda; NaN where one
        is 0.
        """
        rows, columns = self.entries
        out = np.zeros((len(self.factor), rows.size))
        with np.errstate(invalid="ignore", divide="ignore"):
            out[rows, np.arange(rows.size)] = (
                self.factor[rows, columns] / self.deviations[rows]
            )
        return out

    def correlation_slopes(self, r: int, s: int) -> FloatArray:
        """(m',) derivatives of the correlation of two columns; NaN of +-1, or where a
        column has no deviation.
        """
        rows, columns = self.entries
        sd = self.deviations
        rho = self.correlations[r, s]
        by_sd = self.deviation_slopes()
        with np.errstate(invalid="ignore", divide="ignore"):
            out = -rho * (by_sd[r] / sd[r] + by_sd[s] / sd[s])
            out[rows == r] += self.factor[s, columns[rows == r]] / (sd[r] * sd[s])
            out[rows == s] += self.factor[r, columns[rows == s]] / (sd[r] * sd[s])
        if np.count_nonzero(self.factor[[r, s]].any(axis=0)) < 2:  # correlation of +-1
            out[:] = np.nan
        return np.asarray(out)


@dataclass(frozen=True, eq=False, kw_only=True)
class Marginal:
    """Random effects integrated out of a likelihood, at its estimates.

    Attributes
    ----------
    terms : tuple of EffectsOfGroups
        Terms in the order of the formula.
    covariance : (P' + m', P' + m')
        Covariance of the fixed parameters, then of the entries of Lambda, term by term;
        NaN at a boundary.
    quadrature : int
        Number of nodes: 1 is Laplace's approximation, a negative number a rule that is
        not adaptive.
    plain_loglik : float
        Log-likelihood of the same model without random effects.
    likelihood : MarginalLikelihood
        The integrated likelihood, for profiles and score tests (`mixed/estimate.py`).
    """

    terms: tuple[EffectsOfGroups, ...]
    covariance: FloatArray
    quadrature: int
    plain_loglik: float
    likelihood: Any

    @property
    def n_phi(self) -> int:
        """m."""
        return sum(term.n_phi for term in self.terms)

    @property
    def n_entries(self) -> int:
        """m'."""
        return sum(term.entries[0].size for term in self.terms)

    @property
    def n_fixed(self) -> int:
        """P'."""
        return len(self.covariance) - self.n_entries

    @property
    def certain(self) -> bool:
        """Whether the fixed effects alone give every observed level probability 1."""
        return self.plain_loglik > -1e-6

    @property
    def integration(self) -> str:
        """How the random effects were integrated out."""
        if self.quadrature == 1:
            return "Laplace"
        return f"adaptive Gauss-Hermite, {self.quadrature} nodes"

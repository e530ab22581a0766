"""What a cumulative model of a function from a kernel's space returns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._typing import FloatArray
from ..fit import MarginFit
from ..potentials import KernelExpansion, LinearPotential
from ..sample import Rows


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One penalty that was tried.

    Attributes
    ----------
    kernel : str
        Its name.
    gamma : float or None
        Of the kernel, where it is chosen.
    columns : int
        Features: of the landmarks, or of all rows.
    penalty : float
    spread : float
        Standard deviation of H over the rows under the prior that the penalty stands for.
    loss : float
        Nats a row: minus the log evidence, or -log P(y) of rows held out.
    """

    kernel: str
    gamma: float | None
    columns: int
    penalty: float
    spread: float
    loss: float


@dataclass(frozen=True, eq=False)
class KernelScore:
    """H(x) = a function of the kernel's space, plus the offset.

    Attributes
    ----------
    function : KernelExpansion or LinearPotential
    """

    function: KernelExpansion | LinearPotential

    def __call__(self, rows: Rows) -> FloatArray:
        """(N,) scores."""
        H = self.function(rows)
        return np.asarray(H if rows.offset is None else H + rows.offset)


@dataclass(frozen=True, eq=False, kw_only=True)
class KernelFit(MarginFit):
    """A fitted kernel cumulative model.

    Attributes
    ----------
    penalty : float
        lambda.
    spread : float
        Standard deviation of H over the rows under its prior.
    columns : int
        Features: of the landmarks, or of all rows.
    effective : float
        p - lambda tr (J^-1)_bb, the parameters that the penalty leaves to the function.
    loglik, null_loglik : float
        Of the training rows, without the penalty; of thresholds and offsets alone.
    log_evidence : float
        Laplace's approximation of the log marginal likelihood.
    trials : tuple of Trial
        Penalties tried, none where one was given.
    by : str
        What they were judged by.
    """

    penalty: float
    spread: float
    columns: int
    effective: float
    loglik: float
    null_loglik: float
    log_evidence: float
    trials: tuple[Trial, ...]
    by: str

"""What says how good a penalty is: the marginal likelihood, or rows held out. Less is better, in nats a row.

The evidence is the likelihood integrated over b ~ N(0, I / lambda), H = F b being a Gaussian process whose covariance
is the kernel over lambda, and over the thresholds, by Laplace's approximation [MacKay 1992; Chu & Ghahramani 2005].
The thresholds have a flat density in units of the latent variable's spread, (s^2 + v)^1/2 with s^2 the variance of H
and v that of F (by its quartiles, as those of a normal variable): without such a unit a wide H, which spreads the
thresholds too, would be preferred for the volume it leaves them. At the maximum of the penalised likelihood, with J
the information of (theta, b) and lambda on the diagonal of b,
  log evidence = l - lambda/2 |b|^2 + p/2 log lambda - 1/2 log det J + (K-1)/2 log(2 pi / (s^2 + v)).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from ...._typing import FloatArray
from ...threads import in_threads
from ..newton import Optimum
from .ridge import FeatureRows

# Largest score, and Newton steps, of fits that are compared.
_TOL, _MOST_STEPS = 1e-3, 50
Point = tuple[FloatArray, FloatArray]


class Judge(Protocol):
    """Says how good a penalty is; penalties asked for one after another start where the last one ended."""

    def __call__(self, penalty: float) -> float:
        """Nats a row."""


# Distance of the quartiles of a standard normal variable.
_QUARTILES = 1.3489795003921634


def log_evidence(rows: FeatureRows, optimum: Optimum) -> float:
    """Laplace's approximation at the maximum; minus infinity where it is none."""
    if optimum.indefinite:
        return -np.inf
    low, high = rows.family.link.ppf(np.array([0.25, 0.75]))
    spread = rows.variance / rows.penalty + ((high - low) / _QUARTILES) ** 2
    factor, p, q = optimum.factor, optimum.rest.size, optimum.alpha.size
    log_det = 2.0 * float(np.log(factor.band[0]).sum() + np.log(np.diagonal(factor.schur)).sum())
    return optimum.at.loglik + 0.5 * float(p * np.log(rows.penalty) - log_det + q * np.log(2.0 * np.pi / spread))


@dataclass(eq=False)
class Evidence:
    """Judges by the evidence of all rows.

    Attributes
    ----------
    rows : FeatureRows
    point : the last maximum
    """

    rows: FeatureRows
    point: Point | None = None

    def __call__(self, penalty: float) -> float:
        rows = self.rows.at(penalty)
        optimum = rows.maximum(self.point or rows.start(), _TOL, _MOST_STEPS)
        self.point = optimum.alpha, optimum.rest
        return -log_evidence(rows, optimum) / float(rows.weights.sum())


@dataclass(eq=False)
class HeldOut:
    """Judges by the mean of -log P(y) of rows held out.

    Attributes
    ----------
    rows : FeatureRows
    held : (F, N)
        Weight of every row that each fold holds out.
    n_jobs : int
        Folds at work at once, as threads.
    """

    rows: FeatureRows
    held: FloatArray
    n_jobs: int
    points: list[Point | None] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.points = [None] * len(self.held)

    def __call__(self, penalty: float) -> float:
        losses: Sequence[float] = in_threads(self._fold(penalty), [(f,) for f in range(len(self.held))], self.n_jobs)
        return float(sum(losses)) / float(self.held.sum())

    def _fold(self, penalty: float) -> Callable[[int], float]:
        def loss(fold: int) -> float:
            out, rows = self.held[fold], self.rows
            kept = np.flatnonzero(rows.weights > out)
            train = rows.at(penalty).take(kept, (rows.weights - out)[kept])
            found = train.maximum(self.points[fold] or train.start(), _TOL, _MOST_STEPS)
            self.points[fold] = found.alpha, found.rest
            tested = np.flatnonzero(out)
            test = rows.take(tested, out[tested])
            return -float(test.weights @ test.log_p(found.alpha, found.rest))

        return loss

"""Ridge: the log-likelihood minus half of `weight` times the squared length of the effects.

Effects are measured per standard deviation of their column, so that units do not matter; thresholds and lambda are
free.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from ..._typing import FloatArray
from .newton import Evaluation


class Likelihood(Protocol):
    """A log-likelihood with its derivatives."""

    def evaluate(self, alpha: FloatArray, rest: FloatArray) -> Evaluation | None:
        """At (alpha, rest); None outside the domain."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Ridge:
    """A penalised log-likelihood.

    Attributes
    ----------
    likelihood : Likelihood
    weight : float
    m : int
        Parameters of a threshold: its intercept and m - 1 nominal effects.
    n_effects : int
        Leading components of `rest` that are effects.
    """

    likelihood: Likelihood
    weight: float
    m: int
    n_effects: int

    def evaluate(self, alpha: FloatArray, rest: FloatArray) -> Evaluation | None:
        found = self.likelihood.evaluate(alpha, rest)
        if found is None:
            return None
        on_alpha = np.where(np.arange(alpha.size) % self.m > 0, self.weight, 0.0).reshape(alpha.shape)
        on_rest = np.where(np.arange(rest.size) < self.n_effects, self.weight, 0.0)
        info, width = found.information, found.information.diagonal.shape[1]
        diagonal, gram = info.diagonal.copy(), info.rest + np.diag(on_rest)
        diagonal[:, range(width), range(width)] += on_alpha.reshape(diagonal.shape[:2])
        return Evaluation(
            loglik=found.loglik - 0.5 * float(np.vdot(on_alpha * alpha, alpha) + on_rest @ rest**2),
            score_alpha=found.score_alpha - on_alpha * alpha,
            score_rest=found.score_rest - on_rest * rest,
            information=replace(info, diagonal=diagonal, rest=gram),
        )

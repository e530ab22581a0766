"""The likelihood in the parameters of a threshold structure, by the chain rule through a linear map.

On centred and scaled columns alpha~_k = sum_t J_kt a_t + A_0 rest: the second term undoes the centring of the location
columns where the structure cannot absorb it (symmetric2, whose thresholds cannot move together), else it is 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import FloatArray
from .blocks import Blocks
from .newton import Evaluation, Objective


@dataclass(frozen=True, eq=False, kw_only=True)
class Structured:
    """An objective in (a (1, t m), rest) instead of (alpha (K-1, m), rest).

    Attributes
    ----------
    objective : callable
        In alpha and rest.
    jacobian : (K-1, t)
    shift : (m, q)
        A_0.
    """

    objective: Objective
    jacobian: FloatArray
    shift: FloatArray

    @classmethod
    def free(cls, objective: Objective, n_thresholds: int, shape: tuple[int, ...]) -> Structured:
        """Without a structure, m and q being the shape: the parameters are all thresholds."""
        return cls(objective=objective, jacobian=np.eye(n_thresholds), shift=np.zeros(shape))

    def expand(self, a: FloatArray, rest: FloatArray) -> FloatArray:
        """(K-1, m) alpha~."""
        m = self.shift.shape[0]
        return np.asarray(self.jacobian @ a.reshape(-1, m) + self.shift @ rest)

    def start(self, alpha: FloatArray) -> FloatArray:
        """(1, t m) parameters nearest to the thresholds alpha (K-1, m), all effects 0."""
        return np.asarray(np.linalg.lstsq(self.jacobian, alpha, rcond=None)[0].reshape(1, -1))

    def basis(self) -> tuple[FloatArray, FloatArray]:
        """Columns of the map: (P', K-1, m) changes of alpha~ and (P', q) changes of rest."""
        (n, t), (m, q) = self.jacobian.shape, self.shift.shape
        alpha = np.zeros((t * m + q, n, m))
        rest = np.zeros((t * m + q, q))
        for i in range(m):
            alpha[i : t * m : m, :, i] = self.jacobian.T
        alpha[t * m :] = self.shift.T[:, None, :]
        rest[t * m :] = np.eye(q)
        return alpha, rest

    def evaluate(self, a: FloatArray, rest: FloatArray) -> Evaluation | None:
        found = self.objective(self.expand(a, rest), rest)
        return None if found is None else self.reduced(found)

    def reduced(self, found: Evaluation) -> Evaluation:
        """Score and information of (a, rest) from those of (alpha~, rest); the information is one dense block."""
        score_alpha = self.jacobian.T @ found.score_alpha
        score_rest = found.score_rest + np.einsum("ki,iq->q", found.score_alpha, self.shift)
        dense = found.information.congruent(*self.basis())
        return Evaluation(
            loglik=found.loglik,
            score_alpha=score_alpha.reshape(1, -1),
            score_rest=score_rest,
            information=Blocks.of_dense(dense, score_alpha.size),
        )

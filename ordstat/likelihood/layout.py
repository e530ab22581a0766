"""From the parameters that were estimated to those that the user asked for: empty levels, aliased columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .._typing import BoolArray, FloatArray
from ..judging.costs import CostMatrix
from .family import Family
from .fit import Confounded
from .predictor import ThresholdMap
from .problem import Problem
from .rule import LikelihoodRule


@dataclass(frozen=True, eq=False, kw_only=True)
class Layout:
    """Which of the user's parameters were estimated, and where they go.

    A threshold beside a level without rows is not a parameter of its own: it is -inf or +inf at the ends, and equal
    to the next one inside; the rule uses that value, `coefficients` show NaN. A threshold structure is one of the
    levels that have rows, all of its parameters are estimated.
    """

    present: BoolArray
    nominal: BoolArray
    location: BoolArray
    scale: BoolArray
    structure: ThresholdMap | None
    n_lambda: int
    lambda_estimated: bool
    independent: BoolArray

    @classmethod
    def of(cls, problem: Problem) -> Layout:
        return cls(
            present=problem.present,
            location=problem.location.kept,
            nominal=problem.nominal.kept,
            scale=problem.scale.kept,
            structure=problem.structure,
            n_lambda=problem.n_lambda,
            lambda_estimated=problem.flexible is not None,
            independent=problem.independent,
        )

    @cached_property
    def _own(self) -> BoolArray:
        """(t,) threshold parameters that are estimated."""
        if self.structure is not None:
            return np.ones(len(self.structure.names), dtype=bool)
        later = np.cumsum(self.present[::-1])[::-1]
        return np.asarray(self.present[:-1] & (later[1:] > 0))

    @property
    def n_alpha(self) -> int:
        return int(self._own.size) * (1 + self.nominal.size)

    @property
    def n_beta(self) -> int:
        return int(self.location.size)

    @property
    def n_zeta(self) -> int:
        return int(self.scale.size)

    @property
    def jacobian(self) -> FloatArray | None:
        """(K-1, t) of a structure, over all levels: 0 at infinite thresholds."""
        return None if self.structure is None else self._over_levels(self.structure.jacobian, 0.0)

    @cached_property
    def estimated(self) -> BoolArray:
        """(P,) parameters that are not aliased."""
        return self._chosen(self.scale, self.lambda_estimated)

    def _chosen(self, scale: BoolArray, lam: bool) -> BoolArray:
        """(P,) parameters of the columns kept, some of the log scale and lambda or not."""
        columns = np.concatenate([[True], self.nominal])
        alpha = columns[:, None] & self._own
        return np.concatenate([alpha.reshape(-1), self.location, scale, np.full(self.n_lambda, lam)])

    def confounded(self, found: tuple[Confounded, ...]) -> tuple[Confounded, ...]:
        """The same with places among all P parameters."""
        if not found:
            return ()
        places = np.flatnonzero(self._chosen(self.independent, True))
        return tuple(Confounded(int(places[one.place]), places[one.others]) for one in found)

    def spread(self, values: FloatArray) -> FloatArray:
        """(P,) with NaN where not estimated."""
        out = np.full(self.estimated.size, np.nan)
        out[self.estimated] = values
        return out

    def _over_levels(self, values: FloatArray, outside: float) -> FloatArray:
        """(K-1, ...) from the thresholds between levels present; `outside` with its sign where they are infinite."""
        below = np.cumsum(self.present)[:-1]  # levels with rows up to each threshold
        inner = (below > 0) & (below < self.present.sum())
        full = np.zeros((below.size, values.shape[1]))
        full[inner] = values[below[inner] - 1]
        full[below == 0, 0], full[below == self.present.sum(), 0] = -outside, outside
        return full

    def rule(
        self,
        alpha: FloatArray,
        rest: FloatArray,
        family: Family,
        cost: CostMatrix,
        effects: tuple[FloatArray, ...] = (),
    ) -> LikelihoodRule:
        """The rule over all K levels and all columns, aliased effects 0; alpha (t, m) on the user's scale."""
        theta = alpha if self.structure is None else self.structure.jacobian @ alpha
        full = np.zeros((self.present.size - 1, 1 + self.nominal.size))
        full[:, np.concatenate([[True], self.nominal])] = self._over_levels(theta, np.inf)
        beta, zeta = np.zeros(self.n_beta), np.zeros(self.n_zeta)
        p, r = int(self.location.sum()), int(self.scale.sum())
        beta[self.location], zeta[self.scale] = rest[:p], rest[p : p + r]
        return LikelihoodRule(family=family, alpha=full, beta=beta, zeta=zeta, cost=cost, effects=effects)

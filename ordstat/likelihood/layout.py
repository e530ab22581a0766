"""From the parameters that were estimated to those that the user asked for: empty levels, aliased columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .._typing import BoolArray, FloatArray
from ..judging.costs import CostMatrix
from .family import Family
from .problem import Problem
from .rule import LikelihoodRule


@dataclass(frozen=True, eq=False)
class Layout:
    """Which of the user's parameters were estimated, and where they go.

    A threshold beside a level without rows is not a parameter of its own: it is -inf or +inf at the ends, and equal
    to the next one inside; the rule uses that value, `coefficients` show NaN. A threshold structure is one of the
    levels that have rows, all of its parameters are estimated.
    """

    problem: Problem

    @property
    def sizes(self) -> dict[str, int]:
        """How many parameters of each kind there are, estimated or not."""
        problem, t = self.problem, self._thresholds.size
        n_alpha = t * (1 + problem.nominal.kept.size)
        sizes = {"n_alpha": n_alpha, "n_beta": problem.location.kept.size, "n_zeta": problem.scale.kept.size}
        return {**sizes, "n_lambda": problem.n_lambda}

    @cached_property
    def _thresholds(self) -> BoolArray:
        """(t,) threshold parameters that are estimated."""
        present, structure = self.problem.present, self.problem.structure
        if structure is not None:
            return np.ones(len(structure.names), dtype=bool)
        return np.asarray(present[:-1] & (np.cumsum(present[::-1])[-2::-1] > 0))

    @property
    def jacobian(self) -> FloatArray | None:
        """(K-1, t) of a structure, over all levels: 0 at infinite thresholds."""
        structure = self.problem.structure
        return None if structure is None else self._over_levels(structure.jacobian, 0.0)

    @cached_property
    def estimated(self) -> BoolArray:
        """(P,) parameters that are not aliased."""
        return self._chosen(self.problem.scale.kept, self.problem.flexible is not None)

    def _chosen(self, scale: BoolArray, lam: bool) -> BoolArray:
        """(P,) parameters of the columns kept, some of the log scale and lambda or not."""
        alpha = np.append(True, self.problem.nominal.kept)[:, None] & self._thresholds
        parts = alpha.reshape(-1), self.problem.location.kept, scale, np.full(self.problem.n_lambda, lam)
        return np.concatenate(parts)

    @property
    def confounded(self) -> tuple[int, ...]:
        """Places of the parameters that the probabilities do not determine, among all P."""
        places = np.flatnonzero(self._chosen(self.problem.independent, True))
        return tuple(int(places[lost]) for lost in self.problem.confounded)

    def spread(self, values: FloatArray) -> FloatArray:
        """(P,) with NaN where not estimated."""
        out = np.full(self.estimated.size, np.nan)
        out[self.estimated] = values
        return out

    def _over_levels(self, values: FloatArray, outside: float) -> FloatArray:
        """(K-1, ...) from the thresholds between levels present; `outside` with its sign where they are infinite."""
        n_present = self.problem.present.sum()
        below = np.cumsum(self.problem.present)[:-1]  # levels with rows up to each threshold
        inner = (below > 0) & (below < n_present)
        full = np.zeros((below.size, values.shape[1]))
        full[inner] = values[below[inner] - 1]
        full[below == 0, 0], full[below == n_present, 0] = -outside, outside
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
        problem = self.problem
        location, scale, nominal = problem.location.kept, problem.scale.kept, np.append(True, problem.nominal.kept)
        theta = alpha if problem.structure is None else problem.structure.jacobian @ alpha
        full, beta, zeta = (
            np.zeros((problem.present.size - 1, nominal.size)),
            np.zeros(location.size),
            np.zeros(scale.size),
        )
        full[:, nominal] = self._over_levels(theta, np.inf)
        beta[location], zeta[scale], _ = np.split(rest, np.cumsum([location.sum(), scale.sum()]))
        return LikelihoodRule(family=family, alpha=full, beta=beta, zeta=zeta, cost=cost, effects=effects)

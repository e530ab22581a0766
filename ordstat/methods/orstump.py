"""ORStump: the best ranker on one column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np

from .._typing import Progress
from ..learners.rank_stump import RankStumpTrainer
from ..model.costs import CostField, mean_excess, require_differences
from ..model.distinct import DistinctRows, distinct_rows
from ..model.fit import Certificate, Fit, HullGeometry, MarginFit, Trace
from ..model.potentials import ColumnScore
from ..model.rules import ThresholdRule
from ..model.sample import Rows, Sample
from ..model.scaling import fit_scaling
from ..results.rankers.margin import MarginResults
from ..solvers.dynamic_program import least_cost_thresholds
from .base import Method, Needs, cost_option


@dataclass(frozen=True, kw_only=True, repr=False)
class ORStump(Method):
    """Decision stump for ordinal ranking, rank(x) = 1 + #{k : q x[d] > theta_k} [Lin 2008, sec. 4.3.2].

    The column d, the direction q = +1 or -1 and the K-1 ordered cuts whose training cost is the least of all, by
    dynamic programming in O(N D K) after sorting. Of cuts that cost alike (to 1e-9 of all costs) those in wider gaps
    are taken.

    Parameters
    ----------
    cost : str or (K, K) array
        "absolute", "classification", "squared", or any matrix [true rank, predicted rank]; a row's own costs in the
        sample take its place.

    Raises
    ------
    OptionError
        A cost that is none of these.

    Examples
    --------
    >>> ORStump(cost="classification")
    ORStump(cost='classification')
    """

    cost: CostField = cost_option()

    needs: ClassVar[Needs] = Needs(row_costs=True)
    results_class: ClassVar[type[Any]] = MarginResults

    def fit(self, sample: Sample, rng: np.random.Generator, progress: Progress | None = None) -> MarginFit:
        """Fit to arrays; rows of weight 0 take no part."""
        self.check(sample)
        rows = distinct_rows(sample, self.costs(sample))
        require_differences(rows.costs, rows.weights)
        gains = (rows.costs[:, :-1] - rows.costs[:, 1:]) * rows.weights[:, None]
        column, sign = RankStumpTrainer.on(rows.X, sample.n_levels).choose(gains)
        potential = ColumnScore(column=column if rows.X.shape[1] else None, sign=sign)
        rule = ThresholdRule(potential, least_cost_thresholds(potential(Rows(X=rows.X)), rows.costs, rows.weights))
        cost = mean_excess(rows.costs, rule.codes(Rows(X=rows.X)), rows.weights)
        coefficients = np.zeros(rows.X.shape[1])
        coefficients[column : column + 1] = sign
        return MarginFit(
            rule=rule,
            certificate=Certificate(
                name="training cost above that of the best column found",
                value=max(cost - self._least(rows), 0.0),
                tolerance=1e-6 * float(rows.costs.max()),
                details=(("cost above the least possible", cost),),
            ),
            trace=Trace(iterations=1, objective=np.array([cost]), message="all cuts tried"),
            scores=rule.scores(sample.rows),
            facts=(("Columns tried", f"{rows.X.shape[1]}, in both directions"),),
            coefficients=coefficients,
        )

    @staticmethod
    def _least(rows: DistinctRows) -> float:
        """Smallest mean cost above the least possible over columns and directions, each with its own thresholds."""
        found = []
        columns = range(rows.X.shape[1]) or (None,)
        for potential in (ColumnScore(column=column, sign=sign) for column in columns for sign in (1.0, -1.0)):
            scores = potential(Rows(X=rows.X))
            theta = least_cost_thresholds(scores, rows.costs, rows.weights)
            codes = np.searchsorted(theta, scores, side="left")
            found.append(mean_excess(rows.costs, codes, rows.weights))
        return min(found)

    def geometry(self, sample: Sample, fit: Fit) -> HullGeometry | None:
        """The hull of the columns, each scaled to [-1, 1], in the units of the chosen one."""
        rule = cast(ThresholdRule, fit.rule)
        potential = cast(ColumnScore, rule.potential)
        if potential.column is None:
            return None
        used = sample.case_weights > 0
        scaling = fit_scaling("range", sample.X[used], sample.case_weights[used])
        factor, centre = scaling.factor[potential.column], scaling.centre[potential.column]
        if factor == 0.0:
            return None
        sizes = 2.0 * (sample.X.shape[1] + np.array([1.0, rule.theta.size]))
        return HullGeometry(
            norm=float(1.0 / factor),
            theta=np.asarray(rule.theta - potential.sign * centre),
            log_size=float(np.log(sizes[0])),
            log_size_own=float(np.log(sizes[1])),
        )

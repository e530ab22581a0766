"""What the rankers by a logistic loss of all thresholds share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..._typing import FloatArray, Progress
from ...checks import number
from ...exceptions import DataError
from ...model.costs import CostField, split_weights
from ...model.distinct import DistinctRows, distinct_rows
from ...model.fit import Certificate, Trace
from ...model.reduction.answers import LogisticRule
from ...model.reduction.extended import Extended, ReductionFit, alike, extend, training_bound
from ...model.sample import Rows, Sample
from ...model.scaling import SCALED, Scaling, fit_scaling
from ...results.rankers.reduction import ThresholdLossResults
from ..base import Method, Needs, cost_option, option, scaling_option


@dataclass(frozen=True, eq=False, kw_only=True)
class Solved:
    """A potential with its thresholds.

    Attributes
    ----------
    potential : callable(rows) to (N,)
    theta : (K-1,)
    objective : (T,)
    gradient : float
        Largest entry, as a share of the total weight.
    coefficients : (D,) on the user's scale, None where the potential is not linear
    facts : tuple of (label, value)
    """

    potential: Any
    theta: FloatArray
    objective: FloatArray
    gradient: float
    coefficients: FloatArray | None = None
    facts: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True, kw_only=True, repr=False)
class ThresholdLossMethod(Method):
    """Base of the methods that lower sum_nk W_nk log(1 + exp(-Y_nk (H(x_n) - theta_k))) plus a penalty of H.

    A concrete class says what H is (`solve`).
    """

    penalty: float = option(1.0, number, above=0.0)
    cost: CostField = cost_option()
    scaling: str | None = scaling_option()

    needs: ClassVar[Needs] = Needs(row_costs=True, v_shaped=True)
    results_class: ClassVar[type[Any]] = ThresholdLossResults
    #: Largest gradient that counts as none, as a share of the total weight.
    tolerance: ClassVar[float] = 1e-7

    @property
    def modal(self) -> bool:
        """False: ranks are counted."""
        return False

    def solve(self, train: DistinctRows, extended: Extended, scaling: Scaling, rng: np.random.Generator) -> Solved:
        """The optimum on rows X (M, D), not scaled yet."""
        raise TypeError(f"{type(self).__name__} defines no potential")

    def fit(self, sample: Sample, rng: np.random.Generator, progress: Progress | None = None) -> ReductionFit:
        """Fit to arrays.

        Parameters
        ----------
        sample : Sample
            Rows of weight 0 take no part.
        rng : numpy.random.Generator
        progress : callable(step, total, message), optional

        Raises
        ------
        DataError
            Costs that are not V-shaped, or that put a price on one answer alone to some question.
        """
        self.check(sample)
        train = distinct_rows(sample, self.costs(sample))
        extended = extend(train.y, train.costs, train.weights)
        _require_both_answers(extended)
        scaling = fit_scaling(self.scaling, train.X, train.weights)
        solved = self.solve(train, extended, scaling, rng)
        rule = LogisticRule(solved.potential, solved.theta, alike(split_weights(train.costs)))
        gaps = rule.gaps(Rows(X=train.X))
        if progress is not None:
            progress(1, 1, "thresholds learned")
        return ReductionFit(
            rule=rule,
            certificate=Certificate(name="max |gradient| a row", value=solved.gradient, tolerance=self.tolerance),
            trace=Trace(iterations=solved.objective.size - 1, objective=solved.objective, message="gradient vanished"),
            scores=rule.scores(sample.rows),
            facts=(*solved.facts, ("Columns scaled", SCALED[self.scaling])),
            coefficients=solved.coefficients,
            bound=training_bound(train, gaps, extended),
        )


def _require_both_answers(extended: Extended) -> None:
    yes = (extended.weights * (extended.labels > 0)).sum(axis=0)
    no = (extended.weights * (extended.labels < 0)).sum(axis=0)
    if (short := np.flatnonzero((yes <= 0) | (no <= 0))).size:
        k = int(short[0])
        raise DataError(
            f"the costs put no price on one of the answers to 'above rank code {k}?', whose threshold then has no "
            f"finite place: give rows above and below it costs that differ between rank codes {k} and {k + 1}."
        )

"""All-threshold and immediate-threshold logistic ranking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np

from ..model.distinct import DistinctRows
from ..model.fit import BallGeometry, Fit
from ..model.potentials import LinearPotential
from ..model.reduction.extended import Extended
from ..model.rules import ThresholdRule
from ..model.sample import Sample
from ..model.scaling import Scaling
from ..solvers.thresholds.logistic import ThresholdLogistic
from .shared.threshold_loss import Solved, ThresholdLossMethod


@dataclass(frozen=True, kw_only=True, repr=False)
class ThresholdLogisticRegression(ThresholdLossMethod):
    """Logistic regression of every question "rank above k?" with one slope [Rennie & Srebro 2005; Lin 2008, alg. 4.1].

    Minimises penalty/2 |w|^2 + sum_nk W_nk log(1 + exp(-Y_nk (w'x_n - theta_k))) over w and theta_1 <= ... <=
    theta_{K-1}, with Y_nk = +1 where y_n > k, else -1, and W_nk = |c_n[k+1] - c_n[k]| times the case weight. The
    absolute cost makes it the all-threshold form (LogisticAT of the package mord, penalty its alpha, scaling=None), the
    classification cost the immediate-threshold form (LogisticIT), the squared cost its LogisticSE. It is no cumulative
    logit model: its terms are those of K-1 dependent regressions.

    Parameters
    ----------
    penalty : float
        > 0; of the coefficients of the scaled columns, the thresholds being free.
    cost : str or (K, K) array
        "absolute", "classification", "squared", or a V-shaped matrix [true rank, predicted rank]; a row's own costs in
        the sample take its place.
    scaling : {"range", "standard", None}
        Columns to [-1, 1] on the training rows, to mean 0 and standard deviation 1, or as they are.

    Raises
    ------
    OptionError
        A value outside these.

    Examples
    --------
    >>> ThresholdLogisticRegression(cost="classification")
    ThresholdLogisticRegression(cost='classification')
    """

    def solve(self, train: DistinctRows, extended: Extended, scaling: Scaling, rng: np.random.Generator) -> Solved:
        """Newton's method."""
        X = scaling(train.X)
        found = ThresholdLogistic(X=X, extended=extended, alpha=self.penalty, offset=np.zeros(train.n)).solve()
        potential = LinearPotential.plain(scaling, found.coef)
        return Solved(
            potential=potential,
            theta=found.theta + potential.offset,
            objective=found.objective,
            gradient=found.gradient,
            coefficients=potential.slopes,
        )

    def geometry(self, sample: Sample, fit: Fit) -> BallGeometry:
        """Norms of the coefficients of the scaled columns; the radius is that of [-1, 1]^D, or of the longest row."""
        rule = cast(ThresholdRule, fit.rule)
        potential = cast(LinearPotential, rule.potential)
        X = potential.scaling(sample.X)
        lengths = np.square(X).sum(axis=1)
        largest = float(X.shape[1]) if self.scaling == "range" else float(lengths.max())
        return BallGeometry(
            norm=float(np.sqrt(potential.squared_norm)),
            squared_lengths=lengths,
            theta=rule.theta - potential.offset,
            radius=float(np.sqrt(largest + 1.0)),
        )

"""Rankers by a logistic loss of all thresholds: a linear potential, or a neural network with one hidden layer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np

from ..checks import whole
from ..model.distinct import DistinctRows
from ..model.fit import BallGeometry, Fit
from ..model.kernels.named import Linear
from ..model.potentials import LinearPotential, NetworkPotential
from ..model.reduction.extended import Extended
from ..model.rules import ThresholdRule
from ..model.sample import Rows, Sample
from ..model.scaling import Scaling
from ..solvers.thresholds.logistic import ThresholdLogistic, ThresholdNetwork
from .base import option
from .shared.geometry import ball
from .shared.papers import LIN
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

    papers: ClassVar[tuple[str, ...]] = (
        "Rennie, J. D. M., & Srebro, N. (2005). Loss functions for preference levels: Regression with discrete ordered "
        "labels. IJCAI Multidisciplinary Workshop on Advances in Preference Handling.",
        LIN,
    )

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
        """Norms of the coefficients of the scaled columns."""
        rule = cast(ThresholdRule, fit.rule)
        potential = cast(LinearPotential, rule.potential)
        theta = rule.theta - potential.offset
        return ball(Linear(), potential.scaling(sample.X), self.scaling, potential.squared_norm, theta)


@dataclass(frozen=True, kw_only=True, repr=False)
class OrdinalNetwork(ThresholdLossMethod):
    """The data replication method with a neural network, oNN [Cardoso & da Costa 2007, sec. 4.2; Lin 2008, table 4.1].

    Every row is replicated K-1 times, as (x_n, k) with the label "rank above k?". x goes through a hidden layer to one
    score H, k enters behind it as a threshold, so that the boundaries do not cross: minimises
    sum_nk W_nk log(1 + exp(-Y_nk (H(x_n) - theta_k))) + penalty/2 (sum_j |w_j|^2 + |v|^2) with
    H(x) = sum_j v_j tanh(w_j'x + b_j), from a random start, by a quasi-Newton method. A local minimum: another seed may
    find another one.

    Parameters
    ----------
    hidden : int
        Units of the hidden layer, at least 1.
    penalty : float
        Weight decay, > 0; thresholds and b are free.
    max_iter : int
        Quasi-Newton steps, at least 1.
    cost, scaling
        See `ThresholdLogisticRegression`.

    Raises
    ------
    OptionError
        A value outside these.

    Examples
    --------
    >>> OrdinalNetwork(hidden=3)
    OrdinalNetwork(hidden=3)
    """

    hidden: int = option(5, whole, 1)
    max_iter: int = option(2000, whole, 1)

    tolerance: ClassVar[float] = 1e-5
    papers: ClassVar[tuple[str, ...]] = (
        "Cardoso, J. S., & da Costa, J. F. P. (2007). Learning to classify ordinal data: The data replication method. "
        "Journal of Machine Learning Research, 8, 1393-1429.",
        LIN,
    )

    @property
    def draws(self) -> bool:
        """True: the start is random."""
        return True

    def solve(self, train: DistinctRows, extended: Extended, scaling: Scaling, rng: np.random.Generator) -> Solved:
        """The network, then its thresholds once more, in order."""
        network = ThresholdNetwork(X=scaling(train.X), extended=extended, penalty=self.penalty, hidden=self.hidden)
        found = network.solve(rng, self.max_iter, self.tolerance)
        potential = NetworkPotential(scaling=scaling, inner=found.inner, bias=found.bias, outer=found.outer)
        H = potential(Rows(X=train.X))
        last = ThresholdLogistic(X=np.zeros((train.n, 0)), extended=extended, alpha=0.0, offset=H).solve()
        return Solved(
            potential=potential,
            theta=last.theta,
            objective=found.objective,
            gradient=found.gradient,
            facts=(("Network", f"{train.X.shape[1]} columns, {self.hidden} hidden units (tanh), 1 score"),),
        )

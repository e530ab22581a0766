"""Threshold models that minimise a loss: all-threshold logistic regression and
networks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast

import numpy as np
from scipy.special import expit

from .._typing import FloatArray, Progress
from ..advice import with_option_hints
from ..checks import number, whole
from ..exceptions import DataError
from ..fit import Certificate, Fit, LinearPotential, ThresholdRule, Trace
from ..formula.distinct import DistinctRows, distinct_rows
from ..formula.sample import Rows, Sample
from ..formula.scaling import SCALED, Scaling, fit_scaling
from ..judging.costs import CostField, split_weights
from ..judging.geometry import BallGeometry, ball
from ..kernels import Linear
from ..method import LIN, Method, Supports, cost_option, option, scaling_option
from .convex import Loss, Minimum, in_row_space, minimum, summed
from .encoding import (
    Extended,
    LogisticRule,
    ReductionFit,
    alike,
    extend,
    training_bound,
)
from .reduction import ThresholdLossResults

_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False, kw_only=True)
class NetworkPotential:
    """H(x) = sum_j v_j tanh(w_j'z + b_j), z the scaled columns of x.

    Attributes
    ----------
    scaling : Scaling
    inner : (J, D)
        w_j.
    bias : (J,)
    outer : (J,)
        v.
    """

    scaling: Scaling
    inner: FloatArray
    bias: FloatArray
    outer: FloatArray

    def __call__(self, rows: Rows) -> FloatArray:
        """(N,) scores."""
        return np.tanh(self.scaling(rows.X) @ self.inner.T + self.bias) @ self.outer


def threshold_logistic(
    X: FloatArray, extended: Extended, alpha: float, offset: FloatArray
) -> Minimum:
    """The optimum of a linear score with ordered thresholds; its gradient is relative
    to the total weight.

    Parameters
    ----------
    X : (N, D)
    extended : Extended
        Both labels under every threshold.
    alpha : float >= 0
    offset : (N,)
    """
    weights = extended.weights
    d = X.shape[1]
    total = float(weights.sum())
    theta = np.maximum.accumulate(log_odds(extended)) + float(
        np.average(offset, weights=weights.sum(axis=1))
    )

    def loss(v: FloatArray) -> Loss:
        loss = summed(_cells, X, extended.labels, weights, offset, v)
        loss.gradient[:d] += alpha * v[:d]
        loss.hessian[:d, :d] += alpha * np.eye(d)
        return loss._replace(value=loss.value + 0.5 * alpha * float(v[:d] @ v[:d]))

    least = _TOLERANCE * total
    optimum = minimum(
        loss,
        np.append(np.zeros(d), theta),
        theta.size,
        ordered=True,
        slack=least,
        flat=least,
    )
    return replace(optimum, gradient=optimum.gradient / total)


def log_odds(extended: Extended) -> FloatArray:
    """(K-1,) log odds of the label -1, the best thresholds if the score is 0."""
    weights = extended.weights
    yes = (weights * (extended.labels > 0)).sum(axis=0)
    return np.asarray(np.log((weights.sum(axis=0) - yes) / yes))


def _cells(
    margins: FloatArray, weights: FloatArray
) -> tuple[float, FloatArray, FloatArray]:
    signal = weights * expit(-margins)
    return (
        float(np.vdot(weights, np.logaddexp(0.0, -margins))),
        signal,
        signal * expit(margins),
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class ThresholdNetwork:
    """The loss of a network with one hidden layer (see `OrdinalNetwork`), minimised by
    L-BFGS.

    Attributes
    ----------
    X : (N, D)
    extended : Extended
        Both labels under every threshold.
    penalty : float
    hidden : int
    """

    X: FloatArray
    extended: Extended
    penalty: float
    hidden: int

    def solve(
        self, rng: np.random.Generator, max_iter: int, tolerance: float
    ) -> tuple[FloatArray, FloatArray, float]:
        """A local minimum from a random start: parameters, objective after every step,
        largest gradient.

        The gradient, relative to the total weight, should reach `tolerance`.
        """
        from scipy.optimize import minimize

        total = float(self.extended.weights.sum())
        objective: list[float] = []

        def scaled(v: FloatArray) -> tuple[float, FloatArray]:
            value, gradient = self.evaluate(v)
            return value / total, gradient / total

        def note(intermediate_result: Any) -> None:
            objective.append(float(intermediate_result.fun) * total)

        # Hidden units start at random with output weights 0, so that reversed ranks
        # give mirrored results.
        units = rng.standard_normal(self.hidden * (self.X.shape[1] + 1))
        start = np.concatenate([units, np.zeros(self.hidden), log_odds(self.extended)])
        objective.append(self.evaluate(start)[0])
        options = {
            "maxiter": max_iter,
            "maxfun": 4 * max_iter,
            "gtol": 0.1 * tolerance,
            "ftol": 0.0,
            "maxcor": 30,
        }
        end = cast(Any, minimize)(
            scaled, start, jac=True, method="L-BFGS-B", callback=note, options=options
        )
        return end.x, np.array(objective), float(np.abs(end.jac).max())

    def evaluate(self, v: FloatArray) -> tuple[float, FloatArray]:
        """Objective and gradient at the parameters v = (inner, bias, outer, theta)."""
        inner, bias, outer, theta = self.parts(v)
        hidden = np.tanh(self.X @ inner.T + bias)
        z = self.extended.labels
        w = self.extended.weights
        m = z * ((hidden @ outer)[:, None] - theta)
        signal = w * z * expit(-m)
        above = signal.sum(axis=1)
        back = -above[:, None] * outer * (1.0 - np.square(hidden))
        value = float((w * np.logaddexp(0.0, -m)).sum())
        value += (
            0.5 * self.penalty * float(np.square(inner).sum() + np.square(outer).sum())
        )
        parts = (
            (back.T @ self.X + self.penalty * inner).ravel(),
            back.sum(axis=0),
            self.penalty * outer - above @ hidden,
            signal.sum(axis=0),
        )
        return value, np.concatenate(parts)

    def parts(
        self, v: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Split v into inner (J, D), bias (J,), outer (J,) and theta (K-1,)."""
        d = self.X.shape[1]
        j = self.hidden
        inner, bias, outer, theta = np.split(v, [j * d, j * d + j, j * d + 2 * j])
        return inner.reshape(j, d), bias, outer, theta


#: Potential, thresholds (K-1,), objective after every step, and largest gradient per
#: row.
Solution = tuple[LinearPotential | NetworkPotential, FloatArray, FloatArray, float]


@dataclass(frozen=True, kw_only=True, repr=False)
class ThresholdLossMethod(Method, ABC):
    """Base of the methods that minimise sum_nk W_nk log(1 + exp(-Y_nk (H(x_n) -
    theta_k))) plus a penalty of H.

    A concrete class finds H (`solve`).
    """

    penalty: float = option(1.0, number, least=1e-100, most=1e100)
    cost: CostField = cost_option()
    scaling: str | None = scaling_option()

    supports: ClassVar[Supports] = Supports(row_costs=True, v_shaped_only=True)
    results_class: ClassVar[type[Any]] = ThresholdLossResults
    #: Largest gradient that counts as 0, relative to the total weight.
    tolerance: ClassVar[float] = 1e-7

    @abstractmethod
    def solve(
        self,
        train: DistinctRows,
        extended: Extended,
        scaling: Scaling,
        rng: np.random.Generator,
    ) -> Solution:
        """The optimum on unscaled rows."""

    def facts(self, n_columns: int) -> tuple[tuple[str, Any], ...]:
        """Additional header lines of the summary."""
        return ()

    def fit(
        self, sample: Sample, rng: np.random.Generator, progress: Progress | None = None
    ) -> ReductionFit:
        """Fit to arrays.

        Parameters
        ----------
        sample : Sample
            Rows of weight 0 are ignored.
        rng : numpy.random.Generator
        progress : callable(step, total, message), optional

        Raises
        ------
        DataError
            Costs are not V-shaped; or for some threshold all rows above it, or all
            below, have costs that do not differ between its two sides.
        """
        self.check(sample)
        train = distinct_rows(sample, self.costs(sample))
        extended = extend(train.y, train.costs, train.weights)
        yes = (extended.weights * (extended.labels > 0)).sum(axis=0)
        no = (extended.weights * (extended.labels < 0)).sum(axis=0)
        if (short := np.flatnonzero((yes <= 0) | (no <= 0))).size:
            k = int(short[0])
            raise DataError(
                f"costs must differ between rank codes {k} and {k + 1} for rows above"
                " and for rows below; they do not, so the threshold between them is"
                " infinite. Change the costs."
            )
        scaling = fit_scaling(self.scaling, train.X, train.weights)
        potential, theta, objective, gradient = self.solve(
            train, extended, scaling, rng
        )
        rule = LogisticRule(potential, theta, alike(split_weights(train.costs)))
        if progress is not None:
            progress(1, 1, "thresholds learned")
        return ReductionFit(
            rule=rule,
            certificate=Certificate(
                name="max |gradient| per row", value=gradient, tolerance=self.tolerance
            ),
            trace=Trace(
                iterations=objective.size - 1,
                objective=objective,
                message="gradient vanished",
            ),
            scores=rule.scores(sample.rows),
            facts=(
                *self.facts(train.X.shape[1]),
                ("Columns scaled", SCALED[self.scaling]),
            ),
            coefficients=(
                potential.slopes if isinstance(potential, LinearPotential) else None
            ),
            bound=training_bound(train, rule.gaps(Rows(X=train.X)), extended),
        )


@with_option_hints
@dataclass(frozen=True, kw_only=True, repr=False)
class ThresholdLogisticRegression(ThresholdLossMethod):
    """Logistic regression of each question "rank above k?" with one slope [Rennie &
    Srebro 2005; Lin 2008, alg. 4.1].

    Minimises penalty/2 |w|^2 + sum_nk W_nk log(1 + exp(-Y_nk (w'x_n - theta_k))) over w
    and theta_1 <= ... <= theta_{K-1}, with Y_nk = +1 if y_n > k, else -1, and W_nk =
    |c_n[k+1] - c_n[k]| times the case weight. The absolute cost gives the all-threshold
    form (LogisticAT of the package mord with alpha=penalty, scaling=None), the
    classification cost the immediate-threshold form (LogisticIT), the squared cost
    mord's LogisticSE. This is not a cumulative logit model: the objective sums the
    losses of K-1 dependent regressions.

    Parameters
    ----------
    penalty : float
        From 1e-100 to 1e100. Applies to the coefficients of the scaled columns, not to
        the thresholds.
    cost : str or (K, K) array
        "absolute", "classification", "squared", or a V-shaped matrix [true rank,
        predicted rank]; costs given for single rows replace it.
    scaling : {"range", "standard", None}
        Scale columns to [-1, 1] on the training rows, to mean 0 and standard deviation
        1, or not at all.

    Raises
    ------
    OptionError
        An option has a value outside its range.

    Examples
    --------
    >>> ThresholdLogisticRegression(cost="classification")
    ThresholdLogisticRegression(cost='classification')
    """

    papers: ClassVar[tuple[str, ...]] = (
        (
            "Rennie, J. D. M., & Srebro, N. (2005). Loss functions for preference"
            " levels: Regression with discrete ordered labels. IJCAI Multidisciplinary"
            " Workshop on Advances in Preference Handling."
        ),
        LIN,
    )

    def solve(
        self,
        train: DistinctRows,
        extended: Extended,
        scaling: Scaling,
        rng: np.random.Generator,
    ) -> Solution:
        """Newton's method, for more columns than rows in the space of the rows."""
        X, basis = in_row_space(scaling(train.X))
        optimum = threshold_logistic(X, extended, self.penalty, np.zeros(train.n))
        coef = optimum.coef if basis is None else basis @ optimum.coef
        potential = LinearPotential.plain(scaling, coef)
        return (
            potential,
            optimum.theta + potential.offset,
            optimum.objective,
            optimum.gradient,
        )

    def geometry(self, sample: Sample, fit: Fit) -> BallGeometry:
        """Norms of the coefficients of the scaled columns."""
        rule = cast(ThresholdRule, fit.rule)
        potential = cast(LinearPotential, rule.potential)
        theta = rule.theta - potential.offset
        return ball(
            Linear(),
            potential.scaling(sample.X),
            self.scaling,
            potential.squared_norm,
            theta,
        )


@with_option_hints
@dataclass(frozen=True, kw_only=True, repr=False)
class OrdinalNetwork(ThresholdLossMethod):
    """The data replication method with a neural network, oNN [Cardoso & da Costa 2007,
    sec. 4.2; Lin 2008, table 4.1].

    Every row is replicated K-1 times, as (x_n, k) with the label "rank above k?". A
    hidden layer maps x to one score H, and k adds a threshold to it, so that boundaries
    do not cross. Minimises sum_nk W_nk log(1 + exp(-Y_nk (H(x_n) - theta_k))) +
    penalty/2 (sum_j |w_j|^2 + |v|^2) with H(x) = sum_j v_j tanh(w_j'x + b_j), from a
    random start, by a quasi-Newton method. The minimum is local: another seed may give
    a different one.

    Parameters
    ----------
    hidden : int
        Units of the hidden layer, at least 1.
    penalty : float
        Weight decay, from 1e-100 to 1e100; does not apply to thresholds and b.
    max_iter : int
        Quasi-Newton steps, at least 1.
    cost, scaling
        See `ThresholdLogisticRegression`.

    Raises
    ------
    OptionError
        An option has a value outside its range.

    Examples
    --------
    >>> OrdinalNetwork(hidden=3)
    OrdinalNetwork(hidden=3)
    """

    hidden: int = option(5, whole, 1)
    max_iter: int = option(2000, whole, 1)

    tolerance: ClassVar[float] = 1e-5
    papers: ClassVar[tuple[str, ...]] = (
        (
            "Cardoso, J. S., & da Costa, J. F. P. (2007). Learning to classify ordinal"
            " data: The data replication method. Journal of Machine Learning Research,"
            " 8, 1393-1429."
        ),
        LIN,
    )

    def solve(
        self,
        train: DistinctRows,
        extended: Extended,
        scaling: Scaling,
        rng: np.random.Generator,
    ) -> Solution:
        """Fit the network, for more columns than rows in the space of the rows, where
        the penalty keeps its hidden units; then its ordered thresholds again.
        """
        X, basis = in_row_space(scaling(train.X))
        network = ThresholdNetwork(
            X=X,
            extended=extended,
            penalty=self.penalty,
            hidden=self.hidden,
        )
        v, objective, gradient = network.solve(rng, self.max_iter, self.tolerance)
        inner, bias, outer, _ = network.parts(v)
        potential = NetworkPotential(
            scaling=scaling,
            inner=inner if basis is None else inner @ basis.T,
            bias=bias,
            outer=outer,
        )
        last = threshold_logistic(
            np.zeros((train.n, 0)), extended, 0.0, potential(Rows(X=train.X))
        )
        return potential, last.theta, objective, gradient

    def facts(self, n_columns: int) -> tuple[tuple[str, Any], ...]:
        return (
            (
                "Network",
                f"{n_columns} columns, {self.hidden} hidden units (tanh), 1 score",
            ),
        )

"""Maximum likelihood with monotone effects of ordered predictors, mono(x).

The steps between neighbouring levels must be >= 0 (or <= 0). Those that are not 0 are
found by the active-set method of non-negative least squares [Lawson and Hanson 1974,
Solving Least Squares Problems, ch. 23; for generalised linear models Rufibach 2010,
Computational Statistics and Data Analysis 54, 1442-1456]: each set is an ordinary fit
of the levels that it joins. The log-likelihood is concave, so the conditions of Karush,
Kuhn and Tucker prove the maximum: the gradient is 0 for free parameters, and <= 0 for
steps at 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from .._typing import BoolArray, FloatArray
from ..checks import refuse_beside
from ..exceptions import DataError, OptionError
from ..formula.level_effects import SteppedColumns, steps
from ..formula.sample import Sample
from ..newton import CholeskyFactor, Ended, Objective, Optimum
from .estimate import Estimate, Estimation
from .flexible import FLEXIBLE
from .penalty import Penalty
from .problem import Problem
from .start import Start

if TYPE_CHECKING:
    from .regression import OrdinalRegression

#: Largest score, of one case on standardised columns, that counts as 0.
TOLERANCE = 1e-7
#: Fits for each step before the search gives up.
_MOST_FITS = 5


def effects_of_steps(stepped: tuple[SteppedColumns, ...], count: int) -> FloatArray:
    """(count, count) matrix from effects in which ordered predictors have signed steps
    to the effects of the columns of X.

    Examples
    --------
    >>> own = SteppedColumns(columns=np.array([1, 2]), sign=-1)
    >>> effects_of_steps((own,), 3)
    array([[ 1.,  0.,  0.],
           [ 0., -1., -0.],
           [ 0., -1., -1.]])
    """
    turn = np.eye(count)
    for own in stepped:
        levels = np.linalg.inv(steps(own.columns.size))
        turn[np.ix_(own.columns, own.columns)] = own.sign * levels
    return turn


@dataclass(frozen=True)
class MonotoneConstraints(Penalty):
    """Constraints on steps; estimates then have no standard errors."""

    @property
    def text(self) -> str:
        return "monotone"

    def on(self, problem: Problem) -> Objective:
        return problem.evaluate

    def factor(self, problem: Problem, optimum: Optimum) -> CholeskyFactor | None:
        return None


@dataclass(frozen=True, eq=False, kw_only=True)
class SteppedModel:
    """A sample with steps as columns.

    Attributes
    ----------
    method : OrdinalRegression
    estimation : Estimation
    sample : Sample
    turn : (D, D)
        Matrix from the effects of its columns to those of the columns of the formula.
    bounded : (D,) bool
        The steps, which must be >= 0.
    estimated : (D,) bool
        Effects that the rows determine; other steps, next to levels without rows, are
        0.
    """

    method: OrdinalRegression
    estimation: Estimation
    sample: Sample
    turn: FloatArray
    bounded: BoolArray
    estimated: BoolArray

    @classmethod
    def of(
        cls, method: OrdinalRegression, estimation: Estimation, sample: Sample
    ) -> SteppedModel:
        """The model of a sample with monotone effects.

        Raises
        ------
        DataError
            Steps are linearly dependent on other columns.
        """
        stepped = sample.stepped or ()
        D = sample.X.shape[1]
        turn = effects_of_steps(stepped, D)
        bounded = np.zeros(D, dtype=bool)
        bounded[np.concatenate([own.columns for own in stepped])] = True
        rows = replace(sample.rows, X=np.ascontiguousarray(sample.X @ turn))
        turned = replace(sample, rows=rows, stepped=None)
        used = sample.case_weights > 0.0
        without = np.zeros(D, dtype=bool)
        for own in stepped:
            between = own.between_rows(sample.X[np.ix_(used, own.columns)])
            without[own.columns] = ~between
        model = cls(
            method=method,
            estimation=estimation,
            sample=turned,
            turn=turn,
            bounded=bounded,
            estimated=method.problem(sample).location.kept & ~without,
        )
        if not model.problem.location.kept.all():
            raise DataError(
                "The other columns must not determine the steps of mono(); they do."
                " Leave out redundant terms."
            )
        return model

    @cached_property
    def problem(self) -> Problem:
        """The problem with all steps that the rows determine."""
        return self._problem(self.estimated)

    def _problem(self, free: BoolArray) -> Problem:
        X = np.ascontiguousarray(self.sample.X[:, free])
        rows = replace(self.sample.rows, X=X)
        return self.method.problem(replace(self.sample, rows=rows))

    def fitted(self, free: BoolArray) -> Estimate:
        """The maximum with the steps that are not free held at 0."""
        return self.estimation.of(self._problem(free))

    def effects(self, estimate: Estimate, free: BoolArray) -> FloatArray:
        """(D,) effects of the columns, 0 where they are not free."""
        out = np.zeros(free.size)
        out[free] = estimate.problem.layout.split(estimate.coefficients).beta
        return out

    def point(self, estimate: Estimate, free: BoolArray) -> FloatArray:
        """The estimates as a point of `problem`."""
        alpha = estimate.coefficients[: estimate.problem.layout.n_alpha]
        effects = self.effects(estimate, free)[self.estimated]
        return self.problem.from_user(np.concatenate([alpha, effects]))

    def scores(self, estimate: Estimate, free: BoolArray) -> FloatArray:
        """(n_alpha + D,) mean gradient with respect to thresholds and effects of
        standardised columns; 0 for parameters that are not estimated.
        """
        n_alpha = estimate.problem.layout.n_alpha
        at = self.problem.evaluate(self.point(estimate, free))
        assert at is not None
        scores = np.zeros(n_alpha + free.size)
        scores[np.append(np.ones(n_alpha, dtype=bool), self.estimated)] = at.score
        return np.asarray(scores / self.problem.counts.sum())


def _feasible(model: SteppedModel) -> tuple[Estimate, BoolArray]:
    """A fit whose steps are > 0 where they are free: the steps that fits make negative
    are taken out.
    """
    free = model.estimated
    while True:
        estimate = model.fitted(free)
        wrong = model.bounded & free & (model.effects(estimate, free) <= 0.0)
        if not wrong.any():
            return estimate, free
        free = free & ~wrong


def _inside(
    model: SteppedModel, effects: FloatArray, given: BoolArray
) -> tuple[Estimate, BoolArray]:
    """The fit of some free steps, from effects inside the bounds: on the way to it,
    steps that would become negative stop at 0, and are not free any more.
    """
    free = given.copy()
    while True:
        estimate = model.fitted(free)
        target = model.effects(estimate, free)
        wrong = model.bounded & free & (target < 0.0)
        if not wrong.any():
            return estimate, free
        shares = np.full(free.size, math.inf)
        shares[wrong] = effects[wrong] / (effects - target)[wrong]
        effects = effects + shares.min() * (target - effects)
        stopped = shares == shares.min()
        effects[stopped] = 0.0
        free[stopped] = False


def monotone_estimate(
    method: OrdinalRegression, estimation: Estimation, problem: Problem, sample: Sample
) -> Estimate:
    """The estimates of a model with monotone effects.

    Raises
    ------
    DataError
        Steps are linearly dependent on other columns, or effects have no finite
        estimates.
    """
    model = SteppedModel.of(method, estimation, sample)
    estimate, free = _feasible(model)
    logliks = [estimate.loglik()]
    ended = Ended.NO_PROGRESS
    left = np.zeros(0)
    for _ in range(_MOST_FITS * free.size):
        left = model.scores(estimate, free)
        of_columns = left[left.size - free.size :]
        held = model.bounded & model.estimated & ~free
        of_columns[held] = np.maximum(of_columns[held], 0.0)
        if of_columns[held].max(initial=0.0) <= TOLERANCE:
            ended = Ended.CONVERGED
            break
        effects = model.effects(estimate, free)
        free = free.copy()
        free[np.argmax(np.where(held, of_columns, -1.0))] = True
        estimate, free = _inside(model, effects, free)
        logliks.append(estimate.loglik())
    if estimate.determined is not None or estimate.diverging.any():
        raise DataError(
            "The effects other than mono() must have finite estimates; they grow"
            " without bound. Rows of a factor, or of the lowest or highest levels of"
            " mono(), are probably all at one end of the response: join levels, or"
            " leave out the term."
        )
    n_alpha = estimate.problem.layout.n_alpha
    effects = model.turn @ model.effects(estimate, free) + 0.0  # no -0
    effects = effects[problem.location.kept]
    x = problem.from_user(np.concatenate([estimate.coefficients[:n_alpha], effects]))
    return _at(estimation, problem, estimate, x, left, np.array(logliks), ended)


def _at(
    estimation: Estimation,
    problem: Problem,
    estimate: Estimate,
    x: FloatArray,
    left: FloatArray,
    logliks: FloatArray,
    ended: Ended,
) -> Estimate:
    """The estimates at a point, with what is left of the conditions of the maximum as
    its score.
    """
    at = problem.evaluate(x)
    assert at is not None
    factor = at.information.factor()
    optimum = replace(
        estimate.optimum,
        x=x,
        at=replace(at, score=left),
        information=at.information,
        factor=estimate.optimum.factor if factor is None else factor,
        step=np.zeros_like(x),
        logliks=logliks,
        decrements=np.zeros(logliks.size),
        tolerance=TOLERANCE,
        ended=ended,
    )
    constrained = replace(estimation, penalty=MonotoneConstraints())
    return Estimate(constrained, problem, optimum, Start(x, None))


def check_monotone(method: OrdinalRegression, sample: Sample) -> None:
    """OptionError for parts of a model that monotone effects do not support."""
    rows = sample.rows
    plain = "write x in place of mono(x)"
    if any(own.sign == 0 for own in sample.stepped or ()):
        raise OptionError(
            "fuse(x) needs a lasso: give penalty=ElasticNet(), with cv=10 inside it for"
            " cross-validation, or write smooth(x)."
        )
    refused = {
        "smooth terms": (sample.smooths is not None, plain),
        "random terms": (rows.random is not None, plain),
        "scale=": (rows.scale is not None or rows.scale_offset is not None, plain),
        "cluster=": (sample.cluster is not None, "leave it out: there are no errors"),
        "penalty=": (method.penalty is not None, "leave it out"),
        "start=": (method.start is not None, "leave it out"),
        "a parameter of link= that is estimated": (
            isinstance(method.link, str) and method.link in FLEXIBLE,
            "give its value, as in ('aranda-ordaz', 0.5), or another link",
        ),
    }
    refuse_beside("mono(x)", refused)
    family = method.problem(sample).family
    if not family.concave:
        raise OptionError(
            "mono(x) must go with a concave likelihood, whose maximum can be proved;"
            f" that of {family.name!r} with link={family.link.name!r} is not. Use"
            " another link or method, such as 'logit'."
        )

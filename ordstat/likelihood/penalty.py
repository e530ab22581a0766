"""Penalties of the likelihood: ridge and Jeffreys'."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from .._typing import FloatArray
from ..exceptions import OptionError
from ..formula.row_blocks import row_blocks
from ..newton import Blocks, CholeskyFactor, Deferred, Evaluation, Objective, Optimum
from .family import row_terms
from .predictor import Jacobian
from .problem import Problem


class Penalty(ABC):
    """A term added to the log-likelihood; estimates maximise the sum.

    Attributes
    ----------
    determines : bool
        Whether the penalty gives estimates to effects that the data do not determine.
    text : str
        Name in a summary.
    """

    determines: ClassVar[bool] = False

    @property
    @abstractmethod
    def text(self) -> str: ...

    @abstractmethod
    def on(self, problem: Problem) -> Objective:
        """The penalised log-likelihood of a problem.

        Raises
        ------
        OptionError
            The penalised log-likelihood has no maximum.
        """

    def factor(self, problem: Problem, optimum: Optimum) -> CholeskyFactor | None:
        """Factor of the information for standard errors; None if it is not positive
        definite.
        """
        return None if optimum.indefinite else optimum.factor


@dataclass(frozen=True, eq=False)
class MeanLogScale:
    """Mean log scale t = constant + v'x of the rows at coordinates x.

    Effects times exp(-t) are those at the mean of the log-scale columns, so that a
    penalty does not depend on the origin of these columns.
    """

    constant: float
    v: FloatArray

    @classmethod
    def of(cls, problem: Problem) -> MeanLogScale:
        columns = problem.rows.scale
        v = np.zeros(problem.n_parameters)
        v[problem.layout.of_scale] = columns.mean / columns.deviation
        offset = problem.sample.rows.scale_offset
        if offset is None:
            return cls(0.0, v)
        return cls(float(np.average(offset, weights=problem.sample.weights)), v)

    def __call__(self, x: FloatArray) -> float:
        return self.constant + float(self.v @ x)


@dataclass(frozen=True)
class Ridge(Penalty):
    """Half of `weight` times the squared length of the effects.

    Location and nominal effects are b exp(-t), at the mean log scale t.
    """

    weight: float

    determines: ClassVar[bool] = True

    @property
    def text(self) -> str:
        return f"ridge, {self.weight:g}"

    def on(self, problem: Problem) -> Objective:
        n_alpha = problem.layout.n_alpha
        mean = MeanLogScale.of(problem)
        effects = np.full(problem.n_parameters, self.weight)
        effects[: n_alpha : problem.user.shape[1]] = 0.0
        if problem.flexible is not None:
            effects[-1] = 0.0
        spreads = np.zeros(effects.size)
        spreads[problem.layout.of_scale] = self.weight
        effects[problem.layout.of_scale] = 0.0
        v = mean.v[n_alpha:]

        def penalised(
            x: FloatArray, information: Blocks | None = None, /
        ) -> Evaluation | None:
            at = problem.evaluate(x)
            if at is None:
                return None
            weights = effects * math.exp(-2.0 * mean(x))
            pull = weights * x
            length = float(pull @ x)
            blocks = at.information.raised(weights + spreads)
            if v.any():
                slope = -2.0 * pull[n_alpha:] + length * v
                cross = -2.0 * np.outer(pull[:n_alpha], v).reshape(blocks.cross.shape)
                rest = np.outer(slope, v) + np.outer(v, slope)
                blocks = replace(
                    blocks, cross=blocks.cross + cross, rest=blocks.rest + rest
                )
            loglik = at.loglik - 0.5 * (length + float(spreads @ x**2))
            score = at.score - pull - spreads * x + length * mean.v
            return Evaluation(loglik, score, blocks)

        return penalised


#: With more levels a fit under Jeffreys' prior takes minutes: its curvature comes from
#: differences in all pairs of parameters, thresholds among them.
MOST_JEFFREYS_LEVELS = 20
#: Doubles held at once for the scores of some rows.
_BUFFER = 1 << 18
#: Least eigenvalue of an information with diagonal 1 that is no rounding of 0.
_SINGULAR = 1e-13
#: Step of the differences of the penalty, where one case has information 1.
_STEP = 1e-3


@dataclass(frozen=True)
class Jeffreys(Penalty):
    """Half the log determinant of the expected information, which also gives standard
    errors.

    With scale effects it is the information about thresholds and effects at the mean
    log scale.
    """

    @property
    def text(self) -> str:
        return "jeffreys"

    def on(self, problem: Problem) -> Objective:
        if problem.sample.rows.nominal is not None:
            raise OptionError(
                "penalty='jeffreys' has no maximum with nominal effects (it grows"
                " without end as two thresholds of a row meet at a level that the row"
                " is not in): use a ridge, such as penalty=1.0."
            )

        mean = MeanLogScale.of(problem)
        n_shifts = problem.n_parameters - problem.rows.scale.mean.size  # alpha and beta

        def half_log_det(x: FloatArray) -> float:
            expected = expected_information(problem, x)
            if expected is None:
                return math.nan
            # The second term makes it the information about alpha exp(-t) and beta
            # exp(-t).
            return 0.5 * _log_det(expected) + n_shifts * mean(x)

        def penalised(
            x: FloatArray, information: Blocks | None = None, /
        ) -> Evaluation | None:
            at = problem.evaluate(x)
            value = half_log_det(x)
            if at is None or math.isnan(value):
                return None

            def derivatives() -> tuple[FloatArray, Blocks]:
                gradient, hessian = _derivatives(half_log_det, x, _steps(problem, x))
                values, vectors = np.linalg.eigh(at.information.dense() - hessian)
                # Directions of the wrong curvature are climbed, not descended: the sum
                # need not be concave.
                dense = (
                    vectors * np.maximum(np.abs(values), 1e-8 * np.abs(values).max())
                ) @ vectors.T
                return at.score + gradient, Blocks.of_dense(
                    dense, problem.layout.n_alpha
                )

            return Deferred(at.loglik + value, derivatives)

        return penalised

    def factor(self, problem: Problem, optimum: Optimum) -> CholeskyFactor | None:
        expected = expected_information(problem, optimum.x)
        if expected is None:
            return None
        return Blocks.of_dense(expected, problem.layout.n_alpha).factor()


def expected_information(problem: Problem, x: FloatArray) -> FloatArray | None:
    """(P', P') sum over rows and levels of p_k U_k U_k', U_k the score of level k.

    None outside the domain.
    """
    rows = problem.rows
    full = problem.expansion @ x
    layout = rows.layout
    free = layout.link > 0
    family = problem.family_at(float(x[-1])) if free else rows.family
    order = layout.order_by_columns
    total = np.zeros((full.size, full.size))
    levels = np.arange(layout.thresholds + 1)
    for some in row_blocks(rows.sample.n, levels.size * full.size, _BUFFER):
        # the rows at level 0, the same rows at level 1, and so on
        each = np.tile(np.arange(some.start, some.stop), levels.size)
        y = np.repeat(levels, some.stop - some.start)
        part = rows.model_rows(each)
        predictor = rows.predictor(part, full)
        # Of a level between thresholds that nearly meet, the curvature, which is not
        # used here, overflows.
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            terms = row_terms(family, predictor, y, False, free)
        if terms is None:
            return None
        jacobian = Jacobian(part, terms.places, layout.by_columns)
        scores = np.nan_to_num(jacobian.transposed(terms.score))
        weights = rows.sample.case_weights[each] * np.exp(terms.log_p)
        weighted = scores * weights[:, None]
        for level in levels:
            total += weighted[y == level].T @ scores[y == level]
    back = np.argsort(order)
    return np.asarray(
        problem.expansion.T @ total[np.ix_(back, back)] @ problem.expansion
    )


def _log_det(information: FloatArray) -> float:
    """Log determinant; NaN where it is 0, be it to rounding, or not finite."""
    units = np.sqrt(np.diag(information))
    if not (np.isfinite(information).all() and np.all(units > 0.0)):
        return math.nan
    if not np.linalg.eigvalsh(information / units / units[:, None])[0] > _SINGULAR:
        return math.nan
    # more digits than the logs of small eigenvalues
    sign, log_det = np.linalg.slogdet(information)
    return float(log_det) if sign > 0.0 else math.nan


def _steps(problem: Problem, x: FloatArray) -> FloatArray:
    """(P',) steps of differences: `_STEP` in units of the information of one case."""
    expected = expected_information(problem, x)
    assert expected is not None
    return np.asarray(_STEP * np.sqrt(problem.counts.sum() / np.diag(expected)))


def _derivatives(
    value: Callable[[FloatArray], float], x: FloatArray, steps: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """(P',) gradient and (P', P') Hessian of a function, by differences.

    Second derivatives that leave its domain count as 0: they only guide the search.
    """
    gradient = np.zeros(x.size)
    hessian = np.zeros((x.size, x.size))
    moves = np.diag(steps)
    for j, a in enumerate(moves):
        near, far = (value(x + k * a) - value(x - k * a) for k in (1, 2))
        gradient[j] = (8.0 * near - far) / (12.0 * steps[j])
    for j, a in enumerate(moves):
        for k, b in enumerate(moves[: j + 1]):
            across = (
                value(x + a + b)
                + value(x - a - b)
                - value(x + a - b)
                - value(x - a + b)
            )
            hessian[j, k] = hessian[k, j] = across / (4.0 * steps[j] * steps[k])
    return gradient, np.nan_to_num(hessian, nan=0.0)

"""Penalties of the likelihood: ridge and Jeffreys'."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._typing import FloatArray
from ..exceptions import OptionError
from ..formula.sample import row_blocks
from ..newton import Blocks, Evaluation, Factor, Objective, Optimum
from .predictor import Jacobian
from .problem import Problem


class Penalty(ABC):
    """A term added to the log-likelihood; estimates maximise the sum.

    Attributes
    ----------
    determines : bool
        Whether effects that the data do not determine have estimates.
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

    def factor(self, problem: Problem, optimum: Optimum) -> Factor | None:
        """Factor of the information for standard errors; None if it is not positive definite."""
        return None if optimum.indefinite else optimum.factor


@dataclass(frozen=True)
class Ridge(Penalty):
    """Half of `weight` times the squared length of the effects."""

    weight: float

    determines: ClassVar[bool] = True

    @property
    def text(self) -> str:
        return f"ridge, {self.weight:g}"

    def on(self, problem: Problem) -> Objective:
        weights, (t, m) = np.full(problem.n_parameters, self.weight), problem.user.shape
        weights[: t * m : m] = 0.0
        if problem.flexible is not None:
            weights[-1] = 0.0

        def penalised(x: FloatArray, information: Blocks | None = None, /) -> Evaluation | None:
            at = problem.evaluate(x)
            if at is None:
                return None
            loglik = at.loglik - 0.5 * float(weights @ x**2)
            return Evaluation(loglik, at.score - weights * x, at.information.raised(weights))

        return penalised


#: Doubles held at once for the scores of some rows.
_BUFFER = 1 << 18
#: Step of the differences of the penalty, on columns of unit deviation.
_STEP = 1e-3


@dataclass(frozen=True)
class Jeffreys(Penalty):
    """Half the log determinant of the expected information, which also gives standard errors."""

    @property
    def text(self) -> str:
        return "jeffreys"

    def on(self, problem: Problem) -> Objective:
        if problem.sample.rows.nominal is not None:
            raise OptionError(
                "penalty='jeffreys' has no maximum with nominal effects (it grows without end as two thresholds of "
                "a row meet at a level that the row is not in): use a ridge, such as penalty=1.0."
            )

        def half_log_det(x: FloatArray) -> float:
            expected = expected_information(problem, x)
            sign, log_det = (0.0, 0.0) if expected is None else np.linalg.slogdet(expected)
            return 0.5 * float(log_det) if sign > 0.0 else math.nan

        def penalised(x: FloatArray, information: Blocks | None = None, /) -> Evaluation | None:
            at, value = problem.evaluate(x), half_log_det(x)
            if at is None or math.isnan(value):
                return None
            gradient, hessian = _derivatives(half_log_det, x)
            if not np.isfinite(hessian).all():  # the determinant vanishes nearby
                return None
            values, vectors = np.linalg.eigh(at.information.dense() - hessian)
            # Directions of the wrong curvature are climbed, not descended: the sum need not be concave.
            dense = (vectors * np.maximum(np.abs(values), 1e-8 * np.abs(values).max())) @ vectors.T
            total = Evaluation(at.loglik + value, at.score + gradient, Blocks.of_dense(dense, _n_alpha(problem)))
            return total if total.finite else None

        return penalised

    def factor(self, problem: Problem, optimum: Optimum) -> Factor | None:
        expected = expected_information(problem, optimum.x)
        return None if expected is None else Blocks.of_dense(expected, _n_alpha(problem)).factor()


def _n_alpha(problem: Problem) -> int:
    t, m = problem.user.shape
    return t * m


def expected_information(problem: Problem, x: FloatArray) -> FloatArray | None:
    """(P', P') sum over rows and levels of p_k U_k U_k', U_k the score of level k, without nominal effects.

    None outside the domain.
    """
    rows, full = problem.rows, problem.expansion @ x
    count, p = rows.shape[0], rows.location.mean.size
    total = np.zeros((full.size, full.size))
    for some in row_blocks(rows.sample.n, full.size, _BUFFER):
        part, weights = rows.model_rows(some), rows.sample.case_weights[some]
        predictor = part.at(full[:count, None], full[count : count + p], full[count + p :])
        for level in range(count + 1):
            terms = rows.family.terms(predictor, np.full(part.n, level), second=False)
            if terms is None:
                return None
            scores = np.nan_to_num(Jacobian(part, terms.places, count).transposed(terms.score))
            total += (scores * (weights * np.exp(terms.log_p))[:, None]).T @ scores
    return np.asarray(problem.expansion.T @ total @ problem.expansion)


def _derivatives(value: Callable[[FloatArray], float], x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(P',) gradient and (P', P') Hessian of a function, by differences."""
    units = np.eye(x.size)
    gradient, hessian = np.zeros(x.size), np.zeros((x.size, x.size))
    for j, unit in enumerate(_STEP * units):
        near, far = (value(x + k * unit) - value(x - k * unit) for k in (1, 2))
        gradient[j] = (8.0 * near - far) / (12.0 * _STEP)
    for j, a in enumerate(_STEP * units):
        for k, b in enumerate(_STEP * units[: j + 1]):
            across = value(x + a + b) + value(x - a - b) - value(x + a - b) - value(x - a + b)
            hessian[j, k] = hessian[k, j] = across / (4.0 * _STEP**2)
    return gradient, hessian

"""Penalties of the likelihood as values, and the simplest of them.

Ridge: the log-likelihood minus half of `weight` times the squared length of the effects, measured per standard
deviation of their column, so that units do not matter; thresholds and lambda are free.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, Protocol

import numpy as np

from ..._typing import FloatArray
from .blocks import Factor
from .newton import Evaluation, Optimum
from .problem import Problem


class Likelihood(Protocol):
    """A log-likelihood with its derivatives."""

    def evaluate(self, alpha: FloatArray, rest: FloatArray) -> Evaluation | None:
        """At (alpha, rest); None outside the domain."""


class Penalty(ABC):
    """What is added to a log-likelihood; estimates then maximise the sum.

    Attributes
    ----------
    determines : bool
        Whether effects that the rows do not determine have estimates.
    text : str
        As in a summary.
    """

    determines: ClassVar[bool] = False

    @property
    @abstractmethod
    def text(self) -> str: ...

    @abstractmethod
    def on(self, problem: Problem) -> Likelihood:
        """The penalised log-likelihood of a problem.

        Raises
        ------
        OptionError
            It has no maximum.
        """

    def factor(self, problem: Problem, optimum: Optimum) -> Factor | None:
        """Of the information that standard errors come from; None where it is not positive definite."""
        return None if optimum.indefinite else optimum.factor


@dataclass(frozen=True)
class Ridge(Penalty):
    """Half of `weight` times the squared length of the effects."""

    weight: float

    determines: ClassVar[bool] = True

    @property
    def text(self) -> str:
        return f"ridge, {self.weight:g}"

    def on(self, problem: Problem) -> Likelihood:
        m, n_effects = problem.user_scale().A.shape
        n_effects -= int(problem.flexible is not None)
        return _Ridged(likelihood=problem.objective(), weight=self.weight, m=m, n_effects=n_effects)


@dataclass(frozen=True, eq=False, kw_only=True)
class _Ridged:
    """A penalised log-likelihood.

    Attributes
    ----------
    likelihood : Likelihood
    weight : float
    m : int
        Parameters of a threshold: its intercept and m - 1 nominal effects.
    n_effects : int
        Leading components of `rest` that are effects.
    """

    likelihood: Likelihood
    weight: float
    m: int
    n_effects: int

    def evaluate(self, alpha: FloatArray, rest: FloatArray) -> Evaluation | None:
        found = self.likelihood.evaluate(alpha, rest)
        if found is None:
            return None
        on_alpha = np.where(np.arange(alpha.size) % self.m > 0, self.weight, 0.0).reshape(alpha.shape)
        on_rest = np.where(np.arange(rest.size) < self.n_effects, self.weight, 0.0)
        info, width = found.information, found.information.diagonal.shape[1]
        diagonal, gram = info.diagonal.copy(), info.rest + np.diag(on_rest)
        diagonal[:, range(width), range(width)] += on_alpha.reshape(diagonal.shape[:2])
        return Evaluation(
            loglik=found.loglik - 0.5 * float(np.vdot(on_alpha * alpha, alpha) + on_rest @ rest**2),
            score_alpha=found.score_alpha - on_alpha * alpha,
            score_rest=found.score_rest - on_rest * rest,
            information=replace(info, diagonal=diagonal, rest=gram),
        )

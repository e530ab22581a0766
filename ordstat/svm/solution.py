"""What a kernel machine is to its solvers: a problem for any C, a route to the optimum, and a certified answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from .._typing import BoolArray, FloatArray
from .gram import Gram

_TINY = float(np.finfo(float).tiny)


@dataclass(frozen=True, eq=False, kw_only=True)
class Certified:
    """A point and a proof of how far it is from the optimum.

    Attributes
    ----------
    beta : (N,) coefficients of the rows, summing to zero
    scores : (N,) f = gram @ beta of the centred kernel, without the offset
    primal, dual : float
        P >= optimum >= D.
    w : (D,) or None
        Coefficients of the columns that the scores are of, where a linear kernel knows them.
    """

    beta: FloatArray
    scores: FloatArray
    primal: float
    dual: float
    w: FloatArray | None = None

    @property
    def gap(self) -> float:
        """(P - D) / |P|, the relative duality gap; 0 where rounding makes D the larger."""
        return max(self.primal - self.dual, 0.0) / max(abs(self.primal), _TINY)


@dataclass(frozen=True, eq=False, kw_only=True)
class Solution(Certified):
    """A certified point with its thresholds.

    Attributes
    ----------
    theta : (K-1,)
    offset : float or None
        b for the centred kernel; None where the thresholds have taken it up.
    """

    theta: FloatArray
    offset: float | None = None

    @property
    def sizes(self) -> FloatArray:
        """(N,) what tells support rows: positive for the rows that hold the optimum."""
        return np.abs(self.beta)


S = TypeVar("S", bound=Solution, covariant=True)


@dataclass(frozen=True, eq=False, kw_only=True)
class Outcome(Generic[S]):
    """What a solver hands back.

    Attributes
    ----------
    solution : Solution
        The certified point with the smallest gap seen.
    solver : str
    iterations : int
    path : (I,) primal values at the points that were certified on the way
    """

    solution: S
    solver: str
    iterations: int
    path: FloatArray


class Solver(Protocol[S]):
    """A route to the optimum of one problem: made from (problem, rng), then asked for growing values of C."""

    def solve(self, C: float, tol: float) -> Outcome[S]:
        """The best certified point found, its relative duality gap at most `tol` where that was reached."""


#: Makes a solver from a problem and a generator.
Route = Callable[[Any, np.random.Generator], Solver[Solution]]


def better(one: Outcome[S], other: Outcome[S]) -> Outcome[S]:
    """The outcome of smaller gap."""
    return min(one, other, key=lambda found: found.solution.gap)


@dataclass(frozen=True, eq=False, kw_only=True)
class Candidate(ABC):
    """A problem to select C for.

    Attributes
    ----------
    gram : Gram
        Not centred.
    costs : (N, K) price of every prediction
    case_weights : (N,)
    """

    gram: Gram
    costs: FloatArray
    case_weights: FloatArray

    @abstractmethod
    def problem(self, gram: Gram, rows: BoolArray | slice) -> Any:
        """The problem of some rows, with their centred kernel matrix."""

    def part(self, rows: BoolArray) -> tuple[Any, FloatArray]:
        """The centred problem of some rows, and the means taken from them."""
        gram, means = self.gram.part(rows).centred()
        return self.problem(gram, rows), means

    def whole(self) -> tuple[Any, FloatArray]:
        """The centred problem of all rows; may centre `gram` itself, so ask for it last."""
        gram, means = self.gram.centred()
        return self.problem(gram, slice(None)), means

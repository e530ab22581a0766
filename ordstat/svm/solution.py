"""What a kernel machine is to its solvers: a problem for any C, a route to the optimum, and a certified answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from .._typing import BoolArray, FloatArray
from .gram import Gram

_TINY = float(np.finfo(float).tiny)


@dataclass(frozen=True, eq=False, kw_only=True)
class Solution:
    """A point, its thresholds, and a proof of how far it is from the optimum.

    Attributes
    ----------
    beta : (N,) coefficients of the rows, summing to zero
    scores : (N,) f = gram @ beta of the centred kernel, without the offset
    theta : (K-1,)
    primal, dual : float
        P >= optimum >= D.
    offset : float or None
        b for the centred kernel; None where the thresholds have taken it up.
    u : (N, Q) or None
        Signed dual variables of a problem with thresholds, whose row sums are beta.
    w : (D,) or None
        Coefficients of the columns that the scores are of, where a linear kernel knows them.
    boundaries : str
        How the thresholds of a problem on pairs were found.
    """

    beta: FloatArray
    scores: FloatArray
    theta: FloatArray
    primal: float
    dual: float
    offset: float | None = None
    u: FloatArray | None = None
    w: FloatArray | None = None
    boundaries: str = ""

    @property
    def gap(self) -> float:
        """(P - D) / |P|, the relative duality gap; 0 where rounding makes D the larger."""
        return max(self.primal - self.dual, 0.0) / max(abs(self.primal), _TINY)

    @property
    def sizes(self) -> FloatArray:
        """(N,) positive for support rows, even where the dual variables of a row sum to beta = 0."""
        return np.abs(self.beta) if self.u is None else np.asarray(np.abs(self.u).sum(axis=1))


@dataclass(frozen=True, eq=False, kw_only=True)
class Outcome:
    """The certified point with the smallest gap that a solver saw; `path` holds the primal values on the way."""

    solution: Solution
    solver: str
    iterations: int
    path: FloatArray


class Solver(Protocol):
    """A route to the optimum of one problem: made from (problem, rng), then called for growing values of C."""

    def solve(self, C: float, tol: float) -> Outcome:
        """The best certified point, with a relative duality gap of at most `tol` if that was reached."""


#: Makes a solver from a problem and a generator.
Route = Callable[[Any, np.random.Generator], Solver]


def better(first: Outcome, second: Outcome) -> Outcome:
    """The outcome of smaller gap."""
    return min(first, second, key=lambda outcome: outcome.solution.gap)


@dataclass(frozen=True, eq=False, kw_only=True)
class Candidate:
    """A problem to select C for.

    Attributes
    ----------
    gram : Gram
        Not centred.
    costs : (N, K) price of every prediction
    case_weights : (N,)
    problem : callable(gram, rows)
        The problem of some rows, with their centred kernel matrix.
    """

    gram: Gram
    costs: FloatArray
    case_weights: FloatArray
    problem: Callable[[Gram, BoolArray | slice], Any]

    def part(self, rows: BoolArray) -> tuple[Any, FloatArray]:
        """The centred problem of some rows, and the means taken from them."""
        gram, means = self.gram.part(rows).centred()
        return self.problem(gram, rows), means

    def whole(self) -> tuple[Any, FloatArray]:
        """The centred problem of all rows; may centre `gram` itself, so call it last."""
        gram, means = self.gram.centred()
        return self.problem(gram, slice(None)), means

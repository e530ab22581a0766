"""What results ask of a method and of a probability rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from .._typing import FloatArray
from ..assess.bounds import MarginBounds
from ..model.costs import CostMatrix
from ..model.fit import Fit, Geometry, LikelihoodFit
from ..model.rules import Rule
from ..model.sample import Rows, Sample

#: Fits a method, by name or as a value, to a design, by (design, method, options, vcov, calibrate=, force=); warns as
#: `ordfit` does.
Fitter = Callable[..., Any]


class RankingMethod(Protocol):
    """A method as results see it."""

    @property
    def cost(self) -> Any:
        """What its predictions minimise."""

    @property
    def cost_matrix(self) -> CostMatrix:
        """The same as a value."""

    @property
    def needs(self) -> Any:
        """What of a sample it takes."""

    @property
    def pairwise(self) -> bool:
        """Whether X is a matrix of similarities to the training rows."""

    def with_cost(self, cost: Any) -> Any:
        """The same with another cost."""

    def fit(self, sample: Sample, rng: np.random.Generator) -> Fit:
        """Fit to other rows."""

    def geometry(self, sample: Sample, fit: Fit) -> Geometry | None:
        """Norms of the fitted potential."""

    def extra_bounds(self, sample: Sample, fit: Fit, geometry: Geometry, delta: float) -> MarginBounds:
        """Bounds of the method alone."""


class CalibratedMethod(RankingMethod, Protocol):
    """A method whose fits have a calibration."""

    @property
    def folds(self) -> int:
        """Number of folds of the cross-fitting."""


class LikelihoodMethod(RankingMethod, Protocol):
    """A likelihood method as results see it."""

    @property
    def link(self) -> Any:
        """Name of the link."""

    @property
    def penalty(self) -> Any:
        """What the likelihood is penalised by, None where it is not."""

    def fit(self, sample: Sample, rng: np.random.Generator) -> LikelihoodFit:
        """Fit to other rows."""


class ProbabilityRule(Rule, Protocol):
    """A rule with a probability of every rank."""

    def probabilities(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        """(N, K) probabilities."""

    def cum_probabilities(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        """(N, K) P(rank <= k)."""

"""Stand-ins for a method, an information and a potential, whose answers are given."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from seams import BallGeometry, CostMatrix, LikelihoodFit

from ordstat.fit import Certificate, Trace
from ordstat.judging.margin_bounds import MarginBounds
from ordstat.method import Supports

TRACE = Trace(iterations=6, objective=np.zeros(6), message="both criteria met")
REACHED = Certificate(
    name="max |gradient|",
    value=4e-12,
    tolerance=1e-6,
    details=(("condition number", 26.6),),
)


@dataclass(frozen=True, eq=False)
class KnownCovariance:
    """An information whose inverse is given."""

    matrix: np.ndarray

    @property
    def size(self):
        return len(self.matrix)

    @property
    def variances(self):
        return np.diagonal(self.matrix)

    def times(self, vector: np.ndarray) -> np.ndarray:
        return self.matrix @ vector

    def dense(self):
        return self.matrix


@dataclass(frozen=True)
class StandInMethod:
    """A method that cannot fit: what results ask of one is answered by hand."""

    cost: object = "classification"
    link: str = "logit"
    likelihood: bool = True

    supports = Supports()
    penalty = None
    penalised = False
    pairwise = False
    refuses_crossing = False

    @property
    def link_text(self):
        return self.link

    @property
    def cost_matrix(self):
        return CostMatrix.parse(self.cost)

    def geometry(self, sample, fit):
        lengths = np.sum(sample.X**2, axis=1)
        slopes = np.array([2.0, 1.0])
        theta = (
            fit.coefficients[:4] if isinstance(fit, LikelihoodFit) else fit.rule.theta
        )
        return BallGeometry(
            norm=float(np.linalg.norm(slopes)),
            squared_lengths=lengths,
            theta=theta,
            radius=3.0**0.5,
        )

    def extra_bounds(self, sample, fit, geometry, delta):
        return MarginBounds(bounds=(), notes=("Nothing more is known.",))


@dataclass(frozen=True, eq=False)
class StandInLikelihood:
    covariance: object

    def score_statistic(self, sample, point):
        """No test."""
        return float("nan")

    def rounding(self):
        """None."""
        return np.zeros(self.covariance.size)

    def score_products(self, cluster, bread=None):
        """Twice the information for rows, three times for clusters."""
        times = 2.0 if cluster is None else 3.0
        products = times * np.linalg.inv(self.covariance.dense())
        return products if bread is None else bread @ products @ bread


@dataclass(frozen=True, eq=False)
class LinearPotential:
    slopes: np.ndarray

    def __call__(self, rows):
        return rows.X @ self.slopes

"""Results made by hand: R's numbers for the wine data, and a margin ranker of chosen coefficients."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from reference_cases import load_case, load_data

from ordstat.design.build import build
from ordstat.model.costs import CostMatrix
from ordstat.model.cumulative import CumulativeRule
from ordstat.model.fit import Certificate, Geometry, LikelihoodFit, MarginFit, Trace
from ordstat.model.links import LINKS
from ordstat.model.rules import ThresholdRule
from ordstat.results.likelihood import LikelihoodResults
from ordstat.results.margin import MarginResults

TRACE = Trace(iterations=6, objective=np.zeros(6), message="both criteria met")
REACHED = Certificate(name="max |gradient|", value=4e-12, tolerance=1e-6, details=(("condition number", 26.6),))


@dataclass(frozen=True, eq=False)
class KnownCovariance:
    """An information whose inverse is given."""

    matrix: np.ndarray

    def variances(self):
        return np.diagonal(self.matrix)

    def covariance(self):
        return self.matrix


@dataclass(frozen=True)
class StandInMethod:
    """A method that cannot fit: what results ask of one is answered by hand."""

    cost: object = "classification"
    link: str = "logit"

    def geometry(self, sample, fit):
        lengths = np.sum(sample.X**2, axis=1)
        slopes = np.array([2.0, 1.0])
        theta = fit.coefficients[:4] if isinstance(fit, LikelihoodFit) else fit.rule.theta
        return Geometry(norm=float(np.linalg.norm(slopes)), squared_lengths=lengths, theta=theta, radius=3.0**0.5)

    def meat(self, sample, fit, cluster):
        """Twice the information for rows, three times for clusters."""
        return (2.0 if cluster is None else 3.0) * np.linalg.inv(fit.information.covariance())


@pytest.fixture
def wine():
    return load_data("wine")


@pytest.fixture
def wine_logit(wine):
    """rating ~ temp + contact, from R's clm."""
    case = load_case("wine_logit")
    coefficients = case.coefficients.to_numpy()
    design = build("rating ~ temp + contact", wine)
    rule = CumulativeRule(
        link=LINKS["logit"],
        alpha=coefficients[:4, None],
        beta=coefficients[4:],
        zeta=np.zeros(0),
        costs=CostMatrix.classification().matrix(5),
    )
    fit = LikelihoodFit(
        rule=rule,
        certificate=REACHED,
        trace=TRACE,
        scores=rule.scores(design.sample.rows),
        coefficients=coefficients,
        n_alpha=4,
        n_beta=2,
        n_zeta=0,
        aliased=np.zeros(6, dtype=bool),
        information=KnownCovariance(case.matrix("vcov").to_numpy()),
        digits=np.full(6, 12.0),
        loglik=case.loglik,
        null_loglik=load_case("wine_null").loglik,
        n_obs=72.0,
    )
    return LikelihoodResults("ordfit('rating ~ temp + contact')", design, StandInMethod(), fit)


@dataclass(frozen=True, eq=False)
class LinearPotential:
    slopes: np.ndarray

    def __call__(self, rows):
        return rows.X @ self.slopes


@pytest.fixture
def wine_margin(wine):
    """H = 2 temp + contact with thresholds -0.5, 0.5, 1.5, 2.5."""
    design = build("rating ~ temp + contact", wine)
    slopes = np.array([2.0, 1.0])
    rule = ThresholdRule(LinearPotential(slopes), np.array([-0.5, 0.5, 1.5, 2.5]))
    fit = MarginFit(
        rule=rule,
        certificate=replace(REACHED, name="relative duality gap"),
        trace=TRACE,
        scores=rule.scores(design.sample.rows),
        facts=(("kernel", "Linear()"), ("support vectors", "3 of 72")),
        support=np.array([1, 5, 70]),
        coefficients=slopes,
    )
    return MarginResults("ordfit('rating ~ temp + contact')", design, StandInMethod(cost="absolute"), fit)

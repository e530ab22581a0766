"""Results made by hand: R's numbers for the wine data, and a margin ranker of chosen
coefficients.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from reference_cases import load_case, load_data
from seams import (
    LINKS,
    CostMatrix,
    Cumulative,
    LikelihoodFit,
    LikelihoodResults,
    LikelihoodRule,
    build,
)
from stand_ins import (
    REACHED,
    TRACE,
    KnownCovariance,
    LinearPotential,
    StandInLikelihood,
    StandInMethod,
)

from ordstat.fit import MarginFit, ThresholdRule
from ordstat.rankers import MarginResults


@pytest.fixture
def wine():
    return load_data("wine")


@pytest.fixture
def wine_logit(wine):
    """rating ~ temp + contact, from R's clm."""
    case = load_case("wine_logit")
    coefficients = case.coefficients.to_numpy()
    design = build("rating ~ temp + contact", wine)
    rule = LikelihoodRule(
        family=Cumulative(LINKS["logit"]),
        alpha=coefficients[:4, None],
        beta=coefficients[4:],
        zeta=np.zeros(0),
        cost=CostMatrix.classification(),
    )
    covariance = KnownCovariance(case.matrix("vcov").to_numpy())
    fit = LikelihoodFit(
        likelihood=StandInLikelihood(covariance),
        rule=rule,
        certificate=REACHED,
        trace=TRACE,
        scores=rule.scores(design.sample.rows),
        coefficients=coefficients,
        n_alpha=4,
        n_beta=2,
        n_zeta=0,
        aliased=np.zeros(6, dtype=bool),
        model_covariance=covariance,
        loglik=case.loglik,
        null_loglik=load_case("wine_null").loglik,
        n_obs=72.0,
        null_edf=4,
    )
    return LikelihoodResults(
        "ordfit('rating ~ temp + contact')", design, StandInMethod(), fit
    )


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
    return MarginResults(
        "ordfit('rating ~ temp + contact')",
        design,
        StandInMethod(cost="absolute", likelihood=False),
        fit,
    )

"""Quadrature over several effects of a group: exact gradients, and integrals by brute
force over a square.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from expected import refused
from reference_cases import load_data
from scipy.optimize import approx_fprime
from scipy.special import expit
from seams import LINKS, Cumulative, LikelihoodResults, Problem, build

from ordstat import datasets, ordfit
from ordstat.exceptions import OptionError
from ordstat.mixed.integral import evaluate_by_nodes
from ordstat.mixed.model import MixedModel
from ordstat.mixed.search import zero_effects

from .test_search_gradients import MODELS, differences, model_of

WINE = datasets.load("wine")
FORMULA = "rating ~ temp + contact + (1 + contact | judge)"
CASES = {
    "slope": MODELS["slope"],
    "independent": MODELS["independent"],
    "all effects": (
        "y ~ f + (1 + x1 | subj)",
        "crossed",
        {"nominal": "~ x1", "scale": "~ f", "weights": "w"},
        "flexible",
    ),
    "two slopes": ("y ~ x1 + f + (1 + f | subj)", "crossed", {}, "equidistant"),
}


@pytest.mark.parametrize(("name", "nodes"), [("two slopes", 3), ("slope", 6)])
def test_gradient_of_other_grids(name: str, nodes: int) -> None:
    model, psi = model_of(CASES[name], LINKS["probit"])
    assert model.terms[0].q == (3 if name == "two slopes" else 2)
    by_nodes = partial(evaluate_by_nodes, model, nodes)
    at = by_nodes(psi, zero_effects(model))
    assert at is not None
    np.testing.assert_allclose(
        at.gradient, differences(by_nodes, psi, at.v), rtol=2e-7, atol=2e-7
    )


def integrated(parameters: np.ndarray, correlated: bool = True) -> float:
    """The logit log-likelihood of the wine data at (thresholds, effects, Lambda) by
    sums over a square of 161 x 161.

    Sums at even distances of 0.1 up to +-8 are the integral to rounding: what they sum
    is smooth and ends at nothing.
    """
    theta = parameters[:4]
    beta = parameters[4:6]
    rest = parameters[6:]
    Lambda = (
        np.array([[rest[0], 0.0], [rest[1], rest[2]]]) if correlated else np.diag(rest)
    )
    x = np.column_stack([WINE["temp"] == "warm", WINE["contact"] == "yes"]).astype(
        float
    )
    y = WINE["rating"].cat.codes.to_numpy()
    g = WINE["judge"].astype("category").cat.codes.to_numpy()
    ends = np.concatenate([[-np.inf], theta, [np.inf]])
    line = np.linspace(-8.0, 8.0, 161)
    v = np.stack(np.meshgrid(line, line, indexing="ij"), axis=-1).reshape(-1, 2)
    logs = np.tile(
        -0.5 * (v**2).sum(axis=1)
        - np.log(2.0 * np.pi)
        + 2.0 * np.log(line[1] - line[0]),
        (9, 1),
    )
    for row, own, level, group in zip(
        np.column_stack([np.ones(72), x[:, 1]]), x @ beta, y, g, strict=True
    ):
        H = own + v @ (Lambda.T @ row)
        logs[group] += np.log(expit(ends[level + 1] - H) - expit(ends[level] - H))
    return float(np.log(np.exp(logs).sum(axis=1)).sum())


@pytest.fixture(scope="module")
def fit() -> LikelihoodResults:
    return ordfit(FORMULA.replace(" | ", " || "), WINE, quadrature=15)


def test_estimates_by_brute_force(fit: LikelihoodResults) -> None:
    """The maximum over independent effects (correlated ones are at the boundary with so
    few judges).
    """
    assert fit.certificate.reached
    at = np.append(fit.params[:6], fit.varcorr()["sd"])
    assert fit.loglik == pytest.approx(integrated(at, correlated=False), abs=1e-5)
    free = np.append(np.ones(6, dtype=bool), fit.varcorr()["sd"] > 0.0)
    slope = approx_fprime(at, partial(integrated, correlated=False), 1e-5)
    np.testing.assert_allclose(slope[free], 0.0, atol=2e-3)


def test_correlated_effects_by_brute_force() -> None:
    """Away from a maximum too, at given parameters: nodes converge to the integral."""
    problem = Problem.of(
        build(FORMULA, WINE).sample, Cumulative(LINKS["logit"]), None, "flexible"
    )
    model = MixedModel.of(problem)
    user = np.array([-1.5, 1.4, 4.1, 6.0, 2.8, 1.6])
    Lambda = np.array([[1.1, 0.0], [-0.4, 0.9]])
    inner = np.linalg.solve(model.scaling[0], Lambda)
    psi = np.concatenate(
        [np.linalg.solve(model.to_user, user), inner[model.terms[0].entries]]
    )
    exact = integrated(np.concatenate([user, [1.1, -0.4, 0.9]]))
    collected = [
        evaluate_by_nodes(model, nodes, psi, zero_effects(model))
        for nodes in (1, 3, 7, 15)
    ]
    errors = [abs(at.loglik - exact) for at in collected if at is not None]
    assert len(errors) == 4
    assert errors[0] > 5.0 * errors[1] > 25.0 * errors[2] > 125.0 * errors[3]
    assert errors[3] < 1e-6


def test_refusals() -> None:
    data = load_data("crossed").assign(
        a=lambda d: d["x1"] ** 2, b=lambda d: d["x1"] ** 3
    )
    with pytest.raises(
        OptionError, match=r"of at most 3 columns, such as .* got 4 columns in 1 terms"
    ):
        ordfit("y ~ x1 + (1 + x1 + a + b | subj)", data, quadrature=3)
    with pytest.raises(OptionError, match="got 3 columns in 2 terms"):
        ordfit("y ~ x1 + (1 + x1 | subj) + (1 | item)", data, quadrature=3)
    with refused("quadrature"):
        ordfit("y ~ x1 + (1 + x1 + a | subj)", data, quadrature=22)

"""Exact gradients of integrated likelihoods against central differences, and their
values against brute force.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from light_options import in_turn
from reference_cases import load_data
from scipy.integrate import quad
from seams import LINKS, Cumulative, Family, Problem, build

from ordstat.likelihood.links import Link
from ordstat.mixed.estimate import objective_of
from ordstat.mixed.model import MixedModel
from ordstat.mixed.search import zero_effects

#: Formula, data, further arguments of the design, threshold structure.
MODELS: dict[str, tuple[str, str, dict[str, Any], str]] = {
    "intercept": ("y ~ x1 + f + (1 | subj)", "crossed", {}, "flexible"),
    "slope": ("y ~ x1 + f + (1 + x1 | subj)", "crossed", {"weights": "w"}, "flexible"),
    "independent": ("y ~ x1 + f + (1 + x1 || subj)", "crossed", {}, "flexible"),
    "crossed": ("y ~ x1 + f + (1 | subj) + (1 | item)", "crossed", {}, "flexible"),
    "crossed slopes": (
        "y ~ x1 + f + (1 + x1 | subj) + (1 + x1 | item)",
        "crossed",
        {"weights": "w"},
        "flexible",
    ),
    "nested": ("y ~ x1 + (1 | school/class)", "nested", {}, "flexible"),
    "nested slopes": ("y ~ x1 + (1 + x1 | school/class)", "nested", {}, "equidistant"),
    "symmetric": ("y ~ f + (1 + x1 | school/class)", "nested", {}, "symmetric2"),
    "all effects": (
        "y ~ f + (1 | subj) + (1 + x1 | item)",
        "crossed",
        {"nominal": "~ x1", "scale": "~ f"},
        "flexible",
    ),
}
SCALAR: dict[str, tuple[str, str, dict[str, Any], str]] = {
    "intercept": MODELS["intercept"],
    "slope": (
        "y ~ x1 + f + (0 + x1 | subj)",
        "crossed",
        {"nominal": "~ x1", "scale": "~ f", "weights": "w"},
        "flexible",
    ),
}


def model_of(
    case: tuple[str, str, dict[str, Any], str],
    link: Link,
    family: type[Family] = Cumulative,
    every: int = 1,
) -> tuple[MixedModel, np.ndarray]:
    """A model, of one row in `every` where its terms are slow, and a point not far from
    no effects.
    """
    formula, data, arguments, threshold = case
    problem = Problem.of(
        build(formula, load_data(data)[::every], **arguments).sample,
        family(link),
        None,
        threshold,
    )
    model = MixedModel.of(problem)
    alpha, rest = problem.user.split(problem.start())
    fixed = np.concatenate([alpha.T.reshape(-1), rest])
    psi = np.concatenate([fixed, model.start_phi()])
    moves = np.where(np.arange(psi.size) < alpha.size, 0.01, 0.1)
    return model, psi + moves * np.random.default_rng(1).standard_normal(psi.size)


def differences(evaluate: Any, psi: np.ndarray, start: Any) -> np.ndarray:
    """Of fourth order."""
    h = 1e-4
    out = np.empty(psi.size)
    for j, unit in enumerate(h * np.eye(psi.size)):
        one, two, three, four = (
            evaluate(psi + k * unit, start).loglik for k in (-2, -1, 1, 2)
        )
        out[j] = (one - 8.0 * two + 8.0 * three - four) / (12.0 * h)
    return out


@pytest.mark.parametrize(("name", "link"), in_turn(MODELS, LINKS))
def test_laplace(name: str, link: str) -> None:
    model, psi = model_of(MODELS[name], LINKS[link])
    evaluate = objective_of(model, 1)
    at = evaluate(psi, zero_effects(model))
    assert at is not None
    np.testing.assert_allclose(
        at.gradient, differences(evaluate, psi, at.v), rtol=2e-7, atol=2e-7
    )


@pytest.mark.parametrize(("name", "link", "nodes"), in_turn(SCALAR, LINKS, [5, 8, 10]))
def test_quadrature(name: str, link: str, nodes: int) -> None:
    model, psi = model_of(SCALAR[name], LINKS[link])
    evaluate = objective_of(model, nodes)
    at = evaluate(psi, zero_effects(model))
    assert at is not None
    np.testing.assert_allclose(
        at.gradient, differences(evaluate, psi, at.v), rtol=2e-7, atol=2e-7
    )


@pytest.mark.parametrize("link", LINKS)
def test_many_nodes_are_the_integral(link: str) -> None:
    """Group by group by SciPy's adaptive quadrature of the product of the probabilities
    of its rows.
    """
    model, psi = model_of(MODELS["intercept"], LINKS[link])
    at = objective_of(model, 60)(psi, zero_effects(model))
    assert at is not None
    predictor = model.predictor(psi[: model.n_fixed])
    assert predictor is not None
    codes = model.terms[0].codes
    x = at.state.x[0][:, 0]
    upper, lower, _ = predictor.ends(model.y)

    def density(v: float, rows: np.ndarray) -> float:
        p = LINKS[link].cdf(upper[rows] - x[rows] * v) - LINKS[link].cdf(
            lower[rows] - x[rows] * v
        )
        return float(
            np.exp(np.log(np.maximum(p, 1e-300)).sum() + 20.0 - 0.5 * v * v)
            / np.sqrt(2.0 * np.pi)
        )

    total = 0.0
    for group in range(model.terms[0].n_groups):
        part = partial(density, rows=np.flatnonzero(codes == group))
        total += (
            np.log(quad(part, -9.0, 9.0, epsabs=0.0, epsrel=1e-10, limit=300)[0]) - 20.0
        )
    assert at.loglik == pytest.approx(total, abs=2e-5 if link == "cauchit" else 1e-7)

"""Quadrature over nested effects: exact gradients, integrals by brute force over a square, and what it is not for."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from light_options import in_turn
from reference_cases import load_data

from ordstat import ordfit
from ordstat.design.build import build
from ordstat.exceptions import OptionError
from ordstat.model.likelihood.adjacent import Adjacent
from ordstat.model.likelihood.cumulative import Cumulative
from ordstat.model.likelihood.family import Family
from ordstat.model.likelihood.links import LINKS, Link
from ordstat.solvers.likelihood.mixed.laplace import evaluate
from ordstat.solvers.likelihood.mixed.model import MixedModel
from ordstat.solvers.likelihood.mixed.nested import evaluate_by_nodes
from ordstat.solvers.likelihood.mixed.search import zero_effects
from ordstat.solvers.likelihood.problem import Problem

from .test_gradients import MODELS, differences, model_of

NESTED = ("nested", "nested slopes", "symmetric")


def small(n_schools: int = 4, seed: int = 5) -> pd.DataFrame:
    """Three classes a school, three pupils a class."""
    rng, rows = np.random.default_rng(seed), []
    for school in range(n_schools):
        u = 1.2 * rng.standard_normal()
        for c in range(3):
            w = 0.9 * rng.standard_normal()
            for x in rng.standard_normal(3):
                latent = x + u + w + rng.logistic()
                rows.append((school, f"{school}{c}", x, int(np.digitize(latent, [-1, 1]))))
    return pd.DataFrame(rows, columns=["school", "class", "x", "y"])


@pytest.mark.parametrize(
    ("name", "link", "family"),
    in_turn(NESTED, ("logit", "cloglog", "cauchit"), (Cumulative,))
    + [("nested", "probit", Adjacent), ("nested slopes", "logit", Adjacent)],
)
def test_gradient_against_differences(name: str, link: str, family: type[Family]) -> None:
    model, psi = model_of(MODELS[name], LINKS[link], family)
    by_nodes = partial(evaluate_by_nodes, model, 3 if name == "nested" else 2)
    at = by_nodes(psi, zero_effects(model))
    assert at is not None
    np.testing.assert_allclose(at.gradient, differences(by_nodes, psi, at.v), rtol=2e-7, atol=5e-7)


@pytest.mark.parametrize(("formula", "nodes"), [("(1 | a/b/c)", 3), ("(1 | school/class)", -4)])
def test_gradient_of_other_grids(formula: str, nodes: int) -> None:
    """Three levels, nominal and scale effects, weights; nodes that stay."""
    data = small(8).assign(w=lambda d: 1 + np.arange(len(d)) % 3, f=lambda d: np.arange(len(d)) % 2 * 1.0)
    data = data.assign(a=data["school"] // 2, b=data["school"], c=data["class"])
    design = build(f"y ~ x + {formula}", data, weights="w", nominal="~ f", scale="~ f")
    problem = Problem.of(design.sample, Cumulative(LINKS["probit"]), None, "flexible")
    model = MixedModel.of(problem)
    psi = np.concatenate([[-0.8, 0.7, 0.1, 0.2, 0.5, 0.1], model.start_phi()])
    by_nodes = partial(evaluate_by_nodes, model, nodes)
    at = by_nodes(psi, zero_effects(model))
    assert at is not None
    np.testing.assert_allclose(at.gradient, differences(by_nodes, psi, at.v), rtol=2e-7, atol=5e-7)


@pytest.mark.parametrize("name", NESTED)
def test_one_node_is_laplace(name: str) -> None:
    model, psi = model_of(MODELS[name], LINKS["loglog"])
    one = evaluate_by_nodes(model, 1, psi, zero_effects(model))
    other = evaluate(model, psi, zero_effects(model))
    assert one is not None and other is not None
    assert one.loglik == pytest.approx(other.loglik, abs=1e-10)
    np.testing.assert_allclose(one.gradient, other.gradient, atol=1e-8)


def square(data: pd.DataFrame, link: Link, theta: Any, beta: float, outer: float, inner: float) -> float:
    """The log-likelihood, both integrals by Gauss-Legendre sums over [-9, 9]."""
    points, weights = np.polynomial.legendre.leggauss(300)
    v, normal = 9.0 * points, 9.0 * weights * np.exp(-40.5 * points**2) / np.sqrt(2.0 * np.pi)
    ends, total = np.array([-np.inf, *theta, np.inf]), 0.0
    for _, school in data.groupby("school"):
        of_school = np.ones(v.size)
        for _, rows in school.groupby("class"):
            p = np.ones((v.size, v.size))
            for x, y in zip(rows["x"], rows["y"], strict=True):
                eta = beta * x + outer * v[:, None] + inner * v
                p *= link.cdf(ends[y + 1] - eta) - link.cdf(ends[y] - eta)
            of_school *= p @ normal
        total += np.log(of_school @ normal)
    return float(total)


@pytest.mark.parametrize("link", LINKS)
def test_many_nodes_are_the_integral(link: str) -> None:
    """At estimates by Laplace's approximation, whose own error the rules take away."""
    data = small()
    fit = ordfit("y ~ x + (1 | school/class)", data, link=link, random_penalty="gamma")
    sd, here = fit.varcorr()["sd"], fit.fit.marginal.likelihood
    assert sd.min() > 0.3
    expected = square(data, LINKS[link], fit.params[:2], float(fit.params["x"]), *sd)
    found = [evaluate_by_nodes(here.model, nodes, here.at.psi, here.at.v) for nodes in (1, 3, 7, 21)]
    errors = [abs(at.loglik - expected) for at in found if at is not None]
    assert fit.loglik == pytest.approx(found[0].loglik, abs=1e-9)
    assert errors[0] / 10.0 > errors[2] > errors[3]
    assert errors[3] < (1e-3 if link == "cauchit" else 1e-5)


def test_auto_raises_the_number_of_nodes() -> None:
    data = load_data("nested")
    fit = ordfit("y ~ x1 + (1 | school/class)", data, quadrature="auto")
    finer = ordfit("y ~ x1 + (1 | school/class)", data, quadrature=11)
    assert "Gauss-Hermite" in str(fit.summary())
    assert fit.loglik == pytest.approx(finer.loglik, abs=1e-3)


def test_what_can_be_asked_afterwards() -> None:
    """Robust errors by the outer groups, whole groups left out, intervals by profile."""
    data = load_data("nested")
    fit = ordfit("y ~ x1 + (1 | school/class)", data, quadrature=3)
    laplace = ordfit("y ~ x1 + (1 | school/class)", data)
    for one, other in (
        (fit.vcov({"cluster": "school"}), laplace.vcov({"cluster": "school"})),
        (fit.confint("x1", type="profile"), laplace.confint("x1", type="profile")),
    ):
        np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=0.2, atol=0.02)


def test_refusals() -> None:
    data = small().assign(k=lambda d: np.arange(len(d)) % 4)
    with pytest.raises(OptionError, match="got 2 columns in 2 terms that are crossed"):
        ordfit("y ~ x + (1 | school) + (1 | k)", data, quadrature=5)
    with pytest.raises(OptionError, match="at most 10 for 2 nested terms of 4 columns"):
        ordfit("y ~ 1 + (1 + x | school/class)", data, quadrature=11)

"""Likelihood-ratio tests that fit a model with random effects again.

R values: ordinal 2022.11-16,
  f0 <- clmm(rating ~ temp + contact + (1 | judge), wine, control = clmm.control(useMatrix = TRUE))
  drop1(f0, test = "Chisq"); logLik(update(f0, ~ . - temp))
  clmm2(rating ~ temp, nominal = ~ contact, random = judge, data = wine, nAGQ = 15)$logLik, and so on.
clmm2 takes one random intercept; its Laplace approximation is right without scale effects alone.
"""

from __future__ import annotations

import numpy as np
import pytest

from ordstat import datasets, ordfit
from ordstat.exceptions import OptionError
from ordstat.results.likelihood.results import LikelihoodResults

WINE = datasets.load("wine")
LOGLIK = {"rel": 0.0, "abs": 5e-6}


@pytest.fixture(scope="module")
def wine() -> LikelihoodResults:
    return ordfit("rating ~ temp + contact + (1 | judge)", WINE)


def test_drop1(wine: LikelihoodResults) -> None:
    table = wine.drop1()
    assert table["df"].tolist()[1:] == [1, 1]
    assert table["aic"].tolist() == pytest.approx([177.13083, 209.59452, 189.47754], abs=2e-5)
    assert table["lrt"].tolist()[1:] == pytest.approx([34.463695, 14.346719], abs=2e-5)
    assert table["p_value"].tolist()[1:] == pytest.approx([4.3428e-09, 0.00015204], rel=1e-4)


def test_add1(wine: LikelihoodResults) -> None:
    table = ordfit("rating ~ temp + (1 | judge)", WINE).add1("~ . + contact")
    assert table["aic"].tolist() == pytest.approx([189.47754, 177.13083], abs=2e-5)
    both = wine.add1("temp:contact")
    assert both["lrt"].iloc[1] == pytest.approx(2.0 * (81.565413 - 81.535964), abs=5e-6)


def test_random_effects_are_kept(wine: LikelihoodResults) -> None:
    """A refit is the same as fitting the smaller formula, with slopes of what was taken out."""
    slopes = ordfit("rating ~ temp + contact + (1 + contact | judge)", WINE)
    smaller = ordfit("rating ~ temp + (1 + contact | judge)", WINE)
    assert slopes.drop1("contact")["aic"].iloc[1] == pytest.approx(smaller.aic, abs=1e-8)
    weighted = ordfit("rating ~ temp * contact + (1 | judge)", WINE, weights=1 + np.arange(72) % 3)
    without = ordfit("rating ~ temp + contact + (1 | judge)", WINE, weights=1 + np.arange(72) % 3)
    assert weighted.drop1()["lrt"].iloc[1] == pytest.approx(2.0 * (weighted.loglik - without.loglik), abs=1e-7)


def test_step(wine: LikelihoodResults) -> None:
    found = ordfit("rating ~ 1 + (1 | judge)", WINE).step("~ temp * contact")
    assert found.trace["change"].tolist() == ["", "+ temp", "+ contact"]
    assert found.trace["loglik"].tolist() == pytest.approx([-102.98689, -88.738772, -81.565413], abs=1e-5)
    assert found.trace["edf"].tolist() == [5, 6, 7]
    assert found.fit.varcorr()["sd"].iloc[0] == pytest.approx(wine.varcorr()["sd"].iloc[0], rel=1e-6)


def test_nominal_and_scale_tests() -> None:
    fit = ordfit("rating ~ temp + contact + (1 | judge)", WINE, quadrature=15)
    nominal, scale = fit.nominal_test(), fit.scale_test()
    assert nominal["loglik"].tolist() == pytest.approx([-81.53246071, -80.35479316, -81.28320087], **LOGLIK)
    assert nominal["df"].tolist()[1:] == [3, 3]
    assert scale["loglik"].tolist() == pytest.approx([-81.53246071, -81.49863779, -81.53179081], **LOGLIK)
    assert scale["df"].tolist()[1:] == [1, 1]


def test_nominal_test_by_laplace(wine: LikelihoodResults) -> None:
    table = wine.nominal_test("contact")
    assert table["loglik"].tolist() == pytest.approx([-81.56540929, -81.31470396], abs=5e-5)  # clmm2's modes are rough


def test_models_are_compared_by_one_rule() -> None:
    """ "auto" may end with other nodes in a smaller model: the nodes of the fit are taken there."""
    fit = ordfit("rating ~ temp + contact + (1 | judge)", WINE, quadrature="auto")
    nodes = fit.fit.marginal.quadrature
    assert nodes > 1
    smaller = ordfit("rating ~ temp + (1 | judge)", WINE, quadrature=nodes)
    assert fit.drop1("contact")["aic"].iloc[1] == pytest.approx(smaller.aic, abs=1e-7)
    assert fit.step("~ temp * contact").fit.fit.marginal.quadrature == nodes


def test_random_terms_are_no_single_terms(wine: LikelihoodResults) -> None:
    with pytest.raises(OptionError, match=r"scope must be of fixed effects; got the random term \(1 \| bottle\)"):
        wine.add1("~ . + (1 | bottle)")
    with pytest.raises(OptionError, match="scope has no term 'judge' of the model; its terms are temp, contact"):
        wine.drop1("judge")

"""Tests between fits with random effects, and of refitted models: values of R, and the
distributions at a boundary.

R values: ordinal 2022.11-16,
  f0 <- clmm(rating ~ temp + contact + (1 | judge), wine, control =
  clmm.control(useMatrix = TRUE)) drop1(f0, test = "Chisq"); logLik(update(f0, ~ . -
  temp)) clmm2(rating ~ temp, nominal = ~ contact, random = judge, data = wine, nAGQ =
  15)$logLik, and so on.
clmm2 takes one random intercept; its Laplace approximation is right without scale
effects alone.
"""

from __future__ import annotations

import pytest
from expected import refused
from reference_cases import load_case, load_data
from scipy.stats import chi2
from seams import LikelihoodResults

from ordstat import datasets, ordfit

WINE = datasets.load("wine")


def test_one_variance_is_half_of_chi2() -> None:
    """anova(clm, clmm) of R (ordinal 2022.11-16): LR.stat 9.853, Pr(>Chisq) 0.001696;
    halved at the boundary.
    """
    plain, mixed = (
        ordfit(f"rating ~ temp + contact{more}", WINE)
        for more in ("", " + (1 | judge)")
    )
    row = mixed.anova(plain).iloc[1]
    assert row["lr_stat"] == pytest.approx(9.8531, abs=1e-3)
    assert row["p_chi2"] == pytest.approx(0.001696, rel=1e-3)
    assert row["p_value"] == pytest.approx(0.5 * chi2.sf(row["lr_stat"], 1))
    assert row["distribution"] == "1/2 chi2(0) + 1/2 chi2(1)"


def test_fixed_effects_are_tested_as_ever() -> None:
    """The case wine_clmm_anova holds R's anova of two clmm fits."""
    case = load_case("wine_clmm_anova")
    block = case.raw["anova_fixed"]["columns"]
    large = ordfit("rating ~ temp + contact + (1 | judge)", WINE)
    small = ordfit("rating ~ temp + (1 | judge)", WINE)
    row = large.anova(small).iloc[1]
    # R's log-likelihoods are off by 1e-5
    assert row["lr_stat"] == pytest.approx(block["LR.stat"][-1], abs=2e-4)
    assert (
        row["p_value"]
        == row["p_chi2"]
        == pytest.approx(block["Pr(>Chisq)"][-1], rel=1e-3)
    )
    assert row["distribution"] == ""


def test_a_correlated_column_is_a_mixture_of_two() -> None:
    data = load_data("crossed")
    small, large = (ordfit(f"y ~ x1 + ({one} | subj)", data) for one in ("1", "1 + x1"))
    row = small.anova(large).iloc[1]
    assert row["df"] == 2
    statistic = 2.0 * (large.loglik - small.loglik)
    assert row["p_value"] == pytest.approx(
        0.5 * (chi2.sf(statistic, 1) + chi2.sf(statistic, 2))
    )
    apart = ordfit("y ~ x1 + (1 + x1 || subj)", data)
    assert apart.anova(small).iloc[1]["distribution"] == "1/2 chi2(0) + 1/2 chi2(1)"
    # a correlation has no boundary at 0
    assert apart.anova(large).iloc[1]["distribution"] == ""


def test_different_rules_do_not_compare() -> None:
    one = ordfit("rating ~ temp + (1 | judge)", WINE)
    other = ordfit("rating ~ temp + contact + (1 | judge)", WINE, quadrature=7)
    with refused("quadrature"):
        one.anova(other)


LOGLIK = {"rel": 0.0, "abs": 5e-6}


@pytest.fixture(scope="module")
def wine() -> LikelihoodResults:
    return ordfit("rating ~ temp + contact + (1 | judge)", WINE)


def test_drop1(wine: LikelihoodResults) -> None:
    table = wine.drop1()
    assert table["df"].tolist()[1:] == [1, 1]
    assert table["aic"].tolist() == pytest.approx(
        [177.13083, 209.59452, 189.47754], abs=2e-5
    )
    assert table["lrt"].tolist()[1:] == pytest.approx([34.463695, 14.346719], abs=2e-5)
    assert table["p_value"].tolist()[1:] == pytest.approx(
        [4.3428e-09, 0.00015204], rel=1e-4
    )


def test_add1(wine: LikelihoodResults) -> None:
    table = ordfit("rating ~ temp + (1 | judge)", WINE).add1("~ . + contact")
    assert table["aic"].tolist() == pytest.approx([189.47754, 177.13083], abs=2e-5)
    both = wine.add1("temp:contact")
    assert both["lrt"].iloc[1] == pytest.approx(2.0 * (81.565413 - 81.535964), abs=5e-6)


def test_step(wine: LikelihoodResults) -> None:
    actual = ordfit("rating ~ 1 + (1 | judge)", WINE).step("~ temp * contact")
    assert actual.trace["change"].tolist() == ["", "+ temp", "+ contact"]
    assert actual.trace["loglik"].tolist() == pytest.approx(
        [-102.98689, -88.738772, -81.565413], abs=1e-5
    )
    assert actual.trace["edf"].tolist() == [5, 6, 7]
    assert actual.fit.varcorr()["sd"].iloc[0] == pytest.approx(
        wine.varcorr()["sd"].iloc[0], rel=1e-6
    )


def test_nominal_and_scale_tests() -> None:
    fit = ordfit("rating ~ temp + contact + (1 | judge)", WINE, quadrature=15)
    nominal = fit.nominal_test()
    scale = fit.scale_test()
    assert nominal["loglik"].tolist() == pytest.approx(
        [-81.53246071, -80.35479316, -81.28320087], **LOGLIK
    )
    assert nominal["df"].tolist()[1:] == [3, 3]
    assert scale["loglik"].tolist() == pytest.approx(
        [-81.53246071, -81.49863779, -81.53179081], **LOGLIK
    )
    assert scale["df"].tolist()[1:] == [1, 1]


def test_a_boundary_is_noted_where_the_random_effects_differ() -> None:
    wine = datasets.load("wine")
    small, large = (
        ordfit(f"rating ~ {terms} + (1 | judge)", wine)
        for terms in ("temp", "temp + contact")
    )
    table = small.anova(large)
    assert not any("boundary" in note for note in table.attrs["notes"])
    assert table["p_value"].iloc[1] == table["p_chi2"].iloc[1]
    slopes = ordfit("rating ~ temp + contact + (1 + temp | judge)", wine)
    assert any("boundary" in note for note in small.anova(large, slopes).attrs["notes"])
    plain = ordfit("rating ~ temp", wine)
    assert any("boundary" in note for note in plain.anova(small).attrs["notes"])

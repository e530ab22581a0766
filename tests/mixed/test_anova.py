"""Tests between fits with random effects: values of R's anova, and the laws at a boundary."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from reference_cases import load_case, load_data
from scipy.stats import chi2, norm

from ordstat import datasets, ordfit
from ordstat.exceptions import OptionError

WINE = datasets.load("wine")


def test_one_variance_is_half_of_chi2() -> None:
    """anova(clm, clmm) of R (ordinal 2022.11-16): LR.stat 9.853, Pr(>Chisq) 0.001696; halved at the boundary."""
    plain, mixed = (ordfit(f"rating ~ temp + contact{more}", WINE) for more in ("", " + (1 | judge)"))
    row = mixed.anova(plain).iloc[1]
    assert row["lr_stat"] == pytest.approx(9.8531, abs=1e-3)
    assert row["p_chi2"] == pytest.approx(0.001696, rel=1e-3)
    assert row["p_value"] == pytest.approx(0.5 * chi2.sf(row["lr_stat"], 1))
    assert row["law"] == "1/2 chi2(0) + 1/2 chi2(1)"


def test_fixed_effects_are_tested_as_ever() -> None:
    """The case wine_clmm_anova holds R's anova of two clmm fits."""
    case = load_case("wine_clmm_anova")
    block = case.raw["anova_fixed"]["columns"]
    large = ordfit("rating ~ temp + contact + (1 | judge)", WINE)
    small = ordfit("rating ~ temp + (1 | judge)", WINE)
    row = large.anova(small).iloc[1]
    assert row["lr_stat"] == pytest.approx(block["LR.stat"][-1], abs=2e-4)  # R's log-likelihoods are off by 1e-5
    assert row["p_value"] == row["p_chi2"] == pytest.approx(block["Pr(>Chisq)"][-1], rel=1e-3)
    assert row["law"] == ""


def test_a_correlated_column_is_a_mixture_of_two() -> None:
    data = load_data("crossed")
    small, large = (ordfit(f"y ~ x1 + ({one} | subj)", data) for one in ("1", "1 + x1"))
    row = small.anova(large).iloc[1]
    assert row["df"] == 2
    statistic = 2.0 * (large.loglik - small.loglik)
    assert row["p_value"] == pytest.approx(0.5 * (chi2.sf(statistic, 1) + chi2.sf(statistic, 2)))
    apart = ordfit("y ~ x1 + (1 + x1 || subj)", data)
    assert apart.anova(small).iloc[1]["law"] == "1/2 chi2(0) + 1/2 chi2(1)"
    assert apart.anova(large).iloc[1]["law"] == ""  # a correlation has no boundary at 0


def test_more_at_once_is_conservative_and_said() -> None:
    data = load_data("crossed")
    small, large = ordfit("y ~ x1", data), ordfit("y ~ x1 + (1 | subj) + (1 | item)", data)
    assert large.anova(small).iloc[1]["law"] == "chi2(2), conservative"


def test_what_is_not_nested_has_no_p_value() -> None:
    data = load_data("crossed")
    one, other = ordfit("y ~ x1 + (1 | item)", data), ordfit("y ~ x1 + (1 + x1 | subj)", data)
    table = one.anova(other)
    assert np.isnan(table["p_value"].iloc[1])
    assert "not nested" in table.attrs["notes"][0]


def test_different_rules_do_not_compare() -> None:
    one = ordfit("rating ~ temp + (1 | judge)", WINE)
    other = ordfit("rating ~ temp + contact + (1 | judge)", WINE, quadrature=7)
    with pytest.raises(OptionError, match="same rule"):
        one.anova(other)


def test_wald_tests_of_terms() -> None:
    fit = ordfit("rating ~ temp + contact + (1 | judge)", WINE)
    table = fit.anova(type="III")
    assert table.loc["temp", "chisq"] == pytest.approx(float(fit.z_values["temp[T.warm]"]) ** 2)
    z = (fit.coef["temp[T.warm]"] - 3.0) / fit.se["temp[T.warm]"]
    assert fit.test("temp[T.warm] = 3")["p_value"].iloc[0] == pytest.approx(2.0 * norm.sf(abs(z)))


@pytest.mark.slow
def test_level_of_the_test_at_a_boundary() -> None:
    """Without a variance: about half of the statistics are 0, and few p-values are small (standard error 0.02)."""
    p = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        x = rng.standard_normal(320)
        y = np.digitize(0.7 * x + rng.logistic(size=320), [-1.5, 0.0, 1.5])
        data = pd.DataFrame({"x": x, "y": y, "g": np.repeat(np.arange(40), 8)})
        p.append(ordfit("y ~ x + (1 | g)", data).anova(ordfit("y ~ x", data))["p_value"].iloc[1])
    assert 0.4 < np.mean(np.array(p) == 1.0) < 0.75 and max(own for own in p if own < 1.0) < 0.49
    assert 0.03 < np.mean(np.array(p) <= 0.1) < 0.15

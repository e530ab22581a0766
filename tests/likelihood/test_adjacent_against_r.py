"""Adjacent-category models against R's VGAM, run to the limit of double precision."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from reference_cases import load_case
from seams import LikelihoodResults

from ordstat import ordfit

#: Case -> formula of what is free at every threshold, and the sign of R's coefficients
#: (-1: reverse = TRUE).
CASES = {
    "wine_vgam_acat_parallel": (None, 1.0),
    "sim500_vgam_acat": (None, 1.0),
    "sim500_vgam_acat_partial": ("~ x1", 1.0),
    "sim500_vgam_acat_reverse": (None, -1.0),
    "housing_vgam_acat_nonparallel": ("~ Infl + Type + Cont", 1.0),
}


def fitted(name: str) -> LikelihoodResults:
    case = load_case(name)
    nominal = CASES[name][0]
    response, terms = case.spec["formula"].split("~")
    free = [] if nominal is None else nominal.lstrip("~ ").split(" + ")
    formula = f"{response}~ " + (
        " + ".join(t for t in terms.strip().split(" + ") if t not in free) or "1"
    )
    return ordfit(
        formula, case.frame(), "acat", nominal=nominal, weights=case.spec.get("weights")
    )


def in_our_order(name: str, values: pd.Series) -> np.ndarray:
    """Thresholds and nominal effects are minus R's, location effects R's own; both go
    column by column.
    """
    sign = CASES[name][1]
    ends = [label.rpartition(":")[2] for label in values.index]
    free = np.array([end.isdigit() for end in ends])
    return sign * np.concatenate([-values[free], values[~free]])


@pytest.mark.parametrize("name", CASES)
def test_estimates_errors_and_likelihood(name: str) -> None:
    fit = fitted(name)
    case = load_case(name)
    np.testing.assert_allclose(
        fit.params, in_our_order(name, case.coefficients), rtol=1e-9, atol=1e-10
    )
    np.testing.assert_allclose(
        fit.se, np.abs(in_our_order(name, case.std_errors)), rtol=1e-5
    )
    assert fit.loglik == pytest.approx(case.loglik, rel=1e-12)
    assert fit.certificate.reached


@pytest.mark.parametrize("name", [name for name in CASES if CASES[name][1] > 0])
def test_fitted_probabilities(name: str) -> None:
    fit = fitted(name)
    expected = load_case(name).matrix("fitted_head")
    assert expected is not None
    data = load_case(name).frame().iloc[: len(expected)]
    np.testing.assert_allclose(fit.predict(data, type="prob"), expected, rtol=1e-7)


def test_pneumo() -> None:
    """VGAM 1.1-7, vglm(factor(y, ordered = TRUE) ~ let, acat(parallel = ...), weights =
    n, epsilon = 1e-14).
    """
    time = [5.8, 15.0, 21.5, 27.5, 33.5, 39.5, 46.0, 51.5]
    counts = {
        1: [98, 51, 34, 35, 32, 23, 12, 4],
        2: [0, 2, 6, 5, 10, 7, 6, 2],
        3: [0, 1, 3, 8, 9, 8, 10, 5],
    }
    data = pd.DataFrame(
        [
            (np.log(t), level, n)
            for level, row in counts.items()
            for t, n in zip(time, row, strict=True)
        ],
        columns=["let", "y", "n"],
    )
    free = ordfit("y ~ 1", data, "acat", nominal="~ let", weights="n")
    expected = [
        8.9360297375397248,
        3.0390622497335009,
        -2.1653728736649689,
        -0.9020936142997816,
    ]
    np.testing.assert_allclose(free.params, expected, rtol=1e-9)
    assert free.loglik == pytest.approx(-204.4344410395834, rel=1e-13)
    one = ordfit("y ~ let", data, "acat", weights="n")
    np.testing.assert_allclose(
        one.params, [7.429286369690336, 5.933036668862341, 1.725567956939989], rtol=1e-7
    )
    # R stopped at half-steps
    assert one.loglik == pytest.approx(-205.2854094173415, rel=1e-13)


def test_two_slopes_less_one_in_the_likelihood_ratio_test() -> None:
    small = fitted("sim500_vgam_acat")
    large = fitted("sim500_vgam_acat_partial")
    expected = 2.0 * (
        load_case("sim500_vgam_acat_partial").loglik
        - load_case("sim500_vgam_acat").loglik
    )
    assert small.anova(large)["lr_stat"].iloc[1] == pytest.approx(expected, rel=1e-9)
    assert small.nominal_test("x1").loc["x1", "lrt"] == pytest.approx(
        expected, rel=1e-9
    )

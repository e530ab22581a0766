"""Spreads that diverge from each other: what they leave is that of separate fits."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from expected import no_maximum

from benchmarks.against_r.specs import KINDS
from ordstat import ordfit

#: Ratios of spreads in the limit are e^-12: estimates are that far off.
CLOSE = 1e-4


@pytest.mark.parametrize("coding", ["treatment", "sum", "poly"])
def test_cells_at_a_threshold_of_wider_ones_have_their_own_binary_fits(
    coding: str,
) -> None:
    """Where o1 is r the spread goes to 0: rows of f2 = a are of one level, and those of
    b and c lie at a threshold each. The wider rows of b and c have slopes of 0 in the
    limit, and it is a product of three models without common parameters.
    """
    spec = KINDS["any"](2002, 202)
    data = spec.data
    options = spec.options | {"contrasts": {"o1": coding}}
    with no_maximum():
        fit = ordfit(spec.formula, data, **options, max_iter=300)
    assert not fit.converged

    wide = data[data["o1"] != "r"].copy()
    wide["o1"] = wide["o1"].astype(str)
    wide["x3a"] = wide["x3"] * (wide["f2"] == "a")
    rest = ordfit(
        "y ~ x3a + f2*o1", wide, link="probit", threshold="symmetric", scale="~ o1"
    )
    loglik = rest.loglik
    for level in "bc":
        cell = data[(data["o1"] == "r") & (data["f2"] == level)]
        loglik += ordfit(
            "y ~ x3", cell.assign(y=cell["y"].astype(int)), link="probit"
        ).loglik
    assert fit.loglik == pytest.approx(loglik, abs=1e-8)

    if coding != "treatment":  # the spread of every level moves, and all with it
        assert fit.se.isna().all()
        return
    lost = ["o1[T.r]", "f2[T.b]:o1[T.r]", "f2[T.c]:o1[T.r]", "scale.o1[T.r]"]
    assert fit.se[lost].isna().all()
    slopes = ["x3", "x3:f2[T.b]", "x3:f2[T.c]"]
    shared = fit.params.index.difference([*lost, *slopes])
    np.testing.assert_allclose(fit.params[shared], rest.params[shared], atol=CLOSE)
    np.testing.assert_allclose(fit.se[shared], rest.se[shared], rtol=CLOSE)
    np.testing.assert_allclose(
        fit.params[slopes], rest.params["x3a"] * np.array([1.0, -1.0, -1.0]), atol=CLOSE
    )
    np.testing.assert_allclose(fit.se[slopes], rest.se["x3a"], rtol=CLOSE)


def two_groups(seed: int) -> pd.DataFrame:
    """Group b has the lower two of three levels."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=120)
    group = np.repeat(["a", "b"], [80, 40])
    y = np.digitize(0.8 * x + rng.logistic(size=120), [-1.0, 0.5])
    return pd.DataFrame(
        {"x": x, "g": group, "y": np.where(group == "b", y.clip(0, 1), y)}
    )


@pytest.mark.parametrize("link", ["logit", "probit"])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_group_at_one_threshold(link: str, seed: int) -> None:
    """Its spread goes to 0: with a slope of its own it is a binary model, its location
    the threshold of the other group, and its slope on that scale 0.
    """
    data = two_groups(seed)
    with no_maximum("scale.g[T.b])."):
        fit = ordfit("y ~ x*g", data, scale="~ g", link=link)
    alone = ordfit("y ~ x", data[data["g"] == "a"], link=link)
    binary = ordfit("y ~ x", data[data["g"] == "b"], link=link)
    assert fit.loglik == pytest.approx(alone.loglik + binary.loglik, abs=1e-8)
    same = ["0|1", "1|2", "x"]
    np.testing.assert_allclose(fit.params[same], alone.params[same], atol=CLOSE)
    np.testing.assert_allclose(fit.se[same], alone.se[same], rtol=CLOSE)
    assert fit.params["g[T.b]"] == pytest.approx(alone.params["0|1"], abs=CLOSE)
    assert fit.se["g[T.b]"] == pytest.approx(alone.se["0|1"], rel=CLOSE)
    assert fit.params["x:g[T.b]"] == pytest.approx(-alone.params["x"], abs=CLOSE)


@pytest.mark.parametrize("link", ["logit", "cloglog"])
@pytest.mark.parametrize("coding", ["treatment", "sum"])
def test_all_spreads_vanish_beside_a_group_at_the_ends(link: str, coding: str) -> None:
    """The model is saturated: probabilities are shares, with binomial errors."""
    counts = {"A": [12, 0, 7], "B": [10, 14, 9], "C": [3, 4, 2], "D": [30, 25, 40]}
    data = pd.concat(
        pd.DataFrame({"g": g, "y": np.repeat(range(3), n)}) for g, n in counts.items()
    )
    with no_maximum():
        fit = ordfit("y ~ g", data, scale="~ g", link=link, contrasts={"g": coding})
    assert fit.se.filter(like="scale").isna().all()
    table = np.array(list(counts.values()))[1:]
    shares = table / table.sum(axis=1, keepdims=True)
    errors = np.sqrt(shares * (1.0 - shares) / table.sum(axis=1, keepdims=True))
    actual = fit.predict(pd.DataFrame({"g": list("BCD")}), type="prob", se=True)
    np.testing.assert_allclose(actual["estimate"], shares, atol=CLOSE)
    np.testing.assert_allclose(actual["std_error"], errors, atol=CLOSE)
    loglik = (table * np.log(shares)).sum() + 12 * np.log(12 / 19) + 7 * np.log(7 / 19)
    assert fit.loglik == pytest.approx(loglik, abs=1e-8)
    if coding == "treatment":  # where group A is divided, on the scale of its spread
        assert fit.se["g[T.B]"] == pytest.approx(fit.se["0|1"], rel=CLOSE)
        binary = ordfit("y ~ 1", data[data["g"] == "A"], link=link)
        assert fit.params["0|1"] == pytest.approx(binary.params.iloc[0], abs=CLOSE)
        assert fit.se["0|1"] == pytest.approx(binary.se.iloc[0], rel=CLOSE)


def test_spreads_that_only_differ_much_have_their_maximum() -> None:
    """A ratio of spreads of e^-5, which the rows of both groups tell; estimates and
    errors are those of R's ordinal.
    """
    rng = np.random.default_rng(5)
    x = rng.normal(size=400)
    g = np.repeat(["a", "b"], 200)
    latent = x + rng.logistic(size=400) * np.where(g == "a", 1.0, np.exp(-5.0))
    data = pd.DataFrame({"x": x, "g": g, "y": np.digitize(latent, [-1.0, 0.0, 1.0])})
    fit = ordfit("y ~ x", data, scale="~ g")
    estimates = [-1.01628270, -0.00137357611, 1.03229392, 1.02898291, -4.14853841]
    errors = [0.0954426716, 0.0135172493, 0.0979532194, 0.0962856584, 0.328944555]
    assert fit.converged
    np.testing.assert_allclose(fit.params, estimates, rtol=1e-7)
    np.testing.assert_allclose(fit.se, errors, rtol=1e-6)

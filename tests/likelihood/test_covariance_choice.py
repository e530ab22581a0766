"""Fewer than 20 clusters: CR2 with Satterthwaite's t, a warning, no margin bounds,
however clusters were given.

R 4.2.2, clubSandwich 0.5.8, on the glm of test_cr2.py, clusters of
4 judges:
    coef_test(g, vcov = vcovCR(g, cluster = as.integer(wine$judge) %% 4, type = "CR2"),
    test = "Satterthwaite")
"""

import warnings

import numpy as np
import pandas as pd
import pytest
from reference_cases import load_data
from scipy import stats
from scipy.special import expit

from ordstat import ConvergenceWarning, DataWarning, SurveyDesign, ordfit

BY_R = {
    "std_error": [0.16359725666231, 0.60582318956092, 0.55296953285200],
    "df": [2.8802096368097, 2.8954322066715, 2.9011077185544],
    "p_value": [0.0015397372677508, 0.1290882045815279, 0.9483835536565114],
}
LARGE_BY_R = {
    "std_error": [0.011308890013386, 0.034653949282963],
    "df": [3.0012326822304, 3.0010297188640],
    "p_value": [3.3509891933379e-06, 3.1158655635891e-01],
}
WAYS = {
    "cluster": lambda d, g, **kw: ordfit("y ~ x", d, cluster=g, **kw),
    "vcov": lambda d, g, **kw: ordfit("y ~ x", d, vcov={"cluster": g}, **kw),
    "with_vcov": lambda d, g, **kw: ordfit("y ~ x", d, **kw).with_vcov({"cluster": g}),
    "update": lambda d, g, **kw: ordfit("y ~ 1", d, cluster=g, **kw).update("~ x"),
}
PLAIN = {"cluster": "g", "type": "CR1"}


def rows(clusters: int, seed: int, n: int = 120) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    d = pd.DataFrame({"x": rng.normal(size=n), "g": np.arange(n) % clusters})
    return d.assign(y=np.digitize(d["x"] + rng.logistic(size=n), [-1.0, 1.0]), w=1.0)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("way", WAYS)
def test_few_clusters_warn_and_use_cr2(way, seed):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        few = WAYS[way](rows(4, seed), "g")
    assert {one.category for one in caught} == {DataWarning} and len(caught) == 1 + (
        way == "update"
    )
    assert str(caught[-1].message).startswith(
        "4 clusters are few"
    ) and "'type': 'CR1'" in str(caught[-1].message)
    assert "4 clusters are few" in str(
        few.summary()
    ) and "CR2, t by Satterthwaite, 4 clusters" in str(few.summary())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        enough = WAYS[way](rows(20, seed), "g")
        asked = ordfit("y ~ x", rows(4, seed), vcov={"cluster": "g", "type": "CR2"})
    pd.testing.assert_frame_equal(few.tidy(), asked.tidy())
    assert "df" not in enough.tidy() and enough.covariance == "cluster"
    for fit in (few, enough):
        assert (
            fit.bounds().empty
            and "these come in clusters" in fit.bounds().attrs["notes"][0]
        )
        assert "Wald" in str(fit.summary())


def test_against_clubsandwich():
    wine = load_data("wine").assign(x=np.arange(1, 73) % 7 / 3)
    data = wine.assign(
        y=(wine["response"] > 45).astype(int), g=(wine["judge"].cat.codes + 1) % 4
    )
    table = ordfit("y ~ temp + contact + x", data, cluster="g").tidy().iloc[1:]
    for name, expected in BY_R.items():
        np.testing.assert_allclose(table[name], expected, rtol=1e-6)


@pytest.mark.parametrize("way", ["cluster", "with_vcov"])
def test_the_plain_sandwich_by_name(way):
    d = rows(4, 0)
    with pytest.warns(
        DataWarning,
        match=(
            r"4 clusters are few .* too small\. Use \{'cluster': \.\.\., 'type':"
            r" 'CR2'\}"
        ),
    ):
        plain = (
            ordfit("y ~ x", d, vcov=PLAIN)
            if way == "cluster"
            else ordfit("y ~ x", d).with_vcov(PLAIN)
        )
    z = plain.params / plain.se
    np.testing.assert_allclose(plain.p_values, 2 * stats.norm.sf(z.abs()), rtol=1e-10)
    assert plain.update("~ x + I(x**2)").covariance == "cluster"


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"penalty": 1.0}, "penalised fits"),
        ({"design": SurveyDesign(weights="w", clusters="g")}, "survey designs"),
    ],
)
def test_where_cr2_cannot_be_had(options, why):
    """The plain sandwich, by t with G - 1 degrees of freedom."""
    d = rows(4, 0)
    with pytest.warns(
        DataWarning,
        match=rf"4 clusters are few .* too small, though t has 3 df.* for {why}\. \w+",
    ):
        fit = (
            ordfit("y ~ x", d, **options)
            if "design" in options
            else ordfit("y ~ x", d, cluster="g", **options)
        )
    np.testing.assert_allclose(
        fit.p_values, 2 * stats.t.sf((fit.params / fit.se).abs(), 3), rtol=1e-10
    )
    half = stats.t.ppf(0.975, 3) * fit.se
    np.testing.assert_allclose(fit.confint()["upper"], fit.params + half, rtol=1e-10)
    assert "fits with random effects" in str(
        ordfit("y ~ x + (1 | g)", d, cluster="g").summary()
    )


def test_large_clusters_against_clubsandwich():
    """600 rows each, of glm(y ~ x + z, binomial)."""
    i = np.arange(2400)
    x = np.sin(i)
    g = i % 4
    d = pd.DataFrame(
        {
            "x": x,
            "z": 7 * i % 11 / 5,
            "g": g,
            "y": (17 * i % 101 / 101 < expit(x - 0.4 * g)) + 0,
        }
    )
    table = ordfit("y ~ x + z", d, cluster="g").tidy().iloc[1:]
    for name, expected in LARGE_BY_R.items():
        np.testing.assert_allclose(table[name], expected, rtol=1e-6)


@pytest.mark.parametrize("first", ["a", "b"])
def test_robust_errors_where_spreads_diverge_keep_their_digits(first: str) -> None:
    """Every group has its own shares, whose sandwich is the model's covariance; a
    survey of n units has n / (n - 1) times that.
    """
    counts = {"a": [7, 8, 5], "b": [9, 0, 11], "c": [5, 9, 4]}
    rows = [(g, y) for g, n in counts.items() for y in range(3) for _ in range(n[y])]
    data = pd.DataFrame(rows, columns=["g", "y"]).assign(w=1.0)
    levels = sorted(counts, key=lambda level: level != first)
    data["g"] = pd.Categorical(data["g"], levels)
    with pytest.warns(ConvergenceWarning):
        survey = ordfit("y ~ g", data, scale="~ g", design=SurveyDesign(weights="w"))
    expected = {}
    for g, n in counts.items():
        mean = np.average(range(3), weights=n)
        expected[g] = np.average((np.arange(3) - mean) ** 2, weights=n) / sum(n)
    variances = [expected[first] + expected[g] for g in levels if g != first]
    errors = survey.marginal_effects("g", scale="mean").frame["std_error"]
    units = len(data) / (len(data) - 1)
    np.testing.assert_allclose(errors**2, np.multiply(variances, units), rtol=1e-3)
    with pytest.warns(ConvergenceWarning):
        robust = ordfit("y ~ g", data, scale="~ g", vcov="HC0")
    errors = robust.marginal_effects("g", scale="mean").frame["std_error"]
    np.testing.assert_allclose(errors**2, variances, rtol=1e-3)

"""Rows whose thresholds cross under nominal effects: never without a word, and an error
where asked for.
"""

import warnings

import numpy as np
import pandas as pd
import pytest
from expected import no_option, refused
from scipy.special import expit

from ordstat import DataError, ordfit
from ordstat.exceptions import DataWarning

RNG = np.random.default_rng(0)
X = RNG.normal(size=600)
Y = np.digitize(X + np.exp(0.7 * X) * RNG.logistic(size=600), [-1, 0, 1]) + 1
DATA = pd.DataFrame({"x": X, "y": Y}, index=[f"r{i}" for i in range(600)])
NEW = pd.DataFrame({"x": [0.0, 3.0, np.nan, 4.0]}, index=list("abcd"))


def _fit(data=DATA, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return ordfit("y ~ 1", data, nominal="~ x", **options)


def _negative(fit, x):
    """Rows with a negative probability, by the formula of the model."""
    theta, slope = np.split(fit.params.to_numpy(), 2)
    return np.flatnonzero(
        (np.diff(expit(theta + slope * np.asarray(x)[:, None]), axis=1) < 0).any(axis=1)
    )


def test_the_fit_says_which_of_its_rows_cross():
    crossed = _negative(_fit(), X)
    assert 1 < crossed.size <= 5
    names = ", ".join(f"r{i}" for i in crossed)
    with pytest.warns(
        DataWarning,
        match=rf"thresholds of {crossed.size} of 600 rows of the fit \(rows {names}\)",
    ):
        fit = ordfit("y ~ 1", DATA, nominal="~ x")
    assert "out of order" in " ".join(str(fit.summary()).split())
    with pytest.raises(DataError, match=r"600 rows of the fit \(rows r"):
        ordfit("y ~ 1", DATA, nominal="~ x", crossing="raise")


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (
            lambda fit: fit.predict(NEW, type="prob"),
            r"2 of 3 rows of newdata \(rows b, d\)",
        ),
        (lambda fit: fit.predict(NEW), "2 of 3 rows of newdata"),
        (lambda fit: fit.predict(NEW, type="mean", se=True), "2 of 3 rows of newdata"),
        (lambda fit: fit.predict(NEW, cost="absolute"), "2 of 3 rows of newdata"),
        (lambda fit: fit.predict(type="cum_prob"), "of 600 rows of the fit"),
        (lambda fit: fit.augment(DATA), "of 600 rows of newdata"),
        (lambda fit: fit.errors(DATA), "of 600 rows of newdata"),
        (lambda fit: fit.errors(cv=3), "of 600 held-out rows out of order"),
        (
            lambda fit: fit.emmeans("x", scale="prob", at={"x": [0.0, 4.0]}),
            "1 of 2 rows averaged over",
        ),
        (lambda fit: fit.marginal_effects("x").frame, "rows averaged over"),
        (lambda fit: fit.plot.stacked("x", draw=False), "rows averaged over"),
    ],
)
def test_what_shows_probabilities_says_so(asked, words):
    fit = _fit()
    with pytest.warns(DataWarning, match=words) as caught:
        asked(fit)
    assert {one.filename for one in caught} == {__file__}


def test_raise_refuses_new_rows_alone_where_the_fit_is_in_order():
    inner = DATA[(DATA["x"] > -1) & (DATA["x"] < 1)]
    fit = ordfit("y ~ 1", inner, nominal="~ x", crossing="raise")
    crossed = _negative(fit, X)
    names = ", ".join(f"r{i}" for i in crossed[:5])
    with pytest.raises(DataError, match=rf"rows {names}\)"):
        fit.predict(DATA)
    assert (fit.predict(inner, type="prob") >= 0).all(axis=None)
    np.testing.assert_array_equal(
        fit.params, ordfit("y ~ 1", inner, nominal="~ x").params
    )


def test_nothing_is_said_without_need():
    wine_like = ordfit("y ~ x", DATA)
    wine_like.predict(NEW, type="prob")
    # adjacent categories have no order of thresholds to keep
    with_order = _fit(method="acat")
    with_order.predict(NEW, type="prob")
    with refused("crossing of CumulativeLink"):
        ordfit("y ~ x", DATA, crossing="ignore")
    with no_option("crossing"):
        ordfit("y ~ x", DATA, "acat", crossing="raise")


def test_rows_without_weight_are_no_rows():
    """Level v of h was seen with a alone, and a row of b and v is out of order."""
    rng = np.random.default_rng(5)
    data = pd.DataFrame(
        {
            "g": rng.choice(["a", "b"], 600),
            "h": rng.choice(["u", "v"], 600),
            "x": rng.normal(size=600),
        }
    )
    data = data[(data["g"] == "a") | (data["h"] == "u")].reset_index(drop=True)
    shares = {
        ("a", "u"): [0.3, 0.4, 0.3],
        ("b", "u"): [0.45, 0.1, 0.45],
        ("a", "v"): [0.45, 0.1, 0.45],
    }
    data["y"] = [
        rng.choice(3, p=shares[pair]) for pair in zip(data["g"], data["h"], strict=True)
    ]
    fit = ordfit("y ~ x", data, nominal="~ g + h", crossing="raise")
    corner = pd.DataFrame({"g": ["b"], "h": ["v"], "x": [0.0], "y": [1]})
    new = pd.concat([data.head(5), corner], ignore_index=True)
    weights = [
        1,
        1,
        1,
        1,
        1,
        0,
    ]
    expected = fit.marginal_effects("x", scale="mean", newdata=data.head(5)).frame
    actual = fit.marginal_effects("x", scale="mean", newdata=new, weights=weights).frame
    np.testing.assert_allclose(actual["estimate"], expected["estimate"], rtol=1e-8)
    np.testing.assert_array_equal(
        fit.confusion(new, weights=weights), fit.confusion(data.head(5))
    )
    assert (
        fit.emmeans("g", scale="prob", weights="cells").frame["estimate"].notna().all()
    )
    assert (
        fit.emtrends("g", "x", scale="prob", weights="cells")
        .frame["estimate"]
        .notna()
        .all()
    )
    both = pd.concat([data, corner], ignore_index=True).assign(w=[1] * len(data) + [0])
    np.testing.assert_allclose(
        ordfit("y ~ x", both, nominal="~ g + h", weights="w", crossing="raise").params,
        fit.params,
        rtol=1e-6,
        atol=1e-8,
    )
    for asked in (
        lambda: fit.marginal_effects("x", newdata=new).frame,
        lambda: fit.errors(new),
        lambda: fit.emmeans("g", scale="prob"),
        lambda: fit.emtrends("g", "x", scale="prob"),
    ):
        with pytest.raises(DataError, match="out of order"):
            asked()


@pytest.mark.parametrize("scale", ["prob", "mean"])
def test_rows_are_named_once(scale):
    """Not at each of the five points of a slope."""
    with pytest.warns(DataWarning) as caught:
        _fit().marginal_effects("x", scale=scale)
    assert len(caught) == 1

"""What a fit with random effects says of doubtful terms, groups and questions."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from problems import ranked
from seams import LikelihoodResults

from ordstat import datasets, ordfit
from ordstat.exceptions import DataError, FormulaError, OptionError, SeparationWarning

WINE = datasets.load("wine")


@pytest.fixture(scope="module")
def fit() -> LikelihoodResults:
    return ordfit("rating ~ temp + contact + (1 | judge)", WINE)


def test_a_deviation_below_its_error_has_a_profile_limit_of_0() -> None:
    data = ranked(np.random.default_rng(2), 120, [-1.0, 1.0])
    data = data.assign(g=np.arange(120) % 12, y=pd.Categorical(data["y"], ordered=True))
    few = ordfit(
        "y ~ x + (1 | g)",
        data.assign(g=np.random.default_rng(3).permutation(data["g"])),
    )
    deviation, error = few.varcorr().iloc[0][["sd", "std_error"]]
    assert 0.1 < deviation < error
    assert few.confint(type="profile").loc["sd_(Intercept)|g", "lower"] == 0.0


@pytest.fixture(scope="module")
def separated() -> tuple[pd.DataFrame, LikelihoodResults]:
    """All rows with one = 1 are of the highest level."""
    rng = np.random.default_rng(5)
    data = pd.DataFrame({"x": rng.normal(size=300), "g": rng.integers(0, 30, 300)})
    latent = data["x"] + 1.2 * rng.normal(size=30)[data["g"]] + rng.logistic(size=300)
    code = np.digitize(latent, [-1.5, 0.0, 1.5])
    data = data.assign(
        y=pd.Categorical(code, ordered=True),
        one=((code == 3) & (rng.random(300) < 0.4)).astype(float),
    )
    with pytest.warns(SeparationWarning) as caught:
        result = ordfit("y ~ one + x + (1 | g)", data)
    text = " ".join(str(one.message) for one in caught)
    assert "merge levels or drop the column" in text and "penalty" not in text
    return data, result


@pytest.mark.parametrize("re", ["zero", "marginal"])
def test_errors_beside_an_infinite_estimate(
    separated: tuple[pd.DataFrame, LikelihoodResults], re: str
) -> None:
    """Rows with the effect have none; the others have those of the fit without the rows
    that are certain.
    """
    data, fit = separated
    plain = ordfit("y ~ x + (1 | g)", data[data["one"] == 0.0])
    new = data.groupby("one").head(3).sort_values("one")
    for type in ("prob", "mean", "score", "linear_predictor"):
        predicted = fit.predict(new, type=type, re=re, se=True, interval="confidence")
        own, lower = (
            predicted[name].to_numpy().reshape(6, -1) for name in ("std_error", "lower")
        )
        assert np.isnan(own[3:]).any(axis=1).all()
        np.testing.assert_array_equal(np.isnan(own), np.isnan(lower))
        expected = (
            plain.predict(new.iloc[:3], type=type, re=re, se=True)["std_error"]
            .to_numpy()
            .reshape(3, -1)
        )
        np.testing.assert_allclose(own[:3], expected, rtol=1e-3)


def test_covariance_beside_an_infinite_estimate(
    separated: tuple[pd.DataFrame, LikelihoodResults],
) -> None:
    data, fit = separated
    plain = ordfit("y ~ x + (1 | g)", data[data["one"] == 0.0]).vcov()
    own = fit.vcov()
    assert own.loc["one"].isna().all() and own["one"].isna().all()
    np.testing.assert_allclose(
        own.drop(index="one", columns="one"), plain, rtol=1e-3, atol=1e-5
    )


@pytest.mark.parametrize(
    ("term", "column"),
    [
        ("(x + I(2*x) | g)", r"I\(2\*x\)"),
        ("(x + I(2*x) || g)", r"I\(2\*x\)"),
        ("(x + z + I(x+z) | g)", r"I\(x\+z\)"),
        ("(1 + I(0*x) | g)", r"I\(0\*x\)"),
    ],
)
def test_columns_that_follow_from_others(term: str, column: str) -> None:
    rng = np.random.default_rng(1)
    data = pd.DataFrame(
        {
            "x": rng.normal(size=200),
            "z": rng.normal(size=200),
            "g": rng.integers(0, 10, 200),
        }
    )
    data["y"] = rng.integers(0, 3, 200)
    with pytest.raises(
        FormulaError,
        match=f"The column '{column}' of .* its variance is not identified",
    ):
        ordfit(f"y ~ x + {term}", data)


ODD = {
    "se": (
        lambda fit: fit.predict(type="prob", se="no"),
        "se must be True or False; got 'no'",
    ),
    "level": (
        lambda fit: fit.summary(level="x"),
        "level must be a number strictly between 0 and 1; got 'x'",
    ),
    "labels": (lambda fit: fit.summary(labels=3), "labels must be a mapping such as"),
    "statistic": (
        lambda fit: fit.bootstrap(2, statistic=3),
        "statistic must be a function; got 3",
    ),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_options_are_refused_by_name(fit: LikelihoodResults, name: str) -> None:
    call, message = ODD[name]
    with pytest.raises(OptionError, match=re.escape(message)):
        call(fit)


@pytest.mark.parametrize(
    ("kind", "formula"),
    [
        ("one", "y ~ x + g + (1 | id)"),
        ("ends", "y ~ x + (1 | id)"),
        ("ends", "y ~ x + g + (1 | id)"),
        ("end", "y ~ x + g + (1 | id)"),
    ],
)
@pytest.mark.filterwarnings("ignore::ordstat.exceptions.OrdstatWarning")
def test_spreads_that_diverge_are_refused(kind: str, formula: str) -> None:
    """A group in one level or at both ends of the scale: a spread of 15.6 with p = .03
    was shown as converged.
    """
    data = spread_apart(kind, 7)
    with pytest.raises(DataError, match=r"(?s)spread.*without random effects names it"):
        ordfit(formula, data, scale="~ g")
    ordfit(formula, data)


def spread_apart(kind: str, seed: int) -> pd.DataFrame:
    """Group c has one inner level, the lowest one, or both ends of the scale."""
    rng = np.random.default_rng(seed)
    n = 120
    data = pd.DataFrame(
        {
            "g": rng.choice(list("abc"), n),
            "x": rng.normal(size=n),
            "id": rng.integers(0, 12, n),
        }
    )
    latent = 0.7 * data["x"] + rng.logistic(size=n)
    y = np.digitize(latent, [-1.2, 1.2])
    of_c = {"one": np.ones(n), "end": np.zeros(n), "ends": 2 * (latent > 0.0)}
    data["y"] = np.where(data["g"] == "c", of_c[kind], y).astype(int)
    return data

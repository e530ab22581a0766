"""Sandwich covariances against differences of the likelihood written out, and
statsmodels.
"""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from expected import no_column
from reference_cases import load_data

from benchmarks.walk import data_set
from likelihood.dense import Dense
from ordstat import ordfit
from ordstat.exceptions import DataError, OptionError, OrdstatWarning

MODELS = {
    "location": ("rating ~ temp + contact", {}),
    "probit, weights": (
        "rating ~ temp + contact",
        {"method": "probit", "weights": 1 + np.arange(72) % 2},
    ),
    "nominal and scale": ("rating ~ temp", {"nominal": "~ contact", "scale": "~ temp"}),
}
CR1 = {"cluster": "judge", "type": "CR1"}


@pytest.mark.parametrize("name", MODELS)
def test_sandwiches_by_differences(name):
    formula, arguments = MODELS[name]
    wine = load_data("wine")
    fit = ordfit(formula, data=wine, **arguments)
    dense = Dense.of(fit)
    point = fit.params.to_numpy()
    weights = np.ones(72) if dense.weights is None else dense.weights
    U = dense.scores(point)
    bread = np.linalg.inv(dense.information(point))
    rows = bread @ (U.T * weights) @ U @ bread
    sums = np.array(
        [
            weights[wine["judge"] == j] @ U[wine["judge"] == j]
            for j in wine["judge"].cat.categories
        ]
    )
    clusters = 9 / 8 * bread @ sums.T @ sums @ bread
    n = weights.sum()
    p = point.size
    expected = {"HC0": rows, "HC1": n / (n - p) * rows, "judge": clusters}
    for choice, matrix in expected.items():
        robust = fit.with_vcov(choice if choice != "judge" else CR1)
        size = np.sqrt(np.outer(np.diag(matrix), np.diag(matrix)))
        assert np.abs((robust.vcov() - matrix) / size).to_numpy().max() < 1e-5
        np.testing.assert_allclose(robust.se, np.sqrt(np.diag(matrix)), rtol=1e-5)


@pytest.mark.parametrize("kind", ["HC0", "HC1", "cluster"])
def test_two_levels_against_statsmodels(kind):
    data = load_data("two")
    groups = np.arange(200) % 20
    fit = ordfit(
        "yb ~ x1 + x2",
        data=data,
        vcov=kind if kind != "cluster" else {"cluster": groups},
    )
    X = sm.add_constant(data[["x1", "x2"]].to_numpy())
    y = (data["yb"].cat.codes == 1).astype(int).to_numpy()
    if kind == "cluster":
        how = {
            "cov_type": "cluster",
            "cov_kwds": {"groups": groups, "use_correction": False},
        }
    else:  # statsmodels has no HC1 but that of HC0 for models that are not linear
        how = {"cov_type": "HC0"}
    factor = {"HC0": 1.0, "HC1": np.sqrt(200 / 197), "cluster": np.sqrt(20 / 19)}[kind]
    expected = factor * sm.Logit(y, X).fit(disp=False, tol=1e-12, **how).bse
    np.testing.assert_allclose(fit.se.to_numpy()[1:], expected[1:], rtol=1e-6)
    np.testing.assert_allclose(fit.se.iloc[0], expected[0], rtol=1e-6)


def test_the_choice_reaches_every_table():
    wine = load_data("wine")
    plain = ordfit("rating ~ temp + contact", data=wine)
    ways = [
        ordfit("rating ~ temp + contact", data=wine, vcov=CR1),
        ordfit("rating ~ temp + contact", data=wine, cluster="judge", vcov="cluster"),
        plain.with_vcov(CR1),
        plain.with_vcov({"cluster": wine["judge"], "type": "CR1"}),
    ]
    V = plain.vcov(CR1)
    for fit in ways:
        pd.testing.assert_frame_equal(fit.vcov(), V)
        np.testing.assert_allclose(fit.se, np.sqrt(np.diag(V)))
        np.testing.assert_allclose(fit.tidy()["std_error"], fit.se)
        half = (fit.confint()["upper"] - fit.confint()["lower"]) / 2
        np.testing.assert_allclose(half, 1.959963984540054 * fit.se)
        assert fit.covariance == "cluster" and "cluster-robust, 9 clusters" in str(
            fit.summary()
        )
        assert fit.vcov("model").equals(plain.vcov())
    assert "HC0 sandwich" in str(plain.with_vcov("HC0").summary())
    assert "observed information" in str(ways[1].with_vcov("model").summary())


@pytest.mark.filterwarnings("ignore::ordstat.exceptions.SeparationWarning")
def test_finite_estimates_keep_theirs_under_separation():
    fit = ordfit("y ~ x + z", data=load_data("sep"), vcov="HC0")
    assert np.isnan(fit.se["z"]) and np.isfinite(fit.se.drop("z")).all()
    data = load_data("sep")
    # the separated rows say nothing more
    limit = ordfit("y ~ x", data=data[data["z"] == 0], vcov="HC0")
    np.testing.assert_allclose(fit.se.drop("z"), limit.se, rtol=1e-4)


def test_columns_that_cannot_cluster():
    wine = load_data("wine")
    fit = ordfit(
        "rating ~ temp",
        data=wine.assign(
            club=wine["judge"].where(wine.index > 1).cat.codes.replace(-1, np.nan)
        ),
    )
    with pytest.raises(DataError, match="'club' is missing in 2 of the 72 rows"):
        fit.vcov({"cluster": "club"})
    with no_column("jury"):
        fit.vcov({"cluster": "jury"})


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"vcov": "HC3"}, "'HC0', 'HC1'"),
        ({"vcov": {"groups": "judge"}}, "cluster"),
        ({"vcov": {"cluster": "judge"}, "cluster": "bottle"}, "give one of them"),
        ({"vcov": "HC0", "method": "redsvm"}, "REDSVM has no standard errors"),
        ({"vcov": "cluster"}, "needs ordfit"),
    ],
)
def test_choices_that_cannot_be_made(arguments, match):
    with pytest.raises(OptionError, match=match):
        ordfit("rating ~ temp", data=load_data("wine"), **arguments)


def test_an_information_of_rounding_alone_gives_no_variances():
    """Two of four eigenvalues are 0 to rounding, on units of curvature 1, in a Cauchy
    fit short of its maximum; the warnings say so, and nothing leaks from NumPy.
    """
    frame, options = data_set(24)
    with pytest.warns(OrdstatWarning):
        robust = ordfit(data=frame, method="cauchit", **options).with_vcov("HC1")
    variances = pd.Series(np.diag(robust.vcov()), robust.vcov().index)
    assert variances.isna().all()
    assert robust.se.isna().all()

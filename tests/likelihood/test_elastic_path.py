"""Elastic net paths against scikit-learn, ridge fits and the conditions of an
optimum.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from seams import held_weights
from sklearn.linear_model import LogisticRegression

from ordstat import (
    ConvergenceWarning,
    DataError,
    DataWarning,
    ElasticNet,
    OptionError,
    OrdinalClassifier,
    ordfit,
)
from ordstat.likelihood import elastic_path
from ordstat.likelihood.elastic_path import Scored


def frame_of(n=200, p=8, K=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) @ (np.eye(p) + 0.3)
    X[:, 1] = 100.0 * X[:, 1] + 5.0
    latent = X[:, 0] - 0.01 * X[:, 1] + rng.logistic(size=n)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(p)])
    frame["g"] = rng.choice(list("abcd"), size=n)
    latent = latent + (frame["g"] == "b")
    frame["y"] = pd.qcut(latent, K, labels=False)
    return frame


NUMBERS = "y ~ x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7"
FRAME = frame_of()


def standardised(frame, columns):
    X = frame[columns].to_numpy(dtype=float)
    return (X - X.mean(axis=0)) / X.std(axis=0)


def test_lasso_of_two_levels_is_that_of_scikit_learn():
    frame = frame_of(K=2)
    columns = [f"x{j}" for j in range(8)]
    fit = ordfit(NUMBERS, frame, penalty=ElasticNet(lambdas=0.03))
    Z = standardised(frame, columns)
    model = LogisticRegression(
        l1_ratio=1.0,
        C=1.0 / (0.03 * len(frame)),
        solver="saga",
        tol=1e-12,
        max_iter=50000,
    ).fit(Z, frame["y"])
    sd = frame[columns].std(ddof=0).to_numpy()
    np.testing.assert_allclose(fit.coef.to_numpy() * sd, model.coef_[0], atol=1e-6)


@pytest.mark.parametrize("method", ["clm", "acat", "cratio", "sratio"])
@pytest.mark.parametrize("link", ["logit", "probit", "cloglog", "loglog", "cauchit"])
def test_ridge_is_that_of_a_penalty_of_n_lambda(method, link):
    net = ElasticNet(l1_ratio=0.0, lambdas=[1.0, 0.05])
    options = {"method": method, "link": link}
    fit = ordfit(NUMBERS, FRAME, penalty=net, **options)
    plain = ordfit(NUMBERS, FRAME, penalty=0.05 * len(FRAME), **options)
    np.testing.assert_allclose(fit.at(0.05).params, plain.params, rtol=1e-6, atol=1e-7)
    assert fit.at(0.05).loglik == pytest.approx(plain.loglik, abs=1e-6)


def test_a_factor_enters_whole_whatever_its_coding():
    net = ElasticNet(lambdas=[0.1, 0.03, 0.01])
    fit = ordfit("y ~ x0 + C(g)", FRAME, penalty=net)
    again = ordfit("y ~ x0 + C(g, Treatment('c'))", FRAME, penalty=net)
    np.testing.assert_allclose(fit.path["loglik"], again.path["loglik"], atol=1e-7)
    entered = fit.path_coef.filter(like="g").to_numpy() != 0.0
    assert not entered[0].any() and entered[-1].all()
    assert (entered.all(axis=1) | ~entered.any(axis=1)).all()
    one_by_one = ordfit("y ~ x0 + C(g)", FRAME, penalty=ElasticNet(groups=False))
    entered = one_by_one.path_coef.filter(like="g").to_numpy() != 0.0
    assert (entered.any(axis=1) & ~entered.all(axis=1)).any()


def test_conditions_of_a_group_lasso_from_the_likelihood_alone():
    """||g_g|| = lambda sqrt(p_g) along b_g on orthonormal columns, by differences."""
    lam = 0.03
    fit = ordfit("y ~ x0 + C(g)", FRAME, penalty=ElasticNet(lambdas=lam))
    dummies = pd.get_dummies(FRAME["g"]).to_numpy(dtype=float)[:, 1:]
    centred = dummies - dummies.mean(axis=0)
    q, r = np.linalg.qr(centred)
    basis = q * np.sqrt(len(FRAME))
    theta = fit.thresholds.to_numpy()
    rest = fit.coef["x0"] * FRAME["x0"].to_numpy()
    b = (r / np.sqrt(len(FRAME))) @ fit.coef.to_numpy()[1:]
    shift = dummies.mean(axis=0) @ fit.coef.to_numpy()[1:]
    y = FRAME["y"].to_numpy()

    def loglik(at):
        eta = theta[None, :] - (basis @ at + shift + rest)[:, None]
        below = np.column_stack(
            [np.zeros(len(y)), 1 / (1 + np.exp(-eta)), np.ones(len(y))]
        )
        return np.log(np.diff(below, axis=1)[np.arange(len(y)), y]).mean()

    step = 1e-5
    slope = [
        (loglik(b + step * unit) - loglik(b - step * unit)) / (2 * step)
        for unit in np.eye(3)
    ]
    expected = lam * np.sqrt(3.0) * b / np.linalg.norm(b)
    np.testing.assert_allclose(slope, expected, atol=1e-8)


def test_effects_on_all_thresholds_enter_together():
    frame = frame_of(n=400)
    frame["y"] = np.where(frame["x2"] > 0.0, frame["y"], np.minimum(frame["y"], 2))
    net = ElasticNet(n_lambdas=30)
    fit = ordfit(
        "y ~ x0 + x2 + x3",
        frame,
        nominal="~ x0 + x2 + x3",
        method="cratio",
        penalty=net,
    )
    own = fit.path_coef.to_numpy()[:, 3:12]
    used = own.reshape(len(own), 3, 3) != 0.0
    assert (used.all(axis=2) == used.any(axis=2)).all()
    first = used.any(axis=2).argmax(axis=0)
    entered = used.any(axis=2).any(axis=0)
    assert entered[1] and first[1] == first[entered].min()


def test_factors_of_0_are_not_penalised():
    net = ElasticNet(factors={"x0": 0, "C(g)": 0}, lambdas=10.0)
    fit = ordfit("y ~ x0 + x1 + x2 + C(g)", FRAME, penalty=net)
    plain = ordfit("y ~ x0 + C(g)", FRAME)
    assert fit.coef["x1"] == 0.0 and fit.coef["x2"] == 0.0
    np.testing.assert_allclose(
        fit.coef[plain.coef.index], plain.coef, rtol=1e-6, atol=1e-7
    )
    assert fit.edf == plain.edf


def test_weights_are_rows():
    weights = np.random.default_rng(5).integers(0, 3, len(FRAME))
    repeated = FRAME.loc[FRAME.index.repeat(weights)]
    net = ElasticNet(lambdas=[0.1, 0.02])
    one = ordfit("y ~ x0 + x1 + x3 + C(g)", FRAME, weights=weights, penalty=net)
    other = ordfit("y ~ x0 + x1 + x3 + C(g)", repeated, penalty=net)
    np.testing.assert_allclose(one.path_coef, other.path_coef, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(one.path["bic"], other.path["bic"], atol=1e-5)


def test_signs_are_kept():
    net = ElasticNet(n_lambdas=30)
    free = ordfit(NUMBERS, FRAME, penalty=net)
    assert (free.path_coef["x1"] < 0.0).any()
    signs = {"x1": "+", "x0": "+"}
    fit = ordfit(NUMBERS, FRAME, penalty=net, constraints=signs)
    assert (fit.path_coef["x1"] >= 0.0).all() and fit.coef["x0"] > 0.0
    assert (fit.path["kkt"] <= 1e-7).all()
    without = ordfit(
        "y ~ x0 + x2 + x3 + x4 + x5 + x6 + x7", FRAME, penalty=ElasticNet(lambdas=0.02)
    )
    held = ordfit(NUMBERS, FRAME, penalty=ElasticNet(lambdas=0.02), constraints=signs)
    np.testing.assert_allclose(held.coef.drop("x1"), without.coef, rtol=1e-5, atol=1e-7)


def test_more_columns_than_rows_and_a_constant_one():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.normal(size=(40, 60))).add_prefix("z")
    frame["c"] = 1.0
    frame["y"] = pd.qcut(frame["z0"] + rng.normal(size=40), 3, labels=False)
    with pytest.warns(DataWarning, match="constant"):
        fit = ordfit("y ~ .", frame, penalty=ElasticNet(n_lambdas=20))
    assert (fit.path["kkt"] <= 1e-7).all()
    assert np.isnan(fit.coef["c"]) and fit.coef.drop("c").notna().all()
    frame = frame.drop(columns="c")
    ridge = ordfit("y ~ .", frame, penalty=ElasticNet(l1_ratio=0.0, lambdas=0.1))
    plain = ordfit("y ~ .", frame, penalty=4.0)
    np.testing.assert_allclose(ridge.coef, plain.coef, rtol=1e-6, atol=1e-9)


def test_a_wide_lasso_is_that_of_its_selected_columns():
    """Fewer columns than rows take another pass over the rows; lambda is the last of a
    path.
    """
    rng = np.random.default_rng(8)
    frame = pd.DataFrame(rng.normal(size=(40, 60)) + 5.0).add_prefix("z")
    latent = frame["z0"] + rng.normal(size=40)
    frame["y"] = pd.qcut(latent, 3, labels=False)
    frame["o"] = 0.3 * rng.normal(size=40)
    weights = np.resize([1.0, 2.0], 40)
    columns = [f"z{j}" for j in range(60)]
    formula = "y ~ {} + offset(o)".format
    net = ElasticNet(lambdas=[0.2, 0.15, 0.1], choose=0.1)
    wide = ordfit(formula(" + ".join(columns)), frame, penalty=net, weights=weights)
    selected = wide.selected
    assert 5 < len(selected) < 40
    few = ordfit(formula(" + ".join(selected)), frame, penalty=net, weights=weights)
    np.testing.assert_allclose(wide.coef[selected], few.coef, atol=1e-6)
    assert wide.loglik == pytest.approx(few.loglik, rel=1e-8)


def test_a_wide_ridge_is_that_of_rows_for_columns():
    """It is solved in a basis of the rows: lambdas, certificate, degrees of freedom and
    counts are those of the columns.
    """
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.normal(size=(40, 60)) + 5.0).add_prefix("z")
    frame["c"] = 1.0
    frame["y"] = pd.qcut(frame["z0"] + rng.normal(size=40), 3, labels=False)
    net = ElasticNet(l1_ratio=0.0, n_lambdas=10)
    with pytest.warns(DataWarning, match="constant"):
        wide = ordfit("y ~ .", frame, penalty=net)
    lasso = ordfit("y ~ .", frame.drop(columns="c"), penalty=ElasticNet())
    first = 1000.0 * lasso.path["lambda"].iloc[0]
    assert wide.path["lambda"].iloc[0] == pytest.approx(first, rel=1e-9)
    assert (wide.path["kkt"] <= 1e-7).all() and (wide.path["nonzero"] == 60).all()
    assert np.isnan(wide.coef["c"]) and wide.coef.drop("c").notna().all()
    # a tiny effect of one column on its own keeps all columns apart
    apart = ElasticNet(l1_ratio=0.0, lambdas=wide.path["lambda"], factors={"z1": 1.001})
    columns = ordfit("y ~ .", frame.drop(columns="c"), penalty=apart)
    np.testing.assert_allclose(wide.path["df"], columns.path["df"], rtol=1e-3)
    np.testing.assert_allclose(wide.path["loglik"], columns.path["loglik"], rtol=1e-5)


@pytest.mark.parametrize("l1_ratio", [0.0, 0.5, 1.0])
def test_very_many_columns_are_those_that_vary(l1_ratio):
    rng = np.random.default_rng(3)
    n, p = 40, 5_200
    X = np.zeros((n, p))
    varies = rng.choice(p, 60, replace=False)
    X[:, varies] = rng.standard_normal((n, 60))
    y = np.arange(n) % 3
    net = ElasticNet(l1_ratio=l1_ratio, lambdas=0.1)
    with pytest.warns(DataWarning, match="and 5120 more"):
        fit = OrdinalClassifier("logit", penalty=net).fit(X, y).results_
    few = OrdinalClassifier("logit", penalty=net).fit(X[:, varies], y).results_
    np.testing.assert_allclose(fit.coef.to_numpy()[varies], few.coef, atol=1e-6)
    assert fit.path["gap"].max() < 1e-6


def test_a_single_ridge_names_the_path_that_takes_very_many_columns():
    X = np.random.default_rng(4).standard_normal((20, 5_001))
    with pytest.raises(DataError, match=r"ElasticNet\(l1_ratio=0, lambdas=0\.1\)"):
        OrdinalClassifier("logit", penalty=2.0).fit(X, np.arange(20) % 3)


def test_folds_standardise_their_own_columns():
    """The score of a fold is that of the path of its training rows."""
    lambdas = [0.1, 0.03]
    net = ElasticNet(lambdas=lambdas, cv=4)
    fit = ordfit(NUMBERS, FRAME, penalty=net, seed=3)
    X = fit.design.sample.X
    y = FRAME["y"].to_numpy()
    rng = np.random.default_rng(3)
    held = held_weights(X, y, np.ones(len(y)), 4, rng)
    for fold, out in enumerate(held):
        train = ordfit(NUMBERS, FRAME[out == 0.0], penalty=ElasticNet(lambdas=lambdas))
        test = FRAME[out > 0.0]
        for lam in lambdas:
            p = train.at(lam).predict(test, type="prob").to_numpy()
            loss = -np.log(p[np.arange(len(test)), test["y"]]).mean()
            assert fit.cv_scores.loc[lam, fold + 1] == pytest.approx(loss, abs=1e-8)
    mean = fit.cv_scores.mean(axis=1).to_numpy()
    error = fit.cv_scores.std(axis=1, ddof=1).to_numpy() / 2.0
    np.testing.assert_allclose(fit.path["cv_mean"], mean, atol=1e-12)
    np.testing.assert_allclose(fit.path["cv_error"], error, atol=1e-12)


def test_the_rule_of_one_standard_error():
    fit = ordfit(NUMBERS, FRAME, penalty=ElasticNet(cv=5, n_lambdas=15))
    path = fit.path
    best = path["cv_mean"].idxmin()
    limit = path["cv_mean"][best] + path["cv_error"][best]
    allowed = path["lambda"][path["cv_mean"] <= limit]
    assert fit.lambda_min == path["lambda"][best]
    assert fit.lambda_1se == fit.lambda_ == allowed.max()
    again = ordfit(NUMBERS, FRAME, penalty=ElasticNet(cv=5, n_lambdas=15, n_jobs=2))
    np.testing.assert_array_equal(again.cv_scores, fit.cv_scores)


def test_criteria_of_the_path():
    fit = ordfit(NUMBERS, FRAME, penalty=ElasticNet(n_lambdas=20))
    path = fit.path
    deviance = -2.0 * path["loglik"]
    np.testing.assert_allclose(path["aic"], deviance + 2.0 * path["df"])
    np.testing.assert_allclose(path["bic"], deviance + np.log(200) * path["df"])
    np.testing.assert_array_equal(path["df"], path["nonzero"] + 3.0)
    models = {0: 1.0, 1: 8.0, 2: 28.0, 3: 56.0, 8: 1.0}
    for k, count in models.items():
        rows = path[path["nonzero"] == k]
        np.testing.assert_allclose(rows["ebic"], rows["bic"] + np.log(count))
    assert fit.lambda_ == path["lambda"][path["bic"].idxmin()]


def test_unpenalised_columns_must_be_determined():
    frame = FRAME.assign(twice=2.0 * FRAME["x0"])
    net = ElasticNet(factors={"x0": 0, "twice": 0})
    with pytest.raises(DataError, match="factor 0"):
        ordfit("y ~ x0 + twice + x2", frame, penalty=net)
    with pytest.raises(DataError, match="penalised column"):
        ordfit("y ~ x0", frame, penalty=ElasticNet(factors={"x0": 0}))


def test_signs_of_columns_in_a_group_are_refused():
    with pytest.raises(OptionError, match="groups=False"):
        ordfit("y ~ g", FRAME, penalty=ElasticNet(), constraints={"g[T.b]": "+"})


def test_scores_that_are_infinite_at_every_lambda_choose_none():
    scored = Scored(scores=np.full((3, 4), np.inf), weights=np.ones(3), residual=0.0)
    for rule in ("min", "1se"):
        with pytest.raises(DataError, match="must be finite at some lambda"):
            scored.chosen(rule)


@pytest.mark.parametrize("l1_ratio", [1.0, 0.5, 0.0])
@pytest.mark.parametrize(
    "given",
    [{"method": "logit"}, {"method": "probit"}, {"method": "acat"}]
    + [{"method": "cratio", "nominal": "~ x0"}],
)
def test_the_duality_gap_bounds_the_distance_from_the_minimum(
    given, l1_ratio, monkeypatch
):
    frame = frame_of(K=4)
    net = ElasticNet(l1_ratio=l1_ratio, groups=False, lambdas=[0.1, 0.05, 0.01])

    def objectives(fit):
        unit = fit.path_coef[fit.coef.index] * fit.column_deviations
        lam = fit.path["lambda"].to_numpy()
        sizes = l1_ratio * unit.abs() + (1.0 - l1_ratio) / 2.0 * unit**2
        loss = -fit.path["loglik"].to_numpy() / len(frame)
        return loss + lam * sizes.sum(axis=1).to_numpy()

    least = ordfit("y ~ .", frame, penalty=net, **given)
    assert least.path["gap"].max() < 1e-6
    monkeypatch.setattr(elastic_path, "TOLERANCE", 0.1)
    with pytest.warns(ConvergenceWarning):
        rough = ordfit("y ~ .", frame, penalty=net, **given)
    distance = objectives(rough) / objectives(least) - 1.0
    gap = rough.path["gap"].to_numpy()
    assert distance.max() > 1e-7
    assert (distance <= gap + 1e-12).all()
    assert gap.max() < 0.2


@pytest.mark.parametrize(
    "given",
    [{"link": "cauchit"}, {"offset": "x1"}, {"factors": {"x1": 0.0}}],
    ids=str,
)
def test_without_a_known_point_of_the_dual_problem_there_is_no_gap(given):
    net = ElasticNet(lambdas=[0.05], factors=given.get("factors"))
    offset = given.get("offset")
    formula = "y ~ x0 + x2 + x3" + (f" + offset({offset})" if offset else " + x1")
    fit = ordfit(formula, frame_of(), penalty=net, link=given.get("link", "logit"))
    assert fit.path["gap"].isna().all()
    assert fit.path["kkt"].max() < 1e-7

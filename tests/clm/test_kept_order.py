"""Thresholds kept in order over the range of the nominal columns, against SciPy's SLSQP on all corners listed."""

import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.optimize import minimize

from ordstat import ConvergenceWarning, DataWarning, SurveyDesign, datasets, ordfit
from ordstat.exceptions import OptionError, OrdstatWarning, SeparationWarning, UnavailableError
from ordstat.solvers.likelihood.order.search import least_distance

CDF = {
    "logit": stats.logistic.cdf,
    "probit": stats.norm.cdf,
    "cloglog": lambda x: -np.expm1(-np.exp(x)),
    "loglog": lambda x: np.exp(-np.exp(-x)),
    "cauchit": stats.cauchy.cdf,
}


def crossed_rows(seed=0, n=300, K=4):
    """Rows whose scale grows with x, so that free nominal effects cross at the end of its range."""
    rng = np.random.default_rng(seed)
    x, z, g = rng.normal(size=n), rng.uniform(-1, 1, size=n), rng.choice(list("abc"), size=n)
    latent = x + 0.5 * z + (g == "b") + np.exp(0.7 * x - 0.5 * (g == "c")) * rng.logistic(size=n)
    cuts = np.quantile(latent, np.arange(1, K) / K)
    return pd.DataFrame({"y": np.digitize(latent, cuts) + 1, "x": x, "z": z, "g": g})


def reference(W, X, y, corners, link, start):
    """Log-likelihood and (theta and nominal effects by threshold, beta) by SLSQP from a point inside."""
    K, m = int(y.max()) + 1, W.shape[1] + 1
    w1, c1, F = np.column_stack([np.ones(len(W)), W]), np.column_stack([np.ones(len(corners)), corners]), CDF[link]

    def loss(v):
        alpha, beta = v[: (K - 1) * m].reshape(K - 1, m), v[(K - 1) * m :]
        eta = np.column_stack([np.full(len(y), -np.inf), w1 @ alpha.T - (X @ beta)[:, None], np.full(len(y), np.inf)])
        rows = np.arange(len(y))
        return -np.log(np.maximum(F(eta[rows, y + 1]) - F(eta[rows, y]), 1e-300)).sum()

    def order(v):
        return np.diff(v[: (K - 1) * m].reshape(K - 1, m) @ c1.T, axis=0).reshape(-1)

    found = minimize(
        loss,
        start,
        method="SLSQP",
        constraints={"type": "ineq", "fun": order},
        options={"ftol": 1e-13, "maxiter": 2000},
    )
    return -found.fun, found.x


def by_threshold(fit, K, m):
    """(theta_k, nominal effects) threshold by threshold, then beta."""
    values = fit.params.to_numpy()
    return np.concatenate([values[: (K - 1) * m].reshape(m, K - 1).T.reshape(-1), values[(K - 1) * m :]])


@pytest.mark.parametrize("link", ["logit", "probit", "cloglog", "loglog"])
def test_equals_slsqp_over_a_box(link):
    data = crossed_rows(3)
    fit = ordfit("y ~ 1", data, link, nominal="~ x + z + g", crossing="prevent")
    with pytest.warns(DataWarning, match="out of order"):
        free = ordfit("y ~ 1", data, link, nominal="~ x + z + g")
    W = np.column_stack([data[["x", "z"]], data["g"] == "b", data["g"] == "c"]).astype(float)
    ends = [(data[name].min(), data[name].max()) for name in ("x", "z")]
    corners = np.array([[*e, *g] for e in itertools.product(*ends) for g in ([0, 0], [1, 0], [0, 1])])
    start = np.concatenate([[theta, 0, 0, 0, 0] for theta in (-1.0, 0.0, 1.0)])
    loglik, point = reference(W, np.zeros((len(data), 0)), data["y"].to_numpy() - 1, corners, link, start)
    assert fit.certificate.reached
    assert fit.fit.order.binding
    assert fit.loglik == pytest.approx(loglik, abs=1e-6)
    assert fit.loglik < free.loglik
    np.testing.assert_allclose(by_threshold(fit, 4, 5), point, atol=1e-4)
    grid = pd.DataFrame([[*c, g] for c in itertools.product(*ends) for g in "abc"], columns=["x", "z", "g"])
    assert (fit.predict(grid, type="prob") >= 0.0).all(axis=None)


def test_equals_slsqp_with_location_effects_and_an_interaction_over_observed_rows():
    data = crossed_rows(5)
    fit = ordfit("y ~ z", data, nominal="~ x * g", crossing="prevent")
    g = np.column_stack([data["g"] == "b", data["g"] == "c"]).astype(float)
    W = np.column_stack([data["x"], g, data[["x"]].to_numpy() * g])
    start = np.concatenate([*([theta] + [0.0] * 5 for theta in (-1.0, 0.0, 1.0)), [0.0]])
    loglik, point = reference(W, data[["z"]].to_numpy(), data["y"].to_numpy() - 1, W, "logit", start)
    assert fit.fit.order.binding
    assert fit.loglik == pytest.approx(loglik, abs=1e-6)
    np.testing.assert_allclose(by_threshold(fit, 4, 6), point, atol=2e-4)
    assert "observed values of (x, g[T.b]" in " ".join(str(fit.summary()).split())


def test_weights_are_rows_and_units_do_not_matter():
    data = crossed_rows(3)
    doubled = ordfit("y ~ 1", pd.concat([data, data]), nominal="~ x", crossing="prevent")
    weighted = ordfit("y ~ 1", data.assign(w=2), nominal="~ x", weights="w", crossing="prevent")
    moved = ordfit("y ~ 1", data.assign(x=1000 + 10 * data["x"]), nominal="~ x", crossing="prevent")
    assert doubled.fit.order.binding
    np.testing.assert_allclose(weighted.params, doubled.params, rtol=1e-8)
    np.testing.assert_allclose(weighted.se, doubled.se, rtol=1e-6)
    assert 2 * moved.loglik == pytest.approx(doubled.loglik, abs=1e-7)
    assert (moved.predict(type="prob") >= 0.0).all(axis=None)


def test_where_nothing_binds_the_fit_is_the_free_one_to_the_last_digit():
    wine = datasets.load("wine")
    free = ordfit("rating ~ temp", wine, nominal="~ contact")
    kept = ordfit("rating ~ temp", wine, nominal="~ contact", crossing="prevent")
    assert kept.fit.order.binding == ()
    assert (kept.params == free.params).all()
    assert (kept.se == free.se).all()
    assert kept.lr_chi2 == free.lr_chi2
    assert "holds back no estimate" in " ".join(str(kept.summary()).split())
    assert kept.drop1().equals(free.drop1())


def test_without_nominal_effects_it_says_nothing():
    fit = ordfit("rating ~ contact", datasets.load("wine"), crossing="prevent")
    assert "in order" not in str(fit.summary())


@pytest.mark.parametrize("more", [{"scale": "~ z"}, {"penalty": 1.0}, {"threshold": "equidistant"}])
def test_other_parts_of_a_model(more):
    data = crossed_rows(0)
    fit = ordfit("y ~ g", data, nominal="~ x", crossing="prevent", **more)
    assert fit.certificate.reached
    assert (fit.predict(type="prob") >= 0.0).all(axis=None)
    for direction in np.eye(fit.params.size):  # a local maximum among the feasible
        for step in (1e-4, -1e-4):
            moved = _loglik(fit, data, direction * step)
            assert moved is None or moved <= _loglik(fit, data, 0.0 * direction) + 1e-8


def _loglik(fit, data, change):
    """The objective at changed estimates on the user's scale; None where thresholds cross in the box."""
    problem, estimation = fit.fit.likelihood.problem, fit.fit.likelihood.estimation
    point = problem.from_user(fit.fit.likelihood.estimates + change)
    from ordstat.solvers.likelihood.order.constraints import GAP, Order

    least, _ = Order.of(problem).least(point)
    return None if least.min() < 0.9 * GAP else estimation.objective(problem).evaluate(*point).loglik


def test_standard_errors_are_those_of_the_model_with_the_meeting_known():
    """With theta_2(w) = theta_1(w) at w = max x built in by a linear map, the same errors come from differences."""
    data = crossed_rows(3)
    fit = ordfit("y ~ 1", data, nominal="~ x", crossing="prevent")
    held = [(one.thresholds, one.values[0]) for one in fit.fit.order.binding]
    likelihood = fit.fit.likelihood
    K, b = 4, likelihood.estimates
    rows = np.zeros((len(held), b.size))
    for row, ((low, high), x) in zip(rows, held, strict=True):
        row[[low, high, K - 1 + low, K - 1 + high]] = -1.0, 1.0, -x, x
    free = np.linalg.svd(rows)[2][len(held) :].T
    objective = likelihood.problem.objective()

    def loglik(c):
        return objective.evaluate(*likelihood.problem.from_user(b + free @ c)).loglik

    h, n = 1e-4, free.shape[1]
    E = h * np.eye(n)
    J = np.array(
        [
            [
                -(loglik(E[i] + E[j]) - loglik(E[i] - E[j]) - loglik(E[j] - E[i]) + loglik(-E[i] - E[j])) / (4 * h * h)
                for j in range(n)
            ]
            for i in range(n)
        ]
    )
    np.testing.assert_allclose(fit.vcov(), free @ np.linalg.inv(J) @ free.T, rtol=1e-4, atol=1e-7)


def test_the_certificate_holds_the_first_order_conditions():
    """Scores by differences are minus the constraints' gradients times their multipliers, which are positive."""
    fit = ordfit("y ~ 1", crossed_rows(3), nominal="~ x", crossing="prevent")
    likelihood, K = fit.fit.likelihood, 4
    b, objective = likelihood.estimates, likelihood.problem.objective()

    def loglik(values):
        return objective.evaluate(*likelihood.problem.from_user(values)).loglik

    score = np.array([(loglik(b + h) - loglik(b - h)) / 2e-6 for h in 1e-6 * np.eye(b.size)])
    for one in fit.fit.order.binding:
        low, high = one.thresholds
        assert one.multiplier > 0.0
        gap = np.zeros(b.size)
        gap[[low, high, K - 1 + low, K - 1 + high]] = -1.0, 1.0, -one.values[0], one.values[0]
        assert gap @ b == pytest.approx(1e-9, abs=1e-11)
        score += one.multiplier * gap
    np.testing.assert_allclose(score, 0.0, atol=1e-5)
    assert fit.certificate.name == "KKT residual"
    assert fit.certificate.value <= 1e-6
    with pytest.warns(ConvergenceWarning, match="did not reach its optimum"):
        ordfit("y ~ 1", crossed_rows(3), nominal="~ x", crossing="prevent", max_iter=1)


def test_what_has_no_known_distribution_is_refused():
    data = crossed_rows(0)
    fit = ordfit("y ~ g", data, nominal="~ x", crossing="prevent")
    assert np.isnan(fit.lr_chi2)
    assert "none: the order of thresholds holds estimates back" in str(fit.summary())
    for ask in (fit.drop1, fit.step, fit.nominal_test, fit.score_test, fit.profile, fit.joint_tests):
        with pytest.raises(UnavailableError, match="crossing='prevent' holds estimates back"):
            ask()
    with pytest.raises(UnavailableError, match="crossing='prevent'"):
        fit.confint(type="profile")
    with pytest.raises(UnavailableError, match="nominal effects"):
        fit.test("1|2.x = 2|3.x")
    with pytest.raises(OptionError, match="CR2"):
        fit.vcov({"cluster": np.arange(len(data)) % 9, "type": "CR2"})
    assert fit.test("g[T.b] = 0").loc["g[T.b] = 0", "p_value"] < 1.0
    assert fit.anova().loc["g", "df"] == 2
    assert fit.with_vcov("HC1").glance().loc[0, "wald_df"] == 5
    assert np.isnan(fit.with_vcov("HC1").glance().loc[0, "wald_chi2"])


def test_rows_outside_the_range_are_told_as_ever():
    fit = ordfit("y ~ 1", crossed_rows(0), nominal="~ x", crossing="prevent")
    with pytest.warns(DataWarning, match="1 of 1 rows of newdata"):
        fit.predict(pd.DataFrame({"x": [9.0]}), type="prob")


def test_a_fit_pickles_and_is_updated():
    data = crossed_rows(0)
    fit = ordfit("y ~ 1", data, nominal="~ x", crossing="prevent")
    again = pickle.loads(pickle.dumps(fit))
    assert str(again.summary()) == str(fit.summary())
    assert fit.update(nominal="~ x + z").method.crossing == "prevent"


def test_replicates_are_fitted_under_the_same_order():
    data = crossed_rows(0, n=120)
    units = np.arange(len(data)) % 12
    names = [f"r{r}" for r in range(12)]
    for r, name in enumerate(names):
        data[name] = np.where(units == r, 0.0, 12 / 11)
    design = SurveyDesign(weights=np.ones(len(data)), replicates=names, type="JK1")
    fit = ordfit("y ~ 1", data, nominal="~ x", crossing="prevent", design=design)
    each = np.array(
        [ordfit("y ~ 1", data[units != r], nominal="~ x", crossing="prevent").params.to_numpy() for r in range(12)]
    )
    difference = each - each.mean(axis=0)
    np.testing.assert_allclose(fit.vcov(), 11 / 12 * difference.T @ difference, rtol=1e-4, atol=1e-8)


def test_least_distance_by_brute_force():
    rng = np.random.default_rng(0)
    for _ in range(50):
        G, h = rng.normal(size=(4, 3)), rng.normal(size=4)
        best, shortest = None, np.inf
        for size in range(4):
            for chosen in itertools.combinations(range(4), size):
                x = np.linalg.pinv(G[list(chosen)]) @ h[list(chosen)] if chosen else np.zeros(3)
                if (G @ x >= h - 1e-9).all() and x @ x < shortest:
                    best, shortest = x, x @ x
        if best is None:
            continue
        x, u = least_distance(G, h)
        np.testing.assert_allclose(x, best, atol=1e-8)
        assert (u >= 0).all()
        np.testing.assert_allclose(G.T @ u, x, atol=1e-10)


def test_nominal_factors_that_separate_are_told():
    rng = np.random.default_rng(0)
    z = rng.normal(size=200)
    y = np.digitize(z + rng.logistic(size=200), [-1.0, 0.0, 1.0])
    data = pd.DataFrame({"y": y, "z": z, "q": 1.0 * (y > 2)})
    with pytest.warns(OrdstatWarning):  # which cross, too
        free = ordfit("y ~ z", data, nominal="~ q")
    with pytest.warns(SeparationWarning):
        kept = ordfit("y ~ z", data, nominal="~ q", crossing="prevent")
    assert kept.loglik == pytest.approx(free.loglik, abs=1e-4)


def test_estimates_that_run_off_within_the_order_are_told():
    """The first direction of a linear programme may break the order, and another keep it."""
    rng = np.random.default_rng(0)
    x = rng.normal(2.0, 1.0, 400)
    y = np.digitize(rng.logistic(size=400) * np.exp(0.8 * (x - 2)), [-1.0, 0.0, 1.0])
    data = pd.DataFrame({"y": y, "x": x, "q": 1.0 * (y > 2)})
    with pytest.warns(SeparationWarning):
        fit = ordfit("y ~ q", data, nominal="~ x", crossing="prevent")
    assert np.isnan(fit.se["q"])

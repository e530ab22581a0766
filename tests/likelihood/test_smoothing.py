"""Smooth terms against R's mgcv, differences, and fits without a penalty."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from expected import refused, unavailable
from seams import build, resolve

import ordstat
from ordstat import ElasticNet, ordfit
from ordstat.exceptions import DataError, FormulaError, OptionError
from ordstat.likelihood import smoothing
from ordstat.likelihood.smoothing import RestrictedLikelihood

REFERENCE = Path(__file__).parents[1] / "golden" / "reference"
DATA = pd.read_csv(REFERENCE / "data" / "smooth400.csv")
FORMULAS = {
    "ps": "y ~ z + s(x0, k=12) + s(x2, k=12)",
    "cr": "y ~ z + s(x0, bs='cr', k=8) + s(x1, bs='cr', k=8)",
    "by": "y ~ z + s(x0, by=z, bs='cr', k=8)",
    "fixed_sp": "y ~ z + s(x0, k=10, sp=1) + s(x1, k=10, sp=20)",
}


@pytest.mark.parametrize("case", FORMULAS)
def test_mgcv(case):
    path = REFERENCE / "cases" / f"smooth400_ocat_{case}.json"
    reference = json.loads(path.read_text())
    fit = ordfit(FORMULAS[case], DATA)
    found = fit.fit.smooths
    assert found.criterion == pytest.approx(reference["criterion"], abs=1e-6)
    np.testing.assert_allclose(found.edf, [*reference["edf"].values()], atol=1e-5)
    assert fit.aic == pytest.approx(reference["AIC"], abs=0.01)
    tests = reference["smooth_tests"]["columns"]
    np.testing.assert_allclose(found.reference_df, tests["Ref.df"], atol=1e-5)
    np.testing.assert_allclose(found.p_value, tests["p-value"], atol=2e-5)
    thresholds = reference["thresholds_without_intercept"]
    np.testing.assert_allclose(fit.thresholds, thresholds, atol=1e-6)
    new = pd.DataFrame(reference["newdata"]["columns"])
    p = fit.predict(new, type="prob").to_numpy()
    np.testing.assert_allclose(p, reference["prob"]["values"], atol=1e-6)
    # mgcv's errors of coefficients hold the distances of the thresholds fixed
    V = np.linalg.inv(fit.vcov().to_numpy())
    common = np.zeros((len(V), len(V) - 2))
    common[:3, 0] = 1.0
    common[3:, 1:] = np.eye(len(V) - 3)
    given = np.linalg.inv(common.T @ V @ common)
    expected = reference["parametric_se"]
    errors = np.sqrt(np.diag(given)[:2])
    np.testing.assert_allclose(errors, [*expected.values()], rtol=1e-5)


def test_maximum_likelihood_is_that_of_mgcv():
    path = REFERENCE / "cases" / "smooth400_ocat_ml.json"
    reference = json.loads(path.read_text())
    formula = "y ~ s(x0, bs='cr') + s(x1, bs='cr') + s(x2, bs='cr')"
    fit = ordfit(formula, DATA, smoothness="ML")
    found = fit.fit.smooths
    assert found.criterion == pytest.approx(reference["criterion"], abs=1e-6)
    np.testing.assert_allclose(found.edf, [*reference["edf"].values()], atol=1e-5)
    np.testing.assert_allclose(found.lambdas, [*reference["sp"].values()], rtol=1e-5)
    assert fit.aic == pytest.approx(reference["AIC"], abs=1e-4)
    thresholds = reference["thresholds_without_intercept"]
    np.testing.assert_allclose(fit.thresholds, thresholds, atol=1e-6)
    new = pd.DataFrame(reference["newdata"]["columns"])
    p = fit.predict(new, type="prob").to_numpy()
    np.testing.assert_allclose(p, reference["prob"]["values"], atol=1e-6)


def test_maximum_likelihood_of_smoothness_needs_a_smooth_term():
    with pytest.raises(OptionError, match="smoothness='ML' without smooth terms"):
        ordfit("y ~ x0", DATA, smoothness="ML")


def test_random_effects_are_those_of_mgcv():
    """The reference case of s(id, bs = "re")."""
    path = REFERENCE / "cases" / "smooth900_ocat_re.json"
    reference = json.loads(path.read_text())
    data = pd.read_csv(REFERENCE / "data" / "smooth900.csv")
    fit = ordfit("y ~ z + x1 + re(id)", data)
    found = fit.fit.smooths
    assert found.criterion == pytest.approx(reference["criterion"], abs=1e-6)
    np.testing.assert_allclose(found.edf, [*reference["edf"].values()], atol=1e-5)
    np.testing.assert_allclose(found.lambdas, [*reference["sp"].values()], rtol=1e-5)
    assert fit.aic == pytest.approx(reference["AIC"], abs=0.01)
    tests = reference["smooth_tests"]["columns"]
    np.testing.assert_allclose(found.reference_df, tests["Ref.df"])
    np.testing.assert_allclose(found.statistic, tests["Chi.sq"], rtol=1e-6)
    assert found.p_value[0] < 1e-6
    thresholds = reference["thresholds_without_intercept"]
    np.testing.assert_allclose(fit.thresholds, thresholds, atol=1e-6)
    new = pd.DataFrame(reference["newdata"]["columns"]).astype({"id": int})
    p = fit.predict(new, type="prob").to_numpy()
    np.testing.assert_allclose(p, reference["prob"]["values"], atol=1e-6)
    of_groups = fit.smooth_curves().set_index("x")["estimate"]
    expected = [row[2] for row in reference["terms"]["values"]]
    np.testing.assert_allclose(of_groups[new["id"]], expected, atol=1e-5)
    assert of_groups.sum() == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(
    ("outlier", "criterion", "edf", "close"),
    [(20.0, 530.84261195854, 2.97692316, 1e-5), (1000.0, 544.130981, 1.0, 1e-4)],
)
def test_one_row_far_from_the_others(outlier, criterion, edf, close):
    """Most functions then have no row. By R's mgcv 1.8-41: gam(y ~ z + s(x0, bs =
    "ps"), ocat(R = 4), data, method = "REML").
    """
    data = DATA.copy()
    data.loc[5, "x0"] = outlier
    found = ordfit("y ~ z + s(x0)", data).fit.smooths
    assert found.criterion == pytest.approx(criterion, abs=close)
    assert found.edf[0] == pytest.approx(edf, abs=close)


def test_a_curve_may_have_a_function_for_each_row():
    """It is that of fewer functions, as the penalty takes over."""
    data = DATA.head(150)
    edf = [ordfit(f"y ~ s(x0, k={k})", data).fit.smooths.edf[0] for k in (75, 150)]
    assert edf[0] == pytest.approx(edf[1], abs=0.02)


def test_steps_that_are_shortened_lead_uphill(monkeypatch):
    """Parts of a step that are cut one by one can lead downhill: the search then went
    on in steps of 1e-8.
    """
    rng = np.random.default_rng(3)
    for n, groups in ((300, 12), (2000, 100)):
        g = rng.integers(0, groups, n)
        x = rng.uniform(size=n)
        z = rng.normal(size=n)
        effects = rng.normal(size=groups) * 0.8
        score = 2 * np.sin(5 * x) + 0.5 * z + effects[g] + rng.logistic(size=n)
    data = pd.DataFrame({"y": np.digitize(score, [0, 1.5, 3]), "x": x, "z": z, "g": g})
    ended = []

    def followed(*given):
        ended.append(search(*given))
        return ended[-1]

    search = smoothing.search
    monkeypatch.setattr(smoothing, "search", followed)
    ordfit("y ~ z + s(x) + re(g)", data)
    assert len(ended) == 2  # from rough curves, and from smooth ones
    assert {len(values) < 30 for _, values, _ in ended} == {True}
    assert ended[0][0].value == pytest.approx(ended[1][0].value, abs=1e-6)


def differences(design, method):
    """The gradient of the criterion, and its differences."""
    problem = method.problem(design.sample)
    restricted = RestrictedLikelihood.of(problem, design.sample, method.smoothness)
    x = problem.start()
    point = restricted.at(x, restricted.starting_rho(x))
    found = []
    for j in range(point.gradient.size):
        step = np.zeros(point.gradient.size)
        step[j] = 1e-4
        ahead = restricted.moved(point, step).value
        behind = restricted.moved(point, -step).value
        found.append((ahead - behind) / 2e-4)
    return point.gradient, found


@pytest.mark.parametrize("link", ["logit", "probit", "cloglog", "loglog", "cauchit"])
def test_the_gradient_is_that_of_differences(link):
    design = build("y ~ z + s(x0, k=6) + s(x1, by=z, bs='cr', k=5)", DATA)
    gradient, expected = differences(design, resolve("clm", {"link": link}))
    np.testing.assert_allclose(gradient, expected, atol=1e-5)


@pytest.mark.parametrize("smoothness", ["REML", "ML"])
@pytest.mark.parametrize("method", ["clm", "acat", "cratio", "sratio"])
@pytest.mark.parametrize("sides", [{"nominal": "~ z"}, {"scale": "~ z"}])
def test_the_gradient_beside_nominal_and_scale_effects(method, sides, smoothness):
    design = build("y ~ s(x0, k=5) + s(x1, bs='cr', k=5)", DATA, **sides)
    value = resolve(method, {"smoothness": smoothness})
    gradient, expected = differences(design, value)
    np.testing.assert_allclose(gradient, expected, atol=2e-5)


def test_a_large_penalty_leaves_a_straight_line():
    smooth = ordfit("y ~ z + s(x1, sp=1e7)", DATA)
    line = ordfit("y ~ z + x1", DATA)
    assert smooth.smooths()["edf"].iloc[0] == pytest.approx(1.0, abs=1e-3)
    assert smooth.coef["z[T.v]"] == pytest.approx(line.coef["z[T.v]"], abs=0.01)
    expected = line.predict(DATA, type="prob")
    np.testing.assert_allclose(smooth.predict(DATA, type="prob"), expected, atol=2e-3)


def test_a_weight_is_that_many_rows():
    weights = np.random.default_rng(0).integers(1, 3, len(DATA))
    weighted = ordfit("y ~ s(x0)", DATA, weights=weights)
    repeated = ordfit("y ~ s(x0)", DATA.loc[DATA.index.repeat(weights)])
    np.testing.assert_allclose(weighted.params, repeated.params, atol=1e-8)


def test_a_saved_fit_predicts_the_same(tmp_path):
    fit = ordfit("y ~ s(x0, k=6)", DATA)
    fit.save(tmp_path / "fit")
    again = ordstat.load(tmp_path / "fit")
    pd.testing.assert_frame_equal(
        again.predict(DATA, type="prob"), fit.predict(DATA, type="prob")
    )


def test_questions_that_need_the_maximum_of_the_likelihood_are_refused():
    fit = ordfit("y ~ z + s(x0, k=6)", DATA)
    plain = ordfit("y ~ z", DATA)
    several = [lambda: fit.confint(type="profile"), lambda: fit.anova(plain)]
    tests = [fit.anova, fit.drop1, fit.step, fit.profile, fit.nominal_test]
    scores = [fit.score_test, fit.brant, fit.gof, fit.vif, fit.joint_tests]
    for ask in (*tests, *scores, fit.influence, fit.margins, *several):
        with unavailable("smooth"):
            ask()
    with refused("vcov"):
        fit.with_vcov("HC1")
    with pytest.raises(OptionError, match="smooth"):
        fit.test("s(x0, k=6)[1] = 0")
    assert fit.test("z[T.v] = 0")["p_value"].notna().all()
    assert np.isnan(fit.p_values["s(x0, k=6)[1]"])


@pytest.mark.parametrize(
    "options",
    [
        {"penalty": 1.0},
        {"penalty": ElasticNet()},
        {"start": [0.0]},
        {"cluster": "id"},
        {"vcov": "HC1"},
        {"threshold": "symmetric"},
        {"method": "ordboost"},
        {"link": "log-gamma"},
    ],
)
def test_what_smooths_do_not_go_with_is_refused(options):
    with pytest.raises(OptionError, match="mooth"):
        ordfit("y ~ s(x0)", DATA, **options)


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("y ~ x0 + s(x0)", "straight line"),
        ("y ~ s(x0, by=x1)", "numeric"),
        ("y ~ s(x0):s(x1)", "product of smooths"),
        ("y ~ I(s(x0) ^ 2)", "term of its own"),
        ("y ~ x1 + (s(x0, k=5) | id)", "not one of random terms"),
        ("y ~ x1 + (0 + s(x0, k=5) || id)", "not one of random terms"),
        ("y ~ s(x0, k=3)", "k must be"),
    ],
)
def test_formulas_that_make_no_smooth_are_refused(formula, words):
    with pytest.raises(FormulaError, match=words):
        ordfit(formula, DATA)


def test_a_variable_of_few_values_is_told_what_to_write():
    data = DATA.assign(few=np.arange(len(DATA)) % 6)
    with pytest.raises(FormulaError, match=r"Write s\(x, k=6\)"):
        ordfit("y ~ s(few)", data)
    assert ordfit("y ~ s(few, k=6)", data).converged


def test_effects_by_level_are_no_smooths():
    for options in ({"method": "multinomial"}, {"nominal": "~ s(x0)"}):
        with pytest.raises(FormulaError, match="all levels share"):
            ordfit("y ~ s(x0)", DATA, **options)


def test_a_line_by_threshold_beside_a_smooth_is_refused():
    with pytest.raises(FormulaError, match="straight line"):
        ordfit("y ~ s(x0)", DATA, nominal="~ x0")


def test_separated_rows_have_no_smooth_fit():
    data = DATA.assign(top=np.where(DATA["y"] == 4, "yes", "no"))
    with pytest.raises(DataError, match="finite"):
        ordfit("y ~ top + s(x0)", data)


def rows_with_a_rare_level(seed):
    """Four rows of level c, which a rough curve fits exactly."""
    rng = np.random.default_rng(seed)
    g = np.repeat(list("abc"), [60, 60, 4])
    x = rng.normal(size=124).round(3)
    mean = np.where(g == "b", np.sin(2.0 * x), 0.9 * x)
    y = np.digitize(mean + rng.logistic(size=124), [-1, 0, 1])
    return pd.DataFrame({"x": x, "g": g, "y": y})


def test_a_maximum_comes_before_a_curve_without_a_penalty():
    """The restricted likelihood also rises without end as lambda falls to 0. By R's
    mgcv 1.8-41: gam(I(y + 1) ~ g + s(x, by = g, bs = "cr"), ocat(R = 4), data,
    method = "REML").
    """
    rng = np.random.default_rng(5)
    x = rng.normal(size=300)
    z = rng.normal(size=300)
    g = rng.choice(list("abc"), 300)
    rng.choice(list("uv"), 300)
    rng.integers(0, 40, 300)
    rng.uniform(0.5, 2.0, 300)
    score = 0.9 * x - 0.5 * z + 0.5 * (g == "b") + rng.logistic(size=300)
    data = pd.DataFrame({"x": x, "g": g, "y": np.digitize(score, [-1, 0, 1])})
    few = data[(g != "c") | (np.arange(300) % 25 == 0)]
    fit = ordfit("y ~ g + s(x, by=g, bs='cr')", few)
    assert fit.converged
    assert -fit.fit.smooths.criterion == pytest.approx(-261.03476, abs=2e-4)
    shown = fit.smooths()
    np.testing.assert_allclose(shown["edf"], [1.00039, 2.36795, 1.0001], atol=5e-4)
    np.testing.assert_allclose(shown["chisq"], [17.6624, 15.916, 0.6645], rtol=4e-3)


@pytest.mark.parametrize(
    ("seed", "method"), [(1, "logit"), (5, "acat"), (13, "probit")]
)
def test_a_smoothness_without_a_maximum_is_refused_with_what_helps(seed, method):
    """The search printed p = 1.000 where lambda had run to 1e-16; mgcv does."""
    data = rows_with_a_rare_level(seed)
    with pytest.raises(DataError, match=r"a rare level of by=.*s\(x, sp=\.\.\.\)"):
        ordfit("y ~ g + s(x, by=g, k=8)", data, method)
    fit = ordfit("y ~ g + s(x, by=g, k=8, sp=1)", data, method)
    assert fit.converged and (fit.smooths()["edf"] >= 1.0).all()
    merged = data.assign(g=data["g"].replace({"c": "b"}))
    assert ordfit("y ~ g + s(x, by=g, k=8)", merged, method).converged


def test_no_maximum_is_jumped_over_on_the_way_to_a_straight_line():
    """Rougher curves, one at a time, do not have a higher criterion."""
    rng = np.random.default_rng(1019)
    n = int(rng.choice([150, 400]))
    rng.choice([3, 5])
    data = pd.DataFrame({"x": rng.uniform(size=n), "z": rng.normal(size=n)})
    data["g"] = rng.integers(0, 3, n)
    data["o"] = rng.integers(1, 7, n)
    wave = rng.choice([0, 1, 3]) * np.sin(rng.choice([2, 6, 12]) * data["x"])
    H = wave + rng.choice([0, 0.5]) * data["z"] + 0.3 * data["g"]
    H += rng.choice([0, 0.3]) * data["o"]
    data["y"] = pd.qcut(H + rng.logistic(size=n), 3, labels=False)
    data["g"] = data["g"].astype(str)
    formula = "y ~ s(x, by=g) + g + smooth(o)"
    fit = ordfit(formula, data, method="cauchit")
    problem = fit.fit.likelihood.problem
    restricted = RestrictedLikelihood.of(problem, fit.design.sample)
    x = problem.from_user(fit.fit.coefficients)
    rho = np.log(fit.fit.smooths.lambdas)
    found = restricted.at(x, rho)
    assert found.value == pytest.approx(-fit.fit.smooths.criterion, abs=1e-6)
    for j in range(rho.size):
        for rougher in (2.0, 4.0, 6.0, 8.0, 10.0, 12.0):
            near = restricted.at(x, rho - rougher * np.eye(rho.size)[j])
            assert near is None or near.value <= found.value + 1e-6


def test_one_row_of_a_level_has_no_smoothness():
    rng = np.random.default_rng(3)
    data = pd.DataFrame({"x": rng.normal(size=34), "y": np.arange(34) > 0})
    for method in ("logit", "cratio", "acat"):
        with pytest.raises(DataError, match=r"restricted likelihood|finite"):
            ordfit("y ~ s(x)", data, method)


@pytest.mark.slow
def test_bands_hold_95_percent_of_the_true_curve():
    def truth(x):
        return 1.5 * np.sin(2 * np.pi * x) + np.exp(-50 * (x - 0.5) ** 2)

    shares = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        x = rng.uniform(size=200)
        cuts = [-np.inf, -1.0, 0.5, 2.0, np.inf]
        y = pd.cut(truth(x) + rng.logistic(size=200), cuts, labels=False)
        curve = ordfit("y ~ s(x)", pd.DataFrame({"x": x, "y": y})).smooth_curves()
        expected = truth(curve["x"]) - truth(x).mean()
        shares.append(expected.between(curve["lower"], curve["upper"]).mean())
    assert 0.92 < np.mean(shares) < 0.98


def test_the_frame_of_the_picture_holds_every_curve():
    frame = ordfit("y ~ z + s(x0, by=z)", DATA).plot.smooths(draw=False)
    assert frame["smooth"].unique().tolist() == ["s(x0):z[u]", "s(x0):z[v]"]
    assert (frame["lower"] < frame["upper"]).all()


def test_coefficients_of_curves_do_not_print():
    fit = ordfit("y ~ z + s(x0, k=12) + s(x2, k=12)", DATA)
    tidy = fit.tidy()
    assert tidy["term"].tolist() == fit.params.index.tolist()
    edf = fit.smooths()["edf"]
    for text in (str(tidy), tidy.to_markdown(), repr(fit)):
        assert "s(x0, k=12)[1]" not in text and "z" in text
    told = " ".join(str(tidy).split())
    assert "Not printed: 22 coefficients of curves" in told
    assert f"s(x0) edf {edf['s(x0)']:.2f}, s(x2) edf {edf['s(x2)']:.2f};" in told
    assert "Standard errors: Bayesian" in told
    assert f"Smooth terms, edf  s(x0) {edf['s(x0)']:.3f}" in repr(fit)
    part = tidy[tidy["term"] == "z"]
    assert len(str(part).splitlines()) < 6

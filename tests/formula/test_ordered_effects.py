"""Effects of ordered predictors against cvxpy and R's mgcv."""

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from expected import not_in_blocks, unavailable

import ordstat
from ordstat import ElasticNet, datasets, ordfit
from ordstat.exceptions import (
    DataError,
    DataWarning,
    FormulaError,
    OptionError,
    OrdstatError,
    UnavailableError,
)

pytestmark = pytest.mark.filterwarnings("ignore:Solution may be inaccurate")

ANES = datasets.load("anes96")
DOSES = ["none", "low", "middle", "high", "top"]


def problem(seed, levels=5):
    """Rows with an ordered predictor, whose effects rise and fall, and a number."""
    rng = np.random.default_rng(seed)
    n = 80
    code = np.append(np.arange(levels), rng.integers(0, levels, n - levels))
    z = rng.normal(size=n)
    effects = np.cumsum(rng.normal(0.3, 0.6, levels))
    latent = effects[code] + 0.5 * z + rng.logistic(size=n)
    y = np.digitize(latent, np.quantile(latent, [0.3, 0.6, 0.8]))
    dose = pd.Categorical.from_codes(code, DOSES[:levels], ordered=True)
    return pd.DataFrame({"y": y, "dose": dose, "z": z})


def by_cvxpy(data, penalty=lambda step: 0.0, limits=lambda step, theta: ()):
    """Effects of the levels against the lowest, of z, and thresholds: the maximum of
    the log-likelihood minus a penalty of the steps between neighbouring levels.
    """
    y = data["y"].to_numpy()
    code = data["dose"].cat.codes.to_numpy()
    last = y.max()
    theta = cp.Variable(last)
    step = cp.Variable(len(data["dose"].cat.categories) - 1)
    slope = cp.Variable()
    split = (code[:, None] > np.arange(step.size)).astype(float)
    eta = split @ step + slope * data["z"].to_numpy()
    upper = y < last
    lower = y > 0
    inner = np.flatnonzero(upper & lower)
    # log (F(u) - F(l)) = log F(u) + log F(-l) + log(1 - exp(l - u))
    gaps = theta[y[inner]] - theta[y[inner] - 1]
    loglik = -cp.sum(cp.logistic(eta[upper] - theta[y[upper]]))
    loglik -= cp.sum(cp.logistic(theta[y[lower] - 1] - eta[lower]))
    loglik += cp.sum(cp.log1p(-cp.exp(-gaps)))
    cp.Problem(cp.Maximize(loglik - penalty(step)), list(limits(step, theta))).solve(
        solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10
    )
    return np.concatenate([np.cumsum(step.value), [slope.value], theta.value])


def agree(fit, expected):
    found = np.concatenate([fit.coef, fit.thresholds])
    # cvxpy ends up to 3e-5 away, where the objective is worse by 5e-9
    np.testing.assert_allclose(found, expected, atol=5e-5)


def seeds(fast=4, all_of=50):
    slow = [pytest.param(seed, marks=pytest.mark.slow) for seed in range(fast, all_of)]
    return [*range(fast), *slow]


@pytest.mark.parametrize("seed", seeds())
def test_smooth_steps_have_a_ridge(seed):
    data = problem(seed)
    fit = ordfit("y ~ smooth(dose, sp=3) + z", data)
    # REML chooses the distances of the thresholds
    apart = np.diff(fit.thresholds)
    expected = by_cvxpy(
        data,
        lambda step: 1.5 * cp.sum_squares(step),
        lambda step, theta: [cp.diff(theta) == apart],
    )
    agree(fit, expected)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("seed", seeds())
def test_monotone_steps_are_at_the_maximum_within_limits(seed, sign):
    data = problem(seed)
    direction = "increasing" if sign > 0 else "decreasing"
    fit = ordfit(f"y ~ mono(dose, '{direction}') + z", data)
    expected = by_cvxpy(data, limits=lambda step, theta: [sign * step >= 0.0])
    agree(fit, expected)
    assert fit.converged
    assert (sign * np.diff(np.append(0.0, fit.coef[:4])) >= -1e-12).all()


def test_two_monotone_predictors_beside_nominal_effects_satisfy_the_conditions():
    """Moves of the parameters that keep the order do not raise the likelihood."""
    data = problem(3).assign(other=np.tile([1, 2, 3, 4], 20))
    fit = ordfit("y ~ mono(dose) + mono(other, 'decreasing')", data, nominal="~ z")
    assert fit.joined_levels["dose"][0] == ("none",)
    free = ordfit("y ~ dose + C(other)", data, nominal="~ z")
    assert free.loglik > fit.loglik > ordfit("y ~ 1", data, nominal="~ z").loglik
    rng = np.random.default_rng(0)
    names = fit.coef.index
    for _ in range(20):
        steps = np.abs(rng.normal(0.0, 0.02, 7)) * rng.integers(0, 2, 7)
        move = pd.Series(rng.normal(0.0, 0.02, len(fit.params)), fit.params.index)
        move[names[-7:-3]] = np.cumsum(steps[:4])
        move[names[-3:]] = -np.cumsum(steps[4:])
        assert loglik_at(fit, data, fit.params + move) <= fit.loglik + 1e-9


def loglik_at(fit, data, params):
    """With an effect of z on each threshold, by the formula of the model."""
    values = params.to_numpy()
    dose = np.append(0.0, values[6:10])[data["dose"].cat.codes]
    other = np.append(0.0, values[10:])[data["other"] - 1]
    z = data["z"].to_numpy()[:, None]
    below = 1.0 / (
        1.0 + np.exp(dose[:, None] + other[:, None] - values[:3] - z * values[3:6])
    )
    p = np.diff(below, prepend=0.0, append=1.0, axis=1)
    return np.log(p[np.arange(len(data)), data["y"]]).sum()


def test_levels_against_the_order_are_joined():
    data = problem(0)
    data.loc[data["dose"] == "top", "y"] = 0
    fit = ordfit("y ~ mono(dose) + z", data)
    expected = by_cvxpy(data, limits=lambda step, theta: [step >= 0.0])
    agree(fit, expected)
    assert fit.joined_levels["dose"][-1] == ("middle", "high", "top")
    # an ordinary fit of the joined levels
    joined = data["dose"].cat.rename_categories({"middle": "m"}).astype(str)
    joined = joined.replace({"high": "m", "top": "m"})
    again = ordfit("y ~ g + z", data.assign(g=joined), levels=[0, 1, 2, 3])
    assert fit.loglik == pytest.approx(again.loglik, abs=1e-9)


def test_monotone_effects_without_a_maximum_are_refused():
    data = problem(0)
    data.loc[data["dose"] == "top", "y"] = 3
    with pytest.raises(DataError, match="finite estimates"):
        ordfit("y ~ mono(dose) + z", data)
    with pytest.raises(DataError, match="must not determine the steps"):
        ordfit("y ~ mono(dose) + d", data.assign(d=data["dose"].cat.codes))


@pytest.mark.parametrize(
    "question",
    [
        "vcov confint conf_int profile bootstrap test anova joint_tests drop1 add1",
        "nominal_test scale_test score_test brant gof influence vif marginal_effects",
        "step emmeans emtrends superiority subgroups with_vcov bounds margins aic bic",
    ],
)
def test_monotone_effects_have_no_errors_or_tests(question):
    fit = ordfit("y ~ mono(dose) + z", problem(0))
    for name in question.split():
        with unavailable(r"mono\(x\)"):
            getattr(fit, name)
    assert fit.tidy()[["std_error", "p_value", "conf_low"]].isna().all(axis=None)
    text = str(fit.summary())
    assert "No standard errors" in text and "2.5%" not in text
    assert "edf" not in fit.glance()


def test_fits_with_monotone_effects_are_not_compared_as_if_they_were_free():
    data = problem(0)
    fit = ordfit("y ~ mono(dose) + z", data)
    plain = ordfit("y ~ z", data)
    with pytest.raises(UnavailableError, match="mono"):
        plain.anova(fit)
    with pytest.raises(OptionError, match="mono"):
        ordstat.pool([fit, fit])
    for term in ("mono(dose)", "smooth(dose)"):
        with pytest.raises(OptionError, match="without a penalty or constraint"):
            plain.add1(term)


def deviations(data):
    """(4,) of the indicators of higher levels."""
    code = data["dose"].cat.codes.to_numpy()
    return (code[:, None] > np.arange(4)).std(axis=0)


@pytest.mark.parametrize("seed", seeds())
def test_fused_steps_have_a_lasso(seed):
    data = problem(seed)
    net = ElasticNet(lambdas=0.04, factors={"z": 0})
    fit = ordfit("y ~ fuse(dose) + z", data, penalty=net)
    sizes = len(data) * 0.04 * deviations(data)
    expected = by_cvxpy(data, lambda step: cp.norm1(cp.multiply(sizes, step)))
    agree(fit, expected)


def test_steps_take_the_options_of_the_elastic_net():
    data = problem(0)
    net = ElasticNet(
        lambdas=0.03,
        l1_ratio=0.4,
        factors={"z": 0, "fuse(dose)": 2.0},
        standardize=False,
        groups=False,
    )
    fit = ordfit("y ~ fuse(dose) + z", data, penalty=net)
    size = 2.0 * len(data) * 0.03
    expected = by_cvxpy(
        data,
        lambda step: size * (0.4 * cp.norm1(step) + 0.3 * cp.sum_squares(step)),
    )
    agree(fit, expected)


def test_monotone_steps_beside_a_lasso():
    """Without a penalty, unless a factor gives them one."""
    data = problem(0).assign(other=np.tile([1, 2, 3, 4], 20))
    nearly_free = ElasticNet(lambdas=1e-8)
    fit = ordfit("y ~ mono(dose) + z", data, penalty=nearly_free)
    expected = by_cvxpy(data, limits=lambda step, theta: [step >= 0.0])
    agree(fit, expected)
    net = ElasticNet(lambdas=0.04, factors={"z": 0, "mono(dose)": 1})
    fit = ordfit("y ~ mono(dose, 'decreasing') + z", problem(5), penalty=nearly_free)
    assert (np.diff(np.append(0.0, fit.coef[:4])) <= 0.0).all()
    fit = ordfit("y ~ mono(dose) + z", data, penalty=net)
    sizes = len(data) * 0.04 * deviations(data)
    expected = by_cvxpy(
        data,
        lambda step: cp.norm1(cp.multiply(sizes, step)),
        lambda step, theta: [step >= 0.0],
    )
    agree(fit, expected)


def test_fused_levels_are_told_and_refitted_together():
    data = problem(0)
    net = ElasticNet(lambdas=[0.1, 0.06], choose=0.06)
    fit = ordfit("y ~ fuse(dose) + z", data, penalty=net)
    joined = fit.joined_levels["dose"]
    effects = dict(zip(DOSES, np.append(0.0, fit.coef[:4]), strict=True))
    for group in joined:
        assert np.ptp([effects[level] for level in group]) < 1e-9
    assert 1 < len(joined) < 5
    steps = len(joined) - 1 + (fit.coef["z"] != 0.0)
    assert fit.path["nonzero"].iloc[1] == steps
    assert " = ".join(next(g for g in joined if len(g) > 1)) in str(fit.summary())
    group_of = {level: code for code, group in enumerate(joined) for level in group}
    data["group"] = data["dose"].astype(object).map(group_of).astype(str)
    assert fit.selected == ["fuse(dose)"]
    by_hand = ordfit("y ~ group", data)
    with pytest.warns(DataWarning, match="selected"):
        refit = fit.refit()
    np.testing.assert_allclose(refit.params, by_hand.params, atol=1e-8)
    assert refit.coef.index[0] == "C(dose)[" + joined_name(joined[1]) + "]"
    new = data.head(20)
    expected = by_hand.predict(new, type="prob")
    np.testing.assert_allclose(refit.predict(new, type="prob"), expected, atol=1e-8)


def joined_name(group):
    return str(group[0]) if len(group) == 1 else f"{group[0]} to {group[-1]}"


@pytest.mark.parametrize("level", range(5))
def test_a_level_without_rows_has_the_effect_of_a_neighbour(level):
    data = problem(0)
    part = data["dose"].cat.codes.to_numpy() != level
    for formula, penalty in (
        ("y ~ mono(dose) + z", None),
        ("y ~ fuse(dose) + z", ElasticNet(lambdas=0.01)),
    ):
        fit = ordfit(formula, data, penalty=penalty)
        rows = fit.design.sample.take(part)
        found = fit.method.fit(rows, np.random.default_rng(0)).coefficients[3:7]
        effects = np.append(0.0, found)
        neighbour = 1 if level == 0 else level - 1
        assert effects[level] == pytest.approx(effects[neighbour], abs=1e-9)
        own = data[part].copy()
        own["dose"] = own["dose"].cat.remove_unused_categories()
        without = ordfit(formula, own, penalty=penalty).coef[:3]
        others = np.delete(effects, level)[1:]
        np.testing.assert_allclose(others, without, atol=1e-6)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "penalty=ElasticNet"),
        ({"penalty": 1.0}, "penalty=ElasticNet"),
        ({"penalty": ElasticNet(factors={"fuse(dose)[T.low]": 0})}, "factors"),
        (
            {"penalty": ElasticNet(), "constraints": {"fuse(dose)[T.low]": "+"}},
            "constraints",
        ),
        ({"method": "ordboost"}, "fuse"),
    ],
)
def test_what_fused_levels_do_not_go_with_is_refused(options, words):
    with pytest.raises(OptionError, match=words):
        ordfit("y ~ fuse(dose) + z", problem(0), **options)


def test_folds_without_a_level_have_predictions():
    data = problem(0)
    few = data[
        (data["dose"] != "high") | (data.groupby("dose", observed=True).cumcount() < 1)
    ]
    fit = ordfit("y ~ mono(dose) + z", few)
    assert fit.errors(cv=5)["cv"].notna().all()
    net = ElasticNet(cv=4, n_lambdas=8)
    fused = ordfit("y ~ fuse(dose) + z", few, penalty=net)
    assert np.isfinite(fused.path["cv_mean"]).all()


def test_the_strength_of_smooth_is_that_of_mgcv():
    """gam(y ~ age + s(f, bs = "mrf", k = 7, xt = list(penalty = P)), family = ocat(R =
    7), method = "REML") of mgcv 1.8-41, f = factor(educ), P = crossprod(diff(diag(7)));
    the p-value by its psum.chisq(tol = 1e-9).
    """
    fit = ordfit("PID ~ smooth(educ) + age", ANES)
    assert fit.fit.smooths.criterion == pytest.approx(1752.59989851, abs=1e-7)
    assert fit.aic == pytest.approx(3505.561559, abs=2e-4)
    table = fit.smooths().loc["smooth(educ)"]
    assert table["edf"] == pytest.approx(3.236837281, abs=5e-4)
    assert table["lambda"] == pytest.approx(16.87602846, rel=5e-4)
    assert table["ref_df"] == 6
    assert table["chisq"] == pytest.approx(14.723226, abs=1e-3)
    # mgcv's default tolerance of Davies' method gives .00057034
    assert table["p_value"] == pytest.approx(5.738726e-4, abs=3e-7)
    effects = [0.1140673615, 0.4547513715, 0.6637683265, 0.7209066612]
    expected = [*effects, 0.8229555316, 0.7504732714, 0.002050084236]
    np.testing.assert_allclose(fit.coef, expected, atol=5e-5)


def test_smooth_beside_the_factor_itself_is_refused():
    data = problem(0).assign(line=problem(0)["dose"].cat.codes)
    with pytest.raises(FormulaError, match="together with the other terms"):
        ordfit("y ~ smooth(dose) + dose + z", data)
    # a line, and what the levels add to it
    assert ordfit("y ~ smooth(dose) + line", data).converged


def test_smooth_effects_at_the_levels_add_up_to_0_over_the_rows():
    fit = ordfit("PID ~ smooth(educ) + age", ANES)
    curve = fit.smooth_curves()
    assert list(curve["x"]) == [1, 2, 3, 4, 5, 6, 7]
    counts = ANES["educ"].value_counts().sort_index().to_numpy()
    assert counts @ curve["estimate"] == pytest.approx(0.0, abs=1e-9)
    against = curve["estimate"].to_numpy()[1:] - curve["estimate"][0]
    np.testing.assert_allclose(against, fit.coef[:6], atol=1e-12)


def test_a_smooth_without_steps_has_no_effect():
    data = problem(1).assign(y=np.tile([0, 1, 2, 3], 20))
    fit = ordfit("y ~ smooth(dose)", data)
    assert fit.smooths()["edf"].iloc[0] < 0.05
    assert fit.smooths()["p_value"].iloc[0] > 0.2
    np.testing.assert_allclose(fit.coef, 0.0, atol=0.02)


def test_smooth_steps_have_no_tests_one_by_one():
    fit = ordfit("y ~ smooth(dose) + z", problem(0))
    assert fit.p_values.filter(like="dose").isna().all()
    with pytest.raises(OptionError, match="penalised"):
        fit.test("smooth(dose)[T.low] = 0")
    with pytest.raises(UnavailableError, match="x in place of smooth"):
        fit.drop1()


FORMULAS = ["y ~ smooth(dose) + z", "y ~ mono(dose) + z"]
CASES = [
    (FORMULAS[0], {}),
    (FORMULAS[1], {}),
    ("y ~ fuse(dose) + z", {"penalty": ElasticNet(lambdas=0.04)}),
]


@pytest.mark.parametrize(("formula", "options"), CASES)
def test_predictions_are_those_of_the_levels(formula, options, tmp_path):
    data = problem(0)
    fit = ordfit(formula, data, **options)
    new = data.iloc[:6]
    effects = np.append(0.0, fit.coef[:4])
    scores = effects[new["dose"].cat.codes] + fit.coef["z"] * new["z"]
    below = 1.0 / (1.0 + np.exp(scores.to_numpy()[:, None] - fit.thresholds.to_numpy()))
    expected = np.diff(below, prepend=0.0, append=1.0)
    np.testing.assert_allclose(fit.predict(new, type="prob"), expected, atol=1e-12)
    fit.save(tmp_path / "fit")
    again = ordstat.load(tmp_path / "fit").predict(new, type="prob")
    np.testing.assert_allclose(again, expected, atol=1e-12)


@pytest.mark.parametrize(("formula", "options"), CASES)
def test_a_weight_of_an_ordered_predictor_is_that_many_rows(formula, options):
    data = problem(2)
    weights = np.random.default_rng(0).integers(1, 3, len(data))
    weighted = ordfit(formula, data, weights=weights, **options)
    repeated = ordfit(formula, data.loc[data.index.repeat(weights)], **options)
    np.testing.assert_allclose(weighted.params, repeated.params, atol=1e-7)


@pytest.mark.parametrize("name", ["smooth", "mono", "fuse"])
@pytest.mark.parametrize(
    ("formula", "options"),
    [
        ("y ~ {}(dose):z", {}),
        ("y ~ z * {}(dose)", {}),
        ("y ~ log({}(dose))", {}),
        ("y ~ I({}(dose))", {}),
        ("y ~ C({}(dose))", {}),
        ("y ~ z + ({}(dose) | g)", {}),
        ("y ~ z + (1 | {}(dose))", {}),
        ("y ~ {}(dose)", {"nominal": "~ {}(dose)"}),
        ("y ~ z", {"scale": "~ {}(dose)"}),
        ("y ~ {}(dose)", {"method": "multinomial"}),
        ("y ~ {}(dose)", {"contrasts": {"dose": "sum"}}),
        ("y ~ {}(dose, nonsense=1)", {}),
        ("y ~ {}()", {}),
        ("y ~ {}(1)", {}),
    ],
)
def test_an_ordered_predictor_is_a_term_of_its_own(name, formula, options):
    data = problem(0).assign(g=np.tile([1, 2, 3, 4], 20))
    given = {
        key: value.format(name, name) if isinstance(value, str) else value
        for key, value in options.items()
    }
    with pytest.raises(FormulaError, match=name):
        ordfit(formula.format(name), data, **given)


@pytest.mark.parametrize("name", ["smooth", "mono", "fuse"])
def test_a_predictor_without_an_order_is_refused(name):
    data = problem(0)
    data["text"] = data["dose"].astype(str)

    with pytest.raises(DataError, match="ordered categorical"):
        ordfit(f"y ~ {name}(text)", data)
    long = pd.concat([data, data], ignore_index=True).assign(x=range(160))
    with pytest.raises(DataError, match="at most 100 levels"):
        ordfit(f"y ~ {name}(x)", long)


@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize(
    "options",
    [
        {"penalty": 1.0},
        {"start": [0.0]},
        {"cluster": "g"},
        {"vcov": "HC1"},
        {"method": "ordboost"},
        {"method": "redsvm"},
        {"link": "log-gamma"},
        {"design": ordstat.SurveyDesign(weights="w")},
    ],
)
def test_what_ordered_predictors_do_not_go_with_is_refused(formula, options):
    data = problem(0).assign(g=np.tile([1, 2, 3, 4], 20), w=1.5)
    with pytest.raises(OrdstatError, match=r"mooth|mono"):
        ordfit(formula, data, **options)


def test_rows_in_blocks_have_no_ordered_predictors(tmp_path):
    problem(0).to_parquet(tmp_path / "rows.parquet")
    for formula in FORMULAS:
        with not_in_blocks():
            ordfit(formula, str(tmp_path / "rows.parquet"))


@pytest.mark.parametrize(
    "options", [{"scale": "~ z"}, {"link": "cauchit"}, {"method": "stereotype"}]
)
def test_monotone_effects_need_a_concave_likelihood(options):
    with pytest.raises(OptionError, match="mono"):
        ordfit("y ~ mono(dose) + z", problem(0), **options)
    with pytest.raises(OptionError, match="mono"):
        ordfit("y ~ mono(dose) + s(z)", problem(0))
    with pytest.raises(FormulaError, match="increasing"):
        ordfit("y ~ mono(dose, 'up')", problem(0))


@pytest.mark.parametrize(("formula", "options"), CASES)
def test_numbers_with_few_values_are_ordered(formula, options):
    data = problem(0)
    numbers = data.assign(dose=2.5 * data["dose"].cat.codes)
    found = ordfit(formula, numbers, **options)
    expected = ordfit(formula, data, **options)
    np.testing.assert_allclose(found.params, expected.params, atol=1e-9)
    with pytest.raises(DataError, match="not in the fit"):
        found.predict(numbers.assign(dose=1.0))

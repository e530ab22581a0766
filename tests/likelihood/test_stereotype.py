"""Stereotype models: R's VGAM, derivatives by differences, models on either side, and
what their fits answer.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from expected import no_maximum, refused
from reference_cases import load_case, matrix
from scipy.optimize import approx_fprime, minimize

from ordstat import OptionError, StereotypeLogit, choose_family, load, ordfit
from ordstat.datasets import load as dataset
from ordstat.exceptions import ConvergenceWarning, DataWarning, UnavailableError

RNG = np.random.default_rng(7)
DATA = pd.DataFrame({"a": RNG.normal(size=240), "b": RNG.normal(size=240)})
DATA["g"] = RNG.choice(["u", "v", "w"], size=240)
LATENT = 1.2 * DATA["a"] - 0.5 * DATA["b"] + RNG.logistic(size=240)
DATA["y"] = pd.qcut(LATENT, 4, labels=["low", "mid", "high", "top"])
FORMULA = "y ~ a + b"
FIT = ordfit(FORMULA, DATA, "stereotype")
HOUSING = ordfit(
    "Sat ~ Infl + Type + Cont", dataset("housing"), "stereotype", weights="Freq"
)


def shares(params: np.ndarray, X: np.ndarray) -> np.ndarray:
    """(n, 4) probabilities by the definition, from (g, beta, phi)."""
    phi = np.concatenate([[0.0], params[-2:], [1.0]])
    scores = np.append(0.0, params[:3]) + np.outer(X @ params[3:-2], phi)
    odds = np.exp(scores)
    return odds / odds.sum(axis=1, keepdims=True)


def columns(frame: pd.DataFrame) -> np.ndarray:
    return frame[["a", "b"]].to_numpy()


def loglik(params: np.ndarray) -> float:
    codes = DATA["y"].cat.codes.to_numpy()
    return float(np.log(shares(params, columns(DATA))[np.arange(240), codes]).sum())


def test_housing_is_that_of_vgam() -> None:
    """rrvglm(multinomial(refLevel = "Low"), Rank = 1, Index.corner = 2), epsilon
    1e-14.
    """
    fit = HOUSING
    assert fit.loglik == pytest.approx(-1739.9290125520899, abs=1e-9)
    expected = [
        *(-0.310687181093715, -0.133308058927853),
        *(0.72581835919751059, 1.65324306000943966, -0.73559343909419306),
        *(-0.45558521567434451, -1.41274208240978449, 0.47433850757356266),
        0.47974774927875713,
    ]
    np.testing.assert_allclose(fit.params, expected, atol=1e-9)
    first = fit.predict(dataset("housing").head(1), type="prob").iloc[0]
    vgam = [0.383415212817967, 0.281021541754182, 0.335563245427851]
    np.testing.assert_allclose(first, vgam, atol=1e-10)


def test_the_reference_case_of_vgam() -> None:
    """Of rrvglm the highest level is the base: its effects on a level are (phi_k - 1)
    beta.
    """
    case = load_case("sim800_vgam_stereotype")
    fit = ordfit("y ~ x1 + x2 + f", case.frame(), "stereotype")
    tight = case.raw["tight"]
    assert fit.loglik == pytest.approx(tight["logLik"], abs=1e-9)
    expected = tight["coefficients"]
    lowest = [expected[name] for name in ("x1", "x2", "fmid", "fhi")]
    np.testing.assert_allclose(fit.coef, np.negative(lowest), atol=1e-7)
    against = matrix(case.raw["coef_matrix"])
    phi = fit.params[["phi.2", "phi.3"]]
    np.testing.assert_allclose(1.0 - phi, against.loc["x1"][1:] / lowest[0], atol=1e-7)
    head = matrix(case.raw["fitted_head"])
    p = fit.predict(type="prob").head(len(head))
    np.testing.assert_allclose(p, head, atol=1e-7)


def test_it_lies_between_adjacent_categories_and_the_multinomial_logit() -> None:
    acat = ordfit(FORMULA, DATA, "acat")
    multinomial = ordfit(FORMULA, DATA, "multinomial")
    assert acat.loglik < FIT.loglik < multinomial.loglik
    table = acat.anova(FIT, multinomial)
    assert table["df"].tolist()[1:] == [2.0, 2.0]
    assert table["p_value"][1:].between(0.0, 1.0).all()
    # equally spaced scores are adjacent categories
    even = 3.0 * acat.coef, np.array([1.0, 2.0]) / 3.0
    start = np.concatenate([-np.cumsum(acat.thresholds), *even])
    assert loglik(start) == pytest.approx(acat.loglik, abs=1e-8)


def test_two_levels_are_the_binary_logit() -> None:
    data = DATA.assign(y=DATA["y"].isin(["high", "top"]).astype(int))
    fit = ordfit(FORMULA, data, "stereotype")
    logit = ordfit(FORMULA, data, "logit")
    np.testing.assert_allclose(fit.coef, logit.coef, atol=1e-7)
    np.testing.assert_allclose(fit.se.iloc[1:], logit.se.iloc[1:], rtol=1e-6)
    assert fit.edf == 3 and fit.glance()["lr_p_value"].notna().all()


@pytest.mark.parametrize("seed", [1, 2])
def test_derivatives_are_differences(seed: int) -> None:
    problem = FIT.fit.likelihood.problem
    x = np.random.default_rng(seed).normal(size=problem.n_parameters)
    at = problem.evaluate(x)

    def value(point: np.ndarray) -> float:
        return problem.evaluate(point).loglik

    assert at.loglik == pytest.approx(loglik(problem.user.coefficients(x)), rel=1e-9)
    np.testing.assert_allclose(at.score, approx_fprime(x, value, 1e-7), atol=1e-3)
    h = 1e-6
    for j, unit in enumerate(np.eye(x.size)):
        up, down = (problem.evaluate(x + s * h * unit).score for s in (1.0, -1.0))
        slope = (down - up) / (2.0 * h)
        np.testing.assert_allclose(at.information.dense()[j], slope, atol=1e-4)


def test_estimates_are_a_maximum_with_its_errors() -> None:
    found = FIT.params.to_numpy()
    assert loglik(found) == pytest.approx(FIT.loglik, abs=1e-8)
    rng = np.random.default_rng(3)
    for _ in range(20):
        assert loglik(found + 0.01 * rng.normal(size=7)) < FIT.loglik


def test_answers_for_new_rows() -> None:
    """Probabilities by the definition; their errors and effects by differences."""
    new = DATA.head(5)
    found = FIT.params.to_numpy()
    table = FIT.predict(new, type="prob", se=True)
    np.testing.assert_allclose(
        table["estimate"], shares(found, columns(new)), atol=1e-9
    )
    V = FIT.vcov().to_numpy()
    steps = 1e-4 * np.sqrt(np.diag(V))
    slopes = np.array(
        [
            (shares(found + h, columns(new)) - shares(found - h, columns(new)))
            / (2 * s)
            for h, s in zip(np.diag(steps), steps, strict=True)
        ]
    )
    variances = np.einsum("anl,ab,bnl->nl", slopes, V, slopes)
    np.testing.assert_allclose(table["std_error"], np.sqrt(variances), rtol=1e-5)
    score = FIT.predict(new, type="score", se=True)
    of_score = np.einsum("na,ab,nb->n", columns(new), V[3:5, 3:5], columns(new))
    np.testing.assert_allclose(score["std_error"], np.sqrt(of_score), rtol=1e-6)
    effects = FIT.marginal_effects("a")
    moved = (
        shares(found, columns(DATA.assign(a=DATA["a"] + 1e-5)))
        - shares(found, columns(DATA.assign(a=DATA["a"] - 1e-5)))
    ).mean(axis=0) / 2e-5
    np.testing.assert_allclose(effects.frame["estimate"], moved, rtol=1e-6)


def test_robust_errors_are_those_of_the_rows() -> None:
    """HC0 from the scores of the rows, by differences of the definition."""
    found = FIT.params.to_numpy()
    steps = 1e-4 * FIT.se.to_numpy()
    rows = np.arange(240), DATA["y"].cat.codes.to_numpy()

    def logs(params: np.ndarray) -> np.ndarray:
        return np.log(shares(params, columns(DATA))[rows])

    scores = np.array(
        [
            (logs(found + h) - logs(found - h)) / (2.0 * s)
            for h, s in zip(np.diag(steps), steps, strict=True)
        ]
    )
    V = FIT.vcov().to_numpy()
    sandwich = V @ scores @ scores.T @ V
    np.testing.assert_allclose(FIT.vcov("HC0"), sandwich, rtol=1e-3, atol=1e-6)


@pytest.mark.slow
def test_profile_limits_have_the_likelihood_that_they_promise() -> None:
    limits = FIT.confint(type="profile", parm=["a", "phi.high"])
    found = FIT.params.to_numpy()
    for name, place in (("a", 3), ("phi.high", 6)):
        free = np.delete(np.arange(7), place)
        for end in limits.loc[name]:

            def fall(
                move: np.ndarray,
                end: float = end,
                free: np.ndarray = free,
                place: int = place,
            ) -> float:
                point = found.copy()
                point[free] += move
                point[place] = end
                return -loglik(point)

            lowest = minimize(fall, np.zeros(6), method="BFGS", tol=1e-8).fun
            assert 2.0 * (FIT.loglik + lowest) == pytest.approx(3.8415, abs=2e-3)


def test_tests_without_effects_are_not_given() -> None:
    assert np.isnan(FIT.glance()["lr_p_value"].item())
    assert "are undefined" in str(FIT.summary())
    only = ordfit("y ~ a", DATA, "stereotype")
    nothing = ordfit("y ~ 1", DATA, "stereotype")
    assert nothing.edf == 3 and np.isnan(nothing.params["phi.mid"])
    assert "Scores" not in str(nothing.summary()) + repr(nothing)
    assert "Scores" in repr(only)
    assert np.isnan(nothing.anova(only)["p_value"].iloc[1])
    assert np.isnan(only.drop1()["p_value"]["a"])
    assert np.isnan(nothing.add1("a")["p_value"]["a"])
    assert np.isnan(only.p_values["a"]) and np.isfinite(only.p_values["phi.mid"])
    assert np.isnan(only.test("a = 0")["p_value"]).all()
    joint = FIT.test("a = 0, b = 0")["p_value"]
    assert joint.notna()[["a = 0", "b = 0"]].all() and np.isnan(joint["joint"])
    assert FIT.test("a = 1, b = 1")["p_value"].notna().all()


def test_scores_of_neighbours_can_be_compared() -> None:
    table = FIT.test("phi.mid = phi.high")
    V = FIT.vcov()
    names = ["phi.mid", "phi.high"]
    contrast = np.array([1.0, -1.0])
    variance = contrast @ V.loc[names, names].to_numpy() @ contrast
    statistic = (contrast @ FIT.params[names].to_numpy()) ** 2 / variance
    assert table["chisq"].iloc[0] == pytest.approx(statistic)


def test_columns_far_from_0_change_nothing() -> None:
    moved = ordfit(FORMULA, DATA.assign(b=DATA["b"] + 1e6), "stereotype")
    np.testing.assert_allclose(moved.coef, FIT.coef, rtol=1e-6)
    np.testing.assert_allclose(moved.se.iloc[3:], FIT.se.iloc[3:], rtol=1e-5)
    assert moved.loglik == pytest.approx(FIT.loglik, abs=1e-7)


@pytest.mark.parametrize(
    "levels",
    [
        ["none", "low", "mid", "high", "top"],
        ["low", "mid", "none", "high", "top"],
        ["low", "mid", "high", "top", "none"],
    ],
)
def test_levels_without_rows(levels: list[str]) -> None:
    with pytest.warns(match="none"):
        fit = ordfit(FORMULA, DATA.astype({"y": str}), "stereotype", levels=levels)
    assert fit.loglik == pytest.approx(FIT.loglik, abs=1e-9)
    np.testing.assert_allclose(fit.coef, FIT.coef, rtol=1e-7)
    np.testing.assert_allclose(
        fit.params.filter(like="phi"), FIT.params[-2:], rtol=1e-7
    )
    present = ["low", "mid", "high", "top"]
    one, other = (f.predict(DATA.head(9), type="prob", se=True) for f in (fit, FIT))
    for part in ("estimate", "std_error"):
        np.testing.assert_allclose(one[part][present], other[part], rtol=1e-6)
    assert (one["estimate"]["none"] == 0.0).all()
    of_score = fit.predict(DATA.head(9), type="score", se=True)["std_error"]
    expected = FIT.predict(DATA.head(9), type="score", se=True)["std_error"]
    np.testing.assert_allclose(of_score, expected, rtol=1e-6)


def test_aliased_columns_are_left_out() -> None:
    data = DATA.assign(twice=2.0 * DATA["a"])
    with pytest.warns(match="twice"):
        fit = ordfit("y ~ a + twice + b", data, "stereotype")
    assert np.isnan(fit.coef["twice"])
    np.testing.assert_allclose(fit.coef[["a", "b"]], FIT.coef, rtol=1e-7)
    one, other = (f.predict(data.head(9), type="prob", se=True) for f in (fit, FIT))
    np.testing.assert_allclose(one, other, rtol=1e-6)


@pytest.mark.parametrize(
    "given",
    [
        {"nominal": "~ g"},
        {"scale": "~ g"},
        {"offset": "a"},
        {"link": "probit"},
        {"penalty": 1.0},
    ],
)
def test_what_it_has_not_is_refused(given: dict[str, str]) -> None:
    with pytest.raises(OptionError):
        ordfit(FORMULA, DATA, "stereotype", **given)


def test_a_value_with_a_penalty_is_refused() -> None:
    with refused("penalty of StereotypeLogit", "1.0"):
        StereotypeLogit(penalty=1.0)


@pytest.mark.parametrize(
    "question", ["nominal_test", "score_test", "brant", "influence"]
)
def test_questions_that_are_refused(question: str) -> None:
    with pytest.raises(UnavailableError, match="scores of the levels"):
        getattr(FIT, question)()


def test_it_is_among_the_families() -> None:
    table = choose_family("y ~ a + b", DATA, ["acat", "stereotype", "multinomial"])
    assert table["params"].to_dict() == {"acat": 5, "stereotype": 7, "multinomial": 9}
    assert table.loc["stereotype", "AIC"] == pytest.approx(FIT.aic)


def test_a_saved_fit_answers_the_same(tmp_path) -> None:
    FIT.save(tmp_path / "fit.ordstat")
    again = load(tmp_path / "fit.ordstat")
    pd.testing.assert_series_equal(again.params, FIT.params)
    one, other = (f.predict(DATA.head(4), type="prob", se=True) for f in (again, FIT))
    np.testing.assert_array_equal(one, other)
    assert again.confint(type="profile", parm=["a"]).notna().all(axis=None)


def test_a_column_that_determines_the_highest_level_has_no_estimate() -> None:
    z = (RNG.random(240) < 0.1).astype(float)
    data = DATA.assign(z=z, y=DATA["y"].mask(z == 1.0, "top"))
    with pytest.warns(ConvergenceWarning, match="no maximum.*multinomial"):
        fit = ordfit("y ~ a + z", data, "stereotype")
    assert fit.se.isna().all()
    for type in ("prob", "class", "linear_predictor"):
        with pytest.warns(DataWarning, match="no maximum.*method='multinomial'"):
            assert fit.predict(data.head(3), type=type).isna().all(axis=None)
    with pytest.warns(DataWarning, match="infinite estimate"):
        effects = fit.marginal_effects("a").frame
    assert effects["estimate"].isna().all()
    dropped = fit.drop1()
    assert dropped[["lrt", "p_value"]].isna().all(axis=None)
    assert "no maximum" in str(dropped.attrs)


def test_latent_means_are_log_odds_against_the_lowest_level() -> None:
    """Means of the log odds against the lowest level, by the definition, of this model
    and of the multinomial logit.
    """
    at = {"a": [0.0, 1.0], "b": [0.5]}
    found = FIT.params.to_numpy()
    phi = np.append(found[-2:], 1.0)
    expected = [
        (found[:3] + phi * (found[3] * a + 0.5 * found[4])).mean() for a in at["a"]
    ]
    means = FIT.emmeans("a", at=at).frame
    np.testing.assert_allclose(means["estimate"], expected, rtol=1e-8)
    wider = ordfit(FORMULA, DATA, "multinomial")
    g, of_a, of_b = wider.params.to_numpy().reshape(3, 3)
    expected = [(g + a * of_a + 0.5 * of_b).mean() for a in at["a"]]
    means = wider.emmeans("a", at=at).frame
    np.testing.assert_allclose(means["estimate"], expected, rtol=1e-8)


@pytest.mark.parametrize(
    "question",
    [
        "simulate",
        "reliability",
        "importance",
        "errors",
        "confusion",
        "residuals",
        "conformal",
        "discrimination",
        "bootstrap",
    ],
)
def test_questions_about_predictions_are_refused_where_rows_have_none(question):
    """Their numbers were those where the search had stopped."""
    x = np.linspace(-2.0, 2.0, 60)
    y = np.where(x > 0.7, 2, np.arange(60) % 2)
    with no_maximum():
        fit = ordfit("y ~ x", pd.DataFrame({"x": x, "y": y}), "stereotype")
    with pytest.raises(UnavailableError, match=r"no predictions.*its warning advises"):
        getattr(fit, question)()

"""What fits with an elastic net answer, and what they refuse."""

from __future__ import annotations

import inspect
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from expected import refused, unavailable

from ordstat import DataWarning, ElasticNet, OptionError, load, ordfit
from ordstat.exceptions import ConvergenceWarning, UnavailableError

RNG = np.random.default_rng(1)
FRAME = pd.DataFrame(RNG.normal(size=(150, 4)), columns=["a", "b", "c", "d"])
FRAME["g"] = RNG.choice(["u", "v", "w"], size=150)
LATENT = FRAME["a"] - FRAME["b"] + 2.0 * (FRAME["g"] == "w") + RNG.logistic(size=150)
FRAME["y"] = pd.qcut(LATENT, 4, labels=["lo", "mid", "high", "top"])
FIT = ordfit("y ~ a + b + c + d + g", FRAME, penalty=ElasticNet(n_lambdas=30))


@pytest.mark.parametrize(
    "question",
    [
        "vcov confint conf_int profile bootstrap test anova joint_tests drop1 add1",
        "nominal_test scale_test score_test brant gof influence vif marginal_effects",
        "step emmeans emtrends superiority subgroups with_vcov bounds margins",
    ],
)
def test_what_needs_errors_is_refused_with_a_remedy(question):
    for name in question.split():
        assert not hasattr(FIT, name)
        with unavailable("elastic net"):
            getattr(FIT, name)


@pytest.mark.parametrize("fit", [FIT, FIT.at(FIT.path["lambda"].iloc[3])])
def test_criteria_are_the_same_wherever_they_are_asked_for(fit):
    row = fit.glance().iloc[0]
    deviance = -2.0 * fit.loglik
    assert fit.aic == row["aic"] == pytest.approx(deviance + 2.0 * fit.edf)
    by_rows = deviance + np.log(150) * fit.edf
    assert fit.bic == row["bic"] == pytest.approx(by_rows)


def test_no_number_of_it_is_an_error_or_a_p_value():
    assert FIT.se.isna().all() and FIT.p_values.isna().all()
    table = FIT.tidy()
    uncertain = ["std_error", "statistic", "p_value", "conf_low", "conf_high"]
    assert table[uncertain].isna().all(axis=None)
    text = str(FIT.summary())
    assert "No standard errors or p-values" in text
    assert "P>" not in text and "2.5%" not in text and "LR test" not in text


def test_pictures_with_limits_are_not_offered():
    offered = set(FIT.plot.names)
    assert "path" in offered and "cv" not in offered
    limited = {"forest", "profiles", "effects", "emmeans", "influence", "parallel"}
    assert not offered & limited


def test_at_gives_the_fit_of_its_lambda():
    for lam in FIT.path["lambda"].iloc[[0, 5, 10]]:
        one = ordfit("y ~ a + b + c + d + g", FRAME, penalty=ElasticNet(lambdas=lam))
        there = FIT.at(lam)
        assert there.lambda_ == lam
        np.testing.assert_allclose(there.params, one.params, atol=1e-5)
        np.testing.assert_allclose(
            there.predict(type="prob"), one.predict(type="prob"), atol=1e-5
        )
        assert there.loglik == pytest.approx(one.loglik, abs=1e-4)
    with pytest.raises(OptionError, match="nearest"):
        FIT.at(1.2345)
    with refused("lam"):
        FIT.at("min")
    with pytest.raises(UnavailableError, match="cv=10"):
        _ = FIT.lambda_min


def test_predictions_are_those_of_the_coefficients():
    theta = FIT.thresholds.to_numpy()
    columns = FIT.model_matrix()[FIT.coef.index].to_numpy(dtype=float)
    score = columns @ FIT.coef.to_numpy()
    np.testing.assert_allclose(FIT.predict(type="score"), score, atol=1e-12)
    below = 1.0 / (1.0 + np.exp(-(theta[None, :] - score[:, None])))
    cumulative = FIT.predict(type="cum_prob").to_numpy()[:, :3]
    np.testing.assert_allclose(cumulative, below, atol=1e-12)


def test_refit_is_the_plain_fit_of_the_selected_terms():
    fit = FIT.at(FIT.path["lambda"].iloc[4])
    with pytest.warns(DataWarning, match="do not account for the selection"):
        plain = fit.refit()
    expected = ordfit(f"y ~ {' + '.join(fit.selected)}", FRAME)
    pd.testing.assert_series_equal(plain.params, expected.params)
    assert "selection" in str(plain.summary())
    with pytest.warns(DataWarning):
        nothing = FIT.at(FIT.path["lambda"].iloc[0]).refit()
    assert nothing.coef.empty


def test_refit_with_effects_on_all_thresholds():
    net = ElasticNet(lambdas=0.02)
    fit = ordfit("y ~ a + b", FRAME, nominal="~ c", penalty=net, method="cratio")
    assert fit.selected_nominal == ["c"] or fit.selected_nominal == []
    with pytest.warns(DataWarning):
        plain = fit.refit()
    nominal = "~ c" if fit.selected_nominal else "~ 1"
    expected = ordfit(
        f"y ~ {' + '.join(fit.selected)}", FRAME, nominal=nominal, method="cratio"
    )
    assert plain.loglik == pytest.approx(expected.loglik, abs=1e-8)


def test_a_saved_fit_keeps_its_path(tmp_path):
    file = tmp_path / "fit.ordstat"
    FIT.save(file)
    again = load(file)
    pd.testing.assert_frame_equal(again.path, FIT.path)
    lam = FIT.path["lambda"].iloc[7]
    pd.testing.assert_series_equal(again.at(lam).params, FIT.at(lam).params)


def test_update_without_the_penalty_is_the_plain_fit():
    plain = ordfit("y ~ a + b + c + d + g", FRAME)
    pd.testing.assert_series_equal(FIT.update(penalty=None).params, plain.params)


def test_summary_names_what_is_0():
    fit = FIT.at(FIT.path["lambda"].iloc[3])
    text = str(fit.summary())
    zero = [term for term in "abcdg" if term not in fit.selected]
    assert f"Coefficients 0: {', '.join(zero)}." in text
    assert "Deviance explained" in text


def test_every_public_question_answers_or_refuses():
    """No method of likelihood fits fails in another way."""
    names = [name for name in dir(FIT) if not name.startswith("_")]
    for name in names:
        try:
            member = getattr(FIT, name)
        except UnavailableError:
            continue
        simple = inspect.ismethod(member) and all(
            parameter.default is not parameter.empty
            or parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
            for parameter in inspect.signature(member).parameters.values()
        )
        if simple and name not in ("plot", "update", "refit", "save", "importance"):
            try:
                member()
            except (UnavailableError, OptionError):
                continue


@pytest.mark.parametrize(
    "option", [{"exponentiate": True}, {"level": 0.9}, {"per": "sd"}]
)
def test_a_summary_refuses_what_it_cannot_show(option):
    (name,) = option
    with refused(name):
        FIT.summary(**option)


def test_equal_columns_of_a_lasso_are_named() -> None:
    """Columns that are equal up to shift, scale and sign: the order decides which has
    the effect, and the ridge part of a penalty divides it.
    """
    rng = np.random.default_rng(0)
    x = rng.normal(size=120)
    data = pd.DataFrame(
        {
            "y": np.digitize(x + rng.logistic(size=120), [-1.0, 1.0]),
            "x": x,
            "turned": 5.0 - 2.0 * x,
            "z": rng.normal(size=120),
            "one": 1.0,
        }
    )
    lasso = ElasticNet(lambdas=[0.02])
    with pytest.warns(DataWarning, match="^x, turned are the same column"):
        first = ordfit("y ~ x + turned + z", data, penalty=lasso)
    with pytest.warns(DataWarning, match="^turned, x are the same column"):
        second = ordfit("y ~ turned + x + z", data, penalty=lasso)
    assert abs(first.coef["x"] - second.coef["x"]) > 0.1
    plain = ordfit("y ~ x + z", data, penalty=lasso)
    for fit in (first, second):
        np.testing.assert_allclose(
            fit.predict(type="prob"), plain.predict(type="prob"), atol=1e-6
        )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        both = ElasticNet(l1_ratio=0.5, lambdas=[0.02])
        divided = ordfit("y ~ x + turned + z", data, penalty=both).coef
        dearer = ElasticNet(lambdas=[0.02], factors={"x": 1.5})
        assert ordfit("y ~ x + turned", data, penalty=dearer).coef["x"] == 0.0
    assert divided["x"] == pytest.approx(-2.0 * divided["turned"], rel=1e-5)
    with pytest.warns(DataWarning) as caught:
        ordfit("y ~ x + one + z", data, penalty=lasso)
    assert not any("same column" in str(one.message) for one in caught)


def test_the_multinomial_logit_selects_and_refits() -> None:
    """Equal columns share the degrees of freedom of one; effects are on the log odds
    against the lowest level.
    """
    rng = np.random.default_rng(1)
    x, z = rng.normal(size=(2, 150))
    data = pd.DataFrame(
        {"y": np.digitize(x + rng.logistic(size=150), [-1.0, 1.0]), "x": x, "z": z}
    )
    data["twice"] = 2.0 * x
    lasso = ElasticNet(lambdas=[0.1, 0.05, 0.02])
    one = ordfit("y ~ x + z", data, "multinomial", penalty=lasso)
    with pytest.warns(DataWarning, match="x, twice are the same column"):
        two = ordfit("y ~ x + twice + z", data, "multinomial", penalty=lasso)
    np.testing.assert_allclose(two.path["df"], one.path["df"], rtol=1e-4)
    assert one.coef["2/0.x"] > 0.0
    title = r"log odds against the lowest level, where not 0 \(positive = more\s+likely"
    assert re.search(title, str(one.summary()))
    with pytest.warns(DataWarning, match="selected by an elastic net"):
        plain = one.refit()
    expected = ordfit(f"y ~ {' + '.join(one.selected_nominal)}", data, "multinomial")
    pd.testing.assert_series_equal(plain.params, expected.params)


@pytest.mark.parametrize("errors", [{"se": True}, {"interval": "confidence"}])
@pytest.mark.parametrize("type", ["prob", "mean", "cum_prob"])
def test_predictions_have_no_errors(type, errors):
    with pytest.raises(UnavailableError):
        FIT.predict(FRAME.head(2), type=type, **errors)


def test_a_lambda_below_rounding_is_not_said_to_be_converged() -> None:
    net = ElasticNet(lambdas=1e-13)
    with pytest.warns(ConvergenceWarning, match="no further progress"):
        fit = ordfit("y ~ a + b", FRAME, penalty=net)
    assert not fit.converged
    assert fit.path["kkt"].iloc[0] > 1e-7

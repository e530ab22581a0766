"""Covariance matrices that users bring to with_vcov()."""

import numpy as np
import pandas as pd
import pytest

from ordstat import SurveyDesign, datasets, load, ordfit, pool
from ordstat.exceptions import DataWarning, OptionError, UnavailableError

WINE = datasets.load("wine")
FORMULA = "rating ~ temp + contact"
CLUSTERED = {"cluster": "judge", "type": "CR1"}
MODELS = {
    "clm": {},
    "probit": {"nominal": "~ contact"},
    "cloglog": {"scale": "~ temp"},
    "equidistant": {"threshold": "equidistant"},
    "acat": {"method": "acat"},
    "cratio": {"method": "cratio"},
}


def fitted(model):
    options = dict(MODELS[model])
    method = options.pop("method", model if model in ("probit", "cloglog") else "clm")
    formula = "rating ~ temp" if "nominal" in options else FORMULA
    return ordfit(formula, WINE, method, **options)


@pytest.mark.parametrize("model", MODELS)
def test_a_matrix_that_has_a_name_gives_what_the_name_gives(model):
    fit = fitted(model)
    named = fit.with_vcov(CLUSTERED)
    matrix = named.vcov()
    shuffled = matrix.iloc[::-1, np.random.default_rng(0).permutation(len(matrix))]
    for given in (matrix, shuffled, matrix.to_numpy(), matrix.to_numpy().tolist()):
        own = fit.with_vcov(given)
        pd.testing.assert_frame_equal(own.vcov(), matrix, rtol=1e-12)
        pd.testing.assert_series_equal(own.se, named.se)
        pd.testing.assert_frame_equal(own.confint(), named.confint())
    pd.testing.assert_frame_equal(
        fit.predict(WINE.head(3), "prob", se=True, vcov=matrix),
        named.predict(WINE.head(3), "prob", se=True),
        rtol=1e-10,
    )
    pd.testing.assert_frame_equal(
        fit.test("`temp[T.warm]` = 1", vcov=matrix),
        named.test("`temp[T.warm]` = 1"),
        rtol=1e-10,
    )


def test_errors_of_functions_by_the_delta_method():
    """P(rating <= 1) = F(theta_1 - x'beta): its gradient by hand."""
    fit = ordfit(FORMULA, WINE)
    matrix = np.diag(np.arange(1.0, 7.0)) / 50.0 + 0.01
    table = fit.with_vcov(matrix).predict(WINE.iloc[[70]], "cum_prob", se=True)
    eta = fit.thresholds.iloc[0] - fit.coef.sum()
    density = np.exp(-eta) / (1.0 + np.exp(-eta)) ** 2
    gradient = density * np.array([1.0, 0.0, 0.0, 0.0, -1.0, -1.0])
    expected = np.sqrt(gradient @ matrix @ gradient)
    assert np.isclose(table["std_error"][1].iloc[0], expected, rtol=1e-8)


def test_a_semidefinite_matrix_is_one():
    """Errors of 0, and of parameters that move together."""
    fit = ordfit(FORMULA, WINE)
    together = np.zeros((6, 6))
    together[4:, 4:] = 0.25
    own = fit.with_vcov(together)
    assert own.se.tolist() == [0.0, 0.0, 0.0, 0.0, 0.5, 0.5]
    joint = own.test("`temp[T.warm]` = 2, `contact[T.yes]` = 1").loc["joint"]
    # both move alike, and are not equally far from these values
    assert joint["df"] == 1 and np.isinf(joint["chisq"])


def _asymmetric(matrix):
    matrix.iloc[0, 1] += 0.1
    return matrix


def _indefinite(matrix):
    matrix.iloc[0, 1] = matrix.iloc[1, 0] = 5.0
    return matrix


def _missing(matrix):
    matrix.iloc[0, 0] = np.nan
    return matrix


WRONG = {
    "rows '1\\|2'.*lacks '1\\|2'\\.": lambda m: m.iloc[1:],
    "columns .*lacks 'temp.*has 'warmth' too": (
        lambda m: m.rename(columns={"temp[T.warm]": "warmth"})
    ),
    "twice": lambda m: m.iloc[[0, *range(6)]],
    "6 x 6 matrix.*got shape \\(5, 5\\)": lambda m: m.to_numpy()[1:, 1:],
    "got shape \\(6,\\)": lambda m: np.diagonal(m.to_numpy()),
    "symmetric; \\('1\\|2', '2\\|3'\\)": _asymmetric,
    "positive semidefinite.*eigenvalue -": _indefinite,
    "that of '1\\|2' is -": lambda m: -m,
    "finite values": _missing,
    "matrix of numbers": lambda m: m.astype(str).replace("0.*", "a", regex=True),
}


@pytest.mark.parametrize("message", WRONG)
def test_what_is_no_covariance_is_refused(message):
    fit = ordfit(FORMULA, WINE)
    with pytest.raises(OptionError, match=message):
        fit.with_vcov(WRONG[message](fit.vcov()))


def test_fits_that_take_no_matrix():
    mixed = ordfit(FORMULA + " + (1 | judge)", WINE)
    survey = ordfit(
        FORMULA, WINE.assign(w=1.0 + WINE.index % 3), design=SurveyDesign(weights="w")
    )
    for fit, what in ((mixed, "random effects"), (survey, "survey design")):
        with pytest.raises(OptionError, match=f"name for fits with .*{what}"):
            fit.with_vcov(np.eye(6))
    with pytest.raises(OptionError, match=r"fit\.with_vcov\(matrix\)"):
        ordfit(FORMULA, WINE, vcov=np.eye(6))


def test_questions_about_the_likelihood_are_refused():
    fit = ordfit(FORMULA, WINE)
    own = fit.with_vcov(fit.vcov())
    for question in ("profile", "drop1", "nominal_test", "score_test", "gof"):
        with pytest.raises(UnavailableError):
            getattr(own, question)()
    with pytest.raises(UnavailableError):
        fit.subgroups("temp", "contact", vcov=fit.vcov())
    assert "a covariance matrix given to with_vcov()" in str(own.summary())


def test_a_new_fit_has_a_covariance_of_its_own():
    fit = ordfit(FORMULA, WINE)
    own = fit.with_vcov(4.0 * fit.vcov())
    with pytest.warns(DataWarning, match=r"Call with_vcov\(\) of the new fit"):
        changed = own.update("~ . - contact")
    pd.testing.assert_series_equal(changed.se, ordfit("rating ~ temp", WINE).se)


def test_it_is_saved_and_pooled(tmp_path):
    fit = ordfit(FORMULA, WINE)
    own = fit.with_vcov(4.0 * fit.vcov())
    own.save(tmp_path / "fit.ordstat")
    again = load(tmp_path / "fit.ordstat")
    assert np.allclose(again.se, 2.0 * fit.se)
    with pytest.warns(DataWarning, match="equal"):
        pooled = pool([own, own])
    assert np.allclose(pooled.se, 2.0 * fit.se)

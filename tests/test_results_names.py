"""Public names of results: those that answered once answer still, and few of them crowd
completion.
"""

import inspect
import pickle
import warnings

import pytest
from expected import likelihood_needed

from ordstat import datasets, ordfit

EVERY = """
alerts augment bounds calibrated call certificate check_parts check_rows conformal
confusion design errors fit fitter formula gaps geometry glance learner levels
margin_bounds margins method no_bounds nobs own_cost plot predict prediction_types
predicts probabilities_of reliability report summary threshold_names trace training
training_errors training_margins update
"""
OLD = {
    "clm": (
        """
        add1 aic anova bic bootstrap brant bse coef conf_int confint cov_params
        covariance deviance df_residual discrimination drop1 edf emmeans gof influence
        llf loglik nominal_test null_loglik own_covariance p_values parameters params
        profile pvalues residuals robust scale_test score_test se simulate step test
        thresholds tidy tvalues vcov with_vcov z_values
    """
    ),
    "redsvm": (
        """
        coef params support thresholds tidy
    """
    ),
    "orboost-all": (
        """
        at coef importance more params rounds staged staged_errors support thresholds
        tidy
    """
    ),
    "bagging": (
        """
        at bound importance more nodes rounds staged staged_errors text
    """
    ),
    "prank": (
        """
        coef mistake_bound params partial_fit support thresholds tidy
    """
    ),
}
#: A kernel has no coefficients, and votes have no margins: the names raise
#: UnavailableError.
REFUSED = {"redsvm": {"coef"}, "orboost-all": {"coef"}, "bagging": {"training_margins"}}
MOST = 55
STATSMODELS = ["bse", "tvalues", "pvalues", "conf_int", "cov_params", "llf"]


@pytest.fixture(scope="module")
def fits():
    options = {"orboost-all": {"rounds": 5}, "bagging": {"rounds": 5}}
    wine = datasets.load("wine")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {
            name: ordfit("rating ~ temp + contact", wine, name, **options.get(name, {}))
            for name in OLD
        }


@pytest.mark.parametrize("method", OLD)
def test_every_old_name_still_answers(fits, method):
    names = {*EVERY.split(), *OLD[method].split()}
    assert {name for name in names if not hasattr(fits[method], name)} == REFUSED.get(
        method, set()
    )


@pytest.mark.parametrize("method", OLD)
def test_few_names_are_listed_and_all_of_them_answer(fits, method):
    listed = [name for name in dir(fits[method]) if not name.startswith("_")]
    assert 20 <= len(listed) <= MOST
    assert {name for name in listed if not hasattr(fits[method], name)} == REFUSED.get(
        method, set()
    ) & {"coef"}
    assert not set(listed) & {
        *STATSMODELS,
        "design",
        "fit",
        "fitter",
        "training",
        "target",
        "parameters",
    }


def test_statsmodels_names_are_other_names(fits):
    fit = fits["clm"]
    assert fit.llf == fit.loglik
    assert (
        fit.bse.equals(fit.se)
        and fit.tvalues.equals(fit.z_values)
        and fit.pvalues.equals(fit.p_values)
    )
    assert fit.conf_int(alpha=0.1).equals(fit.confint(0.9)) and fit.cov_params().equals(
        fit.vcov()
    )


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("marginal_effects", "variables"),
        ("predict", "newdata"),
        ("conf_int", "alpha"),
        ("update", "formula"),
        ("gof", "groups"),
    ],
)
def test_signature_and_help_are_those_of_the_topic(fits, name, first):
    method = getattr(fits["clm"], name)
    assert next(iter(inspect.signature(method).parameters)) == first
    assert (
        inspect.getdoc(method) and inspect.ismethod(method) and method.__name__ == name
    )


@pytest.mark.parametrize("method", OLD)
def test_results_go_through_pickle(fits, method):
    fit = fits[method]
    copy = pickle.loads(pickle.dumps(fit))
    assert type(copy) is type(fit) and str(copy.summary()) == str(fit.summary())
    assert copy.predict().equals(fit.predict()) and copy.glance().equals(fit.glance())


@pytest.mark.parametrize(
    "name", ["predict", "marginal_effects", "confint", "conf_int", "update"]
)
def test_methods_go_through_pickle(fits, name):
    """As they do on the way to another process."""
    copy = pickle.loads(pickle.dumps(getattr(fits["clm"], name)))
    assert (
        type(copy.__self__) is type(fits["clm"])
        and copy.__func__ is getattr(fits["clm"], name).__func__
    )


def test_warnings_name_the_line_of_the_user():
    """Separated: the effects of temp have no errors."""
    wine = datasets.load("wine").query("rating != 3")
    wine = wine[(wine["rating"] > 3) == (wine["temp"] == "warm")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = ordfit("rating ~ temp", wine)
        means = fit.emmeans("temp", scale="prob")
    asked = [
        lambda: fit.marginal_effects("temp").frame,
        lambda: fit.emmeans("temp", scale="prob"),
        means.contrasts,
    ]
    for ask in [*asked, lambda: fit.update(method="probit")]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            ask()
        assert caught and {one.filename for one in caught} == {__file__}


def test_names_of_nobody_are_refused(fits):
    for fit in fits.values():
        with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
            _ = fit.nothing
    with likelihood_needed():
        _ = fits["redsvm"].bse

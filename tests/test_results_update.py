"""Fits made again: R's update of formulas, other methods, and data that have
changed.
"""

import pickle

import numpy as np
import pandas as pd
import pytest
from expected import no_data, refused
from reference_cases import load_data

from ordstat import SurveyDesign, ordfit
from ordstat.exceptions import DataError, DataWarning, FormulaError, OptionError
from ordstat.formula import design
from ordstat.formula.design import make
from ordstat.formula.recipe import updated_formula


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("y ~ a + b", "~ . - b", "y ~ a"),
        ("y ~ a + b", "~ . + c", "y ~ a + b + c"),
        ("y ~ a * b", ". ~ . - a:b", "y ~ a + b"),
        ("y ~ a", "z ~ .", "z ~ a"),
        ("y ~ a", "~ b", "y ~ b"),
        ("y ~ a", "b", "y ~ b"),
        ("y ~ a", "+ b", "y ~ a + b"),
        ("y ~ a + b", " - b", "y ~ a"),
        ("y ~ a", "~ + b", "y ~ b"),
        ("y ~ a", "~ . - a", "y ~ 1"),
        ("y ~ a + offset(w)", "~ . + b", "y ~ a + b + offset(w)"),
        ("y ~ `a b` + I(c^2)", "~ . - c + log(d)", "y ~ `a b` + I(c^2) + log(d)"),
        ("y ~ a + b + c", "~ (. - c)^2", "y ~ a + b + a:b"),
        ("y ~ .", "~ . - b", "y ~ (.) - b"),
    ],
)
def test_formulas_as_r_updates_them(old, new, expected):
    assert updated_formula(old, new) == expected


@pytest.mark.filterwarnings("ignore::ordstat.exceptions.SeparationWarning")
def test_a_fit_made_again_is_the_fit():
    wine = load_data("wine")
    fit = ordfit("rating ~ temp * contact", data=wine)
    smaller = {
        "~ . - temp:contact": "rating ~ temp + contact",
        "~ . - contact:temp - contact": "rating ~ temp",
    }
    for change, formula in smaller.items():
        np.testing.assert_array_equal(
            fit.update(change).params, ordfit(formula, data=wine).params
        )
    for changes in ({"method": "probit"}, {"link": "probit"}):
        same = ordfit("rating ~ temp * contact", data=wine, method="probit")
        np.testing.assert_array_equal(fit.update(**changes).params, same.params)
    partial = fit.update("~ temp", nominal="~ contact")
    assert partial.update("~ .", nominal="~ 1").params.index.tolist() == [
        "1|2",
        "2|3",
        "3|4",
        "4|5",
        "temp[T.warm]",
    ]
    assert partial.update(nominal="~ . + temp", formula="~ 1").design.nominal_names == (
        "contact[T.yes]",
        "temp[T.warm]",
    )
    assert fit.update(subset="bottle != '1'").nobs == 63
    assert fit.update(method="redsvm", C=3.0).method.C == 3.0


def test_other_arguments_stay():
    data = load_data("sim500")
    weights = np.arange(500) % 3 + 1
    fit = ordfit(
        "y ~ x1 + x2",
        data=data,
        weights=weights,
        subset=data["x3"] > 0,
        contrasts={},
        vcov="HC1",
    )
    smaller = fit.update("~ . - x2")
    direct = ordfit("y ~ x1", data=data, weights=weights, subset=data["x3"] > 0)
    np.testing.assert_array_equal(smaller.params, direct.params)
    assert (
        smaller.covariance == "HC1"
        and fit.update("~ .", vcov="model").covariance == "model"
    )


def test_data_must_be_what_they_were():
    wine = load_data("wine")
    fit = ordfit("rating ~ temp", data=wine)
    wine["more"] = np.arange(72)
    # a new column changes nothing of the fit
    assert "more" in fit.update("~ . + more").params
    for column, changed in (
        ("temp", "the columns of the formula"),
        ("rating", "the response"),
    ):
        other = wine.copy()
        values = wine[column].to_numpy().copy()
        values[:] = values[::-1]
        wine[column] = type(wine[column])(
            values, dtype=wine[column].dtype, index=wine.index
        )
        with pytest.raises(DataError, match=changed):
            fit.update("~ . + contact")
        wine[column] = other[column]
    columns = {"y": [1, 2, 1, 2, 1], "x": [0.0, 1.0, 2.0, 3.0, 4.0]}
    fit = ordfit("y ~ x", data=columns)
    columns |= {"y": [1, 2, 1, 2], "x": [0.0, 1.0, 2.0, 3.0]}
    with pytest.raises(DataError, match="5 rows were used, now there are 4"):
        fit.update("~ 1")


def test_a_design_is_made_once_to_look_whether_data_changed(monkeypatch):
    made = []

    def counted(*arguments, **options):
        made.append(arguments)
        return make(*arguments, **options)

    fit = ordfit("rating ~ temp", data=load_data("wine"))
    monkeypatch.setattr(design, "make", counted)
    fit.vcov({"cluster": "judge", "type": "CR1"})
    assert len(made) == 1
    fit.update("~ . + contact")
    assert len(made) == 3  # to look, and the new one


def test_the_call_names_all_levels():
    data = load_data("wine").assign(rating=lambda wine: wine.rating.astype(int))
    call = ordfit("rating ~ temp", data=data, levels="all").call
    assert call == "ordfit('rating ~ temp', levels='all')"


def test_a_pickled_fit_asks_for_its_data():
    wine = load_data("wine")
    fit = ordfit("rating ~ temp", data=wine)
    assert fit.design.data is wine
    again = pickle.loads(pickle.dumps(fit))
    assert again.design.data is None
    with no_data():
        again.update("~ . + contact")
    assert (
        again.update("~ . + contact", data=wine).loglik
        == fit.update("~ . + contact").loglik
    )
    # needs no data
    assert again.update(method="probit").loglik == fit.update(method="probit").loglik


@pytest.mark.parametrize(
    ("changes", "error", "match"),
    [
        ({"price": 1}, OptionError, "no argument 'price'"),
        ({"link": "logistic"}, OptionError, "link"),
        ({"formula": "~ . +"}, FormulaError, "Cannot read"),
        ({"formula": "~ . + taste"}, DataError, "taste"),
    ],
)
def test_changes_that_cannot_be_made(changes, error, match):
    with pytest.raises(error, match=match):
        ordfit("rating ~ temp", data=load_data("wine")).update(**changes)


def test_contrasts_of_columns_outside_the_formula_are_kept_for_updates():
    wine = load_data("wine")
    fit = ordfit(
        "rating ~ temp", data=wine, contrasts={"contact": "sum", "temp": "sum"}
    )
    assert fit.design.names == ("temp[S.cold]",)
    both = fit.update("~ . + contact")
    assert both.design.names == ("temp[S.cold]", "contact[S.no]")
    assert both.update("~ 1").update("~ contact").design.names == ("contact[S.no]",)
    assert fit.update(nominal="~ contact").design.nominal_names == ("contact[S.no]",)
    called = ordfit(
        "rating ~ C(judge) + temp", data=wine, contrasts={"C(judge)": "sum"}
    )
    assert called.update("~ . - C(judge)").design.names == ("temp[T.warm]",)


def test_a_text_that_begins_with_a_sign_goes_on_from_the_old_terms():
    fit = ordfit("y ~ x1", load_data("sim500"), nominal="~ x2")
    assert fit.update("+ x2 + x3", nominal="~ 1").design.formula == "y ~ x1 + x2 + x3"
    assert fit.update("- x1", nominal="+ x3").design.nominal_names == ("x2", "x3")


@pytest.mark.parametrize(
    "vcov", ["HC0", "HC1", {"cluster": "judge"}, {"cluster": "judge", "type": "CR2"}]
)
def test_another_method_keeps_the_covariance(vcov):
    wine = load_data("wine")
    for fit in (
        ordfit("rating ~ temp", wine, vcov=vcov),
        ordfit("rating ~ temp", wine).with_vcov(vcov),
    ):
        moved = fit.update(method="probit")
        np.testing.assert_array_equal(
            moved.se, ordfit("rating ~ temp", wine, "probit", vcov=vcov).se
        )
        assert moved.covariance == fit.covariance
    assert fit.update(method="redsvm").method.C == 1.0  # has no standard errors
    with refused("vcov"):
        fit.update(method="redsvm", vcov="HC1")
    assert fit.update(method="probit", vcov="model").covariance == "model"


def test_other_rows_keep_their_clusters():
    """A named column is read anew; values go with the index of their rows."""
    wine = load_data("wine")
    for given in ("judge", wine["judge"], wine["judge"].to_numpy()):
        fit = ordfit("rating ~ temp", wine).with_vcov({"cluster": given, "type": "CR2"})
        some = fit.update(subset="bottle != '1'")
        expected = ordfit("rating ~ temp", wine[wine["bottle"] != "1"]).vcov(
            {"cluster": "judge", "type": "CR2"}
        )
        np.testing.assert_allclose(some.vcov(), expected, rtol=1e-12)
        assert some.covariance == "CR2"
    other = wine.assign(judge=wine["judge"].to_numpy()[::-1]).iloc[:-1]
    named = ordfit("rating ~ temp", wine).with_vcov({"cluster": "judge"})
    expected = ordfit("rating ~ temp", other, vcov={"cluster": "judge"}).vcov()
    np.testing.assert_allclose(named.update(data=other).vcov(), expected, rtol=1e-12)
    with refused("vcov", error=DataError):
        fit.update(data=other.set_index(np.arange(71) + 1000))


def test_clusters_of_new_data_under_the_old_index():
    wine = load_data("wine")
    other = wine.assign(judge=np.arange(72) % 12)
    fit = (
        ordfit("rating ~ temp", wine).with_vcov({"cluster": "judge"}).update(data=other)
    )
    np.testing.assert_allclose(
        fit.vcov(), ordfit("rating ~ temp", other, cluster="judge").vcov(), rtol=1e-12
    )


def test_a_new_method_names_the_options_that_it_leaves_out():
    wine = load_data("wine")
    fit = ordfit("rating ~ temp + contact", wine, penalty=1.0)
    with pytest.warns(DataWarning, match=r"left out options of the fit: penalty=1\.0"):
        plain = fit.update(method="probit")
    assert plain.method.penalty is None
    assert fit.update(method="probit", penalty=1.0).method.penalty == 1.0
    assert fit.update(link="probit").method.penalty == 1.0
    assert ordfit("rating ~ temp", wine, "probit").update(method="logit").loglik < 0.0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("weights", 1.0 + np.arange(72) % 3),
        ("offset", np.arange(72) / 50.0),
        ("cluster", "judge"),
        ("subset", "judge != '1'"),
        ("design", SurveyDesign(weights="response", clusters="judge")),
        ("contrasts", {"contact": "sum"}),
        ("vcov", "HC0"),
        ("penalty", 1.0),
    ],
)
def test_none_removes_an_argument_as_in_r(name, value):
    """R's update(fit, weights = NULL)."""
    wine = load_data("wine")
    plain = ordfit("rating ~ temp + contact", wine)
    other = ordfit("rating ~ temp + contact", wine, **{name: value})
    assert not np.allclose(other.se, plain.se, rtol=1e-3) or name == "contrasts"
    removed = other.update(**{name: None})
    pd.testing.assert_series_equal(removed.params, plain.params)
    pd.testing.assert_series_equal(removed.se, plain.se)
    assert removed.nobs == 72

"""Names and habits that users of other packages bring along."""

import pytest

from ordstat import DataError, FormulaError, OptionError, datasets, ordfit
from ordstat.methods import METHODS
from ordstat.model.kernels.named import KERNELS
from ordstat.results.predictions import PREDICTION_TYPES
from ordstat.words import ATTRIBUTES, OTHER_NAMES

WINE = datasets.load("wine")
FORMULA = "rating ~ temp + contact"


def test_every_other_name_means_one_that_is_there():
    known = {*METHODS, *KERNELS, *PREDICTION_TYPES}
    assert set(OTHER_NAMES.values()) <= known
    assert not set(OTHER_NAMES) & known


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("polr", "logit"),
        ("ordered_logit", "logit"),
        ("oprobit", "probit"),
        ("Ordinal Probit", "probit"),
        ("svm", "redsvm"),
    ],
)
def test_methods(given, meant):
    assert ordfit(FORMULA, WINE, given).method == ordfit(FORMULA, WINE, meant).method


def test_kernels_links_and_types():
    one, other = (ordfit(FORMULA, WINE, "svm", kernel=kernel) for kernel in ("RBF", "gaussian"))
    assert one.thresholds.equals(other.thresholds)
    fit = ordfit(FORMULA, WINE)
    assert fit.predict(type="probs").equals(fit.predict(type="prob"))
    se = fit.predict(WINE, type="Linear predictor", se=True)
    assert se.equals(fit.predict(WINE, type="linear_predictor", se=True))


@pytest.mark.parametrize(
    ("option", "match"),
    [("Hess", "leave it out"), ("C", "penalised by penalty="), ("freq", "weights="), ("random", r"\(1 \| g\)")],
)
def test_options(option, match):
    with pytest.raises(OptionError, match=match):
        ordfit(FORMULA, WINE, **{option: 1})


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_attributes(name):
    with pytest.raises(AttributeError, match="Use "):
        getattr(ordfit(FORMULA, WINE, "cart" if name == "feature_importances_" else "clm"), name)


def test_hints_name_what_is_there():
    with pytest.raises(AttributeError) as error:
        _ = ordfit(FORMULA, WINE, "redsvm").t_test
    assert "Use" not in str(error.value)
    with pytest.raises(AttributeError, match=r"Use \.importance\(\)"):
        _ = ordfit(FORMULA, WINE).feature_importances_


@pytest.mark.parametrize(
    ("formula", "match"),
    [
        ("rating ~ as.factor(temp)", r"Write factor\(x\)"),
        ("as.ordered(rating) ~ temp", "levels="),
        ("wine$rating ~ temp", "by their names alone"),
        ("rating ~ relevel(temp, 'warm')", "Treatment"),
        ("rating ~ cut(response, 3)", "pandas.cut"),
        ("rating ~ rcs(response, 3)", "ns"),
        ("rating ~ (response > 40)", r"I\(x > 40\)"),
        ("rating ~ temp \N{MINUS SIGN} contact", "the minus of the keyboard"),
        ("rating ~ temp, contact", r"join terms by '\+'"),
        ("rating = temp", "Write '~' in place of '='"),
    ],
)
def test_formulas(formula, match):
    with pytest.raises(FormulaError, match=match):
        ordfit(formula, WINE)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ((WINE, FORMULA), "the formula comes first"),
        ((WINE[["temp"]], WINE["rating"]), "OrdinalClassifier"),
    ],
)
def test_arguments_in_another_order(arguments, match):
    with pytest.raises(DataError, match=match):
        ordfit(*arguments)


def test_levels_are_no_mapping():
    with pytest.raises(DataError, match="got a mapping"):
        ordfit(FORMULA, WINE, levels={1: "a", 2: "b", 3: "c", 4: "d", 5: "e"})


def test_plot_names_a_picture():
    with pytest.raises(OptionError, match=r"must name a picture, .* latent"):
        ordfit(FORMULA, WINE).plot()


def test_errors_name_the_method_that_was_called():
    with pytest.raises(TypeError, match=r"confint\(\) got an unexpected keyword argument 'alpha'"):
        ordfit(FORMULA, WINE).confint(alpha=0.05)

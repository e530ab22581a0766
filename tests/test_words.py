"""Names and habits that users of other packages bring along."""

import copy
import re
from dataclasses import is_dataclass
from inspect import signature

import numpy as np
import pandas as pd
import pytest
from expected import misspelt, refused
from scipy.stats import chi2
from seams import METHODS, PREDICTION_TYPES
from sklearn.gaussian_process.kernels import RBF

import ordstat
from ordstat import (
    REDSVM,
    DataError,
    DataWarning,
    ElasticNet,
    FormulaError,
    Gaussian,
    Laplacian,
    OptionError,
    OrdinalClassifier,
    Polynomial,
    SurveyDesign,
    compare,
    datasets,
    describe_ordinal,
    ordfit,
    power_ordinal,
    table,
)
from ordstat.checks import words, written
from ordstat.exceptions import UnavailableError
from ordstat.kernels import KERNELS
from ordstat.registry import option_names

WINE = datasets.load("wine")
FORMULA = "rating ~ temp + contact"


def test_every_other_name_means_one_that_is_there():
    known = {*METHODS, *KERNELS, *PREDICTION_TYPES}
    assert set(words("other_names").values()) <= known
    assert not set(words("other_names")) & known


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


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("ordinal", "logit"),
        ("vglm", "acat"),
        ("gologit2", "logit"),
        ("xgboost", "ordboost"),
    ],
)
def test_names_that_are_not_quite_ours(given, meant):
    with misspelt(meant):
        ordfit(FORMULA, WINE, given)


def test_robust_errors():
    with pytest.raises(OptionError, match="vcov='HC1'"):
        ordfit(FORMULA, WINE, robust=True)
    fit = ordfit(FORMULA, WINE, vcov="robust")
    assert fit.se.equals(ordfit(FORMULA, WINE, vcov="HC1").se) and fit.vcov(
        "robust"
    ).equals(fit.vcov())


@pytest.mark.parametrize(
    "given", ["log-gamma", "Log_Gamma", "aranda-ordaz", "ArandaOrdaz"]
)
def test_links_given_as_methods(given):
    link = "log-gamma" if given[0] in "lL" else "aranda-ordaz"
    with pytest.raises(
        OptionError, match=f"got '{given}'. It is a link: give link='{link}'."
    ):
        ordfit(FORMULA, WINE, given)


def test_text_that_reads_as_numbers_is_sorted_as_numbers():
    data = WINE.assign(grade=(WINE["rating"].astype(int) * 3 - 2).astype(str))
    with pytest.raises(
        DataError,
        match=(
            r"reads as numbers\. Give levels=\['1', '4', '7', '10',"
            r" '13'\].*to_numeric\(data\['grade'\]"
        ),
    ):
        ordfit("grade ~ temp", data)


@pytest.mark.parametrize(
    "right",
    ["(temp + contact)^2", "I(x^2)", "poly(x, 2) + log(x ** 2)", "I((x + 1) ** 2)"],
)
def test_powers_that_mean_what_they_say(right):
    ordfit(f"rating ~ {right}", WINE.assign(x=np.arange(72) % 7 + 1.0))


def test_a_table_without_its_counts():
    housing = datasets.load("housing")
    with pytest.warns(DataWarning, match="all effects are zero: .* set weights='Freq'"):
        ordfit("Sat ~ Infl + Type", housing)
    ordfit("Sat ~ 1", housing)
    ordfit("Sat ~ Infl + Type", housing, weights="Freq")
    ordfit("Sat ~ Infl + Type", pd.concat([housing, housing["Freq"]], axis=1))


def test_kernels_links_and_types():
    one, other = (
        ordfit(FORMULA, WINE, "svm", kernel=kernel) for kernel in ("RBF", "gaussian")
    )
    assert one.thresholds.equals(other.thresholds)
    fit = ordfit(FORMULA, WINE)
    assert fit.predict(type="probs").equals(fit.predict(type="prob"))
    se = fit.predict(WINE, type="Linear predictor", se=True)
    assert se.equals(fit.predict(WINE, type="linear_predictor", se=True))


@pytest.mark.parametrize(
    ("option", "match"),
    [("Hess", "leave it out"), ("freq", "weights="), ("random", r"\(1 \| g\)")],
)
def test_options(option, match):
    with pytest.raises(OptionError, match=match):
        ordfit(FORMULA, WINE, **{option: 1})


@pytest.mark.parametrize(
    ("method", "option", "write"),
    [
        ("ordboost", "n_estimators", "rounds=200"),
        ("rps-forest", "n_estimators", "trees=500"),
        ("rps-forest", "mtry", "column_share=0.5"),
        ("ordboost", "num_leaves", "depth="),
        ("cart", "num_leaves", "leaves=8"),
        ("bagging", "learning_rate", None),
        ("logit", "C", "1 / penalty"),
        ("logit", "l1_ratio", r"penalty=ElasticNet\(l1_ratio=0\.5, lambdas=0\.1\)"),
        ("redsvm", "alpha", "C=1"),
        ("redsvm", "gamma", r"kernel=Gaussian\(gamma=0\.5\)"),
        ("ordboost", "class_weight", "cost='macro absolute'"),
        ("logit", "family", "method="),
        ("logit", "distr", "method='logit'"),
        ("logit", "random_state", "seed=1"),
    ],
)
def test_options_by_other_names(method, option, write):
    match = "has no option" if write is None else f"{option}'\\. .*{write}"
    with pytest.raises(OptionError, match=match) as error:
        ordfit(FORMULA, WINE, method, **{option: 1})
    assert ("Write" in str(error.value)) <= (write is not None)


def test_options_to_write_are_there():
    options = {name for entry in METHODS.values() for name in option_names(entry)}
    arguments = {
        *signature(ordfit).parameters,
        *signature(ElasticNet).parameters,
        *signature(ordfit(FORMULA, WINE).confint).parameters,
        *signature(ordfit(FORMULA, WINE).predict).parameters,
        *signature(ordfit(FORMULA, WINE).bootstrap).parameters,
    }
    tables = [name for name in written() if name.startswith("with ")]
    assert {name.removeprefix("with ") for name in tables} <= options | arguments


@pytest.mark.parametrize(
    ("argument", "given"),
    [
        (argument, given)
        for argument in ("penalty", "cost", "link")
        for given in words(f"values of {argument}")
        if given not in ("rps", "logloss", "crossentropy", "deviance")
    ],
)
def test_values_by_other_names(argument, given):
    with pytest.raises(OptionError, match=f"got '{given}'") as error:
        ordfit(FORMULA, WINE, **{argument: given})
    code = str(error.value).partition(f" Write {argument}=")[2]
    found = re.match(r"\d\.\d|\w+\(.*?\)|'.*?'|None", code)
    value = eval(found[0], {"ElasticNet": ElasticNet})
    ordfit(FORMULA, WINE, **{argument: value}, fit=False)


@pytest.mark.parametrize(
    ("given", "write"),
    [
        ("lasso", r"penalty=ElasticNet\(\)"),
        ("ordinalNet", r"penalty=ElasticNet\(\)"),
        ("ridge", r"penalty=1\.0"),
        ("gam", r"y ~ s\(x\)"),
        ("LogisticAT", "'red-logistic'"),
        ("brm", r"\.draws\(\)"),
    ],
)
def test_models_that_are_options_here(given, write):
    with pytest.raises(OptionError, match=f"got '{given}'. .*{write}") as error:
        ordfit(FORMULA, WINE, given)
    assert "Did you mean" not in str(error.value)


@pytest.mark.parametrize(
    ("option", "write"),
    [("alpha", "l1_ratio="), ("lambda_", "lambdas="), ("nfolds", "cv=10")],
)
def test_arguments_of_glmnet(option, write):
    with pytest.raises(OptionError, match=f"ElasticNet has no argument .*{write}"):
        ElasticNet(**{option: 1})


#: Public classes of methods, kernels and learners.
VALUES = [
    name
    for name in dir(ordstat)
    if isinstance(value := getattr(ordstat, name), type) and is_dataclass(value)
]


@pytest.mark.parametrize("name", VALUES)
def test_values_name_an_unknown_option(name):
    value = getattr(ordstat, name)
    options = list(signature(value).parameters)
    listed = f"Its arguments are: {', '.join(options)}" if options else "no arguments"
    match = f"^{name} has no argument 'wrong'.* {listed}"
    with pytest.raises(OptionError, match=match):
        value(wrong=1)


@pytest.mark.parametrize(
    ("kernel", "option", "write"),
    [
        (Gaussian, "sigma", "kernlab's sigma is gamma"),
        (Gaussian, "length_scale", r"gamma=1 / \(2 \* l\*\*2\)"),
        (Laplacian, "sigma", "gamma=0.5"),
        (Polynomial, "scale", "gamma=1.0"),
        (Polynomial, "offset", "coef0=1.0"),
        (Polynomial, "d", "degree=2"),
        (REDSVM, "gamma", r"kernel=Gaussian\(gamma=0\.5\)"),
    ],
)
def test_options_of_kernels_by_other_names(kernel, option, write):
    with pytest.raises(OptionError, match=f"no argument '{option}'\\. .*{write}"):
        kernel(**{option: 1})


def test_gamma_from_the_length_scale_of_scikit_learn():
    """The formula that the hint gives."""
    X = np.random.default_rng(1).normal(size=(5, 2))
    expected = RBF(length_scale=0.7)(X)
    assert Gaussian(gamma=1 / (2 * 0.7**2))(X, X) == pytest.approx(expected)


@pytest.mark.parametrize("name", words("attribute"))
def test_attributes(name):
    fit = ordfit(FORMULA + " + (1 | judge)" * (name == "VarCorr"), WINE)
    other = words("attribute")[name]
    if other.isidentifier():
        assert repr(getattr(fit, name)) == repr(
            getattr(fit, other)
        ) and name not in dir(fit)
    else:
        with pytest.raises(AttributeError, match="Use " + re.escape(other)):
            getattr(fit, name)


def test_figures_by_the_names_of_statsmodels():
    fit = ordfit(FORMULA, WINE)
    null = ordfit("rating ~ 1", WINE)
    llr = 2.0 * (fit.loglik - null.loglik)
    df = fit.edf - null.edf
    expected = {
        "llnull": null.loglik,
        "llr": llr,
        "df_model": df,
        "llr_pvalue": chi2(df).sf(llr),
        "prsquared": 1.0 - fit.loglik / null.loglik,
        "df_resid": len(WINE) - fit.edf,
    }
    for name, value in expected.items():
        assert getattr(fit, name) == pytest.approx(value, rel=1e-8)
        assert name not in dir(fit)
    with pytest.raises(UnavailableError, match="of this fit has no 'lr_chi2'"):
        _ = ordfit(FORMULA, WINE, vcov="HC0").llr
    with pytest.raises(UnavailableError):
        _ = ordfit(FORMULA, WINE, "redsvm").llnull


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (
            lambda fit: fit.emmeans("temp").contrasts(reverse=True),
            "method='revpairwise'",
        ),
        (lambda fit: fit.emmeans("temp", mode="prob"), "scale='prob'"),
        (
            lambda fit: fit.emmeans("temp").contrasts("pairwise", exponentiate=True),
            r"Write numpy\.exp",
        ),
        (lambda fit: table(fit, fit), r"as a list, as in table\(\[fit1, fit2\]\)"),
        (
            lambda fit: table(fit, keep=["temp"]),
            r"table has no argument 'keep'\. Take rows",
        ),
        (lambda fit: fit.margins(dydx="temp"), r"marginal_effects\('x'\)"),
        (lambda fit: describe_ordinal(WINE, "rating", group="temp"), "Write by="),
        (lambda fit: SurveyDesign(ids="judge", weights="w"), "Write clusters="),
        (lambda fit: fit.errors(bootstrap=100), "Write cv=10"),
        (lambda fit: fit.tidy(exponentate=True), "Did you mean 'exponentiate'"),
        (lambda fit: compare(FORMULA, WINE, rope=0.1), r"differences\(\)"),
    ],
)
def test_arguments_of_other_packages(call, match):
    with pytest.raises(OptionError, match=match) as error:
        call(ordfit(FORMULA, WINE))
    assert error.value.__context__ is None


@pytest.mark.parametrize(
    ("call", "needs"),
    [
        (lambda fit: fit.plot.effects(), r"variable, as in effects\('temp'\)"),
        (lambda fit: fit.plot.stacked(by="temp"), r"variable, as in stacked\('temp'\)"),
        (lambda fit: fit.plot.subgroups("temp"), r"subgroups, as in"),
        (lambda fit: fit.emmeans(), r"variables, as in emmeans\('temp'\)"),
        (lambda fit: fit.emtrends(), "variables and var"),
        (lambda fit: fit.test(), r"hypotheses, as in test\('temp'\)"),
    ],
)
def test_variables_that_were_not_given(call, needs):
    match = rf"\(\) needs {needs}.* The formula has 'temp', 'contact'\.$"
    with pytest.raises(OptionError, match=match):
        call(ordfit(FORMULA, WINE))


def test_a_formula_without_variables_has_no_picture_of_one():
    with pytest.raises(OptionError, match="the formula has none"):
        ordfit("rating ~ 1", WINE, "ordboost", rounds=1, depth=1).plot.dependence()


@pytest.mark.parametrize(
    ("name", "use"),
    [
        ("pairs", r"\. Use \.contrasts\('pairwise'\)\."),
        ("summary", r"\. Use \.frame, or print it\."),
        ("nothing", "'nothing'$"),
    ],
)
def test_attributes_of_means(name, use):
    means = ordfit(FORMULA, WINE).emmeans("temp")
    assert copy.copy(means).frame.equals(means.frame)
    with pytest.raises(AttributeError, match=f"'Emmeans' object .*{use}"):
        getattr(means, name)


def test_errors_within_a_method_stay_what_they_are():
    with pytest.raises(
        TypeError, match="missing 1 required positional argument: 'rows'"
    ):
        describe_ordinal(WINE)
    with pytest.raises(TypeError, match="unexpected keyword argument 'other'"):
        ordfit(FORMULA, WINE).bootstrap(
            2, statistic=lambda fit: (lambda: None)(other=1)
        )


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda fit: fit.anova(fit, test="Chisq"), "Leave it out"),
        (lambda fit: fit.predict(se_fit=True), "Write se=True"),
        (lambda fit: fit.draws(iter=10), "Write n=4000"),
        (lambda fit: fit.marginal_efects, "Did you mean 'marginal_effects'"),
        (lambda fit: fit.stepAIC, r"Use \.step\(\)"),
        (lambda fit: fit.bootstrap(B=10), "Write n=1000"),
        (lambda fit: fit.predict(type="link"), "type='linear_predictor'"),
        (lambda fit: fit.marginal_effects("temp", type="prob"), "Write scale="),
        (lambda fit: compare(FORMULA, WINE, folds=3), r"Write cv=10\. .* formula, "),
        (
            lambda fit: compare(WINE[["temp"]], WINE["rating"], methods=["logit"]),
            "takes a formula, data and methods=",
        ),
        (lambda fit: fit.step(trace=0), r"the steps as \.trace"),
        (lambda fit: fit.emmeans("temp | contact"), r"Write '~ temp \| contact', or"),
        (
            lambda fit: OrdinalClassifier(
                "ordboost", monotone_constraints={"x": 1}
            ).fit([[0.0], [1.0]], [1, 2]),
            "Write constraints=",
        ),
        (lambda fit: power_ordinal(effect=2, n=100), "has no argument 'effect'"),
        (lambda fit: fit.predict({"temp": "cold", "contact": "no"}), "in lists such"),
    ],
)
def test_habits_of_other_packages(call, match):
    with pytest.raises((OptionError, AttributeError, DataError), match=match):
        call(ordfit(FORMULA, WINE))


def test_coef_with_brackets():
    fit = ordfit(FORMULA, WINE)
    assert fit.coef().equals(fit.coef) and type(fit.coef * 2) is pd.Series


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
        (
            "cbind(normal, mild) ~ temp",
            (
                r"long = data.melt\(.* write ordfit\('level ~ x', long, levels=.*,"
                r" weights='count'\)"
            ),
        ),
        ("wine$rating ~ temp", "without 'data\\$'"),
        ("rating ~ relevel(temp, 'warm')", "Treatment"),
        ("rating ~ cut(response, 3)", "pandas.cut"),
        ("rating ~ rcs(response, 3)", "ns"),
        ("rating ~ (response > 40)", r"I\(x > 40\)"),
        ("rating ~ temp \N{MINUS SIGN} contact", "is not an operator"),
        ("rating ~ temp, contact", "is not an operator"),
        ("rating = temp", "Write '~' instead of '='"),
        (
            "rating ~ s(response, bottle)",
            r"'bottle' is another\. Write s\(x\) \+ s\(z\)",
        ),
        ("rating ~ ns(response, bottle)", r"one variable; 'bottle' is another\.$"),
        ("rating ~ s(response, df=4)", r"Write ns\(x, df=4\)"),
        ("rating ~ s()", r"s\(\) must have a variable"),
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


def test_the_emmeans_that_the_hint_writes():
    fit = ordfit(FORMULA, WINE)
    assert fit.emmeans("~ temp | contact").frame.equals(
        fit.emmeans(["temp", "contact"]).frame
    )


def test_help_of_a_fit_has_whole_statements():
    """The line of a name ends where a statement of its docstring does."""
    lines = str(ordfit(FORMULA, WINE).__doc__).splitlines()
    assert max(map(len, lines[2:])) <= 88
    text = " ".join(" ".join(lines).split())
    assert "correct decimals of every estimate converged Whether" in text
    assert "with win odds, win differences and numbers needed to treat" in text


@pytest.mark.parametrize(
    ("labels", "proposed", "cure"),
    [
        (
            ["Agree", "agree ", "Disagree", "Neutral"],
            r"\['Disagree', 'Neutral', 'Agree'\]",
            r"data\.replace\(\{'y': \{'agree ': 'Agree'\}\}\)",
        ),
        (["Low", "low", " LOW", "high"], r"\['Low', 'high'\]", "' LOW': 'Low'"),
        (["Low", "medium", "high"], r"\['Low', 'medium', 'high'\]", None),
    ],
)
def test_labels_that_differ_in_capitals_and_blanks(labels, proposed, cure):
    data = pd.DataFrame({"y": labels, "x": range(len(labels))})
    with pytest.raises(DataError, match=f"levels={proposed}") as error:
        ordfit("y ~ x", data)
    assert re.search(cure or "Categorical\\.$", str(error.value))


def test_labels_near_the_levels_given():
    data = pd.DataFrame({"y": ["low", "high", "High "], "x": [1, 2, 3]})
    with pytest.raises(DataError, match=r"'High ', in 1 row\. Write data\.replace\("):
        ordfit("y ~ x", data, levels=["low", "high"])
    mended = data.replace({"y": {"High ": "high"}})
    assert ordfit("y ~ x", mended, levels=["low", "high"], penalty=1.0).nobs == 3


def test_names_of_questions_get_backticks():
    data = WINE.assign(**{"Q1. How bitter is it?": WINE["rating"]})
    match = "Put backticks around a name with blanks: `Q1. How bitter is it\\?`"
    with pytest.raises(FormulaError, match=match):
        ordfit("Q1. How bitter is it? ~ temp", data)
    ordfit("`Q1. How bitter is it?` ~ temp", data)


def test_levels_are_no_mapping():
    with refused("levels", error=DataError):
        ordfit(FORMULA, WINE, levels={1: "a", 2: "b", 3: "c", 4: "d", 5: "e"})


def test_plot_names_a_picture():
    with pytest.raises(OptionError, match=r"called by name, .* latent"):
        ordfit(FORMULA, WINE).plot("latent")


def test_contrasts_of_a_factor_that_the_formula_codes_by_a_call():
    data = WINE.assign(day=WINE["bottle"].astype(int) % 3)
    with pytest.raises(
        FormulaError,
        match=r"names 'day', which is not a factor .*; write 'C\(day\)'\.$",
    ):
        ordfit("rating ~ temp + C(day)", data, contrasts={"day": "sum"})
    coded = ordfit("rating ~ temp + C(day)", data, contrasts={"C(day)": "sum"})
    assert coded.loglik == pytest.approx(ordfit("rating ~ temp + C(day)", data).loglik)
    with pytest.raises(FormulaError, match="did you mean 'temp'"):
        ordfit("rating ~ temp", data, contrasts={"tenp": "sum"})


@pytest.mark.parametrize(
    ("holder", "name", "advice"),
    [
        (ordstat, "drop1", r"asked of a fit: fit\.drop1"),
        (ordfit(FORMULA, WINE), "VarCorr", "Use a random term such as"),
    ],
)
def test_a_name_that_is_asked_elsewhere(holder, name, advice):
    with pytest.raises(AttributeError, match=advice):
        getattr(holder, name)


@pytest.mark.parametrize("name", ["or_", "odds_ratios", "oddsratio"])
def test_other_names_of_odds_ratios(name):
    """oddsratio() as in R's questionr, fmsb and epitools."""
    fit = ordfit(FORMULA, WINE)
    with pytest.raises(AttributeError, match=r"Use \.tidy\(exponentiate=True\)"):
        getattr(fit, name)

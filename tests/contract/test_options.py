"""Methods are values: their repr rebuilds them, every option has an effect, and errors
are helpful.
"""

import contextlib
from dataclasses import fields
from typing import Any

import numpy as np
import pandas as pd
import pytest
from expected import misspelt, new_levels, no_column, refused
from light_options import one_of_each
from seams import METHODS, LikelihoodResults, resolve

import ordstat
from contract.problems import FORMULA, Problem, fitted, score_type, scores, thresholds
from ordstat import DataError, OptionError, ordfit
from ordstat.checks import words
from ordstat.method import Method
from ordstat.rankers import MarginResults
from ordstat.registry import defaults_of, option_names
from ordstat.trees.trees import TreeMethod

#: Another value of every option of every method; a new option needs a line here.
OTHER = {
    "C": 0.01,
    "average": "stacked",
    "base": "logistic",
    ("adaboost-or", "base"): ordstat.REDSVM(),
    ("reduction", "base"): "tree",
    ("nominal-classifier", "base"): "tree",
    ("frank-hall", "base"): "c4.5",
    "column_share": 0.5,
    "combination": "votes",
    "cost": "squared",
    "criterion": "misclassification",
    "crossing": "raise",
    "decision": "mode",
    "depth": 2,
    "encoding": "separate",
    "epochs": 3,
    ("adaboost", "cost"): ((0.0, 1.0), (3.0, 0.0)),
    ("seedboost", "cost"): ((0.0, 1.0), (3.0, 0.0)),
    "first": "tree",
    "folds": 3,
    "threshold_gamma": 0.1,
    "hidden": 2,
    "keep": "last",
    "kernel": "gaussian",
    "landmarks": 10,
    "learner": "tree",
    "learning_rate": 0.2,
    "leaves": 3,
    "linear_start": False,
    "link": "probit",
    "loss": "squared_hinge",
    "margin": 0.5,
    "max_depth": 1,
    "max_iter": 1,
    "max_rounds": 2,
    "min_weight": 8.0,
    "min_leaf": 4,
    "members": ("probit", "cart"),
    "n_jobs": 2,
    "patience": 1,
    "penalty": 2.0,
    "presentation": "order",
    "prune": "misclassification",
    "quadrature": 7,
    "random_penalty": "gamma",
    "rounds": 7,
    "sampling": "weight",
    "scaling": "standard",
    "smoothness": "ML",
    "solver": "cvxpy",
    "subsample": 0.5,
    "trees": 30,
    "start": (-1.0, 0.0, 1.2, 0.1, 0.1, 0.1, 0.1),  # one for each parameter
    ("multinomial", "start"): (-1.0, 0.0, 1.2, *[0.1] * 12),
    ("stereotype", "start"): (-1.0, 0.0, 1.2, *[0.1] * 4, 0.3, 0.6),
    "threshold": "equidistant",
    "direction": "backward",
    "tol": 1e-8,
    "update": "passive-aggressive",
    "version": "real",
}

#: Options, of all methods or one, that matter only beside another one.
BESIDE = {
    # where boundaries depend on it
    ("rank-svm", "cost"): {"kernel": "linear", "loss": "squared_hinge"},
    "folds": {"C": "cv"},
    "n_jobs": {"C": "cv"},
    "loss": {"kernel": "linear"},
    ("rps-forest", "n_jobs"): {},
    ("blend", "n_jobs"): {},  # of the usual members
    **{
        ("blend", option): {"members": ("logit", "cart")}
        for option in ("average", "cost")
    },
    # Trees with a row in every leaf know the rows of the fit by heart.
    **{
        ("rps-forest", option): {"min_leaf": 5}
        for option in ("column_share", "cost", "trees")
    },
    # a search ends near the maximum
    ("kernel-clm", "max_iter"): {"penalty": 0.1, "kernel": "perceptron"},
    **{("ordboost", option): {} for option in ("folds", "n_jobs", "patience")},
    **{
        (name, "n_jobs"): {}
        for name, entry in METHODS.items()
        if issubclass(entry.method, TreeMethod)
    },
    # Costs place the thresholds alone, and differ where ranks are wrong by more than
    # one.
    ("rankboost-or", "cost"): {"rounds": 5},
    ("adaboost-or", "base"): {"rounds": 3},
}


def another(name, option):
    """Another value of an option of a method."""
    return OTHER[(name, option) if (name, option) in OTHER else option]


OPTIONS = [
    (name, option) for name, entry in METHODS.items() for option in option_names(entry)
]


def _beside(name: str, option: str) -> dict[str, Any]:
    return BESIDE.get((name, option), BESIDE.get(option, {}))


#: Options of random effects, which are refused without them.
OF_RANDOM_EFFECTS = ("random_penalty", "quadrature")


def _formula(option: str) -> str:
    """With random effects, or a smooth term, where the option is one of them alone."""
    if option == "smoothness":
        return "y ~ s(x1, k=4) + x2"
    return "y ~ x1 + x2 + (1 | g)" if option in OF_RANDOM_EFFECTS else FORMULA


@pytest.mark.parametrize("name", METHODS)
def test_defaults_are_values_that_the_checks_leave_as_they_are(name):
    method = METHODS[name].method(**METHODS[name].preset)
    for f in fields(method):
        if "check" in f.metadata:
            checked = f.metadata["check"](f.name, f.default, method)
            assert checked is None or checked == f.default
            assert checked is None or type(checked) is type(f.default)


@pytest.mark.filterwarnings("ignore::ordstat.exceptions.OrdstatWarning")
@pytest.mark.parametrize("name", one_of_each())
def test_extreme_numbers_end_in_a_fit_or_a_refusal(name):
    few = {"rounds": 3, "trees": 3, "members": ("logit", "cart")}
    for option, default in defaults_of(name).items():
        for extreme in (1e-300, 1e300) if isinstance(default, float) else ():
            given = {key: few[key] for key in few.keys() & defaults_of(name).keys()} | {
                option: extreme
            }
            with contextlib.suppress(OptionError):
                assert (
                    ordfit(FORMULA, Problem.of(name).frame, name, **given)
                    .predict()
                    .notna()
                    .all()
                )


def test_every_method_is_registered():
    public = (getattr(ordstat, name) for name in dir(ordstat))
    made = {
        value
        for value in public
        if isinstance(value, type) and issubclass(value, Method)
    } - {Method}
    assert made == {entry.method for entry in METHODS.values()}


@pytest.mark.parametrize("name", METHODS)
def test_every_method_is_a_public_value(name):
    entry = METHODS[name]
    assert getattr(ordstat, entry.method.__name__) is entry.method
    assert {f.name for f in fields(entry.method)} >= {"cost", *entry.preset}
    value = resolve(name)
    assert value == resolve(name.upper())
    assert hash(value) == hash(resolve(name))
    with pytest.raises(AttributeError):  # frozen
        value.cost = "squared"


@pytest.mark.parametrize(
    ("name", "option"), [*[(name, None) for name in METHODS], *OPTIONS]
)
def test_repr_rebuilds_the_method(name, option):
    method = resolve(
        name,
        (
            {}
            if option is None
            else _beside(name, option) | {option: another(name, option)}
        ),
    )
    rebuilt = eval(
        repr(method), {name: getattr(ordstat, name) for name in dir(ordstat)}
    )
    assert rebuilt == method
    assert repr(rebuilt) == repr(method)
    if option is not None:
        assert f"{option}=" in repr(method)


def _everything(fit) -> tuple[bytes, list[int], bytes, bytes, str]:
    """All that a fit shows, apart from the method's own name for itself."""
    ranks = fit.predict().cat.codes.tolist()
    selection = getattr(fit.fit, "selection", None)
    curve = b"" if selection is None else selection.cost.tobytes()
    certificate = f"{fit.certificate!r} {fit.certificate.tolerance}"
    return (
        scores(fit).tobytes(),
        ranks,
        np.asarray(fit.trace.objective).tobytes(),
        curve,
        certificate,
    )


#: Options that must not change any number.
OF_SPEED = ("n_jobs",)


@pytest.mark.filterwarnings("ignore::ordstat.ConvergenceWarning")
@pytest.mark.parametrize("option", OF_SPEED)
@pytest.mark.parametrize(
    "name",
    one_of_each(
        [name for name, option in OPTIONS if option in OF_SPEED], later=["svor-imc"]
    ),
)
def test_options_of_speed_change_nothing(name, option):
    beside = _beside(name, option)
    frame = Problem.of(name).frame
    other = ordfit(FORMULA, frame, name, **beside, **{option: another(name, option)})
    assert _everything(fitted(name, **beside)) == _everything(other)


@pytest.mark.filterwarnings("ignore::ordstat.ConvergenceWarning")
# `crossing` counts where nominal effects cross: tests/likelihood/test_rule_crossing.py;
# `quadrature` where there are random effects: tests/mixed/test_method.py
@pytest.mark.parametrize(
    ("name", "option"),
    [pair for pair in OPTIONS if pair[1] not in (*OF_SPEED, "crossing", "quadrature")],
)
def test_every_option_counts(name, option):
    beside = _beside(name, option)
    formula = _formula(option)
    plain, other = (
        fitted(name, formula, **beside, **own)
        for own in ({}, {option: another(name, option)})
    )
    assert _everything(plain) != _everything(other)


@pytest.mark.parametrize(("name", "option"), OPTIONS)
def test_every_option_is_checked(name, option):
    with pytest.raises(OptionError, match=option):
        resolve(name, {option: object()})


def _called(name: str, option: str) -> Any:
    """One option of each method, and all of `make test-all`."""
    known = option_names(METHODS[name])
    usual = "cost" if "cost" in known else known[0]
    return pytest.param(name, option, marks=() if option == usual else pytest.mark.slow)


@pytest.mark.parametrize(
    ("name", "option"), [_called(*pair) for pair in OPTIONS if pair[1] != "max_iter"]
)
def test_string_and_value_are_the_same_call(name, option):
    given = _beside(name, option) | {option: another(name, option)}
    frame = Problem.of(name).frame
    by_string = fitted(name, _formula(option), **given)
    by_value = ordfit(_formula(option), frame, resolve(name, given))
    assert by_string.method == by_value.method
    np.testing.assert_array_equal(scores(by_string), scores(by_value))
    np.testing.assert_array_equal(thresholds(by_string), thresholds(by_value))


# What is said when something is wrong


def test_an_unknown_method_is_named_with_the_known_ones():
    with misspelt("redsvm", "redsmv"):
        ordfit(FORMULA, pd.DataFrame(), "redsmv")
    with refused("method", "3"):
        ordfit(FORMULA, pd.DataFrame(), 3)


def test_an_unknown_option_is_named_with_the_known_ones(problem):
    known = option_names(METHODS[problem.name])
    meant = max(known, key=len)
    wrong = meant + meant[-1]
    with pytest.raises(
        OptionError,
        match=(
            rf"{problem.name}.*'{wrong}'.*Did you mean '{meant}'\?.*{', '.join(known)}"
        ),
    ):
        problem.fit(**{wrong: 1})
    with pytest.raises(OptionError, match=rf"already carries its options.*{wrong}"):
        ordfit(FORMULA, problem.frame, resolve(problem.name), **{wrong: 1})


def test_an_unseen_level_at_predict_is_named(problem):
    fit = problem.fitted
    unseen = problem.frame.assign(g="d")
    # an unseen level counts as missing there
    if fit.method.supports.categories and fit.method.supports.missing:
        with new_levels("g", "'d'"):
            assert fit.predict(unseen).notna().all()
        return
    with pytest.raises(DataError, match=r"(?s)'?g'?.*'d'.*'a', 'b', 'c'"):
        fit.predict(unseen)


def test_a_missing_column_at_predict_is_named(problem):
    with no_column("x2"):
        problem.fitted.predict(problem.frame[["x1", "g"]])


def test_an_unknown_type_of_prediction_is_named_with_the_known_ones(problem):
    fit = problem.fitted
    with pytest.raises(OptionError, match=rf"'class', .*'{score_type(fit)}'.*'probes'"):
        fit.predict(type="probes")


def test_a_response_of_one_level_is_refused(problem):
    with pytest.raises(
        DataError, match=r"'y' needs rows of at least 2 levels.*all have 1"
    ):
        problem.fit(problem.frame.assign(y=1))


def test_no_rows_are_refused(problem):
    with pytest.raises(DataError, match=r"None of the 0 rows"):
        problem.fit(problem.frame.iloc[:0])


def test_what_a_method_has_no_use_for_is_refused(problem):
    supports = METHODS[problem.name].method.supports
    given = {"nominal": "~ x1", "scale": "~ x1", "offset": "x2", "cluster": "g"}
    for argument, value in given.items():
        if not getattr(supports, argument):
            with pytest.raises(OptionError, match=rf"does not support .*{argument}"):
                problem.fit(**{argument: value})


def test_costs_that_differ_nowhere_are_refused(problem):
    """Row costs of 2 for every level; threshold methods of probabilities say which
    threshold has no price.

    Names that stand for a cost take no other.
    """
    entry = METHODS[problem.name]
    costs = np.full((len(problem.frame), problem.frame["y"].cat.categories.size), 2.0)
    error = DataError
    words = r"costs are equal for all ranks|costs must differ between rank codes"
    if not entry.method.supports.row_costs:
        error = OptionError
        words = "does not support row costs"
    elif "cost" in entry.preset:
        error = OptionError
        words = rf"method '{problem.name}' fixes the cost '{entry.preset['cost']}'"
    with pytest.raises(error, match=words):
        problem.fit(cost=costs)


@pytest.mark.parametrize(
    ("name", "missing", "who"),
    [
        (
            "csovo",
            ("thresholds", "coef", "tidy"),
            "methods with thresholds have, such as 'redsvm'",
        ),
        (
            "redsvm",
            ("anova", "se", "loglik", "confint"),
            "methods with a likelihood have, such as 'logit'",
        ),
        ("redsvm", ("coef",), "its potential is not linear"),
        ("logit", ("nothing",), "object has no attribute 'nothing'"),
    ],
)
def test_what_a_fit_has_not_says_who_has_it(name, missing, who):
    answering = {"thresholds": MarginResults, "likelihood": LikelihoodResults}
    for known, text in words("who_has").items():
        for what, kind in answering.items():
            assert what not in text or hasattr(kind, known)
    fit = Problem.of(name).fitted
    for attribute in missing:
        assert not hasattr(fit, attribute)
        with pytest.raises(AttributeError, match=who):
            getattr(fit, attribute)

"""The wording of checks, and the names they suggest."""

import numpy as np
import pytest
from expected import misspelt

from ordstat import OrdinalClassifier, checks, datasets, ordfit
from ordstat.exceptions import DataError, FormulaError, OptionError


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (
            lambda: checks.number("C", 0, above=0, of="REDSVM"),
            "C of REDSVM must be a positive, finite number; got 0.",
        ),
        (
            lambda: checks.number("C", np.inf, above=0),
            "C must be a positive, finite number; got inf.",
        ),
        (
            lambda: checks.number("C", "1", above=0, also=", or 'cv'"),
            "C must be a positive, finite number, or 'cv'; got '1'.",
        ),
        (
            lambda: checks.number("margin", -1, least=0),
            "margin must be a finite number, 0 or more; got -1.",
        ),
        (lambda: checks.number("lam", np.nan), "lam must be a finite number; got nan."),
        (
            lambda: checks.number("flip", 2, least=0, most=1),
            "flip must be a number from 0 to 1; got 2.",
        ),
        (
            lambda: checks.number("c", 0, above=0, most=0.5),
            "c must be a number above 0 and at most 0.5; got 0.",
        ),
        (
            lambda: checks.fraction("level", 95),
            "level must be a number strictly between 0 and 1; got 95.",
        ),
        (
            lambda: checks.fraction("level", True),
            "level must be a number strictly between 0 and 1; got True.",
        ),
        (
            lambda: checks.whole("n", 1.0, 1),
            "n must be a whole number, 1 or more; got 1.0.",
        ),
        (
            lambda: checks.whole("n", True, 0),
            "n must be a whole number, 0 or more; got True.",
        ),
        (
            lambda: checks.whole("n", 6, 1, 5),
            "n must be a whole number from 1 to 5; got 6.",
        ),
        (
            lambda: checks.jobs(0),
            (
                "n_jobs must be a whole number other than 0, 10000 at most (-1 for all"
                " processors); got 0."
            ),
        ),
        (lambda: checks.text_given("title", 3), "title must be a text; got 3."),
        (
            lambda: checks.path_given("path", 3),
            "path must be a text or a pathlib.Path; got 3.",
        ),
        (
            lambda: checks.function_given("statistic", 3),
            "statistic must be a function; got 3.",
        ),
        (
            lambda: checks.label_texts(["a"]),
            "labels must be a mapping such as {'age': 'Age (years)'}; got ['a'].",
        ),
        (
            lambda: checks.generator(True),
            "seed must be a whole number, 0 or more, or a numpy Generator; got True.",
        ),
        (
            lambda: checks.generator([]),
            "seed must be a whole number, 0 or more, or a numpy Generator; got [].",
        ),
        (lambda: checks.flag("force", 1), "force must be True or False; got 1."),
        (
            lambda: checks.one_of("by", "x", ["split", None]),
            "by must be one of 'split', None; got 'x'.",
        ),
        (
            lambda: checks.one_of("by", [], ["split", None]),
            "by must be one of 'split', None; got [].",
        ),
    ],
)
def test_messages(check, message):
    with pytest.raises(OptionError) as error:
        check()
    assert str(error.value) == message


def test_what_passes_comes_back_as_a_plain_number():
    assert type(checks.number("C", np.float32(2), above=0)) is float
    assert type(checks.whole("n", np.int8(2), 1)) is int
    assert type(checks.flag("force", np.True_)) is bool


WINE = datasets.load("wine")
X = np.arange(6.0)[:, None]
Y = [1, 2, 3, 1, 2, 3]


@pytest.mark.parametrize(
    ("ask", "meant"),
    [
        (lambda: ordfit("rating ~ temp", WINE, "redsvm", c=1), "C"),
        (lambda: ordfit("rating ~ temp", WINE, "redsvm", COST="absolute"), "cost"),
        (lambda: OrdinalClassifier("redsvm", c=1).fit(X, Y), "C"),
        (lambda: ordfit("rating ~ temp", WINE, "redsmv"), "redsvm"),
        (lambda: ordfit("rating ~ temp", WINE, link="clogog"), "cloglog"),
        (lambda: ordfit("rating ~ temp", WINE, threshold="equidist"), "equidistant"),
        (lambda: ordfit("rating ~ temp", WINE, "redsvm", kernel="gausian"), "gaussian"),
        (lambda: ordfit("rating ~ temp", WINE, wieghts="n"), "weights"),
        (lambda: ordfit("rating ~ temp", WINE).predict(type="probes"), "prob"),
        (lambda: ordfit("rating ~ temp", WINE).predict(type="probes", se=True), "prob"),
        (lambda: ordfit("rating ~ temp", WINE).confint(type="Wald"), "wald"),
        (lambda: ordfit("rating ~ temp", WINE).confint(parm="tmep"), "temp"),
        (lambda: ordfit("rating ~ temp", WINE).residuals("surogate"), "surrogate"),
        (lambda: datasets.load("whine"), "wine"),
    ],
)
def test_the_name_that_was_meant(ask, meant):
    with misspelt(meant):
        ask()


FIT = ordfit("rating ~ temp + contact", WINE)
AGED = WINE.assign(n=np.arange(72) % 7)


@pytest.mark.parametrize(
    ("ask", "refused_name"),
    [
        (lambda: ordfit("rating ~ C(n)", AGED, contrasts={"n": "sum"}), "n"),
        (lambda: ordfit("rating ~ n", AGED, contrasts={"n": "sum"}), "n"),
        (lambda: ordfit("rating ~ ns(n, df=3)", AGED).test("R_n"), "R_n"),
        (lambda: ordfit("rating ~ temp + n", AGED).emtrends("~ n", "temp"), "temp"),
        (lambda: FIT.subgroups("temp", "temp"), "temp"),
        (lambda: FIT.nominal_test("judge"), "judge"),
        (lambda: FIT.emmeans("~ judge"), "judge"),
    ],
)
def test_messages_do_not_suggest_what_they_refuse(ask, refused_name):
    with pytest.raises((DataError, FormulaError, OptionError)) as error:
        ask()
    message = str(error.value)
    assert f"'{refused_name}'" in message
    assert f"id you mean '{refused_name}'" not in message


@pytest.mark.parametrize(
    "known", [["temp"], ["temp", "Temp ", "contact"], ["day", "temp", None]]
)
def test_a_refused_name_is_no_suggestion(known):
    assert "'temp'" not in checks.did_you_mean("temp", known)
    assert checks.did_you_mean("tmp", known).endswith("Did you mean 'temp'?")

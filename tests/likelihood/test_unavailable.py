"""One table says what a fit cannot be asked."""

import pytest
from expected import unavailable

from ordstat import datasets, ordfit
from ordstat.exceptions import UnavailableError

WINE = datasets.load("wine")
FORMULA = "rating ~ temp + contact"


@pytest.mark.parametrize(
    ("options", "question", "part", "instead"),
    [
        ({"vcov": "HC1"}, "drop1", "robust", r"anova\(type='II'\)"),
        ({"penalty": 1.0}, "nominal_test", "penalty", r"update\(penalty=None\)"),
        ({"nominal": "~ contact"}, "brant", "nominal", r"nominal_test\(\)"),
        ({"threshold": "equidistant"}, "score_test", "structured", "nominal_test"),
        ({"method": "acat"}, "margins", "need not increase", "predict"),
    ],
)
def test_the_question_the_reason_and_what_to_ask(options, question, part, instead):
    formula = "rating ~ temp" if "nominal" in options else FORMULA
    fit = ordfit(formula, WINE, **options)
    with unavailable(part, f"{question}()", instead):
        getattr(fit, question)()


def test_the_first_part_that_excludes_a_question_is_named():
    fit = ordfit(FORMULA, WINE, vcov="HC1", penalty=1.0)
    with pytest.raises(UnavailableError, match="fits with robust standard errors"):
        fit.drop1()

"""Random terms in formulas: their meaning, and errors for misuse."""

from __future__ import annotations

import pytest
from expected import rows_left_out
from seams import build

from ordstat import SurveyDesign, datasets, ordfit
from ordstat.exceptions import FormulaError, OptionError, UnavailableError

WINE = datasets.load("wine")


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("rating ~ (1 | judge):temp", r"\(1 \| group\)"),
        ("rating ~ temp + (1 | judge", r"\(1 \| group\)"),
        ("rating ~ temp + ( | judge)", r"Cannot read the random term .*\(1 \| group\)"),
        (
            "rating ~ temp + (0 | judge)",
            r"Cannot read the random term .*\(1 \| group\)",
        ),
        (
            "rating ~ temp + (1 | judge + bottle)",
            r"Cannot read the random term .*\(1 \| group\)",
        ),
        (
            "rating ~ temp + (1 | judge + bottle)",
            r"several groups are several terms: \(1 \| a\) \+ \(1 \| b\)",
        ),
        ("rating ~ temp + (1 | 1)", r"Cannot read the random term .*\(1 \| group\)"),
        ("rating ~ . + (1 | judge)", "name the columns"),
        ("rating ~ temp + (1 | rating)", "is also on the right"),
        ("rating ~ (1 | judge) + (1 + temp | judge)", "are not identified"),
    ],
)
def test_misuse_shows_the_right_form(formula: str, words: str) -> None:
    with pytest.raises(FormulaError, match=words):
        ordfit(formula, WINE)


def test_groups_and_columns() -> None:
    design = build(
        "rating ~ temp + (1 + temp | judge) + (0 + contact || bottle) + (1 |"
        " judge:temp)",
        WINE,
    )
    slope, factor, mixed = design.random
    assert slope.names == ("(Intercept)", "temp[T.warm]") and slope.correlated
    assert factor.names == ("contact[no]", "contact[yes]") and not factor.correlated
    assert mixed.group == "judge:temp" and len(mixed.groups) == 18
    assert design.names == ("temp[T.warm]",)


def test_a_missing_group_is_a_missing_row() -> None:
    data = WINE.assign(judge=WINE["judge"].astype(object))
    data.loc[data.index[:3], "judge"] = None
    with rows_left_out(3, 72, "judge (3)"):
        fit = ordfit("rating ~ temp + (1 | judge)", data)
    whole = ordfit("rating ~ temp + (1 | judge)", data.iloc[3:])
    assert fit.nobs == 69
    assert fit.loglik == pytest.approx(whole.loglik, abs=1e-9)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"penalty": 1.0}, "penalty="),
        (
            {"cluster": "bottle"},
            "cluster must keep the rows of each group .* split 9 of the 9 groups",
        ),
        ({"link": "log-gamma"}, "free parameter of link="),
        ({"design": SurveyDesign(weights="response")}, "design="),
        (
            {"quadrature": 0},
            "quadrature of CumulativeLink must be a whole number from 1",
        ),
        (
            {"quadrature": "exact"},
            "quadrature of CumulativeLink must be a whole number from 1",
        ),
        ({"method": "redsvm"}, "does not support random terms"),
    ],
)
def test_what_random_effects_do_not_go_with(
    arguments: dict[str, object], words: str
) -> None:
    with pytest.raises(OptionError, match=words):
        ordfit("rating ~ temp + (1 | judge)", WINE, **arguments)


def test_what_is_not_there_is_refused_in_words() -> None:
    fit = ordfit("rating ~ temp + (1 | judge)", WINE)
    with pytest.raises(UnavailableError):
        fit.margins()
    with pytest.raises(AttributeError, match="Use a random term such as"):
        ordfit("rating ~ temp", WINE).ranef()
    assert "ranef" in dir(fit) and "margins" not in dir(fit)
    assert "ranef" not in dir(ordfit("rating ~ temp", WINE))

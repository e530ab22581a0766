"""Random terms in formulas: what they stand for, and what their misuse says."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from ordstat import DataWarning, SurveyDesign, datasets, ordfit, pool
from ordstat.design.bars import split_bars
from ordstat.design.build import build
from ordstat.design.recipe import updated_formula
from ordstat.exceptions import DataError, FormulaError, OptionError, UnavailableError

WINE = datasets.load("wine")


@pytest.mark.parametrize(
    ("text", "fixed", "terms"),
    [
        ("a + (1|g)", "a", [("1", "g", True)]),
        ("(1 + x | g)", "1", [("1 + x", "g", True)]),
        ("a*b - c + (0+x||g) + (1|a/b) + offset(z)", "a*b - c + offset(z)", [("0+x", "g", False), ("1", "a/b", True)]),
        ("a + I((a > 1) | (b < 2)) + (1|g)", "a + I((a > 1) | (b < 2))", [("1", "g", True)]),
        ("`x|y` + (1|`a b`)", "`x|y`", [("1", "`a b`", True)]),
        ("(a + b):c + (1|g)", "(a + b):c", [("1", "g", True)]),
        ("a + b", "a + b", []),
    ],
)
def test_bars_are_taken_out(text: str, fixed: str, terms: list[tuple[str, str, bool]]) -> None:
    found, bars = split_bars(text)
    assert found == fixed
    assert [bar.halves for bar in bars] == terms


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("rating ~ temp - (1 | judge)", "after a minus"),
        ("rating ~ (1 | judge):temp", r"\(1 \| group\)"),
        ("rating ~ temp * (1 | judge)", r"\(1 \| group\)"),
        ("rating ~ 1 | judge", r"\(1 \| group\)"),
        ("rating ~ temp + (1 | judge", r"\(1 \| group\)"),
        ("rating ~ temp + ( | judge)", "nothing before its bar"),
        ("rating ~ temp + (1 | )", "nothing after its bar"),
        ("rating ~ temp + (0 | judge)", "no column before its bar"),
        ("rating ~ temp + (1 | judge + bottle)", "its group is a, a:b or a/b"),
        ("rating ~ temp + (1 | judge + bottle)", r"several groups are several terms: \(1 \| a\) \+ \(1 \| b\)"),
        ("rating ~ temp + (1 | judge, bottle)", "must have one group after its bar"),
        ("rating ~ temp + (1 | judge * bottle)", "its group is a, a:b or a/b"),
        ("rating ~ temp + (1 | 1)", "its group is a, a:b or a/b"),
        ("rating ~ . + (1 | judge)", "name the columns"),
        ("rating ~ temp + (1 | rating)", "stands on the right"),
        ("rating ~ temp + (contact + (1 | judge))", r"\(1 \| group\)"),
        ("rating ~ (1 | judge) + (1 + temp | judge)", "cannot be told apart"),
    ],
)
def test_misuse_shows_the_right_form(formula: str, words: str) -> None:
    with pytest.raises(FormulaError, match=words):
        ordfit(formula, WINE)


@pytest.mark.parametrize("role", ["nominal", "scale"])
def test_random_terms_belong_in_the_formula(role: str) -> None:
    with pytest.raises(FormulaError):
        ordfit("rating ~ temp", WINE, **{role: "~ (1 | judge)"})


def test_groups_and_columns() -> None:
    design = build("rating ~ temp + (1 + temp | judge) + (0 + contact || bottle) + (1 | judge:temp)", WINE)
    slope, factor, mixed = design.random
    assert slope.names == ("(Intercept)", "temp[T.warm]") and slope.correlated
    assert factor.names == ("contact[no]", "contact[yes]") and not factor.correlated
    assert mixed.group == "judge:temp" and len(mixed.groups) == 18
    assert design.names == ("temp[T.warm]",)


def test_nesting_is_two_terms() -> None:
    one = build("rating ~ 1 + (1 | judge/temp)", WINE)
    two = build("rating ~ 1 + (1 | judge) + (1 | judge:temp)", WINE)
    assert [term.group for term in one.random] == [term.group for term in two.random] == ["judge", "judge:temp"]
    assert one.sample.rows.random is not None and two.sample.rows.random is not None
    assert one.sample.rows.random.same(two.sample.rows.random)


def test_a_missing_group_is_a_missing_row() -> None:
    data = WINE.assign(judge=WINE["judge"].astype(object))
    data.loc[data.index[:3], "judge"] = None
    with pytest.warns(DataWarning, match=r"3 of 72 rows left out for missing values: judge \(3\)"):
        fit = ordfit("rating ~ temp + (1 | judge)", data)
    whole = ordfit("rating ~ temp + (1 | judge)", data.iloc[3:])
    assert fit.nobs == 69
    assert fit.loglik == pytest.approx(whole.loglik, abs=1e-9)


def test_new_data_keep_the_groups_of_the_fit() -> None:
    design = build("rating ~ temp + (1 + temp | judge)", WINE)
    new = pd.DataFrame({"temp": ["warm", "cold", "warm"], "judge": [9, 77, 1]})
    rows = design.spec.rebuild(new).rows
    assert rows.random is not None
    assert rows.random.terms[0].codes.tolist() == [8, -1, 0]
    np.testing.assert_array_equal(rows.random.terms[0].z, [[1, 1], [1, 0], [1, 1]])
    without = design.spec.rebuild(new[["temp"]]).rows
    assert without.random is not None
    assert without.random.terms[0].codes.tolist() == [-1, -1, -1]


def test_few_and_many_groups_are_told() -> None:
    with pytest.raises(DataError, match="same value in every row used"):
        ordfit("rating ~ temp + (1 | one)", WINE.assign(one="a"))
    with pytest.warns(DataWarning, match="2 groups"):
        ordfit("rating ~ contact + (1 | temp)", WINE)
    with pytest.warns(DataWarning, match="a group for each of the 72 rows"):
        ordfit("rating ~ contact + (1 | row)", WINE.assign(row=range(72)))


def test_fixed_effects_of_the_groups_leave_no_variance() -> None:
    with pytest.warns(DataWarning, match=r"\(1 \| judge\) stands beside fixed effects of judge"):
        fit = ordfit("rating ~ judge + (1 | judge)", WINE)
    assert fit.varcorr()["variance"].tolist() == [0.0]
    ordfit("rating ~ number + (1 | number)", WINE.assign(number=WINE["judge"].astype(int)))  # a slope beside them


def test_groups_among_many_combinations_of_levels() -> None:
    """Few of the products of two factors have rows: the same groups as one factor of their labels."""
    data = WINE.assign(a=np.arange(72) // 2, b=np.arange(72) // 3, ab=[f"{i // 2}:{i // 3}" for i in range(72)])
    one, two = (build(f"rating ~ 1 + (1 | {group})", data) for group in ("a:b", "ab"))
    assert one.random[0].groups == sorted(set(data["ab"]), key=lambda label: tuple(map(int, label.split(":"))))
    codes = [design.sample.rows.random.terms[0].codes for design in (one, two) if design.sample.rows.random]
    pairs = set(zip(*(own.tolist() for own in codes), strict=True))
    assert len(pairs) == len(set(codes[0])) == len(set(codes[1])) == one.random[0].cells.size


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("y ~ a + (1 | g)", "~ . - (1|g) + (1 | h)", "y ~ a + (1 | h)"),
        ("y ~ a + (1 | g)", "~ . + b", "y ~ a + b + (1 | g)"),
        ("y ~ a + (1 | g)", "~ b", "y ~ b"),
        ("y ~ a + (1 | g)", "- (1 | g)", "y ~ a"),
        ("y ~ a", "+ b + (1 | g)", "y ~ a + b + (1 | g)"),
        ("y ~ a + (1 | g)", "z ~ .", "z ~ a + (1 | g)"),
    ],
)
def test_update(old: str, new: str, expected: str) -> None:
    assert updated_formula(old, new) == expected


def test_update_of_a_fit() -> None:
    fit = ordfit("rating ~ temp + (1 | judge)", WINE)
    assert fit.update("~ . - (1 | judge)").loglik == pytest.approx(ordfit("rating ~ temp", WINE).loglik, abs=1e-9)
    with pytest.raises(FormulaError, match="has not"):
        fit.update("~ . - (1 | bottle)")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"penalty": 1.0}, "penalty="),
        ({"cluster": "bottle"}, "cluster must keep the rows of each group .* split 9 of the 9 groups"),
        ({"link": "log-gamma"}, "free parameter of link="),
        ({"design": SurveyDesign(weights="response")}, "design="),
        ({"quadrature": 0}, "quadrature must be 1"),
        ({"quadrature": "exact"}, "quadrature must be 1"),
        ({"method": "redsvm"}, "does not support random terms"),
    ],
)
def test_what_random_effects_do_not_go_with(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(OptionError, match=words):
        ordfit("rating ~ temp + (1 | judge)", WINE, **arguments)


def test_nodes_are_for_one_term() -> None:
    """Of one column, or of up to three: `test_vector_quadrature.py`."""
    with pytest.raises(OptionError, match=r"needs one random term of at most 3 columns.*Use quadrature=1"):
        ordfit("rating ~ contact + (1 | judge) + (1 | bottle)", WINE, quadrature=7)


def test_what_is_not_there_is_refused_in_words() -> None:
    fit = ordfit("rating ~ temp + (1 | judge)", WINE)
    with pytest.raises(UnavailableError, match="for fits with random effects"):
        fit.margins()
    with pytest.raises(UnavailableError, match="fits with random effects alone"):
        ordfit("rating ~ temp", WINE).ranef()
    with pytest.raises(OptionError, match="pooling of these"):
        pool([fit, fit])
    assert "ranef" in dir(fit) and "margins" not in dir(fit)
    assert "ranef" not in dir(ordfit("rating ~ temp", WINE))

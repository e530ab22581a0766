"""Responses known in part: which levels each answer allows, and refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from seams import build

from ordstat import ordfit
from ordstat.exceptions import DataError, FormulaError, OptionError, UnavailableError

NAN = float("nan")
X = [0.1, 0.5, 0.9, 0.4, 0.2, 0.7, 0.3]


def allowed(formula: str, levels: Any = None, **columns: Any) -> list[tuple[Any, ...]]:
    """The labels that each answer allows."""
    data = pd.DataFrame(columns)
    design = build(formula, data.assign(x=X[: len(data)]), levels=levels)
    sample = design.sample
    highest = sample.y if sample.highest is None else sample.highest
    return [
        design.levels.values[low : high + 1]
        for low, high in zip(sample.y, highest, strict=True)
    ]


def test_survival_times() -> None:
    """Censored at 2 is above 2; an event at the same time comes before."""
    spans = allowed("Surv(t, e) ~ x", t=[1, 2, 2, 3, 3], e=[1, 1, 0, 1, 0])
    assert spans == [(1,), (2,), (3, "> 3"), (3,), ("> 3",)]


def test_numbers_are_above_low_and_up_to_high() -> None:
    low = [1.0, 2.5, 4.0, 1.0, 1.5, NAN, 2.5]
    high = [1.0, 2.5, 4.0, 2.5, NAN, 3.0, np.inf]
    assert allowed("interval(low, high) ~ x", low=low, high=high) == [
        (1.0,),
        (2.5,),
        (4.0,),
        (2.5,),
        (2.5, 4.0),
        (1.0, 2.5),
        (4.0,),
    ]


def test_answers_beyond_all_exact_ones_have_a_level() -> None:
    low = [1.0, 2.0, 3.0, NAN, 1.0, 2.0]
    high = [1.0, 2.0, NAN, 0.5, 9.0, 2.5]
    assert allowed("interval(low, high) ~ x", low=low, high=high) == [
        (1,),
        (2,),
        ("> 2",),
        ("< 1",),
        (2, "> 2"),
        ("> 2",),
    ]


def test_levels_include_both_ends() -> None:
    low = ["lo", "mid", "hi", "lo", None]
    high = ["lo", "mid", "hi", "mid", "mid"]
    spans = allowed("interval(a, b) ~ x", levels=["lo", "mid", "hi"], a=low, b=high)
    assert spans == [("lo",), ("mid",), ("hi",), ("lo", "mid"), ("lo", "mid")]
    kind = pd.CategoricalDtype(["lo", "mid", "hi"], ordered=True)
    as_categories = allowed(
        "interval(a, b) ~ x",
        a=pd.Series(low, dtype=kind),
        b=pd.Series(high, dtype=kind),
    )
    assert as_categories == spans


def test_intervals_that_begin_at_a_rating_are_told_of() -> None:
    """Of numbers "3 to 4" is 4 alone: a warning says so, and what to give instead."""
    data = pd.DataFrame({"a": [1, 2, 3, 4, 3], "b": [1, 2, 3, 4, 4], "x": X[:5]})
    (note,) = build("interval(a, b) ~ x", data).notes
    assert "begins at is left out (such rows: 1)" in note and "levels=" in note
    assert not build("interval(a, b) ~ x", data, levels=[1, 2, 3, 4]).notes
    assert not build(
        "interval(a, b) ~ x", data.assign(a=data.a - 0.5 * (data.a < data.b))
    ).notes


def test_counts_of_levels_without_an_exact_answer_are_0() -> None:
    rows = build(
        "interval(a, b) ~ x",
        pd.DataFrame({"a": [1, 2, 3, 4, 2], "b": [1, 2, 3, 4, 3], "x": X[:5]}),
        levels=[1, 2, 3, 4],
    ).sample
    part = rows.take(np.array([0, 3, 4]))
    assert part.counts().tolist() == [1.0, 0.0, 0.0, 1.0]
    with pytest.raises(DataError, match="include a level that is observed exactly"):
        part.among(part.counts() > 0.0)


def test_a_level_without_an_exact_answer_joins_its_neighbour() -> None:
    data = pd.DataFrame({"a": [1, 2, 4, 2, 3], "b": [1, 2, 4, 3, 4], "x": X[:5]})
    design = build("interval(a, b) ~ x", data, levels=[1, 2, 3, 4])
    assert design.levels.values == (1, "2 to 3", 4)
    assert any("joined" in note and "3" in note for note in design.notes)
    assert design.sample.y.tolist() == [0, 1, 2, 1, 1]


def test_levels_are_those_of_the_rows_used() -> None:
    """An exact answer whose row is left out makes no level."""
    data = pd.DataFrame({"t": [1, 2, 3, 2], "e": [1, 1, 1, 0], "x": [0.1, 0.2, NAN, 1]})
    design = build("Surv(t, e) ~ x", data)
    assert design.levels.values == (1, 2, "> 2")


def test_answers_that_say_nothing_change_nothing() -> None:
    """A row censored below all events counts as a row, and not in the likelihood."""
    rng = np.random.default_rng(2)
    data = pd.DataFrame({"t": rng.integers(1, 6, 60), "x": rng.normal(size=60)})
    data["e"] = (np.arange(60) % 3 > 0).astype(int)
    more = pd.concat([data, data.head(5).assign(t=0, e=0)], ignore_index=True)
    for link in ("logit", "probit", "cauchit", "loglog"):
        fit = ordfit("Surv(t, e) ~ x", data, link=link)
        other = ordfit("Surv(t, e) ~ x", more, link=link)
        assert other.n_rows == 65
        assert other.loglik == pytest.approx(fit.loglik, abs=1e-9)
        assert other.params.to_numpy() == pytest.approx(fit.params.to_numpy(), abs=1e-7)


@pytest.mark.parametrize(
    ("formula", "columns", "error", "named"),
    [
        ("interval(a) ~ x", {}, FormulaError, "interval"),
        ("interval(a, log(b)) ~ x", {}, FormulaError, "interval"),
        ("interval(a, b) ~ a", {}, FormulaError, "'a'"),
        ("interval(a, b) ~ x", {"a": [2, 1, 3, 1]}, DataError, "row 0"),
        ("interval(a, b) ~ x", {"a": [1, 1, 3, 1]}, DataError, "row 1"),
        ("interval(a, b) ~ x", {"a": [0, 0, 0, 0]}, DataError, "exact"),
        ("interval(a, b) ~ x", {"a": list("pqrs")}, DataError, "'a'"),
        ("Surv(a, e) ~ x", {"e": [1, 2, 0, 1]}, DataError, "row 1.*== 2"),
        ("Surv(a, e) ~ x", {"e": [0, 0, 0, 0]}, DataError, "an event.* none in 4 rows"),
        (
            "Surv(a, e) ~ x",
            {"a": [1.0, np.inf, 3.0, 1.0], "e": [1, 0, 1, 1]},
            DataError,
            "finite times in 'a'; it is infinite in row 1",
        ),
        ("Surv(a, e) ~ x", {"e": list("yyny")}, DataError, "'e'"),
    ],
)
def test_refused(
    formula: str, columns: dict[str, Any], error: type[Exception], named: str
) -> None:
    data = {"a": [1, 2, 3, 1], "b": [1, 2, 3, 2], "x": X[:4], **columns}
    if formula.startswith("interval(a, b) ~ x") and data["a"] == [1, 1, 3, 1]:
        data["b"] = [1, 1.5, 3, 2]
    with pytest.raises(error, match=named):
        build(formula, pd.DataFrame(data))


def test_a_dot_leaves_out_both_columns() -> None:
    data = pd.DataFrame({"t": [1, 2, 3], "e": [1, 1, 0], "x": X[:3]})
    assert build("Surv(t, e) ~ .", data).names == ("x",)


@pytest.mark.parametrize("method", ["redsvm", "ordboost", "acat", "cratio"])
def test_methods_without_a_place_for_them_refuse(method: str) -> None:
    data = pd.DataFrame({"t": [1, 2, 3, 1] * 3, "e": [1, 1, 1, 0] * 3, "x": range(12)})
    with pytest.raises(OptionError, match="censored"):
        ordfit("Surv(t, e) ~ x", data, method=method)
    with pytest.raises(OptionError, match="Random terms"):
        ordfit("Surv(t, e) ~ x + (1 | g)", data.assign(g=[1, 2, 3] * 4))


def test_questions_about_exact_answers_are_refused() -> None:
    data = pd.DataFrame(
        {"t": [1, 2, 3, 1] * 6, "e": [1, 1, 1, 0] * 6, "x": np.sin(np.arange(24))}
    )
    fit = ordfit("Surv(t, e) ~ x", data)
    for question in (
        *(fit.margins, fit.gof, fit.brant, fit.score_test, fit.bootstrap),
        *(fit.conformal, fit.reliability, fit.discrimination, fit.plot.parallel),
    ):
        with pytest.raises(UnavailableError):
            question()
    with pytest.raises(DataError, match="exact answers in one column"):
        fit.errors(data)


def test_times_have_no_levels() -> None:
    data = pd.DataFrame({"t": [1, 2, 3], "e": [1, 1, 0], "x": X[:3]})
    with pytest.raises(OptionError, match=r"levels of Surv\(\)"):
        build("Surv(t, e) ~ x", data, levels=[1, 2, 3])


def test_errors_say_how_many_answers_they_count() -> None:
    """Censored at 1 is "2 or more"; censored at 3 is the level above 2."""
    data = pd.DataFrame({"t": [1, 2, 1, 3, 2], "e": [1, 1, 0, 0, 1], "x": X[:5]})
    assert "4 of the 5 rows" in repr(ordfit("Surv(t, e) ~ x", data).errors())

"""What effects, means, tests and plans are given that they cannot take is refused by
the name of the argument.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import pytest
from expected import no_standard_errors, refused
from seams import LikelihoodResults

from ordstat import datasets, describe_ordinal, ordfit
from ordstat.exceptions import DataError, DataWarning, OptionError


@lru_cache
def wine() -> LikelihoodResults:
    return ordfit("rating ~ temp + contact", datasets.load("wine"))


@pytest.mark.parametrize("at", [["temp"], 3, "temp"])
@pytest.mark.parametrize(
    "ask",
    [
        lambda at: wine().emmeans("temp", at=at),
        lambda at: voters().emtrends("vote", "age", at=at),
        lambda at: wine().joint_tests(at=at),
    ],
)
def test_at_is_a_mapping(ask: Callable[[Any], Any], at: Any) -> None:
    with refused("at"):
        ask(at)


@lru_cache
def voters() -> LikelihoodResults:
    return ordfit("PID ~ vote * age", datasets.load("anes96"))


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda f: f.joint_tests(by=3), r"^by must be names of variables; got 3"),
        (
            lambda f: f.marginal_effects("temp", by=3).frame,
            r"^by names no column of the data: 3",
        ),
    ],
)
def test_other_refusals(ask: Callable[[LikelihoodResults], Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        ask(wine())


@pytest.mark.parametrize("data", [3, "wine", [1, 2]])
def test_data_is_a_frame(data: Any) -> None:
    with refused("data", error=DataError):
        wine().emmeans("temp", data=data)


def test_bounds_of_a_model_without_margins_say_why() -> None:
    (note,) = (
        ordfit("rating ~ temp", datasets.load("wine"), "acat").bounds().attrs["notes"]
    )
    assert "need not increase" in note and "nominal" not in note


def test_one_group_is_compared_with_all_items() -> None:
    data = datasets.load("wine").assign(
        a=lambda d: d["rating"], b=lambda d: d["rating"].iloc[::-1].values, one="x"
    )
    assert "higher than one of all items" in " ".join(
        str(describe_ordinal(data, ["a", "b"], by="one")).split()
    )


def test_a_doubtful_answer_is_told_in_words_that_hold_everywhere() -> None:
    codes = datasets.load("wine")["rating"].astype(int).replace(5, 99)
    with pytest.warns(DataWarning, match="far from the others") as caught:
        shown = str(describe_ordinal(codes.to_frame("q"), ["q"]))
    assert "subset=" not in shown + str(caught[0].message)


def test_printing_does_not_warn_again() -> None:
    data = datasets.load("wine").query("temp == 'cold' or contact == 'no'")
    with pytest.warns(DataWarning):
        means = ordfit("rating ~ temp * contact", data).emmeans(
            "pairwise ~ temp * contact"
        )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "NA" in repr(means) and "NA" in means._repr_html_()
    with no_standard_errors() as caught:
        means.contrasts()
    assert caught[0].filename == __file__


@pytest.mark.parametrize("name", ["estimate", "std_error", "p_value", "lower"])
def test_variables_that_have_the_name_of_a_column_of_numbers(name):
    """Tables had two columns of one name."""
    wine = datasets.load("wine").rename(columns={"temp": name})
    fit = ordfit(f"rating ~ contact + {name}", wine)
    for question in (
        lambda: fit.emmeans(f"~ {name}"),
        lambda: fit.emmeans("~ contact", by=name),
        lambda: fit.marginal_effects("contact", by=name),
    ):
        with pytest.raises(OptionError, match=f"'{name}' is a column of the table"):
            question()
    assert len(fit.emmeans("~ contact").frame) == 2

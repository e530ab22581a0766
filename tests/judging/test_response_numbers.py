"""Means, quantiles and exceedance in the numbers of labels, by hand and by brute
force.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from ordstat.exceptions import OptionError
from ordstat.formula.design import Levels
from ordstat.judging.response_numbers import Asked

WHOLE = (False, False)
#: Probabilities of three rows over four levels.
SHARES = np.array([[0.1, 0.2, 0.3, 0.4], [0.5, 0.0, 0.0, 0.5], [0.0, 0.0, 0.25, 0.75]])
BELOW = np.cumsum(SHARES, axis=1)[:, :-1]
LABELS = (0, 2, 5, 11)


def asked(type: str, at=None, labels=LABELS, open_ends=WHOLE, **options) -> Asked:
    made = Asked.of(Levels(values=labels, open_ends=open_ends), type, at, **options)
    assert made is not None
    return made


@pytest.mark.parametrize(
    ("labels", "open_ends", "expected"),
    [
        ((0, 2, 5), WHOLE, [0, 2, 5]),
        ((np.int64(1), 2.5), WHOLE, [1, 2.5]),
        (("1", "2", "3"), WHOLE, None),
        ((False, True), WHOLE, None),
        ((3, 2, 1), WHOLE, None),
        ((1, 2, np.inf), WHOLE, None),
        ((1, "2 to 3"), WHOLE, None),
        ((1, 4, "> 4"), (False, True), [1, 4, 4]),
        (("< 1", 1, 4, "> 4"), (True, True), [1, 1, 4, 4]),
        ((1, 4, "> 4"), WHOLE, None),
    ],
)
def test_labels_that_are_numbers(labels, open_ends, expected) -> None:
    numbers = Levels(values=labels, open_ends=open_ends).numbers
    assert expected == (None if numbers is None else numbers.tolist())


def test_means_are_sums_of_shares_times_labels() -> None:
    np.testing.assert_allclose(asked("mean").values(BELOW)[:, 0], SHARES @ LABELS)
    ranks = SHARES @ [1, 2, 3, 4]
    np.testing.assert_allclose(asked("mean_class").values(BELOW)[:, 0], ranks)
    words = asked("mean", labels=tuple("abcd"))
    np.testing.assert_allclose(words.values(BELOW)[:, 0], ranks)
    assert "expected rank (1 to 4, as the labels are not numbers" in words.words
    assert asked("mean").words == "the expected response (labels 0 to 11)"


def test_a_level_with_an_open_end_counts_as_the_end() -> None:
    mean = asked("mean", labels=(0, 2, 5, "> 5"), open_ends=(False, True))
    np.testing.assert_allclose(mean.values(BELOW)[:, 0], SHARES @ [0, 2, 5, 5])
    assert "'> 5' count as the end of the scale: a restricted" in mean.notes[1]


@pytest.mark.parametrize("value", [-1, 0, 0.5, 2, 2.5, 5, 10.9, 11, 11.1])
def test_exceedance_counts_the_levels_from_a_value_on(value: float) -> None:
    expected = SHARES @ (np.array(LABELS) >= value)
    values = asked("exceed", value).values(BELOW)
    np.testing.assert_allclose(values[:, 0], expected, atol=1e-15)


def test_exceedance_of_labels_and_of_every_level() -> None:
    words = asked("exceed", "c", labels=tuple("abcd"))
    np.testing.assert_allclose(words.values(BELOW)[:, 0], SHARES[:, 2:].sum(axis=1))
    every = asked("exceed")
    assert every.labels == [2, 5, 11]
    np.testing.assert_allclose(every.values(BELOW), 1.0 - BELOW)


@pytest.mark.parametrize("share", [0.05, 0.1, 0.3, 0.5, 0.6, 0.75, 0.99])
def test_quantiles_are_the_lowest_level_that_reaches_the_share(share: float) -> None:
    expected = []
    for row in SHARES:
        reached = [k for k in range(4) if row[: k + 1].sum() >= share - 1e-12]
        expected.append(LABELS[reached[0]])
    answer = asked("quantile", share).answer(pd.RangeIndex(3), BELOW)
    assert answer.tolist() == expected


def test_quantiles_of_words_are_levels_and_of_open_ends_infinite() -> None:
    index = pd.Index(list("xyz"))
    words = asked("quantile", [0.3, 0.5], labels=tuple("abcd")).answer(index, BELOW)
    assert words[0.3].tolist() == ["b", "a", "d"]
    assert words[0.5].cat.ordered and words.index.tolist() == ["x", "y", "z"]
    open_above = asked(
        "quantile", 0.9, labels=(0, 2, 5, "> 5"), open_ends=(False, True)
    )
    assert np.isposinf(open_above.answer(index, BELOW)).all()
    below = BELOW.copy()
    below[1] = np.nan
    assert asked("quantile").answer(index, below).isna().tolist() == [
        False,
        True,
        False,
    ]


def test_limits_are_where_those_of_probabilities_reach_the_share() -> None:
    """Lower limits that fall once: the outermost crossing counts."""
    below = np.array([[0.2, 0.4, 0.6]])
    lower = np.array([[0.1, 0.52, 0.45]])
    upper = np.array([[0.3, 0.55, 0.5]])
    estimate, low, high = asked("quantile").quantiles(below, lower, upper)
    assert (estimate.item(), low.item(), high.item()) == (2, 1, 3)


def test_interpolation_by_hand() -> None:
    """F = 0.1, 0.3, 0.6: knots 0 + 0, 2 + 3 (0.2 / 0.5), 11; halfway from 0.3 to 0.6 at
    0.45.
    """
    between = asked("quantile", [0.05, 0.2, 0.45, 0.8], interpolate=True)
    (values,) = between.quantiles(BELOW[:1])
    np.testing.assert_allclose(values[0], [0.0, 1.6, (3.2 + 11.0) / 2.0, 11.0])


def test_interpolated_quantiles_in_an_open_end_are_infinite() -> None:
    labels = ("< 2", 2, 5, "> 5")
    between = asked(
        "quantile", [0.05, 0.2, 0.8], labels, (True, True), interpolate=True
    )
    (values,) = between.quantiles(BELOW[:1])
    # knots are 2 at 0.1 and 2 + 0.4 * 3 at 0.3
    np.testing.assert_allclose(values[0], [-np.inf, 2.6, np.inf])
    of_averages, slopes = between.quantile_slopes(BELOW[:1])
    np.testing.assert_allclose(of_averages[0], [np.nan, 2.6, np.nan])
    assert slopes.any(axis=2).tolist() == [[False, True, False]]


def test_slopes_of_interpolated_quantiles_are_those_of_differences() -> None:
    made = asked("quantile", [0.05, 0.2, 0.45, 0.8], interpolate=True)
    below = np.array([[0.1, 0.3, 0.6], [0.15, 0.42, 0.9]])
    _, slopes = made.quantile_slopes(below)
    h = 1e-6
    for k, move in enumerate(h * np.eye(3)):
        (up,) = made.quantiles(below + move)
        (down,) = made.quantiles(below - move)
        np.testing.assert_allclose(slopes[..., k], (up - down) / (2 * h), atol=1e-8)


@pytest.mark.parametrize(
    ("type", "options", "message"),
    [
        ("mean", {"at": 1}, "at goes with type='quantile' or 'exceed'"),
        ("prob", {"interpolate": True}, "interpolate goes with type='quantile'"),
        ("quantile", {"at": 1.0}, "at must be"),
        ("quantile", {"at": []}, "at must have a value"),
        ("quantile", {"at": [0.5, 0.5]}, "at must have every value once"),
        ("exceed", {"at": "c"}, "at must be one of the levels .* or a finite number"),
        ("exceed", {"at": np.nan}, "or a finite number; got nan"),
        ("exceed", {"at": True}, "or a finite number; got True"),
        ("exceed", {"at": 2, "labels": tuple("abcd")}, "at must be one of the levels"),
        (
            "exceed",
            {"at": 6, "labels": (0, 2, 5, "> 5"), "open_ends": (False, True)},
            "at must be from 0 to 5",
        ),
        (
            "quantile",
            {"interpolate": True, "labels": tuple("abcd")},
            "need labels that are numbers",
        ),
        ("quantile", {"interpolate": True, "labels": (1, 2)}, "needs 3 levels or more"),
    ],
)
def test_what_is_refused(type: str, options: dict, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        asked(type, **options)


def test_an_exceedance_at_the_label_of_an_open_end() -> None:
    made = asked("exceed", "> 5", labels=(0, 2, 5, "> 5"), open_ends=(False, True))
    np.testing.assert_allclose(made.values(BELOW)[:, 0], SHARES[:, 3])

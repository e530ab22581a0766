"""Every kind of response, and refusals."""

import datetime
import re

import numpy as np
import pandas as pd
import pytest
from expected import no_column
from seams import build

from ordstat import ordfit
from ordstat.exceptions import DataError, FormulaError

WORDS = ["mid", "low", "high", "low", "mid", "high"]


def ordered(values, categories):
    return pd.Categorical(values, categories=categories, ordered=True)


@pytest.mark.parametrize(
    ("values", "levels", "labels", "codes", "unused"),
    [
        (
            ordered(WORDS, ["low", "mid", "high"]),
            None,
            ("low", "mid", "high"),
            [1, 0, 2, 0, 1, 2],
            (),
        ),
        (
            ordered(WORDS, ["low", "none", "mid", "high"]),
            None,
            ("low", "mid", "high"),
            [1, 0, 2, 0, 1, 2],
            ("none",),
        ),
        (
            ordered(WORDS, ["low", "mid", "high"]),
            ["high", "mid", "low"],
            ("high", "mid", "low"),
            [1, 2, 0, 2, 1, 0],
            (),
        ),
        (WORDS, ["low", "mid", "high"], ("low", "mid", "high"), [1, 0, 2, 0, 1, 2], ()),
        (
            WORDS,
            ("low", "mid", "high", "top"),
            ("low", "mid", "high", "top"),
            [1, 0, 2, 0, 1, 2],
            (),
        ),
        (
            pd.Categorical(WORDS, ["low", "mid", "high", "top"], ordered=True),
            None,
            ("low", "mid", "high"),
            [1, 0, 2, 0, 1, 2],
            ("top",),
        ),
        (
            pd.Categorical(WORDS),
            ["low", "mid", "high"],
            ("low", "mid", "high"),
            [1, 0, 2, 0, 1, 2],
            (),
        ),
        ([3, 1, 10, 1, 3, 10], None, (1, 3, 10), [1, 0, 2, 0, 1, 2], ()),
        (
            np.array([3, 1, 10, 1, 3, 10], dtype=np.uint8),
            None,
            (1, 3, 10),
            [1, 0, 2, 0, 1, 2],
            (),
        ),
        ([3.0, 1.0, 10.0, 1.0, 3.0, 10.0], None, (1, 3, 10), [1, 0, 2, 0, 1, 2], ()),
        (
            pd.array([3, 1, 10, 1, 3, 10], dtype="Int64"),
            None,
            (1, 3, 10),
            [1, 0, 2, 0, 1, 2],
            (),
        ),
        (
            pd.Series([3, 1, 10, 1, 3, 10], dtype=object),
            None,
            (1, 3, 10),
            [1, 0, 2, 0, 1, 2],
            (),
        ),
        ([3, 1, 10, 1, 3, 10], [10, 5, 3, 1], (10, 5, 3, 1), [2, 3, 0, 3, 2, 0], ()),
        (
            [1.5, -0.5, 2.5, -0.5, 1.5, 2.5],
            None,
            (-0.5, 1.5, 2.5),
            [1, 0, 2, 0, 1, 2],
            (),
        ),
        (
            [True, False, True, False, False, True],
            None,
            (False, True),
            [1, 0, 1, 0, 0, 1],
            (),
        ),
        (
            ordered([2, 1, 3, 1, 2, 3], [3, 2, 1]),
            None,
            (3, 2, 1),
            [1, 2, 0, 2, 1, 0],
            (),
        ),
    ],
)
def test_levels_and_codes(values, levels, labels, codes, unused):
    frame = pd.DataFrame({"y": values, "x": range(6)})
    design = build("y ~ x", frame, levels=levels)
    assert design.levels.values == labels and design.levels.unused == unused
    assert [type(label) for label in design.levels.values] == [
        type(label) for label in labels
    ]
    assert design.sample.y.tolist() == codes and design.sample.y.dtype == np.intp
    assert design.sample.n_levels == len(labels)
    assert any("without rows" in note for note in design.notes) == bool(unused)
    np.testing.assert_array_equal(design.spec.response(frame), codes)
    shown = design.levels.categorical(design.sample.y, design.index, design.response)
    assert shown.tolist() == frame["y"].tolist() and shown.cat.ordered


def test_levels_belong_into_the_call():
    with pytest.raises(
        FormulaError, match=r"pass the levels of the response as levels=\[\.\.\.\]"
    ):
        build(
            "ordered(y, levels=c('low', 'mid', 'high')) ~ x",
            {"y": WORDS, "x": range(6)},
        )


@pytest.mark.parametrize("side", ["`my y`", "factor(`my y`)", " ( `my y` ) "])
def test_ways_to_name_the_response(side):
    assert build(f"{side} ~ x", {"my y": [1, 2, 1], "x": range(3)}).response == "my y"


@pytest.mark.parametrize(
    ("values", "levels", "message"),
    [
        (
            WORDS,
            {"low", "mid", "high"},
            "must be a list of labels in order, lowest first; got",
        ),
        (WORDS, ["low", "mid", "high", None], "names a missing value"),
        (WORDS, ["low", "mid", "high", float("nan")], "names a missing value"),
        (
            WORDS,
            None,
            (
                r"without an order\. Give levels=\['high', 'low', 'mid'\].* ordered"
                r" pd.Categorical"
            ),
        ),
        (pd.Categorical(WORDS), None, "without an order"),
        (WORDS, ["low", "mid"], "outside the levels 'low', 'mid': 'high'"),
        (
            [1, 2, 3, 1, 2, 3],
            ["1", "2", "3"],
            "outside the levels '1', '2', '3': 1, 2, 3",
        ),
        (WORDS, ["low", "low", "mid"], "names a label twice"),
        (WORDS, "low", "a list of labels"),
        ([1] * 6, None, "at least 2 levels; the rows used all have 1"),
        ([np.nan] * 6, None, "None of the 6 rows can be used; left out for y \\(6\\)"),
        ([1, 2, np.inf, 1, 1, 2], None, "infinite in row 2"),
        (pd.date_range("2020", periods=6), None, "holds datetime64 values"),
        (
            pd.to_timedelta(range(6), unit="D"),
            None,
            r"timedelta64 values; .* number of days: data\['y'\] / pd",
        ),
        ([1, "a"] * 3, None, "holds mixed-integer values"),
        ([1j] * 6, None, "complex"),
    ],
)
def test_refused_responses(values, levels, message):
    with pytest.raises(DataError, match=message):
        build("y ~ x", pd.DataFrame({"y": values, "x": range(6)}), levels=levels)


def test_a_continuous_response_is_refused_and_halves_are_noted():
    with pytest.raises(DataError, match="looks continuous"):
        build("y ~ x", {"y": np.linspace(0, 1, 50), "x": np.arange(50)})
    assert (
        "not whole numbers"
        in build("y ~ x", {"y": [0.5, 1.5, 0.5], "x": range(3)}).notes[0]
    )


@pytest.mark.parametrize(
    "formula",
    ["log(y) ~ x", "y + z ~ x", "y", "~ x", "y ~ x ~ z", "ordered(y, x) ~ x", ""],
)
def test_refused_left_sides(formula):
    with pytest.raises(FormulaError):
        build(formula, {"y": [1, 2], "x": [1, 2], "z": [1, 2]})


def test_missing_levels_after_dropping_rows_are_unused():
    frame = {"y": [1, 2, 3, 1], "x": [1.0, 2, np.nan, 4], "w": [1, 1, 1, 0]}
    design = build("y ~ x", frame, weights="w")
    assert design.levels.values == (1, 2) and design.levels.unused == (3,)
    assert dict(design.dropped) == {
        "x": 1,
        "(weight 0)": 1,
    } and design.sample.y.tolist() == [0, 1]


def test_responses_of_new_data():
    spec = build(
        "y ~ x", {"y": WORDS, "x": range(6)}, levels=["low", "mid", "high"]
    ).spec
    assert spec.response({"y": ["high", None, "low"]}).tolist() == [2, -1, 0]
    with pytest.raises(DataError, match=r"outside the levels.*'top'"):
        spec.response({"y": ["high", "top"]})
    with no_column("y", "the response"):
        spec.response({"x": [1]})


@pytest.mark.parametrize("labels", [[0, 1, 2], [2, 3, 4], [1, 2, 4], [False, True]])
@pytest.mark.parametrize("dtype", ["int8", "int64", "uint8", float, "Int64"])
def test_numbers_are_known_whatever_their_type(labels, dtype):
    spec = build(
        "y ~ x", pd.DataFrame({"y": labels * 2, "x": range(2 * len(labels))})
    ).spec
    assert (
        spec.response({"y": pd.Series(labels[::-1] * 2, dtype=dtype)}).tolist()
        == [*range(len(labels))][::-1] * 2
    )
    with pytest.raises(DataError, match=r"outside the levels .*: 7"):
        spec.response({"y": pd.Series([labels[1], 7], dtype=dtype)})


@pytest.mark.parametrize("value", [2.5, np.nan])
def test_a_row_alone_is_read_as_among_others(value):
    rng = np.random.default_rng(5)
    data = pd.DataFrame({"x": rng.normal(size=9), "z": rng.normal(size=9)})
    spec = build("y ~ x + log(z**2)", data.assign(y=[1, 2, 3] * 3)).spec
    new = pd.DataFrame({"z": [0.5, 1.5], "x": [1.0, value]})
    together = spec.rebuild(new)
    alone = spec.rebuild(new.tail(1))
    n = int(alone.complete.sum())
    assert n == np.isfinite(value)
    assert alone.rows.X.tolist() == together.rows.X[1 : 1 + n].tolist()
    with pytest.raises(DataError, match="infinite"):
        spec.rebuild(new.assign(x=np.inf).tail(1))


@pytest.mark.parametrize("first", [0, 2**53, -(2**53) - 4])
def test_a_row_with_whole_numbers_alone_is_read_as_among_others(first):
    known = first + np.arange(3)  # floating-point numbers would make equal some
    data = pd.DataFrame({"x": [0.5, 1.0, 2.5] * 3, "g": np.repeat(known, 3)})
    spec = build("y ~ x + C(g)", data.assign(y=[1, 2, 3] * 3)).spec
    together = spec.rebuild(data).rows.X
    alone = [spec.rebuild(data.iloc[[row]]).rows.X[0] for row in range(9)]
    assert np.array_equal(alone, together)
    with pytest.raises(DataError, match=f"not in the fit: {first + 3}"):
        spec.rebuild(data.assign(g=first + 3).tail(1))


DAYS = pd.date_range("2020-02-27", periods=12)
TIMES = {
    "datetime64": pd.Series(DAYS),
    "datetime64 with a zone": pd.Series(DAYS.tz_localize("UTC")),
    "datetime": pd.Series(list(DAYS.to_pydatetime()), dtype=object),
    "date": pd.Series(list(DAYS.date), dtype=object),
    "date and None": pd.Series([*DAYS.date[:11], None], dtype=object),
    "period": pd.Series(DAYS.to_period("D")),
    "timedelta64": pd.Series(DAYS - DAYS[0]),
    "timedelta": pd.Series(
        [datetime.timedelta(days=day) for day in range(12)], dtype=object
    ),
}


@pytest.mark.parametrize("kind", TIMES)
def test_the_code_that_makes_numbers_of_dates_works(kind):
    data = pd.DataFrame({"day": TIMES[kind], "y": [1, 2, 3, 1] * 3})
    with pytest.raises(DataError, match="Column 'day' holds") as raised:
        ordfit("y ~ day", data)
    code = str(raised.value).partition("number of days: ")[2].removesuffix(".")
    days = eval(code, {"data": data, "pd": pd})
    expected = np.arange(12.0)
    expected[data["day"].isna()] = np.nan
    np.testing.assert_array_equal(days.astype(float), expected)
    whole = np.isfinite(expected)
    fit = ordfit("y ~ day", data.assign(day=days)[whole])
    assert fit.coef.index.tolist() == ["day"]


ANSWERS = ["never", "sometimes", "often"] * 4


@pytest.mark.parametrize(
    ("odd", "shown"),
    [
        ({0: "99"}, {"99": None}),
        ({0: "99", 4: "-1"}, {"99": None, "-1": None}),
        ({0: "refused"}, {"refused": None}),
        ({1: "Sometimes "}, {"Sometimes ": "sometimes"}),
        ({0: "99", 1: "Sometimes "}, {"Sometimes ": "sometimes", "99": None}),
    ],
)
def test_labels_outside_the_levels_are_told_what_to_write(odd, shown):
    answers = [odd.get(row, answer) for row, answer in enumerate(ANSWERS)]
    data = pd.DataFrame({"q": answers, "x": range(12)})
    with pytest.raises(DataError, match="outside the levels") as raised:
        build("q ~ x", data, levels=ANSWERS[:3])
    cure = re.search(r"Write (data\.replace\(.*?\}\}\)) to", str(raised.value))
    assert cure is not None and repr(next(iter(shown))) in cure[1]
    design = build("q ~ x", eval(cure[1], {"data": data}), levels=ANSWERS[:3])
    missing = sum(value is None for value in shown.values())
    assert design.levels.values == tuple(ANSWERS[:3])
    assert design.sample.y.size == 12 - missing


def test_a_number_among_words_is_no_level():
    data = pd.DataFrame({"q": ["99", *ANSWERS[1:]], "x": range(12)})
    order = r"levels=\['never', 'sometimes', 'often'\], lowest first"
    with pytest.raises(DataError, match=order) as raised:
        build("q ~ x", data)
    cure = str(raised.value).partition("no answer: ")[2].removesuffix(".")
    design = build("q ~ x", eval(cure, {"data": data}), levels=ANSWERS[:3])
    assert design.sample.y.size == 11


@pytest.mark.parametrize("labels", [["1", "2", "99"], ["18", "30", "old"]])
def test_numbers_among_numbers_are_levels(labels):
    with pytest.raises(DataError) as raised:
        build("q ~ x", {"q": labels * 4, "x": range(12)})
    assert "missing first" not in str(raised.value)


def test_a_level_without_rows_tells_of_its_spelling():
    data = {"y": ["low", "medium", "high"], "x": range(3)}
    told = "No row has 'mid' of levels=: spell labels as the data do"
    with pytest.raises(DataError, match=told):
        build("y ~ x", data, levels=["low", "mid", "high"])


def test_labels_that_begin_with_numbers_are_listed_by_them():
    labels = ["10 = always", "1 = never", "2 = rarely"]
    order = r"levels=\['1 = never', '2 = rarely', '10 = always'\], lowest first, or"
    with pytest.raises(DataError, match=order):
        build("q ~ x", {"q": labels * 2, "x": range(6)})

"""Suspicious data are reported and not changed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from expected import aliased, sampling_weights
from seams import build

from ordstat import DataError, DataWarning, datasets, ordfit
from ordstat.formula import doubtful

RNG = np.random.default_rng(0)
N = 240


def notes(y, x=None, **options) -> tuple[str, ...]:
    """Notes on a response with these labels, and a column of these values, in turn."""
    data = pd.DataFrame(
        {"y": _filled(y), "x": RNG.normal(size=N) if x is None else _filled(x)}
    )
    before = data.copy()
    actual = build("y ~ x", data, **options).notes
    pd.testing.assert_frame_equal(data, before)
    return actual


def _filled(values):
    repeated = [values[i % len(values)] for i in range(N)]
    return (
        pd.Categorical(repeated, values.categories, ordered=True)
        if isinstance(values, pd.Categorical)
        else repeated
    )


@pytest.mark.parametrize(
    ("labels", "named"),
    [
        ([1, 2, 3, 4, 9], ("the level 9 in", "far from the others (1 to 4)")),
        ([1, 2, 3, 4, 5, 9], ("the level 9 in", "far from the others (1 to 5)")),
        ([1, 2, 3, 4, 5, 6, 9], ("the level 9 in", "far from the others (1 to 6)")),
        ([1, 2, 3, 4, 5, 6, 7, 9], ("the level 9 in", "far from the others (1 to 7)")),
        ([1, 2, 3, 4, 5, 8], ("the level 8 in", "far from the others (1 to 5)")),
        (
            [0, 1, 2, 3, 4, 5, 8, 9],
            ("the levels 8, 9 in", "far from the others (0 to 5)"),
        ),
        ([1, 2, 3, 4, 99], ("the level 99 in", "far from the others (1 to 4)")),
        (
            [1, 2, 3, 97, 98, 99],
            ("the levels 97, 98, 99 in", "far from the others (1 to 3)"),
        ),
        ([-1, 1, 2, 3], ("the level -1 in", "far from the others (1 to 3)")),
        (
            [-9, -8, 1, 2, 3, 8],
            ("the levels -9, -8, 8 in", "far from the others (1 to 3)"),
        ),
        ([1, 99], ("the level 99 in 120 rows", "far from the others (1)")),
        ([10, 20, 30, 99], ("the level 99 in", "far from the others (10 to 30)")),
        ([0, 10, 20, 30, 99], ("the level 99 in", "far from the others (0 to 30)")),
        ([2, 4, 6, 99], ("the level 99 in", "far from the others (2 to 6)")),
        (
            [-99, 10, 20, 30, 98, 99],
            ("the levels -99, 98, 99 in", "far from the others (10 to 30)"),
        ),
    ],
)
def test_codes_among_whole_numbers(labels: list[int], named: tuple[str, str]) -> None:
    for y in (labels, pd.Categorical(labels, ordered=True)):
        (note,) = notes(y)
        assert note.startswith(f"Response y has {named[0]}") and named[1] in note
    assert notes(labels, levels=labels) == ()


@pytest.mark.parametrize(
    "labels",
    [
        [1, 2, 3],
        [*range(10)],
        [*range(1, 10)],
        [*range(8)],
        [3, 4, 5, 6, 7, 9],
        [-1, 0, 1],
        [10, 20, 30],
        [0, 1],
        [1, 9],
        [2**40, 2**41, 2**50],
        [0, 50, 99],
        *(
            pd.Categorical(words, words, ordered=True)
            for words in (["mild", "moderate", "severe"], ["large", "small"])
        ),
    ],
)
def test_scales_that_are_in_order(labels: list[int]) -> None:
    assert notes(labels) == ()


NO_ANSWERS = [
    *(
        "Don't know",
        "don’t know",
        "DK",
        "Refused",
        "No answer",
        "n/a",
        "Not applicable",
    ),
    *("No opinion", "Prefer not to say", "Can't choose", "Declined to answer"),
    *("Keine Angabe", "weiß nicht", "k. A.", "Geen mening", "weet niet", "Ne sait pas"),
    *("sans réponse", "No contesta", "NS/NC", "Não sabe", "Non risponde", "vet ej"),
    *("nie wiem", "затрудняюсь ответить", "わからない"),
]


@pytest.mark.parametrize("text", NO_ANSWERS)
def test_answers_that_are_no_place_on_the_scale(text: str) -> None:
    (note,) = notes(
        pd.Categorical(["little", "some", text], ["little", "some", text], ordered=True)
    )
    assert f"Response y has the level {text!r} in 80 rows" in note


@pytest.mark.parametrize(
    "text",
    [
        *(
            "undecided",
            "neither",
            "not sure",
            "none",
            "No",
            "not at all",
            "teils/teils",
        ),
        *(
            "trifft nicht zu",
            "ei",
            "non",
            "no pain",
            "not important",
            "Canada",
            "refuge",
        ),
    ],
)
def test_words_that_are_answers(text: str) -> None:
    assert not notes(
        pd.Categorical(["aa", "bb", text], ["aa", "bb", text], ordered=True)
    )


@pytest.mark.parametrize("code", [999999, 9999999, -999999, 888888, 9999998])
@pytest.mark.parametrize("largest", [90_000, 400_000])
def test_codes_of_many_digits(code: int, largest: int) -> None:
    income = np.append(np.linspace(0, largest, N - 3), [code] * 3)
    (note,) = notes([1, 2, 3], income.tolist())
    assert f"Column x has the value {code} in 3 rows" in note


@pytest.mark.parametrize("seed", range(20))
def test_the_sparse_end_of_a_count_is_no_code(seed: int) -> None:
    """Children in a household: values above the last frequent one are missing by
    chance.
    """
    rng = np.random.default_rng(seed)
    children = rng.poisson(1.5, N)
    children[0] = children.max() + 2
    assert notes([1, 2, 3], children.tolist()) == ()


def test_an_order_is_asked_for_the_answers_alone() -> None:
    data = pd.DataFrame({"y": ["low", "high", "No opinion", "medium"] * 9})
    asked = (
        r"Give levels=\['low', 'medium', 'high'\], .* Set 'No opinion' to missing first"
    )
    with pytest.raises(DataError, match=asked):
        build("y ~ 1", data)


def test_levels_whose_numbers_are_not_in_order() -> None:
    wrong = pd.Categorical(["1-4", "10+", "5-9"], ["1-4", "10+", "5-9"], ordered=True)
    right = pd.Categorical(["1-4", "5-9", "10+"], ["1-4", "5-9", "10+"], ordered=True)
    assert "numbers are not in order: '1-4', '10+', '5-9'" in notes(wrong)[0]
    assert notes(right) == ()
    assert not doubtful.disordered("y", ["3 good", "2 fair", "1 bad"])


@pytest.mark.parametrize(
    "texts",
    [
        ("500-999", "1,000-4,999", "5,000-24,999", "25,000+"),
        ("under 5", "5-9"),
        ("<$25k", "$25k-$100k", "$100k-$1m", "$1m+"),
        ("0.5 kg", "1 kg", "2.5 kg"),
    ],
)
def test_levels_whose_numbers_are_in_order_as_people_write_them(
    texts: tuple[str, ...],
) -> None:
    assert not doubtful.disordered("income", [*texts])
    if "under 5" not in texts:
        assert (
            "not in order"
            in doubtful.disordered(
                "income", [texts[0], texts[2], texts[1], *texts[3:]]
            )[0]
        )


@pytest.mark.parametrize(
    "right",
    [
        ["low", "medium", "high"],
        ["Disagree", "Neither", "Agree"],
        ["Strongly disagree", "Disagree", "Agree", "Strongly agree"],
        ["never", "sometimes", "always"],
        ["Poor", "Fair", "Good"],
        ["Too Little", "About Right", "Too Much"],
        ["very dissatisfied", "dissatisfied", "satisfied", "very satisfied"],
    ],
)
def test_words_of_a_scale_in_the_order_of_the_alphabet(right: list[str]) -> None:
    wrong = pd.Categorical(right, sorted(right), ordered=True)
    (note,) = notes(wrong)
    assert (
        note == "Response y has its levels in the order of the alphabet. Give"
        f" levels={right}, lowest first."
    )
    assert not notes(wrong, levels=right) and not notes(wrong, levels=sorted(right))
    assert not notes(pd.Categorical(right, right, ordered=True))
    assert not notes(pd.Categorical(right, right[::-1], ordered=True))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_sampling_weights_are_told_from_counts_of_a_table(seed: int) -> None:
    rng = np.random.default_rng(seed)
    data = datasets.load("anes96")
    data["w"] = np.rint(100 * np.exp(rng.normal(0, 0.7, len(data))))
    with sampling_weights("in place of 944"):
        ordfit("PID ~ selfLR + age + educ", data, weights="w")
    data["y"], data["sex"] = (
        rng.integers(0, 3, len(data)),
        rng.integers(0, 2, len(data)),
    )
    with sampling_weights():
        ordfit("y ~ sex", data, weights="w")
    data["w"] = 900 + rng.integers(0, 1000, len(data))
    with sampling_weights():
        ordfit("y ~ age + educ", data, weights="w")
    data["w"] = rng.integers(1, 5, len(data))  # a mean of 2.5
    with sampling_weights():
        ordfit("y ~ age + educ + selfLR + income", data, weights="w")
    for predictors in ("1", "Cont", "Infl * Type * Cont"):
        ordfit(f"Sat ~ {predictors}", datasets.load("housing"), weights="Freq")


@pytest.mark.parametrize("seed", [0, 1])
def test_sampling_weights_with_clusters(seed: int) -> None:
    """Robust errors hold, the number of rows does not; weights of mean 1 are those that
    the warning advises.
    """
    rng = np.random.default_rng(seed)
    data = datasets.load("anes96")
    data["w"], data["psu"] = (
        200_000 * np.exp(rng.normal(0, 0.7, len(data))),
        np.arange(len(data)) % 40,
    )
    for weights in (data["w"], np.rint(data["w"]), data["w"] / 50_000):
        for options in (
            {"cluster": "psu"},
            {"vcov": {"cluster": "psu", "type": "CR2"}},
        ):
            with sampling_weights("in place of 944"):
                ordfit("PID ~ age + educ", data, weights=weights, **options)
    ordfit(
        "PID ~ age + educ", data, weights=data["w"] / data["w"].mean(), cluster="psu"
    )
    housing = datasets.load("housing").assign(row=np.arange(72) // 3)
    ordfit("Sat ~ Infl", housing, weights="Freq", cluster="row")


def _survey(seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 92, N),
            "kids": rng.integers(0, 5, N),
            "y": rng.integers(0, 3, N),
        }
    )


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(
    ("column", "codes", "others"),
    [
        ("age", [999], "18 to 91"),
        ("age", [-9], "18 to 91"),
        ("kids", [9], "0 to 4"),
        ("kids", [77, 99], "0 to 4"),
    ],
)
def test_codes_of_missing_answers_among_the_numbers_of_a_predictor(
    seed, column, codes, others
) -> None:
    data = _survey(seed)
    data.loc[:1, "age"], data.loc[:1, "kids"] = [18, 91], [0, 4]
    places = np.random.default_rng(seed).choice(np.arange(2, N), 21, replace=False)
    for code, rows in zip(codes, np.array_split(places, len(codes)), strict=True):
        data.loc[rows, column] = code
    data["g"] = np.arange(N) % 9
    models = [
        {"formula": f"y ~ {term}"}
        for term in (column, f"log({column} + 100)", f"g + offset({column} / 1e4)")
    ]
    models += [
        {"formula": "y ~ g", "nominal": f"~ {column}"},
        {"formula": "y ~ g", "scale": f"~ I({column} / 100)"},
    ]
    for model in models:
        with pytest.warns(DataWarning) as warned:
            ordfit(data=data, **model)
        (message,) = [str(one.message) for one in warned]
        values = (
            f"the value{'s' * (len(codes) > 1)} {', '.join(map(str, codes))} in 21 rows"
        )
        assert (
            f"Column {column} has {values}, far from the others ({others})" in message
        )


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("level", ["refused", "Don't know", "n/a", "DK", "No answer"])
def test_levels_of_a_predictor_that_are_not_answers(seed, level) -> None:
    rng = np.random.default_rng(seed)
    data = _survey(seed).assign(
        g=rng.choice(["low", "high", level], N), h=rng.choice(["a", "b"], N)
    )
    with pytest.warns(DataWarning) as warned:
        ordfit("y ~ g + h + age", data)
    (message,) = [str(one.message) for one in warned]
    assert (
        f"Column g has the level {level!r} in {(data['g'] == level).sum()} rows"
        in message
    )


@pytest.mark.parametrize(
    "values",
    [
        [4, 6, 8],
        [0, 4, 8],
        [-1, 1],
        [0, 99 / 2, 99],
        [18, 60, 99],
        [9.0],
        [-1.5, 0.3, 2.2],
        [1, 9],
    ],
)
def test_predictors_without_codes(values) -> None:
    assert notes([1, 2, 3], values) == ()


def test_constant_columns_are_told_from_aliased_ones() -> None:
    data = pd.DataFrame({"x": np.arange(40.0) % 7, "y": np.arange(40) % 3}).assign(
        c=3.0, twice=lambda d: 2 * d["x"]
    )
    with pytest.warns(
        DataWarning, match=r"so aliased with the thresholds .*\(NA\): c\."
    ):
        assert np.isnan(ordfit("y ~ x + c", data).coef["c"])
    with aliased("twice."):
        ordfit("y ~ x + twice", data)


@pytest.mark.parametrize(
    "doses",
    [
        [1, 2, 4, 8],
        [0, 1, 2, 4, 8],
        [0.5, 1, 2, 4, 8],
        [1, 3, 9],
        [2, 4, 8],
        [0.09, 0.9, 9],
        [33, 99, 11],
    ],
)
@pytest.mark.parametrize("response", [True, False])
def test_doses_in_equal_ratios_are_no_codes(doses, response):
    values = np.tile(np.array(doses, dtype=float), 40)
    assert doubtful.codes_apart(values)[0] == []
    data = pd.DataFrame(
        {"a": values, "b": np.random.default_rng(0).normal(size=values.size)}
    )
    if (
        response
        and len(set(doses)) > 2
        and all(float(dose).is_integer() for dose in doses)
    ):
        ordfit("a ~ b", data)  # warnings are errors


@pytest.mark.parametrize(
    ("values", "codes", "others"),
    [
        ([1, 2, 4, 8, 99], [99], "1 to 8"),
        ([1, 2, 3, 8], [8], "1 to 3"),
        ([1, 2, 3, 4, 9], [9], "1 to 4"),
        ([1, 3, 9, 77, 88], [77, 88], "1 to 9"),
        ([1, 4, 99], [99], "1 to 4"),
    ],
)
def test_codes_beside_doses_are_told(values, codes, others):
    assert doubtful.codes_apart(np.tile(np.array(values, dtype=float), 40)) == (
        codes,
        others,
    )


DAYS = [f"2024-03-{day:02}" for day in range(1, 21)]


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (DAYS, "though its values are dates"),
        ([f"{k},5" for k in range(12)], "though its values are numbers with decimal"),
    ],
)
def test_text_that_is_no_factor_is_told_its_cure(values, told):
    data = pd.DataFrame({"y": np.arange(N) % 3, "x": _filled(values)})
    (note,) = build("y ~ x", data).notes
    assert told in note
    cure = note.partition("by ")[2].removesuffix(".")
    numbers = eval(cure, {"data": data, "pandas": pd})
    assert numbers.nunique() == len(values)
    assert build("y ~ x", data.assign(x=numbers)).names == ("x",)


@pytest.mark.parametrize(("distinct", "noted"), [(N, True), (150, True), (120, False)])
def test_an_identifier_is_told(distinct, noted):
    people = [f"p{row % distinct}" for row in range(N)]
    data = pd.DataFrame({"y": np.arange(N) % 3, "id": people})
    actual = build("y ~ id", data).notes
    assert any("identifier" in note for note in actual) is noted
    groups = build("y ~ 1 + (1 | id)", data).notes
    assert not any("identifier" in note for note in groups)


@pytest.mark.parametrize(
    ("name", "values", "noted"),
    [
        ("Unnamed: 0", np.arange(N), True),
        ("Unnamed: 0", np.arange(N) + 1, True),
        ("Unnamed: 0", RNG.permutation(N), False),
        ("Unnamed: 3", RNG.normal(size=N), False),
        ("wave", np.arange(N), False),
    ],
)
def test_row_numbers_of_a_file_are_told(name, values, noted):
    data = pd.DataFrame({"y": np.arange(N) % 3, name: values})
    actual = build("y ~ .", data).notes
    assert any("row numbers" in note for note in actual) is noted

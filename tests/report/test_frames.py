"""Tables that print their title, all their columns and their notes."""

import pickle

import numpy as np
import pandas as pd
import pytest
from problems import ranked

from ordstat import SeparationWarning, datasets, ordfit
from ordstat.report.frames import NotedFrame


def frame():
    return pd.DataFrame(
        {
            "df": [np.nan, 2.0],
            "chisq": [np.nan, 10.123456],
            "p_value": [np.nan, 0.0004],
        },
        index=["<none>", "x"],
    )


def test_it_prints_title_rows_and_notes():
    table = NotedFrame.of(frame(), ["no test of <none>."], "Tests")
    assert str(table).splitlines() == [
        "Tests",
        "        df   chisq  p_value",
        "---------------------------",
        "<none>",
        "x        2  10.123    <.001",
        "",
        "no test of <none>.",
    ]
    html = table._repr_html_()
    assert ">Tests<" in html
    assert "no test of &lt;none&gt;." in html


def test_the_numbers_stay_and_a_part_is_a_plain_frame():
    given = frame()
    table = NotedFrame.of(given, ["a note"])
    pd.testing.assert_frame_equal(pd.DataFrame(table), given)
    assert (
        type(table[["df"]])
        is type(table.round(1))
        is type(table.head(1))
        is pd.DataFrame
    )
    assert "notes" not in given.attrs


def test_it_pickles_with_its_notes():
    table = NotedFrame.of(frame(), ["a note"], "Tests")
    again = pickle.loads(pickle.dumps(table))
    assert type(again) is NotedFrame
    assert str(again) == str(table)


def test_long_text_is_listed_below():
    text = str(
        NotedFrame.of(
            pd.DataFrame({"value": [0.25], "source": ["long " * 12]}, index=["error"])
        )
    )
    assert "source of error: long long" in text
    assert max(map(len, text.splitlines())) <= 80


def test_what_tables_of_a_fit_say_is_printed():
    wine = datasets.load("wine")
    fit = ordfit("rating ~ temp + contact", wine)
    assert "no test: the binary regression at 1|2 has" in str(fit.brant())
    assert "chi-squared distribution" in " ".join(str(fit.nominal_test()).split())
    other = ordfit("rating ~ judge", wine)
    assert "does not contain the smaller model" in str(fit.anova(other))
    assert "cluster-robust, 9 clusters" in str(
        fit.with_vcov({"cluster": "judge", "type": "CR1"}).anova()
    )
    assert str(fit.test("temp = contact")).startswith("Wald tests")
    bounds = str(ordfit("rating ~ temp + contact", wine, "redsvm").bounds())
    assert max(map(len, bounds.splitlines())) <= 80
    assert "delta" in bounds


def test_reasons_of_infinite_limits_are_printed():
    data = pd.DataFrame({"y": [1, 1, 2, 2, 3, 3, 3, 3], "x": [0, 0, 0, 0, 0, 0, 1, 1]})
    with pytest.warns(SeparationWarning):
        fit = ordfit("y ~ x", data)
    limits = fit.confint(type="profile")
    assert limits.attrs["reasons"]
    assert "separation" in str(limits)


# users go on to say it, deprecated as it is
pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword")


@pytest.fixture(scope="module")
def fits():
    small = ordfit("rating ~ temp", datasets.load("wine"))
    return [small, small.update("~ . + contact")]


def test_long_names_stay_beside_their_numbers():
    wine = datasets.load("wine")
    long = "temperature of the must while it was on the skins"
    fit = ordfit(f"rating ~ `{long}` + contact", wine.rename(columns={"temp": long}))
    text = str(fit.tidy())
    lines = text.splitlines()
    place = next(
        i for i, line in enumerate(lines) if line.startswith("temperature of the must")
    )
    assert "2.50" in lines[place] and "term of" not in text
    assert any(line.startswith("contact[T.yes]") for line in lines)
    assert max(map(len, lines)) <= 80


def test_tidy_of_rows_in_another_order(fits):
    tidy = fits[1].tidy()
    tidy.sort_values("p_value", inplace=True)
    again = tidy.tidy()
    assert again["term"].tolist() == tidy[
        "term"
    ].tolist() and again.index.tolist() == list(range(len(tidy)))


def test_frames_without_columns():
    actual = NotedFrame.of(pd.DataFrame({"a": [1.0, 2.0]}), ["a note"])
    actual.drop(columns="a", inplace=True)
    assert "no columns" in str(actual) and "a note" in str(actual)


@pytest.mark.parametrize("dtype", ["Float64", "Int64", "boolean", "string"])
def test_nullable_columns(dtype):
    values = {
        "Float64": [1.5, None],
        "Int64": [2, None],
        "boolean": [True, None],
        "string": ["b", None],
    }[dtype]
    actual = NotedFrame.of(
        pd.DataFrame({"estimate": pd.array(values, dtype=dtype), "n": [1, 2]})
    )
    assert "NA" in str(actual)
    assert {"Float64": "1.5", "Int64": "2", "boolean": "yes", "string": "b"}[
        dtype
    ] in str(actual)


@pytest.mark.parametrize("levels", [[1, 2, 3, 4, 5], [10, 20, 30, 40, 50]])
def test_every_block_of_a_wide_table_names_its_rows(levels):
    """Levels that are numbers identify rows too."""
    data = datasets.load("wine").assign(age=np.arange(72.0) % 17)
    data["rating"] = (
        data["rating"].astype(int).map(dict(zip(range(1, 6), levels, strict=True)))
    )
    frame = ordfit("rating ~ temp + age", data).marginal_effects().frame
    text = repr(
        NotedFrame.of(
            frame.assign(
                a_statistic_of_many_letters=1.0, another_one_of_many_letters=2.0
            )
        )
    )
    blocks = [
        [line for line in block.splitlines() if line.startswith(("temp", "age"))]
        for block in text.split("\n\n")
    ]
    blocks = [block for block in blocks if block]
    names = [
        f"{term} {level}"
        for term in ("temp warm - cold", "age dY/dX")
        for level in levels
    ]
    assert len(blocks) > 1
    for block in blocks:
        assert [
            " ".join(line.split()[: len(name.split())])
            for line, name in zip(block, names, strict=True)
        ] == names


def test_influence_shows_the_parameter_that_moves():
    """One row moves the last of many columns alone."""
    names = [f"x{k}" for k in range(8)]
    data = ranked(np.random.default_rng(8), 120, [-1.0, 0.0, 1.0], names)
    data.loc[5, ["x7", "y"]] = [15.0, 3]
    fit = ordfit("y ~ " + " + ".join(names), data)
    influence = fit.influence()
    assert influence.dfbetas.loc[5].abs().idxmax() == "x7"
    text = repr(influence)
    assert " x7" in text and "The 6 of 11 parameters that these rows move most" in text


LONG_NAME = "z" + "b" * 100_000 + "c"


def _rows_with_names(**columns):
    """Rows with texts of 100,002 letters where `columns` has them."""
    rng = np.random.default_rng(4)
    rows = pd.DataFrame({"x": rng.normal(size=90), "y": np.arange(90) % 3})
    return rows.assign(
        **{name: words * (90 // len(words)) for name, words in columns.items()}
    )


@pytest.mark.parametrize(
    ("columns", "formula", "options"),
    [
        (
            {"y": ["low", LONG_NAME, "top"]},
            "y ~ x",
            {"levels": ["low", LONG_NAME, "top"]},
        ),
        ({"g": ["short", LONG_NAME]}, "y ~ x + g", {"scale": "~ g"}),
        ({"g": ["short", LONG_NAME]}, "y ~ x", {"nominal": "~ g"}),
        ({"g": ["short", LONG_NAME]}, "y ~ x + g", {"method": "multinomial"}),
        ({"g": ["short", LONG_NAME]}, "y ~ x + g", {"method": "redsvm"}),
        ({"g": ["a", "b", "c", "d", LONG_NAME]}, "y ~ x + (1 | g)", {}),
    ],
)
def test_summaries_of_very_long_levels_are_short(columns, formula, options):
    """A summary of 100,000 letters took 80 seconds."""
    fit = ordfit(formula, _rows_with_names(**columns), **options)
    for section in (None, "all"):
        text = str(fit.summary(section))
        assert len(text) < 15_000
        assert max(map(len, text.splitlines())) < 1_000
    below_the_call = repr(fit).partition("observations")[2]
    assert 50 < len(below_the_call) < 5_000


def test_very_long_names_are_shortened_before_they_are_laid_out():
    data = pd.DataFrame(
        {"x": np.arange(60.0) % 7, "g": ["short", LONG_NAME] * 30, "y": [1, 2, 3] * 20}
    )
    text = str(ordfit("y ~ x + g", data).summary("model"))
    label = next(line for line in text.splitlines() if line.startswith("g"))
    assert len(text) < 5_000 and len(label) <= 80
    assert "..." in text
    latex = ordfit("y ~ x + g", data).tidy().to_latex()
    assert len(latex) < 3_000 and "..." in latex

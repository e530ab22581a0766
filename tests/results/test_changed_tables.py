"""Tables that their user has changed in place, or asked for with values of another kind."""

import numpy as np
import pandas as pd
import pytest

from ordstat import DataError, OptionError, datasets, ordfit, table
from ordstat.results.report.noted import NotedFrame

pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword")  # users go on to say it, deprecated as it is


@pytest.fixture(scope="module")
def fits():
    small = ordfit("rating ~ temp", datasets.load("wine"))
    return [small, small.update("~ . + contact")]


def _delete(t):
    del t["(1)"]


def _add(t):
    t["diff"] = 1.0


def _rename(t):
    t.columns = ["(2)", "(1)"]


CHANGES = {
    "sorted columns": lambda t: t.sort_index(axis=1, ascending=False, inplace=True),
    "other names": _rename,
    "a column less": _delete,
    "a column more": _add,
    "sorted rows": lambda t: t.sort_values("(2)", inplace=True),
    "dropped rows": lambda t: t.drop(index="fit", level="part", inplace=True),
}


@pytest.mark.parametrize("change", CHANGES)
def test_models_keep_their_numbers(change, fits):
    """Every number stands below the head that it has in the frame."""
    t = table(fits)
    CHANGES[change](t)
    heads, row = t.grids()[0].heads[-1], t.index.get_loc(("location", "contact[T.yes]", "estimate"))
    cells = t.grids()[0].rows[row]
    for name in t.columns:
        cell, number = cells[heads.index(name)], t[name].iloc[row]
        assert cell == "" if np.isnan(number) else float(cell) == pytest.approx(number, rel=1e-3)
    assert all(name in repr(t) and name in t._repr_html_() and name in t.to_markdown() for name in t.columns)


def test_a_table_that_is_as_it_was_prints_as_a_paper(fits):
    t = table(fits)
    t.iloc[0, 0] = 9.0
    assert "contact: yes" in str(t)


def test_a_table_of_nothing_says_so():
    fit = ordfit("rating ~ 1", datasets.load("wine"))
    with pytest.raises(OptionError, match=r"table has no rows: .* Leave out thresholds=False, or gof=\[\]"):
        table(fit, thresholds=False, gof=[])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"title": 3}, "title must be a text; got 3"),
        ({"notes": 3}, "notes must be a text or a list of texts; got 3"),
        ({"notes": [3]}, "notes must be a text or a list of texts"),
        ({"labels": {"temp": 3}}, r"labels\['temp'\] must be a text; got 3"),
    ],
)
def test_words_of_another_kind(options, message, fits):
    with pytest.raises(OptionError, match=message):
        table(fits, **options)


def test_names_of_users_are_not_capitalised(fits):
    ranker = ordfit("rating ~ temp", datasets.load("wine"), "redsvm", kernel="linear")
    notes = table({"small": fits[0], "svm": ranker}, exponentiate=True).attrs["notes"]
    assert notes[0].startswith("small: odds ratios; svm: coefficients of the score")
    assert table({"small": fits[0]}, exponentiate=True).attrs["notes"][0].startswith("Odds ratios")


def test_terms_are_named_once():
    fit = ordfit("rating ~ x", datasets.load("wine").assign(x=np.arange(72) % 7))
    with pytest.raises(OptionError) as caught:
        fit.sentence("nope")
    assert str(caught.value).count("'x'") == 1 and "Did you mean" not in str(caught.value)


def test_exports_that_cannot_be_written(fits, tmp_path):
    t = table(fits)
    with pytest.raises(OptionError, match="caption must be a text; got 3"):
        t.to_latex(caption=3)
    with pytest.raises(
        DataError, match=r"x\.tex' cannot be written: No such file or directory\. Name a file in a folder"
    ):
        t.to_latex(tmp_path / "none" / "x.tex")
    with pytest.raises(OptionError, match="no null character"):
        t.to_markdown("a\0b")
    with pytest.raises(OptionError, match="no null character"):
        fits[0].save("a\0b")


def test_long_names_stay_beside_their_numbers():
    wine, long = datasets.load("wine"), "temperature of the must while it was on the skins"
    fit = ordfit(f"rating ~ `{long}` + contact", wine.rename(columns={"temp": long}))
    text = str(fit.tidy())
    lines = text.splitlines()
    place = next(i for i, line in enumerate(lines) if line.startswith("temperature of the must"))
    assert "2.50" in lines[place] and "term of" not in text
    assert any(line.startswith("contact[T.yes]") for line in lines)
    assert max(map(len, lines)) <= 80


def test_tidy_of_rows_in_another_order(fits):
    tidy = fits[1].tidy()
    tidy.sort_values("p_value", inplace=True)
    again = tidy.tidy()
    assert again["term"].tolist() == tidy["term"].tolist() and again.index.tolist() == list(range(len(tidy)))


def test_frames_without_columns():
    found = NotedFrame.of(pd.DataFrame({"a": [1.0, 2.0]}), ["a note"])
    found.drop(columns="a", inplace=True)
    assert "no columns" in str(found) and "a note" in str(found)
    assert "no columns" in found.to_markdown() and "no columns" in found.to_latex() and "no columns" in found.to_html()


@pytest.mark.parametrize("dtype", ["Float64", "Int64", "boolean", "string"])
def test_nullable_columns(dtype):
    values = {"Float64": [1.5, None], "Int64": [2, None], "boolean": [True, None], "string": ["b", None]}[dtype]
    found = NotedFrame.of(pd.DataFrame({"estimate": pd.array(values, dtype=dtype), "n": [1, 2]}))
    assert "NA" in str(found)
    assert {"Float64": "1.5", "Int64": "2", "boolean": "yes", "string": "b"}[dtype] in str(found)

"""Tables that their user has changed in place, or asked for with values of another kind."""

import pandas as pd
import pytest

from ordstat import datasets, ordfit
from ordstat.report.frames import NotedFrame

pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword")  # users go on to say it, deprecated as it is


@pytest.fixture(scope="module")
def fits():
    small = ordfit("rating ~ temp", datasets.load("wine"))
    return [small, small.update("~ . + contact")]


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


@pytest.mark.parametrize("dtype", ["Float64", "Int64", "boolean", "string"])
def test_nullable_columns(dtype):
    values = {"Float64": [1.5, None], "Int64": [2, None], "boolean": [True, None], "string": ["b", None]}[dtype]
    found = NotedFrame.of(pd.DataFrame({"estimate": pd.array(values, dtype=dtype), "n": [1, 2]}))
    assert "NA" in str(found)
    assert {"Float64": "1.5", "Int64": "2", "boolean": "yes", "string": "b"}[dtype] in str(found)

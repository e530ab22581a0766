"""Previous answers: by time whatever the order of rows, types, and refusals."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from expected import rows_left_out

from ordstat import lagged, ordfit
from ordstat.exceptions import DataError, DataWarning, OptionError

VISITS = pd.DataFrame(
    {
        "id": ["p", "q", "p", "p", "q", "r"],
        "t": [2.0, 5.0, 0.0, 7.0, 1.0, 3.0],
        "y": [2, 4, 1, 3, 5, 1],
    },
    index=list("abcdef"),
)


def test_rows_stay_where_they_are() -> None:
    before = VISITS.copy()
    out = lagged(VISITS, "y", by="id", time="t", gap="since")
    pd.testing.assert_frame_equal(VISITS, before)
    pd.testing.assert_frame_equal(out[["id", "t", "y"]], VISITS)
    expected = [1, 5, pd.NA, 2, pd.NA, pd.NA]
    assert out["previous"].tolist() == expected
    np.testing.assert_array_equal(out["since"], [2, 4, np.nan, 5, np.nan, np.nan])


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (pd.Categorical(list("bdaceb"), list("abcde"), ordered=True), "category"),
        (list("bdaceb"), None),
        ([2.5, 4.0, 1.0, np.nan, 5.0, 1.0], "float64"),
        (pd.array([2, 4, 1, None, 5, 1], dtype="Int64"), "Int64"),
        ([True, False, True, False, True, True], None),
    ],
    ids=["categories", "texts", "floats", "nullable", "truths"],
)
def test_types(values, kind) -> None:
    frame = VISITS.assign(y=values)
    out = lagged(frame, "y", by="id", time="t", name="before")["before"]
    y = frame["y"].tolist()
    assert out.iloc[[0, 1, 3]].tolist() == [y[2], y[4], y[0]]
    assert out.isna().tolist() == [False, False, True, False, True, True]
    if kind is not None:
        assert out.dtype == kind


def test_a_missing_answer_is_a_missing_previous_one() -> None:
    frame = VISITS.assign(y=[np.nan, 4, 1, 3, 5, 1])
    out = lagged(frame, "y", by="id", time="t")["previous"]
    assert np.isnan(out["d"]) and out["a"] == 1


def test_first_rows_are_left_out_of_the_fit() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "id": np.repeat(range(40), 3),
            "t": 40 * [0, 1, 2],
            "y": rng.integers(1, 4, 120),
        }
    )
    with rows_left_out(40, 120):
        fit = ordfit("y ~ C(previous)", lagged(frame, "y", by="id", time="t"))
    assert fit.coef.index.tolist() == ["C(previous)[T.2]", "C(previous)[T.3]"]


@pytest.mark.parametrize(
    ("change", "arguments", "error", "named"),
    [
        ({"t": [2, 5, 0, 0, 1, 3]}, {}, DataError, "rows c and d"),
        ({"t": [2, 5, 0, np.nan, 1, 3]}, {}, DataError, "row d"),
        ({"t": list("abcdef")}, {}, DataError, "numbers"),
        ({"id": ["p", None, "p", "p", "q", "r"]}, {}, DataError, "row b"),
        ({"previous": 1}, {}, OptionError, "'previous'"),
        ({"since": 1}, {"gap": "since"}, OptionError, "'since'"),
        ({}, {"gap": "previous"}, OptionError, "gap must be another name"),
        ({}, {"by": "person"}, DataError, "'person'"),
        ({}, {"time": "day"}, DataError, "'day'"),
        ({}, {"response": "z"}, DataError, "'z'"),
    ],
)
def test_refusals(change, arguments, error, named: str) -> None:
    given = {"response": "y", "by": "id", "time": "t", **arguments}
    with pytest.raises(error, match=named):
        lagged(VISITS.assign(**change), **given)


def test_a_column_that_is_there_twice_is_refused() -> None:
    twice = pd.concat([VISITS, VISITS["t"]], axis=1)
    with pytest.raises(DataError, match="2 columns named 't'"):
        lagged(twice, "y", by="id", time="t")


def test_a_row_that_is_not_there_is_told_of() -> None:
    """Without day 1 of the first person, its day 2 comes after two days."""
    days = pd.DataFrame({"id": np.repeat(range(4), 3), "t": 4 * [0, 1, 2], "y": 1})
    with pytest.warns(DataWarning, match=r"'t': .* in 1 row \(gaps 1 to 2\)"):
        lagged(days.drop(index=1), "y", by="id", time="t")
    visits = days.assign(t=4 * [0, 7, 28])  # the same distances for everybody
    assert lagged(visits, "y", by="id", time="t")["previous"].notna().sum() == 8

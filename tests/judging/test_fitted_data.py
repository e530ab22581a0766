"""Columns and answers of the rows of a fit, on the labels of the data."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from expected import no_data, rows_left_out

from ordstat import datasets, load, ordfit, pool
from ordstat.exceptions import (
    ConvergenceWarning,
    DataWarning,
    OptionError,
    UnavailableError,
)

WINE = datasets.load("wine")
METHODS = ("clm", "acat", "cratio", "redsvm", "csovo", "prank", "ordboost", "red-c45")


def labelled_wine():
    """Rows labelled by letters and numbers; one has no rating."""
    frame = WINE.assign(hours=np.arange(72.0) % 7)
    frame.loc[3, "rating"] = None
    return frame.set_index(pd.Index([f"bottle {i}" for i in range(72)]))


def test_columns_are_those_of_the_formula_by_hand():
    frame = labelled_wine()
    with rows_left_out():
        fit = ordfit(
            "rating ~ temp * hours", frame, nominal="~ contact", scale="~ hours"
        )
    used = frame.drop(index="bottle 3")
    warm = (used["temp"] == "warm").astype(float)
    expected = pd.DataFrame(
        {
            "temp[T.warm]": warm,
            "hours": used["hours"],
            "temp[T.warm]:hours": warm * used["hours"],
        }
    )
    pd.testing.assert_frame_equal(fit.model_matrix(), expected)
    contact = (used["contact"] == "yes").astype(float).to_frame("contact[T.yes]")
    pd.testing.assert_frame_equal(fit.model_matrix(part="nominal"), contact)
    pd.testing.assert_frame_equal(fit.model_matrix(part="scale"), used[["hours"]])


def test_columns_of_new_rows_are_missing_where_an_input_is():
    fit = ordfit("rating ~ temp + contact", WINE)
    new = WINE.iloc[[70, 0]].assign(temp=["warm", None], rating=None)
    columns = fit.model_matrix(new)
    assert columns.index.tolist() == [70, 0]
    assert columns.iloc[0].tolist() == [1.0, 1.0]
    assert columns.iloc[1].isna().all()


def test_a_change_of_the_columns_does_not_change_the_fit():
    fit = ordfit("rating ~ temp", WINE)
    columns = fit.model_matrix()
    columns.iloc[:, :] = 9.0
    assert fit.model_matrix().to_numpy().max() == 1.0


@pytest.mark.parametrize("part", ["nominal", "scale"])
def test_parts_that_the_model_does_not_have(part):
    fit = ordfit("rating ~ temp", WINE)
    with pytest.raises(OptionError, match=rf"no {part}= formula.*Fit with {part}="):
        fit.model_matrix(part=part)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_gives_answers_columns_and_whether_it_converged(method):
    fit = ordfit("rating ~ temp + contact", WINE, method)
    assert fit.response.tolist() == WINE["rating"].tolist()
    assert fit.response.cat.ordered and fit.response.name == "rating"
    assert len(fit.model_matrix()) == 72
    assert fit.converged is True


def test_a_search_that_is_cut_short_has_not_converged():
    with pytest.warns(ConvergenceWarning):
        short = ordfit("rating ~ temp + contact", WINE, max_iter=1)
    assert short.converged is False
    whole = ordfit("rating ~ temp + contact", WINE)
    with pytest.warns(DataWarning, match="equal"):
        both = pool([whole, whole])
    assert both.converged is True
    assert replace(both, fits=(whole, short)).converged is False
    with pytest.raises(UnavailableError, match=r"pooled fits have no \.model_matrix"):
        _ = both.model_matrix


def test_answers_known_in_part_are_as_they_were_given():
    frame = pd.DataFrame(
        {
            "time": [3.0, 1.0, 2.5, 2.0, 1.0, 3.0],
            "event": [1, 1, 0, 1, 0, 1],
            "x": [0.0, 1.0, 0.0, 0.4, 0.7, 2.0],
        },
        index=list("abcdef"),
    )
    answers = ordfit("Surv(time, event) ~ x", frame).response
    assert answers.index.tolist() == list("abcdef")
    assert answers["a"] == 3.0 and answers["d"] == 2.0
    # 2.5 is no level, and stays what it was
    assert answers["c"] == pd.Interval(2.5, np.inf) and 2.6 in answers["c"]


def test_answers_between_levels_are_text():
    frame = pd.DataFrame(
        {
            "low": ["mild", "none", "none", "severe", "mild", "severe"],
            "high": ["mild", "none", "mild", "severe", None, "severe"],
            "x": [0.0, 1.0, 0.0, 0.4, 0.7, 2.0],
        }
    )
    fit = ordfit("interval(low, high) ~ x", frame, levels=["none", "mild", "severe"])
    assert fit.response.tolist() == [
        "mild",
        "none",
        "none to mild",
        "severe",
        "mild to severe",
        "severe",
    ]


def test_answers_known_in_part_need_the_data(tmp_path):
    frame = pd.DataFrame(
        {"time": [3.0, 1.0, 2.0, 2.0], "event": [1, 1, 0, 1], "x": [0.5, 0.4, 0.2, 0.3]}
    )
    path = tmp_path / "fit.ordstat"
    ordfit("Surv(time, event) ~ x", frame).save(path)
    with no_data():
        _ = load(path).response
    assert load(path, data=frame).response.tolist()[0] == 3.0

"""Costs as users give them: frames with labels, rows' own prices, names that stand for
a cost.
"""

import numpy as np
import pandas as pd
import pytest
from expected import no_option, refused
from seams import METHODS

from ordstat import REDSVM, OneVersusOne, OrdinalClassifier, datasets, ordfit
from ordstat.exceptions import OptionError

FORMULA = "rating ~ temp + contact"
LEVELS = [1, 2, 3, 4, 5]


@pytest.fixture
def wine():
    return datasets.load("wine")


@pytest.fixture
def matrix():
    """V-shaped, and dear to miss the last level."""
    table = np.abs(np.subtract.outer(range(5), range(5))).astype(float)
    table[4] *= 7.0
    return table


def test_a_frame_of_costs_has_the_levels_in_their_order(wine, matrix):
    plain = ordfit(FORMULA, wine, "redsvm", cost=matrix)
    for axes in ({}, {"index": LEVELS, "columns": LEVELS}, {"columns": LEVELS}):
        labelled = ordfit(FORMULA, wine, "redsvm", cost=pd.DataFrame(matrix, **axes))
        assert labelled.predict().tolist() == plain.predict().tolist()
    frame = pd.DataFrame(matrix, index=LEVELS, columns=LEVELS)
    logit = ordfit(FORMULA, wine)
    assert (
        logit.predict(cost=frame).tolist()
        == logit.predict(cost=matrix).tolist()
        != logit.predict().tolist()
    )
    for wrong in (
        frame.loc[LEVELS[::-1], LEVELS[::-1]],
        frame.rename(columns={5: "five"}),
    ):
        with pytest.raises(
            OptionError,
            match=r"(rows|columns) of cost= are labelled .* are \[1, 2, 3, 4, 5\]",
        ):
            ordfit(FORMULA, wine, "redsvm", cost=wrong)
        with pytest.raises(OptionError, match="of cost= are labelled"):
            logit.predict(cost=wrong)
    with pytest.raises(OptionError, match=r"a frame with labels.*to_numpy"):
        REDSVM(cost=frame)


def test_a_frame_of_rows_own_costs_has_the_levels_as_columns(wine, matrix):
    row_costs = pd.DataFrame(
        matrix[wine["rating"].astype(int) - 1], index=wine.index, columns=LEVELS
    )
    fits = [
        ordfit(FORMULA, wine, "csovo", cost=given)
        for given in (row_costs, row_costs.to_numpy(), matrix)
    ]
    assert (
        fits[0].predict().tolist()
        == fits[1].predict().tolist()
        == fits[2].predict().tolist()
    )
    with pytest.raises(OptionError, match="columns of cost= are labelled"):
        ordfit(FORMULA, wine, "csovo", cost=row_costs[LEVELS[::-1]])


def test_as_many_rows_as_levels_could_be_either():
    data = pd.DataFrame({"x": [0.0, 1.0, 2.0], "y": [1, 2, 3]})
    with pytest.raises(
        OptionError, match=r"as many as the data.* method=REDSVM\(cost=table\)"
    ):
        ordfit("y ~ x", data, "csovo", cost=np.ones((3, 3)) - np.eye(3))
    ordfit("y ~ x", data, OneVersusOne(cost=np.ones((3, 3)) - np.eye(3)))


@pytest.mark.parametrize("method", ["ova", "ovo", "osvm", "orboost-lr"])
def test_a_name_that_stands_for_a_cost_takes_no_other(wine, method):
    with pytest.raises(OptionError, match=rf"method '{method}' fixes the cost"):
        ordfit(FORMULA, wine, method, cost=np.ones((72, 5)))


def test_rows_of_new_data_have_no_prices(wine, matrix):
    names = [f"c{k}" for k in range(5)]
    priced = wine.join(
        pd.DataFrame(
            matrix[wine["rating"].astype(int) - 1], index=wine.index, columns=names
        )
    )
    fit = ordfit(
        FORMULA, priced.iloc[:50], "redsvm", cost=priced[names].iloc[:50].to_numpy()
    )
    assert np.isnan(fit.errors(priced.iloc[50:]).loc["cost", "new data"])
    with pytest.raises(
        OptionError, match=r"columns of costs .* cost=data\[\['a', 'b', 'c'\]\]"
    ):
        ordfit(FORMULA, priced, "redsvm", cost=names)


@pytest.mark.parametrize("method", ["redsvm", "svor-imc", "csovo"])
def test_numbers_of_a_kernel_are_shown_their_place(wine, method):
    with no_option("gamma", r"goes with the kernel, as in kernel=Gaussian\(gamma"):
        ordfit(FORMULA, wine, method, kernel="gaussian", gamma=0.5)
    with no_option("degree", "goes with the kernel"):
        OrdinalClassifier(method, kernel="polynomial").set_params(degree=2)


def test_a_generator_that_is_none_is_told():
    with refused("random_state", "'x'"):
        OrdinalClassifier("redsvm", random_state="x").fit([[0.0], [1.0]], [1, 2])


@pytest.mark.parametrize(
    "method", [name for name, entry in METHODS.items() if "cost" not in entry.preset]
)
def test_a_table_for_another_number_of_levels_is_refused_at_once(wine, method):
    data = (
        wine.assign(rating=wine["rating"].astype(int) > 2)
        if METHODS[method].method.supports.two_levels_only
        else wine
    )
    with pytest.raises(
        OptionError, match=r"got a 3 x 3 matrix for a response of [25] levels"
    ):
        ordfit(FORMULA, data, method, cost=np.ones((3, 3)))

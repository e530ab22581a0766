"""Costs: names, matrices, shapes and refusals."""

import itertools

import numpy as np
import pytest
from seams import Rows, Sample

from ordstat.exceptions import DataError, OptionError
from ordstat.judging.costs import (
    CostMatrix,
    is_convex,
    require_v_shaped,
    sample_costs,
    split_weights,
    v_break,
)

TABLE = ((0.0, 1.0, 4.0), (2.0, 0.0, 1.0), (3.0, 3.0, 0.0))


@pytest.mark.parametrize(
    ("name", "cost"),
    [
        ("absolute", lambda y, k: abs(y - k)),
        ("classification", lambda y, k: y != k),
        ("squared", lambda y, k: (y - k) ** 2),
    ],
)
@pytest.mark.parametrize("n_levels", [2, 3, 7])
def test_named_costs(name, cost, n_levels):
    expected = [[cost(y, k) for k in range(n_levels)] for y in range(n_levels)]
    np.testing.assert_array_equal(CostMatrix.parse(name).matrix(n_levels), expected)
    y = np.array([1, 0, 1])
    np.testing.assert_array_equal(
        CostMatrix.parse(name).rows(y, n_levels), np.array(expected)[y]
    )


@pytest.mark.parametrize(
    "given",
    [TABLE, [list(row) for row in TABLE], np.array(TABLE), np.array(TABLE, dtype=int)],
)
def test_a_matrix_comes_in_any_form(given):
    cost = CostMatrix.parse(given)
    assert cost.value == TABLE
    assert hash(cost) == hash(CostMatrix.parse(TABLE))
    assert eval(repr(cost)) == cost
    assert CostMatrix.parse(cost) is cost
    np.testing.assert_array_equal(cost.rows(np.array([2, 0]), 3), [TABLE[2], TABLE[0]])


def test_split_weights_recover_the_cost():
    """c[k] - c[y] is the sum of the weights between y and k, for V-shaped costs [Lin
    2008, sec. 4.1].
    """
    for value in ("absolute", "classification", "squared", TABLE):
        cost = CostMatrix.parse(value).matrix(3)
        weights = split_weights(cost)
        for y, k in itertools.product(range(3), repeat=2):
            assert weights[y, min(y, k) : max(y, k)].sum() == pytest.approx(
                cost[y, k] - cost[y, y]
            )


def test_shapes_against_the_definitions():
    """All cost vectors of 4 ranks with entries 0..3, for every rank y."""
    costs = np.array(list(itertools.product(range(4), repeat=4)), dtype=float)
    for y in range(4):
        rank = np.full(len(costs), y)
        for n, c in enumerate(costs):
            falls = all(c[k] >= c[k + 1] for k in range(y))
            rises = all(c[k] <= c[k + 1] for k in range(y, 3))
            assert (v_break(costs[n : n + 1], rank[n : n + 1]) is None) == (
                falls and rises
            )
            convex = all(c[k - 1] + c[k + 1] >= 2 * c[k] for k in (1, 2))
            assert is_convex(costs[n : n + 1]) == convex


def test_the_first_break_is_named():
    costs = np.array([[0.0, 1.0, 2.0, 3.0], [1.0, 0.0, 2.0, 1.0]])
    assert v_break(costs, np.array([0, 1])) == (1, 2)
    assert not is_convex(costs)
    with pytest.raises(
        DataError,
        match=r"METHOD.*row 1 \(rank code 1\) must rise from rank code 2 to 3.*2 to 1",
    ):
        require_v_shaped(costs, np.array([0, 1]), "METHOD")
    assert v_break(costs[:1], np.array([2])) == (0, 0)
    with pytest.raises(DataError, match=r"must fall from rank code 0 to 1"):
        require_v_shaped(costs[:1], np.array([2]), "METHOD")


def test_rounding_breaks_no_shape():
    tenths = np.array([[0.3, 0.1 + 0.2, 0.3, 0.0]])
    assert v_break(tenths, np.array([3])) is None
    line = 0.1 * np.arange(6.0)[None]
    assert is_convex(line)


@pytest.mark.parametrize(
    ("cost", "words"),
    [
        ("mae", ["'absolute'", "'classification'", "'squared'", "K x K", "'mae'"]),
        (3.0, ["shape ()"]),
        ([[0, 1, 2], [1, 0, 1]], ["(2, 3)"]),
        ([[0, -1], [1, 0]], ["[0, 1]", "-1"]),
        ([[0, np.inf], [1, 0]], ["[0, 1]", "inf"]),
        ([[0, 1], [1, 2]], ["row 1", "true rank"]),
        (object(), ["object"]),
    ],
)
def test_wrong_costs_are_named(cost, words):
    with pytest.raises(OptionError) as error:
        CostMatrix.parse(cost)
    assert all(word in str(error.value) for word in words), str(error.value)


def test_a_matrix_of_another_size():
    with pytest.raises(OptionError, match="3 x 3 matrix for a response of 4 levels"):
        CostMatrix.parse(TABLE).rows(np.array([0]), 4)


def test_costs_of_a_sample():
    y = np.array([0, 2])
    sample = Sample(rows=Rows(X=np.zeros((2, 1))), y=y, n_levels=3)
    np.testing.assert_array_equal(
        sample_costs(CostMatrix.absolute(), sample), [[0, 1, 2], [2, 1, 0]]
    )
    row_costs = np.array([[0.0, 5.0, 5.0], [1.0, 1.0, 0.0]])
    with_own = Sample(rows=sample.rows, y=y, n_levels=3, costs=row_costs)
    np.testing.assert_array_equal(
        sample_costs(CostMatrix.absolute(), with_own), row_costs
    )
    for wrong, message in (
        (row_costs[:, :2], r"\(2, 2\)"),
        (row_costs - 1.0, "row 0, rank code 0 holds -1"),
    ):
        with pytest.raises(DataError, match=message):
            sample_costs(
                CostMatrix.absolute(),
                Sample(rows=sample.rows, y=y, n_levels=3, costs=wrong),
            )

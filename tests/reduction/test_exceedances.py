"""The rule of P(y > k): one evaluation of the same rows, none of others' values."""

import gc

import numpy as np
import pytest
from seams import CostMatrix, Rows

from ordstat import datasets, ordfit
from ordstat.prediction.blend import Mixture
from ordstat.reduction import exceedances
from ordstat.reduction.exceedances import CumulativeRule


class Counted:
    """P(y > k) = x and x / 2, and how often they were asked for."""

    n_levels = 3

    def __init__(self, factor=1.0):
        self.factor = factor
        self.calls = 0

    def __call__(self, rows):
        self.calls += 1
        return self.factor * rows.X[:, :1] * np.array([1.0, 0.5])


@pytest.fixture
def rows():
    return Rows(X=np.array([[0.2], [0.6], [0.9]]))


@pytest.mark.parametrize("cost", ["absolute", "classification"])
def test_the_same_rows_are_evaluated_once(rows, cost):
    above = Counted()
    rule = CumulativeRule(above, CostMatrix(cost))
    scores = rule.scores(rows)
    P = rule.probabilities(rows, scores)
    expected = np.array([[0.8, 0.1, 0.1], [0.4, 0.3, 0.3], [0.1, 0.45, 0.45]])
    assert pytest.approx(expected) == P
    levels = {"absolute": [0, 1, 1], "classification": [0, 0, 1]}
    assert rule.codes(rows, scores).tolist() == levels[cost]
    rule.deciding(CostMatrix("squared")).cum_probabilities(rows)
    assert above.calls == 1


def test_other_rows_and_other_models_are_evaluated_anew(rows):
    one, half = Counted(), Counted(0.5)
    absolute = CostMatrix.absolute()
    first = CumulativeRule(one, absolute).cum_probabilities(rows)
    other = CumulativeRule(half, absolute).cum_probabilities(rows)
    assert other[:, 0] == pytest.approx(1.0 - 0.5 * rows.X[:, 0])
    again = CumulativeRule(one, absolute).cum_probabilities(rows)
    assert again.tolist() == first.tolist()
    twin = Rows(X=rows.X + 0.05)
    moved = CumulativeRule(one, absolute).cum_probabilities(twin)
    assert moved[:, 0] == pytest.approx(0.95 - rows.X[:, 0])
    assert one.calls == 3


def test_nothing_is_kept_of_rows_that_are_gone():
    rule = CumulativeRule(Counted(), CostMatrix.absolute())
    rule.scores(Rows(X=np.ones((2, 1))))
    gc.collect()
    assert len(exceedances._LATEST) == 0


@pytest.mark.parametrize("type", ["prob", "cum_prob", "class", "score"])
def test_a_blend_evaluates_new_rows_once(monkeypatch, type):
    wine = datasets.load("wine")
    fit = ordfit(
        "rating ~ temp + contact", wine, "blend", members=["logit"], cost="squared"
    )
    calls = []
    plain = Mixture.__call__

    def counted(self, rows):
        calls.append(rows.n)
        return plain(self, rows)

    monkeypatch.setattr(Mixture, "__call__", counted)
    fit.predict(wine.head(7), type=type)
    assert calls == [7]

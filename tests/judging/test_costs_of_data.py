"""Costs that data tell, and that predictions minimise whatever cost is asked for."""

import numpy as np
import pandas as pd
import pytest

from ordstat import (
    REDSVM,
    DataError,
    NominalClassifier,
    OptionError,
    datasets,
    macro_cost,
    ordfit,
    threshold_cost,
    tuned_cost,
)

LOPSIDED = ((0.0, 1.0, 5.0, 9.0), (3.0, 0.0, 1.0, 4.0), (6.0, 2.0, 0.0, 1.0), (9.0, 6.0, 4.0, 0.0))
#: All methods whose fits have probabilities of their own and take any cost, with options that make them quick.
PROBABLE = {
    **{name: {} for name in ("logit", "cloglog", "acat", "nominal-classifier")},
    "kernel-clm": {"penalty": 1.0},
    "ordboost": {"rounds": 10, "depth": 2, "linear_start": False},
    "rps-forest": {"trees": 10},
    "blend": {"members": ["logit", NominalClassifier(base="tree")]},
}


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(5)
    x = rng.normal(size=(150, 2))
    codes = np.digitize(x @ [1.0, -0.6] + rng.logistic(size=150), [-1.5, 0.3, 1.0])
    y = pd.Categorical.from_codes(codes, list("dcba"), ordered=True)
    return pd.DataFrame(x, columns=["a", "b"]).assign(y=y, w=rng.integers(1, 4, 150))


@pytest.mark.parametrize("cost", ["absolute", "classification", "squared", LOPSIDED], ids=str)
@pytest.mark.parametrize("method", PROBABLE)
def test_predictions_minimise_the_cost_asked_for(frame, method, cost):
    fit = ordfit("y ~ a + b", frame, method, cost=cost, **PROBABLE[method])
    k = np.arange(4)
    distance = np.abs(k[:, None] - k)
    table = {"absolute": distance, "classification": distance > 0, "squared": distance**2}
    price = fit.predict(type="prob").to_numpy() @ np.asarray(table.get(cost, cost) if isinstance(cost, str) else cost)
    chosen = price[np.arange(150), fit.predict().cat.codes]
    np.testing.assert_allclose(chosen, price.min(axis=1), atol=1e-9)


def test_the_cost_of_thresholds_is_theirs():
    """The rank of least expected cost is the number of k with P(y > k) > t_k, where those come first."""
    rng = np.random.default_rng(0)
    t = np.array([0.5, 0.3, 0.7, 0.6])
    above = -np.sort(-rng.random((500, 4)), axis=1)
    p = -np.diff(np.hstack([np.ones((500, 1)), above, np.zeros((500, 1))]), axis=1)
    inside = above > t
    in_order = (np.diff(inside.astype(int), axis=1) <= 0).all(axis=1)
    ranks = (p @ threshold_cost(t)).argmin(axis=1)
    assert in_order.sum() > 100
    assert (ranks == inside.sum(axis=1))[in_order].all()


def test_thresholds_of_a_half_are_the_absolute_cost():
    k = np.arange(4)
    np.testing.assert_allclose(threshold_cost([0.5] * 3), np.abs(k[:, None] - k) / 2)


def test_macro_cost_by_hand():
    y = pd.Categorical(["lo", "lo", "lo", "hi", None], categories=["lo", "hi", "top"], ordered=True)
    np.testing.assert_allclose(macro_cost(y), [[0, 2 / 3], [2, 0]])  # shares 3/4 and 1/4, K = 2
    np.testing.assert_allclose(macro_cost(y, weights=[1, 1, 0, 2, 7]), [[0, 1], [1, 0]])
    np.testing.assert_allclose(macro_cost(["b", "a", "a"], levels=["b", "a"]), [[0, 1.5], [0.75, 0]])


def test_macro_cost_is_the_macro_absolute_error(frame):
    fit = ordfit("y ~ a + b", frame, weights="w", cost=macro_cost(frame["y"], weights=frame["w"]))
    found = fit.errors()["training"]
    assert found["cost"] == pytest.approx(found["macro absolute error"], abs=1e-12)
    plain = ordfit("y ~ a + b", frame, weights="w").errors()["training"]
    assert found["macro absolute error"] <= plain["macro absolute error"]


@pytest.mark.parametrize("measure", ["quadratic kappa", "macro absolute error"])
def test_no_single_threshold_makes_the_held_out_rows_better(frame, measure):
    fit = ordfit("y ~ a + b", frame)
    cost = tuned_cost(fit, measure, folds=4, seed=3)
    t = np.diagonal(cost, offset=1)  # a row of rank k put one too high
    np.testing.assert_allclose(threshold_cost(t), cost)
    assert np.isin(np.rint(t * 20), np.arange(2, 19)).all()
    tuned, plain = fit.update(cost=cost), fit.errors(cv=4, seed=3).loc[measure, "cv"]
    np.testing.assert_allclose(tuned.predict(type="prob"), fit.predict(type="prob"))
    sign = 1 if "kappa" in measure else -1
    reached = sign * fit.update(cost=cost).errors(cv=4, seed=3).loc[measure, "cv"]
    assert reached > sign * plain
    for k in range(3):
        for step in (-0.05, 0.05):
            moved = t + step * (np.arange(3) == k)
            other = sign * fit.update(cost=threshold_cost(moved)).errors(cv=4, seed=3).loc[measure, "cv"]
            assert other <= reached + 0.02  # there of each fold, here of all held-out rows together


def test_tuning_finds_levels_that_the_median_passes_over():
    """A level of 5 % between two of others that no median falls on: kappa gains on other rows."""
    data = datasets.load("anes96")
    fit = ordfit("PID ~ selfLR + age + educ + income + vote", data[::2])
    tuned = fit.update(cost=tuned_cost(fit))
    before, after = (one.errors(data[1::2]).loc["quadratic kappa", "new data"] for one in (fit, tuned))
    assert after > before + 0.01


@pytest.mark.parametrize("thresholds", [[0.5, 1.0], [0.0], [], [[0.5]], [np.nan]])
def test_thresholds_are_checked(thresholds):
    with pytest.raises(OptionError, match="thresholds must be K-1 numbers between 0 and 1"):
        threshold_cost(thresholds)


def test_what_cannot_be_tuned(frame):
    with pytest.raises(OptionError, match=r"got REDSVM\(\).*method='blend'"):
        tuned_cost(ordfit("y ~ a + b", frame, REDSVM()))
    with pytest.raises(OptionError, match="got int"):
        tuned_cost(3)
    with pytest.raises(OptionError, match="measure must be one of"):
        tuned_cost(ordfit("y ~ a + b", frame), "log-loss")
    with pytest.raises(OptionError, match="folds must be"):
        tuned_cost(ordfit("y ~ a + b", frame), folds=1)


def test_what_has_no_macro_cost():
    with pytest.raises(DataError, match="two levels or more; got 1"):
        macro_cost([2, 2])
    with pytest.raises(DataError, match="weights must be 3 finite numbers"):
        macro_cost([1, 2, 3], weights=[1, 2])
    with pytest.raises(DataError, match="without an order"):
        macro_cost(["a", "b"])

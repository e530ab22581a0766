"""Costs from data, and predictions that minimise any requested cost."""

import numpy as np
import pandas as pd
import pytest
from expected import refused
from problems import ranked

from ordstat import DataError, NominalClassifier, macro_cost, ordfit

LOPSIDED = (
    (0.0, 1.0, 5.0, 9.0),
    (3.0, 0.0, 1.0, 4.0),
    (6.0, 2.0, 0.0, 1.0),
    (9.0, 6.0, 4.0, 0.0),
)
#: All methods whose fits have probabilities of their own and take any cost, with
#: options that make them quick.
PROBABLE = {
    **{
        name: {}
        for name in ("logit", "cloglog", "acat", "cratio", "nominal-classifier")
    },
    "kernel-clm": {"penalty": 1.0},
    "ordboost": {"rounds": 10, "depth": 2, "linear_start": False},
    "rps-forest": {"trees": 10},
    "blend": {"members": ["logit", NominalClassifier(base="tree")]},
}


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(5)
    data = ranked(rng, 150, [-1.5, 0.3, 1.0], "ab", lambda d: d @ [1.0, -0.6])
    y = pd.Categorical.from_codes(data["y"], list("dcba"), ordered=True)
    return data.assign(y=y, w=rng.integers(1, 4, 150))


@pytest.mark.parametrize(
    "cost", ["absolute", "classification", "squared", LOPSIDED], ids=str
)
@pytest.mark.parametrize("method", PROBABLE)
def test_predictions_minimise_the_cost_asked_for(frame, method, cost):
    fit = ordfit("y ~ a + b", frame, method, cost=cost, **PROBABLE[method])
    k = np.arange(4)
    distance = np.abs(k[:, None] - k)
    table = {
        "absolute": distance,
        "classification": distance > 0,
        "squared": distance**2,
    }
    price = fit.predict(type="prob").to_numpy() @ np.asarray(
        table.get(cost, cost) if isinstance(cost, str) else cost
    )
    chosen = price[np.arange(150), fit.predict().cat.codes]
    np.testing.assert_allclose(chosen, price.min(axis=1), atol=1e-9)


def test_macro_cost_by_hand():
    y = pd.Categorical(
        ["lo", "lo", "lo", "hi", None], categories=["lo", "hi", "top"], ordered=True
    )
    # shares 3/4 and 1/4, K = 2
    np.testing.assert_allclose(macro_cost(y), [[0, 2 / 3], [2, 0]])
    np.testing.assert_allclose(macro_cost(y, weights=[1, 1, 0, 2, 7]), [[0, 1], [1, 0]])
    np.testing.assert_allclose(
        macro_cost(["b", "a", "a"], levels=["b", "a"]), [[0, 1.5], [0.75, 0]]
    )


@pytest.mark.filterwarnings(
    "ignore:weights= are counts of equal rows, and these stand for"
)
def test_macro_cost_is_the_macro_absolute_error(frame):
    fit = ordfit(
        "y ~ a + b", frame, weights="w", cost=macro_cost(frame["y"], weights=frame["w"])
    )
    actual = fit.errors()["training"]
    assert actual["cost"] == pytest.approx(actual["macro absolute error"], abs=1e-12)
    plain = ordfit("y ~ a + b", frame, weights="w").errors()["training"]
    assert actual["macro absolute error"] <= plain["macro absolute error"]


def test_what_has_no_macro_cost():
    with pytest.raises(DataError, match="two levels or more; got 1"):
        macro_cost([2, 2])
    with refused("weights", error=DataError):
        macro_cost([1, 2, 3], weights=[1, 2])
    with pytest.raises(DataError, match="without an order"):
        macro_cost(["a", "b"])

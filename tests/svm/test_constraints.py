"""Signs and orders of coefficients, against the primal problem in cvxpy."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from ordstat import OptionError, OrdinalClassifier, ordfit

RNG = np.random.default_rng(0)
X = RNG.uniform(-1.0, 1.0, size=(60, 3)) * [1.0, 5.0, 0.1]
UTILITY = X @ [1.0, -0.3, 4.0] + 0.5 * RNG.normal(size=60)
Y = np.searchsorted(np.quantile(UTILITY, [0.3, 0.6]), UTILITY)
FRAME = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=Y)
#: What is asked, and the rows of A w <= 0 that it means.
ASKED = {
    "signs": ({"a": "-", "c": "+"}, [[1, 0, 0], [0, 0, -1]]),
    "order": (["c <= a", "b >= 0"], [[-1, 0, 1], [0, -1, 0]]),
    "slack": ({"a": "+", "b": "-"}, [[-1, 0, 0], [0, 1, 0]]),
}
METHODS = {
    "redsvm": (1.0, "absolute", 1, False),
    "svor-exc": (np.inf, "classification", 1, True),
    "squared": (1.0, "absolute", 2, False),
}


def _optimum(A, gamma, cost, power, ordered, C=0.7):
    import cvxpy as cp

    factor = 2.0 / np.ptp(X, axis=0)
    Z = (X - X.min(axis=0)) * factor - 1.0
    w, b, theta = cp.Variable(3), cp.Variable(), cp.Variable(2)
    loss = 0.0
    for k in range(2):
        weight = np.ones(60) if cost == "absolute" else ((k == Y) | (k + 1 == Y)).astype(float)
        slack = cp.pos(1.0 - cp.multiply(np.where(k < Y, 1.0, -1.0), Z @ w + b - theta[k]))
        loss += weight @ (slack if power == 1 else cp.square(slack))
    penalty = 0.0 if np.isinf(gamma) else cp.sum_squares(theta) / gamma**2
    order = [cp.diff(theta) >= 0] if ordered else []
    model = cp.Problem(
        cp.Minimize(0.5 * (cp.sum_squares(w) + penalty) + C * loss), [A @ cp.multiply(w, factor) <= 0, *order]
    )
    model.solve(solver=cp.CLARABEL)
    return model.value, w.value * factor


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("method", METHODS)
def test_constrained_optimum(asked, method):
    constraints, A = ASKED[asked]
    value, w = _optimum(np.array(A, dtype=float), *METHODS[method])
    options = {"loss": "squared_hinge"} if method == "squared" else {}
    name = "redsvm" if method == "squared" else method
    fit = ordfit("y ~ a + b + c", FRAME, name, kernel="linear", C=0.7, tol=1e-6, constraints=constraints, **options)
    assert fit.certificate.reached
    assert dict(fit.certificate.details)["primal value"] == pytest.approx(value, rel=1e-6)
    np.testing.assert_allclose(fit.coef, w, atol=1e-3)
    assert (np.array(A) @ fit.coef.to_numpy() <= 1e-9).all()
    np.testing.assert_allclose(fit.predict(FRAME, type="score"), fit.predict(type="score"), atol=1e-9)
    assert "Constraints" in str(fit.summary())


def test_constraints_that_hold_anyway_change_nothing():
    free = ordfit("y ~ a + b + c", FRAME, "svor-imc", kernel="linear", tol=1e-8)
    held = ordfit("y ~ a + b + c", FRAME, "svor-imc", kernel="linear", tol=1e-8, constraints={"a": "+", "c": "+"})
    np.testing.assert_allclose(held.coef, free.coef, atol=1e-3)
    assert dict(held.fit.facts)["Constraints"] == "2 on coefficients, 0 binding"


def test_relations_of_several_coefficients():
    """Multiples of a restriction are the same restriction, and one on a combination holds for it."""
    options = {"method": "svor-imc", "kernel": "linear", "tol": 1e-8}
    plain = ordfit("y ~ a + b + c", FRAME, constraints="a <= b", **options)
    for text in ("2 * a - 2 * b <= 0", "3 * (b - a) >= 0", "a <= b, a + 1 <= b + 1"):
        np.testing.assert_allclose(
            ordfit("y ~ a + b + c", FRAME, constraints=text, **options).coef, plain.coef, atol=1e-6
        )
    free = ordfit("y ~ a + b + c", FRAME, **options).coef
    sign, word = (1.0, ">=") if free["a"] < 2.0 * free["b"] + free["c"] else (-1.0, "<=")
    held = ordfit("y ~ a + b + c", FRAME, constraints=[f"a {word} 2 * b + c"], **options).coef
    assert sign * (held["a"] - 2.0 * held["b"] - held["c"]) >= -1e-6
    assert np.abs(held - free).max() > 0.01


def test_pairs_selection_and_cross_validation_obey():
    pairs = ordfit("y ~ a + b + c", FRAME, "rank-svm", kernel="linear", constraints={"a": "-"})
    assert pairs.coef["a"] == 0.0
    chosen = ordfit("y ~ a + b", FRAME, "redsvm", kernel="linear", C="cv", folds=2, constraints=["a <= 0"])
    assert chosen.coef["a"] <= 0.0
    assert chosen.errors(cv=2).shape[1] == 3


@pytest.mark.parametrize(
    ("constraints", "options", "words"),
    [
        ({"a": "up"}, {"kernel": "linear"}, "got 'a': 'up'"),
        ({"z": "+"}, {"kernel": "linear"}, r"got 'z'.* a, b, c"),
        ({0: "+"}, {"kernel": "linear"}, r"constraints must be such as .*; got 0: '.'. The columns are a, b, c"),
        (["a < b"], {"kernel": "linear"}, r"'a < b': expected '<=' or '>=', got '<'"),
        (["a >= 1"], {"kernel": "linear"}, "each other or with 0; got the constant 1"),
        (["a <= a"], {"kernel": "linear"}, "does not depend on any parameter"),
        ([""], {"kernel": "linear"}, "must not be empty"),
        (3, {"kernel": "linear"}, "got 3"),
        ({"a": "+"}, {}, "kernel='linear'"),
        ({"a": "+"}, {"kernel": "linear", "solver": "coordinate"}, "solver='cvxpy'"),
        ({"a": "+"}, {"method": "clm"}, "CumulativeLink does not support constraints="),
    ],
)
def test_constraints_that_cannot_be(constraints, options, words):
    with pytest.raises(OptionError, match=words):
        ordfit("y ~ a + b + c", FRAME, constraints=constraints, **({"method": "redsvm"} | options))


@pytest.mark.parametrize(
    ("data", "constraints"),
    [
        (FRAME[["a", "b", "c"]], {"a": "+", "b": "-"}),
        (FRAME[["a", "b", "c"]], ["a >= 0", "b <= 0"]),
        (FRAME[["a", "b", "c"]].to_numpy(), {"x1": "+", "x2": "-"}),
    ],
    ids=["names", "relations", "array"],
)
def test_the_classifier_obeys_as_the_formula_does(data, constraints):
    by_formula = ordfit("y ~ a + b + c", FRAME, "redsvm", kernel="linear", constraints={"a": "+", "b": "-"}, tol=1e-6)
    model = OrdinalClassifier("redsvm", kernel="linear", constraints=constraints, tol=1e-6).fit(data, FRAME["y"])
    np.testing.assert_allclose(model.coef_, by_formula.coef, atol=1e-9)
    assert model.coef_[1] <= 0.0 <= model.coef_[0]
    again = clone(model).fit(data, FRAME["y"])
    np.testing.assert_array_equal(again.coef_, model.coef_)
    assert "constraints=" in repr(model)
    assert OrdinalClassifier("redsvm").get_params()["constraints"] is None


def test_the_classifier_names_an_unknown_column():
    model = OrdinalClassifier("redsvm", kernel="linear", constraints={"a": "+"})
    with pytest.raises(OptionError, match=r"got 'a'.* x1"):
        model.fit(FRAME[["a", "b", "c"]].to_numpy(), FRAME["y"])


def test_an_update_keeps_constraints():
    options = {"method": "svor-imc", "kernel": "linear", "tol": 1e-8}
    fit = ordfit("y ~ a + b + c", FRAME, constraints=["a <= 0", "b >= 2 * c"], **options)
    np.testing.assert_array_equal(fit.update(C=2.0).design.sample.restrictions, [[1, 0, 0], [0, -1, 2]])
    np.testing.assert_array_equal(fit.update("~ c + b + a").design.sample.restrictions, [[0, 0, 1], [2, -1, 0]])
    assert fit.update("~ . - c", constraints=["a <= b"]).design.sample.restrictions.tolist() == [[1, -1]]
    assert fit.update("~ .", constraints=[]).design.sample.restrictions is None
    for changes in ({}, {"constraints": ["c <= 0"]}):
        with pytest.raises(OptionError, match="expected a number or a parameter, got 'c'"):
            fit.update("~ . - c", **changes)

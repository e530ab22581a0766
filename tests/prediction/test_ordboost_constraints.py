"""constraints= on the signs of effects, in formulas, in the classifier and in
updates.
"""

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
BOOST = {"method": "ordboost", "rounds": 20, "depth": 2}


@pytest.mark.parametrize(
    ("constraints", "options", "words"),
    [
        ({"a": "up"}, {}, "got 'a': 'up'"),
        ({"z": "+"}, {}, r"got 'z'.* a, b, c"),
        (
            {0: "+"},
            {},
            r"constraints must have the form .*; got 0: '.'. The columns are a, b, c",
        ),
        (["a >= 0"], {}, r"constraints must have the form .*; got \['a >= 0'\]"),
        (3, {}, "got 3"),
        ({"a": "+"}, {"method": "redsvm"}, "REDSVM does not support constraints="),
    ],
)
def test_constraints_that_cannot_be(constraints, options, words):
    with pytest.raises(OptionError, match=words):
        ordfit(
            "y ~ a + b + c",
            FRAME,
            constraints=constraints,
            **({"method": "ordboost"} | options),
        )


@pytest.mark.parametrize(
    ("data", "constraints"),
    [
        (FRAME[["a", "b", "c"]], {"a": "-", "b": "-"}),
        (FRAME[["a", "b", "c"]].to_numpy(), {"x1": "-", "x2": "-"}),
    ],
    ids=["names", "array"],
)
def test_the_classifier_obeys_as_the_formula_does(data, constraints):
    by_formula = ordfit(
        "y ~ a + b + c", FRAME, constraints={"a": "-", "b": "-"}, seed=0, **BOOST
    )
    model = OrdinalClassifier(**BOOST, constraints=constraints, random_state=0).fit(
        data, FRAME["y"]
    )
    scores = model.results_.predict(type="score").to_numpy()
    np.testing.assert_allclose(scores, by_formula.predict(type="score"), atol=1e-9)
    grid = pd.DataFrame({"a": np.linspace(-1.0, 1.0, 30), "b": 0.0, "c": 0.0})
    assert (np.diff(by_formula.predict(grid, type="score")) <= 1e-12).all()
    again = clone(model).fit(data, FRAME["y"])
    np.testing.assert_array_equal(again.results_.predict(type="score"), scores)
    assert "constraints=" in repr(model)
    assert OrdinalClassifier("redsvm").get_params()["constraints"] is None


def test_the_classifier_names_an_unknown_column():
    model = OrdinalClassifier("ordboost", constraints={"a": "+"})
    with pytest.raises(OptionError, match=r"got 'a'.* x1"):
        model.fit(FRAME[["a", "b", "c"]].to_numpy(), FRAME["y"])


def test_an_update_keeps_constraints():
    fit = ordfit("y ~ a + b + c", FRAME, constraints={"a": "-", "c": "+"}, **BOOST)
    np.testing.assert_array_equal(fit.update(depth=1).design.sample.signs, [-1, 0, 1])
    np.testing.assert_array_equal(
        fit.update("~ c + b + a").design.sample.signs, [1, 0, -1]
    )
    assert fit.update(
        "~ . - c", constraints={"b": "-"}
    ).design.sample.signs.tolist() == [0, -1]
    assert fit.update("~ .", constraints={}).design.sample.signs is None
    for changes in ({}, {"constraints": {"c": "-"}}):
        with pytest.raises(OptionError, match="got 'c'"):
            fit.update("~ . - c", **changes)

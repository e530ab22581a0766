"""C="bound": the C whose fit has the smallest bound."""

import numpy as np
import pandas as pd
import pytest

from ordstat import OrdinalClassifier, datasets, ordfit
from ordstat.exceptions import DataError, OptionError
from ordstat.svm.cross_validation import GRID

FORMULA = "y ~ a + b"


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(150, 2))
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": np.searchsorted([-0.4, 0.4], X.sum(axis=1))})


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("redsvm", {}),
        ("redsvm", {"kernel": "linear", "loss": "squared_hinge"}),
        ("svor-imc", {"kernel": "gaussian"}),
        ("redsvm", {"cost": "squared"}),
    ],
)
def test_no_other_C_has_a_smaller_bound(frame, method, options):
    """Fits with each C given, one by one, and what `bounds()` says of them."""
    error = "cost" if options.get("cost") == "squared" else "absolute error"
    chosen = ordfit(FORMULA, frame, method, C="bound", tol=1e-8, **options)
    given = {C: ordfit(FORMULA, frame, method, C=C, tol=1e-8, **options).bounds().loc[error, "value"] for C in GRID}
    best = min(given, key=given.get)
    value = chosen.bounds().loc[error, "value"]
    assert value == pytest.approx(given[best], rel=1e-4)
    assert chosen.fit.selection.best_C == best
    assert value < (4.0 if error == "cost" else 2.0)


def test_the_choice_is_told(frame):
    fit = ordfit(FORMULA, frame, "redsvm", C="bound")
    text = str(fit.summary("all"))
    assert "chosen by the bound of its cost" in text and "Bound of the expected cost" in text
    assert fit.plot.selection(draw=False)["chosen"].sum() == 1
    # The search ends after four values that are worse.
    assert fit.fit.selection.C.size == min(fit.fit.selection.chosen + 5, GRID.size)
    assert repr(fit.method) == "REDSVM(C='bound')"


def test_the_fit_is_that_of_its_C(frame):
    chosen = ordfit(FORMULA, frame, "redsvm", C="bound", tol=1e-8)
    given = ordfit(FORMULA, frame, "redsvm", C=chosen.fit.selection.best_C, tol=1e-8)
    np.testing.assert_allclose(chosen.thresholds, given.thresholds, atol=1e-5)


def test_weights_are_rows(frame):
    weights = np.tile([0, 1, 2], 50)
    one = ordfit(FORMULA, frame.assign(w=weights), "redsvm", C="bound", weights="w", tol=1e-8)
    other = ordfit(FORMULA, frame.loc[frame.index.repeat(weights)], "redsvm", C="bound", tol=1e-8)
    assert one.fit.selection.best_C == other.fit.selection.best_C
    assert one.fit.selection.cost == pytest.approx(other.fit.selection.cost, rel=1e-3)


def test_in_scikit_learn(frame):
    model = OrdinalClassifier(method="redsvm", C="bound").fit(frame[["a", "b"]], frame["y"])
    assert model.score(frame[["a", "b"]], frame["y"]) > 0.8


@pytest.mark.parametrize(
    ("method", "options", "error", "match"),
    [
        ("csova", {}, OptionError, "'cv'"),
        ("rank-svm", {}, OptionError, "'cv'"),
        ("redsvm", {"kernel": "gaussian", "gamma": "cv"}, OptionError, "gamma is a number"),
        ("redsvm", {"weights": "half"}, DataError, "weights that are not whole"),
    ],
)
def test_what_has_no_bound_is_refused(frame, method, options, error, match):
    from ordstat.svm.kernels import Gaussian

    if options.pop("gamma", None):
        options["kernel"] = Gaussian(gamma="cv")
    with pytest.raises(error, match=match):
        ordfit(FORMULA, frame.assign(half=0.5), method, C="bound", **options)


def test_clusters_are_refused():
    wine = datasets.load("wine")
    with pytest.raises((OptionError, DataError), match="cluster"):
        ordfit("rating ~ temp", wine, "redsvm", C="bound", cluster="judge")

"""partial_fit of the scikit-learn classifier."""

import numpy as np
import pandas as pd
import pytest

from ordstat import DataError, OrdinalClassifier, ordfit

from .samples import arrays, frame


@pytest.mark.parametrize("method", ["prank", "cusum", "pa-cusum", "kernel-prank", "kernel-cusum"])
def test_batches_equal_those_of_the_formula(method):
    data = frame()
    X, y = arrays(120)
    model = OrdinalClassifier(method)
    for start in range(0, 120, 40):
        rows = slice(start, start + 40)
        assert model.partial_fit(X[rows], y[rows], classes=np.unique(y)) is model
    by_formula = ordfit("y ~ a + b + c", data[:40], method, epochs=1, presentation="order").partial_fit(
        [data[40:80], data[80:]]
    )
    assert model.predict(X).tolist() == (by_formula.predict(data).cat.codes).tolist()
    assert model.results_.fit.learned.tally == by_formula.fit.learned.tally


def test_a_fit_goes_on_and_another_fit_starts_anew():
    X, y = arrays(80)
    model = OrdinalClassifier("cusum", epochs=3).fit(X[:40], y[:40]).partial_fit(X[40:], y[40:], sample_weight=[2] * 40)
    assert model.results_.fit.learned.tally.examples == 3 * 40 + 80
    assert model.fit(X, y).results_.fit.learned.tally.examples == 3 * 80


def test_only_incremental_methods_have_it():
    assert hasattr(OrdinalClassifier("cusum"), "partial_fit")
    assert not hasattr(OrdinalClassifier("siprank"), "partial_fit")
    assert not hasattr(OrdinalClassifier("logit"), "partial_fit")
    assert not hasattr(OrdinalClassifier("cusum", epochs=-1), "partial_fit")  # `fit` says what is wrong


def test_new_labels_are_named():
    X, y = arrays(40)
    with pytest.raises(DataError, match=r"none of \[9\]"):
        OrdinalClassifier("cusum").partial_fit(X, y, classes=[0, 1, 2, 3, 9])
    with pytest.raises(DataError, match=r"labels that the first batch had not: \[7\]"):
        OrdinalClassifier("cusum").partial_fit(X, y).partial_fit(X, np.where(y == 0, 7, y))


def test_frames_keep_their_names():
    X, y = arrays(40)
    named = pd.DataFrame(X, columns=["a", "b", "c"])
    model = OrdinalClassifier("cusum").partial_fit(named, y).partial_fit(named, y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    assert model.results_.design.names == ("a", "b", "c")

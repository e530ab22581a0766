"""partial_fit of the scikit-learn classifier."""

import pickle

import numpy as np
import pandas as pd
import pytest
from expected import missing_in

from ordstat import OrdinalClassifier, ordfit

from .samples import arrays, frame


@pytest.mark.parametrize("method", ["prank", "cusum", "pa-cusum"])
def test_batches_equal_those_of_the_formula(method):
    data = frame()
    X, y = arrays(120)
    model = OrdinalClassifier(method)
    for start in range(0, 120, 40):
        rows = slice(start, start + 40)
        assert model.partial_fit(X[rows], y[rows], classes=np.unique(y)) is model
    by_formula = ordfit(
        "y ~ a + b + c", data[:40], method, epochs=1, presentation="order"
    ).partial_fit([data[40:80], data[80:]])
    assert model.predict(X).tolist() == (by_formula.predict(data).cat.codes).tolist()
    assert model.results_.fit.learned.tally == by_formula.fit.learned.tally


def test_a_fit_goes_on_and_another_fit_starts_anew():
    X, y = arrays(80)
    model = (
        OrdinalClassifier("cusum", epochs=3)
        .fit(X[:40], y[:40])
        .partial_fit(X[40:], y[40:], sample_weight=[2] * 40)
    )
    assert model.results_.fit.learned.tally.examples == 3 * 40 + 80
    assert model.fit(X, y).results_.fit.learned.tally.examples == 3 * 80


def test_only_incremental_methods_have_it():
    assert hasattr(OrdinalClassifier("cusum"), "partial_fit")
    assert not hasattr(OrdinalClassifier("siprank"), "partial_fit")
    assert not hasattr(OrdinalClassifier("kernel-cusum"), "partial_fit")
    assert not hasattr(OrdinalClassifier("logit"), "partial_fit")
    # `fit` says what is wrong
    assert not hasattr(OrdinalClassifier("cusum", epochs=-1), "partial_fit")


def test_frames_keep_their_names():
    X, y = arrays(40)
    named = pd.DataFrame(X, columns=["a", "b", "c"])
    model = OrdinalClassifier("cusum").partial_fit(named, y).partial_fit(named, y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    assert model.results_.design.names == ("a", "b", "c")


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda X, y: (np.where(X[3, 1] == X, np.nan, X), y), "NaN"),
        (lambda X, y: (np.where(X[3, 1] == X, np.inf, X), y), "infinity"),
        (lambda X, y: (X[:, :2], y), "2 features.*expecting 3"),
        (lambda X, y: (X[:-1], y), "inconsistent numbers of samples"),
        (lambda X, y: (X[0], y[:1]), "2D array"),
        (lambda X, y: (X[:0], y[:0]), "minimum of 1"),
        (lambda X, y: (X, y[:, None] * [1, 1]), "1d array"),
        (
            lambda X, y: (X, y + 1),
            r"must have labels of the first batch, .*; got \[4\]",
        ),
        (
            lambda X, y: (X, y - 1),
            r"must have labels of the first batch, .*; got \[-1\]",
        ),
    ],
)
def test_spoilt_batches_are_refused_and_leave_no_trace(spoil, message):
    X, y = arrays(40)
    model = OrdinalClassifier("cusum").partial_fit(X, y)
    before = model.results_
    with pytest.raises(ValueError, match=message):
        model.partial_fit(*spoil(X, y))
    assert model.results_ is before


def test_very_large_numbers_are_learned():
    X, y = arrays(40)
    model = (
        OrdinalClassifier("cusum")
        .partial_fit(X * 2.0**450, y)
        .partial_fit(X * 2.0**450, y)
    )
    assert (
        model.results_.fit.learned.tally
        == OrdinalClassifier("cusum")
        .partial_fit(X, y)
        .partial_fit(X, y)
        .results_.fit.learned.tally
    )


@pytest.mark.parametrize("method", ["prank", "cusum"])
def test_a_stream_pickles_without_its_rows_at_work(method):
    X, y = arrays(120)
    model = (
        OrdinalClassifier(method)
        .partial_fit(X[:60], y[:60])
        .partial_fit(X[60:], y[60:])
    )
    twin = pickle.loads(pickle.dumps(model))
    assert twin.predict(X).tolist() == model.predict(X).tolist()
    for one in (model, twin):
        one.partial_fit(X[:60], y[:60])
    assert twin.results_.fit.learned.tally == model.results_.fit.learned.tally


@pytest.mark.parametrize("method", ["prank", "cusum", "pa-cusum"])
@pytest.mark.parametrize("kind", ["range", "standard"])
@pytest.mark.parametrize("first", [1, 40])
def test_a_column_that_is_constant_at_first_is_scaled_where_it_varies(
    method, kind, first
):
    X, y = arrays(120)
    X[:, 1] = np.arange(120) % 3 == 2
    X[:60, 1] = 0.0
    starts = [0, first, 60, 90]
    batches = [slice(*ends) for ends in zip(starts, [*starts[1:], 120], strict=True)]
    model = OrdinalClassifier(method, scaling=kind)
    by_hand = OrdinalClassifier(method, scaling=None)
    scaled = np.zeros_like(X)
    known = {}
    for batch in batches:
        for column in range(3):
            # Until it varies, a column is 0; then it has the scale of all rows up to
            # there.
            so_far = X[: batch.stop, column]
            if column not in known and np.ptp(so_far) > 0:
                ends = (so_far.max() + so_far.min()) / 2, 2 / np.ptp(so_far)
                known[column] = (
                    ends if kind == "range" else (so_far.mean(), 1 / so_far.std())
                )
            if column in known:
                centre, factor = known[column]
                scaled[batch, column] = (X[batch, column] - centre) * factor
        model.partial_fit(X[batch], y[batch], classes=np.unique(y))
        by_hand.partial_fit(scaled[batch], y[batch], classes=np.unique(y))
    assert (
        model.results_.fit.learned.tally.distance
        == by_hand.results_.fit.learned.tally.distance
    )
    centres, factors = np.array([known[column] for column in range(3)]).T
    new = (X - centres) * factors
    assert model.predict(X).tolist() == by_hand.predict(new).tolist()
    assert np.ptp(
        model.decision_function([[1.0, 0.0, 1.0], [1.0, 1.0, 1.0]]), axis=0
    ).any()


@pytest.mark.parametrize("hold", ["object", "boolean", "polars"])
def test_missing_truth_values_in_a_batch_are_refused(hold):
    y = np.arange(60) % 3 + 1
    flags = [bool(value % 2) for value in range(60)]
    gaps = [None if row in (7, 20) else flag for row, flag in enumerate(flags)]

    def frame_of(values):
        if hold == "polars":
            return pytest.importorskip("polars").DataFrame(
                {"x": np.arange(60.0), "flag": values}
            )
        return pd.DataFrame(
            {"x": np.arange(60.0), "flag": pd.Series(values, dtype=hold)}
        )

    model = OrdinalClassifier("cusum").partial_fit(frame_of(flags), y)
    with missing_in("flag", 2):
        model.partial_fit(frame_of(gaps), y)
    with missing_in("flag", 2):
        OrdinalClassifier("cusum").partial_fit(frame_of(gaps), y)
    assert model.results_.fit.learned.tally.examples == 60

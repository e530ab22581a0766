"""The hidden-layer features against the network's own output, a direct sum, and scikit-learn's checks."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from ordstat import DataError, HiddenLayer, OptionError, OrdinalClassifier, datasets

DATA = datasets.quadratic_bands(200, seed=1)
X, Y = DATA[["x1", "x2"]], DATA["rank"]
QUICK = {"units": 12, "max_iter": 60, "patience": 5}
FUNCTIONS = {"relu": lambda t: max(t, 0.0), "tanh": np.tanh, "logistic": lambda t: 1.0 / (1.0 + np.exp(-t))}

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.mark.parametrize("activation", FUNCTIONS)
@pytest.mark.parametrize("scaling", ["standard", "range", None])
def test_features_are_the_networks_hidden_layer(activation, scaling):
    """The output layer on them gives the network's prediction; one unit of one row by hand."""
    layer = HiddenLayer(activation=activation, scaling=scaling, **QUICK).fit(X, Y)
    features = layer.transform(X)
    centre, half = {
        "standard": (X.mean(), X.std(ddof=0)),
        "range": ((X.max() + X.min()) / 2, (X.max() - X.min()) / 2),
        None: (0.0, 1.0),
    }[scaling]
    scaled = ((X - centre) / half).to_numpy()
    network = layer.network_
    last = features @ network.coefs_[1][:, 0] + network.intercepts_[1]
    np.testing.assert_allclose(last, network.predict(scaled), rtol=1e-10)
    inner = sum(scaled[7, d] * network.coefs_[0][d, 3] for d in range(2)) + network.intercepts_[0][3]
    assert features[7, 3] == pytest.approx(FUNCTIONS[activation](inner))
    assert features.shape == (200, 12)


def test_the_network_learns_ranks_whatever_they_are_called():
    """Trained to regress 1..K: the same weights for other names in the same order, others for another order."""
    names = Y.astype(int).map({1: "none", 2: "a little", 3: "some", 4: "much"})
    given = ["none", "a little", "some", "much"]
    plain = HiddenLayer(**QUICK).fit(X, Y)
    for other in (
        HiddenLayer(levels=given, **QUICK).fit(X, names),
        HiddenLayer(**QUICK).fit(X, pd.Categorical(names, given, ordered=True)),
        HiddenLayer(**QUICK).fit(X, 10 * Y.astype(int)),
    ):
        np.testing.assert_array_equal(other.transform(X), plain.transform(X))
    turned = HiddenLayer(levels=given[::-1], **QUICK).fit(X, names)
    assert (turned.transform(X) != plain.transform(X)).any()
    predicted = HiddenLayer(units=50, validation=None, max_iter=500).fit(X, Y)
    fitted = predicted.network_.predict(predicted.scaling_(X.to_numpy()))
    assert (
        np.abs(fitted - Y.astype(int)).mean() < np.abs(LinearRegression().fit(X, Y).predict(X) - Y.astype(int)).mean()
    )


def test_it_helps_a_linear_ranker_on_curved_bands():
    new = datasets.quadratic_bands(1000, seed=2)
    ranker = OrdinalClassifier("cusum", margin=1.0)
    model = make_pipeline(HiddenLayer(units=60), clone(ranker)).fit(X, Y)
    assert model.score(new[["x1", "x2"]], new["rank"]) > ranker.fit(X, Y).score(new[["x1", "x2"]], new["rank"]) + 0.05
    search = GridSearchCV(make_pipeline(HiddenLayer(**QUICK), ranker), {"hiddenlayer__units": [2, 5]}, cv=2)
    assert search.fit(X, Y).best_params_["hiddenlayer__units"] in (2, 5)


def test_held_out_rows_tell_when_to_stop():
    layer = HiddenLayer(units=20, patience=3).fit(X, Y)
    scores = np.array(layer.network_.validation_scores_)
    gains = scores[1:] - np.maximum.accumulate(scores)[:-1]
    assert layer.n_iter_ == scores.size < 10_000
    assert np.flatnonzero(gains >= 1e-4)[-1] == gains.size - 5  # more than 3 epochs without a gain, and not one more
    assert HiddenLayer(validation=None, **QUICK).fit(X, Y).network_.validation_scores_ is None
    assert HiddenLayer(**QUICK).fit(X[:10], Y[:10]).n_iter_ > 0  # two rows are held out
    with pytest.raises(DataError, match=r"n_samples = 3.*validation=None"):
        HiddenLayer().fit(X[:3], Y[:3])


def test_too_few_epochs_are_no_secret():
    with pytest.warns(ConvergenceWarning):
        HiddenLayer(units=5, max_iter=2).fit(X, Y)


def test_names_and_seeds():
    layer = HiddenLayer(**QUICK).fit(X, Y)
    frame = layer.set_output(transform="pandas").transform(X)
    assert frame.columns.tolist() == [f"hiddenlayer{i}" for i in range(12)]
    np.testing.assert_array_equal(frame, HiddenLayer(**QUICK).fit(X, Y).transform(X))
    assert (frame.to_numpy() != HiddenLayer(random_state=1, **QUICK).fit(X, Y).transform(X)).any()


@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_checks():
    outcomes = check_estimator(HiddenLayer(units=8, max_iter=30), on_skip=None, on_fail=None)
    amiss = {o["check_name"]: repr(o["exception"]) for o in outcomes if o["status"] != "passed"}
    assert set(amiss) <= {"check_array_api_input"}, amiss


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("units", 0),
        ("units", 2.5),
        ("activation", "sine"),
        ("alpha", -1.0),
        ("learning_rate", 0.0),
        ("validation", 1.0),
        ("patience", 0),
        ("max_iter", None),
        ("scaling", "big"),
    ],
)
def test_parameters_are_checked(option, value):
    with pytest.raises(OptionError, match=rf"{option} of HiddenLayer must be .*; got"):
        HiddenLayer(**{option: value}).fit(X, Y)

"""OrdinalClassifier.predict_proba: there wherever the fitted rule has probabilities, and those of ordfit."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from ordstat import C45, OptionError, OrdinalClassifier, datasets, ordfit
from ordstat.methods import METHODS

pytestmark = pytest.mark.filterwarnings("ignore")

#: Options of methods whose usual ones take seconds.
LIGHT = {
    **{name: {"members": ("logit", "cart")} for name in ("blend", "auto")},
    "rps-forest": {"trees": 20},
    "ordboost": {"rounds": 20},
}
MANY = [name for name, entry in METHODS.items() if not entry.method.needs.two_levels]
#: Fits of a reduction by a classifier without probabilities, or by costs that make its answers other questions.
WITHOUT = [
    ("reduction", {"base": SVC()}),
    ("reduction", {"cost": "squared"}),
    ("red-logistic", {"cost": "squared"}),
    ("onn", {"cost": [[0, 1, 5], [1, 0, 1], [2, 1, 0]]}),
]


@pytest.fixture(scope="module")
def data():
    return datasets.herbrich(120, seed=3)


def has(model):
    return hasattr(model, "predict_proba")


@pytest.mark.parametrize("method", MANY)
def test_the_probabilities_are_those_of_ordfit(method, data):
    options = LIGHT.get(method, {})
    model = OrdinalClassifier(method, **options)
    before = has(model), has(clone(model))
    X, y = data[["x1", "x2"]], data["rank"]
    model.fit(X, y)
    fit = ordfit("rank ~ x1 + x2", data, method, seed=0, **options)
    try:
        expected = fit.predict(X, type="prob")
    except OptionError:
        expected = None
    assert {*before, has(model), has(clone(model))} == {expected is not None}
    if expected is not None:
        np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize(("method", "options"), WITHOUT)
def test_no_probabilities_where_the_rule_has_none(method, options, data):
    y = np.searchsorted([2, 4], data["rank"])
    model = OrdinalClassifier(method, **options)
    assert not has(model)
    assert not has(model.fit(data[["x1", "x2"]], y))
    with pytest.raises(AttributeError) as raised:
        _ = model.predict_proba
    assert "only with calibrate=True" in str(raised.value.__cause__)
    assert has(OrdinalClassifier(method, calibrate=True, **options))


@pytest.mark.parametrize("base", [C45(), LogisticRegression(), SVC(probability=True)])
def test_probabilities_by_any_classifier_that_has_them(base, data):
    model = OrdinalClassifier("reduction", base=base)
    assert has(model)
    assert has(model.fit(data[["x1", "x2"]], data["rank"]))


def test_with_two_levels_every_cost_asks_one_question(data):
    """Only the fit knows how many levels there are."""
    model = OrdinalClassifier("reduction", cost="squared")
    assert not has(model)
    assert has(model.fit(data[["x1", "x2"]], data["rank"] > 2))


def test_the_fit_decides_until_the_next_one(data):
    model = OrdinalClassifier("redsvm").fit(data[["x1", "x2"]], data["rank"])
    model.set_params(method="logit")
    assert not has(model)
    assert has(clone(model))


def test_log_loss_chooses_the_options_of_a_probability_model(data):
    found = GridSearchCV(OrdinalClassifier("ordboost", depth=1), {"rounds": [5, 20]}, scoring="neg_log_loss", cv=3)
    found.fit(data[["x1", "x2"]], data["rank"])
    assert np.isfinite(found.cv_results_["mean_test_score"]).all()


def test_invalid_options_are_for_fit_to_refuse():
    assert has(OrdinalClassifier("ordboost", rounds=-1))
    assert not has(OrdinalClassifier("no such method"))

"""scikit-learn's own checks, for every method of the registry."""

import numpy as np
import pytest
from light_options import one_of_each
from seams import METHODS
from sklearn.datasets import make_blobs
from sklearn.utils.estimator_checks import check_classifiers_train, check_estimator

from ordstat import OrdinalClassifier

# The checks fit strings, odd shapes, iterations cut short: the warnings are due.
pytestmark = pytest.mark.filterwarnings("ignore")


#: A likelihood, machines with a score and with votes, rounds, two levels alone, an
#: online ranker, answers to questions, a tree, and two that predict in another way than
#: others.
ALWAYS = (
    "logit",
    "redsvm",
    "ova",
    "orboost-all",
    "adaboost",
    "prank",
    "red-c45",
    "cart",
)
ALWAYS += ("nominal-classifier", "red-logistic")
#: Options of methods whose usual ones take seconds.
LIGHT = {
    "blend": {"members": ("logit", "cart")},
    "rps-forest": {"trees": 30},
    "ordboost": {"max_rounds": 300},
}
#: Methods that predict the median, or count answers, and have probabilities.
MEDIAN = [
    *LIGHT,
    "kernel-clm",
    "reduction",
    "red-c45",
    "red-tree",
    "red-hgb",
    "nominal-classifier",
]
MEDIAN += ["red-logistic", "onn"]


@pytest.mark.parametrize(
    "method",
    [pytest.param(m, marks=() if m in ALWAYS else pytest.mark.slow) for m in METHODS],
)
def test_scikit_learn_checks(method):
    model = OrdinalClassifier(method, **LIGHT.get(method, {}))
    # This check takes the most probable label for the prediction; the median need not
    # be it.
    costly = hasattr(model, "predict_proba") and method in MEDIAN
    expected = (
        {"check_classifiers_train": "predictions minimise a cost"} if costly else {}
    )
    outcomes = check_estimator(
        model, expected_failed_checks=expected, on_skip=None, on_fail=None
    )
    amiss = {
        o["check_name"]: repr(o["exception"])
        for o in outcomes
        if o["status"] not in ("passed", "xfail")
    }
    option = (
        {"decision": "mode"}
        if "decision" in model.get_params()
        else {"cost": "classification"}
    )
    if costly and method not in ("red-c45", "red-logistic", "onn"):
        check_classifiers_train("OrdinalClassifier", model.set_params(**option))
    # skipped unless SCIPY_ARRAY_API is set
    assert set(amiss) <= {"check_array_api_input"}, amiss
    assert len(outcomes) > 50


@pytest.mark.parametrize("method", one_of_each(later=LIGHT))
def test_the_accuracy_that_the_poor_score_tag_leaves_unchecked(method):
    """Three blobs in a plane have no order along a line; two blobs, and blobs in a row,
    have.
    """
    X, y = make_blobs(n_samples=300, random_state=0)
    assert (
        OrdinalClassifier(method).fit(X[y < 2], y[y < 2]).score(X[y < 2], y[y < 2])
        > 0.83
    )
    if METHODS[method].method.supports.two_levels_only:
        return
    X, y = make_blobs(
        n_samples=300, centers=np.array([[0, 0], [3, 2], [6, 4]]), random_state=0
    )
    assert OrdinalClassifier(method).fit(X, y).score(X, y) > 0.83

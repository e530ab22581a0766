"""decision_function, coef_ and feature_importances_: what scikit-learn's
meta-estimators ask of a classifier.
"""

from functools import lru_cache

import numpy as np
import pandas as pd
import pytest
from light_options import classifier, in_turn
from scipy.special import expit, logit
from seams import METHODS
from sklearn.calibration import CalibratedClassifierCV
from sklearn.feature_selection import RFE, RFECV, SelectFromModel
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer, roc_auc_score
from sklearn.model_selection import (
    FixedThresholdClassifier,
    TunedThresholdClassifierCV,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ordstat import OrdinalClassifier, ordfit
from ordstat.exceptions import UnavailableError

pytestmark = pytest.mark.filterwarnings("ignore::ordstat.exceptions.OrdstatWarning")
MANY = [
    name for name, entry in METHODS.items() if not entry.method.supports.two_levels_only
]
LINEAR = [
    "clm",
    "acat",
    "stereotype",
    "cratio",
    "sratio",
    "logit",
    "probit",
    "cloglog",
    "loglog",
    "cauchit",
]
LINEAR += ["prank", "siprank", "red-logistic", "orstump"]
TREES = [
    "cart",
    "ordinal-cart",
    "bagging",
    "ordinal-bagging",
    "nominal-adaboost",
    "fixed-split-boosting",
]
TREES += ["ordinal-adaboost"]
ROUNDS = [
    "rankboost-or",
    "rankboost-ae",
    "orboost-lr",
    "orboost-all",
    "adaboost-or",
    "adaboost",
    "seedboost",
]
ROUNDS += ["ordboost", "rps-forest"]
QUICK = {"rounds": 20}


def rows(n: int = 150) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(n, 3))


@lru_cache
def codes(n_levels: int) -> np.ndarray:
    """The first column counts most and the last not at all."""
    latent = rows() @ [1.0, 0.4, 0.0] + np.random.default_rng(1).logistic(size=150) / 3
    return np.searchsorted(
        np.quantile(latent, np.arange(1, n_levels) / n_levels), latent
    )


@lru_cache
def fitted(method: str, n_levels: int, **options) -> OrdinalClassifier:
    return classifier(method, **options).fit(rows(), codes(n_levels))


@pytest.mark.parametrize("method", METHODS)
def test_of_two_labels_the_sign_is_the_prediction(method):
    model = fitted(method, 2)
    actual = model.decision_function(rows())
    assert actual.shape == (150,) and np.isfinite(actual).all()
    np.testing.assert_array_equal(actual > 0, model.predict(rows()) == 1)
    assert roc_auc_score(codes(2), actual) > 0.75  # larger means the higher level


@pytest.mark.parametrize("method", MANY)
def test_of_more_labels_the_largest_is_the_prediction(method):
    model = fitted(method, 4)
    actual = model.decision_function(rows())
    assert actual.shape == (150, 4) and np.isfinite(actual).all()
    np.testing.assert_array_equal(
        model.classes_[actual.argmax(axis=1)], model.predict(rows())
    )


@pytest.mark.parametrize(
    "method",
    [
        "logit",
        "cloglog",
        "redsvm",
        "ova",
        "cart",
        "orboost-all",
        "adaboost-or",
        "reduction",
    ],
)
@pytest.mark.parametrize("n_levels", [2, 3])
def test_columns_and_sign_follow_the_sorted_labels(method, n_levels):
    """levels= may say that "b" comes before "a": classes_ is sorted all the same."""
    names = np.array(["c", "b", "a"][-n_levels:])
    plain = fitted(method, n_levels)
    model = OrdinalClassifier(method, levels=list(names)).fit(
        rows(), names[codes(n_levels)]
    )
    actual = model.decision_function(rows())
    expected = plain.decision_function(rows())
    np.testing.assert_allclose(
        actual, -expected if n_levels == 2 else expected[:, ::-1], rtol=1e-9, atol=1e-12
    )
    chosen = (actual > 0).astype(int) if n_levels == 2 else actual.argmax(axis=1)
    np.testing.assert_array_equal(model.classes_[chosen], model.predict(rows()))


def test_of_a_tie_the_lower_level_is_predicted_whatever_its_label():
    """One cut between equal shares: every tree and every vote is tied."""
    X = np.zeros((4, 1))
    y = np.array([0, 1, 0, 1])
    for method in ("cart", "ova", "logit"):
        up = OrdinalClassifier(method, levels=[0, 1]).fit(X, y)
        down = OrdinalClassifier(method, levels=[1, 0]).fit(X, y)
        assert up.predict(X[:1]) == 0 and not up.decision_function(X[:1]) > 0
        assert down.predict(X[:1]) == 1 and down.decision_function(X[:1]) > 0


@pytest.mark.parametrize("link", ["logit", "probit", "cloglog", "loglog", "cauchit"])
def test_log_odds_of_likelihood_methods(link):
    model = fitted(link, 2)
    p = model.predict_proba(rows())[:, 1]
    np.testing.assert_allclose(expit(model.decision_function(rows())), p, rtol=1e-9)
    costly = OrdinalClassifier(link, cost=((0.0, 1.0), (4.0, 0.0))).fit(
        rows(), codes(2)
    )
    inside = p * (1 - p) > 1e-6  # further out log(p / (1 - p)) is rounding
    actual = costly.decision_function(rows())[inside]
    np.testing.assert_allclose(
        actual, (logit(p) - logit(0.2))[inside], rtol=1e-6, atol=1e-7
    )


def test_the_log_odds_are_those_of_logistic_regression():
    other = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(rows(), codes(2))
    np.testing.assert_allclose(
        fitted("logit", 2).decision_function(rows()),
        other.decision_function(rows()),
        rtol=1e-3,
    )


def test_distance_to_the_nearer_threshold():
    model = fitted("redsvm", 4)
    score = model.results_.predict(rows(), type="score").to_numpy()
    low, middle, high = model.thresholds_
    expected = [
        low - score,
        np.minimum(score - low, middle - score),
        np.minimum(score - middle, high - score),
    ]
    expected.append(score - high)
    np.testing.assert_allclose(
        model.decision_function(rows()), np.column_stack(expected), atol=1e-10
    )


def test_votes_are_what_voters_decide_by():
    votes = fitted("csova", 4).results_.predict(rows(), type="votes").to_numpy()
    np.testing.assert_allclose(
        fitted("csova", 4).decision_function(rows()), votes, rtol=1e-12
    )
    votes = fitted("csova", 2).results_.predict(rows(), type="votes").to_numpy()
    np.testing.assert_allclose(
        fitted("csova", 2).decision_function(rows()),
        votes[:, 1] - votes[:, 0],
        rtol=1e-12,
    )


@pytest.mark.parametrize(
    ("method", "frame"),
    in_turn(
        ["logit", "redsvm", "ova", "orboost-all", "reduction", "bagging", "pa-cusum"],
        [False, True],
    ),
)
def test_calibration_and_thresholds_in_a_pipeline(method, frame):
    X = pd.DataFrame(rows(), columns=["a", "b", "c"]) if frame else rows()
    model = make_pipeline(StandardScaler(), OrdinalClassifier(method))
    for y in (codes(2), codes(3)):
        calibrated = CalibratedClassifierCV(model, cv=3).fit(X, y)
        np.testing.assert_allclose(
            calibrated.predict_proba(X).sum(axis=1), 1.0, rtol=1e-12
        )
        assert calibrated.score(X, y) > 0.5
    moved = [
        FixedThresholdClassifier(
            model, threshold=t, response_method="decision_function"
        )
        for t in (-1e9, 0.0, 1e9)
    ]
    shares = [one.fit(X, codes(2)).predict(X).mean() for one in moved]
    assert shares[0] == 1.0 and 0 < shares[1] < 1 and shares[2] == 0.0
    fitted_model = model.fit(X, codes(2))
    np.testing.assert_array_equal(moved[1].predict(X), fitted_model.predict(X))
    tuned = TunedThresholdClassifierCV(
        model, scoring="balanced_accuracy", response_method="decision_function", cv=3
    )
    assert tuned.fit(X, codes(2)).score(X, codes(2)) > 0.7
    assert cross_val_score(model, X, codes(2), scoring="roc_auc", cv=3).mean() > 0.75


def test_a_scorer_of_areas_takes_any_order_of_the_labels():
    names = np.array(["low", "high"])  # sorted the other way round
    model = OrdinalClassifier("redsvm", levels=list(names)).fit(rows(), names[codes(2)])
    assert get_scorer("roc_auc")(model, rows(), names[codes(2)]) > 0.75


def test_unfitted_and_wrong_columns_are_refused():
    with pytest.raises(AttributeError, match="not fitted"):
        OrdinalClassifier("redsvm").decision_function(rows())
    with pytest.raises(ValueError, match="expecting 3 features"):
        fitted("redsvm", 2).decision_function(rows()[:, :2])


@pytest.mark.parametrize("method", METHODS)
def test_only_methods_that_have_them_have_coefficients_and_importances(method):
    assert not hasattr(OrdinalClassifier(method), "coef_")
    assert not hasattr(OrdinalClassifier(method), "feature_importances_")
    model = fitted(method, 2)
    assert hasattr(model, "coef_") == (method in LINEAR)
    assert hasattr(model, "feature_importances_") == (method in TREES + ROUNDS)


@pytest.mark.parametrize("method", TREES + ROUNDS)
def test_importances_are_shares_in_the_order_of_the_columns(method):
    for order in ([0, 1, 2], [2, 0, 1]):
        actual = (
            OrdinalClassifier(method)
            .fit(rows()[:, order], codes(2))
            .feature_importances_
        )
        assert actual.shape == (3,) and (actual >= 0).all()
        np.testing.assert_allclose(actual.sum(), 1.0, rtol=1e-12)
        assert order[int(actual.argmax())] == 0


@pytest.mark.parametrize("method", ["orboost-lr", "rankboost-or"])
def test_importance_of_stumps_is_the_spread_of_what_a_column_adds(method):
    """With all other columns held, the score moves by that of one: a sum of stumps has
    no interactions.
    """
    model = fitted(method, 4, rounds=25)
    spread = []
    for j in range(3):
        X = np.zeros_like(rows())
        X[:, j] = rows()[:, j]
        spread.append(model.results_.predict(X, type="score").std())
    np.testing.assert_allclose(
        model.feature_importances_, spread / np.sum(spread), rtol=1e-9, atol=1e-12
    )


def test_importance_counts_weights_as_rows():
    w = np.random.default_rng(5).integers(0, 3, 150)
    weighted = OrdinalClassifier("orboost-all", rounds=15).fit(
        rows(), codes(3), sample_weight=w
    )
    repeated = OrdinalClassifier("orboost-all", rounds=15).fit(
        np.repeat(rows(), w, axis=0), np.repeat(codes(3), w)
    )
    np.testing.assert_allclose(
        weighted.feature_importances_, repeated.feature_importances_, rtol=1e-6
    )


def test_hypotheses_that_do_not_tell_their_columns_have_no_importance():
    model = fitted("orboost-all", 3, learner="logistic", rounds=5)
    assert not hasattr(model, "feature_importances_")
    with pytest.raises(UnavailableError):
        model.results_.importance()


@pytest.mark.parametrize(
    ("method", "frame"),
    in_turn(
        ["logit", "red-logistic", "orstump", "prank", "cart", "bagging", "orboost-all"],
        [False, True],
    ),
)
def test_columns_are_selected(method, frame):
    """The column without an effect goes first, the one with the largest stays."""
    X = pd.DataFrame(rows(), columns=["a", "b", "c"]) if frame else rows()
    for y in (codes(2), codes(3)):
        model = OrdinalClassifier(method)
        assert RFE(model, n_features_to_select=1).fit(X, y).support_.tolist() == [
            True,
            False,
            False,
        ]
        selected = SelectFromModel(model, threshold=-np.inf, max_features=1).fit(X, y)
        assert selected.get_support().tolist() == [True, False, False]
        assert (
            make_pipeline(selected, OrdinalClassifier("logit")).fit(X, y).score(X, y)
            > 0.4
        )
    assert RFECV(OrdinalClassifier(method), cv=3).fit(X, codes(2)).support_[0]


def test_a_linear_machine_is_selected_by_its_coefficients():
    model = OrdinalClassifier("redsvm", kernel="linear")
    assert RFE(model, n_features_to_select=1).fit(
        rows(), codes(3)
    ).support_.tolist() == [True, False, False]


def test_a_column_that_others_make_up_counts_for_nothing():
    """ordfit says NaN of it; a selection takes NaN for the largest."""
    X = np.column_stack([rows(), rows()[:, 0] * 2, np.ones(150)])
    model = OrdinalClassifier("logit").fit(X, codes(3))
    assert model.coef_[3:].tolist() == [0.0, 0.0]
    score = model.results_.predict(X, type="score").to_numpy()
    np.testing.assert_allclose(X @ model.coef_, score, rtol=1e-9)
    assert (
        RFE(OrdinalClassifier("logit"), n_features_to_select=1)
        .fit(X, codes(3))
        .support_[[0, 3]]
        .any()
    )
    assert (
        ordfit("y ~ x + x2", pd.DataFrame({"x": X[:, 0], "x2": X[:, 3], "y": codes(3)}))
        .coef.isna()
        .tolist()[1]
    )

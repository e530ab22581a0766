"""Measures as functions and scorers: equal to scikit-learn's where labels sort by the
alphabet, to brute force elsewhere.
"""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau
from sklearn import metrics as sk
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ordstat
from ordstat import DataError, OptionError, OrdinalClassifier, metrics

RNG = np.random.default_rng(3)
N = 60
CODES = RNG.integers(0, 4, N)
PREDICTED = np.clip(CODES + RNG.integers(-1, 3, N), 0, 3)
PROBABILITIES = RNG.dirichlet(np.ones(4), N)
SCORES = np.round(CODES + RNG.normal(size=N))  # with ties
WEIGHTS = RNG.integers(0, 4, N).astype(float)
#: In an order that is not that of the alphabet.
LEVELS = ["poor", "fair", "good", "excellent"]
NAMES = np.array(LEVELS)


def test_labels_as_scikit_learn_has_them():
    pairs = {
        metrics.mean_absolute_rank_error: sk.mean_absolute_error,
        metrics.linear_kappa: lambda *a, **k: sk.cohen_kappa_score(
            *a, weights="linear", **k
        ),
        metrics.quadratic_kappa: lambda *a, **k: sk.cohen_kappa_score(
            *a, weights="quadratic", **k
        ),
    }
    for ours, theirs in pairs.items():
        for weights in (None, WEIGHTS):
            expected = theirs(CODES, PREDICTED, sample_weight=weights)
            assert ours(CODES, PREDICTED, sample_weight=weights) == pytest.approx(
                expected, rel=1e-12
            )
            named = ours(
                NAMES[CODES], NAMES[PREDICTED], sample_weight=weights, labels=LEVELS
            )
            assert named == pytest.approx(expected, rel=1e-12)


def test_log_loss_and_area_as_scikit_learn_has_them():
    for weights in (None, WEIGHTS):
        expected = sk.log_loss(CODES, PROBABILITIES, sample_weight=weights)
        assert metrics.log_loss(
            CODES, PROBABILITIES, sample_weight=weights
        ) == pytest.approx(expected, rel=1e-12)
        two = CODES > 1
        area = sk.roc_auc_score(two, SCORES, sample_weight=weights)
        assert metrics.concordance(two, SCORES, sample_weight=weights) == pytest.approx(
            area, rel=1e-12
        )


def test_log_loss_takes_columns_in_the_order_of_the_levels():
    right = sk.log_loss(CODES, PROBABILITIES)
    assert metrics.log_loss(
        NAMES[CODES], PROBABILITIES, labels=LEVELS
    ) == pytest.approx(right, rel=1e-12)
    with pytest.warns(UserWarning, match="order"):  # it sorts labels by the alphabet
        wrong = sk.log_loss(NAMES[CODES], PROBABILITIES, labels=LEVELS)
    assert abs(wrong - right) > 0.05
    # columns of a frame are found by name
    alphabet = np.argsort(NAMES)
    frame = pd.DataFrame(PROBABILITIES[:, alphabet], columns=NAMES[alphabet])
    assert metrics.log_loss(NAMES[CODES], frame, labels=LEVELS) == pytest.approx(
        right, rel=1e-12
    )
    assert metrics.log_loss([0, 1], [[1.0, 0.0], [1.0, 0.0]]) == np.inf


def test_brute_force():
    rps = macro = agree = pairs = 0.0
    for i in range(N):
        for k in range(3):
            rps += (PROBABILITIES[i, : k + 1].sum() - (CODES[i] <= k)) ** 2 / N
        for j in range(N):
            if CODES[i] < CODES[j]:
                pairs += 1
                agree += (SCORES[i] < SCORES[j]) + 0.5 * (SCORES[i] == SCORES[j])
    for k in range(4):
        macro += np.abs(PREDICTED[k == CODES] - k).mean() / 4
    assert metrics.ranked_probability_score(CODES, PROBABILITIES) == pytest.approx(rps)
    assert metrics.macro_absolute_rank_error(CODES, PREDICTED) == pytest.approx(macro)
    assert metrics.concordance(CODES, SCORES) == pytest.approx(agree / pairs)
    tau = kendalltau(CODES, PREDICTED).statistic
    assert metrics.kendall_tau_b(CODES, PREDICTED) == pytest.approx(tau, rel=1e-12)


def test_the_score_of_a_certain_level_is_its_distance():
    certain = np.eye(4)[PREDICTED]
    assert metrics.ranked_probability_score(CODES, certain) == pytest.approx(
        sk.mean_absolute_error(CODES, PREDICTED)
    )


def test_published_examples_of_skordinal():
    """Examples in skordinal's documentation; SciPy's kendalltau and scikit-learn's
    linear kappa give the same of the first two lists.
    """
    y_true = [0, 0, 1, 2, 3, 0, 0]
    y_pred = [0, 1, 1, 2, 3, 0, 1]
    assert metrics.macro_absolute_rank_error(y_true, y_pred) == pytest.approx(0.125)
    assert metrics.kendall_tau_b(y_true, y_pred) == pytest.approx(0.8140915784106943)
    assert metrics.linear_kappa(y_true, y_pred) == pytest.approx(0.7586206896551724)
    table = [
        [0.2, 0.4, 0.2, 0.2],
        [0.7, 0.1, 0.1, 0.1],
        [0.5, 0.05, 0.1, 0.35],
        [0.1, 0.05, 0.65, 0.2],
    ]
    assert metrics.ranked_probability_score(
        [0, 0, 3, 2], table, labels=range(4)
    ) == pytest.approx(0.506875)


ON_LABELS = (
    metrics.mean_absolute_rank_error,
    metrics.macro_absolute_rank_error,
    metrics.linear_kappa,
    metrics.quadratic_kappa,
    metrics.kendall_tau_b,
)
ON_NUMBERS = (
    (metrics.ranked_probability_score, PROBABILITIES),
    (metrics.log_loss, PROBABILITIES),
    (metrics.concordance, SCORES),
)


def test_weights_are_repeated_rows():
    rows = np.repeat(np.arange(N), WEIGHTS.astype(int))
    calls = [*((f, PREDICTED) for f in ON_LABELS), *ON_NUMBERS]
    for function, prediction in calls:
        weighted = function(CODES, prediction, sample_weight=WEIGHTS)
        assert weighted == pytest.approx(function(CODES[rows], prediction[rows]))


def test_order_of_an_ordered_categorical():
    ordered = pd.Series(pd.Categorical.from_codes(CODES, LEVELS, ordered=True))
    for function in ON_LABELS:
        assert function(ordered, NAMES[PREDICTED]) == function(CODES, PREDICTED)
    for function, prediction in ON_NUMBERS:
        assert function(ordered, prediction) == function(CODES, prediction)


X = RNG.normal(size=(120, 2))
Y = np.digitize(X[:, 0] + RNG.logistic(size=120), [-1.5, 0.0, 1.5])


@pytest.mark.parametrize("name", ["rps", "log_loss", "concordance", "mae"])
@pytest.mark.parametrize(
    "model",
    [OrdinalClassifier(levels=LEVELS), LogisticRegression()],
    ids=["ours", "theirs"],
)
def test_scorers_of_text_are_those_of_codes(name, model):
    """`classes_` are sorted by the alphabet, the levels are not."""
    given = None if isinstance(model, OrdinalClassifier) else LEVELS
    by_name = cross_val_score(
        model, X, NAMES[Y], cv=3, scoring=metrics.scorer(name, given)
    )
    codes = OrdinalClassifier() if given is None else model
    by_code = cross_val_score(codes, X, Y, cv=3, scoring=metrics.scorer(name))
    # an optimiser may meet the levels in another order
    assert by_name == pytest.approx(by_code, abs=1e-4)


def test_scorers_have_the_values_of_the_functions():
    model = OrdinalClassifier().fit(X, Y)
    table = model.predict_proba(X)
    labels = model.predict(X)
    weights = np.arange(120.0)
    expected = {
        "rps": -metrics.ranked_probability_score(Y, table, sample_weight=weights),
        "log_loss": -metrics.log_loss(Y, table, sample_weight=weights),
        "concordance": metrics.concordance(
            Y, table @ np.arange(4), sample_weight=weights
        ),
        "mae": -metrics.mean_absolute_rank_error(Y, labels, sample_weight=weights),
        "macro_mae": -metrics.macro_absolute_rank_error(
            Y, labels, sample_weight=weights
        ),
        "linear_kappa": metrics.linear_kappa(Y, labels, sample_weight=weights),
        "quadratic_kappa": metrics.quadratic_kappa(Y, labels, sample_weight=weights),
        "kendall_tau_b": metrics.kendall_tau_b(Y, labels, sample_weight=weights),
    }
    for name, value in expected.items():
        score = metrics.scorer(name)
        assert score(model, X, Y, sample_weight=weights) == value
        assert pickle.loads(pickle.dumps(score))(model, X, Y, weights) == value


def test_a_search_in_a_pipeline_with_several_scorers():
    pipeline = make_pipeline(StandardScaler(), OrdinalClassifier(levels=LEVELS))
    scoring = {name: metrics.scorer(name) for name in ("rps", "quadratic_kappa")}
    search = GridSearchCV(
        pipeline,
        {"ordinalclassifier__method": ["logit", "probit"]},
        scoring=scoring,
        refit="rps",
        cv=3,
    )
    search.fit(X, NAMES[Y])
    rps = search.cv_results_["mean_test_rps"]
    assert np.isfinite(rps).all()
    assert search.best_score_ == rps.max() < 0
    assert metrics.scorer("mae")(search, X, NAMES[Y]) == pytest.approx(
        -metrics.mean_absolute_rank_error(NAMES[Y], search.predict(X), labels=LEVELS)
    )


def test_a_level_that_training_rows_lack_has_probability_zero():
    some = Y < 3
    for model in (OrdinalClassifier(), LogisticRegression()):
        fitted = clone(model).fit(X[some], Y[some])
        table = np.hstack([fitted.predict_proba(X), np.zeros((120, 1))])
        assert metrics.scorer("rps")(fitted, X, Y) == pytest.approx(
            -metrics.ranked_probability_score(Y, table)
        )
        assert metrics.scorer("log_loss")(fitted, X, Y) == -np.inf


def test_concordance_of_a_model_without_probabilities():
    model = RidgeClassifier().fit(X, Y)
    assert metrics.scorer("concordance")(model, X, Y) == pytest.approx(
        metrics.concordance(Y, model.predict(X))
    )
    with pytest.raises(OptionError, match=r"scorer\('rps'\) needs predict_proba"):
        metrics.scorer("rps")(model, X, Y)


def test_make_scorer_takes_the_functions():
    score = sk.make_scorer(
        metrics.mean_absolute_rank_error, greater_is_better=False, labels=LEVELS
    )
    model = OrdinalClassifier(levels=LEVELS).fit(X, NAMES[Y])
    assert score(model, X, NAMES[Y]) == metrics.scorer("mae")(model, X, NAMES[Y])


TABLE = [[0.5, 0.5], [0.2, 0.8]]


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: metrics.linear_kappa(["a", "b"], ["a", "a"]), "without an order"),
        (lambda: metrics.linear_kappa([1, np.nan], [1, 1]), "y_true .* row 1"),
        (lambda: metrics.linear_kappa([1, 2], [1, None]), "y_pred .* row 1"),
        (
            lambda: metrics.linear_kappa(["a"], ["b"], labels=["a", "c"]),
            r"y_pred has labels .*'b'",
        ),
        (lambda: metrics.linear_kappa([1, 2], [1]), "y_pred must have one label"),
        (lambda: metrics.linear_kappa([], []), "must have one label"),
        (
            lambda: metrics.linear_kappa([1, 2], [1, 2], sample_weight=[1, -1]),
            "sample_weight must be",
        ),
        (
            lambda: metrics.linear_kappa([1, 2], [1, 2], sample_weight=[0, 0]),
            "sample_weight (is zero|must be)",
        ),
        (
            lambda: metrics.linear_kappa([1, 2], [1, 2], labels=[1, 1]),
            "labels names a label twice",
        ),
        (lambda: metrics.log_loss([1, 2, 3], [*TABLE, TABLE[0]]), "y_proba .*shape"),
        (lambda: metrics.log_loss([1, 2], [[0.5, 0.5], [0.9, 0.8]]), "row 1"),
        (lambda: metrics.log_loss([1, 2], [[1.2, -0.2], [0.2, 0.8]]), "row 0"),
        (lambda: metrics.log_loss([1, 2], [[np.nan, 1], [0.2, 0.8]]), "row 0"),
        (lambda: metrics.log_loss([1, 2], [["x", "y"]] * 2), "must be numbers"),
        (
            lambda: metrics.log_loss(
                ["a", "b"], pd.DataFrame(TABLE, columns=["a", "c"]), labels=["a", "b"]
            ),
            r"columns that are not among the levels .*'c'",
        ),
        (lambda: metrics.concordance([1, 2], [np.nan, 1.0]), "y_score must be 2"),
        (lambda: metrics.scorer("rsp"), "Did you mean 'rps'"),
        (lambda: metrics.scorer("rps", labels="abc"), "labels must list"),
    ],
)
def test_bad_input_is_refused_by_name(call, match):
    with pytest.raises((DataError, OptionError), match=match):
        call()


def test_text_without_an_order_is_no_score():
    model = LogisticRegression().fit(X, NAMES[Y])
    with pytest.raises(DataError, match="without an order"):
        metrics.scorer("rps")(model, X, NAMES[Y])


def test_the_module_is_an_attribute_of_the_package():
    assert ordstat.metrics.scorer is metrics.scorer
    assert "metrics" in dir(ordstat)

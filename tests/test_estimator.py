"""OrdinalClassifier: labels, parameters and data of every kind, inside scikit-learn's
own tools.
"""

import pickle
from decimal import Decimal
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from expected import absent_levels, missing_in, misspelt, no_option, refused
from light_options import classifier, one_of_each
from numpy.testing import assert_allclose
from seams import METHODS
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    cross_val_predict,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from ordstat import (
    REDSVM,
    CumulativeLink,
    DataError,
    DataWarning,
    OptionError,
    OrdinalClassifier,
    compare,
    datasets,
    ordfit,
)
from ordstat.exceptions import SeparationWarning
from ordstat.metrics import mean_absolute_rank_error

LEVELS = ["low", "medium", "high"]  # not in alphabetical order
CODES = {"low": 0, "medium": 1, "high": 2}
#: Methods that take three levels; scikit-learn's checks cover the others.
MANY = [
    name for name, entry in METHODS.items() if not entry.method.supports.two_levels_only
]


def polars():
    """The package, where it is installed."""
    return pytest.importorskip("polars")


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).standard_normal((90, 2))


@pytest.fixture(scope="module")
def codes(X):
    noise = np.random.default_rng(1).logistic(size=90)
    return np.searchsorted([-1.0, 1.0], X @ [2.0, -1.0] + noise)


@pytest.fixture(scope="module")
def strings(codes):
    return np.array(LEVELS)[codes]


# Labels


@pytest.mark.parametrize(
    "labels",
    [
        lambda codes: pd.Series(pd.Categorical.from_codes(codes, LEVELS, ordered=True)),
        lambda codes: pd.Categorical.from_codes(codes, LEVELS, ordered=True),
        lambda codes: polars().Series(
            np.array(LEVELS)[codes], dtype=polars().Enum(LEVELS)
        ),
        lambda codes: pd.DataFrame(
            {"y": pd.Categorical.from_codes(codes, LEVELS, ordered=True)}
        ),
    ],
    ids=["Series", "Categorical", "polars Enum", "frame of one column"],
)
@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
def test_declared_orders_are_kept(X, codes, labels):
    model = OrdinalClassifier().fit(X, labels(codes))
    reference = OrdinalClassifier().fit(X, codes)
    assert model.levels_.tolist() == LEVELS
    assert model.classes_.tolist() == sorted(LEVELS)
    assert [CODES[label] for label in model.predict(X)] == reference.predict(X).tolist()
    np.testing.assert_array_equal(model.thresholds_, reference.thresholds_)


@pytest.mark.parametrize("dtype", [object, "str", "list"])
def test_levels_order_strings(X, codes, strings, dtype):
    y = strings.tolist() if dtype == "list" else strings.astype(dtype)
    model = OrdinalClassifier(levels=LEVELS).fit(X, y)
    np.testing.assert_array_equal(
        model.thresholds_, OrdinalClassifier().fit(X, codes).thresholds_
    )
    assert model.predict(X).dtype == np.asarray(y).dtype


def test_strings_without_an_order_are_sorted_with_a_warning(X, strings):
    with pytest.warns(
        DataWarning, match=r"sorted, 'high' < 'low' < 'medium'.*levels=\["
    ):
        model = OrdinalClassifier().fit(X, strings)
    assert model.levels_.tolist() == ["high", "low", "medium"]


@pytest.mark.parametrize(
    "labels", [[10, 20, 50], [-1.0, 0.0, 7.0], [2**40, 2**41, 2**50]]
)
def test_numbers_are_sorted(X, codes, labels):
    model = OrdinalClassifier().fit(X, np.array(labels)[codes])
    assert model.levels_.tolist() == model.classes_.tolist() == labels
    assert model.levels_.dtype == np.array(labels).dtype
    assert set(model.predict(X)) <= set(labels)


def test_levels_may_reverse_numbers(X, codes):
    forward = OrdinalClassifier().fit(X, codes)
    backward = OrdinalClassifier(levels=[2, 1, 0]).fit(X, codes)
    np.testing.assert_allclose(backward.coef_, -forward.coef_, rtol=1e-6)
    np.testing.assert_allclose(
        backward.predict_proba(X), forward.predict_proba(X), rtol=1e-6
    )


def test_booleans_are_fine(X, codes):
    model = OrdinalClassifier().fit(X, codes > 1)
    assert model.predict(X).dtype == bool
    assert model.classes_.tolist() == [False, True]


def test_intervals_of_a_cut_are_fine(X):
    cut = pd.cut(pd.Series(X[:, 0]), [-9, -0.5, 0.5, 9])
    model = OrdinalClassifier("redsvm").fit(X, cut)
    assert model.levels_.tolist() == cut.cat.categories.tolist()
    assert (model.predict(X) == cut.to_numpy()).mean() > 0.8


@pytest.mark.parametrize(
    "method", ["logit", "acat", "cratio", "redsvm", "ordboost", "bagging"]
)
def test_levels_without_rows_are_classes_of_probability_0(X, codes, method):
    model = OrdinalClassifier(
        method, levels=[0, 7, 1, 2, 3], calibrate=method == "redsvm"
    )
    with absent_levels("7", "3"):
        model.fit(X, codes)
    assert model.levels_.tolist() == [0, 7, 1, 2, 3]
    assert model.classes_.tolist() == [0, 1, 2, 3, 7]
    p = model.predict_proba(X)
    assert (p[:, [3, 4]] == 0.0).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert set(model.predict(X)) <= {0, 1, 2}


def test_categories_without_rows_are_no_classes(X, codes):
    y = pd.Categorical(codes, [0, 1, 2, 3], ordered=True)
    assert OrdinalClassifier().fit(X, y).classes_.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("levels", "error", "message"),
    [
        (
            ["low", "high"],
            DataError,
            r"not among the levels \['low', 'high'\]: \['medium'\]",
        ),
        (["low", "low", "high"], OptionError, r"names a label twice"),
        ("low", OptionError, r"levels must list the labels.*'low'"),
        (["low", None, "high"], OptionError, r"levels must have no missing value"),
        ([1, "medium", "high"], OptionError, r"can be sorted.* got \[1, 'medium'"),
    ],
)
def test_wrong_levels_are_refused(X, strings, levels, error, message):
    with pytest.raises(error, match=message):
        OrdinalClassifier(levels=levels).fit(X, strings)


def test_probabilities_follow_the_sorted_classes(X, strings):
    """scikit-learn's scorers take the columns to be sorted labels; ours in rank order
    would score the wrong ones.
    """
    model = OrdinalClassifier(levels=LEVELS).fit(X, strings)
    frame = model.results_.predict(X, type="prob")
    np.testing.assert_array_equal(
        model.predict_proba(X), frame[["high", "low", "medium"]]
    )
    by_hand = -np.log([frame.loc[n, label] for n, label in enumerate(strings)]).mean()
    assert log_loss(strings, model.predict_proba(X)) == pytest.approx(by_hand)
    assert make_scorer(log_loss, response_method="predict_proba")(
        model, X, strings
    ) == pytest.approx(by_hand)


# Rows


@pytest.fixture(scope="module")
def references(X, codes):
    """A fit of each method to whole numbers as an array, made on demand."""
    return cache(lambda method: classifier(method).fit(np.round(10 * X), codes))


@pytest.mark.parametrize("method", one_of_each(MANY))
@pytest.mark.parametrize(
    "kind", ["pandas", "polars", "list", "integers", "fortran", "objects"]
)
def test_kinds_of_x_agree(X, codes, references, method, kind):
    whole = np.round(10 * X)
    make = {
        "pandas": lambda: pd.DataFrame(whole, columns=["a", "b"]),
        "polars": lambda: polars().DataFrame(whole, schema=["a", "b"]),
        "list": lambda: whole.tolist(),
        "integers": lambda: whole.astype(int),
        "fortran": lambda: np.asfortranarray(whole),
        "objects": lambda: whole.astype(object),
    }[kind]
    model = classifier(method).fit(make(), codes)
    reference = references(method)
    assert model.predict(make()).tolist() == reference.predict(whole).tolist()
    np.testing.assert_array_equal(
        *(getattr(m, "thresholds_", m.results_.fit.scores) for m in (model, reference))
    )
    if kind in ("pandas", "polars"):
        assert model.feature_names_in_.tolist() == ["a", "b"]
        design = model.results_.design
        assert design.names + design.nominal_names == ("a", "b")
    else:
        assert not hasattr(model, "feature_names_in_")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_text_is_encoded_and_dates_are_refused_by_name(X, codes, library):
    frame = pd.DataFrame({"a": X[:, 0], "b": ["1", "2", "3"] * 30})
    dated = frame.assign(b=pd.Timestamp("2020-01-01"))
    if library == "polars":
        frame = polars().from_pandas(frame)
        dated = polars().from_pandas(dated)
    assert OrdinalClassifier().fit(frame, codes).results_.design.names == (
        "a",
        "b[T.2]",
        "b[T.3]",
    )
    with pytest.raises(DataError, match="'b'"):
        OrdinalClassifier().fit(dated, codes)
    batches = (
        OrdinalClassifier("prank")
        .partial_fit(frame, codes)
        .partial_fit(frame[:9], codes[:9])
    )
    numbers = np.column_stack([X[:, 0], np.eye(3)[[0, 1, 2] * 30, 1:]])
    plain = (
        OrdinalClassifier("prank")
        .partial_fit(numbers, codes)
        .partial_fit(numbers[:9], codes[:9])
    )
    np.testing.assert_array_equal(
        batches.decision_function(frame), plain.decision_function(numbers)
    )


#: Columns that hold two values, by what holds them.
HOLDERS = {
    "text": lambda values: pd.DataFrame(
        {"b": pd.Series(np.where(values, "u", "t"), dtype=object)}
    ),
    "booleans": lambda values: pd.DataFrame({"b": pd.Series(values, dtype=object)}),
    "nullable": lambda values: pd.DataFrame({"b": pd.Series(values, dtype="boolean")}),
    "category": lambda values: pd.DataFrame(
        {"b": pd.Categorical(np.where(values, "u", "t"))}
    ),
    "decimals": lambda values: pd.DataFrame(
        {"b": pd.Series([Decimal(int(value)) for value in values])}
    ),
    "array": lambda values: np.array(values, dtype=object)[:, None],
}


@pytest.mark.parametrize("gap", [None, np.nan, pd.NA])
@pytest.mark.parametrize("holder", HOLDERS)
@pytest.mark.parametrize("method", ["logit", "redsvm", "prank"])
def test_a_missing_value_is_missing_in_every_dtype(codes, holder, gap, method):
    whole = HOLDERS[holder](np.arange(90) % 2 == 1)
    holed = whole.copy()
    if isinstance(holed, pd.DataFrame):
        holed.iloc[4, 0] = gap
    else:
        holed[4, 0] = gap
    model = OrdinalClassifier(method).fit(whole, codes)
    asked = [
        lambda X: OrdinalClassifier(method).fit(X, codes),
        model.predict,
        model.decision_function,
    ]
    for ask in asked:
        with pytest.raises(DataError, match=r"'(b|x1)' \(1 row\)"):
            ask(holed)


@pytest.mark.parametrize("holder", HOLDERS)
def test_ordboost_keeps_missing_truth_values_as_missing(codes, holder):
    rows = np.arange(90)
    holed = HOLDERS[holder](codes > 0)
    numbers = np.where(rows % 3 == 1, np.nan, codes > 0)[:, None]
    if isinstance(holed, pd.DataFrame):
        holed.iloc[rows % 3 == 1, 0] = None
    else:
        holed[rows % 3 == 1, 0] = None
    model = OrdinalClassifier("ordboost").fit(holed, codes)
    plain = OrdinalClassifier("ordboost").fit(numbers, codes)
    np.testing.assert_allclose(
        model.predict_proba(holed), plain.predict_proba(numbers), rtol=0, atol=1e-9
    )


def test_masked_values_are_missing(X, codes):
    masked = np.ma.masked_array(X, mask=np.arange(180).reshape(90, 2) == 7)
    with missing_in("x2", 1):
        OrdinalClassifier().fit(masked, codes)
    with missing_in("x2", 1):
        OrdinalClassifier().fit(X, codes).predict(masked)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_missing_and_infinite_values_are_refused(X, codes, value):
    holed = X.copy()
    holed[3, 1] = value
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        OrdinalClassifier().fit(holed, codes)
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        OrdinalClassifier().fit(X, codes).predict(holed)


@pytest.mark.parametrize("method", ["logit", "redsvm"])
def test_sample_weight_counts_rows(X, codes, method):
    weight = np.random.default_rng(2).integers(1, 4, 90)
    model = OrdinalClassifier(method, tol=1e-9).fit(X, codes, sample_weight=weight)
    repeated = OrdinalClassifier(method, tol=1e-9).fit(
        X.repeat(weight, axis=0), codes.repeat(weight)
    )
    np.testing.assert_allclose(
        model.thresholds_,
        repeated.thresholds_,
        atol=1e-3 if method == "redsvm" else 1e-8,
    )
    assert model.results_.nobs == weight.sum()


# Parameters


@pytest.mark.parametrize("method", METHODS)
def test_get_params_lists_every_option(method):
    entry = METHODS[method]
    value = entry.method(**entry.preset)
    params = OrdinalClassifier(method).get_params()
    assert {"method", "levels", "random_state", *({"cost"} - set(entry.preset))} <= set(
        params
    )
    for name in set(params) - {
        "method",
        "levels",
        "random_state",
        "calibrate",
        "constraints",
        "random",
    }:
        assert params[name] == getattr(value, name)
    assert not set(params) & set(entry.preset)


def test_options_reach_the_method(X, codes):
    model = OrdinalClassifier("redsvm", C=3.0, kernel="gaussian", cost="squared").fit(
        X, codes
    )
    assert model.results_.method == REDSVM(C=3.0, kernel="gaussian", cost="squared")


def test_a_method_value_is_a_method(X, codes):
    model = OrdinalClassifier(CumulativeLink(link="probit")).fit(X, codes)
    np.testing.assert_array_equal(
        model.thresholds_, OrdinalClassifier("probit").fit(X, codes).thresholds_
    )
    with pytest.raises(OptionError, match="already carries its options"):
        OrdinalClassifier(REDSVM(), C=3).fit(X, codes)


def test_set_params_and_clone():
    model = OrdinalClassifier("redsvm", C=3.0)
    assert model.set_params(kernel="gaussian", random_state=7) is model
    assert clone(model).get_params() == model.get_params()
    assert model.get_params()["kernel"] == "gaussian"
    assert (
        repr(model)
        == "OrdinalClassifier('redsvm', random_state=7, C=3.0, kernel='gaussian')"
    )
    assert eval(repr(model)).get_params() == model.get_params()


def test_an_unknown_parameter_is_refused_with_the_known_ones():
    model = OrdinalClassifier("redsvm", C=3.0)
    before = model.get_params()
    with no_option("D", "method, levels, random_state, calibrate, constraints, C"):
        model.set_params(C=5.0, D=1)
    assert model.get_params() == before
    with no_option("D"):
        OrdinalClassifier("redsvm", D=1).fit([[0.0], [1.0]], [0, 1])
    with misspelt("redsvm", "redsmv"):
        OrdinalClassifier("redsmv").fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(OptionError, match=r"C of REDSVM"):
        OrdinalClassifier("redsvm", C=-1).fit([[0.0], [1.0]], [0, 1])


def test_another_method_forgets_the_options_it_does_not_have():
    model = clone(OrdinalClassifier("redsvm", C=3.0, cost="squared")).set_params(
        method="probit"
    )
    assert "C" not in model.get_params()
    assert model.get_params()["cost"] == "squared"  # both have it, and it was asked for
    assert (
        clone(OrdinalClassifier("redsvm"))
        .set_params(method="probit")
        .get_params()["cost"]
        == "classification"
    )


@pytest.mark.parametrize(
    "make",
    [lambda: 7, lambda: np.random.RandomState(7), lambda: np.random.default_rng(7)],
)
def test_random_state_fixes_the_answer(X, codes, make):
    chosen = [
        OrdinalClassifier("redsvm", C="cv", folds=3, random_state=make())
        .fit(X, codes)
        .thresholds_
        for _ in range(2)
    ]
    np.testing.assert_array_equal(*chosen)


# Inside scikit-learn's tools


def test_pipeline_and_grid_search(X, strings):
    pipe = make_pipeline(StandardScaler(), OrdinalClassifier("redsvm", levels=LEVELS))
    grid = [
        {
            "ordinalclassifier__C": [0.01, 1.0],
            "ordinalclassifier__kernel": ["linear", "gaussian"],
        },
        {"ordinalclassifier__method": ["logit", "probit"]},
        {"ordinalclassifier__method": [REDSVM(C=0.1)]},
    ]
    search = GridSearchCV(pipe, grid, cv=3, error_score="raise").fit(X, strings)
    assert len(search.cv_results_["params"]) == 7
    assert search.best_score_ > 0.6
    assert search.best_estimator_[-1].results_.nobs == 90
    assert set(search.predict(X)) <= set(LEVELS)


def test_set_output_and_named_columns(X, codes):
    wine = datasets.load("wine")
    encode = make_column_transformer(
        (OneHotEncoder(drop="first", sparse_output=False), ["temp", "contact"])
    )
    pipe = (
        make_pipeline(encode, OrdinalClassifier())
        .set_output(transform="pandas")
        .fit(wine, wine["rating"])
    )
    fit = ordfit("rating ~ temp + contact", wine)
    np.testing.assert_allclose(pipe[-1].coef_, fit.coef, rtol=1e-9)
    assert pipe[-1].results_.design.names == (
        "onehotencoder__temp_warm",
        "onehotencoder__contact_yes",
    )
    assert pipe.predict(wine).tolist() == fit.predict().tolist()
    assert pipe.score(wine, wine["rating"]) == (fit.predict() == wine["rating"]).mean()


@pytest.mark.parametrize("method", one_of_each(MANY))
def test_cross_validation_of_strings(X, strings, method):
    ordered = pd.Series(pd.Categorical(strings, categories=LEVELS, ordered=True))
    folds = StratifiedKFold(3)
    model = classifier(method)
    judged = cross_validate(
        model.set_params(levels=LEVELS), X, strings, cv=folds, return_estimator=True
    )
    by_category = cross_val_predict(
        clone(model).set_params(levels=None), X, ordered, cv=folds
    )
    by_levels, by_hand = np.empty((2, 90), dtype=object)
    for one, (train, test) in zip(
        judged["estimator"], folds.split(X, strings), strict=True
    ):
        by_levels[test] = one.predict(X[test])
        by_hand[test] = (
            classifier(method, levels=LEVELS)
            .fit(X[train], strings[train])
            .predict(X[test])
        )
    assert by_levels.tolist() == by_category.tolist() == by_hand.tolist()
    assert judged["test_score"].mean() == pytest.approx(
        (by_hand == strings).mean(), abs=1e-12
    )


def test_labels_replaced_by_sorted_codes_are_noticed(X, codes, strings):
    with pytest.raises(
        DataError,
        match=r"not among the levels.*cross_val_predict of probabilities.*integers",
    ):
        cross_val_predict(
            OrdinalClassifier(levels=LEVELS), X, strings, cv=3, method="predict_proba"
        )
    by_code = cross_val_predict(
        OrdinalClassifier(), X, codes, cv=3, method="predict_proba"
    )
    assert log_loss(codes, by_code) < log_loss(
        codes, np.tile(np.bincount(codes) / 90, (90, 1))
    )


def test_scorer_of_ranks(X, strings):
    scorer = make_scorer(
        mean_absolute_rank_error, greater_is_better=False, labels=LEVELS
    )
    model = OrdinalClassifier(levels=LEVELS).fit(X, strings)
    error = np.mean(
        [
            abs(CODES[a] - CODES[b])
            for a, b in zip(strings, model.predict(X), strict=True)
        ]
    )
    assert scorer(model, X, strings) == pytest.approx(-error)
    assert mean_absolute_rank_error([10, 20, 50], [10, 10, 10]) == 1.0
    ordered = pd.Series(pd.Categorical(strings, categories=LEVELS, ordered=True))
    assert mean_absolute_rank_error(ordered, model.predict(X)) == pytest.approx(error)


def test_precomputed_kernels_are_sliced_on_both_sides(X, codes):
    from ordstat import Linear

    gram = X @ X.T
    precomputed = OrdinalClassifier(
        "redsvm", kernel="precomputed", scaling=None, tol=1e-8
    )
    direct = OrdinalClassifier("redsvm", kernel=Linear(), scaling=None, tol=1e-8)
    assert precomputed.__sklearn_tags__().input_tags.pairwise
    assert not direct.__sklearn_tags__().input_tags.pairwise
    scores = [
        cross_val_predict(m, Z, codes, cv=3)
        for m, Z in ((precomputed, gram), (direct, X))
    ]
    assert scores[0].tolist() == scores[1].tolist()


def test_only_probability_models_have_probabilities(X, codes):
    assert hasattr(OrdinalClassifier("logit"), "predict_proba")
    svm = OrdinalClassifier("redsvm").fit(X, codes)
    with pytest.raises(AttributeError, match="predict_proba"):
        svm.predict_proba(X)
    assert not hasattr(OrdinalClassifier(REDSVM()), "predict_proba")


def test_two_classes_equal_logistic_regression(X, codes):
    y = codes > 0
    model = OrdinalClassifier().fit(X, y)
    other = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(X, y)
    np.testing.assert_allclose(model.coef_, other.coef_[0], rtol=1e-4)
    np.testing.assert_allclose(
        model.predict_proba(X), other.predict_proba(X), atol=1e-5
    )


@pytest.mark.parametrize("method", one_of_each(MANY))
def test_pickle(X, references, method):
    model = references(method)
    twin = pickle.loads(pickle.dumps(model))
    whole = np.round(10 * X)
    assert twin.predict(whole).tolist() == model.predict(whole).tolist()
    assert twin.get_params() == model.get_params()
    assert str(twin.results_.summary()) == str(model.results_.summary())


def test_two_columns_of_one_name() -> None:
    X = pd.DataFrame(
        np.random.default_rng(0).normal(size=(30, 3)), columns=["a", "b", "a"]
    )
    with pytest.raises(
        DataError, match="2 columns named 'a', needed for X; rename all but one"
    ):
        OrdinalClassifier("logit").fit(X, np.arange(30) % 3)


def test_coefficients_of_separated_rows_are_those_that_predict() -> None:
    """Finite, where the search stopped, as predictions go by them; `results_` has the
    infinite estimates.
    """
    X = np.arange(12.0)[:, None]
    y = np.repeat([1, 2, 3], 4)
    with pytest.warns(SeparationWarning):
        model = OrdinalClassifier("logit").fit(X, y)
    assert np.isposinf(model.results_.coef).all() and np.isfinite(model.coef_).all()
    score = X @ model.coef_
    np.testing.assert_array_equal(
        1 + (score[:, None] > model.thresholds_).sum(axis=1), model.predict(X)
    )


@pytest.mark.parametrize("method", ["logit", "prank"])
@pytest.mark.parametrize("dtype", [">i4", ">f8", "f2", ">U1"])
def test_labels_of_other_number_types(method, dtype):
    """Labels in the other byte order, or of half precision, give the fit of the same
    labels in the usual one.
    """
    rng = np.random.default_rng(4)
    x = rng.normal(size=(60, 1))
    y = np.digitize(x[:, 0] + rng.normal(size=60), [-0.5, 0.5])
    usual = OrdinalClassifier(
        method, levels=["0", "1", "2"] if dtype == ">U1" else None
    )
    other = clone(usual).fit(x.astype(">f8"), y.astype(dtype))
    usual.fit(x, y.astype(str) if dtype == ">U1" else y)
    assert other.predict(x).tolist() == usual.predict(x).tolist()
    assert other.classes_.dtype.isnative


def test_labels_of_bytes_are_refused():
    with pytest.raises(
        DataError,
        match=r"y must hold numbers, booleans or text; got bytes. Use y.astype\(str\)",
    ):
        OrdinalClassifier().fit(np.arange(6.0)[:, None], np.array([b"a", b"b"] * 3))


@pytest.mark.parametrize(
    ("labels", "kinds"),
    [
        (["a", "b", None], "NoneType or str"),
        ([1, "b", 2], "int or str"),
        ([b"a", b"b", b"c"], "bytes"),
        ([Decimal(1), Decimal(2), Decimal(3)], "Decimal"),
    ],
)
def test_labels_that_are_objects_are_refused_by_their_type(labels, kinds):
    y = np.array(labels * 2, dtype=object)
    with pytest.raises(DataError, match=f"of type {kinds}. y must hold"):
        OrdinalClassifier().fit(np.arange(6.0)[:, None], y)


@pytest.mark.parametrize("path", ["answers.csv", Path("answers.csv")])
def test_a_csv_path_says_how_to_read_it(path):
    memory = "rows in memory"
    parquet = "rows in memory or a Parquet file"
    got = r"; got 'answers.csv'. Read it: pandas.read_csv\('answers.csv'\)"
    fit = ordfit("rating ~ temp", datasets.load("wine"))
    for method in ("clm", "redsvm"):
        with pytest.raises(DataError, match=f"data must be {parquet}{got}"):
            ordfit("y ~ x", path, method)
    calls = [
        lambda: compare("y ~ x", path, methods=["logit"], cv=2),
        lambda: fit.predict(path),
        lambda: fit.errors(path),
        lambda: OrdinalClassifier().fit(path, [1, 2]),
    ]
    for call in calls:
        with pytest.raises(DataError, match=f"(data|X) must be {memory}{got}"):
            call()


def _masked(values, place):
    return np.ma.masked_array(values, mask=np.arange(len(values)) == place)


@pytest.mark.parametrize("method", ["logit", "redsvm", "cart"])
@pytest.mark.parametrize("masked", [0, 1, 2])
@pytest.mark.parametrize("labels", [[0, 1, 2], ["low", "mid", "top"]])
def test_a_label_of_rows_of_weight_0_alone_is_left_out_as_by_ordfit(
    X, codes, method, masked, labels
):
    y = pd.Series(pd.Categorical.from_codes(codes, labels, ordered=True))
    weights = np.where(codes == masked, 0.0, 1.0)
    with pytest.warns(
        DataWarning,
        match=f"without rows of positive weight were left out: {labels[masked]!r}",
    ):
        model = OrdinalClassifier(method).fit(X, y, sample_weight=weights)
    used = weights > 0
    alone = OrdinalClassifier(method).fit(X[used], y[used], sample_weight=weights[used])
    assert list(model.classes_) == sorted(set(y[used]))
    assert list(model.predict(X)) == list(alone.predict(X))


def test_masked_labels_and_weights_are_refused(X, codes):
    weights = _masked(np.ones(90), 4)
    hidden = _masked(
        np.where(np.arange(90) == 4, 9, codes), 4
    )  # the value below the mask is no label
    with refused("y", "1 masked of 90", error=DataError):
        OrdinalClassifier().fit(X, hidden)
    with refused("sample_weight", "1 masked of 90", error=DataError):
        OrdinalClassifier().fit(X, codes, sample_weight=weights)
    with refused("y", error=DataError):
        OrdinalClassifier("cusum").partial_fit(X, codes).partial_fit(X, hidden)
    with refused("y_true", error=DataError):
        mean_absolute_rank_error(hidden, codes)
    model = OrdinalClassifier().fit(X, codes)
    with refused("y", "1 masked of 90", error=DataError):
        model.score(X, hidden)
    with refused("sample_weight", "1 masked of 90", error=DataError):
        model.score(X, codes, sample_weight=weights)


def test_the_score_is_the_share_of_right_labels(X, codes):
    model = OrdinalClassifier().fit(X, codes)
    right = model.predict(X) == codes
    weights = np.arange(90.0)
    assert model.score(X, codes) == pytest.approx(right.mean(), rel=1e-12)
    assert model.score(X, codes, weights) == pytest.approx(
        weights[right].sum() / weights.sum(), rel=1e-12
    )


#: Calls with an argument of the wrong kind, and what the error names.
ODD = {
    "weights text": (
        lambda X, y: OrdinalClassifier().fit(X, y, ["a"] * 90),
        "sample_weight must be one number",
    ),
    "weights mapping": (
        lambda X, y: OrdinalClassifier().fit(X, y, {}),
        "sample_weight must be one number",
    ),
    "weights few": (
        lambda X, y: OrdinalClassifier().fit(X, y, np.ones(2)),
        "sample_weight must be one number",
    ),
    "no classes": (
        lambda X, y: OrdinalClassifier("prank").partial_fit(X, y, []),
        "classes must list the labels",
    ),
    "mapping": (
        lambda X, y: OrdinalClassifier("prank").partial_fit(X, y, {0: 1}),
        "classes must list the labels",
    ),
    "scalar": (
        lambda X, y: mean_absolute_rank_error(3, y),
        "y_true must have one label for each row",
    ),
    "empty": (
        lambda X, y: mean_absolute_rank_error([], []),
        "y_true must have one label for each row",
    ),
    "lengths": (
        lambda X, y: mean_absolute_rank_error(y, y[:3]),
        "y_pred must have one label for each row",
    ),
    "table": (
        lambda X, y: mean_absolute_rank_error(X, y),
        "y_true must have one label for each row",
    ),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_arguments_are_refused_by_name(name, X, codes):
    call, message = ODD[name]
    with pytest.raises((DataError, OptionError), match=message):
        call(X, codes)


def test_masked_arrays_without_a_masked_value_are_plain(X, codes):
    plain = OrdinalClassifier().fit(X, codes)
    masked = OrdinalClassifier().fit(
        np.ma.masked_array(X),
        _masked(codes, -1),
        sample_weight=_masked(np.ones(90), -1),
    )
    assert_allclose(masked.coef_, plain.coef_, rtol=1e-10)


@pytest.mark.parametrize(("code", "last"), [(99, 3), (9, 5), (-9, 4)])
def test_codes_of_missing_answers_among_the_labels_are_told(code, last):
    y = np.tile(np.arange(1, last + 1), 20)
    X = np.random.default_rng(last).normal(size=(y.size, 1))
    y[:4] = code
    with pytest.warns(
        DataWarning, match=f"y has the level {code} in 4 rows, far from the others"
    ):
        OrdinalClassifier().fit(X, y)
    OrdinalClassifier(levels=sorted({*y.tolist()})).fit(
        X, y
    )  # no warning: warnings are errors


@pytest.mark.parametrize("stars", [[0.5, 1.0, 1.5, 2.0], [1.0, 1.25, 1.5]])
def test_labels_that_are_not_whole_need_levels(stars):
    y = np.tile(stars, 20)
    X = np.random.default_rng(1).normal(size=(y.size, 1)) + y[:, None]
    with pytest.raises(
        DataError,
        match=(
            rf"^Unknown label type: continuous.* y has {len(stars)} different"
            r" .*levels=\["
        ),
    ):
        OrdinalClassifier().fit(X, y)
    model = OrdinalClassifier(levels=stars).fit(X, y)
    ranks = OrdinalClassifier().fit(X, np.searchsorted(stars, y))
    assert_allclose(model.coef_, ranks.coef_, rtol=1e-10)
    assert set(model.predict(X)) <= set(stars)

"""Classifiers of scikit-learn, LightGBM, XGBoost and CatBoost as methods, bases and
members.
"""

import pickle

import numpy as np
import pandas as pd
import pytest
from seams import Rows, Sample
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from ordstat import (
    Blend,
    CostTransform,
    DataError,
    NominalClassifier,
    OneVersusAll,
    OneVersusOne,
    OptionError,
    Reduction,
    load,
    ordfit,
)
from ordstat.formula.scaling import fit_scaling
from ordstat.prediction.blend import member
from ordstat.reduction import classifiers

#: Package, class and settings that make 20 small trees.
MAKERS = {
    "lightgbm": (
        "LGBMClassifier",
        {"n_estimators": 20, "min_child_samples": 5, "n_jobs": 1},
    ),
    "xgboost": ("XGBClassifier", {"n_estimators": 20, "max_depth": 3, "n_jobs": 1}),
    "catboost": (
        "CatBoostClassifier",
        {"iterations": 20, "depth": 3, "thread_count": 1, "random_seed": 5},
    ),
}
LEVELS = ["low", "middle", "high", "top"]  # not in the order of the alphabet


def made(package, **more):
    name, settings = MAKERS[package]
    module = pytest.importorskip(
        package, reason=f"{package} is optional: pip install {package}"
    )
    return getattr(module, name)(**settings, **more)


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(160, 2))
    codes = np.digitize(
        np.sin(2 * x[:, 0]) + x[:, 1] + 0.4 * rng.logistic(size=160), [-0.8, 0.2, 1.0]
    )
    y = pd.Categorical.from_codes(codes, LEVELS, ordered=True)
    return pd.DataFrame(x, columns=list("ab")).assign(y=y, w=rng.integers(1, 3, 160))


def own(model, frame, columns=("a", "b")):
    """P(y = k) of a classifier without ordstat, in the order of the levels."""
    X = frame[list(columns)].to_numpy()
    codes = frame["y"].cat.codes.to_numpy()
    return np.asarray(clone(model).fit(X, codes).predict_proba(X), dtype=np.float64)


@pytest.mark.parametrize(
    "model",
    [GaussianNB(), KNeighborsClassifier(5), LogisticRegression(C=0.3)],
    ids=repr,
)
def test_probabilities_are_those_of_the_classifier(frame, model):
    fit = ordfit("y ~ a + b", frame, NominalClassifier(base=model, scaling=None))
    predicted = fit.predict(type="prob")
    assert predicted.columns.tolist() == LEVELS
    # rows in another order
    np.testing.assert_allclose(predicted, own(model, frame), atol=2e-4)


@pytest.mark.parametrize("package", MAKERS)
def test_other_packages(frame, package, capfd, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = made(package)
    settings = model.get_params()
    fit = ordfit("y ~ a + b", frame, NominalClassifier(base=model, scaling=None))
    predicted = fit.predict(type="prob")
    assert predicted.columns.tolist() == LEVELS
    np.testing.assert_allclose(predicted.sum(axis=1), 1.0, atol=1e-12)
    ordered = frame.sort_values(["y", "a", "b"])  # the order that rows are given in
    quiet = classifiers.copied(model, np.random.default_rng(0))
    # single precision
    np.testing.assert_allclose(
        predicted.loc[ordered.index], own(quiet, ordered), atol=1e-6
    )
    assert fit.errors().loc["absolute error", "training"] < 0.4
    assert model.get_params() == settings and "classes_" not in vars(model)
    printed = capfd.readouterr()
    assert not printed.out and not printed.err and not list(tmp_path.iterdir())


@pytest.mark.parametrize("encoding", ["separate", "ordinal"])
@pytest.mark.parametrize("package", MAKERS)
def test_bases_of_the_reduction(frame, package, encoding):
    fit = ordfit(
        "y ~ a + b",
        frame,
        Reduction(base=made(package), encoding=encoding, scaling=None),
    )
    p = fit.predict(type="prob").to_numpy()
    np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-12)
    assert (p > -1e-12).all() and fit.errors().loc["absolute error", "training"] < 0.5


@pytest.mark.parametrize("package", MAKERS)
def test_one_model_a_threshold_is_that_of_the_package(frame, package):
    model = made(package)
    fit = ordfit(
        "y ~ a + b", frame, Reduction(base=model, encoding="separate", scaling=None)
    )
    codes = frame["y"].cat.codes.to_numpy()
    order = np.lexsort([frame["b"], frame["a"], codes])
    X = frame[["a", "b"]].to_numpy()[order]
    new = frame[["a", "b"]].to_numpy()
    quiet = classifiers.copied(model, np.random.default_rng(0))
    one = [
        clone(quiet).fit(X, codes[order] > k).predict_proba(new)[:, 1] for k in range(3)
    ]
    above = -np.sort(-np.column_stack(one), axis=1)
    actual = 1.0 - fit.predict(type="cum_prob").to_numpy()[:, :-1]
    np.testing.assert_allclose(actual, above, atol=1e-6)


@pytest.mark.parametrize("package", MAKERS)
def test_members_of_a_blend(frame, package):
    model = made(package)
    fit = ordfit("y ~ a + b", frame, "blend", members=["logit", model])
    methods = ("logit", NominalClassifier(base=model))
    alone = [
        ordfit("y ~ a + b", frame, method).predict(type="prob") for method in methods
    ]
    np.testing.assert_allclose(
        fit.predict(type="prob"), (alone[0] + alone[1]) / 2, atol=1e-9
    )
    assert fit.members["weight"].tolist() == [0.5, 0.5]


def test_a_classifier_stands_for_the_method():
    forest = RandomForestClassifier(n_estimators=7)
    assert member("members", forest, Blend()) == NominalClassifier(base=forest)


def test_stacked_with_a_classifier(frame):
    fit = ordfit(
        "y ~ a + b", frame, "blend", members=["logit", GaussianNB()], average="stacked"
    )
    assert fit.members["weight"].iloc[:2].sum() == pytest.approx(1.0)


def test_a_weight_is_that_many_rows(frame):
    repeated = frame.loc[np.repeat(frame.index, frame["w"])]
    for model in (
        LogisticRegression(),
        KNeighborsClassifier(5),
        RandomForestClassifier(10, random_state=1),
    ):
        method = NominalClassifier(base=model)
        weighted = ordfit("y ~ a + b", frame, method, weights="w").predict(
            frame, type="prob"
        )
        np.testing.assert_allclose(
            weighted, ordfit("y ~ a + b", repeated, method).predict(frame, type="prob")
        )


@pytest.mark.parametrize("cost", ["absolute", "classification", "squared"])
def test_predictions_are_of_least_expected_cost(frame, cost):
    fit = ordfit("y ~ a + b", frame, NominalClassifier(base=GaussianNB(), cost=cost))
    p = fit.predict(type="prob").to_numpy()
    k = np.arange(4)
    matrix = {
        "absolute": abs(k[:, None] - k),
        "classification": k[:, None] != k,
        "squared": (k[:, None] - k) ** 2,
    }
    assert (
        fit.predict().cat.codes.tolist() == (p @ matrix[cost]).argmin(axis=1).tolist()
    )


def test_a_code_that_no_row_has():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    y = np.array([0, 0, 3, 3])
    fit = NominalClassifier(base=GaussianNB()).fit(
        Sample(rows=Rows(X=X), y=y, n_levels=5), np.random.default_rng(0)
    )
    above = fit.rule.above(Rows(X=X))
    assert fit.certificate.reached and (above[:, 3] == 0).all()
    np.testing.assert_array_equal(above[:, 0], above[:, 2])
    np.testing.assert_allclose(
        above[:, 0],
        GaussianNB().fit(X / 1.5 - 1.0, y).predict_proba(X / 1.5 - 1.0)[:, 1],
    )


def test_a_classifier_that_only_answers(frame):
    """No decision function and no probabilities: its answers are the scores."""

    class Sign(ClassifierMixin, BaseEstimator):
        def fit(self, X, y, sample_weight=None):
            self.classes_ = np.unique(y)
            return self

        def predict(self, X):
            return self.classes_[(X[:, 1] > 0).astype(int)]

    fit = ordfit(
        "y ~ a + b", frame, Reduction(base=Sign(), encoding="separate", scaling=None)
    )
    expected = np.where(frame["b"].to_numpy()[:, None] > 0, [1.0] * 3, [-1.0] * 3)
    assert fit.fit.rule.gaps(fit.design.sample.rows).tolist() == expected.tolist()


@pytest.mark.parametrize(
    "method, options, words",
    [
        (
            "nominal-classifier",
            {"base": "lightgbm"},
            "or a classifier with predict_proba such as LGBMClassifier",
        ),
        ("nominal-classifier", {"base": GaussianNB}, "got <class"),
        (
            "nominal-classifier",
            {"base": LinearSVC()},
            "LinearSVC, must have predict_proba",
        ),
        ("blend", {"members": [GaussianNB]}, "got <class"),
        ("blend", {"members": [LinearSVC()]}, "must have predict_proba"),
        (
            "orboost-lr",
            {"learner": KNeighborsClassifier()},
            "must accept sample_weight in fit",
        ),
    ],
)
def test_what_is_no_classifier(frame, method, options, words):
    with pytest.raises(OptionError, match=words):
        ordfit("y ~ a + b", frame, method, **options)


def test_weights_that_are_no_counts_need_a_classifier_that_takes_weights(frame):
    with pytest.raises(
        DataError, match="KNeighborsClassifier must accept sample_weight"
    ):
        ordfit(
            "y ~ a + b",
            frame.assign(w=frame["w"] / 3),
            NominalClassifier(base=KNeighborsClassifier()),
            weights="w",
        )


UNWEIGHTED = {
    "pipeline": lambda: make_pipeline(StandardScaler(), LogisticRegression()),
    "grid": lambda: GridSearchCV(
        make_pipeline(LogisticRegression()), {"logisticregression__C": [0.1, 1.0]}, cv=3
    ),
    "neighbours": lambda: KNeighborsClassifier(5),
    "discriminant": LinearDiscriminantAnalysis,
}


@pytest.mark.parametrize("name", UNWEIGHTED)
def test_classifiers_without_weights_answer_where_examples_weigh_the_same(frame, name):
    method = Reduction(base=UNWEIGHTED[name](), encoding="separate", scaling=None)
    fit = ordfit("y ~ a + b", frame, method)
    # The rows as the classifier gets them: sorted by level, then by the columns.
    codes = frame["y"].cat.codes.to_numpy()
    X = frame[["a", "b"]].to_numpy()
    order = np.lexsort([X[:, 1], X[:, 0], codes])
    above = [
        UNWEIGHTED[name]().fit(X[order], codes[order] > k).predict_proba(X)[:, 1] > 0.5
        for k in range(codes.max())
    ]
    np.testing.assert_array_equal(fit.predict().cat.codes, np.sum(above, axis=0))


def test_classifiers_without_weights_are_refused_where_examples_differ(frame):
    for arguments in ({"cost": "squared"}, {"weights": "w"}):
        method = Reduction(
            base=KNeighborsClassifier(),
            **{k: v for k, v in arguments.items() if k == "cost"},
        )
        data = frame.assign(w=frame["w"] / 3)
        weights = {k: v for k, v in arguments.items() if k == "weights"}
        with pytest.raises(
            DataError, match="KNeighborsClassifier must accept sample_weight in fit"
        ):
            ordfit("y ~ a + b", data, method, **weights)
    assert (
        ordfit(
            "y ~ a + b", frame, Reduction(base=KNeighborsClassifier()), weights="w"
        ).nobs
        == frame["w"].sum()
    )


@pytest.mark.parametrize("method", [OneVersusAll, OneVersusOne, CostTransform])
def test_the_cost_that_is_advised_needs_no_weights(method, frame):
    with pytest.raises(DataError, match="or cost='classification'"):
        ordfit("y ~ a + b", frame, method(base=KNeighborsClassifier()))
    fit = ordfit(
        "y ~ a + b", frame, method(base=KNeighborsClassifier(), cost="classification")
    )
    assert set(fit.predict(frame)) <= set(fit.levels)


@pytest.mark.parametrize(
    "method", [NominalClassifier(), Reduction(base="hgb"), Blend()], ids=repr
)
def test_missing_values_are_refused(frame, method):
    with pytest.raises(OptionError, match="takes no missing values"):
        ordfit("y ~ a + b", frame.assign(a=np.nan), method, na_action="keep")


def test_scaling_learns_from_the_values_that_are_there():
    X = np.array([[0.0, 1.0, np.nan], [np.nan, 3.0, np.nan], [4.0, np.nan, np.nan]])
    w = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(
        fit_scaling("range", X, w)(X)[:, :2], [[-1, -1], [np.nan, 1], [1, np.nan]]
    )
    mean = 3.0
    deviation = np.sqrt((1 * 9 + 3 * 1) / 4)
    actual = fit_scaling("standard", X, w)(X)
    np.testing.assert_allclose(
        actual[:, 0], [(0 - mean) / deviation, np.nan, (4 - mean) / deviation]
    )
    assert np.isnan(actual[:, 2]).all()


@pytest.mark.parametrize("package", MAKERS)
def test_a_classifier_is_written_on_one_line(package):
    model = made(package)
    method = NominalClassifier(base=model)
    text = repr(method)
    assert "\n" not in text and "None" not in text and len(text) < 200
    names = {type(model).__name__: type(model), "NominalClassifier": NominalClassifier}
    assert eval(text, names).base.get_params() == model.get_params()


@pytest.mark.parametrize("base", sorted(set(classifiers.NOMINAL) - {"hgb"}))
def test_named_bases_go_through_files(frame, base, tmp_path):
    fit = ordfit("y ~ a + b", frame, "nominal-classifier", base=base)
    fit.save(tmp_path / "fit.ordstat")
    again = load(tmp_path / "fit.ordstat")
    np.testing.assert_array_equal(
        again.predict(frame, type="prob"), fit.predict(frame, type="prob")
    )
    assert again.method == fit.method


def test_what_no_file_holds_is_named(frame, tmp_path):
    for base, name in (
        ("hgb", "HistGradientBoostingClassifier"),
        (KNeighborsClassifier(), "KNeighborsClassifier"),
    ):
        fit = ordfit("y ~ a + b", frame, NominalClassifier(base=base))
        with pytest.raises(OptionError, match=f"save cannot put {name}"):
            fit.save(tmp_path / "fit.ordstat")
    assert (pickle.loads(pickle.dumps(fit)).predict(frame) == fit.predict()).all()

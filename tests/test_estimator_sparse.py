"""OrdinalClassifier with sparse matrices: what takes them, what refuses them, and
scikit-learn's tools around it.
"""

import pickle

import numpy as np
import pytest
from expected import dense_needed
from light_options import classifier
from scipy.sparse import coo_array, csc_matrix, csr_array
from seams import METHODS
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks

from ordstat import DataError, ElasticNet, OrdinalClassifier, load

WORDS = {0: "poor cold late", 1: "fair plain slow", 2: "great warm fast"}
COMMON = ["the", "food", "and", "staff", "of", "this", "place", "were"]


def reviews(n: int = 90, seed: int = 0) -> tuple[list[str], np.ndarray]:
    """Short texts, a third of each rating, with two words that tell of it."""
    rng = np.random.default_rng(seed)
    stars = np.arange(n) % 3
    texts = []
    for star in stars:
        telling = rng.choice(WORDS[int(star)].split(), 2)
        texts.append(" ".join([*rng.choice(COMMON, 5), *telling]))
    return texts, stars + 1


TEXTS, STARS = reviews()
DENSE = TfidfVectorizer().fit_transform(TEXTS).toarray()
SPARSE = csr_array(DENSE)
RIDGE = OrdinalClassifier("logit", penalty=1.0)


@pytest.mark.parametrize("method", METHODS)
def test_methods_that_need_dense_columns_say_so(method):
    model = classifier(method)
    if model.__sklearn_tags__().input_tags.sparse:
        fitted = model.fit(SPARSE, STARS)
        assert fitted.predict(SPARSE).shape == STARS.shape
        return
    with dense_needed(f"method '{method}'"):
        model.fit(SPARSE, STARS)


def test_a_matrix_too_large_to_fill_is_refused_before_it_is():
    ends = np.zeros(10**6 + 1, dtype=np.int64)
    huge = csr_array((np.zeros(0), np.zeros(0, dtype=np.int64), ends), (10**6, 10**6))
    with pytest.raises(DataError, match=r"do not fit into the .* MiB that are free"):
        OrdinalClassifier("cart").fit(huge, np.arange(10**6) % 3)


def test_what_needs_dense_columns_beside_the_method():
    with dense_needed("calibrate="):
        OrdinalClassifier("svor-imc", calibrate=True).fit(SPARSE, STARS)
    with dense_needed("this fit"):
        OrdinalClassifier("logit", penalty=1.0).fit(DENSE, STARS).predict(SPARSE)
    with pytest.raises(DataError, match=r"penalty=1\.0 or penalty=ElasticNet"):
        OrdinalClassifier("logit").fit(SPARSE, STARS)
    with dense_needed():
        OrdinalClassifier("cart").fit(coo_array(np.ones(90)), STARS)


@pytest.mark.parametrize("kind", [csr_array, csc_matrix, coo_array, np.asarray])
def test_all_kinds_of_matrices_are_predicted_alike(kind):
    model = clone(RIDGE).fit(SPARSE, STARS)
    expected = model.predict_proba(SPARSE)
    np.testing.assert_array_equal(model.predict_proba(kind(DENSE)), expected)
    np.testing.assert_array_equal(
        clone(RIDGE).fit(kind(DENSE), STARS).predict(kind(DENSE)),
        model.predict(SPARSE),
    )


@pytest.mark.filterwarnings("ignore::ordstat.DataWarning")  # words without rows
def test_rows_of_weight_0_and_levels_without_rows():
    weights = np.ones(STARS.size)
    weights[STARS == 2] = 0.0
    model = OrdinalClassifier("logit", levels=[1, 2, 3], penalty=1.0)
    sparse = model.fit(SPARSE, STARS, weights).predict_proba(SPARSE)
    dense = model.set_params(tol=1e-11).fit(DENSE, STARS, weights).predict_proba(DENSE)
    np.testing.assert_allclose(sparse, dense, atol=1e-8)
    assert not sparse[:, 1].any()


def test_another_number_of_columns_is_refused():
    model = clone(RIDGE).fit(SPARSE, STARS)
    with pytest.raises(DataError, match="features"):
        model.predict(csr_array(DENSE[:, 1:]))
    with pytest.raises(DataError, match=rf"the {DENSE.shape[1]} columns of the fit"):
        model.results_.predict(csr_array(DENSE[:, 1:]))


def test_complex_numbers_are_refused_without_the_matrix():
    for X in (SPARSE, DENSE):
        with pytest.raises(
            DataError, match=r"^Complex data not supported: X must hold"
        ):
            clone(RIDGE).fit(X * 1j, STARS)


def test_texts_in_a_pipeline():
    pipeline = make_pipeline(TfidfVectorizer(), clone(RIDGE))
    scores = cross_val_score(pipeline, TEXTS, STARS, cv=3)
    assert scores.mean() > 0.9
    search = GridSearchCV(pipeline, {"ordinalclassifier__penalty": [0.1, 10.0]}, cv=3)
    assert search.fit(TEXTS, STARS).predict(["great warm food"]).tolist() == [3]


def test_constraints_bound_effects():
    net = ElasticNet(l1_ratio=0.5, lambdas=0.02)
    free = OrdinalClassifier("logit", penalty=net).fit(SPARSE, STARS)
    name = f"x{int(np.argmax(free.coef_)) + 1}"
    bound = clone(free).set_params(constraints={name: "-"}).fit(SPARSE, STARS)
    assert bound.coef_[np.argmax(free.coef_)] == 0.0
    assert bound.coef_.any()


def test_saved_and_pickled_fits_predict_the_same(tmp_path):
    model = clone(RIDGE).fit(SPARSE, STARS)
    expected = model.predict_proba(SPARSE)
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(model)).predict_proba(SPARSE), expected
    )
    model.results_.save(tmp_path / "texts.ordstat")
    loaded = load(tmp_path / "texts.ordstat")
    np.testing.assert_array_equal(loaded.predict(SPARSE, type="prob"), expected)
    assert str(loaded.summary()) == str(model.results_.summary())


def test_reports_and_questions_about_columns(tmp_path):
    fit = clone(RIDGE).fit(SPARSE, STARS).results_
    fit.report(tmp_path / "texts.html")
    assert "Log-likelihood" in (tmp_path / "texts.html").read_text(encoding="utf-8")
    with dense_needed():
        fit.model_matrix()


@pytest.mark.parametrize(
    "check",
    [
        estimator_checks.check_estimator_sparse_tag,
        estimator_checks.check_estimator_sparse_array,
        estimator_checks.check_estimator_sparse_matrix,
        estimator_checks.check_sample_weight_equivalence_on_sparse_data,
    ],
)
@pytest.mark.filterwarnings("ignore::ordstat.DataWarning")  # columns without rows
def test_checks_of_scikit_learn_with_sparse_data(check):
    check("OrdinalClassifier", clone(RIDGE))

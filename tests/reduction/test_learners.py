"""Binary learners: support vector machines against LIBSVM, scikit-learn's classifiers
against themselves.
"""

import numpy as np
import pytest
from expected import not_definite
from seams import Rows
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from ordstat import Gaussian, OptionError
from ordstat.kernels import KERNELS, Custom
from ordstat.reduction.classifiers import Classifier, parse_base
from ordstat.reduction.learners import Binary
from ordstat.svm.learner import SVM

from .problems import blobs

# LIBSVM stops at this violation of its optimality conditions; at C = 50 its scores are
# then right to ATOL, and those of its free support vectors off 1 by as much.
LIBSVM_TOL = 1e-8
ATOL = 2e-4


def _problem(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = blobs(2, n, seed, spread=2.0).X
    z = np.where(np.arange(n) % 2, 1.0, -1.0)
    return X, z, rng.integers(1, 4, n) / 2.0


def _libsvm(gram, z, w, C):
    # with shrinking it takes seconds for a large C and a linear kernel
    model = SVC(kernel="precomputed", C=C, tol=LIBSVM_TOL, shrinking=False)
    return model.fit(gram, z, sample_weight=w)


@pytest.mark.parametrize("C", [0.01, 1.0, 50.0])
@pytest.mark.parametrize("kernel", ["perceptron", "stump", "gaussian", "linear"])
def test_svm_is_libsvm(kernel, C):
    X, z, w = _problem()
    kernel = KERNELS[kernel]()
    learned = SVM(kernel=kernel, C=C, scaling=None, tol=1e-10).fit(
        X, z, w, np.random.default_rng(0)
    )
    other = _libsvm(kernel(X, X), z, w, C)
    new = np.random.default_rng(1).normal(0, 2, (30, 2))
    np.testing.assert_allclose(
        learned.scores[:, 0], other.decision_function(kernel(X, X)), atol=ATOL
    )
    np.testing.assert_allclose(
        learned.scorer(Rows(X=new))[:, 0],
        other.decision_function(kernel(new, X)),
        atol=ATOL,
    )
    assert learned.certificate.reached


def test_a_row_may_carry_both_labels():
    X, z, w = _problem()
    index = np.concatenate([np.arange(60), np.arange(20)])
    problem = Binary.of(
        index, np.concatenate([z, -z[:20]]), np.concatenate([w, w[:20] / 3])
    )
    kernel = Gaussian(gamma=0.5)
    shared = SVM(kernel=kernel, C=3.0, scaling=None, tol=1e-10).on(X, np.ones(60))
    learned = shared.fit((problem,), np.random.default_rng(0))
    other = _libsvm(
        kernel(X, X)[np.ix_(index, index)], problem.labels, problem.weights, 3.0
    )
    np.testing.assert_allclose(
        learned.scores[:, 0], other.decision_function(kernel(X, X)[:, index]), atol=ATOL
    )


@pytest.mark.parametrize("solver", ["auto", "coordinate", "interior-point", "cvxpy"])
def test_many_problems_share_what_one_would_give(solver):
    X, z, w = _problem()
    halves = [
        Binary.of(np.arange(40), z[:40], w[:40]),
        Binary.of(np.arange(20, 60), -z[20:], w[20:]),
    ]
    svm = SVM(kernel=KERNELS["perceptron"](), C=1.0, solver=solver, tol=1e-6)
    both = svm.on(X, np.ones(60)).fit(halves, np.random.default_rng(0))
    new = Rows(X=X[::7] + 0.1)
    for p, half in enumerate(halves):
        one = svm.on(X, np.ones(60)).fit((half,), np.random.default_rng(0))
        np.testing.assert_allclose(
            both.scorer(new)[:, p], one.scorer(new)[:, 0], atol=5e-3
        )
    np.testing.assert_allclose(both.scores, both.scorer(Rows(X=X)), atol=1e-10)
    assert both.scorer(Rows(X=X[:0])).shape == (0, 2)


@pytest.mark.parametrize(
    "learner", [SVM(kernel=KERNELS["perceptron"]()), Classifier(LogisticRegression())]
)
def test_one_label_or_none_needs_no_learning(learner):
    X, _, _ = _problem()
    rows = np.arange(5)
    problems = [Binary.of(rows, np.full(5, side), np.ones(5)) for side in (1.0, -1.0)]
    problems.append(Binary.of(rows, np.ones(5), np.zeros(5)))
    learned = learner.on(X, np.ones(60)).fit(problems, np.random.default_rng(0))
    assert (learned.scorer(Rows(X=X)) == [1.0, -1.0, 0.0]).all()
    assert learned.certificate.reached


def test_an_indefinite_kernel_is_refused():
    X, z, w = _problem()
    with not_definite():
        SVM(kernel=Custom(lambda A, B: -(A @ B.T))).fit(
            X, z, w, np.random.default_rng(0)
        )


@pytest.mark.parametrize(
    ("model", "score"),
    [
        (LogisticRegression(), lambda m, X: m.decision_function(X)),
        (
            DecisionTreeClassifier(max_depth=3, random_state=0),
            lambda m, X: m.predict_proba(X)[:, 1] - 0.5,
        ),
    ],
)
def test_a_classifier_scores_as_it_does(model, score):
    X, z, w = _problem()
    learned = Classifier(model, None).fit(X, z, w, np.random.default_rng(0))
    expected = model.fit(X, z, sample_weight=w)
    np.testing.assert_array_equal(learned.scorer(Rows(X=X))[:, 0], score(expected, X))
    np.testing.assert_array_equal(learned.scores, learned.scorer(Rows(X=X)))


def test_the_columns_are_scaled_as_asked():
    X, z, w = _problem()
    moved = X * [1e3, 1.0] + [5.0, 0.0]
    plain, scaled = (
        Classifier(LogisticRegression()).fit(A, z, w, np.random.default_rng(0))
        for A in (X, moved)
    )
    np.testing.assert_allclose(plain.scores, scaled.scores, atol=1e-6)


def test_random_classifiers_follow_the_generator():
    X, z, w = _problem()
    model = Classifier(DecisionTreeClassifier(max_features=1))
    first, again, other = (
        model.fit(X, z, w, np.random.default_rng(s)).scorer(Rows(X=X + 0.4))
        for s in (0, 0, 3)
    )
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_fits_that_stop_early_are_counted():
    X, z, w = _problem()
    certificate = (
        Classifier(LogisticRegression(max_iter=1))
        .fit(X, z, w, np.random.default_rng(0))
        .certificate
    )
    assert (certificate.value, certificate.reached) == (1.0, False)
    assert (
        Classifier(LinearSVC())
        .fit(X, z, w, np.random.default_rng(0))
        .certificate.reached
    )


@pytest.mark.parametrize("model", [object(), LogisticRegression, None])
def test_what_is_no_classifier_is_refused(model):
    with pytest.raises(
        OptionError, match=r"base of Reduction.*or a scikit-learn classifier"
    ):
        parse_base(model, "Reduction")


def test_the_model_given_is_left_alone():
    X, z, w = _problem()
    model = Perceptron(random_state=0)
    Classifier(model).fit(X, z, w, np.random.default_rng(0))
    assert not hasattr(model, "coef_")

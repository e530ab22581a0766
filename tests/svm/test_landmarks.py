"""Landmarks: the linear machine of their features by eigenvectors and cvxpy, all rows
as landmarks, files, refusals.
"""

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from expected import not_definite, refused

from ordstat import DataError, OptionError, OrdinalClassifier, datasets, load, ordfit

FORMULA = "rank ~ x1 + x2"
KERNELS = {
    "gaussian": lambda x, z: np.exp(-0.5 * _distance(x, z) ** 2),
    "perceptron": lambda x, z: -_distance(x, z),
}


def _distance(x, z):
    return np.linalg.norm(x[:, None] - z[None], axis=-1)


@pytest.fixture(scope="module")
def frame():
    return datasets.quadratic_bands(60, seed=3)


def _features(kernel, x, landmarks):
    """K_nm V D^-1/2, of the form -|x - z| + |x| + |z| for the kernel that is only
    conditionally definite.
    """
    k = KERNELS[kernel]
    zero = np.zeros((1, x.shape[1]))

    def definite(a, b):
        return k(a, b) if kernel == "gaussian" else k(a, b) - k(a, zero) - k(zero, b)

    value, vectors = np.linalg.eigh(definite(landmarks, landmarks))
    kept = value > 1e-10 * value[-1]
    return definite(x, landmarks) @ vectors[:, kept] / np.sqrt(value[kept])


def _dual(phi, y, C, gamma):
    """The optimum of the dual under the absolute cost: sum alpha - |phi' beta|^2 / 2 -
    gamma^2 |column sums|^2 / 2.
    """
    labels = np.where(y[:, None] > np.arange(y.max()), 1.0, -1.0)
    alpha = cp.Variable(labels.shape, nonneg=True)
    u = cp.multiply(labels, alpha)
    value = cp.sum(alpha) - 0.5 * cp.sum_squares(phi.T @ cp.sum(u, axis=1))
    constraints = [alpha <= C, cp.sum(u) == 0]
    if np.isinf(gamma):
        constraints.append(cp.sum(u, axis=0) == 0)
    else:
        value -= 0.5 * gamma**2 * cp.sum_squares(cp.sum(u, axis=0))
    problem = cp.Problem(cp.Maximize(value), constraints)
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11)
    return problem.value


@pytest.mark.parametrize("method, gamma", [("redsvm", 1.0), ("svor-imc", np.inf)])
@pytest.mark.parametrize("kernel", KERNELS)
def test_the_optimum_is_that_of_the_features(kernel, method, gamma, frame):
    fit = ordfit(FORMULA, frame, method, kernel=kernel, landmarks=12, C=3.0, tol=1e-8)
    potential = fit.fit.rule.potential
    x = potential.scaling(frame[["x1", "x2"]].to_numpy(float))
    landmarks = potential.anchors[:12]
    assert all((row == x).all(axis=1).any() for row in landmarks)
    phi = _features(kernel, x, landmarks)
    values = dict(fit.certificate.details)
    best = _dual(phi, frame["rank"].to_numpy() - 1, 3.0, gamma)
    assert values["primal value"] == pytest.approx(best, rel=1e-6)
    assert values["dual value"] == pytest.approx(best, rel=1e-6)
    # |v|^2 in the kernel's space, and scores that need the landmarks alone.
    assert len(potential.coef) == 12 + (kernel == "perceptron")
    anchors = potential.anchors
    assert potential.squared_norm == pytest.approx(
        potential.coef @ KERNELS[kernel](anchors, anchors) @ potential.coef
    )
    scores = KERNELS[kernel](x, anchors) @ potential.coef + potential.offset
    assert fit.fit.scores == pytest.approx(scores, abs=1e-9)


@pytest.mark.parametrize("options", [{}, {"kernel": "laplacian", "C": 10.0}])
@pytest.mark.parametrize("method", ["redsvm", "svor-imc", "svor-exc", "rank-svm"])
def test_all_rows_as_landmarks_are_the_exact_fit(method, options, frame):
    exact, drawn = (
        ordfit(FORMULA, frame, method, tol=1e-8, landmarks=m, **options)
        for m in (None, 60)
    )
    assert dict(drawn.certificate.details)["dual value"] == pytest.approx(
        dict(exact.certificate.details)["dual value"], rel=1e-6
    )
    assert drawn.predict(type="score").to_numpy() == pytest.approx(
        exact.predict(type="score").to_numpy(), abs=1e-3
    )
    assert (
        drawn.bounds().to_string() == exact.bounds().to_string()
        or drawn.margins().to_numpy()
        == pytest.approx(exact.margins().to_numpy(), abs=1e-3)
    )


def test_what_the_summary_and_a_file_say(frame, tmp_path):
    fit = ordfit(FORMULA, frame, "redsvm", landmarks=20, seed=4)
    text = " ".join(str(fit.summary()).split())
    assert (
        "Landmarks 20 of 60 rows (rank 20, " in text
        and "gap of the problem with landmarks" in text
    )
    fit.save(tmp_path / "fit")
    again = load(tmp_path / "fit")
    new = datasets.quadratic_bands(40, seed=5)
    pd.testing.assert_frame_equal(
        again.predict(new, type="score").to_frame(),
        fit.predict(new, type="score").to_frame(),
    )
    same, other = (
        ordfit(FORMULA, frame, "redsvm", landmarks=20, seed=seed) for seed in (4, 5)
    )
    assert (same.fit.scores == fit.fit.scores).all() and (
        other.fit.scores != fit.fit.scores
    ).any()


def test_the_squared_hinge_and_a_choice_of_C_and_gamma(frame):
    squared = ordfit(
        FORMULA, frame, "redsvm", kernel="gaussian", landmarks=20, loss="squared_hinge"
    )
    assert squared.certificate.value < 1e-9
    model = OrdinalClassifier(
        "redsvm", kernel="gaussian", landmarks=20, C=[0.1, 1.0, 10.0]
    )
    X = frame[["x1", "x2"]]
    y = frame["rank"]
    assert model.fit(X, y).score(X, y) > 0.5


def test_what_is_refused(frame):
    for options in ({"kernel": "linear"}, {"kernel": "precomputed", "scaling": None}):
        with pytest.raises(
            OptionError,
            match=(
                r"kernel='(linear|precomputed)' does not support landmarks=; remove it"
            ),
        ):
            ordfit(FORMULA, frame, "redsvm", landmarks=20, **options)
    with refused("landmarks of REDSVM", "1"):
        ordfit(FORMULA, frame, "redsvm", landmarks=1)
    with not_definite():
        ordfit(
            FORMULA,
            frame,
            "redsvm",
            landmarks=20,
            kernel=lambda x, z: _distance(x, z) ** 2 - x @ z.T,
        )
    with pytest.raises(DataError, match="the kernel is not symmetric"):
        ordfit(
            FORMULA,
            frame,
            "redsvm",
            landmarks=20,
            kernel=lambda x, z: x @ z.T + 0.5 * x[:, :1] * z[:, 1],
        )

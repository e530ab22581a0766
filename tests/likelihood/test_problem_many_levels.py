"""A response with as many levels as rows: against R's rms::orm, a dense maximum, and
the memory that it takes.
"""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from ordstat import DataError, ordfit
from ordstat.newton import Blocks

#: R: set.seed(1); x <- round(rnorm(40), 3); z <- rep(0:1, 20);
#: y <- round(x + 0.5 * z + rlogis(40), 3).
X = [
    -0.626, 0.184, -0.836, 1.595, 0.33, -0.82, 0.487, 0.738, 0.576, -0.305,
    1.512, 0.39, -0.621, -2.215, 1.125, -0.045, -0.016, 0.944, 0.821, 0.594,
    0.919, 0.782, 0.075, -1.989, 0.62, -0.056, -0.156, -1.471, -0.478, 0.418,
    1.359, -0.103, 0.388, -0.054, -1.377, -0.415, -0.394, -0.059, 1.1, 0.763,
]  # fmt: skip
Y = [
    -0.889, 1.592, -1.241, 1.366, 1.467, -1.69, 1.388, -0.739, -0.547, -1.593,
    0.357, -1.881, -0.036, 0.243, 2.384, 1.825, -0.195, 1.08, 2.277, 1.52,
    1.559, 0.677, -0.918, 3.421, 1.167, -0.862, -2.063, -1.059, 2.021, 1.318,
    5.072, 1.401, -0.202, 0.17, -3.126, -4.239, 0.529, -1.721, 0.884, 1.839,
]  # fmt: skip
FRAME = pd.DataFrame({"x": X, "z": [0, 1] * 20, "y": Y})
#: rms 6.5.0, orm(y ~ x + z, family = ..., eps = 1e-12): slopes, log-likelihood.
ORM = {
    "logit": ((0.869940385992, -0.103686340285), -144.445296324),
    "probit": ((0.425782133011, -0.0843364263667), -144.902894988),
}


def rows(n: int, p: int = 3, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    columns = rng.standard_normal((n, p))
    frame = pd.DataFrame(columns, columns=[f"x{j}" for j in range(p)])
    frame["y"] = columns[:, 0] + rng.logistic(size=n)
    return frame


@pytest.mark.parametrize("link", ORM)
def test_against_orm(link: str) -> None:
    fit = ordfit("y ~ x + z", FRAME, link=link, levels="all")
    slopes, loglik = ORM[link]
    assert fit.loglik == pytest.approx(loglik, rel=1e-10)
    np.testing.assert_allclose(fit.coef, slopes, rtol=1e-6)
    assert fit.certificate.reached


def test_errors_of_the_slopes_against_orm() -> None:
    """sqrt(diag(vcov(fit, intercepts = "none")))."""
    fit = ordfit("y ~ x + z", FRAME, levels="all")
    np.testing.assert_allclose(
        fit.se.iloc[-2:], [0.3730004326, 0.5510215402], rtol=1e-6
    )


def test_against_a_dense_maximum() -> None:
    """Steps between thresholds as exponentials, so that they increase; errors from
    differences of the score of every row.
    """
    data = FRAME.head(12)
    fit = ordfit("y ~ x", data, levels="all")
    order = np.argsort(data["y"].to_numpy())
    x = data["x"].to_numpy()[order]
    n = len(x)

    def loglik(point: np.ndarray) -> float:
        eta = point[: n - 1, None] - point[-1] * x
        below = np.vstack([np.zeros(n), expit(eta), np.ones(n)])
        level = np.arange(n)
        return float(np.log(below[level + 1, level] - below[level, level]).sum())

    def free(steps: np.ndarray) -> np.ndarray:
        theta = steps[0] + np.append(0.0, np.cumsum(np.exp(steps[1 : n - 1])))
        return np.append(theta, steps[-1])

    began = np.zeros(n)
    began[0] = -2.0
    began[1 : n - 1] = -1.0
    best = minimize(lambda steps: -loglik(free(steps)), began, tol=1e-12)
    point = free(best.x)
    np.testing.assert_allclose(fit.params, point, atol=1e-4)
    assert fit.loglik == pytest.approx(-best.fun, abs=1e-8)
    h = 1e-4
    units = h * np.eye(n)
    at = fit.params.to_numpy()
    hessian = [
        [
            loglik(at + a + b) - loglik(at + a - b) - loglik(at - a + b)
            + loglik(at - a - b)
            for b in units
        ]
        for a in units
    ]  # fmt: skip
    covariance = np.linalg.inv(-np.array(hessian) / (4.0 * h * h))
    np.testing.assert_allclose(fit.se, np.sqrt(np.diag(covariance)), rtol=1e-4)


def test_variances_of_a_tridiagonal_information() -> None:
    rng = np.random.default_rng(3)
    below = rng.uniform(-1.0, 1.0, 60)
    above = np.append(np.abs(below), 0.0) + np.append(0.0, np.abs(below))
    diagonal = above + rng.uniform(0.01, 1.0, 61)
    blocks = Blocks(
        diagonal[:, None, None],
        below[:, None, None],
        np.zeros((61, 1, 0)),
        np.zeros((0, 0)),
    )
    factor = blocks.factor()
    assert factor is not None
    dense = np.diag(diagonal) + np.diag(below, 1) + np.diag(below, -1)
    expected = np.diag(np.linalg.inv(dense))
    variances = factor.inverse_diagonal_blocks(1)[:, 0, 0]
    np.testing.assert_allclose(variances, expected, rtol=1e-12)


def test_nothing_of_the_size_of_the_cells() -> None:
    """20,000 rows at 20,000 levels: a number for each cell is 3.2 GB."""
    frame = rows(20_000)
    tracemalloc.start()
    try:
        fit = ordfit("y ~ x0 + x1 + x2", frame, levels="all")
        errors = fit.se
        text = str(fit.summary())
        classes = fit.predict(frame.head(3), type="score")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 200e6
    assert errors.notna().all()
    assert len(errors) == 20_002
    assert len(text.splitlines()) < 50
    assert len(classes) == 3


def test_the_refusal_names_it() -> None:
    with pytest.raises(DataError, match="levels='all'"):
        ordfit("y ~ x", FRAME)
    with pytest.raises(DataError, match="levels='all' must go with a numeric response"):
        ordfit("y ~ x", FRAME.assign(y=FRAME["y"].astype(str)), levels="all")


def test_levels_are_the_sorted_values_and_survive_an_update() -> None:
    fit = ordfit("y ~ x + z", FRAME, levels="all")
    assert list(fit.levels) == sorted(set(Y))
    smaller = fit.update("~ . - z")
    assert list(smaller.levels) == list(fit.levels)
    few = ordfit(
        "y ~ x", pd.DataFrame({"x": range(6), "y": [2, 1, 3, 2, 3, 1]}), levels="all"
    )
    assert list(few.levels) == [1, 2, 3]

"""cov={"g": K}: against the likelihood with a dense covariance, against integration,
and against independent groups.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from expected import refused
from scipy.optimize import minimize

from ordstat import ordfit
from ordstat.exceptions import DataError, DataWarning, OptionError


def labels(G: int) -> list[str]:
    return [f"animal {code:02d}" for code in range(G)]


def kinship(G: int, seed: int = 0) -> pd.DataFrame:
    """A covariance with a diagonal that is not 1."""
    A = np.random.default_rng(seed).normal(size=(G, G))
    return pd.DataFrame(
        A @ A.T / G + 0.3 * np.eye(G), index=labels(G), columns=labels(G)
    )


def records(G: int, n: int, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    g = rng.integers(0, G, n)
    h = rng.integers(0, 7, n)
    x = rng.normal(size=n)
    b = np.linalg.cholesky(kinship(G)) @ rng.normal(size=G)
    latent = x + 1.5 * b[g] + 0.5 * rng.normal(size=7)[h] + rng.logistic(size=n)
    data = pd.DataFrame(
        {
            "x": x,
            "g": np.array(labels(G))[g],
            "h": h,
            "y": np.digitize(latent, [-1.0, 1.0]),
        }
    )
    return data.assign(k=rng.integers(0, 5, n))


def log_cells(data: pd.DataFrame, p: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(n, M) log-probabilities of the rows at effects b (G, M) of the sorted levels; p
    = thresholds, slope.
    """
    codes = data["g"].astype("category").cat.codes.to_numpy()
    y = data["y"].to_numpy()
    ends = np.array([-np.inf, p[0], p[1], np.inf])
    H = (p[2] * data["x"].to_numpy())[:, None] + b[codes]
    upper, lower = (1.0 / (1.0 + np.exp(H - ends[y + k][:, None])) for k in (1, 0))
    return np.log(upper - lower)


def laplace(data: pd.DataFrame, K: np.ndarray, p: np.ndarray) -> float:
    """Of the effects b ~ N(0, sd^2 K) themselves, by a minimiser and differences:
    nothing of the package.
    """
    precision = np.linalg.inv(K) / p[3] ** 2
    G = len(K)

    def h(b: np.ndarray) -> float:
        return float(log_cells(data, p, b[:, None]).sum() - 0.5 * b @ precision @ b)

    best = minimize(
        lambda b: -h(b), np.zeros(G), method="BFGS", options={"gtol": 1e-7}
    ).x
    e = 1e-3 * np.eye(G)
    bent = [
        [
            h(best + a + b) - h(best + a - b) - h(best - a + b) + h(best - a - b)
            for a in e
        ]
        for b in e
    ]
    return (
        h(best)
        - 0.5 * np.linalg.slogdet(-np.array(bent) / 4e-6)[1]
        + 0.5 * np.linalg.slogdet(precision)[1]
    )


def test_estimates_with_a_dense_covariance() -> None:
    """Labels of the frame are in another order, and it has levels that the data have
    not.
    """
    data = records(5, 60)
    K = kinship(5)
    wide = kinship(8, seed=9)
    wide.loc[K.index, K.columns] = K
    fit = ordfit(
        "y ~ x + (1 | g)", data, cov={"g": wide.iloc[::-1, [2, 0, 1, 7, 6, 5, 4, 3]]}
    )
    p = np.array([*fit.thresholds, fit.coef["x"], fit.varcorr()["sd"].iloc[0]])
    at = laplace(data, K.to_numpy(), p)
    assert fit.loglik == pytest.approx(at, abs=1e-5)
    for k, sign in product(range(4), (-1.0, 1.0)):
        assert laplace(data, K.to_numpy(), p + sign * 0.05 * np.eye(4)[k]) < at
    assert fit.certificate.reached


def test_integration_of_two_levels() -> None:
    """Over both effects by a grid; the approximation is good with fifty rows each."""
    data = records(2, 100, seed=4)
    K = kinship(2)
    with pytest.warns(DataWarning, match="has 2 groups"):
        fit = ordfit("y ~ x + (1 | g)", data, cov={"g": K})
    p = np.array([*fit.thresholds, fit.coef["x"], fit.varcorr()["sd"].iloc[0]])
    points = np.linspace(-8.0, 8.0, 241)
    u = np.stack(np.meshgrid(points, points, indexing="ij")).reshape(2, -1)
    b = p[3] * np.linalg.cholesky(K) @ u
    logs = log_cells(data, p, b).sum(axis=0) - 0.5 * (u**2).sum(axis=0)
    top = logs.max()
    area = (points[1] - points[0]) ** 2
    total = float(top + np.log(np.exp(logs - top).sum() * area / (2.0 * np.pi)))
    assert fit.loglik == pytest.approx(total, abs=0.03)
    shares = np.exp(logs - top) / np.exp(logs - top).sum()
    means = (b * shares).sum(axis=1)
    np.testing.assert_allclose(fit.ranef()["mode"], means, atol=0.06)
    errors = np.sqrt(((b - means[:, None]) ** 2 * shares).sum(axis=1))
    np.testing.assert_allclose(fit.ranef()["sd"], errors, rtol=0.05)


FORMULAS = (
    "y ~ x + (1 | g)",
    "y ~ x + (1 | g) + (1 | h)",
    "y ~ x + (1 + x | h) + (1 | g)",
    "y ~ x + (1 | k) + (1 | h) + (1 | g)",
)


@pytest.mark.parametrize("formula", FORMULAS)
def test_independent_levels(formula: str) -> None:
    """K = 4 I is the fit without it, but for the unit of the standard deviation."""
    data = records(9, 200)
    unit = pd.DataFrame(4.0 * np.eye(9), index=labels(9), columns=labels(9))
    plain = ordfit(formula, data)
    given = ordfit(formula, data, cov={"g": unit})
    assert given.loglik == pytest.approx(plain.loglik, abs=1e-9)
    assert given.edf == plain.edf
    np.testing.assert_allclose(given.se, plain.se, rtol=1e-5)
    columns = ["sd", "std_error", "lower", "upper"]
    own, other = (
        fit.varcorr().loc[("g", "(Intercept)"), columns] for fit in (given, plain)
    )
    np.testing.assert_allclose(2.0 * own, other, rtol=1e-5)
    np.testing.assert_allclose(
        given.ranef()[["mode", "sd"]],
        plain.ranef()[["mode", "sd"]],
        rtol=1e-5,
        atol=1e-7,
    )
    ones = ordfit(formula, data, cov={"g": unit / 4.0})
    for re, fit in (("mode", given), ("zero", given), ("marginal", ones)):
        one, two = (
            own.predict(data.head(20), type="prob", re=re, se=re != "mode")
            for own in (fit, plain)
        )
        np.testing.assert_allclose(one, two, rtol=2e-5, atol=1e-8)
    with refused("cov"):
        given.predict(data.head(20), re="marginal")
    ends = [
        fit.confint("sd_(Intercept)|g", type="profile").to_numpy()
        for fit in (given, plain)
    ]
    np.testing.assert_allclose(2.0 * ends[0], ends[1], rtol=1e-4)
    shares = [
        str(fit.summary()).split("ICC ")[1].split("\n")[0] for fit in (given, plain)
    ]
    assert shares[0] == shares[1]
    drawn = [fit.simulate(3, seed=1) for fit in (given, plain)]
    pd.testing.assert_frame_equal(*drawn)


@pytest.mark.parametrize(
    ("cov", "error", "words"),
    [
        (
            {"sire": kinship(6)},
            OptionError,
            (
                "cov= names the group 'sire', which is not in the formula: its groups"
                " are 'g'"
            ),
        ),
        (
            kinship(6),
            OptionError,
            "cov must be a dict of groups and their covariances.*got DataFrame",
        ),
        (
            {"g": kinship(5)},
            DataError,
            "must have a row and a column for every level of 'g': .*animal 05",
        ),
        (
            {"g": kinship(6).assign(**{"animal 01": 0.0})},
            OptionError,
            "must be symmetric",
        ),
        ({"g": -kinship(6)}, OptionError, "must be positive definite"),
        (
            {"g": pd.concat([kinship(6), kinship(6)])},
            OptionError,
            "every level once; got 12 rows of 6 levels",
        ),
    ],
)
def test_covariances_in_words(cov: object, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        ordfit("y ~ x + (1 | g)", records(6, 100), cov=cov)


@pytest.mark.parametrize(
    ("formula", "options", "words"),
    [
        (
            "y ~ x + (1 + x | g)",
            {},
            r"cov= must go with a term of one intercept, such as \(1 \| g\)",
        ),
        ("y ~ x", {}, "it has no random terms"),
        (
            "y ~ x + (1 | g)",
            {"quadrature": 7},
            "needs independent groups; cov= makes them dependent",
        ),
    ],
    ids=["slopes", "no term", "quadrature"],
)
def test_models_that_are_refused(formula, options, words) -> None:
    with pytest.raises(OptionError, match=words):
        ordfit(formula, records(6, 100), cov={"g": kinship(6)}, **options)


def test_new_groups_have_no_covariance() -> None:
    data = records(6, 100)
    cov = {"g": kinship(6)}
    fit = ordfit("y ~ x + (1 | g)", data, cov=cov)
    new = data.head(3).assign(g="animal 77")
    sd = np.sqrt(np.diag(kinship(6)))
    scaled = {"g": kinship(6) / np.outer(sd, sd)}
    asked = (
        lambda: fit.predict(new, re="marginal"),
        lambda: fit.simulate(2, seed=1, newdata=new),
        lambda: ordfit("y ~ x + (1 | g)", data, cov=scaled).errors(new),
    )
    for ask in asked:
        with pytest.raises(DataError, match="groups of cov= without rows in the fit"):
            ask()
    assert fit.predict(new, type="prob", re="zero").notna().all(axis=None)

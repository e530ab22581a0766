"""Predictions of groups with rows that the fit has not seen: modes by SciPy's minimiser, errors by known groups."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from ordstat import datasets, ordfit
from ordstat.exceptions import DataError, OptionError

WINE = datasets.load("wine")
JUDGE = WINE["judge"].astype(int)
FIT = ordfit("rating ~ temp + contact + (1 | judge)", WINE[JUDGE != 9])
NINTH = WINE[JUDGE == 9]


def ratings(seed: int = 0) -> pd.DataFrame:
    """Five levels; intercepts and slopes by g, intercepts by h."""
    rng = np.random.default_rng(seed)
    g, h, x = rng.integers(0, 30, 800), np.arange(800) % 7, rng.standard_normal(800)
    score = x * (1.0 + 0.8 * rng.standard_normal(30)[g]) + rng.standard_normal(30)[g] + 0.5 * rng.standard_normal(7)[h]
    y = np.digitize(score + rng.logistic(size=800), [-2.0, -0.5, 0.5, 2.0])
    return pd.DataFrame({"y": y, "x": x, "g": g, "h": [f"h{code}" for code in h]})


def mode(theta: np.ndarray, score: np.ndarray, y: np.ndarray, z: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """Of the effects of one group by its rows."""
    ends, precision = np.concatenate([[-np.inf], theta, [np.inf]]), np.linalg.inv(covariance)

    def loss(b: np.ndarray) -> float:
        p = expit(ends[y + 1] - score - z @ b) - expit(ends[y] - score - z @ b)
        return float(0.5 * b @ precision @ b - np.log(p).sum())

    return minimize(loss, np.zeros(z.shape[1]), method="BFGS", options={"gtol": 1e-9}).x


@pytest.mark.parametrize(("given", "judge"), [(NINTH.head(6), 9), (WINE[JUDGE == 2].head(3), 2)])
def test_intercept_of_a_new_group_and_of_one_with_more_rows(given: pd.DataFrame, judge: int) -> None:
    rows = pd.concat([WINE[judge == JUDGE] if judge != 9 else NINTH.head(0), given])
    score = (rows[["temp", "contact"]] == ["warm", "yes"]).to_numpy() @ FIT.coef.to_numpy()
    y = rows["rating"].cat.codes.to_numpy()
    b = mode(FIT.params.to_numpy()[:4], score, y, np.ones((y.size, 1)), FIT.varcorr()[["variance"]].to_numpy())
    asked = WINE[judge == JUDGE].tail(2)
    expected = (asked[["temp", "contact"]] == ["warm", "yes"]).to_numpy() @ FIT.coef.to_numpy() + b
    np.testing.assert_allclose(FIT.predict(asked, "score", re="mode", given=given), expected, atol=1e-6)


@pytest.mark.parametrize("bars", ["(1 + x | g)", "(1 + x || g)"])
def test_slopes_of_a_new_group(bars: str) -> None:
    data = ratings()
    fit = ordfit(f"y ~ x + {bars}", data[data["g"] < 29])
    new = data[data["g"] == 29]
    given, asked = new.head(12), new.tail(4)
    covariance = fit.fit.marginal.terms[0].covariance
    theta, beta = fit.params.to_numpy()[:4], float(fit.params["x"])
    z = np.column_stack([np.ones(12), given["x"]])
    b = mode(theta, beta * given["x"].to_numpy(), given["y"].to_numpy(), z, covariance)
    expected = b[0] + (beta + b[1]) * asked["x"]
    np.testing.assert_allclose(fit.predict(asked, "score", re="mode", given=given), expected, atol=1e-6)


def test_errors_are_those_of_known_groups() -> None:
    """Rows of other groups change neither predictions nor errors."""
    data = ratings()
    fit = ordfit("y ~ x + (1 + x | g)", data[data["g"] < 25])
    asked, given = data[data["g"] < 25].head(6), data[data["g"] >= 25]
    for re in ("mode", "posterior"):
        before, after = (fit.predict(asked, "prob", re=re, se=True, given=rows) for rows in (None, given))
        np.testing.assert_allclose(after, before, atol=1e-8)
    crossed = ordfit("y ~ x + (1 | g) + (1 | h)", data[data["g"] < 25])
    own = crossed.predict(given.tail(5), "mean", re="mode", se=True, given=given.head(60))
    assert np.isfinite(own).all(axis=None)


def test_rows_of_their_own_predict_better_than_the_population() -> None:
    data = ratings(3)
    fit = ordfit("y ~ x + (1 + x | g) + (1 | h)", data[data["g"] < 20])
    others = data[data["g"] >= 20]
    given, asked = others.groupby("g").head(8), others.drop(others.groupby("g").head(8).index)
    places = np.arange(len(asked)), asked["y"].to_numpy()
    own, population = (
        np.log(fit.predict(asked, "prob", re="posterior", given=rows).to_numpy()[places]).mean()
        for rows in (given, None)
    )
    assert own > population + 0.03


def test_a_variance_at_its_boundary() -> None:
    fit = ordfit("rating ~ temp + contact + (1 | bottle)", WINE[WINE["bottle"].astype(int) < 8])
    last = WINE[WINE["bottle"].astype(int) == 8]
    found = fit.predict(last, "mean", re="mode", se=True, given=last)
    np.testing.assert_allclose(found["estimate"], fit.predict(last, "mean", re="zero"), atol=1e-12)


def test_refusals() -> None:
    with pytest.raises(DataError, match="given has no row with the response"):
        FIT.predict(NINTH, given=NINTH.assign(rating=np.nan))
    with pytest.raises(OptionError, match="given must be left out, as the fit has no random effects"):
        ordfit("rating ~ temp", WINE).predict(NINTH, given=NINTH)
    with pytest.raises(DataError, match="groups that the fit has not seen"):
        FIT.predict(NINTH, re="mode", given=WINE[JUDGE == 2])
    names = [str(k) for k in range(1, 10)]
    K = pd.DataFrame(0.5 + 0.5 * np.eye(9), index=names, columns=names)
    kin = ordfit("rating ~ temp + (1 | judge)", WINE.assign(judge=JUDGE.astype(str)), cov={"judge": K})
    with pytest.raises(OptionError, match="cov= makes groups depend"):
        kin.predict(NINTH.assign(judge="9"), given=NINTH.assign(judge="9"))

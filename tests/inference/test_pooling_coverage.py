"""Share of samples whose pooled 95 % intervals hold the truth, where a column is
missing at random.
"""

import numpy as np
import pandas as pd
import pytest

from inference.imputed import fits
from ordstat import pool

TRUE = {"x": 0.8, "z": -0.6}
SAMPLES = 300
ROWS = 250
IMPUTATIONS = 10
#: Four Monte Carlo errors, and what imputation from a normal model of z given x and y,
#: only near the truth, may miss.
ALLOWED = 4 * np.sqrt(0.05 * 0.95 / SAMPLES) + 0.01
#: Samples whose intervals are counted, and imputations of each.
COUNTED = 1500
FEW = 5


def sample(rng):
    """z is missing more often where x and the response are high."""
    x = rng.normal(size=ROWS)
    z = 0.5 * x + rng.normal(size=ROWS)
    y = np.digitize(
        TRUE["x"] * x + TRUE["z"] * z + rng.logistic(size=ROWS), [-1.0, 0.5, 1.5]
    )
    missing = rng.random(ROWS) < 1 / (1 + np.exp(1.2 - 0.6 * x - 0.4 * y))
    return pd.DataFrame({"y": y, "x": x, "z": np.where(missing, np.nan, z)})


def imputed(data, rng):
    """Draws of z from its posterior predictive distribution in a linear model on x and
    the levels of y.
    """
    A = np.column_stack([data["x"], pd.get_dummies(data["y"]).to_numpy(dtype=float)])
    seen = data["z"].notna().to_numpy()
    inverse = np.linalg.inv(A[seen].T @ A[seen])
    b = inverse @ A[seen].T @ data["z"][seen]
    residual = data["z"][seen] - A[seen] @ b
    sigma = np.sqrt(residual @ residual / rng.chisquare(seen.sum() - A.shape[1]))
    drawn = A @ (
        b + sigma * np.linalg.cholesky(inverse) @ rng.normal(size=b.size)
    ) + sigma * rng.normal(size=len(A))
    return data.assign(z=np.where(seen, data["z"], drawn))


def covered(rng):
    data = sample(rng)
    pooled = pool(fits("y ~ x + z", [imputed(data, rng) for _ in range(FEW)]))
    limits = pooled.confint().loc[list(TRUE)]
    truth = pd.Series(TRUE)
    return (
        (limits["lower"] <= truth) & (truth <= limits["upper"])
    ).to_numpy(), pooled.fmi[list(TRUE)].to_numpy()


@pytest.mark.slow
def test_pooled_intervals_hold_the_truth():
    rng = np.random.default_rng(11)
    collected = [covered(rng) for _ in range(COUNTED)]
    share, fmi = (np.mean(values, axis=0) for values in zip(*collected, strict=True))
    assert fmi[1] > 0.3  # enough is missing for the test to see a fault
    assert np.all((share >= 0.935) & (share <= 0.965)), share


@pytest.mark.slow
def test_a_true_hypothesis_is_rejected_as_often_as_promised():
    """x and z without effect: D1 at 5 %."""
    rng = np.random.default_rng(12)
    rejected = 0
    for _ in range(SAMPLES):
        data = sample(rng).assign(y=rng.integers(0, 4, ROWS))
        frames = [imputed(data, rng) for _ in range(IMPUTATIONS)]
        rejected += (
            pool(fits("y ~ x + z", frames)).test("x, z").loc["joint", "p_value"] < 0.05
        )
    assert abs(rejected / SAMPLES - 0.05) <= ALLOWED, rejected / SAMPLES

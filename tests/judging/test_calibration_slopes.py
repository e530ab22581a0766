"""Calibration intercepts and slopes against direct maximisation, and their limits."""

import numpy as np
import pandas as pd
import pytest
from prediction.samples import latent
from scipy.optimize import minimize
from scipy.special import expit, logit

from ordstat import OptionError, ordfit
from ordstat.judging.calibration_slopes import recalibration

FORMULA = "y ~ x1 + x2"


def maximum(event, predicted, weights, slope=None):
    """Intercept and slope that maximise the Bernoulli log-likelihood, and its Hessian's
    inverse, by finite differences.
    """

    def loss(at):
        beta = at[1] if slope is None else slope
        eta = np.where(event, 1.0, -1.0) * (at[0] + beta * predicted)
        return weights @ np.logaddexp(0.0, -eta)

    start = np.array([0.0, 1.0])[: 2 if slope is None else 1]
    at = minimize(loss, start, method="BFGS", options={"gtol": 1e-9}).x
    beta = at[1] if slope is None else slope
    p = expit(at[0] + beta * predicted)
    X = np.column_stack([np.ones_like(predicted), predicted])[:, : at.size]
    information = X.T @ (X * (weights * p * (1.0 - p))[:, None])
    return at, np.sqrt(np.diagonal(np.linalg.inv(information)))


def test_against_direct_maximisation():
    fit = ordfit(FORMULA, latent(80, 1))
    new = latent(300, 2)
    found = fit.calibration_slopes(new, level=0.9, weights="w")
    weights = new["w"].to_numpy(float)
    below = fit.predict(new, type="cum_prob").to_numpy()[:, : len(fit.threshold_names)]
    codes = new["y"].map({level: k for k, level in enumerate(fit.levels)}).to_numpy()
    for k, (name, row) in enumerate(found.iterrows()):
        assert name == fit.threshold_names[k]
        event = codes <= k
        used = weights > 0
        given = event[used], logit(below[used, k]), weights[used]
        (shift,), (shift_error,) = maximum(*given, slope=1.0)
        (_, slope), (_, slope_error) = maximum(*given)
        z = 1.6448536269514722
        expected = [
            np.average(below[:, k], weights=weights),
            np.average(event, weights=weights),
            *(shift, shift - z * shift_error, shift + z * shift_error),
            *(slope, slope - z * slope_error, slope + z * slope_error),
        ]
        np.testing.assert_allclose(row, expected, rtol=2e-5, atol=2e-5)


def test_doubled_logits_have_half_the_slope():
    rng = np.random.default_rng(3)
    p = rng.uniform(0.05, 0.95, 500)
    event = rng.random(500) < p
    weights = rng.integers(1, 4, 500).astype(float)
    right = recalibration(p, event, weights)
    extreme = recalibration(expit(2.0 * logit(p)), event, weights)
    assert abs(right.slope - 1.0) < 3.0 * right.slope_error
    np.testing.assert_allclose(extreme.slope, 0.5 * right.slope, rtol=1e-8)
    np.testing.assert_allclose(extreme.slope_error, 0.5 * right.slope_error, rtol=1e-8)


def test_rows_without_an_estimate_say_why():
    frame = latent(150, 1)
    fit = ordfit(FORMULA, frame)
    low = frame[frame["y"] <= fit.levels[1]]
    found = fit.calibration_slopes(low)
    assert (
        found.loc[fit.threshold_names[1:], ["intercept", "slope"]].isna().all(axis=None)
    )
    assert np.isfinite(found.loc[fit.threshold_names[0], "slope"])
    assert any("No intercept or slope" in note for note in found.attrs["notes"])
    # equal predictions have an intercept only
    even = ordfit("y ~ 1", frame).calibration_slopes(latent(90, 2))
    assert even["slope"].isna().all() and even["intercept"].notna().all()


def test_own_rows_are_named_and_clusters_have_no_limits():
    frame = latent(150, 1).assign(g=np.arange(150) // 5)
    fit = ordfit(FORMULA, frame, cluster="g")
    found = fit.calibration_slopes()
    assert found.filter(like="_lower").isna().all(axis=None)
    assert len(found.attrs["notes"]) == 2
    assert (
        fit.calibration_slopes(latent(90, 2))
        .filter(like="_lower")
        .notna()
        .all(axis=None)
    )


def test_a_calibrated_ranker_is_judged_by_held_out_scores():
    frame = latent(120, 1)
    with pytest.raises(OptionError, match="calibration_slopes"):
        ordfit(FORMULA, frame, "redsvm").calibration_slopes()
    found = ordfit(FORMULA, frame, "redsvm", calibrate=True).calibration_slopes()
    assert isinstance(found, pd.DataFrame) and found.attrs["notes"] == []

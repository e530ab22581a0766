"""Marginal means, effects and contrasts of means, exceedance and quantiles, in numbers
of the labels.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from reference_cases import load_data
from scipy.special import expit, logit
from scipy.stats import norm

from ordstat import DataWarning, OptionError, ordfit, pool

LABELS = np.array([0.0, 1.0, 4.0, 9.0, 25.0])
CALLS = {
    "logit": {},
    "scale and nominal": {"scale": "~ x3", "nominal": "~ x2", "method": "probit"},
    "acat": {"method": "acat"},
    "random": {"formula": "y ~ x1 + f + (1 | cl)"},
}


def data() -> pd.DataFrame:
    frame = load_data("sim500").head(240)
    codes = frame["y"].astype(int).to_numpy() - 1
    return frame.assign(y=LABELS[codes], cl=np.arange(240) % 20)


@pytest.fixture(scope="module", params=CALLS)
def fit(request):
    return ordfit(**{"formula": "y ~ x1 + f", "data": data(), **CALLS[request.param]})


def probabilities(fit) -> tuple[np.ndarray, np.ndarray]:
    """(3, 5) marginal means of the probabilities at the levels of f, and the (15, F)
    Jacobian.
    """
    averages = fit.emmeans("f", scale="prob").averages
    return averages.values, averages.jacobian


def errors(fit, jacobian: np.ndarray) -> np.ndarray:
    covariance = fit.emmeans("f", scale="prob").averager.covariance
    return np.sqrt(((jacobian @ covariance.dense()) * jacobian).sum(axis=-1))


def test_means_and_exceedance_are_sums_of_probabilities(fit) -> None:
    p, jacobian = probabilities(fit)
    sums = {
        "mean": LABELS,
        "mean_class": np.arange(1.0, 6.0),
        "exceed": (LABELS >= 4.0).astype(float),
    }
    for scale, numbers in sums.items():
        given = {"exceed": 3.5} if scale == "exceed" else scale
        table = fit.emmeans("f", scale=given).frame
        np.testing.assert_allclose(table["estimate"], p @ numbers, rtol=1e-9)
        slopes = np.einsum("k,ckf->cf", numbers, jacobian)
        np.testing.assert_allclose(table["std_error"], errors(fit, slopes), rtol=1e-7)
        low, high = (0.0, 1.0) if scale == "exceed" else numbers[[0, -1]]
        share = (table["estimate"] - low) / (high - low)
        half = norm.ppf(0.975) * table["std_error"] / (high - low)
        half = half / (share * (1.0 - share))
        upper = low + (high - low) * expit(logit(share) + half)
        np.testing.assert_allclose(table["upper"], upper, rtol=1e-8)


def interpolated(p: np.ndarray, share: float) -> np.ndarray:
    """Quantiles of distributions (C, 5): lines through (0, lowest), (F_k, knot_k) and
    (1, highest).
    """
    out = []
    for row in np.cumsum(p, axis=1)[:, :-1]:
        along = (row - row[0]) / (row[-1] - row[0])
        knots = (1.0 - along) * LABELS[:-1] + along * LABELS[1:]
        out.append(np.interp(share, [0.0, *row, 1.0], [LABELS[0], *knots, LABELS[-1]]))
    return np.array(out)


@pytest.mark.parametrize("share", [0.3, 0.5, 0.7])
def test_quantiles_are_those_of_the_averages_with_errors_by_differences(
    fit, share: float
) -> None:
    p, jacobian = probabilities(fit)
    means = fit.emmeans("f", scale={"quantile": share})
    table = means.frame
    np.testing.assert_allclose(table["estimate"], interpolated(p, share), rtol=1e-7)
    h = 1e-6
    slopes = []
    for column in np.moveaxis(jacobian, 2, 0):
        change = interpolated(p + h * column, share) - interpolated(
            p - h * column, share
        )
        slopes.append(change / (2.0 * h))
    gradient = np.stack(slopes, axis=1)
    np.testing.assert_allclose(table["std_error"], errors(fit, gradient), rtol=1e-4)
    assert ((table["lower"] > 0.0) & (table["upper"] < 25.0)).all()
    contrast = means.contrasts("reference", adjust="none").iloc[0]
    values = table["estimate"]
    assert contrast["estimate"] == pytest.approx(values[1] - values[0])
    expected = errors(fit, gradient[1] - gradient[0])
    assert contrast["std_error"] == pytest.approx(expected, rel=1e-4)


def test_effects_are_differences_of_predictions(fit) -> None:
    """Averages over the rows of the fit."""
    re = {"re": "marginal"} if "cl" in fit.formula else {}
    frame = data()
    low = frame.assign(f="lo")
    high = frame.assign(f="mid")
    for scale, asked in (("mean", {}), ({"exceed": 9}, {"at": 9})):
        type = scale if isinstance(scale, str) else "exceed"
        effect = fit.marginal_effects("f", scale=scale).frame.iloc[0]
        means = [
            fit.predict(new, type=type, **asked, **re).mean() for new in (high, low)
        ]
        assert effect["estimate"] == pytest.approx(means[0] - means[1], rel=1e-8)
    h = 1e-4
    slope = fit.marginal_effects("x1", scale="mean").frame["estimate"].iloc[0]
    ends = [
        fit.predict(frame.assign(x1=frame["x1"] + step), type="mean", **re).mean()
        for step in (h, -h)
    ]
    assert slope == pytest.approx((ends[0] - ends[1]) / (2.0 * h), rel=1e-5)


def test_several_values_have_a_column(fit) -> None:
    table = fit.emmeans("f", scale={"exceed": [1, 9]}).frame
    assert table["value"].tolist() == [1, 9] * 3
    every = fit.emmeans("f", scale="exceed").frame
    assert every["value"].tolist() == [1.0, 4.0, 9.0, 25.0] * 3
    above = fit.emmeans("f", scale="exc_prob").frame
    np.testing.assert_allclose(every["estimate"], above["estimate"], rtol=1e-8)
    quantiles = fit.emmeans("f", scale={"quantile": [0.3, 0.5]})
    assert quantiles.frame["share"].tolist() == [0.3, 0.5] * 3
    assert "between labels" in str(quantiles)


def test_pictures_take_the_scales() -> None:
    fit = ordfit("y ~ x1 + f", data())
    for scale in ("mean", {"exceed": 4}, {"quantile": 0.5}):
        frame = fit.plot.emmeans("f", scale=scale, draw=False)
        expected = fit.emmeans("f", scale=scale).frame
        names = ["estimate", "std_error", "lower", "upper"]
        np.testing.assert_allclose(frame[names], expected[names])


def test_pooled_means_are_those_of_the_fits() -> None:
    rng = np.random.default_rng(1)
    fits = [
        ordfit(
            "y ~ x1 + f", data().assign(x1=lambda d: d["x1"] + rng.normal(0, 0.2, 240))
        )
        for _ in range(3)
    ]
    pooled = pool(fits)
    for scale in ("mean", {"exceed": 4}, {"quantile": 0.4}):
        at = {"x1": 0.3}
        single = [fit.emmeans("f", scale=scale, at=at).frame for fit in fits]
        table = pooled.emmeans("f", scale=scale, at=at).frame
        estimates = [one["estimate"] for one in single]
        within = np.mean([one["std_error"] ** 2 for one in single], axis=0)
        total = within + 4.0 / 3.0 * np.var(estimates, axis=0, ddof=1)
        np.testing.assert_allclose(table["estimate"], np.mean(estimates, axis=0))
        np.testing.assert_allclose(table["std_error"] ** 2, total, rtol=1e-9)


def test_a_quantile_at_the_end_of_the_scale_has_no_error() -> None:
    fit = ordfit("y ~ x1 + f", data())
    with pytest.warns(DataWarning, match="quantiles at the end of the scale"):
        table = fit.emmeans("f", scale={"quantile": 0.999}).frame
    assert (table["estimate"] == 25.0).all()
    assert table[["std_error", "lower", "upper"]].isna().all(axis=None)


def test_titles_name_the_labels() -> None:
    fit = ordfit("y ~ x1 + f", data())
    assert "Means of the expected response (labels 0 to 25)" in str(
        fit.emmeans("f", scale="mean")
    )
    assert "Effects on P(response >= 4)" in str(
        fit.marginal_effects("f", scale={"exceed": 4})
    )
    codes = np.searchsorted(LABELS, data()["y"])
    letters = pd.Categorical.from_codes(codes, list("abcde"), ordered=True)
    words = ordfit("y ~ x1 + f", data().assign(y=letters))
    assert "expected rank (1 to 5, as the labels are not numbers" in " ".join(
        str(words.emmeans("f", scale="mean")).split()
    )


@pytest.mark.parametrize(
    ("scale", "message"),
    [
        ({"prob": 1}, "scale must be a name, {'exceed': value}"),
        ({"exceed": 1, "quantile": 0.5}, "scale must be a name"),
        ({"quantile": 2.0}, "at must be"),
        ("expected", "scale must be one of"),
    ],
)
def test_what_is_refused(scale, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        ordfit("y ~ x1 + f", data()).emmeans("f", scale=scale)


def test_slopes_of_quantiles_are_refused_and_steps_are_not() -> None:
    fit = ordfit("y ~ x1 + f", data())
    with pytest.raises(OptionError, match="change=1"):
        fit.marginal_effects("x1", scale="quantile")
    step = fit.marginal_effects("x1", scale="quantile", change=1.0).frame
    assert np.isfinite(step["std_error"]).all()

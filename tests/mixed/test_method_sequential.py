"""Random effects of sequential models: the binary models of their stages, and integrals
by brute force.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from expected import no_type
from reference_cases import load_case
from scipy.optimize import approx_fprime
from scipy.special import log_expit
from seams import LINKS

from ordstat import datasets, ordfit

WINE = datasets.load("wine")
FORMULA = "rating ~ temp + contact + (1 | judge)"


def expanded(direction: str) -> pd.DataFrame:
    """A row of the wine data for each stage that it reaches."""
    code = WINE["rating"].cat.codes
    parts = []
    for stage in range(4):
        reaches = code >= stage if direction == "forward" else code <= stage + 1
        higher = (code[reaches] > stage).astype(int)
        parts.append(WINE[reaches].assign(stage=str(stage), higher=higher))
    return pd.concat(parts, ignore_index=True)


@pytest.mark.parametrize("quadrature", [1, 9])
@pytest.mark.parametrize(
    ("method", "direction", "link", "binary"),
    [
        ("cratio", "forward", "logit", "logit"),
        ("cratio", "backward", "cloglog", "cloglog"),
        ("sratio", "forward", "cloglog", "cloglog"),
        ("sratio", "backward", "probit", "probit"),
    ],
)
def test_stages_are_binary_models(
    method: str, direction: str, link: str, binary: str, quadrature: int
) -> None:
    """A level is a product over its stages, which share the effect of the judge."""
    options = {"quadrature": quadrature, "tol": 1e-8}
    fit = ordfit(FORMULA, WINE, method, link=link, direction=direction, **options)
    rows = expanded(direction)
    other = ordfit(
        "higher ~ stage + temp + contact + (1 | judge)", rows, binary, **options
    )
    assert fit.loglik == pytest.approx(other.loglik, rel=1e-9)
    first = other.thresholds.iloc[0]
    steps = np.append(0.0, other.coef.iloc[:3])
    np.testing.assert_allclose(fit.thresholds, first - steps, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(fit.coef, other.coef.iloc[3:], rtol=1e-5)
    np.testing.assert_allclose(
        fit.se[fit.coef.index], other.se[fit.coef.index], rtol=1e-4
    )
    sd = other.varcorr()["sd"].iloc[0]
    assert fit.varcorr()["sd"].iloc[0] == pytest.approx(sd, rel=1e-5)
    np.testing.assert_allclose(fit.ranef()["mode"], other.ranef()["mode"], atol=1e-5)


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("method", ["cratio", "sratio"])
def test_two_levels_are_a_cumulative_model(method: str, link: str) -> None:
    data = load_case("long_clmm_binary").frame()
    formula = "yb ~ x1 + x2 + (1 + x1 || id)"
    cut = link if method == "sratio" else LINKS[link].mirror
    one = ordfit(formula, data, method, link=link)
    other = ordfit(formula, data, cut)
    assert one.loglik == pytest.approx(other.loglik, rel=1e-10)
    np.testing.assert_allclose(one.params, other.params, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(one.se, other.se, rtol=1e-4)


def integrated(parameters: np.ndarray, direction: str) -> float:
    """The log-likelihood with (thresholds, effects, sd) by 60 nodes for each judge."""
    rows = expanded(direction)
    x = np.column_stack([rows["temp"] == "warm", rows["contact"] == "yes"])
    H = x @ parameters[4:6] - parameters[rows["stage"].astype(int)]
    points, weights = np.polynomial.hermite_e.hermegauss(60)
    sign = np.where(rows["higher"] == 1, 1.0, -1.0)[:, None]
    logs = np.zeros((9, 60))
    judges = rows["judge"].astype("category").cat.codes
    np.add.at(logs, judges, log_expit(sign * (H[:, None] + parameters[6] * points)))
    return float(np.log(np.exp(logs) @ (weights / weights.sum())).sum())


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_estimates_by_brute_force(direction: str) -> None:
    fit = ordfit(FORMULA, WINE, "cratio", direction=direction, quadrature=25)
    at = np.append(fit.params[:6], fit.varcorr()["sd"].iloc[0])
    assert fit.loglik == pytest.approx(integrated(at, direction), abs=1e-7)
    slopes = approx_fprime(at, lambda x: integrated(x, direction), 1e-6)
    np.testing.assert_allclose(slopes, 0.0, atol=1e-4)


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_predictions(direction: str) -> None:
    fit = ordfit(FORMULA, WINE, "sratio", direction=direction)
    x = np.column_stack([WINE["temp"] == "warm", WINE["contact"] == "yes"])
    H = x @ fit.coef.to_numpy()
    points, weights = np.polynomial.hermite_e.hermegauss(60)
    sd = fit.varcorr()["sd"].iloc[0]
    modes = fit.ranef()["mode"].to_numpy()
    judges = WINE["judge"].astype("category").cat.codes

    def levels(H: np.ndarray) -> np.ndarray:
        eta = fit.thresholds.to_numpy() - H[..., None]
        lower = np.exp(log_expit(eta))
        higher = np.exp(log_expit(-eta))
        one = np.ones((*H.shape, 1))
        if direction == "forward":
            reached = np.concatenate([one, np.cumprod(higher, axis=-1)], axis=-1)
            return reached * np.concatenate([lower, one], axis=-1)
        reached = np.concatenate(
            [np.cumprod(lower[..., ::-1], axis=-1)[..., ::-1], one], axis=-1
        )
        return reached * np.concatenate([one, higher], axis=-1)

    averaged = np.einsum(
        "q,nqk->nk", weights / weights.sum(), levels(H[:, None] + sd * points)
    )
    for re, expected in (
        ("marginal", averaged),
        ("mode", levels(H + modes[judges])),
        ("zero", levels(H)),
    ):
        actual = fit.predict(WINE, type="prob", re=re)
        np.testing.assert_allclose(actual, expected, atol=1e-7)


def test_hazards_are_refused() -> None:
    """A hazard averaged over random effects is none of the rows that are left."""
    fit = ordfit(FORMULA, WINE, "cratio")
    with no_type("hazard"):
        fit.predict(type="hazard")

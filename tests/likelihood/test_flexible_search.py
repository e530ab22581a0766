"""The parameter of a link found by a bounded search; refused where the likelihood has
no maximum in it.
"""

from __future__ import annotations

import numpy as np
import pytest
from expected import refused
from scipy.optimize import minimize_scalar

from benchmarks.against_r.specs import KINDS
from ordstat import ordfit
from ordstat.exceptions import DataError

pytestmark = pytest.mark.filterwarnings("ignore::ordstat.exceptions.DataWarning")
HALF = 0.5 * 3.841458820694124


def data(seed: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """80 rows with an offset that has nothing to do with the response."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=80)
    z = rng.normal(size=80)
    y = np.searchsorted([-1, 0.3, 1.5], x + rng.logistic(size=80))
    return {"x": x, "z": z, "y": y}, rng.normal(size=80)


@pytest.mark.parametrize(
    ("link", "seed", "given", "message"),
    [
        (
            "aranda-ordaz",
            0,
            True,
            (
                "no maximum from lambda = 16 on. Fix it, as in link=\\('aranda-ordaz',"
                " 16\\)"
            ),
        ),
        pytest.param(
            *("log-gamma", 0, True, "no maximum from lambda = 8 on"),
            marks=pytest.mark.slow,
        ),
        ("aranda-ordaz", 3, False, "as lambda falls to 0. Use link='cloglog'"),
    ],
)
def test_a_likelihood_without_a_maximum_in_lambda_is_refused(
    link: str, seed: int, given: bool, message: str
) -> None:
    columns, offset = data(seed)
    with pytest.raises(DataError, match=message):
        ordfit("y ~ x + z", columns, link=link, offset=offset if given else None)


@pytest.mark.parametrize(
    ("link", "seed"), [("aranda-ordaz", 0), ("log-gamma", 1), ("log-gamma", 7)]
)
def test_limits_of_other_parameters(link: str, seed: int) -> None:
    """At the limits the log-likelihood, maximised over lambda by brute force, has
    fallen by half the quantile.
    """
    columns, _ = data(seed)
    fit = ordfit("y ~ x + z", columns, link=link)
    for limit in fit.confint(type="profile", parm="z").to_numpy()[0]:

        def loss(c: float, limit: float = limit) -> float:
            lam = float(np.exp(c)) if link == "aranda-ordaz" else c
            return -ordfit(
                "y ~ x", columns, link=(link, lam), offset=limit * columns["z"]
            ).loglik

        best = minimize_scalar(
            loss, bounds=(-7.5, 2.5), method="bounded", options={"xatol": 1e-7}
        )
        assert fit.loglik + best.fun == pytest.approx(HALF, abs=1e-6)


def test_a_start_far_from_the_data_is_refused() -> None:
    rng = np.random.default_rng(19)
    x = rng.normal(size=60)
    z = rng.normal(size=60)
    y = np.searchsorted([-1, 0, 1], x + rng.logistic(size=60))
    with refused("start"):
        ordfit(
            "y ~ x",
            {"x": x, "z": z, "y": y},
            link="cloglog",
            scale="~ z",
            start=(-1, 0.3, 1, -3, 3),
        )


def test_a_likelihood_that_is_level_in_lambda_is_refused() -> None:
    """At lambda = -8.03 and -4.80, where R's clm stops, log-likelihoods differ by
    4e-8.
    """
    spec = KINDS["any"](3002, 100)
    with pytest.raises(DataError, match="lambda has no estimate"):
        ordfit(spec.formula, spec.data, **spec.options)


def test_a_maximum_between_two_lambdas_of_the_grid() -> None:
    """At 16 and at 64 the profile is lower than at 22.7; R's clm comes to
    -199.383485286, without an end.
    """
    spec = KINDS["any"](35, 452)
    fit = ordfit(spec.formula, spec.frame, link="aranda-ordaz")
    assert fit.certificate.reached and 16.0 < fit.params["lambda"] < 64.0
    assert fit.loglik >= -199.383485286
    assert fit.loglik > max(
        ordfit(spec.formula, spec.frame, link=("aranda-ordaz", lam)).loglik
        for lam in (16, 64)
    )


@pytest.mark.parametrize(
    ("seed", "number", "loglik", "best", "other"),
    [(69, 381, -440.567996, 11.2, 14.0), (941, 71, -219.775529, 1.496, -3.759)],
)
def test_the_highest_maximum_in_lambda(seed, number, loglik, best, other) -> None:
    """R's clm comes to `loglik`: once at a lambda beyond the usual ones, once where the
    profile has two maxima.
    """
    spec = KINDS["any"](seed, number)
    fit = ordfit(spec.formula, spec.frame, link="log-gamma", weights=spec.weights)
    assert fit.loglik >= loglik and fit.params["lambda"] == pytest.approx(
        best, rel=0.01
    )
    held = ordfit(
        spec.formula, spec.frame, link=("log-gamma", other), weights=spec.weights
    )
    assert fit.loglik > held.loglik + 0.03
    assert fit.certificate.reached and np.isfinite(fit.se["lambda"])


def test_a_cauchit_from_the_logit_optimum() -> None:
    """R's clm comes to -39.8207635 with 1e12 for the ends of the line; without effects
    one starts below -40.46.
    """
    spec = KINDS["any"](941, 211)
    assert (
        ordfit(spec.formula, spec.frame, link="cauchit", weights=spec.weights).loglik
        >= -39.8207636
    )

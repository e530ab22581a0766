"""Paths of R's ordinalNet (2.14, at tolerances of 1e-14) and the ridge of rms::lrm."""

from __future__ import annotations

import numpy as np
import pytest
from reference_cases import load_case

from ordstat import ElasticNet, ordfit

#: What ordinalNet's own stopping rule leaves, and ours of 1e-7 lambda.
CLOSE = 1e-6
PARALLEL = {
    "pen200_enet_lasso": {},
    "pen200_enet_ridge": {"l1_ratio": 0.0},
    "pen200_enet_lasso_factors": {
        "factors": dict(
            zip([f"x{j}" for j in range(1, 21)], [0, 1, 2, 1] * 5, strict=True)
        ),
        "standardize": False,
    },
    "pen200_enet_half_probit": {"l1_ratio": 0.5},
    "wide_enet_lasso": {},
}


def path_of_r(name):
    """The case, its data, intercepts (L, K-1) and other coefficients (L, p)."""
    case = load_case(name)
    values = np.array(case.raw["coefs"]["values"], dtype=float)
    return case, case.frame(), values[:, :3], values[:, 3:]


def check_fit(case, fit):
    """The log-likelihood and the probabilities at the last lambda."""
    np.testing.assert_allclose(fit.path["loglik"], case.raw["loglik"], atol=1e-5)
    last = fit.at(fit.path["lambda"].iloc[-1])
    probabilities = last.predict(type="prob").to_numpy()[:5]
    expected = np.array(case.raw["prob_head"]["values"], dtype=float)
    np.testing.assert_allclose(probabilities, expected, atol=CLOSE)
    assert (fit.path["kkt"] <= 1e-7).all()


@pytest.mark.parametrize("name", PARALLEL)
def test_paths_of_cumulative_models(name):
    case, frame, intercepts, effects = path_of_r(name)
    net = ElasticNet(lambdas=case.raw["lambda"], **PARALLEL[name])
    link = "probit" if "probit" in name else "logit"
    fit = ordfit("y ~ .", frame, penalty=net, link=link)
    coef = fit.path_coef.to_numpy()
    np.testing.assert_allclose(coef[:, :3], intercepts, atol=CLOSE)
    np.testing.assert_allclose(coef[:, 3:], -effects, atol=CLOSE)
    nonzero = np.count_nonzero(effects, axis=1)
    assert np.array_equal(np.count_nonzero(coef[:, 3:], axis=1), nonzero)
    check_fit(case, fit)


@pytest.mark.parametrize("name", ["pen200_enet_lasso", "pen200_enet_half_probit"])
def test_the_first_lambda_sets_all_coefficients_to_0(name):
    case, frame, _, _ = path_of_r(name)
    net = ElasticNet(n_lambdas=1, **PARALLEL[name])
    link = "probit" if "probit" in name else "logit"
    fit = ordfit("y ~ .", frame, penalty=net, link=link)
    assert fit.lambda_ == pytest.approx(case.raw["lambda"][0], rel=1e-12)
    assert fit.selected == []


def test_effects_of_their_own_on_all_thresholds():
    case, frame, intercepts, effects = path_of_r("pen150_enet_nonparallel_acat")
    net = ElasticNet(lambdas=case.raw["lambda"], groups=False)
    fit = ordfit("y ~ 1", frame, nominal="~ .", method="acat", penalty=net)
    coef = fit.path_coef.to_numpy()
    # ordinalNet has log(p_{k+1} / p_k) = intercept + x'b, by threshold
    own = effects.reshape(len(effects), 3, 12).transpose(0, 2, 1)
    np.testing.assert_allclose(coef[:, :3], -intercepts, atol=CLOSE)
    np.testing.assert_allclose(coef[:, 3:], -own.reshape(len(own), -1), atol=CLOSE)
    check_fit(case, fit)


def test_common_effects_and_departures_from_them():
    case, frame, intercepts, effects = path_of_r("pen150_enet_semiparallel_sratio")
    net = ElasticNet(lambdas=case.raw["lambda"], l1_ratio=0.7, groups=False)
    fit = ordfit("y ~ .", frame, nominal="~ .", method="sratio", penalty=net)
    coef = fit.path_coef.to_numpy()
    own = effects[:, 12:].reshape(len(effects), 3, 12).transpose(0, 2, 1)
    np.testing.assert_allclose(coef[:, :3], intercepts, atol=CLOSE)
    np.testing.assert_allclose(coef[:, 3:39], own.reshape(len(own), -1), atol=CLOSE)
    np.testing.assert_allclose(coef[:, 39:], -effects[:, :12], atol=CLOSE)
    check_fit(case, fit)


def test_ridge_of_lrm():
    case = load_case("pen150_lrm_ridge")
    frame = case.frame()
    # lrm: loglik - L / 2 sum (s_j b_j)^2, with variances of divisor n - 1
    net = ElasticNet(l1_ratio=0.0, lambdas=5.0 / (len(frame) - 1))
    fit = ordfit("y ~ x1 + x2 + x3 + x4 + x5 + x6", frame, penalty=net)
    expected = case.coefficients.to_numpy()
    np.testing.assert_allclose(fit.coef, expected[3:], atol=1e-8)
    np.testing.assert_allclose(fit.thresholds, -expected[:3], atol=1e-8)
    assert fit.edf - 3.0 == pytest.approx(case.raw["stats"]["d.f."], abs=1e-6)

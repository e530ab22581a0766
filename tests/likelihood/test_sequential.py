"""Continuation and stopping ratios: R's VGAM, binary models of the stages, refits and
brute force.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from expected import no_type
from reference_cases import load_case
from scipy import stats
from scipy.optimize import linprog, minimize
from scipy.special import expit, log_expit
from seams import LINKS, LikelihoodResults
from statsmodels.discrete.discrete_model import Logit

from ordstat import (
    ContinuationRatioModel,
    DataWarning,
    OptionError,
    OrdinalClassifier,
    SeparationWarning,
    SurveyDesign,
    compare,
    load,
    ordfit,
    pool,
)
from ordstat.exceptions import UnavailableError
from ordstat.likelihood import sequential
from ordstat.likelihood.predictor import Predictor
from ordstat.likelihood.row_limits import RowLimits

pytestmark = pytest.mark.filterwarnings(
    "ignore:weights= are counts of equal rows:ordstat.exceptions.DataWarning"
)

METHODS = ("cratio", "sratio")
DIRECTIONS = ("forward", "backward")

#: Case -> method, options, and the sign of VGAM's effects; its intercepts and free
#: effects have the other one.
VGAM: dict[str, tuple[str, dict[str, Any], float]] = {
    "wine_vgam_cratio_parallel": ("cratio", {}, 1.0),
    "sim500_vgam_cratio_probit": ("cratio", {"link": "probit"}, 1.0),
    "sim500_vgam_cratio_reverse": ("cratio", {"direction": "backward"}, -1.0),
    "sim500_vgam_sratio": ("sratio", {}, -1.0),
    "sim800_vgam_sratio_partial": ("sratio", {"nominal": "~ f"}, -1.0),
    "sim800_vgam_sratio_cauchit_weights": ("sratio", {"link": "cauchit"}, -1.0),
    "housing_vgam_sratio_nonparallel": (
        "sratio",
        {"nominal": "~ Infl + Type + Cont"},
        -1.0,
    ),
}


def vgam_fit(name: str) -> LikelihoodResults:
    case = load_case(name)
    method, options, _ = VGAM[name]
    response, terms = case.spec["formula"].split("~")
    free = options.get("nominal", "").lstrip("~ ").split(" + ")
    parallel = [term for term in terms.strip().split(" + ") if term not in free]
    formula = f"{response} ~ {' + '.join(parallel) or '1'}"
    weights = case.spec.get("weights")
    return ordfit(formula, case.frame(), method, weights=weights, tol=1e-11, **options)


@pytest.mark.parametrize("name", VGAM)
def test_vgam(name: str) -> None:
    """VGAM's scoring ends up to 1e-8 from the maximum; its errors are of the expected
    information.
    """
    fit = vgam_fit(name)
    case = load_case(name)
    sign = VGAM[name][2]
    values = case.coefficients
    free = np.array([label.rpartition(":")[2].isdigit() for label in values.index])
    expected = np.concatenate([-sign * values[free], sign * values[~free]])
    np.testing.assert_allclose(fit.params, expected, rtol=1e-7, atol=1e-8)
    assert fit.loglik == pytest.approx(case.loglik, rel=1e-12)
    head = case.matrix("fitted_head")
    assert head is not None
    actual = fit.predict(case.frame().iloc[: len(head)], type="prob")
    np.testing.assert_allclose(actual, head, rtol=1e-4)  # of VGAM's default fit


# Data, and the binary models of the stages


def frame(n: int = 300, n_levels: int = 4, seed: int = 3) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    latent = 0.8 * X[:, 0] - 0.5 * X[:, 1] + rng.logistic(size=n)
    return pd.DataFrame(
        {
            "a": X[:, 0],
            "b": X[:, 1],
            "known": 0.3 * rng.normal(size=n),
            "w": rng.integers(1, 4, n),
            "id": rng.integers(0, 25, n),
            "y": pd.qcut(latent, n_levels, labels=False),
        }
    )


def expanded(data: pd.DataFrame, direction: str, response: str = "y") -> pd.DataFrame:
    """A row for each stage that a row reaches, `higher` where it lies above it."""
    parts = []
    for stage in range(int(data[response].max())):
        reaches = (
            data[response] >= stage
            if direction == "forward"
            else data[response] <= stage + 1
        )
        part = data[reaches]
        higher = (part[response] > stage).astype(int)
        parts.append(part.assign(stage=str(stage), higher=higher, row=part.index))
    return pd.concat(parts, ignore_index=True)


def cut_name(method: str, direction: str, link: str) -> str:
    """The link of P(y <= k) at a stage."""
    stops = method == "sratio"
    return link if stops == (direction == "forward") else LINKS[link].mirror


def on_stages(fit: LikelihoodResults, binary: LikelihoodResults) -> np.ndarray:
    """(P, P) from the binary model of all stages to thresholds and effects."""
    count = len(fit.thresholds)
    names = list(binary.params.index)
    out = np.zeros((len(fit.params), len(names)))
    for stage in range(count):
        out[stage, 0] = 1.0
        if stage:
            out[stage, names.index(f"stage[T.{stage}]")] = -1.0
    for place, name in enumerate(fit.coef.index, start=count):
        out[place, names.index(name)] = 1.0
    return out


CASES = [
    (method, direction, link)
    for method in METHODS
    for direction in DIRECTIONS
    for link in LINKS
]


@pytest.mark.parametrize(("method", "direction", "link"), CASES)
def test_stages_are_binary_models(method: str, direction: str, link: str) -> None:
    """Estimates, covariance and likelihood, with weights and an offset."""
    data = frame()
    arguments = {"weights": "w", "offset": "known", "tol": 1e-9}
    fit = ordfit("y ~ a + b", data, method, link=link, direction=direction, **arguments)
    binary = ordfit(
        "higher ~ stage + a + b",
        expanded(data, direction),
        cut_name(method, direction, link),
        **arguments,
    )
    turn = on_stages(fit, binary)
    np.testing.assert_allclose(fit.params, turn @ binary.params, rtol=1e-7, atol=1e-9)
    covariance = turn @ binary.vcov().to_numpy() @ turn.T
    np.testing.assert_allclose(fit.vcov(), covariance, rtol=1e-6, atol=1e-10)
    assert fit.loglik == pytest.approx(binary.loglik, rel=1e-12)


def test_logit_stages_by_statsmodels() -> None:
    data = frame()
    fit = ordfit("y ~ a + b", data, "cratio", tol=1e-10)
    rows = expanded(data, "forward")
    dummies = pd.get_dummies(rows["stage"], dtype=float)
    X = pd.concat([-dummies, rows[["a", "b"]]], axis=1)
    other = Logit(rows["higher"], X).fit(disp=False, method="newton", tol=1e-12)
    np.testing.assert_allclose(fit.params, other.params, rtol=1e-9)
    np.testing.assert_allclose(fit.se, other.bse, rtol=1e-8)
    assert fit.loglik == pytest.approx(other.llf, rel=1e-13)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("method", METHODS)
def test_robust_and_survey_covariances_by_stages(method: str, direction: str) -> None:
    """The score of a row is the sum over its stages: a cluster of the binary model."""
    data = frame()
    rows = expanded(data, direction)
    link = cut_name(method, direction, "cloglog")
    options = {"link": "cloglog", "direction": direction, "tol": 1e-9}
    by_row = {"vcov": {"cluster": "row", "type": "CR1"}}
    by_id = {"vcov": {"cluster": "id", "type": "CR1"}}
    survey = {"design": SurveyDesign(weights="w", clusters="id")}
    pairs = [({"vcov": "HC0"}, by_row), (by_id, by_id), (survey, survey)]
    for own, other in pairs:
        fit = ordfit("y ~ a + b", data, method, **options, **own)
        binary = ordfit("higher ~ stage + a + b", rows, link, tol=1e-9, **other)
        turn = on_stages(fit, binary)
        expected = turn @ binary.vcov().to_numpy() @ turn.T
        if own == {"vcov": "HC0"}:
            expected *= 299.0 / 300.0  # CR1 has G / (G - 1)
        np.testing.assert_allclose(fit.vcov(), expected, rtol=1e-6, atol=1e-10)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("method", METHODS)
def test_free_effects_separate_into_stages(method: str, direction: str) -> None:
    data = frame()
    link = "loglog"
    free = ordfit(
        "y ~ 1",
        data,
        method,
        nominal="~ a + b",
        link=link,
        direction=direction,
        tol=1e-9,
    )
    rows = expanded(data, direction)
    estimates = free.params.to_numpy().reshape(3, 3)
    errors = free.se.to_numpy().reshape(3, 3)
    total = 0.0
    for stage in range(3):
        part = rows[rows["stage"] == str(stage)]
        binary = ordfit(
            "higher ~ a + b", part, cut_name(method, direction, link), tol=1e-9
        )
        signs = np.array([1.0, -1.0, -1.0])  # free effects are parts of thresholds
        np.testing.assert_allclose(
            estimates[:, stage], signs * binary.params, rtol=1e-7, atol=1e-9
        )
        np.testing.assert_allclose(errors[:, stage], binary.se, rtol=1e-6)
        total += binary.loglik
    assert free.loglik == pytest.approx(total, rel=1e-12)


# Equalities


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("method", METHODS)
def test_two_levels_are_a_binary_regression(
    method: str, direction: str, link: str
) -> None:
    data = frame(n_levels=2)
    one = ordfit("y ~ a + b", data, method, link=link, direction=direction)
    other = ordfit("y ~ a + b", data, cut_name(method, direction, link))
    np.testing.assert_allclose(one.params, other.params, rtol=1e-7)
    np.testing.assert_allclose(one.se, other.se, rtol=1e-7)
    assert one.loglik == pytest.approx(other.loglik, rel=1e-12)


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("method", METHODS)
def test_backward_is_forward_on_reversed_levels(method: str, link: str) -> None:
    data = frame()
    back = ordfit("y ~ a + b", data, method, link=link, direction="backward")
    turned = ordfit("y ~ a + b", data.assign(y=-data["y"]), method, link=link)
    np.testing.assert_allclose(back.coef, -turned.coef, rtol=1e-6)
    np.testing.assert_allclose(back.thresholds, -turned.thresholds[::-1], rtol=1e-6)
    np.testing.assert_allclose(back.se[:2], turned.se.iloc[[2, 1]], rtol=1e-6)
    assert back.loglik == pytest.approx(turned.loglik, rel=1e-12)
    p = back.predict(type="prob").to_numpy()
    np.testing.assert_allclose(p, turned.predict(type="prob").to_numpy()[:, ::-1])
    hazards = back.predict(type="hazard").to_numpy()
    np.testing.assert_allclose(
        hazards, turned.predict(type="hazard").to_numpy()[:, ::-1], rtol=1e-6
    )


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_stopping_is_continuing_by_the_mirrored_link(direction: str, link: str) -> None:
    data = frame()
    one = ordfit("y ~ a + b", data, "sratio", link=link, direction=direction)
    mirror = LINKS[link].mirror
    other = ordfit("y ~ a + b", data, "cratio", link=mirror, direction=direction)
    np.testing.assert_allclose(one.params, other.params, rtol=1e-9)
    np.testing.assert_allclose(one.se, other.se, rtol=1e-9)


def test_the_directions_are_different_models() -> None:
    data = frame()
    one = ordfit("y ~ a + b", data, "cratio")
    other = one.update(direction="backward")
    assert abs(one.loglik - other.loglik) > 0.1


@pytest.mark.parametrize(
    ("link", "direction", "sign"),
    [("cloglog", "forward", 1.0), ("loglog", "backward", -1.0)],
)
def test_grouped_hazards_are_the_cumulative_model(
    link: str, direction: str, sign: float
) -> None:
    """Laara and Matthews (1985): theta_k of the cumulative model is log sum exp."""
    data = frame()
    options = {"direction": direction, "tol": 1e-10}
    stages = ordfit("y ~ a + b", data, "sratio", link="cloglog", **options)
    cumulative = ordfit("y ~ a + b", data, link, tol=1e-10)
    np.testing.assert_allclose(stages.coef, cumulative.coef, rtol=1e-9)
    np.testing.assert_allclose(stages.se[3:], cumulative.se[3:], rtol=1e-8)
    assert stages.loglik == pytest.approx(cumulative.loglik, rel=1e-13)
    steps = sign * stages.thresholds.to_numpy()
    expected = np.logaddexp.accumulate(steps[:: int(sign)])[:: int(sign)] * sign
    np.testing.assert_allclose(cumulative.thresholds, expected, rtol=1e-8)
    np.testing.assert_allclose(
        stages.predict(type="prob"), cumulative.predict(type="prob"), rtol=1e-7
    )


# Derivatives


def families() -> list[Any]:
    pairs = [
        (kind, back)
        for kind in (sequential.ContinuationRatio, sequential.StoppingRatio)
        for back in (False, True)
    ]
    return [
        pytest.param(kind(link, backward=back), id=f"{kind.__name__} {back} {name}")
        for kind, back in pairs
        for name, link in LINKS.items()
    ]


ETA = np.random.default_rng(0).normal(size=(40, 4)) * 1.5
Y = np.random.default_rng(1).integers(0, 5, 40)
STEP = 1e-5


def slopes(value: Any) -> np.ndarray:
    """(..., K-1) central differences of a function by each predictor."""
    steps = STEP * np.eye(4)
    parts = [(value(ETA + h) - value(ETA - h)) / (2.0 * STEP) for h in steps]
    return np.stack(parts, axis=-1)


@pytest.mark.parametrize("family", families())
def test_derivatives_by_the_predictors(family: sequential.Sequential) -> None:
    terms = family.at_eta(ETA, Y)
    p = np.exp(family.log_probabilities(ETA))
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-14)
    np.testing.assert_allclose(terms.log_p, np.log(p[np.arange(40), Y]), rtol=1e-12)
    score = slopes(lambda eta: family.at_eta(eta, Y).log_p)
    np.testing.assert_allclose(terms.slope.T, score, rtol=1e-6, atol=1e-8)
    bends = slopes(lambda eta: family.at_eta(eta, Y).slope.T)
    curvature = -terms.curvature.transpose(2, 0, 1)
    np.testing.assert_allclose(curvature, bends, rtol=1e-6, atol=1e-8)
    below = slopes(family.below)
    np.testing.assert_allclose(family.below_slope(ETA), below, rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(family.above(ETA), 1.0 - family.below(ETA), atol=1e-14)
    odds = slopes(family.log_odds_above)
    np.testing.assert_allclose(
        family.log_odds_above_slope(ETA), odds, rtol=1e-5, atol=1e-7
    )
    hazard = slopes(family.hazards)
    own = family.hazard_slopes(ETA)[:, :, None] * np.eye(4)
    np.testing.assert_allclose(own, hazard, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(family.hazards(ETA) + family.survivals(ETA), 1.0)


@pytest.mark.parametrize("family", families())
def test_the_chain_rule(family: sequential.Sequential) -> None:
    """By every threshold, H and tau: score, curvature and slopes of the curvature."""
    rng = np.random.default_rng(2)
    point = np.vstack([rng.normal(size=(4, 40)), 0.3 * rng.normal(size=(2, 40))])

    def terms(x: np.ndarray) -> Any:
        predictor = Predictor(w=np.ones((40, 1)), alpha=x[:4, :1], H=x[4], tau=x[5])
        return family.terms(predictor, Y)

    point[:4] = point[:4, :1]
    here = terms(point)
    score = []
    curvature = []
    bends = []
    for unit in STEP * np.eye(6)[:, :, None]:
        high = terms(point + unit)
        low = terms(point - unit)
        score.append((high.log_p - low.log_p) / (2.0 * STEP))
        curvature.append((low.score - high.score) / (2.0 * STEP))
        bends.append((high.second()[4, 4] - low.second()[4, 4]) / (2.0 * STEP))
    np.testing.assert_allclose(here.score, score, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(here.second(), curvature, rtol=1e-6, atol=1e-7)
    predictor = Predictor(
        w=np.ones((40, 1)), alpha=point[:4, :1], H=point[4], tau=point[5]
    )
    by_location = family.by_location(predictor, Y)
    np.testing.assert_allclose(by_location.score, here.score[4], rtol=1e-12)
    np.testing.assert_allclose(by_location.curvature, here.second()[4, 4], rtol=1e-12)
    actual = family.curvature_slopes(predictor, Y)
    np.testing.assert_allclose(actual, bends, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("family", families())
def test_start_has_the_shares(family: sequential.Sequential) -> None:
    shares = np.array([0.1, 0.3, 0.05, 0.35, 0.2])
    eta = family.start(shares)[None]
    np.testing.assert_allclose(np.exp(family.log_probabilities(eta))[0], shares)


# Weights, levels without rows


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("method", METHODS)
def test_a_weight_is_repeated_rows_and_0_none(method: str, direction: str) -> None:
    data = frame().assign(w=lambda d: np.arange(len(d)) % 4)
    options = {"link": "probit", "direction": direction}
    weighted = ordfit("y ~ a + b", data, method, weights="w", **options)
    rows = data.loc[data.index.repeat(data["w"])].reset_index(drop=True)
    repeated = ordfit("y ~ a + b", rows, method, **options)
    np.testing.assert_allclose(weighted.params, repeated.params, rtol=1e-8)
    np.testing.assert_allclose(weighted.se, repeated.se, rtol=1e-8)
    assert weighted.loglik == pytest.approx(repeated.loglik, rel=1e-12)


@pytest.mark.parametrize("link", ["logit", "cloglog"])
@pytest.mark.parametrize("absent", [[0], [2], [4], [0, 1], [2, 3], [0, 2, 4]])
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("method", METHODS)
def test_levels_without_rows(
    method: str, direction: str, absent: list[int], link: str
) -> None:
    left = [level for level in range(5) if level not in absent]
    data = frame(n_levels=len(left))
    data["y"] = np.array(left)[data["y"]]
    options = {"link": link, "direction": direction}
    narrow = ordfit("y ~ a + b", data, method, **options)
    with pytest.warns(DataWarning, match="No row has the level"):
        wide = ordfit("y ~ a + b", data, method, levels=range(5), **options)
    assert wide.loglik == pytest.approx(narrow.loglik, rel=1e-13)
    np.testing.assert_allclose(wide.coef, narrow.coef, rtol=1e-9)
    p = wide.predict(type="prob")
    np.testing.assert_allclose(p[left], narrow.predict(type="prob"), rtol=1e-9)
    assert (p[absent] == 0.0).all(axis=None)
    hazards = wide.predict(type="hazard")
    assert (hazards[[k for k in absent if k in hazards]].isin([0.0, 1.0])).all(
        axis=None
    )
    reached = [k for k in left if k in hazards and k in narrow.predict(type="hazard")]
    np.testing.assert_allclose(
        hazards[reached], narrow.predict(type="hazard")[reached], rtol=1e-9
    )


# Hazards


@pytest.mark.parametrize(("method", "direction", "link"), CASES)
def test_hazards_and_probabilities_by_hand(
    method: str, direction: str, link: str
) -> None:
    data = frame(120)
    fit = ordfit(
        "y ~ a + b", data, method, link=link, direction=direction, scale="~ known"
    )
    new = data.head(7)
    H = new[["a", "b"]].to_numpy() @ fit.coef[["a", "b"]].to_numpy()
    spread = np.exp(fit.params["scale.known"] * new["known"].to_numpy())
    eta = (fit.thresholds.to_numpy() - H[:, None]) / spread[:, None]
    F = {
        "logit": stats.logistic,
        "probit": stats.norm,
        "cloglog": stats.gumbel_l,
        "loglog": stats.gumbel_r,
        "cauchit": stats.cauchy,
    }[link].cdf
    if direction == "forward":
        stop = F(eta) if method == "sratio" else 1.0 - F(-eta)
        labels = [0, 1, 2]
        order = [0, 1, 2]
    else:
        stop = F(-eta) if method == "sratio" else 1.0 - F(eta)
        labels = [1, 2, 3]
        order = [2, 1, 0]
    hazards = fit.predict(new, type="hazard")
    assert list(hazards.columns) == labels
    np.testing.assert_allclose(hazards, stop, rtol=1e-9)
    expected = np.zeros((7, 4))
    left = np.ones(7)
    for stage in order:
        expected[:, labels[stage]] = left * stop[:, stage]
        left = left * (1.0 - stop[:, stage])
    expected[:, 3 if direction == "forward" else 0] = left
    np.testing.assert_allclose(fit.predict(new, type="prob"), expected, rtol=1e-8)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_errors_and_limits_of_hazards(direction: str) -> None:
    """Of one stage: the logit of a hazard is linear in the parameters."""
    data = frame(120)
    fit = ordfit("y ~ a + b", data, "cratio", direction=direction)
    new = data.head(5)
    table = fit.predict(new, type="hazard", se=True, interval="confidence")
    sign = 1.0 if direction == "forward" else -1.0
    L = np.zeros((5, 3, 5))
    L[:, :, :3] = np.eye(3)
    L[:, :, 3:] = -new[["a", "b"]].to_numpy()[:, None]
    logit = sign * L @ fit.params.to_numpy()
    error = np.sqrt(np.einsum("nkp,pq,nkq->nk", L, fit.vcov().to_numpy(), L))
    p = expit(logit)
    np.testing.assert_allclose(table["estimate"], p, rtol=1e-10)
    np.testing.assert_allclose(table["std_error"], p * (1.0 - p) * error, rtol=1e-8)
    z = stats.norm.ppf(0.975)
    np.testing.assert_allclose(table["lower"], expit(logit - z * error), rtol=1e-8)
    np.testing.assert_allclose(table["upper"], expit(logit + z * error), rtol=1e-8)


# What separated data determine


STATES = np.array(list(product([0.0, np.inf, -np.inf, np.nan], repeat=3)))


def answers(
    family: sequential.Sequential, type: str, given: np.ndarray, draws: int
) -> np.ndarray:
    """(draws, M) predictions with drawn values of unknown predictors."""
    rng = np.random.default_rng(0)
    values = rng.choice([-np.inf, -1.3, 0.4, 2.0, np.inf], size=(draws, 3))
    eta = np.where(np.isnan(given), values, given)
    p = np.exp(family.log_probabilities(eta))
    up_to = np.cumsum(p, axis=1)
    if type == "prob":
        return p
    if type == "mean":
        return p @ np.arange(1.0, 5.0)[:, None]
    return up_to if type == "cum_prob" else 1.0 - up_to[:, :-1]


@pytest.mark.parametrize("type", ["prob", "cum_prob", "exc_prob", "mean"])
@pytest.mark.parametrize("back", [False, True])
def test_every_state_of_the_predictors(back: bool, type: str) -> None:
    """Unknown: it changes with predictors without a value. Certain: with no finite
    one.
    """
    family = sequential.ContinuationRatio(LINKS["logit"], backward=back)
    limits = RowLimits(
        eta=STATES,
        pairs=None,
        score=np.zeros(len(STATES)),
        zero=np.zeros(STATES.shape, dtype=bool),
        empty=np.zeros((len(STATES), 4), dtype=bool),
        family=family,
    )
    unknown = limits.unknown(type)
    certain = limits.certain(type)
    for row, state in enumerate(STATES):
        finite = state == 0.0
        drawn = answers(family, type, np.where(finite, 0.3, state), 400)
        changes = np.ptp(drawn, axis=0) > 1e-9
        np.testing.assert_array_equal(unknown[row], changes, err_msg=str(state))
        moved = answers(family, type, np.where(finite, -0.9, state), 400)
        moves = np.abs(moved - drawn).max(axis=0) > 1e-9
        if type == "cum_prob":
            moves[-1] = True  # it is 1 for every row, with an error of 0
        known = ~changes
        np.testing.assert_array_equal(
            certain[row, known], ~moves[known], err_msg=str(state)
        )


def grouped(seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    data = frame(320, seed=seed)
    return data.assign(g=rng.choice(list("pqrs"), len(data)))


#: Level of all rows of group s, and the stages that it passes, stops at and leaves.
REACHED = {
    ("forward", 0): [1.0, np.nan, np.nan],
    ("forward", 2): [0.0, 0.0, 1.0],
    ("forward", 3): [0.0, 0.0, 0.0],
    ("backward", 0): [0.0, 0.0, 0.0],
    ("backward", 1): [1.0, 0.0, 0.0],
    ("backward", 3): [np.nan, np.nan, 1.0],
}


@pytest.mark.filterwarnings("ignore::ordstat.exceptions.OrdstatWarning")
@pytest.mark.parametrize("link", ["logit", "cloglog"])
@pytest.mark.parametrize(("direction", "level"), REACHED)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.slow
def test_a_group_at_one_level_with_free_effects(
    method: str, direction: str, level: int, link: str
) -> None:
    """Its hazards are 0 and 1, or unknown; all else is that of the other rows."""
    data = grouped()
    data.loc[data["g"] == "s", "y"] = level
    options = {"nominal": "~ g", "link": link, "direction": direction}
    fit = ordfit("y ~ a", data, method, **options)
    left = ordfit("y ~ a", data[data["g"] != "s"], method, **options)
    assert fit.loglik == pytest.approx(left.loglik, rel=1e-9)
    assert fit.params["a"] == pytest.approx(left.params["a"], rel=1e-7)
    assert fit.se["a"] == pytest.approx(left.se["a"], rel=1e-6)
    new = pd.DataFrame({"a": [0.3, -1.0], "g": ["s", "s"]})
    hazards = fit.predict(new, type="hazard").to_numpy()
    np.testing.assert_allclose(hazards, [REACHED[direction, level]] * 2, atol=1e-12)
    p = fit.predict(new, type="prob", se=True)
    np.testing.assert_allclose(p["estimate"], [np.eye(4)[level]] * 2, atol=1e-12)
    assert p["std_error"].isna().all(axis=None)
    mean = fit.predict(new, type="mean", se=True)
    np.testing.assert_allclose(mean["estimate"], level + 1.0)
    assert mean["std_error"].isna().all()
    assert fit.predict(new).tolist() == [level, level]
    others = pd.DataFrame({"a": [0.3, -1.0, 0.0], "g": list("pqr")})
    for type in ("prob", "cum_prob", "hazard", "mean"):
        actual = fit.predict(others, type=type, se=True)
        expected = left.predict(others, type=type, se=True)
        np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-10)


@pytest.mark.filterwarnings("ignore::ordstat.exceptions.OrdstatWarning")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("direction", "level"), [("forward", 3), ("backward", 0)])
def test_a_group_that_passes_every_stage(
    method: str, direction: str, level: int
) -> None:
    data = grouped(1)
    data.loc[data["g"] == "p", "y"] = level  # the reference level
    options = {"link": "probit", "direction": direction}
    fit = ordfit("y ~ a + g", data, method, **options)
    left = ordfit("y ~ a + g", data[data["g"] != "p"], method, **options)
    assert fit.loglik == pytest.approx(left.loglik, rel=1e-9)
    actual = fit.test("g[T.r] = g[T.q], g[T.s] = g[T.q]")
    expected = left.test("g[T.r] = 0, g[T.s] = 0")
    np.testing.assert_allclose(
        actual.to_numpy(dtype=float), expected.to_numpy(dtype=float), rtol=1e-5
    )
    odds = fit.emmeans("g", scale="odds").frame
    others = left.emmeans("g", scale="odds", at={"a": data["a"].mean()}).frame
    assert odds.loc[odds["g"] == "p", "estimate"].isna().all()
    np.testing.assert_allclose(
        odds.loc[odds["g"] != "p", ["estimate", "std_error"]],
        others[["estimate", "std_error"]],
        rtol=1e-5,
    )


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.slow
def test_complete_separation(direction: str, seed: int) -> None:
    """A stage of a new row is certain where all separating lines agree."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 2))
    data = pd.DataFrame(X, columns=["a", "b"])
    data["y"] = np.digitize(X @ [1.0, 0.6], [-0.6, 0.5])
    with pytest.warns(SeparationWarning) as caught:
        fit = ordfit("y ~ a + b", data, "cratio", direction=direction)
    assert "jeffreys" not in str(caught[0].message)
    assert fit.se.isna().all()
    rows = expanded(data, direction)
    sides = np.where(rows["higher"] == 1, 1.0, -1.0)[:, None]
    stages = np.eye(2)[rows["stage"].astype(int)]
    lines = sides * np.hstack([-stages, rows[["a", "b"]]])
    new = pd.DataFrame(rng.normal(size=(25, 2)) * 2.0, columns=["a", "b"])
    with pytest.warns(DataWarning, match="do not determine"):
        hazards = fit.predict(new, type="hazard").to_numpy()
    for row, stage in product(range(25), range(2)):
        line = np.append(-np.eye(2)[stage], new.iloc[row])
        ends = [
            linprog(
                sign * line, A_ub=-lines, b_ub=-np.ones(len(lines)), bounds=(None,) * 2
            )
            for sign in (1.0, -1.0)
        ]
        passes = [end.status == 0 and end.fun >= 0.0 for end in ends]
        above = 1.0 if passes[0] else 0.0 if passes[1] else np.nan
        expected = 1.0 - above if direction == "forward" else above
        np.testing.assert_allclose(hazards[row, stage], expected, atol=1e-8)


@pytest.mark.filterwarnings("ignore::ordstat.exceptions.OrdstatWarning")
@pytest.mark.parametrize("method", ["probit", "acat", "cratio", "sratio"])
def test_slopes_of_an_infinite_effect_have_no_value(method: str) -> None:
    """At a row with finite predictors, beside an infinite slope."""
    data = grouped(2).assign(d=lambda data: (data["g"] == "s").astype(float))
    data.loc[data["d"] == 1.0, "y"] = 3
    fit = ordfit("y ~ a + d", data, method)
    rows = pd.DataFrame({"a": [0.2, -0.5], "d": [0.0, 0.0]})
    for scale in ("prob", "cum_prob", "mean", "log_odds"):
        effects = fit.marginal_effects("d", scale=scale, newdata=rows)
        assert effects.frame[["estimate", "std_error"]].isna().all(axis=None)
        finite = fit.marginal_effects("a", scale=scale, newdata=rows).frame
        left = ordfit("y ~ a", data[data["d"] == 0.0], method)
        expected = left.marginal_effects("a", scale=scale, newdata=rows).frame
        numbers = ["estimate", "std_error"]
        np.testing.assert_allclose(finite[numbers], expected[numbers], rtol=1e-5)


# What follows a fit


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("method", METHODS)
def test_profile_limits_by_refits(method: str, direction: str) -> None:
    """Held at a limit the log-likelihood is lower by half the chi-squared quantile."""
    data = frame(150)
    options = {"link": "cloglog", "direction": direction}
    fit = ordfit("y ~ a + b", data, method, **options)
    limits = fit.confint(type="profile", parm=["a", "b"])
    drop = 0.5 * stats.chi2.ppf(0.95, 1)
    for name, other in (("a", "b"), ("b", "a")):
        for limit in limits.loc[name]:
            held = data.assign(known=limit * data[name])
            refit = ordfit(f"y ~ {other}", held, method, offset="known", **options)
            assert fit.loglik - refit.loglik == pytest.approx(drop, abs=1e-5)


def test_tests_of_equal_effects_by_refits() -> None:
    data = frame()
    fit = ordfit("y ~ a + b", data, "cratio", direction="backward")
    free = ordfit("y ~ b", data, "cratio", direction="backward", nominal="~ a")
    expected = 2.0 * (free.loglik - fit.loglik)
    assert fit.nominal_test().loc["a", "lrt"] == pytest.approx(expected, rel=1e-6)
    assert fit.anova(free)["lr_stat"].iloc[1] == pytest.approx(expected, rel=1e-6)
    assert fit.score_test().loc["a", "chisq"] == pytest.approx(expected, rel=0.2)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_residuals_by_hand(direction: str) -> None:
    data = frame(100)
    fit = ordfit("y ~ a + b", data, "sratio", link="probit", direction=direction)
    p = fit.predict(type="prob").to_numpy()
    y = data["y"].to_numpy()
    levels = np.arange(4)
    below = (p * (levels < y[:, None])).sum(axis=1)
    above = (p * (levels > y[:, None])).sum(axis=1)
    shown = fit.residuals("probability-scale")
    np.testing.assert_allclose(shown, below - above, atol=1e-12)
    deviance = fit.residuals("deviance").to_numpy()
    own = p[np.arange(100), y]
    np.testing.assert_allclose(deviance**2, -2.0 * np.log(own), rtol=1e-9)
    surrogate = fit.residuals("surrogate").to_numpy() + 0.5
    assert ((surrogate >= below) & (surrogate <= 1.0 - above)).all()
    generalised = fit.residuals("generalised").to_numpy()
    moved = []
    for step in (1e-5, -1e-5):
        shifted = ordfit(
            "y ~ offset(known)",
            data.assign(known=fit.predict(type="score") + step),
            "sratio",
            link="probit",
            direction=direction,
            max_iter=1,
            start=fit.thresholds.tolist(),
        )
        rows = shifted.design.sample.rows
        rule = replace(shifted.rule, alpha=fit.thresholds.to_numpy()[:, None])
        moved.append(np.log(rule.probabilities(rows, rows.offset)[np.arange(100), y]))
    np.testing.assert_allclose(
        generalised, (moved[0] - moved[1]) / 2e-5, rtol=1e-5, atol=1e-7
    )


@pytest.mark.parametrize(
    ("method", "words"),
    [
        ("cratio", "a continuation-ratio model"),
        ("sratio", "a stopping-ratio model"),
        ("acat", "an adjacent-category model"),
    ],
)
def test_what_needs_ordered_thresholds_is_refused(method: str, words: str) -> None:
    fit = ordfit("y ~ a + b", frame(), method)
    with pytest.raises(
        OptionError, match=f"needs a cumulative link model; got {words}"
    ):
        fit.brant()
    with pytest.raises(UnavailableError, match=r"margins\(\) .* need not increase"):
        fit.margins()
    with no_type("margin"):
        fit.predict(type="margin")
    assert "has no margins" in fit.bounds().attrs["notes"][0]
    with pytest.raises(OptionError, match="must go with a cumulative link model"):
        ordfit("y ~ a", frame(), method, penalty="jeffreys")


@pytest.mark.parametrize("method", ["cratio", "sratio", "acat"])
def test_separation_advises_a_ridge_alone(method: str) -> None:
    data = frame().assign(g=lambda d: d["y"] == 3)
    with pytest.warns(
        SeparationWarning, match=r"fit with a ridge \(penalty=1.0\)"
    ) as w:
        ordfit("y ~ a + g", data, method)
    assert "jeffreys" not in str(w[0].message)
    ridge = ordfit("y ~ a + g", data, method, penalty=1.0)
    assert np.isfinite(ridge.se).all()


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_means_and_slopes_name_what_they_are_of(link: str) -> None:
    fit = ordfit("y ~ a + b", frame(), "cratio", link=link)
    means = str(fit.emmeans("a"))
    name = "log odds" if link == "logit" else "linear predictor"
    words = f"the {name} of a higher level among the levels left"
    assert words in " ".join(means.split())
    assert "neighbouring" not in means


def test_a_ridge_is_that_of_the_stages() -> None:
    """Half the squared effects, per deviation of the columns over the rows of the
    fit.
    """
    data = frame()
    data["a"] *= 3.0
    fit = ordfit("y ~ a + b", data, "cratio", penalty=20.0)
    spread = data[["a", "b"]].std(ddof=0).to_numpy()
    rows = expanded(data, "forward")

    def negative(x: np.ndarray) -> float:
        H = rows[["a", "b"]].to_numpy() @ (x[3:] / spread)
        eta = H - x[rows["stage"].astype(int)]
        sign = np.where(rows["higher"] == 1, 1.0, -1.0)
        return float(-log_expit(sign * eta).sum() + 10.0 * (x[3:] @ x[3:]))

    best = minimize(negative, np.zeros(5), method="BFGS", options={"gtol": 1e-8})
    np.testing.assert_allclose(fit.coef, best.x[3:] / spread, rtol=1e-5)
    np.testing.assert_allclose(fit.thresholds, best.x[:3], rtol=1e-5)


def test_saved_fits_know_their_direction(tmp_path: Path) -> None:
    data = frame()
    for direction in DIRECTIONS:
        fit = ordfit("y ~ a + b", data, "sratio", link="cloglog", direction=direction)
        fit.save(tmp_path / "fit.ordstat")
        again = load(tmp_path / "fit.ordstat", data)
        for type in ("prob", "hazard"):
            pd.testing.assert_frame_equal(
                again.predict(data, type=type), fit.predict(data, type=type)
            )
        assert again.method == fit.method
        assert str(again.summary()) == str(fit.summary())


def test_classifier_compare_and_pooling() -> None:
    data = frame()
    fit = ordfit("y ~ a + b", data, "cratio", direction="backward")
    model = OrdinalClassifier("cratio", direction="backward")
    model.fit(data[["a", "b"]], data["y"])
    p = fit.predict(type="prob")
    np.testing.assert_allclose(model.predict_proba(data[["a", "b"]]), p, rtol=1e-9)
    back = ContinuationRatioModel(direction="backward")
    rivals = compare("y ~ a + b", data, ["cratio", "sratio", back], cv=3)
    log_loss = rivals.table["log-loss"]
    assert len(log_loss) == 3
    assert log_loss["cratio"] == pytest.approx(log_loss["sratio"], rel=1e-9)
    assert log_loss["cratio"] != pytest.approx(
        log_loss.drop(["cratio", "sratio"]), rel=1e-6
    )
    other = fit.update(data=data.assign(a=data["a"] + 0.1 * np.sin(np.arange(300))))
    pooled = pool([fit, other])
    np.testing.assert_allclose(pooled.coef, 0.5 * (fit.coef + other.coef), rtol=1e-12)
    between = 0.5 * (fit.coef - other.coef) ** 2
    within = 0.5 * (fit.se[3:] ** 2 + other.se[3:] ** 2)
    np.testing.assert_allclose(pooled.se[3:] ** 2, within + 1.5 * between, rtol=1e-9)
    with pytest.raises(OptionError, match="one formula and method"):
        pool([fit, fit.update(direction="forward")])

"""Effects and means of fits with random effects: at 0 against R's emmeans, over the
groups against integrals.

R values: ordinal 2022.11-16, emmeans 1.8.4-1, e.g.
  fm <- clmm(rating ~ temp * contact + (1 | judge), wine, control =
  clmm.control(useMatrix = TRUE)) emmeans(fm, ~ temp | contact); emmeans(fm, ~ rating |
  temp, mode = "prob"); joint_tests(fm)
whose estimates are optimal to about 1e-6.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from expected import refused
from light_options import in_turn
from seams import LikelihoodResults

from ordstat import CumulativeLink, datasets, ordfit
from ordstat.exceptions import OptionError

WINE = datasets.load("wine")
#: Of what R's clmm leaves of its gradient.
R_CLOSE = {"rel": 2e-5, "abs": 2e-6}


@pytest.fixture(scope="module")
def wine() -> LikelihoodResults:
    return ordfit("rating ~ temp * contact + (1 | judge)", WINE)


def test_latent_means_and_pairs(wine: LikelihoodResults) -> None:
    means = wine.emmeans("temp", by="contact")
    table = means.frame.sort_values("contact")
    assert table["estimate"].tolist() == pytest.approx(
        [-2.4984499, 0.44825989, -0.78100305, 2.3972379], **R_CLOSE
    )
    assert table["std_error"].tolist() == pytest.approx(
        [0.67651829, 0.61476876, 0.62330383, 0.65624255], **R_CLOSE
    )
    pairs = means.contrasts("revpairwise")
    assert pairs["estimate"].tolist() == pytest.approx(
        [2.9467098, 3.1782409], **R_CLOSE
    )
    assert pairs["std_error"].tolist() == pytest.approx(
        [0.7610983, 0.76475076], **R_CLOSE
    )


def test_probabilities_at_zero(wine: LikelihoodResults) -> None:
    table = wine.emmeans("temp", scale="prob", re="zero").frame
    prob = [0.096156446, 0.52439391, 0.33215625, 0.03958961, 0.0077037786]
    prob += [0.0056375451, 0.10072507, 0.44276503, 0.30886098, 0.14201138]
    errors = [0.055939149, 0.092721033, 0.088638985, 0.025431276, 0.006478067]
    errors += [0.0050751, 0.052027742, 0.083043122, 0.080960009, 0.069590627]
    assert table["estimate"].tolist() == pytest.approx(prob, **R_CLOSE)
    assert table["std_error"].tolist() == pytest.approx(errors, **R_CLOSE)


def test_trends_beside_random_slopes() -> None:
    """clmm(rating ~ temp * b + contact + (1 + temp | judge), link = "probit");
    emtrends(f2, ~ temp, var = "b").
    """
    data = WINE.assign(b=WINE["bottle"].astype(int))
    slopes = (
        ordfit("rating ~ temp * b + contact + (1 + temp | judge)", data, "probit")
        .emtrends("temp", "b")
        .frame
    )
    assert slopes["estimate"].tolist() == pytest.approx(
        [0.098428352, 0.13488452], rel=1e-4
    )
    assert slopes["std_error"].tolist() == pytest.approx(
        [0.29333582, 0.28717359], rel=1e-4
    )


# Averages over the groups


def drawn() -> pd.DataFrame:
    """300 rows of 25 groups, whose intercepts and slopes of x vary; h is another
    group.
    """
    rng = np.random.default_rng(7)
    n = 300
    data = pd.DataFrame(
        {
            "x": rng.normal(size=n),
            "s": rng.integers(0, 2, n),
            "g": rng.integers(0, 25, n),
        }
    )
    data = data.assign(
        f=np.where(rng.random(n) < 0.4, "a", "b"), h=rng.integers(0, 12, n)
    )
    own = rng.normal(size=(25, 2)) @ np.array([[0.9, 0.3], [0.0, 0.6]])
    latent = (
        0.8 * data["x"]
        + (data["f"] == "b")
        + own[data["g"], 0]
        + own[data["g"], 1] * data["x"]
    )
    latent += 0.5 * rng.normal(size=12)[data["h"]] + rng.logistic(size=n) * np.exp(
        0.3 * data["s"]
    )
    return data.assign(
        y=pd.Categorical(np.digitize(latent, [-1.0, 0.7, 2.2]), ordered=True)
    )


DATA = drawn()
#: (nodes, 2) and (nodes,) of a product rule over two standard normals.
POINTS, WEIGHTS = np.polynomial.hermite_e.hermegauss(70)
PAIRS = np.stack(np.meshgrid(POINTS, POINTS), axis=-1).reshape(-1, 2)
SHARES = np.outer(WEIGHTS, WEIGHTS).ravel() / WEIGHTS.sum() ** 2

#: The random part of a formula, and Lambda'z (n, 2) of it from phi.
TERMS: dict[str, Callable[[np.ndarray, pd.DataFrame], np.ndarray]] = {
    "(1 + x | g)": lambda phi, d: np.stack(
        [phi[0] + phi[1] * d["x"], phi[2] * d["x"]], axis=1
    ),
    "(1 + x || g)": lambda phi, d: np.stack(
        [phi[0] + 0.0 * d["x"], phi[1] * d["x"]], axis=1
    ),
    "(1 | g) + (1 | h)": lambda phi, d: np.stack(
        [phi[0] + 0.0 * d["x"], phi[1] + 0.0 * d["x"]], axis=1
    ),
}


def mean_class(
    fit: LikelihoodResults, term: str, psi: np.ndarray, data: pd.DataFrame
) -> float:
    """Mean of the expected ranks over the rows of data and the product rule; psi = (3
    thresholds, x, f, zeta, phi).
    """
    score = psi[3] * data["x"] + psi[4] * (data["f"] == "b")
    moved = TERMS[term](psi[6:], data) @ PAIRS.T
    above = np.zeros_like(moved)
    for theta in psi[:3]:
        eta = np.exp(-psi[5] * data["s"].to_numpy())[:, None] * (
            theta - score.to_numpy()[:, None] - moved
        )
        above += 1.0 - fit.rule.link.cdf(eta)
    return float((1.0 + above @ SHARES).mean())


def slope_of(
    fit: LikelihoodResults, term: str, psi: np.ndarray, data: pd.DataFrame
) -> float:
    """The derivative of the above where x moves in all rows."""
    ends = [
        mean_class(fit, term, psi, data.assign(x=data["x"] + h)) for h in (-1e-4, 1e-4)
    ]
    return (ends[1] - ends[0]) / 2e-4


def step_of(
    fit: LikelihoodResults, term: str, psi: np.ndarray, data: pd.DataFrame
) -> float:
    """The difference of the above between f = "b" and f = "a"."""
    ends = [mean_class(fit, term, psi, data.assign(f=value)) for value in "ab"]
    return ends[1] - ends[0]


def estimates(fit: LikelihoodResults) -> tuple[np.ndarray, np.ndarray]:
    """psi, and its covariance; a variance at its boundary, that of h under the cloglog,
    is held at 0.
    """
    marginal = fit.fit.marginal
    assert marginal is not None
    phi = [effects.factor[effects.entries] for effects in marginal.terms]
    return np.concatenate([fit.params.to_numpy(), *phi]), np.nan_to_num(
        marginal.covariance
    )


def with_error(
    curve: Callable[[np.ndarray], float], psi: np.ndarray, covariance: np.ndarray
) -> list[float]:
    """A number and its error by the delta method, from differences."""
    gradient = [
        (curve(psi + h) - curve(psi - h)) / 2e-4 for h in 1e-4 * np.eye(psi.size)
    ]
    return [curve(psi), float(np.sqrt(gradient @ covariance @ np.array(gradient)))]


@pytest.mark.parametrize(
    ("term", "link"), in_turn(TERMS, ["logit", "probit", "cloglog"])
)
def test_population_effects_are_integrals(term: str, link: str) -> None:
    fit = ordfit(f"y ~ x + f + {term}", DATA, CumulativeLink(link=link), scale="s")
    few = DATA.iloc[:12]
    psi, covariance = estimates(fit)
    actual = fit.marginal_effects(["x", "f"], scale="mean", newdata=few).frame[
        ["estimate", "std_error"]
    ]
    slope = with_error(lambda at: slope_of(fit, term, at, few), psi, covariance)
    step = with_error(lambda at: step_of(fit, term, at, few), psi, covariance)
    assert actual.iloc[0].tolist() == pytest.approx(slope, rel=2e-6)
    assert actual.iloc[1].tolist() == pytest.approx(step, rel=2e-6)


@pytest.mark.parametrize(
    ("formula", "options"),
    [
        ("y ~ 1 + (1 | g) + (1 | h)", {"nominal": "f"}),
        ("y ~ f + (1 | g)", {"link": "cauchit"}),
        ("y ~ f + (1 | g)", {"link": ("aranda-ordaz", 0.5)}),
        ("y ~ f + (1 | g)", {"threshold": "symmetric"}),
        ("y ~ f + (1 | g)", {"threshold": "equidistant", "quadrature": 7}),
        ("y ~ f + (0 + f | g)", {"link": "loglog"}),
    ],
)
@pytest.mark.parametrize("re", ["marginal", "zero"])
def test_means_are_predictions(formula: str, options: dict[str, Any], re: str) -> None:
    """Values and errors of emmeans of one row a cell are those of predict(re=), whose
    errors are by differences.
    """
    fit = ordfit(formula, DATA, **options)
    predicted = fit.predict(
        pd.DataFrame({"f": ["a", "b"]}), type="prob", re=re, se=True
    )
    means = fit.emmeans("f", scale="prob", re=re).frame
    assert means["estimate"].tolist() == pytest.approx(
        predicted["estimate"].to_numpy().ravel().tolist(), rel=1e-10
    )
    assert means["std_error"].tolist() == pytest.approx(
        predicted["std_error"].to_numpy().ravel().tolist(), rel=1e-5
    )


def test_what_cannot_be_averaged_is_refused(wine: LikelihoodResults) -> None:
    with refused("re"):
        wine.emmeans("temp", scale="odds", re="marginal")
    with refused("re", "'mode'"):
        wine.marginal_effects("temp", re="mode")
    with refused("re"):
        ordfit("rating ~ temp", WINE).emmeans("temp", re="zero")
    with pytest.raises(OptionError, match="no variable 'judge'"):
        wine.marginal_effects("judge")

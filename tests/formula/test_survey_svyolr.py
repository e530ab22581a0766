"""R's svyolr itself: svyolr.R wrote svyolr.csv.

Where it is told to begin at the maximum and to take its differences over 1e-5,
estimates and standard errors are ours. As it is called by default its errors are off in
the fourth digit: by its own differences, which are repeated here.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from ordstat import SurveyDesign, ordfit

from .survey_samples import FORMULA, HERE, sample

GOLDEN = pd.read_csv(HERE / "svyolr.csv")
LINKS = ("logit", "probit", "loglog")
STRATA = {"weights": "w", "strata": "s", "clusters": "psu"}
DESIGNS = {
    "weights alone": {"weights": "w"},
    "strata and PSUs": STRATA,
    "population sizes": STRATA | {"fpc": "N"},
    "lonely PSU": {
        "weights": "w",
        "strata": "s1",
        "clusters": "psu1",
        "lonely": "adjust",
    },
    "a domain": STRATA,
}
COLUMNS = ["selfLR", "age", "educ"]


def golden(case: str, link: str, step: float) -> pd.DataFrame:
    chosen = (
        (GOLDEN["case"] == case) & (GOLDEN["link"] == link) & (GOLDEN["step"] == step)
    )
    return GOLDEN[chosen].set_index("term")[["estimate", "se"]]


def fitted(case: str, link: str):
    subset = "age > 60" if case == "a domain" else None
    return ordfit(
        FORMULA, sample(), link, design=SurveyDesign(**DESIGNS[case]), subset=subset
    )


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("case", DESIGNS)
def test_svyolr_with_short_steps(case, link):
    """Its own optimum ends about 1e-8 from the maximum, and steps of 1e-5 leave
    1e-7.
    """
    fit = fitted(case, link)
    r = golden(case, link, 1e-5)
    np.testing.assert_allclose(fit.params, r["estimate"][fit.params.index], rtol=1e-6)
    np.testing.assert_allclose(fit.se, r["se"][fit.params.index], rtol=1e-6)


LAWS = {"logit": stats.logistic, "probit": stats.norm, "loglog": stats.gumbel_r}


def scores(psi: np.ndarray, link: str, frame: pd.DataFrame) -> np.ndarray:
    """(N, 9) derivatives of log-probabilities by slopes and thresholds; `psi` ends with
    logs of the gaps of these.
    """
    law = LAWS[link]
    X = frame[COLUMNS].to_numpy()
    y = frame["pid"].to_numpy() - 1
    cuts = np.concatenate(
        [[-100.0], np.cumsum(np.append(psi[3], np.exp(psi[4:]))), [100.0]]
    )
    high = cuts[y + 1] - X @ psi[:3]
    low = cuts[y] - X @ psi[:3]
    p = law.cdf(high) - law.cdf(low)
    first = law.pdf(high) / p
    second = law.pdf(low) / p
    k = np.arange(6)
    by_cut = first[:, None] * (y[:, None] == k) - second[:, None] * (
        y[:, None] == k + 1
    )
    return np.hstack([X * (second - first)[:, None], by_cut])


def by_log_gaps(psi: np.ndarray) -> np.ndarray:
    """(9, 9) slopes and thresholds by `psi`."""
    J = np.eye(9)
    J[3:, 3] = 1.0
    for i in range(4, 9):
        J[i:, i] = np.exp(psi[i])
        J[3:i, i] = 0.0
    return J


@pytest.mark.parametrize("link", LINKS)
def test_svyolr_as_it_is_called(link):
    """Its information: differences of gradients over 1e-3 in slopes, first threshold
    and logs of gaps, symmetrised.
    """
    frame = sample()
    r = golden("strata and PSUs", link, 1e-3)
    step = 1e-3
    own = r["estimate"].to_numpy()
    psi = np.concatenate([own[:4], np.log(np.diff(own[3:]))])
    w = frame["w"].to_numpy()

    def gradient(at: np.ndarray) -> np.ndarray:
        return -(w @ scores(at, link, frame)) @ by_log_gaps(at)

    H = np.array(
        [
            (gradient(psi + step * e) - gradient(psi - step * e)) / (2 * step)
            for e in np.eye(9)
        ]
    )
    J = by_log_gaps(psi)
    influence = (w[:, None] * scores(psi, link, frame)) @ (
        J @ np.linalg.inv((H + H.T) / 2) @ J.T
    )
    variance = np.zeros((9, 9))
    for _, rows in frame.groupby("s").indices.items():
        totals = (
            pd.DataFrame(influence[rows])
            .groupby(frame["psu"].to_numpy()[rows])
            .sum()
            .to_numpy()
        )
        n = len(totals)
        variance += n * np.cov(totals.T, ddof=1)
    np.testing.assert_allclose(np.sqrt(np.diag(variance)), r["se"], rtol=1e-6)
    exact = fitted("strata and PSUs", link).se[r.index]
    # what its differences cost
    assert 3e-5 < np.abs(r["se"] / exact - 1.0).max() < 3e-3

"""R's svyolr itself: svyolr.R wrote svyolr.csv.

Where it is told to begin at the maximum and to take its differences over 1e-5, estimates and standard errors are ours.
As it is called by default its errors are off in the fourth digit.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from ordstat import SurveyDesign, ordfit

from .samples import FORMULA, HERE, sample

GOLDEN = pd.read_csv(HERE / "svyolr.csv")
LINKS = ("logit", "probit", "loglog")
STRATA = {"weights": "w", "strata": "s", "clusters": "psu"}
DESIGNS = {
    "weights alone": {"weights": "w"},
    "strata and PSUs": STRATA,
    "population sizes": STRATA | {"fpc": "N"},
    "lonely PSU": {"weights": "w", "strata": "s1", "clusters": "psu1", "lonely": "adjust"},
    "a domain": STRATA,
}


def golden(case: str, link: str, step: float) -> pd.DataFrame:
    chosen = (GOLDEN["case"] == case) & (GOLDEN["link"] == link) & (GOLDEN["step"] == step)
    return GOLDEN[chosen].set_index("term")[["estimate", "se"]]


def fitted(case: str, link: str):
    subset = "age > 60" if case == "a domain" else None
    return ordfit(FORMULA, sample(), link, design=SurveyDesign(**DESIGNS[case]), subset=subset)


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("case", DESIGNS)
def test_svyolr_with_short_steps(case, link):
    """Its own optimum ends about 1e-8 from the maximum, and steps of 1e-5 leave 1e-7."""
    fit, r = fitted(case, link), golden(case, link, 1e-5)
    np.testing.assert_allclose(fit.params, r["estimate"][fit.params.index], rtol=1e-6)
    np.testing.assert_allclose(fit.se, r["se"][fit.params.index], rtol=1e-6)


@pytest.mark.parametrize("link", LINKS)
def test_svyolr_as_it_is_called(link):
    """Its information comes from differences of gradients over 1e-3, which cost its errors the fourth digit."""
    r = golden("strata and PSUs", link, 1e-3)
    exact = fitted("strata and PSUs", link).se[r.index]
    assert 3e-5 < np.abs(r["se"] / exact - 1.0).max() < 3e-3

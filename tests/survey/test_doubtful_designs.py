"""Designs that are probably not what they seem, and how they are refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from ordstat import SurveyDesign, datasets, ordfit
from ordstat.exceptions import DataError, DataWarning, OptionError

WINE = datasets.load("wine")
N = len(WINE)
WINE = WINE.assign(
    w=1.0 + np.arange(N) % 3,
    psu=np.arange(N) % 12,
    stratum=np.arange(N) % 3,
    label=[f"p{(i // 3) % 4}" for i in range(N)],
    text="a",
)


def errors(**design: object) -> pd.Series:
    return ordfit("rating ~ temp + contact", WINE, design=SurveyDesign(**{"weights": "w"} | design)).se


def test_a_census_is_told_from_a_mistaken_population():
    drawn = WINE.groupby("stratum")["psu"].transform("nunique").to_numpy()
    with pytest.raises(DataError, match="leaves no error of sampling"):  # R has standard errors of 0
        errors(strata="stratum", clusters="psu", fpc=drawn)
    assert (errors(strata="stratum", clusters="psu", fpc=drawn + (WINE["stratum"] == 0)) > 0.0).all()
    with pytest.raises(DataError, match="from 0 to 1 and not all 1"):
        errors(strata="stratum", clusters="psu", fpc=np.ones(N))
    with pytest.raises(
        DataError, match=r"all of them 1 or more, or shares .* from 0 to 1 and not all 1; got values from -1 to -1"
    ):
        errors(strata="stratum", clusters="psu", fpc=-np.ones(N))
    certain = np.where(WINE["stratum"] == 0, 1.0, 0.5)  # one stratum taken as a whole
    assert (errors(strata="stratum", clusters="psu", fpc=certain) < errors(strata="stratum", clusters="psu")).all()


@pytest.mark.parametrize(
    ("design", "message"),
    [
        ({"weights": "text"}, r"weights= must be one column of numbers. Convert it"),
        ({"replicates": ["w", "psu"], "type": "Fay"}, "goes with type='Fay' alone; got None"),
        ({"replicates": ["w", "psu"], "type": "BRR", "rho": 0.3}, "goes with type='Fay' alone; got 0.3"),
        ({"weights": -np.ones(N)}, "weights= is -1 in row 0 .72 such rows.: weights must be 0 or more"),
        ({"clusters": WINE["psu"].where(WINE.index != 4)}, "clusters= of SurveyDesign is missing in row 4"),
        ({"strata": "stratum", "clusters": np.zeros(N)}, "which is in another stratum too.*nest=True"),
        ({"clusters": np.zeros(N)}, "one PSU alone in stratum 'all'"),
        ({"strata": "psu", "clusters": "psu", "lonely": "remove"}, "more PSUs than strata; got 12 PSUs in 12 strata"),
    ],
)
def test_refused(design: dict[str, object], message: str) -> None:
    with pytest.raises((DataError, OptionError), match=message):
        errors(**design)


def test_labels_that_start_anew_in_every_stratum():
    """Text labels p0 to p3 in each of three strata are twelve units, as numbers of the pair are."""
    pair = 4 * WINE["stratum"] + (WINE.index // 3) % 4
    np.testing.assert_allclose(
        errors(strata="stratum", clusters="label", nest=True), errors(strata="stratum", clusters=pair), rtol=1e-12
    )
    with pytest.raises(DataError, match="PSU 'p0', which is in another stratum too"):
        errors(strata="stratum", clusters="label")


def test_rows_of_weight_0_count_their_unit_and_nothing_else():
    """A unit whose rows all have weight 0 was drawn: it stays in n_h, as in R's svydesign."""
    zero = WINE.assign(w=WINE["w"].where(WINE["psu"] != 0, 0.0))
    design = SurveyDesign(weights="w", strata="stratum", clusters="psu")
    fit = ordfit("rating ~ temp + contact", zero, design=design)
    left = ordfit("rating ~ temp + contact", WINE, design=design, subset="psu != 0")
    np.testing.assert_allclose(fit.se, left.se, rtol=1e-10)
    without = ordfit("rating ~ temp + contact", WINE[WINE["psu"] != 0], design=design)
    assert not np.allclose(fit.se, without.se, rtol=1e-3)


def test_missing_weights_are_told():
    with pytest.warns(DataWarning, match=r"1 of 72 rows left out for missing values: w \(1\)"):
        ordfit("rating ~ temp", WINE.assign(w=WINE["w"].where(WINE.index != 4)), design=SurveyDesign(weights="w"))

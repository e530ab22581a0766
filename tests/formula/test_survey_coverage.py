"""Coverage of 95 % limits under an informative sample of strata and clusters, by
simulation.
"""

import numpy as np
import pandas as pd
import pytest

from ordstat import SurveyDesign, ordfit

STRATA = 8
UNITS = 60
ROWS = 12
SAMPLES = 1500


def population(rng: np.random.Generator) -> pd.DataFrame:
    """Strata and units that move both the column and the response, so that rows of a
    unit are similar.
    """
    unit = np.repeat(np.arange(STRATA * UNITS), ROWS)
    stratum = unit // UNITS
    x = rng.normal(size=STRATA * UNITS)[unit] + rng.normal(size=unit.size)
    latent = (
        0.7 * x
        + 0.15 * stratum
        + 0.8 * rng.normal(size=STRATA * UNITS)[unit]
        + rng.logistic(size=unit.size)
    )
    return pd.DataFrame(
        {"y": np.digitize(latent, [-0.5, 1.0, 2.5]), "x": x, "s": stratum, "psu": unit}
    )


def drawn(whole: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """From 6 to 13 units of every stratum without replacement, fewer in the first
    ones.
    """
    counts = 6 + np.arange(STRATA)
    chosen = [
        h * UNITS + rng.choice(UNITS, counts[h], replace=False) for h in range(STRATA)
    ]
    rows = whole[whole["psu"].isin(np.concatenate(chosen))]
    return rows.assign(w=UNITS / counts[rows["s"]], N=UNITS)


@pytest.mark.slow
def test_limits_cover_the_population():
    rng = np.random.default_rng(20)
    whole = population(rng)
    truth = ordfit("y ~ x", whole).params
    design = SurveyDesign(weights="w", strata="s", clusters="psu", fpc="N")
    hits = np.zeros(truth.size)
    for _ in range(SAMPLES):
        limits = ordfit("y ~ x", drawn(whole, rng), design=design).confint()
        hits += ((limits["lower"] < truth) & (truth < limits["upper"])).to_numpy()
    coverage = hits / SAMPLES
    assert ((coverage > 0.935) & (coverage < 0.965)).all(), coverage

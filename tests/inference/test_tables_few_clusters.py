"""Share of samples of eight clusters whose 95 % intervals by CR2 and Satterthwaite's t
hold the truth.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from ordstat import ordfit

CLUSTERS = 8
SAMPLES = 2000
TRUE = pd.Series({"1|2": -0.8, "2|3": 0.9, "x": 0.6, "z": -0.4})


def sample(rng: np.random.Generator) -> pd.DataFrame:
    """From 20 to 55 rows a cluster, alike by a Gaussian copula, so that the marginal
    model is that of the fit.

    x varies within clusters, z within and between.
    """
    g = np.repeat(np.arange(CLUSTERS), 20 + 5 * np.arange(CLUSTERS))
    x = rng.normal(size=g.size)
    z = rng.normal(size=g.size) + 0.5 * rng.normal(size=CLUSTERS)[g]
    normal = np.sqrt(0.15) * rng.normal(size=CLUSTERS)[g] + np.sqrt(0.85) * rng.normal(
        size=g.size
    )
    latent = TRUE["x"] * x + TRUE["z"] * z + stats.logistic.ppf(stats.norm.cdf(normal))
    return pd.DataFrame(
        {
            "y": np.digitize(latent, [TRUE["1|2"], TRUE["2|3"]]) + 1,
            "x": x,
            "z": z,
            "g": g,
        }
    )


@pytest.mark.slow
def test_intervals_hold_the_truth() -> None:
    rng = np.random.default_rng(8)
    hits = {"CR2": np.zeros(len(TRUE)), "CR1": np.zeros(len(TRUE))}
    for _ in range(SAMPLES):
        fit = ordfit("y ~ x + z", sample(rng), cluster="g")
        for name, one in (
            ("CR2", fit.with_vcov({"cluster": "g", "type": "CR2"})),
            ("CR1", fit),
        ):
            limits = one.confint()
            hits[name] += (
                (limits["lower"] <= TRUE) & (limits["upper"] >= TRUE)
            ).to_numpy()
    share = {name: count / SAMPLES for name, count in hits.items()}
    assert np.all((share["CR2"] >= 0.935) & (share["CR2"] <= 0.965)), share
    assert np.all(share["CR1"] < 0.935), share  # what the simulation is able to see

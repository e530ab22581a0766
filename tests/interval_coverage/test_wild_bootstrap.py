"""Type I error of the wild cluster bootstrap where clusters are few."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from ordstat import ordfit

SAMPLES = 500
#: 5 % and up to 2 % that few clusters cost [Kline & Santos 2012; MacKinnon & Webb 2017], with 3 Monte Carlo errors.
LARGEST = 0.07 + 3.0 * float(np.sqrt(0.07 * 0.93 / SAMPLES))


def clustered(rng: np.random.Generator, clusters: int, of_clusters: bool) -> pd.DataFrame:
    """Thirty rows a cluster with an effect of their cluster; x has none, and varies between or within clusters."""
    g = np.repeat(np.arange(clusters), 30)
    x = (g % 2).astype(float) if of_clusters else rng.normal(size=g.size)
    z = rng.normal(size=g.size) + rng.normal(size=clusters)[g]
    latent = rng.normal(scale=0.7, size=clusters)[g] + 0.5 * z + rng.logistic(size=g.size)
    return pd.DataFrame({"y": np.digitize(latent, [-1.0, 0.5]) + 1, "x": x, "z": z, "g": g})


@pytest.mark.slow
@pytest.mark.parametrize("clusters", [8, 12])
@pytest.mark.parametrize("of_clusters", [True, False])
def test_size(clusters: int, of_clusters: bool) -> None:
    rng = np.random.default_rng(clusters)
    wild = sandwich = 0
    for _ in range(SAMPLES):
        fit = ordfit("y ~ x + z", clustered(rng, clusters, of_clusters), cluster="g")
        wild += fit.wild_bootstrap("x = 0").p_value <= 0.05
        sandwich += fit.p_values["x"] <= 0.05
    assert 0.02 <= wild / SAMPLES <= LARGEST
    assert wild < sandwich

"""Fewer than 20 clusters are told of once, and clustered rows have no margin bounds, however clusters were given."""

import warnings

import numpy as np
import pandas as pd
import pytest

from ordstat import DataWarning, ordfit

WAYS = {
    "cluster": lambda d, g: ordfit("y ~ x", d, cluster=g),
    "vcov": lambda d, g: ordfit("y ~ x", d, vcov={"cluster": g}),
    "with_vcov": lambda d, g: ordfit("y ~ x", d).with_vcov({"cluster": g}),
}


def rows(clusters: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    d = pd.DataFrame({"x": rng.normal(size=120), "g": np.arange(120) % clusters})
    return d.assign(y=np.digitize(d["x"] + rng.logistic(size=120), [-1.0, 1.0]))


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("way", WAYS)
def test_few_clusters_warn_once(way, seed):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        few = WAYS[way](rows(4, seed), "g")
    assert [one.category for one in caught] == [DataWarning]
    assert str(caught[0].message).startswith("4 clusters are few") and "'CR2'" in str(caught[0].message)
    assert "4 clusters are few" in str(few.summary())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        enough = WAYS[way](rows(20, seed), "g")
        ordfit("y ~ x", rows(4, seed), vcov={"cluster": "g", "type": "CR2"})
    for fit in (few, enough):
        assert fit.bounds().empty and "these come in clusters" in fit.bounds().attrs["notes"][0]
        assert "Margin bound:" not in str(fit.summary())
        assert "Wald test" in str(fit.summary())

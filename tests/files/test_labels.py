"""Labels of rows and levels that are not texts: each comes back as it was."""

import numpy as np
import pandas as pd
import pytest

from files.samples import wine
from ordstat import load, ordfit


def again(fit, tmp_path):
    fit.save(tmp_path / "fit.ordstat")
    return load(tmp_path / "fit.ordstat")


def test_missing_labels_of_rows(tmp_path):
    labels = [np.nan, None, pd.NA, pd.NaT, "a", 3]
    data = wine()
    data.index = pd.Index([*labels, *range(100, 166)], dtype=object)
    found = again(ordfit("rating ~ temp", data), tmp_path).design.index.tolist()[: len(labels)]
    assert isinstance(found[0], float) and np.isnan(found[0])
    assert found[1] is None and found[2] is pd.NA and found[3] is pd.NaT and found[4:] == ["a", 3]


@pytest.mark.parametrize("edges", [[-10.0, -0.5, 0.5, 10.0], [-10, 0, 1, 10]])
@pytest.mark.parametrize("right", [True, False])
def test_factors_of_intervals(edges, right, tmp_path):
    data = wine()
    data["cut"] = pd.cut(data["x"], edges, right=right)
    fit = ordfit("rating ~ cut", data)
    loaded = again(fit, tmp_path)
    pd.testing.assert_frame_equal(loaded.predict(data, type="prob"), fit.predict(data, type="prob"), rtol=1e-12)
    assert loaded.design.names == fit.design.names


def test_a_response_of_intervals(tmp_path):
    data = wine().assign(band=pd.cut(wine()["response"], [0, 30, 60, 100]))
    fit = ordfit("band ~ temp", data)
    loaded = again(fit, tmp_path)
    assert loaded.levels == fit.levels == tuple(data["band"].cat.categories)
    assert loaded.predict(data).tolist() == fit.predict(data).tolist()


def test_rows_labelled_by_intervals(tmp_path):
    data = wine().set_index(pd.interval_range(pd.Timestamp("2020-01-01"), periods=72, closed="both"))
    fit = ordfit("rating ~ temp", data)
    pd.testing.assert_index_equal(again(fit, tmp_path).design.index, fit.design.index)

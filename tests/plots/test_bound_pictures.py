"""The picture of margin bounds against the chance that they fail."""

import numpy as np
import pytest

from ordstat import datasets, ordfit
from ordstat.exceptions import OptionError, UnavailableError


@pytest.fixture(scope="module")
def fit():
    return ordfit("rating ~ temp + contact", datasets.load("wine"), "redsvm", C=1.0)


def test_the_frame_holds_the_bounds_of_the_fit(fit):
    data = fit.plot.bounds_data(deltas=[0.2, 0.05])
    assert data["delta"].tolist() == [0.05, 0.2]
    for _, row in data.iterrows():
        expected = fit.bounds(delta=row["delta"]).loc["absolute error"]
        assert (row["value"], row["trivial"], row["margin"]) == tuple(expected[["value", "trivial", "margin"]])
    assert (np.diff(data["value"]) <= 0).all()
    observed, ranks = datasets.load("wine")["rating"].astype(int), np.asarray(fit.predict(), dtype=int)
    assert (data["training"] == np.abs(observed - ranks).mean()).all()


def test_the_lines_are_the_bound_the_trivial_value_and_the_training_error(fit):
    ax = fit.plot.bounds(error="classification")
    data = fit.plot.bounds_data(error="classification")
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), data["value"])
    assert ax.lines[1].get_ydata()[0] == 1.0
    assert {text.get_text() for text in ax.texts} == {"bound", "largest possible", "training error"}
    assert ax.get_ylim()[1] > data["value"].max()


def test_what_has_no_bound_says_why(fit):
    nominal = ordfit("rating ~ temp", datasets.load("wine"), nominal="~ contact")
    assert "bounds" in fit.plot.names
    assert "bounds" not in nominal.plot.names
    with pytest.raises(UnavailableError, match="nominal"):
        nominal.plot.bounds()
    with pytest.raises(OptionError, match="deltas"):
        fit.plot.bounds(deltas=[1.5])
    with pytest.raises(OptionError, match="error"):
        fit.plot.bounds(error="cost")

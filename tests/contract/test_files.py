"""Every method goes through a file and comes back the same, to the last bit."""

from dataclasses import fields

import pandas as pd
import pytest
from expected import no_data
from seams import METHODS

import ordstat

#: Enough for every kind of round to be there.
ROUNDS = 12


def refused(fit):
    """Types that a base classifier without probabilities has not."""
    return (
        {"prob", "cum_prob", "mean", "mean_class", "quantile", "exceed"}
        if fit.fit.calibration is None and not getattr(fit.fit.rule, "probable", True)
        else set()
    )


def assert_same_predictions(fit, again, new):
    """Every type of prediction of the rows of the fit, and of new ones, bit by bit."""
    assert fit.prediction_types == again.prediction_types
    for type in set(fit.prediction_types) - refused(fit):
        for data in (None, new):
            one = pd.DataFrame(fit.predict(data, type=type))
            other = pd.DataFrame(again.predict(data, type=type))
            pd.testing.assert_frame_equal(one, other, check_exact=True)


@pytest.fixture(scope="module")
def kept():
    """What `saved` has made, by the name of the method."""
    return {}


@pytest.fixture
def saved(problem, kept, tmp_path):
    """A fit and what a file gives back of it."""
    if problem.name == "red-hgb":
        pytest.skip("files hold no gradient boosting of scikit-learn")
    if problem.name not in kept:
        kept[problem.name] = _through_a_file(problem, tmp_path / "fit.ordstat")
    return kept[problem.name]


def _through_a_file(problem, path):
    few = (
        {"rounds": ROUNDS}
        if "rounds" in {f.name for f in fields(METHODS[problem.name].method)}
        else {}
    )
    fit = problem.fit(**few)
    fit.save(path)
    return fit, ordstat.load(path)


def test_predictions_and_summary_are_the_same_without_the_data(problem, saved):
    fit, again = saved
    assert (
        type(again) is type(fit)
        and repr(again) == repr(fit)
        and again.design.data is None
    )
    assert str(again.summary("all")) == str(fit.summary("all"))
    assert_same_predictions(fit, again, problem.frame[::2])


def test_it_can_be_fitted_again(problem, saved):
    """The method, the design and the way to fit again are there too."""
    fit, again = saved
    refitted = again.update(method=again.method)
    pd.testing.assert_series_equal(refitted.predict(), fit.predict())
    with no_data():
        again.update("~ . - x1")
    assert again.update("~ . - x1", data=problem.frame).formula == "y ~ x2 + g"

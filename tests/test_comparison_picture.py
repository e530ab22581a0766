"""The picture of a comparison: intervals where the numbers are, names that keep
apart.
"""

from itertools import pairwise

import matplotlib
import numpy as np
import pytest

matplotlib.use("agg")
from matplotlib import pyplot

from ordstat import OptionError, compare, datasets

WINE = datasets.load("wine")


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def many():
    links = ("logit", "probit", "cloglog", "loglog", "cauchit")
    thresholds = ("flexible", "equidistant", "symmetric", "symmetric2")
    methods = [
        (link, {"threshold": kind, "max_iter": 100})
        for link in links
        for kind in thresholds
    ]
    return compare("rating ~ temp + contact", WINE, methods, cv=3)


def test_dots_and_intervals_are_the_data():
    actual = compare("rating ~ temp + contact", WINE, ["logit", "redsvm", "cart"], cv=4)
    for measure, against in ((None, None), ("quadratic kappa", None), (None, "cart")):
        data = actual.plot(measure=measure, against=against, draw=False)
        ax = actual.plot(measure=measure, against=against, title="Wine")
        (dots,) = [line for line in ax.lines if line.get_marker() == "o"]
        np.testing.assert_allclose(dots.get_xdata(), data["mean"])
        ends = [segment[:, 0] for segment in ax.collections[0].get_segments()]
        np.testing.assert_allclose(ends, data[["lower", "upper"]])
        assert ax.get_title(loc="left") == "Wine"
        assert [
            label.get_text() for label in ax.get_yticklabels()
        ] == data.index.tolist()
    differences = actual.differences(against="cart")
    np.testing.assert_allclose(
        data, differences.loc[data.index, ["difference", "lower", "upper"]]
    )


@pytest.mark.parametrize("size", [None, (4.0, 4.0), (6.4, 9.0)])
def test_long_names_keep_apart(many, size):
    ax = (
        None if size is None else pyplot.subplots(figsize=size, layout="constrained")[1]
    )
    ax = many.plot(ax)
    ax.figure.draw_without_rendering()
    boxes = [
        label.get_window_extent() for label in ax.get_yticklabels() if label.get_text()
    ]
    assert len(boxes) == 20
    assert all(upper.y0 >= lower.y1 - 1.5 for upper, lower in pairwise(boxes))
    assert min(box.x0 for box in boxes) >= 0.0


ODD = {
    "against": (
        lambda found: found.differences(against=np.ones(2)),
        "against must be one of",
    ),
    "no against": (
        lambda found: found.differences(against=""),
        "against must be one of",
    ),
    "draw": (
        lambda found: found.plot(draw="no"),
        "draw must be True or False; got 'no'",
    ),
    "title": (lambda found: found.plot(title=3), "title must be a text; got 3"),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_options_are_refused_by_name(name):
    call, message = ODD[name]
    with pytest.raises(OptionError, match=message):
        call(compare("rating ~ temp", WINE, ["logit", "probit"], cv=2))

"""Variables that have the name of another column of a picture's table are refused, by the picture and in a report."""

import numpy as np
import pandas as pd
import pytest

from ordstat import OptionError, ordfit


@pytest.fixture(scope="module")
def data():
    r = np.random.default_rng(0)
    names = ("level", "row", "estimate", "lower", "cumulative", "residual", "score", "a")
    numbers = {name: r.normal(size=90) for name in names}
    frame = pd.DataFrame({**numbers, "f": pd.Categorical(r.choice(["u", "v"], 90))})
    return frame.assign(y=pd.cut(frame["level"] + r.logistic(size=90), 3, labels=[1, 2, 3]))


@pytest.fixture(scope="module")
def fit(data):
    return ordfit("y ~ level + row + estimate + lower + cumulative + residual + score + a + f", data)


@pytest.mark.parametrize(
    ("name", "given", "options"),
    [
        ("effects", ("level",), {}),
        ("effects", ("lower",), {}),
        ("stacked", ("level",), {}),
        ("stacked", ("cumulative",), {}),
        ("effects", ("level",), {"by": "f"}),
        ("effects", ("a",), {"by": "level"}),
        ("boundaries", ("a", "level"), {}),
        ("residuals", ("residual",), {}),
        ("residuals", ("score",), {}),
    ],
)
def test_names_that_are_taken(fit, name, given, options):
    for draw in (True, False):
        with pytest.raises(OptionError, match="rename"):
            getattr(fit.plot, name)(*given, **options, draw=draw)


def test_names_of_partial_dependence(data):
    fit = ordfit("y ~ level + row + estimate + f", data, "redsvm", kernel="linear")
    assert list(fit.plot.dependence("level", draw=False)) == ["level", "estimate"]
    assert list(fit.plot.dependence("row", draw=False)) == ["row", "estimate"]
    with pytest.raises(OptionError, match="rename"):
        fit.plot.dependence("estimate")
    with pytest.raises(OptionError, match="values must have at least one value"):
        fit.plot.dependence("row", values=[])


def test_a_report_leaves_such_a_picture_out(data, tmp_path):
    text = ordfit("y ~ level + f", data).report(tmp_path / "a.html").read_text("utf-8")
    assert "No picture" in text and "rename" in text

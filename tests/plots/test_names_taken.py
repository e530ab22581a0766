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
        ("dependence", ("level",), {}),
        ("dependence", ("estimate",), {"of": "rank"}),
        ("dependence", ("row",), {"of": "rank", "each": True}),
        ("interaction", ("level", "f"), {}),
        ("interaction", ("a", "level"), {}),
        ("boundaries", ("a", "level"), {}),
        ("residuals", ("residual",), {}),
        ("residuals", ("score",), {}),
    ],
)
def test_names_that_are_taken(fit, name, given, options):
    for call in (getattr(fit.plot, name), getattr(fit.plot, f"{name}_data")):
        with pytest.raises(OptionError, match="rename"):
            call(*given, **options)


def test_names_that_are_free(fit):
    assert list(fit.plot.dependence_data("level", of="rank")) == ["level", "estimate"]
    assert list(fit.plot.dependence_data("row")) == ["row", "level", "estimate"]


def test_a_report_leaves_such_a_picture_out(data, tmp_path):
    text = ordfit("y ~ level + f", data).report(tmp_path / "a.html").read_text("utf-8")
    assert "No picture" in text and "rename" in text


@pytest.mark.parametrize(
    ("name", "given", "options", "message"),
    [
        ("interaction", ("a", "f"), {"by_values": []}, "by_values must have a value at least"),
        ("dependence", ("a",), {"values": []}, "values must have a value at least"),
        ("interaction", ("a", "f"), {"at": {"f": "u"}}, "at must hold other variables than by, 'f'"),
    ],
)
def test_no_values_and_values_given_twice(fit, name, given, options, message):
    with pytest.raises(OptionError, match=message):
        getattr(fit.plot, name)(*given, **options)

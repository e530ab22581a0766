"""The pictures of elastic net paths: their frames, and what they draw."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ordstat import ElasticNet, ordfit

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame({"a": RNG.normal(size=90), "b": 10.0 * RNG.normal(size=90)})
FRAME["y"] = pd.qcut(FRAME["a"] + RNG.normal(size=90), 3, labels=False)
FIT = ordfit("y ~ a + b", FRAME, penalty=ElasticNet(cv=3, n_lambdas=8))


def test_coefficients_are_those_of_columns_of_deviation_1():
    frame = FIT.plot.path(draw=False)
    wide = frame.pivot(index="lambda", columns="name", values="value")
    for name in "ab":
        expected = FIT.path_coef[name] * FRAME[name].std(ddof=0)
        np.testing.assert_allclose(wide[name], expected.sort_index())
    axes = FIT.plot.path()
    assert len(axes.lines) >= 2 and axes.xaxis_inverted()


def test_scores_with_one_standard_error():
    frame = FIT.plot.cv(draw=False)
    np.testing.assert_allclose(frame["mean"], FIT.cv_scores.mean(axis=1), atol=1e-12)
    error = FIT.cv_scores.std(axis=1, ddof=1).to_numpy() / np.sqrt(3.0)
    np.testing.assert_allclose(frame["upper"] - frame["mean"], error, atol=1e-12)
    assert FIT.plot.cv().get_xscale() == "log"


def test_names_of_equal_coefficients_stand_apart():
    rng = np.random.default_rng(2)
    data = pd.DataFrame(rng.normal(size=(200, 3)), columns=["one", "two", "three"])
    data["y"] = pd.qcut(data.sum(axis=1) + rng.normal(size=200), 3, labels=False)
    ax = ordfit("y ~ one + two + three", data, penalty=ElasticNet()).plot.path()
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert [text.get_text() for text in ax.texts] != [] and len(boxes) == 3
    assert not any(
        one.overlaps(other) for k, one in enumerate(boxes) for other in boxes[:k]
    )
    assert "dashed: lambda of this fit" in ax.get_title("left")

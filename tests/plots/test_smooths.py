"""Pictures of smooth terms."""

import numpy as np
import pandas as pd
from matplotlib.collections import LineCollection

from ordstat import datasets, ordfit


def test_the_rug_has_values_of_rows_alone():
    anes = datasets.load("anes96")
    assert len(anes) > 500
    (panel,) = np.ravel(ordfit("PID ~ s(selfLR, k=6)", anes).plot.smooths())
    (rug,) = [
        lines
        for lines in panel.collections
        if isinstance(lines, LineCollection) and len(lines.get_segments()) > 1
    ]
    places = [segment[0, 0] for segment in rug.get_segments()]
    assert places == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]


def test_a_curve_beside_levels_that_are_texts():
    rng = np.random.default_rng(0)
    levels = ["none", "school", "degree"]
    codes = rng.integers(0, 3, 150)
    data = pd.DataFrame({"x": rng.uniform(size=150), "y": rng.integers(0, 3, 150)})
    data["o"] = pd.Categorical.from_codes(codes, levels, ordered=True)
    curve, points = np.ravel(ordfit("y ~ s(x, k=5) + smooth(o)", data).plot.smooths())
    ends = curve.lines[0].get_xdata()[[0, -1]]
    np.testing.assert_allclose(ends, [data["x"].min(), data["x"].max()], atol=2e-3)
    assert [label.get_text() for label in points.get_xticklabels()] == levels

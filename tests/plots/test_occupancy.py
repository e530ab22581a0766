"""Occupancy as stacked areas: a panel for each group, areas that end at 1."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot

from ordstat import lagged, occupancy, ordfit


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"id": np.repeat(range(60), 4), "t": 60 * [0, 1, 2, 3]})
    frame["arm"] = np.where(frame["id"] % 2, "active", "control")
    frame["y"] = rng.integers(1, 4, 240)
    long = lagged(frame, "y", by="id", time="t").query("t > 0")
    fit = ordfit("y ~ C(previous) + t + arm", long)
    start = pd.DataFrame({"previous": [1, 2], "arm": ["control", "active"]})
    return occupancy(fit, start, [1, 2, 3, 4], time="t", by="arm", draws=0)


def test_panels(found) -> None:
    axes = found.plot(labels={"active": "Active arm", "t": "Day"})
    assert [ax.get_title(loc="left") for ax in axes] == ["Active arm", "control"]
    assert axes[0].get_xlabel() == "Day"
    for ax, p in zip(axes, found.estimates, strict=True):
        assert len(ax.collections) == 3
        top = ax.collections[1].get_paths()[0].vertices[:, 1]
        assert top.max() == pytest.approx(p[:, :2].sum(axis=1).max())
        assert ax.get_xlim() == (1.0, 4.0)
    legend = axes[-1].get_legend() or axes[-1].figure.legends[0]
    assert [text.get_text() for text in legend.get_texts()] == ["3", "2", "1"]
    pyplot.close("all")


def test_axes_of_the_user(found) -> None:
    figure, axes = pyplot.subplots(1, 2)
    drawn = found.plot(ax=axes, title="Levels")
    assert drawn[0] is axes[0]
    assert axes[0].get_xlabel() == "t"
    assert "Levels" in axes[0].get_title(loc="left")
    pyplot.close(figure)

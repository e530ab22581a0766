"""Importance of the variables: the picture shows what the table says."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from ordstat import OptionError, datasets, ordfit

WINE = datasets.load("wine")


def test_bars_and_limits_are_the_table():
    fit = ordfit("rating ~ temp + contact", WINE, "redsvm")
    table = fit.importance(newdata=WINE, repeats=4, level=0.9)
    data = fit.plot.importance(newdata=WINE, repeats=4, level=0.9, draw=False)
    assert data["variable"].tolist() == table.index.tolist()
    np.testing.assert_array_equal(data.iloc[:, 1:], table)
    ax = fit.plot.importance(newdata=WINE, repeats=4, level=0.9)
    assert [bar.get_width() for bar in ax.patches] == table["importance"].tolist()
    ends = [segment[:, 0].tolist() for segment in ax.collections[0].get_segments()]
    assert ends == table[["lower", "upper"]].to_numpy().tolist()
    assert [label.get_text() for label in ax.get_yticklabels()] == ["temp", "contact"]
    assert ax.get_xlabel() == "absolute error: change when permuted, with 90 % limits"


def test_gain_has_no_limits():
    fit = ordfit("rating ~ temp + contact", WINE, "cart")
    data = fit.plot.importance(draw=False)
    assert data["column"].tolist() == ["temp[T.warm]", "contact[T.yes]"] and data["lower"].isna().all()
    ax = fit.plot.importance()
    assert len(ax.patches) == 2 and not ax.collections and ax.get_xlabel().startswith("share")
    assert len(fit.plot.importance(kind="permutation", repeats=1).collections) == 0
    with pytest.raises(OptionError, match="top must be"):
        fit.plot.importance(top=0, draw=False)


def test_many_long_names_keep_apart():
    rng = np.random.default_rng(0)
    names = [f"satisfaction_with_the_support_of_the_council_{i}" for i in range(40)]
    data = pd.DataFrame(rng.normal(size=(60, 40)), columns=names).assign(y=rng.integers(1, 4, 60))
    fit = ordfit(f"y ~ {' + '.join(names)}", data, "redsvm", kernel="linear")
    ax = fit.plot.importance(repeats=2)
    ax.figure.draw_without_rendering()
    boxes = sorted((label.get_window_extent() for label in ax.get_yticklabels()), key=lambda box: box.y0)
    assert len(boxes) == 40
    assert all(low.y1 <= high.y0 + 1.0 for low, high in pairwise(boxes))
    assert all("\n" in label.get_text() for label in ax.get_yticklabels())
    assert fit.plot.importance(repeats=2, top=3).get_yticklabels()[0].get_text().replace("\n", "") in names

"""Importance of the variables: the picture shows what the table says."""

import numpy as np
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

"""Partial dependence: against loops over rows and values, for methods with and without
probabilities.
"""

import numpy as np
import pandas as pd
import pytest
from expected import refused, rows_left_out

from ordstat import OptionError, datasets, ordfit

WINE = datasets.load("wine")
BANDS = datasets.quadratic_bands(80, seed=1)


@pytest.mark.parametrize("method", ["ordboost", "cart", "rps-forest"])
def test_means_of_probabilities_by_hand(method):
    fit = ordfit("rating ~ temp + contact", WINE, method)
    table = fit.plot.dependence("temp", draw=False)
    for value in ("cold", "warm"):
        by_hand = fit.predict(WINE.assign(temp=value), type="prob").mean().to_numpy()
        np.testing.assert_allclose(
            table.loc[table["temp"] == value, "estimate"], by_hand, rtol=1e-12
        )
    assert table["level"].tolist() == [1, 2, 3, 4, 5] * 2
    lines = fit.plot.dependence("temp").get_lines()
    assert len(lines) == 5
    np.testing.assert_allclose(
        lines[2].get_ydata(), table.loc[table["level"] == 3, "estimate"]
    )


def test_weights_count_rows():
    weights = 1 + np.arange(72) % 4
    fit = ordfit("rating ~ temp + contact", WINE, "cart", weights=weights)
    table = fit.plot.dependence("contact", of="rank", draw=False)
    p = fit.predict(WINE.assign(contact="yes"), type="prob").to_numpy()
    by_hand = np.average(p @ np.arange(1.0, 6.0), weights=weights)
    assert table.set_index("contact").loc["yes", "estimate"] == pytest.approx(
        by_hand, rel=1e-12
    )


@pytest.mark.parametrize("method", ["orboost-all", "redsvm", "csovo", "prank"])
def test_predicted_ranks_of_other_methods(method):
    fit = ordfit(
        "rank ~ x1 + x2",
        BANDS,
        method,
        **({"rounds": 5} if method == "orboost-all" else {}),
    )
    values = [-0.5, 0.5]
    mean = fit.plot.dependence("x1", values=values, draw=False)
    for value in values:
        ranks = fit.predict(BANDS.assign(x1=value)).cat.codes + 1
        assert mean.loc[mean["x1"] == value, "estimate"].item() == pytest.approx(
            ranks.mean(), rel=1e-12
        )
    with pytest.raises(
        OptionError,
        match="has no probabilities: give of='rank', or fit with calibrate=True",
    ):
        fit.plot.dependence("x1", of="prob")


def test_rows_that_are_not_complete_and_many_values():
    data = pd.DataFrame(
        {
            "y": [1, 2, 3] * 20,
            "x": np.arange(60.0),
            "z": np.tile([0.0, 1.0, 2.0, np.nan], 15),
        }
    )
    with rows_left_out():
        fit = ordfit("y ~ x + z", data, "cart")
    table = fit.plot.dependence("x", of="rank", draw=False)
    # row 59 is not complete
    assert len(table) == 25 and table["x"].iloc[[0, -1]].tolist() == [0.0, 58.0]
    p = fit.predict(data.dropna().assign(x=0.0), type="prob").to_numpy()
    assert table["estimate"].iloc[0] == pytest.approx((p @ [1, 2, 3]).mean(), rel=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"variable": "judge"}, "'judge' is not a variable of the formula"),
        ({"variable": "temp", "of": "class"}, "of must be one of None, 'prob', 'rank'"),
        (
            {"variable": "temp", "rows": 9},
            r"plot\.dependence has no option 'rows'.* It has variable, ax, of, values",
        ),
    ],
)
def test_refusals(options, message):
    with pytest.raises(OptionError, match=message):
        ordfit("rating ~ temp + contact", WINE, "cart").plot.dependence(**options)


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
    assert ax.get_xlabel() == "absolute error: change when permuted, with 90% interval"


def test_gain_has_no_limits():
    fit = ordfit("rating ~ temp + contact", WINE, "cart")
    data = fit.plot.importance(draw=False)
    assert (
        data["column"].tolist() == ["temp[T.warm]", "contact[T.yes]"]
        and data["lower"].isna().all()
    )
    ax = fit.plot.importance()
    assert (
        len(ax.patches) == 2
        and not ax.collections
        and ax.get_xlabel().startswith("share")
    )
    assert len(fit.plot.importance(kind="permutation", repeats=1).collections) == 0
    with refused("top"):
        fit.plot.importance(top=0, draw=False)

"""Numbers of new rows far outside the rows of the fit are told of once in a call."""

import warnings

import numpy as np
import pandas as pd
import pytest

from ordstat import datasets, load, ordfit, pool
from ordstat.exceptions import ExtrapolationWarning
from ordstat.formula.columns import Columns
from ordstat.formula.extrapolation import far_values

#: x is 0 to 4, z is -1 to 1, and c is constant.
DATA = pd.DataFrame(
    {
        "y": np.arange(60) % 3 + 1,
        "x": np.arange(60) % 7 % 5.0,
        "z": np.arange(60) % 11 / 5.0 - 1.0,
        "c": 1.0,
        "g": np.where(np.arange(60) % 4 < 2, "a", "b"),
        "id": np.arange(60) % 10,
    }
)
DATA.loc[DATA.index % 9 == 0, "y"] = 3


def told(ask):
    """What one call warns of numbers far outside."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ask()
    return [
        str(each.message) for each in caught if each.category is ExtrapolationWarning
    ]


def test_far_is_half_the_range_beyond_it():
    ranges = {"x": (0.0, 4.0)}
    for values, far in (
        ([-2.0, 6.0], []),
        ([-2.1, 3.0], [-2.1]),
        ([6.1, np.nan, -9.0], [6.1, -9.0]),
    ):
        found = list(far_values(ranges, Columns(pd.DataFrame({"x": values}))))
        assert [value for each in found for value in each.values] == far


@pytest.mark.parametrize("method", ["clm", "acat", "cratio"])
def test_standard_errors_grow_outside_the_range(method):
    fit = ordfit("y ~ x", DATA, method)
    new = pd.DataFrame({"x": [4.0, 5.0, 6.0, 60.0]})
    with pytest.warns(ExtrapolationWarning):
        errors = fit.predict(new, type="linear_predictor", se=True)["std_error"]
    assert (errors.diff().iloc[1:] > 0.0).all(axis=None)


@pytest.mark.parametrize(
    "method", ["clm", "acat", "cratio", "redsvm", "ordboost", "csovo", "prank"]
)
def test_every_method_names_variable_range_and_values(method):
    fit = ordfit("y ~ x + z", DATA, method)
    new = DATA.head(4).set_axis(list("pqrs")).assign(x=[1.0, 50.0, 20.0, -1.0])
    (message,) = told(lambda: fit.predict(new))
    assert "x is 0 to 4 in the fit and 20 to 50 in 2 rows, first row 'q'" in message
    assert "z is" not in message
    assert not told(lambda: fit.predict(DATA)) and not told(fit.predict)


def test_each_call_tells_once():
    fit = ordfit("y ~ x + z", DATA)
    new = DATA.assign(x=50.0)
    calls = [
        lambda: fit.predict(new, "prob"),
        lambda: fit.predict(new, "prob", se=True, interval="confidence"),
        lambda: fit.predict(new, "margin"),
        lambda: fit.augment(new),
    ]
    assert [len(told(call)) for call in calls] == [1] * len(calls)


def test_several_fits_and_blocks_of_one_call_tell_once(tmp_path):
    new = DATA.assign(x=50.0)
    noisy = DATA.assign(z=DATA["z"] + 0.01 * (DATA.index % 3))
    pooled = pool([ordfit("y ~ x + z", frame) for frame in (DATA, noisy)])
    assert len(told(lambda: pooled.predict(new, "prob"))) == 1
    assert len(told(lambda: pooled.predict(new, "prob", se=True))) == 1
    fit = ordfit("y ~ x + z", DATA, "ordinal-bagging", rounds=4)
    assert len(told(lambda: list(fit.staged(new)))) == 1
    assert len(told(lambda: fit.plot.dependence("x", values=[9, 20, 30], draw=False)))
    line = ordfit("y ~ x + z", DATA)
    new.to_parquet(tmp_path / "new.parquet", row_group_size=10)
    source = str(tmp_path / "new.parquet")
    assert len(told(lambda: line.predict_to(tmp_path / "out.parquet", source))) == 1


def test_random_effects_and_rows_in_blocks(tmp_path):
    new = DATA.assign(x=50.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mixed = ordfit("y ~ x + (1 | id)", DATA)
    for re in (None, "zero", "marginal"):
        assert len(told(lambda re=re: mixed.predict(new, "prob", re=re))) == 1
    DATA.to_parquet(tmp_path / "fit.parquet")
    blocks = ordfit("y ~ x", str(tmp_path / "fit.parquet"))
    assert len(told(lambda: blocks.predict(new))) == 1


def test_it_is_the_variable_that_is_compared():
    """Not its transforms, and no factor of numbers; offsets and constants do not
    count.
    """
    data = DATA.assign(d=DATA["id"] % 3, w=0.0)
    data["w"] += DATA["z"] / 100.0
    fit = ordfit("y ~ exp(x) + C(d) + offset(w)", data)
    assert fit.design.spec.ranges == {"x": (0.0, 4.0)}
    assert not told(lambda: fit.predict(data.assign(x=5.9, w=9.0)))
    curve = ordfit("y ~ ns(x, df=2)", data)
    assert told(lambda: curve.predict(data.assign(x=6.1)))


def test_rows_left_out_are_not_in_the_range():
    data = DATA.assign(w=1.0)
    data.loc[0, ["x", "w"]] = [1000.0, 0.0]
    fit = ordfit("y ~ x", data, weights="w", subset="z > -1")
    assert fit.design.spec.ranges["x"] == (0.0, 4.0)


def test_missing_values_are_not_far_and_have_no_part_in_ranges():
    data = DATA.copy()
    data.loc[3, "x"] = np.nan
    fit = ordfit("y ~ x + z", data, "ordboost", na_action="keep", rounds=3)
    assert fit.design.spec.ranges["x"] == (0.0, 4.0)
    assert not told(lambda: fit.predict(data))


def test_arrays_dicts_and_saved_fits(tmp_path):
    frame = DATA[["x", "z"]].set_axis(["x1", "x2"], axis=1).assign(y=DATA["y"])
    fit = ordfit("y ~ x1 + x2", frame)
    assert "x1 is" in told(lambda: fit.predict(np.array([[50.0, 0.0]])))[0]
    assert told(lambda: fit.predict({"x1": [50], "x2": [0]}))
    fit.save(tmp_path / "fit.ordstat")
    again = load(tmp_path / "fit.ordstat")
    assert told(lambda: again.predict(frame.assign(x2=-7.5)))


def test_pictures_are_dashed_outside():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    fit = ordfit("y ~ x", DATA)
    ax = fit.plot.emmeans("x", at={"x": [-2, -1, 0, 2, 4, 6]})
    (line,) = ax.get_lines()
    assert np.isnan(line.get_ydata()).tolist() == [
        True,
        True,
        False,
        False,
        False,
        True,
    ]
    left, right = ax.collections[-1].get_segments()
    assert left[:, 0].tolist() == [-2.0, -1.0, 0.0] and right[:, 0].tolist() == [4, 6]
    inside = fit.plot.emmeans("x", at={"x": [0, 2, 4]})
    assert len(inside.collections) == 1
    pyplot.close("all")


def test_classes_on_a_wine_frame_have_no_ranges():
    assert ordfit("rating ~ temp", datasets.load("wine")).design.spec.ranges == {}

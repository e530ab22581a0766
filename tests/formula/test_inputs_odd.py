"""Arguments of odd kinds, and designs larger than the memory, end in an error in
words.
"""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from problems import ranked

from ordstat import OrdstatError, checks, ordfit
from ordstat.exceptions import DataError, OptionError

RAGGED = [[1, 2], [3]]
ODD = {
    "ragged": RAGGED,
    "huge": 10**400,
    "NA": pd.NA,
    "array": np.eye(2),
    "object": object(),
    "bytes": b"x",
}


def frame(seed: int = 0, n: int = 60) -> pd.DataFrame:
    return ranked(np.random.default_rng(seed), n, [-1, 1])


@pytest.mark.parametrize("value", ODD)
@pytest.mark.parametrize(
    "name",
    [
        *("formula", "data", "method", "nominal", "scale", "weights", "offset"),
        *("cluster", "design", "vcov", "cost", "constraints", "interactions"),
        *("calibrate", "levels", "subset", "cov", "contrasts", "na_action", "seed"),
        *("penalty", "max_iter", "tol", "link"),
    ],
)
def test_every_argument_of_an_odd_kind_is_refused(name, value):
    if name == "seed" and value in ("huge", "ragged"):
        pytest.skip("numpy takes any whole numbers for a seed")
    with pytest.raises(OrdstatError):
        ordfit(**{"formula": "y ~ x", "data": frame(), name: ODD[value]})


@pytest.mark.parametrize(
    ("values", "message"),
    [([[1, 2]] * 60, "'x' holds mixed values"), ([1j] * 60, "'x' holds complex")],
)
def test_columns_of_lists_and_complex_numbers_are_named(values, message):
    with pytest.raises(DataError, match=message):
        ordfit("y ~ x", frame().assign(x=values))


@pytest.mark.parametrize(
    "method", ["redsvm", "ordboost", "cart", "kernel-clm", "prank"]
)
@pytest.mark.parametrize("value", [10**400, pd.NA, RAGGED])
def test_options_of_methods_are_checked_in_one_place(method, value):
    option = {
        "redsvm": "C",
        "ordboost": "rounds",
        "cart": "max_depth",
        "kernel-clm": "penalty",
        "prank": "epochs",
    }[method]
    with pytest.raises(OptionError, match=option):
        ordfit("y ~ x", frame(), method, **{option: value})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"levels": 3},
            "levels= must be a list of labels in order, lowest first; got 3",
        ),
        ({"weights": RAGGED}, "60 values, one per row; got lists of different lengths"),
        ({"subset": RAGGED}, "60 values, one per row; got lists of different lengths"),
        ({"cost": RAGGED}, "got lists of different lengths"),
        ({"vcov": np.eye(2)}, "vcov must be a name"),
    ],
)
def test_messages_name_what_came(arguments, message):
    with pytest.raises(OrdstatError, match=message):
        ordfit("y ~ x", frame(), **arguments)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(
    ("formula", "term"), [("y ~ p*q", "'p:q'"), ("y ~ x + big", "'big'")]
)
def test_designs_larger_than_the_memory_are_counted_and_not_made(
    monkeypatch, seed, formula, term
):
    monkeypatch.setattr(checks, "available_memory", lambda: 4.0 * 2**30)
    rng = np.random.default_rng(seed)
    n = 30_000
    data = frame(seed, n).assign(
        p=rng.integers(0, 300, n).astype(str),
        q=rng.integers(0, 300, n).astype(str),
        big=np.arange(n).astype(str),
    )
    tracemalloc.start()
    with pytest.raises(DataError, match=rf"{term}.* needs .* GiB"):
        ordfit(formula, data)
    assert tracemalloc.get_traced_memory()[1] < 2**28
    tracemalloc.stop()

"""Columns of one tall row-major table are looked over together; what is found must not depend on that."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from ordstat.exceptions import DataError
from ordstat.formula.build import build

N = 9_000


def tables() -> tuple[pd.DataFrame, pd.DataFrame]:
    """The same numbers row by row (columns far apart in memory) and column by column."""
    numbers = np.random.default_rng(0).standard_normal((N, 4))
    y = pd.Series(np.arange(N) % 3 + 1, name="y")
    tall = pd.DataFrame(numbers, columns=list("abcd"), copy=False)
    wide = pd.DataFrame({name: numbers[:, j].copy() for j, name in enumerate("abcd")})
    assert tall["a"].to_numpy().strides[0] > 8 == wide["a"].to_numpy().strides[0]
    return tall.assign(y=y), wide.assign(y=y)


@pytest.mark.parametrize("row", [0, 4095, 4096, N - 1])
def test_missing_and_infinite_values_are_found(row: int) -> None:
    for frame in tables():
        frame.loc[row, "c"] = np.nan
        design = build("y ~ a + b + c + d", frame)
        assert dict(design.dropped) == {"c": 1} and design.sample.n == N - 1
        np.testing.assert_array_equal(design.sample.X, frame.drop(index=row)[list("abcd")].to_numpy())
        frame.loc[row, "b"] = -np.inf
        with pytest.raises(DataError, match=f"'b' is infinite in row {row}"):
            build("y ~ a + b + c + d", frame)


def test_sums_that_overflow_are_looked_at_again() -> None:
    """1e308 twice is not infinite: the columns are finite, and refused for their size alone."""
    for frame in tables():
        frame["d"] = np.where(np.arange(N) < 2, 1e308, 0.0)
        with pytest.raises(DataError, match="'d' reaches 1e\\+308"):
            build("y ~ a + d", frame)

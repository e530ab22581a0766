"""Whole numbers beyond those of floating-point numbers, such as identifiers of 64 bits,
stay apart, whatever holds them.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from ordstat import ordfit
from ordstat.exceptions import DataError

LARGE = 2**60  # beside its neighbours one floating-point number


def _with_large_numbers() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"x": rng.normal(size=120), "group": np.arange(120) // 4})
    frame["y"] = np.digitize(frame["x"] + rng.logistic(size=120), [-1.0, 1.0])
    frame["id"] = LARGE + frame["group"]
    return frame


def pa_chunks(values):
    return pa.chunked_array([values[:50], values[50:]])


def _gap(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(id=frame["id"].astype("Int64").mask(frame.index == 7))


@pytest.mark.filterwarnings("ignore:.* left out for missing values")
@pytest.mark.parametrize(
    "made",
    [
        lambda d: d,
        lambda d: d.assign(id=d["id"].astype("uint64")),
        lambda d: d.assign(id=d["id"].astype(object)),
        lambda d: d.assign(id=d["id"].astype("int64[pyarrow]")),
        _gap,
        lambda d: _gap(d).astype({"id": "UInt64"}),
        lambda d: _gap(d).astype({"id": object}),
        lambda d: _gap(d).astype({"id": "int64[pyarrow]"}),
        lambda d: pa.Table.from_pandas(_gap(d)),
        lambda d: pl.from_pandas(_gap(d)),
        lambda d: BlocksOf(_gap(d)),
    ],
)
def test_large_whole_numbers_stay_apart(made) -> None:
    frame = _with_large_numbers()
    data = made(frame)
    if isinstance(data, pd.DataFrame):
        kept = frame[data["id"].notna()]
    else:
        kept = frame.drop(index=7)
    fit = ordfit("y ~ x", data, cluster="id")
    plain = ordfit("y ~ x", kept, cluster="group")
    np.testing.assert_allclose(fit.bse, plain.bse, rtol=1e-6)
    factor = ordfit("y ~ C(id)", data, penalty=1.0)
    plain = ordfit("y ~ C(group)", kept, penalty=1.0)
    np.testing.assert_allclose(factor.params, plain.params, atol=1e-6)
    some = ordfit("y ~ x", data, subset=f"id < {LARGE + 15} and id != {LARGE + 3}")
    rows = (kept["group"] < 15) & (kept["group"] != 3)
    assert some.n_rows == rows.sum()
    if isinstance(data, BlocksOf):
        return
    response = ordfit("id ~ x", data, subset=f"id <= {LARGE + 5}")
    assert response.levels == tuple(range(LARGE, LARGE + 6))


@pytest.mark.filterwarnings("ignore:.* left out for missing values")
@pytest.mark.parametrize("holding", [list, pd.array, pl.Series, pa.array, pa_chunks])
@pytest.mark.parametrize("gap", [False, True])
def test_large_whole_numbers_that_are_no_column_stay_apart(holding, gap) -> None:
    frame = _with_large_numbers()
    ids = frame["id"].tolist()
    kept = frame
    if gap:
        ids[7] = None
        kept = frame.drop(index=7)
    fit = ordfit("y ~ x", frame, cluster=holding(ids))
    plain = ordfit("y ~ x", kept, cluster="group")
    np.testing.assert_allclose(fit.bse, plain.bse, rtol=1e-6)
    text = [None if i is None else f"{i}" for i in ids]
    fit = ordfit("y ~ x", frame, cluster=holding(text))
    np.testing.assert_allclose(fit.bse, plain.bse, rtol=1e-6)


class BlocksOf:
    """A source of blocks of 50 rows, as tables of pyarrow."""

    def __init__(self, frame: pd.DataFrame):
        self.table = pa.Table.from_pandas(frame)
        self.schema = self.table.schema

    def blocks(self, columns):
        return self.table.select(columns).to_batches(max_chunksize=50)


def test_whole_numbers_beyond_64_bits_are_refused() -> None:
    frame = _with_large_numbers()
    frame["id"] = [10**25 + i for i in frame["group"]]
    with pytest.raises(DataError, match=r"'id'.*make text of it"):
        ordfit("y ~ x", frame, cluster="id")
    text = ordfit("y ~ x", frame.astype({"id": str}), cluster="id")
    plain = ordfit("y ~ x", frame, cluster="group")
    np.testing.assert_allclose(text.bse, plain.bse, rtol=1e-6)


def test_whole_numbers_of_128_bits_and_columns_of_several_values() -> None:
    frame = _with_large_numbers()
    data = pl.from_pandas(frame).with_columns(
        pl.col("group").cast(pl.Int128),
        pl.struct("x", "y").alias("pair"),
        pl.concat_arr("x", "x").alias("twice"),
    )
    fit = ordfit("y ~ group", data)
    np.testing.assert_allclose(fit.params, ordfit("y ~ group", frame).params)
    for name in ("pair", "twice"):
        with pytest.raises(DataError, match=f"'{name}' holds mixed values"):
            ordfit(f"y ~ {name}", data)


@pytest.mark.filterwarnings("ignore:.* left out for missing values")
@pytest.mark.parametrize("ordered", [False, True])
def test_dictionaries_of_pyarrow_are_categoricals(ordered) -> None:
    frame = _with_large_numbers()
    labels = ["w", "u", "v"]
    codes = [None if row == 5 else row % 3 for row in range(len(frame))]
    values = pa.DictionaryArray.from_arrays(codes, labels, ordered=ordered)
    dtype = pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string(), ordered))
    data = frame.assign(part=pd.Series(values).astype(dtype))
    assert isinstance(data["part"].dtype, pd.ArrowDtype)
    usual = pd.Categorical.from_codes(
        [-1 if code is None else code for code in codes], labels, ordered=ordered
    )
    fit = ordfit("y ~ part", data)
    expected = ordfit("y ~ part", frame.assign(part=usual)).params
    pd.testing.assert_series_equal(fit.params, expected)
    if ordered:
        assert ordfit("part ~ x", data).levels == ("w", "u", "v")
    else:
        with pytest.raises(DataError, match="'part' has labels without an order"):
            ordfit("part ~ x", data)

"""Bounds on the shared sets: below the trivial value, and near the test error where there are new rows."""

import pytest

from benchmarks import bounds
from benchmarks.reproduce.data import FOLDER

pytestmark = pytest.mark.skipif(
    not FOLDER.is_dir(), reason=f"no benchmark data in {FOLDER}: set ORDSTAT_BENCHMARKS to their folder"
)


def _rows(names):
    return [bounds.row(name, frame) for name, frame in bounds.sets(names)]


def _check(rows):
    assert not [row for row in rows if not row["bound"] < row["trivial"]]
    assert not [row for row in rows if not row["test MAE"] <= row["bound"]]
    assert not [row for row in rows if not row["test MAE"] < row["bound (new)"] < row["trivial"]]


def test_bounds_say_something():
    rows = _rows({"stocks", "car", "ERA"})
    assert len(rows) == 3
    _check(rows)


@pytest.mark.slow
def test_bounds_say_something_on_every_set():
    rows = _rows(None)
    assert min(row["N"] for row in rows) >= 600 and len(rows) > 20
    _check(rows)
    near = {row["set"]: row["bound (new)"] - row["test MAE"] for row in rows}
    assert max(near[name] for name in ("computer", "california", "census")) < 0.3

"""The suite `asked`: every job has numbers and a call in R; without R it says so."""

import re

import numpy as np
import pytest

from benchmarks import asked
from benchmarks.contestants import r_asked
from benchmarks.timing import Timed


@pytest.fixture(scope="module")
def data():
    return asked.frames(quick=True)


@pytest.mark.parametrize("name", asked.JOBS)
def test_every_job_gives_finite_numbers(data, name):
    numbers = np.asarray(asked.JOBS[name].call(data), dtype=float)
    assert numbers.size and np.isfinite(numbers).all()


def test_every_job_has_a_call_in_r():
    jobs = r_asked.SCRIPT.read_text().split("jobs <- list(")[1]
    assert set(re.findall(r"^  (\w+) = list\(", jobs, re.MULTILINE)) == set(asked.JOBS)


def test_without_r(monkeypatch, capsys):
    def seconds(field, count):
        assert [type(one) for one in field] == [Timed]
        return {"ordstat": [2.0] * count}

    monkeypatch.setattr(asked.shutil, "which", lambda name: None)
    monkeypatch.setattr(asked, "rounds", seconds)
    rows = asked.run(quick=True)
    assert "Rscript is not here" in capsys.readouterr().out
    assert [row["ordstat"] for row in rows] == [2.0] * len(asked.JOBS)
    assert all(np.isnan(row["over ordstat"]) for row in rows)

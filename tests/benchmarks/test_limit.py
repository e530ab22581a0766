"""Rivals with a limit of processor seconds."""

import itertools
from math import isnan

import numpy as np
import pytest

pytest.importorskip("resource", reason="limits of processor seconds are POSIX")

from benchmarks import svm
from benchmarks.contestants.svm import OnProcessor, Rival
from benchmarks.limit import within


def endless():
    return sum(1 for _ in itertools.count())


def test_a_call_in_time_gives_what_it_returns():
    np.testing.assert_array_equal(within(10, lambda: np.arange(3)), [0, 1, 2])


def test_an_endless_call_is_cut_off():
    assert within(1, endless) is None


def test_a_call_that_fails_is_not_taken_for_a_slow_one():
    with pytest.raises(RuntimeError, match="exit code 1"):
        within(10, lambda: 1 / 0)


def test_a_rival_that_is_cut_off_reads_at_least(monkeypatch):
    monkeypatch.setattr(svm, "_patience", lambda own: 2.0)
    monkeypatch.setattr(svm, "_rivals", lambda task: [Rival(OnProcessor("endless", endless), lambda model: model)])
    rows = {row["contestant"]: row for row in svm._compare(svm._task("redsvm", 40, 3, "gaussian", 1.0))}
    own, rival = rows["ordstat 1e-06"], rows["endless"]
    assert rival["at least"] and isnan(rival["gap"]) and rival["seconds"] == 2.0
    assert not own["at least"] and 0 <= own["gap"] <= 1e-6
    assert rival["over ordstat at its gap"] == rival["over ordstat 1e-06"] == pytest.approx(2.0 / own["seconds"])

"""Pretrained classifiers of tables, with a stand-in for their packages."""

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

import numpy as np
import pytest

from benchmarks import pretrained


class StandIn:
    """Shares of the levels, with the arguments that both packages take."""

    def __init__(self, *, model_path, device, random_state):
        self.given = (model_path, device, random_state)

    def fit(self, X, y):
        self.classes_, counts = np.unique(y, return_counts=True)
        self.shares = counts / y.size
        return self

    def predict_proba(self, X):
        return np.tile(self.shares, (len(X), 1))


@pytest.fixture
def installed(monkeypatch):
    for package, kind in (
        ("tabpfn", "TabPFNClassifier"),
        ("tabicl", "TabICLClassifier"),
    ):
        module = ModuleType(package)
        module.__spec__ = ModuleSpec(package, None)
        setattr(module, kind, StandIn)
        monkeypatch.setitem(sys.modules, package, module)
    monkeypatch.delenv("ORDSTAT_TABPFN", raising=False)
    monkeypatch.delenv("ORDSTAT_TABICL", raising=False)


def test_what_is_lacking_is_said(installed, monkeypatch, tmp_path):
    one = pretrained.PRETRAINED["TabPFN"]
    assert "set the variable ORDSTAT_TABPFN" in one.lacking()
    monkeypatch.setenv("ORDSTAT_TABPFN", str(tmp_path / "weights"))
    assert "weights, which is no file" in one.lacking()
    (tmp_path / "weights").touch()
    assert one.lacking() is None
    assert list(pretrained.available()) == ["TabPFN"]
    absent = pretrained.Pretrained("no_such_package", "Classifier", "ORDSTAT_NONE")
    assert "pip install no_such_package" in absent.lacking()


def test_probabilities_of_classes_become_those_of_thresholds(
    installed, monkeypatch, tmp_path
):
    (tmp_path / "weights").touch()
    monkeypatch.setenv("ORDSTAT_TABICL", str(tmp_path / "weights"))
    y = np.array([0, 0, 2, 3])  # level 1 has no row
    predict = pretrained.available()["TabICL"]
    above = predict(np.zeros((4, 2)), y, 4, np.zeros((3, 2)), 7)
    np.testing.assert_allclose(above, np.tile([0.5, 0.5, 0.25], (3, 1)))

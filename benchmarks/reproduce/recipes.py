"""What the published columns are in ordstat. A new method adds a line to RECIPES; nothing else changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Column:
    """A column of a published table, in the words of published_results.csv ("" where it says nothing)."""

    method: str
    base: str
    kernel: str
    metric: str


@dataclass(frozen=True)
class Recipe:
    """An ordstat method with its options."""

    method: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Metric:
    """Where a published figure is found in a run, and the factor between them."""

    name: str
    factor: float = 1.0


METRICS = {
    "MAE": Metric("mae"),
    "error rate": Metric("error"),
    "error rate %": Metric("error", 100.0),
    "training MAE": Metric("training_mae"),
}

# kappa by 5-fold cross-validation of the method's own cost among 2^-17, 2^-15, ..., 2^3 [Lin 2008, sec. 2.4].
_CV: dict[str, Any] = {"C": "cv", "kernel": "perceptron"}
_ABSOLUTE, _CLASSIFICATION = {"cost": "absolute"}, {"cost": "classification"}

RECIPES: dict[Column, Recipe] = {
    Column("RED-SVM", "SVM", "perceptron", "MAE"): Recipe("redsvm", _CV | _ABSOLUTE),
    Column("RED-SVM", "SVM", "perceptron", "error rate"): Recipe("redsvm", _CV | _CLASSIFICATION),
    Column("SVOR-IMC", "", "perceptron", "MAE"): Recipe("svor-imc", _CV | _ABSOLUTE),
    # Plain OVA and OVO choose kappa by the classification cost, whatever they are judged by.
    Column("OVA", "SVM", "perceptron", "MAE"): Recipe("ova", _CV),
    Column("OVO", "SVM", "perceptron", "MAE"): Recipe("ovo", _CV),
    Column("CSOVA", "SVM", "perceptron", "MAE"): Recipe("csova", _CV | _ABSOLUTE),
    Column("CSOVO", "SVM", "perceptron", "MAE"): Recipe("csovo", _CV | _ABSOLUTE),
    Column("WAP", "SVM", "perceptron", "MAE"): Recipe("wap", _CV | _ABSOLUTE),
    Column("CSOVA", "SVM", "perceptron", "error rate"): Recipe("csova", _CV | _CLASSIFICATION),
    Column("CSOVO", "SVM", "perceptron", "error rate"): Recipe("csovo", _CV | _CLASSIFICATION),
    # Two levels: every machine of the family is the soft-margin SVM.
    Column("SVM", "", "stump", "error rate %"): Recipe("redsvm", {"C": "cv", "kernel": "stump"} | _CLASSIFICATION),
    Column("SVM", "", "perceptron", "error rate %"): Recipe("redsvm", _CV | _CLASSIFICATION),
    Column("SSVM", "", "perceptron", "error rate %"): Recipe(
        "redsvm", {"C": 2.0**16, "kernel": "perceptron"} | _CLASSIFICATION
    ),
}

#: How our copy of a data set is known to differ from the papers', or may: printed beside a cell that is off.
NOTES = {
    "pyrimidines": "one target differs from the usual copy",
    "machinecpu": "nine largest targets differ from the UCI file",
    "abalone": "how the papers cut tied targets into levels is not stated",
    "bank": "1662 targets are exactly 0; how the papers cut ties is not stated",
    "california": "965 targets capped; how the papers cut ties is not stated",
    "census": "assembled from two copies",
    "vehicle": "order of the levels inferred",
    "votes84": "coding of missing votes not stated",
    "breast": "rows with missing values dropped; the patient number is a feature, as in LIBSVM's copy",
    "w1a": "the papers' scaling is not stated: the columns are scaled to [-1, 1]",
}

"""One file a method, or a family of small ones; `METHODS` is the one list of their names.

To add a method: a frozen dataclass in a file here, and one line in `METHODS`. A file is imported when one of its
methods is asked for, so that a new file costs nothing to those who do not use it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from ..checks import canonical
from ..model.likelihood.links import LINKS
from .base import Method


@dataclass(frozen=True)
class Entry:
    """A method string: the class it stands for and the options it fixes.

    Attributes
    ----------
    path : str
        "file.Class" in this folder.
    preset : mapping
        Options that the string fixes.
    """

    path: str
    preset: Mapping[str, Any] = field(default_factory=dict)

    @property
    def method(self) -> type[Method]:
        """The class."""
        file, name = self.path.split(".")
        found: type[Method] = getattr(import_module(f"{__name__}.{file}"), name)
        return found


METHODS: dict[str, Entry] = {
    "clm": Entry("clm.CumulativeLink"),
    **{name: Entry("clm.CumulativeLink", {"link": name}) for name in LINKS},
    "acat": Entry("clm.AdjacentCategory"),
    "kernel-clm": Entry("kernel_clm.KernelCumulativeLink"),
    "redsvm": Entry("redsvm.REDSVM"),
    "osvm": Entry("redsvm.REDSVM", {"cost": "absolute"}),
    "svor-imc": Entry("redsvm.SVORIMC"),
    "svor-exc": Entry("redsvm.SVOREXC"),
    "rank-svm": Entry("redsvm.RankBoundarySVM"),
    "ova": Entry("voting.OneVersusAll", {"cost": "classification"}),
    "csova": Entry("voting.OneVersusAll"),
    "ovo": Entry("voting.OneVersusOne", {"cost": "classification", "weighting": "difference"}),
    "csovo": Entry("voting.OneVersusOne", {"weighting": "difference"}),
    "wap": Entry("voting.OneVersusOne", {"weighting": "all-pairs"}),
    "tsew": Entry("voting.CostTransform", {"mode": "expand"}),
    "relabel": Entry("voting.CostTransform", {"mode": "relabel"}),
    "rankboost-or": Entry("boosting.RankBoost", {"step": "loose"}),
    "rankboost-ae": Entry("boosting.RankBoost", {"step": "tight", "cost": "absolute"}),
    "orboost-lr": Entry("boosting.ORBoost", {"cost": "classification"}),
    "orboost-all": Entry("boosting.ORBoost"),
    "prank": Entry("online.PRank"),
    "siprank": Entry("online.PRank", {"keep": "pocket", "presentation": "cost"}),
    "cusum": Entry("online.CuSumRank", {"update": "perceptron"}),
    "pa-cusum": Entry("online.CuSumRank", {"update": "passive-aggressive"}),
    "kernel-prank": Entry("online.KernelPRank"),
    "kernel-cusum": Entry("online.KernelCuSumRank"),
    "reduction": Entry("reduction.Reduction"),
    "frank-hall": Entry("reduction.Reduction", {"encoding": "separate", "decision": "mode", "cost": "absolute"}),
    "red-c45": Entry("reduction.Reduction", {"base": "c4.5", "decision": "count", "scaling": None}),
    "red-tree": Entry("reduction.Reduction", {"base": "tree", "decision": "count", "scaling": None}),
    "red-hgb": Entry("reduction.Reduction", {"base": "hgb", "decision": "count", "scaling": None}),
    "nominal-classifier": Entry("nominal.NominalClassifier"),
    "red-logistic": Entry("threshold_loss.ThresholdLogisticRegression"),
    "onn": Entry("threshold_loss.OrdinalNetwork"),
    "orstump": Entry("orstump.ORStump"),
    "adaboost-or": Entry("orstump.AdaBoostOR"),
    "adaboost": Entry("boosting.AdaBoost"),
    "seedboost": Entry("boosting.SeedBoost"),
    "ordboost": Entry("ordboost.OrdinalBoosting"),
    "rps-forest": Entry("forest.RPSForest"),
    "blend": Entry("blend.Blend"),
    "cart": Entry("trees.OrdinalTree", {"response": "nominal", "cost": "classification"}),
    "ordinal-cart": Entry("trees.OrdinalTree", {"response": "ordinal", "cost": "classification"}),
    "bagging": Entry("trees.OrdinalBagging", {"response": "nominal", "cost": "classification"}),
    "ordinal-bagging": Entry("trees.OrdinalBagging", {"response": "ordinal", "cost": "classification"}),
    "nominal-adaboost": Entry("trees.NominalAdaBoost", {"cost": "classification"}),
    "fixed-split-boosting": Entry("trees.FixedSplitBoosting", {"cost": "classification"}),
    "ordinal-adaboost": Entry("trees.OrdinalAdaBoost", {"cost": "classification"}),
}

__all__ = ["METHODS", "Entry", "Method", "spelled"]


def spelled(method: Any) -> str | None:
    """The method string that a text spells in its own case, hyphens, underscores and blanks; None where it is none."""
    return canonical(method, METHODS)

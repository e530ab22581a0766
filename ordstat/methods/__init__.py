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
        "module.Class" in the package.
    preset : mapping
        Options that the string fixes.
    """

    path: str
    preset: Mapping[str, Any] = field(default_factory=dict)

    @property
    def method(self) -> type[Method]:
        """The class."""
        module, _, name = self.path.rpartition(".")
        method: type[Method] = getattr(import_module(f"ordstat.{module}"), name)
        return method


METHODS: dict[str, Entry] = {
    "clm": Entry("methods.clm.CumulativeLink"),
    **{name: Entry("methods.clm.CumulativeLink", {"link": name}) for name in LINKS},
    "acat": Entry("methods.clm.AdjacentCategory"),
    "kernel-clm": Entry("methods.kernel_clm.KernelCumulativeLink"),
    "redsvm": Entry("methods.redsvm.REDSVM"),
    "osvm": Entry("methods.redsvm.REDSVM", {"cost": "absolute"}),
    "svor-imc": Entry("methods.redsvm.SVORIMC"),
    "svor-exc": Entry("methods.redsvm.SVOREXC"),
    "rank-svm": Entry("methods.redsvm.RankBoundarySVM"),
    "ova": Entry("methods.voting.OneVersusAll", {"cost": "classification"}),
    "csova": Entry("methods.voting.OneVersusAll"),
    "ovo": Entry("methods.voting.OneVersusOne", {"cost": "classification", "weighting": "difference"}),
    "csovo": Entry("methods.voting.OneVersusOne", {"weighting": "difference"}),
    "wap": Entry("methods.voting.OneVersusOne", {"weighting": "all-pairs"}),
    "tsew": Entry("methods.voting.CostTransform", {"mode": "expand"}),
    "relabel": Entry("methods.voting.CostTransform", {"mode": "relabel"}),
    "rankboost-or": Entry("methods.boosting.RankBoost", {"step": "loose"}),
    "rankboost-ae": Entry("methods.boosting.RankBoost", {"step": "tight", "cost": "absolute"}),
    "orboost-lr": Entry("methods.boosting.ORBoost", {"cost": "classification"}),
    "orboost-all": Entry("methods.boosting.ORBoost"),
    "prank": Entry("methods.online.PRank"),
    "siprank": Entry("methods.online.PRank", {"keep": "pocket", "presentation": "cost"}),
    "cusum": Entry("methods.online.CuSumRank", {"update": "perceptron"}),
    "pa-cusum": Entry("methods.online.CuSumRank", {"update": "passive-aggressive"}),
    "kernel-prank": Entry("methods.online.KernelPRank"),
    "kernel-cusum": Entry("methods.online.KernelCuSumRank"),
    "reduction": Entry("methods.reduction.Reduction"),
    "frank-hall": Entry(
        "methods.reduction.Reduction", {"encoding": "separate", "decision": "mode", "cost": "absolute"}
    ),
    "red-c45": Entry("methods.reduction.Reduction", {"base": "c4.5", "decision": "count", "scaling": None}),
    "red-tree": Entry("methods.reduction.Reduction", {"base": "tree", "decision": "count", "scaling": None}),
    "red-hgb": Entry("methods.reduction.Reduction", {"base": "hgb", "decision": "count", "scaling": None}),
    "nominal-classifier": Entry("methods.nominal.NominalClassifier"),
    "red-logistic": Entry("methods.threshold_loss.ThresholdLogisticRegression"),
    "onn": Entry("methods.threshold_loss.OrdinalNetwork"),
    "orstump": Entry("methods.orstump.ORStump"),
    "adaboost-or": Entry("methods.orstump.AdaBoostOR"),
    "adaboost": Entry("methods.boosting.AdaBoost"),
    "seedboost": Entry("methods.boosting.SeedBoost"),
    "ordboost": Entry("methods.ordboost.OrdinalBoosting"),
    "rps-forest": Entry("methods.forest.RPSForest"),
    "blend": Entry("methods.blend.Blend"),
    "cart": Entry("methods.trees.OrdinalTree", {"response": "nominal", "cost": "classification"}),
    "ordinal-cart": Entry("methods.trees.OrdinalTree", {"response": "ordinal", "cost": "classification"}),
    "bagging": Entry("methods.trees.OrdinalBagging", {"response": "nominal", "cost": "classification"}),
    "ordinal-bagging": Entry("methods.trees.OrdinalBagging", {"response": "ordinal", "cost": "classification"}),
    "nominal-adaboost": Entry("methods.trees.NominalAdaBoost", {"cost": "classification"}),
    "fixed-split-boosting": Entry("methods.trees.FixedSplitBoosting", {"cost": "classification"}),
    "ordinal-adaboost": Entry("methods.trees.OrdinalAdaBoost", {"cost": "classification"}),
}

__all__ = ["METHODS", "Entry", "Method", "spelled"]


def spelled(method: Any) -> str | None:
    """The method string that a text spells in its own case, hyphens, underscores and blanks; None where it is none."""
    return canonical(method, METHODS)

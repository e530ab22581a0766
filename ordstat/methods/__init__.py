"""One file a method; `METHODS` is the one list of their names.

To add a method: one file here with a frozen dataclass, and one line in `METHODS`. A file is imported when one of its
methods is asked for, so that a new method costs nothing to those who do not use it.
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
    "acat": Entry("acat.AdjacentCategory"),
    "redsvm": Entry("redsvm.REDSVM"),
    "osvm": Entry("redsvm.REDSVM", {"cost": "absolute"}),
    "svor-imc": Entry("svorimc.SVORIMC"),
    "svor-exc": Entry("svorexc.SVOREXC"),
    "rank-svm": Entry("rank_svm.RankBoundarySVM"),
    "ova": Entry("one_versus_all.OneVersusAll", {"cost": "classification"}),
    "csova": Entry("one_versus_all.OneVersusAll"),
    "ovo": Entry("one_versus_one.OneVersusOne", {"cost": "classification", "weighting": "difference"}),
    "csovo": Entry("one_versus_one.OneVersusOne", {"weighting": "difference"}),
    "wap": Entry("one_versus_one.OneVersusOne", {"weighting": "all-pairs"}),
    "tsew": Entry("cost_transform.CostTransform", {"mode": "expand"}),
    "relabel": Entry("cost_transform.CostTransform", {"mode": "relabel"}),
    "rankboost-or": Entry("rankboost.RankBoost", {"step": "loose"}),
    "rankboost-ae": Entry("rankboost.RankBoost", {"step": "tight", "cost": "absolute"}),
    "orboost-lr": Entry("orboost.ORBoost", {"cost": "classification"}),
    "orboost-all": Entry("orboost.ORBoost"),
    "prank": Entry("prank.PRank"),
    "siprank": Entry("prank.PRank", {"keep": "pocket", "presentation": "cost"}),
    "cusum": Entry("cusum.CuSumRank", {"update": "perceptron"}),
    "pa-cusum": Entry("cusum.CuSumRank", {"update": "passive-aggressive"}),
    "kernel-prank": Entry("kernel_prank.KernelPRank"),
    "kernel-cusum": Entry("kernel_cusum.KernelCuSumRank"),
    "reduction": Entry("reduction.Reduction"),
    "frank-hall": Entry("reduction.Reduction", {"encoding": "separate", "decision": "mode", "cost": "absolute"}),
    "red-c45": Entry("reduction.Reduction", {"base": "c4.5", "decision": "count", "scaling": None}),
    "red-tree": Entry("reduction.Reduction", {"base": "tree", "decision": "count", "scaling": None}),
    "red-hgb": Entry("reduction.Reduction", {"base": "hgb", "decision": "count", "scaling": None}),
    "red-logistic": Entry("reduction_logistic.ThresholdLogisticRegression"),
    "onn": Entry("reduction_network.OrdinalNetwork"),
    "orstump": Entry("orstump.ORStump"),
    "adaboost-or": Entry("adaboost_or.AdaBoostOR"),
    "adaboost": Entry("adaboost.AdaBoost"),
    "seedboost": Entry("seedboost.SeedBoost"),
    "cart": Entry("cart.OrdinalTree", {"response": "nominal", "cost": "classification"}),
    "ordinal-cart": Entry("cart.OrdinalTree", {"response": "ordinal", "cost": "classification"}),
    "bagging": Entry("bagging.OrdinalBagging", {"response": "nominal", "cost": "classification"}),
    "ordinal-bagging": Entry("bagging.OrdinalBagging", {"response": "ordinal", "cost": "classification"}),
    "nominal-adaboost": Entry("nominal_adaboost.NominalAdaBoost", {"cost": "classification"}),
    "fixed-split-boosting": Entry("fixed_split.FixedSplitBoosting", {"cost": "classification"}),
    "ordinal-adaboost": Entry("ordinal_adaboost.OrdinalAdaBoost", {"cost": "classification"}),
}

__all__ = ["METHODS", "Entry", "Method", "spelled"]


def spelled(method: Any) -> str | None:
    """The method string that a text spells in its own case, hyphens, underscores and blanks; None where it is none."""
    return canonical(method, METHODS)

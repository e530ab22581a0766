"""Ordinal regression: cumulative link models and large-margin rankers behind one formula call.

>>> from ordstat import datasets, ordfit
>>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
>>> round(fit.loglik, 4)
-86.4919
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import datasets
from .api import ordfit
from .exceptions import (
    ConvergenceWarning,
    DataError,
    DataWarning,
    FormulaError,
    OptionError,
    OrdstatError,
    OrdstatWarning,
    SeparationWarning,
)
from .formula.survey import SurveyDesign
from .registry import METHODS

if TYPE_CHECKING:
    from .boosting.boosting import AdaBoost, ORBoost, RankBoost, SeedBoost
    from .boosting.orstump import AdaBoostOR, ORStump
    from .boosting.weak import DecisionStump, NormalisedSigmoid, RCDPerceptron
    from .comparison import compare
    from .estimator import OrdinalClassifier
    from .imputation import ordfit_mi
    from .inference.pooling import pool
    from .inference.power import power_ordinal
    from .judging.costs import macro_cost
    from .likelihood.clm import AdjacentCategory, CumulativeLink
    from .online.online import CuSumRank, KernelCuSumRank, KernelPRank, PRank
    from .persistence import load
    from .prediction.blend import Blend
    from .prediction.forest import RPSForest
    from .prediction.kernel_clm import KernelCumulativeLink
    from .prediction.ordboost import OrdinalBoosting
    from .reduction.nominal import NominalClassifier
    from .reduction.reduction import Reduction
    from .reduction.threshold_loss import OrdinalNetwork, ThresholdLogisticRegression
    from .reduction.voting import CostTransform, OneVersusAll, OneVersusOne
    from .report.describe import describe_ordinal
    from .report.table import table
    from .svm.kernels import Gaussian, Laplacian, Linear, Perceptron, Polynomial, Precomputed, Stump
    from .svm.redsvm import REDSVM, SVOREXC, SVORIMC, RankBoundarySVM
    from .trees.c45 import C45
    from .trees.tree import DecisionTree
    from .trees.trees import FixedSplitBoosting, NominalAdaBoost, OrdinalAdaBoost, OrdinalBagging, OrdinalTree

__all__ = [
    "C45", "REDSVM", "SVOREXC", "SVORIMC", "AdaBoost", "AdaBoostOR", "AdjacentCategory", "Blend",
    "ConvergenceWarning", "CostTransform", "CuSumRank", "CumulativeLink", "DataError", "DataWarning",
    "DecisionStump", "DecisionTree", "FixedSplitBoosting", "FormulaError", "Gaussian",
    "KernelCuSumRank", "KernelCumulativeLink", "KernelPRank", "Laplacian", "Linear", "NominalAdaBoost",
    "NominalClassifier", "NormalisedSigmoid", "ORBoost", "ORStump", "OneVersusAll", "OneVersusOne",
    "OptionError", "OrdinalAdaBoost", "OrdinalBagging", "OrdinalBoosting", "OrdinalClassifier",
    "OrdinalNetwork", "OrdinalTree", "OrdstatError", "OrdstatWarning", "PRank", "Perceptron", "Polynomial",
    "Precomputed", "RCDPerceptron", "RPSForest", "RankBoost", "RankBoundarySVM", "Reduction", "SeedBoost",
    "SeparationWarning", "Stump", "SurveyDesign", "ThresholdLogisticRegression", "compare", "datasets",
    "describe_ordinal", "load", "macro_cost", "ordfit", "ordfit_mi", "pool", "power_ordinal",
    "table",
]  # fmt: skip

#: Modules of the names that are imported when they are used: a script pays for the methods it fits.
_MODULES = {
    **{name: module for module, _, name in (entry.path.rpartition(".") for entry in METHODS.values())},
    "power_ordinal": "inference.power",
    "macro_cost": "judging.costs",
    **dict.fromkeys(("DecisionStump", "NormalisedSigmoid", "RCDPerceptron"), "boosting.weak"),
    **dict.fromkeys(
        ("Gaussian", "Laplacian", "Linear", "Perceptron", "Polynomial", "Precomputed", "Stump"), "svm.kernels"
    ),
    "C45": "trees.c45",
    "DecisionTree": "trees.tree",
    "OrdinalClassifier": "estimator",
    "compare": "comparison",
    "describe_ordinal": "report.describe",
    "load": "persistence",
    "ordfit_mi": "imputation",
    "pool": "inference.pooling",
    "table": "report.table",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    if name == "__version__":
        from importlib.metadata import version

        return version("ordstat")
    from .checks import advice

    hint = advice("package", name)
    raise AttributeError(f"module 'ordstat' has no attribute {name!r}{hint and '.' + hint}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]

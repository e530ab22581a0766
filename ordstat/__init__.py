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

if TYPE_CHECKING:
    from .estimator import OrdinalClassifier
    from .features import HiddenLayer
    from .learners.c45 import C45
    from .learners.perceptron import NormalisedSigmoid, RCDPerceptron
    from .learners.stump import DecisionStump
    from .learners.tree import DecisionTree
    from .methods.acat import AdjacentCategory
    from .methods.adaboost import AdaBoost
    from .methods.adaboost_or import AdaBoostOR
    from .methods.bagging import OrdinalBagging
    from .methods.cart import OrdinalTree
    from .methods.clm import CumulativeLink
    from .methods.cost_transform import CostTransform
    from .methods.cusum import CuSumRank
    from .methods.fixed_split import FixedSplitBoosting
    from .methods.kernel_cusum import KernelCuSumRank
    from .methods.kernel_prank import KernelPRank
    from .methods.nominal_adaboost import NominalAdaBoost
    from .methods.one_versus_all import OneVersusAll
    from .methods.one_versus_one import OneVersusOne
    from .methods.orboost import ORBoost
    from .methods.ordinal_adaboost import OrdinalAdaBoost
    from .methods.orstump import ORStump
    from .methods.prank import PRank
    from .methods.rank_svm import RankBoundarySVM
    from .methods.rankboost import RankBoost
    from .methods.redsvm import REDSVM
    from .methods.reduction import Reduction
    from .methods.reduction_logistic import ThresholdLogisticRegression
    from .methods.reduction_network import OrdinalNetwork
    from .methods.reverse import reverse_reduction
    from .methods.seedboost import SeedBoost
    from .methods.svorexc import SVOREXC
    from .methods.svorimc import SVORIMC
    from .model.kernels.named import Gaussian, Laplacian, Linear, Perceptron, Polynomial, Precomputed, Stump
    from .model.reduction.encoding import OneHot, Ordinal, Separate
    from .planning import power_ordinal, sample_size_ordinal

#: Names imported when they are used: a script pays for the methods it fits, and for scikit-learn only with its adapter.
_LATER = {
    "OrdinalClassifier": "estimator",
    "HiddenLayer": "features",
    "CostTransform": "methods.cost_transform",
    "CuSumRank": "methods.cusum",
    "AdjacentCategory": "methods.acat",
    "CumulativeLink": "methods.clm",
    "KernelCuSumRank": "methods.kernel_cusum",
    "KernelPRank": "methods.kernel_prank",
    "OneVersusAll": "methods.one_versus_all",
    "OneVersusOne": "methods.one_versus_one",
    "ORBoost": "methods.orboost",
    "PRank": "methods.prank",
    "RankBoost": "methods.rankboost",
    "SeedBoost": "methods.seedboost",
    "AdaBoost": "methods.adaboost",
    "NormalisedSigmoid": "learners.perceptron",
    "RCDPerceptron": "learners.perceptron",
    "AdaBoostOR": "methods.adaboost_or",
    "ORStump": "methods.orstump",
    "DecisionStump": "learners.stump",
    "DecisionTree": "learners.tree",
    "OrdinalTree": "methods.cart",
    "OrdinalBagging": "methods.bagging",
    "NominalAdaBoost": "methods.nominal_adaboost",
    "FixedSplitBoosting": "methods.fixed_split",
    "OrdinalAdaBoost": "methods.ordinal_adaboost",
    "REDSVM": "methods.redsvm",
    "Reduction": "methods.reduction",
    "reverse_reduction": "methods.reverse",
    "ThresholdLogisticRegression": "methods.reduction_logistic",
    "OrdinalNetwork": "methods.reduction_network",
    "C45": "learners.c45",
    **dict.fromkeys(("power_ordinal", "sample_size_ordinal"), "planning"),
    **dict.fromkeys(("OneHot", "Ordinal", "Separate"), "model.reduction.encoding"),
    "RankBoundarySVM": "methods.rank_svm",
    "SVOREXC": "methods.svorexc",
    "SVORIMC": "methods.svorimc",
    **dict.fromkeys(
        ("Gaussian", "Laplacian", "Linear", "Perceptron", "Polynomial", "Precomputed", "Stump"), "model.kernels.named"
    ),
}

__all__ = [
    "C45",
    "REDSVM",
    "SVOREXC",
    "SVORIMC",
    "AdaBoost",
    "AdaBoostOR",
    "AdjacentCategory",
    "ConvergenceWarning",
    "CostTransform",
    "CuSumRank",
    "CumulativeLink",
    "DataError",
    "DataWarning",
    "DecisionStump",
    "DecisionTree",
    "FixedSplitBoosting",
    "FormulaError",
    "Gaussian",
    "HiddenLayer",
    "KernelCuSumRank",
    "KernelPRank",
    "Laplacian",
    "Linear",
    "NominalAdaBoost",
    "NormalisedSigmoid",
    "ORBoost",
    "ORStump",
    "OneHot",
    "OneVersusAll",
    "OneVersusOne",
    "OptionError",
    "Ordinal",
    "OrdinalAdaBoost",
    "OrdinalBagging",
    "OrdinalClassifier",
    "OrdinalNetwork",
    "OrdinalTree",
    "OrdstatError",
    "OrdstatWarning",
    "PRank",
    "Perceptron",
    "Polynomial",
    "Precomputed",
    "RCDPerceptron",
    "RankBoost",
    "RankBoundarySVM",
    "Reduction",
    "SeedBoost",
    "Separate",
    "SeparationWarning",
    "Stump",
    "ThresholdLogisticRegression",
    "datasets",
    "ordfit",
    "power_ordinal",
    "reverse_reduction",
    "sample_size_ordinal",
]


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    if name == "__version__":
        from importlib.metadata import version

        return version("ordstat")
    raise AttributeError(f"module 'ordstat' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]

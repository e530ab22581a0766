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
    from .methods.boosting import AdaBoost, ORBoost, RankBoost, SeedBoost
    from .methods.clm import AdjacentCategory, CumulativeLink
    from .methods.online import CuSumRank, KernelCuSumRank, KernelPRank, PRank
    from .methods.orstump import AdaBoostOR, ORStump, reverse_reduction
    from .methods.redsvm import REDSVM, SVOREXC, SVORIMC, RankBoundarySVM
    from .methods.reduction import Reduction
    from .methods.threshold_loss import OrdinalNetwork, ThresholdLogisticRegression
    from .methods.trees import FixedSplitBoosting, NominalAdaBoost, OrdinalAdaBoost, OrdinalBagging, OrdinalTree
    from .methods.voting import CostTransform, OneVersusAll, OneVersusOne
    from .model.kernels.named import Gaussian, Laplacian, Linear, Perceptron, Polynomial, Precomputed, Stump
    from .model.reduction.encoding import OneHot, Ordinal, Separate

#: Names imported when they are used: a script pays for the methods it fits, and for scikit-learn only with its adapter.
_LATER = {
    name: file
    for file, names in {
        "estimator": "OrdinalClassifier",
        "features": "HiddenLayer",
        "learners.c45": "C45",
        "learners.perceptron": "NormalisedSigmoid RCDPerceptron",
        "learners.stump": "DecisionStump",
        "learners.tree": "DecisionTree",
        "methods.boosting": "AdaBoost ORBoost RankBoost SeedBoost",
        "methods.clm": "AdjacentCategory CumulativeLink",
        "methods.online": "CuSumRank KernelCuSumRank KernelPRank PRank",
        "methods.orstump": "AdaBoostOR ORStump reverse_reduction",
        "methods.redsvm": "REDSVM RankBoundarySVM SVOREXC SVORIMC",
        "methods.reduction": "Reduction",
        "methods.threshold_loss": "OrdinalNetwork ThresholdLogisticRegression",
        "methods.trees": "FixedSplitBoosting NominalAdaBoost OrdinalAdaBoost OrdinalBagging OrdinalTree",
        "methods.voting": "CostTransform OneVersusAll OneVersusOne",
        "model.kernels.named": "Gaussian Laplacian Linear Perceptron Polynomial Precomputed Stump",
        "model.reduction.encoding": "OneHot Ordinal Separate",
    }.items()
    for name in names.split()
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
    "reverse_reduction",
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

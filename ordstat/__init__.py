"""Ordinal regression: cumulative link models and large-margin rankers behind one formula call.

>>> from ordstat import datasets, ordfit
>>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
>>> round(fit.loglik, 4)
-86.4919
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import datasets as datasets
from .api import ordfit as ordfit
from .exceptions import ConvergenceWarning as ConvergenceWarning
from .exceptions import DataError as DataError
from .exceptions import DataWarning as DataWarning
from .exceptions import FormulaError as FormulaError
from .exceptions import OptionError as OptionError
from .exceptions import OrdstatError as OrdstatError
from .exceptions import OrdstatWarning as OrdstatWarning
from .exceptions import SeparationWarning as SeparationWarning
from .formula.survey import SurveyDesign as SurveyDesign
from .registry import METHODS

if TYPE_CHECKING:
    from .boosting.boosting import AdaBoost as AdaBoost
    from .boosting.boosting import ORBoost as ORBoost
    from .boosting.boosting import RankBoost as RankBoost
    from .boosting.boosting import SeedBoost as SeedBoost
    from .boosting.orstump import AdaBoostOR as AdaBoostOR
    from .boosting.orstump import ORStump as ORStump
    from .boosting.orstump import reverse_reduction as reverse_reduction
    from .boosting.weak import DecisionStump as DecisionStump
    from .boosting.weak import NormalisedSigmoid as NormalisedSigmoid
    from .boosting.weak import RCDPerceptron as RCDPerceptron
    from .comparison import compare as compare
    from .estimator import OrdinalClassifier as OrdinalClassifier
    from .imputation import ordfit_mi as ordfit_mi
    from .inference.planning import power_ordinal as power_ordinal
    from .inference.planning import sample_size_ordinal as sample_size_ordinal
    from .inference.pooling import pool as pool
    from .judging.costs import macro_cost as macro_cost
    from .likelihood.clm import AdjacentCategory as AdjacentCategory
    from .likelihood.clm import CumulativeLink as CumulativeLink
    from .online.online import CuSumRank as CuSumRank
    from .online.online import KernelCuSumRank as KernelCuSumRank
    from .online.online import KernelPRank as KernelPRank
    from .online.online import PRank as PRank
    from .persistence import load as load
    from .prediction.blend import Blend as Blend
    from .prediction.forest import RPSForest as RPSForest
    from .prediction.kernel_clm import KernelCumulativeLink as KernelCumulativeLink
    from .prediction.ordboost import OrdinalBoosting as OrdinalBoosting
    from .reduction.encoding import OneHot as OneHot
    from .reduction.encoding import Ordinal as Ordinal
    from .reduction.encoding import Separate as Separate
    from .reduction.features import HiddenLayer as HiddenLayer
    from .reduction.nominal import NominalClassifier as NominalClassifier
    from .reduction.reduction import Reduction as Reduction
    from .reduction.threshold_loss import OrdinalNetwork as OrdinalNetwork
    from .reduction.threshold_loss import ThresholdLogisticRegression as ThresholdLogisticRegression
    from .reduction.voting import CostTransform as CostTransform
    from .reduction.voting import OneVersusAll as OneVersusAll
    from .reduction.voting import OneVersusOne as OneVersusOne
    from .report.describe import describe_ordinal as describe_ordinal
    from .report.table import table as table
    from .svm.kernels import Gaussian as Gaussian
    from .svm.kernels import Laplacian as Laplacian
    from .svm.kernels import Linear as Linear
    from .svm.kernels import Perceptron as Perceptron
    from .svm.kernels import Polynomial as Polynomial
    from .svm.kernels import Precomputed as Precomputed
    from .svm.kernels import Stump as Stump
    from .svm.redsvm import REDSVM as REDSVM
    from .svm.redsvm import SVOREXC as SVOREXC
    from .svm.redsvm import SVORIMC as SVORIMC
    from .svm.redsvm import RankBoundarySVM as RankBoundarySVM
    from .trees.c45 import C45 as C45
    from .trees.cart import DecisionTree as DecisionTree
    from .trees.trees import FixedSplitBoosting as FixedSplitBoosting
    from .trees.trees import NominalAdaBoost as NominalAdaBoost
    from .trees.trees import OrdinalAdaBoost as OrdinalAdaBoost
    from .trees.trees import OrdinalBagging as OrdinalBagging
    from .trees.trees import OrdinalTree as OrdinalTree

#: Names imported when they are used: a script pays for the methods it fits, and for scikit-learn only with its adapter.
_LATER = {
    **{name: module for module, _, name in (entry.path.rpartition(".") for entry in METHODS.values())},
    "reverse_reduction": "boosting.orstump",
    "OrdinalClassifier": "estimator",
    "HiddenLayer": "reduction.features",
    "compare": "comparison",
    "macro_cost": "judging.costs",
    "describe_ordinal": "report.describe",
    "load": "persistence",
    "ordfit_mi": "imputation",
    **dict.fromkeys(("power_ordinal", "sample_size_ordinal"), "inference.planning"),
    "pool": "inference.pooling",
    "table": "report.table",
    "C45": "trees.c45",
    "DecisionStump": "boosting.weak",
    "DecisionTree": "trees.cart",
    **dict.fromkeys(("NormalisedSigmoid", "RCDPerceptron"), "boosting.weak"),
    **dict.fromkeys(("OneHot", "Ordinal", "Separate"), "reduction.encoding"),
    **dict.fromkeys(
        ("Gaussian", "Laplacian", "Linear", "Perceptron", "Polynomial", "Precomputed", "Stump"), "svm.kernels"
    ),
}

_PUBLIC = [
    "ConvergenceWarning",
    "DataError",
    "DataWarning",
    "FormulaError",
    "OptionError",
    "OrdstatError",
    "OrdstatWarning",
    "SeparationWarning",
    "SurveyDesign",
    "datasets",
    "ordfit",
    *_LATER,
]
if not TYPE_CHECKING:  # type checkers read the imports
    __all__ = sorted(_PUBLIC)


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    if name == "__version__":
        from importlib.metadata import version

        return version("ordstat")
    from .words import advice

    hint = advice("package", name)
    raise AttributeError(f"module 'ordstat' has no attribute {name!r}{hint and '.' + hint}")


def __dir__() -> list[str]:
    return [*_PUBLIC, "__version__"]

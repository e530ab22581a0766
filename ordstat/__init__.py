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
from .design.survey import SurveyDesign as SurveyDesign
from .exceptions import ConvergenceWarning as ConvergenceWarning
from .exceptions import DataError as DataError
from .exceptions import DataWarning as DataWarning
from .exceptions import FormulaError as FormulaError
from .exceptions import OptionError as OptionError
from .exceptions import OrdstatError as OrdstatError
from .exceptions import OrdstatWarning as OrdstatWarning
from .exceptions import SeparationWarning as SeparationWarning
from .methods import METHODS

if TYPE_CHECKING:
    from .comparison import compare as compare
    from .costs import macro_cost as macro_cost
    from .costs import threshold_cost as threshold_cost
    from .costs import tuned_cost as tuned_cost
    from .describe import describe_ordinal as describe_ordinal
    from .estimator import OrdinalClassifier as OrdinalClassifier
    from .features import HiddenLayer as HiddenLayer
    from .files.load import load as load
    from .imputation import ordfit_mi as ordfit_mi
    from .learners.c45 import C45 as C45
    from .learners.perceptron import NormalisedSigmoid as NormalisedSigmoid
    from .learners.perceptron import RCDPerceptron as RCDPerceptron
    from .learners.stump import DecisionStump as DecisionStump
    from .learners.tree import DecisionTree as DecisionTree
    from .methods.blend import Blend as Blend
    from .methods.boosting import AdaBoost as AdaBoost
    from .methods.boosting import ORBoost as ORBoost
    from .methods.boosting import RankBoost as RankBoost
    from .methods.boosting import SeedBoost as SeedBoost
    from .methods.clm import AdjacentCategory as AdjacentCategory
    from .methods.clm import CumulativeLink as CumulativeLink
    from .methods.forest import RPSForest as RPSForest
    from .methods.kernel_clm import KernelCumulativeLink as KernelCumulativeLink
    from .methods.nominal import NominalClassifier as NominalClassifier
    from .methods.online import CuSumRank as CuSumRank
    from .methods.online import KernelCuSumRank as KernelCuSumRank
    from .methods.online import KernelPRank as KernelPRank
    from .methods.online import PRank as PRank
    from .methods.ordboost import OrdinalBoosting as OrdinalBoosting
    from .methods.orstump import AdaBoostOR as AdaBoostOR
    from .methods.orstump import ORStump as ORStump
    from .methods.orstump import reverse_reduction as reverse_reduction
    from .methods.redsvm import REDSVM as REDSVM
    from .methods.redsvm import SVOREXC as SVOREXC
    from .methods.redsvm import SVORIMC as SVORIMC
    from .methods.redsvm import RankBoundarySVM as RankBoundarySVM
    from .methods.reduction import Reduction as Reduction
    from .methods.threshold_loss import OrdinalNetwork as OrdinalNetwork
    from .methods.threshold_loss import ThresholdLogisticRegression as ThresholdLogisticRegression
    from .methods.trees import FixedSplitBoosting as FixedSplitBoosting
    from .methods.trees import NominalAdaBoost as NominalAdaBoost
    from .methods.trees import OrdinalAdaBoost as OrdinalAdaBoost
    from .methods.trees import OrdinalBagging as OrdinalBagging
    from .methods.trees import OrdinalTree as OrdinalTree
    from .methods.voting import CostTransform as CostTransform
    from .methods.voting import OneVersusAll as OneVersusAll
    from .methods.voting import OneVersusOne as OneVersusOne
    from .model.kernels.named import Gaussian as Gaussian
    from .model.kernels.named import Laplacian as Laplacian
    from .model.kernels.named import Linear as Linear
    from .model.kernels.named import Perceptron as Perceptron
    from .model.kernels.named import Polynomial as Polynomial
    from .model.kernels.named import Precomputed as Precomputed
    from .model.kernels.named import Stump as Stump
    from .model.reduction.encoding import OneHot as OneHot
    from .model.reduction.encoding import Ordinal as Ordinal
    from .model.reduction.encoding import Separate as Separate
    from .planning import power_ordinal as power_ordinal
    from .planning import sample_size_ordinal as sample_size_ordinal
    from .results.likelihood.pooling.results import pool as pool
    from .results.table import table as table

#: Names imported when they are used: a script pays for the methods it fits, and for scikit-learn only with its adapter.
_LATER = {
    **{name: module for module, _, name in (entry.path.rpartition(".") for entry in METHODS.values())},
    "reverse_reduction": "methods.orstump",
    "OrdinalClassifier": "estimator",
    "HiddenLayer": "features",
    "compare": "comparison",
    **dict.fromkeys(("macro_cost", "threshold_cost", "tuned_cost"), "costs"),
    "describe_ordinal": "describe",
    "load": "files.load",
    "ordfit_mi": "imputation",
    **dict.fromkeys(("power_ordinal", "sample_size_ordinal"), "planning"),
    "pool": "results.likelihood.pooling.results",
    "table": "results.table",
    "C45": "learners.c45",
    "DecisionStump": "learners.stump",
    "DecisionTree": "learners.tree",
    **dict.fromkeys(("NormalisedSigmoid", "RCDPerceptron"), "learners.perceptron"),
    **dict.fromkeys(("OneHot", "Ordinal", "Separate"), "model.reduction.encoding"),
    **dict.fromkeys(
        ("Gaussian", "Laplacian", "Linear", "Perceptron", "Polynomial", "Precomputed", "Stump"), "model.kernels.named"
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

"""Ordinal regression: cumulative link models and large-margin rankers, by formula.

>>> from ordstat import datasets, ordfit
>>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
>>> round(fit.loglik, 4)
-86.4919

Fit      ordfit(formula, data, method)     a model or ranker; see `help(fit)`
         pool                              fits to imputed data by Rubin's rules
         SurveyDesign                      weights, strata and clusters of a survey
         OrdinalClassifier                 every method for scikit-learn's pipelines
         metrics.scorer                    scorers that know the order of the levels
         ElasticNet                        lasso and ridge paths of likelihood models
Compare  compare                           methods or fits on the same folds
         choose_family                     which ordinal model: AIC, folds, Vuong's test
         table                             fits side by side, for a paper
Describe describe_ordinal                  counts, medians, ridits and a Likert chart
         polychoric, polyserial            correlations of ordered answers
         agreement                         of raters: AC2, alpha, kappa
Plan     power_ordinal                     power and sample size for two groups
Panel    lagged                            the previous answer of each person
         occupancy                         probabilities of the levels over time
Save     fit.save, load                    fits in files that run no code when loaded
Data     datasets.load, datasets.herbrich  example data
Costs    macro_cost                        rare levels count as much as common ones

A method is a name, ordfit(..., method="redsvm", C=10), or a value, ordfit(...,
method=REDSVM(C=10)). `help("ordstat.REDSVM")` describes the options of a value; in a
shell `ordstat methods` lists all names.

Likelihood   CumulativeLink ("clm", "logit", "probit", "cloglog", "loglog", "cauchit"),
             AdjacentCategory ("acat"), ContinuationRatioModel ("cratio"),
             StoppingRatioModel ("sratio"), MultinomialLogit ("multinomial"),
             StereotypeLogit ("stereotype")
Margins      REDSVM, SVORIMC, SVOREXC, RankBoundarySVM, with the kernels Linear,
             Polynomial, Gaussian, Laplacian, Stump, Perceptron, Precomputed
Prediction   Blend, OrdinalBoosting ("ordboost"), RPSForest,
             KernelCumulativeLink ("kernel-clm")
Boosting     ORBoost, RankBoost, AdaBoostOR, ORStump, AdaBoost, SeedBoost, with the
             learners DecisionStump, DecisionTree, NormalisedSigmoid, RCDPerceptron
Trees        OrdinalTree ("cart"), OrdinalBagging, OrdinalAdaBoost, NominalAdaBoost,
             FixedSplitBoosting, C45
Online       PRank, CuSumRank, KernelPRank, KernelCuSumRank
Classifiers  Reduction, NominalClassifier, OneVersusAll, OneVersusOne, CostTransform,
             ThresholdLogisticRegression, OrdinalNetwork

Errors are FormulaError, DataError and OptionError, all of them OrdstatError and
ValueError; warnings are ConvergenceWarning, SeparationWarning, DataWarning and
ExtrapolationWarning, all of them OrdstatWarning.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import datasets
from .api import ordfit
from .checks import canonical, words
from .registry import METHODS

if TYPE_CHECKING:
    from .choice import choose_family as choose_family
    from .comparison import compare as compare
    from .effects.occupancy import occupancy as occupancy
    from .estimator import OrdinalClassifier as OrdinalClassifier
    from .formula.lagged import lagged as lagged
    from .formula.survey import SurveyDesign as SurveyDesign
    from .inference.agreement import agreement as agreement
    from .inference.describe import describe_ordinal as describe_ordinal
    from .inference.polychoric import polychoric as polychoric
    from .inference.polychoric import polyserial as polyserial
    from .inference.pooling import pool as pool
    from .inference.power import power_ordinal as power_ordinal
    from .persistence import load as load
    from .report.table import table as table

#: The functions of the package; classes and the rarer functions are imported by name.
__all__ = ["compare", "datasets", "load", "ordfit"]

#: Modules of the names that are imported when they are used: a script pays for the
#: methods it fits.
_MODULES = {
    **{
        name: module
        for module, _, name in (
            entry.path.rpartition(".") for entry in METHODS.values()
        )
    },
    **dict.fromkeys(
        ("FormulaError", "DataError", "OptionError", "OrdstatError", "OrdstatWarning"),
        "exceptions",
    ),
    **dict.fromkeys(
        (
            "ConvergenceWarning",
            "DataWarning",
            "ExtrapolationWarning",
            "SeparationWarning",
        ),
        "exceptions",
    ),
    "lagged": "formula.lagged",
    "occupancy": "effects.occupancy",
    "power_ordinal": "inference.power",
    **dict.fromkeys(
        ("DecisionStump", "NormalisedSigmoid", "RCDPerceptron"), "boosting.weak"
    ),
    **dict.fromkeys(
        (
            "Gaussian",
            "Laplacian",
            "Linear",
            "Perceptron",
            "Polynomial",
            "Precomputed",
            "Stump",
        ),
        "kernels",
    ),
    "C45": "trees.c45",
    "DecisionTree": "trees.tree",
    "ElasticNet": "likelihood.elastic_net",
    "OrdinalClassifier": "estimator",
    "SurveyDesign": "formula.survey",
    "agreement": "inference.agreement",
    "choose_family": "choice",
    "compare": "comparison",
    "describe_ordinal": "inference.describe",
    "load": "persistence",
    "macro_cost": "judging.costs",
    **dict.fromkeys(("polychoric", "polyserial"), "inference.polychoric"),
    "pool": "inference.pooling",
    "table": "report.table",
}


def __getattr__(name: str) -> Any:
    if name == "metrics":
        return import_module(f"{__name__}.{name}")
    if name in _MODULES:
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    if name == "__version__":
        from importlib.metadata import version

        return version("ordstat")
    hint = ". Use ordfit(formula, data)." if canonical(name, METHODS) else ""
    if name in words("section"):
        hint = f". It is asked of a fit: fit.{name}."
    raise AttributeError(f"module 'ordstat' has no attribute {name!r}{hint}")


def __dir__() -> list[str]:
    return ["__version__", *sorted({*__all__, *_MODULES, "metrics"})]

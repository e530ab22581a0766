"""The internals that tests of other modules know by name: arrays with ranks, links,
families, costs, folds, what a likelihood fit holds, solvers, the registry.

Everything else is reached by public calls, or imported by the tests of its own module.
"""

from ordstat.formula.design import build
from ordstat.formula.sample import Rows, Sample
from ordstat.judging.costs import CostMatrix
from ordstat.judging.folds import held_out, held_weights, stratified_folds
from ordstat.judging.geometry import BallGeometry
from ordstat.likelihood.adjacent import Adjacent
from ordstat.likelihood.cumulative import Cumulative
from ordstat.likelihood.family import Family
from ordstat.likelihood.fit import LikelihoodFit
from ordstat.likelihood.flexible import FLEXIBLE
from ordstat.likelihood.links import LINKS
from ordstat.likelihood.problem import Problem
from ordstat.likelihood.results import LikelihoodResults
from ordstat.likelihood.rule import LikelihoodRule
from ordstat.likelihood.sequential import ContinuationRatio, StoppingRatio
from ordstat.likelihood.user_scale import CovarianceMatrix
from ordstat.predicting import PREDICTION_TYPES
from ordstat.reduction.encoding import extend
from ordstat.registry import METHODS, resolve
from ordstat.svm.routes import SOLVERS

__all__ = [
    "FLEXIBLE",
    "LINKS",
    "METHODS",
    "PREDICTION_TYPES",
    "SOLVERS",
    "Adjacent",
    "BallGeometry",
    "ContinuationRatio",
    "CostMatrix",
    "CovarianceMatrix",
    "Cumulative",
    "Family",
    "LikelihoodFit",
    "LikelihoodResults",
    "LikelihoodRule",
    "Problem",
    "Rows",
    "Sample",
    "StoppingRatio",
    "build",
    "extend",
    "held_out",
    "held_weights",
    "resolve",
    "stratified_folds",
]

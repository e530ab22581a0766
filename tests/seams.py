"""The internals that tests of other modules know by name: arrays with ranks, links,
costs, the registry.

Everything else is reached by public calls, or imported by the tests of its own module.
"""

from ordstat.formula.design import build
from ordstat.formula.sample import Rows, Sample
from ordstat.judging.costs import CostMatrix
from ordstat.likelihood.cumulative import Cumulative
from ordstat.likelihood.flexible import FLEXIBLE
from ordstat.likelihood.links import LINKS
from ordstat.likelihood.results import LikelihoodResults
from ordstat.registry import METHODS, resolve

__all__ = [
    "FLEXIBLE",
    "LINKS",
    "METHODS",
    "CostMatrix",
    "Cumulative",
    "LikelihoodResults",
    "Rows",
    "Sample",
    "build",
    "resolve",
]

"""Fits to rows in blocks: the call, and what these fits answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial
from inspect import signature
from typing import Any

import numpy as np
import pandas as pd

from .._typing import FloatArray
from ..exceptions import DataError, DataWarning, OptionError, UnavailableError
from ..fitted import FittedRanker
from ..judging.rankers import MarginResults
from ..likelihood.covariance_choice import Covariance, own_covariance
from ..likelihood.regression import OrdinalRegression
from ..likelihood.results import LikelihoodResults
from ..likelihood.rule import LikelihoodRule, crossed_rows, crossing_text
from ..online.online import OnlineMethod
from ..online.perceptron import MistakeBound
from ..online.results import OnlineMarginResults, OnlineVoteResults
from ..report.warnings import Alert
from ..results import OrdinalResults
from ..svm.redsvm import KernelMachine, RankBoundarySVM
from .fits import likelihood_fit, machine_fit, online_fit, present_fit
from .scan import BlockDesign, Reader

_METHODS = (
    "'clm' and its links, 'acat', 'cratio', 'sratio', 'redsvm', 'svor-imc' and "
    "'svor-exc' with kernel='linear' and loss='squared_hinge', "
    "'prank', 'cusum' and 'pa-cusum' with epochs=1 and presentation='order'"
)


def fitter(
    method: Any,
) -> tuple[Callable[[Any, BlockDesign], Any], type[OrdinalResults]]:
    """What fits a method to rows in blocks, and the class of its results.

    Raises
    ------
    OptionError
        The method needs all rows at once.
    """
    if isinstance(method, OrdinalRegression):
        return likelihood_fit, BlockLikelihoodResults
    if isinstance(method, OnlineMethod) and method.incremental:
        return partial(present_fit, online_fit), (
            BlockOnlineResults if method.projects else BlockVoteResults
        )
    machine = isinstance(method, KernelMachine) and not isinstance(
        method, RankBoundarySVM
    )
    if machine and method.loss == "squared_hinge":
        return partial(present_fit, machine_fit), BlockMarginResults
    raise OptionError(
        f"{method!r} needs all rows at once, and they are in blocks. Use {_METHODS}."
    )


#: Questions about the rows of the fit, by the argument that brings other rows; "" where
#: all rows are needed.
ROWS = {
    "newdata": (
        "predict errors confusion reliability importance simulate marginal_effects"
        " bounds"
    ),
    "data": "augment conformal",
    "": (
        "margins residuals influence gof discrimination bootstrap emmeans emtrends"
        " joint_tests anova drop1 add1 step brant nominal_test scale_test score_test"
        " profile partial_fit plot report"
    ),
}


class InBlocks(FittedRanker):
    """What fits to rows in blocks have in common; comes first among the bases."""

    design: BlockDesign

    in_memory = False
    no_bounds = "No margin bounds: they need all rows at once."
    geometry = None

    @property
    def nobs(self) -> float:
        return float(self.design.counts.sum())

    @property
    def level_counts(self) -> FloatArray:
        return self.design.counts

    @property
    def n_rows(self) -> int:
        return self.design.n_used

    def check_rows(self) -> None:
        raise UnavailableError(
            "The rows of the fit are in blocks: call ordfit() again, or give data= of a"
            " sample."
        )


def _refusing(name: str, argument: str) -> Any:
    """A property that raises UnavailableError, or a method that does so without other
    rows.
    """
    instead = (
        f"{name}({argument}=...), or " * bool(argument)
        + "a fit to a sample of rows in memory"
    )
    error = UnavailableError(
        f".{name} needs the rows of the fit, which are in blocks: use {instead}."
    )

    def refuse(results: Any, *given: Any, **named: Any) -> Any:
        method = getattr(super(InBlocks, results), name) if argument else None
        if (
            method is None
            or signature(method).bind(*given, **named).arguments.get(argument) is None
        ):
            raise error
        return method(*given, **named)

    return refuse if argument else property(refuse)


for _argument, _names in ROWS.items():
    for _name in _names.split():
        setattr(InBlocks, _name, _refusing(_name, _argument))


class BlockLikelihoodResults(InBlocks, LikelihoodResults):
    """A likelihood model fitted to rows in blocks."""

    @cached_property
    def own_covariance(self) -> Covariance:
        chosen = own_covariance(self.design) if self.robust is None else self.robust
        return replace(
            chosen,
            without_cr2=(
                "rows in blocks",
                "Use a random effect, (1 | g), on rows in memory.",
            ),
        )

    def _crossing_alerts(self) -> list[Alert]:
        n = self._n_crossed
        text = crossing_text(np.arange(n), self.n_rows, None, "rows of the fit")
        if n and self.method.refuses_crossing:
            raise DataError(text)
        return [(DataWarning, text)] if n else []

    @cached_property
    def _n_crossed(self) -> int:
        """How many rows have negative probabilities: one pass."""
        return sum(
            self.design.blocks.map(partial(_crossed, self.design.reader, self.rule))
        )


def _crossed(reader: Reader, rule: LikelihoodRule, frame: pd.DataFrame) -> int:
    return crossed_rows(rule, reader(frame)[0].rows).size


class BlockMarginResults(InBlocks, MarginResults):
    """A linear machine fitted to rows in blocks."""


def _untold(results: Any) -> MistakeBound:
    """The mistakes made while learning; their limit needs all rows at once."""
    return MistakeBound(
        value=results.fit.learned.tally.distance, source="none: rows are in blocks"
    )


class BlockOnlineResults(InBlocks, OnlineMarginResults):
    """An online ranker that has learned rows in blocks."""

    mistake_bound = property(_untold)


class BlockVoteResults(InBlocks, OnlineVoteResults):
    """An online ranker with votes that has learned rows in blocks."""

    mistake_bound = property(_untold)

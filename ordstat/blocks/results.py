"""Fits to data in blocks: the call, and the methods of their results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd

from .._typing import FloatArray
from ..exceptions import DataError, DataWarning, OptionError, UnavailableError
from ..formula.sample import Sample
from ..judging.decisions import decision_in_blocks
from ..likelihood.covariance_choice import Covariance, own_covariance
from ..likelihood.regression import OrdinalRegression
from ..likelihood.results import LikelihoodResults
from ..likelihood.rule import LikelihoodRule, crossed_rows, crossing_text
from ..likelihood.unavailable import without
from ..online.online import OnlineMethod
from ..online.perceptron import MistakeBound
from ..online.results import OnlineMarginResults, OnlineVoteResults
from ..rankers import MarginResults
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
        if method.cost_matrix.decides:
            raise decision_in_blocks(str(method.cost))
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
        f"{method} needs all rows at once, and they are in blocks. Use {_METHODS}."
    )


@without("blocks")
class InBlocks(OrdinalResults):
    """Shared parts of fits to data in blocks; the first of the base classes."""

    design: BlockDesign

    in_memory = False
    no_bounds = "No margin bounds: they need all rows at once."
    geometry = None

    @property
    def nobs(self) -> float:
        partial = self.design.partial
        counts = self.design.counts if partial is None else partial.answers.case_weights
        return float(counts.sum())

    @property
    def level_counts(self) -> FloatArray:
        partial = self.design.partial
        return self.design.counts if partial is None else partial.answers.exact_counts()

    @property
    def answers(self) -> tuple[Sample, FloatArray]:
        partial = self.design.partial
        if partial is None:
            return super().answers
        return partial.answers, partial.times

    @property
    def n_rows(self) -> int:
        return self.design.n_used

    def check_rows(self) -> None:
        raise UnavailableError(
            "The rows of the fit are in blocks: call ordfit() again, or give data= of a"
            " sample."
        )


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


def _mistakes(results: Any) -> MistakeBound:
    """The mistakes made while learning; a limit of them needs all rows at once."""
    return MistakeBound(
        value=results.fit.learned.tally.distance,
        source="not available: rows are in blocks",
    )


class BlockOnlineResults(InBlocks, OnlineMarginResults):
    """An online ranker that has learned rows in blocks."""

    mistake_bound = property(_mistakes)


class BlockVoteResults(InBlocks, OnlineVoteResults):
    """An online ranker with votes that has learned rows in blocks."""

    mistake_bound = property(_mistakes)

"""Results of the online rankers: mistakes beside their bound, and further batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, Self, cast

import pandas as pd

from ..exceptions import DataError, OptionError
from ..model.fit import Fit
from ..model.online import MistakeBound, OnlineMarginFit, OnlineVoteFit
from ..model.sample import Sample
from .base import OrdinalResults
from .fitted import case_weights
from .margin import MarginResults
from .report import Report
from .votes import VoteResults


class OnlineRanker(Protocol):
    """An online method, as results see it."""

    def continued(self, sample: Sample, fit: Any) -> Fit:
        """The fit after a pass over further rows."""

    def mistake_bound(self, sample: Sample, fit: Any) -> MistakeBound:
        """The limit of the mistakes on separable rows."""


@dataclass(frozen=True, eq=False, repr=False)
class OnlineResults(OrdinalResults):
    """What online rankers have beside other results."""

    def partial_fit(self, data: Any, *, weights: str | None = None) -> Self:
        """The results after one pass over further rows, in their order; these results stay as they are.

        Memory is that of one batch: the rows, errors and margins of the new results are those of the last batch
        alone, the counts of mistakes those of all examples so far. Columns are scaled as on the first rows.

        Parameters
        ----------
        data : data frame, or list, tuple or iterator of data frames
            With the response; rows with a missing value are left out.
        weights : str, optional
            Column of case weights: how often a row is presented in turn.

        Raises
        ------
        DataError
            A level of the response that the first rows had not, a missing column, or no complete row.
        OptionError
            A method that needs all rows at once (SiPrank), rows with costs of their own, a precomputed kernel.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> data = datasets.herbrich(300, seed=0)
        >>> first = ordfit("rank ~ x1 + x2", data=data[:100], method="cusum", epochs=1)
        >>> fit = first.partial_fit(data[start : start + 50] for start in (100, 150, 200, 250))
        >>> fit.fit.learned.tally.examples
        300
        """
        learned = self
        for frame in data if isinstance(data, (list, tuple, Iterator)) else (data,):
            learned = learned._after(frame, weights)
        return learned

    def _after(self, frame: Any, weights: str | None) -> Self:
        if self.design.sample.costs is not None:
            raise OptionError(
                "partial_fit has no costs of new rows: fit with a cost of all rows, such as cost='absolute'."
            )
        new, codes = self.design.spec.rebuild(frame), self.design.spec.response(frame)
        kept = new.complete & (codes >= 0)
        if not kept.any():
            raise DataError("the batch has no row with the response and all inputs present.")
        sample = Sample(
            rows=new.rows if kept.all() else new.rows.take(kept[new.complete]),
            y=codes[kept],
            n_levels=self.design.sample.n_levels,
            weights=None if weights is None else case_weights(frame, weights, kept),
        )
        return self.after(sample, new.index[kept], int(kept.size))

    def after(self, sample: Sample, index: pd.Index, n_given: int | None = None) -> Self:
        """`partial_fit` for rows that are arrays already.

        Parameters
        ----------
        sample : Sample
            With the columns and levels of the fit.
        index : (N,) labels of the rows
        n_given : int, optional
            Rows of the batch before any were left out; N if not given.
        """
        design = replace(
            self.design,
            sample=sample,
            index=index,
            n_given=sample.n if n_given is None else n_given,
            dropped={},
            notes=(),
            data=None,
            recipe=None,
        )
        fit = cast(OnlineRanker, self.method).continued(sample, self.fit)
        return replace(self, design=design, fit=fit)

    @cached_property
    def mistake_bound(self) -> MistakeBound:
        """sum |y - yhat| of the answers given while learning, and its limit where the rows are rank separable."""
        return cast(OnlineRanker, self.method).mistake_bound(self.design.sample, self.fit)

    def report(self) -> Report:
        """The summary as data."""
        report = super().report()
        return replace(report, header=(*report.header, ("Mistake bound", _bound_text(self.mistake_bound))))


def _bound_text(b: MistakeBound) -> str:
    if b.limit != b.limit:
        return b.source
    holds = "<=" if b.value <= b.limit else "> (VIOLATED)"
    return (
        f"sum |y - yhat| {b.value:g} {holds} {b.limit:.4g} (R = {b.radius:.4g} and delta = {b.margin:.4g} of the "
        f"scaled rows; {b.source})"
    )


@dataclass(frozen=True, eq=False, repr=False)
class OnlineMarginResults(OnlineResults, MarginResults):
    """A ranker with thresholds learned online."""

    fit: OnlineMarginFit


@dataclass(frozen=True, eq=False, repr=False)
class OnlineVoteResults(OnlineResults, VoteResults):
    """A ranker that scores every level, learned online."""

    fit: OnlineVoteFit

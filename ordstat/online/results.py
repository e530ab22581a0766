"""Results of the online rankers: mistakes and their bound, and further batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, cast

import pandas as pd

from ..exceptions import DataError, OptionError, UnavailableError
from ..formula.sample import Sample
from ..rankers import MarginResults, VoteResults
from ..report.render import Report
from ..results import OrdinalResults
from ..target import case_weights
from .perceptron import Learner, MistakeBound, OnlineMarginFit, OnlineVoteFit

if TYPE_CHECKING:
    from ..formula.design import Design


class OnlineResults(OrdinalResults):
    """A ranker learned online."""

    fit: OnlineMarginFit | OnlineVoteFit

    kind = "Online ranker"

    def check_rows(self) -> None:
        """Raise UnavailableError after `partial_fit`, which keeps only the rows of the
        last batch.
        """
        if self.fit.learned.tally.batches > 1:
            raise UnavailableError(
                "after partial_fit the rows of earlier batches are not stored, and a"
                " fit to the last batch would be another ranker. Use errors(newdata) or"
                " conformal(data=...) with other rows, or fit all rows at once."
            )

    @cached_property
    def mistake_bound(self) -> MistakeBound:
        """Mistakes during learning, sum |y - yhat|, with their upper bound if the rows
        are rank separable.
        """
        return cast(
            MistakeBound,
            cast(Any, self.method).mistake_bound(self.design.sample, self.fit),
        )

    def partial_fit(self, data: Any, *, weights: str | None = None) -> Self:
        """Learn further rows in one pass, in their order; return new results and leave
        these unchanged.

        Only the last batch is in memory: the new results have its rows, errors and
        margins, but the mistakes of all examples so far. Columns are scaled as for the
        first rows; a constant column is ignored until it varies.

        Parameters
        ----------
        data : data frame, or list, tuple or iterator of data frames
            Data with the response; rows with missing values are dropped.
        weights : str, optional
            Column of case weights: how often a row is presented.

        Raises
        ------
        DataError
            A level is not in the first rows, a column is missing, or no row is
            complete.
        OptionError
            The method needs all rows at once (SiPrank, sums of kernels), or the fit has
            costs of single rows.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> data = datasets.herbrich(300, seed=0)
        >>> first = ordfit("rank ~ x1 + x2", data=data[:100], method="cusum", epochs=1)
        >>> batches = [data[start : start + 50] for start in (100, 150, 200, 250)]
        >>> fit = first.partial_fit(batches)
        >>> fit.fit.learned.tally.examples
        300
        """
        stream = Stream(first=self)
        for frame in data if isinstance(data, (list, tuple, Iterator)) else (data,):
            stream = stream.after(*_batch(self, frame, weights))
        return cast(Self, stream.results)

    def summary_data(self) -> Report:
        """The summary as data, with the mistakes made while learning."""
        report = super().summary_data()
        header = (*report.header, ("Mistake bound", _bound_text(self.mistake_bound)))
        if self.fit.learned.tally.batches == 1:
            return replace(report, header=header)
        header = tuple(
            (name, f"{value}, the last batch" if name == "Observations" else value)
            for name, value in header
        )
        note = (
            "Levels, errors and margins are from the last batch; the ranker has learned"
            " all batches."
        )
        return replace(report, header=header, notes=(*report.notes, note))


@dataclass(frozen=True, eq=False, kw_only=True)
class Stream:
    """Batches learned one after another; the results of the last batch are computed
    when they are needed.

    Attributes
    ----------
    first : OnlineResults
        The results before the first batch.
    last : Design, optional
        The design with the rows of the last batch.
    learner : Learner, optional
        The learner after that batch.
    """

    first: OnlineResults
    last: Design | None = None
    learner: Learner | None = None

    def after(self, sample: Sample, index: pd.Index, n_given: int) -> Stream:
        """The stream with one more batch: its rows, their labels (N,), and the number
        of rows before missing values were dropped.
        """
        if self.learner is None:
            before = self.first.fit.learned
        else:
            before = self.learner.learned
        learner = cast(Any, self.first.method).continued(sample, before)
        parts: dict[str, Any] = {"sample": sample, "index": index, "n_given": n_given}
        design = replace(self.first.design, **parts, dropped={}, notes=(), data=None)
        return Stream(first=self.first, last=design, learner=learner)

    @cached_property
    def results(self) -> OnlineResults:
        """The results at the last batch."""
        if self.last is None or self.learner is None:
            return self.first
        fit: Any = cast(Any, self.first.method).concluded(self.learner)
        return replace(self.first, design=self.last, fit=fit)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle only the results."""
        return {"first": self.results, "last": None, "learner": None}


def _batch(
    fit: OnlineResults, frame: Any, weights: str | None
) -> tuple[Sample, pd.Index, int]:
    """Sample of a further frame, labels of its rows, and the number of rows before
    missing values were dropped.
    """
    if fit.design.sample.costs is not None:
        raise OptionError(
            "partial_fit has no costs for new rows; fit with a cost for all rows, such"
            " as cost='absolute'."
        )
    new = fit.design.spec.rebuild(frame)
    codes = fit.design.spec.response(frame)
    kept = new.complete & (codes >= 0)
    if not kept.any():
        raise DataError(
            "the batch must have a row with the response and all inputs; got none."
            " Check its missing values."
        )
    rows = new.rows
    index = new.index
    if not kept.all():
        rows = rows.take(kept[new.complete])
        index = index[kept]
        codes = codes[kept]
    sample = Sample(
        rows=rows,
        y=codes,
        n_levels=fit.design.sample.n_levels,
        weights=None if weights is None else case_weights(frame, weights, kept),
    )
    return sample, index, int(kept.size)


def _bound_text(b: MistakeBound) -> str:
    if b.limit != b.limit:
        return b.source
    holds = "<=" if b.value <= b.limit else "> (VIOLATED)"
    return (
        f"sum |y - yhat| {b.value:g} {holds} {b.limit:.4g} (R = {b.radius:.4g} and"
        f" delta = {b.margin:.4g} of the scaled rows; {b.source})"
    )


class OnlineMarginResults(OnlineResults, MarginResults):
    """A ranker with thresholds learned online."""

    with_empty_levels = MarginResults

    fit: OnlineMarginFit


class OnlineVoteResults(OnlineResults, VoteResults):
    """A ranker that scores every level, learned online."""

    with_empty_levels = VoteResults

    fit: OnlineVoteFit

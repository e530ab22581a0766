"""Results of a ranker that votes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...model.fit import CostBound, VoteFit
from ..base import OrdinalResults
from ..fitted import FittedRanker
from ..report.report import Report
from ..report.sections import bound_header, error_tables, ranker_report, selection_table


@dataclass(frozen=True, eq=False, repr=False)
class FittedVotes(FittedRanker):
    """A fitted ranker that chooses the level with the most votes."""

    fit: VoteFit

    predicts: ClassVar[tuple[str, ...]] = ("class", "votes")
    augments: ClassVar[tuple[str, ...]] = ("class", "votes")
    no_bounds: ClassVar[str] = "No margin bounds: a rule that votes has no margins."

    @property
    def bound(self) -> CostBound | None:
        """The bound on the training cost by the costs of the binary classifiers; None where there is no theorem."""
        return self.fit.bound


def vote_report(fit: FittedVotes) -> Report:
    """The summary as data."""
    header = [] if fit.bound is None else [bound_header(fit.bound)]
    chosen = [] if fit.fit.selection is None else [selection_table(fit.fit.selection)]
    return ranker_report(fit, "Voting ranker", [*chosen, *error_tables(fit)], header)


class VoteResults(FittedVotes, OrdinalResults):
    """A fitted ranker that chooses the level with the most votes, ties to the lower one.

    It has no thresholds and no margins: `predict` gives "class" and "votes", one column a level.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"), method="csovo")
    >>> fit.predict(type="votes").head(2)
         1    2    3    4    5
    0  2.0  4.0  3.0  1.0  0.0
    1  2.0  4.0  3.0  1.0  0.0
    """

    report = vote_report

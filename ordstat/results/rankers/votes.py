"""Results of a ranker that votes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pandas as pd

from ...model.fit import CostBound, VoteFit
from ..base import OrdinalResults
from ..fitted import FittedRanker
from ..report.report import Report
from ..report.sections import alert_notes, certificate_text, data_header, error_tables, selection_table
from ..target import Target


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

    def _predicted(self, target: Target, type: str) -> pd.Series | pd.DataFrame:
        if type == "votes":
            return target.frame(target.scores, self.levels)
        return super()._predicted(target, type)


def vote_report(fit: FittedVotes) -> Report:
    """The summary as data."""
    selection = fit.fit.selection
    header = [*data_header(fit), ("Certificate", certificate_text(fit.certificate, fit.trace))]
    if fit.bound is not None:
        header.append(("Training bound", bound_text(fit.bound)))
    return Report(
        title=f"Voting ranker: {fit.design.formula}",
        header=tuple(header),
        tables=(*([] if selection is None else [selection_table(selection)]), *error_tables(fit)),
        notes=(*alert_notes(fit), *fit.margin_bounds.notes),
    )


def bound_text(bound: CostBound) -> str:
    """Both sides of the inequality and its source."""
    holds = "<=" if bound.value <= bound.limit else "> (VIOLATED)"
    return f"cost above the least possible {bound.value:.4g} {holds} {bound.limit:.4g} ({bound.source})"


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

"""Results of rankers with margins, votes or probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, cast

import numpy as np
import pandas as pd

from .._typing import FloatArray
from ..exceptions import UnavailableError
from ..fit import CostBound, Fit, MarginFit, ThresholdRule, VoteFit
from ..fitted import FittedRanker
from ..formula.sample import Rows
from ..report.frames import NotedFrame
from ..report.render import Report, Table
from ..report.sections import (
    bound_header,
    error_tables,
    figures,
    ranker_report,
    selection_table,
    shared_tables,
    threshold_table,
)
from ..results import OrdinalResults


class FittedThresholds(FittedRanker):
    """A fitted ranker, rank(x) = 1 + #{k : H(x) > threshold_k}."""

    fit: MarginFit

    @property
    def kind(self) -> str:
        """What was fitted."""
        return "Large-margin ranker"

    def estimates(self) -> dict[str, pd.Series]:
        """Coefficients of a linear score, and thresholds."""
        linear = {} if self.fit.coefficients is None else {"Coefficients": self.coef}
        return linear if self.by_median else {**linear, "Thresholds": self.thresholds}

    @property
    def by_median(self) -> bool:
        """Whether the score is the interpolated median, whose thresholds, 1, ..., K-1, were not fitted."""
        return bool(getattr(self.fit.rule, "by_median", False))

    def figures_of_fit(self) -> tuple[str, ...]:
        """What the score is, where that is the same for all data."""
        return (*super().figures_of_fit(), *("score: the interpolated median",) * self.by_median)

    @property
    def thresholds(self) -> pd.Series:
        """(K-1,) thresholds "low|high", in units of the score; 1, ..., K-1 where that is the interpolated median."""
        theta = cast(ThresholdRule, self.fit.rule).theta
        return pd.Series(np.array(theta), index=self.threshold_names, name="threshold")

    @property
    def coef(self) -> pd.Series:
        """Effects of the columns on the score, on their own scale; a linear potential only.

        Raises
        ------
        UnavailableError
            The potential is not linear (an OptionError; `hasattr` answers False).
        """
        if self.fit.coefficients is None:
            linear = ", or kernel='linear'" if hasattr(self.method, "kernel") else ""
            raise UnavailableError(
                f"{self.method!r} has no coefficients: its potential is not linear in the columns. Use "
                f".predict(type='score') for its values{linear}."
            )
        return pd.Series(np.array(self.fit.coefficients), index=list(self.design.names), name="estimate")

    @property
    def params(self) -> pd.Series:
        """Thresholds that were fitted, then coefficients where the potential is linear."""
        parts = [self.thresholds.iloc[: 0 if self.by_median else None]]
        parts += [] if self.fit.coefficients is None else [self.coef]
        params: pd.Series = pd.concat(parts).rename("estimate")
        return params

    @property
    def support(self) -> pd.Index | None:
        """Labels of the support rows; None for methods without support vectors."""
        return None if self.fit.support is None else self.design.index[self.fit.support]


_BY_MEDIAN = "No threshold was fitted: the score is the interpolated median, with thresholds 1, 2, ... by definition."


def tidy_thresholds(fit: FittedThresholds) -> pd.DataFrame:
    """One row per threshold and linear coefficient: term, estimate, coef_type."""
    params, n = fit.params, 0 if fit.by_median else len(fit.threshold_names)
    kinds = ["threshold"] * n + ["location"] * (len(params) - n)
    frame = pd.DataFrame({"term": params.index, "estimate": params.to_numpy(), "coef_type": kinds})
    return NotedFrame.of(frame, (_BY_MEDIAN,) * fit.by_median, "Thresholds and coefficients of the score")


def fitted_thresholds(r: FittedThresholds) -> list[Table]:
    """The table of thresholds, where they were fitted."""
    return [] if r.by_median else [threshold_table(r.thresholds.to_frame())]


def threshold_figures(fit: FittedThresholds) -> pd.DataFrame:
    """One row of figures of the whole fit."""
    frame = figures(fit)
    frame.insert(2, "n_support", np.nan if fit.fit.support is None else fit.fit.support.size)
    return frame


def threshold_report(r: FittedThresholds, header: Sequence[tuple[str, Any]] = ()) -> Report:
    """The summary as data, with more pairs in its header."""
    tables = fitted_thresholds(r)
    if r.fit.coefficients is not None:
        title = "Coefficients of the score (positive = higher response)"
        tables.insert(0, Table(title=title, frame=r.coef.to_frame()))
    if r.fit.selection is not None:
        tables.append(selection_table(r.fit.selection))
    return ranker_report(r, [*tables, *shared_tables(r)], header)


class ThresholdResults(FittedThresholds, OrdinalResults):
    """A fitted ranker, rank(x) = 1 + #{k : H(x) > threshold_k}."""

    def tidy(self) -> pd.DataFrame:
        """One row per threshold and linear coefficient: term, estimate, coef_type.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"), method="redsvm", kernel="linear")
        >>> fit.tidy().round(2)
                     term  estimate  coef_type
        0             1|2      -1.0  threshold
        1             2|3       1.0  threshold
        2             3|4       3.0  threshold
        3             4|5       5.0  threshold
        4    temp[T.warm]       2.0   location
        5  contact[T.yes]       2.0   location
        """
        return tidy_thresholds(self)


class ProbabilityResults(ThresholdResults):
    """A fitted ranker whose rule gives probabilities of the ranks."""

    predicts = ("class", "prob", "cum_prob", "score", "margin")

    def _probabilities(self, fit: Fit, rows: Rows, scores: FloatArray) -> FloatArray | None:
        return np.asarray(cast(Any, fit.rule).probabilities(rows, scores))


class MarginResults(ThresholdResults):
    """A fitted large-margin ranker, rank(x) = 1 + #{k : H(x) > threshold_k}.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"), method="redsvm")
    >>> fit.thresholds.index.tolist()
    ['1|2', '2|3', '3|4', '4|5']
    """

    glance = threshold_figures

    def summary_data(self) -> Report:
        """The summary as data."""
        return threshold_report(self)


class FittedVotes(FittedRanker):
    """A fitted ranker that chooses the level with the most votes."""

    fit: VoteFit

    predicts: ClassVar[tuple[str, ...]] = ("class", "votes")
    augments: ClassVar[tuple[str, ...]] = ("class", "votes")
    no_bounds: ClassVar[str] = "No margin bounds: a rule that votes has no margins."

    @property
    def kind(self) -> str:
        """What was fitted."""
        return "Voting ranker"

    @property
    def bound(self) -> CostBound | None:
        """The bound on the training cost by the costs of the binary classifiers; None where there is no theorem."""
        return self.fit.bound


def vote_report(fit: FittedVotes) -> Report:
    """The summary as data."""
    header = [] if fit.bound is None else [bound_header(fit.bound)]
    chosen = [] if fit.fit.selection is None else [selection_table(fit.fit.selection)]
    return ranker_report(fit, [*chosen, *error_tables(fit)], header)


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

    summary_data = vote_report

"""Results of rankers with margins, votes or probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, cast

import numpy as np
import pandas as pd

from ._typing import FloatArray
from .exceptions import UnavailableError
from .fit import CostBound, Fit, MarginFit, ThresholdRule, VoteFit
from .formula.sample import Rows
from .report.frames import NotedFrame
from .report.render import Report, Table
from .report.sections import (
    bound_header,
    error_tables,
    figures,
    ranker_report,
    selection_table,
    shared_tables,
    threshold_table,
)
from .results import OrdinalResults

#: Shown instead of margin bounds.
NO_BOUNDS = (
    "No margin bounds for this method; .bounds(cv=5) bounds the errors from held-out"
    " rows."
)
_BY_MEDIAN = (
    "No threshold was fitted: the score is the interpolated median, with thresholds 1,"
    " 2, ... by definition."
)


class ThresholdResults(OrdinalResults):
    """A fitted ranker, rank(x) = 1 + #{k : H(x) > threshold_k}."""

    fit: MarginFit

    kind = "Large-margin ranker"

    def estimates(self) -> list[Table]:
        """Coefficients of a linear score, and thresholds."""
        tables = []
        if self.fit.coefficients is not None:
            tables.append(Table(title="Coefficients", frame=self.coef.to_frame()))
        if not self.by_median:
            thresholds = self.thresholds.to_frame()
            tables.append(
                Table(title="Thresholds", frame=thresholds, role="thresholds")
            )
        return tables

    @property
    def by_median(self) -> bool:
        """Whether the score is the interpolated median, with fixed thresholds 1, ...,
        K-1.
        """
        return bool(getattr(self.fit.rule, "by_median", False))

    def figures_of_fit(self) -> tuple[str, ...]:
        """Description of the score, if it is the interpolated median."""
        return (
            *super().figures_of_fit(),
            *("score: the interpolated median",) * self.by_median,
        )

    @property
    def thresholds(self) -> pd.Series:
        """(K-1,) thresholds "low|high", in units of the score; 1, ..., K-1 for the
        interpolated median.
        """
        theta = cast(ThresholdRule, self.fit.rule).theta
        return pd.Series(np.array(theta), index=self.threshold_names, name="threshold")

    @property
    def coef(self) -> pd.Series:
        """Effects of the unscaled columns on the score, for a linear potential.

        Raises
        ------
        UnavailableError
            The potential is not linear; `hasattr` is False.
        """
        if self.fit.coefficients is None:
            linear = ", or kernel='linear'" if hasattr(self.method, "kernel") else ""
            raise UnavailableError(
                f"{self.method} has no coefficients: its potential is not linear in"
                f" the columns. Use .predict(type='score') for its values{linear}."
            )
        return pd.Series(
            np.array(self.fit.coefficients),
            index=list(self.design.names),
            name="estimate",
        )

    @property
    def params(self) -> pd.Series:
        """Fitted thresholds, then coefficients of a linear potential."""
        parts = [self.thresholds.iloc[: 0 if self.by_median else None]]
        parts += [] if self.fit.coefficients is None else [self.coef]
        params: pd.Series = pd.concat(parts).rename("estimate")
        return params

    @property
    def support(self) -> pd.Index | None:
        """Labels of the support rows; None for methods without support vectors."""
        return None if self.fit.support is None else self.design.index[self.fit.support]

    def tidy(self) -> pd.DataFrame:
        """One row per threshold and linear coefficient: term, estimate, coef_type.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> wine = datasets.load("wine")
        >>> fit = ordfit("rating ~ temp + contact", wine, "redsvm", kernel="linear")
        >>> fit.tidy().round(2)
                     term  estimate  coef_type
        0             1|2      -1.0  threshold
        1             2|3       1.0  threshold
        2             3|4       3.0  threshold
        3             4|5       5.0  threshold
        4    temp[T.warm]       2.0   location
        5  contact[T.yes]       2.0   location
        """
        params = self.params
        n = 0 if self.by_median else len(self.threshold_names)
        kinds = ["threshold"] * n + ["location"] * (len(params) - n)
        frame = pd.DataFrame(
            {"term": params.index, "estimate": params.to_numpy(), "coef_type": kinds}
        )
        return NotedFrame.of(
            frame,
            (_BY_MEDIAN,) * self.by_median,
            "Thresholds and coefficients of the score",
            labels=self.names_shown(),
        )

    def summary_data(self) -> Report:
        """The summary as data."""
        return ranker_report(self, [*self.estimate_tables(), *shared_tables(self)], [])

    def estimate_tables(self) -> list[Table]:
        """The tables of coefficients and of fitted thresholds, for a summary."""
        tables = [] if self.by_median else [threshold_table(self.thresholds.to_frame())]
        if self.fit.coefficients is not None:
            title = "Coefficients of the score (positive = higher response)"
            tables.insert(
                0,
                Table(
                    title=title, frame=self.coef.to_frame(), labels=self.names_shown()
                ),
            )
        return tables


class ProbabilityResults(ThresholdResults):
    """A fitted ranker whose rule gives probabilities of the ranks."""

    predicts = ("class", "prob", "cum_prob", "score", "margin")
    no_bounds = NO_BOUNDS

    def _probabilities(
        self, fit: Fit, rows: Rows, scores: FloatArray
    ) -> FloatArray | None:
        return np.asarray(cast(Any, fit.rule).probabilities(rows, scores))


class MarginResults(ThresholdResults):
    """A fitted large-margin ranker, rank(x) = 1 + #{k : H(x) > threshold_k}.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", datasets.load("wine"), "redsvm")
    >>> fit.thresholds.index.tolist()
    ['1|2', '2|3', '3|4', '4|5']
    """

    def glance(self) -> pd.DataFrame:
        """One-row summary of the fit."""
        frame = figures(self)
        frame.insert(
            2,
            "n_support",
            np.nan if self.fit.support is None else self.fit.support.size,
        )
        return frame

    def summary_data(self) -> Report:
        """The summary as data."""
        return self._margin_report()

    def _margin_report(self, header: Sequence[tuple[str, Any]] = ()) -> Report:
        """The summary as data, with additional lines in its header."""
        if self.fit.selection is None:
            chosen = []
        else:
            chosen = [selection_table(self.fit.selection)]
        return ranker_report(
            self, [*self.estimate_tables(), *chosen, *shared_tables(self)], header
        )


class VoteResults(OrdinalResults):
    """A fitted ranker that chooses the level with the most votes; a tie goes to the
    lower level.

    It has no thresholds and no margins: `predict` gives "class" and "votes", one column
    for each level.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", datasets.load("wine"), "csovo")
    >>> fit.predict(type="votes").head(2)
         1    2    3    4    5
    0  2.0  4.0  3.0  1.0  0.0
    1  2.0  4.0  3.0  1.0  0.0
    """

    fit: VoteFit

    kind = "Voting ranker"

    predicts: ClassVar[tuple[str, ...]] = ("class", "votes")
    augments: ClassVar[tuple[str, ...]] = ("class", "votes")
    no_bounds = NO_BOUNDS

    @property
    def bound(self) -> CostBound | None:
        """Bound of the training cost by the costs of the binary classifiers; None if no
        theorem applies.
        """
        return self.fit.bound

    def summary_data(self) -> Report:
        """The summary as data."""
        header = [] if self.bound is None else [bound_header(self.bound)]
        if self.fit.selection is None:
            chosen = []
        else:
            chosen = [selection_table(self.fit.selection)]
        return ranker_report(self, [*chosen, *error_tables(self)], header)

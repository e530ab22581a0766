"""Results of rankers with margins, votes, rounds or probabilities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Protocol, TypeVar, cast

import numpy as np
import pandas as pd

from .._typing import FloatArray
from ..checks import is_whole, whole
from ..exceptions import OptionError, UnavailableError
from ..fit import CostBound, Fit, MarginFit, ThresholdRule, VoteFit
from ..fitted import FittedRanker
from ..formula.sample import Rows, Sample
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
from ..results import OrdinalResults, prediction
from .evaluation import ProbabilityRule


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


def threshold_report(r: FittedThresholds) -> Report:
    """The summary as data."""
    return report_with(r, [])


def report_with(r: FittedThresholds, header: Sequence[tuple[str, Any]]) -> Report:
    """The summary with more pairs in its header."""
    tables = fitted_thresholds(r)
    if r.fit.coefficients is not None:
        title = "Coefficients of the score (positive = higher response)"
        tables.insert(0, Table(title=title, frame=r.coef.to_frame()))
    if r.fit.selection is not None:
        tables.append(selection_table(r.fit.selection))
    return ranker_report(r, [*tables, *shared_tables(r)], header)


class MarginResults(FittedThresholds, OrdinalResults):
    """A fitted large-margin ranker, rank(x) = 1 + #{k : H(x) > threshold_k}.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"), method="redsvm")
    >>> fit.thresholds.index.tolist()
    ['1|2', '2|3', '3|4', '4|5']
    """

    tidy = tidy_thresholds
    glance = threshold_figures
    summary_data = threshold_report


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


#: What they predict.
PREDICTS = ("class", "prob", "cum_prob", "score", "margin")


def rule_probabilities(ranker: FittedRanker, fit: Fit, rows: Rows, scores: FloatArray) -> FloatArray:
    """(N, K) probabilities of the ranks, by the rule itself."""
    return cast(ProbabilityRule, fit.rule).probabilities(rows, scores)


R = TypeVar("R", bound=FittedRanker)


class StagedFit(Protocol):
    """A fit made in rounds."""

    @property
    def stages(self) -> range:
        """After how many rounds it can be asked."""


class RoundsMethod(Protocol):
    """A method that fits in rounds, as results see it."""

    def more(self, sample: Sample, fit: Any, rounds: int) -> Fit:
        """The fit with further rounds."""

    def truncated(self, sample: Sample, fit: Any, rounds: int) -> Fit:
        """The fit after some of its rounds."""


def after_rounds(fit: R, rounds: int) -> R:
    """The results as they were after some of the rounds."""
    found = cast(RoundsMethod, fit.method).truncated(fit.design.sample, fit.fit, rounds)
    return _of_rounds(fit, found, rounds)


def with_more_rounds(fit: R, rounds: int) -> R:
    """The results with further rounds: those of a fit of as many rounds at once."""
    more = cast(RoundsMethod, fit.method).more(fit.design.sample, fit.fit, rounds)
    return _of_rounds(fit, more, cast(StagedFit, more).stages[-1])


def _of_rounds(fit: R, found: Fit, rounds: int) -> R:
    """Another fit, its method having as many rounds: so have folds, splits and updates, which are fitted again."""
    method: Any = fit.method
    if rounds > 0 and hasattr(method, "rounds"):
        method = replace(method, rounds=int(rounds))
    calibrated: Any = None if fit.calibrated is None else replace(cast(Any, fit.calibrated), method=method)
    return replace(fit, fit=found, method=method, calibrated=calibrated)


def staged_predictions(
    fit: FittedRanker, newdata: Any = None, type: str = "class", *, every: int = 1
) -> Iterator[tuple[int, Any]]:
    """Predictions after every round, as (round, what `predict` gives)."""
    for t in stages(fit, every):
        yield t, prediction(after_rounds(fit, t), newdata, type)


def stages(fit: FittedRanker, every: int, rounds: Sequence[int] | None = None) -> list[int]:
    """The rounds asked for, growing: these, or every so many and the last."""
    first, last = (cast(StagedFit, fit.fit).stages[place] for place in (0, -1))
    if rounds is not None:
        return _among(rounds, first, last)
    whole("every", every, 1)
    return sorted({*range(every, last + 1, every), last})


def _among(rounds: Sequence[int], first: int, last: int) -> list[int]:
    several = not isinstance(rounds, str) and np.ndim(rounds) == 1 and len(rounds) > 0
    if not several or not all(is_whole(t) and first <= t <= last for t in rounds):
        raise OptionError(f"rounds must be whole numbers from {first} to {last}, the rounds made; got {rounds!r}.")
    return sorted({int(t) for t in rounds})

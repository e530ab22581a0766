"""Results of a ranker by a logistic loss of all thresholds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from ..report.report import Report
from .margin_report import margin_report
from .reduction import ReductionResults
from .votes import bound_text


@dataclass(frozen=True, eq=False, repr=False)
class ThresholdLossResults(ReductionResults):
    """A fitted ranker, rank(x) = 1 + #{k : H(x) > threshold_k}, whose K-1 questions "above k?" are logistic.

    Under the absolute cost `predict` has "prob" and "cum_prob", by P(rank > k) = 1 / (1 + exp(threshold_k - H)): odds
    of each question by itself, not those of a likelihood of ranks.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"), method="red-logistic", scaling=None)
    >>> fit.coef.round(3).tolist()
    [2.229, 1.28]
    """

    no_bounds: ClassVar[str] = "No margin bounds: they need a potential of known norm, and a network has none."

    def report(self) -> Report:
        """The summary as data."""
        report = margin_report(self)
        text = "none" if self.bound is None else bound_text(self.bound)
        return replace(report, header=(*report.header, ("Training bound", text)))

"""Results of a ranker by a logistic loss of all thresholds."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from ...model.reduction.extended import ReductionFit
from ..base import OrdinalResults
from ..report.report import Report
from .reduction import FittedReduction, classifier_trees
from .thresholds import FittedThresholds, threshold_figures, threshold_report, tidy_thresholds
from .votes import bound_text


class ThresholdLossResults(FittedReduction, FittedThresholds, OrdinalResults):
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

    fit: ReductionFit

    no_bounds: ClassVar[str] = "No margin bounds: they need a potential of known norm, and a network has none."

    tidy = tidy_thresholds
    glance = threshold_figures
    tree_text = classifier_trees

    def report(self) -> Report:
        """The summary as data."""
        report = threshold_report(self)
        text = "none" if self.bound is None else bound_text(self.bound)
        return replace(report, header=(*report.header, ("Training bound", text)))

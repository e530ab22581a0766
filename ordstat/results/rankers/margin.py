"""Results of a large-margin ranker."""

from __future__ import annotations

from ..base import OrdinalResults
from .thresholds import FittedThresholds, threshold_figures, threshold_report, tidy_thresholds


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
    report = threshold_report

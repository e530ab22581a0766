"""Results of a classifier of unordered classes."""

from __future__ import annotations

from ..base import OrdinalResults
from ..fitted import FittedRanker
from ..report.render import Report
from ..report.sections import error_tables, ranker_report
from .margin import FittedThresholds, tidy_thresholds
from .probable import PREDICTS, rule_probabilities


class FittedNominal(FittedRanker):
    """A fitted classifier with probabilities of the levels."""

    predicts = PREDICTS
    no_bounds = "No margin bounds: probabilities of classes have no norm."

    @property
    def kind(self) -> str:
        """What was fitted."""
        return "Classifier of levels without order"

    _probabilities = rule_probabilities


def nominal_report(fit: FittedNominal) -> Report:
    """The summary as data."""
    return ranker_report(fit, error_tables(fit))


class NominalResults(FittedNominal, FittedThresholds, OrdinalResults):
    """A fitted classifier with probabilities of the levels.

    `score` is the interpolated median, with thresholds 1, ..., K-1; margins are P(y > k) - 1/2.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> wine = datasets.load("wine")
    >>> fit = ordfit("rating ~ temp + contact", wine, "nominal-classifier")
    >>> fit.predict(wine.head(2), type="prob").shape
    (2, 5)
    """

    tidy = tidy_thresholds
    summary_data = nominal_report

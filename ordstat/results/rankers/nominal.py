"""Results of a classifier of unordered classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..base import OrdinalResults
from ..fitted import FittedRanker
from ..report.render import Report
from ..report.sections import error_tables, ranker_report
from .margin import FittedThresholds, tidy_thresholds
from .probable import PREDICTS, rule_probabilities

if TYPE_CHECKING:
    import pandas as pd


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

    summary_data = nominal_report

"""Results of a forest that lowers the ranked probability score."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from ...exceptions import UnavailableError
from ...model.ensembles.probability_fit import ForestFit
from ..base import OrdinalResults
from ..fitted import FittedRanker
from ..importance import GAIN_FIRST
from ..report.noted import NotedFrame
from ..report.render import Report, Table
from ..report.sections import error_tables, figures, ranker_report
from .margin import FittedThresholds, tidy_thresholds
from .probable import PREDICTS, rule_probabilities

# Rows of the table of importance in a summary.
_SHOWN = 10

if TYPE_CHECKING:
    import pandas as pd


class FittedForest(FittedRanker):
    """A fitted forest."""

    fit: ForestFit

    predicts = PREDICTS
    no_bounds = "No margin bounds: shares of leaves have no norm."

    @property
    def kind(self) -> str:
        """What was fitted."""
        return "Ranked-probability forest"

    _probabilities = rule_probabilities


def forest_importance(fit: FittedForest) -> pd.DataFrame:
    """What the columns contribute, most important first.

    Returns
    -------
    pandas.DataFrame
        importance: share of the fall of the ranked probability score that is due to the column's cuts; the sum is 1.
        The index has the columns of the model.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", datasets.load("wine"), "rps-forest", trees=50)
    >>> fit.importance().index.tolist()
    ['temp[T.warm]', 'contact[T.yes]']
    """
    frame = pd.DataFrame({"importance": fit.fit.importance}, index=pd.Index(fit.design.names, name="column"))
    return NotedFrame.of(frame.sort_values("importance", ascending=False, kind="stable"), (), "Importance of columns")


def forest_out_of_bag(fit: FittedForest) -> pd.Series:
    """Mean errors of the rows by the trees whose samples they were not drawn into.

    Returns
    -------
    pandas.Series
        classification, absolute (of the medians), ranked probability score, and share: the weight of the rows that
        were out of some sample.

    Raises
    ------
    UnavailableError
        The trees grow on all rows.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", datasets.load("wine"), "rps-forest", splits="best", trees=50)
    >>> fit.out_of_bag_errors().index.tolist()
    ['classification', 'absolute', 'ranked probability score', 'share']
    """
    if fit.fit.out_of_bag is None:
        raise UnavailableError(
            f"{fit.method!r} grows its trees on all rows, so none is out of bag: use splits='best', or .errors(cv=10)."
        )
    return pd.Series(fit.fit.out_of_bag, name="out of bag")


def forest_figures(fit: FittedForest) -> pd.DataFrame:
    """One row of figures of the whole fit."""
    out = fit.fit.out_of_bag or {}
    return NotedFrame.of(figures(fit).assign(out_of_bag_error=out.get("absolute", float("nan"))))


def forest_report(fit: FittedForest) -> Report:
    """The summary as data."""
    frame, header = forest_importance(fit), []
    if fit.fit.out_of_bag is not None:
        header.append(("Out of bag", "; ".join(f"{name} {value:.4g}" for name, value in fit.fit.out_of_bag.items())))
    note = f"The first {_SHOWN} of {len(frame)}; all are in .importance()." if len(frame) > _SHOWN else ""
    title = "Columns: share of the fall of the ranked probability score"
    table = Table(title=title, frame=frame.head(_SHOWN), formats={"importance": ".3f"}, note=note)
    notes = () if fit.fit.out_of_bag else ("Trees on all rows know them by heart: see .errors(cv=10) for new ones.",)
    return ranker_report(fit, [table, *error_tables(fit)], header, notes)


class ForestResults(FittedForest, FittedThresholds, OrdinalResults):
    """A fitted forest of P(y > k).

    `score` is the interpolated median, with thresholds 1, ..., K-1; margins are P(y > k) - 1/2.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> wine = datasets.load("wine")
    >>> fit = ordfit("rating ~ temp + contact", wine, "rps-forest", trees=50)
    >>> fit.predict(wine.head(2), type="prob").shape
    (2, 5)
    """

    fit: ForestFit

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

    glance = forest_figures
    importance_kinds = GAIN_FIRST
    gain_importance = forest_importance
    out_of_bag_errors = forest_out_of_bag
    summary_data = forest_report

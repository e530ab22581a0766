"""Results of a large-margin ranker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
import pandas as pd

from ...exceptions import UnavailableError
from ...model.fit import MarginFit
from ...model.rules import ThresholdRule
from ..base import OrdinalResults
from ..report.report import Report
from .margin_report import margin_report


@dataclass(frozen=True, eq=False, repr=False)
class MarginResults(OrdinalResults):
    """A fitted large-margin ranker, rank(x) = 1 + #{k : H(x) > threshold_k}.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"), method="redsvm")
    >>> fit.thresholds.index.tolist()
    ['1|2', '2|3', '3|4', '4|5']
    """

    fit: MarginFit

    @property
    def thresholds(self) -> pd.Series:
        """(K-1,) thresholds "low|high", in units of the score."""
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
            raise UnavailableError(
                f"{self.method!r} has no coefficients: its potential is not linear in the columns. Use "
                ".predict(type='score') for its values, or kernel='linear'."
            )
        return pd.Series(np.array(self.fit.coefficients), index=list(self.design.names), name="estimate")

    @property
    def params(self) -> pd.Series:
        """Thresholds, then coefficients where the potential is linear."""
        parts = [self.thresholds] if self.fit.coefficients is None else [self.thresholds, self.coef]
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
        params = self.params
        effects = len(params) - len(self.threshold_names)
        return pd.DataFrame(
            {
                "term": params.index,
                "estimate": params.to_numpy(),
                "coef_type": ["threshold"] * len(self.threshold_names) + ["location"] * effects,
            }
        )

    def glance(self) -> pd.DataFrame:
        """One row of figures of the whole fit."""
        frame = super().glance()
        frame.insert(2, "n_support", np.nan if self.fit.support is None else self.fit.support.size)
        return frame

    def report(self) -> Report:
        """The summary as data."""
        return margin_report(self)

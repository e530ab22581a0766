"""Results of an average of probability models."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from ...model.ensembles.probability_fit import BlendFit
from ..base import OrdinalResults
from ..fitted import FittedRanker
from ..report.render import Report, Table
from ..report.sections import error_tables, ranker_report
from .margin import FittedThresholds, tidy_thresholds
from .probable import PREDICTS, rule_probabilities

if TYPE_CHECKING:
    import pandas as pd


class FittedBlend(FittedRanker):
    """A fitted average of probability models."""

    fit: BlendFit

    predicts = PREDICTS
    no_bounds = "No margin bounds: an average of probabilities has no norm."

    @property
    def kind(self) -> str:
        """What was fitted."""
        return "Blend of probability models"

    _probabilities = rule_probabilities

    @property
    def members(self) -> pd.DataFrame:
        """One row a member.

        Returns
        -------
        pandas.DataFrame
            weight; with average="stacked" also rps and absolute, the ranked probability score and the absolute error
            (of the medians) of held-out rows, and a row for the blend.
        """
        f = self.fit
        frame = pd.DataFrame({"weight": f.mixture.shares}, index=pd.Index(f.names, name="member"))
        if f.held_out is not None:
            last = pd.DataFrame({"weight": [1.0]}, index=pd.Index(["all, blended"], name="member"))
            frame = pd.concat([frame, last]).assign(rps=f.held_out[:, 0], absolute=f.held_out[:, 1])
        return frame


def blend_report(fit: FittedBlend) -> Report:
    """The summary as data."""
    held = fit.fit.held_out is not None
    title = "Members" + (": weight, ranked probability score and absolute error of held-out rows" if held else "")
    formats = dict.fromkeys(("weight", "rps", "absolute"), ".4f") | {"seconds": ".2g"}
    table = Table(title=title, frame=fit.members, formats={k: v for k, v in formats.items() if k in fit.members})
    return ranker_report(fit, [table, *error_tables(fit)])


class BlendResults(FittedBlend, FittedThresholds, OrdinalResults):
    """A fitted average of probability models.

    `score` is the interpolated median, with thresholds 1, ..., K-1; margins are P(y > k) - 1/2.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", datasets.load("wine"), "blend", members=["logit", "rps-forest"])
    >>> fit.members["weight"].tolist()
    [0.5, 0.5]
    """

    fit: BlendFit

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

    summary_data = blend_report

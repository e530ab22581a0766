"""What every fit can be asked: each public method is the function of its topic."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from .errors import (
    confusion_matrix,
    error_bounds,
    error_measures,
    errors_at_margin,
    margin_errors,
    reliability_curves,
    row_margins,
)
from .fitted import FittedRanker
from .later import Later
from .report.render import SCREEN, Summary, as_html, as_text
from .report.screen import learnt, printed, shown_part
from .report.sections import figures

if TYPE_CHECKING:
    from ..files.save import save as saved
    from ..plots.accessor import Plots
    from .conformal import conformal_intervals
    from .importance import importance as importance_of_variables
    from .page.write import written_report
    from .predictions import augmented, prediction
    from .refit import updated
else:
    _later = partial(Later, __package__)
    saved = _later("..files.save", "save")
    conformal_intervals = _later(".conformal", "conformal_intervals")
    importance_of_variables = _later(".importance", "importance")
    written_report = _later(".page.write", "written_report")
    augmented = _later(".predictions", "augmented")
    prediction = _later(".predictions", "prediction")
    updated = _later(".refit", "updated")


class OrdinalResults(FittedRanker):
    """A fitted ranker: what it predicts, how good it is, and its summary."""

    update = updated
    predict = prediction
    augment = augmented
    glance = figures
    errors = error_measures
    confusion = confusion_matrix
    margins = row_margins
    delta_errors = errors_at_margin
    delta_values = margin_errors
    bounds = error_bounds
    reliability = reliability_curves
    conformal = conformal_intervals
    importance = importance_of_variables
    report = written_report
    save = saved

    def __str__(self) -> str:
        return as_text(printed(self), SCREEN, SCREEN)

    def _repr_html_(self) -> str:
        return as_html(printed(self))

    @property
    def plot(self) -> Plots:
        """Pictures of the fit, by matplotlib: `fit.plot.latent()`."""
        from ..plots.accessor import RankerPlots

        return RankerPlots(self)

    def summary(self, section: str | None = None) -> Summary:
        """The summary: its text is str(), its tables are in `.tables`.

        Parameters
        ----------
        section : {"model", "fit", "errors", "margins", "bounds", "all"}, optional
            One part in full, or all; one screen of the most important figures unless given.

        Raises
        ------
        OptionError
            Another section, or one that this fit has not.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp", data=datasets.load("wine"))
        >>> print(str(fit.summary()).splitlines()[0])
        Cumulative link model: rating ~ temp
        """
        report = self.summary_data()
        return shown_part(self, section, report, learnt(report))

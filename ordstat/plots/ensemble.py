"""What `fit.plot` offers for an ensemble made in rounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from .accessor import Plots

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .drawn import DrawnEnsemble


@dataclass(frozen=True, eq=False, repr=False)
class EnsemblePlots(Plots):
    """Pictures of an ensemble made in rounds: those of every fit, and of its rounds.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rank ~ x1 + x2", data=datasets.quadratic_bands(300, seed=1), method="orboost-all", rounds=100)
    >>> fit.plot.rounds_data(newdata=datasets.quadratic_bands(1000, seed=2), every=50).round(3)
       round             rows  value
    0     50  rows of the fit  0.017
    1    100  rows of the fit  0.000
    2     50         new data  0.076
    3    100         new data  0.056
    """

    results: DrawnEnsemble

    def rounds(
        self, ax: Axes | None = None, *, newdata: Any = None, error: str = "absolute", every: int | None = None
    ) -> Axes:
        """Error after every round, on the rows of the fit, on new data, and of held-out rows where there are any.

        Parameters
        ----------
        ax : matplotlib axes, optional
        newdata : data frame, optional
            With the response.
        error : {"absolute", "classification", "cost", "loss"}
            "loss" is the training loss a row, beside what the training-error theorem allows it.
        every : int, optional
            Only every so many rounds, and the last; 250 of them, the first closest together, if not given.
        """
        from .rounds import rounds

        return rounds(self.results, ax, newdata, error, every)

    def rounds_data(self, *, newdata: Any = None, error: str = "absolute", every: int | None = None) -> pd.DataFrame:
        """Columns round, rows (whose error it is), value."""
        from .rounds import rounds_data

        return rounds_data(self.results, newdata, error, every)

"""What `fit.plot` offers of every fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..results.base import OrdinalResults


@dataclass(frozen=True, eq=False, repr=False)
class Plots:
    """Pictures of a fit: `fit.plot.latent()`.

    Every plot takes axes to draw into, `ax=None` (a new figure), and returns the axes. Beside every plot `name` stands
    `name_data`, of the same arguments but for the axes: what is drawn, as a frame, without matplotlib.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"), method="redsvm")
    >>> fit.plot
    plots: boundaries, confusion, latent, margins, reliability, selection
    >>> cells = fit.plot.confusion_data()
    >>> cells.loc[cells["observed"] == 5, ["predicted", "distance", "weight"]].to_numpy().tolist()
    [[1, 4, 0], [2, 3, 0], [3, 2, 2], [4, 1, 5], [5, 0, 0]]
    """

    results: OrdinalResults

    def __repr__(self) -> str:
        return f"plots: {', '.join(self.names)}"

    @property
    def names(self) -> list[str]:
        """Names of the plots available."""
        return sorted(name.removesuffix("_data") for name in dir(type(self)) if name.endswith("_data"))

    def latent(self, ax: Axes | None = None, *, bins: int = 40) -> Axes:
        """Scores of the rows of each observed level, with the thresholds and the interval of every level.

        A row of the plot is one observed level. Where thresholds differ between the rows of the fit (nominal effects)
        their mean is drawn, and their range shaded.

        Parameters
        ----------
        ax : matplotlib axes, optional
        bins : int
            Number of bins of the histograms.

        Raises
        ------
        UnavailableError
            For a rule that votes.
        ImportError
            matplotlib is not installed.
        """
        from .latent import latent

        return latent(self.results, ax, bins)

    def latent_data(self, *, bins: int = 40) -> pd.DataFrame:
        """Columns level, left and right (ends of the bin), weight of the rows inside, share of the level's weight."""
        from .latent import latent_data

        return latent_data(self.results, bins)

    def margins(
        self,
        ax: Axes | None = None,
        *,
        delta: float | None = None,
        bins: int = 40,
        normalised: bool | None = None,
    ) -> Axes:
        """Left and right margins of the rows; wrong ones (<= 0) in another colour, and a line at Delta.

        Parameters
        ----------
        ax : matplotlib axes, optional
        delta : float >= 0, optional
            Half the median size of the margins, to one digit, if not given.
        bins : int
        normalised : bool, optional
            Whether in units of the normalised margin; True where the potential has a norm.
        """
        from .margins import margins

        return margins(self.results, ax, delta, bins, normalised)

    def margins_data(self, *, bins: int = 40, normalised: bool | None = None) -> pd.DataFrame:
        """Columns side, from and to (ends of the bin), weight, share of the rows that have a margin on that side."""
        from .margins import margins_data

        return margins_data(self.results, bins, normalised)

    def confusion(self, ax: Axes | None = None, *, newdata: Any = None, weights: Any = None) -> Axes:
        """Observed against predicted levels: blue where right, redder with the distance, deeper with the share.

        Parameters
        ----------
        ax : matplotlib axes, optional
        newdata : data frame, optional
            With the response; the rows of the fit if not given.
        weights : str or (N,) array, optional
            Of `newdata`.
        """
        from .confusion import confusion

        return confusion(self.results, ax, newdata, weights)

    def confusion_data(self, *, newdata: Any = None, weights: Any = None) -> pd.DataFrame:
        """Columns observed, predicted, distance |i - j|, weight, share of the weight of the observed level."""
        from .confusion import confusion_data

        return confusion_data(self.results, newdata, weights)

    def reliability(
        self,
        ax: Axes | None = None,
        *,
        newdata: Any = None,
        by: str = "split",
        bins: int = 10,
        level: float = 0.95,
    ) -> Axes:
        """Observed shares against predicted probabilities, with Wilson limits: on the diagonal where these are right.

        Parameters
        ----------
        ax : matplotlib axes, optional
        newdata : data frame, optional
            With the response; the rows of the fit (cross-fitted, if it is calibrated) if not given.
        by : {"split", "level"}
            A curve a threshold, of P(response <= low), or a level, of P(response = level).
        bins : int
            Most bins, of about equal weight.
        level : float in (0, 1)
            Confidence level of the limits.

        Raises
        ------
        OptionError
            The fit has no probabilities.
        """
        from .reliability import reliability

        return reliability(self.results, ax, newdata, by, bins, level)

    def reliability_data(
        self, *, newdata: Any = None, by: str = "split", bins: int = 10, level: float = 0.95
    ) -> pd.DataFrame:
        """Columns split (or level), bin, predicted, observed, lower, upper, weight."""
        from .reliability import reliability_data

        return reliability_data(self.results, newdata, by, bins, level)

    def selection(self, ax: Axes | None = None) -> Axes:
        """Cost of held-out rows against C or gamma, one standard error on either side; of both as a field of numbers.

        Raises
        ------
        UnavailableError
            Nothing was chosen by cross-validation.
        """
        from .selection import selection

        return selection(self.results, ax)

    def selection_data(self) -> pd.DataFrame:
        """Columns C, gamma where it was chosen, cost, std_error, chosen."""
        from .selection import selection_data

        return selection_data(self.results)

    def boundaries(
        self,
        x: str,
        y: str,
        ax: Axes | None = None,
        *,
        at: Mapping[str, Any] | None = None,
        data: Any = None,
        points: int = 200,
    ) -> Axes:
        """Predicted levels over two numeric variables, with the rows of the fit as dots of their observed level.

        Parameters
        ----------
        x, y : str
            Variables of the formula.
        ax : matplotlib axes, optional
        at : mapping, optional
            Values of all other variables: {"contact": "yes"}.
        data : data frame, optional
            The data of the fit, where it does not have them any more (after unpickling).
        points : int
            Points of the grid, on each side.

        Raises
        ------
        OptionError
            A name that is no variable of the formula, or no number; another variable without a value.
        """
        from .boundaries import boundaries

        return boundaries(self.results, ax, x, y, at, data, points)

    def boundaries_data(
        self, x: str, y: str, *, at: Mapping[str, Any] | None = None, data: Any = None, points: int = 200
    ) -> pd.DataFrame:
        """Columns of the two variables, and level: the prediction at every point of the grid."""
        from .boundaries import boundaries_data

        return boundaries_data(self.results, x, y, at, data, points)

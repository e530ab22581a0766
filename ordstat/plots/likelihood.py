"""What `fit.plot` offers of a cumulative link model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from .._typing import AnyArray
from .accessor import Plots

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..results.likelihood.results import LikelihoodResults


@dataclass(frozen=True, eq=False, repr=False)
class LikelihoodPlots(Plots):
    """Pictures of a likelihood fit: those of every fit, and of its probabilities and coefficients.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
    >>> fit.plot.forest_data().round(2).to_numpy()[:, 1:4].tolist()
    [[2.5, 1.47, 3.54], [1.53, 0.59, 2.46]]
    """

    results: LikelihoodResults

    def density(self, ax: Axes | None = None, *, at: Any = None) -> Axes:
        """Latent distribution of chosen rows, cut by the thresholds: areas are the probabilities of the levels.

        Parameters
        ----------
        ax : matplotlib axes, optional
        at : data frame, optional
            Rows with the variables of the formula, one density each; the rows of the fit with the lowest, the median
            and the highest score if not given.
        """
        from .density import density

        return density(self.results, ax, at)

    def density_data(self, *, at: Any = None) -> pd.DataFrame:
        """Columns row, level, latent (place), density, probability (of the level at that row)."""
        from .density import density_data

        return density_data(self.results, at)

    def forest(self, ax: Axes | None = None, *, exponentiate: bool = False, level: float = 0.95) -> Axes:
        """Coefficients with their confidence limits.

        Parameters
        ----------
        ax : matplotlib axes, optional
        exponentiate : bool
            Odds ratios (logit), hazard ratios (cloglog) or exponents, on a logarithmic axis.
        level : float in (0, 1)
            Confidence level of the limits.
        """
        from .forest import forest

        return forest(self.results, ax, exponentiate, level)

    def forest_data(self, *, exponentiate: bool = False, level: float = 0.95) -> pd.DataFrame:
        """Columns term, estimate, conf_low, conf_high, coef_type."""
        from .forest import forest_data

        return forest_data(self.results, exponentiate, level)

    def effects(
        self,
        variable: str,
        ax: Axes | None = None,
        *,
        values: Sequence[Any] | None = None,
        at: Mapping[str, Any] | None = None,
        data: Any = None,
        level: float = 0.95,
    ) -> Axes:
        """Probability of every level over a variable, with bands: lines for a number, points for a factor.

        They are the estimated marginal means of `emmeans`: all levels of the other factors weigh the same, other
        numbers are at their means.

        Parameters
        ----------
        variable : str
            A variable of the formula.
        ax : matplotlib axes, optional
        values : sequence, optional
            Values of the variable; all levels of a factor, 60 points over the range of a number if not given.
        at : mapping, optional
            Values of other variables: {"contact": "yes"}.
        data : data frame, optional
            The data of the fit, where it does not have them any more (after unpickling).
        level : float in (0, 1)
            Confidence level of the limits.
        """
        from .probabilities import effects

        return effects(self.results, ax, variable, values=values, at=at, data=data, level=level)

    def effects_data(
        self,
        variable: str,
        *,
        values: Sequence[Any] | None = None,
        at: Mapping[str, Any] | None = None,
        data: Any = None,
        level: float = 0.95,
    ) -> pd.DataFrame:
        """Columns of the variable, level, estimate, std_error, lower, upper."""
        from .probabilities import effects_data

        return effects_data(self.results, variable, values, at, data, level)

    def stacked(
        self,
        variable: str,
        ax: Axes | None = None,
        *,
        values: Sequence[Any] | None = None,
        at: Mapping[str, Any] | None = None,
        data: Any = None,
    ) -> Axes:
        """Probabilities of the levels over a variable on top of each other, the lowest level at the bottom.

        Parameters as in `effects`.
        """
        from .probabilities import stacked

        return stacked(self.results, ax, variable, values=values, at=at, data=data)

    def stacked_data(
        self,
        variable: str,
        *,
        values: Sequence[Any] | None = None,
        at: Mapping[str, Any] | None = None,
        data: Any = None,
    ) -> pd.DataFrame:
        """Columns of the variable, level, estimate, and cumulative: P(response <= level)."""
        from .probabilities import stacked_data

        return stacked_data(self.results, variable, values, at, data)

    def parallel(
        self, ax: Axes | None = None, *, columns: Sequence[str] | str | None = None, level: float = 0.95
    ) -> Axes:
        """Are effects the same at every threshold? Binary fits of P(response > level), beside the fit itself.

        Where the effects are parallel the points of a column scatter about its line within their limits.

        Parameters
        ----------
        ax : matplotlib axes, optional
        columns : str or sequence of str, optional
            Location columns; all if not given.
        level : float in (0, 1)
            Confidence level of the limits.
        """
        from .parallel import parallel

        return parallel(self.results, ax, columns, level)

    def parallel_data(self, *, columns: Sequence[str] | str | None = None, level: float = 0.95) -> pd.DataFrame:
        """Columns term, threshold, above, estimate, std_error, lower, upper, pooled, pooled_lower, pooled_upper."""
        from .parallel import parallel_data

        return parallel_data(self.results, columns, level)

    def profiles(
        self,
        parm: str | int | Sequence[str | int] | None = None,
        ax: Any = None,
        *,
        level: float = 0.95,
        points: int = 41,
    ) -> AnyArray:
        """Signed root deviance against each parameter (line), its quadratic approximation (dashes) and the limits.

        A line that bends away from the dashes says that Wald limits are poor.

        Parameters
        ----------
        parm : str, int or a sequence of them, optional
            Parameters by name or by position in `params` (from 0), or location terms; all parameters if not given.
        ax : matplotlib axes or an array of them, optional
            One a parameter.
        level : float in (0, 1)
            Confidence level of the limits.
        points : int
            Values of each parameter.

        Returns
        -------
        array of matplotlib axes
            Unlike the other plots, as every parameter has its own.
        """
        from .profiles import profiles

        return profiles(self.results, ax, parm, level, points)

    def profiles_data(
        self, parm: str | int | Sequence[str | int] | None = None, *, level: float = 0.95, points: int = 41
    ) -> pd.DataFrame:
        """Columns parameter, value, z, loglik, quadratic (z of the quadratic approximation)."""
        from .profiles import profiles_data

        return profiles_data(self.results, parm, level, points)

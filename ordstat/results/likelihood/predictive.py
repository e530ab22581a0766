"""What a likelihood fit says of rows and of variables: predictions, effects and marginal means with their errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ...exceptions import OptionError
from ..base import OrdinalResults

if TYPE_CHECKING:
    from .effects.emmeans import Emmeans


class Predictive:
    """Predictions, effects and marginal means of a `LikelihoodResults`; the work is done in files of their own."""

    def predict(
        self: Any,
        newdata: Any = None,
        type: str = "class",
        *,
        se: bool = False,
        interval: str | None = None,
        level: float = 0.95,
        method: str = "delta",
        draws: int = 1000,
        seed: int | np.random.Generator = 0,
        vcov: Any = None,
        cost: Any = None,
    ) -> pd.Series | pd.DataFrame:
        """Predict rows of new data, or the rows that were fitted, with standard errors and limits where asked for.

        Parameters
        ----------
        newdata : data frame, optional
            With the columns of the formula; the response is not looked at (but for "margin"): all levels are always
            given. None means the rows of the fit.
        type : str
            "class": the level of least expected cost. "prob": P(response = level). "cum_prob": P(response <= level).
            "score": H, larger for higher levels. "linear_predictor": s (threshold - H), one column per threshold,
            whose F is the cumulative probability. "mean": the expected rank, in 1..K whatever the labels are.
            "margin": left and right margin; needs the response.
        se : bool
            Add the standard errors.
        interval : "confidence", optional
            Add confidence limits (of the probability, score or expected rank, not of the response itself).
        level : float in (0, 1)
            Confidence level of the limits.
        method : {"delta", "simulation"}
            Delta method: limits of probabilities (and of the expected rank, as a share of 1..K) are formed on the
            logit scale and taken back, so they stay in range; symmetric for the other types. Simulation: deviation
            and quantiles of the predictions at parameters drawn from their asymptotic normal distribution.
        draws : int
        seed : int or numpy.random.Generator
            Seed of the simulation.
        vcov : str or dict, optional
            Covariance of the parameters, as in `vcov`.
        cost : str or K x K matrix, optional
            What the predicted class is to minimise instead of the cost of the fit; nothing is fitted again.

        Returns
        -------
        pandas.Series or pandas.DataFrame
            One row per row of `newdata`, on its index; NaN where an input is missing. With `se` or `interval` the
            columns are "estimate", "std_error", "lower", "upper" for "score" and "mean", and pairs of those and a
            level (or threshold) for the rest, so that `out["lower"]` is a frame like `out["estimate"]`. Errors and
            limits are NaN where a prediction depends on an infinite estimate.

        Raises
        ------
        OptionError
            For an unknown type, or errors of a type that has none.
        DataError
            For a missing column or an unseen level in `newdata`.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> wine = datasets.load("wine")
        >>> fit = ordfit("rating ~ temp + contact", data=wine)
        >>> out = fit.predict(wine.head(2), type="prob", se=True, interval="confidence")
        >>> out["std_error"].round(4).loc[0].tolist()
        [0.0848, 0.0868, 0.0639, 0.0138, 0.0048]
        >>> fit.predict(wine.head(3), cost="absolute").tolist()
        [2, 2, 3]
        """
        from .uncertainty import Uncertainty, with_uncertainty

        how = Uncertainty(se=se, interval=interval, level=level, method=method, draws=draws, seed=seed, vcov=vcov)
        if cost is not None:
            classes: pd.Series = self._predict_under(newdata, type, cost)
            return classes
        if not how.asked:
            return OrdinalResults.predict(self, newdata, type)
        if type not in self.predicts:
            raise self._unknown_type(type)
        out: pd.DataFrame = with_uncertainty(self, self._target(newdata), type, how)
        return out

    def _predict_under(self: Any, newdata: Any, type: str, cost: Any) -> pd.Series | pd.DataFrame:
        if type != "class":
            raise OptionError(f"cost goes with type='class'; got type={type!r}.")
        from .uncertainty import classes_under

        target = self._target(newdata)
        codes = classes_under(self.fit, target, cost)
        classes: pd.Series = target.classes(codes, self.design.levels, self.design.response)
        return classes

    # Effects

    def effects(
        self: Any,
        variable: str | Sequence[str] | None = None,
        *,
        scale: str = "prob",
        contrast: str = "reference",
        values: Sequence[Any] | None = None,
        at: Mapping[str, Any] | None = None,
        by: str | Sequence[str] | None = None,
        newdata: Any = None,
        weights: Any = None,
        data: Any = None,
        level: float = 0.95,
        vcov: Any = None,
    ) -> pd.DataFrame:
        """Average effects of variables of the formula: contrasts of factors, slopes of numbers.

        The variable is changed in the data, the design is built again (so interactions, splines and transforms
        follow), and predictions are averaged over the rows with their weights.

        Parameters
        ----------
        variable : str or sequence of str, optional
            Columns of the data; all variables of the right-hand sides if not given.
        scale : str
            "prob": P(response = level), an effect per level. "cum_prob": P(response <= level), an effect per level
            but the highest. "mean": the expected rank, 1..K. "latent": s (H - mean threshold), the latent variable
            in units of each row's own scale. "log_odds": log odds of a response above each threshold; "odds": their
            ratios, exp() of the average difference.
        contrast : {"reference", "sequential", "pairwise"}
            Factors: each level against the first, against the one before, or all pairs.
        values : sequence, optional
            Values to compare, of a number too ([20, 60]), in place of all levels or the slope.
        at : mapping, optional
            Other variables to hold at a value in all rows.
        by : str or sequence of str, optional
            Columns by whose values the averages are taken apart.
        newdata : data frame, optional
            Rows to average over; those of the fit if not given.
        weights : str or (N,) array, optional
            Of `newdata`.
        data : data frame, optional
            The data of the fit, where it does not have them any more (after unpickling).
        level : float in (0, 1)
            Confidence level of the limits.
        vcov : str or dict, optional
            Covariance of the parameters, as in `vcov`.

        Returns
        -------
        pandas.DataFrame
            Columns term, contrast ("warm - cold"; "dY/dX" for a slope), those of `by`, level or threshold where the
            scale has them, estimate, std_error (delta method), statistic, p_value, lower, upper. Errors are NaN,
            with a DataWarning, where the data say nothing about a combination of levels.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> fit.effects("temp").set_index("level")["estimate"].round(4).tolist()
        [-0.1174, -0.3465, 0.0852, 0.2223, 0.1564]
        """
        from .effects.average import average_effects

        return average_effects(
            self,
            variable,
            scale=scale,
            contrast=contrast,
            values=values,
            at=at,
            by=by,
            newdata=newdata,
            weights=weights,
            data=data,
            level=level,
            vcov=vcov,
        )

    def emmeans(
        self: Any,
        variables: str | Sequence[str],
        *,
        by: str | Sequence[str] | None = None,
        scale: str = "latent",
        at: Mapping[str, Any] | None = None,
        cov_keep: int | str | Sequence[int | str] | None = None,
        cov_reduce: str = "weighted_mean",
        data: Any = None,
        level: float = 0.95,
        vcov: Any = None,
    ) -> Emmeans:
        """Estimated marginal means over a balanced grid of the variables.

        The grid has all levels of every factor and every number at its mean. Predictions on the chosen scale are
        averaged within the cells asked for, every row of the grid with equal weight, as R's emmeans(weights="equal").
        For the numbers, too, R's defaults are `cov_keep=2, cov_reduce="mean"`.

        Parameters
        ----------
        variables : str or sequence of str
            Variables of the formula; one mean per combination of their levels.
        by : str or sequence of str, optional
            Further variables; contrasts are taken within their levels.
        scale : str
            "latent": the mean of the latent variable above the mean threshold, H - mean threshold, in units of its
            scale. Where the scale varies, the unit is its geometric mean over the grid, as in R: a difference of
            means is one of location alone (R gives its contrasts in units of scale 1). Thresholds with nominal
            effects are those of each row (R averages them over the grid, and such effects do not show). "prob",
            "cum_prob", "mean" (the expected rank, 1..K), "log_odds", "odds": as in `effects`.
        at : mapping, optional
            Values of variables of the grid: {"age": [30, 50]}.
        cov_keep : int, str or sequence of these, optional
            Numbers that keep all their values, as a factor does: names, or the largest count of distinct values.
        cov_reduce : {"weighted_mean", "mean"}
            What the other numbers are held at: their mean with the weights of the fit, or without.
        data : data frame, optional
            The data of the fit, where it does not have them any more (after unpickling).
        level : float in (0, 1)
            Confidence level of the limits.
        vcov : str or dict, optional
            Covariance of the parameters, as in `vcov`.

        Returns
        -------
        Emmeans
            Prints as a table; `.frame` is that table, `.contrasts()` the differences of its rows.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> means = fit.emmeans("temp")
        >>> means.frame["estimate"].round(4).tolist()
        [-1.331, 1.1721]
        >>> means.contrasts()[["contrast", "estimate", "std_error"]].round(4).values.tolist()
        [['warm - cold', 2.5031, 0.5287]]
        """
        from .effects.emmeans import marginal_means

        means: Emmeans = marginal_means(
            self,
            variables,
            by=by,
            scale=scale,
            at=at,
            cov_keep=cov_keep,
            cov_reduce=cov_reduce,
            data=data,
            level=level,
            vcov=vcov,
        )
        return means

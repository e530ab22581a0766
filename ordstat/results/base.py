"""What every fit can do: predict, and be judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd

from ..checks import unknown
from ..exceptions import OptionError
from ..model.calibration import Calibration
from . import frames
from .judged import JudgedRanker
from .refit import updated
from .report.render import Summary
from .report.report import Report
from .report.warnings import Alert, alerts
from .target import Target

if TYPE_CHECKING:
    from ..plots.accessor import Plots
    from .conformal import ConformalIntervals

#: Everything that some method predicts.
PREDICTION_TYPES = ("class", "prob", "cum_prob", "score", "linear_predictor", "mean", "margin", "votes")


@dataclass(frozen=True, eq=False, repr=False)
class OrdinalResults(JudgedRanker):
    """A fitted ranker: what it predicts, how good it is, and its summary."""

    # Other fits

    def update(
        self,
        formula: str | None = None,
        *,
        nominal: str | None = None,
        scale: str | None = None,
        method: Any = None,
        data: Any = None,
        **changes: Any,
    ) -> Any:
        """Fit again with something changed, as R's update().

        Parameters
        ----------
        formula : str, optional
            A dot stands for that side of the old formula: "~ . - contact", "~ . + x3", ". ~ x1".
        nominal, scale : str, optional
            A dot stands for the old one; "~ 1" takes the effects away.
        method : str or Method, optional
        data : data frame, optional
            The data of the fit if not given; they must still be what they were.
        **changes
            Other arguments of `ordfit` (weights, cluster, vcov, subset, calibrate, ...) and options of the method
            (link, cost, C, ...).

        Returns
        -------
        LikelihoodResults or MarginResults

        Raises
        ------
        DataError
            The data are not at hand (a fit is pickled without them) or have changed.
        OptionError, FormulaError

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> fit.update("~ . - contact").design.formula
        'rating ~ temp'
        >>> round(fit.update(method="probit").loglik, 3)
        -85.761
        """
        design = {"formula": formula, "nominal": nominal, "scale": scale}
        return updated(self, design, method, data, changes)

    # Predictions

    def predict(self, newdata: Any = None, type: str = "class") -> pd.Series | pd.DataFrame:
        """Predict rows of new data, or the rows that were fitted.

        Parameters
        ----------
        newdata : data frame, optional
            With the columns of the formula. None means the rows of the fit.
        type : str
            "class": the predicted level. "score": the potential H, larger for higher levels. "margin": left and right
            margin, raw and normalised; needs the response in `newdata`. Likelihood methods, and any other fitted with
            calibrate=True, also have "prob", P(response = level), and "cum_prob", P(response <= level), one column per
            level; voting methods have "votes" of every level in place of score and margin. Calibration does not
            change the classes: they are the ranker's own, and need not be the most probable level.

        Returns
        -------
        pandas.Series or pandas.DataFrame
            One row per row of `newdata`, on its index; NaN where an input is missing. Classes are an ordered
            categorical of the levels of the response.

        Raises
        ------
        OptionError
            For a type that this method does not predict.
        DataError
            For a missing column or an unseen level in `newdata`.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> wine = datasets.load("wine")
        >>> fit = ordfit("rating ~ temp + contact", data=wine)
        >>> fit.predict(wine.head(2)).tolist()
        [2, 2]
        >>> fit.predict(wine.head(2), type="cum_prob").round(3)
               1      2     3      4    5
        0  0.207  0.777  0.97  0.993  1.0
        1  0.207  0.777  0.97  0.993  1.0
        """
        if type not in self.prediction_types:
            raise self._unknown_type(type)
        if type == "margin":
            return self._margin_frame(newdata)
        target = self._target(newdata)
        if self.fit.calibration is not None and type in ("prob", "cum_prob"):
            return self._calibrated(target, type)
        return self._predict(target, type)

    def _calibrated(self, target: Target, type: str) -> pd.DataFrame:
        calibration = cast(Calibration, self.fit.calibration)
        found = calibration.probabilities if type == "prob" else calibration.cum_probabilities
        return target.frame(found(target.scores), self.levels)

    def _unknown_type(self, type: str) -> OptionError:
        if type in PREDICTION_TYPES:
            have = ", ".join(repr(t) for t in self.prediction_types)
            how = ""
            if type in ("prob", "cum_prob"):
                how = " Fit with calibrate=True for probabilities."
                if self.calibrated is not None:
                    how = " Its calibration was for the ranker as first fitted, and does not hold for this one."
            return OptionError(f"type={type!r} is not available from {self.method!r}: it predicts {have}.{how}")
        return unknown("type", type, self.prediction_types)

    def _predict(self, target: Target, type: str) -> pd.Series | pd.DataFrame:
        if type == "score":
            return target.series(target.scores, "score")
        codes = self.fit.rule.codes(target.rows, target.scores)
        return target.classes(codes, self.design.levels, self.design.response)

    # Probabilities and intervals

    def reliability(
        self, newdata: Any = None, *, by: str = "split", bins: int = 10, level: float = 0.95, weights: Any = None
    ) -> pd.DataFrame:
        """Reliability curves: predicted probabilities beside what happened, in bins of about equal weight.

        Parameters
        ----------
        newdata : data frame, optional
            With the response. Without it: the rows of the fit, for a calibrated fit by their cross-fitted scores, so
            that no row is judged by a ranker that has seen it.
        by : {"split", "level"}
            Curves of P(response <= low) for every threshold "low|high", or of P(response = level).
        bins : int
            At most; rows of equal predictions stay together.
        level : float in (0, 1)
            Confidence level of the limits.
        weights : str or (N,) array, optional
            Case weights of `newdata`.

        Returns
        -------
        pandas.DataFrame
            Columns split (or level), bin, predicted (mean probability), observed (share), lower and upper (its Wilson
            limits) and weight, one row per curve and bin.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> curves = fit.reliability()
        >>> curves.loc[curves["split"] == "2|3", ["predicted", "observed"]].round(3).to_numpy().tolist()
        [[0.058, 0.056], [0.222, 0.278], [0.431, 0.444], [0.777, 0.722]]
        """
        from .calibration import reliability_frame

        return reliability_frame(self, newdata, by, bins, level, weights)

    def conformal(
        self,
        level: float = 0.9,
        data: Any = None,
        *,
        weights: Any = None,
        share: float = 0.3,
        seed: int | np.random.Generator = 0,
    ) -> ConformalIntervals:
        """Intervals of levels that hold the true one with probability at least `level`, by split conformal prediction.

        Intervals grow around the predicted level: by probability where the fit has any (ordinal adaptive prediction
        sets, Lu et al. 2022), else by distance of the score from the thresholds, or by votes. How far is settled on
        rows that the ranker has not seen. Coverage is guaranteed for exchangeable rows, of any distribution and however
        good the fit, on average over new rows and calibration rows; see `assess/conformal.py`.

        Parameters
        ----------
        level : float in (0, 1)
        data : data frame, optional
            Independent rows with the response, not used in the fit, to calibrate on. Without them the method is fitted
            again to a part of the rows of the fit, and calibrated on the others.
        weights : str or (N,) array, optional
            Whole-number case weights of `data`.
        share : float in (0, 1)
            Share of the rows to calibrate on, where `data` is not given.
        seed : int or numpy.random.Generator
            Seed of the split and of the second fit.

        Returns
        -------
        ConformalIntervals
            With `.predict(newdata)`, `.coverage(newdata)` and `.summary()`.

        Raises
        ------
        OptionError
            `level` or `share` outside (0, 1); weights that are not whole numbers; rows in clusters.

        Warns
        -----
        DataWarning
            Too few calibration rows for the level: every interval is the whole range.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> data = datasets.load("anes96")
        >>> fit = ordfit("PID ~ selfLR + age + educ + income", data=data[:600])
        >>> intervals = fit.conformal(0.8)
        >>> intervals.predict(data[600:601]).to_numpy().tolist()
        [['Independent-Republican', 'Strong Republican']]
        >>> intervals.coverage(data[600:]).loc["all", ["coverage", "size"]].round(3).tolist()
        [0.852, 3.77]
        """
        from .conformal import conformal_intervals

        return conformal_intervals(self, level, data, weights, share, seed)

    # Words and pictures

    @property
    def plot(self) -> Plots:
        """Pictures of the fit, by matplotlib: `fit.plot.latent()`."""
        from ..plots.accessor import Plots

        return Plots(self)

    def alerts(self) -> list[Alert]:
        """Warnings about the fit: (category, message)."""
        return alerts(self.design, self.fit)

    def report(self) -> Report:
        """The summary as data."""
        raise TypeError(f"{type(self).__name__} defines no report")

    def summary(self) -> Summary:
        """The summary: its text is str(), its tables are in `.tables`.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp", data=datasets.load("wine"))
        >>> print(str(fit.summary()).splitlines()[0])
        Cumulative link model: rating ~ temp
        """
        return Summary(self.report())

    def glance(self) -> pd.DataFrame:
        """One row of figures of the whole fit.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"), method="redsvm")
        >>> fit.glance()[["nobs", "n_levels", "absolute_error", "converged"]].to_numpy().tolist()
        [[72.0, 5, 0.6111111111111112, True]]
        """
        return pd.DataFrame(
            {
                "nobs": [self.nobs],
                "n_levels": [len(self.levels)],
                "classification_error": [self.training_errors.value("classification error")],
                "absolute_error": [self.training_errors.value("absolute error")],
                "certificate": [self.certificate.name],
                "certificate_value": [self.certificate.value],
                "iterations": [self.trace.iterations],
                "converged": [self.certificate.reached],
            }
        )

    def augment(self, data: Any = None) -> pd.DataFrame:
        """Data with columns of predictions beside them.

        Parameters
        ----------
        data : data frame, optional
            Gets the columns added, on its own index; the rows of the fit with their response alone if not given.

        Returns
        -------
        pandas.DataFrame
            `.fitted` level, `.score`, one `.prob_<level>` a level where there are probabilities, and, where the
            response is there, `.left_margin` and `.right_margin`.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> wine = datasets.load("wine")
        >>> fit = ordfit("rating ~ temp + contact", data=wine, method="redsvm")
        >>> fit.augment(wine.head(2)).columns[-4:].tolist()
        ['.fitted', '.score', '.left_margin', '.right_margin']
        """
        target = self._target(data)
        if data is None:
            frame = self.design.levels.categorical(self.design.sample.y, target.index, self.design.response).to_frame()
        else:
            frame = frames.copied(data, target.index)
        frame = self._augmented(frame, target, data)
        if self.fit.calibration is None:
            return frame
        probabilities = self._calibrated(target, "prob")
        return frame.assign(**{f".prob_{level}": probabilities[level] for level in self.levels})

    def _augmented(self, frame: pd.DataFrame, target: Target, data: Any) -> pd.DataFrame:
        frame[".fitted"] = self._predict(target, "class")
        frame[".score"] = self._predict(target, "score")
        if data is None or self.design.response in frame.columns:
            both = self._margin_frame(data)
            frame[".left_margin"], frame[".right_margin"] = both["left"], both["right"]
        return frame

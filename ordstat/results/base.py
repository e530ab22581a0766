"""What every fit can do: predict, and be judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
import pandas as pd

from .._typing import IntArray, Progress
from ..assess.bounds import MarginBounds, margin_bounds
from ..assess.errors import ErrorTable, Predictions, bootstrap_table, confusion, error_table
from ..assess.intervals import holdout_limits
from ..assess.margins import DeltaErrors, delta_errors, margins
from ..exceptions import OptionError
from ..model.calibration import Calibration
from ..model.costs import CostMatrix, sample_costs
from . import frames
from .alerts import Alert, alerts
from .evaluation import crossvalidate
from .fitted import FittedRanker
from .refit import updated
from .render import Summary
from .report import Report
from .seeds import generator
from .target import Target

if TYPE_CHECKING:
    from ..plots.accessor import Plots
    from .conformal import ConformalIntervals

#: Everything that some method predicts.
PREDICTION_TYPES = ("class", "prob", "cum_prob", "score", "linear_predictor", "mean", "margin", "votes")

_NO_NORM = (
    "No margin bounds: they need the norm of the potential and its thresholds, and a model with nominal or scale "
    "effects or an offset has none."
)


@dataclass(frozen=True, eq=False, repr=False)
class OrdinalResults(FittedRanker):
    """A fitted ranker: what it predicts, how good it is, and its summary."""

    #: Why there may be no margin bounds.
    no_bounds: ClassVar[str] = _NO_NORM

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
        """
        if type not in self.prediction_types:
            raise OptionError(self._unknown_type(type))
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

    def _unknown_type(self, type: str) -> str:
        have = ", ".join(repr(t) for t in self.prediction_types)
        if type in PREDICTION_TYPES:
            how = ""
            if type in ("prob", "cum_prob"):
                how = " Fit with calibrate=True for probabilities."
                if self.calibrated is not None:
                    how = " Its calibration was for the ranker as first fitted, and does not hold for this one."
            return f"type={type!r} is not available from {self.method!r}: it predicts {have}.{how}"
        return f"type must be one of {have}; got {type!r}."

    def _predict(self, target: Target, type: str) -> pd.Series | pd.DataFrame:
        if type == "score":
            return target.series(target.scores, "score")
        codes = self.fit.rule.codes(target.rows, target.scores)
        return target.classes(codes, self.design.levels, self.design.response)

    # Errors

    def errors(
        self,
        newdata: Any = None,
        *,
        weights: Any = None,
        cv: int | None = None,
        bootstrap: int | None = None,
        seed: int | np.random.Generator = 0,
        callback: Progress | None = None,
    ) -> pd.DataFrame:
        """Every error measure, on the rows of the fit and on rows it has not seen.

        Parameters
        ----------
        newdata : data frame, optional
            With the response: gives a column "new data".
        weights : str or (N,) array, optional
            Case weights of `newdata`; a string names its column. A Series must have its index.
        cv : int, optional
            Number of folds of a cross-validation: gives columns "cv" and "cv se".
        bootstrap : int, optional
            Number of bootstrap samples of rows (of clusters, where the fit has them) behind columns "training se"
            and "new data se".
        seed : int or numpy.random.Generator
            Of folds and bootstrap.
        callback : callable(step, total, message), optional
            Hears of every fold and bootstrap sample.

        Returns
        -------
        pandas.DataFrame
            One row per measure (`ordstat.assess.errors.error_table`); NaN where a measure has no meaning.
        """
        rng = generator(seed)
        sample = self.design.sample

        def table(predictions: Predictions, cluster: IntArray | None) -> ErrorTable:
            if bootstrap is None:
                return error_table(predictions)
            return bootstrap_table(predictions, bootstrap, rng, cluster, callback)

        columns = frames.error_columns("training", table(self.training, sample.cluster))
        if newdata is not None:
            columns |= frames.error_columns("new data", table(self._new_predictions(newdata, weights), None))
        if cv is not None:
            result = crossvalidate(self.learner, sample, cv, rng, self.probabilities_of, callback)
            columns |= frames.error_columns("cv", result.table)
        return pd.DataFrame(columns, index=list(self.training_errors.names))

    def confusion(self, newdata: Any = None, *, weights: Any = None) -> pd.DataFrame:
        """Weight of the rows of each observed level (rows) that are given each level (columns)."""
        p = self.training if newdata is None else self._new_predictions(newdata, weights)
        return frames.confusion_frame(confusion(p.y, p.codes, p.weights, p.n_levels), self.levels)

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
            Of the limits.
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
        rows that the ranker has not seen. Coverage is promised for exchangeable rows, of any distribution and however
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
            Of the rows to calibrate on, where `data` is not given.
        seed : int or numpy.random.Generator
            Of the split and of the second fit.

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

    # Margins

    def margins(self) -> pd.DataFrame:
        """Left and right margin of every row of the fit, raw and normalised.

        The left margin is H - theta_{y-1}, the right margin theta_y - H; positive on the right side of the threshold,
        infinite at the end levels. Normalised means divided by sqrt(|v|^2 + sum theta_k^2).
        """
        return self._margin_frame(None)

    def _margin_frame(self, newdata: Any) -> pd.DataFrame:
        if newdata is None:
            return frames.margin_frame(self._target(None), self.training_margins)
        target, sample = self._new_sample(newdata)
        gaps = self.gaps(sample.rows, target.scores)
        return frames.margin_frame(target, margins(gaps, sample.y, self.geometry))

    def delta_errors(self, deltas: Sequence[float] | None = None, *, normalised: bool | None = None) -> pd.DataFrame:
        """Training errors at margin Delta: E_C, E_B and E_A of Lin & Li (2006).

        Parameters
        ----------
        deltas : sequence of float >= 0, optional
            Margins; 0 and four around the median margin if not given.
        normalised : bool, optional
            Whether Delta is in units of the normalised margin; True where the potential has a norm.

        Returns
        -------
        pandas.DataFrame
            Columns classification (share of rows with a margin <= Delta to an end of their interval), boundary (mean
            of the two ends), absolute (mean number of margins <= Delta); the index is Delta.
        """
        use = self.geometry is not None if normalised is None else normalised
        if use and self.geometry is None:
            raise OptionError(f"{self.method!r} has no norm for its margins: use normalised=False.")
        return frames.delta_frame(self.delta_values(deltas, use))

    def delta_values(self, deltas: Sequence[float] | None, normalised: bool) -> DeltaErrors:
        """`delta_errors` as arrays."""
        m, sample = self.training_margins, self.design.sample
        rho = m.normalised if normalised else m.all
        chosen = frames.default_deltas(rho) if deltas is None else np.asarray(deltas, dtype=np.float64)
        if (chosen < 0).any():
            raise OptionError(f"deltas must not be negative; got {chosen.min():g}.")
        return delta_errors(rho, sample.y, sample.case_weights, chosen)

    def bounds(self, delta: float = 0.05, newdata: Any = None, *, weights: Any = None) -> pd.DataFrame:
        """Upper bounds of expected errors that hold with probability >= 1 - delta each.

        Margin bounds from the training rows (`ordstat.assess.bounds`), of the threshold rule 1 + #{k : H > theta_k};
        and, with `newdata`, limits from rows that the fit has not seen (`ordstat.assess.intervals`): those are
        tighter by far, and of what `predict` gives.

        Parameters
        ----------
        delta : float in (0, 1)
        newdata : data frame, optional
            Independent rows not used in the fit, with the response.
        weights : str or (N,) array, optional
            Whole-number case weights of `newdata`.

        Returns
        -------
        pandas.DataFrame
            Columns value, trivial (the largest value possible), vacuous (value not below trivial), observed (the
            training error at that margin, or the error of the new data), margin (Delta), confidence, source.
            `attrs["notes"]` says why a bound is missing.
        """
        if not 0.0 < delta < 1.0:
            raise OptionError(f"delta must lie strictly between 0 and 1; got {delta!r}.")
        found = self.margin_bounds if delta == 0.05 else self._bounds(delta)
        if newdata is None:
            return frames.bound_frame(found, ())
        p = self._new_predictions(newdata, weights)
        if not np.array_equal(p.weights, np.rint(p.weights)):
            raise OptionError("weights of newdata must be whole numbers of rows for a limit to hold.")
        distance = np.abs(p.y - p.codes).astype(np.float64)
        return frames.bound_frame(found, holdout_limits(distance, p.weights, p.n_levels, delta))

    @cached_property
    def margin_bounds(self) -> MarginBounds:
        """Margin bounds at confidence 0.95, as values."""
        return self._bounds(0.05)

    def _bounds(self, delta: float) -> MarginBounds:
        if self.geometry is None:
            return MarginBounds(bounds=(), notes=(self.no_bounds,))
        sample = self.design.sample
        costs = sample_costs(CostMatrix.parse(self.method.cost), sample) if self.own_cost else None
        found = margin_bounds(self.training_margins, self.geometry, sample, costs, delta)
        more = self.method.extra_bounds(sample, self.fit, self.geometry, delta)
        return MarginBounds(bounds=(*found.bounds, *more.bounds), notes=(*found.notes, *more.notes))

    @property
    def own_cost(self) -> bool:
        """Whether the fit has a cost beside the classification and absolute errors shown anyway."""
        named = CostMatrix.parse(self.method.cost).label in ("classification", "absolute")
        return self.design.sample.costs is not None or not named

    @property
    def plot(self) -> Plots:
        """Pictures of the fit, by matplotlib: `fit.plot.latent()`."""
        from ..plots.accessor import Plots

        return Plots(self)

    # Words

    def alerts(self) -> list[Alert]:
        """What the user must hear of: (warning category, message)."""
        return alerts(self.design, self.fit)

    def report(self) -> Report:
        """The summary as data."""
        raise TypeError(f"{type(self).__name__} defines no report")

    def summary(self) -> Summary:
        """The summary: its text is str(), its tables are in `.tables`."""
        return Summary(self.report())

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

"""How good a fitted ranker is: errors, margins and the bounds they give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from .._typing import FloatArray, IntArray, Progress
from ..assess.bounds import MarginBounds, margin_bounds
from ..assess.errors import ErrorTable, Predictions, bootstrap_table, confusion, error_table
from ..assess.intervals import holdout_limits
from ..assess.margins import DeltaErrors, delta_errors, margins
from ..checks import fraction, generator
from ..exceptions import OptionError
from ..model.costs import sample_costs
from . import frames
from .evaluation import crossvalidate
from .fitted import FittedRanker

_NO_NORM = (
    "No margin bounds: they need the norm of the potential and its thresholds, and a model with nominal or scale "
    "effects or an offset has none."
)


@dataclass(frozen=True, eq=False, repr=False)
class JudgedRanker(FittedRanker):
    """A fitted ranker that tells how good it is."""

    #: Why there may be no margin bounds.
    no_bounds: ClassVar[str] = _NO_NORM

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
            Seed of folds and bootstrap.
        callback : callable(step, total, message), optional
            Called after every fold and bootstrap sample.

        Returns
        -------
        pandas.DataFrame
            One row per measure (`ordstat.assess.errors.error_table`); NaN where a measure has no meaning.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> fit.errors(cv=4).loc[["classification error", "absolute error"]].round(3)
                              training     cv  cv se
        classification error     0.556  0.583  0.036
        absolute error           0.611  0.653  0.057
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
            self.check_parts()
            result = crossvalidate(self.learner, sample, cv, rng, self.probabilities_of, callback)
            columns |= frames.error_columns("cv", result.table)
        return pd.DataFrame(columns, index=list(self.training_errors.names))

    def confusion(self, newdata: Any = None, *, weights: Any = None) -> pd.DataFrame:
        """Weight of the rows of each observed level (rows) that are given each level (columns).

        Parameters
        ----------
        newdata : data frame, optional
            With the response; the rows of the fit if not given.
        weights : str or (N,) array, optional
            Case weights of `newdata`.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"), method="redsvm")
        >>> fit.confusion().loc[3].astype(int).to_dict()
        {1: 0, 2: 5, 3: 16, 4: 5, 5: 0}
        """
        p = self.training if newdata is None else self._new_predictions(newdata, weights)
        return frames.confusion_frame(confusion(p.y, p.codes, p.weights, p.n_levels), self.levels)

    # Margins

    def margins(self) -> pd.DataFrame:
        """Left and right margin of every row of the fit, raw and normalised.

        The left margin is H - theta_{y-1}, the right margin theta_y - H; positive on the right side of the threshold,
        infinite at the end levels. Normalised means divided by the size of the coefficients and the thresholds
        together: for a kernel machine sqrt(|v|^2 + sum (theta_k - b)^2), b the offset of H in feature space.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"), method="redsvm")
        >>> fit.margins().round(2).head(2)
           left  right  normalised_left  normalised_right
        0   1.0    1.0             0.23              0.23
        1  -1.0    3.0            -0.23              0.69
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

        Raises
        ------
        OptionError
            A negative margin, or normalised=True where the potential has no norm.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"), method="redsvm")
        >>> fit.delta_errors([0.0, 0.1])["classification"].round(3).to_dict()
        {0.0: 0.556, 0.1: 0.653}
        """
        use = self.geometry is not None if normalised is None else normalised
        if use and self.geometry is None:
            raise OptionError(f"{self.method!r} has no norm for its margins: use normalised=False.")
        return frames.delta_frame(self.delta_values(deltas, use))

    def delta_values(self, deltas: Sequence[float] | None, normalised: bool) -> DeltaErrors:
        """`delta_errors` as arrays.

        Parameters
        ----------
        deltas, normalised
            As there, but that units have to be given.

        Raises
        ------
        OptionError
            A negative margin.
        """
        m, sample = self.training_margins, self.design.sample
        rho = m.normalised if normalised else m.all
        chosen = frames.default_deltas(rho) if deltas is None else _settled_deltas(deltas)
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

        Raises
        ------
        OptionError
            `delta` outside (0, 1), or weights that are not whole numbers.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"), method="redsvm")
        >>> bounds = fit.bounds()
        >>> bounds.loc["absolute error", ["value", "trivial"]].astype(float).round(1).tolist()
        [8.3, 4.0]
        """
        fraction("delta", delta)
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
        costs = sample_costs(self.method.cost_matrix, sample) if self.own_cost else None
        found = margin_bounds(self.training_margins, self.geometry, sample, costs, delta)
        more = self.method.extra_bounds(sample, self.fit, self.geometry, delta)
        return MarginBounds(bounds=(*found.bounds, *more.bounds), notes=(*found.notes, *more.notes))

    @property
    def own_cost(self) -> bool:
        """Whether the fit has a cost beside the classification and absolute errors shown anyway."""
        named = self.method.cost_matrix.label in ("classification", "absolute")
        return self.design.sample.costs is not None or not named


def _settled_deltas(deltas: Any) -> FloatArray:
    """Margins as an array; OptionError for anything but numbers of 0 or more."""
    try:
        found = np.atleast_1d(np.asarray(deltas, dtype=np.float64))
    except (TypeError, ValueError):
        found = np.full(1, np.nan)
    if found.ndim != 1 or not (found >= 0.0).all():
        raise OptionError(f"deltas must be margins, a number or several of 0 or more; got {deltas!r}.")
    return found

"""Margins of the rows of a fit, the errors at a margin, and the bounds that margins and new rows give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from .._typing import FloatArray
from ..assess.margins import DeltaErrors, delta_errors
from ..checks import fraction
from ..exceptions import OptionError
from . import frames
from .fitted import FittedRanker
from .limits import fold_limits, new_limits


def row_margins(fit: FittedRanker) -> pd.DataFrame:
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
    return fit.margin_frame(None)


def errors_at_margin(
    fit: FittedRanker, deltas: Sequence[float] | None = None, *, normalised: bool | None = None
) -> pd.DataFrame:
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
    use = fit.geometry is not None if normalised is None else normalised
    if use and fit.geometry is None:
        raise OptionError(f"{fit.method!r} has no norm for its margins: use normalised=False.")
    return frames.delta_frame(margin_errors(fit, deltas, use))


def margin_errors(fit: FittedRanker, deltas: Sequence[float] | None, normalised: bool) -> DeltaErrors:
    """`errors_at_margin` as arrays.

    Parameters
    ----------
    deltas, normalised
        As there, but that units have to be given.

    Raises
    ------
    OptionError
        A negative margin.
    """
    m, sample = fit.training_margins, fit.design.sample
    rho = m.normalised if normalised else m.all
    chosen = frames.default_deltas(rho) if deltas is None else _settled_deltas(deltas)
    return delta_errors(rho, sample.y, sample.case_weights, chosen)


def _settled_deltas(deltas: Any) -> FloatArray:
    """Margins as an array; OptionError for anything but numbers of 0 or more."""
    try:
        found = np.atleast_1d(np.asarray(deltas, dtype=np.float64))
    except (TypeError, ValueError):
        found = np.full(1, np.nan)
    if found.ndim != 1 or not (found >= 0.0).all():
        raise OptionError(f"deltas must be margins, a number or several of 0 or more; got {deltas!r}.")
    return found


def error_bounds(
    fit: FittedRanker,
    newdata: Any = None,
    *,
    delta: float = 0.05,
    weights: Any = None,
    cv: int | None = None,
    seed: int | np.random.Generator = 0,
) -> pd.DataFrame:
    """Upper bounds of expected errors; each holds with probability 1 - delta over the draw of the rows.

    From the training rows alone, of the threshold rule 1 + #{k : H > theta_k}: the smaller of the bound of the
    method's paper (`ordstat.assess.bounds`) and the PAC-Bayes margin bound (`ordstat.assess.pac_bayes`). From rows that
    a fit has not seen, of what `predict` gives, and tighter by far: `newdata`, or the folds of a cross-validation.

    Parameters
    ----------
    newdata : data frame, optional
        Independent rows not used in the fit, with the response.
    delta : float in (0, 1)
        Chance that a bound fails, each by itself.
    weights : str or (N,) array, optional
        Whole-number case weights of `newdata`.
    cv : int, optional
        Number of folds: bounds of the mean error of the fits to all rows but a fold, each of them judged by its own
        fold at delta / cv. The fit to all rows is expected to be no worse, which is not proven.
    seed : int or numpy.random.Generator
        Seed of the folds.

    Returns
    -------
    pandas.DataFrame
        Columns value, trivial (the largest value possible), vacuous (value not below trivial), observed (the error of
        the new or held-out rows; of a margin bound the training error at that margin), margin (Delta, in normalised
        units), delta, source. `attrs["notes"]` says why a bound is missing.

    Raises
    ------
    OptionError
        `delta` outside (0, 1), weights that are not whole numbers, or `cv` with rows that are not independent.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", datasets.load("wine"), "redsvm", C="bound")
    >>> fit.bounds(cv=4)[["value", "trivial", "vacuous"]].round(2)  # doctest: +NORMALIZE_WHITESPACE
                                      value  trivial  vacuous
    error
    classification error               1.98      1.0     True
    absolute error                     3.77      4.0    False
    classification error (4-fold cv)   0.89      1.0    False
    absolute error (4-fold cv)         2.43      4.0    False
    """
    fraction("delta", delta)
    if isinstance(newdata, (int, float)):
        raise OptionError(f"newdata must be a data frame; got {newdata!r}. For a chance of failure write delta=.")
    found = fit.margin_bounds if delta == 0.05 else fit.margin_bounds_at(delta)
    limits = {} if newdata is None else {"new data": new_limits(fit, newdata, weights, delta)}
    if cv is not None:
        limits[f"{cv}-fold cv"] = fold_limits(fit, cv, delta, seed)
    return frames.bound_frame(found, limits)

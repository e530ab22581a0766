"""Fit a model to imputed data sets and pool the fits: `ordfit_mi`."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import pandas as pd

from ..api import ordfit
from ..checks import whole
from ..exceptions import DataError, DataWarning, OptionError, warn
from .pooling import PooledResults, pool, require_likelihood

if TYPE_CHECKING:
    from ..method import Method

#: Imputations and skipped cycles of a sampler, as in statsmodels' MICE.
_IMPUTATIONS, _BURNIN, _SKIP = 20, 10, 3
#: Share of values that imputations of the same rows have in common.
_ALIKE = 0.5


def ordfit_mi(
    formula: str,
    frames: Any,
    method: str | Method = "clm",
    *,
    dfcom: float | None = None,
    n_imputations: int | None = None,
    n_burnin: int | None = None,
    n_skip: int | None = None,
    **options: Any,
) -> PooledResults:
    """Fit an ordinal model to each of several imputed data sets, and pool the fits by Rubin's rules.

    Parameters
    ----------
    formula : str
        As in `ordfit`.
    frames : list of data frames, or statsmodels.imputation.mice.MICEData
        Imputed frames, each complete; or the sampler that draws them, whose columns are numbers (levels 1, 2, ...). The
        sampler is copied first, so that another call draws the same frames (statsmodels 0.15 or newer).
    method : str or Method
        A likelihood method: "clm", "acat", or a link.
    dfcom : float, optional
        Degrees of freedom of complete data; see `pool`.
    n_imputations, n_burnin, n_skip : int, optional
        Of MICEData: frames to draw (20), cycles before the first (10), and between two of them (3), as in statsmodels'
        MICE.
    **options
        Of `ordfit`: nominal, scale, weights, cluster, vcov, levels, link, ...

    Returns
    -------
    PooledResults
        See `pool`; the single fits are in `.fits`.

    Raises
    ------
    OptionError
        A method without standard errors, fewer than 2 frames, options of a sampler with frames.
    DataError
        A frame that cannot be fitted (its place is named), or infinite estimates.

    Warns
    -----
    As `ordfit`, once for all frames that give the same warning.

    Examples
    --------
    >>> import numpy as np
    >>> from ordstat import datasets, ordfit_mi
    >>> wine, rng = datasets.load("wine"), np.random.default_rng(1)
    >>> drawn = [rng.choice(["no", "yes"], 72) for _ in range(5)]  # stand in for imputations where contact is missing
    >>> frames = [wine.assign(contact=wine["contact"].where(wine.index % 5 > 0, values)) for values in drawn]
    >>> ordfit_mi("rating ~ temp + contact", frames, method="probit").params.round(2)["contact[T.yes]"]
    np.float64(0.86)
    """
    if "data" in options:
        raise OptionError("data must be left out of ordfit_mi: the imputed data sets are its second argument, frames.")
    sampling = {"n_imputations": n_imputations, "n_burnin": n_burnin, "n_skip": n_skip}
    drawn = _drawn(frames, **sampling) if hasattr(frames, "next_sample") else _given(frames, sampling)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fits = list(_fits(formula, drawn, method, options))
    _warn_once(caught, len(fits))
    return pool(fits, dfcom)


def _given(frames: Any, sampling: dict[str, int | None]) -> list[Any]:
    """The frames of a list."""
    if isinstance(frames, (str, dict, pd.DataFrame)) or not isinstance(frames, Iterable):
        raise OptionError(
            f"frames must be a list of imputed data frames, or statsmodels' MICEData; got {type(frames).__name__}. "
            "Take stacked data sets apart by the column that numbers them: [part for _, part in data.groupby('.imp')]."
        )
    if odd := [name for name, value in sampling.items() if value is not None]:
        raise OptionError(f"{odd[0]} goes with MICEData, which draws the frames; frames is a list. Leave it out.")
    listed = list(frames)
    if len(listed) < 2:
        raise OptionError(f"frames must hold at least 2 imputed data frames; got {len(listed)}.")
    _check_alike(listed)
    return listed


def _check_alike(frames: list[Any]) -> None:
    """DataError where imputed frames are not of the same rows; DataWarning where nothing differs between them."""
    known = [frame for frame in frames if isinstance(frame, pd.DataFrame)]
    for place, frame in enumerate(known):
        if len(frame) != len(known[0]):
            raise DataError(
                f"frames must have the same rows, missing values filled in; frame 1 has {len(known[0])} rows, frame "
                f"{place + 1} has {len(frame)}. Choose rows with subset= after imputing."
            )
        if frame.shape != known[0].shape:
            continue
        one, other = frame.to_numpy(dtype=object), known[0].to_numpy(dtype=object)
        if ((one == other) | (pd.isna(one) & pd.isna(other))).mean() < _ALIKE:
            raise DataError(
                f"frames must be imputations of the same rows; most values of frame {place + 1} differ from those of "
                "frame 1. Put the rows of all frames into one order."
            )
    if known and len(known) == len(frames) and all(frame.equals(known[0]) for frame in known[1:]):
        warn(
            "all frames are equal, so that pooled standard errors tell nothing of missing values: give frames that "
            "were imputed with different random numbers.",
            DataWarning,
        )


def _drawn(sampler: Any, n_imputations: int | None, n_burnin: int | None, n_skip: int | None) -> Iterator[pd.DataFrame]:
    """Frames of a copy of statsmodels' MICEData: every cycle imputes each variable once."""
    m = whole("n_imputations", _IMPUTATIONS if n_imputations is None else n_imputations, 2)
    burnin = whole("n_burnin", _BURNIN if n_burnin is None else n_burnin, 0)
    skip = whole("n_skip", _SKIP if n_skip is None else n_skip, 0)
    chain = copy.deepcopy(sampler)
    for draw in range(m):
        chain.update_all((burnin if draw == 0 else skip) + 1)
        yield chain.data.copy()


def _fits(formula: str, frames: Iterable[Any], method: Any, options: dict[str, Any]) -> Iterator[Any]:
    for place, frame in enumerate(frames):
        try:
            fit = ordfit(formula, frame, method, **options)
        except DataError as error:
            raise DataError(f"frame {place + 1} of frames: {error}") from error
        require_likelihood(fit, f"the fit by method {method!r}")
        yield fit


def _warn_once(caught: list[warnings.WarningMessage], n: int) -> None:
    """Each different warning with the number of frames that gave it, at the line of the caller of `ordfit_mi`."""
    counts: dict[tuple[type[Warning], str], int] = {}
    for one in caught:
        key = (one.category, str(one.message))
        counts[key] = counts.get(key, 0) + 1
    for (category, message), times in counts.items():
        warn(f"{message} (in {times} of {n} imputed frames)", category)

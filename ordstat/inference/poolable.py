"""Which fits can be pooled: likelihood fits of one model to the same rows, with
finite estimates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..checks import shown_labels
from ..exceptions import DataError, OptionError
from ..likelihood.remedies import DROP_COLUMN, MERGE, as_sentence, remedies
from ..likelihood.results import LikelihoodResults
from .comparison import described

if TYPE_CHECKING:
    from ..formula.design import Design


def poolable(fits: Any) -> tuple[LikelihoodResults, ...]:
    """The fits as a tuple, checked to be two or more likelihood fits of one model with
    finite estimates.
    """
    if not isinstance(fits, (list, tuple)) and not isinstance(fits, Iterator):
        raise OptionError(
            "fits must be a list of fits, one for each imputed frame; got a"
            f" {type(fits).__name__}."
        )
    given = tuple(fits)
    for k, fit in enumerate(given, start=1):
        _require_likelihood(fit, f"fit {k} of {len(given)}")
    if len(given) < 2:
        raise OptionError(
            "fits must be at least 2 fits, one for each imputed frame, because the"
            " spread of the estimates over imputations is part of their standard"
            f" errors; got {len(given)}."
        )
    _refuse_smooths(given)
    if any(fit.design.sample.stepped is not None for fit in given):
        raise OptionError(
            "fits must have standard errors, which those with mono() lack: write x in"
            " place of mono(x)."
        )
    _require_one_model(given)
    _require_same_rows(given)
    _require_finite(given)
    return given


def _require_likelihood(fit: Any, which: str) -> None:
    """Raise OptionError unless `fit` is a likelihood fit."""
    if not isinstance(fit, LikelihoodResults):
        raise OptionError(
            "fits must be likelihood fits ('clm', 'acat', 'cratio', ...), because"
            f" Rubin's rules need standard errors; {which} is of type"
            f" {type(fit).__name__}. Average the predictions of other fits."
        )


#: What must be the same in all fits: its name, its value in a fit, and what to do
#: otherwise.
_COMMON: tuple[tuple[str, Callable[[LikelihoodResults], Any], str], ...] = (
    (
        "model",
        lambda fit: "".join(described(fit).split()),
        "Pool fits of one formula and method only.",
    ),
    ("method", lambda fit: fit.method, "Pool fits of one method only."),
    (
        "levels of the response",
        lambda fit: fit.levels,
        (
            "Without levels= a level that no row has is left out of a fit: give all"
            " fits the same levels=[...], or merge rare levels before imputing."
        ),
    ),
    ("covariance", lambda fit: fit.covariance, "Use the same vcov for all."),
    (
        "weights",
        lambda fit: "none" if fit.design.sample.weights is None else "weights",
        "Fit all of them with weights=, or none.",
    ),
)


def _estimated_places(fit: LikelihoodResults) -> dict[str, int]:
    """Positions of the estimated parameters, by name."""
    return {
        fit.parameters.names[position]: int(position)
        for position in np.flatnonzero(~fit.fit.aliased)
    }


def _refuse_smooths(fits: tuple[LikelihoodResults, ...]) -> None:
    """Raise OptionError for smooth terms, whose columns differ from frame to frame."""
    if any(fit.design.smooths for fit in fits):
        raise OptionError(
            "fits must have no smooth terms, whose coefficients have another meaning in"
            " every frame: write ns(x, knots=[...], boundary_knots=[...]) in place of"
            " s(x), and x in place of smooth(x)."
        )


def _few(value: Any) -> str:
    """A value as Python writes it; of many levels the first ones."""
    return f"({shown_labels(value)})" if isinstance(value, tuple) else repr(value)


def _require_one_model(fits: tuple[LikelihoodResults, ...]) -> None:
    """Raise OptionError unless all fits are of one model, with the same parameters."""
    names = _estimated_places(fits[0]).keys()
    for k, fit in enumerate(fits, start=1):
        for what, get, remedy in _COMMON:
            if get(fit) != get(fits[0]):
                shown = described if what == "model" else get
                raise OptionError(
                    f"fits must have the same {what}: fit 1 has {_few(shown(fits[0]))},"
                    f" fit {k} has {_few(shown(fit))}. {remedy}"
                )
        if odd := sorted(_estimated_places(fit).keys() ^ names):
            holder, other = (1, k) if odd[0] in names else (k, 1)
            raise OptionError(
                f"fits must estimate the same parameters; {odd[0]!r} is estimated in"
                f" fit {holder} but not in fit {other}. Give categorical columns the"
                " same categories in every frame, and drop columns that other columns"
                " determine in some frames."
            )


#: Share of the differences expected by chance above which responses belong to
#: different rows. An imputed response differs in the imputed rows only.
_MOST_IMPUTED = 0.5


def _require_same_rows(fits: tuple[LikelihoodResults, ...]) -> None:
    """Raise DataError unless all fits have the same rows, responses and weights.

    A response that differs in some rows counts as imputed; the summary says so. Of rows
    in blocks the numbers of rows and sums of weights are compared.
    """
    first = fits[0]
    a = first.design
    for k, fit in enumerate(fits[1:], start=2):
        b = fit.design
        if first.n_rows != fit.n_rows:
            raise DataError(
                f"pool needs fits to the same rows; fit 1 has {first.n_rows} rows, fit"
                f" {k} has {fit.n_rows}. Leave out the incomplete data (.imp == 0 of"
                " R's mice), and fit all imputed frames to the same rows."
            )
        in_memory = first.in_memory and fit.in_memory
        if first.nobs != fit.nobs or (
            in_memory
            and not np.array_equal(a.sample.case_weights, b.sample.case_weights)
        ):
            raise DataError(
                f"pool needs fits with the same weights; those of fit 1 and fit {k}"
                " differ. Fit all imputed frames with the weights of one of them."
            )
        if not in_memory:
            continue
        if not _same_labels(a, b):
            raise DataError(
                f"pool needs fits to the same rows; fit 1 and fit {k} have {a.sample.n}"
                " rows each, but with other index labels. Give all frames the same"
                " rows in the same order, with the same index."
            )
        differs = a.sample.y != b.sample.y
        shares = [
            np.bincount(y, minlength=len(fit.levels)) / y.size
            for y in (a.sample.y, b.sample.y)
        ]
        by_chance = 1.0 - float(shares[0] @ shares[1])
        if differs.mean() > _MOST_IMPUTED * by_chance:
            raise DataError(
                f"pool needs fits to the same rows; the responses of fit 1 and fit {k}"
                f" differ in {int(differs.sum())} of {a.sample.n} rows. Give all frames"
                " the same rows in the same order."
            )


def _same_labels(a: Design, b: Design) -> bool:
    """Whether two designs have rows of the same labels, or are parts of one stacked
    frame.

    The labels of a stacked frame go on from one part to the next, so that no part
    shares one with another. The places of the rows in their parts are then compared.
    """
    if a.index.equals(b.index):
        return True
    if a.index.isin(b.index).any():
        return False
    if not all(_placed(design) for design in (a, b)):
        return True
    first, second = (design.data.index.get_indexer(design.index) for design in (a, b))
    if a.data is b.data:  # parts chosen by subset=
        return np.array_equal(first - first[0], second - second[0])
    return a.n_given == b.n_given and np.array_equal(first, second)


def _placed(design: Design) -> bool:
    """Whether the data are there and their labels tell the places of the rows."""
    return isinstance(design.data, pd.DataFrame) and design.data.index.is_unique


def _require_finite(fits: tuple[LikelihoodResults, ...]) -> None:
    """Raise DataError for estimates that are infinite or without standard errors."""
    for k, fit in enumerate(fits, start=1):
        unknown = ~np.isfinite(fit.se.to_numpy()) & ~fit.fit.aliased
        unknown |= fit.fit.infinite
        if unknown.any():
            names = ", ".join(
                repr(name)
                for name in np.array(fit.parameters.names, dtype=object)[unknown][:4]
            )
            ways = remedies(fit, MERGE, DROP_COLUMN, fit="fit all frames")
            raise DataError(
                "pooling needs finite estimates with standard errors; fit "
                f"{k} of {len(fits)} lacks them for {names}{_why_lacking(fit)}."
                f" {as_sentence(ways)}"
            )


def _why_lacking(fit: LikelihoodResults) -> str:
    """Why estimates have no standard error, if the likelihood is why."""
    if fit.fit.separation is not None:
        return ", as its response is separated"
    if fit.fit.diverging.any():
        return ", as its likelihood has no maximum"
    return ""

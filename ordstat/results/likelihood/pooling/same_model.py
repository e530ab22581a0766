"""What fits have to have in common to be pooled."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ....exceptions import DataError, OptionError
from ..comparison import described
from ..fitted import FittedLikelihood

_MORE_THAN_ONE = "the spread of the estimates over imputations is part of their standard errors"
#: Letters of a repr in a message.
_LONGEST = 200


def likelihood_fits(fits: Any) -> tuple[FittedLikelihood, ...]:
    """The fits, where they are two or more likelihood fits of one model with finite estimates."""
    if not isinstance(fits, Iterable) or isinstance(fits, (str, dict)):
        raise OptionError(f"fits must be a list of fits, one for each imputed frame; got {in_words(fits)}.")
    given = tuple(fits)
    for place, fit in enumerate(given):
        require_likelihood(fit, f"fit {place + 1} of {len(given)}")
    if len(given) < 2:
        raise OptionError(
            f"fits must be at least 2 fits, one for each imputed frame: {_MORE_THAN_ONE}; got {len(given)}."
        )
    for require in (_require_one_model, _require_one_set_of_parameters, _require_finite):
        require(given)
    return given


def in_words(given: Any) -> str:
    """What was given, in one line."""
    text = repr(given)
    return text if "\n" not in text and len(text) <= _LONGEST else f"a {type(given).__name__}"


def require_likelihood(fit: Any, which: str) -> None:
    """OptionError unless it is a likelihood fit."""
    if not isinstance(fit, FittedLikelihood):
        raise OptionError(
            f"Rubin's rules pool estimates by their standard errors, which likelihood fits have ('clm', 'acat', "
            f"'probit', ...); {which} is {in_words(fit)}. Average the predictions of other methods over their fits."
        )
    if fit.fit.marginal is not None:
        raise OptionError(f"{which} has random effects, and pooling of these is not available: pool() takes others.")


#: What has to be the same, in words, and how to make it so.
_COMMON: tuple[tuple[str, Callable[[FittedLikelihood], Any], str], ...] = (
    ("model", lambda fit: "".join(described(fit).split()), "Pool fits of one formula and method only."),
    ("method", lambda fit: fit.method, "Pool fits of one method only."),
    (
        "levels of the response",
        lambda fit: fit.levels,
        "A level without rows is left out of a fit: merge rare levels before imputing, or give all fits the same "
        "levels=[...].",
    ),
    ("covariance", lambda fit: fit.covariance, "Take the same vcov for all."),
    (
        "weights",
        lambda fit: "none" if fit.design.sample.weights is None else "weights",
        "Fit all of them with weights=, or none.",
    ),
)


def _require_one_model(fits: tuple[FittedLikelihood, ...]) -> None:
    for name, of, remedy in _COMMON:
        for place, fit in enumerate(fits):
            if of(fit) != of(fits[0]):
                shown = [described(one) if name == "model" else of(one) for one in (fits[0], fit)]
                raise OptionError(
                    f"fits must have the same {name}: fit 1 has {shown[0]!r}, fit {place + 1} has {shown[1]!r}. "
                    f"{remedy}"
                )


def _require_one_set_of_parameters(fits: tuple[FittedLikelihood, ...]) -> None:
    """The same names, and the same of them estimated."""
    first = _estimated(fits[0])
    for place, fit in enumerate(fits):
        own = _estimated(fit)
        if own != first:
            odd = sorted(set(own) ^ set(first)) or own
            holder = place + 1 if odd[0] in own else 1
            raise OptionError(
                f"fits must estimate the same parameters: {odd[0]!r} is estimated in fit {holder}, and not in fit "
                f"{1 if holder > 1 else place + 1}. Give categorical columns the same categories in every frame, and "
                "drop columns that others determine in some of them."
            )


def _estimated(fit: FittedLikelihood) -> list[str]:
    return [name for name, aliased in zip(fit.parameters.names, fit.fit.aliased, strict=True) if not aliased]


def _require_finite(fits: tuple[FittedLikelihood, ...]) -> None:
    """Separated fits have no finite estimates to average, and some have no standard errors."""
    for place, fit in enumerate(fits):
        unknown = ~np.isfinite(fit.se.to_numpy()) & ~fit.fit.aliased
        unknown |= fit.fit.infinite
        if unknown.any():
            names = ", ".join(repr(name) for name in np.array(fit.parameters.names, dtype=object)[unknown][:4])
            raise DataError(
                f"pooling needs finite estimates with standard errors; fit {place + 1} of {len(fits)} has none of "
                f"{names}. Where its response is separated, fit all frames with penalty='jeffreys' or penalty=1.0, "
                "merge levels, or drop the column."
            )

"""A fit made in rounds, as it was after some of them or is after more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeVar, cast

import numpy as np

from ...checks import is_whole, whole
from ...exceptions import OptionError
from ...model.fit import Fit
from ...model.sample import Sample
from ..fitted import FittedRanker
from ..predictions import prediction

R = TypeVar("R", bound=FittedRanker)


class StagedFit(Protocol):
    """A fit made in rounds."""

    @property
    def stages(self) -> range:
        """After how many rounds it can be asked."""


class RoundsMethod(Protocol):
    """A method that fits in rounds, as results see it."""

    def more(self, sample: Sample, fit: Any, rounds: int) -> Fit:
        """The fit with further rounds."""

    def truncated(self, sample: Sample, fit: Any, rounds: int) -> Fit:
        """The fit after some of its rounds."""


def after_rounds(fit: R, rounds: int) -> R:
    """The results as they were after some of the rounds."""
    found = cast(RoundsMethod, fit.method).truncated(fit.design.sample, fit.fit, rounds)
    return _of_rounds(fit, found, rounds)


def with_more_rounds(fit: R, rounds: int) -> R:
    """The results with further rounds: those of a fit of as many rounds at once."""
    more = cast(RoundsMethod, fit.method).more(fit.design.sample, fit.fit, rounds)
    return _of_rounds(fit, more, cast(StagedFit, more).stages[-1])


def _of_rounds(fit: R, found: Fit, rounds: int) -> R:
    """Another fit, its method having as many rounds: so have folds, splits and updates, which are fitted again."""
    method: Any = fit.method
    if rounds > 0 and hasattr(method, "rounds"):
        method = replace(method, rounds=int(rounds))
    calibrated: Any = None if fit.calibrated is None else replace(cast(Any, fit.calibrated), method=method)
    return replace(fit, fit=found, method=method, calibrated=calibrated)


def staged_predictions(
    fit: FittedRanker, newdata: Any = None, type: str = "class", *, every: int = 1
) -> Iterator[tuple[int, Any]]:
    """Predictions after every round, as (round, what `predict` gives)."""
    for t in stages(fit, every):
        yield t, prediction(after_rounds(fit, t), newdata, type)


def stages(fit: FittedRanker, every: int, rounds: Sequence[int] | None = None) -> list[int]:
    """The rounds asked for, growing: these, or every so many and the last."""
    first, last = (cast(StagedFit, fit.fit).stages[place] for place in (0, -1))
    if rounds is not None:
        return _among(rounds, first, last)
    whole("every", every, 1)
    return sorted({*range(every, last + 1, every), last})


def _among(rounds: Sequence[int], first: int, last: int) -> list[int]:
    several = not isinstance(rounds, str) and np.ndim(rounds) == 1 and len(rounds) > 0
    if not several or not all(is_whole(t) and first <= t <= last for t in rounds):
        raise OptionError(f"rounds must be whole numbers from {first} to {last}, the rounds made; got {rounds!r}.")
    return sorted({int(t) for t in rounds})

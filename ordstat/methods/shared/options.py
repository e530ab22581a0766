"""Checks of options that many methods share: each names the option, what it must be, and what came."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...exceptions import OptionError
from ..base import Method

#: What the summary says of a scaling.
SCALED = {"range": "each to [-1, 1]", "standard": "each to mean 0, deviation 1", None: "no"}


def number(method: Method, name: str, value: Any, *, below: float = np.inf, also: str = "") -> float:
    """The value as a float; OptionError where it is no number between 0 and `below`, `also` naming what else may be."""
    ok = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if not ok or not 0.0 < value < below:
        bound = "a positive, finite number" if np.isinf(below) else f"a number between 0 and {below:g}"
        raise OptionError(f"{name} of {type(method).__name__} must be {bound}{also}; got {value!r}.")
    return float(value)


def count(method: Method, name: str, value: Any, least: int) -> int:
    """The value as an int; OptionError where it is no integer of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise OptionError(f"{name} of {type(method).__name__} must be an integer of {least} or more; got {value!r}.")
    return int(value)


def one_of(method: Method, name: str, value: Any, allowed: Any) -> None:
    """OptionError, listing them, where the value is not among the allowed strings (or None)."""
    if not isinstance(value, (str, type(None))) or value not in allowed:
        names = ", ".join(repr(a) for a in allowed)
        raise OptionError(f"{name} of {type(method).__name__} must be one of {names}; got {value!r}.")


def jobs(method: Method, value: Any) -> int:
    """The value as a number of jobs; OptionError where it is none."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value == 0:
        raise OptionError(
            f"n_jobs of {type(method).__name__} must be an integer other than 0 (-1 for all processors); got {value!r}."
        )
    return int(value)

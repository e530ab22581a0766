"""Errors and warnings of ordstat.

Every message names the argument, column or row, what was expected, what was given, and
what to do next.
"""

from __future__ import annotations

import sys
import warnings

from ._typing import FloatArray


class OrdstatError(Exception):
    """Base of all errors raised by ordstat."""


class FormulaError(OrdstatError, ValueError):
    """A formula that cannot be parsed, or that asks for something not allowed."""


class DataError(OrdstatError, ValueError):
    """A column, row or level of the data does not suit the request."""


class SeparatedError(DataError):
    """Estimates are infinite (separation), with so many levels that there is no
    limiting model.

    Attributes
    ----------
    moves : (p,)
        Direction in which the effects go to infinity; 0 for effects that can stay
        finite.
    nominal : bool
        Whether the columns are those of nominal effects, for which the search for
        finite estimates does not settle, rather than of location effects.
    """

    def __init__(self, moves: FloatArray, nominal: bool = False) -> None:
        super().__init__("The response is separated.")
        self.moves = moves
        self.nominal = nominal


class OptionError(OrdstatError, ValueError):
    """An unknown method or option, or a value outside its range."""


class UnavailableError(OptionError, AttributeError):
    """An attribute that this fit does not have; `hasattr` returns False."""


class OrdstatWarning(UserWarning):
    """Base of all warnings issued by ordstat."""


class ConvergenceWarning(OrdstatWarning):
    """A solver stopped before it met its convergence tolerance."""


class SeparationWarning(OrdstatWarning):
    """Some coefficients have no finite maximum likelihood estimate."""


class DataWarning(OrdstatWarning):
    """Rows, columns or levels were left out, or something in the data needs a check."""


class ExtrapolationWarning(OrdstatWarning):
    """New rows have values far outside the range of the rows of the fit."""


def warn(message: str, category: type[Warning] = DataWarning) -> None:
    """Warn at the line that called the package, from any depth inside it."""
    package = __name__.partition(".")[0]
    level = 1
    frame = sys._getframe(0)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(
        "."
    )[0] in (package, "sklearn"):
        frame = frame.f_back
        level = level + 1
    warnings.warn(message, category, stacklevel=level)

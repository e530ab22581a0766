"""Linear hypotheses written as text, such as "temp = contact, 2 * x1 + x2 = 1", and their Wald tests."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from ..._typing import FloatArray
from ...assess.likelihood.wald import quadratic_form, wald_test
from ...exceptions import OptionError
from .comparison import chi2_tail
from .fitted import FittedLikelihood
from .parameters import check_determined

_NUMBER = re.compile(r"(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_WORD = re.compile(r"[\w.|\[\]:]+")
JOINT = "joint"


def hypothesis_tests(r: FittedLikelihood, hypotheses: str, *, vcov: Any = None) -> pd.DataFrame:
    """Wald tests of linear hypotheses on the parameters.

    Parameters
    ----------
    hypotheses : str
        Equations between commas: "temp = contact", "temp[T.warm] = 0, contact[T.yes] = 1.5", "2 * x1 - x2 = 1".
        Parameters by name, or by their term where it has one column.
    vcov : str or dict, optional
        As in `vcov`.

    Returns
    -------
    pandas.DataFrame
        One row an equation, and "joint" where there are several: difference (left less right side), std_error,
        df, chisq, p_value.

    Raises
    ------
    OptionError
        An equation that cannot be read, or is not linear.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
    >>> fit.test("temp = contact").round(4).loc["temp = contact"].tolist()
    [0.9753, 0.6406, 1.0, 2.3178, 0.1279]
    """
    names = _names(r)
    equations = _split(hypotheses, names)
    rows = [_Reader(equation, names, r.fit.coefficients.size).equation() for equation in equations]
    L, target = np.array([row for row, _ in rows]), np.array([value for _, value in rows])
    estimated = ~r.fit.aliased
    for equation, row in zip(equations, L, strict=True):
        check_determined(np.flatnonzero(row), r.fit, r.parameters, f"test of {equation.strip()!r}")
        if np.any(row[~estimated] != 0.0):
            raise OptionError(f"{equation.strip()!r} names a parameter that is aliased, so not estimated.")
        if not np.any(row):
            raise OptionError(f"{equation.strip()!r} does not depend on any parameter.")
    covariance = r.vcov(vcov).to_numpy()
    L = L[:, estimated]
    difference = L @ r.fit.coefficients[estimated] - target
    tests = [wald_test(L[i : i + 1], difference[i : i + 1], covariance) for i in range(len(L))]
    index = [equation.strip() for equation in equations]
    errors = np.sqrt([quadratic_form(row[None], covariance)[0, 0] for row in L])
    if len(L) > 1:
        tests.append(wald_test(L, difference, covariance))
        index.append(JOINT)
        difference, errors = np.append(difference, np.nan), np.append(errors, np.nan)
    chisq, df = np.array([test[0] for test in tests]), np.array([test[1] for test in tests])
    return pd.DataFrame(
        {"difference": difference, "std_error": errors, "df": df, "chisq": chisq, "p_value": chi2_tail(chisq, df)},
        index=index,
    )


def _names(r: FittedLikelihood) -> dict[str, int]:
    """Places of the parameters by name, and of single-column terms by theirs."""
    names = {name: place for place, name in enumerate(r.parameters.names)}
    location = r.parameters.of("location")
    for term, columns in r.design.terms.items():
        if columns.stop - columns.start == 1:
            names.setdefault(term, int(location[columns.start]))
    return names


def _split(text: str, names: Mapping[str, int]) -> list[str]:
    """Equations between commas or line ends; commas inside parameter names do not count."""
    if not isinstance(text, str) or not text.strip():
        raise OptionError(f"test takes a text such as 'x1 = x2, x3 = 0'; got {text!r}.")
    pieces, start, place = [], 0, 0
    while place < len(text):
        name = _name_at(text, place, names)
        if name is not None:
            place += len(name)
            continue
        if text[place] in ",\n":
            pieces.append(text[start:place])
            start = place + 1
        place += 1
    pieces.append(text[start:])
    return [piece for piece in pieces if piece.strip()]


def _name_at(text: str, place: int, names: Mapping[str, int]) -> str | None:
    """The longest parameter name that starts here and is not part of a longer word."""
    if place and (text[place - 1].isalnum() or text[place - 1] == "_"):
        return None
    fitting = [name for name in names if text.startswith(name, place) and _ends(text, place + len(name), name)]
    return max(fitting, key=len) if fitting else None


def _ends(text: str, end: int, name: str) -> bool:
    following = text[end : end + 1]
    return not (name[-1].isalnum() or name[-1] == "_") or not (following.isalnum() or following in ("_", "[", "|", "."))


@dataclass(eq=False)
class _Reader:
    """Reads one equation: sums of products of numbers and at most one parameter each, on both sides of "="."""

    text: str
    names: Mapping[str, int]
    size: int
    place: int = field(default=0)

    def equation(self) -> tuple[FloatArray, float]:
        """Coefficients and right-hand side of row b = value."""
        left = self._sum()
        if not self._take("="):
            raise self._error("'='")
        difference = left - self._sum()
        if self._next():
            raise self._error("the end of the equation")
        return difference[:-1], -float(difference[-1])

    def _sum(self) -> FloatArray:
        sign: Any = "-" if self._take("-") else "+"
        total = self._product() * (1.0 if sign == "+" else -1.0)
        while sign := self._take("+", "-"):
            total = total + self._product() * (1.0 if sign == "+" else -1.0)
        return total

    def _product(self) -> FloatArray:
        total = self._factor()
        while operator := self._take("*", "/"):
            other = self._factor()
            if operator == "/":
                total = total / self._constant(other)
            elif np.any(other[:-1]):
                total = self._constant(total) * other
            else:
                total = total * other[-1]
        return total

    def _constant(self, value: FloatArray) -> float:
        if np.any(value[:-1]):
            raise OptionError(f"{self.text.strip()!r} is not linear in the parameters.")
        if value[-1] == 0.0:
            raise OptionError(f"{self.text.strip()!r} multiplies or divides by zero.")
        return float(value[-1])

    def _factor(self) -> FloatArray:
        if self._take("("):
            inside = self._sum()
            if not self._take(")"):
                raise self._error("')'")
            return inside
        if self._take("-"):
            return -self._factor()
        self._next()
        value = np.zeros(self.size + 1)
        name = _name_at(self.text, self.place, self.names)
        if name is not None:
            value[self.names[name]] = 1.0
            self.place += len(name)
            return value
        number = _NUMBER.match(self.text, self.place)
        if number is None:
            raise self._error("a number or a parameter")
        value[-1] = float(number.group())
        self.place = number.end()
        return value

    def _next(self) -> str:
        """The next character that is not a blank, not read yet."""
        while self.text[self.place : self.place + 1].isspace():
            self.place += 1
        return self.text[self.place : self.place + 1]

    def _take(self, *symbols: str) -> str:
        found = self._next()
        if found in symbols:
            self.place += 1
            return found
        return ""

    def _error(self, expected: str) -> OptionError:
        word = _WORD.match(self.text, self.place)
        got = repr(word.group() if word else self.text[self.place :]) if self.place < len(self.text) else "the end"
        return OptionError(
            f"{self.text.strip()!r}: expected {expected}, got {got}. The parameters are {', '.join(self.names)}."
        )

"""Reads hypotheses, written as equations between parameters, into rows of a matrix."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
import pandas as pd

from .._typing import FloatArray
from ..checks import did_you_mean
from ..exceptions import DataError, FormulaError, OptionError
from ..formula.columns import Columns
from ..formula.factors import Interpreter
from ..formula.parse import parse_expression

#: Parameters that a message lists.
_SHOWN = 30


def read_equations(
    text: str, names: Mapping[str, int], size: int
) -> list[tuple[str, FloatArray, float]]:
    """Read equations separated by commas or line ends: text, row and value of row'b =
    value, for the parameters b.

    Parameters
    ----------
    text : str
        Numbers, names, + - * / and parentheses. Names may have any characters; the
        longest matching name is taken.
    names : mapping of name to position
    size : int
        Number of parameters.

    Raises
    ------
    OptionError
        An equation cannot be read, is not linear, or contains no parameter.

    Examples
    --------
    >>> text, row, value = read_equations("2 * x1 - x2 = 3", {"x1": 0, "x2": 1}, 2)[0]
    >>> row.tolist(), value
    ([2.0, -1.0], 3.0)
    """
    patterns = []
    written = [name for name in names if name in text]
    for name in sorted(written, key=len, reverse=True):
        patterns.append(
            re.escape(name) + (r"(?![\w\[|.])" if re.match(r"\w", name[-1]) else "")
        )
    anywhere = re.compile(rf"(?<!\w)(?:{'|'.join(patterns) or '(?!)'})")
    code = anywhere.sub(lambda name: f"parameter_{names[name[0]]}_", text)
    if not code.strip(", \n"):
        raise OptionError(f"hypotheses must not be empty; got {text!r}.")
    return [
        _equation(piece.strip(), names, size)
        for piece in re.split(r"[,\n]", code)
        if piece.strip()
    ]


def _equation(
    code: str, names: Mapping[str, int], size: int
) -> tuple[str, FloatArray, float]:
    """Read one equation from its values at b = 0, each unit vector and a random b,
    which checks that it is linear; b are the parameters that it has.
    """
    columns = {
        column: name
        for name, position in names.items()
        if (column := f"parameter_{position}_") in code
    }
    text = re.sub(r"parameter_\d+_", lambda column: columns[column[0]], code)
    available = "There are no parameters."
    if names:
        # thresholds, of which there may be very many, come first
        last = "last " if len(names) > _SHOWN else ""
        available = f"The {last}parameters are {', '.join(list(names)[-_SHOWN:])}."
    left, *rest = re.split(r"(<=|>=|==|=|<|>)", code)
    sign = " ".join(rest[::2]).replace("==", "=")
    places = np.array([names[name] for name in columns.values()], dtype=np.intp)
    count = places.size
    random = np.random.default_rng(0).standard_normal(count)
    points = np.vstack([np.zeros(count), np.eye(count), random])
    try:
        difference = parse_expression(f"({left}) - ({rest[1] if rest else 0})")
        if unknown := sorted(difference.names - set(columns)):
            hint = did_you_mean(unknown[0], names)
            raise OptionError(
                f"{text!r}: expected a number or a parameter, got {unknown[0]!r}.{hint}"
                f" {available}"
            )
        if sign != "=":
            raise OptionError(f"{text!r}: expected '=', got {sign or 'no sign'!r}.")
        frame = pd.DataFrame(points, columns=list(columns))
        values = np.asarray(
            Interpreter(Columns(frame), {}).evaluate(difference)[0], dtype=float
        )
    except (FormulaError, DataError):
        raise OptionError(
            f"{text!r} cannot be read: expected a sum of numbers times parameters."
            f" {available}"
        ) from None
    if not np.isfinite(values).all() or not np.isclose(
        points[-1] @ (values[1:-1] - values[0]), values[-1] - values[0]
    ):
        raise OptionError(
            f"{text!r} is not linear in the parameters, or divides by zero."
        )
    row = np.zeros(size)
    row[places] = values[1:-1] - values[0]
    if not row.any():
        raise OptionError(f"{text!r} does not depend on any parameter.")
    return text, row, -float(values[0])

"""What many tests expect to hear, in words that stand here alone: errors that name an
argument, and the usual warnings.
"""

from __future__ import annotations

import re
from contextlib import AbstractContextManager
from typing import Any

import pytest

from ordstat import (
    ConvergenceWarning,
    DataError,
    DataWarning,
    OptionError,
    SeparationWarning,
)
from ordstat.exceptions import UnavailableError

Expected = AbstractContextManager[Any]


def refused(
    argument: str, got: str = "", error: type[Exception] = OptionError
) -> Expected:
    """An error that begins with the argument, which must be something else than what
    came.
    """
    came = f".*; got {re.escape(got)}" if got else ""
    return pytest.raises(error, match=rf"^{re.escape(argument)}=? must {came}")


def no_standard_errors() -> Expected:
    """Something is shown without standard errors."""
    return pytest.warns(DataWarning, match="no standard error")


def empty_cell(levels: str = "") -> Expected:
    """No row has these levels together, so that their mean is not estimated."""
    words = f"no row used has the combination of levels.*{levels}"
    return pytest.warns(DataWarning, match=words)


def aliased(name: str = "") -> Expected:
    """A column is not estimated, as others determine it."""
    words = rf"\baliased\b.*{re.escape(name)}"
    return pytest.warns(DataWarning, match=words)


def rows_left_out(
    count: int | None = None, of: int | None = None, columns: str = ""
) -> Expected:
    """Rows with missing values are left out, where told so many of so many, and the
    columns that lack them, such as "judge (3)".
    """
    counted = "" if count is None else f"^{count} of {of} "
    named = f": {re.escape(columns)}" if columns else ""
    words = f"{counted}rows left out for missing values{named}"
    return pytest.warns(DataWarning, match=words)


def new_levels(column: str, level: str) -> Expected:
    """A column of new rows has a level that the fit does not know."""
    words = f"'{column}' has levels that are not in the fit: {level}"
    return pytest.warns(DataWarning, match=re.escape(words))


def weights_not_whole() -> Expected:
    """Case weights count rows, and these are no whole numbers."""
    return pytest.warns(DataWarning, match="not whole")


def no_maximum(*names: str) -> Expected:
    """The likelihood has no maximum, as these estimates diverge."""
    diverging = f": estimates diverge \\({re.escape(', '.join(names))}" if names else ""
    return pytest.warns(ConvergenceWarning, match=f"no maximum{diverging}")


def infinite(*moves: str) -> Expected:
    """Rows are certain as these estimates move, such as "x to +infinity"."""
    return pytest.warns(SeparationWarning, match=re.escape(", ".join(moves)))


def absent_levels(*levels: str) -> Expected:
    """Levels of the response have no rows."""
    words = f"No row has the levels {', '.join(levels)}"
    return pytest.warns(DataWarning, match=words)


def no_column(name: str, needed: str = "") -> Expected:
    """The data lack a column; `needed` is a pattern of what it is for."""
    return pytest.raises(DataError, match=f"no column {name!r}.*{needed}")


def missing_in(column: str, rows: int) -> Expected:
    """A column has missing values in so many rows."""
    counted = f"{rows} row{'s' * (rows > 1)}"
    return pytest.raises(DataError, match=rf"{column!r} \({counted}\)")


def unknown_level(column: str, level: str) -> Expected:
    """A column of new rows has a level that the fit does not know, and nothing is
    predicted.
    """
    words = f"'{column}' has levels that are not in the fit: '{level}'"
    return pytest.raises(DataError, match=words)


def no_data() -> Expected:
    """The data of the fit are not available, and may be given again."""
    return pytest.raises(DataError, match=r"(available|missing).*\b[Pp]ass data=")


def data_changed() -> Expected:
    """The data are not those of the fit any more."""
    return pytest.raises(DataError, match="data have changed since the fit")


def no_option(name: str, instead: str = "") -> Expected:
    """An option that is not there; `instead` is a pattern of the advice."""
    words = f"no (option|parameter) {name!r}.*{instead}"
    return pytest.raises(OptionError, match=words)


def no_type(name: str) -> Expected:
    """The fit has no predictions of this type."""
    return pytest.raises(OptionError, match=f"type={name!r} is not available")


def unsupported(argument: str) -> Expected:
    """The method does not take an argument."""
    return pytest.raises(OptionError, match=f"does not support {argument}=")


def likelihood_needed() -> Expected:
    """Fits without a likelihood do not answer this."""
    return pytest.raises(OptionError, match="methods with a likelihood have")


def dense_needed(what: str = "") -> Expected:
    """Columns are sparse where something needs them dense."""
    words = f"X is sparse, and .*{re.escape(what)}.* needs dense columns.*toarray"
    return pytest.raises(DataError, match=words)


def not_definite() -> Expected:
    """A kernel is not positive definite."""
    return pytest.raises(DataError, match="not positive definite")


def not_separable() -> Expected:
    """A hard margin, and levels that no thresholds separate."""
    words = "C=inf needs separable levels.* Give a finite C or another kernel"
    return pytest.raises(DataError, match=words)


def unreadable(path: str, why: str = "") -> Expected:
    """A file or folder cannot be read; `why` is a pattern of the reason."""
    words = f"{re.escape(path)}.* cannot be read.*{why}"
    return pytest.raises(DataError, match=words)


def unwritable(path: str, why: str = "") -> Expected:
    """A file cannot be written; `why` is a pattern of the reason."""
    words = f"{re.escape(path)}.* cannot be written.*{why}"
    return pytest.raises(DataError, match=words)


def unavailable(because: str, question: str = "", instead: str = "") -> Expected:
    """A fit does not answer a question, which the error begins with, for a reason, and
    is told what to use; `because` and `instead` are patterns.
    """
    words = f"^{re.escape(question)}.*{because}.* Use .*{instead}"
    return pytest.raises(UnavailableError, match=words)


def not_in_blocks() -> Expected:
    """Something needs all rows in memory."""
    return pytest.raises(OptionError, match="in blocks")


def misspelt(meant: str, got: str = "") -> Expected:
    """A name that is near another."""
    came = f"got '{re.escape(got)}'.*" if got else ""
    return pytest.raises(OptionError, match=f"{came}Did you mean {meant!r}")


def sampling_weights(counted: str = "") -> Expected:
    """Case weights look like sampling weights."""
    words = f"counts of equal rows, .*{counted}.* Are they sampling weights"
    return pytest.warns(DataWarning, match=words)


def intercept_removed() -> Expected:
    """A formula removes the intercept, which has no effect."""
    return pytest.warns(DataWarning, match="removes the intercept")

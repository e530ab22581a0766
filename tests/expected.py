"""What many tests expect to hear, in words that stand here alone: errors that name an
argument, and the usual warnings.
"""

from __future__ import annotations

import re
from contextlib import AbstractContextManager
from typing import Any

import pytest

from ordstat import ConvergenceWarning, DataWarning, OptionError


def refused(
    argument: str, got: str = "", error: type[Exception] = OptionError
) -> AbstractContextManager[Any]:
    """An error that begins with the argument, which must be something else than what
    came.
    """
    came = f".*; got {re.escape(got)}" if got else ""
    return pytest.raises(error, match=rf"^{re.escape(argument)}=? must {came}")


def no_standard_errors() -> AbstractContextManager[Any]:
    """Something is shown without standard errors."""
    return pytest.warns(DataWarning, match="no standard error")


def empty_cell(levels: str = "") -> AbstractContextManager[Any]:
    """No row has these levels together, so that their mean is not estimated."""
    words = f"no row used has the combination of levels.*{levels}"
    return pytest.warns(DataWarning, match=words)


def aliased(name: str = "") -> AbstractContextManager[Any]:
    """A column is not estimated, as others determine it."""
    words = rf"\baliased\b.*{re.escape(name)}"
    return pytest.warns(DataWarning, match=words)


def rows_left_out(count: int | None = None, of: int | None = None) -> Any:
    """Rows with missing values are left out, where told so many of so many."""
    counted = "" if count is None else f"^{count} of {of} "
    return pytest.warns(DataWarning, match=f"{counted}rows left out for missing values")


def new_levels(column: str, level: str) -> AbstractContextManager[Any]:
    """A column of new rows has a level that the fit does not know."""
    words = f"'{column}' has levels that are not in the fit: {level}"
    return pytest.warns(DataWarning, match=re.escape(words))


def weights_not_whole() -> AbstractContextManager[Any]:
    """Case weights count rows, and these are no whole numbers."""
    return pytest.warns(DataWarning, match="not whole")


def no_maximum(*names: str) -> AbstractContextManager[Any]:
    """The likelihood has no maximum, as these estimates diverge."""
    diverging = f": estimates diverge \\({re.escape(', '.join(names))}" if names else ""
    return pytest.warns(ConvergenceWarning, match=f"no maximum{diverging}")

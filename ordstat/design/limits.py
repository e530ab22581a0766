"""How large a formula may be: it may come from somebody else, and must not take all time or memory."""

from __future__ import annotations

from ..exceptions import FormulaError

MAX_CHARACTERS = 100_000
MAX_TERMS = 10_000
MAX_COLUMNS = 100_000
#: Characters of all terms together.
MAX_LABELS = 1_000_000
#: Unions and products of terms formed on the way, equal ones too: well below a second of work.
MAX_STEPS = 2_000_000
#: Characters of a formula that an error repeats.
_SHOWN = 200


def shown(text: str) -> str:
    """A formula in quotes for an error, cut short where it is long."""
    return repr(text) if len(text) <= _SHOWN else f"{text[:_SHOWN]!r}..."


def too_large(text: str, what: str) -> FormulaError:
    """The error for a formula that passes a limit; `what` says how."""
    return FormulaError(
        f"The formula {shown(text)} {what}. A formula may have at most {MAX_CHARACTERS:,} characters and give at most "
        f"{MAX_TERMS:,} terms: write down the terms that you need. OrdinalClassifier takes any number of columns, "
        "without a formula."
    )


def check_length(text: str) -> None:
    """FormulaError for a text that is too long to be read."""
    if len(text) > MAX_CHARACTERS:
        raise too_large(text, f"has {len(text):,} characters")

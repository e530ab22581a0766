"""Column names with blanks: errors in the words of the formula, with the backticks that cure them."""

import pytest

from ordstat import datasets, ordfit
from ordstat.exceptions import FormulaError

WINE = datasets.load("wine").assign(**{"wine type": lambda d: d["judge"], "sat text": lambda d: d["rating"]})


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("rating ~ temp + wine type", "no operator stands between 'wine' and 'type'.*backticks around one name"),
        ("rating ~ log(wine) type", r"between 'log\(wine\)' and 'type'"),
        ("rating ~ temp temp", "Put \\+ between two terms"),
        ("rating ~ temp + log(wine type)", "backticks around a name with blanks: `wine type`"),
        ("sat text ~ temp", "Cannot read 'sat text'.*: `sat text`"),
        ("sat text ~ temp + log(contact)", "Cannot read 'sat text'.*: `sat text`"),
    ],
)
def test_a_name_with_a_blank_asks_for_backticks(formula, words):
    with pytest.raises(FormulaError, match=words) as found:
        ordfit(formula, WINE)
    assert "unknown" not in str(found.value) and "line 1" not in str(found.value) and "v1" not in str(found.value)


def test_backticks_are_the_cure():
    assert ordfit("`sat text` ~ temp + `wine type`", WINE).design.names[1] == "wine type[T.2]"

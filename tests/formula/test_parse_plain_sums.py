"""Plain sums of columns are read without formulaic: its terms are the same, and it
stays unimported.
"""

import subprocess
import sys

import pytest
from expected import refused

from ordstat.exceptions import FormulaError
from ordstat.formula import parse

PLAIN = [
    "y ~ a",
    "y~a+b",
    "  y ~ b + a \n + c ",
    "rating ~ temp + contact",
    "y ~ _a + B2",
    "y ~ offset + C",
    "y ~ pi",
]


@pytest.mark.parametrize("text", PLAIN)
def test_terms_are_those_of_formulaic(text):
    from formulaic import Formula

    expected = Formula(text)
    response, part = parse.parse_formula(text, ())
    assert [str(term) for term in expected.lhs] == [response]
    assert [str(term) for term in Formula(text, _ordering="none").rhs] == [
        "1",
        *(term.label for term in part.terms),
    ]
    assert part.intercept and not part.offsets
    assert not parse.uses_dot(text)


def test_one_sided_with_and_without_tilde():
    assert parse.parse_one_sided("~ a + b", (), "nominal") == parse.parse_one_sided(
        "a + b", (), "nominal"
    )
    assert [
        term.label for term in parse.parse_one_sided("~a+b", (), "scale").terms
    ] == [
        "a",
        "b",
    ]
    with refused("nominal", error=FormulaError):
        parse.parse_one_sided("y ~ a", (), "nominal")
    with pytest.raises(FormulaError, match="no response"):
        parse.parse_formula("~ a + b", ())
    with pytest.raises(FormulaError, match="no response"):
        parse.parse_formula("a + b", ())


def test_the_first_fit_imports_no_formulaic():
    script = (
        "import sys; from ordstat import datasets, ordfit;"
        "str(ordfit('rating ~ temp + contact', datasets.load('wine')).summary());"
        "sys.exit('formulaic' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)

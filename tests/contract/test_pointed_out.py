"""Messages that point to the right name or method."""

import pytest
from expected import unsupported

from ordstat import OrdinalClassifier, datasets, ordfit

WINE = datasets.load("wine")


@pytest.mark.parametrize("constraints", [["temp >= 0"], {"temp": "+"}, "temp >= 0"])
def test_constraints_of_a_method_without_any_are_not_read(constraints):
    with unsupported("constraints"):
        ordfit("rating ~ temp", WINE, "clm", constraints=constraints)
    with unsupported("constraints"):
        OrdinalClassifier("clm", constraints=constraints).fit(
            [[0.0], [1.0], [2.0]], [1, 2, 3]
        )

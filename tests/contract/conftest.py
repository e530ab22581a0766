"""A problem for every method string of the registry."""

import pytest
from seams import METHODS

from contract.problems import Problem


@pytest.fixture(params=list(METHODS))
def problem(request: pytest.FixtureRequest) -> Problem:
    return Problem.of(request.param)

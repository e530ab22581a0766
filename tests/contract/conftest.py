"""A problem for every method string of the registry."""

import pytest

from contract.problems import Problem
from ordstat.registry import METHODS


@pytest.fixture(params=list(METHODS))
def problem(request: pytest.FixtureRequest) -> Problem:
    return Problem.of(request.param)

"""A problem for every method of the registry; names of one value are one."""

import pytest
from problems import DISTINCT, Problem


@pytest.fixture(params=DISTINCT)
def problem(request: pytest.FixtureRequest) -> Problem:
    return Problem.of(request.param)

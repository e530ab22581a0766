"""Profile limits where the likelihood has several maxima with a parameter held: the highest of them counts.

The models have one threshold theta and one effect beta, so that the profile of beta is the largest likelihood over a
grid of theta.
"""

import numpy as np
import pandas as pd
import pytest
from scipy.special import chdtri
from scipy.stats import cauchy

from ordstat import ordfit

DROP = chdtri(1.0, 0.05)
STEPS = np.geomspace(1e-3, 1e4, 30001)
THETA = np.concatenate([-STEPS[::-1], [0.0], STEPS])
#: Each with the local maximum that the estimate's own one becomes left behind on one side.
DATA = {
    "upper": ([-19, -3, 2, 3, 2, 2, -4, 1, 2, 2], [0, 0, 0, 1, 1, 1, 0, 1, 1, 0]),
    "lower": ([-1, -4, -3, -2, 0, 1, 0, -1, -1, 0, -1, -2, -1], [0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]),
}


def profile(beta, x, y):
    """The log-likelihood with beta held, maximised over theta on the grid."""
    rows = (cauchy.logsf if yi else cauchy.logcdf for yi in y)
    return np.max(sum(row(THETA - beta * xi) for row, xi in zip(rows, x, strict=True)))


@pytest.fixture(params=DATA)
def fitted(request):
    x, y = DATA[request.param]
    return ordfit("y ~ x", pd.DataFrame({"x": x, "y": y}, dtype=float), "cauchit"), x, y


def test_limits_are_where_the_highest_of_the_maxima_has_fallen(fitted):
    fit, x, y = fitted
    for limit in fit.confint("x", type="profile").to_numpy()[0]:
        assert 2.0 * (fit.loglik - profile(limit, x, y)) == pytest.approx(DROP, abs=1e-4)


def test_profiles_are_those_of_the_highest_maximum(fitted):
    fit, x, y = fitted
    curve = fit.profile("x", level=0.95, points=9)
    expected = [fit.loglik - profile(beta, x, y) for beta in curve["value"]]
    np.testing.assert_allclose(0.5 * curve["z"] ** 2, expected, atol=1e-4)

"""A profile that levels off has no limit, however far out rounding makes it fall."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ordstat import ordfit

FORMULA = "y ~ o1 + x3 + x2"
#: Deviance of R's own maxima with the effect held, d$k being the value where f1 is b (ordinal 2022.11.16):
#: clm(y ~ o1 + x3 + x2, nominal = ~ f1, scale = ~ x1 + x1:f1 + offset(k), data = d, link = "cloglog",
#:     control = clm.control(maxIter = 200L, gradTol = 1e-9))
DEVIANCE = {2.0: 1.831121, 4.0: 2.374211, 6.0: 2.461054, 8.0: 2.473017}


@pytest.fixture(scope="module")
def fit():
    data = pd.read_csv(Path(__file__).parent / "levels_off.csv")
    data["o1"] = pd.Categorical(data["o1"], ordered=True)
    return ordfit(FORMULA, data, "cloglog", nominal="~ f1", scale="~ f1*x1", contrasts={"o1": "poly"})


def test_a_profile_that_levels_off_has_no_limit(fit):
    limits = fit.confint("scale.f1[T.b]", type="profile")
    assert np.isposinf(limits["upper"].iloc[0])
    assert "levels off" in limits.attrs["reasons"]["scale.f1[T.b]", "upper"]


@pytest.mark.parametrize("value", DEVIANCE)
def test_it_levels_off(fit, value):
    profile = fit.fit.likelihood.profile()
    place = fit.parameters.names.index("scale.f1[T.b]")
    found = 2.0 * (fit.loglik - profile.curve(place, np.array([0.5 * value, value]))[1])
    assert found == pytest.approx(DEVIANCE[value], abs=2e-6)

"""The test of monotone effects: its distribution, and one step by hand."""

import numpy as np
import pandas as pd
import pytest
from expected import refused
from problems import unrelated
from scipy.stats import chi2

import ordstat
from ordstat import ordfit
from ordstat.exceptions import UnavailableError
from ordstat.likelihood.monotone_test import mixture_weights

RNG = np.random.default_rng(2)
CODE = np.resize(np.arange(4), 120)
LATENT = 0.4 * CODE + RNG.logistic(size=120)
DATA = pd.DataFrame({"x": CODE, "z": RNG.normal(size=120)})
DATA["y"] = np.digitize(LATENT, [0.0, 1.0])


@pytest.mark.parametrize(
    ("levels", "shares"),
    [(3, [1 / 3, 1 / 2, 1 / 6]), (4, [1 / 4, 11 / 24, 1 / 4, 1 / 24])],
)
def test_weights_of_means_of_equal_groups(levels, shares):
    """Stirling numbers of the first kind over levels! [Robertson, Wright and Dykstra
    1988, section 2.4].
    """
    higher = np.tri(levels)[:, 1:]
    centred = higher - higher.mean(axis=0)
    rng = np.random.default_rng(0)
    weights = mixture_weights(centred.T @ centred, 4000, rng)
    np.testing.assert_allclose(weights, shares, atol=4 * np.sqrt(0.25 / 4000))


def test_one_step_has_half_the_p_value_of_two_sides():
    data = DATA.assign(x=DATA["x"] > 1)
    fit = ordfit("y ~ mono(x) + z", data)
    gain = 2.0 * (fit.loglik - ordfit("y ~ z", data).loglik)
    table = fit.monotone_test(20_000)
    assert table["chisq"].item() == pytest.approx(gain, abs=1e-9)
    half = 0.5 * chi2.sf(gain, 1)
    assert table["p_value"].item() == pytest.approx(half, rel=0.03)
    against = ordfit("y ~ mono(x, 'decreasing') + z", data).monotone_test()
    assert against["p_value"].item() == 1.0


def test_several_steps_lie_between_the_bounds_of_their_number(tmp_path):
    fit = ordfit("y ~ mono(x) + z", DATA)
    test = fit.monotone_test(2000)
    chisq = test["chisq"].item()
    # 0 and 1, or m - 1 and m, degrees of freedom, each half of the time
    least = 0.5 * chi2.sf(chisq, 1)
    most = 0.5 * (chi2.sf(chisq, 2) + chi2.sf(chisq, 3))
    assert least < test["p_value"].item() < most
    fit.save(tmp_path / "fit")
    again = ordstat.load(tmp_path / "fit").monotone_test(2000)
    pd.testing.assert_frame_equal(pd.DataFrame(again), pd.DataFrame(test))
    with refused("draws"):
        fit.monotone_test(5)
    with pytest.raises(UnavailableError, match="monotone_test"):
        fit.anova()


@pytest.mark.slow
def test_the_size_is_that_of_the_guide():
    """docs/guide/smooth.md: 5.5 % and 1.4 % of 2,000 samples without an effect."""
    rng = np.random.default_rng(0)
    p_values = []
    for _ in range(2000):
        test = ordfit("y ~ mono(x)", unrelated(rng)).monotone_test(1000)
        p_values.append(test["p_value"].item())
    p_values = np.array(p_values)
    assert np.mean(p_values < 0.05) == pytest.approx(0.0545, abs=0.002)
    assert np.mean(p_values < 0.01) == pytest.approx(0.0135, abs=0.002)

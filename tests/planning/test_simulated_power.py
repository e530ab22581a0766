"""Power by simulation from a fit, against the formula for two groups, and the size of the test."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import optimize
from scipy.special import expit

from ordstat import DataError, OptionError, datasets, ordfit, power_ordinal
from ordstat.likelihood.standard_errors import rule_at

WINE = datasets.load("wine")
P = np.array([0.2, 0.3, 0.3, 0.2])


def two_groups() -> pd.DataFrame:
    """Counts in the shares of two groups with an odds ratio of 1.8, as rows; the shares are P on average."""
    total, below = np.log(1.8), np.cumsum(P)[:-1]
    cuts = [optimize.brentq(lambda c, p=p: expit([c, c - total]).mean() - p, -9.0, 9.0) for p in below]
    shares = np.diff(expit([cuts, np.array(cuts) - total]), prepend=0.0, append=1.0)
    both = np.round(1000 * shares).astype(int)
    rows = [(k, g) for g in (0, 1) for k, count in enumerate(both[g]) for _ in range(count)]
    return pd.DataFrame(rows, columns=["y", "group"])


def test_two_groups() -> None:
    fit = ordfit("y ~ group", two_groups())
    assert np.exp(fit.coef["group"]) == pytest.approx(1.8, rel=0.02)
    found = fit.power("group", n=200, effect={"group": np.log(1.8)}, simulations=300, seed=1)
    formula = power_ordinal(P, 1.8, 200).power
    assert found.power == pytest.approx(formula, abs=4.0 * found.std_error + 0.02)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["logit", "acat"])
def test_size(method: str) -> None:
    fit = ordfit("rating ~ temp + contact", WINE, method)
    found = fit.power("contact", n=200, effect={"contact[T.yes]": 0.0}, simulations=2000, seed=3)
    assert 0.035 < found.power < 0.065


def test_hypotheses_and_text() -> None:
    fit = ordfit("rating ~ temp + contact", WINE)
    before = fit.params.copy()
    one = fit.power("temp", n=40, effect={"temp[T.warm]": 0.7}, simulations=20)
    two = fit.power("temp[T.warm] = 0", n=40, effect={"temp[T.warm]": 0.7}, simulations=20)
    assert one.power == two.power
    assert repr(one).splitlines()[1] == (
        "Wald test at 0.05; 20 data sets of 40 rows from rating ~ temp + contact, temp[T.warm] = 0.7"
    )
    pd.testing.assert_series_equal(fit.params, before)


def test_fits_without_a_maximum_count_as_not_found() -> None:
    fit = ordfit("rating ~ temp + contact", WINE)
    found = fit.power("contact", n=6, simulations=30)
    assert found.without_test > 0
    assert "gave no test" in repr(found)
    assert found.power <= 1.0 - found.without_test / 30


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda fit: fit.power("tempp"), "Did you mean 'temp'"),
        (lambda fit: fit.power("temp", effect={"x": 1.0}), "effect must name parameters that are estimated; got 'x'"),
        (lambda fit: fit.power("temp", n=1), "n must be a whole number"),
        (lambda fit: fit.power("temp", alpha=5), "alpha must be"),
        (lambda fit: fit.power("temp", effect={"temp[T.warm]": "a"}), "effect of 'temp\\[T.warm\\]' must be"),
    ],
)
def test_refused(call, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        call(ordfit("rating ~ temp + contact", WINE))


def test_clusters_and_crossed_thresholds_are_refused() -> None:
    plain = ordfit("rating ~ temp", WINE)
    for fit in (plain.update(cluster="judge"), plain.with_vcov({"cluster": "judge"})):
        with pytest.raises(OptionError, match=r"fits with clusters, whose rows are drawn together\. Use simulate"):
            fit.power("temp", simulations=2)
    rng = np.random.default_rng(0)
    x = rng.normal(size=600)
    y = np.digitize(x + np.exp(0.7 * x) * rng.logistic(size=600), [-1, 0, 1]) + 1
    data = pd.DataFrame({"x": x, "y": y, "z": rng.normal(size=600)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = ordfit("y ~ z", data, nominal="~ x")
    with pytest.raises(DataError, match="out of order"):
        fit.power("z", simulations=2)


def test_a_stated_lambda_is_the_one_of_the_link() -> None:
    """Aranda-Ordaz at lambda = 1 is the logit."""
    flexible = ordfit("rating ~ contact", WINE, link="aranda-ordaz")
    stated = {name: 0.5 * k for k, name in enumerate(flexible.params.index)} | {"lambda": 1.0}
    rule = rule_at(flexible.fit, np.array(list(stated.values())))
    eta = 0.5 * np.arange(4) - 2.0 * flexible.design.sample.X
    np.testing.assert_allclose(rule.cum_probabilities(flexible.design.sample.rows)[:, :4], 1 / (1 + np.exp(-eta)))
    with pytest.raises(OptionError, match=r"lam must lie between 0 and .* with aranda-ordaz; got -1"):
        flexible.power("contact", effect={"lambda": -1.0}, simulations=2)

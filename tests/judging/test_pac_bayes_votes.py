"""The bound of a vote by samples of its voters: chances, divergence and formula by
enumeration, and that it holds.
"""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from seams import Rows, Sample

from ordstat import ordfit
from ordstat.boosting.sums import StumpSum
from ordstat.boosting.weak import vote_divergence
from ordstat.judging import pac_bayes


@pytest.mark.parametrize("active", [0.0, 0.3, 1.0])
def test_chances_by_enumeration(active):
    """All sequences of up to four draws."""
    actual = pac_bayes.chances_below(active)
    means = np.linspace(-active, active, actual.shape[1])
    for i, n in enumerate((1, 2, 4)):
        for place in (0, 13, 50, 77, 100):
            up = (active + means[place]) / 2
            down = (active - means[place]) / 2
            chance = {1: up, 0: 1 - active, -1: down}
            for j, g in enumerate(pac_bayes.VOTE_MARGINS / math.sqrt(n)):
                sequences = itertools.product((-1, 0, 1), repeat=n)
                exact = sum(
                    math.prod(chance[a] for a in s)
                    for s in sequences
                    if sum(s) <= n * g + 1e-9
                )
                assert actual[i, place, j] == pytest.approx(exact, abs=1e-10)


def test_chances_of_coins_are_binomial():
    actual = pac_bayes.chances_below(1.0)
    means = np.linspace(-1, 1, actual.shape[1])
    for i, n in enumerate(pac_bayes.VOTERS):
        for j, g in enumerate(pac_bayes.VOTE_MARGINS / math.sqrt(n)):
            exact = binom.cdf(math.floor((n + n * g + 1e-9) / 2), n, (1 + means) / 2)
            np.testing.assert_allclose(actual[i, :, j], exact, atol=1e-9)


def test_divergence_by_enumeration():
    """Every pair of rows, column and sign of the prior, and the vote spread over the
    pairs that give its cuts.
    """
    X = np.array([[0.0, 1.0], [0.0, 3.0], [1.0, 3.0], [1.0, 4.0], [2.0, 9.0]])
    theta = np.array([-0.5, 0.25])
    potential = StumpSum(
        columns=np.array([0, 1, 0, 0, 1]),
        cuts=np.array([0.5, 3.5, 0.5, -np.inf, 3.5]),
        round_weights=np.array([0.4, -0.6, 0.3, 0.2, 0.1]),
    )
    prior = {}
    vote = {}
    for sign in (-1, 1):
        prior["constant", sign] = 1 / 2 / 3 / 2
        for column, i, j in itertools.product(range(2), range(5), range(5)):
            prior[column, i, j, sign] = 1 / 2 / 3 / 2 / 25
        for k in range(2):
            prior["threshold", k, sign] = 1 / 2 / 4
    assert sum(prior.values()) == pytest.approx(1.0)
    total = np.abs(potential.round_weights).sum() + np.abs(theta).sum()
    pairs = {
        (0, 0.5): [(i, j) for i in (0, 1) for j in (2, 3)],
        (1, 3.5): [(i, 3) for i in (1, 2)],
    }
    for column, cut, weight in zip(
        potential.columns, potential.cuts, potential.round_weights, strict=True
    ):
        sign = int(np.sign(weight))
        voters = (
            [("constant", sign)]
            if np.isinf(cut)
            else [(column, *pair, sign) for pair in pairs[column, cut]]
        )
        for key in voters:
            vote[key] = vote.get(key, 0) + abs(weight) / total / len(voters)
    for k in range(2):
        vote["threshold", k, int(np.sign(theta[k]))] = abs(theta[k]) / total
    assert sum(vote.values()) == pytest.approx(1.0)
    exact = sum(p * math.log(p / prior[key]) for key, p in vote.items())
    sample = Sample(rows=Rows(X=X), y=np.array([0, 1, 2, 1, 0]), n_levels=3)
    assert vote_divergence(potential, theta, sample) == pytest.approx(exact, rel=1e-12)
    # A row of weight 2 is two rows.
    weighted = Sample(
        rows=Rows(X=X[1:]),
        y=sample.y[1:],
        n_levels=3,
        weights=np.array([1.0, 1.0, 1.0, 1.0]),
    )
    doubled = Sample(rows=Rows(X=X[[1, 1, 2, 3, 4]]), y=sample.y, n_levels=3)
    heavier = Sample(
        rows=Rows(X=X[1:]),
        y=sample.y[1:],
        n_levels=3,
        weights=np.array([2.0, 1.0, 1.0, 1.0]),
    )
    values = [
        vote_divergence(potential, theta, some) for some in (weighted, heavier, doubled)
    ]
    assert values[1] == pytest.approx(values[2], rel=1e-12) and values[0] != values[1]


def test_a_cut_between_other_rows_has_no_price():
    X = np.array([[0.0], [1.0], [2.0]])
    potential = StumpSum(
        columns=np.array([0]), cuts=np.array([0.7]), round_weights=np.array([1.0])
    )
    sample = Sample(rows=Rows(X=X), y=np.array([0, 0, 1]), n_levels=2)
    assert np.isnan(vote_divergence(potential, np.zeros(1), sample))


def _draw(rng, n):
    X = rng.uniform(-1, 1, size=(n, 2))
    y = np.searchsorted([-0.4, 0.4], X[:, 0] + 0.1 * rng.normal(size=n))
    return pd.DataFrame({"a": X[:, 0].round(1), "b": X[:, 1], "y": y})


def test_the_bound_by_its_formula():
    """One row, threshold, n and g at a time."""
    fit = ordfit(
        "y ~ a + b", _draw(np.random.default_rng(0), 70), "orboost-all", rounds=3
    )
    geometry = fit.geometry
    rows = fit.training_margins
    sample = fit.design.sample
    actual = pac_bayes.vote_bound(
        pac_bayes.comparisons("absolute error", rows, sample), geometry, 0.05
    )
    total = geometry.norm + np.abs(geometry.theta).sum()
    best = math.inf
    for n in pac_bayes.VOTERS[:5]:
        kept = 70 - 2 * n
        for g in pac_bayes.VOTE_MARGINS / math.sqrt(n):
            q = 0.0
            least = 1.0
            for k, theta in enumerate(geometry.theta):
                a = (geometry.norm + abs(theta)) / total
                least = min(least, _chance(n, g, 0.0, a))
                q += sum(_chance(n, g, rho, a) for rho in rows.normalised[:, k]) / (
                    2 * 70
                )
            nats = n * geometry.nats + math.log(
                2
                * math.sqrt(kept)
                * len(pac_bayes.VOTERS)
                * len(pac_bayes.VOTE_MARGINS)
                / 0.05
            )
            value = (
                float(
                    pac_bayes.kl_inverse(
                        np.array(min(q * 70 / kept, 1.0)), np.array(nats / kept)
                    )
                )
                / least
            )
            best = min(best, 2 * value)
    # Margins are taken down to a grid, which can only make the bound larger.
    assert best <= actual.value + 1e-9
    assert actual.value == pytest.approx(best, rel=0.02)


def _chance(n, g, mean, active):
    """Probability of a mean of g or less, by adding up one draw after another."""
    sums = np.zeros(2 * n + 1)
    sums[n] = 1.0
    for _ in range(n):
        up = (active + mean) / 2 * np.roll(sums, 1)
        down = (active - mean) / 2 * np.roll(sums, -1)
        sums = (1 - active) * sums + up + down
    return sums[: n + math.floor(n * g + 1e-9) + 1].sum()


def test_too_few_rows_leave_the_papers_bound():
    fit = ordfit(
        "y ~ a + b", _draw(np.random.default_rng(1), 12), "orboost-all", rounds=2
    )
    assert np.isfinite(fit.bounds()["value"]).all()


METHODS = {
    "orboost-all": {"rounds": 10},
    "orboost-lr": {"rounds": 10},
    "rankboost-or": {"rounds": 10},
}


def _held(method, draws, seed):
    rng = np.random.default_rng(seed)
    far = _draw(np.random.default_rng(99), 20_000)
    held = []
    n_informative = 0
    for _ in range(draws):
        fit = ordfit("y ~ a + b", _draw(rng, 200), method, **METHODS[method])
        codes = np.count_nonzero(
            fit.predict(far, type="score").to_numpy()[:, None]
            - fit.thresholds.to_numpy()
            > 0,
            axis=1,
        )
        distance = np.abs(codes - far["y"].to_numpy())
        table = fit.bounds()
        truth = [(distance > 0).mean(), distance.mean()]
        held.append((table["value"].to_numpy()[:2] >= truth).all())
        n_informative += not table.loc["absolute error", "vacuous"]
    assert np.mean(held) >= 0.95
    return n_informative / draws


@pytest.mark.parametrize("method", METHODS)
def test_bounds_of_ensembles_hold(method):
    assert _held(method, 4, 1) == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_bounds_of_ensembles_hold_in_a_thousand_samples(method):
    assert _held(method, 1000, 2) > 0.9

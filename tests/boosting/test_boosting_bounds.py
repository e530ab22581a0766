"""Training-error theorems round by round: both sides from the members of the fit, row
by row, pair by pair.
"""

import itertools

import numpy as np
import pytest
from seams import Rows, Sample

from ordstat import AdaBoostOR, ORBoost, RankBoost, datasets, ordfit

from .problems import COSTS, costs, sample

CLOSE = 1e-9


def _fit(method, s):
    return method.fit(s, np.random.default_rng(0))


def _own(name, seed=2, n=50):
    s = sample(seed, n=n, weighted=True)
    paid = costs(name, s.y, 4)
    return Sample(rows=s.rows, y=s.y, n_levels=4, weights=s.weights, costs=paid), paid


def _cost(s, paid, codes):
    return s.weights @ paid[np.arange(s.n), codes] / s.weights.sum()


def _codes(method, s, fit, t):
    return method.truncated(s, fit, t).rule.codes(s.rows)


@pytest.mark.parametrize("name", COSTS)
def test_theorem_4_12_holds_after_every_round(name):
    """cost <= mean of c[1] + c[K] times prod 2 sqrt(e_t (1 - e_t)), e_t under the
    weights that alg. 4.2 gives.
    """
    s, paid = _own(name)
    method = AdaBoostOR(rounds=25)
    fit = _fit(method, s)
    label = np.where(s.y[:, None] > np.arange(3), 1, -1)
    weight = s.weights[:, None] * np.abs(np.diff(paid, axis=1))
    bound = s.weights @ (paid[:, 0] + paid[:, -1]) / s.weights.sum()
    assert fit.rounds.limits[0] == pytest.approx(bound)
    for t, member in enumerate(fit.rounds.members):
        answer = np.where(
            member.sign * (s.X[:, member.column][:, None] - member.cuts) > 0, 1, -1
        )
        error = weight[answer != label].sum() / weight.sum()
        weight = weight * np.where(answer != label, (1 - error) / error, 1.0)
        bound *= 2 * np.sqrt(error * (1 - error))
        assert fit.rounds.limits[t + 1] == pytest.approx(bound, rel=1e-6)
        assert _cost(s, paid, _codes(method, s, fit, t + 1)) <= bound * (1 + CLOSE)


@pytest.mark.parametrize("learner", ["stump", "sigmoid"])
@pytest.mark.parametrize("name", COSTS)
def test_the_training_error_theorem_of_orboost_holds_after_every_round(name, learner):
    """cost <= first loss times prod of 1 - R - W + 2 sqrt(R W), R and W the shares of
    right and wrong weight.

    And with margins: the weight of rho_k(n) <= Delta is at most exp(Delta) times as
    much.
    """
    s, paid = _own(name)
    method = ORBoost(rounds=12, learner=learner)
    fit = _fit(method, s)
    label = np.where(s.y[:, None] > np.arange(3), 1.0, -1.0)
    weight = s.weights[:, None] * np.abs(np.diff(paid, axis=1))
    trainer = method.weak().on(s.X, s.weights)
    H = np.zeros(s.n)
    bound = None
    for t in range(13):
        rho = label * (H[:, None] - fit.rounds.thetas[t])
        terms = weight * np.exp(-rho)
        bound = terms.sum() / s.weights.sum() if bound is None else bound
        assert fit.rounds.limits[t] == pytest.approx(bound)
        assert fit.rounds.losses[t] == pytest.approx(terms.sum() / s.weights.sum())
        assert _cost(s, paid, _codes(method, s, fit, t)) <= bound * (1 + CLOSE)
        for delta in (0.0, 0.3, 1.0):
            assert weight[rho <= delta].sum() / s.weights.sum() <= np.exp(
                delta
            ) * bound * (1 + CLOSE)
        if t < 12:
            h = trainer.combine([fit.rounds.members[t]], np.ones(1))(s.rows)
            good = label * h[:, None]
            right, wrong = (
                (terms * np.maximum(q * good, 0)).sum() / terms.sum() for q in (1, -1)
            )
            assert fit.rounds.alphas[t] == pytest.approx(
                0.5 * np.log(right / wrong), rel=1e-6
            )
            bound *= 1 - right - wrong + 2 * np.sqrt(right * wrong)
            H = H + fit.rounds.alphas[t] * h


@pytest.mark.parametrize("tight", [False, True])
def test_the_bound_of_rankboost_holds_after_every_round(tight):
    """Wrong pairs <= Z_t <= prod sqrt(1 - r^2); with the tight step prod of 1 - R - W +
    2 sqrt(R W).
    """
    s = sample(3, n=24, weighted=True)
    method = RankBoost(rounds=10, step="tight" if tight else "loose")
    fit = _fit(method, s)
    pairs = np.array(
        [(m, n) for m, n in itertools.product(range(24), repeat=2) if s.y[m] > s.y[n]]
    ).T
    mass = s.weights[pairs[0]] * s.weights[pairs[1]]
    mass = mass / mass.sum()
    H = np.zeros(24)
    bound = 1.0
    for t in range(11):
        gap = H[pairs[0]] - H[pairs[1]]
        terms = mass * np.exp(-gap)
        assert fit.rounds.losses[t] == pytest.approx(terms.sum())
        assert fit.rounds.limits[t] == pytest.approx(bound)
        assert mass[gap <= 0].sum() <= terms.sum() <= bound * (1 + CLOSE)
        if t < 10:
            member = fit.rounds.members[t]
            h = member.sign * np.where(s.X[:, member.column] > member.cut, 1.0, -1.0)
            half = (h[pairs[0]] - h[pairs[1]]) / 2
            right, wrong = (
                (terms * np.maximum(q * half, 0)).sum() / terms.sum() for q in (1, -1)
            )
            bound *= (
                1 - right - wrong + 2 * np.sqrt(right * wrong)
                if tight
                else np.sqrt(1 - (right - wrong) ** 2)
            )
            H = H + fit.rounds.alphas[t] * h


@pytest.mark.parametrize("name", ["orboost-all", "orboost-lr", "adaboost-or"])
def test_the_summary_shows_the_theorem_by_round(name):
    fit = ordfit(
        "rank ~ x1 + x2", datasets.quadratic_bands(150, seed=1), name, rounds=60
    )
    (title,) = [t for t in fit.summary().tables if "training-error theorem" in t]
    table = fit.summary().tables[title]
    assert table.index.tolist()[0] == 0 and table.index.tolist()[-1] == 60
    for t, row in table.iterrows():
        cost = "classification" if name == "orboost-lr" else "absolute"
        assert row["cost"] == pytest.approx(fit.at(t).training_errors[f"{cost} error"])
        assert (
            row["cost"] <= row["loss"] * (1 + CLOSE) <= row["bound"] * (1 + 2 * CLOSE)
        )
    assert "bound by the rounds" in " ".join(str(fit.summary("all")).split())


@pytest.mark.parametrize("cost", ["absolute", "classification"])
@pytest.mark.parametrize(
    ("learner", "rounds"), [("stump", 2000), ("sigmoid", 200), ("perceptron", 200)]
)
def test_the_loss_falls_in_every_one_of_many_rounds(cost, learner, rounds):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(400, 6))
    y = (
        np.argsort(np.argsort(X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=400)))
        * 8
        // 400
    )
    fit = _fit(
        ORBoost(rounds=rounds, learner=learner, cost=cost),
        Sample(rows=Rows(X=X), y=y, n_levels=8),
    )
    assert fit.rounds.losses.size == rounds + 1
    assert (np.diff(fit.rounds.losses) <= CLOSE * fit.rounds.losses[:-1]).all()
    assert (np.diff(fit.rounds.thetas, axis=1) >= 0).all()

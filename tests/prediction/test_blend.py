"""`blend`: the mean of its members, and weights that no others beat."""

import numpy as np
import pandas as pd
import pytest
from problems import ranked
from scipy.special import logit
from scipy.stats import ttest_rel
from seams import held_weights

from ordstat import (
    REDSVM,
    Blend,
    CumulativeLink,
    OptionError,
    OrdinalBoosting,
    RPSForest,
    ordfit,
)
from ordstat.exceptions import DataError
from ordstat.prediction import blend
from ordstat.prediction.blend import _gain, _lead, simplex_weights


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(1)
    data = ranked(
        rng, 140, [-0.8, 0.2, 1.0], "ab", lambda d: np.sin(2 * d["a"]) + d["b"], 0.5
    )
    return data.assign(w=rng.integers(1, 3, 140))


def test_probabilities_are_the_mean_of_the_members(frame):
    new = frame.assign(a=frame["a"] + 0.1)
    logit, probit = (
        ordfit("y ~ a + b", frame, link).predict(new, type="prob")
        for link in ("logit", "probit")
    )
    members = ["logit", CumulativeLink(link="probit")]
    fit = ordfit("y ~ a + b", frame, "blend", members=members)
    np.testing.assert_allclose(
        fit.predict(new, type="prob"), (logit + probit) / 2, atol=1e-12
    )
    cumulative = fit.predict(new, type="cum_prob").to_numpy()
    assert (
        fit.predict(new).cat.codes.tolist()
        == ((1 - cumulative)[:, :-1] > 0.5).sum(axis=1).tolist()
    )
    assert fit.members["weight"].tolist() == [0.5, 0.5]


def test_the_usual_members(frame):
    fit = ordfit("y ~ a + b", frame, "blend")
    assert fit.members.index.tolist() == [
        "OrdinalBoosting()", "RPSForest()", "KernelCumulativeLink()", "REDSVM(C='cv')"
    ]  # fmt: skip
    assert fit.certificate.reached
    many = fit.design.sample.take(np.tile(np.arange(140), 40))
    assert [type(m).__name__ for m in Blend().methods(many)] == [
        "OrdinalBoosting",
        "RPSForest",
    ]


def test_a_member_without_probabilities_is_calibrated(frame):
    alone = ordfit("y ~ a + b", frame, REDSVM(C=1.0))
    fit = ordfit("y ~ a + b", frame, "blend", members=[REDSVM(C=1.0)])
    assert alone.fit.calibration is None
    actual = fit.predict(type="prob").to_numpy()
    np.testing.assert_allclose(actual.sum(axis=1), 1.0, atol=1e-12)
    own = (
        ordfit("y ~ a + b", frame, REDSVM(C=1.0), calibrate=True)
        .predict(type="prob")
        .to_numpy()
    )
    assert np.abs(actual - own).max() < 0.1  # other folds


def test_stacked_weights_are_the_best_for_the_held_out_rows(frame):
    """Weights found on a fine grid of the simplex cannot lower the penalised score of
    the same folds.
    """
    fit = ordfit(
        "y ~ a + b",
        frame,
        "blend",
        members=["logit", "cart", "cloglog"],
        average="stacked",
        weights="w",
    )
    shares = fit.members["weight"].to_numpy()[:3]
    table = fit.members
    assert shares.sum() == pytest.approx(1.0) and (shares >= 0).all()
    assert table.index[-1] == "all, blended"
    assert table["rps"].iloc[-1] <= table["rps"].iloc[:3].max()
    assert dict(fit.certificate.details)["relative duality gap of the weights"] < 1e-9


@pytest.mark.parametrize("seed", range(20))
def test_simplex_weights(seed):
    """No point of a grid of the simplex is lower, and the gap says so."""
    rng = np.random.default_rng(seed)
    errors = rng.normal(size=(3, 30)) + rng.normal(size=30)
    errors[rng.integers(3)] *= rng.choice([1.0, 5.0])
    gram = errors @ errors.T
    ridge = float(rng.choice([1e-6, 1.0, 100.0]))
    w, gap = simplex_weights(gram, ridge)
    assert (w >= 0).all() and w.sum() == pytest.approx(1.0) and gap < 1e-9

    def value(v):
        return np.einsum("...i,ij,...j", v, gram, v) + ridge * np.square(v - 1 / 3).sum(
            axis=-1
        )

    steps = np.arange(101) / 100
    first, second = np.meshgrid(steps, steps)
    grid = np.stack([first, second, 1 - first - second], axis=-1)
    assert value(w) <= value(grid[grid[..., 2] >= 0]).min() + 1e-9


def test_a_blend_of_equals_is_equal():
    w, _ = simplex_weights(np.ones((4, 4)), 1.0)
    np.testing.assert_allclose(w, 0.25, atol=1e-9)


@pytest.mark.parametrize(
    ("members", "words"),
    [
        (["logitt"], r"each of members of Blend must be one of .*Did you mean 'logit'"),
        ("logit", "members of Blend must"),
        (["blend"], "another method than a blend"),
    ],
    ids=["misspelled", "no list", "blend"],
)
def test_members_that_are_none(members, words):
    with pytest.raises(OptionError, match=words):
        Blend(members=members)


def test_errors_of_members(frame):
    with pytest.raises(DataError, match="AdaBoost takes a response of 2 levels"):
        ordfit("y ~ a", frame, "blend", members=["adaboost"])
    one = pd.DataFrame({"x": [1.0, 2.0, 3.0], "y": [1, 2, 3]})
    with pytest.raises(DataError, match="two rows of some level"):
        ordfit("y ~ x", one, "blend", members=["cart"], average="stacked")


def test_same_seed_same_blend(frame):
    members = [RPSForest(trees=20), "logit"]
    fits = [
        ordfit("y ~ a + b", frame, "blend", members=members, average="stacked", seed=s)
        for s in (1, 1, 2)
    ]
    new = frame.assign(a=frame["a"] + 0.1)
    first, again, other = (fit.predict(new, type="prob").to_numpy() for fit in fits)
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_copies_among_single_rows_are_dealt_out():
    """A few twins among many rows come by chance, and new rows have them too; where all
    rows are copies they do not.
    """
    x = np.arange(60.0)[:, None]
    y = np.arange(60) % 3
    rng = np.random.default_rng(0)
    some = np.where(np.arange(60) < 15, 2.0, 1.0)
    parted = held_weights(x, y, some, 5, rng)
    np.testing.assert_array_equal(parted.sum(axis=0), some)
    assert ((parted == 1.0) & (some == 2.0)).any()
    together = held_weights(x, y, np.full(60, 3.0), 5, rng)
    assert set(np.unique(together)) == {0.0, 3.0}


def test_the_lead_is_the_t_value_of_paired_differences():
    rng = np.random.default_rng(4)
    above = np.sort(rng.uniform(size=(3, 50, 2)))[..., ::-1]
    y = rng.integers(0, 3, 50)
    happened = y[:, None] > np.arange(2)
    of_members = np.square(above - happened).sum(axis=2)
    of_blend = np.square(above.mean(axis=0) - happened).sum(axis=1)
    best, lead = _lead(above, y, np.ones(50))
    assert best == of_members.mean(axis=1).argmin()
    t = ttest_rel(of_blend, of_members[best]).statistic
    assert lead == pytest.approx(t * np.sqrt(50 / 49))
    twice = _lead(above, y, np.full(50, 2.0))
    assert twice == (best, pytest.approx(lead))


@pytest.mark.parametrize(
    ("rows", "leads", "weights"),
    [
        (140, [(1, 1.1), (1, 2.6)], [0.0, 1.0]),
        (140, [(1, 1.1), (0, 2.4)], [0.5, 0.5]),
        (140, [(1, 0.9)], [0.5, 0.5]),
        (99, [], [0.5, 0.5]),
    ],
)
def test_one_default_member_is_used_if_it_leads_clearly(
    frame, monkeypatch, rows, leads, weights
):
    members = (CumulativeLink(), CumulativeLink(link="cloglog"))
    monkeypatch.setattr(Blend, "_chosen", lambda self, most: members)
    asked = []

    def lead(above, y, w):
        asked.append((above.shape, y.size, w.sum()))
        return leads[len(asked) - 1]

    monkeypatch.setattr(blend, "_lead", lead)
    data = frame.head(rows)
    fit = ordfit("y ~ a + b", data, "blend")
    assert fit.members["weight"].iloc[:2].tolist() == weights
    assert [size for _, size, _ in asked] == [28, 56][: len(leads)]
    assert all(shape == (2, size, 3) for shape, size, _ in asked)
    if weights == [0.0, 1.0]:
        alone = ordfit("y ~ a + b", data, "cloglog")
        np.testing.assert_allclose(
            fit.predict(type="prob"), alone.predict(type="prob"), atol=1e-12
        )
        assert fit.members.index[-1] == "all, blended"
    else:
        assert fit.members.columns.tolist() == ["weight"]


@pytest.mark.parametrize("gain", [1.1, 0.9])
def test_boosted_trees_alone_can_be_those_of_each_threshold(frame, monkeypatch, gain):
    members = (OrdinalBoosting(max_rounds=15, depth=1), CumulativeLink())
    monkeypatch.setattr(Blend, "_chosen", lambda self, most: members)
    monkeypatch.setattr(blend, "_lead", lambda above, y, w: (0, 9.0))
    monkeypatch.setattr(blend, "_gain", lambda above, other, y, w: (0.1, gain))
    fit = ordfit("y ~ a + b", frame, "blend")
    assert fit.members["weight"].tolist() == [1.0, 0.0, 1.0]
    # of one score the log odds of two thresholds differ by the same in all rows
    gaps = np.diff(logit(fit.predict(type="cum_prob").to_numpy()[:, :3]), axis=1)
    assert (np.ptp(gaps, axis=0).max() > 0.01) == (gain > 1.0)
    assert fit.members.index[0].startswith("Reduction(") == (gain > 1.0)


def test_the_gain_is_the_t_value_of_paired_differences():
    rng = np.random.default_rng(8)
    first, second = np.sort(rng.uniform(size=(2, 40, 3)))[..., ::-1]
    y = rng.integers(0, 4, 40)
    happened = y[:, None] > np.arange(3)
    scores = [np.square(P - happened).sum(axis=1) for P in (first, second)]
    mean, errors = _gain(first, second, y, np.ones(40))
    assert mean == pytest.approx(scores[1].mean() - scores[0].mean())
    t = ttest_rel(scores[1], scores[0]).statistic
    assert errors == pytest.approx(t * np.sqrt(40 / 39))


@pytest.mark.slow
def test_steps_are_left_to_the_boosted_trees():
    rng = np.random.default_rng(6)
    data = pd.DataFrame(rng.integers(0, 4, size=(250, 4)), columns=[*"abcd"])
    steps = 2 * (data["a"] > 1) + (data["b"] > 1) * (data["c"] > 1)
    fit = ordfit("y ~ a + b + c + d", data.assign(y=steps), "blend")
    assert fit.members["weight"].iloc[:4].tolist() == [1.0, 0.0, 0.0, 0.0]

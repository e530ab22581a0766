"""`blend`: the mean of its members, and weights that no others beat."""

from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from problems import ranked
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
from ordstat.formula.sample import Rows, Sample
from ordstat.prediction import blend, kernel_clm
from ordstat.prediction.blend import (
    HeldOutForecasts,
    _lead,
    alone_if_clear,
    simplex_weights,
    weights_by_evidence,
)
from ordstat.reduction.exceedances import score_gain


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
    assert fit.members.index[:4].tolist() == [
        "OrdinalBoosting()",
        "RPSForest()",
        "KernelCumulativeLink(landmarks=200)",
        "REDSVM(C='cv', folds=3)",
    ]
    assert fit.certificate.reached
    more = fit.design.sample.take(np.tile(np.arange(140), 15))
    assert Blend().methods(more)[2].landmarks is None
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
    # weights count rows
    twice = _lead(above, y, np.full(50, 2.0))
    again = _lead(np.tile(above, (1, 2, 1)), np.tile(y, 2), np.ones(100))
    assert twice == (best, pytest.approx(again[1]))
    assert again[1] == pytest.approx(np.sqrt(2.0) * lead)


def held_out(noise, n=120, n_thresholds=2, parts=()):
    """Held-out rows whose answers members know but for a noise of their own."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, n_thresholds + 1, n)
    happened = (y[:, None] > np.arange(n_thresholds)).astype(float)
    above = np.stack(
        [
            np.abs(happened - size * rng.uniform(size=(n, 1)) * np.ones(n_thresholds))
            for size in noise
        ]
    )
    return HeldOutForecasts(list(parts), above, y, np.ones(n))


LINKS = (CumulativeLink(), CumulativeLink(link="cloglog"))


def test_default_members_are_weighted_by_the_held_out_score():
    """No weights on a fine grid have a smaller penalised score."""
    found = held_out([0.8, 0.9])
    shares, more, errors, _ = weights_by_evidence(found, LINKS, (1, 2))
    happened = found.y[:, None] > np.arange(2)

    def value(w):
        mean = w * found.above[0] + (1 - w) * found.above[1]
        ridge = 0.5 * 2 * ((w - 0.5) ** 2 + (0.5 - w) ** 2)
        return np.square(mean - happened).sum() + ridge

    grid = np.linspace(0, 1, 1001)
    assert shares[0] == pytest.approx(
        grid[np.argmin([value(w) for w in grid])], abs=1e-3
    )
    assert 0.0 < shares[0] < 1.0
    assert more == ()
    assert errors[2, 0] < errors[:2, 0].min()


def test_a_member_that_leads_clearly_has_all_the_weight():
    """Weights are kept equal a little, which loses where one member knows it all."""
    found = held_out([1.0, 0.0])
    weights = weights_by_evidence(found, LINKS, (1, 2))
    chosen = alone_if_clear(weights, found.lead[1])
    assert not weights.alone
    assert chosen.shares.tolist() == [0.0, 1.0]
    assert chosen.alone
    assert chosen.errors[2].tolist() == [0.0, 0.0]


def test_the_weighted_mean_stays_where_no_member_is_clearly_better():
    found = held_out([1.0, 0.0])
    weights = weights_by_evidence(found, LINKS, (1, 2))
    lead = found.lead[1]
    assert alone_if_clear(weights, lead, clearly=lead) is weights
    best = weights._replace(errors=np.array([[0.2, 0], [0.1, 0], [0.1, 0]]))
    assert alone_if_clear(best, lead) is best


@pytest.mark.parametrize(("rows", "weighted"), [(100, True), (99, False)])
def test_few_rows_have_equal_weights(frame, monkeypatch, rows, weighted):
    monkeypatch.setattr(Blend, "_chosen", lambda self, most: LINKS)
    fit = ordfit("y ~ a + b", frame.head(rows), "blend")
    assert ("rps" in fit.members) == weighted
    equal = fit.members["weight"].iloc[:2].tolist() == [0.5, 0.5]
    assert equal != weighted


def test_weights_of_default_members_are_repeated_rows(frame):
    """Among the members C and rounds are chosen by folds; copies count as rows, so that
    70 rows are enough for held-out weights.
    """
    some = frame.head(70).assign(w=frame["w"] + 1)
    weighted = ordfit("y ~ a + b", some, "blend", weights="w")
    copies = some.loc[some.index.repeat(some["w"])]
    repeated = ordfit("y ~ a + b", copies, "blend")
    assert "rps" in weighted.members
    np.testing.assert_allclose(
        weighted.predict(some, type="prob"),
        repeated.predict(some, type="prob"),
        atol=1e-6,
    )


def test_kernels_of_few_rows_do_not_go_on_to_more_landmarks():
    """So that the share within which kernels go on has no effect on the blend."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = np.digitize(np.sin(3 * X[:, 0]) + rng.normal(size=300), [-0.5, 0.5])
    sample = Sample(rows=Rows(X=X), y=y, n_levels=3)
    forecasts = []
    for share in (0.0, np.inf):
        with patch.object(kernel_clm, "_NEAR", share):
            fit = Blend().methods(sample)[2].fit(sample, np.random.default_rng(1))
        forecasts.append(fit.rule.probabilities(sample.rows))
        assert fit.columns <= 200
    np.testing.assert_array_equal(*forecasts)


def test_rows_in_clusters_have_equal_weights(frame, monkeypatch):
    monkeypatch.setattr(Blend, "_chosen", lambda self, most: (*LINKS[:1], REDSVM()))
    clusters = np.arange(140) // 2
    fit = ordfit("y ~ a + b", frame, "blend", cluster=clusters)
    assert fit.members["weight"].tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("noise", "n_thresholds", "joins"),
    [([0.7, 0.9], 2, True), ([0.9, 0.7], 2, False), ([0.7, 0.9], 1, False)],
)
def test_trees_of_each_threshold_join_boosted_trees_of_much_weight(
    monkeypatch, noise, n_thresholds, joins
):
    found = held_out(noise, n_thresholds=n_thresholds)
    asked = []

    def forecast(self, method, seed):
        asked.append((method.encoding, seed))
        return found.above[0]

    monkeypatch.setattr(HeldOutForecasts, "by", forecast)
    chosen = weights_by_evidence(found, (OrdinalBoosting(), CumulativeLink()), (7, 8))
    assert asked == [("separate", 7)] * joins
    assert len(chosen.more) == joins
    assert chosen.shares.size == 2 + joins
    if joins:  # the same forecasts have the same weight
        assert chosen.shares[0] == pytest.approx(chosen.shares[2])


@pytest.mark.parametrize(
    ("noise", "ridge"), [([0.9, 0.95], 0.5 * 2), ([0.1, 0.12], None)]
)
def test_members_that_hardly_err_are_weighted_without_holding_back(
    monkeypatch, noise, ridge
):
    """The ridge is 1/2 times the thresholds, or 12 times the least score if less."""
    found = held_out(noise)
    monkeypatch.setattr(HeldOutForecasts, "by", lambda *_: found.above[1])
    chosen = weights_by_evidence(found, (OrdinalBoosting(), CumulativeLink()), (7, 8))
    happened = found.y[:, None] > np.arange(2)
    if ridge is None:
        ridge = 12.0 * np.square(found.above[0] - happened).sum(axis=1).mean()
        assert ridge < 0.5 * 2

    def value(w):  # the second and third member have the same forecasts
        mean = w * found.above[0] + (1 - w) * found.above[1]
        distance = (w - 1 / 3) ** 2 + 2 * ((1 - w) / 2 - 1 / 3) ** 2
        return np.square(mean - happened).sum() + ridge * distance

    grid = np.linspace(0, 1, 1001)
    best = grid[np.argmin([value(w) for w in grid])]
    assert 0.0 < best < 1.0
    assert chosen.shares[0] == pytest.approx(best, abs=1e-3)


def test_members_that_never_err_share_the_weight(monkeypatch):
    found = held_out([0.0, 0.5])
    monkeypatch.setattr(HeldOutForecasts, "by", lambda *_: found.above[0])
    chosen = weights_by_evidence(found, (OrdinalBoosting(), CumulativeLink()), (7, 8))
    np.testing.assert_allclose(chosen.shares, [0.5, 0.0, 0.5], atol=1e-4)
    assert chosen.gap < 1e-9


def test_members_that_join_are_fitted_to_all_rows(frame, monkeypatch):
    members = (OrdinalBoosting(max_rounds=15, depth=1), CumulativeLink())
    monkeypatch.setattr(Blend, "_chosen", lambda self, most: members)
    monkeypatch.setattr(blend, "_MUCH", -1.0)
    fit = ordfit("y ~ a + b", frame, "blend")
    table = fit.members
    assert table.index[2].startswith("Reduction(")
    assert table["weight"].iloc[:3].sum() == pytest.approx(1.0)
    assert table["rps"].iloc[3] <= table["rps"].iloc[:3].min() + 0.01
    assert np.isfinite(fit.predict(type="prob").to_numpy()).all()


def test_the_gain_is_the_t_value_of_paired_differences():
    rng = np.random.default_rng(8)
    first, second = np.sort(rng.uniform(size=(2, 40, 3)))[..., ::-1]
    y = rng.integers(0, 4, 40)
    happened = y[:, None] > np.arange(3)
    scores = [np.square(P - happened).sum(axis=1) for P in (first, second)]
    mean, errors = score_gain(first, second, y, np.ones(40))
    assert mean == pytest.approx(scores[1].mean() - scores[0].mean())
    t = ttest_rel(scores[1], scores[0]).statistic
    assert errors == pytest.approx(t * np.sqrt(40 / 39))


@pytest.mark.slow
def test_steps_are_left_to_trees():
    rng = np.random.default_rng(6)
    data = pd.DataFrame(rng.integers(0, 4, size=(250, 4)), columns=[*"abcd"])
    steps = 2 * (data["a"] > 1) + (data["b"] > 1) * (data["c"] > 1)
    fit = ordfit("y ~ a + b + c + d", data.assign(y=steps), "blend")
    weights = fit.members["weight"].iloc[:4].tolist()  # two kinds of trees, two kernels
    assert sum(weights[:2]) > 2 * sum(weights[2:])
    cells = pd.DataFrame(np.indices((4,) * 4).reshape(4, -1).T, columns=[*"abcd"])
    truth = 2 * (cells["a"] > 1) + (cells["b"] > 1) * (cells["c"] > 1)
    assert (fit.predict(cells).astype(int) == truth).all()

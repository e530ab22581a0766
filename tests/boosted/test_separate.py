"""`ordboost` with a leaf value for every threshold."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from ordstat import OptionError, OrdinalBoosting, load, ordfit
from ordstat.compiled.boost import OUTSIDE
from ordstat.compiled.separate import add_leaves, leaf_sums, separate_loss, signed_slopes
from ordstat.learners.losses.cumulative import SeparateThresholds
from ordstat.model.sample import Rows, Sample

from . import naive

PLAIN = {"loss": "logistic", "subsample": 1.0, "column_share": 1.0, "linear_start": False, "depth": 2}


def spread(n, seed=0):
    """Five levels, whose spread grows with b: effects are not parallel."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3)).round(1)
    H = x[:, 0] + 0.7 * np.exp(0.8 * x[:, 1]) * rng.logistic(size=n)
    return pd.DataFrame(x, columns=list("abc")).assign(y=np.digitize(H, [-2.0, -0.7, 0.7, 2.0]))


def plain_booster(codes, y, K, w, rounds, rate, rng, grower):
    """(N, K-1) scores and the thresholds of rounds by plain loops over thresholds."""
    H, n = np.zeros((y.size, K - 1)), w.sum()
    below = (np.cumsum(np.bincount(y, w, K))[:-1] + 0.25) / (n + 0.5)
    theta = np.log(below / (1 - below))
    for t in range(1, rounds + 1):
        slopes = [expit(H[:, k] - theta[k]) - (y > k) for k in range(K - 1)]
        curvatures = [expit(H[:, k] - theta[k]) * expit(theta[k] - H[:, k]) for k in range(K - 1)]
        signs = rng.choice([-1.0, 1.0], K - 1)
        g = sum(sign * slope for sign, slope in zip(signs, slopes, strict=True))
        tree = grower.tree(np.arange(y.size), g, sum(curvatures), w)
        for leaf in tree.leaves():
            inside = np.array([reached(tree, codes[:, i]) is leaf for i in range(y.size)])
            for k in range(K - 1):
                G, V = (w * slopes[k])[inside].sum(), (w * curvatures[k])[inside].sum()
                H[inside, k] += rate * np.clip(-G / (V + 1.0), -4, 4)
        if t % 10 == 0:
            for k in range(K - 1):
                p = expit(H[:, k] - theta[k])
                theta[k] += np.clip((w * (p - (y > k))).sum() / ((w * p * (1 - p)).sum() + 1e-6), -1, 1)
    return H, theta


def reached(node, codes):
    return node if node.column is None else reached(node.children[int(codes[node.column] not in node.left)], codes)


@pytest.mark.parametrize("weighted", [False, True])
def test_every_round_is_that_of_a_plain_booster(weighted):
    frame = spread(150)
    y = frame["y"].to_numpy()
    w = np.random.default_rng(1).integers(1, 4, y.size).astype(float) if weighted else np.ones(y.size)
    codes = np.stack([np.unique(frame[name], return_inverse=True)[1] for name in "abc"])
    X = np.stack([np.unique(frame[name])[code] for name, code in zip("abc", codes, strict=True)], axis=1)
    method = OrdinalBoosting(rounds=25, parallel=False, **PLAIN)
    sample = Sample(rows=Rows(X=X), y=y, n_levels=5, weights=w if weighted else None)
    fit = method.fit(sample, np.random.default_rng(3))
    grower = naive.Grower(codes=codes, depth=2, least=5.0)
    H, theta = plain_booster(codes, y, 5, w, 25, 0.05, np.random.default_rng(3), grower)
    np.testing.assert_allclose(fit.trees(sample.rows), H, atol=1e-9)
    np.testing.assert_allclose(fit.thetas[-1], theta, atol=1e-9)


def test_of_two_levels_it_is_the_parallel_model():
    frame = spread(300)
    frame["y"] = frame["y"] > 1
    fits = [
        ordfit("y ~ a + b + c", frame, "ordboost", rounds=30, parallel=parallel, **PLAIN) for parallel in (False, True)
    ]
    np.testing.assert_allclose(*(fit.predict(type="prob") for fit in fits), atol=1e-10)
    np.testing.assert_allclose(*(fit.rounds["loss"] for fit in fits), rtol=1e-10)


def test_it_learns_a_spread_that_one_score_cannot():
    train, new = spread(800), spread(3000, 1)
    losses = [
        ordfit("y ~ a + b + c", train, "ordboost", loss="logistic", parallel=parallel).errors(new)["new data"]
        for parallel in (True, False)
    ]
    assert losses[1]["log-loss"] < losses[0]["log-loss"] - 0.1
    assert losses[1]["ranked probability score"] < losses[0]["ranked probability score"] - 0.02


def test_probabilities_are_in_order_and_the_fit_is_whole(tmp_path):
    train, new = spread(300), spread(500, 1)
    separate = {"parallel": False, "loss": "logistic"}
    options = separate | {"depth": 3, "learning_rate": 0.4, "min_weight": 1.0, "seed": 4}
    fit = ordfit("y ~ a + b + c", train, "ordboost", rounds=60, **options)
    p = fit.predict(new, type="prob").to_numpy()
    assert p.min() >= 0 and np.allclose(p.sum(axis=1), 1.0)
    raw = expit(fit.fit.trees(fit.design.spec.rebuild(new).rows) - fit.fit.rule.above.theta)
    assert (np.diff(raw, axis=1) > 0).any()  # there was something to put in order
    np.testing.assert_allclose(np.sort(raw, axis=1)[:, ::-1], 1.0 - np.cumsum(p, axis=1)[:, :-1], atol=1e-12)
    assert fit.predict(new).cat.codes.tolist() == (raw > 0.5).sum(axis=1).tolist()
    assert fit.certificate.reached
    fit.save(tmp_path / "fit.ordstat")
    np.testing.assert_array_equal(load(tmp_path / "fit.ordstat").predict(new, type="prob"), p)
    short = ordfit("y ~ a + b + c", train, "ordboost", rounds=25, **options)
    np.testing.assert_allclose(short.more(35).predict(new, type="prob"), p, atol=1e-9)
    np.testing.assert_allclose(fit.at(25).predict(new, type="prob"), short.predict(new, type="prob"), atol=1e-9)
    staged = dict(fit.staged(new, "class", every=25))
    assert staged[25].tolist() == short.predict(new).tolist()
    assert fit.stopped_early(new).fit.kept <= 60
    jobs = [ordfit("y ~ a + b + c", train, "ordboost", n_jobs=n, max_rounds=60, **separate) for n in (1, 2)]
    pd.testing.assert_frame_equal(*(one.rounds for one in jobs))


def test_with_gaps_and_categories():
    train = spread(400).assign(f=np.tile(list("pqrs"), 100))
    train.loc[::7, "a"] = np.nan
    options = {"parallel": False, "loss": "logistic", "rounds": 20, "na_action": "keep"}
    fit = ordfit("y ~ a + b + f", train, "ordboost", **options)
    assert fit.predict(train.assign(b=np.nan), type="prob").notna().all(axis=None)


def test_what_goes_with_it():
    with pytest.raises(OptionError, match="parallel=False goes with loss='logistic'; got loss='likelihood'"):
        OrdinalBoosting(parallel=False)
    with pytest.raises(OptionError, match="constraints= go with parallel=True"):
        ordfit("y ~ a", spread(100), "ordboost", constraints="a >= 0", parallel=False, loss="logistic")


@pytest.mark.parametrize("seed", range(6))
def test_compiled_losses_and_leaves(seed):
    """Against the NumPy formulas, row by row; far scores too."""
    rng = np.random.default_rng(seed)
    N, Q, L = 80, int(rng.integers(1, 6)), 5
    y, theta = rng.integers(0, Q + 1, N).astype(np.uint16), np.sort(rng.normal(size=Q))
    H, w = rng.normal(size=(N, Q)) * rng.choice([1.0, 30.0, 400.0]), rng.integers(0, 3, N) * 1.0
    loss = SeparateThresholds()
    for weights in (w, np.empty(0)):
        p, g, h = np.empty((N, Q)), np.empty(N), np.empty(N)
        expected, G, V = loss.slopes(y, weights, H, theta)
        assert separate_loss(y, H, theta, weights, p) == pytest.approx(expected, rel=1e-12)
        assert loss.value(y, weights, H[:, 0], theta) == pytest.approx(loss.slopes(y, weights, H[:, 0], theta)[0])
        signs = rng.choice([-1.0, 1.0], Q)
        signed_slopes(y, p, signs, g, h)
        np.testing.assert_allclose(g, G @ signs, atol=1e-13)
        np.testing.assert_allclose(h, V.sum(axis=1), atol=1e-13)
        place, leaf = rng.integers(0, L, N).astype(np.uint16), rng.permutation(L).astype(np.int32)
        place[::7] |= OUTSIDE
        sums, factor = np.zeros((2, L, Q)), np.ones(N) if weights.size == 0 else weights
        leaf_sums(y, p, weights, place, leaf, *sums)
        for at in range(L):
            rows = np.flatnonzero((place < OUTSIDE) & (leaf[place % OUTSIDE] == at))
            np.testing.assert_allclose(sums[0][at], factor[rows] @ G[rows], atol=1e-12)
            np.testing.assert_allclose(sums[1][at], factor[rows] @ V[rows], atol=1e-12)
        values, moved = rng.normal(size=(L, Q)), H.copy()
        add_leaves(place, OUTSIDE - 1, leaf, values, moved)
        np.testing.assert_array_equal(moved, H + values[leaf[place % OUTSIDE]])


def two_spreads(n, seed):
    """Three levels, of which s = 1 has the outer ones far more often than s = 0: no single potential says that."""
    rng = np.random.default_rng(seed)
    a, s = rng.normal(size=n), rng.integers(0, 2, n)
    return pd.DataFrame({"a": a, "s": s, "y": np.digitize(a + (0.1 + 6.0 * s) * rng.logistic(size=n), [-1.5, 1.5])})


def test_held_out_rows_choose_between_one_potential_and_several(tmp_path):
    frame = two_spreads(240, 0)
    fit = ordfit("y ~ a + s", frame, "ordboost", depth=3, max_rounds=120, folds=3, seed=1, parallel="cv")
    assert type(fit.fit.trees).__name__ == "SeparateTrees"
    assert "a leaf value for each" in str(fit.summary())
    # The other kind is what is fitted where it is asked for, or where effects are parallel.
    single = ordfit("y ~ a + s", frame, "ordboost", depth=3, max_rounds=120, folds=3, seed=1, parallel=True)
    assert type(single.fit.trees).__name__ == "BoostedTrees"
    new = two_spreads(400, 1)
    losses = []
    for one in (fit, single):
        p = one.predict(new, type="prob").to_numpy()
        losses.append(-np.log(p[np.arange(len(new)), new["y"]]).mean())
    assert losses[0] < 0.95 * losses[1]
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 2))
    plain = pd.DataFrame(x, columns=list("ab")).assign(y=np.digitize(x[:, 0] + rng.logistic(size=200), [-1, 0, 1]))
    chosen = ordfit("y ~ a + b", plain, "ordboost", depth=1, seed=1, parallel="cv")
    assert type(chosen.fit.trees).__name__ == "BoostedTrees"
    asked = ordfit("y ~ a + b", plain, "ordboost", depth=1, seed=1, parallel=True)
    np.testing.assert_array_equal(chosen.predict(type="prob"), asked.predict(type="prob"))  # nothing else is drawn anew
    # What is asked of a fit knows what was chosen.
    longer = fit.more(3).at(fit.fit.kept)
    np.testing.assert_allclose(longer.predict(new, type="prob"), fit.predict(new, type="prob"), atol=1e-12)
    assert fit.at(5).fit.kept == 5
    assert (fit.at(5).method.parallel, fit.at(5).method.loss, fit.at(5).method.rounds) == (False, "logistic", 5)
    assert len(fit.staged_errors(new)) > 1 and fit.stopped_early(new).fit.kept <= fit.fit.kept
    fit.save(tmp_path / "fit.ordstat")
    np.testing.assert_array_equal(
        load(tmp_path / "fit.ordstat").predict(new, type="prob"), fit.predict(new, type="prob")
    )


def test_a_blend_weighs_its_members_where_one_potential_is_wrong():
    frame, new = two_spreads(240, 0), two_spreads(200, 1)
    fit = ordfit("y ~ a + s", frame, "blend", seed=1)
    usual = ["OrdinalBoosting()", "RPSForest()", "KernelCumulativeLink()", "REDSVM(C='cv')"]
    assert fit.members.index.tolist() == [*usual, "all, blended"]
    weight, rps = fit.members["weight"].to_numpy(), fit.members["rps"].to_numpy()
    assert weight[:4].sum() == pytest.approx(1.0) and weight[4] == 1.0
    # Weights are those of held-out rows: the blend is better than equal members are on average, the best has the most.
    assert rps[4] <= rps[:4].mean() and weight[:4].argmax() == rps[:4].argmin()
    rows = fit.design.spec.rebuild(new).rows
    above = np.tensordot(weight[:4], [member(rows) for member in fit.fit.mixture.members], axes=1)
    found = 1.0 - fit.predict(new, type="cum_prob").to_numpy()[:, :-1]
    np.testing.assert_allclose(found, above, atol=1e-12)
    assert "rows held out, as these contradict one potential" in " ".join(str(fit.summary()).split())
    # Members that were asked for stay as they were asked for.
    asked = ordfit("y ~ a + s", frame, "blend", members=["ordboost", "logit", "kernel-clm"], seed=1)
    assert asked.members["weight"].tolist() == pytest.approx([1 / 3] * 3)

"""`ordboost(average=True)` against the mean of models that are fitted one by one."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from ordstat import OptionError, OrdinalBoosting, load, ordfit
from ordstat.model.boosted.shapley import shapley_values
from ordstat.model.sample import Rows, Sample


def data(n=160, seed=0):
    """Four levels, a column of categories among the inputs, gaps in another."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.normal(size=n).round(2), "b": rng.normal(size=n).round(2)})
    frame["f"] = rng.choice(list("pqrs"), n)
    H = np.sin(2 * frame["a"]) + frame["b"] ** 2 + frame["f"].isin(["p", "r"]) + 0.4 * rng.logistic(size=n)
    frame.loc[::9, "b"] = np.nan
    return frame.assign(y=np.digitize(H, [0.5, 1.2, 2.0]))


def sample_of(frame, **parts):
    codes = frame["f"].map({name: place for place, name in enumerate("pqrs")})
    X = np.column_stack([frame["a"], frame["b"], codes]).astype(float)
    return Sample(rows=Rows(X=X), y=frame["y"].to_numpy(), n_levels=4, categories=np.array([0, 0, 4]), **parts)


def models_one_by_one(method, sample, rounds, seed):
    """(M, N) or (M, N, K-1) scores of the different rows and (M, K-1) thresholds: of all rows, then of each fold."""
    rng = np.random.default_rng(seed)
    training = method._training(sample)
    weights = training.data.weights
    held = training.held(method.folds or 5, rng)
    penalty = training.best_ridge(held, rng) if method.linear_start else None
    seeds = rng.integers(2**63, size=len(held))
    settings = method.settings(training, method.depth)

    def grown(weights, rng):
        booster = training.booster(settings, training.linear(weights, penalty), weights, rng)
        for _ in range(rounds):
            booster.add()
        return booster.scores, booster.theta

    found = [
        grown(weights, rng),
        *(grown(weights - out, np.random.default_rng(s)) for out, s in zip(held, seeds, strict=True)),
    ]
    return training, np.stack([H for H, _ in found]), np.stack([theta for _, theta in found])


@pytest.mark.parametrize("linear_start", [True, False])
@pytest.mark.parametrize("parallel", [True, False])
def test_it_is_the_mean_of_the_models_fitted_one_by_one(parallel, linear_start):
    own = {} if parallel else {"parallel": False, "loss": "logistic"}
    method = OrdinalBoosting(rounds=35, depth=2, folds=4, average=True, linear_start=linear_start, **own)
    sample = sample_of(data())
    fit = method.fit(sample, np.random.default_rng(5))
    training, scores, thetas = models_one_by_one(method, sample, 35, 5)
    assert len(scores) == fit.trees.models == 5
    H = scores.mean(axis=0)
    np.testing.assert_allclose(fit.trees(training.rows), H, atol=1e-12)
    np.testing.assert_allclose(fit.thetas[-1], thetas.mean(axis=0), atol=1e-12)
    theta, slope = training.best_thresholds(H, thetas.mean(axis=0))
    assert slope < 1e-6 and fit.certificate.reached
    above = expit((H[:, None] if parallel else H) - theta)
    found = 1.0 - fit.rule.cum_probabilities(training.rows)[:, :-1]
    np.testing.assert_allclose(found, np.sort(above, axis=1)[:, ::-1], atol=1e-10)


def test_models_that_stopped_before_the_chosen_round_go_on():
    method = OrdinalBoosting(depth=2, folds=3, patience=5, average=True, linear_start=False, learning_rate=0.3)
    sample = sample_of(data())
    fit = method.fit(sample, np.random.default_rng(3))
    T = fit.held_out.rounds
    assert fit.trees.rounds == T > 0 and len(fit.trees.trees) == 4 * T
    training, scores, _ = models_one_by_one(method, sample, T, 3)
    np.testing.assert_allclose(fit.trees(training.rows), scores.mean(axis=0), atol=1e-12)
    alone = OrdinalBoosting(depth=2, folds=3, patience=5, linear_start=False, learning_rate=0.3)
    plain = alone.fit(sample, np.random.default_rng(3))
    np.testing.assert_array_equal(plain.held_out.curve, fit.held_out.curve)  # the choice is the same
    np.testing.assert_allclose(plain.trees(training.rows), scores[0], atol=1e-12)


def test_shapley_values_are_the_mean_of_those_of_the_models():
    sample = sample_of(data())
    fit = OrdinalBoosting(rounds=12, depth=3, folds=3, average=True).fit(sample, np.random.default_rng(1))
    group, weights = np.arange(3), np.ones(sample.n)
    values, base = shapley_values(fit.trees, sample.rows, sample.rows, weights, group, 3)
    np.testing.assert_allclose(base + values.sum(axis=1), fit.trees(sample.rows), atol=1e-11)
    found, bases = np.zeros(values.shape), 0.0
    for m in range(4):  # the trees of a model alone, with all of their values: those of the start are apart
        one = fit.trees.__class__(
            slopes=fit.trees.slopes,
            cuts=fit.trees.cuts,
            trees=fit.trees.trees[m::4],
            missing=fit.trees.missing,
            effects=fit.trees.effects,
        )
        alone, base_alone = shapley_values(one, sample.rows, sample.rows, weights, group, 3)
        found, bases = found + alone, bases + base_alone
    none = fit.trees.upto(0)
    start, base_start = shapley_values(none, sample.rows, sample.rows, weights, group, 3)
    np.testing.assert_allclose(values, found - 3 * start, atol=1e-11)
    assert base == pytest.approx(bases - 3 * base_start, abs=1e-11)


def test_rounds_of_a_mean(tmp_path):
    train, new = data(), data(300, 1)
    options = {"depth": 2, "average": True, "na_action": "keep", "seed": 2}
    fit = ordfit("y ~ a + b + f", train, "ordboost", rounds=40, **options)
    short = ordfit("y ~ a + b + f", train, "ordboost", rounds=15, **options)
    p = short.predict(new, type="prob").to_numpy()
    np.testing.assert_allclose(fit.at(15).predict(new, type="prob"), p, atol=1e-9)
    assert dict(fit.staged(new, "class", every=15))[15].tolist() == short.predict(new).tolist()
    errors = fit.staged_errors(new, every=15)
    assert errors.loc[15, "new absolute"] == pytest.approx(short.errors(new).loc["absolute error", "new data"])
    assert fit.stopped_early(new).fit.kept <= 40
    with pytest.raises(OptionError, match=r"the mean of 6. Fit again with rounds=50, or with average=False"):
        fit.more(10)
    short.save(tmp_path / "mean.ordstat")
    np.testing.assert_array_equal(load(tmp_path / "mean.ordstat").predict(new, type="prob"), p)
    jobs = ordfit("y ~ a + b + f", train, "ordboost", rounds=15, n_jobs=2, **options)
    np.testing.assert_array_equal(jobs.predict(new, type="prob"), p)


def test_losses_are_those_of_the_mean_and_the_summary_says_so():
    train = data()
    fit = ordfit("y ~ a + b + f", train.dropna(), "ordboost", rounds=20, depth=2, average=True, seed=2)
    for rounds in (0, 7, 20):
        p = fit.at(rounds).predict(type="prob").to_numpy()
        mean = -np.log(p[np.arange(len(p)), train.dropna()["y"]]).mean()
        # Thresholds of a stage have one more step to their optimum in predictions.
        assert mean <= fit.rounds["loss"][rounds] + 1e-12 and mean == pytest.approx(
            fit.rounds["loss"][rounds], abs=0.02
        )
    assert "6 models: of all rows, and of all but each fold" in str(fit.summary())
    assert fit.importance()["importance"].sum() == pytest.approx(1.0)
    table = fit.shapley(train.dropna().head(9))
    np.testing.assert_allclose(table.sum(axis=1), fit.predict(train.dropna().head(9), type="score"), atol=1e-10)


def test_where_there_is_nothing_to_learn_there_is_no_mean():
    fit = ordfit("y ~ 1", data(), "ordboost", average=True)
    assert fit.fit.trees.models == 1 and "models:" not in str(fit.summary())

"""calibrate=True: the maps against an independent optimiser, the folds by hand, the
probabilities against the truth.
"""

import pickle

import numpy as np
import pandas as pd
import pytest
from light_options import LIGHT
from scipy.optimize import minimize
from scipy.special import log_expit, log_softmax
from seams import METHODS, Rows, Sample
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from ordstat import (
    DataError,
    DataWarning,
    Gaussian,
    OptionError,
    OrdinalClassifier,
    SeparationWarning,
    datasets,
    ordfit,
)
from ordstat.prediction.calibrated import Calibrated, Dealt
from ordstat.prediction.probabilities import fit_score_map, fit_vote_map, separated

from .samples import brier, latent, log_loss, truth

FORMULA = "y ~ x1 + x2"
RANKERS = [
    name
    for name, entry in METHODS.items()
    if not hasattr(entry.method.results_class, "with_vcov")
]
#: A linear machine, votes, an ensemble and an online ranker.
SOME = ("svor-imc", "csovo", "orboost-all", "prank", "cusum")


def fitted(frame, method, calibrate=True, **arguments):
    return ordfit(FORMULA, frame, method, calibrate=calibrate, **arguments)


# Every method


@pytest.mark.filterwarnings("ignore::ordstat.OrdstatWarning")
@pytest.mark.parametrize(
    "method",
    [
        pytest.param(name, marks=pytest.mark.slow if name == "red-hgb" else ())
        for name in RANKERS
    ],
)
def test_every_ranker_has_probabilities(method):
    frame = latent(80, 0)
    if METHODS[method].method.supports.two_levels_only:
        frame = frame.assign(y=pd.Categorical(frame["y"].cat.codes > 1, ordered=True))
    light = LIGHT.get(method, {})
    plain = ordfit(FORMULA, frame, method, **light)
    fit = fitted(frame, method, 2, **light)
    new = latent(40, 1)
    prob = fit.predict(new, type="prob")
    cum = fit.predict(new, type="cum_prob")
    assert (
        prob.columns.tolist()
        == cum.columns.tolist()
        == frame["y"].cat.categories.tolist()
    )
    assert (prob.to_numpy() >= 0).all()
    np.testing.assert_allclose(prob.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(prob.cumsum(axis=1), cum, atol=1e-12)
    np.testing.assert_array_equal(
        prob, fit.fit.calibration.probabilities(fit.target(new).scores)
    )
    # The ranker is that of the same seed without calibration.
    assert fit.predict(new).tolist() == plain.predict(new).tolist()
    again = pickle.loads(pickle.dumps(fit))
    pd.testing.assert_frame_equal(again.predict(new, type="prob"), prob)
    if method in SOME:
        pd.testing.assert_frame_equal(
            fitted(frame, method, 2).predict(new, type="prob"), prob
        )
    assert "calibrate=2" in fit.call
    assert "cross-fitted in 2 folds" in str(fit.summary("all"))


@pytest.mark.parametrize("method", ["svor-imc", "prank", "orboost-all"])
def test_a_higher_score_raises_every_cumulative_probability(method):
    fit = fitted(latent(150, 0), method)
    new = latent(200, 1)
    order = np.argsort(fit.predict(new, type="score").to_numpy())
    assert (
        np.diff(fit.predict(new, type="cum_prob").to_numpy()[order, :-1], axis=0)
        <= 1e-15
    ).all()


# The maps


def _smoothed(y, n_levels, weights):
    """One more observation, spread over all rows and levels by their shares."""
    n = weights.sum()
    shares = [weights[y == k].sum() / n for k in range(n_levels)]
    out = np.zeros((y.size, n_levels))
    for i in range(y.size):
        for k in range(n_levels):
            out[i, k] = weights[i] * (y[i] == k) + weights[i] / n * shares[k]
    return out


@pytest.mark.parametrize("n_levels", [2, 3, 6])
@pytest.mark.parametrize("informative", [0.5, 5.0])
def test_the_score_map_maximises_the_smoothed_likelihood(n_levels, informative):
    rng = np.random.default_rng(n_levels)
    H = 3.0 + 2.0 * rng.standard_normal(90)
    y = np.argsort(np.argsort(informative * H + rng.logistic(size=90))) * n_levels // 90
    weights = rng.uniform(0.2, 3.0, 90)
    targets = _smoothed(y, n_levels, weights)

    def loss(parameters):
        theta = np.cumsum(np.append(parameters[1], np.exp(parameters[2:])))
        ends = np.full((90, n_levels + 1), np.inf)
        ends[:, 0], ends[:, 1:-1] = -np.inf, theta - parameters[0] * H[:, None]
        upper = ends[:, 1:]
        lower = ends[:, :-1]
        # log(F(u) - F(l)), without cancellation
        logs = log_expit(upper) + log_expit(-lower) + np.log1p(-np.exp(lower - upper))
        return -float(np.sum(targets * logs))

    actual = fit_score_map(H, y, n_levels, weights)
    estimates = np.concatenate(
        [[actual.slope], [actual.intercept[0]], np.log(np.diff(actual.intercept))]
    )
    # The likelihood is concave in slope and thresholds: where it is flat it is highest.
    steps = 1e-4 * np.eye(estimates.size)
    slopes = [
        (loss(estimates + step) - loss(estimates - step)) / 2e-4 for step in steps
    ]
    np.testing.assert_allclose(slopes, 0.0, atol=1e-4)
    assert all(
        loss(estimates + sign * 30 * step) > loss(estimates)
        for step in steps
        for sign in (1, -1)
    )


@pytest.mark.parametrize("n_levels", [2, 3, 6])
def test_the_vote_map_maximises_the_smoothed_likelihood(n_levels):
    rng = np.random.default_rng(n_levels)
    votes = 5.0 * rng.standard_normal((90, n_levels))
    y = np.argmax(0.3 * votes + rng.gumbel(size=votes.shape), axis=1)
    y[:n_levels] = np.arange(n_levels)
    weights = rng.uniform(0.2, 3.0, 90)
    targets = _smoothed(y, n_levels, weights)

    def loss(parameters):
        return -float(
            np.sum(
                targets
                * log_softmax(
                    np.append(0.0, parameters[:-1]) + parameters[-1] * votes, axis=1
                )
            )
        )

    best = minimize(loss, np.zeros(n_levels), method="BFGS", options={"gtol": 1e-7})
    actual = fit_vote_map(votes, y, n_levels, weights)
    estimates = np.append(actual.intercept[1:] - actual.intercept[0], actual.slope)
    assert loss(estimates) <= best.fun + 1e-8
    np.testing.assert_allclose(estimates, best.x, rtol=1e-4, atol=1e-4)
    assert abs(actual.intercept.sum()) < 1e-9


@pytest.mark.parametrize("fit", [fit_score_map, fit_vote_map])
@pytest.mark.parametrize("kind", ["backwards", "constant"])
def test_scores_without_use_give_the_shares(fit, kind):
    y = np.array([0] * 10 + [1] * 20 + [2] * 70)
    scores = -y.astype(np.float64) if kind == "backwards" else np.full(100, 3.5)
    if fit is fit_vote_map:
        scores = -np.eye(3)[y] if kind == "backwards" else np.ones((100, 3))
    result = fit(scores, y, 3, np.ones(100))
    assert result.slope == 0.0
    np.testing.assert_allclose(
        result.probabilities(scores)[:4], [[0.1, 0.2, 0.7]] * 4, rtol=1e-12
    )


@pytest.mark.parametrize("gap", [1e-3, 1.0, 1e6])
def test_separated_scores_keep_probabilities_off_zero_and_one(gap):
    y = np.repeat(np.arange(4), 25)
    H = gap * y + 1e-4 * gap * np.random.default_rng(0).random(100)
    assert separated(H, y, 4)
    actual = fit_score_map(H, y, 4, np.ones(100))
    p = actual.probabilities(H)
    assert np.isfinite(p).all() and (p > 0).all()
    # The truth is smoothed by about one observation in 100.
    assert 0.9 < p[np.arange(100), y].mean() < 1.0
    swapped = H.copy()
    swapped[[24, 25]] = H[[25, 24]]
    assert not separated(swapped, y, 4)


# The folds


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_are_dealt_whole_evenly_and_whatever_their_order(weighted):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((101, 2))
    y = rng.integers(0, 4, 101)
    w = rng.integers(0, 4, 101).astype(np.float64) if weighted else None
    sample = Sample(rows=Rows(X=X), y=y, n_levels=4, weights=w)
    dealt = Dealt.of(sample, 5, np.random.default_rng(1))
    np.testing.assert_array_equal(
        np.bincount(dealt.rows, weights=dealt.weights, minlength=101),
        np.ones(101) if w is None else w,
    )
    cells = np.zeros((5, 4))
    np.add.at(cells, (dealt.fold, y[dealt.rows]), dealt.weights)
    assert (np.ptp(cells, axis=0) <= 1).all() and np.ptp(cells.sum(axis=1)) <= 1
    for f in range(5):
        part, inside = dealt.without(sample, f)
        held = np.bincount(
            dealt.rows[dealt.fold == f],
            weights=dealt.weights[dealt.fold == f],
            minlength=101,
        )
        left = sample.case_weights - held
        np.testing.assert_array_equal(inside, np.flatnonzero(left))
        np.testing.assert_array_equal(part.case_weights, left[inside])
    order = rng.permutation(101)
    other = Dealt.of(sample.take(order), 5, np.random.default_rng(1))
    mine = sorted(zip(dealt.rows, dealt.fold, dealt.weights, strict=True))
    theirs = sorted(zip(order[other.rows], other.fold, other.weights, strict=True))
    assert mine == theirs


@pytest.mark.parametrize("method", ["svor-imc", "csovo"])
def test_scores_are_those_of_fits_without_the_fold(method):
    frame = latent(60, 3)
    fit = fitted(frame, method, kernel="linear", tol=1e-10)
    calibration = fit.fit.calibration
    sample = fit.design.sample
    whole = fit.fit.scores
    calibrated = Calibrated.of(fit.method, True)
    estimates = np.random.default_rng(np.random.default_rng(0).integers(2**63))
    dealt = Dealt.of(sample, calibrated.folds, estimates)
    np.testing.assert_array_equal(dealt.rows, calibration.rows)
    for f in range(5):
        inside = np.setdiff1d(np.arange(60), dealt.rows[dealt.fold == f])
        rule = fit.method.fit(sample.take(inside), estimates).rule
        learned = rule.scores(sample.rows.take(inside))
        held = dealt.rows[dealt.fold == f]
        new = rule.scores(sample.rows.take(held))
        if new.ndim == 2:
            learned, new, mine = (
                v - v.mean(axis=1, keepdims=True) for v in (learned, new, whole[inside])
            )
            expected = new * np.sqrt((mine**2).mean() / (learned**2).mean())
        else:
            expected = (new - learned.mean()) / learned.std() * whole[
                inside
            ].std() + whole[inside].mean()
        np.testing.assert_allclose(
            calibration.scores[dealt.fold == f], expected, rtol=1e-5, atol=1e-6
        )


@pytest.mark.parametrize("method", ["svor-imc", "csovo", "orboost-all"])
def test_order_and_repetition_of_rows_do_not_matter(method):
    frame = latent(60, 2)
    tight = {} if method == "orboost-all" else {"tol": 1e-10}
    repeated = frame.loc[frame.index.repeat(frame["w"])].sample(
        frac=1.0, random_state=1
    )
    weighted = fitted(frame, method, weights="w", **tight).predict(frame, type="prob")
    np.testing.assert_allclose(
        fitted(repeated, method, **tight).predict(frame, type="prob"),
        weighted,
        atol=1e-4,
    )


@pytest.mark.parametrize("method", SOME)
def test_a_level_that_only_one_row_has(method):
    frame = latent(60, 2)
    frame["y"] = frame["y"].cat.add_categories([5])
    frame.loc[7, "y"] = 5
    p = fitted(frame, method).predict(type="prob")
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert 0.0 < p[5].mean() < 0.2


def test_a_level_that_all_rows_but_one_have_is_refused():
    frame = latent(60, 2).assign(y=pd.Categorical(np.arange(60) == 5, ordered=True))
    with pytest.raises(DataError, match="two levels in every training part"):
        fitted(frame, "svor-imc")


# Words


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            {"method": "svor-imc", "calibrate": 1},
            "calibrate must be a whole number, 2 or more .folds., True or False",
        ),
        ({"method": "svor-imc", "calibrate": "yes"}, "got 'yes'"),
        (
            {"method": "svor-imc", "calibrate": 61},
            "must not exceed the number of rows, 60",
        ),
        (
            {"method": "logit", "calibrate": True},
            "calibrate= must be left out for CumulativeLink",
        ),
        (
            {"method": "redsvm", "kernel": "precomputed", "calibrate": True},
            "precomputed",
        ),
    ],
)
def test_refusals(arguments, words):
    with pytest.raises(OptionError, match=words):
        ordfit(FORMULA, latent(60, 2), **arguments)


def test_without_calibration_the_error_says_how_to_get_it():
    fit = ordfit(FORMULA, latent(60, 2), "svor-imc")
    with pytest.raises(OptionError, match="calibrate=True"):
        fit.predict(type="prob")
    with pytest.raises(OptionError, match="calibrate=True"):
        fit.reliability()


def test_separated_rows_are_warned_of():
    frame = latent(200, 0)
    x = np.linspace(-2.0, 2.0, 200)
    frame = frame.assign(
        x1=x,
        x2=0.0,
        y=pd.Categorical(np.searchsorted([-1.0, 0.05, 1.0], x), ordered=True),
    )
    frame = frame[np.abs(x[:, None] - np.array([-1.0, 0.05, 1.0])).min(axis=1) > 0.1]
    with pytest.warns(SeparationWarning, match="without a mistake"):
        fit = ordfit(
            "y ~ x1", frame, "rank-svm", kernel="linear", C=100, calibrate=True
        )
    p = fit.predict(type="prob").to_numpy()
    assert np.isfinite(p).all() and p.min() > 0.0


def noise(n, seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.standard_normal((n, 4)), columns=["a", "b", "c", "d"])
    return frame.assign(y=pd.Categorical(rng.integers(0, 3, n), ordered=True))


def test_a_ranker_that_learns_noise_by_heart_knows_that_it_knows_nothing():
    """Its training scores are of no use for probabilities."""
    frame = noise(150, 0)
    new = noise(2000, 100)
    with pytest.warns(DataWarning, match="shares of the levels"):
        fit = ordfit(
            "y ~ a + b + c + d",
            frame,
            "redsvm",
            kernel=Gaussian(gamma=20.0),
            C=100,
            calibrate=True,
        )
    assert fit.training_errors["classification error"] < 0.02
    naive = fit_score_map(fit.fit.scores, fit.design.sample.y, 3, np.ones(150))
    assert (
        log_loss(
            naive.probabilities(fit.predict(new, type="score").to_numpy()), new["y"]
        )
        > np.log(3) + 0.5
    )
    shares = frame["y"].value_counts(normalize=True, sort=False)
    np.testing.assert_allclose(
        fit.predict(new, type="prob"), [shares] * 2000, rtol=1e-9
    )


def test_update_errors_augment_and_later_fits():
    frame = latent(120, 2)
    fit = fitted(frame, "orboost-all", rounds=20)
    assert fit.update("~ . - x2").fit.calibration.folds == 5
    assert fit.update(calibrate=3).fit.calibration.folds == 3
    assert fit.update(calibrate=False).fit.calibration is None
    errors = fit.errors(cv=4)
    assert errors.loc[["log-loss", "Brier score"]].notna().all(axis=None)
    assert errors.loc["log-loss", "training"] < errors.loc["log-loss", "cv"] < np.log(4)
    np.testing.assert_array_equal(
        fit.augment().filter(like=".prob_"), fit.predict(type="prob")
    )
    # calibrated for all rounds, not for five of them
    with pytest.raises(OptionError, match="not available"):
        fit.at(5).predict(type="prob")


# scikit-learn


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("method", "options"),
    [
        pytest.param("redsvm", {}, marks=pytest.mark.slow),
        ("ovo", {}),
        ("orboost-all", {"rounds": 10}),
    ],
    ids=str,
)
def test_scikit_learn_checks(method, options):
    model = OrdinalClassifier(method, calibrate=2, **options)
    outcomes = check_estimator(model, on_skip=None, on_fail=None)
    amiss = {
        o["check_name"]: repr(o["exception"])
        for o in outcomes
        if o["status"] != "passed"
    }
    # This one wants the most probable label predicted; ranks stay those of the ranker.
    assert "Arrays are not equal" in amiss.pop(
        "check_classifiers_train", "Arrays are not equal"
    )
    assert set(amiss) <= {"check_array_api_input"}, amiss


def test_predict_proba_comes_and_goes_with_calibrate():
    frame = latent(90, 0)
    X = frame[["x1", "x2"]]
    y = frame["y"].astype(int)
    assert not hasattr(OrdinalClassifier("svor-imc"), "predict_proba")
    model = clone(OrdinalClassifier("svor-imc", calibrate=3, C=2.0)).fit(X, y)
    assert model.get_params()["calibrate"] == 3
    assert repr(model) == "OrdinalClassifier('svor-imc', calibrate=3, C=2.0)"
    assert not hasattr(OrdinalClassifier("prank", calibrate=True), "partial_fit")
    same = ordfit("y ~ x1 + x2", frame.assign(y=y), "svor-imc", C=2.0, calibrate=3)
    np.testing.assert_allclose(
        model.predict_proba(X), same.predict(X, type="prob"), rtol=1e-10
    )


# Against the truth


@pytest.mark.parametrize(
    ("method", "options", "near"),
    [
        ("redsvm", {"kernel": "linear"}, 0.03),
        ("redsvm", {"kernel": Gaussian(gamma=1.0), "C": 30.0}, 0.06),
        ("prank", {}, 0.03),
        ("orboost-all", {"rounds": 300}, 0.07),
        ("csovo", {"kernel": "linear"}, 0.08),
    ],
)
def test_probabilities_are_near_the_truth(method, options, near):
    """Nearer than the shares, and than a map learned on training scores where these are
    too good.
    """
    frame = latent(500, 4)
    new = latent(4000, 5)
    fit = fitted(frame, method, **options)
    p = fit.predict(new, type="prob").to_numpy()
    true = truth(new)
    assert np.abs(p - true).mean() < near
    shares = np.tile(np.bincount(frame["y"].cat.codes) / 500, (4000, 1))
    for loss, gain in ((log_loss, 0.15), (brier, 0.05)):
        assert loss(true, new["y"]) < loss(p, new["y"]) < loss(shares, new["y"]) - gain
    if method == "orboost-all":
        scores = fit.predict(new, type="score").to_numpy()
        naive = fit_score_map(
            fit.fit.scores, fit.design.sample.y, 4, np.ones(500)
        ).probabilities(scores)
        assert log_loss(p, new["y"]) < log_loss(naive, new["y"]) - 0.01
        assert brier(p, new["y"]) < brier(naive, new["y"])


def _real(name):
    frame = datasets.load(name)
    if name == "housing":
        return "Sat ~ Infl + Type + Cont", frame.loc[
            frame.index.repeat(frame["Freq"])
        ].reset_index(drop=True)
    return {
        "wine": "rating ~ temp + contact",
        "anes96": "PID ~ selfLR + age + educ + income",
    }[name], frame


@pytest.mark.slow
@pytest.mark.parametrize("method", ["redsvm", "orboost-all", "csovo"])
@pytest.mark.parametrize("name", ["wine", "housing", "anes96"])
def test_real_sets_are_predicted_better_than_by_their_shares(name, method):
    formula, frame = _real(name)
    rng = np.random.default_rng(0)
    mine = []
    base = []
    for _ in range(5):
        held = rng.permutation(len(frame)) < len(frame) // 3
        train = frame[~held]
        test = frame[held]
        response = formula.split(" ~ ")[0]
        p = ordfit(formula, train, method, calibrate=True).predict(test, type="prob")
        mine.append(log_loss(p, test[response]))
        counts = train[response].value_counts(sort=False) + 0.5
        base.append(
            log_loss(np.tile(counts / counts.sum(), (len(test), 1)), test[response])
        )
    assert np.mean(mine) < np.mean(base)

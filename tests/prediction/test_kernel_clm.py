"""`kernel-clm`: the penalised likelihood of explicit features, the evidence by
quadrature, landmarks, new rows.
"""

import numpy as np
import pandas as pd
import pytest
from expected import not_definite
from scipy.optimize import root
from scipy.special import expit
from seams import LINKS, Cumulative, Rows, Sample

from ordstat import (
    CumulativeLink,
    Gaussian,
    KernelCumulativeLink,
    Laplacian,
    OptionError,
    Perceptron,
    Polynomial,
    ordfit,
)
from ordstat.kernels import Custom
from ordstat.prediction.kernel_features import (
    Evidence,
    FeatureRows,
    exact_features,
    log_evidence,
)
from ordstat.svm.landmarks import landmark_features

FORMULA = "y ~ a + b"


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(3)
    x = rng.uniform(-1, 1, size=(120, 2))
    H = 2 * np.sin(3 * x[:, 0]) + x[:, 1] + 0.5 * rng.logistic(size=120)
    y = np.digitize(H, [-1.0, 0.3, 1.5])
    return pd.DataFrame(x, columns=["a", "b"]).assign(
        y=y, w=rng.integers(1, 4, 120), o=rng.normal(size=120) * 0.3
    )


def ridge_by_its_gradient(Z, y, penalty):
    """(theta, b) where the slopes of the logit likelihood less penalty/2 |b|^2 vanish;
    formulas written out.
    """
    n_levels = int(y.max()) + 1

    def slopes(point):
        ends = np.concatenate([[-np.inf], point[: n_levels - 1], [np.inf]])
        H = Z @ point[n_levels - 1 :]
        a = expit(ends[y + 1] - H)
        b = expit(ends[y] - H)
        upper = a * (1 - a) / (a - b)
        lower = b * (1 - b) / (a - b)
        by_theta = [
            upper[y == k].sum() - lower[y == k + 1].sum() for k in range(n_levels - 1)
        ]
        return np.concatenate(
            [by_theta, Z.T @ (a + b - 1) - penalty * point[n_levels - 1 :]]
        )

    start = np.concatenate([np.linspace(-1, 1, n_levels - 1), np.zeros(Z.shape[1])])
    actual = root(slopes, start, tol=1e-13)
    assert np.abs(actual.fun).max() < 1e-9
    return actual.x[: n_levels - 1], actual.x[n_levels - 1 :]


def quadratic(x):
    """Columns of (0.5 x'z + 1)^2."""
    c = np.sqrt(0.5)
    return np.column_stack(
        [x * 2**0.5 * c, (c * x) ** 2, 2**0.5 * 0.5 * x[:, 0] * x[:, 1]]
    )


def test_a_polynomial_kernel_is_the_ridge_on_its_columns(frame):
    kernel = Polynomial(gamma=0.5, degree=2, coef0=1.0)
    fit = ordfit(FORMULA, frame, "kernel-clm", kernel=kernel, scaling=None, penalty=0.3)
    x = frame[["a", "b"]].to_numpy()
    np.testing.assert_allclose(
        quadratic(x) @ quadratic(x).T + 1.0, kernel(x, x), atol=1e-12
    )
    theta, b = ridge_by_its_gradient(quadratic(x), frame["y"].to_numpy(), 0.3)
    new = frame.assign(a=frame["a"] * 0.9, b=-frame["b"])
    H = quadratic(new[["a", "b"]].to_numpy()) @ b
    expected = np.hstack([expit(theta - H[:, None]), np.ones((120, 1))])
    np.testing.assert_allclose(fit.predict(new, type="cum_prob"), expected, atol=1e-8)
    assert fit.certificate.reached and fit.fit.columns == 5


@pytest.mark.parametrize("link", LINKS)
def test_a_linear_kernel_is_the_ridge_of_clm(frame, link):
    fit = ordfit(
        FORMULA,
        frame,
        KernelCumulativeLink(
            kernel="linear", scaling="standard", penalty=2.0, link=link
        ),
    )
    clm = ordfit(FORMULA, frame, CumulativeLink(penalty=2.0, link=link))
    np.testing.assert_allclose(fit.coef, clm.coef, atol=1e-7)
    np.testing.assert_allclose(fit.thresholds, clm.thresholds, atol=1e-7)
    assert fit.fit.loglik == pytest.approx(clm.loglik, abs=1e-8)


def test_two_levels_are_logistic_regression(frame):
    sklearn = pytest.importorskip("sklearn.linear_model")
    kernel = Polynomial(gamma=0.5, degree=2, coef0=1.0)
    z = (frame["y"] > 1).astype(int)
    fit = ordfit(
        "z ~ a + b",
        frame.assign(z=z),
        "kernel-clm",
        kernel=kernel,
        scaling=None,
        penalty=0.3,
    )
    x = quadratic(frame[["a", "b"]].to_numpy())
    model = sklearn.LogisticRegression(
        C=1 / 0.3, tol=1e-12, solver="newton-cholesky", max_iter=500
    ).fit(x, z)
    np.testing.assert_allclose(
        fit.predict(type="prob"), model.predict_proba(x), atol=1e-7
    )


def rows_of(n=40, p=3, link="logit", n_levels=4, penalty=0.7, seed=0):
    rng = np.random.default_rng(seed)
    F = rng.normal(size=(n, p))
    y = np.sort(
        np.concatenate([np.arange(n_levels), rng.integers(0, n_levels, n - n_levels)])
    )
    family = Cumulative(LINKS[link])
    weights = rng.uniform(0.5, 2.0, n)
    offset = 0.2 * rng.normal(size=n)
    variance = float(np.square(F).sum() / n)
    return FeatureRows(
        F=F,
        y=y,
        weights=weights,
        offset=offset,
        family=family,
        variance=variance,
        penalty=penalty,
    )


@pytest.mark.parametrize("link", LINKS)
def test_derivatives_are_those_of_differences(link):
    rows = rows_of(link=link)
    point = np.concatenate(
        [[-1.0, 0.1, 0.9], np.random.default_rng(1).normal(size=3) * 0.4]
    )

    def at(values):
        actual = rows.evaluate(values)
        return actual, actual.score

    actual, score = at(point)
    step = 1e-5 * np.eye(6)
    slopes = [(at(point + e)[0].loglik - at(point - e)[0].loglik) / 2e-5 for e in step]
    np.testing.assert_allclose(score, slopes, atol=1e-6)
    second = np.array([(at(point + e)[1] - at(point - e)[1]) / 2e-5 for e in step])
    np.testing.assert_allclose(actual.information.dense(), -second, atol=1e-6)


@pytest.mark.parametrize("link", ["logit", "cloglog"])
@pytest.mark.parametrize("penalty", [0.05, 0.5, 5.0])
def test_evidence_is_the_integral_of_the_likelihood(link, penalty):
    """One column, two levels: the sum over a grid of (theta, b) of likelihood times
    prior, against Laplace.
    """
    rows = rows_of(n=150, p=1, link=link, n_levels=2, penalty=penalty)
    optimum = rows.maximum(rows.start(), 1e-8, 50)
    theta, b = (np.linspace(centre - 2.0, centre + 2.0, 401) for centre in optimum.x)
    loglik = np.empty((theta.size, b.size))
    for j, slope in enumerate(b):
        eta = theta[:, None] - (rows.F[:, 0] * slope + rows.offset)
        below = rows.family.link.cdf(eta)
        above = rows.family.link.sf(eta)
        loglik[:, j] = np.log(np.where(rows.y == 0, below, above)) @ rows.weights
    quartiles = np.diff(rows.family.link.ppf(np.array([0.25, 0.75])))[0] / 1.3489795
    prior = 0.5 * np.log(penalty / (2 * np.pi)) - 0.5 * penalty * b**2
    prior -= 0.5 * np.log(rows.variance / penalty + quartiles**2)
    integral = (
        np.exp(loglik + prior - loglik.max()).sum()
        * (theta[1] - theta[0])
        * (b[1] - b[0])
    )
    assert log_evidence(rows, optimum) == pytest.approx(
        np.log(integral) + loglik.max(), abs=0.02
    )


KERNELS = (
    Perceptron(),
    Gaussian(gamma=2.0),
    Laplacian(),
    Polynomial(gamma=0.5, degree=3, coef0=1.0),
)


@pytest.mark.parametrize("kernel", [*KERNELS, Custom(Perceptron())], ids=str)
def test_all_rows_as_landmarks_are_the_exact_route(frame, kernel):
    x = frame[["a", "b"]].to_numpy()
    y = frame["y"].to_numpy()
    order = np.argsort(y, kind="stable")
    exact = exact_features(kernel, x, order)
    drawn = landmark_features(
        kernel, x, order, np.ones(120), 120, np.random.default_rng(0)
    )
    np.testing.assert_allclose(
        drawn.values @ drawn.values.T, exact.values @ exact.values.T, atol=1e-7
    )
    H = []
    losses = []
    for features in (exact, drawn):
        rows = FeatureRows(
            F=features.values,
            y=y[order],
            weights=np.ones(120),
            offset=np.zeros(120),
            family=Cumulative(LINKS["logit"]),
            variance=features.variance(np.ones(120)),
        )
        losses.append(Evidence(rows)(0.2))
        b = rows.at(0.2).maximum(rows.start(), 1e-9, 100).x[-features.values.shape[1] :]
        H.append(
            kernel(x[:7] * 0.9, features.anchors) @ (features.coef @ b)
            + features.constants @ b
        )
    np.testing.assert_allclose(H[0], H[1], atol=1e-5)
    assert losses[0] == pytest.approx(losses[1], abs=1e-6)


@pytest.mark.parametrize("landmarks", [None, 30])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_training_rows_as_new_ones(frame, kernel, landmarks):
    fit = ordfit(
        FORMULA,
        frame,
        "kernel-clm",
        kernel=kernel,
        landmarks=landmarks,
        offset="o",
        weights="w",
    )
    again = fit.predict(frame, type="score").to_numpy()
    np.testing.assert_allclose(fit.predict(type="score").to_numpy(), again, atol=1e-8)
    assert fit.fit.rounding < 1e-6 and fit.certificate.reached
    # A cubic of two columns has 10 terms, one of them the constant.
    most = 10 if isinstance(kernel, Polynomial) else 120
    assert fit.fit.columns <= min(landmarks or most, most)


@pytest.mark.parametrize("penalty", ["evidence"])
def test_the_penalty_taken_is_the_best_of_those_tried(frame, penalty):
    kernel = Gaussian(gamma=(0.1, 1.0, 10.0))
    fit = ordfit(FORMULA, frame, "kernel-clm", kernel=kernel, penalty=penalty)
    table = fit.trials
    assert table["loss"].is_monotonic_increasing and set(table["gamma"]) == {
        0.1,
        1.0,
        10.0,
    }
    assert fit.fit.penalty == table["penalty"].iloc[0]
    given = Gaussian(gamma=float(table["gamma"].iloc[0]))
    alone = ordfit(FORMULA, frame, "kernel-clm", kernel=given, penalty=fit.fit.penalty)
    np.testing.assert_allclose(
        alone.predict(type="prob"), fit.predict(type="prob"), atol=1e-6
    )
    assert alone.trials.empty
    if penalty == "evidence":
        assert -table["loss"].iloc[0] * 120 == pytest.approx(
            fit.fit.log_evidence, abs=1e-3
        )
        assert alone.fit.log_evidence == pytest.approx(fit.fit.log_evidence, abs=1e-6)


def test_of_several_kernels_the_one_of_most_evidence_is_taken(frame):
    kernels = (Perceptron(), Gaussian(gamma=(0.125, 0.5, 2.0)))
    usual = fit = ordfit(FORMULA, frame, "kernel-clm")
    alone = [ordfit(FORMULA, frame, "kernel-clm", kernel=kernel) for kernel in kernels]
    assert len(fit.trials) == sum(len(one.trials) for one in alone)
    best = max(alone, key=lambda one: one.fit.log_evidence)
    np.testing.assert_array_equal(fit.predict(type="prob"), best.predict(type="prob"))
    scales = {
        (name, gamma)
        for name, gamma in zip(
            usual.trials["kernel"], usual.trials["gamma"].fillna(0), strict=True
        )
    }
    assert scales == {
        ("perceptron", 0.0),
        ("gaussian", 0.125),
        ("gaussian", 0.5),
        ("gaussian", 2.0),
    }


def _curved(n):
    rng = np.random.default_rng(8)
    x = rng.uniform(-1, 1, size=(n, 2))
    data = pd.DataFrame(x, columns=["a", "b"])
    H = 3 * np.sin(4 * x[:, 0]) + x[:, 1] + 0.5 * rng.logistic(size=n)
    return data.assign(y=np.digitize(H, [-1.5, 0.3, 2.0]))


@pytest.mark.parametrize("landmarks", [None, "all", 220])
def test_kernels_that_lose_with_few_landmarks_get_no_more(landmarks):
    # three Gaussians of which one is far too narrow, one far too wide
    data = _curved(260)
    kernel = Gaussian(gamma=(1e-3, 1.0, 1e3))
    fit = ordfit(FORMULA, data, "kernel-clm", kernel=kernel, landmarks=landmarks)
    table = fit.trials
    null = -fit.fit.null_loglik / 260
    few = table[table["features"] <= 200].groupby("gamma")["loss"].min()
    near = few <= few.min() + 0.05 * (null - few.min())
    assert near.index[near].tolist() == [1.0]
    assert set(table.loc[table["features"] > 200, "gamma"]) <= {1.0}
    alone = ordfit(FORMULA, data, "kernel-clm", kernel=Gaussian(gamma=1.0))
    rank = 200 if landmarks is None else (landmarks if landmarks != "all" else 260)
    assert fit.fit.columns <= rank
    assert fit.fit.log_evidence == pytest.approx(alone.fit.log_evidence, abs=0.5)
    np.testing.assert_allclose(
        fit.predict(type="prob"), alone.predict(type="prob"), atol=0.02
    )


def test_the_number_of_landmarks_that_was_asked_for_is_taken():
    data = _curved(300)
    for asked, columns in ((50, 50), ("all", 299)):
        kernel = Laplacian(gamma=(1.0, 4.0))
        fit = ordfit(FORMULA, data, "kernel-clm", kernel=kernel, landmarks=asked)
        assert fit.fit.columns == columns


def test_a_gamma_that_is_given_stays(frame):
    fit = ordfit(FORMULA, frame, "kernel-clm", kernel=Gaussian(gamma=3.0))
    assert fit.fit.rule.potential.function.kernel == Gaussian(gamma=3.0)


def test_effective_parameters_lie_between_none_and_all(frame):
    fits = [
        ordfit(FORMULA, frame, "kernel-clm", kernel="polynomial", penalty=w).fit
        for w in (1e8, 1.0, 1e-6)
    ]
    effective = [fit.effective for fit in fits]
    assert effective[0] < 0.01 < effective[1] < effective[2] < fits[2].columns
    assert effective[2] == pytest.approx(fits[2].columns, rel=0.2)


def test_many_rows_take_landmarks_until_they_gain_nothing():
    rng = np.random.default_rng(5)
    x = rng.uniform(-1, 1, size=(1500, 2))
    H = 2 * np.sin(3 * x[:, 0]) + x[:, 1]
    data = pd.DataFrame(x, columns=["a", "b"])
    data["y"] = np.digitize(H + 0.5 * rng.logistic(size=1500), [-1.0, 0.3, 1.5])
    fit = ordfit(FORMULA, data, "kernel-clm", kernel="gaussian")
    assert fit.fit.columns <= 200 and fit.certificate.reached
    score = fit.predict(type="score").to_numpy()
    assert np.corrcoef(score, H)[0, 1] > 0.98


def test_columns_that_say_nothing(frame):
    fit = ordfit("y ~ a", frame.assign(a=1.0), "kernel-clm", kernel="gaussian")
    shares = np.bincount(frame["y"]) / 120
    np.testing.assert_allclose(fit.predict(type="prob").iloc[0], shares, atol=1e-7)
    assert fit.fit.columns == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"penalty": "evidnce"}, r"penalty .*or 'evidence'; got 'evidnce'"),
        (
            {"kernel": "precomputed"},
            "kernel of KernelCumulativeLink must be computed from columns",
        ),
        (
            {"landmarks": 1},
            "landmarks of KernelCumulativeLink must be .*'all' or None; got 1",
        ),
    ],
    ids=["penalty", "kernel", "landmarks"],
)
def test_options_that_are_refused(options, words):
    with pytest.raises(OptionError, match=words):
        KernelCumulativeLink(**options)


def test_what_is_wrong_is_said(frame):
    with not_definite():
        ordfit(FORMULA, frame, "kernel-clm", kernel=lambda X, Z: -(X @ Z.T))
    with pytest.warns(match="did not converge|NOT REACHED|tolerance"):
        ordfit(
            FORMULA, frame, "kernel-clm", kernel="gaussian", penalty=1e-4, max_iter=1
        )


def test_an_offset_moves_the_score(frame):
    sample = Sample(
        rows=Rows(X=frame[["a", "b"]].to_numpy(), offset=np.full(120, 5.0)),
        y=frame["y"].to_numpy(),
        n_levels=4,
    )
    bare = Sample(rows=Rows(X=sample.X), y=sample.y, n_levels=4)
    method = KernelCumulativeLink(penalty=0.1)
    moved, plain = (method.fit(s, np.random.default_rng(0)) for s in (sample, bare))
    np.testing.assert_allclose(moved.rule.theta, plain.rule.theta + 5.0, atol=1e-8)
    np.testing.assert_allclose(moved.scores, plain.scores + 5.0, atol=1e-8)


def test_scales_of_weights_change_the_likelihood_but_not_the_fit():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"x": rng.normal(size=90), "w": rng.uniform(0.2, 1.0, 90)})
    frame["y"] = np.digitize(frame["x"] + rng.logistic(size=90), [-1.0, 0.0, 1.0])
    one, other = (
        ordfit("y ~ x", frame, "kernel-clm", weights=c * frame["w"], penalty=1.0)
        for c in (1.0, 1.5)
    )
    p = one.predict(type="prob").to_numpy()
    np.testing.assert_allclose(p, other.predict(type="prob"), rtol=1e-7)
    expected = frame["w"] @ np.log(p[np.arange(90), frame["y"]])
    assert one.fit.loglik == pytest.approx(expected, rel=1e-9)
    assert other.fit.loglik == pytest.approx(1.5 * expected, rel=1e-7)


def test_the_spread_is_that_of_weighted_rows() -> None:
    """Weighted rows against their copies; x is 1 in 1 % of the rows, so that the
    variance of x is 0.0098.
    """
    frame = pd.DataFrame(
        {"x": [0.0, 1.0] * 3, "y": [0, 0, 1, 1, 2, 2], "w": [400, 3, 300, 4, 300, 3]}
    )
    linear = KernelCumulativeLink(kernel="linear", penalty=1.0, scaling=None)
    weighted = ordfit("y ~ x", frame, linear, weights="w")
    copies = ordfit(
        "y ~ x",
        frame.loc[frame.index.repeat(frame["w"])].reset_index(drop=True),
        linear,
    )
    share = 10.0 / 1010.0
    assert weighted.fit.spread == pytest.approx(
        np.sqrt(share * (1.0 - share)), rel=1e-9
    )
    assert copies.fit.spread == pytest.approx(weighted.fit.spread, rel=1e-9)

"""Separation among very many levels: against the programme in thresholds and effects,
and told in little memory.
"""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

from ordstat import DataError, OptionError, SeparationWarning, ordfit
from ordstat.exceptions import UnavailableError
from ordstat.likelihood.many_levels import separating, separating_alone
from tests.expected import refused


def columns(kind: str, y: np.ndarray, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    n = len(y)
    frame = pd.DataFrame({"y": y, "z": rng.normal(size=n)})
    if kind == "order":
        frame["x"] = y / n
    elif kind == "top":
        frame["x"] = (y >= n - 30).astype(float)
    elif kind == "last":
        frame["x"] = (y == n - 1).astype(float)
    else:
        codes = rng.integers(0, 5, n)
        codes[n - 3 :] = 9
        frame["x"] = pd.Categorical([f"g{code}" for code in codes])
    return frame


@pytest.mark.parametrize("n", [400, 5000, 20_000])
@pytest.mark.parametrize(
    ("kind", "named"),
    [("order", "x to +inf"), ("top", "x to +inf"), ("last", "x to +inf"),
     ("factor", "x[T.g9] to +inf")],
)  # fmt: skip
def test_separation_is_told(kind: str, named: str, n: int) -> None:
    """A matrix of all pairs of levels would take 1.3 MB, 200 MB and 3.2 GB."""
    data = columns(kind, np.arange(n, dtype=float))
    tracemalloc.start()
    try:
        with pytest.raises(DataError) as error:
            ordfit("y ~ x + z", data, levels="all")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert named in str(error.value)
    assert "z to" not in str(error.value)
    assert peak < max(5000.0 * n, 2e7)


def test_censored_rows_alone_are_separated() -> None:
    """Persons of a group without an event: its hazard is 0."""
    rng = np.random.default_rng(2)
    n = 1200
    data = pd.DataFrame({"time": rng.exponential(size=n), "event": 1})
    data["x"] = np.repeat([0.0, 1.0], [n - 20, 20])
    data.loc[data["x"] > 0.0, "event"] = 0
    data["z"] = rng.normal(size=n)
    with pytest.raises(DataError, match="x to "):
        ordfit("Surv(time, event) ~ x + z", data, method="loglog")


@pytest.mark.parametrize("n", [302, 2000, 20_000])
def test_the_advice_for_a_separated_column_holds(n: int) -> None:
    data = columns("top", np.arange(n, dtype=float))
    named = r"\(x to \+inf.*Drop these columns, .* a ridge \(penalty=1.0\), or round"
    with pytest.raises(DataError, match=named):
        ordfit("y ~ x + z", data, levels="all")
    fits = [
        ordfit("y ~ z", data, levels="all"),
        ordfit("y ~ x + z", data, levels="all", penalty=1.0),
    ]
    for fit in fits:
        assert fit.converged
        assert np.isfinite(fit.coef).all()
        assert np.isfinite(fit.se).all()
    data["y"] = np.floor(data["y"] / n * 20.0)
    with pytest.warns(SeparationWarning, match=r"x to \+inf"):
        rounded = ordfit("y ~ x + z", data, levels="all")
    assert np.isfinite(rounded.se["z"])


def test_the_advice_for_a_separated_level_holds() -> None:
    data = columns("factor", np.arange(2000.0))
    with pytest.raises(DataError, match=r"x\[T\.g9\] to .*[Jj]oin their levels"):
        ordfit("y ~ x + z", data, levels="all")
    data["x"] = data["x"].astype(str).replace("g9", "g4")
    assert np.isfinite(ordfit("y ~ x + z", data, levels="all").se).all()


@pytest.mark.parametrize(
    "question", [lambda fit: fit.augment(), lambda fit: fit.plot.parallel()]
)
def test_a_column_or_a_fit_for_each_level_is_refused(question) -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=1500)
    data = pd.DataFrame({"x": x, "y": x + rng.logistic(size=1500)})
    fit = ordfit("y ~ x", data, levels="all")
    with pytest.raises(DataError, match=r"1,\d\d\d"):
        question(fit)


def test_large_effects_that_are_finite_are_fitted() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=1000)
    data = pd.DataFrame({"x": x, "y": 15.0 * x + rng.logistic(size=1000)})
    fit = ordfit("y ~ x", data, levels="all")
    assert 13.0 < fit.coef["x"] < 17.0
    assert np.isfinite(fit.se["x"])


@pytest.fixture(scope="module")
def of_20_000():
    rng = np.random.default_rng(4)
    x = rng.normal(size=20_000)
    data = pd.DataFrame({"x": x, "y": x + rng.logistic(size=20_000)})
    return ordfit("y ~ x", data, levels="all")


def test_medians_of_very_many_levels(of_20_000) -> None:
    """P(y <= k) = expit(theta_k - H) reaches 1/2 where theta_k reaches H."""
    labels = np.array(of_20_000.levels)
    scores = of_20_000.predict(type="score").to_numpy()
    median = labels[np.searchsorted(of_20_000.thresholds, scores)]
    by_cost = of_20_000.predict(cost="absolute").astype(float)
    np.testing.assert_array_equal(by_cost, median)
    quantiles = of_20_000.predict(type="quantile", at=[0.1, 0.5])
    np.testing.assert_array_equal(quantiles.iloc[:, 1], median)
    tenth = np.searchsorted(of_20_000.thresholds, scores - np.log(9.0))
    np.testing.assert_array_equal(quantiles.iloc[:, 0], labels[tenth])


def test_draws_of_very_many_levels(of_20_000) -> None:
    """A level is that of the latent score, drawn by the inverse of its distribution."""
    labels = np.array(of_20_000.levels)
    scores = of_20_000.predict(type="score").to_numpy()
    shares = np.random.default_rng(5).random((2, scores.size))
    latent = scores + np.log(shares / (1.0 - shares))
    drawn = of_20_000.simulate(2, seed=5).astype(float).to_numpy().T
    places = np.searchsorted(of_20_000.thresholds, latent, side="right")
    np.testing.assert_array_equal(drawn, labels[places])


def test_the_most_probable_of_very_many_levels_is_refused(of_20_000) -> None:
    advice = "20,000 levels.* Use type='quantile' or cost='absolute', both the median"
    with pytest.raises(DataError, match=f"cost='classification'.*{advice}"):
        of_20_000.predict()
    with pytest.raises(DataError, match=f"cost='squared'.*{advice}"):
        of_20_000.predict(pd.DataFrame({"x": [0.0]}), cost="squared")
    row = pd.DataFrame({"x": [0.0]})
    p = of_20_000.predict(row, type="prob").to_numpy()[0]
    assert of_20_000.predict(row)[0] == of_20_000.levels[int(np.argmax(p))]


def test_pairs_of_levels_are_refused(of_20_000) -> None:
    message = r"more than 2,000 levels.* Use {}.*cut into a few classes"
    with pytest.raises(UnavailableError, match=message.format(r"residuals\(\), or a")):
        of_20_000.margins()
    with pytest.raises(UnavailableError, match=message.format("plot.residuals")):
        of_20_000.scale_test()
    with pytest.raises(OptionError, match=message.format(r"residuals\(\), or a")):
        of_20_000.predict(type="margin")
    bounds = of_20_000.bounds()
    assert bounds.empty
    assert "more than 2,000 levels" in " ".join(bounds.attrs["notes"])
    assert np.isfinite(of_20_000.residuals()).all(axis=None)


def test_the_advice_for_pairs_of_levels_holds(of_20_000) -> None:
    labels = np.array(of_20_000.levels)
    classes = pd.qcut(of_20_000.response.astype(float), 5, labels=False)
    assert labels.size == 20_000
    data = of_20_000.model_matrix().assign(y=classes.to_numpy())
    cut = ordfit("y ~ x", data)
    assert np.isfinite(cut.scale_test().loc["x", "p_value"])
    assert len(cut.margins()) == 20_000
    assert not cut.bounds().empty


def test_profiles_of_very_many_parameters_are_refused(of_20_000) -> None:
    with pytest.raises(DataError, match=r"at most 100; got 20,000\..*profiles\('x'\)"):
        of_20_000.plot.profiles()
    frame = of_20_000.plot.profiles("x", points=5, draw=False)
    assert set(frame["parameter"]) == {"x"}
    for ask in (of_20_000.profile, lambda: of_20_000.confint(type="profile")):
        with refused("parm", "20,000"):
            ask()
    assert len(of_20_000.profile("x", points=5)) == 5


def test_nominal_effects_without_finite_estimates_are_named() -> None:
    """One row lies above the last threshold, and its group alone."""
    data = columns("top", np.arange(400.0)).rename(columns={"x": "top"})
    data["u"] = np.random.default_rng(6).normal(size=400)
    with pytest.raises(DataError, match=r"of top, u at each of 399 .*location") as told:
        ordfit("y ~ z", data, nominal="~ top + u", levels="all")
    assert "penalty" not in str(told.value)
    data["y"] = np.floor(data["y"] / 100.0)
    assert np.isfinite(ordfit("y ~ z", data, nominal="~ u", levels="all").se).all()


@pytest.mark.parametrize(
    ("options", "most"),
    [({"method": "acat"}, 300), ({"method": "multinomial"}, 300),
     ({"penalty": "jeffreys"}, 20)],
)  # fmt: skip
def test_fits_that_take_pairs_of_levels_are_refused(options: dict, most: int) -> None:
    data = columns("order", np.arange(most + 1.0))
    told = rf"at most {most} levels.*got {most + 1}\. Use"
    with pytest.raises(DataError, match=told):
        ordfit("y ~ z", data, levels="all", **options)


def test_advice_among_many_levels_is_a_ridge() -> None:
    data = columns("top", np.arange(40.0))
    with pytest.warns(SeparationWarning, match=r"fit with a ridge") as told:
        ordfit("y ~ x + z", data, levels="all")
    assert "jeffreys" not in str(told[0].message)


def full_programme(X: np.ndarray, low: np.ndarray, high: np.ndarray, k: int) -> bool:
    """Whether thresholds and effects move with x_i'b <= theta_high, theta_{low - 1} <=
    x_i'b, so that the ends rise in all.
    """
    rows = []
    for x, a, b in zip(X, low, high, strict=True):
        if b < k - 1:
            rows.append(np.append(np.eye(k - 1)[b], -x))
        if a > 0:
            rows.append(np.append(-np.eye(k - 1)[a - 1], x))
    ends = np.array(rows)
    found = linprog(
        -ends.sum(axis=0), A_ub=-ends, b_ub=np.zeros(len(ends)), bounds=(-1.0, 1.0)
    )
    return bool(found.fun < -1e-6)


@pytest.mark.parametrize("seed", range(40))
def test_columns_alone_against_the_programme_of_each(seed: int) -> None:
    rng = np.random.default_rng(seed)
    k = int(rng.integers(3, 7))
    low = np.concatenate([np.arange(k), rng.integers(0, k, 8)])
    high = np.where(
        (np.arange(low.size) >= k) & (rng.random(low.size) < 0.4), k - 1, low
    )
    signs = rng.choice([-1.0, 1.0], 4)
    X = signs * (low[:, None] >= rng.integers(1, k, 4)) + 0.0
    X[rng.integers(0, low.size, 2), rng.integers(0, 4, 2)] += 1.0
    X = X + np.where(rng.random(4) < 0.3, rng.normal(size=X.shape), 0.0)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    found = separating_alone(X, low, high, k)
    for j in range(4):
        assert (found[j] != 0.0) == full_programme(X[:, [j]], low, high, k)
        if found[j] > 0.0:
            assert all(
                (X[low > top, j] >= x - 1e-12).all()
                for x, top in zip(X[:, j], high, strict=True)
            )


@pytest.mark.parametrize("seed", range(40))
def test_against_the_programme_in_thresholds_and_effects(seed: int) -> None:
    rng = np.random.default_rng(seed)
    k = int(rng.integers(3, 7))
    y = np.concatenate([np.arange(k), rng.integers(0, k, 12)])
    low = y.copy()
    high = y.copy()
    partly = np.arange(k, y.size)[rng.random(12) < 0.4]
    high[partly] = k - 1
    X = rng.integers(0, 2, (y.size, 3)).astype(float)
    X[:, 0] += y * (seed % 2)
    X = X - X.mean(axis=0)
    if np.linalg.matrix_rank(X) < 3:
        X = X + rng.normal(size=X.shape)
    direction = separating(X, low, high, k)
    assert (direction is not None) == full_programme(X, low, high, k)
    if direction is not None:
        scores = X @ direction
        for i in range(y.size):
            assert (scores[low > high[i]] >= scores[i] - 1e-6).all()

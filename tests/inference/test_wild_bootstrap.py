"""The wild cluster bootstrap of scores, against its definition written out."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from reference_cases import load_data
from scipy import stats

from inference.dense import Dense
from ordstat import ordfit
from ordstat.exceptions import DataError, OptionError


@pytest.fixture
def wine():
    return load_data("wine")


def enumerated(L, sums, information):
    """(statistic, p) of score sums (G, P) and information (G, P, P) by a loop over all signs."""
    A = np.linalg.inv(sum(information))

    def statistic(signs):
        scores = np.array(signs)[:, None] * sums
        step = A @ scores.sum(axis=0)
        left = scores - np.array([own @ step for own in information])
        return (L @ step) @ np.linalg.inv(L @ A @ left.T @ left @ A @ L.T) @ (L @ step)

    observed = statistic(np.ones(len(sums)))
    found = np.array([statistic(signs) for signs in product((-1, 1), repeat=len(sums))])
    return observed, np.mean(found >= observed * (1 - 1e-9))


def sums_of(scores, cluster):
    return np.array([scores[cluster == g].sum(axis=0) for g in np.unique(cluster)])


@pytest.mark.parametrize(
    ("text", "L", "r"),
    [
        ("x1 = 0", [[1.0, 0.0]], [0.0]),
        ("x1 = x2", [[1.0, -1.0]], [0.0]),
        ("2 * x1 + x2 = 1", [[2.0, 1.0]], [1.0]),
        ("x1 = 0, x2 = 0.5", [[1.0, 0.0], [0.0, 1.0]], [0.0, 0.5]),
    ],
)
def test_two_levels_by_definition(text, L, r):
    data = load_data("two")
    cluster = np.arange(200) % 8
    found = ordfit("yb ~ x1 + x2", data=data, cluster=cluster).wild_bootstrap(text)
    X, L = sm.add_constant(data[["x1", "x2"]].to_numpy()), np.hstack([np.zeros((len(L), 1)), L])
    y = (data["yb"].cat.codes == 1).to_numpy().astype(float)
    b = sm.GLM(y, X, family=sm.families.Binomial()).fit_constrained((L, np.array(r)), tol=1e-14, maxiter=200).params
    p = 1 / (1 + np.exp(-X @ b))
    sums = sums_of((y - p)[:, None] * X, cluster)
    information = [(X[own] * (p * (1 - p))[own, None]).T @ X[own] for own in (cluster == g for g in range(8))]
    assert (found.statistic, found.p_value) == pytest.approx(enumerated(L, sums, information), rel=1e-5)
    assert found.enumerated and found.clusters == 8 and found.df == len(L)


def test_more_levels_by_definition(wine):
    """Under "contact = 0" the column is left out; the information is that of all possible responses."""
    cluster = wine["judge"].cat.codes.to_numpy()
    fit, null = (ordfit(f"rating ~ temp{more}", data=wine, cluster="judge") for more in (" + contact", ""))
    point, dense = np.append(null.params.to_numpy(), 0.0), Dense.of(fit)
    # one more row of the highest level, so that every response has the same number of thresholds
    X = np.vstack([dense.X, dense.X[:1]])
    information = np.zeros((9, 6, 6))
    for level in range(5):
        every = Dense(X, np.append(np.full(72, level), 4))
        U = every.scores(point)[:-1]
        U *= np.exp(every.row_logliks(point)[:-1] / 2)[:, None]
        information += [U[cluster == g].T @ U[cluster == g] for g in range(9)]
    found = fit.wild_bootstrap("contact = 0")
    expected = enumerated(np.eye(6)[5:], sums_of(dense.scores(point), cluster), information)
    assert (found.statistic, found.p_value) == pytest.approx(expected, rel=1e-5)


def test_draws_come_near_to_all_signs(wine):
    fit = ordfit("rating ~ temp + contact", data=wine, cluster="judge")
    exact = fit.wild_bootstrap("temp = contact")
    drawn = fit.wild_bootstrap("temp = contact", draws=500, seed=1)
    assert exact.replicates.size == 512 and not drawn.enumerated
    assert abs(exact.p_value - drawn.p_value) < 3 * np.sqrt(exact.p_value / 500)
    again = fit.wild_bootstrap("temp = contact", draws=500, seed=1)
    assert again.p_value == drawn.p_value


def test_many_clusters_are_as_chi_squared():
    data = load_data("sim500")
    fit = ordfit("y ~ x1 + x2", data=data, cluster=np.arange(500) % 250)
    found = fit.wild_bootstrap("x2 = 0.1", draws=4000, weights="webb")
    assert found.p_value == pytest.approx(stats.chi2.sf(found.statistic, 1), abs=0.03)
    assert np.mean(found.replicates) == pytest.approx(1.0, abs=0.1)


def test_webb_weights_have_mean_0_and_variance_1():
    from ordstat.results.likelihood.wild_bootstrap import _WEIGHTS

    for values in _WEIGHTS.values():
        assert values.mean() == pytest.approx(0.0, abs=1e-15) and np.mean(values**2) == pytest.approx(1.0)


def test_other_effects_stay(wine):
    """Nominal and scale effects, an offset and weights are those of the fit."""
    data = wine.assign(w=1 + np.arange(72) % 2, o=np.arange(72) % 3 / 4)
    arguments = {"nominal": "~ temp", "scale": "~ contact", "weights": "w", "offset": "o", "cluster": "judge"}
    data["rating"] = data["rating"].astype(int).clip(2, 4)
    data["x"] = np.arange(72) % 5 / 2
    fit = ordfit("rating ~ x + contact", data=data, **arguments)
    found = fit.wild_bootstrap("x = 0")
    copies = data.loc[data.index.repeat(data["w"])].drop(columns="w")
    same = ordfit("rating ~ x + contact", data=copies, **(arguments | {"weights": None})).wild_bootstrap("x = 0")
    assert (found.statistic, found.p_value) == pytest.approx((same.statistic, same.p_value), rel=1e-6)
    moved = ordfit("rating ~ x + contact", data=data.assign(o=data["o"] + 0.3 * data["x"]), **arguments)
    assert moved.wild_bootstrap("x = -0.3").statistic == pytest.approx(found.statistic, rel=1e-6)


def test_it_prints(wine):
    fit = ordfit("rating ~ temp + contact", data=wine)
    text = repr(fit.wild_bootstrap("temp = 0", cluster="judge"))
    assert text.startswith("Wild cluster bootstrap of the score test, null imposed: temp = 0\nstatistic 51.94")
    assert text.endswith("p = 0.0039 (9 clusters, all 512 signs)")


@pytest.mark.parametrize(
    ("arguments", "ask", "match"),
    [
        ({}, {}, "needs clusters"),
        ({"cluster": "judge"}, {"weights": "normal"}, "'rademacher', 'webb'"),
        ({"cluster": "judge"}, {"draws": 5}, "draws must be a whole number, 99 or more"),
        ({"cluster": "judge"}, {"hypotheses": "2|3 = 0"}, "location effects"),
        ({"cluster": "judge"}, {"hypotheses": "temp = 0, 2 * temp = 0"}, "depend on each other"),
        ({"cluster": "judge", "penalty": 1.0}, {}, "penalised"),
        ({"cluster": np.arange(72) % 2}, {"hypotheses": "temp = 0, contact = 0"}, "2 clusters are too few"),
    ],
)
def test_what_cannot_be_asked(wine, arguments, ask, match):
    fit = ordfit("rating ~ temp + contact", data=wine, **arguments)
    with pytest.raises(OptionError, match=match):
        fit.wild_bootstrap(**({"hypotheses": "temp = 0"} | ask))


@pytest.mark.filterwarnings("ignore::ordstat.exceptions.SeparationWarning")
def test_no_estimates_under_the_hypotheses():
    data = pd.DataFrame({"y": [1, 1, 1, 2, 2, 2] * 4, "x": [0, 0, 0, 1, 1, 1] * 4, "z": np.arange(24) % 5})
    fit = ordfit("y ~ x + z", data=data, cluster=np.arange(24) // 3)
    with pytest.raises(DataError, match="no finite estimates"):
        fit.wild_bootstrap("z = 0")
    assert 0 < fit.wild_bootstrap("x = 0").p_value < 0.05  # the score needs no estimate of x

"""Correlations behind tables and numbers against R's polycor and lavaan, brute force,
leave-one-out errors and closed forms.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from reference_cases import load_data
from scipy.optimize import minimize
from scipy.stats import multivariate_normal, norm

from ordstat.inference import correlations

GOLDEN = Path(__file__).parents[1] / "golden" / "r"
#: polycor 0.8.1 and lavaan 0.6.14, R 4.2.2, as written in polychoric.R there.
FROM_R = pd.read_csv(GOLDEN / "polychoric.csv")
TABLES = pd.read_csv(GOLDEN / "polychoric_tables.csv")


def table_of(data, first, second):
    if data == "sim500":
        sim = load_data("sim500")
        return pd.crosstab(sim[first], sim[second]).to_numpy(dtype=float)
    counts = TABLES[TABLES["data"] == data]
    return counts.pivot(index="x", columns="y", values="n").to_numpy(dtype=float)


def of_kind(kind, method=None):
    rows = FROM_R[FROM_R["kind"] == kind]
    if method is not None:
        rows = rows[rows["method"] == method]
    return pytest.mark.parametrize(
        "row",
        list(rows.itertuples(index=False)),
        ids=lambda row: f"{row.data}-{row.first}-{row.second}-{row.method}",
    )


@of_kind("polychoric")
def test_polychoric_against_r(row):
    """R searches without derivatives, and takes second derivatives by differences."""
    table = table_of(row.data, row.first, row.second)
    actual = correlations.polychoric_of(table, row.method == "ml")
    assert actual.estimate == pytest.approx(row.rho, abs=2e-5)
    assert (actual.statistic, actual.df) == (pytest.approx(row.chisq, rel=1e-4), row.df)
    # lavaan's errors of two steps have mean products of scores for second derivatives,
    # which holds for normal data as those of sim500
    room = 1e-3 if row.method == "ml" else 0.03
    if np.isfinite(row.std_error):
        assert actual.std_error == pytest.approx(row.std_error, rel=room)


@of_kind("polyserial")
def test_polyserial_against_r(row):
    sim = load_data("sim500")
    x = sim[row.first].to_numpy()
    y = sim[row.second].cat.codes if row.second == "f" else sim["y"].cat.codes
    actual = correlations.polyserial_of(
        x, y.to_numpy(np.intp), np.ones(len(x)), row.method == "ml"
    )
    assert actual.estimate == pytest.approx(row.rho, abs=2e-5)
    assert actual.df == row.df
    if row.method == "ml":  # polycor's statistic of two steps is at another rho
        assert actual.statistic == pytest.approx(row.chisq, rel=1e-3)


@of_kind("Pearson")
def test_pearson_against_r(row):
    sim = load_data("sim500")
    x = sim[row.first].to_numpy()
    y = sim[row.second].to_numpy()
    actual = correlations.pearson_of(x, y, np.ones(len(x)))
    assert actual.estimate == pytest.approx(row.rho, rel=1e-12)
    assert (actual.statistic, actual.df) == (pytest.approx(row.chisq, rel=1e-6), row.df)


SMALL = np.array([[30.0, 12.0, 3.0], [10.0, 25.0, 14.0]])


def log_likelihood(x, table):
    """Brute force by SciPy's distribution function."""
    cuts = np.split(x[:-1], [table.shape[0] - 1])
    a, b = ([-8.0, *cut, 8.0] for cut in cuts)
    normal = multivariate_normal([0, 0], [[1, x[-1]], [x[-1], 1]])
    corners = np.array([[normal.cdf([h, k]) for k in b] for h in a])
    cells = np.diff(np.diff(corners, axis=0), axis=1)
    return float((table * np.log(cells)).sum())


def test_maximum_likelihood_by_brute_force():
    start = np.array([0.0, -0.3, 0.5, 0.3])
    best = minimize(
        lambda x: -log_likelihood(x, SMALL),
        start,
        method="Nelder-Mead",
        options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 4000},
    )
    actual = correlations.polychoric_of(SMALL, ml=True)
    assert actual.estimate == pytest.approx(best.x[-1], abs=1e-6)
    step = 1e-3 * np.eye(4)
    hessian = [
        [
            (
                log_likelihood(best.x + s + t, SMALL)
                - log_likelihood(best.x + s - t, SMALL)
                - log_likelihood(best.x - s + t, SMALL)
                + log_likelihood(best.x - s - t, SMALL)
            )
            / 4e-6
            for s in step
        ]
        for t in step
    ]
    error = np.sqrt(np.linalg.inv(-np.array(hessian))[-1, -1])
    assert actual.std_error == pytest.approx(error, rel=1e-4)
    saturated = (SMALL * np.log(SMALL / SMALL.sum())).sum()
    assert actual.statistic == pytest.approx(2 * (saturated + best.fun), rel=1e-8)


def jackknife(estimate, n):
    """Leave-one-out standard error from (estimates, numbers of rows that have them)."""
    values, rows = (np.array(part) for part in zip(*estimate, strict=True))
    centre = rows @ values / rows.sum()
    return float(np.sqrt((n - 1) / n * (rows @ (values - centre) ** 2)))


MADE_UP = np.array([[120.0, 20.0, 5.0], [15.0, 30.0, 10.0], [10.0, 5.0, 85.0]])


@pytest.mark.parametrize(
    "table",
    [MADE_UP, table_of("A1-A2", "A1", "A2"), table_of("A4-N3", "A4", "N3")],
    ids=["made up", "A1-A2", "A4-N3"],
)
def test_two_step_errors_against_the_jackknife(table):
    """None of these is normal: errors that rest on normality are up to 22 % off."""
    left_out = []
    for place in np.ndindex(table.shape):
        if table[place]:
            without = table.copy()
            without[place] -= 1.0
            left_out.append(
                (correlations.polychoric_of(without, ml=False).estimate, table[place])
            )
    actual = correlations.polychoric_of(table, ml=False)
    assert actual.std_error == pytest.approx(
        jackknife(left_out, table.sum()), rel=0.015
    )


RNG = np.random.default_rng(5)
X = RNG.gamma(2.0, size=250)  # not normal
Y = np.digitize(0.5 * X + RNG.normal(size=250), [0.3, 1.2, 2.0])
ONES = np.ones(250)


@pytest.mark.parametrize("kind", ["polyserial", "Pearson"])
def test_errors_with_numbers_against_the_jackknife(kind):
    def correlation(x, y):
        w = np.ones(len(x))
        if kind == "Pearson":
            return correlations.pearson_of(x, y.astype(float), w)
        return correlations.polyserial_of(x, y, w, ml=False)

    every = np.arange(250)
    left_out = [(correlation(X[every != i], Y[every != i]).estimate, 1) for i in every]
    assert correlation(X, Y).std_error == pytest.approx(
        jackknife(left_out, 250), rel=0.03
    )


def test_polyserial_maximum_likelihood_by_brute_force():
    """The joint likelihood of x and y with mean and spread of x estimated too."""
    from statsmodels.tools.numdiff import approx_hess

    def loss(p):
        z = (X - p[0]) / np.exp(p[1])
        rho = np.tanh(p[-1])
        edges = np.array([-np.inf, *p[2:-1], np.inf])
        high, low = ((edges[Y + k] - rho * z) * np.cosh(p[-1]) for k in (1, 0))
        inside = norm.cdf(high) - norm.cdf(low)
        return -(norm.logpdf(z) - p[1] + np.log(inside)).sum()

    shares = np.cumsum(np.bincount(Y))[:-1] / 250
    start = np.array([X.mean(), np.log(X.std()), *norm.ppf(shares), 0.4])
    best = minimize(loss, start, method="BFGS", options={"gtol": 1e-6})
    actual = correlations.polyserial_of(X, Y, ONES, ml=True)
    rho = np.tanh(best.x[-1])
    # as in polycor, the divisor of the variance of x is n - 1; here it is n
    slope = np.sinh(best.x[-1]) * np.sqrt(250 / 249)
    assert actual.estimate == pytest.approx(slope / np.hypot(1, slope), abs=2e-6)
    covariance = np.linalg.inv(approx_hess(best.x, loss))
    error = np.sqrt(covariance[-1, -1]) * (1 - rho**2)
    assert actual.std_error == pytest.approx(error, rel=5e-3)


def test_weights_are_repeated_rows():
    w = RNG.integers(0, 4, 250).astype(float)
    rows = np.repeat(np.arange(250), w.astype(int))
    used = w > 0
    for ml in (False, True):
        weighted = correlations.polyserial_of(X[used], Y[used], w[used], ml)
        repeated = correlations.polyserial_of(X[rows], Y[rows], np.ones(rows.size), ml)
        assert weighted.estimate == pytest.approx(repeated.estimate, abs=1e-9)
        assert weighted.std_error == pytest.approx(repeated.std_error, rel=1e-6)
        assert weighted.statistic == pytest.approx(repeated.statistic, rel=1e-6)
    numbers = Y.astype(float)
    assert correlations.pearson_of(X, numbers, w).std_error == pytest.approx(
        correlations.pearson_of(X[rows], numbers[rows], np.ones(rows.size)).std_error
    )


def test_two_by_two_with_an_empty_cell_is_at_a_bound():
    """Nothing is added to the cell."""
    for ml in (False, True):
        up = correlations.polychoric_of(np.array([[20.0, 0.0], [10.0, 20.0]]), ml)
        down = correlations.polychoric_of(np.array([[9.0, 20.0], [10.0, 0.0]]), ml)
        assert (up.estimate, down.estimate) == (1.0, -1.0)
        assert up.at_bound and np.isnan(up.std_error) and np.isnan(up.p_value)
    diagonal = correlations.polychoric_of(np.diag([4.0, 5.0, 6.0]), ml=False)
    assert diagonal.estimate == 1.0


def test_empty_cells_of_larger_tables_are_no_problem():
    table = np.array([[20.0, 4.0, 0.0], [5.0, 15.0, 6.0], [0.0, 7.0, 18.0]])
    for ml in (False, True):
        actual = correlations.polychoric_of(table, ml)
        assert 0.7 < actual.estimate < 0.95
        assert 0.0 < actual.std_error < 0.1
        # reversed levels change the sign alone
        turned = correlations.polychoric_of(table[::-1].copy(), ml)
        assert turned.estimate == pytest.approx(-actual.estimate, abs=1e-9)
        assert turned.std_error == pytest.approx(actual.std_error, rel=1e-6)


def test_a_table_of_two_by_two_has_no_test():
    """All thresholds are 0: the correlation is that of the quadrants."""
    table = np.array([[20.0, 10.0], [10.0, 20.0]])
    actual = correlations.polychoric_of(table, ml=False)
    assert actual.estimate == pytest.approx(np.sin(np.pi / 6), abs=1e-9)
    assert actual.df == 0 and np.isnan(actual.p_value)


def test_a_number_that_separates_the_levels_is_at_a_bound():
    x = np.arange(12.0)
    y = np.repeat([0, 1, 2], 4)
    actual = correlations.polyserial_of(x, y, np.ones(12), ml=True)
    assert actual.estimate == 1.0 and np.isnan(actual.std_error)
    assert correlations.polyserial_of(x, y[::-1], np.ones(12), ml=True).estimate == -1.0
    assert correlations.pearson_of(x, 2 * x, np.ones(12)).estimate == 1.0

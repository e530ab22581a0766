"""REDSVM as a method: what it predicts, promises and refuses."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from seams import CostMatrix, Rows

from ordstat import REDSVM, Gaussian, Perceptron, Precomputed, ordfit
from ordstat import kernels as kernels
from ordstat.exceptions import DataError, OptionError
from ordstat.judging.costs import sample_costs
from ordstat.kernels import Custom

from .problems import COSTS, KERNELS, V_SHAPED, problem, rows, sample

X, Y = rows(70)
SETTINGS = [
    {},
    {"kernel": "stump", "C": 5, "cost": "squared"},
    {"kernel": Gaussian(gamma=0.7), "C": 30, "scaling": "standard"},
    {"kernel": "linear", "cost": "classification", "threshold_gamma": 2},
    {"kernel": "polynomial", "cost": V_SHAPED, "C": 0.2, "scaling": None},
]
EVERY = pytest.mark.parametrize("options", SETTINGS, ids=str)


def _fit(options, data, seed=0):
    return REDSVM(**options).fit(data, np.random.default_rng(seed))


def _shifted(X, Z):
    return Perceptron()(X, Z) + 17.0


@EVERY
def test_training_scores_are_those_of_the_rule(options):
    data = sample(X, Y)
    fit = _fit(options, data)
    np.testing.assert_allclose(fit.rule.scores(data.rows), fit.scores, atol=1e-9)
    assert (np.diff(fit.rule.theta) >= 0).all()
    assert fit.certificate.reached
    assert fit.certificate.value <= 1e-10, "small problems are solved to rounding"
    assert fit.selection is None
    assert 0 < fit.support.size <= 70


@EVERY
def test_primal_value_is_that_of_the_formula(options):
    """Equation 4.8 evaluated from the rule, the geometry and the data alone."""
    data = sample(X, Y)
    method = REDSVM(**options)
    fit = method.fit(data, np.random.default_rng(0))
    costs = sample_costs(CostMatrix(method.cost), data)
    loss = 0.0
    for n, k in np.ndindex(70, 3):
        sign = 1.0 if Y[n] > k else -1.0
        weight = abs(costs[n, k + 1] - costs[n, k])
        loss += weight * max(0.0, 1.0 - sign * (fit.scores[n] - fit.rule.theta[k]))
    norm = method.geometry(data, fit).norm
    # b, which has no penalty, takes the mean up
    theta = fit.rule.theta - fit.rule.theta.mean()
    primal = (
        0.5 * norm**2
        + 0.5 * (theta**2).sum() / method.threshold_gamma**2
        + method.C * loss
    )
    assert dict(fit.certificate.details)["primal value"] == pytest.approx(
        primal, rel=1e-9
    )


@EVERY
def test_weights_are_repeated_rows_and_zeros_are_absent(options):
    weights = np.random.default_rng(1).integers(0, 3, 70).astype(float)
    # The corners stay, so that the box of the columns is the same.
    weights[np.concatenate([X.argmin(axis=0), X.argmax(axis=0)])] += 1.0
    weighted = _fit(options, sample(X, Y, weights=weights))
    index = np.repeat(np.arange(70), weights.astype(int))
    repeated = _fit(options, sample(X[index], Y[index]))
    np.testing.assert_allclose(
        weighted.scores, repeated.rule.scores(Rows(X=X)), atol=1e-6
    )
    np.testing.assert_allclose(weighted.rule.theta, repeated.rule.theta, atol=1e-6)
    assert (weights[weighted.support] > 0).all()


@EVERY
def test_the_order_of_rows_and_the_seed_do_not_matter(options):
    order = np.random.default_rng(2).permutation(70)
    one = _fit(options, sample(X, Y))
    other = _fit(options, sample(X[order], Y[order]), seed=99)
    np.testing.assert_allclose(one.scores[order], other.scores, atol=1e-6)


@pytest.mark.parametrize(
    "options",
    [{}, {"kernel": "gaussian", "C": 4}, {"cost": "squared", "kernel": "stump"}],
    ids=str,
)
def test_reversed_ranks_mirror(options):
    one = _fit(options, sample(X, Y))
    other = _fit(options, sample(X, 3 - Y))
    np.testing.assert_allclose(one.scores, -other.scores, atol=1e-6)
    np.testing.assert_allclose(one.rule.theta, -other.rule.theta[::-1], atol=1e-6)


def test_a_constant_added_to_the_kernel_changes_nothing():
    options = {"scaling": None, "C": 2}
    one = _fit({**options, "kernel": Perceptron()}, sample(X, Y))
    other = _fit({**options, "kernel": _shifted}, sample(X, Y))
    np.testing.assert_allclose(one.scores, other.scores, atol=1e-8)
    np.testing.assert_allclose(other.rule.scores(Rows(X=X)), other.scores, atol=1e-9)


def test_precomputed_is_the_kernel_it_holds():
    gram = Gaussian(gamma=0.7)(X, X)
    new = rows(20, seed=5)[0]
    direct = _fit({"kernel": Gaussian(gamma=0.7), "scaling": None}, sample(X, Y))
    given = _fit({"kernel": "precomputed", "scaling": None}, sample(gram, Y))
    across = Rows(X=Gaussian(gamma=0.7)(new, X))
    np.testing.assert_allclose(
        given.rule.scores(across), direct.rule.scores(Rows(X=new)), atol=1e-9
    )
    weights = np.where(np.arange(70) % 7 == 0, 0.0, 1.0)
    direct = _fit(
        {"kernel": Gaussian(gamma=0.7), "scaling": None}, sample(X, Y, weights=weights)
    )
    given = _fit(
        {"kernel": "precomputed", "scaling": None}, sample(gram, Y, weights=weights)
    )
    np.testing.assert_allclose(given.scores, direct.scores, atol=1e-9)


def test_linear_coefficients_are_on_the_scale_of_the_columns():
    data = sample(10.0 + 3.0 * X, Y)
    fit = _fit({"kernel": "linear"}, data)
    change = fit.scores - data.X @ fit.coefficients
    np.testing.assert_allclose(change, change[0], atol=1e-9)
    assert _fit({}, data).coefficients is None


def test_rows_own_costs_take_the_place_of_the_cost():
    named = _fit({"cost": "squared"}, sample(X, Y))
    own = _fit(
        {"cost": "absolute"}, sample(X, Y, costs=(Y[:, None] - np.arange(4.0)) ** 2)
    )
    np.testing.assert_allclose(own.scores, named.scores, atol=1e-9)


@pytest.mark.parametrize(
    "kernel",
    [*KERNELS.values(), Custom(_shifted)],
    ids=lambda kernel: repr(kernel).partition(" at 0x")[0],
)
def test_geometry_is_that_of_feature_space(kernel):
    """|v| and lengths from the eigenvectors of the definite form; margins from the same
    v and thresholds.
    """
    data = sample(X, Y)
    method = REDSVM(kernel=kernel)
    fit = method.fit(data, np.random.default_rng(0))
    geometry = method.geometry(data, fit)
    Z = fit.rule.potential.scaling(X)
    form = kernel(Z, Z)
    zero = np.zeros((1, 3))
    if kernel.conditionally_definite:
        at = kernel(Z, zero)[:, 0]
        form = form - at[:, None] - at + kernel(zero, zero)[0, 0]
    value, vectors = np.linalg.eigh(form)
    phi = vectors * np.sqrt(value.clip(0.0))
    # A linear potential keeps w itself, and phi(x) = x.
    v = (
        fit.rule.potential.coef @ phi[fit.support]
        if not kernel.linear
        else fit.rule.potential.coef
    )
    phi = Z if kernel.linear else phi
    assert geometry.norm == pytest.approx(np.linalg.norm(v), rel=1e-6)
    np.testing.assert_allclose(
        geometry.squared_lengths, (phi**2).sum(axis=1), atol=1e-9
    )
    gaps = (phi @ v)[:, None] - geometry.theta
    np.testing.assert_allclose(gaps, fit.scores[:, None] - fit.rule.theta, atol=1e-6)
    assert geometry.radius**2 - 1.0 >= geometry.squared_lengths.max() - 1e-12


def test_radius_does_not_look_at_the_data_where_the_box_is_known():
    data = sample(X, Y)
    for kernel in ("perceptron", "gaussian", "linear"):
        method = REDSVM(kernel=kernel)
        radius = method.geometry(
            data, method.fit(data, np.random.default_rng(0))
        ).radius
        assert radius == pytest.approx(np.sqrt(method_radius(kernel) + 1.0))


def method_radius(kernel):
    """Largest k(x, x) in the cube [-1, 1]^3, by hand."""
    return {"perceptron": 2 * np.sqrt(3), "gaussian": 1.0, "linear": 3.0}[kernel]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"C": 0}, ["C of REDSVM", "above 0", "'cv'", "got 0"]),
        ({"C": np.inf}, ["C of REDSVM", "inf"]),
        ({"C": np.nan}, ["C of REDSVM", "nan"]),
        ({"threshold_gamma": -1}, ["threshold_gamma of REDSVM", "-1"]),
        ({"tol": 1.0}, ["tol of REDSVM", "between 0 and 1"]),
        ({"kernel": "radial"}, ["'gaussian'", "'radial'"]),
        ({"scaling": "minmax"}, ["'range'", "'standard'", "None", "'minmax'"]),
        (
            {"solver": "smo"},
            ["'auto'", "'coordinate'", "'interior-point'", "'cvxpy'", "'smo'"],
        ),
        ({"kernel": "precomputed"}, ["scaling must be None", "'range'"]),
    ],
    ids=str,
)
def test_wrong_options_are_named(options, words):
    with pytest.raises(OptionError) as error:
        REDSVM(**options)
    assert all(word in str(error.value) for word in words), str(error.value)


@pytest.mark.parametrize(
    ("options", "more", "kind", "message"),
    [
        ({}, {"cluster": np.arange(70)}, OptionError, "C='cv'"),
        ({}, {"costs": np.tile([0.0, 2.0, 1.0, 3.0], (70, 1))}, DataError, "V-shaped"),
        ({}, {"weights": np.zeros(70)}, DataError, "weights are zero"),
        (
            {"cost": ((0.0, 1.0), (1.0, 0.0))},
            {},
            OptionError,
            "2 x 2 matrix for a response of 4 levels",
        ),
        (
            {"kernel": lambda A, B: -Gaussian()(A, B)},
            {},
            DataError,
            "not positive definite",
        ),
        (
            {"kernel": lambda A, B: A @ np.triu(np.ones((3, 3))) @ B.T},
            {},
            DataError,
            "not symmetric",
        ),
        ({"kernel": Precomputed(), "scaling": None}, {}, DataError, "square"),
        (
            {"kernel": "linear", "scaling": None},
            {"rows": Rows(X=1e200 * X)},
            DataError,
            "must be finite .* got inf for training rows",
        ),
        ({}, {"costs": np.ones((70, 4))}, DataError, "costs are equal for all ranks"),
        ({}, {"rows": Rows(X=X, offset=np.zeros(70))}, OptionError, "offset"),
        ({"C": "cv", "folds": 71}, {}, OptionError, "rows, 70; got 71"),
    ],
)
def test_samples_it_cannot_use(options, more, kind, message):
    with pytest.raises(kind, match=message):
        _fit(options, replace(sample(X, Y), **more))


def test_inputs_are_not_changed():
    data = sample(X.copy(), Y.copy(), weights=np.ones(70))
    _fit(
        {"kernel": "precomputed", "scaling": None}, sample(gram := Gaussian()(X, X), Y)
    )
    _fit({"C": "cv", "folds": 2}, data)
    np.testing.assert_array_equal(data.X, X)
    np.testing.assert_array_equal(data.y, Y)
    np.testing.assert_array_equal(gram, Gaussian()(X, X))


def test_no_columns_and_an_unused_level():
    """Without columns every row gets one rank, the cheapest; a level without rows is no
    obstacle.
    """
    y = np.array([0, 0, 0, 2, 2])
    for options in (
        {},
        {"kernel": "gaussian"},
        {"cost": "classification"},
        {"kernel": "stump"},
    ):
        fit = _fit({"C": 100, **options}, sample(np.zeros((5, 0)), y, 4))
        assert (fit.rule.codes(Rows(X=np.zeros((2, 0)))) == 0).all()
        assert fit.certificate.reached


@pytest.mark.parametrize("n_levels", [2, 3])
def test_degenerate_samples(n_levels):
    """One row a level, one level alone, a level without rows: the nearest rank is still
    found.
    """
    few = sample(np.arange(float(n_levels))[:, None], np.arange(n_levels), n_levels)
    assert (_fit({"C": 10}, few).rule.codes(few.rows) == np.arange(n_levels)).all()
    for level in range(n_levels):
        alone = sample(np.zeros((4, 1)), np.full(4, level), n_levels)
        fit = _fit({}, alone)
        assert (fit.rule.codes(alone.rows) == level).all()
        assert fit.certificate.reached


@pytest.mark.parametrize("solver", ["coordinate", "interior-point", "cvxpy"])
def test_every_solver_meets_the_tolerance_asked(solver):
    data = sample(*rows(230))
    for tol in (1e-3, 1e-6):
        fit = _fit({"solver": solver, "tol": tol, "C": 4}, data)
        assert fit.certificate.reached
        assert fit.certificate.tolerance == tol
        assert dict(fit.facts)["Solver"] == solver


def test_an_optimum_not_reached_is_told(monkeypatch):
    monkeypatch.setattr("ordstat.svm.interior_point._MAX_ITERATIONS", 2)
    certificate = _fit({"C": 50, "solver": "interior-point"}, sample(X, Y)).certificate
    assert not certificate.reached
    assert certificate.value > 1e-3


@pytest.mark.parametrize("cost", COSTS)
def test_larger_C_fits_the_training_rows_better(cost):
    losses = []
    for C in (0.01, 0.1, 1.0, 10.0):
        fit = _fit({"C": C, "cost": COSTS[cost]}, sample(X, Y))
        p = problem(Perceptron(), COSTS[cost], n=70)
        slack = 1.0 - p.labels * (fit.scores[:, None] - fit.rule.theta)
        losses.append((p.weights * slack.clip(0.0)).sum())
    assert (np.diff(losses) <= 1e-9).all()


@pytest.mark.parametrize("method", ["redsvm", "ovo", "rank-svm", "kernel-cusum"])
@pytest.mark.parametrize("kernel", ["perceptron", "linear"])
def test_kernel_values_that_overflow_in_a_solver_are_refused(method, kernel):
    frame = pd.DataFrame({"x": np.arange(20.0) * 1e150, "y": np.arange(20) // 7})
    with pytest.raises(
        DataError,
        match=r"kernel values must be finite and at most 1e\+100.*Scale the columns",
    ):
        ordfit("y ~ x", frame, method, kernel=kernel, scaling=None)


@pytest.mark.parametrize("kernel", ["linear", "perceptron", "gaussian"])
@pytest.mark.parametrize("method", ["redsvm", "svor-imc"])
@pytest.mark.parametrize("C", [0.125, 1.0, 8.0])
def test_no_order_is_made_up(kernel: str, method: str, C: float) -> None:
    ranks = np.repeat([1, 2, 3, 4], [3, 5, 2, 4])
    frame = pd.DataFrame(
        {"x": np.repeat([-1.0, 1.0], ranks.size), "y": np.tile(ranks, 2)}
    )
    fit = ordfit("y ~ x", frame, method, kernel=kernel, C=C)
    assert np.ptp(fit.predict(type="score")) == 0.0
    assert fit.errors().loc["concordance", "training"] == 0.5
    assert not fit.fit.rule.potential.coef.any()
    assert fit.certificate.reached

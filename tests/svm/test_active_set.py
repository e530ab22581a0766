"""The end of an ascent by one linear system."""

import numpy as np
import pytest

from ordstat.svm.coordinate import CoordinateAscent, free_variables, polished
from ordstat.svm.dual import ExtendedDual, certify
from ordstat.svm.gram import DenseGram, LinearGram, centred
from ordstat.svm.interior_point import InteriorPoint
from ordstat.svm.routes import CvxpyDual

from .problems import COSTS, KERNELS, problem, rows


@pytest.mark.parametrize("gamma", [1.0, np.inf])
@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("kernel", ["perceptron", "gaussian"])
def test_from_the_right_free_variables_it_is_the_optimum(kernel, cost, gamma):
    """From a point near the optimum the certificate falls to rounding; the value is that of cvxpy."""
    made = problem(KERNELS[kernel], COSTS[cost], n=60, gamma=gamma)
    near = CoordinateAscent(made, np.random.default_rng(0)).solve(1.5, 1e-7).solution
    found = polished(made, 1.5, near)
    assert found.solution.gap < 1e-11
    reference = CvxpyDual(made, np.random.default_rng(0)).solve(1.5, 1e-8).solution
    assert found.solution.primal == pytest.approx(reference.primal, rel=1e-7)
    np.testing.assert_allclose(found.solution.scores, reference.scores, atol=2e-3)


@pytest.mark.parametrize("gamma", [1.0, np.inf])
@pytest.mark.parametrize("seed", range(3))
def test_a_bad_start_cannot_spoil_the_ascent(gamma, seed):
    """From random free variables the answer still is feasible, and its dual value no more than the optimum."""
    made = problem(KERNELS["gaussian"], "classification", n=60, gamma=gamma, seed=seed)
    optimum = InteriorPoint(made, np.random.default_rng(0)).solve(8.0, 1e-10).solution
    start = CoordinateAscent(made, np.random.default_rng(seed), max_epochs=4).solve(8.0, 1e-12).solution
    found = polished(made, 8.0, start)
    assert found is None or found.solution.dual <= optimum.dual * (1.0 + 1e-9)
    assert found is None or found.solution.primal >= optimum.primal * (1.0 - 1e-9)
    whole = CoordinateAscent(made, np.random.default_rng(seed)).solve(8.0, 1e-9).solution
    assert whole.gap <= 1e-9
    assert whole.primal == pytest.approx(optimum.primal, rel=1e-8)


def _hard(gamma=1.0):
    """A Gaussian kernel of 300 rows."""
    X, y = rows(300, n_columns=4, seed=2)
    labels = np.where(y[:, None] > np.arange(3), 1.0, -1.0)
    gram, _ = centred(KERNELS["gaussian"](X, X))
    return ExtendedDual(gram=DenseGram(gram), labels=labels, weights=np.ones_like(labels), gamma=gamma)


@pytest.fixture
def _ascent_alone(monkeypatch):
    """Coordinate ascent without the linear system."""
    monkeypatch.setattr("ordstat.svm.coordinate.polished", lambda *_: None)


@pytest.mark.usefixtures("_ascent_alone")
@pytest.mark.parametrize("gamma", [1.0, np.inf])
def test_variables_held_on_a_bound_leave_the_others_stationary(gamma):
    """Several rounds on one factorisation: what is left inside the boxes solves Y = f + b - theta."""
    made, C = _hard(gamma), 8.0
    start = CoordinateAscent(made, np.random.default_rng(0), max_epochs=139).solve(C, 1e-12).solution
    found = polished(made, C, start)
    u = found.solution.u
    before, inside = (np.abs(start.u) > 0) & (np.abs(start.u) < C), (np.abs(u) > 0) & (np.abs(u) < C)
    assert 0 < inside.sum() < before.sum()
    assert not (inside & ~before).any()
    error = made.labels - (made.gram.matrix @ u.sum(axis=1) + found.b)[:, None] + found.theta
    assert np.abs(error[inside]).max() < 1e-8
    assert np.abs(u.sum(axis=0 if made.free else None)).max() < 1e-8


@pytest.mark.usefixtures("_ascent_alone")
@pytest.mark.parametrize("gamma", [1.0, np.inf])
def test_rows_worked_on_alone_come_to_the_same_optimum(gamma, monkeypatch):
    """Ascent without the linear system: its later epochs go over copies of some of the rows."""
    sizes = []
    part = DenseGram.part
    monkeypatch.setattr(DenseGram, "part", lambda gram, rows: sizes.append(len(rows)) or part(gram, rows))
    made = _hard(gamma)
    outcome = CoordinateAscent(made, np.random.default_rng(0)).solve(1.0, 1e-7)
    assert outcome.solution.gap <= 1e-7
    assert 0 < min(sizes) < 300
    reference = InteriorPoint(made, np.random.default_rng(0)).solve(1.0, 1e-10).solution
    assert outcome.solution.primal == pytest.approx(reference.primal, rel=1e-7)


def test_it_saves_epochs():
    """A Gaussian kernel and a large C: coordinate ascent alone needs thousands of epochs to this gap."""
    made = _hard()
    outcome = CoordinateAscent(made, np.random.default_rng(0)).solve(8.0, 1e-10)
    assert outcome.solution.gap <= 1e-10
    assert outcome.iterations < 1000
    reference = InteriorPoint(made, np.random.default_rng(0)).solve(8.0, 1e-10).solution
    assert outcome.solution.primal == pytest.approx(reference.primal, rel=1e-9)


def test_repeated_rows_and_no_free_variables():
    """Copies of a row make the system singular but for the regularisation; without free variables there is none."""
    X, y = rows(40)
    twice, codes = np.repeat(X, 2, axis=0), np.repeat(y, 2)
    labels = np.where(codes[:, None] > np.arange(3), 1.0, -1.0)
    made = ExtendedDual(
        gram=LinearGram(twice - twice.mean(axis=0)), labels=labels, weights=np.ones_like(labels), gamma=1.0
    )
    near = CoordinateAscent(made, np.random.default_rng(0)).solve(1.0, 1e-4).solution
    found = polished(made, 1.0, near)
    assert found.solution.primal == pytest.approx(InteriorPoint(made, None).solve(1.0, 1e-10).solution.primal, rel=1e-4)
    nothing = certify(made, 1.0, np.zeros_like(labels))
    assert free_variables(made, 1.0, nothing) == 0
    assert polished(made, 1.0, nothing) is None

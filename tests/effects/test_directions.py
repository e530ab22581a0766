"""Derivatives along a tangent of the rows: against differences of values and of their gradients, for every family."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from test_sensitivity import ALL_LINKS, problem

from ordstat.formula.sample import Rows
from ordstat.likelihood.adjacent import Adjacent
from ordstat.likelihood.family import Cumulative
from ordstat.likelihood.derivatives import QUANTITIES, Directions, averages

H = 1e-3
POINTS = ((-2, 1.0), (-1, -8.0), (1, 8.0), (2, -1.0))


def direction(rows: Rows) -> Rows:
    """Every part of the rows moves, each row in its own way."""
    rng = np.random.default_rng(8)
    parts = ("X", "offset", "nominal", "scale", "scale_offset")
    return Rows(**{name: rng.normal(size=getattr(rows, name).shape) / 2 for name in parts})


def along(rows: Rows, tangent: Rows, step: float) -> Rows:
    moved = {name: getattr(rows, name) + step * value for name, value in vars(tangent).items() if value is not None}
    return Rows(**moved)


CASES = [(Cumulative, link) for link in ALL_LINKS] + [(Adjacent, link) for link in ("logit", "cloglog", "probit")]


@pytest.mark.parametrize("name", [name for name in QUANTITIES if name != "cum_prob"])
@pytest.mark.parametrize(("family", "link"), CASES, ids=lambda one: getattr(one, "__name__", one))
def test_averages_are_differences(family, link, name) -> None:
    """Five points of sums and Jacobians that are themselves held against differences in test_sensitivity."""
    rule, rows = problem(link, family)
    tangent, weights = direction(rows), np.linspace(0.5, 1.5, rows.n)
    points = [averages(QUANTITIES[name], rule, along(rows, tangent, k * H), weights) for k, _ in POINTS]
    values, jacobian = Directions(QUANTITIES[name], rule, rows).average(tangent, weights)
    for found, place in ((values, 0), (jacobian, 1)):
        expected = sum(weight * point[place] for (_, weight), point in zip(POINTS, points, strict=True)) / (12 * H)
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=2e-9)


@pytest.mark.parametrize(("family", "link"), [(Cumulative, "probit"), (Adjacent, "logit")])
@pytest.mark.parametrize("name", ["prob", "mean", "exc_prob", "latent", "log_odds"])
def test_rows_add_up_to_the_averages(family, link, name) -> None:
    rule, rows = problem(link, family)
    tangent, weights = direction(rows), np.linspace(0.5, 1.5, rows.n)
    at = Directions(QUANTITIES[name], rule, rows)
    for each, together in (
        (at.each(tangent), at.average(tangent, weights)),
        (at.values(), averages(QUANTITIES[name], rule, rows, weights)),
    ):
        for single, total in zip(each, together, strict=True):
            summed = np.tensordot(weights, single, axes=1)
            np.testing.assert_allclose(summed, total, rtol=1e-12, atol=1e-14)


def test_rows_come_in_blocks(monkeypatch) -> None:
    rule, rows = problem("logit")
    tangent, weights = direction(rows), np.ones(rows.n)
    whole = Directions(QUANTITIES["prob"], rule, rows)
    expected = whole.average(tangent, weights), whole.each(tangent)
    monkeypatch.setattr("ordstat.likelihood.derivatives._BUFFER", 2 * rule.n_levels)
    parts = Directions(QUANTITIES["prob"], rule, rows)
    for found, one in zip((parts.average(tangent, weights), parts.each(tangent)), expected, strict=True):
        for a, b in zip(found, one, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-16)


def test_infinite_thresholds_do_not_move() -> None:
    """A level without rows has a threshold at infinity: what lies beyond it has no slope, all else keeps its own."""
    rule, rows = problem("logit")
    far = replace(rule, alpha=np.vstack([rule.alpha[:2], [[np.inf, 0.0]]]))
    values, jacobian = Directions(QUANTITIES["prob"], far, rows).average(direction(rows), np.ones(rows.n))
    assert np.isfinite(values).all() and np.isfinite(jacobian).all()
    kept = Directions(QUANTITIES["prob"], rule, rows).average(direction(rows), np.ones(rows.n))[0]
    np.testing.assert_allclose(values[:2], kept[:2], rtol=1e-12)
    assert values[3] == 0.0


@pytest.mark.parametrize("link", ["logit", "probit", "cauchit"])
def test_slopes_in_the_tails_keep_their_digits(link) -> None:
    """One effect: the slope of P(y <= k) is -beta f(eta), and its derivative by a threshold -beta f'(eta)."""
    rule = problem(link)[0]
    rule = replace(rule, alpha=rule.alpha[:, :1], beta=np.array([2.0]), zeta=np.zeros(0))
    x = np.array([-8.0, -3.0, 0.0, 4.0, 9.0])
    plain, tangent = Rows(X=x[:, None]), Rows(X=np.ones((5, 1)))
    eta = rule.alpha[:, 0] - 2.0 * x[:, None]
    f = rule.link.pdf(eta)
    bend = {"logit": f * (1 - 2 * rule.link.cdf(eta)), "probit": -eta * f, "cauchit": -2 * eta / (1 + eta**2) * f}[link]
    values, jacobian = Directions(QUANTITIES["inner_cum_prob"], rule, plain).each(tangent)
    np.testing.assert_allclose(values, -2.0 * f, rtol=1e-12)
    places = np.arange(3)
    np.testing.assert_allclose(jacobian[:, places, places], -2.0 * bend, rtol=1e-8)

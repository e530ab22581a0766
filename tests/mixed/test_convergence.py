"""Digits and what is left of the gradient are those of the fit with random effects."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ordstat import datasets, ordfit

WINE = datasets.load("wine")
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "intercepts": ("rating ~ temp + contact + (1 | judge)", {}),
    "slopes": ("rating ~ temp + contact + (1 + temp | judge)", {}),
    "boundary": ("rating ~ temp + contact + (1 | judge) + (1 | bottle)", {}),
    "nominal": ("rating ~ temp + (1 | judge)", {"nominal": "~ contact"}),
    "quadrature": ("rating ~ temp + contact + (1 | judge)", {"quadrature": 7}),
}


@pytest.mark.parametrize("model", MODELS)
def test_digits_against_the_same_rows_in_another_order(model: str) -> None:
    """Another order of the rows is another way to the same maximum: the estimates agree in the digits told."""
    formula, options = MODELS[model]
    fit = ordfit(formula, WINE, **options)
    other = ordfit(formula, WINE.sample(frac=1.0, random_state=3), **options)
    table = fit.convergence().table
    size = np.maximum(fit.params[table.index].abs(), fit.se[table.index])
    apart = (fit.params - other.params)[table.index].abs() / size
    told = np.minimum(fit.fit.digits, other.fit.digits)
    assert (apart <= 10.0 ** (1.0 - told)).all()
    assert table["digits"].tolist() == fit.fit.digits.tolist() and (told >= 8).all()


def test_what_is_left_is_that_of_the_integrated_likelihood() -> None:
    """At an estimate moved away, the error column is the distance, and the gradient that of differences of fits."""
    fit = ordfit("rating ~ temp + contact + (1 | judge)", WINE)
    here = fit.fit.marginal.likelihood
    moved = here.at.psi + 1e-4 * np.arange(1.0, here.at.psi.size + 1.0)
    away = type(here)(
        model=here.model,
        quadrature=1,
        at=here.objective(moved, here.at.v),
        information=here.information,
        free=here.free,
    )
    gradient, step = away.left_over(), away.last_step()
    assert step == pytest.approx(here.to_user() @ (here.at.psi - moved), rel=0.02)
    ahead, behind = (
        here.objective(moved + sign * 1e-4 * (here.from_user()[:, 4]), here.at.v).loglik for sign in (1.0, -1.0)
    )
    assert gradient[4] == pytest.approx((ahead - behind) / 2e-4, rel=1e-4)


def test_condition_and_words() -> None:
    found = ordfit("rating ~ temp + contact + (1 | judge)", WINE).convergence()
    assert 1.0 < found.condition < 1e3 and "gradient of the modes" in found.message

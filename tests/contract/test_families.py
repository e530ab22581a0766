"""Every family with every link: predictions of all types, residuals and profiles, by
their definitions.

A new family or link is found by its name in the registry.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from seams import LINKS, METHODS

from ordstat import OptionError, ordfit
from ordstat.exceptions import UnavailableError
from ordstat.likelihood.regression import OrdinalRegression

RNG = np.random.default_rng(11)
DATA = pd.DataFrame({"x": RNG.normal(size=150), "g": RNG.choice(["a", "b"], size=150)})
DATA["y"] = pd.cut(
    DATA["x"] + (DATA["g"] == "b") + RNG.logistic(size=150),
    [-np.inf, -0.5, 1.5, np.inf],
    labels=["low", "mid", "high"],
)
OBSERVED = DATA["y"].cat.codes.to_numpy()
FORMULA = "y ~ x + g"


def models() -> list[tuple[str, dict[str, str]]]:
    """Methods of maximum likelihood with the options that set link and direction."""
    found = []
    for name, entry in METHODS.items():
        if issubclass(entry.method, OrdinalRegression):
            ways = ({},)
            if hasattr(entry.method(), "direction"):
                ways = ({}, {"direction": "backward"})
            links = ({},) if "link" in entry.preset else map(link_of, LINKS)
            found += [(name, {**link, **way}) for link in links for way in ways]
    return found


def link_of(link: str) -> dict[str, str]:
    return {"link": link}


MODELS = models()


def test_the_models_are_those_of_the_registry() -> None:
    names = {name for name, _ in MODELS}
    assert names >= {"clm", *LINKS, "acat", "multinomial", "stereotype", "cratio"}
    assert ("sratio", {"link": "cauchit", "direction": "backward"}) in MODELS


@pytest.mark.parametrize(("method", "options"), MODELS)
def test_questions_are_answered_by_their_definitions(
    method: str, options: dict[str, str]
) -> None:
    fit = ordfit(FORMULA, DATA, method, **options)
    assert fit.certificate.reached
    p = fit.predict(type="prob").to_numpy()
    check_predictions(fit, p)
    check_residuals(fit, p)
    check_profile(fit)


def check_predictions(fit, p: np.ndarray) -> None:
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    own = p[np.arange(len(p)), OBSERVED]
    assert fit.loglik == pytest.approx(np.log(own).sum(), abs=1e-9)
    for type in fit.prediction_types:
        values = fit.predict(DATA, type=type)
        assert values.notna().all(axis=None) and len(values) == len(DATA)
    below = fit.predict(DATA, type="cum_prob").to_numpy()
    width = below.shape[1]
    np.testing.assert_allclose(below, p.cumsum(axis=1)[:, :width], atol=1e-12)
    levels = np.array(["low", "mid", "high"])
    assert (fit.predict(DATA) == levels[p.argmax(axis=1)]).all()
    mean = fit.predict(DATA, type="mean").to_numpy()
    np.testing.assert_allclose(mean, p @ [1.0, 2.0, 3.0])


def check_residuals(fit, p: np.ndarray) -> None:
    places = np.arange(3)
    below = (p * (places < OBSERVED[:, None])).sum(axis=1)
    above = (p * (places > OBSERVED[:, None])).sum(axis=1)
    scale = fit.residuals("probability-scale").to_numpy()
    np.testing.assert_allclose(scale, below - above, atol=1e-12)
    deviance = fit.residuals("deviance").to_numpy()
    assert np.square(deviance).sum() == pytest.approx(-2.0 * fit.loglik)
    try:
        surrogate = fit.residuals("surrogate", seed=1)
    except (OptionError, UnavailableError) as refused:
        assert "surrogate" in str(refused)
    else:
        assert np.isfinite(surrogate).all()


def check_profile(fit) -> None:
    """z is the signed root of the fall of the deviance; limits are near Wald's."""
    name = fit.params.index[-1]
    table = fit.profile(name, points=5)
    fall = 2.0 * (fit.loglik - table["loglik"])
    np.testing.assert_allclose(table["z"] ** 2, fall, atol=1e-6)
    side = np.sign(table["value"] - fit.params[name])
    assert (table["z"] * side >= -1e-6).all() and table["z"].abs().max() > 2.0
    wald = fit.confint(name).to_numpy().ravel()
    found = fit.confint(name, type="profile").to_numpy().ravel()
    np.testing.assert_allclose(found, wald, atol=0.25 * np.ptp(wald))

"""Separation in imputed data: pool() refuses it with what helps, and pooled fits of
what it advises answer every question by Rubin's rules.
"""

import re
import warnings

import numpy as np
import pandas as pd
import pytest

from ordstat import ordfit, pool, table
from ordstat.exceptions import DataError

#: Imputed frames.
M = 3
NEW = pd.DataFrame({"g": ["a", "b", "c"], "x": [0.2, -0.5, 1.0]})
AT = {"x": 0.3}
#: (options, the advised options)
FITS = {
    "logit": ({}, {"penalty": 1.0}),
    "probit": ({"link": "probit"}, {"penalty": 1.0}),
    "acat": ({"method": "acat"}, {"penalty": 1.0}),
    "cratio": ({"method": "cratio"}, {"penalty": 1.0}),
    "nominal": ({"nominal": "~ h"}, {"penalty": 1.0}),
    "multinomial": ({"method": "multinomial"}, {"penalty": 1.0}),
    "stereotype": (
        {"method": "stereotype"},
        {"method": "multinomial", "penalty": 1.0},
    ),
}


def imputed(separation):
    """Frames that differ in a column; a level of g, or every row, is separated."""
    rng = np.random.default_rng(6)
    g = np.repeat(list("abc"), 30)
    x = rng.normal(size=90)
    h = np.tile(list("uv"), 45)
    y = np.digitize(0.8 * x + rng.logistic(size=90), [-0.8, 0.8])
    frames = []
    for k in range(M):
        guess = np.where(np.arange(90) < 15, rng.normal(size=90), x)
        separated = separation == "level" or (separation == "one frame" and k == 1)
        answer = np.where(separated & (g == "c"), 2, y)
        if separation == "complete":
            answer = np.digitize(guess, [-0.8, 0.8])
        frames.append(pd.DataFrame({"y": answer, "g": g, "h": h, "x": guess}))
    return frames


def fitted(frames, options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [ordfit("y ~ g + x", frame, **options) for frame in frames]


def by_rubin(answers):
    """Means of the estimates, and errors by Rubin's rules, of one answer a fit."""
    estimates = np.array([answer["estimate"] for answer in answers], dtype=float)
    errors = np.array([answer["std_error"] for answer in answers], dtype=float)
    between = estimates.var(axis=0, ddof=1) * (1.0 + 1.0 / M)
    return estimates.mean(axis=0), np.sqrt((errors**2).mean(axis=0) + between)


@pytest.mark.parametrize("separation", ["level", "one frame", "complete"])
@pytest.mark.parametrize("name", FITS)
def test_separated_fits_are_refused_with_the_fit_and_what_helps(name, separation):
    options, advised = FITS[name]
    frames = imputed(separation)
    number = 2 if separation == "one frame" else 1
    with pytest.raises(DataError) as refused:
        pool(fitted(frames, options))
    text = str(refused.value)
    assert f"fit {number} of {M} lacks them" in text
    assert re.search("its (response is separated|likelihood has no maximum)", text)
    for option, value in advised.items():
        assert f"{option}={value!r}" in text
    assert pool(fitted(frames, {**options, **advised})).converged


@pytest.mark.parametrize("name", ["logit", "acat", "multinomial"])
def test_what_is_advised_answers_by_rubins_rules(name):
    options, advised = FITS[name]
    fits = fitted(imputed("level"), {**options, **advised})
    pooled = pool(fits)
    questions = [
        lambda fit: fit.tidy(),
        lambda fit: fit.emmeans("g", at=AT).frame,
        lambda fit: fit.emmeans("g", at=AT).contrasts("pairwise"),
        lambda fit: fit.marginal_effects("x").frame,
    ]
    for ask in questions:
        estimate, error = by_rubin([ask(fit) for fit in fits])
        np.testing.assert_allclose(ask(pooled)["estimate"], estimate, rtol=1e-8)
        np.testing.assert_allclose(ask(pooled)["std_error"], error, rtol=1e-8)
    means = np.mean([fit.predict(NEW, type="prob") for fit in fits], axis=0)
    np.testing.assert_allclose(pooled.predict(NEW, type="prob"), means, rtol=1e-12)
    for shown in (pooled.summary(), table(pooled)):
        assert "not estimable" not in str(shown)
    assert pooled.test("g").loc["joint", "p_value"] < 0.05

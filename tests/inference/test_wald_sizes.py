"""Type I error of every test: the share of p-values below 5 % where the null hypothesis
holds.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from inference.populations import LATENT, proportional
from ordstat import ordfit

SAMPLES = 300
ROWS = 400
#: 4 Monte Carlo errors, plus what chi-square approximations miss at this many rows.
ALLOWED = 4.0 * float(np.sqrt(0.05 * 0.95 / SAMPLES)) + 0.01


def p_values(link: str, data) -> Iterator[tuple[str, float]]:
    """Name and p-value of tests whose null hypothesis is true of the population."""
    fit = ordfit("y ~ x + f + idle", data, link=link)
    smaller = ordfit("y ~ x + f", data, link=link)
    yield "anova", smaller.anova(fit)["p_value"].iloc[-1]
    yield "anova III", fit.anova(type="III").loc["idle", "p_value"]
    yield "drop1", fit.drop1().loc["idle", "p_value"]
    yield "add1", smaller.add1("~ . + idle").loc["idle", "p_value"]
    yield "test", fit.test("idle = 0")["p_value"].iloc[-1]
    for name in ("nominal_test", "scale_test"):
        for term in ("x", "f"):
            yield f"{name} {term}", getattr(fit, name)().loc[term, "p_value"]
    for term in ("x", "f", "omnibus"):
        yield f"score_test {term}", fit.score_test().loc[term, "p_value"]
        if link == "logit":
            yield f"brant {term}", fit.brant().loc[term, "p_value"]
    yield "p_values", fit.p_values["idle"]


@pytest.mark.slow
@pytest.mark.parametrize("link", LATENT)
def test_size(link: str) -> None:
    rng = np.random.default_rng(7)
    rejected: dict[str, int] = {}
    for _ in range(SAMPLES):
        for name, p in p_values(link, proportional(link, ROWS, rng)):
            rejected[name] = rejected.get(name, 0) + (p < 0.05)
    far = {
        name: count / SAMPLES
        for name, count in rejected.items()
        if abs(count / SAMPLES - 0.05) > ALLOWED
    }
    assert not far

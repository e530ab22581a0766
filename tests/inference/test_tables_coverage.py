"""Share of samples whose 95 % intervals hold the truth: Wald, profile likelihood,
predicted probabilities.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from inference.populations import LATENT, NEW, TRUE, everything, probabilities
from ordstat import ordfit

#: Samples drawn, and what asymptotic intervals may miss at this many rows, beside 4
#: Monte Carlo errors.
PLAN = {200: (400, 0.02), 1000: (250, 0.01)}


def allowed(n: int) -> float:
    samples, small_sample = PLAN[n]
    return 4.0 * float(np.sqrt(0.05 * 0.95 / samples)) + small_sample


def holds(limits: pd.DataFrame) -> np.ndarray:
    return ((limits["lower"] <= TRUE) & (limits["upper"] >= TRUE)).to_numpy()


@pytest.mark.slow
@pytest.mark.parametrize("n", PLAN)
@pytest.mark.parametrize("link", LATENT)
def test_intervals_hold_the_truth(link: str, n: int) -> None:
    rng = np.random.default_rng(2024)
    truth = probabilities(link)
    counts = {
        "wald": np.zeros(6),
        "profile": np.zeros(6),
        "probability": np.zeros(truth.shape),
    }
    for _ in range(PLAN[n][0]):
        fit = ordfit(
            "y ~ x", everything(link, n, rng), link=link, nominal="~ w", scale="~ z"
        )
        assert fit.params.index.tolist() == TRUE.index.tolist()
        for type in ("wald", "profile"):
            counts[type] += holds(fit.confint(type=type))
        predicted = fit.predict(NEW, type="prob", interval="confidence")
        counts["probability"] += (predicted["lower"].to_numpy() <= truth) & (
            truth <= predicted["upper"].to_numpy()
        )
    for name, count in counts.items():
        assert np.all(np.abs(count / PLAN[n][0] - 0.95) <= allowed(n)), (
            name,
            count / PLAN[n][0],
        )


@pytest.mark.slow
def test_the_check_would_see_wrong_intervals() -> None:
    """Intervals four fifths as long cover 88 %, outside the tolerance."""
    assert allowed(1000) < 0.95 - 0.883 and allowed(200) < 0.95 - 0.883

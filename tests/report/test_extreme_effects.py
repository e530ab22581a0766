"""Very many infinite effects, and effects whose odds ratios are beyond all numbers or next to 1, as printed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from ordstat import SeparationWarning, ordfit


def test_a_separated_factor_of_many_levels_is_told_in_a_few_lines() -> None:
    """Five names, and a count of the others: 30 levels from the 31st on have one answer, and so have some before."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"g": np.repeat([f"level{k:03d}" for k in range(60)], 3), "y": rng.integers(0, 3, 180)})
    data.loc[90:, "y"] = 2
    levels = data["y"].groupby(data["g"])
    infinite = int(((levels.max() == levels.min()) & levels.max().isin([0, 2])).sum())
    with pytest.warns(SeparationWarning) as caught:
        ordfit("y ~ g", data)
    (text,) = [str(one.message) for one in caught if one.category is SeparationWarning]
    assert len(text) < 600 and f"and {infinite - 5} more)" in text


def rated(size: float) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    x = rng.normal(size=100)
    return pd.DataFrame({"x": size * x, "y": np.digitize(x + rng.logistic(size=100), [-1.0, 1.0])})


def test_odds_ratios_beyond_all_numbers_are_infinite_without_a_warning() -> None:
    fit = ordfit("y ~ x", rated(1e-5))
    ratio = fit.tidy(exponentiate=True).set_index("term").loc["x", "estimate"]
    assert fit.coef["x"] > 1e4 and np.isposinf(ratio) and " inf" in str(fit.summary())


def test_odds_ratios_next_to_one_show_by_how_much() -> None:
    fit = ordfit("y ~ x", rated(1e6))
    assert 0.0 < fit.coef["x"] < 1e-4
    assert f"{np.exp(fit.coef['x']):.7f}" in str(fit.summary())

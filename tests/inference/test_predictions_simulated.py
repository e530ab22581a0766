"""Simulated responses: frequencies, labels, seeds."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from expected import refused

from inference.samples import fitted, frame
from ordstat.exceptions import DataError
from ordstat.inference.predictions import drawn_codes


@pytest.mark.parametrize(
    "model",
    [{}, {"link": "cauchit"}, {"formula": "y ~ x", "nominal": "~ f", "scale": "~ z"}],
)
def test_frequencies_are_the_probabilities(model: dict) -> None:
    fit = fitted(n=150, **model)
    draws = 2000
    codes = (
        fit.simulate(draws, seed=1).apply(lambda column: column.cat.codes).to_numpy()
    )
    prob = fit.predict(type="prob").to_numpy()
    share = np.stack([(codes == k).mean(axis=1) for k in range(4)], axis=1)
    error = np.sqrt(prob * (1 - prob) / draws)
    assert np.all(np.abs(share - prob) <= 5 * error + 1e-12)
    # rows are independent
    pairs = np.corrcoef(codes - codes.mean(axis=1, keepdims=True))[
        np.triu_indices(150, 1)
    ]
    assert np.abs(pairs).max() < 5.5 / np.sqrt(draws)


@pytest.mark.parametrize(
    "model",
    [
        *({"link": link} for link in ("logit", "probit", "cloglog", "cauchit")),
        {"formula": "y ~ x", "scale": "~ z"},
        {"formula": "y ~ x", "nominal": "~ f"},
        {"method": "acat"},
    ],
)
def test_draws_are_those_of_summed_probabilities(model: dict) -> None:
    """The answers of a seed: levels at or below a share of each row, counted."""
    fit = fitted(n=150, **model)
    shares = np.random.default_rng(8).random((20, 150))
    cumulative = fit.predict(type="prob").to_numpy().cumsum(axis=1)[:, :-1]
    expected = (shares[:, :, None] >= cumulative).sum(axis=2)
    drawn = fit.simulate(20, seed=8).apply(lambda column: column.cat.codes)
    np.testing.assert_array_equal(drawn.to_numpy().T, expected)


def test_frame_on_new_data_with_a_seed() -> None:
    fit = fitted()
    new = frame(n=20, seed=9).set_axis([f"row {i}" for i in range(20)])
    new.loc["row 3", "x"] = np.nan
    actual = fit.simulate(n=3, seed=5, newdata=new.drop(columns="y"))
    assert actual.columns.tolist() == [
        "sim_1",
        "sim_2",
        "sim_3",
    ] and actual.index.equals(new.index)
    assert actual.loc["row 3"].isna().all() and actual.drop("row 3").notna().all(
        axis=None
    )
    assert actual["sim_1"].dtype == pd.CategoricalDtype([1, 2, 3, 4], ordered=True)
    pd.testing.assert_frame_equal(
        actual, fit.simulate(n=3, seed=np.random.default_rng(5), newdata=new)
    )
    assert not actual.equals(fit.simulate(n=3, seed=6, newdata=new))
    assert fit.simulate().shape == (300, 1)


def test_refitting_simulated_responses_gives_back_the_coefficients() -> None:
    fit = fitted(n=300)
    data = frame()
    estimates = []
    for sim in fit.simulate(200, seed=2).items():
        estimates.append(fit.update(data=data.assign(y=sim[1])).params.to_numpy())
    mean = np.mean(estimates, axis=0)
    error = np.std(estimates, axis=0) / np.sqrt(200)
    assert np.all(np.abs(mean - fit.params) <= 4 * error + 0.05 * np.abs(fit.params))


def test_codes_at_the_edges() -> None:
    probabilities = np.array([[0.25, 0.0, 0.75], [0.0, 0.0, 1.0]])
    codes = drawn_codes(
        probabilities, np.array([[0.0, 0.0], [0.25, 0.5], [0.2499, 0.9999999]])
    )
    assert codes.tolist() == [[0, 2], [2, 2], [0, 2]]
    with pytest.raises(DataError, match="1 rows out of order"):
        drawn_codes(np.array([[0.5, -0.1, 0.6]]), np.array([[0.1]]))


@pytest.mark.parametrize("n", [0, 1.5, True, "2"])
def test_bad_counts(n: object) -> None:
    with refused("n"):
        fitted().simulate(n)

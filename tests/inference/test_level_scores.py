"""Notes on the scores of stereotype models, on data with known ones."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2, norm

from ordstat import ordfit

LEVELS = ["poor", "fair", "good", "fine"]


def drawn(scores: list[float], n: int = 300, seed: int = 3) -> pd.DataFrame:
    """Answers whose log odds against the lowest level are scores times x."""
    rng = np.random.default_rng(seed)
    data = pd.DataFrame({"x": rng.normal(size=n), "z": rng.normal(size=n)})
    utility = np.outer(data["x"], scores) + rng.gumbel(size=(n, 4))
    codes = utility.argmax(axis=1)
    return data.assign(y=pd.Categorical.from_codes(codes, LEVELS, ordered=True))


def notes_of(fit) -> str:
    return " ".join(str(fit.summary()).partition("More:")[2].split())


def test_scores_in_order_have_no_note() -> None:
    fit = ordfit("y ~ x + z", drawn([0.0, 0.4, 0.8, 1.2]), "stereotype")
    assert fit.params["phi.fair"] < fit.params["phi.good"]
    assert "*" not in notes_of(fit)
    text = " ".join(str(fit.summary()).split())
    assert "A score times an effect is the change of the log odds of a level" in text


@pytest.mark.parametrize(
    ("scores", "seed", "meaning"),
    [
        ([0.0, 0.9, 0.3, 1.2], 3, "The effects put good below fair (p = {p})"),
        ([0.0, 0.55, 0.5, 1.2], 8, "do not distinguish fair from good (p = {p})"),
    ],
)
def test_scores_out_of_order_are_told(
    scores: list[float], seed: int, meaning: str
) -> None:
    fit = ordfit("y ~ x + z", drawn(scores, seed=seed), "stereotype")
    names = ["phi.fair", "phi.good"]
    step = np.array([-1.0, 1.0])
    variance = step @ fit.vcov().loc[names, names].to_numpy() @ step
    z = step @ fit.params[names].to_numpy() / np.sqrt(variance)
    assert z < 0.0
    p = f"{2.0 * norm.cdf(z):.3f}".removeprefix("0")
    notes = notes_of(fit)
    assert meaning.format(p=p) in notes
    one, other = fit.params[names]
    assert f"poor 0.00, fair {one:.2f}, good {other:.2f}, fine 1.00." in notes


def test_scores_above_that_of_the_highest_level() -> None:
    fit = ordfit("y ~ x + z", drawn([0.0, 0.5, 1.5, 0.7], n=600), "stereotype")
    score = fit.params["phi.good"]
    p = 2.0 * norm.cdf((1.0 - score) / fit.se["phi.good"])
    assert score > 1.0 and p < 0.05
    assert f"fine below good (p = {p:.3f}".replace("0.", ".") in notes_of(fit)


def test_scores_without_effects_are_not_to_be_interpreted() -> None:
    data = drawn([0.0, 0.0, 0.0, 0.0])
    fit = ordfit("y ~ z", data, "stereotype")
    statistic = 2.0 * (fit.loglik - ordfit("y ~ 1", data, "acat").loglik)
    bound = f"likelihood ratio {statistic:.2f}, p at least {chi2(1).sf(statistic):.2f}"
    notes = notes_of(fit)
    assert bound in notes and "do not interpret them" in notes
    assert "not in the order" not in notes
    for text in (notes, str(fit.tidy())):
        assert "The only effect has no p-value" in " ".join(text.split())
    assert "The only effect" not in str(ordfit("y ~ z", data, "acat").tidy())

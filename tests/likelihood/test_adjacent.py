"""What algebra says of adjacent-category models, and other software of their special
cases.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from seams import LINKS, Rows, Sample
from statsmodels.discrete.discrete_model import MNLogit

from ordstat import AdjacentCategory, ordfit
from ordstat.judging.absent_levels import fit_levels_present


def frame(n: int = 300, n_levels: int = 4) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 2))
    latent = 0.8 * X.sum(axis=1) + rng.logistic(size=n)
    return pd.DataFrame(
        {"a": X[:, 0], "b": X[:, 1], "y": pd.qcut(latent, n_levels, labels=False)}
    )


@pytest.mark.parametrize("link", LINKS)
def test_two_levels_are_a_binary_regression(link: str) -> None:
    """P(y = 2) = F(H - theta): the cumulative model of the mirrored link."""
    data = frame(n_levels=2)
    one = ordfit("y ~ a + b", data, "acat", link=link)
    other = ordfit("y ~ a + b", data, LINKS[link].mirror)
    np.testing.assert_allclose(one.params, other.params, rtol=1e-7)
    np.testing.assert_allclose(one.se, other.se, rtol=1e-7)
    assert one.loglik == pytest.approx(other.loglik, rel=1e-12)


@pytest.mark.parametrize("link", ["logit", "probit", "cauchit"])
def test_reversed_levels_turn_the_effects_round(link: str) -> None:
    data = frame()
    one = ordfit("y ~ a + b", data, "acat", link=link)
    other = ordfit("y ~ a + b", data.assign(y=-data["y"]), "acat", link=link)
    np.testing.assert_allclose(one.coef, -other.coef, rtol=1e-6)
    np.testing.assert_allclose(one.thresholds, -other.thresholds[::-1], rtol=1e-6)
    assert one.loglik == pytest.approx(other.loglik, rel=1e-11)


def test_all_effects_free_is_the_multinomial_logit() -> None:
    data = frame()
    free = ordfit("y ~ 1", data, "acat", nominal="~ a + b")
    X = np.column_stack([np.ones(len(data)), data[["a", "b"]]])
    other = MNLogit(data["y"], X).fit(
        disp=False, method="newton", tol=1e-12, maxiter=50
    )
    steps = np.diff(np.column_stack([np.zeros(3), np.asarray(other.params)]), axis=1)
    np.testing.assert_allclose(-free.params.to_numpy().reshape(3, 3), steps, rtol=1e-7)
    assert free.loglik == pytest.approx(other.llf, rel=1e-12)


def test_mean_scores_are_matched_by_group() -> None:
    """The likelihood equations of the logit: sum (y - E y) x = 0, so that means agree
    within the levels of a factor.
    """
    data = frame().assign(g=lambda d: pd.cut(d["a"], 3, labels=["low", "mid", "high"]))
    fit = ordfit("y ~ g", data, "acat")
    means = fit.predict(type="mean")
    pd.testing.assert_series_equal(
        means.groupby(data["g"], observed=True).mean(),
        data["y"].groupby(data["g"], observed=True).mean(),
        check_names=False,
        rtol=1e-9,
    )


def test_a_weight_is_repeated_rows_and_an_offset_a_known_effect() -> None:
    data = frame(200).assign(w=lambda d: 1 + np.arange(len(d)) % 3)
    weighted = ordfit("y ~ a + b", data, "acat", weights="w")
    repeated = ordfit("y ~ a + b", data.loc[data.index.repeat(data["w"])], "acat")
    np.testing.assert_allclose(weighted.params, repeated.params, rtol=1e-8)
    held = ordfit(
        f"y ~ a + offset({weighted.coef['b']!r} * b)".replace("np.float64", ""),
        data,
        "acat",
        weights="w",
    )
    np.testing.assert_allclose(held.coef["a"], weighted.coef["a"], rtol=1e-6)


def test_separation_is_named() -> None:
    data = pd.DataFrame({"x": np.arange(12.0), "y": np.repeat([1, 2, 3], 4)})
    with pytest.warns(match="separat"):
        fit = ordfit("y ~ x", data, "acat")
    assert np.isnan(fit.se["x"])


def test_a_fold_without_a_level_gives_it_no_probability() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.repeat([0, 1, 3], 20)
    lacking = fit_levels_present(
        AdjacentCategory(), Sample(rows=Rows(X=X), y=y, n_levels=4), rng
    )
    recoded = AdjacentCategory().fit(
        Sample(rows=Rows(X=X), y=np.repeat([0, 1, 2], 20), n_levels=3), rng
    )
    probabilities = lacking.rule.probabilities(Rows(X=X), lacking.scores)
    np.testing.assert_array_equal(probabilities[:, 2], 0.0)
    np.testing.assert_allclose(
        probabilities[:, [0, 1, 3]], recoded.rule.probabilities(Rows(X=X)), rtol=1e-12
    )

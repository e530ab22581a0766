"""Indexes of discrimination by brute force over pairs of rows; R's rms is in
tests/golden/test_r_rms.py.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from expected import weights_not_whole
from scipy import stats

from inference.samples import fitted, frame
from ordstat import datasets, ordfit

MODELS = {
    "logit": {},
    "probit": {"link": "probit"},
    "nominal and scale": {"formula": "y ~ x", "nominal": "~ f", "scale": "~ z"},
    "few rows": {"n": 40, "formula": "y ~ f"},
}


@pytest.mark.parametrize("model", MODELS)
def test_by_brute_force(model: str) -> None:
    fit = fitted(**{"n": 120, **MODELS[model]})
    d = fit.discrimination()
    y = fit.design.sample.y + 1
    H = fit.predict(type="score").to_numpy()
    n = y.size
    pairs = list(combinations(range(y.size), 2))
    order = (
        H if "nominal" not in model else fit.predict(type="mean").round(12).to_numpy()
    )
    signs = np.array(
        [np.sign(y[i] - y[j]) * np.sign(order[i] - order[j]) for i, j in pairs]
    )
    different = np.array([y[i] != y[j] for i, j in pairs])
    concordant = (signs > 0).sum()
    discordant = (signs < 0).sum()
    prob = fit.predict(type="prob").to_numpy()
    above = prob[:, 2:].sum(axis=1)  # 4 levels: the middle cut is y >= 3
    median = max(2, int(np.quantile(y, 0.5, method="inverted_cdf")))
    observed = y[:, None] <= np.arange(1, 5)
    lr = 2 * (fit.loglik - fit.null_loglik)
    p = fit.edf - 3
    effective = n * (1 - ((np.bincount(y)[1:] / n) ** 3).sum())
    expected = {
        "lr_chi2": lr,
        "lr_df": p,
        "lr_p_value": stats.chi2.sf(lr, p),
        "cox_snell": 1 - np.exp(-lr / n),
        "nagelkerke": (1 - np.exp(-lr / n)) / (1 - np.exp(2 * fit.null_loglik / n)),
        "mcfadden": 1 - fit.loglik / fit.null_loglik,
        "r2_n_p": 1 - np.exp(-max(lr - p, 0) / n),
        "n_effective": effective,
        "r2_effective": 1 - np.exp(-lr / effective),
        "r2_effective_p": 1 - np.exp(-max(lr - p, 0) / effective),
        "g": np.mean([abs(H[i] - H[j]) for i, j in pairs]),
        "gr": np.exp(np.mean([abs(H[i] - H[j]) for i, j in pairs])),
        "gp": np.mean([abs(above[i] - above[j]) for i, j in pairs]),
        "pdm": np.mean(np.abs(prob[:, median - 1 :].sum(axis=1) - 0.5)),
        "rho": stats.spearmanr(order, y).statistic,
        "c_index": (
            (concordant + 0.5 * (different.sum() - concordant - discordant))
            / different.sum()
        ),
        "somers_d": (concordant - discordant) / different.sum(),
        "gamma": (concordant - discordant) / (concordant + discordant),
        "tau_a": (concordant - discordant) / len(pairs),
        "brier_at_3": np.mean((above - (y >= 3)) ** 2),
        "rps": np.mean(((np.cumsum(prob, axis=1) - observed) ** 2).sum(axis=1)),
    }
    for name, value in expected.items():
        assert d[name] == pytest.approx(value, rel=1e-9, abs=1e-12), name
    assert set(d.index) == set(expected)


@pytest.mark.filterwarnings("ignore::ordstat.exceptions.SeparationWarning")
@pytest.mark.parametrize("asked", [{"nominal": "~ temp"}, {"scale": "~ temp"}])
def test_rows_are_ordered_by_expected_rank_where_scores_do_not_compare(
    asked: dict[str, str],
) -> None:
    wine = datasets.load("wine")
    fit = ordfit("rating ~ contact", wine, **asked)
    y = wine["rating"].astype(int).to_numpy()
    mean = fit.predict(type="mean").round(12).to_numpy()
    pairs = [(i, j) for i, j in combinations(range(72), 2) if y[i] != y[j]]
    signs = [np.sign(y[i] - y[j]) * np.sign(mean[i] - mean[j]) for i, j in pairs]
    indices = fit.discrimination()
    errors = fit.errors()["training"]
    assert indices["somers_d"] == errors["Somers' D"] == pytest.approx(np.mean(signs))
    assert (
        indices["c_index"]
        == errors["concordance"]
        == pytest.approx((1 + np.mean(signs)) / 2)
    )
    assert fit.errors(wine)["new data"]["concordance"] == errors["concordance"]
    assert np.isfinite(fit.errors(cv=3)["cv"]["concordance"])


def test_the_brier_score_of_one_level_has_the_name_of_the_level() -> None:
    fit = ordfit("rating ~ temp + contact", datasets.load("wine"))
    indices = fit.discrimination()
    above = fit.predict(type="prob")[[3, 4, 5]].sum(axis=1)
    expected = np.mean((above - (fit.design.sample.y >= 2)) ** 2)
    assert "brier" not in indices.index and indices["brier_at_3"] == pytest.approx(
        expected
    )
    assert fit.errors().loc["Brier score", "training"] != indices["brier_at_3"]


def test_weights_are_repeated_rows() -> None:
    data = frame(n=150)
    weighted = ordfit("y ~ x + f", data, weights="w").discrimination()
    repeated = ordfit(
        "y ~ x + f", data.loc[data.index.repeat(data["w"])]
    ).discrimination()
    pd.testing.assert_series_equal(weighted, repeated, rtol=1e-9)


def test_where_an_index_has_no_meaning() -> None:
    constant = fitted(formula="y ~ 1").discrimination()
    assert constant[["lr_p_value", "rho", "gamma"]].isna().all()
    assert constant["c_index"] == 0.5 and constant["g"] == 0.0


def test_less_than_one_case() -> None:
    """Weights that sum to 1 leave no pairs of cases; what does not count pairs
    stays.
    """
    data = frame(n=100)
    with weights_not_whole():
        tiny = ordfit("y ~ x", data, weights=np.full(100, 0.01)).discrimination()
    plain = ordfit("y ~ x", data).discrimination()
    assert tiny[["g", "gr", "gp", "tau_a"]].isna().all()
    same = [
        "c_index",
        "somers_d",
        "gamma",
        "rho",
        "brier_at_3",
        "rps",
        "pdm",
        "mcfadden",
        "nagelkerke",
    ]
    np.testing.assert_allclose(tiny[same], plain[same], rtol=1e-6)


@pytest.mark.parametrize(
    ("seed", "pdm"), [(0, 0.191859537456), (1, 0.219742586504), (2, 0.201792896459)]
)
def test_pdm_where_the_lowest_level_holds_half_of_the_rows(
    seed: int, pdm: float
) -> None:
    """rms 6.5-0, orm(y ~ x, eps = 1e-10)$stats["pdm"]."""
    rng = np.random.default_rng(seed)
    d = pd.DataFrame({"x": rng.normal(size=200)})
    d["y"] = np.digitize(d.x + rng.logistic(size=200), [0.6, 1, 2])
    assert ordfit("y ~ x", d).discrimination()["pdm"] == pytest.approx(pdm, rel=1e-9)


def test_very_many_levels_by_the_probabilities(monkeypatch) -> None:
    """Ranked probability scores and Gini's difference of P(y >= middle level) of 800
    rows, from a number for each row and level.
    """
    rng = np.random.default_rng(4)
    x = rng.standard_normal(800)
    data = pd.DataFrame({"x": x, "y": np.round(x + rng.logistic(size=800), 2)})
    fit = ordfit("y ~ x", data, levels="all")
    monkeypatch.setattr("ordstat.likelihood.derivatives._MANY_CELLS", 0)
    found = fit.discrimination()
    below = fit.predict(type="cum_prob").to_numpy()
    happened = data["y"].to_numpy()[:, None] <= np.array(fit.levels)
    rps = ((below - happened) ** 2).sum(axis=1).mean()
    assert found["rps"] == pytest.approx(rps, rel=1e-11)
    middle = len(fit.levels) // 2
    above = 1.0 - below[:, middle - 1]
    pairs = np.abs(above[:, None] - above).sum() / (800 * 799)
    assert found["gp"] == pytest.approx(pairs, rel=1e-9)
    assert found["rho"] == pytest.approx(stats.spearmanr(x, data["y"])[0], rel=1e-10)
    y = data["y"].to_numpy()
    signs = np.sign(np.subtract.outer(x, x)) * np.sign(np.subtract.outer(y, y))
    assert found["tau_a"] == pytest.approx(signs.sum() / (800 * 799), rel=1e-12)

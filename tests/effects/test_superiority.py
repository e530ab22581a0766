"""Win probabilities: against all pairs of levels, the Mann-Whitney statistic,
Brunner and Munzel's error, and differences.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from expected import no_standard_errors
from scipy.special import expit, logit, ndtr
from scipy.stats import brunnermunzel, mannwhitneyu, norm, t

from ordstat import SurveyDesign, datasets, ordfit, pool
from ordstat.exceptions import DataError, OptionError, OrdstatWarning
from ordstat.inference.rubin import barnard_rubin

MEASURES = ["win probability", "win odds", "win difference", "NNT"]


def trial(n: int = 240, seed: int = 0) -> pd.DataFrame:
    """Three arms, an effect that differs by threshold and spread."""
    rng = np.random.default_rng(seed)
    arm = np.arange(n) % 3
    x = rng.normal(size=n)
    latent = 0.7 * arm + x + (1.0 + 0.5 * arm) * rng.logistic(size=n)
    return pd.DataFrame(
        {
            "y": np.digitize(latent, [-1.5, 0.5, 2.0]) + 1,
            "arm": np.array(["a", "b", "c"])[arm],
            "two": (arm > 0).astype(int),
            "x": x,
            "site": rng.integers(0, 24, n),
            "sex": np.array(["f", "m"])[rng.integers(0, 2, n)],
            "w": 1.0 + np.arange(n) % 2,
        }
    )


TRIAL = trial()


def by_pairs(p: np.ndarray, q: np.ndarray) -> float:
    """P(Y > Y') + P(Y = Y') / 2, one pair of levels at a time."""
    total = 0.0
    for j, pj in enumerate(p):
        for k, qk in enumerate(q):
            if j > k:
                total += pj * qk
            elif j == k:
                total += pj * qk / 2.0
    return total


def brute(
    fit, name: str, high, low, rows: pd.DataFrame, weights, average: str, **how
) -> float:
    """The win probability from predictions of changed rows."""
    p, q = (
        fit.predict(rows.assign(**{name: value}), type="prob", **how).to_numpy()
        for value in (high, low)
    )
    shares = np.asarray(weights, dtype=float) / np.sum(weights)
    if average == "standardised":
        return by_pairs(shares @ p, shares @ q)
    return sum(
        share * by_pairs(one, other)
        for share, one, other in zip(shares, p, q, strict=True)
    )


def wins(table: pd.DataFrame, measure: str = "win probability") -> pd.DataFrame:
    return table[table["measure"] == measure].reset_index(drop=True)


MODELS = {
    "logit": {"formula": "y ~ arm * x"},
    "cloglog": {"formula": "y ~ arm + x", "method": "cloglog"},
    "nominal": {"formula": "y ~ x", "nominal": "~ arm"},
    "scale": {"formula": "y ~ arm + x", "scale": "~ arm", "weights": "w"},
    "acat": {"formula": "y ~ arm + x", "method": "acat"},
    "cratio": {"formula": "y ~ arm + x", "method": "cratio"},
    "ridge": {"formula": "y ~ arm + x", "penalty": 1.0},
}


@pytest.mark.parametrize("average", ["standardised", "conditional"])
@pytest.mark.parametrize("model", list(MODELS))
def test_all_pairs_of_levels(model: str, average: str) -> None:
    options = dict(MODELS[model])
    fit = ordfit(options.pop("formula"), TRIAL, **options)
    table = fit.superiority("arm", average=average, contrast="pairwise").frame
    weights = TRIAL["w"] if "weights" in options else np.ones(len(TRIAL))
    expected = [
        brute(fit, "arm", high, low, TRIAL, weights, average)
        for high, low in (("b", "a"), ("c", "a"), ("c", "b"))
    ]
    actual = wins(table)
    assert actual["contrast"].tolist() == ["b vs a", "c vs a", "c vs b"]
    np.testing.assert_allclose(actual["estimate"], expected, rtol=1e-12)


def test_groups_and_new_rows() -> None:
    fit = ordfit("y ~ arm * sex + x", TRIAL)
    table = wins(fit.superiority("arm", by="sex", levels=["c", "a"]).frame)
    expected = [
        brute(fit, "arm", "a", "c", part, np.ones(len(part)), "standardised")
        for _, part in TRIAL.groupby("sex")
    ]
    np.testing.assert_allclose(table["estimate"], expected, rtol=1e-12)
    assert table["sex"].tolist() == ["f", "m"]
    few = TRIAL.head(11)
    table = fit.superiority("arm", newdata=few, weights="w", average="conditional")
    expected = [
        brute(fit, "arm", high, "a", few, few["w"], "conditional") for high in "bc"
    ]
    np.testing.assert_allclose(wins(table.frame)["estimate"], expected, rtol=1e-12)
    groups = fit.superiority("arm", by="sex")
    first = wins(groups.frame)["estimate"]
    differences = groups.contrasts()["estimate"]
    np.testing.assert_allclose(
        differences, [first[0] - first[2], first[1] - first[3]], rtol=1e-12
    )


def test_new_rows_with_fewer_categories() -> None:
    """A level that the categories of new data lack is no missing value."""
    fit = ordfit("y ~ arm + x", TRIAL)
    new = pd.DataFrame({"arm": pd.Categorical(["a", "a"]), "x": [0.0, 1.0]})
    plain = new.astype({"arm": object})
    for average in ("standardised", "conditional"):
        table = wins(fit.superiority("arm", newdata=new, average=average).frame)
        expected = [
            brute(fit, "arm", high, "a", plain, np.ones(2), average) for high in "bc"
        ]
        np.testing.assert_allclose(table["estimate"], expected, rtol=1e-12)


def test_saturated_model_is_mann_whitney() -> None:
    """With a distribution for each arm the estimate is U / (n1 n2), and the error that
    of Brunner and Munzel with n in place of n - 1.
    """
    data = TRIAL[TRIAL["arm"] != "c"]
    fit = ordfit("y ~ 1", data, nominal="~ arm")
    a, b = (data["y"][data["arm"] == arm] for arm in "ab")
    n = len(a)
    assert len(b) == n
    expected = mannwhitneyu(b, a).statistic / n**2
    table = fit.superiority("arm").frame
    actual = wins(table).iloc[0]
    assert actual["estimate"] == pytest.approx(expected, rel=1e-12)
    by_ranks = (expected - 0.5) / -brunnermunzel(b, a).statistic
    assert actual["std_error"] == pytest.approx(
        by_ranks * np.sqrt((n - 1) / n), rel=1e-7
    )
    lower = wins(fit.superiority("arm", better="lower").frame).iloc[0]
    assert lower["estimate"] == pytest.approx(1.0 - expected, rel=1e-12)
    assert lower["std_error"] == pytest.approx(actual["std_error"], rel=1e-12)


def test_measures_and_limits() -> None:
    fit = ordfit("y ~ arm + x", TRIAL)
    table = fit.superiority("arm", level=0.9).frame.set_index(["contrast", "measure"])
    c, error = table.loc[("c vs a", "win probability"), ["estimate", "std_error"]]
    half = norm.ppf(0.95) * error / (c * (1.0 - c))
    ends = expit(logit(c) + np.array([-half, half]))
    p = 2.0 * ndtr(-abs(logit(c)) * c * (1.0 - c) / error)
    difference = 2.0 * c - 1.0
    expected = {
        "win probability": [c, error, *ends],
        "win odds": [c / (1.0 - c), error / (1.0 - c) ** 2, *(ends / (1.0 - ends))],
        "win difference": [difference, 2.0 * error, *(2.0 * ends - 1.0)],
        "NNT": [1.0 / difference, np.nan, *(1.0 / (2.0 * ends - 1.0))[::-1]],
    }
    columns = ["estimate", "std_error", "lower", "upper"]
    for measure, numbers in expected.items():
        row = table.loc[("c vs a", measure)]
        np.testing.assert_allclose(
            row[columns].to_numpy(dtype=float), numbers, rtol=1e-9
        )
        assert row["p_value"] == pytest.approx(p, rel=1e-9)
    assert list(dict.fromkeys(table.index.get_level_values(1))) == MEASURES


def test_a_number_needed_to_treat_around_0_has_no_limits() -> None:
    data = TRIAL.assign(arm=np.array(["a", "b"])[np.arange(len(TRIAL)) % 2])
    compared = ordfit("y ~ arm", data).superiority("arm")
    row = wins(compared.frame, "NNT").iloc[0]
    assert np.isnan([row["lower"], row["upper"]]).all()
    assert "without limits where" in " ".join(str(compared).split())


VCOV = [None, "HC0", {"cluster": "site", "type": "CR1"}]


@pytest.mark.parametrize("average", ["standardised", "conditional"])
@pytest.mark.parametrize("vcov", VCOV, ids=["model", "HC0", "cluster"])
def test_errors_by_differences(vcov, average: str) -> None:
    """A model with nominal and scale effects, written out by its parameters."""
    fit = ordfit("y ~ x", TRIAL, nominal="~ two", scale="~ x")
    x = TRIAL["x"].to_numpy()

    def distribution(params: np.ndarray, two: float) -> np.ndarray:
        thresholds = params[:3] + two * params[3:6]
        eta = (thresholds - params[6] * x[:, None]) * np.exp(-params[7] * x[:, None])
        return np.diff(expit(eta), axis=1, prepend=0.0, append=1.0)

    def value(params: np.ndarray) -> float:
        p = distribution(params, 1.0)
        q = distribution(params, 0.0)
        if average == "standardised":
            return by_pairs(p.mean(axis=0), q.mean(axis=0))
        return float(np.mean([by_pairs(*rows) for rows in zip(p, q, strict=True)]))

    params = fit.params.to_numpy()
    step = 1e-5
    slope = np.array(
        [
            (value(params + step * unit) - value(params - step * unit)) / (2.0 * step)
            for unit in np.eye(len(params))
        ]
    )
    V = fit.vcov(vcov).to_numpy()
    row = wins(fit.superiority("two", average=average, vcov=vcov).frame).iloc[0]
    assert row["estimate"] == pytest.approx(value(params), rel=1e-12)
    assert row["std_error"] == pytest.approx(np.sqrt(slope @ V @ slope), rel=1e-7)


def test_random_effects_are_averaged_over() -> None:
    fit = ordfit("y ~ arm + x + (1 | site)", TRIAL)
    ones = np.ones(len(TRIAL))
    for average in ("standardised", "conditional"):
        for re in ("marginal", "zero"):
            table = fit.superiority("arm", average=average, re=re).frame
            expected = [
                brute(fit, "arm", high, "a", TRIAL, ones, average, re=re)
                for high in "bc"
            ]
            np.testing.assert_allclose(wins(table)["estimate"], expected, rtol=1e-8)
            assert (wins(table)["std_error"] > 0.0).all()
    assert "Averaged over the random effects" in str(fit.superiority("arm"))


def test_surveys_use_their_covariance_and_t() -> None:
    design = SurveyDesign(weights="w", clusters="site")
    fit = ordfit("y ~ 1", TRIAL, nominal="~ two", design=design)
    row = wins(fit.superiority("two").frame).iloc[0]
    p, q = (
        np.bincount(part["y"], weights=part["w"], minlength=5)[1:] / part["w"].sum()
        for part in (TRIAL[TRIAL["two"] == 1], TRIAL[TRIAL["two"] == 0])
    )
    c = by_pairs(p, q)
    assert row["estimate"] == pytest.approx(c, rel=1e-8)
    # the linearised c of rows, summed within sites [Taylor series]
    y = TRIAL["y"].to_numpy() - 1
    below = np.cumsum(np.append(0.0, q))[:-1] + q / 2.0
    above = 1.0 - (np.cumsum(np.append(0.0, p))[:-1] + p / 2.0)
    treated = TRIAL["two"].to_numpy() == 1
    w = TRIAL["w"].to_numpy()
    influence = np.where(treated, below[y] - c, above[y] - c) * w
    influence /= np.where(treated, w[treated].sum(), w[~treated].sum())
    sites = TRIAL["site"].to_numpy()
    totals = np.bincount(sites, weights=influence)[np.unique(sites)]
    G = len(totals)
    variance = G / (G - 1) * np.sum((totals - totals.mean()) ** 2)
    assert row["std_error"] == pytest.approx(np.sqrt(variance), rel=1e-6)
    half = t.ppf(0.975, G - 1) * row["std_error"] / (c * (1.0 - c))
    assert row["lower"] == pytest.approx(expit(logit(c) - half), rel=1e-6)


def test_pooled_fits() -> None:
    fits = [
        ordfit("y ~ arm + x", TRIAL.assign(x=trial(seed=seed)["x"])) for seed in (0, 1)
    ]
    pooled = wins(pool(fits).superiority("arm").frame)
    single = [wins(fit.superiority("arm").frame) for fit in fits]
    c = np.array([table["estimate"] for table in single])
    np.testing.assert_allclose(pooled["estimate"], c.mean(axis=0), rtol=1e-12)
    logits = logit(c)
    variances = (
        np.array([table["std_error"] for table in single]) / (c * (1.0 - c))
    ) ** 2
    within = variances.mean(axis=0)
    between = 1.5 * logits.var(axis=0, ddof=1)
    df = barnard_rubin(2, between / within, len(TRIAL) - 6.0)
    error = np.sqrt(within + between)
    centre = logits.mean(axis=0)
    np.testing.assert_allclose(
        pooled["upper"], expit(centre + t.ppf(0.975, df) * error), rtol=1e-9
    )
    np.testing.assert_allclose(
        pooled["p_value"], 2.0 * t.sf(np.abs(centre) / error, df), rtol=1e-7
    )


def test_a_certain_arm_leaves_the_error_of_the_other() -> None:
    """All of arm b have the highest level: P(b wins) = 1 - P(highest | a) / 2."""
    data = pd.DataFrame(
        {"y": [1, 2, 2, 3, 3, 1, 2, 3] + 4 * [3], "arm": 8 * ["a"] + 4 * ["b"]}
    )
    with pytest.warns(OrdstatWarning):
        fit = ordfit("y ~ arm", data)
    row = wins(fit.superiority("arm").frame).iloc[0]
    share = 3 / 8
    assert row["estimate"] == pytest.approx(1.0 - share / 2.0, rel=1e-6)
    error = np.sqrt(share * (1.0 - share) / 8) / 2.0
    assert row["std_error"] == pytest.approx(error, rel=1e-5)


@pytest.mark.parametrize("average", ["standardised", "conditional"])
def test_an_empty_cell_has_no_number(average: str) -> None:
    data = TRIAL[(TRIAL["arm"] != "b") | (TRIAL["sex"] != "m")]
    with pytest.warns(OrdstatWarning):
        fit = ordfit("y ~ arm * sex", data)
    with no_standard_errors():
        compared = fit.superiority("arm", by="sex", average=average)
    table = wins(compared.frame).set_index(["contrast", "sex"])
    columns = ["estimate", "std_error", "p_value", "lower", "upper"]
    unknown = table[columns].isna().all(axis=1)
    assert unknown.index[unknown].tolist() == [("b vs a", "m")]
    assert not table[columns][~unknown].isna().any(axis=None)


def test_of_a_continuous_response_equals_the_integral() -> None:
    """Of two logistic latent responses that differ by b the win probability is
    e^b (e^b - b - 1) / (e^b - 1)^2, whatever the thresholds.
    """
    rng = np.random.default_rng(0)
    arm = np.arange(20_000) % 2
    data = pd.DataFrame({"y": np.exp(arm + rng.logistic(size=arm.size)), "arm": arm})
    fit = ordfit("y ~ arm", data, levels="all")
    row = wins(fit.superiority("arm").frame).iloc[0]

    def integral(b: float) -> float:
        return np.exp(b) * (np.exp(b) - b - 1.0) / np.expm1(b) ** 2

    b, se = fit.coef["arm"], fit.se["arm"]
    slope = (integral(b + 1e-5) - integral(b - 1e-5)) / 2e-5
    assert row["estimate"] == pytest.approx(integral(b), abs=1e-4)
    assert row["std_error"] == pytest.approx(slope * se, rel=1e-3)
    with pytest.raises(DataError, match="average='standardised'"):
        fit.superiority("arm", average="conditional")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"variable": "z"}, "'z'"),
        ({"variable": "x"}, "levels must be given for 'x'"),
        ({"variable": "arm", "levels": ["a", "d"]}, "'d'"),
        ({"variable": "arm", "levels": ["a", "a"]}, "two or more different"),
        ({"variable": "arm", "levels": "a"}, "levels must be a list"),
        ({"variable": "arm", "average": "mean"}, "average"),
        ({"variable": "arm", "contrast": "all"}, "contrast"),
        ({"variable": "arm", "better": "best"}, "better"),
        ({"variable": "arm", "by": "arm"}, "by must not have"),
        ({"variable": "arm", "level": 95}, "level"),
        ({"variable": "arm", "re": "zero"}, "re must be left out"),
    ],
)
def test_refusals(arguments, named: str) -> None:
    fit = ordfit("y ~ arm + x", TRIAL)
    with pytest.raises(OptionError, match=named):
        fit.superiority(**arguments)


def test_methods_without_errors_say_which_have_it() -> None:
    fit = ordfit("rating ~ temp", datasets.load("wine"), "redsvm")
    with pytest.raises(AttributeError, match="methods with a likelihood have"):
        fit.superiority("temp")

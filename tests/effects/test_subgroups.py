"""Effects within subgroups: against coefficients of interactions, separate fits and
Cochran's Q.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2, norm

from ordstat import ordfit
from ordstat.exceptions import DataWarning, OptionError


def trial(n: int = 420, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    arm = np.arange(n) % 2
    women = rng.integers(0, 2, n)
    latent = arm * (0.4 + 0.6 * women) + rng.logistic(size=n)
    return pd.DataFrame(
        {
            "y": np.digitize(latent, [-1.0, 0.5, 2.0]),
            "arm": np.array(["a", "b"])[arm],
            "sex": np.array(["men", "women"])[women],
            "age": np.array(["old", "middle", "young"])[rng.integers(0, 3, n)],
            "x": rng.normal(size=n),
            "ill": rng.integers(0, 2, n),
            "centre": rng.integers(0, 30, n),
            "person": [f"p{i // 4}" for i in range(n)],
        }
    )


TRIAL = trial()


@pytest.mark.parametrize(
    ("link", "sign"), [("logit", 1.0), ("cloglog", -1.0)], ids=["odds", "hazards"]
)
def test_ratios_are_sums_of_coefficients(link: str, sign: float) -> None:
    fit = ordfit("y ~ arm + x", TRIAL, link)
    table = fit.subgroups("arm", ["age", "ill"], level=0.9)
    assert table["level"].tolist() == ["", "middle", "old", "young", 0, 1]
    wider = ordfit("y ~ arm + x + arm * age", TRIAL, link)
    V = wider.vcov()
    for row, level in enumerate(["middle", "old", "young"], start=1):
        names = ["arm[T.b]"]
        if level != "middle":
            names.append(f"arm[T.b]:age[T.{level}]")
        log = sign * wider.coef[names].sum()
        half = norm.ppf(0.95) * np.sqrt(V.loc[names, names].to_numpy().sum())
        np.testing.assert_allclose(
            table.iloc[row][["estimate", "lower", "upper"]].to_numpy(dtype=float),
            np.exp([log, log - half, log + half]),
            rtol=1e-9,
        )
        assert table["n"].iloc[row] == (TRIAL["age"] == level).sum()
    joint = wider.test("arm:age")["p_value"].iloc[-1]
    np.testing.assert_allclose(table["interaction_p_value"][1:4], joint, rtol=1e-8)
    single = ordfit("y ~ arm + x + arm * ill", TRIAL, link)
    np.testing.assert_allclose(
        table["interaction_p_value"][4:], single.p_values["arm[T.b]:ill"], rtol=1e-8
    )
    np.testing.assert_allclose(table["estimate"][0], np.exp(sign * fit.coef.iloc[0]))


@pytest.mark.parametrize("subgroup", ["sex", "age"])
def test_win_odds_of_saturated_models_are_those_of_separate_fits(subgroup: str) -> None:
    fit = ordfit("y ~ 1", TRIAL, nominal="~ arm")
    table = fit.subgroups("arm", subgroup, measure="win odds")
    logs = []
    weights = []
    for row, (_, part) in enumerate(TRIAL.groupby(subgroup), start=1):
        alone = ordfit("y ~ 1", part, nominal="~ arm").superiority("arm").frame
        np.testing.assert_allclose(
            table.iloc[row][["estimate", "lower", "upper"]].to_numpy(dtype=float),
            alone.loc[1, ["estimate", "lower", "upper"]].to_numpy(dtype=float),
            rtol=1e-6,
        )
        logs.append(np.log(alone.loc[1, "estimate"]))
        weights.append((alone.loc[1, "estimate"] / alone.loc[1, "std_error"]) ** 2)
    Q = np.sum(weights * (logs - np.average(logs, weights=weights)) ** 2)
    np.testing.assert_allclose(
        table["interaction_p_value"][1:], chi2.sf(Q, len(logs) - 1), rtol=1e-5
    )


def test_lower_responses_win() -> None:
    fit = ordfit("y ~ arm", TRIAL)
    higher = fit.subgroups("arm", "sex", measure="win odds")
    lower = fit.subgroups("arm", "sex", measure="win odds", better="lower")
    np.testing.assert_allclose(lower["estimate"], 1.0 / higher["estimate"], rtol=1e-10)
    np.testing.assert_allclose(lower["upper"], 1.0 / higher["lower"], rtol=1e-10)
    for table, word in ((higher, "higher"), (lower, "lower")):
        assert f"Above 1: b has the {word} response more often." in str(table)
    assert str(lower).startswith("Win odds (lower is better), b vs a")
    assert "Odds ratios: above 1 = higher response." in str(fit.subgroups("arm", "sex"))


def test_clusters_and_cr2() -> None:
    """CR2 tests one difference by t, and not two jointly."""
    fit = ordfit("y ~ arm + x", TRIAL, cluster="centre")
    wider = ordfit("y ~ arm + x + arm * sex", TRIAL, cluster="centre")
    table = fit.subgroups("arm", "sex")
    name = "arm[T.b]:sex[T.women]"
    assert table["interaction_p_value"][1] == pytest.approx(
        wider.p_values[name], rel=1e-8
    )
    vcov = {"cluster": "centre", "type": "CR2"}
    table = fit.subgroups("arm", ["sex", "age"], vcov=vcov)
    expected = wider.with_vcov(vcov).p_values[name]
    assert table["interaction_p_value"][1] == pytest.approx(expected, rel=1e-8)
    assert table["interaction_p_value"][3:].isna().all()
    assert "CR2" in str(table)


def test_an_empty_cell_has_no_number() -> None:
    data = TRIAL[(TRIAL["arm"] != "b") | (TRIAL["age"] != "old")]
    with pytest.warns(DataWarning):
        table = ordfit("y ~ arm", data).subgroups("arm", "age")
    unknown = table[["estimate", "lower", "upper"]].isna().all(axis=1)
    assert table["level"][unknown].tolist() == ["old"]
    assert table["interaction_p_value"].isna().all()


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"subgroups": "x"}, "pandas.cut"),
        ({"subgroups": "arm"}, "other than 'arm'"),
        ({"subgroups": ["sex", "y"]}, "the response"),
        ({"subgroups": "z"}, "'z'"),
        ({"subgroups": "person"}, "at most 50 levels; 'person' has 105"),
        ({"subgroups": []}, "subgroups"),
        ({"subgroups": "sex", "measure": "odds"}, "measure"),
        ({"subgroups": "sex", "better": "lower"}, "better must be left out"),
        ({"subgroups": "sex", "level": 2}, "level"),
        ({"subgroups": "sex", "variable": "age"}, "levels must be two"),
        ({"subgroups": "sex", "variable": "x"}, "levels must be given"),
    ],
)
def test_refusals(arguments, named: str) -> None:
    fit = ordfit("y ~ arm + age + x", TRIAL)
    with pytest.raises(OptionError, match=named):
        fit.subgroups(**{"variable": "arm", **arguments})


@pytest.mark.parametrize(
    "options", [{"nominal": "~ arm"}, {"scale": "~ arm"}, {"method": "probit"}]
)
def test_ratios_that_there_are_not(options) -> None:
    formula = "y ~ x" if "nominal" in options else "y ~ arm + x"
    with pytest.raises(OptionError, match="Use measure='win odds'"):
        ordfit(formula, TRIAL, **options).subgroups("arm", "sex")

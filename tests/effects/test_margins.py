"""Marginal effects: against R, statsmodels, algebra and brute force; places, changes,
contrasts, tests, refusals.
"""

from __future__ import annotations

import pickle
from contextlib import nullcontext
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from expected import (
    aliased,
    data_changed,
    empty_cell,
    likelihood_needed,
    no_standard_errors,
)
from reference_cases import load_data
from scipy import stats

from ordstat import SurveyDesign, ordfit
from ordstat.exceptions import DataWarning, OptionError

#: Case weights of these data have a mean above 2, as sampling weights do.
pytestmark = pytest.mark.filterwarnings(
    "ignore:weights= are counts of equal rows, and these stand for"
)
R = pd.read_csv(Path(__file__).parents[1] / "golden" / "r" / "marginal_effects.csv")
SIM = load_data("sim500")


@lru_cache
def fitted(case: str):
    if case == "cloglog":
        return ordfit("y ~ x1 + f", SIM, "cloglog")
    if case == "acat":
        return ordfit("y ~ x1 * f + x2", SIM, "acat")
    parts = {"nominal": "~ x3", "scale": "~ x2", "weights": "w"}
    return ordfit("y ~ x1 * f + log(age) + x2", SIM, "probit", **parts)


RANKS = {"scale": "mean_class"}
#: What R's script calls a number -> (fit, variable, arguments).
ASKED = {
    "average x1": ("probit", "x1", {}),
    "average age": ("probit", "age", {}),
    "average x2": ("probit", "x2", {}),
    "average x3": ("probit", "x3", {}),
    "x1 by f": ("probit", "x1", {"by": "f", **RANKS}),
    "f at x1 = -1, 1": ("probit", "f", {"at": {"x1": [-1, 1]}}),
    "x1 at the mean": ("probit", "x1", {"at": "mean"}),
    "age at the mean": ("probit", "age", {"at": "mean"}),
    "x1 + 1": ("probit", "x1", {"change": 1, **RANKS}),
    "x1 + SD": ("probit", "x1", {"change": "sd", **RANKS}),
    "age 30 to 60": ("probit", "age", {"change": (30, 60)}),
    "x1 in rows 1 to 3": ("probit", "x1", {"at": "rows", "newdata": SIM.head(3)}),
    "cloglog x1 iqr": ("cloglog", "x1", {"change": "iqr"}),
    "cloglog x1": ("cloglog", "x1", {}),
    "acat x1": ("acat", "x1", {}),
    "acat f": ("acat", "f", {"change": {"f": ("mid", "hi")}}),
    "acat x1 in rows 1 to 3": ("acat", "x1", {"at": "rows", "newdata": SIM.head(3)}),
}


def close(table: pd.DataFrame, estimates, errors, rtol: float = 1e-6) -> None:
    np.testing.assert_allclose(table["estimate"], estimates, rtol=rtol, atol=1e-10)
    np.testing.assert_allclose(table["std_error"], errors, rtol=rtol)


@pytest.mark.parametrize("what", ASKED)
def test_against_r(what: str) -> None:
    """tests/golden/r/marginal_effects.R: ordinal and VGAM, with numDeriv."""
    case, variable, arguments = ASKED[what]
    expected = R[R["what"] == what]
    table = fitted(case).marginal_effects(variable, **arguments).frame
    if what.startswith("f at"):  # R's has places first
        table = table.sort_values(
            ["x1", "contrast"], ascending=[True, False], kind="stable"
        )
    close(table, expected["estimate"], expected["std_error"])


def test_differences_of_slopes_against_r() -> None:
    effects = fitted("probit").marginal_effects("x1", by="f", scale="mean_class")
    differences = effects.contrasts("revpairwise", "none")
    expected = R[R["what"] == "x1 by f, differences"]
    assert differences["difference"].tolist() == ["mid - lo", "hi - lo", "hi - mid"]
    close(differences, expected["estimate"], expected["std_error"])


@pytest.mark.parametrize(
    ("place", "at"), [("overall", None), ("mean", "mean"), ("median", "median")]
)
def test_two_levels_are_those_of_statsmodels(place: str, at: str | None) -> None:
    import statsmodels.api as sm

    data = SIM.assign(top=(SIM["y"].cat.codes > 1).astype(int))
    names = ["x1", "x2", "age"]
    model = sm.Logit(data["top"], sm.add_constant(data[names])).fit(
        disp=0, method="newton", tol=1e-12
    )
    expected = model.get_margeff(at=place).summary_frame()
    table = (
        ordfit("top ~ x1 + x2 + age", data)
        .marginal_effects(scale="exc_prob", at=at)
        .frame
    )
    assert table["term"].tolist() == names
    close(table, expected["dy/dx"], expected["Std. Err."])
    np.testing.assert_allclose(table["p_value"], expected["Pr(>|z|)"], rtol=1e-5)


@pytest.mark.parametrize("method", ["logit", "probit"])
def test_at_the_mean_by_algebra(method: str) -> None:
    """P(y <= k) has the slope -f(theta_k - eta) beta, with the derivatives -f by beta
    and so on.
    """
    fit = ordfit("y ~ x1 + age", SIM, method)
    mean = SIM[["x1", "age"]].mean().to_numpy()
    beta = fit.coef.to_numpy()
    theta = fit.thresholds.to_numpy()
    eta = theta - mean @ beta
    law = {"logit": stats.logistic, "probit": stats.norm}[method]
    f = law.pdf(eta)
    bend = f * (1 - 2 * law.cdf(eta)) if method == "logit" else -eta * f
    jacobian = np.zeros((4, 6))
    jacobian[np.arange(4), np.arange(4)] = -bend * beta[1]
    jacobian[:, 4:] = (bend * beta[1])[:, None] * mean
    jacobian[:, 5] -= f
    errors = np.sqrt(((jacobian @ fit.vcov().to_numpy()) * jacobian).sum(axis=1))
    table = fit.marginal_effects("age", at="mean", scale="cum_prob").frame
    close(table, -f * beta[1], errors, rtol=1e-8)


def brute(
    function, params: np.ndarray, covariance: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """A function of the parameters, with errors by differences."""
    h = 1e-4
    columns = [
        (
            8 * (function(params + e) - function(params - e))
            - (function(params + 2 * e) - function(params - 2 * e))
        )
        / (12 * h)
        for e in h * np.eye(params.size)
    ]
    J = np.column_stack(columns)
    return function(params), np.sqrt(((J @ covariance) * J).sum(axis=1))


def sloped(probabilities, x: np.ndarray) -> np.ndarray:
    h = 1e-3
    p = [probabilities(x + k * h).mean(axis=0) for k in (-2, -1, 1, 2)]
    return (8 * (p[2] - p[1]) - (p[3] - p[0])) / (12 * h)


def test_equidistant_thresholds_and_an_offset() -> None:
    fit = ordfit("y ~ x1 + offset(x2)", SIM, threshold="equidistant", tol=1e-12)
    x2 = SIM["x2"].to_numpy()

    def effect(b: np.ndarray) -> np.ndarray:
        def probabilities(x: np.ndarray) -> np.ndarray:
            eta = b[0] + b[1] * np.arange(4) - (b[2] * x + x2)[:, None]
            return np.diff(stats.logistic.cdf(eta), axis=1, prepend=0.0, append=1.0)

        return sloped(probabilities, SIM["x1"].to_numpy())

    close(
        fit.marginal_effects("x1").frame,
        *brute(effect, fit.params.to_numpy(), fit.vcov().to_numpy()),
    )


def test_the_parameter_of_a_flexible_link() -> None:
    """Aranda-Ordaz: F(t) = 1 - (1 + lambda exp(t))^(-1 / lambda)."""
    fit = ordfit("y ~ x1", SIM, link="aranda-ordaz")

    def effect(b: np.ndarray) -> np.ndarray:
        def probabilities(x: np.ndarray) -> np.ndarray:
            below = 1 - (1 + b[5] * np.exp(b[:4] - b[4] * x[:, None])) ** (-1 / b[5])
            return np.diff(below, axis=1, prepend=0.0, append=1.0)

        return sloped(probabilities, SIM["x1"].to_numpy())

    close(
        fit.marginal_effects("x1").frame,
        *brute(effect, fit.params.to_numpy(), fit.vcov().to_numpy()),
    )


@pytest.mark.parametrize(
    "scale", ["prob", "exc_prob", "mean_class", "latent", "log_odds", "odds"]
)
def test_a_linear_column_and_its_transform_have_one_slope(scale: str) -> None:
    """I(x1 * 1) is differentiated by differences of five points, x1 exactly."""
    parts = {"scale": "~ {0}", "nominal": "~ x3"}
    tables = [
        ordfit(
            f"y ~ {x} * f + x2",
            SIM,
            **{key: text.format(x) for key, text in parts.items()},
        )
        .marginal_effects("x1", scale=scale)
        .frame
        for x in ("x1", "I(x1 * 1)")
    ]
    close(tables[0], tables[1]["estimate"], tables[1]["std_error"], rtol=1e-8)


def test_rows_average_to_the_average() -> None:
    fit = fitted("probit")
    w = SIM["w"] / SIM["w"].sum()
    for variable, change in (("x1", None), ("age", 5), ("f", None)):
        single = fit.marginal_effects(variable, at="rows", change=change).frame
        assert single["row"].unique().tolist() == SIM.index.tolist()
        wide = single.pivot(
            index="row", columns=["contrast", "level"], values="estimate"
        )
        average = fit.marginal_effects(variable, change=change).frame
        np.testing.assert_allclose(w @ wide.to_numpy(), average["estimate"], rtol=1e-9)


def test_places_are_averages_of_their_own() -> None:
    """Groups are those rows as new data; values are set in all rows."""
    fit = fitted("probit")
    by = fit.marginal_effects("age", by=["f", "g"], scale="mean_class").frame.set_index(
        ["f", "g"]
    )
    rows = SIM[(SIM["f"] == "mid") & (SIM["g"] == "C")]
    alone = fit.marginal_effects(
        "age", newdata=rows, weights="w", scale="mean_class"
    ).frame
    close(by.loc[[("mid", "C")]], alone["estimate"], alone["std_error"], rtol=1e-12)
    at = fit.marginal_effects(
        "x1", at={"age": [30, "mean"], "f": "hi"}, scale="mean_class"
    ).frame
    assert at["age"].tolist() == [
        30,
        pytest.approx(np.average(SIM["age"], weights=SIM["w"])),
    ]
    held = SIM.assign(
        age=30.0,
        f=pd.Categorical(["hi"] * len(SIM), categories=SIM["f"].cat.categories),
    )
    set_by_hand = fit.marginal_effects(
        "x1", newdata=held, weights="w", scale="mean_class"
    ).frame
    close(at.iloc[:1], set_by_hand["estimate"], set_by_hand["std_error"], rtol=1e-12)


def test_the_typical_row_of_each_group() -> None:
    fit = ordfit("y ~ x1 + x2 + f", SIM)
    actual = fit.marginal_effects("x1", at="median", by="f", scale="exc_prob").frame
    for key, rows in SIM.groupby("f", observed=True):
        row = rows[["x1", "x2"]].median().to_frame().T.assign(f=key)
        expected = fit.marginal_effects(
            "x1", at="rows", newdata=row, scale="exc_prob"
        ).frame
        close(
            actual[actual["f"] == key],
            expected["estimate"],
            expected["std_error"],
            rtol=1e-10,
        )


def test_case_weights_are_repeated_rows() -> None:
    data = SIM.head(150)
    repeated = data.loc[data.index.repeat(data["w"])].reset_index(drop=True)
    weighted = ordfit("y ~ x1 + age", data, weights="w")
    plain = ordfit("y ~ x1 + age", repeated)
    for arguments in (
        {"change": "sd"},
        {"change": "iqr"},
        {"at": "median"},
        {"at": "mean"},
        {"change": "minmax"},
    ):
        a, b = (
            fit.marginal_effects("x1", scale="mean_class", **arguments).frame
            for fit in (weighted, plain)
        )
        close(a, b["estimate"], b["std_error"])


def test_latent_effects_are_coefficients_with_their_t_tests() -> None:
    wine = load_data("wine")
    small = ordfit("rating ~ temp + contact", wine, cluster="judge", vcov="CR2")
    survey = ordfit(
        "y ~ x1 + f",
        SIM.assign(psu=SIM.index % 12),
        design=SurveyDesign(weights="wf", clusters="psu"),
    )
    for fit, name, place in ((small, "temp", "temp[T.warm]"), (survey, "x1", "x1")):
        row = fit.marginal_effects(name, scale="latent").frame.iloc[0]
        np.testing.assert_allclose(
            row[["estimate", "std_error", "p_value"]].astype(float),
            [
                fit.coef[place],
                fit.se[place],
                fit.p_values[place],
            ],
            rtol=1e-8,
        )
        np.testing.assert_allclose(
            row[["lower", "upper"]].astype(float), fit.confint().loc[place], rtol=1e-8
        )
    assert "t distribution" in repr(survey.marginal_effects("x1"))


def test_another_covariance_has_its_own_degrees_of_freedom() -> None:
    fit = ordfit("rating ~ temp + contact", load_data("wine"))
    choice = {"cluster": "judge", "type": "CR2"}
    row = fit.marginal_effects("temp", scale="latent", vcov=choice).frame.iloc[0]
    assert row["p_value"] == pytest.approx(
        fit.with_vcov(choice).p_values["temp[T.warm]"], rel=1e-8
    )


def test_differences_of_differences_by_algebra() -> None:
    """Of the saturated model on the latent scale it is the interaction; on the odds,
    its exponential.
    """
    fit = ordfit("rating ~ temp * contact", load_data("wine"))
    name = "temp[T.warm]:contact[T.yes]"
    latent = fit.marginal_effects("temp", by="contact", scale="latent").contrasts(
        "revpairwise"
    )
    close(latent, [fit.coef[name]], [fit.se[name]], rtol=1e-8)
    assert list(latent.columns)[:3] == ["term", "contrast", "difference"]
    odds = fit.marginal_effects(
        "temp", at={"contact": ["no", "yes"]}, scale="odds"
    ).contrasts("revpairwise")
    assert odds["difference"].tolist() == ["yes / no"] * 4
    np.testing.assert_allclose(odds["estimate"], np.exp(fit.coef[name]), rtol=1e-8)


def test_three_way_interactions() -> None:
    fit = ordfit("y ~ x1 * f * h", SIM.assign(h=np.where(SIM["x2"] > 0, "up", "down")))
    slopes = fit.marginal_effects(
        "x1", at={"f": ["lo", "hi"], "h": ["down", "up"]}, scale="latent"
    )
    differences = slopes.contrasts({"hi - lo : up - down": [1, -1, -1, 1]})
    name = "x1:f[T.hi]:h[T.up]"
    close(differences, [fit.coef[name]], [fit.se[name]], rtol=1e-7)


def test_what_the_data_cannot_say() -> None:
    empty = empty_cell()
    with aliased(), empty:
        fit = ordfit("y ~ x1 + I(2 * x1) + x2 + f * e", load_data("simrd"))
    assert fit.marginal_effects("x1", scale="latent").frame["estimate"].notna().all()
    with no_standard_errors():
        frame = fit.marginal_effects("f", by="e", scale="mean_class").frame
    unknown = frame[frame["estimate"].isna()]
    assert unknown[["contrast", "e"]].to_numpy().tolist() == [["hi - lo", "D"]]
    with pytest.warns(UserWarning):
        separated = ordfit("y ~ z + x", load_data("sep"))
    with no_standard_errors():
        single = separated.marginal_effects(
            "x", at="rows", newdata=pd.DataFrame({"z": [0, 1], "x": [0.5, 0.5]})
        ).frame
    assert single.groupby("row")["std_error"].apply(
        lambda one: one.isna().all()
    ).tolist() == [False, True]


def test_nothing_is_changed_and_pickles_do() -> None:
    data = SIM.copy()
    fit = ordfit("y ~ x1 + f", data)
    effects = fit.marginal_effects(change={"x1": 2})
    pd.testing.assert_frame_equal(data, SIM)
    pd.testing.assert_frame_equal(
        pickle.loads(pickle.dumps(effects)).frame, effects.frame
    )
    pd.testing.assert_frame_equal(
        fit.marginal_effects("f").frame, fit.marginal_effects("f").frame
    )


def test_it_prints_what_it_is() -> None:
    fit = ordfit("y ~ x1 + age + f", SIM)
    text = repr(
        fit.marginal_effects(
            ["x1", "age"], change={"x1": "sd", "age": 10}, scale="mean_class"
        )
    )
    for words in (
        "+SD",
        "+10",
        "Effects on the expected rank",
        "Averaged over the 500 rows.",
        "SD of x1: 0.9892.",
    ):
        assert words in text
    assert max(map(len, text.splitlines())) <= 80
    at = repr(fit.marginal_effects("x1", at="mean", by="f"))
    assert "At the means of numbers, most frequent levels of factors by f." in at
    assert "P(response = level)" in at
    rows = fit.marginal_effects("x1", at="rows")
    assert "The first 100 of 2,500 rows." in repr(rows) and len(rows.frame) == 2500
    assert "<table" in rows._repr_html_()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"variables": 5}, "variables must be names of variables; got 5"),
        ({"scale": "probability"}, "scale must be one of"),
        ({"contrast": "all"}, "contrast must be one of"),
        (
            {"variables": "temp", "change": 1},
            "change=1 needs a number; 'temp' is a factor",
        ),
        (
            {"variables": "temp", "change": ("cold", "hot")},
            "no level 'hot'; it has 'cold', 'warm'",
        ),
        ({"variables": "x", "change": 0}, "finite number that is not 0"),
        ({"variables": "x", "change": True}, "finite number that is not 0"),
        ({"variables": "x", "change": "SD"}, "change must be a number"),
        ({"variables": "x", "change": {"temp": 1}}, "change names 'temp'"),
        ({"variables": "x", "change": (1,)}, "two values"),
        ({"variables": "x", "change": ("a", "b")}, "'x' is a number"),
        ({"change": (1, 2)}, "need a single variable"),
        ({"variables": "one", "change": "sd"}, "standard deviation of 'one' is 0"),
        ({"at": "means"}, "at must be 'mean', 'median', 'rows'"),
        ({"at": {"temp": "hot"}}, "no level 'hot'"),
        ({"at": {"x": "middle"}}, "'x' is a number; got the value 'middle'"),
        ({"at": {"x": []}}, "gives no value of 'x'"),
        ({"at": {"judge": 1}}, "no variable 'judge'; it has 'temp', 'contact', 'x'"),
        ({"variables": "temp", "at": {"temp": "warm"}}, "leave it out of at="),
        ({"at": {"contact": "yes"}, "by": "contact"}, "must not be in both: at="),
        ({"at": "rows", "by": "contact"}, "by= needs averages"),
        ({"by": "nothing"}, "by names no column"),
        ({"by": "level"}, "rename that of the data"),
        ({"level": 2}, "level must be a number strictly"),
        ({"weights": [1.0]}, "weights goes with newdata"),
    ],
    ids=str,
)
def test_refusals(arguments, words: str) -> None:
    wine = load_data("wine").assign(x=lambda d: np.arange(len(d)) % 5, one=1.0, level=1)
    constant = arguments.get("variables") == "one"
    with aliased() if constant else nullcontext():
        fit = ordfit(f"rating ~ temp + contact + {'one' if constant else 'x'}", wine)
    with pytest.raises(OptionError, match=words):
        fit.marginal_effects(**arguments)


def test_contrasts_need_places_and_rankers_have_none() -> None:
    fit = ordfit("rating ~ temp + contact", load_data("wine"))
    for effects in (
        fit.marginal_effects("temp"),
        fit.marginal_effects("temp", at="rows"),
    ):
        with pytest.raises(OptionError, match="compare effects between places"):
            effects.contrasts()
    ranker = ordfit("rating ~ temp + contact", load_data("wine"), "redsvm")
    with likelihood_needed():
        ranker.marginal_effects("temp")


def test_means_and_contrasts_have_t_limits_where_the_covariance_has_df():
    data = SIM.assign(psu=SIM.index % 12, half=np.where(SIM["x2"] > 0, "up", "down"))
    survey = ordfit(
        "y ~ x1 + half", data, design=SurveyDesign(weights="wf", clusters="psu")
    )
    small = ordfit(
        "rating ~ temp + contact", load_data("wine"), cluster="judge", vcov="CR2"
    )
    for fit, name, place in (
        (survey, "half", "half[T.up]"),
        (small, "temp", "temp[T.warm]"),
    ):
        means = fit.emmeans(name)
        contrast = means.contrasts("revpairwise")
        np.testing.assert_allclose(
            contrast[["lower", "upper"]].iloc[0], fit.confint().loc[place], rtol=1e-8
        )
        np.testing.assert_allclose(contrast["p_value"], fit.p_values[place], rtol=1e-8)
        df = "Satterthwaite's df" if fit is small else "11 df"
        assert f"t tests with {df};" in repr(contrast)
        assert f"intervals, t distribution with {df}." in " ".join(repr(means).split())
    half = stats.t.ppf(0.975, 11)
    frame = survey.emmeans("half").frame
    np.testing.assert_allclose(
        frame["upper"] - frame["estimate"], half * frame["std_error"], rtol=1e-10
    )
    shares = survey.emmeans("half", scale="exc_prob").frame
    p = shares["estimate"]
    error = shares["std_error"]
    logit = np.log(p / (1 - p)) + half * error / p / (1 - p)
    np.testing.assert_allclose(shares["upper"], 1 / (1 + np.exp(-logit)), rtol=1e-10)
    slopes = survey.emtrends("half", "x1").frame
    np.testing.assert_allclose(
        slopes["upper"] - slopes["estimate"], half * slopes["std_error"], rtol=1e-10
    )


def test_rows_that_are_left_out_are_told() -> None:
    data = SIM.assign(part=SIM["g"].astype(object).where(SIM["g"] != "B"))
    fit = ordfit("y ~ x1 + f", data)
    with pytest.warns(
        DataWarning, match=f"{(SIM['g'] == 'B').sum()} of 500 rows have no value of by="
    ) as caught:
        assert fit.marginal_effects("x1", by="part", scale="mean_class").frame[
            "part"
        ].tolist() == ["A", "C", "D"]
    new = SIM.head(4).assign(x1=[0.0, np.nan, 1.0, 2.0])
    with pytest.warns(
        DataWarning, match="1 of 4 rows of newdata have missing values"
    ) as more:
        frame = fit.marginal_effects(
            "x1", at="rows", newdata=new, scale="mean_class"
        ).frame
    assert frame["row"].tolist() == [0, 2, 3]
    assert {one.filename for one in (*caught, *more)} == {__file__}


def test_differences_that_cannot_be_are_not_tested() -> None:
    """Without an interaction the odds ratio is the same everywhere: the difference is
    rounding, not a finding.
    """
    fit = ordfit("y ~ x1 + age + f", SIM)
    differences = fit.marginal_effects("x1", by="f", scale="odds").contrasts(
        adjust="none"
    )
    assert (differences["std_error"] == 0.0).all() and differences[
        "p_value"
    ].isna().all()
    np.testing.assert_allclose(differences["estimate"], 1.0, atol=1e-12)
    assert (fit.emmeans("f").contrasts()["std_error"] > 0.0).all()


@pytest.mark.parametrize(
    "part",
    [
        {"formula": "y ~ x + offset(o)"},
        {"formula": "y ~ x", "scale": "~ g + offset(o)"},
    ],
)
def test_changed_offsets_are_noticed(part):
    rng = np.random.default_rng(0)
    data = pd.DataFrame(
        {
            "x": rng.normal(size=200),
            "o": 0.1 * rng.normal(size=200),
            "g": rng.choice(["a", "b"], 200),
        }
    )
    data["y"] = np.digitize(data["x"] + rng.logistic(size=200), [-1.0, 1.0])
    fit = ordfit(data=data, **part)
    assert len(fit.marginal_effects("x", scale="mean_class").frame) == 1
    with data_changed():
        fit.marginal_effects(
            "x", scale="mean_class", data=data.assign(o=data["o"] + 3.0)
        )


def test_new_rows_with_fewer_categories() -> None:
    """Changed to a level that their categories lack, they are those of a plain
    column.
    """
    wine = load_data("wine")
    fit = ordfit("rating ~ temp + contact", wine)
    plain = pd.DataFrame({"temp": ["cold", "cold"], "contact": ["no", "yes"]})
    ranks = [
        fit.predict(plain.assign(temp=level), type="mean").mean()
        for level in ("cold", "warm")
    ]
    few = plain.astype("category")
    effect = fit.marginal_effects("temp", newdata=few, scale="mean").frame
    assert effect["estimate"][0] == pytest.approx(ranks[1] - ranks[0], rel=1e-12)
    assert few["temp"].cat.categories.tolist() == ["cold"]

"""Average effects and marginal means: against R, against averages of predictions, and
by algebra.
"""

from __future__ import annotations

import pickle
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from expected import data_changed, empty_cell, no_data, no_standard_errors
from reference_cases import load_data

from ordstat import ordfit
from ordstat.exceptions import (
    ConvergenceWarning,
    DataWarning,
    OptionError,
)

#: Case weights of these data have a mean above 2, as sampling weights do.
pytestmark = pytest.mark.filterwarnings(
    "ignore:weights= are counts of equal rows, and these stand for"
)
R = pd.read_csv(Path(__file__).parents[1] / "golden" / "r" / "effects.csv")


@lru_cache
def fitted(name: str):
    if name == "wine":
        return ordfit(
            "rating ~ temp * contact", data=load_data("wine"), method="probit"
        )
    formula = "y ~ x1 + I(x1^2) + x1:f + f + x2"
    return ordfit(formula, data=load_data("sim500"), scale="~ x2", weights="w")


@pytest.mark.parametrize(
    "what",
    [tuple(key) for key in R[["case", "what"]].drop_duplicates().to_numpy()],
    ids="-".join,
)
def test_against_r(what: tuple[str, str]) -> None:
    """tests/golden/r/effects.R: predictions averaged and differentiated in R, from
    clm's coefficients alone.
    """
    case, (kind, variable, scale) = what[0], what[1].split()
    fit = fitted(case)
    if kind == "effects":
        table = fit.marginal_effects(variable, scale=scale).frame
    elif kind == "emmeans":
        table = fit.emmeans(variable, scale=scale).frame
    else:
        table = fit.emmeans(variable, scale=scale).contrasts("revpairwise")
        assert table["contrast"].tolist() == ["mid - lo", "hi - lo", "hi - mid"]
    expected = R[(R["case"] == case) & (R["what"] == what[1])]
    np.testing.assert_allclose(
        table["estimate"], expected["estimate"], rtol=1e-7, atol=1e-10
    )
    np.testing.assert_allclose(table["std_error"], expected["std_error"], rtol=1e-6)


def test_cumulative_probabilities_leave_out_the_one_that_is_certain() -> None:
    """P(response <= highest level) is 1: it has no effect, no error and no contrast."""
    fit = fitted("sim")
    means = fit.emmeans("f", scale="cum_prob")
    for table in (
        fit.marginal_effects("x1", scale="cum_prob").frame,
        means.frame,
        means.contrasts(),
    ):
        assert table["level"].unique().tolist() == list(fit.levels)[:-1]
        assert (table["std_error"] > 0).all()
    probabilities = fit.emmeans("f", scale="prob").frame.pivot(
        index="f", columns="level", values="estimate"
    )
    below = means.frame.pivot(index="f", columns="level", values="estimate")
    np.testing.assert_allclose(
        below, probabilities.cumsum(axis=1).iloc[:, :-1], rtol=1e-12
    )
    # as R's predict
    assert fit.predict(load_data("sim500").head(2), type="cum_prob").shape == (2, 5)


def test_what_has_no_error_has_no_test() -> None:
    """The slope of an offset is known."""
    row = (
        ordfit("y ~ f + offset(x1)", data=load_data("sim500"))
        .marginal_effects("x1", scale="latent")
        .frame.iloc[0]
    )
    np.testing.assert_allclose(
        row[["estimate", "lower", "upper"]].to_numpy(dtype=float), 1.0, rtol=1e-10
    )
    assert (
        row["std_error"] == 0.0
        and np.isnan(row["statistic"])
        and np.isnan(row["p_value"])
    )


def averaged(fit, data: pd.DataFrame, type: str) -> np.ndarray:
    values = fit.predict(data, type=type).to_numpy().reshape(len(data), -1)
    certain = 1 if type == "cum_prob" else 0
    return np.average(values[:, : values.shape[1] - certain], axis=0, weights=data["w"])


@pytest.fixture(scope="module")
def spline():
    """Spline, logarithm, polynomial tail at the edge, interaction, C() of a number,
    nominal and scale parts.
    """
    data = load_data("sim500").assign(
        k=lambda d: np.where(d["x3"] > 0, 2, np.where(d["x3"] > -1, 1, 0))
    )
    fit = ordfit(
        "y ~ bs(x1, df=4) * f + log(age) + C(k) + x2",
        data=data,
        scale="~ g",
        nominal="~ x2",
        weights="w",
        method="probit",
    )
    return fit, data


@pytest.mark.filterwarnings("ignore::ordstat.exceptions.DataWarning")
@pytest.mark.parametrize("type", ["prob", "cum_prob", "mean"])
def test_contrasts_and_slopes_are_those_of_predictions(spline, type: str) -> None:
    fit, data = spline
    for name, low, high in (("f", "lo", "hi"), ("k", 0, 2), ("g", "A", "C")):
        set_to = [
            averaged(
                fit,
                data.assign(
                    **{name: pd.Series(v, data.index).astype(data[name].dtype)}
                ),
                type,
            )
            for v in (low, high)
        ]
        table = fit.marginal_effects(name, scale=type).frame
        actual = table.loc[table["contrast"] == f"{high} - {low}", "estimate"]
        np.testing.assert_allclose(actual, set_to[1] - set_to[0], atol=1e-13)
    h = 1e-5
    inner = data[
        (data["x1"] < data["x1"].max() - h) & (data["x1"] > data["x1"].min() + h)
    ]
    for name, rows in (("age", data), ("x2", data), ("x1", inner)):
        slope = [
            averaged(fit, rows.assign(**{name: rows[name] + s}), type) for s in (-h, h)
        ]
        actual = fit.marginal_effects(
            name, scale=type, newdata=rows, weights="w"
        ).frame["estimate"]
        np.testing.assert_allclose(actual, (slope[1] - slope[0]) / (2 * h), atol=2e-9)


def test_bounds_of_a_spline_are_not_left(spline) -> None:
    """At the ends of bs(x1) only inner points are used; the slope there is the
    one-sided derivative.
    """
    fit, data = spline
    top = data.loc[[data["x1"].idxmax(), data["x1"].idxmin()]]
    at = top["x1"].to_numpy()
    h = np.array([-1e-6, 1e-6])
    values = [
        fit.predict(top.assign(x1=at + j * h), type="mean").to_numpy()
        for j in (0, 1, 2)
    ]
    one_sided = (-3 * values[0] + 4 * values[1] - values[2]) / (2 * h)
    actual = fit.marginal_effects("x1", scale="mean", newdata=top).frame["estimate"]
    np.testing.assert_allclose(actual, one_sided.mean(), rtol=1e-5)


def test_standard_errors_by_simulation() -> None:
    """Deviation of the effect over draws of the parameters: the delta method to first
    order.
    """
    fit = fitted("wine")
    data = load_data("wine")
    rng = np.random.default_rng(11)
    draws = rng.multivariate_normal(fit.params, fit.vcov(), size=4000)
    from scipy.stats import norm

    warm = np.repeat([1.0, 0.0], len(data))
    yes = np.tile(data["contact"] == "yes", 2)
    X = np.column_stack([warm, yes, warm * yes])
    cum = norm.cdf(draws[:, None, :4] - (draws[:, 4:] @ X.T)[:, :, None])
    prob = np.diff(cum, axis=2, prepend=0.0, append=1.0)
    effect = prob[:, : len(data)].mean(axis=1) - prob[:, len(data) :].mean(axis=1)
    np.testing.assert_allclose(
        fit.marginal_effects("temp").frame["std_error"], effect.std(axis=0), rtol=0.08
    )


def test_wine_by_algebra() -> None:
    wine = load_data("wine")
    fit = ordfit("rating ~ temp + contact", data=wine)
    b = fit.coef["temp[T.warm]"]
    se = fit.se["temp[T.warm]"]
    for scale in ("latent", "log_odds"):
        table = fit.marginal_effects("temp", scale=scale).frame
        np.testing.assert_allclose(table["estimate"], b, rtol=1e-12)
        np.testing.assert_allclose(table["std_error"], se, rtol=1e-10)
    odds = fit.marginal_effects("temp", scale="odds").frame
    assert odds["contrast"].unique().tolist() == ["warm / cold"]
    np.testing.assert_allclose(
        odds[["estimate", "lower", "upper"]],
        np.exp([[b, *fit.confint().loc["temp[T.warm]"]]] * 4),
    )
    np.testing.assert_allclose(odds["std_error"], se * np.exp(b), rtol=1e-9)
    means = fit.emmeans(["temp", "contact"]).frame.set_index(["temp", "contact"])[
        "estimate"
    ]
    slopes = fit.coef.to_numpy()
    for temp, contact in means.index:
        expected = slopes @ [temp == "warm", contact == "yes"] - fit.thresholds.mean()
        assert means[temp, contact] == pytest.approx(expected, rel=1e-12)
    prob = fit.marginal_effects("temp", scale="prob").frame
    assert prob["estimate"].sum() == pytest.approx(0.0, abs=1e-14)
    assert fit.marginal_effects("temp", scale="mean").frame["estimate"][
        0
    ] == pytest.approx(prob["estimate"] @ np.arange(1, 6))


def test_robust_covariance_and_groups() -> None:
    wine = load_data("wine")
    fit = ordfit("rating ~ temp * contact", data=wine)
    plain = fit.marginal_effects("temp", scale="mean").frame
    robust = fit.marginal_effects("temp", scale="mean", vcov="HC0").frame
    assert (
        plain["estimate"].equals(robust["estimate"])
        and (plain["std_error"] != robust["std_error"]).all()
    )
    by = fit.marginal_effects("temp", scale="latent", by="contact").frame
    cell = ["temp[T.warm]", "temp[T.warm]:contact[T.yes]"]
    np.testing.assert_allclose(
        by["estimate"], [fit.coef[cell[0]], fit.coef[cell].sum()]
    )
    one = fit.vcov().loc[cell, cell].to_numpy().sum() ** 0.5
    np.testing.assert_allclose(by["std_error"], [fit.se[cell[0]], one])
    fixed = fit.marginal_effects("temp", scale="latent", at={"contact": "yes"}).frame
    np.testing.assert_allclose(
        fixed[["estimate", "std_error"]], by[["estimate", "std_error"]].iloc[[1]]
    )
    inside = fit.emmeans("temp", by="contact").contrasts("revpairwise")
    np.testing.assert_allclose(inside["estimate"], by["estimate"])
    assert inside["contact"].tolist() == ["no", "yes"]


def test_weights_are_repeated_rows() -> None:
    data = load_data("sim500").head(120)
    a = ordfit("y ~ x1 * f", data=data, weights="w")
    b = ordfit(
        "y ~ x1 * f", data=data.loc[data.index.repeat(data["w"])].reset_index(drop=True)
    )
    for one, other in (
        (a.marginal_effects().frame, b.marginal_effects().frame),
        (a.emmeans("f").frame, b.emmeans("f").frame),
    ):
        np.testing.assert_allclose(one["estimate"], other["estimate"], atol=1e-9)
        np.testing.assert_allclose(one["std_error"], other["std_error"], rtol=1e-6)


def test_multiple_comparisons() -> None:
    data = load_data("sim500")
    means = ordfit("y ~ x1 + f + g", data=data).emmeans("g", scale="mean")
    raw, bonferroni, holm = (
        means.contrasts(adjust=a) for a in ("none", "bonferroni", "holm")
    )
    from statsmodels.stats.multitest import multipletests

    for table, name in ((bonferroni, "bonferroni"), (holm, "holm")):
        np.testing.assert_allclose(
            table["p_value"], multipletests(raw["p_value"], method=name)[1]
        )
    width = (bonferroni["upper"] - bonferroni["lower"]) / (raw["upper"] - raw["lower"])
    # quantiles at 1 - 0.05 / 12 and 1 - 0.05 / 2
    np.testing.assert_allclose(width, 2.6382572733 / 1.9599639845)
    assert means.contrasts("reference")["contrast"].tolist() == [
        "B - A",
        "C - A",
        "D - A",
    ]
    assert means.contrasts("sequential")["contrast"].tolist() == [
        "B - A",
        "C - B",
        "D - C",
    ]
    limits = means.frame[["lower", "upper"]].to_numpy()
    assert (limits > 1).all() and (limits < 5).all()


def test_what_the_data_cannot_say() -> None:
    """The cell hi:D is empty: its mean and the contrast to it are unknown for any
    coding.
    """
    data = load_data("simrd")
    with empty_cell():
        fit = ordfit("y ~ x1 + f * e", data=data)
    with no_standard_errors():
        means = fit.emmeans(["f", "e"])
    gone = means.frame["std_error"].isna()
    assert means.frame.loc[gone, ["f", "e"]].to_numpy().tolist() == [["hi", "D"]]
    assert means.frame.loc[gone, "estimate"].isna().all()
    with no_standard_errors():
        assert fit.marginal_effects("f", scale="mean").frame.set_index("contrast")[
            "estimate"
        ].isna().tolist() == [False, True]


def test_separation_leaves_what_is_finite() -> None:
    """Rows with z = 1 are always at the top: the others have the errors of a fit to
    them alone.
    """
    data = load_data("sep")
    with pytest.warns(UserWarning):
        fit = ordfit("y ~ z + x", data=data)
    out = fit.predict(
        data.assign(z=[0, 1] * 60), type="prob", se=True, interval="confidence"
    )
    assert out["std_error"].notna().all(axis=1).tolist() == [True, False] * 60
    assert out["lower"].notna().all(axis=1).tolist() == [True, False] * 60
    rest = data[data["z"] == 0]
    alone = ordfit("y ~ x", data=rest)
    for name in ("estimate", "std_error"):
        expected = alone.predict(rest, type="prob", se=True)[name]
        np.testing.assert_allclose(
            fit.predict(rest, type="prob", se=True)[name], expected, rtol=1e-6
        )
    expected = alone.marginal_effects("x").frame["std_error"]
    np.testing.assert_allclose(
        fit.marginal_effects("x", newdata=rest).frame["std_error"], expected, rtol=1e-6
    )


def test_rows_that_share_an_index() -> None:
    """Rows of a doubled frame have no labels of their own; those that were fitted are
    the complete ones.
    """
    data = load_data("wine")
    data.loc[3, "temp"] = None
    with pytest.warns(DataWarning, match="missing"):
        twice = ordfit("rating ~ temp", data=pd.concat([data, data]))
    once = ordfit("rating ~ temp", data=data.dropna())
    a = twice.marginal_effects(scale="latent").frame
    b = once.marginal_effects(scale="latent").frame
    np.testing.assert_allclose(a["estimate"], b["estimate"], rtol=1e-8)
    np.testing.assert_allclose(a["std_error"], b["std_error"] / np.sqrt(2), rtol=1e-6)
    with pytest.raises(OptionError, match="no variable"):
        ordfit("rating ~ 1", data=load_data("wine")).marginal_effects()


def test_a_fit_without_its_data() -> None:
    wine = load_data("wine")
    fit = ordfit("rating ~ temp", data=wine)
    again = pickle.loads(pickle.dumps(fit))
    with no_data():
        again.marginal_effects("temp")
    pd.testing.assert_frame_equal(
        again.marginal_effects("temp", data=wine).frame,
        fit.marginal_effects("temp").frame,
    )
    with data_changed():
        again.marginal_effects(
            "temp", data=wine.assign(temp=wine["temp"].to_numpy()[::-1])
        )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda f: f.marginal_effects("temp", change=["cold"]).frame, "two values"),
        (lambda f: f.marginal_effects(change=[1, 2]).frame, "a single variable"),
        (lambda f: f.emmeans("temp", by="temp"), "not in by="),
        (lambda f: f.emmeans("temp").contrasts(adjust="scheffé"), "adjust must be"),
        (lambda f: f.emmeans("temp", level=95), "level must be a number strictly"),
        (
            lambda f: f.predict(se=True),
            "for standard errors and intervals; got 'class'",
        ),
        (lambda f: f.predict(type="prob", interval="prediction"), "interval must be"),
        (lambda f: f.predict(type="prob", cost="absolute"), "goes with type='class'"),
        (lambda f: f.predict(cost=[[0, 1], [1, 0]]), "5 levels"),
    ],
)
def test_refusals(call, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        call(fitted("wine"))


def two_levels(seed: int, share: float) -> pd.DataFrame:
    """Two levels and a spread that is wider in b."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=60)
    in_b = np.repeat([0.0, 1.0], 30)
    latent = x + 0.3 * in_b + (1.0 + in_b) * rng.logistic(size=60)
    return pd.DataFrame(
        {
            "x": x,
            "g": np.where(in_b == 1.0, "b", "a"),
            "y": (latent > np.quantile(latent, 1.0 - share)).astype(int),
        }
    )


def test_effects_beside_a_scale_effect_that_is_not_determined() -> None:
    """Two levels and x * g leave nothing for a spread of g: the effects are those of
    the fit without it.
    """
    data = two_levels(0, 0.3)
    with pytest.warns(DataWarning, match="not estimated"):
        fit = ordfit("y ~ x * g", data, scale="~ g")
    actual = fit.marginal_effects().frame
    expected = ordfit("y ~ x * g", data).marginal_effects().frame
    for column in ("estimate", "std_error"):
        np.testing.assert_allclose(actual[column], expected[column], rtol=1e-6)


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_effects_where_spreads_vanish_say_nothing_in_numpys_words() -> None:
    """The search ends early, on the way to an infinite scale effect."""
    with pytest.warns(ConvergenceWarning):
        fit = ordfit(
            "y ~ x", two_levels(1, 0.5), scale="~ x", penalty="jeffreys", max_iter=10
        )
    with no_standard_errors():
        fit.marginal_effects()

"""Spreads that diverge from each other: what they leave is that of separate fits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from expected import no_maximum

from benchmarks.against_r.specs import KINDS
from ordstat import ordfit
from ordstat.exceptions import DataWarning

#: Ratios of spreads in the limit are e^-12: estimates are that far off.
CLOSE = 1e-4


@pytest.mark.parametrize("coding", ["treatment", "sum", "poly"])
def test_cells_at_a_threshold_of_wider_ones_have_their_own_binary_fits(
    coding: str,
) -> None:
    """Where o1 is r the spread goes to 0: rows of f2 = a are of one level, and those of
    b and c lie at a threshold each. The wider rows of b and c have slopes of 0 in the
    limit, and it is a product of three models without common parameters.
    """
    spec = KINDS["any"](2002, 202)
    data = spec.data
    options = spec.options | {"contrasts": {"o1": coding}}
    with no_maximum():
        fit = ordfit(spec.formula, data, **options, max_iter=300)
    assert not fit.converged

    wide = data[data["o1"] != "r"].copy()
    wide["o1"] = wide["o1"].astype(str)
    wide["x3a"] = wide["x3"] * (wide["f2"] == "a")
    rest = ordfit(
        "y ~ x3a + f2*o1", wide, link="probit", threshold="symmetric", scale="~ o1"
    )
    loglik = rest.loglik
    for level in "bc":
        cell = data[(data["o1"] == "r") & (data["f2"] == level)]
        loglik += ordfit(
            "y ~ x3", cell.assign(y=cell["y"].astype(int)), link="probit"
        ).loglik
    assert fit.loglik == pytest.approx(loglik, abs=1e-8)

    if coding != "treatment":  # the spread of every level moves, and all with it
        assert fit.se.isna().all()
        return
    lost = ["o1[T.r]", "f2[T.b]:o1[T.r]", "f2[T.c]:o1[T.r]", "scale.o1[T.r]"]
    assert fit.se[lost].isna().all()
    slopes = ["x3", "x3:f2[T.b]", "x3:f2[T.c]"]
    shared = fit.params.index.difference([*lost, *slopes])
    np.testing.assert_allclose(fit.params[shared], rest.params[shared], atol=CLOSE)
    np.testing.assert_allclose(fit.se[shared], rest.se[shared], rtol=CLOSE)
    np.testing.assert_allclose(
        fit.params[slopes], rest.params["x3a"] * np.array([1.0, -1.0, -1.0]), atol=CLOSE
    )
    np.testing.assert_allclose(fit.se[slopes], rest.se["x3a"], rtol=CLOSE)


def two_groups(seed: int) -> pd.DataFrame:
    """Group b has the lower two of three levels."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=120)
    group = np.repeat(["a", "b"], [80, 40])
    y = np.digitize(0.8 * x + rng.logistic(size=120), [-1.0, 0.5])
    return pd.DataFrame(
        {"x": x, "g": group, "y": np.where(group == "b", y.clip(0, 1), y)}
    )


@pytest.mark.parametrize("link", ["logit", "probit"])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_group_at_one_threshold(link: str, seed: int) -> None:
    """Its spread goes to 0: with a slope of its own it is a binary model, its location
    the threshold of the other group, and its slope on that scale 0.
    """
    data = two_groups(seed)
    with no_maximum("scale.g[T.b])."):
        fit = ordfit("y ~ x*g", data, scale="~ g", link=link)
    alone = ordfit("y ~ x", data[data["g"] == "a"], link=link)
    binary = ordfit("y ~ x", data[data["g"] == "b"], link=link)
    assert fit.loglik == pytest.approx(alone.loglik + binary.loglik, abs=1e-8)
    same = ["0|1", "1|2", "x"]
    np.testing.assert_allclose(fit.params[same], alone.params[same], atol=CLOSE)
    np.testing.assert_allclose(fit.se[same], alone.se[same], rtol=CLOSE)
    assert fit.params["g[T.b]"] == pytest.approx(alone.params["0|1"], abs=CLOSE)
    assert fit.se["g[T.b]"] == pytest.approx(alone.se["0|1"], rel=CLOSE)
    assert fit.params["x:g[T.b]"] == pytest.approx(-alone.params["x"], abs=CLOSE)


@pytest.mark.parametrize("link", ["logit", "cloglog"])
@pytest.mark.parametrize("coding", ["treatment", "sum"])
def test_all_spreads_vanish_beside_a_group_at_the_ends(link: str, coding: str) -> None:
    """The model is saturated: probabilities are shares, with binomial errors."""
    counts = {"A": [12, 0, 7], "B": [10, 14, 9], "C": [3, 4, 2], "D": [30, 25, 40]}
    data = pd.concat(
        pd.DataFrame({"g": g, "y": np.repeat(range(3), n)}) for g, n in counts.items()
    )
    with no_maximum():
        fit = ordfit("y ~ g", data, scale="~ g", link=link, contrasts={"g": coding})
    assert fit.se.filter(like="scale").isna().all()
    table = np.array(list(counts.values()))[1:]
    shares = table / table.sum(axis=1, keepdims=True)
    errors = np.sqrt(shares * (1.0 - shares) / table.sum(axis=1, keepdims=True))
    actual = fit.predict(pd.DataFrame({"g": list("BCD")}), type="prob", se=True)
    np.testing.assert_allclose(actual["estimate"], shares, atol=CLOSE)
    np.testing.assert_allclose(actual["std_error"], errors, atol=CLOSE)
    loglik = (table * np.log(shares)).sum() + 12 * np.log(12 / 19) + 7 * np.log(7 / 19)
    assert fit.loglik == pytest.approx(loglik, abs=1e-8)
    if coding == "treatment":  # where group A is divided, on the scale of its spread
        assert fit.se["g[T.B]"] == pytest.approx(fit.se["0|1"], rel=CLOSE)
        binary = ordfit("y ~ 1", data[data["g"] == "A"], link=link)
        assert fit.params["0|1"] == pytest.approx(binary.params.iloc[0], abs=CLOSE)
        assert fit.se["0|1"] == pytest.approx(binary.se.iloc[0], rel=CLOSE)


def test_spreads_that_only_differ_much_have_their_maximum() -> None:
    """A ratio of spreads of e^-5, which the rows of both groups tell; estimates and
    errors are those of R's ordinal.
    """
    rng = np.random.default_rng(5)
    x = rng.normal(size=400)
    g = np.repeat(["a", "b"], 200)
    latent = x + rng.logistic(size=400) * np.where(g == "a", 1.0, np.exp(-5.0))
    data = pd.DataFrame({"x": x, "g": g, "y": np.digitize(latent, [-1.0, 0.0, 1.0])})
    fit = ordfit("y ~ x", data, scale="~ g")
    estimates = [-1.01628270, -0.00137357611, 1.03229392, 1.02898291, -4.14853841]
    errors = [0.0954426716, 0.0135172493, 0.0979532194, 0.0962856584, 0.328944555]
    assert fit.converged
    np.testing.assert_allclose(fit.params, estimates, rtol=1e-7)
    np.testing.assert_allclose(fit.se, errors, rtol=1e-6)


# Predictions of rows whose spread vanishes or grows without end


def three_groups(kind: str, seed: int, first: str = "a") -> pd.DataFrame:
    """Groups a and b have all four levels; c has two of them, the two ends, or one."""
    rng = np.random.default_rng(seed)
    group = np.repeat(["a", "b", "c"], [50, 45, 40])
    x = rng.normal(size=group.size)
    latent = 0.7 * x + 0.5 * (group == "b") + rng.logistic(size=group.size)
    y = np.digitize(latent, [-1.2, 0.0, 1.2])
    pairs = {"inner": (1, 2), "lower": (0, 1), "ends": (0, 3), "end": (0, 0)}
    low, high = pairs[kind]
    y = np.where(group == "c", np.where(latent < 0.3, low, high), y)
    levels = sorted("abc", key=lambda level: level != first)
    return pd.DataFrame({"y": y, "x": x, "g": pd.Categorical(group, levels)})


def limit_of(data: pd.DataFrame, new: pd.DataFrame, link: str, slope: str) -> Any:
    """Probabilities and errors of group c on its own: two of four levels."""
    alone = data[data["g"] == "c"].assign(g="c")
    kept = np.unique(alone["y"])
    fit = ordfit(f"y ~ {slope}", alone, link=link)
    found = fit.predict(new, type="prob", se=True)
    estimate = np.zeros((len(new), 4))
    error = np.zeros((len(new), 4))
    estimate[:, kept] = found["estimate"]
    error[:, kept] = found["std_error"]
    return estimate, error


@pytest.mark.parametrize("first", ["a", "c"])
@pytest.mark.parametrize(
    ("kind", "link", "seed"),
    [
        ("inner", "logit", 1),
        ("inner", "cauchit", 2),
        ("lower", "probit", 3),
        ("lower", "cloglog", 1),
        ("ends", "logit", 2),
        ("ends", "loglog", 3),
    ],
)
@pytest.mark.filterwarnings("ignore::ordstat.exceptions.OrdstatWarning")
def test_levels_beyond_a_spread_that_diverges_have_probability_0(
    kind: str, link: str, seed: int, first: str
) -> None:
    """With a location and a slope of its own the group is a binary model, whatever
    level is the reference; levels that it does not have are exactly impossible.
    """
    data = three_groups(kind, seed, first)
    new = pd.DataFrame({"g": ["c", "c"], "x": [0.4, -1.0]})
    fit = ordfit("y ~ x*g", data, scale="~ g", link=link)
    assert not fit.converged
    expected, errors = limit_of(data, new, link, "x")
    found = fit.predict(new, type="prob", se=True)
    np.testing.assert_allclose(found["estimate"], expected, atol=CLOSE)
    impossible = expected == 0.0
    assert (found["estimate"].to_numpy()[impossible] == 0.0).all()
    possible = found["std_error"].to_numpy()[~impossible]
    np.testing.assert_allclose(possible, errors[~impossible], rtol=1e-3)
    unsure = found["std_error"].to_numpy()[impossible]
    assert (np.isnan(unsure) | (unsure == 0.0)).all()
    above = fit.predict(new, type="exceed", at=[1, 2, 3])
    expected_above = expected[:, ::-1].cumsum(axis=1)[:, 2::-1]
    np.testing.assert_allclose(above, expected_above, atol=CLOSE)
    means = fit.predict(new, type="mean")
    np.testing.assert_allclose(means, expected @ np.arange(4), atol=4 * CLOSE)
    grid = fit.emmeans("g", at={"x": 0.4}, scale="prob").frame
    of_c = grid[grid["g"] == "c"]["estimate"].to_numpy()
    np.testing.assert_allclose(of_c, expected[0], atol=CLOSE)
    assert (of_c[impossible[0]] == 0.0).all()


@pytest.mark.parametrize("first", ["a", "c"])
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.filterwarnings("ignore::ordstat.exceptions.OrdstatWarning")
def test_a_spread_without_end_and_without_a_shift_halves_the_rows(
    seed: int, first: str
) -> None:
    """All predictors of the group tend to 0: the lowest and the highest level share
    its rows.
    """
    data = three_groups("ends", seed, first)
    fit = ordfit("y ~ x", data, scale="~ g")
    new = pd.DataFrame({"g": ["c"], "x": [0.4]})
    found = fit.predict(new, type="prob", se=True)
    assert found["estimate"].to_numpy().tolist() == [[0.5, 0.0, 0.0, 0.5]]
    assert found["std_error"].to_numpy().tolist() == [[0.0] * 4]
    alone = ordfit("y ~ x", data[data["g"] != "c"], scale="~ g")
    halves = 40 * np.log(0.5)
    assert fit.loglik == pytest.approx(alone.loglik + halves, abs=1e-6)


@pytest.mark.parametrize("first", ["a", "c"])
@pytest.mark.parametrize("link", ["logit", "cauchit", "probit"])
@pytest.mark.filterwarnings("ignore::ordstat.exceptions.OrdstatWarning")
def test_a_separated_group_is_certain_although_its_spread_has_no_estimate(
    link: str, first: str
) -> None:
    data = three_groups("end", 4, first)
    fit = ordfit("y ~ x + g", data, scale="~ g", link=link)
    new = pd.DataFrame({"g": ["c", "a"], "x": [0.4, 0.4]})
    found = fit.predict(new, type="prob", se=True)
    assert found["estimate"].to_numpy()[0].tolist() == [1.0, 0.0, 0.0, 0.0]
    assert found["std_error"].to_numpy()[0].tolist() == pytest.approx(
        [np.nan] * 4, nan_ok=True
    )
    rest = data[data["g"] != "c"].assign(g=lambda d: d["g"].astype(str))
    part = ordfit("y ~ x + g", rest, scale="~ g", link=link)
    others = part.predict(new.iloc[1:], type="prob")
    found_others = found["estimate"].iloc[1]
    np.testing.assert_allclose(found_others, others.iloc[0], rtol=1e-3, atol=1e-5)


def test_rows_that_move_with_a_diverging_estimate_have_that_as_reason() -> None:
    """One level in the middle: where its thresholds lie on the other groups' scale is
    open.
    """
    data = two_groups(1)
    data.loc[data["g"] == "b", "y"] = 1
    with no_maximum():
        fit = ordfit("y ~ g", data, scale="~ g")
    with pytest.warns(DataWarning, match="depend on estimates that diverge, as the"):
        found = fit.predict(pd.DataFrame({"g": ["b"]}), type="prob")
    assert found.isna().all(axis=None)


@pytest.mark.parametrize("seed", [7, 8, 9])
@pytest.mark.filterwarnings("ignore::ordstat.exceptions.OrdstatWarning")
def test_what_rows_on_the_tails_alone_tell_has_no_error(seed: int) -> None:
    """The reference group is narrow and of one level, so that its threshold runs off
    within the limiting model: an error of 1e8 was shown.
    """
    fit = ordfit("y ~ x", three_groups("end", seed, "c"), scale="~ g")
    new = pd.DataFrame({"g": list("abc"), "x": 0.0})
    errors = fit.predict(new, type="prob", se=True)["std_error"]
    assert not (fit.se > 10.0).any() and not (errors > 0.5).any(axis=None)

"""Figures that depend on infinite estimates are infinite or undetermined; others are
finite.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from expected import no_standard_errors

from ordstat import ConvergenceWarning, SeparationWarning, ordfit
from ordstat.exceptions import DataWarning

SEPARATED = "The response is separated"


def rated() -> pd.DataFrame:
    """Everybody of group a gives the lowest answer, nobody else does."""
    rng = np.random.default_rng(1)
    z = rng.normal(size=90)
    above = rng.integers(2, 4, 60)
    return pd.DataFrame(
        {"g": np.repeat(list("abc"), 30), "z": z, "y": np.append(np.full(30, 1), above)}
    )


@pytest.fixture(scope="module")
def fits():
    """The separated fit, and that of the rows that are left: two levels, and groups b
    and c.
    """
    data = rated()
    with pytest.warns(SeparationWarning):
        fit = ordfit("y ~ g + z", data)
    return fit, ordfit("y ~ g + z", data[data["g"] != "a"])


@pytest.fixture(scope="module")
def upward():
    """Group c gives the highest answer alone: one infinite effect, finite
    thresholds.
    """
    data = rated()
    y = np.append(np.random.default_rng(2).integers(1, 4, 60), np.full(30, 3))
    with pytest.warns(SeparationWarning):
        return ordfit("y ~ g + z", data.assign(y=y))


def test_estimates_are_infinite_in_every_table(fits, upward):
    fit, _ = fits
    for values in (fit.params, fit.tidy().set_index("term")["estimate"]):
        assert np.isposinf(
            values[["1|2", "2|3", "g[T.b]", "g[T.c]"]]
        ).all() and np.isfinite(values["z"])
    assert (
        np.isposinf(fit.thresholds).all()
        and np.isposinf(fit.coef[["g[T.b]", "g[T.c]"]]).all()
    )
    assert (
        fit.tidy(exponentiate=True).set_index("term").loc["g[T.b]", "estimate"]
        == np.inf
    )
    assert np.isfinite(upward.thresholds).all() and upward.coef["g[T.c]"] == np.inf
    assert SEPARATED in str(upward.tidy()) and "stopped" not in str(upward.tidy())


def test_thresholds_of_a_structure(fits):
    with pytest.warns(SeparationWarning):
        fit = ordfit(
            "y ~ x",
            pd.DataFrame({"x": np.arange(12.0), "y": np.repeat([1, 2, 3], 4)}),
            threshold="symmetric",
        )
    assert np.isinf(fit.params).any() and np.isposinf(fit.thresholds).all()


def test_means_and_differences_that_are_infinite(upward):
    with no_standard_errors():
        means = upward.emmeans("g")
    assert (
        means.frame["estimate"].tolist()[2] == np.inf
        and np.isfinite(means.frame["estimate"][:2]).all()
    )
    assert SEPARATED in str(means)
    with pytest.warns(DataWarning):
        pairs = means.contrasts("revpairwise").set_index("contrast")
    assert pairs["estimate"].tolist()[1:] == [np.inf, np.inf] and np.isfinite(
        pairs.loc["b - a", "std_error"]
    )
    with pytest.warns(DataWarning):
        assert upward.emmeans("g", scale="odds").frame["estimate"].tolist()[4:] == [
            np.inf,
            np.inf,
        ]
    with pytest.warns(DataWarning):
        falling = upward.emmeans("g", scale="odds").contrasts("pairwise")
    assert falling.set_index("contrast").loc["a / c", "estimate"].tolist() == [0.0, 0.0]
    tested = upward.test("g[T.b] = g[T.c], g[T.b] = 0")
    assert tested["difference"].iloc[0] == -np.inf and np.isfinite(
        tested["p_value"].iloc[1]
    )
    assert SEPARATED in str(tested)


def test_probabilities_stay(upward):
    """They are their own limits: group c gives the highest answer."""
    with pytest.warns(DataWarning):
        actual = upward.emmeans("g", scale="prob").frame.set_index(["g", "level"])[
            "estimate"
        ]
    np.testing.assert_allclose(actual["c"], [0.0, 0.0, 1.0], atol=1e-8)


def test_what_does_not_move_with_infinite_estimates_is_that_of_the_rows_that_are_left(
    fits,
):
    """Slopes, and the difference of two groups whose infinite effects cancel."""
    fit, left = fits
    tested = fit.test("g[T.c] = g[T.b]")
    expected = left.test("g[T.c] = 0")
    np.testing.assert_allclose(
        tested.to_numpy(dtype=float), expected.to_numpy(dtype=float), rtol=1e-9
    )
    with pytest.warns(DataWarning):
        pairs = (
            fit.emmeans("g").contrasts("revpairwise").set_index("contrast")["estimate"]
        )
        along = fit.emmeans("z", at={"z": [0, 1]})
    assert (
        pairs["c - b"] == pytest.approx(left.coef["g[T.c]"], rel=1e-9)
        and pairs["b - a"] == np.inf
    )
    for actual in (
        fit.emtrends("g", "z").frame,
        along.contrasts("revpairwise"),
        fit.marginal_effects("z", scale="latent").frame,
        fit.marginal_effects("z", scale="log_odds").frame,
    ):
        np.testing.assert_allclose(actual["estimate"], left.coef["z"], rtol=1e-6)
        np.testing.assert_allclose(actual["std_error"], left.se["z"], rtol=1e-5)


def test_an_infinite_threshold_less_an_infinite_effect_is_no_number():
    with pytest.warns(SeparationWarning):
        fit = ordfit(
            "y ~ x", pd.DataFrame({"x": np.arange(12.0), "y": np.repeat([1, 2, 3], 4)})
        )
    assert np.isposinf(fit.params).all()
    with pytest.warns(DataWarning):
        means = fit.emmeans("x", at={"x": [0.0, 5.5, 11.0]})
    np.testing.assert_array_equal(means.frame["estimate"], [-np.inf, np.nan, np.inf])
    assert "the data do not determine the value" in " ".join(str(means).split())
    assert np.isneginf(fit.test("2|3 = 8 * x")["difference"].iloc[0])
    assert np.isnan(fit.test("2|3 = 7.5 * x")["difference"].iloc[0])


def test_scores_and_predictors_are_infinite(upward):
    """H of group c is infinite, and every threshold less H is minus infinity."""
    predicted = upward.predict(rated().tail(2), type="score", se=True)
    assert (
        np.isposinf(predicted["estimate"]).all() and predicted["std_error"].isna().all()
    )
    assert np.isneginf(
        upward.predict(rated().tail(2), type="linear_predictor").to_numpy()
    ).all()
    others = upward.predict(rated().head(2), type="score", se=True)
    assert np.isfinite(others["estimate"]).all()


def spread_out(first: str) -> pd.DataFrame:
    """Group B gave only the ends of the scale, so that its spread has no maximum."""
    counts = {"A": [7, 8, 5], "B": [9, 0, 11], "C": [5, 9, 4]}
    rows = [(g, y) for g, n in counts.items() for y in range(3) for _ in range(n[y])]
    data = pd.DataFrame(rows, columns=["g", "y"])
    data["x"] = np.random.default_rng(0).permutation(np.arange(len(data)) % 7)
    levels = sorted(counts, key=lambda level: level != first)
    return data.assign(g=pd.Categorical(data["g"], levels))


@pytest.fixture(scope="module", params=["A", "B"])
def diverged(request):
    """The fit with each reference level: the spread of B grows, or those of A and C
    vanish beside it.
    """
    with pytest.warns(ConvergenceWarning):
        return ordfit("y ~ g", spread_out(request.param), scale="~ g")


@pytest.fixture(scope="module")
def of_two_groups():
    data = spread_out("A")
    two = data[data["g"] != "B"].assign(g=lambda rows: rows["g"].astype(str))
    return ordfit("y ~ g", two, scale="~ g")


def test_latent_means_without_a_finite_unit_are_missing(diverged):
    """The mean of the spreads is their unit, and one of them has no finite ratio to the
    others.
    """
    with no_standard_errors():
        means = diverged.emmeans("g")
    assert (
        means.frame[["estimate", "std_error", "lower", "upper"]].isna().all(axis=None)
    )
    with no_standard_errors():
        compared = means.contrasts()
    numbers = compared.select_dtypes("number")
    assert numbers.isna().all(axis=None)
    tested = diverged.joint_tests()
    assert tested["df"].tolist() == [0] and tested["chisq"].isna().all()
    tables = [compared.attrs["notes"], tested.attrs["notes"]]
    for notes in (means.notes, *tables):
        assert any("units of the mean of the spreads" in note for note in notes)


def test_latent_means_of_spreads_with_finite_ratios_are_those_of_their_rows(
    diverged, of_two_groups
):
    chosen = {"g": ["A", "C"]}
    means = diverged.emmeans("g", at=chosen)
    expected = of_two_groups.emmeans("g")
    assert not any("units of the mean" in note for note in means.notes)
    for found, other in (
        (means.frame, expected.frame),
        (means.contrasts(), expected.contrasts()),
        (diverged.joint_tests(at=chosen), of_two_groups.joint_tests()),
    ):
        numbers = other.select_dtypes("number")
        np.testing.assert_allclose(found[numbers.columns], numbers, rtol=2e-3)


def test_trends_without_a_finite_unit_are_missing():
    with pytest.warns(ConvergenceWarning):
        fit = ordfit("y ~ g + x", spread_out("B"), scale="~ g")
    with no_standard_errors():
        slopes = fit.emtrends("g", "x")
    assert slopes.frame[["estimate", "std_error"]].isna().all(axis=None)
    assert any("units of the mean of the spreads" in note for note in slopes.notes)

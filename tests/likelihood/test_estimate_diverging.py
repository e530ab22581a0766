"""Likelihoods without a maximum: the search stops, says so, and names the parameters,
which have no standard errors.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from expected import no_maximum

from benchmarks.against_r.specs import KINDS
from ordstat import ConvergenceWarning, SeparationWarning, ordfit


def read(name: str) -> pd.DataFrame:
    return pd.read_csv(Path(__file__).parent / "diverging" / f"{name}.csv")


@pytest.mark.parametrize("seed", [1, 4, 6])
def test_a_scale_that_vanishes_is_named_although_the_search_converges(
    seed: int,
) -> None:
    """All rows of a group are of one level: without its scale effect, the limit is the
    likelihood of the others.
    """
    rng = np.random.default_rng(seed)
    n = 60
    data = pd.DataFrame(
        {
            "y": rng.integers(1, 4, n),
            "x": rng.normal(size=n),
            "g": rng.choice(list("ab"), n),
        }
    )
    data.loc[data["g"] == "b", "y"] = 2
    with no_maximum("scale.g[T.b]") as heard:
        fit = ordfit("y ~ x", data, scale="~ g")
    assert "the other estimates and their standard errors hold" in str(heard[0].message)
    others = ordfit("y ~ x", data[data["g"] == "a"])
    assert (
        len(heard) == 1
        and not fit.certificate.reached
        and not fit.glance()["converged"].item()
    )
    assert fit.loglik == pytest.approx(others.loglik, abs=1e-6)
    assert np.isnan(fit.se["scale.g[T.b]"]) and np.isfinite(fit.params["scale.g[T.b]"])
    pd.testing.assert_series_equal(
        fit.se.drop("scale.g[T.b]"), others.se, rtol=1e-4, check_names=False
    )


def test_a_scale_that_grows_without_end() -> None:
    """Group b has the shares 1/2 for any x: its score is best divided by nothing at
    all, as theta - H is not 0.
    """
    rng = np.random.default_rng(11)
    x = rng.normal(size=200)
    group = np.repeat(["a", "b"], 100)
    y = np.where(
        group == "a", x + rng.logistic(size=200) > 1.0, np.arange(200) % 2 == 0
    ).astype(int)
    with no_maximum("scale.group[T.b])"):
        fit = ordfit(
            "y ~ x", pd.DataFrame({"x": x, "group": group, "y": y}), scale="~ group"
        )
    first = group == "a"
    alone = ordfit("y ~ x", pd.DataFrame({"x": x[first], "y": y[first]}))
    assert fit.loglik == pytest.approx(alone.loglik + 100.0 * np.log(0.5), abs=1e-5)
    np.testing.assert_allclose(fit.se.dropna(), alone.se, rtol=1e-3)


@pytest.mark.parametrize(
    ("name", "formula", "options"),
    [
        (
            "scales_together",
            "y ~ f3 + f1:x1 + x1 + x1*x2",
            {"link": "cloglog", "scale": "~ f2"},
        ),
        ("artefact", "y ~ x1 + x1*x2", {"link": "cauchit", "scale": "~ x2"}),
        ("curved", "y ~ f1 + o1 + f1*f3", {"scale": "~ o1 + offset(kscale)"}),
    ],
)
@pytest.mark.filterwarnings("ignore::ordstat.exceptions.DataWarning")
@pytest.mark.filterwarnings("ignore::ordstat.exceptions.SeparationWarning")
def test_no_standard_errors_where_the_others_depend_on_scales_that_diverge(
    name, formula, options
) -> None:
    """R's clm ends there with "Model failed to converge" too."""
    with no_maximum():
        fit = ordfit(
            formula,
            read(name),
            contrasts={"f2": "sum"} if "f2" in options["scale"] else None,
            **options,
        )
    assert not fit.certificate.reached and fit.se.filter(like="scale").isna().any()


@pytest.mark.parametrize(
    ("name", "formula", "options", "term"),
    [
        (
            "given_up",
            "y ~ f2*o1 + f1:x1 + f1*x2 + x1",
            {"nominal": "~ x2", "weights": "wi"},
            "f1:x2",
        ),
        ("steep", "y ~ f2:x3 + f1*f3 + f1*x2 + offset(known)", {}, "f1:f3"),
    ],
)
@pytest.mark.filterwarnings("ignore::ordstat.exceptions.OrdstatWarning")
def test_no_statistic_of_a_model_without_a_maximum(
    name, formula, options, term
) -> None:
    """R's clm has "Cannot compute Newton step" or "degenerate Hessian" there."""
    contrasts = {"o1": "helmert"} if "o1" in formula else {"f1": "helmert"}
    tests = ordfit(formula, read(name), contrasts=contrasts, **options).scale_test(term)
    assert np.isnan(tests.loc[term, "lrt"])
    assert any(
        "no maximum of the likelihood was reached in the model of" in note
        for note in tests.attrs["notes"]
    )


@pytest.mark.parametrize("seed", [1, 4, 6])
def test_no_scale_test_of_a_group_in_one_level(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 60
    data = pd.DataFrame(
        {
            "y": rng.integers(1, 4, n),
            "x": rng.normal(size=n),
            "g": rng.choice(list("ab"), n),
        }
    )
    data.loc[data["g"] == "b", "y"] = 2
    tests = ordfit("y ~ x + g", data).scale_test()
    assert np.isnan(tests.loc["g", ["lrt", "p_value"]].to_numpy(dtype=float)).all()
    assert np.isfinite(tests.loc["x", "lrt"])
    assert "no maximum of the likelihood was reached in the model of g." in " ".join(
        tests.attrs["notes"]
    )


@pytest.mark.parametrize("level", [1, 3])
def test_a_group_in_one_end_level_has_an_infinite_location_and_no_scale(
    level: int,
) -> None:
    """R has no errors at all there ("parameters are not uniquely determined")."""
    rng = np.random.default_rng(3)
    n = 140
    data = pd.DataFrame(
        {"z": rng.normal(size=n), "b": (np.arange(n) >= 110).astype(float)}
    )
    data["y"] = np.searchsorted([-1.0, 1.0], 0.5 * data["z"] + rng.logistic(size=n)) + 1
    data.loc[data["b"] == 1, "y"] = level
    with (
        pytest.warns(SeparationWarning, match=r"\(b to [+-]infinity\)"),
        pytest.warns(ConvergenceWarning),
    ):
        fit = ordfit("y ~ z + b", data, scale="~ b")
    assert fit.se[["b", "scale.b"]].isna().all() and np.isfinite(fit.se["z"])
    with pytest.warns(SeparationWarning, match="b to [+-]infinity"):
        located = ordfit("y ~ z + b", data)
    assert fit.loglik == pytest.approx(located.loglik, abs=1e-5)
    np.testing.assert_allclose(fit.se["z"], located.se["z"], rtol=1e-4)


def test_a_scale_column_beyond_measure_is_told_how_to_be_fitted() -> None:
    """At year 2000 exp(-zeta z) has no room left for thresholds that a double can
    hold.
    """
    rng = np.random.default_rng(8)
    x = rng.normal(size=150)
    year = 2000.0 + rng.integers(-3, 4, size=150)
    y = np.digitize(
        x + np.exp(0.2 * (year - 2000.0)) * rng.logistic(size=150), [-1.0, 1.0]
    )
    data = pd.DataFrame({"x": x, "year": year, "y": y})
    with pytest.warns(
        ConvergenceWarning, match=r"centre it, as in scale='~ center\(year\)'"
    ):
        far = ordfit("y ~ x", data, scale="~ year")
    centred = ordfit("y ~ x", data, scale="~ center(year)")
    assert centred.certificate.reached and centred.loglik > far.loglik


def test_a_local_maximum_below_a_path_without_a_maximum_is_said_to_be_one() -> None:
    """From the model of equal scales the search rises further, and comes to no
    maximum.
    """
    spec = KINDS["cauchit-scale"](2, 85)
    data = spec.frame.dropna(subset=["f2", "x1", "x2", "o1", "f1"])
    with pytest.warns(
        ConvergenceWarning, match=r"higher \(by 2.38\) along a path without a maximum"
    ) as heard:
        fit = ordfit(spec.formula, data, "cauchit", scale=spec.scale)
    assert len(heard) == 1 and all(
        name in str(heard[0].message) for name in fit.params.filter(like="scale").index
    )
    equal = ordfit(spec.formula, data, "cauchit")
    with no_maximum():
        further = ordfit(
            spec.formula,
            data,
            "cauchit",
            scale=spec.scale,
            start=(*equal.params, 0.0, 0.0, 0.0),
        )
    assert dict(fit.certificate.details)["log-likelihood elsewhere, higher by"] > 2.38
    assert further.loglik > fit.loglik + 2.379
    assert "a local maximum in" in " ".join(fit.drop1().attrs["notes"])
    assert "a local maximum in" in " ".join(equal.anova(fit).attrs["notes"])
    for model, told in ((fit, True), (equal, False)):
        limits = model.confint(0, type="profile")
        assert told == ("local maximum" in " ".join(limits.attrs.get("notes", ())))
    assert "a local maximum in" not in " ".join(equal.drop1().attrs.get("notes", ()))

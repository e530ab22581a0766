"""Tests of terms: against refits with formulas, other codings, brute force; and
comparisons that make no sense.
"""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from expected import no_maximum, rows_left_out
from reference_cases import load_data

from ordstat import ordfit, pool
from ordstat.exceptions import (
    ConvergenceWarning,
    DataError,
    OptionError,
    SeparationWarning,
)
from ordstat.inference.single_terms import coded_anew


@pytest.fixture(scope="module")
def sim():
    return load_data("sim500")


@pytest.fixture(scope="module")
def crossed(sim):
    return ordfit("y ~ x1 * f + g", data=sim)


@pytest.mark.parametrize("coding", ["sum", "helmert", "poly"])
@pytest.mark.parametrize("type", ["I", "II", "III", "baseline"])
def test_codings_of_factors_do_not_matter(sim, crossed, type, coding):
    other = ordfit("y ~ x1 * f + g", data=sim, contrasts={"f": coding, "g": coding})
    pd.testing.assert_frame_equal(
        other.anova(type=type), crossed.anova(type=type), rtol=1e-6
    )


@pytest.mark.parametrize(
    ("type", "coding"), [("III", "sum"), ("baseline", "treatment")]
)
def test_types_that_are_coefficients_of_a_coding(sim, crossed, type, coding):
    """Wald tests of all coefficients of a term under that coding."""
    coded = ordfit("y ~ x1 * f + g", data=sim, contrasts={"f": coding, "g": coding})
    table = crossed.anova(type=type)
    for term, columns in coded.design.terms.items():
        names = coded.design.names[columns]
        joint = coded.test(", ".join(f"{name} = 0" for name in names)).iloc[-1]
        assert table.loc[term, "chisq"] == pytest.approx(joint["chisq"], rel=1e-8)
        assert table.loc[term, "df"] == joint["df"]


def test_sequential_contrasts_by_regression(sim):
    """Type I: each column's part outside the columns before it, by least squares."""
    fit = ordfit("y ~ x1 + x2 + f", data=sim)
    X = fit.design.sample.X
    V = fit.vcov().to_numpy()[4:, 4:]
    beta = fit.coef.to_numpy()
    before = np.ones((500, 1))
    for term, columns in fit.design.terms.items():
        own = X[:, columns]
        residual = own - before @ np.linalg.lstsq(before, own, rcond=None)[0]
        # what the residuals see of X b; constants and earlier columns vanish
        L = residual.T @ X
        expected = (L @ beta) @ np.linalg.solve(L @ V @ L.T, L @ beta)
        assert fit.anova(type="I").loc[term, "chisq"] == pytest.approx(
            expected, rel=1e-8
        )
        before = np.hstack([before, own])


CONTAINED = {
    "y ~ x1 * f": {"x1": ["x1:f"]},
    "y ~ x1 * x2 + f": {},
    "y ~ x1 * f * g": {
        "x1": ["x1:f", "x1:g", "x1:f:g"],
        "f": ["f:g"],
        "g": ["f:g"],
        "x1:f": ["x1:f:g"],
        "x1:g": ["x1:f:g"],
    },
}


@pytest.mark.parametrize("formula", CONTAINED)
@pytest.mark.parametrize("options", [{}, {"method": "acat"}, {"link": "probit"}])
def test_type_ii_contains_as_sas_does(sim, formula, options):
    """Each term's part outside the terms that do not contain it, by least squares:
    x:f contains x, but not f; x:z contains neither.
    """
    fit = ordfit(formula, data=sim, **options)
    X = fit.design.sample.X
    beta = fit.coef.to_numpy()
    V = fit.vcov().to_numpy()[-len(beta) :, -len(beta) :]
    table = fit.anova(type="II")
    for term, columns in fit.design.terms.items():
        larger = CONTAINED[formula].get(term, [])
        others = [
            X[:, places]
            for name, places in fit.design.terms.items()
            if name not in (term, *larger)
        ]
        others = np.hstack([np.ones((500, 1)), *others])
        own = X[:, columns]
        residual = own - others @ np.linalg.lstsq(others, own, rcond=None)[0]
        L = residual.T @ X
        expected = (L @ beta) @ np.linalg.solve(L @ V @ L.T, L @ beta)
        assert table.loc[term, "chisq"] == pytest.approx(expected, rel=1e-7)


@pytest.mark.filterwarnings("ignore:all fits are equal")
def test_an_empty_table_of_location_terms_says_what_tests_the_others(sim):
    for options in ({"method": "multinomial"}, {"nominal": "~ x1 + f"}):
        formula = "y ~ x1 + f" if "method" in options else "y ~ 1"
        fit = ordfit(formula, sim, **options)
        for table in (fit.anova(), pool([fit, fit]).anova()):
            assert table.empty
            assert (
                "test('x1') tests those of a term together" in table.attrs["notes"][-1]
            )
        assert np.isfinite(fit.test("x1").loc["joint", "chisq"])
    assert ordfit("y ~ 1", sim).anova().attrs["notes"] == []


def _spread_without_end():
    """Group B gave only the ends of the scale: its shift and spread grow together."""
    counts = {"A": [6, 8, 6], "B": [9, 0, 11]}
    rows = [(g, y) for g, n in counts.items() for y in range(3) for _ in range(n[y])]
    return pd.DataFrame(rows, columns=["g", "y"]), counts


def test_likelihood_ratios_of_fits_that_diverge_say_so():
    """The statistic is that of the limit: with the spread it is the saturated
    likelihood.
    """
    data, counts = _spread_without_end()
    with pytest.warns(ConvergenceWarning):
        larger = ordfit("y ~ g", data, scale="~ g")
    table = larger.anova(ordfit("y ~ g", data))
    saturated = sum(n * np.log(n / 20) for row in counts.values() for n in row if n)
    expected = 2.0 * (saturated - ordfit("y ~ g", data).loglik)
    assert table["lr_stat"].iloc[1] == pytest.approx(expected, rel=1e-6)
    assert "infinite estimates" in str(table.attrs["notes"])


def test_likelihood_ratios_need_maxima():
    """Neither a search that stopped early nor one without a maximum has a test."""
    sim500 = load_data("sim500")
    with pytest.warns(ConvergenceWarning):
        early = ordfit("y ~ x1 + f", sim500, max_iter=1)
    data = sim500.assign(y=sim500["y"].where(sim500["f"] != "hi", sim500["y"].max()))
    with pytest.warns(ConvergenceWarning):
        lost = ordfit("y ~ x1 + f", data, "stereotype")
    with pytest.warns(SeparationWarning):
        wider = ordfit("y ~ x1 + f", data, "multinomial")
    for fit, other in (
        (early, ordfit("y ~ x1", sim500)),
        (lost, wider),
        (lost, ordfit("y ~ x1", data, "stereotype")),
    ):
        table = fit.anova(other)
        assert table[["lr_stat", "p_value"]].isna().all(axis=None)
        assert "no maximum of the likelihood was reached" in str(table.attrs["notes"])


def test_anova_uses_the_covariance_of_the_fit(sim):
    robust = ordfit("y ~ x1 + x2", data=sim, vcov="HC1").anova(type="II")
    assert robust.loc["x1", "chisq"] == pytest.approx(
        ordfit("y ~ x1 + x2", data=sim, vcov="HC1").z_values["x1"] ** 2, rel=1e-9
    )


@pytest.mark.parametrize("type", ["I", "II", "III", "baseline"])
def test_weights_are_repeated_rows(sim, type):
    weights = np.arange(500) % 3
    repeated = sim.loc[np.repeat(np.arange(500), weights)].reset_index(drop=True)
    one = ordfit("y ~ x1 * f", data=sim, weights=weights)
    other = ordfit("y ~ x1 * f", data=repeated)
    pd.testing.assert_frame_equal(
        one.anova(type=type), other.anova(type=type), rtol=1e-6
    )


@pytest.mark.filterwarnings("ignore::ordstat.exceptions.DataWarning")
@pytest.mark.parametrize("type", ["I", "II", "III", "baseline"])
def test_an_interaction_without_its_main_effects_is_a_factor_of_cells(sim, type):
    cells = sim.assign(cell=sim["f"].astype(str) + sim["g"].astype(str))
    one = ordfit("y ~ x1 + f:g", data=sim)
    other = ordfit("y ~ x1 + cell", data=cells)
    assert one.anova(type=type).to_numpy() == pytest.approx(
        other.anova(type=type).to_numpy(), rel=1e-6
    )


@pytest.mark.filterwarnings("ignore::ordstat.exceptions.DataWarning")
def test_an_empty_cell_leaves_its_average_unknown():
    fit = ordfit("y ~ f * e", data=load_data("simrd"))
    table = fit.anova(type="III")
    assert (
        table.loc[["f", "e"], "chisq"].isna().all()
        and fit.anova(type="II")["chisq"].notna().all()
    )
    assert table.loc["f:e"].to_dict() == pytest.approx(
        fit.anova(type="I").loc["f:e"].to_dict(), rel=1e-9
    )
    assert fit.anova(type="II").loc["f:e", "df"] == int(
        (~fit.fit.aliased[-sum(":" in n for n in fit.design.names) :]).sum()
    )


def test_single_terms_are_refits(crossed):
    table = crossed.drop1(k=np.log(500))
    assert table.index.tolist() == ["<none>", "g", "x1:f"]
    for term in ("g", "x1:f"):
        smaller = crossed.update(f"~ . - {term}")
        assert table.loc[term, "lrt"] == pytest.approx(
            2 * (crossed.loglik - smaller.loglik), abs=1e-9
        )
        assert table.loc[term, "aic"] == pytest.approx(smaller.bic, abs=1e-8)
        assert table.loc[term, "df"] == crossed.edf - smaller.edf
    assert "p_value" not in crossed.drop1(test=None) and len(crossed.drop1("x1")) == 2
    added = crossed.add1(["f:g", "x2", "x2:g"])
    assert added.index.tolist() == ["<none>", "x2", "f:g"]  # x2:g only after x2
    wider = crossed.update("~ . + f:g")
    assert added.loc["f:g", "lrt"] == pytest.approx(
        2 * (wider.loglik - crossed.loglik), abs=1e-9
    )


@pytest.mark.parametrize(
    "test", ["drop1", "nominal_test", "scale_test", "brant", "step", "add1"]
)
def test_starting_values_are_for_the_fit_alone(sim, test):
    """Other models have other parameters."""
    arguments = {"add1": ("~ . + x3",), "step": ("~ . + x3",)}.get(test, ())
    fit = ordfit("y ~ x1 + x2", data=sim)
    started = ordfit("y ~ x1 + x2", data=sim, start=0.9 * fit.params.to_numpy())
    one, other = (getattr(r, test)(*arguments) for r in (started, fit))
    if test == "step":
        one = one.trace
        other = other.trace
    pd.testing.assert_frame_equal(one, other, atol=1e-7)


def test_step_finds_the_best_neighbour_everywhere(sim):
    start = ordfit("y ~ x1 + x2 + x3 + x4 + f", data=sim)
    actual = start.step()
    assert actual.trace["aic"].is_monotonic_decreasing
    assert actual.trace["aic"].iloc[-1] == pytest.approx(actual.fit.aic)
    terms = list(actual.fit.design.terms)
    neighbours = [
        ordfit(f"y ~ {' + '.join(kept)}", data=sim)
        for kept in combinations(terms, len(terms) - 1)
    ]
    assert all(fit.aic >= actual.fit.aic for fit in neighbours)
    up = ordfit("y ~ 1", data=sim).step("~ x1 + x2 + x3 + x4 + f")
    everything = [
        ordfit(f"y ~ {' + '.join(chosen)}", data=sim).aic
        for size in range(1, 6)
        for chosen in combinations(["x1", "x2", "x3", "x4", "f"], size)
    ]
    assert up.fit.aic == pytest.approx(
        min(everything)
    ) and actual.fit.aic == pytest.approx(min(everything))


def test_step_within_limits(sim):
    start = ordfit("y ~ x1 + x4", data=sim)
    actual = start.step({"lower": "~ x4", "upper": "~ x1 + x2 + x4"})
    assert set(actual.fit.design.terms) == {"x1", "x2", "x4"}
    assert actual.trace["change"].tolist() == ["", "+ x2"]
    forward = ordfit("y ~ x4", data=sim).step(
        {"lower": "~ x4", "upper": "~ x1 + x4"}, k=np.log(500)
    )
    assert forward.trace["change"].tolist() == ["", "+ x1"]
    assert "+ x1" in repr(forward)


def test_step_keeps_the_contrasts_of_factors_that_come_back(sim):
    coded = {"f": "sum", "g": "helmert"}
    full = ordfit("y ~ x1 + g + f", data=sim, contrasts=coded)
    without = ordfit("y ~ x1 + g", data=sim, contrasts=coded)
    assert without.update("~ . + f").params.to_dict() == pytest.approx(
        full.params.to_dict(), abs=1e-9
    )
    assert full.step(k=1e4).fit.design.names == ()
    again = full.update("~ x1").update("~ . + g + f")
    assert again.params.to_dict() == pytest.approx(full.params.to_dict(), abs=1e-9)


def test_models_of_other_rows_are_refused(sim):
    fit = ordfit("y ~ x1", data=sim)
    holes = sim.assign(x2=sim["x2"].where(sim.index > 3))
    with rows_left_out():
        fewer = ordfit("y ~ x1 + x2", data=holes)
    for other, match in (
        (fewer, "500 in 'y ~ x1' and 496 in"),
        (ordfit("y ~ x1", data=sim.iloc[::-1]), "with another index"),
        (
            ordfit("y ~ x1", data=sim.assign(y=sim["y"].iloc[::-1].array)),
            "same response",
        ),
        (ordfit("y ~ x1", data=sim, weights=np.full(500, 2.0)), "same weights"),
    ):
        with pytest.raises(DataError, match=match):
            fit.anova(other)
    with pytest.raises(
        OptionError, match="compares likelihood fits; got one of type MarginResults"
    ):
        fit.anova(ordfit("y ~ x1", data=sim.head(60), method="redsvm", subset=None))
    with pytest.raises(DataError, match="'x2' is missing in some of the 500 rows"):
        ordfit("y ~ x1", data=holes).add1("x2")
    with pytest.raises(DataError, match="'x2' is missing in some of the 500 rows"):
        fewer.step(k=1e4)


def test_models_that_are_not_nested_have_no_p_value(sim):
    one = ordfit("y ~ x1", data=sim)
    other = ordfit("y ~ x4 + x3", data=sim)
    table = one.anova(other)
    assert table["lr_stat"].iloc[1] < 0 and np.isnan(table["p_value"].iloc[1])
    assert "not nested" in table.attrs["notes"][0]
    strict = ordfit("y ~ x1 + x2 + x3 + x4", data=sim, threshold="equidistant")
    assert strict.edf > one.edf and "not nested" in one.anova(strict).attrs["notes"][0]
    assert strict.anova(strict.update(threshold="flexible"))["p_value"].notna().iloc[1]
    same = one.anova(ordfit("y ~ x2", data=sim))
    assert same["df"].iloc[1] == 0 and np.isnan(same["p_value"].iloc[1])


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda r: r.anova(type="IV"), r"'I', 'II', 'III', 'baseline'; got 'IV'"),
        (lambda r: r.drop1("x9"), "got 'x9'"),
        (lambda r: r.drop1(test="F"), "one of 'LR', 'Chisq', None"),
        (lambda r: r.step({"most": "~ x1"}), "'lower' and 'upper'"),
        (lambda r: r.nominal_test("x9"), "got 'x9'"),
    ],
)
def test_what_cannot_be_asked(crossed, call, match):
    with pytest.raises(OptionError, match=match):
        call(crossed)


def test_a_term_in_no_other_is_tested_by_its_own_columns() -> None:
    """Where what the formula spans depends on the coding, another coding is another
    model: its tests are not asked.
    """
    rng = np.random.default_rng(1)
    x1 = rng.normal(size=150)
    x2 = 1.0 + rng.normal(size=150)
    f = rng.choice(list("ab"), 150)
    data = pd.DataFrame({"x1": x1, "x2": x2, "f": f})
    data["y"] = np.digitize(data["x1"] + rng.logistic(size=150), [-1.0, 1.0])
    fit = ordfit("y ~ x1:x2 + f:x1 + f", data)
    own = fit.test("x1:x2 = 0")["chisq"].iloc[0]
    for kind in ("III", "baseline"):
        assert fit.anova(type=kind).loc["x1:x2", "chisq"] == pytest.approx(
            own, rel=1e-10
        )


def test_columns_coded_anew_are_zero_where_they_are():
    """Rounding in a scale column would stand in the exponent of what grows without
    end.
    """
    rng = np.random.default_rng(4)
    data = pd.DataFrame(
        {"x": rng.normal(size=60), "f": pd.Categorical(rng.choice(list("abc"), 60))}
    )
    data["y"] = rng.integers(0, 3, 60)
    fit = ordfit("y ~ f*x", data, contrasts={"f": "helmert"})
    scale = coded_anew(fit, "scale", ["f:x"], "f:x").rows.scale
    expected = pd.get_dummies(data["f"]).to_numpy() * data["x"].to_numpy()[:, None]
    np.testing.assert_array_equal(scale == 0.0, expected == 0.0)
    np.testing.assert_allclose(scale, expected, rtol=1e-12)


@pytest.mark.filterwarnings("ignore::ordstat.exceptions.OrdstatWarning")
def test_more_columns_than_rows() -> None:
    """No term can be tested, and the table says why in a line or two, however many
    terms there are.
    """
    rng = np.random.default_rng(0)
    data = pd.DataFrame(
        rng.normal(size=(20, 30)), columns=[f"x{i}" for i in range(30)]
    ).assign(y=np.arange(20) % 3)
    fit = ordfit("y ~ " + " + ".join(data.columns[:-1]), data)
    table = fit.drop1()
    assert (table["df"].iloc[1:] == 0.0).all() and table["p_value"].isna().all()
    assert "no test of x0, x1" in str(
        table
    ) and "other columns take over the effect" in " ".join(str(table).split())
    assert "no test of x0: other columns" in " ".join(str(fit.drop1("x0")).split())
    wald = fit.anova()
    assert wald["p_value"].isna().all() and len(wald.attrs["notes"]) == 1
    assert not any(
        "no test" in note for note in fit.update("y ~ x0 + x1").drop1().attrs["notes"]
    )


def test_effects_that_shrink_along_themselves_have_no_joint_test():
    """Scores of group q run against those of r, so that its spread is infinite beside
    that of r, and in its units all effects are 0: they had standard errors, and what is
    left beside their own direction a chi-squared of 0 and a p-value of 1.
    """
    rng = np.random.default_rng(1)
    x, z = rng.normal(size=(2, 240))
    g = np.tile(["r", "q"], 120)
    sign = np.where(g == "r", 1.0, -1.0)
    latent = sign * (0.8 * x - 0.6 * z) + rng.logistic(size=240)
    data = pd.DataFrame({"x": x, "z": z, "g": g, "y": (latent > 0.0).astype(int)})
    with no_maximum():
        fit = ordfit("y ~ x + z", data, scale="~ g")
    joint = fit.test("x = 0, z = 0")
    assert joint.loc["joint", "df"] == 0 and np.isnan(joint.loc["joint", "p_value"])
    assert fit.se.isna().all() and fit.confint().isna().all(axis=None)
    assert fit.anova()["p_value"].isna().all()
    # in units of the spread of r they have their tests
    data["g"] = pd.Categorical(g, categories=["r", "q"])
    with no_maximum():
        other = ordfit("y ~ x + z", data, scale="~ g")
    alone = ordfit("y ~ x + z", data[g == "r"])
    for one in (other, alone):
        assert one.test("x = 0, z = 0").loc["joint", "df"] == 2
    np.testing.assert_allclose(
        other.test("x = 0, z = 0").loc["joint", "chisq"],
        alone.test("x = 0, z = 0").loc["joint", "chisq"],
        rtol=1e-4,
    )

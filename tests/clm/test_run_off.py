"""Likelihoods that rise without end: followed as far as R goes and further, and found where a plain search runs off."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mpmath as mp
import numpy as np
import pandas as pd
import pytest

from ordstat import DataWarning, SeparationWarning, ordfit
from ordstat.methods.clm import CumulativeLink
from ordstat.model.likelihood.cumulative import Cumulative
from ordstat.model.likelihood.links import LINKS
from ordstat.model.sample import Rows, Sample
from ordstat.solvers.likelihood.explore import Point, stay
from ordstat.solvers.likelihood.far.climb import climb
from ordstat.solvers.likelihood.far.dense_rows import DenseRows
from ordstat.solvers.likelihood.plain_search import plain_search
from ordstat.solvers.likelihood.problem import Problem

#: Formula and options, and the log-likelihood at which R's clm (ordinal 2022.11-16, maxIter = 200, gradTol = 1e-9)
#: stops; of the last three with the ends of the line at 1e12 in its source, not at 1e5 where a cauchit is 3e-6 from 1.
CASES: dict[str, tuple[str, dict[str, Any], float]] = {
    "plain_maximum": (
        "y ~ f1:x1 + x1 + f2 + x1*x2",
        {"link": "cauchit", "scale": "~ o1", "weights": "wi"},
        -139.475256,
    ),
    "artefact": ("y ~ x1 + x1*x2", {"link": "cauchit", "scale": "~ x2"}, -59.96968697),
    "beyond": ("y ~ I(x1**2) + o1 + f1*f3", {"link": "loglog", "scale": "~ f1*x1 + offset(kscale)"}, -23.92840006),
    "overflow": (
        "y ~ I(x1**2) + f1*f3 + x1*x2 + f2*o1",
        {"link": "cauchit", "scale": "~ x2", "weights": "wi"},
        -0.00016091,
    ),
    "curved": ("y ~ f1 + o1 + f1*f3", {"link": "logit", "scale": "~ o1 + offset(kscale)"}, -31.42081497),
    "both": ("y ~ f1*f3 + f3", {"link": "cauchit", "scale": "~ f2"}, -57.50021801),
    "centred": (
        "y ~ f1:x1 + f1:f2 + I(x1**2) + x1 + offset(known)",
        {"link": "cauchit", "scale": "~ f1"},
        -11.52421158,
    ),
    "two_ways": (
        "y ~ x2 + x1 + offset(known)",
        {"link": "cauchit", "nominal": "~ f2", "scale": "~ x1 + f1", "weights": "wi", "contrasts": {"f1": "helmert"}},
        -519.7166238,
    ),
    "cancelling": (
        "y ~ x3 + f1 + f2:x1 + offset(known)",
        {"link": "cauchit", "scale": "~ f1*x1", "weights": "wf", "contrasts": {"f1": "sum", "f2": "sum"}},
        -17.71993796,
    ),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore::ordstat.exceptions.OrdstatWarning")
def test_not_below_r(name: str) -> None:
    formula, options, loglik = CASES[name]
    data = pd.read_csv(Path(__file__).parent / "run_off" / f"{name}.csv")
    contrasts = {"o1": "poly"} if "o1" in data else None
    found = ordfit(formula, data, **{"contrasts": contrasts, **options})
    assert found.loglik >= loglik - 1e-6
    assert found.certificate.reached or name != "plain_maximum"


@pytest.mark.filterwarnings("ignore::ordstat.exceptions.OrdstatWarning")
def test_the_log_likelihood_of_terms_that_cancel_is_right_to_seven_digits() -> None:
    """Threshold and effect differ in their seventh digit, which is stretched by 1e15: in 50 digits from the estimates.

    The coefficients of sums are 1 and -1 here, those of the interaction of levels with x1 likewise.
    """
    formula, options, _ = CASES["cancelling"]
    data = pd.read_csv(Path(__file__).parent / "run_off" / "cancelling.csv")
    fit = ordfit(formula, data, **options)
    assert np.isinf(fit.params["scale.f1[S.a]"])  # as the summary has it; the search stopped somewhere
    b = {name: mp.mpf(float(value)) for name, value in zip(fit.params.index, fit.fit.coefficients, strict=True)}
    total = mp.mpf(0)
    with mp.workdps(50):
        for row in data.itertuples():
            f1, x1 = (1 if row.f1 == "a" else -1), mp.mpf(row.x1)
            location = b["x3"] * mp.mpf(row.x3) + b["f1[S.a]"] * f1 + b[f"f2[{row.f2}]:x1"] * x1 + mp.mpf(row.known)
            log_scale = b["scale.f1[S.a]"] * f1 + b["scale.x1"] * x1 + b["scale.f1[S.a]:x1"] * f1 * x1
            above = mp.atan((location - b["1|2"]) / mp.exp(log_scale)) / mp.pi
            total += mp.mpf(row.wf) * mp.log(mp.mpf("0.5") + (above if row.y == 2 else -above))
    assert fit.loglik == pytest.approx(float(total), abs=1e-7)


@pytest.mark.filterwarnings("ignore::ordstat.exceptions.OrdstatWarning")
def test_a_plain_search_goes_as_r_does() -> None:
    """The parameters that clm(..., control = list(trace = 1)) prints, ends of the line at 1e12."""
    problem, _ = problem_of("artefact")
    start = problem.from_user(np.array([0.1036, 0.02209, -0.01474, 0.006005, 0.0]))
    printed = {
        1: [0.08042, -0.02227, -0.06157, 0.04222, 0.1523],
        2: [-0.1726, -0.2634, -0.3693, 0.2657, 0.8415],
        3: [-0.1363, -0.2396, -0.4266, 0.2626, 0.5488],
        4: [-0.2195, -0.3036, -0.6185, 0.3522, 0.7192],
        9: [-2.831, -5.537, -9.044, 8.786, 2.990],
    }
    for steps, expected in printed.items():
        alpha, rest = problem.user_scale().coefficients(*plain_search(problem, start, steps))
        np.testing.assert_allclose([*alpha[0], *rest], expected, rtol=0.02)  # columns here have 4 decimals


def problem_of(name: str) -> tuple[Problem, Sample]:
    formula, options, _ = CASES[name]
    data = pd.read_csv(Path(__file__).parent / "run_off" / f"{name}.csv")
    sample = ordfit(formula, data, options["link"], scale=options["scale"]).design.sample
    return Problem.of(sample, Cumulative(LINKS[options["link"]])), sample


def random_problem(link: str, threshold: str) -> tuple[Problem, Point]:
    """Nominal and scale effects, offsets and weights, and a point."""
    rng = np.random.default_rng(4)
    x, w, z = rng.normal(size=(120, 2)), rng.normal(size=(120, 1)), rng.normal(size=(120, 2))
    offset, scale_offset = rng.normal(size=120), 0.3 * rng.normal(size=120)
    rows = Rows(X=x, nominal=w, scale=z, offset=offset, scale_offset=scale_offset)
    y = np.digitize(x[:, 0] + rng.logistic(size=120), [-1.0, 0.0, 1.0])
    sample = Sample(rows=rows, y=y, n_levels=4, weights=rng.uniform(0.5, 2.0, size=120))
    problem = Problem.of(sample, Cumulative(LINKS[link]), None, threshold)
    alpha, rest = problem.start()
    return problem, (alpha + 0.01 * rng.normal(size=alpha.shape), rest + 0.2 * rng.normal(size=rest.shape))


@pytest.mark.parametrize("threshold", ["flexible", "symmetric", "equidistant"])
@pytest.mark.parametrize("link", ["logit", "cloglog", "cauchit"])
def test_dense_rows_have_the_same_derivatives(link: str, threshold: str) -> None:
    problem, (alpha, rest) = random_problem(link, threshold)
    at, rows = problem.objective().evaluate(alpha, rest), DenseRows.of(problem)
    eta, zeta = np.append(alpha.reshape(-1), rest[:-2]), rest[-2:]
    ends = rows.ends(eta, zeta)
    assert at is not None and ends is not None
    found = rows.derivatives(ends)
    assert found.loglik == pytest.approx(at.loglik, abs=1e-9)
    np.testing.assert_allclose(found.score, np.append(at.score_alpha.reshape(-1), at.score_rest), atol=1e-9)
    np.testing.assert_allclose(found.hessian, at.information.dense(), atol=1e-8)


def test_other_coordinates_are_the_same_rows() -> None:
    problem, (alpha, rest) = random_problem("logit", "flexible")
    rows, eta = DenseRows.of(problem), np.append(alpha.reshape(-1), rest[:-2])
    ends = rows.ends(eta, rest[-2:])
    assert ends is not None
    fresh = rows.relative(ends)
    assert fresh is not None
    other, R = fresh
    assert other.loglik(R @ eta, rest[-2:]) == pytest.approx(rows.loglik(eta, rest[-2:]), abs=1e-9)
    np.testing.assert_allclose(rows.matching(other, R @ eta, ends), eta, rtol=1e-9)


def test_second_derivatives_along_a_line() -> None:
    """Those of the ends by differences."""
    problem, (alpha, rest) = random_problem("logit", "flexible")
    rows, rng, step = DenseRows.of(problem), np.random.default_rng(1), 1e-4
    eta, zeta = np.append(alpha.reshape(-1), rest[:-2]), rest[-2:]
    d_eta, d_zeta = 0.01 * rng.normal(size=eta.size), rng.normal(size=2)
    low, at, high = (rows.ends(eta + t * d_eta, zeta + t * d_zeta) for t in (-step, 0.0, step))
    assert low is not None and at is not None and high is not None
    main, width = rows.bend(at, d_eta, d_zeta)
    np.testing.assert_allclose(main, (low.main - 2.0 * at.main + high.main) / step**2, atol=1e-5)
    np.testing.assert_allclose(width, (low.width - 2.0 * at.width + high.width) / step**2, atol=1e-5)


def test_a_climb_comes_close_to_the_supremum() -> None:
    """x has no effect in group a, so the common effect vanishes as the scale of b shrinks: two fits, one a group."""
    rng = np.random.default_rng(5)
    half, x = rng.normal(size=40), rng.normal(size=90)
    group, column = np.repeat([0.0, 1.0], [80, 90]), np.concatenate([half, half, x])
    y = np.concatenate([np.zeros(40), np.ones(40), x + rng.logistic(size=90) > 0.5]).astype(np.intp)
    sample = Sample(rows=Rows(X=np.column_stack([group, column]), scale=group[:, None]), y=y, n_levels=2)
    problem = Problem.of(sample, Cumulative(LINKS["logit"]))
    start = problem.start()
    found = climb(problem, start, stay(problem, start).loglik)
    apart = [
        CumulativeLink().fit(Sample(rows=Rows(X=column[part, None]), y=y[part], n_levels=2), rng).loglik
        for part in (group == 0.0, group == 1.0)
    ]
    assert found is not None and stay(problem, found).loglik == pytest.approx(sum(apart), abs=1e-6)


def test_no_climb_above_a_maximum() -> None:
    problem, _ = random_problem("logit", "flexible")
    fit = CumulativeLink().fit(problem.sample, np.random.default_rng(0))
    point = problem.from_user(fit.coefficients)
    higher = climb(problem, point, fit.loglik)
    assert higher is None or stay(problem, higher).loglik == pytest.approx(fit.loglik, abs=1e-9)


@pytest.mark.parametrize("seed", [1, 4, 6])
def test_a_scale_that_vanishes_is_named_although_the_search_converges(seed: int) -> None:
    """All rows of a group are of one level: without its scale effect, the limit is the likelihood of the others."""
    rng, n = np.random.default_rng(seed), 60
    data = pd.DataFrame({"y": rng.integers(1, 4, n), "x": rng.normal(size=n), "g": rng.choice(list("ab"), n)})
    data.loc[data["g"] == "b", "y"] = 2
    with pytest.warns(SeparationWarning, match="scale.g\\[T.b\\] to -infinity.*the other estimates .* hold"):
        fit = ordfit("y ~ x", data, scale="~ g")
    others = ordfit("y ~ x", data[data["g"] == "a"])
    assert fit.loglik == pytest.approx(others.loglik, abs=1e-9)
    assert np.isnan(fit.se["scale.g[T.b]"])
    finite = fit.se.drop("scale.g[T.b]")
    pd.testing.assert_series_equal(finite, others.se, rtol=1e-6, check_names=False)


def test_no_standard_errors_where_the_others_depend_on_a_scale_that_vanishes() -> None:
    """Scores of the group end between the thresholds: these are no maximum in the interior."""
    rng, n = np.random.default_rng(0), 60
    data = pd.DataFrame({"y": rng.integers(1, 4, n), "x": rng.normal(size=n), "g": rng.choice(list("ab"), n)})
    data.loc[data["g"] == "b", "y"] = 2
    with pytest.warns(SeparationWarning, match="nor have the others"):
        fit = ordfit("y ~ x", data, scale="~ g")
    assert fit.se.isna().all()


def test_no_maximum_where_rounding_hides_what_is_further_out() -> None:
    """R's clm stops there too: "Model failed to converge with max|grad| = 6.57262e-09", Hessian singular."""
    data = pd.read_csv(Path(__file__).parent / "run_off" / "edge.csv")
    data["o1"] = pd.Categorical(data["o1"], categories=["p", "q", "r"], ordered=True)
    with (
        pytest.warns(DataWarning, match="not whole"),
        pytest.warns(SeparationWarning, match=r"scale.o1.L to \+infinity.*no standard errors, nor have the others"),
    ):
        fit = ordfit(
            "y ~ f1*x2 + x1*x2", data, "cloglog", scale="~ o1 + offset(kscale)", weights="wf", contrasts={"o1": "poly"}
        )
    assert fit.loglik >= -22.66819758 and fit.se.isna().all()


def test_scale_effects_that_run_off_together_take_the_others_along() -> None:
    """The scale of one group vanishes; beside the sum of the log scales, 0, so that those of the others grow.

    R's clm ends there with "Model failed to converge ... iteration limit reached".
    """
    data = pd.read_csv(Path(__file__).parent / "run_off" / "scales_together.csv")
    infinite = r"scale.f2\[S.a\] to -infinity, scale.f2\[S.b\] to \+infinity.*no standard errors, nor have the others"
    with pytest.warns(SeparationWarning, match=infinite):
        fit = ordfit("y ~ f3 + f1:x1 + x1 + x1*x2", data, "cloglog", scale="~ f2", contrasts={"f2": "sum"})
    assert fit.loglik == pytest.approx(-19.25121195, abs=1e-7) and fit.se.isna().all()


def test_no_standard_errors_where_the_search_lost_its_digits_on_the_way_to_infinity() -> None:
    """Effects of 1e11 cancel to some hundreds; R's clm ends without convergence too, its Hessian singular.

    It gives -13.27755446; at its estimates the log-likelihood is -13.26029928, in 60 digits.
    """
    data = pd.read_csv(Path(__file__).parent / "run_off" / "without_digits.csv")
    with (
        pytest.warns(DataWarning, match="aliased"),
        pytest.warns(SeparationWarning, match="no standard errors, nor have the others"),
    ):
        fit = ordfit("y ~ f1:f2 + f1:f3", data, "cauchit", scale="~ x2")
    assert fit.loglik >= -13.26029928 and fit.se.isna().all()


@pytest.mark.filterwarnings("ignore::ordstat.exceptions.OrdstatWarning")
def test_no_statistic_of_a_model_whose_search_was_given_up_on_the_way_to_infinity() -> None:
    """R's clm ends there with "Cannot compute Newton step at iteration 35"."""
    data = pd.read_csv(Path(__file__).parent / "run_off" / "given_up.csv")
    fit = ordfit("y ~ f2*o1 + f1:x1 + f1*x2 + x1", data, nominal="~ x2", weights="wi", contrasts={"o1": "helmert"})
    found = fit.scale_test("f1:x2")
    assert np.isnan(found.loc["f1:x2", "lrt"])
    assert any(
        "no maximum of the likelihood was reached in the model of f1:x2" in note for note in found.attrs["notes"]
    )


@pytest.mark.filterwarnings("ignore::ordstat.exceptions.OrdstatWarning")
def test_no_statistic_of_a_model_whose_likelihood_is_left_steep_on_the_way_to_infinity() -> None:
    """R's clm has "degenerate Hessian with 1 negative eigenvalues" there, and no statistic either."""
    data = pd.read_csv(Path(__file__).parent / "run_off" / "steep.csv")
    formula = "y ~ f2:x3 + f1*f3 + f1*x2 + offset(known)"
    found = ordfit(formula, data, contrasts={"f1": "helmert"}).scale_test("f1:f3")
    assert np.isnan(found.loc["f1:f3", "lrt"])
    assert any("no maximum of the likelihood was reached" in note for note in found.attrs["notes"])


def two_groups(level_of_b: int) -> pd.DataFrame:
    """Rows of a are all in the highest level, those of b in one."""
    rng, n = np.random.default_rng(3), 160
    data = pd.DataFrame({"z": rng.normal(size=n), "a": np.arange(n) >= 140, "b": (np.arange(n) >= 110)})
    data[["a", "b"]] = np.column_stack([data["a"], data["b"] & ~data["a"]]).astype(float)
    data["y"] = np.searchsorted([-1.0, 1.0], 0.5 * data["z"] + rng.logistic(size=n)) + 1
    data.loc[data["a"] == 1, "y"], data.loc[data["b"] == 1, "y"] = 3, level_of_b
    return data


@pytest.mark.parametrize("level", [1, 3])
def test_a_group_in_one_end_level_leaves_its_location_and_its_scale_open(level: int) -> None:
    """Either brings the probabilities of its rows to 1 without the other, at the same supremum; R has no errors at all
    there ("parameters are not uniquely determined")."""
    data = two_groups(level)
    with pytest.warns(SeparationWarning, match="The data do not determine b, scale.b: any value"):
        fit = ordfit("y ~ z + b", data[data["a"] == 0], scale="~ b")
    assert fit.se[["b", "scale.b"]].isna().all() and np.isfinite(fit.se["z"])
    with pytest.warns(SeparationWarning, match="b to [+-]infinity"):
        located = ordfit("y ~ z + b", data[data["a"] == 0])
    assert fit.loglik == pytest.approx(located.loglik, abs=1e-6)
    np.testing.assert_allclose(fit.se["z"], located.se["z"], rtol=1e-5)


def test_a_scale_that_runs_off_leaves_what_separates_other_rows_infinite() -> None:
    data = two_groups(2)
    with pytest.warns(SeparationWarning, match=r"\(a to \+infinity, scale.b to -infinity\)"):
        fit = ordfit("y ~ z + a + b", data, scale="~ b")
    assert not fit.fit.undetermined.any()

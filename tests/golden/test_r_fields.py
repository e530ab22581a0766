"""Fields of R's fits besides estimates: tests, counts, criteria, fitted values,
thresholds, predictions.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from reference_cases import Case, case_names, load_case, matrix, named
from seams import LikelihoodResults

from ordstat import ordfit

#: No finite estimate (compared in test_r_clm.py), or stopped on purpose after two
#: iterations.
NOT_COMPARABLE = {
    "separation_complete",
    "separation_quasi",
    "separation_polr",
    "wine_nominal_both",
    "wine_iteration_limit",
}
#: R's default stopping rule: relative differences of 1e-6 in estimates at most, 1e-5
#: for polr.
DEFAULT = 2e-6
POLR = 2e-5
#: R stands in 1e5 for infinity (cauchit), or does not meet its own tolerance (flexible
#: links).
INEXACT = 2e-3


def cases(*models: str) -> list[str]:
    return [
        n
        for n in case_names()
        if load_case(n).raw["model"] in models and n not in NOT_COMPARABLE
    ]


def fitted(case: Case) -> LikelihoodResults:
    spec = case.spec
    arguments: dict[str, Any] = {
        key: spec[key]
        for key in ("nominal", "scale", "weights", "subset")
        if key in spec
    }
    if "contrasts" in spec:
        arguments["contrasts"] = dict(
            re.findall(r'(\w+) = "([\w.]+)"', spec["contrasts"])
        )
    threshold = case.raw.get("threshold_type", "flexible")
    link = {"logistic": "logit", "Aranda-Ordaz": "aranda-ordaz"}.get(
        case.link, case.link
    )
    return ordfit(
        spec["formula"], case.frame(), link=link, threshold=threshold, **arguments
    )


@pytest.fixture(scope="module")
def fits() -> dict[str, LikelihoodResults]:
    return {}


def of(case: Case, fits: dict[str, LikelihoodResults]) -> LikelihoodResults:
    if case.name not in fits:
        fits[case.name] = fitted(case)
    return fits[case.name]


def tolerance(case: Case) -> float:
    inexact = case.link in ("cauchit", "Aranda-Ordaz", "log-gamma", "aranda-ordaz")
    return INEXACT if inexact else DEFAULT


pytestmark = pytest.mark.filterwarnings("ignore::ordstat.exceptions.DataWarning")


@pytest.mark.parametrize("name", cases("clm"))
def test_counts_and_criteria(name: str, fits: dict[str, LikelihoodResults]) -> None:
    case = load_case(name)
    fit = of(case, fits)
    raw = case.raw
    assert fit.nobs == raw["nobs"] and fit.design.sample.n == raw["n_fitted"]
    assert fit.edf == raw["edf"] and fit.df_residual == raw["df_residual"]
    # of the best known likelihood: R's cauchit has no true infinities
    short = 2 * (case.loglik - raw["logLik"])
    worst = INEXACT if tolerance(case) == INEXACT and "exact" not in raw else 1e-6
    assert fit.aic == pytest.approx(raw["AIC"] - short, abs=worst)
    assert fit.bic == pytest.approx(raw["BIC"] - short, abs=worst)
    if "n_dropped" in raw:
        assert fit.design.n_given - fit.design.sample.n == raw["n_dropped"]
        gone = case.frame().index.difference(fit.design.index)
        assert [row + 1 for row in gone] == raw["dropped_rows"]


@pytest.mark.parametrize("name", cases("clm"))
def test_wald_statistics(name: str, fits: dict[str, LikelihoodResults]) -> None:
    case = load_case(name)
    fit = of(case, fits)
    if (
        case.raw["std_errors"] is None
        or not np.isfinite(named(case.raw["std_errors"]).to_numpy(dtype=float)).any()
    ):
        # R gave up on a model that is well identified
        assert np.isfinite(fit.se[~fit.params.isna()]).all()
        return
    expected = np.array(
        [np.nan if v is None else float(v) for v in case.raw["z_values"].values()]
    )
    actual = np.asarray(fit.tvalues, dtype=float)
    # R's JSON keeps one of two coefficients of one name (location and scale effect)
    if actual.size != expected.size:
        return
    np.testing.assert_allclose(
        actual, expected, rtol=10 * tolerance(case), atol=10 * tolerance(case)
    )
    chance = np.array(
        [np.nan if v is None else float(v) for v in case.raw["p_values"].values()]
    )
    np.testing.assert_allclose(
        np.asarray(fit.pvalues, dtype=float),
        chance,
        rtol=1e-3,
        atol=10 * tolerance(case),
    )


@pytest.mark.parametrize("name", cases("clm"))
def test_fitted_values(name: str, fits: dict[str, LikelihoodResults]) -> None:
    """The probability of the level that each row has."""
    case = load_case(name)
    fit = of(case, fits)
    y = fit.design.sample.y
    of_observed = fit.predict(type="prob").to_numpy()[np.arange(y.size), y]
    assert y.size == case.raw["n_fitted"]
    if "lambda" in case.raw:
        # R leaves the values of a last finite difference there, which do not belong to
        # its own estimates.
        assert np.log(of_observed).sum() == pytest.approx(case.raw["logLik"], abs=1e-5)
        return
    head = np.asarray(case.raw["fitted_head"], dtype=float)
    np.testing.assert_allclose(of_observed[: head.size], head, atol=tolerance(case))
    assert of_observed.sum() == pytest.approx(
        case.raw["fitted_sum"], abs=tolerance(case) * y.size / 4
    )


@pytest.mark.parametrize(
    "name", [n for n in cases("clm") if "nominal" not in load_case(n).spec]
)
def test_thresholds(name: str, fits: dict[str, LikelihoodResults]) -> None:
    """Theta on the flexible scale, for any structure."""
    case = load_case(name)
    expected = np.asarray(case.raw["Theta"]["values"][0], dtype=float)
    np.testing.assert_allclose(
        of(case, fits).thresholds, expected, rtol=tolerance(case), atol=tolerance(case)
    )


def test_a_lambda_is_that_of_r(fits: dict[str, LikelihoodResults]) -> None:
    for name in ("wine_aranda_ordaz", "wine_log_gamma"):
        case = load_case(name)
        assert of(case, fits).params["lambda"] == pytest.approx(
            case.raw["coefficients"]["lambda"], abs=5e-3
        )


def test_predictions_with_aliased_columns_and_missing_rows(
    fits: dict[str, LikelihoodResults],
) -> None:
    case = load_case("rank_sum_column")
    predicted = of(case, fits).predict(case.frame().head(3), type="prob")
    np.testing.assert_allclose(predicted, case.matrix("predict3"), atol=DEFAULT)
    case = load_case("simna_predict")
    expected = case.matrix("predict_with_missing")
    predicted = of(case, fits).predict(case.frame().head(len(expected)), type="prob")
    np.testing.assert_allclose(predicted, expected.to_numpy(dtype=float), atol=DEFAULT)


def test_classes_of_the_wine_ratings(fits: dict[str, LikelihoodResults]) -> None:
    case = load_case("wine_predict_logit")
    assert (
        of(case, fits).predict().astype(str).tolist()
        == case.raw["predict_observed"]["class"]
    )


def test_wald_limits_of_nominal_effects(fits: dict[str, LikelihoodResults]) -> None:
    case = load_case("wine_nominal_contact")
    np.testing.assert_allclose(
        of(case, fits).confint(), case.matrix("wald"), rtol=DEFAULT
    )


@pytest.mark.parametrize("name", [n for n in cases("polr") if "cauchit" not in n])
def test_polr(name: str) -> None:
    """Deviance, probabilities, classes and profile limits of MASS, which stops
    early.
    """
    case = load_case(name)
    fit = fitted(case)
    raw = case.raw
    assert fit.deviance == pytest.approx(raw["deviance"], abs=1e-5)
    assert (
        fit.df_residual == raw["df_residual"]
        and fit.edf == raw["edf"]
        and fit.nobs == raw["nobs"]
    )
    assert fit.aic == pytest.approx(raw["AIC"], abs=1e-5)
    head = matrix(raw["fitted_head"])
    np.testing.assert_allclose(
        fit.predict(type="prob").head(len(head)), head, atol=POLR
    )
    if "predicted_class_head" in raw:
        expected = raw["predicted_class_head"]
        assert fit.predict().astype(str).head(len(expected)).tolist() == expected
    if "profile_ci" in raw:
        limits = case.matrix("profile_ci")
        actual = fit.confint(type="profile", parm=list(fit.coef.index))
        width = (limits.iloc[:, 1] - limits.iloc[:, 0]).to_numpy()[:, None]
        # R interpolates a spline
        assert np.all(np.abs(actual.to_numpy() - limits.to_numpy()) <= 1e-3 * width)


@pytest.mark.parametrize(
    "name",
    [
        n
        for n in cases("vglm")
        if "acat" not in n
        and "ratio" not in n
        and ("cumulative" in n or "partial" in n)
    ],
)
def test_vglm_fitted_values(name: str) -> None:
    case = load_case(name)
    spec = {k: v for k, v in case.spec.items() if k in ("formula", "weights")}
    nominal = (
        "~ " + case.spec["formula"].split("~")[1].strip()
        if "nonparallel" in name
        else None
    )
    if "partial" in name:
        nominal = "~ x1"  # cumulative(parallel = FALSE ~ x1)
    location = (
        spec["formula"] if nominal is None else _without(spec["formula"], nominal)
    )
    fit = ordfit(location, case.frame(), nominal=nominal, weights=spec.get("weights"))
    head = matrix(case.raw["fitted_head"])
    actual: pd.DataFrame = fit.predict(type="prob").head(len(head))
    np.testing.assert_allclose(actual, head, atol=1e-5)


def _without(formula: str, nominal: str) -> str:
    response, terms = formula.split("~")
    gone = {t.strip() for t in nominal.lstrip("~ ").split("+")}
    left = [t.strip() for t in terms.split("+") if t.strip() not in gone]
    return f"{response}~ {' + '.join(left) or '1'}"

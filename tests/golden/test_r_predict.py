"""Predictions of R's clm with their standard errors and limits.

R forms the limits of cumulative probabilities without a transformation, so they leave
[0, 1]; ordstat forms them on the logit scale, as both do for class probabilities. There
R's estimate and standard error are compared.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from reference_cases import Case, load_case, matrix, named, number

from ordstat import ordfit

#: predict.clm stands on fits of R's default stopping rule.
VALUE = 1e-7
ERROR = 1e-6
Z95 = 1.959963984540054
NAMES = [
    "wine_predict_logit",
    "wine_predict_probit_90",
    "wine_predict_equidistant",
    "sim500_predict_ns",
]


def fitted(case: Case):
    options = (
        {"threshold": case.spec["threshold"].strip('"')}
        if "threshold" in case.spec
        else {}
    )
    return ordfit(case.spec["formula"], data=case.frame(), method=case.link, **options)


def new_data(case: Case) -> pd.DataFrame:
    block = case.raw["predict"]["newdata"]
    return pd.DataFrame(
        {name: [number(v) for v in values] for name, values in block["columns"].items()}
    )


def tables(block: dict) -> dict[str, np.ndarray]:
    return {key: matrix(value).to_numpy(dtype=float) for key, value in block.items()}


@pytest.mark.parametrize("name", NAMES)
def test_class_probabilities(name: str) -> None:
    case = load_case(name)
    fit = fitted(case)
    new = new_data(case)
    for key, level in (("prob", 0.95), ("predict90", 0.9)):
        block = case.raw["predict"].get(key) or case.raw.get(key)
        if block is None:
            continue
        r = tables(block)
        out = fit.predict(new, type="prob", se=True, interval="confidence", level=level)
        np.testing.assert_allclose(out["estimate"], r["fit"], rtol=VALUE)
        np.testing.assert_allclose(out["std_error"], r["se.fit"], rtol=ERROR)
        np.testing.assert_allclose(out["lower"], r["lwr"], rtol=ERROR)
        np.testing.assert_allclose(out["upper"], r["upr"], rtol=ERROR)
    classes = [str(label) for label in fit.predict(new)]
    assert classes == case.raw["predict"]["class"]["fit"]


@pytest.mark.parametrize("name", NAMES)
def test_cumulative_probabilities(name: str) -> None:
    case = load_case(name)
    out = fitted(case).predict(
        new_data(case), type="cum_prob", se=True, interval="confidence"
    )
    r = tables(case.raw["predict"]["cum_prob"])
    np.testing.assert_allclose(out["estimate"], r["cprob1"], rtol=VALUE)
    np.testing.assert_allclose(out["std_error"], r["se.cprob1"], rtol=ERROR, atol=1e-12)
    p = r["cprob1"][:, :-1]
    error = r["se.cprob1"][:, :-1]
    for key, sign in (("lower", -1.0), ("upper", 1.0)):
        odds = p / (1 - p) * np.exp(sign * Z95 * error / (p * (1 - p)))
        np.testing.assert_allclose(
            out[key].to_numpy()[:, :-1], odds / (1 + odds), rtol=ERROR
        )
    # the highest level is certain
    assert (out[["lower", "upper"]].to_numpy()[:, [-1, len(p[0])]] == 1.0).all()


@pytest.mark.parametrize("name", NAMES)
def test_linear_predictor(name: str) -> None:
    """R's upper ends (1) are ours of each threshold; its lower ends (2) are those of
    the threshold before.
    """
    case = load_case(name)
    fit = fitted(case)
    out = fit.predict(
        new_data(case), type="linear_predictor", se=True, interval="confidence"
    )
    r = tables(case.raw["predict"]["linear_predictor"])
    for ours, theirs in (
        ("estimate", "eta"),
        ("std_error", "se.eta"),
        ("lower", "lwr"),
        ("upper", "upr"),
    ):
        table = out[ours].to_numpy()
        np.testing.assert_allclose(
            table, r[f"{theirs}1"][:, :-1], rtol=ERROR, atol=1e-7
        )
        np.testing.assert_allclose(table, r[f"{theirs}2"][:, 1:], rtol=ERROR, atol=1e-7)
    assert list(out["estimate"].columns) == fit.threshold_names


def test_missing_inputs_and_a_given_response() -> None:
    """R gives the probability of the observed level where newdata has it; ordstat
    always gives all levels.
    """
    case = load_case("wine_predict_logit")
    fit = fitted(case)
    data = case.frame()
    out = fit.predict(data, type="prob", se=True)["estimate"].to_numpy()
    observed = out[np.arange(len(data)), data["rating"].cat.codes]
    np.testing.assert_allclose(
        observed[:20], case.raw["predict_observed"]["prob_head"], rtol=VALUE
    )

    case = load_case("simna_predict")
    table = case.matrix("predict_with_missing").to_numpy(dtype=float)
    out = fitted_quietly(case).predict(
        case.frame().head(len(table)), type="prob", se=True, interval="confidence"
    )
    np.testing.assert_allclose(out["estimate"], table, rtol=VALUE)
    gone = np.isnan(table).all(axis=1)
    assert (
        gone.any()
        and (out.isna().all(axis=1) == gone).all()
        and out[~gone].notna().all(axis=None)
    )


def fitted_quietly(case: Case):
    with pytest.warns(UserWarning, match="missing|left out"):
        return fitted(case)


def test_reference_covers_what_is_read() -> None:
    assert named({"a": None}).isna().all()
    assert {"lwr", "upr", "se.fit"} <= set(
        load_case("wine_predict_probit_90").raw["predict90"]
    )

"""Estimates, standard errors, covariances and log-likelihoods of R's clm, run to the limit of double precision."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace

import numpy as np
import pytest
from reference_cases import FOLDER, Case, case_names, load_case, number

from ordstat.design.build import build
from ordstat.design.design import Design
from ordstat.methods.clm import CumulativeLink
from ordstat.model.fit import LikelihoodFit

#: `tight` fits agree to about 1e-10; covariances are those of R's default stopping rule.
ESTIMATE, COVARIANCE, LOGLIK = 1e-8, 1e-6, 1e-8
GROUPS = (
    "basic",
    "links",
    "weights",
    "offset",
    "missing",
    "rank",
    "formula",
    "housing",
    "large",
    "nominal",
    "scale",
    "scale_nominal",
    "predict",
    "confint",
    "convergence",
)
NOT_COMPARABLE = {
    "wine_predict_equidistant",  # structured thresholds
    "wine_nominal_both",  # separated: see test_separated_nominal_effects
}
#: R stopped early, or gave no covariance at all.
WITHOUT_COVARIANCE = {"wine_iteration_limit", "sim_bad_scaling"}


def best(name: str, field: str) -> np.ndarray:
    """Numbers of the tightest fit in R's order, NaN where null; a name may occur twice (location and scale effect)."""
    text = (FOLDER / "cases" / f"{name}.json").read_text()
    blocks = dict(json.loads(text, object_pairs_hook=list))
    for key in ("exact", "tight"):
        block = dict(blocks.get(key, []))
        if field in block:
            return np.array([number(value) for _, value in block[field]], dtype=float)
    raise KeyError(f"{name} has no tight {field}")


@dataclass(frozen=True, eq=False)
class Fitted:
    case: Case
    design: Design
    method: CumulativeLink
    fit: LikelihoodFit


def fitted(name: str) -> Fitted:
    case = load_case(name)
    arguments = {key: case.spec[key] for key in ("nominal", "scale", "weights", "subset") if key in case.spec}
    if "contrasts" in case.spec:
        arguments["contrasts"] = dict(re.findall(r'(\w+) = "([\w.]+)"', case.spec["contrasts"]))
    design = build(case.spec["formula"], case.frame(), **arguments)
    method = CumulativeLink(link=case.link)
    return Fitted(case, design, method, method.fit(design.sample, np.random.default_rng(0)))


def comparable() -> list[str]:
    return [
        name for name in case_names(*GROUPS) if name not in NOT_COMPARABLE and load_case(name).raw["model"] == "clm"
    ]


@pytest.mark.parametrize("name", comparable())
def test_against_r(name: str) -> None:
    found = fitted(name)
    case, fit = found.case, found.fit
    expected = best(name, "coefficients")
    np.testing.assert_array_equal(fit.aliased, np.isnan(expected))
    errors = np.sqrt(fit.information.variances())
    distance = (fit.coefficients - expected)[~fit.aliased]
    assert np.all(np.abs(distance) <= ESTIMATE * np.maximum(np.abs(expected[~fit.aliased]), errors))
    assert fit.loglik == pytest.approx(case.loglik, abs=LOGLIK)
    assert fit.certificate.reached and fit.separation is None
    expected_errors = best(name, "std_errors")
    np.testing.assert_allclose(errors, expected_errors[~np.isnan(expected_errors)], rtol=ESTIMATE)
    covariance = case.matrix("vcov").to_numpy(dtype=float)
    if "exact" not in case.raw and name not in WITHOUT_COVARIANCE:
        allowed = COVARIANCE * np.outer(errors, errors)
        assert np.all(np.abs(fit.information.covariance() - covariance) <= allowed)


@pytest.mark.parametrize(
    ("name", "infinite"),
    [
        ("separation_complete", {"a|b": -1, "b|c": 1, "x": 1}),
        ("separation_quasi", {"z": 1}),
        ("wine_nominal_both", {"4|5.(Intercept)": 1, "1|2.tempwarm": -1, "4|5.tempwarm": -1}),
    ],
)
def test_separation_is_found_with_its_direction(name: str, infinite: dict[str, int]) -> None:
    """Signs: of the estimates that R lets run away; the others and the limit of the likelihood are finite."""
    found = fitted(name)
    labels = list(found.case.raw["coefficients"])
    direction = found.fit.separation
    assert direction is not None
    assert {label: np.sign(d) for label, d in zip(labels, direction, strict=True) if d} == infinite
    assert found.fit.loglik == pytest.approx(found.case.loglik, abs=1e-6)
    finite = direction == 0
    expected = best(name, "coefficients")
    np.testing.assert_allclose(found.fit.coefficients[finite], expected[finite], rtol=1e-6)


def test_columns_of_very_different_size() -> None:
    """x1 * 1e7 and x2 * 1e-7: the fit of x1 and x2 in other units, to full accuracy."""
    design = fitted("sim_bad_scaling").design
    rows = design.sample.rows
    units = np.array([1e7, 1e-7])
    plain = replace(design.sample, rows=replace(rows, X=rows.X / units))
    one, other = (CumulativeLink().fit(s, np.random.default_rng(0)) for s in (design.sample, plain))
    np.testing.assert_allclose(one.coefficients[-2:] * units, other.coefficients[-2:], rtol=1e-10)
    errors = [np.sqrt(fit.information.variances()[-2:]) for fit in (one, other)]
    np.testing.assert_allclose(errors[0] * units, errors[1], rtol=1e-10)
    assert one.digits.min() >= 10

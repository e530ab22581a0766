"""Estimates, standard errors, covariances and log-likelihoods of R's clm, run to the
limit of double precision.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace

import numpy as np
import pytest
from reference_cases import FOLDER, Case, case_names, load_case, number
from seams import LINKS, LikelihoodFit, build

from ordstat import CumulativeLink
from ordstat.formula.design import Design

#: `tight` fits agree to about 1e-10; covariances are those of R's default stopping
#: rule.
ESTIMATE = 1e-8
COVARIANCE = 1e-6
LOGLIK = 1e-8
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
    "threshold",
    "tests",
)
NOT_COMPARABLE = {
    "wine_nominal_both",  # separated: see test_separation_is_found_with_its_direction
    # R's cauchit stands in +-1e5 for infinity: see test_cauchit_with_scale_effects
    "wine_confint_cauchit_scale",
}
#: R stopped early, or gave no covariance at all.
WITHOUT_COVARIANCE = {"wine_iteration_limit", "sim_bad_scaling"}


def best(name: str, field: str) -> np.ndarray:
    """Numbers of the tightest fit in R's order, NaN where null; a name may occur twice
    (location and scale effect).
    """
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
    arguments = {
        key: case.spec[key]
        for key in ("nominal", "scale", "weights", "subset")
        if key in case.spec
    }
    if "contrasts" in case.spec:
        arguments["contrasts"] = dict(
            re.findall(r'(\w+) = "([\w.]+)"', case.spec["contrasts"])
        )
    design = build(case.spec["formula"], case.frame(), **arguments)
    method = CumulativeLink(
        link=case.link.lower(),
        threshold=case.spec.get("threshold", "flexible").strip('"'),
    )
    return Fitted(
        case, design, method, method.fit(design.sample, np.random.default_rng(0))
    )


def comparable() -> list[str]:
    return [
        name
        for name in case_names(*GROUPS)
        if name not in NOT_COMPARABLE and load_case(name).raw["model"] == "clm"
    ]


@pytest.mark.parametrize("name", comparable())
def test_against_r(name: str) -> None:
    result = fitted(name)
    case = result.case
    fit = result.fit
    expected = best(name, "coefficients")
    np.testing.assert_array_equal(fit.aliased, np.isnan(expected))
    errors = np.sqrt(fit.model_covariance.variances)
    distance = (fit.coefficients - expected)[~fit.aliased]
    assert np.all(
        np.abs(distance)
        <= ESTIMATE * np.maximum(np.abs(expected[~fit.aliased]), errors)
    )
    assert fit.loglik == pytest.approx(case.loglik, abs=LOGLIK)
    assert fit.certificate.reached and fit.separation is None
    if fit.threshold_names:
        np.testing.assert_array_equal(
            fit.threshold_names,
            [name.replace(".(Intercept)", "") for name in case.raw["alpha"]][
                : len(fit.threshold_names)
            ],
        )
        theta = np.array(case.raw["Theta"]["values"], dtype=object)[0][
            -fit.rule.alpha.shape[0] :
        ].astype(float)
        np.testing.assert_allclose(fit.rule.alpha[:, 0], theta, rtol=1e-6)
    expected_errors = best(name, "std_errors")
    np.testing.assert_allclose(
        errors, expected_errors[~np.isnan(expected_errors)], rtol=ESTIMATE
    )
    covariance = case.matrix("vcov").to_numpy(dtype=float)
    if "exact" not in case.raw and name not in WITHOUT_COVARIANCE:
        allowed = COVARIANCE * np.outer(errors, errors)
        assert np.all(np.abs(fit.model_covariance.dense() - covariance) <= allowed)


@pytest.mark.parametrize(
    ("name", "infinite"),
    [
        ("separation_complete", {"a|b": -1, "b|c": 1, "x": 1}),
        ("separation_quasi", {"z": 1}),
        (
            "wine_nominal_both",
            {"4|5.(Intercept)": 1, "1|2.tempwarm": -1, "4|5.tempwarm": -1},
        ),
    ],
)
def test_separation_is_found_with_its_direction(
    name: str, infinite: dict[str, int]
) -> None:
    """Signs: of the estimates that R lets run away; the others and the limit of the
    likelihood are finite.
    """
    result = fitted(name)
    labels = list(result.case.raw["coefficients"])
    direction = result.fit.separation
    assert direction is not None
    assert {
        label: np.sign(d) for label, d in zip(labels, direction, strict=True) if d
    } == infinite
    assert result.fit.loglik == pytest.approx(result.case.loglik, abs=1e-6)
    finite = direction == 0
    expected = best(name, "coefficients")
    np.testing.assert_allclose(
        result.fit.coefficients[finite], expected[finite], rtol=1e-6
    )


def test_columns_of_very_different_size() -> None:
    """x1 * 1e7 and x2 * 1e-7: the fit of x1 and x2 in other units, to full accuracy."""
    design = fitted("sim_bad_scaling").design
    rows = design.sample.rows
    units = np.array([1e7, 1e-7])
    plain = replace(design.sample, rows=replace(rows, X=rows.X / units))
    one, other = (
        CumulativeLink().fit(s, np.random.default_rng(0))
        for s in (design.sample, plain)
    )
    np.testing.assert_allclose(
        one.coefficients[-2:] * units, other.coefficients[-2:], rtol=1e-10
    )
    errors = [np.sqrt(fit.model_covariance.variances[-2:]) for fit in (one, other)]
    np.testing.assert_allclose(errors[0] * units, errors[1], rtol=1e-10)


def test_cauchit_with_scale_effects() -> None:
    """R puts +-1e5 for the infinite thresholds: 1e-3, and our likelihood is the larger
    one.
    """
    result = fitted("wine_confint_cauchit_scale")
    np.testing.assert_allclose(
        result.fit.coefficients, best(result.case.name, "coefficients"), atol=1e-3
    )
    assert 0.0 < result.fit.loglik - result.case.loglik < 1e-2


@pytest.mark.parametrize("name", case_names("flexlink"))
def test_flexible_links(name: str) -> None:
    """R stops early, with a numeric gradient: 1e-3, and never above our likelihood."""
    result = fitted(name)
    assert result.fit.certificate.reached and result.fit.n_lambda == 1
    np.testing.assert_allclose(
        result.fit.coefficients, result.case.coefficients, rtol=1e-3, atol=1e-3
    )
    np.testing.assert_allclose(
        np.sqrt(result.fit.model_covariance.variances),
        result.case.std_errors,
        rtol=1e-3,
    )
    assert -1e-9 <= result.fit.loglik - result.case.loglik <= 1e-6


def other_package(name: str) -> tuple[LikelihoodFit, np.ndarray, dict[str, float]]:
    """Our fit, theirs in our order and signs (run to the limit), and the standard
    errors that they give.
    """
    case = load_case(name)
    tight = load_case(name).raw["tight"]
    arguments = {key: case.spec[key] for key in ("weights",) if key in case.spec}
    theirs = {label: number(value) for label, value in tight["coefficients"].items()}
    formula = case.spec["formula"]
    link = (
        case.spec.get("method", case.spec.get("family", '"logit"'))
        .strip('"')
        .replace("logistic", "logit")
    )
    parallel = re.search(
        r"parallel = (TRUE|FALSE)(?: ~ (\w+))?", case.spec.get("family", "")
    )
    model = case.raw["model"]
    if model == "polr":
        values = [
            *list(theirs.values())[-len(case.raw["zeta"]) :],
            *list(theirs.values())[: -len(case.raw["zeta"])],
        ]
    elif model in (
        "orm",
        "lrm",
        # P(y >= j) = F(intercept + x'b): the mirrored link, thresholds with their sign
        # changed
    ):
        values = [
            -value if label.startswith("y>=") else value
            for label, value in theirs.items()
        ]
        link = LINKS[link].mirror
    # P(y <= j) = F(intercept + x'b): nominal effects as ours, location effects with
    # their sign changed
    else:
        link = "logit"
        nominal = [label for label in theirs if re.search(r":\d$", label)]
        values = [
            *(theirs[label] for label in nominal),
            *(-theirs[k] for k in theirs if k not in nominal),
        ]
        if parallel is not None and parallel.group(1) == "FALSE":
            left, right = formula.split("~")
            arguments["nominal"] = "~" + (parallel.group(2) or right)
            rest = [
                term.strip()
                for term in right.split("+")
                if parallel.group(2) and term.strip() != parallel.group(2)
            ]
            formula = f"{left} ~ {' + '.join(rest) or '1'}"
    if name == "sim500_orm_continuous":
        arguments["levels"] = sorted(case.frame()["age"].unique())
    design = build(formula, case.frame(), **arguments)
    fit = CumulativeLink(link=link).fit(design.sample, np.random.default_rng(0))
    assert fit.loglik == pytest.approx(tight["logLik"], abs=1e-6)
    return fit, np.array(values), tight.get("std_errors", {})


#: Cases of other packages that are no cumulative models.
_OTHER_FAMILIES = ("acat", "ratio", "multinomial", "stereotype")
#: Cumulative models of other packages.
OTHER_PACKAGES = [
    name
    for name in case_names("polr", "housing_polr", "rms", "vgam")
    if not any(family in name for family in _OTHER_FAMILIES)
]


@pytest.mark.parametrize("name", OTHER_PACKAGES)
def test_against_other_packages(name: str) -> None:
    """polr's and vglm's tight fits are good to 1e-6; orm and lrm also give standard
    errors, of the middle threshold.
    """
    fit, expected, errors = other_package(name)
    exact = load_case(name).raw["model"] in ("orm", "lrm")
    np.testing.assert_allclose(
        fit.coefficients, expected, rtol=1e-7 if exact else 1e-5, atol=1e-6
    )
    if exact:
        slopes = np.sqrt(fit.model_covariance.variances[fit.n_alpha :])
        np.testing.assert_allclose(
            slopes, list(errors.values())[-slopes.size :], rtol=1e-7
        )

"""Fits with random effects against R's clmm and clmm2 (ordinal 2022.11-16), each R call
in its case file.

The log-likelihood and estimates compared are those of `tight`: R's own objective
carried to its optimum, as R stops at gradients of 1e-5 to 1e-2 (see
tests/golden/reference/README.md). Standard errors are R's, from a Hessian by
differences.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from reference_cases import Case, case_names, load_case, number
from seams import LikelihoodResults

from ordstat import ordfit

#: Case weights of these data have a mean above 2, as sampling weights do.
pytestmark = pytest.mark.filterwarnings(
    "ignore:weights= are counts of equal rows, and these stand for"
)

#: `tight` of this case stopped at a gradient of 4e-5; others are at 1e-6 or below.
LOOSE = {"long_clmm_weights": 1e-4}
#: R has no standard errors at a boundary, or those of the wrong link, or so for a
#: Hessian of few digits.
NO_ERRORS = {"long_clmm_cloglog_matrix"}
#: R sorts terms by their number of groups; the labels of `tight` are those of the
#: formula, and so the wrong way round.
SWAPPED = {"crossed_clmm_cloglog", "nested_clmm_probit_explicit"}
#: clmm2(rating ~ temp, nominal = ~ contact, random = judge, data = wine, Hess = TRUE,
#: nAGQ = 1), ordinal 2022.11-16: sqrt(diag(solve(m$Hessian))). Those of the case file
#: come from a Hessian of too long steps.
CLMM2_ERRORS = (
    *(0.7320074, 0.6370164, 0.8828760, 1.0947076, 1.2385920, 0.6614239),
    *(0.7402471, 0.9731925, 0.6004541),
)
ERRORS = {"crossed_clmm_slope": 1e-3, "wine_clmm_two_terms": 1e-3}


def fitted(case: Case) -> LikelihoodResults:
    spec = case.spec
    options: dict[str, Any] = {"weights": spec["weights"]} if "weights" in spec else {}
    threshold = case.raw["threshold_type"]
    return ordfit(
        spec["formula"],
        case.frame(),
        case.link,
        threshold=threshold,
        quadrature=int(case.raw["nAGQ"]),
        **options,
    )


@pytest.fixture(scope="module")
def fits() -> dict[str, LikelihoodResults]:
    return {name: fitted(load_case(name)) for name in case_names("clmm")}


@pytest.mark.parametrize("name", case_names("clmm"))
def test_log_likelihood(name: str, fits: dict[str, LikelihoodResults]) -> None:
    assert fits[name].loglik == pytest.approx(load_case(name).loglik, abs=1e-8)
    assert fits[name].certificate.reached


@pytest.mark.parametrize("name", case_names("clmm"))
def test_fixed_effects(name: str, fits: dict[str, LikelihoodResults]) -> None:
    expected = load_case(name).coefficients.to_numpy()
    np.testing.assert_allclose(fits[name].params, expected, rtol=LOOSE.get(name, 1e-5))


@pytest.mark.parametrize("name", case_names("clmm"))
def test_covariances_of_random_effects(
    name: str, fits: dict[str, LikelihoodResults]
) -> None:
    """R sorts terms by their number of groups, and ours stand in the order of the
    formula.
    """
    marginal = fits[name].fit.marginal
    terms = fits[name].design.random
    assert marginal is not None
    collected = {
        (_group(t.group), t.names): e.covariance
        for t, e in zip(terms, marginal.terms, strict=True)
    }
    expected = load_case(name).raw["tight"]["random"]
    assert len(collected) == len(expected)
    labels = list(reversed(expected)) if name in SWAPPED else list(expected)
    for key, block in zip(labels, expected.values(), strict=True):
        ours = collected[_key(key)]
        values = [
            [number(cell) for cell in row] for row in block["covariance"]["values"]
        ]
        np.testing.assert_allclose(
            ours, values, rtol=2e-4 if name in LOOSE else 2e-5, atol=1e-8
        )


def _key(label: str) -> tuple[str, tuple[str, ...]]:
    """Group and columns of R's "1 + x1 | subj"; "judge" of the scalar route stands for
    (1 | judge).
    """
    columns, _, group = label.rpartition("|")
    terms = [term.strip() for term in (columns or "1").split("+")]
    names = ["(Intercept)" if term == "1" else term for term in terms if term != "0"]
    return _group(group), tuple(names)


def _group(label: str) -> str:
    """A group with the factors of a:b in either order."""
    return ":".join(sorted(label.strip().split(":")))


@pytest.mark.parametrize("name", [n for n in case_names("clmm") if n not in NO_ERRORS])
def test_standard_errors(name: str, fits: dict[str, LikelihoodResults]) -> None:
    case = load_case(name)
    fit = fits[name]
    errors = case.std_errors.to_numpy()
    np.testing.assert_allclose(fit.se, errors, rtol=ERRORS.get(name, 1e-4))


#: R's fit is of another link, or its variance is 1e-8 or less in place of 0.
NO_MODES = {"flat_clmm_boundary", "wine_clmm_two_terms"}
MODES = [
    n
    for n in case_names("clmm")
    if "ranef" in (raw := load_case(n).raw) and "known_wrong" not in raw
]


@pytest.mark.parametrize("name", [n for n in MODES if n not in NO_MODES])
def test_modes_and_their_conditional_variances(
    name: str, fits: dict[str, LikelihoodResults]
) -> None:
    """At R's own estimates, which are a little off; ours would be those of the other
    link in a known wrong case.
    """
    case = load_case(name)
    table = fits[name].ranef()
    for group, block in case.raw["ranef"].items():
        ours = table[table["group"].map(_group) == _group(group)]
        variances = case.raw["cond_var"][group]["columns"]
        for column, modes in block["columns"].items():
            mine = ours[ours["name"] == column].set_index("level")
            order = [_level(label, group, mine.index) for label in block["rows"]]
            np.testing.assert_allclose(
                mine.loc[order, "mode"], np.array(modes, dtype=float), atol=1e-3
            )
            np.testing.assert_allclose(
                mine.loc[order, "sd"] ** 2,
                np.array(variances[column], dtype=float),
                rtol=1e-3,
            )


def _level(label: str, group: str, known: Any) -> Any:
    """R's label among ours: numbers are numbers, and the parts of a:b may stand the
    other way round.
    """
    collected = {str(level): level for level in known}
    return (
        collected[label]
        if label in collected
        else collected[":".join(reversed(label.split(":")))]
    )


def test_nominal_effects_beside_random_ones_equal_clmm2() -> None:
    case = load_case("wine_clmm2_nominal")
    fit = ordfit("rating ~ temp + (1 | judge)", case.frame(), nominal="~ contact")
    assert fit.loglik == pytest.approx(case.raw["logLik"], abs=1e-8)
    expected = list(case.raw["coefficients"].values())
    # clmm2 says that it did not converge
    np.testing.assert_allclose(fit.params, expected[:-1], rtol=1e-4)
    assert fit.varcorr()["sd"].iloc[0] == pytest.approx(case.raw["stDev"], rel=1e-4)
    np.testing.assert_allclose(fit.se, CLMM2_ERRORS, rtol=1e-4)


def test_scale_effects_beside_random_ones_equal_clmm2() -> None:
    """With 15 nodes: clmm2's Laplace approximation with a scale part is another one."""
    case = load_case("wine_clmm2_scale")
    fit = ordfit(
        "rating ~ temp + contact + (1 | judge)",
        case.frame(),
        scale="~ temp",
        quadrature=15,
    )
    assert fit.loglik == pytest.approx(case.raw["logLik"], abs=1e-8)
    thresholds = [row[0] for row in case.raw["Theta"]["values"]]
    np.testing.assert_allclose(fit.thresholds, thresholds, rtol=1e-5)
    effects = [*case.raw["beta"].values(), *case.raw["zeta"].values()]
    np.testing.assert_allclose(fit.coef, effects, rtol=1e-5)
    assert fit.varcorr()["sd"].iloc[0] == pytest.approx(case.raw["stDev"], rel=1e-5)


def test_boundary_is_told_and_the_rest_has_its_errors(
    fits: dict[str, LikelihoodResults],
) -> None:
    fit = fits["flat_clmm_boundary"]
    row = fit.varcorr().iloc[0]
    assert row["variance"] == 0.0 and np.isnan(row["std_error"])
    assert "estimated variance 0" in str(fit.summary())
    plain = ordfit("y ~ x1", load_case("flat_clmm_boundary").frame())
    assert fit.loglik == pytest.approx(plain.loglik, abs=1e-10)
    np.testing.assert_allclose(fit.se, plain.se, rtol=1e-5)
    assert fit.edf == plain.edf + 1


# Two levels are a binary regression: equal to lme4's glmer (1.1-31, R 4.2.2) on
# tests/golden/reference/data/long.csv.
#
#     glmer(yb ~ x1 + x2 + (1 | id), data = long, family = binomial(link), nAGQ = q,
#           control = glmerControl(optimizer = "bobyqa", tolPwrss = 1e-13,
#                                  optCtrl = list(rhoend = 1e-12, maxfun = 1e5)))
#
# lme4's modes have a tolerance of 1e-7 unless asked (its log-likelihood then is off by
# 4e-4), and it takes the expected curvature where ours is the observed one: equal for
# the logit, and for the probit in the limit of many nodes alone.

#: (link, nAGQ) -> logLik, fixef, theta.
GLMER = {
    ("logit", 1): (
        -349.192806856134268,
        (-0.135504030438, 1.002758043547971, -0.383976927508725),
        0.846822957645715,
    ),
    ("logit", 7): (
        -348.848443677942726,
        (-0.135511584896338, 1.002869926630512, -0.3839580886931),
        0.862691024206364,
    ),
    ("logit", 25): (
        -348.848418730379478,
        (-0.135511755660485, 1.002870449102416, -0.383958317179573),
        0.862696074585121,
    ),
    ("probit", 25): (
        -348.6998181832976798,
        (-0.0785773955721248, 0.6022111157447679, -0.2295212469337841),
        0.5080097648018075,
    ),
}


@pytest.mark.parametrize(("link", "nodes"), GLMER)
def test_two_levels_equal_glmer(link: str, nodes: int) -> None:
    loglik, fixef, theta = GLMER[link, nodes]
    fit = ordfit(
        "yb ~ x1 + x2 + (1 | id)",
        load_case("long_clmm_binary").frame(),
        link,
        quadrature=nodes,
    )
    assert fit.loglik == pytest.approx(loglik, abs=1e-7)
    # glmer stops at about that
    assert (-fit.thresholds.iloc[0], *fit.coef) == pytest.approx(fixef, rel=2e-6)
    assert fit.varcorr()["sd"].iloc[0] == pytest.approx(theta, rel=2e-5)


def test_probit_by_seven_nodes_is_near_glmer() -> None:
    """-348.69982 (R), where the curvatures that scale the nodes differ."""
    fit = ordfit(
        "yb ~ x1 + x2 + (1 | id)",
        load_case("long_clmm_binary").frame(),
        "probit",
        quadrature=7,
    )
    assert fit.loglik == pytest.approx(-348.6998223918382678, abs=1e-5)

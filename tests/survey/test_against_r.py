"""Survey designs against R's survey package on the same sample: survey.R wrote survey.csv."""

import numpy as np
import pandas as pd
import pytest

from ordstat import SurveyDesign, datasets, ordfit

from .samples import FORMULA, HERE, replicate_weights, sample

GOLDEN = pd.read_csv(HERE / "survey.csv")
#: R prints 12 digits, and both are at the maximum to about 1e-10.
TOLERANCE = 1e-8

STRATA = {"weights": "w", "strata": "s", "clusters": "psu"}
LINEARISED = {
    "strata and PSUs": STRATA,
    "weights alone": {"weights": "w"},
    "strata of rows": {"weights": "w", "strata": "s"},
    "PSUs alone": {"weights": "w", "clusters": "psu"},
    "population sizes": STRATA | {"fpc": "N"},
    "shares": STRATA | {"fpc": "share"},
    "nested labels": STRATA | {"clusters": "short", "nest": True},
}
LONELY = {
    f"lonely {lonely}{' fpc' * fpc}": {"weights": "w", "strata": "s1", "clusters": "psu1", "lonely": lonely}
    | ({"fpc": "N1"} if fpc else {})
    for lonely in ("remove", "certainty", "adjust", "average")
    for fpc in (False, True)
}
REPLICATES = {
    f"{type} {'mse' if mse else 'mean'}": {"weights": "w", "mse": mse}
    | ({"scale": np.full(24, 5 / 6)} if type == "JKn" else {"type": type})
    | ({"rho": 0.3} if type == "Fay" else {})
    for type in ("BRR", "Fay", "JK1", "JKn", "bootstrap")
    for mse in (False, True)
}


def data():
    frame = sample()
    return frame.assign(share=6 / frame["N"], short=frame["psu"] % 100)


def check(fit, case, link):
    golden = GOLDEN[(GOLDEN["case"] == case) & (GOLDEN["link"] == link)].set_index("term")
    assert len(golden) == 9
    np.testing.assert_allclose(fit.params, golden["estimate"][fit.params.index], rtol=TOLERANCE)
    np.testing.assert_allclose(fit.se, golden["se"][fit.params.index], rtol=TOLERANCE)
    assert fit.design_df == golden["df"].iloc[0]


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_strata_and_units(link):
    check(ordfit(FORMULA, data(), link, design=SurveyDesign(**STRATA)), "strata and PSUs", link)


@pytest.mark.parametrize("case", [*LINEARISED, *LONELY])
def test_linearised(case):
    check(ordfit(FORMULA, data(), design=SurveyDesign(**(LINEARISED | LONELY)[case])), case, "logit")


def test_a_subset_is_a_domain():
    fit = ordfit(
        FORMULA, data().assign(unit=lambda d: d["psu"] % 100), subset="(age > 60) & (unit != 3)", design=_plain()
    )
    check(fit, "a domain", "logit")


def test_missing_values_and_weights_of_zero_leave_a_domain_too():
    frame = data()
    out = ~((frame["age"] > 60) & (frame["psu"] % 100 != 3))
    by_weight = frame.assign(w=frame["w"].where(~out, 0.0))
    check(ordfit(FORMULA, by_weight, design=_plain()), "a domain", "logit")
    with pytest.warns(match="left out for missing values"):
        fit = ordfit(FORMULA, frame.assign(educ=frame["educ"].where(~out)), design=_plain())
    check(fit, "a domain", "logit")


@pytest.mark.parametrize("case", REPLICATES)
def test_replicate_weights(case):
    design = SurveyDesign(**REPLICATES[case], replicates=replicate_weights(case.split()[0]))
    check(ordfit(FORMULA, data(), design=design), case, "logit")


def _plain():
    return SurveyDesign(**STRATA)


#: R 4.2.2, survey 4.1.1, the weights below on either scale:
#: m <- svyolr(y ~ selfLR + age + educ, svydesign(ids = ~1, weights = ~w, data = d),
#:             control = list(reltol = 1e-15, maxit = 1000)); coef(m); sqrt(diag(vcov(m)))
SVYOLR = {
    "selfLR": (1.038792032296, 0.073082355265),
    "age": (-0.007186058652, 0.004619554577),
    "educ": (0.223202069237, 0.045529689014),
    "0|1": (3.220423032786, 0.418983772122),
    "1|2": (4.503414841782, 0.444509812251),
    "2|3": (5.245527428922, 0.460243014029),
    "3|4": (5.479953521172, 0.463413430830),
    "4|5": (6.090345011189, 0.481848797218),
    "5|6": (7.231362826437, 0.508388562876),
}


@pytest.mark.parametrize("factor", [1.0, 10.0])
def test_svyolr_itself_on_any_scale_of_the_weights(factor):
    """Its information comes from differences of gradients, which tells in the fourth digit of the errors."""
    data = datasets.load("anes96")
    w = np.exp(np.random.default_rng(0).normal(0, 0.7, len(data)))
    data = data.assign(y=data["PID"].cat.codes, w=factor * w / w.mean())
    fit = ordfit("y ~ selfLR + age + educ", data, design=SurveyDesign(weights="w"))
    r = pd.DataFrame(SVYOLR, index=["estimate", "se"]).T.loc[fit.params.index]
    np.testing.assert_allclose(fit.params, r["estimate"], rtol=1e-6)
    np.testing.assert_allclose(fit.se, r["se"], rtol=5e-4)
    counts = {0.05350: "selfLR", 0.003715: "age", 0.03833: "educ"}  # as numbers of rows, which scaled with the weights
    assert all(abs(fit.se[name] / wrong - 1) > 0.1 for wrong, name in counts.items())

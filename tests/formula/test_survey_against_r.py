"""Survey designs against R's survey package on the same sample: survey.R wrote
survey.csv.
"""

import numpy as np
import pandas as pd
import pytest
from expected import rows_left_out

from ordstat import SurveyDesign, ordfit

from .survey_samples import FORMULA, HERE, replicate_weights, sample

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
    f"lonely {lonely}{' fpc' * fpc}": (
        {"weights": "w", "strata": "s1", "clusters": "psu1", "lonely": lonely}
        | ({"fpc": "N1"} if fpc else {})
    )
    for lonely in ("remove", "certainty", "adjust", "average")
    for fpc in (False, True)
}
REPLICATES = {
    f"{type} {'mse' if mse else 'mean'}": (
        {"weights": "w", "mse": mse}
        | ({"scale": np.full(24, 5 / 6)} if type == "JKn" else {"type": type})
        | ({"rho": 0.3} if type == "Fay" else {})
    )
    for type in ("BRR", "Fay", "JK1", "JKn", "bootstrap")
    for mse in (False, True)
}


def data():
    frame = sample()
    return frame.assign(share=6 / frame["N"], short=frame["psu"] % 100)


def check(fit, case, link):
    golden = GOLDEN[(GOLDEN["case"] == case) & (GOLDEN["link"] == link)].set_index(
        "term"
    )
    assert len(golden) == 9
    np.testing.assert_allclose(
        fit.params, golden["estimate"][fit.params.index], rtol=TOLERANCE
    )
    np.testing.assert_allclose(fit.se, golden["se"][fit.params.index], rtol=TOLERANCE)
    assert fit.design_df == golden["df"].iloc[0]


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_strata_and_units(link):
    check(
        ordfit(FORMULA, data(), link, design=SurveyDesign(**STRATA)),
        "strata and PSUs",
        link,
    )


@pytest.mark.parametrize("case", [*LINEARISED, *LONELY])
def test_linearised(case):
    check(
        ordfit(FORMULA, data(), design=SurveyDesign(**(LINEARISED | LONELY)[case])),
        case,
        "logit",
    )


def test_a_subset_is_a_domain():
    fit = ordfit(
        FORMULA,
        data().assign(unit=lambda d: d["psu"] % 100),
        subset="(age > 60) & (unit != 3)",
        design=_plain(),
    )
    check(fit, "a domain", "logit")


def test_missing_values_and_weights_of_zero_leave_a_domain_too():
    frame = data()
    out = ~((frame["age"] > 60) & (frame["psu"] % 100 != 3))
    by_weight = frame.assign(w=frame["w"].where(~out, 0.0))
    check(ordfit(FORMULA, by_weight, design=_plain()), "a domain", "logit")
    with rows_left_out():
        fit = ordfit(
            FORMULA, frame.assign(educ=frame["educ"].where(~out)), design=_plain()
        )
    check(fit, "a domain", "logit")


@pytest.mark.parametrize("case", REPLICATES)
def test_replicate_weights(case):
    design = SurveyDesign(
        **REPLICATES[case], replicates=replicate_weights(case.split()[0])
    )
    check(ordfit(FORMULA, data(), design=design), case, "logit")


def _plain():
    return SurveyDesign(**STRATA)

"""Advice where estimates are infinite: every call that a message names gives finite
estimates.
"""

import re
import warnings

import numpy as np
import pandas as pd
import pytest

from ordstat import SurveyDesign, ordfit, pool
from ordstat.exceptions import OrdstatError

#: What messages advise -> the options of the call.
CALLS = {
    r"penalty='jeffreys'": {"penalty": "jeffreys"},
    r"ridge \(penalty=1\.0\)": {"penalty": 1.0},
    r"method='multinomial' and penalty=1\.0": {"method": "multinomial", "penalty": 1.0},
}
JEFFREYS = {"penalty": "jeffreys"}
RIDGE = {"penalty": 1.0}
WIDER = {"method": "multinomial", "penalty": 1.0}
#: (formula, options, what is advised)
FITS = {
    "logit": ("y ~ g + x", {}, [JEFFREYS, RIDGE]),
    "acat": ("y ~ g + x", {"method": "acat"}, [RIDGE]),
    "cratio": ("y ~ g + x", {"method": "cratio"}, [RIDGE]),
    "multinomial": ("y ~ g + x", {"method": "multinomial"}, [RIDGE]),
    "stereotype": ("y ~ g + x", {"method": "stereotype"}, [WIDER]),
    "robust": ("y ~ g + x", {"vcov": "HC0"}, [JEFFREYS, RIDGE]),
    "CR2": ("y ~ g + x", {"vcov": {"cluster": "id", "type": "CR2"}}, []),
    "survey": (
        "y ~ g + x",
        {"design": SurveyDesign(weights="w", clusters="id")},
        [JEFFREYS, RIDGE],
    ),
    "nominal": ("y ~ g + x", {"nominal": "~ h"}, [RIDGE]),
    "scale": ("y ~ g + x", {"scale": "~ h"}, [JEFFREYS, RIDGE]),
    "structure": ("y ~ g + x", {"threshold": "equidistant"}, [JEFFREYS, RIDGE]),
    "free link": ("y ~ g + x", {"link": "aranda-ordaz"}, [RIDGE]),
    "mixed": ("y ~ g + x + (1 | id)", {}, []),
    "known in part": ("interval(y, y) ~ g + x", {}, [JEFFREYS, RIDGE]),
}


def separated_rows():
    """All rows of level c of g are at the top."""
    rng = np.random.default_rng(2)
    data = pd.DataFrame(
        {
            "x": rng.normal(size=90),
            "g": np.repeat(list("abc"), 30),
            "h": np.tile(list("uv"), 45),
            "id": np.arange(90) % 15,
            "w": 1.0,
        }
    )
    data["y"] = np.digitize(0.8 * data["x"] + rng.logistic(size=90), [-0.8, 0.8])
    return data.assign(y=data["y"].where(data["g"] != "c", 2))


def everything_said(formula, data, options):
    """Warnings and refusals of a fit and of questions that need finite estimates."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit = ordfit(formula, data, **options)
        said = []
        for ask in (lambda: fit.draws(), lambda: pool([fit, fit])):
            with pytest.raises(OrdstatError) as refused:
                ask()
            said.append(str(refused.value))
    return " ".join([*said, *(str(one.message) for one in caught)])


@pytest.mark.filterwarnings("ignore::ordstat.exceptions.OrdstatWarning")
@pytest.mark.parametrize("name", FITS)
def test_what_is_advised_gives_finite_estimates(name):
    formula, options, expected = FITS[name]
    data = separated_rows()
    text = everything_said(formula, data, options)
    advised = [call for words, call in CALLS.items() if re.search(words, text)]
    assert advised == expected
    assert "erge levels" in text
    for call in advised:
        fit = ordfit(formula, data, **{**options, **call})
        assert np.isfinite(fit.params).all() and np.isfinite(fit.se).all()

"""Survey designs that are refused, and designs that are probably a mistake."""

import numpy as np
import pandas as pd
import pytest
from expected import refused, rows_left_out
from problems import ranked

from ordstat import DataError, OptionError, SurveyDesign, datasets, ordfit

from .survey_samples import FORMULA, replicate_weights, sample


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"weights": None}, "weights of SurveyDesign must be a column"),
        ({"nest": True}, "nest of SurveyDesign goes with clusters="),
        ({"nest": True, "strata": "s"}, "nest of SurveyDesign goes with clusters="),
        ({"lonely": "adjusted"}, "Did you mean 'adjust'"),
        ({"type": "BRR"}, "type of SurveyDesign goes with replicates="),
        (
            {"replicates": ["a", "b"], "type": "BRR", "strata": "s"},
            "strata of SurveyDesign must be left out",
        ),
        ({"replicates": ["a", "b"]}, "type of SurveyDesign must be one of 'BRR'"),
        (
            {"replicates": ["a", "b"], "type": "JKn"},
            r"has no .JKn.: give scale=, each replicate's \(n_h - 1\)/n_h",
        ),
        (
            {"replicates": ["a", "b"], "type": "Fay"},
            "rho of SurveyDesign goes with type='Fay'",
        ),
        (
            {"replicates": ["a", "b"], "type": "Fay", "rho": 1.0},
            "rho of SurveyDesign must be",
        ),
        (
            {"replicates": ["a", "b"], "type": "BRR", "scale": 0.5},
            "scale of SurveyDesign replaces type=",
        ),
    ],
)
def test_fields(fields, message):
    with pytest.raises(OptionError, match=message):
        SurveyDesign(**({"weights": "w"} | fields))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"strata": "t"}, "no column 't', needed for strata= of SurveyDesign"),
        ({"strata": "s1", "clusters": "psu1"}, "a single PSU in stratum '9'"),
        (
            {"strata": "s1", "clusters": "s"},
            "PSU '1', which is in another stratum too, in row 50",
        ),
        (
            {"strata": "s", "clusters": "psu", "fpc": "two"},
            "2 in stratum '0', of which 6 PSUs were drawn",
        ),
        (
            {"strata": "s", "clusters": "psu", "fpc": "age"},
            "one number in each stratum; it varies in '0'",
        ),
        (
            {"strata": "s", "clusters": "psu", "fpc": "mixed"},
            "got 0.5 in stratum '0', of which 6 PSUs were drawn",
        ),
        ({"strata": "gaps"}, "strata= of SurveyDesign is missing in row 3"),
        (
            {"strata": "s", "clusters": "s", "lonely": "remove"},
            "must leave a degree of freedom",
        ),
        ({"clusters": [1, 2]}, "944 values, one per row"),
        ({"weights": "negative"}, "weights must be 0 or more"),
        (
            {"replicates": ["w", "gaps"], "type": "JK1"},
            "replicates= of SurveyDesign is missing",
        ),
        ({"replicates": np.ones((5, 3)), "type": "JK1"}, r"got shape \(5, 3\)"),
    ],
)
def test_data(fields, message):
    data = sample().assign(
        two=2.0, mixed=lambda d: np.where(d["s"] == 0, 0.5, 9.0), negative=-1.0
    )
    data["gaps"] = data["s"].where(data.index != 3)
    with pytest.raises(DataError, match=message):
        ordfit(FORMULA, data, design=SurveyDesign(**({"weights": "w"} | fields)))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"design": "w"}, "design must be a SurveyDesign"),
        ({"weights": "w"}, "weights= must be left out with design="),
        ({"cluster": "psu"}, r"Use SurveyDesign\(clusters=\.\.\.\)"),
        ({"method": "redsvm"}, "design must go with a likelihood method; REDSVM"),
    ],
)
def test_arguments(arguments, message):
    with pytest.raises(OptionError, match=message):
        ordfit(FORMULA, sample(), **({"design": SurveyDesign(weights="w")} | arguments))


def test_a_replicate_without_a_level():
    data = sample()
    weights = replicate_weights("JK1")
    weights[data["pid"] == 4, 5] = 0.0
    with pytest.raises(
        DataError, match="replicate 6 gives no weight to level 4 of the response"
    ):
        ordfit(
            FORMULA,
            data,
            design=SurveyDesign(weights="w", replicates=weights, type="JK1"),
        )


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_separated_replicate_is_refused_by_the_fit(seed):
    rng = np.random.default_rng(seed)
    data = ranked(rng, 80, [-1.0, 1.0])
    weights = np.ones((80, 4)) + rng.random((80, 4))
    weights[:, 2] *= data["y"] == np.digitize(data["x"], [-0.5, 0.5])
    design = SurveyDesign(weights=np.ones(80), replicates=weights, type="bootstrap")
    with pytest.raises(
        DataError,
        match="replicate 3 has no finite estimates: its weights leave too few rows",
    ):
        ordfit("y ~ x", data, design=design)


@pytest.mark.parametrize("scale", ["a", [[1.0], [2.0, 3.0]], -1.0, 0, [1.0, 2.0]])
def test_scales_are_numbers(scale):
    design = SurveyDesign(weights="w", replicates=replicate_weights("JKn"), scale=scale)
    with refused("scale of SurveyDesign"):
        ordfit(FORMULA, sample(), design=design)


@pytest.mark.parametrize("role", ["weights", "strata", "clusters", "fpc"])
def test_a_number_in_the_place_of_a_column(role):
    with refused(role, "3", error=DataError):
        ordfit(FORMULA, sample(), design=SurveyDesign(**({"weights": "w"} | {role: 3})))


ROWS = {"weights": "one"}
BRR = {"weights": "one", "replicates": replicate_weights("BRR"), "type": "BRR"}


@pytest.mark.parametrize(
    "fields",
    [ROWS, BRR, ROWS | {"strata": "s"}, ROWS | {"strata": "s", "clusters": "psu"}],
)
def test_what_takes_independent_rows(fields):
    """Also where weights are equal and no clusters are known."""
    fit = ordfit("pid ~ age", sample().assign(one=1.0), design=SurveyDesign(**fields))
    assert (
        fit.bounds().empty
        and "drawn by a survey design" in fit.bounds().attrs["notes"][0]
    )
    with pytest.raises(
        OptionError,
        match=(
            r"bounds\(cv=\) needs independent rows; these were drawn by a survey design"
        ),
    ):
        fit.bounds(cv=3)
    with pytest.raises(
        OptionError, match=r"rows (of a survey design|in clusters) are not exchangeable"
    ):
        fit.conformal()
    assert not ordfit("pid ~ age", sample()).bounds().empty


WINE = datasets.load("wine")
N = len(WINE)
WINE = WINE.assign(
    w=1.0 + np.arange(N) % 3,
    psu=np.arange(N) % 12,
    stratum=np.arange(N) % 3,
    label=[f"p{(i // 3) % 4}" for i in range(N)],
    text="a",
)


def errors(**design: object) -> pd.Series:
    return ordfit(
        "rating ~ temp + contact",
        WINE,
        design=SurveyDesign(**{"weights": "w"} | design),
    ).se


def test_a_census_is_told_from_a_mistaken_population():
    drawn = WINE.groupby("stratum")["psu"].transform("nunique").to_numpy()
    # R has standard errors of 0
    with pytest.raises(DataError, match="leaves no sampling error"):
        errors(strata="stratum", clusters="psu", fpc=drawn)
    assert (
        errors(strata="stratum", clusters="psu", fpc=drawn + (WINE["stratum"] == 0))
        > 0.0
    ).all()
    with pytest.raises(DataError, match="from 0 to 1 and not all 1"):
        errors(strata="stratum", clusters="psu", fpc=np.ones(N))
    with pytest.raises(
        DataError,
        match=r"shares of them from 0 to 1 and not all 1; got -1 in stratum '0'",
    ):
        errors(strata="stratum", clusters="psu", fpc=-np.ones(N))
    certain = np.where(WINE["stratum"] == 0, 1.0, 0.5)  # one stratum taken as a whole
    assert (
        errors(strata="stratum", clusters="psu", fpc=certain)
        < errors(strata="stratum", clusters="psu")
    ).all()


@pytest.mark.parametrize(
    ("design", "message"),
    [
        ({"weights": "text"}, r"weights= must be one column of numbers. Convert it"),
        (
            {"replicates": ["w", "psu"], "type": "BRR", "rho": 0.3},
            "goes with type='Fay' alone; got 0.3",
        ),
        (
            {"strata": "stratum", "clusters": np.zeros(N)},
            "which is in another stratum too.*nest=True",
        ),
        ({"clusters": np.zeros(N)}, "a single PSU in stratum 'all'"),
        (
            {"strata": "psu", "clusters": "psu", "lonely": "remove"},
            "more PSUs than strata; got 12 PSUs in 12 strata",
        ),
    ],
)
def test_refused(design: dict[str, object], message: str) -> None:
    with pytest.raises((DataError, OptionError), match=message):
        errors(**design)


def test_labels_that_start_anew_in_every_stratum():
    """Text labels p0 to p3 in each of three strata are twelve units, as numbers of the
    pair are.
    """
    pair = 4 * WINE["stratum"] + (WINE.index // 3) % 4
    np.testing.assert_allclose(
        errors(strata="stratum", clusters="label", nest=True),
        errors(strata="stratum", clusters=pair),
        rtol=1e-12,
    )
    with pytest.raises(DataError, match="PSU 'p0', which is in another stratum too"):
        errors(strata="stratum", clusters="label")


def test_rows_of_weight_0_count_their_unit_and_nothing_else():
    """A unit whose rows all have weight 0 was drawn: it stays in n_h, as in R's
    svydesign.
    """
    zero = WINE.assign(w=WINE["w"].where(WINE["psu"] != 0, 0.0))
    design = SurveyDesign(weights="w", strata="stratum", clusters="psu")
    fit = ordfit("rating ~ temp + contact", zero, design=design)
    left = ordfit("rating ~ temp + contact", WINE, design=design, subset="psu != 0")
    np.testing.assert_allclose(fit.se, left.se, rtol=1e-10)
    without = ordfit("rating ~ temp + contact", WINE[WINE["psu"] != 0], design=design)
    assert not np.allclose(fit.se, without.se, rtol=1e-3)


def test_missing_weights_are_told():
    with rows_left_out(1, 72, "w (1)"):
        ordfit(
            "rating ~ temp",
            WINE.assign(w=WINE["w"].where(WINE.index != 4)),
            design=SurveyDesign(weights="w"),
        )

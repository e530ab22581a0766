"""Weights of every size: right to the bounds of what is a number of rows, and refused
beyond them.
"""

import re
import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest
from expected import refused
from seams import METHODS

from contract.problems import (
    Problem,
    assert_same_ranker,
    latent_frame,
    score_tolerance,
    scores,
    thresholds,
)
from ordstat import OrdinalClassifier, ordfit
from ordstat.exceptions import DataError
from ordstat.reduction import reduction

#: Presented, drawn or counted one by one: heavy rows are refused by what they would
#: take, and parts of a row too.
COUNTED = ("prank", "siprank", "cusum", "pa-cusum", "kernel-prank", "kernel-cusum")
DRAWN = (
    "bagging",
    "ordinal-bagging",
    "nominal-adaboost",
    "fixed-split-boosting",
    "ordinal-adaboost",
)
#: Fits that do not change where all weights are multiplied: everything is a share of
#: their sum.
FREE = (
    *("clm", "logit", "probit", "cloglog", "loglog", "cauchit"),
    *("acat", "cratio", "sratio"),
    *(
        "rankboost-or",
        "rankboost-ae",
        "orboost-lr",
        "orboost-all",
        "orstump",
        "adaboost-or",
        "adaboost",
    ),
    *("cart", "ordinal-cart"),
)
#: Fits in which C (or one over a penalty) times the weights is what counts, and the
#: power of the weights in it.
PRICED = {
    **dict.fromkeys(
        (
            "redsvm",
            "osvm",
            "svor-imc",
            "svor-exc",
            "ova",
            "csova",
            "ovo",
            "csovo",
            "wap",
            "tsew",
        ),
        1,
    ),
    "rank-svm": 2,
}
#: The ends of what is a number of rows, and what lies between.
UNITS = [
    1e-15,
    *(pytest.param(unit, marks=pytest.mark.slow) for unit in (1e-9, 1e9)),
    3e14,
]


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("weight", [1e-300, 1e-160, 1e-16, 1e16, 1e160, 1e300])
def test_what_is_no_number_of_rows_is_refused(name, weight):
    problem = Problem.of(name)
    one = problem.frame.assign(w=1.0).set_index(np.arange(60) + 100)
    one.loc[[103, 107], "w"] = weight
    words = re.escape(f"weights= is {weight:g} in row 10")
    with pytest.raises(
        DataError,
        match=words
        + r"3 \(position 3\), column 'w' \(such rows: 2\).* 1e-15 to 1e\+15",
    ):
        problem.fit(one, weights="w")
    with pytest.raises(DataError, match=words + r"0 \(position 0\) \(such rows: 60\)"):
        problem.fit(one, weights=np.full(60, weight))
    with pytest.raises(DataError, match=re.escape(f"weights= is {weight:g}")):
        OrdinalClassifier(name).fit(
            one[["x1", "x2"]], one["y"], sample_weight=np.full(60, weight)
        )


@pytest.mark.parametrize("weight", [1e-160, 1e300])
def test_weights_of_new_rows_are_numbers_of_rows_too(weight):
    frame = latent_frame(4)
    fit = ordfit("y ~ x1", frame, "logit")
    with pytest.raises(DataError, match=r"a weight must be 0 or from 1e-15 to 1e\+15"):
        fit.reliability(frame.assign(w=weight), weights="w")


def _weighted(problem, unit):
    return problem.frame.assign(w=unit * np.random.default_rng(1).integers(1, 4, 60))


@cache
def _counted(name, **options):
    """The fit to weights that are counts, shared by the units of the weights that it is
    compared with.
    """
    problem = Problem.of(name)
    return problem.fit(_weighted(problem, 1.0), weights="w", **options)


def _assert_same(problem, fit, other):
    assert_same_ranker(fit, other, problem.frame)
    np.testing.assert_allclose(fit.errors(), other.errors(), rtol=1e-9, atol=1e-9)
    assert str(fit.summary())


@pytest.mark.parametrize("name", FREE)
@pytest.mark.parametrize("unit", UNITS)
def test_shares_of_the_weights_are_what_counts(name, unit):
    problem = Problem.of(name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Standard errors of a likelihood fit do change with the unit; tests/survey has
        # the warning.
        warnings.filterwarnings("ignore", "weights= are counts of equal rows")
        fit = problem.fit(_weighted(problem, unit), weights="w")
        _assert_same(problem, fit, _counted(name))


@pytest.mark.parametrize("name", PRICED)
@pytest.mark.parametrize("unit", UNITS)
def test_weights_multiply_C(name, unit):
    problem = Problem.of(name)
    C = 0.25 / unit ** PRICED[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit = problem.fit(_weighted(problem, unit), weights="w", C=C)
        _assert_same(problem, fit, _counted(name, C=0.25))


@pytest.mark.parametrize("unit", UNITS)
def test_weights_divide_a_penalty(unit):
    problem = Problem.of("red-logistic")
    fit = problem.fit(_weighted(problem, unit), weights="w", penalty=0.5 * unit)
    _assert_same(problem, fit, _counted("red-logistic", penalty=0.5))


@pytest.mark.parametrize("name", ["reduction", "frank-hall"])
@pytest.mark.parametrize("unit", UNITS)
def test_weights_multiply_the_C_of_a_logistic_regression(name, unit):
    from sklearn.linear_model import LogisticRegression

    problem = Problem.of(name)

    def fit(unit):
        base = LogisticRegression(C=1.0 / unit, tol=1e-10, max_iter=10_000)
        return problem.fit(_weighted(problem, unit), weights="w", base=base)

    _assert_same(problem, fit(unit), fit(1.0))


@pytest.mark.parametrize("name", ["red-c45", "reduction", "frank-hall"])
def test_learners_that_count_weights_need_no_copies(name, monkeypatch):
    problem = Problem.of(name)
    copied = problem.fit(_weighted(problem, 1.0), weights="w")
    monkeypatch.setattr(reduction, "MOST_REPEATED", 0)
    weighted = problem.fit(_weighted(problem, 1.0), weights="w")
    np.testing.assert_allclose(
        scores(weighted, problem.frame), scores(copied, problem.frame), atol=1e-3
    )


@pytest.mark.parametrize("name", COUNTED)
def test_parts_of_a_row_are_not_presented(name):
    problem = Problem.of(name)
    if name == "siprank":
        fits = [problem.fit(problem.frame.assign(w=w), weights="w") for w in (1.0, 0.5)]
        assert fits[0].nobs == 2.0 * fits[1].nobs
        return
    with refused("weights", error=DataError):
        problem.fit(problem.frame.assign(w=1e-15), weights="w")


@pytest.mark.parametrize("name", DRAWN)
def test_samples_of_less_than_a_row_are_none(name):
    problem = Problem.of(name)
    with pytest.raises(
        DataError, match=r"must be from 1 to .* got 6e-14\. Multiply the weights"
    ):
        problem.fit(problem.frame.assign(w=1e-15), weights="w")


def test_labels_are_drawn_for_rows():
    problem = Problem.of("relabel")
    with pytest.raises(DataError, match="no row was drawn"):
        problem.fit(problem.frame.assign(w=1e-15), weights="w")
    many = pd.DataFrame(
        {"y": [1, 2] * 1000, "x1": 0.0, "x2": 0.0, "g": ["a", "b"] * 1000, "w": 1e15}
    )
    with pytest.raises(DataError, match=r"got 2e\+18"):
        problem.fit(many, weights="w")


def test_heavy_rows_are_not_listed():
    problem = Problem.of("rank-svm")
    heavy = problem.frame.assign(w=1e9)
    fit = problem.fit(heavy, weights="w", C=1e-18)
    assert "60,000,000,000 rows, and at most 10,000,000 are paired" in " ".join(
        str(fit.summary("all")).split()
    )
    with pytest.raises(
        DataError,
        match=r"calibrate= needs weights with a sum of at most 1e\+07; got 6e\+10",
    ):
        problem.fit(heavy, weights="w", C=1e-18, calibrate=True)
    with pytest.raises(
        DataError, match=r"Splitting 60,000,000,000 rows needs .* Divide the weights"
    ):
        fit.conformal(0.9)


@pytest.mark.filterwarnings("ignore:weights= are counts:ordstat.exceptions.DataWarning")
def test_light_rows_beside_heavy_ones():
    """Rows of 1e-9 break the separation of rows of 1e9: the estimates are those of
    heavy rows with an error each.
    """
    problem = Problem.of("logit")
    light = problem.frame.assign(w=np.where(np.arange(60) % 2, 1e9, 1e-9))
    fit = problem.fit(light, weights="w")
    heavy = problem.fit(problem.frame.iloc[1::2])
    np.testing.assert_allclose(
        scores(fit, problem.frame),
        scores(heavy, problem.frame),
        atol=score_tolerance(fit),
    )
    np.testing.assert_allclose(
        thresholds(fit), thresholds(heavy), atol=score_tolerance(fit)
    )

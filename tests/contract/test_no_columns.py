"""A response without columns: every method predicts one rank, or says what it needs."""

import warnings

import numpy as np
import pytest
from expected import refused
from seams import METHODS

from contract.problems import Problem, scores
from ordstat import ordfit
from ordstat.exceptions import DataError

#: Their classifier is scikit-learn's, which takes no table without columns.
REFUSED = ("frank-hall", "nominal-classifier", "seedboost")
#: Methods whose ensemble is a constant from the first round on; that of least cost is
#: the median of the ranks.
MEDIAN = ("rankboost-or", "rankboost-ae", "orboost-all", "orstump", "adaboost-or")


@pytest.mark.parametrize("name", [name for name in METHODS if name not in REFUSED])
def test_every_row_gets_the_same_rank(name):
    problem = Problem.of(name)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        fit = ordfit("y ~ 1", problem.frame, name)
        assert str(fit.summary())
        assert fit.predict().nunique() == 1
        assert fit.predict(problem.frame.head(2)).tolist() == fit.predict().tolist()[:2]
        assert np.ptp(scores(fit, problem.frame), axis=0).max() == 0.0
        assert fit.errors().loc["classification error"].item() == pytest.approx(
            1.0 - (problem.frame["y"] == fit.predict().iloc[0]).mean()
        )


@pytest.mark.parametrize("name", MEDIAN)
def test_a_constant_ranker_of_least_cost_is_the_median(name):
    frame = Problem.of(name).frame.iloc[:51].sort_values("y")
    fit = ordfit("y ~ 1", frame, name)
    assert fit.predict().iloc[0] == frame["y"].iloc[25]


@pytest.mark.parametrize("name", REFUSED)
def test_a_classifier_without_columns_is_refused(name):
    with refused("X", error=DataError):
        ordfit("y ~ 1", Problem.of(name).frame, name)

"""Weights that are no numbers of rows: a warning at the fit, weighted percentages in the summary."""

import warnings

import numpy as np
import pytest

from ordstat import DataWarning, SurveyDesign, datasets, ordfit

WINE = datasets.load("wine")
FRACTIONS = np.resize([0.5, 1.0, 2.5], len(WINE))
FORMULA = "rating ~ temp + contact"


@pytest.mark.parametrize("vcov", [None, "model", "HC0", "HC1"])
def test_fractions_warn_once_and_name_the_remedy(vcov):
    with pytest.warns(DataWarning, match=r"design=SurveyDesign\(weights=\.\.\.\)") as caught:
        ordfit(FORMULA, WINE, weights=FRACTIONS, vcov=vcov)
    assert len(caught) == 1
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    "arguments",
    [
        {"weights": 2.0 * FRACTIONS},
        {"weights": FRACTIONS, "cluster": np.arange(len(WINE)) // 3},
        {"weights": FRACTIONS, "vcov": {"cluster": np.arange(len(WINE)) // 3}},
        {"design": SurveyDesign(weights=FRACTIONS)},
        {"weights": FRACTIONS, "method": "redsvm"},
    ],
    ids=["whole", "cluster", "vcov", "survey", "ranker"],
)
def test_no_warning(arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ordfit(FORMULA, WINE, **arguments)


def test_no_warning_at_fits_of_the_fit():
    with pytest.warns(DataWarning, match="not whole"):
        fit = ordfit(FORMULA, WINE, weights=FRACTIONS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit.drop1()
        fit.step()
        fit.bootstrap(5)
        fit.update("~ . - contact")
        fit.nominal_test()


def test_summary_in_percentages():
    """3 rows of 72 of weight 1 (as survey weights): 1/24 = 4.2 % at most in a cell of one of them."""
    with pytest.warns(DataWarning):
        text = str(ordfit(FORMULA, WINE, weights=FRACTIONS).summary("all"))
    share = FRACTIONS[WINE["rating"] == 1].sum() / FRACTIONS.sum()
    assert f"1 ({100 * share:.1f}%)" in text
    assert "72 weighted rows, sum of weights 96" in text
    assert "weighted percentages" in text
    whole = str(ordfit(FORMULA, WINE, weights=2.0 * FRACTIONS).summary("all"))
    assert "192 (in 72 weighted rows)" in whole
    assert "%)" not in whole

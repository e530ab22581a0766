"""Weights that are no numbers of rows: a warning at the fit, weighted percentages in
the summary.
"""

import warnings

import numpy as np
import pytest
from expected import weights_not_whole

from ordstat import DataWarning, SurveyDesign, datasets, ordfit, table

WINE = datasets.load("wine")
FRACTIONS = np.resize([0.5, 1.0, 2.5], len(WINE))
FORMULA = "rating ~ temp + contact"


@pytest.mark.parametrize("vcov", [None, "model", "HC0", "HC1"])
def test_fractions_warn_once_and_name_the_remedy(vcov):
    with pytest.warns(
        DataWarning, match=r"design=SurveyDesign\(weights=\.\.\.\)"
    ) as caught:
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
    with weights_not_whole():
        fit = ordfit(FORMULA, WINE, weights=FRACTIONS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit.drop1()
        fit.step()
        fit.bootstrap(5)
        fit.update("~ . - contact")
        fit.nominal_test()


def test_summary_in_percentages():
    """3 rows of 72 of weight 1 (as survey weights): 1/24 = 4.2 % at most in a cell of
    one of them.
    """
    with pytest.warns(DataWarning):
        text = str(ordfit(FORMULA, WINE, weights=FRACTIONS).summary("all"))
    share = FRACTIONS[WINE["rating"] == 1].sum() / FRACTIONS.sum()
    assert f"1 ({100 * share:.1f}%)" in text
    assert "72 weighted rows, sum of weights 96" in text
    assert "weighted percentages" in text
    whole = str(ordfit(FORMULA, WINE, weights=2.0 * FRACTIONS).summary("all"))
    assert "192 (in 72 weighted rows)" in whole
    assert "%)" not in whole


def people(fit, name):
    """The numbers after "n = " of a picture."""
    axes = fit.plot.latent() if name == "latent" else fit.plot.stacked(name)
    texts = [
        text.get_text()
        for text in axes.figure.findobj(lambda artist: hasattr(artist, "get_text"))
    ]
    return sorted(
        {float(text.rpartition("n = ")[2]) for text in texts if "n = " in text}
    )


@pytest.mark.filterwarnings("ignore::ordstat.exceptions.DataWarning")
@pytest.mark.parametrize("role", ["weights", "design"])
def test_numbers_of_people_are_never_sums_of_weights(role):
    weights = np.resize([0.731, 1.117, 2.4], len(WINE))
    fit = ordfit(
        FORMULA,
        WINE,
        **{role: weights if role == "weights" else SurveyDesign(weights=weights)},
    )
    assert people(fit, "latent") == sorted(WINE["rating"].value_counts().unique())
    assert people(fit, "contact") == [36.0]
    assert "72 observations" in str(fit)
    assert table(fit).df.loc[("stats", "N")].tolist() == ["72"]
    whole = ordfit(FORMULA, WINE, weights=1 + WINE.index % 2)
    assert people(whole, "contact") == [54.0]  # numbers of equal rows
    axes = fit.plot.confusion()
    shown = [float(text.get_text()) for text in axes.texts]
    assert sum(shown) == pytest.approx(100.0, abs=0.05 * len(shown))
    assert "weighted percentages" in axes.get_title("left")


@pytest.mark.filterwarnings("ignore::ordstat.exceptions.DataWarning")
@pytest.mark.parametrize(("n", "seed"), [(2552, 0), (1777, 3), (313, 4)])
def test_rounding_is_no_part_of_a_number_of_rows(n, seed):
    """Weights of mean 1 add up to the number of rows."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    weights = rng.gamma(2.0, size=n)
    data = {
        "y": rng.integers(0, 3, n),
        "x": x,
        "w": weights,
        "mean1": weights / weights.mean(),
    }
    for options in ({"design": SurveyDesign(weights="w")}, {"weights": "mean1"}):
        fit = ordfit("y ~ x", data, **options)
        assert fit.nobs == n and fit.glance()["nobs"].item() == n
    assert ordfit("y ~ x", data, weights="w").nobs == pytest.approx(
        weights.sum(), rel=1e-14
    )

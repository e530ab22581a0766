"""`ordstat.table`: the cells against the fits they come from, through maketables."""

import numpy as np
import pytest

from ordstat import datasets, ordfit, table
from ordstat.exceptions import OptionError

pytest.importorskip("maketables")
WINE = datasets.load("wine")
SMALL, FULL = ordfit("rating ~ temp", WINE), ordfit("rating ~ temp + contact", WINE)
#: R: clm(rating ~ temp + contact, data = wine), coef and its standard error.
WARM, ERROR = 2.50310, 0.52871


def cell(shown, row, place):
    return shown.df.xs(row, level=1).iloc[0, place]


def test_cells_are_those_of_r():
    assert cell(table([SMALL, FULL]), "temp: warm", 1).split() == [f"{WARM:.3f}", f"({ERROR:.3f})"]
    odds = cell(table(FULL, exponentiate=True, below="interval", digits=3), "temp: warm", 0)
    limits = np.exp(WARM + 1.959964 * ERROR * np.array([-1.0, 1.0]))
    assert [float(text.strip("[],")) for text in odds.split()[1:]] == pytest.approx(limits, rel=3e-4)


def test_rows_order_labels_and_figures():
    shown = table({"A": SMALL, "B": FULL}, labels={"temp": "Temperature"}, thresholds=False, gof=["nobs", "aic"])
    assert shown.df.index.get_level_values(1).tolist() == ["Temperature: warm", "contact: yes", "N", "AIC"]
    assert cell(shown, "contact: yes", 0) == "" and cell(shown, "AIC", 1) == "184.984"
    assert "A" in str(shown) and "Temperature: warm" in shown.make("tex")


def test_rankers_have_no_errors_in_the_table():
    ranker = ordfit("rating ~ temp + contact", WINE, "redsvm", kernel="linear")
    assert cell(table([FULL, ranker]), "temp: warm", 1).strip() == f"{ranker.coef['temp[T.warm]']:.3f}"


@pytest.mark.parametrize(
    ("fits", "options", "message"),
    [
        ([SMALL, 3], {}, "number 2 is a int"),
        ([SMALL], {"names": ["a", "b"]}, "names must be one text for each fit"),
        ([SMALL], {"below": "t"}, "below must be"),
    ],
)
def test_bad_arguments(fits, options, message):
    with pytest.raises(OptionError, match=message):
        table(fits, **options)

"""Errors by folds of a table of counts are those of its rows: a row of weight w is w rows."""

import numpy as np
import pytest

from ordstat import datasets, ordfit

FORMULA = "Sat ~ Infl + Type + Cont"


def test_a_table_of_counts_and_its_rows_have_the_same_errors():
    table = datasets.load("housing")
    rows = table.loc[table.index.repeat(table["Freq"])].reset_index(drop=True)
    one = ordfit(FORMULA, table, weights="Freq").errors(cv=5, seed=3)
    other = ordfit(FORMULA, rows).errors(cv=5, seed=3)
    np.testing.assert_allclose(one, other, rtol=1e-6)


@pytest.mark.parametrize("method", ["logit", "redsvm"])
def test_folds_may_be_more_than_the_lines_of_a_table(method):
    """Three lines, twelve rows."""
    wine = datasets.load("wine")
    table = wine.drop_duplicates(["rating", "temp"]).assign(n=6)[["rating", "temp", "n"]]
    found = ordfit("rating ~ temp", table, method, weights="n", levels=[1, 2, 3, 4, 5]).errors(cv=len(table) + 2)
    assert np.isfinite(found.loc["absolute error", "cv"])

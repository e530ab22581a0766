"""What classifiers refuse, what rules by a potential do not have, and levels that a part of the rows lacks."""

import numpy as np
import pandas as pd
import pytest

from ordstat import DataError, OptionError, ordfit


def test_what_a_classifier_refuses_is_an_error_of_the_data():
    """scikit-learn's trees hold 32 bits."""
    frame = pd.DataFrame({"x": np.arange(20.0), "y": np.arange(20) // 7})
    fit = ordfit("y ~ x", frame, "red-tree")
    with pytest.raises(DataError, match=r"DecisionTreeClassifier refuses the rows: .*Rescale the columns"):
        fit.predict(frame.assign(x=1e120))
    with pytest.raises(DataError, match=r"DecisionTreeClassifier refuses the rows: .*Rescale the columns"):
        ordfit("y ~ x", frame.assign(x=frame["x"] * 1e120), "red-tree")


def test_a_network_has_no_trees_to_show():
    frame = pd.DataFrame({"x": np.arange(20.0), "y": np.arange(20) // 7})
    for name in ("red-logistic", "onn", "reduction"):
        with pytest.raises(OptionError, match="no trees to show"):
            ordfit("y ~ x", frame, name).tree_text()


@pytest.mark.parametrize("name", ["reduction", "frank-hall", "red-c45", "red-logistic"])
def test_intervals_of_levels_that_some_part_of_the_rows_lacks(name):
    """Half of the rows lack a level: its probability is 0 in their fit."""
    frame = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], "y": [1, 1, 1, 2, 2, 3]})
    covered = ordfit("y ~ x", frame, name).conformal(0.5, share=0.5)
    assert covered.predict(frame).shape[0] == 6

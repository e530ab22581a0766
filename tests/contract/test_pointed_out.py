"""Messages that say where to go: what is asked for exists under another name, or belongs to another method."""

import numpy as np
import pandas as pd
import pytest

from ordstat import OptionError, OrdinalClassifier, datasets, ordfit

WINE = datasets.load("wine")


@pytest.mark.parametrize("name", ["validation", "eval_set", "validation_data"])
def test_rows_to_stop_by_are_for_stopped_early(name):
    with pytest.raises(OptionError, match=rf"no option '{name}'\. .*fit\.stopped_early\(validation\)"):
        ordfit("rating ~ temp", WINE, "ordboost", **{name: WINE})


@pytest.mark.parametrize("constraints", [["temp >= 0"], {"temp": "+"}, "temp >= 0"])
def test_constraints_of_a_method_without_any_are_not_read(constraints):
    with pytest.raises(OptionError, match="CumulativeLink does not support constraints="):
        ordfit("rating ~ temp", WINE, "clm", constraints=constraints)
    with pytest.raises(OptionError, match="CumulativeLink does not support constraints="):
        OrdinalClassifier("clm", constraints=constraints).fit([[0.0], [1.0], [2.0]], [1, 2, 3])


@pytest.mark.parametrize("none", [None, [], {}])
def test_no_constraints_are_fine(none):
    assert ordfit("rating ~ temp", WINE, "clm", constraints=none).nobs == 72


@pytest.mark.parametrize("method", ["ordboost", "rps-forest"])
def test_trees_are_not_said_to_estimate_effects(method):
    data = pd.DataFrame({"f": [f"s{v}" for v in np.arange(120) % 60], "y": np.arange(120) % 3})
    few = {"rounds": 2, "depth": 1} if method == "ordboost" else {"trees": 2}
    with pytest.warns(match=r"factor of 60 levels, each of them told from the others"):
        ordfit("y ~ f", data, method, **few)

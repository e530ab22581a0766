"""Parts of the rows that lack levels."""

import warnings

import numpy as np
import pandas as pd
import pytest
from light_options import LIGHT
from seams import METHODS

from ordstat import ordfit
from ordstat.exceptions import DataError


@pytest.mark.parametrize("name", [name for name in METHODS if name != "blend"])
def test_a_part_with_one_level_is_refused(name):
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"x": rng.normal(size=20), "y": [0] * 19 + [1]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = ordfit("y ~ x", frame, name, **LIGHT.get(name, {}))
        with pytest.raises(DataError, match="at least two levels; all 15 rows"):
            fit.errors(cv=4)

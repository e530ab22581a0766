"""Files of format version 1 are read for good: who moves or changes a class of a fit mends `ordstat/files/known.py`."""

import json
from pathlib import Path

import numpy as np
import pytest

from files.samples import wine
from ordstat import load

HERE = Path(__file__).parent / "version1"
KNOWN = json.loads((HERE / "predictions.json").read_text())


@pytest.mark.parametrize("name", KNOWN)
def test_a_file_of_version_1(name):
    """To rounding: another machine may add up in another order."""
    fit = load(HERE / f"{name}.ordstat")
    assert str(fit.summary("all")) and str(fit)
    for type, values in KNOWN[name].items():
        found = fit.predict(wine()[::7], type=type).to_numpy(float)
        np.testing.assert_allclose(found, np.array(values, dtype=float), rtol=1e-9, atol=1e-12)


def test_all_files_are_read():
    assert {path.stem for path in HERE.glob("*.ordstat")} == set(KNOWN)

"""How many digits of an estimate are correct."""

from __future__ import annotations

import numpy as np

from ..._typing import FloatArray
from ...model.likelihood_fit import Information


def correct_digits(estimates: FloatArray, errors: FloatArray, information: Information) -> FloatArray:
    """(P',) correct significant digits of each estimate, at most 15, from what it may be off by.

    An estimate smaller than its standard error is measured against that.
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        size = np.fmax(np.abs(estimates), np.sqrt(information.variances()))
        digits = np.floor(-np.log10(np.maximum(errors / size, 1e-16)))
    return np.asarray(np.fmin(np.fmax(digits, 0.0), 15.0))  # 0 of NaN

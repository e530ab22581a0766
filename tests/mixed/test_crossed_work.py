"""Crossed effects by the thousand are told with what they take before the fit; nested ones are not."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from ordstat import ordfit
from ordstat.exceptions import DataError


def pairs(n: int, groups: int, nested: bool) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    g = rng.integers(0, groups, n)
    h = g // 20 if nested else rng.integers(0, groups, n)
    return pd.DataFrame({"y": rng.integers(0, 3, n), "g": g, "h": h})


def test_large_crossed_terms_are_refused_with_figures() -> None:
    with pytest.raises(DataError, match=r"19,\d{3} crossed random effects.* GiB and 3\.\d hours.*force=True"):
        ordfit("y ~ 1 + (1 | g) + (1 | h)", pairs(100_000, 20_000, nested=False))


def test_nested_terms_of_that_size_are_not() -> None:
    fit = ordfit("y ~ 1 + (1 | g) + (1 | h)", pairs(20_000, 4_000, nested=True))
    assert fit.certificate.reached

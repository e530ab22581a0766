"""Responses drawn from a fitted probability model."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pandas as pd

from ..._typing import FloatArray, IntArray
from ...checks import generator, whole
from ...exceptions import DataError
from ...model.row_blocks import row_blocks
from ..protocols import ProbabilityRule
from .fitted import FittedLikelihood


def simulated(
    r: FittedLikelihood, n: int = 1, seed: int | np.random.Generator = 0, newdata: Any = None
) -> pd.DataFrame:
    """Responses drawn from the fitted probabilities.

    Parameters
    ----------
    n : int
        Number of responses for every row.
    seed : int or numpy.random.Generator
    newdata : data frame, optional
        Rows to simulate; the rows of the fit if not given.

    Returns
    -------
    pandas.DataFrame
        Columns sim_1, ..., sim_n: ordered categoricals of the levels of the response, on the index of the rows;
        NaN where an input is missing.

    Raises
    ------
    OptionError
        `n` below 1.
    DataError
        Nominal effects put thresholds out of order, so that some probabilities are negative.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
    >>> fit.simulate(n=2, seed=1).shape
    (72, 2)
    """
    whole("n", n, 1)
    target = r.target(newdata)
    rule, rng = cast(ProbabilityRule, r.fit.rule), generator(seed)
    shares = rng.random((int(n), target.rows.n))
    codes = np.empty(shares.shape, dtype=np.intp)
    for rows in row_blocks(target.rows.n, len(r.levels)):
        probabilities = rule.probabilities(target.rows.take(rows), target.scores[rows])
        codes[:, rows] = drawn_codes(probabilities, shares[:, rows])
    columns = {f"sim_{i + 1}": target.classes(row, r.design.levels) for i, row in enumerate(codes)}
    return pd.DataFrame(columns, index=target.index)


def drawn_codes(probabilities: FloatArray, shares: FloatArray) -> IntArray:
    """(S, n) codes: how many cumulative probabilities of a row (n, K) lie at or below each share (S, n) in [0, 1)."""
    if (probabilities < 0.0).any():
        raise DataError(
            "simulate() needs probabilities: nominal effects put the thresholds of "
            f"{int((probabilities < 0.0).any(axis=1).sum())} rows out of order, so that some are negative."
        )
    ends = np.cumsum(probabilities, axis=1)[:, :-1]
    codes = np.zeros(shares.shape, dtype=np.intp)
    for k in range(ends.shape[1]):
        codes += shares >= ends[:, k]
    return codes

"""Breiman's artificial sets of two classes."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ordstat._typing import FloatArray, IntArray
from ordstat.checks import number

Seed = int | np.random.Generator | None


def twonorm(
    n: int = 300, *, features: int = 20, flip: float = 0.0, seed: Seed = None
) -> pd.DataFrame:
    """Two unit normals at a distance of 4 [Breiman 1996, Bias, variance, and arcing
    classifiers].

    Class +1 is N((a, ..., a), I), class -1 is N((-a, ..., -a), I), a = 2 /
    sqrt(features); each class has probability 1/2. The best possible error is Phi(-2) =
    2.3 %.

    Parameters
    ----------
    n : int
        Rows; the papers train on 300 and test on 3000.
    features : int
        D, 20 in the papers.
    flip : float in [0, 1]
        Share of the rows whose class is turned round after the draw: 0.1 is the `-n`
        version of Lin 2008, sec. 5.1.3.
    seed : int, numpy.random.Generator or None

    Returns
    -------
    pandas.DataFrame
        x1..xD, rank (-1 < 1).
    """
    rng = np.random.default_rng(seed)
    code = rng.integers(0, 2, n)
    centre = np.full(features, 2 / np.sqrt(features))
    x = (2 * code - 1)[:, None] * centre + rng.standard_normal((n, features))
    return _frame(x, _flipped(code, flip, rng), [-1, 1])


def threenorm(
    n: int = 300, *, features: int = 20, flip: float = 0.0, seed: Seed = None
) -> pd.DataFrame:
    """One class of two normals, one class of a third [Breiman 1996, Bias, variance, and
    arcing classifiers].

    Class +1 is N((a, ..., a), I) or N((-a, ..., -a), I) with equal probability, class
    -1 is N((a, -a, a, -a, ...), I), a = 2 / sqrt(features); each class has probability
    1/2. The best possible error in 20 dimensions is 10.5 %.

    Parameters and returned columns are those of `twonorm`.
    """
    rng = np.random.default_rng(seed)
    code = rng.integers(0, 2, n)
    sign = 2 * rng.integers(0, 2, n) - 1
    a = 2 / np.sqrt(features)
    alternating = a * (-1.0) ** np.arange(features)
    centre = np.where((code == 1)[:, None], sign[:, None] * a, alternating)
    x = centre + rng.standard_normal((n, features))
    return _frame(x, _flipped(code, flip, rng), [-1, 1])


def ringnorm(
    n: int = 300, *, features: int = 20, flip: float = 0.0, seed: Seed = None
) -> pd.DataFrame:
    """A tight normal inside a wide one [Breiman 1996, Bias, variance, and arcing
    classifiers].

    Class +1 is N(0, 4 I), class -1 is N((a, ..., a), I), a = 2 / sqrt(features); each
    class has probability 1/2. The best possible error in 20 dimensions is 1.3 % (with a
    = 1 / sqrt(features), which some copies have, it would be 1.5 %).

    Parameters and returned columns are those of `twonorm`.
    """
    rng = np.random.default_rng(seed)
    code = rng.integers(0, 2, n)
    noise = rng.standard_normal((n, features))
    x = np.where((code == 1)[:, None], 2 * noise, 2 / np.sqrt(features) + noise)
    return _frame(x, _flipped(code, flip, rng), [-1, 1])


def _flipped(code: IntArray, share: float, rng: np.random.Generator) -> IntArray:
    """Codes 0 and 1 with round(share n) of them, chosen at random, exchanged."""
    number("flip", share, least=0.0, most=1.0)
    chosen = rng.permutation(code.size)[: round(share * code.size)]
    turned = code.copy()
    turned[chosen] = 1 - turned[chosen]
    return turned


def _frame(x: FloatArray, code: IntArray, levels: list[int]) -> pd.DataFrame:
    rank = pd.Categorical.from_codes(code, categories=levels, ordered=True)
    return pd.DataFrame(x, columns=[f"x{d + 1}" for d in range(x.shape[1])]).assign(
        rank=rank
    )

"""Example data: small real data sets, and seeded generators of the papers' artificial
ones.

Every generator returns numeric columns x1..xD and an ordered categorical `rank`.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ._typing import FloatArray
from .checks import generator, number, one_of, whole

Seed = int | np.random.Generator | None

#: Thresholds of Herbrich, Graepel & Obermayer (2000), below eq. 7.29.
HERBRICH_THRESHOLDS = (-1.0, -0.1, 0.25, 1.0)

#: Levels of both occupations of "marriage".
_OCCUPATIONS = [
    "student",
    "farm or unskilled",
    "white-collar",
    "skilled or teaching",
    "managerial",
    "professional",
]
#: Factors of the real sets and their levels, the response first.
_LEVELS: dict[str, dict[str, Sequence[Any]]] = {
    "wine": {
        "rating": range(1, 6),
        "temp": ["cold", "warm"],
        "contact": ["no", "yes"],
        "bottle": range(1, 9),
        "judge": range(1, 10),
    },
    "housing": {
        "Sat": ["Low", "Medium", "High"],
        "Infl": ["Low", "Medium", "High"],
        "Type": ["Tower", "Apartment", "Atrium", "Terrace"],
        "Cont": ["Low", "High"],
    },
    "anes96": {
        "PID": [
            "Strong Democrat",
            "Weak Democrat",
            "Independent-Democrat",
            "Independent",
            "Independent-Republican",
            "Weak Republican",
            "Strong Republican",
        ],
        "vote": ["Clinton", "Dole"],
    },
    "marriage": {
        "rating": ["very poor", "poor", "fair", "good", "very good"],
        "religious": ["not", "mildly", "fairly", "strongly"],
        "occupation": _OCCUPATIONS,
        "husband": _OCCUPATIONS,
    },
}
#: Columns of "marriage" by their names in statsmodels.
_MARRIAGE = {
    "rate_marriage": "rating",
    "yrs_married": "years",
    "occupation_husb": "husband",
}

#: The real data sets that come with the package.
NAMES = tuple(_LEVELS)


# Real data


def load(name: str) -> pd.DataFrame:
    """A small real data set, with its response as an ordered categorical.

    Parameters
    ----------
    name : {"wine", "housing", "anes96", "marriage"}
        - "wine": 72 ratings of bitterness (`rating` 1..5) by temp, contact, bottle and
          judge; `response` is the same judgement on a 0 to 100 scale [Randall 1989].
        - "housing": satisfaction `Sat` (Low < Medium < High) by Infl, Type and Cont, as
          72 cells with counts `Freq`: pass weights="Freq" [Madsen 1976].
        - "anes96": party identification `PID` (7 levels) of 944 respondents of the
          American National Election Study 1996, with age, educ, income, TVnews and
          others. Rows are sorted by income: shuffle them before you split. Read from
          statsmodels (public domain).
        - "marriage": how 6,366 women rated their marriage (`rating`, very poor < ... <
          very good) in a magazine's survey of 1974, with religious, educ, years, age,
          children and others. Read from statsmodels, which has it by permission [Fair
          1978].

    Returns
    -------
    pandas.DataFrame
        A fresh copy at every call.

    Raises
    ------
    OptionError
        For an unknown name; the message lists the names.

    Examples
    --------
    >>> from ordstat import datasets
    >>> wine = datasets.load("wine")
    >>> wine["rating"].cat.categories.tolist()
    [1, 2, 3, 4, 5]
    """
    one_of("the name of a data set", name, _LEVELS)
    if name == "anes96":
        raw = _anes96()
    elif name == "marriage":
        raw = _marriage()
    else:
        with (files("ordstat.data") / f"{name}.csv").open(encoding="utf-8") as stream:
            raw = pd.read_csv(stream)
    response = next(iter(_LEVELS[name]))
    factors = {
        column: _categorical(raw[column], levels, ordered=column == response)
        for column, levels in _LEVELS[name].items()
    }
    return pd.DataFrame(raw.assign(**factors))


def _anes96() -> pd.DataFrame:
    # a second to import, and only two sets need statsmodels
    from statsmodels.datasets import anes96

    raw = anes96.load_pandas().data
    party = [_LEVELS["anes96"]["PID"][int(code)] for code in raw["PID"]]
    vote = np.where(raw["vote"] == 1, "Dole", "Clinton")
    return pd.DataFrame(raw.assign(PID=party, vote=vote))


def _marriage() -> pd.DataFrame:
    from statsmodels.datasets import fair

    raw = fair.load_pandas().data.rename(columns=_MARRIAGE)
    labels = {
        column: [levels[int(code) - 1] for code in raw[column]]
        for column, levels in _LEVELS["marriage"].items()
    }
    return pd.DataFrame(raw.assign(**labels))


def _categorical(
    values: Any, levels: Sequence[Any], *, ordered: bool = False
) -> pd.Categorical:
    return pd.Categorical(values, categories=list(levels), ordered=ordered)


# Artificial data


def herbrich(n: int = 1000, *, noise: float = 0.125, seed: Seed = None) -> pd.DataFrame:
    """Five ranks of a saddle on the unit square [Herbrich, Graepel & Obermayer 2000,
    eq. 7.29].

    x is uniform on [0, 1]^2, f(x) = 10 (x1 - 0.5)(x2 - 0.5), and rank i is where f(x) +
    e lies between theta_{i-1} and theta_i of (-inf, -1, -0.1, 0.25, 1, inf), e ~ N(0,
    noise^2).

    Parameters
    ----------
    n : int
        Rows.
    noise : float
        Standard deviation of e. The paper writes N(0, 0.125). As a standard deviation,
        0.125 moves 15% of the rows to another rank; as a variance it would move 38%.
    seed : int, numpy.random.Generator or None

    Returns
    -------
    pandas.DataFrame
        x1, x2, rank (1..5).

    Examples
    --------
    >>> from ordstat import datasets
    >>> datasets.herbrich(100, seed=1)["rank"].cat.categories.tolist()
    [1, 2, 3, 4, 5]
    """
    rng = generator(seed)
    number("noise", noise, least=0.0)
    x = rng.random((whole("n", n, 0), 2))
    score = 10 * (x[:, 0] - 0.5) * (x[:, 1] - 0.5) + noise * rng.standard_normal(n)
    return _frame(x, np.searchsorted(HERBRICH_THRESHOLDS, score), [1, 2, 3, 4, 5])


def quadratic_bands(n: int = 500, *, seed: Seed = None) -> pd.DataFrame:
    """Four ranks between three quadratic curves on the unit square [after Lin 2008,
    sec. 4.3.2].

    x is uniform on [0, 1]^2 and rank(x) = 1 + #{k : x2 > a_k + (x1 - 1/2)^2}, a = (1/6,
    5/12, 2/3); no noise. The thesis says only "three quadratic boundaries"; ordstat
    chose these, which give each rank an area of 1/4.

    Parameters
    ----------
    n : int
        Rows; the thesis has 500.
    seed : int, numpy.random.Generator or None

    Returns
    -------
    pandas.DataFrame
        x1, x2, rank (1..4).

    Examples
    --------
    >>> from ordstat import datasets
    >>> datasets.quadratic_bands(100, seed=0).columns.tolist()
    ['x1', 'x2', 'rank']
    """
    x = generator(seed).random((whole("n", n, 0), 2))
    return _frame(
        x,
        np.searchsorted([1 / 6, 5 / 12, 2 / 3], x[:, 1] - (x[:, 0] - 0.5) ** 2),
        [1, 2, 3, 4],
    )


def _frame(
    x: FloatArray, code: npt.NDArray[np.integer[Any]], levels: Sequence[int]
) -> pd.DataFrame:
    frame = pd.DataFrame(x, columns=[f"x{d + 1}" for d in range(x.shape[1])])
    return frame.assign(
        rank=_categorical(np.asarray(levels)[code], levels, ordered=True)
    )

"""Random formulas, frames and options, most of them wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from seams import METHODS

from benchmarks.walk import QUICK
from ordstat.registry import option_names

NAMES = [
    "x",
    "z",
    "g",
    "h",
    "`a b`",
    "x1",
    "no_column",
    "y",
    ".",
    "0",
    "1",
    "-1",
    "2",
    "1e400",
    "TRUE",
]
CALLS = [
    "log",
    "exp",
    "sqrt",
    "scale",
    "center",
    "C",
    "factor",
    "offset",
    "-1",
    "+",
    "I",
    "-I",
    "np.exp",
    "round",
    "",
    "2:",
    "y ~ ",
    "x %in% ",
]
ENDS = [
    "",
    "",
    "",
    "^2",
    ", 2",
    ", df=3",
    ", knots=[0, 1]",
    ", Sum",
    " > 0",
    " | g",
    " || h",
    "^0",
    ", 99",
    " == 'a'",
]
OPERATORS = [" + ", " - ", ":", " * ", " / ", "^", " %in% ", " | ", " ~ ", " == ", ", "]


def _larger(terms: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    functions = st.sampled_from([*CALLS, "poly", "ns", "bs", "pmax"])
    joined = st.tuples(terms, st.sampled_from(OPERATORS), terms).map("".join)
    return joined | st.tuples(
        functions, st.just("("), terms, st.sampled_from(ENDS), st.just(")")
    ).map("".join)


TERMS = st.recursive(st.sampled_from(NAMES), _larger, max_leaves=6)
SYNTAX = st.text(alphabet="xyzgh01.~+-*/:^|()[]{}`'\",=<>!&%\\ \n\t#@$", max_size=30)
SENSIBLE = st.lists(
    st.sampled_from(["x", "z", "g", "h", "x:g", "log(x)", "ns(x, df=3)"]),
    min_size=1,
    max_size=3,
).map(lambda terms: "y ~ " + " + ".join(terms))
ANY_FORMULA = st.one_of(
    SENSIBLE,
    st.tuples(
        st.sampled_from(["y"] * 12 + ["g", "x", "log(x)", "", "y + x"]), TERMS
    ).map(" ~ ".join),
    st.tuples(
        st.sampled_from(["", "y ~ ", "y ~ x + "]), SYNTAX | st.text(max_size=20)
    ).map("".join),
)


def _objects(values: Any) -> Any:
    return np.fromiter(values, dtype=object)


_LEVELS = pd.CategoricalDtype(["lo", "mid", "hi", "never"], ordered=True)
#: Columns of n rows by a random generator.
COLUMNS: dict[str, Any] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "counts": lambda rng, n: rng.integers(0, 4, n),
    "whole": lambda rng, n: pd.array(rng.choice([None, 1, 2, 3, -1], n), dtype="Int64"),
    "constant": lambda rng, n: np.full(n, 3.7),
    "missing": lambda rng, n: np.full(n, np.nan),
    "gaps": lambda rng, n: np.where(rng.random(n) < 0.3, np.nan, rng.normal(size=n)),
    "infinite": lambda rng, n: np.where(
        rng.random(n) < 0.1, np.inf, rng.normal(size=n)
    ),
    "huge": lambda rng, n: rng.normal(size=n) * 1e300,
    "far": lambda rng, n: rng.normal(size=n) * 1e12 + 1e15,
    "tiny": lambda rng, n: rng.normal(size=n) * 1e-310,
    "skew": lambda rng, n: np.exp(30 * rng.normal(size=n)),
    "single": lambda rng, n: rng.normal(size=n).astype("f4"),
    "largest": lambda rng, n: rng.integers(2**63, 2**64 - 1, n, dtype=np.uint64),
    "bool": lambda rng, n: rng.random(n) < 0.5,
    "boolean": lambda rng, n: pd.array(
        rng.choice([True, False, None], n), dtype="boolean"
    ),
    "text": lambda rng, n: rng.choice(["a", "b", "c"], n),
    "blanks": lambda rng, n: pd.array(
        rng.choice(["a", " a", "A ", "", "\x1b[31m"], n), dtype="string"
    ),
    "numbers as text": lambda rng, n: rng.choice(["1", "2", "10", " 3"], n),
    "category": lambda rng, n: pd.Categorical(
        rng.choice(list("ab"), n), categories=["c", "a", "b", "d"]
    ),
    "ordered": lambda rng, n: pd.Categorical.from_codes(
        rng.integers(-1, 3, n), dtype=_LEVELS
    ),
    "one level": lambda rng, n: np.full(n, "a"),
    "identities": lambda rng, n: np.arange(n).astype(str),
    "dates": lambda rng, n: np.datetime64("2020-02-29") + rng.integers(0, 5, n),
    "zoned": lambda rng, n: pd.date_range("2020", periods=n, tz="UTC"),
    "spans": lambda rng, n: pd.to_timedelta(rng.integers(0, 9, n), unit="D"),
    "periods": lambda rng, n: pd.period_range("2020", periods=n, freq="M"),
    "intervals": lambda rng, n: pd.IntervalIndex.from_breaks(
        np.arange(n + 1) // 3 + np.arange(n + 1)
    ),
    "mixed": lambda rng, n: _objects(
        [1, "a", None, 2.5, True][i] for i in rng.integers(0, 5, n)
    ),
    "strange": lambda rng, n: _objects(
        [[1], {}, b"x", 10**30, object][i] for i in rng.integers(0, 5, n)
    ),
    "complex": lambda rng, n: rng.normal(size=n) + 1j,
    "sparse": lambda rng, n: pd.arrays.SparseArray(rng.integers(0, 2, n).astype(float)),
    "ranks": lambda rng, n: np.sort(rng.integers(1, 4, n)),
    "rare": lambda rng, n: (np.arange(n) == n - 1) + (rng.random(n) < 0.5),
}
ROWS = [40] * 6 + [25, 25, 6, 3, 2, 1, 0]
CHANGES = ["none"] * 8 + [
    "equal names",
    "equal columns",
    "names",
    "index",
    "levels of names",
]


@st.composite
def frames(draw: Any) -> pd.DataFrame:
    """A frame of x, z, g, h, "a b", w and y, of which up to three columns are odd."""
    n = draw(st.sampled_from(ROWS))
    rng = np.random.default_rng(draw(st.integers(0, 2**20)))
    kinds = {
        "x": "normal",
        "z": "counts",
        "g": "text",
        "h": "category",
        "a b": "normal",
        "w": "counts",
    }
    kinds |= draw(
        st.dictionaries(
            st.sampled_from(["x", "z", "g", "h", "w"]),
            st.sampled_from([*COLUMNS]),
            max_size=2,
        )
    )
    kinds["y"] = draw(
        st.sampled_from(
            ["counts", "ordered", "bool", "ranks", "rare"] * 12 + [*COLUMNS]
        )
    )
    frame = pd.DataFrame({name: COLUMNS[kind](rng, n) for name, kind in kinds.items()})
    change = draw(st.sampled_from(CHANGES))
    if change == "equal names":
        frame.columns = ["x", "x", *frame.columns[2:]]
    elif change == "equal columns":
        frame["z"] = frame["x"]
    elif change == "names":
        frame.columns = [draw(st.text(max_size=3)), 1, *frame.columns[2:]]
    elif change == "index":
        frame.index = pd.Index(rng.choice([0, 1], n))
    elif change == "levels of names":
        frame.columns = pd.MultiIndex.from_product([frame.columns, ["a"]])
    return frame


WORDS = [
    "x",
    "g",
    "w",
    "y",
    "no_column",
    "~z",
    "~g",
    "~x+(1|g)",
    "~offset(z)",
    "~",
    "x>0",
    "!!",
    "model",
    "HC1",
    "CR2",
    "cluster",
    "absolute",
    "classification",
    "squared",
    "gaussian",
    "linear",
    "stump",
    "polynomial",
    "precomputed",
    "cv",
    "evidence",
    "jeffreys",
    "gamma",
    "probit",
    "cauchit",
    "log-gamma",
    "aranda-ordaz",
    "equidistant",
    "symmetric",
    "raise",
    "keep",
    "omit",
    "tree",
    "c4.5",
    "logistic",
    "cvxpy",
    "hinge",
    "squared_hinge",
    "standard",
    "separate",
    "one-hot",
    "mode",
    "stacked",
    "all-pairs",
    "expand",
    "real",
    "weight",
    "tight",
    "last",
    "pocket",
    "best",
]
NUMBERS = [
    None,
    True,
    False,
    0,
    1,
    2,
    3,
    -1,
    10**400,
    0.1,
    0.5,
    1e-300,
    1e300,
    np.nan,
    np.inf,
    pd.NA,
]
LISTS = [
    (),
    [],
    {},
    [1, 2],
    [[1, 2], [3]],
    [{}, {}],
    {"x": "+"},
    {"g": "sum"},
    {"cluster": "g"},
    {1: None},
    b"x",
    "",
]
OTHERS = [
    np.eye(3),
    np.zeros(40),
    np.ones(40),
    np.arange(40) % 4,
    [1, 2, 3, 4],
    ("logit", "cart"),
    object,
    len,
]
VALUES = (
    st.sampled_from(WORDS)
    | st.sampled_from(NUMBERS)
    | st.sampled_from([*LISTS, *OTHERS])
)
ARGUMENTS = [
    "nominal",
    "scale",
    "weights",
    "offset",
    "cluster",
    "design",
    "vcov",
    "cost",
    "constraints",
    "calibrate",
    "levels",
    "subset",
    "cov",
    "contrasts",
    "na_action",
    "seed",
    "callback",
    "no_option",
]
LIGHT = QUICK | {"max_rounds": 20, "members": ("logit", "cart")}


@st.composite
def calls(draw: Any, methods: Any = tuple(METHODS), most: int = 2) -> dict[str, Any]:
    """A method and options, up to `most` of them with values that may be wrong."""
    name = draw(st.sampled_from(methods))
    known = option_names(METHODS[name])
    quick = {key: value for key, value in LIGHT.items() if key in known}
    given = draw(
        st.dictionaries(st.sampled_from([*ARGUMENTS, *known]), VALUES, max_size=most)
    )
    return {"method": name, **quick, **given}

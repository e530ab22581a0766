"""What awkward data determine: every number of every question is that of an independent
fit, or missing with a reason.

A walk asks likelihood fits of awkward data every public question. Each number must be
finite and equal to that of another fit (other reference levels or another order of the
columns; without the rows of the separated level; without the redundant columns), or NaN
or infinite with a note or warning that says why. There is no third case.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from ordstat import ElasticNet, OrdinalClassifier, SurveyDesign, ordfit, pool
from ordstat.exceptions import OrdstatError, UnavailableError

#: What a reason for a missing number may say.
REASON = re.compile(
    r"infinit|separat|alias|determin|no maximum|data do not have|unknown"
    r" level|no (finite )?estimate"
    r"|constant|diverge|not estimated|not certain|certain|no standard error|no"
    r" test|take over",
    re.IGNORECASE,
)
#: Numbers of two fits that agree to these are the same: infinite estimates stop where
#: the likelihood is flat.
RELATIVE = 2e-4
ABSOLUTE = 2e-5


# Data


def frame(seed: int = 0, n: int = 240) -> pd.DataFrame:
    """Two factors, two numbers, groups and weights; four levels of a response that
    depends on them.
    """
    rng = np.random.default_rng(seed)
    g = rng.integers(0, 4, n)
    h = rng.integers(0, 2, n)
    x, z = rng.normal(size=(2, n))
    group = rng.integers(0, 30, n)
    latent = (
        0.6 * x
        - 0.4 * z
        + 0.5 * g
        - 0.4 * h
        + rng.logistic(size=n)
        + 0.5 * rng.normal(size=30)[group]
    )
    return pd.DataFrame(
        {
            "y": np.digitize(latent, [-0.8, 0.4, 1.6]),
            "g": np.array(list("abcd"))[g],
            "h": np.array(["u", "v"])[h],
            "x": x,
            "z": z,
            "id": group,
            "w": rng.uniform(0.5, 2.0, n),
        }
    )


def ordered(data: pd.DataFrame, first: str, factor: str = "g") -> pd.DataFrame:
    """The same rows, with another reference level."""
    levels = sorted(data[factor].unique())
    levels.sort(key=lambda level: level != first)
    return data.assign(**{factor: pd.Categorical(data[factor], levels)})


def separated(level: str, code: int, seed: int = 0) -> pd.DataFrame:
    """All rows of one level of g have the same response."""
    data = frame(seed)
    data.loc[data["g"] == level, "y"] = code
    return data


def rows_to_predict(data: pd.DataFrame) -> pd.DataFrame:
    """A few rows of the data, and new ones."""
    few = data.drop_duplicates(["g", "h"]).sort_values(["g", "h"])
    return pd.concat([few, few.assign(x=few["x"] + 1.0, z=0.2)], ignore_index=True)


# Answers


@dataclass(frozen=True)
class Answer:
    """Numbers by their labels, and everything that was said."""

    numbers: dict[Any, float]
    said: str
    refused: bool = False
    unavailable: bool = False


def flat(value: Any) -> dict[Any, float]:
    """Every number of an answer, by its labels; texts and the index (unless it only
    counts) are labels.
    """
    if isinstance(value, dict):
        return {
            (name, *key): number
            for name, part in value.items()
            for key, number in flat(part).items()
        }
    if isinstance(value, (int, float, np.number)):
        return {(): float(value)}
    if isinstance(value, pd.Series):
        if isinstance(value.dtype, pd.CategoricalDtype):
            value = value.astype(float)
        return {(str(label),): float(number) for label, number in value.items()}
    if not isinstance(value, pd.DataFrame):
        return {}
    for name, kind in value.dtypes.items():
        if (
            isinstance(kind, pd.CategoricalDtype)
            and kind.ordered
            and kind.categories.dtype.kind in "iuf"
        ):
            value = value.assign(**{str(name): value[name].to_numpy(dtype=float)})
    numeric = [
        name
        for name in value.columns
        if value[name].dtype.kind in "fiu" and name not in ("level", "row")
    ]
    labels = [
        name
        for name in value.columns
        if name not in numeric and value[name].dtype.kind != "b"
    ]
    out = {}
    for place, (index, row) in enumerate(
        zip(value.index, value.to_dict("records"), strict=True)
    ):
        key = [str(index)] if index != place or not labels else []
        key += [str(row[name]) for name in labels]
        out.update({(*key, str(name)): float(row[name]) for name in numeric})
    return out


def ask(question: Callable[[], Any]) -> Answer:
    """The answer, with warnings and notes as text."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value = question()
        except OrdstatError as error:
            return Answer(
                {},
                str(error),
                refused=True,
                unavailable=isinstance(error, UnavailableError),
            )
    parts = value.values() if isinstance(value, dict) else [value]
    notes = [
        str(getattr(part, "notes", "")) + str(getattr(part, "attrs", ""))
        for part in parts
    ]
    return Answer(
        flat(value), " ".join([*(str(one.message) for one in caught), *notes])
    )


def contrasts(means: Any) -> pd.DataFrame:
    """Every difference of two means, in alphabetic order whatever the order of the
    levels.
    """
    cells = means.cells[[name for name in means.cells.columns if name not in means.by]]
    names = [" ".join(map(str, row)) for row in cells.to_numpy()]
    unit = dict(zip(names, np.eye(len(names)), strict=True))
    rows = {
        f"{one} minus {two}": unit[one] - unit[two]
        for one, two in combinations(sorted(names), 2)
    }
    return means.contrasts(rows, adjust="none")


# Cases


@dataclass(frozen=True, kw_only=True)
class Case:
    """A fit of awkward data, and fits that must give the same answers.

    Attributes
    ----------
    fit : callable
    same : callables
        Fits of the same model in another order: all their numbers agree, and the same
        ones are missing.
    part : callables
        Fits without what is not determined: every finite number of theirs is one of the
        fit.
    new, new_part : frames
        Rows to predict; those that the fits of `part` can predict.
    own : names of parameters that mean the same in `fit` and in `part` levels : levels
    of the factor that are compared skip : names of questions that are not asked, with
    the reason beside the case among : rows in which one level of the factor may be
    replaced by another, by default `new_part` stopped : parameters along which the
    likelihood has no maximum: tables show where the search stopped, and say so lost :
    questions whose numbers the fits of `part` have and this one cannot have coding :
    whether the columns that stay, and so coefficients and their tests, depend on their
    order, as in R
    """

    fit: Callable[[], Any]
    same: Sequence[Callable[[], Any]] = ()
    part: Sequence[Callable[[], Any]] = ()
    new: pd.DataFrame
    new_part: pd.DataFrame
    own: Sequence[str] = ("x",)
    factor: str = "g"
    levels: Sequence[str] = ("b", "d")
    number: str = "x"
    at: dict[str, Any] = field(default_factory=lambda: {"x": 0.3})
    known: dict[str, dict[Any, float]] = field(default_factory=dict)
    skip: frozenset[str] = frozenset()
    among: pd.DataFrame | None = None
    coding: bool = False
    stopped: Sequence[str] = ()
    lost: frozenset[str] = frozenset()

    @property
    def rows(self) -> pd.DataFrame:
        """Rows in which one level of the factor may be replaced by another."""
        return self.new_part if self.among is None else self.among


def quiet(formula: str, data: pd.DataFrame, *args: Any, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ordfit(formula, data, *args, **options)


def level_case(
    level: str,
    code: int,
    *,
    options: dict[str, Any] | None = None,
    formula: str = "y ~ g + h + x",
) -> Case:
    """A level of g whose rows all have one response."""
    data = separated(level, code)
    options = options or {}
    others = [name for name in "abcd" if name != level]
    rest = data[data["g"] != level]
    new = rows_to_predict(data)
    certain = new.index[new["g"] == level]
    known = {(str(row), str(k)): float(k == code) for row in certain for k in range(4)}
    own = ["x", "h[T.v]"]
    if level != "a":
        own += [f"g[T.{name}]" for name in others if name != "a"]
        own += ["0|1", "1|2", "2|3"]
    return Case(
        fit=lambda: quiet(formula, data, **options),
        same=[
            lambda first=first: quiet(formula, ordered(data, first), **options)
            for first in ("b", "c")
        ],
        part=[lambda: quiet(formula, rest, levels=range(4), **options)],
        new=new,
        new_part=new[new["g"] != level],
        own=own,
        levels=others,
        at={"x": 0.3, "h": ["u"]},
        known={"predict prob": known},
    )


def complete_case(seed: int = 0, method: str = "logit") -> Case:
    """x alone decides the level, so that nothing else has an estimate."""
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(-2.0, 2.0, 60))
    y = np.digitize(x, [-0.7, 0.6])
    data = pd.DataFrame(
        {
            "y": y,
            "x": x,
            "z": rng.normal(size=60),
            "g": rng.choice(list("ab"), 60),
            "h": "u",
        }
    )
    known = {
        (str(row), str(k)): float(k == y[row]) for row in range(60) for k in range(3)
    }
    return Case(
        fit=lambda: quiet("y ~ x + z + g", data, method),
        same=[
            lambda: quiet("y ~ z + g + x", data, method),
            lambda: quiet("y ~ x + z + g", ordered(data, "b"), method),
        ],
        new=data,
        new_part=data,
        own=(),
        levels=("a", "b"),
        at={"x": 0.3, "z": 0.0},
        known={"predict prob": known},
    )


def aliased_case() -> Case:
    data = frame(1)
    data["years"] = np.random.default_rng(1).uniform(18, 80, len(data))
    data["months"] = 12.0 * data["years"]
    new = rows_to_predict(data)
    off = new.assign(months=new["months"] + 5.0)
    return Case(
        fit=lambda: quiet("y ~ years + months + g + x", data),
        same=[
            lambda: quiet("y ~ months + years + g + x", data),
            lambda: quiet("y ~ x + g + months + years", data),
        ],
        part=[lambda: quiet("y ~ years + g + x", data)],
        new=pd.concat([new, off], ignore_index=True),
        new_part=new,
        own=["x", "g[T.b]", "g[T.c]", "g[T.d]", "0|1", "1|2", "2|3"],
        levels=tuple("abcd"),
        at={"x": 0.3, "years": 40.0, "months": 480.0},
        coding=True,
    )


def nested_case() -> Case:
    data = frame(2)
    data["region"] = data["g"].map({"a": "N", "b": "N", "c": "S", "d": "S"})
    new = rows_to_predict(data)
    moved = new.assign(region=new["region"].map({"N": "S", "S": "N"}))
    return Case(
        fit=lambda: quiet("y ~ region + g + h + x", data),
        same=[
            lambda: quiet("y ~ g + region + h + x", data),
            lambda: quiet("y ~ region + g + h + x", ordered(data, "d")),
        ],
        part=[lambda: quiet("y ~ g + h + x", data)],
        new=pd.concat([new, moved], ignore_index=True),
        new_part=new,
        own=["x", "h[T.v]"],
        levels=tuple("abcd"),
        at={"x": 0.3, "h": ["u"]},
        among=new[new["region"] == "N"],
        coding=True,
    )


def cell_case() -> Case:
    data = frame(3)
    data = data[~((data["g"] == "c") & (data["h"] == "v"))].reset_index(drop=True)
    data["cell"] = data["g"] + data["h"]
    new = rows_to_predict(data)
    empty = new[new["g"] == "c"].assign(h="v", cell="cu")
    return Case(
        fit=lambda: quiet("y ~ g * h + x", data),
        same=[
            lambda: quiet("y ~ g * h + x", ordered(data, "c")),
            lambda: quiet("y ~ h * g + x", ordered(ordered(data, "d"), "v", "h")),
        ],
        part=[lambda: quiet("y ~ cell + x", data)],
        new=pd.concat([new, empty], ignore_index=True),
        new_part=new,
        own=["x"],
        levels=("a", "b", "d"),
        at={"x": 0.3, "h": ["v"]},
        coding=True,
    )


def flag_case() -> Case:
    data = frame(4).assign(flag=0)
    new = rows_to_predict(data)
    return Case(
        fit=lambda: quiet("y ~ flag + g + h + x", data),
        same=[
            lambda: quiet("y ~ x + h + g + flag", data),
            lambda: quiet("y ~ flag + g + h + x", ordered(data, "c")),
        ],
        part=[lambda: quiet("y ~ g + h + x", data)],
        new=pd.concat([new, new.assign(flag=1)], ignore_index=True),
        new_part=new,
        own=["x", "h[T.v]", "g[T.b]", "g[T.c]", "g[T.d]", "0|1", "1|2", "2|3"],
        levels=tuple("abcd"),
        at={"x": 0.3, "h": ["u"], "flag": 0},
    )


def zero_weights_case() -> Case:
    """Rows of weight 0 alone speak against separation: they are no rows."""
    data = separated("c", 3, seed=5)
    extra = data[data["g"] == "c"].iloc[:5].assign(y=0, w=0.0)
    both = pd.concat([data, extra], ignore_index=True)
    rest = data[data["g"] != "c"]
    new = rows_to_predict(data)
    return Case(
        fit=lambda: quiet("y ~ g + h + x", both, weights="w"),
        same=[lambda: quiet("y ~ g + h + x", ordered(both, "c"), weights="w")],
        part=[lambda: quiet("y ~ g + h + x", rest, weights="w")],
        new=new,
        new_part=new[new["g"] != "c"],
        own=["x", "h[T.v]", "g[T.b]", "g[T.d]", "0|1", "1|2", "2|3"],
        levels=("a", "b", "d"),
        at={"x": 0.3, "h": ["u"]},
    )


def offset_case() -> Case:
    data = frame(6).assign(k=3.0)
    new = rows_to_predict(data)
    return Case(
        fit=lambda: quiet("y ~ g + h + x + offset(k)", data),
        same=[lambda: quiet("y ~ offset(k) + x + h + g", ordered(data, "c"))],
        part=[lambda: quiet("y ~ g + h + x", data)],
        new=new,
        new_part=new,
        own=["x", "h[T.v]", "g[T.b]", "g[T.c]", "g[T.d]"],
        levels=tuple("abcd"),
        at={"x": 0.3, "h": ["u"], "k": 3.0},
        # Scores and thresholds move by the offset.
        skip=frozenset(["predict linear_predictor"]),
        coding=True,
    )


def spread_case(reference: str = "A", nominal: bool = False) -> Case:
    """Group B gave only the ends of the scale: its shift and spread grow together
    without end.
    """
    counts = {"A": [7, 8, 5], "B": [9, 0, 11], "C": [5, 9, 4]}
    data = pd.concat(
        [
            pd.DataFrame({"g": g, "y": np.repeat(range(3), n), "h": "u"})
            for g, n in counts.items()
        ],
        ignore_index=True,
    )
    new = data.drop_duplicates("g").reset_index(drop=True)
    shares = {
        (str(row), str(k)): counts[g][k] / sum(counts[g])
        for row, g in enumerate(new["g"])
        for k in range(3)
    }
    options = {"scale": "~ g"} | ({"nominal": "~ h"} if nominal else {})
    rest = data[data["g"] != "B"]
    own = ["0|1", "1|2", "g[T.C]", "scale.g[T.C]"]
    known = {"predict prob": shares}
    if (
        reference == "B"
    ):  # all meet at the logit of its share of level 0, with the error of that
        known |= meeting(counts["B"][0], sum(counts["B"]))
    return Case(
        fit=lambda: quiet("y ~ g", ordered(data, reference), **options),
        part=[lambda: quiet("y ~ g", rest, **options)],
        new=new,
        new_part=new[new["g"] != "B"],
        own=own if reference == "A" else (),
        levels=("A", "C"),
        number="",
        at={},
        known=known,
        stopped=(
            ("g[T.B]", "scale.g[T.B]")
            if reference == "A"
            else ("scale.g[T.A]", "scale.g[T.C]")
        ),
        # Latent means are in units of the mean of the spreads of all levels.
        lost=frozenset(["emmeans", "contrasts", "plot emmeans"]),
        # Margins are in units of the reference level's spread.
        skip=frozenset(["augment", "margins"] if reference == "B" else []),
    )


def meeting(low: int, total: int) -> dict[str, dict[Any, float]]:
    """Thresholds and shifts that all end at the logit of a share, with the delta
    method's error.
    """
    share = low / total
    middle = np.log(share / (1.0 - share))
    variance = 1.0 / (total * share * (1.0 - share))
    names = ["0|1", "1|2", "g[T.A]", "g[T.C]"]
    error = variance**0.5
    low_limit = middle - norm.ppf(0.975) * error
    high_limit = middle + norm.ppf(0.975) * error
    of_each = {"estimate": middle, "std_error": error, "statistic": middle / error}
    of_each |= {
        "p_value": 2.0 * norm.sf(abs(middle) / error),
        "conf_low": low_limit,
        "conf_high": high_limit,
    }
    ratios = {
        "estimate": np.exp(middle),
        "conf_low": np.exp(low_limit),
        "conf_high": np.exp(high_limit),
    }
    limits = {"lower": low_limit, "upper": high_limit}
    return {
        "params": {(name,): middle for name in names},
        "thresholds": {(name,): middle for name in names[:2]},
        "coef": {(name,): middle for name in names[2:]},
        "se": {(name,): error for name in names},
        "confint": {
            (name, side): value for name in names for side, value in limits.items()
        },
        "tidy": {
            (name, column): value for name in names for column, value in of_each.items()
        },
        # The shifts are one hypothesis, as they are equal.
        "anova III": {
            ("g", "df"): 1.0,
            ("g", "chisq"): (middle / error) ** 2,
            ("g", "p_value"): 2.0 * norm.sf(abs(middle) / error),
        },
        "tidy ratios": {
            (name, column): value
            for name in names
            for column, value in (
                of_each | (ratios if name in names[2:] else {})
            ).items()
        },
        "vcov": {(one, two): variance for one in names for two in names},
    }


def nominal_case() -> Case:
    base = level_case("c", 3, options={"nominal": "~ x"}, formula="y ~ g + h")
    names = ["h[T.v]", "g[T.b]", "g[T.d]"]
    names += [name + end for name in ("0|1", "1|2", "2|3") for end in ("", ".x")]
    return replace(base, own=names)


def multinomial_case(level: str, code: int) -> Case:
    """Effects have the level of the response in their names."""
    case = level_case(level, code, options={"method": "multinomial"})
    names = case.fit().params.index
    return replace(case, own=[name for name in names if f"g[T.{level}]" not in name])


def with_own(case: Case, *names: str) -> Case:
    """The case with more parameters that mean the same in the reduced fits."""
    return replace(case, own=[*case.own, *names])


def unused_level_case() -> Case:
    """Level 2 is declared and has no rows: its probability is 0."""
    data = frame(8)
    data = data[data["y"] != 2].reset_index(drop=True)
    new = rows_to_predict(data)
    nobody = {(str(row), "2"): 0.0 for row in new.index}
    return Case(
        fit=lambda: quiet("y ~ g + h + x", data, levels=range(4)),
        same=[lambda: quiet("y ~ x + h + g", ordered(data, "c"), levels=range(4))],
        part=[lambda: quiet("y ~ g + h + x", data)],
        new=new,
        new_part=new,
        own=["x", "h[T.v]", "g[T.b]", "g[T.c]", "g[T.d]", "0|1"],
        levels=tuple("abcd"),
        at={"x": 0.3, "h": ["u"]},
        known={"predict prob": nobody},
        coding=True,
        # Ranks above the level count one more, latent means average one threshold more;
        # quantiles between levels lie between others.
        skip=frozenset(
            [
                *("emmeans", "emmeans prob", "emmeans odds"),
                *("emmeans quantile", "contrasts of quantiles"),
                "errors new",
            ]
        ),
    )


def partial_case() -> Case:
    """Every fifth answer of the other levels is one of two neighbouring levels."""
    base = level_case("a", 3)
    data = separated("a", 3)
    data["high"] = data["y"]
    unsure = (data["g"] != "a") & (data.index % 5 == 0) & (data["y"] < 3)
    data.loc[unsure, "high"] += 1
    formula = "interval(y, high) ~ g + h + x"
    rest = data[data["g"] != "a"]
    return replace(
        base,
        fit=lambda: quiet(formula, data, levels=range(4)),
        same=[
            lambda first=first: quiet(formula, ordered(data, first), levels=range(4))
            for first in ("b", "c")
        ],
        part=[lambda: quiet(formula, rest, levels=range(4))],
    )


def without_maximum(case: Case) -> Case:
    """A stereotype model of separated data: every row is left without a value, as
    scores of the levels that the separation does not bound move with the estimates.
    """
    names = case.fit().params.index
    return replace(
        case,
        part=(),
        known={},
        own=(),
        stopped=list(names),
        # Figures of the fit are those where the search stopped, as its warning says.
        skip=frozenset(
            [
                *("glance", "loglik", "discrimination", "errors", "errors new"),
                *("residuals", "deviance residuals", "reliability"),
                "calibration slopes",
            ]
        ),
    )


def smooth_flag_case() -> Case:
    """A column that is 0 in every row, beside a smooth term."""
    case = flag_case()
    data = frame(4).assign(flag=0)

    def part() -> Any:
        return quiet("y ~ s(x) + g + h", data)

    return replace(
        case,
        fit=lambda: quiet("y ~ s(x) + flag + g + h", data),
        same=[lambda: quiet("y ~ s(x) + g + h + flag", data)],
        part=[part],
        own=list(part().params.index),
    )


def elastic_net_case(method: str = "logit") -> Case:
    """A column that is constant, and two that are equal but for their unit: the ridge
    part of the penalty divides the effect.
    """
    case = aliased_case()
    data = frame(1).assign(flag=3.0)
    data["years"] = np.random.default_rng(1).uniform(18, 80, len(data))
    data["months"] = 12.0 * data["years"]
    new = rows_to_predict(data)
    options = {"method": method, "penalty": ElasticNet(l1_ratio=0.5, lambdas=[0.02])}

    def part() -> Any:
        return quiet("y ~ years + months + g + x", data, **options)

    return replace(
        case,
        fit=lambda: quiet("y ~ flag + years + months + g + x", data, **options),
        same=[
            lambda: quiet("y ~ x + g + months + years + flag", data, **options),
            lambda: quiet("y ~ months + flag + years + g + x", data, **options),
        ],
        part=[part],
        new=pd.concat([new, new.assign(flag=4.0)], ignore_index=True),
        new_part=new,
        own=list(part().params.index),
        at={**case.at, "flag": 3.0},
        coding=False,
    )


CASES: dict[str, Callable[[], Case]] = {
    "reference level at the top": lambda: level_case("a", 3),
    "reference level at the bottom": lambda: level_case("a", 0),
    "another level at the top": lambda: level_case("c", 3),
    "last level at the bottom, probit": lambda: level_case(
        "d", 0, options={"method": "probit"}
    ),
    "reference level, cloglog": lambda: level_case(
        "a", 3, options={"method": "cloglog"}
    ),
    "reference level, acat": lambda: level_case("a", 3, options={"method": "acat"}),
    "reference level, cratio": lambda: level_case("a", 3, options={"method": "cratio"}),
    "last level at the bottom, sratio backward": lambda: level_case(
        "d", 0, options={"method": "sratio", "direction": "backward", "link": "probit"}
    ),
    "another level at the top, multinomial": lambda: multinomial_case("c", 3),
    "last level at the bottom, multinomial": lambda: multinomial_case("d", 0),
    "complete": complete_case,
    "complete, probit": lambda: complete_case(3, "probit"),
    "aliased": aliased_case,
    "nested": nested_case,
    "empty cell": cell_case,
    "flag": flag_case,
    "weights of 0": zero_weights_case,
    "constant offset": offset_case,
    "clusters": lambda: level_case(
        "a", 3, options={"vcov": {"cluster": "id", "type": "CR1"}}
    ),
    "robust": lambda: level_case("c", 0, options={"vcov": "HC0"}),
    "survey": lambda: level_case(
        "c", 3, options={"design": SurveyDesign(weights="w", clusters="id")}
    ),
    "spread": spread_case,
    "spread of the reference level": lambda: spread_case("B"),
    "scale and separation": lambda: with_own(
        level_case("c", 3, options={"scale": "~ h"}), "scale.h[T.v]"
    ),
    "nominal": nominal_case,
    "mixed": lambda: with_own(
        level_case("c", 3, formula="y ~ g + h + x + (1 | id)"), "sd_(Intercept)|id"
    ),
    "level without rows": unused_level_case,
    "answers known in part": partial_case,
    "another level at the top, sratio forward": lambda: level_case(
        "c", 3, options={"method": "sratio"}
    ),
    "reference level at the top, sratio forward": lambda: level_case(
        "a", 3, options={"method": "sratio"}
    ),
    "last level at the bottom, sratio forward": lambda: level_case(
        "d", 0, options={"method": "sratio"}
    ),
    "complete, sratio forward": lambda: complete_case(0, "sratio"),
    "another level at the top, stereotype": lambda: without_maximum(
        level_case("c", 3, options={"method": "stereotype"})
    ),
    "reference level at the bottom, stereotype": lambda: without_maximum(
        level_case("a", 0, options={"method": "stereotype"})
    ),
    "complete, stereotype": lambda: without_maximum(complete_case(0, "stereotype")),
    "smooth term and flag": smooth_flag_case,
    "elastic net": elastic_net_case,
    "elastic net, acat": lambda: elastic_net_case("acat"),
    "elastic net, multinomial": lambda: elastic_net_case("multinomial"),
}

# Questions

#: Answers that have the same labels in every order of columns and levels.
GENERAL: dict[str, Callable[[Any, Case, pd.DataFrame], Any]] = {
    **{
        f"predict {kind}": lambda f, c, new, kind=kind: f.predict(new, type=kind)
        for kind in (
            "class",
            "prob",
            "cum_prob",
            "mean",
            "exceed",
            "quantile",
            "linear_predictor",
        )
    },
    "predict exceed interval": lambda f, c, new: f.predict(
        new, type="exceed", at=2, se=True, interval="confidence"
    ),
    "predict quantile interval": lambda f, c, new: f.predict(
        new, type="quantile", at=0.7, interval="confidence"
    ),
    "predict training": lambda f, c, new: f.predict(type="prob").iloc[:20],
    "predict se": lambda f, c, new: f.predict(new, type="prob", se=True),
    "predict mean se": lambda f, c, new: f.predict(new, type="mean", se=True),
    "predict interval": lambda f, c, new: f.predict(
        new, type="cum_prob", interval="confidence"
    ),
    "augment": (
        lambda f, c, new: f.augment(new).drop(
            columns=[*new.columns, ".score"], errors="ignore"
        )
    ),
    "errors new": lambda f, c, new: f.errors(c.new_part)[["new data"]],
    "emmeans": lambda f, c, new: f.emmeans(c.factor, at=c.at).frame,
    "emmeans prob": lambda f, c, new: f.emmeans(c.factor, at=c.at, scale="prob").frame,
    "emmeans mean": lambda f, c, new: f.emmeans(c.factor, at=c.at, scale="mean").frame,
    "emmeans exceed": lambda f, c, new: (
        f.emmeans(c.factor, at=c.at, scale={"exceed": 2}).frame
    ),
    "emmeans quantile": lambda f, c, new: (
        f.emmeans(c.factor, at=c.at, scale={"quantile": 0.6}).frame
    ),
    "contrasts of quantiles": lambda f, c, new: contrasts(
        f.emmeans(c.factor, at=c.at, scale={"quantile": 0.6})
    ),
    "emmeans odds": lambda f, c, new: f.emmeans(c.factor, at=c.at, scale="odds").frame,
    "contrasts": lambda f, c, new: contrasts(f.emmeans(c.factor, at=c.at)),
    "contrasts prob": lambda f, c, new: contrasts(
        f.emmeans(c.factor, at=c.at, scale="prob")
    ),
    "contrasts of some": lambda f, c, new: contrasts(
        f.emmeans(c.factor, at={**c.at, c.factor: list(c.levels)})
    ),
    "effect of factor": lambda f, c, new: (
        f.marginal_effects(c.factor, change=list(c.levels[:2]), newdata=c.rows).frame
    ),
    "superiority": lambda f, c, new: (
        f.superiority(c.factor, levels=list(c.levels[:2]), newdata=c.rows).frame
    ),
    "superiority of rows": lambda f, c, new: (
        f.superiority(
            c.factor,
            levels=list(c.levels[:2]),
            newdata=c.rows,
            average="conditional",
        ).frame
    ),
    "log odds of factor": lambda f, c, new: (
        f.marginal_effects(
            c.factor, change=list(c.levels[:2]), scale="log_odds", newdata=c.rows
        ).frame
    ),
}
#: Those that need a number in the formula.
OF_NUMBER: dict[str, Callable[[Any, Case, pd.DataFrame], Any]] = {
    "effect of number": lambda f, c, new: f.marginal_effects(c.number, by="g").frame,
    "effect on new rows": lambda f, c, new: (
        f.marginal_effects(c.number, scale="mean", newdata=c.new_part).frame
    ),
    "effect of a step": lambda f, c, new: (
        f.marginal_effects(c.number, by="g", change=1.0, scale="mean").frame
    ),
    "effect on exceedance": lambda f, c, new: (
        f.marginal_effects(c.number, scale={"exceed": 2}, newdata=c.new_part).frame
    ),
    "emtrends": lambda f, c, new: f.emtrends(c.factor, c.number, at=c.at).frame,
    "emtrends prob": lambda f, c, new: (
        f.emtrends(c.factor, c.number, at=c.at, scale="prob").frame
    ),
    "emtrends all": lambda f, c, new: (
        f.emtrends("~ 1", c.number, at={**c.at, c.factor: list(c.levels)}).frame
    ),
    "test number": lambda f, c, new: (
        f.test(c.number).iloc[-1:][["df", "p_value"]].reset_index(drop=True)
    ),
    "drop1 number": (
        lambda f, c, new: f.drop1(c.number).loc[[c.number], ["lrt", "p_value"]]
    ),
}
#: Those that are asked only of fits to the same rows: figures of the whole fit, and
#: tests of the factor.
WHOLE: dict[str, Callable[[Any, Case, pd.DataFrame], Any]] = {
    "effects": lambda f, c, new: (
        f.marginal_effects(c.factor, change=list(c.levels[:2])).frame
    ),
    "test factor": lambda f, c, new: (
        f.test(c.factor)
        .iloc[-1:]
        .drop(columns=["difference", "std_error"])
        .reset_index(drop=True)
    ),
    "joint tests": lambda f, c, new: f.joint_tests(),
    "anova II": lambda f, c, new: f.anova(type="II"),
    "anova III": lambda f, c, new: f.anova(type="III"),
    "drop1": lambda f, c, new: f.drop1(),
    "score test": lambda f, c, new: f.score_test(),
    "nominal test": lambda f, c, new: f.nominal_test(),
    "scale test": lambda f, c, new: f.scale_test(),
    "brant": lambda f, c, new: f.brant(),
    "glance": lambda f, c, new: f.glance(),
    "loglik": lambda f, c, new: f.loglik,
    "discrimination": lambda f, c, new: f.discrimination(),
    "errors": lambda f, c, new: f.errors(),
    "residuals": lambda f, c, new: f.residuals("probability-scale"),
    "deviance residuals": lambda f, c, new: f.residuals("deviance"),
    "vif": lambda f, c, new: f.vif(),
    "margins": lambda f, c, new: f.margins()[["left", "right"]].iloc[:30],
    "hat": lambda f, c, new: f.influence().hat,
    "cooks": lambda f, c, new: f.influence().cooks,
    "reliability": lambda f, c, new: f.reliability(),
    "calibration slopes": lambda f, c, new: f.calibration_slopes(),
}
#: Tests of the coefficients of a term, which are those of the columns that stay.
BY_COEFFICIENTS = {"test factor", "anova II", "anova III", "score test", "brant", "vif"}
#: Answers by the names of parameters: those of `Case.own` agree with the fits of
#: `Case.part`.
NAMED: dict[str, Callable[[Any, Case, pd.DataFrame], Any]] = {
    "params": lambda f, c, new: f.params,
    "coef": lambda f, c, new: f.coef,
    "thresholds": lambda f, c, new: f.thresholds,
    "se": lambda f, c, new: f.se,
    "confint": lambda f, c, new: f.confint(),
    "tidy": lambda f, c, new: f.tidy().drop(columns="coef_type"),
    "tidy ratios": (
        lambda f, c, new: f.tidy(exponentiate=True).drop(columns="coef_type")
    ),
    "vcov": lambda f, c, new: f.vcov(),
    "profile": lambda f, c, new: f.confint(
        [name for name in c.own if name in f.coef.index][:1], type="profile"
    ),
}


def close(one: float, two: float) -> bool:
    return abs(one - two) <= ABSOLUTE + RELATIVE * max(abs(one), abs(two))


def named(key: Any, own: Sequence[str]) -> bool:
    """Whether all parameters in a label mean the same in both fits."""
    return all(part in own or part in _COLUMNS for part in key)


_COLUMNS = {
    "estimate",
    "std_error",
    "statistic",
    "p_value",
    "conf_low",
    "conf_high",
    "lower",
    "upper",
    "df",
}
#: Figures that are missing as their documentation says, such as AIC beside robust
#: errors.
DOCUMENTED = {
    "glance": ("aic", "bic", "lr_"),
    "reliability": ("lower", "upper"),
    "calibration slopes": ("_lower", "_upper"),
    "discrimination": ("lr_",),
    "errors new": ("new data",),
    "errors": ("training",),
}
#: The number needed to treat has limits, which may be infinite, and no standard error.
WITHOUT_ERROR = ("NNT", "std_error")


def without_limits(key: Any, numbers: dict[Any, float]) -> bool:
    """Whether a label is that of a limit of the number needed to treat, which has none
    where the limits of the win difference contain 0.
    """
    if key[-2:-1] != ("NNT",) or key[-1] not in ("lower", "upper"):
        return False
    lower = numbers[(*key[:-2], "win difference", "lower")]
    upper = numbers[(*key[:-2], "win difference", "upper")]
    return lower <= 0.0 <= upper


#: How a number failed.
Failure = tuple[str, Any, str]


def walk(case: Case, questions: Sequence[str] | None = None) -> list[Failure]:
    """Every failure: question, label, and what was found."""
    fit = case.fit()
    same = [make() for make in case.same]
    part = [make() for make in case.part]
    every = {**GENERAL, **(OF_NUMBER if case.number else {}), **WHOLE, **NAMED}
    found: list[Failure] = []
    for name, question in every.items():
        if (
            name in case.skip
            or (case.coding and name in BY_COEFFICIENTS)
            or (questions is not None and name not in questions)
        ):
            continue
        answer = ask(lambda question=question: question(fit, case, case.new))
        in_order = (
            []
            if name in NAMED
            else [ask(lambda q=question, t=twin: q(t, case, case.new)) for twin in same]
        )
        reduced = (
            []
            if name in WHOLE
            else [
                ask(lambda q=question, t=twin: q(t, case, case.new_part))
                for twin in part
            ]
        )
        found += [
            (name, key, text)
            for key, text in compared(answer, in_order, reduced, case, name)
        ]
    for show in (
        str,
        lambda f: str(f.summary()),
        lambda f: str(f.summary("all")),
        lambda f: str(f.tidy()),
    ):
        said = ask(lambda show=show: {"text": show(fit)})
        if said.refused:
            found.append(("print", "", said.said))
    return found


def compared(
    answer: Answer,
    in_order: Sequence[Answer],
    reduced: Sequence[Answer],
    case: Case,
    name: str,
) -> list[tuple[Any, str]]:
    """Numbers of an answer that are neither checked nor missing for a reason that is
    given.
    """
    if answer.refused:
        useful = any(not one.refused for one in (*in_order, *reduced))
        excused = answer.unavailable or REASON.search(answer.said)
        return [("refused", answer.said)] if useful and not excused else []
    out: list[tuple[Any, str]] = []
    unsaid = []
    for key, value in answer.numbers.items():
        nothing = answer.numbers.get((*key[:-1], "estimate")) == 0.0 and key[-1] in (
            "statistic",
            "p_value",
        )
        if (
            "<none>" in key or nothing
        ):  # the row of the model itself, and an effect of 0, have no test
            continue
        others = checks_of(key, in_order, reduced, case, name)
        if np.isfinite(value):
            out += [(key, text) for text in wrong(value, key, others, case, name)]
            continue
        if name not in case.lost:
            out += [
                (key, f"{value}, but {other:.6g} by {source}")
                for source, other in others
                if np.isfinite(other)
            ]
        documented = (
            key[-2:] == WITHOUT_ERROR
            or without_limits(key, answer.numbers)
            or any(end in key[-1] for end in DOCUMENTED.get(name, ()))
        )
        if np.isnan(value) and name not in NAMED and not documented:
            unsaid.append(key)
    if unsaid and not REASON.search(answer.said):
        out.append(
            (
                unsaid[0],
                f"{len(unsaid)} missing without a reason: {answer.said[:200]!r}",
            )
        )
    return out


def checks_of(
    key: Any,
    in_order: Sequence[Answer],
    reduced: Sequence[Answer],
    case: Case,
    name: str,
) -> list[tuple[str, float]]:
    """What other fits say of a number."""
    others = [
        ("another order", one.numbers[key]) for one in in_order if key in one.numbers
    ]
    if name not in NAMED or named(key, case.own):
        others += [
            ("the reduced fit", one.numbers[key])
            for one in reduced
            if key in one.numbers
        ]
    if key in case.known.get(name, {}):
        others.append(("the known value", case.known[name][key]))
    return others


def wrong(
    value: float, key: Any, others: Sequence[tuple[str, float]], case: Case, name: str
) -> list[str]:
    """What is wrong with a finite number."""
    out = []
    for source, other in others:
        if not np.isfinite(other):
            if source != "the reduced fit" or name in NAMED:
                out.append(f"{value:.6g}, but {other} by {source}")
        elif not close(value, other):
            out.append(f"{value:.8g}, but {other:.8g} by {source}")
    shown = bool(set(case.stopped).intersection(key)) and name in (
        "params",
        "coef",
        "thresholds",
        "tidy",
        "tidy ratios",
    )
    shown |= name == "tidy ratios" and value == 0.0  # of an infinite estimate
    if not others and name in NAMED and not case.coding and not shown:
        out.append(f"{value:.6g}, which nothing determines")
    return out


#: Cases and questions of the short walk; the others are slow.
SHORT = (
    "reference level at the top",
    "another level at the top, multinomial",
    "aliased",
    "complete",
    "spread",
    "reference level at the bottom, stereotype",
    "smooth term and flag",
    "elastic net",
)
FEW = (
    "predict prob",
    "predict se",
    "contrasts",
    "effect of number",
    "test number",
    "tidy",
    "confint",
)


def shown(failures: Sequence[Failure]) -> str:
    return "\n".join(f"{name}: {key}: {text}" for name, key, text in failures)


@pytest.mark.parametrize("name", SHORT)
def test_what_data_determine(name: str) -> None:
    failures = walk(CASES[name](), FEW)
    assert not failures, shown(failures)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_every_question(name: str) -> None:
    failures = walk(CASES[name]())
    assert not failures, shown(failures)


# Other entries


def test_smooth_terms_beside_a_separated_level_are_refused() -> None:
    with pytest.raises(OrdstatError, match=r"finite estimates.*leave out"):
        ordfit("y ~ g + h + s(x)", separated("c", 3))


def test_draws_are_those_of_what_the_data_determine() -> None:
    """Without columns that others determine, rows of weight 0 and levels without rows:
    the same seed draws the same.
    """
    pytest.importorskip("arviz_stats")
    data = frame(4).assign(flag=0)
    data["twice"] = 2.0 * data["x"]
    extra = data.iloc[:9].assign(y=0, w=0.0)
    both = pd.concat([data, extra], ignore_index=True)
    few = data[data["y"] != 3]
    pairs = [
        (
            quiet("y ~ x + g", data),
            quiet("y ~ x + twice + flag + g", data),
        ),
        (
            quiet("y ~ x + g", data, weights="w"),
            quiet("y ~ x + g", both, weights="w"),
        ),
        (quiet("y ~ x + g", few), quiet("y ~ x + g", few, levels=range(4))),
        (quiet("y ~ s(x) + g", data), quiet("y ~ s(x) + flag + g", data)),
    ]
    for plain, awkward in pairs:
        expected = plain.draws(200, seed=1).frame
        found = awkward.draws(200, seed=1).frame
        assert list(found) == list(expected)
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("method", ["logit", "sratio", "stereotype", "multinomial"])
def test_separated_fits_are_not_drawn_from_and_not_pooled(method: str) -> None:
    data = separated("c", 3)
    fit = quiet("y ~ g + h + x", data, method)
    for question in (lambda: fit.draws(200).frame, lambda: pool([fit, fit]).tidy()):
        said = ask(question)
        assert said.refused and "finite estimates" in said.said


def test_pooled_fits_are_refused_or_those_of_the_rows_that_are_left() -> None:
    data = separated("c", 3, seed=9)
    rng = np.random.default_rng(0)
    imputed = [
        data.assign(x=data["x"] + 0.1 * rng.normal(size=len(data))) for _ in range(3)
    ]
    answer = ask(lambda: pool([quiet("y ~ g + h + x", one) for one in imputed]).tidy())
    if answer.refused:
        assert REASON.search(answer.said)
        return
    rest = pool(
        [
            quiet("y ~ g + h + x", one[one["g"] != "c"], levels=range(4))
            for one in imputed
        ]
    ).tidy()
    for key, value in flat(rest).items():
        assert close(answer.numbers[key], value), key


def test_classifier_says_that_a_new_row_is_not_determined() -> None:
    data = frame(10).assign(flag=0.0)
    columns = ["x", "z", "flag"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = OrdinalClassifier("logit").fit(data[columns], data["y"])
        without = OrdinalClassifier("logit").fit(data[["x", "z"]], data["y"])
    few = data[columns].iloc[:5]
    np.testing.assert_allclose(
        model.predict_proba(few), without.predict_proba(few[["x", "z"]]), rtol=1e-5
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model.predict_proba(few.assign(flag=1.0))
        except OrdstatError as error:
            said = str(error)
        else:
            said = " ".join(str(one.message) for one in caught)
    assert REASON.search(said)


def test_rows_in_blocks_determine_what_rows_in_memory_do(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    data = separated("a", 3, seed=11).assign(flag=0)
    data.to_parquet(tmp_path / "rows.parquet", row_group_size=50)
    new = rows_to_predict(data)
    new = pd.concat([new, new.assign(flag=1)], ignore_index=True)
    blocks = ask(
        lambda: quiet("y ~ g + h + x + flag", tmp_path / "rows.parquet").predict(
            new, type="prob", se=True
        )
    )
    if blocks.refused:
        assert REASON.search(blocks.said)
        return
    memory = ask(
        lambda: quiet("y ~ g + h + x + flag", data).predict(new, type="prob", se=True)
    )
    assert blocks.numbers.keys() == memory.numbers.keys()
    for key, value in memory.numbers.items():
        found = blocks.numbers[key]
        assert close(found, value) or (np.isnan(found) and np.isnan(value)), key
    assert any(map(np.isnan, blocks.numbers.values())) and REASON.search(blocks.said)


@pytest.mark.parametrize("counts", [(9, 0, 11), (9, 11, 0), (20, 0, 0)])
def test_spreads_that_diverge_in_blocks_and_pooled(
    counts: tuple[int, int, int], tmp_path: Path
) -> None:
    """Group B gave one or two levels: blocks predict its shares or nothing, with the
    reason, and fits without finite estimates are not pooled.
    """
    pytest.importorskip("pyarrow")
    groups = {"A": (7, 8, 5), "B": counts, "C": (5, 9, 4)}
    data = pd.concat(
        [
            pd.DataFrame({"g": g, "y": np.repeat(range(3), n)})
            for g, n in groups.items()
        ],
        ignore_index=True,
    )
    data.to_parquet(tmp_path / "rows.parquet", row_group_size=20)
    fit = quiet("y ~ g", tmp_path / "rows.parquet", scale="~ g")
    new = pd.DataFrame({"g": list("ABC")})
    answer = ask(lambda: fit.predict(new, type="prob"))
    found = np.reshape(list(answer.numbers.values()), (3, 3))
    shares = np.array([np.divide(n, sum(n)) for n in groups.values()])
    known = np.isfinite(found)
    assert known[[0, 2]].all()
    np.testing.assert_allclose(found[known], shares[known], atol=1e-4)
    assert known.all() or REASON.search(answer.said)
    fits = [quiet("y ~ g", data, scale="~ g") for _ in range(2)]
    pooled = ask(lambda: pool(fits).tidy())
    assert pooled.refused and "scale.g[T.B]" in pooled.said

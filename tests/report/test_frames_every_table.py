"""Every table that a fit returns has broom's names by `.tidy()`; only other frames are
plain.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ordstat import SurveyDesign, datasets, describe_ordinal, ordfit, pool
from ordstat.exceptions import DataError, OptionError
from ordstat.report.frames import BROOM_NAMES

WINE = datasets.load("wine")
WINE = WINE.assign(
    w=1.0 + np.arange(72) % 3,
    psu=np.arange(72) % 12,
    stratum=np.arange(72) % 3,
    x=np.arange(72) % 7,
)
FORMULA = "rating ~ temp + contact + x"
FITS = {
    "clm": ordfit(FORMULA, WINE),
    "clustered": ordfit(FORMULA, WINE, cluster="judge"),
    "mixed": ordfit(FORMULA + " + (1 | judge)", WINE),
    "survey": ordfit(
        FORMULA,
        WINE,
        design=SurveyDesign(weights="w", strata="stratum", clusters="psu"),
    ),
    "pooled": pool(
        [ordfit(FORMULA, WINE), ordfit(FORMULA, WINE.assign(x=np.arange(72) % 5))]
    ),
    "redsvm": ordfit(FORMULA, WINE, "redsvm", kernel="linear"),
    "orboost-all": ordfit(FORMULA, WINE, "orboost-all", rounds=3),
    "ordinal-bagging": ordfit(FORMULA, WINE, "ordinal-bagging", rounds=3),
}
SMALLER = {name: FITS[name].update("~ . - contact") for name in ("clm", "mixed")}
#: What a call needs; a name that is not here is called without arguments.
ARGUMENTS: dict[str, list[tuple[Any, ...]]] = {
    "emmeans": [("temp",)],
    "marginal_effects": [(), ("temp",)],
    "subgroups": [("temp", "contact")],
    "superiority": [("temp",)],
    "test": [("temp[T.warm] = 0",)],
    "emtrends": [("temp", "x")],
    "add1": [("~ . + temp:contact",)],
    "bootstrap": [(3,)],
    "simulate": [(2,)],
    "errors": [(), (WINE,)],
    "bounds": [(), (WINE,)],
    "staged_errors": [(WINE,)],
    "predict": [(WINE[:3],)],
    "gof": [(3,)],
}
#: Elsewhere tested, or no question: pages, files, further fits.
LEFT_OUT = {
    "plot",
    "predict_to",
    "report",
    "save",
    "update",
    "with_vcov",
    "at",
    "more",
    "summary",
    "conformal",
}
#: Of rows, groups, curves and matrices, as docs/design.md says.
PLAIN = {
    "augment",
    "model_matrix",
    "margins",
    "simulate",
    "ranef",
    "profile",
    "reliability",
    "rounds",
    "staged_errors",
    "vcov",
    "predict",
    "replicates",
    "trace",
}


@cache
def tables(name: str) -> list[tuple[str, Any]]:
    """Every frame that a fit gives by a property or a call, and those inside of what it
    gives.
    """
    fit = FITS[name]
    found: list[tuple[str, Any]] = []
    for one in sorted(set(dir(fit)) - LEFT_OUT):
        if one.startswith("_"):
            continue
        for arguments in ARGUMENTS.get(one, [()]):
            try:
                actual = getattr(fit, one)
                actual = actual(*arguments) if inspect.ismethod(actual) else actual
            except (OptionError, DataError):  # it has no such answer, and says so
                continue
            found += [
                (f"{one}.{part}".rstrip("."), value) for part, value in _inside(actual)
            ]
    return found


def _inside(actual: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(actual, pd.DataFrame) or hasattr(actual, "tidy"):
        yield "", actual
    if not isinstance(actual, pd.DataFrame):
        yield from (
            (k, v)
            for k, v in getattr(actual, "__dict__", {}).items()
            if isinstance(v, pd.DataFrame) and k == "table"
        )
    if hasattr(actual, "largest"):
        yield "largest", actual.largest()


@pytest.mark.filterwarnings("ignore::ordstat.OrdstatWarning")
@pytest.mark.parametrize("name", FITS)
def test_every_table_of_a_fit(name: str) -> None:
    seen = set()
    for where, table in tables(name):
        if where.split(".")[0] in PLAIN:
            continue
        assert hasattr(table, "tidy"), f"{where} of {name} is a {type(table).__name__}"
        tidy = table.tidy()
        assert not set(BROOM_NAMES) & set(tidy.columns), (
            f"{where}.tidy() has {list(tidy.columns)}"
        )
        assert isinstance(tidy.index, pd.RangeIndex) and not {"index", "level_0"} & set(
            tidy.columns
        )
        seen.add(where)
    assert seen >= {"tidy"} if name != "ordinal-bagging" else {"errors", "confusion"}


@pytest.mark.filterwarnings("ignore::ordstat.OrdstatWarning")
def test_a_name_is_of_one_kind_of_number_in_all_tables() -> None:
    """p-values within [0, 1], errors not negative, limits around their estimates, in
    every table.
    """
    for name in FITS:
        for where, table in tables(name):
            if where.split(".")[0] in PLAIN:
                continue
            tidy = table.tidy()
            for column in {"p_value", "std_error", "df", "den_df"} & set(tidy):
                values = pd.to_numeric(tidy[column]).dropna()
                assert (values >= 0.0).all() and (
                    column != "p_value" or (values <= 1.0).all()
                ), (name, where, column)
            if {"estimate", "conf_low", "conf_high"} <= set(
                tidy
            ) and not where.startswith("bootstrap"):
                both = (
                    tidy[["conf_low", "estimate", "conf_high"]]
                    .dropna()
                    .to_numpy(dtype=float)
                )
                assert (np.diff(both, axis=1) >= -1e-9).all(), (name, where)


@pytest.mark.filterwarnings("ignore::ordstat.OrdstatWarning")
@pytest.mark.parametrize("name", SMALLER)
def test_models_compared(name: str) -> None:
    tidy = FITS[name].anova(SMALLER[name]).tidy()
    assert {"statistic", "df", "p_value"} <= set(tidy)
    assert not set(BROOM_NAMES) & set(tidy)


def test_descriptions() -> None:
    actual = describe_ordinal(WINE, ["rating"], by="temp")
    assert {"std_error", "conf_low", "conf_high"} <= set(actual.ridits.tidy()) & set(
        actual.mann_whitney.tidy()
    )

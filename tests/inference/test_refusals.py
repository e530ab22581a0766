"""Refusals, or notes below the table, instead of wrong numbers."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from expected import aliased, refused
from reference_cases import load_data

from ordstat import datasets, macro_cost, ordfit, table
from ordstat.exceptions import DataError, FormulaError, OptionError

FORMULA = "rating ~ temp + contact"


@pytest.fixture(scope="module")
def wine() -> pd.DataFrame:
    return load_data("wine").assign(one="a", x=np.linspace(0.0, 1.0, 72))


@pytest.mark.parametrize("seed", ["x", -1, 1.5])
@pytest.mark.parametrize("ask", ["errors", "bootstrap"])
def test_seeds(wine: pd.DataFrame, ask: str, seed: Any) -> None:
    fit = ordfit(FORMULA, wine)
    asked = {
        "errors": lambda: fit.errors(cv=2, seed=seed),
        "bootstrap": lambda: fit.bootstrap(2, seed=seed),
    }
    with refused("seed"):
        asked[ask]()


def test_one_cluster_is_none(wine: pd.DataFrame) -> None:
    with pytest.raises(DataError, match="cluster= has the same value in every row"):
        ordfit(FORMULA, wine, cluster="one")
    fit = ordfit(FORMULA, wine)
    for ask in (fit.vcov, fit.with_vcov):
        with pytest.raises(DataError, match="cluster= has the same value in every row"):
            ask({"cluster": "one"})
    with pytest.raises(DataError, match="at least 2 clusters"):
        fit.bootstrap(2, cluster=np.zeros(72))


@pytest.mark.parametrize("factor", [1e200, 1e-200])
@pytest.mark.parametrize("role", ["location", "nominal", "scale"])
def test_sizes_are_refused_by_name(
    wine: pd.DataFrame, role: str, factor: float
) -> None:
    data = wine.assign(income=wine["x"] * factor)
    arguments = {} if role == "location" else {role: "~ income"}
    with pytest.raises(
        DataError, match=r"Column 'income' has values up to 1e[-+]200. Rescale it"
    ):
        ordfit(FORMULA + (" + income" if role == "location" else ""), data, **arguments)


def test_series_are_not_matched_by_position(wine: pd.DataFrame) -> None:
    fit = ordfit(FORMULA, wine)
    weights = pd.Series(np.arange(1.0, 73.0), index=wine.index[::-1])
    with pytest.raises(
        DataError, match=r"weights= must have the index of the data; .*Reindex it"
    ):
        fit.errors(wine, weights=weights)
    pd.testing.assert_frame_equal(
        fit.errors(wine, weights=weights.reindex(wine.index)),
        fit.errors(wine, weights=weights.reindex(wine.index).to_numpy()),
    )
    judges = pd.Series(wine["judge"].to_numpy(), index=wine.index)
    pd.testing.assert_frame_equal(
        fit.vcov({"cluster": judges[::-1]}), fit.vcov({"cluster": "judge"})
    )
    with pytest.raises(
        DataError, match="cluster is a Series without the index of the rows"
    ):
        fit.vcov({"cluster": judges.set_axis(range(1000, 1072))})


def test_models_that_do_not_contain_each_other_have_no_p_value(
    wine: pd.DataFrame,
) -> None:
    fit = ordfit(FORMULA, wine)
    strangers = {
        "other terms": (
            ordfit("rating ~ contact", wine),
            ordfit("rating ~ temp + judge", wine),
        ),
        "other link": (ordfit("rating ~ temp", wine), fit.update(link="probit")),
        "other offset": (ordfit("rating ~ temp + offset(x)", wine), fit),
        "no offset": (
            ordfit("rating ~ temp", wine),
            ordfit("rating ~ temp + contact + offset(x)", wine),
        ),
    }
    for small, large in strangers.values():
        table = small.anova(large)
        assert (
            np.isnan(table["p_value"].iloc[1])
            and "not nested" in table.attrs["notes"][0]
        )


def test_models_that_contain_each_other_in_other_words(wine: pd.DataFrame) -> None:
    """Another coding, an offset that is a column, a nominal in place of a location
    effect, a link with its family.
    """
    fit = ordfit(FORMULA, wine)
    families = {
        "coding": (
            fit,
            ordfit(
                "rating ~ temp * contact",
                wine,
                contrasts={"temp": "sum", "contact": "sum"},
            ),
        ),
        "offset": (
            ordfit("rating ~ temp + offset(x)", wine),
            ordfit("rating ~ temp + x", wine),
        ),
        "nominal": (fit, fit.update("~ temp", nominal="~ contact")),
        "scale": (fit, fit.update(scale="~ temp")),
        "structure": (fit.update(threshold="equidistant"), fit),
        "link": (fit.update(link="probit"), fit.update(link="log-gamma")),
    }
    for small, large in families.values():
        table = small.anova(large)
        assert 0.0 < table["p_value"].iloc[1] <= 1.0 and table.attrs["notes"] == []


def test_a_term_that_is_wholly_aliased_is_not_tested(wine: pd.DataFrame) -> None:
    with aliased():
        fit = ordfit(FORMULA, wine, nominal="~ contact")
    for type in ("I", "II", "III"):
        table = fit.anova(type=type)
        assert (
            np.isnan(table.loc["contact", "chisq"]) and table.loc["contact", "df"] == 0
        )
        assert table.loc["temp", "chisq"] == pytest.approx(
            (fit.coef / fit.se.loc[fit.coef.index])["temp[T.warm]"] ** 2
        )


@pytest.mark.parametrize(
    "type", ["prob", "cum_prob", "linear_predictor", "score", "mean"]
)
def test_errors_of_no_rows(wine: pd.DataFrame, type: str) -> None:
    fit = ordfit(FORMULA, wine)
    none, one = (
        fit.predict(wine.head(n), type=type, se=True, interval="confidence")
        for n in (0, 1)
    )
    assert none.shape == (0, one.shape[1]) and none.columns.equals(one.columns)


@pytest.mark.parametrize(
    ("given", "got"), [(5, "5"), (np.ones((72, 2)), "shape (72, 2)"), ([1, 2], "2")]
)
def test_clusters_that_are_no_values_of_the_rows(
    wine: pd.DataFrame, given: Any, got: str
) -> None:
    with refused("cluster", got, error=DataError):
        ordfit(FORMULA, wine).vcov({"cluster": given})
    got = "shape (2,)" if got == "2" else got
    with refused("cluster", got, error=DataError):
        ordfit(FORMULA, wine, cluster=given)


#: Calls with an option of the wrong kind, and what the error names.
ODD = {
    "tidy level": (
        lambda fit: fit.tidy(level=[0.9]),
        "level must be a number strictly between 0 and 1; got [0.9]",
    ),
    "tidy large": (
        lambda fit: fit.tidy(level=10**30),
        "level must be a number strictly between 0 and 1",
    ),
    "summary": (lambda fit: fit.summary(["model"]), "must be"),
    "type": (lambda fit: fit.predict(type=["prob"]), "type must be one of"),
    "importance measure": (lambda fit: fit.importance(measure=3), "measure must be"),
    "importance repeats": (
        lambda fit: fit.importance(repeats=np.ones(2)),
        "repeats must be a whole number",
    ),
    "importance level": (lambda fit: fit.importance(level="x"), "level must be"),
    "add1 scope": (
        lambda fit: fit.add1(3),
        "scope must be a text or a list of texts; got 3",
    ),
    "add1 k": (
        lambda fit: fit.add1("judge", k="x"),
        "k must be a finite number, 0 or more",
    ),
    "drop1 k": (lambda fit: fit.drop1(k=[2]), "k must be a finite number, 0 or more"),
    "step": (lambda fit: fit.step(3), "scope must be"),
    "step k": (lambda fit: fit.step(k="AIC"), "k must be"),
    "forest columns": (
        lambda fit: fit.plot.forest(columns=3),
        "columns must be a text or a list of texts; got 3",
    ),
    "forest none": (
        lambda fit: fit.plot.forest(columns=[]),
        "columns must name a term",
    ),
    "forest label": (
        lambda fit: fit.plot.forest(label=["a"]),
        "label must be a text; got ['a']",
    ),
    "forest exponentiate": (
        lambda fit: fit.plot.forest(exponentiate="no"),
        "exponentiate must be True or False",
    ),
    "parallel": (lambda fit: fit.plot.parallel(columns=3), "columns must be a text"),
    "parallel level": (lambda fit: fit.plot.parallel(level=[0.9]), "level must be"),
    "means": (lambda fit: fit.plot.emmeans(3), "3 is not a variable of the formula"),
    "means at": (
        lambda fit: fit.plot.emmeans("temp", at=3),
        "at must be a mapping such as",
    ),
    "effects": (
        lambda fit: fit.plot.effects(np.ones(2)),
        "is not a variable of the formula",
    ),
    "margins": (
        lambda fit: fit.plot.margins(delta=[]),
        "delta must be a number or several",
    ),
    "latex": (
        lambda fit: fit.emmeans("temp").to_latex(3),
        "path must be a text or a pathlib.Path; got 3",
    ),
    "table labels": (
        lambda fit: table(fit, labels=["temp"]),
        "labels must be a mapping such as",
    ),
    "table gof": (
        lambda fit: table(fit, gof=3),
        "gof must be a text or a list of texts; got 3",
    ),
    "table notes": (lambda fit: table(fit, notes=3), "notes must be a text; got 3"),
    "table title": (lambda fit: table(fit, title=["a"]), "title must be a text"),
    "table stars": (
        lambda fit: table(fit, stars=3),
        "stars must be True or False; got 3",
    ),
    "table thresholds": (
        lambda fit: table(fit, thresholds="all"),
        "thresholds must be True or False",
    ),
    "table exponentiate": (
        lambda fit: table(fit, exponentiate=np.ones(2)),
        "exponentiate must be True or False",
    ),
    "contrasts": (
        lambda fit: fit.update(contrasts={"temp": ["a"]}),
        "Contrasts must be one of 'sas'",
    ),
    "data set": (
        lambda fit: datasets.load(["wine"]),
        "the name of a data set must be one of",
    ),
    "rows": (
        lambda fit: datasets.quadratic_bands(-1),
        "n must be a whole number, 0 or more; got -1",
    ),
    "seed": (
        lambda fit: datasets.quadratic_bands(5, seed=-1),
        "seed must be a whole number, 0 or more",
    ),
    "noise": (
        lambda fit: datasets.herbrich(5, noise="x"),
        "noise must be a finite number, 0 or more; got 'x'",
    ),
    "statistic": (
        lambda fit: fit.bootstrap(2, statistic="aic"),
        "statistic must be a function; got 'aic'",
    ),
    "drop1 scope": (
        lambda fit: fit.drop1(np.ones((2, 2))),
        "scope must hold terms of the model",
    ),
    "nominal scope": (
        lambda fit: fit.nominal_test(pd.NA),
        "scope must hold terms of the model",
    ),
    "emtrends": (
        lambda fit: fit.emtrends("temp", np.ones(2)),
        "the formula has no variable",
    ),
    "by": (
        lambda fit: fit.marginal_effects(by=np.ones((2, 2))),
        "by names no column of the data",
    ),
    "margins normalised": (
        lambda fit: fit.margins(0.1, normalised=2),
        "normalised must be True or False; got 2",
    ),
    "se": (
        lambda fit: fit.predict(type="prob", se="no"),
        "se must be True or False; got 'no'",
    ),
    "se array": (
        lambda fit: fit.predict(type="prob", se=np.ones(2)),
        "se must be True or False",
    ),
    "predict_to": (
        lambda fit: fit.predict_to(np.ones(2)),
        "path must be a text or a pathlib.Path",
    ),
    "report": (
        lambda fit: fit.report(pictures="no"),
        "pictures must be True or False; got 'no'",
    ),
    "summary level": (
        lambda fit: fit.summary(level=[0.9, 0.95]),
        "level must be a number strictly between 0 and 1",
    ),
    "summary 95": (
        lambda fit: fit.summary(level=95),
        "level must be a number strictly between 0 and 1; got 95",
    ),
    "summary labels": (
        lambda fit: fit.summary(labels=["Temperature"]),
        "labels must be a mapping such as",
    ),
    "summary exponentiate": (
        lambda fit: fit.summary(exponentiate="no"),
        "exponentiate must be True or False",
    ),
    "largest": (
        lambda fit: fit.influence().largest(1.5),
        "n must be a whole number, 0 or more; got 1.5",
    ),
    "largest negative": (
        lambda fit: fit.influence().largest(-1),
        "n must be a whole number, 0 or more; got -1",
    ),
    "word": (
        lambda fit: fit.emmeans("temp").to_word(3),
        "path must be a text or a pathlib.Path; got 3",
    ),
    "importance seed": (
        lambda fit: fit.importance(seed=np.ones(2)),
        "seed must be a whole number, 0 or more",
    ),
    "seed True": (
        lambda fit: fit.simulate(2, seed=True),
        "seed must be a whole number, 0 or more",
    ),
    "seed empty": (
        lambda fit: fit.residuals(seed=[]),
        "seed must be a whole number, 0 or more",
    ),
    "contrasts key": (
        lambda fit: fit.update(contrasts={1: "sum"}),
        "contrasts= names 1, which is not a factor",
    ),
    "costs": (
        lambda fit: macro_cost(np.ones((2, 2))),
        "y must be one column of labels",
    ),
    "costs weights": (
        lambda fit: macro_cost([1, 2], weights=["a", "b"]),
        "weights must be numbers of 0 or more",
    ),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_options_are_refused_by_name(name):
    call, message = ODD[name]
    fit = ordfit("rating ~ temp + contact", datasets.load("wine"))
    with pytest.raises(
        (OptionError, DataError, FormulaError), match=re.escape(message)
    ):
        call(fit)

"""ordfit(..., fit=False): what a model would be, without fitting it."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from expected import absent_levels, refused, unsupported
from seams import build, resolve

from ordstat import CumulativeLink, SurveyDesign, datasets, ordfit
from ordstat.exceptions import FormulaError

WINE = datasets.load("wine").assign(hours=np.arange(72.0) % 7)
FORMULA = "rating ~ temp + hours"
MODELS = {
    "plain": {},
    "nominal": {"nominal": "~ contact"},
    "scale": {"scale": "~ contact"},
    "acat": {"method": "acat", "threshold": "symmetric"},
    "cratio": {"method": "cratio", "nominal": "~ contact"},
    "structure and link": {"threshold": "equidistant", "link": "aranda-ordaz"},
    "levels without rows": {"levels": [0, 1, 2, 3, 4, 5]},
}


@pytest.mark.parametrize("model", MODELS)
def test_names_are_those_of_the_fit(model):
    options = MODELS[model]
    outline = ordfit(FORMULA, WINE, **options, fit=False)
    if "levels" in options:
        with absent_levels("0"):
            fit = ordfit(FORMULA, WINE, **options)
        assert any("No row has" in note for note in outline.notes)
    else:
        fit = ordfit(FORMULA, WINE, **options)
    assert outline.parameters == fit.params.index.tolist()
    assert outline.level_counts.tolist() == fit.level_counts.tolist()
    assert outline.columns["location"] == fit.model_matrix().columns.tolist()


def test_names_of_random_effects_are_those_of_the_covariance():
    formula = "rating ~ temp + (1 + contact | judge)"
    outline = ordfit(formula, WINE, fit=False)
    assert outline.parameters == ordfit(formula, WINE).vcov().index.tolist()


def test_nothing_is_fitted(monkeypatch):
    monkeypatch.setattr(CumulativeLink, "fit", None)
    assert len(ordfit(FORMULA, WINE, fit=False).parameters) == 6


def test_rows_that_are_left_out():
    """Two without an input, one of weight 0: counts are sums of weights."""
    frame = WINE.assign(w=np.where(WINE.index == 9, 0.0, 2.0))
    frame.loc[[3, 4], "hours"] = np.nan
    outline = ordfit(FORMULA, frame, weights="w", fit=False)
    assert (outline.n_rows, outline.n_given) == (69, 72)
    assert outline.dropped == {"hours": 2, "(weight 0)": 1}
    kept = frame.drop(index=[3, 4, 9])["rating"].value_counts().sort_index()
    assert outline.level_counts.index.tolist() == kept.index.tolist()
    assert outline.level_counts.tolist() == (2.0 * kept).tolist()
    assert "69 of 72, 3 left out" in repr(outline)


@pytest.mark.parametrize("method", ["redsvm", "ordboost", "csovo", "prank", "red-c45"])
def test_other_methods(method):
    outline = ordfit(FORMULA, WINE, method, fit=False)
    assert outline.columns == {"location": outline.columns["location"]}
    assert outline.level_counts.sum() == 72 and "Not fitted" in repr(outline)


def test_the_memory_of_a_kernel_is_that_of_its_matrix():
    n = 3000
    frame = pd.DataFrame({"y": np.arange(n) % 3, "x": np.arange(n) / n})
    kernel = ordfit("y ~ x", frame, "redsvm", fit=False).memory["fit"]
    few = ordfit("y ~ x", frame, "redsvm", landmarks=100, fit=False).memory["fit"]
    line = ordfit("y ~ x", frame, "redsvm", kernel="linear", fit=False).memory["fit"]
    assert kernel - line == 2 * 8 * n * n and few - line == 2 * 8 * n * 100
    # codes of levels, and the column
    assert ordfit("y ~ x", frame, fit=False).memory["data"] == 16 * n


def test_what_a_fit_refuses_is_refused():
    with unsupported("nominal"):
        ordfit(FORMULA, WINE, "redsvm", nominal="~ contact", fit=False)
    with pytest.raises(FormulaError):
        ordfit("rating ~ nothing(temp)", WINE, fit=False)
    with refused("fit"):
        ordfit(FORMULA, WINE, fit="no")


def test_surveys_and_answers_known_in_part():
    survey = ordfit(
        FORMULA,
        WINE.assign(w=1.0 + WINE.index % 3),
        design=SurveyDesign(weights="w"),
        fit=False,
    )
    assert survey.level_counts.sum() == pytest.approx(72.0)
    frame = WINE.assign(event=(WINE.index % 4 > 0).astype(int))
    partial = ordfit("Surv(hours, event) ~ temp", frame, fit=False)
    exact = frame[frame["event"] == 1]["hours"].value_counts().sort_index()
    assert partial.level_counts[list(exact.index)].tolist() == exact.tolist()


def test_rows_in_blocks_count_all_rows(tmp_path):
    path = tmp_path / "wine.parquet"
    WINE.to_parquet(path)
    assert ordfit(FORMULA, str(path), fit=False).n_rows == 72


def test_long_lists_are_cut():
    frame = pd.DataFrame(
        np.random.default_rng(0).normal(size=(50, 30)),
        columns=[f"x{j}" for j in range(30)],
    ).assign(y=np.arange(50) % 3)
    formula = "y ~ " + " + ".join(frame.columns[:30])
    printed = repr(ordfit(formula, frame, fit=False))
    assert "30: x0, x1, x2, x3, x4, ..., x25" in printed
    assert max(map(len, printed.splitlines())) <= 80


@pytest.mark.parametrize("method", ["clm", "acat", "redsvm"])
def test_a_fit_takes_no_more_than_about_what_was_said(method):
    n = 800 if method == "redsvm" else 20_000
    x = np.random.default_rng(0).normal(size=n)
    noise = np.random.default_rng(1).logistic(size=n)
    frame = pd.DataFrame({"y": np.digitize(x + noise, [-1.0, 0.0, 1.0]), "x": x})
    said = ordfit("y ~ x", frame, method, fit=False).memory["fit"]
    ordfit("y ~ x", frame.head(200), method)  # imports and caches
    design = build("y ~ x", frame)
    tracemalloc.start()
    resolve(method).fit(design.sample, np.random.default_rng(0))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert said / 5.0 < peak < 1.5 * said + 1e6


def test_scores_without_effects_are_no_parameters():
    """Levels have thresholds, and their scores multiply nothing."""
    outline = ordfit("rating ~ 1", WINE, "stereotype", fit=False)
    assert outline.parameters == ["2/1", "3/1", "4/1", "5/1"]
    fit = ordfit("rating ~ 1", WINE, "stereotype")
    assert len(outline.parameters) == fit.glance()["edf"].iloc[0]

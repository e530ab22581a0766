"""What predict, errors, margins and augment give on frames, for both kinds of
results.
"""

import pickle

import numpy as np
import pandas as pd
import pytest
from expected import data_changed
from seams import PREDICTION_TYPES, held_out

from ordstat import datasets, ordfit
from ordstat.exceptions import ConvergenceWarning, DataError, DataWarning, OptionError


@pytest.fixture(params=["wine_logit", "wine_margin"])
def results(request):
    return request.getfixturevalue(request.param)


@pytest.fixture
def new(wine):
    """Four rows on an index of their own, the second without temp, the last without a
    rating.
    """
    rows = (
        wine.iloc[[0, 3, 13, 71]]
        .set_index(pd.Index(list("abcd"), name="bottle_name"))
        .copy()
    )
    rows.loc["b", "temp"] = None
    rows.loc["d", "rating"] = None
    return rows


def test_every_type_keeps_the_rows_of_new_data(results, new):
    before = new.copy(deep=True)
    for type in results.predicts:
        predicted = results.predict(new, type=type)
        assert predicted.index.equals(new.index)
        missing = (
            predicted.isna() if predicted.ndim == 1 else predicted.isna().all(axis=1)
        )
        assert missing.tolist() == [False, True, False, type == "margin"]
    pd.testing.assert_frame_equal(new, before)


def test_new_data_equal_to_the_training_rows_give_the_same(results, wine):
    for type in results.predicts:
        a = results.predict(type=type)
        b = results.predict(wine, type=type)
        (
            pd.testing.assert_series_equal
            if a.ndim == 1
            else pd.testing.assert_frame_equal
        )(a, b, rtol=1e-12)


def test_classes_are_the_users_ordered_levels(results):
    predicted = results.predict()
    assert predicted.name == "rating" and predicted.cat.ordered
    assert predicted.cat.categories.tolist() == ["1", "2", "3", "4", "5"]


def test_margin_ranker_by_hand(wine_margin, new):
    # Scores 0 (cold, no), 1 (cold, yes), 2 (warm, no), 3 (warm, yes).
    assert wine_margin.predict(new, type="score").tolist()[::2] == [0.0, 2.0]
    assert wine_margin.predict(new).tolist()[::2] == ["2", "4"]
    m = wine_margin.predict(new, type="margin")
    norm = np.sqrt(4 + 1 + 0.25 + 0.25 + 2.25 + 6.25)
    assert new["rating"].tolist()[::2] == ["2", "3"]
    np.testing.assert_allclose(m.loc["a"], [0.5, 0.5, 0.5 / norm, 0.5 / norm])
    np.testing.assert_allclose(m.loc["c"], [1.5, -0.5, 1.5 / norm, -0.5 / norm])


def test_probabilities_add_up(wine_logit, new):
    prob = wine_logit.predict(new, type="prob")
    cum = wine_logit.predict(new, type="cum_prob")
    assert prob.columns.tolist() == cum.columns.tolist() == ["1", "2", "3", "4", "5"]
    np.testing.assert_allclose(prob.cumsum(axis=1).loc["a"], cum.loc["a"], rtol=1e-12)
    assert wine_logit.predict(new)["a"] == prob.loc["a"].idxmax()


@pytest.mark.parametrize("type", [*PREDICTION_TYPES, "linpred"])
def test_types_a_method_lacks(wine_margin, wine, type):
    if type in wine_margin.predicts:
        wine_margin.predict(wine, type=type)
        return
    word = "not available" if type in PREDICTION_TYPES else "must be one of"
    with pytest.raises(OptionError, match=word) as error:
        wine_margin.predict(wine, type=type)
    assert "'class', 'score', 'margin'" in str(error.value)


def test_margins_need_the_response(results, new):
    with pytest.raises(DataError, match="rating"):
        results.predict(new.drop(columns="rating"), type="margin")


def test_errors_of_new_data_and_their_weights(results, wine):
    rows = wine.iloc[:30]
    weights = np.arange(30) % 3 + 1
    columns = results.errors(rows, weights=weights)
    repeated = results.errors(rows.iloc[np.repeat(np.arange(30), weights)])
    np.testing.assert_allclose(columns["new data"], repeated["new data"], rtol=1e-12)
    by_name = results.errors(rows.assign(w=weights), weights="w")
    pd.testing.assert_frame_equal(columns, by_name)
    truth = wine["rating"].cat.codes - results.predict().cat.codes
    assert columns.loc["absolute error", "training"] == np.abs(truth).mean()
    assert columns.loc["absolute error", "new data"] == pytest.approx(
        np.average(np.abs(truth[:30]), weights=weights)
    )


def test_confusion(results, wine):
    table = results.confusion()
    expected = pd.crosstab(wine["rating"], results.predict(), dropna=False)
    np.testing.assert_array_equal(table, expected)
    assert (table.index.name, table.columns.name) == ("observed", "predicted")
    assert (
        results.confusion(wine.iloc[:10], weights=np.full(10, 0.5)).to_numpy().sum()
        == 5.0
    )


@pytest.mark.parametrize(
    ("weights", "match"),
    [
        ([1.0], "72 values, one per row"),
        (-np.ones(72), "0 or more"),
        (np.full(72, np.nan), "weights= is missing in"),
    ],
)
def test_weights_that_cannot_be(wine_margin, wine, weights, match):
    with pytest.raises(DataError, match=match):
        wine_margin.errors(wine, weights=weights)


def test_new_data_without_a_complete_row(results, new):
    with pytest.raises(DataError, match="no row"):
        results.errors(new.iloc[[1]])


def test_margins_and_errors_at_them(results):
    m = results.margins()
    assert np.isinf(m["left"]).sum() == 5 and np.isinf(m["right"]).sum() == 7
    raw = results.margins([0.0, 0.25], normalised=False)
    share = ((m[["left", "right"]] <= 0.25).any(axis=1)).mean()
    assert raw.loc[0.25, "classification"] == pytest.approx(share)
    assert raw.loc[0.0, "absolute"] == results.margins(0.0).loc[0.0, "absolute"]


def test_bounds(results, wine):
    table = results.bounds()
    assert table.index.tolist() == ["classification error", "absolute error"]
    assert (table["vacuous"] == (table["value"] >= table["trivial"])).all()
    wider = results.bounds(delta=0.01)
    assert (wider["value"] > table["value"]).all()
    both = results.bounds(newdata=wine.iloc[:36])
    limit = both.loc["classification error (new data)"]
    assert (
        limit["source"] == "Clopper-Pearson" and limit["observed"] < limit["value"] < 1
    )


def test_augment(results, new):
    frame = results.augment(new)
    assert frame.columns[: new.shape[1]].tolist() == new.columns.tolist()
    assert frame.index.equals(new.index)
    assert frame[".score"].isna().tolist() == [False, True, False, False]
    assert frame[".left_margin"].isna().tolist() == [False, True, False, True]
    assert (".prob_3" in frame) == ("prob" in results.predicts)
    assert results.augment().shape[0] == 72 and "rating" in results.augment()
    assert ".left_margin" not in results.augment(new.drop(columns="rating"))


@pytest.mark.parametrize("method", ["logit", "redsvm"])
def test_cross_validated_errors_of_real_fits(wine, method):
    results = ordfit("rating ~ temp + contact", wine, method=method)
    heard = []
    errors = results.errors(
        cv=4, seed=1, callback=lambda step, total, message: heard.append((step, total))
    )
    assert heard == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert errors.columns.tolist() == ["training", "cv", "cv se"]
    pd.testing.assert_frame_equal(errors, results.errors(cv=4, seed=1))
    # By hand: the same folds, each predicted by a fit to the others.
    folds = held_out(results.design.sample, 4, np.random.default_rng(1)).argmax(axis=0)
    wrong = []
    for fold in range(4):
        fitted = ordfit("rating ~ temp + contact", wine[folds != fold], method=method)
        wrong.append(
            np.mean(
                fitted.predict(wine[folds == fold]).astype(str)
                != wine["rating"][folds == fold].astype(str)
            )
        )
    assert errors.loc["classification error", "cv"] == pytest.approx(
        np.average(wrong, weights=np.bincount(folds))
    )


def test_refits_that_do_not_converge_are_told(wine):
    with pytest.warns(ConvergenceWarning):
        results = ordfit("rating ~ temp + contact", wine, max_iter=1)
    with pytest.warns(ConvergenceWarning, match="3 of the 3 refits"):
        results.errors(cv=3)


def test_augment_keeps_the_predictors_of_the_rows_of_the_fit():
    data = datasets.load("wine").assign(x=np.arange(72.0), unused=1)
    data.loc[3, "x"] = np.nan
    fit = ordfit("rating ~ temp + log(x + 1)", data, subset="judge != 1")
    actual = fit.augment()
    rows = data[(data["judge"].astype(str) != "1") & data["x"].notna()]
    assert actual.columns[:3].tolist() == ["rating", "temp", "x"]
    pd.testing.assert_frame_equal(actual[["temp", "x"]], rows[["temp", "x"]])
    pd.testing.assert_frame_equal(
        actual.filter(like="."), fit.augment(rows).filter(like=".")
    )
    assert pickle.loads(pickle.dumps(fit)).augment().columns[:2].tolist() == [
        "rating",
        ".fitted",
    ]
    data["x"] += 1.0
    with data_changed():
        fit.augment()


def test_augment_of_repeated_labels_and_of_polars():
    wine = datasets.load("wine")
    twice = wine.set_index(np.zeros(72, dtype=int))
    assert (
        ordfit("rating ~ temp", twice).augment()["temp"].tolist()
        == wine["temp"].tolist()
    )
    some = ordfit("rating ~ temp", twice, subset="contact == 'no'").augment()
    assert some.columns[:2].tolist() == ["rating", ".fitted"]
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(
        {"y": [1, 2, 1, 2, 3, 3], "x": [0.0, 1.0, 2.0, 0.5, 1.5, None]}
    )
    with pytest.warns(DataWarning):
        fit = ordfit("y ~ x", frame)
    assert fit.augment()["x"].tolist() == [0.0, 1.0, 2.0, 0.5, 1.5]


FORMULA = "Sat ~ Infl + Type + Cont"


def test_a_table_of_counts_and_its_rows_have_the_same_errors():
    table = datasets.load("housing")
    rows = table.loc[table.index.repeat(table["Freq"])].reset_index(drop=True)
    one = ordfit(FORMULA, table, weights="Freq").errors(cv=5, seed=3)
    other = ordfit(FORMULA, rows).errors(cv=5, seed=3)
    np.testing.assert_allclose(one, other, rtol=1e-6)


@pytest.mark.parametrize("method", ["logit", "redsvm"])
def test_folds_may_be_more_than_the_lines_of_a_table(method):
    """Three lines, twelve rows."""
    wine = datasets.load("wine")
    table = wine.drop_duplicates(["rating", "temp"]).assign(n=6)[
        ["rating", "temp", "n"]
    ]
    actual = ordfit(
        "rating ~ temp", table, method, weights="n", levels=[1, 2, 3, 4, 5]
    ).errors(cv=len(table) + 2)
    assert np.isfinite(actual.loc["absolute error", "cv"])


@pytest.fixture(scope="module")
def fit():
    data = pd.DataFrame(
        {"x": np.repeat([0.0, 1.0, 2.0], 10), "y": [1] * 9 + [2] + [2] * 10 + [3] * 10}
    )
    return ordfit("y ~ x", data, "rps-forest", trees=5, min_leaf=1, seed=0)


def test_an_infinite_mean_has_no_standard_error(fit):
    table = fit.errors(cv=10)
    assert np.isinf(table.loc["log-loss", "cv"]) and np.isnan(
        table.loc["log-loss", "cv se"]
    )
    assert np.isfinite(table.loc["absolute error", "cv se"])
    assert (
        "log-loss (cv) is infinite, as an observed level had probability 0."
        in " ".join(str(table).split())
    )


def test_finite_errors_say_nothing(fit):
    assert "infinite" not in str(fit.errors())


@pytest.mark.parametrize("n_levels", [40, 120, 574])
@pytest.mark.parametrize("method", ["logit", "prank"])
def test_print_does_not_repeat_many_levels(n_levels, method):
    y = np.arange(2 * n_levels) % n_levels + 1
    data = pd.DataFrame({"y": y, "x": np.sin(np.arange(2.0 * n_levels))})
    fit = ordfit("y ~ x", data, method, levels=list(np.unique(y)))
    text = repr(fit)
    assert "levels=..." in text and "int64" not in text
    assert len(text.splitlines()) < 15
    assert max(map(len, text.splitlines())) <= 88

"""Methods on the same folds: against fits made by hand, and printed notes."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from expected import refused, rows_left_out
from scipy import stats
from seams import held_out, held_weights, stratified_folds
from sklearn.linear_model import LogisticRegression

import ordstat
from ordstat import (
    REDSVM,
    DataError,
    DataWarning,
    Reduction,
    SurveyDesign,
    compare,
    datasets,
    ordfit,
)
from ordstat.judging.errors import MEASURES
from ordstat.prediction.calibrated import Dealt

WINE = datasets.load("wine")
FORMULA = "rating ~ temp + contact"


@pytest.fixture(scope="module")
def three():
    return compare(FORMULA, WINE, methods=["logit", "redsvm", "cart"], cv=6, seed=3)


def fold_values(actual, label, measure):
    folds = actual.folds
    return folds.loc[
        (folds["method"] == label) & (folds["measure"] == measure), "value"
    ].to_numpy()


def folds_of(fit, cv, seed):
    return held_out(fit.design.sample, cv, np.random.default_rng(seed)).argmax(axis=0)


def test_folds_are_those_of_fits_by_hand(three):
    """Fit to the rows of the other folds and predict these, by the calls of a user."""
    folds = folds_of(ordfit(FORMULA, WINE), 6, 3)
    for fold in range(6):
        train = WINE[folds != fold]
        test = WINE[folds == fold]
        fits = {
            "logit": ordfit(FORMULA, train, cost="absolute"),
            "redsvm": ordfit(FORMULA, train, "redsvm"),
        }
        for label, fit in fits.items():
            away = fit.predict(test).astype(int) - test["rating"].astype(int)
            assert fold_values(three, label, "absolute error")[fold] == pytest.approx(
                away.abs().mean(), rel=1e-12
            )
        p = fits["logit"].predict(test, type="prob").to_numpy()
        log_loss = -np.log(
            p[np.arange(len(test)), test["rating"].astype(int) - 1]
        ).mean()
        assert fold_values(three, "logit", "log-loss")[fold] == pytest.approx(
            log_loss, rel=1e-9
        )


@pytest.mark.parametrize("method", ["logit", "redsvm"])
def test_means_are_those_of_errors(three, method):
    fit = ordfit(FORMULA, WINE, method, cost="absolute")
    known = fit.errors(cv=6, seed=3)["cv"]
    for measure in ("absolute error", "macro absolute error", "quadratic kappa"):
        assert three.table.loc[method, measure] == pytest.approx(
            known[measure], rel=1e-12
        )


def test_table_and_differences(three):
    table = three.table
    assert (
        table["absolute error"].is_monotonic_increasing
        and three.best == table.index[0] == "logit"
    )
    one, other = (
        fold_values(three, label, "absolute error") for label in ("cart", "logit")
    )
    rows = three.weights / three.weights.sum()
    mean = rows @ (one - other)
    s2 = 6 / 5 * rows @ (one - other - mean) ** 2
    t = mean / np.sqrt((1 / 6 + 1 / 5) * s2)
    told = three.differences().loc["cart"]
    assert told["difference"] == pytest.approx(mean) and told[
        "p_value"
    ] == pytest.approx(2 * stats.t.sf(abs(t), 5))
    assert list(told.index) == [
        "difference",
        "std_error",
        "lower",
        "upper",
        "statistic",
        "p_value",
    ]


def test_where_larger_is_better(three):
    told = three.differences("quadratic kappa")
    assert (told["difference"] <= 0).all()
    against = three.differences("quadratic kappa", against="redsvm").loc["logit"]
    assert against["difference"] > 0


def test_folds_frame(three):
    folds = three.folds
    assert list(folds) == ["method", "repeat", "fold", "measure", "value"]
    assert (
        len(folds) == 3 * 6 * 19 and (fold_values(three, "cart", "seconds") > 0).all()
    )
    assert folds.groupby("measure")["fold"].max().eq(6).all()


def test_same_for_any_number_of_jobs():
    methods = ["logit", ("rps-forest", {"trees": 5}), ("prank", {"epochs": 2})]
    one, two = (
        compare(FORMULA, WINE, methods, cv=3, repeats=2, seed=5, n_jobs=jobs)
        for jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.values, two.values)
    assert one.values.shape == (3, 6, 18)
    other = compare(FORMULA, WINE, methods, cv=3, repeats=2, seed=6)
    assert not np.array_equal(one.values, other.values, equal_nan=True)


def test_random_effects_are_averaged_over_groups_held_out():
    actual = compare(
        FORMULA + " + (1 | judge)", WINE, ["logit"], cv=3, cost="classification", seed=1
    )
    held = []
    judges = WINE["judge"].cat.codes.to_numpy()
    sample = ordfit(FORMULA, WINE, cluster="judge").design.sample
    folds = held_out(sample, 3, np.random.default_rng(1)).argmax(axis=0)
    for fold in range(3):
        inside = folds == fold
        assert not set(judges[inside]) & set(judges[~inside])
        fit = ordfit(FORMULA + " + (1 | judge)", WINE[~inside])
        test = WINE[inside].assign(judge="somebody new")
        p = fit.predict(test, type="prob", re="marginal").to_numpy()
        y = test["rating"].astype(int).to_numpy() - 1
        held.append(
            [-np.log(p[np.arange(y.size), y]).mean(), (p.argmax(axis=1) != y).mean()]
        )
    np.testing.assert_allclose(
        fold_values(actual, "logit", "log-loss"), np.array(held)[:, 0], rtol=1e-6
    )
    np.testing.assert_allclose(
        fold_values(actual, "logit", "classification error"), np.array(held)[:, 1]
    )


def test_crossed_groups_are_held_out_by_the_more_numerous_as_errors_does():
    """9 judges and 8 bottles, each with each."""
    formula = FORMULA + " + (1 | judge) + (1 | bottle)"
    actual = compare(formula, WINE, ["logit"], cv=3, cost="classification", seed=1)
    folds = held_out(
        ordfit(FORMULA, WINE, cluster="judge").design.sample,
        3,
        np.random.default_rng(1),
    ).argmax(axis=0)
    fit = ordfit(formula, WINE[folds != 0])
    test = WINE[folds == 0].assign(judge="somebody new", bottle="a new one")
    p = fit.predict(test, type="prob", re="marginal").to_numpy()
    y = test["rating"].astype(int).to_numpy() - 1
    expected = -np.log(p[np.arange(y.size), y]).mean()
    assert fold_values(actual, "logit", "log-loss")[0] == pytest.approx(
        expected, rel=1e-6
    )


def test_clusters_stay_together_for_methods_that_know_none():
    actual = compare(FORMULA, WINE, ["logit", "redsvm"], cv=3, cluster="judge")
    folds = held_out(
        ordfit(FORMULA, WINE, cluster="judge").design.sample,
        3,
        np.random.default_rng(0),
    ).argmax(axis=0)
    train = WINE[folds != 0]
    test = WINE[folds == 0]
    away = ordfit(FORMULA, train, "redsvm").predict(test).astype(int) - test[
        "rating"
    ].astype(int)
    assert fold_values(actual, "redsvm", "absolute error")[0] == pytest.approx(
        away.abs().mean()
    )


def test_a_weight_counts_rows():
    """A table of counts, and the same as one row a person, are the same data."""
    table = datasets.load("housing")
    rows = table.loc[table.index.repeat(table["Freq"])].reset_index(drop=True)
    one = compare(
        "Sat ~ Infl + Type + Cont", table, ["logit"], weights="Freq", cv=4, seed=1
    )
    other = compare("Sat ~ Infl + Type + Cont", rows, ["logit"], cv=4, seed=1)
    np.testing.assert_allclose(one.values, other.values, rtol=1e-7)
    np.testing.assert_allclose(one.weights, other.weights)


@pytest.mark.filterwarnings(
    "ignore:weights= are counts of equal rows, and these stand for"
)
def test_twins_of_a_row_that_is_known_again_stay_together():
    rng = np.random.default_rng(0)
    data = pd.DataFrame(
        {
            "y": rng.integers(0, 3, 60),
            "x": rng.normal(size=60),
            "w": rng.integers(1, 4, 60),
        }
    )
    actual = compare("y ~ x", data, ["logit"], weights="w", cv=3)
    folds = folds_of(ordfit("y ~ x", data, weights="w"), 3, 0)
    np.testing.assert_allclose(actual.weights, np.bincount(folds, data["w"]))


def test_costs_are_alike():
    price = 1.0 - np.eye(5)
    price[:, 4] += 2.0
    price[4, 4] = 0.0
    actual = compare(
        FORMULA, WINE, ["logit", "ova", REDSVM(cost="squared")], cv=3, cost=price
    )
    assert actual.measure == "cost"
    assert any("ova, REDSVM(cost='squared')" in note for note in actual.notes)
    folds = folds_of(ordfit(FORMULA, WINE), 3, 0)
    predicted = ordfit(FORMULA, WINE[folds != 0], cost=price).predict(WINE[folds == 0])
    codes = [
        column.astype(int) - 1 for column in (WINE["rating"][folds == 0], predicted)
    ]
    assert fold_values(actual, "logit", "cost")[0] == pytest.approx(
        price[codes[0], codes[1]].mean()
    )
    assert "REDSVM" not in " ".join(
        compare(FORMULA, WINE, [REDSVM(C=10.0)], cv=3).notes
    )


def test_costs_of_rows():
    rng = np.random.default_rng(0)
    y = WINE["rating"].astype(int).to_numpy() - 1
    prices = np.abs(np.arange(5) - y[:, None]) * rng.uniform(1, 3, 72)[:, None]
    actual = compare(FORMULA, WINE, ["redsvm", "csovo"], cv=3, cost=prices)
    folds = folds_of(ordfit(FORMULA, WINE), 3, 0)
    fit = ordfit(FORMULA, WINE[folds != 0], "redsvm", cost=prices[folds != 0])
    codes = fit.predict(WINE[folds == 0]).astype(int) - 1
    paid = prices[folds == 0][np.arange(len(codes)), codes].mean()
    assert actual.measure == "cost" and fold_values(actual, "redsvm", "cost")[
        0
    ] == pytest.approx(paid)


def test_fits_are_fitted_again_with_their_options():
    fits = (
        ordfit("rating ~ temp", WINE),
        ordfit(FORMULA, WINE, "redsvm", C=10, kernel="linear"),
    )
    actual = compare(*fits, cv=4, seed=2)
    assert actual.labels == (
        "CumulativeLink(): rating ~ temp",
        "REDSVM(C=10.0, kernel='linear'): rating ~ temp + contact",
    )
    for label, fit in zip(actual.labels, fits, strict=True):
        known = fit.errors(cv=4, seed=2)["cv"]
        assert actual.table.loc[label, "absolute error"] == pytest.approx(
            known["absolute error"], rel=1e-12
        )
    # of the classification cost
    assert any("CumulativeLink(): rating ~ temp" in note for note in actual.notes)
    named = compare({"small": fits[0], "svm": fits[1]}, cv=4, seed=2)
    np.testing.assert_array_equal(named.values, actual.values)


def test_calibrated_rankers_have_probabilities():
    actual = compare(FORMULA, WINE, [("redsvm", {"calibrate": 3}), "redsvm"], cv=3)
    assert np.isfinite(actual.table.loc["redsvm(calibrate=3)", "log-loss"])
    assert np.isnan(actual.table.loc["redsvm", "log-loss"])


class Picky(LogisticRegression):
    """A classifier that cannot do without a row."""

    def fit(self, X, y, sample_weight=None):
        if X.max() < 40.0:
            raise ValueError("the row of 50 is missing")
        return super().fit(X / 100.0, y, sample_weight)


def test_a_failing_method_is_told_and_has_no_means():
    rng = np.random.default_rng(0)
    data = pd.DataFrame(
        {
            "y": rng.permutation(np.repeat([1, 2, 3], 20)),
            "x": np.r_[50.0, rng.normal(size=59)],
        }
    )
    method = Reduction(base=Picky(), scaling=None)
    picky = str(method)
    with pytest.warns(
        DataWarning, match=r"failed in 1 of 5 folds and has no means .*row of 50"
    ):
        actual = compare("y ~ x", data, [method, "logit"], cv=5)
    assert actual.table.index.tolist() == ["logit", picky]
    assert (
        np.isnan(actual.table.loc[picky, "absolute error"]) and actual.best == "logit"
    )
    assert (
        actual.failed["method"].tolist() == [picky]
        and np.isfinite(fold_values(actual, picky, "cost")).sum() == 4
    )
    assert "failed in 1 of 5" in repr(actual)
    with refused("against"):
        actual.differences(against=picky)
    with pytest.raises(
        DataError, match=r"Every method failed in some fold: Reduction.* failed"
    ):
        compare("y ~ x", data, [method], cv=5)


def test_progress():
    steps = []
    compare(FORMULA, WINE, ["logit"], cv=3, callback=lambda *told: steps.append(told))
    assert steps == [(step, 3, "comparison") for step in (1, 2, 3)]


def test_prints_in_eighty_columns(three):
    text = repr(three)
    assert max(map(len, text.splitlines())) <= 80
    assert text.startswith(
        "3 methods by 6-fold cross-validation: rating ~ temp + contact"
    )
    html = compare(
        {"<b>": ordfit(FORMULA, WINE), "svm": ordfit(FORMULA, WINE, "redsvm")}, cv=3
    )._repr_html_()
    assert "&lt;b&gt;" in html and "<b>" not in html.replace("<b>Other", "")


def mixed(group):
    return ordfit(f"{FORMULA} + (1 | {group})", WINE)


def test_mixed_fits_have_the_folds_of_their_errors():
    fit = mixed("judge")
    known = fit.errors(cv=4, seed=3)["cv"]
    actual = compare(fit, cv=4, seed=3).table.iloc[0]
    for measure in ("absolute error", "classification error", "log-loss"):
        assert actual[measure] == pytest.approx(known[measure], rel=1e-9)


def test_one_method_is_cross_validated():
    actual = compare(FORMULA, WINE, "logit", cv=4)
    assert actual.best == "logit" and actual.differences().empty
    assert "logit" in repr(actual) and "Differences" in repr(actual.differences())


INNER = {
    "calibrated": ("redsvm", {"calibrate": 3}),
    "boosted": ("ordboost", {"max_rounds": 20}),
    "given": ("ordboost", {"rounds": 3, "depth": 1, "linear_start": False}),
    "stacked": ("blend", {"members": ["logit", "redsvm"], "average": "stacked"}),
    "averaged": ("blend", {"members": ["logit", "redsvm"]}),
    "plain": ("redsvm", {}),
    "chosen": ("redsvm", {"C": "cv", "folds": 2}),
}


def test_folds_inside_the_training_rows_keep_clusters_together(monkeypatch):
    """Those that choose rounds, penalties and weights of members, and those of
    calibrations: as the folds outside.
    """
    seen = {}

    def watched(y, n_levels, number, rng, cluster=None):
        fold = stratified_folds(y, n_levels, number, rng, cluster)
        seen.setdefault(name, []).append((cluster, fold))
        return fold

    for module in ("judging.folds", "svm.options", "prediction.calibrated"):
        monkeypatch.setattr(f"ordstat.{module}.stratified_folds", watched)
    for name in INNER:
        compare(FORMULA, WINE, [INNER[name]], cv=2, cluster="judge")
    # the first deal is that of the comparison
    inner = {name for name, deals in seen.items() if len(deals) > 1}
    assert inner == {"calibrated", "boosted", "stacked", "averaged", "chosen"}
    for cluster, fold in (pair for pairs in seen.values() for pair in pairs):
        assert all(
            np.unique(fold[cluster == one]).size == 1 for one in np.unique(cluster)
        )


def test_clusters_are_held_out_whole_and_every_level_stays():
    """A level of one cluster alone is never held out; without clusters there is no fold
    without it either.
    """
    rng = np.random.default_rng(0)
    cluster = np.repeat(np.arange(6), 5)
    y = np.where(
        cluster == 3, np.array([0, 1, 2, 1, 0])[np.arange(30) % 5], np.arange(30) % 2
    )
    weights = rng.integers(1, 4, 30).astype(float)
    held = held_weights(np.zeros((30, 1)), y, weights, 3, rng, cluster)
    assert len(held) == 2 and (held[:, cluster == 3] == 0.0).all()
    for out in held:
        np.testing.assert_array_equal(out[out > 0.0], weights[out > 0.0])
        assert all(np.unique(out[cluster == one] > 0.0).size == 1 for one in range(6))
    assert (
        len(
            held_weights(np.zeros((30, 1)), y, weights, 3, rng, np.zeros(30, dtype=int))
        )
        == 0
    )


def test_a_calibration_deals_whole_clusters(monkeypatch):
    """Inside the training rows of every fold, as outside."""
    seen = []
    of = Dealt.of.__func__

    def watched(cls, sample, folds, rng):
        dealt = of(cls, sample, folds, rng)
        seen.append((sample.cluster[dealt.rows], dealt.fold))
        return dealt

    monkeypatch.setattr(Dealt, "of", classmethod(watched))
    for method in ("redsvm", "orboost-lr"):
        compare(FORMULA, WINE, [(method, {"calibrate": 3})], cv=2, cluster="judge")
    assert len(seen) == 4
    for cluster, fold in seen:
        assert all(
            np.unique(fold[cluster == one]).size == 1 for one in np.unique(cluster)
        )


def negative_in_one_fold():
    """Nominal effects whose lines cross in a held-out row of one fold: no log-loss
    there.
    """
    r = np.random.default_rng(2)
    data = pd.DataFrame({"x": r.normal(size=40), "z": r.normal(size=40)})
    data["y"] = np.digitize(data["x"] * 0.3 + r.logistic(size=40), [-0.6, 0.6])
    return compare("y ~ x", data, nominal="~ z", methods=["logit", "acat"], cv=5)


def test_means_are_over_folds_where_all_have_a_value():
    actual = negative_in_one_fold()
    logit, acat = (
        fold_values(actual, label, "log-loss") for label in ("logit", "acat")
    )
    assert np.isnan(logit).sum() == 1 and np.isfinite(acat).all()
    there = np.isfinite(logit)
    for label, own in (("logit", logit), ("acat", acat)):
        by_hand = np.average(own[there], weights=actual.weights[there])
        assert actual.table.loc[label, "log-loss"] == pytest.approx(by_hand, rel=1e-12)
    assert (
        "log-loss: 4 of 5 folds, in which all these methods have a value."
        in actual.notes
    )
    told = actual.differences("log-loss")
    t = told["statistic"].iloc[0]
    assert told["p_value"].iloc[0] == pytest.approx(2 * stats.t.sf(abs(t), 3))
    assert "3 degrees of freedom" in repr(told)


def test_infinite_losses():
    """Infinity less infinity is unknown, also in the mean over the other folds."""
    actual = compare(FORMULA, WINE, ["logit", "probit", "acat"], cv=3)
    values = actual.values.copy()
    values[:2, 0, MEASURES.index("log-loss")] = np.inf
    actual = replace(actual, values=values)
    told = actual.differences("log-loss", against="logit")["difference"]
    assert np.isnan(told["probit"]) and told["acat"] == -np.inf
    notes = actual.with_fold_notes().notes
    assert list(notes[len(actual.notes) :]) == [
        f"log-loss of {label} is infinite in 1 of 3 folds: an observed level had"
        " probability 0."
        for label in ("logit", "probit")
    ]


def fit(formula=FORMULA, data=WINE, **options):
    return ordfit(formula, data, **options)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: compare(FORMULA, WINE), "methods must be a list of names"),
        (
            lambda: compare(FORMULA, WINE, ["logit", "logit"]),
            "'logit' is there 2 times, and labels must differ",
        ),
        (lambda: compare(FORMULA, WINE, ["logit", "redsm"]), "Did you mean 'redsvm'"),
        (
            lambda: compare(FORMULA, WINE, ["logit", "adaboost"]),
            "adaboost cannot be compared .* 2 levels",
        ),
        (
            lambda: compare(FORMULA, WINE, ["logit"], cv=1),
            "cv must be a whole number, 2 or more; got 1",
        ),
        (
            lambda: compare(FORMULA, WINE, ["logit"], cv=73),
            "cv must not exceed the number of rows, 72; got 73",
        ),
        (
            lambda: compare(FORMULA, WINE, ["logit"], repeats=0),
            "repeats must be a whole number",
        ),
        (
            lambda: compare(FORMULA + "+ (1 | judge)", WINE, ["logit"]),
            r"groups of rows to keep together, 9; got 10",
        ),
        (
            lambda: compare(FORMULA + "+ (1 | judge)", WINE, ["logit", "redsvm"], cv=3),
            "redsvm cannot .*random terms",
        ),
        (lambda: compare(mixed("judge"), mixed("bottle"), cv=2), "connect all rows"),
        (
            lambda: compare(FORMULA, WINE, ["logit"], methods=["probit"]),
            "methods must be one list",
        ),
        (
            lambda: compare(FORMULA, WINE, "logit", "probit"),
            "methods must be one list; got .'logit', 'probit'",
        ),
        (
            lambda: compare({1: fit(), "1": fit(method="probit")}),
            "labels that differ as text; '1' is there twice",
        ),
        (
            lambda: compare(WINE, FORMULA, ["logit"]),
            "formula, data and methods=, or fits",
        ),
        (lambda: compare(fit(), fit()), "is there 2 times, and labels must differ"),
        (
            lambda: compare(fit(), methods=["logit"]),
            "methods must go with a formula and data",
        ),
        (
            lambda: compare(fit(), fit(method="probit"), scale="~ temp"),
            "scale must go with .* fits have their own",
        ),
        (
            lambda: compare(FORMULA, WINE, ["logit"], wheights="w"),
            "no argument 'wheights'. Did you mean 'weights'",
        ),
        (
            lambda: compare(fit(), fit(data=WINE[1:], method="probit")),
            r"the same rows; .*\(72 rows.* \(71\) differ",
        ),
        (
            lambda: compare(fit(), fit("contact ~ temp", levels=["no", "yes"])),
            "must have the same response",
        ),
        (
            lambda: compare(fit(), fit(method="probit", weights=np.arange(1, 73))),
            "must have the same weights",
        ),
        (
            lambda: compare(
                fit(design=SurveyDesign(weights=np.ones(72))), fit(method="probit")
            ),
            "has a survey design.*weights=",
        ),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ordstat.OrdstatError, match=message):
        call()


@pytest.mark.slow
def test_the_corrected_test_has_its_size():
    """Two columns that are equal by symmetry: a rejection at 5 % is an error of the
    first kind.

    200 samples leave a standard error of 1.5 percentage points. Repeated folds count
    the same rows again, and a t test that takes them for new ones rejects far too
    often.
    """
    rng = np.random.default_rng(8)
    p = []
    plain = []
    J = 20
    for _ in range(200):
        x = rng.normal(size=(120, 2))
        latent = x.sum(axis=1) + rng.logistic(size=120)
        data = pd.DataFrame(
            {"y": np.searchsorted([-1.0, 1.0], latent), "a": x[:, 0], "b": x[:, 1]}
        )
        fits = {"a": ordfit("y ~ a", data), "b": ordfit("y ~ b", data)}
        seed = int(rng.integers(1e6))
        told = (
            compare(fits, cv=4, repeats=J // 4, seed=seed)
            .differences("classification error")
            .iloc[0]
        )
        p.append(told["p_value"])
        plain.append(2 * stats.t.sf(abs(told["statistic"]) * np.sqrt(1 + J / 3), J - 1))
    share, uncorrected = (np.mean(np.array(values) < 0.05) for values in (p, plain))
    assert share <= 0.05 + 3 * 0.0155 and uncorrected > 0.15


@pytest.mark.parametrize(("column", "gaps"), [("temp", 61), ("rating", 40)])
def test_rows_left_out_for_missing_values_are_told(column, gaps):
    data = WINE.astype({column: object})
    data.loc[data.index[:gaps], column] = None
    if column == "rating":
        data[column] = pd.Categorical(
            data[column], categories=WINE["rating"].cat.categories, ordered=True
        )
    told = f"{gaps} of 72 rows left out for missing values: {column} ({gaps})."
    with pytest.warns(DataWarning) as caught:
        found = compare(
            "rating ~ temp",
            data.sample(frac=1.0, random_state=0),
            methods=["logit"],
            cv=2,
        )
    assert told in [str(one.message) for one in caught]
    assert told in found.notes


def test_comparisons_of_fits_list_the_rows_that_were_left_out():
    data = WINE.astype({"temp": object})
    data.loc[data.index[::3], "temp"] = None
    with rows_left_out(24, 72):
        fits = [ordfit("rating ~ temp", data), ordfit("rating ~ temp + contact", data)]
    found = compare(*fits, cv=3)
    assert [note for note in found.notes if "left out" in note] == [
        "24 of 72 rows left out for missing values: temp (24)."
    ]

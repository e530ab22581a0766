"""Decisions for kappa and for errors averaged over levels."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from expected import not_in_blocks, refused
from seams import CostMatrix, Rows, Sample
from sklearn.metrics import cohen_kappa_score

import ordstat
from ordstat import (
    CumulativeLink,
    OrdinalClassifier,
    RPSForest,
    compare,
    datasets,
    macro_cost,
    ordfit,
)
from ordstat.exceptions import OptionError
from ordstat.fit import least_expected
from ordstat.judging.absent_levels import fit_levels_present
from ordstat.judging.costs import DECISIONS
from ordstat.judging.decisions import decision

KAPPAS = {"kappa": "quadratic", "linear kappa": "linear"}
FORMULA = "PID ~ selfLR + ClinLR + DoleLR + educ + age + income"


@pytest.fixture(scope="module")
def anes():
    return datasets.load("anes96")


def _forecasts(rng, n, K):
    return rng.dirichlet(np.full(K, 0.7), size=n)


def _expected_kappa(P, codes, weights, name):
    """Kappa of a table in which every row has all levels, by their probabilities."""
    n, K = P.shape
    y = np.tile(np.arange(K), n)
    return cohen_kappa_score(
        y,
        np.repeat(codes, K),
        weights=KAPPAS[name],
        sample_weight=(weights[:, None] * P).ravel(),
        labels=np.arange(K),
    )


@pytest.mark.parametrize("name", KAPPAS)
@pytest.mark.parametrize("seed", range(6))
def test_no_other_predictions_have_a_larger_expected_kappa(name, seed):
    rng = np.random.default_rng(seed)
    P = _forecasts(rng, 6, 3)
    weights = rng.integers(1, 4, 6).astype(float)
    shares = weights @ P / weights.sum()
    found = decision(name, P, weights, shares)
    codes = least_expected(P, found)
    every = [
        _expected_kappa(P, np.array(other), weights, name)
        for other in product(range(3), repeat=6)
        if len(set(other)) > 1
    ]
    reached = _expected_kappa(P, codes, weights, name)
    assert reached == pytest.approx(max(every), abs=1e-12)
    assert 1.0 - found.factor == pytest.approx(reached, abs=1e-12)


@pytest.mark.parametrize("name", DECISIONS)
def test_reversed_levels_have_reversed_decisions(name):
    rng = np.random.default_rng(5)
    P = _forecasts(rng, 200, 5)
    shares = rng.dirichlet(np.ones(5))
    one = decision(name, P, np.ones(200), shares)
    other = decision(name, P[:, ::-1], np.ones(200), shares[::-1])
    codes = least_expected(P[:, ::-1], other)
    np.testing.assert_array_equal(4 - codes, least_expected(P, one))


def test_of_nearly_sure_rows_it_is_the_squared_cost():
    rng = np.random.default_rng(2)
    sure = np.eye(4)[rng.integers(0, 4, 100)]
    P = 0.9999 * sure + 0.0001 * _forecasts(rng, 100, 4)
    found = decision("kappa", P, np.ones(100), P.mean(axis=0))
    assert found.factor < 1e-3
    few = _forecasts(rng, 50, 4)
    agree = least_expected(few, found) == least_expected(few, CostMatrix("squared"))
    assert agree.mean() > 0.95


@pytest.mark.parametrize("name", KAPPAS)
def test_drawn_levels_agree_best_with_it(name):
    rng = np.random.default_rng(11)
    P = _forecasts(rng, 4000, 5)
    y = (P.cumsum(axis=1) < rng.random((4000, 1))).sum(axis=1)
    found = decision(name, P, np.ones(4000), np.bincount(y, minlength=5) / 4000)
    kappas = {
        cost: cohen_kappa_score(y, least_expected(P, by), weights=KAPPAS[name])
        for cost, by in {
            name: found,
            **{c: CostMatrix(c) for c in ("classification", "absolute", "squared")},
        }.items()
    }
    assert max(kappas, key=kappas.get) == name


@pytest.mark.parametrize("method", ["logit", "rps-forest"])
def test_macro_absolute_is_the_matrix_of_macro_cost(anes, method):
    named = ordfit(FORMULA, anes, method, cost="macro absolute")
    by_matrix = ordfit(FORMULA, anes, method, cost=macro_cost(anes["PID"]))
    pd.testing.assert_series_equal(named.predict(), by_matrix.predict())


def test_a_fit_for_kappa_decides_by_its_training_rows(anes):
    fit = ordfit(FORMULA, anes, cost="kappa")
    P = fit.predict(type="prob").to_numpy()
    y = fit.design.sample.y
    # bisection on lambda: max over predictions of lambda D - N rises with lambda
    k = np.arange(7)
    W = np.square(k[:, None] - k)
    chance = np.bincount(y, minlength=7) / y.size @ W
    low = 0.0
    high = 1.0
    for _ in range(60):
        middle = (low + high) / 2.0
        gain = (middle * chance - P @ W).max(axis=1).sum()
        low, high = (low, middle) if gain > 0.0 else (middle, high)
    codes = (P @ W - high * chance).argmin(axis=1)
    np.testing.assert_array_equal(fit.predict().cat.codes, codes)
    assert fit.fit.rule.cost.factor == pytest.approx(high, rel=1e-10)


def test_predict_with_a_decision_is_the_fit_for_it(anes):
    train = anes[:600]
    test = anes[600:]
    fit = ordfit(FORMULA, train)
    for cost in DECISIONS:
        own = ordfit(FORMULA, train, cost=cost).predict(test)
        pd.testing.assert_series_equal(fit.predict(test, cost=cost), own)


def test_a_row_is_predicted_alike_whatever_its_neighbours_are(anes):
    fit = ordfit(FORMULA, anes[:600], cost="kappa")
    together = fit.predict(anes[600:620]).to_list()
    alone = [fit.predict(anes[i : i + 1]).iloc[0] for i in range(600, 620)]
    assert alone == together


def test_it_is_saved_with_the_fit(anes, tmp_path):
    fit = ordfit(FORMULA, anes, "ordboost", rounds=20, depth=2, cost="kappa")
    fit.save(tmp_path / "fit.ordstat")
    again = ordstat.load(tmp_path / "fit.ordstat")
    assert again.fit.rule.cost.factor == fit.fit.rule.cost.factor
    pd.testing.assert_series_equal(again.predict(anes), fit.predict(anes))


@pytest.mark.parametrize("method", [CumulativeLink, RPSForest])
@pytest.mark.parametrize("cost", ["linear kappa", "macro absolute"])
def test_levels_without_rows_have_no_share(method, cost):
    """A fold may lack a level: rows at codes 0 and 3 of 4 are those at 0 and 1 of 2."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(200, 1))
    y = (x[:, 0] + rng.logistic(size=200) > 1.0).astype(np.intp)
    codes = []
    for step, n_levels in ((1, 2), (3, 4)):
        sample = Sample(rows=Rows(X=x), y=step * y, n_levels=n_levels)
        fit = fit_levels_present(method(cost=cost), sample, np.random.default_rng(0))
        assert fit.rule.cost.matrix(n_levels).shape == (n_levels, n_levels)
        codes.append(fit.rule.codes(sample.rows))
    np.testing.assert_array_equal(codes[1], 3 * codes[0])


def test_the_summary_names_lambda_and_no_mean_cost(anes):
    text = str(ordfit(FORMULA, anes, cost="kappa").summary())
    assert "kappa (lambda 0." in text
    assert "mean cost" not in text


def test_the_classifier_decides_and_two_levels_cut_the_log_odds(anes):
    X = anes[["selfLR", "ClinLR", "age"]].to_numpy(float)
    y = (anes["PID"].cat.codes > 4).astype(int)
    model = OrdinalClassifier("logit", cost="kappa").fit(X, y)
    p = model.predict_proba(X)[:, 1]
    np.testing.assert_array_equal(model.decision_function(X) > 0, model.predict(X) == 1)
    cuts = np.unique(p)[:-1]
    best = max(cohen_kappa_score(y, p > cut) for cut in cuts)
    assert cohen_kappa_score(y, model.predict(X)) > best - 0.03


@pytest.mark.parametrize("method", ["redsvm", "orboost-all", "prank", "csovo"])
@pytest.mark.parametrize("cost", ["kappa", "macro absolute"])
def test_methods_that_learn_from_costs_refuse_it(anes, method, cost):
    with pytest.raises(OptionError, match=r"decision on probabilities"):
        ordfit("PID ~ selfLR", anes, method, cost=cost)


class InBlocks:
    """The protocol of rows in blocks."""

    def __init__(self, frame):
        self.frame = frame
        self.schema = list(frame.columns)

    def blocks(self, columns):
        for start in range(0, len(self.frame), 300):
            yield self.frame[list(columns)].iloc[start : start + 300]


def test_rows_in_blocks_refuse_it(anes):
    blocks = InBlocks(anes)
    with not_in_blocks():
        ordfit("PID ~ selfLR", blocks, cost="kappa")
    fit = ordfit("PID ~ selfLR", blocks)
    with not_in_blocks():
        fit.predict(anes, cost="kappa")


def test_compare_decides_each_measure(anes):
    rows = anes[:300]
    methods = ["logit", "redsvm"]
    each = compare(FORMULA, rows, methods, cv=3, decide="each")
    table = each.table
    for measure, cost in {
        "classification error": "classification",
        "absolute error": "absolute",
        "macro absolute error": "macro absolute",
        "quadratic kappa": "kappa",
    }.items():
        one = compare(FORMULA, rows, ["logit"], cv=3, cost=cost).table
        assert table.loc["logit", measure] == one.loc["logit", measure]
    plain = compare(FORMULA, rows, methods, cv=3).table
    pd.testing.assert_series_equal(
        table.loc["redsvm"].drop("seconds"), plain.loc["redsvm"].drop("seconds")
    )
    assert any("without probabilities: redsvm" in note for note in each.notes)


def test_compare_for_kappa_sorts_by_it(anes):
    found = compare(FORMULA, anes[:300], ["redsvm", "logit"], cv=3, cost="kappa")
    assert found.measure == "quadratic kappa"
    assert found.best == found.table["quadratic kappa"].idxmax()
    assert any("other costs: redsvm" in note for note in found.notes)
    with refused("decide"):
        compare(FORMULA, anes, ["logit"], decide="both")


def test_boosting_decides_after_every_round(anes):
    fit = ordfit(FORMULA, anes, "ordboost", rounds=5, depth=2, cost="kappa")
    staged = fit.staged_errors(rounds=[5])
    distance = np.abs(fit.predict().cat.codes - fit.design.sample.y)
    assert staged["absolute"].iloc[-1] == pytest.approx(distance.mean())


def test_mixed_models_decide_by_predictions_of_the_same_kind():
    wine = datasets.load("wine")
    fit = ordfit("rating ~ temp + contact + (1 | judge)", wine, cost="kappa")
    plain = ordfit("rating ~ temp + contact + (1 | judge)", wine)
    k = np.arange(5)
    W = np.square(k[:, None] - k)
    chance = np.bincount(wine["rating"].cat.codes, minlength=5) / len(wine) @ W
    for re in ("marginal", "mode"):
        P = plain.predict(type="prob", re=re).to_numpy()
        every = np.linspace(0.0, 1.0, 20001)
        kappas = [
            (P @ W)[np.arange(72), r].mean() / chance[r].mean()
            for r in ((P @ W - lam * chance).argmin(axis=1) for lam in every[::50])
        ]
        r = fit.predict(re=re).cat.codes.to_numpy()
        reached = (P @ W)[np.arange(72), r].mean() / chance[r].mean()
        assert reached == pytest.approx(min(kappas), abs=1e-12)
        pd.testing.assert_series_equal(
            plain.predict(re=re, cost="kappa"), fit.predict(re=re)
        )

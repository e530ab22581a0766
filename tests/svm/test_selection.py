"""C by cross-validation, against refits of every fold."""

import numpy as np
import pytest

from ordstat.methods.redsvm import REDSVM
from ordstat.model.costs import CostMatrix
from ordstat.model.folds import stratified_folds

from .problems import rows, sample

X, Y = rows(90, seed=3)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"kernel": "gaussian", "cost": "squared"},
        {"kernel": "linear", "cost": "classification", "solver": "cvxpy", "folds": 3},
    ],
    ids=str,
)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_curve_is_that_of_separate_fits(options, weighted):
    """The kernel is sliced, centred and warm started; plain fits of the same folds give the same costs."""
    weights = np.random.default_rng(4).integers(1, 4, 90).astype(float) if weighted else None
    # Columns as they are: otherwise each refit would scale by its own rows.
    options = {**options, "scaling": None, "tol": 1e-7}
    data = sample(X, Y, weights=weights)
    fit = REDSVM(C="cv", **options).fit(data, np.random.default_rng(8))
    chosen = fit.selection
    n_folds = options.get("folds", 5)
    assert chosen.folds == n_folds
    assert chosen.gap <= 1e-3
    np.testing.assert_allclose(chosen.C, 2.0 ** np.arange(-17, 4, 2))
    fold = stratified_folds(Y, 4, n_folds, np.random.default_rng(8))
    costs = CostMatrix.parse(options.get("cost", "absolute")).rows(Y, 4)
    for i in (2, 6, 9):
        parts = np.zeros(90)
        for f in range(n_folds):
            test = fold == f
            refit = REDSVM(C=chosen.C[i], **options).fit(data.take(~test), np.random.default_rng(0))
            parts[test] = costs[test, refit.rule.codes(data.rows.take(test))]
        share = [data.case_weights[fold == f].sum() for f in range(n_folds)]
        means = [np.average(parts[fold == f], weights=data.case_weights[fold == f]) for f in range(n_folds)]
        mean = np.average(parts, weights=data.case_weights)
        assert chosen.cost[i] == pytest.approx(mean)
        spread = np.average((np.array(means) - mean) ** 2, weights=share)
        assert chosen.error[i] == pytest.approx(np.sqrt(spread / (n_folds - 1)))
    assert chosen.chosen == int(np.argmin(chosen.cost))
    refit = REDSVM(C=chosen.C[chosen.chosen], **options).fit(data, np.random.default_rng(0))
    np.testing.assert_allclose(fit.scores, refit.scores, atol=1e-5)
    assert f"C {chosen.C[chosen.chosen]:g}" in " ".join(map(str, dict(fit.facts).items())).replace("', '", " ")


def test_same_seed_same_choice_and_progress_counts_to_the_end():
    heard = []
    data = sample(X, Y)
    one = REDSVM(C="cv").fit(data, np.random.default_rng(1), lambda *step: heard.append(step))
    other = REDSVM(C="cv").fit(data, np.random.default_rng(1))
    np.testing.assert_array_equal(one.selection.cost, other.selection.cost)
    np.testing.assert_array_equal(one.scores, other.scores)
    assert [step for step, _, _ in heard] == list(range(1, 56))
    assert {total for _, total, _ in heard} == {55}


def test_clusters_of_copies_are_not_split():
    """Copies of a row in other folds make large C look good; as clusters they stay in one fold."""
    copies = sample(np.repeat(X, 4, axis=0), np.repeat(Y, 4))
    cluster = np.repeat(np.arange(90), 4)
    apart = REDSVM(C="cv").fit(copies, np.random.default_rng(0)).selection
    together = REDSVM(C="cv").fit(sample(copies.X, copies.y, cluster=cluster), np.random.default_rng(0)).selection
    assert apart.cost[-1] < 0.2 * together.cost[-1]

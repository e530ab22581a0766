"""C and gamma by cross-validation, against refits of every fold."""

import numpy as np
import pandas as pd
import pytest
from seams import METHODS, CostMatrix, stratified_folds

from ordstat import (
    REDSVM,
    SVOREXC,
    Gaussian,
    Laplacian,
    OptionError,
    Polynomial,
    ordfit,
)
from ordstat.fit import Selection
from ordstat.report.sections import selection_table

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
    """The kernel is sliced, centred and warm started; plain fits of the same folds give
    the same costs.
    """
    weights = (
        np.random.default_rng(4).integers(1, 4, 90).astype(float) if weighted else None
    )
    # Columns as they are: otherwise each refit would scale by its own rows.
    options = {**options, "scaling": None, "tol": 1e-7}
    data = sample(X, Y, weights=weights)
    fit = REDSVM(C="cv", **options).fit(data, np.random.default_rng(8))
    chosen = fit.selection
    n_folds = options.get("folds", 5)
    assert chosen.folds == n_folds
    assert chosen.gap <= 1e-3
    np.testing.assert_allclose(chosen.C, 2.0 ** np.arange(-17, 4, 2))
    # rows with weights are dealt out by level and columns, as their copies are
    order = np.lexsort([*X.T[::-1], Y]) if weighted else np.arange(90)
    fold = np.empty(90, dtype=int)
    fold[order] = stratified_folds(Y[order], 4, n_folds, np.random.default_rng(8))
    costs = CostMatrix.parse(options.get("cost", "absolute")).rows(Y, 4)
    for i in (2, 6, 9):
        parts = np.zeros(90)
        for f in range(n_folds):
            test = fold == f
            refit = REDSVM(C=chosen.C[i], **options).fit(
                data.take(~test), np.random.default_rng(0)
            )
            parts[test] = costs[test, refit.rule.codes(data.rows.take(test))]
        share = [data.case_weights[fold == f].sum() for f in range(n_folds)]
        means = [
            np.average(parts[fold == f], weights=data.case_weights[fold == f])
            for f in range(n_folds)
        ]
        mean = np.average(parts, weights=data.case_weights)
        assert chosen.cost[i] == pytest.approx(mean)
        spread = np.average((np.array(means) - mean) ** 2, weights=share)
        assert chosen.error[i] == pytest.approx(np.sqrt(spread / (n_folds - 1)))
    least = np.isclose(chosen.cost, chosen.cost.min(), rtol=1e-12)
    assert chosen.chosen == int(np.argmax(least))  # the first of equals
    refit = REDSVM(C=chosen.C[chosen.chosen], **options).fit(
        data, np.random.default_rng(0)
    )
    np.testing.assert_allclose(fit.scores, refit.scores, atol=1e-5)
    assert f"C {chosen.C[chosen.chosen]:g}" in " ".join(
        map(str, dict(fit.facts).items())
    ).replace("', '", " ")


def test_same_seed_same_choice_and_progress_counts_to_the_end():
    heard = []
    data = sample(X, Y)
    one = REDSVM(C="cv").fit(
        data, np.random.default_rng(1), lambda *step: heard.append(step)
    )
    other = REDSVM(C="cv").fit(data, np.random.default_rng(1))
    np.testing.assert_array_equal(one.selection.cost, other.selection.cost)
    np.testing.assert_array_equal(one.scores, other.scores)
    assert [step for step, _, _ in heard] == list(range(1, 56))
    assert {total for _, total, _ in heard} == {55}


def test_clusters_are_not_split():
    """Rows beside their like in other folds make large C look good; as clusters they
    stay in one fold.
    """
    rng = np.random.default_rng(4)
    near = np.repeat(X, 4, axis=0) + 1e-9 * rng.standard_normal((360, X.shape[1]))
    like = sample(near, np.repeat(Y, 4))
    cluster = np.repeat(np.arange(90), 4)
    apart = REDSVM(C="cv").fit(like, np.random.default_rng(0)).selection
    together = (
        REDSVM(C="cv")
        .fit(sample(like.X, like.y, cluster=cluster), np.random.default_rng(0))
        .selection
    )
    assert apart.cost[-1] < 0.2 * together.cost[-1]


@pytest.mark.parametrize("folds", [5, 20])
def test_copies_are_judged_as_weights_are(folds):
    """Copies in other folds would make large C look good."""
    weights = np.random.default_rng(5).integers(2, 4, 90).astype(float)
    index = np.random.default_rng(6).permutation(
        np.repeat(np.arange(90), weights.astype(int))
    )
    weighted, repeated = (
        REDSVM(C="cv", folds=folds).fit(data, np.random.default_rng(0)).selection
        for data in (sample(X, Y, weights=weights), sample(X[index], Y[index]))
    )
    assert weighted.chosen == repeated.chosen
    # machines of the folds have gaps up to .001, so that a few rows may differ
    np.testing.assert_allclose(weighted.cost, repeated.cost, atol=0.03)


def test_few_profiles_are_divided():
    """Answers of different people with the same columns need not stay together, nor
    fewer different rows than folds.
    """
    one = np.repeat([[0.0], [1.0]], 30, axis=0)
    answers = np.tile([0, 1, 2], 20)
    fit = REDSVM(C="cv", folds=10).fit(sample(one, answers), np.random.default_rng(0))
    assert fit.selection.folds == 10


#: Every method that takes a kernel and chooses C.
CHOOSERS = [
    name
    for name, entry in METHODS.items()
    if all(hasattr(entry.method, option) for option in ("C", "kernel", "folds"))
]


def made(name, **options):
    return METHODS[name].method(**METHODS[name].preset, **options)


@pytest.mark.parametrize("name", CHOOSERS)
def test_gamma_is_chosen_with_C(name):
    """Each width's curve is that of a fit with this gamma; the choice is the smallest
    cost of all.
    """
    data = sample(X, Y)
    values = (0.25, 1.0, 8.0)
    options = {"scaling": None, "folds": 3, "tol": 1e-8}
    fit = made(name, C=values, kernel=Gaussian(gamma=(0.1, 2.0)), **options).fit(
        data, np.random.default_rng(5)
    )
    actual = fit.selection
    np.testing.assert_array_equal(actual.gamma, np.repeat([0.1, 2.0], 3))
    np.testing.assert_array_equal(actual.C, np.tile(values, 2))
    for i, gamma in enumerate((0.1, 2.0)):
        alone = made(name, C=values, kernel=Gaussian(gamma=gamma), **options).fit(
            data, np.random.default_rng(5)
        )
        assert alone.selection.gamma is None
        np.testing.assert_array_equal(
            actual.cost[3 * i : 3 * i + 3], alone.selection.cost
        )
        np.testing.assert_array_equal(
            actual.error[3 * i : 3 * i + 3], alone.selection.error
        )
    assert actual.cost[actual.chosen] == pytest.approx(actual.cost.min(), rel=1e-12)
    best = Gaussian(gamma=actual.best_gamma)
    refit = made(name, C=actual.best_C, kernel=best, **options).fit(
        data, np.random.default_rng(5)
    )
    np.testing.assert_allclose(fit.scores, refit.scores, atol=2e-4)
    facts = dict(fit.facts)
    assert facts["Kernel"] == f"{best!r}, gamma chosen by 3-fold cross-validation"
    assert facts["C"] == f"{actual.best_C:g}, chosen by 3-fold cross-validation"


@pytest.mark.parametrize("kernel", [Gaussian, Laplacian, Polynomial])
def test_widths_of_every_scaled_kernel(kernel):
    """gamma="cv" is 2^-15, 2^-13, ..., 2^3 [Hsu, Chang & Lin 2003]; distances taken
    once give the same matrices.
    """
    widths = 2.0 ** np.arange(-15, 4, 2)
    grams = list(kernel(gamma="cv").grams(X, np.arange(5, 60)))
    np.testing.assert_array_equal([width for width, _ in grams], widths)
    for width, gram in grams:
        # A last digit of the distance is gamma d^2 of the exponential's, about ten
        # here.
        np.testing.assert_allclose(
            gram, kernel(gamma=width)(X[5:60], X[5:60]), rtol=1e-14, atol=0
        )
    fit = REDSVM(C=1.0, kernel=kernel(gamma="cv")).fit(
        sample(X, Y), np.random.default_rng(0)
    )
    assert fit.selection.cost.shape == (10,)
    assert fit.rule.potential.kernel == kernel(gamma=fit.selection.best_gamma)


def test_ties_go_to_the_smaller_C_then_to_the_smaller_gamma():
    """Ten levels apart by far: all but the smallest C rank without a mistake at either
    width.
    """
    apart = sample(
        np.repeat(np.arange(4.0), 10)[:, None] * 50, np.repeat(np.arange(4), 10)
    )
    result = REDSVM(
        C=(100.0, 1000.0), kernel=Gaussian(gamma=(3.0, 1.0)), scaling=None
    ).fit(apart, np.random.default_rng(0))
    assert (result.selection.cost == 0.0).all()
    assert (result.selection.best_C, result.selection.best_gamma) == (100.0, 1.0)


@pytest.mark.parametrize("name", CHOOSERS)
def test_folds_in_threads_change_nothing(name):
    """240 rows: coordinate ascent, whose end depends on the order in which it draws
    rows.
    """
    data = sample(*rows(240, seed=6))
    kernel = Gaussian(gamma=(0.5, 1.0))
    options = {"C": (0.1, 1.0), "kernel": kernel, "folds": 4}
    heard = []
    one = made(name, **options).fit(data, np.random.default_rng(1))
    two = made(name, n_jobs=2, **options).fit(
        data, np.random.default_rng(1), lambda *step: heard.append(step)
    )
    np.testing.assert_array_equal(one.selection.cost, two.selection.cost)
    assert one.selection.gap == two.selection.gap
    np.testing.assert_array_equal(one.scores, two.scores)
    assert [step for step, _, _ in heard] == list(range(1, heard[0][1] + 1))


@pytest.mark.parametrize(
    ("method", "options", "message"),
    [
        (REDSVM, {"C": ()}, "C of REDSVM"),
        (
            REDSVM,
            {"C": (1.0, -1.0)},
            r"each C of REDSVM must be a number above 0 and at most 1e\+100; got -1.0",
        ),
        (
            SVOREXC,
            {"C": (1.0, np.inf)},
            r"each C of SVOREXC must be .* at most 1e\+100; got inf",
        ),
        (SVOREXC, {"C": np.inf, "kernel": Gaussian(gamma="cv")}, "C must be finite"),
        (REDSVM, {"n_jobs": 0}, "n_jobs of REDSVM must be a whole number other than 0"),
    ],
    ids=str,
)
def test_what_cannot_be_tried_is_refused(method, options, message):
    with pytest.raises(OptionError, match=message):
        method(**options)


@pytest.mark.parametrize("gamma", [(), (1.0, 0.0), "best"])
def test_widths_are_checked(gamma):
    with pytest.raises(OptionError, match="gamma of the gaussian kernel"):
        Gaussian(gamma=gamma)


def test_methods_without_cross_validation_ask_for_one_gamma():
    frame = pd.DataFrame({"a": X[:, 0], "y": Y})
    with pytest.raises(OptionError, match="give one positive number"):
        ordfit("y ~ a", frame, "kernel-prank", kernel=Gaussian(gamma="cv"))


@pytest.mark.parametrize(
    ("C", "gamma", "note"),
    [
        ((1.0, 2.0, 4.0), None, ""),
        ((1.0, 2.0), None, "the largest C tried"),
        ((2.0, 4.0), None, "the smallest C tried"),
        ((2.0,), None, ""),
        ((1.0, 2.0), (0.5, 1.0), "the largest C tried and the smallest gamma tried"),
    ],
)
def test_a_choice_at_the_end_of_the_grid_is_noted(C, gamma, note):
    pairs = [(c, g) for c in C for g in gamma or (np.nan,)]
    best = pairs.index((2.0, 0.5)) if gamma else C.index(2.0)
    cost = np.ones(len(pairs))
    cost[best] = 0.0
    actual = Selection(
        C=np.array([c for c, _ in pairs]),
        cost=cost,
        error=0.1 * cost,
        gap=0.0,
        chosen=best,
        folds=3,
        gamma=np.array([g for _, g in pairs]) if gamma else None,
    )
    text = selection_table(actual).note
    assert text == (
        f"Chosen: {note}. Values beyond it may cost less; give them as a list."
        if note
        else ""
    )


@pytest.mark.parametrize(
    "method", ["redsvm", "rank-svm", "csovo", "kernel-prank", "kernel-cusum"]
)
def test_the_summary_tells_the_width_of_a_kernel(method):
    data = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]).assign(y=Y)
    formula = "y ~ " + " + ".join(data.columns[:-1])
    for kernel, shown in (
        ("gaussian", f"Gaussian(gamma={1 / X.shape[1]!r})"),
        ("perceptron", "Perceptron()"),
    ):
        assert (
            dict(ordfit(formula, data, method, kernel=kernel).fit.facts)["Kernel"]
            == shown
        )

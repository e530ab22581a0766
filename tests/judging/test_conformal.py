"""Conformal intervals: the families by brute force, the quantile by counting, and
coverage by simulation.
"""

import pickle

import numpy as np
import pandas as pd
import pytest
from expected import refused, weights_not_whole
from prediction.samples import latent

from ordstat import DataError, DataWarning, OptionError, datasets, ordfit
from ordstat.judging import conformal

FORMULA = "y ~ x1 + x2"
#: A method, its options, and what its intervals grow by.
KINDS = [
    ("logit", {}, "probability"),
    ("prank", {}, "distance"),
    ("prank", {"calibrate": True}, "probability"),
    pytest.param("cusum", {"calibrate": True}, "probability", marks=pytest.mark.slow),
]


# The families


def _grow(p, start, mass):
    """Alg. 1 of Lu et al.: the likelier neighbour enters until more than `mass` is
    inside.
    """
    low = high = start
    while p[low : high + 1].sum() <= mass and high - low < p.size - 1:
        below = p[low - 1] if low > 0 else -1.0
        above = p[high + 1] if high < p.size - 1 else -1.0
        low, high = (low - 1, high) if below >= above else (low, high + 1)
    return low, high


@pytest.mark.parametrize("n_levels", [2, 3, 6])
def test_intervals_by_probability_are_those_of_the_paper(n_levels):
    rng = np.random.default_rng(n_levels)
    p = rng.dirichlet(np.ones(n_levels), 100)
    start = np.where(
        rng.random(100) < 0.5, p.argmax(axis=1), rng.integers(0, n_levels, 100)
    )
    entered = conformal.grown_by_probability(p, start)
    for mass in (0.0, 0.3, 0.77, 0.999):
        expected = [_grow(row, s, mass) for row, s in zip(p, start, strict=True)]
        np.testing.assert_array_equal(
            np.transpose(conformal.interval_ends(entered, mass)), expected
        )


def test_intervals_by_distance_hold_the_ranks_of_all_potentials_so_near():
    rng = np.random.default_rng(0)
    # out of order: ranks are counted
    H = 2.0 * rng.standard_normal(200)
    theta = np.array([-1.0, 0.5, 0.4, 2.0])
    entered = conformal.grown_by_distance(H[:, None] - theta)
    for q in (0.0, 0.3, 1.7):
        ends = conformal.interval_ends(entered, q)
        for side, moved in ((0, H - q), (1, H + q)):
            np.testing.assert_array_equal(
                ends[side], (moved[:, None] > theta).sum(axis=1)
            )


# The quantile


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.95])
@pytest.mark.parametrize("n", [1, 4, 9, 19, 99, 100])
def test_the_radius_is_the_smallest_that_enough_rows_are_within(n, level):
    scores = np.random.default_rng(n).permutation(n).astype(float)
    actual = conformal.conformal_radius(scores, np.ones(n), level)
    # exact arithmetic: level is a multiple of 1/20
    needed = -(-(n + 1) * round(20 * level) // 20)
    assert actual == (needed - 1.0 if needed <= n else np.inf)
    assert (n >= conformal.smallest_sample(level)) == np.isfinite(actual)
    counts = np.random.default_rng(1).integers(0, 4, n).astype(float)
    if counts.sum():
        assert conformal.conformal_radius(
            scores, counts, level
        ) == conformal.conformal_radius(
            np.repeat(scores, counts.astype(int)), np.ones(int(counts.sum())), level
        )


# Coverage


def _coverages(method, options, level, repeats, n, seed, refit):
    """(R,) coverage of fresh rows by intervals calibrated on n fresh rows."""
    kept = None if refit else ordfit(FORMULA, latent(200, seed), method, **options)
    collected = []
    for r in range(repeats):
        if refit:
            fit = ordfit(FORMULA, latent(3 * n, seed + 3 * r), method, **options)
            intervals = fit.conformal(level, share=1 / 3, seed=r)
        else:
            intervals = kept.conformal(level, latent(n, seed + 3 * r + 1))
        assert intervals.n == n
        collected.append(
            intervals.coverage(latent(400, seed + 3 * r + 2)).loc["all", "coverage"]
        )
    return np.array(collected)


def _check(coverages, level, n):
    error = coverages.std(ddof=1) / np.sqrt(coverages.size)
    assert coverages.mean() > level - 3 * error
    assert coverages.mean() < level + 1 / (n + 1) + 3 * error


@pytest.mark.parametrize(("method", "options", "grown"), KINDS)
def test_coverage(method, options, grown):
    coverages = _coverages(method, options, 0.8, 200, 39, 1000, refit=False)
    _check(coverages, 0.8, 39)


@pytest.mark.slow
@pytest.mark.parametrize("level", [0.7, 0.9])
@pytest.mark.parametrize(
    ("method", "options", "grown"), [*KINDS, ("redsvm", {}, "distance")]
)
def test_coverage_with_a_second_fit(method, options, grown, level):
    _check(_coverages(method, options, level, 200, 29, 50_000, refit=True), level, 29)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["logit", "orboost-all"])
@pytest.mark.parametrize("name", ["housing", "anes96"])
def test_coverage_on_real_sets(name, method):
    """Random thirds of the rows of a real set are exchangeable with the others."""
    frame = datasets.load(name)
    formula = (
        "Sat ~ Infl + Type + Cont"
        if name == "housing"
        else "PID ~ selfLR + age + educ + income"
    )
    if name == "housing":
        frame = frame.loc[frame.index.repeat(frame["Freq"])].reset_index(drop=True)
    collected = []
    for seed in range(20):
        held = np.random.default_rng(seed).permutation(len(frame)) < len(frame) // 3
        fit = ordfit(formula, frame[~held], method)
        collected.append(
            fit.conformal(0.8, seed=seed).coverage(frame[held]).loc["all", "coverage"]
        )
    # Splits of one set share its rows: its own luck remains, about a standard error of
    # all its rows.
    assert np.mean(collected) > 0.8 - 3 * np.sqrt(0.16 / len(frame))


# What is given back


@pytest.mark.parametrize(("method", "options", "grown"), KINDS)
def test_intervals_are_frames_on_the_index_of_the_rows(method, options, grown):
    fit = ordfit(FORMULA, latent(120, 0), method, **options)
    intervals = fit.conformal(0.8)
    new = latent(50, 1).set_index(np.arange(50) + 1000)
    new.loc[1003, "x1"] = np.nan
    frame = intervals.predict(new)
    assert frame.index.equals(new.index)
    assert frame.loc[1003].isna().all() and frame.drop(1003).notna().all(axis=None)
    for column in ("lower", "upper"):
        assert frame[column].cat.ordered and frame[column].cat.categories.tolist() == [
            1,
            2,
            3,
            4,
        ]
    lower, upper = (frame[column].drop(1003) for column in ("lower", "upper"))
    classes = intervals.results.predict(new).drop(1003)
    assert (
        (lower.cat.codes <= classes.cat.codes) & (classes.cat.codes <= upper.cat.codes)
    ).all()
    held = (lower.cat.codes <= new["y"].drop(1003).cat.codes) & (
        new["y"].drop(1003).cat.codes <= upper.cat.codes
    )
    coverage = intervals.coverage(new)
    assert (
        coverage.loc["all", "coverage"] == held.mean()
        and coverage.loc["all", "weight"] == 49
    )
    assert coverage.loc["all", "size"] == (upper.cat.codes - lower.cat.codes + 1).mean()
    assert intervals.grown == grown and intervals.n == 36
    wider = fit.conformal(0.95).predict(new).drop(1003)
    assert (wider["lower"].cat.codes <= lower.cat.codes).all() and (
        wider["upper"].cat.codes >= upper.cat.codes
    ).all()
    again = pickle.loads(pickle.dumps(intervals))
    pd.testing.assert_frame_equal(again.predict(new), frame)
    pd.testing.assert_frame_equal(fit.conformal(0.8).predict(new), frame)
    assert "36 other rows" in repr(intervals) and "<table" in intervals._repr_html_()


@pytest.mark.filterwarnings("ignore:weights= are counts:ordstat.exceptions.DataWarning")
def test_whole_weights_are_rows():
    frame = latent(80, 0)
    new = latent(60, 1)
    fit = ordfit(FORMULA, frame)
    repeated = new.loc[new.index.repeat(new["w"])]
    assert (
        fit.conformal(0.9, new, weights="w").radius
        == fit.conformal(0.9, repeated).radius
    )
    weighted = ordfit(FORMULA, frame, weights="w").conformal(0.8, share=0.4)
    assert weighted.n == round(0.4 * frame["w"].sum())
    assert weighted.results.nobs + weighted.n == frame["w"].sum()


def test_too_few_rows_give_the_whole_range():
    frame = latent(60, 0)
    fit = ordfit(FORMULA, frame)
    with pytest.warns(
        DataWarning,
        match=r"needs 19 calibration rows; got .* Every interval is the whole range",
    ):
        intervals = fit.conformal(0.95, latent(18, 1))
    assert intervals.predict(frame).to_numpy().tolist() == [[1, 4]] * 60
    assert np.isfinite(fit.conformal(0.95, latent(19, 1)).radius)


@pytest.mark.parametrize(("method", "options", "grown"), KINDS)
@pytest.mark.parametrize("rare", [1, 3, 5])
def test_levels_that_only_calibration_rows_have(method, options, grown, rare):
    """The ranker of the other rows does not know them: it never answers with them, and
    intervals may hold them.
    """
    frame = latent(60, 0)
    frame["y"] = frame["y"].cat.set_categories([1, 2, 3, 4, 5])
    codes = frame["y"].cat.codes.to_numpy()
    frame["y"] = pd.Categorical.from_codes(
        codes + (codes >= rare - 1), [1, 2, 3, 4, 5], ordered=True
    )
    frame.loc[7, "y"] = rare
    fit = ordfit(FORMULA, frame, method, **options)
    fits = (fit.conformal(0.8, share=0.5, seed=seed) for seed in range(20))
    intervals = next(i for i in fits if rare - 1 not in i.results.design.sample.y)
    classes = intervals.results.predict(frame)
    ends = intervals.predict(frame)
    assert ends["upper"].cat.categories.tolist() == [1, 2, 3, 4, 5]
    assert rare not in set(classes) and (classes == frame["y"]).mean() > 0.3
    codes = classes.cat.codes
    assert (
        (ends["lower"].cat.codes <= codes) & (codes <= ends["upper"].cat.codes)
    ).all()
    if grown == "probability":
        assert (intervals.results.predict(frame, type="prob")[rare] == 0.0).all()
    if rare == 3:  # between two levels that are held it is held too
        both = (ends["lower"] <= 2) & (ends["upper"] >= 4)
        assert both.any()


@pytest.mark.parametrize("level", [0.0, 1.0, 1.5, -0.1, True, "90%", None])
def test_levels_outside_zero_and_one_are_refused(level):
    with refused("level"):
        ordfit(FORMULA, latent(60, 0)).conformal(level)


#: Calls that are refused: what is asked of a fit and its frame, the error, its words.
REFUSED = {
    "share": (
        lambda fit, frame: fit.conformal(share=1.0),
        OptionError,
        "share must",
    ),
    "weights alone": (
        lambda fit, frame: fit.conformal(weights="w"),
        OptionError,
        "weights goes with data",
    ),
    "fractions": (
        lambda fit, frame: fit.conformal(0.8, frame.assign(w=0.5), weights="w"),
        OptionError,
        "weights of data must",
    ),
    "no rows": (
        lambda fit, frame: fit.conformal(0.8).predict(None),
        OptionError,
        "newdata must",
    ),
    "a lost column": (
        lambda fit, frame: fit.conformal(0.8).predict(frame[["x1"]]),
        DataError,
        "x2",
    ),
    "no response": (
        lambda fit, frame: fit.conformal(0.8, frame.drop(columns="y")),
        DataError,
        "'y'",
    ),
    "a small share": (
        lambda fit, frame: fit.conformal(0.8, share=0.001),
        DataError,
        "leaves no rows to fit",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case):
    frame = latent(60, 0)
    call, error, words = REFUSED[case]
    with pytest.raises(error, match=words):
        call(ordfit(FORMULA, frame), frame)


def test_fits_that_are_refused():
    frame = latent(60, 0)
    with weights_not_whole():
        fractions = ordfit(FORMULA, frame.assign(w=frame["w"] / 2), weights="w")
    clustered = ordfit(FORMULA, frame.assign(g=np.arange(60) % 6), cluster="g")
    for fit, words in (
        (fractions, "weights of the fit must"),
        (clustered, "clusters are not exchangeable"),
    ):
        with pytest.raises(OptionError, match=words):
            fit.conformal(0.8)

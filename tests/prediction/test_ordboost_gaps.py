"""`ordboost` on factors as categories and on missing values."""

import pickle
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from expected import new_levels, no_option, rows_left_out
from seams import Rows, Sample

from ordstat import (
    CumulativeLink,
    DataError,
    DataWarning,
    OptionError,
    OrdinalBoosting,
    OrdinalClassifier,
    compare,
    load,
    ordfit,
)
from ordstat.formula.distinct import distinct_places

from . import naive

#: Nothing is drawn or chosen.
PLAIN = {"subsample": 1.0, "column_share": 1.0, "linear_start": False, "depth": 3}
FORMULA = "y ~ a + b + f + g"


@pytest.fixture(scope="module")
def frame():
    """Four levels; numbers a, b (with gaps), a factor f of six levels (with gaps) and
    one of two, g.
    """
    rng = np.random.default_rng(7)
    n = 300
    a = rng.normal(size=n).round(1)
    b = rng.normal(size=n).round(1)
    f = rng.integers(0, 6, n)
    g = rng.integers(0, 2, n)
    H = (
        np.sin(2 * a)
        + b * g
        + np.array([0.0, 1.5, -1.0, 0.5, -2.0, 1.0])[f]
        + 0.5 * rng.logistic(size=n)
    )
    frame = pd.DataFrame(
        {
            "a": a,
            "b": b,
            "f": np.array(list("pqrstu"))[f],
            "g": np.array(["no", "yes"])[g],
        }
    )
    frame["y"], frame["w"] = np.digitize(H, [-1.5, 0.0, 1.5]), rng.integers(1, 4, n)
    frame.loc[rng.random(n) < 0.2 + 0.2 * (H > 1), "b"] = np.nan
    frame.loc[rng.random(n) < 0.15, "f"] = None
    return frame


def fitted(frame, formula=FORMULA, **options):
    return ordfit(formula, frame, "ordboost", na_action="keep", **options)


def codes_of(frame):
    """(4, N) codes, and how many there are of values."""
    collected = [pd.factorize(frame[name], sort=True) for name in "abfg"]
    counts = np.array([len(values) for _, values in collected])
    return (
        np.stack(
            [
                np.where(codes < 0, count, codes)
                for (codes, _), count in zip(collected, counts, strict=True)
            ]
        ),
        counts,
    )


@pytest.mark.parametrize("weights", [None, "w"])
def test_every_round_is_that_of_a_plain_booster(frame, weights):
    fit = fitted(frame, rounds=25, weights=weights, **PLAIN)
    codes, counts = codes_of(frame)
    w = np.ones(len(frame)) if weights is None else frame["w"].to_numpy(float)
    grower = naive.Grower(
        codes=codes, depth=3, least=5.0, counts=counts, kinds=np.array([0, 0, 1, 0])
    )
    _, H, theta, losses = naive.boosted(
        codes, frame["y"].to_numpy(), w, 25, 0.05, grower
    )
    np.testing.assert_allclose(fit.rounds["loss"], losses, rtol=1e-10)
    np.testing.assert_allclose(fit.predict(type="score"), H, atol=1e-10)
    np.testing.assert_allclose(fit.predict(frame, type="score"), H, atol=1e-10)
    np.testing.assert_allclose(fit.fit.thetas[-1], theta, atol=1e-9)


def test_factors_are_columns_of_the_user(frame):
    fit = fitted(frame, rounds=20, depth=2)
    assert fit.design.names == ("a", "b", "f", "g")
    assert sorted(fit.importance().index) == ["a", "b", "f", "g"]
    # two levels are a number, 0 and 1
    assert fit.design.sample.categories.tolist() == [0, 0, 6, 0]


def test_the_linear_start_has_treatment_contrasts_and_means(frame):
    complete = frame.dropna()
    fit = ordfit(FORMULA, complete, "ordboost", rounds=1, depth=1)
    ridge = ordfit(FORMULA, complete, CumulativeLink(penalty=fit.fit.ridge))
    start = fit.fit.trees.linear
    np.testing.assert_allclose(
        [*start.slopes[:2], *start.effects[2][1:], start.slopes[3]],
        ridge.coef,
        rtol=1e-5,
    )
    np.testing.assert_allclose(fit.fit.thetas[0], ridge.thresholds, rtol=1e-5)

    gaps = fitted(frame, "y ~ a + b", rounds=1, depth=1)
    filled = ordfit(
        "y ~ a + b",
        frame.fillna({"b": frame["b"].mean()}),
        CumulativeLink(penalty=gaps.fit.ridge),
    )
    np.testing.assert_allclose(gaps.fit.trees.linear.slopes, filled.coef, rtol=1e-5)
    np.testing.assert_allclose(gaps.fit.thetas[0], filled.thresholds, rtol=1e-5)
    H = gaps.at(0).predict(frame.assign(b=np.nan), type="score")
    np.testing.assert_allclose(
        H,
        filled.coef["a"] * frame["a"] + filled.coef["b"] * frame["b"].mean(),
        atol=1e-5,
    )


def test_missing_values_tell(frame):
    """Where gaps come with high ranks, rows with a gap have the ranks that such rows
    have.
    """
    rng = np.random.default_rng(0)
    data = frame.assign(
        b=frame["b"].where(
            rng.random(len(frame)) < np.array([0.9, 0.8, 0.7, 0.3])[frame["y"]]
        )
    )
    fit = fitted(data, "y ~ b", rounds=300, depth=1)
    gap = fit.predict(pd.DataFrame({"b": [np.nan]}), type="prob").iloc[0]
    with_gap, without = (
        data.loc[data["b"].isna() == gaps, "y"].mean() for gaps in (True, False)
    )
    assert gap @ np.arange(4) == pytest.approx(with_gap, abs=0.1)
    assert without < with_gap - 0.3


def test_gaps_that_the_fit_had_none_of_go_with_most_rows(frame):
    fit = fitted(frame, rounds=20, **PLAIN)
    trees = fit.fit.trees
    new = frame.assign(a=np.nan).head(20)
    X = fit.design.spec.rebuild(new).rows.X
    H = np.zeros(len(X))
    for tree in trees.trees:
        left = tree.lefts(X, trees.cuts)
        at = np.zeros(len(X), dtype=int)
        on_a = tree.column == 0
        children = tree.child[on_a]
        assert (
            tree.gaps_left[on_a] == (tree.weight[children] >= tree.weight[children + 1])
        ).all()
        while (inner := tree.column[at] >= 0).any():
            at = np.where(inner, tree.child[at] + ~left[np.arange(len(X)), at], at)
        H += tree.value[at]
    np.testing.assert_allclose(fit.predict(new, type="score"), H, atol=1e-12)


def test_weights_are_rows_with_gaps_too(frame):
    rows = frame.loc[frame.index.repeat(frame["w"])].reset_index(drop=True)
    one = fitted(frame, rounds=30, weights="w", **PLAIN)
    other = fitted(rows, rounds=30, **PLAIN)
    np.testing.assert_allclose(
        one.predict(frame, type="score"), other.predict(frame, type="score"), atol=1e-9
    )
    chosen = [
        fitted(data, weights=w, seed=2, max_rounds=60)
        for data, w in ((frame, "w"), (rows, None))
    ]
    np.testing.assert_array_equal(
        chosen[0].fit.trees.linear.slopes.round(8),
        chosen[1].fit.trees.linear.slopes.round(8),
    )


def test_monotone_columns_with_gaps(frame):
    grid = np.linspace(-3, 3, 80)
    fit = fitted(frame, constraints={"b": "-", "g": "+"}, rounds=150, depth=4)
    for _, row in frame.head(30).iterrows():
        line = pd.DataFrame([row] * 80).assign(b=grid)
        assert np.diff(fit.predict(line, type="score")).max() <= 1e-12
    up, down = (fit.predict(frame.assign(g=g), type="score") for g in ("yes", "no"))
    assert (up - down).min() >= -1e-12
    with pytest.raises(OptionError, match="Make 'f' an ordered categorical"):
        fitted(frame, constraints={"f": "+"}, rounds=5)
    levels = pd.CategoricalDtype(list("srpuqt"), ordered=True)
    ordered = fitted(frame.astype({"f": levels}), constraints={"f": "+"}, rounds=50)
    scores = ordered.predict(
        pd.DataFrame({"a": 0.0, "b": 0.0, "f": list("srpuqt"), "g": "no"}), type="score"
    )
    assert (np.diff(scores) >= 0).all() and np.ptp(scores) > 0.2


def test_what_a_fit_is_asked_works_with_gaps(frame, tmp_path):
    fit = fitted(frame, rounds=40, depth=2, seed=5)
    scores = fit.predict(type="score")
    assert scores.notna().all() and len(scores) == len(frame)
    fit.save(tmp_path / "fit.ordstat")
    for same in (
        load(tmp_path / "fit.ordstat", data=frame),
        pickle.loads(pickle.dumps(fit)),
    ):
        pd.testing.assert_series_equal(
            same.predict(frame, type="score"), fit.predict(frame, type="score")
        )
    jobs = [
        fitted(frame, depth=(1, 3), seed=8, n_jobs=n, max_rounds=60) for n in (1, 2)
    ]
    pd.testing.assert_frame_equal(jobs[0].rounds, jobs[1].rounds)
    grown = fitted(frame, rounds=25, depth=2, seed=5).more(15)
    pd.testing.assert_series_equal(grown.predict(type="score"), scores, rtol=1e-12)
    assert fit.errors(cv=3).loc["absolute error"].notna().all()
    assert fit.importance(kind="permutation", repeats=2).index.tolist()
    assert fit.conformal(level=0.8).predict(frame.head(5)).notna().all(axis=None)
    assert fit.augment().shape[0] == len(frame)
    assert fit.staged_errors(frame, rounds=[0, 40]).shape[0] >= 2
    assert "Rounds" in str(fit.summary())
    other = fit.update("~ . - f")
    assert other.design.names == ("a", "b", "g") and other.design.sample.n == len(frame)


def test_other_methods_get_contrasts_and_refuse_gaps(frame):
    complete = frame.dropna()
    fit = ordfit(FORMULA, complete, "ordboost", rounds=10, depth=1)
    assert "f[T.q]" in fit.update(method="logit").coef.index
    assert fit.update(method="logit").update(method="ordboost").design.names == (
        "a",
        "b",
        "f",
        "g",
    )
    actual = compare(
        FORMULA,
        complete,
        methods=["logit", ("ordboost", {"rounds": 10, "depth": 1})],
        cv=3,
    )
    assert actual.table["absolute error"].notna().all()
    with pytest.raises(
        OptionError, match=r"CumulativeLink takes no missing values .*'ordboost'"
    ):
        ordfit(FORMULA, frame, "logit", na_action="keep")
    with pytest.raises(DataError, match="Blend takes no missing values"):
        fitted(frame, rounds=3, depth=1).update(method="blend")
    with no_option("interactions", "Set depth=1"):
        ordfit(FORMULA, complete, "ordboost", interactions=[["a", "b"]])


def test_contrasts_asked_for_are_columns_of_numbers(frame):
    complete = frame.dropna()
    assert (
        len(
            ordfit(
                "y ~ C(f, Sum)", complete, "ordboost", rounds=3, depth=1
            ).design.names
        )
        == 5
    )
    assert (
        len(
            ordfit(
                "y ~ f", complete, "ordboost", rounds=3, depth=1, contrasts={"f": "sum"}
            ).design.names
        )
        == 5
    )
    names = fitted(frame, "y ~ a * g", rounds=3, depth=1).design.names
    assert names == ("a", "g", "a:g[T.yes]")


def test_doubtful_input(frame):
    fit = fitted(frame, rounds=5, depth=1)
    with new_levels("f", "'z'"):
        unseen = fit.predict(frame.head(2).assign(f="z"), type="prob")
    pd.testing.assert_frame_equal(
        unseen, fit.predict(frame.head(2).assign(f=None), type="prob")
    )
    with pytest.raises(DataError, match="infinite"):
        fitted(frame.assign(a=np.inf), rounds=5)


def test_rare_categories_count_as_missing():
    """Of 300 categories the 254 most frequent stay: the fit is that with the others set
    to missing.
    """
    rng = np.random.default_rng(0)
    number = np.concatenate([np.arange(254).repeat(4), np.arange(254, 300).repeat(2)])
    y = np.digitize((number % 7 > 3) + rng.logistic(size=number.size), [0.0, 1.0])
    many = pd.DataFrame({"y": y, "zip": [f"z{k:03}" for k in number]})
    with pytest.warns(
        DataWarning, match=r"'zip' has more than 254 categories.* \(92 rows\)"
    ):
        fit = ordfit("y ~ zip", many, "ordboost", rounds=30, depth=2)
    few = many.assign(zip=many["zip"].where(number < 254))
    expected = ordfit("y ~ zip", few, "ordboost", rounds=30, depth=2)
    np.testing.assert_allclose(
        fit.predict(type="prob"), expected.predict(type="prob"), atol=1e-12
    )


def test_rows_with_gaps_are_kept_unless_told_otherwise():
    rng = np.random.default_rng(1)
    data = pd.DataFrame(
        {"x": rng.normal(size=80), "y": np.arange(80) % 3, "only": ["k"] * 80}
    )
    data.loc[::8, "x"] = np.nan
    assert ordfit("y ~ x + only", data, "ordboost", rounds=5, depth=1).nobs == 80
    with rows_left_out(10, 80):
        assert (
            ordfit(
                "y ~ x + only", data, "ordboost", rounds=5, depth=1, na_action="omit"
            ).nobs
            == 70
        )
    with rows_left_out(10, 80):
        assert ordfit("y ~ x", data, "logit").nobs == 70


def test_a_wide_table_has_a_start_of_few_fits():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 1001))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    penalties = []
    for columns in (301, 1001):
        told = []
        frame = pd.DataFrame(X[:, :columns]).add_prefix("x").assign(y=y)
        ordfit(
            "y ~ .",
            frame,
            "ordboost",
            rounds=3,
            depth=1,
            callback=lambda *step, told=told: told.append(step[2]),
        )
        penalties.append(sum("linear start" in message for message in told))
    assert penalties == [4, 0]


def test_a_column_without_a_value_says_nothing(frame):
    with pytest.warns(
        DataWarning, match="Columns without a value in the rows used: 'b'"
    ):
        fit = fitted(frame.assign(b=np.nan), rounds=20, **PLAIN)
    without = fitted(frame, "y ~ a + f + g", rounds=20, **PLAIN)
    np.testing.assert_allclose(
        fit.predict(type="score"), without.predict(type="score"), atol=1e-12
    )
    with pytest.warns(DataWarning, match="without a value"):
        assert (
            fitted(frame.assign(b=np.nan), rounds=3, depth=1)
            .predict(frame)
            .notna()
            .all()
        )


def test_two_levels_are_binary_logistic_boosting_with_gaps(frame):
    data = frame.assign(y=frame["y"] > 1)
    fit = fitted(data, rounds=30, **PLAIN)
    codes, counts = codes_of(data)
    grower = naive.Grower(
        codes=codes, depth=3, least=5.0, counts=counts, kinds=np.array([0, 0, 1, 0])
    )
    H, b = naive.binary(
        codes, data["y"].to_numpy(float), np.ones(len(data)), 30, 0.05, grower
    )
    np.testing.assert_allclose(fit.predict(type="score"), H, atol=1e-10)
    assert fit.fit.thetas[-1][0] == pytest.approx(-b, abs=1e-10)


def test_the_classifier_takes_missing_values(frame):
    X = frame[["a", "b"]]
    y = frame["y"]
    model = OrdinalClassifier("ordboost", rounds=20, depth=2).fit(X, y)
    same = fitted(frame, "y ~ a + b", rounds=20, depth=2)
    assert model.predict(X).tolist() == same.predict().tolist()
    assert model.__sklearn_tags__().input_tags.allow_nan
    assert not OrdinalClassifier("logit").__sklearn_tags__().input_tags.allow_nan
    with pytest.raises(ValueError, match="NaN"):
        OrdinalClassifier("logit").fit(X, y)
    with pytest.raises(ValueError, match="infinity"):
        OrdinalClassifier("ordboost").fit(X.assign(a=np.inf), y)


def test_the_classifier_takes_categories(frame):
    X = frame[["a", "b", "f", "g"]]
    y = frame["y"]
    model = OrdinalClassifier("ordboost", rounds=20, depth=2).fit(X, y)
    same = fitted(frame, rounds=20, depth=2)
    assert model.predict(X).tolist() == same.predict().tolist()
    assert model.results_.design.sample.categories.tolist() == [0, 0, 6, 0]
    np.testing.assert_allclose(
        model.feature_importances_, same.importance()["importance"].loc[list("abfg")]
    )
    assert (
        pickle.loads(pickle.dumps(model)).predict(X.iloc[::-1]).tolist()
        == model.predict(X)[::-1].tolist()
    )
    with new_levels("f", "'z'"):
        assert (
            model.predict(X.assign(f="z")).tolist()
            == model.predict(X.assign(f=None)).tolist()
        )
    with pytest.raises(DataError, match=r"no missing values .* columns 'b' .*, 'f' "):
        OrdinalClassifier("logit").fit(X, y)


def test_rows_alike_in_what_is_missing_are_one_row():
    """Missing values of a column that is not the first, in ranks that are not the last:
    copies and weights agree.
    """
    X = np.array(
        [
            [1.0, np.nan],
            [1.0, np.nan],
            [np.nan, 2.0],
            [np.nan, 2.0],
            [np.nan, np.nan],
            [3.0, 1.0],
            [3.0, 1.0],
        ]
    )
    y = np.array([0, 0, 0, 0, 1, 1, 1])
    rows, weights = distinct_places(
        Sample(rows=Rows(X=X), y=y, n_levels=2), np.zeros((7, 0))
    )
    assert sorted(rows.tolist()) == [0, 2, 4, 5] and sorted(weights.tolist()) == [
        1.0,
        2.0,
        2.0,
        2.0,
    ]
    actual = dict(zip(rows.tolist(), weights.tolist(), strict=True))
    assert actual[4] == 1.0
    kept = Sample(
        rows=Rows(X=X[[0, 2, 4, 5]]),
        y=y[[0, 2, 4, 5]],
        n_levels=2,
        weights=np.array([2.0, 2.0, 1.0, 2.0]),
    )
    method = OrdinalBoosting(rounds=6, depth=2, linear_start=False, min_weight=1.0)
    one = method.fit(kept, np.random.default_rng(0))
    copies = method.fit(
        Sample(rows=Rows(X=X), y=y, n_levels=2), np.random.default_rng(0)
    )
    np.testing.assert_allclose(copies.losses, one.losses, rtol=1e-12)


@pytest.mark.parametrize(
    ("term", "column", "other", "shown"),
    [
        ("b", "b", "True", "'True'"),  # text
        ("b", "b", 0.5, "0.5"),
        ("C(i)", "i", 7, "7"),
        ("c", "c", "never", "'never'"),
    ],
)
def test_levels_of_conditions_and_calls_that_the_fit_has_not_are_named(
    term: str, column: str, other: object, shown: str
) -> None:
    """They predict as missing values do, and say so; so does a declared level that had
    no row.
    """
    rng = np.random.default_rng(2)
    i = rng.integers(0, 3, 80)
    data = pd.DataFrame({"x": rng.normal(size=80), "i": i, "b": i == 1})
    data["c"] = pd.Categorical(np.array(list("uvw"))[i], [*"uvw", "never"])
    data["y"] = np.digitize(data["x"] + i + rng.logistic(size=80), [0.0, 1.5])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # a level without rows
        fit = ordfit(f"y ~ x + {term}", data, OrdinalBoosting(rounds=20))
    new = data.iloc[:4].assign(**{column: other})
    gaps = data.iloc[:4].assign(**{column: None})
    label = re.escape(term)
    with pytest.warns(DataWarning, match=f"'{label}' has levels .* fit: {shown}"):
        score = fit.predict(new, type="score")
    np.testing.assert_array_equal(score, fit.predict(gaps, type="score"))

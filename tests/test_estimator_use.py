"""What users of scikit-learn do: categories, probabilities, parameters of parts,
batches, odd columns.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from expected import no_option
from light_options import classifier, in_turn
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.utils.validation import check_is_fitted

from ordstat import REDSVM, DataError, DataWarning, OptionError, OrdinalClassifier, load

SEEDS = [0, 1, 2]


def rows(seed: int, n: int = 120) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, np.digitize(X[:, 0] + rng.logistic(size=n), [-1, 1])


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "options",
    [{"rounds": 50, "depth": 2}, {"rounds": 20, "depth": 3, "linear_start": False}],
)
def test_results_and_files_encode_categories_as_the_estimator_does(
    options, seed, tmp_path
):
    rng = np.random.default_rng(seed)
    g = rng.integers(1, 4, 300)
    y = np.digitize(np.array([0, 0, -3, 3])[g] + rng.logistic(size=300), [-1, 1])
    X = pd.DataFrame(
        {
            "a": rng.normal(size=300),
            "g": pd.Categorical(g),
            "t": rng.choice(["u", "v"], 300),
        }
    )
    model = OrdinalClassifier("ordboost", **options).fit(X, y)
    some = X[g < 3]
    predicted = model.predict(some)
    assert predicted.max() == 1 or (predicted == 2).mean() < 0.2
    np.testing.assert_array_equal(model.results_.predict(some).astype(int), predicted)
    model.results_.save(tmp_path / "fit.ordstat")
    np.testing.assert_array_equal(
        load(tmp_path / "fit.ordstat").predict(some).astype(int), predicted
    )
    wrong = model.results_.errors(some.assign(y=y[g < 3]))["new data"]["absolute error"]
    assert wrong == pytest.approx(np.abs(predicted - y[g < 3]).mean())
    shares = model.results_.shapley(some)
    np.testing.assert_allclose(
        shares.sum(axis=1), model.results_.predict(some, type="score"), atol=1e-10
    )
    with pytest.warns(
        DataWarning,
        match="'g' has levels that are not in the fit: 9. They count as missing",
    ):
        unseen = model.predict(some.assign(g=9))
    np.testing.assert_array_equal(unseen, model.predict(some.assign(g=np.nan)))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("ordboost", {"rounds": 20, "depth": 2}),
        ("rps-forest", {"trees": 50, "min_leaf": 15}),
        ("kernel-clm", {}),
        ("red-logistic", {}),
    ],
)
def test_every_probability_model_has_predict_proba(method, options, seed):
    X, y = rows(seed)
    model = OrdinalClassifier(method, **options)
    losses = -cross_val_score(
        model, X, y, scoring="neg_log_loss", cv=3, error_score="raise"
    )
    shares = np.bincount(y) / y.size
    assert losses.mean() < -np.log(shares[y]).mean()
    P = model.fit(X, y).predict_proba(X)
    above = 1.0 - np.cumsum(P, axis=1)[:, :-1]
    if method != "red-logistic":  # which counts answers
        np.testing.assert_array_equal(model.predict(X), (above > 0.5).sum(axis=1))


@pytest.mark.parametrize("seed", SEEDS)
def test_parameters_of_parts(seed):
    X, y = rows(seed, 60)
    forest = RandomForestClassifier(n_estimators=7)
    search = GridSearchCV(
        OrdinalClassifier("nominal-classifier", base=forest),
        {"base__n_estimators": [3, 5]},
        cv=2,
    ).fit(X, y)
    assert search.best_estimator_.get_params()["base__n_estimators"] in (3, 5)
    assert forest.n_estimators == 7
    given = OrdinalClassifier(REDSVM(C=3))
    changed = clone(given).set_params(C=5)
    assert (
        changed.get_params()["C"] == 5
        and changed.method == REDSVM(C=5)
        and given.method == REDSVM(C=3)
    )
    expected = OrdinalClassifier("redsvm", C=5).fit(X, y).predict(X)
    np.testing.assert_array_equal(changed.fit(X, y).predict(X), expected)
    with no_option("D"):
        OrdinalClassifier(REDSVM()).set_params(D=5)
    with pytest.raises(OptionError, match="C__x needs a classifier in C="):
        OrdinalClassifier("redsvm").set_params(C__x=5)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("method", ["prank", "cusum", "pa-cusum"])
def test_batches_with_classes_given(method, seed):
    """Two batches, the first without the highest class: the same as one fit to both in
    their order.
    """
    X, y = rows(seed)
    X = np.clip(X, -2, 2)
    X[0], X[1] = -2.0, 2.0  # the scale of both
    order = np.argsort(y == 2, kind="stable")
    order = np.r_[0, 1, order[(order != 0) & (order != 1)]]
    X = X[order]
    y = y[order].copy()
    y[:2] = 0
    first = int(np.flatnonzero(y == 2)[0])
    model = OrdinalClassifier(method, keep="last")
    model.partial_fit(X[:first], y[:first], classes=[0, 1, 2]).partial_fit(
        X[first:], y[first:]
    )
    whole = OrdinalClassifier(method, keep="last", epochs=1, presentation="order").fit(
        X, y
    )
    assert model.classes_.tolist() == [0, 1, 2]
    np.testing.assert_array_equal(model.predict(X), whole.predict(X))
    with pytest.raises(DataError, match="9"):
        OrdinalClassifier(method).partial_fit(
            X, np.where(y == 2, 9, y), classes=[0, 1, 2]
        )


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("method", ["prank", "cusum", "pa-cusum"])
def test_a_batch_of_another_scale_is_refused(method, seed):
    X, y = rows(seed)
    model = OrdinalClassifier(method).partial_fit(X, y)
    before = model.predict(X)
    with pytest.raises(
        DataError, match=r"Column 1 of the batch must have finite squares"
    ):
        model.partial_fit(np.where([False, True], 1e300, X), y)
    np.testing.assert_array_equal(model.predict(X), before)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("method", ["red-logistic", "pa-cusum", "cusum", "redsvm"])
def test_a_column_that_cannot_be_scaled(method, seed):
    X, y = rows(seed)
    X[:, 1] *= 1e-310
    with pytest.raises(DataError, match=r"Column 'x2' has values up to .*Rescale it"):
        OrdinalClassifier(method).fit(X, y)


@pytest.mark.parametrize("method", ["logit", "ordboost"])
@pytest.mark.parametrize("kind", ["period", "interval", "bytes", "list", "mixed"])
def test_columns_that_are_not_numbers_are_named(method, kind):
    X, y = rows(0)
    n = len(y)
    bad = {
        "period": pd.period_range("2000", periods=n, freq="D"),
        "interval": pd.interval_range(0, n),
        "bytes": [b"a"] * n,
        "list": [[1, 2]] * n,
        "mixed": [1, "a"] * (n // 2),
    }[kind]
    model = OrdinalClassifier(method)
    with pytest.raises(DataError, match="'bad'"):
        model.fit(pd.DataFrame({"a": X[:, 0], "bad": pd.Series(bad)}), y)
    assert not hasattr(model, "levels_")
    with pytest.raises(ValueError, match="not fitted"):
        check_is_fitted(model)


@pytest.mark.parametrize("method", ["cart", "bagging", "ordinal-bagging"])
def test_a_depth_beyond_all_rows_is_no_limit(method):
    X, y = rows(0)
    plain, deep = (
        OrdinalClassifier(method, max_depth=depth).fit(X, y).predict(X)
        for depth in (None, 10**6)
    )
    np.testing.assert_array_equal(plain, deep)


@pytest.mark.parametrize("seed", SEEDS)
def test_batches_of_several_threads_are_all_learned(seed):
    X, y = rows(seed, 20)
    model = OrdinalClassifier("cusum").partial_fit(X, y)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: model.partial_fit(X, y), range(100)))
    assert model.results_.fit.learned.tally.examples == 20 * 101


def test_likelihood_models_refuse_very_many_columns():
    with pytest.raises(
        DataError, match=r"at most 5,000 columns; got 5,001\. Choose fewer columns"
    ):
        OrdinalClassifier("clm").fit(
            np.zeros((20, 5001)) + np.arange(5001), np.arange(20) % 3
        )


def with_a_rare_level(seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """A number, a factor with a level of one row in the first fold, and a column that
    is constant without that row.
    """
    X, y = rows(seed)
    rng = np.random.default_rng(seed + 10)
    frame = pd.DataFrame(
        {"a": X[:, 0], "g": rng.choice(["u", "v"], len(y)), "c": "same"}
    )
    frame.loc[3, ["g", "c"]] = ["z", "other"]
    return frame, y


@pytest.mark.parametrize(
    ("method", "seed"),
    in_turn(
        ["blend", "rps-forest", "cart", "bagging", "redsvm", "prank", "orboost-all"],
        SEEDS,
    ),
)
def test_a_level_or_a_column_that_a_fold_lacks(method, seed):
    frame, y = with_a_rare_level(seed)
    folds = KFold(3)
    model = classifier(method)
    numbers = pd.DataFrame(
        {"a": frame["a"], "v": frame["g"] == "v", "z": frame["g"] == "z"}
    ).astype(float)
    with pytest.warns(DataWarning) as told:
        scores = cross_val_score(model, frame, y, cv=folds, error_score="raise")
    messages = {str(item.message) for item in told}
    assert any("left out: 'c'" in message for message in messages)
    assert any(
        "'g' has levels that are not in the fit: 'z'. They count as 'u'" in message
        for message in messages
    )
    train, test = next(folds.split(frame))
    # no row of the fold has z
    by_hand = classifier(method).fit(numbers.iloc[train, :2], y[train])
    assert scores[0] == by_hand.score(numbers.iloc[test, :2], y[test])


@pytest.mark.parametrize("weights", [None, "zero"])
def test_a_constant_column_of_text_is_left_out_of_a_likelihood(weights):
    frame, y = with_a_rare_level(4)
    frame.loc[3, "g"] = "u"
    w = np.ones(len(y))
    w[3] = 0.0
    some = frame if weights else frame.drop(index=3)
    labels = y if weights else np.delete(y, 3)
    with pytest.warns(
        DataWarning, match="one level only in the rows of the fit were left out: 'c'"
    ):
        model = OrdinalClassifier("logit").fit(some, labels, w if weights else None)
    plain = OrdinalClassifier("logit").fit(
        some[["a", "g"]], labels, w if weights else None
    )
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-12)
    with pytest.raises(
        DataError,
        match=r"'c' has one level only in the rows used: 'same'\. Leave it out",
    ):
        OrdinalClassifier("logit").fit(frame[["c"]].drop(index=3), np.delete(y, 3))


@pytest.mark.parametrize("method", ["ordboost", "rps-forest"])
def test_three_hundred_categories(method):
    rng = np.random.default_rng(2)
    codes = np.concatenate([np.arange(300), rng.integers(0, 300, 600)])
    y = np.digitize(codes / 100 + rng.logistic(size=codes.size), [1.0, 2.0])
    X = pd.DataFrame(
        {"g": [f"g{code:03}" for code in codes], "x": rng.normal(size=codes.size)}
    )
    model = classifier(method)
    if method == "ordboost":
        with pytest.warns(
            DataWarning,
            match="'g' has more than 254 categories: the rarer ones count as missing",
        ):
            model.fit(X, y)
        assert model.results_.design.names == ("g", "x")
    else:
        model.fit(X, y)
        # an indicator for each category but the first, and x
        assert len(model.results_.design.names) == 300
    above = model.predict_proba(X) @ np.arange(3)
    assert above[codes >= 250].mean() > above[codes < 50].mean() + 0.3


@pytest.mark.parametrize("method", ["logit", "redsvm", "ovo", "cart", "blend"])
def test_text_and_categories_become_indicators(method, tmp_path):
    rng = np.random.default_rng(1)
    X, y = rows(1)
    g = rng.choice(["v", "u", "w"], len(y))
    c = pd.Categorical(rng.choice([3, 1], len(y)))
    frame = pd.DataFrame({"a": X[:, 0], "my g": g, "c": c}, index=np.arange(len(y)) + 5)
    numbers = np.column_stack([X[:, 0], g == "v", g == "w", c == 3]).astype(float)
    model = classifier(method).fit(frame, y)
    plain = classifier(method).fit(numbers, y)
    assert model.results_.design.names == ("a", "my g[T.v]", "my g[T.w]", "c[T.3]")
    backwards = np.arange(len(y))[::-1]
    np.testing.assert_array_equal(
        model.predict(frame.iloc[backwards]), plain.predict(numbers)[backwards]
    )
    np.testing.assert_allclose(
        model.decision_function(frame[:9]),
        plain.decision_function(numbers[:9]),
        atol=1e-8,
    )
    model.results_.save(tmp_path / "fit.ordstat")
    assert (
        load(tmp_path / "fit.ordstat").predict(frame).astype(int).tolist()
        == model.predict(frame).tolist()
    )
    other = frame.assign(**{"my g": "z"})
    first = frame.assign(**{"my g": "u"})
    if model.results_.method.likelihood:
        with pytest.raises(
            DataError,
            match=(
                r"'my g' has levels that are not in the fit: 'z'; .* Join rare levels"
            ),
        ):
            model.predict(other)
    else:
        with pytest.warns(
            DataWarning,
            match="'my g' has levels that are not in the fit: 'z'. They count as 'u'",
        ):
            np.testing.assert_array_equal(model.predict(other), model.predict(first))
    holes = frame.assign(
        a=frame["a"].where(frame.index > 6), c=frame["c"].where(frame.index > 5)
    )
    for ask in (model.predict, lambda X: OrdinalClassifier(method).fit(X, y)):
        with pytest.raises(
            DataError,
            match=(
                r"\(NaN\); they are in columns 'a' \(2 rows\), 'c' \(1 row\)\. Fill"
                r" them in"
            ),
        ):
            ask(holes)


@pytest.mark.parametrize(
    ("argument", "hint"),
    [
        ("eval_set", "rounds='cv'"),
        ("early_stopping_rounds", "patience="),
        ("weights", "sample_weight="),
        ("categorical_feature", "text and categories"),
        ("groups", "GroupKFold"),
        ("classes", "levels="),
    ],
)
def test_arguments_of_other_packages_to_fit_are_answered(argument, hint):
    X, y = rows(0)
    with pytest.raises(OptionError, match=f"no argument '{argument}'.*{hint}"):
        OrdinalClassifier().fit(X, y, **{argument: [1]})


def test_too_many_values_for_fit_name_the_arguments():
    X, y = rows(0)
    with pytest.raises(OptionError, match="sample_weight=weights"):
        OrdinalClassifier().fit(X, y, None, [(X, y)])

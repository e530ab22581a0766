"""OrdinalClassifier(random=): the fit of the formula, predictions by group, scikit-learn's tools."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ordstat import OrdinalClassifier, ordfit
from ordstat.exceptions import DataError, FormulaError, OptionError


def raters(seed=1, n=500):
    """Rows of 25 raters whose effects have a standard deviation of 2."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"x": rng.normal(size=n), "the age": rng.normal(size=n), "rater": rng.integers(0, 25, n)})
    latent = X["x"] + 2.0 * rng.normal(size=25)[X["rater"]] + rng.logistic(size=n)
    return X.assign(rater=[f"rater {code}" for code in X["rater"]]), pd.Series(np.digitize(latent, [-1.0, 1.0, 2.5]))


X, Y = raters()
FORMULA = "y ~ x + `the age` + (1 | rater)"


@pytest.fixture(scope="module")
def plain():
    return ordfit(FORMULA, X.assign(y=Y))


@pytest.fixture(scope="module")
def model():
    return OrdinalClassifier("clm", random="(1 | rater)").fit(X, Y)


def test_the_fit_of_the_formula(plain, model):
    assert model.results_.loglik == pytest.approx(plain.loglik, abs=1e-10)
    np.testing.assert_allclose(model.coef_, [*plain.coef, 0.0], rtol=1e-8)
    assert model.feature_names_in_.tolist() == ["x", "the age", "rater"] and model.n_features_in_ == 3
    np.testing.assert_allclose(model.predict_proba(X), plain.predict(X, type="prob", re="mode"), atol=1e-9)
    weighted = OrdinalClassifier("clm", random="(1 | rater)").fit(X, Y, sample_weight=np.full(len(Y), 2.0))
    twice = ordfit(FORMULA, X.assign(y=Y, w=2.0), weights="w")
    assert weighted.results_.loglik == pytest.approx(twice.loglik, abs=1e-8)


def test_groups_not_seen(plain, model):
    """Rows with known groups stay at their modes; order and labels are kept."""
    new = X.iloc[:8].copy()
    new.loc[new.index[[1, 4, 5]], "rater"] = "somebody else"
    expected = plain.predict(new.iloc[[0]], type="prob", re="mode").to_numpy()
    found = model.predict_proba(new)
    np.testing.assert_allclose(found[[0]], expected, atol=1e-9)
    some = plain.predict(new.iloc[[1, 4, 5]], type="prob", re="marginal").to_numpy()
    np.testing.assert_allclose(found[[1, 4, 5]], some, atol=1e-9)
    assert model.predict(new).tolist() == found.argmax(axis=1).tolist()
    assert not hasattr(model, "decision_function")


def test_two_levels():
    model = OrdinalClassifier("clm", random="(1 | rater)").fit(
        X, (Y > 1).map({False: "no", True: "yes"}).astype("category").cat.as_ordered()
    )
    assert ((model.predict_proba(X)[:, 1] > 0.5) == (model.predict(X) == "yes")).all()


def test_tools_of_scikit_learn(model):
    """Raters that are known in the training rows tell much; those of other folds tell nothing."""
    twin = clone(model)
    assert twin.get_params()["random"] == "(1 | rater)"
    known = cross_val_score(twin, X, Y, cv=3).mean()
    unknown = cross_val_score(twin, X, Y, cv=GroupKFold(3), groups=X["rater"]).mean()
    without = cross_val_score(OrdinalClassifier("clm"), X[["x", "the age"]], Y, cv=3).mean()
    assert known > without + 0.1 and unknown < known - 0.1
    scaled = ColumnTransformer(
        [("scale", StandardScaler(), ["x", "the age"])], remainder="passthrough", verbose_feature_names_out=False
    ).set_output(transform="pandas")
    search = GridSearchCV(make_pipeline(scaled, twin), {"ordinalclassifier__link": ["logit", "probit"]}, cv=2).fit(X, Y)
    assert search.best_score_ > without
    assert "random='(1 | rater)'" in repr(twin)


@pytest.mark.parametrize(
    ("parameters", "error", "words"),
    [
        ({"random": "x"}, FormulaError, r"random must hold random terms alone, such as '\(1 \| judge\)'"),
        ({"random": "(1 | judge)"}, DataError, "X must have the column 'judge', which random= names"),
        ({"random": "(1 | rater)", "method": "redsvm"}, OptionError, "REDSVM does not support random terms"),
    ],
)
def test_parameters_in_words(parameters, error, words):
    with pytest.raises(error, match=words):
        OrdinalClassifier(**{"method": "clm"} | parameters).fit(X, Y)


def test_columns_in_words(model):
    with pytest.raises(DataError, match=r"X must be a data frame with the columns of random=, \['rater'\]"):
        model.predict(X.to_numpy())
    with pytest.raises(DataError, match="must have the columns of the fit"):
        model.predict(X[["rater", "x", "the age"]])
    with pytest.raises(DataError, match="500 missing values in the group 'rater'"):
        model.predict(X.assign(rater=None))
    with pytest.raises(DataError, match="missing or infinite values"):
        model.predict(X.assign(x=np.nan))


def test_columns_named_by_numbers():
    numbered = pd.DataFrame(X[["x", "the age", "rater"]].to_numpy()).rename(columns={2: "rater"}).infer_objects()
    found = OrdinalClassifier("clm", random="(1 | rater)").fit(numbered, Y)
    plain = ordfit("y ~ a + b + (1 | rater)", X.rename(columns={"x": "a", "the age": "b"}).assign(y=Y))
    np.testing.assert_allclose(found.coef_, [*plain.coef, 0.0], rtol=1e-8)


def test_groups_by_a_function_of_a_column():
    numbered = X.assign(rater=X["rater"].str[6:].astype(int))
    found = OrdinalClassifier("clm", random="(1 | C(rater))").fit(numbered, Y)
    plain = ordfit(FORMULA, numbered.assign(y=Y))
    assert found.results_.loglik == pytest.approx(plain.loglik, abs=1e-10)
    expected = plain.predict(numbered, type="prob", re="mode")
    np.testing.assert_allclose(found.predict_proba(numbered), expected, atol=1e-9)
    np.testing.assert_allclose(found.results_.predict(numbered, type="prob"), expected, atol=1e-9)
    with pytest.raises(DataError, match="X must have the column 'judge', which random= names"):
        OrdinalClassifier("clm", random="(1 | C(judge))").fit(numbered, Y)

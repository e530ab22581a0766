"""What comes back of a file is what went into it."""

import os
import warnings
from dataclasses import fields
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from contract.test_files import assert_same_predictions
from expected import no_column, no_data
from saved_fits import FEATURES, MEAN, classifiers, fitted, wine
from sklearn.neighbors import KNeighborsClassifier

from ordstat import (
    DataError,
    OptionError,
    OrdinalClassifier,
    Reduction,
    load,
    ordfit,
    persistence,
)

#: pandas 3 compares the frequencies of dates unless told otherwise; earlier ones do
#: not.
ANY_FREQUENCY = {"check_freq": False} if pd.__version__ >= "3" else {}


@pytest.fixture
def through(tmp_path):
    """A fit through a file."""

    def save_and_load(fit):
        fit.save(tmp_path / "fit.ordstat")
        return load(tmp_path / "fit.ordstat")

    return save_and_load


@pytest.mark.parametrize("feature", FEATURES)
@pytest.mark.filterwarnings("ignore::ordstat.exceptions.OrdstatWarning")
def test_every_feature_of_a_fit(feature, through):
    fit = fitted(feature)
    again = through(fit)
    assert str(again.summary("all")) == str(fit.summary("all"))
    assert_same_predictions(fit, again, wine()[::3])


@pytest.mark.parametrize("name", classifiers())
def test_classifiers_of_scikit_learn(name, through):
    fit = ordfit("rating ~ temp + x", wine(), classifiers()[name])
    assert_same_predictions(fit, through(fit), wine()[::3])


def test_inference_is_the_same(through):
    fit = ordfit(MEAN, wine())
    again = through(fit)
    for ask in (
        lambda f: f.vcov("HC1"),
        lambda f: f.confint(type="profile"),
        lambda f: f.drop1(),
        lambda f: f.nominal_test(),
    ):
        pd.testing.assert_frame_equal(
            pd.DataFrame(ask(fit)), pd.DataFrame(ask(again)), check_exact=True
        )
    with no_data():
        again.marginal_effects("temp")
    assert str(again.marginal_effects("temp", data=wine())) == str(
        fit.marginal_effects("temp")
    )


def test_random_effects_are_the_same(through):
    fit = fitted("random slope")
    again = through(fit)
    pd.testing.assert_frame_equal(
        pd.DataFrame(fit.vcov()), pd.DataFrame(again.vcov()), check_exact=True
    )
    assert str(fit.ranef()) == str(again.ranef()) and str(fit.varcorr()) == str(
        again.varcorr()
    )


def test_learning_goes_on(through):
    fit = ordfit(MEAN, wine()[:40], "prank")
    one = fit.partial_fit(wine()[40:])
    other = through(fit).partial_fit(wine()[40:])
    assert one.coef.equals(other.coef) and one.thresholds.equals(other.thresholds)
    assert_same_predictions(one, through(other), wine())
    fit = ordfit(MEAN, wine(), "orboost-all", rounds=5)
    assert fit.more(5).predict().equals(through(fit).more(5).predict())


def test_with_the_data_everything_is_at_hand(tmp_path):
    data = wine()
    path = tmp_path / "fit.ordstat"
    ordfit(MEAN, data).save(path)
    assert (
        load(path, data=data).update("~ . + x").formula == "rating ~ temp + contact + x"
    )
    with pytest.raises(
        DataError,
        match=(
            r"data= must be the data of the fit, .* differ: the columns of the"
            r" formula\."
        ),
    ):
        load(path, data=data.assign(temp=data["temp"].to_numpy()[::-1]))
    with pytest.raises(DataError, match="'contact'"):
        load(path, data=data.drop(columns="contact"))


def test_a_fit_to_arrays(tmp_path, through):
    X = wine()[["x", "known"]].to_numpy()
    y = wine()["rating"].astype(int).to_numpy()
    fit = OrdinalClassifier(method="logit").fit(X, y).results_
    pd.testing.assert_frame_equal(
        fit.predict(X, type="prob"),
        through(fit).predict(X, type="prob"),
        check_exact=True,
    )
    with no_column("y"):
        load(tmp_path / "fit.ordstat", data=wine())


LABELS = [
    pd.Index([f"row {i}" for i in range(72)], name="row"),
    pd.date_range("2020-01-01", periods=72, freq="D"),
    pd.date_range("2020-01-01", periods=72, freq="h", tz="Europe/Berlin"),
    pd.MultiIndex.from_product([range(9), list("abcdefgh")], names=["judge", None]),
    pd.Index([None, np.nan, pd.NA, pd.NaT, 2.5, *range(67)], dtype=object),
    pd.CategoricalIndex(list("ab") * 36),
    pd.interval_range(pd.Timestamp("2020-01-01"), periods=72, closed="both"),
    pd.Index(range(72), dtype="Int64"),
]


@pytest.mark.parametrize(
    "index", LABELS, ids=lambda index: f"{type(index).__name__} {index.dtype}"
)
def test_labels_of_rows(index, through):
    fit = ordfit(MEAN, wine().set_axis(index))
    again = through(fit)
    pd.testing.assert_index_equal(
        again.design.index, fit.design.index, exact="equiv", **ANY_FREQUENCY
    )
    pd.testing.assert_series_equal(again.predict(), fit.predict(), check_freq=False)
    if index.dtype == object:
        assert [type(label) for label in again.design.index] == [
            type(label) for label in index
        ]


@pytest.mark.parametrize(
    "levels", [[True, False], [1.5, 2.5], ["nein", "ja ✓"], [2**62, 3]]
)
def test_labels_of_levels(levels, through):
    data = pd.DataFrame(
        {
            "x": np.arange(20) % 7,
            "y": np.take(np.array(levels, dtype=object), np.arange(20) % 2),
        }
    )
    again = through(ordfit("y ~ x", data, levels=levels))
    assert list(again.levels) == levels and [type(a) for a in again.levels] == [
        type(a) for a in levels
    ]


@pytest.mark.parametrize("edges", [[-10.0, -0.5, 0.5, 10.0], [-10, 0, 1, 10]])
def test_intervals(edges, through):
    data = wine().assign(
        cut=pd.cut(wine()["x"], edges),
        band=pd.cut(wine()["response"], [0, 30, 60, 100]),
    )
    fit = ordfit("band ~ cut", data)
    again = through(fit)
    assert again.levels == fit.levels == tuple(data["band"].cat.categories)
    assert_same_predictions(fit, again, data)


def _kernel(X, Z):
    return X @ Z.T


class Weighted(KNeighborsClassifier):
    """A classifier of somebody else's."""

    def fit(self, X, y, sample_weight=None):
        return super().fit(X, y)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: ordfit(MEAN, wine(), "redsvm", kernel=_kernel),
            "function .*_kernel.* into a file",
        ),
        (lambda: ordfit("rating ~ x", wine(), Reduction(base=Weighted())), "Weighted"),
        (
            lambda: ordfit("rating ~ x", wine(), "red-hgb"),
            "HistGradientBoosting.*pickle",
        ),
        (
            lambda: ordfit(
                MEAN, wine().set_axis(pd.period_range("2020-01", periods=72, freq="M"))
            ),
            "Period",
        ),
    ],
)
def test_code_of_others_is_refused(make, message, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = make()
    with pytest.raises(OptionError, match=message):
        fit.save(tmp_path / "fit.ordstat")
    assert not os.listdir(tmp_path)


def test_every_check_is_of_a_class_that_is_there():
    for name in persistence.CHECKS:
        module, _, last = name.rpartition(".")
        kind = getattr(import_module(f"ordstat.{module}"), last)
        names = {field.name for field in fields(kind)}
        assert persistence.dataclass_named(name, names) is kind

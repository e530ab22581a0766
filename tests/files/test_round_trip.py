"""What comes back of a file is what went into it."""

import dataclasses
import os
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from contract.test_files import assert_same_predictions
from sklearn.neighbors import KNeighborsClassifier

from files.samples import FEATURES, MEAN, classifiers, fitted, wine
from ordstat import DataError, OptionError, OrdinalClassifier, Reduction, load, ordfit
from ordstat.files.kinds import KINDS
from ordstat.files.packing import Packing, Unpacking


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
    for one, other in (
        (fit.vcov(), again.vcov()),
        (fit.confint(type="profile"), again.confint(type="profile")),
        (fit.vcov("HC1"), again.vcov("HC1")),
        (fit.drop1(), again.drop1()),
        (fit.nominal_test(), again.nominal_test()),
    ):
        pd.testing.assert_frame_equal(pd.DataFrame(one), pd.DataFrame(other), check_exact=True)
    with pytest.raises(DataError, match=r"saved and pickled without them.* to load\(path, data="):
        again.marginal_effects("temp")
    assert str(again.marginal_effects("temp", data=wine())) == str(fit.marginal_effects("temp"))


def test_random_effects_are_the_same(through):
    fit = fitted("random slope")
    again = through(fit)
    pd.testing.assert_frame_equal(pd.DataFrame(fit.vcov()), pd.DataFrame(again.vcov()), check_exact=True)
    assert str(fit.ranef()) == str(again.ranef()) and str(fit.varcorr()) == str(again.varcorr())
    for re in ("marginal", "zero"):
        one, other = (f.predict(wine(), type="prob", re=re) for f in (fit, again))
        pd.testing.assert_frame_equal(one, other, check_exact=True)


def test_a_further_batch_of_an_online_ranker(through):
    fit = ordfit(MEAN, wine()[:40], "prank")
    one, other = fit.partial_fit(wine()[40:]), through(fit).partial_fit(wine()[40:])
    assert one.coef.equals(other.coef) and one.thresholds.equals(other.thresholds)
    assert_same_predictions(one, through(other), wine())


def test_further_rounds_of_an_ensemble(through):
    fit = ordfit(MEAN, wine(), "orboost-all", rounds=5)
    assert fit.more(5).predict().equals(through(fit).more(5).predict())


def test_with_the_data_everything_is_at_hand(tmp_path):
    data, path = wine(), tmp_path / "fit.ordstat"
    ordfit(MEAN, data).save(path)
    assert load(path, data=data).update("~ . + x").formula == "rating ~ temp + contact + x"
    with pytest.raises(DataError, match=r"data= must be the data of the fit, .* differ: the columns of the formula\."):
        load(path, data=data.assign(temp=data["temp"].to_numpy()[::-1]))
    with pytest.raises(DataError, match="'contact'"):
        load(path, data=data.drop(columns="contact"))


def test_a_fit_to_arrays(tmp_path, through):
    X, y = wine()[["x", "known"]].to_numpy(), wine()["rating"].astype(int).to_numpy()
    fit = OrdinalClassifier(method="logit").fit(X, y).results_
    again = through(fit)
    pd.testing.assert_frame_equal(fit.predict(X, type="prob"), again.predict(X, type="prob"), check_exact=True)
    fit.save(tmp_path / "fit.ordstat")
    with pytest.raises(DataError, match="made from arrays"):
        load(tmp_path / "fit.ordstat", data=wine())


LABELS = [
    pd.Index([f"row {i}" for i in range(72)], name="row"),
    pd.date_range("2020-01-01", periods=72, freq="D"),
    pd.date_range("2020-01-01", periods=72, freq="h", tz="Europe/Berlin"),
    pd.MultiIndex.from_product([range(9), list("abcdefgh")], names=["judge", None]),
    pd.Index([None, 2.5, *range(70)], dtype=object),
    pd.CategoricalIndex(list("ab") * 36),
    pd.period_range("2020-01", periods=72, freq="M"),
    pd.Index(range(72), dtype="Int64"),
]


@pytest.mark.parametrize("index", LABELS, ids=lambda index: f"{type(index).__name__} {index.dtype}")
def test_labels_of_rows(index, through):
    fit = ordfit(MEAN, wine().set_axis(index))
    again = through(fit)
    pd.testing.assert_index_equal(again.design.index, fit.design.index, exact="equiv", check_freq=False)
    pd.testing.assert_series_equal(again.predict(), fit.predict(), check_freq=False)


@pytest.mark.parametrize("levels", [[True, False], [1.5, 2.5], ["nein", "ja ✓"]])
def test_labels_of_levels(levels, through):
    data = pd.DataFrame({"x": np.arange(20) % 7, "y": np.take(np.array(levels, dtype=object), np.arange(20) % 2)})
    again = through(ordfit("y ~ x", data, levels=levels))
    assert list(again.levels) == levels and [type(a) for a in again.levels] == [type(a) for a in levels]


VALUES = [
    {"of": (1, 2.5, None, True, "x"), 3: [1e300, float("inf"), -0.0]},
    {frozenset({1, 2})}, slice(1, None, 2), np.float32(0.1), np.int8(-3), np.bool_(True), np.datetime64("2020-01-01"),
    2**200, "\ud800 ✓", np.array([[1, 2], [3, 4]], order="F"), np.array(["a", "bc"]), np.array([1, None], dtype=object),
    np.array(3.0), np.zeros((0, 3)), pd.Timestamp("2020-01-01 12:00", tz="UTC"), pd.NA,
    pd.DataFrame({"a": pd.Categorical(["u", "v"]), "b": [1.5, np.nan]}, index=[5, 7]),
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_values(value):
    packing = Packing(KINDS)
    packed = packing.pack(value)
    back = Unpacking({kind.tag: kind for kind in KINDS}, packing.arrays).unpack(packed)
    assert type(back) is type(value) and repr(back) == repr(value)
    if isinstance(value, np.ndarray):
        assert back.dtype == value.dtype and back.flags.f_contiguous == value.flags.f_contiguous


def test_what_was_one_thing_stays_one(through):
    again = through(fitted("CR2"))
    assert again.robust.cluster is not None
    rows = through(fitted("offset")).design.sample.rows
    assert rows.X.flags.writeable and rows.X.dtype == np.float64


def test_the_same_fit_gives_the_same_file(tmp_path):
    for name in "ab":
        ordfit(MEAN, wine()).save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_loaded_fit_goes_through_pickle_and_files(through):
    fit = through(through(fitted("polynomials")))
    assert pickle.loads(pickle.dumps(fit)).predict().equals(fit.predict())


# What cannot be saved is refused in words, before anything is written


def _kernel(X, Z):
    return X @ Z.T


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ordfit(MEAN, wine(), "redsvm", kernel=_kernel), r"function .*_kernel.* \(it is fit\..*function\)"),
        (lambda: ordfit("rating ~ np.log(w)", wine(), safe=False, context={"np": np}), "its formula is code"),
        (lambda: ordfit("rating ~ x", wine(), Reduction(base=_weighted_neighbours())), "Weighted"),
    ],
)
def test_code_of_others_is_refused(make, message, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = make()
    with pytest.raises(OptionError, match=message):
        fit.save(tmp_path / "fit.ordstat")
    assert not os.listdir(tmp_path)


class Weighted(KNeighborsClassifier):
    """A classifier of somebody else's."""

    def fit(self, X, y, sample_weight=None):
        return super().fit(X, y)


def _weighted_neighbours():
    return Weighted()


def test_a_path_that_cannot_be_written(tmp_path):
    fit = ordfit(MEAN, wine())
    with pytest.raises(DataError, match=r"nowhere/fit.ordstat cannot be written: No such file or directory"):
        fit.save(tmp_path / "nowhere" / "fit.ordstat")
    with pytest.raises(OptionError, match="path must be the name of a file"):
        fit.save(3)
    with pytest.raises(DataError, match="cannot be read: No such file"):
        load(tmp_path / "none.ordstat")


def test_a_file_is_replaced_only_by_a_whole_one(tmp_path, monkeypatch):
    path = tmp_path / "fit.ordstat"
    ordfit(MEAN, wine()).save(path)
    before = path.read_bytes()

    def full(*arguments, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np.lib.format, "write_array", full)
    with pytest.raises(DataError, match="No space left"):
        ordfit("rating ~ temp", wine()).save(path)
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["fit.ordstat"]


def test_the_fields_of_a_fit_are_all_there(through):
    fit = fitted("contrasts")
    again = through(fit)
    for f in dataclasses.fields(fit.fit):
        one, other = getattr(fit.fit, f.name), getattr(again.fit, f.name)
        assert type(one) is type(other)
        if isinstance(one, np.ndarray):
            np.testing.assert_array_equal(one, other, strict=True)


def test_nothing_is_written_that_could_not_be_read(tmp_path, monkeypatch):
    """What `load` would refuse, `save` refuses."""
    fit = ordfit(MEAN, wine())
    broken = dataclasses.replace(fit, design=dataclasses.replace(fit.design, names=("one",)))
    with pytest.raises(OptionError, match=r"a file that load refuses: its parts do not go with each other\."):
        broken.save(tmp_path / "fit.ordstat")
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("name", ["wine.csv", "fit.pkl", "report.html", "fit.ordstat.gz"])
def test_a_file_of_another_kind_is_not_written_over(name, tmp_path):
    (tmp_path / name).write_text("mine")
    with pytest.raises(OptionError, match=r"path must end in \.ordstat, or have no ending; got"):
        fitted("ridge").save(tmp_path / name)
    assert (tmp_path / name).read_text() == "mine"

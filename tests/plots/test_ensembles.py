"""Errors of the rounds, and predicted levels over two variables: the frames by other routes, and what is drawn."""

import pickle

import numpy as np
import pytest
from matplotlib.collections import PathCollection, QuadMesh

from ordstat import DataError, DataWarning, OptionError, datasets, ordfit

TRAIN, NEW = datasets.quadratic_bands(120, seed=1), datasets.quadratic_bands(200, seed=2)
FORMULA = "rank ~ x1 + x2"


@pytest.fixture(scope="module")
def ensemble():
    return ordfit(FORMULA, TRAIN, "orboost-all", rounds=60).at(40)


def _error(fit, frame, error):
    """By shorter fits of the public kind, and numbers for ranks."""
    distance = np.abs(fit.predict(frame).astype(int) - frame["rank"].astype(int))
    return float((distance if error != "classification" else distance > 0).mean())


@pytest.mark.parametrize("error", ["absolute", "classification"])
def test_rounds_data_are_errors_of_shorter_fits(ensemble, error):
    data = ensemble.plot.rounds(newdata=NEW, error=error, every=15, draw=False)
    wide = data.pivot(index="round", columns="rows", values="value")
    made = len(ensemble.rounds) - 1
    assert wide.index.tolist() == sorted({*range(15, made + 1, 15), made})
    for t in wide.index:
        assert wide.loc[t, "rows of the fit"] == pytest.approx(_error(ensemble.at(t), TRAIN, error))
        assert wide.loc[t, "new data"] == pytest.approx(_error(ensemble.at(t), NEW, error))


def test_the_loss_lies_under_its_bound(ensemble):
    wide = ensemble.plot.rounds(error="loss", draw=False).pivot(index="round", columns="rows", values="value")
    assert (wide["loss"] <= wide["its bound"] * (1 + 1e-9)).all()
    np.testing.assert_array_equal(wide["loss"], ensemble.rounds.loc[wide.index, "loss"])


@pytest.mark.parametrize("error", ["absolute", "cost", "loss"])
def test_rounds_are_lines_over_a_logarithmic_axis(ensemble, error):
    ax = ensemble.plot.rounds(newdata=NEW, error=error)
    data = ensemble.plot.rounds(newdata=NEW, error=error, draw=False)
    drawn = {line.get_label(): line for line in ax.lines if not line.get_label().startswith("_")}
    assert set(drawn) == set(data["rows"])
    for rows, line in data.groupby("rows"):
        np.testing.assert_array_equal(drawn[rows].get_xdata(), line["round"])
        np.testing.assert_array_equal(drawn[rows].get_ydata(), line["value"])
    assert ax.get_xscale() == "log"
    assert f"{ensemble.fit.kept} in use" in [text.get_text() for text in ax.texts]


@pytest.mark.parametrize("method", ["orboost-all", "adaboost-or", "csovo", "logit"])
def test_boundaries_are_predictions_on_a_grid(method):
    fit = ordfit(FORMULA, TRAIN, method)
    data = fit.plot.boundaries("x1", "x2", points=7, draw=False)
    assert data.columns.tolist() == ["x1", "x2", "level"]
    assert len(data) == 49
    assert data["level"].tolist() == fit.predict(data[["x1", "x2"]]).tolist()
    assert data["x1"].min() < TRAIN["x1"].min() < TRAIN["x1"].max() < data["x1"].max()


def test_boundaries_show_regions_and_rows(ensemble):
    ax = ensemble.plot.boundaries("x2", "x1", points=9)
    data = ensemble.plot.boundaries("x2", "x1", points=9, draw=False)
    (mesh,) = [c for c in ax.collections if isinstance(c, QuadMesh)]
    np.testing.assert_array_equal(mesh.get_array().reshape(9, 9).T.ravel(), data["level"].cat.codes)
    (dots,) = [c for c in ax.collections if isinstance(c, PathCollection)]
    np.testing.assert_array_equal(dots.get_offsets(), TRAIN[["x2", "x1"]])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x2", "x1")


def test_other_variables_are_held():
    frame = TRAIN.assign(group=np.where(np.arange(120) % 2, "a", "b"))
    frame.loc[3, "group"] = None  # a row that is left out
    with pytest.warns(DataWarning, match="left out"):
        fit = ordfit("rank ~ x1 + x2 + group", frame, "logit")
    data = fit.plot.boundaries("x1", "x2", at={"group": "a"}, points=5, draw=False)
    assert data["level"].tolist() == fit.predict(data[["x1", "x2"]].assign(group="a")).tolist()
    assert fit.plot.boundaries("x1", "x2", at={"group": "a"}, points=5).collections


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda p: p.rounds(error="mean"), "error must be one of 'absolute'"),
        (lambda p: p.rounds(every=0), "every"),
        (lambda p: p.boundaries("x1", "z"), "'z' is not a variable of the formula: 'x1', 'x2'"),
        (lambda p: p.boundaries("x1", "x2", points=1), "points"),
        (lambda p: p.boundaries("x1", "x2", at={"z": 1}), "other variables, nothing; got z"),
    ],
)
def test_what_cannot_be_drawn_is_said(ensemble, call, match):
    with pytest.raises(OptionError, match=match):
        call(ensemble.plot)


def test_factors_missing_values_and_data_that_are_gone():
    wine = datasets.load("wine")
    fit = ordfit("rating ~ temp + contact", wine, "orboost-all", rounds=3)
    with pytest.raises(OptionError, match="must both be numbers"):
        fit.plot.boundaries("temp", "contact")
    three = ordfit("rank ~ x1 + x2 + z", TRAIN.assign(z=1.0 * (TRAIN["x1"] > 0.5)), "prank")
    with pytest.raises(OptionError, match="values of the other variables, 'z'; got nothing"):
        three.plot.boundaries("x1", "x2")
    gone = pickle.loads(pickle.dumps(ordfit(FORMULA, TRAIN, "prank")))
    with pytest.raises(DataError, match="pass data="):
        gone.plot.boundaries("x1", "x2")
    assert len(gone.plot.boundaries("x1", "x2", data=TRAIN, points=3, draw=False)) == 9


def test_an_ensemble_without_rounds_has_none_to_draw():
    fit = ordfit("rank ~ x1", TRAIN.assign(x1=1.0), "orboost-all")
    with pytest.raises(OptionError, match=r"no round was made, for no weak hypothesis"):
        fit.plot.rounds()

"""Errors of the rounds: frames computed by other routes, and artists."""

import numpy as np
import pytest

from ordstat import OptionError, datasets, ordfit

TRAIN = datasets.quadratic_bands(120, seed=1)
NEW = datasets.quadratic_bands(200, seed=2)
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
        assert wide.loc[t, "rows of the fit"] == pytest.approx(
            _error(ensemble.at(t), TRAIN, error)
        )
        assert wide.loc[t, "new data"] == pytest.approx(
            _error(ensemble.at(t), NEW, error)
        )


def test_the_loss_lies_under_its_bound(ensemble):
    wide = ensemble.plot.rounds(error="loss", draw=False).pivot(
        index="round", columns="rows", values="value"
    )
    assert (wide["loss"] <= wide["its bound"] * (1 + 1e-9)).all()
    np.testing.assert_array_equal(wide["loss"], ensemble.rounds.loc[wide.index, "loss"])


@pytest.mark.parametrize("error", ["absolute", "cost", "loss"])
def test_rounds_are_lines_over_a_logarithmic_axis(ensemble, error):
    ax = ensemble.plot.rounds(newdata=NEW, error=error)
    data = ensemble.plot.rounds(newdata=NEW, error=error, draw=False)
    drawn = {
        line.get_label(): line
        for line in ax.lines
        if not line.get_label().startswith("_")
    }
    assert set(drawn) == set(data["rows"])
    for rows, line in data.groupby("rows"):
        np.testing.assert_array_equal(drawn[rows].get_xdata(), line["round"])
        np.testing.assert_array_equal(drawn[rows].get_ydata(), line["value"])
    assert ax.get_xscale() == "log"
    assert f"{ensemble.fit.kept} in use" in [text.get_text() for text in ax.texts]


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda p: p.rounds(error="mean"), "error must be one of 'absolute'"),
        (lambda p: p.rounds(every=0), "every"),
    ],
)
def test_what_cannot_be_drawn_is_said(ensemble, call, match):
    with pytest.raises(OptionError, match=match):
        call(ensemble.plot)


def test_an_ensemble_without_rounds_has_none_to_draw():
    fit = ordfit("rank ~ x1", TRAIN.assign(x1=1.0), "orboost-all")
    with pytest.raises(OptionError, match=r"no round was made \(no weak hypothesis"):
        fit.plot.rounds()


def test_trees_have_squared_errors_and_no_loss():
    fit = ordfit(FORMULA, TRAIN, "ordinal-bagging", rounds=8, seed=1)
    data = fit.plot.rounds(newdata=NEW, error="squared", draw=False)
    last = data[(data["round"] == 8) & (data["rows"] == "new data")]
    distance = fit.predict(NEW).astype(int) - NEW["rank"].astype(int)
    assert last["value"].item() == pytest.approx((distance**2).mean())
    assert fit.plot.rounds(error="squared").get_xscale() == "linear"
    for error in ("cost", "loss"):
        with pytest.raises(OptionError, match="error must be one of"):
            fit.plot.rounds(error=error)

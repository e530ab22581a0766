"""Bounds from rows that a fit has not seen: new ones, and folds."""

import numpy as np
import pandas as pd
import pytest
from expected import refused

from ordstat import datasets, ordfit
from ordstat.exceptions import OptionError
from ordstat.judging import tables


def _draw(rng, n):
    x = rng.uniform(-1, 1, n)
    return pd.DataFrame(
        {"x": x, "y": np.searchsorted([-0.4, 0.4], x + 0.3 * rng.normal(size=n))}
    )


@pytest.fixture(scope="module")
def fit():
    return ordfit("y ~ x", _draw(np.random.default_rng(0), 200))


def test_new_rows(fit):
    new = _draw(np.random.default_rng(1), 300)
    distance = np.abs(
        fit.predict(new).astype(int).to_numpy() - new["y"].to_numpy()
    ).astype(float)
    table = fit.bounds(new, delta=0.1)
    one = table.loc["classification error (new data)"]
    two = table.loc["absolute error (new data)"]
    assert one["value"] == tables.clopper_pearson((distance > 0).sum(), 300, 0.1)
    assert two["value"] == 2.0 * tables.kl_limit(distance.mean() / 2.0, 300, 0.1)
    assert two["observed"] == pytest.approx(distance.mean()) and two["trivial"] == 2.0
    assert (table["delta"] == 0.1).all() and table["source"].ne("").all()


def test_folds_by_hand(fit):
    """Plain folds of the rows, each fit judged by the rows it has not seen, at delta /
    4.
    """
    table = fit.bounds(cv=4, seed=3)
    again = fit.bounds(cv=4, seed=3)
    pd.testing.assert_frame_equal(table, again)
    row = table.loc["absolute error (4-fold cv)"]
    assert row["observed"] < row["value"] < row["trivial"] == 2.0
    assert row["observed"] == pytest.approx(
        fit.errors(cv=4).loc["absolute error", "cv"], abs=0.1
    )
    # Four folds of 50 rows each cannot be told better than 50 rows at delta / 4.
    assert row["value"] > row["observed"] + 0.1


def test_a_cost_of_ones_own():
    rng = np.random.default_rng(2)
    fit = ordfit("y ~ x", _draw(rng, 100), "redsvm", cost="squared")
    table = fit.bounds(_draw(rng, 200))
    assert table.loc["cost (new data)", "trivial"] == 4.0
    assert (
        table.loc["cost (new data)", "observed"]
        < table.loc["cost (new data)", "value"]
        < 4.0
    )


def test_doubtful_calls(fit):
    rng = np.random.default_rng(3)
    with refused("newdata", "0.1"):
        fit.bounds(0.1)
    with pytest.raises(OptionError, match="whole numbers"):
        fit.bounds(_draw(rng, 20), weights=np.full(20, 0.5))
    with pytest.raises(OptionError, match="number of folds"):
        fit.bounds(cv=1)
    for ask in (fit.bounds, fit.errors):
        for cv in (1, 10_000, "x"):
            with pytest.raises(OptionError, match=r"^cv: the number of folds"):
                ask(cv=cv)

    weighted = ordfit("y ~ x", _draw(rng, 60).assign(w=2), weights="w")
    with pytest.raises(OptionError, match=r"rows without case weights.*repeat"):
        weighted.bounds(cv=3)
    clustered = ordfit(
        "y ~ x", _draw(rng, 60).assign(c=np.arange(60) // 2), cluster="c"
    )
    with pytest.raises(OptionError, match=r"bounds\(cv=\) needs independent rows"):
        clustered.bounds(cv=3)


def _held(draws, seed, folds):
    """Shares of samples in which the limits of new rows, and of folds, hold for the
    models that they are of.
    """
    rng = np.random.default_rng(seed)
    far = _draw(np.random.default_rng(9), 20_000)
    names = ["classification error", "absolute error"]
    held = []
    for _ in range(draws):
        train = _draw(rng, 60)
        fit = ordfit("y ~ x", train)
        distance = np.abs(fit.predict(far).astype(int).to_numpy() - far["y"].to_numpy())
        truth = np.array([(distance > 0).mean(), distance.mean()])
        new = (
            fit.bounds(_draw(rng, 60))
            .loc[[f"{name} (new data)" for name in names], "value"]
            .to_numpy()
        )
        held.append(new >= truth)
        if folds:
            # The mean error of the fold models is that of a fit to a part, a little
            # above that of the whole fit.
            cv = (
                fit.bounds(cv=3)
                .loc[[f"{name} (3-fold cv)" for name in names], "value"]
                .to_numpy()
            )
            held[-1] = held[-1] & (cv >= truth)
    assert (np.mean(held, axis=0) >= 0.95 - 4 * np.sqrt(0.05 * 0.95 / draws)).all()


def test_limits_hold():
    _held(15, 0, folds=True)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ordstat.exceptions.ConvergenceWarning")
def test_limits_hold_in_a_thousand_samples():
    _held(1000, 1, folds=False)


@pytest.mark.parametrize("ask", ["bounds", "errors", "confusion"])
@pytest.mark.parametrize("method", ["logit", "redsvm"])
def test_weights_go_with_new_rows(ask: str, method: str) -> None:
    wine = datasets.load("wine")
    with pytest.raises(
        OptionError,
        match="weights goes with newdata: the rows of the fit have their own",
    ):
        getattr(ordfit("rating ~ temp + contact", wine, method), ask)(
            weights=np.ones(len(wine))
        )


def test_rows_of_the_fit_are_told_from_new_ones():
    wine = datasets.load("wine")
    fit = ordfit("rating ~ temp + contact", wine, "redsvm")
    for known in (wine, wine[10:40], wine.drop(columns="bottle")):
        assert any(
            "rows of newdata are among those of the fit" in note
            for note in fit.bounds(known).attrs["notes"]
        )
    other = wine.assign(rating=wine["rating"].to_numpy()[::-1])
    actual = fit.bounds(other)
    assert "(new data)" in actual.index[-1] and not any(
        "among those" in note for note in actual.attrs["notes"]
    )
    halves = wine.assign(half=np.arange(72) % 2)
    part = ordfit("rating ~ temp + contact", halves, "redsvm", subset="half == 0")
    assert "(new data)" in part.bounds(halves[halves["half"] == 1]).index[-1]


def test_what_bounds_are_over_and_what_is_not_proven_is_printed():
    fit = ordfit("rating ~ temp + contact", datasets.load("wine"), "redsvm")
    text = " ".join(str(fit.bounds(cv=4, delta=0.1)).split())
    assert "Each bound holds with probability 90% for independent rows." in text
    assert (
        "4-fold cv: for fits without a fold. This does not prove that the fit to all"
        " rows is no worse." in text
    )
    assert "not prove" not in str(fit.bounds())

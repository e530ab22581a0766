"""Families side by side: figures of the fits, folds of compare(), and Vuong's test by
hand and by simulation.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from ordstat import (
    DataError,
    OptionError,
    choice,
    choose_family,
    compare,
    datasets,
    ordfit,
)
from ordstat.choice import FAMILIES

WINE = datasets.load("wine")
FORMULA = "rating ~ temp + contact"


def simulated(n: int, seed: int) -> pd.DataFrame:
    """Levels of a logistic latent variable with symmetric thresholds."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    latent = x + rng.logistic(size=n)
    return pd.DataFrame({"x": x, "y": np.digitize(latent, [-1.5, 0.0, 1.5])})


def test_figures_are_those_of_the_fits_and_of_compare() -> None:
    methods = ["acat", ("cratio", {"direction": "backward"}), "logit"]
    found = choose_family(FORMULA, WINE, methods, cv=4, seed=2)
    folds = compare(FORMULA, WINE, methods=methods, cv=4, seed=2).table
    assert found["AIC"].is_monotonic_increasing
    for label, name, own in (
        ("logit", "logit", {}),
        ("cratio(direction='backward')", "cratio", {"direction": "backward"}),
    ):
        fit = ordfit(FORMULA, WINE, name, **own)
        row = found.loc[label]
        assert row["AIC"] == pytest.approx(fit.aic)
        assert row["BIC"] == pytest.approx(fit.bic)
        assert row["params"] == len(fit.params)
        assert row["log-loss"] == pytest.approx(folds.loc[label, "log-loss"])
        assert row["RPS"] == pytest.approx(folds.loc[label, "ranked probability score"])
    assert max(map(len, str(found).splitlines())) <= 80


def test_vuong_by_hand_with_weights_as_rows() -> None:
    data = simulated(200, 1).assign(w=lambda d: 1 + np.arange(len(d)) % 3)
    one, other = (
        ordfit("y ~ x", data, name, weights="w") for name in ("logit", "multinomial")
    )
    rows = np.repeat(np.arange(len(data)), data["w"])
    p, q = (
        fit.predict(type="prob").to_numpy()[rows, data["y"].to_numpy()[rows]]
        for fit in (one, other)
    )
    m = np.log(p / q)
    correction = len(one.params) - len(other.params)
    z = (m.sum() - correction) / (np.sqrt(m.size) * m.std())
    assert choice.vuong(one, other) == pytest.approx(
        (z, 2 * stats.norm.sf(abs(z))), rel=1e-6
    )
    assert choice.vuong(other, one)[0] == pytest.approx(-z, rel=1e-6)


def test_nested_and_equal_models_have_no_test() -> None:
    data = simulated(200, 1)
    acat = ordfit("y ~ x", data, "acat")
    assert np.isnan(choice.vuong(acat, ordfit("y ~ x", data, "multinomial"))).all()
    hazards = ordfit("y ~ x", data, "sratio", link="cloglog")
    assert np.isnan(choice.vuong(hazards, ordfit("y ~ x", data, "cloglog"))).all()


@pytest.mark.filterwarnings("ignore::ordstat.exceptions.OrdstatWarning")
def test_a_family_without_a_maximum_has_no_figures_and_the_others_say_their_limits():
    data = simulated(150, 3).assign(z=np.arange(150) % 7)
    data["y"] = np.where(data["x"] > 1.0, 3, np.minimum(data["y"], 2))
    found = choose_family(
        "y ~ x + z", data, ["stereotype", "multinomial", "logit"], cv=2
    )
    wide = ordfit("y ~ x + z", data, "multinomial")
    assert found.index.tolist() == ["multinomial", "logit", "stereotype"]
    assert found.loc["multinomial", "AIC"] == pytest.approx(wide.aic)
    assert found.loc["stereotype", ["AIC", "BIC", "z", "p"]].isna().all()
    notes = " ".join(found.attrs["notes"])
    assert (
        "no maximum of the likelihood was reached in the model of stereotype" in notes
    )
    assert "infinite estimates in multinomial" in notes
    again = ("stereotype", {"tol": 1e-7})
    with pytest.raises(DataError, match=r"no maximum .* stereotype"):
        choose_family("y ~ x", data, ["stereotype", again], cv=2)


@pytest.mark.filterwarnings("ignore::ordstat.exceptions.DataWarning")
def test_a_log_loss_that_is_infinite_in_every_fold_is_shown():
    """Every value is a level, so that folds lack levels; it ended in a KeyError."""
    rng = np.random.default_rng(5)
    data = pd.DataFrame({"x": rng.normal(size=40), "y": np.arange(40) // 2 * 1.5})
    data["y"] += 0.5 * (np.arange(40) % 2)
    found = choose_family("y ~ x", data, ["logit", "probit"], levels="all", cv=2)
    assert np.isinf(found["log-loss"]).all() and np.isfinite(found["RPS"]).all()


def test_what_is_refused() -> None:
    with pytest.raises(OptionError, match="at least two"):
        choose_family(FORMULA, WINE, ["logit"])
    with pytest.raises(OptionError, match="maximum likelihood"):
        choose_family(FORMULA, WINE, ["logit", "redsvm"])
    with pytest.raises(OptionError, match="independent"):
        choose_family(f"{FORMULA} + (1 | judge)", WINE, ["logit", "acat"])


@pytest.mark.slow
def test_size_of_vuongs_test() -> None:
    """A link and its mirror image are equally far from a symmetric truth."""
    p_values = []
    for seed in range(250):
        data = simulated(1500, seed)
        one, other = (ordfit("y ~ x", data, link) for link in ("cloglog", "loglog"))
        p_values.append(choice.vuong(one, other)[1])
    rejected = float(np.mean(np.array(p_values) < 0.05))
    assert 0.02 <= rejected <= 0.085


def test_default_families_that_refuse_a_part_are_left_out_by_name():
    wine = datasets.load("wine")
    found = choose_family("rating ~ temp", wine, scale="~ contact", cv=2)
    assert len(found) == len(FAMILIES) - 2
    assert not {"stereotype", "multinomial"} & set(found.index)
    left_out = [note for note in found.attrs["notes"] if "is left out" in note]
    assert [note.split("'")[1] for note in left_out] == ["stereotype", "multinomial"]
    own = choose_family(
        "rating ~ temp", wine, ["logit", "acat"], scale="~ contact", cv=2
    )
    np.testing.assert_allclose(own["AIC"], found["AIC"][own.index])
    # named by the user, a family that refuses is an error; so is what all refuse
    with pytest.raises(OptionError):
        choose_family("rating ~ temp", wine, ["logit", "stereotype"], scale="~ contact")
    with pytest.raises(DataError):
        choose_family("rating ~ tmp", wine)

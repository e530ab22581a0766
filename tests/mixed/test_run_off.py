"""Variances that the data do not bound from above are told, and predictions do not run out of memory."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from reference_cases import load_data

from ordstat import ordfit
from ordstat.exceptions import DataError, SeparationWarning


def alike() -> pd.DataFrame:
    """Groups of which all rows have one level."""
    rng = np.random.default_rng(0)
    g = np.repeat(np.arange(12), 6)
    return pd.DataFrame({"g": g, "x": rng.standard_normal(72), "y": g % 2})


def test_groups_of_one_level() -> None:
    with pytest.warns(SeparationWarning, match=r"\(1 \| g\): the effects have a standard deviation of"):
        fit = ordfit("y ~ x + (1 | g)", alike())
    assert fit.varcorr()["sd"].iloc[0] > 50.0 and "leave the term out" in " ".join(str(fit.summary()).split())
    new = pd.DataFrame({"x": [0.0], "g": ["new"]})
    assert fit.predict(new, type="prob", re="marginal").to_numpy().sum() == pytest.approx(1.0)


def test_averages_of_rows_far_out_are_refused() -> None:
    """Nodes without number, where the effects of a row have a standard deviation of a thousand."""
    fit = ordfit("y ~ x1 + (1 + x1 | subj)", load_data("crossed"))
    near, far = (pd.DataFrame({"x1": [value], "subj": ["new"]}) for value in (2.0, 1e5))
    assert fit.predict(near, type="prob", re="marginal").to_numpy().sum() == pytest.approx(1.0)
    with pytest.raises(DataError, match="finite standard deviation"):
        fit.predict(far, type="prob", re="marginal")


@pytest.mark.filterwarnings("ignore::ordstat.exceptions.SeparationWarning")
def test_complete_separation_tells_nothing_of_the_random_effects():
    """Whatever their variance, the supremum of the likelihood is 1."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"x": np.arange(60) / 10.0, "z": rng.normal(size=60), "g": np.arange(60) % 10})
    data["y"] = np.searchsorted([2.0, 4.0], data["x"])
    for formula in ("y ~ x + (1 | g)", "y ~ x + z + (1 + z | g)"):
        with pytest.warns(SeparationWarning, match="the data say nothing of the random effects"):
            fit = ordfit(formula, data)
        assert fit.loglik == pytest.approx(0.0, abs=1e-6)
        assert fit.vcov().isna().all(axis=None)
        assert "nor have the others" in " ".join(str(fit.summary()).split())
        assert fit.tidy().filter(like="|g", axis=0)["std_error"].isna().all()


@pytest.mark.filterwarnings("ignore::ordstat.exceptions.SeparationWarning")
@pytest.mark.parametrize("seed", [1, 3, 5])
@pytest.mark.parametrize("link", ["cauchit", "logit"])
def test_one_separated_level_leaves_the_others_their_errors(seed: int, link: str) -> None:
    """Rows of "c" all have the lowest level: the fit is that of the other rows, and the random effects are known."""
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(
        {"f": np.where(np.arange(80) < 2, "c", rng.choice(["a", "b"], 80)), "g": rng.integers(0, 8, 80)}
    )
    data["y"] = rng.integers(0, 3, 80)
    data.loc[data["f"] == "c", "y"] = 0
    fit, others = ordfit("y ~ f + (1 | g)", data, link), ordfit("y ~ f + (1 | g)", data[data["f"] != "c"], link)
    assert not any("data say nothing" in message for _, message in fit.alerts())
    assert fit.coef["f[T.c]"] == -np.inf and np.isnan(fit.se["f[T.c]"])
    np.testing.assert_allclose(fit.se.drop("f[T.c]"), others.se, rtol=1e-4)
    np.testing.assert_allclose(fit.varcorr()["std_error"], others.varcorr()["std_error"], rtol=1e-3)

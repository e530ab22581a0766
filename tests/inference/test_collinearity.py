"""Variance inflation factors against the formula of R's car, and against properties
that hold for any.
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from ordstat import datasets, ordfit
from ordstat.exceptions import DataWarning, UnavailableError


def data(seed: int = 0, n: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    group = np.digitize(x + rng.normal(size=n), [-1.0, 0.0, 1.0])
    z = x + rng.normal(size=n) / 2
    latent = x - z / 2 + group / 3 + rng.logistic(size=n)
    frame = {
        "x": x,
        "z": z,
        "g": np.array(list("abcd"))[group],
        "f": rng.choice(["u", "v"], n),
    }
    return pd.DataFrame(frame | {"y": np.digitize(latent, [-1.0, 0.0, 1.5])})


def of_car(V: pd.DataFrame, terms: dict[str, list[str]]) -> list[float]:
    """vif.default of R's car 3.1: det(R[subs, subs]) * det(R[-subs, -subs]) / det(R),
    without the thresholds.
    """
    size = np.sqrt(np.diag(V))
    R = V / np.outer(size, size)
    values = []
    for names in terms.values():
        rest = [name for name in R.columns if name not in names]
        product = np.linalg.det(R.loc[names, names]) * np.linalg.det(R.loc[rest, rest])
        values.append(product / np.linalg.det(R))
    return values


TERMS = {
    "y ~ x + z + g + f": {
        "x": ["x"],
        "z": ["z"],
        "g": ["g[T.b]", "g[T.c]", "g[T.d]"],
        "f": ["f[T.v]"],
    },
    "y ~ ns(x, 2) + g": {
        "ns(x, 2)": ["ns(x, 2)[1]", "ns(x, 2)[2]"],
        "g": ["g[T.b]", "g[T.c]", "g[T.d]"],
    },
}


@pytest.mark.parametrize("method", ["logit", "cloglog"])
@pytest.mark.parametrize("formula", TERMS)
def test_equal_to_the_formula_of_car(formula: str, method: str) -> None:
    fit = ordfit(formula, data(), method)
    names = [name for names in TERMS[formula].values() for name in names]
    actual = fit.vif()
    expected = of_car(fit.vcov().loc[names, names], TERMS[formula])
    np.testing.assert_allclose(actual["gvif"], expected, rtol=1e-9)
    assert actual["df"].tolist() == [len(names) for names in TERMS[formula].values()]
    np.testing.assert_allclose(
        actual["scaled"], actual["gvif"] ** (0.5 / actual["df"]), rtol=1e-12
    )


def test_single_columns_by_the_inverse() -> None:
    """For one column: its variance times the diagonal of the inverse; scale effects
    take no part.
    """
    fit = ordfit("y ~ x + z + f", data(1), scale="~ f")
    V = fit.vcov().loc[["x", "z", "f[T.v]"], ["x", "z", "f[T.v]"]].to_numpy()
    np.testing.assert_allclose(
        fit.vif()["gvif"], np.diag(V) * np.diag(np.linalg.inv(V)), rtol=1e-9
    )


def test_another_reference_level_and_other_covariances() -> None:
    frame = data(2)
    values = ordfit("y ~ x + z + g", frame).vif()["gvif"]
    other = ordfit("y ~ x + z + C(g, Treatment('c'))", frame).vif()["gvif"]
    np.testing.assert_allclose(values, other, rtol=1e-6)
    robust = ordfit("y ~ x + z + g", frame, vcov="HC0")
    names = ["x", "z", "g[T.b]", "g[T.c]", "g[T.d]"]
    terms = {"x": names[:1], "z": names[1:2], "g": names[2:]}
    np.testing.assert_allclose(
        robust.vif()["gvif"], of_car(robust.vcov().loc[names, names], terms), rtol=1e-9
    )


def test_aliased_columns_and_one_term() -> None:
    frame = data(3).assign(twice=lambda d: 2.0 * d["x"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        fit = ordfit("y ~ x + twice + z", frame)
    table = fit.vif()
    expected = ordfit("y ~ x + z", frame).vif()
    np.testing.assert_allclose(
        table.loc[["x", "z"], "gvif"], expected["gvif"], rtol=1e-9
    )
    assert np.isnan(table.loc["twice", "gvif"]) and table.loc["twice", "df"] == 0
    assert "without the columns of twice" in " ".join(repr(table).split())
    assert ordfit("y ~ x", frame).vif()["gvif"].tolist() == [1.0]


def test_other_fits_and_interactions() -> None:
    wine = datasets.load("wine")
    mixed = ordfit("rating ~ temp + contact + (1 | judge)", wine)
    names = ["temp[T.warm]", "contact[T.yes]"]
    expected = of_car(mixed.vcov().loc[names, names], {name: [name] for name in names})
    np.testing.assert_allclose(mixed.vif()["gvif"], expected, rtol=1e-9)
    assert "origin of a number" in repr(ordfit("rating ~ temp * contact", wine).vif())
    with pytest.raises(UnavailableError):
        _ = ordfit("rating ~ temp", wine, "redsvm").vif

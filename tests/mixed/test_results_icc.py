"""Intraclass correlations beside the latent covariance matrix of the rows, made of
indicators of the groups.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from ordstat import datasets, ordfit
from ordstat.exceptions import UnavailableError

LATENT = {"logit": np.pi**2 / 3, "probit": 1.0}


def pupils(seed: int) -> pd.DataFrame:
    """Schools of 4 classes of 6 pupils, and two raters crossed with them."""
    rng = np.random.default_rng(seed)
    school = np.repeat(np.arange(15), 24)
    class_ = np.tile(np.repeat(np.arange(4), 6), 15)
    rater = np.tile(np.arange(6), 60)
    x = rng.normal(size=360)
    effects = (
        rng.normal(size=15)[school]
        + 1.3 * rng.normal(size=60)[4 * school + class_]
        + rng.normal(size=6)[rater]
    )
    latent = 0.5 * x + effects + rng.logistic(size=360)
    y = np.digitize(latent, [-1.5, 0.0, 1.5])
    columns = {
        "y": y,
        "x": x,
        "school": school,
        "class_": class_,
        "rater": rater,
        "room": 4 * school + class_,
    }
    return pd.DataFrame(columns)


def correlation(
    data: pd.DataFrame,
    variances: dict[tuple[str, ...], float],
    link: str,
    group: list[str],
) -> float:
    """The latent correlation of two rows that have the group in common, and no other
    group that they need not.
    """
    same = {names: np.ones((len(data), len(data)), dtype=bool) for names in variances}
    for names, alike in same.items():
        for name in names:
            values = data[name].to_numpy()
            alike &= values[:, None] == values
    covariance = sum(variance * same[names] for names, variance in variances.items())
    together = np.ones_like(covariance, dtype=bool)
    for name in group:
        values = data[name].to_numpy()
        together &= values[:, None] == values
    np.fill_diagonal(together, False)
    return float(covariance[together].min() / (covariance[0, 0] + LATENT[link]))


@pytest.mark.parametrize(("seed", "link"), [(1, "logit"), (2, "probit")])
def test_nested_groups_share_the_outer_effect(seed: int, link: str) -> None:
    data = pupils(seed)
    fit = ordfit("y ~ x + (1 | school/class_)", data, link)
    variances = fit.varcorr()["variance"].droplevel("name").to_dict()
    inner = next(name for name in variances if name != "school")
    by_columns = {
        ("school",): variances["school"],
        ("school", "class_"): variances[inner],
    }
    table = fit.icc()
    total = sum(variances.values()) + LATENT[link]
    np.testing.assert_allclose(
        table["share"], [variances[name] / total for name in table.index], rtol=1e-12
    )
    expected = {
        name: correlation(data, by_columns, link, [*columns])
        for name, columns in {
            "school": ("school",),
            inner: ("school", "class_"),
        }.items()
    }
    assert table["icc"].to_dict() == pytest.approx(expected, rel=1e-12)
    text = str(fit.summary("all"))
    assert (
        f"school {table.loc['school', 'icc']:.3f}, {inner}"
        f" {table.loc[inner, 'icc']:.3f}" in text
    )
    assert (
        "Share of variance" in text
        and f"{inner} {table.loc[inner, 'share']:.3f}" in text
    )
    # a name of its own for every class nests it in its school as well
    rooms = ordfit("y ~ x + (1 | school) + (1 | room)", data, link).icc()
    np.testing.assert_allclose(np.sort(rooms["icc"]), np.sort(table["icc"]), rtol=1e-4)


def test_crossed_groups_have_their_own_share() -> None:
    data = pupils(3)
    fit = ordfit("y ~ x + (1 | school) + (1 | rater)", data)
    variances = fit.varcorr()["variance"].droplevel("name").to_dict()
    table = fit.icc()
    for name in ("school", "rater"):
        expected = correlation(
            data, {(key,): value for key, value in variances.items()}, "logit", [name]
        )
        assert (
            table.loc[name, "icc"]
            == table.loc[name, "share"]
            == pytest.approx(expected, rel=1e-12)
        )
    assert "Share of variance" not in str(fit.summary("all"))


def test_slopes_have_the_mean_variance() -> None:
    data = pupils(4)
    fit = ordfit("y ~ x + (x | school)", data)
    covariance = fit.fit.marginal.terms[0].covariance
    z = np.column_stack([np.ones(len(data)), data["x"]])
    mean = float(np.einsum("ni,ij,nj->n", z, covariance, z).mean())
    assert fit.icc()["icc"].tolist() == pytest.approx(
        [mean / (mean + LATENT["logit"])], rel=1e-12
    )


def test_without_a_latent_variance() -> None:
    wine = datasets.load("wine")
    for options in (
        {"method": "cauchit"},
        {"scale": "~ temp"},
        {"method": "acat"},
        {"method": "cratio"},
    ):
        fit = ordfit("rating ~ temp + (1 | judge)", wine, **options)
        with pytest.raises(
            UnavailableError,
            match=r"\.icc\(\) needs a latent variable of constant variance",
        ):
            fit.icc()
    with pytest.raises(AttributeError, match="a random term such as"):
        ordfit("rating ~ temp", wine).icc()

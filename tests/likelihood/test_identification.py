"""Parameters that the cell probabilities do not determine are named and not estimated,
and the rest is right.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from seams import LikelihoodResults

from ordstat import datasets, ordfit
from ordstat.exceptions import DataWarning, OptionError


def two_levels() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    f = rng.choice(list("ab"), 300)
    x = rng.normal(size=300)
    return pd.DataFrame(
        {"f": f, "x": x, "y": (x + (f == "b") + rng.logistic(size=300) > 0).astype(int)}
    )


def wine() -> pd.DataFrame:
    return datasets.load("wine")


def same(fit: LikelihoodResults, plain: LikelihoodResults) -> None:
    """The same model without the parameters that are not determined."""
    assert fit.loglik == pytest.approx(plain.loglik, abs=1e-9) and fit.edf == plain.edf
    kept = fit.params.dropna()
    np.testing.assert_allclose(kept, plain.params[kept.index], atol=1e-6)
    np.testing.assert_allclose(fit.se[kept.index], plain.se[kept.index], rtol=1e-6)


#: Arguments, those without what is not determined, and what that is.
CASES = {
    "two levels": (("y ~ f", {"scale": "~ f"}), ("y ~ f", {}), "scale.f[T.b]"),
    "nominal and scale": (
        ("rating ~ 1", {"nominal": "~ contact", "scale": "~ contact"}),
        ("rating ~ 1", {"nominal": "~ contact"}),
        "scale.contact[T.yes]",
    ),
    "interaction": (
        ("rating ~ temp*contact", {"nominal": "~ contact", "scale": "~ contact"}),
        ("rating ~ temp + temp:contact", {"nominal": "~ contact"}),
        "scale.contact[T.yes]",
    ),
    "equal spaces": (
        (
            "rating ~ 1",
            {"nominal": "~ contact", "scale": "~ contact", "threshold": "equidistant"},
        ),
        ("rating ~ 1", {"nominal": "~ contact", "threshold": "equidistant"}),
        "scale.contact[T.yes]",
    ),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.filterwarnings("ignore:aliased with:ordstat.exceptions.DataWarning")
def test_what_is_not_determined_is_left_out(case: str) -> None:
    (formula, options), (plain_formula, plain_options), name = CASES[case]
    data = two_levels() if formula.startswith("y") else wine()
    with pytest.warns(DataWarning) as caught:
        fit = ordfit(formula, data, **options)
    messages = [
        str(warning.message)
        for warning in caught
        if "is not estimated" in str(warning.message)
    ]
    assert len(messages) == 1 and messages[0].startswith(
        f"{name} is not estimated (NA): the probabilities of the"
    )
    assert np.isnan(fit.params[name]) and fit.certificate.reached
    plain = ordfit(plain_formula, data, **plain_options)
    assert fit.loglik == pytest.approx(plain.loglik, abs=1e-9) and fit.edf == plain.edf
    if plain_formula == formula:
        same(fit, plain)


def test_a_lambda_of_two_cells() -> None:
    """Two probabilities do not tell a threshold, an effect and the shape of the latent
    distribution.
    """
    data = two_levels()
    with pytest.warns(DataWarning, match="lambda is not estimated"):
        fit = ordfit("y ~ f", data, link="aranda-ordaz")
    same(fit, ordfit("y ~ f", data))
    assert np.isnan(fit.params["lambda"])
    np.testing.assert_allclose(
        fit.predict(type="prob"), ordfit("y ~ f", data).predict(type="prob"), atol=1e-7
    )


@pytest.mark.filterwarnings("ignore::ordstat.exceptions.DataWarning")
def test_sandwich_and_profile_of_the_rest() -> None:
    data = two_levels()
    fit = ordfit("y ~ f", data, scale="~ f")
    plain = ordfit("y ~ f", data)
    robust = fit.with_vcov("HC0").se
    np.testing.assert_allclose(robust.dropna(), plain.with_vcov("HC0").se, rtol=1e-6)
    limits, expected = (one.confint(type="profile") for one in (fit, plain))
    np.testing.assert_allclose(limits.dropna(), expected, rtol=1e-6)
    assert limits.loc["scale.f[T.b]"].isna().all()


@pytest.mark.filterwarnings("ignore::ordstat.exceptions.DataWarning")
def test_questions_about_it_have_no_number() -> None:
    fit = ordfit("y ~ f", two_levels(), scale="~ f")
    assert fit.profile("scale.f[T.b]").empty
    assert fit.confint(type="profile", parm="scale.f[T.b]").isna().all(axis=None)
    with pytest.raises(
        OptionError, match=r"names a parameter that is aliased and so not estimated"
    ):
        fit.test("scale.f[T.b] = 0")


def test_what_is_determined_is_kept() -> None:
    """Three levels tell the spread of two groups, a numeric column that of two levels;
    both as steep as can be.
    """
    rng = np.random.default_rng(3)
    f = rng.choice(list("ab"), 400)
    x = rng.normal(size=400)
    latent = x + np.exp(0.5 * (f == "b")) * rng.logistic(size=400)
    three = pd.DataFrame(
        {"f": f, "x": x, "far": x + 2000.0, "y": np.digitize(latent, [-0.5, 1.0])}
    )
    for formula, scale in (
        ("y ~ f", "~ f"),
        ("y ~ x", "~ x"),
        ("y ~ f + x", "~ f*x"),
        ("y ~ x", "~ center(far)"),
    ):
        assert not ordfit(formula, three, scale=scale).fit.aliased.any()
    two = three.assign(y=(three["y"] > 0).astype(int))
    assert not ordfit("y ~ f + x", two, scale="~ f").fit.aliased.any()


def test_a_scale_effect_that_every_so_many_rows_do_not_show() -> None:
    """Every fourth row has none of it: the rows looked at first, in the order given,
    cannot tell; all of them can.
    """
    rng = np.random.default_rng(8)
    x = rng.normal(size=1000)
    place = np.arange(1000)
    group = np.where((place % 4 != 0) & (rng.random(1000) < 0.6), "b", "a")
    latent = x + np.where(group == "b", 2.0, 1.0) * rng.logistic(size=1000)
    data = pd.DataFrame(
        {"x": x, "group": group, "y": np.searchsorted([-1.0, 1.0], latent)}
    )
    given, mixed = (
        ordfit("y ~ x", rows, scale="~ group")
        for rows in (data, data.sample(frac=1.0, random_state=1))
    )
    np.testing.assert_allclose(given.params, mixed.params, rtol=1e-7)
    assert given.params["scale.group[T.b]"] == pytest.approx(
        np.log(2.0), abs=3.0 * given.se["scale.group[T.b]"]
    )


def crossed(levels: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(
        {"g": rng.choice(["a", "b"], 300), "h": rng.choice([*"uvwx"[:levels]], 300)}
    )
    data["z"] = rng.normal(size=300)
    return data.assign(y=np.digitize(data["z"] + rng.logistic(size=300), [-1.0, 1.0]))


EMPTY = (
    "no row used has the combination of levels {}, so not estimated (NA): {}. Merge"
    " levels, or leave the "
)


@pytest.mark.parametrize(
    ("formula", "options", "names"),
    [
        ("y ~ g * h", {}, "g[T.b]:h[T.w]"),
        ("y ~ g * h * z", {}, "g[T.b]:h[T.w], g[T.b]:h[T.w]:z"),
        ("y ~ z", {"nominal": "~ g * h"}, "0|1.g[T.b]:h[T.w], 1|2.g[T.b]:h[T.w]"),
        ("y ~ z + g + h", {"scale": "~ g * h"}, "scale.g[T.b]:h[T.w]"),
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_an_empty_cell_of_an_interaction_is_named(
    formula, options, names, weighted
) -> None:
    data = crossed(3, 8)
    absent = (data["g"] == "b") & (data["h"] == "w")
    given = options | ({"weights": np.where(absent, 0.0, 1.0)} if weighted else {})
    with pytest.warns(DataWarning) as caught:
        ordfit(formula, data if weighted else data[~absent], **given)
    assert [str(one.message) for one in caught] == [
        EMPTY.format("g: b × h: w", names) + "interaction out."
    ]


@pytest.mark.parametrize("first", ["a", "b"])
@pytest.mark.parametrize("contrast", ["{}", "C({}, contr.sum)", "C({}, contr.helmert)"])
def test_a_cell_that_is_empty_is_named_where_another_column_is_not_estimated(
    contrast: str, first: str
) -> None:
    """A reference level, or contrasts of levels: the column that is aliased is not that
    of the empty cell.
    """
    data = crossed(3, 8)
    data["g"] = pd.Categorical(data["g"], [first, "b" if first == "a" else "a"])
    rest = data[~((data["g"] == "b") & (data["h"] == "u"))]
    with pytest.warns(DataWarning) as caught:
        fit = ordfit(f"y ~ {contrast.format('g')} * h", rest)
    (lost,) = fit.params.index[fit.params.isna()]
    assert [str(one.message) for one in caught] == [
        EMPTY.format("g: b × h: u", lost) + "interaction out."
    ]


def test_a_column_that_other_columns_determine_is_not_taken_for_an_empty_cell() -> None:
    data = crossed(3, 8).assign(twice=lambda d: 2.0 * d["z"])
    with pytest.warns(DataWarning) as caught:
        ordfit("y ~ g * h + z + twice + g:h:z", data)
    assert all("combination" not in str(one.message) for one in caught)


def test_two_empty_cells_and_a_column_of_zeros() -> None:
    data = crossed(4, 3).assign(flag=0.0)
    data = data[~((data["g"] == "b") & data["h"].isin(["v", "x"]))]
    with pytest.warns(DataWarning) as caught:
        ordfit("y ~ g * h + flag", data)
    cells, zeros = [str(one.message) for one in caught]
    names = "g[T.b]:h[T.v], g[T.b]:h[T.x]"
    assert cells == EMPTY.format("g: b × h: v, g: b × h: x", names) + "interaction out."
    assert zeros.endswith("not estimated (NA): flag.")  # centring does not help


def test_a_column_far_from_zero_is_told_to_be_centred() -> None:
    data = crossed(3, 1)
    with pytest.warns(
        DataWarning, match=r"\(NA\): far. Centre a column that varies in later digits"
    ):
        ordfit("y ~ far", data.assign(far=1e9 + 1e-3 * data["z"]))

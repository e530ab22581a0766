"""Joint tests where cells are empty or estimates infinite: by other routes, and in
every order of the levels.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from expected import empty_cell
from scipy.linalg import null_space

from ordstat import datasets, ordfit
from ordstat.exceptions import SeparationWarning

ORDERS = (
    ["Low", "Medium", "High"],
    ["Medium", "Low", "High"],
    ["Low", "High", "Medium"],
)


def without_a_cell(order: list[str]) -> pd.DataFrame:
    data = datasets.load("housing").query("not (Infl == 'Medium' and Type == 'Tower')")
    return data.assign(Infl=pd.Categorical(data["Infl"].astype(str), categories=order))


def by_cells() -> dict[str, tuple[int, float]]:
    """Wald tests from a model with one effect a cell: what all its cells with rows tell
    of the two factors.
    """
    data = without_a_cell(ORDERS[0])
    cells = data["Infl"].astype(str) + data["Type"].astype(str)
    fit = ordfit(
        "Sat ~ cell + Cont", data.assign(cell=pd.Categorical(cells)), weights="Freq"
    )
    names = sorted(set(cells))
    columns = [f"cell[T.{name}]" for name in names[1:]]
    mean = np.append(0.0, fit.coef[columns])
    V = np.pad(fit.vcov().loc[columns, columns].to_numpy(), ((1, 0), (1, 0)))
    types = ["Tower", "Apartment", "Atrium", "Terrace"]
    low, high = (
        np.array([name in {level + one for one in types} for name in names])
        for level in ("Low", "High")
    )
    additive = np.array(
        [
            [name.startswith(i) for i in ORDERS[0]] + [name.endswith(t) for t in types]
            for name in names
        ]
    )

    def wald(L: np.ndarray) -> tuple[int, float]:
        difference = L @ mean
        return len(L), float(difference @ np.linalg.solve(L @ V @ L.T, difference))

    # contrasts of cells to which no additive model adds
    interaction = null_space(additive.astype(float).T).T
    return {
        "Infl": wald((high / 4.0 - low / 4.0)[None]),
        "Infl:Type": wald(interaction),
    }


@pytest.mark.parametrize("order", ORDERS)
def test_empty_cells_in_every_order_of_the_levels(order: list[str]) -> None:
    with empty_cell("Infl: Medium × Type: Tower"):
        fit = ordfit("Sat ~ Infl * Type + Cont", without_a_cell(order), weights="Freq")
    actual = fit.joint_tests().set_index("term")
    for term, (df, chisq) in by_cells().items():
        assert actual.loc[term, "df"] == df
        assert actual.loc[term, "chisq"] == pytest.approx(chisq, rel=1e-6)


@pytest.mark.parametrize("order", ["abc", "acb", "cab"])
def test_infinite_estimates_in_every_order_of_the_levels(order: str) -> None:
    """Group b is always in the highest level, so that only a and c are compared: as in
    the rows of these two.
    """
    rng = np.random.default_rng(0)
    data = pd.DataFrame(
        {"g": rng.choice(list("abc"), 300), "y": rng.integers(0, 3, 300)}
    )
    data.loc[data["g"] == "b", "y"] = 2
    with pytest.warns(SeparationWarning):
        actual = ordfit(
            "y ~ g", data.assign(g=pd.Categorical(data["g"], list(order)))
        ).joint_tests()
    two = data[data["g"] != "b"]
    alone = ordfit("y ~ g", two.assign(g=pd.Categorical(two["g"], ["a", "c"]))).test(
        "g = 0"
    )
    assert actual["df"].tolist() == [1]
    assert actual["chisq"][0] == pytest.approx(alone["chisq"].iloc[0], rel=1e-5)


def test_units_of_a_number_say_nothing():
    rng = np.random.default_rng(1)
    data = pd.DataFrame(
        {"x": rng.normal(size=300), "g": rng.choice(["a", "b", "c"], 300)}
    )
    data["y"] = np.digitize(
        data["x"] + (data["g"] == "b") + rng.logistic(size=300), [-1.0, 1.0]
    )
    plain = ordfit("y ~ x * g", data).joint_tests()
    small = ordfit("y ~ x * g", data.assign(x=data["x"] * 1e-11)).joint_tests()
    pd.testing.assert_frame_equal(pd.DataFrame(small), pd.DataFrame(plain), rtol=1e-6)


def test_chosen_levels_of_a_factor_are_compared_alone():
    data = datasets.load("housing")
    fit = ordfit("Sat ~ Infl + Type + Cont", data, weights="Freq")
    chosen = fit.joint_tests(at={"Infl": ["Low", "High"]}).set_index("term")
    expected = fit.test("Infl[T.High] = 0").iloc[-1]
    assert chosen.loc["Infl", "df"] == 1
    assert chosen.loc["Infl", "chisq"] == pytest.approx(expected["chisq"], rel=1e-8)
    assert not any("whole curve" in note for note in chosen.attrs["notes"])

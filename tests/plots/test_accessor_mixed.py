"""Pictures of fits with random effects: rows at the modes of their groups, variables
averaged over groups.
"""

import numpy as np
import pandas as pd
import pytest
from expected import refused
from scipy import stats

from ordstat import OptionError, datasets, ordfit

WINE = datasets.load("wine")
NEW = WINE[["temp", "contact"]].drop_duplicates()
OWN = WINE[["temp", "contact"]].astype(object)
ARGUMENTS = {name: ["temp"] for name in ("effects", "emmeans", "stacked")}
ARGUMENTS["subgroups"] = ["temp", "contact"]


@pytest.fixture(scope="module")
def judges():
    return ordfit("rating ~ temp + contact + (1 | judge)", WINE)


def test_all_that_are_listed_can_be_drawn(judges):
    assert judges.plot.names == [
        *("confusion", "effects", "emmeans", "forest", "importance"),
        *(
            "latent",
            "parallel",
            "profiles",
            "ranef",
            "reliability",
            "residuals",
            "stacked",
            "subgroups",
        ),
    ]
    for name in judges.plot.names:
        drawn = getattr(judges.plot, name)(*ARGUMENTS.get(name, []))
        np.ravel(np.asarray(drawn, dtype=object))[0].figure.canvas.draw()
    with pytest.raises(OptionError, match=r"fits? with random effects"):
        judges.plot.margins()


def test_effects_average_over_the_groups(judges):
    """Brute force: 2000 quantiles of the judges' normal distribution, and the logistic
    function.
    """
    nodes = (
        stats.norm.ppf((np.arange(2000) + 0.5) / 2000) * judges.varcorr()["sd"].iloc[0]
    )
    theta = np.concatenate([[-np.inf], judges.thresholds, [np.inf]])
    cells = []
    for temp in (0.0, 1.0):
        H = (
            temp * judges.coef.iloc[0]
            + np.array([0.0, 1.0])[:, None] * judges.coef.iloc[1]
            + nodes
        )
        below = stats.logistic.cdf(theta - H[:, :, None]).mean(axis=(0, 1))
        cells.append(np.diff(below))
    table = judges.plot.effects("temp", draw=False)
    np.testing.assert_allclose(table["estimate"], np.concatenate(cells), atol=2e-5)
    assert "averaged over the groups" in judges.plot.effects(
        "temp"
    ).get_ylabel().replace("\n", " ")
    zero = (
        judges.plot.effects("temp", re="zero", draw=False)["estimate"]
        .to_numpy()
        .reshape(2, 5)
    )
    H = (
        np.array([[0.0, 1.0]]) * judges.coef.iloc[1]
        + np.array([[0.0], [1.0]]) * judges.coef.iloc[0]
    )
    by_hand = np.diff(stats.logistic.cdf(theta - H[:, :, None]), axis=2).mean(axis=1)
    np.testing.assert_allclose(zero, by_hand, atol=1e-12)


def test_latent_scores_are_at_the_modes(judges):
    modes = judges.ranef().set_index("level")["mode"]
    fixed = (WINE["temp"] == "warm") * judges.coef.iloc[0] + (
        WINE["contact"] == "yes"
    ) * judges.coef.iloc[1]
    scores = fixed + WINE["judge"].map(
        dict(zip(modes.index, modes, strict=True))
    ).astype(float)
    data = judges.plot.latent(bins=10, draw=False)
    edges = np.append(data["left"].to_numpy()[:10], data["right"].to_numpy()[9])
    np.testing.assert_allclose(edges[[0, -1]], [scores.min(), scores.max()], atol=1e-9)
    for level, part in data.groupby("level", sort=False):
        np.testing.assert_array_equal(
            part["weight"], np.histogram(scores[WINE["rating"] == level], edges)[0]
        )
    lines = [
        x for line in judges.plot.latent().lines if (x := line.get_xdata())[0] == x[1]
    ]
    np.testing.assert_allclose([x[0] for x in lines], judges.thresholds)
    assert "modes of the random effects" in judges.plot.latent().get_xlabel().replace(
        "\n", " "
    )


def test_reliability_is_that_at_the_modes(judges):
    curves = judges.plot.reliability(bins=4, draw=False)
    p = judges.predict(type="prob").to_numpy()[:, 0]
    first = curves[curves["split"] == "1|2"]
    assert first["weight"].sum() == 72
    np.testing.assert_allclose((first["predicted"] * first["weight"]).sum(), p.sum())
    np.testing.assert_allclose(
        (first["observed"] * first["weight"]).sum(), (WINE["rating"] == 1).sum()
    )


def ranks_of(fit, rows):
    return fit.predict(rows, re="marginal").to_numpy().astype(int)


def test_importance_is_that_for_new_groups(judges):
    """By hand: the same permutations of rows predicted by averages over the judges."""
    actual = judges.importance(measure="absolute error", repeats=60, seed=1)
    rng = np.random.default_rng(5)
    codes = WINE["rating"].to_numpy().astype(int)
    own = ranks_of(judges, OWN)
    columns = OWN["temp"].tolist(), OWN["contact"].tolist()
    rank_of = dict(zip(zip(*columns, strict=True), own, strict=True))
    rises = {}
    for name in ("temp", "contact"):
        errors = []
        for _ in range(500):
            rows = OWN.assign(**{name: rng.permutation(WINE[name].to_numpy())})
            cells = zip(rows["temp"], rows["contact"], strict=True)
            ranks = np.array([rank_of[cell] for cell in cells])
            errors.append(np.abs(ranks - codes).mean())
        rises[name] = np.mean(errors) - np.abs(own - codes).mean()
    for name, rise in rises.items():
        row = actual.loc[name]
        assert row["importance"] == pytest.approx(rise, abs=4 * row["std_error"])


def test_effects_at_each_threshold_are_those_of_mixed_binary_fits(judges):
    data = judges.plot.parallel(draw=False).set_index(["above", "term"])
    for above in (2, 3):
        binary = ordfit(
            "high ~ temp + contact + (1 | judge)",
            WINE.assign(high=(WINE["rating"].astype(int) > above).astype(int)),
        )
        actual = data.loc[above]
        np.testing.assert_allclose(actual["estimate"], binary.coef, rtol=1e-4)
        np.testing.assert_allclose(
            actual["std_error"], binary.se[binary.coef.index], rtol=1e-4
        )


# The caterpillar plot


@pytest.fixture(scope="module")
def crossed():
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"x": rng.normal(size=500), "h": rng.integers(0, 120, 500)})
    g = rng.integers(0, 12, 500)
    latent = (
        data["x"] * (1 + 0.6 * rng.normal(size=12)[g])
        + rng.normal(size=12)[g]
        + rng.logistic(size=500)
    )
    data = data.assign(
        g=[f"number {i:02d}" for i in g], y=np.digitize(latent, [-1.0, 1.0])
    )
    return ordfit("y ~ x + (1 + x | g) + (1 | h)", data)


def test_limits_of_modes(judges):
    """R: sort(ranef(clmm(rating ~ temp + contact + (1 | judge), wine))$judge[, 1])
    [ordinal 2022.11-16].
    """
    data = judges.plot.ranef(level=0.9, draw=False)
    assert data["level"].tolist() == [7, 2, 9, 8, 4, 5, 6, 3, 1]
    expected = [
        -1.91097324,
        -0.56578301,
        -0.55467569,
        -0.27294381,
        -0.05954987,
        0.23051011,
    ]
    np.testing.assert_allclose(
        data["mode"], [*expected, 0.47703862, 0.96880824, 1.69617810], atol=2e-4
    )
    np.testing.assert_allclose((data["upper"] + data["lower"]) / 2.0, data["mode"])
    np.testing.assert_allclose(
        data["upper"] - data["lower"], 2.0 * 1.6448536269514722 * data["sd"]
    )
    with refused("level"):
        judges.plot.ranef(level=95, draw=False)


def test_a_panel_for_each_column(crossed):
    panels = crossed.plot.ranef()
    assert [panel.get_title(loc="left") for panel in panels] == [
        "g: (Intercept)",
        "g: x",
        "h: (Intercept)",
    ]
    data = crossed.plot.ranef(draw=False)
    for panel, (_, part) in zip(
        panels, data.groupby(["term", "name"], sort=False), strict=True
    ):
        np.testing.assert_allclose(panel.lines[-1].get_xdata(), part["mode"])
        assert panel.get_ylim() == (-0.6, len(part) - 0.4)
    order = data[data["group"] == "g"].groupby("name", sort=False)["level"].apply(list)
    assert order["(Intercept)"] == order["x"]

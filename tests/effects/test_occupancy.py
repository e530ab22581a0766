"""State occupancy: against R's Hmisc, by hand, the delta method, and its own sums."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from expected import refused
from scipy.special import expit

from ordstat import ElasticNet, lagged, occupancy, ordfit
from ordstat.exceptions import (
    DataError,
    DataWarning,
    OptionError,
    OrdstatWarning,
    UnavailableError,
)
from ordstat.judging.errors import drawn_weights

R = Path(__file__).parents[1] / "golden" / "r"
LEVELS = ["home", "ward", "icu", "dead"]
TIMES = [1, 2, 4, 7]
STAYS = pd.read_csv(R / "occupancy_data.csv").assign(
    y=lambda d: pd.Categorical(d["y"], LEVELS, ordered=True)
)
FORMULA = "y ~ previous + time + gap + arm"
OPTIONS = {"gap": "gap", "absorbing": ["dead"]}


@pytest.fixture(scope="module")
def fit():
    return ordfit(FORMULA, STAYS, cluster="id")


@pytest.fixture(scope="module")
def start() -> pd.DataFrame:
    """Every patient of the data in both arms, at the start."""
    first = STAYS[STAYS["time"] == 1][["previous"]]
    return pd.concat([first.assign(arm=arm) for arm in (0, 1)])


@pytest.fixture(scope="module")
def both(fit, start):
    return occupancy(fit, start, TIMES, by="arm", draws=200, **OPTIONS)


def test_against_hmisc(fit) -> None:
    """tests/golden/r/occupancy.R: soprobMarkovOrdm of Hmisc 4.8, fit by rms's lrm."""
    expected = pd.read_csv(R / "occupancy.csv").rename(columns={"start": "previous"})
    start = expected[["previous", "arm"]].drop_duplicates()
    found = occupancy(fit, start, TIMES, by=["previous", "arm"], draws=0, **OPTIONS)
    assert list(found.frame.columns) == ["group", "time", "level", "estimate"]
    table = found.frame.pivot(
        index=["group", "time"], columns="level", values="estimate"
    )
    expected["group"] = expected["previous"] + " " + expected["arm"].astype(str)
    expected = expected.set_index(["group", "time"])[LEVELS]
    np.testing.assert_allclose(
        table.loc[expected.index, LEVELS], expected, rtol=1e-6, atol=1e-9
    )


def three_levels(n: int = 120) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "id": np.repeat(np.arange(n), 4),
            "t": np.tile([0, 1, 2, 3], n),
            "x": np.repeat(rng.normal(size=n), 4),
        }
    )
    latent = frame["x"] + np.repeat(rng.normal(size=n), 4) + rng.logistic(size=4 * n)
    frame["y"] = np.digitize(latent, [-0.7, 0.9]) + 1
    return lagged(frame, "y", by="id", time="t").query("t > 0")


def by_hand(params: np.ndarray, start: pd.DataFrame, times: list[int]) -> np.ndarray:
    """(T, 3) means over persons, one person and one previous level at a time."""
    total = np.zeros((len(times), 3))
    for previous, x in zip(start["previous"], start["x"], strict=True):
        now = np.eye(3)[previous - 1]
        for place, t in enumerate(times):
            after = np.zeros(3)
            for level in range(3):
                effect = (0.0, params[2], params[3])[level]
                H = effect + params[4] * t + params[5] * x
                below = expit(params[:2] - H)
                after += now[level] * np.diff([0.0, *below, 1.0])
            now = after
            total[place] += now / len(start)
    return total


def test_three_levels_by_hand_and_errors_by_differences() -> None:
    fit = ordfit("y ~ C(previous) + t + x", three_levels(), cluster="id")
    start = pd.DataFrame({"previous": [1, 3, 2, 1], "x": [0.0, 1.0, -1.0, 0.3]})
    times = [1, 2, 3, 5]
    found = occupancy(fit, start, times, time="t", draws=800)
    params = fit.params.to_numpy()
    expected = by_hand(params, start, times)
    np.testing.assert_allclose(found.frame["estimate"], expected.ravel(), rtol=1e-10)
    step = 1e-5
    slopes = np.array(
        [
            by_hand(params + step * unit, start, times)
            - by_hand(params - step * unit, start, times)
            for unit in np.eye(len(params))
        ]
    ).reshape(len(params), -1) / (2.0 * step)
    V = fit.vcov().to_numpy()
    errors = np.sqrt(np.einsum("ik,ij,jk->k", slopes, V, slopes))
    # 800 draws know a standard deviation up to 2.5%
    np.testing.assert_allclose(found.frame["std_error"], errors, rtol=0.1)
    # at the last time, outside the data, the draws are skewed
    inside = slice(0, 9)
    for name, sign in (("lower", -1.96), ("upper", 1.96)):
        limits = expected.ravel() + sign * errors
        np.testing.assert_allclose(
            found.frame[name][inside], limits[inside], atol=0.3 * errors[inside].max()
        )
    model = occupancy(fit, start, times, time="t", draws=800, vcov="model")
    V = fit.vcov("model").to_numpy()
    errors = np.sqrt(np.einsum("ik,ij,jk->k", slopes, V, slopes))
    np.testing.assert_allclose(model.frame["std_error"], errors, rtol=0.1)


def test_equal_rows_are_means_of_what_each_gives(fit, start, both) -> None:
    for place, arm in enumerate((0, 1)):
        expected = 0.0
        for level, share in start["previous"].value_counts(normalize=True).items():
            one = pd.DataFrame({"previous": [level], "arm": [arm]})
            alone = occupancy(fit, one, TIMES, draws=0, **OPTIONS).estimates[0]
            expected = expected + share * alone
        np.testing.assert_allclose(both.estimates[place], expected, rtol=1e-12)


def test_a_start_with_fewer_categories(fit) -> None:
    start = pd.DataFrame({"previous": ["ward"], "arm": [1]})
    expected = occupancy(fit, start, TIMES, draws=0, **OPTIONS).estimates
    few = start.astype({"previous": "category"})
    found = occupancy(fit, few, TIMES, draws=0, **OPTIONS)
    np.testing.assert_array_equal(found.estimates, expected)


def test_levels_that_are_numbers() -> None:
    fit = ordfit("y ~ C(previous) + t", three_levels())
    start = pd.DataFrame({"previous": [1, 2]})
    found = occupancy(fit, start, [1, 2, 3], time="t", absorbing=[3], draws=0)
    p = found.estimates[0]
    assert (np.diff(p[:, 2]) > 0.0).all()
    assert found.time_in([1, 2])["estimate"][0] == pytest.approx(p[:, :2].sum())
    assert found.time_in(3)["estimate"][0] == pytest.approx(p[:, 2].sum())
    with pytest.raises(OptionError, match="got 4"):
        found.time_in(4)


@pytest.mark.parametrize(
    "options",
    [
        {"nominal": "~ t"},
        {"scale": "~ x"},
        {"method": "cratio"},
        {"threshold": "symmetric"},
        {"link": ("aranda-ordaz", 0.5)},
    ],
    ids=lambda options: next(iter(options)),
)
def test_other_models(options) -> None:
    """Their own predictions, multiplied; the drawn estimates are around them."""
    formula = "y ~ C(previous) + x" if "nominal" in options else "y ~ C(previous) + t"
    fit = ordfit(formula, three_levels(), **options)
    start = pd.DataFrame({"previous": [2], "x": [0.5]})
    found = occupancy(fit, start, [1, 2], time="t", draws=300)
    first = fit.predict(start.assign(t=1), type="prob").to_numpy()
    rows = pd.DataFrame({"previous": [1, 2, 3], "x": 0.5, "t": 2})
    second = first @ fit.predict(rows, type="prob").to_numpy()
    expected = np.concatenate([first[0], second[0]])
    np.testing.assert_allclose(found.frame["estimate"], expected, rtol=1e-12)
    np.testing.assert_allclose(found.draws.mean(axis=0).ravel(), expected, atol=0.02)
    errors = fit.predict(start.assign(t=1), type="prob", se=True)["std_error"]
    np.testing.assert_allclose(
        found.frame["std_error"][:3], errors.to_numpy()[0], rtol=0.2
    )


@pytest.mark.parametrize("gap", [None, "gap"])
def test_transitions_that_are_the_same_at_all_times(gap) -> None:
    """Powers of the matrix of transitions."""
    term = "" if gap is None else " + gap"
    fit = ordfit(f"y ~ previous{term}", STAYS, cluster="id")
    alive = LEVELS[:3]
    new = pd.DataFrame({"previous": alive, "gap": 1.0})
    moves = np.vstack([fit.predict(new, type="prob"), [0.0, 0.0, 0.0, 1.0]])
    options = {"time": None, "gap": gap, "absorbing": ["dead"], "draws": 5}
    found = occupancy(fit, new[["previous"]], [1, 2, 3], by="previous", **options)
    powers = [np.linalg.matrix_power(moves, t)[:3] for t in (1, 2, 3)]
    expected = np.stack(powers, axis=1)[[alive.index(name) for name in found.groups]]
    np.testing.assert_allclose(found.estimates, expected, rtol=1e-12)
    assert "up to time 3" in str(found.time_in("home"))
    with pytest.raises(OptionError, match="or None; got 'time'"):
        occupancy(fit, new, [1, 2], absorbing=["dead"], gap=gap)


def test_an_absorbing_level_only_grows(both) -> None:
    dead = both.frame[both.frame["level"] == "dead"]
    for _, one in dead.groupby("group"):
        assert (np.diff(one["estimate"]) > 0.0).all()
    assert (np.diff(both.draws[..., 3], axis=2) >= 0.0).all()
    np.testing.assert_allclose(both.estimates.sum(axis=2), 1.0, rtol=1e-12)


def test_contrasts_and_time_are_sums_of_the_table(both) -> None:
    p0, p1 = both.estimates
    d0, d1 = np.moveaxis(both.draws, 1, 0)
    differences = both.contrasts()
    assert differences["contrast"].unique().tolist() == ["1 - 0"]
    np.testing.assert_allclose(differences["estimate"], (p1 - p0).ravel(), atol=1e-15)
    np.testing.assert_allclose(
        differences["upper"], np.quantile(d1 - d0, 0.975, axis=0).ravel(), atol=1e-15
    )
    ratios = both.contrasts("ratio", ref="1")
    np.testing.assert_allclose(ratios["estimate"], (p0 / p1).ravel(), rtol=1e-12)
    np.testing.assert_allclose(
        ratios["std_error"], (d0 / d1).std(axis=0, ddof=1).ravel(), rtol=1e-9
    )
    days = both.time_in(["ward", "icu"])
    gaps = np.array([1.0, 1.0, 2.0, 3.0])
    expected = [gaps @ p[:, 1:3].sum(axis=1) for p in (p0, p1)]
    assert days["group"].tolist() == ["0", "1", "1 - 0"]
    np.testing.assert_allclose(days["estimate"], [*expected, expected[1] - expected[0]])
    drawn = np.einsum("t,btk->b", gaps, (d1 - d0)[..., 1:3])
    assert days["lower"].iloc[2] == pytest.approx(np.quantile(drawn, 0.025))
    alone = both.time_in("home")
    assert alone["estimate"][0] == pytest.approx(gaps @ p0[:, 0])
    assert "Expected time in home, up to time 7" in str(alone)


def test_seeds_and_clusters(fit, start, both) -> None:
    few = start.head(20)
    one, again = (occupancy(fit, few, TIMES, draws=20, **OPTIONS) for _ in range(2))
    np.testing.assert_array_equal(again.draws, one.draws)
    other = occupancy(fit, few, TIMES, draws=20, seed=1, **OPTIONS)
    assert not np.array_equal(other.draws, one.draws)
    assert "cluster-robust, 150" in " ".join(both.notes)
    assert "300 rows of start" in str(both)


def test_groups_are_in_the_order_of_the_levels_of_the_fit() -> None:
    data = STAYS.assign(
        arm=pd.Categorical(np.where(STAYS["arm"] == 1, "a", "b"), ["b", "a"])
    )
    fit = ordfit(FORMULA, data)
    start = pd.DataFrame({"previous": "ward", "arm": ["a", "b"]})
    found = occupancy(fit, start, TIMES, by="arm", draws=0, **OPTIONS)
    assert found.groups == ("b", "a")
    assert found.contrasts()["contrast"].unique().tolist() == ["a - b"]
    alone = occupancy(fit, start[:1], TIMES, draws=0, **OPTIONS)
    np.testing.assert_allclose(found.estimates[1], alone.estimates[0], rtol=1e-12)


def test_one_group_has_no_name(fit, start) -> None:
    found = occupancy(fit, start.head(3), [1], draws=0, **OPTIONS)
    assert list(found.frame.columns) == ["time", "level", "estimate"]
    with pytest.raises(OptionError, match="use by="):
        found.contrasts()
    assert len(found.time_in("home")) == 1


@pytest.mark.parametrize(
    ("arguments", "error", "named"),
    [
        ({"times": [1, 1]}, OptionError, "times must be"),
        ({"times": []}, OptionError, "times must be"),
        ({"times": [0, 1]}, OptionError, "after origin=0"),
        ({"times": ["a"]}, OptionError, "times must be"),
        ({"absorbing": ["gone"]}, OptionError, "'gone'"),
        ({"absorbing": ["home"]}, DataError, "absorbing level"),
        ({"absorbing": []}, OptionError, r"absorbing=\['dead'\]"),
        ({"previous": "state"}, OptionError, "'state'"),
        ({"time": "day"}, DataError, "time"),
        ({"gap": None}, DataError, "gap"),
        ({"by": "sex"}, OptionError, "'sex'"),
        ({"draws": -1}, OptionError, "draws"),
        ({"level": 95}, OptionError, "level"),
    ],
)
def test_refusals(fit, start, arguments, error, named: str) -> None:
    given = {"times": TIMES, "draws": 5, **OPTIONS, **arguments}
    with pytest.raises(error, match=named):
        occupancy(fit, start, **given)


def test_fits_that_are_refused(start) -> None:
    data = three_levels()
    rows = pd.DataFrame({"previous": [1], "x": [0.0]})
    mixed = ordfit("y ~ C(previous) + t + (1 | id)", data)
    with pytest.raises(OptionError, match="no random effects"):
        occupancy(mixed, rows, [1], time="t")
    with pytest.raises(OptionError, match="likelihood fit"):
        occupancy(ordfit("y ~ t + x", data, "redsvm"), rows, [1], time="t")
    flexible = ordfit("y ~ C(previous) + t", data, link="aranda-ordaz")
    with pytest.raises(OptionError, match="without an estimated parameter"):
        occupancy(flexible, rows, [1], time="t")
    after_death = STAYS.assign(
        previous=np.where(STAYS["y"] == "dead", "dead", STAYS["previous"])
    )
    with pytest.warns(OrdstatWarning):
        separated = ordfit(FORMULA, after_death)
    with pytest.raises(OptionError, match="finite estimates"):
        occupancy(separated, start, TIMES, **OPTIONS)
    aliased = data.assign(x2=np.where(data["t"] == 1, 0.0, data["x"] + data["t"]))
    with pytest.warns(DataWarning):
        fit = ordfit("y ~ C(previous) + t + x + x:t + x2 + I(x2 + x)", aliased)
    with pytest.raises(DataError):
        occupancy(fit, rows, [1, 2], time="t")


@pytest.mark.parametrize("shape", ["elastic net", "monotone"])
@pytest.mark.parametrize("limits", ["normal", "bootstrap"])
def test_fits_without_errors_have_estimates_alone(shape, limits) -> None:
    """Limits ended in an error of NumPy."""
    data = three_levels()
    if shape == "monotone":
        fit = ordfit("y ~ mono(previous) + t + x", data)
    else:
        net = ElasticNet(lambdas=[0.01], cv=3)
        fit = ordfit("y ~ C(previous) + t + x", data, cluster="id", penalty=net)
    start = pd.DataFrame({"previous": [1, 3], "x": [0.0, 1.0]})
    refusal = r"no confidence limits here.*With draws=0"
    with pytest.raises(UnavailableError, match=refusal):
        occupancy(fit, start, [1, 2], time="t", limits=limits)
    found = occupancy(fit, start, [1, 2], time="t", draws=0)
    first = fit.predict(start.assign(t=1), type="prob").mean()
    np.testing.assert_allclose(found.frame["estimate"][:3], first, rtol=1e-12)


def test_times_that_are_left_out_are_told_of() -> None:
    """One transition from 1 to 3 is not two."""
    fit = ordfit("y ~ C(previous) + t", three_levels(), cluster="id")
    start = pd.DataFrame({"previous": [1]})
    with pytest.warns(DataWarning, match="times leaves out 2, where the fit has rows"):
        occupancy(fit, start, [1, 3], time="t", draws=0)


def test_rows_of_several_times_are_no_start() -> None:
    data = three_levels()
    fit = ordfit("y ~ C(previous) + t", data, cluster="id")
    with pytest.raises(DataError, match="'t' has 3 different values"):
        occupancy(fit, data, [1, 2, 3], time="t", draws=0)


def test_limits_by_persons_are_those_of_fits_to_persons_drawn_by_hand() -> None:
    """The same generators draw the persons, whose rows are then written out."""
    data = three_levels(40)
    formula = "y ~ C(previous) + t"
    fit = ordfit(formula, data, cluster="id")
    start = pd.DataFrame({"previous": [1, 2]})
    options = {"time": "t", "draws": 3, "limits": "bootstrap", "seed": 4}
    found = occupancy(fit, start, [1, 2], **options)
    codes = fit.design.sample.cluster
    for b, rng in enumerate(np.random.default_rng(4).spawn(3)):
        weights = drawn_weights(np.ones(len(data)), codes, rng)
        by_person = pd.Series(weights).groupby(codes)
        assert (by_person.nunique() == 1).all()
        # a person drawn twice is two persons
        assert by_person.first().sum() == np.unique(codes).size
        again = ordfit(formula, data.loc[data.index.repeat(weights.astype(int))])
        expected = occupancy(again, start, [1, 2], time="t", draws=0).estimates
        np.testing.assert_allclose(found.draws[b], expected, rtol=1e-6)
    assert "fits to" in str(found) and {"lower", "upper"} <= set(found.frame)


def test_limits_by_persons_are_near_those_by_the_normal_distribution(fit, start):
    few = start.head(20)
    normal, persons = (
        occupancy(fit, few, TIMES, draws=100, limits=limits, **OPTIONS)
        for limits in ("normal", "bootstrap")
    )
    ratio = persons.frame["std_error"] / normal.frame["std_error"]
    assert ratio.median() == pytest.approx(1.0, abs=0.25)


def test_limits_by_persons_need_persons(fit, start) -> None:
    plain = ordfit(FORMULA, STAYS)
    with pytest.raises(OptionError, match="persons as clusters"):
        occupancy(plain, start, TIMES, limits="bootstrap", **OPTIONS)
    with refused("vcov"):
        occupancy(fit, start, TIMES, limits="bootstrap", vcov="model", **OPTIONS)
    with refused("limits"):
        occupancy(fit, start, TIMES, limits="persons", **OPTIONS)

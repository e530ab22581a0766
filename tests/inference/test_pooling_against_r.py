"""Pooled estimates and tests beside R's mice 3.15.0 and mitml 0.4-4, by fits of ordinal
2022.11-16: see pooled.R.
"""

import numpy as np
import pytest

from inference.imputed import FRAMES, fits
from ordstat import ordfit, pool

#: Both fit to a largest gradient of about 1e-12, and R prints 12 digits; differences of
#: estimates over imputations lose some of them.
EXACT = {"rel": 1e-7, "abs": 1e-9}

# pool(as.mira(lapply(frames, function(d) clm(y ~ x1 + x2 + g, data = d))))$pooled:
# estimate, t, df, riv, fmi
POOLED = {
    "1|2": (
        -1.1615097171074,
        0.1302366053240,
        45.1549765703,
        0.1990309913849,
        0.200631647103,
    ),
    "2|3": (
        0.0937195831343,
        0.0992979523112,
        60.3820182130,
        0.0917950635093,
        0.112978853484,
    ),
    "3|4": (
        1.5361286138586,
        0.1422284311621,
        54.4713377128,
        0.1306756640951,
        0.146351093367,
    ),
    "x1": (
        0.6517644623107,
        0.0737630254379,
        32.3091993952,
        0.3326549470943,
        0.292121685638,
    ),
    "x2": (
        -0.1976941995209,
        0.0632115035044,
        44.8654288822,
        0.2014053190298,
        0.202420553223,
    ),
    "g[T.b]": (
        0.3054181972820,
        0.2842619765058,
        18.2951778547,
        0.6601810685054,
        0.454226986854,
    ),
}
# clm(y ~ x1, nominal = ~ g, scale = ~ x2)
WITH_EFFECTS = {
    "1|2": (
        -1.2035203210881,
        0.1701925348050,
        43.1475119451,
        0.2081512791780,
        0.2081614817450,
    ),
    "2|3": (
        0.2314029870855,
        0.1186689091712,
        45.7272203592,
        0.1864446257059,
        0.1917404664390,
    ),
    "3|4": (
        1.3499312837923,
        0.1472909638941,
        62.9817374535,
        0.0631911352645,
        0.0879451961125,
    ),
    "1|2.g[T.b]": (
        -0.2199345516614,
        0.4887529036328,
        24.1552001164,
        0.4696969614669,
        0.3697004853572,
    ),
    "2|3.g[T.b]": (
        -0.6366438494298,
        0.3827991217772,
        17.7917938000,
        0.6725613264151,
        0.4596262695222,
    ),
    "3|4.g[T.b]": (
        0.0987662372848,
        0.4438828828915,
        28.4477828123,
        0.3840945518752,
        0.3234548099229,
    ),
    "x1": (
        0.6543623462869,
        0.0714784277071,
        36.0031917475,
        0.2791154338377,
        0.2582982581683,
    ),
    "scale.x2": (
        -0.0642098290015,
        0.0317643589122,
        31.3845450279,
        0.3381046152043,
        0.2961429755318,
    ),
}
# summary(pool(...), conf.int = TRUE): p.value, 2.5 %, 97.5 %
INTERVALS = {
    "1|2": (0.002387275792911, -1.8882967260979, -0.434722708117),
    "3|4": (0.000151497832049, 0.7801745918091, 2.292082635908),
    "x1": (0.022337655624486, 0.0987541827648, 1.204774741857),
    "g[T.b]": (0.573724764005446, -0.8134200895572, 1.424256484121),
}
# pool(..., dfcom = Inf): df, fmi
LARGE = {
    "1|2": (181.4635524888, 0.1750357106307),
    "x1": (80.2449042293, 0.2676465070779),
    "g[T.b]": (31.6194845683, 0.4324540360901),
}


@pytest.fixture(scope="module")
def large():
    return pool(fits("y ~ x1 + x2 + g"))


def figures(pooled):
    rows = zip(
        pooled.params, pooled.se**2, pooled.df, pooled.riv, pooled.fmi, strict=True
    )
    return {
        name: pytest.approx(row, **EXACT)
        for name, row in zip(pooled.params.index, rows, strict=True)
    }


def test_pool(large):
    assert figures(large) == POOLED and large.df_complete == 74


def test_nominal_and_scale_effects():
    pooled = pool(fits("y ~ x1", nominal="~ g", scale="~ x2"))
    assert figures(pooled) == WITH_EFFECTS and pooled.df_complete == 72


def test_intervals_and_p_values(large):
    actual = large.tidy().set_index("term")[["p_value", "conf_low", "conf_high"]]
    for name, row in INTERVALS.items():
        assert actual.loc[name].to_numpy() == pytest.approx(row, **EXACT)


def test_large_samples(large):
    pooled = pool(large.fits, dfcom=np.inf)
    for name, row in LARGE.items():
        assert (pooled.df[name], pooled.fmi[name]) == pytest.approx(row, **EXACT)


# statistic, df1, df2, p.value, riv
# D1(large, small)
D1 = (3.10451661978, 2, 41.8195969749, 0.0553216899888, 0.240625945988)
# mitml::testModels(method = "D1")
D1_LARGE = (3.10451661978, 2, 116.216221676, 0.0485857442679, 0.240625945988)
# the same, imputations 1 to 3: t = 4
D1_THREE = (2.53817517861, 2, 52.8409304766, 0.0886072455314, 0.312806829521)


def numbers(row):
    return row[["F", "df", "df_denom", "p_value", "riv"]].to_numpy(dtype=float)


def test_d1(large):
    assert numbers(large.test("x1 = 0, x2 = 0").loc["joint"]) == pytest.approx(
        D1, **EXACT
    )


def test_without_the_complete_df(large):
    joint = pool(large.fits, dfcom=np.inf).test("x1 = 0, x2 = 0").loc["joint"]
    assert numbers(joint) == pytest.approx(D1_LARGE, **EXACT)


def test_few_imputations(large):
    joint = pool(large.fits[:3], dfcom=np.inf).test("x1 = 0, x2 = 0").loc["joint"]
    assert numbers(joint) == pytest.approx(D1_THREE, **EXACT)


def test_one_hypothesis(large):
    """pool.scalar(Q, U, n = 80, k = 6) of the sum of two coefficients: qbar, t, df,
    r.
    """
    row = large.test("x1 = -x2").iloc[0]
    actual = row["difference"], row["std_error"] ** 2, row["df_denom"], row["riv"]
    assert actual == pytest.approx(
        (0.4540702627898, 0.0919015910366, 53.3586567759634, 0.1382254126477), **EXACT
    )
    assert row["F"] == pytest.approx(0.4540702627898**2 / 0.0919015910366, **EXACT)


def test_two_levels():
    frames = [frame.assign(b=(frame["y"] > 2).astype(int)) for frame in FRAMES]
    joint = pool(fits("b ~ x1 + x2 + g", frames)).test("x1 = 0, x2 = 0").loc["joint"]
    expected = (1.77768648273, 2, 33.0389246146, 0.184817104709, 0.344347768054)
    # glm's default for Fisher scoring leaves covariances of the step before the last
    assert numbers(joint) == pytest.approx(expected, rel=1e-6)


def test_clusters_count_for_the_complete_df():
    frames = [frame.assign(judge=np.arange(80) // 8) for frame in FRAMES]
    pooled = pool(fits("y ~ x1", frames, cluster="judge"))
    assert pooled.df_complete == 9
    robust = [
        ordfit("y ~ x1", frame, cluster="judge").vcov().to_numpy() for frame in frames
    ]
    between = np.cov(np.array([ordfit("y ~ x1", frame).params for frame in frames]).T)
    assert np.allclose(
        pooled.vcov(), np.mean(robust, axis=0) + 7 / 6 * between, rtol=1e-12, atol=0
    )

"""Splines, polynomials, scaling and contrasts against values computed in R 4.2.2
(splines, stats, MASS).
"""

import numpy as np
import pandas as pd
import pytest
from seams import build

from ordstat import SurveyDesign, ordfit
from ordstat.exceptions import DataError, FormulaError
from ordstat.formula.coding import contrast

# R's own Householder and recurrences, other order of sums
CLOSE = {"rtol": 1e-12, "atol": 1e-14}

X = np.arange(25) ** 1.3 / 5
# X spans 0 to 12.45: the first and last lie outside
NEW = np.array([-2, 0.1, 3.7, 9, 12.5, 15])
INSIDE = np.array([0.1, 3.7, 9, 12.3])

FROM_R = {
    "ns(x, df=4)": (
        NEW,
        [
            [
                0.0000000000000000e00,
                2.2434694099885497e-01,
                -6.5135918709401930e-01,
                4.2701224609516436e-01,
            ],
            [
                1.1233717830047247e-05,
                -1.1210760768879606e-02,
                3.2548837031658978e-02,
                -2.1338076262779376e-02,
            ],
            [
                4.3617786059151620e-01,
                -1.1771365755680152e-01,
                4.0538026955675671e-01,
                -2.6575558133811616e-01,
            ],
            [
                1.3785437617920027e-01,
                5.7301254034402449e-01,
                2.3370145964520447e-01,
                5.5431623831570770e-02,
            ],
            [
                0.0000000000000000e00,
                -1.5893931089133420e-01,
                4.2584930933365145e-01,
                7.3309000155768267e-01,
            ],
            [
                0.0000000000000000e00,
                -8.6973636274718535e-01,
                5.5943398799107591e-01,
                1.3103023747561091e00,
            ],
        ],
    ),
    "ns(x, knots=c(2, 7), boundary_knots=c(1, 11), intercept=TRUE)": (
        NEW,
        [
            [
                -1.523111966616389701,
                -0.407562000338020203,
                1.324576501098565506,
                -0.917014500760545581,
            ],
            [
                -0.532416531227323797,
                -0.251856970161511318,
                0.818535153024911755,
                -0.566678182863400548,
            ],
            [
                0.587239302519440454,
                0.157603256030963312,
                0.171829695677147037,
                -0.110560729485888132,
            ],
            [
                0.022065331839653611,
                0.321368079037073706,
                0.327775965351732590,
                0.328633733388971505,
            ],
            [0.0, -0.507518796992481258, 0.524436090225564033, 0.983082706766917003],
            [0.0, -1.127819548872180500, 0.665413533834586346, 1.462406015037593487],
        ],
    ),
    "bs(x, df=5, degree=2)": (
        INSIDE,
        [
            [0.09403260660955437, 0.00096251556948893859, 0, 0, 0],
            [
                0.12136004745615674993,
                0.74019130214274797552,
                0.13844865040109533005,
                0,
                0,
            ],
            [
                0,
                0,
                0.41508460933807755922,
                0.57256103520730738943,
                0.01235435545461497156,
            ],
            [
                0,
                0,
                0.00082390314051596395,
                0.07680845916692960462,
                0.92236763769255447620,
            ],
        ],
    ),
    "bs(x, knots=[3, 5], intercept=True)": (
        INSIDE,
        [
            [
                9.0329629629629604e-01,
                9.4739259259259259e-02,
                1.9590913595481331e-03,
                5.3530848963114810e-06,
                0,
                0,
            ],
            [
                0,
                4.3939999999999979e-02,
                6.9095709194098442e-01,
                2.6318404434803205e-01,
                1.9188637109834289e-03,
                0,
            ],
            [
                0,
                0,
                4.6948759133896012e-02,
                3.2062142447706382e-01,
                4.7789258806826346e-01,
                1.5453722832077665e-01,
            ],
            [
                0,
                0,
                4.1517711770926804e-06,
                9.9149323550264687e-04,
                5.9666715154826654e-02,
                9.3933763983849361e-01,
            ],
        ],
    ),
    "poly(x, 3)": (
        NEW,
        [
            [-0.386936411394655844, 0.746629022844638057, -1.529877069653019506],
            [-0.277854186343994947, 0.294802492571496100, -0.284699587650447616],
            [-0.090856086257147556, -0.158436349209786914, 0.222925020641650790],
            [0.184446672204044343, -0.087073649707143999, -0.260164569503108123],
            [0.366250380621812588, 0.442347226175926977, 0.464567922998753102],
            [0.496110172348789902, 1.055388711331412432, 2.310348431051259421],
        ],
    ),
}


def data(**columns):
    return pd.DataFrame({"y": np.arange(25) % 3, "x": X, **columns})


@pytest.mark.parametrize("term", FROM_R)
def test_bases_of_new_data_are_those_of_r(term):
    new, expected = FROM_R[term]
    rows = build(f"y ~ {term}", data()).spec.rebuild(pd.DataFrame({"x": new})).rows
    np.testing.assert_allclose(rows.X, expected, **CLOSE)


@pytest.mark.parametrize("df", [1, 2, 3, 6])
def test_natural_spline_is_a_straight_line_outside_and_smooth_inside(df):
    spec = build(f"y ~ ns(x, df={df})", data()).spec
    outside = spec.rebuild({"x": [-30.0, -20, -10, 20, 30, 40]}).rows.X
    np.testing.assert_allclose(np.diff(outside[:3], 2, axis=0), 0, atol=1e-11)
    np.testing.assert_allclose(np.diff(outside[3:], 2, axis=0), 0, atol=1e-11)
    step = 1e-4
    grid = X.max() + step * np.arange(-2, 3)
    np.testing.assert_allclose(
        np.diff(spec.rebuild({"x": grid}).rows.X, 2, axis=0) / step**2, 0, atol=1e-3
    )


def test_scale_and_center_keep_the_mean_and_deviation_of_the_fit():
    spec = build(
        "y ~ scale(x) + center(x) + scale(x, center=False) + poly(x, 2, raw=True)",
        data(),
    ).spec
    new = np.array([-1.0, 0.5, 100])
    rms = np.sqrt(np.sum(X**2) / 24)
    expected = np.column_stack(
        [(new - X.mean()) / X.std(ddof=1), new - X.mean(), new / rms, new, new**2]
    )
    np.testing.assert_allclose(spec.rebuild({"x": new}).rows.X, expected, **CLOSE)


@pytest.mark.parametrize(
    ("term", "value"),
    [
        ("I(x^2 + 1)", X**2 + 1),
        ("I(-x^2)", -(X**2)),
        ("I(2^x^0.5)", 2**X**0.5),
        ("log(x + 1, 2)", np.log2(X + 1)),
        ("log(x + 1, base=10)", np.log10(X + 1)),
        ("exp(x / 2)", np.exp(X / 2)),
        ("I(x * (x > 2))", X * (X > 2)),
        ("I(x // 2 + x % 2)", X // 2 + X % 2),
        ("I(sqrt(abs(x - 3)))", np.sqrt(np.abs(X - 3))),
        ("I((x > 2) & (x < 5) | (x == 0))", ((X > 2) & (X < 5)) | (X == 0)),
        ("I(2 < x < 5)", (X > 2) & (X < 5)),
        ("I(g != 'a')", np.arange(25) % 2 == 1),
        ("I(o >= 'mid')", np.arange(25) % 3 > 0),
    ],
)
def test_arithmetic(term, value):
    ordered = pd.Categorical.from_codes(
        np.arange(25) % 3, ["low", "mid", "high"], ordered=True
    )
    frame = data(g=np.where(np.arange(25) % 2, "b", "a"), o=ordered)
    np.testing.assert_allclose(
        build(f"y ~ {term}", frame).sample.X[:, 0], value.astype(float), rtol=1e-15
    )


def test_transforms_are_fitted_to_the_rows_that_are_used():
    holes = data(z=np.where(np.arange(25) % 5, 1.0, np.nan))
    holes.loc[3, "x"] = np.nan
    design = build("y ~ scale(x) + z", holes)
    # a row without z is not fitted; R counts it for the mean of x
    seen = np.delete(X, [0, 3, 5, 10, 15, 20])
    assert design.spec.states["scale(x)"].center == pytest.approx(
        seen.mean(), rel=1e-15
    )
    assert design.sample.n == 19


@pytest.mark.parametrize(
    ("kind", "matrix", "suffixes"),
    [
        (
            "contr.treatment",
            [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],
            ["[T.b]", "[T.c]", "[T.d]"],
        ),
        (
            "Sum",
            [[1, 0, 0], [0, 1, 0], [0, 0, 1], [-1, -1, -1]],
            ["[S.a]", "[S.b]", "[S.c]"],
        ),
        (
            "helmert",
            [[-1, -1, -1], [1, -1, -1], [0, 2, -1], [0, 0, 3]],
            ["[H.b]", "[H.c]", "[H.d]"],
        ),
        (
            "Poly",
            np.array([[-3, 1, -1], [-1, -1, 3], [1, -1, -3], [3, 1, 1]])
            / np.sqrt([20, 4, 20]),
            [".L", ".Q", ".C"],
        ),
        (
            np.array([[1, 0], [0, 1], [0, 0], [2, 3]]),
            [[1, 0], [0, 1], [0, 0], [2, 3]],
            ["[1]", "[2]"],
        ),
    ],
)
def test_contrasts_are_those_of_r(kind, matrix, suffixes):
    actual, names = contrast(kind)(("a", "b", "c", "d"))
    np.testing.assert_allclose(actual, matrix, rtol=1e-14, atol=1e-15)
    assert list(names) == suffixes
    frame = pd.DataFrame({"y": [1, 2, 3, 1], "g": list("abcd")})
    design = build("y ~ g", frame, contrasts={"g": kind})
    np.testing.assert_allclose(design.sample.X, matrix, rtol=1e-14, atol=1e-15)
    assert list(design.names) == [f"g{suffix}" for suffix in suffixes]


TABLE = pd.DataFrame(
    {"low": [0, 1, 0, 2], "high": [0, 0, 1, 3]}, index=list("abcd"), dtype=float
)


@pytest.mark.parametrize(
    "given",
    [TABLE, TABLE.loc[list("dbac")], TABLE.reset_index(drop=True)],
    ids=["in order", "in another order", "without labels"],
)
def test_a_data_frame_of_contrasts_has_a_row_for_the_label_of_each_level(given):
    frame = pd.DataFrame({"y": [1, 2, 3, 1], "g": list("abcd")})
    design = build("y ~ g", frame, contrasts={"g": given})
    np.testing.assert_array_equal(design.sample.X, TABLE.to_numpy())
    assert list(design.names) == ["g[low]", "g[high]"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (TABLE.set_axis(list("abce")), r"must have every level once.*'e'\. Set it to"),
        (TABLE.set_axis(list("abcc")), "must have every level once"),
        (TABLE.set_axis(["x", "x"], axis=1), "must have different names"),
    ],
)
def test_a_data_frame_of_contrasts_that_does_not_fit(given, message):
    frame = pd.DataFrame({"y": [1, 2, 3, 1], "g": list("abcd")})
    with pytest.raises(FormulaError, match=message):
        build("y ~ g", frame, contrasts={"g": given})


@pytest.mark.parametrize(
    ("term", "error", "message"),
    [
        (
            "log(x - 1)",
            DataError,
            r"'log\(x - 1\)' is not finite in row 0 \(such rows: 4\)",
        ),
        ("scale(one)", DataError, "values that differ"),
        ("ns(one, df=2)", DataError, "values that differ"),
        ("ns(x, df=0)", FormulaError, "df must be a whole number from 1 to 26; got 0"),
        (
            "ns(x, dff=3)",
            FormulaError,
            "unexpected keyword argument 'dff'; the arguments are \\(x, df=None",
        ),
        ("ns(x, knots=99)", FormulaError, "must lie inside"),
        ("ns(x, knots='a')", FormulaError, "could not convert string to float"),
        (
            "poly(x, 25)",
            FormulaError,
            "degree must be a whole number from 1 to 24; got 25",
        ),
        ("bs(x, boundary_knots=c(1, 2))", DataError, "Use ns"),
        ("C(g, Foo)", FormulaError, "'Foo' is not a known contrast"),
        ("C(g, Treatment('zz'))", FormulaError, "base level 'zz'"),
        ("I(g + 1)", FormulaError, "'g' is not numeric"),
        ("log(C(lost))", FormulaError, "is a factor of 0 levels"),
        ("I(g == 'zz')", FormulaError, "one of its levels"),
        ("I(x & x < 2)", FormulaError, "'x' must be true or false in every row"),
        ("factor(one)", DataError, "one level only"),
        ("lgo(x)", FormulaError, "did you mean 'log'"),
        ("agee", DataError, "no column 'agee'.*did you mean 'age'"),
        ("2:x", FormulaError, "multiplies a term by a number"),
        ("y", FormulaError, "is also on the right"),
        ("x +", FormulaError, "Cannot read the formula"),
        ("x | g", FormulaError, r"\(1 \| group\)"),
        ("log(x", FormulaError, "Cannot read the formula"),
        ("offset(x):g", FormulaError, "An offset must stand alone"),
    ],
)
def test_what_cannot_be_done_says_so(term, error, message):
    with pytest.raises(error, match=message):
        build(
            f"y ~ {term}", data(one=1.0, lost=np.nan, g=["a", "b"] * 12 + ["a"], age=X)
        )


def test_bsplines_refuse_values_outside_at_prediction():
    spec = build("y ~ bs(x, df=5)", data()).spec
    with pytest.raises(DataError, match=r"outside, such as 99"):
        spec.rebuild({"x": [1.0, 99]})


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.longdouble, ">f8", ">f4"])
@pytest.mark.parametrize(
    "term", ["log(a)", "I(a * a)", "ns(a, df=3)", "scale(a)", "-a", "I(a^3)"]
)
def test_columns_of_any_float_are_transformed_in_double_precision(dtype, term):
    """300 squared overflows in float16, whose logarithm has three digits."""
    a = np.random.default_rng(3).integers(100, 300, 60).astype(dtype)
    data = pd.DataFrame({"y": np.arange(60) % 3, "a": a})
    wide = data.assign(a=a.astype(float))
    made, expected = (
        build(f"y ~ {term}", each, offset="log(a)", weights="a * a")
        for each in (data, wide)
    )
    np.testing.assert_array_equal(made.sample.X, expected.sample.X)
    np.testing.assert_array_equal(made.sample.rows.offset, np.log(a.astype(float)))
    np.testing.assert_array_equal(made.sample.weights, a.astype(float) ** 2)
    np.testing.assert_array_equal(made.spec.rebuild(data).rows.X, expected.sample.X)


@pytest.mark.parametrize("dtype", [np.float16, ">i4", ">f8"])
def test_labels_and_factors_of_any_number(dtype):
    codes = np.arange(12) % 3
    data = pd.DataFrame(
        {
            "y": codes.astype(dtype),
            "g": (codes[::-1] + 1).astype(dtype),
            "x": np.arange(12) % 5,
        }
    )
    design = build("y ~ C(g) + x", data)
    assert (
        design.levels.values == (0, 1, 2) and design.sample.y.tolist() == codes.tolist()
    )
    assert design.names == ("C(g)[T.2]", "C(g)[T.3]", "x")


def test_contr_sas_leaves_out_the_last_level():
    data = pd.DataFrame({"y": np.arange(9) % 3, "g": list("abcbcacab")})
    design = build("y ~ g", data, contrasts={"g": "contr.SAS"})
    assert design.names == ("g[T.a]", "g[T.b]")
    np.testing.assert_array_equal(
        design.sample.X, [[g == "a", g == "b"] for g in data["g"]]
    )


def test_dates_are_told_how_to_become_numbers():
    data = pd.DataFrame(
        {"y": np.arange(9) % 3, "day": pd.date_range("2020-01-01", periods=9)}
    )
    with pytest.raises(DataError, match=r"\.min\(\)\)\.dt\.days"):
        build("y ~ day", data)


SHAPED = [
    "scale(x)",
    "center(x)",
    "scale(x, center=False)",
    "scale(center(x) * 2)",
    "poly(x, 3)",
    "ns(x, df=4)",
    "bs(x, df=5)",
    "bs(x, df=5, degree=2, boundary_knots=[-90, 90])",
    "ns(scale(x), df=3)",
    "scale(x) * g",
]
NEW_ROWS = pd.DataFrame(
    {"x": [-0.4, 0.1, 0.9], "g": ["a", "b", "a"], "z": [0.5, -1.0, 0.0]}
)


def _people(seed, ties):
    """Rows whose last 30, to be left out, lie far from the others, with whole
    weights.
    """
    rng = np.random.default_rng(seed)
    x = rng.normal(size=150)
    x[-30:] = 5 + 20 * x[-30:] ** 2
    frame = pd.DataFrame(
        {"x": np.round(x, 1) if ties else x, "g": rng.choice(["a", "b"], 150)}
    )
    frame["z"] = rng.normal(size=150)
    frame["y"] = np.digitize(
        np.tanh(frame.x) + frame.z + rng.logistic(size=150), [-1, 0.3, 1.5]
    )
    frame["w"] = rng.integers(1, 4, 150)
    return frame


def _assert_same_fit(fit, other, new=NEW_ROWS):
    np.testing.assert_allclose(fit.params, other.params, rtol=1e-6, atol=1e-7)
    assert fit.loglik == pytest.approx(other.loglik, rel=1e-10)
    np.testing.assert_allclose(fit.predict(new), other.predict(new), rtol=1e-7)


@pytest.mark.parametrize(("seed", "ties"), [(1, False), (2, True)])
@pytest.mark.parametrize("term", SHAPED)
@pytest.mark.filterwarnings("ignore:weights= are counts of equal rows")
def test_a_weight_of_2_is_two_rows_and_a_weight_of_0_none(term, seed, ties):
    frame = _people(seed, ties)
    frame.loc[120:, "w"] = 0
    repeated = frame.loc[frame.index.repeat(frame.w)].reset_index(drop=True)
    _assert_same_fit(
        ordfit(f"y ~ {term} + z", frame, weights="w"),
        ordfit(f"y ~ {term} + z", repeated),
    )


@pytest.mark.parametrize(("seed", "ties"), [(3, False), (4, True)])
@pytest.mark.parametrize("lost", ["y", "z"])
@pytest.mark.parametrize("term", SHAPED)
@pytest.mark.filterwarnings("ignore:30 of 150 rows left out")
def test_rows_left_out_for_a_missing_value_do_not_shape_columns(term, lost, seed, ties):
    frame = _people(seed, ties)
    complete = frame.iloc[:120]
    holes = frame.assign(**{lost: frame[lost].where(frame.index < 120)})
    _assert_same_fit(
        ordfit(f"y ~ {term} + z", holes), ordfit(f"y ~ {term} + z", complete)
    )


@pytest.mark.parametrize(
    ("formula", "sides"),
    [
        ("y ~ z + offset(0.1 * scale(x))", {}),
        ("y ~ z", {"nominal": "~ scale(x)"}),
        ("y ~ z", {"scale": "~ poly(x, 2)"}),
        ("y ~ z", {"scale": "~ z + offset(0.1 * scale(x))"}),
    ],
)
@pytest.mark.filterwarnings("ignore:weights= are counts of equal rows")
def test_rows_shape_the_columns_of_every_side_alike(formula, sides):
    frame = _people(5, ties=True)
    frame.loc[120:, "w"] = 0
    repeated = frame.loc[frame.index.repeat(frame.w)].reset_index(drop=True)
    _assert_same_fit(
        ordfit(formula, frame, weights="w", **sides), ordfit(formula, repeated, **sides)
    )


@pytest.mark.parametrize("method", ["ordboost", "red-logistic", "svor-imc"])
@pytest.mark.filterwarnings("ignore:weights= are counts of equal rows")
def test_columns_are_made_alike_for_every_method(method):
    frame = _people(6, ties=False)
    frame.loc[120:, "w"] = 0
    repeated = frame.loc[frame.index.repeat(frame.w)]
    here = ordfit("y ~ scale(x) + ns(z, df=3)", frame, method, weights="w").design.spec
    there = ordfit("y ~ scale(x) + ns(z, df=3)", repeated, method).design.spec
    np.testing.assert_allclose(
        here.rebuild(NEW_ROWS).rows.X, there.rebuild(NEW_ROWS).rows.X, rtol=1e-12
    )


@pytest.mark.parametrize("seed", range(5))
def test_knots_are_the_quantiles_of_repeated_rows(seed):
    rng = np.random.default_rng(seed)
    x = np.round(rng.normal(size=60), seed)
    weights = rng.integers(0, 5, 60)
    frame = pd.DataFrame({"x": x, "y": np.arange(60) % 3})
    states = build("y ~ ns(x, df=6)", frame, weights=weights).spec.states
    expected = np.quantile(np.repeat(x, weights), np.arange(1, 6) / 6)
    np.testing.assert_allclose(states["ns(x, df=6)"].knots, expected, rtol=1e-12)
    assert states["ns(x, df=6)"].boundary == (
        x[weights > 0].min(),
        x[weights > 0].max(),
    )


def test_weights_that_are_not_whole_divide_by_their_sum_minus_1():
    weights = np.array([0.5, 2.5, 1.25, 0.25, 3.0])
    frame = pd.DataFrame({"x": [1.0, 4.0, 2.0, 8.0, 5.0], "y": [1, 2, 3, 2, 1]})
    state = build("y ~ scale(x)", frame, weights=weights).spec.states["scale(x)"]
    mean = (0.5 * 1 + 2.5 * 4 + 1.25 * 2 + 0.25 * 8 + 3 * 5) / 7.5
    assert state.center == pytest.approx(mean, rel=1e-14)
    assert state.scale == pytest.approx(
        np.sqrt(np.sum(weights * (frame.x - mean) ** 2) / 6.5), rel=1e-14
    )


@pytest.mark.parametrize("term", ["scale(x)", "ns(x, df=3)"])
def test_weights_of_one_row_in_all_are_refused(term):
    with pytest.raises(
        DataError, match=r"must sum to more than 1; got 1\. Give weights="
    ):
        build(f"y ~ {term}", data(), weights=np.full(25, 1 / 25))


def test_only_ratios_of_survey_weights_shape_columns():
    frame = _people(7, ties=False)
    frame["share"] = frame.w / frame.w.sum()
    frame["mean1"] = frame.w / frame.w.mean()
    formula = "y ~ ns(x, df=3) + scale(z)"
    people = build(formula, frame, design=SurveyDesign(weights="w")).sample.X
    shares = build(formula, frame, design=SurveyDesign(weights="share")).sample.X
    np.testing.assert_allclose(
        people, build(formula, frame, weights="mean1").sample.X, rtol=1e-10
    )
    np.testing.assert_allclose(people, shares, rtol=1e-10)


def test_new_rows_without_a_value_are_not_transformed():
    fit = ordfit("y ~ bs(x, df=4) + z", _people(8, ties=False).iloc[:120])
    new = pd.DataFrame({"x": [0.0, 99.0], "z": [1.0, np.nan]})
    probabilities = fit.predict(new, type="prob")
    assert probabilities.isna().all(axis=1).tolist() == [False, True]

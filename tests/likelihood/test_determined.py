"""What the data determine: predictions, contrasts and tests where estimates are
infinite or columns aliased.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from expected import aliased, infinite, no_maximum
from scipy.optimize import linprog, minimize, nnls
from scipy.special import expit, ndtr

from ordstat import OrdinalClassifier, SeparationWarning, ordfit
from ordstat.exceptions import DataWarning

LINKS = ["logit", "probit", "cloglog", "loglog", "cauchit"]
quiet = pytest.mark.filterwarnings("ignore::ordstat.exceptions.OrdstatWarning")


def table(counts: dict[str, list[int]]) -> pd.DataFrame:
    """A row for each case of a table: counts of the levels of every group."""
    groups = [
        pd.DataFrame({"g": g, "y": np.repeat(range(len(n)), n)})
        for g, n in counts.items()
    ]
    return pd.concat(groups, ignore_index=True)


# Shift and spread that grow together


ENDS_ONLY = [
    {"A": [6, 8, 6], "B": [9, 0, 11]},
    {"A": [5, 9, 7, 4], "B": [6, 0, 0, 10]},
    {"A": [8, 3, 9], "B": [15, 0, 4]},
]


@pytest.mark.parametrize("link", LINKS[:-1])
@pytest.mark.parametrize("counts", ENDS_ONLY)
def test_a_group_at_the_ends_of_the_scale_has_no_spread(
    link: str, counts: dict[str, list[int]]
) -> None:
    """Its probabilities are its shares, with their binomial errors, and the thresholds
    are those of the other group.
    """
    data = table(counts)
    with no_maximum("g[T.B]", "scale.g[T.B]"):
        fit = ordfit("y ~ g", data, link=link, scale="~ g")
    assert not fit.certificate.reached
    assert fit.se[["g[T.B]", "scale.g[T.B]"]].isna().all()
    alone = ordfit("y ~ 1", data[data["g"] == "A"], link=link)
    np.testing.assert_allclose(fit.params[alone.params.index], alone.params, rtol=1e-4)
    np.testing.assert_allclose(fit.se[alone.se.index], alone.se, rtol=1e-4)
    shares = np.array(counts["B"]) / sum(counts["B"])
    saturated = (
        alone.loglik
        + (np.array(counts["B"]) * np.log(np.where(shares > 0, shares, 1.0))).sum()
    )
    assert fit.loglik == pytest.approx(saturated, abs=1e-9)
    predicted = fit.predict(pd.DataFrame({"g": ["B"]}), type="prob", se=True)
    np.testing.assert_allclose(predicted["estimate"].to_numpy()[0], shares, atol=1e-4)
    errors = np.sqrt(shares * (1.0 - shares) / sum(counts["B"]))
    np.testing.assert_allclose(
        predicted["std_error"].to_numpy()[0], errors, rtol=1e-3, atol=1e-4
    )


@pytest.mark.parametrize("link", ["logit", "probit", "cloglog", "loglog"])
@pytest.mark.parametrize("counts", ENDS_ONLY)
def test_such_a_group_as_reference_level_gives_the_same_answers(
    link: str, counts: dict[str, list[int]]
) -> None:
    """All thresholds meet where the group is divided, and the spread of the other group
    goes to 0 with them.
    """
    data = table({"A": counts["B"], "B": counts["A"]})
    with no_maximum():
        fit = ordfit("y ~ g", data, link=link, scale="~ g")
    assert np.isnan(fit.se["scale.g[T.B]"])
    predicted = fit.predict(pd.DataFrame({"g": ["A", "B"]}), type="prob", se=True)
    shares = np.array([counts["B"], counts["A"]]) / [
        [sum(counts["B"])],
        [sum(counts["A"])],
    ]
    errors = np.sqrt(shares * (1.0 - shares) / [[sum(counts["B"])], [sum(counts["A"])]])
    np.testing.assert_allclose(predicted["estimate"], shares, atol=1e-4)
    if (
        predicted["std_error"].notna().all(axis=None)
    ):  # not where the search stopped short of its limit
        np.testing.assert_allclose(predicted["std_error"], errors, rtol=1e-2, atol=1e-3)


SEVERAL = [
    {"A": [9, 0, 11], "B": [7, 8, 5], "C": [5, 9, 4]},
    {"A": [9, 0, 11], "B": [7, 8, 5], "C": [5, 9, 4], "D": [4, 6, 8]},
    {"A": [12, 0, 7], "B": [10, 14, 9], "C": [13, 8, 6]},
]


@pytest.mark.parametrize("link", ["logit", "probit", "cloglog", "loglog"])
@pytest.mark.parametrize("counts", SEVERAL, ids=str)
def test_spreads_beside_such_a_reference_level_keep_their_ratios(
    link: str, counts: dict[str, list[int]]
) -> None:
    """The model is saturated but for the first group: probabilities are shares, with
    their binomial errors.
    """
    with no_maximum():
        fit = ordfit("y ~ g", table(counts), link=link, scale="~ g")
    predicted = fit.predict(pd.DataFrame({"g": list(counts)}), type="prob", se=True)
    totals = np.array([sum(n) for n in counts.values()])[:, None]
    shares = np.array(list(counts.values())) / totals
    np.testing.assert_allclose(predicted["estimate"], shares, atol=1e-4)
    errors = np.sqrt(shares * (1.0 - shares) / totals)
    known = predicted["std_error"].notna().all(axis=1).to_numpy()
    assert known.all() or (
        not known.any() and fit.se.isna().all()
    )  # the search stopped short of its limit
    np.testing.assert_allclose(
        predicted["std_error"][known], errors[known], rtol=1e-3, atol=1e-4
    )
    if known.all():  # a ratio of spreads is that of the fit without the first group
        rest = ordfit(
            "y ~ g",
            table({g: n for g, n in counts.items() if g != "A"}),
            link=link,
            scale="~ g",
        )
        ratio = fit.test("scale.g[T.C] = scale.g[T.B]")
        assert ratio["difference"].iloc[0] == pytest.approx(
            rest.params["scale.g[T.C]"], rel=1e-3
        )
        assert ratio["std_error"].iloc[0] == pytest.approx(
            rest.se["scale.g[T.C]"], rel=1e-3
        )


def test_a_search_that_ends_on_a_plain_goes_on_to_the_limit() -> None:
    """Group B starts so wide that its shift no longer matters; it has 6 and 10 of its
    rows at the ends.
    """
    data = table(ENDS_ONLY[1])
    on_the_plain = (-1.376, 0.191, 1.819, 6.33, 24.6)
    with no_maximum("g[T.B]", "scale.g[T.B]"):
        fit = ordfit("y ~ g", data, link="cauchit", scale="~ g", start=on_the_plain)
    assert fit.se[["g[T.B]", "scale.g[T.B]"]].isna().all()
    predicted = fit.predict(pd.DataFrame({"g": ["B"]}), type="prob").to_numpy()[0]
    np.testing.assert_allclose(predicted, [0.375, 0.0, 0.0, 0.625], atol=1e-4)


def test_the_search_does_not_end_on_a_plain_where_a_way_without_end_is_higher() -> None:
    """Levels 0 and 3 of group B have 6 and 10 of its 16 rows; group A has 5,
    9, 7, 4.
    """
    with no_maximum("g[T.B]", "scale.g[T.B]"):
        fit = ordfit("y ~ g", table(ENDS_ONLY[1]), link="cauchit", scale="~ g")
    predicted = fit.predict(pd.DataFrame({"g": ["B"]}), type="prob").to_numpy()[0]
    np.testing.assert_allclose(predicted, [0.375, 0.0, 0.0, 0.625], atol=1e-5)
    counts = np.array([5, 9, 7, 4, 6, 10])
    rows = np.array([25, 25, 25, 25, 16, 16])
    assert fit.loglik == pytest.approx((counts * np.log(counts / rows)).sum(), abs=1e-4)


@quiet
def test_no_scale_test_of_a_group_at_the_ends() -> None:
    tests = ordfit("y ~ g", table(ENDS_ONLY[0])).scale_test()
    assert np.isnan(tests.loc["g", "p_value"]) and "no maximum" in " ".join(
        tests.attrs["notes"]
    )


# Rows outside the row space of the training columns


def work() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    data = pd.DataFrame(
        {"years": rng.integers(1, 30, 200).astype(float), "x": rng.normal(size=200)}
    )
    data["months"] = 12.0 * data["years"]
    data["y"] = np.digitize(
        data["x"] + 0.05 * data["years"] + rng.logistic(size=200), [0.0, 1.5]
    )
    return data


NEW = pd.DataFrame(
    {"years": [5.0, 5.0, 7.0], "months": [60.0, 72.0, 84.0], "x": [0.0, 0.0, 1.0]}
)


@pytest.mark.filterwarnings(
    "ignore:aliased with earlier columns:ordstat.exceptions.DataWarning"
)
@pytest.mark.parametrize(
    "type", ["class", "prob", "cum_prob", "score", "linear_predictor", "mean"]
)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"method": "acat"},
        {"method": "sratio"},
        {"link": "probit", "nominal": "~ x"},
    ],
    ids=str,
)
def test_a_row_that_breaks_the_relation_of_two_columns_has_no_prediction(
    type: str, options: dict
) -> None:
    data = work()
    formula = "y ~ {} + {}" + (" + x" if "nominal" not in options else "")
    fit = ordfit(formula.format("years", "months"), data, **options)
    other = ordfit(formula.format("months", "years"), data, **options)
    with pytest.warns(
        DataWarning,
        match=r"1 of 3 rows of newdata \(rows 1\) have no prediction \(NA\)",
    ):
        predicted = pd.DataFrame(fit.predict(NEW, type=type))
    with pytest.warns(DataWarning, match="did not estimate"):
        swapped = pd.DataFrame(other.predict(NEW, type=type))
    assert predicted.isna().all(axis=1).tolist() == [False, True, False]
    without = pd.DataFrame(
        ordfit(formula.format("years", "1"), data, **options).predict(NEW, type=type)
    )
    for actual in (predicted, swapped):
        if type == "class":
            assert actual.iloc[[0, 2], 0].tolist() == without.iloc[[0, 2], 0].tolist()
        else:
            np.testing.assert_allclose(
                actual.iloc[[0, 2]], without.iloc[[0, 2]], rtol=1e-9
            )


@quiet
def test_augment_errors_and_intervals_leave_such_rows_out() -> None:
    fit = ordfit("y ~ years + months + x", work())
    added = fit.augment(NEW)
    assert added.filter(regex=r"^\.").isna().all(axis=1).tolist() == [
        False,
        True,
        False,
    ]
    limits = fit.predict(NEW, type="prob", se=True, interval="confidence")
    assert limits.isna().all(axis=1).tolist() == [False, True, False]
    labelled = NEW.assign(y=[0, 1, 2])
    expected = ordfit("y ~ years + x", work()).errors(labelled.iloc[[0, 2]])
    pd.testing.assert_series_equal(
        fit.errors(labelled).iloc[:, -1], expected.iloc[:, -1], check_names=False
    )


@quiet
@pytest.mark.parametrize(
    ("formula", "new"),
    [
        ("y ~ region/town", {"region": ["n", "n"], "town": ["t1", "t3"]}),
        ("y ~ sex * job", {"sex": ["f", "m"], "job": ["b", "c"]}),
        ("y ~ x + flag", {"x": [0.1, 0.1], "flag": [0.0, 1.0]}),
    ],
)
def test_nested_factors_empty_cells_and_a_flag_that_was_never_set(
    formula: str, new: dict[str, list]
) -> None:
    """The first row is like those of the fit, the second none that the fit could tell
    of.
    """
    rng = np.random.default_rng(5)
    n = 240
    data = pd.DataFrame(
        {
            "town": rng.choice(["t1", "t2", "t3", "t4"], n),
            "sex": rng.choice(["f", "m"], n),
        }
    )
    data["region"] = np.where(data["town"].isin(["t1", "t2"]), "n", "s")
    data["job"] = np.where(
        data["sex"] == "f", rng.choice(list("abc"), n), rng.choice(list("ab"), n)
    )
    data["x"] = rng.normal(size=n)
    data["flag"] = 0.0
    data["y"] = rng.integers(0, 3, n)
    fit = ordfit(formula, data)
    predicted = fit.predict(pd.DataFrame(new), type="prob")
    assert predicted.notna().all(axis=1).tolist() == [True, False]
    assert fit.predict(data, type="prob").notna().all(axis=None)


@quiet
def test_rows_of_weight_0_do_not_break_the_relation_of_the_columns() -> None:
    data = work().assign(w=1.0)
    odd = data.head(1).assign(months=0.0, w=0.0)
    fit = ordfit("y ~ years + months + x", pd.concat([data, odd]), weights="w")
    assert fit.predict(NEW, type="mean").isna().tolist() == [False, True, False]


@quiet
def test_an_aliased_scale_column() -> None:
    data = work()
    fit = ordfit("y ~ x", data, scale="~ years + months")
    assert fit.predict(NEW, type="mean").isna().tolist() == [False, True, False]


def test_the_classifier_says_so_and_predicts_all_the_same() -> None:
    data = work()
    columns = ["years", "months", "x"]
    with aliased():
        model = OrdinalClassifier("logit").fit(data[columns], data["y"])
    with pytest.warns(
        DataWarning, match="do not determine the predictions of 1 of 3 rows of X"
    ):
        probabilities = model.predict_proba(NEW[columns])
    assert np.isfinite(probabilities).all()


# Separation


def separated(seed: int, level: int) -> pd.DataFrame:
    """Everybody of group a gives the same answer; the others answer by x and their
    group.
    """
    rng = np.random.default_rng(seed)
    data = pd.DataFrame({"g": rng.choice(list("abcd"), 200), "x": rng.normal(size=200)})
    data["y"] = np.digitize(
        data["x"] + 0.8 * (data["g"] == "c") + rng.logistic(size=200), [-1.0, 0.5]
    )
    data.loc[data["g"] == "a", "y"] = level
    return data


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize(("seed", "level"), [(3, 2), (4, 0), (8, 2)])
def test_a_separated_reference_level_leaves_the_others_as_if_its_rows_were_left_out(
    link: str, seed: int, level: int
) -> None:
    data = separated(seed, level)
    with pytest.warns(
        SeparationWarning, match=r"differences between the coefficients of g are finite"
    ):
        fit = ordfit("y ~ g + x", data, link=link)
    left = ordfit("y ~ g + x", data[data["g"] != "a"], link=link)
    assert fit.loglik == pytest.approx(left.loglik, abs=1e-4)
    assert fit.params["x"] == pytest.approx(left.params["x"], rel=1e-8)
    assert fit.se["x"] == pytest.approx(left.se["x"], rel=1e-7)
    actual = fit.test("g[T.c] = g[T.b], g[T.d] = g[T.b]")
    expected = left.test("g[T.c] = 0, g[T.d] = 0")
    np.testing.assert_allclose(
        actual.to_numpy(dtype=float), expected.to_numpy(dtype=float), rtol=1e-6
    )
    new = pd.DataFrame({"g": ["b", "c", "d"], "x": [0.0, 1.0, -2.0]})
    for type in ("prob", "cum_prob", "mean", "linear_predictor"):
        one = fit.predict(new, type=type, se=True, interval="confidence")
        other = left.predict(new, type=type, se=True, interval="confidence")
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-12)


@quiet
@pytest.mark.parametrize("link", ["logit", "cloglog"])
def test_contrasts_means_and_effects_beside_a_separated_reference_level(
    link: str,
) -> None:
    data = separated(3, 2)
    fit = ordfit("y ~ g + x", data, link=link)
    left = ordfit("y ~ g + x", data[data["g"] != "a"], link=link)
    numbers = ["estimate", "std_error", "statistic"]
    actual = fit.emmeans("g").contrasts().set_index("contrast")
    expected = left.emmeans("g").contrasts().set_index("contrast")
    np.testing.assert_allclose(
        actual.loc[expected.index, numbers], expected[numbers], rtol=1e-7
    )
    assert np.isposinf(actual.loc[["a - b", "a - c", "a - d"], "estimate"]).all()
    one = fit.emmeans("g", scale="prob", at={"x": 0.3}).frame
    other = left.emmeans("g", scale="prob", at={"x": 0.3}).frame
    np.testing.assert_allclose(
        one[one["g"] != "a"].iloc[:, 2:], other.iloc[:, 2:], rtol=1e-6
    )
    effects = fit.marginal_effects("x").frame[["estimate", "std_error"]]
    share = (data["g"] != "a").mean()
    np.testing.assert_allclose(
        effects,
        share * left.marginal_effects("x").frame[["estimate", "std_error"]],
        rtol=1e-6,
    )
    joint = fit.joint_tests().set_index("term")
    assert joint.loc["g", "df"] == 2
    reference = left.joint_tests().set_index("term")
    np.testing.assert_allclose(joint["chisq"], reference["chisq"], rtol=1e-7)


@quiet
def test_another_reference_level_gives_the_same_answers() -> None:
    data = separated(3, 2)
    fit = ordfit("y ~ g + x", data)
    other = ordfit("y ~ g + x", data, levels=None, contrasts={"g": "sum"})
    new = pd.DataFrame({"g": list("abcd"), "x": [0.0, 0.5, 1.0, -2.0]})
    for type in ("class", "prob", "linear_predictor", "mean"):
        pd.testing.assert_frame_equal(
            pd.DataFrame(fit.predict(new, type=type)),
            pd.DataFrame(other.predict(new, type=type)),
            rtol=1e-6,
        )


@pytest.mark.parametrize("link", ["logit", "probit"])
@pytest.mark.parametrize("seed", range(6))
def test_complete_separation_determines_nothing_but_what_every_direction_agrees_on(
    link: str, seed: int
) -> None:
    """A new row is certain where all separating lines agree, and otherwise has no
    prediction.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(24, 2))
    y = (X @ [1.0, 0.5] > 0.1).astype(int)
    data = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y})
    with pytest.warns(SeparationWarning):
        fit = ordfit("y ~ a + b", data, link=link)
    assert fit.se.isna().all()
    new = pd.DataFrame(rng.normal(size=(40, 2)) * 2.0, columns=["a", "b"])
    with pytest.warns(DataWarning, match="do not determine"):
        predicted = fit.predict(new, type="prob")[1].to_numpy()
    sides = np.where(y == 1, 1.0, -1.0)[:, None] * np.column_stack([-np.ones(24), X])
    for row, probability in zip(new.to_numpy(), predicted, strict=True):
        line = np.append(-1.0, row)
        ends = [
            linprog(sign * line, A_ub=-sides, b_ub=-np.ones(24), bounds=(None, None))
            for sign in (1.0, -1.0)
        ]
        above = ends[0].status == 0 and ends[0].fun >= 0.0
        below = ends[1].status == 0 and ends[1].fun >= 0.0
        expected = 1.0 if above else 0.0 if below else np.nan
        np.testing.assert_allclose(probability, expected, atol=1e-5)


@quiet
def test_a_joint_test_is_that_of_the_finite_part() -> None:
    data = separated(3, 2)
    fit = ordfit("y ~ g + x", data)
    left = ordfit("y ~ g + x", data[data["g"] != "a"])
    tested = fit.test("g")
    assert tested.loc["joint", "df"] == 2
    assert tested.loc["joint", "chisq"] == pytest.approx(
        left.test("g").loc["joint", "chisq"], rel=1e-8
    )
    assert "2 of 3 hypotheses are tested" in str(tested)


@quiet
@pytest.mark.parametrize("nominal", [False, True])
def test_adjacent_categories_with_a_separated_group(nominal: bool) -> None:
    data = separated(3, 2)
    options = {"nominal": "~ g"} if nominal else {}
    formula = "y ~ x" if nominal else "y ~ g + x"
    fit = ordfit(formula, data, "acat", **options)
    left = ordfit(formula, data[data["g"] != "a"], "acat", **options)
    new = pd.DataFrame({"g": ["b", "c"], "x": [0.0, 1.0]})
    for type in ("prob", "mean"):
        np.testing.assert_allclose(
            fit.predict(new, type=type, se=True),
            left.predict(new, type=type, se=True),
            rtol=1e-6,
        )
    certain = fit.predict(pd.DataFrame({"g": ["a"], "x": [0.4]}), type="prob", se=True)
    np.testing.assert_allclose(
        certain["estimate"].to_numpy()[0], [0.0, 0.0, 1.0], atol=1e-12
    )
    assert certain["std_error"].isna().all(axis=None)


@quiet
def test_random_effects_beside_a_separated_reference_level() -> None:
    """The rows of group a are certain whatever their random effect is."""
    data = separated(3, 2).assign(who=np.arange(200) % 12)
    fit = ordfit("y ~ g + x + (1 | who)", data)
    left = ordfit("y ~ g + x + (1 | who)", data[data["g"] != "a"])
    actual = fit.test("g[T.c] = g[T.b]")
    expected = left.test("g[T.c] = 0")
    np.testing.assert_allclose(
        actual.to_numpy(dtype=float), expected.to_numpy(dtype=float), rtol=1e-3
    )
    np.testing.assert_allclose(fit.se["x"], left.se["x"], rtol=1e-4)
    new = pd.DataFrame({"g": ["c", "d"], "x": [0.0, 1.0], "who": [99, 99]})
    one = fit.predict(new, type="prob", re="marginal", se=True)
    other = left.predict(new, type="prob", re="marginal", se=True)
    np.testing.assert_allclose(one, other, rtol=1e-3)


def limits_one_by_one(determined, functions: np.ndarray) -> np.ndarray:
    """The limits of functions, each by one least squares problem over all ends."""
    limits = np.zeros(len(functions))
    for place, function in enumerate(functions):
        part = function @ determined.moves
        rounding = 1e-8 * np.abs(function) @ determined.sizes
        part = np.where(np.abs(part) <= rounding, 0.0, part)
        if not part.any():
            continue
        part /= np.linalg.norm(part)
        sign = np.sign(part @ determined.inside)
        outside = sign == 0 or nnls(determined.slopes.T, sign * part)[1] > 1e-7
        limits[place] = np.nan if outside else sign * np.inf
    return limits


@pytest.mark.parametrize("columns", [1, 3, 6])
@pytest.mark.parametrize("n", [40, 600])
def test_many_rows_of_a_separated_fit_have_the_limits_of_one_row(
    columns: int, n: int
) -> None:
    rng = np.random.default_rng(n + columns)
    frame = pd.DataFrame(
        rng.normal(size=(n, columns)), columns=[f"x{j}" for j in range(columns)]
    )
    H = frame.to_numpy() @ np.arange(1, columns + 1)
    frame["y"] = np.digitize(H, np.quantile(H, [0.3, 0.7]))
    with pytest.warns(SeparationWarning):
        fit = ordfit("y ~ .", frame).fit
    assert fit.determined is not None
    # Predictors of new rows, and sums of ends of the rows with a disturbance.
    new = 2.0 * rng.normal(size=(200, columns))
    thresholds = np.eye(2)[rng.integers(0, 2, 200)]
    rows = np.hstack([thresholds, -new])
    slopes = fit.determined.slopes
    sums = np.einsum(
        "jkr,jk->jr",
        slopes[rng.integers(0, len(slopes), (200, 3))],
        rng.uniform(size=(200, 3)),
    )
    disturbed = sums + rng.normal(size=sums.shape) * rng.choice(
        [0.0, 0.1, 0.5], (200, 1)
    )
    functions = np.vstack([rows, disturbed @ np.linalg.pinv(fit.determined.moves)])
    expected = limits_one_by_one(fit.determined, functions)
    np.testing.assert_array_equal(fit.determined.limits(functions), expected)
    assert np.isposinf(expected).any()
    assert np.isneginf(expected).any()
    assert n > 40 or columns == 1 or np.isnan(expected).any()


# Thresholds beside which a nominal effect has no rows


@pytest.mark.filterwarnings("ignore:nominal effects put:ordstat.exceptions.DataWarning")
@pytest.mark.parametrize(("link", "cdf"), [("logit", expit), ("probit", ndtr)])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_nominal_effect_without_rows_beside_a_threshold_has_no_estimate_there(
    link, cdf, seed
) -> None:
    """Group a gave level 1 alone, at x of both signs: its slope at 1|2 is finite, and
    no row tells of the others.

    The others are those of the model without the two slopes, maximised by SciPy.
    """
    rng = np.random.default_rng(seed)
    data = pd.DataFrame({"x": rng.normal(size=90), "g": "b"})
    data["y"] = (
        np.digitize(0.5 * data["x"] + rng.logistic(size=90), [-1.0, 0.0, 1.0]) + 1
    )
    data = pd.concat(
        [data, pd.DataFrame({"x": [0.4, -0.9], "g": "a", "y": 1})], ignore_index=True
    )
    with infinite("2|3.g[a]:x to any value", "3|4.g[a]:x to any value"):
        fit = ordfit("y ~ 1", data, link=link, nominal="~ g:x")
    in_b = (data["g"] == "b").to_numpy()
    x = data["x"].to_numpy()
    y = data["y"].to_numpy()

    def fall(p: np.ndarray) -> float:
        slopes = np.where(in_b[:, None], p[4:7], [p[3], 0.0, 0.0])
        below = cdf(p[:3] + slopes * x[:, None])
        below = np.column_stack([np.zeros(y.size), below, np.ones(y.size)])
        shares = below[np.arange(y.size), y] - below[np.arange(y.size), y - 1]
        return float(-np.log(np.maximum(shares, 1e-300)).sum())

    found = minimize(
        fall, [-1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0], method="BFGS", tol=1e-9
    )
    assert fit.loglik == pytest.approx(-found.fun, abs=1e-7)
    names = [
        "1|2",
        "2|3",
        "3|4",
        "1|2.g[a]:x",
        "1|2.g[b]:x",
        "2|3.g[b]:x",
        "3|4.g[b]:x",
    ]
    np.testing.assert_allclose(fit.params[names], found.x, atol=1e-4)
    assert np.isfinite(fit.se[names]).all() and fit.se[names].max() < 10.0
    lost = ["2|3.g[a]:x", "3|4.g[a]:x"]
    assert fit.params[lost].isna().all() and fit.se[lost].isna().all()

"""The same columns for new data."""

import pickle

import numpy as np
import pandas as pd
import pytest
from expected import no_column, unknown_level
from reference_cases import case_names, load_case, load_data
from seams import build

from ordstat.exceptions import DataError, OrdstatError

FORMULA = (
    "y ~ ns(age, df=3)*f + bs(x1, df=4) + poly(x2, 2):g + scale(x3) + C(g, Sum) +"
    " factor(w) + I(x1 > 0) + offset(x4)"
)


@pytest.fixture(scope="module")
def design():
    return build(
        FORMULA,
        load_data("sim500"),
        nominal="~ center(x1)",
        scale="~ f + offset(age / 100)",
    )


def test_rebuilding_the_training_data_gives_the_sample(design):
    new = pickle.loads(pickle.dumps(design.spec)).rebuild(load_data("sim500"))
    assert new.complete.all()
    for field in ("X", "offset", "nominal", "scale", "scale_offset"):
        np.testing.assert_array_equal(
            getattr(new.rows, field), getattr(design.sample.rows, field)
        )


PLAIN = "y ~ x1 + age + x2"


@pytest.mark.parametrize(
    ("formula", "plain"),
    [
        (PLAIN, ("x1", "age", "x2")),
        ("y ~ 1", ()),
        (PLAIN + " + f", None),
        (PLAIN + " + x1:x2", None),
        (PLAIN + " + I(x1**2)", None),
        (PLAIN + " + offset(x4)", None),
    ],
)
def test_plain_columns_are_read_together(formula, plain):
    """Columns in another order, beside others: as those of a frame with a gap, which
    is read column by column.
    """
    spec = build(formula, load_data("sim500")).spec
    assert spec.plain == plain
    if plain:
        data = load_data("sim500")[["x2", "x3", "age", "x1"]].astype(float)
        gap = pd.concat([data.iloc[[8]], data.iloc[[9]].assign(x1=np.nan)])
        one = spec.rebuild(data.iloc[[8]])
        np.testing.assert_array_equal(one.rows.X, data.iloc[[8]][list(plain)])
        np.testing.assert_array_equal(one.rows.X, spec.rebuild(gap).rows.X)
        assert one.rows.X.flags.c_contiguous and one.complete.all()


def test_far_values_of_plain_columns():
    """One row is told of as two are."""
    spec = build(PLAIN, load_data("sim500")).spec
    data = load_data("sim500")[["x2", "age", "x1"]].astype(float).iloc[[8, 8]]
    for column in ("age", "x2"):
        low, high = spec.ranges[column]
        for reach, far in ((0.49, []), (0.51, [column])):
            for value in (low - reach * (high - low), high + reach * (high - low)):
                new = data.assign(**{column: value})
                for rows in (new.iloc[:1], new):
                    assert [f.name for f in spec.rebuild(rows).far] == far


@pytest.mark.parametrize("rows", [[7], [499, 3, 3, 250], list(range(40, 60))])
def test_rows_do_not_depend_on_their_company(design, rows):
    data = load_data("sim500").iloc[rows].drop(columns="y")
    plain = data.assign(
        f=data["f"].astype(str), g=data["g"].astype(str), w=data["w"].astype(float)
    )
    for new in (design.spec.rebuild(data), design.spec.rebuild(plain)):
        np.testing.assert_array_equal(new.index, data.index)
        for field in ("X", "offset", "nominal", "scale", "scale_offset"):
            expected = getattr(design.sample.rows, field)[rows]
            np.testing.assert_allclose(
                getattr(new.rows, field), expected, rtol=1e-13, atol=1e-15
            )


def test_incomplete_rows_are_flagged_in_place():
    case = load_case("simna_predict")
    design = build(case.spec["formula"], case.frame())
    head = case.frame().iloc[:20]
    new = design.spec.rebuild(head)
    # R gives NA for incomplete rows
    expected = case.matrix("predict_with_missing").notna().all(axis=1).to_numpy()
    np.testing.assert_array_equal(new.complete, expected)
    assert new.rows.n == expected.sum() and len(new.index) == 20
    filled = design.spec.rebuild(head[["x1", "f"]].fillna({"x1": 0.0, "f": "lo"}))
    np.testing.assert_array_equal(new.rows.X, filled.rows.X[expected])


def test_no_row_need_be_complete():
    spec = build("y ~ x1 + f", load_data("sim500")).spec
    new = spec.rebuild(pd.DataFrame({"x1": [None, 1.0], "f": ["lo", None]}))
    assert not new.complete.any() and new.rows.X.shape == (0, 3)
    assert spec.rebuild(pd.DataFrame({"x1": [], "f": []})).rows.X.shape == (0, 3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"f": ["lo", "top", "odd"]},
            r"not in the fit: 'odd', 'top'; it has 'lo', 'mid', 'hi'",
        ),
        ({"f": [1, 2, 3]}, "'f' has levels that are not in the fit: 1, 2, 3"),
        (
            {"w": [1, 2, 9]},
            r"'factor\(w\)' has levels that are not in the fit: 9; it has 1, 2, 3, 4",
        ),
        ({"age": ["a", "b", "c"]}, "'age' is not numeric"),
        ({"x4": ["a", "b", "c"]}, r"offset\(x4\) must be one column of numbers"),
        ({"x1": np.inf}, "infinite in row 0"),
        ({"x1": 1e3}, "outside, such as 1000"),
    ],
)
def test_unusable_new_data_are_refused_by_name(design, change, message):
    data = load_data("sim500").iloc[:3]
    with pytest.raises(OrdstatError, match=message):
        design.spec.rebuild(data.assign(**change).reset_index(drop=True))


@pytest.mark.parametrize("column", ["age", "f", "x4", "w"])
def test_a_missing_column_is_named_with_what_the_model_needs(design, column):
    with no_column(column, "the model needs 'age', 'f', 'x1'"):
        design.spec.rebuild(load_data("sim500").drop(columns=column))


def test_a_level_that_only_appears_in_a_comparison_is_known_later():
    data = pd.DataFrame({"y": [1, 2, 3, 1], "f": list("abca"), "x": range(4)})
    spec = build("y ~ I(f == 'b') + x", data).spec
    np.testing.assert_array_equal(
        spec.rebuild({"f": ["a", "a"], "x": [1, 2]}).rows.X, [[0, 1], [0, 2]]
    )
    with unknown_level("f", "q"):
        spec.rebuild({"f": ["q"], "x": [1]})


def test_a_level_left_out_at_the_fit_is_unseen_later():
    data = pd.DataFrame(
        {"y": [1, 2, 1, 2], "f": pd.Categorical(list("abab"), categories=list("abc"))}
    )
    with unknown_level("f", "c"):
        build("y ~ f", data).spec.rebuild({"f": ["c", "a"]})


def test_an_offset_given_as_an_array_cannot_be_rebuilt():
    data = load_data("sim500")
    spec = build("y ~ x1", data, offset=data["x2"].to_numpy()).spec
    with pytest.raises(DataError, match="offset= of the fit was an array"):
        spec.rebuild(data)
    by_name = build("y ~ x1", data, offset="x2").spec
    np.testing.assert_array_equal(by_name.rebuild(data).rows.offset, data["x2"])
    with no_column("x2"):
        by_name.rebuild(data[["x1"]])


@pytest.mark.parametrize("name", case_names("basic", "formula", "rank", "housing"))
def test_every_reference_design_rebuilds(name):
    case = load_case(name)
    design = build(case.spec["formula"], case.frame())
    new = pickle.loads(pickle.dumps(design.spec)).rebuild(case.frame())
    np.testing.assert_array_equal(new.rows.X, design.sample.X)
    assert set(design.spec.response(case.frame())) <= set(range(design.sample.n_levels))


NUMBERS = pd.DataFrame(
    {"y": [1, 2, 1, 2], "a.b": [1.5, 2, 3, 4], "n": [4, 3, 2, 1], "of": [0.25, 1, 2, 3]}
)
NEW = pd.DataFrame(
    {
        "of": [5, -(2**60)],
        "more": ["p", "q"],
        "n": np.array([0.1, 7], "f4"),
        "a.b": [1e200, -2.5],
        "y": [2, 1],
    },
    index=["r", "s"],
)


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"a.b": [1e10, -2.5]},
        {"n": [True, False]},
        {"n": pd.array([1, None], "Int64")},
        {"n": pd.array([1.5, 2.5], "Float64")},
        {"n": [1, None], "of": [np.nan, np.nan]},
        {"n": np.array([1, "2"], dtype=object)[[0, 0]]},
        {"more": [np.inf, 1.0]},
    ],
)
def test_bare_columns_of_numbers_rebuild_whatever_lies_beside_them(change):
    spec = pickle.loads(pickle.dumps(build("y ~ a.b + n + of", NUMBERS).spec))
    frame = NEW.assign(**change)
    new = spec.rebuild(frame)
    values = [
        [np.nan if value is pd.NA else float(value) for value in frame[name]]
        for name in ("a.b", "n", "of")
    ]
    expected = np.array(values).T
    complete = ~np.isnan(expected).any(axis=1)
    np.testing.assert_array_equal(new.complete, complete)
    np.testing.assert_array_equal(new.rows.X, expected[complete])
    assert new.rows.X.flags.c_contiguous and new.rows.X.dtype == np.float64
    pd.testing.assert_index_equal(new.index, frame.index)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (NEW.assign(n=[1, -np.inf]), r"'n' is infinite in row 's' \(position 1\)"),
        (
            NEW.drop(columns=["n", "of"]),
            "no column 'n', 'of'; the model needs 'a.b', 'n', 'of'",
        ),
        (
            NEW.assign(n=pd.Categorical([1.0, 2.0])),
            "'n' was numeric at the fit; the new data hold 1.0, 2.0",
        ),
        (NEW.assign(n=["1", "2"]), "'n' was numeric at the fit"),
        (
            NEW.assign(n=pd.to_datetime(["2020-01-01", "2020-01-02"])),
            "'n' holds datetime64 values",
        ),
        (NEW.assign(n=[1j, 2j]), "'n' holds complex numbers"),
        (NEW.rename(columns={"more": "n"}), "2 columns named 'n'"),
    ],
)
def test_bare_columns_of_anything_else_are_refused_by_name(frame, message):
    with pytest.raises(DataError, match=message):
        build("y ~ a.b + n + of", NUMBERS).spec.rebuild(frame)


def test_many_rows_of_bare_columns():
    frame = NEW[["n", "of", "a.b"]].iloc[np.arange(400_000) % 2]
    new = build("y ~ a.b + n + of", NUMBERS).spec.rebuild(frame)
    np.testing.assert_array_equal(
        new.rows.X, frame[["a.b", "n", "of"]].to_numpy(dtype=float)
    )
    assert new.complete.all() and new.complete.shape == (400_000,)


def test_rebuilt_rows_are_a_copy():
    frame = pd.DataFrame({"n": [1.0, 2.0], "of": [3.0, 4.0]})
    rows = build("y ~ n + of", NUMBERS).spec.rebuild(frame).rows
    frame.loc[0, "n"] = 9.0
    np.testing.assert_array_equal(rows.X, [[1, 3], [2, 4]])

"""Which rows are used: missing values, weights, subsets; offsets, clusters, costs; what
data may be.
"""

import numpy as np
import pandas as pd
import pytest
from expected import refused
from seams import Rows, Sample

from ordstat import SurveyDesign
from ordstat.exceptions import DataError, FormulaError, OptionError
from ordstat.formula.design import build


def frame():
    """Ten rows with a label index and holes in four columns."""
    data = pd.DataFrame(
        {
            "y": [1, 2, 3, 1, 2, 3, 1, 2, 3, None],
            "x": [0.5, None, 2, 3, 4, 5, 6, 7, 8, 9],
            "f": ["a", "b", "a", None, "b", "a", "b", "a", "b", "a"],
            "w": [1, 2, 3, 4, 0, 0, 1, 2, 3, 4],
            "o": [0.1] * 9 + [None],
            "id": ["p", "p", "q", "q", "r", "r", None, "s", "s", "t"],
            "t": pd.array(
                [True, False, True, True, False, None, True, False, True, False],
                dtype="boolean",
            ),
        },
        index=list("ABCDEFGHIJ"),
    )
    return data


@pytest.mark.parametrize(
    ("formula", "arguments", "kept", "dropped"),
    [
        ("y ~ x", {}, "ACDEFGHI", {"y": 1, "x": 1}),
        ("y ~ x + f", {}, "ACEFGHI", {"y": 1, "x": 1, "f": 1}),
        ("y ~ x*f + I(x^2)", {}, "ACEFGHI", {"y": 1, "x": 1, "f": 1}),
        # NaN > 3 is missing, not False
        ("y ~ I(x > 3)", {}, "ACDEFGHI", {"y": 1, "x": 1}),
        ("y ~ I(f == 'a')", {}, "ABCEFGHI", {"y": 1, "f": 1}),
        ("y ~ t", {}, "ABCDEGHI", {"y": 1, "t": 1}),
        (
            "y ~ 1",
            {"nominal": "~ x", "scale": "~ f"},
            "ACEFGHI",
            {"y": 1, "x": 1, "f": 1},
        ),
        ("y ~ f", {"weights": "w"}, "ABCGHI", {"y": 1, "f": 1, "(weight 0)": 2}),
        ("y ~ f", {"weights": "w - 1"}, None, "weights= is -1 in row 'E'"),
        ("y ~ f", {"offset": "o"}, "ABCEFGHI", {"y": 1, "f": 1, "o": 1}),
        (
            "y ~ f",
            {"offset": [np.nan, *range(9)]},
            "BCEFGHI",
            {"y": 1, "f": 1, "offset": 1},
        ),
        ("y ~ f", {"cluster": "id"}, "ABCEFHI", {"y": 1, "f": 1, "id": 1}),
        ("y ~ f + offset(x)", {}, "ACEFGHI", {"y": 1, "f": 1, "x": 1}),
        (
            "y ~ f",
            {"costs": np.where(np.eye(10, 3, k=-1), np.nan, 1)},
            "AEFGHI",
            {"y": 1, "f": 1, "costs": 3},
        ),
        # B has no x: outside the subset, as in R
        ("y ~ f", {"subset": "x > 2.5"}, "EFGHI", {"y": 1, "f": 1}),
        ("y ~ f", {"subset": [True] * 5 + [False] * 5}, "ABCE", {"f": 1}),
        ("y ~ x", {"subset": "t"}, "ACDGI", {}),
        ("y ~ x", {"subset": "(f == 'a') | (w >= 3)"}, "ACFHI", {"y": 1}),
    ],
)
def test_rows_used_and_counted(formula, arguments, kept, dropped):
    data = frame()
    before = data.copy(deep=True)
    if kept is None:
        with pytest.raises(DataError, match=dropped):
            build(formula, data, **arguments)
        return
    design = build(formula, data, **arguments)
    assert "".join(design.index) == kept
    assert dict(design.dropped) == dropped
    assert design.sample.n == len(kept) == design.sample.y.size
    outside = design.n_given - design.sample.n
    assert max(dropped.values(), default=0) <= outside <= sum(dropped.values())
    pd.testing.assert_frame_equal(data, before)
    x = data["x"].to_numpy()[[data.index.get_loc(label) for label in kept]]
    if design.names[:1] == ("x",):
        np.testing.assert_array_equal(design.sample.X[:, 0], x)


def test_missing_rows_can_be_refused():
    with pytest.raises(
        DataError, match=r"2 of 10 rows.*y \(1\), x \(1\); first row 'B' \(position 1\)"
    ):
        build("y ~ x", frame(), na_action="raise")
    for index, told in (
        (pd.Index(np.arange(19, 29)), "20"),
        (
            pd.MultiIndex.from_arrays([np.arange(1, 11), list("ABCDEFGHIJ")]),
            r"\(2, 'B'\)",
        ),
        (pd.Index(np.arange(10) / 4), "0.25"),
    ):
        with pytest.raises(DataError, match=rf"first row {told} \(position 1\)"):
            build("y ~ x", frame().set_axis(index), na_action="raise")
    assert build("y ~ w", frame().iloc[:9], na_action="raise").sample.n == 9
    with pytest.raises(OptionError, match="one of 'omit', 'raise', 'keep'; got 'drop'"):
        build("y ~ x", frame(), na_action="drop")


def test_subset_is_as_if_the_other_rows_were_not_there():
    data = frame().assign(z=np.arange(10.0))
    formula = "y ~ ns(z, df=2) + scale(z) + f"
    by_subset = build(formula, data, subset=data["w"] > 0)
    by_hand = build(formula, data[data["w"] > 0])
    np.testing.assert_array_equal(by_subset.sample.X, by_hand.sample.X)
    assert by_subset.n_given == by_hand.n_given == 8


def test_weights_offset_cluster_and_costs_follow_the_rows():
    data = frame()
    price = pd.DataFrame(
        np.arange(30.0).reshape(10, 3), index=data.index, columns=["c1", "c2", "c3"]
    )
    design = build(
        "y ~ f + offset(x)", data, weights="w", offset="o", cluster="id", costs=price
    )
    assert "".join(design.index) == "ACHI"
    rows = data.loc[design.index]
    np.testing.assert_array_equal(design.sample.weights, rows["w"])
    np.testing.assert_allclose(
        design.sample.rows.offset, rows["x"] + rows["o"], rtol=1e-15
    )
    np.testing.assert_array_equal(design.sample.cluster, [0, 1, 2, 2])
    np.testing.assert_array_equal(design.sample.costs, price.loc[design.index])
    arrays = build(
        "y ~ f",
        data.dropna(),
        weights=data.dropna()["w"],
        offset=data.dropna()["o"].to_numpy(),
        cluster=data.dropna()["id"].tolist(),
        costs=price.loc[data.dropna().index],
    )
    assert arrays.sample.cluster.tolist() == [
        0,
        1,
        2,
        2,
    ] and arrays.sample.weights.tolist() == [1, 3, 2, 3]
    np.testing.assert_array_equal(arrays.sample.rows.offset, [0.1] * 4)


def test_costs_of_unused_levels_go_with_them():
    data = pd.DataFrame(
        {
            "y": pd.Categorical(list("acac"), categories=list("abc"), ordered=True),
            "x": range(4),
        }
    )
    costs = np.arange(12.0).reshape(4, 3)
    np.testing.assert_array_equal(
        build("y ~ x", data, costs=costs).sample.costs, costs[:, [0, 2]]
    )


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (
            {"weights": "ww"},
            DataError,
            "no column 'ww', needed for weights=; did you mean 'w'",
        ),
        ({"weights": "my weights"}, DataError, "no column 'my weights'"),
        ({"cluster": "ids"}, DataError, "did you mean 'id'"),
        ({"offset": "off"}, DataError, "no column 'off'"),
        (
            {"costs": ["c1", "c2"]},
            DataError,
            r"Give columns as data\[\['a', 'b', 'c'\]\]",
        ),
        (
            {"costs": np.ones((10, 2))},
            DataError,
            "one column per level of the response, 3; got 2",
        ),
        (
            {"costs": np.full((10, 3), np.inf)},
            DataError,
            "cost= is infinite in row 'A'",
        ),
        (
            {"costs": pd.DataFrame(np.ones((10, 3)))},
            DataError,
            "another index than the data",
        ),
        ({"weights": [1, 2]}, DataError, "10 values, one per row"),
        (
            {"weights": pd.Series(np.ones(10))},
            DataError,
            "index differs from that of the data",
        ),
        (
            {"weights": -np.ones(10)},
            DataError,
            r"weights= is -1 in row 'A' \(position 0\) \(such rows: 10\)",
        ),
        ({"weights": np.full(10, np.inf)}, DataError, "infinite in row 'A'"),
        ({"weights": "f"}, DataError, "one column of numbers"),
        ({"weights": np.zeros(10)}, DataError, r"None of the 10 rows can be used"),
        ({"subset": "w"}, DataError, "a condition or a mask"),
        ({"subset": "w > 1e9"}, DataError, "selects none of the"),
        ({"subset": np.arange(10)}, DataError, "a condition or a mask"),
        ({"subset": "f == 'zz'"}, FormulaError, "one of its levels"),
        (
            {"contrasts": {"g": "sum"}},
            FormulaError,
            "contrasts= names 'g', which is not a factor",
        ),
        (
            {"contrasts": {"ff": "sum"}},
            FormulaError,
            r"the model \('x', 'f'\); did you mean 'f'",
        ),
        (
            {"contrasts": {"id": "summ"}},
            FormulaError,
            "'summ' is not a known contrast; did you mean 'sum'",
        ),
        ({"contrasts": {"x": "sum"}}, DataError, "which is numeric"),
        ({"nominal": "y ~ x"}, FormulaError, "one-sided formula"),
        ({"nominal": "~ offset(x)"}, FormulaError, "no offset"),
        ({"levels": ["1", "2"]}, DataError, "outside the levels"),
    ],
)
def test_refused_arguments(arguments, error, message):
    with pytest.raises(error, match=message):
        build("y ~ x + f", frame(), **arguments)


@pytest.mark.parametrize("value", [np.inf, -np.inf])
@pytest.mark.parametrize("term", ["x", "log(x + 1)", "scale(x)", "x:w"])
def test_infinite_values_are_refused(value, term):
    data = frame().assign(x=[0.5, None, value, *range(3, 10)])
    with pytest.raises(DataError, match="Column 'x' is infinite in row 'C'"):
        build(f"y ~ {term}", data)


def test_columns_too_large_to_square_are_refused_for_their_size():
    with pytest.raises(DataError, match="'x' has values up to 1e\\+308"):
        build("y ~ x", frame().assign(x=[1e308, 1e308, *range(8)]))


def test_levels_without_rows_are_left_out_as_r_does():
    data = pd.DataFrame(
        {"y": [1, 2, 3, 1], "f": pd.Categorical(list("bdbd"), categories=list("abcd"))}
    )
    design = build("y ~ f", data)
    assert design.names == ("f[T.d]",) and design.notes == (
        "Levels of f without rows were left out: 'a', 'c'.",
    )


def test_a_dot_leaves_out_what_is_named_elsewhere():
    data = frame().drop(columns="t")
    assert build("y ~ .", data, weights="w", offset="o", cluster="id").names == (
        "x",
        "f[T.b]",
    )
    assert build("y ~ . - f", data, cluster="id").names == ("x", "w", "o")
    computed = build("y ~ . - f", data, weights="2 * w", offset="o / 2", cluster="id")
    assert computed.names == ("x",)
    assert build("y ~ 1", data[["y", "x", "w"]], scale="~ .").scale_names == ("x", "w")


@pytest.mark.parametrize("formula", ["y ~ 0 + x", "y ~ x - 1", "y ~ -1 + x"])
def test_the_intercept_stays(formula):
    design = build(formula, frame())
    assert design.names == ("x",) and any("intercept" in note for note in design.notes)


def converted(kind):
    pandas = pd.DataFrame(
        {
            "y": [1, 2, 3, 2],
            "x": [1.0, 2, 3, 4],
            "f": list("abab"),
            "b": [True, False, False, True],
        }
    )
    mapping = {name: pandas[name].tolist() for name in pandas}
    if kind.startswith("polars"):
        pl = pytest.importorskip("polars")
        return pl.DataFrame(
            dict(mapping, f=pl.Series(list("abab"), dtype=pl.Categorical))
            if "," in kind
            else mapping
        )
    strided = pd.DataFrame(
        pandas[["y", "x"]].to_numpy(copy=True), columns=["y", "x"], copy=False
    )
    return {
        "mapping": mapping,
        "nullable": pandas.convert_dtypes(),
        "categorical": pandas.astype({"f": "category"}),
        "objects": pandas.astype(object),
        "strided": strided.join(pandas[["f", "b"]]),
    }[kind]


@pytest.mark.parametrize(
    "kind",
    [
        "mapping",
        "polars",
        "polars, categorical",
        "nullable",
        "categorical",
        "objects",
        "strided",
    ],
)
def test_every_kind_of_frame_gives_the_same(kind):
    data = converted(kind)
    design = build("y ~ x*f + b", data)
    assert design.names == ("x", "f[T.b]", "b[T.True]", "x:f[T.b]")
    np.testing.assert_array_equal(
        design.sample.X, [[1, 0, 1, 0], [2, 1, 0, 2], [3, 0, 0, 0], [4, 1, 1, 4]]
    )
    np.testing.assert_array_equal(design.spec.rebuild(data).rows.X, design.sample.X)
    assert design.sample.y.tolist() == [0, 1, 2, 1] and design.levels.values == (
        1,
        2,
        3,
    )


def test_polars_enums_are_in_order_and_nulls_are_missing():
    pl = pytest.importorskip("polars")
    data = pl.DataFrame(
        {
            "y": pl.Series(["b", "a", "b", None], dtype=pl.Enum(["b", "a"])),
            "x": [1, None, 3, 4],
        }
    )
    design = build("y ~ x", pl.concat([data, data.with_columns(x=pl.lit(5, pl.Int64))]))
    assert design.levels.values == ("b", "a") and dict(design.dropped) == {
        "y": 2,
        "x": 1,
    }
    with pytest.raises(DataError, match="collect"):
        build("y ~ x", data.lazy())


@pytest.mark.parametrize(
    "data", [None, 5, np.ones((3, 2)), "y", {"y": [1, 2], "x": [1]}]
)
def test_other_data_are_refused(data):
    with pytest.raises(DataError, match="data="):
        build("y ~ x", data)


def test_arrow_tables_keep_their_dictionaries():
    pa = pytest.importorskip("pyarrow")
    codes = pa.array([0, 1, 0, None], pa.int8())
    words = pa.DictionaryArray.from_arrays(codes, ["b", "a"], ordered=True)
    table = pa.table({"y": words, "x": [1.5, 2.5, 3.5, 4.5]})
    design = build("y ~ x", table)
    assert design.levels.values == ("b", "a") and dict(design.dropped) == {"y": 1}
    np.testing.assert_array_equal(
        design.spec.rebuild(table).rows.X[:, 0], [1.5, 2.5, 3.5, 4.5]
    )


@pytest.mark.parametrize(
    "name",
    ["y", "weights", "costs", "cluster", "offset", "nominal", "scale", "scale_offset"],
)
def test_a_sample_has_arrays_of_one_length(name):
    X = np.zeros((5, 2))
    given = {
        "offset": 1,
        "scale_offset": 1,
        "nominal": 2,
        "scale": 2,
        "weights": 1,
        "cluster": 1,
        "costs": 2,
        "y": 1,
    }
    arrays = {
        key: np.ones((5, 2)[:dimensions], dtype=int)
        for key, dimensions in given.items()
    }
    arrays[name] = arrays[name][:4]
    sides = {
        key: arrays.pop(key) for key in ("offset", "nominal", "scale", "scale_offset")
    }
    with refused(name, "4", error=DataError):
        Sample(rows=Rows(X=X, **sides), n_levels=2, **arrays)


@pytest.mark.parametrize("row", [0, 2499])
def test_a_change_of_one_value_or_of_the_order_of_two_is_seen(row):
    x = np.random.default_rng(0).normal(size=2500)
    data = pd.DataFrame({"y": np.arange(2500) % 3, "x": x})
    design = build("y ~ x", data)
    assert design.column("x", "x=").value is not None
    others = x.copy(), x.copy()
    others[0][row] = np.nextafter(x[row], 9.0)
    others[1][[row, 500]] = x[[500, row]]
    for changed in others:
        with pytest.raises(DataError, match="columns of the formula"):
            design.beside(data.assign(x=changed))


def test_other_strata_are_seen():
    strata = np.repeat(["north", "south"], 30)
    data = _labelled().assign(w=1.0, s=strata)
    survey = SurveyDesign(weights="w", strata="s")
    design = build("y ~ x", data, design=survey)
    assert design.beside(data.copy()).data is not None
    with pytest.raises(DataError, match="differ: the strata"):
        design.beside(data.assign(s=strata[::-1]))


def _labelled():
    """Rows with two factors of three levels each, and a number."""
    rng = np.random.default_rng(5)
    factors = {name: pd.Categorical(list("abc") * 20) for name in ("g", "group")}
    return pd.DataFrame({"y": np.arange(60) % 4, "x": rng.normal(size=60), **factors})


@pytest.mark.parametrize("labels", [["a", "c", "b"], ["u", "v", "w"]])
@pytest.mark.parametrize(
    ("formula", "column", "options"),
    [
        ("y ~ x + g", "g", {}),
        ("y ~ C(g, Sum)", "g", {}),
        ("y ~ x", "g", {"scale": "~ g"}),
        ("y ~ x + (1 | group)", "group", {}),
    ],
)
def test_levels_that_are_renamed_in_place_are_seen(formula, column, options, labels):
    data = _labelled()
    design = build(formula, data, **options)
    assert design.updated(formula="~ . + I(x^2)").names
    data[column] = data[column].cat.rename_categories(labels)
    with pytest.raises(DataError, match=f"the levels of .*{column}"):
        design.updated(formula="~ . + I(x^2)")


@pytest.mark.parametrize("call", ["ns(x, 3)", "scale(x)", "poly(x, 2)", "center(x)"])
def test_a_change_of_a_column_that_a_transform_learns_from_is_seen(call):
    """Twice the values have the same columns, by another transform."""
    data = _labelled()
    design = build(f"y ~ {call}", data)
    data["x"] *= 2.0
    with pytest.raises(DataError, match="columns of the formula"):
        design.updated(formula="~ . + g")


def test_the_same_rows_are_the_same_as_text_and_beside_unused_levels():
    data = _labelled()
    design = build("y ~ scale(x) + g + (1 | group)", data)
    wider = data.g.cat.add_categories("unused")
    for same in (data.astype({"g": str, "group": str}), data.assign(g=wider)):
        assert design.beside(same).data is same

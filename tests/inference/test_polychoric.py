"""What `polychoric` reads, prints, notes and refuses."""

import warnings

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest

from ordstat import DataError, DataWarning, OptionError, polychoric, polyserial
from ordstat.inference.correlations import pearson_of, polychoric_of, polyserial_of

LEVELS = ["low", "medium", "high", "top"]


def answers(n=300, seed=2):
    rng = np.random.default_rng(seed)
    latent = 0.7 * rng.normal(size=(n, 1)) + 0.7 * rng.normal(size=(n, 3))
    codes = np.digitize(latent, [-0.8, 0.0, 0.9])
    frame = pd.DataFrame(
        {
            "a": pd.Categorical.from_codes(codes[:, 0], LEVELS, ordered=True),
            "b": codes[:, 1] + 1.0,
            "c": latent[:, 2] > 0.3,
            "x": 3.0 * latent[:, 0] + 3.0 * rng.normal(size=n),
            "z": latent[:, 1] + rng.normal(size=n),
        }
    )
    frame.loc[rng.random(n) < 0.1, "a"] = None
    frame.loc[rng.random(n) < 0.1, "b"] = np.nan
    frame.loc[rng.random(n) < 0.1, "x"] = np.nan
    return frame


DATA = answers()


def test_every_pair_uses_its_complete_rows():
    found = polychoric(DATA, ordered=["b"])
    kinds = found.pairs["kind"].to_dict()
    assert kinds[("a", "b")] == kinds[("b", "c")] == "polychoric"
    assert kinds[("a", "x")] == kinds[("c", "z")] == "polyserial"
    assert kinds[("x", "z")] == "Pearson"
    both = DATA[["a", "b"]].dropna()
    table = pd.crosstab(both["a"], both["b"]).to_numpy(dtype=float)
    one = polychoric_of(table, ml=False)
    assert found.matrix.loc["b", "a"] == found.matrix.loc["a", "b"] == one.estimate
    assert found.std_errors.loc["a", "b"] == one.std_error
    assert found.n.loc["a", "b"] == len(both)
    assert found.n.loc["a", "a"] == DATA["a"].notna().sum()
    both = DATA[["a", "x"]].dropna()
    other = polyserial_of(
        both["x"].to_numpy(),
        both["a"].cat.codes.to_numpy(np.intp),
        np.ones(len(both)),
        ml=False,
    )
    row = found.pairs.loc[("a", "x")]
    assert row[["correlation", "std_error", "statistic"]].tolist() == [
        other.estimate,
        other.std_error,
        other.statistic,
    ]
    both = DATA[["x", "z"]].dropna().to_numpy()
    third = pearson_of(*both.T, np.ones(len(both)))
    assert found.matrix.loc["x", "z"] == third.estimate
    assert (np.diag(found.matrix) == 1.0).all()


def test_polyserial_is_the_cell_of_the_matrix():
    found = polychoric(DATA, ordered=["b"], method="ml")
    one = polyserial(DATA, "x", "b", method="ml")
    assert one.estimate == found.matrix.loc["x", "b"]
    assert one.p_value == found.pairs.loc[("b", "x"), "p_value"]
    with pytest.raises(DataError, match="Column 'a' must hold numbers"):
        polyserial(DATA, "a", "b")
    with pytest.raises(OptionError, match="two different columns; got 'q' and 'b'"):
        polyserial(DATA, "q", "b")


def test_one_correlation_is_printed_in_words():
    found = polyserial(DATA, "x", "b")
    first, second = repr(found).splitlines()
    assert first == (
        f"Polyserial correlation {found.estimate:.3f}, standard error"
        f" {found.std_error:.3f}, {found.n:.0f} rows"
    )
    assert second.startswith(f"Test of normality: G2 {found.statistic:.2f} on 11 df, p")


def test_weights_are_repeated_rows():
    w = np.arange(len(DATA)) % 3
    weighted = polychoric(DATA.assign(w=w), weights="w", ordered=["b"])
    repeated = polychoric(DATA.loc[DATA.index.repeat(w)], ordered=["b"])
    assert "w" not in weighted.matrix
    for part in ("matrix", "std_errors", "n"):
        actual = getattr(weighted, part)
        assert np.allclose(actual, getattr(repeated, part), rtol=1e-6, atol=1e-9)
    by_array = polychoric(DATA, weights=w, ordered=["b"])
    assert by_array.matrix.equals(weighted.matrix)


def test_levels_that_a_pair_lacks_are_left_out():
    data = DATA[["a", "b"]].copy()
    data.loc[data["a"] == "top", "b"] = np.nan
    found = polychoric(data, ordered=["b"])
    both = data.dropna()
    table = pd.crosstab(both["a"].astype(str), both["b"]).loc[LEVELS[:3]]
    one = polychoric_of(table.to_numpy(dtype=float), ml=False)
    assert found.matrix.loc["a", "b"] == one.estimate
    assert found.pairs["df"].tolist() == [5]


def test_an_unchanged_frame_and_a_printed_table():
    before = DATA.copy()
    found = polychoric(DATA, ordered=["b"])
    text = str(found)
    assert DATA.equals(before)
    assert "Pairs, with tests of normality" in text
    assert "Normality is not rejected" in text
    assert max(map(len, text.split("\n"))) <= 80
    assert "\\begin{tabular}" in found.to_latex()


def test_many_columns_are_printed_without_errors():
    rng = np.random.default_rng(8)
    latent = rng.normal(size=(150, 1)) + rng.normal(size=(150, 12))
    names = [f"question {k}" for k in range(12)]
    data = pd.DataFrame(np.digitize(latent, [-1.0, 1.0]), columns=names)
    found = polychoric(data, ordered=True)
    text = str(found)
    row = next(line for line in text.splitlines() if line.startswith("3 = question 2"))
    shown = np.array(row.split()[4:], dtype=float)
    np.testing.assert_allclose(shown, found.matrix.iloc[2, : shown.size], atol=0.005)
    low, high = found.pairs["std_error"].agg(["min", "max"])
    assert f"{low:.3f} to {high:.3f} (.std_errors)" in text
    assert max(map(len, text.split("\n"))) <= 80


def indefinite():
    """Pairs that share no rows have correlations that no matrix has together."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(np.nan, index=range(600), columns=["a", "b", "c"])
    for block, (pair, sign) in enumerate(
        {("a", "b"): 1, ("b", "c"): 1, ("a", "c"): -1}.items()
    ):
        rows = slice(200 * block, 200 * block + 199)
        z = rng.normal(size=200)
        noise = 0.4 * rng.normal(size=200)
        frame.loc[rows, pair[0]] = np.digitize(z, [-0.5, 0.5])
        frame.loc[rows, pair[1]] = np.digitize(sign * z + noise, [-0.5, 0.5])
    return frame


def test_a_matrix_with_a_negative_eigenvalue_is_named_and_projected():
    data = indefinite()
    with pytest.warns(DataWarning, match="smallest eigenvalue .* nearest=True"):
        plain = polychoric(data, ordered=True)
    assert np.linalg.eigvalsh(plain.matrix)[0] == pytest.approx(
        plain.smallest_eigenvalue
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        near = polychoric(data, ordered=True, nearest=True)
    assert np.linalg.eigvalsh(near.matrix)[0] > -1e-9
    assert np.diag(near.matrix).tolist() == [1.0, 1.0, 1.0]
    # no correlation matrix is nearer: cvxpy finds the projection
    X = cp.Variable((3, 3), PSD=True)
    distance = cp.sum_squares(X - plain.matrix.to_numpy())
    cp.Problem(cp.Minimize(distance), [cp.diag(X) == 1]).solve(solver="CLARABEL")
    np.testing.assert_allclose(near.matrix, X.value, atol=1e-5)
    assert near.pairs["correlation"].equals(plain.pairs["correlation"])
    assert "the matrix shown is the nearest" in " ".join(str(near).split())


def test_a_bound_is_named():
    data = pd.DataFrame({"p": [0, 0, 1, 1, 1], "q": [0, 0, 0, 1, 1]}).astype(bool)
    with pytest.warns(DataWarning, match="At a bound .* p with q"):
        found = polychoric(data)
    assert found.matrix.loc["p", "q"] == 1.0
    assert np.isnan(found.std_errors.loc["p", "q"])
    assert "At a bound" in str(found)


@pytest.mark.parametrize("kind", ["numbers", "categories"])
def test_doubtful_columns_are_named(kind):
    data = pd.DataFrame({"q1": [1, 2, 3, 4, 5, 99] * 5, "q2": [1, 2, 2, 4, 5, 3] * 5})
    if kind == "categories":
        data = data.astype({name: pd.CategoricalDtype(ordered=True) for name in data})
    with pytest.warns(DataWarning, match="q1 has the value 99 in 5 rows"):
        polychoric(data, ordered=True)


def test_whole_numbers_that_may_be_answers_are_named():
    data = pd.DataFrame({"q1": [1, 2, 3, 4, 5, 5] * 5, "q2": [1, 2, 2, 4, 5, 3] * 5})
    with pytest.warns(DataWarning, match=r"Taken as numeric.*: q1, q2\. Give"):
        polychoric(data)
    data.loc[0, "q1"] = np.nan  # the column is of floats then
    with pytest.warns(DataWarning, match=r"Taken as numeric.*: q1\. Give"):
        polychoric(data, ordered="q2")


def test_many_levels_of_small_integers():
    """Codes of categoricals are int8."""
    codes = np.tile(np.arange(30), 10)
    other = np.roll(codes, 3)
    one = pd.DataFrame({"p": codes, "q": other}).astype(
        pd.CategoricalDtype(range(30), ordered=True)
    )
    two = pd.DataFrame({"p": codes.astype(float), "q": other.astype(float)})
    assert polychoric(one).matrix.equals(polychoric(two, ordered=True).matrix)


@pytest.mark.parametrize(
    ("change", "options", "match"),
    [
        (lambda d: d[["a"]], {}, r"two columns or more; got \['a'\]"),
        (lambda d: d.assign(t="text"), {}, "Column 't' has labels without an order"),
        (
            lambda d: d.assign(u=pd.Categorical(["r", "s"] * 150)),
            {},
            "Column 'u' has labels without an order",
        ),
        (lambda d: d.assign(k=1.0), {}, "Column 'k' must have two different values"),
        (lambda d: d.assign(k=np.nan), {}, "Column 'k' must have two different values"),
        (lambda d: d.assign(i=np.inf), {}, "'i' is infinite"),
        (lambda d: d.assign(t=pd.Timestamp("2020-01-01")), {}, "'t' holds datetime"),
        (lambda d: d, {"weights": -np.ones(300)}, "weights must be 0 or more"),
        (lambda d: d, {"weights": np.zeros(300)}, "Column 'a' must have two"),
        (lambda d: d, {"weights": np.ones(3)}, "weights= must be a column name or 300"),
        (lambda d: d, {"ordered": ["q"]}, "it has no 'q'"),
        (lambda d: d, {"ordered": True}, "Column 'x' must have 30 levels at most"),
        (lambda d: d, {"method": "both"}, "method must be one of"),
        (lambda d: d, {"nearest": 1}, "nearest must be True or False"),
        (lambda d: d, {"ml": True}, "no argument 'ml'"),
    ],
)
def test_bad_input_is_refused_by_name(change, options, match):
    with pytest.raises((DataError, OptionError), match=match):
        polychoric(change(DATA), **{"ordered": ["b"], **options})


def test_a_column_that_is_constant_where_the_other_is_there():
    data = pd.DataFrame({"p": [1.0, 1, 2, 3], "q": [1.0, 2, np.nan, np.nan]})
    with pytest.raises(DataError, match=r"'p' has fewer than two .* both 'p' and 'q'"):
        polychoric(data, ordered=True)


def test_fractional_weights_are_doubtful():
    with pytest.warns(DataWarning, match="weights= must be frequency counts"):
        polychoric(DATA, weights=np.full(300, 0.5), ordered=["b"])

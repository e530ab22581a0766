"""Linear hypotheses: read from text, tested with matrices written by hand."""

import numpy as np
import pandas as pd
import pytest
from reference_cases import load_data
from scipy import stats

from ordstat import ordfit
from ordstat.exceptions import ConvergenceWarning, OptionError

NAMES = [
    "1|2",
    "2|3",
    "3|4",
    "4|5",
    "temp[T.warm]",
    "contact[T.yes]",
    "scale.temp[T.warm]",
]


@pytest.fixture(scope="module")
def fit():
    return ordfit("rating ~ temp + contact", data=load_data("wine"), scale="~ temp")


def row(**weights):
    places = {"t1": 0, "t2": 1, "t3": 2, "t4": 3, "temp": 4, "contact": 5, "scale": 6}
    actual = np.zeros(7)
    for name, weight in weights.items():
        actual[places[name]] = weight
    return actual


@pytest.mark.parametrize(
    ("text", "L", "r"),
    [
        ("temp = contact", [row(temp=1, contact=-1)], [0]),
        (
            "temp[T.warm] = 0, contact[T.yes] = 1.5",
            [row(temp=1), row(contact=1)],
            [0, 1.5],
        ),
        ("2 * temp - contact / 4 = 1 + 1", [row(temp=2, contact=-0.25)], [2]),
        ("-temp + 3 = -(contact - 1)", [row(temp=-1, contact=1)], [-2]),
        ("temp*2 = 1e-1", [row(temp=2)], [0.1]),
        ("2|3 - 1|2 = 4|5 - 3|4", [row(t2=1, t1=-1, t4=-1, t3=1)], [0]),
        ("scale.temp[T.warm]=0", [row(scale=1)], [0]),
        (
            "temp = 0\ncontact = 0\ntemp - contact = 0",
            [row(temp=1), row(contact=1), row(temp=1, contact=-1)],
            [0] * 3,
        ),
        ("(temp + contact) / 2 = 1", [row(temp=0.5, contact=0.5)], [1]),
    ],
)
def test_equations(fit, text, L, r):
    assert fit.parameters.names == NAMES
    table = fit.test(text)
    L = np.array(L)
    r = np.array(r)
    V = fit.vcov().to_numpy()
    difference = L @ fit.params.to_numpy() - r
    n = len(L)
    np.testing.assert_allclose(
        table["difference"].iloc[:n], difference, rtol=1e-12, atol=1e-14
    )
    np.testing.assert_allclose(
        table["std_error"].iloc[:n], np.sqrt(np.diag(L @ V @ L.T)), rtol=1e-12
    )
    joint = difference @ np.linalg.pinv(L @ V @ L.T) @ difference
    rank = np.linalg.matrix_rank(L)
    last = table.iloc[-1]
    assert last["chisq"] == pytest.approx(joint, rel=1e-8)
    assert last["df"] == rank
    assert last["p_value"] == pytest.approx(stats.chi2(rank).sf(joint), rel=1e-8)
    assert table.index[-1] == ("joint" if n > 1 else text.strip())


def test_terms_and_parameters_alone_are_tested_against_zero(fit):
    both = fit.test("temp[T.warm] = 0, contact[T.yes] = 0")
    for hypothesis in (
        ["temp", "contact"],
        "temp, contact",
        ["temp", "contact[T.yes] = 0"],
    ):
        np.testing.assert_allclose(fit.test(hypothesis).loc["joint"], both.loc["joint"])
    assert fit.test("scale.temp[T.warm]")["p_value"].iloc[0] == pytest.approx(
        fit.p_values["scale.temp[T.warm]"]
    )
    free = ordfit("y ~ f * x1", load_data("sim500"), nominal="~ x2")
    table = free.test("f:x1")
    assert table.index.tolist() == ["f[T.mid]:x1 = 0", "f[T.hi]:x1 = 0", "joint"]
    assert table.loc["joint", "chisq"] == pytest.approx(
        free.anova(type="II").loc["f:x1", "chisq"], rel=1e-8
    )
    assert free.test("x2").loc["joint", "df"] == len(free.thresholds)
    assert (
        len(ordfit("y ~ ns(x1, df=2)", load_data("sim500")).test("ns(x1, df=2)")) == 3
    )


@pytest.mark.parametrize(
    "text",
    [
        "f, x1 = 0",
        "x1 = 0, f",
        "x1 = 0\nf",
        "f = 0, x1",
        "x1==0, f[T.mid] = 0, f[T.hi]",
    ],
)
def test_terms_beside_equations(text):
    """The joint test from the matrix written by hand."""
    data = load_data("sim500")
    fit = ordfit("y ~ f + x1", data)
    columns = ["f[T.mid]", "f[T.hi]", "x1"]
    b = fit.coef[columns].to_numpy()
    V = fit.vcov().loc[columns, columns].to_numpy()
    joint = fit.test(text).loc["joint"]
    assert joint["chisq"] == pytest.approx(b @ np.linalg.solve(V, b), rel=1e-8)
    assert joint["df"] == 3


def test_level_names_with_commas_beside_a_term():
    data = load_data("sim500")
    data["f"] = data["f"].map({"lo": "a, b", "mid": "c, d = 0", "hi": "e"})
    fit = ordfit("y ~ f + x1 + x2", data)
    alone = fit.test("f[T.c, d = 0] = 0, x1 = 0, x2 = 0")
    assert alone.index.tolist() == [
        "f[T.c, d = 0] = 0",
        "x1 = 0",
        "x2 = 0",
        "joint",
    ]
    for text in ("f[T.c, d = 0] = 0, x1, x2", "x1, x2 = 0, f[T.c, d = 0] = 0"):
        assert fit.test(text).loc["joint", "chisq"] == pytest.approx(
            alone.loc["joint", "chisq"], rel=1e-10
        )


def test_hypotheses_that_contradict_each_other(fit):
    table = fit.test("temp = 0, temp = 1")
    assert (
        np.isposinf(table.loc["joint", "chisq"])
        and table.loc["joint", "p_value"] == 0.0
    )


def test_one_coefficient_is_the_z_test(fit):
    table = fit.test("contact = 0")
    assert table["chisq"].iloc[0] == pytest.approx(
        fit.z_values["contact[T.yes]"] ** 2, rel=1e-12
    )
    assert table["p_value"].iloc[0] == pytest.approx(
        fit.p_values["contact[T.yes]"], rel=1e-10
    )


def test_names_with_commas_and_operators():
    data = load_data("sim500")
    fit = ordfit("y ~ ns(x1, df=2) + I(x2 + x3) + I(x2^2)", data=data)
    place = fit.parameters.names.index("ns(x1, df=2)[2]")
    table = fit.test("ns(x1, df=2)[2] = I(x2 + x3), I(x2^2) = 0")
    expected = fit.params.iloc[place] - fit.params["I(x2 + x3)"]
    assert table["difference"].iloc[0] == pytest.approx(expected, rel=1e-12)
    assert len(table) == 3


def test_another_covariance(fit):
    V = fit.vcov("HC1").to_numpy()
    assert fit.test("temp = 0", vcov="HC1")["std_error"].iloc[0] == pytest.approx(
        np.sqrt(V[4, 4]), rel=1e-12
    )
    assert fit.with_vcov("HC1").test("temp = 0")["std_error"].iloc[0] == pytest.approx(
        np.sqrt(V[4, 4]), rel=1e-12
    )


@pytest.mark.parametrize(
    ("text", "match"),
    [
        (
            "temp, tmep",
            r"equations such as .*, or terms .*; got 'tmep'\. Did you mean 'temp'",
        ),
        ("taste = 0", "expected a number or a parameter, got 'taste'"),
        ("temp * contact = 0", "not linear"),
        ("1 / temp = 0", "not linear"),
        ("temp = contact = 0", "got '= ='"),
        ("temp - temp = 0", "does not depend"),
        ("(temp = 0", "cannot be read"),
        ("", "hypotheses must be equations"),
        ("temp[T.cold] = 0", "temp"),
        ("temporal = 0", "got 'temporal'"),
        ("contcat = 0", r"got 'contcat'\. Did you mean 'contact'"),
        ("temp <= 0", "expected '=', got '<='"),
    ],
)
def test_texts_that_are_no_hypotheses(fit, text, match):
    with pytest.raises(OptionError, match=match):
        fit.test(text)


@pytest.mark.filterwarnings("ignore::ordstat.exceptions.OrdstatWarning")
def test_infinite_and_aliased_parameters():
    fit = ordfit("y ~ x + z", data=load_data("sep"))
    assert np.isnan(fit.test("z = 0")["p_value"].iloc[0])
    assert 0.0 < fit.test("x = 0")["p_value"].iloc[0] < 1.0
    aliased = ordfit("y ~ x + I(2 * x)", data=load_data("sep"))
    with pytest.raises(OptionError, match="aliased"):
        aliased.test("I(2 * x) = 0")


@pytest.mark.parametrize("text", ["`x y`", "x y", "`x y` = 0", " x y "])
def test_backticks_and_blanks_around_a_name(odd, text):
    expected = (odd.coef["x y"] / odd.se["x y"]) ** 2
    assert odd.test(text)["chisq"].iloc[0] == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("R_age", ["ns(R_age, 3)[1]", "ns(R_age, 3)[2]", "ns(R_age, 3)[3]"]),
        ("ns(R_age,3)", ["ns(R_age, 3)[1]", "ns(R_age, 3)[2]", "ns(R_age, 3)[3]"]),
        ("day", ["C(day)[T.2]", "C(day)[T.3]"]),
        ("size", ["log(size)", "I(size ** 2)"]),
        ("z", ["z"]),
    ],
)
def test_a_variable_means_all_terms_made_of_it_alone(odd, text, columns):
    """A term of its own comes first: z, without z:day."""
    V = odd.vcov().loc[columns, columns].to_numpy()
    b = odd.coef[columns].to_numpy()
    last = odd.test(text).iloc[-1]
    assert last["chisq"] == pytest.approx(b @ np.linalg.solve(V, b), rel=1e-8)
    assert last["df"] == len(columns)


def test_a_variable_without_a_term_of_its_own_is_refused(odd):
    with pytest.raises(OptionError, match="got 'only'"):
        odd.test("only")


@pytest.fixture(scope="module")
def odd():
    rng = np.random.default_rng(0)
    names = ["x y", "R_age", "z", "only"]
    data = pd.DataFrame(rng.normal(size=(300, 4)), columns=names)
    data["day"] = rng.integers(1, 4, 300)
    data["size"] = rng.uniform(1, 3, 300)
    data["y"] = np.digitize(data["x y"] + rng.logistic(size=300), [-1, 0, 1])
    formula = (
        "y ~ `x y` + C(day) + ns(R_age, 3) + log(size) + I(size ** 2) + z + z:C(day) +"
        " only:C(day)"
    )
    return ordfit(formula, data)


def test_estimates_that_meet_in_the_limit_are_one_hypothesis():
    """Beside group b, which gave only the ends of the scale, the spreads of the others
    vanish: their effects meet at the logit of b's share of the lowest level.
    """
    counts = {"b": [9, 0, 11], "a": [7, 8, 5], "c": [5, 9, 4]}
    rows = [(g, y) for g, n in counts.items() for y in range(3) for _ in range(n[y])]
    data = pd.DataFrame(rows, columns=["g", "y"])
    data["g"] = pd.Categorical(data["g"], list(counts))
    with pytest.warns(ConvergenceWarning):
        fit = ordfit("y ~ g", data, scale="~ g")
    chisq = np.log(9 / 11) ** 2 / (1 / 9 + 1 / 11)
    for table in (
        fit.test("g").iloc[[-1]],
        fit.anova(type="III"),
        fit.anova(type="II"),
    ):
        assert table["df"].tolist() == [1]
        np.testing.assert_allclose(table["chisq"], chisq, rtol=1e-4)
        assert any("1 of 2 hypotheses" in note for note in table.attrs["notes"])

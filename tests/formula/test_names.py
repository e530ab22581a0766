"""Printed names come from the record of a term, never from its text."""

import numpy as np
import pandas as pd
import pytest
from seams import build

from ordstat import ElasticNet, OptionError, datasets, ordfit, table
from ordstat.formula.names import in_own_names, printed_names, shown_factor
from ordstat.formula.parse import parse_expression
from ordstat.report.frames import NotedFrame

#: Names of columns and levels with the signs that formulas and names of columns use.
ODD_COLUMNS = ("dose [mg]", "a:b", "rate.x (T.)", "1|2")
ODD_LEVELS = ("x:y", "v: w", "S.q", "p [T.q]", "u")


@pytest.fixture(scope="module")
def odd():
    rng = np.random.default_rng(7)
    n = 240
    data = pd.DataFrame({name: rng.normal(size=n) for name in ODD_COLUMNS})
    data["g"] = rng.choice(ODD_LEVELS, n)
    score = data["dose [mg]"] + data["a:b"] + rng.logistic(size=n)
    data["y"] = pd.cut(
        score, [-np.inf, -1, 0.5, np.inf], labels=["lo:w", "mid [x]", "hi"]
    )
    return data


COLUMNS = "`dose [mg]` + `rate.x (T.)` + `1|2` + `a:b` * C(g)"


@pytest.fixture(scope="module")
def fit(odd):
    return ordfit(f"y ~ {COLUMNS}", odd)


def expected_rows():
    levels = sorted(ODD_LEVELS)[1:]
    rows = ["dose [mg]", "rate.x (T.)", "1|2", "a:b"]
    rows += [f"g: {level}" for level in levels]
    return rows + [f"a:b × g: {level}" for level in levels]


def test_summary_shows_columns_and_levels_as_they_are(fit):
    full = fit.summary("model").tables["Location effects (positive = higher response)"]
    assert full.index.tolist() == expected_rows()
    text = str(fit.summary())
    assert all(f"\n{row} " in text for row in expected_rows())
    assert f"Reference levels: g: {sorted(ODD_LEVELS)[0]}" in text


def test_print_and_tables_show_the_same_names(fit):
    assert all(f"{row} " in repr(fit).replace("\n", " ") for row in expected_rows())
    paper = table(fit).df.index.get_level_values(1).tolist()
    assert paper[: len(expected_rows())] == expected_rows()
    assert paper[len(expected_rows()) :][:2] == ["lo:w|mid [x]", "mid [x]|hi"]
    clinical = table(fit, style="clinical").df.index.get_level_values(1)
    assert [row for row in clinical if row in expected_rows()] == expected_rows()


def test_exports_show_the_same_names(fit):
    latex = fit.tidy().to_latex()
    for text in (
        "dose {[}mg] &",
        "a:b &",
        "g: x:y &",
        r"a:b $\times$ g: v: w &",
        "lo:w\\textbar{}mid {[}x] &",
    ):
        assert text in latex
    assert fit.confint().shown().index[-1] == expected_rows()[-1]
    assert fit.anova().shown().index.tolist() == [
        "dose [mg]",
        "rate.x (T.)",
        "1|2",
        "a:b",
        "g",
        "a:b × g",
    ]


def test_pictures_show_the_same_names(fit):
    ax = fit.plot.forest()
    drawn = [label.get_text().replace("\n", " ") for label in ax.get_yticklabels()]
    assert drawn == expected_rows()


@pytest.mark.parametrize("method", ["ordboost", "cart"])
def test_importance_shows_the_same_names(odd, method):
    fitted = ordfit("y ~ `dose [mg]` + `a:b` + g", odd, method)
    shown = fitted.importance(kind="gain").shown().index
    assert set(shown) <= {
        "dose [mg]",
        "a:b",
        "g",
        *(f"g: {level}" for level in ODD_LEVELS),
    }


def test_nominal_scale_and_random_effects(odd):
    rng = np.random.default_rng(3)
    schools = np.arange(240) % 12
    own = rng.normal(size=(2, 12))[:, schools]
    score = 1.5 * own[0] + (1.0 + own[1]) * odd["a:b"] + rng.logistic(size=240)
    data = odd.assign(
        school=schools,
        y=pd.cut(score, [-99, -1, 1, 99], labels=["lo:w", "mid [x]", "hi"]),
    )
    partial = ordfit("y ~ `1|2`", data, nominal="~ `dose [mg]`", scale="~ `a:b`")
    names = partial.names_shown()
    assert names["lo:w|mid [x].dose [mg]"] == "dose [mg], lo:w|mid [x]"
    assert names["scale.a:b"] == "a:b (scale)"
    mixed = ordfit("y ~ `dose [mg]` + (1 + `a:b` | school)", data)
    assert (
        mixed.names_shown()["cor_a:b.(Intercept)|school"]
        == "Correlation a:b with (Intercept), school"
    )
    assert "school a:b" in str(mixed.summary())


def test_labels_of_the_user(odd):
    labels = {"dose [mg]": "Dose", "g": "Group", "y": "Answer", "a:b": "Ratio"}
    shown = table(
        ordfit(f"y ~ {COLUMNS}", odd), labels=labels
    ).df.index.get_level_values(1)
    assert (
        shown[0] == "Dose" and "Group: x:y" in shown and "Ratio × Group: x:y" in shown
    )


@pytest.mark.parametrize(
    ("text", "labels", "shown"),
    [
        ("log(income)", {"income": "Income, EUR"}, "log(Income, EUR)"),
        ("ns(age, df=3)", {"age": "Age [years]"}, "ns(Age [years], df=3)"),
        ("log(log)", {"log": "Log"}, "log(Log)"),
        ("C(job, Sum)", {"job": "Occupation"}, "Occupation"),
        ("C(job)", {"C(job)": "Class"}, "Class"),
        ("I(a - b)", {}, "I(a - b)"),
        ("data.x", {"data.x": "X"}, "X"),
    ],
)
def test_factors_with_labels(text, labels, shown):
    assert shown_factor(parse_expression(text), labels) == shown


def test_only_levels_stand_after_a_colon():
    """Numbered columns of splines and of contrasts keep their names, as do other
    contrasts.
    """
    data = pd.DataFrame(
        {"y": [1, 2, 3] * 8, "x": np.arange(24.0), "g": list("abcd") * 6}
    )
    design = build("y ~ poly(x, 2) + C(g, Sum)", data)
    shown = [name.shown() for name in design.spec.column_names["location"]]
    assert shown == ["poly(x, 2)[1]", "poly(x, 2)[2]", "g[S.a]", "g[S.b]", "g[S.c]"]
    matrix = build("y ~ g", data, contrasts={"g": np.eye(4)[:, 1:]})
    assert [name.shown() for name in matrix.spec.column_names["location"]] == [
        "g[1]",
        "g[2]",
        "g[3]",
    ]
    assert not matrix.spec.references


def test_cells_that_are_no_names_stay():
    """A level of the response that reads like a product is not rewritten in exports."""
    frame = pd.DataFrame({"level": ["a:b", "x[T.z]"], "n": [1, 2]})
    labels = {"a:b": "a × b", "x[T.z]": "x: z"}
    assert NotedFrame.of(frame, labels=labels).shown()["level"].tolist() == [
        "a:b",
        "x[T.z]",
    ]
    named = NotedFrame.of(frame.rename(columns={"level": "term"}), labels=labels)
    assert named.shown()["term"].tolist() == ["a × b", "x: z"]


def test_a_name_of_two_things_is_printed_as_it_is():
    assert printed_names([("a:b", "a × b"), ("a:b", "a:b"), ("c", "C")]) == {"c": "C"}


def test_the_page_shows_the_same_names(fit, odd, tmp_path):
    page = tmp_path / "page.html"
    fit.report(page)
    text = page.read_text(encoding="utf-8")
    columns = text[
        text.index("Columns of the model") : text.index("its rows are those with 1")
    ]
    assert all(f">{row}<" in columns for row in expected_rows())
    plain = tmp_path / "plain.html"
    # no column of a level, so no note on them
    ordfit("y ~ `dose [mg]`", odd).report(plain)
    assert "its rows are those with 1" not in plain.read_text(encoding="utf-8")


def test_printed_names_mean_the_same_as_names(odd):
    fit = ordfit("y ~ `dose [mg]` + g", odd)
    for name in fit.coef.index[1:]:
        level = name.removeprefix("g[T.").removesuffix("]")
        printed = f"g: {level}"
        assert fit.confint(printed).equals(fit.confint(name))
        assert fit.test(printed).equals(fit.test(name))
        for text in (f"{printed} = 0.5 * dose [mg]", f"`{printed}` = 0.5*`dose [mg]`"):
            tested = fit.test(text)["difference"].item()
            expected = fit.coef[name] - 0.5 * fit.coef["dose [mg]"]
            assert tested == pytest.approx(expected, rel=1e-12)


WINE = datasets.load("wine")


@pytest.mark.parametrize(
    ("ask", "name"),
    [
        (lambda fit, name: fit.profile(name, points=3), "contact[T.yes]"),
        (lambda fit, name: fit.plot.profiles(parm=name, draw=False), "contact[T.yes]"),
        (
            lambda fit, name: fit.draws(100, prior={name: (0.0, 1.0)}, seed=1).frame,
            "contact[T.yes]",
        ),
        (
            lambda fit, name: fit.update(penalty=ElasticNet(factors={name: 0.0})).path,
            "contact[T.yes]",
        ),
    ],
)
def test_every_question_takes_printed_names(ask, name):
    fit = ordfit("rating ~ temp + contact", WINE)
    pd.testing.assert_frame_equal(ask(fit, "contact: yes"), ask(fit, name))


def test_a_column_means_its_effects_on_all_thresholds():
    fit = ordfit("rating ~ temp", WINE, nominal="~ contact", scale="~ temp")
    names = [name for name in fit.params.index if name.endswith(".contact[T.yes]")]
    assert len(names) == 4
    table = fit.test("contact: yes")
    assert table.index.tolist()[:-1] == [f"{name} = 0" for name in names]
    assert table.equals(fit.test("contact"))
    for text in ("contact", "contact: yes", "contact[T.yes]"):
        assert fit.confint(text).index.tolist() == names
    assert fit.confint("contact: yes, 1|2").index.tolist() == names[:1]
    assert fit.confint("temp: warm (scale)").index.tolist() == ["scale.temp[T.warm]"]


@pytest.mark.parametrize(
    ("shown", "text", "meant"),
    [
        # own names that hold printed ones
        ({"C(g)[T.b]": "g: b", "C(g)": "g"}, "C(g)[T.b] = 0", "C(g)[T.b] = 0"),
        # printed names that are parts of others, or numbers of them
        ({"g[T.1]": "g: 1", "g[T.10]": "g: 10"}, "g: 10 = g: 1", "g[T.10] = g[T.1]"),
        ({"g[T.1]": "g: 1"}, "g: 1.5 = 0", "g: 1.5 = 0"),
        # the name of another column
        ({"g[T.a]": "g: a", "g: a": "g: a"}, "g: a", "g: a"),
        # a name that two things share
        ({"g[T.a]": "g: a", "h": "g: a"}, "g: a = 0", "g: a = 0"),
    ],
)
def test_only_whole_printed_names_of_one_thing_are_replaced(shown, text, meant):
    assert in_own_names(text, shown) == meant


def test_a_prior_names_a_term_of_one_column():
    fit = ordfit("rating ~ temp + judge", WINE)
    one, other = (
        fit.draws(100, prior={name: (0.0, 1.0)}, seed=1).frame
        for name in ("temp", "temp[T.warm]")
    )
    assert one.equals(other)
    with pytest.raises(OptionError, match="got 'judge'"):
        fit.draws(100, prior={"judge": (0.0, 1.0)})


def test_a_parameter_named_in_two_ways_has_one_prior():
    fit = ordfit("rating ~ temp", WINE)
    with pytest.raises(OptionError, match="each parameter once"):
        fit.draws(100, prior={"temp: warm": (0, 1), "temp[T.warm]": (0, 2)})


def test_signs_of_columns_by_printed_names():
    data = WINE.assign(x=np.arange(72.0) % 5, z=np.arange(72.0) % 7)
    by_name, by_text_ = (
        ordfit(
            "rating ~ x:z", data, "ordboost", rounds=3, depth=1, constraints={name: "+"}
        )
        for name in ("x:z", "x \N{MULTIPLICATION SIGN} z")
    )
    assert by_name.thresholds.equals(by_text_.thresholds)

"""The summary of one screen, its sections, and what `print` shows."""

import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from expected import refused, weights_not_whole
from problems import ranked

from ordstat import SeparationWarning, datasets, ordfit, table
from ordstat.report.cells import cells

GOLDEN = Path(__file__).parents[1] / "golden" / "summaries"
FORMULA = "rating ~ temp + contact"
CALLS = {
    "clm": {},
    "nominal": {"nominal": "~ contact", "formula": "rating ~ temp", "method": "probit"},
    "redsvm": {"method": "redsvm", "kernel": "linear"},
    "orboost-all": {"method": "orboost-all", "rounds": 20},
    "cart": {"method": "cart"},
    "csovo": {"method": "csovo"},
    "acat": {"method": "acat"},
    "sratio": {"method": "sratio", "link": "cloglog", "direction": "backward"},
    "jeffreys": {"penalty": "jeffreys"},
    "mixed": {"formula": f"{FORMULA} + (1 | judge)"},
    "prank": {"method": "prank"},
    "scale": {"scale": "~ temp"},
    "separated": {"formula": "answer ~ group"},
}
#: Methods of every other kind.
OTHERS = [
    {"method": "probit"},
    {"method": "cratio"},
    {"method": "cloglog", "vcov": {"cluster": "judge"}},
    {"link": "aranda-ordaz"},
    {"threshold": "symmetric"},
    {"method": "svor-imc", "kernel": "linear"},
    {"method": "rank-svm", "kernel": "linear"},
    {"method": "orboost-lr", "rounds": 10, "learner": "perceptron"},
    {"method": "ordinal-bagging", "rounds": 10},
    {"method": "rps-forest", "trees": 10},
    {"method": "ordboost"},
    {"method": "kernel-clm"},
    {"method": "blend", "members": ["logit", "cart"]},
    {"method": "red-tree"},
    {"method": "redsvm", "kernel": "linear", "calibrate": True},
]


def wine():
    """With a group that gives one answer alone."""
    data = datasets.load("wine")
    group = np.where(
        data["judge"] == 9, "c", np.where(data["judge"].cat.codes % 2 == 0, "a", "b")
    )
    answer = data["rating"].astype(int).clip(2, 4).where(group != "c", 4)
    return data.assign(group=group, answer=answer)


def fitted(name):
    arguments = {"formula": FORMULA, "data": wine(), **CALLS[name]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeparationWarning)
        return ordfit(**arguments)


@pytest.mark.parametrize("name", CALLS)
def test_text(name):
    """As it was looked at; numbers are held elsewhere."""
    expected = (GOLDEN / f"{name}.txt").read_text()
    actual = f"{fitted(name).summary()}\n\n{fitted(name)}\n"
    assert without_rounding(actual) == without_rounding(expected)


def without_rounding(text):
    """The text without digits of certificates that are rounding, and without numbers of
    iterations.
    """
    return re.sub(r"\d[\d.]*e-1\d(?=\))|\d+(?= iterations)", "0", text)


@pytest.mark.parametrize("options", [*CALLS.values(), *OTHERS], ids=str)
@pytest.mark.filterwarnings("ignore::ordstat.exceptions.OrdstatWarning")
def test_one_screen(options):
    lines = str(
        ordfit(**{"formula": FORMULA, "data": wine(), **options}).summary()
    ).splitlines()
    assert len(lines) <= 32 and max(map(len, lines)) <= 80


def test_effects_of_one_head():
    """Location, nominal and scale effects go on below each other."""
    fit = ordfit("rating ~ temp", wine(), nominal="~ contact", scale="~ temp")
    summary = fit.summary()
    (table,) = [block for block in summary.report.tables if getattr(block, "below", ())]
    assert [piece.title.split()[0] for piece in (table, *table.below)] == [
        "Location",
        "Scale",
    ]
    text = str(summary).splitlines()
    heads = [
        line.split()[0]
        for line in text
        if line.split()[:1] in (["Location"], ["Nominal"], ["Scale"])
    ]
    assert (
        heads == ["Location", "Scale", "Nominal"]
        and sum("estimate" in line for line in text) == 1
    )
    location, scale = [line.split() for line in text if line.startswith("temp: warm ")]
    assert float(location[2]) == pytest.approx(fit.params["temp[T.warm]"], abs=6e-4)
    assert float(scale[2]) == pytest.approx(fit.params["scale.temp[T.warm]"], abs=6e-4)
    assert (
        "Scale effects" in summary._repr_html_()
        and 'colspan="7"' in summary._repr_html_()
    )


def test_nominal_effects_one_row_each():
    """In 80 columns, estimates with standard errors below the thresholds that they
    belong to.
    """
    fit = ordfit(
        "rating ~ temp", wine().query("group != 'c'"), nominal="~ contact + group"
    )
    text = str(fit.summary()).splitlines()
    assert [line.split() for line in text].count(["1|2", "2|3", "3|4", "4|5"]) == 1
    for label, name in {
        "contact: yes": "contact[T.yes]",
        "group: b": "group[T.b]",
    }.items():
        (row,) = [line for line in text if line.startswith(label)]
        cells = row.removeprefix(label).replace("(", "").replace(")", "").split()
        for k, threshold in enumerate(["1|2", "2|3", "3|4", "4|5"]):
            column = f"{threshold}.{name}"
            assert [float(cell) for cell in cells[2 * k : 2 * k + 2]] == pytest.approx(
                [fit.params[column], fit.se[column]], abs=6e-4
            )


def _sections(summary):
    """The line that names them; notes may follow."""
    return next(line for line in summary.splitlines() if line.startswith("More: "))


@pytest.mark.parametrize("name", CALLS)
def test_sections_make_up_the_whole(name):
    fit = fitted(name)
    whole = fit.summary("all")
    *parts, last = (
        _sections(str(fit.summary()))
        .removeprefix("More: summary(")
        .replace(")", "")
        .split(", ")
    )
    assert last == '"all"'
    shown = [fit.summary(part.strip('"')).report for part in parts]
    titles = [table.title for report in shown for table in report.blocks]
    assert sorted(titles) == sorted(whole.tables) and list(
        fit.summary().tables
    ) == list(whole.tables)
    for left_out in {"model", "fit", "errors", "margins", "bounds"} - {
        part.strip('"') for part in parts
    }:
        with refused("section"):
            fit.summary(left_out)


def test_unknown_sections_are_refused():
    with refused("section", "'error'. Did you mean 'errors'"):
        fitted("clm").summary("error")


@pytest.mark.parametrize("cost", ["classification", "absolute", "squared"])
def test_errors_of_one_level(cost):
    """Wine: 5, 22, 26, 12, 7 bottles of ratings 1 to 5; by hand for always 3."""
    table = fitted("redsvm").update(cost=cost).summary().report.tables[1].frame
    n = np.array([5, 22, 26, 12, 7])
    distance = np.abs(np.arange(5) - 2)
    expected = {
        "classification error": 1 - 26 / 72,
        "absolute error": n @ distance / 72,
        "concordance": 0.5,
    }
    expected |= (
        {"cost": n @ distance**2 / 72}
        if cost == "squared"
        else {"macro absolute error": distance.mean()}
    )
    for name, value in expected.items():
        assert table.loc[name, "always 3"] == pytest.approx(value)
    assert table.loc["quadratic kappa", "always 3"] == 0.0


def test_the_constant_is_the_best_one_under_the_cost_of_the_fit():
    """Of 944 answers the first of seven levels has 200, the most; the third is the
    median.
    """
    anes = datasets.load("anes96")
    absolute = ordfit("PID ~ age", anes, "red-logistic").summary()
    assert list(absolute.report.tables[1].frame) == [
        "fit",
        "always level 3",
    ] and "Cost absolute" in str(absolute)
    frame = (
        ordfit("PID ~ age", anes, "red-logistic", cost="classification")
        .summary()
        .report.tables[1]
        .frame
    )
    assert list(frame) == ["fit", "always level 1"] and frame.iloc[
        0, 1
    ] == pytest.approx(1 - 200 / 944)


def test_ratios_in_the_row_of_their_effect():
    """R, ordinal 2022.11-16: exp(cbind(coef(fm1), confint(fm1, type =
    "Wald")))["tempwarm", ] for the wine data.
    """
    fit = fitted("clm")
    row = next(
        line for line in str(fit.summary()).splitlines() if line.startswith("temp")
    )
    assert row.split()[2:] == [
        "2.503",
        "0.529",
        "4.73",
        "<.001",
        "1.467",
        "3.539",
        "12.22",
        "4.34",
        "34.44",
    ]
    assert "OR" not in str(fit.summary(exponentiate=False))
    assert "exp = exp(estimate)" in str(fitted("nominal").summary(exponentiate=True))


def test_what_to_try_where_proportional_odds_fail():
    """The term that gains most likelihood by an effect at each threshold is named."""
    fit = ordfit("PID ~ selfLR + age + educ", datasets.load("anes96"))
    gains = {
        name: fit.update(f"~ . - {name}", nominal=f"~ {name}").loglik
        for name in ("selfLR", "age", "educ")
    }
    worst = max(gains, key=gains.get)
    text = " ".join(str(fit.summary()).split())
    assert f"Effects differ between thresholds, most for {worst} (p < .001)." in text
    assert (
        f'Try update("~ . - {worst}", nominal="~ {worst}"); see plot.parallel().'
        in text
    )
    wider = " ".join(str(fit.update("~ . - educ", nominal="~ educ").summary()).split())
    assert f'Try update("~ . - {worst}", nominal="~ educ + {worst}")' in wider
    assert "Try update" not in str(fitted("clm").summary())
    text = str(
        ordfit("PID ~ selfLR + age", datasets.load("anes96"), vcov="HC1").summary()
    )
    assert (
        "Proportional odds, Wald test: chi2(10) = " in text
        and 'Try update("~ . - selfLR"' in text
    )


def test_what_cannot_be_tried_is_not_advised():
    """Whoever has x = 3 is at level 2 or 3 evenly: the effect on 1|2 is infinite, as
    the refit says.
    """
    data = pd.DataFrame(
        {
            "x": [0] * 40 + [3] * 40,
            "y": ([1] * 30 + [2] * 2 + [3] * 8) + [2] * 20 + [3] * 20,
        }
    )
    text = " ".join(str(ordfit("y ~ x", data).summary()).split())
    assert (
        "Effects differ between thresholds" in text
        and "are infinite" in text
        and "Try update" not in text
    )


def test_proportional_odds_only_where_there_is_a_test():
    assert "Proportional odds, score test: chi2(6) = 2.84, p = .828" in str(
        fitted("clm").summary()
    )
    for changed in ({"vcov": "HC1"}, {"penalty": 1.0}, {"threshold": "equidistant"}):
        text = str(ordfit(FORMULA, datasets.load("wine"), **changed).summary())
        assert "score test:" not in text and "Equal effects at all thresholds" in text


def test_proportional_odds_that_need_another_fit(tmp_path):
    wine = datasets.load("wine")
    wine.to_parquet(tmp_path / "wine.parquet")
    mixed = ordfit(f"{FORMULA} + (1 | judge)", wine, "probit").summary()
    assert (
        "Equal effects at all thresholds were not tested: use nominal_test()."
        in str(mixed)
    )
    blocks = ordfit("rating ~ temp", str(tmp_path / "wine.parquet"), "acat").summary()
    assert (
        "Equal effects at all thresholds were not tested: use score_test() of a sample."
        in str(blocks)
    )
    assert "Equal effects" not in str(
        ordfit("rating ~ 1 + (1 | judge)", wine).summary()
    )


def test_notebook():
    html = fitted("clm").summary()._repr_html_()
    assert (
        html.count("<details>") == html.count("</details>") == 1
        and "Margins of the rows" in html
    )
    assert (
        "Call:" in fitted("redsvm")._repr_html_()
        and "<details>" not in fitted("redsvm")._repr_html_()
    )


def test_every_ratio_has_a_short_head():
    """Of each family and link: the odds of neighbouring levels are another ratio."""
    heads = (
        ({}, "OR"),
        ({"method": "cloglog"}, "HR"),
        ({"method": "acat"}, "AOR = adjacent odds ratio"),
        ({"method": "cratio"}, "COR = continuation odds ratio"),
        ({"method": "cratio", "link": "loglog"}, "HR = exp(-estimate), hazard ratio"),
        ({"method": "sratio", "link": "cloglog"}, "HR = exp(-estimate), hazard ratio"),
    )
    for options, head in heads:
        assert head in str(ordfit(FORMULA, datasets.load("wine"), **options).summary())


def test_estimates_without_end_say_so():
    """No score test and no solver's number."""
    fit = fitted("separated")
    text = str(fit.summary())
    assert "group: c       inf" in text and "score test" not in text
    assert fit.score_test()["p_value"].isna().all()
    # R: where its search stopped
    assert fit.coef["group[T.c]"] == np.inf and np.isfinite(fit.coef["group[T.b]"])


LONG = "a region with a rather long name, as surveys have them"


@pytest.fixture(scope="module")
def survey():
    """Names with blanks, quotes and letters of two cells; long labels of a factor."""
    rng = np.random.default_rng(3)
    d = pd.DataFrame(
        {
            "place 'of birth'": rng.choice(["北京", LONG, "Elsewhere"], 200),
            "x": rng.normal(size=200),
        }
    )
    latent = d["x"] + rng.logistic(size=200)
    names = ["no influence at all", "rather satisfied", "very satisfied"]
    return d.assign(**{"an answer": pd.cut(latent, [-99, 0, 1, 99], labels=names)})


def test_long_names_are_broken_and_nothing_of_them_is_lost(survey):
    fit = ordfit("`an answer` ~ x + `place 'of birth'`", survey)
    text = str(fit.summary()).splitlines()
    assert max(map(cells, text)) <= 80
    shown = " ".join(line.strip() for line in text)
    assert "place 'of birth'" in shown and all(word in shown for word in LONG.split())
    labelled = next(line for line in text if line.startswith("x "))
    assert f"{fit.coef['x']:.3f}" in labelled


def test_letters_of_two_cells_keep_columns_below_each_other(survey):
    fit = ordfit("`an answer` ~ `place 'of birth'` + x", survey.replace({LONG: "上海"}))
    for text in (str(fit.summary()), str(fit.tidy(conf_int=False)), str(fit.confint())):
        lines = text.splitlines()
        rule = next(i for i, line in enumerate(lines) if line and set(line) == {"-"})
        rows = [
            line
            for line in lines[rule + 1 : rule + 9]
            if "上海" in line or line.startswith("x ")
        ]
        assert len(rows) == 2 and len(set(map(cells, rows))) == 1


def test_long_names_of_many_levels_stand_once():
    """Thresholds, and levels that are always predicted, go by the numbers of the
    header; sections keep the names.
    """
    fit = ordfit("PID ~ selfLR + age + educ + income", datasets.load("anes96"))
    text = str(fit.summary())
    assert len(text.splitlines()) <= 32 and max(map(len, text.splitlines())) <= 80
    words = " ".join(text.split())
    assert (
        "Levels 1 = Strong Democrat (200), 2 = Weak Democrat (180), 3 ="
        " Independent-Democrat (108)" in words
    )
    thetas = [
        f"{k}|{k + 1} {theta:.3f}" for k, theta in enumerate(fit.thresholds, start=1)
    ]
    assert all(theta in words for theta in thetas) and "Democrat|" not in text
    assert "Strong Democrat|Weak Democrat" in str(
        fit.summary("model")
    ) and "1 =" not in str(fit.summary("model"))


def test_numbers_of_levels_are_not_given_other_numbers():
    """Eleven levels 0 to 10, whose thresholds take more than three lines."""
    x = np.linspace(0.0, 1.0, 220)
    data = pd.DataFrame({"x": x, "y": np.tile(np.arange(11), 20)})
    text = str(ordfit("y ~ x", data).summary())
    assert "Levels 0 (20), 1 (20)" in text and "Thresholds  0|1 " in text


def test_predictions_of_one_level_are_told():
    """Housing: a linear RED-SVM, certified, has no effect. Raising the score of tenants
    whose share of the lowest level is a and of the highest c from 0 changes the hinge
    loss by a + (1 - 2 c), lowering it by c + (1 - 2 a).
    """
    housing = datasets.load("housing")
    for name in ("Infl", "Type", "Cont"):
        counts = housing.pivot_table(
            "Freq", name, "Sat", "sum", observed=True
        ).to_numpy()
        a, _, c = (counts / counts.sum(axis=1, keepdims=True)).T
        assert (a + 1 - 2 * c > 0).all() and (c + 1 - 2 * a > 0).all()
    formula = "Sat ~ Infl + Type + Cont"
    text = " ".join(
        str(
            ordfit(
                formula, housing, "redsvm", weights="Freq", kernel="linear"
            ).summary()
        ).split()
    )
    assert (
        "* All rows are predicted to be 'Medium', the level of least cost whatever the"
        " predictors." in text
    )
    for other in (
        ordfit(formula, housing, weights="Freq"),
        ordfit("rating ~ 1", wine()),
    ):
        assert "All rows are predicted" not in str(other.summary())


def test_confusion_of_long_names_is_one_block():
    """Columns by numbers that the rows tell; the numbers of the data stay under their
    names.
    """
    fit = ordfit("PID ~ selfLR + age", datasets.load("anes96"), nominal="~ educ")
    table = fit.confusion()
    assert list(table.columns) == list(table.index) == list(fit.levels)
    for text in (str(table), str(fit.summary("errors"))):
        lines = text.splitlines()
        head = next(i for i, line in enumerate(lines) if line.startswith("observed"))
        assert lines[head].split()[:8] == ["observed", *"1234567"]
        assert (
            lines[head + 2].startswith("1 = Strong Democrat")
            and max(map(len, lines)) <= 80
        )
        actual = np.array(
            [
                line.split()[-10 if "abs." in lines[head] else -7 :][:7]
                for line in lines[head + 2 : head + 9]
            ]
        )
        assert (actual.astype(int) == table.to_numpy()).all()
    screen = str(fit.summary())
    assert any(
        line.split() == ["1|2", "2|3", "3|4", "4|5"] for line in screen.splitlines()
    )
    assert "Democrat.educ" not in screen and "Democrat|" not in screen


def test_confusion_of_many_numbers_keeps_them():
    data = pd.DataFrame({"y": np.tile(np.arange(30), 20), "x": np.arange(600.0)})
    text = str(ordfit("y ~ x", data).confusion())
    assert " = " not in text and "observed   0" in text


def test_formulas_are_broken_behind_operators():
    """In headings, calls and labels of rows, typed with blanks or without; no name is
    taken apart.
    """
    names = [f"a_rather_long_column_name_{k}" for k in range(5)]
    data = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 5)), columns=names)
    data["an answer"] = np.arange(60) % 3
    for formula in (
        f"`an answer`~{'+'.join(names)}",
        f"`an answer` ~ {' + '.join(names)}",
    ):
        fit = ordfit(formula, data)
        for text in (str(fit.summary("fit")), str(fit)):
            lines = text.splitlines()
            heading = " ".join(lines[: lines.index("=" * 80)])
            assert max(map(len, lines)) <= 80 and all(
                name in heading for name in (*names, "`an answer`")
            )
    interactions = ordfit(f"`an answer` ~ {' * '.join(names[:3])}", data).anova()
    *_, first, second = str(interactions).splitlines()
    assert first.startswith(f"{names[0]}:{names[1]}: ") and second.strip() == names[2]


@pytest.mark.parametrize("options", [
    {"method": "rps-forest", "trees": 10},
    {"method": "blend", "members": ["logit", "cart"]},
    {"method": "red-tree"},
], ids=lambda options: options["method"])  # fmt: skip
def test_thresholds_that_nobody_fitted_are_no_estimates(options):
    """The score is the interpolated median, so its thresholds are 1, ..., K-1 for any
    data.
    """
    fit = ordfit(FORMULA, datasets.load("wine"), **options)
    assert fit.thresholds.tolist() == [1.0, 2.0, 3.0, 4.0]
    assert "Thresholds" not in str(
        fit
    ) and "score: the interpolated median" in " ".join(str(fit).split())
    assert "Thresholds" not in str(fit.summary("all")) and fit.params.empty
    assert len(fit.tidy()) == 0 and "No threshold was fitted" in str(fit.tidy())
    together = table([fit, ordfit(FORMULA, datasets.load("wine"))])
    assert "4.000" not in str(together) and "1|2" in str(together)


def test_thresholds_that_were_fitted_are_told():
    for options in (
        {"method": "ordboost"},
        {"method": "redsvm"},
        {"method": "red-logistic"},
        {"method": "kernel-clm"},
    ):
        fit = ordfit(FORMULA, datasets.load("wine"), **options)
        assert (
            "Thresholds  1|2" in str(fit)
            and len(fit.tidy()) >= 4
            and "median" not in str(fit)
        )


def frame(third: float) -> pd.DataFrame:
    weights = [1_000_001.0, 234_566.0, third, 1_000_000.0]
    return pd.DataFrame({"y": [1, 1, 2, 2], "x": [0.0, 1.0, 0.0, 1.0], "w": weights})


def test_a_million_rows_are_a_million_rows():
    fit = ordfit("y ~ x", frame(3.0), weights="w")
    assert fit.formula == "y ~ x"
    assert np.isclose(fit.nobs, 2_234_570.0)
    text = str(fit.summary())
    assert "1 (1234567)" in text
    assert "2 (1000003)" in text


def test_weights_that_are_not_whole_are_percentages():
    with weights_not_whole():
        fit = ordfit("y ~ x", frame(2.5), weights="w")
    assert np.isclose(fit.nobs, 2_234_569.5)
    text = str(fit.summary("all"))
    assert "4 weighted rows" in text
    assert "1 (55.2%), 2 (44.8%)" in text  # 1234567 and 1000002.5 of 2234569.5
    assert "weighted percentages" in text


def test_a_separated_factor_of_many_levels_is_told_in_a_few_lines() -> None:
    """Five names, and a count of the others: 30 levels from the 31st on have one
    answer, and so have some before.
    """
    rng = np.random.default_rng(0)
    data = pd.DataFrame(
        {
            "g": np.repeat([f"level{k:03d}" for k in range(60)], 3),
            "y": rng.integers(0, 3, 180),
        }
    )
    data.loc[90:, "y"] = 2
    levels = data["y"].groupby(data["g"])
    infinite = int(((levels.max() == levels.min()) & levels.max().isin([0, 2])).sum())
    with pytest.warns(SeparationWarning) as caught:
        ordfit("y ~ g", data)
    (text,) = [str(one.message) for one in caught if one.category is SeparationWarning]
    assert len(text) < 600 and f"and {infinite - 5} more)" in text


def rated(size: float) -> pd.DataFrame:
    data = ranked(np.random.default_rng(1), 100, [-1.0, 1.0])
    return data.assign(x=size * data["x"])


def test_odds_ratios_beyond_all_numbers_are_infinite_without_a_warning() -> None:
    fit = ordfit("y ~ x", rated(1e-5))
    ratio = fit.tidy(exponentiate=True).set_index("term").loc["x", "estimate"]
    assert fit.coef["x"] > 1e4 and np.isposinf(ratio) and " inf" in str(fit.summary())


def test_odds_ratios_next_to_one_show_by_how_much() -> None:
    fit = ordfit("y ~ x", rated(1e6))
    assert 0.0 < fit.coef["x"] < 1e-4
    assert f"{np.exp(fit.coef['x']):.7f}" in str(fit.summary())


@pytest.mark.parametrize(
    "method",
    [
        "prank",
        "cusum",
        "orboost-lr",
        "red-tree",
        "frank-hall",
        "rps-forest",
        "ordboost",
    ],
)
def test_methods_without_an_optimum_say_what_they_did(method: str) -> None:
    fit = ordfit(
        FORMULA,
        wine(),
        method,
        **{"orboost-lr": {"rounds": 5}, "rps-forest": {"trees": 5}}.get(method, {}),
    )
    header = dict(fit.summary_data().header)
    assert re.match(
        r"(Passes|Rounds|Trees grown|Classifiers fitted) \d+", header["Training"]
    )
    assert "Convergence" not in header and "onverged" not in str(fit.summary()) + str(
        fit.summary("all")
    )
    assert fit.glance()["converged"].item() is None


@pytest.mark.parametrize("method", ["logit", "redsvm", "red-logistic", "rank-svm"])
def test_methods_with_an_optimum_say_how_far_they_are_from_it(method: str) -> None:
    fit = ordfit(FORMULA, wine(), method)
    assert dict(fit.summary_data().header)["Convergence"].startswith("Converged")
    assert fit.glance()["converged"].item() is True


@pytest.mark.parametrize(
    ("link", "level", "cell"),
    [("logit", 0, "0"), ("logit", 2, "inf"), ("cloglog", 0, "inf")],
)
def test_ratios_of_infinite_estimates_are_no_rounded_numbers(
    link: str, level: int, cell: str
) -> None:
    data = rated(1.0)
    data["f"] = np.repeat([1.0, 0.0], [8, 92])
    data.loc[data["f"] == 1.0, "y"] = level
    with pytest.warns(SeparationWarning):
        fit = ordfit("y ~ x + f", data, link=link)
    for shown in (
        str(fit.summary(exponentiate=True)),
        str(fit.summary("model", exponentiate=True)),
    ):
        rows = [line.split() for line in shown.splitlines() if line.startswith("f ")]
        # one screen has the ratio behind the limits of the estimate, the section has a
        # table of ratios
        assert any(row[-3:] == [cell, "NA", "NA"] for row in rows) and not any(
            "0.00" in row for row in rows
        )
        assert "f to " in shown  # the note that says why
    tidied = fit.tidy(exponentiate=True)
    assert tidied.set_index("term").loc["f", "estimate"] == float(cell)
    assert any(
        note.startswith("The response is separated; infinite: f")
        for note in tidied.attrs["notes"]
    )

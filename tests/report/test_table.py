"""`ordstat.table`: the cells against the fits they come from, through maketables;
exports of all tables.
"""

import re
from html import escape

import numpy as np
import pandas as pd
import pytest
from expected import aliased, refused
from scipy import stats

from ordstat import ElasticNet, SurveyDesign, datasets, ordfit, pool, table
from ordstat.exceptions import (
    ConvergenceWarning,
    DataWarning,
    OptionError,
    SeparationWarning,
)
from ordstat.report.cells import in_tex, short_p_value
from ordstat.report.frames import NotedFrame

pytest.importorskip("maketables")
WINE = datasets.load("wine")
SMALL = ordfit("rating ~ temp", WINE)
FULL = ordfit("rating ~ temp + contact", WINE)
#: R: clm(rating ~ temp + contact, data = wine), coef and its standard error.
WARM = 2.50310
ERROR = 0.52871


def cell(shown, row, place):
    return shown.df.xs(row, level=1).iloc[0, place]


def test_cells_are_those_of_r():
    assert cell(table([SMALL, FULL]), "temp: warm", 1).split() == [
        f"{WARM:.3f}",
        f"({ERROR:.3f})",
    ]
    odds = cell(
        table(FULL, exponentiate=True, below="interval", digits=3), "temp: warm", 0
    )
    limits = np.exp(WARM + 1.959964 * ERROR * np.array([-1.0, 1.0]))
    assert [float(text.strip("[],")) for text in odds.split()[1:]] == pytest.approx(
        limits, rel=3e-4
    )


def test_rows_order_labels_and_figures():
    shown = table(
        {"A": SMALL, "B": FULL},
        labels={"temp": "Temperature"},
        thresholds=False,
        gof=["nobs", "aic"],
    )
    assert shown.df.index.get_level_values(1).tolist() == [
        "Temperature: warm",
        "contact: yes",
        "N",
        "AIC",
    ]
    assert cell(shown, "contact: yes", 0) == "" and cell(shown, "AIC", 1) == "184.984"
    assert "A" in str(shown) and "Temperature: warm" in shown.make("tex")


def test_rankers_have_no_errors_in_the_table():
    ranker = ordfit("rating ~ temp + contact", WINE, "redsvm", kernel="linear")
    assert (
        cell(table([FULL, ranker]), "temp: warm", 1).strip()
        == f"{ranker.coef['temp[T.warm]']:.3f}"
    )


def test_the_table_of_a_clinician():
    """R: exp(coef), exp(confint(., type = "Wald")) of the logit; hazard ratios of the
    cloglog are exp(-coef).
    """
    shown = table(FULL, style="clinical")
    assert shown.df.columns.tolist() == [
        ("rating", head) for head in ("Odds ratio", "95% CI", "p")
    ]
    rows = shown.df.droplevel(0)
    assert rows.index.tolist() == [
        "temp: cold",
        "temp: warm",
        "contact: no",
        "contact: yes",
        "N",
    ]
    assert rows.loc["temp: cold"].tolist() == ["1 (ref.)", "", ""]
    assert rows.loc["temp: warm"].tolist() == ["12.22", "4.34, 34.44", "<.001"]
    assert rows.loc["contact: yes", ("rating", "p")] == ".001" and rows.loc[
        "N"
    ].tolist() == ["72", "", ""]
    hazard = FULL.update(method="cloglog")
    cells = table(hazard, style="clinical").df.droplevel(0).loc["temp: warm"]
    assert (
        cells.index[0][1] == "Hazard ratio"
        and cells.iloc[0] == f"{np.exp(-hazard.coef.iloc[0]):.2f}"
    )
    both = table(
        {"A": SMALL, "B": FULL.update(method="probit")}, style="clinical", level=0.9
    ).df
    assert both.columns.tolist()[3:5] == [("B", "Coefficient"), ("B", "90% CI")]


def test_texts_are_escaped_and_files_are_written(tmp_path):
    from docx import Document

    wine = WINE.assign(a_b=np.where(WINE["temp"] == "warm", "5% & {x}", "none"))
    shown = table(
        ordfit("rating ~ a_b", wine), title="50% of a_b", labels={"rating": "R&D"}
    )
    tex = shown.make("tex")
    assert (
        all(
            text in tex
            for text in (r"a\_b: none", r"50\% of", r"R\&D", r"1\textbar{}2")
        )
        and "a_b" not in tex
    )
    assert "<b>" not in table(SMALL, labels={"temp": "<b>"}).make(
        "html"
    ) and r"a\_b" in shown.make("typst")
    table(FULL, style="clinical").save(type="docx", file_name=str(tmp_path / "t.docx"))
    (written,) = Document(str(tmp_path / "t.docx")).tables
    assert [cell.text for cell in written.rows[3].cells] == [
        "temp: warm",
        "12.22",
        "4.34, 34.44",
        "<.001",
    ]


def test_exports_read_as_the_table_prints():
    tidy = FULL.tidy()
    tex = tidy.to_latex()
    markdown = tidy.to_markdown()
    assert (
        "temp: warm & 2.5031 & 0.5287 & 4.735 & \\textless{}.001" in tex
        and "std" not in tex
    )
    assert (
        r"| 1\|2 " in markdown
        and "contact: yes" in markdown
        and "<td>temp: warm</td>" in tidy.to_html()
    )
    assert (
        "2.5031020079" in tidy.to_latex(float_format="%.10f")
        and tidy["term"].iloc[-1] == "contact[T.yes]"
    )


def test_heads_are_short_where_the_note_says_the_rest(answers):
    shown = table(ordfit("y ~ x", answers, "stereotype"), style="clinical")
    assert "Odds ratio" in [head[-1] for head in shown.df.columns]
    assert "Odds ratios, highest against lowest level: above 1 =" in shown.notes


@pytest.mark.parametrize(
    ("fits", "options", "message"),
    [
        ([SMALL, 3], {}, r"\(2\) is a int"),
        ([], {}, "fits must hold at least one fit"),
        ([SMALL], {"below": "t"}, "below must be"),
    ],
)
def test_bad_arguments(fits, options, message):
    with pytest.raises(OptionError, match=message):
        table(fits, **options)


# Notes and rows of what a table cannot show as a number


def rows_of(shown):
    return {label: row.tolist() for label, row in shown.df.droplevel(0).iterrows()}


@pytest.fixture(scope="module")
def answers():
    rng = np.random.default_rng(11)
    n = 300
    data = pd.DataFrame({
        "x": rng.normal(size=n),
        "income": np.exp(rng.normal(10, 1, n)),
        "age": rng.uniform(20, 70, n),
        "g": rng.choice(list("abc"), n),
        "female": rng.choice(["no", "yes"], n),
        "w": rng.uniform(1, 3, n),
        "psu": np.arange(n) % 30,
    })  # fmt: skip
    score = data["x"] + (data["g"] == "b") + 0.02 * data["age"] + rng.logistic(size=n)
    return data.assign(
        y=pd.cut(score, [-np.inf, 0.0, 2.0, np.inf], labels=["A", "B", "C"])
    )


@pytest.mark.parametrize(("level", "sign"), [("C", "+"), ("A", "−")])
@pytest.mark.parametrize("style", ["paper", "clinical"])
def test_infinite_estimates_are_not_numbers(answers, level, sign, style):
    data = answers.assign(y=answers["y"].where(answers["g"] != "c", level))
    with pytest.warns(SeparationWarning):
        fit = ordfit("y ~ x + g", data)
    shown = table(fit, style=style, exponentiate=True)
    assert rows_of(shown)["g: c"][:3] == (
        ["not estimable"] if style == "paper" else ["not estimable", "", ""]
    )
    assert (
        f"Not estimable, as the response is separated: g: c ({sign}∞)." in shown.notes
    )
    in_latex = {"+": r"(+$\infty$)", "−": r"($-$$\infty$)"}
    assert in_latex[sign] in shown.make("tex")
    # the other effects are those of the other rows
    within = ordfit("y ~ x + g", answers[answers["g"] != "c"])
    expected = f"{np.exp(within.coef['x']):.2f}"
    assert rows_of(shown)["x"][0].startswith(expected)


def test_aliased_rows_say_so(answers):
    with aliased():
        fit = ordfit("y ~ x + double + g", answers.assign(double=2.0 * answers["x"]))
    shown = table(fit, style="clinical")
    assert rows_of(shown)["double"] == ["not estimated", "", ""]
    assert (
        "Not estimated, as the data or other columns do not determine them: double."
        in shown.notes
    )


def test_exponents_that_are_no_odds_ratios_are_named(answers):
    logit = ordfit("y ~ x", answers)
    probit = ordfit("y ~ x", answers, "probit")
    notes = table({"logit": logit, "probit": probit}, exponentiate=True).notes
    assert "logit: Odds ratios: above 1 = higher response." in notes
    assert (
        "probit: Exponents of the location effects; no odds or hazards under this link."
        in notes
    )


@pytest.mark.parametrize(
    ("method", "note"),
    [
        ("logit", "Odds ratios: above 1 = higher response."),
        ("cloglog", "Hazard ratios are exp(-coefficient): below 1 = higher response."),
        ("loglog", "Reversed hazard ratios: above 1 = higher response."),
        ("acat", "Adjacent odds ratios: above 1 = higher response."),
        ("cratio", "Continuation odds ratios: above 1 = higher response."),
        ("probit", "Coefficients: positive = higher response."),
    ],
)
def test_every_table_says_where_its_numbers_point(answers, method, note):
    assert note in table(ordfit("y ~ x", answers, method), style="clinical").notes


def test_what_is_no_ratio_stands_apart():
    mixed = ordfit("rating ~ temp + contact + (1 | judge)", WINE)
    shown = table(mixed, exponentiate=True)
    groups = dict(
        zip(
            *reversed([shown.df.index.get_level_values(k) for k in (0, 1)]), strict=True
        )
    )
    assert groups["temp: warm"] == "coef" and groups["N"] == "stats"
    assert groups["SD (Intercept), judge"] == groups["1|2"] == "other"
    assert rows_of(shown)["1|2"][0].startswith(f"{mixed.params['1|2']:.2f}")
    assert "Rows below the effects are not exponentiated." in shown.notes
    assert "delta method" in shown.notes
    plain = table(mixed).df.index.get_level_values(0)
    assert set(plain) == {"coef", "stats"}


def test_survey_and_pooled_fits_have_a_table(answers):
    survey = ordfit(
        "y ~ x + g", answers, design=SurveyDesign(weights="w", clusters="psu")
    )
    shown = table(survey)
    assert rows_of(shown)["N"] == ["300"] and "AIC" not in rows_of(shown)
    assert "linearised survey covariance" in shown.notes
    rng = np.random.default_rng(2)
    frames = [
        answers.assign(x=answers["x"] + rng.normal(0, 0.3, 300)) for _ in range(4)
    ]
    pooled = pool([ordfit("y ~ x + g", frame) for frame in frames])
    shown = table(pooled, style="clinical")
    low, high = pooled.confint().loc["x"]
    assert rows_of(shown)["x"][:2] == [
        f"{np.exp(pooled.params['x']):.2f}",
        f"{np.exp(low):.2f}, {np.exp(high):.2f}",
    ]
    assert (
        rows_of(shown)["N"][0] == "300"
        and "Pooled over 4 imputations by Rubin's rules." in shown.notes
    )
    both = table({"one": ordfit("y ~ x", answers), "survey": survey})
    assert rows_of(both)["AIC"][1] == "" and rows_of(both)["AIC"][0] != ""


def test_labels_reach_into_functions_and_unknown_ones_are_refused(answers):
    fit = ordfit("y ~ log(income) + g", answers)
    shown = table(fit, labels={"income": "Income (EUR)"}, style="clinical")
    assert "log(Income (EUR))" in rows_of(shown)
    with refused("labels", "'incom'. Did you mean 'income'"):
        table(fit, labels={"incom": "Income"})


@pytest.mark.parametrize(
    ("term", "label", "df"),
    [
        ("ns(age, df=3)", "ns(Age, df=3)", 3),
        ("poly(age, 2)", "poly(Age, 2)", 2),
        ("bs(age, df=4)*g", "bs(Age, df=4)", 4),
    ],
)
def test_a_spline_is_one_row_with_its_test(answers, term, label, df):
    fit = ordfit(f"y ~ x + {term}", answers)
    names = [
        name
        for name in fit.coef.index
        if name.startswith(term.partition("*")[0] + "[") and ":" not in name
    ]
    beta = fit.coef[names].to_numpy()
    covariance = fit.vcov().loc[names, names].to_numpy()
    chisq = float(beta @ np.linalg.solve(covariance, beta))
    rows = rows_of(table(fit, style="clinical", labels={"age": "Age"}))
    assert rows[label] == [
        "",
        f"chi2({df}) = {chisq:.2f}",
        short_p_value(float(stats.chi2.sf(chisq, df))),
    ]
    assert not any("[1]" in row for row in rows)
    paper = rows_of(table(fit, labels={"age": "Age"}))
    assert paper[label][0].startswith(f"chi2({df}) = {chisq:.2f}\n(p ")


def test_partial_proportional_odds_say_above_what(answers):
    fit = ordfit("y ~ x", answers, nominal="~ female")
    rows = rows_of(table(fit, style="clinical"))
    assert list(rows)[:4] == [
        "x",
        "female: no",
        "female: yes, above A",
        "female: yes, above B",
    ]
    assert rows["female: no"] == ["1 (ref.)", "", ""]
    above = [
        ordfit("y ~ x + female", answers.assign(y=(answers["y"] > level).astype(int)))
        for level in "AB"
    ]
    for row, binary in zip(list(rows)[2:4], above, strict=True):
        ratio = float(rows[row][0])
        assert np.log(ratio) == pytest.approx(binary.coef["female[T.yes]"], abs=0.2)
    coefficients = table(fit)
    assert "female: yes, A|B" in rows_of(coefficients)
    assert "positive = lower response" in coefficients.notes


def test_decimals_agree_down_a_column(answers):
    fit = ordfit("y ~ age + g + income", answers)
    cells = [
        row
        for label, row in rows_of(table(fit, style="clinical")).items()
        if label != "N"
    ]
    numbers = [
        text
        for row in cells
        for text in (row[0], *row[1].split(", "))
        if text and "(" not in text
    ]
    assert {len(text.partition(".")[2]) for text in numbers} == {4}
    notes = table(fit, style="clinical").notes
    assert "Small effects are per unit of income." in notes


@pytest.mark.parametrize("link", ["logit", "cloglog", "loglog"])
def test_ratios_point_in_one_direction_everywhere(answers, link):
    """Effects at a threshold and elsewhere; tidy, pooled tidy, table, summary and
    forest.
    """
    sign = -1.0 if link == "cloglog" else 1.0
    fit = ordfit("y ~ x", answers, link, nominal="~ female")
    tidy = fit.tidy(exponentiate=True).set_index("term")
    low, high = sorted(np.exp(sign * fit.confint().loc["x"]))
    assert tidy.loc["x", ["estimate", "conf_low", "conf_high"]].astype(
        float
    ).tolist() == pytest.approx([np.exp(sign * fit.coef["x"]), low, high])
    name = "A|B.female[T.yes]"
    assert tidy.loc[name, "estimate"] == pytest.approx(np.exp(-sign * fit.coef[name]))
    shown = rows_of(table(fit, style="clinical"))
    assert float(shown["x"][0]) == pytest.approx(tidy.loc["x", "estimate"], abs=6e-3)
    assert float(shown["female: yes, above A"][0]) == pytest.approx(
        tidy.loc[name, "estimate"], abs=6e-3
    )
    drawn = fit.plot.forest(exponentiate=True, draw=False).set_index("term")["estimate"]
    assert drawn[["x", name]].tolist() == pytest.approx(
        tidy.loc[["x", name], "estimate"].tolist()
    )
    frames = [
        answers.assign(x=answers["x"] + shift * (answers["g"] == "a"))
        for shift in (-0.1, 0.1)
    ]
    pooled = pool([ordfit("y ~ x", frame, link) for frame in frames])
    assert pooled.tidy(exponentiate=True)["estimate"].iloc[-1] == pytest.approx(
        np.exp(sign * pooled.params["x"])
    )


# Exports


def exported_things():
    from ordstat import describe_ordinal

    return {
        "means": FULL.emmeans("temp"),
        "contrasts": FULL.emmeans("pairwise ~ temp"),
        "effects": FULL.marginal_effects(),
        "description": describe_ordinal(WINE, "rating", by="temp"),
        "influence": FULL.influence(),
        "parameters": FULL.tidy(exponentiate=True),
        "bootstrap": FULL.bootstrap(5),
        "draws": FULL.draws(100),
        "steps": FULL.step(),
    }


@pytest.mark.parametrize("name", exported_things())
def test_every_table_is_written_with_its_notes(name, tmp_path):
    from docx import Document

    thing = exported_things()[name]
    notes = [note for table in thing.exported() for note in table.attrs["notes"]]
    figures = [
        text
        for table in thing.exported()
        for text in table.shown().iloc[-1]
        if str(text)
    ]
    latex = thing.to_latex()
    markdown = thing.to_markdown()
    html = thing.to_html()
    assert latex.count(r"\begin{tabular}") == len(thing.exported())
    for text in (*notes, *map(str, figures)):
        assert in_tex(text) in latex and escape(text, quote=False) in html.replace(
            "&#x27;", "'"
        )
        assert text.replace("|", "\\|") in markdown or text in markdown
    thing.to_word(tmp_path / "t.docx")
    thing.to_word(tmp_path / "t.docx")
    document = Document(str(tmp_path / "t.docx"))
    assert len(document.tables) == 2 * len(thing.exported())  # a second call adds
    cells = [
        cell.text
        for table in document.tables
        for row in table.rows
        for cell in row.cells
    ]
    assert all(str(text) in cells for text in figures)
    assert all(any(note in cell for cell in cells) for note in notes)


def test_exports_are_written_to_paths_and_files(tmp_path):
    means = FULL.emmeans("temp")
    assert means.to_latex(tmp_path / "t.tex") is None
    assert (tmp_path / "t.tex").read_text() == means.to_latex()
    with (tmp_path / "t.md").open("w") as file:
        means.to_markdown(file)
    assert (tmp_path / "t.md").read_text() == means.to_markdown()
    with refused("the ending of path"):
        means.to_word(tmp_path / "t.pdf")


def test_notes_of_a_float_stay_within_it():
    text = FULL.tidy().to_latex(caption="Wine", label="wine")
    assert text.index("Standard errors") < text.index(r"\end{table}")
    assert r"\textbf" not in text and r"\caption{Wine}" in text


def test_numbers_of_exports_keep_their_decimals():
    frame = NotedFrame.of(
        pd.DataFrame({"term": ["a", "b"], "estimate": [1.5, 0.00021]})
    )
    assert re.findall(r"(\d\.\d+) \|", frame.to_markdown()) == ["1.50000", "0.00021"]
    assert r"\begin{tabular}{lr}" in frame.to_latex()
    assert re.findall(r"(\d\.\d+) \\\\", frame.to_latex()) == ["1.50000", "0.00021"]


def test_the_first_column_has_its_head_in_word(tmp_path):
    from docx import Document

    FULL.emmeans("temp").to_word(tmp_path / "t.docx")
    FULL.confusion().to_word(tmp_path / "t.docx")
    means, confusion = Document(str(tmp_path / "t.docx")).tables
    assert means.rows[0].cells[0].text == "temp"
    assert [cell.text for cell in means.columns[0].cells][1:3] == ["cold", "warm"]
    assert confusion.rows[0].cells[0].text == "observed"


def test_fits_that_have_one_note_share_it(answers):
    logit = ordfit("y ~ x", answers)
    robust = ordfit("y ~ x", answers, vcov="HC0")
    notes = table({"one": logit, "two": robust, "three": logit}).notes
    assert "one, three: Standard errors: observed information." in notes
    assert notes.count("observed information") == 1


def test_a_table_of_too_many_columns_for_a_page_warns(tmp_path):
    shown = table([FULL] * 4, style="clinical")
    with pytest.warns(DataWarning, match="12 columns, more than the 9"):
        shown.save(str(tmp_path / "t.docx"))
    with pytest.warns(DataWarning, match="12 columns"):
        shown.make("tex")


def test_a_table_wider_than_a_page_becomes_several_in_word(tmp_path):
    from docx import Document

    wide = FULL.predict(type="prob", se=True, interval="confidence")
    wide.to_word(tmp_path / "t.docx")
    tables = Document(str(tmp_path / "t.docx")).tables
    heads = [table.rows[0].cells[1].text for table in tables]
    assert len(set(heads)) == len(heads) == 4
    assert all(len(table.columns) == 1 + len(FULL.levels) for table in tables)


def test_many_thresholds_are_shown_on_request_alone():
    """52 levels have 51 thresholds."""
    data = pd.DataFrame({"y": np.arange(156) % 52, "x": np.sin(np.arange(156))})
    fit = ordfit("y ~ x", data)
    assert "0|1" not in str(table([fit]))
    assert "0|1" in str(table([fit], thresholds=True))


@pytest.mark.parametrize("exponentiate", [False, True])
@pytest.mark.parametrize(
    ("method", "words"),
    [
        ("probit", "Cumulative link model, link probit."),
        ("acat", "Adjacent-category model, link logit."),
        ("cratio", "Continuation-ratio model, link logit."),
        ("prank", "Online ranker."),
    ],
)
def test_columns_of_different_models_name_them(answers, method, words, exponentiate):
    logit = ordfit("y ~ x", answers)
    other = ordfit("y ~ x", answers, method)
    notes = table([logit, other], exponentiate=exponentiate).notes
    assert f"(1): Cumulative link model, link logit. (2): {words}" in notes
    alike = table([logit, ordfit("y ~ 1", answers)], exponentiate=exponentiate)
    assert "model" not in alike.notes


@pytest.mark.parametrize("answered", [[0, 0, 1, 2], [0, 1, 1, 2, 2], [0, 1, 2, 3, 3]])
@pytest.mark.parametrize("exponentiate", [False, True])
def test_a_standard_deviation_of_zero_says_why_it_has_no_error(answered, exponentiate):
    # groups of the same answers have no variance between them
    n_groups = 5
    frame = pd.DataFrame(
        {
            "y": answered * n_groups,
            "g": np.repeat(list("abcde"), len(answered)),
            "x": np.arange(n_groups * len(answered)) % 7,
        }
    )
    shown = table(ordfit("y ~ x + (1 | g)", frame), exponentiate=exponentiate)
    assert float(rows_of(shown)["SD (Intercept), g"][0]) == 0.0
    note = "At 0, the least value, so without a standard error: SD (Intercept), g."
    assert note in shown.notes
    wine = table(ordfit("rating ~ temp + (1 | judge)", WINE))
    assert "At 0" not in wine.notes


@pytest.mark.parametrize(
    ("method", "penalty", "words"),
    [
        ("logit", 1.0, "ridge, 1"),
        ("probit", 0.5, "ridge, 0.5"),
        ("acat", 2.0, "ridge, 2"),
        ("cloglog", "jeffreys", "jeffreys"),
        ("logit", ElasticNet(), "lasso"),
    ],
)
def test_penalised_estimates_are_named(answers, method, penalty, words):
    plain = ordfit("y ~ x", answers, method)
    penalised = ordfit("y ~ x", answers, method, penalty=penalty)
    assert f"Penalty: {words}." in table(penalised).notes
    both = table([plain, penalised])
    assert f"(2): Penalty: {words}." in both.notes
    assert rows_of(both)["AIC"][0] == f"{plain.aic:.3f}"
    assert "Penalty" not in table(plain).notes


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_penalties_of_random_effects_are_named(link):
    fit = ordfit("rating ~ temp + (1 | judge)", WINE, link, random_penalty="gamma")
    assert "Penalty: gamma(2, 0) on random effects." in table(fit).notes


def test_usual_figures_that_no_fit_has_make_no_row(answers):
    shrunk = ordfit("y ~ x", answers, penalty=1.0)
    assert "AIC" not in rows_of(table(shrunk))
    assert "AIC" in rows_of(table(shrunk, gof=["aic"]))


def test_a_fit_without_a_maximum_has_no_figures(answers):
    """Where the search stopped says nothing; nor are rows said to have predictions."""
    y = answers["y"].replace({"C": "B"}).where(answers["x"] < 1.0, "C")
    data = answers.assign(y=y)
    with pytest.warns(ConvergenceWarning):
        fit = ordfit("y ~ x", data, "stereotype")
    text = str(table([fit, ordfit("y ~ x", data)]))
    figures = text[text.index("Log-likelihood") :].splitlines()[0].split()
    assert len(figures) == 2 and float(figures[1]) < 0.0
    assert "as the likelihood has no maximum" in text
    ratios = " ".join(table(fit, exponentiate=True).notes.split())
    assert "Odds ratios, highest against lowest level: above 1 =" in ratios
    assert "All rows are predicted to be" not in str(fit.summary())

"""Tables in other formats: what each has to keep of the cells, and what its marks must not be taken for."""

import re

import numpy as np
import pandas as pd
import pytest

from ordstat import OptionError, datasets, ordfit, table
from ordstat.results.report.export.latex import escaped, latex
from ordstat.results.report.grid import Grid
from ordstat.results.report.noted import NotedFrame

ODD = "a_b & c% #1 {x} ~ ^ \\ $5 <y> 1|2"


def odd_table():
    frame = pd.DataFrame(
        {ODD: [-1.5, 0.25], "p_value": [0.0004, 0.5], "df": [1.0, np.nan]}, index=["[first] *", "-2 to -1"]
    )
    return NotedFrame.of(frame, ["100 % of a_b & c"], "Title_1 & more")


def fit():
    return ordfit("rating ~ temp + contact", datasets.load("wine"))


# A small reader of LaTeX: what a document needs to compile


def check_latex(text):
    """Environments and braces close, every row has as many cells as there are columns, nothing special is bare."""
    environments = []
    for kind, name in re.findall(r"\\(begin|end)\{(\w+)\}", text):
        assert kind == "begin" or environments.pop() == name
        environments += [name] * (kind == "begin")
    assert not environments
    plain = re.sub(r"\\[\\{}$&#_%~^]", "", text)
    assert plain.count("{") == plain.count("}") and plain.count("$") % 2 == 0
    for columns, body in re.findall(r"\\begin\{tabular\}\{(.*?)\}\n(.*?)\\end\{tabular\}", text, re.DOTALL):
        rows = [line for line in body.splitlines() if "rule" not in line]
        assert rows and all(line.endswith(r" \\") for line in rows)
        assert {_cells(row) for row in rows} == {len(re.sub(r"p\{[^}]*\}?", "l", columns))}
    outside_tables = re.sub(r"\\begin\{tabular\}.*?\\end\{tabular\}", "", plain, flags=re.DOTALL)
    assert "&" not in outside_tables
    outside = re.sub(r"\$[^$]*\$|\\begin\{tabular\}\{.*\}|\\label\{.*\}", "", re.sub(r"\\[\\{}$&#_%~^]", "", text))
    assert not re.search(r"[#_%^<>|*\[]", outside.replace("[htbp]", "").replace("{[}", ""))


def _cells(row):
    bare = row.replace(r"\&", "")
    return bare.count("&") + 1 + sum(int(n) - 1 for n in re.findall(r"\\multicolumn\{(\d+)\}", bare))


def test_the_reader_finds_faults():
    good = odd_table().to_latex()
    check_latex(good)
    for bad in (
        good.replace(r"\end{table}", ""),
        good.replace(r"\&", "&", 1),
        good.replace(r"\_", "_", 1),
        good.replace(r" \\", "", 1),
        good.replace("$<$", "<"),
    ):
        with pytest.raises((AssertionError, IndexError)):
            check_latex(bad)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a_b & c%", r"a\_b \& c\%"),
        ("-1.5", "$-$1.5"),
        ("a-1", "a-1"),
        ("[-1.5, 2]", "{[}$-$1.5, 2{]}"),
        ("1|2", "1$|$2"),
        ("<.001", "$<$.001"),
        ("2.5***", "2.5$^{***}$"),
        ("β²", r"$\beta$$^2$"),
        ("~\\^", r"\textasciitilde{}\textbackslash{}\textasciicircum{}"),
        ("Zoë", "Zoë"),
    ],
)
def test_characters_of_latex(text, expected):
    assert escaped(text) == expected


def test_latex():
    text = odd_table().to_latex(label="tab:odd", caption="Of 5 %")
    assert r"\caption{Of 5 \%}" in text and r"\label{tab:odd}" in text and r"100 \% of a\_b \& c\par" in text
    assert "{[}first{]} $^{*}$ & $-$1.5 & $<$.001 & 1" in text  # a bracket after a line's end would be its argument
    assert r"\caption" not in odd_table().to_latex(caption="")
    assert r"p{0.4\linewidth}rr" in NotedFrame.of(pd.DataFrame({"x": [1], "y": [2]}, index=["long " * 12])).to_latex()


def test_headings_over_columns():
    heads = (("", "men", "men", ""), ("", "x", "y", "z"))
    grid = Grid(title="", heads=heads, rows=(("a", "1", "2", "3"),), align="lrrr", n_labels=1)
    text = latex(grid)
    check_latex(text)
    assert " & \\multicolumn{2}{c}{men} &  \\\\\n\\cmidrule(lr){2-3}" in text
    errors = fit().predict(datasets.load("wine").head(2), type="prob", se=True)
    check_latex(errors.to_latex())
    assert 'colspan="5"' in errors.to_html() and "estimate: 1" in errors.to_markdown()
    assert "colspan: 5" in errors.to_typst()


@pytest.mark.parametrize(
    "name", ["tidy", "glance", "confint", "errors", "confusion", "drop1", "nominal_test", "effects"]
)
def test_tables_of_a_fit(name):
    found = getattr(fit(), name)()
    assert isinstance(found, NotedFrame) and found.attrs["title" if name != "effects" else "notes"]
    check_latex(found.to_latex())
    assert max(map(len, str(found).splitlines())) <= 80


def test_tables_of_rankers_and_of_random_effects():
    wine = datasets.load("wine")
    ranker = ordfit("rating ~ temp + contact", wine, "redsvm", kernel="linear")
    mixed = ordfit("rating ~ temp + contact + (1 | judge)", wine)
    trees = ordfit("rating ~ temp + contact", wine, "bagging", rounds=5)
    tables = [ranker.tidy(), ranker.glance(), ranker.delta_errors(), mixed.varcorr(), mixed.tidy()]
    for found in [*tables, trees.importance(), trees.glance(), trees.out_of_bag_errors()]:
        assert type(found) is NotedFrame
        check_latex(found.to_latex())
    # R, ordinal 2022.11-16: VarCorr(clmm(rating ~ temp + contact + (1 | judge), wine))$judge is 1.279
    assert "judge & (Intercept) & 1.279" in mixed.varcorr().to_latex()


def test_digits_are_those_of_measures():
    text = fit().tidy().to_markdown(digits=1)
    assert "| temp[T.warm]   |      2.5 |       0.5 |       4.7 |  \\<.001 |" in text
    figures = fit().glance().to_markdown(digits=1)
    assert re.search(r"\| nobs +\| 72 +\|", figures) and re.search(r"\| lr_p_value +\| \\<.001 +\|", figures)


def test_the_same_cells_everywhere():
    found = fit().drop1()
    cells = [cell for row in found.grids()[0].rows for cell in row if re.fullmatch(r"[\d.]+", cell)]
    assert len(cells) > 6
    for text in (found.to_latex(), found.to_markdown(), found.to_typst(), found.to_html(), str(found)):
        assert all(cell in text for cell in cells)


def test_markdown_escapes():
    text = odd_table().to_markdown()
    assert r"a_b & c% #1 {x} \~ \^ \\ \$5 \<y> 1\|2" in text and r"[first] \*" in text
    assert text.startswith("**Title_1 & more**\n\n|") and text.endswith("|\n\n100 % of a_b & c\n")
    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {5}


def test_typst_strings():
    text = NotedFrame.of(pd.DataFrame({'a "b"': [-1.5]}, index=["c\\d"])).to_typst(label="tab:x")
    assert r'"a \"b\""' in text and r'"c\\d", "−1.5"' in text and text.count("(") == text.count(")")
    assert ") <tab:x>" in text and "caption: none" in text


def test_html_is_escaped():
    text = odd_table().to_html()
    assert "&lt;y&gt;" in text and "<y>" not in text and "Title_1 &amp; more" in text


def test_indented_labels_stay_indented():
    text = ordfit("rating ~ temp + contact", datasets.load("wine"), "cart").summary().to_latex()
    check_latex(text)
    assert "\n~~temp{[}T.warm{]} $<$= 0.5 & 36 &" in text


def test_files(tmp_path):
    found = odd_table()
    for name, write in (("a.tex", found.to_latex), ("a.md", found.to_markdown), ("a.typ", found.to_typst)):
        assert (tmp_path / name).write_text("old") and write(tmp_path / name) == (tmp_path / name).read_text("utf-8")
    assert found.to_html(str(tmp_path / "a.html")) == (tmp_path / "a.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"digits": 1.5}, "digits must be a whole number from 0 to 15; got 1.5"),
        ({"digits": -1}, "digits must be"),
        ({"path": 3}, "path must be the name of a file; got a int"),
        ({"label": "two words"}, "label must be letters, digits"),
        ({"label": "}"}, "label must be"),
    ],
)
def test_other_arguments_are_refused(arguments, message):
    with pytest.raises(OptionError, match=message):
        odd_table().to_latex(**arguments)


def test_pandas_own_exports_are_at_hand():
    """They know no notes, and have other arguments."""
    with pytest.raises(TypeError, match="index"):
        odd_table().to_html(index=False)
    assert "notes" not in pd.DataFrame(odd_table()).to_html(index=False)
    assert odd_table().to_csv().splitlines()[1].startswith("[first] *,-1.5,0.0004")


def test_summaries_export_what_was_learnt():
    text = fit().summary().to_latex(label="tab:wine")
    check_latex(text)
    assert text.count(r"\begin{table}") == 1
    assert "2.503 & 0.529 & 4.73 & $<$.001 & 1.467 & 3.539 & 12.22 & 4.34 & 34.44" in text
    assert "Thresholds 1$|$2 $-$1.344 (0.517), 2$|$3" in text and "More:" not in text
    every = fit().summary("all").to_latex(label="tab:wine")
    check_latex(every)
    assert every.count(r"\begin{table}") == len(fit().summary().tables) and r"\label{tab:wine-2}" in every
    check_latex(next(iter(fit().summary().tables.values())).to_latex())
    with pytest.raises(OptionError, match="no table to export"):
        fit().summary("fit").to_latex()


def test_means_and_their_contrasts():
    found = fit().emmeans("pairwise ~ temp")
    assert found.to_markdown().count("| :---") == 2 and "warm - cold" in found.to_latex()
    effects = fit().marginal_effects("temp")
    assert effects.to_markdown() == fit().effects("temp").to_markdown()


def test_long_frames_are_printed_in_part():
    long = NotedFrame.of(pd.DataFrame({"x": np.arange(250.0)}), [], "Long")
    assert str(long).endswith("The first 100 of 250 rows.") and len(str(long).splitlines()) == 104
    assert len(long.to_markdown().splitlines()) == 254


def test_word(tmp_path):
    docx = pytest.importorskip("docx", reason="python-docx is not installed: pip install ordstat[docx]")
    path = tmp_path / "table.docx"
    table([fit(), fit()], groups=["all", "all"], exponentiate=True).to_docx(path, caption="Odds")
    document = docx.Document(str(path))
    (found,) = document.tables
    rows = [[cell.text for cell in row.cells] for row in found.rows]
    assert rows[0] == ["", "all", "all"] and rows[2] == ["temp: warm", "12.22", "12.22"]
    texts = [paragraph.text for paragraph in document.paragraphs]
    assert texts[0] == "Odds" and "Odds ratios; thresholds are not exponentiated." in texts
    assert "w:tcBorders" in found._tbl.xml


def test_word_without_its_library(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "docx", None)
    with pytest.raises(ImportError, match=r"to_docx needs python-docx.*pip install ordstat\[docx\]"):
        fit().confint().to_docx(tmp_path / "x.docx")
    with pytest.raises(OptionError, match="path must be the file to write"):
        fit().confint().to_docx(None)


def test_a_word_document_is_called_docx(tmp_path):
    with pytest.raises(OptionError, match=r"path must be the file to write, such as 'table.docx'; got 'table.doc'"):
        fit().confint().to_docx("table.doc")

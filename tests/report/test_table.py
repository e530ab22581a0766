"""`ordstat.table`: the cells against the fits they come from, through maketables."""

import numpy as np
import pytest

from ordstat import datasets, ordfit, table
from ordstat.exceptions import OptionError

pytest.importorskip("maketables")
WINE = datasets.load("wine")
SMALL, FULL = ordfit("rating ~ temp", WINE), ordfit("rating ~ temp + contact", WINE)
#: R: clm(rating ~ temp + contact, data = wine), coef and its standard error.
WARM, ERROR = 2.50310, 0.52871


def cell(shown, row, place):
    return shown.df.xs(row, level=1).iloc[0, place]


def test_cells_are_those_of_r():
    assert cell(table([SMALL, FULL]), "temp: warm", 1).split() == [f"{WARM:.3f}", f"({ERROR:.3f})"]
    odds = cell(table(FULL, exponentiate=True, below="interval", digits=3), "temp: warm", 0)
    limits = np.exp(WARM + 1.959964 * ERROR * np.array([-1.0, 1.0]))
    assert [float(text.strip("[],")) for text in odds.split()[1:]] == pytest.approx(limits, rel=3e-4)


def test_rows_order_labels_and_figures():
    shown = table({"A": SMALL, "B": FULL}, labels={"temp": "Temperature"}, thresholds=False, gof=["nobs", "aic"])
    assert shown.df.index.get_level_values(1).tolist() == ["Temperature: warm", "contact: yes", "N", "AIC"]
    assert cell(shown, "contact: yes", 0) == "" and cell(shown, "AIC", 1) == "184.984"
    assert "A" in str(shown) and "Temperature: warm" in shown.make("tex")


def test_rankers_have_no_errors_in_the_table():
    ranker = ordfit("rating ~ temp + contact", WINE, "redsvm", kernel="linear")
    assert cell(table([FULL, ranker]), "temp: warm", 1).strip() == f"{ranker.coef['temp[T.warm]']:.3f}"


def test_the_table_of_a_clinician():
    """R: exp(coef), exp(confint(., type = "Wald")) of the logit; hazard ratios of the cloglog are exp(-coef)."""
    shown = table(FULL, style="clinical")
    assert shown.df.columns.tolist() == [("rating", head) for head in ("Odds ratio", "95% CI", "p")]
    rows = shown.df.droplevel(0)
    assert rows.index.tolist() == ["temp: cold", "temp: warm", "contact: no", "contact: yes", "N"]
    assert rows.loc["temp: cold"].tolist() == ["1 (reference)", "", ""]
    assert rows.loc["temp: warm"].tolist() == ["12.22", "4.34, 34.44", "<.001"]
    assert rows.loc["contact: yes", ("rating", "p")] == ".001" and rows.loc["N"].tolist() == ["72", "", ""]
    hazard = FULL.update(method="cloglog")
    cells = table(hazard, style="clinical").df.droplevel(0).loc["temp: warm"]
    assert cells.index[0][1] == "Hazard ratio" and cells.iloc[0] == f"{np.exp(-hazard.coef.iloc[0]):.2f}"
    both = table({"A": SMALL, "B": FULL.update(method="probit")}, style="clinical", level=0.9).df
    assert both.columns.tolist()[3:5] == [("B", "Coefficient"), ("B", "90% CI")]


def test_texts_are_escaped_and_files_are_written(tmp_path):
    from docx import Document

    wine = WINE.assign(a_b=np.where(WINE["temp"] == "warm", "5% & {x}", "none"))
    shown = table(ordfit("rating ~ a_b", wine), title="50% of a_b", labels={"rating": "R&D"})
    tex = shown.make("tex")
    assert all(text in tex for text in (r"a\_b: none", r"50\% of", r"R\&D", r"1\textbar{}2")) and "a_b" not in tex
    assert "<b>" not in table(SMALL, labels={"temp": "<b>"}).make("html") and r"a\_b" in shown.make("typst")
    table(FULL, style="clinical").save(type="docx", file_name=str(tmp_path / "t.docx"))
    (written,) = Document(str(tmp_path / "t.docx")).tables
    assert [cell.text for cell in written.rows[3].cells] == ["temp: warm", "12.22", "4.34, 34.44", "<.001"]


def test_exports_read_as_the_table_prints():
    tidy = FULL.tidy()
    tex, markdown = tidy.to_latex(), tidy.to_markdown()
    assert "temp: warm & 2.5031 & 0.5287 & 4.735 & \\textless{}.001" in tex and "std" not in tex
    assert r"| 1\|2 " in markdown and "contact: yes" in markdown and "<td>temp: warm</td>" in tidy.to_html()
    assert "2.5031020079" in tidy.to_latex(float_format="%.10f") and tidy["term"].iloc[-1] == "contact[T.yes]"


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

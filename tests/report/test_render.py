"""The renderer: widths, alignment, folding, escaping and the text of numbers."""

import re

import numpy as np
import pandas as pd
import pytest

from ordstat.report import render
from ordstat.report.cells import column_cells, short_p_value
from ordstat.report.grid import SCREEN


def _report(**changes):
    frame = pd.DataFrame(
        {"estimate": [1.5, np.nan], "p": [1e-20, 0.5]}, index=["<b>", "x & y"]
    )
    table = render.Table(
        title="Effects <i>", frame=frame, formats={"p": "p"}, note="note <u>"
    )
    parts = {
        "title": "T",
        "header": (("Rows", 72), ("Method", "M<C>")),
        "tables": (table,),
        "notes": ("careful <s>",),
    }
    return render.Report(**{**parts, **changes})


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (1.0, "1.000"),
        (0.04321, ".043"),
        (0.001, ".001"),
        (3e-6, "<.001"),
        (0.0, "<.001"),
    ],
)
def test_p_values(p, text):
    assert short_p_value(p) == text


@pytest.mark.parametrize(
    ("values", "spec", "cells"),
    [
        ([1.23456, -0.5, np.nan], None, ["1.2346", "-0.5000", "NA"]),
        ([1e-7, 2.0], None, ["1e-07", "2"]),
        ([3, 40], None, ["3", "40"]),
        ([True, False], None, ["yes", "no"]),
        ([0.1234], "percent", ["12.3%"]),
        ([12.0, 0.5], "int", ["12", "0.5"]),
        ([np.inf, 1.0], None, ["inf", "1.0000"]),
        ([1.23456], ".1f", ["1.2"]),
        (["a", None], None, ["a", "NA"]),
    ],
)
def test_cells(values, spec, cells):
    assert column_cells(pd.Series(values), spec) == cells


def test_text_is_aligned():
    lines = render.as_text(_report()).splitlines()
    head = next(i for i, line in enumerate(lines) if line.startswith("Effects"))
    assert lines[head + 1 : head + 5] == [
        "       estimate      p",
        "----------------------",
        "<b>      1.5000  <.001",
        "x & y        NA   .500",
    ]


@pytest.mark.parametrize("n_columns", [1, 9, 30])
@pytest.mark.parametrize("label", [5, 60, 300])
def test_nothing_is_wider_than_the_page(n_columns, label):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        rng.normal(size=(3, n_columns)) * 1000,
        index=[c * label for c in "abc"],
        columns=[f"column {i}" for i in range(n_columns)],
    )
    words = "word " * 60
    report = _report(
        title=words,
        header=(("Long", words), ("A", 1), ("B", "short"), ("C" * 40, "x" * 150)),
        tables=(
            render.Table(title=words, frame=frame, note=words),
            render.Table(title="t", frame=frame.iloc[:, :1]),
        ),
        notes=(words,),
    )
    text = render.as_text(report)
    assert max(map(len, text.splitlines())) <= SCREEN
    for i in range(n_columns):
        assert f"column {i}" in text


def test_wide_tables_keep_every_number():
    frame = pd.DataFrame(np.arange(120.0).reshape(2, 60), index=["r", "s"])
    text = render.as_text(
        _report(
            tables=(
                render.Table(
                    title="wide",
                    frame=frame,
                    formats=dict.fromkeys(frame.columns, ".1f"),
                ),
            )
        )
    )
    for i in range(120):
        assert f" {i}.0" in text


def test_html_is_escaped_and_without_script():
    html = render.as_html(_report(title="<script>alert(1)</script>"))
    for raw in ("<b>", "<i>", "<u>", "<s>", "<script", "M<C>"):
        assert raw not in html
    assert "&lt;b&gt;" in html and "x &amp; y" in html and "&lt;.001" in html
    assert html.count("<table") == html.count("</table>") == 2


def test_html_keeps_the_spaces_before_a_label():
    frame = pd.DataFrame({"v": [1, 2]}, index=["all rows", "  x <= 1"])
    html = render.as_html(
        _report(header=(), notes=(), tables=(render.Table(title="t", frame=frame),))
    )
    cell = re.search(r'<td style="([^"]*)">  x &lt;= 1</td>', html)
    assert cell is not None and "white-space:pre" in cell.group(1).split(";")


def test_summary_shows_the_report_everywhere():
    summary = render.Summary(_report())
    assert str(summary) == repr(summary) == render.as_text(summary.report)
    assert summary._repr_html_() == render.as_html(summary.report)
    assert summary.tables["Effects <i>"].loc["<b>", "estimate"] == 1.5

"""Every kind of table as a page: LaTeX compiles and stays within the margins, and Word documents open."""

import re
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest

from ordstat import compare, datasets, describe_ordinal, ordfit, table
from ordstat.results.report.exported import Exported
from ordstat.results.report.noted import NotedFrame

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ordstat.exceptions.OrdstatWarning")]

#: Names with every character that means something to LaTeX.
TEMPERATURES = {"cold": "50 % & less_#1", "warm": "Größe β {~^\\} <$5> [a|b]"}
RATINGS = {1: "very bad_1", 2: "bad 50%", 3: "so & so", 4: "good #4", 5: "χ² ≥ 5"}


def wine(ratings=RATINGS, temperatures=TEMPERATURES):
    frame = datasets.load("wine")
    names = {"temp": frame["temp"].cat.rename_categories(temperatures)}
    return frame.assign(
        **names, rating=frame["rating"].cat.rename_categories(ratings), x=np.random.default_rng(0).normal(size=72)
    )


def of_a_likelihood(data):
    fit = ordfit("rating ~ temp * contact + x", data)
    small = fit.update("~ temp + x")
    names = ("tidy", "glance", "confint", "errors", "confusion", "drop1", "nominal_test", "scale_test", "score_test")
    more = ("brant", "effects", "delta_errors", "bounds", "importance", "joint_tests", "gof", "discrimination")
    yield from (getattr(fit, name)() for name in (*names, *more, "influence", "convergence", "step"))
    yield from (fit.summary(section) for section in (None, "model", "errors", "margins", "bounds", "all"))
    yield from (fit.anova(small), fit.anova(), small.add1("~ . + contact"), fit.test("x = 0"))
    yield from (fit.emmeans("pairwise ~ temp * contact"), fit.emmeans("temp", scale="prob"), fit.emtrends("temp", "x"))
    yield from (fit.marginal_effects(["temp", "x"]), fit.marginal_effects("x", by="temp").contrasts())
    yield from (fit.predict(data.head(3), type="prob", se=True, interval="confidence"), fit.bootstrap(20))
    yield fit.conformal(level=0.8).coverage(data)


def of_models(data):
    fits = [ordfit("rating ~ temp + x", data), ordfit("rating ~ temp + x + (1 | judge)", data)]
    ranker = ordfit("rating ~ temp + x", data, "redsvm", kernel="linear")
    yield from (getattr(fits[1], name)() for name in ("tidy", "varcorr", "summary", "drop1", "influence"))
    yield table([*fits, ranker], groups=["A_1", "A_1", "R&D"], stars=True)
    yield table({"μ_1 & 2": fits[0], "#2": fits[1]}, exponentiate=True)
    compared = compare("rating ~ temp + x", data, methods=["logit", "redsvm", "svor-exc"], cv=4)
    yield from (compared, compared.table, compared.differences())
    yield from (describe_ordinal(data, "rating", by="temp"), describe_ordinal(data, "rating"))


def of_rankers(data):
    for method in ("cart", "bagging", "orboost-all", "ordboost", "rps-forest", "blend", "kernel-clm", "csovo", "prank"):
        fit = ordfit("rating ~ temp + x", data, method)
        names = ("tidy", "glance", "errors", "importance", "confusion")
        yield from (getattr(fit, name)() for name in names if hasattr(fit, name))
        yield from (fit.summary(), fit.summary("all"))


def long_and_wide():
    numbers = np.random.default_rng(1).normal(size=(120, 14))
    frame = pd.DataFrame(numbers, columns=[f"a measure of number {i}" for i in range(14)])
    yield NotedFrame.of(frame.iloc[:, :4], ["A note."], "Long")
    yield NotedFrame.of(frame, ["A note."], "Long and wide")
    yield NotedFrame.of(frame.iloc[:3].set_axis(["so long a name that its line has to be broken"] * 3), [], "")
    yield NotedFrame.of(frame.iloc[:2, :1].set_axis(["x" * 200], axis=1), [], "One column, wider than the page")


def every_table():
    yield from (one for kind in (of_a_likelihood, of_models, of_rankers) for one in kind(wine()))
    yield from [*long_and_wide()][:3]


def compiled(tmp_path, pieces, more=""):
    """Pages of a document of pieces, and what LaTeX said; skips where there is no LaTeX."""
    program = shutil.which("pdflatex")
    if program is None:
        pytest.skip("pdflatex is not installed: apt-get install texlive-latex-base texlive-latex-recommended")
    head = rf"\documentclass{{article}}\usepackage{{booktabs,longtable}}{more}\begin{{document}}"
    (tmp_path / "paper.tex").write_text("\n\\clearpage\n".join([head, *pieces, r"\end{document}"]), encoding="utf-8")
    arguments = [program, "-halt-on-error", "-interaction=nonstopmode", "paper.tex"]
    done = [subprocess.run(arguments, cwd=tmp_path, capture_output=True, text=True, errors="replace") for _ in "ab"][1]
    assert done.returncode == 0, done.stdout[-3000:]
    return int(re.search(r"\((\d+) pages?,", done.stdout)[1]), done.stdout


def test_every_table_is_latex_within_the_margins(tmp_path):
    tables = [*every_table()]
    assert len(tables) > 100 and all(isinstance(one, Exported) for one in tables)
    pages, said = compiled(tmp_path, [one.to_latex(label="tab:x") for one in tables])
    assert pages >= len(tables)
    too_wide = [float(points) for points in re.findall(r"Overfull \\hbox \((.+?)pt too wide\)", said)]
    assert max(too_wide, default=0.0) < 3.0  # points: a millimetre
    assert "Float too large" not in said and "Missing character" not in said


def test_a_table_over_pages_has_its_number_and_its_head_on_each(tmp_path):
    long, wide, *_ = long_and_wide()
    short = ordfit("rating ~ temp", wine()).confint()
    pages, _ = compiled(
        tmp_path,
        [long.to_latex(label="tab:a"), wide.to_latex(), short.to_latex(label="tab:b"), r"\ref{tab:a} and \ref{tab:b}"],
    )
    assert pages > 6
    text = subprocess.run(["pdftotext", "-layout", "paper.pdf", "-"], cwd=tmp_path, capture_output=True, text=True)
    assert "1 and 3" in text.stdout and text.stdout.count("number 0") >= 6


def test_letters_that_the_document_declares(tmp_path):
    """Chinese names: pdflatex knows such letters where the document says how to print them."""
    names = dict(zip(RATINGS, ["很差", "差", "一般", "好", "很好"], strict=True))
    fit = ordfit("rating ~ temp", wine(names, {"cold": "冷", "warm": "暖"}))
    letters = sorted({letter for name in [*names.values(), "冷", "暖"] for letter in name})
    declared = "".join(rf"\DeclareUnicodeCharacter{{{ord(letter):04X}}}{{U}}" for letter in letters)
    compiled(tmp_path, [fit.summary().to_latex(), fit.confusion().to_latex()], declared)


def test_word_documents_open(tmp_path):
    pytest.importorskip("docx", reason="python-docx is not installed: pip install ordstat[docx]")
    program = shutil.which("soffice")
    if program is None:
        pytest.skip("soffice is not installed: apt-get install libreoffice-writer")
    for place, one in enumerate(every_table()):
        one.to_docx(tmp_path / f"{place}.docx")
    home = f"-env:UserInstallation=file://{tmp_path}/home"
    files = sorted(path.name for path in tmp_path.glob("*.docx"))
    subprocess.run([program, home, "--headless", "--convert-to", "pdf", *files], cwd=tmp_path, check=True)
    assert sorted(path.stem for path in tmp_path.glob("*.pdf")) == sorted(name.removesuffix(".docx") for name in files)

"""The command line: what it prints, what it writes, and what it tells the shell."""

import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from seams import METHODS, PREDICTION_TYPES

import ordstat
from ordstat import DataError, cli, datasets, ordfit

FORMULA = "rating ~ temp + contact"
LABELS = {1: "very mild", 2: "mild", 3: "middle", 4: "bitter", 5: "very bitter"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder to work in, with the wine data in wine.csv."""
    monkeypatch.chdir(tmp_path)
    datasets.load("wine").to_csv("wine.csv", index=False)
    return tmp_path


@pytest.fixture
def labelled():
    """The wine data, ratings with labels."""
    wine = datasets.load("wine")
    rating = pd.Categorical(
        [LABELS[value] for value in wine["rating"]], list(LABELS.values()), ordered=True
    )
    return wine.assign(
        rating=rating,
        bottle=wine["bottle"].astype(int),
        judge=wine["judge"].astype(int),
    )


def test_fit_save_predict(folder, capsys):
    """The coefficients are those of R's clm in
    tests/golden/reference/cases/wine_logit.json.
    """
    assert cli.main(["fit", "wine.csv", FORMULA, "--save", "wine.ordstat"]) == 0
    shown = capsys.readouterr()
    assert (
        "temp: warm       2.503" in shown.out
        and "contact: yes     1.528" in shown.out
        and not shown.err
    )
    assert (
        cli.main(
            ["predict", "wine.ordstat", "wine.csv", "--type", "prob", "-o", "out.csv"]
        )
        == 0
    )
    out = pd.read_csv("out.csv")
    fit = ordfit(FORMULA, datasets.load("wine"))
    assert list(out) == [f"prob_{k}" for k in range(1, 6)]
    np.testing.assert_allclose(out, fit.predict(type="prob"), rtol=1e-12)


def test_the_summary_of_a_saved_fit(folder, capsys):
    cli.main(["fit", "wine.csv", FORMULA, "--save", "m"])
    shown = capsys.readouterr().out
    assert cli.main(["summary", "m"]) == 0 and capsys.readouterr().out == shown
    assert cli.main(["summary", "m", "all"]) == 0 and len(
        capsys.readouterr().out
    ) > 2 * len(shown)
    assert cli.main(["summary", "m", "modell"]) == 2


def test_a_report_is_written(folder):
    assert cli.main(["fit", "wine.csv", FORMULA, "--report", "wine.html"]) == 0
    page = (folder / "wine.html").read_text()
    assert (
        page.startswith("<!DOCTYPE html>") and "2.503" in page and "McCullagh" in page
    )
    assert cli.main(["fit", "wine.csv", FORMULA, "--report", "wine.pdf"]) == 2


def test_options_reach_the_fit(folder, capsys):
    def fitted(formula, *options, method="logit"):
        options = [word for option in options for word in ("--option", option)]
        assert (
            cli.main(
                [
                    "fit",
                    "wine.csv",
                    formula,
                    "--method",
                    method,
                    *options,
                    "--save",
                    "m",
                ]
            )
            == 0
        )
        return ordstat.load("m")

    svm = fitted(
        FORMULA, "C=10", "kernel=gaussian", "seed=3", "calibrate=True", method="redsvm"
    )
    assert (
        "C=10" in repr(svm.method)
        and "gaussian" in repr(svm.method).lower()
        and "prob" in svm.prediction_types
    )
    fitted("rating ~ temp", "nominal=~ contact")
    assert "contact: yes" in capsys.readouterr().out
    subset = fitted("rating ~ temp", "subset=judge > 2", "weights=bottle")
    assert subset.design.sample.n == 56 and subset.nobs == 56 * 4.5


def test_levels_in_order(folder, capsys):
    assert (
        cli.main(
            [
                "fit",
                "wine.csv",
                "temp ~ response",
                "--levels",
                "warm, cold",
                "--save",
                "m",
            ]
        )
        == 0
    )
    assert ordstat.load("m").levels == ("warm", "cold")
    assert (
        cli.main(
            ["fit", "wine.csv", "rating ~ temp", "--levels", "5,4,3,2,1", "--save", "m"]
        )
        == 0
    )
    assert ordstat.load("m").levels == (5, 4, 3, 2, 1)
    wine = pd.read_csv("wine.csv")
    wine.assign(
        rating=wine["rating"].astype(str).replace({"4": "4+", "5": "4+"})
    ).to_csv("wine.csv", index=False)
    assert (
        cli.main(["fit", "wine.csv", FORMULA, "--levels", "1,2,3,4+", "--save", "m"])
        == 0
    )
    assert ordstat.load("m").levels == ("1", "2", "3", "4+")


def test_advice_on_levels_can_be_pasted(folder, capsys):
    answers = ["Too Little", "About Right", "Don't care"] * 8
    pd.DataFrame({"spend": answers, "x": range(24)}).to_csv("gss.csv", index=False)
    assert cli.main(["fit", "gss.csv", "spend ~ x"]) == 1
    words = shlex.split(capsys.readouterr().err.partition("--levels ")[2])
    assert words[0] == "About Right,Don't care,Too Little,"  # the comma of the sentence
    assert (
        cli.main(
            [
                "fit",
                "gss.csv",
                "spend ~ x",
                "--levels",
                words[0].removesuffix(","),
                "--save",
                "m",
            ]
        )
        == 0
    )
    assert ordstat.load("m").levels == ("About Right", "Don't care", "Too Little")


def test_advice_on_levels_with_commas_can_be_pasted(folder, capsys):
    answers = ["No, never", 'So "so"', "Yes"] * 8
    pd.DataFrame({"spend": answers, "x": range(24)}).to_csv("gss.csv", index=False)
    assert cli.main(["fit", "gss.csv", "spend ~ x"]) == 1
    words = shlex.split(capsys.readouterr().err.partition("--levels ")[2])
    assert (
        cli.main(
            [
                "fit",
                "gss.csv",
                "spend ~ x",
                "--levels",
                words[0].removesuffix(","),
                "--save",
                "m",
            ]
        )
        == 0
    )
    assert ordstat.load("m").levels == ("No, never", 'So "so"', "Yes")


def test_the_version(capsys):
    with pytest.raises(SystemExit, match="0"):
        cli.main(["--version"])
    assert capsys.readouterr().out == f"ordstat {ordstat.__version__}\n"


def test_a_level_that_is_called_none(folder, capsys):
    pd.DataFrame(
        {"pain": ["None", "Mild", "Severe", "NA", ""] * 8, "x": range(40)}
    ).to_csv("pain.csv", index=False)
    assert (
        cli.main(
            [
                "fit",
                "pain.csv",
                "pain ~ x",
                "--levels",
                "None,Mild,Severe",
                "--save",
                "m",
            ]
        )
        == 0
    )
    fit = ordstat.load("m")
    assert fit.levels == ("None", "Mild", "Severe") and fit.design.sample.n == 24
    assert (
        "16 of 40 rows left out for missing values: pain (16)"
        in capsys.readouterr().err
    )


def test_results_are_printed_before_they_are_written(folder, capsys, monkeypatch):
    def full(*arguments, **options):
        raise DataError("the disk is full")

    monkeypatch.setattr("ordstat.persistence.write_file", full)
    assert cli.main(["fit", "wine.csv", FORMULA, "--save", "m"]) == 1
    assert "2.503" in capsys.readouterr().out


def test_predictions_of_new_rows(folder, capsys):
    cli.main(["fit", "wine.csv", FORMULA, "--save", "m"])
    capsys.readouterr()
    new = pd.DataFrame(
        {"id": ["a", "b"], "temp": ["warm", None], "contact": ["no", "yes"]}
    )
    new.to_csv("new.csv", index=False)
    assert cli.main(["predict", "m", "new.csv"]) == 0
    assert capsys.readouterr().out.splitlines() == ["class", "3", '""']
    assert cli.main(["predict", "m", "new.csv", "--type", "prob", "-o", "out.tsv"]) == 0
    assert pd.read_csv("out.tsv", sep="\t").columns[0] == "prob_1"
    assert (
        cli.main(["predict", "m", "new.csv", "--type", "score", "-o", "out.tsv"]) == 0
    )
    assert pd.read_csv("out.tsv", sep="\t").columns.tolist() == ["score"]
    assert (
        cli.main(["predict", "m", "new.csv", "-o", "out.xls"]) == 2
        and "must end in .csv" in capsys.readouterr().err
    )


def test_predictions_keep_columns_as_they_are_written(folder, capsys):
    cli.main(["fit", "wine.csv", FORMULA, "--save", "m"])
    capsys.readouterr()
    rows = [
        'id,"a, b",temp,contact,day',
        "007,NA,warm,no,2026-01-02",
        "12345678901234567890,1.50,,yes,",
        "n/a,,cold,yes,x",
    ]
    (folder / "new.csv").write_text("\n".join(rows))
    assert cli.main(["predict", "m", "new.csv", "--keep", "id, day"]) == 0
    shown = capsys.readouterr().out.splitlines()
    levels = ordstat.load("m").predict(pd.read_csv("new.csv")).astype(object)
    assert shown[0] == "id,day,class"
    assert shown[1:] == [
        f"007,2026-01-02,{levels[0]}",
        "12345678901234567890,,",
        f"n/a,x,{levels[2]}",
    ]
    assert (
        cli.main(["predict", "m", "new.csv", "--keep", "a, b", "--type", "prob"]) == 0
    )
    kept = [line.split(",")[:2] for line in capsys.readouterr().out.splitlines()[1:]]
    assert kept[:2] == [["NA", "0.0" + kept[0][1][3:]], ["1.50", ""]]
    assert cli.main(["predict", "m", "new.csv", "--keep", "idd"]) == 2
    error = capsys.readouterr().err
    assert (
        "--keep must be one of 'id', 'a, b', 'temp'" in error
        and "Did you mean 'id'?" in error
    )
    (folder / "new.csv").write_text("class,temp,contact\n1,warm,no\n")
    assert cli.main(["predict", "m", "new.csv", "--keep", "class"]) == 2
    assert "--keep names 'class' twice" in capsys.readouterr().err


@pytest.mark.parametrize("ending", [".parquet", ".pq", ".PARQUET"])
def test_parquet(ending, folder, capsys):
    data = f"wine{ending}"
    wine = datasets.load("wine").assign(id=[f"{row:03}" for row in range(72)])
    wine.set_index("id").iloc[::-1].to_parquet(data)
    assert cli.main(["fit", data, FORMULA, "--save", "m"]) == 0
    assert "temp: warm       2.503" in capsys.readouterr().out
    assert (
        cli.main(
            [
                "predict",
                "m",
                data,
                "--keep",
                "id,judge",
                "--type",
                "prob",
                "-o",
                f"out{ending}",
            ]
        )
        == 0
    )
    out = pd.read_parquet(f"out{ending}")
    assert list(out) == ["id", "judge", *(f"prob_{k}" for k in range(1, 6))]
    assert out["id"].tolist() == wine["id"].tolist()[::-1]
    expected = ordfit(FORMULA, wine).predict(wine.iloc[::-1], type="prob")
    np.testing.assert_allclose(out.iloc[:, 2:], expected, rtol=1e-9)


def test_parquet_without_pyarrow(folder, capsys, monkeypatch):
    monkeypatch.setattr("ordstat.table_files.find_spec", lambda name: None)
    cli.main(["fit", "wine.csv", FORMULA, "--save", "m"])
    for arguments in (
        ["fit", "wine.pq", FORMULA],
        ["predict", "m", "wine.csv", "-o", "out.parquet"],
    ):
        capsys.readouterr()
        assert cli.main(arguments) == 2
        assert (
            "needs the package pyarrow. Install it: pip install pyarrow"
            in capsys.readouterr().err
        )


# Files of other programs


def test_text_files(folder, labelled, capsys):
    labelled.to_csv("semicolon.csv", sep=";", index=False)
    labelled.to_csv("wine.tsv", sep="\t", index=False)
    assert cli.main(["fit", "semicolon.csv", FORMULA]) == 1
    assert "Give the separator: --separator ';'." in capsys.readouterr().err
    levels = ["--levels", ",".join(LABELS.values())]
    assert cli.main(["fit", "semicolon.csv", FORMULA, "--separator", ";", *levels]) == 0
    assert cli.main(["fit", "wine.tsv", FORMULA, *levels]) == 0


# What goes wrong

WRONG = {
    1: {
        "no file": (["fit", "none.csv", "y ~ x"], "there is no file 'none.csv'"),
        "no column": (["fit", "wine.csv", "rating ~ tmp"], "did you mean 'temp'"),
        "a formula": (["fit", "wine.csv", "rating ~ temp +"], "formula"),
        "code": (
            ["fit", "wine.csv", "rating ~ open('x')"],
            "Formulas do not have the function",
        ),
        "no order": (
            ["fit", "wine.csv", "temp ~ response"],
            "Give --levels cold,warm, lowest first (here by the alphabet).",
        ),
        "no fit": (
            ["predict", "wine.csv", "wine.csv"],
            "it is not a file that `ordstat fit --save` wrote",
        ),
        "one text": (
            ["fit", "one.csv", "y ~ x"],
            "needs rows of at least 2 levels; the rows used all have 'a'",
        ),
        "a folder": (
            ["fit", "wine.csv", FORMULA, "--save", "no/m"],
            "no/m cannot be written",
        ),
        "a type": (
            ["predict", "../wine.ordstat", "wine.csv", "--type", "x"],
            "cannot be read: No such file",
        ),
        "binary": (
            ["fit", "binary.csv", FORMULA],
            "'binary.csv' cannot be read as",
        ),
        "letters": (
            ["fit", "latin.csv", FORMULA],
            "'latin.csv' cannot be read as utf-8: byte 0xdf. Give its encoding, such as"
            " --encoding cp1252",
        ),
        "empty": (
            ["fit", "empty.csv", FORMULA],
            "'empty.csv' is empty. Give a file with a line of headings",
        ),
        "a folder as data": (["fit", ".", FORMULA], "'.' is a folder. Name a file"),
        "a column of an option": (
            ["fit", "wine.csv", FORMULA, "--option", "cluster=house"],
            "no column 'house', needed for --option cluster; there are",
        ),
        "no rows": (["fit", "head.csv", FORMULA], "'head.csv' has no rows"),
    },
    2: {
        "a method": (
            ["fit", "wine.csv", FORMULA, "--method", "redvm"],
            "Did you mean 'redsvm'",
        ),
        "an option of another method": (
            ["fit", "wine.csv", FORMULA, "--option", "D=1"],
            "has no option 'D'",
        ),
        "nothing": (
            [],
            "the following arguments are required: COMMAND (see ordstat --help)",
        ),
        "a command": (["fti"], "invalid choice: 'fti'"),
        "no formula": (
            ["fit", "wine.csv"],
            "required: formula (see ordstat fit --help)",
        ),
        "an argument": (
            ["fit", "wine.csv", FORMULA, "--metod", "x"],
            "arguments: --metod x. Put texts with blanks",
        ),
        "an option": (
            ["fit", "wine.csv", FORMULA, "--option", "C"],
            "--option must be NAME=VALUE, such as C=10",
        ),
        "an extension": (
            ["fit", "wine.xls", FORMULA],
            "got 'wine.xls'. Open it in Excel or LibreOffice and save it as CSV UTF-8",
        ),
        "a folder of a page": (
            ["fit", "wine.csv", FORMULA, "--report", "no/m.html"],
            "Make 'no' first",
        ),
        "an ending of a page": (
            ["fit", "wine.csv", FORMULA, "--report", "m.pdf"],
            "ends in .html",
        ),
        "an ending of a fit": (
            ["fit", "wine.csv", FORMULA, "--save", "wine.csv"],
            "path must end in .ordstat",
        ),
        "a file of Stata": (
            ["fit", "gss.dta", FORMULA],
            'python -c "import pandas; pandas.read_stata(',
        ),
        "a formula without quotes": (
            ["fit", "wine.csv", "rating", "/root", "temp"],
            'in quotes, such as "rating ~ temp" (see ordstat fit --help)',
        ),
        "levels without quotes": (
            ["fit", "wine.csv", FORMULA, "--levels", "Poor,Very", "Good"],
            "unrecognized arguments: Good. Put texts with blanks",
        ),
        "an option twice": (
            ["fit", "wine.csv", FORMULA, "--option", "tol=1e-6", "--option", "tol=1"],
            "--option tol is given twice",
        ),
        "an argument as option": (
            ["fit", "wine.csv", FORMULA, "--option", "method=probit"],
            "--option must not be method; give --method",
        ),
        "model and data exchanged": (
            ["predict", "wine.csv", "wine.ordstat"],
            "give the model first, ordstat predict MODEL DATA",
        ),
        "a command that left": (["datasets"], "invalid choice: 'datasets'"),
    },
}


@pytest.mark.parametrize(
    ("code", "name"), [(code, name) for code, cases in WRONG.items() for name in cases]
)
def test_errors_are_one_line_and_a_code(code, name, folder, capsys):
    (folder / "binary.csv").write_bytes(b"\xff\xfe\x00\x93" * 100)
    (folder / "latin.csv").write_bytes("temp\nheiß\n".encode("latin-1"))
    (folder / "empty.csv").touch()
    (folder / "one.csv").write_text("y,x\na,1\na,2\n")
    (folder / "head.csv").write_text("rating,temp,contact\n")
    arguments, message = WRONG[code][name]
    assert cli.main(arguments) == code
    shown = capsys.readouterr()
    assert shown.err.startswith("ordstat: error: ") and message in shown.err
    assert shown.err.count("\n") == 1 and "Traceback" not in shown.err and not shown.out
    assert not (folder / "m").exists()


@pytest.mark.parametrize("argument", ["--report", "--save"])
def test_a_wrong_ending_is_refused_before_the_fit(
    argument, folder, capsys, monkeypatch
):
    before = (folder / "wine.csv").read_bytes()
    monkeypatch.setattr("ordstat.cli.ordfit", lambda *a, **k: pytest.fail("fitted"))
    assert cli.main(["fit", "wine.csv", FORMULA, argument, "wine.csv"]) == 2
    assert (folder / "wine.csv").read_bytes() == before


def test_warnings_go_to_the_standard_error(folder, capsys):
    wine = pd.read_csv("wine.csv")
    wine.loc[0, "temp"] = None
    wine.to_csv("wine.csv", index=False)
    assert cli.main(["fit", "wine.csv", FORMULA]) == 0
    assert (
        capsys.readouterr().err
        == "ordstat: warning: 1 of 72 rows left out for missing values: temp (1).\n"
    )


def test_an_interruption_leaves_nothing(folder, capsys, monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("ordstat.cli.TableFile.read", interrupted)
    assert cli.main(["fit", "wine.csv", FORMULA, "--save", "m"]) == 130
    assert (
        capsys.readouterr().err == "ordstat: error: interrupted\n"
        and not (folder / "m").exists()
    )


# What there is


def test_methods_and_their_papers(capsys):
    assert cli.main(["methods"]) == 0
    out = capsys.readouterr().out
    assert {line.split()[0] for line in out.splitlines() if line[0] != " "} == set(
        METHODS
    )
    assert "redsvm                Support vector ordinal ranking by reduction" in out
    assert f"{' ' * 22}CumulativeLink(link='probit') [McCullagh, P. (1980)]" in out
    assert f"{' ' * 22}REDSVM(cost='absolute')" in out
    # no formula is broken across lines
    assert "P(y <= k | x) = F(s (theta_k(w) - x'beta - offset))." in out
    assert max(map(len, out.splitlines())) <= 100


@pytest.mark.parametrize("arguments", [[], *([name] for name in cli.COMMANDS)], ids=str)
def test_help_teaches_by_examples(arguments, capsys):
    with pytest.raises(SystemExit) as left:
        cli.main([*arguments, "--help"])
    out = capsys.readouterr().out
    assert left.value.code == 0 and out.startswith("usage: ordstat")
    examples = [line for line in out.splitlines() if line.startswith("  ordstat ")]
    assert arguments == ["demo"] or examples
    # one command a line
    assert all(line.count(" ordstat ") == 1 for line in examples)


@pytest.mark.parametrize("arguments", [[], *([name] for name in cli.COMMANDS)], ids=str)
def test_examples_of_help_are_commands(arguments, capsys):
    """The parser takes each line."""
    with pytest.raises(SystemExit):
        cli.main([*arguments, "--help"])
    lines = capsys.readouterr().out.splitlines()
    examples = [line for line in lines if line.startswith("  ordstat ")]
    for example in examples:
        cli._parser().parse_args(shlex.split(example)[1:])


def test_help_lists_every_type_of_prediction(capsys):
    with pytest.raises(SystemExit):
        cli.main(["predict", "--help"])
    listed = capsys.readouterr().out.partition("types:")[2]
    for name in PREDICTION_TYPES:
        assert re.search(rf"\b{name}\b", listed), name


def test_the_type_of_a_fit_without_it(folder, capsys):
    """A type has its own name in the headings, whichever spelling was given."""
    cli.main(["fit", "wine.csv", FORMULA, "--method", "redsvm", "--save", "m"])
    capsys.readouterr()
    assert cli.main(["predict", "m", "wine.csv", "--type", "prob"]) == 2
    assert "Fit with --option calibrate=True" in capsys.readouterr().err
    cli.main(["fit", "wine.csv", FORMULA, "--save", "m"])
    capsys.readouterr()
    assert cli.main(["predict", "m", "wine.csv", "--type", "PROB"]) == 0
    assert capsys.readouterr().out.startswith("prob_1,")


@pytest.mark.parametrize("name", ["wine.csv", "m"])
def test_what_is_read_is_not_written_over(name, folder, capsys):
    cli.main(["fit", "wine.csv", FORMULA, "--save", "m"])
    before = (folder / name).read_bytes()
    os.link(name, "other.csv")
    for output in {"wine.csv" if name == "wine.csv" else "other.csv", "other.csv"}:
        assert cli.main(["predict", "m", "wine.csv", "-o", output]) == 1
        assert "is read by this command. Name another" in capsys.readouterr().err
    (folder / "data").write_bytes((folder / "wine.csv").read_bytes())
    assert cli.main(["fit", "data", FORMULA, "--separator", ",", "--save", "data"]) == 1
    assert (folder / name).read_bytes() == before
    assert cli.main(["predict", "m", "wine.csv", "-o", "no/out.csv"]) == 1
    assert "there is no folder 'no'. Make it first: mkdir no" in capsys.readouterr().err


def test_advice_is_for_the_shell(folder, capsys):
    """A summary names options of the command, and the file of the fit."""
    anes = datasets.load("anes96")
    anes.assign(PID=anes["PID"].cat.codes).to_csv("anes.csv", index=False)
    assert (
        cli.main(["fit", "anes.csv", "PID ~ educ + age + selfLR", "--save", "m"]) == 0
    )
    shown = " ".join(capsys.readouterr().out.split())
    assert "More: ordstat summary m model, fit, errors" in shown
    assert 'and --option nominal="~ ' in shown
    assert "update(" not in shown and "plot.parallel" not in shown
    assert cli.main(["fit", "anes.csv", "PID ~ educ"]) == 0
    assert "More: add --save FILE, then" in capsys.readouterr().out
    wine = pd.read_csv("wine.csv")
    wine.assign(rating=wine["rating"].where(wine["temp"] == "cold", 5)).to_csv(
        "separated.csv", index=False
    )
    assert cli.main(["fit", "separated.csv", "rating ~ temp"]) == 0
    assert "fit with --option penalty=jeffreys" in capsys.readouterr().err
    assert cli.main(["fit", "wine.csv", "rating ~ temp", "--levels", "1,2,3"]) == 1
    said = capsys.readouterr().err
    assert "levels=" not in said and "--levels" in said


def test_demo(capsys):
    assert cli.main(["demo"]) == 0
    shown = capsys.readouterr()
    assert shown.out.count("PID ~ selfLR + educ + age") == 2 and not shown.err
    assert "Cumulative link model" in shown.out and "Large-margin" in shown.out


def test_as_a_program(folder):
    """As the shell calls it, by the name of the package too."""
    run = [sys.executable, "-m", "ordstat"]
    done = subprocess.run(
        [*run, "fit", "none.csv", "y ~ x"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("ordstat: error: there is no file 'none.csv' in ")
    with subprocess.Popen(
        [*run, "methods"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as program:
        program.stdout.close()
        assert program.stderr.read() == ""


def _run(arguments, **streams):
    command = [sys.executable, "-m", "ordstat", *arguments]
    return subprocess.run(
        command, stderr=subprocess.PIPE, text=True, check=False, **streams
    )


@pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="the system has no full device"
)
def test_a_full_device(folder):
    cli.main(["fit", "wine.csv", FORMULA, "--save", "m"])
    for arguments in (
        ["summary", "m"],
        ["predict", "m", "wine.csv", "--type", "prob"],
        ["--help"],
    ):
        with open("/dev/full", "w") as full:
            done = _run(
                arguments, stdout=full, env={**os.environ, "PYTHONUNBUFFERED": "1"}
            )
        assert done.returncode == 1
        assert (
            done.stderr
            == "ordstat: error: the output cannot be written: No space left on"
            " device.\n"
        )


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell of POSIX")
def test_a_closed_output(folder):
    cli.main(["fit", "wine.csv", FORMULA, "--save", "m"])
    shell = f"{shlex.quote(sys.executable)} -m ordstat summary m >&-"
    done = subprocess.run(
        shell, shell=True, stderr=subprocess.PIPE, text=True, check=False
    )
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "the standard output is closed" in done.stderr
    head = f"{shlex.quote(sys.executable)} -m ordstat predict m wine.csv | head -1"
    done = subprocess.run(head, shell=True, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("class\n", "")


def test_a_screen_of_ascii(folder, capsys, monkeypatch):
    """Text for a reader has question marks; a label of data is not changed."""
    pd.DataFrame({"réponse": ["peu", "moyen", "très"] * 8, "x": range(24)}).to_csv(
        "a.csv", index=False
    )
    levels = ["--levels", "peu,moyen,très", "--save", "m"]
    ascii_screen = {
        "env": {**os.environ, "PYTHONIOENCODING": "ascii"},
        "stdout": subprocess.PIPE,
    }
    done = _run(["fit", "a.csv", "réponse ~ x", *levels], **ascii_screen)
    assert (done.returncode, done.stderr) == (0, "") and "r?ponse ~ x" in done.stdout
    # the rest in this process, whose screen is one of ascii
    screen = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", screen)
    for arguments in (["methods"], ["summary", "m", "all"]):
        assert cli.main(arguments) == 0
    with pytest.raises(SystemExit, match="0"):
        cli.main(["--help"])
    assert cli.main(["predict", "m", "a.csv", "--type", "prob"]) == 1
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert (
        "the screen's encoding ascii has no '\xe8'. Write a file with --output" in told
    )
    assert cli.main(["predict", "m", "a.csv", "--type", "prob", "-o", "out.csv"]) == 0


def test_two_labels_of_one_level_are_a_matter_of_the_file(folder, labelled, capsys):
    """The advice has no Python."""
    frame = labelled.astype({"rating": str})
    frame.loc[0, "rating"] += " "
    frame.to_csv("labels.csv", index=False)
    for more in ([], ["--levels", ",".join(LABELS.values())]):
        assert cli.main(["fit", "labels.csv", "rating ~ temp", *more]) == 1
        printed = capsys.readouterr().err
        assert "the file ('mild ': 'mild')" in printed
        assert "data.replace" not in printed


def test_backticks_are_told_of_the_shell(folder, capsys):
    assert cli.main(["fit", "wine.csv", "rating ~ temp + my contact"]) == 1
    assert "Single quotes around the formula" in capsys.readouterr().err


def test_codes_of_missing_answers_are_told_in_words_of_the_shell(folder, capsys):
    answers = ["never", "often", "99"] * 24
    datasets.load("wine").assign(rating=answers).to_csv("wine.csv", index=False)
    advice = {"": "Set '99' to missing first", "never,often": "Change the file"}
    for levels, told in advice.items():
        options = ["--levels", levels] if levels else []
        assert cli.main(["fit", "wine.csv", "rating ~ temp", *options]) == 1
        error = capsys.readouterr().err
        assert told in error and "data.replace" not in error

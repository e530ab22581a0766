"""Tables in files that the command line reads and writes."""

import gzip
import re

import numpy as np
import pandas as pd
import pytest

from ordstat import datasets, table_files
from ordstat.exceptions import DataError, DataWarning, OptionError


@pytest.fixture
def file(tmp_path, monkeypatch):
    """A function that writes a file into an empty folder; it returns its name."""
    monkeypatch.chdir(tmp_path)

    def written(name, content):
        text = content if isinstance(content, bytes) else content.encode()
        (tmp_path / name).write_bytes(text)
        return name

    return written


def test_kinds_of_text_have_the_same_table(file):
    expected = pd.DataFrame({"grade": ["gut", "süß", None], "x": [1.5, -2.0, 3.0]})
    rows = "grade,x\ngut,1.5\nsüß,-2\nNA,3\n"
    tabs = rows.replace(",", "\t")
    german = rows.replace(",", ";").replace(".", ",")
    files = [
        table_files.TableFile(file("a.csv", rows)),
        table_files.TableFile(file("b.tsv", tabs)),
        table_files.TableFile(file("c.csv.gz", gzip.compress(rows.encode()))),
        table_files.TableFile(file("d.TSV.GZ", gzip.compress(tabs.encode()))),
        table_files.TableFile(file("e.csv", b"\xef\xbb\xbf" + rows.encode())),
        table_files.TableFile(file("f.csv", rows.encode("cp1252")), encoding="cp1252"),
        table_files.TableFile(file("g.csv", rows.encode("utf-16")), encoding="utf-16"),
        table_files.TableFile(file("h.txt", german), separator=";", decimal=","),
    ]
    for table in files:
        pd.testing.assert_frame_equal(table.read(), expected)


@pytest.mark.parametrize(
    "name", ["out.csv", "out.tsv", "out.csv.gz", "out.tsv.gz", "out.parquet", "out.pq"]
)
def test_written_tables_are_read(name, file):
    table = pd.DataFrame({"id": ["a", "b"], "prob": [0.1, 1 / 3]})
    table_files.write_table(table, name)
    pd.testing.assert_frame_equal(table_files.TableFile(name).read(), table)


def test_cells_as_they_are_written(file):
    data = table_files.TableFile(
        file("a.csv", "id;x\n007;1,50\nNA;\n"), ";", decimal=","
    )
    assert data.read()["x"].iloc[0] == 1.5
    assert data.as_written(["id", "x"]).to_numpy().tolist() == [
        ["007", "1,50"],
        ["NA", ""],
    ]


WRONG = {
    "no file": ("none.csv", None, "there is no file 'none.csv' in "),
    "empty": ("a.csv", "", "'a.csv' is empty"),
    "headings alone": ("a.csv", "y,x\n", "no rows below its headings"),
    "equal headings": ("a.csv", "y,x,x\n1,2,3\n", "several columns 'x'. Rename"),
    "another separator": ("a.csv", "y;x\n1;2\n", "--separator ';'"),
    "names of rows": ("a.csv", "y,x\na,1,2\nb,3,4\n", "more cells than the 2 headings"),
    "a row too long": ("a.csv", "y,x\n1,2\n3,4,5\n", "'a.csv' cannot be read as .csv"),
    "letters of Windows": ("a.csv", b"y,x\nhei\xdf,1\n", "--encoding cp1252"),
    "no Parquet": ("a.parquet", b"PAR1 and no more", "cannot be read as .parquet"),
    "no gzip": ("a.csv.gz", "y,x\n1,2\n", "'a.csv.gz' cannot be read"),
}


@pytest.mark.parametrize("name", WRONG)
def test_files_that_cannot_be_used(name, file):
    path, content, message = WRONG[name]
    if content is not None:
        file(path, content)
    with pytest.raises(DataError, match=re.escape(message)):
        table_files.TableFile(path).read()


def test_kinds_that_cannot_be_read(file, tmp_path):
    cures = {
        "a.xlsx": "save it as CSV UTF-8",
        "a.dta": r"pandas\.read_stata\('a\.dta'\)\.to_csv\('a\.csv'",
        "a.ordstat": "ordstat predict MODEL DATA",
        "a.txt": "--separator ';'",
        "a": "--separator ';'",
    }
    for path, cure in cures.items():
        with pytest.raises(OptionError, match=cure):
            table_files.TableFile(path)
    with pytest.raises(OptionError, match="--encoding goes with a text file"):
        table_files.TableFile("a.parquet", encoding="cp1252")
    (tmp_path / "a.csv").mkdir()
    with pytest.raises(DataError, match=r"'a\.csv' is a folder"):
        table_files.TableFile("a.csv")


def test_decimal_commas_are_told_of(file):
    rows = "y;x;note\n1;1,5;1,2,3\n2;2;1\n3;;2\n"
    with pytest.warns(DataWarning, match=r"in 'x'\. .* --decimal ','"):
        table_files.TableFile(file("a.csv", rows), ";").read()
    # the options say what is meant; commas between quoted cells may be lists
    table_files.TableFile("a.csv", ";", decimal=".").read()
    table_files.TableFile(file("b.csv", 'y,x\n1,"1,5"\n2,"2,5"\n')).read()


@pytest.mark.filterwarnings("ignore")
def test_damaged_files_are_read_or_refused(file, tmp_path):
    datasets.load("wine").to_csv("wine.csv", index=False)
    path = tmp_path / "wine.csv"
    rng = np.random.default_rng(0)
    good = path.read_bytes()
    for _ in range(20):
        bad = bytearray(good[: rng.integers(1, len(good) + 1)])
        bad[rng.integers(len(bad))] = rng.integers(128, 256)
        path.write_bytes(bytes(bad))
        with pytest.raises(DataError, match=r"cannot be read as|has no rows"):
            table_files.TableFile("wine.csv").read()

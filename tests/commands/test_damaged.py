"""Damaged files of tables: read or refused in words, never a traceback of the library that reads them."""

import bz2
import contextlib
import gzip
import lzma
import zipfile

import numpy as np
import pytest

from ordstat import DataError, datasets
from ordstat.cli import main, read_table


def packed(kind, path, text):
    if kind == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as into:
            into.writestr("wine.csv", text)
    else:
        opened = {"gz": gzip.open, "bz2": bz2.open, "xz": lzma.open}[kind]
        with opened(path, "wb") as into:
            into.write(text)


def written(kind, folder):
    """The wine data in a file of the kind."""
    wine = datasets.load("wine").astype({"rating": int, "bottle": int, "judge": int})
    path = folder / (f"wine.csv.{kind}" if kind in ("gz", "bz2", "xz", "zip") else f"wine.{kind}")
    if kind == "dta":
        wine.to_stata(path, write_index=False)
    elif kind == "parquet":
        pytest.importorskip("pyarrow")
        wine.to_parquet(path)
    elif kind == "csv":
        wine.to_csv(path)
    else:
        packed(kind, path, wine.to_csv(index=False).encode())
    return path


def damaged(good, rng):
    """Cut off, or with other bytes at any places, or at places of its head."""
    how, size = rng.integers(3), len(good)
    if how == 0:
        return good[: rng.integers(size)]
    bad = bytearray(good)
    for place in rng.integers(0, size if how == 1 else min(size, 200), 12):
        bad[place] = rng.integers(256)
    return bytes(bad)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["csv", "dta", "parquet", "gz", "bz2", "xz", "zip"])
def test_damaged_files_are_read_or_refused(kind, tmp_path):
    rng = np.random.default_rng(len(kind))
    path = written(kind, tmp_path)
    assert len(read_table(str(path))) == 72
    good, refused = path.read_bytes(), 0
    for _ in range(60):
        path.write_bytes(damaged(good, rng))
        try:
            read_table(str(path))
        except DataError as error:
            refused += 1
            assert "cannot be read as" in str(error) or "has no rows" in str(error) or "has one column" in str(error)
    assert refused >= 10


def test_a_text_is_no_spss_file(tmp_path, capsys, monkeypatch):
    pytest.importorskip("pyreadstat")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wine.sav").write_text("rating,temp\n1,cold\n")
    with contextlib.suppress(SystemExit):
        assert main(["fit", "wine.sav", "rating ~ temp"]) == 1
    told = capsys.readouterr().err
    assert told.count("\n") == 1 and "'wine.sav' cannot be read as .sav" in told


def test_a_response_of_one_text_needs_another_level(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one.csv").write_text("y,x\na,1\na,2\n")
    assert main(["fit", "one.csv", "y ~ x"]) == 1
    assert "needs rows of at least 2 levels; the rows used all have 'a'" in capsys.readouterr().err

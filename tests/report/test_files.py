"""Every file is written whole or not at all."""

import os
import pathlib
import subprocess
import sys

import pandas as pd
import pytest
from expected import refused, unreadable, unwritable
from saved_fits import MEAN, wine

from ordstat import load, ordfit
from ordstat.cli import main


@pytest.fixture(scope="module")
def fit():
    return ordfit(MEAN, wine())


#: By what they end in: writes of a fit to a path.
WRITES = {
    "fit.ordstat": lambda fit, path: fit.save(path),
    "page.html": lambda fit, path: fit.report(path, pictures=False),
}


@pytest.mark.parametrize("name", WRITES)
def test_a_full_disk_leaves_what_was_there(name, fit, tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(28, "No space left on device")

    (tmp_path / name).write_text("before")
    monkeypatch.setattr(os, "fsync", full)
    with unwritable(name, "No space left on device"):
        WRITES[name](fit, tmp_path / name)
    assert (tmp_path / name).read_text() == "before" and os.listdir(tmp_path) == [name]


@pytest.mark.parametrize("name", WRITES)
def test_pipes_devices_and_folders_are_refused(name, fit, tmp_path):
    os.mkfifo(tmp_path / name)
    with unwritable("", "it is not a regular file"):
        WRITES[name](fit, tmp_path / name)
    os.unlink(tmp_path / name)
    os.symlink("/dev/full", tmp_path / name)
    with unwritable("", "it is not a regular file"):
        WRITES[name](fit, tmp_path / name)
    assert os.path.islink(tmp_path / name)


@pytest.mark.parametrize("name", WRITES)
def test_the_mode_stays_and_old_parts_go(name, fit, tmp_path):
    path = tmp_path / name
    for part, age in (("aaaaaaaa", 10**6), ("bbbbbbbb", 0)):
        (tmp_path / f".{name}.{part}.part").write_text(
            "left by a process that was killed"
        )
        os.utime(
            tmp_path / f".{name}.{part}.part", (path.parent.stat().st_mtime - age,) * 2
        )
    path.write_text("before")
    path.chmod(0o600)
    WRITES[name](fit, path)
    assert path.stat().st_mode & 0o777 == 0o600 and path.stat().st_size > 100
    assert sorted(os.listdir(tmp_path)) == [f".{name}.bbbbbbbb.part", name]


def test_paths_that_cannot_be_written(fit, tmp_path):
    with unwritable("nowhere/fit.ordstat", "No such file or directory"):
        fit.save(tmp_path / "nowhere" / "fit.ordstat")
    with refused("path"):
        fit.save(3)
    with unreadable("", "No such file"):
        load(tmp_path / "none.ordstat")
    for name in ("wine.csv", "fit.pkl", "report.html", "fit.ordstat.gz"):
        with refused("path"):
            fit.save(tmp_path / name)


def test_tables_of_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    wine().to_csv("wine.csv", index=False)
    assert main(["fit", "wine.csv", MEAN, "--save", "m"]) == 0
    (tmp_path / "out.csv").write_text("before")
    with monkeypatch.context() as broken:
        broken.setattr(
            os,
            "fsync",
            lambda descriptor: (_ for _ in ()).throw(
                OSError(28, "No space left on device")
            ),
        )
        assert main(["predict", "m", "wine.csv", "-o", "out.csv"]) == 1
    assert "out.csv cannot be written: No space left" in capsys.readouterr().err
    assert (tmp_path / "out.csv").read_text() == "before"
    assert (
        main(["predict", "m", "wine.csv", "-o", "out.csv"]) == 0
        and len(pd.read_csv("out.csv")) == 72
    )


def test_several_threads_write_one_path(fit, tmp_path):
    from concurrent.futures import ThreadPoolExecutor

    path = tmp_path / "fit.ordstat"
    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(fit.save, path) for _ in range(40)]:
            done.result()
    assert load(path).loglik == fit.loglik
    assert os.listdir(tmp_path) == [path.name]


#: Saves a fit to one path again and again.
SAVES = """
import sys
from ordstat import datasets, ordfit
fit = ordfit("rating ~ temp", datasets.load("wine"))
for _ in range(25):
    fit.save(sys.argv[1])
"""


def test_several_processes_write_one_path(tmp_path):
    path = tmp_path / "fit.ordstat"
    given = [sys.executable, "-c", SAVES, str(path)]
    running = [
        subprocess.Popen(given, stderr=subprocess.PIPE, text=True) for _ in range(3)
    ]
    for process in running:
        assert process.communicate()[1] == "" and process.returncode == 0
    assert load(path).formula == "rating ~ temp"
    assert os.listdir(tmp_path) == [path.name]


def test_a_part_that_another_writer_ends_is_no_error(fit, tmp_path, monkeypatch):
    """The part of another writer is listed, and gone when it is looked at."""
    path = tmp_path / "fit.ordstat"
    (tmp_path / f".{path.name}.12345678.part").write_text("")
    listed = pathlib.Path.glob

    def gone(folder, pattern):
        for found in [*listed(folder, pattern)]:
            found.unlink()
            yield found

    monkeypatch.setattr(pathlib.Path, "glob", gone)
    fit.save(path)
    assert os.listdir(tmp_path) == [path.name]

"""Which files a path names, and errors of files that cannot be read."""

import os

import numpy as np
import pandas as pd
import pytest
from expected import refused, rows_left_out, unreadable

from ordstat import OrdinalClassifier, compare, ordfit
from ordstat.blocks.files import parquet_files
from ordstat.exceptions import DataError

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def rows(n=400, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"x": rng.normal(size=n), "g": rng.choice(["a", "b"], n)})
    return frame.assign(y=np.searchsorted([-1.0, 1.0], frame.x + rng.logistic(size=n)))


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    frame = rows()
    frame[:250].to_parquet(folder / "1.parquet")
    frame[250:].to_parquet(folder / "2.parquet")
    return folder


def equals(data, frame, formula="y ~ x + g", **arguments):
    here, there = (ordfit(formula, given, **arguments) for given in (data, frame))
    assert here.nobs == there.nobs
    assert list(here.params.index) == list(there.params.index)
    assert np.allclose(here.params, there.params, rtol=1e-8)


@pytest.mark.parametrize(
    "name",
    [
        "_temporary/0/part.parquet",
        ".1.parquet",
        "_SUCCESS",
        ".1.parquet.crc",
        "_copy.parquet",
        ".hidden/1.parquet",
    ],
)
def test_names_that_begin_with_a_mark_are_no_data(name, folder):
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    rows(seed=9).to_parquet(folder / name)
    (folder / "notes.txt").write_text("no data")
    equals(folder, rows())
    equals(str(folder / "*.parquet"), rows())
    equals(str(folder / "**" / "*.parquet"), rows())


@pytest.mark.parametrize("ending", [".pq", ".PARQUET", ".parq", ".snappy.parquet"])
def test_every_usual_ending_counts(ending, folder):
    (folder / "2.parquet").rename(folder / f"2{ending}")
    equals(folder, rows())


def test_a_file_is_read_once(folder, tmp_path):
    (folder / "3.parquet").symlink_to(folder / "1.parquet")
    os.link(folder / "2.parquet", folder / "4.parquet")
    (folder / "again").symlink_to(folder, target_is_directory=True)
    equals(folder, rows())
    equals(str(folder / "*.parquet"), rows())
    elsewhere = tmp_path / "links"
    elsewhere.mkdir()
    (elsewhere / "all").symlink_to(folder, target_is_directory=True)
    equals(elsewhere, rows())


@pytest.mark.parametrize("name", ["3.parquet", "year=2021", "below/3.parquet"])
def test_a_link_that_leads_nowhere_is_refused(name, folder):
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).symlink_to(folder / "gone")
    for path in (folder, str(folder / "**" / "*")):
        with pytest.raises(
            DataError, match=rf"{name} must be a file; it is a link that leads nowhere"
        ):
            ordfit("y ~ x + g", path)


def test_a_pipe_is_refused_at_once(folder):
    os.mkfifo(folder / "3.parquet")
    for path in (folder, str(folder / "*.parquet")):
        with pytest.raises(DataError, match=r"3\.parquet must be a file"):
            ordfit("y ~ x + g", path)


def test_a_folder_that_cannot_be_read_is_refused(folder, monkeypatch):
    closed = folder / "closed"
    closed.mkdir()
    scandir = os.scandir

    def refusing(path):
        if str(path) == str(closed):
            raise PermissionError(13, "Permission denied", str(closed))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    with unreadable("closed", "Permission denied"):
        ordfit("y ~ x + g", folder)


def test_a_pattern_reads_the_folders_that_it_names(folder):
    inside = folder / "2.parquet"
    inside.unlink()
    inside.mkdir()
    rows()[250:300].to_parquet(inside / "part-0.parquet")
    rows()[300:].to_parquet(inside / "part-1.parquet")
    (inside / "_SUCCESS").touch()
    for pattern in ("*.parquet", "**/*.parquet", "?.parquet"):
        equals(str(folder / pattern), rows())


@pytest.mark.parametrize(
    "inside, kind",
    [
        ("_delta_log/0.json", r"table of Delta.*polars\.scan_delta"),
        ("metadata/v1.metadata.json", r"table of Iceberg.*polars\.scan_iceberg"),
        (".hoodie/hoodie.properties", "table of Hudi"),
    ],
)
def test_tables_with_versions_are_refused(inside, kind, folder):
    (folder / inside).parent.mkdir()
    (folder / inside).write_text("{}")
    (folder / "year=2020").mkdir()
    for path in (folder, folder / "*.parquet", folder / "year=2020", folder.parent):
        with pytest.raises(DataError, match=kind):
            ordfit("y ~ x", path)
    assert parquet_files(str(folder / "1.parquet")).paths  # a file that is named


def test_folders_give_columns(tmp_path):
    frame = rows().assign(year=np.repeat([2020, 2021, 2022, 2023], 100))
    frame["region"] = np.where(np.arange(400) % 2 == 0, "north", "south or west")
    written = tmp_path / "table"
    frame.to_parquet(written, partition_cols=["year", "region"])
    ordered = frame.sort_values(["year", "region"], ignore_index=True)
    equals(
        written,
        ordered,
        "y ~ x + year + region",
        subset="region == 'north' | year > 2020",
    )
    equals(
        str(written / "year=*" / "*" / "*.parquet"), ordered, "y ~ x + C(year) + region"
    )
    frame.loc[frame.year == 2021, "region"] = None
    gaps = tmp_path / "gaps"
    frame.to_parquet(gaps, partition_cols=["year", "region"])
    with rows_left_out(100, 400, "region (100)"):
        equals(gaps, frame, "y ~ x + region")
    rows().to_parquet(gaps / "beside.parquet")
    with pytest.raises(
        DataError, match="must name the same columns for all files; 'year'"
    ):
        ordfit("y ~ x", gaps)


def test_dictionaries_that_differ_are_joined_as_in_memory(tmp_path):
    parts = []
    for part, categories in enumerate((["c", "b"], ["b", "a", "c"], ["d", "a"])):
        frame = rows(300, part)
        codes = np.random.default_rng(part).integers(0, len(categories), 300)
        frame["g"] = pd.Categorical.from_codes(codes, categories)
        frame.to_parquet(tmp_path / f"{part}.parquet")
        parts.append(frame)
    together = pd.read_parquet(tmp_path)
    assert together.g.cat.categories.tolist() == ["c", "b", "a", "d"]
    equals(tmp_path, together)
    equals(tmp_path, together, "y ~ x + I(g == 'd')", subset="g != 'b'")


@pytest.mark.parametrize(
    ("dictionaries", "formula", "options"),
    [
        ((["b", "c"], ["a", "b"], ["c", "a"]), "y ~ x + g", {"method": "acat"}),
        ((["b", "c"], ["a", "b"], ["c", "a"]), "y ~ x", {"nominal": "~ g"}),
        ((["no"], ["yes", "no"], ["maybe", "yes"]), "y ~ x * g", {"method": "cratio"}),
        ((["no"], ["yes", "no"], ["maybe", "yes"]), "y ~ x + g", {"scale": "~ g"}),
        (([30, 10], [20, 10], [10, 5]), "y ~ x + C(g)", {"method": "sratio"}),
        (([30, 10], [20, 10], [10, 5]), "y ~ x + C(g)", {"method": "multinomial"}),
    ],
)
def test_dictionaries_that_differ_in_every_part(
    dictionaries, formula, options, tmp_path
):
    """The levels that a later file adds, and one that only some files have."""
    for part, categories in enumerate(dictionaries):
        frame = rows(120, part)
        codes = np.random.default_rng(part).integers(0, len(categories), 120)
        frame["g"] = pd.Categorical.from_codes(codes, categories)
        frame.to_parquet(tmp_path / f"{part}.parquet")
    equals(tmp_path, pd.read_parquet(tmp_path), formula, **options)


def test_a_response_of_several_dictionaries_has_the_order_that_is_given(tmp_path):
    for part, categories in enumerate((["mid", "low"], ["top", "low"], ["top", "mid"])):
        frame = rows(120, part)
        frame["r"] = pd.Categorical.from_codes(frame.y % 2, categories)
        frame.to_parquet(tmp_path / f"{part}.parquet")
    together = pd.read_parquet(tmp_path)
    equals(tmp_path, together, "r ~ x", levels=["low", "mid", "top"])
    for data in (tmp_path, together):
        with pytest.raises(
            DataError,
            match=r"levels=\['mid', 'low', 'top'\], lowest first \(here as the data",
        ):
            ordfit("r ~ x", data)


def test_orders_that_differ_are_refused(tmp_path):
    for part, categories in enumerate((["low", "high"], ["low", "middle", "high"])):
        frame = rows(300, part)
        ranks = np.random.default_rng(part).integers(0, len(categories), 300)
        frame["rank"] = pd.Categorical.from_codes(ranks, categories, ordered=True)
        frame.to_parquet(tmp_path / f"{part}.parquet")
    with pytest.raises(
        DataError,
        match=(
            r"'rank' has its levels in other orders in other blocks: 'low', 'high', and"
        ),
    ):
        ordfit("rank ~ x", tmp_path)


def replaced(folder, **columns):
    frame = pd.read_parquet(folder / "2.parquet").assign(**columns)
    frame.to_parquet(folder / "2.parquet")


@pytest.mark.parametrize(
    "spoil, message",
    [
        (
            lambda folder: (folder / "2.parquet").write_bytes(b""),
            r"2\.parquet cannot be read as a Parquet file: .*size",
        ),
        (
            lambda folder: (folder / "1.parquet").write_bytes(b"PAR1" + 60 * b"x"),
            r"1\.parquet cannot be read as",
        ),
        (
            lambda folder: os.truncate(folder / "2.parquet", 900),
            r"2\.parquet cannot be read as a Parquet file",
        ),
        (
            lambda folder: replaced(folder, x="text"),
            r"'x' has the type .*string in .*2\.parquet, and holds numbers in .*1",
        ),
        (
            lambda folder: replaced(folder, g=pd.Categorical(["a"] * 150)),
            "'g' has the type dictionary",
        ),
        (
            lambda folder: rows()[["x", "y"]].to_parquet(folder / "2.parquet"),
            r"2\.parquet has no column 'g', or several",
        ),
    ],
)
def test_a_file_that_cannot_be_read_is_named(spoil, message, folder):
    spoil(folder)
    with pytest.raises(DataError, match=message):
        ordfit("y ~ x + g", folder)


def test_a_damaged_page_is_an_error_of_its_file(folder):
    path = folder / "2.parquet"
    rows(150).to_parquet(path, compression="gzip")
    content = bytearray(path.read_bytes())
    content[40:400] = bytes(360)
    path.write_bytes(bytes(content))
    with unreadable("2.parquet"):
        ordfit("y ~ x + g", folder)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_no_permission_is_an_error_of_the_file(folder):
    (folder / "2.parquet").chmod(0)
    with unreadable("2.parquet", "Permission denied"):
        ordfit("y ~ x + g", folder)


def test_other_files_are_told_from_parquet(tmp_path):
    rows().to_csv(tmp_path / "rows.csv")
    with pytest.raises(
        DataError,
        match=(
            r"must be rows in memory or a Parquet file; got .*Read it: pandas\.read_csv"
        ),
    ):
        ordfit("y ~ x", tmp_path / "rows.csv")


def test_what_takes_paths_is_said_by_what_does_not(folder):
    path = folder / "1.parquet"
    frame = rows()
    fit = ordfit("y ~ x", frame)
    model = OrdinalClassifier()
    model.fit(frame[["x"]], frame.y)
    dataset = pytest.importorskip("pyarrow.dataset").dataset(path)
    calls = [
        lambda data: OrdinalClassifier().fit(data, frame.y),
        lambda data: OrdinalClassifier("prank").partial_fit(
            data, frame.y, classes=[0, 1, 2]
        ),
        model.predict,
        model.predict_proba,
        lambda data: model.score(data, frame.y),
    ]
    for call in calls:
        for data in (path, str(path), dataset):
            with pytest.raises(
                DataError,
                match=r"X must be rows in memory; got .*ordfit\(formula, path\)",
            ):
                call(data)
    for call in (
        lambda data: compare("y ~ x", data),
        fit.predict,
        fit.errors,
        fit.augment,
    ):
        for data in (path, str(path)):
            with pytest.raises(
                DataError,
                match=r"ordfit\(formula, path\) and fit\.predict_to\(new, path\) take",
            ):
                call(data)


def test_types_of_one_kind_are_read_together(folder):
    replaced(
        folder,
        x=lambda frame: frame.x.astype(np.float32),
        y=lambda frame: frame.y.astype("Int8"),
    )
    table = pq.read_table(folder / "2.parquet")
    place = table.schema.get_field_index("g")
    pq.write_table(
        table.set_column(place, "g", table["g"].cast(pa.large_string())),
        folder / "2.parquet",
    )
    frame = rows()
    frame.loc[250:, "x"] = frame.x[250:].astype(np.float32)
    equals(folder, frame)


def test_files_that_change_are_noticed(folder):
    class Changing:
        """Changes a file after it was read for the first time."""

        schema = ("x", "g", "y")
        passes = 0

        def blocks(self, columns):
            self.passes += 1
            yield from files.blocks(columns)
            if self.passes == 1:
                replaced(folder, x=0.5)

    files = parquet_files(str(folder))
    with pytest.raises(
        DataError, match=r"2\.parquet has changed since the fit first read it"
    ):
        ordfit("y ~ x + g", Changing())


def test_predictions_never_replace_data(folder, tmp_path):
    fit = ordfit("y ~ x + g", folder)
    dataset = pytest.importorskip("pyarrow.dataset").dataset(folder)
    (tmp_path / "link.parquet").symlink_to(folder / "1.parquet")
    before = (folder / "1.parquet").read_bytes()
    cases = [
        (None, folder / "1.parquet"),
        (None, folder / "predictions.parquet"),
        (None, folder / "new" / "1.pq"),
        (folder, tmp_path / "link.parquet"),
        (folder / "1.parquet", folder / "1.parquet"),
        (str(folder / "*.parquet"), os.path.relpath(folder / "2.parquet")),
        (dataset, folder / "1.parquet"),
    ]
    for data, path in cases:
        with refused("path", error=DataError):
            fit.predict_to(path, data)
    assert (folder / "1.parquet").read_bytes() == before
    assert len(list(folder.iterdir())) == 2
    for path in (folder / "_predictions.parquet", tmp_path / "predictions.parquet"):
        assert len(pd.read_parquet(fit.predict_to(path))) == 400
    equals(folder, rows())
    replaced(folder, x=0.0)
    with pytest.raises(
        DataError,
        match=r"2\.parquet has changed since the fit first read it.*pass data=",
    ):
        fit.predict_to(tmp_path / "again.parquet")

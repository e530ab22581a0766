"""Every source of blocks gives the fit of its rows in memory; predictions and clusters
of processes.
"""

import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import pytest
from expected import refused

from ordstat import Blend, compare, ordfit
from ordstat.exceptions import DataError

pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {"my x": rng.normal(size=900), "g": rng.choice(["a", "b"], 900), "y": 0}
    )
    return frame.assign(
        y=np.searchsorted([-1.0, 1.0], frame["my x"] + rng.logistic(size=900))
    )


@pytest.fixture(scope="module")
def folder(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sources")
    data[:500].to_parquet(folder / "1.parquet", row_group_size=200)
    data[500:].to_parquet(folder / "2.parquet")
    return folder


SOURCES = {
    "folder": lambda folder: folder,
    "pattern": lambda folder: str(folder / "[0-9].parquet"),
    "pyarrow": lambda folder: pytest.importorskip("pyarrow.dataset").dataset(folder),
    "polars": (
        lambda folder: pytest.importorskip("polars").scan_parquet(folder / "*.parquet")
    ),
    "duckdb": (
        lambda folder: pytest.importorskip("duckdb").sql(
            f"select * from '{folder}/[0-9].parquet'"
        )
    ),
    "dask": lambda folder: pytest.importorskip("dask.dataframe").read_parquet(folder),
}


@pytest.mark.parametrize("source", SOURCES)
def test_a_source_gives_the_fit_of_its_rows(source, data, folder, tmp_path):
    there, here = (
        ordfit("y ~ `my x` + g", rows) for rows in (data, SOURCES[source](folder))
    )
    assert np.allclose(here.params, there.params, rtol=1e-10)
    path = here.predict_to(tmp_path / "out.parquet", type="prob")
    assert np.allclose(pd.read_parquet(path), there.predict(data, "prob"))
    path = here.predict_to(path, type="exceed", at=2)
    above = pd.read_parquet(path).iloc[:, 0]
    assert np.allclose(above, there.predict(data, "exceed", at=2))


def test_predictions_of_other_data(data, folder, tmp_path):
    fit = ordfit("y ~ `my x` + g", data)
    for given in (None, folder, data):
        classes = pd.read_parquet(fit.predict_to(tmp_path / "out.parquet", given))["y"]
        assert classes.astype(int).tolist() == fit.predict(data).astype(int).tolist()


@pytest.mark.parametrize("package", ["polars", "duckdb"])
def test_predictions_do_not_replace_a_file_of_a_plan(package, data, folder, tmp_path):
    path = tmp_path / "rows.parquet"
    data.to_parquet(path)
    before = path.read_bytes()
    if package == "polars":
        rows = pytest.importorskip("polars").scan_parquet(path)
    else:
        rows = pytest.importorskip("duckdb").sql(f"select * from '{path}'")
    fit = ordfit("y ~ `my x` + g", rows)
    for given in (None, rows):
        with refused("path", error=DataError):
            fit.predict_to(path, given)
    assert path.read_bytes() == before
    assert len(pd.read_parquet(fit.predict_to(tmp_path / "new.parquet"))) == len(data)


def test_a_path_without_a_file_is_named(tmp_path):
    with pytest.raises(DataError, match=r"nothing\.parquet"):
        ordfit("y ~ x", tmp_path / "nothing.parquet")


#: Writes predictions over a file, and dies or runs out of room in the middle of it.
INTERRUPTED = """
import os, resource, signal, sys
import numpy as np, pandas as pd
from ordstat import datasets, ordfit
how, path = sys.argv[1:]
data = pd.concat([datasets.load("wine")] * 2000)
fit = ordfit("rating ~ temp + contact", data)
class Source:
    schema = list(data.columns)
    def blocks(self, columns):
        for k in range(4):
            if k == 2 and how == "killed":
                os.kill(os.getpid(), signal.SIGKILL)
            yield data[list(columns)]
if how == "full":
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, 5_000))
fit.predict_to(path, Source(), type="score" if how == "full" else "class")
"""


@pytest.mark.parametrize("how, code", [("killed", -signal.SIGKILL), ("full", 1)])
def test_an_interruption_loses_nothing_finished(how, code, tmp_path):
    path = tmp_path / "out.parquet"
    path.write_bytes(b"finished")
    given = [sys.executable, "-c", INTERRUPTED, how, str(path)]
    done = subprocess.run(given, capture_output=True, text=True, check=False)
    assert done.returncode == code and path.read_bytes() == b"finished"
    assert how == "killed" or f"{path} cannot be written" in done.stderr


@pytest.fixture
def client():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.mark.slow
def test_a_worker_killed_in_a_fit_changes_nothing(client):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(40_000, 3)), columns=["x1", "x2", "x3"])
    frame["y"] = np.searchsorted([-1.0, 0.5], frame.x1 + rng.logistic(size=len(frame)))
    rows = pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=12)
    calm = ordfit("y ~ x1 + x2 + x3", rows)
    victim = next(iter(client.run(os.getpid).values()))
    killer = threading.Timer(0.2, os.kill, (victim, signal.SIGKILL))
    killer.start()
    struck = ordfit("y ~ x1 + x2 + x3", rows)
    killer.join()
    assert victim not in client.run(os.getpid).values()
    assert struck.loglik == calm.loglik and np.array_equal(struck.params, calm.params)
    assert np.array_equal(struck.vcov(), calm.vcov())
    assert np.allclose(
        calm.params, ordfit("y ~ x1 + x2 + x3", frame).params, rtol=1e-10
    )


@pytest.mark.slow
def test_what_runs_side_by_side_runs_on_a_cluster(client, data):
    joblib = pytest.importorskip("joblib")
    fits = [ordfit("y ~ `my x` + g", data, method) for method in ("clm", "probit")]

    def done(n_jobs):
        blend = Blend(members=["logit", "rps-forest"], average="stacked")
        yield compare(*fits, cv=3, n_jobs=n_jobs).values
        yield fits[0].bootstrap(20, seed=1, n_jobs=n_jobs).replicates
        yield fits[0].errors(cv=3)
        yield ordfit("y ~ `my x` + g", data, blend).predict(type="prob")

    here = list(done(1))
    with joblib.parallel_backend("dask"):
        there = list(done(2))
        tasks = client.run_on_scheduler(
            lambda dask_scheduler: len(dask_scheduler.transition_log)
        )
    assert tasks > 20
    for one, other in zip(here, there, strict=True):
        assert np.array_equal(one, other, equal_nan=True)


class Passes:
    """A source whose passes differ: `frames[i]` at pass i, the last one from then
    on.
    """

    schema = ("my x", "g", "y")

    def __init__(self, *frames):
        self.frames, self.count = frames, 0

    def blocks(self, columns):
        frame = self.frames[min(self.count, len(self.frames) - 1)]
        self.count += 1
        for start in range(0, len(frame), 250):
            yield frame[list(columns)][start : start + 250]


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda data: data[:0], r"900 rows in the first pass, 0 in a later one"),
        (lambda data: data[:899], "900 rows in the first pass, 899 in a later one"),
        (
            lambda data: data.assign(**{"my x": data["my x"].round(3)}),
            "as many, with other values",
        ),
        (lambda data: data.assign(g="a"), "as many, with other values"),
        (
            lambda data: data.assign(y=data.y.clip(upper=1)),
            "as many, with other values",
        ),
    ],
)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"method": "redsvm", "kernel": "linear", "loss": "squared_hinge"},
        {"penalty": 1.0, "vcov": "HC1"},
    ],
)
def test_rows_that_change_between_passes_are_noticed(change, message, options, data):
    with pytest.raises(
        DataError, match="The source gave other rows the second time: " + message
    ):
        ordfit("y ~ `my x` + g", Passes(data, change(data)), **options)


def test_a_generator_can_be_read_once_only(data):
    class Once:
        schema = ("my x", "g", "y")
        parts = iter([data[:500], data[500:]])

        def blocks(self, columns):
            return self.parts

    with pytest.raises(
        DataError,
        match=(
            "gave other rows the second time: 900 rows in the first pass, 0 in a later"
        ),
    ):
        ordfit("y ~ `my x` + g", Once())
    Once.parts = iter([])
    with pytest.raises(DataError, match="The source has no rows"):
        ordfit("y ~ `my x` + g", Once())


def test_random_steps_of_polars_are_noticed(data):
    pl = pytest.importorskip("polars")
    noisy = (
        pl.from_pandas(data)
        .lazy()
        .with_columns(
            pl.col("my x").map_batches(
                lambda x: x + np.random.default_rng().normal(size=len(x)), pl.Float64
            )
        )
    )
    with pytest.raises(
        DataError, match="gave other rows the second time: as many, with other values"
    ):
        ordfit("y ~ `my x` + g", noisy)


def test_categories_of_polars_have_the_order_in_memory(data):
    pl = pytest.importorskip("polars")
    whole = pl.from_pandas(data.sort_values("g", ascending=False)).with_columns(
        pl.col("g").cast(pl.Categorical)
    )
    there, here = (ordfit("y ~ `my x` + g", rows) for rows in (whole, whole.lazy()))
    assert list(here.params.index) == list(there.params.index)
    assert np.allclose(here.params, there.params, rtol=1e-9)


def test_errors_of_packages_are_errors_of_the_data(data, tmp_path):
    duckdb = pytest.importorskip("duckdb")
    pl = pytest.importorskip("polars")
    dd = pytest.importorskip("dask.dataframe")
    ds = pytest.importorskip("pyarrow.dataset")
    data.to_parquet(tmp_path / "a.parquet")
    connection = duckdb.connect()
    relation = connection.sql(f"select * from '{tmp_path / 'a.parquet'}'")
    connection.close()
    sources = {
        "duckdb": relation,
        "polars": pl.scan_parquet(tmp_path / "a.parquet"),
        "pyarrow": ds.dataset(tmp_path / "a.parquet"),
        "dask": dd.from_map(
            lambda part: data if part == 0 else data["absent"], [0, 1], meta=data[:0]
        ),
    }
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    for package, source in sources.items():
        with pytest.raises(
            DataError, match=f"The rows of the {package} data cannot be read"
        ):
            ordfit("y ~ `my x` + g", source)


def test_partitions_of_dask_may_be_empty(data):
    dd = pytest.importorskip("dask.dataframe")
    rows = dd.from_pandas(data.sort_values("my x", ignore_index=True), npartitions=5)
    some = rows[rows["my x"] > 0.3]
    there = ordfit("y ~ `my x` + g", data[data["my x"] > 0.3])
    for given in (some, some.assign(g=some.g.astype("category"))):
        here = ordfit("y ~ `my x` + g", given)
        assert np.allclose(here.params, there.params, rtol=1e-8)
    with pytest.raises(DataError, match="The source has no rows"):
        ordfit("y ~ `my x` + g", rows[rows["my x"] > 99])

"""The reproduction harness on a made-up table: splits, resuming, and the figures it
prints.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from seams import resolve

from benchmarks.reproduce import compare, data, report, runs, trees
from benchmarks.reproduce.recipes import METRICS, RECIPES

ROOT = Path(__file__).parents[2]
HEAD = (
    "source,table,dataset,method,base,kernel,metric,mean,stderr,n_train,n_test,trials"
)
PUBLISHED = f"""{HEAD}
Lin 2008 thesis,9.1,lines,RED-SVM,SVM,perceptron,MAE,0.5,0.03,30,20,20
Lin 2008 thesis,9.1,lines,CSOVO,SVM,perceptron,MAE,0.2,0.04,30,20,2
Lin 2008 thesis,9.1,lines,AdaBoost.OR,Unheard,,MAE,0.3,0.01,30,20,20
Lin 2008 thesis,9.2,fixed,SVM,,stump,error rate %,10.0,,40,10,1
Elsewhere,9.1,lines,RED-SVM,SVM,perceptron,MAE,9.0,0.1,30,20,20
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((50, 2))
    frame = pd.DataFrame(x, columns=["x1", "x2"]).assign(
        y=x[:, 0], rank=np.argsort(np.argsort(x[:, 0])) * 4 // 50 + 1
    )
    (tmp_path / "quantised").mkdir()
    (tmp_path / "binary").mkdir()
    frame.to_parquet(tmp_path / "quantised" / "lines.parquet")
    part = np.where(np.arange(50) < 40, "train", "test")
    binary = pd.DataFrame(x, columns=["x1", "x2"]).assign(
        target=np.where(x[:, 1] > 0, 1, -1), part=part
    )
    binary.to_parquet(tmp_path / "binary" / "fixed.parquet")
    partitions = pd.DataFrame(
        {
            "dataset": "lines",
            "bins": 5,
            "partition": 2,
            "row": np.r_[10:50, 0:10],
            "train": np.arange(50) < 40,
        }
    )
    ranks = np.arange(50) // 25 + 1
    partitions.assign(rank=ranks).to_parquet(
        tmp_path / "quantised" / "partitions_chu_ghahramani.parquet"
    )
    (tmp_path / "published_results.csv").write_text(PUBLISHED)
    for module in (data, compare):
        monkeypatch.setattr(module, "FOLDER", tmp_path)
    data._frame.cache_clear()
    yield tmp_path
    data._frame.cache_clear()


def test_a_split_is_the_same_every_time(folder):
    one, again, other = (data.split("lines", number, 30, 20) for number in (0, 0, 1))
    np.testing.assert_array_equal(one.train.X, again.train.X)
    assert (one.train.X != other.train.X).any()
    rows = np.vstack([one.train.X, one.test.X])
    assert len(np.unique(rows, axis=0)) == 50
    assert (one.train.n, one.test.n, one.train.n_levels) == (30, 20, 4)
    assert one.train.X.shape[1] == 2


def test_fixed_parts_are_kept(folder):
    part = data.split("fixed", 0, 40, 10)
    np.testing.assert_array_equal(
        part.train.X,
        pd.read_parquet(folder / "binary" / "fixed.parquet")[["x1", "x2"]][:40],
    )
    assert set(part.train.y) == {0, 1}


def test_published_partitions_are_kept(folder):
    part = data.split("lines/5 bins", 1, 40, 10)
    x = pd.read_parquet(folder / "quantised" / "lines.parquet")[["x1", "x2"]]
    np.testing.assert_array_equal(part.train.X, x[10:])
    np.testing.assert_array_equal(part.test.X, x[:10])
    assert part.train.y.tolist() == [0] * 25 + [1] * 15
    with pytest.raises(FileNotFoundError, match="no partition 1 of lines into 5 bins"):
        data.split("lines/5 bins", 0, 40, 10)


def test_noise_is_in_the_training_labels_alone():
    """Two normals at a distance of 4: the best rule errs on 2.3 %, and one label in ten
    is flipped.
    """
    part = data.split("twonorm-n", 0, 4000, 4000)
    for sample, share in (
        (part.train, 0.1 * (1 - 0.0228) + 0.9 * 0.0228),
        (part.test, 0.0228),
    ):
        wrong = ((sample.X.sum(axis=1) > 0) != (sample.y > 0)).mean()
        assert wrong == pytest.approx(share, abs=0.02)


def test_what_is_wrong_is_said(folder):
    with pytest.raises(
        FileNotFoundError, match=r"no nowhere\.parquet in .*ORDSTAT_BENCHMARKS"
    ):
        data.split("nowhere", 0, 1, 1)
    with pytest.raises(ValueError, match="no table 1"):
        compare.cells("1.0")
    with pytest.raises(ValueError, match=r"lines has 50 rows; 40 \+ 20"):
        data.split("lines", 0, 40, 20)


def test_results_are_kept_and_not_run_again(folder, monkeypatch):
    path = folder / "results.csv"
    table = compare.cells("9.1")
    tasks = [task for cell in table for task in cell.tasks(3)]
    # no more than the published trials; nothing for an unknown method
    assert len(tasks) == 3 + 2 + 0
    first = next(runs.run_all(tasks[:1], path, jobs=1))
    left = runs.missing(tasks, runs.stored(path))
    assert [task.key for task in left].count(tasks[0].key) == 0
    assert len(left) == 4
    list(runs.run_all(left, path, jobs=1))
    assert runs.missing(tasks, runs.stored(path)) == []
    stored = runs.stored(path)
    assert len(stored) == 5
    assert stored["mae"][0] == first.mae
    part = data.split("lines", first.split, 30, 20)
    fit = resolve("redsvm", {"C": "cv"}).fit(
        part.train, np.random.default_rng(first.split)
    )
    assert first.mae == np.abs(fit.rule.codes(part.test.rows) - part.test.y).mean()


def test_the_difference_is_in_combined_standard_errors(folder):
    table = compare.cells("9.1", methods=["RED-SVM"])
    keys = [task.key for task in table[0].tasks(2)]
    rows = [
        {"dataset": k[0], "method": k[1], "split": k[2], "n_train": k[3]} for k in keys
    ]
    results = pd.DataFrame(rows).assign(mae=[0.5, 0.6])
    row = compare.comparison(table, results, 2).iloc[0]
    # Mean 0.55, standard error 0.05; published 0.5 and 0.03 of 20 splits, which is
    # 0.095 for two.
    assert (row["ours"], row["our se"], row["splits"]) == (
        pytest.approx(0.55),
        pytest.approx(0.05),
        2,
    )
    assert row["difference"] == pytest.approx(
        0.05 / np.hypot(0.03 * np.sqrt(20 / 2), 0.03)
    )
    apart = compare.comparison(table, results.assign(mae=[0.1, 0.6]), 2).iloc[0]
    assert apart["difference"] == pytest.approx(-0.15 / np.hypot(0.25, 0.03))
    assert compare.comparison(compare.cells("9.1"), results, 2)["remark"].tolist() == [
        "",
        "not run",
        "not a method of ordstat",
    ]


def test_columns_may_be_scaled_otherwise(folder):
    table = compare.cells("9.1", scaling="standard")
    assert [cell.recipe and cell.recipe.value.scaling for cell in table] == [
        "standard",
        "standard",
        None,
    ]
    assert compare.cells("9.1", scaling="none")[0].recipe.options["scaling"] is None
    assert not {t.key for c in table for t in c.tasks(2)} & {
        t.key for c in compare.cells("9.1") for t in c.tasks(2)
    }


def test_one_split_has_no_standard_error(folder):
    table = compare.cells("9.2")
    results = pd.DataFrame([vars(runs.run(table[0].tasks(20)[0]))])
    row = compare.comparison(table, results, 20).iloc[0]
    assert row["splits"] == 1
    assert np.isnan(row["our se"])
    assert np.isnan(row["difference"])
    assert row["ours"] == 100 * results["error"][0]


@pytest.mark.parametrize("column", RECIPES, ids=str)
def test_every_recipe_is_a_method(column):
    recipe = RECIPES[column]
    assert column.metric in METRICS
    assert repr(recipe.value) in recipe.label
    judged_by_own_cost = column.method in (
        "RED-SVM",
        "SVOR-IMC",
        "CSOVA",
        "CSOVO",
        "WAP",
        "RankBoost-OR",
        "ORStump",
    )
    if judged_by_own_cost:
        assert recipe.value.cost == (
            "classification" if column.metric == "error rate" else "absolute"
        )


def test_recipes_are_told_apart():
    """Results are filed under the label: those of one label are the same fit."""
    recipes = list(RECIPES.values())
    for one in recipes:
        for other in recipes:
            if one.label == other.label:
                assert type(one) is type(other)
                assert one.value == other.value


def test_trees_are_judged_on_both_parts(folder, monkeypatch):
    """50 splits in two thirds and one third; resubstitution on all rows; nothing is run
    twice.
    """
    path = folder / "trees.csv"
    trees.run_all(["lines"], 2, path)
    first = pd.read_csv(path, dtype={"split": str})
    assert len(first) == 3 * len(trees.METHODS)
    trees.run_all(["lines"], 3, path)
    results = pd.read_csv(path, dtype={"split": str})
    assert len(results) == 4 * len(trees.METHODS)
    pd.testing.assert_frame_equal(results[: len(first)], first)
    part = data.split("lines", 1, 33, 17)
    options = {
        "rounds": 50,
        "prune": "misclassification",
        "leaves": 5,
        "version": "real",
        "criterion": "distance",
    }
    codes = (
        resolve("ordinal-adaboost", options)
        .fit(part.train, np.random.default_rng(1))
        .rule.codes(part.test.rows)
    )
    our_run = results[
        (results["method"] == "boosting (ordinal) real (distance)")
        & (results["split"] == "1")
    ].iloc[0]
    assert our_run["mean abs"] == pytest.approx(
        np.abs(codes - part.test.y).mean(), rel=1e-5
    )
    table = trees.table(results, "lines")
    assert table.index.tolist() == list(trees.METHODS)
    tests = results[
        (results["method"] == "CART (nominal)") & (results["split"] != "resubstitution")
    ]["mean squ"]
    assert table.loc["CART (nominal)", ("test", "mean squ")] == pytest.approx(
        tests.mean()
    )
    monkeypatch.setattr(trees, "DATASETS", ("lines",))
    assert trees.summary(results, "mean squ").loc[
        "CART (nominal)", "lines"
    ] == pytest.approx(tests.mean())
    assert table.loc["CART (nominal)", ("standard error", "mean squ")] == pytest.approx(
        tests.std(ddof=1) / 3**0.5
    )


def test_the_report_marks_what_is_off(folder):
    tasks = [
        t
        for s in ("", "standard")
        for t in compare.cells("9.1", methods=["CSOVO"], scaling=s)[0].tasks(2)
    ]
    rows = [
        {
            "dataset": t.dataset,
            "method": t.method,
            "split": t.number,
            "n_train": t.n_train,
        }
        for t in tasks
    ]
    results = pd.DataFrame(rows).assign(mae=[0.4, 0.5, 0.2, 0.3])
    text, our_run = report.section("9.1", results)
    # Published 0.2 and 0.04; means 0.45 and 0.25, standard errors 0.05.
    lines = text.splitlines()
    assert (
        "| lines | CSOVO SVM perceptron | MAE | 0.200 | 0.040 | 0.450 | 0.050 | 2 |"
        " **+3.9** |" in lines
    )
    assert (
        "| lines | CSOVO SVM perceptron, standardised columns | MAE | 0.200 | 0.040 |"
        " 0.250 | 0.050 | 2 | +0.8 |" in lines
    )
    assert len(our_run) == 1


def test_the_command_prints_the_table(folder):
    command = [
        sys.executable,
        "-m",
        "benchmarks.reproduce",
        "9.1",
        "--splits",
        "2",
        "--jobs",
        "1",
        "--methods",
        "RED-SVM",
    ]
    results = folder / "run.csv"
    environment = {"ORDSTAT_BENCHMARKS": str(folder), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [*command, "--results", str(results)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "2 of 2: lines" in done.stderr
    assert "lines RED-SVM SVM perceptron    MAE      0.500" in done.stdout
    assert len(pd.read_csv(results)) == 2

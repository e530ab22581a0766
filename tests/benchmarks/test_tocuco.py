"""The benchmark beside published means, on made-up sets."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score, mean_absolute_error

pytest.importorskip("pyarrow", reason="the sets are Parquet files")

from benchmarks import tocuco
from benchmarks.rivals import random_forest


def shares(X, y, K, new, seed):
    """P(y > k) of nobody in particular."""
    return np.tile((y[:, None] > np.arange(K - 1)).mean(axis=0), (len(new), 1))


def first_column(X, y, K, new, seed):
    return (new[:, :1] > np.arange(K - 1) + 0.5).astype(float)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    (tmp_path / "tocuco").mkdir()
    rows = []
    for name in ("one", "two"):
        y = rng.integers(1, 4, 60)
        frame = pd.DataFrame({"g1": y - 1.0, "g2": rng.normal(size=60), "y": y})
        frame.to_parquet(tmp_path / "tocuco" / f"{name}.parquet")
        for method, mae in (("A", 0.5), ("B", 0.4)):
            row = {"set": name, "method": method, "splits": 30}
            row |= {"mae": mae, "amae": mae, "qwk": mae, "ccr": mae}
            row |= {f"{measure}_se": 0.01 for measure in tocuco.MEASURES}
            rows.append(row)
    pd.DataFrame(rows).to_csv(tmp_path / "tocuco" / "published.csv", index=False)
    monkeypatch.setattr(tocuco, "FOLDER", tmp_path)
    monkeypatch.setattr(tocuco, "RESULTS", tmp_path / "results" / "tocuco.csv")
    monkeypatch.setattr(tocuco, "SETS", ("one", "two"))
    monkeypatch.setattr(tocuco, "QUICK_SPLITS", 2)
    monkeypatch.setattr(tocuco, "_RIVALS", ())
    contestants = {"shares": shares, "knows": first_column}
    contestants = {name: tocuco.rival(one) for name, one in contestants.items()}
    monkeypatch.setattr(tocuco, "CONTESTANTS", contestants)
    return tmp_path


def test_means_stand_beside_the_published_ones(folder, capsys):
    tocuco.main(["--quick"])
    results = pd.read_csv(tocuco.RESULTS)
    assert len(results) == 2 * 2 * 2
    table = tocuco.summary(results)
    assert table.loc["knows"].tolist() == [0.0, 0.0, 1.0, 1.0]
    assert table.loc["published, best of each set"].tolist() == [0.4, 0.4, 0.5, 0.5]
    of_one = tocuco.by_set(results, "mae").loc["one"]
    assert (of_one["published"], of_one["mean"], of_one["SE"]) == ("B", 0.4, 0.01)
    assert "Each measure by the median" in capsys.readouterr().out
    page = tocuco.RESULTS.with_suffix(".md").read_text(encoding="utf-8")
    assert "one (B)" in page


def test_what_is_done_is_not_done_again(folder, monkeypatch):
    tocuco.main(["--quick", "--methods", "knows"])
    done = pd.read_csv(tocuco.RESULTS)
    monkeypatch.setitem(tocuco.CONTESTANTS, "knows", None)
    tocuco.main(["--quick"])
    results = pd.read_csv(tocuco.RESULTS)
    pd.testing.assert_frame_equal(results[: len(done)], done)
    assert len(results) == 2 * len(done)


def test_absent_data_or_names_are_told(folder, monkeypatch):
    (folder / "tocuco" / "one.parquet").unlink()
    with pytest.raises(SystemExit, match=r"lacks one\.parquet.*ORDSTAT_BENCHMARKS"):
        tocuco.main(["--quick"])


def test_measures_are_those_of_scikit_learn(folder):
    frame = pd.read_parquet(folder / "tocuco" / "two.parquet")
    X, y = tocuco.table("two")
    np.testing.assert_array_equal(y, frame["y"] - 1)
    assert X.shape == (60, 2)
    codes = np.random.default_rng(1).integers(0, 3, 60)
    found = tocuco.measures(y, codes)
    assert found["mae"] == pytest.approx(mean_absolute_error(y, codes))
    kappa = cohen_kappa_score(y, codes, weights="quadratic")
    assert found["qwk"] == pytest.approx(kappa)
    assert found["ccr"] == np.mean(y == codes)
    of_levels = [mean_absolute_error(y[y == k], codes[y == k]) for k in range(3)]
    assert found["amae"] == pytest.approx(np.mean(of_levels))


def test_splits_keep_shares_and_differ():
    y = np.repeat([0, 1, 2], [100, 50, 10])
    train, test = tocuco.parts(y, 0)
    assert np.bincount(y[train]).tolist() == [70, 35, 7]
    assert sorted([*train, *test]) == list(range(160))
    assert not np.array_equal(train, tocuco.parts(y, 1)[0])


def test_every_contestant_decides_each_measure(folder):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 2))
    y = np.digitize(x[:, 0] + rng.normal(size=80), [-0.7, 0.7])
    for predict in (tocuco.rival(random_forest), tocuco.ours(tocuco.CumulativeLink())):
        P, decisions = predict(x, y, 3, x[:5], 0)
        np.testing.assert_allclose(P.sum(axis=1), 1.0)
        assert {error for error, _ in tocuco.MEASURES.values()} <= set(decisions)

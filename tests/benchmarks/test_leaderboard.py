"""The leaderboard on made-up sets: counts, and resuming after an interruption."""

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("pyarrow", reason="the sets are Parquet files")

from benchmarks import leaderboard


def shares(X, y, K, new, seed):
    """P(y > k) of nobody in particular."""
    return np.tile((y[:, None] > np.arange(K - 1)).mean(axis=0), (len(new), 1))


def first_column(X, y, K, new, seed):
    return (new[:, :1] > np.arange(K - 1) + 0.5).astype(float)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    for name in ("one", "two"):
        rank = rng.integers(1, 4, 60)
        (tmp_path / "ordinal").mkdir(exist_ok=True)
        frame = pd.DataFrame(
            {
                "x": rank - 1.0,
                "text": rng.choice(["a", "b"], 60),
                "rank": rank,
                "y": rank,
            }
        )
        frame.to_parquet(tmp_path / "ordinal" / f"{name}.parquet")
    monkeypatch.setattr(leaderboard, "FOLDER", tmp_path)
    monkeypatch.setattr(leaderboard, "RESULTS", tmp_path / "leaderboard.csv")
    monkeypatch.setattr(
        leaderboard, "SETS", {"one": ("ordinal", None), "two": ("ordinal", 40)}
    )
    monkeypatch.setattr(
        leaderboard, "CONTESTANTS", {"shares": shares, "knows": first_column}
    )
    return tmp_path


def test_who_knows_the_rank_comes_first(folder):
    actual = pd.DataFrame(leaderboard.run(quick=True)).set_index("contestant")
    assert actual.index.tolist() == ["knows", "shares"]
    assert actual["mae rank"].tolist() == [1.0, 2.0]
    assert actual.loc["knows", ["MAE one", "MAE two"]].tolist() == [0.0, 0.0]
    X, y = leaderboard.table("one")
    assert X.shape == (60, 3) and sorted(set(y)) == [0, 1, 2]
    train, test = leaderboard.parts(y, None, 0)
    assert (train.size, test.size) == (42, 18)


def test_what_is_done_is_not_done_again(folder, monkeypatch):
    leaderboard.run(quick=True)
    results = pd.read_csv(leaderboard.RESULTS)
    results.iloc[:3].to_csv(leaderboard.RESULTS, index=False)
    # "two" is not complete
    assert {row["MAE one"] for row in leaderboard.summary(results.iloc[:3])} != set()
    called = []
    plain = leaderboard.CONTESTANTS["knows"]
    monkeypatch.setitem(
        leaderboard.CONTESTANTS,
        "knows",
        lambda *given: called.append(1) or plain(*given),
    )
    leaderboard.run(quick=True)
    assert len(called) == 1
    assert len(pd.read_csv(leaderboard.RESULTS)) == 4


def test_scores_by_hand(folder):
    """A third of the rows of every rank, predicted by these shares: the middle rank,
    2/9 + 2/9 a row.
    """
    frame = pd.DataFrame(
        {"x": np.tile([0.0, 1.0, 2.0], 20), "rank": np.tile([1, 2, 3], 20)}
    )
    frame.to_parquet(folder / "ordinal" / "one.parquet")
    actual = leaderboard.judged("one", 0, shares)
    assert actual["mae"] == pytest.approx(2 / 3)
    assert actual["error"] == pytest.approx(2 / 3)
    assert actual["rps"] == pytest.approx(4 / 9)
    assert actual["log_loss"] == pytest.approx(np.log(3))

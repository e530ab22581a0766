"""The page of the leaderboard: ranks, critical differences and losses by hand."""

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("pyarrow", reason="the leaderboard reads Parquet files")

from benchmarks import leaderboard, leaderboard_page

NAMES = ("blend", "LightGBM per threshold", "third")


@pytest.fixture
def results(monkeypatch):
    """Two sets, one split each; blend wins the first and loses the second by 10 %."""
    monkeypatch.setattr(leaderboard, "CONTESTANTS", dict.fromkeys(NAMES))
    maes = {"one": (1.0, 2.0, 3.0), "two": (1.1, 1.0, 3.0)}
    rows = [
        {"set": name, "split": 0, "contestant": who, **dict.fromkeys(leaderboard.MEASURES, mae), "seconds": 1.0}
        for name, values in maes.items()
        for who, mae in zip(NAMES, values, strict=True)
    ]
    return pd.DataFrame(rows).assign(commit="abc", date="2026-01-01")


def test_ranks_and_losses(results):
    ranks = leaderboard.set_ranks(results, "mae")
    assert ranks.loc["two", list(NAMES)].tolist() == [2.0, 1.0, 3.0]
    assert leaderboard.set_ranks(results, "kappa").loc["one", list(NAMES)].tolist() == [3.0, 2.0, 1.0]
    words = leaderboard_page.losses(results)
    assert "- two: 1.1000 against 1.0000 (+10.0%)" in words and "- one" not in words
    assert "none of the sets" in leaderboard_page.losses(results[results["set"] == "one"])
    assert "abc" in leaderboard_page.page(results) and "| third | 3.000 | 3.000 |" in leaderboard_page.page(results)


def test_a_split_that_is_not_complete_waits(results):
    assert set(leaderboard.complete(results.iloc[:5])["set"]) == {"one"}


def test_critical_difference_of_a_paper():
    """Demsar (2006), section 3.2.2: 4 classifiers on 14 sets, q = 2.569, CD = 1.25 at 5 %."""
    assert leaderboard_page.critical_difference(4, 14) == pytest.approx(1.25, abs=0.005)


def test_cliques():
    """Demsar's figure 1: those within the critical difference are joined, no group within another."""
    means = np.array([1.0, 1.5, 2.2, 4.0, 4.4])
    assert leaderboard_page.cliques(means, 1.0) == [(0, 1), (1, 2), (3, 4)]
    assert leaderboard_page.cliques(means, 0.1) == []
    assert leaderboard_page.cliques(means, 9.0) == [(0, 4)]


def test_what_is_written(results, tmp_path):
    leaderboard_page.write(results, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        "leaderboard.md", "leaderboard-mae.png", "leaderboard-rps.png"
    }  # fmt: skip


def test_kappa_by_hand():
    """Two rows right, one off by 1, of ranks 0, 0, 1: 1 - (1/3) / (5/9)."""
    y, codes = np.array([0, 0, 1]), np.array([0, 1, 1])
    chance = np.mean([(a - b) ** 2 for a in y for b in codes])
    assert leaderboard.kappa(y, codes) == pytest.approx(1 - (1 / 3) / chance)

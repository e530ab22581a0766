"""The numbers that the README and the first page of the site promise are those of the
measurements that the evidence pages show.
"""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest
from golden import test_r_clm
from seams import METHODS

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
PAGES = {
    name: " ".join((ROOT / name).read_text().split())
    for name in ("README.md", "docs/index.md")
}


def numbers(text: str, pattern: str) -> list[float]:
    """The numbers that a pattern finds, which must be there."""
    found = re.search(pattern, text)
    assert found, pattern
    return [float(number.replace(",", "")) for number in found.groups()]


@pytest.mark.parametrize("page", PAGES)
def test_fits_of_r(page):
    (fits,) = numbers(PAGES[page], r"(\d+) fits of R's `ordinal::clm`")
    assert fits == len(test_r_clm.comparable())


@pytest.mark.parametrize("page", PAGES)
def test_speed(page):
    rows, ours, theirs = numbers(
        PAGES[page], r"([\d,]+) observations take (\d+) ms \(R's `clm`: (\d+) ms\)"
    )
    measured = pd.read_csv(RESULTS / "clm.csv").set_index(["n", "contestant"])
    seconds = measured["seconds"][rows]
    assert 1000 * seconds["ordstat"] == pytest.approx(ours, abs=0.5)
    assert 1000 * seconds["R clm"] == pytest.approx(theirs, abs=0.5)


@pytest.mark.parametrize("page", PAGES)
def test_mean_ranks(page):
    board = pd.read_csv(RESULTS / "leaderboard.csv")
    rivals = board["contestant"].nunique()
    splits = board.groupby(["set", "split"])["contestant"]
    board = board[splits.transform("size") == rivals]
    means = board.groupby(["set", "contestant"])["mae"].mean()
    ranks = means.groupby("set").rank().groupby("contestant").mean()
    text = PAGES[page].replace("**", "")
    assert numbers(text, r"of (\d+) contestants") == [rivals]
    assert numbers(text, r"(\d+) public data sets") == [board["set"].nunique()]
    stated = numbers(
        text,
        r"data sets.*?(\d\.\d)[.;] [Tt]he best of LightGBM has (\d\.\d),"
        r" of CatBoost (\d\.\d), of XGBoost (\d\.\d)",
    )
    best = [
        ranks[ranks.index.str.contains(name)].min()
        for name in ("blend", "LightGBM", "CatBoost", "XGBoost")
    ]
    assert stated == pytest.approx(best, abs=0.051)
    assert ranks.idxmin() == "blend"


@pytest.mark.parametrize("page", PAGES)
def test_number_of_methods(page):
    classes, names = numbers(PAGES[page], r"(\d+) methods \((\d+) names\)")
    assert names == len(METHODS)
    assert classes == len({entry.method for entry in METHODS.values()})


@pytest.mark.parametrize(
    "page",
    [page for page in (ROOT / "docs" / "guide").glob("*.md") if page.stem != "index"],
    ids=lambda page: page.stem,
)
def test_guide_pages_begin_with_their_other_names(page):
    paragraphs = page.read_text().partition("\n# ")[2].split("\n\n")
    assert paragraphs[1].startswith("*Also called: ") and paragraphs[1].endswith(".*")

"""The page on rOpenSci's standards names tests that exist, and counts its rows."""

import ast
import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "evidence" / "standards.md").read_text(encoding="utf-8")


def test_every_test_that_it_names_exists():
    named = re.findall(r"`(tests/[\w/.]+)`(?:: `(test_\w+)`)?", PAGE)
    assert len(named) > 40
    for path, function in named:
        assert (ROOT / path).exists(), path
        if function:
            tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
            names = [part.name for part in tree.body if hasattr(part, "name")]
            assert function in names, f"{path}::{function}"


def test_it_counts_its_rows():
    rows = re.findall(
        r"^\| (?:G|RE)\d[^|]* \| [^|]* \| ([a-z ]+) \|", PAGE, re.MULTILINE
    )
    counts = Counter(rows)
    said = re.search(
        r"Of the (\d+) entries below, \*\*(\d+) are met, (\d+) are met in part,"
        r" (\d+) is not met, and (\d+) does not apply",
        PAGE,
    )
    answers = ["yes", "in part", "no", "not applicable"]
    assert said is not None
    assert [int(number) for number in said.groups()] == [
        len(rows),
        *(counts[answer] for answer in answers),
    ]

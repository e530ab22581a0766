"""Numbers chosen on training rows, on a made-up set."""

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("pyarrow", reason="the sets are Parquet files")

from benchmarks import choices, tocuco
from ordstat import Blend, CumulativeLink, KernelCumulativeLink
from ordstat.prediction import kernel_clm
from ordstat.prediction.blend import Exceeding


@pytest.fixture
def rows(tmp_path, monkeypatch):
    """Of this set the level is known from the first column."""
    rng = np.random.default_rng(0)
    y = rng.integers(1, 4, 120)
    frame = pd.DataFrame({"g1": y - 1.0, "g2": np.arange(120.0), "y": y})
    (tmp_path / "tocuco").mkdir()
    frame.to_parquet(tmp_path / "tocuco" / "one.parquet")
    monkeypatch.setattr(tocuco, "FOLDER", tmp_path)
    monkeypatch.setattr(tocuco, "SETS", ("one",))
    links = (CumulativeLink(), CumulativeLink(link="cloglog"))
    monkeypatch.setattr(Blend, "_chosen", lambda self, most: links)
    return frame


def test_no_test_row_is_read(rows):
    training, _ = tocuco.parts(rows["y"].to_numpy() - 1, 5)
    fitted, judged = choices.parted("one", 5)
    read = np.concatenate([fitted.X[:, 1], judged.X[:, 1]])
    assert sorted(read) == sorted(training)
    assert (fitted.n, judged.n) == (63, 21)


def test_each_share_is_that_of_the_fit(rows, monkeypatch):
    fitted, judged = choices.parted("one", 5)
    found = list(choices.of_shares(fitted, judged.rows, 7))
    for share, above in zip(choices._SHARES, found, strict=True):
        monkeypatch.setattr(kernel_clm, "_NEAR", share)
        fit = KernelCumulativeLink().fit(fitted, np.random.default_rng(7))
        np.testing.assert_array_equal(above, Exceeding(fit, 3)(judged.rows))


def test_every_number_has_a_row(rows):
    found = pd.DataFrame(choices.run(quick=True)).set_index(["choice", "number"])
    assert found["parts"].eq(1).all()
    numbers = (choices._LEADS, choices._RIDGES, choices._SHARES)
    assert len(found) == sum(map(len, numbers))
    assert found.loc[("lead", np.inf), "other"] == 0
    assert found["rps"].between(0.0, 2.0).all()


def test_scores_are_those_of_the_definition():
    above = np.array([[0.9, 0.2], [0.4, 0.1]])
    found = choices.judged(above, np.array([1, 2]))
    assert found["rps"] == pytest.approx((0.01 + 0.04 + 0.36 + 0.81) / 2)
    assert found["log_loss"] == pytest.approx(-np.log(0.7 * 0.1) / 2)
    assert found["mae"] == 1.0

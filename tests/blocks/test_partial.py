"""Answers known in part in blocks: the fit equals that in memory."""

import numpy as np
import pandas as pd
import pytest

from ordstat import DataError, OptionError, ordfit
from ordstat.blocks import scan

from .test_fits import Generated, same

pytestmark = pytest.mark.filterwarnings("ignore::ordstat.DataWarning")

LABELS = ["none", "mild", "moderate", "severe", "extreme"]


@pytest.fixture(autouse=True)
def small_sample(monkeypatch):
    monkeypatch.setattr(scan, "SAMPLE", 200)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(11)
    n = 1500
    frame = pd.DataFrame({"x": rng.normal(size=n), "g": rng.choice(["a", "b"], n)})
    frame["w"] = rng.integers(0, 3, n)
    frame["judge"] = rng.integers(0, 40, n)
    days = np.ceil(4.0 * rng.weibull(1.5, n) * np.exp(-0.6 * frame.x)).clip(1, 25)
    ends = rng.integers(2, 20, n)
    frame["days"] = np.minimum(days, ends)
    frame["died"] = (days <= ends).astype(int)
    frame["low"] = days
    frame["high"] = days
    wide = rng.random(n) < 0.2
    frame.loc[wide, "low"] -= 2.0
    frame.loc[rng.random(n) < 0.1, "high"] = np.nan
    level = rng.integers(0, 5, n)
    level[level == 3] = 2  # so that no answer is "severe" exactly
    up = np.minimum(level + rng.integers(0, 3, n) * (rng.random(n) < 0.4), 4)
    frame["least"] = np.array(LABELS)[level]
    frame["most"] = np.array(LABELS)[up]
    frame.loc[frame.most == "severe", "least"] = "moderate"
    frame.loc[rng.random(n) < 0.02, ["least", "most"]] = None
    frame.loc[rng.random(n) < 0.02, "x"] = np.nan
    # rows that are left out have answers that no other row has
    frame.loc[700, ["x", "days", "died", "low", "high"]] = [np.nan, 8.5, 1, 8.5, 8.5]
    return frame


@pytest.mark.parametrize(
    "formula, arguments",
    [
        ("Surv(days, died) ~ x + g", {}),
        ("Surv(days, died) ~ x + g", {"weights": "w"}),
        ("interval(least, most) ~ x", {"levels": LABELS, "nominal": "~ g"}),
        ("Surv(days, died) ~ x", {"link": "cloglog", "cluster": "judge"}),
        ("interval(low, high) ~ x + g", {"link": "probit", "vcov": "HC0"}),
        ("interval(least, most) ~ x", {"levels": LABELS, "scale": "~ g"}),
    ],
)
def test_fits_equal_those_in_memory(formula, arguments, data):
    here, there = same(formula, data, Generated(data, 300), 1e-7, **arguments)
    assert np.array_equal(here.level_counts, there.level_counts)
    known = [line for line in str(there.summary()).splitlines() if "Censored" in line]
    assert known and known[0] in str(here.summary())
    new = data.head(7)
    assert np.allclose(
        here.predict(new, type="prob"), there.predict(new, type="prob"), atol=1e-7
    )


def test_a_block_without_events_is_data_like_others(data):
    ordered = data.sort_values("died")
    here = ordfit("Surv(days, died) ~ x", Generated(ordered, 100))
    there = ordfit("Surv(days, died) ~ x", data)
    assert here.loglik == pytest.approx(there.loglik, rel=1e-11)
    censored = data.assign(died=0)
    with pytest.raises(DataError, match="must have an exact answer, such as an event"):
        ordfit("Surv(days, died) ~ x", Generated(censored, 300))


def test_labels_need_the_levels_of_all_blocks(data):
    with pytest.raises(OptionError, match=r"must have levels=\[...\]"):
        ordfit(
            "interval(least, most) ~ x",
            Generated(
                data.assign(
                    least=pd.Categorical(data.least, LABELS, ordered=True),
                    most=pd.Categorical(data.most, LABELS, ordered=True),
                ),
                300,
            ),
        )


def test_an_interval_without_an_exact_answer_is_named_by_its_row(data):
    wrong = data.assign(low=data.low, high=data.high)
    wrong.loc[1234, ["low", "high"]] = [3.2, 3.7]
    with pytest.raises(DataError, match=r"inside every interval.*row 1234"):
        ordfit("interval(low, high) ~ x", Generated(wrong, 300))

"""Boosted trees of each threshold: those of the binary questions, sorted."""

import numpy as np
import pandas as pd
import pytest
from expected import misspelt
from problems import ranked

import ordstat
from ordstat import OrdinalBoosting, Reduction, ordfit
from ordstat.prediction.boosted_base import BoostedBase
from ordstat.reduction.learners import Binary

PLAIN = {
    "rounds": 15,
    "depth": 2,
    "subsample": 1.0,
    "column_share": 1.0,
    "linear_start": False,
}


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(5)
    return ranked(
        rng, 90, [-0.8, 0.2, 1.0], "ab", lambda d: np.sin(2 * d["a"]) + d["b"], 0.5
    )


def by_threshold(**options):
    base = BoostedBase(OrdinalBoosting(**options))
    return Reduction(base=base, encoding="separate", scaling=None)


def test_each_threshold_has_trees_of_its_own(frame, tmp_path):
    fit = ordfit("y ~ a + b", frame, by_threshold(**PLAIN))
    codes = frame["y"]
    questions = np.column_stack(
        [
            ordfit(
                "above ~ a + b",
                frame.assign(above=pd.Categorical(codes > k, ordered=True)),
                OrdinalBoosting(**PLAIN),
            ).predict(type="prob").to_numpy()[:, 1]
            for k in range(3)
        ]
    )  # fmt: skip
    expected = 1.0 - np.sort(questions, axis=1)[:, ::-1]
    actual = fit.predict(type="cum_prob").to_numpy()[:, :3]
    np.testing.assert_allclose(actual, expected, atol=1e-12)
    fit.save(tmp_path / "fit.ordstat")
    again = ordstat.load(tmp_path / "fit.ordstat")
    np.testing.assert_array_equal(
        again.predict(frame, type="prob"), fit.predict(frame, type="prob")
    )


def test_the_name_of_the_base(frame):
    method = Reduction(base="ordboost", encoding="separate", scaling=None)
    assert repr(method).startswith("Reduction(base='ordboost'")
    with misspelt("ordboost"):
        Reduction(base="boosted")


def test_a_question_with_one_answer_is_a_constant():
    X = np.arange(12.0)[:, None]
    sides = np.ones(12)
    mixed = np.where(X[:, 0] > 5, 1.0, -1.0)
    problems = [
        Binary.of(np.arange(12), labels, np.ones(12))
        for labels in (sides, -sides, mixed)
    ]
    learned = BoostedBase(OrdinalBoosting(rounds=3, depth=1, linear_start=False)).on(
        X, np.ones(12)
    ).fit(problems, np.random.default_rng(0))  # fmt: skip
    assert (learned.scores[:, 0] == 0.5).all()
    assert (learned.scores[:, 1] == -0.5).all()
    assert (learned.scores[X[:, 0] > 5, 2] > 0).all()

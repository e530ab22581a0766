"""Rules that vote: ties, predictions, and what they do not have."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from expected import no_type
from seams import CostMatrix, build
from stand_ins import REACHED, TRACE

from ordstat import DataError, OptionError, rankers
from ordstat.fit import CostBound, ScoreRule, VoteFit

VOTES = np.array(
    [
        [2.0, 1.0, 0.0],
        [1.0, 1.0, 1.0],
        [0.0, 1.5, 1.5],
        [0.0, 0.0, 3.0],
        [-1.0, -2.0, -3.0],
    ]
)


@dataclass(frozen=True)
class _Table:
    """Votes looked up by the first column."""

    n_levels: int = 3

    def __call__(self, rows):
        return VOTES[rows.X[:, 0].astype(int)]


@dataclass(frozen=True)
class _Method:
    cost: object = "absolute"
    cost_matrix = CostMatrix("absolute")
    likelihood = False

    def geometry(self, sample, fit):
        return None


@pytest.fixture
def frame():
    return pd.DataFrame(
        {"x": np.arange(5.0), "y": [1, 2, 2, 3, 3]}, index=list("abcde")
    )


@pytest.fixture
def results(frame):
    design = build("y ~ x", frame)
    rule = ScoreRule(_Table())
    fit = VoteFit(
        rule=rule,
        certificate=REACHED,
        trace=TRACE,
        scores=rule.scores(design.sample.rows),
        bound=CostBound(value=0.5, limit=0.75, source="a theorem"),
    )
    return rankers.VoteResults("call", design, _Method(), fit)


def test_ties_go_to_the_lower_rank(results):
    assert results.predict().tolist() == [1, 1, 2, 3, 1]


def test_votes_are_a_column_a_level(results, frame):
    votes = results.predict(frame.iloc[[3, 0]], type="votes")
    assert votes.index.tolist() == ["d", "a"]
    assert votes.columns.tolist() == [1, 2, 3]
    np.testing.assert_array_equal(votes, VOTES[[3, 0]])


def test_errors_follow_the_predicted_ranks(results):
    errors = results.errors()["training"]
    assert errors["absolute error"] == pytest.approx((0 + 1 + 0 + 0 + 2) / 5)
    assert errors["cost"] == errors["absolute error"]
    # Pairs of different ranks: a below b, c, d, e and b, c below d, e; by predicted
    # ranks 1 1 2 3 1 that is ab tie, ac right, ad right, ae tie, bd right, be tie, cd
    # right, ce wrong.
    assert errors["concordance"] == pytest.approx((4 + 3 / 2) / 8)


@pytest.mark.parametrize(
    "ask",
    [
        lambda r: r.margins(),
        lambda r: r.margins(delta=0.1),
        lambda r: r.training_margins,
    ],
)
def test_a_rule_that_votes_has_no_margins(results, ask):
    with pytest.raises(OptionError, match=r"most votes.*no margins"):
        ask(results)
    assert not hasattr(results, "thresholds")


@pytest.mark.parametrize("type", ["score", "margin", "prob"])
def test_other_predictions_are_refused_by_name(results, type):
    with no_type(type):
        results.predict(type=type)


def test_limits_from_new_data_stay(results, frame):
    bounds = results.bounds(newdata=frame)
    assert len(bounds) > 0
    assert bounds.index.str.contains("new data").all()
    assert "No margin bounds" in results.bounds().attrs["notes"][0]
    with pytest.raises(DataError):
        results.bounds(newdata=frame.assign(x=np.nan))


def test_the_summary_tells_the_bound_and_no_margins(results):
    text = str(results.summary())
    assert "0.5 <= 0.75 (a theorem)" in text
    assert "No margin bounds" in text
    assert "Margins of the rows" not in text


def test_augment_adds_votes(results, frame):
    wide = results.augment(frame)
    assert wide.columns.tolist() == [
        "x",
        "y",
        ".fitted",
        ".votes_1",
        ".votes_2",
        ".votes_3",
    ]
    np.testing.assert_array_equal(wide.iloc[:, 3:].to_numpy(dtype=float), VOTES)

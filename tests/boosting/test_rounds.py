"""More rounds, fewer rounds, stages: each against a fit of that many rounds."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from expected import refused

from ordstat import REDSVM, ordfit

TWO = [
    ("adaboost", {}),
    ("seedboost", {}),
    ("seedboost", {"first": "tree"}),
    ("adaboost", {"learner": "perceptron"}),
]
MANY = [("orboost-all", {"learner": "perceptron"}), ("adaboost-or", {})]
MANY += [(name, {}) for name in ("orboost-lr", "rankboost-ae", "rankboost-or")]


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(90, 2))
    score = x[:, 0] - x[:, 1] ** 2 + 0.5 * rng.normal(size=90)
    y = np.digitize(score, [-1.5, -0.5, 0.5])
    return pd.DataFrame(x, columns=list("ab")).assign(
        y=y, two=score > -0.5, w=rng.integers(1, 4, 90)
    )


def _formula(name):
    return "two ~ a + b" if name in ("adaboost", "seedboost") else "y ~ a + b"


@pytest.mark.parametrize(("name", "options"), TWO + MANY, ids=str)
def test_more_and_fewer_rounds_are_fits_of_as_many(frame, name, options):
    def fit(rounds):
        return ordfit(
            _formula(name), frame, name, rounds=rounds, weights="w", seed=3, **options
        )

    short = fit(5)
    long = fit(12)
    grown = pickle.loads(pickle.dumps(short)).more(7)
    assert len(short.rounds) == 6  # results stay as they are
    for other, whole in (
        (grown, long),
        (long.at(5), short),
        (long.at(5).more(4).at(12), long),
    ):
        pd.testing.assert_series_equal(
            other.predict(type="score"), whole.predict(type="score")
        )
        pd.testing.assert_series_equal(other.thresholds, whole.thresholds)
        assert other.predict(frame).tolist() == whole.predict(frame).tolist()
    pd.testing.assert_frame_equal(grown.rounds, long.rounds)
    assert fit(12).predict().tolist() == long.predict().tolist()
    assert len(long.at(5).more(4).rounds) == 12 + 4 + 1  # on top of all that were made


@pytest.mark.parametrize(("name", "options"), TWO + MANY, ids=str)
@pytest.mark.parametrize("type", ["class", "score"])
def test_stages_are_those_of_shorter_fits(frame, name, options, type):
    fit = ordfit(_formula(name), frame, name, rounds=9, **options)
    for t in (4, 8, 9):
        shorter = ordfit(_formula(name), frame, name, rounds=t, **options)
        new = frame.head(30)
        pd.testing.assert_series_equal(
            fit.at(t).predict(new, type), shorter.predict(new, type), rtol=1e-9
        )


@pytest.mark.parametrize(("name", "options"), TWO + MANY, ids=str)
def test_errors_of_chosen_rounds(frame, name, options):
    """For any grid of rounds; round 0 is the start."""
    fit = ordfit(_formula(name), frame, name, rounds=9, **options)
    every = fit.staged_errors(frame.head(30))
    some = fit.staged_errors(frame.head(30), rounds=[8, 0, 3, 3])
    assert some.index.tolist() == [0, 3, 8]
    pd.testing.assert_frame_equal(some.loc[[3, 8]], every.loc[[3, 8]])
    for t in some.index:
        wrong = (
            fit.at(t).predict(frame).astype(float)
            != frame[_formula(name).split()[0]].astype(float)
        ).mean()
        assert some.loc[t, "classification"] == pytest.approx(wrong)


@pytest.mark.parametrize("rounds", [[10], [-1], [1.5], "12", 3])
def test_rounds_that_were_not_made_are_refused(frame, rounds):
    fit = ordfit("y ~ a", frame, "orboost-all", rounds=9)
    with refused("rounds"):
        fit.staged_errors(rounds=rounds)
    with refused("rounds"):
        fit.at(10)


def test_rankers_that_were_fitted_go_on_too(frame):
    short = ordfit("y ~ a + b", frame, "adaboost-or", rounds=2, base=REDSVM(C=0.5))
    whole = ordfit("y ~ a + b", frame, "adaboost-or", rounds=4, base=REDSVM(C=0.5))
    assert short.more(2).predict(frame).tolist() == whole.predict(frame).tolist()


@pytest.mark.filterwarnings("ignore:Response y has:ordstat.exceptions.DataWarning")
@pytest.mark.parametrize("name", ["orboost-all", "cart"])
def test_a_table_of_many_levels_is_made_at_once(name):
    """pandas warns of tables made column by column."""
    frame = pd.DataFrame({"x": np.arange(150.0), "y": np.arange(150)})
    fit = ordfit(
        "y ~ x", frame, name, **({"rounds": 3} if name == "orboost-all" else {})
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if name == "cart":
            assert fit.nodes().shape[1] == 5 + 150
        else:
            assert fit.rounds.columns.tolist() == [
                "alpha",
                "loss",
                "bound",
                *fit.thresholds.index,
            ]
        assert str(fit.summary())

"""Permutation importance: against all permutations, scikit-learn, and fits whose use of
a variable is known.
"""

import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
from expected import refused, rows_left_out
from problems import ranked

from ordstat import DataError, OptionError, OrdinalClassifier, datasets, load, ordfit
from ordstat.exceptions import UnavailableError

WINE = datasets.load("wine")
TINY = pd.DataFrame(
    {
        "y": [1, 2, 1, 3, 2, 3, 3],
        "x": [0.1, 0.9, -0.5, 1.4, 0.2, 2.2, 0.8],
        "z": [1.0, -1.0, 0.5, 0.3, 2.0, -0.4, 1.1],
    }
)


def _log_losses(fit, data):
    """Of each row."""
    p = fit.predict(data, type="prob").to_numpy()
    return -np.log(p[np.arange(len(data)), data["y"].to_numpy() - 1])


def test_mean_of_all_permutations():
    fit = ordfit("y ~ x + I(x**2) + x:z", TINY, penalty=1.0)
    actual = fit.importance(measure="log-loss", repeats=800)
    before = _log_losses(fit, TINY).mean()
    orders = np.array(list(itertools.permutations(range(len(TINY)))))
    # one copy for each order, below one another
    below = TINY.loc[np.tile(TINY.index, len(orders))]
    for name in ("x", "z"):  # all that is made of x moves together
        moved = below.assign(**{name: TINY[name].to_numpy()[orders].ravel()})
        every = _log_losses(fit, moved).reshape(orders.shape).mean(axis=1) - before
        row = actual.loc[name]
        assert row["importance"] == pytest.approx(
            np.mean(every), abs=4.5 * row["std_error"]
        )
        assert row["std_error"] == pytest.approx(np.std(every) / np.sqrt(800), rel=0.1)


def test_limits_are_students():
    actual = ordfit("y ~ x + z", TINY, penalty=1.0).importance(
        measure="log-loss", repeats=5
    )
    half = 2.776445 * actual["std_error"]  # t of 4 degrees of freedom, 0.975
    np.testing.assert_allclose(actual["upper"], actual["importance"] + half, rtol=1e-6)
    np.testing.assert_allclose(actual["lower"], actual["importance"] - half, rtol=1e-6)
    once = ordfit("y ~ x + z", TINY, penalty=1.0).importance(repeats=1)
    assert once[["std_error", "lower", "upper"]].isna().all(axis=None)


@pytest.mark.parametrize(
    "method", ["logit", "redsvm", pytest.param("rps-forest", marks=pytest.mark.slow)]
)
def test_scikit_learn_finds_the_same(method):
    from sklearn.inspection import permutation_importance

    rng = np.random.default_rng(1)
    data = ranked(
        rng, 150, [-0.7, 0.7], "abc", lambda d: d["a"] + 0.5 * d["b"], noise=0.5
    )
    X = data[["a", "b", "c"]]
    y = data["y"].to_numpy()
    options = {"trees": 20} if method == "rps-forest" else {}
    model = OrdinalClassifier(method, **options).fit(X, y)
    theirs = permutation_importance(
        model, X, y, scoring="neg_mean_absolute_error", n_repeats=40, random_state=0
    )
    for new in (None, X.assign(y=y)):
        ours = model.results_.importance("permutation", new, repeats=40).loc[
            ["a", "b", "c"]
        ]
        error = np.hypot(theirs.importances_std / np.sqrt(40), ours["std_error"])
        assert (
            np.abs(ours["importance"] - theirs.importances_mean) <= 4.5 * error
        ).all()


@pytest.mark.parametrize(
    "weights", [None, np.arange(1, 73) % 4, np.linspace(0.1, 2.0, 72)]
)
@pytest.mark.parametrize(
    ("method", "options"), [("cart", {}), ("orboost-all", {"rounds": 5}), ("csovo", {})]
)
def test_what_is_not_used_has_none_exactly(method, options, weights):
    data = WINE.assign(constant=1.0)
    fit = ordfit(
        "rating ~ temp + contact + constant", data, method, weights=weights, **options
    )
    changed = data.assign(constant=np.arange(72) * 0.0 + 5.0)
    pd.testing.assert_series_equal(fit.predict(data), fit.predict(changed))
    noisy = data.assign(
        constant=np.random.default_rng(0).normal(1.0, 0.1, 72),
        w=1.0 if weights is None else weights,
    )
    row = fit.importance("permutation", noisy, weights="w").loc["constant"]
    assert row.tolist() == [0.0, 0.0, 0.0, 0.0]


def test_weights_are_rows():
    counts = 1 + np.arange(72) % 3
    twice = WINE.loc[WINE.index.repeat(counts)].reset_index(drop=True)
    one = ordfit("rating ~ temp + contact", WINE, weights=counts).importance(
        measure="log-loss", repeats=200
    )
    other = ordfit("rating ~ temp + contact", twice).importance(
        measure="log-loss", repeats=200
    )
    error = np.hypot(one["std_error"], other["std_error"])
    assert (np.abs(one["importance"] - other["importance"]) < 4.5 * error).all()
    np.testing.assert_allclose(one["std_error"], other["std_error"], rtol=0.3)


def test_measures_of_which_more_is_better_fall():
    fit = ordfit("rating ~ temp + contact", WINE)
    assert (fit.importance(measure="concordance")["importance"] > 0.05).all()
    assert (
        fit.importance(measure="concordance")
        .attrs["notes"][0]
        .startswith("Fall of the concordance")
    )


def test_factors_and_splines_are_one_variable_and_rows_are_found():
    rng = np.random.default_rng(2)
    data = pd.DataFrame(
        {
            "y": rng.integers(1, 4, 90),
            "x": rng.normal(size=90),
            "g": rng.choice(["a", "b", "c"], 90),
        }
    )
    data.loc[3, "x"] = np.nan
    with rows_left_out():
        fit = ordfit("y ~ ns(x, 3) * g", data, "redsvm")
    assert set(fit.importance(repeats=2).index) == {"x", "g"}
    importance = fit.importance(newdata=data, repeats=2)
    assert (
        importance.attrs["notes"][-1]
        == "Rows of newdata left out because of missing values: 1."
    )
    pd.testing.assert_frame_equal(importance, fit.importance(repeats=2))
    assert data["x"].isna().sum() == 1


def test_same_seed_same_numbers_and_tidy():
    fit = ordfit("rating ~ temp + contact", WINE)
    pd.testing.assert_frame_equal(fit.importance(seed=7), fit.importance(seed=7))
    assert not fit.importance(seed=7).equals(fit.importance(seed=8))
    assert fit.importance().tidy().columns.tolist() == [
        "variable",
        "importance",
        "std_error",
        "conf_low",
        "conf_high",
    ]


def test_gain_stays_the_default_of_trees():
    fit = ordfit("rating ~ temp + contact", WINE, "cart")
    pd.testing.assert_frame_equal(fit.importance(), fit.importance("gain"))
    assert fit.importance()["importance"].sum() == pytest.approx(1.0)
    assert fit.importance("permutation").index.name == "variable"
    with pytest.raises(OptionError, match="Use kind='permutation'"):
        fit.importance("gain", newdata=WINE)
    with refused("kind", "'gain'"):
        ordfit("rating ~ temp", WINE).importance("gain")


@pytest.mark.parametrize(
    "options",
    [{"newdata": WINE}, {"measure": "log-loss"}, {"repeats": 3}, {"level": 0.9}],
)
def test_options_of_permutations_ask_for_them(options):
    fit = ordfit("rating ~ temp + contact", WINE, "ordboost", rounds=5, depth=1)
    pd.testing.assert_frame_equal(
        fit.importance(**options), fit.importance("permutation", **options)
    )
    assert "Permutation importance" in str(fit.importance(**options))
    pd.testing.assert_frame_equal(
        fit.plot.importance(**options, draw=False),
        fit.plot.importance(kind="permutation", **options, draw=False),
    )


def test_rows_that_a_forest_knows_by_heart_are_told():
    fit = ordfit(
        "rating ~ temp + contact", WINE, "blend", members=("logit", "rps-forest")
    )
    note = " ".join(str(fit.importance(repeats=2)).split())
    assert "Computed on the 72 rows of the fit; newdata= takes new rows." in note
    assert "Computed on 20 new rows." in str(
        fit.importance(newdata=WINE.head(20), repeats=2)
    )


def test_data_that_are_not_at_hand(tmp_path):
    fit = ordfit("rating ~ temp + contact", WINE)
    fit.save(tmp_path / "wine.ordstat")
    for other in (pickle.loads(pickle.dumps(fit)), load(tmp_path / "wine.ordstat")):
        with pytest.raises(
            DataError, match="pass newdata= with rows that have the response"
        ):
            other.importance()
        np.testing.assert_array_equal(other.importance(newdata=WINE), fit.importance())
    pd.testing.assert_frame_equal(
        load(tmp_path / "wine.ordstat", data=WINE).importance(), fit.importance()
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"measure": "log-loss"},
            r"measure must be one of .*calibrate=True.*; got 'log-loss'",
        ),
        ({"measure": "absolut error"}, "Did you mean 'absolute error'"),
        ({"repeats": 0}, "repeats must be"),
        ({"weights": np.ones(72)}, "weights goes with newdata"),
    ],
    ids=["measure", "misspelled", "repeats", "weights"],
)
def test_refusals(options, words):
    fit = ordfit("rating ~ temp + contact", WINE, "redsvm")
    with pytest.raises(OptionError, match=words):
        fit.importance(**options)


def test_without_variables():
    with pytest.raises(UnavailableError):
        ordfit("rating ~ 1", WINE).importance()


def test_groups_and_terms_of_several_variables():
    of_groups = ordfit("rating ~ temp + (1 | judge)", WINE).importance(repeats=2)
    assert "rows of new groups" in str(of_groups)
    data = pd.DataFrame(
        {"y": [1, 2, 3] * 10, "a": np.arange(30.0) + 1.0, "b": np.arange(30.0)}
    )
    data["a"] += np.tile([0.0, 1.0, 0.5], 10)
    with pytest.raises(
        DataError, match="Permuting 'a' gives rows that the formula cannot evaluate"
    ):
        ordfit("y ~ log(a - b)", data).importance()

"""The bootstrap: draws made by hand, seeds and jobs, clusters, and draws that go
wrong.
"""

import numpy as np
import pandas as pd
import pytest
from reference_cases import load_data

from ordstat import ordfit
from ordstat.exceptions import OptionError
from ordstat.inference.bootstrap import Bootstrap


@pytest.fixture(scope="module")
def fit():
    return ordfit("rating ~ temp + contact", data=load_data("wine"))


def test_replicates_are_fits_to_drawn_rows(fit):
    """The first draw, with its rows written out."""
    wine = load_data("wine")
    draws = fit.bootstrap(3, seed=5)
    rng = np.random.default_rng(5).spawn(3)[0]
    times = rng.multinomial(72, np.full(72, 1 / 72))
    again = ordfit(
        "rating ~ temp + contact",
        data=wine.loc[np.repeat(np.arange(72), times)].reset_index(drop=True),
    )
    np.testing.assert_allclose(draws.replicates.iloc[0], again.params, rtol=1e-8)
    assert draws.replicates.columns.tolist() == fit.parameters.names


def test_whole_clusters_are_drawn(fit):
    wine = load_data("wine")
    draws = fit.bootstrap(2, seed=1, cluster="judge")
    rng = np.random.default_rng(1).spawn(2)[1]
    judges = np.unique(wine["judge"].cat.codes)[rng.integers(9, size=9)]
    rows = np.concatenate(
        [np.flatnonzero(wine["judge"].cat.codes == judge) for judge in judges]
    )
    again = ordfit(
        "rating ~ temp + contact", data=wine.loc[rows].reset_index(drop=True)
    )
    np.testing.assert_allclose(draws.replicates.iloc[1], again.params, rtol=1e-8)
    assert draws.drawn == "9 clusters"
    of_fit = ordfit("rating ~ temp + contact", data=wine, cluster="judge").bootstrap(
        2, seed=1
    )
    pd.testing.assert_frame_equal(of_fit.replicates, draws.replicates)


def test_jobs_do_not_matter(fit):
    heard = []
    one = fit.bootstrap(6, seed=3, callback=lambda *step: heard.append(step))
    two = fit.bootstrap(6, seed=3, n_jobs=2)
    pd.testing.assert_frame_equal(one.replicates, two.replicates)
    assert heard == [(i + 1, 6, "bootstrap") for i in range(6)]
    assert not one.replicates.equals(fit.bootstrap(6, seed=4).replicates)


def test_statistics_of_any_shape(fit):
    new = load_data("wine").head(1)
    probabilities = fit.bootstrap(
        4, statistic=lambda r: r.predict(new, type="prob").iloc[0]
    )
    np.testing.assert_allclose(
        probabilities.estimate, fit.predict(new, type="prob").iloc[0]
    )
    np.testing.assert_allclose(probabilities.replicates.sum(axis=1), 1.0)
    plain = fit.bootstrap(4)
    odds = fit.bootstrap(4, statistic=lambda r: np.exp(r.coef.to_numpy()))
    np.testing.assert_allclose(
        odds.replicates, np.exp(plain.replicates.iloc[:, 4:]), rtol=1e-12
    )
    assert fit.bootstrap(2, statistic=lambda r: r.aic).estimate.tolist() == [
        pytest.approx(fit.aic)
    ]


def test_intervals_by_hand():
    values = np.array([1.0, 2.0, 3.0, 4.0, 10.0])
    draws = Bootstrap(
        estimate=pd.Series([3.0], index=["a"]),
        replicates=pd.DataFrame({"a": values}),
        status=pd.Series([""] * 5),
    )
    low, high = np.quantile(values, [0.1, 0.9])
    assert draws.confint(0.8).loc["a"].tolist() == pytest.approx([low, high])
    assert draws.bias["a"] == 1.0 and draws.se["a"] == pytest.approx(values.std(ddof=1))


def test_infinite_replicates_count_as_such():
    values = np.array([1.0, 2.0, 3.0, np.inf, np.inf, np.nan])
    draws = Bootstrap(
        estimate=pd.Series([2.0], index=["a"]),
        replicates=pd.DataFrame({"a": values}),
        status=pd.Series(["", "", "", "separated", "separated", "failed"]),
    )
    assert draws.confint(0.5).loc["a"].tolist() == [2.0, np.inf]
    assert draws.se["a"] == pytest.approx(1.0)
    assert (
        "2 of 6 replicates have infinite estimates" in draws.notes[1]
        and "1 of 6" in draws.notes[0]
    )


@pytest.mark.filterwarnings("ignore::ordstat.exceptions.SeparationWarning")
def test_separated_and_incomplete_draws_are_told():
    draws = ordfit("y ~ x + z", data=load_data("sep")).bootstrap(5)
    assert (draws.status == "separated").all() and np.isposinf(
        draws.replicates["z"]
    ).all()
    assert (
        draws.replicates["x"].map(np.isfinite).all()
        and np.isposinf(draws.confint().loc["z"]).all()
    )
    assert "5 of 5 replicates have infinite estimates" in repr(draws)
    rare = pd.DataFrame({"y": [1] * 10 + [2] * 10 + [3], "x": np.arange(21) % 7})
    lacking = ordfit("y ~ x", data=rare).bootstrap(20)
    gone = lacking.status == "incomplete"
    assert gone.any() and lacking.replicates.loc[gone, "2|3"].isna().all()
    assert np.isfinite(lacking.replicates.loc[gone, "1|2"]).all()


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"n": 1}, "2 or more"),
        ({"n_jobs": 0}, "other than 0"),
        ({"n": 2, "statistic": lambda r: np.eye(2)}, r"shape \(2, 2\)"),
    ],
)
def test_what_cannot_be_drawn(fit, arguments, match):
    with pytest.raises(OptionError, match=match):
        fit.bootstrap(**arguments)


@pytest.mark.slow
def test_standard_errors_near_those_of_theory():
    data = load_data("sim500")
    fit = ordfit("y ~ x1 + x2", data=data)
    np.testing.assert_allclose(
        fit.bootstrap(1000).se, fit.with_vcov("HC0").se, rtol=0.12
    )

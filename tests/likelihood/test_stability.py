"""Selection frequencies: fits to the halves made by hand, clusters, nominal terms."""

import numpy as np
import pandas as pd
import pytest
from seams import held_weights

from ordstat import ElasticNet, ordfit
from ordstat.exceptions import DataError, OptionError, UnavailableError


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(120, 4))
    latent = 1.5 * X[:, 0] + 0.6 * X[:, 1] + rng.logistic(size=120)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    return frame.assign(
        f=rng.choice(list("uvw"), size=120),
        y=np.digitize(latent, [-1.0, 1.0]),
        group=np.arange(120) // 4,
    )


def halves_of(fit, pairs, seed, cluster=None):
    sample = fit.design.sample
    rng = np.random.default_rng(seed)
    for _ in range(pairs):
        yield from held_weights(
            sample.X, sample.y, sample.case_weights, 2, rng, cluster
        )


def test_frequencies_count_fits_to_halves(data):
    fit = ordfit("y ~ a + b + c + d + f", data, penalty=ElasticNet(n_lambdas=20))
    table = fit.stability(3, seed=5)
    counts = dict.fromkeys(["a", "b", "c", "d", "f"], 0)
    for half in halves_of(fit, 3, 5):
        net = ElasticNet(lambdas=fit.lambda_)
        rows = data.loc[half > 0.0]
        for term in ordfit("y ~ a + b + c + d + f", rows, penalty=net).selected:
            counts[term] += 1
    assert table["frequency"].to_dict() == {t: n / 6 for t, n in counts.items()}
    assert table["frequency"].is_monotonic_decreasing
    again = fit.stability(3, seed=5, n_jobs=2)
    pd.testing.assert_frame_equal(table, again)


def test_halves_of_a_pair_share_no_row_and_keep_clusters(data):
    net = ElasticNet(cv=3, n_lambdas=10)
    fit = ordfit("y ~ a + b", data, penalty=net, cluster="group", seed=1)
    codes = data["group"].to_numpy()
    first, second = halves_of(fit, 1, 2, codes)
    np.testing.assert_array_equal((first > 0.0) + (second > 0.0), np.ones(120))
    assert not set(codes[first > 0.0]) & set(codes[second > 0.0])
    assert fit.stability(1, seed=2).loc["a", "frequency"] == 1.0


def test_nominal_terms_have_frequencies_of_their_own(data):
    net = ElasticNet(n_lambdas=10)
    fit = ordfit("y ~ a + b + c", data, nominal="~ b + d", method="cratio", penalty=net)
    table = fit.stability(2)
    assert set(table.index) == {"a", "b", "c", "d"}
    assert np.isnan(table.loc["d", "frequency"])
    assert np.isnan(table.loc["a", "nominal_frequency"])
    assert table["nominal_frequency"].count() == 2


def test_bound_on_terms_selected_by_chance(data):
    """q^2 / (0.8 p) with q selected terms a half of p."""
    fit = ordfit("y ~ a + b + c + d", data, penalty=ElasticNet(n_lambdas=20))
    table = fit.stability(4)
    q = table["frequency"].sum()
    assert f"at most {q**2 / (0.8 * 4):.1f} are" in table.attrs["notes"][0]
    weak = fit.at(fit.path["lambda"].iloc[-1]).stability(1)
    assert weak["frequency"].sum() == 4.0
    assert len(weak.attrs["notes"]) == 2


@pytest.mark.parametrize("method", ["multinomial", "logit"])
def test_terms_that_are_nominal_alone_are_counted(data, method):
    """A multinomial logit has no other terms: the mean number was "nan"."""
    net = ElasticNet(lambdas=[0.02])
    if method == "multinomial":
        fit = ordfit("y ~ a + b + c", data, method, penalty=net)
    else:
        fit = ordfit("y ~ 1", data, nominal="~ a + b + c", penalty=net)
    table = fit.stability(3)
    assert table.columns.tolist() == ["nominal_frequency"]
    q = table["nominal_frequency"].sum()
    assert f"selects {q:.1f} of 3 terms" in table.attrs["notes"][0]


def test_nothing_stable_has_no_advice(data):
    table = ordfit("y ~ a + b", data, penalty=ElasticNet(lambdas=[9.0])).stability(2)
    assert (table["frequency"] == 0.0).all()
    assert len(table.attrs["notes"]) == 1


def test_halves_may_lack_a_rare_level(data):
    rare = data.assign(y=np.where(np.arange(120) == 0, 3, data["y"]))
    fit = ordfit("y ~ a + b", rare, nominal="~ d", penalty=ElasticNet(n_lambdas=9))
    half = next(halves_of(fit, 1, 0)) > 0.0
    assert not half[0]
    table = fit.stability(1)
    assert table["frequency"].between(0.0, 1.0).sum() == 2
    assert table.loc["a", "frequency"] == 1.0


def test_a_ridge_selects_nothing(data):
    fit = ordfit("y ~ a", data, penalty=ElasticNet(l1_ratio=0.0, n_lambdas=3))
    with pytest.raises(UnavailableError):
        fit.stability()


def test_what_cannot_be_halved(data):
    fit = ordfit("y ~ a + b", data, penalty=ElasticNet(n_lambdas=5))
    with pytest.raises(OptionError):
        fit.stability(0)
    levels = np.where(data["group"] == 0, 3, data["y"])
    net = ElasticNet(n_lambdas=5, cv=3)
    one = ordfit("y ~ a", data.assign(y=levels), penalty=net, cluster="group")
    with pytest.raises(DataError):
        one.stability(1)

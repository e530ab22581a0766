"""What only margin results have."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from expected import refused

from ordstat import REDSVM, Gaussian, datasets, ordfit
from ordstat.exceptions import OptionError


def test_coefficients_of_a_linear_potential(wine_margin):
    assert wine_margin.coef.to_dict() == {"temp[T.warm]": 2.0, "contact[T.yes]": 1.0}
    assert wine_margin.params.index.tolist() == [
        "1|2",
        "2|3",
        "3|4",
        "4|5",
        "temp[T.warm]",
        "contact[T.yes]",
    ]
    assert (
        wine_margin.tidy()["coef_type"].tolist() == ["threshold"] * 4 + ["location"] * 2
    )
    assert wine_margin.support.tolist() == [1, 5, 70]


def test_other_potentials_have_none_and_say_why(wine_margin):
    kernel = replace(
        wine_margin, fit=replace(wine_margin.fit, coefficients=None, support=None)
    )
    assert not hasattr(kernel, "coef")
    with pytest.raises(OptionError, match="not linear"):
        _ = kernel.coef
    assert kernel.params.index.tolist() == ["1|2", "2|3", "3|4", "4|5"]
    assert len(kernel.tidy()) == 4 and kernel.support is None
    assert np.isnan(kernel.glance()["n_support"].item())
    assert "Coefficients" not in str(kernel.summary())


def test_summary_shows_what_the_method_tells(wine_margin):
    text = str(wine_margin.summary("all"))
    for words in (
        "Support vectors",
        "3 of 72",
        "relative duality gap",
        "E_A",
        "PAC-Bayes",
        "trivial",
    ):
        assert words in text


def test_row_costs_bound_and_header(wine_margin):
    sample = wine_margin.design.sample
    costs = (
        np.abs(np.arange(5) - sample.y[:, None]) * (1.0 + np.arange(72) % 3)[:, None]
    )
    r = replace(
        wine_margin,
        design=replace(wine_margin.design, sample=replace(sample, costs=costs)),
    )
    assert r.errors().loc["cost", "training"] == pytest.approx(
        costs[np.arange(72), r.training.codes].mean()
    )
    assert r.bounds().loc["cost", "trivial"] == 12.0
    assert (
        "no row has larger costs than the training rows" in r.bounds().attrs["notes"][0]
    )
    assert "given for each row" in str(r.summary())


def test_figures_of_a_fit_refuse_what_is_no_number(wine_margin):
    for deltas in ([-1.0], "much", [float("nan")], [[0.1]]):
        with refused("delta"):
            wine_margin.margins(deltas)
    assert wine_margin.margins(0.1).equals(wine_margin.margins([0.1]))
    for delta in ("x", 2, 0.0, True):
        with refused("delta"):
            wine_margin.bounds(delta=delta)
    for cv in ("a", 2.5, 1, True):
        with pytest.raises(
            OptionError, match="number of folds must be a whole number, 2 or more"
        ):
            wine_margin.errors(cv=cv)


def test_the_class_of_a_kernel_is_no_kernel():
    with pytest.raises(
        OptionError,
        match=r"a Kernel such as Gaussian\(gamma=0.5\), or a function; got <class",
    ):
        REDSVM(kernel=Gaussian)


@pytest.mark.parametrize(
    ("method", "options", "done"),
    [
        ("prank", {}, "Passes 20 (mistakes"),
        ("cusum", {}, "Passes 20 (mistakes"),
        ("kernel-prank", {"epochs": 3}, "Passes 3 (mistakes"),
        ("orboost-all", {"rounds": 5}, "Rounds 5 (cost above the least possible"),
        ("adaboost-or", {"rounds": 5}, "Rounds 5 (cost above the least possible"),
        ("ordboost", {"rounds": 5}, "Rounds 5 (training loss"),
        ("rps-forest", {"trees": 5}, "Trees grown 5 (training ranked probability"),
        ("red-c45", {}, "Trees grown 1"),
        ("red-tree", {}, ""),
    ],
)
def test_methods_without_an_optimum_do_not_say_that_they_reached_it(
    method, options, done
):
    fit = ordfit("rating ~ temp + contact", datasets.load("wine"), method, **options)
    text = " ".join(str(fit.summary()).split())
    assert "onverged" not in text
    assert done in text


def _rows_in_order(rng):
    """Levels that x separates, so that the last passes make no mistake."""
    x = np.r_[np.arange(10.0), np.arange(12.0, 22.0), np.arange(25.0, 35.0)]
    return pd.DataFrame(
        {"x": x, "z": rng.normal(size=30), "y": np.repeat([1, 2, 3], 10)}
    )


def _rows_of_chance(rng):
    """A response that depends on nothing, so that no pass is without mistakes."""
    return pd.DataFrame(rng.normal(size=(60, 2)), columns=["x", "z"]).assign(
        y=rng.integers(0, 4, 60)
    )


def _mean_distance(fit, y):
    return np.abs(fit.predict(type="class").astype(int) - y).mean()


def _share_of_errors(fit, y):
    return (fit.predict(type="class").astype(int) != y).mean()


def _ranked_probability_score(fit, y):
    below = fit.predict(type="cum_prob").to_numpy()[:, : len(fit.levels) - 1]
    return (
        ((below - (y.to_numpy()[:, None] <= fit.levels[:-1])) ** 2).sum(axis=1).mean()
    )


@pytest.mark.parametrize("data", [_rows_in_order, _rows_of_chance])
@pytest.mark.parametrize(
    ("method", "options", "done", "figure", "from_predictions"),
    [
        ("prank", {}, "Passes 20 (mistakes", "mean cost of the last pass", None),
        ("cusum", {}, "Passes 20 (mistakes", "mean cost of the last pass", None),
        (
            "orboost-all",
            {"rounds": 5},
            "Rounds 5",
            "cost above the least possible",
            _mean_distance,
        ),
        (
            "orboost-lr",
            {"rounds": 5},
            "Rounds 5",
            "cost above the least possible",
            _share_of_errors,
        ),
        (
            "adaboost-or",
            {"rounds": 5},
            "Rounds 5",
            "cost above the least possible",
            _mean_distance,
        ),
        (
            "rps-forest",
            {"trees": 5},
            "Trees grown 5",
            "training ranked probability score",
            _ranked_probability_score,
        ),
    ],
)
def test_figures_beside_rounds_are_those_of_the_predictions(
    data, method, options, done, figure, from_predictions
):
    rows = data(np.random.default_rng(1))
    fit = ordfit("y ~ x + z", rows, method, **options)
    text = " ".join(str(fit.summary()).split())
    assert done in text and "onverged" not in text
    value = dict(fit.certificate.details)[figure]
    assert f"{figure} {value:.4g}" in text
    if from_predictions is None:
        assert (value == 0.0) == (data is _rows_in_order)
        assert dict(fit.certificate.details)["mistakes"] > 0
    else:
        assert value == pytest.approx(
            from_predictions(fit, rows["y"]), rel=1e-9, abs=1e-12
        )

"""Every fit ends with a certificate, or says why not: small samples, flat and unbounded
variances, separated levels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from reference_cases import load_data

from ordstat import datasets, ordfit
from ordstat.exceptions import DataError, SeparationWarning

TERMS = (
    "(1 | g)",
    "(1 + x | g)",
    "(1 + x || g)",
    "(1 | g) + (1 | h)",
    "(1 | h/g)",
    "(1 + x | g) + (1 | h)",
    "(f | g)",
)
LINKS = ("logit", "probit", "cloglog", "loglog")


def sample(seed: int) -> tuple[pd.DataFrame, float]:
    """Rows of a latent score with effects of g and h, whose standard deviation may be
    0.
    """
    rng = np.random.default_rng(seed)
    n, groups, others, K = rng.integers((80, 5, 3, 2), (300, 30, 9, 6))
    sd = float(rng.choice([0.0, 0.4, 1.5]))
    x = rng.standard_normal(n)
    g = rng.integers(0, groups, n)
    h = rng.integers(0, others, n)
    f = rng.choice(list("abc"), n)
    u = rng.standard_normal(groups)
    slope = rng.standard_normal(groups)
    v = rng.standard_normal(others)
    latent = (
        0.7 * x + sd * (u[g] + 0.5 * slope[g] * x + 0.5 * v[h]) + rng.logistic(size=n)
    )
    y = np.digitize(latent, np.quantile(latent, np.arange(1, K) / K))
    return pd.DataFrame({"y": y, "x": x, "g": g, "h": h, "f": f}), sd


@pytest.mark.filterwarnings("ignore::ordstat.DataWarning")
@pytest.mark.parametrize("seed", range(21))
def test_every_fit_has_its_certificate(seed: int) -> None:
    data, _ = sample(seed)
    fit = ordfit(f"y ~ x + {TERMS[seed % len(TERMS)]}", data, LINKS[seed % len(LINKS)])
    marginal = fit.fit.marginal
    assert marginal is not None
    assert fit.certificate.reached
    assert fit.loglik >= marginal.plain_loglik - 1e-8
    for effects in marginal.terms:
        assert all(derivative <= 0.0 for derivative in effects.boundary.values())
    here = marginal.likelihood
    assert np.linalg.eigvalsh(here.information[np.ix_(here.free, here.free)])[0] > 0.0
    assert np.isfinite(fit.se).all()


WINE = datasets.load("wine")
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "intercepts": ("rating ~ temp + contact + (1 | judge)", {}),
    "slopes": ("rating ~ temp + contact + (1 + temp | judge)", {}),
    "boundary": ("rating ~ temp + contact + (1 | judge) + (1 | bottle)", {}),
    "nominal": ("rating ~ temp + (1 | judge)", {"nominal": "~ contact"}),
    "quadrature": ("rating ~ temp + contact + (1 | judge)", {"quadrature": 7}),
}


@pytest.mark.parametrize("model", MODELS)
def test_digits_against_the_same_rows_in_another_order(model: str) -> None:
    """Another order of the rows is another way to the same maximum: the estimates agree
    in the digits told.
    """
    formula, options = MODELS[model]
    fit = ordfit(formula, WINE, **options)
    other = ordfit(formula, WINE.sample(frac=1.0, random_state=3), **options)
    table = fit.certificate.table
    size = np.maximum(fit.params[table.index].abs(), fit.se[table.index])
    apart = (fit.params - other.params)[table.index].abs() / size
    digits = np.minimum(table["digits"], other.certificate.table["digits"])
    assert (apart <= 10.0 ** (1.0 - digits)).all()
    assert (digits >= 8).all()


def pairs(n: int, groups: int, nested: bool) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    g = rng.integers(0, groups, n)
    h = g // 20 if nested else rng.integers(0, groups, n)
    return pd.DataFrame({"y": rng.integers(0, 3, n), "g": g, "h": h})


def test_large_crossed_terms_are_refused() -> None:
    with pytest.raises(
        DataError,
        match=(
            r"crossed random effects must be at most 10,000; got 19,\d{3}\. Write"
            r" nested"
        ),
    ):
        ordfit("y ~ 1 + (1 | g) + (1 | h)", pairs(100_000, 20_000, nested=False))


def test_nested_terms_of_that_size_are_not() -> None:
    fit = ordfit("y ~ 1 + (1 | g) + (1 | h)", pairs(20_000, 4_000, nested=True))
    assert fit.certificate.reached


def alike() -> pd.DataFrame:
    """Groups with a single level each."""
    rng = np.random.default_rng(0)
    g = np.repeat(np.arange(12), 6)
    return pd.DataFrame({"g": g, "x": rng.standard_normal(72), "y": g % 2})


def test_groups_of_one_level() -> None:
    with pytest.warns(
        SeparationWarning, match=r"\(1 \| g\): the standard deviation of the effects"
    ):
        fit = ordfit("y ~ x + (1 | g)", alike())
    assert fit.varcorr()["sd"].iloc[0] > 50.0 and "Leave the term out" in " ".join(
        str(fit.summary()).split()
    )
    new = pd.DataFrame({"x": [0.0], "g": ["new"]})
    assert fit.predict(
        new, type="prob", re="marginal"
    ).to_numpy().sum() == pytest.approx(1.0)


def test_averages_of_rows_far_out_are_refused() -> None:
    """Nodes without number, where the effects of a row have a standard deviation of a
    thousand.
    """
    fit = ordfit("y ~ x1 + (1 + x1 | subj)", load_data("crossed"))
    near, far = (pd.DataFrame({"x1": [value], "subj": ["new"]}) for value in (2.0, 1e5))
    assert fit.predict(
        near, type="prob", re="marginal"
    ).to_numpy().sum() == pytest.approx(1.0)
    with pytest.raises(DataError, match="moderate standard deviation"):
        fit.predict(far, type="prob", re="marginal")


@pytest.mark.filterwarnings("ignore::ordstat.exceptions.SeparationWarning")
def test_complete_separation_tells_nothing_of_the_random_effects():
    """The supremum of the likelihood is 1 for any variance."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame(
        {"x": np.arange(60) / 10.0, "z": rng.normal(size=60), "g": np.arange(60) % 10}
    )
    data["y"] = np.searchsorted([2.0, 4.0], data["x"])
    for formula in ("y ~ x + (1 | g)", "y ~ x + z + (1 + z | g)"):
        with pytest.warns(
            SeparationWarning, match="the data do not determine the random effects"
        ):
            fit = ordfit(formula, data)
        assert fit.loglik == pytest.approx(0.0, abs=1e-6)
        assert fit.vcov().isna().all(axis=None)
        assert "No parameter has a standard error or a test" in " ".join(
            str(fit.summary()).split()
        )
        assert fit.tidy().filter(like="|g", axis=0)["std_error"].isna().all()


@pytest.mark.filterwarnings("ignore::ordstat.exceptions.SeparationWarning")
@pytest.mark.parametrize(
    ("link", "seed"),
    [
        ("cauchit", 1),
        pytest.param("cauchit", 3, marks=pytest.mark.slow),  # takes 4 s
        ("cauchit", 5),
        ("logit", 1),
        ("logit", 3),
        ("logit", 5),
    ],
)
def test_one_separated_level_leaves_the_others_their_errors(
    link: str, seed: int
) -> None:
    """Rows of "c" all have the lowest level: the fit is that of the other rows, and the
    random effects are known.
    """
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(
        {
            "f": np.where(np.arange(80) < 2, "c", rng.choice(["a", "b"], 80)),
            "g": rng.integers(0, 8, 80),
        }
    )
    data["y"] = rng.integers(0, 3, 80)
    data.loc[data["f"] == "c", "y"] = 0
    fit = ordfit("y ~ f + (1 | g)", data, link)
    others = ordfit("y ~ f + (1 | g)", data[data["f"] != "c"], link)
    assert not any("data say nothing" in message for _, message in fit.alerts())
    assert fit.coef["f[T.c]"] == -np.inf and np.isnan(fit.se["f[T.c]"])
    np.testing.assert_allclose(fit.se.drop("f[T.c]"), others.se, rtol=1e-4)
    np.testing.assert_allclose(
        fit.varcorr()["std_error"], others.varcorr()["std_error"], rtol=1e-3
    )

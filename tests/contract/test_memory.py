"""Matrices that do not fit into memory are refused in words before they are made."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from seams import LINKS, METHODS, resolve

from ordstat import ElasticNet, OrdinalClassifier, checks, ordfit
from ordstat.exceptions import DataError, OptionError

ONLINE = ("prank", "siprank", "cusum", "pa-cusum", "kernel-prank", "kernel-cusum")
BAGS = (
    "bagging",
    "ordinal-bagging",
    "nominal-adaboost",
    "fixed-split-boosting",
    "ordinal-adaboost",
)
KERNELS = {
    **{
        name: {}
        for name in (
            "redsvm",
            "osvm",
            "svor-imc",
            "svor-exc",
            "rank-svm",
            "kernel-prank",
            "kernel-cusum",
        )
    },
    **{name: {} for name in ("ova", "csova", "csovo")},
    "kernel-clm": {"landmarks": "all"},
    "blend": {"members": ["kernel-prank"]},
}


@pytest.fixture(autouse=True)
def little_memory(monkeypatch):
    monkeypatch.setattr(checks, "available_memory", lambda: 2.0**28)


@cache
def _rows(n: int, n_levels: int) -> pd.DataFrame:
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 3))
    latent = X @ [1.0, -0.7, 0.3] + rng.logistic(size=n)
    return pd.DataFrame(X, columns=["a", "b", "c"]).assign(
        y=np.argsort(np.argsort(latent)) * n_levels // n
    )


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_matrix_that_does_not_fit(name):
    """16 bytes of each of 8000 x 8000 numbers are 0.95 GiB."""
    message = (
        r"kernel matrix of 8000 x 8000 rows needs 0.95 GiB, and 0.25 GiB are"
        r" available\..*landmarks=2000"
    )
    with pytest.raises(DataError, match=message):
        ordfit("y ~ a + b + c", _rows(8000, 4), name, **KERNELS[name])


def test_landmarks_need_no_kernel_matrix():
    assert ordfit(
        "y ~ a + b + c", _rows(8000, 4), "redsvm", landmarks=40
    ).certificate.reached
    with pytest.raises(
        DataError,
        match=r"8000 rows at 4000 landmarks needs 0.48 GiB.*Take fewer landmarks",
    ):
        ordfit("y ~ a + b + c", _rows(8000, 4), "redsvm", landmarks=4000)


#: Methods whose thresholds share second derivatives with their neighbours alone.
BANDED = ["clm", *LINKS, "cratio", "sratio"]


@pytest.mark.filterwarnings("ignore:Response y has:ordstat.exceptions.DataWarning")
@pytest.mark.parametrize(
    "name",
    [
        name
        for name, entry in METHODS.items()
        if not entry.method.supports.two_levels_only and name not in BANDED
    ],
)
def test_a_level_for_every_row(name):
    """48 bytes of each of 8000 x 8000 numbers are 2.9 GiB; time by pairs of levels has
    a bound of its own.
    """
    told = r"8000 levels needs 2.86 GiB.*Join lev|at most 300 levels.* got 8,000"
    with pytest.raises(DataError, match=told):
        ordfit("y ~ a + b + c", _rows(8000, 8000), name)


@pytest.mark.filterwarnings("ignore:Response y has:ordstat.exceptions.DataWarning")
@pytest.mark.parametrize("name", ["clm", "probit"])
def test_cumulative_models_take_a_level_for_every_row(name):
    fit = ordfit("y ~ a + b + c", _rows(8000, 8000), name)
    assert fit.certificate.reached
    assert fit.se.notna().all()


@pytest.mark.parametrize("name", [*ONLINE, *BAGS, "red-tree", "red-hgb"])
@pytest.mark.parametrize("weight", [1e6, 1e8, 1e12])
def test_heavy_rows_are_not_unrolled(name, weight):
    with pytest.raises(
        DataError,
        match=r"the sum of the weights|samples of so many rows cannot be drawn",
    ):
        ordfit("y ~ a + b + c", _rows(80, 4).assign(w=weight), name, weights="w")


@pytest.mark.parametrize("name", [name for name in ONLINE if resolve(name).incremental])
def test_a_batch_of_heavy_rows_is_refused_too(name):
    frame = _rows(80, 4)
    model = OrdinalClassifier(name).partial_fit(frame[["a", "b", "c"]], frame["y"])
    with pytest.raises(DataError, match="the sum of the weights"):
        model.partial_fit(
            frame[["a", "b", "c"]], frame["y"], sample_weight=np.full(80, 1e9)
        )


def test_extended_examples_that_do_not_fit():
    with pytest.raises(
        DataError,
        match=r"table of 639200 extended examples needs .*encoding='separate'",
    ):
        ordfit("y ~ a + b + c", _rows(800, 800), "red-tree")


def test_crossed_effects_that_do_not_fit():
    rng = np.random.default_rng(0)
    codes = {"y": rng.integers(0, 3, 20_000), "g": rng.integers(0, 9_000, 20_000)}
    crossed = pd.DataFrame(codes | {"h": rng.integers(0, 8_000, 20_000)})
    with pytest.raises(
        DataError,
        match=r"matrix of 7,\d{3} crossed random effects needs .*\(1 \| a/b\)",
    ):
        ordfit("y ~ 1 + (1 | g) + (1 | h)", crossed)
    nested = crossed.assign(h=crossed["g"] // 2)
    assert ordfit("y ~ 1 + (1 | g) + (1 | h)", nested).certificate.reached


def test_numbers_for_rows_and_levels_that_do_not_fit():
    """32 bytes of each of 8000 x 7999 numbers are 1.91 GiB; a fit, its standard errors
    and profile limits need none of them.
    """
    fit = ordfit("y ~ a", _rows(8000, 8000), levels="all")
    assert np.isfinite(fit.se["a"])
    assert np.isfinite(fit.confint(["a"], type="profile").to_numpy()).all()
    for question in (lambda: fit.predict(type="prob"), fit.errors):
        with pytest.raises(
            DataError, match=r"each of 8000 rows and 8000 levels needs 1\.91 GiB"
        ):
            question()
    with pytest.raises(DataError, match=r"matrix of 8000 parameters needs .*GiB"):
        fit.vcov()


def test_force_is_gone():
    with pytest.raises(OptionError, match="force"):
        ordfit("y ~ a", _rows(80, 4), "redsvm", force=True)


def _wide(p: int) -> tuple[pd.DataFrame, np.ndarray]:
    X = pd.DataFrame(np.random.default_rng(p).normal(size=(30, p))).add_prefix("x")
    return X, np.arange(30) % 3


def test_the_information_of_many_columns_that_does_not_fit():
    message = (
        r"information of 2,100 columns needs 0\.26 GiB, .*\. Choose fewer columns, or"
        r" give the same ridge as ElasticNet\(l1_ratio=0, lambdas=0\.1\)"
    )
    with pytest.raises(DataError, match=message):
        OrdinalClassifier("logit", penalty=3.0).fit(*_wide(2_100))


def test_groups_of_many_columns_that_do_not_fit():
    X, y = _wide(3_400)
    X["f"] = pd.Categorical.from_codes(np.arange(30) // 2 % 3, ["a", "b", "c"])
    net = ElasticNet(lambdas=0.2)
    with pytest.raises(DataError, match=r"groups needs 0\.26 GiB, .*groups=False"):
        OrdinalClassifier("logit", penalty=net).fit(X, y)
    one_by_one = ElasticNet(lambdas=0.2, groups=False)
    assert OrdinalClassifier("logit", penalty=one_by_one).fit(X, y).results_.converged

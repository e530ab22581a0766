"""The dual forms: equal to the primal ones under a linear kernel, to explicit features
under others, in batches.
"""

import numpy as np
import pandas as pd
import pytest
from expected import refused
from seams import Rows, Sample

from ordstat import (
    CuSumRank,
    DataError,
    Gaussian,
    KernelCuSumRank,
    KernelPRank,
    PRank,
    ordfit,
)
from ordstat.kernels import Kernel, parse_kernel

from .samples import K, frame, sample, separable
from .test_online import STREAM

RNG = np.random.default_rng(0)

PAIRS = {
    "prank": (PRank, KernelPRank, {}),
    "cusum": (CuSumRank, KernelCuSumRank, {}),
    "pa-cusum": (CuSumRank, KernelCuSumRank, {"update": "passive-aggressive"}),
}


def gaps(fit) -> np.ndarray:
    """(N, K-1) values compared with 0."""
    rule = fit.rule
    return (
        fit.scores[:, None] - rule.theta
        if hasattr(rule, "theta")
        else np.diff(fit.scores, axis=1)
    )


@pytest.mark.parametrize("margin", [0.0, 0.75])
@pytest.mark.parametrize("keep", ["mean", "last"])
@pytest.mark.parametrize("name", PAIRS)
def test_a_linear_kernel_gives_the_primal_form(name, keep, margin):
    primal, dual, options = PAIRS[name]
    s = sample()
    shared = {
        "epochs": 4,
        "keep": keep,
        "margin": margin,
        **STREAM,
        **options,
    }
    one = primal(**shared).fit(s, RNG)
    other = dual(kernel="linear", **shared).fit(s, RNG)
    np.testing.assert_allclose(gaps(one), gaps(other), rtol=1e-9, atol=1e-9)
    assert one.learned.tally.distance == other.learned.tally.distance
    assert one.certificate.value == pytest.approx(other.certificate.value, rel=1e-9)


@pytest.mark.parametrize("name", PAIRS)
def test_the_mistake_bound_is_that_of_the_primal_form(name):
    primal, dual, options = PAIRS[name]
    s = separable(40)
    one, other = (
        method.mistake_bound(s, method.fit(s, np.random.default_rng(1)))
        for method in (primal(**options), dual(kernel="linear", **options))
    )
    assert 0 < other.value <= other.limit
    assert other.limit == pytest.approx(one.limit, rel=1e-6)
    assert other.radius == pytest.approx(one.radius, rel=1e-9)


def features(kernel: Kernel, X: np.ndarray) -> np.ndarray:
    """Rows whose scalar products are |x| + |x'| - |x - x'|, or the kernel's own values,
    by a Cholesky factor.
    """
    if kernel.conditionally_definite:
        length = {
            "perceptron": np.linalg.norm,
            "stump": lambda d, axis: np.abs(d).sum(axis),
        }[kernel.name]
        apart = length(X[:, None] - X, axis=2)
        gram = length(X, axis=1)[:, None] + length(X, axis=1) - apart
    else:
        gram = np.exp(-0.2 * np.square(X[:, None] - X).sum(axis=2))
    return np.linalg.cholesky(gram)


@pytest.mark.parametrize(
    "kernel", ["perceptron", "stump", Gaussian(gamma=0.2)], ids=str
)
@pytest.mark.parametrize("name", PAIRS)
def test_a_kernel_is_the_primal_form_on_its_features(name, kernel):
    primal, dual, options = PAIRS[name]
    # in one quadrant, where the stump kernel has no ties
    X = np.random.default_rng(3).uniform(0.5, 3.0, (30, 2))
    y = sample(30).y
    shared = {"epochs": 5, **STREAM, **options}
    Z = features(parse_kernel(kernel), X)
    one = primal(**shared).fit(Sample(rows=Rows(X=Z), y=y, n_levels=K), RNG)
    other = dual(kernel=kernel, **shared).fit(
        Sample(rows=Rows(X=X), y=y, n_levels=K), RNG
    )
    np.testing.assert_allclose(gaps(one), gaps(other), rtol=1e-6, atol=1e-8)
    if name == "prank":
        assert other.rule.potential.squared_norm == pytest.approx(
            one.rule.potential.squared_norm, rel=1e-6
        )


@pytest.mark.parametrize("name", ["kernel-prank", "kernel-cusum"])
def test_a_precomputed_kernel(name):
    data = frame(40)
    X = data[["a", "b", "c"]].to_numpy()
    gram = pd.DataFrame(
        np.exp(-0.2 * np.square(X[:, None] - X).sum(axis=2))
    ).add_prefix("k")
    formula = f"y ~ {' + '.join(gram.columns)}"
    table = gram.assign(y=data["y"])
    fit = ordfit(formula, table, name, kernel="precomputed", scaling=None)
    new = pd.concat([gram, gram[:5] * 0.5])
    assert fit.predict(new)[:40].tolist() == fit.predict().tolist()
    broken = table.assign(k0=-table["k0"], k1=table["k1"] * 3)
    with pytest.raises(DataError, match="symmetric"):
        ordfit(formula, broken, name, kernel="precomputed", scaling=None)
    with refused("scaling"):
        ordfit(formula, table, name, kernel="precomputed")


def test_support_rows_are_those_with_a_coefficient():
    fit = ordfit("y ~ a + b + c", frame(60), "kernel-prank", keep="last", epochs=2)
    potential = fit.fit.rule.potential
    assert len(fit.support) == len(potential.coef) < 60
    np.testing.assert_array_equal(
        potential.anchors, potential.scaling(fit.design.sample.X)[fit.fit.support]
    )

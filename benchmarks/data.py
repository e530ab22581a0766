"""Simulated data of both suites."""

from __future__ import annotations

import numpy as np
import pandas as pd


def cumulative_logit(n: int, p: int, K: int, seed: int = 1) -> pd.DataFrame:
    """Normal columns x1..xp, logistic latent variable cut at quantiles of its
    distribution into K levels.
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    beta = rng.normal(0.0, 1.0, p) / np.sqrt(p)
    latent = X @ beta + rng.logistic(size=n)
    cuts = np.quantile(latent, np.arange(1, K) / K)
    frame = pd.DataFrame(X, columns=[f"x{j + 1}" for j in range(p)])
    frame["y"] = np.searchsorted(cuts, latent) + 1
    return frame


def with_factors(n: int, K: int = 5, seed: int = 1) -> pd.DataFrame:
    """`cumulative_logit` of 8 columns, with codes of factors of 4 and 6 levels as x9
    and x10, which is nominal.
    """
    rng = np.random.default_rng(seed)
    frame = cumulative_logit(n, 8, K, seed)
    latent = frame.pop("y").to_numpy() + rng.logistic(size=n)
    frame["x9"], frame["x10"] = rng.integers(1, 5, n), rng.integers(1, 7, n)
    latent += 0.3 * frame["x9"] + 0.2 * frame["x10"] * (latent > latent.mean())
    frame["y"] = np.searchsorted(np.quantile(latent, np.arange(1, K) / K), latent) + 1
    return frame


def smooth_utility(
    N: int, K: int, D: int = 8, seed: int = 2
) -> tuple[np.ndarray, np.ndarray]:
    """D Gaussian features, a smooth utility plus noise cut at quantiles: X (N, D) and
    codes (N,).
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, D))
    utility = (
        np.sin(X[:, 0])
        + X[:, 1] * X[:, 2] / 2
        + X[:, 3] ** 2 / 3
        + X[:, 4:].sum(axis=1) / 4
    )
    utility = utility + 0.3 * rng.standard_normal(N)
    cuts = np.quantile(utility, np.arange(1, K) / K)
    return X, np.searchsorted(cuts, utility).astype(np.intp)


def linear_utility(
    n: int, p: int, K: int, seed: int = 4
) -> tuple[np.ndarray, np.ndarray]:
    """Normal columns and a linear utility with a little logistic noise, cut at
    quantiles: X (n, p) and codes (n,).
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    utility = X @ rng.normal(size=p) / np.sqrt(p) + 0.3 * rng.logistic(size=n)
    cuts = np.quantile(utility, np.arange(1, K) / K)
    return X, np.searchsorted(cuts, utility).astype(np.intp)

"""Rows of a known cumulative logit model."""

import numpy as np
import pandas as pd
from scipy.special import expit

BETA = np.array([1.2, -0.8])
THETA = np.array([-1.5, 0.2, 1.8])


def latent(n, seed, theta=THETA, weights=False):
    """Columns x1, x2, y in 1..K and w, in an order of no meaning."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    codes = np.searchsorted(theta, X @ BETA + rng.logistic(size=n))
    y = pd.Categorical(codes + 1, categories=range(1, len(theta) + 2), ordered=True)
    return pd.DataFrame(
        {"x1": X[:, 0], "x2": X[:, 1], "w": rng.integers(1, 4, n), "y": y}
    )


def truth(frame, theta=THETA):
    """(N, K) probabilities that `latent` drew from."""
    below = expit(theta - (frame[["x1", "x2"]].to_numpy() @ BETA)[:, None])
    return np.diff(
        np.hstack([np.zeros((len(frame), 1)), below, np.ones((len(frame), 1))]), axis=1
    )


def log_loss(p, y):
    """Mean -log of the probability of the true level."""
    return -float(
        np.log(np.asarray(p)[np.arange(len(p)), np.asarray(y.cat.codes)]).mean()
    )


def brier(p, y):
    """Mean squared distance of the probabilities from the truth."""
    p = np.asarray(p)
    return float(
        np.square(p - np.eye(p.shape[1])[np.asarray(y.cat.codes)]).sum(axis=1).mean()
    )

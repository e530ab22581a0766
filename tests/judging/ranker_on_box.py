"""A ranker whose scores, lengths and thresholds are known by hand."""

import math
from dataclasses import replace

import numpy as np
from seams import BallGeometry, Rows, Sample


def ranker_on_box(rng, n, n_levels, dimension=2, noise=0.1):
    """Rows of the box [-1, 1]^D, cut by a linear utility, and a ridge ranker with
    thresholds between mean scores: sample, coefficients, thresholds and geometry.
    """
    X = rng.uniform(-1, 1, size=(n, dimension))
    utility = X.mean(axis=1) + noise * rng.normal(size=n)
    y = np.searchsorted(np.linspace(-0.5, 0.5, n_levels + 1)[1:-1], utility)
    if np.unique(y).size < n_levels:
        return ranker_on_box(rng, n, n_levels, dimension, noise)
    v = np.linalg.solve(X.T @ X + 1e-3 * np.eye(dimension), X.T @ (y - y.mean()))
    means = np.array([(X @ v)[y == k].mean() for k in range(n_levels)])
    theta = np.sort((means[1:] + means[:-1]) / 2)
    geometry = BallGeometry(
        norm=float(np.linalg.norm(v)),
        squared_lengths=(X**2).sum(axis=1),
        theta=theta,
        radius=math.sqrt(dimension + 1),
    )
    return Sample(rows=Rows(X=X), y=y, n_levels=n_levels), v, theta, geometry


def weighted_and_repeated(sample, geometry, weights):
    """The sample with whole weights, and sample and geometry with repeated rows."""
    rows = np.repeat(np.arange(sample.n), weights)
    weighted = replace(sample, weights=weights.astype(float))
    longer = replace(geometry, squared_lengths=geometry.squared_lengths[rows])
    return weighted, sample.take(rows), longer

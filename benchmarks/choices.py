"""`python -m benchmarks tocuco --choose`: numbers of `blend` and `kernel-clm`, chosen
on training rows of TOC-UCO alone.

The training rows of a split of each set are parted, three quarters to fit and a quarter
to judge; no test row is read. The numbers compared were fixed before the first fit, but
20 of "ridge" was added when 12, the largest, was best with other seeds. The one with
the smallest mean ranked probability score is taken; of level ones that with the smaller
log loss.

- "lead": by how many standard errors a default member of `blend` must lead the equal
  average to be used alone.
- "ridge": how strongly weights of `blend` with trees of each threshold are kept equal
  at most, in smallest held-out scores; inf keeps them equal as without these trees.
- "near": the share of the best gain of evidence within which kernels of `kernel-clm` go
  on to more landmarks. `blend` of up to 2000 rows has no more, so that there it has no
  effect; here `kernel-clm` is fitted by itself.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from typing import NamedTuple
from unittest.mock import patch

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from benchmarks import tocuco
from benchmarks.alone import LEADS
from ordstat import Blend, KernelCumulativeLink
from ordstat.formula.sample import Rows, Sample
from ordstat.method import Method
from ordstat.prediction import blend, kernel_clm

SPLITS = range(5, 10)
_JUDGED = 0.25
_LEADS = (*LEADS, np.inf)
_RIDGES = (0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0, np.inf)
_SHARES = (0.0, 0.02, 0.05, 0.1, np.inf)
_FOLDS = 2


def parted(name: str, split: int) -> tuple[Sample, Sample]:
    """Rows to fit and rows to judge, all training rows of the split."""
    X, y = tocuco.table(name)
    training, _ = tocuco.parts(y, split)
    halves = train_test_split(
        training, test_size=_JUDGED, stratify=y[training], random_state=split
    )
    fitted, judged = (
        Sample(rows=Rows(X=X[rows]), y=y[rows], n_levels=int(y.max()) + 1)
        for rows in halves
    )
    return fitted, judged


class Evidence(NamedTuple):
    """What `blend` weights its members by, and what they predict.

    Attributes
    ----------
    lead : float
        Standard errors by which the best default member beats the equal average.
    found : HeldOutForecasts
    more : tuple of Method
        Trees of each threshold, if they join.
    above : (M, N, K-1)
        P(y > k) of the rows to judge.
    """

    lead: float
    found: blend.HeldOutForecasts
    more: tuple[Method, ...]
    above: np.ndarray

    def blended(self, weights: blend.MemberWeights, least: float) -> np.ndarray:
        """P(y > k) (N, K-1) by some weights, if a member alone must lead by `least`."""
        weights = blend.alone_if_clear(weights, self.lead, least)
        return np.tensordot(weights.shares, self.above, axes=1)


@lru_cache(maxsize=1)
def evidence(fitted: Sample, rows: Rows, seed: int) -> Evidence:
    """The evidence of a part of the training rows."""
    methods = Blend().methods(fitted)
    seeds = np.arange(len(methods)) + seed
    members = [
        blend.fitted_member(method, fitted, np.random.default_rng(own))
        for method, own in zip(methods, seeds, strict=True)
    ]
    settled = [blend.settled_method(chosen, one.fit) for one, chosen in members]
    rng = np.random.default_rng(seed)
    found = blend.held_out_by(fitted, settled, seeds, rng, _FOLDS)
    assert found is not None
    joined, more = blend.with_threshold_trees(found, settled, seeds)
    members += [
        blend.fitted_member(method, fitted, np.random.default_rng(seeds[0]))
        for method in more
    ]
    above = np.stack([member(rows) for member, _ in members])
    return Evidence(found.lead[1], joined, more, above)


def of_leads(fitted: Sample, rows: Rows, seed: int) -> Iterator[np.ndarray]:
    """P(y > k) (N, K-1) of other rows, by each lead."""
    known = evidence(fitted, rows, seed)
    weights = blend.weights_with(known.found, known.more)
    for least in _LEADS:
        yield known.blended(weights, least)


def of_ridges(fitted: Sample, rows: Rows, seed: int) -> Iterator[np.ndarray]:
    """P(y > k) (N, K-1) of other rows, by each ridge."""
    known = evidence(fitted, rows, seed)
    for number in _RIDGES:
        weights = blend.weights_with(known.found, known.more, number)
        yield known.blended(weights, blend._CLEARLY)


def of_shares(fitted: Sample, rows: Rows, seed: int) -> Iterator[np.ndarray]:
    """P(y > k) (N, K-1) of other rows, by each share."""
    for share in _SHARES:
        with patch.object(kernel_clm, "_NEAR", share):
            rng = np.random.default_rng(seed)
            yield blend.fitted_member(KernelCumulativeLink(), fitted, rng)[0](rows)


_CHOICES = {
    "lead": (_LEADS, of_leads),
    "ridge": (_RIDGES, of_ridges),
    "near": (_SHARES, of_shares),
}


def judged(above: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Held-out scores of P(y > k) (N, K-1)."""
    happened = y[:, None] > np.arange(above.shape[1])
    observed = tocuco.levels_of(above)[np.arange(y.size), y]
    return {
        "rps": float(np.square(above - happened).sum(axis=1).mean()),
        "log_loss": float(-np.log(np.maximum(observed, 1e-6)).mean()),
        "mae": float(np.abs((above > 0.5).sum(axis=1) - y).mean()),
    }


def run(quick: bool = False) -> list[dict[str, object]]:
    """One row a number: mean scores over all parts, and in how many parts the ranked
    probability score is not that of the largest number.
    """
    rows = []
    for split, name in product(SPLITS[:1] if quick else SPLITS, tocuco.SETS):
        fitted, new = parted(name, split)
        print(name, split, file=sys.stderr, flush=True)
        for choice, (numbers, forecasts) in _CHOICES.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = [judged(P, new.y) for P in forecasts(fitted, new.rows, split)]
            rows += [
                {"choice": choice, "number": number, **scores}
                | {"other": scores["rps"] != found[-1]["rps"]}
                for number, scores in zip(numbers, found, strict=True)
            ]
    grouped = pd.DataFrame(rows).groupby(["choice", "number"])
    means = grouped.mean().assign(other=grouped["other"].sum(), parts=grouped.size())
    return means.reset_index().to_dict("records")

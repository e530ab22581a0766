"""How full the factor of crossed random effects gets: why a sparse elimination of large crossed terms gains little.

Two crossed terms of G groups, each row of a random pair; what elimination of the first leaves of the second is factored
by SuperLU, its columns in order of minimum degree, and densely.
"""

from __future__ import annotations

import time

import numpy as np
from scipy.linalg.lapack import dpotrf
from scipy.sparse import csc_matrix, csr_matrix, diags
from scipy.sparse.linalg import splu

CURVATURE = 0.2
#: Groups whose dense matrix is left alone, 3.2 GB of them: the sparse factor is timed by itself.
LARGE = 20_000


def run(quick: bool = False) -> list[dict[str, float]]:
    """One row a number of groups and of rows a group: entries of the factor as a share of a dense one, and seconds."""
    sizes = (1000,) if quick else (2000, 4000)
    small = [_row(groups, rows) for groups in sizes for rows in (1.5, 2.0, 3.0, 5.0, 10.0)]
    return small if quick else [*small, *(_row(LARGE, rows) for rows in (1.5, 2.0, 3.0))]


def _row(groups: int, rows: float) -> dict[str, float]:
    rng = np.random.default_rng(0)
    n = int(rows * groups)
    g, h = rng.integers(0, groups, (2, n))
    B = csr_matrix((np.full(n, CURVATURE), (g, h)), shape=(groups, groups))
    first, second = (1.0 + CURVATURE * np.bincount(own, minlength=groups) for own in (g, h))
    S = (diags(second) - B.T @ diags(1.0 / first) @ B).tocsc()
    start = time.process_time()
    options = {"SymmetricMode": True}
    factor = splu(S, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
    sparse = time.process_time() - start
    return {
        "groups": groups,
        "rows a group": rows,
        "share of dense": factor.L.nnz / (0.5 * groups**2),
        "sparse": sparse,
        "dense": _dense(S) if groups < LARGE else float("nan"),
    }


def _dense(S: csc_matrix) -> float:
    """Seconds of a dense factor."""
    dense = S.toarray()
    start = time.process_time()
    dpotrf(dense, lower=1, overwrite_a=1)
    return time.process_time() - start

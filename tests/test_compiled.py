"""Compiled loops refuse arrays that do not fit each other: they would read and write
beyond their ends.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ordstat
from ordstat.compiled import (
    boost,
    descent,
    forest,
    mixed,
    online,
    sums,
    svm,
    trees,
    weak,
)

N = 6
D = 2
K = 3
X = np.arange(12.0).reshape(N, D)
Y = np.array([0, 1, 2, 0, 1, 2])
SHORT = Y.astype(np.uint16)
ROWS = np.arange(N)
COSTS = np.abs(np.subtract.outer(np.arange(K), np.arange(K))).astype(float)
THETA = np.array([-1.0, 1.0])
ORDER = np.argsort(X, axis=0).T.astype(np.int32).copy()
DISTINCT = np.ones((D, N - 1), dtype=np.uint8)
LEAF = np.array([-1], dtype=np.int32)


def ones(*shape):
    return np.ones(shape)


#: A call of each loop, and the places of the arguments of any length.
CALLS = {
    "prank_pass": (
        online.prank_pass,
        lambda: [
            *(
                X,
                ones(2),
                ones(2),
                Y,
                COSTS,
                Y,
                ones(N),
                ROWS,
                0.0,
                ones(4),
                ones(4),
                ones(4),
                ones(4),
                ones(4),
            ),
            *(0, ones(4)),
        ],
        {4, 7},
    ),
    "cusum_pass": (
        online.cusum_pass,
        lambda: [
            X,
            ones(2),
            ones(2),
            Y,
            COSTS,
            Y,
            ROWS,
            0.0,
            False,
            ones(2, 3),
            ones(2, 3),
            ones(4),
            0,
            ones(4),
        ],
        {4, 6},
    ),
    "kernel_prank_pass": (
        online.kernel_prank_pass,
        lambda: [
            *(
                X @ X.T,
                Y,
                COSTS,
                Y,
                ROWS,
                0.0,
                ones(N),
                ones(N),
                ones(2),
                ones(2),
                ones(N),
                ones(2),
                0,
                ones(4),
            )
        ],
        {2, 4},
    ),
    "kernel_cusum_pass": (
        online.kernel_cusum_pass,
        lambda: [
            *(
                X @ X.T,
                Y,
                COSTS,
                Y,
                ROWS,
                0.0,
                False,
                ones(2, N),
                ones(2, N),
                ones(2, N),
                ones(2),
                0,
                ones(4),
            )
        ],
        {2, 4},
    ),
    "pairs_below": (
        svm.pairs_below,
        lambda: [np.arange(6.0), Y, ones(N), X, ones(N, 5), np.zeros((K, 5))],
        {5},
    ),
    "best_cut": (weak.best_cut, lambda: [ORDER, DISTINCT, ones(N), 0.0], set()),
    "best_column": (
        weak.best_column,
        lambda: [ORDER, DISTINCT, ones(D, N + 1), ones(N, 2), 0.0],
        set(),
    ),
    "climb": (
        weak.climb,
        lambda: [X.T.copy(), LEAF, ones(N), 0.0, ones(N), ones(1)],
        {0},
    ),
    "find_leaves": (
        trees.find_leaves,
        lambda: [
            X,
            LEAF + 1,
            LEAF.repeat(2),
            ones(2),
            LEAF.repeat(2),
            np.zeros((N, 1), dtype=np.int32),
        ],
        set(),
    ),
    "add_shares": (
        forest.add_shares,
        lambda: [
            X.T.astype(np.float32, order="C"),
            LEAF,
            np.zeros(1, dtype=np.uint8),
            np.ones(1, dtype=np.float32),
            np.full((1, 2), -1, dtype=np.int16),
            ones(1, 2),
            ones(N, 2),
        ],
        {0, 1, 5},
    ),
    "grow_tree": (
        forest.grow_tree,
        lambda: [
            X.T.astype(np.float32, order="C"),
            Y.astype(np.int32),
            ones(N),
            K,
            1,
            1,
            5,
            np.zeros(N - 1, dtype=np.int32),
            np.zeros(N - 1, dtype=np.float32),
            np.zeros((N - 1, 2), dtype=np.int32),
            ones(N, K - 1),
            ones(D),
        ],
        set(),
    ),
    "logit_slopes": (
        boost.logit_slopes,
        lambda: [SHORT, ones(N), THETA, ones(N), ones(N), ones(N)],
        {2},
    ),
    "logit_thresholds": (
        boost.logit_thresholds,
        lambda: [SHORT, ones(N), THETA, ones(N), ones(2), ones(2), ones(2)],
        set(),
    ),
    "location_terms": (
        mixed.location_terms,
        lambda: [1, *(ones(N) for _ in range(8))],
        set(),
    ),
    "coupled": (
        mixed.coupled,
        lambda: [np.array([0, 2]), np.arange(2), ones(2), ones(2, 2), ones(2)],
        {0, 3},
    ),
    "minimise": (
        descent.minimise,
        lambda: [
            *(ones(3, 3), np.array([0, 1, 3]), ones(2), ones(2), ones(2)),
            *(-ones(3), ones(3), ones(3), ones(3), 1e-9, 1),
            *(ones(3, 3), np.zeros(4, dtype=np.intp)),
        ],
        set(),
    ),
    "add_by": (sums.add_by, lambda: [Y, X, ones(N), ones(K, D)], {3}),
    "stage_sums": (
        sums.stage_sums,
        lambda: [
            *(X, ones(N, 2), ones(N, 1), Y, ones(N), ones(N), ones(N)),
            *(ones(D + 2), ones(D + 2), ones(2, 1), ones(D + 2), 1e10, 100.0, 1, False),
            *(ones(2, 1), ones(2, 1, 1), ones(2, 1, D + 2), ones(D + 2)),
            *(ones(D + 2, D + 2), True),
        ],
        set(),
    ),
    "level_sums": (
        sums.level_sums,
        lambda: [
            *(X, ones(N, 2), Y, ones(N), ones(N), ones(D), ones(D), ones(2, 2)),
            *(ones(D), True, ones(2, 2), ones(3, 3), ones(2, 2, D), ones(D)),
            *(ones(D, D), True),
        ],
        set(),
    ),
    "spreads": (sums.spreads, lambda: [X, ones(N), ones(D), ones(D), ones(D)], set()),
    "gather": (
        sums.gather,
        lambda: [[ones(N), ones(N)], np.arange(2), ones(N, 2), ones(2)],
        set(),
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_arrays_that_do_not_fit_are_refused_at_the_entry(name):
    loop, arguments, free = CALLS[name]
    loop(*arguments())
    places = [
        place
        for place, given in enumerate(arguments())
        if hasattr(given, "__len__") and place not in free
    ]
    assert places
    for place in places:
        shortened = arguments()
        shortened[place] = shortened[place][:-1]
        with pytest.raises(
            ValueError, match=f"^{name}: the arrays must have the lengths"
        ):
            loop(*shortened)


def test_a_source_tree_that_is_not_built_says_what_to_do(tmp_path):
    ignored = shutil.ignore_patterns("*.so", "__pycache__")
    shutil.copytree(Path(ordstat.__file__).parent, tmp_path / "ordstat", ignore=ignored)
    run = subprocess.run(
        [sys.executable, "-c", "import ordstat; ordstat.ordfit"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert run.stderr.splitlines()[-1].startswith(
        "ImportError: ordstat is not built in this folder. Run `pip install"
    )

"""Clarabel through cvxpy: one way to call it, and to go on where it ends with nothing."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .gram import cvxpy

# Clarabel's own tolerance; the outcome's certificate is what counts.
_TOLERANCE = 1e-10


def solve(model: Any, tol: float) -> int:
    """Solve a cvxpy problem in place, and tell the iterations.

    Where Clarabel ends without an iterate, as for a vast C, the variables are 0: the caller's certificate of that says
    that the optimum was missed.
    """
    cp = cvxpy()
    own, failed = min(tol, _TOLERANCE), False
    try:
        with warnings.catch_warnings():
            # "Solution may be inaccurate": the certificate says by how much.
            warnings.simplefilter("ignore", UserWarning)
            model.solve(solver=cp.CLARABEL, tol_gap_abs=own, tol_gap_rel=own)
    except cp.SolverError:
        failed = True
    for variable in model.variables():
        if failed or variable.value is None:
            variable.value = np.zeros(variable.shape)
    return 0 if failed else int(model.solver_stats.num_iters)

"""Smooth terms of a fit: their tests and their curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..checks import fraction
from ..likelihood.standard_errors import symmetric_limits
from ..likelihood.unavailable import check_available
from ..report.frames import NotedFrame

if TYPE_CHECKING:
    from ..likelihood.results import LikelihoodResults

#: Points of a curve.
_POINTS = 100
_NOTE = (
    "p: the curve is 0 throughout [Wood 2013]; smoothing parameters count as known. An"
    " edf of 1 is a straight line."
)


def smooth_tests(r: LikelihoodResults) -> NotedFrame:
    """Degrees of freedom and test of every smooth; see `LikelihoodResults.smooths`."""
    check_available(r, "smooths()")
    found = r.fit.smooths
    assert found is not None
    table = pd.DataFrame(
        {
            "edf": found.edf,
            "ref_df": found.reference_df,
            "chisq": found.statistic,
            "p_value": found.p_value,
            "lambda": found.lambdas,
        },
        index=[smooth.label for smooth in r.design.smooths],
    )
    formats = {"edf": ".2f", "ref_df": ".2f", "chisq": ".2f", "lambda": ".4g"}
    return NotedFrame.of(table, [_NOTE], "Smooth terms", formats)


def smooth_curves(r: LikelihoodResults, level: float) -> pd.DataFrame:
    """The curve of every smooth over the values of its variable, with limits.

    The curve adds up to 0 over the rows of the fit; its limits are those of the curve
    alone, without the thresholds, and count that the smoothness is estimated.
    """
    check_available(r, "smooths()")
    fraction("level", level)
    location = r.parameters.of("location")
    kept = ~r.fit.aliased
    positions = np.cumsum(kept) - 1
    covariance = np.array(r.fixed_covariance)
    assert r.fit.smooths is not None
    of_effects = positions[location[kept[location]]]
    covariance[np.ix_(of_effects, of_effects)] += r.fit.smooths.added_covariance
    frames = []
    blocks = r.design.sample.smooths or ()
    for smooth, block in zip(r.design.smooths, blocks, strict=True):
        places = location[block.columns]
        inside = positions[places]
        state: Any = r.design.spec.states[smooth.factor.key]
        low, high = state.ends
        x = np.linspace(low, high, _POINTS)
        basis = state(x)
        estimate = basis @ r.fit.coefficients[places]
        own = covariance[np.ix_(inside, inside)]
        errors = np.sqrt(np.einsum("ij,jk,ik->i", basis, own, basis))
        lower, upper = symmetric_limits(
            estimate, errors, level, np.full(x.size, np.inf)
        )
        frames.append(
            pd.DataFrame(
                {
                    "smooth": smooth.label,
                    "x": x,
                    "estimate": estimate,
                    "std_error": errors,
                    "lower": lower,
                    "upper": upper,
                }
            )
        )
    return pd.concat(frames, ignore_index=True)

"""Smooth terms of a fit: their tests and their curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._typing import FloatArray
from ..checks import fraction
from ..likelihood.standard_errors import symmetric_limits
from ..likelihood.unavailable import check_available
from ..report.frames import NotedFrame

if TYPE_CHECKING:
    from ..formula.smooths import SmoothBlock, SmoothTerm
    from ..likelihood.results import LikelihoodResults

#: Points of a curve.
_POINTS = 100
_NOTE = (
    "p: test that the curve is 0 throughout [Wood 2013], with smoothing parameters"
    " treated as known. An edf of 1 is a straight line."
)
_ORDERED_NOTE = (
    "smooth(x): an edf of 0 is no effect; p: test that all levels have the same effect"
    " [Wood 2013, Biometrika 100, 1005]."
)
_GROUP_NOTE = (
    "re(g): sd is the standard deviation of the effects of groups, by {}; p: test that"
    " it is 0 [Wood 2013, Biometrika 100, 1005]."
)


def smooth_tests(r: LikelihoodResults) -> NotedFrame:
    """Effective degrees of freedom and test of every smooth; see
    `LikelihoodResults.smooths`.
    """
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
    random = np.array([smooth.random for smooth in r.design.smooths])
    if random.any():
        table.insert(2, "sd", np.where(random, 1.0 / np.sqrt(found.lambdas), np.nan))
    formats = {
        "edf": ".2f",
        "ref_df": ".2f",
        "chisq": ".2f",
        "lambda": ".4g",
        "sd": ".3f",
    }
    curves = any(not smooth.levels for smooth in r.design.smooths)
    notes = [*([_NOTE] if curves else []), *level_effect_notes(r)]
    return NotedFrame.of(table, notes, "Smooth terms", formats)


def level_effect_notes(r: LikelihoodResults) -> list[str]:
    """Notes on smooth terms of ordered predictors, and on random effects, if there are
    any.
    """
    ordered = any(smooth.ordered for smooth in r.design.smooths)
    random = any(smooth.random for smooth in r.design.smooths)
    notes = [_ORDERED_NOTE] if ordered else []
    if random:
        notes.append(_GROUP_NOTE.format(r.method.smoothness))
    return notes


def curve_notes(r: LikelihoodResults) -> list[str]:
    """Notes on the coefficients of curves and on the effects of groups, for a table
    that does not print them.
    """
    if r.fit.smooths is None:
        return []
    curves, groups = [], []
    count = 0
    blocks = r.design.sample.smooths or ()
    for smooth, block, edf in zip(
        r.design.smooths, blocks, r.fit.smooths.edf, strict=True
    ):
        words = f"{smooth.label} edf {edf:.2f}"
        if smooth.random:
            groups.append(f"those of {len(smooth.levels)} groups, {words}")
        elif not smooth.levels:
            curves.append(words)
            count += block.columns.size
    notes = []
    if curves:
        notes.append(
            f"Not printed: {count} coefficients of curves, without meaning one by one"
            f" ({', '.join(curves)}; 1 is a straight line). Use .smooths() for tests,"
            " .plot.smooths() for the curves."
        )
    if groups:
        notes.append(
            f"Not printed: random effects, {'; '.join(groups)}. Use .smooths() for"
            " their standard deviation, .smooth_curves() for the effects."
        )
    return notes


def smooth_curves(r: LikelihoodResults, level: float) -> pd.DataFrame:
    """The curve of every smooth over the values of its variable, or the effects of the
    levels of an ordered predictor, with confidence limits.

    The curve sums to 0 over the rows of the fit. Confidence limits are those of the
    curve without the thresholds, and allow for the estimated smoothing parameter.
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
        x, basis = _points(r, smooth, block)
        estimate = basis @ r.fit.coefficients[places]
        own = covariance[np.ix_(inside, inside)]
        errors = np.sqrt(np.einsum("ij,jk,ik->i", basis, own, basis))
        lower, upper = symmetric_limits(
            estimate, errors, level, np.full(estimate.size, np.inf)
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


def _points(
    r: LikelihoodResults, smooth: SmoothTerm, block: SmoothBlock
) -> tuple[Any, FloatArray]:
    """Values of the variable, and the columns of the smooth there, which add up to 0
    over the rows of the fit, those of random effects over the groups.
    """
    if not smooth.levels:
        state: Any = r.design.spec.states[smooth.factor.key]
        low, high = state.ends
        x = np.linspace(low, high, _POINTS)
        return x, state(x)
    levels = r.design.spec.codings[smooth.factor.key].matrix
    assert levels is not None
    if smooth.random:
        return list(smooth.levels), levels
    sample = r.design.sample
    columns = sample.X[:, block.columns]
    mean = np.average(columns, axis=0, weights=sample.weights)
    return list(smooth.levels), np.asarray(levels - mean)

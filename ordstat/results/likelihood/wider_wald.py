"""Proportional odds and equal scale by Wald tests in wider fits, beside robust errors."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from ..._typing import FloatArray, IntArray
from ...exceptions import OrdstatWarning
from ..refit import updated
from .fitted import FittedLikelihood
from .joint_tests import Joint, joint_frame, joint_test, with_words, zero
from .single_terms import check_rows

_TITLES = {"nominal": "Wald tests of equal effects at all thresholds", "scale": "Wald tests of equal scale"}


def extended_by_wald(r: FittedLikelihood, role: str, old: Iterable[str], terms: Sequence[str]) -> pd.DataFrame:
    """Each term's nominal effects are equal, or its log-scale effects 0, in the fit that has them.

    Parameters
    ----------
    role : {"nominal", "scale"}
    old : iterable of str
        Terms that the formula of this role has already.
    """
    test = _equal if role == "nominal" else _none
    texts, before = r.design.spec.marginality().texts, "~ . + " if list(old) else "~ "
    tests = {}
    for term in terms:
        with warnings.catch_warnings():  # of models that are only tried; what has no test is told
            warnings.simplefilter("ignore", OrdstatWarning)
            wider: FittedLikelihood = updated(r, start=None, **{role: before + texts.get(term, term)})
        check_rows(r.design, wider.design, term)
        tests[term] = test(wider, term)
    return with_words(joint_frame(tests, tests.values()), _TITLES[role], r.own_covariance)


def _none(wider: FittedLikelihood, term: str) -> Joint:
    return zero(wider, wider.parameters.of("scale")[wider.design.scale_terms[term]])


def _equal(wider: FittedLikelihood, term: str) -> Joint:
    columns = wider.parameters.of("nominal").reshape(len(wider.design.nominal_names), -1)
    L = [_differences(wider, places) for places in columns[wider.design.nominal_terms[term]]]
    return joint_test(wider, np.vstack(L), np.vstack(L) @ wider.fit.coefficients[~wider.fit.aliased])


def _differences(wider: FittedLikelihood, places: IntArray) -> FloatArray:
    """(t - 1, P') the first of some parameters less each other one, those aliased left out."""
    L = np.eye(wider.fit.aliased.size)[:, ~wider.fit.aliased][places[~wider.fit.aliased[places]]]
    return np.asarray(L[:1] - L[1:])

"""Members of a blend: methods by name or as values, each with probabilities."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, cast

import numpy as np

from ..._typing import FloatArray, IntArray
from ...checks import unknown
from ...exceptions import OptionError
from ...learners.packages import is_classifier
from ...model.empty_levels import fit_present
from ...model.fit import Fit
from ...model.reduction.answers import in_order
from ...model.rules import Rule
from ...model.sample import Rows, Sample
from ..base import Method
from ..calibrated import Calibrated


def member(name: str, value: Any, of: Any) -> Method:
    """The method that a name or a value stands for.

    Raises
    ------
    OptionError
        It is neither, or takes no other rows.
    """
    # Imported late: the list of methods has the blend in it.
    known = import_module("ordstat.methods")
    if isinstance(value, Method):
        found: Method = value
    elif (spelled := known.spelled(value)) is not None:
        entry = known.METHODS[spelled]
        found = entry.method(**entry.preset)
    elif is_classifier(value):
        found = known.METHODS["nominal-classifier"].method(base=value)
    else:
        also = ", a method value such as REDSVM(C=10), or a classifier with predict_proba such as LGBMClassifier()"
        raise unknown(name, value, known.METHODS, of=of, also=also)
    if found.pairwise:
        raise OptionError(f"{name} must take columns; got {found!r}. Use a named kernel.")
    if isinstance(found, type(of)) or isinstance(of, type(found)):
        raise OptionError(f"{name} must be another method than a blend; got {found!r}. List its members themselves.")
    return found


@dataclass(frozen=True, eq=False)
class Exceeding:
    """P(y > k) of a fitted member.

    Attributes
    ----------
    fit : Fit
    n_levels : int
    """

    fit: Fit
    n_levels: int

    def __call__(self, rows: Rows) -> FloatArray:
        """(N, K-1), not growing with k."""
        probabilities = _probabilities(self.fit, self.fit.rule, rows)
        assert probabilities is not None
        return np.clip(in_order(1.0 - np.cumsum(probabilities, axis=1)[:, :-1]), 0.0, 1.0)


def _probabilities(fit: Fit, rule: Rule, rows: Rows) -> FloatArray | None:
    """(N, K) probabilities by the calibration of a fit or by its rule; None where neither has any."""
    if fit.calibration is not None:
        return np.asarray(fit.calibration.probabilities(rule.scores(rows)))
    if not getattr(rule, "probable", False):
        return None
    found: FloatArray = cast(Any, rule).probabilities(rows)
    return found


def fitted_member(method: Method, sample: Sample, rng: np.random.Generator) -> Exceeding:
    """A method fitted to a sample, calibrated by cross-fitting where it has no probabilities of its own.

    Where cross-validation chooses a C, it does so once, on the whole sample.
    """
    return settled_member(method, sample, rng)[0]


def settled_member(method: Method, sample: Sample, rng: np.random.Generator) -> tuple[Exceeding, Method]:
    """The same, and the method with the C that was chosen."""
    own = sample if method.keeps_clusters else replace(sample, cluster=None)
    fit = fit_present(cast(Any, method), own, rng)
    if _probabilities(fit, fit.rule, sample.rows.take(slice(0, 1))) is None:
        chosen = getattr(fit, "selection", None)
        if chosen is not None and chosen.gamma is None:
            method = replace(cast(Any, method), C=chosen.best_C)
        calibrated = Calibrated.of(method, True if sample.cluster is None else _folds(sample.cluster))
        fit = fit_present(cast(Any, calibrated), sample, rng)
    return Exceeding(fit, sample.n_levels), method


def _folds(cluster: IntArray) -> int:
    """The usual number of folds of a calibration, or as many as there are clusters."""
    return max(2, min(Calibrated.folds, np.unique(cluster).size))

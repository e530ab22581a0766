"""One of several methods that are judged on the same folds."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from .._typing import FloatArray, IntArray
from ..assess.crossval import with_weights
from ..assess.errors import MEASURES, error_table
from ..model.fit import Fit
from ..model.sample import Sample
from .evaluation import CalibratedMethod, RankingMethod, evaluate
from .likelihood.mixed.new_groups import ForNewGroups

if TYPE_CHECKING:
    from ..design.design import Design

#: What a fit to a part of the rows may fail with: anything else is a fault of the program.
_FAILURES = (ValueError, ArithmeticError, RuntimeError, MemoryError)


@dataclass(frozen=True, eq=False, kw_only=True)
class Judged:
    """What came of one fold.

    Attributes
    ----------
    values : (n,) of MEASURES
        NaN where a measure has no meaning, or the fit failed.
    seconds : float
        Of the fit.
    reached : bool
        Whether it reached its tolerance.
    failure : str
        Why there is none; else empty.
    """

    values: FloatArray
    seconds: float = float("nan")
    reached: bool = True
    failure: str = ""


@dataclass(frozen=True, eq=False, kw_only=True)
class Contestant:
    """A method with the design that it is fitted to.

    Attributes
    ----------
    label : str
    design : Design
    method : Method
    calibrated : method or None
        The method with the calibration of its scores.
    """

    label: str
    design: Design
    method: RankingMethod
    calibrated: CalibratedMethod | None = None

    @property
    def sample(self) -> Sample:
        """The rows as the method takes them: with clusters where it has folds of its own, which keep them together."""
        own = self.design.sample
        kept = self.calibrated is not None or self.method.keeps_clusters
        return own if kept else replace(own, cluster=None)

    @cached_property
    def groupings(self) -> list[IntArray]:
        """(N,) codes of groups of rows that belong together, one for each column that says so."""
        sample = self.design.sample
        groups = None if sample.rows.random is None else sample.rows.random.apart()
        return [codes for codes in (sample.cluster, groups) if codes is not None]

    @property
    def learner(self) -> Any:
        """What is fitted: with random effects, a fit that predicts averages over new groups."""
        if self.design.sample.rows.random is not None:
            return ForNewGroups(cast(Any, self.method))
        return self.method if self.calibrated is None else self.calibrated

    def judged(self, held: FloatArray, cost: Any, seed: list[int]) -> Judged:
        """Fit to what is not held out, and what the rest says of it.

        Parameters
        ----------
        held : (N,) held-out part of the case weight of every row
        cost : str or (K, K) array
            What a prediction costs, whatever the method minimises.
        seed : list of int
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what they say is counted
            try:
                return self._judged(held, cost, np.random.default_rng(seed))
            except _FAILURES as problem:
                text = str(problem) or type(problem).__name__
                return Judged(values=np.full(len(MEASURES), np.nan), failure=text)

    def _judged(self, held: FloatArray, cost: Any, rng: np.random.Generator) -> Judged:
        sample = self.sample
        train, test = with_weights(sample, sample.case_weights - held), with_weights(sample, held)
        begun = time.perf_counter()
        fit = self.learner.fit(train, rng)
        seconds = time.perf_counter() - begun
        table = error_table(evaluate(fit, test, cost, self._results(fit).probabilities_of))
        known = dict(zip(table.names, table.values, strict=True))
        values = np.array([known.get(name, np.nan) for name in MEASURES])
        return Judged(values=values, seconds=seconds, reached=fit.certificate.reached)

    def _results(self, fit: Fit) -> Any:
        return cast(Any, self.method).results_class("", self.design, self.method, fit, calibrated=self.calibrated)

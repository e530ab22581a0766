"""Forests that lower the ranked probability score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._typing import FloatArray, Progress
from ..checks import number, one_of, whole
from ..learners.forest import KINDS, ForestSettings
from ..model.costs import CostField
from ..model.cumulative_rule import CumulativeRule, ranked_score
from ..model.distinct import DistinctRows, distinct_rows
from ..model.ensembles.probability_fit import ForestFit
from ..model.fit import Certificate, Trace
from ..model.rules import count_above
from ..model.sample import Sample
from ..results.rankers.forest import ForestResults
from .base import Method, Needs, cost_option, jobs_option, option

# Copies of weighted rows that a forest is given at most; beyond them weights are weights.
_MOST_ROWS = 200_000
# Rounding of means over trees.
_ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True, repr=False)
class RPSForest(Method):
    """A forest on the K-1 indicators [y > k], the ranked-probability forest [Geurts et al. 2006].

    Trees of scikit-learn with K-1 targets: a cut lowers the summed variance of the indicators most, which is the
    ranked probability score sum_k (P(y > k) - [y > k])^2 of the leaves' shares [Epstein 1969; Janitza et al. 2016 on
    its use for ordinal forests]. The mean of the shares over the trees is P(y > k), which never grows with k.

    Parameters
    ----------
    splits : {"random", "best"}
        Cuts drawn at random, one a column, of which the best is taken, on all rows (extremely randomised trees,
        Geurts et al. 2006); or the best cuts on bootstrap samples (random forest, Breiman 2001), which give errors out
        of bag.
    trees : int
    column_share : float
        Share of the columns that a cut chooses from, in (0, 1].
    min_leaf : int
        Rows of a leaf at least.
    cost : str or (K, K) array
        What predicted ranks minimise in expectation: "absolute" gives the median, "classification" the mode. The
        probabilities do not depend on it.
    n_jobs : int
        Trees grown at once, as threads; -1 for one a processor. The result does not depend on it.

    Raises
    ------
    OptionError
        A value outside these.

    Examples
    --------
    >>> RPSForest(splits="best", trees=500)
    RPSForest(splits='best', trees=500)
    """

    splits: str = option("random", one_of, KINDS)
    trees: int = option(300, whole, 1)
    column_share: float = option(1.0 / 3.0, number, above=0.0, most=1.0)
    min_leaf: int = option(1, whole, 1)
    cost: CostField = cost_option()
    n_jobs: int = jobs_option()

    needs: ClassVar[Needs] = Needs()
    results_class: ClassVar[type[Any]] = ForestResults
    papers: ClassVar[tuple[str, ...]] = (
        "Janitza, S., Tutz, G., & Boulesteix, A.-L. (2016). Random forest for ordinal responses: Prediction and "
        "variable selection. Computational Statistics & Data Analysis, 96, 57-73.",
        "Epstein, E. S. (1969). A scoring system for probability forecasts of ranked categories. Journal of Applied "
        "Meteorology, 8, 985-987.",
    )

    @property
    def draws(self) -> bool:
        """True: columns, and cuts or samples, are drawn."""
        return True

    @property
    def modal(self) -> bool:
        """Whether the predicted rank is the most probable one."""
        return self.cost == "classification"

    def fit(self, sample: Sample, rng: np.random.Generator, progress: Progress | None = None) -> ForestFit:
        """Fit to arrays.

        Parameters
        ----------
        sample : Sample
            Rows of weight 0 take no part.
        rng : numpy.random.Generator
        progress : callable(step, total, message), optional
        """
        self.check(sample)
        rows = distinct_rows(sample, np.zeros((sample.n, 0))).repeated(_MOST_ROWS)
        settings = ForestSettings(
            splits=self.splits,
            trees=self.trees,
            column_share=self.column_share,
            min_leaf=self.min_leaf,
            bootstrap=self.splits == "best",
            n_jobs=self.n_jobs,
        )
        shares, out = settings.grow(rows.X, rows.y, rows.weights, sample.n_levels, rng)
        rule = CumulativeRule(shares, self.cost_matrix)
        above = shares(sample.rows)
        score = ranked_score(above, sample.y, sample.case_weights)
        if progress is not None:
            progress(1, 1, f"{self.trees} trees grown")
        return ForestFit(
            rule=rule,
            certificate=_unbiased(above, sample),
            trace=Trace(iterations=self.trees, objective=np.array([score]), message=f"{self.trees} trees grown"),
            scores=rule.scores_of(above),
            facts=(
                ("Trees", f"{self.trees}, with {self.splits} splits"),
                ("A split chooses from", f"{self.column_share:.0%} of the columns"),
            ),
            importance=shares.importance(sample.X.shape[1]),
            out_of_bag=None if out is None else _errors(out, rows),
        )


def _unbiased(above: FloatArray, sample: Sample) -> Certificate:
    """Whether P(y > k) lies between 0 and 1 and never grows with k."""
    ends = np.hstack([np.ones((len(above), 1)), above, np.zeros((len(above), 1))])
    return Certificate(
        name="largest rise of P(y > k) with k",
        value=float(np.diff(ends, axis=1).max(initial=0.0)),
        tolerance=_ROUNDING,
        details=(("training ranked probability score", ranked_score(above, sample.y, sample.case_weights)),),
    )


def _errors(out: FloatArray, rows: DistinctRows) -> dict[str, float]:
    """Errors of the medians out of bag, the ranked probability score, and the share of rows that were out."""
    known = ~np.isnan(out[:, 0])
    if not known.any():
        return {"share": 0.0}
    above, y, w = out[known], rows.y[known], rows.weights[known]
    distance = np.abs(count_above(above - 0.5) - y)
    return {
        "classification": float(w @ (distance > 0) / w.sum()),
        "absolute": float(w @ distance / w.sum()),
        "ranked probability score": ranked_score(above, y, w),
        "share": float(w.sum() / rows.weights.sum()),
    }

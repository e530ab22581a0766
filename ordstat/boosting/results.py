"""Results of a threshold ensemble made in rounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Protocol, Self, cast

import numpy as np
import pandas as pd

from .._typing import IntArray
from ..exceptions import UnavailableError
from ..fitted import FittedRanker
from ..formula.sample import Rows, Sample
from ..judging.costs import sample_costs
from ..judging.importance import GAIN_FIRST
from ..judging.rankers import (
    FittedThresholds,
    after_rounds,
    staged_predictions,
    stages,
    tidy_thresholds,
    with_more_rounds,
)
from ..plots.accessor import EnsemblePlots
from ..reduction.members import EnsembleFit
from ..report.frames import NotedFrame
from ..report.render import Report, Table
from ..report.sections import figures, ranker_report, shared_tables, threshold_table
from ..results import OrdinalResults

# Rows of the table of rounds in a summary.
_SHOWN = 6
# Columns of the table of importance in a summary.
_LISTED = 8


class BoostingMethod(Protocol):
    """A boosting method, as results see it."""

    def staged_codes(
        self, sample: Sample, fit: EnsembleFit, targets: Sequence[Rows], stages: Sequence[int]
    ) -> Iterator[list[IntArray]]:
        """Predicted codes of several sets of rows after some of the rounds."""


class FittedEnsemble(FittedRanker):
    """A fitted ranker whose score rounds have added to."""

    fit: EnsembleFit

    no_bounds: ClassVar[str] = "No margin bounds: the score that the rounds add to has no sum of weights."

    @property
    def kind(self) -> str:
        """What was fitted."""
        return "Threshold ensemble"

    @property
    def rounds(self) -> pd.DataFrame:
        """One row a round, round 0 being the start.

        Returns
        -------
        pandas.DataFrame
            alpha, loss (training loss a row), bound (what the training-error theorem allows it), the thresholds after
            the round (methods that keep them), validation (mean cost of the held-out rows, where there are any).
        """
        f = self.fit.rounds
        index = pd.RangeIndex(f.losses.size, name="round")
        columns = {"alpha": np.concatenate([[np.nan], f.alphas]), "loss": f.losses, "bound": f.limits}
        parts = [pd.DataFrame(columns, index=index)]
        if f.thetas is not None:
            parts.append(pd.DataFrame(f.thetas, columns=self.threshold_names, index=index))
        if f.validation is not None:
            parts.append(pd.DataFrame({"validation": f.validation}, index=index))
        return pd.concat(parts, axis=1)


def ensemble_errors(
    fit: FittedEnsemble, newdata: Any = None, *, every: int = 1, rounds: Sequence[int] | None = None
) -> pd.DataFrame:
    """Mean errors after every round, on the rows of the fit and on new ones."""
    own, chosen = fit.design.sample, stages(fit, every, rounds)
    samples = {"": own} if newdata is None else {"": own, "new ": fit.new_sample(newdata)[1]}
    method, rows = cast(BoostingMethod, fit.method), [s.rows for s in samples.values()]
    found = []
    for codes in method.staged_codes(own, fit.fit, rows, chosen):
        parts = zip(samples.items(), codes, strict=True)
        found.append({k: v for (name, s), c in parts for k, v in _stage(fit, name, s, c).items()})
    return pd.DataFrame(found, index=pd.Index(chosen, name="round"))


def _stage(fit: FittedEnsemble, prefix: str, sample: Sample, codes: IntArray) -> dict[str, float]:
    """Mean errors of predicted codes (N,)."""
    weights, distance = sample.case_weights, np.abs(codes - sample.y)
    errors = {"classification": np.minimum(distance, 1), "absolute": distance}
    if sample.costs is not None or fit.design.sample.costs is None:
        costs = sample_costs(fit.method.cost_matrix, sample)
        errors["cost"] = costs[np.arange(sample.n), codes]
    return {prefix + name: float(weights @ values / weights.sum()) for name, values in errors.items()}


def ensemble_importance(fit: FittedEnsemble) -> pd.DataFrame:
    """What the columns contribute to the rounds, most important first.

    Returns
    -------
    pandas.DataFrame
        importance, of sum 1. Stumps: the standard deviation, over the rows of the fit, of what the stumps on the
        column add to the score. Others: the alphas by size, that of a perceptron or sigmoid shared among the
        scaled columns by the size of their weights, that of a tree by the fall of the deviance. The index has the
        columns of the model.

    Raises
    ------
    UnavailableError
        The hypotheses are classifiers of scikit-learn.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", datasets.load("wine"), "orboost-all", rounds=20)
    >>> fit.importance().index.tolist()
    ['temp[T.warm]', 'contact[T.yes]']
    """
    rule: Any = fit.fit.rule
    potential = getattr(rule, "rule", rule).potential  # of the levels that had rows
    potential = getattr(potential, "added", potential)
    if not hasattr(potential, "importance"):
        raise UnavailableError(
            f"{fit.method!r} adds up hypotheses that do not tell which columns they look at: use "
            "importance(kind='permutation')."
        )
    found = potential.importance(fit.design.sample)
    frame = pd.DataFrame({"importance": found / (found.sum() or 1.0)}, pd.Index(fit.design.names, name="column"))
    return NotedFrame.of(frame.sort_values("importance", ascending=False, kind="stable"), (), "Importance of columns")


def ensemble_figures(fit: FittedEnsemble) -> pd.DataFrame:
    """One row of figures of the whole fit."""
    return NotedFrame.of(figures(fit).assign(rounds=fit.fit.kept, loss=float(fit.fit.rounds.losses[fit.fit.kept])))


def _round_table(fit: FittedEnsemble) -> Table:
    shown = np.unique(np.rint(np.geomspace(1, len(fit.rounds), _SHOWN)).astype(np.intp) - 1)
    frame = fit.rounds.iloc[shown].drop(columns=fit.threshold_names, errors="ignore")
    frame.insert(1, "cost", ensemble_errors(fit, rounds=shown.tolist())["cost"])
    of = "all rows of the fit, those held out too" if "validation" in frame else "the rows of the fit"
    title = "After some of the rounds: mean cost, loss, and the loss's bound by the training-error theorem"
    note = f"The cost is that of {of}. All rounds are in .rounds, their errors in .staged_errors()."
    formats = dict.fromkeys(("alpha", "cost", "loss", "bound"), "g")
    return Table(title=title, frame=frame, formats=formats, note=note, section="fit")


def _importance_table(fit: FittedEnsemble) -> list[Table]:
    """The columns that the rounds look at most; nothing for hypotheses that do not tell."""
    try:
        frame = ensemble_importance(fit)
    except UnavailableError:
        return []
    more = len(frame) > _LISTED
    note = f"The first {_LISTED} of {len(frame)}; all are in .importance()." if more else ""
    shown = frame.head(_LISTED)
    return [Table(title="Importance of the columns", frame=shown, formats={"importance": ".3f"}, note=note)]


class EnsembleResults(FittedEnsemble, FittedThresholds, OrdinalResults):
    """A fitted threshold ensemble, rank(x) = 1 + #{k : sum_t alpha_t h_t(x) > threshold_k}.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"), method="orboost-all", rounds=20)
    >>> fit.rounds.columns.tolist()
    ['alpha', 'loss', 'bound', '1|2', '2|3', '3|4', '4|5']
    >>> fit.at(5).fit.kept
    5
    """

    fit: EnsembleFit

    def tidy(self) -> pd.DataFrame:
        """One row per threshold and linear coefficient: term, estimate, coef_type.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"), method="redsvm", kernel="linear")
        >>> fit.tidy().round(2)
                     term  estimate  coef_type
        0             1|2      -1.0  threshold
        1             2|3       1.0  threshold
        2             3|4       3.0  threshold
        3             4|5       5.0  threshold
        4    temp[T.warm]       2.0   location
        5  contact[T.yes]       2.0   location
        """

        return tidy_thresholds(self)

    glance = ensemble_figures

    def at(self, rounds: int) -> Self:
        """The results as they were after some of the rounds.

        Boosting keeps the rounds it made: `fit.at(5).rounds` has all of them, and `fit.at(5).more(15)` goes on after
        the last, as `fit.more(15)` does. Trees of other ensembles are dropped: `fit.at(5).more(15)` has 20.

        Raises
        ------
        OptionError
            More rounds than were made.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"), method="bagging", rounds=20)
        >>> len(fit.at(5).rounds)
        5
        """

        return after_rounds(self, rounds)

    def more(self, rounds: int) -> Self:
        """The results with further rounds: those of a fit of as many rounds at once.

        They follow the last round that was made, of boosting also where `at` chose fewer.

        Raises
        ------
        OptionError
            `rounds` is not a number of rounds, or there is one round by nature, as for a single tree.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"), method="bagging", rounds=20)
        >>> len(fit.more(10).rounds)
        30
        """

        return with_more_rounds(self, rounds)

    def staged(self, newdata: Any = None, type: str = "class", *, every: int = 1) -> Iterator[tuple[int, Any]]:
        """Predictions after every round, as (round, what `predict` gives).

        Parameters
        ----------
        newdata : data frame, optional
        type : str
            As in `predict`.
        every : int
            Only every so many rounds, and the last.

        Raises
        ------
        OptionError
            `every` below 1.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> wine = datasets.load("wine")
        >>> fit = ordfit("rating ~ temp + contact", data=wine, method="ordinal-bagging", rounds=20)
        >>> [(rounds, ranks.tolist()) for rounds, ranks in fit.staged(wine.head(2), every=10)]
        [(10, [2, 2]), (20, [2, 2])]
        """

        return staged_predictions(self, newdata, type, every=every)

    def staged_errors(
        self, newdata: Any = None, *, every: int = 1, rounds: Sequence[int] | None = None
    ) -> pd.DataFrame:
        """Mean errors after every round, on the rows of the fit and on new ones.

        Parameters
        ----------
        newdata : data frame, optional
            With the response.
        every : int
            Only every so many rounds, and the last.
        rounds : sequence of int, optional
            These alone, in place of `every`; 0 is the start.

        Returns
        -------
        pandas.DataFrame
            Columns classification, absolute and cost of the training rows, then "new classification", ... of
            `newdata` (without a cost where every row of the fit had its own); the index is the round.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> train, new = datasets.quadratic_bands(300, seed=1), datasets.quadratic_bands(1000, seed=2)
        >>> fit = ordfit("rank ~ x1 + x2", data=train, method="orboost-all", rounds=100)
        >>> fit.staged_errors(new, rounds=[1, 10, 100])["new absolute"].round(2)
        round
        1      0.57
        10     0.16
        100    0.06
        Name: new absolute, dtype: float64
        """
        return ensemble_errors(self, newdata, every=every, rounds=rounds)

    importance_kinds = GAIN_FIRST
    gain_importance = ensemble_importance

    @property
    def plot(self) -> EnsemblePlots:
        """Pictures of the fit, by matplotlib: `fit.plot.rounds()`."""
        return EnsemblePlots(self)

    def summary_data(self) -> Report:
        """The summary as data."""
        learnt = [threshold_table(self.thresholds.to_frame()), *_importance_table(self)]
        return ranker_report(self, [*learnt, _round_table(self), *shared_tables(self)])

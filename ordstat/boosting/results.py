"""Results of methods that fit in rounds, and of threshold ensembles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Protocol, Self, cast

import numpy as np
import pandas as pd

from .._typing import AnyArray, IntArray
from ..checks import is_whole, whole
from ..exceptions import OptionError, UnavailableError
from ..fit import Fit
from ..formula.sample import Rows, Sample
from ..judging.costs import sample_costs
from ..judging.importance import GAIN_FIRST
from ..judging.rankers import ThresholdResults
from ..reduction.learners import EnsembleFit
from ..report.frames import NotedFrame
from ..report.render import Report, Table
from ..report.sections import figures, ranker_report, shared_tables, threshold_table
from ..results import OrdinalResults

# Rows of the table of rounds in a summary.
_SHOWN = 6


class RoundsMethod(Protocol):
    """A method that fits in rounds, as results see it."""

    def more(self, sample: Sample, fit: Any, rounds: int) -> Fit:
        """The fit with further rounds."""

    def truncated(self, sample: Sample, fit: Any, rounds: int) -> Fit:
        """The fit after some of its rounds."""

    def staged_codes(
        self, sample: Sample, fit: Any, targets: Sequence[Rows], stages: Sequence[int]
    ) -> Iterator[list[IntArray]]:
        """Predicted codes of several sets of rows after some of the rounds."""


class RoundsResults(OrdinalResults):
    """Results of a fit that was made in rounds."""

    fit: Any

    importance_kinds = GAIN_FIRST
    #: Columns of `staged_errors`.
    error_columns: ClassVar[tuple[str, ...]] = ("classification", "absolute", "cost")

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
        return self._with(cast(RoundsMethod, self.method).truncated(self.design.sample, self.fit, rounds), rounds)

    def more(self, rounds: int) -> Self:
        """The results with further rounds: those of a fit of as many rounds at once.

        They follow the last round that was made, of boosting also where `at` chose fewer.

        Raises
        ------
        OptionError
            `rounds` is not a number of rounds, or the method makes one round only, as for a single tree.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"), method="bagging", rounds=20)
        >>> len(fit.more(10).rounds)
        30
        """
        fit: Any = cast(RoundsMethod, self.method).more(self.design.sample, self.fit, rounds)
        return self._with(fit, fit.stages[-1])

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
        for stage in self._stages(every):
            yield stage, self.at(stage).predict(newdata, type)

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
            Columns classification, absolute and cost (trees: squared) of the training rows, then "new classification",
            ... of `newdata` (without a cost where every row of the fit had its own); the index is the round.

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
        stages, samples = self._stages(every, rounds), {"": self.design.sample}
        if newdata is not None:
            samples["new "] = self.new_sample(newdata)[1]
        method, targets = cast(RoundsMethod, self.method), [sample.rows for sample in samples.values()]
        table = [
            dict(pair for item, codes in zip(samples.items(), both, strict=True) for pair in self._errors(*item, codes))
            for both in method.staged_codes(self.design.sample, self.fit, targets, stages)
        ]
        return pd.DataFrame(table, index=pd.Index(stages, name="round"))

    def _errors(self, prefix: str, sample: Sample, codes: IntArray) -> list[tuple[str, float]]:
        """Names and values of the mean errors of predicted codes (N,)."""
        weights, distance = sample.case_weights, np.abs(codes - sample.y)
        errors = {"classification": np.minimum(distance, 1), "absolute": distance, "squared": distance**2}
        if sample.costs is not None or self.design.sample.costs is None:
            errors["cost"] = sample_costs(self.method.cost_matrix, sample)[np.arange(sample.n), codes]
        columns = [name for name in self.error_columns if name in errors]
        return [(prefix + name, float(weights @ errors[name] / weights.sum())) for name in columns]

    def _stages(self, every: int, rounds: Sequence[int] | None = None) -> list[int]:
        """The rounds to show, growing: `rounds`, or every so many and the last."""
        first, last = self.fit.stages[0], self.fit.stages[-1]
        if rounds is None:
            whole("every", every, 1)
            return sorted({*range(every, last + 1, every), last})
        several = not isinstance(rounds, str) and np.ndim(rounds) == 1 and len(rounds) > 0
        if not several or not all(is_whole(t) and first <= t <= last for t in rounds):
            raise OptionError(f"rounds must be whole numbers from {first} to {last}, the rounds made; got {rounds!r}.")
        return sorted({int(t) for t in rounds})

    def _with(self, fit: Fit, rounds: int) -> Self:
        """Another fit, whose method has as many rounds, so that folds, splits and updates are fitted with these."""
        method: Any = self.method
        if rounds > 0 and hasattr(method, "rounds"):
            method = replace(method, rounds=int(rounds))
        calibrated: Any = None if self.calibrated is None else replace(cast(Any, self.calibrated), method=method)
        return replace(self, fit=fit, method=method, calibrated=calibrated)


def importance_frame(names: Sequence[str], **columns: AnyArray) -> pd.DataFrame:
    """What the columns of a model contribute, most important first."""
    frame = pd.DataFrame(columns, index=pd.Index(names, name="column"))
    return NotedFrame.of(frame.sort_values("importance", ascending=False, kind="stable"), (), "Importance of columns")


def importance_table(frame: pd.DataFrame, title: str, most: int, formats: Mapping[str, str], **more: Any) -> Table:
    """The most important columns, for a summary."""
    note = f"The first {most} of {len(frame)}; all are in .importance()." if len(frame) > most else ""
    return Table(title=title, frame=frame.head(most), formats={"importance": ".3f", **formats}, note=note, **more)


def shown_rounds(made: int) -> IntArray:
    """Places of the rounds that a summary shows, among those from the start to the last."""
    return np.unique(np.rint(np.geomspace(1, made, _SHOWN)).astype(np.intp) - 1)


class EnsembleResults(RoundsResults, ThresholdResults):
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
            alpha, loss (training loss a row), bound (what the training-error theorem allows it), and the thresholds
            after the round (methods that keep them).
        """
        f = self.fit.rounds
        index = pd.RangeIndex(f.losses.size, name="round")
        columns = {"alpha": np.concatenate([[np.nan], f.alphas]), "loss": f.losses, "bound": f.limits}
        parts = [pd.DataFrame(columns, index=index)]
        if f.thetas is not None:
            parts.append(pd.DataFrame(f.thetas, columns=self.threshold_names, index=index))
        return pd.concat(parts, axis=1)

    def glance(self) -> pd.DataFrame:
        """One row of figures of the whole fit."""
        return NotedFrame.of(figures(self).assign(rounds=self.fit.kept, loss=self.fit.rounds.losses[self.fit.kept]))

    def gain_importance(self) -> pd.DataFrame:
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
        """
        rule: Any = self.fit.rule
        potential = getattr(rule, "rule", rule).potential  # of the levels that had rows
        potential = getattr(potential, "added", potential)
        if not hasattr(potential, "importance"):
            raise UnavailableError(
                f"{self.method!r} adds up classifiers that do not say which columns they use: use "
                "importance(kind='permutation')."
            )
        sizes = potential.importance(self.design.sample)
        return importance_frame(self.design.names, importance=sizes / (sizes.sum() or 1.0))

    def summary_data(self) -> Report:
        """The summary as data."""
        try:
            importance = [importance_table(self.gain_importance(), "Importance of the columns", 8, {})]
        except UnavailableError:
            importance = []
        thresholds = threshold_table(self.thresholds.to_frame())
        return ranker_report(self, [thresholds, *importance, self._round_table(), *shared_tables(self)])

    def _round_table(self) -> Table:
        shown = shown_rounds(len(self.rounds))
        frame = self.rounds.iloc[shown].drop(columns=self.threshold_names, errors="ignore")
        frame.insert(1, "cost", self.staged_errors(rounds=shown.tolist())["cost"])
        title = "After some of the rounds: mean cost, loss, and the loss's bound by the training-error theorem"
        note = "The cost is that of the rows of the fit. All rounds are in .rounds, their errors in .staged_errors()."
        formats = dict.fromkeys(("alpha", "cost", "loss", "bound"), "g")
        return Table(title=title, frame=frame, formats=formats, note=note, section="fit")

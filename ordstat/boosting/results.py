"""Results of methods that fit in rounds, and of boosted rankers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd

from .._typing import AnyArray, IntArray
from ..checks import is_whole, whole
from ..exceptions import OptionError, UnavailableError
from ..fit import Fit
from ..formula.extrapolation import telling_once
from ..formula.sample import Sample
from ..judging.costs import sample_costs
from ..judging.importance import GAIN_FIRST
from ..rankers import ThresholdResults
from ..report.frames import NotedFrame
from ..report.render import Report, Table
from ..report.sections import figures, ranker_report, shared_tables, threshold_table
from ..results import OrdinalResults
from .rounds import EnsembleFit

# Rows of the tables of rounds and of importance in a summary.
_SHOWN = 6
_IMPORTANT = 10


class RoundsResults(OrdinalResults):
    """Results of a fit in rounds."""

    fit: Any
    method: Any

    importance_kinds = GAIN_FIRST
    #: Columns of `staged_errors`.
    error_columns: ClassVar[tuple[str, ...]] = ("classification", "absolute", "cost")

    def at(self, rounds: int) -> Self:
        """The results after the first `rounds` rounds.

        Boosting keeps all rounds, so that `fit.at(5).more(15)` continues after the last
        one. Bagging and the other ensembles of trees drop later trees, so that
        `fit.at(5).more(15)` has 20 rounds.

        Parameters
        ----------
        rounds : int
            Number of rounds, from the first, that predictions use.

        Raises
        ------
        OptionError
            `rounds` exceeds the number of rounds.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> wine = datasets.load("wine")
        >>> fit = ordfit("rating ~ temp + contact", wine, "bagging", rounds=20)
        >>> len(fit.at(5).rounds)
        5
        """
        return self._with(
            self.method.truncated(self.design.sample, self.fit, rounds), rounds
        )

    def more(self, rounds: int) -> Self:
        """Add rounds after the last one; the result equals a fit with the total number
        of rounds.

        Parameters
        ----------
        rounds : int
            Number of rounds to add, at least 1.

        Raises
        ------
        OptionError
            `rounds` is not a positive number, or the method has a single round.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> wine = datasets.load("wine")
        >>> fit = ordfit("rating ~ temp + contact", wine, "bagging", rounds=20)
        >>> len(fit.more(10).rounds)
        30
        """
        fit = self.method.more(self.design.sample, self.fit, rounds)
        return self._with(fit, fit.stages[-1])

    def staged(
        self, newdata: Any = None, type: str = "class", *, every: int = 1
    ) -> Iterator[tuple[int, Any]]:
        """Predictions after each round, as pairs (round, prediction).

        Parameters
        ----------
        newdata, type
            As in `predict`.
        every : int
            Step between rounds; the last round is always included.

        Raises
        ------
        OptionError
            `every` is below 1.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> wine = datasets.load("wine")
        >>> fit = ordfit("rating ~ temp + contact", wine, "ordinal-bagging", rounds=20)
        >>> staged = fit.staged(wine.head(2), every=10)
        >>> [(rounds, ranks.tolist()) for rounds, ranks in staged]
        [(10, [2, 2]), (20, [2, 2])]
        """
        told: list[str] = []
        for stage in self._stages(every):
            with telling_once(told):
                predicted = self.at(stage).predict(newdata, type)
            yield stage, predicted

    def staged_errors(
        self,
        newdata: Any = None,
        *,
        every: int = 1,
        rounds: Sequence[int] | None = None,
    ) -> pd.DataFrame:
        """Mean errors after each round, on training rows and new rows.

        Parameters
        ----------
        newdata : data frame, optional
            Data with the response.
        every : int
            Step between rounds; the last round is always included.
        rounds : sequence of int, optional
            The rounds to show, instead of `every`; 0 is the start.

        Returns
        -------
        pandas.DataFrame
            Index round. Columns classification, absolute and cost (trees: squared) for
            training rows, and "new classification", ... for `newdata` (without cost if
            the fit has costs of single rows).

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> train = datasets.quadratic_bands(300, seed=1)
        >>> new = datasets.quadratic_bands(1000, seed=2)
        >>> fit = ordfit("rank ~ x1 + x2", data=train, method="orboost-all", rounds=100)
        >>> fit.staged_errors(new, rounds=[1, 10, 100])["new absolute"].round(2)
        round
        1      0.57
        10     0.16
        100    0.06
        Name: new absolute, dtype: float64
        """
        stages = self._stages(every, rounds)
        samples = {"": self.design.sample}
        if newdata is not None:
            samples["new "] = self.new_sample(newdata)[1]
        targets = [sample.rows for sample in samples.values()]
        rows = []
        for codes in self.method.staged_codes(
            self.design.sample, self.fit, targets, stages
        ):
            row = {}
            for (prefix, sample), predicted in zip(samples.items(), codes, strict=True):
                for name, error in self._errors(sample, predicted).items():
                    row[prefix + name] = error
            rows.append(row)
        return pd.DataFrame(rows, index=pd.Index(stages, name="round"))

    def _errors(self, sample: Sample, codes: IntArray) -> dict[str, float]:
        """Mean errors of predicted codes (N,), by name."""
        weights = sample.case_weights
        distance = np.abs(codes - sample.y)
        errors = {
            "classification": np.minimum(distance, 1),
            "absolute": distance,
            "squared": distance**2,
        }
        cost = self.method.cost_matrix
        priced = sample.costs is not None or self.design.sample.costs is None
        if priced and not cost.decides:
            costs = sample_costs(self.method.cost_matrix, sample)
            errors["cost"] = costs[np.arange(sample.n), codes]
        return {
            name: float(weights @ errors[name] / weights.sum())
            for name in self.error_columns
            if name in errors
        }

    def _stages(self, every: int, rounds: Sequence[int] | None = None) -> list[int]:
        """The rounds to show, in increasing order."""
        first = self.fit.stages[0]
        last = self.fit.stages[-1]
        if rounds is None:
            whole("every", every, 1)
            return sorted({*range(every, last + 1, every), last})
        several = (
            not isinstance(rounds, str) and np.ndim(rounds) == 1 and len(rounds) > 0
        )
        if not several or not all(is_whole(t) and first <= t <= last for t in rounds):
            raise OptionError(
                f"rounds must be whole numbers from {first} to {last}; got {rounds!r}."
            )
        return sorted({int(t) for t in rounds})

    def _with(self, fit: Fit, rounds: int) -> Self:
        """Results of another fit; its method gets the same number of rounds, for
        refits.
        """
        method = self.method
        if rounds > 0 and hasattr(method, "rounds"):
            method = replace(method, rounds=int(rounds))
        calibrated: Any = self.calibrated
        if calibrated is not None:
            calibrated = replace(calibrated, method=method)
        return replace(self, fit=fit, method=method, calibrated=calibrated)


def importance_frame(r: OrdinalResults, **columns: AnyArray) -> pd.DataFrame:
    """A table of the importance of columns, most important first."""
    frame = pd.DataFrame(columns, index=pd.Index(r.design.names, name="column"))
    ordered = frame.sort_values("importance", ascending=False, kind="stable")
    return NotedFrame.of(ordered, (), "Importance of columns", labels=r.names_shown())


def importance_table(frame: pd.DataFrame, share: str = "", **more: Any) -> Table:
    """The most important columns, for a summary; `share` names the quantity that
    importance is a share of.
    """
    note = ""
    if len(frame) > _IMPORTANT:
        note = f"The first {_IMPORTANT} of {len(frame)}; all are in .importance()."
    title = "Importance of the columns"
    if share:
        title += f" (share of {share})"
    return Table(
        title=title,
        frame=frame[["importance"]].head(_IMPORTANT),
        formats={"importance": ".3f"},
        note=note,
        labels=frame.attrs["labels"],
        **more,
    )


def shown_rounds(made: int) -> IntArray:
    """Rounds to show in a summary, from the start to the last."""
    return np.unique(np.rint(np.geomspace(1, made, _SHOWN)).astype(np.intp) - 1)


class EnsembleResults(RoundsResults, ThresholdResults):
    """A boosted ranker, rank(x) = 1 + #{k : sum_t alpha_t h_t(x) > threshold_k}.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> wine = datasets.load("wine")
    >>> fit = ordfit("rating ~ temp + contact", wine, "orboost-all", rounds=20)
    >>> fit.rounds.columns.tolist()
    ['alpha', 'loss', 'bound', '1|2', '2|3', '3|4', '4|5']
    >>> fit.at(5).fit.kept
    5
    """

    fit: EnsembleFit

    with_empty_levels = ThresholdResults
    no_bounds: ClassVar[str] = (
        "No margin bounds: the score of the first learner has no norm."
    )

    kind = "Boosted ranker"

    @property
    def rounds(self) -> pd.DataFrame:
        """One row for each round; round 0 is the start.

        Returns
        -------
        pandas.DataFrame
            alpha, loss (mean training loss), bound (of the loss, by the training-error
            theorem), and the thresholds after the round (if the method updates them).
        """
        f = self.fit.rounds
        index = pd.RangeIndex(f.losses.size, name="round")
        columns = {
            "alpha": np.concatenate([[np.nan], f.alphas]),
            "loss": f.losses,
            "bound": f.limits,
        }
        parts = [pd.DataFrame(columns, index=index)]
        if f.thetas is not None:
            parts.append(
                pd.DataFrame(f.thetas, columns=self.threshold_names, index=index)
            )
        return pd.concat(parts, axis=1)

    def glance(self) -> pd.DataFrame:
        """One row of statistics of the whole fit."""
        return NotedFrame.of(
            figures(self).assign(
                rounds=self.fit.kept, loss=self.fit.rounds.losses[self.fit.kept]
            )
        )

    def gain_importance(self) -> pd.DataFrame:
        """Importance of the columns, most important first.

        Returns
        -------
        pandas.DataFrame
            importance, with sum 1. Stumps: standard deviation, over training rows, of
            the part of the score from stumps on the column. Perceptrons and sigmoids:
            |alpha|, shared in proportion to the weights of the scaled columns. Trees:
            |alpha|, shared in proportion to the reduction of the deviance.

        Raises
        ------
        UnavailableError
            The hypotheses are scikit-learn classifiers.
        """
        rule: Any = self.fit.rule
        potential = getattr(rule, "rule", rule).potential  # of the levels that had rows
        potential = getattr(potential, "added", potential)
        if not hasattr(potential, "importance"):
            raise UnavailableError(
                "importance(kind='gain') is not available for classifiers as weak"
                f" learners, as in {self.method}. Use kind='permutation'."
            )
        sizes = potential.importance(self.design.sample)
        return importance_frame(self, importance=sizes / (sizes.sum() or 1.0))

    def summary_data(self) -> Report:
        """The summary as data."""
        try:
            importance = [importance_table(self.gain_importance())]
        except UnavailableError:
            importance = []
        thresholds = threshold_table(self.thresholds.to_frame())
        return ranker_report(
            self, [thresholds, *importance, self._round_table(), *shared_tables(self)]
        )

    def _round_table(self) -> Table:
        shown = shown_rounds(len(self.rounds))
        frame = self.rounds.iloc[shown].drop(
            columns=self.threshold_names, errors="ignore"
        )
        frame.insert(1, "cost", self.staged_errors(rounds=shown.tolist())["cost"])
        title = (
            "Mean training cost, loss, and the bound of the loss by the training-error"
            " theorem, by round"
        )
        note = "All rounds are in .rounds, their errors in .staged_errors()."
        formats = dict.fromkeys(("alpha", "cost", "loss", "bound"), "g")
        return Table(
            title=title, frame=frame, formats=formats, note=note, section="fit"
        )

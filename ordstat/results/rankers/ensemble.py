"""Results of a threshold ensemble made in rounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, cast

import numpy as np
import pandas as pd

from ..._typing import FloatArray, IntArray
from ...exceptions import UnavailableError
from ...model.costs import sample_costs
from ...model.ensembles.rounds import EnsembleFit
from ...model.sample import Rows, Sample
from ..report.report import Report, Table
from ..report.sections import alert_notes, certificate_text, data_header, shared_tables, shortened
from .margin import MarginResults
from .staged import StagedResults

if TYPE_CHECKING:
    from ...plots.ensemble import EnsemblePlots

# Rows of the table of rounds in a summary.
_SHOWN = 6


class BoostingMethod(Protocol):
    """A boosting method, as results see it."""

    def staged_codes(
        self, sample: Sample, fit: EnsembleFit, targets: Sequence[Rows], stages: Sequence[int]
    ) -> Iterator[list[IntArray]]:
        """Predicted codes of several sets of rows after some of the rounds."""


@dataclass(frozen=True, eq=False, repr=False)
class EnsembleResults(StagedResults, MarginResults):
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
        own, stages = self.design.sample, self._stages(every, rounds)
        samples = {"": own} if newdata is None else {"": own, "new ": self._new_sample(newdata)[1]}
        method, rows = cast(BoostingMethod, self.method), [s.rows for s in samples.values()]
        found = []
        for codes in method.staged_codes(own, self.fit, rows, stages):
            parts = zip(samples.items(), codes, strict=True)
            found.append({k: v for (name, s), c in parts for k, v in self._stage(name, s, c).items()})
        return pd.DataFrame(found, index=pd.Index(stages, name="round"))

    def _stage(self, prefix: str, sample: Sample, codes: IntArray) -> dict[str, float]:
        """Mean errors of predicted codes (N,)."""
        weights, distance = sample.case_weights, np.abs(codes - sample.y)
        errors = {"classification": np.minimum(distance, 1), "absolute": distance}
        if sample.costs is not None or self.design.sample.costs is None:
            costs = sample_costs(self.method.cost_matrix, sample)
            errors["cost"] = costs[np.arange(sample.n), codes]
        return {prefix + name: float(weights @ values / weights.sum()) for name, values in errors.items()}

    def importance(self) -> pd.DataFrame:
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
        found = self._sizes()
        frame = pd.DataFrame({"importance": found / (found.sum() or 1.0)}, pd.Index(self.design.names, name="column"))
        return frame.sort_values("importance", ascending=False, kind="stable")

    def _sizes(self) -> FloatArray:
        rule: Any = self.fit.rule
        potential = getattr(rule, "rule", rule).potential  # of the levels that had rows
        potential = getattr(potential, "added", potential)
        if not hasattr(potential, "importance"):
            raise UnavailableError(f"{self.method!r} adds up hypotheses that do not tell which columns they look at.")
        sizes: FloatArray = potential.importance(self.design.sample)
        return sizes

    @property
    def plot(self) -> EnsemblePlots:
        """Pictures of the fit, by matplotlib: `fit.plot.rounds()`."""
        from ...plots.ensemble import EnsemblePlots

        return EnsemblePlots(self)

    def glance(self) -> pd.DataFrame:
        """One row of figures of the whole fit."""
        return super().glance().drop(columns="n_support").assign(rounds=self.fit.kept, loss=self._loss)

    @property
    def _loss(self) -> float:
        return float(self.fit.rounds.losses[self.fit.kept])

    def report(self) -> Report:
        """The summary as data."""
        return Report(
            title=f"Threshold ensemble: {self.design.formula}",
            header=(*data_header(self), ("Certificate", certificate_text(self.certificate, self.trace))),
            tables=(
                shortened(Table(title="Thresholds", frame=self.thresholds.to_frame()), ".thresholds"),
                self._round_table(),
                *shared_tables(self),
            ),
            notes=(*alert_notes(self), *self.margin_bounds.notes),
        )

    def _round_table(self) -> Table:
        shown = np.unique(np.rint(np.geomspace(1, len(self.rounds), _SHOWN)).astype(np.intp) - 1)
        frame = self.rounds.iloc[shown].drop(columns=self.threshold_names, errors="ignore")
        frame.insert(1, "cost", self.staged_errors(rounds=shown.tolist())["cost"])
        of = "all rows of the fit, those held out too" if "validation" in frame else "the rows of the fit"
        return Table(
            title="After some of the rounds: mean cost, loss, and the loss's bound by the training-error theorem",
            frame=frame,
            formats={"alpha": "g", "cost": "g", "loss": "g", "bound": "g"},
            note=f"The cost is that of {of}. All rounds are in .rounds, their errors in .staged_errors().",
        )

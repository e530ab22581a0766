"""One of several methods that are judged on the same folds."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd

from .._typing import BoolArray, FloatArray, IntArray
from ..checks import fraction, number, one_of
from ..exceptions import OptionError
from ..fit import Fit
from ..formula.sample import Sample
from ..plots.errors import compared
from ..plots.style import shortened_middle
from ..report.cells import counted
from ..report.frames import NotedFrame
from ..report.render import Report, Reported, Table
from .errors import LARGER_IS_BETTER, MEASURES, error_table
from .evaluation import CalibratedMethod, RankingMethod, evaluate
from .folds import with_weights
from .resampled import Resampled, ranks_within

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..formula.design import Design

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
            return cast(Any, self.method).for_new_groups()
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


#: Measures of a table, in its order, and their heads where there is little room.
SHOWN = {
    "classification error": "class",
    "absolute error": "absolute",
    "macro absolute error": "macro",
    "quadratic kappa": "kappa",
    "concordance": "conc",
    "ranked probability score": "RPS",
    "log-loss": "log-loss",
}
_DIFFERENCE = ("difference", "std_error", "lower", "upper", "statistic", "p_value", "better", "same", "worse")
# Letters of a method's name in what is printed.
_LONGEST = 22


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Comparison(Reported):
    """Methods judged on the same folds; what `compare` returns.

    Attributes
    ----------
    title : str
    labels : tuple of str
        Names of the M methods.
    values : (M, J, n) of MEASURES
        By method and fold, repeat after repeat; NaN where a measure has no meaning or a fit failed.
    seconds : (M, J)
        Of every fit.
    weights : (J,)
        Rows of each fold, by their case weights.
    cv, repeats : int
        J = cv times repeats.
    measure : str
        The one that methods are sorted by: the mean cost.
    failed : pandas.DataFrame
        Columns method, repeat, fold, message of the fits that failed.
    notes : tuple of str
    """

    title: str
    labels: tuple[str, ...]
    values: FloatArray
    seconds: FloatArray
    weights: FloatArray
    cv: int
    repeats: int
    measure: str
    failed: pd.DataFrame
    notes: tuple[str, ...] = ()

    @property
    def folds(self) -> pd.DataFrame:
        """Every measure of every fold: columns method, repeat, fold, measure, value; the seconds of a fit are one."""
        M, J, n = self.values.shape
        every = np.concatenate([self.values, self.seconds[:, :, None]], axis=2)
        place = np.arange(J)
        return pd.DataFrame(
            {
                "method": pd.Categorical(np.repeat(self.labels, J * (n + 1)), self.labels),
                "repeat": np.tile(np.repeat(place // self.cv + 1, n + 1), M),
                "fold": np.tile(np.repeat(place % self.cv + 1, n + 1), M),
                "measure": np.tile([*MEASURES, "seconds"], M * J),
                "value": every.ravel(),
            }
        )

    @property
    def best(self) -> str:
        """The method of the best mean."""
        return self._best(self.measure)

    @property
    def table(self) -> pd.DataFrame:
        """One row a method, the best first.

        Mean rank over the folds, then every measure with its standard error (column "... se", corrected for the
        training rows that folds share), then the mean seconds of a fit. NaN of a method that failed in a fold.
        """
        columns: dict[str, Any] = {"rank": self._mean_ranks(self.measure)}
        for measure in self._shown:
            found = [self._resampled(values) for values in self._of(measure)]
            columns[measure] = [one.mean for one in found]
            columns[f"{measure} se"] = [one.std_error for one in found]
        columns["seconds"] = self.seconds.mean(axis=1)
        frame = pd.DataFrame(columns, index=pd.Index(self.labels, name="method"))
        return NotedFrame.of(frame.loc[self._order(self.measure)], self.notes, self.title)

    def differences(
        self, measure: str | None = None, against: str | None = None, *, rope: float = 0.01, level: float = 0.95
    ) -> pd.DataFrame:
        """Differences of one measure from the best method, or from another, with two tests of each.

        Parameters
        ----------
        measure : str, optional
            Any in `.folds`; the mean cost if not given.
        against : str, optional
            A method; that of the best mean if not given.
        rope : float >= 0
            Region of practical equivalence: differences up to this size do not count, in units of the measure.
        level : float in (0, 1)
            Of the limits.

        Returns
        -------
        pandas.DataFrame
            One row for each other method: difference, std_error, lower, upper, statistic, p_value (corrected
            resampled t test), better, same, worse (probabilities that the method is better than, practically the
            same as, or worse than `against`, by the Bayesian correlated t test).

        Raises
        ------
        OptionError
            An unknown measure or method, or one that failed in a fold.

        Notes
        -----
        With the J differences d of the folds, the standard error is sqrt((1/J + 1/(k - 1)) var(d)), and the degrees
        of freedom are J - 1 [Nadeau & Bengio 2003, sec. 3]. The posterior of the mean difference is Student's t with
        the same location, scale and degrees of freedom [Benavoli et al. 2017, eq. 8]. Neither is adjusted for the
        number of methods, nor for the choice of the best by the same folds.

        Examples
        --------
        >>> from ordstat import compare, datasets
        >>> wine = datasets.load("wine")
        >>> found = compare("rating ~ temp + contact", wine, methods=["logit", "redsvm"], cv=5)
        >>> found.differences("classification error", against="redsvm")[["difference", "p_value"]].shape
        (1, 2)
        """
        measure = self._known(measure)
        against = self._against(measure, against)
        number("rope", rope, least=0.0)
        fraction("level", level)
        others = [label for label in self._order(measure) if label != against]
        rows = [self._difference(measure, label, against, rope, level) for label in others]
        frame = pd.DataFrame(rows, index=pd.Index(others, name="method", dtype=object), columns=list(_DIFFERENCE))
        return NotedFrame.of(frame, self._words(measure, against, rope, level), f"Differences in {measure}")

    def plot(
        self, ax: Axes | None = None, *, measure: str | None = None, against: str | None = None, level: float = 0.95
    ) -> Axes:
        """Means of a measure with their limits, and the folds as small marks; the best on top.

        Parameters
        ----------
        ax : matplotlib axes, optional
        measure : str, optional
            The mean cost if not given.
        against : str, optional
            A method: draws the differences from it in place of the means. These are what to judge a difference by, as
            folds that are hard for one method are hard for the others too.
        level : float in (0, 1)
            Of the limits.
        """
        measure = self._known(measure)
        against = None if against is None else self._against(measure, against)
        what = f"{measure}, {100 * level:g} % limits"
        if against is not None:
            what = f"difference in {measure} from {against}, {100 * level:g} % limits"
        return compared(self.plot_data(measure, against, level), self._fold_values(measure, against), what, ax)

    def plot_data(self, measure: str | None = None, against: str | None = None, level: float = 0.95) -> pd.DataFrame:
        """What `plot` draws: mean, lower and upper of each method, the best first.

        Parameters
        ----------
        measure, against, level
            As there.
        """
        measure = self._known(measure)
        fraction("level", level)
        against = None if against is None else self._against(measure, against)
        found = {name: self._resampled(row) for name, row in self._fold_values(measure, against).items()}
        rows = [(one.mean, *one.limits(level)) for one in found.values()]
        index = pd.Index(list(found), name="method")
        return pd.DataFrame(rows, columns=["mean", "lower", "upper"], index=index)

    def report(self) -> Report:
        """What is printed, as data."""
        tables = (self._main_table(), self._other_table())
        return Report(title=self.title, header=(), tables=tables, notes=self.notes)

    # Numbers

    @property
    def _ratio(self) -> float:
        """n_test / n_train, over all folds."""
        return 1.0 / (self.cv - 1)

    def _of(self, measure: str) -> FloatArray:
        """(M, J) values, all NaN of a method that failed in a fold, and of a fold in which a method lacks its value.

        All means are over the same folds, so that no method goes without those that are hard.
        """
        values = self.values[:, :, MEASURES.index(measure)].copy()
        values[self._failing] = np.nan
        lacking = np.isnan(values)
        values[:, lacking[~lacking.all(axis=1)].any(axis=0)] = np.nan
        return values

    @cached_property
    def _failing(self) -> BoolArray:
        return np.isin(self.labels, self.failed["method"].to_numpy(dtype=object))

    def _resampled(self, values: FloatArray) -> Resampled:
        return Resampled.of(values, self.weights, self._ratio)

    def _mean_ranks(self, measure: str) -> FloatArray:
        values = self._of(measure)
        there = ~np.isnan(values).all(axis=0)
        if not there.any():
            return np.full(len(values), np.nan)
        ranks = ranks_within(values[:, there], measure in LARGER_IS_BETTER)
        return np.asarray(np.average(ranks, axis=1, weights=self.weights[there]))

    def _order(self, measure: str) -> list[str]:
        """Methods by their mean, the best first; those without one last."""
        means = np.array([self._resampled(values).mean for values in self._of(measure)])
        signed = -means if measure in LARGER_IS_BETTER else means
        return [self.labels[place] for place in np.argsort(signed, kind="stable")]

    def _best(self, measure: str) -> str:
        return self._order(measure)[0]

    @cached_property
    def _shown(self) -> list[str]:
        """Measures of a table that some method has, the one that sorts first."""
        there = [name for name in SHOWN if np.isfinite(self.values[:, :, MEASURES.index(name)]).any()]
        return [self.measure, *(name for name in there if name != self.measure)]

    def _known(self, measure: str | None) -> str:
        if measure is None:
            return self.measure
        one_of("measure", measure, MEASURES)
        return measure

    def _against(self, measure: str, label: str | None) -> str:
        if label is None:
            return self._best(measure)
        one_of("against", label, self.labels)
        if self._failing[self.labels.index(label)]:
            raise OptionError(f"against must be a method without failures; {label!r} failed in a fold, see .failed.")
        return label

    def _fold_values(self, measure: str, against: str | None) -> dict[str, FloatArray]:
        """(J,) values of each method, or their differences from another, the best first."""
        values = self._of(measure)
        if against is not None:
            other = values[self.labels.index(against)]
            with np.errstate(invalid="ignore"):
                unknown = (np.isinf(values) & np.isinf(other)).any(axis=1)
                values = values - other
            values[unknown] = np.nan  # infinity less infinity
        order = [label for label in self._order(measure) if label != against]
        return {label: values[self.labels.index(label)] for label in order}

    def _difference(self, measure: str, label: str, against: str, rope: float, level: float) -> tuple[float, ...]:
        """The columns of `_DIFFERENCE`."""
        found = self._resampled(self._fold_values(measure, against)[label])
        lower, upper = found.limits(level)
        smaller, same, larger = found.probabilities(rope)
        better, worse = (larger, smaller) if measure in LARGER_IS_BETTER else (smaller, larger)
        return (found.mean, found.std_error, lower, upper, found.statistic, found.p_value, better, same, worse)

    # Words

    def _words(self, measure: str, against: str, rope: float, level: float) -> list[str]:
        more = "larger" if measure in LARGER_IS_BETTER else "smaller"
        df = max(int((~np.isnan(self._of(measure)).all(axis=0)).sum()) - 1, 0)
        return [
            f"Differences from {against}, {100 * level:g} % limits; a {more} {measure} is better.",
            f"Corrected resampled t test, {df} degrees of freedom (Nadeau and Bengio 2003); p-values not adjusted.",
            f"better, same, worse: posterior probabilities of a difference beyond or within +-{rope:g} "
            "(Bayesian correlated t test, Benavoli et al. 2017).",
        ]

    def _main_table(self) -> Table:
        """Means, differences from the best, ranks and seconds."""
        table, best = self.table, self.best
        frame = table[[self.measure, f"{self.measure} se"]].set_axis(["mean", "SE"], axis=1)
        told = self.differences()[["difference", "p_value", "same", "worse"]]
        frame = frame.join(told.set_axis(["diff.", "p", "P(same)", "P(worse)"], axis=1))
        frame = _with_short_names(pd.DataFrame(frame.join(table["rank"])))
        formats = {**dict.fromkeys(frame, ".3f"), "p": "p3", "P(same)": ".2f", "P(worse)": ".2f", "rank": ".2f"}
        note = (
            f"diff., p: from {shortened_middle(best, 2 * _LONGEST)}, corrected resampled t test. P(same), P(worse): "
            "within 0.01 of it, worse by more (Bayesian). rank: mean over folds."
        )
        title = self.measure[:1].upper() + self.measure[1:]
        return Table(title=title, frame=frame, formats=formats, note=note)

    def _other_table(self) -> Table:
        """Means of the other measures."""
        others = [name for name in self._shown if name != self.measure]
        frame = _with_short_names(pd.DataFrame(self.table[[*others, "seconds"]]).rename(columns=SHOWN))
        told = [f"{SHOWN[name]}: {name}" for name in others if name != SHOWN[name]]
        larger = [SHOWN[name] for name in others if name in LARGER_IS_BETTER]
        note = f"{'; '.join(told)}. Larger is better for {' and '.join(larger)}. Seconds of a fit."
        formats = {**dict.fromkeys(frame, ".3f"), "seconds": ".2g"}
        return Table(title="Means of other measures", frame=frame, formats=formats, note=note)


def _with_short_names(frame: pd.DataFrame) -> pd.DataFrame:
    """Long names of rows without their middle, where that leaves them different."""
    short = [shortened_middle(str(name), _LONGEST) for name in frame.index]
    return frame.set_axis(pd.Index(short, name="method")) if len(set(short)) == len(short) else frame


def failure_notes(failed: pd.DataFrame, J: int) -> list[str]:
    """What is said of the methods that failed in a fold."""
    return [
        f"{label} failed in {len(own)} of {counted(J, 'fold')} and has no means and ranks (.failed): "
        f"{own['message'].iloc[0]}"
        for label, own in failed.groupby("method", sort=False)
    ]


def fold_notes(found: Comparison) -> list[str]:
    """What is said of measures that have no value in some folds, or an infinite one."""
    notes, J = [], found.values.shape[1]
    for measure in found._shown:
        values = found._of(measure)
        lacking = int(np.isnan(values).all(axis=0).sum())
        known = found.values[~found._failing, :, MEASURES.index(measure)]
        if lacking and not np.isnan(known).all():
            notes.append(f"{measure}: {J - lacking} of {counted(J, 'fold')}, where all that have it have a value.")
        infinite = {label: int(np.isinf(own).sum()) for label, own in zip(found.labels, values, strict=True)}
        notes += [
            f"{measure} of {label} is infinite in {n} of {counted(J, 'fold')}: an observed level had probability 0."
            for label, n in infinite.items()
            if n
        ]
    return notes

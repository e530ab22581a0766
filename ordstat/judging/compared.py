"""Methods compared on the same folds: means, tests and tables."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.special import stdtr, stdtrit

from .._typing import BoolArray, FloatArray, IntArray
from ..checks import counted, flag, fraction, one_of
from ..exceptions import OptionError
from ..formula.sample import Sample
from ..method import Method
from ..plots.errors import draw_comparison
from ..plots.style import Sheet, shortened_middle
from ..report.frames import NotedFrame
from ..report.render import Report, Reported, Table
from ..threads import SILENT
from .absent_levels import fit_levels_present
from .decisions import best_decisions
from .errors import LARGER_IS_BETTER, MEASURES, error_table
from .evaluation import evaluate
from .folds import split

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..formula.design import Design

#: Errors that a fit to a part of the rows may raise: others are bugs.
_FAILURES = (ValueError, ArithmeticError, RuntimeError, MemoryError)


@dataclass(frozen=True, eq=False, kw_only=True)
class Judged:
    """The measures of a method on one fold.

    Attributes
    ----------
    values : (n,) of MEASURES
        NaN if a measure is undefined, or the fit failed.
    seconds : float
        Time of the fit.
    reached : bool
        Whether the fit reached its tolerance.
    failure : str
        Reason why the fit failed; empty if it did not.
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
        The method with calibrated scores.
    """

    label: str
    design: Design
    method: Method
    calibrated: Any = None

    @property
    def sample(self) -> Sample:
        """The rows for the method, with clusters only if the method keeps them together
        in folds.
        """
        sample = self.method.marked(self.design).sample
        if self.calibrated is not None or self.method.keeps_clusters:
            return sample
        return replace(sample, cluster=None)

    @cached_property
    def groupings(self) -> list[IntArray]:
        """(N,) codes of the groups of rows that belong together: clusters, and groups
        of random effects.
        """
        sample = self.design.sample
        random = sample.rows.random
        groups = None if random is None else random.independent_sets()
        return [codes for codes in (sample.cluster, groups) if codes is not None]

    @property
    def decides(self) -> bool:
        """Whether it predicts from its own probabilities."""
        return self.method.supports.decisions and self.calibrated is None

    def judged(
        self, held_out: FloatArray, cost: Any, seed: list[int], each: bool = False
    ) -> Judged:
        """Fit to the rows that are not held out, and measure errors on the others.

        Parameters
        ----------
        held_out : (N,) held-out part of the case weight of every row
        cost : str or (K, K) array
            Cost of predictions, which may differ from the cost that the method
            minimises.
        seed : list of int
        each : bool
            Whether each measure judges the predictions that are best for it.
        """
        method: Any = self.method
        train, test = split(self.sample, held_out)
        learner = method if self.calibrated is None else self.calibrated
        if self.sample.rows.random is not None:
            learner = method.for_new_groups()  # predicts averages over the groups
        with SILENT:  # failures and missed tolerances are counted
            try:
                begun = time.perf_counter()
                fit = fit_levels_present(learner, train, np.random.default_rng(seed))
                seconds = time.perf_counter() - begun
                results = method.results_class(
                    "", self.design, method, fit, calibrated=self.calibrated
                )
                best = best_decisions(fit, train) if each and self.decides else None
                table = error_table(
                    evaluate(fit, test, cost, results.probabilities_of, each=best)
                )
            except _FAILURES as problem:
                text = str(problem) or type(problem).__name__
                return Judged(values=np.full(len(MEASURES), np.nan), failure=text)
        values = table.reindex(list(MEASURES)).to_numpy()
        return Judged(values=values, seconds=seconds, reached=fit.certificate.reached)


#: Measures of `Comparison.table`, in its order.
SHOWN = (
    "classification error",
    "absolute error",
    "macro absolute error",
    "quadratic kappa",
    "concordance",
    "ranked probability score",
    "log-loss",
)
_DIFFERENCE = ("difference", "std_error", "lower", "upper", "statistic", "p_value")
#: Values of two methods that differ by less than this share are equal but for rounding,
#: which no test should call a difference.
_TIED = 1e-14
# Most letters of a method's name in print.
_LONGEST = 22


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Comparison(Reported):
    """Methods compared by cross-validation on the same folds; returned by `compare`.

    Attributes
    ----------
    title : str
    labels : tuple of str
        Names of the M methods.
    values : (M, J, n) of MEASURES
        By method and fold, one repeat after another; NaN if a measure is undefined or a
        fit failed.
    seconds : (M, J)
        Time of each fit.
    weights : (J,)
        Case weight of each fold.
    cv, repeats : int
        J = cv times repeats.
    measure : str
        The measure by which methods are sorted: the mean cost.
    failed : pandas.DataFrame
        Fits that failed, with columns method, repeat, fold, message.
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
        """Every measure of every fold: columns method, repeat, fold, measure, value.
        "seconds" is a measure.
        """
        M, J, n = self.values.shape
        every = np.concatenate([self.values, self.seconds[:, :, None]], axis=2)
        number = np.arange(J)
        return pd.DataFrame(
            {
                "method": pd.Categorical(
                    np.repeat(self.labels, J * (n + 1)), self.labels
                ),
                "repeat": np.tile(np.repeat(number // self.cv + 1, n + 1), M),
                "fold": np.tile(np.repeat(number % self.cv + 1, n + 1), M),
                "measure": np.tile([*MEASURES, "seconds"], M * J),
                "value": every.ravel(),
            }
        )

    @property
    def best(self) -> str:
        """The method with the best mean."""
        return self._order(self.measure)[0]

    @property
    def table(self) -> pd.DataFrame:
        """One row per method, the best first.

        Every measure with its standard error (column "... se", corrected for the
        overlap of the training sets), then the mean seconds of a fit. NaN for a method
        that failed in a fold.
        """
        frame = pd.DataFrame(index=pd.Index(self.labels, name="method"))
        for measure in self._shown:
            frame[[measure, f"{measure} se"]] = [
                self._resampled(values)[:2] for values in self._of(measure)
            ]
        frame["seconds"] = self.seconds.mean(axis=1)
        return NotedFrame.of(
            frame.loc[self._order(self.measure)], self.notes, self.title
        )

    def differences(
        self,
        measure: str | None = None,
        against: str | None = None,
        *,
        level: float = 0.95,
    ) -> pd.DataFrame:
        """Differences of one measure from the best method, or from another, with tests.

        Parameters
        ----------
        measure : str, optional
            Any measure in `.folds`; the mean cost by default.
        against : str, optional
            A method; by default the best.
        level : float in (0, 1)
            Confidence level of the intervals.

        Returns
        -------
        pandas.DataFrame
            One row for each other method: difference, std_error, lower, upper,
            statistic, p_value (corrected resampled t test).

        Raises
        ------
        OptionError
            An unknown measure or method, or one that failed in a fold.

        Notes
        -----
        With the J differences d of the folds, the standard error is sqrt((1/J + 1/(k -
        1)) var(d)), and the degrees of freedom are J - 1 [Nadeau & Bengio 2003, sec.
        3]. The p-values are not adjusted for the number of methods, nor for choosing
        the best method on the same folds.

        Examples
        --------
        >>> from ordstat import compare, datasets
        >>> wine = datasets.load("wine")
        >>> methods = ["logit", "redsvm"]
        >>> found = compare("rating ~ temp + contact", wine, methods=methods, cv=5)
        >>> table = found.differences("classification error", against="redsvm")
        >>> table[["difference", "p_value"]].shape
        (1, 2)
        """
        measure = self._measure(measure)
        if against is None:
            against = self._order(measure)[0]
        self._check_against(against)
        fraction("level", level)
        folds = self._fold_values(measure, against)
        index = pd.Index(list(folds), name="method", dtype=object)
        rows = [self._resampled(values, level) for values in folds.values()]
        frame = pd.DataFrame(rows, index=index, columns=list(_DIFFERENCE))
        df = max(int((~np.isnan(self._of(measure)).all(axis=0)).sum()) - 1, 0)
        notes = [
            (
                f"Differences from {against}, {100 * level:g}% confidence intervals; a"
                f" {'larger' if measure in LARGER_IS_BETTER else 'smaller'} {measure}"
                " is better."
            ),
            (
                f"Corrected resampled t test, {df} degrees of freedom (Nadeau and"
                " Bengio 2003); p-values not adjusted."
            ),
        ]
        return NotedFrame.of(frame, notes, f"Differences in {measure}")

    def plot(
        self,
        ax: Axes | None = None,
        *,
        measure: str | None = None,
        against: str | None = None,
        level: float = 0.95,
        title: str | None = None,
        draw: bool = True,
    ) -> Any:
        """Plot means of a measure with confidence intervals, and the folds as small
        marks; the best method on top.

        Parameters
        ----------
        ax : matplotlib axes, optional
        measure : str, optional
            The mean cost by default.
        against : str, optional
            Plot differences from this method instead of means. Differences compare
            methods more precisely, as folds that are hard for one method are hard for
            all.
        level : float in (0, 1)
            Confidence level of the intervals.
        title : str, optional
        draw : bool
            False returns the frame instead: mean, lower and upper for each method, the
            best first.
        """
        measure = self._measure(measure)
        fraction("level", level)
        axis_label = f"{measure}, {100 * level:g}% confidence interval"
        if against is not None:
            self._check_against(against)
            axis_label = (
                f"difference in {measure} from {against},"
                f" {100 * level:g}% confidence interval"
            )
        folds = self._fold_values(measure, against)
        rows = [self._resampled(values, level) for values in folds.values()]
        frame = pd.DataFrame(
            rows,
            columns=["mean", *_DIFFERENCE[1:]],
            index=pd.Index(list(folds), name="method"),
        )
        frame = frame[["mean", "lower", "upper"]]
        if not flag("draw", draw):
            return frame
        return Sheet(ax, title).show(
            draw_comparison, frame, folds, axis_label, against is not None
        )

    def report(self) -> Report:
        """The printed report: means, differences from the best, and seconds."""
        frame = self.table[[self.measure, f"{self.measure} se", "seconds"]]
        differences = self.differences()[["difference", "p_value"]]
        frame = frame.set_axis(["mean", "SE", "seconds"], axis=1)
        frame = frame.join(differences.set_axis(["diff.", "p"], axis=1))
        short = [shortened_middle(str(name), _LONGEST) for name in frame.index]
        if len(set(short)) == len(short):
            frame.index = pd.Index(short, name="method")
        formats = {"p": "p", "seconds": ".2g"}
        best = shortened_middle(self.best, 2 * _LONGEST)
        note = (
            f"diff., p: from {best}, corrected resampled t test. Other measures:"
            " .table."
        )
        title = self.measure[:1].upper() + self.measure[1:]
        table = Table(
            title=title,
            frame=frame,
            formats=dict.fromkeys(frame, ".3f") | formats,
            note=note,
        )
        return Report(title=self.title, header=(), tables=(table,), notes=self.notes)

    def with_fold_notes(self) -> Comparison:
        """The comparison with notes on measures that are missing or infinite in some
        folds.
        """
        notes = list(self.notes)
        J = self.values.shape[1]
        for measure in self._shown:
            values = self._of(measure)
            lacking = int(np.isnan(values).all(axis=0).sum())
            if 0 < lacking < J:
                notes.append(
                    f"{measure}: {J - lacking} of {counted(J, 'fold')}, in which all"
                    " these methods have a value."
                )
            infinite = np.isinf(values).sum(axis=1)
            for label, times in zip(self.labels, infinite, strict=True):
                if times:
                    notes.append(
                        f"{measure} of {label} is infinite in {times} of"
                        f" {counted(J, 'fold')}: an observed level had probability 0."
                    )
        return replace(self, notes=tuple(notes))

    def _of(self, measure: str) -> FloatArray:
        """(M, J) values; all NaN for a method that failed in a fold, and for a fold in
        which a method has no value.

        All means are over the same folds, so that no method skips hard ones.
        """
        values = self.values[:, :, MEASURES.index(measure)].copy()
        values[self._failing] = np.nan
        lacking = np.isnan(values)
        values[:, lacking[~lacking.all(axis=1)].any(axis=0)] = np.nan
        return values

    @cached_property
    def _failing(self) -> BoolArray:
        return np.isin(self.labels, self.failed["method"].to_numpy(dtype=object))

    def _resampled(self, values: FloatArray, level: float = 0.95) -> tuple[float, ...]:
        return resampled(values, self.weights, 1.0 / (self.cv - 1), level)

    def _order(self, measure: str) -> list[str]:
        """Methods by mean, the best first; methods without a mean last."""
        means = np.array([self._resampled(values)[0] for values in self._of(measure)])
        signed = -means if measure in LARGER_IS_BETTER else means
        return [self.labels[i] for i in np.argsort(signed, kind="stable")]

    @cached_property
    def _shown(self) -> list[str]:
        """Measures that some method has, starting with the sorting measure."""
        available = [
            name
            for name in SHOWN
            if np.isfinite(self.values[:, :, MEASURES.index(name)]).any()
        ]
        return [self.measure, *(name for name in available if name != self.measure)]

    def _measure(self, measure: str | None) -> str:
        if measure is not None:
            one_of("measure", measure, MEASURES)
        return measure or self.measure

    def _check_against(self, label: str) -> None:
        one_of("against", label, self.labels)
        if self._failing[self.labels.index(label)]:
            raise OptionError(
                f"against must be a method without failures; {label!r} failed in a"
                " fold, see .failed."
            )

    def _fold_values(self, measure: str, against: str | None) -> dict[str, FloatArray]:
        """(J,) values of each method, or their differences from another, the best
        first.
        """
        values = self._of(measure)
        if against is not None:
            reference = values[self.labels.index(against)]
            with np.errstate(invalid="ignore"):
                unknown = (np.isinf(values) & np.isinf(reference)).any(axis=1)
                tied = np.isclose(values, reference, rtol=_TIED, atol=0.0)
                values = np.where(tied, 0.0, values - reference)
            values[unknown] = np.nan  # infinity minus infinity
        order = [label for label in self._order(measure) if label != against]
        return {label: values[self.labels.index(label)] for label in order}


def resampled(
    values: FloatArray, weights: FloatArray, ratio: float, level: float = 0.95
) -> tuple[float, float, float, float, float, float]:
    """Mean over J folds, its corrected standard error, confidence limits, and the t
    test of mean 0.

    Parameters
    ----------
    values, weights : (J,)
        Each fold counts by its weight; values that are NaN do not count.
    ratio : float
        n_test / n_train.
    level : float in (0, 1)
        Confidence level of the intervals.

    Returns
    -------
    tuple
        mean, std_error = sqrt((1/J + ratio) s^2), lower, upper, statistic (mean /
        std_error), two-sided p_value with J - 1 degrees of freedom [Nadeau & Bengio
        2003, sec. 3]. The standard error of fewer than two folds is NaN.

    Examples
    --------
    >>> values = np.array([1.0, 2.0, 3.0])
    >>> mean, std_error, *others = resampled(values, np.ones(3), ratio=0.5)
    >>> mean, round(std_error**2, 4)  # (1/3 + 1/2) * 1
    (2.0, 0.8333)
    """
    present = ~np.isnan(values)
    values = values[present]
    weights = weights[present]
    J = int(present.sum())
    # an infinite mean has no deviation
    with np.errstate(divide="ignore", invalid="ignore"):
        share = weights / weights.sum()
        mean = share @ values if J else np.nan
        variance = np.nan
        if J > 1:
            variance = np.float64(J) / (J - 1) * (share @ (values - mean) ** 2)
        std_error = np.sqrt((1.0 / max(J, 1) + ratio) * variance)
        statistic = np.divide(mean, std_error)
    half = stdtrit(max(J - 1, 1), 0.5 + 0.5 * level) * std_error
    p_value = 2.0 * stdtr(max(J - 1, 1), -abs(statistic))
    return (
        float(mean),
        float(std_error),
        float(mean - half),
        float(mean + half),
        float(statistic),
        float(p_value),
    )


def group_codes(groupings: list[IntArray]) -> IntArray:
    """(N,) codes of the smallest groups that keep every group of every grouping (N,)
    together.

    Examples
    --------
    >>> classes, schools = np.array([0, 0, 1, 2]), np.array([0, 0, 0, 1])
    >>> group_codes([classes, schools]).tolist()
    [0, 0, 0, 1]
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n = groupings[0].size
    first = np.cumsum([0, *(int(codes.max()) + 1 for codes in groupings)])
    nodes = np.concatenate(
        [codes + start for codes, start in zip(groupings, first, strict=False)]
    )
    rows = np.tile(np.arange(n), len(groupings)) + first[-1]
    size = n + int(first[-1])
    graph = coo_array((np.ones(nodes.size), (rows, nodes)), shape=(size, size))
    of_rows = connected_components(graph, directed=False)[1][first[-1] :]
    return np.asarray(np.unique(of_rows, return_inverse=True)[1], dtype=np.intp)

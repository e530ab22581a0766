"""Kernel cumulative models, "kernel-clm": choice of kernel, landmarks and penalty, and
the fit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from .._typing import FloatArray, IntArray, Progress
from ..advice import with_option_hints
from ..checks import number, one_of, one_spelled, ticking, whole
from ..exceptions import OptionError
from ..fit import Certificate, KernelExpansion, LinearPotential, Trace
from ..formula.distinct import distinct_rows
from ..formula.sample import Sample
from ..formula.scaling import SCALINGS, Scaling, fit_scaling
from ..judging.costs import CostField
from ..judging.folds import stratified_part, with_mean_weight_1
from ..kernels import GRAM_BYTES, Gaussian, Kernel, Perceptron, parse_kernel
from ..likelihood.cumulative import Cumulative
from ..likelihood.links import LINKS
from ..method import Method, Supports, cost_option, option
from ..rankers import ProbabilityResults
from ..report.frames import NotedFrame
from ..report.render import Report, Table
from ..report.sections import error_tables, figures, ranker_report
from ..svm.landmarks import Features, landmark_features
from ..threads import one_blas_thread
from .kernel_features import (
    MOST_TRIALS,
    Evidence,
    FeatureRows,
    KernelFit,
    KernelScore,
    Named,
    Trial,
    best,
    exact_features,
    linear_features,
    log_evidence,
    penalties,
    trial_at,
    worth_more,
)
from .probabilities import LatentRule

#: Default: largest number of rows used exactly, numbers of landmarks to try beyond, and
#: the largest product of rows and squared number of landmarks.
EXACT = 1000
SIZES = (100, 200, 400, 800)
MOST_PRODUCTS = 1e10
#: Number of landmarks by which several kernels are compared.
COMPARED = 200
# Those go on whose loss is within this share of the best one's fall from the loss
# without H.
_NEAR = 0.05
#: Largest number of rows used to choose landmarks and penalty.
JUDGED = 3000


#: gamma times the number of columns of the default Gaussian kernels.
_SCALES = (0.25, 1.0, 4.0)


def usual_kernels(n_columns: int) -> tuple[Kernel, ...]:
    """The default kernels: the perceptron kernel, which has no scale, and three
    Gaussian kernels.

    Examples
    --------
    >>> usual_kernels(4)
    (Perceptron(), Gaussian(gamma=(0.0625, 0.25, 1.0)))
    """
    return Perceptron(), Gaussian(
        gamma=tuple(scale / max(n_columns, 1) for scale in _SCALES)
    )


def candidates(kernels: Sequence[Kernel]) -> list[tuple[Kernel, float | None]]:
    """Each kernel with each of its gammas; None if gamma is not chosen."""
    pairs: list[tuple[Kernel, float | None]] = []
    for kernel in kernels:
        pairs += [(kernel.at(gamma), gamma) for gamma in kernel.gammas] or [
            (kernel, None)
        ]
    return pairs


def landmark_numbers(asked: int | str | None, n: int) -> tuple[int | None, ...]:
    """Numbers of landmarks to try for n distinct rows; None to use all rows exactly.

    Examples
    --------
    >>> [landmark_numbers(None, n) for n in (500, 100_000)]
    [(None,), (100, 200)]
    """
    if (
        asked == "all"
        or (isinstance(asked, int) and asked >= n)
        or (asked is None and n <= EXACT)
    ):
        return (None,)
    if asked is not None:
        return (int(asked),)
    return (SIZES[0], *(m for m in SIZES[1:] if n * m**2 <= MOST_PRODUCTS))


@dataclass(frozen=True, eq=False, kw_only=True)
class ScaledRows:
    """Distinct rows of a sample, with scaled columns.

    Attributes
    ----------
    X : (M, D)
        Rows of the whole sample.
    rows : (N,)
        Places of the distinct rows in X.
    y : (N,) codes
    weights : (N,)
    offset : (N,)
    family : Cumulative
    """

    X: FloatArray
    rows: IntArray
    y: IntArray
    weights: FloatArray
    offset: FloatArray
    family: Cumulative

    def features(self, kernel: Kernel, landmarks: int | None, seed: int) -> Features:
        """Features of a kernel. The first landmarks drawn with a seed do not depend on
        how many are drawn.
        """
        if kernel.linear:
            return linear_features(self.X, self.rows)
        if landmarks is None:
            return exact_features(kernel, self.X, self.rows)
        rng = np.random.default_rng(seed)
        return landmark_features(
            kernel, self.X, self.rows, self.weights, landmarks, rng
        )

    def null_loss(self, some: IntArray) -> float:
        """Mean loss of some rows with thresholds and offsets alone."""
        rows = self.on(linear_features(self.X[:, :0], self.rows))
        return rows.take(some, self.weights[some]).null_loss()

    def on(self, features: Features) -> FeatureRows:
        """The rows with their features."""
        return FeatureRows(
            F=features.values,
            y=self.y,
            weights=self.weights,
            offset=self.offset,
            family=self.family,
            variance=features.variance(self.weights),
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Choice:
    """The kernel, features and penalty of a fit.

    Attributes
    ----------
    kernel : Kernel
    features : Features
    penalty : float
    loss : float
        Minus the log evidence per row; infinite if nothing was compared.
    point : start of the final search, or None
    trials : tuple of Trial
        All trials.
    """

    kernel: Kernel
    features: Features
    penalty: float
    loss: float = np.inf
    point: FloatArray | None = None
    trials: tuple[Trial, ...] = ()


@dataclass(frozen=True, eq=False, kw_only=True)
class Search:
    """The search for kernel, landmarks and penalty.

    Attributes
    ----------
    training : ScaledRows
    kernels : tuple of Kernel
        Kernels to choose from.
    landmarks : int, "all" or None
    penalty : float, or None to choose it
    judged : (J,) rows used for the choice
    seed : int
        Seed of the landmarks.
    tick : callable(message)
    """

    training: ScaledRows
    kernels: tuple[Kernel, ...]
    landmarks: int | str | None
    penalty: float | None
    judged: IntArray
    seed: int
    tick: Callable[[str], None]

    def best(self) -> Choice:
        """The choice with the smallest loss; ties go to the first."""
        several = candidates(self.kernels)
        (first, _), numbers = several[0], self._numbers(several[0][0])
        if self.penalty is not None and len(several) == 1 and len(numbers) == 1:
            features = self.training.features(first, numbers[0], self.seed)
            return Choice(kernel=first, features=features, penalty=self.penalty)
        if len(several) == 1:
            return self._of_kernel(first, (first.name, several[0][1]), numbers)
        compared = [
            self._of_kernel(kernel, (kernel.name, gamma), self._compared(kernel))
            for kernel, gamma in several
        ]
        least = min(choice.loss for choice in compared)
        near = least + _NEAR * max(self.null_loss - least, 0.0)
        trials = tuple(t for choice in compared for t in choice.trials)
        finalists = list[Choice]()
        for choice, named in zip(compared, several, strict=True):
            more = self._beyond(choice)
            if choice.loss > near:
                continue
            if more:
                choice = self._of_kernel(
                    choice.kernel, (choice.kernel.name, named[1]), more, choice
                )
                trials += choice.trials
            finalists.append(choice)
        taken = min(finalists, key=lambda choice: choice.loss)
        return replace(taken, trials=trials)

    @cached_property
    def null_loss(self) -> float:
        """Mean loss of the judged rows with thresholds and offsets alone."""
        return self.training.null_loss(self.judged)

    def _part(self, rows: FeatureRows) -> FeatureRows:
        """The judged rows."""
        if self.judged.size == self.training.rows.size:
            return rows
        return rows.take(self.judged, rows.weights[self.judged])

    def _numbers(self, kernel: Kernel) -> tuple[int | None, ...]:
        """Numbers of landmarks to try."""
        if kernel.linear:
            return (None,)
        return landmark_numbers(self.landmarks, self.training.rows.size)

    def _compared(self, kernel: Kernel) -> tuple[int | None]:
        """The number of landmarks by which kernels are compared."""
        most = self._numbers(kernel)[-1]
        few = COMPARED if most is None else min(most, COMPARED)
        enough = kernel.linear or few >= self.training.rows.size
        return (None if enough else few,)

    def _beyond(self, choice: Choice) -> tuple[int | None, ...]:
        """Numbers of landmarks to try beyond those of the comparison."""
        (compared,) = self._compared(choice.kernel)
        if compared is None or choice.features.values.shape[1] < compared:
            return ()  # these represent the whole kernel
        numbers = self._numbers(choice.kernel)
        return tuple(m for m in numbers if m is None or m > compared)

    def _of_kernel(
        self,
        kernel: Kernel,
        named: Named,
        numbers: Sequence[int | None],
        before: Choice | None = None,
    ) -> Choice:
        """Choose landmarks and penalty for one kernel; try more landmarks while they
        lower the loss enough. A number of landmarks that was asked for is taken, and
        fewer `before` only tell where to search.
        """
        like = None if before is None else best(before.trials)
        taken = before if self.landmarks is None else None
        trials = list[Trial]()
        for landmarks in numbers:
            features = self.training.features(kernel, landmarks, self.seed)
            part = self._part(self.training.on(features))
            judge = Evidence(part)
            tried = self._tried(judge, part, named, like)
            trials += tried
            found = best(tried)
            if taken is None or found.loss < taken.loss:
                taken = Choice(
                    kernel=kernel,
                    features=features,
                    penalty=found.penalty,
                    loss=found.loss,
                    point=judge.point,
                )
            if landmarks is None or features.values.shape[1] < landmarks:
                break  # fewer landmarks represent the whole kernel
            if like is not None and not worth_more(like, found, self.null_loss):
                break
            like = found if like is None or found.loss < like.loss else like
        assert taken is not None
        return replace(taken, trials=tuple(trials))

    def _tried(
        self, judge: Evidence, rows: FeatureRows, named: Named, like: Trial | None
    ) -> list[Trial]:
        if rows.F.shape[1] == 0:
            return [trial_at(lambda penalty: 0.0, rows, named, self.penalty or 1.0)]
        if self.penalty is not None:
            return [trial_at(judge, rows, named, self.penalty)]
        return penalties(judge, rows, named, like, self.tick)


class KernelResults(ProbabilityResults):
    """A fitted kernel cumulative model, P(y <= k) = F(threshold_k - H).

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> train = datasets.quadratic_bands(200, seed=1)
    >>> fit = ordfit("rank ~ x1 + x2", train, "kernel-clm")
    >>> fit.predict(train.head(2), type="prob").shape
    (2, 4)
    """

    fit: KernelFit

    kind = "Kernel cumulative model"

    @property
    def trials(self) -> pd.DataFrame:
        """The penalties tried, best first; no rows if the penalty was given.

        Returns
        -------
        pandas.DataFrame
            kernel, gamma (if chosen), features (their number), penalty, spread (prior
            standard deviation of H) and loss (minus the log evidence per row).
        """
        names = ("kernel", "gamma", "columns", "penalty", "spread", "loss")
        rows = [[getattr(trial, name) for name in names] for trial in self.fit.trials]
        frame = pd.DataFrame(rows, columns=list(names)).rename(
            columns={"columns": "features"}
        )
        frame = frame.dropna(axis=1, how="all")
        if len(frame):
            frame = frame.sort_values("loss", kind="stable", ignore_index=True)
        else:
            frame = frame
        return frame.rename_axis(index="place")

    def glance(self) -> pd.DataFrame:
        """One-row summary of the fit."""
        f = self.fit
        values = {
            "penalty": f.penalty,
            "spread": f.spread,
            "features": f.columns,
            "effective": f.effective,
        }
        return NotedFrame.of(
            figures(self).assign(**values, loglik=f.loglik, log_evidence=f.log_evidence)
        )

    def summary_data(self) -> Report:
        """The summary as data."""
        f = self.fit
        share = 1.0 - f.loglik / f.null_loglik if f.null_loglik else np.nan
        text = (
            f"{f.loglik:.4f} (thresholds alone: {f.null_loglik:.4f}); McFadden R2"
            f" {share:.3f}"
        )
        tables = self.estimate_tables()
        if f.trials:
            trials = self.trials.head(8)
            if len(f.trials) > 8:
                note = f"The best {len(trials)} of {len(f.trials)}; all are in .trials."
            else:
                note = ""
            title = "Penalties tried (loss: minus the log evidence per row)"
            frame = trials.set_index(trials["penalty"].map("{:.4g}".format)).drop(
                columns="penalty"
            )
            formats = {"features": "int", "spread": ".3g", "loss": ".4f", "gamma": "g"}
            tables.append(
                Table(
                    title=title, frame=frame, formats=formats, note=note, section="fit"
                )
            )
        return ranker_report(
            self, [*tables, *error_tables(self)], [("Log-likelihood", text)]
        )


# About this many rows are scored again to measure rounding.
_CHECKED = 8


def _kernel(name: str, value: Any, of: Any) -> None:
    """OptionError unless a value is a kernel of columns, or None."""
    if value is not None and parse_kernel(value).pairwise:
        raise OptionError(
            f"{name} of {type(of).__name__} must be computed from columns; got"
            f" {value!r}. Use 'redsvm'."
        )


def _penalty(name: str, value: Any, of: Any) -> float | str:
    if value == "evidence":
        return "evidence"
    return number(name, value, above=0.0, of=of, also=" or 'evidence'")


def _landmarks(name: str, value: Any, of: Any) -> int | str | None:
    if value is None or (isinstance(value, str) and value == "all"):
        return value
    return whole(name, value, 2, of=of, also=", 'all' or None")


@with_option_hints
@dataclass(frozen=True, kw_only=True, repr=False)
class KernelCumulativeLink(Method):
    """Cumulative link model with a smooth function of all columns (a Gaussian process
    for ordered levels, at its mode).

    Use it for smooth non-linear effects and accurate probabilities with up to some
    thousand rows.

    P(y <= k | x) = F(theta_k - H(x)). Thresholds and H maximise the log-likelihood
    minus penalty / 2 |H|^2, in the norm of the kernel's function space. H is a
    combination of eigenvectors of the kernel matrix, or of the kernel at landmarks
    [Williams & Seeger 2001]; Newton's method finds the maximum. The penalty corresponds
    to a Gaussian process prior with covariance k / penalty. Laplace's approximation of
    the marginal likelihood ("evidence") chooses kernel and penalty [Williams & Barber
    1998; Chu & Ghahramani 2005]. Fractional weights are scaled to mean 1.

    Parameters
    ----------
    kernel : str, Kernel, callable or None
        "perceptron" -|x - x'|_2, "stump", "gaussian", "laplacian", "polynomial",
        "linear"; a value such as Gaussian(gamma=0.5); or a function of (X, Z). With
        gamma=(0.1, 1.0), or "cv" for 2^-15, 2^-13, ..., 2^3, the evidence chooses
        gamma. None chooses between the perceptron kernel and the Gaussian kernel with
        gamma 1/4, 1 and 4 over the number of columns. With more than 200 rows, several
        kernels are first compared with 200 landmarks; more are tried for those whose
        gain in evidence is within 5% of the best.
    link : {"logit", "probit", "cloglog", "loglog", "cauchit"}
        Distribution F.
    penalty : float or "evidence"
        lambda > 0; "evidence" takes the value with the largest evidence.
    landmarks : int, "all" or None
        Number of rows that H is built from. None means all of up to 1000 distinct rows
        (or the 200 landmarks of the comparison, if their evidence is larger). Of more
        rows it means 100, 200, 400 or 800, as long as the evidence rises.
    scaling : {"range", "standard", None}
        Scale columns to [-1, 1] on the training rows, to mean 0 and standard deviation
        1, or not at all.
    cost : str or (K, K) array
        Cost that predicted levels minimise in expectation: "absolute" gives the median,
        "classification" the mode. H and the probabilities do not depend on it.
    max_iter : int
        Largest number of Newton steps.
    tol : float
        Largest absolute component of the gradient of a converged fit, above 0 and at
        most 1.

    Raises
    ------
    OptionError
        An option has a value outside its range.

    Examples
    --------
    >>> KernelCumulativeLink(kernel="gaussian", penalty=0.1)
    KernelCumulativeLink(kernel='gaussian', penalty=0.1)
    """

    kernel: Any = option(None, _kernel)
    link: str = option("logit", one_spelled, LINKS)
    penalty: float | str = option("evidence", _penalty)
    landmarks: int | str | None = option(None, _landmarks)
    scaling: str | None = option("range", one_of, SCALINGS)
    cost: CostField = cost_option()
    max_iter: int = option(100, whole, 1)
    tol: float = option(1e-6, number, above=0.0, most=1.0)

    supports: ClassVar[Supports] = Supports(offset=True, decisions=True)
    results_class: ClassVar[type[Any]] = KernelResults
    papers: ClassVar[tuple[str, ...]] = (
        (
            "McCullagh, P. (1980). Regression models for ordinal data. Journal of the"
            " Royal Statistical Society B, 42, 109-142."
        ),
        (
            "Chu, W., & Ghahramani, Z. (2005). Gaussian processes for ordinal"
            " regression. Journal of Machine Learning Research, 6, 1019-1041."
        ),
    )

    def kernels(self, n_columns: int) -> tuple[Kernel, ...]:
        """The kernels to choose from."""
        if self.kernel is None:
            return usual_kernels(n_columns)
        return (parse_kernel(self.kernel),)

    def memory(self, sample: Sample) -> float:
        most = landmark_numbers(self.landmarks, sample.n)[-1] or sample.n
        return super().memory(sample) + GRAM_BYTES * sample.n * most

    def fit(
        self, sample: Sample, rng: np.random.Generator, progress: Progress | None = None
    ) -> KernelFit:
        """Fit to arrays.

        Parameters
        ----------
        sample : Sample
            Rows of weight 0 are ignored.
        rng : numpy.random.Generator
            Draws the landmarks.
        progress : callable(step, total, message), optional

        Raises
        ------
        DataError
            A kernel whose matrix is not finite, symmetric and (conditionally) positive
            definite.
        """
        self.check(sample)
        with one_blas_thread():
            training, scaling = self._training(with_mean_weight_1(sample))
            search = self._search(training, rng, progress)
            return self._fitted(sample, training, scaling, search.best())

    def _training(self, sample: Sample) -> tuple[ScaledRows, Scaling]:
        """The distinct rows, with scaled columns."""
        used = np.flatnonzero(sample.case_weights > 0)
        linear = all(kernel.linear for kernel in self.kernels(sample.X.shape[1]))
        scaling = fit_scaling(
            self.scaling, sample.X[used], sample.case_weights[used], about_mean=linear
        )
        y = sample.y
        offset = sample.rows.offset
        offset = np.zeros(sample.n) if offset is None else offset
        different = distinct_rows(sample, offset[:, None])
        rows = different.rows
        family = Cumulative(LINKS[self.link])
        X = scaling(sample.X)
        weights = different.weights
        return (
            ScaledRows(
                X=X,
                rows=rows,
                y=y[rows],
                weights=weights,
                offset=offset[rows],
                family=family,
            ),
            scaling,
        )

    def _search(
        self, training: ScaledRows, rng: np.random.Generator, progress: Progress | None
    ) -> Search:
        judged = stratified_part(training.y, JUDGED, rng)
        kernels = self.kernels(training.X.shape[1])
        numbers = landmark_numbers(self.landmarks, training.rows.size)
        several = len(candidates(kernels))
        tries = several * (len(numbers) + (several > 1))
        return Search(
            training=training,
            kernels=kernels,
            landmarks=self.landmarks,
            penalty=None if isinstance(self.penalty, str) else self.penalty,
            judged=judged,
            seed=int(rng.integers(2**63)),
            tick=ticking(progress, MOST_TRIALS * tries),
        )

    def _fitted(
        self, sample: Sample, training: ScaledRows, scaling: Scaling, choice: Choice
    ) -> KernelFit:
        """The fit for a choice."""
        features = choice.features
        rows = training.on(features).at(choice.penalty)
        start = rows.start() if choice.point is None else choice.point
        optimum = rows.maximum(start, self.tol, self.max_iter)
        theta, b = np.split(optimum.x, [optimum.x.size - rows.F.shape[1]])
        potential = _potential(choice, scaling, b)
        moved = potential.offset - float(features.constants @ b)
        rule = LatentRule(
            KernelScore(potential), theta + moved, training.family, self.cost_matrix
        )
        some = np.arange(0, training.rows.size, max(training.rows.size // _CHECKED, 1))
        # fractional weights were scaled
        unit = float(sample.case_weights.sum() / rows.weights.sum())
        scores = rule.scores(sample.rows)
        effective = 0.0
        if b.size:
            shrunken = float(np.trace(optimum.factor.schur_inverse))
            effective = b.size - choice.penalty * shrunken
        fit = KernelFit(
            rule=rule,
            certificate=Certificate(
                name="max |gradient|",
                value=float(np.abs(optimum.at.score).max()),
                tolerance=optimum.tolerance,
                details=(("iterations", optimum.logliks.size - 1),),
            ),
            trace=Trace(
                iterations=optimum.logliks.size - 1,
                objective=optimum.logliks,
                message=optimum.message,
                stopped=optimum.stopped,
            ),
            scores=scores,
            coefficients=potential.slopes,
            rounding=float(
                np.abs(scores[training.rows[some]] - moved - rows.scores(b)[some]).max()
            ),
            penalty=choice.penalty,
            spread=float(np.sqrt(rows.variance / choice.penalty)),
            columns=b.size,
            effective=effective,
            loglik=unit * (optimum.at.loglik + 0.5 * choice.penalty * float(b @ b)),
            null_loglik=-rows.null_loss() * float(sample.case_weights.sum()),
            log_evidence=log_evidence(rows, optimum),
            trials=choice.trials,
        )
        return replace(fit, facts=self._facts(fit, choice, training))

    def _facts(
        self, fit: KernelFit, choice: Choice, training: ScaledRows
    ) -> tuple[tuple[str, Any], ...]:
        by = ", chosen by marginal likelihood"
        chosen = len(candidates(self.kernels(training.X.shape[1]))) > 1
        exact = choice.features.landmarks is None
        kernel = repr(choice.kernel.settled(training.X.shape[1]))
        if chosen:
            kernel += by
        penalty = f"{fit.penalty:.4g}"
        if isinstance(self.penalty, str) and fit.trials:
            penalty += by
        facts = [("Kernel", kernel), ("Link", self.link), ("Penalty", penalty)]
        if not exact:
            rows = training.rows.size
            facts.append(("Landmarks", f"{fit.columns} of {rows} different rows"))
        return (*facts, ("Effective parameters", f"{fit.effective:.1f}"))


def _potential(
    choice: Choice, scaling: Scaling, b: FloatArray
) -> KernelExpansion | LinearPotential:
    """H as a function of the kernel, or of the columns."""
    features = choice.features
    kernel = choice.kernel
    if kernel.linear:
        return LinearPotential.plain(scaling, b)
    coef = features.coef @ b
    offset = float(features.constants @ b)
    return KernelExpansion(
        kernel=kernel,
        scaling=scaling,
        anchors=features.anchors,
        coef=coef,
        offset=offset,
    ).merged

"""Kernel, landmarks and penalty of a kernel cumulative model: what is tried, and what is taken."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from .._typing import FloatArray, IntArray, Progress
from ..checks import number, one_spelled, whole
from ..exceptions import OptionError
from ..fit import Certificate, KernelExpansion, LinearPotential, Trace
from ..formula.sample import SCALED, Sample, Scaling, distinct_rows, fit_scaling
from ..judging.costs import CostField
from ..judging.evaluation import as_rows, part_of_rows
from ..judging.rankers import ProbabilityResults
from ..judging.selection import scaling_of_kernel, ticking
from ..likelihood.family import Cumulative
from ..likelihood.links import LINKS
from ..method import Method, Needs, cost_option, option
from ..report.frames import NotedFrame
from ..report.render import Report, Table
from ..report.sections import error_tables, figures, ranker_report, threshold_table
from ..svm.kernels import Gaussian, Kernel, Perceptron, parse_kernel
from ..threads import one_blas_thread
from .kernel_features import (
    MOST_TRIALS,
    Evidence,
    FeatureRows,
    Features,
    KernelFit,
    KernelScore,
    Named,
    Trial,
    best,
    exact_features,
    landmark_features,
    linear_features,
    log_evidence,
    penalties,
    trial_at,
    worth_more,
)
from .probabilities import LatentRule

#: By default: the number of rows up to which all rows are landmarks, numbers of landmarks to try beyond, and the
#: largest product of their square with the number of rows.
EXACT, SIZES, MOST_PRODUCTS = 1000, (100, 200, 400, 800), 1e10
#: Rows that landmarks and penalties are chosen on at most: the best penalty does not depend on their number.
JUDGED = 3000


#: gamma times the number of columns of the Gaussian kernels that are tried by default.
_SCALES = (0.25, 1.0, 4.0)


def usual_kernels(n_columns: int) -> tuple[Kernel, ...]:
    """Kernels that are tried by default: one of rough functions without a scale, and three of smooth functions.

    Examples
    --------
    >>> usual_kernels(4)
    (Perceptron(), Gaussian(gamma=(0.0625, 0.25, 1.0)))
    """
    return Perceptron(), Gaussian(gamma=tuple(scale / max(n_columns, 1) for scale in _SCALES))


def candidates(kernels: Sequence[Kernel]) -> list[tuple[Kernel, float | None]]:
    """Every kernel with each of its gammas to choose from; None if there is no choice."""
    pairs: list[tuple[Kernel, float | None]] = []
    for kernel in kernels:
        pairs += [(kernel.at(gamma), gamma) for gamma in kernel.gammas] or [(kernel, None)]
    return pairs


def landmark_numbers(asked: int | str | None, n: int) -> tuple[int | None, ...]:
    """Numbers of landmarks to try for n different rows; None for all rows by the exact route.

    Examples
    --------
    >>> landmark_numbers(None, 500), landmark_numbers(200, 500), landmark_numbers(None, 100_000)
    ((None,), (200,), (100, 200))
    """
    if asked == "all" or (isinstance(asked, int) and asked >= n) or (asked is None and n <= EXACT):
        return (None,)
    if asked is not None:
        return (int(asked),)
    return (SIZES[0], *(m for m in SIZES[1:] if n * m**2 <= MOST_PRODUCTS))


@dataclass(frozen=True, eq=False, kw_only=True)
class Training:
    """Different rows of a sample, on scaled columns.

    Attributes
    ----------
    X : (M, D)
        Of the whole sample, or its kernel matrix.
    rows : (N,)
        The first of X that each different row is.
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
        """The features of a kernel; a seed draws the same first landmarks, however many there are."""
        if kernel.linear:
            return linear_features(self.X, self.rows)
        if landmarks is None:
            return exact_features(kernel, self.X, self.rows)
        rng = np.random.default_rng(seed)
        return landmark_features(kernel, self.X, self.rows, self.weights, landmarks, rng)

    def on(self, features: Features) -> FeatureRows:
        """The rows by their features."""
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
    point : a point near the maximum, or None
    trials : tuple of Trial
        All penalties that were tried.
    """

    kernel: Kernel
    features: Features
    penalty: float
    point: FloatArray | None = None
    trials: tuple[Trial, ...] = ()


@dataclass(frozen=True, eq=False, kw_only=True)
class Search:
    """The search for kernel, landmarks and penalty.

    Attributes
    ----------
    training : Training
    kernels : tuple of Kernel
        At least one.
    landmarks : int, "all" or None
    penalty : float, or None to choose it
    judged : (J,) rows that choices are judged on
    seed : int
        Of the landmarks.
    tick : callable(message)
    """

    training: Training
    kernels: tuple[Kernel, ...]
    landmarks: int | str | None
    penalty: float | None
    judged: IntArray
    seed: int
    tick: Callable[[str], None]

    def best(self) -> Choice:
        """The choice of least loss; ties go to the first."""
        several = candidates(self.kernels)
        (first, _), numbers = several[0], self._numbers(several[0][0])
        if self.penalty is not None and len(several) == 1 and len(numbers) == 1:
            features = self.training.features(first, numbers[0], self.seed)
            return Choice(kernel=first, features=features, penalty=self.penalty)
        choices = [self._of_kernel(kernel, (kernel.name, gamma)) for kernel, gamma in several]
        taken = min(choices, key=lambda choice: best(choice.trials).loss)
        return replace(taken, trials=tuple(trial for choice in choices for trial in choice.trials))

    def _numbers(self, kernel: Kernel) -> tuple[int | None, ...]:
        """Numbers of landmarks to try."""
        return (None,) if kernel.linear else landmark_numbers(self.landmarks, self.training.rows.size)

    def _of_kernel(self, kernel: Kernel, named: Named) -> Choice:
        """More landmarks as long as they lower the loss enough."""
        taken: Choice | None = None
        trials: tuple[Trial, ...] = ()
        for landmarks in self._numbers(kernel):
            features = self.training.features(kernel, landmarks, self.seed)
            before = best(trials) if trials else None
            part = self.training.on(features)
            if self.judged.size < self.training.rows.size:
                part = part.take(self.judged, part.weights[self.judged])
            judge = Evidence(part)
            tried = self._tried(judge, part, named, before)
            trials += tuple(tried)
            if best(trials) is best(tried):
                taken = Choice(kernel=kernel, features=features, penalty=best(tried).penalty, point=judge.point)
            if landmarks is None or features.values.shape[1] < landmarks:
                break  # fewer landmarks represent the whole kernel
            if before is not None and not worth_more(before, best(tried), part.null_loss()):
                break
        assert taken is not None
        return replace(taken, trials=trials)

    def _tried(self, judge: Evidence, rows: FeatureRows, named: Named, like: Trial | None) -> list[Trial]:
        if rows.F.shape[1] == 0:
            return [trial_at(lambda penalty: 0.0, rows, named, self.penalty or 1.0)]
        if self.penalty is not None:
            return [trial_at(judge, rows, named, self.penalty)]
        return penalties(judge, rows, named, like, self.tick)


class KernelResults(ProbabilityResults):
    """A fitted function of a kernel's space, P(y <= k) = F(threshold_k - H).

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> train = datasets.quadratic_bands(200, seed=1)
    >>> fit = ordfit("rank ~ x1 + x2", train, "kernel-clm")
    >>> fit.predict(train.head(2), type="prob").shape
    (2, 4)
    """

    fit: KernelFit

    no_bounds = "No margin bounds: the likelihood has no margin."

    @property
    def kind(self) -> str:
        """What was fitted."""
        return "Kernel cumulative model"

    @property
    def trials(self) -> pd.DataFrame:
        """The penalties that were tried, best first; no rows if the penalty was given.

        Returns
        -------
        pandas.DataFrame
            kernel, its gamma (if that is chosen), features (columns of all rows, or of landmarks), penalty, spread
            (the standard deviation of H under the prior that the penalty stands for) and loss, minus the log evidence
            a row.
        """
        names = ("kernel", "gamma", "columns", "penalty", "spread", "loss")
        rows = [[getattr(trial, name) for name in names] for trial in self.fit.trials]
        frame = pd.DataFrame(rows, columns=list(names)).rename(columns={"columns": "features"})
        frame = frame.dropna(axis=1, how="all")
        frame = frame.sort_values("loss", kind="stable", ignore_index=True) if len(frame) else frame
        return frame.rename_axis(index="place")

    def glance(self) -> pd.DataFrame:
        """One row of figures of the whole fit."""
        f = self.fit
        values = {"penalty": f.penalty, "spread": f.spread, "features": f.columns, "effective": f.effective}
        return NotedFrame.of(figures(self).assign(**values, loglik=f.loglik, log_evidence=f.log_evidence))

    def summary_data(self) -> Report:
        """The summary as data."""
        f = self.fit
        share = 1.0 - f.loglik / f.null_loglik if f.null_loglik else np.nan
        text = f"{f.loglik:.4f}; {f.null_loglik:.4f} by thresholds alone; McFadden R2 {share:.3f}"
        tables = [threshold_table(self.thresholds.to_frame())]
        if f.coefficients is not None:
            tables.insert(0, Table(title="Coefficients (positive = higher response)", frame=self.coef.to_frame()))
        if f.trials:
            trials = self.trials.head(8)
            note = f"The best {len(trials)} of {len(f.trials)}; all are in .trials." if len(f.trials) > 8 else ""
            title = "Penalties by the evidence: nats a row, less is better"
            frame = trials.set_index(trials["penalty"].map("{:.4g}".format)).drop(columns="penalty")
            formats = {"features": "int", "spread": ".3g", "loss": ".4f", "gamma": "g"}
            tables.append(Table(title=title, frame=frame, formats=formats, note=note, section="fit"))
        return ranker_report(self, [*tables, *error_tables(self)], [("Log-likelihood", text)])


# About so many rows are scored again after the fit.
_CHECKED = 8


def _kernels(name: str, value: Any, of: Any) -> tuple[Any, ...] | None:
    """OptionError where a value is no kernel; several as a tuple."""
    several = isinstance(value, (list, tuple))
    if value is None:
        return None
    if several and not value:
        raise OptionError(f"{name} of {type(of).__name__} must have a kernel to choose from; got {value!r}.")
    kernels = [parse_kernel(one) for one in (value if several else [value])]
    if len(kernels) > 1 and any(kernel.pairwise for kernel in kernels):
        raise OptionError(
            f"{name} of {type(of).__name__} must be one kernel where its matrix is given; got {value!r}. Leave the "
            "others out."
        )
    return tuple(value) if several else None


def _penalty(name: str, value: Any, of: Any) -> float | str:
    return value if value == "evidence" else number(name, value, above=0.0, of=of, also=" or 'evidence'")


def _landmarks(name: str, value: Any, of: Any) -> int | str | None:
    if value is None or (isinstance(value, str) and value == "all"):
        return value
    return whole(name, value, 2, of=of, also=", 'all' or None")


@dataclass(frozen=True, kw_only=True, repr=False)
class KernelCumulativeLink(Method):
    """The cumulative link model of a function from a kernel's space: a Gaussian process for ranks, at its mode.

    P(y <= k | x) = F(theta_k - H(x)), and H maximises the log-likelihood less penalty / 2 |H|^2, in the norm of the
    kernel's space; the thresholds are free. H is linear in the eigenvectors of the centred kernel matrix, or in the
    kernel at landmarks [Williams & Seeger 2001], and Newton's method does the rest. Under the prior that the penalty
    stands for, H is a Gaussian process of covariance k / penalty, and the marginal likelihood of that ("evidence", by
    Laplace's approximation) chooses the penalty [Williams & Barber 1998; Chu & Ghahramani 2005]. Weights that are no
    numbers of rows count as their multiple of mean 1 there, so that their scale does not matter.

    Parameters
    ----------
    kernel : str, Kernel or callable, a sequence of them, or None
        "perceptron" -|x - x'|_2, "stump", "gaussian", "laplacian", "polynomial", "linear", "precomputed"; a value such
        as Gaussian(gamma=0.5); or a function of (X, Z). Of several, and of gamma=(0.1, 1.0) or "cv" for 2^-15, 2^-13,
        ..., 2^3, what chooses the penalty takes the best. None tries the perceptron kernel and the Gaussian one with
        gamma 1/4, 1 and 4 over the number of columns.
    link : {"logit", "probit", "cloglog", "loglog", "cauchit"}
        F.
    penalty : float or "evidence"
        lambda > 0, or that of the largest evidence.
    landmarks : int, "all" or None
        Rows that carry H; None for all up to 1000 different rows, and beyond for 100, 200, 400, ... as long as the
        evidence gains.
    scaling : {"range", "standard", None}
        Columns to [-1, 1] on the training rows, to mean 0 and standard deviation 1, or as they are.
    cost : str or (K, K) array
        What predicted ranks minimise in expectation: "absolute" gives the median, "classification" the mode. H and the
        probabilities do not depend on it.
    max_iter : int
        Newton steps allowed.
    tol : float
        Largest absolute component of the gradient at which a fit counts as converged.

    Raises
    ------
    OptionError
        A value outside these.

    Examples
    --------
    >>> KernelCumulativeLink(kernel="gaussian", penalty=0.1)
    KernelCumulativeLink(kernel='gaussian', penalty=0.1)
    """

    kernel: Any = option(None, _kernels)
    link: str = option("logit", one_spelled, LINKS)
    penalty: float | str = option("evidence", _penalty)
    landmarks: int | str | None = option(None, _landmarks)
    scaling: str | None = option("range", scaling_of_kernel)
    cost: CostField = cost_option()
    max_iter: int = option(100, whole, 1)
    tol: float = option(1e-6, number, above=0.0)

    needs: ClassVar[Needs] = Needs(offset=True)
    results_class: ClassVar[type[Any]] = KernelResults
    papers: ClassVar[tuple[str, ...]] = (
        "McCullagh, P. (1980). Regression models for ordinal data. Journal of the Royal Statistical Society B, 42, "
        "109-142.",
        "Chu, W., & Ghahramani, Z. (2005). Gaussian processes for ordinal regression. Journal of Machine Learning "
        "Research, 6, 1019-1041.",
    )

    @property
    def similarity(self) -> Kernel:
        """The kernel; the first of several."""
        return self.kernels(1)[0]

    def kernels(self, n_columns: int) -> tuple[Kernel, ...]:
        """The kernels to choose from."""
        if self.kernel is None:
            return usual_kernels(n_columns)
        return tuple(map(parse_kernel, self.kernel if isinstance(self.kernel, tuple) else (self.kernel,)))

    @property
    def pairwise(self) -> bool:
        """Whether the columns of X are values of the kernel at the training rows."""
        return self.similarity.pairwise

    def fit(self, sample: Sample, rng: np.random.Generator, progress: Progress | None = None) -> KernelFit:
        """Fit to arrays.

        Parameters
        ----------
        sample : Sample
            Rows of weight 0 take no part.
        rng : numpy.random.Generator
            Source of the landmarks.
        progress : callable(step, total, message), optional

        Raises
        ------
        DataError
            A kernel matrix that is not finite, symmetric and (conditionally) positive definite.
        """
        self.check(sample)
        with one_blas_thread():
            training, scaling = self._training(as_rows(sample))
            search = self._search(training, rng, progress)
            return self._fitted(sample, training, scaling, search.best())

    def _training(self, sample: Sample) -> tuple[Training, Scaling]:
        """The different rows, on scaled columns; of a kernel matrix all rows of positive weight."""
        used = np.flatnonzero(sample.case_weights > 0)
        linear = all(kernel.linear for kernel in self.kernels(sample.X.shape[1]))
        scaling = fit_scaling(self.scaling, sample.X[used], sample.case_weights[used], about_mean=linear)
        y, offset = sample.y, sample.rows.offset
        offset = np.zeros(sample.n) if offset is None else offset
        if self.pairwise:
            rows = used[np.argsort(y[used], kind="stable")]
            weights = sample.case_weights[rows]
        else:
            different = distinct_rows(sample, offset[:, None])
            rows, weights = different.rows, different.weights
        family = Cumulative(LINKS[self.link])
        X = scaling(sample.X)
        return Training(X=X, rows=rows, y=y[rows], weights=weights, offset=offset[rows], family=family), scaling

    def _search(self, training: Training, rng: np.random.Generator, progress: Progress | None) -> Search:
        judged = part_of_rows(training.y, JUDGED, rng)
        kernels = self.kernels(training.X.shape[1])
        tries = len(candidates(kernels)) * len(landmark_numbers(self.landmarks, training.rows.size))
        return Search(
            training=training,
            kernels=kernels,
            landmarks=self.landmarks,
            penalty=None if isinstance(self.penalty, str) else self.penalty,
            judged=judged,
            seed=int(rng.integers(2**63)),
            tick=ticking(progress, MOST_TRIALS * tries),
        )

    def _fitted(self, sample: Sample, training: Training, scaling: Scaling, choice: Choice) -> KernelFit:
        """The fit at what was chosen."""
        features = choice.features
        rows = training.on(features).at(choice.penalty)
        optimum = rows.maximum(rows.start() if choice.point is None else choice.point, self.tol, self.max_iter)
        theta, b = np.split(optimum.x, [optimum.x.size - rows.F.shape[1]])
        potential = _potential(choice, scaling, b)
        moved = potential.offset - float(features.constants @ b)
        rule = LatentRule(KernelScore(potential), theta + moved, training.family, self.cost_matrix)
        some = np.arange(0, training.rows.size, max(training.rows.size // _CHECKED, 1))
        unit = float(sample.case_weights.sum() / rows.weights.sum())  # of weights that are no numbers of rows
        scores = rule.scores(sample.rows)
        fit = KernelFit(
            rule=rule,
            certificate=Certificate(
                name="max |gradient|",
                value=float(np.abs(optimum.at.score).max()),
                tolerance=optimum.tolerance,
                details=(("iterations", optimum.logliks.size - 1),),
            ),
            trace=Trace(iterations=optimum.logliks.size - 1, objective=optimum.logliks, message=optimum.message),
            scores=scores,
            coefficients=potential.slopes,
            rounding=float(np.abs(scores[training.rows[some]] - moved - rows.scores(b)[some]).max()),
            penalty=choice.penalty,
            spread=float(np.sqrt(rows.variance / choice.penalty)),
            columns=b.size,
            effective=b.size - choice.penalty * float(np.trace(optimum.factor.schur_inverse())) if b.size else 0.0,
            loglik=unit * (optimum.at.loglik + 0.5 * choice.penalty * float(b @ b)),
            null_loglik=-rows.null_loss() * float(sample.case_weights.sum()),
            log_evidence=log_evidence(rows, optimum),
            trials=choice.trials,
        )
        return replace(fit, facts=self._facts(fit, choice, training))

    def _facts(self, fit: KernelFit, choice: Choice, training: Training) -> tuple[tuple[str, Any], ...]:
        by = ", by the evidence"
        chosen = len(candidates(self.kernels(training.X.shape[1]))) > 1
        kernel, landmarks = choice.kernel, choice.features.landmarks
        carried = f"{fit.columns} features of all {training.rows.size} different rows"
        if landmarks is not None:
            how = by if self.landmarks is None and fit.trials else ""
            carried = f"{fit.columns} landmarks among {training.rows.size} different rows{how}"
        return (
            ("Kernel", repr(kernel.settled(training.X.shape[1])) + (by if chosen else "")),
            ("Link", self.link),
            ("Columns scaled", SCALED[self.scaling]),
            ("Function", carried),
            ("Penalty", f"{fit.penalty:.4g}" + (by if isinstance(self.penalty, str) and fit.trials else "")),
            ("Prior of H", f"Gaussian process, standard deviation {fit.spread:.3g}"),
            ("Effective parameters", f"{fit.effective:.1f} of the function"),
            ("Log evidence", f"{fit.log_evidence:.4f}"),
        )


def _potential(choice: Choice, scaling: Scaling, b: FloatArray) -> KernelExpansion | LinearPotential:
    """H in terms of the raw kernel, or of the columns."""
    features, kernel = choice.features, choice.kernel
    if kernel.linear:
        return LinearPotential.plain(scaling, b)
    coef = features.coef @ b
    offset = float(features.constants @ b)
    return KernelExpansion(kernel=kernel, scaling=scaling, anchors=features.anchors, coef=coef, offset=offset)

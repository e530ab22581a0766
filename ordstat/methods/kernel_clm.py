"""Cumulative link models of a function from the space of a kernel."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from .._typing import FloatArray, Progress
from ..checks import number, unknown, whole
from ..exceptions import OptionError
from ..model.costs import CostField
from ..model.distinct import distinct_rows
from ..model.fit import Certificate, Trace
from ..model.kernels.fit import KernelFit, KernelScore
from ..model.kernels.named import Kernel, parse_kernel
from ..model.latent_rule import LatentRule
from ..model.likelihood.cumulative import Cumulative
from ..model.likelihood.flexible import FlexibleLink, link_of
from ..model.likelihood.links import Link
from ..model.potentials import KernelExpansion, LinearPotential
from ..model.sample import Sample
from ..model.scaling import SCALED, Scaling, fit_scaling
from ..results.rankers.kernel import KernelResults
from ..solvers.likelihood.kernels.judges import log_evidence
from ..solvers.likelihood.kernels.ridge import FeatureRows
from ..solvers.likelihood.kernels.search import MOST_TRIALS
from ..solvers.likelihood.newton import Optimum
from ..solvers.threads import one_blas_thread
from .base import Method, Needs, cost_option, jobs_option, option
from .shared.folds import as_rows, held_weights, part_of_rows, require_folds
from .shared.kernel_choice import JUDGED, Choice, Search, Training, candidates, landmark_numbers, usual_kernels
from .shared.selection import scaling_of_kernel, ticking

# Rows that are scored anew after the fit, about.
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
    if isinstance(value, str):
        if value in _HOW:
            return value
        raise unknown(name, value, _HOW, of=of, also=", or a positive number")
    return number(name, value, above=0.0, of=of, also=", 'evidence' or 'cv'")


def _landmarks(name: str, value: Any, of: Any) -> int | str | None:
    if value is None or (isinstance(value, str) and value == "all"):
        return value
    return whole(name, value, 2, of=of, also=", 'all' or None")


#: What may choose the penalty.
_HOW = {"evidence": "the evidence", "cv": "cross-validation"}


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
    link : {"logit", "probit", "cloglog", "loglog", "cauchit"} or (name, lambda)
        F; ("aranda-ordaz", 0.5) and ("log-gamma", 0.5) with their parameter.
    penalty : float, "evidence" or "cv"
        lambda > 0; "cv" takes that of the least -log P(y) of rows held out.
    landmarks : int, "all" or None
        Rows that carry H; None for all up to 1000 different rows, and beyond for 100, 200, 400, ... as long as the
        evidence (or the loss held out) gains.
    scaling : {"range", "standard", None}
        Columns to [-1, 1] on the training rows, to mean 0 and standard deviation 1, or as they are.
    folds : int
        Of the cross-validation, at least 2.
    cost : str or (K, K) array
        What predicted ranks minimise in expectation: "absolute" gives the median, "classification" the mode. H and the
        probabilities do not depend on it.
    max_iter : int
        Newton steps allowed.
    tol : float
        Largest absolute component of the gradient at which a fit counts as converged.
    n_jobs : int
        Folds at work at once, as threads; -1 for one a processor. The result does not depend on it.

    Raises
    ------
    OptionError
        A value outside these, or a link whose parameter is not given.

    Examples
    --------
    >>> KernelCumulativeLink(kernel="gaussian", penalty=0.1)
    KernelCumulativeLink(kernel='gaussian', penalty=0.1)
    """

    kernel: Any = option(None, _kernels)
    link: str | tuple[str, float] = "logit"
    penalty: float | str = option("evidence", _penalty)
    landmarks: int | str | None = option(None, _landmarks)
    scaling: str | None = option("range", scaling_of_kernel)
    folds: int = option(5, whole, 2)
    cost: CostField = cost_option()
    max_iter: int = option(100, whole, 1)
    tol: float = option(1e-6, number, above=0.0)
    n_jobs: int = jobs_option()

    needs: ClassVar[Needs] = Needs(offset=True, cluster=True)
    results_class: ClassVar[type[Any]] = KernelResults
    papers: ClassVar[tuple[str, ...]] = (
        "McCullagh, P. (1980). Regression models for ordinal data. Journal of the Royal Statistical Society B, 42, "
        "109-142.",
        "Chu, W., & Ghahramani, Z. (2005). Gaussian processes for ordinal regression. Journal of Machine Learning "
        "Research, 6, 1019-1041.",
    )

    def __post_init__(self) -> None:
        link = self._link()
        super().__post_init__()
        self._settle(link=link.name if link.lam is None else (link.name, link.lam))

    @property
    def similarity(self) -> Kernel:
        """The kernel meant; the first of several."""
        return self.kernels(1)[0]

    def kernels(self, n_columns: int) -> tuple[Kernel, ...]:
        """Those to choose from."""
        if self.kernel is None:
            return usual_kernels(n_columns)
        return tuple(map(parse_kernel, self.kernel if isinstance(self.kernel, tuple) else (self.kernel,)))

    @property
    def pairwise(self) -> bool:
        """Whether the columns of X are values of the kernel at the training rows."""
        return self.similarity.pairwise

    @property
    def draws(self) -> bool:
        """Whether folds, or landmarks, are drawn; landmarks=None draws them among more than 1000 rows alone."""
        return self.penalty == "cv" or isinstance(self.landmarks, int)

    @property
    def own_folds(self) -> bool:
        """Whether the penalty is chosen by folds."""
        return self.penalty == "cv"

    @property
    def modal(self) -> bool:
        """Whether the predicted rank is the most probable one."""
        return self.cost == "classification"

    def check(self, sample: Sample) -> None:
        """Raise where the sample holds something this method does not support."""
        super().check(sample)
        require_folds(self, sample, "set penalty='cv'")

    def fit(self, sample: Sample, rng: np.random.Generator, progress: Progress | None = None) -> KernelFit:
        """Fit to arrays.

        Parameters
        ----------
        sample : Sample
            Rows of weight 0 take no part.
        rng : numpy.random.Generator
            Source of the folds and of the landmarks.
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
            return self._fitted(sample, training, scaling, search.best(), search.held)

    def _training(self, sample: Sample) -> tuple[Training, Scaling]:
        """The different rows, on scaled columns; of a kernel matrix all rows of positive weight."""
        used = np.flatnonzero(sample.case_weights > 0)
        linear = all(kernel.linear for kernel in self.kernels(sample.X.shape[1]))
        scaling = fit_scaling(self.scaling, sample.X[used], sample.case_weights[used], about_mean=linear)
        y, weights, offset = sample.y, sample.case_weights, sample.rows.offset
        offset = np.zeros(sample.n) if offset is None else offset
        rows = used[np.argsort(y[used], kind="stable")]
        own = weights[rows]
        if not self.pairwise:
            apart = offset if sample.cluster is None else np.column_stack([offset, sample.cluster])
            different = distinct_rows(sample, apart.reshape(sample.n, -1))
            rows, own = different.rows, different.weights
        family = Cumulative(self._link())
        X = scaling(sample.X)
        cluster = None if sample.cluster is None else sample.cluster[rows]
        found = Training(X=X, rows=rows, y=y[rows], weights=own, offset=offset[rows], family=family, cluster=cluster)
        return found, scaling

    def _search(self, training: Training, rng: np.random.Generator, progress: Progress | None) -> Search:
        judged = part_of_rows(training.y, JUDGED, rng)
        y, weights, held = training.y[judged], training.weights[judged], None
        if self.penalty == "cv":
            cluster = None if training.cluster is None else training.cluster[judged]
            held = held_weights(training.X[training.rows[judged]], y, weights, self.folds, rng, cluster)
            if len(held) == 0:
                raise OptionError(
                    f"penalty='cv' of {type(self).__name__} needs two rows of some level. Use penalty='evidence'."
                )
        kernels = self.kernels(training.X.shape[1])
        tries = len(candidates(kernels)) * len(landmark_numbers(self.landmarks, training.rows.size))
        return Search(
            training=training,
            kernels=kernels,
            landmarks=self.landmarks,
            penalty=None if isinstance(self.penalty, str) else self.penalty,
            judged=judged,
            held=held,
            n_jobs=self.n_jobs,
            seed=int(rng.integers(2**63)),
            tick=ticking(progress, MOST_TRIALS * tries),
        )

    def _fitted(
        self, sample: Sample, training: Training, scaling: Scaling, choice: Choice, held: FloatArray | None
    ) -> KernelFit:
        """The fit at what was chosen."""
        features = choice.features
        rows = training.on(features).at(choice.penalty)
        optimum = rows.maximum(choice.point or rows.start(), self.tol, self.max_iter)
        b, theta = optimum.rest, optimum.alpha[:, 0]
        potential = _potential(choice, scaling, b)
        moved = potential.offset - float(features.constants @ b)
        rule = LatentRule(KernelScore(potential), theta + moved, training.family, self.cost_matrix)
        some = np.arange(0, training.rows.size, max(training.rows.size // _CHECKED, 1))
        unit = float(sample.case_weights.sum() / rows.weights.sum())  # of weights that are no numbers of rows
        scores = rule.scores(sample.rows)
        by = _HOW.get(str(self.penalty), "the evidence") if choice.trials else ""
        fit = KernelFit(
            rule=rule,
            certificate=Certificate(
                name="max |gradient|",
                value=optimum.at.largest_score,
                tolerance=optimum.tolerance,
                details=(("iterations", optimum.iterations),),
            ),
            trace=Trace(iterations=optimum.iterations, objective=optimum.logliks, message=optimum.message),
            scores=scores,
            coefficients=potential.slopes,
            rounding=float(np.abs(scores[training.rows[some]] - moved - rows.scores(b)[some]).max()),
            penalty=choice.penalty,
            spread=float(np.sqrt(rows.variance / choice.penalty)),
            columns=b.size,
            effective=_effective(rows, optimum),
            loglik=unit * (optimum.at.loglik + 0.5 * choice.penalty * float(b @ b)),
            null_loglik=-rows.null_loss() * float(sample.case_weights.sum()),
            log_evidence=log_evidence(rows, optimum),
            trials=choice.trials,
            by=by + ("" if held is None else f" in {len(held)} folds"),
        )
        return replace(fit, facts=self._facts(fit, choice, training))

    def _facts(self, fit: KernelFit, choice: Choice, training: Training) -> tuple[tuple[str, Any], ...]:
        by = f", by {fit.by}"
        chosen = len(candidates(self.kernels(training.X.shape[1]))) > 1
        kernel, landmarks = choice.kernel, choice.features.landmarks
        carried = f"{fit.columns} features of all {training.rows.size} different rows"
        if landmarks is not None:
            how = by if self.landmarks is None and fit.trials else ""
            carried = f"{fit.columns} landmarks among {training.rows.size} different rows{how}"
        link = self.link if isinstance(self.link, str) else f"{self.link[0]}, lambda = {self.link[1]:g}"
        return (
            ("Kernel", repr(kernel.settled(training.X.shape[1])) + (by if chosen else "")),
            ("Link", link),
            ("Columns scaled", SCALED[self.scaling]),
            ("Function", carried),
            ("Penalty", f"{fit.penalty:.4g}" + (by if isinstance(self.penalty, str) and fit.by else "")),
            ("Prior of H", f"Gaussian process, standard deviation {fit.spread:.3g}"),
            ("Effective parameters", f"{fit.effective:.1f} of the function"),
            ("Log evidence", f"{fit.log_evidence:.4f}"),
        )

    def _link(self) -> Link:
        """F, with its parameter."""
        given = self.link if isinstance(self.link, (tuple, list)) and len(self.link) == 2 else (self.link, None)
        found = link_of(*given)
        if isinstance(found, FlexibleLink):
            raise OptionError(
                f"link={self.link!r} of {type(self).__name__} needs its parameter: give it as in ({found.name!r}, 0.5)."
            )
        return found


def _potential(choice: Choice, scaling: Scaling, b: FloatArray) -> KernelExpansion | LinearPotential:
    """H in terms of the raw kernel, or of the columns."""
    features, kernel = choice.features, choice.kernel
    if kernel.linear:
        return LinearPotential.plain(scaling, b)
    coef = features.coef @ b
    offset = float(features.constants @ b)
    return KernelExpansion(kernel=kernel, scaling=scaling, anchors=features.anchors, coef=coef, offset=offset)


def _effective(rows: FeatureRows, optimum: Optimum) -> float:
    """p - lambda tr (J^-1)_bb."""
    if optimum.rest.size == 0:
        return 0.0
    return float(optimum.rest.size - rows.penalty * np.trace(optimum.factor.schur_inverse()))

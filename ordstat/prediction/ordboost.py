"""Gradient boosting of trees on one potential with moving thresholds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from .._typing import FloatArray, IntArray, Progress
from ..boosting.rounds import continued
from ..checks import flag, is_whole, number, one_spelled, whole
from ..exceptions import DataError
from ..fit import Certificate, Trace
from ..formula.sample import Rows, Sample
from ..judging.costs import CostField
from ..judging.evaluation import as_rows, require_folds
from ..judging.selection import ticking
from ..likelihood.links import LINKS
from ..method import Method, Needs, cost_option, jobs_option, option
from ..threads import one_blas_thread, team_of
from .boosted_results import BoostedResults
from .losses import loss_of
from .rounds import TELL, Booster, Settings, held_out_losses
from .start import Linear, Training
from .trees import BoostedFit, HeldOut, LinearStart

# Folds where none are asked for; with more rows one of them is enough.
_FOLDS, _MANY_ROWS = 5, 3000
# Depths that depth="cv" tries.
_DEPTHS = (1, 3, 6)
_MOST_DEPTH = 12
# Largest slope of a row at the thresholds that a fit ends with.
_TOLERANCE = 1e-6
# Case weight of a leaf: so much, or this share of a small sample.
_MIN_WEIGHT, _MIN_SHARE = 5.0, 0.05
#: Called after each part of the work.
Tick = Callable[[str, int], None]


def _rounds(name: str, value: Any, of: Any) -> Any:
    return value if value == "cv" else whole(name, value, 1, of=of, also=" or 'cv'")


def _depth(name: str, value: Any, of: Any) -> Any:
    if isinstance(value, str) and value == "cv":
        return value
    if isinstance(value, (tuple, list)) and value:
        return tuple(sorted({whole(f"each {name}", d, 1, _MOST_DEPTH, of=of) for d in value}))
    return whole(name, value, 1, _MOST_DEPTH, of=of, also=", several of them or 'cv'")


def _folds(name: str, value: Any, of: Any) -> int | None:
    return None if value is None else whole(name, value, 2, of=of, also=", or None")


def _weight(name: str, value: Any, of: Any) -> float | None:
    return None if value is None else number(name, value, least=0.0, of=of, also=", or None")


def _column_share(name: str, value: Any, of: Any) -> float | None:
    return None if value is None else number(name, value, above=0.0, most=1.0, of=of, also=", or None")


@dataclass(frozen=True, kw_only=True, repr=False)
class OrdinalBoosting(Method):
    """Gradient boosting of shallow trees on one potential H with thresholds that move [Friedman 2001, 2002].

    P(y <= k | x) = F(theta_k - H(x)). A round grows a tree of Newton steps on columns cut into at most 128 bins, on a
    fresh part of the rows and of the columns (Chen & Guestrin 2016: with G and V the sums of slopes and curvatures of
    a node, its value is -G / (V + penalty), and a cut gains the rise of G^2 / (V + penalty)), adds `learning_rate`
    times its values to H, and every tenth round a Newton step moves the thresholds. One tree a round is enough for any
    number of levels. The rounds start from a ridge cumulative model, so that trees learn what it misses, and end where
    cross-validation says.

    Factors without an order are categories, cut in the order of G / (V + penalty) (Fisher 1958); ordered ones, and
    those of two levels, are numbers. With `na_action="keep"` missing values go to the side where they gain more, and
    where a node had none to that of most of its rows; the ridge model takes the mean for them, and the first category
    as its base. New levels are refused: set them missing to predict for them.

    Parameters
    ----------
    link : {"logit", "probit", "cloglog", "loglog", "cauchit"}
        F; the loss is -log P(y).
    rounds : int or "cv"
        T; "cv" takes the least held-out loss, which may be at 0, for the start alone.
    depth : int, sequence of int or "cv"
        Cuts on a path, 1 to 12; of several, and of "cv" for 1, 3 and 6, the one of least held-out loss.
    learning_rate : float
        In (0, 1].
    subsample : float
        Share of the rows that a tree is given, in (0, 1].
    column_share : float or None
        Share of the columns that it is given, in (0, 1]; None for 0.6, and five columns at least.
    linear_start : bool
        Whether H starts from a cumulative model with a ridge penalty of 2^-4, ..., 2^10 chosen by cross-validation, or
        from 0.
    penalty : float
        Of the squared values of leaves, 0 or more.
    min_weight : float or None
        Case weight of a leaf at least; None for 5, and a twentieth of all rows where these are fewer than 100.
    folds : int or None
        Of the cross-validation; None for 5, and with more than 3000 rows a fifth of them held out once.
    patience, max_rounds : int
        Rounds without a smaller held-out loss after which those of a fold end, and rounds at most.
    cost : str or (K, K) array
        What predicted ranks minimise in expectation: "absolute" gives the median, "classification" the mode. H and the
        probabilities do not depend on it.
    n_jobs : int
        Folds at work at once, as threads; -1 for one a processor. The result does not depend on it.

    Notes
    -----
    By default folds are fitted at three depths, up to `max_rounds` rounds each, and then all rows: 16 fits of some
    hundred rounds, or 4 with more than 3000 rows. A round takes about 1e-9 s times rows, columns and depth: minutes for
    a million rows of 20 columns. `rounds=300, depth=3` makes one fit; `callback=` of `ordfit` shows progress.

    Raises
    ------
    OptionError
        A value outside these, or constraints= other than on the sign of one effect each: H is then monotone in it.

    Examples
    --------
    >>> OrdinalBoosting(depth=2, rounds=100)
    OrdinalBoosting(rounds=100, depth=2)
    """

    link: str = option("logit", one_spelled, LINKS)
    rounds: int | str = option("cv", _rounds)
    depth: int | str | Sequence[int] = option("cv", _depth)
    learning_rate: float = option(0.05, number, above=0.0, most=1.0)
    subsample: float = option(0.7, number, above=0.0, most=1.0)
    column_share: float | None = option(None, _column_share)
    linear_start: bool = option(True, lambda name, value, of: flag(name, value))
    penalty: float = option(1.0, number, least=0.0)
    min_weight: float | None = option(None, _weight)
    folds: int | None = option(None, _folds)
    patience: int = option(100, whole, 1)
    max_rounds: int = option(3000, whole, 1)
    cost: CostField = cost_option()
    n_jobs: int = jobs_option()

    needs: ClassVar[Needs] = Needs(
        offset=True, cluster=True, restrictions=True, missing=True, categories=True, interactions=True
    )
    results_class: ClassVar[type[Any]] = BoostedResults
    papers: ClassVar[tuple[str, ...]] = (
        "Friedman, J. H. (2001). Greedy function approximation: A gradient boosting machine. Annals of Statistics, 29, "
        "1189-1232.",
        "Friedman, J. H. (2002). Stochastic gradient boosting. Computational Statistics & Data Analysis, 38, 367-378.",
    )

    @property
    def draws(self) -> bool:
        """True: rows, columns and folds are drawn."""
        drawn = self.subsample < 1 or self.column_share != 1
        return drawn or self.selects or self.linear_start

    @property
    def modal(self) -> bool:
        """Whether the predicted rank is the most probable one."""
        return self.cost == "classification"

    @property
    def selects(self) -> bool:
        """Whether cross-validation chooses the rounds or the depth."""
        return self.rounds == "cv" or not is_whole(self.depth)

    @property
    def own_folds(self) -> bool:
        """True: the linear start has a penalty to choose, too."""
        return self.selects or self.linear_start

    @property
    def depths(self) -> tuple[int, ...]:
        """Those to choose from."""
        if isinstance(self.depth, str):
            return _DEPTHS
        return (self.depth,) if isinstance(self.depth, int) else tuple(self.depth)

    def check(self, sample: Sample) -> None:
        """Raise where the sample holds something this method does not support."""
        super().check(sample)
        require_folds(self, sample, "set rounds='cv'")

    def settings(self, training: Training, depth: int) -> Settings:
        """How the trees of a sample are grown."""
        least = min(_MIN_WEIGHT, max(_MIN_SHARE * training.data.total, 1.0))
        return Settings(
            learning_rate=self.learning_rate,
            depth=depth,
            penalty=self.penalty,
            min_weight=least if self.min_weight is None else self.min_weight,
            subsample=self.subsample,
            column_share=self.column_share,
        )

    def fit(self, sample: Sample, rng: np.random.Generator, progress: Progress | None = None) -> BoostedFit:
        """Fit to arrays.

        Parameters
        ----------
        sample : Sample
            Rows of weight 0 take no part.
        rng : numpy.random.Generator
            Source of the folds, and of the rows and columns of every tree.
        progress : callable(step, total, message), optional
        """
        self.check(sample)
        training = self._training(sample)
        with one_blas_thread():
            held = self._held(training, rng)
            tick = ticking(progress, len(self.depths) * len(held) * self.selects + 1)
            penalty = training.best_ridge(held, rng) if len(held) and self.linear_start else None
            held_out = self._held_out(training, held, penalty, rng, tick) if len(held) and self.selects else None
            weights = training.data.weights
            depth = self.depths[0] if held_out is None else held_out.depth
            start = training.linear(weights, penalty)
            rounds = self.rounds if is_whole(self.rounds) else 0 if held_out is None else held_out.rounds
            with team_of(self.n_jobs) as team:
                booster = training.booster(self.settings(training, depth), start, weights, rng, team)
                training = training.settled()
                self._add(booster, int(rounds), tick)
            return self._fitted(sample, booster, start.start, training, penalty, held_out)

    def _add(self, booster: Booster, rounds: int, tick: Tick) -> None:
        for _ in range(rounds):
            booster.add()
            if booster.made % TELL == 0:
                tick(f"all rows: {booster.made} of {rounds} rounds", 0)
        tick("all rows", 1)

    def more(self, sample: Sample, fit: BoostedFit, rounds: int, progress: Progress | None = None) -> BoostedFit:
        """The fit with further rounds; the same as a fit of as many rounds at once.

        Raises
        ------
        OptionError
        """
        whole("rounds", rounds, 1, of=self)
        training = self._training(sample)
        start = Linear(fit.trees.linear, fit.thetas[0])
        settings = self.settings(training, fit.depth)
        with team_of(self.n_jobs) as team:
            booster = training.booster(settings, start, training.data.weights, continued(fit.state), team)
            booster.repeat(fit.trees, fit.losses, fit.thetas)
            self._add(booster, rounds, ticking(progress, 1))
        return self._fitted(sample, booster, start.start, training, fit.ridge, fit.held_out)

    def truncated(self, sample: Sample, fit: BoostedFit, rounds: int) -> BoostedFit:
        """The fit as it was after some of its rounds.

        Raises
        ------
        OptionError
            More rounds than were made.
        """
        whole("rounds", rounds, 0, fit.stages[-1], also=", the rounds made")
        return self._with(replace(fit, kept=int(rounds)), sample, self._training(sample))

    def staged_codes(
        self, sample: Sample, fit: BoostedFit, targets: Sequence[Rows], stages: Sequence[int]
    ) -> Iterator[list[IntArray]]:
        """Predicted codes of several sets of rows after some of the rounds, growing, one sum going on to the next."""
        training, made = self._training(sample), 0
        every = [training.rows, *targets]
        sums = [fit.trees.start(rows) for rows in every]
        for stage in stages:
            for rows, scores in zip(every, sums, strict=True):
                fit.trees.add(rows, scores, made, stage)
            made = stage
            theta, _ = training.best_thresholds(sums[0], fit.thetas[stage])
            rule = training.loss.rule(fit.trees.upto(stage), theta, self.cost_matrix)
            yield [rule.codes(rows, H) for rows, H in zip(targets, sums[1:], strict=True)]

    def staged_losses(self, sample: Sample, fit: BoostedFit) -> FloatArray:
        """(T+1,) mean loss of a sample before the first and after every round."""
        loss, scores = loss_of(self.link), fit.trees.start(sample.rows)
        y, weights = sample.y.astype(np.uint16), sample.case_weights
        found = np.empty(fit.losses.size)
        for t, theta in enumerate(fit.thetas):
            found[t] = loss.value(y, weights, scores, theta) / weights.sum()
            fit.trees.add(sample.rows, scores, t, t + 1)
        return found

    def _training(self, sample: Sample) -> Training:
        return Training.of(as_rows(sample), loss_of(self.link), type(self).__name__)

    def _held(self, training: Training, rng: np.random.Generator) -> FloatArray:
        """(F, M) the weights that each fold holds out; no folds where nothing is chosen."""
        if training.flat or not (self.selects or self.linear_start):
            return np.empty((0, training.data.y.size))
        held = training.held(self.folds or _FOLDS, rng)
        if len(held) == 0:
            raise DataError(
                f"{type(self).__name__} needs two rows of some level for its cross-validation. Set rounds= and depth= "
                "to numbers and linear_start=False, or take more rows."
            )
        return held[:1] if self.folds is None and training.data.total > _MANY_ROWS else held

    def _held_out(
        self, training: Training, held: FloatArray, penalty: float | None, rng: np.random.Generator, tick: Tick
    ) -> HeldOut:
        """What held-out rows say of rounds and depth."""
        weights = training.data.weights
        starts = [training.linear(weights - out, penalty) for out in held]

        def booster(depth: int, fold: int, rng: np.random.Generator) -> Booster:
            return training.booster(self.settings(training, depth), starts[fold], weights - held[fold], rng)

        fixed = None if self.rounds == "cv" else int(self.rounds)
        return held_out_losses(
            booster,
            held,
            self.depths,
            rng,
            tick,
            most=fixed or self.max_rounds,
            patience=fixed or self.patience,
            fixed=fixed is not None,
            n_jobs=self.n_jobs,
        )

    def _fitted(
        self,
        sample: Sample,
        booster: Booster,
        start: LinearStart,
        training: Training,
        penalty: float | None,
        held_out: HeldOut | None,
    ) -> BoostedFit:
        """The fit of all rounds of a booster."""
        trees = booster.sum_of(start)
        losses = np.array([*booster.losses, booster.mean_loss()])
        # The rest is filled in by `_with`.
        fit = BoostedFit(
            rule=training.loss.rule(trees, booster.theta, self.cost_matrix),
            certificate=_certificate(np.inf, losses, None),
            trace=Trace(iterations=booster.made, objective=losses, message=""),
            scores=booster.scores,  # of all rows below
            trees=trees,
            kept=booster.made,
            depth=booster.settings.depth,
            null_loss=training.null_loss(),
            losses=losses,
            thetas=np.array([*booster.thetas, booster.theta]),
            ridge=penalty,
            held_out=held_out,
            state=dict(booster.rng.bit_generator.state),
        )
        return self._with(fit, sample, training, booster.scores)

    def _with(
        self, fit: BoostedFit, sample: Sample, training: Training, scores: FloatArray | None = None
    ) -> BoostedFit:
        """The fit with the rule, the scores and the certificate of the rounds that are kept."""
        trees, made = fit.trees.upto(fit.kept), len(fit.trees.trees)
        scores = trees(training.rows) if scores is None else scores
        theta, slope = training.best_thresholds(scores, fit.thetas[fit.kept])
        rule = training.loss.rule(trees, theta, self.cost_matrix)
        used = f", the first {fit.kept} used" if fit.kept < made else ""
        return replace(
            fit,
            rule=rule,
            scores=rule.scores(sample.rows),
            certificate=_certificate(slope, fit.losses[: fit.kept + 1], fit.held_out),
            trace=replace(fit.trace, message=f"{made} rounds{used}"),
            facts=self._facts(fit, f"{made}{used}"),
        )

    def _facts(self, fit: BoostedFit, used: str) -> tuple[tuple[str, Any], ...]:
        how = "" if fit.held_out is None else f", by {fit.held_out.how}"
        start = "0" if fit.ridge is None else f"ridge cumulative model, penalty {fit.ridge:g} by cross-validation"
        columns = "60% (five at least)" if self.column_share is None else f"{self.column_share:.0%}"
        return (
            ("Loss", f"likelihood, {self.link} link"),
            ("Rounds", used + (how if self.rounds == "cv" else "")),
            ("Depth", f"{fit.depth}" + ("" if is_whole(self.depth) else how)),
            ("Learning rate", f"{self.learning_rate:g}"),
            ("A tree is given", f"{self.subsample:.0%} of the rows, {columns} of the columns"),
            ("Start", start),
        )


def _certificate(slope: float, losses: FloatArray, held_out: HeldOut | None) -> Certificate:
    """Whether the thresholds are the best for H; the losses beside it."""
    details: list[tuple[str, Any]] = [("training loss", float(losses[-1]))]
    if held_out is not None:
        details.append(("held-out loss", float(held_out.curve[min(losses.size, held_out.curve.size) - 1])))
    return Certificate(name="max |slope| by the thresholds", value=slope, tolerance=_TOLERANCE, details=tuple(details))

"""Gradient boosting of trees on one potential with moving thresholds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from .._typing import FloatArray, IntArray, Progress
from ..boosting.results import RoundsResults, importance_frame, importance_table, shown_rounds
from ..boosting.rounds import continued
from ..checks import flag, is_whole, number, whole
from ..exceptions import DataError, OptionError
from ..fit import Certificate, Trace
from ..formula.sample import Rows, Sample
from ..judging.costs import CostField
from ..judging.evaluation import as_rows, require_folds
from ..judging.rankers import ProbabilityResults, fitted_thresholds
from ..judging.selection import ticking
from ..method import Method, Needs, cost_option, jobs_option, option
from ..report.frames import NotedFrame
from ..report.render import Report, Table
from ..report.sections import error_tables, figures, ranker_report
from ..threads import one_blas_thread, team_of
from .probabilities import LOGIT, LatentRule
from .rounds import TELL, Booster, Settings, held_out_losses
from .start import Linear, Training
from .trees import BoostedFit, HeldOut, LinearStart, shapley_values

if TYPE_CHECKING:
    from ..formula.design import Design

#: Columns of the table of Shapley values that are not variables.
BASE, OFFSET = "(base)", "(offset)"


class BoostedResults(RoundsResults, ProbabilityResults):
    """A fitted sum of trees, P(y <= k) = F(threshold_k - H).

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> wine = datasets.load("wine")
    >>> fit = ordfit("rating ~ temp + contact", wine, "ordboost", rounds=20, depth=2)
    >>> fit.predict(wine.head(2), type="prob").shape
    (2, 5)
    >>> fit.at(5).fit.kept
    5
    """

    fit: BoostedFit

    no_bounds = "No margin bounds: the score that the trees add up to has no norm."

    @property
    def kind(self) -> str:
        """What was fitted."""
        return "Ordinal gradient boosting"

    @property
    def rounds(self) -> pd.DataFrame:
        """One row a round, round 0 being the start.

        Returns
        -------
        pandas.DataFrame
            loss (mean training loss), held_out (mean loss of held-out rows at the chosen depth, if rounds or depth
            were chosen; NaN beyond their last round), and the thresholds after the round.
        """
        f = self.fit
        index = pd.RangeIndex(f.losses.size, name="round")
        frame = pd.DataFrame({"loss": f.losses}, index=index)
        if f.held_out is not None:
            frame["held_out"] = pd.Series(f.held_out.curve).reindex(index).to_numpy()
        thresholds = pd.DataFrame(f.thetas, columns=self.threshold_names, index=index)
        return pd.concat([frame, thresholds], axis=1)

    @property
    def held_out(self) -> pd.DataFrame:
        """Mean loss of the held-out rows by round, one column a depth tried; no columns if nothing was chosen."""
        held_out = self.fit.held_out
        if held_out is None:
            return pd.DataFrame(index=pd.RangeIndex(0, name="round"))
        columns = {depth: pd.Series(curve) for depth, curve in zip(held_out.depths, held_out.losses, strict=True)}
        return pd.DataFrame(columns).rename_axis(index="round", columns="depth")

    def glance(self) -> pd.DataFrame:
        """One row of figures of the whole fit."""
        f = self.fit
        curve = np.zeros(0) if f.held_out is None else f.held_out.curve
        held_out = float(curve[f.kept]) if f.kept < curve.size else np.nan
        return NotedFrame.of(
            figures(self).assign(rounds=f.kept, depth=f.depth, loss=float(f.losses[f.kept]), held_out=held_out)
        )

    def gain_importance(self) -> pd.DataFrame:
        """What the columns contribute, most important first.

        Returns
        -------
        pandas.DataFrame
            importance, the column's share of the fall of the training loss: the fall by the linear start is divided
            by the size of its effects per standard deviation, that by the trees by the gains of their cuts; cuts, their
            number in all trees; and linear, the effect in the linear start per standard deviation, of categories the
            standard deviation of their effects. The index has the columns of the model, factors as one each.
        """
        f = self.fit
        trees, sample = f.trees.upto(f.kept), self.design.sample
        weights = sample.case_weights / sample.case_weights.sum()
        parts = trees.linear.parts(sample.X)
        signs = np.where(trees.linear.slopes < 0.0, -1.0, 1.0)
        linear = signs * np.sqrt(np.maximum(weights @ (parts - weights @ parts) ** 2, 0.0))
        gains, cuts = trees.gains()
        falls = max(f.null_loss - f.losses[0], 0.0), max(f.losses[0] - f.losses[f.kept], 0.0)
        sizes = falls[0] * _shares(np.abs(linear)) + falls[1] * _shares(gains)
        return importance_frame(self.design.names, importance=_shares(sizes), cuts=cuts, linear=linear)

    def shapley(self, newdata: Any = None) -> pd.DataFrame:
        """Exact Shapley values of the potential H: the contribution of every variable to the score of a row.

        The value of a set of variables is the expected score of the row given these variables alone: every tree
        follows the row at cuts on one of them, and both ways elsewhere, in proportion to the rows that it was grown on
        (path-dependent TreeSHAP); the linear start has the means of the rows of the fit in place of the others, so that
        column j has b_j (x_j - mean_j). A variable's Shapley value is what it adds to that, averaged over all orders of
        the variables. All columns that a formula makes from one variable (a factor, a spline, `x + I(x**2)`) belong to
        it; columns made from several, such as those of a:b, are one variable of that name.

        Values are on the scale of `score`, log odds, larger for higher levels. They explain how this fit comes to its
        prediction, not what would happen if a variable were changed.

        Parameters
        ----------
        newdata : data frame, optional
            With the columns of the formula. None means the rows of the fit.

        Returns
        -------
        pandas.DataFrame
            One row a row of `newdata`, on its index, NaN where an input is missing: "(base)", the expected score; a
            column for each variable; "(offset)", the offset of the row less its mean, if the formula has one. Each row
            sums to `predict(newdata, type="score")`. `fit.plot.shapley()` draws the means of the sizes.

        Raises
        ------
        DataError
            A missing column or an unseen level in `newdata`.
        OptionError
            A variable called "(base)" or "(offset)".

        References
        ----------
        Lundberg, Erion, Chen et al. (2020), From local explanations to global understanding with explainable AI for
        trees, Nature Machine Intelligence 2, 56-67, algorithm 2 (what is computed); Owen (1972), Multilinear
        extensions of games, Management Science 18, 64-79 (how: an integral for every leaf, exact by Gauss's
        quadrature).

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> wine = datasets.load("wine")
        >>> fit = ordfit("rating ~ temp + contact", wine, "ordboost", rounds=20, depth=2)
        >>> found = fit.shapley(wine.head(2))
        >>> found.columns.tolist()
        ['(base)', 'temp', 'contact']
        >>> (found.sum(axis=1) - fit.predict(wine.head(2), type="score")).abs().max() < 1e-12
        np.True_
        """
        trees = self.fit.trees.upto(self.fit.kept)
        target, sample = self.target(newdata), self.design.sample
        variables, group = players(self.design)
        if taken := {BASE, OFFSET} & set(variables):
            raise OptionError(
                f"the variable {taken.pop()!r} has the name of another column of the table: rename it in the data and "
                "the formula, and fit again."
            )
        weights = sample.case_weights
        values, base = shapley_values(trees, target.rows, sample.rows, weights, group, len(variables))
        names = [BASE, *variables]
        if target.rows.offset is not None and sample.rows.offset is not None:
            mean = float(weights @ sample.rows.offset / weights.sum())
            values, base = np.column_stack([values, target.rows.offset - mean]), base + mean
            names = [*names, OFFSET]
        return target.frame(np.column_stack([np.full(target.rows.n, base), values]), names)

    def summary_data(self) -> Report:
        """The summary as data."""
        title = "Columns: share of the fall of the loss; cuts; linear start, per SD"
        importance = importance_table(self.gain_importance(), title, 10, {"cuts": "int", "linear": ".3f"})
        return ranker_report(self, [*fitted_thresholds(self), importance, self._round_table(), *error_tables(self)])

    def _round_table(self) -> Table:
        frame = self.rounds.iloc[shown_rounds(self.fit.kept + 1)].drop(columns=self.threshold_names)
        title = "After some of the rounds: mean loss of the training rows"
        title += " and of held-out rows" if "held_out" in frame else ""
        note = "All rounds are in .rounds, their errors in .staged_errors()."
        return Table(title=title, frame=frame, formats=dict.fromkeys(frame.columns, ".4f"), note=note, section="fit")


def _shares(sizes: FloatArray) -> FloatArray:
    """Sizes, 0 or more, as shares of their sum."""
    return sizes / (sizes.sum() or 1.0)


def players(design: Design) -> tuple[list[str], IntArray]:
    """Names of the variables, or sets of variables, that columns of X are made from; and the one of each column."""
    group = np.empty(len(design.names), dtype=np.intp)
    if not design.terms:
        return list(map(str, design.names)), np.arange(group.size)
    order = {name: place for place, name in enumerate(design.spec.columns or ())}
    variables, names = design.spec.variables(), dict[str, int]()
    for term, columns in design.terms.items():
        of_term = sorted(variables[term], key=lambda name: order.get(name, len(order)))
        group[columns] = names.setdefault(":".join(of_term) or term, len(names))
    return list(names), group


# Usual number of folds; with more rows one fold is enough.
_FOLDS, _MANY_ROWS = 5, 3000
# Depths that depth="cv" tries.
_DEPTHS = (1, 3, 6)
_MOST_DEPTH = 12
# Largest slope of a row at the thresholds that a fit ends with.
_TOLERANCE = 1e-6
# Least case weight of a leaf, or its share of a small sample.
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


def _or_none(check: Callable[..., Any]) -> Callable[..., Any]:
    """The check of an option that may be None."""

    def checked(name: str, value: Any, *bounds: Any, of: Any, **settings: Any) -> Any:
        return None if value is None else check(name, value, *bounds, of=of, also=", or None", **settings)

    return checked


@dataclass(frozen=True, kw_only=True, repr=False)
class OrdinalBoosting(Method):
    """Gradient boosting of shallow trees on one potential H with moving thresholds [Friedman 2001, 2002].

    P(y <= k | x) = 1 / (1 + exp(H(x) - theta_k)), and the loss is -log P(y). A round grows a tree of Newton steps on
    columns cut into at most 128 bins, on a fresh part of the rows and of the columns (Chen & Guestrin 2016: with G and
    V the sums of slopes and curvatures of a node, its value is -G / (V + penalty), and a cut gains the rise of
    G^2 / (V + penalty)), adds `learning_rate` times its values to H, and every tenth round a Newton step moves the
    thresholds. One tree a round is enough for any number of levels. The rounds start from a ridge cumulative model, so
    that trees learn what it misses, and end at the least held-out loss of a cross-validation.

    Factors without an order are categories, cut in the order of G / (V + penalty) (Fisher 1958); ordered ones, and
    those of two levels, are numbers. With `na_action="keep"` missing values go to the side where they gain more, and
    where a node had none to that of most of its rows; the ridge model takes the mean for them, and the first category
    as its base. New levels are refused: set them missing to predict for them.

    Parameters
    ----------
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

    rounds: int | str = option("cv", _rounds)
    depth: int | str | Sequence[int] = option("cv", _depth)
    learning_rate: float = option(0.05, number, above=0.0, most=1.0)
    subsample: float = option(0.7, number, above=0.0, most=1.0)
    column_share: float | None = option(None, _or_none(number), above=0.0, most=1.0)
    linear_start: bool = option(True, lambda name, value, of: flag(name, value))
    penalty: float = option(1.0, number, least=0.0)
    min_weight: float | None = option(None, _or_none(number), least=0.0)
    folds: int | None = option(None, _or_none(whole), 2)
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
            booster.repeat(training.rows, fit.trees, fit.losses, fit.thetas)
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
        names = ("trees", "depth", "null_loss", "losses", "thetas", "ridge", "held_out", "state")
        record = {name: getattr(fit, name) for name in names}
        return self._kept(sample, self._training(sample), record, int(rounds))

    def staged_codes(
        self, sample: Sample, fit: BoostedFit, targets: Sequence[Rows], stages: Sequence[int]
    ) -> Iterator[list[IntArray]]:
        """Predicted codes of several sets of rows after some of the rounds, growing; each sum continues the last."""
        training, made = self._training(sample), 0
        row_sets = [training.rows, *targets]
        sums = [fit.trees.start(rows) for rows in row_sets]
        for stage in stages:
            for rows, scores in zip(row_sets, sums, strict=True):
                fit.trees.add(rows, scores, made, stage)
            made = stage
            theta, _ = training.best_thresholds(sums[0], fit.thetas[stage])
            rule = LatentRule(fit.trees.upto(stage), theta, LOGIT, self.cost_matrix)
            yield [rule.codes(rows, H) for rows, H in zip(targets, sums[1:], strict=True)]

    def _training(self, sample: Sample) -> Training:
        return Training.of(as_rows(sample), type(self).__name__)

    def _held(self, training: Training, rng: np.random.Generator) -> FloatArray:
        """(F, M) the weights that each fold holds out; no folds if nothing is chosen."""
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
        """Held-out losses by rounds and depth."""
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
        losses = np.array([*booster.losses, booster.mean_loss()])
        record = {
            "trees": booster.sum_of(start),
            "depth": booster.settings.depth,
            "null_loss": training.null_loss(),
            "losses": losses,
            "thetas": np.array([*booster.thetas, booster.theta]),
            "ridge": penalty,
            "held_out": held_out,
            "state": dict(booster.rng.bit_generator.state),
        }
        return self._kept(sample, training, record, booster.made, booster.scores)

    def _kept(
        self, sample: Sample, training: Training, record: dict[str, Any], kept: int, scores: FloatArray | None = None
    ) -> BoostedFit:
        """The fit that uses the first of the rounds on record; `scores` are those of the training rows."""
        trees, losses, made = record["trees"].upto(kept), record["losses"], len(record["trees"].trees)
        scores = trees(training.rows) if scores is None else scores
        theta, slope = training.best_thresholds(scores, record["thetas"][kept])
        rule = LatentRule(trees, theta, LOGIT, self.cost_matrix)
        used = f", the first {kept} used" if kept < made else ""
        fit = BoostedFit(
            rule=rule,
            certificate=_certificate(slope, losses[: kept + 1], record["held_out"]),
            trace=Trace(iterations=made, objective=losses, message=f"{made} rounds{used}"),
            scores=rule.scores(sample.rows),
            kept=kept,
            **record,
        )
        return replace(fit, facts=self._facts(fit, f"{made}{used}"))

    def _facts(self, fit: BoostedFit, used: str) -> tuple[tuple[str, Any], ...]:
        how = "" if fit.held_out is None else f", by {fit.held_out.how}"
        start = "0" if fit.ridge is None else f"ridge cumulative model, penalty {fit.ridge:g} by cross-validation"
        columns = "60% (five at least)" if self.column_share is None else f"{self.column_share:.0%}"
        return (
            ("Loss", "likelihood, logit link"),
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

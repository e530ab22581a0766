"""Ordinal gradient boosting, "ordboost"."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from .._typing import FloatArray, IntArray, Progress
from ..advice import with_option_hints
from ..boosting.results import (
    RoundsResults,
    importance_frame,
    importance_table,
    shown_rounds,
)
from ..boosting.rounds import continued
from ..checks import flag, is_whole, number, ticking, whole
from ..exceptions import DataError, OptionError
from ..fit import Certificate, Trace
from ..formula.sample import Rows, Sample
from ..judging.costs import CostField
from ..judging.decisions import decision, level_shares
from ..judging.folds import refuse_unused_clusters, with_mean_weight_1
from ..method import Method, Supports, cost_option, jobs_option, option
from ..rankers import ProbabilityResults
from ..report.frames import NotedFrame
from ..report.render import Report, Table
from ..report.sections import error_tables, figures, ranker_report
from ..threads import one_blas_thread, team_of
from .probabilities import LOGIT, LatentRule
from .rounds import TELL, Booster, Settings, held_out_losses
from .start import BinnedRows, StartRule
from .trees import BoostedFit, HeldOut, LinearStart, shapley_values

if TYPE_CHECKING:
    from ..formula.design import Design

#: Columns of the table of Shapley values that are not variables.
BASE = "(base)"
OFFSET = "(offset)"


class BoostedResults(RoundsResults, ProbabilityResults):
    """A fitted gradient boosting model, P(y <= k) = F(threshold_k - H), with H a sum of
    trees.

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

    with_empty_levels = ProbabilityResults
    kind = "Ordinal gradient boosting"

    @property
    def rounds(self) -> pd.DataFrame:
        """One row for each round; round 0 is the start.

        Returns
        -------
        pandas.DataFrame
            loss (mean training loss), held_out (mean held-out loss at the chosen depth,
            if rounds or depth were chosen; NaN after the last round of the folds), and
            the thresholds after the round.
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
        """Mean loss of the held-out rows: one row per round, one column per depth;
        empty if rounds and depth were given.
        """
        tried = self.fit.held_out
        if tried is None:
            columns = {}
        else:
            columns = dict(zip(tried.depths, map(pd.Series, tried.losses), strict=True))
        return pd.DataFrame(columns).rename_axis(index="round", columns="depth")

    def glance(self) -> pd.DataFrame:
        """One-row summary of the fit."""
        f = self.fit
        curve = np.zeros(0) if f.held_out is None else f.held_out.curve
        held_out = float(curve[f.kept]) if f.kept < curve.size else np.nan
        return NotedFrame.of(
            figures(self).assign(
                rounds=f.kept,
                depth=f.depth,
                loss=float(f.losses[f.kept]),
                held_out=held_out,
            )
        )

    def gain_importance(self) -> pd.DataFrame:
        """Importance of the columns, most important first.

        Returns
        -------
        pandas.DataFrame
            importance: share of the reduction of the training loss. The reduction by
            the linear start is shared in proportion to the effects per standard
            deviation, that by the trees in proportion to the gains of the cuts. Column
            cuts is the number of cuts in all trees, column linear the effect per
            standard deviation in the linear start; for categories, the standard
            deviation of their effects. A factor has one row.
        """
        f = self.fit
        trees = f.trees.upto(f.kept)
        sample = self.design.sample
        weights = sample.case_weights / sample.case_weights.sum()
        parts = trees.linear.parts(sample.X)
        signs = np.where(trees.linear.slopes < 0.0, -1.0, 1.0)
        linear = signs * np.sqrt(
            np.maximum(weights @ (parts - weights @ parts) ** 2, 0.0)
        )
        gains, cuts = trees.gains()
        falls = (
            max(f.null_loss - f.losses[0], 0.0),
            max(f.losses[0] - f.losses[f.kept], 0.0),
        )
        sizes = falls[0] * _shares(np.abs(linear)) + falls[1] * _shares(gains)
        return importance_frame(
            self, importance=_shares(sizes), cuts=cuts, linear=linear
        )

    def shapley(self, newdata: Any = None) -> pd.DataFrame:
        """Exact Shapley values of the score H: the contribution of each variable to the
        score of each row.

        Values are on the scale of `score` (log odds; larger for higher levels). They
        explain a prediction of this fit, not what would happen if a variable were
        changed.

        The value of a set of variables is the expected score given these variables. At
        cuts on other variables a tree follows both branches, in proportion to its
        training rows (path-dependent TreeSHAP); the linear start uses training means,
        so that column j contributes b_j (x_j - mean_j). All columns that a formula
        makes from one variable (a factor, a spline, `x + I(x**2)`) belong to that
        variable. Columns of an interaction a:b form one variable of that name.

        Parameters
        ----------
        newdata : data frame, optional
            Data with the variables of the formula; by default the rows of the fit.

        Returns
        -------
        pandas.DataFrame
            One row for each row of `newdata` (NaN if an input is missing). Columns:
            "(base)", the expected score; one for each variable; "(offset)", the offset
            minus its mean, if the formula has an offset. Each row sums to
            `predict(newdata, type="score")`. `fit.shapley().abs().mean()` ranks the
            variables.

        Raises
        ------
        DataError
            `newdata` lacks a column, or has an unseen level.
        OptionError
            A variable is called "(base)" or "(offset)".

        References
        ----------
        Lundberg, Erion, Chen et al. (2020), From local explanations to global
        understanding with explainable AI for trees, Nature Machine Intelligence 2,
        56-67, algorithm 2 (what is computed); Owen (1972), Multilinear extensions of
        games, Management Science 18, 64-79 (how: an integral for every leaf, exact by
        Gauss's quadrature).

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> wine = datasets.load("wine")
        >>> formula = "rating ~ temp + contact"
        >>> fit = ordfit(formula, wine, "ordboost", rounds=20, depth=2)
        >>> values = fit.shapley(wine.head(2))
        >>> values.columns.tolist()
        ['(base)', 'temp', 'contact']
        >>> scores = fit.predict(wine.head(2), type="score")
        >>> (values.sum(axis=1) - scores).abs().max() < 1e-12
        np.True_
        """
        trees = self.fit.trees.upto(self.fit.kept)
        target = self.target(newdata)
        sample = self.design.sample
        variables, group = players(self.design)
        if taken := {BASE, OFFSET} & set(variables):
            raise OptionError(
                f"variables must not be called {taken.pop()!r}, which is a column of"
                " this table. Rename it in the data and the formula, and fit again."
            )
        weights = sample.case_weights
        values, base = shapley_values(
            trees, target.rows, sample.rows, weights, group, len(variables)
        )
        names = [BASE, *variables]
        if target.rows.offset is not None and sample.rows.offset is not None:
            mean = float(weights @ sample.rows.offset / weights.sum())
            values = np.column_stack([values, target.rows.offset - mean])
            base = base + mean
            names = [*names, OFFSET]
        return target.frame(
            np.column_stack([np.full(target.rows.n, base), values]), names
        )

    def summary_data(self) -> Report:
        """The summary as data."""
        importance = importance_table(
            self.gain_importance(), "the reduction of the loss"
        )
        return ranker_report(
            self,
            [
                *self.estimate_tables(),
                importance,
                self._round_table(),
                *error_tables(self),
            ],
        )

    def _round_table(self) -> Table:
        frame = self.rounds.iloc[shown_rounds(self.fit.kept + 1)].drop(
            columns=self.threshold_names
        )
        title = "Mean loss of the training rows, by round"
        if "held_out" in frame:
            title = "Mean loss of the training rows and of held-out rows, by round"
        note = "All rounds are in .rounds, their errors in .staged_errors()."
        return Table(
            title=title,
            frame=frame,
            formats=dict.fromkeys(frame.columns, ".4f"),
            note=note,
            section="fit",
        )


def _shares(sizes: FloatArray) -> FloatArray:
    """Non-negative sizes as shares of their sum."""
    return sizes / (sizes.sum() or 1.0)


def players(design: Design) -> tuple[list[str], IntArray]:
    """Names of the variables (or interactions) behind the columns of X, and the place
    of each column's variable.
    """
    group = np.empty(len(design.names), dtype=np.intp)
    if not design.terms:
        return list(map(str, design.names)), np.arange(group.size)
    order = {name: place for place, name in enumerate(design.spec.columns or ())}
    variables = design.spec.variables()
    names = dict[str, int]()
    for term, columns in design.terms.items():
        of_term = sorted(variables[term], key=lambda name: order.get(name, len(order)))
        group[columns] = names.setdefault(":".join(of_term) or term, len(names))
    return list(names), group


# Default number of folds, and the number of rows above which one fold is held out once.
_FOLDS = 5
_MANY_ROWS = 3000
# Depths that depth="cv" tries.
_DEPTHS = (1, 3, 6)
_MOST_DEPTH = 12
# Largest slope of the loss by a threshold, per row, at the end of a fit.
_TOLERANCE = 1e-6
# Smallest case weight of a leaf, and its share of a small sample.
_MIN_WEIGHT = 5.0
_MIN_SHARE = 0.05
#: Called after each part of the work.
Tick = Callable[[str, int], None]


def _rounds(name: str, value: Any, of: Any) -> Any:
    return value if value == "cv" else whole(name, value, 1, of=of, also=" or 'cv'")


def _depth(name: str, value: Any, of: Any) -> Any:
    if isinstance(value, str) and value == "cv":
        return value
    if isinstance(value, (tuple, list)) and value:
        return tuple(
            sorted({whole(f"each {name}", d, 1, _MOST_DEPTH, of=of) for d in value})
        )
    return whole(name, value, 1, _MOST_DEPTH, of=of, also=", several of them or 'cv'")


def _or_none(check: Callable[..., Any]) -> Callable[..., Any]:
    """The check of an option that may be None."""

    def checked(name: str, value: Any, *bounds: Any, of: Any, **settings: Any) -> Any:
        if value is None:
            return None
        return check(name, value, *bounds, of=of, also=", or None", **settings)

    return checked


@with_option_hints
@dataclass(frozen=True, kw_only=True, repr=False)
class OrdinalBoosting(Method):
    """Gradient boosting of shallow trees for ordered levels [Friedman 2001, 2002].

    Usually the most accurate single method for tables with interactions and non-linear
    effects. It gives probabilities, takes missing values and categories, and can be
    explained by `shapley()`.

    The model is P(y <= k | x) = 1 / (1 + exp(H(x) - theta_k)) with H a sum of trees;
    the loss is -log P(y). H starts from a cumulative model with a ridge penalty. Each
    round grows one tree by Newton steps on binned columns, using a random part of the
    rows and columns, and adds `learning_rate` times its values to H. A node with slopes
    G and curvatures V has the value -G / (V + penalty) [Chen & Guestrin 2016]. Every
    tenth round updates the thresholds. Cross-validation chooses the number of rounds
    and the depth.

    Unordered factors are cut as categories [Fisher 1958]; ordered and two-level factors
    as numbers. Missing values go to the side of a cut with the larger gain. Unseen
    categories of new rows, and all but the 254 most frequent ones of a column, count as
    missing. constraints= on the sign of an effect make H monotone in that variable.

    Parameters
    ----------
    rounds : int or "cv"
        Number of rounds; "cv" chooses it by the held-out loss (possibly 0, the linear
        start alone).
    depth : int, sequence of int or "cv"
        Largest number of cuts on a path, 1 to 12. The best of several is chosen; "cv"
        tries 1, 3 and 6.
    learning_rate : float
        Factor of the values of each tree, in (0, 1].
    subsample : float
        Share of the rows used for each tree, in (0, 1].
    column_share : float or None
        Share of the columns used for each tree, in (0, 1]. None means 0.6, but at least
        5 and at most 300 columns.
    linear_start : bool
        Start from a ridge cumulative model, its penalty (2^-4, 2^-2, ..., 2^10) chosen
        by cross-validation; else from H = 0. With more than 300 columns (indicators of
        categories included) one fold and every other penalty are tried; with more than
        1000 there is no linear start.
    penalty : float
        Penalty of the squared values of leaves, 0 or more.
    min_weight : float or None
        Smallest case weight of a leaf. None means 5, or a twentieth of the rows if
        there are fewer than 100.
    folds : int or None
        Number of folds. None means 5; with more than 3000 rows, a fifth of the rows is
        held out once.
    patience, max_rounds : int
        A fold ends after `patience` rounds without a smaller held-out loss, or after
        `max_rounds` rounds.
    cost : str or (K, K) array
        Cost that predicted levels minimise in expectation: "absolute" gives the median,
        "classification" the mode. H and the probabilities do not depend on it.
    n_jobs : int
        Number of threads; -1 for one per processor. The result does not depend on it.

    Notes
    -----
    The default search makes 16 fits of some hundred rounds (4 with more than 3000
    rows). A round takes about 1e-9 s times rows, columns and depth: minutes for a
    million rows of 20 columns. With few rows and many columns it takes longer, as every
    cut of every column is tried. With more than 300 columns there are fewer bins (one
    per 32 rows, at least 32); with more than 500 each tree uses 300 columns. The search
    on 300 rows of 1000 columns takes about 5 s. `rounds=300, depth=3` makes one fit;
    `callback=` of `ordfit` shows progress.

    Raises
    ------
    OptionError
        An option has a value outside its range, or constraints= is not on the sign of
        one effect.

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

    supports: ClassVar[Supports] = Supports(
        offset=True,
        cluster=True,
        signs=True,
        missing=True,
        categories=True,
        decisions=True,
    )
    results_class: ClassVar[type[Any]] = BoostedResults
    papers: ClassVar[tuple[str, ...]] = (
        (
            "Friedman, J. H. (2001). Greedy function approximation: A gradient boosting"
            " machine. Annals of Statistics, 29, 1189-1232."
        ),
        (
            "Friedman, J. H. (2002). Stochastic gradient boosting. Computational"
            " Statistics & Data Analysis, 38, 367-378."
        ),
    )

    @property
    def selects(self) -> bool:
        """Whether cross-validation chooses the rounds or the depth."""
        return self.rounds == "cv" or not is_whole(self.depth)

    @property
    def own_folds(self) -> bool:
        """Whether cross-validation chooses the rounds, the depth or the penalty of the
        linear start.
        """
        return self.selects or self.linear_start

    @property
    def depths(self) -> tuple[int, ...]:
        """The depths to choose from."""
        if isinstance(self.depth, str):
            return _DEPTHS
        return (self.depth,) if isinstance(self.depth, int) else tuple(self.depth)

    def check(self, sample: Sample) -> None:
        """Raise an error if the method does not support the sample."""
        super().check(sample)
        refuse_unused_clusters(self, sample, "set rounds='cv'")

    def settings(self, training: BinnedRows, depth: int) -> Settings:
        """Settings of the trees for a sample."""
        least = min(_MIN_WEIGHT, max(_MIN_SHARE * training.data.total, 1.0))
        options = {field.name: getattr(self, field.name) for field in fields(Settings)}
        return Settings(
            **options
            | {
                "depth": depth,
                "min_weight": least if self.min_weight is None else self.min_weight,
            }
        )

    def fit(
        self, sample: Sample, rng: np.random.Generator, progress: Progress | None = None
    ) -> BoostedFit:
        """Fit to arrays.

        Parameters
        ----------
        sample : Sample
            Rows of weight 0 are ignored.
        rng : numpy.random.Generator
            Draws the folds, and the rows and columns of each tree.
        progress : callable(step, total, message), optional
        """
        self.check(sample)
        training = self._training(sample)
        with one_blas_thread():
            held = self._held(training, rng)
            tick = ticking(progress, len(self.depths) * len(held) * self.selects + 1)
            linear = self.linear_start and len(held) > 0 and not training.too_wide
            penalty = training.best_ridge(held, rng, tick) if linear else None
            if len(held) and self.selects:
                held_out = self._held_out(training, held, penalty, rng, tick)
            else:
                held_out = None
            weights = training.data.weights
            depth = self.depths[0] if held_out is None else held_out.depth
            start = training.linear(weights, penalty)
            if is_whole(self.rounds):
                rounds = self.rounds
            elif held_out is None:
                rounds = 0
            else:
                rounds = held_out.rounds
            with team_of(self.n_jobs) as team:
                booster = training.booster(
                    self.settings(training, depth), start, weights, rng, team
                )
                self._add(booster, int(rounds), tick)
            return self._fitted(
                sample, booster, start.start, training, penalty, held_out
            )

    def _add(self, booster: Booster, rounds: int, tick: Tick) -> None:
        for _ in range(rounds):
            booster.add()
            if booster.made % TELL == 0:
                tick(f"all rows: {booster.made} of {rounds} rounds", 0)
        tick("all rows", 1)

    def more(
        self,
        sample: Sample,
        fit: BoostedFit,
        rounds: int,
        progress: Progress | None = None,
    ) -> BoostedFit:
        """Add rounds; the result equals a fit with the total number of rounds."""
        whole("rounds", rounds, 1, of=self)
        training = self._training(sample)
        start = StartRule(fit.trees.linear, fit.thetas[0])
        settings = self.settings(training, fit.depth)
        with team_of(self.n_jobs) as team:
            booster = training.booster(
                settings, start, training.data.weights, continued(fit.state), team
            )
            booster.repeat(training.rows, fit.trees, fit.losses, fit.thetas)
            self._add(booster, rounds, ticking(progress, 1))
        return self._fitted(
            sample, booster, start.start, training, fit.ridge, fit.held_out
        )

    def truncated(self, sample: Sample, fit: BoostedFit, rounds: int) -> BoostedFit:
        """The fit after the first `rounds` rounds.

        Raises
        ------
        OptionError
            `rounds` exceeds the number of rounds.
        """
        whole("rounds", rounds, 0, fit.stages[-1], also=", the rounds made")
        names = (
            "trees",
            "depth",
            "null_loss",
            "losses",
            "thetas",
            "ridge",
            "held_out",
            "state",
        )
        record = {name: getattr(fit, name) for name in names}
        return self._kept(sample, self._training(sample), record, int(rounds))

    def staged_codes(
        self,
        sample: Sample,
        fit: BoostedFit,
        targets: Sequence[Rows],
        stages: Sequence[int],
    ) -> Iterator[list[IntArray]]:
        """Predicted codes of several sets of rows after each of some increasing numbers
        of rounds.
        """
        training = self._training(sample)
        shares = level_shares(sample)
        made = 0
        row_sets = [training.rows, *targets]
        sums = [fit.trees.start(rows) for rows in row_sets]
        for stage in stages:
            for rows, scores in zip(row_sets, sums, strict=True):
                fit.trees.add(rows, scores, made, stage)
            made = stage
            theta, _ = training.best_thresholds(sums[0], fit.thetas[stage])
            rule = LatentRule(fit.trees.upto(stage), theta, LOGIT, self.cost_matrix)
            if self.cost_matrix.decides:
                P = rule.probabilities(training.rows, sums[0])
                weights = training.data.weights
                rule = rule.deciding(decision(str(self.cost), P, weights, shares))
            yield [
                rule.codes(rows, H) for rows, H in zip(targets, sums[1:], strict=True)
            ]

    def _training(self, sample: Sample) -> BinnedRows:
        return BinnedRows.of(with_mean_weight_1(sample), type(self).__name__)

    def _held(self, training: BinnedRows, rng: np.random.Generator) -> FloatArray:
        """(F, M) weight of each row that each fold holds out; no folds if nothing is to
        be chosen.
        """
        if training.flat or not (self.selects or self.linear_start):
            return np.empty((0, training.data.y.size))
        held = training.held(self.folds or _FOLDS, rng)
        if len(held) == 0:
            raise DataError(
                f"{type(self).__name__} needs two rows of some level for its"
                " cross-validation. Set rounds= and depth= to numbers and"
                " linear_start=False, or use more rows."
            )
        if self.folds is None and training.data.total > _MANY_ROWS:
            return held[:1]
        return held

    def _held_out(
        self,
        training: BinnedRows,
        held: FloatArray,
        penalty: float | None,
        rng: np.random.Generator,
        tick: Tick,
    ) -> HeldOut:
        """Held-out losses for each number of rounds and each depth."""
        weights = training.data.weights
        starts = [training.linear(weights - out, penalty) for out in held]

        def booster(depth: int, fold: int, rng: np.random.Generator) -> Booster:
            return training.booster(
                self.settings(training, depth),
                starts[fold],
                weights - held[fold],
                rng,
                keeps_trees=False,
            )

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
        training: BinnedRows,
        penalty: float | None,
        held_out: HeldOut | None,
    ) -> BoostedFit:
        """The fit with all rounds of a booster."""
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
        self,
        sample: Sample,
        training: BinnedRows,
        record: dict[str, Any],
        kept: int,
        scores: FloatArray | None = None,
    ) -> BoostedFit:
        """The fit with the first `kept` rounds of a record; `scores` are those of the
        training rows.
        """
        trees = record["trees"].upto(kept)
        losses = record["losses"]
        made = len(record["trees"].trees)
        scores = trees(training.rows) if scores is None else scores
        theta, slope = training.best_thresholds(scores, record["thetas"][kept])
        rule = LatentRule(trees, theta, LOGIT, self.cost_matrix)
        used = f", the first {kept} used" if kept < made else ""
        fit = BoostedFit(
            rule=rule,
            certificate=_certificate(slope, losses[: kept + 1], record["held_out"]),
            trace=Trace(
                iterations=made, objective=losses, message=f"{made} rounds{used}"
            ),
            scores=rule.scores(sample.rows),
            kept=kept,
            **record,
        )
        return replace(fit, facts=self._facts(fit, f"{made}{used}"))

    def _facts(self, fit: BoostedFit, used: str) -> tuple[tuple[str, Any], ...]:
        how = "" if fit.held_out is None else f", by {fit.held_out.how}"
        start: tuple[tuple[str, Any], ...] = ()
        if fit.ridge is not None:
            penalty = f"ridge penalty {fit.ridge:g}, by cross-validation"
            start = (("Linear start", penalty),)
        return (
            ("Rounds", used + (how if self.rounds == "cv" else "")),
            ("Depth", f"{fit.depth}" + ("" if is_whole(self.depth) else how)),
            ("Learning rate", f"{self.learning_rate:g}"),
            *start,
        )


def _certificate(
    slope: float, losses: FloatArray, held_out: HeldOut | None
) -> Certificate:
    """The largest slope of the loss by the thresholds, and the losses."""
    details: list[tuple[str, Any]] = [("training loss", float(losses[-1]))]
    if held_out is not None:
        details.append(
            (
                "held-out loss",
                float(held_out.curve[min(losses.size, held_out.curve.size) - 1]),
            )
        )
    return Certificate(
        name="max |slope| by the thresholds",
        value=slope,
        tolerance=_TOLERANCE,
        details=tuple(details),
        steps="rounds",
    )

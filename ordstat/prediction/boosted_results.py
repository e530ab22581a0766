"""Results of gradient boosting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

import numpy as np
import pandas as pd

from .._typing import FloatArray
from ..boosting.results import ensemble_errors
from ..judging.importance import GAIN_FIRST
from ..judging.rankers import (
    PREDICTS,
    FittedThresholds,
    after_rounds,
    fitted_thresholds,
    rule_probabilities,
    staged_predictions,
    tidy_thresholds,
    with_more_rounds,
)
from ..plots.accessor import EnsemblePlots
from ..report.frames import NotedFrame
from ..report.render import Report, Table
from ..report.sections import error_tables, figures, ranker_report
from ..results import OrdinalResults
from .shapley import shapley_table
from .trees import BoostedFit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .shapley import ShapleyTable

R = TypeVar("R", bound="BoostedResults")

# Rows of the tables of rounds and of columns in a summary.
_SHOWN, _COLUMNS = 6, 10


def stopped_early(fit: R, newdata: Any, *, weights: Any = None) -> R:
    """The results as they were at the round of least mean loss of other rows, such as a validation sample.

    Parameters
    ----------
    newdata : data frame
        With the response; rows that were not fitted to.
    weights : str or (n,) array, optional
        Case weights of these rows.

    Raises
    ------
    DataError
        No row has the response and all inputs.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> train, validation = datasets.quadratic_bands(200, seed=1), datasets.quadratic_bands(200, seed=2)
    >>> fit = ordfit("rank ~ x1 + x2", train, "ordboost", rounds=50, depth=2)
    >>> fit.stopped_early(validation).fit.kept <= 50
    True
    """
    _, sample = fit.judged_sample(newdata, weights)
    losses = cast(Any, fit.method).staged_losses(sample, fit.fit)
    return after_rounds(fit, int(losses.argmin()))


def boosting_importance(fit: BoostedResults) -> pd.DataFrame:
    """What the columns contribute, most important first.

    Returns
    -------
    pandas.DataFrame
        importance, the column's share of the fall of the training loss: what the linear start lowers is divided by
        the size of its effects per standard deviation, what the trees lower by the gains of their cuts; cuts, their
        number in all trees; and linear, the effect in the linear start per standard deviation, of categories the
        standard deviation of their effects. The index has the columns of the model, factors as one each.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", datasets.load("wine"), "ordboost", rounds=20, depth=2)
    >>> fit.importance().index.tolist()
    ['temp', 'contact']
    """
    trees = fit.fit.trees.upto(fit.fit.kept)
    gains, cuts = trees.gains()
    sample = fit.design.sample
    weights = sample.case_weights / sample.case_weights.sum()
    parts = trees.linear.parts(sample.X)
    signs = np.where(trees.slopes < 0.0, -1.0, 1.0)
    linear = signs * np.sqrt(np.maximum(weights @ (parts - weights @ parts) ** 2, 0.0))
    f = fit.fit
    falls = max(f.null_loss - f.losses[0], 0.0), max(f.losses[0] - f.losses[f.kept], 0.0)
    found = falls[0] * _shares(np.abs(linear)) + falls[1] * _shares(gains)
    columns = {"importance": _shares(found), "cuts": cuts, "linear": linear}
    frame = pd.DataFrame(columns, index=pd.Index(fit.design.names, name="column"))
    return NotedFrame.of(frame.sort_values("importance", ascending=False, kind="stable"), (), "Importance of columns")


def _shares(sizes: FloatArray) -> FloatArray:
    """Sizes, 0 or more, as shares of their sum."""
    return sizes / (sizes.sum() or 1.0)


def boosting_figures(fit: BoostedResults) -> pd.DataFrame:
    """One row of figures of the whole fit."""
    f = fit.fit
    curve = np.zeros(0) if f.held_out is None else f.held_out.curve
    held_out = float(curve[f.kept]) if f.kept < curve.size else np.nan
    return NotedFrame.of(
        figures(fit).assign(rounds=f.kept, depth=f.depth, loss=float(f.losses[f.kept]), held_out=held_out)
    )


def _round_table(fit: BoostedResults) -> Table:
    last = fit.fit.kept
    shown = np.unique(np.rint(np.geomspace(1, last + 1, _SHOWN)).astype(np.intp) - 1)
    frame = fit.rounds.iloc[shown].drop(columns=fit.threshold_names)
    title = "After some of the rounds: mean loss of the training rows"
    title += " and of held-out rows" if "held_out" in frame else ""
    note = "All rounds are in .rounds, their errors in .staged_errors()."
    formats = dict.fromkeys(frame.columns, ".4f")
    return Table(title=title, frame=frame, formats=formats, note=note, section="fit")


def _importance_table(fit: BoostedResults) -> Table:
    frame = boosting_importance(fit)
    note = f"The first {_COLUMNS} of {len(frame)}; all are in .importance()." if len(frame) > _COLUMNS else ""
    return Table(
        title="Columns: share of the fall of the loss; cuts; linear start, per SD",
        frame=frame.head(_COLUMNS),
        formats={"importance": ".3f", "cuts": "int", "linear": ".3f"},
        note=note,
    )


class BoostedResults(FittedThresholds, OrdinalResults):
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

    predicts = PREDICTS
    no_bounds = "No margin bounds: the score that the trees add up to has no norm."

    @property
    def kind(self) -> str:
        """What was fitted."""
        return "Ordinal gradient boosting"

    _probabilities = rule_probabilities

    @property
    def rounds(self) -> pd.DataFrame:
        """One row a round, round 0 being the start.

        Returns
        -------
        pandas.DataFrame
            loss (mean training loss), held_out (mean loss of held-out rows at the chosen depth, where rounds or depth
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
        """Mean loss of the held-out rows by round, one column a depth tried; no columns where nothing was chosen."""
        found = self.fit.held_out
        if found is None:
            return pd.DataFrame(index=pd.RangeIndex(0, name="round"))
        columns = {depth: pd.Series(curve) for depth, curve in zip(found.depths, found.losses, strict=True)}
        return pd.DataFrame(columns).rename_axis(index="round", columns="depth")

    def tidy(self) -> pd.DataFrame:
        """One row per threshold and linear coefficient: term, estimate, coef_type.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"), method="redsvm", kernel="linear")
        >>> fit.tidy().round(2)
                     term  estimate  coef_type
        0             1|2      -1.0  threshold
        1             2|3       1.0  threshold
        2             3|4       3.0  threshold
        3             4|5       5.0  threshold
        4    temp[T.warm]       2.0   location
        5  contact[T.yes]       2.0   location
        """

        return tidy_thresholds(self)

    glance = boosting_figures

    def at(self, rounds: int) -> Self:
        """The results as they were after some of the rounds.

        Boosting keeps the rounds it made: `fit.at(5).rounds` has all of them, and `fit.at(5).more(15)` goes on after
        the last, as `fit.more(15)` does. Trees of other ensembles are dropped: `fit.at(5).more(15)` has 20.

        Raises
        ------
        OptionError
            More rounds than were made.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"), method="bagging", rounds=20)
        >>> len(fit.at(5).rounds)
        5
        """
        from ..judging.rankers import after_rounds

        return after_rounds(self, rounds)

    stopped_early = stopped_early

    def more(self, rounds: int) -> Self:
        """The results with further rounds: those of a fit of as many rounds at once.

        They follow the last round that was made, of boosting also where `at` chose fewer.

        Raises
        ------
        OptionError
            `rounds` is not a number of rounds, or there is one round by nature, as for a single tree.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"), method="bagging", rounds=20)
        >>> len(fit.more(10).rounds)
        30
        """

        return with_more_rounds(self, rounds)

    def staged(self, newdata: Any = None, type: str = "class", *, every: int = 1) -> Iterator[tuple[int, Any]]:
        """Predictions after every round, as (round, what `predict` gives).

        Parameters
        ----------
        newdata : data frame, optional
        type : str
            As in `predict`.
        every : int
            Only every so many rounds, and the last.

        Raises
        ------
        OptionError
            `every` below 1.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> wine = datasets.load("wine")
        >>> fit = ordfit("rating ~ temp + contact", data=wine, method="ordinal-bagging", rounds=20)
        >>> [(rounds, ranks.tolist()) for rounds, ranks in fit.staged(wine.head(2), every=10)]
        [(10, [2, 2]), (20, [2, 2])]
        """

        return staged_predictions(self, newdata, type, every=every)

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

        return ensemble_errors(cast(Any, self), newdata, every=every, rounds=rounds)

    importance_kinds = GAIN_FIRST
    gain_importance = boosting_importance

    def shapley(self, newdata: Any = None) -> ShapleyTable:
        """Exact Shapley values of the potential H: what every variable has of the score of a row.

        The value of a set of variables is what the model expects of the row when it is told these alone: every tree
        goes with the row where it asks for one of them, and both ways elsewhere, in proportion to the rows that it
        was grown on (path-dependent TreeSHAP); the linear start has the means of the rows of the fit in place of the
        others, so that column j has b_j (x_j - mean_j). A variable's Shapley value is what it adds to that, averaged
        over all orders in which the variables can be told. All columns that a formula makes of one variable (a
        factor, a spline, `x + I(x**2)`) are told together; columns made of several, such as those of a:b, are one
        variable of that name.

        Values are on the scale of `score`, larger for higher levels, under the logit link log odds. They tell how this
        fit comes to its prediction, not what would happen if a variable were changed.

        Parameters
        ----------
        newdata : data frame, optional
            With the columns of the formula. None means the rows of the fit.

        Returns
        -------
        ShapleyTable
            A data frame, one row a row of `newdata`, on its index, NaN where an input is missing: "(base)", what is
            expected when nothing is told; a column a variable; "(offset)", that of the row less its mean, where the
            formula has one. Each row sums to `predict(newdata, type="score")`.
            `.to_shap()` hands it to the plots of the shap package, `fit.plot.shapley()` draws the means of the sizes.

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

        return shapley_table(self, newdata)

    @property
    def plot(self) -> EnsemblePlots:
        """Pictures of the fit, by matplotlib: `fit.plot.shapley()`."""
        return EnsemblePlots(self)

    def summary_data(self) -> Report:
        """All of the summary as data."""
        learnt = [*fitted_thresholds(self), _importance_table(self)]
        return ranker_report(self, [*learnt, _round_table(self), *error_tables(self)])

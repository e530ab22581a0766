"""What `fit.plot` offers: of every fit, and of likelihood models, rankers, ensembles and trees."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ..checks import did_you_mean
from ..exceptions import OptionError
from . import dependence, errors, importance, latent, rounds, tree, variables

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def _has_effects(results: Any) -> bool:
    return bool(results.design.names or results.design.nominal_names or results.design.scale_names)


def _has_variables(results: Any) -> bool:
    return bool(results.design.spec.columns)


#: What a fit must have for a picture; the others need nothing.
NEEDS: dict[str, Callable[[Any], bool]] = {
    "latent": latent.has_scores,
    "margins": lambda r: r.no_margins is None,
    "reliability": lambda r: "prob" in r.prediction_types,
    "selection": lambda r: getattr(r.fit, "selection", None) is not None,
    "boundaries": lambda r: len(variables.numeric_variables(r)) > 1,
    "coefficients": _has_effects,
    "forest": _has_effects,
    "profiles": lambda r: r.covariance == "model" and r.design.sample.cluster is None and r.design.survey is None,
    "importance": lambda r: bool(r.design.names or r.design.spec.columns) and not r.method.pairwise,
    "rounds": lambda r: len(r.fit.stages) > 1,
    "shapley": lambda r: hasattr(r, "shapley"),
    "density": lambda r: bool(r.family.ordered),
    "parallel": lambda r: bool(r.family.ordered and r.design.names),
    "influence": lambda r: r.fit.separation is None and r.design.survey is None and r.fit.marginal is None,
    **dict.fromkeys(("dependence", "effects", "emmeans", "stacked"), _has_variables),
}
#: Pictures under another name.
_INSTEAD = {
    "ale": "dependence(variable), or effects(variable) of a likelihood model",
    "bounds": "margins(); fit.bounds(delta=...) has the numbers",
    "dependence": "effects(variable), or emmeans(variable, scale='mean_class')",
    "effects": "dependence(variable)",
    "interaction": "effects(variable, by=...)",
}


@dataclass(frozen=True, eq=False, repr=False)
class Plots:
    """Pictures of a fit: `fit.plot.latent()`.

    Pictures take axes to draw into, `ax=None` (a new figure), and return the axes. With `draw=False` they return the
    data frame behind the picture, without matplotlib.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"), method="redsvm")
    >>> fit.plot
    plots: confusion, dependence, importance, latent, margins
    >>> cells = fit.plot.confusion(draw=False)
    >>> cells.loc[cells["observed"] == 5, ["predicted", "distance", "weight"]].to_numpy().tolist()
    [[1, 4, 0], [2, 3, 0], [3, 2, 2], [4, 1, 5], [5, 0, 0]]
    """

    results: Any

    def __repr__(self) -> str:
        return f"plots: {', '.join(self.names)}"

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refuse: a picture must be named."""
        names = self.names
        raise OptionError(f"fit.plot must name a picture, as in fit.plot.{names[0]}(). There are {', '.join(names)}.")

    def __dir__(self) -> list[str]:
        """Without the pictures that this fit has nothing for; called, they say why."""
        return [name for name in super().__dir__() if name not in NEEDS or NEEDS[name](self.results)]

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Say which pictures there are."""
            if name.startswith("_") or name == "results":
                raise AttributeError(name)
            hint = f" Use plot.{_INSTEAD[name]}." if name in _INSTEAD else did_you_mean(name, self.names)
            if name.endswith("_data"):
                hint = f" Use plot.{name.removesuffix('_data')}(..., draw=False)."
            there = ", ".join(self.names)
            raise AttributeError(f"fit.plot has no picture {name!r} of this fit.{hint} There are {there}.")

    @property
    def names(self) -> list[str]:
        """Names of the pictures that this fit has something for."""
        return sorted(name for name in dir(self) if not name.startswith("_") and name not in ("names", "results"))

    def latent(self, ax: Axes | None = None, *, bins: int = 40, draw: bool = True) -> Any:
        """Scores of the rows of each observed level, with the thresholds and the interval of every level.

        A row of the picture is one observed level. Where thresholds differ between the rows of the fit (nominal
        effects) their mean is drawn, and their range.

        Parameters
        ----------
        ax : matplotlib axes, optional
        bins : int
            Number of bins of the histograms.
        draw : bool
            False returns the frame: level, left and right (ends of the bin, in units of the score), weight (of the
            rows inside), share (of the weight of the level).

        Raises
        ------
        UnavailableError
            For a rule that votes.
        ImportError
            matplotlib is not installed.
        """
        frame = latent.latent_frame(self.results, bins)
        return latent.draw_latent(self.results, frame, ax) if draw else frame

    def margins(
        self,
        ax: Axes | None = None,
        *,
        delta: float | None = None,
        bins: int = 40,
        normalised: bool | None = None,
        draw: bool = True,
    ) -> Any:
        """Left and right margins of the rows; wrong ones (<= 0) in another colour, and a line at Delta.

        Parameters
        ----------
        ax : matplotlib axes, optional
        delta : float >= 0, optional
            Half the median size of the margins, to one digit, if not given.
        bins : int
            Their common width is chosen so that 0 is an end of a bin.
        normalised : bool, optional
            Margins divided by the norm of potential and thresholds; True where there is a norm.
        draw : bool
            False returns the frame: side ("left", "right"), from, to (ends of the bin), weight, share (of all rows with
            that margin: rows of the lowest level have no left margin, those of the highest no right one).
        """
        frame = latent.margins_frame(self.results, bins, normalised)
        return latent.draw_margins(self.results, frame, ax, delta, normalised) if draw else frame

    def confusion(self, ax: Axes | None = None, *, newdata: Any = None, weights: Any = None, draw: bool = True) -> Any:
        """Observed against predicted levels: blue where correct, redder with the distance, deeper with the share.

        Parameters
        ----------
        ax : matplotlib axes, optional
        newdata : data frame, optional
            With the response; the rows of the fit if not given.
        weights : str or (N,) array, optional
            Case weights of `newdata`.
        draw : bool
            False returns the frame of the cells: observed, predicted (levels), distance (|i - j| in ranks), weight (of
            the rows), share (of the weight of the observed level; 0 for a level without rows).
        """
        frame = errors.confusion_frame(self.results, newdata, weights)
        return errors.draw_confusion(self.results, frame, ax, newdata is not None) if draw else frame

    def reliability(
        self,
        ax: Any = None,
        *,
        newdata: Any = None,
        by: str = "split",
        bins: int = 10,
        level: float = 0.95,
        facets: bool | None = None,
        draw: bool = True,
    ) -> Any:
        """Observed shares against predicted probabilities, with Wilson limits: on the diagonal where they agree.

        Parameters
        ----------
        ax : matplotlib axes, or an array of them with facets, optional
        newdata : data frame, optional
            With the response; the rows of the fit (cross-fitted, if it is calibrated) if not given.
        by : {"split", "level"}
            A curve a threshold, of P(response <= low), or a level, of P(response = level).
        bins : int
            Most bins, of about equal weight.
        level : float in (0, 1)
            Confidence level of the limits.
        facets : bool, optional
            A panel for each curve; of more than three curves, unless axes are given, if not given.
        draw : bool
            False returns the frame of `fit.reliability`.

        Returns
        -------
        matplotlib axes, or an array of them with facets

        Raises
        ------
        OptionError
            The fit has no probabilities, or too many levels for panels.
        """
        frame = self.results.reliability(newdata, by=by, bins=bins, level=level)
        return errors.draw_reliability(self.results, frame, ax, by, facets, newdata is None) if draw else frame

    def selection(self, ax: Axes | None = None, *, draw: bool = True) -> Any:
        """Cost of held-out rows against C or gamma, one standard error on either side; of both as a field of numbers.

        Parameters
        ----------
        ax : matplotlib axes, optional
        draw : bool
            False returns the frame: C, gamma where it was chosen, cost, std_error, chosen.

        Raises
        ------
        UnavailableError
            Nothing was chosen by cross-validation.
        """
        frame = rounds.selection_frame(self.results)
        return rounds.draw_selection(self.results, frame, ax) if draw else frame

    def boundaries(
        self,
        x: str,
        y: str,
        ax: Axes | None = None,
        *,
        at: Mapping[str, Any] | None = None,
        data: Any = None,
        points: int = 200,
        draw: bool = True,
    ) -> Any:
        """Predicted levels over two numeric variables, with the rows of the fit as dots of their observed level.

        Parameters
        ----------
        x, y : str
            Variables of the formula.
        ax : matplotlib axes, optional
        at : mapping, optional
            Values of all other variables: {"contact": "yes"}.
        data : data frame, optional
            The data of the fit, where it does not have them any more (after unpickling).
        points : int
            Points of the grid, on each side.
        draw : bool
            False returns the frame: the two variables and level, the prediction at every point of the grid.

        Raises
        ------
        OptionError
            A name that is no variable of the formula, or no number; another variable without a value.
        """
        frame = variables.boundaries_frame(self.results, x, y, at, data, points)
        return variables.draw_boundaries(self.results, frame, ax, data, points) if draw else frame

    def importance(
        self,
        ax: Axes | None = None,
        *,
        kind: str | None = None,
        newdata: Any = None,
        top: int | None = None,
        measure: str = "absolute error",
        repeats: int = 10,
        seed: int | np.random.Generator = 0,
        weights: Any = None,
        level: float = 0.95,
        draw: bool = True,
    ) -> Any:
        """Importance of the variables as bars, with limits over the permutations.

        Parameters
        ----------
        ax : matplotlib axes, optional
        kind : {"permutation", "gain"}, optional
            As in `fit.importance`: "gain", of columns, where a method adds up trees or rounds, else "permutation".
        newdata : data frame, optional
            Rows to judge by, with the response.
        top : int, optional
            Variables to draw, the most important ones; all if not given.
        measure, repeats, seed, weights, level
            As in `fit.importance`.
        draw : bool
            False returns the frame: variable (kind="gain": column), importance, std_error, lower, upper (NaN of
            kind="gain"), most important first.
        """
        options = {"measure": measure, "repeats": repeats, "seed": seed, "weights": weights, "level": level}
        frame = importance.importance_frame(self.results, kind, newdata, top, **options)
        return importance.draw_importance(frame, ax, measure, level) if draw else frame


class RankerPlots(Plots):
    """Pictures of a fit that has no likelihood."""

    def dependence(
        self,
        variable: str,
        ax: Axes | None = None,
        *,
        of: str | None = None,
        values: Sequence[Any] | None = None,
        rows: int = 500,
        data: Any = None,
        draw: bool = True,
    ) -> Any:
        """Partial dependence [Friedman 2001, sec. 8.2]: mean predictions over a variable.

        Each row keeps its other values, so that a mean stands for the rows as they are. Where variables go together,
        values that no row could have are among them; the picture shows what the fit says, not what a change would do.

        Parameters
        ----------
        variable : str
            A variable of the formula.
        ax : matplotlib axes, optional
        of : {"prob", "rank"}, optional
            Probabilities of the levels, where the fit has some, or the mean rank 1..K: the expected one where there are
            probabilities, else the predicted one. Probabilities, where there are any, if not given.
        values : sequence, optional
            Values of the variable; all levels of a factor, up to 25 points over the range of a number if not given.
        rows : int
            Rows that are averaged at most; of more a sample, evenly spread.
        data : data frame, optional
            The data of the fit, where it does not have them any more (after unpickling).
        draw : bool
            False returns the frame: the variable, level (of="prob"), estimate.
        """
        frame = dependence.dependence_frame(self.results, variable, of, values, rows, data)
        return dependence.draw_dependence(self.results, frame, ax) if draw else frame


class EnsemblePlots(RankerPlots):
    """Pictures of an ensemble made in rounds: those of every ranker, its rounds, and Shapley values of "ordboost".

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rank ~ x1 + x2", data=datasets.quadratic_bands(300, seed=1), method="orboost-all", rounds=100)
    >>> new = datasets.quadratic_bands(1000, seed=2)
    >>> fit.plot.rounds(newdata=new, every=50, draw=False).round(3)
       round             rows  value
    0     50  rows of the fit  0.017
    1    100  rows of the fit  0.000
    2     50         new data  0.076
    3    100         new data  0.056
    """

    def rounds(
        self,
        ax: Axes | None = None,
        *,
        newdata: Any = None,
        error: str = "absolute",
        every: int | None = None,
        draw: bool = True,
    ) -> Any:
        """Error after every round, on the rows of the fit, on new data, and of held-out rows where there are any.

        Parameters
        ----------
        ax : matplotlib axes, optional
        newdata : data frame, optional
            With the response.
        error : {"absolute", "classification", "cost", "loss"}
            "loss" is the training loss a row, beside what the training-error theorem allows it, or that of held-out
            rows.
        every : int, optional
            Only every so many rounds, and the last; 250 of them, the first closest together, if not given.
        draw : bool
            False returns the frame: round, rows (whose error it is), value.
        """
        frame = rounds.ensemble_frame(self.results, newdata, error, every)
        return rounds.draw_ensemble(self.results, frame, ax, error) if draw else frame

    def shapley(self, ax: Axes | None = None, *, newdata: Any = None, top: int | None = None, draw: bool = True) -> Any:
        """Mean absolute Shapley values of the variables as bars: how far each moves the score, on average.

        Parameters
        ----------
        ax : matplotlib axes, optional
        newdata : data frame, optional
            Rows to take the mean of; those of the fit if not given.
        top : int, optional
            Variables to draw, the most important ones; all if not given.
        draw : bool
            False returns the frame: variable and importance (mean of |value|, over the rows of the fit by their case
            weights), largest first.
        """
        frame = importance.shapley_frame(self.results, newdata, top)
        words = "mean |Shapley value|, on the scale of the score"
        return importance.draw_bars(frame, ax, words) if draw else frame


class TreePlots(RankerPlots):
    """Pictures of trees: those of every ranker, and the trees themselves.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"), method="cart", leaves=2)
    >>> fit.plot.tree(draw=False)[["node", "x", "depth", "level"]].to_numpy().tolist()
    [[1, 0.5, 0, '3'], [2, 0.0, 1, '2'], [3, 1.0, 1, '3']]
    """

    def rounds(
        self, ax: Axes | None = None, *, newdata: Any = None, error: str = "absolute", every: int = 1, draw: bool = True
    ) -> Any:
        """Error after every round, on the rows of the fit, out of bag where rows are drawn, and on new data.

        Out of bag begins where half of the rows have been out of bag once.

        Parameters
        ----------
        ax : matplotlib axes, optional
        newdata : data frame, optional
            With the response.
        error : {"absolute", "classification", "squared"}
        every : int
            Only every so many rounds, and the last.
        draw : bool
            False returns the frame: round, rows ("rows of the fit", "out of bag", "new data"), value.
        """
        frame = rounds.trees_frame(self.results, newdata, error, every)
        return rounds.draw_rounds(frame, ax, f"mean {error} error") if draw else frame

    def tree(self, ax: Axes | None = None, *, round: int = 1, split: int | None = None, draw: bool = True) -> Any:
        """One tree: cuts at its nodes, the shares of the levels as bars at its leaves.

        Parameters
        ----------
        ax : matplotlib axes, optional
        round : int
            1, 2, ...
        split : int, optional
            1, ..., K-1, where trees belong to splits; the first unless given.
        draw : bool
            False returns the frame: node, x, depth, and the columns of `fit.nodes`.
        """
        frame = tree.tree_frame(self.results, round, split)
        return tree.draw_tree(self.results, frame, ax, round, split) if draw else frame

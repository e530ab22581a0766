"""What `fit.plot` offers: of every fit, and of likelihood models, rankers, ensembles and trees."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ..checks import did_you_mean
from ..exceptions import OptionError
from . import coefficients, effects, ensembles, errors, latent, residuals, variables

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def _has_effects(results: Any) -> bool:
    return bool(results.design.names or results.design.nominal_names or results.design.scale_names)


#: What a fit must have for a picture; the others need nothing.
NEEDS: dict[str, Callable[[Any], bool]] = {
    "latent": latent.has_scores,
    "margins": lambda r: r.no_margins is None,
    "reliability": lambda r: "prob" in r.prediction_types,
    "boundaries": lambda r: len(variables.numeric_variables(r)) > 1,
    "coefficients": _has_effects,
    "forest": _has_effects,
    "profiles": lambda r: r.covariance == "model" and r.design.sample.cluster is None and r.design.survey is None,
    "importance": lambda r: bool(r.design.names or r.design.spec.columns) and not r.method.pairwise,
    "rounds": lambda r: len(r.fit.stages) > 1,
    "shapley": lambda r: hasattr(r, "shapley"),
    "parallel": lambda r: bool(r.family.ordered and r.design.names),
    "influence": lambda r: r.fit.separation is None and r.design.survey is None and r.fit.marginal is None,
    **dict.fromkeys(("dependence", "effects", "emmeans", "stacked"), lambda r: bool(r.design.spec.columns)),
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
        frame = variables.importance_frame(self.results, kind, newdata, top, **options)
        return variables.draw_importance(frame, ax, measure, level) if draw else frame


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
        frame = variables.dependence_frame(self.results, variable, of, values, rows, data)
        return variables.draw_dependence(self.results, frame, ax) if draw else frame


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
        frame = ensembles.ensemble_frame(self.results, newdata, error, every)
        return ensembles.draw_ensemble(self.results, frame, ax, error) if draw else frame

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
        frame = variables.shapley_frame(self.results, newdata, top)
        words = "mean |Shapley value|, on the scale of the score"
        return variables.draw_bars(frame, ax, words) if draw else frame


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
        frame = ensembles.trees_frame(self.results, newdata, error, every)
        return ensembles.draw_rounds(frame, ax, f"mean {error} error") if draw else frame

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
        frame = ensembles.tree_frame(self.results, round, split)
        return ensembles.draw_tree(self.results, frame, ax, round, split) if draw else frame


class LikelihoodPlots(Plots):
    """Pictures of a likelihood fit: those of every fit, and of its probabilities and coefficients.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
    >>> fit.plot.forest(draw=False).round(2).to_numpy()[:, 1:4].tolist()
    [[2.5, 1.47, 3.54], [1.53, 0.59, 2.46]]
    """

    def forest(
        self, ax: Axes | None = None, *, exponentiate: bool = False, level: float = 0.95, draw: bool = True
    ) -> Any:
        """Coefficients with their confidence limits.

        Parameters
        ----------
        ax : matplotlib axes, optional
        exponentiate : bool
            Odds ratios (logit), hazard ratios (cloglog) or exponents, on a logarithmic axis.
        level : float in (0, 1)
            Confidence level of the limits.
        draw : bool
            False returns the frame: term, estimate, conf_low, conf_high, coef_type.
        """
        fit = {"this fit": self.results}
        frame = coefficients.effects_frame(fit, None, exponentiate, level)
        return coefficients.draw_effects(fit, frame, ax, exponentiate, level) if draw else frame.drop(columns="model")

    def coefficients(
        self,
        others: Mapping[str, Any],
        ax: Axes | None = None,
        *,
        label: str = "this fit",
        columns: Sequence[str] | str | None = None,
        exponentiate: bool = False,
        level: float = 0.95,
        draw: bool = True,
    ) -> Any:
        """Coefficients of this and other fits with their limits, the fits of a term below each other.

        Coefficients of different links are not on one scale, and adding a variable moves the others even where it has
        nothing to do with them: signs and patterns compare, sizes only among fits of one link and the same rows.

        Parameters
        ----------
        others : mapping of str to fits
            Up to seven, by the labels they get: {"with age": fit2}. Methods without standard errors are dots alone.
        ax : matplotlib axes, optional
        label : str
            Of this fit.
        columns : str or sequence of str, optional
            Terms to draw, in this order; all if not given.
        exponentiate : bool
            Odds ratios (logit), hazard ratios (cloglog) or, of fits that differ in this, exponents, on a logarithmic
            axis.
        level : float in (0, 1)
            Confidence level of the limits.
        draw : bool
            False returns the frame: model, term, estimate, conf_low, conf_high (NaN of methods without standard
            errors), coef_type, in the order in which terms first come.
        """
        fits = coefficients.labelled_fits(self.results, others, label)
        frame = coefficients.effects_frame(fits, columns, exponentiate, level)
        return coefficients.draw_effects(fits, frame, ax, exponentiate, level) if draw else frame

    def effects(
        self,
        variable: str,
        ax: Any = None,
        *,
        by: str | None = None,
        facets: bool = False,
        values: Sequence[Any] | None = None,
        by_values: Sequence[Any] | None = None,
        at: Mapping[str, Any] | None = None,
        data: Any = None,
        re: str | None = None,
        level: float = 0.95,
        draw: bool = True,
    ) -> Any:
        """Probability of every level over a variable, with bands: lines for a number, points for a factor.

        They are the estimated marginal means of `emmeans`: all levels of the other factors weigh the same, other
        numbers are at their means.

        Parameters
        ----------
        variable : str
            A variable of the formula.
        ax : matplotlib axes, or an array of them with by or facets, optional
        by : str, optional
            Another variable: a panel for each of its values.
        facets : bool
            A panel for each level of the response, in which the values of `by` have a line each: for many levels.
        values : sequence, optional
            Values of the variable; all levels of a factor, 60 points over the range of a number if not given.
        by_values : sequence, optional
            Values of `by`; all levels of a factor, the quartiles of a number if not given.
        at : mapping, optional
            Values of other variables: {"contact": "yes"}.
        data : data frame, optional
            The data of the fit, where it does not have them any more (after unpickling).
        re : {"marginal", "zero"}, optional
            Of a fit with random effects: averaged over the groups, if not given, or those of a typical one.
        level : float in (0, 1)
            Confidence level of the limits.
        draw : bool
            False returns the frame: `by`, where there is one, the variable, level, estimate, std_error, lower, upper.

        Returns
        -------
        matplotlib axes, or an array of them with by or facets
        """
        frame, _ = effects.means(self.results, variable, by, "prob", values, by_values, at, data, re, level, True)
        return effects.draw_effects(self.results, frame, variable, ax, by, facets, re) if draw else frame

    def stacked(
        self,
        variable: str,
        ax: Axes | None = None,
        *,
        values: Sequence[Any] | None = None,
        at: Mapping[str, Any] | None = None,
        data: Any = None,
        re: str | None = None,
        draw: bool = True,
    ) -> Any:
        """Probabilities of the levels over a variable on top of each other, the lowest level at the bottom.

        Parameters
        ----------
        variable, ax, values, at, data, re
            As in `effects`.
        draw : bool
            False returns the frame: the variable, level, estimate, cumulative (P(response <= level)).
        """
        frame = effects.stacked_frame(self.results, variable, values, at, data, re)
        return effects.draw_stacked(self.results, frame, variable, ax, re) if draw else frame

    def emmeans(
        self,
        variable: str,
        ax: Axes | None = None,
        *,
        by: str | None = None,
        values: Sequence[Any] | None = None,
        by_values: Sequence[Any] | None = None,
        scale: str = "latent",
        at: Mapping[str, Any] | None = None,
        data: Any = None,
        re: str | None = None,
        level: float = 0.95,
        draw: bool = True,
    ) -> Any:
        """Marginal means over a variable, with limits; with `by`, an interaction plot as R's emmip.

        On the scale of the link lines are parallel where the two variables do not interact.

        Parameters
        ----------
        variable : str
            A variable of the formula.
        ax : matplotlib axes, optional
        by : str, optional
            Another variable: a line for each of its values, up to eight.
        scale : str
            As in `fit.emmeans`, but for those that have a mean for each level: "latent", "mean_class", ...
        values, by_values, at, data, level
            As in `effects`.
        re : {"marginal", "zero"}, optional
            Of a fit with random effects, as in `fit.emmeans`.
        draw : bool
            False returns the frame: `by`, where there is one, the variable, estimate, std_error, lower, upper.
        """
        frame, quantity = effects.means(self.results, variable, by, scale, values, by_values, at, data, re, level)
        words = f"{quantity}, {100 * level:g} % limits"
        return effects.draw_emmeans(self.results, frame, variable, ax, by, words) if draw else frame

    def parallel(
        self,
        ax: Axes | None = None,
        *,
        columns: Sequence[str] | str | None = None,
        level: float = 0.95,
        draw: bool = True,
    ) -> Any:
        """Are effects the same at every threshold? Binary fits of P(response > level), beside the fit itself.

        Where the effects are parallel the points of a column scatter about its line within their limits.

        Parameters
        ----------
        ax : matplotlib axes, optional
        columns : str or sequence of str, optional
            Location columns; all if not given.
        level : float in (0, 1)
            Confidence level of the limits.
        draw : bool
            False returns the frame: term, threshold, above (the lower level of the threshold), estimate, std_error,
            lower, upper (of the binary fit; NaN where it is separated), pooled, pooled_lower, pooled_upper (of the fit
            itself).
        """
        frame = coefficients.parallel_frame(self.results, columns, level)
        return coefficients.draw_parallel(self.results, frame, ax, level) if draw else frame

    def profiles(
        self,
        parm: str | int | Sequence[str | int] | None = None,
        ax: Any = None,
        *,
        level: float = 0.95,
        points: int = 41,
        draw: bool = True,
    ) -> Any:
        """Signed root deviance against each parameter (line), its quadratic approximation (dashes) and the limits.

        A line that bends away from the dashes says that Wald limits are poor.

        Parameters
        ----------
        parm : str, int or a sequence of them, optional
            Parameters by name or by position in `params` (from 0), or location terms; all parameters if not given.
        ax : matplotlib axes or an array of them, optional
            One a parameter.
        level : float in (0, 1)
            Confidence level of the limits.
        points : int
            Values of each parameter.
        draw : bool
            False returns the frame, one row a value: parameter, value, z (signed root of the deviance), loglik,
            quadratic (the signed root of the quadratic approximation, (value - estimate) / standard error).

        Returns
        -------
        array of matplotlib axes
        """
        frame = coefficients.profiles_frame(self.results, parm, level, points)
        return coefficients.draw_profiles(self.results, frame, parm, ax, level) if draw else frame

    def residuals(
        self,
        against: str | None = None,
        ax: Axes | None = None,
        *,
        data: Any = None,
        level: float = 0.95,
        seed: int | np.random.Generator = 0,
        draw: bool = True,
    ) -> Any:
        """Surrogate residuals [Liu & Zhang 2018]: if the model is true, draws from the latent distribution.

        A QQ picture shows the wrong link (dots that bend away from the line); against a variable, a mean that leaves 0
        shows the wrong shape of its effect, and a changing width a scale effect.

        Parameters
        ----------
        against : str, optional
            "score", the linear predictor, or a variable of the data; the quantiles of the latent distribution if not
            given.
        ax : matplotlib axes, optional
        data : data frame, optional
            The data of the fit, where it does not have them any more (after unpickling).
        level : float in (0, 1)
            Of the limits of quantiles and of means.
        seed : int or numpy.random.Generator
            The residuals are drawn at random: another seed shows what is chance.
        draw : bool
            False returns the frame on the index of the rows: residual and, in rising order of it, expected, lower,
            upper (quantiles of the latent distribution, and limits for each; no limits with case weights); or residual
            and the variable.
        """
        frame = residuals.residuals_frame(self.results, against, data, level, seed)
        return residuals.draw_residuals(self.results, frame, against, ax, level) if draw else frame

    def influence(self, of: str = "cooks", ax: Axes | None = None, *, top: int = 5, draw: bool = True) -> Any:
        """Cook's distance of every row, or what the row moves one estimate by.

        Parameters
        ----------
        of : str
            "cooks", or the name of a parameter: its dfbetas.
        ax : matplotlib axes, optional
        top : int
            How many of the largest have their names written.
        draw : bool
            False returns the frame, in the order of the rows: row (its label in the data) and
            cooks (Cook's distance), or dfbetas (what it moves the estimate by, in standard errors).
        """
        frame = residuals.influence_frame(self.results, of)
        return residuals.draw_influence(self.results, frame, of, ax, top) if draw else frame


class MixedPlots(LikelihoodPlots):
    """Pictures of a fit with random effects: also the effects of the groups.

    Rows of the fit are drawn at the modes of their groups (latent, residuals, reliability, confusion). Effects
    of variables are those on the average of all groups there could be (effects, stacked, importance); on the scale of
    the link `emmeans` has those of a typical group. `re=` of `effects`, `stacked`, `emmeans` chooses.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact + (1 | judge)", data=datasets.load("wine"))
    >>> fit.plot.ranef(draw=False)[["level", "mode", "lower", "upper"]].round(2).tail(2).to_numpy().tolist()
    [[3, 0.97, -0.2, 2.14], [1, 1.7, 0.61, 2.78]]
    """

    def ranef(self, ax: Any = None, *, level: float = 0.95, draw: bool = True) -> Any:
        """Effects of all groups with their conditional limits, a panel for each column of each random term.

        The groups of a term have the same order in all of its panels, that of its first column, and their names beside
        the first. Limits are those of an effect given the parameters; groups with few rows are drawn towards 0, the
        mean of the population.

        Parameters
        ----------
        ax : matplotlib axes or an array of them, optional
            One a panel.
        level : float in (0, 1)
            Of the limits.
        draw : bool
            False returns the frame in the order drawn, one row for every group and column of a random term: term,
            group, level, name, mode, sd (given the parameters), lower, upper (normal limits).

        Returns
        -------
        array of matplotlib axes
        """
        frame = residuals.ranef_frame(self.results, level)
        return residuals.draw_ranef(frame, ax, level) if draw else frame

"""What `fit.plot` offers of likelihood models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import coefficients, effects, latent, residuals
from .accessor import Plots

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class LikelihoodPlots(Plots):
    """Pictures of a likelihood fit: those of every fit, and of its probabilities and coefficients.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
    >>> fit.plot.forest(draw=False).round(2).to_numpy()[:, 1:4].tolist()
    [[2.5, 1.47, 3.54], [1.53, 0.59, 2.46]]
    """

    def density(self, ax: Axes | None = None, *, at: Any = None, draw: bool = True) -> Any:
        """Latent distribution of chosen rows, cut by the thresholds: areas are the probabilities of the levels.

        Parameters
        ----------
        ax : matplotlib axes, optional
        at : data frame, optional
            Rows with the variables of the formula, one density each; the rows of the fit of lowest, median and highest
            score if not given. With random effects also the columns of the groups, at whose modes they are; without
            these, rows are those of a typical group, whose effects are 0.
        draw : bool
            False returns the frame: row, level, latent (the latent response, in units of the score), density,
            probability (of the level at that row; the area under its piece, but for tails too thin to draw). A level
            between thresholds that are out of order has no piece.
        """
        frame = latent.density_frame(self.results, at)
        return latent.draw_density(self.results, frame, ax) if draw else frame

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

    Rows of the fit are drawn at the modes of their groups (latent, density, residuals, reliability, confusion). Effects
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

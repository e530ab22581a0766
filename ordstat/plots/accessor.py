"""Plots of a fit, `fit.plot`: those of all fits, of likelihood models, rankers,
ensembles and trees.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

import numpy as np
import pandas as pd

from .._typing import STRICT_NAMES
from ..advice import with_advice
from ..checks import did_you_mean, flag, label_texts, words
from ..exceptions import OptionError
from . import (
    coefficients,
    effects,
    ensembles,
    errors,
    latent,
    paths,
    residuals,
    style,
    variables,
)
from . import smooths as smooths_
from . import subgroups as subgroups_
from .style import Looks, Sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes


#: Conditions that a fit must meet for a picture; other pictures have none.
NEEDS: dict[str, Callable[[Any], bool]] = {
    "latent": latent.has_scores,
    "margins": lambda r: r.no_margins is None,
    "reliability": (
        lambda r: (
            "prob" in r.prediction_types and not r.why_unavailable("reliability()")
        )
    ),
    "forest": lambda r: (
        bool(
            len(r.penalised_coefficients) < len(r.design.names)
            or r.design.nominal_names
            or r.design.scale_names
        )
        and not r.why_unavailable("confint()")
    ),
    "path": lambda r: r.fit.path is not None,
    "cv": lambda r: r.fit.path is not None and r.fit.path.cv is not None,
    "profiles": (
        lambda r: (
            not r.why_unavailable("profile()")
            and r.covariance == "model"
            and r.design.sample.cluster is None
            and r.design.survey is None
        )
    ),
    "importance": (
        lambda r: (
            bool(r.design.names or r.design.spec.columns)
            and not r.method.pairwise
            and not r.why_unavailable("importance()")
        )
    ),
    "confusion": lambda r: not r.why_unavailable("confusion()"),
    "residuals": lambda r: not r.why_unavailable("residuals()"),
    "rounds": lambda r: hasattr(r, "staged_errors") and len(r.fit.stages) > 1,
    "tree": lambda r: hasattr(r, "nodes"),
    "smooths": lambda r: r.fit.smooths is not None,
    "ranef": lambda r: r.fit.marginal is not None,
    "parallel": (
        lambda r: (
            r.family.ordered
            and bool(r.design.names)
            and not r.why_unavailable("plot.parallel()")
        )
    ),
    "influence": (
        lambda r: (
            not r.why_unavailable("influence()")
            and r.fit.separation is None
            and r.design.survey is None
            and r.fit.marginal is None
            and r.design.sample.every_level
        )
    ),
    **dict.fromkeys(("dependence", "stacked"), lambda r: bool(r.design.spec.columns)),
    **dict.fromkeys(
        ("effects", "emmeans", "subgroups"),
        lambda r: (
            bool(r.design.spec.columns) and not r.why_unavailable("marginal_effects()")
        ),
    ),
}


def _drawn_first(plots: Plots | PooledPlots, ax: Any, options: dict[str, Any]) -> Any:
    """The picture of `_first`; the others are named below a new figure."""
    if isinstance(ax, str):
        raise OptionError(
            f"fit.plot(ax) must have axes; got {ax!r}. Pictures are called by name, as"
            f" in fit.plot.{plots._first}(). Choose from {', '.join(plots.names)}."
        )
    drawn = getattr(plots, plots._first)(ax=ax, **options)
    others = [name for name in plots.names if name != plots._first]
    if ax is None and others and not isinstance(drawn, pd.DataFrame):
        panels: Sequence[Axes] = np.ravel(np.asarray(drawn, dtype=object)).tolist()
        words = f"fit.plot.{plots._first}(); also {', '.join(others)}"
        style.below(panels[0], words)
    return drawn


@with_advice
@dataclass(frozen=True, eq=False, repr=False)
class Plots:
    """Plots of a fit, such as `fit.plot.latent()`. They return matplotlib axes.

    Every plot takes

    ax : matplotlib axes, or an array of them for several panels
        Where to draw; a new figure if not given. Colours and fonts are those of
        matplotlib's style.
    title : str
        Instead of the usual title.
    labels : mapping of str to str
        Texts to show for variables, terms, levels or the response: {"age": "Age
        (years)", "rating": "Bitterness"}.
    draw : bool
        False returns the data frame behind the plot, and needs no matplotlib.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> wine = datasets.load("wine")
    >>> fit = ordfit("rating ~ temp + contact", wine, method="redsvm")
    >>> fit.plot
    plots: confusion, dependence, importance, latent, margins
    >>> cells = fit.plot.confusion(draw=False)
    >>> cells.loc[cells["observed"] == 5, "weight"].tolist()
    [0, 0, 2, 5, 0]
    """

    results: Any

    def __repr__(self) -> str:
        return f"plots: {', '.join(self.names)}"

    def __call__(self, ax: Any = None, **options: Any) -> Any:
        """Draw the picture that most users of such a fit look at first: coefficients of
        likelihood models, a tree, gains of an ensemble, else scores with thresholds, or
        the confusion matrix.

        Parameters
        ----------
        ax : matplotlib axes, or an array of them, optional
            By default a new figure, below which the other pictures are named.
        **options
            Options of that picture.

        Raises
        ------
        OptionError
            A name instead of axes.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", datasets.load("wine"))
        >>> fit.plot(draw=False)["term"].tolist()
        ['temp[T.warm]', 'contact[T.yes]']
        """
        return _drawn_first(self, ax, options)

    @property
    def _first(self) -> str:
        """Name of the picture that most users look at first."""
        names = self.names
        one_tree = "tree" in names and "rounds" not in names
        if one_tree:
            return "tree"
        if "importance" in names and "gain" in self.results.importance_kinds:
            return "importance"
        usual = ("path", "forest", "latent", "confusion")
        return next(name for name in usual if name in names)

    def __dir__(self) -> list[str]:
        """The pictures of this fit."""
        return self.names

    if not STRICT_NAMES:

        def __getattr__(self, name: str) -> Any:
            """Raise an error that lists the pictures of this fit."""
            if name.startswith("_") or name == "results":
                raise AttributeError(name)
            instead = words("picture").get(name)
            hint = f" Use {instead}." if instead else did_you_mean(name, self.names)
            names = ", ".join(self.names)
            raise AttributeError(
                f"fit.plot has no picture {name!r} of this fit.{hint} Choose from"
                f" {names}."
            )

    @property
    def names(self) -> list[str]:
        """Names of the plots of this fit."""
        pictures = {name for name in dir(type(self)) if not name.startswith("_")} - {
            "names",
            "results",
        }
        return sorted(
            name for name in pictures if name not in NEEDS or NEEDS[name](self.results)
        )

    def _show(
        self,
        name: str,
        ax: Any,
        looks: Mapping[str, Any],
        data: pd.DataFrame,
        picture: Callable[..., Any],
        *given: Any,
    ) -> Any:
        """The frame or the axes of a picture; OptionError for unknown options."""
        options = [
            *list(signature(getattr(self, name)).parameters)[:-1],
            *Looks.__annotations__,
        ]
        for option in looks:
            if option not in options:
                near = words("picture_option").get(option, "")
                if near.partition("=")[0] in options:
                    hint = f" Use {near}."
                else:
                    hint = did_you_mean(option, options)
                raise OptionError(
                    f"plot.{name} has no option {option!r}.{hint} It has"
                    f" {', '.join(options)}."
                )
        sheet = Sheet(ax, looks.get("title"), label_texts(looks.get("labels")))
        if flag("draw", looks.get("draw", True)):
            return sheet.show(picture, data, *given)
        return data

    def latent(
        self, ax: Axes | None = None, *, bins: int = 40, **looks: Unpack[Looks]
    ) -> Any:
        """Latent scores of the observations by observed level, with the thresholds and
        the interval of each level; of likelihood models also the density of the random
        error around the mean score.

        If thresholds differ between observations (nominal effects), their mean and
        range are drawn. Observations with an infinite score are left out with a
        warning; if the thresholds are infinite, scores are counted from the first.

        Parameters
        ----------
        bins : int
            Number of bins of the histograms.
        ax, title, labels, draw
            As in every plot. The frame: level, left and right (ends of the bin),
            weight (of the observations inside), share (of the weight of the level).

        Raises
        ------
        UnavailableError
            The rule votes, and has no scores.
        DataError
            Every score is infinite.
        """
        frame = latent.latent_frame(self.results, bins)
        return self._show("latent", ax, looks, frame, latent.draw_latent, self.results)

    def margins(
        self,
        ax: Axes | None = None,
        *,
        delta: float | None = None,
        bins: int = 40,
        **looks: Unpack[Looks],
    ) -> Any:
        """Histograms of the left and right margins, with margins on the wrong side (<=
        0) in another colour and a line at `delta`.

        Margins are normalised as in `fit.margins`, if the score has a norm.

        Parameters
        ----------
        delta : float >= 0, optional
            By default half the median size of the margins, to one digit.
        bins : int
            Number of bins; 0 is an end of a bin.
        ax, title, labels, draw
            As in every plot. The frame: side ("left", "right"), from, to (ends of the
            bin), weight, share (of all observations with that margin). Observations of
            the lowest level have no left margin, those of the highest level no right
            margin.
        """
        frame = latent.margins_frame(self.results, bins)
        return self._show(
            "margins", ax, looks, frame, latent.draw_margins, self.results, delta
        )

    def confusion(
        self,
        ax: Axes | None = None,
        *,
        newdata: Any = None,
        weights: Any = None,
        **looks: Unpack[Looks],
    ) -> Any:
        """Confusion matrix of observed and predicted levels: blue where correct, redder
        with the distance, darker with the share.

        Parameters
        ----------
        newdata : data frame, optional
            With the response; by default the data of the fit.
        weights : str or (N,) array, optional
            Case weights of `newdata`.
        ax, title, labels, draw
            As in every plot. The frame: observed, predicted (levels), distance (|i -
            j| in ranks), weight (of the observations), share (of the weight of the
            observed level; 0 for a level without observations).
        """
        frame = errors.confusion_frame(self.results, newdata, weights)
        return self._show(
            "confusion",
            ax,
            looks,
            frame,
            errors.draw_confusion,
            self.results,
            newdata is not None,
        )

    def reliability(
        self,
        ax: Any = None,
        *,
        newdata: Any = None,
        by: str = "split",
        bins: int = 10,
        level: float = 0.95,
        **looks: Unpack[Looks],
    ) -> Any:
        """Reliability curves: observed shares against predicted probabilities, with
        Wilson confidence intervals. Calibrated probabilities lie on the diagonal.

        Parameters
        ----------
        newdata : data frame, optional
            With the response; by default the data of the fit (cross-fitted, if it is
            calibrated).
        by : {"split", "level"}
            A curve for each threshold, of P(response <= low), or for each level, of
            P(response = level). More than three curves have a panel each, in a new
            figure or an array of axes.
        bins : int
            Largest number of bins, which have about equal weight.
        level : float in (0, 1)
            Confidence level of the intervals.
        ax, title, labels, draw
            As in every plot. The frame: see `fit.reliability`.

        Returns
        -------
        matplotlib axes, or an array of them for panels

        Raises
        ------
        OptionError
            The fit has no probabilities.
        """
        frame = self.results.reliability(newdata, by=by, bins=bins, level=level)
        return self._show(
            "reliability",
            ax,
            looks,
            frame,
            errors.draw_reliability,
            self.results,
            by,
            newdata is None,
        )

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
        **looks: Unpack[Looks],
    ) -> Any:
        """Importance of the variables as bars, with confidence intervals over the
        permutations.

        Parameters
        ----------
        top : int, optional
            Draw only this number of variables, the most important ones.
        kind, newdata, measure, repeats, seed, weights, level
            As in `fit.importance`.
        ax, title, labels, draw
            As in every plot. The frame: variable (kind="gain": column), importance,
            std_error, lower, upper (NaN for kind="gain"), most important first.
        """
        options = {
            "measure": measure,
            "repeats": repeats,
            "seed": seed,
            "weights": weights,
            "level": level,
        }
        frame = variables.importance_frame(self.results, kind, newdata, top, **options)
        return self._show(
            "importance",
            ax,
            looks,
            frame,
            variables.draw_importance,
            self.results,
            measure,
            level,
        )


@with_advice
class RankerPlots(Plots):
    """Plots of a fit of a method without a likelihood; `dir(fit.plot)` lists those that
    it has.
    """

    def dependence(
        self,
        variable: str,
        ax: Axes | None = None,
        *,
        of: str | None = None,
        values: Sequence[Any] | None = None,
        data: Any = None,
        **looks: Unpack[Looks],
    ) -> Any:
        """Partial dependence [Friedman 2001, sec. 8.2]: mean predictions against a
        variable.

        Every observation (at most 500, evenly spread) keeps its other values. If
        variables are related, some of these combinations are impossible; the plot shows
        what the fit predicts, not what a change would do.

        Parameters
        ----------
        variable : str
            A variable of the formula.
        of : {"prob", "rank"}, optional
            Probabilities of the levels (the default if the fit has them), or the mean
            rank 1..K: expected ranks if the fit has probabilities, else predicted
            ranks.
        values : sequence, optional
            Values of the variable; by default all levels of a factor, up to 25 points
            over the range of a number.
        data : data frame, optional
            The data of the fit, if it has lost them (after unpickling).
        ax, title, labels, draw
            As in every plot. The frame: the variable, level (of="prob"), estimate.
        """
        frame = variables.dependence_frame(self.results, variable, of, values, data)
        return self._show(
            "dependence", ax, looks, frame, variables.draw_dependence, self.results
        )

    def rounds(
        self,
        ax: Axes | None = None,
        *,
        newdata: Any = None,
        error: str = "absolute",
        every: int | None = None,
        **looks: Unpack[Looks],
    ) -> Any:
        """Error after every round, on the data of the fit, on new data, and on held-out
        rows if there are any.

        Parameters
        ----------
        newdata : data frame, optional
            With the response.
        error : {"absolute", "classification", "cost", "loss", "squared"}
            "squared" is for trees, "cost" and "loss" for other ensembles. "loss" is the
            mean training loss, with its bound by the training-error theorem or with the
            loss of held-out rows.
        every : int, optional
            Draw only rounds in steps of `every`, and the last round; by default all
            rounds, but at most about 250.
        ax, title, labels, draw
            As in every plot. The frame: round, rows ("rows of the fit", "new data",
            "held out"), value.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> train = datasets.quadratic_bands(300, seed=1)
        >>> new = datasets.quadratic_bands(1000, seed=2)
        >>> fit = ordfit("rank ~ x1 + x2", train, method="orboost-all", rounds=100)
        >>> fit.plot.rounds(newdata=new, every=50, draw=False).round(3)
           round             rows  value
        0     50  rows of the fit  0.017
        1    100  rows of the fit  0.000
        2     50         new data  0.076
        3    100         new data  0.056
        """
        frame = ensembles.rounds_frame(self.results, newdata, error, every)
        return self._show(
            "rounds", ax, looks, frame, ensembles.draw_rounds, self.results, error
        )

    def tree(
        self,
        ax: Axes | None = None,
        *,
        round: int = 1,
        split: int | None = None,
        **looks: Unpack[Looks],
    ) -> Any:
        """One tree: conditions at its nodes, the shares of the levels as bars at its
        leaves.

        Parameters
        ----------
        round : int
            1, 2, ...
        split : int, optional
            1, ..., K-1, if trees belong to splits; by default the first.
        ax, title, labels, draw
            As in every plot. The frame: node, x, depth, and the columns of
            `fit.nodes`.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> wine = datasets.load("wine")
        >>> fit = ordfit("rating ~ temp + contact", wine, method="cart", leaves=2)
        >>> nodes = fit.plot.tree(draw=False)
        >>> nodes[["node", "x", "depth", "level"]].to_numpy().tolist()
        [[1, 0.5, 0, '3'], [2, 0.0, 1, '2'], [3, 1.0, 1, '3']]
        """
        frame = ensembles.tree_frame(self.results, round, split)
        return self._show(
            "tree", ax, looks, frame, ensembles.draw_tree, self.results, round, split
        )


@with_advice
@dataclass(frozen=True, eq=False, repr=False)
class PooledPlots:
    """Plots of a model pooled over imputations: `pooled.plot.forest()`."""

    results: Any

    names: ClassVar[list[str]] = ["forest"]
    _first: ClassVar[str] = "forest"

    def __repr__(self) -> str:
        return f"plots: {', '.join(self.names)}"

    def __call__(self, ax: Any = None, **options: Any) -> Any:
        """Draw the coefficients: `forest`.

        Parameters
        ----------
        ax, options
            As in `forest` of a single fit.
        """
        return _drawn_first(self, ax, options)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Raise an error that says where the other pictures are."""
            if name.startswith("_") or name == "results":
                raise AttributeError(name)
            raise AttributeError(
                f"plot of pooled fits has no picture {name!r}: it draws forest(). Use"
                f" those of the single fits, as in pooled.fits[0].plot.{name}()."
            )

    def forest(self, ax: Axes | None = None, **options: Any) -> Any:
        """Pooled coefficients with their confidence intervals.

        Parameters
        ----------
        ax, options
            As in `forest` of a single fit.
        """
        return LikelihoodPlots(self.results).forest(ax, **options)


@with_advice
class LikelihoodPlots(Plots):
    """Plots of a likelihood fit, including its coefficients and probabilities.

    With random effects, observations are drawn at the modes of their groups (latent,
    residuals, reliability, confusion), effects of variables as averages over all groups
    (effects, stacked, importance); `emmeans` on the latent scale is at random effects
    of 0. The option `re` of `effects`, `stacked` and `emmeans` changes this.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
    >>> fit.plot.forest(draw=False).round(2).to_numpy()[:, 1:4].tolist()
    [[2.5, 1.47, 3.54], [1.53, 0.59, 2.46]]
    """

    def forest(
        self,
        ax: Axes | None = None,
        *,
        others: Mapping[str, Any] | None = None,
        label: str = "this fit",
        columns: Sequence[str] | str | None = None,
        exponentiate: bool = False,
        per: Mapping[str, float] | str | None = None,
        level: float = 0.95,
        **looks: Unpack[Looks],
    ) -> Any:
        """Coefficients with their confidence intervals, of this fit or of several, on
        one axis.

        The coefficient of a numeric variable is for one unit, such as one year;
        per={"age": 10} draws the effect of ten years. Compare the size of coefficients
        only between fits of the same link to the same data, as coefficients of
        different links are not on one scale. Adding a variable changes the other
        coefficients even if it is independent of them.

        Parameters
        ----------
        others : mapping of str to fits, optional
            Up to seven more fits to draw, by their labels: {"with age": fit2}. Fits
            without standard errors have points without intervals.
        label : str
            Label of this fit.
        columns : str or sequence of str, optional
            Terms of the formula, or coefficients, to draw in this order; by default
            all.
        exponentiate : bool
            Draw odds ratios (logit), hazard ratios (cloglog) or, if fits differ in
            this, exp(estimate), on a logarithmic axis.
        per : mapping of str to float, or "sd", optional
            As in `fit.tidy`: the change in each variable that its coefficient refers
            to, {"age": 10}, or one standard deviation of each number.
        level : float in (0, 1)
            Confidence level of the intervals.
        ax, title, labels, draw
            As in every plot. The frame: term, estimate, conf_low, conf_high (NaN for
            methods without standard errors), coef_type, model (the label of the fit),
            in the order in which terms first occur.
        """
        fits = coefficients.labelled_fits(self.results, others, label)
        frame = coefficients.forest_frame(fits, columns, exponentiate, per, level)
        return self._show(
            "forest",
            ax,
            looks,
            frame,
            coefficients.draw_forest,
            fits,
            exponentiate,
            level,
        )

    def subgroups(
        self,
        variable: str,
        subgroups: Sequence[str] | str,
        ax: Axes | None = None,
        *,
        measure: str = "ratio",
        levels: Sequence[Any] | None = None,
        better: str = "higher",
        level: float = 0.95,
        vcov: Any = None,
        **looks: Unpack[Looks],
    ) -> Any:
        """Forest plot of the effect of a variable in subgroups, the levels of other
        variables.

        It shows odds ratios or win odds with confidence intervals, and the p-value of
        each interaction.

        Parameters
        ----------
        variable, subgroups, measure, levels, better, level, vcov
            As in `fit.subgroups`.
        ax, title, labels, draw
            As in every plot. The frame is that of `fit.subgroups`.
        """
        frame = self.results.subgroups(
            variable,
            subgroups,
            measure=measure,
            levels=levels,
            better=better,
            level=level,
            vcov=vcov,
        )
        quantity = f"{frame.attrs['title']}, with {100 * level:g}% confidence interval"
        return self._show(
            "subgroups", ax, looks, frame, subgroups_.draw_subgroups, quantity
        )

    def effects(
        self,
        variable: str,
        ax: Any = None,
        *,
        by: str | None = None,
        facets: bool = False,
        at: Mapping[str, Any] | None = None,
        data: Any = None,
        re: str | None = None,
        level: float = 0.95,
        **looks: Unpack[Looks],
    ) -> Any:
        """Probability of every level against a variable, with confidence bands: lines
        for a number, points for a factor.

        These are the estimated marginal means of `emmeans`: the levels of other factors
        have equal weights, and other numeric variables are at their means.

        Parameters
        ----------
        variable : str
            A variable of the formula.
        by : str, optional
            Another variable: a panel for each of its values.
        facets : bool
            A panel for each level of the response, with a line for each value of `by`;
            useful with many levels.
        at : mapping, optional
            Values of variables. {"contact": "yes"} holds a variable at a value, {"age":
            [30, 50, 70]} gives the values to draw. By default all levels of a factor,
            60 points over the range of a number, and the quartiles of a number in `by`.
        data : data frame, optional
            The data of the fit, if it has lost them (after unpickling).
        re : {"marginal", "zero"}, optional
            With random effects: averaged over the groups (the default), or at random
            effects of 0.
        level : float in (0, 1)
            Confidence level of the intervals.
        ax, title, labels, draw
            As in every plot. The frame: `by` (if given), the variable, level,
            estimate, std_error, lower, upper.

        Returns
        -------
        matplotlib axes, or an array of them with by or facets
        """
        options = {"re": re, "level": level}
        flag("facets", facets)
        frame, _ = effects.means(
            self.results, variable, by, "prob", at, data, True, **options
        )
        return self._show(
            "effects",
            ax,
            looks,
            frame,
            effects.draw_effects,
            self.results,
            variable,
            by,
            facets,
            re,
        )

    def stacked(
        self,
        variable: str,
        ax: Axes | None = None,
        *,
        at: Mapping[str, Any] | None = None,
        data: Any = None,
        re: str | None = None,
        **looks: Unpack[Looks],
    ) -> Any:
        """Stacked probabilities of the levels against a variable, with the lowest level
        at the bottom.

        Parameters
        ----------
        variable, at, data, re
            As in `effects`.
        ax, title, labels, draw
            As in every plot. The frame: the variable, level, estimate, cumulative
            (P(response <= level)).
        """
        frame = effects.stacked_frame(self.results, variable, at, data, re)
        return self._show(
            "stacked",
            ax,
            looks,
            frame,
            effects.draw_stacked,
            self.results,
            variable,
            re,
            data,
        )

    def emmeans(
        self,
        variable: str,
        ax: Axes | None = None,
        *,
        by: str | None = None,
        scale: str | Mapping[str, Any] = "latent",
        at: Mapping[str, Any] | None = None,
        data: Any = None,
        re: str | None = None,
        level: float = 0.95,
        **looks: Unpack[Looks],
    ) -> Any:
        """Estimated marginal means against a variable, with confidence intervals; with
        `by`, an interaction plot like R's emmip.

        On the latent scale, lines are parallel if the two variables do not interact.

        Parameters
        ----------
        variable : str
            A variable of the formula, or both variables as in `fit.emmeans`: "~ a | b".
        by : str, optional
            Another variable: a line for each of its values, up to eight.
        scale : str or mapping
            As in `fit.emmeans`, except scales with a mean for each level: "latent" (0
            is the average threshold), "mean", {"exceed": 4}, {"quantile": 0.5}, ...
        at, data, re, level
            As in `effects`.
        ax, title, labels, draw
            As in every plot. The frame: `by` (if given), the variable, estimate,
            std_error, lower, upper.
        """
        variable, by = effects.variable_and_by(variable, by)
        frame, what = effects.means(
            self.results, variable, by, scale, at, data, re=re, level=level
        )
        return self._show(
            "emmeans",
            ax,
            looks,
            frame,
            effects.draw_emmeans,
            self.results,
            variable,
            by,
            what,
            level,
        )

    def smooths(
        self, ax: Axes | None = None, *, level: float = 0.95, **looks: Unpack[Looks]
    ) -> Any:
        """The curves of the smooth terms with confidence bands, on the latent scale.

        A curve sums to 0 over the observations, and its band is that of the curve
        alone, without other terms. Short lines at the bottom mark the observed values.
        An ordered predictor, smooth(x), has a point with its confidence interval at
        each level.

        Parameters
        ----------
        level : float in (0, 1)
            Confidence level of the band, at each point.
        ax, title, labels, draw
            As in every plot. The frame: smooth, x, estimate, std_error, lower,
            upper.
        """
        frame = self.results.smooth_curves(level)
        return self._show(
            "smooths", ax, looks, frame, smooths_.draw_smooths, self.results
        )

    def parallel(
        self,
        ax: Axes | None = None,
        *,
        columns: Sequence[str] | str | None = None,
        per: Mapping[str, float] | str | None = None,
        level: float = 0.95,
        **looks: Unpack[Looks],
    ) -> Any:
        """Check of proportional odds (parallel effects): binary fits of P(response >
        level), compared with the fit itself.

        If effects are parallel, the points of a term scatter about its line, most of
        them within their intervals.

        Parameters
        ----------
        columns : str or sequence of str, optional
            Location terms to draw, in this order; by default all.
        per : mapping of str to float, or "sd", optional
            As in `fit.tidy`: per={"age": 10} draws the effect of ten years.
        level : float in (0, 1)
            Confidence level of the intervals.
        ax, title, labels, draw
            As in every plot. The frame: term, threshold, above (the lower level of
            the threshold), estimate, std_error, lower, upper (of the binary fit; NaN
            where it is separated), pooled, pooled_lower, pooled_upper (of the fit
            itself).
        """
        frame = coefficients.parallel_frame(self.results, columns, per, level)
        return self._show(
            "parallel",
            ax,
            looks,
            frame,
            coefficients.draw_parallel,
            self.results,
            level,
        )

    def profiles(
        self,
        parm: str | int | Sequence[str | int] | None = None,
        ax: Any = None,
        *,
        level: float = 0.95,
        points: int = 15,
        **looks: Unpack[Looks],
    ) -> Any:
        """Profile likelihood: signed root deviance against each parameter (line), its
        quadratic approximation (dashed) and the ends of the confidence interval.

        Where the two differ, Wald confidence intervals are poor.

        Parameters
        ----------
        parm : str, int or a sequence of them, optional
            Parameters by name or by position in `params` (from 0), or location terms;
            by default all parameters.
        level : float in (0, 1)
            Confidence level of the intervals.
        points : int
            Number of values of each parameter.
        ax, title, labels, draw
            As in every plot, with a panel for each parameter. The frame: parameter,
            value, z (signed root of the deviance), loglik, quadratic ((value -
            estimate) / standard error).

        Returns
        -------
        array of matplotlib axes

        Raises
        ------
        DataError
            No profile likelihood falls away from its maximum (if only some do not, a
            warning names these); or more than 100 parameters, none of them named.
        """
        frame = coefficients.profiles_frame(self.results, parm, level, points)
        return self._show(
            "profiles",
            ax,
            looks,
            frame,
            coefficients.draw_profiles,
            self.results,
            parm,
            level,
        )

    def residuals(
        self,
        against: str | None = None,
        ax: Axes | None = None,
        *,
        data: Any = None,
        level: float = 0.95,
        seed: int | np.random.Generator = 0,
        **looks: Unpack[Looks],
    ) -> Any:
        """Surrogate residuals [Liu & Zhang 2018], which follow the latent distribution
        if the model is true.

        In the Q-Q plot, points that bend away from the line suggest a wrong link.
        Against a variable, means away from 0 suggest a wrong shape of its effect, and a
        changing spread suggests a scale effect. A row of case weight w has w residuals;
        of more than 10,000 residuals a random sample is drawn.

        Parameters
        ----------
        against : str, optional
            "score", the linear predictor, or a variable of the data; by default
            quantiles of the latent distribution.
        data : data frame, optional
            The data of the fit, if it has lost them (after unpickling).
        level : float in (0, 1)
            Confidence level of the intervals of quantiles and means.
        seed : int or numpy.random.Generator
            Seed of the random residuals; another seed shows how much is chance.
        ax, title, labels, draw
            As in every plot. The frame, on the index of the data, has residual (in
            rising order), expected (quantiles of the latent distribution), lower and
            upper. These are confidence limits of each quantile, left out if weights are
            not whole numbers. With `against` it has residual and the variable.
        """
        frame = residuals.residuals_frame(self.results, against, data, level, seed)
        return self._show(
            "residuals",
            ax,
            looks,
            frame,
            residuals.draw_residuals,
            self.results,
            against,
            level,
        )

    def influence(
        self,
        of: str = "cooks",
        ax: Axes | None = None,
        *,
        top: int = 5,
        **looks: Unpack[Looks],
    ) -> Any:
        """Cook's distance of every observation, or its influence on one estimate
        (dfbetas).

        Parameters
        ----------
        of : str
            "cooks", or the name of a parameter for its dfbetas.
        top : int
            Number of the largest values to name.
        ax, title, labels, draw
            As in every plot. The frame, in the order of the data: row (its label in
            the data) and cooks (Cook's distance), or dfbetas (the change of the
            estimate, in standard errors).
        """
        frame = residuals.influence_frame(self.results, of)
        return self._show(
            "influence",
            ax,
            looks,
            frame,
            residuals.draw_influence,
            self.results,
            of,
            top,
        )

    def ranef(
        self, ax: Any = None, *, level: float = 0.95, **looks: Unpack[Looks]
    ) -> Any:
        """Caterpillar plot: random effects of all groups with conditional confidence
        intervals, a panel for each column of each random term.

        The groups of a term are sorted by its first column in all of its panels.
        Intervals are conditional on the parameters; effects of groups with few
        observations are shrunk towards 0, the population mean.

        Parameters
        ----------
        level : float in (0, 1)
            Confidence level of the intervals.
        ax, title, labels, draw
            As in every plot. The frame, in the order drawn, has a row for every group
            and column of a random term: term, group, level, name, mode, sd (given the
            parameters), lower and upper (normal confidence limits).

        Returns
        -------
        array of matplotlib axes

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> wine = datasets.load("wine")
        >>> fit = ordfit("rating ~ temp + contact + (1 | judge)", wine)
        >>> modes = fit.plot.ranef(draw=False).tail(2)
        >>> modes[["level", "mode", "lower", "upper"]].round(2).to_numpy().tolist()
        [[3, 0.97, -0.2, 2.14], [1, 1.7, 0.61, 2.78]]
        """
        frame = residuals.ranef_frame(self.results, level)
        return self._show(
            "ranef", ax, looks, frame, residuals.draw_ranef, self.results, level
        )

    def path(self, ax: Axes | None = None, **looks: Unpack[Looks]) -> Any:
        """Regularisation path: coefficients of an elastic net, for columns of standard
        deviation 1, along lambda, which falls from left to right. A dashed line marks
        the lambda of the fit.

        Parameters
        ----------
        ax, title, labels, draw
            As in every plot. The frame: lambda, name, value.

        Examples
        --------
        >>> from ordstat import ElasticNet, datasets, ordfit
        >>> wine = datasets.load("wine")
        >>> net = ElasticNet(lambdas=[0.2, 0.1])
        >>> fit = ordfit("rating ~ temp + contact", wine, penalty=net)
        >>> fit.plot.path(draw=False)["value"].round(2).tolist()
        [0.35, 0.75, 0.0, 0.33]
        """
        frame = paths.path_frame(self.results)
        return self._show("path", ax, looks, frame, paths.draw_path, self.results)

    def cv(self, ax: Axes | None = None, **looks: Unpack[Looks]) -> Any:
        """Cross-validated scores of an elastic net along lambda, with one standard
        error on either side. A dashed line marks the lambda of the fit.

        Parameters
        ----------
        ax, title, labels, draw
            As in every plot. The frame: lambda, mean, lower, upper, nonzero.
        """
        frame = paths.cv_frame(self.results)
        score = self.results.score_name
        return self._show("cv", ax, looks, frame, paths.draw_cv, self.results, score)

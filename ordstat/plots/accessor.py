"""What `fit.plot` offers: of every fit, and of likelihood models, ensembles and trees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from ..checks import did_you_mean
from ..exceptions import OptionError
from .ale import ale, ale_data
from .bounds import bounds, bounds_data
from .confusion import confusion, confusion_data
from .dependence import dependence, dependence_data
from .drawn import DrawnEnsemble, DrawnLikelihood, DrawnMixed, DrawnRanker, DrawnTrees, Picture
from .importance import importance, importance_data
from .latent import density, density_data, has_scores, latent, latent_data, margins, margins_data
from .likelihood.beside import coefficients, coefficients_data
from .likelihood.effects import effects, effects_data, interaction, interaction_data
from .likelihood.forest import forest, forest_data
from .likelihood.influence import influence, influence_data
from .likelihood.means import emmeans, emmeans_data
from .likelihood.parallel import parallel, parallel_data
from .likelihood.profiles import profiles, profiles_data
from .likelihood.random_effects import ranef, ranef_data
from .likelihood.residuals import residuals, residuals_data
from .likelihood.stacked import stacked, stacked_data
from .reliability import reliability, reliability_data
from .rounds import rounds, rounds_data, selection, selection_data
from .shapley import shapley, shapley_data
from .tree import rounds as tree_rounds
from .tree import rounds_data as tree_rounds_data
from .tree import tree, tree_data
from .variables import boundaries, boundaries_data, numeric_variables


def _independent(results: Any) -> bool:
    """Whether the rows are neither in clusters nor drawn by a design."""
    return results.design.sample.cluster is None and results.design.survey is None


def _has_effects(results: Any) -> bool:
    return bool(results.design.names or results.design.nominal_names or results.design.scale_names)


#: What a fit must have for a plot; the others need nothing.
NEEDS: dict[str, Callable[[Any], bool]] = {
    "bounds": lambda r: r.geometry is not None and r.no_margins is None and _independent(r),
    "latent": has_scores,
    "margins": lambda r: r.no_margins is None,
    "reliability": lambda r: "prob" in r.prediction_types,
    "selection": lambda r: getattr(r.fit, "selection", None) is not None,
    "boundaries": lambda r: len(numeric_variables(r)) > 1,
    "coefficients": _has_effects,
    "forest": _has_effects,
    "profiles": lambda r: r.covariance == "model" and _independent(r),
    "interaction": lambda r: len(r.design.spec.columns or ()) > 1,
    "importance": lambda r: bool(r.design.names or r.design.spec.columns) and not r.method.pairwise,
    "ale": lambda r: len(numeric_variables(r)) > 0,
    "rounds": lambda r: len(r.fit.stages) > 1,
    "density": lambda r: bool(r.family.ordered),
    "parallel": lambda r: bool(r.family.ordered and r.design.names),
    "emmeans": lambda r: bool(r.design.spec.columns),
    "influence": lambda r: r.fit.separation is None and r.design.survey is None and r.fit.marginal is None,
    "dependence": lambda r: bool(r.design.spec.columns),
    "effects": lambda r: bool(r.design.spec.columns),
    "stacked": lambda r: bool(r.design.spec.columns),
}


@dataclass(frozen=True, eq=False, repr=False)
class Plots:
    """Pictures of a fit: `fit.plot.latent()`.

    Every plot takes axes to draw into, `ax=None` (a new figure), and returns the axes. Beside every plot `name` stands
    `name_data`, of the same arguments but for the axes: what is drawn, as a frame, without matplotlib.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"), method="redsvm")
    >>> fit.plot
    plots: bounds, confusion, dependence, importance, latent, margins
    >>> cells = fit.plot.confusion_data()
    >>> cells.loc[cells["observed"] == 5, ["predicted", "distance", "weight"]].to_numpy().tolist()
    [[1, 4, 0], [2, 3, 0], [3, 2, 2], [4, 1, 5], [5, 0, 0]]
    """

    results: DrawnRanker

    def __repr__(self) -> str:
        return f"plots: {', '.join(self.names)}"

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        """No picture by itself: name one."""
        raise OptionError(f"fit.plot must name a picture, as in fit.plot.{self.names[0]}(). There are {self._there}.")

    def __dir__(self) -> list[str]:
        """Without the plots that this fit has nothing for; asked for, they say why."""
        return [name for name in super().__dir__() if self._works(name.removesuffix("_data"))]

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Say which pictures there are."""
            if name.startswith("_") or name == "results":
                raise AttributeError(name)
            close = did_you_mean(name, self.names)
            raise AttributeError(f"fit.plot has no picture {name!r} of this fit.{close} There are {self._there}.")

    def _works(self, plot: str) -> bool:
        return plot not in NEEDS or NEEDS[plot](self.results)

    @property
    def names(self) -> list[str]:
        """Names of the plots that this fit has something for."""
        return sorted(name.removesuffix("_data") for name in dir(self) if name.endswith("_data"))

    @property
    def _there(self) -> str:
        return ", ".join(self.names)

    bounds = Picture(bounds)
    bounds_data = Picture(bounds_data)
    latent = Picture(latent)
    latent_data = Picture(latent_data)
    margins = Picture(margins)
    margins_data = Picture(margins_data)
    confusion = Picture(confusion)
    confusion_data = Picture(confusion_data)
    reliability = Picture(reliability)
    reliability_data = Picture(reliability_data)
    selection = Picture(selection)
    selection_data = Picture(selection_data)
    boundaries = Picture(boundaries)
    boundaries_data = Picture(boundaries_data)
    dependence = Picture(dependence)
    dependence_data = Picture(dependence_data)
    ale = Picture(ale)
    ale_data = Picture(ale_data)
    importance = Picture(importance)
    importance_data = Picture(importance_data)


class LikelihoodPlots(Plots):
    """Pictures of a likelihood fit: those of every fit, and of its probabilities and coefficients.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
    >>> fit.plot.forest_data().round(2).to_numpy()[:, 1:4].tolist()
    [[2.5, 1.47, 3.54], [1.53, 0.59, 2.46]]
    """

    results: DrawnLikelihood

    density = Picture(density)
    density_data = Picture(density_data)
    forest = Picture(forest)
    forest_data = Picture(forest_data)
    effects = Picture(effects)
    effects_data = Picture(effects_data)
    stacked = Picture(stacked)
    stacked_data = Picture(stacked_data)
    parallel = Picture(parallel)
    parallel_data = Picture(parallel_data)
    profiles = Picture(profiles)
    profiles_data = Picture(profiles_data)
    coefficients = Picture(coefficients)
    coefficients_data = Picture(coefficients_data)
    interaction = Picture(interaction)
    interaction_data = Picture(interaction_data)
    emmeans = Picture(emmeans)
    emmeans_data = Picture(emmeans_data)
    residuals = Picture(residuals)
    residuals_data = Picture(residuals_data)
    influence = Picture(influence)
    influence_data = Picture(influence_data)


class MixedPlots(LikelihoodPlots):
    """Pictures of a fit with random effects: also the effects of the groups.

    Rows of the fit are drawn at the modes of their groups (latent, density, residuals, reliability, confusion). Effects
    of variables are those on the average of all groups there could be (effects, stacked, dependence, ale, importance);
    on the scale of the link `emmeans` has those of a typical group. `re=` of `effects`, `stacked`, `emmeans` chooses.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact + (1 | judge)", data=datasets.load("wine"))
    >>> fit.plot.ranef_data()[["level", "mode", "lower", "upper"]].round(2).tail(2).to_numpy().tolist()
    [[3, 0.97, -0.2, 2.14], [1, 1.7, 0.61, 2.78]]
    """

    results: DrawnMixed

    ranef = Picture(ranef)
    ranef_data = Picture(ranef_data)


class EnsemblePlots(Plots):
    """Pictures of an ensemble made in rounds: those of every fit, and of its rounds.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rank ~ x1 + x2", data=datasets.quadratic_bands(300, seed=1), method="orboost-all", rounds=100)
    >>> fit.plot.rounds_data(newdata=datasets.quadratic_bands(1000, seed=2), every=50).round(3)
       round             rows  value
    0     50  rows of the fit  0.017
    1    100  rows of the fit  0.000
    2     50         new data  0.076
    3    100         new data  0.056
    """

    results: DrawnEnsemble

    rounds = Picture(rounds)
    rounds_data = Picture(rounds_data)


class BoostedPlots(EnsemblePlots):
    """Pictures of gradient boosting: those of an ensemble, and what the variables contribute.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", datasets.load("wine"), "ordboost", rounds=20, depth=2)
    >>> fit.plot.shapley_data()["variable"].tolist()
    ['temp', 'contact']
    """

    shapley = Picture(shapley)
    shapley_data = Picture(shapley_data)


class TreePlots(Plots):
    """Pictures of trees: those of every fit, and the trees themselves.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"), method="cart", leaves=2)
    >>> fit.plot.tree_data()[["node", "x", "depth", "level"]].to_numpy().tolist()
    [[1, 0.5, 0, '3'], [2, 0.0, 1, '2'], [3, 1.0, 1, '3']]
    """

    results: DrawnTrees

    rounds = Picture(tree_rounds)
    rounds_data = Picture(tree_rounds_data)
    tree = Picture(tree)
    tree_data = Picture(tree_data)
